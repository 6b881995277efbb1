//! `duet usage`: who still speaks which dialect, on the terminal.

use crate::admin::{explain, up_to_date};
use ledger_core::ledger::Ledger;
use std::sync::Arc;

pub(crate) async fn run(ledger: Arc<Ledger>, json: bool) -> Result<String, String> {
    up_to_date(&ledger).await?;
    let companies = ledger.dialect_usage().await.map_err(|error| explain(&error))?;
    if json {
        return serde_json::to_string(&companies).map_err(|error| error.to_string());
    }
    let mut lines = Vec::new();
    for company in companies {
        lines.push(format!("{}  {}", company.business_id, company.name));
        for one in company.uses {
            let who = one.email.unwrap_or_else(|| one.user_id.to_string());
            lines.push(format!(
                "  {}  {who}  {}: {} calls, the last at {}",
                one.dialect, one.agent, one.calls, one.last_call_at
            ));
            for operation in one.operations {
                lines.push(format!(
                    "       {:<40} {:>9}  {}",
                    operation.operation, operation.calls, operation.last_call_at
                ));
            }
        }
    }
    Ok(lines.join("\n"))
}

//! `duet verify`: the proof of the books on the terminal.

use crate::admin::{explain, up_to_date};
use ledger_core::books::verify::Check;
use ledger_core::ids::BusinessId;
use ledger_core::ledger::{Ledger, Proof};
use std::sync::Arc;

/// Proves the books. What is wrong is an error that says all of it.
pub(crate) async fn run(ledger: Arc<Ledger>, business: Option<String>, json: bool) -> Result<String, String> {
    let only = match business {
        Some(text) => {
            Some(BusinessId::parse(&text).ok_or_else(|| format!("--business: {text} is no identifier of a company"))?)
        }
        None => None,
    };
    up_to_date(&ledger).await?;
    let proofs = ledger.verify(only).await.map_err(|error| match error {
        ledger_core::error::Error::NotFound => "there is no such company".into(),
        other => explain(&other),
    })?;
    let engine = ledger.verify_engine().await.map_err(|error| explain(&error))?;
    let ok = proofs.iter().all(|proof| proof.verdict.ok) && engine.as_ref().is_none_or(|check| check.ok);
    let text = if json {
        serde_json::json!({"ok": ok, "engine": engine, "businesses": proofs}).to_string()
    } else {
        report(&proofs, engine.as_ref())
    };
    if ok {
        return Ok(text);
    }
    crate::console::say(&text);
    Err("the books are not as they were written; see the checks marked FAILED".into())
}

fn report(proofs: &[Proof], engine: Option<&Check>) -> String {
    let mut lines = Vec::new();
    for proof in proofs {
        lines.push(format!("{}  {}", proof.business_id, proof.name));
        lines.extend(proof.verdict.checks.iter().flat_map(check_lines));
        lines.push(format!("  digest {}", proof.verdict.digest));
    }
    if let Some(check) = engine {
        lines.push("the database".into());
        lines.extend(check_lines(check));
    }
    lines.join("\n")
}

fn check_lines(check: &Check) -> Vec<String> {
    let mark = if check.ok { "ok    " } else { "FAILED" };
    let mut lines = vec![format!("  {mark}  {:<4} {}: {} = {}", check.id, check.name, check.left, check.right)];
    if !check.ok {
        lines[0] = format!("  {mark}  {:<4} {}: {} against {}", check.id, check.name, check.left, check.right);
    }
    lines.extend(check.findings.iter().map(|finding| format!("                {finding}")));
    lines
}

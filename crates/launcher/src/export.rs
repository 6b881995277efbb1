//! `duet export`: the ledger as a plain text journal.

use crate::admin::{explain, up_to_date};
use crate::private;
use ledger_core::books::export::JournalFormat;
use ledger_core::error::Error;
use ledger_core::ids::BusinessId;
use ledger_core::ledger::Ledger;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Writes the journal to a file, or to standard output. What was written is said where it is not the output itself.
pub(crate) async fn run(
    ledger: Arc<Ledger>,
    business: String,
    format: JournalFormat,
    out: Option<PathBuf>,
) -> Result<String, String> {
    let id =
        BusinessId::parse(&business).ok_or_else(|| format!("--business: {business} is no identifier of a company"))?;
    up_to_date(&ledger).await?;
    let mut sink: Box<dyn Write + Send> = match &out {
        Some(path) => {
            let file = private::create(path).map_err(|error| format!("--out: {}: {error}", path.display()))?;
            Box::new(BufWriter::new(file))
        }
        None => Box::new(std::io::stdout()),
    };
    let written = ledger.export(id, format, |text| sink.write_all(text.as_bytes()).map_err(Error::internal)).await;
    written.map_err(|error| match error {
        Error::NotFound => "there is no such company".into(),
        other => explain(&other),
    })?;
    sink.flush().map_err(|error| error.to_string())?;
    Ok(out.map_or_else(String::new, |path| format!("written to {}", path.display())))
}

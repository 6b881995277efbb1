//! `duet export`: the ledger as a plain text journal.

use crate::admin::{explain, up_to_date};
use crate::console::Page;
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
    let mut page = Page::default();
    let mut file = match &out {
        Some(path) => {
            let file = private::create(path).map_err(|error| format!("--out: {}: {error}", path.display()))?;
            Some(BufWriter::new(file))
        }
        None => None,
    };
    let write = |text: &str| {
        let sink: &mut (dyn Write + Send) = match &mut file {
            Some(file) => file,
            None => &mut page,
        };
        sink.write_all(text.as_bytes()).map_err(Error::internal)
    };
    let written = ledger.export(id, format, write).await;
    if page.is_closed {
        return Ok(String::new());
    }
    written.map_err(|error| match error {
        Error::NotFound => "there is no such company".into(),
        other => explain(&other),
    })?;
    file.map_or(Ok(()), |mut file| file.flush()).map_err(|error| error.to_string())?;
    Ok(out.map_or_else(String::new, |path| format!("written to {}", path.display())))
}

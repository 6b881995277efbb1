//! `duet verify`: the proof of the books on the terminal.

use crate::admin::{explain, up_to_date};
use crate::anchor::{self, Anchor};
use crate::backup::stamp;
use crate::bar;
use ledger_core::books::verify::{Check, Progress};
use ledger_core::error::Error;
use ledger_core::ids::BusinessId;
use ledger_core::ledger::{Ledger, Proof};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::oneshot;

/// What is to be proved, and against what.
pub(crate) struct Asked {
    pub(crate) business: Option<String>,
    pub(crate) anchor: Option<PathBuf>,
    pub(crate) head: Option<String>,
    /// Heads of books that were proved when they were kept.
    pub(crate) since: Option<PathBuf>,
    pub(crate) json: bool,
    /// How many parts are proved at once; as many as there are cores where it is not said.
    pub(crate) hands: Option<usize>,
}

impl Asked {
    /// All books, against nothing that was kept elsewhere.
    pub(crate) fn everything() -> Self {
        Self { business: None, anchor: None, head: None, since: None, json: false, hands: None }
    }
}

/// As many as there are cores.
pub(crate) fn hands() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Proves the books. What is wrong is an error that says all of it.
/// The verdict on all books is noted in the folder of their data. Where there is none, since they could not be read or their
/// key is not here, nothing is known of them, and nothing is noted.
pub(crate) async fn run(ledger: Arc<Ledger>, asked: Asked, data: Option<&Path>) -> Result<String, String> {
    let only = match asked.business {
        Some(text) => {
            Some(BusinessId::parse(&text).ok_or_else(|| format!("--business: {text} is no identifier of a company"))?)
        }
        None => None,
    };
    up_to_date(&ledger).await?;
    let anchor = asked.anchor.as_deref().map(Anchor::open).transpose()?;
    let since = asked.since.as_deref().map(anchor::since).transpose()?;
    let hands = asked.hands.unwrap_or_else(hands);
    let progress = Arc::new(Progress::default());
    let engine = beside(ledger.clone());
    let shown = progress.clone();
    let bar = bar::show(move || shown.percent());
    let proofs = ledger.verify(only, hands, since.as_deref().unwrap_or_default(), &progress).await;
    drop(bar);
    let proofs = proofs.map_err(|error| match error {
        Error::NotFound => "there is no such company".into(),
        other => explain(&other),
    })?;
    let database = engine.await.map_err(|_| "the check of the database's file broke down")?;
    let database = database.map_err(|error| explain(&error))?;
    let mut installation = ledger.verify_installation().await.map_err(|error| explain(&error))?;
    let mut outside = Vec::new();
    if let Some(heads) = &asked.head {
        outside.extend(anchor::against(&ledger, heads, only).await?);
    }
    if let Some(heads) = &since {
        outside.extend(anchor::compare(&ledger, heads, only).await?);
    }
    if let Some(anchor) = &anchor {
        outside.extend(anchor.compare(&ledger, only).await?);
    }
    if asked.head.is_some() || since.is_some() || anchor.is_some() {
        installation.push(Check::of_heads(outside));
    }
    installation.extend(database);
    let ok = proofs.iter().all(|proof| proof.verdict.ok) && installation.iter().all(|check| check.ok);
    if let Some(data) = data.filter(|_| only.is_none()) {
        stamp::proved(data, ok);
    }
    let text = if asked.json {
        serde_json::json!({"ok": ok, "installation": installation, "businesses": proofs}).to_string()
    } else {
        report(&proofs, &installation)
    };
    if !ok {
        crate::console::say(&text);
        return Err("the books are not as they were written; see the checks marked FAILED".into());
    }
    if let Some(anchor) = anchor {
        let companies: Vec<BusinessId> = proofs.iter().map(|proof| proof.business_id).collect();
        anchor.advance(&ledger, &companies).await?;
    }
    Ok(text)
}

/// What the engine says of itself, looked at beside the proofs: it takes one hand for as long as they take many.
fn beside(ledger: Arc<Ledger>) -> oneshot::Receiver<Result<Vec<Check>, Error>> {
    let (tell, told) = oneshot::channel();
    supervise::once("the check of the file", async move {
        let _nobody_waits = tell.send(ledger.verify_engine().await);
    });
    told
}

fn report(proofs: &[Proof], installation: &[Check]) -> String {
    let mut lines = Vec::new();
    for proof in proofs {
        lines.push(format!("{}  {}", proof.business_id, proof.name));
        lines.extend(proof.verdict.checks.iter().flat_map(check_lines));
        if !proof.verdict.digest.is_empty() {
            lines.push(format!("  digest {}", proof.verdict.digest));
        }
    }
    lines.push("the installation".into());
    lines.extend(installation.iter().flat_map(check_lines));
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

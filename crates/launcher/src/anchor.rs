//! Anchors: signed heads of audit logs that are kept where the database is not.
//!
//! One JSON text a line, as `audit-log/head` answers it. `duet verify --anchor FILE` compares the books with the heads in
//! the file, and keeps the new ones there once the books are proved.

use crate::admin::explain;
use ledger_core::books::seal::SignedHead;
use ledger_core::ids::BusinessId;
use ledger_core::ledger::Ledger;
use std::collections::BTreeMap;
use std::path::Path;

/// The heads in a text, of each company the last that was kept.
fn read(text: &str) -> Result<Vec<SignedHead>, String> {
    let mut newest: BTreeMap<BusinessId, SignedHead> = BTreeMap::new();
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let head = head(line).map_err(|error| format!("line {} is no head of an audit log: {error}", place + 1))?;
        let is_newer = newest.get(&head.business_id).is_none_or(|known| known.sequence <= head.sequence);
        if is_newer {
            newest.insert(head.business_id, head);
        }
    }
    Ok(newest.into_values().collect())
}

/// A head by itself, or in the wrapping of the dialect that has one.
fn head(line: &str) -> Result<SignedHead, serde_json::Error> {
    let mut value: serde_json::Value = serde_json::from_str(line)?;
    match value.get_mut("data").map(serde_json::Value::take) {
        Some(inner) => serde_json::from_value(inner),
        None => serde_json::from_value(value),
    }
}

/// What is wrong with books that these heads were kept of. `only` is a company to look at alone.
pub(crate) async fn compare(
    ledger: &Ledger,
    kept: &[SignedHead],
    only: Option<BusinessId>,
) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for head in kept.iter().filter(|head| only.is_none_or(|only| only == head.business_id)) {
        let found = ledger.verify_head(head).await.map_err(|error| explain(&error))?;
        findings.extend(found.into_iter().map(|finding| format!("{}: {finding}", head.business_id)));
    }
    Ok(findings)
}

/// Compares the books with heads that are given: as JSON, or in a file.
pub(crate) async fn against(ledger: &Ledger, heads: &str, only: Option<BusinessId>) -> Result<Vec<String>, String> {
    let text = if heads.trim_start().starts_with('{') {
        heads.to_owned()
    } else {
        std::fs::read_to_string(heads).map_err(|error| format!("--head: cannot read {heads}: {error}"))?
    };
    compare(ledger, &read(&text).map_err(|error| format!("--head: {error}"))?, only).await
}

/// The heads that an earlier proof kept in a file. Without them nothing can be trusted, so there must be some.
pub(crate) fn since(path: &Path) -> Result<Vec<SignedHead>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("--since: cannot read {}: {error}", path.display()))?;
    let heads = read(&text).map_err(|error| format!("--since: {}: {error}", path.display()))?;
    if heads.is_empty() {
        return Err(format!(
            "--since: {} holds no head; duet verify --anchor FILE keeps them once all is proved",
            path.display()
        ));
    }
    Ok(heads)
}

/// An anchor's file, as it was read.
pub(crate) struct Anchor<'p> {
    path: &'p Path,
    kept: Vec<SignedHead>,
}

impl<'p> Anchor<'p> {
    /// One that is not there yet holds nothing.
    pub(crate) fn open(path: &'p Path) -> Result<Self, String> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("--anchor: cannot read {}: {error}", path.display())),
        };
        let kept = read(&text).map_err(|error| format!("--anchor: {}: {error}", path.display()))?;
        Ok(Self { path, kept })
    }

    pub(crate) async fn compare(&self, ledger: &Ledger, only: Option<BusinessId>) -> Result<Vec<String>, String> {
        compare(ledger, &self.kept, only).await
    }

    /// Keeps the heads of these companies as they are now. The file is whole at every moment.
    pub(crate) async fn advance(self, ledger: &Ledger, companies: &[BusinessId]) -> Result<(), String> {
        let mut heads: BTreeMap<_, _> = self.kept.into_iter().map(|head| (head.business_id, head)).collect();
        for head in ledger.heads(companies).await.map_err(|error| explain(&error))? {
            heads.insert(head.business_id, head);
        }
        let mut text = String::new();
        for head in heads.values() {
            text.push_str(&serde_json::to_string(head).map_err(|error| error.to_string())?);
            text.push('\n');
        }
        let beside = self.path.with_extension("new");
        let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, self.path));
        written.map_err(|error| format!("--anchor: cannot write {}: {error}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"businessId":"019a9f6e-6c00-7000-8000-000000000001","sequence":2,"hash":"aa","entryNumber":1,"signature":"bb"}"#;

    #[test]
    fn heads_are_read_as_either_dialect_answers_them_and_the_last_counts() {
        let older = HEAD.replace("\"sequence\":2", "\"sequence\":1");
        let wrapped = format!(r#"{{"success":true,"data":{HEAD}}}"#);
        for text in [format!("{older}\n{HEAD}\n"), format!("{HEAD}\n\n{older}"), wrapped] {
            let read = read(&text).unwrap();
            assert_eq!(read.iter().map(|head| head.sequence).collect::<Vec<_>>(), [2]);
        }
        assert!(read("{}").unwrap_err().starts_with("line 1 is no head"));
        assert_eq!(read("").unwrap(), []);
    }
}

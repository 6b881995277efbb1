//! The OpenAPI documents of an installation, by what it serves.

use crate::config::Dialects;
use crate::dialects::Spoken;
use http_kit::openapi::{Document, as_30};
use http_kit::pages;
use serde_json::Value;
use std::sync::Arc;

/// All that the installation serves. With one dialect it is that dialect's document.
pub(crate) fn of_all(dialects: &Dialects) -> Value {
    let served: Vec<_> = dialects.served().collect();
    if let [(_, only, base)] = served.as_slice() {
        return (only.document)(base);
    }
    let mut document = Document::of_installation();
    for (_, dialect, base) in served {
        (dialect.add)(&mut document, base);
    }
    document.finish()
}

/// The document of a dialect that is served, as its clients read it.
pub(crate) fn of_one(dialect: &Spoken, base: &str) -> Value {
    as_30((dialect.document)(base))
}

/// The documents of an installation, as they are served; the first is what the pages open with. None is made before
/// somebody asks for it.
pub(crate) fn served(dialects: &Dialects) -> Vec<pages::Document> {
    fn document(
        (path, title): (String, String),
        listed: bool,
        json: impl Fn() -> Value + Send + Sync + 'static,
    ) -> pages::Document {
        pages::Document { path, title, json: Arc::new(move || json().to_string()), listed }
    }
    let all = "All that is served here";
    let (of_30, of_31) = (dialects.clone(), dialects.clone());
    let mut documents = vec![
        document(("/swagger/v1/swagger.json".into(), all.into()), true, move || as_30(of_all(&of_30))),
        document(("/swagger/v1/openapi-3.1.json".into(), format!("{all} (3.1)")), false, move || of_all(&of_31)),
    ];
    documents.extend(dialects.served().map(|(_, dialect, base)| {
        let (title, base) = (format!("Dialect {}", dialect.letter), base.to_owned());
        document((dialect.document_path(), title), true, move || of_one(dialect, &base))
    }));
    documents
}

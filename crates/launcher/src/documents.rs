//! The OpenAPI documents of an installation, by what it serves.

use crate::config::Dialects;
use crate::dialects::{Each, SPOKEN};
use http_kit::openapi::{Document, as_30, pretty};
use http_kit::pages;
use serde_json::Value;

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

/// The documents of an installation, made once.
pub(crate) struct Documents {
    all: Value,
    /// Of each dialect, where it is served.
    pub(crate) each: Each<Option<Value>>,
}

impl Documents {
    pub(crate) fn of(dialects: &Dialects) -> Self {
        let mut each = Each::default();
        for (place, dialect, base) in dialects.served() {
            each[place] = Some(as_30((dialect.document)(base)));
        }
        Self { all: of_all(dialects), each }
    }

    /// As they are served; the first is what the pages open with.
    pub(crate) fn served(&self) -> Vec<pages::Document> {
        let document = |path: String, title: String, json: &Value, listed| pages::Document {
            path,
            title,
            json: pretty(json).into(),
            listed,
        };
        let all = "All that is served here";
        let mut documents = vec![
            document("/swagger/v1/swagger.json".into(), all.into(), &as_30(self.all.clone()), true),
            document("/swagger/v1/openapi-3.1.json".into(), format!("{all} (3.1)"), &self.all, false),
        ];
        for (dialect, json) in SPOKEN.iter().zip(&self.each) {
            let title = format!("Dialect {}", dialect.letter);
            documents.extend(json.as_ref().map(|json| document(dialect.document_path(), title, json, true)));
        }
        documents
    }
}

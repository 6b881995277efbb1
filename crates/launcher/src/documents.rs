//! The OpenAPI documents of an installation, by what it serves.

use crate::config::Dialects;
use dialect_a::DialectA;
use dialect_b::DialectB;
use http_kit::openapi::{Document, as_30, pretty};
use http_kit::pages;
use serde_json::Value;

pub(crate) fn of_a(base: &str) -> Value {
    Document::of_one::<DialectA>(base)
}

pub(crate) fn of_b(base: &str) -> Value {
    Document::of_one::<DialectB>(base)
}

/// All that the installation serves. With one dialect it is that dialect's document.
pub(crate) fn of_all(dialects: &Dialects) -> Value {
    match (&dialects.a, &dialects.b) {
        (Some(a), None) => of_a(a),
        (None, Some(b)) => of_b(b),
        (a, b) => {
            let mut document = Document::of_installation();
            if let Some(a) = a {
                document.add::<DialectA>(a);
            }
            if let Some(b) = b {
                document.add::<DialectB>(b);
            }
            document.finish()
        }
    }
}

/// The documents of an installation, made once.
pub(crate) struct Documents {
    all: Value,
    /// Of A and of B, where they are served.
    pub(crate) each: [Option<Value>; 2],
}

impl Documents {
    pub(crate) fn of(dialects: &Dialects) -> Self {
        let each = [dialects.a.as_deref().map(of_a), dialects.b.as_deref().map(of_b)].map(|one| one.map(as_30));
        Self { all: of_all(dialects), each }
    }

    /// As they are served; the first is what the pages open with.
    pub(crate) fn served(&self) -> Vec<pages::Document> {
        let document = |path, title: &str, json: &Value, listed| pages::Document {
            path,
            title: title.to_owned(),
            json: pretty(json).into(),
            listed,
        };
        let mut documents = vec![
            document("/swagger/v1/swagger.json", "All that is served here", &as_30(self.all.clone()), true),
            document("/swagger/v1/openapi-3.1.json", "All that is served here (3.1)", &self.all, false),
        ];
        let places = [("/swagger/a/swagger.json", "Dialect A"), ("/swagger/b/swagger.json", "Dialect B")];
        for ((path, title), json) in places.into_iter().zip(&self.each) {
            documents.extend(json.as_ref().map(|json| document(path, title, json, true)));
        }
        documents
    }
}

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

/// The documents as they are served; the first is what the pages open with.
pub(crate) fn served(dialects: &Dialects) -> Vec<pages::Document> {
    let all = of_all(dialects);
    let document = |path, title: &str, json: Value, listed| pages::Document {
        path,
        title: title.to_owned(),
        json: pretty(&json).into(),
        listed,
    };
    let mut documents = vec![
        document("/swagger/v1/swagger.json", "All that is served here", as_30(all.clone()), true),
        document("/swagger/v1/openapi-3.1.json", "All that is served here (3.1)", all, false),
    ];
    if let Some(base) = &dialects.a {
        documents.push(document("/swagger/a/swagger.json", "Dialect A", as_30(of_a(base)), true));
    }
    if let Some(base) = &dialects.b {
        documents.push(document("/swagger/b/swagger.json", "Dialect B", as_30(of_b(base)), true));
    }
    documents
}

//! The OpenAPI documents of an installation, by what it serves.
//!
//! What is served at its usual place is pinned, and in the program as it is pinned. What is served elsewhere, and what is
//! written in 3.1, is made when it is asked for.

use crate::config::Dialects;
use crate::dialects::{COUNT, Spoken};
use http_kit::openapi::{Document, as_30};
use http_kit::pages::{self, Source, unpacked};
use serde_json::Value;
use std::sync::Arc;

/// What is pinned, by its name in `openapi/`.
const PACKED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/packed.rs"));
const OF_ALL: &str = "both";

fn packed(name: &str) -> Option<&'static [u8]> {
    PACKED.iter().find(|(known, _)| *known == name).map(|(_, gzip)| *gzip)
}

/// The document of a dialect as it is pinned, where it is served as the pinned one says.
fn packed_of_one(dialect: &Spoken, base: &str) -> Option<&'static [u8]> {
    packed(&format!("dialect-{}", dialect.letter.to_lowercase())).filter(|_| base == dialect.usual_base())
}

/// That of all that is served: of one dialect, where it is alone.
fn packed_of_all(dialects: &Dialects) -> Option<&'static [u8]> {
    let served: Vec<_> = dialects.served().collect();
    if let [(_, only, base)] = served.as_slice() {
        return packed_of_one(only, base);
    }
    let usual = served.iter().filter(|(_, dialect, base)| *base == dialect.usual_base());
    packed(OF_ALL).filter(|_| usual.count() == COUNT)
}

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
    let packed = packed_of_one(dialect, base).and_then(unpacked);
    let pinned = packed.and_then(|json| serde_json::from_slice(&json).ok());
    pinned.unwrap_or_else(|| as_30((dialect.document)(base)))
}

/// The documents of an installation, as they are served; the first is what the pages open with. None is made before
/// somebody asks for it.
pub(crate) fn served(dialects: &Dialects) -> Vec<pages::Document> {
    fn document(
        (path, title): (String, String),
        listed: bool,
        packed: Option<&'static [u8]>,
        json: impl Fn() -> Value + Send + Sync + 'static,
    ) -> pages::Document {
        let made = || Source::Made(Arc::new(move || json().to_string()));
        pages::Document { path, title, json: packed.map_or_else(made, Source::Packed), listed }
    }
    let all = "All that is served here";
    let (of_30, of_31) = (dialects.clone(), dialects.clone());
    let mut documents = vec![
        document(("/swagger/v1/swagger.json".into(), all.into()), true, packed_of_all(dialects), move || {
            as_30(of_all(&of_30))
        }),
        document(("/swagger/v1/openapi-3.1.json".into(), format!("{all} (3.1)")), false, None, move || of_all(&of_31)),
    ];
    documents.extend(dialects.served().map(|(_, dialect, base)| {
        let (title, base) = (format!("Dialect {}", dialect.letter), base.to_owned());
        let packed = packed_of_one(dialect, &base);
        document((dialect.document_path(), title), true, packed, move || as_30((dialect.document)(&base)))
    }));
    documents
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialects::SPOKEN;

    fn dialects(bases: [Option<&str>; COUNT]) -> Dialects {
        Dialects { bases: bases.map(|base| base.map(str::to_owned)), shared: None }
    }

    fn usual(place: usize) -> String {
        SPOKEN[place].usual_base()
    }

    #[test]
    fn what_is_in_the_program_is_what_is_made() {
        let all = dialects([Some(&usual(0)), Some(&usual(1))]);
        let same = |gzip: &[u8], made: &Value| {
            let (kept, made) = (unpacked(gzip).unwrap(), made.to_string());
            kept == made.as_bytes()
        };
        let again = "run the suite's the_documents_are_pinned with UPDATE_OPENAPI=1 and build again";
        assert!(same(packed_of_all(&all).unwrap(), &as_30(of_all(&all))), "{again}");
        for one in SPOKEN {
            let base = one.usual_base();
            let made = as_30((one.document)(&base));
            assert!(same(packed_of_one(one, &base).unwrap(), &made), "{again}");
            assert_eq!(of_one(one, &base), made);
        }
    }

    #[test]
    fn what_is_served_elsewhere_is_made() {
        let elsewhere = dialects([Some(&usual(0)), Some("/books")]);
        assert!(packed_of_all(&elsewhere).is_none());
        assert!(packed_of_all(&dialects([Some("/api"), None])).is_none());
        let alone = packed_of_all(&dialects([Some(&usual(0)), None])).unwrap();
        assert_eq!(alone, packed_of_one(&SPOKEN[0], &usual(0)).unwrap(), "alone, it is all there is");
        assert!(packed_of_one(&SPOKEN[1], "/books").is_none());
        assert_eq!(of_one(&SPOKEN[1], "/books")["servers"][0]["url"], "/books");
        let made = served(&elsewhere).into_iter().map(|document| matches!(document.json, Source::Made(_)));
        assert_eq!(made.collect::<Vec<_>>(), [true, true, false, true]);
    }
}

//! The dialects that this program speaks: a line each. Nothing else in it counts them or knows one by its name.

use axum::Router;
use axum::response::Response;
use dialect_a::DialectA;
use dialect_b::DialectB;
use http_kit::dialect::{CompanyIn, Dialect, beginnings, login_name};
use http_kit::failure::Failure;
use http_kit::handler::{failed, router};
use http_kit::openapi::Document;
use http_kit::request::Arrival;
use serde_json::Value;
use std::collections::HashSet;

/// In the order in which they are told, asked and compared.
pub(crate) const SPOKEN: &[Spoken] = &[Spoken::of::<DialectA>(), Spoken::of::<DialectB>()];
pub(crate) const COUNT: usize = SPOKEN.len();

/// One for each dialect, in their order.
pub(crate) type Each<T> = [T; COUNT];

/// A dialect, as the program needs to know it where it has no types of it at hand.
#[derive(Debug)]
pub(crate) struct Spoken {
    pub(crate) letter: &'static str,
    pub(crate) company_in: CompanyIn,
    pub(crate) login_path: &'static str,
    /// What is asked without a token.
    pub(crate) of_anybody: [&'static str; 2],
    /// What the body of its log-in calls who logs in.
    pub(crate) login_name: fn() -> String,
    /// What its paths begin with. Below the base that all share, a path belongs to the first whose paths begin so.
    pub(crate) beginnings: fn() -> HashSet<String>,
    pub(crate) router: fn() -> Router,
    /// A failure in its words, for what never reaches its router.
    pub(crate) failed: fn(Option<&Arrival>, Failure) -> Response,
    /// The body of a failure, in its words.
    pub(crate) failure: fn(&Failure) -> String,
    /// Its document, below a base.
    pub(crate) document: fn(&str) -> Value,
    /// Adds it to the document of an installation.
    pub(crate) add: fn(&mut Document, &str),
}

impl Spoken {
    const fn of<D: Dialect>() -> Self {
        Self {
            letter: D::LETTER,
            company_in: D::COMPANY_IN,
            login_path: D::LOGIN_PATH,
            of_anybody: [D::LOGIN_PATH, D::ACCEPT_PATH],
            login_name: login_name::<D>,
            beginnings: beginnings::<D>,
            router: router::<D>,
            failed: failed::<D>,
            failure: D::failure,
            document: Document::of_one::<D>,
            add: Document::add::<D>,
        }
    }

    /// Where it is served beside others, unless the configuration says so.
    pub(crate) fn usual_base(&self) -> String {
        format!("/{}/api", self.letter.to_lowercase())
    }

    /// Where a server of ours keeps its document.
    pub(crate) fn document_path(&self) -> String {
        format!("/swagger/{}/swagger.json", self.letter.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_letter_and_paths_of_its_own() {
        let letters: HashSet<&str> = SPOKEN.iter().map(|one| one.letter).collect();
        assert_eq!(letters.len(), COUNT);
        for one in SPOKEN {
            let beginnings = (one.beginnings)();
            assert!(beginnings.contains(one.login_path.split('/').nth(1).unwrap()), "{}", one.letter);
            assert!(SPOKEN.iter().all(|other| other.letter == one.letter || (other.beginnings)() != beginnings));
        }
    }
}

//! The proof of the books, as it is read.

use crate::books::verify::{self, Verdict};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use books::cx::Cx;
use kit::extra::{Does, Extra, NoWords, On, Produced, Reading, Weight};
use kit::list::{ListQuery, Page, Parameter};
use kit::operation::Verb;
use kit::resource::{About, NoRecord, Resource, Scope};
use kit::rows::read_only;
use schema::key::ResourceKey;
use schema::rights::Action;
use serde_json::json;

pub struct Verification;

impl Resource for Verification {
    const KEY: ResourceKey = ResourceKey::Verification;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a verification",
        many: "verifications",
        description: "The proof of the books: everything is recomputed from the ledger's lines and compared with what \
                      is kept.",
        sorts: &[],
        searched: "",
    };
    const VERBS: &'static [Verb] = &[];
    type Input = NoWords;
    type Draft = ();
    type View = NoRecord;

    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }

    fn extras() -> Vec<Extra> {
        vec![Extra {
            name: "Run",
            segment: "",
            on: On::Collection,
            action: Action::View,
            answers: None,
            summary: "Verify the books",
            description: "Recomputes everything that can be recomputed, in one snapshot, and answers each identity with \
                          its two figures, and a digest of the ledger. It reads every line of the ledger.",
            does: Does::Reads(Reading {
                weight: Weight::Proof,
                ..Reading::json::<Verdict>(
                    |cx, _, _| Box::pin(async move { Produced::json(&verify::run(cx).await?) }),
                    || {
                        json!({"ok": true, "checks": [{
                        "id": "V1", "name": "Every entry balances", "left": "125430.00", "right": "125430.00", "ok": true,
                        "findings": []
                    }], "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"})
                    },
                )
            }),
        }]
    }

    fn example() -> serde_json::Value {
        json!({})
    }

    fn example_view() -> serde_json::Value {
        json!({})
    }

    async fn list(_: &Cx<'_>, _: &ListQuery) -> Result<Page<NoRecord>> {
        Err(Error::NotFound)
    }

    async fn get(_: &Cx<'_>, _: RecordId) -> Result<NoRecord> {
        Err(Error::NotFound)
    }

    read_only!();
}

//! The audit log as it is read: every change of every record, with the record before and after.
//!
//! Owns: that whoever may not see a resource does not see its changes, by whichever door. Whoever reads the log begins
//! with [`records`]. What is withheld leaves a gap in the sequence and nothing else; the chain is proved as a whole, here.

use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::audit::{self, AuditAction, AuditVerdict};
use books::cx::Cx;
use books::database::lane::BoxFuture;
use books::seal::heads::{self, SignedHead};
use kit::changes::{AuditRecord, example, reach, records, sees_all, shown};
use kit::extra::{Does, Extra, Media, NoWords, On, Produced, Reading, Weight};
use kit::feed::Portions;
use kit::list::{FilterValue, ListQuery, Page, Parameter, Reads};
use kit::operation::Verb;
use kit::resource::{About, Resource, Scope};
use kit::rows::{self, Filter, Rows, read_only};
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::audit_log::{self as table, Column};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;
use words::codes::Word;
use words::stored::Called;

pub struct AuditLog;

const EXPORT: &[Parameter] = &[
    Parameter::new("after", "Only records after this place in the chain; 0 when absent.", Reads::PLACE),
    Parameter::new("limit", "At most so many records; 10000 when absent.", Reads::Whole(1, MOST_EXPORTED)),
];

/// As many records as one export brings.
const MOST_EXPORTED: i64 = 10_000;

impl Resource for AuditLog {
    const KEY: ResourceKey = ResourceKey::AuditLog;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "an audit record",
        many: "audit records",
        description: "Every change of every record of the company, in a chain of hashes. Nothing turns it off, and \
                      nothing in it can be changed. Changes of what you may not view are left out; their places in the \
                      chain are missing then, and `verify` proves the whole chain all the same.",
        sorts: &["sequence", "at"],
        searched: "what the record is called: number, code, name, e-mail, reference, external identifier, narration and \
                   description, after the change",
    };
    const VERBS: &'static [Verb] = &Verb::READ;
    type Input = NoWords;
    type Draft = ();
    type View = AuditRecord;

    fn parameters() -> Vec<Parameter> {
        rows::parameters::<Self>()
    }

    fn extras() -> Vec<Extra> {
        vec![
            Extra {
                name: "Verify",
                segment: "verify",
                on: On::Collection,
                action: Action::View,
                answers: None,
                summary: "Verify the audit log",
                description: "Walks the whole chain of hashes and tells where it is broken, if anywhere.",
                does: Does::Reads(Reading {
                    weight: Weight::Proof,
                    ..Reading::json::<AuditVerdict>(
                        |cx, _, _| {
                            Box::pin(async move { Produced::json(&audit::verify(cx, cx.business_id()?).await?) })
                        },
                        || json!({"ok": true, "records": 42, "head": example()["hash"], "problems": []}),
                    )
                }),
            },
            Extra {
                name: "Head",
                segment: "head",
                on: On::Collection,
                action: Action::View,
                answers: None,
                summary: "Get the signed head of the audit log",
                description: "Where the audit log and the ledger stand now, signed by the server. Keep it elsewhere: \
                              `duet verify --head` proves with it later that nothing was cut off or written anew.",
                does: Does::Reads(Reading::json::<SignedHead>(
                    |cx, _, _| {
                        Box::pin(
                            async move { Produced::json(&heads::head(&cx.db, cx.seals, cx.business_id()?).await?) },
                        )
                    },
                    || {
                        json!({
                            "businessId": "019a9f6e-6c00-7000-8000-000000000001", "sequence": 42,
                            "hash": example()["hash"], "entryNumber": 17,
                            "signature": "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"
                        })
                    },
                )),
            },
            Extra {
                name: "Export",
                segment: "export",
                on: On::Collection,
                action: Action::Export,
                answers: None,
                summary: "Export the audit log",
                description: "The records in the order of the chain, one JSON text a line. Ask again with `after` set to \
                              the last `sequence` until nothing comes.",
                does: Does::Reads(Reading {
                    parameters: EXPORT,
                    ..Reading::in_portions::<AuditRecord>(Media::NdJson, || Box::new(Exported::default()), example)
                }),
            },
        ]
    }

    fn example() -> serde_json::Value {
        json!({})
    }

    fn example_view() -> serde_json::Value {
        example()
    }

    async fn list(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<AuditRecord>> {
        rows::list::<Self>(cx, query).await
    }

    async fn get(cx: &Cx<'_>, id: RecordId) -> Result<AuditRecord> {
        rows::get::<Self>(cx, id).await
    }

    read_only!();
}

impl Rows for AuditLog {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::At;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::Sequence, Column::At];

    fn found_by(word: &str) -> Condition {
        audit::found_by(word, rows::containing(word))
    }

    fn filters() -> Vec<Filter<Column>> {
        vec![
            Filter::looking("resource", "Records of these kinds.", Reads::AnyOf(&STEMS), of_resources),
            Filter::equal("resourceId", "Changes of this record.", Reads::Identifier, Column::ResourceId),
            Filter::equal("action", "These changes.", Reads::AnyOf(AuditAction::TEXTS), Column::Action),
            Filter::equal("userId", "Changes by this user.", Reads::Identifier, Column::UserId),
            Filter::looking("requestId", "Changes by this request.", Reads::Text, of_request),
            Filter::equal(
                "clientRequestId",
                "Changes by requests that clients call so.",
                Reads::Text,
                Column::ClientRequestId,
            ),
            Filter::at_least("from", "Changes at or after this time.", Reads::Time, Column::At),
            Filter::at_most("to", "Changes at or before this time.", Reads::Time, Column::At),
        ]
    }

    async fn known_total(cx: &Cx<'_>, query: &ListQuery) -> Result<Option<u64>> {
        if !query.is_of_all() {
            return Ok(None);
        }
        let books = if sees_all(cx)? { heads::stands(cx).await? } else { None };
        books.map(|books| u64::try_from(books.audit_sequence).map_err(Error::internal)).transpose()
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        reach(cx)
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<AuditRecord>> {
        shown(cx, rows).await
    }

    fn weight(row: &table::Model) -> usize {
        kit::changes::weight(row)
    }

    const MAY_WEIGH: bool = true;
}

/// The stems of all resources, which the log names them by.
static STEMS: [&str; ResourceKey::ALL.len()] = {
    let mut stems = [""; ResourceKey::ALL.len()];
    let mut at = 0;
    while at < stems.len() {
        stems[at] = ResourceKey::ALL[at].stem();
        at += 1;
    }
    stems
};

#[allow(clippy::unnecessary_wraps, reason = "a filter may fail; this one does not")]
fn of_resources(_: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::AnyOf(stems) = value else { return Ok(Condition::any()) };
    Ok(Condition::all().add(Column::Resource.is_in(stems.iter().map(|stem| Word::from(stem.as_str())))))
}

#[allow(clippy::unnecessary_wraps, reason = "a filter may fail; this one does not")]
fn of_request(_: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Text(called) = value else { return Ok(Condition::any()) };
    Ok(Condition::all().add(Column::RequestId.eq(Called(called.clone()))))
}

/// How many records are read at once. Each may weigh what the largest document does, twice.
const PORTION: i64 = 100;

/// Records that are handed over in portions. They never change, and none comes between two of them.
#[derive(Default)]
struct Exported {
    /// The last one that was handed over, and how many may follow; nothing before the first portion.
    at: Option<(i64, i64)>,
}

impl Portions for Exported {
    fn next<'c>(&'c mut self, cx: &'c Cx<'c>, query: &'c ListQuery) -> BoxFuture<'c, Result<Option<String>>> {
        Box::pin(async move {
            let (after, left) = match self.at {
                Some(at) => at,
                None => asked(query),
            };
            let rows = records(cx)?
                .filter(Column::Sequence.gt(after))
                .order_by_asc(Column::Sequence)
                .limit(u64::try_from(left.min(PORTION)).map_err(Error::internal)?)
                .models(&cx.db)
                .await?;
            let Some(last) = rows.last().map(|row| row.sequence) else { return Ok(None) };
            self.at = Some((last, left - i64::try_from(rows.len()).map_err(Error::internal)?));
            let mut text = String::new();
            for record in shown(cx, rows).await? {
                text.push_str(&serde_json::to_string(&record).map_err(Error::internal)?);
                text.push('\n');
            }
            Ok(Some(text))
        })
    }
}

/// The record after which an export begins, and how many are wanted.
fn asked(query: &ListQuery) -> (i64, i64) {
    let whole = |name: &str| match query.filter(name) {
        Some(FilterValue::Whole(number)) => Some(*number),
        _ => None,
    };
    (whole("after").unwrap_or(books::BEFORE_THE_FIRST), whole("limit").unwrap_or(MOST_EXPORTED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use books::cx::Point;

    #[test]
    fn an_export_begins_after_a_record_and_is_bounded() {
        for (after, limit, expected) in [
            (None, None, (0, 10_000)),
            (Some(42), None, (42, 10_000)),
            (Some(42), Some(1), (42, 1)),
            (None, Some(10_000), (0, 10_000)),
        ] {
            let filters = [("after", after), ("limit", limit)];
            let filters = filters.into_iter().filter_map(|(name, number)| Some((name, FilterValue::Whole(number?))));
            let query = ListQuery {
                page: 1,
                page_size: 10,
                sort: Vec::new(),
                search: None,
                updated_since: None,
                filters: filters.collect(),
                point: Point::default(),
                fields: None,
                expand: Vec::new(),
                walk: None,
            };
            assert_eq!(asked(&query), expected, "{after:?} {limit:?}");
        }
    }
}

//! The installation's own audit log: what happened to accounts, memberships and keys, by the API and by the command line.
//!
//! It is a chain like that of a company, kept and proved by the same functions, and belongs to none of them.

use crate::audit_log::AuditLog;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use answers::Ask;
use books::audit::{self, AuditVerdict};
use books::cx::Cx;
use kit::changes::{AuditRecord, example, shown};
use kit::extra::{Does, Extra, NoWords, On, Produced, Reading, Weight};
use kit::list::{ListQuery, Page, Parameter};
use kit::operation::Verb;
use kit::resource::{About, Resource, Scope};
use kit::rows::{self, Filter, Rows, read_only};
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::audit_log::{self as table, Column};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect};
use serde_json::json;

pub struct InstallationLog;

impl Resource for InstallationLog {
    const KEY: ResourceKey = ResourceKey::InstallationLog;
    const SCOPE: Scope = Scope::Administration;
    const ABOUT: About = About {
        one: "a record of the installation",
        many: "records of the installation",
        description: "What happened to accounts, memberships, keys and companies, by the API and by the command line, in a \
                      chain of hashes of its own. What belongs to a company stands in its audit log as well, and names it \
                      here as `businessId`. For system administrators, who are logged in; no key reads it.",
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
        vec![Extra {
            name: "Verify",
            segment: "verify",
            on: On::Collection,
            action: Action::View,
            answers: None,
            summary: "Verify the installation log",
            description: "Walks the whole chain of hashes and tells where it is broken, if anywhere.",
            does: Does::Reads(Reading {
                weight: Weight::Proof,
                ..Reading::json::<AuditVerdict>(
                    |cx, _, _| {
                        Box::pin(async move { Produced::json(&audit::verify(cx, BusinessId::INSTALLATION).await?) })
                    },
                    || json!({"ok": true, "records": 42, "head": example()["hash"], "problems": []}),
                )
            }),
        }]
    }

    fn example() -> serde_json::Value {
        json!({})
    }

    fn example_view() -> serde_json::Value {
        let mut example = example();
        example["resource"] = "apiKeys".into();
        for state in ["before", "after"] {
            let version = if state == "before" { 1 } else { 2 };
            example[state] = json!({
                "businessId": "019a9f6e-6c00-7a8e-9d1f-0a8f5f1c2b3d", "record": {"name": "Web shop", "version": version}
            });
        }
        example
    }

    async fn list(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<AuditRecord>> {
        rows::list::<Self>(cx, query).await
    }

    async fn get(cx: &Cx<'_>, id: RecordId) -> Result<AuditRecord> {
        rows::get::<Self>(cx, id).await
    }

    read_only!();
}

/// Records after a place in the chain, each with its place, as JSON.
pub async fn after(cx: &Cx<'_>, sequence: i64, limit: u64) -> Result<Vec<(i64, String)>> {
    let rows = table::Entity::find()
        .filter(InstallationLog::reach(cx)?)
        .filter(Column::Sequence.gt(sequence))
        .order_by_asc(Column::Sequence)
        .limit(limit);
    let rows = rows.models(&cx.db).await?;
    let places: Vec<i64> = rows.iter().map(|row| row.sequence).collect();
    let json = |record: &AuditRecord| serde_json::to_string(record).map_err(Error::internal);
    let records = shown(cx, rows).await?;
    places.into_iter().zip(&records).map(|(place, record)| Ok((place, json(record)?))).collect()
}

impl Rows for InstallationLog {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::At;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = AuditLog::SORTS;

    fn found_by(word: &str) -> Condition {
        audit::found_by(word, rows::containing(word))
    }

    fn filters() -> Vec<Filter<Column>> {
        AuditLog::filters()
    }

    fn reach(_: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(BusinessId::INSTALLATION)))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<AuditRecord>> {
        shown(cx, rows).await
    }

    fn weight(row: &table::Model) -> usize {
        kit::changes::weight(row)
    }

    const MAY_WEIGH: bool = true;
}

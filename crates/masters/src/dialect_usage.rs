//! Who still speaks which dialect, as it is read.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use books::auth::user::emails_of;
use books::cx::Cx;
use books::database::lane::BoxFuture;
use kit::extra::{Does, Extra, NoWords, On, Produced, Reading};
use kit::list::{FilterValue, ListQuery, Page, Parameter, Reads};
use kit::operation::Verb;
use kit::resource::NoRecord;
use kit::resource::{About, Resource, Scope};
use kit::rows::read_only;
use schema::dialect_usage as table;
use schema::key::ResourceKey;
use schema::rights::Action;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter, QueryOrder};
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};

pub struct DialectUsage;

/// What a user's program calls in a dialect.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DialectUse")]
pub struct Use {
    /// The user.
    pub user_id: UserId,
    /// The user's e-mail address, as it is now. Whoever may not view users sees their own.
    pub email: Option<String>,
    /// The program, as it calls itself (`User-Agent`).
    pub agent: String,
    /// The dialect's letter.
    pub dialect: String,
    /// How many calls there were.
    pub calls: i64,
    /// When the last one was.
    pub last_call_at: Instant,
    /// The same by operation.
    pub operations: Vec<OperationUse>,
}

/// What is called.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OperationUse")]
pub struct OperationUse {
    /// The operation, by its identifier in the documents.
    pub operation: String,
    /// How many calls there were.
    pub calls: i64,
    /// When the last one was.
    pub last_call_at: Instant,
}

/// Who speaks which dialect.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DialectUses")]
struct Uses {
    /// By user, program and dialect; the last call first.
    items: Vec<Use>,
}

const PARAMETERS: &[Parameter] = &[
    Parameter::new("dialect", "Only calls in this dialect.", Reads::Letter),
    Parameter::new("userId", "Only calls of this user.", Reads::Identifier),
    Parameter::new("since", "Only what was called at or after this time.", Reads::Time),
];

fn read<'c>(cx: &'c Cx<'c>, _: Option<RecordId>, query: &'c ListQuery) -> BoxFuture<'c, Result<Produced>> {
    Box::pin(async move {
        let mut items = uses(&cx.db, cx.business_id()?).await?;
        // Who is called how is told to whoever may see the people.
        if cx.require(ResourceKey::Users, Action::View).is_err() {
            items.iter_mut().filter(|one| one.user_id != cx.user).for_each(|one| one.email = None);
        }
        items.retain(|one| is_asked_for(one, query));
        Produced::json(&Uses { items })
    })
}

fn is_asked_for(one: &Use, query: &ListQuery) -> bool {
    let dialect = query.filter("dialect").is_none_or(|asked| *asked == FilterValue::OneOf(one.dialect.clone()));
    let user = query.filter("userId").is_none_or(|asked| *asked == FilterValue::Identifier(RecordId(one.user_id.0)));
    let since = match query.filter("since") {
        Some(FilterValue::Time(since)) => one.last_call_at >= *since,
        _ => true,
    };
    dialect && user && since
}

/// Who speaks which dialect in a company, in an order that another call does not change.
pub async fn uses(connection: &impl ConnectionTrait, business: BusinessId) -> Result<Vec<Use>> {
    let rows = table::Entity::find()
        .filter(table::Column::BusinessId.eq(business))
        .order_by_asc(table::Column::Operation)
        .all(connection)
        .await?;
    let emails = emails_of(connection, rows.iter().map(|row| row.user_id)).await?;
    Ok(by_program(rows, &emails))
}

/// Calls by user, program and dialect; within each in the order in which they come.
fn by_program(rows: Vec<table::Model>, emails: &HashMap<UserId, String>) -> Vec<Use> {
    let mut by_program: BTreeMap<(UserId, String, String), Vec<OperationUse>> = BTreeMap::new();
    for row in rows {
        let of_program = by_program.entry((row.user_id, row.agent, row.dialect)).or_default();
        of_program.push(OperationUse { operation: row.operation, calls: row.calls, last_call_at: row.last_at });
    }
    let used = |((user_id, agent, dialect), operations): (_, Vec<OperationUse>)| Use {
        user_id,
        email: emails.get(&user_id).cloned(),
        agent,
        dialect,
        calls: operations.iter().map(|one| one.calls).sum(),
        last_call_at: operations.iter().map(|one| one.last_call_at).max().unwrap_or_default(),
        operations,
    };
    by_program.into_iter().map(used).collect()
}

impl Resource for DialectUsage {
    const KEY: ResourceKey = ResourceKey::DialectUsage;
    const SCOPE: Scope = Scope::Business;
    const TELLS_OF_CALLS: bool = true;
    const ABOUT: About = About {
        one: "a use of a dialect",
        many: "uses of dialects",
        description: "Who still speaks which dialect to this company: calls by user, program and operation, and when the \
                      last one was. So an operator knows when a dialect can go, and whom to tell before.",
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
            name: "Get",
            segment: "",
            on: On::Collection,
            action: Action::View,
            answers: None,
            summary: "See who speaks which dialect",
            description: "Calls by user, program and dialect, in that order. Calls that name no company, such as \
                          log-ins, are not counted.",
            does: Does::Reads(Reading {
                parameters: PARAMETERS,
                ..Reading::json::<Uses>(read, || {
                    json!({"items": [{
                        "userId": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03", "email": "jo@harbour.example",
                        "agent": "webshop/2.1", "dialect": "A", "calls": 4711, "lastCallAt": "2026-11-20T09:30:00.000000Z",
                        "operations": [{
                            "operation": "salesInvoicesCreate", "calls": 4711, "lastCallAt": "2026-11-20T09:30:00.000000Z"
                        }]
                    }]})
                })
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

#[cfg(test)]
mod tests {
    use super::*;
    use books::cx::Point;
    use sea_orm::prelude::Uuid;

    fn user(number: u128) -> UserId {
        UserId(Uuid::from_u128(number))
    }

    fn used(by: u128, agent: &str, dialect: &str, operation: &str, (calls, last): (i64, i64)) -> table::Model {
        table::Model {
            business_id: BusinessId::default(),
            user_id: user(by),
            agent: agent.into(),
            dialect: dialect.into(),
            operation: operation.into(),
            calls,
            last_at: Instant::from_micros(last),
        }
    }

    #[test]
    fn calls_are_counted_by_user_program_and_dialect() {
        let rows = vec![
            used(2, "shop", "A", "partiesList", (3, 50)),
            used(1, "shop", "A", "partiesList", (5, 40)),
            used(1, "shop", "A", "salesInvoicesCreate", (7, 60)),
            used(1, "shop", "B", "partiesList", (1, 10)),
            used(1, "till", "A", "partiesList", (2, 20)),
        ];
        let uses = by_program(rows, &HashMap::from([(user(1), "jo@harbour.example".to_owned())]));
        let shown: Vec<_> = uses
            .iter()
            .map(|one| {
                (
                    one.email.as_deref(),
                    one.agent.as_str(),
                    one.dialect.as_str(),
                    one.calls,
                    one.last_call_at.micros(),
                    one.operations.len(),
                )
            })
            .collect();
        let jo = Some("jo@harbour.example");
        assert_eq!(
            shown,
            [
                (jo, "shop", "A", 12, 60, 2),
                (jo, "shop", "B", 1, 10, 1),
                (jo, "till", "A", 2, 20, 1),
                (None, "shop", "A", 3, 50, 1),
            ]
        );
        let asked = |filters: &[(&'static str, FilterValue)]| {
            let query = ListQuery {
                page: 1,
                page_size: 10,
                sort: Vec::new(),
                search: None,
                updated_since: None,
                filters: filters.to_vec(),
                point: Point::default(),
                fields: None,
                expand: Vec::new(),
                walk: None,
            };
            uses.iter().map(|one| is_asked_for(one, &query)).collect::<Vec<_>>()
        };
        let of = |number: u128| ("userId", FilterValue::Identifier(RecordId(Uuid::from_u128(number))));
        let since = |micros: i64| ("since", FilterValue::Time(Instant::from_micros(micros)));
        assert_eq!(asked(&[]), [true; 4]);
        assert_eq!(asked(&[("dialect", FilterValue::OneOf("B".into()))]), [false, true, false, false]);
        assert_eq!(asked(&[of(2)]), [false, false, false, true]);
        // At that moment is since then.
        assert_eq!(asked(&[since(20)]), [true, false, true, true]);
        assert_eq!(asked(&[since(21), of(1)]), [true, false, false, false]);
    }
}

//! Locks: until which day the books are closed.
//!
//! A lock is never changed: a new one takes its place, so that the list is the history. Soft locks may be
//! lifted again and except users; the hard lock only moves forward.

use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Maybe, Text};
use crate::ids::{BusinessId, UserId};
use crate::stored::AsJson;
use answers::Ask;
use books::access::Business;
use books::auth::user;
use books::cx::Cx;
use kit::master::{Columns, Master, RecordKeeping, keeping, kept, master_operations};
use kit::operation::Verb;
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use schema::address::text;
use schema::key::ResourceKey;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter, QueryOrder, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;

pub struct Locks;

/// What a client sends to lock the books anew.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct LockInput {
    /// The last day on which nothing may be posted.
    lock_date: Maybe<Day>,
    /// The same for sales alone.
    sales_lock_date: Maybe<Day>,
    /// The same for purchases alone.
    purchase_lock_date: Maybe<Day>,
    /// The same for money alone: contra entries, receipts and payments.
    bank_lock_date: Maybe<Day>,
    /// The same for stock alone.
    stock_lock_date: Maybe<Day>,
    /// The same for journals alone.
    journal_lock_date: Maybe<Day>,
    /// The same for everyone and everything, for good: it never moves back.
    hard_lock_date: Maybe<Day>,
    /// Why the books are locked.
    reason: Maybe<Text<500>>,
    /// Users for whom the locks do not hold, all but the hard one; at most 50.
    #[schemars(extend("maxItems" = 50))]
    exceptions: Each<LockExceptionInput>,
}

/// A user for whom the locks do not hold.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct LockExceptionInput {
    /// The user.
    user_id: Field<UserId>,
    /// Until when; as long as the lock is in force when absent.
    until: Maybe<Instant>,
    /// Why.
    reason: Maybe<Text<500>>,
}

/// Until which days the books are, or were, closed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Lock")]
pub struct LockView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// The last day on which nothing may be posted.
    lock_date: Option<Day>,
    /// The same for sales alone.
    sales_lock_date: Option<Day>,
    /// The same for purchases alone.
    purchase_lock_date: Option<Day>,
    /// The same for money alone.
    bank_lock_date: Option<Day>,
    /// The same for stock alone.
    stock_lock_date: Option<Day>,
    /// The same for journals alone.
    journal_lock_date: Option<Day>,
    /// The same for everyone and everything, for good.
    hard_lock_date: Option<Day>,
    /// Why the books are locked.
    reason: Option<String>,
    /// Users for whom the locks do not hold, all but the hard one.
    exceptions: Vec<LockException>,
    /// Whether this is the newest, which is the one that counts.
    in_force: bool,
}

impl AsRef<RecordKeeping> for LockView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::lock as table;
pub use schema::lock::LockException;
use table::Column;

impl Resource for Locks {
    const KEY: ResourceKey = ResourceKey::Locks;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a lock",
        many: "locks",
        description: "Until which day the books are closed. The newest lock is in force; those before it are history. \
                      A lock without dates opens the books again, all but what is locked hard.",
        sorts: &["createdAt"],
        searched: "reason",
    };
    const VERBS: &'static [Verb] = &[Verb::List, Verb::Get, Verb::Create];
    type Input = LockInput;
    type Draft = Columns<Column>;
    type View = LockView;

    fn example() -> serde_json::Value {
        json!({
            "lockDate": "2026-09-30",
            "salesLockDate": null,
            "purchaseLockDate": null,
            "bankLockDate": "2026-10-31",
            "stockLockDate": null,
            "journalLockDate": null,
            "hardLockDate": "2025-12-31",
            "reason": "Third quarter filed",
            "exceptions": []
        })
    }

    fn example_view() -> serde_json::Value {
        json!({ "inForce": true })
    }

    fn check(_: Option<&Business>, input: LockInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let mut row = Columns::new();
        for (column, name, field) in [
            (Column::LockDate, "lockDate", input.lock_date),
            (Column::SalesLockDate, "salesLockDate", input.sales_lock_date),
            (Column::PurchaseLockDate, "purchaseLockDate", input.purchase_lock_date),
            (Column::BankLockDate, "bankLockDate", input.bank_lock_date),
            (Column::StockLockDate, "stockLockDate", input.stock_lock_date),
            (Column::JournalLockDate, "journalLockDate", input.journal_lock_date),
            (Column::HardLockDate, "hardLockDate", input.hard_lock_date),
        ] {
            row.set(column, faults.optional(name, field));
        }
        let reason = text(&mut faults, "reason", input.reason);
        row.set(Column::Search, crate::texts::search_key(reason.as_deref().unwrap_or_default()));
        row.set(Column::Reason, reason);
        let exceptions = faults.each("exceptions", input.exceptions, |faults, input| LockException {
            user_id: faults.required("userId", input.user_id),
            until: faults.optional("until", input.until),
            reason: text(faults, "reason", input.reason),
        });
        if exceptions.len() > 50 {
            faults.add("exceptions", "must be at most 50");
        }
        row.set(Column::Exceptions, AsJson(exceptions));
        faults.finish(row)
    }

    master_operations!();
}

impl Rows for Locks {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::Sequence];

    fn filters() -> Vec<Filter<Column>> {
        Vec::new()
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<LockView>> {
        let newest = in_force(cx).await?.map(|lock| lock.id);
        let view = |row: table::Model| LockView {
            keeping: kept!(row),
            in_force: newest == Some(row.id),
            lock_date: row.lock_date,
            sales_lock_date: row.sales_lock_date,
            purchase_lock_date: row.purchase_lock_date,
            bank_lock_date: row.bank_lock_date,
            stock_lock_date: row.stock_lock_date,
            journal_lock_date: row.journal_lock_date,
            hard_lock_date: row.hard_lock_date,
            reason: row.reason,
            exceptions: row.exceptions.0,
        };
        Ok(rows.into_iter().map(view).collect())
    }
}

impl Master for Locks {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn complete(cx: &Cx<'_>, _: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        check_users(cx, draft).await?;
        let before = in_force(cx).await?;
        let last = before.as_ref().and_then(|lock| lock.hard_lock_date);
        check_hard(last, Day::of_value(draft.get(Column::HardLockDate)))?;
        draft.set(Column::Sequence, before.map_or(1, |lock| lock.sequence + 1));
        Ok(())
    }
}

fn check_hard(last: Option<Day>, wanted: Option<Day>) -> Result<()> {
    let Some(last) = last.filter(|last| wanted.is_none_or(|wanted| wanted < *last)) else { return Ok(()) };
    Err(Error::Conflict(Conflict {
        code: Code::InvalidState,
        title: "The hard lock never moves back".into(),
        errors: FieldErrors::one("hardLockDate", format!("must be {last} or later")),
    }))
}

async fn check_users(cx: &Cx<'_>, draft: &Columns<Column>) -> Result<()> {
    let exceptions: Vec<LockException> = match draft.get(Column::Exceptions) {
        Some(Value::String(Some(text))) => serde_json::from_str(text).map_err(Error::internal)?,
        _ => Vec::new(),
    };
    let mut faults = FieldErrors::default();
    for (index, exception) in exceptions.iter().enumerate() {
        let member = schema::membership::Entity::find_by_id((cx.business_id()?, exception.user_id));
        let exists = user::find(&cx.db, exception.user_id).await?.is_some() && member.count(&cx.db).await? > 0;
        if !exists {
            faults.add(format!("exceptions[{index}].userId"), "names no member of the company");
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
}

async fn in_force(cx: &Cx<'_>) -> Result<Option<table::Model>> {
    let locks = table::Entity::find().filter(Locks::reach(cx)?).order_by_desc(Column::Sequence);
    Ok(locks.model(&cx.db).await?)
}

/// The soft lock of each company, as it is now.
pub(crate) async fn dates_in_force(
    cx: &Cx<'_>,
    businesses: impl Iterator<Item = BusinessId>,
) -> Result<HashMap<BusinessId, Option<Day>>> {
    let locks = table::Entity::find()
        .filter(Column::BusinessId.is_in(businesses))
        .order_by_asc(Column::Sequence)
        .models(&cx.db)
        .await?;
    Ok(dates_of(locks))
}

/// The soft lock of each company, where the newest of each comes last.
fn dates_of(locks: Vec<table::Model>) -> HashMap<BusinessId, Option<Day>> {
    locks.into_iter().map(|lock| (lock.business_id, lock.lock_date)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{day, draft, row, said};
    use sea_orm::prelude::Uuid;

    #[test]
    fn each_day_of_a_lock_is_kept_as_its_own() {
        let fields =
            ["lockDate", "salesLockDate", "purchaseLockDate", "bankLockDate", "stockLockDate", "journalLockDate"];
        let fields = fields.into_iter().chain(["hardLockDate"]);
        for (place, field) in fields.enumerate() {
            let (none, one) = (json!(null), json!("2026-06-30"));
            let mut body = Locks::example();
            for (name, said) in body.as_object_mut().unwrap().iter_mut().filter(|(name, _)| name.ends_with("ockDate")) {
                *said = if name == field { one.clone() } else { none.clone() };
            }
            let row = Locks::check(None, serde_json::from_value(body).unwrap()).unwrap();
            let kept = [
                Column::LockDate,
                Column::SalesLockDate,
                Column::PurchaseLockDate,
                Column::BankLockDate,
                Column::StockLockDate,
                Column::JournalLockDate,
                Column::HardLockDate,
            ]
            .map(|column| Day::of_value(row.get(column)));
            let mut expected = [None; 7];
            expected[place] = Some(day("2026-06-30"));
            assert_eq!(kept, expected, "{field}");
        }
    }

    #[test]
    fn who_is_excused_is_kept_with_until_when_and_why() {
        let user = "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03";
        let made = row::<Locks>(&[(
            "/exceptions",
            json!([{"userId": user, "until": "2026-11-30T23:00:00Z", "reason": " late bills "}, {"userId": user}]),
        )]);
        let kept: Vec<_> = made.exceptions.0.iter().map(|one| (one.until, one.reason.as_deref())).collect();
        assert_eq!(kept, [(Instant::parse("2026-11-30T23:00:00Z"), Some("late bills")), (None, None)]);
        assert!(made.exceptions.0.iter().all(|one| one.user_id.to_string() == user));
    }

    #[test]
    fn the_hard_lock_never_moves_back() {
        let (early, late) = (Some(day("2025-12-31")), Some(day("2026-06-30")));
        let refused = "invalid_state: hardLockDate: must be 2026-06-30 or later";
        for (last, wanted, answer) in [
            (None, None, "fine"),
            (None, early, "fine"),
            (late, late, "fine"),
            (late, Some(day("2026-07-01")), "fine"),
            (late, Some(day("2026-06-29")), refused),
            (late, early, refused),
            // To say nothing of it would lift it.
            (late, None, refused),
        ] {
            assert_eq!(said(check_hard(last, wanted)), answer, "{wanted:?} after {last:?}");
        }
        let none = draft::<Locks>(&[("/hardLockDate", json!(null))]);
        assert_eq!(Day::of_value(none.get(Column::HardLockDate)), None);
    }

    #[test]
    fn the_newest_lock_of_each_company_is_in_force() {
        let company = |number| BusinessId(Uuid::from_u128(number));
        let lock = |number, sequence, date: Option<&str>| table::Model {
            business_id: company(number),
            sequence,
            lock_date: date.map(day),
            ..row::<Locks>(&[])
        };
        let dates = dates_of(vec![
            lock(1, 1, Some("2026-01-31")),
            lock(2, 1, Some("2026-02-28")),
            lock(1, 2, Some("2026-03-31")),
            // One without dates opens the books again.
            lock(2, 2, None),
        ]);
        assert_eq!(dates, HashMap::from([(company(1), Some(day("2026-03-31"))), (company(2), None)]));
    }
}

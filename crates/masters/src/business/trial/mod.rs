//! Trials: companies that are there to be tried out. One is told what today is, made as a copy of another company without
//! its people, and emptied.
//!
//! Owns: that a real company is none of this, and that it stays real. Refuses: to take a row out of any ledger: what is
//! emptied rests as it is, and another company stands in its place.

mod anew;

use super::{BusinessView, Businesses, Column, table};
use crate::day::Day;
use crate::error::{Code, Error, FieldErrors, Result};
use crate::field::{Faults, Field, Label};
use crate::ids::{BusinessId, RecordId};
use crate::quoting::quoted;
use anew::{Anew, Texts};
use books::audit::AuditAction;
use books::auth::user as accounts;
use books::cx::Cx;
use kit::extra::{Act, ActMethod, Extra, NoWords, action};
use kit::master::{Columns, note};
use kit::operation::ReplyKind;
use kit::rows;
use schema::business::BusinessStatus;
use schema::key::ResourceKey;
use schema::rights::{Action, permission};
use schemars::JsonSchema;
use sea_orm::sea_query::{Expr, SimpleExpr};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Value as Kept};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;

pub(super) fn extras() -> Vec<Extra> {
    vec![action::<SetClock>(), action::<ReleaseClock>(), action::<Empty>()]
}

/// A company stays what it was made as, whatever a body says. One that says nothing of it leaves it.
pub(super) fn check_stays(row: &table::Model, draft: &mut Columns<Column>) -> Result<()> {
    let is_trial = Kept::from(row.is_trial);
    match draft.get(Column::IsTrial) {
        Some(said) if *said != is_trial => {
            let why = if row.is_trial {
                "must stay true: a trial never becomes a real company; make a real one beside it"
            } else {
                "must stay false: a real company never becomes a trial; make a copy of it instead"
            };
            Err(Error::field("isTrial", why))
        }
        _ => {
            draft.replace(Column::IsTrial, is_trial);
            check_rests(row, draft)
        }
    }
}

/// A trial that is archived may have another in its place, so it stays archived: else whoever empties it could go on with both.
fn check_rests(row: &table::Model, draft: &Columns<Column>) -> Result<()> {
    let goes_on = draft.get(Column::Status).is_some_and(|said| *said != Kept::from(BusinessStatus::Archived));
    if row.is_trial && row.status == BusinessStatus::Archived && goes_on {
        return Err(Error::field(
            "status",
            "must stay archived: a trial that rests does not go on; copy it, or make another",
        ));
    }
    Ok(())
}

/// The company, where it is a trial.
async fn trial(cx: &Cx<'_>, id: RecordId, what: &str) -> Result<table::Model> {
    let row = rows::row::<Businesses>(cx, id).await?;
    if row.is_trial {
        return Ok(row);
    }
    let title = format!("Only a trial can be {what}; {} is a real company, and stays one", quoted(&row.name));
    Err(Error::conflict(Code::NotATrial, title))
}

/// Writes columns of a company, as a change of it.
async fn write(cx: &Cx<'_>, row: table::Model, columns: Vec<(Column, SimpleExpr)>) -> Result<BusinessView> {
    let (id, version) = (row.id, row.version);
    let before = rows::one_view::<Businesses>(cx, row).await?;
    let stamps = [
        (Column::Version, Expr::value(version + 1)),
        (Column::UpdatedAt, Expr::value(cx.now)),
        (Column::UpdatedBy, Expr::value(cx.user)),
    ];
    let update = columns
        .into_iter()
        .chain(stamps)
        .fold(table::Entity::update_many(), |update, (column, value)| update.col_expr(column, value));
    let written = update.filter(Column::Id.eq(id)).filter(Column::Version.eq(version)).exec(&cx.db).await?;
    if written.rows_affected != 1 {
        return Err(Error::PreconditionFailed);
    }
    let after = rows::get::<Businesses>(cx, RecordId(id.0)).await?;
    note::<Businesses>(cx, AuditAction::Updated, RecordId(id.0), Some(&before), Some(&after))?;
    Ok(after)
}

fn check_active(row: &table::Model) -> Result<()> {
    if row.status != BusinessStatus::Archived {
        return Ok(());
    }
    let why = "It is archived: a trial that was emptied rests, and goes on in the company that took its place";
    Err(Error::conflict(Code::InvalidState, why))
}

async fn tell(cx: &Cx<'_>, id: RecordId, day: Option<Day>) -> Result<BusinessView> {
    let row = trial(cx, id, "told what today is").await?;
    cx.check_expectation(id, row.version)?;
    check_active(&row)?;
    if row.told_today == day {
        return rows::one_view::<Businesses>(cx, row).await;
    }
    write(cx, row, vec![(Column::ToldToday, Expr::value(day))]).await
}

// ── What today is ──

/// What day it is to be.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct ClockInput {
    /// The day that it is in the company from now on, until it is told another or none.
    today: Field<Day>,
}

struct SetClock;

impl Act for SetClock {
    type Resource = Businesses;
    type Answers = Businesses;
    type Input = ClockInput;
    type Words = Day;
    const NAME: &'static str = "SetClock";
    const SEGMENT: &'static str = "clock";
    const ACTION: Action = Action::Edit;
    const SUMMARY: &'static str = "Tell a trial what today is";
    const DESCRIPTION: &'static str = "For trials alone; a real company answers 409 `not_a_trial`. All that asks for today goes by \
                                       this day: dates that nobody gave, what is overdue and how long, ageing, the days that \
                                       reports end with, numbers, what may not lie in the future. It may move forward and back. \
                                       What is in the books stays as it was written: a document of a day that is to come again is \
                                       simply of a day to come. The times at which something was recorded, tokens, locks with an \
                                       end, and the audit log go by the true clock.";

    fn check(input: ClockInput) -> Result<Day, FieldErrors> {
        let mut faults = Faults::default();
        let today = faults.required("today", input.today);
        faults.finish(today)
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| json!({"today": "2026-12-24"}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, today: &Day) -> Result<BusinessView> {
        tell(cx, id, Some(*today)).await
    }
}

struct ReleaseClock;

impl Act for ReleaseClock {
    type Resource = Businesses;
    type Answers = Businesses;
    type Input = NoWords;
    type Words = ();
    const NAME: &'static str = "ReleaseClock";
    const SEGMENT: &'static str = "clock";
    const ACTION: Action = Action::Edit;
    const METHOD: ActMethod = ActMethod::Delete;
    const SUMMARY: &'static str = "Let a trial go by the clock again";
    const DESCRIPTION: &'static str = "From now on today is the day that it is at the company's seat. A real company answers 409 \
                                       `not_a_trial`.";

    fn check(_: NoWords) -> Result<(), FieldErrors> {
        Ok(())
    }

    async fn run(cx: &Cx<'_>, id: RecordId, (): &()) -> Result<BusinessView> {
        tell(cx, id, None).await
    }
}

// ── Copies ──

/// A company that was made as a copy of another.
pub struct Copied {
    pub business: BusinessId,
    ids: HashMap<RecordId, RecordId>,
}

impl Copied {
    /// What a record of the other company is called in this one.
    pub fn id(&self, old: RecordId) -> Result<RecordId> {
        self.ids.get(&old).copied().ok_or_else(|| Error::internal(format!("{old} did not come over into a copy")))
    }
}

/// Makes a trial as a copy of a company, without its people and with empty books. It is founded by whoever goes on with it.
pub async fn copied(cx: &Cx<'_>, id: RecordId, name: &str) -> Result<Copied> {
    let row = rows::row::<Businesses>(cx, id).await?;
    check_owns(cx, "copies it")?;
    let makes = cx.only().is_none() && accounts::find(&cx.db, cx.user).await?.is_some_and(|one| one.is_system_admin);
    if !makes {
        return Err(Error::Forbidden { permission: permission(ResourceKey::Businesses, Action::Create) });
    }
    // What waits to be written is copied as well.
    cx.flush().await?;
    let mut anew = Anew::of(cx, row.id, Texts::LeftBehind);
    anew.check_bounds().await?;
    let business = anew.company(&row, name).await?;
    anew.how_books_are_kept().await?;
    anew.owned_by_caller().await?;
    anew.items().await?;
    anew.parties().await?;
    anew.settled().await?;
    Ok(Copied { business, ids: anew.ids() })
}

/// Refuses who does not own the company in person.
fn check_owns(cx: &Cx<'_>, what: &str) -> Result<()> {
    if cx.business()?.seat.is_owner {
        return Ok(());
    }
    Err(Error::not_allowed(format!("Only who owns the company {what}"), FieldErrors::default()))
}

/// Says in the log of a new company that it was made.
pub async fn founded(cx: &Cx<'_>, made: BusinessId) -> Result<BusinessView> {
    let id = RecordId(made.0);
    let view = rows::get::<Businesses>(cx, id).await?;
    note::<Businesses>(cx, AuditAction::Created, id, None, Some(&view))?;
    Ok(view)
}

// ── Emptying ──

/// That the company is meant, and no other.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct EmptyInput {
    /// The name of the company that is emptied, letter for letter.
    name: Field<Label<200>>,
}

struct Empty;

impl Act for Empty {
    type Resource = Businesses;
    type Answers = Businesses;
    type Input = EmptyInput;
    type Words = String;
    const NAME: &'static str = "Empty";
    const SEGMENT: &'static str = "empty";
    const ACTION: Action = Action::Delete;
    const KIND: ReplyKind = ReplyKind::Created;
    const SUMMARY: &'static str = "Empty a trial";
    const DESCRIPTION: &'static str = "For trials alone; a real company answers 409 `not_a_trial`. No row ever leaves a ledger: so the \
                                       company is archived as it is, with its audit log, and a new one takes its place and is \
                                       answered. That has a new identifier and the name, `externalId`, settings, chart of accounts, \
                                       tax codes, payment terms, number series, fiscal years, exchange rates, permission sets, \
                                       members and told day of the old one, and no party, item, document or entry. Numbers begin \
                                       anew, and nothing is locked. Keys and webhooks stay with the old one.";

    fn check(input: EmptyInput) -> Result<String, FieldErrors> {
        let mut faults = Faults::default();
        let name = faults.required("name", input.name).into_inner();
        faults.finish(name)
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| json!({"name": "Harbour Trading, to try out"}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, name: &String) -> Result<BusinessView> {
        let row = trial(cx, id, "emptied").await?;
        cx.check_expectation(id, row.version)?;
        check_owns(cx, "empties it")?;
        if *name != row.name {
            return Err(Error::field("name", format!("must be the name of the company: {}", quoted(&row.name))));
        }
        check_active(&row)?;
        // What it is called elsewhere means the one in its place from now on.
        let rests = vec![
            (Column::Status, Expr::value(BusinessStatus::Archived)),
            (Column::ExternalId, Expr::value(Option::<String>::None)),
        ];
        write(cx, row.clone(), rests).await?;
        let mut anew = Anew::of(cx, row.id, Texts::AsTheyAre);
        anew.check_bounds().await?;
        let made = anew.company(&row, name).await?;
        anew.how_books_are_kept().await?;
        anew.people().await?;
        anew.settled().await?;
        founded(cx, made).await
    }
}

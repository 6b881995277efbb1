//! Who owes what and for how long: aging of receivables and payables, and the statement of a party.

use super::Report;
use super::asked::{
    AGING_BY, AS_OF, AgingBy, Asked, BUCKETS, DATE, FORMAT, FROM, FROM_DATE, INCLUDE_ZERO, KNOWN_AT, PARTY, THE_PARTY,
    TO, TO_DATE,
};
use super::form::{Example, Form, Holds, Shown};
use super::sheet::{Cell, Column, Own, Row, RowType, Sheet};
use crate::books::balances::{balances, sum};
use crate::books::tables::{DocumentKind, documents, entries, entry_lines, open_item_moves, open_items};
use crate::cx::{Cx, Point};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Money;
use crate::resource::account::{AccountType, table as accounts};
use crate::resource::list::Parameter;
use crate::resource::party::table as parties;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, Condition, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;
use words::sums::SummedUp as _;

/// Which side is asked for.
pub(super) trait Side: Send + Sync + 'static {
    const ACCOUNTS: AccountType;
    const SIGN: i64;
    const NAMES: [&'static str; 2];
    const OPERATIONS: [&'static str; 2];
    const TITLES: [&'static str; 2];
}

pub(super) struct Receivable;
pub(super) struct Payable;

impl Side for Receivable {
    const ACCOUNTS: AccountType = AccountType::Receivable;
    const SIGN: i64 = 1;
    const NAMES: [&'static str; 2] = ["ar-aging", "ar-aging-detail"];
    const OPERATIONS: [&'static str; 2] = ["ReceivablesAging", "ReceivablesAgingDetail"];
    const TITLES: [&'static str; 2] = ["Aging of receivables", "Aging of receivables, document by document"];
}

impl Side for Payable {
    const ACCOUNTS: AccountType = AccountType::Payable;
    const SIGN: i64 = -1;
    const NAMES: [&'static str; 2] = ["ap-aging", "ap-aging-detail"];
    const OPERATIONS: [&'static str; 2] = ["PayablesAging", "PayablesAgingDetail"];
    const TITLES: [&'static str; 2] = ["Aging of payables", "Aging of payables, document by document"];
}

/// Something that was open at the end of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Open {
    party: RecordId,
    document: RecordId,
    kind: Option<DocumentKind>,
    number: Option<String>,
    date: Day,
    due: Day,
    /// In the company's currency; what is owed on this side is positive.
    base: i64,
}

pub(super) struct Aged {
    own: Own,
    open: Vec<Open>,
    parties: HashMap<RecordId, String>,
    /// What the control accounts come to, computed apart.
    control: i64,
}

#[derive(Clone, Copy, FromQueryResult)]
struct Left {
    open_item_id: RecordId,
    party_id: RecordId,
    document_id: RecordId,
    date: Day,
    base: i64,
}

async fn control_accounts(cx: &Cx<'_>, r#type: AccountType) -> Result<Vec<RecordId>> {
    let found = accounts::Entity::find()
        .select_only()
        .column(accounts::Column::Id)
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .filter(accounts::Column::Type.eq(r#type));
    Ok(found.into_tuple().all(&cx.db).await?)
}

async fn gather<S: Side>(cx: &Cx<'_>, asked: &Asked) -> Result<Aged> {
    let controls = control_accounts(cx, S::ACCOUNTS).await?;
    let left = left_open(cx, &controls, asked).await?;
    let due = due_dates(cx, &left).await?;
    let named = documents_of(cx, left.iter().map(|one| one.document_id)).await?;
    let open = left.into_iter().map(|one| {
        let document = named.get(&one.document_id);
        Open {
            party: one.party_id,
            document: one.document_id,
            kind: document.map(|(kind, _)| *kind),
            number: document.and_then(|(_, number)| number.clone()),
            date: one.date,
            due: due.get(&one.open_item_id).copied().unwrap_or(one.date),
            base: one.base * S::SIGN,
        }
    });
    let mut open: Vec<Open> = open.collect();
    open.sort_by(|left, right| (left.due, left.date, &left.number).cmp(&(right.due, right.date, &right.number)));
    let point = Point { as_of: Some(asked.as_of), ..asked.point };
    let control = match asked.party {
        None => balances(cx, Some(&controls), point).await?.values().map(|balance| balance.base).sum::<i64>(),
        Some(party) => of_party(cx, &controls, party, (None, asked.as_of), asked.point).await?,
    };
    Ok(Aged {
        own: Own(cx.business()?.currency_decimals),
        parties: names_of(cx, open.iter().map(|one| one.party)).await?,
        open,
        control: control * S::SIGN,
    })
}

/// What was open at the end of the day: what is open now, less what happened since. So it costs what is open and what
/// happened since, however much was settled before.
async fn left_open(cx: &Cx<'_>, controls: &[RecordId], asked: &Asked) -> Result<Vec<Left>> {
    let business = cx.business_id()?;
    let mut now = open_items::Entity::find()
        .filter(open_items::Column::BusinessId.eq(business))
        .filter(open_items::Column::Open.ne(Money::ZERO));
    let mut since = open_item_moves::Entity::find()
        .select_only()
        .column(open_item_moves::Column::OpenItemId)
        .column(open_item_moves::Column::PartyId)
        .column(open_item_moves::Column::DocumentId)
        .column_as(open_item_moves::Column::Date.min(), "date")
        .column_as(sum(cx, Expr::col(open_item_moves::Column::Base)), "base")
        .filter(open_item_moves::Column::BusinessId.eq(business))
        .filter(open_item_moves::Column::AccountId.is_in(controls.iter().copied()));
    let mut later = Condition::any().add(open_item_moves::Column::Date.gt(asked.as_of));
    if let Some(at) = asked.point.known_at {
        later = later.add(open_item_moves::Column::RecordedAt.gt(at));
    }
    since = since
        .filter(later)
        .group_by(open_item_moves::Column::OpenItemId)
        .group_by(open_item_moves::Column::PartyId)
        .group_by(open_item_moves::Column::DocumentId);
    if let Some(party) = asked.party {
        now = now.filter(open_items::Column::PartyId.eq(party));
        since = since.filter(open_item_moves::Column::PartyId.eq(party));
    }
    let mut left: BTreeMap<RecordId, Left> = BTreeMap::new();
    for item in now.all(&cx.db).await?.into_iter().filter(|item| controls.contains(&item.account_id)) {
        let of_item = Left {
            open_item_id: item.id,
            party_id: item.party_id,
            document_id: item.document_id,
            date: item.date,
            base: item.base_open.units(),
        };
        left.insert(item.id, of_item);
    }
    let since: Vec<Left> = since.into_model().all(&cx.db).await?;
    let began = first_days(cx, since.iter().filter(|moved| !left.contains_key(&moved.open_item_id))).await?;
    for moved in since {
        let known = left.entry(moved.open_item_id).or_insert(Left {
            base: 0,
            date: began.get(&moved.open_item_id).copied().unwrap_or(moved.date),
            ..moved
        });
        known.base -= moved.base;
    }
    Ok(left.into_values().filter(|one| one.base != 0).collect())
}

/// The days on which items began that are settled or gone by now.
async fn first_days(cx: &Cx<'_>, items: impl Iterator<Item = &Left>) -> Result<HashMap<RecordId, Day>> {
    let ids: Vec<RecordId> = items.map(|one| one.open_item_id).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found: Vec<(RecordId, Option<Day>)> = open_item_moves::Entity::find()
        .select_only()
        .column(open_item_moves::Column::OpenItemId)
        .column_as(open_item_moves::Column::Date.min(), "date")
        .filter(open_item_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(open_item_moves::Column::OpenItemId.is_in(ids))
        .group_by(open_item_moves::Column::OpenItemId)
        .into_tuple()
        .all(&cx.db)
        .await?;
    Ok(found.into_iter().filter_map(|(id, day)| Some((id, day?))).collect())
}

/// What a party's lines on accounts come to over some days.
async fn of_party(
    cx: &Cx<'_>,
    controls: &[RecordId],
    party: RecordId,
    (from, to): (Option<Day>, Day),
    point: Point,
) -> Result<i64> {
    let mut lines = entry_lines::Entity::find()
        .select_only()
        .column_as(sum(cx, Expr::col(entry_lines::Column::Amount)), "base")
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::AccountId.is_in(controls.iter().copied()))
        .filter(entry_lines::Column::PartyId.eq(party))
        .filter(entry_lines::Column::Date.lte(to));
    if let Some(from) = from {
        lines = lines.filter(entry_lines::Column::Date.gte(from));
    }
    if let Some(known) = crate::books::balances::last_known(cx, point).await? {
        lines = lines.filter(entry_lines::Column::EntryNumber.lte(known));
    }
    let sum: Option<Option<i64>> = lines.into_tuple().one(&cx.db).await?;
    Ok(sum.summed_up())
}

/// When open items are due: as they say, and of those that are gone as their entries said.
async fn due_dates(cx: &Cx<'_>, left: &[Left]) -> Result<HashMap<RecordId, Day>> {
    let business = cx.business_id()?;
    let mut due: HashMap<RecordId, Day> = HashMap::new();
    let there = open_items::Entity::find()
        .filter(open_items::Column::BusinessId.eq(business))
        .filter(open_items::Column::Id.is_in(left.iter().map(|one| one.open_item_id)));
    for item in there.all(&cx.db).await? {
        due.insert(item.id, item.due_date.unwrap_or(item.date));
    }
    let gone: HashMap<RecordId, RecordId> = left
        .iter()
        .filter(|one| !due.contains_key(&one.open_item_id))
        .map(|one| (one.document_id, one.open_item_id))
        .collect();
    if gone.is_empty() {
        return Ok(due);
    }
    let said: Vec<(RecordId, Option<Day>)> = entry_lines::Entity::find()
        .select_only()
        .column(entries::Column::DocumentId)
        .column(entry_lines::Column::DueDate)
        .join(
            sea_orm::JoinType::InnerJoin,
            entry_lines::Entity::belongs_to(entries::Entity)
                .from((entry_lines::Column::BusinessId, entry_lines::Column::EntryNumber))
                .to((entries::Column::BusinessId, entries::Column::Number))
                .into(),
        )
        .filter(entry_lines::Column::BusinessId.eq(business))
        .filter(entries::Column::DocumentId.is_in(gone.keys().copied()))
        .filter(entry_lines::Column::DueDate.is_not_null())
        .order_by_asc(entry_lines::Column::EntryNumber)
        .into_tuple()
        .all(&cx.db)
        .await?;
    for (document, day) in said {
        if let (Some(item), Some(day)) = (gone.get(&document), day) {
            due.insert(*item, day);
        }
    }
    Ok(due)
}

pub(super) async fn documents_of(
    cx: &Cx<'_>,
    ids: impl Iterator<Item = RecordId>,
) -> Result<HashMap<RecordId, (DocumentKind, Option<String>)>> {
    let found: Vec<(RecordId, DocumentKind, Option<String>)> = documents::Entity::find()
        .select_only()
        .columns([documents::Column::Id, documents::Column::Kind, documents::Column::Number])
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::Id.is_in(ids))
        .into_tuple()
        .all(&cx.db)
        .await?;
    Ok(found.into_iter().map(|(id, kind, number)| (id, (kind, number))).collect())
}

pub(super) async fn names_of(cx: &Cx<'_>, ids: impl Iterator<Item = RecordId>) -> Result<HashMap<RecordId, String>> {
    let found: Vec<(RecordId, String)> = parties::Entity::find()
        .select_only()
        .columns([parties::Column::Id, parties::Column::Name])
        .filter(parties::Column::BusinessId.eq(cx.business_id()?))
        .filter(parties::Column::Id.is_in(ids))
        .into_tuple()
        .all(&cx.db)
        .await?;
    Ok(found.into_iter().collect())
}

/// In which bucket something stands: the first for what is not yet late, the last for what is latest.
fn bucket(one: &Open, asked: &Asked) -> usize {
    let since = match asked.aging_by {
        AgingBy::DueDate => one.due,
        AgingBy::DocumentDate => one.date,
    };
    let late = asked.as_of.days_since(since);
    if late <= 0 { 0 } else { 1 + asked.buckets.iter().take_while(|days| late > **days).count() }
}

fn columns(asked: &Asked) -> Vec<Column> {
    let mut columns = vec![Column::of("current", "Not yet due")];
    let mut from = 1;
    for days in &asked.buckets {
        columns.push(Column::of(&format!("{from}-{days}"), &format!("{from} to {days} days")));
        from = days + 1;
    }
    columns.push(Column::of(&format!("{from}+"), &format!("{from} days or more")));
    columns.push(Column::of("total", "Total"));
    columns
}

fn spread(open: &[&Open], asked: &Asked) -> Vec<i64> {
    let mut figures = vec![0; asked.buckets.len() + 3];
    let last = figures.len() - 1;
    for one in open {
        figures[bucket(one, asked)] += one.base;
        figures[last] += one.base;
    }
    figures
}

fn fold(facts: Aged, asked: &Asked, in_detail: bool) -> Sheet {
    let Aged { own, open, parties, control } = facts;
    let mut by_party: BTreeMap<(&str, RecordId), Vec<&Open>> = BTreeMap::new();
    for one in &open {
        let name = parties.get(&one.party).map_or("", String::as_str);
        by_party.entry((name, one.party)).or_default().push(one);
    }
    let mut rows = Vec::new();
    for ((name, party), open) in by_party {
        let figures = spread(&open, asked);
        if figures.iter().all(|figure| *figure == 0) && !asked.include_zero {
            continue;
        }
        let detail = |one: &&Open| Row {
            key: one.document.to_string(),
            r#type: RowType::Document,
            label: format!("{}, due {}", one.number.as_deref().unwrap_or("without a number"), one.due),
            party_id: Some(one.party),
            document_id: Some(one.document),
            document_type: one.kind,
            values: own.cells(&spread(&[one], asked)),
            ..Row::default()
        };
        let children = if in_detail { open.iter().map(detail).collect() } else { Vec::new() };
        rows.push(Row {
            r#type: RowType::Party,
            party_id: Some(party),
            ..Row::section(&party.to_string(), name, own.cells(&figures), children)
        });
    }
    let all = spread(&open.iter().collect::<Vec<_>>(), asked);
    rows.push(Row::total(RowType::Total, "total", "Total", own.cells(&all)));
    let columns = columns(asked);
    let total: i64 = all[all.len() - 1];
    let checks = vec![
        own.check("The total equals the control accounts", total, control),
        own.check("The buckets add up to the total", all[..all.len() - 1].iter().sum(), total),
    ];
    let totals = columns.iter().zip(&all).map(|(column, sum)| (column.key.clone(), own.cell(*sum))).collect();
    Sheet { columns, rows, totals, checks, ..Sheet::default() }
}

const PARAMETERS: &[Parameter] = &[AS_OF, DATE, BUCKETS, AGING_BY, PARTY, INCLUDE_ZERO, KNOWN_AT, FORMAT];

/// What both hold; the documentation shows these rows.
const fn form(rows: &'static [Shown]) -> Form {
    Form {
        columns: &[("total", "Total", Holds::Amount)],
        varying: Some("what is not yet due, then a column for each of the `buckets`"),
        totals: &[],
        example: Example {
            varying: &[
                ("current", "Not yet due"),
                ("1-30", "1 to 30 days"),
                ("31-60", "31 to 60 days"),
                ("61-90", "61 to 90 days"),
                ("91+", "91 days or more"),
            ],
            rows,
            totals: ALL,
            check: ("The total equals the control accounts", Holds::Amount, "12500.00"),
        },
    }
}

const ALL: &[&str] = &["10000.00", "2500.00", "0.00", "0.00", "0.00", "12500.00"];
const A_PARTY: Shown = (RowType::Party, "019a9f6e-6c00-7b23-8c12-7e9fb0213c23", "Nordwind Cafés", ALL);
const A_DOCUMENT: Shown = (
    RowType::Document,
    "019a9f6e-6c00-7b23-8c12-7e9fb0213c24",
    "INV-2026-0042, due 2026-12-19",
    &["10000.00", "0.00", "0.00", "0.00", "0.00", "10000.00"],
);
const THE_TOTAL: Shown = (RowType::Total, "total", "Total", ALL);

pub(super) struct Aging<S>(PhantomData<fn() -> S>);
pub(super) struct AgingDetail<S>(PhantomData<fn() -> S>);

impl<S: Side> Report for Aging<S> {
    const NAME: &'static str = S::NAMES[0];
    const OPERATION: &'static str = S::OPERATIONS[0];
    const TITLE: &'static str = S::TITLES[0];
    const ABOUT: &'static str = "What is open with each party at the end of a day, by how late it is. What is paid in \
                                 advance or credited and not yet allocated lessens it. Later allocations change nothing.";
    const PARAMETERS: &'static [Parameter] = PARAMETERS;
    const FORM: Form = form(&[A_PARTY, THE_TOTAL]);
    type Facts = Aged;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Aged> {
        gather::<S>(cx, asked).await
    }

    fn fold(facts: Aged, asked: &Asked) -> Result<Sheet> {
        Ok(fold(facts, asked, false))
    }
}

impl<S: Side> Report for AgingDetail<S> {
    const NAME: &'static str = S::NAMES[1];
    const OPERATION: &'static str = S::OPERATIONS[1];
    const TITLE: &'static str = S::TITLES[1];
    const ABOUT: &'static str = "The same with every document below its party.";
    const PARAMETERS: &'static [Parameter] = PARAMETERS;
    const FORM: Form = form(&[A_PARTY, A_DOCUMENT, THE_TOTAL]);
    type Facts = Aged;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Aged> {
        gather::<S>(cx, asked).await
    }

    fn fold(facts: Aged, asked: &Asked) -> Result<Sheet> {
        Ok(fold(facts, asked, true))
    }
}

// ── Statement of a party ──

pub(super) struct PartyStatement;

/// What happened with a party.
#[derive(FromQueryResult)]
struct Happened {
    date: Day,
    document_id: RecordId,
    amount: i64,
}

pub(super) struct Stated {
    own: Own,
    opening: i64,
    lines: Vec<(Day, RecordId, i64)>,
    named: HashMap<RecordId, (DocumentKind, Option<String>)>,
    party: RecordId,
    /// What is open with the party at the end, computed apart.
    open: i64,
}

impl Report for PartyStatement {
    const NAME: &'static str = "party-statement";
    const OPERATION: &'static str = "PartyStatement";
    const TITLE: &'static str = "Statement of a party";
    const ABOUT: &'static str = "What was open with a party before some days, what happened on them, and what is open \
                                 then. What it owes is positive.";
    const PARAMETERS: &'static [Parameter] = &[THE_PARTY, FROM, TO, FROM_DATE, TO_DATE, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("date", "Date", Holds::Day),
            ("amount", "Amount", Holds::Amount),
            ("balance", "Open", Holds::Amount),
        ],
        varying: None,
        totals: &[
            ("opening", "Open before", Holds::Amount),
            ("moved", "What was added", Holds::Amount),
            ("closing", "Open then", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Subtotal, "opening", "Open before", &["2026-01-01", "", "0.00"]),
                (
                    RowType::Document,
                    "019a9f6e-6c00-7b23-8c12-7e9fb0213c24",
                    "INV-2026-0042",
                    &["2026-11-20", "27490.00", "27490.00"],
                ),
            ],
            totals: &["0.00", "27490.00", "27490.00"],
            check: ("What is open then equals the party's open items", Holds::Amount, "27490.00"),
        },
    };
    type Facts = Stated;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Stated> {
        let business = cx.business_id()?;
        let party = asked.party.ok_or_else(|| Error::field("partyId", "is required"))?;
        let found = parties::Entity::find_by_id((business, party)).one(&cx.db).await?;
        if found.is_none() {
            return Err(Error::field("partyId", "names no party"));
        }
        let mut controls = control_accounts(cx, AccountType::Receivable).await?;
        controls.extend(control_accounts(cx, AccountType::Payable).await?);
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let mut lines = entry_lines::Entity::find()
            .select_only()
            .column(entry_lines::Column::Date)
            .column(entries::Column::DocumentId)
            .column_as(sum(cx, Expr::col((entry_lines::Entity, entry_lines::Column::Amount))), "amount")
            .join(
                sea_orm::JoinType::InnerJoin,
                entry_lines::Entity::belongs_to(entries::Entity)
                    .from((entry_lines::Column::BusinessId, entry_lines::Column::EntryNumber))
                    .to((entries::Column::BusinessId, entries::Column::Number))
                    .into(),
            )
            .filter(entry_lines::Column::BusinessId.eq(business))
            .filter(entry_lines::Column::AccountId.is_in(controls.iter().copied()))
            .filter(entry_lines::Column::PartyId.eq(party))
            .filter(entry_lines::Column::Date.between(from, to));
        if let Some(known) = crate::books::balances::last_known(cx, asked.point).await? {
            lines = lines.filter(entry_lines::Column::EntryNumber.lte(known));
        }
        let lines: Vec<Happened> = lines
            .group_by(entry_lines::Column::Date)
            .group_by(entries::Column::DocumentId)
            .order_by_asc(entry_lines::Column::Date)
            .order_by_asc(entries::Column::DocumentId)
            .into_model()
            .all(&cx.db)
            .await?;
        let lines: Vec<(Day, RecordId, i64)> = lines
            .into_iter()
            .filter(|line| line.amount != 0)
            .map(|line| (line.date, line.document_id, line.amount))
            .collect();
        let mut open = open_item_moves::Entity::find()
            .select_only()
            .column_as(sum(cx, Expr::col(open_item_moves::Column::Base)), "base")
            .filter(open_item_moves::Column::BusinessId.eq(business))
            .filter(open_item_moves::Column::PartyId.eq(party))
            .filter(open_item_moves::Column::AccountId.is_in(controls.iter().copied()))
            .filter(open_item_moves::Column::Date.lte(to));
        if let Some(at) = asked.point.known_at {
            open = open.filter(open_item_moves::Column::RecordedAt.lte(at));
        }
        let open: Option<Option<i64>> = open.into_tuple().one(&cx.db).await?;
        Ok(Stated {
            own: Own(cx.business()?.currency_decimals),
            opening: of_party(cx, &controls, party, (None, from.previous()), asked.point).await?,
            named: documents_of(cx, lines.iter().map(|(_, document, _)| *document)).await?,
            lines,
            party,
            open: open.summed_up(),
        })
    }

    fn fold(facts: Stated, asked: &Asked) -> Result<Sheet> {
        let Stated { own, opening, lines, named, party, open } = facts;
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let line = |key: &str, label: &str, day: Day, moved: Cell, balance: i64| Row {
            values: vec![Cell::Day(day), moved, own.cell(balance)],
            party_id: Some(party),
            ..Row::total(RowType::Subtotal, key, label, Vec::new())
        };
        let mut rows = vec![line("opening", "Open before", from, Cell::Nothing, opening)];
        let mut balance = opening;
        for (day, document, amount) in &lines {
            balance += amount;
            let (kind, number) = named.get(document).cloned().unzip();
            rows.push(Row {
                r#type: RowType::Document,
                document_id: Some(*document),
                document_type: kind,
                ..line(
                    &document.to_string(),
                    number.flatten().as_deref().unwrap_or("without a number"),
                    *day,
                    own.cell(*amount),
                    balance,
                )
            });
        }
        rows.push(line("closing", "Open then", to, Cell::Nothing, balance));
        let moved = lines.iter().map(|(_, _, amount)| amount).sum::<i64>();
        let totals = [("opening", opening), ("moved", moved), ("closing", balance)];
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: totals.into_iter().map(|(key, sum)| (key.to_owned(), own.cell(sum))).collect(),
            checks: vec![own.check("What is open then equals the party's open items", balance, open)],
            ..Sheet::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{asked, failed, id, named, written};
    use super::*;

    fn open(party: u128, number: u128, (date, due): (&str, &str), cents: i64) -> Open {
        Open {
            party: id(party),
            document: id(number),
            kind: Some(DocumentKind::SalesInvoice),
            number: Some(format!("INV-{number}")),
            date: date.parse().unwrap(),
            due: due.parse().unwrap(),
            base: cents * 100,
        }
    }

    #[test]
    fn what_is_due_on_the_day_is_not_late_and_advances_lessen_the_rest() {
        let facts = |control| Aged {
            own: Own(2),
            open: vec![
                open(1, 11, ("2026-01-01", "2026-03-31"), 10_000),
                open(1, 12, ("2026-01-01", "2026-03-30"), 500),
                open(1, 13, ("2026-01-01", "2026-03-01"), 60),
                open(2, 21, ("2026-01-01", "2026-02-28"), 7_000),
                open(2, 22, ("2025-01-01", "2025-02-28"), 9_000),
                open(2, 23, ("2026-03-20", "2026-03-20"), -3_000),
            ],
            parties: named(&[(1, "Beta"), (2, "Alpha")]),
            control,
        };
        let sheet = fold(facts(2_356_000), &asked("2026-01-01", "2026-03-31"), false);
        assert_eq!(failed(&sheet), Vec::<String>::new());
        assert_eq!(
            written(&sheet),
            [
                "Alpha 0.00 -30.00 70.00 0.00 90.00 130.00",
                "Beta 100.00 5.60 0.00 0.00 0.00 105.60",
                "total 100.00 -24.40 70.00 0.00 90.00 235.60",
            ]
        );
        assert_eq!(fold(facts(2_356_000), &asked("2026-01-01", "2026-03-31"), true).rows[0].children.len(), 3);
        assert_eq!(failed(&fold(facts(2_356_100), &asked("2026-01-01", "2026-03-31"), false)).len(), 1);
    }

    #[test]
    fn a_statement_runs_from_what_was_open_to_what_is() {
        let stated = |open: i64| Stated {
            own: Own(2),
            opening: 10_000,
            lines: vec![
                ("2026-03-04".parse().unwrap(), id(31), 120_000),
                ("2026-03-09".parse().unwrap(), id(32), -130_000),
            ],
            named: HashMap::from([(id(31), (DocumentKind::SalesInvoice, Some("INV-31".into())))]),
            party: id(1),
            open,
        };
        let asked = asked("2026-03-01", "2026-03-31");
        let sheet = PartyStatement::fold(stated(0), &asked).unwrap();
        assert_eq!(
            written(&sheet),
            [
                "opening \"2026-03-01\" null 1.00",
                "INV-31 \"2026-03-04\" 12.00 13.00",
                "without a number \"2026-03-09\" -13.00 0.00",
                "closing \"2026-03-31\" null 0.00",
            ]
        );
        assert_eq!(failed(&sheet), Vec::<String>::new());
        assert_eq!(failed(&PartyStatement::fold(stated(100), &asked).unwrap()).len(), 1);
    }
}

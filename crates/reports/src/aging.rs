//! Who owes what and for how long: aging of receivables and payables.

use super::Report;
use super::asked::{AGING_BY, AS_OF, AgingBy, Asked, BUCKETS, CURRENCY, DATE, FORMAT, INCLUDE_ZERO, KNOWN_AT, PARTY};
use super::form::{Example, Form, Holds, Said, Shown};
use super::sheet::{Cell, Column, Own, Row, RowType, Sheet};
use crate::currency::Currency;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use ::rules::keeper::Keeper;
use books::among::among;
use books::balances::{balances, sum};
use books::cx::{Cx, Point};
use kit::list::Parameter;
use rules::account::{AccountClass, AccountType};
use schema::account as accounts;
use schema::aliases::{Aliases, Named};
use schema::party as parties;
use schema::some::is_open;
use schema::tables::{DocumentKind, documents, entries, entry_lines, open_item_moves, open_items};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, Condition, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeMap, HashMap, HashSet};
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
    currency: String,
    /// How amounts are written in it.
    own: Own,
    /// What is owed on this side is positive.
    left: Sums,
}

/// In a currency, and in the company's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) own: i64,
    pub(super) base: i64,
}

impl Sums {
    /// As it is asked for: in a currency, or in the company's.
    pub(super) const fn asked(self, asked: &Asked) -> i64 {
        if asked.currency.is_some() { self.own } else { self.base }
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        Self { own: self.own + other.own, base: self.base + other.base }
    }

    const fn times(self, sign: i64) -> Self {
        Self { own: self.own * sign, base: self.base * sign }
    }
}

/// The currency that figures are asked for in, and how they are written in it and in the company's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coins {
    pub(super) asked: Own,
    pub(super) base: Own,
}

impl Coins {
    pub(super) fn of(cx: &Cx<'_>, asked: &Asked) -> Result<Self> {
        let base = Own(cx.business()?.currency_decimals);
        let own = match asked.currency.as_deref() {
            Some(code) => of_currency(code)?,
            None => base,
        };
        Ok(Self { asked: own, base })
    }
}

pub(super) fn of_currency(code: &str) -> Result<Own> {
    Ok(Own(Currency::known(code, "what a party owes")?.decimals()))
}

/// What has a row: a party, or each of its documents as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grain {
    Parties,
    Documents,
}

pub(super) struct Aged {
    coins: Coins,
    open: Vec<Open>,
    parties: HashMap<RecordId, String>,
    /// What the control accounts come to, computed apart.
    control: Sums,
}

#[derive(Clone, FromQueryResult)]
struct Left {
    /// When it is due, where its item was read.
    #[sea_orm(skip)]
    due: Option<Day>,
    open_item_id: RecordId,
    party_id: Named,
    document_id: RecordId,
    currency: String,
    date: Day,
    own: i64,
    base: i64,
}

/// The accounts of one side: what customers owe with what they paid in advance, or what suppliers are owed with what they
/// got in advance.
pub(super) async fn control_accounts(cx: &Cx<'_>, r#type: AccountType) -> Result<Vec<RecordId>> {
    // Advances of a side stand on the other side of the balance sheet.
    let apart = if r#type == AccountType::Receivable { AccountClass::Liability } else { AccountClass::Asset };
    let advances = Condition::all()
        .add(accounts::Column::Keeper.eq(Keeper::OpenItems))
        .add(accounts::Column::Class.eq(apart))
        .add(accounts::Column::Type.is_not_in([AccountType::Receivable, AccountType::Payable]));
    let found = accounts::Entity::find()
        .select_only()
        .column(accounts::Column::Id)
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .filter(Condition::any().add(accounts::Column::Type.eq(r#type)).add(advances));
    Ok(found.into_tuple().all(&cx.db).await?)
}

async fn gather<S: Side>(cx: &Cx<'_>, asked: &Asked, grain: Grain) -> Result<Aged> {
    let controls = control_accounts(cx, S::ACCOUNTS).await?;
    let aliases = asked.aliases(cx)?;
    let left = left_open(cx, &controls, asked, &aliases).await?;
    let due = due_dates(cx, &left).await?;
    let named = match grain {
        Grain::Parties => HashMap::new(),
        Grain::Documents => documents_of(cx, left.iter().map(|one| one.document_id)).await?,
    };
    let open = left.into_iter().map(|one| {
        let document = named.get(&one.document_id);
        Ok(Open {
            party: aliases.of(one.party_id),
            document: one.document_id,
            kind: document.map(|(kind, _)| *kind),
            number: document.and_then(|(_, number)| number.clone()),
            date: one.date,
            due: due.get(&one.open_item_id).copied().unwrap_or(one.date),
            own: of_currency(&one.currency)?,
            currency: one.currency,
            left: Sums { own: one.own, base: one.base }.times(S::SIGN),
        })
    });
    let mut open: Vec<Open> = open.collect::<Result<_>>()?;
    open.sort_by(|left, right| (left.due, left.date, &left.number).cmp(&(right.due, right.date, &right.number)));
    let point = Point { as_of: Some(asked.as_of), ..asked.point };
    let control = match asked.party {
        None => {
            let all = balances(cx, Some(&controls), point).await?;
            let of_currency =
                all.iter().filter(|((_, currency), _)| asked.currency.as_ref().is_none_or(|asked| asked == currency));
            let sums = of_currency.map(|(_, balance)| Sums { own: balance.currency, base: balance.base });
            sums.fold(Sums::default(), Sums::plus)
        }
        Some(party) => of_party(cx, &controls, (&aliases, party), asked.as_of, asked).await?,
    };
    Ok(Aged {
        coins: Coins::of(cx, asked)?,
        parties: names_of(cx, open.iter().map(|one| one.party)).await?,
        open,
        control: control.times(S::SIGN),
    })
}

/// What was open at the end of the day: what is open now, less what happened since. So it costs what is open and what
/// happened since, however much was settled before.
async fn left_open(cx: &Cx<'_>, controls: &[RecordId], asked: &Asked, aliases: &Aliases) -> Result<Vec<Left>> {
    let business = cx.business_id()?;
    let mut now = open_items::Entity::find().filter(open_items::Column::BusinessId.eq(business)).filter(is_open());
    let mut since = open_item_moves::Entity::find()
        .select_only()
        .column(open_item_moves::Column::OpenItemId)
        .column(open_item_moves::Column::PartyId)
        .column(open_item_moves::Column::DocumentId)
        .column(open_item_moves::Column::Currency)
        .column_as(open_item_moves::Column::Date.min(), "date")
        .column_as(sum(cx, Expr::col(open_item_moves::Column::Amount)), "own")
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
        .group_by(open_item_moves::Column::DocumentId)
        .group_by(open_item_moves::Column::Currency);
    if let Some(party) = asked.party {
        now = now.filter(aliases.is(open_items::Column::PartyId, party));
        since = since.filter(aliases.is(open_item_moves::Column::PartyId, party));
    }
    if let Some(currency) = asked.currency.as_deref() {
        now = now.filter(open_items::Column::Currency.eq(currency));
        since = since.filter(open_item_moves::Column::Currency.eq(currency));
    }
    let mut left: BTreeMap<RecordId, Left> = BTreeMap::new();
    for item in now.all(&cx.db).await?.into_iter().filter(|item| controls.contains(&item.account_id)) {
        let of_item = Left {
            due: Some(item.due_date.unwrap_or(item.date)),
            open_item_id: item.id,
            party_id: item.party_id,
            document_id: item.document_id,
            currency: item.currency,
            date: item.date,
            own: item.open.units(),
            base: item.base_open.units(),
        };
        left.insert(item.id, of_item);
    }
    let since: Vec<Left> = since.into_model().all(&cx.db).await?;
    let began = first_days(cx, since.iter().filter(|moved| !left.contains_key(&moved.open_item_id))).await?;
    for moved in since {
        let (own, base) = (moved.own, moved.base);
        let known = left.entry(moved.open_item_id).or_insert(Left {
            own: 0,
            base: 0,
            date: began.get(&moved.open_item_id).copied().unwrap_or(moved.date),
            ..moved
        });
        known.own -= own;
        known.base -= base;
    }
    Ok(left.into_values().filter(|one| (one.own, one.base) != (0, 0)).collect())
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
        .filter(among(cx, open_item_moves::Column::OpenItemId, ids))
        .group_by(open_item_moves::Column::OpenItemId)
        .into_tuple()
        .all(&cx.db)
        .await?;
    Ok(found.into_iter().filter_map(|(id, day)| Some((id, day?))).collect())
}

/// What the lines of a party on accounts come to at the end of a day.
pub(super) async fn of_party(
    cx: &Cx<'_>,
    controls: &[RecordId],
    (aliases, party): (&Aliases, RecordId),
    to: Day,
    asked: &Asked,
) -> Result<Sums> {
    let mut lines = entry_lines::Entity::find()
        .select_only()
        .column_as(sum(cx, Expr::col(entry_lines::Column::CurrencyAmount)), "own")
        .column_as(sum(cx, Expr::col(entry_lines::Column::Amount)), "base")
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::AccountId.is_in(controls.iter().copied()))
        .filter(aliases.is(entry_lines::Column::PartyId, party))
        .filter(entry_lines::Column::Date.lte(to));
    if let Some(currency) = asked.currency.as_deref() {
        lines = lines.filter(entry_lines::Column::Currency.eq(currency));
    }
    if let Some(known) = books::balances::last_known(cx, asked.point).await? {
        lines = lines.filter(entry_lines::Column::EntryNumber.lte(known));
    }
    let sums: Option<(Option<i64>, Option<i64>)> = lines.into_tuple().one(&cx.db).await?;
    let (own, base) = sums.unzip();
    Ok(Sums { own: own.summed_up(), base: base.summed_up() })
}

/// When open items are due: as they say, and of those that are gone as their entries said.
async fn due_dates(cx: &Cx<'_>, left: &[Left]) -> Result<HashMap<RecordId, Day>> {
    let business = cx.business_id()?;
    let mut due: HashMap<RecordId, Day> = left.iter().filter_map(|one| Some((one.open_item_id, one.due?))).collect();
    let settled: Vec<RecordId> = left.iter().filter(|one| one.due.is_none()).map(|one| one.open_item_id).collect();
    if settled.is_empty() {
        return Ok(due);
    }
    let there = open_items::Entity::find().filter(open_items::Column::BusinessId.eq(business)).filter(among(
        cx,
        open_items::Column::Id,
        settled,
    ));
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
        .filter(among(cx, (entries::Entity, entries::Column::DocumentId), gone.keys().copied()))
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
        .filter(among(cx, documents::Column::Id, ids))
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
        .filter(among(cx, parties::Column::Id, ids.collect::<HashSet<_>>()))
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
    columns.extend(FIXED.iter().map(|(key, label, _)| Column::of(key, label)));
    columns
}

fn spread(open: &[&Open], asked: &Asked) -> Vec<i64> {
    let mut figures = vec![0; asked.buckets.len() + 3];
    let last = figures.len() - 1;
    for one in open {
        figures[bucket(one, asked)] += one.left.asked(asked);
        figures[last] += one.left.asked(asked);
    }
    figures
}

/// What stands beside the figures: the currency of it all, where it is one, what it comes to in that, and in the company's.
fn beside(open: &[&Open], coins: Coins, asked: &Asked) -> Vec<Cell> {
    let sums = open.iter().map(|one| one.left).fold(Sums::default(), Sums::plus);
    let currency = asked.currency.as_deref().or_else(|| open.first().map(|one| one.currency.as_str()));
    let currency = currency.filter(|currency| open.iter().all(|one| one.currency == *currency));
    let own = open.first().map_or(coins.asked, |one| one.own);
    vec![
        currency.map_or(Cell::Nothing, |currency| Cell::Text(currency.to_owned())),
        currency.map_or(Cell::Nothing, |_| own.cell(sums.own)),
        coins.base.cell(sums.base),
    ]
}

fn fold(facts: Aged, asked: &Asked, grain: Grain) -> Sheet {
    let Aged { coins, open, parties, control } = facts;
    let cells = |open: &[&Open]| [coins.asked.cells(&spread(open, asked)), beside(open, coins, asked)].concat();
    let mut by_party: BTreeMap<(&str, RecordId), Vec<&Open>> = BTreeMap::new();
    for one in &open {
        let name = parties.get(&one.party).map_or("", String::as_str);
        by_party.entry((name, one.party)).or_default().push(one);
    }
    let mut rows = Vec::new();
    for ((name, party), open) in by_party {
        let figures = spread(&open, asked);
        // In detail there are documents to see, also where one takes up what another leaves.
        if grain == Grain::Parties && figures.iter().all(|figure| *figure == 0) && !asked.include_zero {
            continue;
        }
        let detail = |one: &&Open| Row {
            key: one.document.to_string(),
            r#type: RowType::Document,
            label: format!("{}, due {}", one.number.as_deref().unwrap_or("without a number"), one.due),
            party_id: Some(one.party),
            document_id: Some(one.document),
            document_type: one.kind,
            values: cells(&[one]),
            ..Row::default()
        };
        let children = match grain {
            Grain::Parties => Vec::new(),
            Grain::Documents => open.iter().map(detail).collect(),
        };
        rows.push(Row {
            r#type: RowType::Party,
            party_id: Some(party),
            ..Row::section(&party.to_string(), name, cells(&open), children)
        });
    }
    let open: Vec<&Open> = open.iter().collect();
    let all = spread(&open, asked);
    rows.push(Row::total(RowType::Total, "total", "Total", cells(&open)));
    let columns = columns(asked);
    let total: i64 = all[all.len() - 1];
    let base: i64 = open.iter().map(|one| one.left.base).sum();
    let mut checks = vec![
        coins.asked.check("The total equals the control accounts", total, control.asked(asked)),
        coins.asked.check("The buckets add up to the total", all[..all.len() - 1].iter().sum(), total),
    ];
    let figures = columns.iter().zip(&all).map(|(column, sum)| (column.key.clone(), coins.asked.cell(*sum)));
    let mut totals: BTreeMap<String, Cell> = figures.collect();
    totals.insert("baseAmount".into(), coins.base.cell(base));
    if asked.currency.is_some() {
        totals.insert("amountCurrency".into(), coins.asked.cell(total));
        let name = "In the company's currency it equals the control accounts";
        checks.push(coins.base.check(name, base, control.base));
    }
    Sheet { columns, rows, totals, checks, ..Sheet::default() }
}

const PARAMETERS: &[Parameter] = &[AS_OF, DATE, BUCKETS, AGING_BY, PARTY, CURRENCY, INCLUDE_ZERO, KNOWN_AT, FORMAT];

/// What stands behind the buckets. A row of several currencies has none.
const FIXED: &[Said] = &[
    ("total", "Total", Holds::Amount),
    ("currency", "Currency", Holds::Text),
    ("amountCurrency", "In that currency", Holds::Amount),
    ("baseAmount", "In the company's currency", Holds::Amount),
];

/// What both hold; the documentation shows these rows.
const fn form(rows: &'static [Shown]) -> Form {
    Form {
        columns: FIXED,
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
            totals: SUMS,
            check: ("The total equals the control accounts", Holds::Amount, "12500.00"),
        },
    }
}

const SUMS: &[&str] = &["10000.00", "2500.00", "0.00", "0.00", "0.00", "12500.00", "12500.00", "12500.00"];
const ALL: &[&str] = &["10000.00", "2500.00", "0.00", "0.00", "0.00", "12500.00", "EUR", "12500.00", "12500.00"];
const A_PARTY: Shown = (RowType::Party, "019a9f6e-6c00-7b23-8c12-7e9fb0213c23", "Nordwind Cafés", ALL);
const A_DOCUMENT: Shown = (
    RowType::Document,
    "019a9f6e-6c00-7b23-8c12-7e9fb0213c24",
    "INV-2026-0042, due 2026-12-19",
    &["10000.00", "0.00", "0.00", "0.00", "0.00", "10000.00", "EUR", "10000.00", "10000.00"],
);
const THE_TOTAL: Shown = (RowType::Total, "total", "Total", ALL);

pub(super) struct Aging<S>(PhantomData<fn() -> S>);
pub(super) struct AgingDetail<S>(PhantomData<fn() -> S>);

impl<S: Side> Report for Aging<S> {
    const NAME: &'static str = S::NAMES[0];
    const OPERATION: &'static str = S::OPERATIONS[0];
    const TITLE: &'static str = S::TITLES[0];
    const ABOUT: &'static str = "What is open with each party at the end of a day, by how late it is. What is paid in \
                                 advance or credited and not yet allocated lessens it. Later allocations change nothing. \
                                 Everything is in the company's currency, beside what it is in its own; with `currency` \
                                 only what is in that one, in it.";
    const PARAMETERS: &'static [Parameter] = PARAMETERS;
    const FORM: Form = form(&[A_PARTY, THE_TOTAL]);
    type Facts = Aged;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Aged> {
        gather::<S>(cx, asked, Grain::Parties).await
    }

    fn fold(facts: Aged, asked: &Asked) -> Result<Sheet> {
        Ok(fold(facts, asked, Grain::Parties))
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
        gather::<S>(cx, asked, Grain::Documents).await
    }

    fn fold(facts: Aged, asked: &Asked) -> Result<Sheet> {
        Ok(fold(facts, asked, Grain::Documents))
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
            currency: "EUR".into(),
            own: Own(2),
            left: Sums { own: cents * 100, base: cents * 100 },
        }
    }

    #[test]
    fn what_is_due_on_the_day_is_not_late_and_advances_lessen_the_rest() {
        let facts = |control| Aged {
            coins: Coins { asked: Own(2), base: Own(2) },
            open: vec![
                open(1, 11, ("2026-01-01", "2026-03-31"), 10_000),
                open(1, 12, ("2026-01-01", "2026-03-30"), 500),
                open(1, 13, ("2026-01-01", "2026-03-01"), 60),
                open(2, 21, ("2026-01-01", "2026-02-28"), 7_000),
                open(2, 22, ("2025-01-01", "2025-02-28"), 9_000),
                open(2, 23, ("2026-03-20", "2026-03-20"), -3_000),
            ],
            parties: named(&[(1, "Beta"), (2, "Alpha")]),
            control: Sums { own: control, base: control },
        };
        let sheet = fold(facts(2_356_000), &asked("2026-01-01", "2026-03-31"), Grain::Parties);
        assert_eq!(failed(&sheet), Vec::<String>::new());
        assert_eq!(
            written(&sheet),
            [
                "Alpha 0.00 -30.00 70.00 0.00 90.00 130.00 \"EUR\" 130.00 130.00",
                "Beta 100.00 5.60 0.00 0.00 0.00 105.60 \"EUR\" 105.60 105.60",
                "total 100.00 -24.40 70.00 0.00 90.00 235.60 \"EUR\" 235.60 235.60",
            ]
        );
        assert_eq!(
            fold(facts(2_356_000), &asked("2026-01-01", "2026-03-31"), Grain::Documents).rows[0].children.len(),
            3
        );
        assert_eq!(failed(&fold(facts(2_356_100), &asked("2026-01-01", "2026-03-31"), Grain::Parties)).len(), 1);
    }
}

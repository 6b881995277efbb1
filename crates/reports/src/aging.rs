//! Who owes what and for how long: aging of receivables and payables.

use super::Report;
use super::asked::{
    AGING_BY, AS_OF, AgingBy, Asked, BUCKET, BUCKETS, CURRENCY, DATE, FORMAT, INCLUDE_ZERO, KNOWN_AT, PARTY,
};
use super::form::{Example, Form, Holds, Said, Shown};
use super::sheet::{Cell, Check, Column, Own, Row, RowType, Sheet};
use crate::currency::Currency;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use books::cx::Cx;
pub(super) use buckets::Buckets;
use gathered::gather;
pub(super) use gathered::{control_accounts, documents_of, names_of, of_party, open_with};
use kit::list::Parameter;
use rules::account::AccountType;
use schema::aliases::Named;
use schema::tables::DocumentKind;
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

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

answers::of_row! {
    #[derive(Clone)]
    struct Left {
        open_item_id: RecordId,
        party_id: Named,
        document_id: RecordId,
        currency: String,
        date: Day,
        own: i64,
        base: i64,
    }
}

/// In which bucket something stands.
fn bucket(one: &Open, asked: &Asked) -> usize {
    bucket_of(
        match asked.aging_by {
            AgingBy::DueDate => one.due,
            AgingBy::DocumentDate => one.date,
        },
        asked,
    )
}

/// In which bucket stands what has been due since a day.
fn bucket_of(since: Day, asked: &Asked) -> usize {
    asked.buckets.place(asked.as_of.days_since(since))
}

fn columns(asked: &Asked) -> Vec<Column> {
    let fixed = FIXED.iter().map(|(key, label, _)| Column::of(key, label));
    asked.buckets.columns(asked.aging_by).into_iter().chain(fixed).collect()
}

fn spread(open: &[&Open], asked: &Asked) -> Vec<i64> {
    let mut figures = vec![0; asked.buckets.count() + 1];
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

/// What counts from its own day, or takes off what is owed, is never due.
fn called(one: &Open, by: AgingBy) -> String {
    let number = one.number.as_deref().unwrap_or("without a number");
    if by == AgingBy::DocumentDate || one.left.base < 0 {
        format!("{number}, of {}", one.date)
    } else {
        format!("{number}, due {}", one.due)
    }
}

fn fold(facts: Aged, asked: &Asked, grain: Grain) -> Sheet {
    let Aged { coins, open: mut all, parties, control } = facts;
    let checks = checks(&all, coins, control, asked);
    all.retain(|one| asked.buckets.has(bucket(one, asked)));
    let cells = |open: &[&Open]| [coins.asked.cells(&spread(open, asked)), beside(open, coins, asked)].concat();
    let mut by_party: BTreeMap<(&str, RecordId), Vec<&Open>> = BTreeMap::new();
    for one in &all {
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
            label: called(one, asked.aging_by),
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
    let open: Vec<&Open> = all.iter().collect();
    let sums = spread(&open, asked);
    rows.push(Row::total(RowType::Total, "total", "Total", cells(&open)));
    let columns = columns(asked);
    let figures = columns.iter().zip(&sums).map(|(column, sum)| (column.key.clone(), coins.asked.cell(*sum)));
    let mut totals: BTreeMap<String, Cell> = figures.collect();
    totals.insert("baseAmount".into(), coins.base.cell(sum_in_base(&all)));
    if asked.currency.is_some() {
        totals.insert("amountCurrency".into(), coins.asked.cell(sums[sums.len() - 1]));
    }
    Sheet { columns, rows, totals, checks, ..Sheet::default() }
}

fn sum_in_base(open: &[Open]) -> i64 {
    open.iter().map(|one| one.left.base).sum()
}

/// What proves it, of all that is open: whoever asks for one bucket has all of them proved.
fn checks(open: &[Open], coins: Coins, control: Sums, asked: &Asked) -> Vec<Check> {
    let sums = spread(&open.iter().collect::<Vec<_>>(), asked);
    let total = sums[sums.len() - 1];
    let equals = match asked.buckets.only() {
        None => "The total equals the control accounts",
        Some(_) => "All buckets together equal the control accounts",
    };
    let mut checks = vec![
        coins.asked.check(equals, total, control.asked(asked)),
        coins.asked.check("The buckets add up to the total", sums[..sums.len() - 1].iter().sum(), total),
    ];
    if asked.currency.is_some() {
        let name = "In the company's currency it equals the control accounts";
        checks.push(coins.base.check(name, sum_in_base(open), control.base));
    }
    checks
}

const PARAMETERS: &[Parameter] = &[AS_OF, DATE, BUCKETS, AGING_BY, PARTY, CURRENCY, INCLUDE_ZERO, KNOWN_AT, FORMAT];
const OF_DOCUMENTS: &[Parameter] =
    &[AS_OF, DATE, BUCKETS, BUCKET, AGING_BY, PARTY, CURRENCY, INCLUDE_ZERO, KNOWN_AT, FORMAT];

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
    const ABOUT: &'static str = "The same with every document below its party. With `bucket` only what is so late.";
    const PARAMETERS: &'static [Parameter] = OF_DOCUMENTS;
    const FORM: Form = form(&[A_PARTY, A_DOCUMENT, THE_TOTAL]);
    type Facts = Aged;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Aged> {
        gather::<S>(cx, asked, Grain::Documents).await
    }

    fn fold(facts: Aged, asked: &Asked) -> Result<Sheet> {
        Ok(fold(facts, asked, Grain::Documents))
    }
}

mod buckets;
mod gathered;
#[cfg(test)]
mod tests;

//! What is asked of a report: which days, beside which others, and what to leave out.

use super::aging::Buckets;
use super::statements::Chart;
use crate::clock::Instant;
use crate::currency::Currency;
use crate::day::Day;
use crate::error::{FieldErrors, Result};
use crate::ids::RecordId;
use crate::wire_enum;
use answers::Ask;
use books::apart::Apart;
use books::cx::{Cx, Point};
use books::sums::Span;
use books::years::Years;
use kit::list::{FilterValue, ListQuery, Parameter, Reads};
pub(super) use rules::tax::TaxBasis;
use schema::aliases::{Aliases, Meant};
use schema::kind::Phase;
use schema::tables::{DocumentKind, TradeSide};
use schema::{account, item, party, tax_code};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

wire_enum! {
    /// How far apart periods are that stand side by side.
    pub enum Interval {
        #[default]
        Month = "month",
        Quarter = "quarter",
        Year = "year",
    }
}

wire_enum! {
    /// What stands beside the period that is asked for.
    pub enum Beside {
        /// As many days right before it.
        #[default]
        PreviousPeriod = "previousPeriod",
        /// The same days a year earlier.
        PreviousYear = "previousYear",
    }
}

wire_enum! {
    /// In what form a report is answered.
    pub enum Format {
        #[default]
        Json = "json",
        /// Comma-separated values, for spreadsheets.
        Csv = "csv",
    }
}

wire_enum! {
    /// From which day something is how late.
    pub enum AgingBy {
        #[default]
        DueDate = "dueDate",
        DocumentDate = "documentDate",
    }
}

wire_enum! {
    /// When what is earned counts.
    pub enum Basis {
        /// When it is invoiced.
        #[default]
        Accrual = "accrual",
        /// When it is paid.
        Cash = "cash",
    }
}

wire_enum! {
    /// Which orders are asked for.
    pub enum Orders {
        #[default]
        All = "all",
        Sales = "sales",
        Purchase = "purchase",
    }
}

impl Orders {
    pub(super) fn kinds(self) -> Vec<DocumentKind> {
        let side = match self {
            Self::All => None,
            Self::Sales => Some(TradeSide::Sales),
            Self::Purchase => Some(TradeSide::Purchases),
        };
        let on = |kind: &DocumentKind| side.is_none() || kind.trade().map(|(side, _)| side) == side;
        DocumentKind::of_phase(Phase::Order).filter(on).collect()
    }
}

wire_enum! {
    /// How a cash flow is told.
    pub enum Method {
        /// From the profit, by what else changed.
        #[default]
        Indirect = "indirect",
        /// By what money came from and went to.
        Direct = "direct",
    }
}

pub(super) const FROM: Parameter =
    Parameter::new("from", "The first day; the first of the fiscal year of `to` when absent.", Reads::Day);
pub(super) const TO: Parameter = Parameter::new("to", "The last day; today when absent.", Reads::Day);
pub(super) const FROM_DATE: Parameter = Parameter::new("fromDate", "Another name for `from`.", Reads::Day);
pub(super) const TO_DATE: Parameter = Parameter::new("toDate", "Another name for `to`.", Reads::Day);
pub(super) const AS_OF: Parameter = Parameter::new("asOf", "The end of this day; today when absent.", Reads::Day);
pub(super) const DATE: Parameter = Parameter::new("date", "Another name for `asOf`.", Reads::Day);
pub(super) const KNOWN_AT: Parameter = Parameter::new("knownAt", "Only what was recorded by this time.", Reads::Time);
pub(super) const INCLUDE_ZERO: Parameter =
    Parameter::new("includeZero", "Whether rows without figures are shown; `false` when absent.", Reads::Flag);
pub(super) const PERIODS: Parameter = Parameter::new(
    "periods",
    "How many periods stand side by side, each as long as the one asked for and an `interval` earlier than the one before \
     it; 1 when absent.",
    Reads::Whole(1, 24),
);
pub(super) const INTERVAL: Parameter =
    Parameter::new("interval", "How far apart `periods` are; `month` when absent.", Reads::OneOf(Interval::TEXTS));
pub(super) const COMPARE_WITH: Parameter = Parameter::new(
    "compareWith",
    "What stands beside the period that is asked for. Not beside `periods`.",
    Reads::OneOf(Beside::TEXTS),
);
pub(super) const FORMAT: Parameter =
    Parameter::new("format", "In what form it is answered; `json` when absent.", Reads::OneOf(Format::TEXTS));
pub(super) const BUCKETS: Parameter = Parameter::new(
    "buckets",
    "The days at which something is how late, each more than the one before it; `30,60,90` when absent.",
    Reads::Text,
);
pub(super) const BUCKET: Parameter = Parameter::new(
    "bucket",
    "Only what is so late: the key of one of the columns, such as `current`, `1-30` or `91+`.",
    Reads::Text,
);
pub(super) const AGING_BY: Parameter = Parameter::new(
    "agingBy",
    "Whether it is late by its due date or by its own; `dueDate` when absent.",
    Reads::OneOf(AgingBy::TEXTS),
);
/// Whose statement it is.
pub(super) const THE_PARTY: Parameter = Parameter::required("partyId", "The party.", Reads::Party);
pub(super) const PARTY: Parameter = Parameter::new("partyId", "Only this party.", Reads::Party);
pub(super) const CURRENCY: Parameter = Parameter::new(
    "currency",
    "Only what is in this currency, and in it; all of it in the company's currency when absent.",
    Reads::Text,
);
pub(super) const ACCOUNT: Parameter = Parameter::new("accountId", "Only this account.", Reads::Identifier);
pub(super) const TYPE: Parameter =
    Parameter::new("type", "Which orders; `all` when absent.", Reads::OneOf(Orders::TEXTS));
pub(super) const METHOD: Parameter = Parameter::new(
    "method",
    "Whether it begins with the profit, or tells what money came from and went to; `indirect` when absent.",
    Reads::OneOf(Method::TEXTS),
);
pub(super) const TAX_BASIS: Parameter = Parameter::new(
    "taxBasis",
    "Whether tax counts when it is invoiced or when it is paid, or so on sales alone; as the company has it on the day of \
     each document when absent.",
    Reads::OneOf(TaxBasis::TEXTS),
);
pub(super) const TAX_CODE: Parameter = Parameter::new("taxCodeId", "Only this tax code.", Reads::Identifier);
pub(super) const BASIS: Parameter = Parameter::new(
    "basis",
    "Whether what invoices earn counts when they are written or when they are settled, with the tax on it; `accrual` when \
     absent. Goods, assets and the cost of sales stand as in the ledger.",
    Reads::OneOf(Basis::TEXTS),
);
pub(super) const GROUP_BY: Parameter = Parameter::new(
    "groupBy",
    "Splits the days into columns of so long. Not beside `periods` or `compareWith`.",
    Reads::OneOf(Interval::TEXTS),
);
/// Whose movements they are.
pub(super) const THE_ITEM: Parameter = Parameter::required("itemId", "The item.", Reads::Identifier);
pub(super) const ITEM: Parameter = Parameter::new("itemId", "Only this item.", Reads::Identifier);

/// What is asked of a report, with what it leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub(super) span: Span,
    pub(super) as_of: Day,
    pub(super) point: Point,
    /// What the books have that is no business of the days it lies on.
    pub(super) apart: Apart,
    pub(super) periods: i64,
    pub(super) interval: Interval,
    pub(super) beside: Option<Beside>,
    pub(super) include_zero: bool,
    pub(super) buckets: Buckets,
    pub(super) aging_by: AgingBy,
    pub(super) party: Option<Meant>,
    pub(super) currency: Option<String>,
    pub(super) account: Option<RecordId>,
    pub(super) item: Option<RecordId>,
    pub(super) tax_code: Option<RecordId>,
    pub(super) tax_basis: Option<TaxBasis>,
    pub(super) basis: Basis,
    pub(super) group_by: Option<Interval>,
    pub(super) orders: Orders,
    pub(super) method: Method,
    pub(super) window: Window,
    /// By which its openings begin anew.
    pub(super) years: Years,
    /// No record of the audit log after this one.
    pub(super) last_record: Option<i64>,
}

/// Which rows are wanted of a report in pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Window {
    /// So many, after so many others; with the figures of the whole.
    Page { size: u64, skipped: u64 },
    /// A portion of all of them, from the first one or from one on that was the last of a portion; without these figures.
    After(Option<Mark>),
}

/// The last row of a portion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Mark {
    pub(super) account: RecordId,
    pub(super) date: Day,
    pub(super) number: i64,
    pub(super) position: i64,
    /// What the account comes to with it.
    pub(super) running: i64,
    /// Whether it lies between two years.
    pub(super) between: bool,
    /// What was read with the first portion, and holds for all of them.
    pub(super) fixed: Option<Arc<Fixed>>,
}

/// What each portion would read anew, and find changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fixed {
    pub(super) chart: Chart,
    /// What accounts came to before the first day.
    pub(super) opening: HashMap<RecordId, i64>,
    /// The numbers of what lies between two years, which is listed last.
    pub(super) between: Vec<i64>,
}

/// How many rows are made at once where all are wanted.
const PORTION: u64 = 1_000;

fn day(query: &ListQuery, names: [&str; 2], faults: &mut FieldErrors) -> Option<Day> {
    let mut days = names.into_iter().filter_map(|name| match query.filter(name) {
        Some(FilterValue::Day(day)) => Some((name, *day)),
        _ => None,
    });
    let found = days.next();
    if let Some((name, _)) = days.next() {
        faults.add(name, format!("is another name for {}; give one of them", names[0]));
    }
    found.map(|(_, day)| day)
}

fn choice<C: std::str::FromStr>(query: &ListQuery, name: &str) -> Option<C> {
    let Some(FilterValue::OneOf(text)) = query.filter(name) else { return None };
    text.parse().ok()
}

fn text<'q>(query: &'q ListQuery, name: &str) -> Option<&'q str> {
    match query.filter(name) {
        Some(FilterValue::Text(text)) => Some(text),
        _ => None,
    }
}

impl Asked {
    /// Who the parties of rows were, as far as it is asked what was known.
    pub(super) fn aliases(&self, cx: &Cx<'_>) -> Result<Aliases> {
        Ok(cx.aliases()?.known_at(self.point.known_at))
    }

    /// What is asked, of records that are there: a report of nobody would be proved, and empty.
    pub(super) async fn read(cx: &Cx<'_>, query: &ListQuery, apart: Apart) -> Result<Self> {
        let asked = Self::parsed(cx, query, (apart, Years::of(cx).await?))?;
        let business = cx.business_id()?;
        let mut faults = FieldErrors::default();
        if let Some(party) = asked.party
            && party::Entity::find_by_id((business, party.id())).model(&cx.db).await?.is_none()
        {
            faults.add("partyId", "names no party");
        }
        if let Some(account) = asked.account
            && account::Entity::find_by_id((business, account)).model(&cx.db).await?.is_none()
        {
            faults.add("accountId", "names no account; an account is named by its id, not by its code");
        }
        if let Some(item) = asked.item
            && item::Entity::find_by_id((business, item)).model(&cx.db).await?.is_none()
        {
            faults.add("itemId", "names no item");
        }
        if let Some(tax_code) = asked.tax_code
            && tax_code::Entity::find_by_id((business, tax_code)).model(&cx.db).await?.is_none()
        {
            faults.add("taxCodeId", "names no tax code");
        }
        if faults.is_empty() { Ok(asked) } else { Err(faults.into()) }
    }

    fn parsed(cx: &Cx<'_>, query: &ListQuery, (apart, years): (Apart, Years)) -> Result<Self> {
        let (business, today) = (cx.business()?, cx.today()?);
        let mut faults = FieldErrors::default();
        let to = day(query, ["to", "toDate"], &mut faults);
        let from = day(query, ["from", "fromDate"], &mut faults);
        let as_of = day(query, ["asOf", "date"], &mut faults).unwrap_or(today);
        // A first day after today is the first of what is to come.
        let to = to.unwrap_or_else(|| from.map_or(today, |from| Ord::max(from, today)));
        let from = from.unwrap_or_else(|| years.start(business, to));
        if from > to {
            faults.add("to", format!("must not be before {from}, the first day"));
        }
        let periods = match query.filter("periods") {
            Some(FilterValue::Whole(periods)) => *periods,
            _ => 1,
        };
        let beside = choice(query, "compareWith");
        if beside.is_some() && query.filter("periods").is_some() {
            faults.add("compareWith", "cannot stand beside periods");
        }
        let group_by: Option<Interval> = choice(query, "groupBy");
        if group_by.is_some() && (beside.is_some() || query.filter("periods").is_some()) {
            faults.add("groupBy", "cannot stand beside periods or compareWith");
        }
        if group_by.is_some_and(|interval| split(from, to, interval).len() > MOST_COLUMNS) {
            faults.add("groupBy", format!("makes more than {MOST_COLUMNS} columns of these days"));
        }
        let known_at: Option<Instant> = match query.filter("knownAt") {
            Some(FilterValue::Time(at)) => Some(*at),
            _ => None,
        };
        let party = match query.filter("partyId") {
            Some(FilterValue::Party(named)) => Some(cx.aliases()?.known_at(known_at).asked(*named)),
            _ => None,
        };
        let identifier = |name: &str| match query.filter(name) {
            Some(FilterValue::Identifier(id)) => Some(*id),
            _ => None,
        };
        let asked = Self {
            span: Span { from: Some(from), to },
            as_of,
            point: Point { known_at, ..Point::default() },
            apart,
            periods,
            interval: choice(query, "interval").unwrap_or_default(),
            beside,
            include_zero: query.filter("includeZero") == Some(&FilterValue::Flag(true)),
            buckets: Buckets::asked(text(query, "buckets"), text(query, "bucket"), &mut faults),
            aging_by: choice(query, "agingBy").unwrap_or_default(),
            party,
            currency: in_currency(query, &mut faults),
            account: identifier("accountId"),
            item: identifier("itemId"),
            tax_code: identifier("taxCodeId"),
            tax_basis: choice(query, "taxBasis"),
            basis: choice(query, "basis").unwrap_or_default(),
            group_by,
            orders: choice(query, "type").unwrap_or_default(),
            method: choice(query, "method").unwrap_or_default(),
            last_record: None,
            years,
            window: Window::Page { size: query.page_size, skipped: (query.page - 1) * query.page_size },
        };
        if faults.is_empty() { Ok(asked) } else { Err(faults.into()) }
    }

    /// Whether figures of the whole are wanted, and not a portion of the rows alone.
    pub(super) const fn is_page(&self) -> bool {
        matches!(self.window, Window::Page { .. })
    }

    /// How many rows of a report in pages are wanted, and after how many.
    pub(super) const fn limits(&self) -> (u64, u64) {
        match self.window {
            Window::Page { size, skipped } => (size, skipped),
            Window::After(_) => (PORTION, 0),
        }
    }

    /// The row after which a portion begins.
    pub(super) const fn mark(&self) -> Option<&Mark> {
        match &self.window {
            Window::After(mark) => mark.as_ref(),
            Window::Page { .. } => None,
        }
    }

    /// The periods that stand side by side; the one asked for first.
    pub(super) fn spans(&self) -> Vec<Span> {
        let Span { from, to } = self.span;
        let from = from.unwrap_or(to);
        if let Some(interval) = self.group_by {
            return split(from, to, interval);
        }
        match self.beside {
            Some(Beside::PreviousPeriod) => vec![self.span, before(from, to)],
            Some(Beside::PreviousYear) => vec![self.span, earlier(from, to, 12)],
            None => (0..self.periods).map(|place| earlier(from, to, place * self.months())).collect(),
        }
    }

    /// The days whose ends stand side by side; the one asked for first.
    pub(super) fn days(&self) -> Vec<Day> {
        let months = match self.beside {
            Some(Beside::PreviousYear) => vec![0, 12],
            Some(Beside::PreviousPeriod) => vec![0, self.months()],
            None => (0..self.periods).map(|place| place * self.months()).collect(),
        };
        months.into_iter().map(|months| self.as_of.plus_months(-months)).collect()
    }

    const fn months(&self) -> i64 {
        match self.interval {
            Interval::Month => 1,
            Interval::Quarter => 3,
            Interval::Year => 12,
        }
    }

    /// What was asked, as the report says it: each of its parameters with the value that holds.
    pub(super) fn said(&self, parameters: &[Parameter]) -> Map<String, Value> {
        let value = |name: &str| match name {
            "from" => Some(json!(self.span.from)),
            "to" => Some(json!(self.span.to)),
            "asOf" => Some(json!(self.as_of)),
            "knownAt" => Some(json!(self.point.known_at)),
            "includeZero" => Some(json!(self.include_zero)),
            "periods" => Some(json!(self.periods)),
            "interval" => Some(json!(self.interval.to_string())),
            "compareWith" => Some(json!(self.beside.map(|beside| beside.to_string()))),
            "buckets" => Some(json!(self.buckets.days())),
            "bucket" => Some(json!(self.buckets.only())),
            "agingBy" => Some(json!(self.aging_by.to_string())),
            "partyId" => Some(json!(self.party.map(Meant::id))),
            "currency" => Some(json!(self.currency)),
            "accountId" => Some(json!(self.account)),
            "itemId" => Some(json!(self.item)),
            "taxCodeId" => Some(json!(self.tax_code)),
            "taxBasis" => Some(json!(self.tax_basis.map(|basis| basis.to_string()))),
            "basis" => Some(json!(self.basis.to_string())),
            "groupBy" => Some(json!(self.group_by.map(|interval| interval.to_string()))),
            "type" => Some(json!(self.orders.to_string())),
            "method" => Some(json!(self.method.to_string())),
            _ => None,
        };
        let named = parameters.iter().filter_map(|one| Some((one.name.to_owned(), value(one.name)?)));
        named.collect()
    }
}

/// As many columns as a report may have.
const MOST_COLUMNS: usize = 120;

/// Some days, cut where months, quarters or years of the calendar end.
fn split(from: Day, to: Day, interval: Interval) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut begins = from;
    while begins <= to && spans.len() <= MOST_COLUMNS {
        let month = i64::from(begins.month());
        let last = match interval {
            Interval::Month => month,
            Interval::Quarter => (month + 2) / 3 * 3,
            Interval::Year => 12,
        };
        let ends = Ord::min(begins.first_of_month().plus_months(last - month).last_of_month(), to);
        spans.push(Span { from: Some(begins), to: ends });
        begins = ends.next();
    }
    spans
}

/// The same days so many months earlier; the last of a month stays the last of a month.
fn earlier(from: Day, to: Day, months: i64) -> Span {
    Span { from: Some(from.plus_months(-months)), to: to.plus_months(-months) }
}

/// What comes before some days: as many whole months, where they are whole months, else as many days.
fn before(from: Day, to: Day) -> Span {
    let begins = if from == from.first_of_month() && to == to.last_of_month() {
        let month = |day: Day| i64::from(day.year()) * 12 + i64::from(day.month());
        from.plus_months(-(month(to) - month(from) + 1))
    } else {
        from.plus_days(-(to.days_since(from) + 1))
    };
    Span { from: Some(begins), to: from.previous() }
}

fn in_currency(query: &ListQuery, faults: &mut FieldErrors) -> Option<String> {
    let code = text(query, "currency")?;
    if Currency::of(code).is_none() {
        faults.add("currency", "must be the code of a currency, such as USD");
    }
    Some(code.to_owned())
}

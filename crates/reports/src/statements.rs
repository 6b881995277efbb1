//! What the company earned, what it has, and that both come from one ledger: profit and loss, balance sheet, trial
//! balance.

use super::Report;
use super::asked::{
    Asked, BASIS, Basis, COMPARE_WITH, FORMAT, FROM, FROM_DATE, GROUP_BY, INCLUDE_ZERO, INTERVAL, KNOWN_AT, PERIODS,
    TO, TO_DATE,
};
use super::basis::uncounted;
use super::form::{Example, Form, Holds};
use super::sheet::{Cell, Column, Own, Row, RowType, Sheet};
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
pub(super) use balance_sheet::BalanceSheet;
use books::cx::Cx;
pub(super) use books::ends::Ends as Balances;
use books::ends::at_ends;
use books::sums::{Span, Sums, sums};
use kit::list::Parameter;
use rules::account::{AccountClass, AccountType};
use schema::account as accounts;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder};
use std::collections::BTreeMap;
pub(super) use trial_balance::TrialBalance;
use words::sums::Sums as _;

/// The accounts that carry figures, in the order of their codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chart(pub(super) Vec<accounts::Charted>);

impl Chart {
    pub(super) async fn of(cx: &Cx<'_>) -> Result<Self> {
        let all = accounts::Entity::find()
            .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
            .filter(accounts::Column::IsGroup.eq(false))
            .order_by_asc(accounts::Column::Code)
            .into_partial_model();
        Ok(Self(all.all(&cx.db).await?))
    }

    fn of_types<'c>(&'c self, types: &'c [AccountType]) -> impl Iterator<Item = &'c accounts::Charted> {
        self.0.iter().filter(|account| types.contains(&account.r#type))
    }

    fn is_earned(&self, id: RecordId) -> bool {
        self.0.iter().any(|account| account.id == id && is_earned(account))
    }
}

pub(super) const fn is_earned(account: &accounts::Charted) -> bool {
    matches!(account.class, AccountClass::Income | AccountClass::Expense)
}

/// Without what was brought from one year to the next on some days: closing a year changes none of its figures.
pub(super) fn without_years(at: &mut Balances, between: &Sums) {
    for (id, moved) in between {
        *at.entry(*id).or_default() -= moved.net();
    }
}

/// Carries what was earned in earlier years on with the retained earnings, as closing those years does.
pub(super) fn carry_on(at: &mut Balances, earlier: &Balances, chart: &Chart, retained: RecordId) {
    for (account, sum) in earlier.iter().filter(|(account, _)| chart.is_earned(**account)) {
        *at.entry(*account).or_insert(0) -= sum;
        *at.entry(retained).or_insert(0) += sum;
    }
}

/// A section of a statement: the accounts of some types, with their sum. `sign` turns what is a credit to a plus.
fn section(
    chart: &Chart,
    (key, label, types, sign): (&str, &str, &[AccountType], i64),
    columns: &[Balances],
    (own, include_zero): (Own, bool),
) -> (Row, Vec<i64>) {
    let mut sums = vec![0; columns.len()];
    let mut rows = Vec::new();
    for account in chart.of_types(types) {
        let figures: Vec<i64> = columns.iter().map(|column| sign * column.sum_of(&account.id)).collect();
        if figures.iter().all(|figure| *figure == 0) && !include_zero {
            continue;
        }
        for (sum, figure) in sums.iter_mut().zip(&figures) {
            *sum += figure;
        }
        rows.push(account_row(account, own.cells(&figures)));
    }
    (Row::section(key, label, own.cells(&sums), rows), sums)
}

pub(super) fn account_row(account: &accounts::Charted, values: Vec<Cell>) -> Row {
    Row {
        key: account.code.clone(),
        r#type: RowType::Account,
        label: format!("{} {}", account.code, account.name),
        account_id: Some(account.id),
        values,
        ..Row::default()
    }
}

fn plus(left: &[i64], right: &[i64], sign: i64) -> Vec<i64> {
    left.iter().zip(right).map(|(left, right)| left + sign * right).collect()
}

pub(super) fn span_column(span: Span) -> Column {
    let from = span.from.unwrap_or(span.to);
    Column {
        key: format!("{from}..{}", span.to),
        label: format!("{from} to {}", span.to),
        from: span.from,
        to: Some(span.to),
    }
}

// ── Profit and loss ──

pub(super) struct ProfitAndLoss;

/// Some days: what moved on them, and what all came to before and after them.
type Period = (Span, Sums, [Balances; 2]);

pub(super) struct Earned {
    chart: Chart,
    own: Own,
    /// For each period: what was moved, and what all that is earned came to before and after it.
    periods: Vec<Period>,
}

const PERIOD: &[Parameter] =
    &[FROM, TO, FROM_DATE, TO_DATE, PERIODS, INTERVAL, COMPARE_WITH, GROUP_BY, BASIS, INCLUDE_ZERO, KNOWN_AT, FORMAT];

impl Report for ProfitAndLoss {
    const NAME: &'static str = "pl";
    const OPERATION: &'static str = "ProfitAndLoss";
    const TITLE: &'static str = "Profit and loss";
    const ABOUT: &'static str = "What was earned in a period, what it cost, and what is left. Several periods can \
                                 stand side by side.";
    const PARAMETERS: &'static [Parameter] = PERIOD;
    const FORM: Form = Form {
        columns: &[],
        varying: Some("a column for each period"),
        totals: &[
            ("income", "Income", Holds::Amount),
            ("grossProfit", "Gross profit", Holds::Amount),
            ("operatingProfit", "Operating profit", Holds::Amount),
            ("netProfit", "Net profit", Holds::Amount),
        ],
        example: Example {
            varying: &[("2026-01-01..2026-12-31", "2026-01-01 to 2026-12-31")],
            rows: &[
                (RowType::Section, "income", "Income", &["27490.00"]),
                (RowType::Section, "costOfSales", "Cost of sales", &["11100.00"]),
                (RowType::Subtotal, "grossProfit", "Gross profit", &["16390.00"]),
                (RowType::Total, "netProfit", "Net profit", &["12500.00"]),
            ],
            totals: &["27490.00", "16390.00", "12500.00", "12500.00"],
            check: (
                "Net profit to 2026-12-31 equals the change of earnings in the balance sheet",
                Holds::Amount,
                "12500.00",
            ),
        },
    };
    type Facts = Earned;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Earned> {
        let chart = Chart::of(cx).await?;
        let spans = asked.spans();
        let day_before = |span: &Span| span.from.unwrap_or(span.to).previous();
        let days: Vec<Day> = spans.iter().flat_map(|span| [day_before(span), span.to]).collect();
        let mut uncounted = waiting(cx, &chart, &days, asked).await?.into_iter();
        let mut ends = at_ends(cx, &days, asked.point).await?.into_iter();
        let mut periods = Vec::new();
        for span in spans {
            let (mut moved, between) = sums(cx, span, asked.point, asked.apart).await?;
            let Some((mut before, mut after)) = ends.next().zip(ends.next()) else { break };
            without_years(&mut after, &between);
            if let Some((not_before, not_after)) = uncounted.next().zip(uncounted.next()) {
                take_off(&mut before, &not_before);
                take_off(&mut after, &not_after);
                put_off(&mut moved, &[not_before, not_after]);
            }
            periods.push((span, moved, [before, after]));
        }
        Ok(Earned { chart, own: Own(cx.business()?.currency_decimals), periods })
    }

    fn fold(facts: Earned, asked: &Asked) -> Result<Sheet> {
        use AccountType::{Cogs, Depreciation, Expense, Income, OtherExpense, OtherIncome};
        let Earned { chart, own, periods } = facts;
        let columns: Vec<Balances> =
            periods.iter().map(|(_, moved, _)| moved.iter().map(|(id, moved)| (*id, moved.net())).collect()).collect();
        let of = |of: (&str, &str, &[AccountType], i64)| section(&chart, of, &columns, (own, asked.include_zero));
        let (income, earned) = of(("income", "Income", &[Income], -1));
        let (cogs, cost) = of(("costOfSales", "Cost of sales", &[Cogs], 1));
        let gross = plus(&earned, &cost, -1);
        let (expenses, spent) = of(("expenses", "Expenses", &[Expense, Depreciation], 1));
        let operating = plus(&gross, &spent, -1);
        let (other_income, more) = of(("otherIncome", "Other income", &[OtherIncome], -1));
        let (other_expenses, less) = of(("otherExpenses", "Other expenses", &[OtherExpense], 1));
        let net = plus(&plus(&operating, &more, 1), &less, -1);
        let total = |r#type, key, label, figures: &[i64]| Row::total(r#type, key, label, own.cells(figures));
        let rows = vec![
            income,
            cogs,
            total(RowType::Subtotal, "grossProfit", "Gross profit", &gross),
            expenses,
            total(RowType::Subtotal, "operatingProfit", "Operating profit", &operating),
            other_income,
            other_expenses,
            total(RowType::Total, "netProfit", "Net profit", &net),
        ];
        let mut checks = Vec::new();
        for ((span, _, [before, after]), profit) in periods.iter().zip(&net) {
            let earnings = |at: &Balances| {
                -at.iter().filter(|(id, _)| chart.is_earned(**id)).map(|(_, balance)| balance).sum::<i64>()
            };
            let less = if asked.basis == Basis::Cash { ", each less what is not settled" } else { "" };
            let name = format!("Net profit to {} equals the change of earnings in the balance sheet{less}", span.to);
            checks.push(own.check(&name, *profit, earnings(after) - earnings(before)));
        }
        // What is divided is told as a whole; of what stands side by side, the first that was asked for.
        let counted = if asked.group_by.is_some() { periods.len() } else { 1 };
        let whole = |figures: &[i64]| own.cell(figures.iter().take(counted).sum());
        let totals = BTreeMap::from([
            ("income".to_owned(), whole(&earned)),
            ("grossProfit".to_owned(), whole(&gross)),
            ("operatingProfit".to_owned(), whole(&operating)),
            ("netProfit".to_owned(), whole(&net)),
        ]);
        let columns = periods.iter().map(|(span, _, _)| span_column(*span)).collect();
        Ok(Sheet { columns, rows, totals, checks, ..Sheet::default() })
    }
}

/// What does not count yet at the end of each of these days, where that is asked for.
async fn waiting(cx: &Cx<'_>, chart: &Chart, days: &[Day], asked: &Asked) -> Result<Vec<Balances>> {
    if asked.basis == Basis::Cash { uncounted(cx, chart, days, asked).await } else { Ok(Vec::new()) }
}

/// What does not count yet at the end of the days is not earned on them; what did not count before them is.
fn put_off(moved: &mut Sums, [before, after]: &[Balances; 2]) {
    for (id, figure) in
        before.iter().map(|(id, figure)| (id, *figure)).chain(after.iter().map(|(id, figure)| (id, -figure)))
    {
        let of_account = moved.entry(*id).or_default();
        of_account.debit += figure.max(0);
        of_account.credit += (-figure).max(0);
    }
}

fn take_off(balances: &mut Balances, uncounted: &Balances) {
    for (id, figure) in uncounted {
        *balances.entry(*id).or_default() -= figure;
    }
}

mod balance_sheet;
#[cfg(test)]
mod tests;
mod trial_balance;

//! What the company earned, what it has, and that both come from one ledger: profit and loss, balance sheet, trial
//! balance.

use super::Report;
use super::asked::{
    AS_OF, Asked, BASIS, Basis, COMPARE_WITH, DATE, FORMAT, FROM, FROM_DATE, GROUP_BY, INCLUDE_ZERO, INTERVAL,
    KNOWN_AT, PERIODS, TO, TO_DATE,
};
use super::basis::uncounted;
use super::form::{Example, Form, Holds};
use super::sheet::{Cell, Check, Column, Own, Row, RowType, Sheet};
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use books::balances::balances;
use books::cx::{Cx, Point};
use books::sums::{Moved, Span, Sums, between_years, sums};
use kit::list::Parameter;
use rules::account::{AccountClass, AccountType};
use schema::account as accounts;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use std::collections::{BTreeMap, HashMap};
use words::sums::Sums as _;

/// What accounts come to, in the company's currency.
pub(super) type Balances = HashMap<RecordId, i64>;

/// The accounts that carry figures, in the order of their codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chart(pub(super) Vec<accounts::Model>);

impl Chart {
    pub(super) async fn of(cx: &Cx<'_>) -> Result<Self> {
        let all = accounts::Entity::find()
            .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
            .filter(accounts::Column::IsGroup.eq(false))
            .order_by_asc(accounts::Column::Code);
        Ok(Self(all.all(&cx.db).await?))
    }

    fn of_types<'c>(&'c self, types: &'c [AccountType]) -> impl Iterator<Item = &'c accounts::Model> {
        self.0.iter().filter(|account| types.contains(&account.r#type))
    }

    fn is_earned(&self, id: RecordId) -> bool {
        self.0.iter().any(|account| account.id == id && is_earned(account))
    }
}

pub(super) const fn is_earned(account: &accounts::Model) -> bool {
    matches!(account.class, AccountClass::Income | AccountClass::Expense)
}

/// What all accounts come to at the end of a day, in the company's currency.
pub(super) async fn at_end(cx: &Cx<'_>, day: Day, point: Point) -> Result<Balances> {
    let found = balances(cx, None, Point { as_of: Some(day), ..point }).await?;
    let mut by_account: Balances = HashMap::new();
    for ((account, _), balance) in found {
        *by_account.entry(account).or_default() += balance.base;
    }
    Ok(by_account)
}

/// The same, without what was brought from one year to the next on the days of a span: closing a year changes none of its
/// figures.
pub(super) async fn at_end_of(cx: &Cx<'_>, span: Span, point: Point) -> Result<Balances> {
    let mut at = at_end(cx, span.to, point).await?;
    for (id, moved) in between_years(cx, span, point).await? {
        *at.entry(id).or_default() -= moved.net();
    }
    Ok(at)
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

pub(super) fn account_row(account: &accounts::Model, values: Vec<Cell>) -> Row {
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
    const ABOUT: &'static str = "What was earned over some days, what it cost, and what is left. Several periods can \
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
        let mut periods = Vec::new();
        for span in spans {
            let mut moved = sums(cx, span, asked.point).await?;
            let mut before = at_end(cx, day_before(&span), asked.point).await?;
            let mut after = at_end_of(cx, span, asked.point).await?;
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
        let first = |figures: &[i64]| own.cell(figures[0]);
        let totals = BTreeMap::from([
            ("income".to_owned(), first(&earned)),
            ("grossProfit".to_owned(), first(&gross)),
            ("operatingProfit".to_owned(), first(&operating)),
            ("netProfit".to_owned(), first(&net)),
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

// ── Balance sheet ──

pub(super) struct BalanceSheet;

pub(super) struct Held {
    chart: Chart,
    own: Own,
    /// For each day: what all accounts come to then, and what they came to before its fiscal year.
    days: Vec<(Day, Balances, Balances)>,
}

impl Report for BalanceSheet {
    const NAME: &'static str = "bs";
    const OPERATION: &'static str = "BalanceSheet";
    const TITLE: &'static str = "Balance sheet";
    const ABOUT: &'static str = "What the company has and owes at the end of a day. What was earned is equity: that of \
                                 earlier fiscal years is carried on by itself, without an entry at the end of a year.";
    const PARAMETERS: &'static [Parameter] =
        &[AS_OF, DATE, PERIODS, INTERVAL, COMPARE_WITH, BASIS, INCLUDE_ZERO, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[],
        varying: Some("a column for each day"),
        totals: &[
            ("assets", "Assets", Holds::Amount),
            ("liabilities", "Liabilities", Holds::Amount),
            ("equity", "Equity", Holds::Amount),
        ],
        example: Example {
            varying: &[("2026-12-31", "2026-12-31")],
            rows: &[
                (RowType::Total, "totalAssets", "Total assets", &["84000.00"]),
                (RowType::Total, "totalLiabilitiesAndEquity", "Total liabilities and equity", &["84000.00"]),
            ],
            totals: &["84000.00", "21500.00", "62500.00"],
            check: ("Assets equal liabilities and equity on 2026-12-31", Holds::Amount, "84000.00"),
        },
    };
    type Facts = Held;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Held> {
        let (business, chart) = (cx.business()?, Chart::of(cx).await?);
        let ends: Vec<[Day; 2]> =
            asked.days().into_iter().map(|day| [day, business.fiscal_year_start(day).previous()]).collect();
        let mut uncounted = waiting(cx, &chart, ends.as_flattened(), asked).await?.into_iter();
        let mut days = Vec::new();
        for [day, before] in ends {
            let on_day = Span { from: Some(day), to: day };
            let mut at = at_end_of(cx, on_day, asked.point).await?;
            let mut earlier = at_end(cx, before, asked.point).await?;
            if let Some((not_at, not_before)) = uncounted.next().zip(uncounted.next()) {
                take_off(&mut at, &not_at);
                take_off(&mut earlier, &not_before);
            }
            days.push((day, at, earlier));
        }
        Ok(Held { chart, own: Own(business.currency_decimals), days })
    }

    fn fold(facts: Held, asked: &Asked) -> Result<Sheet> {
        use AccountType::{
            Bank, Cash, CreditCard, CurrentAsset, CurrentLiability, Equity, FixedAsset, Inventory, LongTermLiability,
            NonCurrentAsset, Payable, Prepayment, Receivable, RetainedEarnings, TaxPayable,
        };
        let Held { chart, own, days } = facts;
        let columns: Vec<Balances> = days.iter().map(|(_, at, _)| at.clone()).collect();
        let of = |of: (&str, &str, &[AccountType], i64)| section(&chart, of, &columns, (own, asked.include_zero));
        let (current, current_sum) =
            of(("currentAssets", "Current assets", &[Bank, Cash, Receivable, Inventory, CurrentAsset, Prepayment], 1));
        let (fixed, fixed_sum) = of(("fixedAssets", "Fixed assets", &[FixedAsset, NonCurrentAsset], 1));
        let assets = plus(&current_sum, &fixed_sum, 1);
        let (owed, owed_sum) =
            of(("currentLiabilities", "Current liabilities", &[Payable, CreditCard, CurrentLiability, TaxPayable], -1));
        let (long, long_sum) = of(("longTermLiabilities", "Long-term liabilities", &[LongTermLiability], -1));
        let liabilities = plus(&owed_sum, &long_sum, 1);
        let (mut equity, held_sum) = of(("equityAccounts", "Equity", &[Equity, RetainedEarnings], -1));
        let earnings =
            |at: &Balances| -at.iter().filter(|(id, _)| chart.is_earned(**id)).map(|(_, balance)| balance).sum::<i64>();
        let carried: Vec<i64> = days.iter().map(|(_, _, before)| earnings(before)).collect();
        let earned: Vec<i64> = days.iter().map(|(_, at, before)| earnings(at) - earnings(before)).collect();
        for (key, label, figures) in [
            ("earlierEarnings", "Earnings of earlier years", &carried),
            ("currentEarnings", "Earnings of the current year", &earned),
        ] {
            let mut row = Row::total(RowType::Line, key, label, own.cells(figures));
            row.level = 1;
            equity.children.push(row);
        }
        let equity_sum = plus(&plus(&held_sum, &carried, 1), &earned, 1);
        equity.values = own.cells(&equity_sum);
        let funded = plus(&liabilities, &equity_sum, 1);
        let total = |key, label, figures: &[i64]| Row::total(RowType::Total, key, label, own.cells(figures));
        let rows = vec![
            current,
            fixed,
            total("totalAssets", "Total assets", &assets),
            owed,
            long,
            total("totalLiabilities", "Total liabilities", &liabilities),
            equity,
            total("totalLiabilitiesAndEquity", "Total liabilities and equity", &funded),
        ];
        let mut checks: Vec<Check> = Vec::new();
        for (place, (day, ..)) in days.iter().enumerate() {
            let less = if asked.basis == Basis::Cash { ", each less what is not settled" } else { "" };
            let name = format!("Assets equal liabilities and equity on {day}{less}");
            checks.push(own.check(&name, assets[place], funded[place]));
        }
        let first = |figures: &[i64]| own.cell(figures[0]);
        let totals = BTreeMap::from([
            ("assets".to_owned(), first(&assets)),
            ("liabilities".to_owned(), first(&liabilities)),
            ("equity".to_owned(), first(&equity_sum)),
        ]);
        let columns = days.iter().map(|(day, ..)| Column {
            key: day.to_string(),
            label: day.to_string(),
            from: None,
            to: Some(*day),
        });
        Ok(Sheet { columns: columns.collect(), rows, totals, checks, ..Sheet::default() })
    }
}

// ── Trial balance ──

pub(super) struct TrialBalance;

pub(super) struct Tried {
    chart: Chart,
    own: Own,
    span: Span,
    before: Balances,
    moved: Sums,
    /// What all accounts come to at the end, computed apart.
    after: Balances,
    /// What was earned before the fiscal year in which the days begin.
    earlier: Balances,
    retained: RecordId,
}

impl Report for TrialBalance {
    const NAME: &'static str = "trial-balance";
    const OPERATION: &'static str = "TrialBalance";
    const TITLE: &'static str = "Trial balance";
    const ABOUT: &'static str = "Every account with what it came to before, what it was debited and credited with, and \
                                 what it comes to. Accounts of income and expense begin each fiscal year with nothing: \
                                 what was earned before stands with the retained earnings.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, INCLUDE_ZERO, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("openingDebit", "Opening debit", Holds::Amount),
            ("openingCredit", "Opening credit", Holds::Amount),
            ("debit", "Debit", Holds::Amount),
            ("credit", "Credit", Holds::Amount),
            ("closingDebit", "Closing debit", Holds::Amount),
            ("closingCredit", "Closing credit", Holds::Amount),
        ],
        varying: None,
        totals: &[
            ("openingDebit", "Opening debit", Holds::Amount),
            ("openingCredit", "Opening credit", Holds::Amount),
            ("debit", "Debit", Holds::Amount),
            ("credit", "Credit", Holds::Amount),
            ("closingDebit", "Closing debit", Holds::Amount),
            ("closingCredit", "Closing credit", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[
                (
                    RowType::Account,
                    "1010",
                    "1010 Bank",
                    &["84000.00", "0.00", "27490.00", "11100.00", "100390.00", "0.00"],
                ),
                (
                    RowType::Account,
                    "4000",
                    "4000 Sales",
                    &["0.00", "84000.00", "11100.00", "27490.00", "0.00", "100390.00"],
                ),
                (
                    RowType::Total,
                    "total",
                    "Total",
                    &["84000.00", "84000.00", "38590.00", "38590.00", "100390.00", "100390.00"],
                ),
            ],
            totals: &["84000.00", "84000.00", "38590.00", "38590.00", "100390.00", "100390.00"],
            check: ("Debits equal credits", Holds::Amount, "38590.00"),
        },
    };
    type Facts = Tried;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Tried> {
        let (business, span) = (cx.business()?, asked.span);
        let from = span.from.unwrap_or(span.to);
        let retained = cx.chart().await?.roles().retained_earnings.id();
        Ok(Tried {
            chart: Chart::of(cx).await?,
            own: Own(business.currency_decimals),
            span,
            before: at_end(cx, from.previous(), asked.point).await?,
            moved: sums(cx, span, asked.point).await?,
            after: at_end_of(cx, span, asked.point).await?,
            earlier: at_end(cx, business.fiscal_year_start(from).previous(), asked.point).await?,
            retained,
        })
    }

    fn fold(facts: Tried, asked: &Asked) -> Result<Sheet> {
        let Tried { chart, own, span, mut before, moved, mut after, earlier, retained } = facts;
        for at in [&mut before, &mut after] {
            carry_on(at, &earlier, &chart, retained);
        }
        let figure = |of: &Balances, id: RecordId| of.sum_of(&id);
        let sides = |net: i64| [net.max(0), (-net).max(0)];
        let mut sums = [0_i64; 6];
        let (mut closing, mut found) = (0_i64, 0_i64);
        let mut rows = Vec::new();
        for account in &chart.0 {
            let opening = figure(&before, account.id);
            let turned = moved.sum_of(&account.id);
            let end = opening + turned.net();
            let figures: Vec<i64> = [sides(opening), [turned.debit, turned.credit], sides(end)].concat();
            for (sum, figure) in sums.iter_mut().zip(&figures) {
                *sum += figure;
            }
            closing += end.abs();
            found += figure(&after, account.id).abs();
            if asked.include_zero || turned != Moved::default() || opening != 0 {
                rows.push(account_row(account, own.cells(&figures)));
            }
        }
        rows.push(Row::total(RowType::Total, "total", "Total", own.cells(&sums)));
        let checks = vec![
            own.check("Opening debits equal opening credits", sums[0], sums[1]),
            own.check("Debits equal credits", sums[2], sums[3]),
            own.check("Closing debits equal closing credits", sums[4], sums[5]),
            own.check("Closing balances are the next day's opening balances", closing, found),
        ];
        let columns = Self::FORM.columns().into_iter().enumerate().map(|(place, column)| Column {
            from: span.from.filter(|_| (2..4).contains(&place)),
            to: Some(if place < 2 { span.from.unwrap_or(span.to).previous() } else { span.to }),
            ..column
        });
        let totals = Self::FORM.totals.iter().zip(sums).map(|((key, ..), sum)| ((*key).to_owned(), own.cell(sum)));
        Ok(Sheet { columns: columns.collect(), rows, totals: totals.collect(), checks, ..Sheet::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{account, asked, failed, id, written};
    use super::*;

    fn chart() -> Chart {
        use AccountType::{Bank, Cogs, Equity, Expense, Income, OtherIncome, Payable, RetainedEarnings};
        let all = [
            (1010, Bank),
            (2100, Payable),
            (3000, Equity),
            (3200, RetainedEarnings),
            (4000, Income),
            (4700, OtherIncome),
            (5000, Cogs),
            (6000, Expense),
        ];
        Chart(all.map(|(code, r#type)| account(code, r#type)).to_vec())
    }

    fn at(balances: &[(u128, i64)]) -> Balances {
        balances.iter().map(|(code, cents)| (id(*code), cents * 100)).collect()
    }

    fn moved(sums: &[(u128, i64, i64)]) -> Sums {
        let of =
            |(code, debit, credit): &(u128, i64, i64)| (id(*code), Moved { debit: debit * 100, credit: credit * 100 });
        sums.iter().map(of).collect()
    }

    #[test]
    fn a_profit_is_what_was_earned_less_what_it_cost() {
        let span = Span { from: Some("2026-01-01".parse().unwrap()), to: "2026-01-31".parse().unwrap() };
        let sums =
            moved(&[(4000, 500, 10_500), (4700, 0, 700), (5000, 4_000, 0), (6000, 1_500, 0), (1010, 10_700, 5_500)]);
        let before = at(&[(4000, -3_000), (6000, 1_000)]);
        let after = at(&[(4000, -13_000), (4700, -700), (5000, 4_000), (6000, 2_500)]);
        let facts =
            Earned { chart: chart(), own: Own(2), periods: vec![(span, sums.clone(), [before.clone(), after])] };
        let sheet = ProfitAndLoss::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(failed(&sheet), Vec::<String>::new());
        assert_eq!(
            written(&sheet),
            [
                "income 100.00",
                "  4000 100.00",
                "costOfSales 40.00",
                "  5000 40.00",
                "grossProfit 60.00",
                "expenses 15.00",
                "  6000 15.00",
                "operatingProfit 45.00",
                "otherIncome 7.00",
                "  4700 7.00",
                "otherExpenses 0.00",
                "netProfit 52.00",
            ]
        );
        // What the balances do not bear out is said.
        let facts = Earned { chart: chart(), own: Own(2), periods: vec![(span, sums, [before.clone(), before])] };
        let sheet = ProfitAndLoss::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(failed(&sheet).len(), 1);
    }

    #[test]
    fn what_was_earned_is_equity_without_an_entry() {
        let now = at(&[(1010, 9_000), (2100, -1_000), (3000, -5_000), (4000, -6_000), (6000, 3_000)]);
        let before = at(&[(1010, 6_000), (3000, -5_000), (4000, -2_000), (6000, 1_000)]);
        let facts = Held { chart: chart(), own: Own(2), days: vec![("2026-05-31".parse().unwrap(), now, before)] };
        let sheet = BalanceSheet::fold(facts, &asked("2026-01-01", "2026-05-31")).unwrap();
        assert_eq!(failed(&sheet), Vec::<String>::new());
        assert_eq!(
            written(&sheet),
            [
                "currentAssets 90.00",
                "  1010 90.00",
                "fixedAssets 0.00",
                "totalAssets 90.00",
                "currentLiabilities 10.00",
                "  2100 10.00",
                "longTermLiabilities 0.00",
                "totalLiabilities 10.00",
                "equityAccounts 80.00",
                "  3000 50.00",
                "  earlierEarnings 10.00",
                "  currentEarnings 20.00",
                "totalLiabilitiesAndEquity 90.00",
            ]
        );
    }

    #[test]
    fn income_and_expense_begin_a_year_with_nothing() {
        let facts = Tried {
            chart: chart(),
            own: Own(2),
            span: Span { from: Some("2026-01-01".parse().unwrap()), to: "2026-01-31".parse().unwrap() },
            before: at(&[(1010, 6_000), (3000, -5_000), (4000, -2_000), (6000, 1_000)]),
            moved: moved(&[(1010, 300, 0), (4000, 0, 300)]),
            after: at(&[(1010, 6_300), (3000, -5_000), (4000, -2_300), (6000, 1_000)]),
            earlier: at(&[(4000, -2_000), (6000, 1_000)]),
            retained: id(3200),
        };
        let sheet = TrialBalance::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(failed(&sheet), Vec::<String>::new());
        assert_eq!(
            written(&sheet),
            [
                "1010 60.00 0.00 3.00 0.00 63.00 0.00",
                "3000 0.00 50.00 0.00 0.00 0.00 50.00",
                "3200 0.00 10.00 0.00 0.00 0.00 10.00",
                "4000 0.00 0.00 0.00 3.00 0.00 3.00",
                "total 60.00 60.00 3.00 3.00 63.00 63.00",
            ]
        );
    }
}

//! What the company has and owes on a day.

use super::{Balances, Chart, plus, section, take_off, waiting, without_years};
use crate::Report;
use crate::asked::{AS_OF, Asked, BASIS, Basis, COMPARE_WITH, DATE, FORMAT, INCLUDE_ZERO, INTERVAL, KNOWN_AT, PERIODS};
use crate::day::Day;
use crate::error::Result;
use crate::form::{Example, Form, Holds};
use crate::sheet::{Check, Column, Own, Row, RowType, Sheet};
use books::cx::Cx;
use books::ends::at_ends;
use books::sums::{Span, between_years};
use kit::list::Parameter;
use rules::account::AccountType;
use std::collections::BTreeMap;

pub(crate) struct BalanceSheet;

pub(crate) struct Held {
    pub(super) chart: Chart,
    pub(super) own: Own,
    /// For each day: what all accounts come to then, and what they came to before its fiscal year.
    pub(super) days: Vec<(Day, Balances, Balances)>,
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
        let before = |day: Day| asked.years.start(business, day).previous();
        let ends: Vec<[Day; 2]> = asked.days().into_iter().map(|day| [day, before(day)]).collect();
        let mut uncounted = waiting(cx, &chart, ends.as_flattened(), asked).await?.into_iter();
        let mut at_ends = at_ends(cx, ends.as_flattened(), asked.point).await?.into_iter();
        let mut days = Vec::new();
        for [day, _] in ends {
            let on_day = Span { from: Some(day), to: day };
            let Some((mut at, mut earlier)) = at_ends.next().zip(at_ends.next()) else { break };
            without_years(&mut at, &between_years(cx, on_day, asked.point, asked.apart).await?);
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

//! All accounts, and that they balance.

use super::{Balances, Chart, account_row, carry_on, without_years};
use crate::Report;
use crate::asked::{Asked, FORMAT, FROM, FROM_DATE, INCLUDE_ZERO, KNOWN_AT, TO, TO_DATE};
use crate::error::Result;
use crate::form::{Example, Form, Holds};
use crate::ids::RecordId;
use crate::sheet::{Column, Own, Row, RowType, Sheet};
use books::chart::{SystemRole, in_role};
use books::cx::Cx;
use books::ends::at;
use books::sums::{Moved, Span, Sums, sums};
use kit::list::Parameter;
use words::sums::Sums as _;

pub(crate) struct TrialBalance;

pub(crate) struct Tried {
    pub(super) chart: Chart,
    pub(super) own: Own,
    pub(super) span: Span,
    pub(super) before: Balances,
    pub(super) moved: Sums,
    /// What all accounts come to at the end, computed apart.
    pub(super) after: Balances,
    /// What was earned before the fiscal year in which the days begin.
    pub(super) earlier: Balances,
    pub(super) retained: RecordId,
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
        let days = [from.previous(), span.to, asked.years.start(business, from).previous()];
        let [before, mut after, earlier] = at(cx, days, asked.point).await?;
        let (moved, between) = sums(cx, span, asked.point, asked.apart).await?;
        without_years(&mut after, &between);
        Ok(Tried {
            chart: Chart::of(cx).await?,
            own: Own(business.currency_decimals),
            span,
            before,
            moved,
            after,
            earlier,
            retained: in_role(business, SystemRole::RetainedEarnings)?,
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

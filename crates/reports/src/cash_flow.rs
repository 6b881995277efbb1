//! Where money came from and went to, by what it was for.
//!
//! Every line that holds no money has a section. What settles a document has those of what the document says: half of
//! a bill that is half a machine is investing, on the day on which it is paid. What a note takes off a bill is no longer
//! paid, so it comes off the lines that the note names. Both methods are made of the same
//! figures, so a section is the same in both by construction.

mod flows;
mod settled;

use super::Report;
use super::asked::{Asked, FORMAT, FROM, FROM_DATE, INCLUDE_ZERO, KNOWN_AT, METHOD, Method, TO, TO_DATE};
use super::form::{Example, Form, Holds};
use super::sheet::{Own, Row, RowType, Sheet};
use super::statements::{Chart, account_row, is_earned};
use crate::error::Result;
use crate::ids::RecordId;
use books::cx::Cx;
use books::ends::at;
use flows::{Activity, Flows};
use futures_util::future::try_join;
use kit::list::Parameter;
use rules::account::CashFlowSection;
use schema::account as accounts;
use std::collections::{BTreeMap, HashMap};
use words::sown::{Fault, sown};

pub(super) struct CashFlow;

pub(super) struct Flowed {
    chart: Chart,
    own: Own,
    flows: Flows,
    /// What the money came to before and after, computed apart.
    opening: i64,
    closing: i64,
}

const SECTIONS: [(CashFlowSection, &str, &str); 3] = [
    (CashFlowSection::Operating, "operating", "Operating activities"),
    (CashFlowSection::Investing, "investing", "Investing activities"),
    (CashFlowSection::Financing, "financing", "Financing activities"),
];

impl Report for CashFlow {
    const NAME: &'static str = "cash-flow";
    const OPERATION: &'static str = "CashFlow";
    const TITLE: &'static str = "Cash flow";
    const ABOUT: &'static str = "What money there was before a period, where it came from and went to, and what there is \
                                 then. The direct method tells the accounts on the other side of what moved money; the \
                                 indirect one begins with the profit. What settles an invoice stands where its lines do, \
                                 less what notes took off the same accounts. \
                                 Nothing is a remainder: both are sums of the ledger.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, METHOD, INCLUDE_ZERO, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[("amount", "Amount", Holds::Amount)],
        varying: None,
        totals: &[
            ("operating", "Operating activities", Holds::Amount),
            ("investing", "Investing activities", Holds::Amount),
            ("financing", "Financing activities", Holds::Amount),
            ("exchange", "Exchange differences of money", Holds::Amount),
            ("takenOver", "Taken over from earlier books", Holds::Amount),
            ("netChange", "Net change of money", Holds::Amount),
            ("opening", "Money before", Holds::Amount),
            ("closing", "Money then", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Section, "operating", "Operating activities", &["300.00"]),
                (RowType::Section, "investing", "Investing activities", &["-6000.00"]),
                (RowType::Section, "financing", "Financing activities", &["10000.00"]),
                (RowType::Line, "exchange", "Exchange differences of money", &["0.00"]),
                (RowType::Line, "takenOver", "Taken over from earlier books", &["0.00"]),
                (RowType::Subtotal, "netChange", "Net change of money", &["4300.00"]),
                (RowType::Line, "opening", "Money before", &["74000.00"]),
                (RowType::Total, "closing", "Money then", &["78300.00"]),
            ],
            totals: &["300.00", "-6000.00", "10000.00", "0.00", "0.00", "4300.00", "74000.00", "78300.00"],
            check: ("Money before and its change are the money in the balance sheet", Holds::Amount, "78300.00"),
        },
    };
    type Facts = Flowed;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Flowed> {
        let chart = Chart::of(cx).await?;
        let from = asked.span.from.unwrap_or(asked.span.to);
        // Neither waits for the other's answer.
        let ends = at(cx, [from.previous(), asked.span.to], asked.point);
        let (flows, [before, then]) = try_join(Box::pin(flows::gather(cx, asked, &chart)), ends).await?;
        let held = |at: HashMap<RecordId, i64>| -> i64 {
            chart
                .0
                .iter()
                .filter(|account| account.r#type.holds_money())
                .filter_map(|account| at.get(&account.id))
                .sum()
        };
        let (opening, closing) = (held(before), held(then));
        Ok(Flowed { chart, own: Own(cx.business()?.currency_decimals), flows, opening, closing })
    }

    fn fold(facts: Flowed, asked: &Asked) -> Result<Sheet> {
        let Flowed { chart, own, flows, opening, closing } = facts;
        let mut rows = Vec::new();
        let mut totals = BTreeMap::new();
        let mut total = 0;
        for (section, key, label) in SECTIONS {
            let is_indirect = asked.method == Method::Indirect && section == CashFlowSection::Operating;
            let (sum, children) = if is_indirect {
                indirect(&chart, &flows, (own, asked.include_zero))
            } else {
                direct(&chart, &flows, section, (own, asked.include_zero))
            };
            total += sum;
            totals.insert(key.to_owned(), own.cell(sum));
            rows.push(Row::section(key, label, vec![own.cell(sum)], children));
        }
        let exchange = flows.of(Activity::Exchange);
        total += exchange + flows.taken_over;
        for (r#type, key, label, figure) in [
            (RowType::Line, "exchange", "Exchange differences of money", exchange),
            (RowType::Line, "takenOver", "Taken over from earlier books", flows.taken_over),
            (RowType::Subtotal, "netChange", "Net change of money", total),
            (RowType::Line, "opening", "Money before", opening),
            (RowType::Total, "closing", "Money then", opening + total),
        ] {
            rows.push(Row::total(r#type, key, label, vec![own.cell(figure)]));
            totals.insert(key.to_owned(), own.cell(figure));
        }
        let operating = flows.of(Activity::Section(CashFlowSection::Operating));
        let checks = vec![
            own.check("Money before and its change are the money in the balance sheet", opening + total, closing),
            own.check(
                "What the operating activities brought is the same by both methods",
                indirect(&chart, &flows, (own, false)).0,
                operating,
            ),
        ];
        Ok(Sheet { columns: Self::FORM.columns(), rows, totals, checks, ..Sheet::default() })
    }
}

/// The accounts on the other side of what moved money.
fn direct(chart: &Chart, flows: &Flows, section: CashFlowSection, shown: (Own, bool)) -> (i64, Vec<Row>) {
    let of_section = |account: &accounts::Charted| flows.direct(Activity::Section(section), account.id);
    let held = chart.0.iter().filter(|account| flows.is_other(account.id));
    let own = held.filter(|account| section == account.cash_flow() || of_section(account) != 0);
    listed(own.map(|account| (account, of_section(account))), shown)
}

/// The profit, less what of it stands elsewhere, and what else changed.
fn indirect(chart: &Chart, flows: &Flows, shown: (Own, bool)) -> (i64, Vec<Row>) {
    let others = || chart.0.iter().filter(|account| flows.is_other(account.id));
    let profit: i64 = others().filter(|account| is_earned(account)).map(|account| flows.moved(account.id)).sum();
    let rest = |account: &accounts::Charted| {
        let moved = if is_earned(account) { 0 } else { flows.moved(account.id) };
        moved - flows.elsewhere(account.id)
    };
    let is_operating = |account: &&accounts::Charted| account.cash_flow() == CashFlowSection::Operating;
    let outside = others().filter(|account| !is_operating(account) && !sown(Fault::NonCashForgotten));
    let outside = outside.map(|account| (account, rest(account)));
    let (of_others, outside) = listed(outside, (shown.0, false));
    let (changed, inside) = listed(others().filter(is_operating).map(|account| (account, rest(account))), shown);
    let mut rows = vec![Row::total(RowType::Subtotal, "netProfit", "Net profit", vec![shown.0.cell(profit)])];
    if !outside.is_empty() {
        rows.push(Row::section("nonCash", "What moved no money", vec![shown.0.cell(of_others)], outside));
    }
    rows.extend(inside);
    (profit + of_others + changed, rows)
}

fn listed<'c>(
    figures: impl Iterator<Item = (&'c accounts::Charted, i64)>,
    (own, include_zero): (Own, bool),
) -> (i64, Vec<Row>) {
    let mut sum = 0;
    let mut rows = Vec::new();
    for (account, figure) in figures {
        sum += figure;
        if figure != 0 || include_zero {
            rows.push(account_row(account, vec![own.cell(figure)]));
        }
    }
    (sum, rows)
}

#[cfg(test)]
mod tests;

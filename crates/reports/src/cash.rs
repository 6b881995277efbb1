//! What moved equity, and what currencies gained and lost.

use super::Report;
use super::asked::{Asked, FORMAT, FROM, FROM_DATE, INCLUDE_ZERO, KNOWN_AT, TO, TO_DATE};
use super::form::{Example, Form, Holds};
use super::lines::{amount, within};
use super::sheet::{Own, Row, RowType, Sheet};
use super::statements::{Chart, account_row, is_earned, without_years};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::chart::SystemRole;
use books::cx::Cx;
use books::ends::at;
use books::sums::{Sums, sums};
use kit::list::Parameter;
use rules::account::AccountClass;
use schema::tables::{DocumentKind, entries, entry_lines};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, HashMap};
use words::sums::Sums as _;

// ── Changes of equity ──

pub(super) struct EquityChanges;

pub(super) struct Changed {
    chart: Chart,
    own: Own,
    before: HashMap<RecordId, i64>,
    moved: Sums,
    after: HashMap<RecordId, i64>,
}

impl Report for EquityChanges {
    const NAME: &'static str = "equity-changes";
    const OPERATION: &'static str = "EquityChanges";
    const TITLE: &'static str = "Changes of equity";
    const ABOUT: &'static str = "What each account of equity came to before a period, what moved it, and what it comes to, \
                                 with what was earned by then.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, INCLUDE_ZERO, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("opening", "Before", Holds::Amount),
            ("increase", "Increase", Holds::Amount),
            ("decrease", "Decrease", Holds::Amount),
            ("closing", "Then", Holds::Amount),
        ],
        varying: None,
        totals: &[
            ("opening", "Before", Holds::Amount),
            ("profit", "What was earned", Holds::Amount),
            ("closing", "Then", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Account, "3000", "3000 Capital", &["50000.00", "0.00", "0.00", "50000.00"]),
                (RowType::Total, "total", "Total", &["50000.00", "27490.00", "14990.00", "62500.00"]),
            ],
            totals: &["50000.00", "12500.00", "62500.00"],
            check: ("Equity then is what the company has less what it owes", Holds::Amount, "62500.00"),
        },
    };
    type Facts = Changed;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Changed> {
        let from = asked.span.from.unwrap_or(asked.span.to);
        let days = [from.previous(), asked.span.to];
        let [before, mut after] = at(cx, days, asked.point).await?;
        let (moved, between) = sums(cx, asked.span, asked.point, asked.apart).await?;
        without_years(&mut after, &between);
        let (chart, own) = (Chart::of(cx).await?, Own(cx.business()?.currency_decimals));
        Ok(Changed { chart, own, before, moved, after })
    }

    fn fold(facts: Changed, asked: &Asked) -> Result<Sheet> {
        let Changed { chart, own, before, moved, after } = facts;
        let credit = |of: &HashMap<RecordId, i64>, id: RecordId| -of.sum_of(&id);
        let mut sums = [0; 4];
        let mut rows = Vec::new();
        let mut earned = [0; 4];
        for account in &chart.0 {
            let turned = moved.sum_of(&account.id);
            let opening = credit(&before, account.id);
            let figures = [opening, turned.credit, turned.debit, opening - turned.net()];
            if is_earned(account) {
                // What is earned is one line: profit on one side, loss on the other.
                earned[0] += figures[0];
                earned[3] += figures[3];
                continue;
            }
            if account.class != AccountClass::Equity || (figures == [0; 4] && !asked.include_zero) {
                continue;
            }
            for (sum, figure) in sums.iter_mut().zip(figures) {
                *sum += figure;
            }
            rows.push(account_row(account, own.cells(&figures)));
        }
        let profit = earned[3] - earned[0];
        (earned[1], earned[2]) = (profit.max(0), (-profit).max(0));
        for (sum, figure) in sums.iter_mut().zip(earned) {
            *sum += figure;
        }
        rows.push(Row::total(RowType::Line, "earnings", "Earnings", own.cells(&earned)));
        rows.push(Row::total(RowType::Total, "total", "Total", own.cells(&sums)));
        // Computed apart: what is had less what is owed.
        let net_assets: i64 = chart
            .0
            .iter()
            .filter(|account| matches!(account.class, AccountClass::Asset | AccountClass::Liability))
            .map(|account| after.sum_of(&account.id))
            .sum();
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: BTreeMap::from([
                ("opening".to_owned(), own.cell(sums[0])),
                ("profit".to_owned(), own.cell(profit)),
                ("closing".to_owned(), own.cell(sums[3])),
            ]),
            checks: vec![
                own.check("Equity before with what moved it is equity then", sums[0] + sums[1] - sums[2], sums[3]),
                own.check("Equity then is what the company has less what it owes", sums[3], net_assets),
            ],
            ..Sheet::default()
        })
    }
}

// ── Gains and losses of currencies ──

pub(super) struct FxGains;

pub(super) struct Gained {
    own: Own,
    /// Realised and unrealised: by kind of document, and what the accounts were moved by, computed apart.
    parts: [(BTreeMap<String, i64>, i64); 2],
}

answers::of_row! {
    struct OfKind {
        kind: DocumentKind,
        amount: i64,
    }
}

impl Report for FxGains {
    const NAME: &'static str = "fx-gains";
    const OPERATION: &'static str = "FxGains";
    const TITLE: &'static str = "Gains and losses of currencies";
    const ABOUT: &'static str = "What was gained in a period by other currencies: realised, when something was settled, \
                                 and unrealised, by revaluations. A loss is negative.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[("gain", "Gain", Holds::Amount)],
        varying: None,
        totals: &[("realised", "Realised", Holds::Amount), ("unrealised", "Unrealised", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Section, "realised", "Realised", &["12.40"]),
                (RowType::Section, "unrealised", "Unrealised", &["-3.10"]),
                (RowType::Total, "total", "Total", &["9.30"]),
            ],
            totals: &["12.40", "-3.10"],
            check: ("Realised: the documents are what the account was moved by", Holds::Amount, "12.40"),
        },
    };
    type Facts = Gained;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Gained> {
        let (chart, moved) = (cx.chart().await?, sums(cx, asked.span, asked.point, asked.apart).await?.0);
        let mut parts = Vec::new();
        for role in [SystemRole::RealisedExchange, SystemRole::UnrealisedExchange] {
            let account = chart.roles().id(role);
            let found: Vec<OfKind> = within(cx, asked.span, asked)
                .await?
                .filter(entry_lines::Column::AccountId.eq(account))
                .column_as(entries::Column::DocumentKind, "kind")
                .column_as(amount(cx), "amount")
                .group_by(entries::Column::DocumentKind)
                .read(&cx.db)
                .await?;
            let by_kind = found.into_iter().map(|row| (row.kind.to_string(), -row.amount)).collect();
            parts.push((by_kind, -moved.sum_of(&account).net()));
        }
        let parts = parts.try_into().map_err(|_| Error::internal("gains are of two kinds"))?;
        Ok(Gained { own: Own(cx.business()?.currency_decimals), parts })
    }

    fn fold(facts: Gained, _: &Asked) -> Result<Sheet> {
        let Gained { own, parts } = facts;
        let mut rows = Vec::new();
        let mut totals = BTreeMap::new();
        let mut checks = Vec::new();
        let mut total = 0;
        for ((key, label), (by_kind, moved)) in
            [("realised", "Realised"), ("unrealised", "Unrealised")].into_iter().zip(parts)
        {
            let sum: i64 = by_kind.values().sum();
            total += sum;
            let child = |(kind, gain): (&String, &i64)| Row::total(RowType::Line, kind, kind, vec![own.cell(*gain)]);
            let children = by_kind.iter().filter(|(_, gain)| **gain != 0).map(child).collect();
            rows.push(Row::section(key, label, vec![own.cell(sum)], children));
            totals.insert(key.to_owned(), own.cell(sum));
            checks.push(own.check(&format!("{label}: the documents are what the account was moved by"), sum, moved));
        }
        rows.push(Row::total(RowType::Total, "total", "Total", vec![own.cell(total)]));
        Ok(Sheet { columns: Self::FORM.columns(), rows, totals, checks, ..Sheet::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{account, asked, failed, id, written};
    use super::*;
    use books::sums::Moved;
    use rules::account::AccountType;

    fn chart() -> Chart {
        use AccountType::{Bank, Equity, Expense, FixedAsset, Income, Receivable};
        let all =
            [(1010, Bank), (1200, Receivable), (1500, FixedAsset), (3000, Equity), (4000, Income), (6000, Expense)];
        Chart(all.map(|(code, r#type)| account(code, r#type)).to_vec())
    }

    fn at(balances: &[(u128, i64)]) -> HashMap<RecordId, i64> {
        balances.iter().map(|(code, cents)| (id(*code), cents * 100)).collect()
    }

    #[test]
    fn equity_moves_by_what_owners_bring_and_what_is_earned() {
        let moved = [(3000, 1_000, 6_000), (4000, 0, 3_000), (6000, 4_000, 0), (1010, 8_000, 4_000)];
        let moved = moved.map(|(code, debit, credit)| (id(code), Moved { debit: debit * 100, credit: credit * 100 }));
        let facts = Changed {
            chart: chart(),
            own: Own(2),
            before: at(&[(1010, 7_000), (3000, -5_000), (4000, -2_000)]),
            moved: moved.into_iter().collect(),
            after: at(&[(1010, 11_000), (3000, -10_000), (4000, -5_000), (6000, 4_000)]),
        };
        let sheet = EquityChanges::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(
            written(&sheet),
            ["3000 50.00 60.00 10.00 100.00", "earnings 20.00 0.00 10.00 10.00", "total 70.00 60.00 20.00 110.00"]
        );
        assert_eq!(failed(&sheet), Vec::<String>::new());
    }

    #[test]
    fn what_currencies_gained_is_told_by_what_did_it() {
        let by = |kinds: &[(&str, i64)]| kinds.iter().map(|(kind, cents)| ((*kind).to_owned(), cents * 100)).collect();
        let facts = Gained {
            own: Own(2),
            parts: [(by(&[("payment", -150), ("receipt", 400)]), 25_000), (by(&[("revaluation", -30)]), -2_900)],
        };
        let sheet = FxGains::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(
            written(&sheet),
            [
                "realised 2.50",
                "  payment -1.50",
                "  receipt 4.00",
                "unrealised -0.30",
                "  revaluation -0.30",
                "total 2.20"
            ]
        );
        assert_eq!(failed(&sheet), ["Unrealised: the documents are what the account was moved by: -0.30 -0.29"]);
    }
}

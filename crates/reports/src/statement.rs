//! The statement of a party: what was open with it, what happened, and what is open then.

use super::Report;
use super::aging::{Coins, Sums, control_accounts, documents_of, of_currency, of_party, open_with};
use super::asked::{Asked, CURRENCY, FORMAT, FROM, FROM_DATE, KNOWN_AT, THE_PARTY, TO, TO_DATE};
use super::form::{Example, Form, Holds};
use super::sheet::{Cell, Row, RowType, Sheet};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::balances::{last_known, sum};
use books::cx::Cx;
use kit::list::Parameter;
use rules::account::AccountType;
use schema::tables::{DocumentKind, entries, entry_lines, own_amount};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect};
use std::collections::HashMap;
use words::sown::{Fault, sown};

pub(super) struct PartyStatement;

answers::of_row! {
    /// What a document did on a day, in one currency.
    #[derive(Debug, Clone)]
    struct Happened {
        date: Day,
        document_id: RecordId,
        currency: String,
        own: i64,
        base: i64,
    }
}

pub(super) struct Stated {
    coins: Coins,
    opening: Sums,
    lines: Vec<Happened>,
    named: HashMap<RecordId, (DocumentKind, Option<String>)>,
    party: RecordId,
    /// What is open with the party at the end, computed apart.
    open: Sums,
}

impl Report for PartyStatement {
    const NAME: &'static str = "party-statement";
    const OPERATION: &'static str = "PartyStatement";
    const TITLE: &'static str = "Statement of a party";
    const ABOUT: &'static str = "What was open with a party before a period, what happened in it, and what is open \
                                 then. What it owes is positive. Everything is in the company's currency, beside what \
                                 it is in its own; with `currency` only what is in that one, in it.";
    const PARAMETERS: &'static [Parameter] = &[THE_PARTY, FROM, TO, FROM_DATE, TO_DATE, CURRENCY, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("date", "Date", Holds::Day),
            ("amount", "Amount", Holds::Amount),
            ("balance", "Open", Holds::Amount),
            ("currency", "Currency", Holds::Text),
            ("amountCurrency", "In that currency", Holds::Amount),
            ("baseAmount", "In the company's currency", Holds::Amount),
            ("baseBalance", "Open in the company's currency", Holds::Amount),
        ],
        varying: None,
        totals: &[
            ("opening", "Open before", Holds::Amount),
            ("moved", "What was added", Holds::Amount),
            ("closing", "Open then", Holds::Amount),
            ("baseOpening", "Open before, in the company's currency", Holds::Amount),
            ("baseMoved", "What was added, in the company's currency", Holds::Amount),
            ("baseClosing", "Open then, in the company's currency", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Subtotal, "opening", "Open before", &["2026-01-01", "", "0.00", "", "", "", "0.00"]),
                (
                    RowType::Document,
                    "019a9f6e-6c00-7b23-8c12-7e9fb0213c24",
                    "INV-2026-0042",
                    &["2026-11-20", "27490.00", "27490.00", "EUR", "27490.00", "27490.00", "27490.00"],
                ),
            ],
            totals: &["0.00", "27490.00", "27490.00", "0.00", "27490.00", "27490.00"],
            check: ("What is open then equals the party's open items", Holds::Amount, "27490.00"),
        },
    };
    type Facts = Stated;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Stated> {
        let (business, aliases) = (cx.business_id()?, asked.aliases(cx)?);
        let party = asked.party.ok_or_else(|| Error::field("partyId", "is required"))?;
        let mut controls = control_accounts(cx, AccountType::Receivable).await?;
        controls.extend(control_accounts(cx, AccountType::Payable).await?);
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let mut lines = entry_lines::Entity::find()
            .select_only()
            .column(entry_lines::Column::Date)
            .column(entries::Column::DocumentId)
            .column(entry_lines::Column::Currency)
            .column_as(sum(cx, own_amount()), "own")
            .column_as(sum(cx, Expr::col((entry_lines::Entity, entry_lines::Column::Amount))), "base")
            .join(
                JoinType::InnerJoin,
                entry_lines::Entity::belongs_to(entries::Entity)
                    .from((entry_lines::Column::BusinessId, entry_lines::Column::EntryNumber))
                    .to((entries::Column::BusinessId, entries::Column::Number))
                    .into(),
            )
            .filter(entry_lines::Column::BusinessId.eq(business))
            .filter(entry_lines::Column::AccountId.is_in(controls.iter().copied()))
            .filter(aliases.is(entry_lines::Column::PartyId, party))
            .filter(entry_lines::Column::Date.between(from, to));
        let currency = asked.currency.as_deref().filter(|_| !sown(Fault::StatementInBase));
        if let Some(currency) = currency {
            lines = lines.filter(entry_lines::Column::Currency.eq(currency));
        }
        if let Some(known) = last_known(cx, asked.point).await? {
            lines = lines.filter(entry_lines::Column::EntryNumber.lte(known));
        }
        let lines: Vec<Happened> = lines
            .group_by(entry_lines::Column::Date)
            .group_by(entries::Column::DocumentId)
            .group_by(entry_lines::Column::Currency)
            .order_by_asc(entry_lines::Column::Date)
            .order_by_asc(entries::Column::DocumentId)
            .order_by_asc(entry_lines::Column::Currency)
            .read(&cx.db)
            .await?;
        let lines: Vec<Happened> = lines.into_iter().filter(|line| (line.own, line.base) != (0, 0)).collect();
        Ok(Stated {
            coins: Coins::of(cx, asked)?,
            opening: of_party(cx, &controls, (&aliases, party), from.previous(), asked).await?,
            named: documents_of(cx, lines.iter().map(|line| line.document_id)).await?,
            lines,
            party: party.id(),
            open: open_with(cx, &controls, (&aliases, party), asked, currency).await?,
        })
    }

    fn fold(facts: Stated, asked: &Asked) -> Result<Sheet> {
        let Stated { coins, opening, lines, named, party, open } = facts;
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let total = |key: &str, label: &str, day: Day, balance: Sums| {
            let mut values = vec![Cell::Day(day), Cell::Nothing, coins.asked.cell(balance.asked(asked))];
            values.extend([Cell::Nothing, Cell::Nothing, Cell::Nothing, coins.base.cell(balance.base)]);
            Row { party_id: Some(party), ..Row::total(RowType::Subtotal, key, label, values) }
        };
        let mut rows = vec![total("opening", "Open before", from, opening)];
        let mut balance = opening;
        for line in &lines {
            let moved = Sums { own: line.own, base: line.base };
            balance = balance.plus(moved);
            let (kind, number) = named.get(&line.document_id).cloned().unzip();
            let values = vec![
                Cell::Day(line.date),
                coins.asked.cell(moved.asked(asked)),
                coins.asked.cell(balance.asked(asked)),
                Cell::Text(line.currency.clone()),
                of_currency(&line.currency)?.cell(line.own),
                coins.base.cell(line.base),
                coins.base.cell(balance.base),
            ];
            let number = number.flatten();
            let label = number.as_deref().unwrap_or("without a number");
            rows.push(Row {
                party_id: Some(party),
                document_id: Some(line.document_id),
                document_type: kind,
                ..Row::total(RowType::Document, &line.document_id.to_string(), label, values)
            });
        }
        rows.push(total("closing", "Open then", to, balance));
        let moved = lines.iter().fold(Sums::default(), |sums, line| sums.plus(Sums { own: line.own, base: line.base }));
        let totals = [("opening", opening), ("moved", moved), ("closing", balance)];
        let in_asked = totals.map(|(key, sums)| (key.to_owned(), coins.asked.cell(sums.asked(asked))));
        let in_base = [("baseOpening", opening), ("baseMoved", moved), ("baseClosing", balance)]
            .map(|(key, sums)| (key.to_owned(), coins.base.cell(sums.base)));
        let mut checks = vec![coins.asked.check(
            "What is open then equals the party's open items",
            balance.asked(asked),
            open.asked(asked),
        )];
        if asked.currency.is_some() {
            let name = "In the company's currency it equals what they are carried at";
            checks.push(coins.base.check(name, balance.base, open.base));
        }
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: in_asked.into_iter().chain(in_base).collect(),
            checks,
            ..Sheet::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{asked, failed, id, written};
    use super::super::sheet::Own;
    use super::*;

    fn stated(open: Sums) -> Stated {
        let happened = |day: &str, document, own, base| Happened {
            date: day.parse().unwrap(),
            document_id: id(document),
            currency: "USD".into(),
            own,
            base,
        };
        Stated {
            coins: Coins { asked: Own(2), base: Own(2) },
            opening: Sums { own: 10_000, base: 9_000 },
            lines: vec![happened("2026-03-04", 31, 120_000, 108_000), happened("2026-03-09", 32, -130_000, -117_000)],
            named: HashMap::from([(id(31), (DocumentKind::SalesInvoice, Some("INV-31".into())))]),
            party: id(1),
            open,
        }
    }

    #[test]
    fn a_statement_runs_from_what_was_open_to_what_is() {
        let in_base = asked("2026-03-01", "2026-03-31");
        let sheet = PartyStatement::fold(stated(Sums::default()), &in_base).unwrap();
        assert_eq!(
            written(&sheet),
            [
                "opening \"2026-03-01\" null 0.90 null null null 0.90",
                "INV-31 \"2026-03-04\" 10.80 11.70 \"USD\" 12.00 10.80 11.70",
                "without a number \"2026-03-09\" -11.70 0.00 \"USD\" -13.00 -11.70 0.00",
                "closing \"2026-03-31\" null 0.00 null null null 0.00",
            ]
        );
        assert_eq!(failed(&sheet), Vec::<String>::new());
        let strange = stated(Sums { own: 0, base: 100 });
        assert_eq!(failed(&PartyStatement::fold(strange, &in_base).unwrap()).len(), 1);
    }

    #[test]
    fn a_statement_in_a_currency_is_in_it_and_beside_that_in_the_companys() {
        let in_dollars = Asked { currency: Some("USD".into()), ..asked("2026-03-01", "2026-03-31") };
        let sheet = PartyStatement::fold(stated(Sums::default()), &in_dollars).unwrap();
        assert_eq!(
            written(&sheet),
            [
                "opening \"2026-03-01\" null 1.00 null null null 0.90",
                "INV-31 \"2026-03-04\" 12.00 13.00 \"USD\" 12.00 10.80 11.70",
                "without a number \"2026-03-09\" -13.00 0.00 \"USD\" -13.00 -11.70 0.00",
                "closing \"2026-03-31\" null 0.00 null null null 0.00",
            ]
        );
        assert_eq!(failed(&sheet), Vec::<String>::new());
        for strange in [Sums { own: 100, base: 0 }, Sums { own: 0, base: 100 }] {
            assert_eq!(failed(&PartyStatement::fold(stated(strange), &in_dollars).unwrap()).len(), 1);
        }
    }
}

//! Tax, fact by fact.

use super::super::Report;
use super::super::aging::documents_of;
use super::super::asked::{Asked, FORMAT, FROM, FROM_DATE, KNOWN_AT, Mark, TAX_BASIS, TAX_CODE, TO, TO_DATE};
use super::super::form::{Example, Form, Holds};
use super::super::sheet::{Cell, Own, Row, RowType, Sheet};
use super::cash;
use super::facts::{Sum, Taxes, check_beginning, code_names, moved, narrowed, of_span};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::cx::Cx;
use kit::list::Parameter;
use rules::tax::facts::TaxDuty;
use schema::aliases::Aliases;
use schema::tables::{DocumentKind, tax_facts};
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use std::collections::{BTreeMap, HashMap};
use tax_facts::Column;

pub(in super::super) struct TaxDetail;

pub(in super::super) struct Detailed {
    own: Own,
    facts: Vec<tax_facts::Model>,
    aliases: Aliases,
    /// Whether one of them may be told in shares of several days.
    by_share: bool,
    codes: HashMap<RecordId, String>,
    named: HashMap<RecordId, (DocumentKind, Option<String>)>,
    count: u64,
    /// What is to be paid, by all pages.
    net: i64,
    told: i64,
    posted: i64,
}

/// Facts after the one that a portion ended with.
fn after(mark: &Mark) -> Condition {
    let later = Condition::any()
        .add(Column::Date.gt(mark.date))
        .add(Column::EntryNumber.gt(mark.number))
        .add(Condition::all().add(Column::EntryNumber.eq(mark.number)).add(Column::Place.gt(mark.position)));
    Condition::all().add(Column::Date.gte(mark.date)).add(later)
}

type Selected = Select<tax_facts::Entity>;

/// A page of what was written, and of how many rows.
async fn written(cx: &Cx<'_>, asked: &Asked, mut facts: Selected) -> Result<(Vec<tax_facts::Model>, u64)> {
    let count = if asked.is_page() { facts.clone().column(Column::Place).count(&cx.db).await? } else { 0 };
    if let Some(mark) = asked.mark() {
        facts = facts.filter(after(mark));
    }
    let (limit, offset) = asked.limits();
    let facts = facts
        .columns(<Column as sea_orm::Iterable>::iter())
        .order_by_asc(Column::Date)
        .order_by_asc(Column::EntryNumber)
        .order_by_asc(Column::Place)
        .limit(limit)
        .offset(offset);
    Ok((facts.models(&cx.db).await?, count))
}

/// The same of what counts, where some of it counts when it is settled, and what the rows of all pages say that is moved.
async fn settled(cx: &Cx<'_>, asked: &Asked, facts: Selected) -> Result<(Vec<tax_facts::Model>, u64, i64)> {
    let all = facts.columns(<Column as sea_orm::Iterable>::iter()).models(&cx.db).await?;
    let mut facts = cash::detailed(cx, asked, all).await?;
    let told = facts.iter().map(|fact| moved(fact.duty, fact.home_tax.units())).sum();
    let count = u64::try_from(facts.len()).map_err(Error::internal)?;
    if let Some(mark) = asked.mark() {
        let last = (mark.date, mark.number, mark.position);
        facts.retain(|fact| (fact.date, fact.entry_number, fact.place) > last);
    }
    let (limit, offset) = asked.limits();
    let place = |number: u64| usize::try_from(number).map_err(Error::internal);
    Ok((facts.into_iter().skip(place(offset)?).take(place(limit)?).collect(), count, told))
}

impl Report for TaxDetail {
    const NAME: &'static str = "tax-detail";
    const OPERATION: &'static str = "TaxDetail";
    const TITLE: &'static str = "Tax, line by line";
    const ABOUT: &'static str = "Everything that is known of tax in a period, in pages: one row for each line and \
                                 component that is taxed or could have been, and for what moves accounts of tax without \
                                 being tax. What counts when it is settled has a row for each share, on its day.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, TAX_CODE, TAX_BASIS, KNOWN_AT, FORMAT];
    const PAGED: bool = true;
    const FORM: Form = Form {
        columns: &[
            ("date", "Counts for", Holds::Day),
            ("taxCode", "Tax code", Holds::Text),
            ("component", "Component", Holds::Text),
            ("side", "On", Holds::Text),
            ("duty", "Is", Holds::Text),
            ("origin", "Made by", Holds::Text),
            ("rate", "Rate", Holds::Percent),
            ("base", "Without tax", Holds::Amount),
            ("tax", "Tax", Holds::Amount),
            ("notRecoverable", "Cannot be claimed", Holds::Amount),
        ],
        varying: None,
        totals: &[("netTax", "Tax to be paid", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[(
                RowType::Line,
                "1042-3",
                "INV-2026-0042",
                &[
                    "2026-11-20",
                    "VAT20 VAT 20 %",
                    "VAT",
                    "sale",
                    "owed",
                    "document",
                    "20",
                    "22500.00",
                    "4500.00",
                    "0.00",
                ],
            )],
            totals: &["4500.00"],
            check: ("The tax is what the ledger lines move that carry it", Holds::Amount, "-4500.00"),
        },
    };
    type Facts = Detailed;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Detailed> {
        check_beginning(cx, asked).await?;
        // The figures of the whole stand on the first page as on the last; a portion of many has none.
        let whole = if asked.is_page() { Some(Taxes::of(cx, asked).await?) } else { None };
        let facts = narrowed(of_span(cx, asked).await?, asked);
        let by_share = cash::is_asked(asked, &cx.business()?.settings);
        let (facts, count, told) = if by_share {
            let (facts, count, of_rows) = settled(cx, asked, facts).await?;
            // What is told in shares is held against the ledger by what was written instead.
            let by_cash = whole.iter().flat_map(|whole| &whole.by_cash).map(Sum::moved).sum::<i64>();
            (facts, count, whole.iter().map(|_| of_rows - by_cash).sum())
        } else {
            let (facts, count) = written(cx, asked, facts).await?;
            (facts, count, whole.iter().map(Taxes::told).sum())
        };
        let of = |duty| {
            let sums = whole.iter().flat_map(Taxes::counting).filter(move |sum| !sum.is_carry() && sum.duty == duty);
            sums.map(|sum| sum.tax).sum::<i64>()
        };
        let net = of(TaxDuty::Owed) - of(TaxDuty::Claimed);
        Ok(Detailed {
            own: Own(cx.business()?.currency_decimals),
            named: documents_of(cx, facts.iter().map(|fact| fact.document_id)).await?,
            codes: code_names(cx).await?,
            aliases: asked.aliases(cx)?,
            facts,
            by_share,
            count,
            net,
            told,
            posted: whole.iter().map(|whole| whole.posted).sum(),
        })
    }

    fn fold(detailed: Detailed, _: &Asked) -> Result<Sheet> {
        let Detailed { own, facts, aliases, by_share, codes, named, count, net, told, posted } = detailed;
        let row = |fact: &tax_facts::Model| {
            let place = format!("{}-{}", fact.entry_number, fact.place);
            let (kind, number) = named.get(&fact.document_id).cloned().unzip();
            let text = |text: Option<&String>| text.map_or(Cell::Nothing, |text| Cell::Text(text.clone()));
            let values = vec![
                Cell::Day(fact.date),
                text(fact.tax_code_id.and_then(|id| codes.get(&id))),
                text(fact.component.as_ref()),
                Cell::Text(fact.side.to_string()),
                Cell::Text(fact.duty.to_string()),
                Cell::Text(fact.origin.to_string()),
                fact.rate.map_or(Cell::Nothing, Cell::Percent),
                own.cell(fact.home_base.units()),
                own.cell(fact.home_tax.units()),
                own.cell(fact.not_recoverable.units()),
            ];
            Row {
                account_id: fact.account_id,
                party_id: fact.party_id.map(|party| aliases.of(party)),
                document_id: Some(fact.document_id),
                document_type: kind,
                ..Row::total(
                    RowType::Line,
                    &if by_share { format!("{place}-{}", fact.date) } else { place },
                    number.flatten().as_deref().unwrap_or("without a number"),
                    values,
                )
            }
        };
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows: facts.iter().map(row).collect(),
            totals: BTreeMap::from([("netTax".to_owned(), own.cell(net))]),
            checks: vec![own.check("The tax is what the ledger lines move that carry it", told, posted)],
            count: Some(count),
            next: facts.last().map(|fact| Mark {
                date: fact.date,
                number: fact.entry_number,
                position: fact.place,
                ..Mark::default()
            }),
        })
    }
}

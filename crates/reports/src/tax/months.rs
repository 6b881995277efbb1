//! What facts of some days say, from what is kept by month: only the days at the ends, and what was not known yet, are
//! read fact by fact.

use super::super::asked::Asked;
use super::facts::{Sum, narrowed};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::balances::{last_known, sum};
use books::cx::Cx;
use books::sums::Parts;
use rules::tax::TaxKind;
use rules::tax::facts::{TaxDuty, TaxOrigin, TaxSide};
use schema::tables::{entry_lines, tax_facts, tax_months};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QuerySelect, QueryTrait};
use std::collections::BTreeMap;
use words::sums::SummedUp as _;

/// What facts come to, by what tells them apart, and what their ledger lines move, a debit positive.
pub(super) struct Told {
    pub(super) sums: Vec<Sum>,
    pub(super) posted: i64,
}

answers::of_row! {
    struct OfMonths {
        tax_code_id: RecordId,
        component_id: RecordId,
        component: String,
        side: TaxSide,
        duty: TaxDuty,
        origin: TaxOrigin,
        kind: String,
        base_box: String,
        tax_box: String,
        base: i64,
        base_beside: i64,
        tax: i64,
        not_recoverable: i64,
        posted: i64,
    }
}

answers::of_row! {
    struct OfFacts {
        tax_code_id: Option<RecordId>,
        component_id: Option<RecordId>,
        component: Option<String>,
        side: TaxSide,
        duty: TaxDuty,
        origin: TaxOrigin,
        kind: Option<TaxKind>,
        leads: bool,
        base_box: Option<String>,
        tax_box: Option<String>,
        base: i64,
        tax: i64,
        not_recoverable: i64,
    }
}

type Key = (Option<RecordId>, Option<RecordId>, [Option<String>; 3], [String; 3], Option<String>, bool);

#[derive(Default)]
struct Gathered(BTreeMap<Key, Sum>);

impl Gathered {
    fn add(&mut self, sum: Sum, sign: i64) {
        let texts = [&sum.component, &sum.base_box, &sum.tax_box].map(Clone::clone);
        let words = [sum.side.to_string(), sum.duty.to_string(), sum.origin.to_string()];
        let kind = sum.kind.map(|kind| kind.to_string());
        let key = (sum.tax_code_id, sum.component_id, texts, words, kind, sum.leads);
        let [base, tax, not_recoverable] = [sum.base, sum.tax, sum.not_recoverable].map(|figure| figure * sign);
        let known = self.0.entry(key).or_insert(Sum { base: 0, tax: 0, not_recoverable: 0, ..sum });
        known.base += base;
        known.tax += tax;
        known.not_recoverable += not_recoverable;
    }
}

pub(super) async fn told(cx: &Cx<'_>, asked: &Asked) -> Result<Told> {
    let mut gathered = Gathered::default();
    let mut posted = 0;
    let Parts { months, days } = asked.span.parts();
    let known = last_known(cx, asked.point).await?;
    if let Some(months) = months {
        for row in of_months(cx, asked, months.of(tax_months::Column::Month)).await? {
            posted += row.posted;
            let (leads, beside) = row.sums()?;
            gathered.add(leads, 1);
            if beside.base != 0 {
                gathered.add(beside, 1);
            }
        }
        if let Some(known) = known {
            // What was not known yet is in the months as well.
            let since = months.days(tax_facts::Column::Date).add(tax_facts::Column::EntryNumber.gt(known));
            let (sums, moved) = of_facts(cx, asked, since).await?;
            for sum in sums {
                gathered.add(sum, -1);
            }
            posted -= moved;
            gathered.0.retain(|_, sum| [sum.base, sum.tax, sum.not_recoverable] != [0; 3]);
        }
    }
    if !days.is_empty() {
        let days = days.into_iter().map(|[first, last]| tax_facts::Column::Date.between(first, last));
        let mut rest = Condition::all().add(days.fold(Condition::any(), Condition::add));
        if let Some(known) = known {
            rest = rest.add(tax_facts::Column::EntryNumber.lte(known));
        }
        let (sums, moved) = of_facts(cx, asked, rest).await?;
        for sum in sums {
            gathered.add(sum, 1);
        }
        posted += moved;
    }
    Ok(Told { sums: gathered.0.into_values().collect(), posted })
}

impl OfMonths {
    /// What leads its line, with all of the tax, and what stands beside it.
    fn sums(self) -> Result<(Sum, Sum)> {
        let record = |id: RecordId| Some(id).filter(|id| *id != RecordId::NONE);
        let text = |text: String| Some(text).filter(|text| !text.is_empty());
        let kind = text(self.kind).map(|kind| kind.parse::<TaxKind>());
        let leads = Sum {
            tax_code_id: record(self.tax_code_id),
            component_id: record(self.component_id),
            component: text(self.component),
            side: self.side,
            duty: self.duty,
            origin: self.origin,
            kind: kind.transpose().map_err(|_| Error::internal("a sum of tax is of a kind there is not"))?,
            leads: true,
            base_box: text(self.base_box),
            tax_box: text(self.tax_box),
            base: self.base,
            tax: self.tax,
            not_recoverable: self.not_recoverable,
        };
        let beside = Sum { leads: false, base: self.base_beside, tax: 0, not_recoverable: 0, ..leads.clone() };
        Ok((leads, beside))
    }
}

async fn of_months(cx: &Cx<'_>, asked: &Asked, months: Condition) -> Result<Vec<OfMonths>> {
    use tax_months::Column as C;
    let keys =
        [C::TaxCodeId, C::ComponentId, C::Component, C::Side, C::Duty, C::Origin, C::Kind, C::BaseBox, C::TaxBox];
    let mut rows = tax_months::Entity::find()
        .select_only()
        .columns(keys)
        .column_as(sum(cx, Expr::col(C::Base)), "base")
        .column_as(sum(cx, Expr::col(C::BaseBeside)), "base_beside")
        .column_as(sum(cx, Expr::col(C::Tax)), "tax")
        .column_as(sum(cx, Expr::col(C::NotRecoverable)), "not_recoverable")
        .column_as(sum(cx, Expr::col(C::Posted)), "posted")
        .filter(C::BusinessId.eq(cx.business_id()?))
        .filter(C::Origin.ne(TaxOrigin::Opening.to_string()))
        .filter(months);
    if let Some(code) = asked.tax_code {
        rows = rows.filter(C::TaxCodeId.eq(code));
    }
    for key in keys {
        rows = rows.group_by(key);
    }
    Ok(rows.read(&cx.db).await?)
}

/// What some facts come to, and what the ledger lines move that they name.
async fn of_facts(cx: &Cx<'_>, asked: &Asked, which: Condition) -> Result<(Vec<Sum>, i64)> {
    use tax_facts::Column as C;
    let keys = [
        C::TaxCodeId,
        C::ComponentId,
        C::Component,
        C::Side,
        C::Duty,
        C::Origin,
        C::Kind,
        C::Leads,
        C::BaseBox,
        C::TaxBox,
    ];
    let some = || -> Result<_> {
        let of_company = tax_facts::Entity::find()
            .select_only()
            .filter(C::BusinessId.eq(cx.business_id()?))
            .filter(C::Origin.ne(TaxOrigin::Opening))
            .filter(which.clone());
        Ok(narrowed(of_company, asked))
    };
    let mut rows = some()?
        .columns(keys)
        .column_as(sum(cx, Expr::col(C::HomeBase)), "base")
        .column_as(sum(cx, Expr::col(C::HomeTax)), "tax")
        .column_as(sum(cx, Expr::col(C::NotRecoverable)), "not_recoverable");
    for key in keys {
        rows = rows.group_by(key);
    }
    let rows: Vec<OfFacts> = rows.read(&cx.db).await?;
    let sums = rows.into_iter().map(|row| Sum {
        tax_code_id: row.tax_code_id,
        component_id: row.component_id,
        component: row.component,
        side: row.side,
        duty: row.duty,
        origin: row.origin,
        kind: row.kind,
        leads: row.leads,
        base_box: row.base_box,
        tax_box: row.tax_box,
        base: row.base,
        tax: row.tax,
        not_recoverable: row.not_recoverable,
    });
    let place = |column| Expr::col((tax_facts::Entity, column));
    let line = |column| (entry_lines::Entity, column);
    let named = some()?
        .column(C::Place)
        .filter(place(C::EntryNumber).equals(line(entry_lines::Column::EntryNumber)))
        .filter(place(C::Position).equals(line(entry_lines::Column::Position)));
    // Each line once, however many facts name it.
    let moved: Option<Option<i64>> = entry_lines::Entity::find()
        .select_only()
        .column_as(sum(cx, Expr::col(line(entry_lines::Column::Amount))), "amount")
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::EntryNumber.in_subquery(some()?.column(C::EntryNumber).into_query()))
        .filter(Expr::exists(named.into_query()))
        .into_tuple()
        .one(&cx.db)
        .await?;
    Ok((sums.collect(), moved.summed_up()))
}

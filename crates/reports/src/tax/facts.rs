//! The facts of some days, as they were known, summed by what tells them apart.

use super::super::asked::Asked;
use super::{cash, months};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::balances::last_known;
use books::cx::Cx;
use rules::tax::TaxKind;
use rules::tax::facts::{TaxDuty, TaxOrigin, TaxSide};
use schema::tables::{entries, tax_beginnings, tax_facts};
use schema::tax_code as codes;
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter, QuerySelect, Select};
use std::collections::HashMap;
use tax_facts::Column;

/// Facts that say the same of tax, in the company's currency.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub(super) tax_code_id: Option<RecordId>,
    pub(super) component_id: Option<RecordId>,
    pub(super) component: Option<String>,
    pub(super) side: TaxSide,
    pub(super) duty: TaxDuty,
    pub(super) origin: TaxOrigin,
    pub(super) kind: Option<TaxKind>,
    pub(super) leads: bool,
    pub(super) base_box: Option<String>,
    pub(super) tax_box: Option<String>,
    pub(super) base: i64,
    pub(super) tax: i64,
    pub(super) not_recoverable: i64,
}

/// What a tax moves on its account, a debit positive.
pub(super) const fn moved(duty: TaxDuty, tax: i64) -> i64 {
    match duty {
        TaxDuty::Owed | TaxDuty::WithheldByUs => -tax,
        TaxDuty::Claimed | TaxDuty::WithheldFromUs => tax,
        TaxDuty::None => 0,
    }
}

impl Sum {
    /// What it moves on its account, a debit positive.
    pub(super) const fn moved(&self) -> i64 {
        moved(self.duty, self.tax)
    }

    /// Whether it moves an account of tax without being tax.
    pub(super) fn is_carry(&self) -> bool {
        self.origin == TaxOrigin::Carry
    }

    /// Whether it only shows what will be kept back.
    pub(super) fn only_shows(&self) -> bool {
        self.kind == Some(TaxKind::Withholding) && self.duty == TaxDuty::None
    }
}

/// What some days come to, and what their ledger lines say of it.
pub(in super::super) struct Taxes {
    pub(super) sums: Vec<Sum>,
    pub(super) codes: HashMap<RecordId, String>,
    /// What of documents on cash basis was written in these days, taken off, and what of them counts.
    pub(super) by_cash: Vec<Sum>,
    /// What the ledger lines of these facts move, a debit positive.
    pub(super) posted: i64,
}

impl Taxes {
    pub(super) async fn of(cx: &Cx<'_>, asked: &Asked) -> Result<Self> {
        check_beginning(cx, asked).await?;
        let told = months::told(cx, asked).await?;
        let mut by_cash = Vec::new();
        if cash::is_asked(asked, &cx.business()?.settings) {
            let (counted, written) = cash::counted(cx, asked).await?;
            by_cash.extend(counted);
            by_cash.extend(written);
        }
        Ok(Self { sums: told.sums, by_cash, codes: code_names(cx).await?, posted: told.posted })
    }

    /// All that counts in these days.
    pub(super) fn counting(&self) -> impl Iterator<Item = &Sum> {
        self.sums.iter().chain(&self.by_cash)
    }

    /// What the facts say that their ledger lines must move.
    pub(super) fn told(&self) -> i64 {
        self.sums.iter().map(Sum::moved).sum()
    }

    /// What a code is called; lines without one have a name of their own.
    pub(super) fn name_of(&self, code: Option<RecordId>) -> (String, String) {
        match code {
            Some(id) => (id.to_string(), self.codes.get(&id).map_or_else(String::new, Clone::clone)),
            None => ("none".into(), "Without a tax code".into()),
        }
    }
}

/// What is told in these days; what other books have told of is not.
pub(super) async fn of_span(cx: &Cx<'_>, asked: &Asked) -> Result<Select<tax_facts::Entity>> {
    let mut facts = tax_facts::Entity::find()
        .select_only()
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(Column::Origin.ne(TaxOrigin::Opening))
        .filter(Column::Date.lte(asked.span.to));
    if let Some(from) = asked.span.from {
        facts = facts.filter(Column::Date.gte(from));
    }
    if let Some(known) = last_known(cx, asked.point).await? {
        facts = facts.filter(Column::EntryNumber.lte(known));
    }
    Ok(facts)
}

pub(super) fn narrowed(facts: Select<tax_facts::Entity>, asked: &Asked) -> Select<tax_facts::Entity> {
    match asked.tax_code {
        Some(code) => facts.filter(Column::TaxCodeId.eq(code)),
        None => facts,
    }
}

/// Books of before there were facts of tax say nothing here of what was not taxed: they are named, and not silently empty.
pub(super) async fn check_beginning(cx: &Cx<'_>, asked: &Asked) -> Result<()> {
    let beginning = tax_beginnings::Entity::find_by_id(cx.business_id()?).model(&cx.db).await?;
    let Some(beginning) = beginning.filter(|row| row.entry_number > 0) else { return Ok(()) };
    let mut before = entries::Entity::find()
        .filter(entries::Column::BusinessId.eq(beginning.business_id))
        .filter(entries::Column::Number.lte(beginning.entry_number))
        .filter(entries::Column::Date.lte(asked.span.to));
    if let Some(from) = asked.span.from {
        before = before.filter(entries::Column::Date.gte(from));
    }
    if let Some(known) = last_known(cx, asked.point).await? {
        before = before.filter(entries::Column::Number.lte(known));
    }
    if before.limit(1).count(&cx.db).await? == 0 {
        return Ok(());
    }
    let number = beginning.entry_number;
    Err(Error::field(
        "from",
        format!(
            "reaches back to entries up to {number}, from before tax was kept line by line; ask for later days, or \
             convert the books with `duet convert`"
        ),
    ))
}

pub(super) async fn code_names(cx: &Cx<'_>) -> Result<HashMap<RecordId, String>> {
    let found: Vec<(RecordId, String, String)> = codes::Entity::find()
        .select_only()
        .columns([codes::Column::Id, codes::Column::Code, codes::Column::Name])
        .filter(codes::Column::BusinessId.eq(cx.business_id()?))
        .read(&cx.db)
        .await?;
    Ok(found.into_iter().map(|(id, code, name)| (id, format!("{code} {name}"))).collect())
}

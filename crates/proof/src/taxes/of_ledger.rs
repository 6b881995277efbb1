//! Facts beside the lines that the ledger has on accounts of tax, and boxes of returns beside the codes of their facts.

use super::super::{Check, PORTION, Range, shown};
use super::boxes::Boxes;
use super::facts::{Fact, Ledger};
use super::{beginning, codes, recorded};
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use schema::account as accounts;
use schema::account::Keeper;
use schema::reader::Reader;
use schema::tables::{entry_lines, tax_facts};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::HashSet;
use words::sums::SummedUp as _;

/// Facts beside the ledger's lines, entry by entry, as far as they were read.
#[derive(Default)]
pub struct OfLedger {
    ledger: Ledger,
    boxes: Boxes,
}

impl OfLedger {
    pub async fn of_part(reader: &Reader<'_>, range: Range) -> Result<Self> {
        let (company, beginning, codes) = (reader.id(), beginning(reader).await?, codes(reader).await?);
        let (after, until) = range.all_entries();
        let of_tax: Vec<RecordId> = accounts::Entity::find()
            .select_only()
            .column(accounts::Column::Id)
            .filter(accounts::Column::BusinessId.eq(company))
            .filter(accounts::Column::Keeper.eq(Keeper::Tax))
            .column_of(&reader.db)
            .await?;
        let kept: HashSet<RecordId> = of_tax.into_iter().collect();
        let end = Ord::min(until, last_entry(reader).await?);
        let mut found = Self::default();
        let mut last = Ord::max(after, beginning);
        while last < until {
            let to = last.checked_add(PORTION.cast_signed()).filter(|next| *next < end).unwrap_or(until);
            let facts: Vec<Fact> = tax_facts::Entity::find()
                .select_only()
                .columns(Fact::COLUMNS)
                .filter(tax_facts::Column::BusinessId.eq(company))
                .filter(tax_facts::Column::EntryNumber.gt(last))
                .filter(tax_facts::Column::EntryNumber.lte(to))
                .order_by_asc(tax_facts::Column::EntryNumber)
                .order_by_asc(tax_facts::Column::Place)
                .read(&reader.db)
                .await?;
            found.boxes.compare(&facts, &codes, &recorded(reader, &codes, (last, to)).await?);
            let lines = entry_lines::Entity::find()
                .filter(entry_lines::Column::BusinessId.eq(company))
                .filter(entry_lines::Column::EntryNumber.gt(last))
                .filter(entry_lines::Column::EntryNumber.lte(to))
                .filter(entry_lines::Column::AccountId.is_in(kept.iter().copied()))
                .models(&reader.db)
                .await?;
            found.ledger.compare(&facts, &lines);
            reader.read(facts.len());
            last = to;
            reader.pause().await?;
        }
        Ok(found)
    }

    pub fn add(&mut self, behind: Self) {
        self.ledger.add(behind.ledger);
        self.boxes.add(behind.boxes);
    }

    pub fn checks(self) -> Vec<Check> {
        let Self { ledger, boxes } = self;
        vec![
            Check::of(
                "T1",
                "Every ledger line on an account of tax is the sum of the facts that name it",
                shown(ledger.told),
                shown(ledger.moved),
                ledger.findings,
            ),
            Check::of(
                "T3",
                "What stands in the boxes of returns is what has a box by its code",
                shown(boxes.told),
                shown(boxes.wanted),
                boxes.findings,
            ),
        ]
    }
}

async fn last_entry(reader: &Reader<'_>) -> Result<i64> {
    let last: Option<Option<i64>> = entry_lines::Entity::find()
        .select_only()
        .column_as(entry_lines::Column::EntryNumber.max(), "last")
        .filter(entry_lines::Column::BusinessId.eq(reader.id()))
        .into_tuple()
        .one(&reader.db)
        .await?;
    Ok(last.summed_up())
}

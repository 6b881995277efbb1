//! What discounts take off the tax of a document: its share of what the document is by now.
//!
//! Of documents of which nothing is credited: what is credited has days of its own, and the rules say what these are. A share
//! is looked at with all coins that rounding may have moved, line by line and discount by discount.

use super::super::{Wide, shown};
use super::Taxed;
use super::cash::Coin;
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use schema::reader::Reader;
use schema::tables::{
    DocumentStatus, Relation, TaxDuty, TaxKind, TaxOrigin, allocations, document_links, documents, tax_facts,
};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use words::sums::Sums as _;

/// What tells figures of a document apart, whatever line they are of.
type Key = (Option<RecordId>, Option<RecordId>, TaxDuty, bool);

/// Base, tax and what of it cannot be claimed, and which of these the other side pays.
#[derive(Clone, Copy, Default)]
struct Figures {
    sums: [Wide; 3],
    paid: [bool; 3],
}

const TAKEN_OFF: [TaxOrigin; 2] = [TaxOrigin::Discount, TaxOrigin::WriteOff];

/// What was taken off some documents, and which of them are credited.
pub(super) struct Taken {
    off: HashMap<RecordId, Vec<tax_facts::Model>>,
    credited: HashSet<RecordId>,
}

impl Taken {
    pub(super) async fn of(reader: &Reader<'_>, ids: &[RecordId]) -> Result<Self> {
        let rows = tax_facts::Entity::find()
            .filter(tax_facts::Column::BusinessId.eq(reader.id()))
            .filter(tax_facts::Column::SettlesId.is_in(ids.iter().copied()))
            .filter(tax_facts::Column::Origin.is_in(TAKEN_OFF))
            .models(&reader.db)
            .await?;
        let mut off: HashMap<RecordId, Vec<tax_facts::Model>> = HashMap::new();
        for row in rows {
            if let Some(of) = row.settles_id {
                off.entry(of).or_default().push(row);
            }
        }
        let links: Vec<(RecordId, RecordId)> = document_links::Entity::find()
            .select_only()
            .columns([document_links::Column::SourceDocumentId, document_links::Column::DocumentId])
            .filter(document_links::Column::BusinessId.eq(reader.id()))
            .filter(document_links::Column::SourceDocumentId.is_in(off.keys().copied()))
            .filter(document_links::Column::Relation.eq(Relation::Credits))
            .read(&reader.db)
            .await?;
        let live: Vec<RecordId> = documents::Entity::find()
            .select_only()
            .column(documents::Column::Id)
            .filter(documents::Column::BusinessId.eq(reader.id()))
            .filter(documents::Column::Id.is_in(links.iter().map(|(_, note)| *note)))
            .filter(documents::Column::Status.eq(DocumentStatus::Posted))
            .column_of(&reader.db)
            .await?;
        let live: HashSet<RecordId> = live.into_iter().collect();
        let credited = links.into_iter().filter(|(_, note)| live.contains(note)).map(|(of, _)| of).collect();
        Ok(Self { off, credited })
    }

    /// What is taken off a document otherwise than it should.
    pub(super) fn compare(
        &self,
        row: &Taxed,
        own: &[&tax_facts::Model],
        settled: &[&allocations::Model],
        coin: Coin,
    ) -> Vec<String> {
        let Some(off) = self.off.get(&row.id).filter(|_| !self.credited.contains(&row.id)) else { return Vec::new() };
        let mut left: BTreeMap<Key, Figures> = BTreeMap::new();
        for fact in own {
            let charged = matches!(fact.kind, Some(TaxKind::Standard | TaxKind::FixedPerUnit));
            let charged = charged && fact.duty != TaxDuty::None;
            let figures = left.entry(key(fact)).or_default();
            figures.paid = [fact.leads, charged, charged];
            for (sum, figure) in figures.sums.iter_mut().zip(self::figures(fact)) {
                *sum += figure;
            }
        }
        let all = paid(&left);
        let reducing: HashSet<(i64, TaxOrigin)> = off.iter().map(|fact| (fact.entry_number, fact.origin)).collect();
        let [mut wanted, mut told]: [BTreeMap<(Key, usize), Wide>; 2] = Default::default();
        let mut times = 1;
        for one in settled.iter().filter(|one| one.removed_on.is_none() && one.target_document_id == row.id) {
            let Some(entry) = one.entry.as_ref().map(|entry| entry.0.number) else { continue };
            let parts = [one.amount, one.discount, one.write_off, one.withheld];
            let settled: Wide = parts.iter().map(|part| Wide::from(part.units())).sum();
            for (amount, origin) in [(one.discount, TaxOrigin::Discount), (one.write_off, TaxOrigin::WriteOff)] {
                let whole = paid(&left);
                let nothing = whole == 0 || settled == 0 || whole.signum() != all.signum();
                if nothing || !reducing.contains(&(entry, origin)) {
                    continue;
                }
                let worth = coin.part(one.target_base.units().into(), amount.units().into(), settled).abs();
                let part = worth.min(whole.abs());
                times += 1;
                for (key, figures) in &mut left {
                    for (place, sum) in figures.sums.iter_mut().enumerate() {
                        let taken = coin.part(*sum, part, whole.abs());
                        *sum -= taken;
                        *wanted.entry((*key, place)).or_default() -= taken;
                    }
                }
            }
        }
        for fact in off {
            for (place, figure) in figures(fact).into_iter().enumerate() {
                *told.entry((key(fact), place)).or_default() += figure;
            }
        }
        // A coin for each share of each line, and what follows from it.
        let most = coin.smallest() * times * (1 + own.iter().map(|_| 1).sum::<Wide>());
        let keys: BTreeSet<(Key, usize)> = told.keys().chain(wanted.keys()).copied().collect();
        let odd = |key: &(Key, usize)| {
            let (found, wanted) = (told.sum_of(key), wanted.sum_of(key));
            let what = ["base", "tax", "tax that cannot be claimed"].get(key.1)?;
            let text = || {
                let (found, wanted) = (shown(-found), shown(-wanted));
                format!("{found} of its {what} is taken off by discounts, whose share is {wanted}")
            };
            Some((found - wanted).abs()).filter(|by| *by > most).map(|_| text())
        };
        keys.iter().filter_map(odd).collect()
    }
}

const fn key(fact: &tax_facts::Model) -> Key {
    (fact.tax_code_id, fact.component_id, fact.duty, fact.leads)
}

fn figures(fact: &tax_facts::Model) -> [Wide; 3] {
    [fact.home_base, fact.home_tax, fact.not_recoverable].map(|figure| figure.units().into())
}

/// What the other side pays of these.
fn paid(left: &BTreeMap<Key, Figures>) -> Wide {
    let of =
        |figures: &Figures| figures.sums.into_iter().zip(figures.paid).filter(|(_, paid)| *paid).map(|(sum, _)| sum);
    left.values().flat_map(of).sum()
}

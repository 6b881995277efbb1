//! Tax that waits: what of each document stands apart from the tax that is due is what its return leaves out, opening
//! documents included. So the ledger and the returns of the company tell the same. Where it waits, nothing is left of a
//! document that is settled: what was never paid lapsed.

use super::super::Wide;
use super::Taxed;
use super::cash::{Coin, Row, settle};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use schema::business::{SystemRole, TaxBasis};
use schema::reader::Reader;
use schema::tables::{TaxDuty, TaxKind, TaxOrigin, TaxSide, entries, facts_of, tax_facts};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, HashMap, HashSet};
use words::sums::Sums as _;

/// What tells rows of a document apart: whether it was given back, its line, its component, its duty and whether it leads.
type Apart = (bool, Option<RecordId>, Option<RecordId>, TaxDuty, bool);

/// What does not stand where it should.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// What was taken off the tax that is due.
    PutOff,
    /// What is left where it waits.
    Waits,
}

/// What of a document stands otherwise in the ledger than it should.
pub(super) struct Odd {
    pub(super) duty: TaxDuty,
    pub(super) what: What,
    pub(super) found: Wide,
    pub(super) wanted: Wide,
}

/// What was carried of some documents, and what tells on which basis their facts count.
pub(super) struct Carried {
    /// Whether a tax of this duty waits on an account of its own.
    apart: [(TaxDuty, bool); 2],
    /// Where tax of the company stands that is due.
    due: [RecordId; 2],
    /// What notes give back of discounts, and what was carried.
    others: HashMap<RecordId, Vec<tax_facts::Model>>,
    /// The days of what was taken back, by the entries that told it.
    origins: HashMap<RecordId, Day>,
    bases: Vec<(Day, TaxBasis)>,
}

impl Carried {
    pub(super) async fn of(
        reader: &Reader<'_>,
        ids: &[RecordId],
        facts: &HashMap<RecordId, Vec<&tax_facts::Model>>,
    ) -> Result<Self> {
        let (company, roles) = (reader.id(), &reader.company().system_accounts.0);
        let role = |role| roles.get(&role).copied().ok_or_else(|| Error::internal("no account takes tax that is due"));
        let apart = |own, due| roles.get(&own).is_some_and(|own| Some(own) != roles.get(&due));
        let others = tax_facts::Entity::find()
            .filter(tax_facts::Column::BusinessId.eq(company))
            .filter(facts_of(company, entries::Column::DocumentId.is_in(ids.iter().copied())))
            .filter(tax_facts::Column::Origin.is_in([TaxOrigin::Carry, TaxOrigin::Credited]))
            .models(&reader.db)
            .await?;
        let own = || ids.iter().flat_map(|id| facts.get(id).map_or(&[][..], Vec::as_slice)).copied();
        let taken: HashSet<RecordId> = own().chain(&others).filter_map(|fact| fact.takes_back_id).collect();
        let told: Vec<(RecordId, i64)> = entries::Entity::find()
            .select_only()
            .columns([entries::Column::Id, entries::Column::Number])
            .filter(entries::Column::BusinessId.eq(company))
            .filter(entries::Column::Id.is_in(taken))
            .read(&reader.db)
            .await?;
        let days: HashMap<i64, Day> = own().chain(&others).map(|fact| (fact.entry_number, fact.date)).collect();
        let origins = told.into_iter().filter_map(|(id, number)| Some((id, *days.get(&number)?))).collect();
        let bases = reader.company().settings.0.tax_basis.iter().map(|one| (one.valid_from, one.basis)).collect();
        let mut by_document: HashMap<RecordId, Vec<tax_facts::Model>> = HashMap::new();
        for other in others {
            by_document.entry(other.document_id).or_default().push(other);
        }
        Ok(Self {
            apart: [
                (TaxDuty::Owed, apart(SystemRole::OutputTaxNotDue, SystemRole::OutputTax)),
                (TaxDuty::Claimed, apart(SystemRole::InputTaxNotDue, SystemRole::InputTax)),
            ],
            due: [role(SystemRole::OutputTax)?, role(SystemRole::InputTax)?],
            others: by_document,
            origins,
            bases,
        })
    }

    /// Whether a fact counts as far as its document is settled.
    fn waits(&self, fact: &tax_facts::Model) -> bool {
        let day = fact.takes_back_id.and_then(|id| self.origins.get(&id)).copied().unwrap_or(fact.date);
        let begun = self.bases.iter().filter(|(from, _)| *from <= day).max_by_key(|(from, _)| *from);
        let by_settlement = match begun.map(|(_, basis)| *basis) {
            None | Some(TaxBasis::Invoice) => false,
            Some(TaxBasis::Cash) => true,
            Some(TaxBasis::CashSales) => fact.side == TaxSide::Sale,
        };
        by_settlement && fact.kind != Some(TaxKind::ReverseCharge)
    }

    /// Duty by duty, what stands apart of a document in the end, and what is left of it where it waits, beside what should.
    pub(super) fn compare(
        &self,
        row: &Taxed,
        facts: &[&tax_facts::Model],
        settlements: &[(Wide, bool)],
        coin: Coin,
    ) -> Vec<Odd> {
        let others = self.others.get(&row.id).map_or(&[][..], Vec::as_slice);
        let given_back = others.iter().filter(|fact| fact.origin == TaxOrigin::Credited);
        let all = || facts.iter().copied().chain(given_back.clone());
        let accounts: HashSet<RecordId> = all().filter_map(|fact| fact.account_id).chain(self.due).collect();
        let [mut told, mut left]: [BTreeMap<TaxDuty, Wide>; 2] = Default::default();
        for fact in others.iter().filter(|fact| fact.origin == TaxOrigin::Carry) {
            let Some(account) = fact.account_id else { continue };
            // What is carried is carried off an account of tax that is due, or stands where it waits.
            if accounts.contains(&account) {
                *told.entry(fact.duty).or_default() -= Wide::from(fact.home_tax.units());
            } else {
                *left.entry(fact.duty).or_default() += Wide::from(fact.home_tax.units());
            }
        }
        let mut rows: BTreeMap<Apart, Row> = BTreeMap::new();
        let [mut wanted, mut by_hand]: [BTreeMap<TaxDuty, Wide>; 2] = Default::default();
        for fact in all().filter(|fact| self.waits(fact)) {
            let own = fact.origin != TaxOrigin::Credited;
            let row = rows.entry((!own, fact.line_id, fact.component_id, fact.duty, fact.leads)).or_default();
            row.leads = own && fact.leads;
            row.charged = own && matches!(fact.kind, Some(TaxKind::Standard | TaxKind::FixedPerUnit));
            let figures = [fact.home_base, fact.home_tax, fact.not_recoverable];
            for (left, figure) in row.left.iter_mut().zip(figures) {
                *left += Wide::from(figure.units());
            }
            // What other books have posted stands on no account of these; where it waits it was put by hand.
            if fact.origin == TaxOrigin::Opening {
                *by_hand.entry(fact.duty).or_default() += Wide::from(fact.home_tax.units());
            } else if fact.account_id.is_some() {
                *wanted.entry(fact.duty).or_default() += Wide::from(fact.home_tax.units());
            }
        }
        let (keys, mut rows): (Vec<_>, Vec<Row>) = rows.into_iter().unzip();
        if row.total.units() != 0 {
            settle(&mut rows, row.total.units().into(), settlements, coin);
        } else {
            for row in &mut rows {
                row.due = std::mem::take(&mut row.left);
            }
        }
        let mut lapsed: BTreeMap<TaxDuty, Wide> = BTreeMap::new();
        for ((.., duty, _), row) in keys.iter().zip(&rows) {
            *wanted.entry(*duty).or_default() -= row.due[1];
            *lapsed.entry(*duty).or_default() += row.lapsed[1];
        }
        // Whatever the shares were: of what is settled whole nothing waits.
        let settled: Wide = settlements.iter().map(|(amount, _)| amount).sum();
        let is_settled = settled >= Wide::from(row.total.units());
        let apart = self.apart.iter().filter(|(_, apart)| *apart).map(|(duty, _)| *duty);
        let odd = |duty: TaxDuty| {
            let wanted = wanted.sum_of(&duty);
            let waits = if is_settled { -by_hand.sum_of(&duty) } else { wanted - lapsed.sum_of(&duty) };
            [
                Odd { duty, what: What::PutOff, found: told.sum_of(&duty), wanted },
                Odd { duty, what: What::Waits, found: left.sum_of(&duty), wanted: waits },
            ]
        };
        apart.flat_map(odd).filter(|odd| odd.found != odd.wanted).collect()
    }
}

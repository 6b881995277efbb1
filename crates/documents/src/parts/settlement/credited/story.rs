//! What is known of the tax of a document: what it and its credits tell, what settlements take off it, and what of that is
//! in the books.

use super::TAKEN_OFF;
use crate::day::Day;
use crate::document::Content;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use crate::parts::line::Took;
use crate::parts::{TradeAsked, TradeFigures};
use answers::Ask;
use books::cx::Cx;
use books::settled::stand_on;
use books::tax_facts::fact;
use rules::tax::credited::{Step, Whose};
use rules::tax::exact::Coin;
use rules::tax::facts::{TaxDuty, TaxFact, TaxOrigin};
use rules::tax::settlement::{Off, Settling};
use rules::tax::taken_off::{Taking, worth};
use schema::tables::{
    Relation, allocations, document_links, documents, entries, entry_lines, facts_of, tax_facts as table,
};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Bound;
use words::sown::{Fault, sown};

/// Everything that is known of the tax of one document.
pub(in super::super) struct Story {
    pub(in super::super) origin: RecordId,
    /// What the document and its credits tell.
    pub(in super::super) steps: Vec<Step>,
    /// What settlements take off.
    pub(in super::super) takings: Vec<Taking>,
    /// The currency of what they take it off.
    pub(super) currency: Option<String>,
    /// What is in the books of that, and of what was given back.
    pub(super) taken: Vec<Booked>,
    pub(super) given: Vec<Booked>,
}

/// A fact that is in the books: which document told it, and where the rest of it stands.
pub(super) struct Booked {
    pub(super) document: RecordId,
    pub(super) stands_on: RecordId,
    pub(super) day: Day,
    pub(super) fact: TaxFact,
}

impl Story {
    pub(in super::super) async fn of(cx: &Cx<'_>, origin: RecordId) -> Result<Self> {
        let business = cx.business_id()?;
        let found = || {
            table::Entity::find()
                .filter(table::Column::BusinessId.eq(business))
                .order_by_asc(table::Column::EntryNumber)
                .order_by_asc(table::Column::Place)
        };
        let told_by = |document: RecordId| {
            found()
                .filter(facts_of(business, entries::Column::DocumentId.eq(document)))
                .filter(table::Column::SettlesId.is_null())
                .filter(table::Column::Origin.ne(TaxOrigin::Carry))
        };
        let mut steps = Vec::new();
        for row in told_by(origin).models(&cx.db).await? {
            let fact = on_an_account(cx, fact(&row)).await?;
            steps.push(Step { day: row.entry_date, whose: Whose::Own, fact });
        }
        for (note, lines) in credits(cx, origin).await? {
            let counts = |row: &&table::Model| {
                lines.as_ref().is_none_or(|lines| row.line_id.is_some_and(|line| lines.contains(&line)))
            };
            for row in told_by(note).models(&cx.db).await?.iter().filter(counts) {
                steps.push(Step { day: row.entry_date, whose: Whose::Credit(note), fact: fact(row) });
            }
            let taken =
                found().filter(table::Column::SettlesId.eq(note)).filter(table::Column::Origin.is_in(TAKEN_OFF));
            for row in taken.models(&cx.db).await?.iter().filter(counts).filter(|_| !sown(Fault::RefundTakesNothingOff))
            {
                steps.push(Step { day: row.entry_date, whose: Whose::OffCredit(note), fact: fact(row) });
            }
        }
        let off = found().filter(table::Column::SettlesId.eq(origin)).models(&cx.db).await?;
        let allocated = allocations::Entity::find()
            .filter(allocations::Column::BusinessId.eq(business))
            .filter(allocations::Column::TargetDocumentId.eq(origin))
            .order_by_asc(allocations::Column::Date)
            .order_by_asc(allocations::Column::CreatedAt)
            .order_by_asc(allocations::Column::Id)
            .models(&cx.db)
            .await?;
        let stands = Stands::known(cx, &allocated).await?;
        let rests = Rests::of(cx, &off, &stands).await?;
        let [mut taken, mut given]: [Vec<Booked>; 2] = Default::default();
        for row in &off {
            let of_these = match row.origin {
                TaxOrigin::Discount | TaxOrigin::WriteOff => &mut taken,
                TaxOrigin::Credited => &mut given,
                _ => continue,
            };
            let stands_on = match stands.of(row) {
                Some(account) => account,
                None => rests.of_fact(row)?,
            };
            of_these.push(Booked { document: row.document_id, stands_on, day: row.entry_date, fact: fact(row) });
        }
        let takings = takings(cx, &allocated, &off, &stands)?;
        let currency = allocated.last().map(|row| row.currency.clone());
        Ok(Self { origin, steps, takings, currency, taken, given })
    }

    /// How what is taken off in a currency is shared.
    pub(in super::super) fn settling(&self, cx: &Cx<'_>, currency: &str, date: Day) -> Result<Settling> {
        let business = cx.business()?;
        let of = format!("what is settled of document {}", self.origin);
        let decimals = crate::currency::Currency::known(currency, of)?.decimals();
        let coin = Coin { decimals, rounding: business.settings.rounding_mode.rounding() };
        Ok(Settling { document: self.origin, date, coin, home_coin: business.coin() })
    }
}

/// As it was posted; what other books have told of has its account by its code.
async fn on_an_account(cx: &Cx<'_>, fact: TaxFact) -> Result<TaxFact> {
    let owed = match fact.duty {
        TaxDuty::Owed => true,
        TaxDuty::Claimed => false,
        TaxDuty::WithheldFromUs | TaxDuty::WithheldByUs | TaxDuty::None => return Ok(fact),
    };
    if fact.account.is_some() || fact.home_tax == BookMoney::ZERO {
        return Ok(fact);
    }
    let (chart, taxes) = (cx.chart().await?, cx.taxes().await?);
    let code = fact.code.and_then(|code| taxes.get(code));
    let component = code.and_then(|code| code.components.0.iter().find(|one| Some(one.id) == fact.component));
    let (own, of_company) = if owed {
        (component.and_then(|one| one.payable_account_id), chart.roles().output_tax.id())
    } else {
        (component.and_then(|one| one.receivable_account_id), chart.roles().input_tax.id())
    };
    Ok(TaxFact { account: Some(own.unwrap_or(of_company)), ..fact })
}

/// What settlements take off: those whose entries told that they reduce the tax.
fn takings(
    cx: &Cx<'_>,
    allocated: &[allocations::Model],
    off: &[table::Model],
    stands: &Stands,
) -> Result<Vec<Taking>> {
    let coin = cx.business()?.coin();
    let reducing: HashSet<(i64, TaxOrigin)> = off.iter().map(|row| (row.entry_number, row.origin)).collect();
    let mut found = Vec::new();
    for row in allocated {
        let Some(entry) = row.entry.as_ref().map(|entry| &entry.0) else { continue };
        let sum = [row.discount, row.write_off, row.withheld].into_iter().try_fold(row.amount, Money::checked_add);
        let settled = (sum.ok_or_else(Error::too_large)?, row.target_base);
        for (origin, own) in [(TaxOrigin::Discount, row.discount), (TaxOrigin::WriteOff, row.write_off)] {
            if own == Money::ZERO || !reducing.contains(&(entry.number, origin)) {
                continue;
            }
            let stands_on = stands.by_entry.get(&(entry.number, origin)).copied();
            found.push(Taking {
                source: row.source_document_id,
                origin,
                stands_on: stands_on.ok_or_else(|| Error::internal("what was taken off stands nowhere"))?,
                day: row.date,
                until: row.removed_on,
                off: Off { own, home: worth(own, settled, coin).map_err(super::too_large)? },
            });
        }
    }
    Ok(found)
}

/// Where what settlements took off a document stands, beside its tax.
struct Stands {
    by_entry: HashMap<(i64, TaxOrigin), RecordId>,
    by_reversed: HashMap<(RecordId, TaxOrigin), RecordId>,
}

impl Stands {
    async fn known(cx: &Cx<'_>, allocated: &[allocations::Model]) -> Result<Self> {
        let chart = cx.chart().await?;
        let mut stands = Self { by_entry: HashMap::new(), by_reversed: HashMap::new() };
        for row in allocated {
            let Some(entry) = row.entry.as_ref().map(|entry| &entry.0) else { continue };
            let (discount, bad) = stand_on(chart.roles(), row.target_kind, row.write_off_account_id);
            for (kind, account) in [(TaxOrigin::Discount, discount), (TaxOrigin::WriteOff, bad)] {
                stands.by_entry.insert((entry.number, kind), account);
                stands.by_reversed.insert((entry.id, kind), account);
            }
        }
        Ok(stands)
    }

    /// Of what a settlement told by itself; what was told since stands where the lines of its own entry do.
    fn of(&self, row: &table::Model) -> Option<RecordId> {
        match row.takes_back_id {
            Some(entry) => self.by_reversed.get(&(entry, row.origin)),
            None => self.by_entry.get(&(row.entry_number, row.origin)),
        }
        .copied()
    }
}

/// Where the rest of what was told since stands: the lines of the entries that did, by their places.
#[derive(Default)]
struct Rests {
    lines: HashMap<i64, BTreeMap<i64, RecordId>>,
    /// The places that hold tax.
    taxes: HashSet<(i64, i64)>,
}

impl Rests {
    async fn of(cx: &Cx<'_>, facts: &[table::Model], stands: &Stands) -> Result<Self> {
        let apart = |row: &&table::Model| row.origin != TaxOrigin::Carry && stands.of(row).is_none();
        let given: Vec<&table::Model> = facts.iter().filter(apart).collect();
        let mut rests = Self::default();
        if given.is_empty() {
            return Ok(rests);
        }
        let of_entries: BTreeSet<i64> = given.iter().map(|row| row.entry_number).collect();
        let lines: Vec<(i64, i64, RecordId)> = entry_lines::Entity::find()
            .select_only()
            .columns([entry_lines::Column::EntryNumber, entry_lines::Column::Position, entry_lines::Column::AccountId])
            .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(entry_lines::Column::EntryNumber.is_in(of_entries))
            .read(&cx.db)
            .await?;
        for (entry, position, account) in lines {
            rests.lines.entry(entry).or_default().insert(position, account);
        }
        let holds_tax = |row: &&table::Model| row.account_id.is_some();
        let taxes = given.into_iter().filter(holds_tax);
        rests.taxes = taxes.filter_map(|row| Some((row.entry_number, row.position?))).collect();
        Ok(rests)
    }

    /// Taxes stand before the line that takes the rest of them.
    fn of_fact(&self, row: &table::Model) -> Result<RecordId> {
        let lines = self.lines.get(&row.entry_number);
        let from = row.position.map_or(Bound::Unbounded, Bound::Included);
        let mut rest = lines.into_iter().flat_map(|lines| lines.range((from, Bound::Unbounded)));
        let found = rest.find(|(position, _)| !self.taxes.contains(&(row.entry_number, **position)));
        found.map(|(_, account)| *account).ok_or_else(|| Error::internal("what is given back stands nowhere"))
    }
}

/// What credits a document, each with those of its lines that do where it credits others as well.
async fn credits(cx: &Cx<'_>, origin: RecordId) -> Result<Vec<(RecordId, Option<HashSet<RecordId>>)>> {
    let business = cx.business_id()?;
    let links = |column: document_links::Column, ids: Vec<RecordId>| {
        document_links::Entity::find()
            .filter(document_links::Column::BusinessId.eq(business))
            .filter(document_links::Column::Relation.eq(Relation::Credits))
            .filter(column.is_in(ids))
    };
    let of_origin = links(document_links::Column::SourceDocumentId, vec![origin]).models(&cx.db).await?;
    let notes: BTreeSet<RecordId> = of_origin.into_iter().map(|link| link.document_id).collect();
    if notes.is_empty() {
        return Ok(Vec::new());
    }
    let all = links(document_links::Column::DocumentId, notes.iter().copied().collect()).models(&cx.db).await?;
    let own = lines_named(cx, origin).await?;
    let mut found = Vec::new();
    for note in notes {
        if all.iter().filter(|link| link.document_id == note).count() == 1 {
            found.push((note, None));
            continue;
        }
        found.push((note, Some(lines_crediting(cx, note, (origin, &own)).await?)));
    }
    Ok(found)
}

/// Those of a note's lines that credit an invoice, whose own lines are given: they name one, or goods that it billed, or the note
/// names the invoice itself.
async fn lines_crediting(
    cx: &Cx<'_>,
    note: RecordId,
    (invoice, own): (RecordId, &HashSet<RecordId>),
) -> Result<HashSet<RecordId>> {
    let row = documents::Entity::find_by_id((cx.business_id()?, note)).model(&cx.db).await?;
    let Some(row) = row else { return Ok(HashSet::new()) };
    let kept: Content<TradeAsked, TradeFigures> = row.kept()?;
    let lines = kept.asked.lines.iter().zip(&kept.figures.lines);
    let credits = |took: &[Took]| match took {
        [] => kept.asked.source == Some(invoice),
        took => took.iter().all(|took| own.contains(&took.of)),
    };
    Ok(lines.filter(|(_, figures)| credits(&figures.took)).filter_map(|(line, _)| line.id).collect())
}

/// All lines of a document, by what it keeps of them.
pub(in super::super) async fn lines_named(cx: &Cx<'_>, document: RecordId) -> Result<HashSet<RecordId>> {
    #[derive(Deserialize)]
    struct Line {
        id: Option<RecordId>,
    }
    let row = documents::Entity::find_by_id((cx.business_id()?, document)).model(&cx.db).await?;
    let Some(row) = row else { return Ok(HashSet::new()) };
    let kept: documents::KeptLines<Line> = row.kept()?;
    Ok(kept.lines().iter().filter_map(|line| line.id).collect())
}

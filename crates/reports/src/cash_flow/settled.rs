//! What settled documents of other sections: by the end of each day every document has that share of its lines for which
//! money came or went by then, of what notes left of them.
//!
//! A span has what the share at its end is more than the one before it. So months add up, whatever comes first: a payment or
//! the note that is set off against the same bill. What is set off against anything else moves no money and is no share.

use super::super::asked::Asked;
use super::super::lines::{amount, of_span, without};
use super::flows::{Activity, BETWEEN, Flows, Sides, beside, that_move_money};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Money;
use answers::Ask;
use books::among::among;
use books::cx::Cx;
use books::portions::by_parameters;
use books::sums::Span;
use rules::account::CashFlowSection;
use schema::kind::Phase;
use schema::tables::{DocumentKind, EntryKind, allocations, entries, entry_lines, open_item_moves};
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, Condition, QueryFilter, QuerySelect, QueryTrait, Select};
use std::collections::{BTreeMap, HashMap, HashSet};
use words::sown::{Fault, sown};

/// Gives what settled documents to the sections of what they say.
pub(super) async fn settled(cx: &Cx<'_>, asked: &Asked, sides: &Sides, flows: &mut Flows) -> Result<()> {
    if sides.outside.is_empty() || sown(Fault::SettlementIsOperating) {
        return Ok(());
    }
    let documents = of_other_sections(cx, asked, sides).await?;
    if documents.is_empty() {
        return Ok(());
    }
    let moves = moves(cx, asked, sides, &documents).await?;
    let notes = moves.iter().filter_map(|one| one.note);
    let all: HashSet<RecordId> = documents.iter().copied().chain(notes).collect();
    let stories = Stories { said: said(cx, asked, sides, all).await?, documents, moves };
    let coin = Money::smallest(cx.business()?.currency_decimals).units();
    // What is so at the end, less what was so before.
    for (day, sign) in [(Some(asked.span.to), 1), (asked.span.from.map(Day::previous), -1)] {
        let Some(day) = day else { continue };
        let said = stories.said_by(day)?;
        for (control, account, amount) in stories.documents.iter().filter_map(|id| said.get(id)).flat_map(Said::owed) {
            if sides.outside.contains(&account) {
                flows.carry(control, account, sign * amount);
            }
        }
        for ((money, account), share) in stories.shares(day, &said, &sides.outside, coin)? {
            let Some(section) = sides.activity(account) else { continue };
            flows.give(section, account, -sign * share);
            flows.give(Activity::Section(CashFlowSection::Operating), money, sign * share);
            flows.carry(money, account, -sign * share);
        }
    }
    Ok(())
}

/// What a document says by the end of a day.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// What stands against what is owed, account by account, without the tax on it.
    pub(super) lines: BTreeMap<RecordId, i64>,
    pub(super) control: i64,
    pub(super) account: Option<RecordId>,
}

impl Said {
    /// What its control account carries of its lines.
    fn owed(&self) -> impl Iterator<Item = (RecordId, RecordId, i64)> + '_ {
        let of_account =
            move |control: RecordId| self.lines.iter().map(move |(account, amount)| (control, *account, *amount));
        self.account.into_iter().flat_map(of_account)
    }

    /// Takes off what a note says of the same accounts, so much of it as is set off: what each side's part was carried at. The
    /// rest of the note takes off nothing of these lines; it only leaves less to be paid.
    fn take_off(&mut self, note: &Self, [of_note, own]: [i64; 2], coin: i64) -> Result<()> {
        if note.control == 0 || of_note == 0 {
            return Ok(());
        }
        let (mut says, mut takes) = (0, 0);
        for (account, amount) in &note.lines {
            let part = share(*amount, -of_note, note.control, coin)?;
            says += part;
            if let Some(left) = self.lines.get_mut(account) {
                // No more than there is.
                let part = if part.signum() == -left.signum() && part.abs() > left.abs() { -*left } else { part };
                *left += part;
                takes += part;
            }
        }
        let is_part = takes != 0 && takes.signum() == says.signum() && takes.abs() < says.abs();
        let taken = if takes == 0 {
            0
        } else if is_part {
            share(own, takes, says, coin)?
        } else {
            own
        };
        self.control += taken;
        Ok(())
    }

    /// What of these accounts so much money has settled: all of it at most.
    fn share(&self, paid: i64, of: &[RecordId], coin: i64) -> Result<Vec<(RecordId, i64)>> {
        if paid.signum() != self.control.signum() {
            return Ok(Vec::new());
        }
        let is_all = paid.abs() >= self.control.abs();
        let lines = self.lines.iter().filter(|(account, _)| of.contains(account));
        let part = |(account, amount): (&RecordId, &i64)| {
            Ok((*account, if is_all { *amount } else { share(*amount, paid, self.control, coin)? }))
        };
        if self.control == 0 { Ok(Vec::new()) } else { lines.map(part).collect() }
    }
}

/// What happened to documents that say something of other sections.
pub(super) struct Stories {
    pub(super) documents: Vec<RecordId>,
    pub(super) said: Vec<Line>,
    pub(super) moves: Vec<Settles>,
}

answers::of_row! {
    /// What a document says on a day of an account.
    pub(super) struct Line {
        pub(super) document_id: RecordId,
        pub(super) account_id: RecordId,
        pub(super) date: Day,
        /// Who owes it, or is owed it, where it is no line of what was traded.
        pub(super) party_id: Option<RecordId>,
        pub(super) amount: i64,
    }
}

/// What was settled on a day, or no longer.
pub(super) struct Settles {
    pub(super) document: RecordId,
    /// The note that is set off against it; none where it is money.
    pub(super) note: Option<RecordId>,
    /// Whether it is what the document was carried at, and not what settles it.
    pub(super) is_own: bool,
    /// The control account that it stood on.
    pub(super) account: RecordId,
    pub(super) date: Day,
    pub(super) base: i64,
}

/// How a document was settled by a day.
#[derive(Default)]
struct Settled {
    /// By money, by the control account that it stood on.
    paid: BTreeMap<RecordId, i64>,
    /// By notes: what these were carried at, and what the document was.
    noted: BTreeMap<RecordId, [i64; 2]>,
}

impl Stories {
    pub(super) fn said_by(&self, day: Day) -> Result<HashMap<RecordId, Said>> {
        let mut said: HashMap<RecordId, Said> = HashMap::new();
        for line in self.said.iter().filter(|line| line.date <= day) {
            let said = said.entry(line.document_id).or_default();
            let sum = if line.party_id.is_some() {
                said.account.get_or_insert(line.account_id);
                &mut said.control
            } else {
                said.lines.entry(line.account_id).or_insert(0)
            };
            *sum = sum.checked_add(line.amount).ok_or_else(Error::too_large)?;
        }
        Ok(said)
    }

    /// What money has settled by the end of a day, by the account that it stood on and the one that it was for.
    pub(super) fn shares(
        &self,
        day: Day,
        said: &HashMap<RecordId, Said>,
        of: &[RecordId],
        coin: i64,
    ) -> Result<BTreeMap<(RecordId, RecordId), i64>> {
        let mut by_document: BTreeMap<RecordId, Settled> = BTreeMap::new();
        for one in self.moves.iter().filter(|one| one.date <= day) {
            let settled = by_document.entry(one.document).or_default();
            match one.note {
                Some(note) => settled.noted.entry(note).or_default()[usize::from(one.is_own)] += one.base,
                None if one.is_own => {}
                None => *settled.paid.entry(one.account).or_insert(0) += one.base,
            }
        }
        let mut shares: BTreeMap<(RecordId, RecordId), i64> = BTreeMap::new();
        for (document, Settled { paid, noted }) in by_document {
            let Some(mut whole) = said.get(&document).cloned() else { continue };
            for (note, parts) in noted {
                if let Some(note) = said.get(&note) {
                    whole.take_off(note, parts, coin)?;
                }
            }
            for (account, amount) in whole.share(paid.values().sum(), of, coin)? {
                for (money, part) in divided(amount, &paid, coin)? {
                    *shares.entry((money, account)).or_insert(0) += part;
                }
            }
        }
        Ok(shares)
    }
}

/// An amount by what was paid from where; the last has what is left.
fn divided(amount: i64, paid: &BTreeMap<RecordId, i64>, coin: i64) -> Result<Vec<(RecordId, i64)>> {
    let all: i64 = paid.values().sum();
    let mut left = amount;
    let mut parts = Vec::new();
    let mut payers = paid.iter().filter(|(_, paid)| **paid != 0).peekable();
    while let Some((account, paid)) = payers.next() {
        let part = if payers.peek().is_some() { share(amount, *paid, all, coin)? } else { left };
        left -= part;
        parts.push((*account, part));
    }
    Ok(parts)
}

fn share(amount: i64, part: i64, all: i64, coin: i64) -> Result<i64> {
    let (top, bottom) = (i128::from(amount) * i128::from(part), i128::from(all) * i128::from(coin));
    if bottom == 0 {
        return Err(Error::internal("a share of nothing was asked for"));
    }
    let (top, bottom) = if bottom < 0 { (-top, -bottom) } else { (top, bottom) };
    let coins = (2 * top.abs() + bottom) / (2 * bottom) * top.signum();
    i64::try_from(coins * i128::from(coin)).map_err(Error::internal)
}

/// Lines of entries that move no money, up to the last day.
async fn without_money(cx: &Cx<'_>, asked: &Asked, sides: &Sides) -> Result<Select<entry_lines::Entity>> {
    let until = Span { from: None, to: asked.span.to };
    Ok(without(cx, of_span(cx, until, asked).await?, &BETWEEN, asked.apart)?
        .filter(entries::Column::Kind.ne(EntryKind::Allocation))
        .filter(beside(|other| other(entry_lines::Column::AccountId).is_in(sides.money.iter().copied())).not()))
}

/// Documents that name a party and say something of another section.
async fn of_other_sections(cx: &Cx<'_>, asked: &Asked, sides: &Sides) -> Result<Vec<RecordId>> {
    let outside = without_money(cx, asked, sides)
        .await?
        .filter(among(cx, (entry_lines::Entity, entry_lines::Column::AccountId), sides.outside.iter().copied()))
        .filter(beside(|other| other(entry_lines::Column::PartyId).is_not_null()))
        .column(entries::Column::DocumentId)
        .distinct();
    Ok(outside.column_of(&cx.db).await?)
}

/// What documents say, on which days. A tax goes with the lines that it is on.
async fn said(cx: &Cx<'_>, asked: &Asked, sides: &Sides, documents: HashSet<RecordId>) -> Result<Vec<Line>> {
    let documents: Vec<RecordId> = documents.into_iter().collect();
    let mut found = Vec::new();
    for portion in by_parameters(&documents) {
        let lines = without_money(cx, asked, sides)
            .await?
            .filter(entries::Column::DocumentId.is_in(portion.iter().copied()))
            .filter(
                Condition::any()
                    .add(entry_lines::Column::PartyId.is_not_null())
                    .add(entry_lines::Column::TaxComponent.is_null()),
            )
            .column(entries::Column::DocumentId)
            .column(entry_lines::Column::AccountId)
            .column(entry_lines::Column::Date)
            .column(entry_lines::Column::PartyId)
            .column_as(amount(cx), "amount")
            .group_by(entries::Column::DocumentId)
            .group_by(entry_lines::Column::AccountId)
            .group_by(entry_lines::Column::Date)
            .group_by(entry_lines::Column::PartyId);
        found.extend(lines.read::<Line>(&cx.db).await?);
    }
    Ok(found)
}

/// What settles one of these documents: money, or a note that takes back what is charged.
struct Pair {
    settled: RecordId,
    by: RecordId,
    is_note: bool,
}

/// Whether a note takes back what documents of this kind charge.
fn takes_back(note: DocumentKind, bill: DocumentKind) -> bool {
    let is = |kind: DocumentKind, phase: Phase| kind.phase() == Some(phase);
    is(note, Phase::Credit) && is(bill, Phase::Bill) && note.turnover() == bill.turnover()
}

/// What settled these documents up to the last day, and what no longer does.
async fn moves(cx: &Cx<'_>, asked: &Asked, sides: &Sides, documents: &[RecordId]) -> Result<Vec<Settles>> {
    use allocations::Column::{SourceDocumentId, SourceKind, TargetDocumentId, TargetKind};
    let business = cx.business_id()?;
    let until = Span { from: None, to: asked.span.to };
    let of_money = entries::Entity::find()
        .select_only()
        .column(entries::Column::DocumentId)
        .filter(entries::Column::BusinessId.eq(business))
        .filter(entries::Column::Number.in_subquery(that_move_money(cx, sides, until)?.into_query()))
        .into_query();
    let mut found = Vec::new();
    for portion in by_parameters(documents) {
        for [settled, settled_kind, by, by_kind] in [
            [TargetDocumentId, TargetKind, SourceDocumentId, SourceKind],
            [SourceDocumentId, SourceKind, TargetDocumentId, TargetKind],
        ] {
            let notes = DocumentKind::of_phase(Phase::Credit);
            let rows: Vec<(RecordId, RecordId, DocumentKind, RecordId, DocumentKind)> = allocations::Entity::find()
                .select_only()
                .columns([allocations::Column::Id, settled, settled_kind, by, by_kind])
                .filter(allocations::Column::BusinessId.eq(business))
                .filter(settled.is_in(portion.iter().copied()))
                .filter(Condition::any().add(by.in_subquery(of_money.clone())).add(by_kind.is_in(notes)))
                .read(&cx.db)
                .await?;
            let mut pairs: HashMap<RecordId, Pair> = HashMap::new();
            for (id, settled, settled_kind, by, by_kind) in rows {
                let is_note = by_kind.phase() == Some(Phase::Credit);
                if !is_note || takes_back(by_kind, settled_kind) {
                    pairs.insert(id, Pair { settled, by, is_note });
                }
            }
            let ids: Vec<RecordId> = pairs.keys().copied().collect();
            for ids in by_parameters(&ids) {
                add_moves(cx, asked, (ids, &pairs), &mut found).await?;
            }
        }
    }
    Ok(found)
}

/// What these allocations moved, on either side.
async fn add_moves(
    cx: &Cx<'_>,
    asked: &Asked,
    (ids, pairs): (&[RecordId], &HashMap<RecordId, Pair>),
    found: &mut Vec<Settles>,
) -> Result<()> {
    let mut moves = Condition::all()
        .add(open_item_moves::Column::BusinessId.eq(cx.business_id()?))
        .add(open_item_moves::Column::AllocationId.is_in(ids.iter().copied()))
        .add(open_item_moves::Column::Date.lte(asked.span.to));
    if let Some(known) = asked.point.known_at {
        moves = moves.add(open_item_moves::Column::RecordedAt.lte(known));
    }
    for row in open_item_moves::Entity::find().filter(moves).models(&cx.db).await? {
        let Some(Pair { settled, by, is_note }) = row.allocation_id.and_then(|id| pairs.get(&id)) else { continue };
        found.push(Settles {
            document: *settled,
            note: is_note.then_some(*by),
            is_own: row.document_id == *settled,
            account: row.account_id,
            date: row.date,
            base: row.base.units(),
        });
    }
    Ok(())
}

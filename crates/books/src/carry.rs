//! Tax that is not due yet, kept apart from tax that is.
//!
//! On cash basis the tax of a document is owed, or claimed, in the shares in which it is settled ([`crate::cash`]). Until
//! then it stands on an account of its own: after a command, the ledger is brought to what that function says on its day
//! and every later one. These moves carry tax from one account to another and are none themselves. A company that has no
//! such accounts keeps both together.
//!
//! What is let go, or given away, without reducing the tax was never received, and its tax is never due: it lapses. It is
//! taken off where it waits and stands against what was let go, so that a loss is without tax, and nothing waits once a
//! document is settled.

use crate::access::visible_business;
use crate::among::among;
use crate::cash::{self, Known};
use crate::cx::{Cx, Point};
use crate::day::Day;
use crate::desk::NewEntry;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::limits::Moves;
use crate::money::BookMoney;
use crate::settled::KINDS;
use answers::Ask;
use rules::postable::TaxAccount;
use rules::posting::{About, Line, Posting, Unbalanced};
use rules::refusal::Refusal;
use rules::roles::Roles;
use rules::tax::TaxBasis;
use rules::tax::facts::{TaxDuty, TaxOrigin, TaxSide, carry, lapse};
use schema::tables::{DocumentKind, EntryKind, TradeSide, documents, entries, entry_lines, facts_of, tax_facts};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeMap, BTreeSet};
use words::sown::{Fault, sown};

/// What is moved: tax that waits from the account where it is due to the one where it waits, and tax that lapsed from there
/// to where what was let go stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    lapses: bool,
    duty: TaxDuty,
    from: RecordId,
    to: RecordId,
}

/// So many documents are read at once.
const PORTION: usize = 500;

/// Brings what is not due yet to what it is after a command.
pub async fn keep(cx: &Cx<'_>, settled: BTreeSet<RecordId>) -> Result<()> {
    if settled.is_empty() || cx.business()?.settings.tax_basis.iter().all(|one| one.basis == TaxBasis::Invoice) {
        return Ok(());
    }
    cx.flush().await?;
    bring(cx, &settled.into_iter().collect::<Vec<_>>()).await
}

/// Brings all of it to what it is on another basis.
pub async fn rebase(cx: &Cx<'_>, company: BusinessId) -> Result<()> {
    cx.flush().await?;
    let business = visible_business(&cx.db, cx.user, company).await?;
    let cx = cx.within(&business).await?;
    let settled = all(&cx).await?;
    bring(&cx, &settled).await
}

async fn bring(cx: &Cx<'_>, settled: &[RecordId]) -> Result<()> {
    let chart = cx.chart().await?;
    let roles = chart.roles();
    for documents in settled.chunks(PORTION) {
        let known = Known::of(cx, None, None, Point::default(), Some(documents)).await?;
        let booked = booked(cx, roles, documents).await?;
        for document in documents {
            let booked = booked.get(document).map_or(&[][..], Vec::as_slice);
            let differences = differences(cx, &known, *document, booked).await?;
            if differences.is_empty() {
                continue;
            }
            let row = documents::Entity::find_by_id((cx.business_id()?, *document)).model(&cx.db).await?;
            let row = row.ok_or_else(|| Error::internal("tax of a document that there is not"))?;
            for (day, moves) in differences {
                post(cx, &row, day, moves).await?;
            }
        }
    }
    Ok(())
}

/// The account of tax that is not due yet, where it is another than that of tax that is.
fn apart(roles: &Roles, duty: TaxDuty) -> Option<&TaxAccount> {
    let (own, due) = match duty {
        TaxDuty::Owed => (&roles.output_tax_not_due, &roles.output_tax),
        TaxDuty::Claimed => (&roles.input_tax_not_due, &roles.input_tax),
        TaxDuty::WithheldFromUs | TaxDuty::WithheldByUs | TaxDuty::None => return None,
    };
    Some(own).filter(|own| own.id() != due.id())
}

/// Every document that may be settled.
async fn all(cx: &Cx<'_>) -> Result<Vec<RecordId>> {
    let found = tax_facts::Entity::find()
        .select_only()
        .column(tax_facts::Column::DocumentId)
        .filter(tax_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(tax_facts::Column::DocumentKind.is_in(KINDS))
        .filter(
            Condition::any()
                .add(tax_facts::Column::AccountId.is_not_null())
                .add(tax_facts::Column::Origin.eq(TaxOrigin::Opening)),
        )
        .distinct()
        .order_by_asc(tax_facts::Column::DocumentId);
    Ok(found.column_of(&cx.db).await?)
}

/// What was moved so far: carried from accounts of tax that is due, and taken off where it waited.
async fn booked(
    cx: &Cx<'_>,
    roles: &Roles,
    documents: &[RecordId],
) -> Result<BTreeMap<RecordId, Vec<(Day, Key, BookMoney)>>> {
    let business = cx.business_id()?;
    let rows = tax_facts::Entity::find()
        .filter(tax_facts::Column::BusinessId.eq(business))
        .filter(facts_of(business, among(cx, entries::Column::DocumentId, documents.iter().copied())))
        .filter(tax_facts::Column::Origin.eq(TaxOrigin::Carry))
        .models(&cx.db)
        .await?;
    let lapsed = lapsed_to(cx, &rows).await?;
    let waiting = [roles.output_tax_not_due.id(), roles.input_tax_not_due.id()];
    let mut found: BTreeMap<RecordId, Vec<(Day, Key, BookMoney)>> = BTreeMap::new();
    for row in rows {
        let Some(from) = row.account_id else { continue };
        let to = match row.settles_id {
            Some(_) => {
                let place = (row.entry_number, row.position.and_then(|position| position.checked_add(1)));
                let to = place.1.and_then(|position| lapsed.get(&(place.0, position)));
                Some(*to.ok_or_else(|| Error::internal("tax that lapsed stands nowhere"))?)
            }
            None if waiting.contains(&from) => None,
            None => apart(roles, row.duty).map(TaxAccount::id),
        };
        if let Some(to) = to {
            let key = Key { lapses: row.settles_id.is_some(), duty: row.duty, from, to };
            found.entry(row.document_id).or_default().push((row.entry_date, key, row.home_tax.negated()));
        }
    }
    Ok(found)
}

/// Where the lines of entries stand by which tax lapsed: each stands behind the line where it waited.
async fn lapsed_to(cx: &Cx<'_>, carried: &[tax_facts::Model]) -> Result<BTreeMap<(i64, i64), RecordId>> {
    let of_lapses: BTreeSet<i64> =
        carried.iter().filter(|row| row.settles_id.is_some()).map(|row| row.entry_number).collect();
    if of_lapses.is_empty() {
        return Ok(BTreeMap::new());
    }
    let lines: Vec<(i64, i64, RecordId)> = entry_lines::Entity::find()
        .select_only()
        .columns([entry_lines::Column::EntryNumber, entry_lines::Column::Position, entry_lines::Column::AccountId])
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::EntryNumber.is_in(of_lapses))
        .read(&cx.db)
        .await?;
    Ok(lines.into_iter().map(|(entry, position, account)| ((entry, position), account)).collect())
}

/// The account on which a tax stands once it is due. What books of another kind told of before these has none of its own.
fn due_on(roles: &Roles, fact: &tax_facts::Model) -> Option<RecordId> {
    if fact.origin != TaxOrigin::Opening {
        return fact.account_id;
    }
    let of_company = match fact.duty {
        TaxDuty::Owed => Some(roles.output_tax.id()),
        TaxDuty::Claimed => Some(roles.input_tax.id()),
        TaxDuty::WithheldFromUs | TaxDuty::WithheldByUs | TaxDuty::None => None,
    };
    fact.account_id.or(of_company).filter(|_| !sown(Fault::OpeningNeverCarried))
}

/// What is not due at the end of a day, of what was posted by then, and what of it will never be.
fn waiting(known: &Known, roles: &Roles, document: RecordId, day: Day) -> Result<BTreeMap<Key, BookMoney>> {
    let mut sums: BTreeMap<Key, BookMoney> = BTreeMap::new();
    if sown(Fault::CarryNeverMoves) {
        return Ok(sums);
    }
    let key =
        |from: RecordId, duty: TaxDuty| apart(roles, duty).map(|own| Key { lapses: false, duty, from, to: own.id() });
    let mut add = |key: Key, amount: BookMoney| {
        let sum = sums.entry(key).or_default();
        *sum = sum.checked_add(amount).ok_or_else(Error::too_large)?;
        Ok::<_, Error>(())
    };
    let facts = known.facts.get(&document).map_or(&[][..], Vec::as_slice);
    // What was open before these books was posted to no account of tax: what becomes due of it is taken from where tax waits.
    let posted = |fact: &&tax_facts::Model| fact.entry_date <= day && fact.origin != TaxOrigin::Opening;
    for fact in facts.iter().filter(posted).filter(|fact| fact.home_tax != BookMoney::ZERO) {
        if let Some(key) = fact.account_id.and_then(|account| key(account, fact.duty)) {
            add(key, fact.home_tax)?;
        }
    }
    for (row, [_, due, _]) in known.due_of(document, day)? {
        let account = due_on(roles, row.fact).filter(|_| row.is_there(day));
        if let Some(key) = account.and_then(|account| key(account, row.fact.duty)) {
            add(key, due.negated())?;
        }
    }
    for (to, row, [_, lapsed, _]) in known.lapsed_of(document, day)? {
        let duty = row.fact.duty;
        let Some(account) = due_on(roles, row.fact).filter(|_| row.is_there(day)) else { continue };
        let from = apart(roles, duty).map_or(account, TaxAccount::id);
        add(Key { lapses: true, duty, from, to }, lapsed)?;
    }
    Ok(sums)
}

/// By how much the books are short of it, day by day.
async fn differences(
    cx: &Cx<'_>,
    known: &Known,
    document: RecordId,
    booked: &[(Day, Key, BookMoney)],
) -> Result<BTreeMap<Day, BTreeMap<Key, BookMoney>>> {
    let facts = known.facts.get(&document).map_or(&[][..], Vec::as_slice);
    let first = facts.iter().map(|fact| fact.entry_date).chain(booked.iter().map(|(day, ..)| *day)).min();
    let Some(first) = first else { return Ok(BTreeMap::new()) };
    let side = facts.first().map_or_else(
        || {
            if booked.iter().any(|(_, key, _)| key.duty == TaxDuty::Owed) { TaxSide::Sale } else { TaxSide::Purchase }
        },
        |fact| fact.side,
    );
    let module = cash::module(side);
    let (periods, chart) = (cx.periods().await?, cx.chart().await?);
    let mut days = BTreeSet::new();
    let told = facts.iter().flat_map(|fact| [fact.entry_date, fact.date]);
    for day in told.chain(known.history.days(document)).chain(booked.iter().map(|(day, ..)| *day)) {
        days.insert(periods.first_open(module, Ord::max(day, first), cx.asker())?);
    }
    let (mut found, mut posted): (BTreeMap<Day, BTreeMap<Key, BookMoney>>, BTreeMap<Key, BookMoney>) =
        Default::default();
    for day in days {
        let mut short = waiting(known, chart.roles(), document, day)?;
        let there = booked.iter().filter(|(at, ..)| *at <= day).map(|(_, key, amount)| (*key, *amount));
        for (key, amount) in there.chain(posted.iter().map(|(key, amount)| (*key, *amount))) {
            let sum = short.entry(key).or_default();
            *sum = sum.checked_sub(amount).ok_or_else(Error::too_large)?;
        }
        short.retain(|_, amount| *amount != BookMoney::ZERO);
        for (key, amount) in &short {
            let sum = posted.entry(*key).or_default();
            *sum = sum.checked_add(*amount).ok_or_else(Error::too_large)?;
        }
        if !short.is_empty() {
            found.insert(day, short);
        }
    }
    Ok(found)
}

/// Posts what is moved on a day: what waits by itself, and what lapsed by itself.
async fn post(cx: &Cx<'_>, row: &documents::Model, day: Day, moves: BTreeMap<Key, BookMoney>) -> Result<()> {
    let (chart, home) = (cx.chart().await?, cx.business()?.home());
    let (mut waiting, mut lapsed) = (Vec::new(), Vec::new());
    for (Key { lapses, duty, from, to }, amount) in moves {
        // A tax that is owed is a credit.
        let debit = if duty == TaxDuty::Owed { amount } else { amount.negated() };
        let on = |account: RecordId, amount: BookMoney| -> Result<Line, Refusal> {
            Line::on(chart.standing(account)?, home.alone(amount), About::default())
        };
        let pair = || -> Result<[Line; 2], Refusal> {
            let (from, to) = (on(from, debit)?, on(to, debit.negated())?);
            Ok(if lapses {
                [lapse(from, duty, (row.id, day)), to]
            } else {
                [carry(from, duty, (None, day)), carry(to, duty, (None, day))]
            })
        };
        let pair = pair().map_err(|why| Error::internal(format!("tax that waits {why}")))?;
        if lapses { &mut lapsed } else { &mut waiting }.extend(pair);
    }
    let (waits, lapses) = narrations(row.kind);
    for (lines, narration) in [(waiting, waits), (lapsed, lapses)] {
        post_lines(cx, row, day, (lines, narration)).await?;
    }
    Ok(())
}

async fn post_lines(
    cx: &Cx<'_>,
    row: &documents::Model,
    day: Day,
    (lines, narration): (Vec<Line>, &'static str),
) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let posting = Posting::summing_up(lines).map_err(|fault| match fault {
        Unbalanced::TooLarge => Error::too_large(),
        other => Error::internal(format!("tax that waits does not balance: {other:?}")),
    })?;
    cx.post(NewEntry {
        date: day,
        kind: EntryKind::TaxAdjustment,
        document: row.kind,
        document_id: row.id,
        document_version: row.version,
        document_number: row.number.clone(),
        reverses: None,
        // What the document moves is counted with it.
        moves: Moves::Mirrored,
        trade: None,
        narration: Some(narration.into()),
        posting,
    })
    .await
    .map(drop)
}

/// What is said of tax that waits, and of tax that lapsed.
fn narrations(kind: DocumentKind) -> (&'static str, &'static str) {
    match kind.turnover() {
        Some(TradeSide::Sales) => (
            "Tax is owed as far as its document is settled",
            "No tax is owed on what was let go of its document, or given away",
        ),
        _ => (
            "Tax is claimed as far as its document is settled",
            "No tax is claimed of what was let go of its document, or given away",
        ),
    }
}

//! Tax that is not due yet, kept apart from tax that is.
//!
//! On cash basis the tax of a document is owed, or claimed, in the shares in which it is settled ([`crate::cash`]). Until
//! then it stands on an account of its own: after a command, the ledger is brought to what that function says on its day
//! and every later one. These moves carry tax from one account to another and are none themselves. A company that has no
//! such accounts keeps both together.

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
use rules::tax::facts::{TaxDuty, TaxOrigin, TaxSide, carry};
use schema::tables::{DocumentKind, EntryKind, TradeSide, documents, entries, facts_of, tax_facts};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeMap, BTreeSet};
use words::sown::{Fault, sown};

/// An account of tax that is due, and what it keeps.
type Key = (RecordId, TaxDuty);

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
    if apart(roles, TaxDuty::Owed).is_none() && apart(roles, TaxDuty::Claimed).is_none() {
        return Ok(());
    }
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

/// What was carried so far from accounts of tax that is due.
async fn booked(
    cx: &Cx<'_>,
    roles: &Roles,
    documents: &[RecordId],
) -> Result<BTreeMap<RecordId, Vec<(Day, Key, BookMoney)>>> {
    let rows = tax_facts::Entity::find()
        .filter(tax_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(facts_of(cx.business_id()?, among(cx, entries::Column::DocumentId, documents.iter().copied())))
        .filter(tax_facts::Column::Origin.eq(TaxOrigin::Carry));
    let waiting = [roles.output_tax_not_due.id(), roles.input_tax_not_due.id()];
    let mut found: BTreeMap<RecordId, Vec<(Day, Key, BookMoney)>> = BTreeMap::new();
    for row in rows.models(&cx.db).await? {
        let Some(account) = row.account_id.filter(|account| !waiting.contains(account)) else { continue };
        found.entry(row.document_id).or_default().push((row.entry_date, (account, row.duty), row.home_tax.negated()));
    }
    Ok(found)
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

/// What is not due at the end of a day, of what was posted by then.
fn waiting(known: &Known, roles: &Roles, document: RecordId, day: Day) -> Result<BTreeMap<Key, BookMoney>> {
    let mut sums: BTreeMap<Key, BookMoney> = BTreeMap::new();
    let facts = known.facts.get(&document).map_or(&[][..], Vec::as_slice);
    let key =
        |fact: &tax_facts::Model| Some((fact.account_id?, fact.duty)).filter(|_| fact.home_tax != BookMoney::ZERO);
    // What was open before these books was posted to no account of tax: what becomes due of it is taken from where tax waits.
    let posted = |fact: &&tax_facts::Model| fact.entry_date <= day && fact.origin != TaxOrigin::Opening;
    for fact in facts.iter().filter(posted) {
        let Some(key) = key(fact) else { continue };
        let sum = sums.entry(key).or_default();
        *sum = sum.checked_add(fact.home_tax).ok_or_else(Error::too_large)?;
    }
    for (row, [_, due, _]) in known.due_of(document, day)? {
        let Some(account) = due_on(roles, row.fact).filter(|_| row.is_there(day)) else { continue };
        let sum = sums.entry((account, row.fact.duty)).or_default();
        *sum = sum.checked_sub(due).ok_or_else(Error::too_large)?;
    }
    if sown(Fault::CarryNeverMoves) {
        sums.clear();
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
            if booked.iter().any(|(_, (_, duty), _)| *duty == TaxDuty::Owed) {
                TaxSide::Sale
            } else {
                TaxSide::Purchase
            }
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
        short.retain(|(_, duty), amount| *amount != BookMoney::ZERO && apart(chart.roles(), *duty).is_some());
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

async fn post(cx: &Cx<'_>, row: &documents::Model, day: Day, moves: BTreeMap<Key, BookMoney>) -> Result<()> {
    let (chart, home) = (cx.chart().await?, cx.business()?.home());
    let mut lines = Vec::new();
    for ((account, duty), amount) in moves {
        let to = apart(chart.roles(), duty).ok_or_else(|| Error::internal("tax that waits on no account"))?;
        let on = |to: RecordId, amount: BookMoney| -> Result<Line, Refusal> {
            let line = Line::on(chart.standing(to)?, home.alone(amount), About::default())?;
            Ok(carry(line, duty, (None, day)))
        };
        // A tax that is owed is a credit.
        let debit = if duty == TaxDuty::Owed { amount } else { amount.negated() };
        for line in [on(account, debit), on(to.id(), debit.negated())] {
            lines.push(line.map_err(|why| Error::internal(format!("tax that waits {why}")))?);
        }
    }
    let posting = Posting::balanced(lines).map_err(|fault| match fault {
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
        narration: Some(narration(row.kind).into()),
        posting,
    })
    .await
    .map(drop)
}

fn narration(kind: DocumentKind) -> &'static str {
    match kind.turnover() {
        Some(TradeSide::Sales) => "Tax is owed as far as its document is settled",
        _ => "Tax is claimed as far as its document is settled",
    }
}

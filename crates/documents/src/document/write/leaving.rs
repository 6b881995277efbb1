//! A document that leaves the books.

use super::beside::{get_on, take_from_beside};
use super::changing::{reload, store};
use super::creating::trade_of;
use super::noting::note;
use super::{Old, invalid_state, load};
use crate::day::Day;
use crate::document::list::reach;
use crate::document::{Document, ended};
use crate::error::{Code, Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::audit::AuditAction;
use books::cx::Cx;
use books::desk::NewEntry;
use books::limits::{self, Moves};
use books::periods::Module;
use books::{Leaving, cash, stock, tax_facts};
use schema::rights::Action;
use schema::tables::documents::Column;
use schema::tables::{DocumentStatus, EntryKind, EntryRef, EntryRefs, documents as table, entries, open_items};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use std::collections::HashSet;
use words::sown::{Fault, sown};

/// Reverses every entry that a document stands for, each on a day that is chosen for it.
pub(super) async fn reverse_all<D: Document>(
    cx: &Cx<'_>,
    old: &Old<D>,
    day: impl Fn(&EntryRef) -> Day,
    moves: Moves,
) -> Result<Vec<EntryRef>> {
    let (live, periods) = (&old.row.entries.0, cx.periods().await?);
    let postings = tax_facts::postings(cx, live).await?;
    let kinds: Vec<(i64, EntryKind)> = entries::Entity::find()
        .filter(entries::Column::BusinessId.eq(old.row.business_id))
        .filter(entries::Column::Number.is_in(live.iter().map(|entry| entry.number)))
        .filter(entries::Column::Kind.is_in([EntryKind::AutoReversal, EntryKind::Opening]))
        .select_only()
        .columns([entries::Column::Number, entries::Column::Kind])
        .read(&cx.db)
        .await?;
    let of_kind = |kind: EntryKind| -> HashSet<i64> {
        kinds.iter().filter(|(_, of)| *of == kind).map(|(number, _)| *number).collect()
    };
    let (mirrors, openings) = (of_kind(EntryKind::AutoReversal), of_kind(EntryKind::Opening));
    let mut reversals = Vec::new();
    for (entry, posting) in live.iter().zip(postings) {
        let new = NewEntry {
            date: day(entry),
            kind: EntryKind::Reversal,
            document: D::KIND,
            document_id: old.row.id,
            document_version: old.row.version + 1,
            document_number: old.row.number.clone(),
            reverses: Some(entry.id),
            trade: trade_of(D::KIND, old.row.subkind.as_deref(), old.row.party_id)
                .filter(|_| !openings.contains(&entry.number)),
            moves: if mirrors.contains(&entry.number) { Moves::Mirrored } else { moves },
            narration: old.row.narration.clone(),
            // What counts for a closed day is taken back on the day of the reversal.
            posting: posting.reversed(entry.date, day(entry)).counted(|counts| {
                if periods.check(D::MODULE, "taxDate", counts, cx.asker()).is_ok() { counts } else { day(entry) }
            }),
        };
        reversals.push(cx.post(new).await?);
    }
    Ok(reversals)
}

/// The parts of the books that a document in them belongs to: its own, and stock where it moves any.
pub(super) async fn modules<D: Document>(cx: &Cx<'_>, row: &table::Model) -> Result<Vec<Module>> {
    let mut modules = Vec::new();
    if D::POSTS {
        modules.push(D::MODULE);
    }
    if D::MODULE != Module::Stock && stock::counts(cx, row).await? {
        modules.push(Module::Stock);
    }
    Ok(modules)
}

/// Takes a document back out of the books. Each entry is reversed on the day asked for, or on its own day if
/// that is open, else on the first open day after it.
pub(crate) async fn void<D: Document>(
    cx: &Cx<'_>,
    old: Old<D>,
    date: Option<Day>,
    reason: Option<String>,
) -> Result<D::View> {
    let periods = cx.periods().await?;
    let mut modules = modules::<D>(cx, &old.row).await?;
    // What it settled is open again on the same day.
    modules.extend(cash::modules_settled(cx, old.row.id).await?);
    if let Some(date) = date {
        if date < old.row.date {
            return Err(Error::field("date", format!("must not be before the document's own date, {}", old.row.date)));
        }
        // Until then nobody could settle what it settled: a debt would rest for as long as somebody likes.
        let last = Ord::max(cx.today()?, old.row.date);
        if date > last && !sown(Fault::VoidSomeDay) {
            return Err(Error::field(
                "date",
                format!("must not be after {last}: nothing is taken back on a day to come"),
            ));
        }
        for module in &modules {
            periods.check(*module, "date", date, cx.asker())?;
        }
    }
    let chosen = |original: Day| match date {
        Some(date) => Ok(Ord::max(date, original)),
        None if !D::POSTS => Ok(original),
        None => periods.first_open_for_all(&modules, original, cx.asker()),
    };
    let void_date = chosen(old.row.date)?;
    old.row.entries.0.iter().try_for_each(|entry| chosen(entry.date).map(drop))?;
    // Each day that comes is one of these.
    let day = |original: Day| chosen(original).unwrap_or(void_date);
    if old.row.status == DocumentStatus::Posted {
        limits::check_day(cx, void_date, "date")?;
    }
    D::release(cx, &old.row, Leaving::ForGood, Some(void_date)).await?;
    // What was removed with it may have given it a new version.
    let old = reload(cx, old).await?;
    let mut entries = old.row.entries.0.clone();
    entries.extend(reverse_all(cx, &old, |entry| day(entry.date), Moves::Back).await?);
    let earlier = take_from_beside(cx, &old, day, Leaving::ForGood).await?;
    if earlier.open.iter().any(open_items::Model::is_touched) {
        return Err(Error::conflict(Code::HasAllocations, "It is allocated; remove its allocations first"));
    }
    ended::check_gone(cx, &earlier.open, day).await?;
    get_on(cx, &old.row, earlier.followed).await?;
    let row = table::Model {
        status: DocumentStatus::Void,
        stage: None,
        void_date: Some(void_date),
        void_reason: reason,
        entries: EntryRefs(entries),
        ..old.row.clone()
    };
    store(cx, old, row, AuditAction::Voided).await
}

/// A draft goes; what is in the books is voided.
pub(crate) async fn delete<D: Document>(cx: &Cx<'_>, id: RecordId) -> Result<()> {
    let old = load::<D>(cx, id).await?;
    match old.row.status {
        DocumentStatus::Draft => {
            table::Entity::delete_many().filter(reach::<D>(cx)?).filter(Column::Id.eq(id)).exec(&cx.db).await?;
            note::<D>(cx, AuditAction::Deleted, id, Some(&old.before), None)
        }
        DocumentStatus::Posted => {
            cx.require(D::KEY, Action::Void)?;
            void(cx, old, None, None).await.map(|_| ())
        }
        DocumentStatus::Void => Err(invalid_state("The document is void already; it stays, with its number")),
    }
}

//! A document that becomes another version of itself.

use super::beside::{Earlier, keep_beside, take_from_beside};
use super::checks::{check_allocated, check_external_id, check_followed, check_rate, check_settled};
use super::creating::{post_all, reserve, row_of, search_text};
use super::leaving::{modules, reverse_all, void};
use super::noting::{note_version, tell_touched};
use super::{Old, invalid_state, load};
use crate::day::Day;
use crate::document::judging::{check_tax_date, judge, judge_words, judged_anew};
use crate::document::list::reach;
use crate::document::{
    Before, Change as OwnChange, Document, Draft, Edition, Head, Purpose, Settled, ended, meant, view,
};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::stored::AsJson;
use books::Leaving;
use books::audit::AuditAction;
use books::cx::Cx;
use books::limits::Moves;
use books::numbering::{self, Numbered};
use kit::operation::shown;
use kit::rows;
use schema::business::PostedEditPolicy;
use schema::rights::Action;
use schema::tables::documents::Column;
use schema::tables::{DocumentStatus, EntryRefs, documents as table};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use std::collections::BTreeSet;
use words::sown::{Fault, sown};

pub(crate) async fn update<D: Document>(cx: &Cx<'_>, id: RecordId, draft: &Draft<D::Asked>) -> Result<D::View> {
    let old = load::<D>(cx, id).await?;
    if old.row.status == DocumentStatus::Posted {
        D::stays(cx, &old.row, &draft.asked).await?;
    }
    let before = Before {
        asked: &old.content.asked,
        status: old.row.status,
        stage: old.row.stage,
        posted_at: old.row.posted_at,
    };
    let asked = meant::<D>(cx, D::identify(cx, &draft.asked, Some(before))?)?;
    let asked = D::sent_back(asked, &old.content);
    let asked = D::complete(cx, &draft.head, asked).await?;
    let asked = as_it_stands(&old, &draft.head, asked);
    let target = draft.head.status.unwrap_or(old.row.status);
    let mut head = Head { status: Some(target), ..draft.head.clone() };
    if old.row.status != DocumentStatus::Draft {
        // Its number is its own; a body that leaves it out leaves it alone.
        head.number = head.number.or_else(|| old.head.number.clone());
        head.series = head.series.or(old.head.series);
    }
    let own_change = D::change(&old.content.asked, &asked);
    let changes_books = own_change == OwnChange::Books || head.date != old.head.date;
    let changes_number = head.number != old.head.number || head.series != old.head.series;
    let changes_words = (&head.reference, &head.narration, &head.external_id, &head.tags)
        != (&old.head.reference, &old.head.narration, &old.head.external_id, &old.head.tags);
    let changes = changes_books || changes_number || changes_words || own_change == OwnChange::Words;
    if !changes && target == old.row.status {
        return Ok(old.before);
    }
    check_external_id::<D>(cx, &head, Some(id)).await?;
    match (old.row.status, target) {
        (DocumentStatus::Draft, DocumentStatus::Draft) => replace_draft(cx, old, head, asked, Purpose::Draft).await,
        (DocumentStatus::Draft, DocumentStatus::Posted) => {
            cx.require(D::KEY, Action::Post)?;
            replace_draft(cx, old, head, asked, Purpose::Posting).await
        }
        (DocumentStatus::Draft, DocumentStatus::Void) => {
            Err(invalid_state("A draft is not in the books; delete it instead of voiding it"))
        }
        (DocumentStatus::Posted, DocumentStatus::Posted) if changes_number => {
            Err(invalid_state("The number of a posted document cannot change"))
        }
        (DocumentStatus::Posted, DocumentStatus::Posted) if changes_books => repost(cx, old, head, asked).await,
        (DocumentStatus::Posted, DocumentStatus::Posted) => reword_as(cx, old, head, asked).await,
        (DocumentStatus::Posted, DocumentStatus::Void) if changes => {
            Err(invalid_state("A document is changed or voided, not both at once"))
        }
        (DocumentStatus::Posted, DocumentStatus::Void) => {
            cx.require(D::KEY, Action::Void)?;
            void(cx, old, None, None).await
        }
        (DocumentStatus::Posted, DocumentStatus::Draft) => {
            Err(invalid_state("A posted document does not become a draft again; void it and copy it"))
        }
        (DocumentStatus::Void, _) => Err(invalid_state("The document is void; it cannot be changed, only copied")),
    }
}

/// A draft that is sent back as it was read, or with other words, comes to what it came to; one that is changed is computed
/// as the company says by now.
fn as_it_stands<D: Document>(old: &Old<D>, head: &Head, asked: D::Asked) -> D::Asked {
    if old.row.status != DocumentStatus::Draft || sown(Fault::SentBackIsComputedAnew) {
        return asked;
    }
    let (mut before, mut same) = (old.content.asked.clone(), asked.clone());
    if let (Some(kept), Some(under)) = (D::under(&mut before), D::under(&mut same)) {
        *under = *kept;
    }
    let changes = D::change(&old.content.asked, &same) == OwnChange::Books || head.date != old.head.date;
    if changes { asked } else { same }
}

/// Replaces a draft, and posts it where that is the purpose.
pub(in crate::document) async fn replace_draft<D: Document>(
    cx: &Cx<'_>,
    old: Old<D>,
    head: Head,
    asked: D::Asked,
    purpose: Purpose,
) -> Result<D::View> {
    let sequel = (purpose == Purpose::Posting && D::has_sequel(&asked)).then(|| asked.clone());
    let judged = judge::<D>(cx, &head, asked, purpose).await?;
    let id = old.row.id;
    let by_hand = match &head.number {
        // The number that the draft already holds is its own.
        Some(number) if old.head.number.as_ref() == Some(number) && old.head.date == head.date => Some(Numbered {
            number: number.clone(),
            series: old.row.series_id.or(head.series).ok_or_else(|| Error::internal("a number of no series"))?,
            place: old.row.period.clone().zip(old.row.sequence),
            by_hand: true,
        }),
        _ => reserve::<D>(cx, &head, Some(id), purpose).await?,
    };
    let numbered = match (by_hand, purpose) {
        (Some(numbered), _) => Some(numbered),
        (None, Purpose::Draft) => None,
        (None, Purpose::Posting) => Some(numbering::choose(cx, D::KIND, head.date, head.series, None).await?),
    };
    let version = old.row.version + 1;
    let entries = match (purpose, &numbered) {
        (Purpose::Posting, Some(numbered)) => {
            post_all(cx, D::KIND, (id, version), &head, numbered, &judged.settled, Moves::In).await?
        }
        _ => Vec::new(),
    };
    let mut row = row_of::<D>(cx, id, &head, &judged, numbered, (purpose, entries))?;
    let action = if purpose == Purpose::Posting { AuditAction::Posted } else { AuditAction::Updated };
    if purpose == Purpose::Posting {
        row.stage = keep_beside::<D>(cx, &row, judged.settled, Earlier::default()).await?;
    }
    let view = store(cx, old, row, action).await?;
    let Some(asked) = sequel else { return Ok(view) };
    let row = rows::row::<D>(cx, id).await?;
    D::posted(cx, &row, &asked).await?;
    cx.flush().await?;
    rows::get::<D>(cx, id).await
}

/// Takes back what a document posted and posts what it says now.
async fn repost<D: Document>(cx: &Cx<'_>, old: Old<D>, head: Head, asked: D::Asked) -> Result<D::View> {
    if D::POSTS && cx.business()?.settings.posted_edit_policy == PostedEditPolicy::CorrectionOnly {
        return Err(invalid_state("The company does not change posted documents; void this one and make another"));
    }
    let periods = cx.periods().await?;
    let modules = modules::<D>(cx, &old.row).await?;
    // What posts nothing, such as goods that cost nothing and are given away, is of its day all the same.
    let own = Some(old.row.date).filter(|_| !sown(Fault::NothingIsOfNoDay));
    for day in old.row.entries.0.iter().map(|entry| entry.date).chain(own) {
        for module in &modules {
            periods.check(*module, "date", day, cx.asker())?;
        }
    }
    check_tax_date::<D>(cx, &old.content.asked).await?;
    D::release(cx, &old.row, Leaving::Replaced, None).await?;
    reverse_all(cx, &old, |entry| entry.date, Moves::Back).await?;
    // What is judged now is judged without what was posted before.
    let earlier = take_from_beside(cx, &old, |day| day, Leaving::Replaced).await?;
    cx.flush().await?;
    let judged = judge::<D>(cx, &head, asked, Purpose::Posting).await?;
    let numbered = number_of(&old.row)?;
    let version = old.row.version + 1;
    let entries = post_all(cx, D::KIND, (old.row.id, version), &head, &numbered, &judged.settled, Moves::In).await?;
    let row = row_of::<D>(cx, old.row.id, &head, &judged, Some(numbered), (Purpose::Posting, entries))?;
    let row = table::Model { posted_at: old.row.posted_at, ..row };
    check_rate::<D>(&earlier.open, &old.content.asked, judged.asked())?;
    check_allocated(cx.aliases()?, &earlier.open, &judged.settled.open, row.id)?;
    check_settled(cx, &earlier.open, &judged.settled.open, row.id).await?;
    ended::check_changed(cx, &earlier.open, &judged.settled.open, row.id).await?;
    let was = Edition { id: row.id, date: old.row.date, asked: &old.content.asked, figures: &old.content.figures };
    let is = Edition { id: row.id, date: row.date, asked: judged.asked(), figures: &judged.settled.figures };
    D::outlasts(cx, was, is).await?;
    check_followed((&old.row, &earlier.lines), (&row, judged.settled.progress.as_ref()))?;
    let stage = keep_beside::<D>(cx, &row, judged.settled, earlier).await?;
    let row = table::Model { stage, ..row };
    store(cx, old, row, AuditAction::Updated).await
}

/// Makes a posted document anew of what changed around it, on the days that it has. Whoever changed that did not write
/// it: what it moves is not held against how far they may go.
pub(crate) async fn renew<D: Document>(cx: &Cx<'_>, old: Old<D>, settled: Settled<D::Figures>) -> Result<()> {
    let periods = cx.periods().await?;
    let days = old.row.entries.0.iter().map(|entry| entry.date).chain(settled.entries.iter().map(|entry| entry.date));
    for day in days.collect::<BTreeSet<Day>>() {
        periods.check(D::MODULE, "date", day, cx.asker())?;
    }
    reverse_all(cx, &old, |entry| entry.date, Moves::Mirrored).await?;
    let judged = judged_anew::<D>(old.content.asked.clone(), settled);
    let numbered = number_of(&old.row)?;
    let version = old.row.version + 1;
    let anew = &judged.settled;
    let entries = post_all(cx, D::KIND, (old.row.id, version), &old.head, &numbered, anew, Moves::Mirrored).await?;
    let row = table::Model {
        content: judged.written(old.row.status)?,
        total: judged.settled.total,
        base_total: judged.settled.base_total,
        entries: EntryRefs(entries),
        ..old.row.clone()
    };
    store(cx, old, row, AuditAction::Updated).await.map(drop)
}

/// The same with what it moves beside the ledger: it is taken back, and settled of what there is by then.
pub(crate) async fn remake<D: Document>(cx: &Cx<'_>, old: Old<D>, asked: D::Asked) -> Result<()> {
    let periods = cx.periods().await?;
    for module in modules::<D>(cx, &old.row).await? {
        periods.check(module, "date", old.row.date, cx.asker())?;
    }
    D::release(cx, &old.row, Leaving::Replaced, None).await?;
    reverse_all(cx, &old, |entry| entry.date, Moves::Mirrored).await?;
    let earlier = take_from_beside(cx, &old, |day| day, Leaving::Replaced).await?;
    cx.flush().await?;
    let settled = D::settle(cx, &old.head, &asked, Purpose::Posting).await?;
    let judged = judged_anew::<D>(asked, settled);
    let numbered = number_of(&old.row)?;
    let version = old.row.version + 1;
    let anew = &judged.settled;
    let entries = post_all(cx, D::KIND, (old.row.id, version), &old.head, &numbered, anew, Moves::Mirrored).await?;
    let row = row_of::<D>(cx, old.row.id, &old.head, &judged, Some(numbered), (Purpose::Posting, entries))?;
    let row = table::Model { posted_at: old.row.posted_at, ..row };
    let stage = keep_beside::<D>(cx, &row, judged.settled, earlier).await?;
    store(cx, old, table::Model { stage, ..row }, AuditAction::Updated).await.map(drop)
}

/// The number of a posted document is its own, and taken already.
fn number_of(row: &table::Model) -> Result<Numbered> {
    Ok(Numbered {
        number: row.number.clone().ok_or_else(|| Error::internal("a posted document has no number"))?,
        series: row.series_id.ok_or_else(|| Error::internal("a posted document has no series"))?,
        place: row.period.clone().zip(row.sequence),
        by_hand: true,
    })
}

/// Changes its own fields that the ledger does not carry.
pub(crate) async fn reword<D: Document>(cx: &Cx<'_>, old: Old<D>, asked: D::Asked) -> Result<D::View> {
    let head = old.head.clone();
    reword_as(cx, old, head, asked).await
}

/// Changes words that the ledger does not carry.
async fn reword_as<D: Document>(cx: &Cx<'_>, old: Old<D>, head: Head, asked: D::Asked) -> Result<D::View> {
    let (content, written) = judge_words::<D>(cx, (&old.head, &old.content), &head, (asked, old.row.status)).await?;
    let row = D::reword_beside(cx, &old.row, &content.asked).await?;
    let row = table::Model {
        search: search_text(old.row.number.as_ref(), &head, &D::words(&content.asked)),
        content: written,
        reference: head.reference,
        narration: head.narration,
        external_id: head.external_id,
        tags: AsJson(head.tags),
        ..row
    };
    store(cx, old, row, AuditAction::Updated).await
}

/// Writes the next version of a document. What is kept of it stands where it did, where nothing of it changed.
pub(super) async fn store<D: Document>(
    cx: &Cx<'_>,
    old: Old<D>,
    row: table::Model,
    action: AuditAction,
) -> Result<D::View> {
    let (id, version) = (old.row.id, old.row.version);
    if let Some(touch) = cx.touched().take_of(id) {
        // It was touched by the same command, and is that version no longer.
        tell_touched(cx, touch, (shown(&old.before)?, old.row.stage))?;
    }
    let stays = row.content == old.row.content;
    let row = table::Model {
        record: old.row.record.filter(|_| stays),
        version: version + 1,
        created_at: old.row.created_at,
        created_by: old.row.created_by,
        updated_at: cx.now,
        updated_by: cx.user,
        ..row
    };
    cx.keep_named(&row)?;
    cx.flush().await?;
    let after = view::<D>(cx, row.clone()).await?;
    let record = note_version::<D>(cx, (action, &row), Some(&old.before), shown(&after)?)?;
    let update = table::Entity::update_many()
        .set(changed(&table::Model { record, ..row }))
        .filter(reach::<D>(cx)?)
        .filter(Column::Id.eq(id))
        .filter(Column::Version.eq(version));
    if update.exec(&cx.db).await?.rows_affected != 1 {
        return Err(Error::PreconditionFailed);
    }
    if record != old.row.record {
        // Whoever reads it from here on reads that as well.
        cx.flush().await?;
    }
    Ok(after)
}

/// The same document with what was done to it since, by the same command.
pub(super) async fn reload<D: Document>(cx: &Cx<'_>, old: Old<D>) -> Result<Old<D>> {
    cx.flush().await?;
    let row = rows::row::<D>(cx, old.row.id).await?;
    // A version that is the same is what was told of it, whatever of it is taken back by now.
    let before = if row.version == old.row.version { old.before } else { view::<D>(cx, row.clone()).await? };
    Ok(Old { row, before, ..old })
}

fn changed(row: &table::Model) -> table::ActiveModel {
    let row = row.clone();
    table::ActiveModel {
        subkind: Set(row.subkind),
        stage: Set(row.stage),
        status: Set(row.status),
        number: Set(row.number),
        series_id: Set(row.series_id),
        period: Set(row.period),
        sequence: Set(row.sequence),
        date: Set(row.date),
        due_date: Set(row.due_date),
        party_id: Set(row.party_id),
        reference: Set(row.reference),
        narration: Set(row.narration),
        currency: Set(row.currency),
        total: Set(row.total),
        base_total: Set(row.base_total),
        content: Set(row.content),
        record: Set(row.record),
        entries: Set(row.entries),
        posted_at: Set(row.posted_at),
        void_date: Set(row.void_date),
        void_reason: Set(row.void_reason),
        external_id: Set(row.external_id),
        tags: Set(row.tags),
        search: Set(row.search),
        version: Set(row.version),
        updated_at: Set(row.updated_at),
        updated_by: Set(row.updated_by),
        ..table::ActiveModel::default()
    }
}

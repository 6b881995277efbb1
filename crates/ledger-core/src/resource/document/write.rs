//! How documents come into the books, change there and leave them.
//!
//! A document is judged first and written last: everything that can be refused is refused before the desk gets
//! its first row.

use super::list::reach;
use super::{Content, Document, Draft, Head, Kept, Purpose, Settled, SettledEntry, content_of, view};
use crate::access::Action;
use crate::books::audit::{AuditAction, Change};
use crate::books::desk::NewEntry;
use crate::books::numbering::{self, Numbered};
use crate::books::posting::{Line, Posting};
use crate::books::tables::documents::{self as table, Column};
use crate::books::tables::{DocumentKind, DocumentStatus, EntryKind, EntryRef, entry_lines};
use crate::cx::Cx;
use crate::database::stored::AsJson;
use crate::day::Day;
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::resource::address;
use crate::resource::business::{DefaultDocumentStatus, PostedEditPolicy};
use crate::resource::operation::shown;
use crate::resource::rows;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder};

/// What is about to be written of a document.
struct Judged<D: Document> {
    content: Kept<D>,
    settled: Settled<D::Figures>,
}

async fn judge<D: Document>(cx: &Cx<'_>, head: &Head, asked: D::Asked, purpose: Purpose) -> Result<Judged<D>> {
    let settled = D::settle(cx, head, &asked, purpose).await?;
    if purpose == Purpose::Posting {
        let periods = cx.periods().await?;
        for entry in &settled.entries {
            periods.check(D::MODULE, entry.field, entry.date, cx.asker())?;
        }
    }
    Ok(Judged { content: Content { asked, figures: settled.figures.clone() }, settled })
}

pub(crate) async fn create<D: Document>(cx: &Cx<'_>, draft: &Draft<D::Asked>) -> Result<D::View> {
    let head = &draft.head;
    let wanted = head.status.unwrap_or(match cx.business()?.settings.default_document_status {
        DefaultDocumentStatus::Posted => DocumentStatus::Posted,
        DefaultDocumentStatus::Draft => DocumentStatus::Draft,
    });
    let purpose = match wanted {
        DocumentStatus::Draft => Purpose::Draft,
        DocumentStatus::Posted => Purpose::Posting,
        DocumentStatus::Void => return Err(Error::field("status", "must be draft or posted")),
    };
    if purpose == Purpose::Posting {
        cx.require(D::KEY, Action::Post)?;
    }
    check_external_id::<D>(cx, head, None).await?;
    let asked = D::complete(cx, head, D::identify(cx, &draft.asked, None)?).await?;
    let judged = judge::<D>(cx, head, asked, purpose).await?;
    let numbered = match purpose {
        Purpose::Draft => reserve::<D>(cx, head, None, purpose).await?,
        Purpose::Posting => {
            let chosen = numbering::choose(cx, D::KIND, head.date, head.series, head.number.as_deref()).await?;
            Some(chosen)
        }
    };
    let id = RecordId(cx.new_id());
    let entries = match (purpose, &numbered) {
        (Purpose::Posting, Some(numbered)) => post_all(cx, D::KIND, (id, 1), head, numbered, &judged.settled.entries)?,
        _ => Vec::new(),
    };
    let row = row_of::<D>(cx, id, head, &judged, numbered, entries)?;
    let view = D::view(cx, row.clone(), judged.content)?;
    note::<D>(cx, AuditAction::Created, id, None, Some(&view))?;
    cx.keep_document(row)?;
    Ok(view)
}

/// A number that a draft was given by hand; others get theirs when they are posted.
async fn reserve<D: Document>(
    cx: &Cx<'_>,
    head: &Head,
    except: Option<RecordId>,
    purpose: Purpose,
) -> Result<Option<Numbered>> {
    let Some(number) = &head.number else {
        if let Some(series) = head.series {
            cx.numbering().await?.series(D::KIND, Some(series))?;
        }
        return Ok(None);
    };
    let numbering = cx.numbering().await?;
    let series = numbering.series(D::KIND, head.series)?;
    let numbered = numbering::by_hand_in(cx, series, D::KIND, (head.date, number), except).await?;
    if numbered.place.is_some() && purpose == Purpose::Draft {
        // A draft may go again, and would leave a gap.
        return Err(Error::field(
            "number",
            "is of the series' own form; such a number is given when the draft is posted",
        ));
    }
    Ok(Some(numbered))
}

fn row_of<D: Document>(
    cx: &Cx<'_>,
    id: RecordId,
    head: &Head,
    judged: &Judged<D>,
    numbered: Option<Numbered>,
    entries: Vec<EntryRef>,
) -> Result<table::Model> {
    let settled = &judged.settled;
    let posted = !entries.is_empty() || !settled.entries.is_empty();
    let number = numbered.as_ref().map(|numbered| numbered.number.clone());
    let series = numbered.as_ref().map(|numbered| numbered.series).or(head.series);
    let (period, sequence) = numbered.and_then(|numbered| numbered.place).unzip();
    Ok(table::Model {
        business_id: cx.business_id()?,
        id,
        kind: D::KIND,
        subkind: settled.subkind.clone(),
        status: if posted { DocumentStatus::Posted } else { DocumentStatus::Draft },
        search: search_text(number.as_ref(), head, &D::words(&judged.content.asked)),
        number,
        series_id: series,
        period,
        sequence,
        date: head.date,
        party_id: settled.party,
        reference: head.reference.clone(),
        narration: head.narration.clone(),
        currency: settled.currency.clone(),
        total: settled.total,
        base_total: settled.base_total,
        content: serde_json::to_string(&judged.content).map_err(Error::internal)?,
        entries: AsJson(entries),
        posted_at: posted.then_some(cx.now),
        void_date: None,
        void_reason: None,
        external_id: head.external_id.clone(),
        tags: AsJson(head.tags.clone()),
        version: 1,
        created_at: cx.now,
        created_by: cx.user,
        updated_at: cx.now,
        updated_by: cx.user,
    })
}

fn search_text(number: Option<&String>, head: &Head, searched: &[String]) -> String {
    let mut texts = vec![number, head.reference.as_ref(), head.narration.as_ref()];
    texts.extend(searched.iter().map(Some));
    address::search_text(&texts)
}

/// Takes the number and puts every entry of a document into the books.
fn post_all(
    cx: &Cx<'_>,
    kind: DocumentKind,
    (id, version): (RecordId, i64),
    head: &Head,
    numbered: &Numbered,
    settled: &[SettledEntry],
) -> Result<Vec<EntryRef>> {
    if let (Some((period, place)), false) = (&numbered.place, numbered.by_hand) {
        cx.set_counter(numbered.series, period.clone(), *place, head.date)?;
    }
    let mut entries: Vec<EntryRef> = Vec::new();
    for entry in settled.iter().filter(|entry| !entry.posting.is_empty()) {
        // What takes itself back on a later day takes back what was posted first.
        let reverses = (entry.kind == EntryKind::AutoReversal).then(|| entries.first().map(|first| first.id)).flatten();
        entries.push(cx.post(NewEntry {
            date: entry.date,
            kind: entry.kind,
            document: kind,
            document_id: id,
            document_version: version,
            document_number: Some(numbered.number.clone()),
            reverses,
            narration: head.narration.clone(),
            posting: entry.posting.clone(),
        })?);
    }
    Ok(entries)
}

fn note<D: Document>(
    cx: &Cx<'_>,
    action: AuditAction,
    id: RecordId,
    before: Option<&D::View>,
    after: Option<&D::View>,
) -> Result<()> {
    let before = before.map(shown).transpose()?;
    let after = after.map(shown).transpose()?;
    let change = Change {
        action,
        resource: D::KEY,
        id,
        version_from: before.as_ref().map(|shown| shown.version),
        version_to: after.as_ref().map(|shown| shown.version),
        before: before.map(|shown| shown.json),
        after: after.map(|shown| shown.json),
    };
    cx.record(cx.business_id()?, change)
}

async fn check_external_id<D: Document>(cx: &Cx<'_>, head: &Head, except: Option<RecordId>) -> Result<()> {
    let Some(external_id) = &head.external_id else { return Ok(()) };
    cx.flush().await?;
    let mut others = table::Entity::find().filter(reach::<D>(cx)?).filter(Column::ExternalId.eq(external_id.as_str()));
    if let Some(id) = except {
        others = others.filter(Column::Id.ne(id));
    }
    if others.count(&cx.db).await? == 0 {
        return Ok(());
    }
    Err(Error::Conflict(Conflict {
        code: "duplicate",
        title: format!("Another of the {} already has this value", D::ABOUT.many),
        errors: FieldErrors::one(
            "externalId",
            format!("{external_id} is already used by another of the {}", D::ABOUT.many),
        ),
    }))
}

pub(super) fn invalid_state(title: impl Into<String>) -> Error {
    Error::conflict("invalid_state", title)
}

/// A document that is about to change.
pub(super) struct Old<D: Document> {
    pub(super) row: table::Model,
    pub(super) content: Kept<D>,
    pub(super) head: Head,
}

pub(super) async fn load<D: Document>(cx: &Cx<'_>, id: RecordId) -> Result<Old<D>> {
    let row = rows::row::<D>(cx, id).await?;
    cx.check_expectation(id, row.version)?;
    let content = content_of::<D>(&row)?;
    let head = Head {
        date: row.date,
        status: Some(row.status),
        number: row.number.clone(),
        series: row.series_id,
        reference: row.reference.clone(),
        narration: row.narration.clone(),
        external_id: row.external_id.clone(),
        tags: row.tags.0.clone(),
    };
    Ok(Old { row, content, head })
}

pub(crate) async fn update<D: Document>(cx: &Cx<'_>, id: RecordId, draft: &Draft<D::Asked>) -> Result<D::View> {
    let old = load::<D>(cx, id).await?;
    let asked = D::identify(cx, &draft.asked, Some(&old.content.asked))?;
    let asked = D::complete(cx, &draft.head, asked).await?;
    let target = draft.head.status.unwrap_or(old.row.status);
    let mut head = Head { status: Some(target), ..draft.head.clone() };
    if old.row.status != DocumentStatus::Draft {
        // Its number is its own; a body that leaves it out leaves it alone.
        head.number = head.number.or_else(|| old.head.number.clone());
        head.series = head.series.or(old.head.series);
    }
    let changes_books = asked != old.content.asked || head.date != old.head.date;
    let changes_number = head.number != old.head.number || head.series != old.head.series;
    let changes_words = (&head.reference, &head.narration, &head.external_id, &head.tags)
        != (&old.head.reference, &old.head.narration, &old.head.external_id, &old.head.tags);
    let changes = changes_books || changes_number || changes_words;
    if !changes && target == old.row.status {
        return view::<D>(cx, old.row);
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
        (DocumentStatus::Posted, DocumentStatus::Posted) => reword(cx, old, head).await,
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

/// Replaces a draft, and posts it where that is the purpose.
pub(super) async fn replace_draft<D: Document>(
    cx: &Cx<'_>,
    old: Old<D>,
    head: Head,
    asked: D::Asked,
    purpose: Purpose,
) -> Result<D::View> {
    let judged = judge::<D>(cx, &head, asked, purpose).await?;
    let id = old.row.id;
    let by_hand = match &head.number {
        // The number that the draft already holds is its own.
        Some(number) if old.head.number.as_ref() == Some(number) && old.head.date == head.date => Some(Numbered {
            number: number.clone(),
            series: old.row.series_id.or(head.series).unwrap_or_default(),
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
            post_all(cx, D::KIND, (id, version), &head, numbered, &judged.settled.entries)?
        }
        _ => Vec::new(),
    };
    let row = row_of::<D>(cx, id, &head, &judged, numbered, entries)?;
    let action = if purpose == Purpose::Posting { AuditAction::Posted } else { AuditAction::Updated };
    store(cx, old, row, action).await
}

/// Takes back what a document posted and posts what it says now.
async fn repost<D: Document>(cx: &Cx<'_>, old: Old<D>, head: Head, asked: D::Asked) -> Result<D::View> {
    if cx.business()?.settings.posted_edit_policy == PostedEditPolicy::CorrectionOnly {
        return Err(invalid_state("The company does not change posted documents; void this one and make another"));
    }
    let periods = cx.periods().await?;
    for entry in &old.row.entries.0 {
        periods.check(D::MODULE, "date", entry.date, cx.asker())?;
    }
    reverse_all(cx, &old, |entry| entry.date).await?;
    // What is judged now is judged without what was posted before.
    cx.flush().await?;
    let judged = judge::<D>(cx, &head, asked, Purpose::Posting).await?;
    let number = old.head.number.clone().unwrap_or_default();
    let place = old.row.period.clone().zip(old.row.sequence);
    let series = old.row.series_id.unwrap_or_default();
    // Its number is taken already.
    let numbered = Numbered { number, series, place, by_hand: true };
    let version = old.row.version + 1;
    let entries = post_all(cx, D::KIND, (old.row.id, version), &head, &numbered, &judged.settled.entries)?;
    let row = row_of::<D>(cx, old.row.id, &head, &judged, Some(numbered), entries)?;
    let row = table::Model { status: DocumentStatus::Posted, posted_at: old.row.posted_at, ..row };
    store(cx, old, row, AuditAction::Updated).await
}

/// Changes words that the ledger does not carry.
async fn reword<D: Document>(cx: &Cx<'_>, old: Old<D>, head: Head) -> Result<D::View> {
    let row = table::Model {
        search: search_text(old.row.number.as_ref(), &head, &D::words(&old.content.asked)),
        reference: head.reference,
        narration: head.narration,
        external_id: head.external_id,
        tags: AsJson(head.tags),
        ..old.row.clone()
    };
    store(cx, old, row, AuditAction::Updated).await
}

/// Reverses every entry that a document stands for, each on a day that is chosen for it.
async fn reverse_all<D: Document>(cx: &Cx<'_>, old: &Old<D>, day: impl Fn(&EntryRef) -> Day) -> Result<Vec<EntryRef>> {
    let live = &old.row.entries.0;
    let lines = entry_lines::Entity::find()
        .filter(entry_lines::Column::BusinessId.eq(old.row.business_id))
        .filter(entry_lines::Column::EntryNumber.is_in(live.iter().map(|entry| entry.number)))
        .order_by_asc(entry_lines::Column::EntryNumber)
        .order_by_asc(entry_lines::Column::Position)
        .all(&cx.db)
        .await?;
    let mut reversals = Vec::new();
    for entry in live {
        let of_entry = lines.iter().filter(|line| line.entry_number == entry.number).map(posted_line).collect();
        let posting =
            Posting::balanced(of_entry).map_err(|_| Error::internal("an entry in the books does not balance"))?;
        reversals.push(cx.post(NewEntry {
            date: day(entry),
            kind: EntryKind::Reversal,
            document: D::KIND,
            document_id: old.row.id,
            document_version: old.row.version + 1,
            document_number: old.row.number.clone(),
            reverses: Some(entry.id),
            narration: old.row.narration.clone(),
            posting: posting.reversed(),
        })?);
    }
    Ok(reversals)
}

fn posted_line(line: &entry_lines::Model) -> Line {
    Line {
        account: line.account_id,
        party: line.party_id,
        amount: line.amount,
        currency: line.currency.clone(),
        currency_amount: line.currency_amount,
        description: line.description.clone(),
        due_date: line.due_date,
    }
}

/// Takes a document back out of the books. Each entry is reversed on the day asked for, or on its own day if
/// that is open, else on the first open day after it.
pub(super) async fn void<D: Document>(
    cx: &Cx<'_>,
    old: Old<D>,
    date: Option<Day>,
    reason: Option<String>,
) -> Result<D::View> {
    let periods = cx.periods().await?;
    if let Some(date) = date {
        if date < old.row.date {
            return Err(Error::field("date", format!("must not be before the document's own date, {}", old.row.date)));
        }
        periods.check(D::MODULE, "date", date, cx.asker())?;
    }
    let day = |entry: &EntryRef| match date {
        Some(date) => Ord::max(date, entry.date),
        None => periods.first_open(D::MODULE, entry.date, cx.asker()),
    };
    let void_date = date.unwrap_or_else(|| periods.first_open(D::MODULE, old.row.date, cx.asker()));
    let mut entries = old.row.entries.0.clone();
    entries.extend(reverse_all(cx, &old, day).await?);
    let row = table::Model {
        status: DocumentStatus::Void,
        void_date: Some(void_date),
        void_reason: reason,
        entries: AsJson(entries),
        ..old.row.clone()
    };
    store(cx, old, row, AuditAction::Voided).await
}

/// Writes the next version of a document.
async fn store<D: Document>(cx: &Cx<'_>, old: Old<D>, row: table::Model, action: AuditAction) -> Result<D::View> {
    let (id, version) = (old.row.id, old.row.version);
    let row = table::Model {
        version: version + 1,
        created_at: old.row.created_at,
        created_by: old.row.created_by,
        updated_at: cx.now,
        updated_by: cx.user,
        ..row
    };
    let update = table::Entity::update_many()
        .set(changed(&row))
        .filter(reach::<D>(cx)?)
        .filter(Column::Id.eq(id))
        .filter(Column::Version.eq(version));
    if update.exec(&cx.db).await?.rows_affected != 1 {
        return Err(Error::PreconditionFailed);
    }
    let before = view::<D>(cx, old.row)?;
    let after = view::<D>(cx, row)?;
    note::<D>(cx, action, id, Some(&before), Some(&after))?;
    Ok(after)
}

fn changed(row: &table::Model) -> table::ActiveModel {
    let row = row.clone();
    table::ActiveModel {
        subkind: Set(row.subkind),
        status: Set(row.status),
        number: Set(row.number),
        series_id: Set(row.series_id),
        period: Set(row.period),
        sequence: Set(row.sequence),
        date: Set(row.date),
        party_id: Set(row.party_id),
        reference: Set(row.reference),
        narration: Set(row.narration),
        currency: Set(row.currency),
        total: Set(row.total),
        base_total: Set(row.base_total),
        content: Set(row.content),
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

/// A draft goes; what is in the books is voided.
pub(crate) async fn delete<D: Document>(cx: &Cx<'_>, id: RecordId) -> Result<()> {
    let old = load::<D>(cx, id).await?;
    match old.row.status {
        DocumentStatus::Draft => {
            let before = view::<D>(cx, old.row)?;
            table::Entity::delete_many().filter(reach::<D>(cx)?).filter(Column::Id.eq(id)).exec(&cx.db).await?;
            note::<D>(cx, AuditAction::Deleted, id, Some(&before), None)
        }
        DocumentStatus::Posted => {
            cx.require(D::KEY, Action::Void)?;
            void(cx, old, None, None).await.map(|_| ())
        }
        DocumentStatus::Void => Err(invalid_state("The document is void already; it stays, with its number")),
    }
}

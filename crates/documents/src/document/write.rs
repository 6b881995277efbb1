//! How documents come into the books, change there and leave them.
//!
//! A document is judged first and written last: everything that can be refused is refused before the desk gets
//! its first row.

use super::judging::{Judged, check_tax_date, judge, judge_words, judged_anew};
use super::list::reach;
use super::{
    Before, Change as OwnChange, Document, Draft, Edition, Head, Kept, Purpose, Settled, SettledEntry, content_of,
    ended, meant, view,
};
use crate::day::Day;
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::quoting::quoted;
use crate::stored::AsJson;
use books::Leaving;
use books::audit::{AuditAction, Change};
use books::cx::Cx;
use books::desk::{NewEntry, Standing};
use books::limits::{self, Moves};
use books::numbering::{self, Numbered};
use books::open_items::{NewOpen, begin, close, settled_from};
use books::periods::Module;
use books::progress;
use books::stock;
use books::tax_facts;
use kit::operation::shown;
use kit::rows;
use schema::address;
use schema::aliases::{Aliases, Named};
use schema::business::{DefaultDocumentStatus, PostedEditPolicy};
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::CLOSED;
use schema::tables::documents::{self as table, Column};
use schema::tables::{DocumentKind, DocumentStatus, EntryKind, EntryRef, Stage, document_lines, entries, open_items};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};
use words::sown::{Fault, sown};

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
    let asked = D::complete(cx, head, meant::<D>(cx, D::identify(cx, &draft.asked, None)?)?).await?;
    let sequel = (purpose == Purpose::Posting && D::has_sequel(&asked)).then(|| asked.clone());
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
        (Purpose::Posting, Some(numbered)) => {
            post_all(cx, D::KIND, (id, 1), head, numbered, &judged.settled.entries, Moves::In).await?
        }
        _ => Vec::new(),
    };
    let row = row_of::<D>(cx, id, head, &judged, numbered, (purpose, entries))?;
    let (content, settled) = judged.apart();
    let live = D::fresh(&settled);
    let stage = keep_beside::<D>(cx, &row, settled, Earlier::default()).await?;
    let row = table::Model { stage, ..row };
    let view = D::view(cx, row.clone(), content, live)?;
    note::<D>(cx, AuditAction::Created, id, None, Some(&view))?;
    cx.keep_document(row.clone())?;
    let Some(asked) = sequel else { return Ok(view) };
    D::posted(cx, &row, &asked).await?;
    cx.flush().await?;
    rows::get::<D>(cx, id).await
}

/// What the last version of a document had in the sub-ledgers.
#[derive(Default)]
struct Earlier {
    open: Vec<open_items::Model>,
    lines: Vec<progress::Line>,
    /// The documents that it followed.
    followed: BTreeSet<RecordId>,
}

/// What a document that comes into the books has in the sub-ledgers. How far it has got by that is answered, where
/// others may follow it.
async fn keep_beside<D: Document>(
    cx: &Cx<'_>,
    row: &table::Model,
    settled: Settled<D::Figures>,
    earlier: Earlier,
) -> Result<Option<Stage>> {
    for new in &settled.open {
        let before = earlier.open.iter().find(|old| old.id == new.line.unwrap_or(row.id) && old.is_touched());
        begin(cx, (D::KIND, row.id), new, before)?;
    }
    let mut followed = earlier.followed;
    let stage = match settled.progress {
        Some(plan) => {
            followed.extend(plan.steps.values().map(|(line, _)| line.document_id));
            progress::keep(cx, row, plan, &earlier.lines).await?
        }
        None => None,
    };
    get_on(cx, row, followed).await?;
    for (line, line_no) in settled.lines.into_iter().zip(1..) {
        let line = document_lines::Model {
            business_id: row.business_id,
            document_id: row.id,
            line_no,
            id: line.id,
            kind: D::KIND,
            date: row.date,
            party_id: row.party_id,
            item_id: line.item,
            account_id: line.account,
            tax_code_id: line.tax_code,
            quantity: line.quantity,
            net: line.net,
            tax: line.tax,
            base_net: line.base_net,
            base_tax: line.base_tax,
            source_line_id: line.source_line,
        };
        cx.keep(|desk| desk.keep_line(line))?;
    }
    if let Some(plan) = settled.stock {
        stock::keep(cx, row, plan).await?;
    }
    Ok(stage)
}

/// Documents of which another was made, or no longer is: how far they have got, a new version, and a line in their logs
/// that says by what.
async fn get_on(cx: &Cx<'_>, by: &table::Model, followed: BTreeSet<RecordId>) -> Result<()> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct FollowedBy<'d> {
        r#type: DocumentKind,
        id: RecordId,
        number: Option<&'d str>,
        stage: Stage,
    }
    if followed.is_empty() {
        return Ok(());
    }
    cx.flush().await?;
    let ids: Vec<RecordId> = followed.into_iter().collect();
    let chains = progress::chains(cx, &ids).await?;
    let rows = table::Entity::find().filter(Column::BusinessId.eq(by.business_id)).filter(Column::Id.is_in(ids));
    for row in rows.all(&cx.db).await? {
        let stage = match chains.get(&row.id) {
            // What a closed order gets back is given up like the rest.
            Some(_) if row.subkind.as_deref() == Some(CLOSED) => progress::close(cx, &row, true).await?,
            Some(chain) => chain.stage(false),
            None => continue,
        };
        let (business, id) = (row.business_id, row.id);
        cx.keep(|desk| desk.stands(Standing::Reached { business, id, stage }))?;
        let noted = FollowedBy { r#type: by.kind, id: by.id, number: by.number.as_deref(), stage };
        note_change(cx, row.kind.into(), AuditAction::Updated, (row.id, row.version), &noted)?;
    }
    Ok(())
}

/// Takes a document out of the sub-ledgers. What it had there is answered.
async fn take_from_beside<D: Document>(
    cx: &Cx<'_>,
    old: &Old<D>,
    day: impl Fn(Day) -> Day,
    leaving: Leaving,
) -> Result<Earlier> {
    let open = close(cx, old.row.id, &day).await?;
    document_lines::Entity::delete_many()
        .filter(document_lines::Column::BusinessId.eq(old.row.business_id))
        .filter(document_lines::Column::DocumentId.eq(old.row.id))
        .exec(&cx.db)
        .await?;
    stock::take_back(cx, &old.row, &day, leaving).await?;
    let (lines, released) = progress::take_back(cx, &old.row, &day, leaving).await?;
    Ok(Earlier { open, lines, followed: released.iter().map(|line| line.document_id).collect() })
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
    (purpose, entries): (Purpose, Vec<EntryRef>),
) -> Result<table::Model> {
    let settled = &judged.settled;
    let posted = purpose == Purpose::Posting;
    let number = numbered.as_ref().map(|numbered| numbered.number.clone());
    let series = numbered.as_ref().map(|numbered| numbered.series).or(head.series);
    let (period, sequence) = numbered.and_then(|numbered| numbered.place).unzip();
    let status = if posted { DocumentStatus::Posted } else { DocumentStatus::Draft };
    Ok(table::Model {
        business_id: cx.business_id()?,
        id,
        kind: D::KIND,
        subkind: settled.subkind.clone(),
        stage: None,
        status,
        search: search_text(number.as_ref(), head, &D::words(judged.asked())),
        number,
        series_id: series,
        period,
        sequence,
        date: head.date,
        party_id: settled.party.map(Named::of),
        reference: head.reference.clone(),
        narration: head.narration.clone(),
        currency: settled.currency.clone(),
        total: settled.total,
        base_total: settled.base_total,
        content: judged.written(status)?,
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
async fn post_all(
    cx: &Cx<'_>,
    kind: DocumentKind,
    (id, version): (RecordId, i64),
    head: &Head,
    numbered: &Numbered,
    settled: &[SettledEntry],
    moves: Moves,
) -> Result<Vec<EntryRef>> {
    if let (Some((period, place)), false) = (&numbered.place, numbered.by_hand) {
        cx.set_counter(numbered.series, period.clone(), *place, head.date)?;
    }
    let mut entries: Vec<EntryRef> = Vec::new();
    for entry in settled.iter().filter(|entry| !entry.posting.is_empty()) {
        // What takes itself back on a later day takes back what was posted first.
        let reverses = (entry.kind == EntryKind::AutoReversal).then(|| entries.first().map(|first| first.id)).flatten();
        let new = NewEntry {
            date: entry.date,
            kind: entry.kind,
            document: kind,
            document_id: id,
            document_version: version,
            document_number: Some(numbered.number.clone()),
            reverses,
            moves: if entry.kind == EntryKind::AutoReversal { Moves::Mirrored } else { moves },
            narration: head.narration.clone(),
            posting: entry.posting.clone(),
        };
        entries.push(cx.post(new).await?);
    }
    Ok(entries)
}

/// Notes that a document was touched by something else: its figures moved, and it has a new version.
pub(crate) fn note_change(
    cx: &Cx<'_>,
    key: ResourceKey,
    action: AuditAction,
    (id, version): (RecordId, i64),
    after: &impl Serialize,
) -> Result<()> {
    let change = Change {
        action,
        resource: key,
        id,
        version_from: Some(version),
        version_to: Some(version + 1),
        before: None,
        after: Some(serde_json::to_string(after).map_err(Error::internal)?),
    };
    let (business, at, by) = (cx.business_id()?, cx.now, cx.user);
    cx.keep(|desk| desk.stands(Standing::Touched { business, id, version: version + 1, at, by }))?;
    cx.record(business, change)
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
            format!("{} is already used by another of the {}", quoted(external_id), D::ABOUT.many),
        ),
    }))
}

pub(crate) fn invalid_state(title: impl Into<String>) -> Error {
    Error::conflict("invalid_state", title)
}

/// A document that is about to change.
pub(crate) struct Old<D: Document> {
    pub(crate) row: table::Model,
    pub(crate) content: Kept<D>,
    pub(crate) head: Head,
    /// As it is answered now.
    before: D::View,
}

pub(crate) async fn load<D: Document>(cx: &Cx<'_>, id: RecordId) -> Result<Old<D>> {
    let row = rows::row::<D>(cx, id).await?;
    cx.check_expectation(id, row.version)?;
    found(cx, row).await
}

/// A document as it stands, whatever is expected of another.
pub(crate) async fn found<D: Document>(cx: &Cx<'_>, row: table::Model) -> Result<Old<D>> {
    let content = content_of::<D>(cx, &row)?;
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
    let before = view::<D>(cx, row.clone()).await?;
    Ok(Old { row, content, head, before })
}

/// Refuses whoever may not see what they would have read into a document of theirs.
pub(crate) fn check_source(cx: &Cx<'_>, kind: impl Into<ResourceKey>) -> Result<()> {
    cx.require(kind.into(), Action::View)
}

/// A document that another is made of. What is made tells what it is made of.
pub(crate) async fn load_source<D: Document>(cx: &Cx<'_>, id: RecordId) -> Result<Old<D>> {
    check_source(cx, D::KEY)?;
    load::<D>(cx, id).await
}

pub(crate) async fn update<D: Document>(cx: &Cx<'_>, id: RecordId, draft: &Draft<D::Asked>) -> Result<D::View> {
    let old = load::<D>(cx, id).await?;
    let before = Before {
        asked: &old.content.asked,
        status: old.row.status,
        stage: old.row.stage,
        posted_at: old.row.posted_at,
    };
    let asked = meant::<D>(cx, D::identify(cx, &draft.asked, Some(before))?)?;
    let asked = D::sent_back(asked, &old.content);
    let asked = D::complete(cx, &draft.head, asked).await?;
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

/// Replaces a draft, and posts it where that is the purpose.
pub(super) async fn replace_draft<D: Document>(
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
            post_all(cx, D::KIND, (id, version), &head, numbered, &judged.settled.entries, Moves::In).await?
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
    for entry in &old.row.entries.0 {
        for module in &modules {
            periods.check(*module, "date", entry.date, cx.asker())?;
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
    let entries =
        post_all(cx, D::KIND, (old.row.id, version), &head, &numbered, &judged.settled.entries, Moves::In).await?;
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
    let anew = &judged.settled.entries;
    let entries = post_all(cx, D::KIND, (old.row.id, version), &old.head, &numbered, anew, Moves::Mirrored).await?;
    let row = table::Model {
        content: judged.written(old.row.status)?,
        total: judged.settled.total,
        base_total: judged.settled.base_total,
        entries: AsJson(entries),
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
    let anew = &judged.settled.entries;
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

/// What was allocated must still fit: the same party, currency and account, and not more than there is now.
fn check_allocated(
    aliases: &Aliases,
    before: &[open_items::Model],
    after: &[NewOpen],
    document: RecordId,
) -> Result<()> {
    for old in before.iter().filter(|old| old.is_touched()) {
        let new = after.iter().find(|new| new.line.unwrap_or(document) == old.id);
        let fits = new.is_some_and(|new| {
            let allocated = old.amount.units() - old.open.units();
            let (left, base_left) =
                (new.amount.units() - allocated, new.base.units() - (old.base.units() - old.base_open.units()));
            let same_side = new.amount.is_negative() == old.amount.is_negative();
            let enough = if new.amount.is_negative() { left <= 0 } else { left >= 0 };
            same_side
                && enough
                && (left != 0 || base_left == 0)
                && (new.party, new.account, &new.currency) == (aliases.of(old.party_id), old.account_id, &old.currency)
        });
        if !fits {
            return Err(Error::conflict(
                "has_allocations",
                "It is allocated: its party, currency and account stay, and its total may not fall below what is \
                 allocated; remove the allocations first",
            ));
        }
    }
    Ok(())
}

/// Nothing is settled before both sides were there.
async fn check_settled(cx: &Cx<'_>, before: &[open_items::Model], after: &[NewOpen], document: RecordId) -> Result<()> {
    for old in before.iter().filter(|old| old.is_touched()) {
        let Some(new) = after.iter().find(|new| new.line.unwrap_or(document) == old.id) else { continue };
        if let Some(day) = settled_from(cx, old).await?.filter(|day| *day < new.date) {
            return Err(Error::Conflict(Conflict {
                code: "has_allocations",
                title: format!("It is allocated on {day}; remove that allocation first"),
                errors: FieldErrors::one("date", format!("must not be after {day}, when it was allocated")),
            }));
        }
    }
    Ok(())
}

/// What settled a document was worth what its rate says.
fn check_rate<D: Document>(before: &[open_items::Model], old: &D::Asked, new: &D::Asked) -> Result<()> {
    let moves = D::rate(old) != D::rate(new) && !sown(Fault::SettledRateMoves);
    if !moves || !before.iter().any(open_items::Model::is_touched) {
        return Ok(());
    }
    Err(Error::Conflict(Conflict {
        code: "has_allocations",
        title: "It is allocated: its exchange rate stays; remove the allocations first".into(),
        errors: FieldErrors::one("exchangeRate", "must stay as it is while something is allocated"),
    }))
}

/// What was made of a document must still fit it: the same party and currency, and of each line the same item, and not
/// less than was delivered or invoiced.
fn check_followed(
    (old, before): (&table::Model, &[progress::Line]),
    (new, plan): (&table::Model, Option<&progress::Plan>),
) -> Result<()> {
    if before.iter().any(progress::Line::is_touched) {
        let mut errors = FieldErrors::default();
        for (changes, field, what) in
            [(old.party_id != new.party_id, "partyId", "party"), (old.currency != new.currency, "currency", "currency")]
        {
            if changes {
                errors.add(field, format!("must stay: other documents follow it with this {what}"));
            }
        }
        if !errors.is_empty() {
            let title = "Other documents follow it".into();
            return Err(Error::Conflict(Conflict { code: "in_use", title, errors }));
        }
    }
    for old in before.iter().filter(|old| old.is_touched()) {
        let new = plan.and_then(|plan| plan.begins.iter().find(|new| new.line_id == old.line_id));
        let used = if old.is_order() { Ord::max(old.fulfilled, old.invoiced) } else { old.taken()? };
        // More than was ordered may have been delivered; it need not be taken back for a change of words.
        let least = Ord::min(used, old.quantity);
        if !new.is_some_and(|new| new.item_id == old.item_id && new.quantity >= least) {
            return Err(Error::Conflict(Conflict {
                code: "in_use",
                title: "Other documents follow its lines".into(),
                errors: FieldErrors::one(
                    "lines",
                    format!("must keep the line {}, its item and a quantity of at least {least}", old.line_id),
                ),
            }));
        }
    }
    Ok(())
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

/// Reverses every entry that a document stands for, each on a day that is chosen for it.
async fn reverse_all<D: Document>(
    cx: &Cx<'_>,
    old: &Old<D>,
    day: impl Fn(&EntryRef) -> Day,
    moves: Moves,
) -> Result<Vec<EntryRef>> {
    let (live, periods) = (&old.row.entries.0, cx.periods().await?);
    let postings = tax_facts::postings(cx, live).await?;
    let mirrors: HashSet<i64> = entries::Entity::find()
        .filter(entries::Column::BusinessId.eq(old.row.business_id))
        .filter(entries::Column::Number.is_in(live.iter().map(|entry| entry.number)))
        .filter(entries::Column::Kind.eq(EntryKind::AutoReversal))
        .select_only()
        .column(entries::Column::Number)
        .into_tuple()
        .all(&cx.db)
        .await?
        .into_iter()
        .collect();
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
async fn modules<D: Document>(cx: &Cx<'_>, row: &table::Model) -> Result<Vec<Module>> {
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
    let modules = modules::<D>(cx, &old.row).await?;
    if let Some(date) = date {
        if date < old.row.date {
            return Err(Error::field("date", format!("must not be before the document's own date, {}", old.row.date)));
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
        return Err(Error::conflict("has_allocations", "It is allocated; remove its allocations first"));
    }
    ended::check_gone(cx, &earlier.open, day).await?;
    get_on(cx, &old.row, earlier.followed).await?;
    let row = table::Model {
        status: DocumentStatus::Void,
        stage: None,
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
    cx.keep_named(&row)?;
    let before = old.before;
    cx.flush().await?;
    let after = view::<D>(cx, row).await?;
    note::<D>(cx, action, id, Some(&before), Some(&after))?;
    Ok(after)
}

/// The same document with what was done to it since, by the same command.
async fn reload<D: Document>(cx: &Cx<'_>, old: Old<D>) -> Result<Old<D>> {
    cx.flush().await?;
    let row = rows::row::<D>(cx, old.row.id).await?;
    let before = view::<D>(cx, row.clone()).await?;
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

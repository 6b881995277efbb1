//! A document that is new.

use super::beside::{Earlier, keep_beside};
use super::checks::check_external_id;
use super::noting::note_version;
use crate::document::judging::{Judged, judge};
use crate::document::{Document, Draft, Head, Purpose, Settled, meant};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::stored::AsJson;
use books::audit::AuditAction;
use books::cx::Cx;
use books::desk::{NewEntry, Trade};
use books::limits::Moves;
use books::numbering::{self, Numbered};
use kit::operation::{Shown, shown};
use kit::rows;
use schema::address;
use schema::aliases::Named;
use schema::business::DefaultDocumentStatus;
use schema::rights::Action;
use schema::tables::{DocumentKind, DocumentStatus, EntryKind, EntryRef, EntryRefs, WRITE_OFF, documents as table};
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
    let id = RecordId(cx.own_id());
    let entries = match (purpose, &numbered) {
        (Purpose::Posting, Some(numbered)) => {
            post_all(cx, D::KIND, (id, 1), head, numbered, &judged.settled, Moves::In).await?
        }
        _ => Vec::new(),
    };
    let row = row_of::<D>(cx, id, head, &judged, numbered, (purpose, entries))?;
    let (content, settled) = judged.apart();
    let live = D::fresh(&settled);
    let stage = keep_beside::<D>(cx, &row, settled, Earlier::default()).await?;
    let row = table::Model { stage, ..row };
    let view = D::view(cx, row.clone(), content, live)?;
    let Shown { id, version, json } = shown(&view)?;
    if sequel.is_none() {
        // What comes after it may change what is answered.
        cx.answers((id, version, json.clone()));
    }
    let record = note_version::<D>(cx, (AuditAction::Created, &row), None, Shown { id, version, json })?;
    let row = table::Model { record, ..row };
    cx.keep_document(row.clone())?;
    let Some(asked) = sequel else { return Ok(view) };
    D::posted(cx, &row, &asked).await?;
    cx.flush().await?;
    rows::get::<D>(cx, id).await
}

/// A number that a draft was given by hand; others get theirs when they are posted.
pub(super) async fn reserve<D: Document>(
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

pub(super) fn row_of<D: Document>(
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
        due_date: D::due(judged.asked()),
        party_id: settled.party.map(Named::of),
        reference: head.reference.clone(),
        narration: head.narration.clone(),
        currency: settled.currency.clone(),
        total: settled.total,
        base_total: settled.base_total,
        content: judged.written(status)?,
        record: None,
        entries: EntryRefs(entries),
        posted_at: posted.then(|| cx.moment_of_posting()).transpose()?,
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

pub(super) fn search_text(number: Option<&String>, head: &Head, searched: &[String]) -> String {
    let mut texts = vec![number, head.reference.as_ref(), head.narration.as_ref()];
    texts.extend(searched.iter().map(Some));
    address::search_text(&texts)
}

/// What a document trades. What is written off was sold all the same.
pub(super) fn trade_of(kind: DocumentKind, subkind: Option<&str>, party: Option<Named>) -> Option<Trade> {
    let writes_off = kind == DocumentKind::CreditNote && subkind == Some(WRITE_OFF);
    (!writes_off || sown(Fault::WriteOffTakesOffIncome)).then_some(Trade { party })
}

/// Takes the number and puts every entry of a document into the books.
pub(super) async fn post_all<F>(
    cx: &Cx<'_>,
    kind: DocumentKind,
    (id, version): (RecordId, i64),
    head: &Head,
    numbered: &Numbered,
    settled: &Settled<F>,
    moves: Moves,
) -> Result<Vec<EntryRef>> {
    if let (Some((period, place)), false) = (&numbered.place, numbered.by_hand) {
        cx.set_counter(numbered.series, period.clone(), *place, head.date)?;
    }
    let mut entries: Vec<EntryRef> = Vec::new();
    for entry in settled.entries.iter().filter(|entry| !entry.posting.is_empty()) {
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
            trade: trade_of(kind, settled.subkind.as_deref(), settled.party.map(Named::of))
                .filter(|_| entry.kind != EntryKind::Opening),
            moves: if entry.kind == EntryKind::AutoReversal { Moves::Mirrored } else { moves },
            narration: head.narration.clone(),
            posting: entry.posting.clone(),
        };
        entries.push(cx.post(new).await?);
    }
    Ok(entries)
}

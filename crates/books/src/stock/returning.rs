//! Goods come back after they went: what they come back at is what they left with.

use super::Gone;
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use answers::Ask;
use schema::tables::{FactKind, documents, stock_facts};
use sea_orm::{ColumnTrait, QueryFilter};
use std::collections::HashMap;
use words::sown::{Fault, sown};

const fn returns(kind: FactKind) -> bool {
    matches!(kind, FactKind::CustomerReturn | FactKind::SupplierReturn)
}

const fn goes(kind: FactKind) -> bool {
    matches!(kind, FactKind::Issue | FactKind::Receipt)
}

/// When it happens: on its day, and in the order of that day.
const fn moment(fact: &stock_facts::Model) -> (Day, i64) {
    (fact.date, fact.place)
}

/// Refuses what would come back before it went, by whichever of the two is written.
pub(super) async fn check(cx: &Cx<'_>, gone: &[Gone], new: &[stock_facts::Model]) -> Result<()> {
    if sown(Fault::BackBeforeItWent) {
        return Ok(());
    }
    comes_after(cx, new).await?;
    goes_before(cx, gone, new).await
}

/// What comes back went before.
async fn comes_after(cx: &Cx<'_>, new: &[stock_facts::Model]) -> Result<()> {
    let back: HashMap<RecordId, &stock_facts::Model> = new
        .iter()
        .filter(|fact| returns(fact.kind))
        .filter_map(|fact| Some((fact.of_line_id?, fact)))
        .filter(|(line, _)| !new.iter().any(|own| own.line_id == *line))
        .collect();
    if back.is_empty() {
        return Ok(());
    }
    cx.flush().await?;
    let went = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_facts::Column::LineId.is_in(back.keys().copied()));
    let went = went.models(&cx.db).await?;
    let is_live = |fact: &&stock_facts::Model| !went.iter().any(|end| end.cancels_id == Some(fact.id));
    let late = |fact: &&stock_facts::Model| back.get(&fact.line_id).is_some_and(|back| moment(back) < moment(fact));
    let Some(last) =
        went.iter().filter(|fact| goes(fact.kind)).filter(is_live).filter(late).max_by_key(|fact| moment(fact))
    else {
        return Ok(());
    };
    let (number, day) = (number_of(cx, last.document_id).await?, last.date);
    let on_its_day = back.get(&last.line_id).is_some_and(|back| back.date == day);
    let why = if on_its_day { "must be after" } else { "must not be before" };
    Err(Error::field("date", format!("{why} {day}, the day of {number}, whose goods it brings back")))
}

/// What went stays before what came back of it.
async fn goes_before(cx: &Cx<'_>, gone: &[Gone], new: &[stock_facts::Model]) -> Result<()> {
    let later: HashMap<RecordId, &stock_facts::Model> = new
        .iter()
        .filter(|fact| goes(fact.kind))
        .filter(|fact| {
            let of = |fact: &stock_facts::Model| (fact.line_id, fact.kind, fact.item_id);
            let was = |gone: &&Gone| of(&gone.fact) == of(fact);
            gone.iter().find(was).is_some_and(|gone| moment(&gone.fact) < moment(fact))
        })
        .map(|fact| (fact.line_id, fact))
        .collect();
    if later.is_empty() {
        return Ok(());
    }
    let back = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_facts::Column::OfLineId.is_in(later.keys().copied()))
        .filter(stock_facts::Column::Kind.is_in([FactKind::CustomerReturn, FactKind::SupplierReturn]));
    let mut back = back.models(&cx.db).await?;
    let is_early = |fact: &stock_facts::Model| {
        let went = fact.of_line_id.and_then(|line| later.get(&line));
        let own = gone.iter().any(|gone| gone.fact.id == fact.id);
        !own && went.is_some_and(|went| moment(fact) < moment(went))
    };
    back.retain(is_early);
    if back.is_empty() {
        return Ok(());
    }
    // What was void as of a later day came back until then.
    let ends = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_facts::Column::CancelsId.is_in(back.iter().map(|fact| fact.id)));
    let ends: HashMap<RecordId, Day> =
        ends.models(&cx.db).await?.into_iter().filter_map(|end| Some((end.cancels_id?, end.date))).collect();
    back.retain(|fact| ends.get(&fact.id).is_none_or(|end| *end > fact.date));
    let Some(first) = back.iter().min_by_key(|fact| moment(fact)) else { return Ok(()) };
    let (number, day) = (number_of(cx, first.document_id).await?, first.date);
    let (title, why) = match ends.get(&first.id) {
        None => (
            format!("{number} brings its goods back on {day}; move that first"),
            format!("must be before {day}, when {number} brings its goods back"),
        ),
        Some(end) => (
            format!("{number} brought its goods back on {day}, until {end}"),
            format!("must be before {day}: {number} brought its goods back from then until {end}"),
        ),
    };
    Err(Error::Conflict(Conflict { code: Code::InUse, title, errors: FieldErrors::one("date", why) }))
}

/// What a document is called.
async fn number_of(cx: &Cx<'_>, document: RecordId) -> Result<String> {
    let found = documents::Entity::find_by_id((cx.business_id()?, document)).model(&cx.db).await?;
    Ok(found.and_then(|row| row.number).unwrap_or_else(|| document.to_string()))
}

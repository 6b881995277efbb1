//! Whether what goes out is there, on every day that a command touches.
//!
//! A count says how many there are, whatever came before it: what is missing from a later count on may be missing only until the
//! count is made anew. Then it is judged once more when all counts are.

use super::facts::{since, terms_of};
use super::{Item, Shifted, counted, too_large};
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::Quantity;
use answers::Ask;
use rules::stock::{Fact, Short, first_shortage};
use schema::business::StockPolicy;
use schema::item::NegativeStock;
use schema::tables::stock;
use std::collections::BTreeMap;
use std::sync::PoisonError;
use words::sown::{Fault, sown};

/// What was there of an item before a command, and the day from which on it is judged when its counts are made anew.
pub(super) struct Unjudged {
    from: Day,
    before: Stood,
}

/// What there was on an evening before a day, and the facts since: read anew each time, for what is kept of evenings changes with
/// what is written.
type Stood = (Quantity, Vec<Fact>);

impl Shifted {
    /// The first time is the one at which it was as it was.
    fn postpone(&self, item: RecordId, unjudged: Unjudged) {
        let mut all = self.unjudged.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(item).or_insert(unjudged);
    }

    fn take_unjudged(&self) -> BTreeMap<RecordId, Unjudged> {
        std::mem::take(&mut *self.unjudged.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether more of an item may go out than there is.
fn may_be_missing(cx: &Cx<'_>, item: &Item) -> Result<bool> {
    Ok(match item.negative_stock {
        NegativeStock::Allow => true,
        NegativeStock::Forbid => false,
        NegativeStock::Inherit => cx.business()?.settings.negative_stock == StockPolicy::Allow,
    })
}

fn refused(item: &Item, Short { day, missing }: Short) -> Error {
    let name = item.code.as_deref().unwrap_or(&item.name);
    Error::Conflict(Conflict {
        code: Code::InsufficientStock,
        title: format!("There is not enough of {name} in stock: on {day} {missing} would be missing"),
        errors: FieldErrors::one(
            "lines",
            format!("take out more of {name} than there is on {day}: {missing} is missing"),
        ),
    })
}

/// Refuses what lets out more than there is, on any day from one on. Counts from `moved_from` on may be made anew.
pub(super) async fn judge(
    cx: &Cx<'_>,
    item: &Item,
    (begun, before, after): (Quantity, &[Fact], &[Fact]),
    (from, moved_from): (Day, Day),
) -> Result<()> {
    if may_be_missing(cx, item)? {
        return Ok(());
    }
    let short = first_shortage((begun, before), (begun, after), from).map_err(too_large)?;
    let Some(short) = short else { return Ok(()) };
    cx.flush().await?;
    if counted::first_from(cx, item.id, moved_from).await?.is_some_and(|day| day <= short.day) {
        // It is written before it is judged, and may be refused then.
        cx.check_undoable()?;
        if !sown(Fault::CountJudgesNothing) {
            let before = stood(cx, item, from).await?;
            cx.shifted().postpone(item.id, Unjudged { from, before });
        }
        return Ok(());
    }
    Err(refused(item, short))
}

async fn stood(cx: &Cx<'_>, item: &Item, from: Day) -> Result<Stood> {
    let state = stock::Entity::find_by_id((cx.business_id()?, item.id)).model(&cx.db).await?;
    let known = since(cx, &terms_of(cx, item)?, (item.id, state.as_ref()), from, &[]).await?;
    Ok((known.start.state.quantity, known.facts()))
}

/// Judges what was left until counts were made anew.
pub async fn judge_rest(cx: &Cx<'_>) -> Result<()> {
    let unjudged = cx.shifted().take_unjudged();
    if unjudged.is_empty() {
        return Ok(());
    }
    cx.flush().await?;
    let known = cx.items(&unjudged.keys().copied().collect()).await?;
    for (id, Unjudged { from, before }) in unjudged {
        let item = known.get(&id).ok_or_else(|| Error::internal("stock of an item that there is not"))?;
        let now = stood(cx, item, from).await?;
        let [before, now] = [&before, &now].map(|(begun, facts)| (*begun, facts.as_slice()));
        if let Some(short) = first_shortage(before, now, from).map_err(too_large)? {
            return Err(refused(item, short));
        }
    }
    Ok(())
}

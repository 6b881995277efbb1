//! Facts of an item that are read before a command comes to the lane: where many movements are valued anew, nobody waits
//! while they are read.
//!
//! Facts only grow. So what was read outside is what there is as long as there are as many of them; where there are not,
//! they are read again, in the lane.

use super::facts::{Known, evening, since};
use crate::BEFORE_THE_FIRST;
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Code, Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use rules::stock::Terms;
use schema::tables::{stock, stock_facts};
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// More than these are read outside of the lane.
const MANY: i64 = 2_000;

/// A command comes back to the lane so often at most: for each item that it values anew, and once more for what lies before.
const MOST_WISHES: usize = 8;

/// What one command wants to have read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    item: RecordId,
    before: Day,
    named: Vec<RecordId>,
    terms: Terms,
}

struct Fulfilled {
    wish: Wish,
    counted: u64,
    known: Arc<Known>,
}

/// What a command wants to have read, and what was read for it. It stays with the command however often that runs.
#[derive(Default)]
pub struct Ahead(Mutex<Read>);

#[derive(Default)]
struct Read {
    wished: Option<Wish>,
    /// All that it ever wanted to have read.
    made: Vec<Wish>,
    fulfilled: Vec<Fulfilled>,
}

impl Ahead {
    fn read(&self) -> MutexGuard<'_, Read> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a command that came back wants to have read before it runs again.
    pub fn wished(&self) -> Option<Wish> {
        self.read().wished.take()
    }

    /// Reads it, as the books stand in a snapshot of their own.
    pub async fn fulfil(&self, cx: &Cx<'_>, wish: Wish) -> Result<()> {
        let state = stock::Entity::find_by_id((cx.business_id()?, wish.item)).model(&cx.db).await?;
        let counted = count(cx, wish.item).await?;
        let known = since(cx, &wish.terms, (wish.item, state.as_ref()), wish.before, &wish.named).await?;
        self.read().fulfilled.push(Fulfilled { wish, counted, known: Arc::new(known) });
        Ok(())
    }

    fn found(&self, wish: &Wish, counted: u64) -> Option<Arc<Known>> {
        let read = self.read();
        let same = |one: &&Fulfilled| one.wish == *wish && one.counted == counted;
        read.fulfilled.iter().find(same).map(|one| one.known.clone())
    }

    /// Whether the command comes back for it: not where it was read and is no longer so, nor where it could not be read.
    fn wish(&self, wish: Wish) -> bool {
        let mut read = self.read();
        if read.made.contains(&wish) || read.made.len() == MOST_WISHES {
            return false;
        }
        read.made.push(wish.clone());
        read.wished = Some(wish);
        true
    }
}

/// How many facts there are of an item: the version of what they say.
async fn count(cx: &Cx<'_>, item: RecordId) -> Result<u64> {
    let facts = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_facts::Column::ItemId.eq(item));
    Ok(facts.count(&cx.db).await?)
}

/// The facts from the last evening before a day on, as they were read ahead, or as they are read now where they are few.
pub(super) async fn known(
    cx: &Cx<'_>,
    terms: &Terms,
    (item, state): (RecordId, Option<&stock::Model>),
    before: Day,
    named: &[RecordId],
) -> Result<Arc<Known>> {
    let there = state.map_or(BEFORE_THE_FIRST, |state| state.last_sequence);
    if let Some(ahead) = cx.ahead().filter(|_| there > MANY) {
        let by_then = evening(cx, item, state, before).await?.map_or(BEFORE_THE_FIRST, |(_, _, counted)| counted);
        if there - by_then > MANY {
            let wish = Wish { item, before, named: named.to_vec(), terms: *terms };
            if let Some(known) = ahead.found(&wish, count(cx, item).await?) {
                tracing::debug!(%item, facts = known.read, "facts were read before the lane");
                return Ok(known);
            }
            if ahead.wish(wish) {
                // Its caller never hears of it: it runs again when they are read.
                return Err(Error::conflict(Code::InvalidState, "The facts of an item are read first; try again"));
            }
        }
    }
    Ok(Arc::new(since(cx, terms, (item, state), before, named).await?))
}

//! What goods cost: stock is a function of dated facts, and the ledger is what the function says, on every open day.
//!
//! Owns: the facts, that they only grow, and that inventory accounts and the accounts where goods wait for their invoice
//! equal what the facts come to. A document plans its facts; what they change of other movements, on whatever day, is
//! the difference of the function before and after ([`change`]), and is posted as an adjustment on an open day. No entry
//! is rewritten. Refuses: to let out more than is there, on any day that a change touches, unless the item or the
//! company allows it.
//!
//! The function itself stands in `rules::stock`.

mod adjusting;
mod ahead;
mod beginning;
mod change;
pub(crate) mod counted;
mod facts;
mod missing;
mod returning;

pub use ahead::{Ahead, Wish};
pub use beginning::{says, stays};
pub use missing::judge_rest;

use crate::Leaving;
use crate::among::among;
use crate::clock::Instant;
use crate::cx::Cx;
use crate::day::Day;
use crate::desk::Standing;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity, UnitPrice};
use adjusting::Waits;
use answers::Ask;
use change::{Change, Worth};
use facts::OfLines;
use rules::stock::{Effect, TooLarge};
use schema::tables::{DocumentKind, FactKind, FactSide, StockKind, documents, stock_facts, stock_lines, stock_moves};
use schema::tables::{stock, stock_snapshots};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use words::sown::{Fault, sown};
use words::sums::Sums as _;

pub type Item = Arc<schema::item::Model>;

/// A fact that a document asks for.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub line: RecordId,
    pub item: Item,
    pub kind: FactKind,
    pub side: FactSide,
    /// How many, never negative.
    pub quantity: Quantity,
    /// What the document says of it.
    pub amount: BookMoney,
    pub of: Option<RecordId>,
    /// What a unit is worth from now on.
    pub standard: Option<UnitPrice>,
    pub accounts: Accounts,
}

/// A line that counts: it keeps a place in its day whether or not it finds anything, for it may find something later on.
#[derive(Debug, Clone)]
pub struct Counted {
    pub line: RecordId,
    pub item: Item,
    /// The place that it drew on this day.
    pub held: Option<i64>,
    /// Whether something is before it by now that stands behind its place. Then it comes last where it finds something after all.
    pub is_overtaken: bool,
}

/// Where lines that count stand in their day.
pub type Places = Vec<(RecordId, i64)>;

/// Where a fact stands in the ledger.
#[derive(Debug, Clone, Copy)]
pub struct Accounts {
    pub inventory: RecordId,
    pub cost: RecordId,
    pub variance: RecordId,
    pub waits: Option<RecordId>,
}

/// What a document does to stock, with what its own entry posts of it.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// In the order in which they were asked for.
    pub facts: Vec<stock_facts::Model>,
    changes: Vec<Change>,
    /// By line, what comes to wait for an invoice.
    waits: HashMap<RecordId, BookMoney>,
    pub places: Places,
}

/// Facts of a version that another replaces. They are taken out with what the new one puts in, as one change.
#[derive(Default)]
pub struct Replaced(Mutex<Vec<Gone>>);

/// A fact that never was, from a day on.
#[derive(Debug, Clone)]
struct Gone {
    fact: stock_facts::Model,
    day: Day,
}

/// The first movement of each item that a command changed: its day, and when its document was posted.
#[derive(Default)]
pub struct Shifted {
    first: Mutex<BTreeMap<RecordId, (Day, Option<Instant>)>>,
    /// What is judged when counts were made anew.
    unjudged: Mutex<BTreeMap<RecordId, missing::Unjudged>>,
}

impl Shifted {
    fn note(&self, item: RecordId, at: (Day, Option<Instant>)) {
        let mut all = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let first = all.entry(item).or_insert(at);
        *first = Ord::min(*first, at);
    }

    pub fn all(&self) -> BTreeMap<RecordId, (Day, Option<Instant>)> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How a command moved the stock of an item that is bought anew at some level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    pub was: Quantity,
    pub is: Quantity,
    pub reorder: Quantity,
}

/// Items that are bought anew at some level, and how the command moved their stock so far.
#[derive(Default)]
pub struct Levels(Mutex<BTreeMap<RecordId, Level>>);

impl Levels {
    fn note(&self, item: RecordId, level: Level) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let was = all.get(&item).map_or(level.was, |known| known.was);
        all.insert(item, Level { was, ..level });
    }

    /// Those of which enough was there, and is not since.
    pub fn take_low(&self) -> BTreeMap<RecordId, Level> {
        let mut all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        all.retain(|_, level| level.was > level.reorder && level.is <= level.reorder);
        all
    }
}

impl Replaced {
    fn add(&self, gone: Vec<Gone>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(gone);
    }

    fn take(&self) -> Vec<Gone> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub fn too_large(_: TooLarge) -> Error {
    Error::too_large()
}

fn back(money: BookMoney) -> Result<BookMoney> {
    money.checked_neg().ok_or_else(Error::too_large)
}

/// What its document's own entry posts of a fact.
pub fn booked(fact: &stock_facts::Model) -> Effect {
    Effect {
        stock: fact.booked_stock,
        waits: fact.booked_waits,
        cost: fact.booked_cost,
        variance: fact.booked_variance,
    }
}

fn book(fact: &mut stock_facts::Model, effect: Effect) {
    (fact.booked_stock, fact.booked_waits) = (effect.stock, effect.waits);
    (fact.booked_cost, fact.booked_variance) = (effect.cost, effect.variance);
}

impl Plan {
    /// What each line of its document cost, as far as is known by now; what comes in is positive.
    pub fn costs(&self) -> impl Iterator<Item = (RecordId, BookMoney)> {
        let movements = self.facts.iter().filter(|fact| fact.is_listed());
        movements.map(|fact| {
            let cost = self.changes.iter().find_map(|change| change.costs_of_new.get(&fact.id));
            (fact.line_id, cost.map_or(fact.booked_stock, |worth| worth.cost))
        })
    }

    /// What of a line's goods comes to wait for an invoice, as far as this is known by now; a debit is positive.
    pub fn waits(&self, line: RecordId) -> BookMoney {
        self.waits.sum_of(&line)
    }

    fn sum_up(&mut self) -> Result<()> {
        let booked = self.facts.iter().map(|fact| (fact.waiting_line(), fact.booked_waits));
        let rest = self.changes.iter().flat_map(|change| &change.rest);
        let rest = rest.map(|rest| (rest.fact.waiting_line(), rest.by.waits));
        for (line, by) in booked.chain(rest) {
            let sum = self.waits.entry(line).or_insert(BookMoney::ZERO);
            *sum = rules::stock::add(*sum, by).map_err(too_large)?;
        }
        Ok(())
    }
}

/// Values what a document asks for, with everything that follows from it. Nothing is written.
pub async fn plan(cx: &Cx<'_>, date: Day, wanted: Vec<Wanted>) -> Result<Option<Plan>> {
    plan_counting(cx, date, wanted, &[]).await
}

/// The same of a document that counts.
pub async fn plan_counting(cx: &Cx<'_>, date: Day, wanted: Vec<Wanted>, counted: &[Counted]) -> Result<Option<Plan>> {
    let gone = cx.replaced().take();
    if wanted.is_empty() && gone.is_empty() && counted.is_empty() {
        return Ok(None);
    }
    // Whoever goes on from where the stock stands asks for nothing that waits to be written.
    if !gone.is_empty() {
        cx.flush().await?;
    }
    let mut ids: Vec<RecordId> = Vec::new();
    let moved = wanted.iter().map(|one| one.item.id).chain(gone.iter().map(|gone| gone.fact.item_id));
    for id in moved.chain(counted.iter().map(|one| one.item.id)) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let known = cx.items(&ids.iter().copied().collect()).await?;
    let named = named(&wanted, &gone);
    let mut begun = begun(cx, date, &ids, &named).await?;
    let mut plan = Plan::default();
    let mut planned: Vec<Option<stock_facts::Model>> = vec![None; wanted.len()];
    for id in ids {
        let item = known.get(&id).ok_or_else(|| Error::internal("stock of an item that there is not"))?;
        let own: Vec<Gone> = gone.iter().filter(|gone| gone.fact.item_id == id).cloned().collect();
        let places: Vec<usize> = (0..wanted.len()).filter(|at| wanted[*at].item.id == id).collect();
        let asked: Vec<&Wanted> = places.iter().map(|at| &wanted[*at]).collect();
        let begun = begun.remove(&id).ok_or_else(|| Error::internal("nobody asked how an item stands"))?;
        let counts: Vec<&Counted> = counted.iter().filter(|one| one.item.id == id).collect();
        let Some(change) = change::of(cx, item, begun, (date, &asked, &counts), own).await? else { continue };
        for (at, fact) in places.into_iter().zip(change.asked()) {
            planned[at] = Some(fact.clone());
        }
        plan.places.extend_from_slice(&change.places);
        plan.changes.push(change);
    }
    plan.facts = planned.into_iter().flatten().collect();
    check_named(cx, &gone, &plan.facts).await?;
    returning::check(cx, &gone, &plan.facts).await?;
    plan.sum_up()?;
    Ok(Some(plan))
}

/// Writes what was planned beside the document's own entry, and posts what it changes of other movements.
pub async fn keep(cx: &Cx<'_>, row: &documents::Model, plan: Plan) -> Result<()> {
    let mut waits = Waits::default();
    for fact in &plan.facts {
        if fact.is_movement() {
            cx.shifted().note(fact.item_id, (fact.date, row.posted_at));
        }
        waits.add(fact, fact.date, fact.booked_waits)?;
        let moved = move_of(cx, fact, row, (fact.date, fact.moves(), fact.booked_stock));
        let now = cx.now;
        if fact.is_movement() || fact.booked_stock != BookMoney::ZERO {
            cx.keep(|desk| desk.move_stock(now, moved))?;
        }
    }
    drop_evenings(cx, &plan.changes).await?;
    for change in plan.changes {
        for fact in change.new {
            let own = fact.document_id == RecordId::default();
            let fact = stock_facts::Model { document_id: if own { row.id } else { fact.document_id }, ..fact };
            if let Some(line) = line_of(&fact, change.costs_of_new.get(&fact.id).copied()) {
                cx.keep(|desk| desk.keep_stock_line(line))?;
            }
            let now = cx.now;
            cx.keep(|desk| desk.keep_stock_fact(now, fact))?;
        }
        for gone in &change.gone {
            let cancellation = cancellation_of(cx, gone);
            let now = cx.now;
            cx.keep(|desk| desk.keep_stock_fact(now, cancellation))?;
        }
        for cost in change.costs {
            cx.keep(|desk| desk.stands(cost.into()))?;
        }
        for snapshot in change.snapshots {
            cx.keep(|desk| desk.stands(Standing::Snapshot(snapshot)))?;
        }
        let state = change.state;
        if let Some(reorder) = change.reorder_level {
            cx.levels().note(state.item_id, Level { was: change.was, is: state.quantity, reorder });
        }
        cx.keep(|desk| desk.stands(Standing::Stock(state)))?;
        adjusting::post(cx, row, change.rest, &mut waits).await?;
    }
    waits.keep(cx, row).await
}

/// Takes out the evenings of items that are no longer so, those of one day for all items together.
async fn drop_evenings(cx: &Cx<'_>, changes: &[Change]) -> Result<()> {
    let mut dropped: BTreeMap<Day, Vec<RecordId>> = BTreeMap::new();
    for change in changes {
        if let Some(from) = change.dropped_from {
            dropped.entry(from).or_default().push(change.state.item_id);
        }
    }
    if dropped.is_empty() {
        return Ok(());
    }
    cx.flush().await?;
    for (from, items) in dropped {
        stock_snapshots::Entity::delete_many()
            .filter(stock_snapshots::Column::BusinessId.eq(cx.business_id()?))
            .filter(among(cx, stock_snapshots::Column::ItemId, items))
            .filter(stock_snapshots::Column::Date.gte(from))
            .exec(&cx.db)
            .await?;
    }
    Ok(())
}

/// What the lists of documents look up of a movement.
fn line_of(fact: &stock_facts::Model, worth: Option<Worth>) -> Option<stock_lines::Model> {
    let worth = worth.unwrap_or(Worth { cost: fact.booked_stock, was_missing: false });
    Some(stock_lines::Model {
        business_id: fact.business_id,
        item_id: fact.item_id,
        date: fact.date,
        sequence: fact.place,
        document_id: fact.document_id,
        line_id: fact.line_id,
        kind: match fact.kind {
            FactKind::Receipt => StockKind::Receipt,
            FactKind::Issue | FactKind::SupplierReturn => StockKind::Issue,
            FactKind::CustomerReturn => StockKind::Return,
            FactKind::Standard if fact.is_listed() => StockKind::Cost,
            _ => return None,
        },
        quantity: fact.moves(),
        cost: worth.cost,
        was_missing: worth.was_missing,
    })
}

fn cancellation_of(cx: &Cx<'_>, gone: &Gone) -> stock_facts::Model {
    stock_facts::Model {
        id: RecordId(cx.new_id()),
        date: gone.day,
        kind: FactKind::Cancellation,
        cancels_id: Some(gone.fact.id),
        of_line_id: None,
        recorded_at: cx.now,
        ..gone.fact.clone()
    }
}

fn move_of(
    cx: &Cx<'_>,
    fact: &stock_facts::Model,
    row: &documents::Model,
    (date, quantity, value): (Day, Quantity, BookMoney),
) -> stock_moves::Model {
    stock_moves::Model {
        business_id: fact.business_id,
        id: RecordId(cx.new_id()),
        item_id: fact.item_id,
        date,
        recorded_at: cx.now,
        document_id: row.id,
        kind: row.kind,
        quantity,
        value,
        account_id: fact.inventory_account_id,
    }
}

/// The facts of a document that count at present.
async fn live_facts(cx: &Cx<'_>, document: RecordId) -> Result<Vec<stock_facts::Model>> {
    let rows = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_facts::Column::DocumentId.eq(document))
        .models(&cx.db)
        .await?;
    let cancelled: HashSet<RecordId> = rows.iter().filter_map(|row| row.cancels_id).collect();
    let live = |row: &stock_facts::Model| row.kind != FactKind::Cancellation && !cancelled.contains(&row.id);
    Ok(rows.into_iter().filter(live).collect())
}

/// The facts by which lines received goods that count at present.
pub async fn live_receipts(cx: &Cx<'_>, lines: impl IntoIterator<Item = RecordId>) -> Result<Vec<stock_facts::Model>> {
    let receipts = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_facts::Column::LineId.is_in(lines))
        .filter(stock_facts::Column::Kind.eq(FactKind::Receipt))
        .models(&cx.db)
        .await?;
    without_cancelled(cx, receipts).await
}

async fn without_cancelled(cx: &Cx<'_>, facts: Vec<stock_facts::Model>) -> Result<Vec<stock_facts::Model>> {
    let cancelled: HashSet<RecordId> = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_facts::Column::CancelsId.is_in(facts.iter().map(|fact| fact.id)))
        .models(&cx.db)
        .await?
        .into_iter()
        .filter_map(|row| row.cancels_id)
        .collect();
    Ok(facts.into_iter().filter(|fact| !cancelled.contains(&fact.id)).collect())
}

/// What landed cost or a rebate names cannot go.
async fn check_named(cx: &Cx<'_>, gone: &[Gone], new: &[stock_facts::Model]) -> Result<()> {
    let stays = |line: RecordId| new.iter().any(|fact| fact.kind == FactKind::Receipt && fact.line_id == line);
    let left: Vec<RecordId> = gone
        .iter()
        .filter(|gone| gone.fact.kind == FactKind::Receipt && !stays(gone.fact.line_id))
        .map(|gone| gone.fact.line_id)
        .collect();
    if left.is_empty() {
        return Ok(());
    }
    let names_left = |fact: &&stock_facts::Model| fact.of_line_id.is_some_and(|line| left.contains(&line));
    if new.iter().filter(|fact| fact.kind == FactKind::CostChange).any(|fact| names_left(&fact)) {
        let why = "must not leave out a line that landed cost of the same document names; leave it out there as well";
        return Err(Error::Conflict(Conflict {
            code: Code::InUse,
            title: "Landed cost names a line that is left out".into(),
            errors: FieldErrors::one("lines", why),
        }));
    }
    let naming = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_facts::Column::OfLineId.is_in(left))
        .filter(stock_facts::Column::Kind.eq(FactKind::CostChange))
        .models(&cx.db)
        .await?;
    let own = |fact: &stock_facts::Model| gone.iter().any(|gone| gone.fact.id == fact.id);
    if without_cancelled(cx, naming).await?.iter().any(|fact| !own(fact)) {
        let title = "What goods of it cost was changed by landed cost or a rebate; void what does so first";
        return Err(Error::conflict(Code::InUse, title));
    }
    Ok(())
}

/// What came back of goods, or was billed of them, and was void only on a later day, was of something until then.
async fn check_outlived(cx: &Cx<'_>, gone: &[Gone]) -> Result<()> {
    let of = |business| stock_facts::Entity::find().filter(stock_facts::Column::BusinessId.eq(business));
    let business = cx.business_id()?;
    let lines = gone.iter().map(|gone| gone.fact.line_id);
    let named = of(business).filter(stock_facts::Column::OfLineId.is_in(lines)).models(&cx.db).await?;
    let began: HashMap<RecordId, &stock_facts::Model> = named.iter().map(|fact| (fact.id, fact)).collect();
    let ends = of(business).filter(stock_facts::Column::CancelsId.is_in(began.keys().copied())).models(&cx.db).await?;
    let outlives = |end: &&stock_facts::Model| {
        let Some(fact) = end.cancels_id.and_then(|id| began.get(&id)) else { return false };
        let origin = gone.iter().find(|gone| Some(gone.fact.line_id) == fact.of_line_id);
        end.date > fact.date && origin.is_some_and(|origin| end.date > origin.day)
    };
    match ends.iter().filter(outlives).map(|end| end.date).max() {
        None => Ok(()),
        Some(day) => {
            let title = format!("What was made of its goods stands until {day}; void it on that day or later");
            Err(Error::conflict(Code::InUse, title))
        }
    }
}

/// Whether facts of a document count in stock: then its day is to be open for stock as well.
pub async fn counts(cx: &Cx<'_>, row: &documents::Model) -> Result<bool> {
    if !may_move(row.kind) {
        return Ok(false);
    }
    cx.flush().await?;
    Ok(!live_facts(cx, row.id).await?.is_empty())
}

const fn may_move(kind: DocumentKind) -> bool {
    use DocumentKind::{
        CreditNote, DebitNote, DeliveryNote, PurchaseInvoice, ReceiptNote, SalesInvoice, StockAdjustment,
    };
    matches!(
        kind,
        CreditNote | DebitNote | DeliveryNote | PurchaseInvoice | ReceiptNote | SalesInvoice | StockAdjustment
    )
}

/// Takes a document's facts back. Its entry was reversed; what its goods cost more or less since then is taken back by
/// an entry of its own. What comes back at once is valued with its new version.
pub async fn take_back(cx: &Cx<'_>, row: &documents::Model, day: impl Fn(Day) -> Day, leaving: Leaving) -> Result<()> {
    if !may_move(row.kind) {
        return Ok(());
    }
    cx.flush().await?;
    let gone = live_facts(cx, row.id).await?;
    let gone: Vec<Gone> = gone.into_iter().map(|fact| Gone { day: day(fact.date), fact }).collect();
    if gone.is_empty() {
        return Ok(());
    }
    if leaving == Leaving::ForGood {
        check_outlived(cx, &gone).await?;
    }
    let mut waits = Waits::default();
    for Gone { fact, day } in &gone {
        if fact.is_movement() {
            // What comes out of days before is gone from the morning of this one on: before all that was done on it.
            let at = if fact.date < *day && !sown(Fault::VoidComesAfterTheCount) { None } else { row.posted_at };
            cx.shifted().note(fact.item_id, (*day, at));
        }
        waits.add(fact, *day, back(fact.booked_waits)?)?;
        if fact.is_movement() || fact.booked_stock != BookMoney::ZERO {
            let quantity = Quantity::from_units(-fact.moves().units());
            let moved = move_of(cx, fact, row, (*day, quantity, back(fact.booked_stock)?));
            let now = cx.now;
            cx.keep(|desk| desk.move_stock(now, moved))?;
        }
    }
    waits.keep(cx, row).await?;
    stock_lines::Entity::delete_many()
        .filter(stock_lines::Column::BusinessId.eq(row.business_id))
        .filter(stock_lines::Column::DocumentId.eq(row.id))
        .exec(&cx.db)
        .await?;
    cx.replaced().add(gone);
    if leaving == Leaving::Replaced {
        return Ok(());
    }
    match plan(cx, row.date, Vec::new()).await? {
        Some(plan) => keep(cx, row, plan).await,
        None => Ok(()),
    }
}

/// What a unit of an item costs before anything is known of it.
pub fn first_cost(item: &schema::item::Model) -> Option<UnitPrice> {
    if sown(Fault::BeginsAtPurchasePrice) {
        return item.purchase_price.or(item.standard_cost);
    }
    item.standard_cost.or(item.purchase_price)
}

/// Sums by account, in the order of accounts.
pub(super) type Sums = BTreeMap<RecordId, BookMoney>;

/// How an item stands before a document moves it.
#[derive(Debug, Default)]
struct Begun {
    /// Nothing where it never moved.
    state: Option<stock::Model>,
    /// The place of its last snapshot, where another one may be due.
    snapshot: Option<i64>,
    /// What is known by now of the lines that the document names.
    named: OfLines,
}

/// The lines of other documents that what is asked for names, by item. Where something is taken out, all of it is valued anew.
fn named(wanted: &[Wanted], gone: &[Gone]) -> HashMap<RecordId, HashSet<RecordId>> {
    let own: HashSet<RecordId> = wanted.iter().map(|one| one.line).collect();
    let anew: HashSet<RecordId> = gone.iter().map(|gone| gone.fact.item_id).collect();
    let mut named: HashMap<RecordId, HashSet<RecordId>> = HashMap::new();
    for one in wanted.iter().filter(|one| !anew.contains(&one.item.id)) {
        if let Some(line) = one.of.filter(|line| !own.contains(line)) {
            named.entry(one.item.id).or_default().insert(line);
        }
    }
    named
}

/// How items stand, those that wait on the desk included: asked for all of them together.
async fn begun(
    cx: &Cx<'_>,
    date: Day,
    items: &[RecordId],
    named: &HashMap<RecordId, HashSet<RecordId>>,
) -> Result<HashMap<RecordId, Begun>> {
    let mut begun: HashMap<RecordId, Begun> = items.iter().map(|item| (*item, Begun::default())).collect();
    let mut unknown = Vec::new();
    for item in items {
        match cx.stock_that_waits(*item)? {
            Some(state) => drop(begun.insert(*item, Begun { state: Some(state), ..Begun::default() })),
            None => unknown.push(*item),
        }
    }
    if !named.is_empty() {
        cx.flush().await?;
    }
    let standing = async {
        Ok(match unknown[..] {
            [] => Vec::new(),
            [one] => stock::Entity::find_by_id((cx.business_id()?, one)).model(&cx.db).await?.into_iter().collect(),
            _ => {
                let of_company = stock::Entity::find().filter(stock::Column::BusinessId.eq(cx.business_id()?));
                of_company.filter(among(cx, stock::Column::ItemId, unknown)).models(&cx.db).await?
            }
        })
    };
    let (rows, of_lines) = cx.db.together(standing, facts::of_lines(cx, named, None)).await?;
    begun.extend(rows.into_iter().map(|row| (row.item_id, Begun { state: Some(row), ..Begun::default() })));
    let may_be_due = |begun: &Begun| begun.state.as_ref().is_some_and(|state| change::may_keep_an_evening(state, date));
    let due: Vec<RecordId> = begun.iter().filter(|(_, begun)| may_be_due(begun)).map(|(item, _)| *item).collect();
    if !due.is_empty() {
        cx.flush().await?;
        let last = stock_snapshots::Entity::find()
            .select_only()
            .column(stock_snapshots::Column::ItemId)
            .column_as(stock_snapshots::Column::Place.max(), "place")
            .filter(stock_snapshots::Column::BusinessId.eq(cx.business_id()?))
            .filter(among(cx, stock_snapshots::Column::ItemId, due))
            .group_by(stock_snapshots::Column::ItemId);
        for (item, place) in last.read::<(RecordId, i64)>(&cx.db).await? {
            begun.entry(item).or_default().snapshot = Some(place);
        }
    }
    for (item, known) in of_lines {
        begun.entry(item).or_default().named = known;
    }
    Ok(begun)
}

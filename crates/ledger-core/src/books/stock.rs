//! What goods cost: every movement of stock is valued when it is posted, in the order of dates.
//!
//! Owns: the cost of what goes out, and that the inventory accounts always equal the value of the stock. A movement
//! that comes late, or goes away again, changes what later ones cost: the difference is posted as an adjustment on an
//! open day, and no entry is rewritten. Refuses: to let out more than is there, unless the item or the company
//! allows it; then what is missing goes out at the last known cost, and the receipt that fills the hole corrects it.

use crate::books::desk::{NewEntry, Standing};
use crate::books::limits::Moves;
use crate::books::periods::Module;
use crate::books::progress;
use crate::books::tables::{DocumentKind, EntryKind, Layer, StockKind, documents, stock, stock_lines, stock_moves};
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{Money, Quantity, Rounding};
use crate::resource::business::StockPolicy;
use crate::resource::document::Leaving;
use crate::resource::item::{self, CostMethod, NegativeStock};
use crate::stored::AsJson;
use rules::posting::{Line, Posting, Subject, Valued};
use rules::refusal::Refusal;
use rust_decimal::Decimal;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

type Item = Arc<item::table::Model>;

/// A movement that a document asks for.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) line: RecordId,
    pub(crate) line_no: i64,
    pub(crate) item: Item,
    pub(crate) kind: StockKind,
    /// In is positive, out is negative.
    pub(crate) quantity: Quantity,
    /// What a receipt cost, or by how much it cost more.
    pub(crate) cost: Money,
    /// What an issue is to cost, where it is not the stock that says so.
    pub(crate) asked_cost: Option<Money>,
    /// The line that it comes back from, or whose cost it changes.
    pub(crate) returns: Option<RecordId>,
    pub(crate) inventory: RecordId,
    /// Where the other side of its cost goes.
    pub(crate) cost_account: RecordId,
}

/// What a document does to stock, with what it costs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// In the order in which they were asked for.
    pub(crate) lines: Vec<stock_lines::Model>,
    corrections: Vec<Correction>,
    states: Vec<stock::Model>,
}

/// A movement that cost something else after all.
#[derive(Debug, Clone)]
struct Correction {
    line: stock_lines::Model,
    cost: Money,
}

/// How an item is valued.
#[derive(Debug, Clone, Copy)]
struct Method {
    fifo: bool,
    rounding: Rounding,
    decimals: u32,
    /// What a unit costs before anything is known of it.
    first_cost: Decimal,
}

#[derive(Debug, Clone, Copy)]
struct Movement {
    line: RecordId,
    date: Day,
    kind: StockKind,
    quantity: Quantity,
    cost: Money,
    asked_cost: Option<Money>,
    returns: Option<RecordId>,
}

/// Quantity that went out and was not there.
#[derive(Debug, Clone, Copy)]
struct Shortage {
    place: usize,
    quantity: Quantity,
    /// What it was booked at for the time being.
    provisional: Money,
}

/// The stock of one item, as it is valued movement by movement.
#[derive(Debug, Clone)]
struct Valuation {
    method: Method,
    quantity: Quantity,
    value: Money,
    layers: Vec<Layer>,
    shortages: Vec<Shortage>,
    /// What was known last: so many cost so much.
    last: Option<(Quantity, Money)>,
    costs: Vec<Money>,
    /// What each line moved and cost, for what comes back from it.
    by_line: HashMap<RecordId, (Quantity, usize)>,
    /// By how much receipts cost more than they said.
    extras: HashMap<RecordId, Money>,
    /// The smallest quantity that there was after a movement, and when.
    lowest: Option<(Quantity, Day)>,
}

fn part(rounding: Rounding, decimals: u32, whole: Money, of: Quantity, all: Quantity) -> Result<Money> {
    if of == all {
        return Ok(whole);
    }
    let exact = whole.decimal().checked_mul(of.decimal()).and_then(|product| product.checked_div(all.decimal()));
    rounding.money(exact.unwrap_or_default(), decimals).map_err(|_| Error::too_large())
}

fn add(left: Money, right: Money) -> Result<Money> {
    left.checked_add(right).ok_or_else(Error::too_large)
}

fn sub(left: Money, right: Money) -> Result<Money> {
    left.checked_sub(right).ok_or_else(Error::too_large)
}

fn more(left: Quantity, right: Quantity) -> Result<Quantity> {
    left.checked_add(right)
        .ok_or_else(|| Error::conflict("quantity_too_large", "The stock would grow larger than it can be kept"))
}

fn less(left: Quantity, right: Quantity) -> Result<Quantity> {
    more(left, Quantity::from_units(right.units().saturating_neg()))
}

fn negated(money: Money) -> Money {
    Money::from_units(money.units().saturating_neg())
}

impl Valuation {
    fn new(method: Method) -> Self {
        Self {
            method,
            quantity: Quantity::ZERO,
            value: Money::ZERO,
            layers: Vec::new(),
            shortages: Vec::new(),
            last: None,
            costs: Vec::new(),
            by_line: HashMap::new(),
            extras: HashMap::new(),
            lowest: None,
        }
    }

    fn resumed(method: Method, state: &stock::Model) -> Self {
        Self {
            quantity: state.quantity,
            value: state.value,
            layers: state.layers.0.clone(),
            last: state.known_cost.as_ref().map(|known| (known.0.quantity, known.0.value)),
            ..Self::new(method)
        }
    }

    fn part(&self, whole: Money, of: Quantity, all: Quantity) -> Result<Money> {
        part(self.method.rounding, self.method.decimals, whole, of, all)
    }

    fn apply(&mut self, movement: &Movement) -> Result<()> {
        let place = self.costs.len();
        let cost = match movement.kind {
            StockKind::Receipt => {
                self.costs.push(movement.cost);
                let extra = self.extras.get(&movement.line).copied().unwrap_or_default();
                self.receive(movement.quantity, add(movement.cost, extra)?)?;
                movement.cost
            }
            StockKind::Return => {
                let cost = self.cost_of_return(movement)?;
                self.costs.push(cost);
                self.receive(movement.quantity, cost)?;
                cost
            }
            StockKind::Issue => {
                self.costs.push(Money::ZERO);
                let quantity = Quantity::from_units(movement.quantity.units().saturating_neg());
                negated(match movement.asked_cost.filter(|asked| self.can_spare(quantity, *asked)) {
                    Some(asked) => self.send_back(quantity, asked)?,
                    None => self.issue(place, quantity)?,
                })
            }
            StockKind::Cost => {
                self.costs.push(movement.cost);
                movement.cost
            }
        };
        self.costs[place] = cost;
        self.by_line.insert(movement.line, (movement.quantity, place));
        if self.lowest.is_none_or(|(lowest, _)| self.quantity < lowest) {
            self.lowest = Some((self.quantity, movement.date));
        }
        Ok(())
    }

    /// What comes back costs what it left with, or what such things cost now.
    fn cost_of_return(&self, movement: &Movement) -> Result<Money> {
        if let Some((quantity, place)) = movement.returns.and_then(|line| self.by_line.get(&line)) {
            let left_with = negated(self.costs[*place]);
            return self.part(left_with, movement.quantity, Quantity::from_units(quantity.units().saturating_neg()));
        }
        if self.quantity > Quantity::ZERO {
            return self.part(self.value, movement.quantity, self.quantity);
        }
        self.at_last_cost(movement.quantity)
    }

    fn at_last_cost(&self, quantity: Quantity) -> Result<Money> {
        if let Some((known, cost)) = self.last {
            return self.part(cost, quantity, known);
        }
        let exact = self.method.first_cost.checked_mul(quantity.decimal()).ok_or_else(Error::too_large)?;
        self.method.rounding.money(exact, self.method.decimals).map_err(|_| Error::too_large())
    }

    fn receive(&mut self, quantity: Quantity, cost: Money) -> Result<()> {
        if quantity > Quantity::ZERO {
            self.last = Some((quantity, cost));
        }
        self.value = add(self.value, cost)?;
        self.quantity = more(self.quantity, quantity)?;
        let (mut left, mut left_cost) = (quantity, cost);
        // What was missing is found, and now it is known what it cost.
        while left > Quantity::ZERO && !self.shortages.is_empty() {
            let shortage = self.shortages[0];
            let filled = Ord::min(left, shortage.quantity);
            let (real, provisional) =
                (self.part(left_cost, filled, left)?, self.part(shortage.provisional, filled, shortage.quantity)?);
            let difference = sub(real, provisional)?;
            self.costs[shortage.place] = sub(self.costs[shortage.place], difference)?;
            self.value = sub(self.value, difference)?;
            left = less(left, filled)?;
            left_cost = sub(left_cost, real)?;
            if filled == shortage.quantity {
                self.shortages.remove(0);
            } else {
                self.shortages[0] = Shortage {
                    quantity: less(shortage.quantity, filled)?,
                    provisional: sub(shortage.provisional, provisional)?,
                    ..shortage
                };
            }
        }
        if self.method.fifo && left > Quantity::ZERO {
            self.layers.push(Layer { quantity: left, value: left_cost });
        }
        Ok(())
    }

    /// Whether something of the stock is left, and worth something, after so many went at such a cost.
    fn can_spare(&self, quantity: Quantity, cost: Money) -> bool {
        !self.method.fifo && quantity < self.quantity && cost <= self.value
    }

    /// What goes back to where it came from goes at what it cost there.
    fn send_back(&mut self, quantity: Quantity, cost: Money) -> Result<Money> {
        self.last = Some((self.quantity, self.value));
        self.quantity = less(self.quantity, quantity)?;
        self.value = sub(self.value, cost)?;
        Ok(cost)
    }

    /// What an issue costs, more than 0.
    fn issue(&mut self, place: usize, quantity: Quantity) -> Result<Money> {
        let there = Ord::max(Ord::min(self.quantity, quantity), Quantity::ZERO);
        let mut cost = Money::ZERO;
        if there > Quantity::ZERO {
            if self.method.fifo {
                let mut wanted = there;
                while wanted > Quantity::ZERO && !self.layers.is_empty() {
                    let layer = self.layers[0];
                    self.last = Some((layer.quantity, layer.value));
                    let taken = Ord::min(wanted, layer.quantity);
                    let taken_cost = self.part(layer.value, taken, layer.quantity)?;
                    cost = add(cost, taken_cost)?;
                    wanted = less(wanted, taken)?;
                    if taken == layer.quantity {
                        self.layers.remove(0);
                    } else {
                        self.layers[0] =
                            Layer { quantity: less(layer.quantity, taken)?, value: sub(layer.value, taken_cost)? };
                    }
                }
            } else {
                self.last = Some((self.quantity, self.value));
                cost = self.part(self.value, there, self.quantity)?;
            }
        }
        let missing = less(quantity, there)?;
        if missing > Quantity::ZERO {
            let provisional = self.at_last_cost(missing)?;
            self.shortages.push(Shortage { place, quantity: missing, provisional });
            cost = add(cost, provisional)?;
        }
        self.quantity = less(self.quantity, quantity)?;
        self.value = sub(self.value, cost)?;
        Ok(cost)
    }
}

fn method_of(cx: &Cx<'_>, item: &Item) -> Result<Method> {
    let business = cx.business()?;
    Ok(Method {
        fifo: item.cost_method == CostMethod::Fifo,
        rounding: business.settings.rounding_mode.rounding(),
        decimals: business.currency_decimals,
        first_cost: item
            .standard_cost
            .or(item.purchase_price)
            .map(crate::money::UnitPrice::decimal)
            .unwrap_or_default(),
    })
}

fn may_be_negative(cx: &Cx<'_>, item: &Item) -> Result<bool> {
    Ok(match item.negative_stock {
        NegativeStock::Allow => true,
        NegativeStock::Forbid => false,
        NegativeStock::Inherit => cx.business()?.settings.negative_stock == StockPolicy::Allow,
    })
}

async fn lines_of_item(cx: &Cx<'_>, item: RecordId) -> Result<Vec<stock_lines::Model>> {
    let rows = stock_lines::Entity::find()
        .filter(stock_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_lines::Column::ItemId.eq(item))
        .order_by_asc(stock_lines::Column::Date)
        .order_by_asc(stock_lines::Column::Sequence);
    Ok(rows.all(&cx.db).await?)
}

fn movement(line: &stock_lines::Model) -> Movement {
    Movement {
        line: line.line_id,
        date: line.date,
        kind: line.kind,
        quantity: line.quantity,
        cost: line.cost,
        asked_cost: line.asked_cost,
        returns: line.returns_line_id,
    }
}

/// Values what a document asks for, with everything that follows from it. Nothing is written.
pub(crate) async fn plan(cx: &Cx<'_>, date: Day, wanted: Vec<Wanted>) -> Result<Option<Plan>> {
    if wanted.is_empty() {
        return Ok(None);
    }
    cx.flush().await?;
    let mut plan = Plan::default();
    let mut items: Vec<Item> = Vec::new();
    for one in &wanted {
        if !items.iter().any(|item| item.id == one.item.id) {
            items.push(one.item.clone());
        }
    }
    let mut costs: HashMap<RecordId, stock_lines::Model> = HashMap::new();
    for item in items {
        let of_item: Vec<&Wanted> = wanted.iter().filter(|one| one.item.id == item.id).collect();
        plan_item(cx, date, &item, &of_item, &mut plan, &mut costs).await?;
    }
    plan.lines = wanted.iter().filter_map(|one| costs.remove(&one.line)).collect();
    Ok(Some(plan))
}

async fn plan_item(
    cx: &Cx<'_>,
    date: Day,
    item: &Item,
    wanted: &[&Wanted],
    plan: &mut Plan,
    lines: &mut HashMap<RecordId, stock_lines::Model>,
) -> Result<()> {
    let business = cx.business_id()?;
    let method = method_of(cx, item)?;
    let state = stock::Entity::find_by_id((business, item.id)).one(&cx.db).await?;
    let mut sequence = state.as_ref().map_or(0, |state| state.last_sequence);
    let mut new: Vec<stock_lines::Model> = Vec::new();
    for one in wanted {
        sequence += 1;
        new.push(stock_lines::Model {
            business_id: business,
            item_id: item.id,
            date,
            sequence,
            // The document has no identity yet; it is given one when the line is kept.
            document_id: RecordId::default(),
            line_no: one.line_no,
            line_id: one.line,
            kind: one.kind,
            quantity: one.quantity,
            cost: one.cost,
            booked: one.cost,
            returns_line_id: one.returns,
            inventory_account_id: one.inventory,
            cost_account_id: one.cost_account,
            asked_cost: one.asked_cost,
        });
    }
    let at_the_end = state
        .as_ref()
        .is_none_or(|state| state.quantity >= Quantity::ZERO && state.last_date.is_none_or(|last| last <= date));
    let comes_back = new.iter().any(|line| line.returns_line_id.is_some());
    let (valuation, known) = if at_the_end && !comes_back {
        let mut valuation =
            state.as_ref().map_or_else(|| Valuation::new(method), |state| Valuation::resumed(method, state));
        for line in &new {
            valuation.apply(&movement(line))?;
        }
        (valuation, Vec::new())
    } else {
        let mut all = lines_of_item(cx, item.id).await?;
        let known = all.clone();
        all.extend(new.iter().cloned());
        all.sort_by_key(|line| (line.date, line.sequence));
        (replayed(method, &all, plan, &known)?, all)
    };
    // A new version may bring in less than the last one did.
    let replaced = state.as_ref().is_some_and(|state| state.last_date == never());
    let takes_out = replaced || new.iter().any(|line| line.quantity.is_negative());
    check_quantity(cx, item, date, &valuation, &known, takes_out)?;
    for line in &mut new {
        if let Some((_, place)) = valuation.by_line.get(&line.line_id) {
            line.cost = valuation.costs[*place];
            line.booked = line.cost;
        }
        lines.insert(line.line_id, line.clone());
    }
    let last_date = match known.last() {
        Some(last) => Some(last.date),
        None => state.and_then(|state| state.last_date).max(Some(date)),
    };
    plan.states.push(state_of(cx, item.id, &valuation, last_date, sequence)?);
    Ok(())
}

fn state_of(
    cx: &Cx<'_>,
    item: RecordId,
    valuation: &Valuation,
    last_date: Option<Day>,
    sequence: i64,
) -> Result<stock::Model> {
    Ok(stock::Model {
        business_id: cx.business_id()?,
        item_id: item,
        quantity: valuation.quantity,
        value: valuation.value,
        last_date,
        last_sequence: sequence,
        known_cost: valuation.last.map(|(quantity, value)| AsJson(Layer { quantity, value })),
        layers: AsJson(valuation.layers.clone()),
    })
}

/// Values all movements of an item anew, and notes which of those that were known cost something else now.
fn replayed(
    method: Method,
    all: &[stock_lines::Model],
    plan: &mut Plan,
    known: &[stock_lines::Model],
) -> Result<Valuation> {
    let mut valuation = Valuation::new(method);
    for line in all.iter().filter(|line| line.kind == StockKind::Cost) {
        let extra = valuation.extras.entry(line.returns_line_id.unwrap_or_default()).or_default();
        *extra = add(*extra, line.cost)?;
    }
    for line in all {
        valuation.apply(&movement(line))?;
    }
    for line in known {
        let Some((_, place)) = valuation.by_line.get(&line.line_id) else { continue };
        let cost = valuation.costs[*place];
        if cost != line.cost {
            plan.corrections.push(Correction { line: line.clone(), cost });
        }
    }
    Ok(valuation)
}

/// Refuses a change that lets out more than there is, on its day or later.
fn check_quantity(
    cx: &Cx<'_>,
    item: &Item,
    date: Day,
    valuation: &Valuation,
    all: &[stock_lines::Model],
    takes_out: bool,
) -> Result<()> {
    if !takes_out || may_be_negative(cx, item)? {
        return Ok(());
    }
    let mut running = Quantity::ZERO;
    let mut lowest: Option<(Quantity, Day)> = None;
    if all.is_empty() {
        lowest = valuation.lowest;
    }
    for line in all {
        running = more(running, line.quantity)?;
        if line.date >= date && lowest.is_none_or(|(least, _)| running < least) {
            lowest = Some((running, line.date));
        }
    }
    let Some((missing, day)) = lowest.filter(|(lowest, _)| lowest.is_negative()) else { return Ok(()) };
    let name = item.code.as_deref().unwrap_or(&item.name);
    let missing = Quantity::from_units(missing.units().saturating_neg());
    Err(Error::Conflict(Conflict {
        code: "insufficient_stock",
        title: format!("There is not enough of {name} in stock: on {day} {missing} would be missing"),
        errors: FieldErrors::one(
            "lines",
            format!("take out more of {name} than there is on {day}: {missing} is missing"),
        ),
    }))
}

/// Writes what was planned, beside the document's own entry.
pub(crate) fn keep(cx: &Cx<'_>, row: &documents::Model, plan: Plan) -> Result<()> {
    for mut line in plan.lines {
        line.document_id = row.id;
        let moved = move_of(cx, &line, row, line.date, line.quantity, line.cost);
        let now = cx.now;
        cx.keep(|desk| {
            desk.keep_stock_line(line);
            desk.move_stock(now, moved);
        })?;
    }
    for state in plan.states {
        cx.keep(|desk| desk.stands(Standing::Stock(state)))?;
    }
    Ok(())
}

/// What a plan corrects of earlier movements, by entries of its own. It needs the periods, so it comes before [`keep`].
pub(crate) async fn correct(cx: &Cx<'_>, row: &documents::Model, plan: &Plan) -> Result<()> {
    let mut adjustments = Adjustments::default();
    let mut waiting = Waiting::of(cx, plan.corrections.iter().map(|correction| &correction.line)).await?;
    for correction in &plan.corrections {
        let line = &correction.line;
        let day = Ord::max(row.date, line.date);
        let difference = sub(correction.cost, line.cost)?;
        let wait = waiting.share(cx, line, difference)?;
        adjustments.add(cx, row, line, day, difference, wait).await?;
        let standing = Standing::Cost {
            business: line.business_id,
            item: line.item_id,
            date: line.date,
            sequence: line.sequence,
            cost: correction.cost,
        };
        cx.keep(|desk| desk.stands(standing))?;
    }
    adjustments.post(cx, row).await
}

/// Goods that were delivered and wait for their invoice: what they cost more or less is not yet a cost of sales.
struct Waiting {
    lines: HashMap<RecordId, progress::Line>,
    /// What notes brought back of them. What a credit brought back with an invoice does not wait.
    returned: HashMap<RecordId, Quantity>,
}

impl Waiting {
    async fn of(cx: &Cx<'_>, lines: impl Iterator<Item = &stock_lines::Model>) -> Result<Self> {
        let moved = progress::of_lines(cx, lines.map(|line| line.line_id)).await?;
        let sources: Vec<RecordId> = moved.values().filter_map(|line| line.source_line_id).collect();
        let mut all = progress::of_lines(cx, sources).await?;
        all.extend(moved);
        all.retain(|_, line| line.kind == DocumentKind::DeliveryNote);
        let mut returned: HashMap<RecordId, Quantity> = HashMap::new();
        for back in progress::followers(cx, all.keys().copied()).await? {
            let sum = returned.entry(back.source_line_id.unwrap_or_default()).or_default();
            *sum = more(*sum, back.quantity)?;
        }
        Ok(Self { lines: all, returned })
    }

    /// The line on whose account goods of a movement wait, and what of a difference in their cost goes there.
    fn share(
        &mut self,
        cx: &Cx<'_>,
        line: &stock_lines::Model,
        difference: Money,
    ) -> Result<Option<(&mut progress::Line, Money)>> {
        let business = cx.business()?;
        let Some(own) = self.lines.get(&line.line_id) else { return Ok(None) };
        let (id, value) = if own.account_id.is_some() {
            // What notes brought back lessens what waits by a correction of its own.
            let waits = more(own.open(), self.returned.get(&own.line_id).copied().unwrap_or_default())?;
            let rounding = business.settings.rounding_mode.rounding();
            (own.line_id, part(rounding, business.currency_decimals, negated(difference), waits, own.quantity)?)
        } else {
            // What comes back lessens what waits.
            (own.source_line_id.unwrap_or_default(), negated(difference))
        };
        Ok(self.lines.get_mut(&id).filter(|line| line.account_id.is_some()).map(|line| (line, value)))
    }

    /// The same for a movement that leaves the books: what its own entry brought to the account goes with that entry.
    fn rest(
        &mut self,
        cx: &Cx<'_>,
        line: &stock_lines::Model,
        difference: Money,
    ) -> Result<Option<(&mut progress::Line, Money)>> {
        if self.lines.get(&line.line_id).is_none_or(|own| own.account_id.is_none()) {
            return self.share(cx, line, difference);
        }
        let Some(own) = self.lines.get_mut(&line.line_id) else { return Ok(None) };
        let rest = sub(own.begun, own.value)?;
        Ok(Some((own, rest)))
    }
}

/// A difference in the cost of a movement, and what of it goes where goods wait.
struct Difference {
    line: stock_lines::Model,
    cost: Money,
    waits: Option<(RecordId, Money)>,
}

/// What goods cost more or less than was booked, to be posted: one entry an item and day.
#[derive(Default)]
struct Adjustments(BTreeMap<(RecordId, Day), Vec<Difference>>);

impl Adjustments {
    async fn add(
        &mut self,
        cx: &Cx<'_>,
        by: &documents::Model,
        line: &stock_lines::Model,
        day: Day,
        cost: Money,
        waiting: Option<(&mut progress::Line, Money)>,
    ) -> Result<()> {
        let waits = waiting.filter(|(_, value)| *value != Money::ZERO);
        if cost == Money::ZERO && waits.is_none() {
            return Ok(());
        }
        let day = cx.periods().await?.first_open(Module::Stock, day, cx.asker());
        let waits = match waits {
            Some((waiting, value)) => {
                progress::correct(cx, by, day, waiting, value)?;
                waiting.account_id.map(|account| (account, value))
            }
            None => None,
        };
        self.0.entry((line.item_id, day)).or_default().push(Difference { line: line.clone(), cost, waits });
        Ok(())
    }

    async fn post(self, cx: &Cx<'_>, row: &documents::Model) -> Result<()> {
        let currency = cx.business()?.base_currency.clone();
        let chart = cx.chart().await?;
        for ((item, day), differences) in self.0 {
            let mut sums: BTreeMap<RecordId, Money> = BTreeMap::new();
            for Difference { line, cost, waits } in &differences {
                let inventory = sums.entry(line.inventory_account_id).or_default();
                *inventory = add(*inventory, *cost)?;
                let mut rest = negated(*cost);
                if let Some((account, value)) = waits {
                    let sum = sums.entry(*account).or_default();
                    *sum = add(*sum, *value)?;
                    rest = sub(rest, *value)?;
                }
                let sum = sums.entry(line.cost_account_id).or_default();
                *sum = add(*sum, rest)?;
                if *cost != Money::ZERO {
                    let moved = move_of(cx, line, row, day, Quantity::ZERO, *cost);
                    let now = cx.now;
                    cx.keep(|desk| desk.move_stock(now, moved))?;
                }
            }
            let line = |(account, amount): (RecordId, Money)| {
                let subject = Subject { item: Some(item), ..Subject::default() };
                Line::on(chart.standing(account)?, Valued::in_base(amount, &currency), subject.into())
            };
            let lines: Result<Vec<Line>, Refusal> = sums.into_iter().map(line).collect();
            let lines = lines.map_err(|why| Error::internal(format!("a correction of stock {why}")))?;
            let posting = Posting::balanced(lines).map_err(|_| Error::too_large())?;
            if posting.is_empty() {
                continue;
            }
            cx.post(NewEntry {
                date: day,
                kind: EntryKind::StockAdjustment,
                document: row.kind,
                document_id: row.id,
                document_version: row.version,
                document_number: row.number.clone(),
                reverses: None,
                moves: Moves::In,
                narration: Some("Goods cost something else than was booked".into()),
                posting,
            })
            .await?;
        }
        Ok(())
    }
}

fn move_of(
    cx: &Cx<'_>,
    line: &stock_lines::Model,
    row: &documents::Model,
    date: Day,
    quantity: Quantity,
    value: Money,
) -> stock_moves::Model {
    stock_moves::Model {
        business_id: line.business_id,
        id: RecordId(cx.new_id()),
        item_id: line.item_id,
        date,
        recorded_at: cx.now,
        document_id: row.id,
        kind: row.kind,
        quantity,
        value,
        account_id: line.inventory_account_id,
    }
}

/// Takes a document's movements back. Its entry was reversed: what its goods cost more or less since then is taken back
/// by an entry of its own. One that comes back at once is valued again with its new version.
pub(crate) async fn take_back(
    cx: &Cx<'_>,
    row: &documents::Model,
    day: impl Fn(Day) -> Day,
    leaving: Leaving,
) -> Result<()> {
    let of_document = stock_lines::Column::DocumentId.eq(row.id);
    let mine = stock_lines::Column::BusinessId.eq(row.business_id);
    let lines = stock_lines::Entity::find().filter(mine.clone()).filter(of_document.clone()).all(&cx.db).await?;
    if lines.is_empty() {
        return Ok(());
    }
    let mut adjustments = Adjustments::default();
    let mut waiting = Waiting::of(cx, lines.iter()).await?;
    for line in &lines {
        let back = day(line.date);
        let quantity = Quantity::from_units(line.quantity.units().saturating_neg());
        let moved = move_of(cx, line, row, back, quantity, negated(line.booked));
        let now = cx.now;
        cx.keep(|desk| desk.move_stock(now, moved))?;
        let difference = sub(line.booked, line.cost)?;
        let rest = waiting.rest(cx, line, difference)?;
        adjustments.add(cx, row, line, back, difference, rest).await?;
    }
    adjustments.post(cx, row).await?;
    stock_lines::Entity::delete_many().filter(mine).filter(of_document).exec(&cx.db).await?;
    let items: HashSet<RecordId> = lines.iter().map(|line| line.item_id).collect();
    if leaving == Leaving::Replaced {
        return stale(cx, &items).await;
    }
    // Giving goods back cannot leave too few; taking back what came in can.
    let takes_out = lines.iter().any(|line| line.quantity > Quantity::ZERO);
    revalue(cx, row, &items, day(row.date), takes_out).await
}

/// The last day of a stock that waits to be valued anew.
fn never() -> Option<Day> {
    Day::new(9999, 12, 31)
}

/// Marks the stock of items as not yet valued, so that the new version of a document values it from the beginning.
async fn stale(cx: &Cx<'_>, items: &HashSet<RecordId>) -> Result<()> {
    stock::Entity::update_many()
        .col_expr(stock::Column::LastDate, never().into())
        .filter(stock::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock::Column::ItemId.is_in(items.iter().copied()))
        .exec(&cx.db)
        .await?;
    Ok(())
}

/// Values items anew that a document no longer names in its new version.
pub(crate) async fn settle_rest(cx: &Cx<'_>, row: &documents::Model, plan: Option<&Plan>) -> Result<()> {
    let waiting = stock::Entity::find()
        .filter(stock::Column::BusinessId.eq(row.business_id))
        .filter(stock::Column::LastDate.eq(never()))
        .all(&cx.db)
        .await?;
    let planned = |item: RecordId| plan.is_some_and(|plan| plan.states.iter().any(|state| state.item_id == item));
    let rest: HashSet<RecordId> = waiting.iter().map(|state| state.item_id).filter(|item| !planned(*item)).collect();
    revalue(cx, row, &rest, row.date, true).await
}

/// Values items from the beginning, and corrects what costs something else now.
async fn revalue(
    cx: &Cx<'_>,
    row: &documents::Model,
    items: &HashSet<RecordId>,
    from: Day,
    takes_out: bool,
) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let facts = cx.items(items).await?;
    for id in items {
        let item = facts.get(id).ok_or_else(|| Error::internal("stock of an item that there is not"))?;
        let all = lines_of_item(cx, *id).await?;
        let mut plan = Plan::default();
        let valuation = replayed(method_of(cx, item)?, &all, &mut plan, &all)?;
        check_quantity(cx, item, from, &valuation, &all, takes_out)?;
        let old = stock::Entity::find_by_id((row.business_id, *id)).one(&cx.db).await?;
        let sequence = old.map_or(0, |old| old.last_sequence);
        let last_date = all.last().map(|line| line.date);
        plan.states.push(state_of(cx, *id, &valuation, last_date, sequence)?);
        let triggered = documents::Model { date: from, ..row.clone() };
        correct(cx, &triggered, &plan).await?;
        keep(cx, row, plan)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn method(fifo: bool) -> Method {
        Method { fifo, rounding: Rounding::HalfUp, decimals: 2, first_cost: Decimal::ZERO }
    }

    fn moved(line: u128, kind: StockKind, quantity: &str, cost: &str, returns: Option<u128>) -> Movement {
        Movement {
            line: RecordId(uuid::Uuid::from_u128(line)),
            date: "2026-01-01".parse().unwrap(),
            kind,
            quantity: Quantity::parse(quantity).unwrap(),
            cost: Money::parse(cost).unwrap(),
            asked_cost: None,
            returns: returns.map(|line| RecordId(uuid::Uuid::from_u128(line))),
        }
    }

    /// The cost of each movement, then quantity and value.
    fn valued(fifo: bool, movements: &[Movement]) -> String {
        let mut valuation = Valuation::new(method(fifo));
        for movement in movements {
            valuation.apply(movement).unwrap();
        }
        let mut text: Vec<String> = valuation.costs.iter().map(ToString::to_string).collect();
        text.push(format!("= {} {}", valuation.quantity, valuation.value));
        text.join(" ")
    }

    #[test]
    fn goods_are_valued_as_the_worked_examples_say() {
        use StockKind::{Issue, Receipt, Return};
        let e11 = [
            moved(1, Receipt, "10", "50", None),
            moved(2, Receipt, "20", "124", None),
            moved(3, Issue, "-12", "0", None),
        ];
        assert_eq!(valued(false, &e11), "50 124 -69.6 = 18 104.4");
        let back = [&e11[..], &[moved(4, Return, "2", "0", Some(3))]].concat();
        assert_eq!(valued(false, &back), "50 124 -69.6 11.6 = 20 116");
        assert_eq!(valued(true, &e11), "50 124 -62.4 = 18 111.6");
        let e12 = [moved(1, Receipt, "3", "17.4", None), moved(2, Issue, "-5", "0", None)];
        assert_eq!(valued(false, &e12), "17.4 -29 = -2 -11.6");
        let filled = [&e12[..], &[moved(3, Receipt, "10", "65", None)]].concat();
        assert_eq!(valued(false, &filled), "17.4 -30.4 65 = 8 52");
        assert_eq!(valued(true, &filled), "17.4 -30.4 65 = 8 52");
        let all =
            [moved(1, Receipt, "3", "10", None), moved(2, Issue, "-1", "0", None), moved(3, Issue, "-2", "0", None)];
        assert_eq!(valued(false, &all), "10 -3.33 -6.67 = 0 0");
    }

    proptest! {
        #[test]
        fn what_is_left_is_what_came_in_less_what_went_out(
            fifo: bool,
            steps in prop::collection::vec((any::<bool>(), 1_i64..2_000, 0_i64..100_000), 1..60),
        ) {
            let mut valuation = Valuation::new(method(fifo));
            for (index, (receipt, quantity, cents)) in steps.iter().enumerate() {
                let units = quantity * 10_000;
                let movement = Movement {
                    line: RecordId(uuid::Uuid::from_u128(index as u128)),
                    date: "2026-01-01".parse().unwrap(),
                    kind: if *receipt { StockKind::Receipt } else { StockKind::Issue },
                    quantity: Quantity::from_units(if *receipt { units } else { -units }),
                    cost: Money::from_units(if *receipt { cents * 100 } else { 0 }),
                    asked_cost: None,
                    returns: None,
                };
                valuation.apply(&movement).unwrap();
                let sum: i64 = valuation.costs.iter().map(|cost| cost.units()).sum();
                prop_assert_eq!(sum, valuation.value.units());
                prop_assert!(valuation.quantity != Quantity::ZERO || valuation.value == Money::ZERO);
                if fifo && valuation.shortages.is_empty() {
                    let layers: i64 = valuation.layers.iter().map(|layer| layer.value.units()).sum();
                    prop_assert_eq!(layers, valuation.value.units());
                }
            }
        }
    }
}

//! What a piece is worth at standard cost, day by day.
//!
//! Owns: that an item tells it all, whoever said it: the first cost stands in the item, and each later one is a fact of
//! stock on its day. What an item says of a later day is posted by a stock adjustment of its own, so that the stock is
//! worth it from that day on, and the books say by which document.

use super::{Columns, ItemView, Items};
use crate::day::Day;
use crate::document::{self, load};
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Maybe, Once};
use crate::ids::RecordId;
use crate::money::UnitPrice;
use crate::parts::goods::check_cost;
use crate::stock_adjustment::StockAdjustments;
use answers::Ask;
use books::cx::Cx;
use books::stock;
use kit::{master, rows};
use schema::item as table;
use schema::item::CostMethod;
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::{FactKind, stock_facts};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A standard cost, and from when on it holds.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct StandardCostInput {
    /// The first day of the cost; absent on the one that holds from the beginning.
    valid_from: Maybe<Day>,
    /// What one unit is worth from that day on.
    cost: Field<UnitPrice>,
}

/// A standard cost, and from when on it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StandardCost")]
pub struct StandardCost {
    /// The first day of the cost; null on the one that holds from the beginning.
    valid_from: Option<Day>,
    /// What one unit is worth from that day on.
    cost: UnitPrice,
}

/// What a body says of them, beside the columns of an item.
pub(super) const BESIDE: &str = "standardCosts";

pub(super) fn check(
    faults: &mut Faults,
    list: Each<StandardCostInput>,
    method: CostMethod,
) -> Option<Vec<StandardCost>> {
    let says = matches!(&list, Field::Given(Some(_)));
    let (mut days, mut again) = (Once::default(), false);
    let costs = faults.each(BESIDE, list, |faults, input| {
        // The one that holds from the beginning has no day; there is one of it as well.
        let since = match &input.valid_from {
            Field::Missing => Field::Given(None),
            said => said.clone(),
        };
        again |= days.is_second(&since);
        let cost = StandardCost {
            valid_from: faults.optional("validFrom", input.valid_from),
            cost: faults.required("cost", input.cost),
        };
        check_cost(faults, "cost", Some(cost.cost));
        cost
    });
    if again {
        faults.add(BESIDE, "must each begin on a day of their own");
    }
    if method != CostMethod::Standard && !costs.is_empty() {
        faults.add(BESIDE, "are for items at standard cost");
    }
    says.then_some(costs)
}

/// The costs of an item: from the beginning, and by the day from which on each holds, with the document that says it.
#[derive(Debug, Clone, Default)]
pub(super) struct Costs {
    first: Option<UnitPrice>,
    later: BTreeMap<Day, (UnitPrice, RecordId)>,
}

impl Costs {
    pub(super) fn list(&self) -> Vec<StandardCost> {
        let first = self.first.map(|cost| StandardCost { valid_from: None, cost });
        let later = self.later.iter().map(|(day, (cost, _))| StandardCost { valid_from: Some(*day), cost: *cost });
        first.into_iter().chain(later).collect()
    }

    pub(super) fn on(&self, day: Day) -> Option<UnitPrice> {
        self.later.range(..=day).next_back().map(|(_, (cost, _))| *cost).or(self.first)
    }
}

/// What the books say of the standard costs of items.
pub(super) async fn of(cx: &Cx<'_>, items: &[table::Model]) -> Result<HashMap<RecordId, Costs>> {
    let first = items.iter().filter(|item| item.cost_method == CostMethod::Standard);
    let mut costs: HashMap<RecordId, Costs> =
        first.map(|item| (item.id, Costs { first: item.standard_cost, later: BTreeMap::new() })).collect();
    if costs.is_empty() {
        return Ok(costs);
    }
    let business = cx.business_id()?;
    let facts = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(business))
        .filter(stock_facts::Column::ItemId.is_in(costs.keys().copied()))
        .filter(stock_facts::Column::Kind.eq(FactKind::Standard))
        .order_by_asc(stock_facts::Column::Date)
        .order_by_asc(stock_facts::Column::Place)
        .models(&cx.db)
        .await?;
    let gone = stock_facts::Entity::find()
        .filter(stock_facts::Column::BusinessId.eq(business))
        .filter(stock_facts::Column::CancelsId.is_in(facts.iter().map(|fact| fact.id)))
        .models(&cx.db)
        .await?;
    let gone: HashSet<RecordId> = gone.into_iter().filter_map(|fact| fact.cancels_id).collect();
    for fact in facts.into_iter().filter(|fact| fact.is_listed() && !gone.contains(&fact.id)) {
        if let (Some(costs), Some(cost)) = (costs.get_mut(&fact.item_id), fact.standard) {
            costs.later.insert(fact.date, (cost, fact.document_id));
        }
    }
    Ok(costs)
}

/// What an item is to cost, day by day, by a body: its list, or else its cost of today.
fn wanted(known: &Costs, said: Option<&[StandardCost]>, now: Option<UnitPrice>, today: Day) -> Result<Costs> {
    let said = said.filter(|said| {
        let days =
            |costs: &[StandardCost]| costs.iter().map(|cost| (cost.valid_from, cost.cost)).collect::<BTreeSet<_>>();
        days(said) != days(&known.list())
    });
    let restated = now.filter(|now| known.on(today) != Some(*now));
    let Some(said) = said else {
        let mut wanted = known.clone();
        match restated {
            Some(now) if wanted.first.is_none() => wanted.first = Some(now),
            Some(now) => {
                wanted.later.insert(today, (now, RecordId::NOBODY));
            }
            None => {}
        }
        return Ok(wanted);
    };
    let first = said.iter().find(|cost| cost.valid_from.is_none()).map(|cost| cost.cost);
    let later = said.iter().filter_map(|cost| Some((cost.valid_from?, (cost.cost, RecordId::NOBODY))));
    let wanted = Costs { first: first.or(known.first).or(now), later: later.collect() };
    if wanted.first.is_none() {
        return Err(Error::field("standardCost", "is required: what does one cost from the beginning?"));
    }
    if restated.is_some_and(|now| known.first.is_some() && wanted.on(today) != Some(now)) {
        let why = "says another cost of today than standardCosts; leave one of them as it was, or out";
        return Err(Error::field("standardCost", why));
    }
    Ok(wanted)
}

/// Where a body says the cost of a day: in an element that was sent, in the list where none says it, or beside the list.
fn named(said: Option<&[StandardCost]>, day: Day) -> (String, bool) {
    let Some(said) = said else { return ("standardCost".into(), false) };
    match said.iter().position(|cost| cost.valid_from == Some(day)) {
        Some(index) => (format!("{BESIDE}[{index}]"), true),
        None => (BESIDE.into(), false),
    }
}

/// A field of a stock adjustment's, as the item's body has it.
fn renamed(error: Error, (own, is_element): (String, bool)) -> Error {
    let turn = |errors: FieldErrors| {
        let mut turned = FieldErrors::default();
        for (field, messages) in errors.iter() {
            let own = if field == "date" && is_element { format!("{own}.validFrom") } else { own.clone() };
            for message in messages {
                turned.add(own.clone(), message.clone());
            }
        }
        turned
    };
    match error {
        Error::Validation(errors) => Error::Validation(turn(errors)),
        Error::Conflict(conflict) => Error::Conflict(Conflict { errors: turn(conflict.errors), ..conflict }),
        other => other,
    }
}

/// Makes the books say what is wanted.
async fn post(
    cx: &Cx<'_>,
    item: RecordId,
    (known, wanted): (&Costs, &Costs),
    said: Option<&[StandardCost]>,
) -> Result<bool> {
    let place = |day: Day| named(said, day);
    let mut posted = false;
    let cost = |costs: &Costs, day: &Day| costs.later.get(day).map(|(cost, _)| *cost);
    let days: BTreeSet<Day> = known.later.keys().chain(wanted.later.keys()).copied().collect();
    for day in days.into_iter().filter(|day| cost(known, day) != cost(wanted, day)) {
        cx.require(ResourceKey::StockAdjustments, Action::Create)?;
        if let Some((_, by)) = known.later.get(&day) {
            let old = load::<StockAdjustments>(cx, *by).await?;
            if !old.content.asked.restates_only(item) {
                let number = old.row.number.as_deref().unwrap_or("a stock adjustment");
                let why = format!("is said by {number} with other lines; change it there");
                return Err(Error::Conflict(Conflict {
                    code: Code::InUse,
                    title: "A stock adjustment says more than this cost".into(),
                    errors: FieldErrors::one(&place(day).0, why),
                }));
            }
            let reason = Some("The item has another standard cost".to_owned());
            document::void::<StockAdjustments>(cx, old, None, reason).await.map_err(|why| renamed(why, place(day)))?;
        }
        if let Some(cost) = cost(wanted, &day) {
            let draft = crate::stock_adjustment::restating(item, day, cost);
            document::create::<StockAdjustments>(cx, &draft).await.map_err(|why| renamed(why, place(day)))?;
        }
        posted = true;
    }
    cx.flush().await?;
    Ok(posted)
}

/// What a body says of the costs of an item, taken out of the row that it says.
fn said_by(draft: &Columns<table::Column>) -> Result<(Option<Vec<StandardCost>>, Option<UnitPrice>)> {
    let now = match draft.get(table::Column::StandardCost) {
        Some(sea_orm::Value::BigInt(Some(units))) => Some(UnitPrice::from_units(*units)),
        _ => None,
    };
    Ok((draft.beside(BESIDE)?, now))
}

/// What a piece costs by a body before anything is known of it.
fn first_said(row: &table::Model, draft: &Columns<table::Column>) -> Option<UnitPrice> {
    let price = |column, now| match draft.get(column) {
        Some(sea_orm::Value::BigInt(units)) => units.map(UnitPrice::from_units),
        _ => now,
    };
    let standard = price(table::Column::StandardCost, row.standard_cost);
    standard.or_else(|| price(table::Column::PurchasePrice, row.purchase_price))
}

fn is_standard(draft: &Columns<table::Column>) -> bool {
    draft.get(table::Column::CostMethod) == Some(&CostMethod::Standard.into())
}

pub(super) async fn create(cx: &Cx<'_>, draft: &Columns<table::Column>) -> Result<ItemView> {
    if !is_standard(draft) {
        return master::create::<Items>(cx, draft).await;
    }
    let (said, now) = said_by(draft)?;
    let known = Costs::default();
    let wanted = wanted(&known, said.as_deref(), now, cx.today()?)?;
    let mut draft = draft.clone();
    draft.replace(table::Column::StandardCost, wanted.first);
    let made = master::create::<Items>(cx, &draft).await?;
    let id = made.keeping.id;
    if Box::pin(post(cx, id, (&known, &wanted), said.as_deref())).await? {
        rows::get::<Items>(cx, id).await
    } else {
        Ok(made)
    }
}

pub(super) async fn update(cx: &Cx<'_>, id: RecordId, draft: &Columns<table::Column>) -> Result<ItemView> {
    let row = rows::row::<Items>(cx, id).await?;
    let said = first_said(&row, draft);
    let says_else = said != stock::first_cost(&row);
    if says_else {
        stock::stays(cx, &row).await?;
    }
    if !is_standard(draft) || row.cost_method != CostMethod::Standard {
        let changed = master::update::<Items>(cx, id, draft).await?;
        if let Some(cost) = said.filter(|_| says_else) {
            stock::says(cx, id, cost).await?;
        }
        return Ok(changed);
    }
    let (said, now) = said_by(draft)?;
    let known =
        of(cx, std::slice::from_ref(&row)).await?.remove(&id).ok_or_else(|| Error::internal("an item has no costs"))?;
    let mut wanted = wanted(&known, said.as_deref(), now, cx.today()?)?;
    if known.later.is_empty() && said.is_none() && !super::has_moved(cx, &row).await? {
        // Nothing happened at the cost of before.
        (wanted.first, wanted.later) = (now, BTreeMap::new());
    }
    let mut draft = draft.clone();
    draft.replace(table::Column::StandardCost, wanted.first);
    let changed = master::update::<Items>(cx, id, &draft).await?;
    if Box::pin(post(cx, id, (&known, &wanted), said.as_deref())).await? {
        rows::get::<Items>(cx, id).await
    } else {
        Ok(changed)
    }
}

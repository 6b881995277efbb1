//! Stock adjustments: what was found, lost, broken or counted.

use crate::clock::Instant;
use crate::day::Day;
use crate::document::{
    self, Before, Content, Document, Draft, Head, HeadInput, HeadView, Purpose, Settled, SettledEntry,
    document_operations, document_rows,
};
use crate::document::{beyond_one_document, identity};
use crate::error::{Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Money, Quantity, UnitPrice};
use answers::Ask;
use books::access::Business;
use books::cx::Cx;
use books::stock::{self, Wanted as Movement};
use kit::list::{FilterValue, Reads};
use kit::master::{RecordKeeping, kept};
use kit::reference::{Held, References};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use lines::{AdjustmentLineAsked, check_lines, lines, traded};
pub use lines::{StockAdjustmentLineInput, StockAdjustmentLineView};
use rules::posting::Posting;
use rules::purpose::Purpose as For;
use schema::address::text;
use schema::item::{CostMethod, ItemType};
use schema::key::ResourceKey;
use schema::payment_term::MasterStatus;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus, EntryKind, FactKind, FactSide, stock_facts, stock_lines};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, QueryFilter, QuerySelect, QueryTrait};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use words::exact::Exact;
use words::sums::Sums as _;

pub mod counting;
mod lines;

pub struct StockAdjustments;

/// What a client sends to create or replace a stock adjustment.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct StockAdjustmentInput {
    /// The day it counts for.
    date: Field<Day>,
    /// The lines, 1 to 1000.
    #[schemars(extend("minItems" = 1, "maxItems" = 1000))]
    lines: Field<Vec<Field<StockAdjustmentLineInput>>>,
    /// Why stock is adjusted.
    reason: Maybe<Text<500>>,
    /// Account of what is gained or lost; the company's when absent.
    account_id: Maybe<RecordId>,
    /// `posted` or `draft`; as the company's settings say when absent. On an update, `void` takes it back.
    status: Maybe<DocumentStatus>,
    /// Its number, where the series takes numbers by hand.
    number: Maybe<Text<50>>,
    /// The number series; the default one when absent.
    series_id: Maybe<RecordId>,
    /// A number or text of the other side, such as that of the count.
    reference: Maybe<Text<100>>,
    /// What it is about; its ledger entries say the same.
    narration: Maybe<Text<1000>>,
    /// Its identifier in another system; unique among stock adjustments.
    external_id: Maybe<Text<200>>,
    /// Labels of your own, at most 50.
    #[schemars(extend("maxItems" = 50))]
    tags: Each<Label<50>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdjustmentAsked {
    reason: Option<String>,
    account: Option<RecordId>,
    lines: Vec<AdjustmentLineAsked>,
    /// What the version before it named.
    #[serde(skip)]
    held: Held,
    /// Where it stands in its day.
    #[serde(skip)]
    stands: Stands,
}

/// When a document was posted, and where its counts stand in their day, which is nothing that anybody asks for: two that differ
/// in it ask for the same.
#[derive(Debug, Clone, Default)]
struct Stands {
    /// What was counted is what there was by then on its day.
    posted_at: Option<Instant>,
    places: Option<Places>,
}

/// The places of counts in a day, line by line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Places {
    day: Day,
    of: Vec<(RecordId, i64)>,
}

impl PartialEq for Stands {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl AdjustmentAsked {
    /// Whether it says what an item is worth, and nothing else.
    pub(crate) fn restates_only(&self, item: RecordId) -> bool {
        matches!(self.lines.as_slice(), [line] if line.item == item && line.standard.is_some())
    }
}

/// The adjustment by which a piece of an item is worth something else from a day on.
pub(crate) fn restating(item: RecordId, date: Day, cost: UnitPrice) -> Draft<AdjustmentAsked> {
    let line = AdjustmentLineAsked {
        id: None,
        item,
        delta: None,
        counted: None,
        unit_cost: None,
        standard: Some(cost),
        description: None,
    };
    let head = Head { status: Some(DocumentStatus::Posted), ..Head::on(date) };
    Draft {
        head,
        asked: AdjustmentAsked {
            reason: Some("A new standard cost".into()),
            account: None,
            lines: vec![line],
            held: Held::default(),
            stands: Stands::default(),
        },
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AdjustmentFigures {
    account: Option<RecordId>,
    /// Line by line, what was adjusted.
    deltas: Vec<Quantity>,
    /// Where its counts stand, also those that find nothing by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    places: Option<Places>,
}

/// What was found, lost, broken or counted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StockAdjustment")]
pub struct StockAdjustmentView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    #[serde(flatten)]
    head: HeadView,
    /// Why stock is adjusted.
    reason: Option<String>,
    /// Account of what is gained or lost.
    account_id: Option<RecordId>,
    /// The lines.
    lines: Vec<StockAdjustmentLineView>,
    /// What was gained in all, in the company's currency; a loss is negative.
    total_value: Amount,
}

impl AsRef<RecordKeeping> for StockAdjustmentView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

impl Resource for StockAdjustments {
    const KEY: ResourceKey = ResourceKey::StockAdjustments;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a stock adjustment",
        many: "stock adjustments",
        description: "What was found, lost, broken or counted. What goes out is valued as a sale would be; what comes in \
                      at the cost that is named, else at what such things cost now.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration, reason and the lines' descriptions",
    };
    type Input = StockAdjustmentInput;
    type Draft = Draft<AdjustmentAsked>;
    type View = StockAdjustmentView;

    fn example() -> serde_json::Value {
        json!({
            "date": "2026-11-20",
            "reason": "Yearly count",
            "accountId": null,
            "status": "posted",
            "number": null,
            "seriesId": null,
            "reference": null,
            "narration": null,
            "externalId": null,
            "tags": [],
            "lines": [{
                "itemId": "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21", "quantityDelta": 10, "countedQuantity": null,
                "unitCost": 9.25, "standardCost": null, "description": "Found behind the shelf"
            }]
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "number": "SA-2026-0003",
            "postedAt": "2026-11-20T09:30:00.000000Z",
            "voidDate": null,
            "voidReason": null,
            "entryIds": ["019a9f6e-6c00-7a97-8b43-8daf2e4a6c07"],
            "allowedActions": ["edit", "void", "copy"],
            "lines": [{
                "id": "019a9f6e-6c00-7b2b-841a-f617380b942b", "lineNo": 1, "itemId": "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21",
                "quantityDelta": 10, "countedQuantity": null, "unitCost": 9.25, "standardCost": null,
                "description": "Found behind the shelf", "adjustedQuantity": 10, "value": 92.5
            }],
            "totalValue": 92.5
        })
    }

    fn check(_: Option<&Business>, input: StockAdjustmentInput) -> Result<Self::Draft, FieldErrors> {
        let mut faults = Faults::default();
        let head = Head::check(
            &mut faults,
            HeadInput {
                date: input.date,
                status: input.status,
                number: input.number,
                series_id: input.series_id,
                reference: input.reference,
                narration: input.narration,
                external_id: input.external_id,
                tags: input.tags,
            },
        );
        let asked = AdjustmentAsked {
            reason: text(&mut faults, "reason", input.reason),
            account: faults.optional("accountId", input.account_id),
            lines: check_lines(&mut faults, input.lines),
            held: Held::default(),
            stands: Stands::default(),
        };
        faults.finish(Draft { head, asked })
    }

    document_operations!();
}

impl Rows for StockAdjustments {
    document_rows!();

    fn filters() -> Vec<Filter<Column>> {
        let mut filters = document::filters();
        filters.push(Filter::looking("itemId", "Posted adjustments of this item.", Reads::Identifier, adjusting));
        filters
    }
}

fn adjusting(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Identifier(item) = value else { return Ok(Condition::any()) };
    let lines = stock_lines::Entity::find()
        .select_only()
        .column(stock_lines::Column::DocumentId)
        .filter(stock_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_lines::Column::ItemId.eq(*item));
    Ok(Condition::all().add(Column::Id.in_subquery(lines.into_query())))
}

impl Document for StockAdjustments {
    const KIND: DocumentKind = DocumentKind::StockAdjustment;
    type Asked = AdjustmentAsked;
    type Figures = AdjustmentFigures;
    /// What each line is worth by now.
    type Live = HashMap<RecordId, BookMoney>;

    fn words(asked: &AdjustmentAsked) -> Vec<String> {
        asked.lines.iter().filter_map(|line| line.description.clone()).chain(asked.reason.clone()).collect()
    }

    fn parties(_: &mut AdjustmentAsked) -> Vec<&mut RecordId> {
        Vec::new()
    }

    fn identify(
        cx: &Cx<'_>,
        asked: &AdjustmentAsked,
        old: Option<Before<'_, AdjustmentAsked>>,
    ) -> Result<AdjustmentAsked> {
        let mut asked = asked.clone();
        if let Some(old) = old.as_ref().filter(|old| old.status != DocumentStatus::Draft) {
            asked.held = old.asked.lines.iter().map(|line| line.item).collect();
            asked.stands.posted_at = old.posted_at;
        }
        document::identify(cx, &mut asked.lines, old.map(|old| old.asked.lines.as_slice()))?;
        Ok(asked)
    }

    fn sent_back(mut asked: AdjustmentAsked, old: &Content<AdjustmentAsked, AdjustmentFigures>) -> AdjustmentAsked {
        asked.stands.places.clone_from(&old.figures.places);
        asked
    }

    async fn complete(cx: &Cx<'_>, _: &Head, mut asked: AdjustmentAsked) -> Result<AdjustmentAsked> {
        if asked.account.is_none() {
            asked.account = Some(cx.chart().await?.roles().inventory_adjustment.id());
        }
        Ok(asked)
    }

    async fn settle(
        cx: &Cx<'_>,
        head: &Head,
        asked: &AdjustmentAsked,
        purpose: Purpose,
    ) -> Result<Settled<AdjustmentFigures>> {
        let business = cx.business()?;
        let named: HashSet<RecordId> = asked.lines.iter().map(|line| line.item).collect();
        let items = cx.items(&named).await?;
        let mut references = References::of(cx).await?;
        judge(asked, &items, purpose, &mut references);
        let chart = references.chart.clone();
        references.finish()?;
        let account = asked.account.ok_or_else(|| Error::internal("an adjustment has no other side"))?;
        let deltas = counting::deltas(cx, head.date, asked, None).await?;
        let mut settled = Settled {
            subkind: None,
            party: None,
            currency: business.base_currency.clone(),
            total: Money::ZERO,
            total_in: None,
            base_total: BookMoney::ZERO,
            entries: Vec::new(),
            open: Vec::new(),
            lines: Vec::new(),
            stock: None,
            progress: None,
            figures: AdjustmentFigures { account: asked.account, deltas: deltas.clone(), places: None },
        };
        if purpose == Purpose::Draft {
            return Ok(settled);
        }
        let inventory = chart.roles().inventory.id();
        let mut movements = Vec::new();
        for ((line, delta), line_no) in asked.lines.iter().zip(&deltas).zip(1_usize..) {
            let says = *delta != Quantity::ZERO || line.standard.is_some();
            let Some(item) = items.get(&line.item).filter(|_| says) else { continue };
            movements.push(Movement {
                line: identity(line.id)?,
                item: item.clone(),
                standard: line.standard,
                kind: match (delta.is_negative(), line.unit_cost) {
                    _ if line.standard.is_some() => FactKind::Standard,
                    (true, _) => FactKind::Issue,
                    (false, Some(_)) => FactKind::Receipt,
                    (false, None) => FactKind::CustomerReturn,
                },
                side: FactSide::Cost,
                quantity: if delta.is_negative() {
                    Quantity::from_units(delta.units().checked_neg().ok_or_else(Error::too_large)?)
                } else {
                    *delta
                },
                amount: match line.unit_cost.filter(|_| !delta.is_negative()) {
                    Some(cost) => {
                        let worth = Exact::from(cost).times(*delta).and_then(|worth| worth.round(business.coin()));
                        worth.map_err(|_| {
                            Error::field(&format!("lines[{}].unitCost", line_no - 1), "comes to more than can be kept")
                        })?
                    }
                    None => BookMoney::ZERO,
                },
                of: None,
                accounts: stock::Accounts {
                    inventory: item.inventory_account_id.unwrap_or(inventory),
                    cost: account,
                    variance: account,
                    waits: None,
                },
            });
        }
        let counted = counting::counted(cx, asked, &items, head.date).await?;
        settled.stock = stock::plan_counting(cx, head.date, movements, &counted).await?;
        settled.figures.places = settled
            .stock
            .as_ref()
            .filter(|plan| !plan.places.is_empty())
            .map(|plan| Places { day: head.date, of: plan.places.clone() });
        let moved: &[stock_facts::Model] = settled.stock.as_ref().map_or(&[], |plan| &plan.facts);
        let value = moved.iter().try_fold(BookMoney::ZERO, |sum, fact| sum.checked_add(fact.booked_stock));
        let value = value.ok_or_else(|| Error::field("lines", "come to more than can be kept"))?;
        // An adjustment is in the company's currency.
        (settled.total, settled.base_total) = (value.at_par(), value);
        let lines = lines(&chart, business.home(), moved).map_err(|why| why.at("accountId"))?;
        let posting = Posting::balanced(lines).map_err(|_| beyond_one_document("lines"))?;
        settled.lines = traded(asked, &deltas, moved, account)?;
        settled.entries.push(SettledEntry { kind: EntryKind::Normal, date: head.date, field: "date", posting });
        Ok(settled)
    }

    async fn live(cx: &Cx<'_>, rows: &[documents::Model]) -> Result<HashMap<RecordId, Self::Live>> {
        let lines = stock_lines::Entity::find()
            .filter(stock_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(stock_lines::Column::DocumentId.is_in(rows.iter().map(|row| row.id)))
            .models(&cx.db)
            .await?;
        let mut live: HashMap<RecordId, Self::Live> = HashMap::new();
        for line in lines {
            live.entry(line.document_id).or_default().insert(line.line_id, line.cost);
        }
        Ok(live)
    }

    fn fresh(settled: &Settled<AdjustmentFigures>) -> Self::Live {
        settled.stock.iter().flat_map(stock::Plan::costs).collect()
    }

    fn view(
        cx: &Cx<'_>,
        row: documents::Model,
        content: Content<AdjustmentAsked, AdjustmentFigures>,
        live: Self::Live,
    ) -> Result<StockAdjustmentView> {
        let currency_decimals = cx.business()?.currency_decimals;
        let base = |money: BookMoney| money.shown(currency_decimals);
        let Content { asked, figures } = content;
        let value = |line: Option<RecordId>| match line {
            Some(id) => live.sum_of(&id),
            None => BookMoney::ZERO,
        };
        let lines =
            asked.lines.iter().zip(&figures.deltas).zip(1..).map(|((line, delta), line_no)| StockAdjustmentLineView {
                id: line.id,
                line_no,
                item_id: line.item,
                quantity_delta: line.delta,
                counted_quantity: line.counted,
                unit_cost: line.unit_cost,
                standard_cost: line.standard,
                description: line.description.clone(),
                adjusted_quantity: *delta,
                value: base(value(line.id)),
            });
        let total = if live.is_empty() {
            row.base_total
        } else {
            BookMoney::from_units(live.values().map(|cost| cost.units()).sum())
        };
        Ok(StockAdjustmentView {
            keeping: kept!(row),
            head: HeadView::of(cx, ResourceKey::StockAdjustments, &row)?,
            reason: asked.reason.clone(),
            account_id: figures.account,
            lines: lines.collect(),
            total_value: base(total),
        })
    }
}

fn judge(
    asked: &AdjustmentAsked,
    items: &HashMap<RecordId, Arc<schema::item::Model>>,
    purpose: Purpose,
    references: &mut References,
) {
    references.account("accountId", asked.account, For::AdjustmentSide);
    let mut counted = HashSet::new();
    for (index, line) in asked.lines.iter().enumerate() {
        let at = format!("lines[{index}].itemId");
        match items.get(&line.item) {
            None => references.faults.add(at, "names no item"),
            Some(item) if item.r#type != ItemType::Stock => {
                references.faults.add(at, format!("names {}, of which no stock is kept", item.name));
            }
            Some(item)
                if item.status == MasterStatus::Archived
                    && purpose == Purpose::Posting
                    && !asked.held.has(line.item) =>
            {
                references.faults.add(at, format!("names {}, which is archived", item.name));
            }
            Some(item) if line.standard.is_some() && item.cost_method != CostMethod::Standard => {
                references.faults.add(format!("lines[{index}].standardCost"), "is for items at standard cost");
            }
            Some(_) if !counted.insert(line.item) && line.counted.is_some() => {
                references.faults.add(at, "stands here already: an item is counted once");
            }
            Some(_) => {}
        }
    }
}

//! Goods: what is there, what it is worth, what moved it, and what waits for an invoice.

use super::Report;
use super::aging::{documents_of, names_of};
use super::asked::{
    AS_OF, Asked, DATE, FORMAT, FROM, FROM_DATE, INCLUDE_ZERO, ITEM, KNOWN_AT, PARTY, THE_ITEM, TO, TO_DATE,
};
use super::form::{Example, Form, Holds};
use super::sheet::{Cell, Check, Own, Row, RowType, Sheet};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::money::{Money, Quantity, UnitPrice};
use books::among::among;
use books::balances::{balances, sum};
use books::cx::{Cx, Point};
use kit::list::Parameter;
use rules::account::AccountType;
use schema::account as accounts;
use schema::aliases::Named;
use schema::item as items;
use schema::tables::{DocumentKind, FactKind, progress_moves, stock_facts, stock_moves};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect, Select};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::marker::PhantomData;
use words::sown::{Fault, sown};
use words::sums::{Figure, Sums as _};

/// What an item is called: its code and its name.
pub(super) async fn item_names(cx: &Cx<'_>, ids: impl Iterator<Item = RecordId>) -> Result<HashMap<RecordId, String>> {
    let found: Vec<(RecordId, Option<String>, String)> = items::Entity::find()
        .select_only()
        .columns([items::Column::Id, items::Column::Code, items::Column::Name])
        .filter(items::Column::BusinessId.eq(cx.business_id()?))
        .filter(among(cx, items::Column::Id, ids.collect::<HashSet<_>>()))
        .into_tuple()
        .all(&cx.db)
        .await?;
    let named = |(id, code, name): (RecordId, Option<String>, String)| match code {
        Some(code) => (id, format!("{code} {name}")),
        None => (id, name),
    };
    Ok(found.into_iter().map(named).collect())
}

#[derive(FromQueryResult)]
struct Sum {
    item_id: RecordId,
    quantity: i64,
    value: i64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stock {
    quantity: i64,
    value: i64,
}

impl Figure for Stock {
    const NOTHING: Self = Self { quantity: 0, value: 0 };
}

impl Stock {
    const fn plus(self, other: Self) -> Self {
        Self { quantity: self.quantity + other.quantity, value: self.value + other.value }
    }

    const fn minus(self, other: Self) -> Self {
        Self { quantity: self.quantity - other.quantity, value: self.value - other.value }
    }

    fn cells(self, own: Own) -> [Cell; 2] {
        [Cell::Quantity(Quantity::from_units(self.quantity)), own.cell(self.value)]
    }
}

/// What moved items over some days: all of it, or only what came in.
async fn moved(
    cx: &Cx<'_>,
    (from, to): (Option<Day>, Day),
    asked: &Asked,
    only_in: bool,
) -> Result<HashMap<RecordId, Stock>> {
    let mut moves = stock_moves::Entity::find()
        .select_only()
        .column(stock_moves::Column::ItemId)
        .column_as(sum(cx, Expr::col(stock_moves::Column::Quantity)), "quantity")
        .column_as(sum(cx, Expr::col(stock_moves::Column::Value)), "value")
        .filter(stock_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(stock_moves::Column::Date.lte(to));
    if let Some(from) = from {
        moves = moves.filter(stock_moves::Column::Date.gte(from));
    }
    if let Some(at) = asked.point.known_at {
        moves = moves.filter(stock_moves::Column::RecordedAt.lte(at));
    }
    if let Some(item) = asked.item {
        moves = moves.filter(stock_moves::Column::ItemId.eq(item));
    }
    if only_in {
        moves = moves.filter(stock_moves::Column::Value.gt(0));
    }
    let found: Vec<Sum> = moves.group_by(stock_moves::Column::ItemId).into_model().all(&cx.db).await?;
    Ok(found.into_iter().map(|row| (row.item_id, Stock { quantity: row.quantity, value: row.value })).collect())
}

/// What the inventory accounts come to at the end of a day.
async fn inventory(cx: &Cx<'_>, day: Day, point: Point) -> Result<i64> {
    let accounts: Vec<RecordId> = accounts::Entity::find()
        .select_only()
        .column(accounts::Column::Id)
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .filter(accounts::Column::Type.eq(AccountType::Inventory))
        .into_tuple()
        .all(&cx.db)
        .await?;
    let found = balances(cx, Some(&accounts), Point { as_of: Some(day), ..point }).await?;
    Ok(found.values().map(|balance| balance.base).sum())
}

fn item_row(id: RecordId, names: &HashMap<RecordId, String>, values: Vec<Cell>) -> Row {
    Row {
        item_id: Some(id),
        ..Row::total(RowType::Item, &id.to_string(), names.get(&id).map_or("", String::as_str), values)
    }
}

fn by_name(names: &HashMap<RecordId, String>, ids: HashSet<RecordId>) -> Vec<RecordId> {
    let mut ids: Vec<RecordId> = ids.into_iter().collect();
    ids.sort_by_key(|id| (names.get(id).cloned(), *id));
    ids
}

// ── Valuation ──

pub(super) struct StockValuation;

pub(super) struct Valued {
    own: Own,
    stock: HashMap<RecordId, Stock>,
    names: HashMap<RecordId, String>,
    /// What the inventory accounts come to; unknown of one item.
    inventory: Option<i64>,
}

impl Report for StockValuation {
    const NAME: &'static str = "stock-valuation";
    const OPERATION: &'static str = "StockValuation";
    const TITLE: &'static str = "Valuation of the stock";
    const ABOUT: &'static str = "What is there of each item at the end of a day, and what it is worth.";
    const PARAMETERS: &'static [Parameter] = &[AS_OF, DATE, ITEM, INCLUDE_ZERO, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("quantity", "Quantity", Holds::Quantity),
            ("value", "Value", Holds::Amount),
            ("averageCost", "Average cost", Holds::Price),
        ],
        varying: None,
        totals: &[("value", "Value", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[
                (
                    RowType::Item,
                    "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21",
                    "BEANS-1 Espresso beans",
                    &["120", "11100.00", "92.5"],
                ),
                (RowType::Total, "total", "Total", &["", "11100.00", ""]),
            ],
            totals: &["11100.00"],
            check: ("The stock is worth what the inventory accounts say", Holds::Amount, "11100.00"),
        },
    };
    type Facts = Valued;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Valued> {
        let stock = moved(cx, (None, asked.as_of), asked, false).await?;
        let inventory = if asked.item.is_none() { Some(inventory(cx, asked.as_of, asked.point).await?) } else { None };
        Ok(Valued {
            own: Own(cx.business()?.currency_decimals),
            names: item_names(cx, stock.keys().copied()).await?,
            stock,
            inventory,
        })
    }

    fn fold(facts: Valued, asked: &Asked) -> Result<Sheet> {
        let Valued { own, stock, names, inventory } = facts;
        let mut rows = Vec::new();
        let mut total = 0;
        for id in by_name(&names, stock.keys().copied().collect()) {
            let of = stock.sum_of(&id);
            if of == Stock::default() && !asked.include_zero {
                continue;
            }
            total += of.value;
            let mut values = of.cells(own).to_vec();
            values.push(average(of));
            rows.push(item_row(id, &names, values));
        }
        rows.push(Row::total(RowType::Total, "total", "Total", vec![Cell::Nothing, own.cell(total), Cell::Nothing]));
        let checks =
            inventory.map(|balance| own.check("The stock is worth what the inventory accounts say", total, balance));
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: BTreeMap::from([("value".to_owned(), own.cell(total))]),
            checks: checks.into_iter().collect(),
            ..Sheet::default()
        })
    }
}

fn average(of: Stock) -> Cell {
    let (quantity, value) = (Quantity::from_units(of.quantity), Money::from_units(of.value));
    let exact = value.decimal().checked_div(quantity.decimal()).filter(|_| of.quantity > 0);
    let price = exact.and_then(|exact| UnitPrice::parse(&exact.round_dp(UnitPrice::PLACES).to_string()).ok());
    price.map_or(Cell::Nothing, Cell::Price)
}

// ── Summary ──

pub(super) struct StockSummary;

pub(super) struct Summed {
    own: Own,
    before: HashMap<RecordId, Stock>,
    came: HashMap<RecordId, Stock>,
    all: HashMap<RecordId, Stock>,
    names: HashMap<RecordId, String>,
    inventory: Option<i64>,
}

impl Report for StockSummary {
    const NAME: &'static str = "stock-summary";
    const OPERATION: &'static str = "StockSummary";
    const TITLE: &'static str = "Summary of the stock";
    const ABOUT: &'static str = "What was there of each item before some days, what came in and went out, and what is \
                                 there then, in quantity and value.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, ITEM, INCLUDE_ZERO, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("openingQuantity", "Opening, quantity", Holds::Quantity),
            ("openingValue", "Opening, value", Holds::Amount),
            ("inQuantity", "In, quantity", Holds::Quantity),
            ("inValue", "In, value", Holds::Amount),
            ("outQuantity", "Out, quantity", Holds::Quantity),
            ("outValue", "Out, value", Holds::Amount),
            ("closingQuantity", "Closing, quantity", Holds::Quantity),
            ("closingValue", "Closing, value", Holds::Amount),
        ],
        varying: None,
        totals: &[
            ("openingValue", "Opening, value", Holds::Amount),
            ("inValue", "In, value", Holds::Amount),
            ("outValue", "Out, value", Holds::Amount),
            ("closingValue", "Closing, value", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[(
                RowType::Item,
                "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21",
                "BEANS-1 Espresso beans",
                &["100", "9000.00", "50", "4875.00", "30", "2775.00", "120", "11100.00"],
            )],
            totals: &["9000.00", "4875.00", "2775.00", "11100.00"],
            check: (
                "What was there, less what went out and with what came in, is what is there",
                Holds::Amount,
                "11100.00",
            ),
        },
    };
    type Facts = Summed;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Summed> {
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let before = moved(cx, (None, from.previous()), asked, false).await?;
        let all = moved(cx, (Some(from), to), asked, false).await?;
        let came = moved(cx, (Some(from), to), asked, true).await?;
        let ids: HashSet<RecordId> = before.keys().chain(all.keys()).copied().collect();
        let inventory = if asked.item.is_none() { Some(inventory(cx, to, asked.point).await?) } else { None };
        Ok(Summed {
            own: Own(cx.business()?.currency_decimals),
            names: item_names(cx, ids.into_iter()).await?,
            before,
            came,
            all,
            inventory,
        })
    }

    fn fold(facts: Summed, asked: &Asked) -> Result<Sheet> {
        let Summed { own, before, came, all, names, inventory } = facts;
        let mut sums = [Stock::default(); 4];
        let mut rows = Vec::new();
        for id in by_name(&names, before.keys().chain(all.keys()).copied().collect()) {
            let of = |figures: &HashMap<RecordId, Stock>| figures.sum_of(&id);
            let (opening, moved, came) = (of(&before), of(&all), of(&came));
            let figures = [opening, came, came.minus(moved), opening.plus(moved)];
            for (sum, figure) in sums.iter_mut().zip(figures) {
                *sum = sum.plus(figure);
            }
            if asked.include_zero || figures.iter().any(|figure| *figure != Stock::default()) {
                rows.push(item_row(id, &names, figures.into_iter().flat_map(|figure| figure.cells(own)).collect()));
            }
        }
        let total = sums.into_iter().flat_map(|sum| [Cell::Nothing, own.cell(sum.value)]);
        rows.push(Row::total(RowType::Total, "total", "Total", total.collect()));
        let mut checks = vec![own.check(
            "What was there, less what went out and with what came in, is what is there",
            sums[0].value + sums[1].value - sums[2].value,
            sums[3].value,
        )];
        checks
            .extend(inventory.map(|balance| {
                own.check("The stock is worth what the inventory accounts say", sums[3].value, balance)
            }));
        let totals = Self::FORM.totals.iter().zip(sums);
        let totals = totals.map(|((key, ..), sum)| ((*key).to_owned(), own.cell(sum.value)));
        Ok(Sheet { columns: Self::FORM.columns(), rows, totals: totals.collect(), checks, ..Sheet::default() })
    }
}

// ── Ledger of an item ──

pub(super) struct StockLedger;

pub(super) struct Ledger {
    own: Own,
    opening: Stock,
    moves: Vec<stock_moves::Model>,
    named: HashMap<RecordId, (DocumentKind, Option<String>)>,
    /// What is there at the end, computed apart.
    closing: Stock,
}

impl Report for StockLedger {
    const NAME: &'static str = "stock-ledger";
    const OPERATION: &'static str = "StockLedger";
    const TITLE: &'static str = "Ledger of an item";
    const ABOUT: &'static str = "Every movement of an item over some days, and what was there after it.";
    const PARAMETERS: &'static [Parameter] = &[THE_ITEM, FROM, TO, FROM_DATE, TO_DATE, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("date", "Date", Holds::Day),
            ("quantity", "Quantity", Holds::Quantity),
            ("value", "Value", Holds::Amount),
            ("runningQuantity", "There, quantity", Holds::Quantity),
            ("runningValue", "There, value", Holds::Amount),
        ],
        varying: None,
        totals: &[("closingValue", "There then, value", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Subtotal, "opening", "There before", &["2026-01-01", "", "", "100", "9000.00"]),
                (
                    RowType::Line,
                    "019a9f6e-6c00-7b26-8f15-a1c2e3546f26",
                    "BILL-2026-0007",
                    &["2026-11-20", "20", "2100.00", "120", "11100.00"],
                ),
            ],
            totals: &["11100.00"],
            check: ("The last line is the valuation", Holds::Amount, "11100.00"),
        },
    };
    type Facts = Ledger;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Ledger> {
        let item = asked.item.ok_or_else(|| Error::field("itemId", "is required"))?;
        let business = cx.business_id()?;
        if items::Entity::find_by_id((business, item)).one(&cx.db).await?.is_none() {
            return Err(Error::field("itemId", "names no item"));
        }
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let mut moves = stock_moves::Entity::find()
            .filter(stock_moves::Column::BusinessId.eq(business))
            .filter(stock_moves::Column::ItemId.eq(item))
            .filter(stock_moves::Column::Date.between(from, to));
        if let Some(at) = asked.point.known_at {
            moves = moves.filter(stock_moves::Column::RecordedAt.lte(at));
        }
        let moves = moves
            .order_by_asc(stock_moves::Column::Date)
            .order_by_asc(stock_moves::Column::RecordedAt)
            .order_by_asc(stock_moves::Column::Id)
            .all(&cx.db)
            .await?;
        let at = |found: &HashMap<RecordId, Stock>| found.sum_of(&item);
        Ok(Ledger {
            own: Own(cx.business()?.currency_decimals),
            opening: at(&moved(cx, (None, from.previous()), asked, false).await?),
            named: documents_of(cx, moves.iter().map(|one| one.document_id)).await?,
            moves,
            closing: at(&moved(cx, (None, to), asked, false).await?),
        })
    }

    fn fold(facts: Ledger, asked: &Asked) -> Result<Sheet> {
        let Ledger { own, opening, moves, named, closing } = facts;
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let edge = |key: &str, label: &str, day: Day, stock: Stock| {
            let values = [vec![Cell::Day(day), Cell::Nothing, Cell::Nothing], stock.cells(own).to_vec()].concat();
            Row::total(RowType::Subtotal, key, label, values)
        };
        let mut rows = vec![edge("opening", "There before", from, opening)];
        let mut stock = opening;
        for one in &moves {
            let by = Stock { quantity: one.quantity.units(), value: one.value.units() };
            stock = stock.plus(by);
            let (kind, number) = named.get(&one.document_id).cloned().unzip();
            let values = [vec![Cell::Day(one.date)], by.cells(own).to_vec(), stock.cells(own).to_vec()].concat();
            rows.push(Row {
                item_id: Some(one.item_id),
                document_id: Some(one.document_id),
                document_type: kind,
                ..Row::total(
                    RowType::Line,
                    &one.id.to_string(),
                    number.flatten().as_deref().unwrap_or("without a number"),
                    values,
                )
            });
        }
        rows.push(edge("closing", "There then", to, stock));
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: BTreeMap::from([("closingValue".to_owned(), own.cell(stock.value))]),
            checks: vec![
                Check {
                    name: "The last line is the quantity that is there".into(),
                    left: Cell::Quantity(Quantity::from_units(stock.quantity)),
                    right: Cell::Quantity(Quantity::from_units(closing.quantity)),
                    ok: stock.quantity == closing.quantity,
                },
                own.check("The last line is the valuation", stock.value, closing.value),
            ],
            ..Sheet::default()
        })
    }
}

// ── What waits for an invoice ──

/// Goods that wait on one side.
pub(super) trait Waits: Send + Sync + 'static {
    const KIND: DocumentKind;
    /// What else has lines of goods for which something may wait: freight that is billed before its goods are there.
    const GOODS_OF: Option<DocumentKind>;
    const SIGN: i64;
    const NAME: &'static str;
    const OPERATION: &'static str;
    const TITLE: &'static str;
}

pub(super) struct Delivered;
pub(super) struct Received;

impl Waits for Delivered {
    const KIND: DocumentKind = DocumentKind::DeliveryNote;
    const GOODS_OF: Option<DocumentKind> = None;
    const SIGN: i64 = 1;
    const NAME: &'static str = "gdni";
    const OPERATION: &'static str = "GoodsDeliveredNotInvoiced";
    const TITLE: &'static str = "Goods delivered, not invoiced";
}

impl Waits for Received {
    const KIND: DocumentKind = DocumentKind::ReceiptNote;
    const GOODS_OF: Option<DocumentKind> = Some(DocumentKind::PurchaseInvoice);
    const SIGN: i64 = -1;
    const NAME: &'static str = "grni";
    const OPERATION: &'static str = "GoodsReceivedNotInvoiced";
    const TITLE: &'static str = "Goods received, not invoiced";
}

pub(super) struct Waiting<S>(PhantomData<fn() -> S>);

#[derive(FromQueryResult)]
struct Carried {
    line_id: RecordId,
    quantity: i64,
    invoiced: i64,
    returned: i64,
    value: i64,
}

#[derive(FromQueryResult)]
struct Begun {
    line: RecordId,
    document: RecordId,
    party: Option<Named>,
}

/// What waited of lines by which documents of a kind received goods themselves.
fn of_lines_of_goods(business: BusinessId, kind: DocumentKind) -> Select<progress_moves::Entity> {
    use schema::tables::documents;
    let receipt = progress_moves::Entity::belongs_to(stock_facts::Entity)
        .from((progress_moves::Column::BusinessId, progress_moves::Column::LineId))
        .to((stock_facts::Column::BusinessId, stock_facts::Column::LineId));
    let document = stock_facts::Entity::belongs_to(documents::Entity)
        .from((stock_facts::Column::BusinessId, stock_facts::Column::DocumentId))
        .to((documents::Column::BusinessId, documents::Column::Id));
    progress_moves::Entity::find()
        .select_only()
        .join(sea_orm::JoinType::InnerJoin, receipt.into())
        .join(sea_orm::JoinType::InnerJoin, document.into())
        .filter(progress_moves::Column::BusinessId.eq(business))
        .filter(progress_moves::Column::AccountId.is_not_null())
        .filter(stock_facts::Column::Kind.eq(FactKind::Receipt))
        .filter(documents::Column::Kind.eq(kind))
}

pub(super) struct Waited {
    own: Own,
    lines: Vec<(RecordId, Option<RecordId>, Stock)>,
    documents: HashMap<RecordId, (DocumentKind, Option<String>)>,
    parties: HashMap<RecordId, String>,
    /// What the accounts come to on which they wait; unknown of one party.
    accounts: Option<i64>,
}

impl<S: Waits> Report for Waiting<S> {
    const NAME: &'static str = S::NAME;
    const OPERATION: &'static str = S::OPERATION;
    const TITLE: &'static str = S::TITLE;
    const ABOUT: &'static str = "The notes of which something is not invoiced at the end of a day, with what that is \
                                 carried at. Less than nothing waits where goods came back that were invoiced, and \
                                 where freight was billed before its goods were: it stands with their bill until then.";
    const PARAMETERS: &'static [Parameter] = &[AS_OF, DATE, PARTY, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("party", "Party", Holds::Text),
            ("quantity", "Quantity", Holds::Quantity),
            ("value", "Value", Holds::Amount),
        ],
        varying: None,
        totals: &[("value", "Value", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[
                (
                    RowType::Document,
                    "019a9f6e-6c00-7b27-9016-b2d3f4657027",
                    "DN-2026-0011",
                    &["Nordwind Cafés", "20", "1850.00"],
                ),
                (RowType::Total, "total", "Total", &["", "", "1850.00"]),
            ],
            totals: &["1850.00"],
            check: ("What waits equals the accounts on which it waits", Holds::Amount, "1850.00"),
        },
    };
    type Facts = Waited;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Waited> {
        use progress_moves::Column as Moves;
        let business = cx.business_id()?;
        let total = |column: Moves| sum(cx, Expr::col(column));
        let mut moves = progress_moves::Entity::find()
            .select_only()
            .column(Moves::LineId)
            .column_as(total(Moves::Quantity), "quantity")
            .column_as(total(Moves::Invoiced), "invoiced")
            .column_as(total(Moves::Returned), "returned")
            .column_as(total(Moves::Value), "value")
            .filter(Moves::BusinessId.eq(business))
            .filter(Moves::AccountId.is_not_null())
            .filter(Moves::Date.lte(asked.as_of));
        // The first move of a line is its own note's, and says whose it is. An invoice may have come on an earlier day.
        let mut begun = progress_moves::Entity::find()
            .select_only()
            .column_as(Moves::LineId, "line")
            .column_as(Moves::DocumentId, "document")
            .column_as(schema::tables::documents::Column::PartyId, "party")
            .join(
                sea_orm::JoinType::InnerJoin,
                progress_moves::Entity::belongs_to(schema::tables::documents::Entity)
                    .from((Moves::BusinessId, Moves::DocumentId))
                    .to((schema::tables::documents::Column::BusinessId, schema::tables::documents::Column::Id))
                    .into(),
            )
            .filter(Moves::BusinessId.eq(business))
            .filter(Moves::AccountId.is_not_null())
            .filter(Moves::Kind.eq(S::KIND))
            .filter(Moves::Quantity.gt(0));
        let of_goods = S::GOODS_OF.filter(|_| !sown(Fault::FreightWaitsWithNobody));
        let mut of_goods = of_goods.map(|kind| of_lines_of_goods(business, kind));
        if let Some(at) = asked.point.known_at {
            moves = moves.filter(Moves::RecordedAt.lte(at));
            begun = begun.filter(Moves::RecordedAt.lte(at));
            of_goods = of_goods.map(|of_goods| of_goods.filter(Moves::RecordedAt.lte(at)));
        }
        let moves: Vec<Carried> = moves.group_by(Moves::LineId).into_model().all(&cx.db).await?;
        let mut begun: Vec<Begun> = begun.into_model().all(&cx.db).await?;
        let mut accounts: HashSet<RecordId> = HashSet::new();
        if let Some(of_goods) = of_goods {
            let lines = of_goods
                .clone()
                .column_as(Moves::LineId, "line")
                .column_as(stock_facts::Column::DocumentId, "document")
                .column_as(schema::tables::documents::Column::PartyId, "party");
            begun.extend(lines.distinct().into_model::<Begun>().all(&cx.db).await?);
            accounts.extend(of_goods.column(Moves::AccountId).distinct().into_tuple::<RecordId>().all(&cx.db).await?);
        }
        let aliases = asked.aliases(cx)?;
        let party = |one: &Begun| one.party.map(|party| aliases.of(party));
        let begun: HashMap<RecordId, (RecordId, Option<RecordId>)> =
            begun.iter().map(|one| (one.line, (one.document, party(one)))).collect();
        let mut lines: BTreeMap<RecordId, (Option<RecordId>, Stock)> = BTreeMap::new();
        for one in moves {
            let Some((document, party)) = begun.get(&one.line_id) else { continue };
            if asked.party.is_some() && asked.party != *party {
                continue;
            }
            let stock = Stock { quantity: one.quantity - one.invoiced - one.returned, value: one.value * S::SIGN };
            let of_note = lines.entry(*document).or_insert((*party, Stock::default()));
            of_note.1 = of_note.1.plus(stock);
        }
        let lines: Vec<_> = lines
            .into_iter()
            .map(|(document, (party, stock))| (document, party, stock))
            .filter(|(_, _, stock)| *stock != Stock::default())
            .collect();
        let of_notes: Vec<RecordId> = progress_moves::Entity::find()
            .select_only()
            .column(Moves::AccountId)
            .distinct()
            .filter(Moves::BusinessId.eq(business))
            .filter(Moves::Kind.eq(S::KIND))
            .filter(Moves::Quantity.gt(0))
            .filter(Moves::AccountId.is_not_null())
            .into_tuple()
            .all(&cx.db)
            .await?;
        accounts.extend(of_notes);
        let accounts: Vec<RecordId> = accounts.into_iter().collect();
        let point = Point { as_of: Some(asked.as_of), ..asked.point };
        let found = balances(cx, Some(&accounts), point).await?;
        let balance = found.values().map(|balance| balance.base * S::SIGN).sum();
        Ok(Waited {
            own: Own(cx.business()?.currency_decimals),
            documents: documents_of(cx, lines.iter().map(|(document, _, _)| *document)).await?,
            parties: names_of(cx, lines.iter().filter_map(|(_, party, _)| *party)).await?,
            lines,
            accounts: asked.party.is_none().then_some(balance),
        })
    }

    fn fold(facts: Waited, _: &Asked) -> Result<Sheet> {
        let Waited { own, lines, documents, parties, accounts } = facts;
        let mut total = 0;
        let mut rows = Vec::new();
        for (document, party, stock) in lines {
            total += stock.value;
            let (kind, number) = documents.get(&document).cloned().unzip();
            let name = party.and_then(|party| parties.get(&party)).map_or_else(String::new, Clone::clone);
            let values = [vec![Cell::Text(name)], stock.cells(own).to_vec()].concat();
            rows.push(Row {
                party_id: party,
                document_id: Some(document),
                document_type: kind,
                ..Row::total(
                    RowType::Document,
                    &document.to_string(),
                    number.flatten().as_deref().unwrap_or("without a number"),
                    values,
                )
            });
        }
        rows.push(Row::total(RowType::Total, "total", "Total", vec![Cell::Nothing, Cell::Nothing, own.cell(total)]));
        let checks =
            accounts.map(|balance| own.check("What waits equals the accounts on which it waits", total, balance));
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: BTreeMap::from([("value".to_owned(), own.cell(total))]),
            checks: checks.into_iter().collect(),
            ..Sheet::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{asked, failed, id, named, written};
    use super::*;
    use crate::clock::Instant;

    fn pieces(quantity: i64, cents: i64) -> Stock {
        Stock { quantity: quantity * 10_i64.pow(Quantity::PLACES), value: cents * 100 }
    }

    fn of(figures: &[(u128, Stock)]) -> HashMap<RecordId, Stock> {
        figures.iter().map(|(item, stock)| (id(*item), *stock)).collect()
    }

    #[test]
    fn stock_is_worth_what_the_accounts_say() {
        let valued = |inventory: Option<i64>| Valued {
            own: Own(2),
            stock: of(&[(1, pieces(3, 1_000)), (2, pieces(-1, -200)), (3, Stock::default())]),
            names: named(&[(1, "Cups"), (2, "Beans"), (3, "Apples")]),
            inventory: inventory.map(|cents| cents * 100),
        };
        let mut asked = asked("2026-01-01", "2026-01-31");
        let sheet = StockValuation::fold(valued(Some(800)), &asked).unwrap();
        assert_eq!(written(&sheet), ["Beans -1 -2.00 null", "Cups 3 10.00 3.333333", "total null 8.00 null"]);
        assert_eq!(failed(&sheet), Vec::<String>::new());
        assert_eq!(failed(&StockValuation::fold(valued(Some(799)), &asked).unwrap()).len(), 1);
        asked.include_zero = true;
        let sheet = StockValuation::fold(valued(None), &asked).unwrap();
        assert_eq!((&*written(&sheet)[0], sheet.checks.len()), ("Apples 0 0.00 null", 0));
    }

    #[test]
    fn what_came_and_went_is_told_apart() {
        let facts = Summed {
            own: Own(2),
            before: of(&[(1, pieces(5, 500))]),
            came: of(&[(1, pieces(10, 1_200)), (2, pieces(1, 90))]),
            all: of(&[(1, pieces(7, 866)), (2, pieces(1, 90))]),
            names: named(&[(1, "Cups"), (2, "Lids")]),
            inventory: Some(145_600),
        };
        let sheet = StockSummary::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(
            written(&sheet),
            [
                "Cups 5 5.00 10 12.00 3 3.34 12 13.66",
                "Lids 0 0.00 1 0.90 0 0.00 1 0.90",
                "total null 5.00 null 12.90 null 3.34 null 14.56",
            ]
        );
        assert_eq!(failed(&sheet), Vec::<String>::new());
    }

    #[test]
    fn what_waits_is_told_by_note() {
        let facts = Waited {
            own: Own(2),
            lines: vec![(id(7), Some(id(1)), pieces(2, 600)), (id(8), None, pieces(-1, -250))],
            documents: HashMap::from([(id(7), (DocumentKind::DeliveryNote, Some("DN-7".into())))]),
            parties: named(&[(1, "Ada")]),
            accounts: Some(35_000),
        };
        let sheet = Waiting::<Delivered>::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(written(&sheet), ["DN-7 \"Ada\" 2 6.00", "without a number \"\" -1 -2.50", "total null null 3.50"]);
        assert_eq!(failed(&sheet), Vec::<String>::new());
    }

    #[test]
    fn the_ledger_of_an_item_runs_to_what_is_there() {
        let one = |number: u128, by: Stock| stock_moves::Model {
            business_id: BusinessId::default(),
            id: id(number),
            item_id: id(1),
            date: "2026-01-08".parse().unwrap(),
            recorded_at: Instant::default(),
            document_id: id(90 + number),
            kind: DocumentKind::SalesInvoice,
            quantity: Quantity::from_units(by.quantity),
            value: Money::from_units(by.value),
            account_id: id(1300),
        };
        let told = |closing: Stock| Ledger {
            own: Own(2),
            opening: pieces(5, 500),
            moves: vec![one(1, pieces(-2, -200)), one(2, pieces(0, 33))],
            named: HashMap::from([(id(91), (DocumentKind::SalesInvoice, Some("INV-1".into())))]),
            closing,
        };
        let asked = asked("2026-01-01", "2026-01-31");
        let sheet = StockLedger::fold(told(pieces(3, 333)), &asked).unwrap();
        assert_eq!(
            written(&sheet),
            [
                r#"opening "2026-01-01" null null 5 5.00"#,
                r#"INV-1 "2026-01-08" -2 -2.00 3 3.00"#,
                r#"without a number "2026-01-08" 0 0.33 3 3.33"#,
                r#"closing "2026-01-31" null null 3 3.33"#,
            ]
        );
        let failing = |closing| failed(&StockLedger::fold(told(closing), &asked).unwrap()).len();
        assert_eq!([failing(pieces(3, 333)), failing(pieces(3, 334)), failing(pieces(4, 333))], [0, 1, 1]);
    }
}

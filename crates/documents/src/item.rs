//! Items: what is bought and sold.
//!
//! Owns: prices, taxes and accounts that lines take over. What lies in stock follows from the documents that moved it.

use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Quantity, UnitPrice};
use crate::stored::AsJson;
use answers::Ask;
use books::access::Business;
use books::cx::Cx;
use books::progress::{self, Promised};
use kit::list::Reads;
use kit::master::{Columns, Master, RecordKeeping, keeping, kept};
use kit::reference::References;
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use rules::purpose::Purpose;
use rules::tax::TaxDirection;
use rust_decimal::Decimal;
use schema::address::{self, search_text, text};
use schema::key::ResourceKey;
use schema::payment_term::MasterStatus;
use schema::tables::{document_lines, stock};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use words::sums::Sums as _;

mod costs;
pub(crate) mod low;

pub use costs::{StandardCost, StandardCostInput};

pub struct Items;

/// What a client sends to create or replace an item.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ItemInput {
    /// Name of the item.
    name: Field<Label<200>>,
    /// What kind of thing it is. It cannot be changed once stock was moved.
    r#type: Field<ItemType>,
    /// Your own code (SKU); unique in the company.
    code: Maybe<Text<50>>,
    /// Bar code, such as an EAN.
    barcode: Maybe<Text<50>>,
    /// What sales lines say.
    description: Maybe<Text<4000>>,
    /// What purchase lines say.
    purchase_description: Maybe<Text<4000>>,
    /// Unit of the quantity, such as `pcs` or `h`.
    unit: Maybe<Text<20>>,
    /// A group of your own.
    category: Maybe<Text<100>>,
    /// What one unit is sold for.
    sale_price: Maybe<UnitPrice>,
    /// What one unit is bought for.
    purchase_price: Maybe<UnitPrice>,
    /// Whether these prices include tax; as the document says when absent.
    price_includes_tax: Maybe<bool>,
    /// Tax code on sales.
    sales_tax_code_id: Maybe<RecordId>,
    /// Tax code on purchases.
    purchase_tax_code_id: Maybe<RecordId>,
    /// Account of what it is sold for; the company's when absent.
    income_account_id: Maybe<RecordId>,
    /// Account of what it is bought for, unless it is kept in stock; the company's when absent.
    expense_account_id: Maybe<RecordId>,
    /// Account of its stock; the company's when absent.
    inventory_account_id: Maybe<RecordId>,
    /// Account of what was sold of it; the company's when absent.
    cogs_account_id: Maybe<RecordId>,
    /// How what goes out is valued; as the company does when absent. It cannot be changed once stock was moved.
    cost_method: Maybe<CostMethod>,
    /// Cost of one unit, for `standard`: the one of today. Another one than before holds from today on, once stock of
    /// the item was moved.
    standard_cost: Maybe<UnitPrice>,
    /// Its standard costs, each from a day on; as they are when absent. A new one is posted by a stock adjustment on its
    /// day, so that what is there is worth it from then on; one that is left out is taken back.
    standard_costs: Each<StandardCostInput>,
    /// Whether more may go out than is there; `inherit` when absent.
    negative_stock: Maybe<NegativeStock>,
    /// The quantity at which to order again.
    reorder_level: Maybe<Quantity>,
    /// Whether new documents may name it; `active` when absent.
    status: Maybe<MasterStatus>,
    /// The item's identifier in another system; unique.
    external_id: Maybe<Text<200>>,
    /// Labels of your own, at most 50.
    #[schemars(extend("maxItems" = 50))]
    tags: Each<Label<50>>,
}

/// What is bought and sold.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Item")]
pub struct ItemView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// Name of the item.
    name: String,
    /// What kind of thing it is.
    r#type: ItemType,
    /// Your own code (SKU).
    code: Option<String>,
    /// Bar code.
    barcode: Option<String>,
    /// What sales lines say.
    description: Option<String>,
    /// What purchase lines say.
    purchase_description: Option<String>,
    /// Unit of the quantity.
    unit: Option<String>,
    /// A group of your own.
    category: Option<String>,
    /// What one unit is sold for.
    sale_price: Option<UnitPrice>,
    /// What one unit is bought for.
    purchase_price: Option<UnitPrice>,
    /// Whether these prices include tax; as the document says when null.
    price_includes_tax: Option<bool>,
    /// Tax code on sales.
    sales_tax_code_id: Option<RecordId>,
    /// Tax code on purchases.
    purchase_tax_code_id: Option<RecordId>,
    /// Account of what it is sold for; the company's when null.
    income_account_id: Option<RecordId>,
    /// Account of what it is bought for, unless it is kept in stock; the company's when null.
    expense_account_id: Option<RecordId>,
    /// Account of its stock; the company's when null.
    inventory_account_id: Option<RecordId>,
    /// Account of what was sold of it; the company's when null.
    cogs_account_id: Option<RecordId>,
    /// How what goes out is valued.
    cost_method: CostMethod,
    /// Cost of one unit, for `standard`: the one of today.
    standard_cost: Option<UnitPrice>,
    /// Its standard costs, each from a day on.
    standard_costs: Vec<StandardCost>,
    /// Whether more may go out than is there.
    negative_stock: NegativeStock,
    /// The quantity at which to order again.
    reorder_level: Option<Quantity>,
    /// Whether new documents may name it.
    status: MasterStatus,
    /// The item's identifier in another system.
    external_id: Option<String>,
    /// Labels of your own.
    tags: Vec<String>,
    /// What is there now; null where it is not kept.
    quantity_on_hand: Option<Quantity>,
    /// What open sales orders promise and is not delivered yet; null where that is more than a quantity can say.
    quantity_committed: Option<Quantity>,
    /// What open purchase orders ask for and has not come yet; null where that is more than a quantity can say.
    quantity_on_order: Option<Quantity>,
    /// What is there and promised to nobody; less than nothing where more is promised, and null where that is
    /// more than a quantity can say.
    quantity_available: Option<Quantity>,
    /// What one unit of it cost on average, rounded to six places.
    average_cost: Option<UnitPrice>,
    /// What the stock is worth, in the company's currency.
    stock_value: Option<Amount>,
}

impl AsRef<RecordKeeping> for ItemView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::item as table;
pub use schema::item::{CostMethod, ItemType, NegativeStock};
use table::Column;

impl Resource for Items {
    const KEY: ResourceKey = ResourceKey::Items;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "an item",
        many: "items",
        description: "What is bought and sold: goods that are kept in stock, goods that are not, and services. Lines \
                      that name an item take over its price, tax and accounts.",
        sorts: &["name", "code", "createdAt", "updatedAt"],
        searched: "name, code, bar code and description",
    };
    type Input = ItemInput;
    type Draft = Columns<Column>;
    type View = ItemView;
    const BY_IDS: Option<kit::expand::ByIds> = Some(|cx, ids| Box::pin(kit::rows::by_ids::<Self>(cx, ids)));

    fn example() -> serde_json::Value {
        json!({
            "name": "Espresso beans, 1 kg",
            "type": "stock",
            "code": "BEANS-1",
            "barcode": "4006381333931",
            "description": "Espresso beans, dark roast",
            "purchaseDescription": null,
            "unit": "kg",
            "category": "Coffee",
            "salePrice": 18.5,
            "purchasePrice": 9.25,
            "priceIncludesTax": false,
            "salesTaxCodeId": null,
            "purchaseTaxCodeId": null,
            "incomeAccountId": null,
            "expenseAccountId": null,
            "inventoryAccountId": null,
            "cogsAccountId": null,
            "costMethod": "movingAverage",
            "standardCost": null,
            "standardCosts": [],
            "negativeStock": "inherit",
            "reorderLevel": 20,
            "status": "active",
            "externalId": null,
            "tags": ["coffee"]
        })
    }

    fn example_view() -> serde_json::Value {
        json!({ "quantityOnHand": 0, "quantityCommitted": 0, "quantityOnOrder": 0, "quantityAvailable": 0, "averageCost": null, "stockValue": 0 })
    }

    fn check(business: Option<&Business>, input: ItemInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let mut row = Columns::new();
        let name = faults.required("name", input.name).into_inner();
        let code = text(&mut faults, "code", input.code);
        let barcode = text(&mut faults, "barcode", input.barcode);
        let description = text(&mut faults, "description", input.description);
        row.set(Column::Search, search_text(&[Some(&name), code.as_ref(), barcode.as_ref(), description.as_ref()]));
        row.set(Column::NameKey, crate::texts::search_key(&name));
        row.set(Column::Name, name);
        row.set(Column::Code, code);
        row.set(Column::Type, faults.required("type", input.r#type));
        row.set(Column::Barcode, barcode);
        row.set(Column::Description, description);
        row.set(Column::PurchaseDescription, text(&mut faults, "purchaseDescription", input.purchase_description));
        row.set(Column::Unit, text(&mut faults, "unit", input.unit));
        row.set(Column::Category, text(&mut faults, "category", input.category));
        row.set(Column::SalePrice, not_negative(&mut faults, "salePrice", input.sale_price));
        row.set(Column::PurchasePrice, not_negative(&mut faults, "purchasePrice", input.purchase_price));
        row.set(Column::PriceIncludesTax, faults.optional("priceIncludesTax", input.price_includes_tax));
        row.set(Column::SalesTaxCodeId, faults.optional("salesTaxCodeId", input.sales_tax_code_id));
        row.set(Column::PurchaseTaxCodeId, faults.optional("purchaseTaxCodeId", input.purchase_tax_code_id));
        row.set(Column::IncomeAccountId, faults.optional("incomeAccountId", input.income_account_id));
        row.set(Column::ExpenseAccountId, faults.optional("expenseAccountId", input.expense_account_id));
        row.set(Column::InventoryAccountId, faults.optional("inventoryAccountId", input.inventory_account_id));
        row.set(Column::CogsAccountId, faults.optional("cogsAccountId", input.cogs_account_id));
        let by_default = business.map_or(CostMethod::MovingAverage, |business| business.settings.cost_method_default);
        let method = faults.optional("costMethod", input.cost_method).unwrap_or(by_default);
        let standard = not_negative(&mut faults, "standardCost", input.standard_cost);
        let costs = costs::check(&mut faults, input.standard_costs, method);
        if method == CostMethod::Standard && standard.is_none() && costs.as_ref().is_none_or(Vec::is_empty) {
            faults.add("standardCost", "is required when the cost method is standard");
        }
        row.set(Column::CostMethod, method);
        row.set(Column::StandardCost, standard);
        if let Some(costs) = costs {
            row.set_beside(costs::BESIDE, &costs);
        }
        row.set(Column::NegativeStock, faults.optional("negativeStock", input.negative_stock).unwrap_or_default());
        let reorder = faults.optional("reorderLevel", input.reorder_level);
        if reorder.is_some_and(Quantity::is_negative) {
            faults.add("reorderLevel", "must not be negative");
        }
        row.set(Column::ReorderLevel, reorder);
        row.set(Column::Status, faults.optional("status", input.status).unwrap_or_default());
        row.set(Column::ExternalId, text(&mut faults, "externalId", input.external_id));
        row.set(Column::Tags, AsJson(address::tags(&mut faults, input.tags)));
        faults.finish(row)
    }

    kit::master::master_operations!(costs::create, costs::update);
}

fn not_negative(faults: &mut Faults, name: &str, field: Maybe<UnitPrice>) -> Option<UnitPrice> {
    let price = faults.optional(name, field);
    if price.is_some_and(UnitPrice::is_negative) {
        faults.add(name, "must not be negative");
    }
    price
}

impl Rows for Items {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::NameKey, Column::Code, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        vec![
            Filter::equal("type", "Items of these types.", Reads::AnyOf(ItemType::TEXTS), Column::Type),
            Filter::equal("status", "Items of these statuses.", Reads::AnyOf(MasterStatus::TEXTS), Column::Status),
            Filter::equal("code", "The item with this code.", Reads::Text, Column::Code),
            Filter::equal("barcode", "The item with this bar code.", Reads::Text, Column::Barcode),
            Filter::equal("category", "Items of this category.", Reads::Text, Column::Category),
            Filter::equal("externalId", "The item with this identifier elsewhere.", Reads::Text, Column::ExternalId),
            Filter::containing("tag", "Items with this label.", Reads::Text, Column::Tags),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<ItemView>> {
        let kept: Vec<RecordId> = rows.iter().filter(|row| row.r#type == ItemType::Stock).map(|row| row.id).collect();
        let promised = progress::promised(cx, &kept).await?;
        let (mut costs, today) = (costs::of(cx, &rows).await?, cx.today()?);
        let found = if kept.is_empty() {
            Vec::new()
        } else {
            stock::Entity::find()
                .filter(stock::Column::BusinessId.eq(cx.business_id()?))
                .filter(stock::Column::ItemId.is_in(kept))
                .models(&cx.db)
                .await?
        };
        let found: HashMap<RecordId, (Quantity, BookMoney)> =
            found.into_iter().map(|row| (row.item_id, (row.quantity, row.value))).collect();
        let currency_decimals = cx.business()?.currency_decimals;
        let view = |row: table::Model| {
            let stock = (row.r#type == ItemType::Stock).then(|| {
                let (quantity, value) = found.sum_of(&row.id);
                Stock { quantity, value, promised: promised.sum_of(&row.id) }
            });
            let costs = costs.remove(&row.id);
            let mut view = view(row, stock, currency_decimals);
            if let Some(costs) = costs {
                (view.standard_cost, view.standard_costs) = (costs.on(today), costs.list());
            }
            Ok(view)
        };
        rows.into_iter().map(view).collect()
    }
}

fn average(quantity: Quantity, value: BookMoney) -> Option<UnitPrice> {
    let average = value.decimal().checked_div(quantity.decimal()).filter(|_| quantity > Quantity::ZERO)?;
    UnitPrice::parse(&average.round_dp(UnitPrice::PLACES).max(Decimal::ZERO).to_string()).ok()
}

/// What is there of an item, and what is promised.
#[derive(Clone, Copy)]
struct Stock {
    quantity: Quantity,
    value: BookMoney,
    promised: Promised,
}

fn view(row: table::Model, stock: Option<Stock>, currency_decimals: u32) -> ItemView {
    let available = stock.map(|stock| i128::from(stock.quantity.units()) - stock.promised.to_customers);
    ItemView {
        quantity_on_hand: stock.map(|stock| stock.quantity),
        quantity_committed: stock.and_then(|stock| Quantity::fitting(stock.promised.to_customers)),
        quantity_on_order: stock.and_then(|stock| Quantity::fitting(stock.promised.by_suppliers)),
        quantity_available: available.and_then(Quantity::fitting),
        average_cost: stock.and_then(|stock| average(stock.quantity, stock.value)),
        stock_value: stock.map(|stock| stock.value.shown(currency_decimals)),
        keeping: kept!(row),
        name: row.name,
        r#type: row.r#type,
        code: row.code,
        barcode: row.barcode,
        description: row.description,
        purchase_description: row.purchase_description,
        unit: row.unit,
        category: row.category,
        sale_price: row.sale_price,
        purchase_price: row.purchase_price,
        price_includes_tax: row.price_includes_tax,
        sales_tax_code_id: row.sales_tax_code_id,
        purchase_tax_code_id: row.purchase_tax_code_id,
        income_account_id: row.income_account_id,
        expense_account_id: row.expense_account_id,
        inventory_account_id: row.inventory_account_id,
        cogs_account_id: row.cogs_account_id,
        cost_method: row.cost_method,
        standard_cost: row.standard_cost,
        standard_costs: Vec::new(),
        negative_stock: row.negative_stock,
        reorder_level: row.reorder_level,
        status: row.status,
        external_id: row.external_id,
        tags: row.tags.0,
    }
}

impl Master for Items {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[("code", Column::Code), ("externalId", Column::ExternalId)];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn complete(cx: &Cx<'_>, row: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        let mut references = References::of(cx).await?;
        let held = row.map(|row| [row.sales_tax_code_id, row.purchase_tax_code_id]);
        references.held.extend(held.into_iter().flatten().flatten());
        for (field, column, purpose) in [
            ("incomeAccountId", Column::IncomeAccountId, Purpose::Income),
            ("expenseAccountId", Column::ExpenseAccountId, Purpose::Expense),
            ("inventoryAccountId", Column::InventoryAccountId, Purpose::ItemStock),
            ("cogsAccountId", Column::CogsAccountId, Purpose::Cost),
        ] {
            references.account(field, draft.record(column), purpose);
        }
        references.tax_code("salesTaxCodeId", draft.record(Column::SalesTaxCodeId), TaxDirection::Sales);
        references.tax_code("purchaseTaxCodeId", draft.record(Column::PurchaseTaxCodeId), TaxDirection::Purchase);
        references.finish()
    }

    async fn check_change(cx: &Cx<'_>, row: &table::Model, draft: &Columns<Column>) -> Result<()> {
        let said = |column| draft.get(column).cloned();
        let changed: Vec<&str> = [
            ("type", said(Column::Type) != Some(row.r#type.into())),
            ("costMethod", said(Column::CostMethod) != Some(row.cost_method.into())),
            ("inventoryAccountId", draft.record(Column::InventoryAccountId) != row.inventory_account_id),
        ]
        .into_iter()
        .filter_map(|(field, changed)| changed.then_some(field))
        .collect();
        let moved = has_moved(cx, row).await?;
        let restated = said(Column::StandardCost) != Some(row.standard_cost.into());
        if moved && row.cost_method == CostMethod::Standard && restated && changed.is_empty() {
            let why = "cannot have another cost from the beginning, since stock of the item was moved; say from which day \
                       on a new one holds";
            let errors = FieldErrors::one(costs::BESIDE, why.to_owned());
            return Err(Error::Conflict(Conflict {
                code: Code::InUse,
                title: "Stock of the item was moved".into(),
                errors,
            }));
        }
        if changed.is_empty() || !moved {
            return Ok(());
        }
        let mut errors = FieldErrors::default();
        for field in changed {
            errors.add(field, "cannot change, since stock of the item was moved");
        }
        Err(Error::Conflict(Conflict { code: Code::InUse, title: "Stock of the item was moved".into(), errors }))
    }

    async fn release(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        let named = document_lines::Entity::find()
            .filter(document_lines::Column::BusinessId.eq(row.business_id))
            .filter(document_lines::Column::ItemId.eq(row.id));
        if named.count(&cx.db).await? > 0
            || stock::Entity::find_by_id((row.business_id, row.id)).model(&cx.db).await?.is_some()
            || books::mentions::is_mentioned(cx, row.id).await?
        {
            return Err(Error::conflict(Code::InUse, "Documents name the item; set its status to archived instead"));
        }
        Ok(())
    }
}

/// Whether stock of an item was ever moved, or is worth something else from some day on.
async fn has_moved(cx: &Cx<'_>, row: &table::Model) -> Result<bool> {
    Ok(stock::Entity::find_by_id((row.business_id, row.id)).model(&cx.db).await?.is_some())
}

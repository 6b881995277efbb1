//! A line of a trade document: what is asked for, and what it comes to.

mod view;

use super::goods::check_cost;
use super::landed::{self, Landed, LandedCostInput};
use crate::field::{Faults, Field, Maybe, Stated, Text};
use crate::ids::RecordId;
use crate::money::{Money, Percent, Quantity, UnitPrice};
use crate::wire_enum;
use rules::tax::figures::Discount;
use schema::address::text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub(crate) use view::view;
pub use view::{DeliveryLineView, LineKept, OrderLineView, ReceiptLineView, Took, TradeLineView};

wire_enum! {
    /// What a line is.
    pub enum LineType {
        /// It trades an item.
        #[default]
        Item = "item",
        /// It trades something that is no item.
        Account = "account",
        /// It only says something.
        Text = "text",
    }
}

/// One line of a document that buys or sells.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct TradeLineInput {
    /// The line's identifier, to keep its identity in an update.
    id: Maybe<RecordId>,
    /// The item. A line without item, account and price only says something.
    item_id: Maybe<RecordId>,
    /// The account; the item's, the party's or the company's when absent. It wins over the item's.
    account_id: Maybe<RecordId>,
    /// What the line is about; the item's description when absent.
    description: Maybe<Text<4000>>,
    /// How many; 1 when absent. Less than 0 only where a line is billed that follows no other and moves no stock.
    quantity: Maybe<Quantity>,
    /// Unit of the quantity; the item's when absent.
    unit: Maybe<Text<20>>,
    /// What one unit costs, at most 6 decimal places; the item's price when absent. Less than 0 on a line that takes
    /// something off, such as a coupon or a deposit.
    unit_price: Maybe<UnitPrice>,
    /// What is taken off, 0 to 100 percent. Not beside `discountAmount`.
    discount_percent: Maybe<Percent>,
    /// What is taken off, as an amount. Not beside `discountPercent`.
    discount_amount: Maybe<Money>,
    /// The tax code; the item's, else the party's, when absent. `null` is no tax.
    #[serde(default)]
    tax_code_id: Stated<RecordId>,
    /// The tax that the other side's paper says, where it differs by a few coins from what it comes to; the computed
    /// one when absent. How far it may differ is the setting `taxOverrideTolerance`.
    tax_amount: Maybe<Money>,
    /// The line of an earlier document that this one delivers, bills, returns or credits; what this line leaves out is
    /// taken from there.
    source_line_id: Maybe<RecordId>,
    /// Only on bills: goods that this line is a part of the cost of, such as freight. It becomes a part of what they
    /// cost, of those too that were sold by then.
    landed_cost: Maybe<LandedCostInput>,
}

/// The tax code of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaxChoice {
    #[default]
    Unsaid,
    None,
    Code(RecordId),
}

impl TaxChoice {
    pub(crate) const fn code(self) -> Option<RecordId> {
        match self {
            Self::Code(id) => Some(id),
            Self::Unsaid | Self::None => None,
        }
    }
}

/// A line, checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TradeLineAsked {
    pub(crate) id: Option<RecordId>,
    pub(crate) item: Option<RecordId>,
    pub(crate) account: Option<RecordId>,
    pub(crate) description: Option<String>,
    pub(crate) quantity: Option<Quantity>,
    pub(crate) unit: Option<String>,
    pub(crate) price: Option<UnitPrice>,
    pub(crate) discount: Option<Discount>,
    pub(crate) tax: TaxChoice,
    /// The tax as it was stated, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stated_tax: Option<Money>,
    pub(crate) source_line: Option<RecordId>,
    /// What was sent and not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rejected: Option<Quantity>,
    /// The goods that it is a part of the cost of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) landed: Option<Landed>,
    /// The line of an invoice that billed the goods which it credits, where they came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) billed: Option<RecordId>,
    /// It says what it said before that was known, and stays one line.
    #[serde(skip)]
    pub(crate) stays: bool,
    /// Whether it says nothing of its own but a quantity: what it comes to, or what is taken off, is a share of the line
    /// that it follows.
    #[serde(default, skip_serializing_if = "<&bool as std::ops::Not>::not")]
    pub(crate) is_share: bool,
}

crate::document::identified!(TradeLineAsked);

impl TradeLineAsked {
    /// Whether it only says something.
    pub(crate) const fn is_text(&self) -> bool {
        self.item.is_none() && self.account.is_none() && self.price.is_none()
    }

    pub(crate) fn quantity(&self) -> Quantity {
        self.quantity.unwrap_or(Quantity::from_units(1_000_000))
    }

    /// Whether a body says of a line what it said before, or nothing.
    pub(crate) fn repeats(&self, before: &Self) -> bool {
        (self.source_line.is_none() || self.source_line == before.source_line)
            && (self.price.is_none() || self.price == before.price)
            && (self.discount.is_none() || self.discount == before.discount)
            && (self.tax == TaxChoice::Unsaid || self.tax.code() == before.tax.code())
    }

    fn line_type(&self) -> LineType {
        match (self.item, self.is_text()) {
            (Some(_), _) => LineType::Item,
            (None, true) => LineType::Text,
            (None, false) => LineType::Account,
        }
    }
}

pub(crate) fn check_discount(faults: &mut Faults, percent: Maybe<Percent>, amount: Maybe<Money>) -> Option<Discount> {
    let percent = faults.optional("discountPercent", percent);
    faults.within("discountPercent", percent, Percent::ZERO, Percent::HUNDRED);
    let amount = faults.optional("discountAmount", amount);
    if amount.is_some_and(Money::is_negative) {
        faults.add("discountAmount", "must not be negative");
    }
    match (percent, amount) {
        (Some(percent), Some(amount)) if percent != Percent::ZERO && amount != Money::ZERO => {
            faults.add("discountAmount", "cannot stand beside discountPercent");
            None
        }
        (_, Some(amount)) if amount != Money::ZERO => Some(Discount::Amount(amount)),
        (Some(percent), _) if percent != Percent::ZERO => Some(Discount::Percent(percent)),
        _ => None,
    }
}

/// What a line is asked as, and whether it trades something.
pub(crate) trait LineInput {
    fn trades(&self) -> bool;
    fn check(self, faults: &mut Faults) -> TradeLineAsked;
}

pub(crate) fn check_lines<I: LineInput>(faults: &mut Faults, field: Field<Vec<Field<I>>>) -> Vec<TradeLineAsked> {
    let field = match field {
        Field::Missing => {
            faults.add("lines", "is required: a document has at least one line");
            return Vec::new();
        }
        Field::Malformed(why) => Field::Malformed(why),
        Field::Given(lines) => {
            if lines.is_empty() || lines.len() > 1000 {
                faults.add("lines", if lines.is_empty() { "must be at least one" } else { "must be at most 1000" });
                return Vec::new();
            }
            Field::Given(Some(lines))
        }
    };
    let mut trades = false;
    let lines = faults.each("lines", field, |faults, input: I| {
        trades |= input.trades();
        input.check(faults)
    });
    if !lines.is_empty() && !trades {
        faults.add("lines", "must trade something: a line needs an itemId, an accountId or a unitPrice");
    }
    lines
}

fn positive(faults: &mut Faults, quantity: Maybe<Quantity>) -> Option<Quantity> {
    let quantity = faults.optional("quantity", quantity);
    if quantity.is_some_and(|quantity| quantity <= Quantity::ZERO) {
        faults.add("quantity", "must be greater than 0");
    }
    quantity
}

impl LineInput for TradeLineInput {
    fn trades(&self) -> bool {
        !matches!(self.unit_price, Field::Missing)
            || [&self.item_id, &self.account_id, &self.source_line_id].iter().any(|id| !matches!(id, Field::Missing))
    }

    fn check(self, faults: &mut Faults) -> TradeLineAsked {
        let price = faults.optional("unitPrice", self.unit_price);
        let quantity = faults.optional("quantity", self.quantity);
        if quantity == Some(Quantity::ZERO) {
            faults.add("quantity", "must not be 0");
        }
        TradeLineAsked {
            id: faults.optional("id", self.id),
            item: faults.optional("itemId", self.item_id),
            account: faults.optional("accountId", self.account_id),
            description: text(faults, "description", self.description),
            quantity,
            unit: text(faults, "unit", self.unit),
            price,
            discount: check_discount(faults, self.discount_percent, self.discount_amount),
            tax: match self.tax_code_id {
                Stated::Unsaid => TaxChoice::Unsaid,
                Stated::Nothing => TaxChoice::None,
                Stated::Given(id) => TaxChoice::Code(id),
                Stated::Malformed(why) => {
                    faults.add("taxCodeId", why);
                    TaxChoice::Unsaid
                }
            },
            stated_tax: faults.optional("taxAmount", self.tax_amount),
            source_line: faults.optional("sourceLineId", self.source_line_id),
            landed: landed::check(faults, self.landed_cost),
            ..TradeLineAsked::default()
        }
    }
}

/// One line of goods that were received.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ReceiptLineInput {
    /// The line's identifier, to keep its identity in an update.
    id: Maybe<RecordId>,
    /// The item; that of the line that it follows when absent. A line without both only says something.
    item_id: Maybe<RecordId>,
    /// What the line is about; the item's description when absent.
    description: Maybe<Text<4000>>,
    /// How many were taken, more than 0; what is left of the line that it follows, else 1, when absent.
    quantity: Maybe<Quantity>,
    /// Unit of the quantity; the item's when absent.
    unit: Maybe<Text<20>>,
    /// What one costs without tax, at most 6 decimal places; as ordered, else the item's purchase price, else what it
    /// cost last, when absent.
    unit_cost: Maybe<UnitPrice>,
    /// How many were sent and not taken; it is noted and moves nothing.
    rejected_quantity: Maybe<Quantity>,
    /// The line of the order that it delivers, or of the receipt note that it returns; what this line leaves out is
    /// taken from there.
    source_line_id: Maybe<RecordId>,
}

impl LineInput for ReceiptLineInput {
    fn trades(&self) -> bool {
        [&self.item_id, &self.source_line_id].iter().any(|id| !matches!(id, Field::Missing))
    }

    fn check(self, faults: &mut Faults) -> TradeLineAsked {
        let price = faults.optional("unitCost", self.unit_cost);
        check_cost(faults, "unitCost", price);
        let rejected = faults.optional("rejectedQuantity", self.rejected_quantity);
        if rejected.is_some_and(Quantity::is_negative) {
            faults.add("rejectedQuantity", "must not be negative");
        }
        TradeLineAsked {
            id: faults.optional("id", self.id),
            item: faults.optional("itemId", self.item_id),
            description: text(faults, "description", self.description),
            quantity: positive(faults, self.quantity),
            unit: text(faults, "unit", self.unit),
            price,
            tax: TaxChoice::None,
            source_line: faults.optional("sourceLineId", self.source_line_id),
            rejected: rejected.filter(|rejected| *rejected != Quantity::ZERO),
            ..TradeLineAsked::default()
        }
    }
}

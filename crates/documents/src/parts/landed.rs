//! What is paid to have goods here, beside their price, and what a supplier lets off it later: both change what was
//! received costs.

use super::derivation::Sources;
use super::line::TradeLineAsked;
use super::{Direction, NoteKind, TradeAsked};
use crate::error::{FieldErrors, Result};
use crate::field::{Each, Faults, Maybe};
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity};
use crate::wire_enum;
use answers::Ask;
use books::cx::Cx;
use books::stock::{Item, live_receipts};
use rules::tax::exact::{Exact, spread};
use rules::tax::figures::TooLarge;
use schema::tables::document_lines;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, QueryFilter};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use words::exact::BookCoin;
use words::sown::{Fault, sown};

wire_enum! {
    /// By what landed cost is spread over goods.
    pub enum LandedBy {
        /// By what they cost.
        #[default]
        Value = "value",
        /// By how many they are.
        Quantity = "quantity",
    }
}

/// Goods that a line of a bill is a part of the cost of, such as freight or duty.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct LandedCostInput {
    /// The lines that received the goods: of receipt notes, of bills, of this bill too; at least one.
    target_line_ids: Each<RecordId>,
    /// By what it is spread over them; their value when absent.
    by: Maybe<LandedBy>,
}

/// Goods that a line of a bill is a part of the cost of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LandedCost")]
pub struct Landed {
    /// The lines that received the goods.
    pub(crate) target_line_ids: Vec<RecordId>,
    /// By what it is spread over them.
    pub(crate) by: LandedBy,
}

pub(crate) fn check(faults: &mut Faults, field: Maybe<LandedCostInput>) -> Option<Landed> {
    let input = faults.optional("landedCost", field)?;
    faults.inside("landedCost", input, |faults, input| {
        let target_line_ids = faults.each("targetLineIds", input.target_line_ids, |_, id| id);
        if target_line_ids.is_empty() {
            faults.add("targetLineIds", "must name at least one line that received goods");
        }
        let by = faults.optional("by", input.by).unwrap_or_default();
        Some(Landed { target_line_ids, by })
    })
}

/// A line that received goods.
#[derive(Debug, Clone)]
pub(crate) struct Receipt {
    pub(crate) line: RecordId,
    pub(crate) item: Item,
    pub(crate) quantity: Quantity,
    pub(crate) amount: BookMoney,
}

/// The lines that received goods whose cost a document changes, by what it calls them.
#[derive(Default)]
pub(crate) struct Received(HashMap<RecordId, Receipt>);

/// The line whose goods a supplier lets something off.
fn let_off(direction: Direction, asked: &TradeAsked, sources: &Sources, line: &TradeLineAsked) -> Option<RecordId> {
    let lets_off = direction == Direction::DebitNote && asked.note_kind == Some(NoteKind::PriceAdjustment);
    line.source_line.filter(|_| lets_off && sources.line(line).is_none() && line.item.is_some())
}

impl Received {
    pub(crate) async fn of(cx: &Cx<'_>, direction: Direction, asked: &TradeAsked, sources: &Sources) -> Result<Self> {
        let landed = asked.lines.iter().filter_map(|line| line.landed.as_ref());
        let named = landed.flat_map(|landed| landed.target_line_ids.iter().copied());
        let off = asked.lines.iter().filter_map(|line| let_off(direction, asked, sources, line));
        let named: HashSet<RecordId> = named.chain(off).collect();
        if named.is_empty() {
            return Ok(Self::default());
        }
        cx.flush().await?;
        // A bill of goods of a note names the line of the note that received them.
        let billed = document_lines::Entity::find()
            .filter(document_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(document_lines::Column::Id.is_in(named.iter().copied()))
            .filter(document_lines::Column::SourceLineId.is_not_null());
        let billed: HashMap<RecordId, RecordId> =
            billed.models(&cx.db).await?.into_iter().filter_map(|line| Some((line.id, line.source_line_id?))).collect();
        let lines: HashSet<RecordId> = named.iter().copied().chain(billed.values().copied()).collect();
        let receipts = live_receipts(cx, lines).await?;
        let items = cx.items(&receipts.iter().map(|fact| fact.item_id).collect()).await?;
        let mut found = HashMap::new();
        for id in named {
            let receipt = |line: RecordId| receipts.iter().find(|fact| fact.line_id == line);
            let Some(fact) = receipt(id).or_else(|| receipt(*billed.get(&id)?)) else { continue };
            let Some(item) = items.get(&fact.item_id) else { continue };
            let receipt =
                Receipt { line: fact.line_id, item: item.clone(), quantity: fact.quantity, amount: fact.amount };
            found.insert(id, receipt);
        }
        Ok(Self(found))
    }

    /// Whether a line changes what goods cost that were received earlier.
    pub(crate) fn changes(
        &self,
        direction: Direction,
        asked: &TradeAsked,
        sources: &Sources,
        line: &TradeLineAsked,
    ) -> bool {
        line.landed.is_some() || let_off(direction, asked, sources, line).is_some_and(|id| self.0.contains_key(&id))
    }

    /// Whether goods of a line were received, and lie in stock.
    pub(crate) fn has(&self, line: Option<RecordId>) -> bool {
        line.is_some_and(|line| self.0.contains_key(&line))
    }

    pub(crate) fn judge(&self, direction: Direction, asked: &TradeAsked, faults: &mut FieldErrors) {
        for (index, line) in asked.lines.iter().enumerate() {
            let Some(landed) = &line.landed else { continue };
            let at = format!("lines[{index}].landedCost");
            if direction != Direction::PurchaseInvoice || asked.is_opening {
                faults.add(at, "is only for bills");
                continue;
            }
            if line.source_line.is_some() {
                faults.add(at, "cannot stand on a line that follows another");
                continue;
            }
            let mut seen = HashSet::new();
            for (place, target) in landed.target_line_ids.iter().enumerate() {
                let at = format!("{at}.targetLineIds[{place}]");
                if !seen.insert(target) {
                    faults.add(at, "stands here already");
                } else if !self.0.contains_key(target) {
                    faults.add(at, "names no line that received goods of which stock is kept");
                }
            }
        }
    }

    /// The receipts whose cost a line changes, each with its share of what is paid; a rebate takes off.
    pub(crate) fn shares(
        &self,
        (direction, asked, sources): (Direction, &TradeAsked, &Sources),
        line: &TradeLineAsked,
        paid: BookMoney,
        coin: BookCoin,
    ) -> Result<Vec<(&Receipt, BookMoney)>, TooLarge> {
        if let Some(landed) = &line.landed {
            let receipts: Vec<&Receipt> = landed.target_line_ids.iter().filter_map(|id| self.0.get(id)).collect();
            let weight = |receipt: &&Receipt| match landed.by {
                LandedBy::Value if !sown(Fault::LandedByNumber) => Exact::from(receipt.amount),
                LandedBy::Value | LandedBy::Quantity => Exact::from(receipt.quantity),
            };
            let mut weights: Vec<Exact> = receipts.iter().map(weight).collect();
            let mut all = weights.iter().try_fold(Exact::ZERO, |sum, weight| sum.plus(*weight))?;
            if all.is_zero() {
                // Goods that cost nothing share by their number.
                weights = receipts.iter().map(|receipt| Exact::from(receipt.quantity)).collect();
                all = weights.iter().try_fold(Exact::ZERO, |sum, weight| sum.plus(*weight))?;
            }
            let raw: Result<Vec<Exact>, TooLarge> =
                weights.into_iter().map(|weight| Exact::from(paid).times(weight.over(all)?)).collect();
            return Ok(receipts.into_iter().zip(spread(paid, &raw?, coin)?).collect());
        }
        let receipt = let_off(direction, asked, sources, line).and_then(|id| self.0.get(&id));
        let off = paid.checked_neg().ok_or(TooLarge)?;
        Ok(receipt.map(|receipt| (receipt, off)).into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::samples::{CENT, id, pieces, said, worth};
    use std::sync::Arc;

    /// Goods that were received: the line, how many, and what they cost.
    fn received(of: &[(u128, &str, &str)]) -> Received {
        let item: Item = Arc::new(crate::samples::goods(7));
        let receipt = |(line, quantity, amount): &(u128, &str, &str)| {
            let (line, item) = (id(*line), Arc::clone(&item));
            (line, Receipt { line, item, quantity: pieces(quantity), amount: worth(amount) })
        };
        Received(of.iter().map(receipt).collect())
    }

    fn freight(by: LandedBy, of: &[u128]) -> TradeLineAsked {
        let target_line_ids = of.iter().map(|line| id(*line)).collect();
        TradeLineAsked { landed: Some(Landed { target_line_ids, by }), ..TradeLineAsked::default() }
    }

    #[test]
    fn freight_is_spread_over_goods_to_the_last_coin() {
        use LandedBy::{Quantity, Value};
        let shares = |of: &[(u128, &str, &str)], by: LandedBy, paid: &str| {
            let lines: Vec<u128> = of.iter().map(|(line, ..)| *line).collect();
            let (received, asked, sources) = (received(of), TradeAsked::default(), Sources::sample([]));
            let line = freight(by, &lines);
            let of = (Direction::PurchaseInvoice, &asked, &sources);
            let shares = received.shares(of, &line, worth(paid), CENT).unwrap();
            shares
                .iter()
                .map(|(receipt, share)| format!("{} {share}", receipt.line.0.as_u128()))
                .collect::<Vec<_>>()
                .join("; ")
        };
        // Kernel 3.5: 10 that cost 8 and 20 that cost 12.
        let goods = [(1, "10", "80"), (2, "20", "240")];
        assert_eq!(shares(&goods, Value, "32"), "1 8; 2 24");
        assert_eq!(shares(&goods, Quantity, "32"), "1 10.67; 2 21.33");
        // The coins that are left go to the largest fractions, of alike ones to the first.
        let three = [(1, "1", "5"), (2, "1", "5"), (3, "1", "5")];
        assert_eq!(shares(&three, Value, "10"), "1 3.34; 2 3.33; 3 3.33");
        assert_eq!(shares(&three, Value, "0.01"), "1 0.01; 2 0; 3 0");
        // Goods that cost nothing share by their number.
        assert_eq!(shares(&[(1, "1", "0"), (2, "3", "0")], Value, "32"), "1 8; 2 24");
        // And one that cost nothing beside others gets nothing of what is spread by value.
        assert_eq!(shares(&[(1, "5", "0"), (2, "1", "7")], Value, "32"), "1 0; 2 32");
        assert_eq!(shares(&[(1, "5", "40")], Quantity, "32.01"), "1 32.01");
    }

    /// Kernel 3.6: a rebate of 15.00 on goods that were received takes that off what they cost.
    #[test]
    fn a_rebate_takes_off_what_goods_cost() {
        let (received, sources) = (received(&[(1, "10", "100")]), Sources::sample([]));
        let line =
            |of: u128| TradeLineAsked { source_line: Some(id(of)), item: Some(id(7)), ..TradeLineAsked::default() };
        let shares = |direction: Direction, note_kind: NoteKind, line: TradeLineAsked| {
            let asked = TradeAsked { note_kind: Some(note_kind), ..TradeAsked::default() };
            let shares = received.shares((direction, &asked, &sources), &line, worth("15"), CENT).unwrap();
            let changes = received.changes(direction, &asked, &sources, &line);
            assert_eq!(changes, !shares.is_empty());
            shares.iter().map(|(_, share)| share.to_string()).collect::<Vec<_>>()
        };
        let adjusts = NoteKind::PriceAdjustment;
        assert_eq!(shares(Direction::DebitNote, adjusts, line(1)), ["-15"]);
        assert_eq!(shares(Direction::DebitNote, NoteKind::Return, line(1)), [""; 0]);
        assert_eq!(shares(Direction::CreditNote, adjusts, line(1)), [""; 0]);
        // Of what no stock is kept of.
        assert_eq!(shares(Direction::DebitNote, adjusts, line(2)), [""; 0]);
        let expense = TradeLineAsked { item: None, ..line(1) };
        assert_eq!(shares(Direction::DebitNote, adjusts, expense), [""; 0]);
    }

    #[test]
    fn only_a_bill_says_what_goods_cost_beside_their_price() {
        let judged = |direction: Direction, is_opening: bool, line: TradeLineAsked| {
            let mut faults = FieldErrors::default();
            let asked = TradeAsked { is_opening, lines: vec![line], ..TradeAsked::default() };
            received(&[(1, "10", "100"), (2, "1", "1")]).judge(direction, &asked, &mut faults);
            if faults.is_empty() { String::new() } else { said(&Error::from(faults)) }
        };
        let by_value = |of: &[u128]| freight(LandedBy::Value, of);
        let bill = Direction::PurchaseInvoice;
        for (direction, is_opening, line, answer) in [
            (bill, false, by_value(&[1, 2]), ""),
            (bill, true, by_value(&[1]), "lines[0].landedCost is only for bills"),
            (Direction::SalesInvoice, false, by_value(&[1]), "lines[0].landedCost is only for bills"),
            (Direction::DebitNote, false, by_value(&[1]), "lines[0].landedCost is only for bills"),
            (
                bill,
                false,
                TradeLineAsked { source_line: Some(id(3)), ..by_value(&[1]) },
                "lines[0].landedCost cannot stand on a line that follows another",
            ),
            (bill, false, by_value(&[1, 2, 1]), "lines[0].landedCost.targetLineIds[2] stands here already"),
            (
                bill,
                false,
                by_value(&[1, 9]),
                "lines[0].landedCost.targetLineIds[1] names no line that received goods of which stock is kept",
            ),
        ] {
            let shown = format!("{direction:?} {:?}", line.landed);
            assert_eq!(judged(direction, is_opening, line), answer, "{shown}");
        }
    }
}

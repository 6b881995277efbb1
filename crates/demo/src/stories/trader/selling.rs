//! Selling: baskets, invoices, orders that are delivered and billed, and how they are paid.

use super::{Basket, GOODS, Trader};
use crate::calendar::workday_from;
use crate::script::{Made, money, settling};
use ledger_core::day::Day;
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// How many days ago an invoice fell due that fell due lately.
const FELL_DUE: RangeInclusive<i64> = 2..=24;

impl Trader {
    pub(super) fn basket(&mut self, customer: usize) -> Option<Basket> {
        let abroad = self.customers[customer].currency != "EUR";
        let mut basket = Basket { lines: Vec::new(), net: 0, gross: 0, goods: Vec::new() };
        let (mut full, mut reduced) = (0, 0);
        for _ in 0..self.chance.between(1, 3) {
            let place = self.chance.place(self.goods.len());
            if basket.goods.iter().any(|(known, _)| *known == place) {
                continue;
            }
            let good = &self.goods[place];
            let most = (GOODS[place].5 / 3).min(good.on_hand - 1);
            if most < 1 {
                continue;
            }
            let (price, rate) = (good.price, good.rate);
            let quantity = self.chance.between((most / 4).max(1), most);
            self.goods[place].on_hand -= quantity;
            let mut line = json!({"itemId": self.goods[place].id, "quantity": quantity, "unitPrice": money(price)});
            if abroad {
                line["taxCodeId"] = self.codes.export.clone();
            }
            basket.lines.push(line);
            basket.goods.push((place, quantity));
            basket.net += quantity * price;
            match rate {
                _ if abroad => {}
                7 => reduced += quantity * price,
                _ => full += quantity * price,
            }
        }
        basket.gross = basket.net + (full * 19 + 50) / 100 + (reduced * 7 + 50) / 100;
        (!basket.lines.is_empty()).then_some(basket)
    }

    pub(super) fn sale(&mut self, day: Day) {
        // The first customer buys most.
        let customer = if self.chance.happens(15) { 0 } else { self.chance.place(self.customers.len()) };
        let Some(basket) = self.basket(customer) else { return };
        if self.chance.happens(34) { self.order(day, customer, basket) } else { self.invoice(day, customer, basket) }
    }

    pub(super) fn head(&self, day: Day, customer: usize, lines: &[Value]) -> Value {
        let of = &self.customers[customer];
        json!({"date": day, "partyId": of.id, "currency": of.currency, "lines": lines})
    }

    fn invoice(&mut self, day: Day, customer: usize, mut basket: Basket) {
        if self.customers[customer].currency == "EUR" && self.chance.happens(12) {
            basket.lines.push(json!({"itemId": self.course, "quantity": 1}));
            let full: i64 = basket
                .goods
                .iter()
                .map(|(place, many)| if self.goods[*place].rate == 7 { 0 } else { many * self.goods[*place].price })
                .sum();
            let reduced = basket.net - full;
            basket.net += 39_000;
            basket.gross = basket.net + ((full + 39_000) * 19 + 50) / 100 + (reduced * 7 + 50) / 100;
        }
        let mut body = self.head(day, customer, &basket.lines);
        body["narration"] = "Goods as ordered by telephone".into();
        if self.customers[customer].currency == "EUR" && self.chance.happens(8) {
            body["cashReceipt"] = json!({"accountId": self.money.till, "reference": "paid at the counter"});
            self.script.make("salesInvoicesCreate", body);
            return;
        }
        let invoice = self.script.make("salesInvoicesCreate", body);
        if self.chance.happens(2) {
            for (place, quantity) in &basket.goods {
                self.goods[*place].on_hand += quantity;
            }
            self.script.act("salesInvoicesVoid", invoice.id(), json!({"date": day, "reason": "Entered twice"}));
            return;
        }
        self.settled(day, customer, invoice, &basket);
    }

    /// When and how an invoice is paid, if it is.
    fn settled(&mut self, day: Day, customer: usize, invoice: Made, basket: &Basket) {
        let (term, late) = (self.customers[customer].term, self.customers[customer].late);
        let paid = workday_from(day.plus_days((term + late + self.chance.between(-4, 6)).max(1)));
        let gross = basket.gross;
        let fresh = self.script.is_fresh(day);
        match self.invoices.deal() {
            0..=4 if fresh => {}
            5..=11 => {
                let part = gross / 200 * 100;
                self.money_in(paid, customer, invoice.clone(), part);
                if !fresh || self.chance.happens(60) {
                    self.money_in(workday_from(paid.plus_days(25)), customer, invoice, gross - part);
                }
            }
            12..=14 => self.credited(day, invoice, basket, fresh),
            // Somebody is late, whatever the day: two of those that fell due lately are not paid yet.
            _ if self.unpaid < 2 && FELL_DUE.contains(&(self.script.today.days_since(day) - term)) => self.unpaid += 1,
            _ => self.money_in(paid, customer, invoice, gross),
        }
    }

    /// All that an invoice says, on a day.
    fn whole_in(&mut self, day: Day, customer: usize, invoice: Made) {
        self.script.later(day, move |own, day| {
            let of = &own.customers[customer];
            let body = settling(day, (&of.id, own.money.of(of.currency)), &invoice, invoice.total());
            own.script.make("receiptsCreate", body);
        });
    }

    fn money_in(&mut self, day: Day, customer: usize, invoice: Made, cents: i64) {
        self.script.later(day, move |own, day| {
            let of = &own.customers[customer];
            let mut body = settling(day, (&of.id, own.money.of(of.currency)), &invoice, money(cents));
            body["clearedDate"] = json!(day);
            own.script.make("receiptsCreate", body);
        });
    }

    /// Some of it comes back, or was too dear, and the rest is not paid yet; of what is old all came back.
    fn credited(&mut self, day: Day, invoice: Made, basket: &Basket, fresh: bool) {
        let Some((place, quantity)) = basket.goods.first().copied() else { return };
        if !fresh {
            let goods = basket.goods.clone();
            let later = workday_from(day.plus_days(self.chance.between(3, 9)));
            self.script.later(later, move |own, day| {
                for (place, quantity) in goods {
                    own.goods[place].on_hand += quantity;
                }
                let body = json!({"date": day, "kind": "return", "reason": "The wrong roast was sent"});
                own.script.credited("salesInvoicesCredit", &invoice, body);
            });
            return;
        }
        let back = (quantity / 3).max(1);
        let comes_back = self.chance.happens(60);
        let later = workday_from(day.plus_days(self.chance.between(3, 9)));
        self.script.later(later, move |own, day| {
            let body = if comes_back {
                own.goods[place].on_hand += back;
                json!({"date": day, "kind": "return", "reason": "Bags were torn", "lines": [
                    {"lineId": invoice.line(0), "quantity": back}
                ]})
            } else {
                json!({"date": day, "kind": "priceAdjustment", "reason": "Agreed price", "lines": [
                    {"lineId": invoice.line(0), "amount": money(500)}
                ]})
            };
            own.script.credited("salesInvoicesCredit", &invoice, body);
        });
    }

    fn order(&mut self, day: Day, customer: usize, basket: Basket) {
        let mut body = self.head(day, customer, &basket.lines);
        let promised = workday_from(day.plus_days(self.chance.between(3, 12)));
        body["expectedDate"] = json!(promised);
        body["customerReference"] = format!("PO-{}", self.chance.between(10_000, 99_999)).into();
        let order = self.script.make("salesOrdersCreate", body);
        if self.chance.happens(3) {
            for (place, quantity) in &basket.goods {
                self.goods[*place].on_hand += quantity;
            }
            self.script.act("salesOrdersCancel", order.id(), json!({"reason": "The customer changed their mind"}));
            return;
        }
        let whole = self.chance.happens(78);
        let goes = workday_from(day.plus_days(self.chance.between(1, 5)));
        let billed = workday_from(goes.plus_days(self.chance.between(1, 4)));
        self.script.later(goes, move |own, day| own.delivered(day, order, (customer, basket), (whole, billed)));
    }

    fn delivered(&mut self, day: Day, order: Made, (customer, basket): (usize, Basket), (whole, billed): (bool, Day)) {
        if whole {
            let body = json!({"date": day});
            let note = self.script.act("salesOrdersDeliver", order.id(), body);
            self.script.later(billed, move |own, day| {
                let invoice = own.script.act("deliveryNotesInvoice", note.id(), json!({"date": day}));
                own.settled(day, customer, invoice, &basket);
            });
            return;
        }
        // Half of the first line goes; what is left waits, or is given up.
        let Some((place, quantity)) = basket.goods.first().copied() else { return };
        let half = (quantity / 2).max(1);
        let body = json!({"date": day, "lines": [{"lineId": order.line(0), "quantity": half}]});
        let note = self.script.act("salesOrdersDeliver", order.id(), body);
        if !self.script.is_fresh(day) || self.chance.happens(60) {
            self.script.later(billed, move |own, day| {
                let invoice = own.script.act("deliveryNotesInvoice", note.id(), json!({"date": day}));
                own.whole_in(workday_from(day.plus_days(26)), customer, invoice);
            });
        }
        if self.chance.happens(40) {
            self.script.later(workday_from(day.plus_days(30)), move |own, _| {
                own.script.act("salesOrdersClose", order.id(), Value::Null);
                own.goods[place].on_hand += quantity - half;
                for (other, many) in basket.goods.iter().skip(1) {
                    own.goods[*other].on_hand += many;
                }
            });
        }
    }
}

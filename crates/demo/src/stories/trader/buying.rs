//! Buying: orders to suppliers, what comes of them, freight, and bills that are paid.

use super::{SUPPLIERS, Trader};
use crate::calendar::workday_from;
use crate::script::{Made, money, settling};
use ledger_core::day::Day;
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// How old a bill is that fell due lately, in days.
const FELL_DUE: RangeInclusive<i64> = 35..=80;

impl Trader {
    pub(super) fn reorder(&mut self, day: Day) {
        for place in 0..self.goods.len() {
            let good = &self.goods[place];
            if good.on_hand + good.on_order > good.lot / 2 {
                continue;
            }
            let lot = good.lot;
            self.goods[place].on_order += lot;
            // Prices rise, slowly and not evenly.
            let months = (day.year() - self.script.first.year()) * 12 + i32::try_from(day.month()).unwrap_or(1)
                - i32::try_from(self.script.first.month()).unwrap_or(1);
            let cost = self.goods[place].cost * (1_000 + i64::from(months) * 4 + self.chance.between(-15, 15)) / 1_000;
            let among = self.suppliers.len() / SUPPLIERS.len();
            let supplier = self.goods[place].supplier + SUPPLIERS.len() * self.chance.place(among.max(1));
            let of = &self.suppliers[supplier];
            let mut line = json!({"itemId": self.goods[place].id, "quantity": lot, "unitPrice": money(cost)});
            if of.currency != "EUR" {
                line["taxCodeId"] = self.codes.export.clone();
            }
            let body = json!({
                "date": day, "partyId": of.id, "currency": of.currency, "expectedArrivalDate": workday_from(day.plus_days(10)), "lines": [line]
            });
            let order = self.script.make("purchaseOrdersCreate", body);
            let comes = workday_from(day.plus_days(self.chance.between(2, 6)));
            let whole = self.chance.happens(85);
            self.script.later(comes, move |own, day| own.received(day, order, (place, lot, cost, supplier), whole));
        }
    }

    fn received(&mut self, day: Day, order: Made, (place, lot, cost, supplier): (usize, i64, i64, usize), whole: bool) {
        let many = if whole { lot } else { lot / 2 };
        let body = json!({"date": day, "lines": [{"lineId": order.line(0), "quantity": many}]});
        let note = self.script.act("purchaseOrdersReceive", order.id(), body);
        self.goods[place].on_hand += many;
        self.goods[place].on_order -= many;
        if !whole {
            let rest = lot - many;
            self.script.later(workday_from(day.plus_days(12)), move |own, day| {
                own.received_rest(day, &order, (place, rest), (cost, supplier));
            });
        }
        if self.chance.happens(30) {
            let target = note.line(0);
            self.script.later(workday_from(day.plus_days(3)), move |own, day| {
                own.bills += 1;
                let body = json!({
                    "date": day, "partyId": own.freight, "reference": format!("ZL-{}", own.bills),
                    "lines": [{"description": "Freight", "quantity": 1, "unitPrice": "68.00", "taxCodeId": own.codes.full,
                               "landedCost": {"targetLineIds": [target]}}]
                });
                let bill = own.script.make("purchaseInvoicesCreate", body);
                let freight = own.freight.clone();
                own.money_out(workday_from(day.plus_days(14)), (freight, "EUR"), bill);
            });
        }
        let billed = workday_from(day.plus_days(self.chance.between(1, 9)));
        self.script.later(billed, move |own, day| own.bill_comes(day, &note, (many * cost, supplier)));
    }

    fn received_rest(&mut self, day: Day, order: &Made, (place, rest): (usize, i64), (cost, supplier): (i64, usize)) {
        let body = json!({"date": day, "lines": [{"lineId": order.line(0), "quantity": rest}]});
        let note = self.script.act("purchaseOrdersReceive", order.id(), body);
        self.goods[place].on_hand += rest;
        self.goods[place].on_order -= rest;
        self.script
            .later(workday_from(day.plus_days(4)), move |own, day| own.bill_comes(day, &note, (rest * cost, supplier)));
    }

    fn bill_comes(&mut self, day: Day, note: &Made, (net, supplier): (i64, usize)) {
        self.bills += 1;
        let body = json!({"date": day, "reference": format!("R-{}", self.bills)});
        let bill = self.script.act("receiptNotesInvoice", note.id(), body);
        self.billed(day, bill, (net, supplier));
    }

    fn billed(&mut self, day: Day, bill: Made, (net, supplier): (i64, usize)) {
        let (id, currency) = (self.suppliers[supplier].id.clone(), self.suppliers[supplier].currency);
        match self.from_suppliers.deal() {
            0..=5 if self.script.is_fresh(day) => {
                let body = json!({"date": day, "kind": "priceAdjustment", "reason": "Short weight", "lines": [
                    {"lineId": bill.line(0), "amount": money(net / 2_000 * 100 + 100)}
                ]});
                self.script.credited("purchaseInvoicesCredit", &bill, body);
            }
            6..=13 if self.script.is_fresh(day) => {
                // A part now; the rest is talked about.
                let part = money(net / 300 * 100 + 100);
                let account = self.money.of(currency);
                self.script.later(workday_from(day.plus_days(28)), move |own, day| {
                    own.script.make("paymentsCreate", settling(day, (&id, account), &bill, part));
                });
            }
            _ => {
                let due = workday_from(day.plus_days(28 + self.chance.between(-3, 8)));
                // Something is late, whatever the day: two of those that fell due lately wait for an answer.
                if self.waiting < 2 && FELL_DUE.contains(&self.script.today.days_since(day)) {
                    self.waiting += 1;
                } else {
                    self.money_out(due, (id, currency), bill);
                }
            }
        }
    }

    /// A bill is paid whole.
    pub(super) fn money_out(&mut self, day: Day, (party, currency): (Value, &'static str), bill: Made) {
        self.script.later(day, move |own, day| {
            let body = settling(day, (&party, own.money.of(currency)), &bill, bill.total());
            own.script.make("paymentsCreate", body);
        });
    }
}

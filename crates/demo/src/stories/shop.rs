//! A corner shop: what walks in pays at once, prices include the tax, and a wholesaler comes every week.

use super::{Scale, Story, pay};
use crate::calendar::{is_sunday, months_before, workday_from};
use crate::chance::Chance;
use crate::script::{Made, Script, Step, account, money, settling};
use ledger_core::day::Day;
use serde_json::{Value, json};

/// Name, code, sold for (with tax), bought for, how many a week.
const GOODS: &[(&str, &str, i64, i64, i64)] = &[
    ("Coffee to go", "COFFEE", 350, 90, 90),
    ("Sandwich", "SANDWICH", 795, 310, 45),
    ("Newspaper", "PAPER", 300, 195, 60),
    ("Maple syrup, 12 oz", "SYRUP", 1_495, 760, 14),
    ("Postcards", "CARD", 200, 45, 30),
    ("Canvas bag", "BAG", 1_850, 620, 8),
];

/// What lies on the shelves.
struct Good {
    id: Value,
    on_hand: i64,
    /// Since the wholesaler came last.
    sold: i64,
}

impl Good {
    fn goes(&mut self, many: i64) {
        self.on_hand -= many;
        self.sold += many;
    }
}

pub(super) struct Shop {
    script: Script<Self>,
    chance: Chance,
    scale: Scale,
    day: Day,
    begun: bool,
    goods: Vec<Good>,
    walk_in: Value,
    school: Value,
    wholesaler: Value,
    press: Value,
    tax: Value,
    slips: i64,
    /// Whether anything went back to who brought it.
    sent_back: bool,
}

impl Shop {
    pub(super) fn new(today: Day, seed: u64, scale: Scale) -> Self {
        let first = months_before(today, scale.months);
        let nothing = || Value::Null;
        Self {
            script: Script::between(first, today),
            chance: Chance::of(seed),
            scale,
            day: first,
            begun: false,
            goods: Vec::new(),
            walk_in: nothing(),
            school: nothing(),
            wholesaler: nothing(),
            press: nothing(),
            tax: nothing(),
            slips: 5_000,
            sent_back: false,
        }
    }

    fn masters(&mut self) {
        let script = &mut self.script;
        let component = json!([{"name": "Sales tax", "rate": 7, "boxes": {"salesBase": "1", "salesTax": "2"}}]);
        self.tax = script
            .make(
                "taxCodesCreate",
                json!({"code": "ST7", "name": "Sales tax 7 %", "direction": "sales", "components": component}),
            )
            .id();
        let mut party = |name: &str, code: &str, is_customer: bool, is_person: bool| {
            let body = json!({
                "name": name, "code": code, "isCustomer": is_customer, "isSupplier": !is_customer,
                "kind": if is_person { "person" } else { "company" }, "paymentTermDays": if is_person { 0 } else { 14 }
            });
            script.make("partiesCreate", body).id()
        };
        self.walk_in = party("Walk-in customer", "WALK-IN", true, true);
        self.school = party("Maple Street School", "SCHOOL", true, false);
        self.wholesaler = party("Green Mountain Wholesale", "GMW", false, false);
        self.press = party("Burlington Press", "PRESS", false, false);
        let mut opening = Vec::new();
        for (name, code, price, cost, week) in GOODS {
            let body = json!({
                "name": name, "code": code, "type": "stock", "unit": "pcs", "salePrice": money(*price), "purchasePrice": money(*cost),
                "salesTaxCodeId": self.tax, "reorderLevel": week
            });
            let id = script.make("itemsCreate", body).id();
            let many = week * 2 * self.scale.lots();
            opening.push(json!({"itemId": id, "quantityDelta": many, "unitCost": money(*cost)}));
            self.goods.push(Good { id, on_hand: many, sold: 0 });
        }
        let body = json!({"date": script.first, "reason": "What there was before", "accountId": account("3900"), "lines": opening});
        script.make("stockAdjustmentsCreate", body);
        let body = json!({"date": script.first, "kind": "opening", "narration": "What there was before", "lines": [
            {"accountId": account("1010"), "debit": "14500.00"}, {"accountId": account("1000"), "debit": "400.00"},
            {"accountId": account("3000"), "credit": "14900.00"}
        ]});
        script.make("journalsCreate", body);
    }

    /// What was sold at the till: one slip for what is paid alike.
    fn slip(&mut self, day: Day) {
        let scale = self.scale.lots().min(4);
        let lines: Vec<Value> = (0..GOODS.len())
            .filter_map(|place| {
                let good = &mut self.goods[place];
                let most = (GOODS[place].4 / 2 * scale).max(1);
                let many = self.chance.between(0, most);
                good.goes(many);
                (many > 0).then(|| json!({"itemId": good.id, "quantity": many}))
            })
            .collect();
        if lines.is_empty() {
            return;
        }
        self.slips += 1;
        let by_card = self.chance.happens(60);
        let into = if by_card { account("1010") } else { account("1000") };
        let body = json!({
            "date": day, "partyId": self.walk_in, "reference": format!("Z-{}", self.slips), "narration": "Till",
            "cashReceipt": {"accountId": into, "reference": if by_card { "card" } else { "cash" }}, "lines": lines
        });
        self.script.make("salesInvoicesCreate", body);
    }

    fn school(&mut self, day: Day) {
        let good = &mut self.goods[1];
        let many = self.chance.between(20, 40);
        good.goes(many);
        let line = json!({"itemId": good.id, "quantity": many, "discountPercent": 10});
        let body = json!({"date": day, "partyId": self.school, "lines": [line]});
        let invoice = self.script.make("salesInvoicesCreate", body);
        let school = self.school.clone();
        let on = workday_from(day.plus_days(self.chance.between(10, 40)));
        self.script.later(on, move |own, day| {
            let mut body = settling(day, (&school, account("1010")), &invoice, invoice.total());
            body["method"] = "cheque".into();
            own.script.make("receiptsCreate", body);
        });
    }

    /// The wholesaler comes with what is short.
    fn delivery(&mut self, day: Day) {
        let scale = self.scale.lots().min(4);
        for (supplier, places) in [(self.wholesaler.clone(), vec![0, 1, 3, 5]), (self.press.clone(), vec![2, 4])] {
            let mut lines = Vec::new();
            for place in places {
                let good = &mut self.goods[place];
                // As much as goes in three weeks, by what went since he came last.
                let wanted = (GOODS[place].4 * scale).max(std::mem::take(&mut good.sold)) * 3;
                if good.on_hand < wanted / 2 {
                    let many = wanted - good.on_hand;
                    good.on_hand += many;
                    lines.push(
                        json!({"itemId": good.id, "quantity": many, "unitPrice": money(GOODS[place].3), "taxCodeId": null}),
                    );
                }
            }
            if lines.is_empty() {
                continue;
            }
            self.slips += 1;
            let body = json!({"date": day, "partyId": supplier, "reference": format!("W-{}", self.slips), "pricesIncludeTax": false, "lines": lines});
            let bill = self.script.make("purchaseInvoicesCreate", body);
            // Now and then something goes back; of the last months something always has.
            if self.script.is_fresh(day) && (self.chance.happens(9) || !self.sent_back) {
                self.sent_back = true;
                let body = json!({"date": day, "kind": "return", "reason": "Past its date", "lines": [{"lineId": bill.line(0), "quantity": 2}]});
                // Negative stock is allowed here, so nobody counts what was sent back.
                self.script.credited("purchaseInvoicesCredit", &bill, body);
                continue;
            }
            self.pays(workday_from(day.plus_days(14)), supplier, bill);
        }
    }

    fn pays(&mut self, day: Day, supplier: Value, bill: Made) {
        self.script.later(day, move |own, day| {
            let body = settling(day, (&supplier, account("1010")), &bill, bill.total());
            own.script.make("paymentsCreate", body);
        });
    }

    fn month(&mut self, day: Day) {
        match day.day() {
            2 => {
                let body = json!({"date": day, "accountId": account("1010"), "amount": "240.00", "narration": "Rent",
                    "lines": [{"accountId": account("6200"), "amount": "240.00", "description": "Rent"}]});
                self.script.make("paymentsCreate", body);
            }
            16 => self.school(day),
            24 => {
                let wages = money(pay(self.script.grown(day), (5_000, 38_000)));
                let body = json!({"date": day, "narration": "Wages", "lines": [
                    {"accountId": account("6100"), "debit": wages}, {"accountId": account("1010"), "credit": wages}
                ]});
                self.script.make("journalsCreate", body);
            }
            28 => {
                let cents = self.chance.between(30, 90) * 1_000;
                let body = json!({"date": day, "fromAccountId": account("1000"), "toAccountId": account("1010"), "amount": money(cents),
                                  "narration": "Till to the bank"});
                self.script.make("contraEntriesCreate", body);
            }
            _ => {}
        }
    }
}

impl Story for Shop {
    fn day(&mut self) -> Option<Vec<Step>> {
        if !self.begun {
            self.begun = true;
            self.masters();
            return Some(self.script.taken());
        }
        let (day, today) = (self.day, self.script.today);
        if day > today {
            return None;
        }
        self.month(day);
        for what in self.script.due(day) {
            what(self, day);
        }
        if !is_sunday(day) {
            if day.number() % 7 == 5 {
                self.delivery(day);
            }
            let expected = u64::try_from(self.scale.sales * self.script.grown(day) / 26).unwrap_or(0);
            let many = expected / 1_000 + u64::from(self.chance.below(1_000) < expected % 1_000);
            for _ in 0..many {
                self.slip(day);
            }
        }
        self.day = day.next();
        Some(self.script.taken())
    }

    fn place(&self) -> (Day, Day, Day) {
        (self.script.first, self.day, self.script.today)
    }
}

//! What each month brings beside trade: rates, rent, takings, wages, late bills, the end of a quarter; and what lies on the desk.

use super::{Trader, rate_text};
use crate::calendar::workday_from;
use crate::script::{account, money};
use crate::stories::{pay, rates};
use ledger_core::day::Day;
use serde_json::json;

impl Trader {
    pub(super) fn month(&mut self, day: Day) {
        match day.day() {
            1 => {
                (self.usd, self.chf) = rates(&mut self.script, &mut self.chance, day, (self.usd, self.chf));
                self.rent(day);
            }
            3 => self.exchange(day),
            10 => self.takings(day),
            12 => self.late_bill(day),
            25 => self.wages(day),
            _ => {}
        }
        if day == day.last_of_month() {
            let body = json!({"date": day, "narration": "Depreciation", "kind": "adjustment", "lines": [
                {"accountId": account("6700"), "debit": "90.00"}, {"accountId": account("1690"), "credit": "90.00"}
            ]});
            self.script.make("journalsCreate", body);
            if day.month().is_multiple_of(3) && day < self.script.today {
                let worth = |currency: &str, units: i64| json!({"currency": currency, "rate": rate_text(units)});
                let body = json!({"date": day, "narration": "End of the quarter", "rates": [
                    worth("USD", self.usd + 40), worth("CHF", self.chf - 30)
                ]});
                self.script.make("revaluationsCreate", body);
                let place = self.chance.place(self.goods.len());
                if self.goods[place].on_hand > 2 {
                    self.goods[place].on_hand -= 1;
                    let body = json!({"date": day, "reason": "Counted", "lines": [
                        {"itemId": self.goods[place].id, "quantityDelta": -1, "description": "Broken"}
                    ]});
                    self.script.make("stockAdjustmentsCreate", body);
                }
            }
        }
    }

    fn rent(&mut self, day: Day) {
        self.bills += 1;
        let body = json!({
            "date": day, "partyId": self.landlord, "reference": format!("M-{}", self.bills),
            "lines": [{"accountId": self.money.rent, "description": "Rent of the warehouse", "quantity": 1, "unitPrice": "420.00",
                       "taxCodeId": self.codes.full}]
        });
        let bill = self.script.make("purchaseInvoicesCreate", body);
        let landlord = self.landlord.clone();
        self.money_out(workday_from(day.plus_days(3)), (landlord, "EUR"), bill);
    }

    /// What came over the counter, and to the bank.
    fn takings(&mut self, day: Day) {
        let cents = self.chance.between(9_000, 16_000) * 10;
        let body = json!({
            "date": day, "accountId": self.money.till, "amount": money(cents), "method": "cash", "narration": "Tastings",
            "lines": [{"accountId": account("4000"), "amount": money(cents), "description": "Tastings"}]
        });
        self.script.make("receiptsCreate", body);
        let amount = cents / 1_000 * 1_000;
        let body = json!({
            "date": day, "fromAccountId": self.money.till, "toAccountId": self.money.bank, "amount": money(amount),
            "narration": "Takings to the bank"
        });
        self.script.make("contraEntriesCreate", body);
    }

    /// A bill of the month before, which comes when its month is over.
    fn late_bill(&mut self, day: Day) {
        let dated = day.first_of_month().previous();
        if dated < self.script.first {
            return;
        }
        self.bills += 1;
        let cents = self.chance.between(80, 160) * 100;
        let body = json!({
            "date": dated, "partyId": self.power, "reference": format!("SW-{}", self.bills), "narration": "Electricity",
            "lines": [{"accountId": account("6300"), "description": "Electricity", "quantity": 1, "unitPrice": money(cents),
                       "taxCodeId": self.codes.full}]
        });
        let bill = self.script.make("purchaseInvoicesCreate", body);
        let power = self.power.clone();
        self.money_out(workday_from(day.plus_days(6)), (power, "EUR"), bill);
    }

    fn wages(&mut self, day: Day) {
        let wages = pay(self.script.grown(day), (18_000, 105_000));
        let withheld = wages * 26 / 100;
        let body = json!({"date": day, "narration": "Wages", "lines": [
            {"accountId": account("6100"), "debit": money(wages)}, {"accountId": account("2600"), "credit": money(withheld)},
            {"accountId": self.money.bank, "credit": money(wages - withheld)}
        ]});
        self.script.make("journalsCreate", body);
        let bank = self.money.bank.clone();
        self.script.later(workday_from(day.plus_days(10)), move |own, day| {
            let body = json!({"date": day, "narration": "Tax and insurance on wages", "lines": [
                {"accountId": account("2600"), "debit": money(withheld)}, {"accountId": bank, "credit": money(withheld)}
            ]});
            own.script.make("journalsCreate", body);
        });
        if day.month().is_multiple_of(3) {
            self.bookkeeping(day);
        }
    }

    /// What a quarter's bookkeeping costs belongs to the quarter, though it is billed on the first day of the next.
    fn bookkeeping(&mut self, day: Day) {
        let billed = day.last_of_month().next();
        if billed > self.script.today {
            return;
        }
        let body = json!({"date": day, "narration": "Bookkeeping, not billed yet", "kind": "accrual", "reverseOn": billed, "lines": [
            {"accountId": account("6600"), "debit": "150.00"}, {"accountId": account("2500"), "credit": "150.00"}
        ]});
        self.script.make("journalsCreate", body);
        self.script.later(billed, |own, day| {
            own.bills += 1;
            let body = json!({
                "date": day, "partyId": own.bookkeeper, "reference": format!("P-{}", own.bills),
                "lines": [{"accountId": account("6600"), "description": "Bookkeeping of the quarter", "quantity": 1,
                           "unitPrice": "150.00", "taxCodeId": own.codes.full}]
            });
            let bill = own.script.make("purchaseInvoicesCreate", body);
            let bookkeeper = own.bookkeeper.clone();
            own.money_out(workday_from(day.plus_days(9)), (bookkeeper, "EUR"), bill);
        });
    }

    /// What customers abroad pay is changed into euros, and what suppliers there are owed is bought.
    fn exchange(&mut self, day: Day) {
        let step = self.scale.lots();
        for (account, units, cents) in
            [(self.money.usd.clone(), self.usd, 80_000), (self.money.chf.clone(), self.chf, 50_000)]
        {
            let cents = cents * step;
            let body = json!({
                "date": day, "fromAccountId": self.money.bank, "toAccountId": account, "amount": money(cents * units / 10_000),
                "toAmount": money(cents), "narration": "Bought for bills from abroad"
            });
            self.script.make("contraEntriesCreate", body);
        }
    }

    /// What lies on the desk today.
    pub(super) fn ending(&mut self) {
        let today = self.script.today;
        for _ in 0..3 {
            let customer = self.chance.place(self.customers.len());
            if let Some(basket) = self.basket(customer) {
                let mut body = self.head(today, customer, &basket.lines);
                body["status"] = "draft".into();
                self.script.make("salesInvoicesCreate", body);
            }
        }
        crate::examples::people(&mut self.script);
    }
}

//! The company that the examples of the documents are about: little more than what they act on, so that whoever tries them
//! spoils nobody's story.

use super::Story;
use crate::script::{Script, Step, account};
use ledger_core::day::Day;
use ledger_core::resource::named::{self, BANK, ITEM, PARTY, RENT, TAX_CODE, TILL};
use serde_json::{Value, json};

pub(super) struct Reference {
    script: Script<Self>,
    begun: bool,
}

impl Reference {
    pub(super) fn new(today: Day) -> Self {
        let first = Day::new(2025, 9, 1).map_or(today, |day| day.min(today));
        Self { script: Script::between(first, today), begun: false }
    }

    fn masters(&mut self) {
        let first = self.script.first;
        let script = &mut self.script;
        for (key, code, name, kind) in [
            (BANK, "1015", "Current account, Hafenbank", "bank"),
            (TILL, "1005", "Till in the shop", "cash"),
            (RENT, "6210", "Rent of the warehouse", "expense"),
        ] {
            let parent = account(&code[..1]);
            let mut body = json!({"code": code, "name": name, "type": kind, "currency": "EUR", "parentId": parent});
            if key == BANK {
                body["bankDetails"] = json!({"iban": "DE82000000000000001015", "bankName": "Hafenbank"});
            }
            script.make_named("accountsCreate", named::id(key), body);
        }
        let dollars = json!({"code": "1025", "name": "USD account, Hafenbank", "type": "bank", "currency": "USD", "parentId": account("1")});
        let dollars = script.make("accountsCreate", dollars).id();
        let boxes = json!({"salesBase": "81", "salesTax": "81T", "purchaseClaim": "66"});
        let component = json!({"name": "VAT", "rate": 19, "kind": "standard", "boxes": boxes});
        let tax = json!({"code": "S19", "name": "VAT 19 %", "components": [component]});
        script.make_named("taxCodesCreate", named::id(TAX_CODE), tax);
        let nordwind = json!({
            "name": "Nordwind Cafés", "code": "C-1000", "isCustomer": true, "isSupplier": true, "paymentTermDays": 30,
            "email": "accounts@nordwind.example", "creditLimit": 25_000,
            "billingAddress": {"line1": "Elbchaussee 12", "city": "Hamburg", "postalCode": "22765", "country": "DE"}
        });
        script.make_named("partiesCreate", named::id(PARTY), nordwind);
        let beans = json!({
            "name": "Espresso beans, 1 kg", "code": "ESPRESSO", "type": "stock", "unit": "kg", "category": "Coffee",
            "salePrice": "18.50", "purchasePrice": "9.25", "reorderLevel": 80
        });
        script.make_named("itemsCreate", named::id(ITEM), beans);
        let line = |account: Value, side: &str, amount: &str| json!({"accountId": account, side: amount});
        let body = json!({"date": first, "kind": "opening", "narration": "What there was before", "lines": [
            line(json!(BANK), "debit", "40000.00"), line(json!(TILL), "debit", "800.00"),
            line(account("3000"), "credit", "40800.00")
        ]});
        script.make("journalsCreate", body);
        let body = json!({"date": first, "fromAccountId": BANK, "toAccountId": dollars, "amount": "2754.00",
                          "toAmount": "3000.00", "narration": "Bought for bills from abroad"});
        script.make("contraEntriesCreate", body);
    }
}

impl Story for Reference {
    fn day(&mut self) -> Option<Vec<Step>> {
        if self.begun {
            return None;
        }
        self.begun = true;
        self.masters();
        let today = self.script.today;
        crate::examples::enter(&mut self.script, today);
        Some(self.script.taken())
    }

    fn place(&self) -> (Day, Day, Day) {
        (self.script.first, self.script.today, self.script.today)
    }
}

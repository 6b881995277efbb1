//! What the examples of the documents act on: a record for each operation that changes one, so that each of them can be
//! tried first.

use crate::script::{Made, Script, account, role};
use ledger_core::day::Day;
use ledger_core::resource::named::{self, BANK, ITEM, PARTY, PERMISSION, RENT, TAX_CODE, TILL};
use serde_json::{Value, json};

/// The day that examples are of.
fn day_of_examples(today: Day) -> Day {
    Day::new(2026, 11, 20).map_or(today, |day| day.min(today))
}

/// Which documents there are, and how little is in one of them.
fn documents(day: Day) -> Vec<(&'static str, Value)> {
    let goods = json!([{"itemId": ITEM, "quantity": 10, "unitPrice": "18.50"}]);
    let words = json!([{"description": "Tasting", "accountId": account("4000"), "quantity": 10, "unitPrice": "24.00", "taxCodeId": TAX_CODE}]);
    let cost = json!([{"description": "Repair", "accountId": account("6400"), "quantity": 10, "unitPrice": "32.00", "taxCodeId": TAX_CODE}]);
    let trade = |lines: &Value| json!({"date": day, "partyId": PARTY, "lines": lines});
    let paid = json!({"date": day, "partyId": PARTY, "accountId": BANK, "amount": "450.00"});
    vec![
        ("salesOrders", trade(&goods)),
        ("deliveryNotes", trade(&goods)),
        ("salesInvoices", trade(&words)),
        ("creditNotes", trade(&words)),
        ("purchaseOrders", trade(&goods)),
        (
            "receiptNotes",
            json!({"date": day, "partyId": PARTY, "lines": [{"itemId": ITEM, "quantity": 10, "unitCost": "9.40"}]}),
        ),
        ("purchaseInvoices", trade(&cost)),
        ("debitNotes", trade(&cost)),
        ("receipts", paid.clone()),
        ("payments", paid),
        (
            "stockAdjustments",
            json!({"date": day, "reason": "Found", "lines": [{"itemId": ITEM, "quantityDelta": 2, "unitCost": "9.40"}]}),
        ),
        (
            "journals",
            json!({"date": day, "narration": "Rent of a stand", "lines": [
                {"accountId": RENT, "debit": "60.00"}, {"accountId": BANK, "credit": "60.00"}
            ]}),
        ),
        ("contraEntries", json!({"date": day, "fromAccountId": BANK, "toAccountId": TILL, "amount": "50.00"})),
    ]
}

fn membership(set: Value) -> Value {
    json!([{"permissionId": set}])
}

/// People in every role.
pub(crate) fn people<S>(script: &mut Script<S>) {
    for (email, name, of) in [
        ("birte@harbour.example", "Birte Lund", "bookkeeper"),
        ("kai@harbour.example", "Kai Otte", "cashier"),
        ("rike@harbour.example", "Rike Sommer", "warehouse"),
        ("anja@harbour.example", "Anja Voss", "accountant"),
        ("sven@harbour.example", "Sven Kruse", "sales"),
        ("paula@harbour.example", "Paula Reimers", "purchasing"),
        ("audrey@audit.example", "Audrey Klein", "auditor"),
        ("screen@harbour.example", "Screen in the hall", "apiReadOnly"),
    ] {
        let body = json!({"email": email, "displayName": name, "memberships": membership(role(of))});
        script.make("usersCreate", body);
    }
}

struct Examples<'s, S> {
    script: &'s mut Script<S>,
    day: Day,
    documents: Vec<(&'static str, Value)>,
}

/// Enters all of them.
pub(crate) fn enter<S>(script: &mut Script<S>, today: Day) {
    let day = day_of_examples(today);
    let stock = json!({"date": day, "reason": "For a fair", "lines": [{"itemId": ITEM, "quantityDelta": 400, "unitCost": "9.60"}]});
    script.make("stockAdjustmentsCreate", stock);
    let mut examples = Examples { script, day, documents: documents(day) };
    examples.of_documents();
    examples.of_states();
    examples.of_void_revaluations();
    examples.of_orders();
    examples.of_money();
    examples.of_masters();
    examples.of_books();
    examples.of_people();
}

impl<S> Examples<'_, S> {
    fn body(&self, stem: &str, extra: Value) -> Value {
        let mut body =
            self.documents.iter().find(|(one, _)| *one == stem).map_or(Value::Null, |(_, body)| body.clone());
        if let (Value::Object(body), Value::Object(extra)) = (&mut body, extra) {
            body.extend(extra);
        }
        body
    }

    fn document(&mut self, stem: &str, key: &str, extra: Value) -> Made {
        let body = self.body(stem, extra);
        self.script.make_named(&format!("{stem}Create"), named::id(key), body)
    }

    fn of_documents(&mut self) {
        let stems: Vec<&str> = self.documents.iter().map(|(stem, _)| *stem).collect();
        for stem in stems {
            for (verb, status) in
                [("Get", "posted"), ("Update", "posted"), ("Delete", "draft"), ("Post", "draft"), ("Void", "posted")]
            {
                let extra = match (stem, verb) {
                    // What is settled by other examples is large.
                    ("salesInvoices", "Get") => json!({"status": status, "lines": [
                        {"description": "Fitting of a bar", "accountId": account("4000"), "quantity": 10, "unitPrice": "310.00", "taxCodeId": TAX_CODE}
                    ]}),
                    ("purchaseInvoices", "Get") => json!({"status": status, "lines": [
                        {"description": "Fitting of a bar", "accountId": account("6400"), "quantity": 10, "unitPrice": "210.00", "taxCodeId": TAX_CODE}
                    ]}),
                    _ => json!({"status": status}),
                };
                self.document(stem, &format!("{stem}{verb}"), extra);
            }
        }
        for (month, verb, status) in [
            (2, "Get", "posted"),
            (4, "Update", "posted"),
            (5, "Delete", "draft"),
            (7, "Post", "draft"),
            (1, "Void", "posted"),
        ] {
            let Some(first) = Day::new(2026, month, 1) else { continue };
            let body = json!({"date": first.last_of_month().min(self.day), "status": status, "rates": [{"currency": "USD", "rate": "0.92"}]});
            self.script.make_named("revaluationsCreate", named::id(&format!("revaluations{verb}")), body);
        }
    }

    fn of_void_revaluations(&mut self) {
        for day in [Day::new(2025, 10, 31), Day::new(2025, 11, 30)].into_iter().flatten() {
            let body = json!({"date": day, "rates": [{"currency": "USD", "rate": "0.90"}]});
            let made = self.script.make("revaluationsCreate", body);
            self.script.act("revaluationsVoid", made.id(), json!({"date": day, "reason": "Rate of another day"}));
        }
    }

    /// What is seen of each kind though nothing acts on it: taken back, partly settled, done.
    fn of_states(&mut self) {
        let documents = self.documents.clone();
        for (stem, body) in &documents {
            for _ in 0..2 {
                let made = self.script.make(&format!("{stem}Create"), body.clone());
                let (operation, words) = match *stem {
                    "salesOrders" | "purchaseOrders" => ("Cancel", json!({"reason": "Ordered twice"})),
                    _ => ("Void", json!({"date": self.day, "reason": "Entered twice"})),
                };
                self.script.act(&format!("{stem}{operation}"), made.id(), words);
            }
        }
        for (stem, target) in [("creditNotes", "salesInvoices"), ("debitNotes", "purchaseInvoices")] {
            for amount in ["20.00", "20.00"] {
                self.document_of(
                    stem,
                    json!({"allocations": [{"targetId": named::text(&format!("{target}Get")), "amount": amount}]}),
                );
            }
            for _ in 0..2 {
                let settled = self.document_of(target, Value::Null);
                let whole = settled.total();
                self.document_of(stem, json!({"allocations": [{"targetId": settled.id(), "amount": whole}]}));
            }
        }
        for (stem, verb) in [
            ("salesOrders", "Deliver"),
            ("purchaseOrders", "Receive"),
            ("deliveryNotes", "Invoice"),
            ("receiptNotes", "Invoice"),
        ] {
            for lines in [true, true, false, false] {
                let made = self.document_of(stem, Value::Null);
                let mut body = json!({"date": self.day});
                if lines {
                    body["lines"] = json!([{"lineId": made.line(0), "quantity": 3}]);
                }
                self.script.act(&format!("{stem}{verb}"), made.id(), body);
            }
        }
        for stem in ["salesOrders", "purchaseOrders"] {
            for _ in 0..2 {
                let made = self.document_of(stem, Value::Null);
                self.script.act(&format!("{stem}Close"), made.id(), Value::Null);
            }
        }
    }

    fn document_of(&mut self, stem: &str, extra: Value) -> Made {
        let body = self.body(stem, extra);
        self.script.make(&format!("{stem}Create"), body)
    }

    fn of_orders(&mut self) {
        for (stem, verbs) in [
            ("salesOrders", &["Deliver", "Invoice", "Close", "Reopen", "Cancel"][..]),
            ("purchaseOrders", &["Receive", "Invoice", "Close", "Reopen", "Cancel"]),
            ("deliveryNotes", &["Invoice", "Return", "Credit"]),
            ("receiptNotes", &["Invoice", "Return", "Credit"]),
            ("salesInvoices", &["Credit"]),
            ("purchaseInvoices", &["Credit"]),
        ] {
            for verb in verbs {
                let key = format!("{stem}{verb}");
                if matches!((stem, *verb), ("deliveryNotes" | "receiptNotes", "Credit")) {
                    // What came back, after it was invoiced.
                    let note = self.document_of(stem, Value::Null);
                    self.script.act(&format!("{stem}Invoice"), note.id(), json!({"date": self.day}));
                    let body = json!({"date": self.day});
                    self.script.act_named(&format!("{stem}Return"), note.id(), named::id(&key), body);
                    continue;
                }
                let made = self.document(stem, &key, Value::Null);
                if *verb == "Reopen" {
                    self.script.act(&format!("{stem}Close"), made.id(), Value::Null);
                }
            }
        }
    }

    fn of_money(&mut self) {
        for (stem, target) in [
            ("receipts", "salesInvoices"),
            ("creditNotes", "salesInvoices"),
            ("payments", "purchaseInvoices"),
            ("debitNotes", "purchaseInvoices"),
        ] {
            self.document(stem, &format!("{stem}Allocate"), Value::Null);
            let extra = json!({"allocations": [{"targetId": named::text(&format!("{target}Get")), "amount": "20.00"}]});
            self.document(stem, &format!("{stem}Deallocate"), extra);
        }
        for verb in ["Get", "Delete"] {
            let body = json!({"sourceId": named::RECEIPT, "targetId": named::INVOICE, "amount": "15.00"});
            self.script.make_named("allocationsCreate", named::id(&format!("allocations{verb}")), body);
        }
    }

    fn master(&mut self, stem: &str, verb: &str, body: Value) -> Made {
        self.script.make_named(&format!("{stem}Create"), named::id(&format!("{stem}{verb}")), body)
    }

    fn of_masters(&mut self) {
        for (verb, name, code) in [
            ("Update", "Nordlicht Cafés", "C-1004"),
            ("Delete", "Nobody's Café", "C-1005"),
            ("Merge", "Nordwind Cafe", "C-1006"),
        ] {
            self.master("parties", verb, json!({"name": name, "code": code, "isCustomer": true}));
        }
        for (verb, name, code) in [("Update", "Beans of last year", "BEANS-0"), ("Delete", "Tin, empty", "TIN")] {
            self.master("items", verb, json!({"name": name, "code": code, "type": "stock"}));
        }
        for (verb, name, code) in
            [("Update", "Deposit account", "1051"), ("Delete", "Account that nobody uses", "1052")]
        {
            self.master("accounts", verb, json!({"name": name, "code": code, "type": "bank"}));
        }
        for (verb, name, code) in [("Update", "VAT of last year", "OLD"), ("Delete", "VAT that nobody uses", "NONE")] {
            self.master(
                "taxCodes",
                verb,
                json!({"name": name, "code": code, "components": [{"name": "VAT", "rate": 16}]}),
            );
        }
        for (verb, name, days) in [("Get", "Net 45", 45), ("Update", "Net 60", 60), ("Delete", "Net 90", 90)] {
            self.master("paymentTerms", verb, json!({"name": name, "days": days}));
        }
        for (verb, name, pattern) in [
            ("Get", "Adjustments", "AD-{FY}-{000}"),
            ("Update", "Corrected", "CC-{FY}-{000}"),
            ("Delete", "Not used", "NU-{FY}-{000}"),
        ] {
            self.master("numberSeries", verb, json!({"type": "journal", "name": name, "pattern": pattern}));
        }
        for (verb, date) in [("Get", "2026-10-21"), ("Update", "2026-10-22"), ("Delete", "2026-10-23")] {
            self.master(
                "exchangeRates",
                verb,
                json!({"currency": "USD", "date": date, "rate": "0.9150", "source": "ECB"}),
            );
        }
    }

    fn of_books(&mut self) {
        // Years before the books began.
        for (verb, year) in [("Reopen", 2011), ("Close", 2012), ("Get", 2013), ("Delete", 2014), ("Update", 2016)] {
            let day = |month, day| Day::new(year, month, day);
            let made = self.master(
                "fiscalYears",
                verb,
                json!({"name": year.to_string(), "start": day(1, 1), "end": day(12, 31)}),
            );
            if verb == "Reopen" {
                self.script.act("fiscalYearsClose", made.id(), Value::Null);
            }
        }
        let body = json!({"lockDate": "2010-12-31", "reason": "What was before is somebody else's"});
        self.script.make_named("locksCreate", named::id("locksGet"), body);
    }

    fn of_people(&mut self) {
        let grants = json!([
            {"resource": "party", "actions": ["view"]}, {"resource": "item", "actions": ["view"]},
            {"resource": "salesInvoice", "actions": ["view", "create", "post"]}
        ]);
        let limits = json!({"maxDocumentAmount": 500, "backdateDays": 1});
        for (verb, name) in [("Get", "Counter"), ("Update", "Back office"), ("Delete", "Helpers")] {
            let limits = if verb == "Get" { limits.clone() } else { Value::Null };
            let body = json!({"name": name, "description": "Sells small things at the counter.", "grants": grants, "limits": limits});
            self.master("permissions", verb, body);
        }
        let jo = json!({
            "email": crate::JO.0, "displayName": "Jo Harbour", "password": crate::JO.1, "status": "active", "memberships": membership(role("owner"))
        });
        self.master("users", "Get", jo);
        for (verb, email, name, of) in [
            ("Update", "tove@harbour.example", "Tove Lind", role("bookkeeper")),
            ("Delete", "otto@harbour.example", "Otto Brandt", role("cashier")),
            ("InviteAgain", "rasmus@harbour.example", "Rasmus Holm", role("warehouse")),
            ("Counter", "carla@harbour.example", "Carla Meier", json!(PERMISSION)),
        ] {
            self.master("users", verb, json!({"email": email, "displayName": name, "memberships": membership(of)}));
        }
        for (verb, name) in [("Get", "Price tags"), ("Delete", "Old till")] {
            self.master("apiKeys", verb, json!({"name": name, "scopes": [{"resource": "item", "actions": ["view"]}]}));
        }
        for verb in ["Get", "Update", "Delete", "Test", "RotateSecret", "Replay", "Redeliver"] {
            let body = json!({"url": format!("https://shop.example/hooks/{}", verb.to_lowercase()), "types": ["salesInvoice.*"], "status": "paused"});
            self.master("webhooks", verb, body);
        }
    }
}

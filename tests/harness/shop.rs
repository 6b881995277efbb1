//! Words for buying and selling: a company that is asked in one dialect, and what its documents posted.

use super::server::{Company, Said};
use super::{Dialect, Server};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub struct Shop<'s> {
    pub company: Company<'s>,
    pub dialect: Dialect,
    pub customer: String,
    pub supplier: String,
}

/// An amount in hundredths.
pub fn cents(value: &Value) -> i64 {
    let text = value.to_string();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.as_str()),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "00"));
    let cents: i64 = format!("{whole}{fraction:0<2}").parse().unwrap_or_else(|_| panic!("{text} is no amount"));
    if negative { -cents } else { cents }
}

pub fn shown_cents(cents: i64) -> String {
    format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100)
}

impl<'s> Shop<'s> {
    pub fn open(server: &'s Server, dialect: Dialect) -> Self {
        Self::with(server, dialect, json!({}))
    }

    /// A company of its own with these settings.
    pub fn with(server: &'s Server, dialect: Dialect, settings: Value) -> Self {
        let company = server.company_like(json!({"name": "A shop", "baseCurrency": "EUR", "settings": settings}));
        let customer = company.party(json!({"name": "Customer"}))["id"].as_str().unwrap().to_owned();
        let supplier = json!({"name": "Supplier", "isCustomer": false, "isSupplier": true});
        let supplier = company.party(supplier)["id"].as_str().unwrap().to_owned();
        Self { company, dialect, customer, supplier }
    }

    pub fn ask(&self, method: &str, resource: &str, path: &str, body: Option<&Value>) -> Said {
        self.company.ask(self.dialect, method, resource, path, body)
    }

    pub fn make(&self, resource: &str, body: &Value) -> Value {
        self.ask("POST", resource, "", Some(body)).expect(201).data
    }

    pub fn get(&self, resource: &str, record: &Value) -> Value {
        self.ask("GET", resource, &format!("/{}", id(record)), None).expect(200).data
    }

    pub fn act(&self, method: &str, resource: &str, record: &Value, action: &str, body: Option<&Value>) -> Said {
        self.ask(method, resource, &format!("/{}/{action}", id(record)), body)
    }

    /// A tax code whose components are named with their rates.
    pub fn tax(&self, code: &str, components: Value) -> String {
        self.make("taxCodes", &json!({"code": code, "name": code, "components": components}))["id"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    pub fn vat(&self, rate: &str) -> String {
        self.tax(&format!("VAT{rate}"), json!([{"name": "VAT", "rate": rate}]))
    }

    pub fn item(&self, body: Value) -> String {
        let mut item = json!({"name": "Goods", "type": "stock"});
        item.as_object_mut().unwrap().extend(body.as_object().cloned().unwrap_or_default());
        self.make("items", &item)["id"].as_str().unwrap().to_owned()
    }

    pub fn sale(&self, date: &str, lines: Value) -> Value {
        self.make("salesInvoices", &json!({"date": date, "partyId": self.customer, "lines": lines}))
    }

    pub fn purchase(&self, date: &str, lines: Value) -> Value {
        self.make("purchaseInvoices", &json!({"date": date, "partyId": self.supplier, "lines": lines}))
    }

    /// The body of a receipt from the customer into the bank.
    pub fn receipt(&self, date: &str, amount: &str) -> Value {
        json!({"date": date, "partyId": self.customer, "accountId": self.company.account("1010"), "amount": amount})
    }

    pub fn payment(&self, date: &str, amount: &str) -> Value {
        json!({"date": date, "partyId": self.supplier, "accountId": self.company.account("1010"), "amount": amount})
    }

    /// What all entries of a document come to, account by account; a credit is negative.
    pub fn posted(&self, document: &Value) -> Vec<String> {
        let mut sums: BTreeMap<String, i64> = BTreeMap::new();
        for entry in self.company.entries_of(id(document)) {
            for line in entry["lines"].as_array().unwrap() {
                let sum = sums.entry(line["accountCode"].as_str().unwrap().to_owned()).or_default();
                *sum += cents(&line["debit"]) - cents(&line["credit"]);
            }
        }
        sums.retain(|_, sum| *sum != 0);
        sums.into_iter().map(|(code, sum)| format!("{code} {}", shown_cents(sum))).collect()
    }

    /// Quantity and value of an item's stock.
    pub fn stock(&self, item: &str) -> (String, String) {
        let item = self.ask("GET", "items", &format!("/{item}"), None).expect(200).data;
        (item["quantityOnHand"].to_string(), item["stockValue"].to_string())
    }

    pub fn void(&self, resource: &str, record: &Value) -> Value {
        self.act("POST", resource, record, "void", None).expect(200).data
    }

    pub fn proves(&self) {
        assert_eq!(self.company.failed_checks(), Vec::<String>::new());
    }
}

pub fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap_or_else(|| panic!("no identifier in {record}"))
}

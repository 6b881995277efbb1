//! A company with what documents need, and what its clients ask of it.

use crate::Result;
use crate::client::request;
use crate::load::Asked;
use crate::place::{Raw, Server};
use crate::template::Template;
use ledger_core::ids::{BusinessId, RecordId};
use serde_json::{Value, json};

/// A company with a customer, a tax code and goods on its shelf.
pub(crate) struct Shop {
    pub(crate) id: String,
    pub(crate) tax: String,
    /// An invoice of three lines with tax.
    pub(crate) body: String,
    /// One of goods and of a service.
    goods: String,
}

impl Shop {
    pub(crate) async fn open(server: &Server, name: &str) -> Result<Self> {
        let (id, _) = server.company(name).await?;
        let made = async |path: &str, body: Value| -> Result<String> {
            let made = server.ask("POST", path, Some(&id), &body.to_string()).await?;
            Ok(made["id"].as_str().ok_or("no identifier")?.to_owned())
        };
        let customer = made("/b/api/parties", json!({"name": "Customer", "isCustomer": true})).await?;
        let components = json!([{"name": "VAT", "rate": 19}]);
        let tax = made("/b/api/tax-codes", json!({"code": "VAT19", "name": "VAT", "components": components})).await?;
        let item = made("/b/api/items", json!({"name": "Beans", "type": "stock", "salePrice": "18.50"})).await?;
        let there = json!({"itemId": item, "quantityDelta": 9_000_000, "unitCost": "9.00"});
        let opening = json!({"date": "2026-01-01", "reason": "opening", "lines": [there]});
        made("/b/api/stock-adjustments", opening).await?;
        let line = |words: &str, quantity: i64, price: &str| json!({"description": words, "quantity": quantity, "unitPrice": price, "taxCodeId": tax});
        let lines = [line("Espresso beans", 10, "18.50"), line("Grinder", 1, "249.00"), line("Delivery", 1, "4.90")];
        let invoice = |lines: &Value| {
            json!({"date": "2026-03-10", "partyId": customer, "reference": "PO-4711", "lines": lines}).to_string()
        };
        let of_goods = json!({"itemId": item, "quantity": 1, "unitPrice": "18.50", "taxCodeId": tax});
        let (body, goods) = (invoice(&json!(lines)), invoice(&json!([of_goods, line("Travel", 2, "40.00")])));
        Ok(Self { id, tax, body, goods })
    }

    pub(crate) async fn template(&self, server: &Server, raw: &Raw) -> Result<Template> {
        let made = server.ask("POST", "/b/api/sales-invoices", Some(&self.id), &self.body).await?;
        let parse = |text: &str| RecordId::parse(text).ok_or("no identifier");
        let business = BusinessId::parse(&self.id).ok_or("no identifier")?;
        let turn = raw.turn().await?;
        let template = Template::read(&turn.session, business, parse(made["id"].as_str().unwrap_or_default())?).await;
        turn.keep().await?;
        template
    }

    pub(crate) fn get(&self, server: &Server, path: &str) -> Vec<u8> {
        request("GET", path, Some(&server.token), Some(&self.id), "")
    }

    fn posting(&self, server: &Server, body: &str) -> Vec<u8> {
        request("POST", "/b/api/sales-invoices", Some(&server.token), Some(&self.id), body)
    }

    /// Posting invoices of three lines.
    pub(crate) fn posts(&self, server: &Server) -> Asked {
        Asked::of(vec![self.posting(server, &self.body)], 201)
    }

    /// Posting invoices of goods.
    pub(crate) fn posts_goods(&self, server: &Server) -> Asked {
        Asked::of(vec![self.posting(server, &self.goods)], 201)
    }

    /// Asking for one thing again and again.
    pub(crate) fn reads(&self, server: &Server, path: &str) -> Asked {
        Asked::of(vec![self.get(server, path)], 200)
    }
}

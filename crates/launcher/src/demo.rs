//! `--demo`: a sample company in a database that is thrown away, entered like any other data.

use ledger_core::access::Principal;
use ledger_core::auth::{Credentials, LoginName, NewUser};
use ledger_core::books::audit::Origin;
use ledger_core::cx::Expectation;
use ledger_core::error::{Error, Result};
use ledger_core::fair::present;
use ledger_core::ledger::{Call, Errand, Ledger, Reply};
use ledger_core::resource::Resource;
use ledger_core::resource::account::Accounts;
use ledger_core::resource::business::Businesses;
use ledger_core::resource::contra_entry::ContraEntries;
use ledger_core::resource::delivery_note::DeliveryNotes;
use ledger_core::resource::item::Items;
use ledger_core::resource::journal::Journals;
use ledger_core::resource::operation::Verb;
use ledger_core::resource::party::Parties;
use ledger_core::resource::payment::Payments;
use ledger_core::resource::purchase_invoice::PurchaseInvoices;
use ledger_core::resource::purchase_order::PurchaseOrders;
use ledger_core::resource::receipt::Receipts;
use ledger_core::resource::receipt_note::ReceiptNotes;
use ledger_core::resource::registry::operations;
use ledger_core::resource::sales_invoice::SalesInvoices;
use ledger_core::resource::sales_order::SalesOrders;
use ledger_core::resource::tax_code::TaxCodeRecords;
use serde_json::{Map, Value, json};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const EMAIL: &str = "demo@duet.example";
pub(crate) const PASSWORD: &str = "two voices, one book";

/// A folder that lives as long as the demo.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn make() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("duet-demo-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// The demo's own data folder, and nobody's database but the one in it.
    pub(crate) fn overrides(&self, said: &[(String, String)]) -> Vec<(String, String)> {
        let database = format!("sqlite:{}/demo.db", self.0.display());
        [("Data", self.0.display().to_string()), ("ConnectionStrings:Default", database)]
            .into_iter()
            .filter(|(key, _)| !said.iter().any(|(named, _)| named == key))
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

/// Loads the sample company; a database that has users already is left as it is.
pub(crate) async fn load(ledger: &Arc<Ledger>) -> Result<()> {
    let user = NewUser {
        email: EMAIL.into(),
        username: Some("demo".into()),
        display_name: "Demo".into(),
        password: String::new(),
        must_change_password: false,
        is_system_admin: true,
    };
    if ledger.bootstrap(user, Some(PASSWORD.into())).await?.is_none() {
        return Ok(());
    }
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let credentials = Credentials { name: EMAIL.into(), password: PASSWORD.into(), totp_code: None };
    let origin = Origin { address: Some(here), ..Origin::default() };
    let session = ledger.login(LoginName::Email, credentials, &origin, None).await?;
    let principal = ledger.authenticate(&session.token, None, None).await?;
    let company = create::<Businesses>(ledger, &principal, None, &Businesses::example()).await?;
    let mut known = Vec::new();
    for party in parties() {
        known.push(create::<Parties>(ledger, &principal, Some(company.clone()), &party).await?);
    }
    // The hotel comes second.
    let customer = known.get(1).cloned().unwrap_or_default();
    let accounts = accounts(ledger, &principal, &company).await?;
    for journal in a_year_of_journals(&accounts) {
        create::<Journals>(ledger, &principal, Some(company.clone()), &journal).await?;
    }
    // The roastery comes first among the suppliers.
    let supplier = known.get(6).cloned().unwrap_or_default();
    a_year_of_trade(ledger, &principal, &company, &accounts, (&customer, &supplier)).await?;
    for month in 1..=12 {
        let body = json!({
            "date": format!("2026-{month:02}-26"), "narration": "Takings to the bank", "amount": 5000,
            "fromAccountId": accounts["1000"], "toAccountId": accounts["1010"]
        });
        create::<ContraEntries>(ledger, &principal, Some(company.clone()), &body).await?;
    }
    Ok(())
}

async fn create<R: Resource>(
    ledger: &Arc<Ledger>,
    principal: &Principal,
    business: Option<String>,
    body: &Value,
) -> Result<String> {
    let call = call::<R>(Verb::Create, business, Vec::new(), body.to_string().into_bytes());
    let reply = answered(ledger, principal, call).await?;
    reply.record.map(|(id, _)| id.to_string()).ok_or_else(|| Error::internal("a created record has no identifier"))
}

async fn answered(ledger: &Arc<Ledger>, principal: &Principal, call: Call) -> Result<Reply> {
    match call.sorted() {
        Errand::Write(call) => ledger.write_down(principal, call).await,
        Errand::Read(call) => {
            let (ledger, principal) = (ledger.clone(), principal.clone());
            let work = present(Duration::from_mins(1), |waits| {
                Box::pin(async move { ledger.read(waits, &principal, call).await })
            });
            work.await?.whole()
        }
    }
}

fn call<R: Resource>(verb: Verb, business: Option<String>, query: Vec<(String, String)>, body: Vec<u8>) -> Call {
    Call {
        resource: operations::<R>(),
        verb,
        business,
        id: None,
        query,
        body,
        expectation: Expectation::Unsaid,
        idempotency_key: None,
        origin: Origin::default(),
        agent: None,
        listens: false,
    }
}

/// The identifiers of the company's accounts by their codes.
async fn accounts(ledger: &Arc<Ledger>, principal: &Principal, company: &str) -> Result<Map<String, Value>> {
    let all = vec![("pageSize".to_owned(), "500".to_owned())];
    let reply =
        answered(ledger, principal, call::<Accounts>(Verb::List, Some(company.into()), all, Vec::new())).await?;
    let page: Value = serde_json::from_str(&reply.json).map_err(Error::internal)?;
    let accounts = page["items"].as_array().into_iter().flatten();
    Ok(accounts.map(|one| (one["code"].as_str().unwrap_or_default().to_owned(), one["id"].clone())).collect())
}

/// What a small wholesaler of coffee books by hand in a year.
fn a_year_of_journals(accounts: &Map<String, Value>) -> Vec<Value> {
    let line = |code: &str, side: &str, amount: i32| json!({"accountId": accounts[code], side: amount});
    let journal = |date: String, narration: &str, lines: Vec<Value>| json!({"date": date, "narration": narration, "lines": lines});
    let opening = vec![line("1010", "debit", 18_500), line("1600", "debit", 7_200), line("3000", "credit", 20_000)];
    let mut year = vec![journal("2026-01-01".into(), "What there was before", opening)];
    year[0]["kind"] = "opening".into();
    for month in 1..=12 {
        let takings = 5_200 + 310 * ((month * 7) % 5);
        let day = |day: i32| format!("2026-{month:02}-{day:02}");
        year.extend([
            journal(day(3), "Rent", vec![line("6200", "debit", 1_200), line("1010", "credit", 1_200)]),
            journal(
                day(12),
                "Takings of the shop",
                vec![line("1000", "debit", takings), line("4000", "credit", takings)],
            ),
            journal(
                day(25),
                "Wages",
                vec![line("6100", "debit", 2_800), line("2600", "credit", 620), line("1010", "credit", 2_180)],
            ),
        ]);
        let mut power = journal(
            day(28),
            "Electricity, not billed yet",
            vec![line("6300", "debit", 95), line("2500", "credit", 95)],
        );
        let next = if month == 12 { "2027-01-01".into() } else { format!("2026-{:02}-01", month + 1) };
        (power["kind"], power["reverseOn"]) = ("accrual".into(), Value::String(next));
        year.push(power);
    }
    year
}

/// Beans bought and sold, month by month: bills and invoices, most of them paid.
async fn a_year_of_trade(
    ledger: &Arc<Ledger>,
    principal: &Principal,
    company: &str,
    accounts: &Map<String, Value>,
    (customer, supplier): (&str, &str),
) -> Result<()> {
    let company = Some(company.to_owned());
    let vat = json!({"code": "VAT19", "name": "VAT 19 %", "components": [{"name": "VAT", "rate": 19}]});
    let vat = create::<TaxCodeRecords>(ledger, principal, company.clone(), &vat).await?;
    let mut beans = Items::example();
    (beans["salesTaxCodeId"], beans["purchaseTaxCodeId"]) = (vat.clone().into(), vat.clone().into());
    let beans = create::<Items>(ledger, principal, company.clone(), &beans).await?;
    let course = json!({"name": "Barista course", "code": "COURSE", "type": "service", "unit": "day", "salePrice": 390, "salesTaxCodeId": vat});
    let course = create::<Items>(ledger, principal, company.clone(), &course).await?;
    for (month, cost) in (1..=12).zip(["9.25", "9.60", "9.40", "9.10"].into_iter().cycle()) {
        let day = |day: i32| format!("2026-{month:02}-{day:02}");
        let bill = json!({
            "date": day(5), "partyId": supplier, "reference": format!("R-{}", 8_100 + month),
            "lines": [{"itemId": beans, "quantity": 160, "unitPrice": cost}]
        });
        let bill = create::<PurchaseInvoices>(ledger, principal, company.clone(), &bill).await?;
        let sale = json!({
            "date": day(14), "partyId": customer,
            "lines": [{"itemId": beans, "quantity": 120 + month, "unitPrice": "18.50"}, {"itemId": course, "quantity": 1, "discountPercent": 10}]
        });
        let sale = create::<SalesInvoices>(ledger, principal, company.clone(), &sale).await?;
        // The last month is still open, and so is part of the one before.
        if month == 12 {
            continue;
        }
        let part = if month == 11 { 1_000 } else { 2_500 };
        let receipt = json!({
            "date": day(27), "partyId": customer, "accountId": accounts["1010"], "amount": part,
            "allocations": [{"targetId": sale, "amount": part}]
        });
        create::<Receipts>(ledger, principal, company.clone(), &receipt).await?;
        let payment = json!({
            "date": day(28), "partyId": supplier, "accountId": accounts["1010"], "amount": 1_600,
            "allocations": [{"targetId": bill, "amount": 1_600}]
        });
        create::<Payments>(ledger, principal, company.clone(), &payment).await?;
    }
    orders(ledger, principal, company, (&beans, customer, supplier)).await
}

/// Orders of the last months: one is done, one is delivered in part, one waits; and goods that are not yet billed.
async fn orders(
    ledger: &Arc<Ledger>,
    principal: &Principal,
    company: Option<String>,
    (beans, customer, supplier): (&str, &str, &str),
) -> Result<()> {
    for (month, delivered, invoiced) in [(10, 40, 40), (11, 25, 10), (12, 0, 0)] {
        let day = |day: i32| format!("2026-{month}-{day:02}");
        let lines = |quantity: i32| json!([{"itemId": beans, "quantity": quantity, "unitPrice": "17.90"}]);
        let order = json!({
            "date": day(2), "partyId": customer, "expectedDate": day(20), "customerReference": format!("B-{month}"),
            "lines": lines(40)
        });
        let order = create::<SalesOrders>(ledger, principal, company.clone(), &order).await?;
        if delivered == 0 {
            continue;
        }
        let note = json!({"date": day(16), "partyId": customer, "salesOrderId": order, "lines": lines(delivered)});
        let note = create::<DeliveryNotes>(ledger, principal, company.clone(), &note).await?;
        let bill = json!({"date": day(18), "partyId": customer, "deliveryNoteIds": [note], "lines": lines(invoiced)});
        create::<SalesInvoices>(ledger, principal, company.clone(), &bill).await?;
    }
    let lines = |quantity: i32| json!([{"itemId": beans, "quantity": quantity}]);
    let order = json!({"date": "2026-12-08", "partyId": supplier, "lines": lines(200)});
    let order = create::<PurchaseOrders>(ledger, principal, company.clone(), &order).await?;
    let note = json!({
        "date": "2026-12-15", "partyId": supplier, "purchaseOrderId": order, "supplierDeliveryNumber": "LS-2026-118",
        "lines": lines(120)
    });
    create::<ReceiptNotes>(ledger, principal, company, &note).await?;
    Ok(())
}

fn parties() -> Vec<Value> {
    let customers = ["Alsterblick Hotel", "Bergmann & Söhne", "Café Morgenrot", "Deichgraf Events", "Fährhaus Kantine"];
    let suppliers = ["Kaffeerösterei Speicherstadt", "Papier Thomsen", "Stadtwerke Nord", "Zenith Logistics"];
    let party = |(index, name): (usize, &&str), prefix: &str, is_customer: bool| {
        json!({
            "name": name,
            "code": format!("{prefix}-{:04}", 1002 + index),
            "isCustomer": is_customer,
            "isSupplier": !is_customer,
            "currency": "EUR",
            "paymentTermDays": if is_customer { 14 } else { 30 },
            "billingAddress": { "city": "Hamburg", "country": "DE" }
        })
    };
    let mut all = vec![Parties::example()];
    all.extend(customers.iter().enumerate().map(|one| party(one, "C", true)));
    all.extend(suppliers.iter().enumerate().map(|one| party(one, "S", false)));
    all
}

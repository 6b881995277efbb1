//! What became overdue is told once, of what is in the books and open, and of what was due of late.
#![cfg(test)]

use super::*;
use crate::day::Day;
use ::books::access::{self, Seat};
use ::books::audit::AuditAction;
use ::books::cx::Cx;
use documents::overdue;
use documents::purchase_invoice::PurchaseInvoices;
use documents::sales_invoice::SalesInvoices;
use kit::changes::of_action;
use schema::tables::DocumentKind;
use serde_json::json;

const DAY: i64 = 24 * HOUR;

/// A company with a party that it sells to and buys of.
struct Bills<'l> {
    books: Kept<'l>,
    business: BusinessId,
    party: String,
    made: Vec<RecordId>,
}

impl<'l> Bills<'l> {
    async fn begin(ledger: &'l Arc<Ledger>) -> Self {
        let books = begin(ledger).await;
        let place = (Some(books.company.clone()), None);
        let body = r#"{"name": "Elbe Books", "isCustomer": true, "isSupplier": true}"#;
        let party = create(ledger, &books.principal, operations::<Parties>(), place, body).await.unwrap();
        let business = BusinessId::parse(&books.company).unwrap();
        Self { books, business, party: party.record.unwrap().0.to_string(), made: Vec::new() }
    }

    /// One that was due so many days before the day on which the clock of tests begins.
    async fn bill(&mut self, resource: &'static ResourceOperations, days: i64, status: &str) -> RecordId {
        let due = Day::new(2026, 11, 20).unwrap().plus_days(-days);
        let body = json!({
            "date": "2026-09-01", "dueDate": due, "partyId": self.party, "status": status,
            "lines": [{"description": "Work", "unitPrice": 100}]
        });
        let place = (Some(self.books.company.clone()), None);
        let made = create(self.books.ledger, &self.books.principal, resource, place, &body.to_string()).await.unwrap();
        let id = made.record.unwrap().0;
        self.made.push(id);
        id
    }

    /// What the log says is overdue, in its order, and the day that it was due.
    async fn told(&self) -> Vec<(RecordId, String)> {
        let ledger = self.books.ledger;
        let facts = access::seen_from(&ledger.database.read, self.business, Seat::owner()).await.unwrap();
        let cx = Cx::reading(ledger.of_ourselves(&facts), &ledger.database.read);
        let rows = of_action(&cx, AuditAction::Overdue, self.made.iter().copied()).await.unwrap();
        let due = |note: &str| {
            serde_json::from_str::<serde_json::Value>(note).unwrap()["dueDate"].as_str().unwrap().to_owned()
        };
        rows.iter().map(|row| (row.resource_id, due(row.recorded().unwrap().note.unwrap().get()))).collect()
    }

    async fn look(&self) -> Vec<RecordId> {
        self.books.ledger.tell_overdue(self.business).await.unwrap();
        self.told().await.into_iter().map(|(id, _)| id).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_became_overdue_of_late_is_told() {
    let place = Place::new("overdue");
    let ledger = place.open().await;
    let mut bills = Bills::begin(&ledger).await;
    let mut expected = Vec::new();
    for (resource, days, status, is_told) in [
        (operations::<SalesInvoices>(), 31, "posted", true),
        (operations::<SalesInvoices>(), 1, "posted", true),
        (operations::<SalesInvoices>(), 32, "posted", false),
        (operations::<SalesInvoices>(), 0, "posted", false),
        (operations::<SalesInvoices>(), -1, "posted", false),
        (operations::<SalesInvoices>(), 5, "draft", false),
        (operations::<PurchaseInvoices>(), 31, "posted", true),
        (operations::<PurchaseInvoices>(), 1, "posted", true),
        (operations::<PurchaseInvoices>(), 32, "posted", false),
        (operations::<PurchaseInvoices>(), 0, "posted", false),
    ] {
        let id = bills.bill(resource, days, status).await;
        expected.extend(is_told.then_some(id));
    }
    assert_eq!(bills.look().await, expected);
    assert_eq!(bills.look().await, expected, "once");
    // A day later what was due on the day before is overdue as well, of the sales first.
    ledger.clock.set_by(DAY);
    let more = bills.look().await;
    assert_eq!(more[..expected.len()], expected);
    assert_eq!(more[expected.len()..], [bills.made[3], bills.made[9]]);
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_one_portion_is_told_and_where_another_was_faster_nothing_is_told_twice() {
    let place = Place::new("portions");
    let ledger = place.open().await;
    let mut bills = Bills::begin(&ledger).await;
    let mut ids = Vec::new();
    // Some were due on one day, so that portions end within it.
    for days in [9, 9, 9, 9, 9, 8, 7, 7] {
        ids.push(bills.bill(operations::<SalesInvoices>(), days, "posted").await);
    }
    // Another process has told of some that this one has read already.
    let seen = ids[..3].to_vec();
    ledger.note_overdue(bills.business, DocumentKind::SalesInvoice, seen.clone()).await.unwrap();
    assert_eq!(bills.told().await.len(), 3);
    ledger.note_overdue(bills.business, DocumentKind::SalesInvoice, seen).await.unwrap();
    assert_eq!(bills.told().await.len(), 3, "it is judged where it is written");
    let mut told = bills.look().await;
    told.sort();
    assert_eq!(told, ids);
    assert!(bills.told().await.iter().all(|(id, due)| {
        let place = ids.iter().position(|one| one == id).unwrap();
        due == if place < 5 {
            "2026-11-11"
        } else if place < 6 {
            "2026-11-12"
        } else {
            "2026-11-13"
        }
    }));
    let facts = access::seen_from(&ledger.database.read, bills.business, Seat::owner()).await.unwrap();
    let cx = Cx::reading(ledger.of_ourselves(&facts), &ledger.database.read);
    let found = overdue::look(&cx, DocumentKind::SalesInvoice, None).await.unwrap();
    assert!(
        found.untold.is_empty() && found.next.is_some(),
        "what was told is passed over portion by portion: {found:?}"
    );
    ledger.close().await;
}

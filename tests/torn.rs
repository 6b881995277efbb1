//! What is stored and does not unpack, or stands in another's place: it is told, with where it is, and nothing else is lost
//! by it.

use crate::audit::{log, unguarded};
use crate::harness::books::behind_the_back;
use crate::harness::server::{DIALECTS, Said};
use crate::harness::shop::{Shop, id};
use crate::harness::{Company, Dialect, Engine, Server, on_both_engines};
use crate::seals::{Place, start};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

/// Books of a company whose records are read by every door.
struct Kept<'s> {
    own: &'s Server,
    company: Company<'s>,
    place: Place,
    business: String,
    sold: Value,
    other: Value,
}

impl<'s> Kept<'s> {
    fn of(own: &'s Server) -> Self {
        let shop = Shop::open(own, Dialect::B);
        let vat = shop.vat("20");
        let sale = |day: &str| shop.sale(day, json!([{"unitPrice": 100, "taxCodeId": vat}]));
        let (sold, other) = (sale("2026-03-05"), sale("2026-03-06"));
        let piece = json!({"date": "2026-03-21", "lines": [{"lineId": sold["lines"][0]["id"], "quantity": 1}]});
        shop.act("POST", "salesInvoices", &sold, "credit-notes", Some(&piece)).expect(201);
        let place = Place::of(own);
        let business = place.identifier(&shop.company.id);
        behind_the_back(own, &unguarded(own.engine)).unwrap();
        Self { own, company: shop.company, place, business, sold, other }
    }

    /// Where in the log a document is kept.
    fn record(&self, of: &Value) -> String {
        let id = self.place.identifier(id(of));
        self.place.texts(&format!("SELECT CAST(record AS TEXT) AS text FROM documents WHERE id = {id}")).remove(0)
    }

    /// What stands at a place of the log, as digits.
    fn stands(&self, sequence: &str) -> String {
        let digits = if self.place.is_postgres() { "encode(record, 'hex')" } else { "hex(record)" };
        let sql = format!(
            "SELECT {digits} AS text FROM audit_log WHERE business_id = {} AND sequence = {sequence}",
            self.business
        );
        self.place.texts(&sql).remove(0)
    }

    fn bytes(&self, digits: &str) -> String {
        if self.place.is_postgres() { format!("'\\x{digits}'") } else { format!("X'{digits}'") }
    }

    fn puts(&self, sequence: &str, record: &str) {
        self.place.run(&format!(
            "UPDATE audit_log SET record = {record} WHERE business_id = {} AND sequence = {sequence}",
            self.business
        ));
    }

    fn get(&self, dialect: Dialect, of: &Value) -> Said {
        self.company.ask(dialect, "GET", "salesInvoices", &format!("/{}", id(of)), None)
    }

    /// That what columns say is answered of both documents, on a page and of each by itself: nothing is unpacked for that.
    /// Nobody has asked like this before, so nothing is answered again.
    fn is_outlined(&self, dialect: Dialect) {
        static ASKED: AtomicU32 = AtomicU32::new(200);
        let size = ASKED.fetch_add(1, Ordering::Relaxed);
        for chosen in ["view=summary", "fields=id,number,total"] {
            let page = format!("?pageSize={size}&{chosen}");
            let page = self.company.ask(dialect, "GET", "salesInvoices", &page, None).expect(200).data;
            for of in [&self.sold, &self.other] {
                let rows = page["items"].as_array().unwrap();
                let row =
                    rows.iter().find(|row| row["id"] == of["id"]).unwrap_or_else(|| panic!("{} in {page}", id(of)));
                assert_eq!((&row["number"], &row["total"]), (&of["number"], &of["total"]), "{row}");
                let path = format!("/{}?{chosen}", id(of));
                assert_eq!(&self.company.ask(dialect, "GET", "salesInvoices", &path, None).expect(200).data, row);
            }
            // What is asked of the body as well is refused with it.
            let page = format!("?pageSize={size}&fields=number,partyName");
            let said = self.company.ask(dialect, "GET", "salesInvoices", &page, None).expect(500);
            assert_eq!(said.code.as_deref(), Some("tampered"));
        }
    }

    /// That what is kept of the first document is told to be another's or torn by whoever reads it, and the other is read.
    fn is_told(&self, why: &str) {
        for dialect in DIALECTS {
            let said = self.get(dialect, &self.sold).expect(500);
            assert_eq!(said.code.as_deref(), Some("tampered"), "{why}");
            assert!(said.title.contains("duet verify"), "{}", said.title);
            let listed = self.company.ask(dialect, "GET", "salesInvoices", "", None).expect(500);
            assert_eq!(listed.code.as_deref(), Some("tampered"), "{why}");
            self.get(dialect, &self.other).expect(200);
            self.is_outlined(dialect);
            let path = format!("/{}", id(&self.sold));
            let change = self.company.ask(dialect, "PUT", "salesInvoices", &path, Some(&self.sold)).expect(500);
            assert_eq!(change.code.as_deref(), Some("tampered"), "{why}");
        }
        let (said, business) = (self.own.log(), &self.company.id);
        let told = said
            .lines()
            .any(|line| ["tampered", business, id(&self.sold), why].iter().all(|words| line.contains(words)));
        assert!(told, "{why}: {said}");
    }
}

/// One bit of what stands there is another, far enough in that it begins as it did.
fn flipped(digits: &str) -> String {
    let mut digits: Vec<char> = digits.chars().collect();
    let place = digits.len() / 2;
    let digit = digits[place].to_digit(16).unwrap() ^ 4;
    digits[place] = char::from_digit(digit, 16).unwrap();
    digits.into_iter().collect()
}

on_both_engines! {
    fn a_record_that_does_not_unpack_is_told_with_its_place_and_all_else_is_proved_and_read(server) {
        let own = start(server.engine).unwrap();
        let whole = Shop::open(&own, Dialect::A);
        whole.sale("2026-03-07", json!([{"unitPrice": 100}]));
        let kept = Kept::of(&own);
        let (record, was) = (kept.record(&kept.sold), kept.stands(&kept.record(&kept.sold)));
        let mut tears = vec![
            ("garbage", kept.bytes("03ffffffffff00")),
            ("nothing that was packed", kept.bytes("00")),
            ("no letters", kept.bytes("ff")),
            ("cut off", kept.bytes(&was[..was.len() - 20])),
        ];
        if own.engine == Engine::Sqlite {
            tears.extend([("a number", "7".to_owned()), ("a text", "'~1'".to_owned())]);
        }
        let listed = log(&kept.company, "").len();
        for ((tear, bytes), size) in tears.into_iter().zip(100..) {
            kept.puts(&record, &bytes);
            // The proof says where, and proves the rest.
            let found = kept.place.findings(&kept.company, "V7");
            let told = format!("record {record} is not what was written, and what it says of salesInvoices {} does not unpack", id(&kept.sold));
            assert_eq!(found.iter().filter(|one| **one == told).count(), 1, "{tear}: {found:?}");
            let said = kept.company.say(Dialect::B, kept.company.request_at(Dialect::B, "GET", "verify")).expect(200).data;
            let checks = said["checks"].as_array().unwrap();
            let ok = |check: &str| checks.iter().find(|one| one["id"] == check).unwrap_or_else(|| panic!("{tear}: {check} is not there"))["ok"] == true;
            for check in ["V1", "V3", "V4d", "V5", "V6", "V11", "V15", "T1", "S1"] {
                assert!(ok(check), "{tear}: {check} in {said}");
            }
            for check in ["V7", "T4", "L1"] {
                assert!(!ok(check), "{tear}: {check} in {said}");
            }
            assert!(!checks.iter().any(|one| one["id"] == "V18"), "{tear}: {said}");
            // So does the terminal, and names the company; the other one is whole.
            let proof = own.command(&["verify"], "");
            let text = String::from_utf8_lossy(&proof.stdout).into_owned();
            assert!(proof.status.code() == Some(1) && text.contains(&told) && text.contains(&kept.company.id), "{tear}: {text}");
            let of_whole = text.split(&whole.company.id).nth(1).unwrap().lines().take_while(|line| line.starts_with("  ") || line.contains("  "));
            let of_whole: Vec<&str> = of_whole.skip(1).take_while(|line| line.starts_with(' ')).collect();
            assert!(of_whole.len() > 10 && of_whole.iter().all(|line| line.starts_with("  ok ") || line.starts_with("  digest")), "{tear}: {of_whole:?}");
            // Whoever reads the document is told, and whoever reads the log sees all the others.
            kept.is_told("does not unpack");
            // Nobody has asked like this before, so nothing is answered again.
            for dialect in DIALECTS {
                let page = kept.company.ask(dialect, "GET", "auditLog", &format!("?pageSize={size}"), None).expect(200).data;
                let rows = page["items"].as_array().unwrap();
                assert_eq!(rows.len(), listed, "{tear}");
                for row in rows {
                    let is_torn = row["sequence"] == json!(record.parse::<i64>().unwrap());
                    assert_eq!(row["problem"].is_string(), is_torn, "{tear}: {row}");
                    assert_eq!(row["before"].is_null() && row["after"].is_null(), is_torn, "{tear}: {row}");
                }
                let export = kept.company.request(dialect, "GET", "auditLog", "/export");
                let export = own.send(&export);
                assert_eq!((export.status, export.text.lines().count()), (200, listed), "{tear}");
                let history = kept.company.ask(dialect, "GET", "salesInvoices", &format!("/{}/history?pageSize={size}", id(&kept.sold)), None).expect(200).data;
                assert!(history["items"][0]["problem"].is_string(), "{tear}: {history}");
                kept.company.ask(dialect, "GET", "auditLog", "/verify", None).expect(200);
                kept.company.ask(dialect, "GET", "reports", "/trial-balance", None).expect(200);
            }
        }
        // A bit may leave something that unpacks: the proof tells that as well.
        kept.puts(&record, &kept.bytes(&flipped(&was)));
        let found = kept.place.findings(&kept.company, "V7");
        assert!(found.iter().any(|one| one.starts_with(&format!("record {record} is not what was written"))), "{found:?}");
        kept.puts(&record, &kept.bytes(&was));
        assert_eq!(kept.company.failed_checks(), [""; 0]);
        kept.get(Dialect::A, &kept.sold).expect(200);
    }
}

on_both_engines! {
    fn what_is_kept_of_a_document_is_read_from_its_own_record_and_from_no_other(server) {
        let own = start(server.engine).unwrap();
        let kept = Kept::of(&own);
        let elsewhere = Shop::open(&own, Dialect::A);
        let foreign = elsewhere.sale("2026-03-07", json!([{"unitPrice": 7}]));
        let mut words = kept.sold.clone();
        words["lines"][0]["description"] = "Other words".into();
        let first = kept.record(&kept.sold);
        let path = format!("/{}", id(&kept.sold));
        let changed = kept.company.ask(Dialect::A, "PUT", "salesInvoices", &path, Some(&words)).expect(200).data;
        let record = kept.record(&kept.sold);
        assert_ne!(first, record);
        let was = kept.stands(&record);
        let of_foreign = format!(
            "(SELECT record FROM audit_log WHERE sequence = {} AND resource_id = {})",
            kept.record(&foreign), kept.place.identifier(id(&foreign))
        );
        // Another document's, the same document's of before, another company's.
        let others = [kept.bytes(&kept.stands(&kept.record(&kept.other))), kept.bytes(&kept.stands(&first)), of_foreign];
        for bytes in others {
            kept.puts(&record, &bytes);
            kept.is_told("is another's");
            let failed = kept.company.failed_checks();
            assert!(failed.contains(&"V7".to_owned()) && !failed.contains(&"V18".to_owned()), "{failed:?}");
        }
        kept.puts(&record, &kept.bytes(&was));
        // The record of something of which nothing is kept, and none.
        for bytes in [kept.bytes(&kept.stands("1")), "NULL".to_owned()] {
            kept.puts(&record, &bytes);
            kept.is_told("is gone");
        }
        kept.puts(&record, &kept.bytes(&was));
        // Another place.
        kept.place.run(&format!("UPDATE documents SET record = {} WHERE id = {}", kept.record(&kept.other), kept.place.identifier(id(&kept.sold))));
        kept.is_told("is gone");
        kept.place.run(&format!("UPDATE documents SET record = {record} WHERE id = {}", kept.place.identifier(id(&kept.sold))));
        assert_eq!(kept.get(Dialect::B, &kept.sold).expect(200).data, changed);
        assert_eq!(kept.place.findings(&kept.company, "V7"), [""; 0]);
    }
}

//! The records that examples name: under which identifiers they are, so that the documents, and the demo in which each
//! example is answered, say the same.
//!
//! What is read, and what others refer to, is one record each. What an operation changes, ends or takes away is a record of
//! its own, by the name of the operation: whichever example is tried first finds what it needs. A caller names no record
//! of their own choice; the demo alone is given these.

use crate::ids::RecordId;
pub use schema::named::{entry, line, log};
use serde_json::Value;
use uuid::Uuid;

/// The company that examples are about.
pub const BUSINESS: &str = "019a9f6e-6c00-7a8e-9d1f-0a8f5f1c2b3d";
/// Who is named as the one who did it.
pub const USER: &str = "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03";
pub const PARTY: &str = "019a9f6e-6c00-7b23-8c12-7e9fb0213c23";
pub const ITEM: &str = "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21";
pub const TAX_CODE: &str = "019a9f6e-6c00-7b24-8d13-8fa0c1324d24";
pub const BANK: &str = "019a9f6e-6c00-7f86-9a32-7c9e1d3f5b06";
pub const TILL: &str = "019a9f6e-6c00-7ba8-8c54-9eb03f5b7d08";
pub const RENT: &str = "019a9f6e-6c00-7e75-8f21-6b8d0c2e4a05";
/// A permission set.
pub const PERMISSION: &str = "019a9f6e-6c00-7b2b-9a1a-f60738091b2b";
/// An invoice that is open.
pub const INVOICE: &str = "019a9f6e-6c00-7b29-8218-d4f516879229";
/// A receipt of which something is left.
pub const RECEIPT: &str = "019a9f6e-6c00-7b2a-8319-e506279a832a";
/// A company to try things out in, and one that has nothing in it.
pub const TRIAL: &str = "01900000-0002-7000-8000-000000000001";
pub const EMPTY: &str = "01900000-0002-7000-8000-000000000002";
/// A line of an order or a note, in what is answered; what is asked names one of the record that it is asked of.
pub const LINE: &str = "019a9f6e-6c00-7b22-8b11-6d8eaf102b22";

/// What has an identifier of its own. Everything else has one that its operation's name makes.
const OWN: &[(&str, &str)] = &[
    ("businessesGet", BUSINESS),
    ("businessesUpdate", BUSINESS),
    ("businessesCopy", BUSINESS),
    ("businessesSetClock", TRIAL),
    ("businessesReleaseClock", TRIAL),
    ("businessesEmpty", TRIAL),
    ("businessesDelete", EMPTY),
    ("usersGet", USER),
    ("partiesGet", PARTY),
    ("itemsGet", ITEM),
    ("taxCodesGet", TAX_CODE),
    ("accountsGet", BANK),
    ("permissionsGet", PERMISSION),
    ("salesInvoicesGet", INVOICE),
    ("receiptsGet", RECEIPT),
];

/// What the body of an example has instead, where two of the same would be one too many, or mean something else.
const INSTEAD: &[(&str, &str, &str)] = &[
    ("partiesUpdate", "/code", "C-1002"),
    ("partiesUpsert", "/code", "C-1003"),
    ("itemsUpdate", "/code", "BEANS-2"),
    ("itemsUpdate", "/barcode", "4006381333948"),
    ("itemsUpsert", "/code", "BEANS-3"),
    ("itemsUpsert", "/barcode", "4006381333955"),
    ("accountsUpdate", "/code", "1021"),
    ("accountsUpsert", "/code", "1022"),
    ("taxCodesUpdate", "/code", "VAT16"),
    ("taxCodesUpsert", "/code", "VAT20"),
    ("paymentTermsUpdate", "/name", "30 days, 3 % within 10"),
    ("paymentTermsUpsert", "/name", "30 days, 1 % within 10"),
    ("fiscalYearsUpdate", "/name", "2015"),
    ("fiscalYearsUpdate", "/start", "2015-01-01"),
    ("fiscalYearsUpdate", "/end", "2015-12-31"),
    ("exchangeRatesUpdate", "/date", "2026-10-20"),
    ("numberSeriesUpdate", "/name", "Corrections"),
    ("numberSeriesUpdate", "/pattern", "CO-{FY}-{000}"),
    ("permissionsUpdate", "/name", "Inside sales"),
    ("revaluationsUpdate", "/date", "2026-10-31"),
    ("revaluationsUpsert", "/date", "2026-08-31"),
    ("usersUpdate", "/email", "tove@harbour.example"),
    ("revaluationsVoid", "/date", "2026-01-31"),
    ("paymentsAllocate", "/targetId", "purchaseInvoicesGet"),
    ("debitNotesAllocate", "/targetId", "purchaseInvoicesGet"),
];

/// What a read is asked where it asks for nothing by itself.
const ASKED: &[(&str, &str, &str)] =
    &[("reportsPartyStatement", "partyId", PARTY), ("reportsStockLedger", "itemId", ITEM)];

/// What the example of a read says in its query.
pub fn asked(operation: &str, parameter: &str) -> Option<&'static str> {
    let asked = ASKED.iter().find(|(name, of, _)| *name == operation && *of == parameter);
    asked.map(|(_, _, said)| *said)
}

/// The identifier of the record that a key names.
pub fn text(key: &str) -> String {
    id(key).to_string()
}

/// ... as the books have it.
pub fn id(key: &str) -> RecordId {
    match key {
        "entriesGet" => return entry(id("salesInvoicesGet"), 0),
        // That they were made.
        "auditLogGet" => return log(id("partiesGet"), 0),
        "installationLogGet" => return log(id("businessesGet"), 0),
        _ => {}
    }
    let own = OWN.iter().find(|(name, _)| *name == key).map_or(key, |(_, id)| id);
    if let Some(id) = RecordId::parse(own) {
        return id;
    }
    // FNV-1a, of which as much is taken as there is room for.
    let hash = key
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    RecordId(Uuid::from_u128(0x0190_0000_0001_7000_8000_0000_0000_0000 | u128::from(hash >> 16)))
}

/// Which record the example of an operation is about, and whether the operation only reads.
pub fn of_operation(stem: &str, operation: &str, reads: bool) -> RecordId {
    // A copy leaves what it copies as it is.
    let reads = reads || operation.strip_prefix(stem).is_some_and(|name| name == "Copy" && stem != "businesses");
    if reads { id(&format!("{stem}Get")) } else { id(operation) }
}

/// The body of an operation's example.
pub fn body(operation: &str, mut example: Value) -> Value {
    for (_, pointer, instead) in INSTEAD.iter().filter(|(name, _, _)| *name == operation) {
        if let Some(place) = example.pointer_mut(pointer) {
            *place = if *pointer == "/targetId" { text(instead).into() } else { (*instead).into() };
        }
    }
    if let Some(place) = example.pointer_mut("/lines/0/lineId") {
        *place = line(id(operation), 0).to_string().into();
    }
    example
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_records_have_one_identifier() {
        let keys = ["partiesGet", "partiesUpdate", "salesOrdersDeliver", "salesOrdersInvoice", "salesInvoicesGet"];
        let all = keys.iter().flat_map(|key| [id(key), line(id(key), 0), line(id(key), 1), entry(id(key), 0)]);
        assert_eq!(all.collect::<HashSet<_>>().len(), keys.len() * 4);
        for (_, own) in OWN {
            assert_eq!(RecordId::parse(own).map(|id| id.to_string()).as_deref(), Some(*own));
        }
    }

    #[test]
    fn what_is_made_of_a_name_is_an_identifier_like_others() {
        let id = id("salesInvoicesVoid");
        assert_eq!((id.0.get_version_num(), RecordId::parse(&id.to_string())), (7, Some(id)));
        assert_eq!(line(id, 0).0.get_version_num(), 7);
    }
}

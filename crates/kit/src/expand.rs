//! Records that an answer names, beside it.
//!
//! Owns: which may be asked for by `expand`, and which records a page names. What is answered of a record stays as it is: who
//! reads it may send it back.

use crate::body::Shape;
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::ids::RecordId;
use books::cx::Cx;
use books::database::lane::BoxFuture;
use schema::key::ResourceKey;
use serde_json::Value;
use std::collections::HashSet;
use std::iter;

/// Beside what else is answered.
pub const EXPANDED: &str = "expanded";

/// More paths are asked for in more requests.
const MOST: usize = 5;
/// More records are read as pages of their own.
const MOST_RECORDS: usize = 1_000;

/// Records of a resource by their identifiers, in that order, as a list of JSON.
pub type ByIds = for<'c> fn(&'c Cx<'c>, &'c [RecordId]) -> BoxFuture<'c, Result<String>>;

/// What a member names: one record by its identifier, several by a list of them, or records of which it says a part.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    name: &'static str,
    member: &'static str,
    of: ResourceKey,
}

const NAMED: &[Named] = &[
    Named { name: "party", member: "partyId", of: ResourceKey::Parties },
    Named { name: "item", member: "itemId", of: ResourceKey::Items },
    Named { name: "account", member: "accountId", of: ResourceKey::Accounts },
    Named { name: "taxCode", member: "taxCodeId", of: ResourceKey::TaxCodes },
    Named { name: "paymentTerm", member: "paymentTermId", of: ResourceKey::PaymentTerms },
    Named { name: "entries", member: "entryIds", of: ResourceKey::Entries },
    Named { name: "allocations", member: "allocations", of: ResourceKey::Allocations },
];

/// What may be asked for: what a record names, or what each element of one of its lists does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    within: Option<String>,
    named: &'static Named,
}

/// All that records of a shape name.
pub fn paths(shape: &Shape) -> Vec<Path> {
    let here = |shape: &Shape, within: Option<&str>| {
        let named: Vec<Path> = NAMED
            .iter()
            .filter(|named| shape.has(named.member))
            .map(|named| Path { within: within.map(str::to_owned), named })
            .collect();
        named
    };
    let lists = shape.lists().flat_map(|(name, element)| here(element, Some(name)));
    here(shape, None).into_iter().chain(lists).collect()
}

impl Path {
    pub fn text(&self) -> String {
        match &self.within {
            Some(list) => format!("{list}.{}", self.named.name),
            None => self.named.name.to_owned(),
        }
    }

    /// The resource whose records it names.
    pub fn of(&self) -> ResourceKey {
        self.named.of
    }

    /// The identifiers that stand there in a record.
    fn found<'r>(&'r self, record: &'r Value) -> impl Iterator<Item = &'r str> {
        let list = self.within.as_ref().map(|list| record[list].as_array().into_iter().flatten());
        let own = self.within.is_none().then_some(record);
        let here = own.into_iter().chain(list.into_iter().flatten());
        here.flat_map(|one| identifiers(&one[self.named.member]))
    }

    /// What is missing of the fields that are answered, where its records cannot be found in them.
    fn missing(&self, fields: &Fields) -> Option<String> {
        let member = self.named.member;
        if !fields.shows(self.within.as_deref(), member) {
            return Some(member.to_owned());
        }
        let in_part = self.within.is_none() && !fields.shows(Some(member), "id");
        in_part.then(|| format!("{member}.id"))
    }
}

/// The identifiers that a member has: its own, or those of its elements.
fn identifiers(member: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match member {
        Value::String(id) => Box::new(iter::once(id.as_str())),
        Value::Array(elements) => Box::new(elements.iter().flat_map(identifiers)),
        Value::Object(part) => Box::new(part.get("id").and_then(Value::as_str).into_iter()),
        Value::Null | Value::Bool(_) | Value::Number(_) => Box::new(iter::empty()),
    }
}

/// The paths that are asked for, out of those that there are.
pub fn parse(text: &str, offered: &[Path]) -> Result<Vec<Path>, String> {
    let mut asked: Vec<Path> = Vec::new();
    for part in text.split(',') {
        let Some(path) = offered.iter().find(|path| path.text() == part) else {
            let all: Vec<String> = offered.iter().map(Path::text).collect();
            return Err(format!("must name some of {}, separated by commas", all.join(", ")));
        };
        if asked.contains(path) {
            return Err(format!("names {part} twice"));
        }
        asked.push(path.clone());
    }
    if asked.len() > MOST { Err(format!("must name at most {MOST}")) } else { Ok(asked) }
}

/// Why what is asked for cannot be found: less is answered of a record than names it.
pub fn unseen(paths: &[Path], fields: Option<&Fields>) -> Option<String> {
    let fields = fields?;
    let (hidden, missing) = paths.iter().find_map(|path| Some((path, path.missing(fields)?)))?;
    Some(format!("names {}, of which {missing} is not among the fields that are answered", hidden.text()))
}

/// The records of a resource that are named at some paths, each once, in the order in which they are.
pub fn named(paths: &[Path], of: ResourceKey, records: &[Value]) -> Result<Vec<RecordId>> {
    let mut seen = HashSet::new();
    let all =
        records.iter().flat_map(|record| paths.iter().filter(|path| path.of() == of).map(move |path| (record, path)));
    let all = all.flat_map(|(record, path)| path.found(record)).filter_map(RecordId::parse);
    let named: Vec<RecordId> = all.filter(|id| seen.insert(*id)).collect();
    if named.len() > MOST_RECORDS {
        let why = format!("names more than {MOST_RECORDS} {} on this page; ask for shorter pages", of.stem());
        return Err(Error::field("expand", why));
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;
    use serde::Serialize;
    use serde_json::json;

    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        id: String,
        item_id: Option<String>,
        account_id: Option<String>,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Record {
        id: String,
        version: i64,
        party_id: String,
        lines: Vec<Line>,
        tags: Vec<String>,
        entry_ids: Vec<String>,
        allocations: Vec<Part>,
    }

    #[derive(Serialize, JsonSchema)]
    struct Part {
        id: String,
        amount: i64,
    }

    fn offered() -> Vec<Path> {
        paths(&Shape::of_record::<Record>())
    }

    #[test]
    fn what_a_record_names_may_be_asked_for() {
        let texts: Vec<String> = offered().iter().map(Path::text).collect();
        assert_eq!(texts, ["party", "entries", "allocations", "lines.item", "lines.account"]);
        assert!(parse("party,lines.item", &offered()).is_ok());
        for wrong in ["", "party,", "partyId", "lines", "lines.party", "party,party", "entryIds"] {
            assert!(parse(wrong, &offered()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_record_is_named_once_in_the_order_of_the_page() {
        let id = |number: u128| RecordId(uuid::Uuid::from_u128(number));
        let line = |item: Option<RecordId>| json!({"id": "l", "itemId": item});
        let records = [
            json!({"partyId": id(2), "lines": [line(Some(id(9))), line(None)]}),
            json!({"partyId": id(1), "lines": [line(Some(id(8))), line(Some(id(9)))]}),
            json!({"partyId": id(2), "lines": []}),
        ];
        let asked = parse("party,lines.item", &offered()).unwrap_or_default();
        let found = |of| named(&asked, of, &records).unwrap_or_default();
        assert_eq!(found(ResourceKey::Parties), [id(2), id(1)]);
        assert_eq!(found(ResourceKey::Items), [id(9), id(8)]);
        assert_eq!(found(ResourceKey::Accounts), []);
    }

    #[test]
    fn several_are_named_by_a_list_or_in_part() {
        let id = |number: u128| RecordId(uuid::Uuid::from_u128(number));
        let part = |number| json!({"id": id(number), "amount": 1});
        let records = [
            json!({"entryIds": [id(1), id(2)], "allocations": [part(7)]}),
            json!({"entryIds": [], "allocations": []}),
            json!({"entryIds": [id(3), id(1)], "allocations": [part(8), part(7)]}),
        ];
        let asked = parse("allocations,entries", &offered()).unwrap_or_default();
        let found = |of| named(&asked, of, &records).unwrap_or_default();
        assert_eq!(found(ResourceKey::Entries), [id(1), id(2), id(3)]);
        assert_eq!(found(ResourceKey::Allocations), [id(7), id(8)]);
        let shape = Shape::of_record::<Record>();
        let hidden = |fields: &str| unseen(&asked, Fields::parse(fields, &shape).ok().as_ref());
        assert_eq!(hidden("entryIds,allocations.id"), None);
        assert_eq!(hidden("entryIds,allocations"), None);
        assert!(hidden("allocations").is_some_and(|why| why.contains("entryIds is not among")));
        assert!(hidden("entryIds,allocations.amount").is_some_and(|why| why.contains("allocations.id is not among")));
    }

    #[test]
    fn as_many_are_named_as_are_read_at_once() {
        let line = |number: u128| json!({"id": "l", "itemId": RecordId(uuid::Uuid::from_u128(number))});
        let asked = parse("lines.item", &offered()).unwrap_or_default();
        let page =
            |all: u128| [0, all / 2].map(|from| json!({"lines": (from..from + all / 2).map(line).collect::<Vec<_>>()}));
        let most = u128::try_from(MOST_RECORDS).unwrap_or_default();
        assert_eq!(named(&asked, ResourceKey::Items, &page(most)).map(|all| all.len()).ok(), Some(MOST_RECORDS));
        let refused = named(&asked, ResourceKey::Items, &page(most + 2)).err();
        let is_fault = |error: &Error| {
            let told = format!("{error:?}");
            told.contains("expand") && told.contains("names more than 1000 items on this page; ask for shorter pages")
        };
        assert!(refused.as_ref().is_some_and(is_fault), "{refused:?}");
    }

    #[test]
    fn what_is_not_answered_names_nothing() {
        let shape = Shape::of_record::<Record>();
        let asked = parse("party,lines.item", &offered()).unwrap_or_default();
        let hidden = |fields: &str| unseen(&asked, Fields::parse(fields, &shape).ok().as_ref());
        assert_eq!(hidden("partyId,lines.itemId"), None);
        assert_eq!(hidden("partyId,lines"), None);
        assert!(hidden("partyId,lines.accountId").is_some_and(|why| why.contains("lines.item")));
        assert!(hidden("lines").is_some_and(|why| why.contains("names party")));
        assert_eq!(unseen(&asked, None), None);
    }
}

//! Whatever names another record is judged on every write: nothing of another company is ever kept, nor what nobody has.

use crate::harness::server::{Company, DIALECTS, Said};
use crate::harness::shop::id;
use crate::harness::{Dialect, Request, Server, on_both_engines};
use compare::document::shown;
use ledger_core::resource::operation::{BodyNeed, Method, ResourceOperations, Verb};
use ledger_core::resource::registry::registry;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NOBODYS: &str = "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02";

/// Names that end as those of references do, and are words of the user's own.
const WORDS: [&str; 3] = ["externalId", "peppolId", "batchId"];

/// What the bodies of operations are made of, as the document of a dialect says.
struct Bodies {
    document: Value,
    /// The schema and the example of each operation's body.
    bodies: BTreeMap<String, (Value, Value)>,
}

impl Bodies {
    fn of(server: &Server) -> Self {
        let document = server.send(&Request::new("GET", "/swagger/b/swagger.json")).expect(200).json();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let items = document["paths"].as_object().unwrap().values();
        let operations = items.flat_map(|item| item.as_object().unwrap().values());
        let bodies = operations.filter_map(|operation| {
            let content = operation.pointer("/requestBody/content/application~1json")?;
            let name = operation["operationId"].as_str()?.to_owned();
            Some((name, (content["schema"].clone(), shown(schemas, content).unwrap())))
        });
        Self { bodies: bodies.collect(), document: document.clone() }
    }

    /// Where a body may name another record.
    fn references(&self, operation: &str) -> Vec<String> {
        let mut found = Vec::new();
        if let Some((schema, _)) = self.bodies.get(operation) {
            self.walk(schema, "", &mut found);
        }
        found.sort();
        found.dedup();
        found
    }

    fn walk(&self, schema: &Value, at: &str, found: &mut Vec<String>) {
        if let Some(target) = schema["$ref"].as_str() {
            return self.walk(self.document.pointer(&target[1..]).unwrap(), at, found);
        }
        for several in ["allOf", "anyOf", "oneOf"] {
            schema[several].as_array().into_iter().flatten().for_each(|one| self.walk(one, at, found));
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_reference = name == "id" || name.ends_with("Id") || name.ends_with("Ids");
            if is_reference && !WORDS.contains(&name.as_str()) {
                found.push(format!("{at}/{name}"));
            } else {
                self.walk(property, &format!("{at}/{name}"), found);
            }
        }
        if schema.get("items").is_some() {
            self.walk(&schema["items"], &format!("{at}/0"), found);
        }
    }
}

/// Puts an identifier into a body, with the list or the object around it where there is none.
fn put(body: &mut Value, pointer: &str, id: &str) {
    let mut here = body;
    for step in pointer.split('/').skip(1) {
        if let Ok(place) = step.parse::<usize>() {
            if !here.is_array() {
                *here = json!([]);
            }
            let elements = here.as_array_mut().unwrap();
            if elements.is_empty() {
                elements.push(json!({}));
            }
            here = &mut elements[place];
        } else {
            if !here.is_object() {
                *here = json!({});
            }
            here = &mut here[step];
        }
    }
    *here = if pointer.ends_with("Ids") { json!([id]) } else { id.into() };
}

/// The resource that a field names a record of.
fn named_by(pointer: &str) -> &'static str {
    let name = pointer.rsplit('/').next().unwrap();
    match name {
        "partyId" | "intoPartyId" => "parties",
        "itemId" => "items",
        "paymentTermId" => "paymentTerms",
        "seriesId" => "numberSeries",
        "permissionId" => "permissions",
        "salesOrderId" => "salesOrders",
        "deliveryNoteIds" => "deliveryNotes",
        "salesInvoiceId" | "targetId" => "salesInvoices",
        "purchaseOrderId" => "purchaseOrders",
        "receiptNoteIds" => "receiptNotes",
        "purchaseInvoiceId" => "purchaseInvoices",
        "sourceId" => "receipts",
        "id" | "lineId" | "sourceLineId" | "targetLineIds" => "lines",
        "taxComponentId" => "components",
        "userId" => "users",
        "businessId" => "businesses",
        "deliveryId" => "deliveries",
        name if name.ends_with("axCodeId") => "taxCodes",
        name if name.ends_with("ccountId") || name == "parentId" => "accounts",
        other => panic!("nothing says what {other} names"),
    }
}

/// What another company has, resource by resource.
fn belongings(other: &Company<'_>) -> BTreeMap<&'static str, String> {
    let mut found: BTreeMap<&'static str, String> = BTreeMap::new();
    for resource in [
        "paymentTerms",
        "numberSeries",
        "permissions",
        "salesOrders",
        "deliveryNotes",
        "purchaseOrders",
        "receiptNotes",
        "purchaseInvoices",
        "receipts",
    ] {
        found.insert(resource, id(&other.make(resource)).to_owned());
    }
    let invoice = other.make("salesInvoices");
    found.insert("lines", id(&invoice["lines"][0]).to_owned());
    found.insert("salesInvoices", id(&invoice).to_owned());
    found.insert("parties", other.partner());
    found.insert("items", other.goods());
    let code = other.tax("20");
    let components =
        other.ask(Dialect::B, "GET", "taxCodes", &format!("/{code}"), None).expect(200).data["components"].clone();
    found.insert("components", id(&components[0]).to_owned());
    found.insert("taxCodes", code);
    found.insert("accounts", other.account("1010"));
    found.insert("users", NOBODYS.replace("019a", "019b"));
    found.insert("businesses", other.id.clone());
    // One that was asked for, whatever becomes of it: nobody is at this address.
    let mut body = other.example("webhooks");
    body["status"] = "active".into();
    let webhook = format!("/{}", other.ask(Dialect::A, "POST", "webhooks", "", Some(&body)).expect(201).id());
    other.ask(Dialect::A, "POST", "webhooks", &format!("{webhook}/test"), None).expect(200);
    let told = other.ask(Dialect::B, "GET", "webhooks", &format!("{webhook}/deliveries"), None).expect(200).data;
    found.insert("deliveries", id(&told["items"][0]).to_owned());
    found
}

/// The operations of a resource that bring a body: how they are called, and where they are asked.
fn writes(operations: &ResourceOperations) -> impl Iterator<Item = (Verb, &'static str, String)> {
    let with_body = operations.verbs().filter(|verb| operations.body_need(*verb) != BodyNeed::None);
    with_body.map(|verb| {
        let method = if operations.method(verb) == Method::Put { "PUT" } else { "POST" };
        (verb, method, operations.path(verb))
    })
}

/// The body of an action that would be right, but for the reference that is tried.
fn action(company: &Company<'_>, resource: &str, example: &Value) -> Value {
    let mut body = example.clone();
    if body.get("targetId").is_some() {
        let settled = if matches!(resource, "receipts" | "creditNotes") { "salesInvoices" } else { "purchaseInvoices" };
        body["targetId"] = company.make(settled)["id"].clone();
        body["writeOffAmount"] = 1.into();
    }
    body
}

/// Why an answer is not as it should be, if it is not.
fn wrong(said: &Said, pointer: &str, id: &str) -> Option<String> {
    let kept = said.answer.text.contains(id);
    let names_field = || {
        let steps: Vec<&str> = pointer.split('/').skip(1).collect();
        let first = steps.iter().position(|step| step.parse::<usize>().is_ok()).unwrap_or(steps.len());
        let within = steps[..first].join(".");
        said.fields().iter().any(|field| field.starts_with(&within))
    };
    match said.status {
        200..300 if kept => Some(format!("kept it: {}", said.answer.text)),
        // What is only read is accepted and ignored.
        200..300 | 404 | 409 => None,
        400 if names_field() => None,
        status => Some(format!("{status} {}", said.answer.text)),
    }
}

on_both_engines! {
    fn no_write_of_any_resource_keeps_what_is_not_the_companys_own(server) {
        let (company, other) = (server.company(), server.company());
        let bodies = Bodies::of(server);
        let foreign = belongings(&other);
        let (mut tried, mut bad) = (0, Vec::new());
        for operations in registry() {
            let resource = operations.key.stem();
            // Whose companies one sees, one may name as a member's; the sets of another are refused below.
            if resource == "businesses" || operations.verbs().all(|verb| verb != Verb::Create) {
                continue;
            }
            let drafted = operations.example.get("status").is_some_and(|status| status == "posted" || status == "draft");
            for (verb, method, path) in writes(operations) {
                let operation = operations.operation_id(verb);
                let references = bodies.references(&operation);
                if references.is_empty() {
                    continue;
                }
                let states: &[&str] = if drafted && operations.extra(verb).is_none() { &["draft", "posted"] } else { &[""] };
                for state in states {
                    let fresh = || {
                        let mut body = company.example(resource);
                        if !state.is_empty() {
                            body["status"] = (*state).into();
                        }
                        if verb == Verb::Upsert {
                            body["externalId"] = format!("elsewhere {operation} {state}").trim().into();
                        }
                        body
                    };
                    let record = (verb != Verb::Create)
                        .then(|| company.ask(Dialect::B, "POST", resource, "", Some(&fresh())).expect(201).data);
                    let called = |record: &Value| match verb {
                        Verb::Upsert => record["externalId"].as_str().unwrap().replace(' ', "%20"),
                        _ => id(record).to_owned(),
                    };
                    let at = record.as_ref().map_or(path.clone(), |record| path.replace("{id}", &called(record)));
                    for pointer in references.iter().filter(|pointer| !pointer.ends_with("businessId")) {
                        for named in [foreign[named_by(pointer)].as_str(), NOBODYS] {
                            let mut body = match (&record, verb) {
                                (Some(record), Verb::Update | Verb::Upsert) => record.clone(),
                                (Some(_), _) => action(&company, resource, &bodies.bodies[&operation].1),
                                (None, _) => fresh(),
                            };
                            put(&mut body, pointer, named);
                            tried += 1;
                            // Each reference in both dialects, each name of it in one.
                            let dialect = DIALECTS[tried % 2];
                            let said = company.ask(dialect, method, resource, &at, Some(&body));
                            if let Some(why) = wrong(&said, pointer, named) {
                                bad.push(format!("{operation} {state} {pointer} {dialect:?} {named}: {why}"));
                            }
                        }
                    }
                }
            }
        }
        assert!(bad.is_empty(), "{} of {tried}:\n{}", bad.len(), bad.join("\n"));
        assert!(tried > 900, "{tried}");
        assert_eq!(company.failed_checks(), Vec::<String>::new());
    }

    fn the_accounts_by_role_are_the_companys_own(server) {
        let (company, other) = (server.company(), server.company());
        let own = company.ask(Dialect::B, "GET", "businesses", &format!("/{}", company.id), None).expect(200).data;
        for (role, account) in own["systemAccounts"].as_object().unwrap() {
            if account.is_null() {
                continue;
            }
            for dialect in DIALECTS {
                for named in [other.account("1010").as_str(), NOBODYS] {
                    let mut body = own.clone();
                    body["systemAccounts"][role] = named.into();
                    let said = company.ask(dialect, "PUT", "businesses", &format!("/{}", company.id), Some(&body));
                    let said = said.expect(400);
                    assert_eq!(said.fields(), [format!("systemAccounts.{role}")]);
                }
            }
        }
    }

    fn words_of_what_is_posted_are_judged_and_what_was_archived_since_may_stay(server) {
        for dialect in DIALECTS {
            let company = server.company();
            for (resource, archived) in [("salesInvoices", true), ("purchaseInvoices", false)] {
                let posted = company.make(resource);
                let path = format!("/{}", id(&posted));
                let ask = |body: &Value| company.ask(dialect, "PUT", resource, &path, Some(body));
                let mut due = posted.clone();
                due["dueDate"] = "2001-01-01".into();
                assert_eq!(ask(&due).expect(400).errors, json!({"dueDate": ["must not be before the date"]}));
                if archived {
                    let service = format!("/{}", posted["lines"][0]["itemId"].as_str().unwrap());
                    let mut item = company.ask(dialect, "GET", "items", &service, None).expect(200).data;
                    item["status"] = "archived".into();
                    company.ask(dialect, "PUT", "items", &service, Some(&item)).expect(200);
                    item["status"] = "active".into();
                    let mut worded = posted.clone();
                    worded["notes"] = "Thank you".into();
                    assert_eq!(ask(&worded).expect(200).data["notes"], "Thank you");
                    worded["paymentTermId"] = NOBODYS.into();
                    assert_eq!(ask(&worded).expect(400).errors, json!({"paymentTermId": ["names no payment term"]}));
                    company.ask(dialect, "PUT", "items", &service, Some(&item)).expect(200);
                }
            }
        }
    }

    fn what_is_referred_to_stays(server) {
        for dialect in DIALECTS {
            let company = server.company();
            let term = id(&company.make("paymentTerms")).to_owned();
            let series = company.make("numberSeries");
            let mut invoice = company.example("salesInvoices");
            invoice["paymentTermId"] = term.clone().into();
            for status in ["posted", "draft"] {
                invoice["status"] = status.into();
                let made = company.ask(dialect, "POST", "salesInvoices", "", Some(&invoice)).expect(201).data;
                let account = made["lines"][0]["accountId"].as_str().unwrap_or_default().to_owned();
                for (resource, named) in [
                    ("paymentTerms", &term), ("parties", &company.partner()), ("items", &company.service()),
                    ("taxCodes", &company.tax("20")), ("accounts", &account),
                ] {
                    if named.is_empty() {
                        continue;
                    }
                    let said = company.ask(dialect, "DELETE", resource, &format!("/{named}"), None);
                    assert_eq!((said.status, said.code.as_deref()), (409, Some("in_use")), "{resource} {status}: {}", said.answer.text);
                }
                // Put on what is posted, it is referred to all the same.
                let later = id(&company.make("paymentTerms")).to_owned();
                let path = format!("/{}", id(&made));
                let mut changed = made.clone();
                changed["paymentTermId"] = later.clone().into();
                company.ask(dialect, "PUT", "salesInvoices", &path, Some(&changed)).expect(200);
                company.ask(dialect, "DELETE", "paymentTerms", &format!("/{later}"), None).expect(409);
            }
            company.ask(dialect, "DELETE", "numberSeries", &format!("/{}", id(&series)), None).expect(200);
        }
    }
}

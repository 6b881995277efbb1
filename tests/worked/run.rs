//! What a step asks of a server, in the words of one dialect, and the names of what was made.

use super::read::{Example, Line, Step, Word, Worked};
use crate::harness::server::Said;
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, Server};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A document by its verb: what it is, and who it is with where it does not say.
struct Kind {
    verb: &'static str,
    resource: &'static str,
    party: Option<&'static str>,
    /// What the two numbers of a line are: so many, and for how much each.
    line: [&'static str; 2],
}

const fn kind(
    verb: &'static str,
    resource: &'static str,
    party: Option<&'static str>,
    line: [&'static str; 2],
) -> Kind {
    Kind { verb, resource, party, line }
}

const PRICED: [&str; 2] = ["quantity", "unitPrice"];
const COSTED: [&str; 2] = ["quantity", "unitCost"];

const KINDS: [Kind; 14] = [
    kind("sale", "salesInvoices", Some("Customer"), PRICED),
    kind("bill", "purchaseInvoices", Some("Supplier"), PRICED),
    kind("order", "salesOrders", Some("Customer"), PRICED),
    kind("purchase-order", "purchaseOrders", Some("Supplier"), PRICED),
    kind("delivery", "deliveryNotes", Some("Customer"), PRICED),
    kind("goods-in", "receiptNotes", Some("Supplier"), COSTED),
    kind("credit", "creditNotes", Some("Customer"), PRICED),
    kind("debit", "debitNotes", Some("Supplier"), PRICED),
    kind("receipt", "receipts", Some("Customer"), PRICED),
    kind("payment", "payments", Some("Supplier"), PRICED),
    kind("journal", "journals", None, PRICED),
    kind("transfer", "contraEntries", None, PRICED),
    kind("adjust", "stockAdjustments", None, ["quantityDelta", "unitCost"]),
    kind("revalue", "revaluations", None, PRICED),
];

/// What a record's own address makes of it.
fn derived(resource: &str, step: &str) -> Result<&'static str, String> {
    let sells = ["salesOrders", "deliveryNotes", "salesInvoices"].contains(&resource);
    Ok(match (step, sells) {
        ("invoices", true) => "salesInvoices",
        ("invoices", false) => "purchaseInvoices",
        ("credit-notes", _) => "creditNotes",
        ("debit-notes", _) => "debitNotes",
        ("delivery-notes", _) | ("returns", true) => "deliveryNotes",
        ("receipt-notes", _) | ("returns", false) => "receiptNotes",
        _ => return Err(format!("nothing makes {step} of {resource}")),
    })
}

pub struct Run<'s> {
    pub shop: Shop<'s>,
    pub dialect: Dialect,
    pub worked: &'s Worked,
    /// What was made, by its name: its resource, and the record as it was told last.
    pub names: BTreeMap<String, (String, Value)>,
}

type Object = Map<String, Value>;

impl<'s> Run<'s> {
    fn new(server: &'s Server, dialect: Dialect, worked: &'s Worked, example: &Example) -> Result<Self, String> {
        let first = example.steps.first().filter(|step| step.line.plain(0) == Ok("settings"));
        let mut run = Self { shop: Shop::open(server, dialect), dialect, worked, names: BTreeMap::new() };
        if let Some(step) = first {
            let settings = run.members(step.line.pairs())?;
            run.shop = Shop::with(server, dialect, Value::Object(settings));
        }
        for (name, id) in [("Customer", run.shop.customer.clone()), ("Supplier", run.shop.supplier.clone())] {
            run.names.insert(name.into(), ("parties".into(), json!({"id": id})));
        }
        Ok(run)
    }

    /// An account by its word or its number.
    pub fn code<'w>(&'w self, word: &'w str) -> &'w str {
        self.worked.accounts.get(word).map_or(word, String::as_str)
    }

    pub fn record(&self, name: &str) -> Result<&(String, Value), String> {
        self.names.get(name).ok_or_else(|| format!("nothing is called {name}"))
    }

    /// `S` is a record, `S.2` its second line.
    fn reference(&self, name: &str) -> Result<Value, String> {
        let (name, line) = match name.split_once('.') {
            Some((name, line)) => (name, Some(line.parse::<usize>().map_err(|_| format!("{name}: no line"))?)),
            None => (name, None),
        };
        let (_, record) = self.record(name)?;
        let found = match line {
            Some(line) => &record["lines"][line - 1]["id"],
            None => &record["id"],
        };
        if found.is_null() { Err(format!("{name} has no such line")) } else { Ok(found.clone()) }
    }

    fn resolved(&self, value: Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => match text.strip_prefix('@') {
                Some(name) => self.reference(name)?,
                None => Value::String(text),
            },
            Value::Array(all) => all.into_iter().map(|one| self.resolved(one)).collect::<Result<_, _>>()?,
            Value::Object(all) => Value::Object(
                all.into_iter().map(|(key, one)| Ok((key, self.resolved(one)?))).collect::<Result<_, String>>()?,
            ),
            other => other,
        })
    }

    fn literal(&self, text: &str) -> Result<Value, String> {
        match text {
            "null" | "true" | "false" => serde_json::from_str(text).map_err(|error| error.to_string()),
            _ if text.starts_with(['[', '{']) => {
                self.resolved(serde_json::from_str(text).map_err(|error| format!("{text}: {error}"))?)
            }
            _ => self.resolved(text.into()),
        }
    }

    fn member(&self, key: &str, text: &str) -> Result<(String, Value), String> {
        let named = match key {
            _ if text == "null" => None,
            "tax" => Some("taxCodeId"),
            "item" => Some("itemId"),
            "party" => Some("partyId"),
            "invoice" => Some("salesInvoiceId"),
            "bill" => Some("purchaseInvoiceId"),
            "of" => Some("sourceLineId"),
            _ => None,
        };
        if let Some(member) = named {
            return Ok((member.into(), self.reference(text)?));
        }
        if key == "account" || key.ends_with("Account") {
            return Ok((format!("{key}Id"), self.shop.company.account(self.code(text)).into()));
        }
        Ok((if key == "tax" { "taxCodeId" } else { key }.into(), self.literal(text)?))
    }

    fn members<'w>(&self, pairs: impl Iterator<Item = (&'w str, &'w str)>) -> Result<Object, String> {
        pairs.map(|(key, text)| self.member(key, text)).collect()
    }

    pub fn ask(&self, method: &str, resource: &str, path: &str, body: Option<&Value>) -> Said {
        self.shop.ask(method, resource, path, body)
    }

    /// Whether a refusal is the one that is expected: its status, its code, its fields, and what it says.
    fn refused(&self, said: &Said, line: &Line) -> Result<(), String> {
        let told = || format!("told {} {:?} {}", said.status, said.code, said.answer.text);
        let words = line.plains();
        if words[1].text != said.status.to_string() {
            return Err(told());
        }
        let mut rest = words[2..].iter();
        if said.status != 400 && rest.next().map(|word| word.text.as_str()) != said.code.as_deref() {
            return Err(told());
        }
        let is_text = |word: &Word| word.quoted || word.text.parse::<u8>().is_ok();
        let (texts, mut fields): (Vec<&Word>, Vec<&Word>) = rest.copied().partition(|word| is_text(word));
        fields.sort_by(|one, other| one.text.cmp(&other.text));
        let fields: Vec<&str> = fields.into_iter().map(|word| word.text.as_str()).collect();
        if (said.status == 400 || !fields.is_empty()) && said.fields() != fields {
            return Err(told());
        }
        for word in texts {
            let text = if word.quoted { &word.text } else { &self.worked.refusals[&word.text] };
            // A text of the table ends what is said of its field; others are somewhere in the answer.
            let ends = |field: &str| said.errors[field][0].as_str().is_some_and(|said| said.ends_with(text.as_str()));
            let there = if word.quoted { said.answer.text.contains(text.as_str()) } else { ends(fields[0]) };
            if !there {
                return Err(format!("'{text}' is not said: {}", told()));
            }
        }
        Ok(())
    }

    /// Judges an answer, and keeps what was made under its name.
    fn keep(&mut self, said: Said, step: &Step, name: &str, resource: &str) -> Result<(), String> {
        if let Some(line) = step.below.iter().find(|line| line.plain(0) == Ok("refused")) {
            return self.refused(&said, line);
        }
        if said.status >= 300 {
            return Err(format!("told {} {:?} {}", said.status, said.code, said.answer.text));
        }
        self.names.insert(name.into(), (resource.into(), said.data));
        Ok(())
    }

    /// The numbers of a line: `3 x 9.99`, or `9.99` alone.
    fn numbers(kind: &Kind, line: &Line, body: &mut Object) -> Result<(), String> {
        let words: Vec<&str> = line.plains().into_iter().map(|word| word.text.as_str()).collect();
        let numbers: &[(usize, &str)] = match words[..] {
            [] => &[],
            [each] => &[(1, each)],
            [count, "x", each] => &[(0, count), (1, each)],
            _ => return Err(format!("`{}` is no line", line.raw)),
        };
        body.extend(numbers.iter().map(|(place, text)| (kind.line[*place].to_owned(), Value::from(*text))));
        Ok(())
    }

    /// Money that settles something, or a line of the document.
    fn below(&self, kind: &Kind, line: &Line) -> Result<(&'static str, Value), String> {
        let mut body = self.members(line.pairs())?;
        if line.plain(0) == Ok("settle") {
            body.insert("targetId".into(), self.reference(line.plain(1)?)?);
            body.insert("amount".into(), line.plain(2)?.into());
            return Ok(("allocations", Value::Object(body)));
        }
        match kind.verb {
            "journal" => {
                let side = match line.plain(0)? {
                    "D" => "debit",
                    "C" => "credit",
                    other => return Err(format!("{other} is no side")),
                };
                body.insert("accountId".into(), self.shop.company.account(self.code(line.plain(1)?)).into());
                body.insert(side.into(), line.plain(2)?.into());
            }
            "receipt" | "payment" => {
                body.insert("accountId".into(), self.shop.company.account(self.code(line.plain(0)?)).into());
                body.insert("amount".into(), line.plain(1)?.into());
            }
            "revalue" => {
                return Ok(("rates", json!({"currency": line.plain(0)?, "rate": line.plain(1)?})));
            }
            _ => Self::numbers(kind, line, &mut body)?,
        }
        Ok(("lines", Value::Object(body)))
    }

    fn document(&mut self, kind: &Kind, step: &Step) -> Result<(), String> {
        let (line, mut body) = (&step.line, self.members(step.line.pairs())?);
        let name = line.plain(1)?;
        body.insert("date".into(), line.plain(2)?.into());
        if let Ok(amount) = line.plain(3) {
            body.insert("amount".into(), amount.into());
        }
        for line in step.below.iter().filter(|line| line.plain(0) != Ok("refused")) {
            let (list, mut one) = self.below(kind, line)?;
            // A line may stand there many times.
            let times = one.as_object_mut().and_then(|one| one.remove("times"));
            let times = times.as_ref().and_then(Value::as_str).map_or(Ok(1), str::parse::<usize>);
            let list = body.entry(list).or_insert_with(|| json!([]));
            let list = list.as_array_mut().ok_or("a list")?;
            list.extend(std::iter::repeat_n(one, times.map_err(|error| error.to_string())?));
        }
        let money = ["receipt", "payment"].contains(&kind.verb);
        if money && !body.contains_key("accountId") {
            body.insert("accountId".into(), self.shop.company.account(self.code("BANK")).into());
        }
        // Money that is spent directly needs nobody.
        let direct = money && body.contains_key("lines");
        if let Some(party) = kind.party.filter(|_| !direct && !body.contains_key("partyId")) {
            body.insert("partyId".into(), self.reference(party)?);
        }
        let said = self.ask("POST", kind.resource, "", Some(&Value::Object(body)));
        self.keep(said, step, name, kind.resource)
    }

    /// `from O invoices I 2026-03-01`, with lines by their places.
    fn derive(&mut self, step: &Step) -> Result<(), String> {
        let line = &step.line;
        let (origin, what, name) = (line.plain(1)?, line.plain(2)?, line.plain(3)?);
        let mut body = self.members(line.pairs())?;
        body.insert("date".into(), line.plain(4)?.into());
        for line in step.below.iter().filter(|line| line.plain(0) != Ok("refused")) {
            let mut part = self.members(line.pairs())?;
            part.insert("lineId".into(), self.reference(&format!("{origin}.{}", line.plain(0)?))?);
            let list = body.entry("lines").or_insert_with(|| json!([]));
            list.as_array_mut().ok_or("a list")?.push(Value::Object(part));
        }
        let (resource, record) = self.record(origin)?;
        let made = derived(resource, what)?;
        let said = self.shop.act("POST", resource, record, what, Some(&Value::Object(body)));
        self.keep(said, step, name, made)
    }

    /// A record is read, changed and sent back; a line below names one of its lines by place.
    fn change(&mut self, step: &Step) -> Result<(), String> {
        let name = step.line.plain(1)?;
        let (resource, id) = match self.record(name) {
            Ok((resource, record)) => (resource.clone(), record["id"].as_str().unwrap_or_default().to_owned()),
            Err(_) => ("accounts".into(), self.shop.company.account(self.code(name))),
        };
        let path = format!("/{id}");
        let mut body = self.ask("GET", &resource, &path, None).expect(200).data;
        let whole = body.as_object_mut().ok_or("no record")?;
        whole.extend(self.members(step.line.pairs())?);
        for line in step.below.iter().filter(|line| line.plain(0) != Ok("refused")) {
            let place: usize = line.plain(0)?.parse().map_err(|_| "no place of a line")?;
            let members = self.members(line.pairs())?;
            body["lines"][place - 1].as_object_mut().ok_or("no such line")?.extend(members);
        }
        let said = self.ask("PUT", &resource, &path, Some(&body));
        self.keep(said, step, name, &resource)
    }

    /// The company's settings are read, changed and sent back.
    fn set(&mut self, step: &Step) -> Result<(), String> {
        let path = format!("/{}", self.shop.company.id);
        let mut body = self.ask("GET", "businesses", &path, None).expect(200).data;
        let settings = body["settings"].as_object_mut().ok_or("no settings")?;
        settings.extend(self.members(step.line.pairs())?);
        let said = self.ask("PUT", "businesses", &path, Some(&body));
        self.keep(said, step, "Company", "businesses")
    }

    /// A tax code of one component is read, its component changed, and sent back.
    fn move_code(&self, step: &Step) -> Result<(), String> {
        let (_, code) = self.record(step.line.plain(1)?)?;
        let path = format!("/{}", id(code));
        let mut body = self.ask("GET", "taxCodes", &path, None).expect(200).data;
        let component = body["components"][0].as_object_mut().ok_or("no component")?;
        component.extend(self.members(step.line.pairs())?);
        let said = self.ask("PUT", "taxCodes", &path, Some(&body));
        if said.status < 300 { Ok(()) } else { Err(format!("told {} {}", said.status, said.answer.text)) }
    }

    fn act(&mut self, step: &Step, action: &str, body: Option<Value>) -> Result<(), String> {
        let name = step.line.plain(1)?;
        let (resource, record) = self.record(name)?.clone();
        let said = self.shop.act("POST", &resource, &record, action, body.as_ref());
        self.keep(said, step, name, &resource)
    }

    fn master(&mut self, step: &Step, resource: &str, name: &str, mut body: Object) -> Result<(), String> {
        body.extend(self.members(step.line.pairs())?);
        let said = self.ask("POST", resource, "", Some(&Value::Object(body)));
        self.keep(said, step, name, resource)
    }

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap_or_default()
    }

    /// A code of one component, or of those below it.
    fn tax(&mut self, step: &Step) -> Result<(), String> {
        let name = step.line.plain(1)?;
        let mut components = Vec::new();
        for line in step.below.iter().filter(|line| line.plain(0) != Ok("refused")) {
            let mut one = Self::object(json!({"name": line.plain(0)?, "rate": line.plain(1)?}));
            one.extend(self.members(line.pairs())?);
            components.push(Value::Object(one));
        }
        if let Ok(rate) = step.line.plain(2) {
            let mut one = Self::object(json!({"name": name, "rate": rate}));
            one.extend(self.members(step.line.pairs())?);
            components.push(Value::Object(one));
        }
        let body = json!({"code": name, "name": name, "components": components});
        let said = self.ask("POST", "taxCodes", "", Some(&body));
        self.keep(said, step, name, "taxCodes")
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        let (line, verb) = (&step.line, step.line.plain(0)?);
        if let Some(kind) = KINDS.iter().find(|kind| kind.verb == verb) {
            return self.document(kind, step);
        }
        match verb {
            "settings" => Ok(()),
            "account" => {
                let code = line.plain(1)?;
                let body = json!({"code": code, "name": format!("Account {code}"), "type": line.plain(2)?});
                self.master(step, "accounts", code, Self::object(body))
            }
            "tax" => self.tax(step),
            "item" => {
                self.master(step, "items", line.plain(1)?, Self::object(json!({"name": "Goods", "type": "stock"})))
            }
            "party" => {
                let body = json!({"name": line.plain(1)?, "isCustomer": true});
                self.master(step, "parties", line.plain(1)?, Self::object(body))
            }
            "rate" => {
                let body = json!({"currency": line.plain(1)?, "date": line.plain(2)?, "rate": line.plain(3)?});
                self.master(step, "exchangeRates", "a rate", Self::object(body))
            }
            "year" => {
                let body = json!({"name": line.plain(1)?, "start": line.plain(2)?, "end": line.plain(3)?});
                self.master(step, "fiscalYears", line.plain(1)?, Self::object(body))
            }
            "lock" => {
                // All of the books, or what its members say.
                let all = line.plain(1).map_or_else(|_| json!({}), |day| json!({"lockDate": day}));
                self.master(step, "locks", "a lock", Self::object(all))
            }
            "from" => self.derive(step),
            "change" => self.change(step),
            "void" => {
                let day = line.plain(2).ok().map(|day| json!({"date": day}));
                self.act(step, "void", day)
            }
            "set" => self.set(step),
            "move" => self.move_code(step),
            "close" | "reopen" => self.act(step, verb, None),
            "merge" => {
                // What is answered is the party that stays.
                let (merged, into) = (self.record(line.plain(1)?)?.clone(), self.reference(line.plain(3)?)?);
                self.act(step, "merge", Some(json!({"intoPartyId": into})))?;
                self.names.insert(line.plain(1)?.into(), merged);
                Ok(())
            }
            "allocate" => {
                let mut body = self.members(line.pairs())?;
                body.insert("targetId".into(), self.reference(line.plain(3)?)?);
                body.insert("amount".into(), line.plain(4)?.into());
                self.act(step, "allocations", Some(Value::Object(body)))
            }
            _ => self.expect(step),
        }
    }
}

/// Runs an example in a company of its own; what is not as it says, with the line that says it.
pub fn hold(server: &Server, dialect: Dialect, worked: &Worked, example: &Example) -> Result<(), String> {
    let of = || format!("{} ({}), dialect {dialect:?}", example.numbers.join(", "), example.title);
    let mut run = Run::new(server, dialect, worked, example).map_err(|why| format!("{}: {why}", of()))?;
    for step in &example.steps {
        let line = &step.line;
        run.step(step).map_err(|why| format!("{}, line {}, `{}`: {why}", of(), line.number, line.raw))?;
    }
    let proof = run.shop.company.request_at(dialect, "GET", "verify");
    let proof = run.shop.company.say(dialect, proof).expect(200).data;
    let failed: Vec<&Value> =
        proof["checks"].as_array().expect("checks").iter().filter(|check| check["ok"] == false).collect();
    if proof["ok"] == true && failed.is_empty() {
        Ok(())
    } else {
        Err(format!("{}: the proof fails: {failed:?}", of()))
    }
}

//! Asks a server for what a stream wants, each command in the dialect that it names.

use super::books::Books;
use super::command::{Allocate, Command, Credit, Key, Money, Note, Trade, What};
use super::exact::shown;
use super::tax::Line;
use super::world::{CODES, CURRENCIES, ITEMS, Method, PARTIES, STANDARD, TaxKind, account, date};
use crate::harness::server::{Company, Said};
use crate::harness::{Dialect, Server};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

pub struct Driver<'s> {
    pub company: Company<'s>,
    pub parties: Vec<String>,
    pub items: Vec<String>,
    pub codes: Vec<String>,
    accounts: HashMap<u16, String>,
    year: String,
    /// What was made, and where: the resource and the identifier.
    pub made: BTreeMap<Key, (&'static str, String)>,
    /// The lines of documents, in their order.
    lines: BTreeMap<Key, Vec<String>>,
}

fn id(record: &Value) -> String {
    record["id"].as_str().unwrap_or_else(|| panic!("no identifier in {record}")).to_owned()
}

impl<'s> Driver<'s> {
    pub fn new(server: &'s Server) -> Self {
        let company = server.company_like(json!({"name": "Under the oracle", "baseCurrency": "EUR"}));
        let make =
            |resource: &str, body: Value| company.ask(Dialect::B, "POST", resource, "", Some(&body)).expect(201).data;
        let parties = (0..PARTIES)
            .map(|place| {
                id(&make("parties", json!({"name": format!("Party {place}"), "isCustomer": true, "isSupplier": true})))
            })
            .collect();
        let item = |(place, (method, negative)): (usize, &(Method, bool))| {
            let method = match method {
                Method::Average => "movingAverage",
                Method::Fifo => "fifo",
                Method::Standard => "standard",
            };
            let standard = (method == "standard").then(|| shown(STANDARD, 2));
            id(&make(
                "items",
                json!({
                    "name": format!("Item {place}"), "type": "stock", "costMethod": method, "standardCost": standard,
                    "negativeStock": if *negative { "allow" } else { "forbid" }
                }),
            ))
        };
        let items = ITEMS.iter().enumerate().map(item).collect();
        let code = |(name, components): &(&str, &[super::world::Component])| {
            let component = |(place, one): (usize, &super::world::Component)| {
                let mut body = json!({
                    "name": format!("{name}{place}"), "rate": shown(one.rate, 3), "kind": one.kind.name(),
                    "isCompound": one.compound, "recoverablePercent": one.recoverable
                });
                let of = &one.boxes;
                body["boxes"] = json!({
                    "salesBase": of.sales_base, "salesTax": of.sales_tax, "purchaseBase": of.purchase_base,
                    "purchaseDue": of.purchase_due, "purchaseClaim": of.purchase_claim
                });
                if one.later != one.rate {
                    body["rates"] = json!([{"validFrom": "2026-01-01", "rate": shown(one.later, 3)}]);
                }
                if matches!(one.kind, TaxKind::Zero | TaxKind::Exempt | TaxKind::Outside) {
                    body["rate"] = json!(0);
                }
                body
            };
            let components: Vec<Value> = components.iter().enumerate().map(component).collect();
            id(&make("taxCodes", json!({"code": name, "name": name, "components": components})))
        };
        let codes = CODES.iter().map(code).collect();
        let year = json!({"name": "2025", "start": "2025-01-01", "end": "2025-12-31"});
        let year = id(&make("fiscalYears", year));
        make("fiscalYears", json!({"name": "2026", "start": "2026-01-01", "end": "2026-12-31"}));
        let listed = company.ask(Dialect::B, "GET", "accounts", "?pageSize=500", None).expect(200).data;
        let accounts = listed["items"].as_array().unwrap().iter();
        let accounts = accounts.filter_map(|one| Some((one["code"].as_str()?.parse().ok()?, id(one)))).collect();
        Self { company, parties, items, codes, accounts, year, made: BTreeMap::new(), lines: BTreeMap::new() }
    }

    pub fn of_document(&self, id: &str) -> Option<Key> {
        self.made.iter().find(|(_, (_, made))| made == id).map(|(key, _)| *key)
    }

    fn line(&self, trade: &Trade, place: usize, line: &Line) -> Value {
        let mut body = json!({
            "quantity": shown(line.quantity, 3), "unitPrice": shown(line.price, 6),
            "taxCodeId": line.code.map(|code| &self.codes[code])
        });
        match line.item {
            Some(_) if trade.of.is_some() => {}
            Some(item) => body["itemId"] = json!(self.items[item]),
            None if line.equipment => body["accountId"] = json!(self.accounts[&account::EQUIPMENT]),
            None => body["accountId"] = json!(self.accounts[if trade.sells { &4000 } else { &6000 }]),
        }
        if line.off != 0 {
            body["discountPercent"] = json!(shown(line.off, 2));
        }
        if let Some((of, places)) = &trade.of {
            body["sourceLineId"] = json!(self.lines[of][places[place]]);
        }
        body
    }

    fn trade(&self, trade: &Trade) -> Value {
        let mut body = json!({
            "date": date(trade.day), "partyId": self.parties[trade.party], "currency": CURRENCIES[trade.currency].0,
            "pricesIncludeTax": trade.inclusive,
            "lines": trade.lines.iter().enumerate().map(|(place, line)| self.line(trade, place, line)).collect::<Vec<_>>()
        });
        if trade.currency != 0 {
            body["exchangeRate"] = json!(shown(trade.rate, 6));
        }
        if trade.off != 0 {
            body["discountPercent"] = json!(shown(trade.off, 2));
        }
        body
    }

    fn note(&self, note: &Note) -> Value {
        let line = |(item, quantity, cost): &(usize, i128, i128)| {
            let mut body = json!({"itemId": self.items[*item], "quantity": shown(*quantity, 3)});
            if !note.sells {
                body["unitCost"] = json!(shown(*cost, 2));
            }
            body
        };
        json!({
            "date": date(note.day), "partyId": self.parties[note.party],
            "lines": note.lines.iter().map(line).collect::<Vec<_>>()
        })
    }

    fn landed(&self, known: &Books, of: Key, (day, party, amount, by_value): (usize, usize, i128, bool)) -> Value {
        let What::Trade(trade) = &known.documents[&of].what else { panic!("goods are of a bill") };
        let goods = self.lines[&of].iter().zip(&trade.lines).filter(|(_, line)| line.item.is_some());
        let goods: Vec<&String> = goods.map(|(id, _)| id).collect();
        json!({"date": date(day), "partyId": self.parties[party], "lines": [{
            "description": "Freight", "unitPrice": shown(amount, 2), "taxCodeId": null,
            "landedCost": {"targetLineIds": goods, "by": if by_value { "value" } else { "quantity" }}
        }]})
    }

    fn money(&self, money: &Money) -> Value {
        let amount = |coins: i128| shown(coins, CURRENCIES[money.currency].1);
        let mut body = json!({
            "date": date(money.day), "partyId": self.parties[money.party], "accountId": self.accounts[&1010],
            "amount": amount(money.amount), "currency": CURRENCIES[money.currency].0
        });
        if money.currency != 0 {
            body["exchangeRate"] = json!(shown(money.rate, 6));
        }
        if money.fee != 0 {
            body["feeAmount"] = json!(amount(money.fee));
        }
        if let Some((account, gross, code)) = money.direct {
            body["lines"] = json!([{
                "accountId": self.accounts[&account], "amount": amount(gross), "taxCodeId": code.map(|code| &self.codes[code])
            }]);
        }
        body
    }

    fn journal(&self, day: usize, lines: &[(u16, i128)]) -> Value {
        let line = |(account, amount): &(u16, i128)| json!({"accountId": self.accounts[account], (if *amount > 0 { "debit" } else { "credit" }): shown(amount.abs(), 2)});
        json!({"date": date(day), "lines": lines.iter().map(line).collect::<Vec<_>>()})
    }

    fn credit(&self, credit: &Credit, sells: bool) -> Value {
        let (_, origin) = &self.made[&credit.of];
        let line = |(place, quantity): &(usize, i128)| json!({"sourceLineId": self.lines[&credit.of][*place], "quantity": shown(*quantity, 3)});
        json!({
            "date": date(credit.day), (if sells { "salesInvoiceId" } else { "purchaseInvoiceId" }): origin,
            "lines": credit.lines.iter().map(line).collect::<Vec<_>>()
        })
    }

    fn allocate(&self, asked: &Allocate, [source, target]: [usize; 2]) -> Value {
        let amount = |coins: i128| shown(coins, CURRENCIES[target].1);
        let mut body = json!({
            "sourceId": self.made[&asked.source].1, "targetId": self.made[&asked.target].1, "date": date(asked.day),
            "amount": amount(asked.amount)
        });
        for (name, coins) in [
            ("discountAmount", asked.discount),
            ("writeOffAmount", asked.written_off),
            ("withheldAmount", asked.withheld),
        ] {
            if coins != 0 {
                body[name] = json!(amount(coins));
            }
        }
        if source != target {
            body["sourceAmount"] = json!(shown(asked.used, CURRENCIES[source].1));
        }
        body
    }

    /// What a command needs to know of what it names: the currencies of two sides, or whether it sells.
    pub fn run(&mut self, command: &Command, known: &Books) -> Said {
        let dialect = if command.in_a { Dialect::A } else { Dialect::B };
        let ask = |method: &str, resource: &str, path: &str, body: Option<&Value>| {
            self.company.ask(dialect, method, resource, path, body)
        };
        let resource = match &command.what {
            What::Journal { .. } => "journals",
            What::Trade(trade) if trade.sells => "salesInvoices",
            What::Trade(_) | What::Landed { .. } => "purchaseInvoices",
            What::Credit(credit) if known.sells(credit.of) => "creditNotes",
            What::Credit(_) => "debitNotes",
            What::Money(money) if money.comes_in => "receipts",
            What::Money(_) => "payments",
            What::Allocate(_) => "allocations",
            What::Adjust { .. } | What::Standard { .. } => "stockAdjustments",
            What::Note(note) if note.sells => "deliveryNotes",
            What::Note(_) => "receiptNotes",
            What::Contra { .. } => "contraEntries",
            What::Return { of, day, lines } => {
                let (resource, path) = (self.made[of].0, format!("/{}/returns", self.made[of].1));
                let line = |(place, quantity): &(usize, i128)| json!({"lineId": self.lines[of][*place], "quantity": shown(*quantity, 3)});
                let body = json!({"date": date(*day), "lines": lines.iter().map(line).collect::<Vec<_>>()});
                let said = ask("POST", resource, &path, Some(&body));
                self.keep(command.key, resource, &said);
                return said;
            }
            What::Lock(day) => {
                let body = json!({"lockDate": day.map(date), "reason": "A stream says so"});
                return ask("POST", "locks", "", Some(&body));
            }
            What::Close => return ask("POST", "fiscalYears", &format!("/{}/close", self.year), None),
            What::Reopen => return ask("POST", "fiscalYears", &format!("/{}/reopen", self.year), None),
            What::Edit { of, to } => {
                let (resource, path) = (self.made[of].0, format!("/{}", self.made[of].1));
                let read = ask("GET", resource, &path, None).expect(200).data;
                return ask("PUT", resource, &path, Some(&self.edited(read, to)));
            }
            What::Void { of, day } => {
                let (resource, path) = (self.made[of].0, format!("/{}", self.made[of].1));
                return match day {
                    Some(day) => {
                        let body = json!({"date": date(*day), "reason": "A stream says so"});
                        ask("POST", resource, &format!("{path}/void"), Some(&body))
                    }
                    None => ask("DELETE", resource, &path, None),
                };
            }
        };
        let body = match &command.what {
            What::Journal { day, lines } => self.journal(*day, lines),
            What::Trade(trade) => self.trade(trade),
            What::Credit(credit) => self.credit(credit, known.sells(credit.of)),
            What::Money(money) => self.money(money),
            What::Allocate(asked) => self.allocate(asked, [asked.source, asked.target].map(|of| known.currency(of))),
            What::Adjust { day, item, quantity, cost } => {
                let mut line = json!({"itemId": self.items[*item], "quantityDelta": shown(*quantity, 3)});
                if *quantity > 0 {
                    // A price for a piece that gives the cost exactly.
                    line["unitCost"] = json!(shown(*cost * 10_000_000 / quantity, 6));
                }
                json!({"date": date(*day), "lines": [line]})
            }
            What::Standard { day, cost } => {
                let item = ITEMS.iter().position(|(method, _)| *method == Method::Standard).unwrap();
                json!({"date": date(*day), "lines": [{"itemId": self.items[item], "standardCost": shown(*cost, 2)}]})
            }
            What::Note(note) => self.note(note),
            What::Landed { of, day, party, amount, by_value } => {
                self.landed(known, *of, (*day, *party, *amount, *by_value))
            }
            What::Contra { day, amount, fee } => {
                let mut body = json!({
                    "date": date(*day), "fromAccountId": self.accounts[&1010], "toAccountId": self.accounts[&1000],
                    "amount": shown(*amount, 2)
                });
                if *fee != 0 {
                    body["feeAmount"] = json!(shown(*fee, 2));
                }
                body
            }
            what => panic!("{what:?} was asked before"),
        };
        let said = ask("POST", resource, "", Some(&body));
        self.keep(command.key, resource, &said);
        said
    }

    fn keep(&mut self, key: Key, resource: &'static str, said: &Said) {
        if said.status == 201 {
            self.made.insert(key, (resource, id(&said.data)));
            if let Some(lines) = said.data["lines"].as_array() {
                let ids = lines.iter().filter_map(|line| line["id"].as_str().map(str::to_owned)).collect();
                self.lines.insert(key, ids);
            }
        }
    }

    /// A body that was read, changed as a person would change it.
    fn edited(&self, mut read: Value, to: &What) -> Value {
        read["date"] = json!(date(to.day()));
        match to {
            What::Journal { day, lines } => read = self.journal(*day, lines),
            What::Trade(trade) => {
                read["dueDate"] = Value::Null;
                read["discountPercent"] = if trade.off == 0 { Value::Null } else { json!(shown(trade.off, 2)) };
                for (line, to) in read["lines"].as_array_mut().unwrap().iter_mut().zip(&trade.lines) {
                    line["quantity"] = json!(shown(to.quantity, 3));
                    line["unitPrice"] = json!(shown(to.price, 6));
                    line["discountPercent"] = if to.off == 0 { Value::Null } else { json!(shown(to.off, 2)) };
                }
            }
            what => panic!("{what:?} is not edited"),
        }
        read
    }
}

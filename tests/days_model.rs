//! Goods that are bought, received, delivered, invoiced, returned and credited on days in any order, and documents that are moved
//! to other days afterwards. Nothing of how goods are valued is known here. The proof holds after every command, and what is
//! all taken back leaves no figure on any account: whatever a move or a void forgets stays behind as money.

use crate::harness::server::Said;
use crate::harness::shop::{Shop, cents, id};
use crate::harness::streams::{each_stream, ensure};
use crate::harness::{Dialect, Server, on_both_engines};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bought,
    Received,
    Delivered,
    Counted,
    Billed,
    Invoiced,
    /// Received or delivered goods that came back by a note.
    Returned,
    Credited,
    Debited,
}

#[derive(Debug, Clone)]
struct Command {
    /// What is entered, or else what is done to what is there.
    enters: Option<Kind>,
    moves: bool,
    /// Of which document, among those that it can be of.
    which: usize,
    day: u8,
    quantity: i64,
    cents: i64,
    goods_too: bool,
}

fn command() -> impl Strategy<Value = Command> {
    let kind = prop_oneof![
        6 => Just(Some(Kind::Bought)),
        2 => Just(Some(Kind::Received)),
        4 => Just(Some(Kind::Delivered)),
        2 => Just(Some(Kind::Counted)),
        1 => Just(Some(Kind::Billed)),
        2 => Just(Some(Kind::Invoiced)),
        6 => Just(Some(Kind::Returned)),
        2 => Just(Some(Kind::Credited)),
        1 => Just(Some(Kind::Debited)),
        10 => Just(None),
    ];
    let rest = (any::<bool>(), any::<usize>(), 1..13_u8, 1..9_i64, 1..1_200_i64, any::<bool>());
    (kind, rest).prop_map(|(enters, (moves, which, day, quantity, cents, goods_too))| Command {
        enters,
        moves: moves || which % 4 != 0,
        which,
        day,
        quantity,
        cents,
        goods_too,
    })
}

struct Entered {
    resource: &'static str,
    kind: Kind,
    record: Value,
}

impl Entered {
    fn line(&self) -> &str {
        id(&self.record["lines"][0])
    }
}

struct Desk<'s> {
    shop: Shop<'s>,
    item: String,
    there: Vec<Entered>,
}

fn price(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

impl<'s> Desk<'s> {
    fn new(server: &'s Server, timing: &str, method: &str) -> Self {
        let dialect = if method == "fifo" { Dialect::A } else { Dialect::B };
        let shop = Shop::with(server, dialect, json!({"cogsTiming": timing}));
        let item = shop.item(json!({"costMethod": method}));
        Self { shop, item, there: Vec::new() }
    }

    /// A refusal says what is wrong; whatever else is not done is a fault.
    fn keep(&mut self, said: Said, resource: &'static str, kind: Kind) -> Result<(), TestCaseError> {
        ensure([201, 400, 409].contains(&said.status), || format!("{} {}", said.status, said.answer.text))?;
        if said.status == 201 {
            self.there.push(Entered { resource, kind, record: said.data });
        }
        Ok(())
    }

    fn of(&self, which: usize, kinds: &[Kind]) -> Option<&Entered> {
        let fitting: Vec<&Entered> = self.there.iter().filter(|one| kinds.contains(&one.kind)).collect();
        fitting.get(which % fitting.len().max(1)).copied()
    }

    fn enter(&mut self, kind: Kind, command: &Command) -> Result<(), TestCaseError> {
        let &Command { which, quantity, goods_too, .. } = command;
        let (date, price) = (format!("2026-03-{:02}", command.day), price(command.cents));
        let (customer, supplier, item) = (&self.shop.customer, &self.shop.supplier, &self.item);
        // What returns or credits is not before what it returns or credits; most are refused else.
        let since = |of: &Entered| Ord::max(date.as_str(), of.record["date"].as_str().unwrap_or_default()).to_owned();
        let whole = |of: &Entered| quantity.min(of.record["lines"][0]["quantity"].as_i64().unwrap_or(1));
        let follows = |kinds: &[Kind]| {
            let of = self.of(which, kinds)?;
            Some((of, json!({"sourceLineId": of.line(), "quantity": whole(of), "unitPrice": price})))
        };
        let (resource, path, body) = match kind {
            Kind::Bought => {
                let line = json!({"itemId": item, "quantity": quantity, "unitPrice": price});
                ("purchaseInvoices", String::new(), json!({"date": date, "partyId": supplier, "lines": [line]}))
            }
            Kind::Received => {
                let line = json!({"itemId": item, "quantity": quantity, "unitCost": price});
                ("receiptNotes", String::new(), json!({"date": date, "partyId": supplier, "lines": [line]}))
            }
            Kind::Delivered => {
                let line = json!({"itemId": item, "quantity": quantity});
                ("deliveryNotes", String::new(), json!({"date": date, "partyId": customer, "lines": [line]}))
            }
            Kind::Counted => {
                let line = json!({"itemId": item, "countedQuantity": quantity});
                ("stockAdjustments", String::new(), json!({"date": date, "lines": [line]}))
            }
            Kind::Billed => {
                let Some((_, line)) = follows(&[Kind::Received]) else { return Ok(()) };
                ("purchaseInvoices", String::new(), json!({"date": date, "partyId": supplier, "lines": [line]}))
            }
            Kind::Invoiced => {
                let Some((_, line)) = follows(&[Kind::Delivered]) else { return Ok(()) };
                ("salesInvoices", String::new(), json!({"date": date, "partyId": customer, "lines": [line]}))
            }
            Kind::Returned => {
                let Some(of) = self.of(which, &[Kind::Received, Kind::Delivered]) else { return Ok(()) };
                let line = json!({"lineId": of.line(), "quantity": whole(of)});
                (of.resource, format!("/{}/returns", id(&of.record)), json!({"date": since(of), "lines": [line]}))
            }
            Kind::Credited => {
                let Some((of, line)) = follows(&[Kind::Invoiced]) else { return Ok(()) };
                let body = json!({"date": since(of), "salesInvoiceId": id(&of.record), "updateStock": goods_too, "lines": [line]});
                ("creditNotes", String::new(), body)
            }
            Kind::Debited => {
                let Some((of, line)) = follows(&[Kind::Billed, Kind::Bought]) else { return Ok(()) };
                let body = json!({"date": since(of), "purchaseInvoiceId": id(&of.record), "updateStock": goods_too, "lines": [line]});
                ("debitNotes", String::new(), body)
            }
        };
        let said = self.shop.ask("POST", resource, &path, Some(&body));
        self.keep(said, resource, kind)
    }

    /// The same document on another day. Those of notes move most of all: others follow them.
    fn shift(&mut self, which: usize, day: u8) -> Result<(), TestCaseError> {
        let is_note = |one: &Entered| [Kind::Delivered, Kind::Received].contains(&one.kind);
        let fitting: Vec<usize> =
            (0..self.there.len()).filter(|at| which.is_multiple_of(4) || is_note(&self.there[*at])).collect();
        let Some(at) = fitting.get(which / 4 % fitting.len().max(1)).copied() else { return Ok(()) };
        let one = &self.there[at];
        let mut body = self.shop.get(one.resource, &one.record);
        body["date"] = format!("2026-03-{day:02}").into();
        if let Some(due) = body.get_mut("dueDate") {
            *due = Value::Null;
        }
        let said = self.shop.ask("PUT", one.resource, &format!("/{}", id(&one.record)), Some(&body));
        ensure([200, 400, 409].contains(&said.status), || format!("{} {}", said.status, said.answer.text))?;
        if said.status == 200 {
            self.there[at].record = said.data;
        }
        Ok(())
    }

    /// Whether it could be.
    fn takes_back(&self, at: usize) -> Result<bool, TestCaseError> {
        let one = &self.there[at];
        let said = self.shop.act("POST", one.resource, &one.record, "void", None);
        ensure([200, 400, 409].contains(&said.status), || format!("{} {}", said.status, said.answer.text))?;
        Ok(said.status == 200)
    }

    fn run(&mut self, command: &Command) -> Result<(), TestCaseError> {
        match command.enters {
            Some(kind) => self.enter(kind, command),
            None if command.moves => self.shift(command.which, command.day),
            None if self.there.is_empty() => Ok(()),
            None => {
                let at = command.which % self.there.len();
                if self.takes_back(at)? {
                    self.there.remove(at);
                }
                Ok(())
            }
        }
    }

    fn proves(&self) -> Result<(), TestCaseError> {
        let failed = self.shop.company.failed_checks();
        ensure(failed.is_empty(), || format!("the proof fails: {failed:?}"))
    }

    /// Takes back all of it, the last first, and as often as that lets others go.
    fn ends(&mut self) -> Result<(), TestCaseError> {
        loop {
            let before = self.there.len();
            for at in (0..before).rev() {
                if self.takes_back(at)? {
                    self.there.remove(at);
                }
            }
            if self.there.len() == before {
                break;
            }
        }
        let stay: Vec<&Value> = self.there.iter().map(|one| &one.record).collect();
        ensure(stay.is_empty(), || format!("these cannot be taken back: {}", json!(stay)))?;
        self.proves()?;
        let listed = self.shop.ask("GET", "accounts", "?pageSize=500", None).expect(200).data;
        for account in listed["items"].as_array().into_iter().flatten() {
            let left = &account["baseBalance"];
            ensure(left.is_null() || cents(left) == 0, || format!("{left} is left on {}", account["code"]))?;
        }
        Ok(())
    }
}

on_both_engines! {
    fn whatever_is_moved_to_another_day_the_books_agree(server) {
        for (timing, method) in [("invoice", "movingAverage"), ("invoice", "fifo"), ("delivery", "movingAverage")] {
            each_stream(&vec(command(), 20..40), |commands| {
                let mut desk = Desk::new(server, timing, method);
                desk.run(&Command { enters: Some(Kind::Bought), moves: false, which: 0, day: 1, quantity: 40, cents: 333, goods_too: true })?;
                for command in &commands {
                    desk.run(command)?;
                }
                desk.proves()?;
                desk.ends()
            });
        }
    }
}

//! A reference model of buying and selling: documents, what settles them and movements of goods, from which open items,
//! control accounts, stock and its cost are computed anew, naively, after every command. The server must agree.

use crate::harness::server::Said;
use crate::harness::shop::{Shop, cents, id, shown_cents};
use crate::harness::streams::{each_stream, ensure, expect};
use crate::harness::{Dialect, Server, on_both_engines};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

/// Rates, and the same in ten-thousandths.
const RATES: [(&str, i64); 3] = [("0.9", 9_000), ("0.93", 9_300), ("0.8765", 8_765)];

fn date(day: usize) -> String {
    format!("2026-{:02}-{:02}", day / 28 % 12 + 1, day % 28 + 1)
}

#[derive(Debug, Clone)]
struct Trade {
    day: usize,
    sells: bool,
    /// 0 may be negative in stock, 1 may not, 2 is a service.
    item: usize,
    quantity: i64,
    /// In cents.
    price: i64,
    /// In US dollars, at this rate.
    rate: Option<usize>,
}

#[derive(Debug, Clone)]
enum Command {
    Trade(Trade),
    Edit { which: usize, quantity: i64, price: i64 },
    Void { which: usize },
    Pay { day: usize, comes_in: bool, cents: i64, rate: Option<usize> },
    Allocate { money: usize, document: usize, part: i64 },
    Unallocate { which: usize },
    VoidMoney { which: usize },
    SendBack { which: usize },
}

fn command() -> impl Strategy<Value = Command> {
    let (which, day) = (any::<usize>(), 0..300_usize);
    let rate = || prop_oneof![2 => (0..1_usize).prop_map(|_| None), 1 => (0..RATES.len()).prop_map(Some)];
    let trade = (day.clone(), any::<bool>(), 0..3_usize, 1..20_i64, 1..5_000_i64, rate());
    prop_oneof![
        5 => trade.prop_map(|(day, sells, item, quantity, price, rate)| {
            Command::Trade(Trade { day, sells, item, quantity, price, rate })
        }),
        2 => (which, 1..20_i64, 1..5_000_i64).prop_map(|(which, quantity, price)| Command::Edit { which, quantity, price }),
        1 => which.prop_map(|which| Command::Void { which }),
        3 => (day, any::<bool>(), 1..50_000_i64, rate())
            .prop_map(|(day, comes_in, cents, rate)| Command::Pay { day, comes_in, cents, rate }),
        4 => (which, any::<usize>(), 1..101_i64).prop_map(|(money, document, part)| Command::Allocate { money, document, part }),
        1 => which.prop_map(|which| Command::Unallocate { which }),
        1 => which.prop_map(|which| Command::VoidMoney { which }),
        1 => which.prop_map(|which| Command::SendBack { which }),
    ]
}

/// Half away from zero.
fn rounded(numerator: i128, denominator: i128) -> i64 {
    let doubled = numerator * 2 + denominator * numerator.signum();
    i64::try_from(doubled / (denominator * 2)).unwrap()
}

/// What an amount in cents is worth.
fn in_base(cents: i64, rate: Option<usize>) -> i64 {
    rate.map_or(cents, |rate| rounded(i128::from(cents) * i128::from(RATES[rate].1), 10_000))
}

/// Something that is open, larger than 0 on its own side.
#[derive(Debug, Clone)]
struct Item {
    total: i64,
    base: i64,
    open: i64,
    base_open: i64,
}

impl Item {
    fn new(total: i64, rate: Option<usize>) -> Self {
        let base = in_base(total, rate);
        Self { total, base, open: total, base_open: base }
    }

    fn relief(&self, part: i64) -> i64 {
        if part == self.open {
            return self.base_open;
        }
        rounded(i128::from(self.base_open) * i128::from(part), i128::from(self.open))
    }
}

struct Document {
    id: String,
    trade: Trade,
    item: Item,
    live: bool,
    /// The order in which it came, or came again, into the books.
    sequence: usize,
}

struct Money {
    id: String,
    comes_in: bool,
    rate: Option<usize>,
    item: Item,
    live: bool,
}

struct Allocation {
    id: String,
    money: usize,
    document: usize,
    cents: i64,
    money_base: i64,
    document_base: i64,
    live: bool,
}

#[derive(Default)]
struct Model {
    documents: Vec<Document>,
    money: Vec<Money>,
    allocations: Vec<Allocation>,
    sequence: usize,
}

/// The place of a document that is left out, and what stands instead of it.
type Instead<'t> = (Option<usize>, Option<(&'t Trade, usize)>);

/// Quantity, value and what went out cost in all; and the lowest quantity from a day on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Stock {
    quantity: i64,
    value: i64,
    issued: i64,
    lowest: i64,
}

/// Values movements in the order of their days: day, order, quantity and, of what comes in, its cost.
fn valued(mut movements: Vec<(usize, usize, i64, i64)>, from: usize) -> Stock {
    movements.sort_unstable();
    let mut stock = Stock::default();
    let mut last: Option<(i64, i64)> = None;
    let mut missing: Vec<(i64, i64)> = Vec::new();
    let part = |whole: i64, of: i64, all: i64| {
        if of == all { whole } else { rounded(i128::from(whole) * i128::from(of), i128::from(all)) }
    };
    for (day, _, quantity, cost) in movements {
        if quantity > 0 {
            last = Some((quantity, cost));
            (stock.quantity, stock.value) = (stock.quantity + quantity, stock.value + cost);
            let (mut left, mut left_cost) = (quantity, cost);
            while left > 0 && !missing.is_empty() {
                let filled = left.min(missing[0].0);
                let (real, booked) = (part(left_cost, filled, left), part(missing[0].1, filled, missing[0].0));
                stock.issued += real - booked;
                stock.value -= real - booked;
                (left, left_cost) = (left - filled, left_cost - real);
                missing[0] = (missing[0].0 - filled, missing[0].1 - booked);
                if missing[0].0 == 0 {
                    missing.remove(0);
                }
            }
        } else {
            let wanted = -quantity;
            let there = stock.quantity.clamp(0, wanted);
            let mut cost = 0;
            if there > 0 {
                last = Some((stock.quantity, stock.value));
                cost = part(stock.value, there, stock.quantity);
            }
            if wanted > there {
                let (known, known_cost) = last.unwrap_or((1, 0));
                let booked = part(known_cost, wanted - there, known);
                missing.push((wanted - there, booked));
                cost += booked;
            }
            (stock.quantity, stock.value, stock.issued) =
                (stock.quantity - wanted, stock.value - cost, stock.issued + cost);
        }
        if day >= from {
            stock.lowest = stock.lowest.min(stock.quantity);
        }
    }
    stock
}

impl Model {
    /// The stock of an item, as if `instead` took the place of the document at a place.
    fn stock(&self, item: usize, instead: Option<Instead<'_>>, from: usize) -> Stock {
        let (without, with) = instead.unwrap_or((None, None));
        let there = self.documents.iter().enumerate().filter(|(at, document)| document.live && Some(*at) != without);
        let all = there.map(|(_, document)| (&document.trade, document.sequence)).chain(with);
        let movements = all.filter(|(trade, _)| trade.item == item).map(|(trade, sequence)| {
            let (quantity, total) = (trade.quantity, trade.quantity * trade.price);
            (trade.day, sequence, if trade.sells { -quantity } else { quantity }, in_base(total, trade.rate))
        });
        valued(movements.collect(), from)
    }

    /// Whether a change lets out more than there is.
    fn lacks(&self, item: usize, without: Option<usize>, with: Option<&Trade>, from: usize, takes: bool) -> bool {
        item == 1
            && takes
            && self.stock(item, Some((without, with.map(|trade| (trade, self.sequence)))), from).lowest < 0
    }

    fn live_document(&self, which: usize) -> Option<usize> {
        let live: Vec<usize> = (0..self.documents.len()).filter(|at| self.documents[*at].live).collect();
        (!live.is_empty()).then(|| live[which % live.len()])
    }

    fn live_money(&self, which: usize) -> Option<usize> {
        let live: Vec<usize> = (0..self.money.len()).filter(|at| self.money[*at].live).collect();
        (!live.is_empty()).then(|| live[which % live.len()])
    }

    fn is_allocated(&self, document: usize) -> bool {
        self.allocations.iter().any(|one| one.live && one.document == document)
    }

    fn control(&self, sells: bool) -> i64 {
        let documents = self.documents.iter().filter(|one| one.live && one.trade.sells == sells);
        let money = self.money.iter().filter(|one| one.live && one.comes_in == sells);
        let open: i64 = documents.map(|one| one.item.base_open).sum();
        let paid: i64 = money.map(|one| one.item.base_open).sum();
        open - paid
    }

    fn gain(&self) -> i64 {
        let live = self.allocations.iter().filter(|one| one.live);
        live.map(|one| {
            let more = one.money_base - one.document_base;
            if self.documents[one.document].trade.sells { more } else { -more }
        })
        .sum()
    }

    fn release(&mut self, at: usize) {
        let (money, document) = (self.allocations[at].money, self.allocations[at].document);
        let (cents, money_base, document_base) =
            (self.allocations[at].cents, self.allocations[at].money_base, self.allocations[at].document_base);
        let item = &mut self.money[money].item;
        (item.open, item.base_open) = (item.open + cents, item.base_open + money_base);
        let item = &mut self.documents[document].item;
        (item.open, item.base_open) = (item.open + cents, item.base_open + document_base);
        self.allocations[at].live = false;
    }
}

struct Side<'s> {
    shop: Shop<'s>,
    items: [String; 3],
    model: Model,
    turn: usize,
}

const fn resource(sells: bool) -> &'static str {
    if sells { "salesInvoices" } else { "purchaseInvoices" }
}

const fn money_resource(comes_in: bool) -> &'static str {
    if comes_in { "receipts" } else { "payments" }
}

impl<'s> Side<'s> {
    fn new(server: &'s Server) -> Self {
        let shop = Shop::open(server, Dialect::B);
        let items = [
            shop.item(json!({"negativeStock": "allow"})),
            shop.item(json!({"negativeStock": "forbid"})),
            shop.item(json!({"type": "service"})),
        ];
        Self { shop, items, model: Model::default(), turn: 0 }
    }

    /// Every other command speaks the other dialect.
    fn ask(&mut self, method: &str, resource: &str, path: &str, body: Option<&Value>) -> Said {
        self.turn += 1;
        let dialect = if self.turn.is_multiple_of(2) { Dialect::A } else { Dialect::B };
        self.shop.company.ask(dialect, method, resource, path, body)
    }

    fn body(&self, trade: &Trade) -> Value {
        let party = if trade.sells { &self.shop.customer } else { &self.shop.supplier };
        let line = json!({"itemId": self.items[trade.item], "quantity": trade.quantity, "unitPrice": shown_cents(trade.price)});
        json!({
            "date": date(trade.day), "partyId": party, "lines": [line],
            "currency": if trade.rate.is_some() { "USD" } else { "EUR" },
            "exchangeRate": trade.rate.map(|rate| RATES[rate].0)
        })
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each command")]
    fn run(&mut self, command: &Command) -> Result<(), TestCaseError> {
        match command.clone() {
            Command::Trade(trade) => {
                let body = self.body(&trade);
                let said = self.ask("POST", resource(trade.sells), "", Some(&body));
                if self.model.lacks(trade.item, None, Some(&trade), trade.day, trade.sells) {
                    let refused = expect(said, 409)?;
                    return ensure(refused.code.as_deref() == Some("insufficient_stock"), || {
                        refused.answer.text.clone()
                    });
                }
                let id = expect(said, 201)?.id();
                let item = Item::new(trade.quantity * trade.price, trade.rate);
                let sequence = self.model.sequence;
                self.model.documents.push(Document { id, trade, item, live: true, sequence });
            }
            Command::Edit { which, quantity, price } => {
                let Some(at) = self.model.live_document(which) else { return Ok(()) };
                let old = &self.model.documents[at];
                let trade = Trade { quantity, price, ..old.trade.clone() };
                let (path, new) = (format!("/{}", old.id), Item::new(quantity * price, trade.rate));
                let (allocated, relieved) = (old.item.total - old.item.open, old.item.base - old.item.base_open);
                let (left, base_left) = (new.total - allocated, new.base - relieved);
                let same = (quantity, price) == (old.trade.quantity, old.trade.price);
                let held = allocated != 0 && (left < 0 || (left == 0 && base_left != 0));
                let lacks = self.model.lacks(trade.item, Some(at), Some(&trade), trade.day, true);
                let body = self.body(&trade);
                let said = self.ask("PUT", resource(trade.sells), &path, Some(&body));
                if same {
                    expect(said, 200)?;
                    return Ok(());
                }
                if held || lacks {
                    expect(said, 409)?;
                    return Ok(());
                }
                expect(said, 200)?;
                let sequence = self.model.sequence;
                let document = &mut self.model.documents[at];
                document.item = Item { open: left, base_open: base_left, ..new };
                (document.trade, document.sequence) = (trade, sequence);
            }
            Command::Void { which } => {
                let Some(at) = self.model.live_document(which) else { return Ok(()) };
                let document = &self.model.documents[at];
                let lacks = self.model.lacks(document.trade.item, Some(at), None, document.trade.day, true);
                let refused = self.model.is_allocated(at) || lacks;
                let (path, name) = (format!("/{}", document.id), resource(document.trade.sells));
                let said = self.ask("DELETE", name, &path, None);
                expect(said, if refused { 409 } else { 200 })?;
                self.model.documents[at].live = refused;
            }
            Command::Pay { day, comes_in, cents, rate } => {
                let party = if comes_in { &self.shop.customer } else { &self.shop.supplier };
                let body = json!({
                    "date": date(day), "partyId": party, "accountId": self.shop.company.account("1010"),
                    "amount": shown_cents(cents), "currency": if rate.is_some() { "USD" } else { "EUR" },
                    "exchangeRate": rate.map(|rate| RATES[rate].0)
                });
                let id = expect(self.ask("POST", money_resource(comes_in), "", Some(&body)), 201)?.id();
                self.model.money.push(Money { id, comes_in, rate, item: Item::new(cents, rate), live: true });
            }
            Command::Allocate { money, document, part } => {
                let (Some(money), Some(document)) = (self.model.live_money(money), self.model.live_document(document))
                else {
                    return Ok(());
                };
                let (source, target) = (&self.model.money[money], &self.model.documents[document]);
                let fits =
                    source.comes_in == target.trade.sells && source.rate.is_some() == target.trade.rate.is_some();
                // A part of 100 is all that can be settled; one of 101 is a cent more.
                let most = source.item.open.min(target.item.open);
                let cents = if part == 101 { most + 1 } else { (most * part / 100).max(1) };
                let over = cents > most;
                let body = json!({"sourceId": source.id, "targetId": target.id, "amount": shown_cents(cents)});
                let said = self.ask("POST", "allocations", "", Some(&body));
                if !fits {
                    expect(said, 400)?;
                    return Ok(());
                }
                if over {
                    let refused = expect(said, 409)?;
                    return ensure(refused.code.as_deref() == Some("over_allocated"), || refused.answer.text.clone());
                }
                let id = expect(said, 201)?.id();
                let source = &mut self.model.money[money].item;
                let money_base = source.relief(cents);
                (source.open, source.base_open) = (source.open - cents, source.base_open - money_base);
                let target = &mut self.model.documents[document].item;
                let document_base = target.relief(cents);
                (target.open, target.base_open) = (target.open - cents, target.base_open - document_base);
                self.model.allocations.push(Allocation {
                    id,
                    money,
                    document,
                    cents,
                    money_base,
                    document_base,
                    live: true,
                });
            }
            Command::Unallocate { which } => {
                let live: Vec<usize> =
                    (0..self.model.allocations.len()).filter(|at| self.model.allocations[*at].live).collect();
                if live.is_empty() {
                    return Ok(());
                }
                let at = live[which % live.len()];
                let path = format!("/{}", self.model.allocations[at].id);
                expect(self.ask("DELETE", "allocations", &path, None), 200)?;
                self.model.release(at);
            }
            Command::VoidMoney { which } => {
                let Some(at) = self.model.live_money(which) else { return Ok(()) };
                let (path, name) =
                    (format!("/{}", self.model.money[at].id), money_resource(self.model.money[at].comes_in));
                expect(self.ask("DELETE", name, &path, None), 200)?;
                for allocation in 0..self.model.allocations.len() {
                    if self.model.allocations[allocation].live && self.model.allocations[allocation].money == at {
                        self.model.release(allocation);
                    }
                }
                self.model.money[at].live = false;
            }
            Command::SendBack { which } => {
                let Some(at) = self.model.live_document(which) else { return Ok(()) };
                let (path, name) =
                    (format!("/{}", self.model.documents[at].id), resource(self.model.documents[at].trade.sells));
                let read = expect(self.ask("GET", name, &path, None), 200)?.data;
                let back = expect(self.ask("PUT", name, &path, Some(&read)), 200)?.data;
                ensure(back == read, || format!("sent back {read}, and it became {back}"))?;
            }
        }
        self.model.sequence += 1;
        Ok(())
    }

    fn agrees(&mut self) -> Result<(), TestCaseError> {
        let listed = self.ask("GET", "accounts", "?pageSize=500", None).expect(200).data;
        let told = |code: &str| {
            let account = listed["items"].as_array().unwrap().iter().find(|one| one["code"] == code).unwrap();
            let balance = cents(&account["baseBalance"]);
            if account["normalBalance"] == "credit" { -balance } else { balance }
        };
        let stocks = [0, 1].map(|item| self.model.stock(item, None, 0));
        for (code, expected) in [
            ("1200", self.model.control(true)),
            ("2100", -self.model.control(false)),
            ("1300", stocks.iter().map(|stock| stock.value).sum()),
            ("5000", stocks.iter().map(|stock| stock.issued).sum()),
            ("4900", -self.model.gain()),
        ] {
            let told = told(code);
            ensure(told == expected, || {
                format!("{code}: {} expected, {} told", shown_cents(expected), shown_cents(told))
            })?;
        }
        for (item, stock) in self.items.iter().zip(stocks) {
            let (quantity, value) = self.shop.stock(item);
            let expected = (stock.quantity.to_string(), shown_cents(stock.value));
            ensure((quantity.clone(), value.clone()) == expected, || {
                format!("stock {expected:?} expected, {quantity} {value} told")
            })?;
        }
        for sells in [true, false] {
            let listed = self.ask("GET", resource(sells), "?pageSize=500", None).expect(200).data;
            let listed = listed["items"].as_array().unwrap();
            for document in self.model.documents.iter().filter(|one| one.trade.sells == sells) {
                let told = listed.iter().find(|one| id(one) == document.id).unwrap();
                let status = match (document.live, document.item.open) {
                    (false, _) => "void",
                    (true, 0) => "paid",
                    (true, open) if open < document.item.total => "partiallyPaid",
                    (true, _) => "open",
                };
                let open = if document.live { document.item.open } else { 0 };
                let found = (told["status"].as_str().unwrap(), cents(&told["balanceDue"]));
                ensure(found == (status, open), || format!("{status} {open} expected: {told}"))?;
            }
        }
        Ok(())
    }
}

on_both_engines! {
    fn open_items_and_stock_agree_with_a_naive_recomputation(server) {
        each_stream(&vec(command(), 1..30), |commands| {
            let mut side = Side::new(server);
            for command in &commands {
                side.run(command)?;
                side.agrees()?;
            }
            let failed = side.shop.company.failed_checks();
            ensure(failed.is_empty(), || format!("the proof fails: {failed:?}"))
        });
    }
}

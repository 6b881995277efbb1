//! A reference model of orders and goods: a plain list of documents and of what each follows, from which every quantity
//! and what waits for its invoice are counted anew, naively, after every command. The server must agree.

use crate::harness::server::Said;
use crate::harness::shop::{Shop, cents, id, shown_cents};
use crate::harness::streams::{each_stream, ensure, expect};
use crate::harness::{Dialect, Server, on_both_engines};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

/// What each piece costs that is sold, in cents.
const COST: i64 = 600;

#[derive(Debug, Clone)]
enum Command {
    Order { sells: bool, quantity: i64, price: i64 },
    Deliver { order: usize, quantity: i64 },
    InvoiceNote { note: usize, quantity: i64 },
    InvoiceOrder { order: usize },
    Return { note: usize, quantity: i64 },
    Credit { back: usize, quantity: i64 },
    CreditInvoice { invoice: usize, quantity: i64 },
    Close { order: usize },
    Reopen { order: usize },
    Edit { order: usize, quantity: i64 },
    Void { which: usize },
    SendBack { which: usize },
}

fn command() -> impl Strategy<Value = Command> {
    let (which, some) = (any::<usize>, 1..12_i64);
    prop_oneof![
        3 => (any::<bool>(), 1..12_i64, 1..10_i64).prop_map(|(sells, quantity, price)| Command::Order { sells, quantity, price }),
        5 => (which(), some.clone()).prop_map(|(order, quantity)| Command::Deliver { order, quantity }),
        4 => (which(), some.clone()).prop_map(|(note, quantity)| Command::InvoiceNote { note, quantity }),
        2 => which().prop_map(|order| Command::InvoiceOrder { order }),
        3 => (which(), 1..6_i64).prop_map(|(note, quantity)| Command::Return { note, quantity }),
        3 => (which(), 1..6_i64).prop_map(|(back, quantity)| Command::Credit { back, quantity }),
        2 => (which(), 1..4_i64).prop_map(|(invoice, quantity)| Command::CreditInvoice { invoice, quantity }),
        1 => which().prop_map(|order| Command::Close { order }),
        1 => which().prop_map(|order| Command::Reopen { order }),
        2 => (which(), some).prop_map(|(order, quantity)| Command::Edit { order, quantity }),
        4 => which().prop_map(|which| Command::Void { which }),
        1 => which().prop_map(|which| Command::SendBack { which }),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Order,
    Note,
    Return,
    Invoice,
    Credit,
}

#[derive(Debug, Clone)]
struct Document {
    id: String,
    /// Its only line, that of an order or a note.
    line: String,
    kind: Kind,
    sells: bool,
    quantity: i64,
    price: i64,
    live: bool,
    closed: bool,
    /// Of what comes back: what nobody had invoiced.
    uncharged: i64,
    /// What it is made of: which document, and how many of it.
    parts: Vec<(usize, i64)>,
}

impl Document {
    const fn resource(&self) -> &'static str {
        match (self.kind, self.sells) {
            (Kind::Order, true) => "salesOrders",
            (Kind::Order, false) => "purchaseOrders",
            (Kind::Note | Kind::Return, true) => "deliveryNotes",
            (Kind::Note | Kind::Return, false) => "receiptNotes",
            (Kind::Invoice, true) => "salesInvoices",
            (Kind::Invoice, false) => "purchaseInvoices",
            (Kind::Credit, true) => "creditNotes",
            (Kind::Credit, false) => "debitNotes",
        }
    }
}

/// How far a document has got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Figures {
    fulfilled: i64,
    invoiced: i64,
    returned: i64,
    open: i64,
}

#[derive(Default)]
struct Model(Vec<Document>);

impl Model {
    /// The live documents of a kind that follow one, and how many of it.
    fn followers(&self, of: usize, kind: Kind) -> Vec<(usize, i64)> {
        let live = self.0.iter().enumerate().filter(|(_, one)| one.live && one.kind == kind);
        live.flat_map(|(at, one)| one.parts.iter().filter(|(source, _)| *source == of).map(move |part| (at, part.1)))
            .collect()
    }

    fn sum(&self, of: usize, kind: Kind) -> i64 {
        self.followers(of, kind).iter().map(|(_, quantity)| quantity).sum()
    }

    fn figures(&self, at: usize) -> Figures {
        let one = &self.0[at];
        match one.kind {
            Kind::Order => {
                let notes = self.followers(at, Kind::Note);
                let of_notes: Vec<Figures> = notes.iter().map(|(note, _)| self.figures(*note)).collect();
                let direct = self.sum(at, Kind::Invoice);
                let fulfilled = self.sum(at, Kind::Note) + direct;
                let brought = self.brought_back(at);
                Figures {
                    fulfilled,
                    invoiced: direct - brought + of_notes.iter().map(|note| note.invoiced).sum::<i64>(),
                    returned: brought + of_notes.iter().map(|note| note.returned).sum::<i64>(),
                    open: if one.closed { 0 } else { (one.quantity - fulfilled).max(0) },
                }
            }
            Kind::Note => {
                let brought = self.brought_back(at);
                let returned = self.sum(at, Kind::Return) + brought;
                let credited: i64 =
                    self.followers(at, Kind::Return).iter().map(|(back, _)| self.sum(*back, Kind::Credit)).sum();
                let invoiced = self.sum(at, Kind::Invoice) - credited - brought;
                Figures { invoiced, returned, open: one.quantity - returned - invoiced, ..Figures::default() }
            }
            Kind::Return => {
                let invoiced = self.sum(at, Kind::Credit);
                Figures { invoiced, open: one.quantity - one.uncharged - invoiced, ..Figures::default() }
            }
            Kind::Invoice | Kind::Credit => Figures::default(),
        }
    }

    /// What credits of invoices brought back of a line that these billed.
    fn brought_back(&self, of: usize) -> i64 {
        let invoices = self.followers(of, Kind::Invoice).into_iter().filter(|(at, _)| self.0[*at].parts[0].0 == of);
        invoices.map(|(at, _)| self.sum(at, Kind::Credit)).sum()
    }

    fn status(&self, at: usize) -> String {
        let (one, figures) = (&self.0[at], self.figures(at));
        let word = |sold: &str, bought: &str| if one.sells { sold.to_owned() } else { bought.to_owned() };
        match one.kind {
            Kind::Order if !one.live => "cancelled".into(),
            _ if !one.live => "void".into(),
            Kind::Order => {
                let notes = self.followers(at, Kind::Note);
                let waits = notes.iter().any(|(note, _)| self.figures(*note).open != 0);
                match (one.closed, figures.open, waits) {
                    (true, ..) | (_, 0, false) => "closed".into(),
                    (_, 0, true) => word("fulfilled", "received"),
                    _ if figures.fulfilled > 0 => word("partiallyFulfilled", "partiallyReceived"),
                    _ => "open".into(),
                }
            }
            Kind::Note if figures.open <= 0 => word("invoiced", "billed"),
            Kind::Return if figures.open <= 0 && figures.invoiced > 0 => word("invoiced", "billed"),
            _ if figures.invoiced > 0 => word("partiallyInvoiced", "partiallyBilled"),
            _ => "posted".into(),
        }
    }

    fn pick(&self, which: usize, kind: Option<Kind>) -> Option<usize> {
        let found: Vec<usize> =
            (0..self.0.len()).filter(|at| kind.is_none_or(|kind| self.0[*at].kind == kind)).collect();
        found.get(which % found.len().max(1)).copied()
    }

    /// Whether anything came of it.
    fn is_touched(&self, at: usize) -> bool {
        let figures = self.figures(at);
        figures.fulfilled != 0 || figures.invoiced != 0 || figures.returned != 0
    }
}

struct Side<'s> {
    shop: Shop<'s>,
    /// What is sold, and what is bought.
    items: [String; 2],
    model: Model,
    turn: usize,
}

impl<'s> Side<'s> {
    fn new(server: &'s Server) -> Self {
        let shop = Shop::open(server, Dialect::A);
        let items = [shop.item(json!({"name": "Sold"})), shop.item(json!({"name": "Bought"}))];
        shop.purchase("2026-01-01", json!([{"itemId": items[0], "quantity": 1000, "unitPrice": 6}]));
        Self { shop, items, model: Model::default(), turn: 0 }
    }

    /// Each command through the other dialect than the last one.
    fn ask(&mut self, method: &str, resource: &str, path: &str, body: Option<&Value>) -> Said {
        self.turn += 1;
        let dialect = if self.turn.is_multiple_of(2) { Dialect::A } else { Dialect::B };
        self.shop.company.ask(dialect, method, resource, path, body)
    }

    /// Makes the next document of one, where it is allowed.
    fn go_on(
        &mut self,
        from: usize,
        (kind, step, quantity): (Kind, &str, i64),
        allowed: bool,
    ) -> Result<(), TestCaseError> {
        let source = self.model.0[from].clone();
        let body = json!({"date": "2026-03-01", "lines": [{"lineId": source.line, "quantity": quantity}]});
        let said = self.ask("POST", source.resource(), &format!("/{}/{step}", source.id), Some(&body));
        let made = expect(said, if allowed { 201 } else { 409 })?;
        if allowed {
            let uncharged = if kind == Kind::Return { quantity.min(self.model.figures(from).open.max(0)) } else { 0 };
            self.keep(&made.data, kind, &source, (quantity, uncharged), vec![(from, quantity)]);
        }
        Ok(())
    }

    fn keep(
        &mut self,
        made: &Value,
        kind: Kind,
        source: &Document,
        (quantity, uncharged): (i64, i64),
        parts: Vec<(usize, i64)>,
    ) {
        let line = made["lines"][0]["id"].as_str().unwrap().to_owned();
        let document = Document {
            id: id(made).to_owned(),
            line,
            kind,
            sells: source.sells,
            quantity,
            price: source.price,
            live: true,
            closed: false,
            uncharged,
            parts,
        };
        self.model.0.push(document);
    }

    fn run(&mut self, command: &Command) -> Result<(), TestCaseError> {
        match *command {
            Command::Order { sells, quantity, price } => self.order(sells, quantity, price),
            Command::Deliver { order, quantity } => {
                let Some(at) = self.model.pick(order, Some(Kind::Order)) else { return Ok(()) };
                let one = &self.model.0[at];
                let fits = one.live && !one.closed && quantity <= self.model.figures(at).open;
                let step = if one.sells { "delivery-notes" } else { "receipt-notes" };
                self.go_on(at, (Kind::Note, step, quantity), fits)
            }
            Command::InvoiceNote { note, quantity } => {
                let Some(at) = self.model.pick(note, Some(Kind::Note)) else { return Ok(()) };
                let fits = self.model.0[at].live && quantity <= self.model.figures(at).open;
                self.go_on(at, (Kind::Invoice, "invoices", quantity), fits)
            }
            Command::InvoiceOrder { order } => self.invoice_order(order),
            Command::Return { note, quantity } => {
                let Some(at) = self.model.pick(note, Some(Kind::Note)) else { return Ok(()) };
                let one = &self.model.0[at];
                let fits = one.live && quantity <= one.quantity - self.model.figures(at).returned;
                self.go_on(at, (Kind::Return, "returns", quantity), fits)
            }
            Command::Credit { back, quantity } => {
                let Some(at) = self.model.pick(back, Some(Kind::Return)) else { return Ok(()) };
                let one = &self.model.0[at];
                let fits = one.live && {
                    let (own, origin) = (self.model.figures(at), self.model.figures(one.parts[0].0));
                    quantity <= own.open.min(-origin.open)
                };
                let step = if one.sells { "credit-notes" } else { "debit-notes" };
                self.go_on(at, (Kind::Credit, step, quantity), fits)
            }
            Command::CreditInvoice { invoice, quantity } => self.credit_invoice(invoice, quantity),
            Command::Close { order } => self.close(order, true),
            Command::Reopen { order } => self.close(order, false),
            Command::Edit { order, quantity } => self.edit(order, quantity),
            Command::Void { which } => self.void(which),
            Command::SendBack { which } => {
                let Some(at) = self.model.pick(which, None).filter(|at| self.model.0[*at].live) else { return Ok(()) };
                let (resource, path) = (self.model.0[at].resource(), format!("/{}", self.model.0[at].id));
                let read = expect(self.ask("GET", resource, &path, None), 200)?.data;
                let back = expect(self.ask("PUT", resource, &path, Some(&read)), 200)?.data;
                ensure(back == read, || format!("sent back {read}, and it became {back}"))
            }
        }
    }

    fn order(&mut self, sells: bool, quantity: i64, price: i64) -> Result<(), TestCaseError> {
        let (party, item) =
            if sells { (&self.shop.customer, &self.items[0]) } else { (&self.shop.supplier, &self.items[1]) };
        let body = json!({"date": "2026-02-01", "partyId": party, "lines": [
            {"itemId": item, "quantity": quantity, "unitPrice": price}
        ]});
        let resource = if sells { "salesOrders" } else { "purchaseOrders" };
        let made = expect(self.ask("POST", resource, "", Some(&body)), 201)?.data;
        let like = Document {
            id: String::new(),
            line: String::new(),
            kind: Kind::Order,
            sells,
            quantity,
            price,
            live: true,
            closed: false,
            uncharged: 0,
            parts: Vec::new(),
        };
        self.keep(&made, Kind::Order, &like, (quantity, 0), Vec::new());
        Ok(())
    }

    fn invoice_order(&mut self, order: usize) -> Result<(), TestCaseError> {
        let Some(at) = self.model.pick(order, Some(Kind::Order)) else { return Ok(()) };
        let source = self.model.0[at].clone();
        let notes = self.model.followers(at, Kind::Note).into_iter().map(|(note, _)| note);
        let waits = notes.map(|note| (note, self.model.figures(note).open)).filter(|(_, open)| *open > 0);
        let mut parts: Vec<(usize, i64)> = waits.collect();
        parts.extend(Some((at, self.model.figures(at).open)).filter(|(_, open)| *open > 0));
        let allowed = source.live && !source.closed && !parts.is_empty();
        let said = self.ask(
            "POST",
            source.resource(),
            &format!("/{}/invoices", source.id),
            Some(&json!({"date": "2026-03-01"})),
        );
        let made = expect(said, if allowed { 201 } else { 409 })?;
        if allowed {
            let quantity: i64 = parts.iter().map(|(_, quantity)| quantity).sum();
            let net = cents(&made.data["netTotal"]);
            ensure(net == quantity * source.price * 100, || format!("{quantity} expected: {}", made.data))?;
            self.keep(&made.data, Kind::Invoice, &source, (quantity, 0), parts);
        }
        Ok(())
    }

    /// Credits the first line of an invoice; its goods come back with that.
    fn credit_invoice(&mut self, invoice: usize, quantity: i64) -> Result<(), TestCaseError> {
        let Some(at) = self.model.pick(invoice, Some(Kind::Invoice)) else { return Ok(()) };
        let source = self.model.0[at].clone();
        let (billed, most) = source.parts[0];
        let origin = self.model.figures(billed);
        let there =
            if self.model.0[billed].kind == Kind::Order { origin.fulfilled } else { self.model.0[billed].quantity };
        let credited = self.model.sum(at, Kind::Credit);
        let (field, resource) =
            if source.sells { ("salesInvoiceId", "creditNotes") } else { ("purchaseInvoiceId", "debitNotes") };
        let body = json!({"date": "2026-03-01", field: source.id, "lines": [{"sourceLineId": source.line, "quantity": quantity}]});
        let said = self.ask("POST", resource, "", Some(&body));
        if !source.live {
            expect(said, 400)?;
            return Ok(());
        }
        let fits = credited + quantity <= most && quantity <= there - origin.returned;
        let made = expect(said, if fits { 201 } else { 409 })?;
        if fits {
            self.keep(&made.data, Kind::Credit, &source, (quantity, 0), vec![(at, quantity)]);
        }
        Ok(())
    }

    fn close(&mut self, order: usize, closes: bool) -> Result<(), TestCaseError> {
        let Some(at) = self.model.pick(order, Some(Kind::Order)) else { return Ok(()) };
        let one = self.model.0[at].clone();
        let allowed = one.live && one.closed != closes;
        let step = if closes { "close" } else { "reopen" };
        expect(
            self.ask("POST", one.resource(), &format!("/{}/{step}", one.id), None),
            if allowed { 200 } else { 409 },
        )?;
        if allowed {
            self.model.0[at].closed = closes;
        }
        Ok(())
    }

    fn edit(&mut self, order: usize, quantity: i64) -> Result<(), TestCaseError> {
        let Some(at) = self.model.pick(order, Some(Kind::Order)) else { return Ok(()) };
        let (one, figures) = (self.model.0[at].clone(), self.model.figures(at));
        let path = format!("/{}", one.id);
        let mut body = expect(self.ask("GET", one.resource(), &path, None), 200)?.data;
        body["lines"][0]["quantity"] = quantity.into();
        let said = self.ask("PUT", one.resource(), &path, Some(&body));
        if one.live && quantity == one.quantity {
            expect(said, 200)?;
            return Ok(());
        }
        let least = figures.fulfilled.max(figures.invoiced).min(one.quantity);
        let allowed = one.live && !one.closed && quantity >= least;
        // A void order that is sent back unchanged has nothing to be refused for.
        let unchanged = !one.live && quantity == one.quantity;
        expect(said, if allowed || unchanged { 200 } else { 409 })?;
        if allowed {
            self.model.0[at].quantity = quantity;
        }
        Ok(())
    }

    fn void(&mut self, which: usize) -> Result<(), TestCaseError> {
        let Some(at) = self.model.pick(which, None).filter(|at| self.model.0[*at].live) else { return Ok(()) };
        let one = self.model.0[at].clone();
        let stands = match one.kind {
            Kind::Order => one.closed || self.model.is_touched(at),
            Kind::Note | Kind::Return => self.model.is_touched(at),
            // What was credited of its goods rests on it.
            Kind::Invoice => {
                let credited = self.model.sum(at, Kind::Credit) > 0;
                credited || one.parts.iter().any(|(note, quantity)| self.model.figures(*note).invoiced < *quantity)
            }
            Kind::Credit => false,
        };
        let said = self.ask("DELETE", one.resource(), &format!("/{}", one.id), None);
        expect(said, if stands { 409 } else { 200 })?;
        self.model.0[at].live = stands;
        Ok(())
    }

    fn agrees(&mut self) -> Result<(), TestCaseError> {
        let listed = self.ask("GET", "accounts", "?pageSize=500", None).expect(200).data;
        for (code, sells) in [("1350", true), ("2150", false)] {
            let notes = (0..self.model.0.len()).filter(|at| {
                let one = &self.model.0[*at];
                one.kind == Kind::Note && one.live && one.sells == sells
            });
            let worth = |at: usize| if sells { COST } else { self.model.0[at].price * 100 };
            let waits: i64 = notes.map(|at| self.model.figures(at).open * worth(at)).sum();
            let account = listed["items"].as_array().unwrap().iter().find(|one| one["code"] == code).unwrap();
            let told = cents(&account["baseBalance"]);
            ensure(told == waits, || format!("{code}: {} expected, {} told", shown_cents(waits), shown_cents(told)))?;
        }
        for (place, sells) in [(0, true), (1, false)] {
            let item = self.items[place].clone();
            let item = self.ask("GET", "items", &format!("/{item}"), None).expect(200).data;
            let live = |at: &usize| self.model.0[*at].kind == Kind::Order && self.model.0[*at].sells == sells;
            let orders = (0..self.model.0.len()).filter(|at| live(at) && self.model.0[*at].live);
            let promised: i64 = orders.map(|at| self.model.figures(at).open).sum();
            let told = &item[if sells { "quantityCommitted" } else { "quantityOnOrder" }];
            ensure(told == &json!(promised), || format!("{promised} are promised: {item}"))?;
        }
        for resource in ["salesOrders", "purchaseOrders", "deliveryNotes", "receiptNotes"] {
            let listed = self.ask("GET", resource, "?pageSize=500", None).expect(200).data;
            let listed = listed["items"].as_array().unwrap();
            for at in (0..self.model.0.len()).filter(|at| self.model.0[*at].resource() == resource) {
                let one = &self.model.0[at];
                let told = listed.iter().find(|told| id(told) == one.id).unwrap();
                let status = self.model.status(at);
                ensure(told["status"] == status, || format!("{status} expected: {told}"))?;
                let figures = if one.live { self.model.figures(at) } else { Figures::default() };
                let line = &told["lines"][0];
                let number = |name: &str| line[name].as_i64().unwrap_or_default();
                let found = Figures {
                    fulfilled: number("fulfilledQuantity"),
                    invoiced: number("invoicedQuantity"),
                    returned: number("returnedQuantity"),
                    open: number("openQuantity"),
                };
                let expected = Figures { open: figures.open.max(0), ..figures };
                ensure(found == expected, || format!("{expected:?} expected: {told}"))?;
                let ordered = found.fulfilled + found.open + number("cancelledQuantity");
                let over = found.fulfilled > one.quantity;
                ensure(one.kind != Kind::Order || !one.live || over || ordered == one.quantity, || {
                    format!("ordered is delivered, open and cancelled: {told}")
                })?;
            }
        }
        Ok(())
    }
}

on_both_engines! {
    fn orders_and_goods_agree_with_a_naive_count(server) {
        each_stream(&vec(command(), 1..40), |commands| {
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

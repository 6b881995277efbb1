//! A studio that sells days of work: projects as orders that are billed as they go, retainers, subcontractors, and customers
//! who pay in other currencies. Its last year is closed.

use super::trader::rate_text;
use super::{Scale, Story, house, pay};
use crate::calendar::{is_workday, months_before, workday_from};
use crate::chance::{Chance, Pack};
use crate::script::{Made, Script, Step, account, money, settling};
use ledger_core::day::Day;
use serde_json::{Value, json};

const CLIENTS: &[(&str, &str, i64)] = &[
    ("Avon Valley Housing", "GBP", 4),
    ("Bramble & Finch", "GBP", 11),
    ("Clifton Museum Trust", "GBP", -2),
    ("Dockside Theatre", "GBP", 28),
    ("Eastgate Logistics", "GBP", 6),
    ("Nordsee Werft", "EUR", 3),
    ("Palo Verde Energy", "USD", 9),
    ("Severn Bank", "GBP", 0),
];

const PROJECTS: &[&str] = &[
    "New website",
    "Wayfinding",
    "Brand book",
    "Booking system",
    "Annual report",
    "Exhibition",
    "Data room",
    "Intranet",
];

pub(super) struct Studio {
    script: Script<Self>,
    chance: Chance,
    scale: Scale,
    day: Day,
    begun: bool,
    clients: Vec<(Value, &'static str, i64)>,
    days: Value,
    training: Value,
    vat: Value,
    outside: Value,
    bank: Value,
    euros: Value,
    dollars: Value,
    card: Value,
    freelancer: Value,
    landlord: Value,
    eur: i64,
    usd: i64,
    bills: i64,
    /// What becomes of invoices.
    invoices: Pack,
}

impl Studio {
    pub(super) fn new(today: Day, seed: u64, scale: Scale) -> Self {
        let first = months_before(today, scale.months);
        let nothing = || Value::Null;
        let mut chance = Chance::of(seed);
        Self {
            script: Script::between(first, today),
            invoices: Pack::cut(&mut chance),
            chance,
            scale,
            day: first,
            begun: false,
            clients: Vec::new(),
            days: nothing(),
            training: nothing(),
            vat: nothing(),
            outside: nothing(),
            bank: account("1010"),
            euros: nothing(),
            dollars: nothing(),
            card: account("2400"),
            freelancer: nothing(),
            landlord: nothing(),
            eur: 8_520,
            usd: 7_810,
            bills: 300,
        }
    }

    fn masters(&mut self) {
        let script = &mut self.script;
        let mut abroad = |code: &str, currency: &str, iban: &str| {
            let bank = json!({"iban": iban, "bankName": "Thames Bank"});
            let body = json!({
                "code": code, "name": format!("{currency} account"), "type": "bank", "currency": currency,
                "parentId": account("1"), "bankDetails": bank
            });
            script.make("accountsCreate", body).id()
        };
        (self.euros, self.dollars) =
            (abroad("1020", "EUR", "GB47DUET00000000001020"), abroad("1030", "USD", "GB68DUET00000000001030"));
        let mut code = |code: &str, name: &str, rate: i64, kind: &str, boxes: [&str; 3]| {
            let component = json!({"name": "VAT", "rate": rate, "kind": kind, "boxes": {
                "salesBase": boxes[0], "salesTax": boxes[1], "purchaseClaim": boxes[2]
            }});
            script.make("taxCodesCreate", json!({"code": code, "name": name, "components": [component]})).id()
        };
        self.vat = code("VAT20", "VAT 20 %", 20, "standard", ["6", "1", "4"]);
        self.outside = code("OUT", "Outside the scope", 0, "outside", ["6", "1", "4"]);
        for number in 0..self.scale.customers.max(CLIENTS.len()) {
            let (name, currency, late) = CLIENTS[number % CLIENTS.len()];
            let turn = number / CLIENTS.len();
            let name = if turn == 0 { name.to_owned() } else { format!("{name} {}", house(turn)) };
            let tax = if currency == "GBP" { &self.vat } else { &self.outside };
            let body = json!({
                "name": name, "code": format!("CL-{}", 101 + number), "isCustomer": true, "currency": currency,
                "paymentTermDays": 30, "salesTaxCodeId": tax
            });
            self.clients.push((script.make("partiesCreate", body).id(), currency, late));
        }
        let mut supplier = |name: &str, code: &str| {
            let body =
                json!({"name": name, "code": code, "isSupplier": true, "isCustomer": false, "paymentTermDays": 14});
            script.make("partiesCreate", body).id()
        };
        self.freelancer = supplier("Imogen Hale, developer", "SU-1");
        self.landlord = supplier("Wharf Street Studios", "SU-2");
        let mut service = |name: &str, code: &str, unit: &str, price: i64| {
            let body = json!({"name": name, "code": code, "type": "service", "unit": unit, "salePrice": money(price),
                              "incomeAccountId": account("4100")});
            script.make("itemsCreate", body).id()
        };
        self.days = service("Day of design and development", "DAY", "day", 72_000);
        self.training = service("Training", "TRAIN", "day", 95_000);
        let line = |account: Value, side: &str, cents: i64| json!({"accountId": account, side: money(cents)});
        let body = json!({"date": script.first, "kind": "opening", "narration": "What there was before", "lines": [
            line(self.bank.clone(), "debit", 3_150_000), line(account("1600"), "debit", 1_240_000), line(account("3000"), "credit", 4_390_000)
        ]});
        script.make("journalsCreate", body);
    }

    fn own(&self, currency: &str) -> Value {
        match currency {
            "EUR" => self.euros.clone(),
            "USD" => self.dollars.clone(),
            _ => self.bank.clone(),
        }
    }

    fn client(&mut self) -> usize {
        self.chance.place(self.clients.len())
    }

    fn lines(&self, client: usize, lines: Vec<(Value, i64, String)>) -> Vec<Value> {
        let tax = if self.clients[client].1 == "GBP" { &self.vat } else { &self.outside };
        let line = |(item, quantity, words): (Value, i64, String)| json!({"itemId": item, "quantity": quantity, "description": words, "taxCodeId": tax});
        lines.into_iter().map(line).collect()
    }

    /// A project is an order; what was worked is billed at the end of each month.
    fn project(&mut self, day: Day) {
        let client = self.client();
        let about = PROJECTS[self.chance.place(PROJECTS.len())];
        let days = self.chance.between(6, 20);
        let lines = self.lines(client, vec![(self.days.clone(), days, about.to_owned())]);
        let body = json!({
            "date": day, "partyId": self.clients[client].0, "narration": about, "validUntil": day.plus_days(30),
            "expectedDate": day.plus_days(75), "lines": lines
        });
        let order = self.script.make("salesOrdersCreate", body);
        match self.chance.below(100) {
            0..=7 => {
                self.script.act("salesOrdersCancel", order.id(), json!({"reason": "Another studio was chosen"}));
            }
            8..=15 => {
                self.script.act("salesOrdersClose", order.id(), Value::Null);
            }
            _ => self.stage(workday_from(day.plus_days(24)), client, order, (days, days / 3 + 1)),
        }
    }

    fn stage(&mut self, day: Day, client: usize, order: Made, (left, each): (i64, i64)) {
        self.script.later(day, move |own, day| {
            let worked = each.min(left);
            let body = json!({"date": day, "lines": [{"lineId": order.line(0), "quantity": worked}]});
            let invoice = own.script.act("salesOrdersInvoice", order.id(), body);
            own.paid(day, client, invoice);
            if left > worked {
                own.stage(workday_from(day.plus_days(28)), client, order, (left - worked, each));
            }
        });
    }

    fn invoice(&mut self, day: Day) {
        let client = self.client();
        let many = self.chance.between(1, 4);
        let item = if self.chance.happens(30) { self.training.clone() } else { self.days.clone() };
        let words = format!("{} in {}", if many == 1 { "A day" } else { "Days" }, day.year_and_month());
        let lines = self.lines(client, vec![(item, many, words)]);
        let body = json!({"date": day, "partyId": self.clients[client].0, "lines": lines});
        let invoice = self.script.make("salesInvoicesCreate", body);
        match self.chance.below(100) {
            0..=3 => {
                self.script.act("salesInvoicesVoid", invoice.id(), json!({"date": day, "reason": "Wrong client"}));
            }
            4..=8 if self.script.is_fresh(day) => {
                let body = json!({"date": day, "kind": "priceAdjustment", "reason": "Half a day was not needed", "lines": [
                    {"lineId": invoice.line(0), "amount": money(36_000)}
                ]});
                self.script.credited("salesInvoicesCredit", &invoice, body);
            }
            _ => self.paid(day, client, invoice),
        }
    }

    fn paid(&mut self, day: Day, client: usize, invoice: Made) {
        let late = self.clients[client].2;
        let whole = match self.invoices.deal() {
            0..=5 if self.script.is_fresh(day) => return,
            6..=13 if self.script.is_fresh(day) => false,
            _ => true,
        };
        let on = workday_from(day.plus_days((30 + late + self.chance.between(-5, 5)).max(2)));
        self.script.later(on, move |own, day| {
            let (party, currency, _) = own.clients[client].clone();
            let amount = if whole { invoice.total() } else { money(30_000) };
            own.script.make("receiptsCreate", settling(day, (&party, own.own(currency)), &invoice, amount));
        });
    }

    fn bill(&mut self, day: Day, supplier: Value, (code, about, cents): (&str, &str, i64), dated: Day) {
        self.bills += 1;
        let body = json!({
            "date": dated, "partyId": supplier, "reference": format!("B-{}", self.bills),
            "lines": [{"accountId": account(code), "description": about, "quantity": 1, "unitPrice": money(cents), "taxCodeId": self.vat}]
        });
        let bill = self.script.make("purchaseInvoicesCreate", body);
        let whole = !(self.script.is_fresh(dated) && self.chance.happens(8));
        let bank = self.bank.clone();
        self.script.later(workday_from(day.plus_days(self.chance.between(8, 18))), move |own, day| {
            let amount = if whole { bill.total() } else { money(10_000) };
            own.script.make("paymentsCreate", settling(day, (&supplier, bank), &bill, amount));
        });
    }

    fn month(&mut self, day: Day) {
        match day.day() {
            1 => {
                self.eur = (self.eur + self.chance.between(-60, 60)).clamp(8_000, 9_000);
                self.usd = (self.usd + self.chance.between(-90, 90)).clamp(7_200, 8_400);
                for (currency, units) in [("EUR", self.eur), ("USD", self.usd)] {
                    let body = json!({"currency": currency, "date": day, "rate": rate_text(units), "source": "Bank of England"});
                    self.script.make("exchangeRatesCreate", body);
                }
                let landlord = self.landlord.clone();
                self.bill(day, landlord, ("6200", "Studio", 118_000), day);
                for client in 0..3 {
                    let lines = self.lines(client, vec![(self.days.clone(), 2, "Retainer".into())]);
                    let body = json!({"date": day, "partyId": self.clients[client].0, "narration": "Retainer", "lines": lines});
                    let invoice = self.script.make("salesInvoicesCreate", body);
                    self.paid(day, client, invoice);
                }
            }
            // It comes late, for the month before.
            9 if day.first_of_month() > self.script.first => {
                let freelancer = self.freelancer.clone();
                let asked = self.chance.between(14, 36) * 10_000;
                let cents = pay(self.script.grown(day), (asked * 3 / 10, asked * 7 / 10));
                self.bill(day, freelancer, ("5300", "Development", cents), day.first_of_month().previous());
            }
            15 => {
                let cents = self.chance.between(120, 480) * 100;
                let body = json!({
                    "date": day, "accountId": self.card, "amount": money(cents), "method": "card", "narration": "Trains and hotels",
                    "lines": [{"accountId": account("6500"), "amount": money(cents), "description": "Trains and hotels"}]
                });
                self.script.make("paymentsCreate", body);
                let body = json!({"date": day, "fromAccountId": self.bank, "toAccountId": self.card, "amount": money(cents),
                                  "narration": "Card is settled"});
                self.script.make("contraEntriesCreate", body);
            }
            27 => {
                let salaries = money(pay(self.script.grown(day), (110_000, 800_000)));
                let body = json!({"date": day, "narration": "Salaries", "lines": [
                    {"accountId": account("6100"), "debit": salaries}, {"accountId": self.bank, "credit": salaries}
                ]});
                self.script.make("journalsCreate", body);
            }
            _ => {}
        }
        if day == day.last_of_month() && day.month().is_multiple_of(3) && day < self.script.today {
            let worth = |currency: &str, units: i64| json!({"currency": currency, "rate": rate_text(units)});
            let body = json!({"date": day, "narration": "End of the quarter", "rates": [worth("EUR", self.eur + 25), worth("USD", self.usd - 35)]});
            self.script.make("revaluationsCreate", body);
        }
    }

    /// The year before this one is closed, where the books have all of it.
    fn ending(&mut self) {
        let today = self.script.today;
        for _ in 0..2 {
            let client = self.client();
            let lines = self.lines(client, vec![(self.days.clone(), 3, "To be agreed".into())]);
            for (operation, extra) in
                [("salesInvoicesCreate", json!({})), ("salesOrdersCreate", json!({"validUntil": today.plus_days(21)}))]
            {
                let mut body =
                    json!({"date": today, "partyId": self.clients[client].0, "status": "draft", "lines": lines});
                if let (Value::Object(body), Value::Object(extra)) = (&mut body, extra) {
                    body.extend(extra);
                }
                self.script.make(operation, body);
            }
        }
        let Some(this_year) = Day::new(today.year(), 1, 1) else { return };
        let mut year = Day::new(self.script.first.year(), 1, 1).unwrap_or(this_year);
        let mut closed = None;
        while year <= today {
            let end = year.plus_months(12).previous();
            let body = json!({"name": year.year().to_string(), "start": year, "end": end});
            let made = self.script.make("fiscalYearsCreate", body);
            if end < this_year.plus_days(-1) || (end < today && year < this_year) {
                closed = Some(made);
            }
            if let Some(made) = closed.take() {
                self.script.act("fiscalYearsClose", made.id(), Value::Null);
            }
            year = year.plus_months(12);
        }
    }
}

impl Story for Studio {
    fn day(&mut self) -> Option<Vec<Step>> {
        if !self.begun {
            self.begun = true;
            self.masters();
            return Some(self.script.taken());
        }
        let (day, today) = (self.day, self.script.today);
        if day > today {
            return None;
        }
        self.month(day);
        for what in self.script.due(day) {
            what(self, day);
        }
        if is_workday(day) {
            let expected = u64::try_from(self.scale.sales * self.script.grown(day) / 21).unwrap_or(0);
            let mut many = expected / 1_000 + u64::from(self.chance.below(1_000) < expected % 1_000);
            while many > 0 {
                if self.chance.happens(35) {
                    self.project(day);
                } else {
                    self.invoice(day);
                }
                many -= 1;
            }
        }
        if day == today {
            self.ending();
        }
        self.day = day.next();
        Some(self.script.taken())
    }

    fn place(&self) -> (Day, Day, Day) {
        (self.script.first, self.day, self.script.today)
    }
}

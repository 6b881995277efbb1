//! A trader in coffee: stock, orders, notes, suppliers and customers abroad. What it enters on each day follows from what it
//! has, what it promised, and chance.

mod buying;
mod months;
mod selling;

use super::{Scale, Story, house};
use crate::calendar::{is_workday, months_before};
use crate::chance::{Chance, Pack};
use crate::script::{Script, Step, account, money};
use ledger_core::day::Day;
use serde_json::{Value, json};

/// How lively each month is, in percent, from January.
const SEASON: [i64; 12] = [78, 74, 88, 92, 97, 103, 94, 90, 106, 118, 134, 152];

struct Customer {
    id: Value,
    currency: &'static str,
    /// After how many days it is due.
    term: i64,
    /// How many days later than that they pay.
    late: i64,
}

struct Supplier {
    id: Value,
    currency: &'static str,
}

struct Good {
    id: Value,
    /// In cents.
    price: i64,
    cost: i64,
    on_hand: i64,
    on_order: i64,
    lot: i64,
    supplier: usize,
    rate: i64,
}

/// What was sold or bought: lines, what they come to before tax, and with it.
struct Basket {
    lines: Vec<Value>,
    net: i64,
    gross: i64,
    goods: Vec<(usize, i64)>,
}

pub(super) struct Trader {
    script: Script<Self>,
    chance: Chance,
    scale: Scale,
    day: Day,
    begun: bool,
    customers: Vec<Customer>,
    suppliers: Vec<Supplier>,
    goods: Vec<Good>,
    codes: Codes,
    money: Money,
    course: Value,
    landlord: Value,
    power: Value,
    bookkeeper: Value,
    freight: Value,
    usd: i64,
    chf: i64,
    bills: i64,
    /// Bills that wait for an answer.
    waiting: usize,
    /// Invoices that wait for their money.
    unpaid: usize,
    /// What becomes of invoices, and of suppliers' bills.
    invoices: Pack,
    from_suppliers: Pack,
}

#[derive(Default)]
struct Codes {
    full: Value,
    reduced: Value,
    export: Value,
}

#[derive(Default)]
struct Money {
    bank: Value,
    till: Value,
    rent: Value,
    usd: Value,
    chf: Value,
}

impl Money {
    fn of(&self, currency: &str) -> Value {
        match currency {
            "USD" => self.usd.clone(),
            "CHF" => self.chf.clone(),
            _ => self.bank.clone(),
        }
    }
}

/// Where customers pay to, by the code of the account.
const IBANS: [(&str, &str); 3] =
    [("1015", "DE82000000000000001015"), ("1025", "DE06000000000000001025"), ("1035", "DE27000000000000001035")];

const CUSTOMERS: &[(&str, &str, &str, i64, i64)] = &[
    ("Alsterblick Hotel", "Hamburg", "EUR", 14, 2),
    ("Bergmann & Söhne", "Bremen", "EUR", 30, 9),
    ("Café Morgenrot", "Kiel", "EUR", 14, -3),
    ("Deichgraf Events", "Hamburg", "EUR", 14, 24),
    ("Fährhaus Kantine", "Lübeck", "EUR", 30, 0),
    ("Gasthof Zur Linde", "Lüneburg", "EUR", 14, 5),
    ("Hudson Bay Roasters", "New York", "USD", 30, 6),
    ("Zürcher Kaffeehaus", "Zürich", "CHF", 30, -5),
    ("Inselbäckerei Amrum", "Wittdün", "EUR", 14, 12),
    ("Kontor für Genuss", "Berlin", "EUR", 30, 3),
    ("Lighthouse Diner", "Portland", "USD", 30, 18),
];

const SUPPLIERS: &[(&str, &str, &str)] = &[
    ("Kaffeerösterei Speicherstadt", "Hamburg", "EUR"),
    ("Finca La Esperanza", "Antigua", "USD"),
    ("Alpine Mühlen AG", "Winterthur", "CHF"),
    ("Papier Thomsen", "Flensburg", "EUR"),
];

/// One of the goods, in the words of the list.
type Ware = (&'static str, &'static str, &'static str, i64, i64, i64, usize, i64);

/// Name, code, unit, sold for, bought for, lot, whose, tax.
const GOODS: &[Ware] = &[
    ("Espresso beans, 1 kg", "ESPRESSO", "kg", 1_850, 925, 160, 0, 7),
    ("Highland arabica, 1 kg", "HIGHLAND", "kg", 2_290, 1_140, 120, 1, 7),
    ("Decaf beans, 1 kg", "DECAF", "kg", 1_990, 1_010, 80, 0, 7),
    ("Hand grinder", "GRINDER", "pcs", 14_900, 7_800, 12, 2, 19),
    ("Cups, carton of 500", "CUPS", "pcs", 4_400, 2_150, 40, 3, 19),
    ("Filter papers, box of 1000", "FILTER", "pcs", 1_250, 480, 60, 3, 19),
];

impl Trader {
    pub(super) fn new(today: Day, seed: u64, scale: Scale) -> Self {
        let first = months_before(today, scale.months);
        let mut chance = Chance::of(seed);
        Self {
            script: Script::between(first, today),
            invoices: Pack::cut(&mut chance),
            from_suppliers: Pack::cut(&mut chance),
            chance,
            scale,
            day: first,
            begun: false,
            customers: Vec::new(),
            suppliers: Vec::new(),
            goods: Vec::new(),
            codes: Codes::default(),
            money: Money::default(),
            course: Value::Null,
            landlord: Value::Null,
            power: Value::Null,
            bookkeeper: Value::Null,
            freight: Value::Null,
            usd: 9_180,
            chf: 10_420,
            bills: 8_100,
            waiting: 0,
            unpaid: 0,
        }
    }

    fn masters(&mut self) {
        let script = &mut self.script;
        for (name, days, discount) in
            [("Net 14", 14, None), ("Net 30", 30, None), ("Net 30, 3 % within 7", 30, Some(3))]
        {
            let early = discount.map(|_| 7);
            script.make(
                "paymentTermsCreate",
                json!({"name": name, "days": days, "discountPercent": discount, "discountDays": early}),
            );
        }
        let mut account = |code: &str, name: &str, kind: &str, currency: &str| {
            let parent = account(&code[..1]);
            let mut body = json!({"code": code, "name": name, "type": kind, "currency": currency, "parentId": parent});
            if let Some((_, iban)) = IBANS.iter().find(|(known, _)| *known == code) {
                body["bankDetails"] = json!({"iban": iban, "bankName": "Hafenbank"});
            }
            script.make("accountsCreate", body).id()
        };
        self.money = Money {
            bank: account("1015", "Current account, Hafenbank", "bank", "EUR"),
            till: account("1005", "Till in the shop", "cash", "EUR"),
            rent: account("6210", "Rent of the warehouse", "expense", "EUR"),
            usd: account("1025", "USD account, Hafenbank", "bank", "USD"),
            chf: account("1035", "CHF account, Hafenbank", "bank", "CHF"),
        };
        let mut code = |code: &str, name: &str, rate: i64, kind: &str, boxes: [&str; 3]| {
            let component = json!({"name": "VAT", "rate": rate, "kind": kind, "boxes": {
                "salesBase": boxes[0], "salesTax": boxes[1], "purchaseClaim": boxes[2]
            }});
            script.make("taxCodesCreate", json!({"code": code, "name": name, "components": [component]})).id()
        };
        self.codes = Codes {
            full: code("S19", "VAT 19 %", 19, "standard", ["81", "81T", "66"]),
            reduced: code("S7", "VAT 7 %", 7, "standard", ["86", "86T", "66"]),
            export: code("EXPORT", "Export, no VAT", 0, "zero", ["43", "43T", "66"]),
        };
        self.parties();
        self.wares();
    }

    fn parties(&mut self) {
        let script = &mut self.script;
        let first = json!({
            "name": "Hansen & Mohr", "code": "C-1000", "isCustomer": true, "isSupplier": true, "paymentTermDays": 30,
            "email": "accounts@hansen.example", "creditLimit": 25_000,
            "billingAddress": {"line1": "Elbchaussee 12", "city": "Hamburg", "postalCode": "22765", "country": "DE"}
        });
        let first = script.make("partiesCreate", first).id();
        self.customers.push(Customer { id: first, currency: "EUR", term: 30, late: 1 });
        for number in 0..self.scale.customers {
            let (name, city, currency, term, late) = CUSTOMERS[number % CUSTOMERS.len()];
            let turn = number / CUSTOMERS.len();
            let name = if turn == 0 { name.to_owned() } else { format!("{name} {}", house(turn)) };
            let body = json!({
                "name": name, "code": format!("C-{}", 2_001 + number), "isCustomer": true, "currency": currency,
                "paymentTermDays": term, "billingAddress": {"city": city}
            });
            let id = script.make("partiesCreate", body).id();
            self.customers.push(Customer { id, currency, term, late });
        }
        for number in 0..self.scale.suppliers.max(SUPPLIERS.len()) {
            let (name, city, currency) = SUPPLIERS[number % SUPPLIERS.len()];
            let turn = number / SUPPLIERS.len();
            let name = if turn == 0 { name.to_owned() } else { format!("{name} {}", house(turn)) };
            let body = json!({
                "name": name, "code": format!("S-{}", 1_001 + number), "isSupplier": true, "isCustomer": false,
                "currency": currency, "paymentTermDays": 30, "billingAddress": {"city": city}
            });
            let id = script.make("partiesCreate", body).id();
            self.suppliers.push(Supplier { id, currency });
        }
        let mut other = |name: &str, code: &str| {
            let body =
                json!({"name": name, "code": code, "isSupplier": true, "isCustomer": false, "paymentTermDays": 14});
            script.make("partiesCreate", body).id()
        };
        self.landlord = other("Speicher Immobilien", "S-2001");
        self.power = other("Stadtwerke Nord", "S-2002");
        self.freight = other("Zenith Logistics", "S-2003");
        self.bookkeeper = other("Petersen Bookkeeping", "S-2004");
    }

    fn wares(&mut self) {
        let lots = self.scale.lots();
        for (place, (name, code, unit, price, cost, lot, supplier, rate)) in GOODS.iter().enumerate() {
            let tax = if *rate == 7 { &self.codes.reduced } else { &self.codes.full };
            let body = json!({
                "name": name, "code": code, "type": "stock", "unit": unit, "category": if *rate == 7 { "Coffee" } else { "Supplies" },
                "salePrice": money(*price), "purchasePrice": money(*cost), "salesTaxCodeId": tax, "purchaseTaxCodeId": tax,
                "costMethod": if place == 1 { "fifo" } else { "movingAverage" }, "reorderLevel": lot / 2
            });
            let id = self.script.make("itemsCreate", body).id();
            let lot = lot * lots;
            let good = Good {
                id,
                price: *price,
                cost: *cost,
                on_hand: lot,
                on_order: 0,
                lot,
                supplier: *supplier,
                rate: *rate,
            };
            self.goods.push(good);
        }
        let course = json!({
            "name": "Barista course", "code": "COURSE", "type": "service", "unit": "day", "salePrice": "390.00",
            "salesTaxCodeId": self.codes.full
        });
        self.course = self.script.make("itemsCreate", course).id();
    }

    /// What there was before the story begins.
    fn opening(&mut self) {
        let day = self.script.first;
        let lines: Vec<Value> = self
            .goods
            .iter()
            .map(|good| json!({"itemId": good.id, "quantityDelta": good.on_hand, "unitCost": money(good.cost)}))
            .collect();
        let body =
            json!({"date": day, "reason": "What there was before", "accountId": account("3900"), "lines": lines});
        self.script.make("stockAdjustmentsCreate", body);
        let line = |account: Value, side: &str, cents: i64| json!({"accountId": account, side: money(cents)});
        let body = json!({"date": day, "kind": "opening", "narration": "What there was before", "lines": [
            line(self.money.bank.clone(), "debit", 6_850_000), line(self.money.till.clone(), "debit", 80_000),
            line(account("1600"), "debit", 2_760_000), line(account("2700"), "credit", 2_400_000),
            line(account("3000"), "credit", 7_290_000)
        ]});
        self.script.make("journalsCreate", body);
    }
}

pub(super) fn rate_text(units: i64) -> String {
    format!("{}.{:04}", units / 10_000, units % 10_000)
}

impl Story for Trader {
    fn day(&mut self) -> Option<Vec<Step>> {
        if !self.begun {
            self.begun = true;
            self.masters();
            self.opening();
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
            self.reorder(day);
            let season = SEASON[usize::try_from(day.month() - 1).unwrap_or(0)];
            let expected = self.scale.sales * season * self.script.grown(day) / 2_100;
            let many =
                expected / 1_000 + i64::from(self.chance.below(1_000) < u64::try_from(expected % 1_000).unwrap_or(0));
            for _ in 0..many {
                self.sale(day);
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

//! What a server says for every day, beside what the books say.

use super::books::{Books, TaxFigures};
use super::driver::Driver;
use super::exact::{read, shown};
use super::stock::Outcome;
use super::world::{CODES, DAYS, ITEMS, YEAR_END, account, date};
use crate::harness::Dialect;
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// What is told on each day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Ledger,
    Stock,
    Receivables,
    Payables,
    Tax,
    TaxByCash,
    Delivered,
    Received,
    Flow,
    Profit,
    ProfitByCash,
    Sheet,
    SheetByCash,
    Return,
    ReturnByCash,
    Proof,
}

pub const LEDGER_AND_STOCK: [Told; 2] = [Told::Ledger, Told::Stock];
pub const ALL: [Told; 16] = [
    Told::Ledger,
    Told::Stock,
    Told::Receivables,
    Told::Payables,
    Told::Tax,
    Told::TaxByCash,
    Told::Delivered,
    Told::Received,
    Told::Flow,
    Told::Profit,
    Told::ProfitByCash,
    Told::Sheet,
    Told::SheetByCash,
    Told::Return,
    Told::ReturnByCash,
    Told::Proof,
];

/// A figure that is not what it should be, and where it was told; an answer to a command is told nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub place: Option<(Told, usize)>,
    pub text: String,
}

impl Driver<'_> {
    pub fn report(&self, path: &str) -> Result<Value, String> {
        let dialect = if path.len().is_multiple_of(2) { Dialect::A } else { Dialect::B };
        let request = self.company.request_at(dialect, "GET", &format!("reports/{path}"));
        let report = self.company.say(dialect, request).expect(200).data;
        match report["checks"].as_array().unwrap().iter().find(|check| check["ok"] != true) {
            Some(check) => Err(format!("{path}: {check}")),
            None => Ok(report),
        }
    }
}

pub fn cents(value: &Value) -> i128 {
    if value.is_null() { 0 } else { read(&value.to_string(), 2) }
}

pub fn rows(report: &Value) -> &[Value] {
    report["rows"].as_array().map_or(&[], Vec::as_slice)
}

pub fn same<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
    what: &str,
    told: &BTreeMap<K, V>,
    known: &BTreeMap<K, V>,
) -> Result<(), String> {
    if told == known {
        return Ok(());
    }
    let mut text = format!("{what}:");
    for key in told.keys().chain(known.keys()).collect::<std::collections::BTreeSet<_>>() {
        if told.get(key) != known.get(key) {
            text += &format!(" {key:?} told {:?}, expected {:?};", told.get(key), known.get(key));
        }
    }
    Err(text)
}

/// What balances stood at before a day and at its end, as a trial balance carries them.
fn balances(days: &[BTreeMap<u16, i128>]) -> Vec<[BTreeMap<u16, i128>; 2]> {
    let mut sums: BTreeMap<u16, i128> = BTreeMap::new();
    let mut all = Vec::new();
    for (day, moved) in days.iter().enumerate() {
        if day == YEAR_END + 1 {
            let years: Vec<u16> = sums.keys().copied().filter(|one| account::is_of_a_year(*one)).collect();
            let profit: i128 = years.iter().filter_map(|one| sums.remove(one)).sum();
            *sums.entry(account::RETAINED).or_default() += profit;
        }
        let before = sums.clone();
        for (account, amount) in moved {
            *sums.entry(*account).or_default() += amount;
        }
        let clean = |mut sums: BTreeMap<u16, i128>| {
            sums.retain(|_, amount| *amount != 0);
            sums
        };
        all.push([clean(before), clean(sums.clone())]);
    }
    all
}

/// What the books come to, worked out once.
pub struct Figures<'b> {
    pub books: &'b Books,
    pub days: Vec<BTreeMap<u16, i128>>,
    pub balances: Vec<[BTreeMap<u16, i128>; 2]>,
    items: Vec<Vec<Outcome>>,
    /// What does not count yet on cash basis, day by day.
    uncounted: OnceCell<Vec<BTreeMap<u16, i128>>>,
}

impl<'b> Figures<'b> {
    fn of(books: &'b Books) -> Self {
        let days = books.days();
        let balances = balances(&days);
        let items = (0..ITEMS.len()).map(|item| books.item(item)).collect();
        Self { books, days, balances, items, uncounted: OnceCell::new() }
    }

    pub fn uncounted(&self, day: usize) -> &BTreeMap<u16, i128> {
        &self.uncounted.get_or_init(|| (0..DAYS).map(|day| self.books.uncounted_on(day)).collect())[day]
    }

    /// Holds one thing that a server tells of a day.
    fn hold(&self, driver: &Driver<'_>, told: Told, day: usize) -> Result<(), Difference> {
        let held = match told {
            Told::Ledger => self.ledger(driver, day),
            Told::Stock => self.stock(driver, day),
            Told::Receivables => open(driver, self.books, true, day),
            Told::Payables => open(driver, self.books, false, day),
            Told::Tax => tax(driver, "invoice", &self.books.tax_on(day), day),
            Told::TaxByCash => tax(driver, "cash", &self.books.cash_tax_on(day), day),
            Told::Delivered => self.waiting(driver, true, day),
            Told::Received => self.waiting(driver, false, day),
            Told::Flow => self.flow(driver, day),
            Told::Profit => self.profit(driver, false, day),
            Told::ProfitByCash => self.profit(driver, true, day),
            Told::Sheet => self.sheet(driver, false, day),
            Told::SheetByCash => self.sheet(driver, true, day),
            Told::Return => self.boxes(driver, false, day),
            Told::ReturnByCash => self.boxes(driver, true, day),
            Told::Proof => match driver.company.failed_checks() {
                failed if failed.is_empty() => Ok(()),
                failed => Err(format!("the proof fails: {failed:?}")),
            },
        };
        held.map_err(|text| Difference { place: Some((told, day)), text })
    }

    fn ledger(&self, driver: &Driver<'_>, day: usize) -> Result<(), String> {
        let [before, after] = &self.balances[day];
        let date = date(day);
        let report = driver.report(&format!("trial-balance?from={date}&to={date}"))?;
        let mut told: [BTreeMap<u16, i128>; 3] = Default::default();
        for row in rows(&report).iter().filter(|row| row["type"] == "account") {
            let code: u16 = row["key"].as_str().unwrap().parse().unwrap();
            for (place, told) in told.iter_mut().enumerate() {
                let amount = cents(&row["values"][place * 2]) - cents(&row["values"][place * 2 + 1]);
                if amount != 0 {
                    told.insert(code, amount);
                }
            }
        }
        same(&format!("{date} trial balance, movement"), &told[1], &self.days[day])?;
        same(&format!("{date} trial balance, opening"), &told[0], before)?;
        same(&format!("{date} trial balance, closing"), &told[2], after)
    }

    /// Goods that wait for their invoice, note by note.
    fn waiting(&self, driver: &Driver<'_>, delivered: bool, day: usize) -> Result<(), String> {
        let date = date(day);
        let name = if delivered { "gdni" } else { "grni" };
        let report = driver.report(&format!("{name}?asOf={date}"))?;
        let mut told = BTreeMap::new();
        for row in rows(&report).iter().filter(|row| row["documentId"].is_string()) {
            let key = driver.of_document(row["documentId"].as_str().unwrap()).expect("a document of the stream");
            told.insert(key, (read(&row["values"][1].to_string(), 3), cents(&row["values"][2])));
        }
        same(&format!("{date} {name}"), &told, &self.books.waiting(delivered, &self.items, day))
    }

    /// Where money came from and went to, by section, the same by both methods.
    fn flow(&self, driver: &Driver<'_>, day: usize) -> Result<(), String> {
        let date = date(day);
        let moved = |account: u16| self.days[day].get(&account).copied().unwrap_or_default();
        let known = self.books.flow_on(moved(account::BANK) + moved(account::CASH), day);
        for method in ["direct", "indirect"] {
            let report = driver.report(&format!("cash-flow?from={date}&to={date}&method={method}"))?;
            let told = SECTIONS.map(|name| cents(&report["totals"][name]));
            if told != known {
                let shown = |all: [i128; 3]| all.map(|one| shown(one, 2)).join(" ");
                return Err(format!("{date} {method} cash flow: told {}, expected {}", shown(told), shown(known)));
            }
        }
        Ok(())
    }

    fn stock(&self, driver: &Driver<'_>, day: usize) -> Result<(), String> {
        let date = date(day);
        let report = driver.report(&format!("stock-valuation?asOf={date}"))?;
        let mut told = BTreeMap::new();
        for row in rows(&report).iter().filter(|row| row["type"] == "item") {
            let item = driver.items.iter().position(|id| row["itemId"] == **id).unwrap();
            told.insert(item, (read(&row["values"][0].to_string(), 3), cents(&row["values"][1])));
        }
        told.retain(|_, there| *there != (0, 0));
        let known = self.items.iter().map(|days| (days[day].quantity, days[day].value)).enumerate();
        let known = known.filter(|(_, there)| *there != (0, 0)).collect();
        same(&format!("{date} stock"), &told, &known)
    }
}

fn open(driver: &Driver<'_>, books: &Books, receivable: bool, day: usize) -> Result<(), String> {
    let date = date(day);
    let name = if receivable { "ar-aging-detail" } else { "ap-aging-detail" };
    let report = driver.report(&format!("{name}?asOf={date}"))?;
    let mut told = BTreeMap::new();
    for row in rows(&report).iter().flat_map(|party| party["children"].as_array().unwrap()) {
        let amount = cents(&row["values"][5]);
        let key = driver.of_document(row["documentId"].as_str().unwrap()).expect("a document of the stream");
        if amount != 0 {
            told.insert(key, if receivable { amount } else { -amount });
        }
    }
    same(&format!("{date} {name}"), &told, &books.open_on(receivable, day))
}

const SECTIONS: [&str; 3] = ["operating", "investing", "financing"];

const TAX_COLUMNS: [&str; 7] =
    ["salesBase", "outputTax", "purchaseBase", "inputTax", "notRecoverable", "withheldFromUs", "withheldByUs"];

fn tax(
    driver: &Driver<'_>,
    basis: &str,
    known: &BTreeMap<Option<usize>, TaxFigures>,
    day: usize,
) -> Result<(), String> {
    let date = date(day);
    let report = driver.report(&format!("tax-summary?from={date}&to={date}&taxBasis={basis}"))?;
    let columns = report["columns"].as_array().unwrap();
    let place = |name: &str| columns.iter().position(|column| column["key"] == name);
    let mut told: BTreeMap<Option<usize>, TaxFigures> = BTreeMap::new();
    for row in rows(&report) {
        let code = match row["key"].as_str().unwrap() {
            "total" | "carry" => continue,
            "none" => None,
            key => Some(driver.codes.iter().position(|id| id == key).unwrap_or_else(|| {
                let label = row["label"].as_str().unwrap();
                CODES.iter().position(|(name, _)| label.split(' ').next() == Some(name)).expect("a tax code")
            })),
        };
        let figures = TAX_COLUMNS.map(|name| place(name).map_or(0, |place| cents(&row["values"][place])));
        if figures != TaxFigures::default() {
            told.insert(code, figures);
        }
    }
    same(&format!("{date} tax by {basis}"), &told, known)
}

/// These, for every day of the window.
pub fn every_day(driver: &Driver<'_>, books: &Books, told: &[Told]) -> Result<(), Difference> {
    let figures = Figures::of(books);
    for told in told {
        let days = if *told == Told::Proof { DAYS - 1..DAYS } else { 0..DAYS };
        for day in days {
            figures.hold(driver, *told, day)?;
        }
    }
    Ok(())
}

/// One thing that is told of a day.
pub fn once(driver: &Driver<'_>, books: &Books, (told, day): (Told, usize)) -> Result<(), Difference> {
    Figures::of(books).hold(driver, told, day)
}

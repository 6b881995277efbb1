//! The companies, and what each of them enters, day by day.

mod reference;
mod shop;
mod studio;
#[cfg(test)]
mod tests;
mod trader;

use crate::Size;
use crate::chance::Chance;
use crate::script::{Script, Step};
use ledger_core::day::Day;
use serde_json::{Value, json};

/// A company that tells what it enters.
pub(crate) trait Story: Send {
    /// What it enters next: what it begins with, then day by day. Nothing where today is over.
    fn day(&mut self) -> Option<Vec<Step>>;

    /// The first day of its books, the day it has come to, and the last.
    fn place(&self) -> (Day, Day, Day);
}

/// How much there is of everything.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) months: i64,
    /// In a month.
    pub(crate) sales: i64,
    pub(crate) customers: usize,
    pub(crate) suppliers: usize,
}

/// What is paid by a house that has grown so far, in cents: so much to begin with, and the rest with its trade. In whole tens.
pub(crate) fn pay(grown: i64, (least, more): (i64, i64)) -> i64 {
    (least + more * grown / 1_000) / 1_000 * 1_000
}

impl Scale {
    /// How much is bought at once, so that what is sold is there.
    pub(crate) fn lots(self) -> i64 {
        (self.sales / 16).max(1)
    }
}

/// A company: what it is made of, and its story.
pub(crate) struct Company {
    pub(crate) key: &'static str,
    pub(crate) body: Value,
    pub(crate) story: Box<dyn Story>,
}

pub(crate) fn companies(size: Size, seed: u64, today: Day) -> Vec<Company> {
    let scale = |large: i64, usual: i64| {
        let (months, sales) = match size {
            Size::Small => (3, usual),
            Size::Normal => (24, usual),
            Size::Large => (24, large),
        };
        let customers = if size == Size::Large { 300 } else { 11 };
        let suppliers = if size == Size::Large { 40 } else { 4 };
        Scale { months, sales, customers, suppliers }
    };
    vec![
        Company {
            key: "harbour",
            body: json!({
                "name": "Harbour Trading", "legalName": "Harbour Trading GmbH", "baseCurrency": "EUR", "country": "DE",
                "timezone": "Europe/Berlin", "taxNumber": "DE136695976", "email": "books@harbour.example",
                "website": "https://harbour.example", "chartTemplate": "general", "tags": ["demo", "trade"],
                "address": {"line1": "Am Kai 4", "city": "Hamburg", "postalCode": "20457", "country": "DE"},
                "settings": {"overDeliveryPercent": 5}
            }),
            story: Box::new(trader::Trader::new(today, seed, scale(2_630, 6))),
        },
        Company {
            key: "studio",
            body: json!({
                "name": "Kestrel Studio", "legalName": "Kestrel Studio Ltd", "baseCurrency": "GBP", "country": "GB",
                "timezone": "Europe/London", "taxNumber": "GB123456789", "email": "accounts@kestrel.example",
                "chartTemplate": "services", "tags": ["demo", "projects"],
                "address": {"line1": "7 Wharf Street", "city": "Bristol", "postalCode": "BS1 4RB", "country": "GB"}
            }),
            story: Box::new(studio::Studio::new(today, seed + 1, scale(380, 4))),
        },
        Company {
            key: "shop",
            body: json!({
                "name": "Maple Street Corner Shop", "legalName": "Maple Street Corner Shop Inc.", "baseCurrency": "USD",
                "country": "US", "timezone": "America/New_York", "email": "till@maplestreet.example", "chartTemplate": "trading",
                "tags": ["demo", "shop"], "settings": {"pricesIncludeTaxDefault": true, "negativeStock": "allow"},
                "address": {"line1": "214 Maple Street", "city": "Burlington", "state": "VT", "postalCode": "05401", "country": "US"}
            }),
            story: Box::new(shop::Shop::new(today, seed + 2, scale(1_000, 5))),
        },
        Company {
            key: "businessesGet",
            body: json!({
                "name": "Reference examples", "baseCurrency": "EUR", "country": "DE", "timezone": "Europe/Berlin",
                "chartTemplate": "general", "tags": ["demo", "reference"], "settings": {"overDeliveryPercent": 5}
            }),
            story: Box::new(reference::Reference::new(today)),
        },
    ]
}

/// A word that tells houses of the same name apart.
pub(crate) fn house(turn: usize) -> String {
    const TOWNS: &[&str] = &["Altona", "Nord", "am Markt", "Ufer", "West", "Bahnhof", "Park", "Süd"];
    format!("{} {}", TOWNS[turn % TOWNS.len()], turn / TOWNS.len() + 1)
}

/// What dollars and francs are worth from the first of a month on, in ten-thousandths.
fn rates<S>(script: &mut Script<S>, chance: &mut Chance, day: Day, (usd, chf): (i64, i64)) -> (i64, i64) {
    let (usd, chf) =
        ((usd + chance.between(-140, 130)).clamp(8_300, 9_900), (chf + chance.between(-90, 95)).clamp(9_900, 11_000));
    for (currency, units) in [("USD", usd), ("CHF", chf)] {
        let body = json!({"currency": currency, "date": day, "rate": trader::rate_text(units), "source": "ECB"});
        script.make("exchangeRatesCreate", body);
    }
    (usd, chf)
}

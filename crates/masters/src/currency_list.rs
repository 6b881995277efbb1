//! Currencies: those of ISO 4217, with the places of their amounts and what they are worth by now.

use crate::currency;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Rate;
use answers::Ask;
use books::cx::Cx;
use kit::list::{Direction, FilterValue, ListQuery, Page, Parameter, Reads};
use kit::operation::Verb;
use kit::resource::{About, Record, Resource, Scope};
use kit::rows::read_only;
use schema::exchange_rate as rates;
use schema::key::ResourceKey;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;

pub struct Currencies;

/// Nothing is sent.
#[derive(Deserialize, JsonSchema)]
pub struct CurrencyInput {}

/// A currency.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Currency")]
pub struct CurrencyView {
    /// Its code of ISO 4217.
    code: String,
    /// How many decimal places its amounts have.
    digits: u32,
    /// Whether it is the company's own.
    is_base: bool,
    /// Whether documents can be written in it today without a rate of their own.
    is_active: bool,
    /// What one unit of it is worth in the company's by the latest rate; 1 for the company's own.
    exchange_rate: Option<Rate>,
    /// The day from which that rate counts.
    exchange_rate_date: Option<Day>,
}

impl Record for CurrencyView {
    fn id(&self) -> RecordId {
        RecordId::default()
    }

    fn version(&self) -> i64 {
        1
    }
}

const PARAMETERS: [Parameter; 2] = [
    Parameter::new("code", "The currency with this code.", Reads::Text),
    Parameter::new("isActive", "Only currencies with a rate, or only others.", Reads::Flag),
];

impl Resource for Currencies {
    const KEY: ResourceKey = ResourceKey::Currencies;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a currency",
        many: "currencies",
        description: "The currencies of ISO 4217, and what they are worth in the company's by now. Rates are given \
                      under exchange rates.",
        sorts: &["code"],
        searched: "code",
    };
    const VERBS: &'static [Verb] = &[Verb::List];
    // Currencies never change by themselves.
    const DATED: bool = false;
    type Input = CurrencyInput;
    type Draft = ();
    type View = CurrencyView;
    // They are as many as there are.
    const BY_KEY: bool = false;

    fn parameters() -> Vec<Parameter> {
        PARAMETERS.to_vec()
    }

    fn example() -> serde_json::Value {
        json!({})
    }

    fn example_view() -> serde_json::Value {
        json!({
            "code": "USD", "digits": 2, "isBase": false, "isActive": true, "exchangeRate": 0.8642,
            "exchangeRateDate": "2026-11-20"
        })
    }

    async fn list(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<CurrencyView>> {
        let base = cx.business()?.base_currency.clone();
        let known = rates::Entity::find()
            .filter(rates::Column::BusinessId.eq(cx.business_id()?))
            .filter(rates::Column::Date.lte(cx.today()?))
            .order_by_asc(rates::Column::Date)
            .models(&cx.db)
            .await?;
        // The latest comes last, and stays.
        let latest: HashMap<String, (Rate, Day)> =
            known.into_iter().map(|row| (row.currency, (row.rate, row.date))).collect();
        Ok(listed(&base, &latest, query))
    }

    async fn get(_: &Cx<'_>, _: RecordId) -> Result<CurrencyView> {
        Err(Error::NotFound)
    }

    read_only!();
}

/// A page of all currencies, with the latest rate of each in the company's.
fn listed(base: &str, latest: &HashMap<String, (Rate, Day)>, query: &ListQuery) -> Page<CurrencyView> {
    let mut all: Vec<CurrencyView> = currency::all()
        .map(|(code, digits)| {
            let is_base = code == base;
            let known = latest.get(code);
            CurrencyView {
                code: code.to_owned(),
                digits,
                is_base,
                is_active: is_base || known.is_some(),
                exchange_rate: known.map(|(rate, _)| *rate).or(is_base.then_some(Rate::ONE)),
                exchange_rate_date: known.map(|(_, day)| *day),
            }
        })
        .filter(|one| matches(one, query))
        .collect();
    all.sort_by(|left, right| left.code.cmp(&right.code));
    if query.sort.first().is_some_and(|(_, direction)| *direction == Direction::Descending) {
        all.reverse();
    }
    let total = all.len() as u64;
    let skipped = usize::try_from((query.page - 1).saturating_mul(query.page_size)).unwrap_or(usize::MAX);
    let size = usize::try_from(query.page_size).unwrap_or(usize::MAX);
    Page::of(all.into_iter().skip(skipped).take(size).collect(), total)
}

fn matches(one: &CurrencyView, query: &ListQuery) -> bool {
    let code = match query.filter("code") {
        Some(FilterValue::Text(code)) => *code == one.code,
        _ => true,
    };
    let active = match query.filter("isActive") {
        Some(FilterValue::Flag(wanted)) => *wanted == one.is_active,
        _ => true,
    };
    let words = query.search.iter().flat_map(|text| text.split_whitespace());
    code && active && words.into_iter().all(|word| one.code.contains(&word.to_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use books::cx::Point;
    use kit::list::Total;

    fn query(page: u64, page_size: u64, filters: &[(&'static str, FilterValue)]) -> ListQuery {
        let filters = filters.to_vec();
        ListQuery {
            page,
            page_size,
            sort: Vec::new(),
            search: None,
            updated_since: None,
            filters,
            point: Point::default(),
            fields: None,
            expand: Vec::new(),
            walk: None,
        }
    }

    fn asked(query: &ListQuery) -> (Vec<CurrencyView>, u64) {
        let day = |text: &str| -> Day { text.parse().unwrap() };
        let latest = HashMap::from([
            ("USD".to_owned(), (Rate::parse("0.8642").unwrap(), day("2026-11-20"))),
            ("KWD".to_owned(), (Rate::parse("2.81").unwrap(), day("2026-11-18"))),
        ]);
        let page = listed("EUR", &latest, query);
        let Total::Exactly(total) = page.total else { panic!("all of them are known") };
        (page.items, total)
    }

    #[test]
    fn a_currency_shows_its_places_and_what_it_is_worth_by_now() {
        let code = |code: &str| [("code", FilterValue::Text(code.into()))];
        for (of, digits, base, active, rate, date) in [
            ("EUR", 2, true, true, Some("1"), None),
            ("USD", 2, false, true, Some("0.8642"), Some("2026-11-20")),
            ("KWD", 3, false, true, Some("2.81"), Some("2026-11-18")),
            ("JPY", 0, false, false, None, None),
        ] {
            let (found, total) = asked(&query(1, 10, &code(of)));
            let one = &found[0];
            assert_eq!((total, one.digits, one.is_base, one.is_active), (1, digits, base, active), "{of}");
            let shown =
                (one.exchange_rate.map(|rate| rate.to_string()), one.exchange_rate_date.map(|day| day.to_string()));
            assert_eq!(shown, (rate.map(str::to_owned), date.map(str::to_owned)), "{of}");
        }
    }

    #[test]
    fn a_page_of_currencies_is_one_of_those_that_were_asked_for() {
        let codes = |query: &ListQuery| -> Vec<String> { asked(query).0.into_iter().map(|one| one.code).collect() };
        let active = [("isActive", FilterValue::Flag(true))];
        assert_eq!(codes(&query(1, 10, &active)), ["EUR", "KWD", "USD"]);
        assert_eq!(codes(&query(2, 2, &active)), ["USD"]);
        assert_eq!(asked(&query(2, 2, &active)).1, 3);
        assert_eq!(codes(&query(3, 2, &active)), [""; 0]);
        let last_first = ListQuery { sort: vec![("code", Direction::Descending)], ..query(1, 2, &active) };
        assert_eq!(codes(&last_first), ["USD", "KWD"]);
        let all = asked(&query(1, 1000, &[])).1;
        assert_eq!(asked(&query(1, 1000, &[("isActive", FilterValue::Flag(false))])).1, all - 3);
        // All words, in any case: EUR has no d, and KWD no u.
        for (words, found) in [("us", vec!["USD"]), ("u d", vec!["USD"]), ("x", vec![])] {
            assert_eq!(codes(&ListQuery { search: Some(words.into()), ..query(1, 10, &active) }), found, "{words}");
        }
    }
}

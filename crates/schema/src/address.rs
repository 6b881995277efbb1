//! What companies and parties have in common: addresses, codes of countries and currencies, labels.

use crate::currency::CountryCode;
use crate::field::{Each, Faults, Label, Maybe, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A postal address.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct AddressInput {
    /// Street and number, or post box.
    line1: Maybe<Text<200>>,
    /// Building, floor, attention of.
    line2: Maybe<Text<200>>,
    /// Town or city.
    city: Maybe<Text<100>>,
    /// State, province or region.
    state: Maybe<Text<100>>,
    /// Postal code.
    postal_code: Maybe<Text<20>>,
    /// Country, two letters of ISO 3166.
    country: Maybe<CountryCode>,
}

/// A postal address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// Street and number, or post box.
    pub line1: Option<String>,
    /// Building, floor, attention of.
    pub line2: Option<String>,
    /// Town or city.
    pub city: Option<String>,
    /// State, province or region.
    pub state: Option<String>,
    /// Postal code.
    pub postal_code: Option<String>,
    /// Country, two letters of ISO 3166.
    pub country: Option<String>,
}

/// The address in a field, where one is given.
pub fn check(faults: &mut Faults, name: &str, field: Maybe<AddressInput>) -> Option<Address> {
    let input = faults.optional(name, field)?;
    Some(faults.inside(name, input, |faults, input| Address {
        line1: text(faults, "line1", input.line1),
        line2: text(faults, "line2", input.line2),
        city: text(faults, "city", input.city),
        state: text(faults, "state", input.state),
        postal_code: text(faults, "postalCode", input.postal_code),
        country: faults.optional("country", input.country).map(CountryCode::into_inner),
    }))
}

pub fn text<const MAX: usize>(faults: &mut Faults, name: &str, field: Maybe<Text<MAX>>) -> Option<String> {
    faults.optional(name, field).and_then(Text::into_option)
}

/// Text that must keep a rule, told in the rule's words.
pub fn ruled<const MAX: usize>(
    faults: &mut Faults,
    name: &str,
    field: Maybe<Text<MAX>>,
    rule: fn(&str) -> bool,
    words: &str,
) -> Option<String> {
    let text = text(faults, name, field);
    if text.as_deref().is_some_and(|text| !rule(text)) {
        faults.add(name, words);
    }
    text
}

pub fn email(faults: &mut Faults, name: &str, field: Maybe<Text<254>>) -> Option<String> {
    ruled(faults, name, field, crate::texts::is_email, "must be an e-mail address")
}

pub fn website(faults: &mut Faults, name: &str, field: Maybe<Text<500>>) -> Option<String> {
    ruled(faults, name, field, crate::texts::is_web_address, "must be a web address beginning with https:// or http://")
}

/// The labels in `tags`, each once.
pub fn tags(faults: &mut Faults, field: Each<Label<50>>) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in faults.each("tags", field, |_, tag| tag.into_inner()) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > 50 {
        faults.add("tags", "must be at most 50");
    }
    tags
}

/// What `q` looks into: the texts in lower case, a line each so that no word spans two.
pub fn search_text(texts: &[Option<&String>]) -> String {
    texts.iter().flatten().map(|text| crate::texts::search_key(text)).collect::<Vec<_>>().join("\n")
}

//! What events are called, and which of them somebody asks for.
//!
//! A type is what a permission calls the resource, and what was done to it: `salesInvoice.posted`. Either half may be `*`. That
//! an item runs low is told of the stock: `stock.low`.

use crate::error::{Error, Result};
use crate::quoting::quoted;
use books::audit::AuditAction;
use schema::key::ResourceKey;
use schema::tables::audit_log::Column;
use sea_orm::{ColumnTrait, Condition};
use words::codes::Word;

/// Stands for any resource, or for whatever was done.
const ANY: &str = "*";

/// What is told of something else than of the record that has it: what nobody does to that.
const ASIDE: &[(&str, ResourceKey, AuditAction)] = &[("stock", ResourceKey::Items, AuditAction::Low)];

/// One word of what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pattern {
    resource: Option<ResourceKey>,
    action: Option<AuditAction>,
}

/// Which events are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Types(Vec<Pattern>);

/// What an event is called; nothing where the log speaks of a resource that is none any more.
pub fn type_of(stem: &str, action: AuditAction) -> Option<String> {
    let key = ResourceKey::ALL.into_iter().find(|key| key.stem() == stem)?;
    let aside = ASIDE.iter().find(|(_, of, done)| (*of, *done) == (key, action));
    Some(format!("{}.{action}", aside.map_or(key.permission_noun(), |(noun, ..)| noun)))
}

impl Types {
    /// All there are.
    pub fn all() -> Self {
        Self(vec![Pattern { resource: None, action: None }])
    }

    /// What these words ask for; else which of them asks for nothing, by its place, and why.
    pub fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Self, (usize, String)> {
        let patterns = words.into_iter().enumerate().map(|(place, word)| pattern(word).map_err(|why| (place, why)));
        patterns.collect::<Result<_, _>>().map(Self)
    }

    /// The same of a parameter, in which they stand one after the other.
    pub fn said(text: &str) -> Result<Self> {
        Self::of(text.split(',').map(str::trim)).map_err(|(_, why)| Error::field("types", why))
    }

    /// The records of the audit log that they are.
    pub fn condition(&self) -> Condition {
        let mut any = Condition::any();
        for Pattern { resource, action } in &self.0 {
            let mut all = Condition::all();
            if let Some(key) = resource {
                all = all.add(Column::Resource.eq(Word::from(key.stem())));
                for (.., done) in ASIDE.iter().filter(|(_, of, _)| of == key && action.is_none()) {
                    all = all.add(Column::Action.ne(Word::from(done.as_str())));
                }
            }
            if let Some(action) = action {
                all = all.add(Column::Action.eq(Word::from(action.as_str())));
            }
            if all.is_empty() {
                // One that asks for everything: what else is asked for says no more.
                return Condition::all();
            }
            any = any.add(all);
        }
        any
    }
}

fn pattern(word: &str) -> Result<Pattern, String> {
    const SUCH_AS: &str = "such as salesInvoice.posted, salesInvoice.* or *";
    let (noun, done) = match word.split_once('.') {
        Some(halves) => halves,
        None if word == ANY => (ANY, ANY),
        None => return Err(format!("{} is no type of an event, {SUCH_AS}", quoted(word))),
    };
    if let Some((_, resource, action)) = ASIDE.iter().find(|(aside, ..)| *aside == noun) {
        if done != ANY && done != action.as_str() {
            return Err(format!("{} is never told: {noun}.{action} is all there is of {noun}", quoted(word)));
        }
        return Ok(Pattern { resource: Some(*resource), action: Some(*action) });
    }
    let resource = match noun {
        ANY => None,
        noun => match ResourceKey::ALL.into_iter().find(|key| key.permission_noun() == noun) {
            Some(key) => Some(key),
            None => return Err(format!("{} names no resource, {SUCH_AS}", quoted(word))),
        },
    };
    let action = match done {
        ANY => None,
        done => {
            let known = || AuditAction::TEXTS.join(", ");
            let unknown = |_| format!("{} says nothing that is done to a record: {} or *", quoted(word), known());
            Some(done.parse().map_err(unknown)?)
        }
    };
    if let Some((aside, ..)) = ASIDE.iter().find(|(_, of, done)| (resource, action) == (Some(*of), Some(*done))) {
        return Err(format!("{} is told as {aside}.{done}", quoted(word)));
    }
    Ok(Pattern { resource, action })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_a_resource_and_what_was_done_to_it_and_either_may_be_any() {
        let invoices = Some(ResourceKey::SalesInvoices);
        let posted = Some(AuditAction::Posted);
        for (word, resource, action) in [
            ("salesInvoice.posted", invoices, posted),
            ("salesInvoice.*", invoices, None),
            ("*.posted", None, posted),
            ("*.*", None, None),
            ("*", None, None),
        ] {
            assert_eq!(Types::of([word]), Ok(Types(vec![Pattern { resource, action }])), "{word}");
        }
        for (words, place) in [
            (&["party.*", "salesInvoice"][..], 1),
            (&["salesInvoices.posted"], 0),
            (&["salesInvoice.sent"], 0),
            (&["stock.low", "stock.posted"], 1),
            (&["item.low"], 0),
            (&["salesInvoice."], 0),
            (&[""], 0),
        ] {
            let (refused, why) = Types::of(words.iter().copied()).unwrap_err();
            assert_eq!(refused, place, "{words:?}: {why}");
        }
        let low = Types(vec![Pattern { resource: Some(ResourceKey::Items), action: Some(AuditAction::Low) }]);
        assert_eq!((Types::of(["stock.low"]), Types::of(["stock.*"])), (Ok(low.clone()), Ok(low)));
        assert!(Types::said("party.created, item.*").is_ok() && Types::said("party.created,").is_err());
    }

    #[test]
    fn every_resource_has_types_of_its_own() {
        for key in ResourceKey::ALL {
            let called = type_of(key.stem(), AuditAction::Created).unwrap();
            assert!(Types::of([called.as_str()]).is_ok(), "{called}");
        }
        assert_eq!(type_of("salesInvoices", AuditAction::Posted).as_deref(), Some("salesInvoice.posted"));
        assert_eq!(type_of("items", AuditAction::Low).as_deref(), Some("stock.low"));
        assert_eq!(type_of("coffees", AuditAction::Posted), None);
    }
}

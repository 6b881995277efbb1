//! Master data, people and rights: what documents name, and who may write them.
//!
//! Owns: companies, parties, accounts, taxes, terms, series, rates, locks; people, permission sets, keys, sessions; the
//! logs. Refuses: to post. What posts by itself, such as an item's standard cost, stands with the documents.

pub mod account;
pub mod api_key;
pub mod audit_log;
mod bank;
pub mod business;
#[cfg(test)]
mod checks;
pub mod currency_list;
pub mod dialect_usage;
pub mod event;
pub mod exchange_rate;
pub mod installation_log;
pub mod invitation;
pub mod lock;
pub mod number_series;
pub mod party;
pub mod payment_term;
pub mod permission;
pub mod profile;
#[cfg(test)]
mod samples;
pub mod session;
pub mod tax_code;
pub mod user;
pub mod webhook;

use kit::operation::ResourceOperations;
pub(crate) use words::{clock, currency, day, error, field, ids, money, quoting, stored, texts};

/// What can be done with each.
pub fn operations() -> Vec<ResourceOperations> {
    vec![
        ResourceOperations::of::<business::Businesses>(),
        ResourceOperations::of::<party::Parties>(),
        ResourceOperations::of::<account::Accounts>(),
        ResourceOperations::of::<tax_code::TaxCodeRecords>(),
        ResourceOperations::of::<payment_term::PaymentTerms>(),
        ResourceOperations::of::<number_series::NumberSeries>(),
        ResourceOperations::of::<lock::Locks>(),
        ResourceOperations::of::<currency_list::Currencies>(),
        ResourceOperations::of::<exchange_rate::ExchangeRates>(),
        ResourceOperations::of::<audit_log::AuditLog>(),
        ResourceOperations::of::<event::Events>(),
        ResourceOperations::of::<user::Users>(),
        ResourceOperations::of::<permission::Permissions>(),
        ResourceOperations::of::<webhook::Webhooks>(),
        ResourceOperations::of::<api_key::ApiKeys>(),
        ResourceOperations::of::<dialect_usage::DialectUsage>(),
        ResourceOperations::of::<profile::Profile>(),
        ResourceOperations::of::<session::Sessions>(),
        ResourceOperations::of::<installation_log::InstallationLog>(),
    ]
}

//! The steps that schemas went through before there was one first schema, as they were. Nobody adds one any more: they run
//! in a scratch file, on books that never went through them.

use sea_orm_migration::MigrationTrait;

mod columns;
mod m0001_identity;
mod m0002_businesses;
mod m0003_parties;
mod m0004_idempotency;
mod m0005_ledger;
mod m0006_access_changes;
mod m0007_exchange_rates;
mod m0008_kept_answers;
mod m0009_trade;
mod m0010_document_counts;
mod m0011_orders_and_goods;
mod m0012_people;
mod m0013_dialect_usage;
mod m0014_installation;
mod m0017_invitations;
mod m0019_sign_in;
mod m0021_running_time;
mod m0023_seals;
mod m0024_no_replacing;
mod m0025_client_requests;
mod m0027_what_rows_were;
mod m0028_keepers;
mod m0029_tax_facts;
mod m0031_stock_facts;
mod m0032_stock_snapshots;
mod m0033_years;
mod m0034_merged_parties;
mod m0042_packed;
mod m0043_purses;
mod m0045_access_counted_last;
mod sealed;
#[cfg(test)]
mod tests;

/// All of them, in order.
pub fn all() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(m0001_identity::Migration),
        Box::new(m0002_businesses::Migration),
        Box::new(m0003_parties::Migration),
        Box::new(m0004_idempotency::Migration),
        Box::new(m0005_ledger::Migration),
        Box::new(m0006_access_changes::Migration),
        Box::new(m0007_exchange_rates::Migration),
        Box::new(m0008_kept_answers::Migration),
        Box::new(m0009_trade::Migration),
        Box::new(m0010_document_counts::Migration),
        Box::new(m0011_orders_and_goods::Migration),
        Box::new(m0012_people::Migration),
        Box::new(m0013_dialect_usage::Migration),
        Box::new(m0014_installation::Migration),
        Box::new(m0017_invitations::Migration),
        Box::new(m0019_sign_in::Migration),
        Box::new(m0021_running_time::Migration),
        Box::new(m0023_seals::Migration),
        Box::new(m0024_no_replacing::Migration),
        Box::new(m0025_client_requests::Migration),
        Box::new(m0027_what_rows_were::Migration),
        Box::new(m0028_keepers::Migration),
        Box::new(m0029_tax_facts::Migration),
        Box::new(m0031_stock_facts::Migration),
        Box::new(m0032_stock_snapshots::Migration),
        Box::new(m0033_years::Migration),
        Box::new(m0034_merged_parties::Migration),
        Box::new(m0042_packed::Migration),
        Box::new(m0043_purses::Migration),
        Box::new(m0045_access_counted_last::Migration),
    ]
}

//! Black-box suites: a real server process is asked over HTTP, on SQLite and on PostgreSQL.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access;
mod accounts;
mod audit;
mod bodies;
mod clients;
mod comparing;
mod configuration;
mod documentation;
mod edge;
mod errors;
mod fair;
mod faults;
mod findings;
mod goods_model;
mod harness;
mod journals;
mod limits;
mod kernel_accounts;
mod lists;
mod model;
mod numbering;
mod orders;
mod parity;
mod people;
mod periods;
mod promises;
mod references;
mod reliability;
mod reports;
mod retries;
mod seals;
mod security;
mod settling;
mod signin;
mod stock;
mod tenants;
mod tidy;
mod tls;
mod trade;
mod trade_model;
mod watching;
mod wires;
mod withheld;
mod writes;

//! What the suites stand on: a real server process, a real PostgreSQL, a real browser.

pub mod authority;
pub mod books;
pub mod browser;
pub mod citus;
pub mod examples;
pub mod http;
pub mod people;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod server;
pub mod shop;
pub mod streams;
pub mod twins;
pub mod wire;

pub use http::Request;
pub use server::{Company, Dialect, Engine, Options, Server};

/// Runs a fact about a server on SQLite and on PostgreSQL. The server is shared; a test makes its own company.
macro_rules! on_both_engines {
    ($($(#[$about:meta])* fn $name:ident($server:ident) $body:block)+) => {$(
        mod $name {
            #[allow(unused_imports, reason = "a fact may need nothing of its suite")]
            use super::*;

            fn fact($server: &crate::harness::Server) $body

            fn holds(server: &crate::harness::Server) {
                crate::harness::http::ask_from_elsewhere();
                fact(server);
            }

            #[test]
            fn on_sqlite() {
                holds(crate::harness::Server::shared(crate::harness::Engine::Sqlite).expect("SQLite needs nothing"));
            }

            #[test]
            fn on_postgres() {
                if let Some(server) = crate::harness::Server::shared(crate::harness::Engine::Postgres) {
                    holds(server);
                }
            }
        }
    )+};
}
pub(crate) use on_both_engines;

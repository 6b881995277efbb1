//! Whether what is said to a database can be read or changed on its way.

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::net::IpAddr;
use std::str::FromStr;

/// The host of a PostgreSQL that is elsewhere and whose certificate nobody asks for; nothing where all is well.
pub fn unverified_host(url: &str) -> Option<String> {
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return None;
    }
    let options = PgConnectOptions::from_str(url).ok()?;
    let host = options.get_host().trim_matches(['[', ']']);
    let is_here = options.get_socket().is_some()
        || host.starts_with('/')
        || host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    let is_verified = matches!(options.get_ssl_mode(), PgSslMode::VerifyFull);
    (!is_here && !is_verified).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_elsewhere_is_spoken_to_with_its_certificate_verified() {
        for (url, host) in [
            ("postgres://duet:pw@db.example.com/duet", Some("db.example.com")),
            ("postgresql://duet@db.example.com/duet?sslmode=require", Some("db.example.com")),
            ("postgres://duet@db.example.com/duet?sslmode=verify-ca", Some("db.example.com")),
            ("postgres://duet@db.example.com/duet?sslmode=disable", Some("db.example.com")),
            ("postgres://duet@10.0.0.7:5433/duet", Some("10.0.0.7")),
            ("postgres://duet@db.example.com/duet?sslmode=verify-full", None),
            ("postgres://duet@localhost/duet", None),
            ("postgres://duet@127.0.0.1:5433/duet?sslmode=disable", None),
            ("postgres://duet@[::1]/duet", None),
            ("postgres://duet@%2Fvar%2Frun%2Fpostgresql/duet", None),
            ("postgres:///duet?host=/var/run/postgresql", None),
            ("sqlite:data/duet.db", None),
        ] {
            assert_eq!(unverified_host(url).as_deref(), host, "{url}");
        }
    }
}

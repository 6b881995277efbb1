//! Whether what is said to a database can be read or changed on its way.

/// The host of a PostgreSQL that is elsewhere and whose certificate nobody asks for; nothing where all is well.
pub fn unverified_host(url: &str) -> Option<String> {
    if !postgres_kit::is_postgres(url) {
        return None;
    }
    postgres_kit::unverified_host(url)
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
            ("postgres://duet@127.0.0.1,db.example.com/duet", Some("db.example.com")),
            // A password that was not encoded: no part of it is told.
            ("postgres://duet:a@tail@db.example.com/duet", Some("db.example.com")),
            ("sqlite:data/duet.db", None),
        ] {
            assert_eq!(unverified_host(url).as_deref(), host, "{url}");
        }
    }
}

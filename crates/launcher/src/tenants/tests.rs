#![cfg(test)]

use super::*;

#[test]
fn a_host_is_one_name_however_it_is_written() {
    for (written, name) in [
        ("acme.example", Some("acme.example")),
        ("ACME.Example:8443", Some("acme.example")),
        ("acme.example.", Some("acme.example")),
        ("localhost:5000", Some("localhost")),
        ("", None),
        ("..", None),
        ("../etc", None),
        ("a/b", None),
        ("a..b", None),
        ("-a.example", None),
        ("[::1]:80", None),
        ("acme.example:80x", None),
        ("user@acme.example", None),
    ] {
        assert_eq!(normal_host(written).as_deref(), name, "{written}");
    }
}

//! The pictures of the guide, made by the very pages that they show. `DUET_PICTURES=1` makes them anew; else nothing is done.

use crate::console::Desk;
use crate::harness::{Engine, Options, Server};
use std::io::Write;
use std::process::{Command, Stdio};

const TO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/guide/pages/pictures");
const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/browser/picture.py");

/// No picture is larger than this.
const MOST: u64 = 150_000;

fn keep(name: &str, picture: &str) {
    let to = format!("{TO}/{name}.png");
    let mut small = Command::new("python3").args([SMALL, &to]).stdin(Stdio::piped()).spawn().expect("python3");
    small.stdin.take().unwrap().write_all(picture.as_bytes()).unwrap();
    assert!(small.wait().unwrap().success(), "{to} was not written");
}

#[test]
fn the_pictures_are_of_these_pages() {
    if std::env::var("DUET_PICTURES").is_err() {
        return;
    }
    // All of the demo, as people see it.
    let options = Options { arguments: vec!["--demo".into()], ..Options::default() };
    let server = Server::start(Engine::Sqlite, options).expect("SQLite needs nothing");
    let Some(desk) = Desk::open(&server) else { panic!("pictures take a browser") };
    let browser = &desk.browser;
    let settled = "document.readyState === 'complete' && !document.querySelector('.waiting, [aria-busy=true]') \
                   && ![...document.querySelectorAll('.part, .big')].some(one => one.textContent === '…')";
    let take = |name: &str| {
        browser.wait(settled);
        browser.run("document.activeElement?.blur(); scrollTo(0, 0)");
        keep(name, &browser.picture());
    };
    browser.without_scrollbars();
    browser.prefer("light");
    browser.resize(1440, 900);
    desk.go("");
    take("home");
    desk.go("/receipts?sort=-date");
    browser.click("table.list tbody th a");
    browser.click(".chain a[href*='/sales-invoices/']");
    browser.wait("location.pathname.includes('/sales-invoices/') && document.querySelector('.entry') && document.querySelector('.chain:not([aria-busy])')");
    take("invoice");
    desk.go("/reports/pl?groupBy=quarter");
    browser.wait("document.querySelectorAll('table.report tbody tr').length > 5");
    take("report");
    browser.prefer("dark");
    browser.resize(390, 844);
    desk.go("");
    take("phone");
}

#[test]
fn pictures_are_small_and_each_is_shown() {
    let shown: Vec<String> = guide::PAGES.iter().flat_map(|page| guide::links(page.text)).collect();
    for picture in guide::PICTURES {
        assert!(picture.bytes.len() as u64 <= MOST, "{} has {} bytes", picture.name, picture.bytes.len());
        assert!(picture.bytes.starts_with(b"\x89PNG"), "{} is no picture", picture.name);
        assert!(shown.iter().any(|one| *one == format!("pictures/{}", picture.name)), "nobody shows {}", picture.name);
    }
    let server = Server::demo();
    for picture in guide::PICTURES {
        let path = format!("/docs/pictures/{}", picture.name);
        let answer = server.send(&crate::harness::Request::new("GET", &path)).expect(200);
        assert_eq!(answer.header("content-type"), Some("image/png"), "{path}");
    }
}

//! The guide and the README: what they tell people to type is typed, where they lead is gone to, and what they say the books
//! do is what the worked examples hold.

use crate::console::FAULTS;
use crate::harness::browser::Browser;
use crate::harness::process::{fresh_folder, say_loudly};
use crate::harness::server::program;
use crate::harness::{Engine, Options, Request, Server};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).expect("the README")
}

fn page(name: &str) -> &'static str {
    guide::PAGES.iter().find(|page| page.name == name).unwrap_or_else(|| panic!("no page {name}")).text
}

/// Every text with its file.
fn texts() -> Vec<(PathBuf, String)> {
    let file = |page: &guide::Page| if page.name.is_empty() { "README".to_owned() } else { page.name.to_owned() };
    let of_guide = guide::PAGES
        .iter()
        .map(|page| (root().join(format!("crates/guide/pages/{}.md", file(page))), page.text.to_owned()));
    [(root().join("README.md"), readme())].into_iter().chain(of_guide).collect()
}

/// What a text tells people to type, in one piece: all blocks of a shell but those that build.
fn told(text: &str) -> String {
    let builds = |text: &str| text.lines().any(|line| line.starts_with("cargo "));
    let blocks = guide::blocks(text).into_iter().filter(|block| block.kind == "sh" && !builds(&block.text));
    blocks.map(|block| block.text).collect()
}

/// The place of a program on this machine.
fn place_of(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|place| place.is_file())
}

/// A program of a shell that notes each answer it did not expect.
fn note(place: &Path, script: &str) {
    std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
    std::fs::write(place, script).expect("a script");
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755)).expect("its rights");
}

/// What was typed said, and what did not go as told.
struct Typed {
    said: String,
    calls: usize,
    wrong: String,
}

/// Types a text into one shell beside a server, in a folder.
fn typed(text: &str, server: &Server, folder: &Path) -> Option<Typed> {
    let Some(curl) = place_of("curl") else {
        let required = std::env::var("DUET_TEST_CURL").is_ok_and(|value| value == "required");
        assert!(!required, "DUET_TEST_CURL=required, and there is no curl here");
        say_loudly("NO CURL FOUND: what the guide tells people to type is SKIPPED");
        return None;
    };
    let notes = fresh_folder("typed");
    std::fs::create_dir_all(&notes).expect("a folder");
    let (notes_at, curl) = (notes.display(), curl.display());
    note(
        &notes.join("bin/curl"),
        &format!(
            "#!/bin/bash\nwant=2; if [ -s {notes_at}/expected ]; then want=$(cat {notes_at}/expected); rm {notes_at}/expected; fi\n\
             answer=$(mktemp -p {notes_at}); code=$({curl} \"$@\" -o \"$answer\" -w '%{{http_code}}'); cat \"$answer\"; echo\n\
             echo \"$code\" >> {notes_at}/calls\n\
             case $code in $want*) ;; *) {{ echo \"$code, and not $want: $*\"; cat \"$answer\"; echo; }} >> {notes_at}/wrong ;; esac\n"
        ),
    );
    note(
        &folder.join("target/release/duet"),
        &format!(
            "#!/bin/bash\n{} \"$@\"; code=$?; echo duet >> {notes_at}/calls\n\
             case \"$code $1\" in '0 '*|[34]' doctor') ;; *) echo \"duet ended with $code: $*\" >> {notes_at}/wrong ;; esac\nexit $code\n",
            program()
        ),
    );
    let expected = |line: &str| match line.trim_start().strip_prefix("# answers ") {
        Some(rest) => format!("echo {} > {notes_at}/expected", &rest[..3]),
        None => line.to_owned(),
    };
    let script: Vec<String> = text.lines().map(expected).collect();
    let script = script.join("\n");
    let script = script.replace("127.0.0.1:5000", &server.address.to_string());
    let path = std::env::var("PATH").expect("a path");
    let mut shell = Command::new("bash");
    // `pipefail` is not what people have; a word that nobody set is a fault of the page.
    shell.args(["-u", "-c", &script]).current_dir(folder).env("PATH", format!("{notes_at}/bin:{path}"));
    let done = shell.output().expect("a shell");
    let read = |name: &str| std::fs::read_to_string(notes.join(name)).unwrap_or_default();
    let complaints = String::from_utf8_lossy(&done.stderr).into_owned();
    let unset = complaints.lines().filter(|line| line.contains("unbound variable") || line.contains("syntax error"));
    let unset: Vec<&str> = unset.collect();
    let unset = unset.join("\n");
    let unmet = read("expected");
    let unmet = if unmet.is_empty() { String::new() } else { format!("nothing came that answers {unmet}") };
    Some(Typed {
        said: String::from_utf8_lossy(&done.stdout).into_owned(),
        calls: read("calls").lines().count(),
        wrong: read("wrong") + &unset + &unmet,
    })
}

/// What a page says comes out, as often as it says so.
const SAID: &[(&str, &str, usize)] = &[
    ("README", "\"status\":\"partiallyPaid\"", 2),
    ("start", "\"balanceDue\":428.00", 1),
    ("start", "1010 Bank,0.00,0.00,6000.00,595.00,5405.00,0.00", 1),
    ("start", "\"netProfit\":700.00", 2),
    ("start", "The books are closed until 2026-01-31", 2),
    ("api", "idempotency-replayed: true", 1),
    ("api", "must have at most 2 decimal places in EUR", 1),
    ("migrating", "\"code\":\"3900\",\"balance\":0.00", 1),
    ("migrating", "equal  salesInvoicesList", 1),
];

#[test]
fn what_people_are_told_to_type_works() {
    // A proof of a demo takes long where nothing is built to be fast and others ask as well.
    let patient = Some(r#"{"Limits": {"Request": "10m", "ReadTime": "24h"}}"#.to_owned());
    let options = Options { arguments: vec!["--demo=small".into()], custom: patient, ..Options::default() };
    let server = Server::start(Engine::Sqlite, options).expect("SQLite needs nothing");
    let folder = fresh_folder("reader");
    std::fs::create_dir_all(&folder).expect("a folder");
    let readme = readme();
    let pages = [
        ("README", readme.as_str(), 6),
        ("start", page("start"), 30),
        ("api", page("api"), 40),
        ("migrating", page("migrating"), 14),
    ];
    let mut wrong = String::new();
    for (name, text, least) in pages {
        let Some(typed) = typed(&told(text), &server, &folder) else { return };
        assert!(typed.calls >= least, "{name}: only {} requests were made\n{}", typed.calls, typed.wrong);
        if !typed.wrong.is_empty() {
            wrong.push_str(&format!("{name}:\n{}\n", typed.wrong));
        }
        for (_, words, least) in SAID.iter().filter(|(of, _, _)| *of == name) {
            let found = typed.said.matches(words).count();
            if found < *least {
                wrong.push_str(&format!("{name}: {words} is said {found} times, and should be {least} times\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_operators_are_told_to_type_works() {
    let server = Server::start(Engine::Sqlite, Options::default()).expect("SQLite needs nothing");
    // `health` asks where the configuration listens.
    let custom = format!("{{\"Urls\": \"http://{}\"}}", server.address);
    std::fs::write(server.folder.join("config/appsettings.Custom.json"), custom).expect("the configuration");
    let Some(typed) = typed(&told(page("operating")), &server, &server.folder.clone()) else { return };
    assert!(typed.wrong.is_empty() && typed.calls >= 9, "{} calls\n{}\n{}", typed.calls, typed.wrong, typed.said);
}

/// A request that is shown and not made is believed by nobody.
#[test]
fn no_request_of_a_client_is_shown_that_is_not_made() {
    for (name, text) in [("README", readme()), ("start", page("start").into()), ("api", page("api").into())] {
        let shown = guide::blocks(&text).into_iter().filter(|block| block.text.contains("curl"));
        let kinds: BTreeSet<String> = shown.map(|block| block.kind).collect();
        assert_eq!(kinds, BTreeSet::from(["sh".to_owned()]), "{name}");
    }
    let kinds: BTreeSet<String> =
        texts().iter().flat_map(|(_, text)| guide::blocks(text)).map(|block| block.kind).collect();
    let known = ["", "json", "sh", "shell", "text"];
    assert!(kinds.iter().all(|kind| known.contains(&kind.as_str())), "{kinds:?}");
}

#[test]
fn no_link_is_dead() {
    let server = Server::shared(Engine::Sqlite).expect("SQLite needs nothing");
    let mut dead = Vec::new();
    for (file, text) in texts() {
        let folder = file.parent().expect("a folder");
        for link in guide::links(&text) {
            let (path, place) = link.split_once('#').unwrap_or((&link, ""));
            let is_there = if let Some(path) = path.strip_prefix(guide::SERVER) {
                let path = if path.is_empty() { "/" } else { path };
                place.is_empty() && server.send(&Request::new("GET", path)).status == 200
            } else if link.starts_with("http") {
                // Nothing leads out of the house.
                false
            } else {
                let target = if path.is_empty() { file.clone() } else { folder.join(path) };
                let named = || guide::anchors(&std::fs::read_to_string(&target).unwrap_or_default());
                target.is_file() && (place.is_empty() || named().iter().any(|name| name == place))
            };
            if !is_there {
                dead.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert_eq!(dead, Vec::<String>::new());
}

/// The addresses that a page links to.
fn addresses(html: &str) -> BTreeSet<String> {
    let each = html.split(" href=\"").skip(1);
    each.map(|rest| rest.split('"').next().unwrap_or_default().replace("&amp;", "&")).collect()
}

#[test]
fn the_guide_is_served_and_leads_only_to_what_is_there() {
    let server = Server::shared(Engine::Sqlite).expect("SQLite needs nothing");
    let get = |path: &str| server.send(&Request::new("GET", path).header("Accept", "text/html"));
    let (mut waiting, mut seen, mut pages) = (vec!["/docs".to_owned()], BTreeSet::new(), 0);
    while let Some(address) = waiting.pop() {
        let (path, place) = address.split_once('#').unwrap_or((&address, ""));
        assert!(path.starts_with('/'), "{address} leads out of the house");
        let shown = get(path).expect(200);
        assert!(
            place.is_empty() || shown.text.contains(&format!("id=\"{place}\"")),
            "nothing on {path} is called {place}"
        );
        if !path.starts_with("/docs") || !seen.insert(path.to_owned()) {
            continue;
        }
        pages += 1;
        let policy = shown.header("content-security-policy").expect("a policy");
        assert!(!policy.contains("unsafe") && policy.contains("default-src 'none'"), "{path}: {policy}");
        for inline in ["<script>", "<style", " style=", " onclick="] {
            assert!(!shown.text.contains(inline), "{path} holds {inline}");
        }
        let scripts = |text: &str| shown.text.matches(text).count();
        assert_eq!(scripts("<script"), scripts("<script src=\"/assets/"), "{path} holds a script");
        // A link within the page is of the page.
        let of_page = |link: String| if link.starts_with('#') { format!("{path}{link}") } else { link };
        waiting.extend(addresses(&shown.text).into_iter().map(of_page));
    }
    assert_eq!(pages, guide::PAGES.len(), "each page is reached from the first: {seen:?}");
    assert_eq!(get("/docs/").expect(200).text, get("/docs").expect(200).text);
    assert!(get("/docs/nothing").expect(404).text.contains("<h1>Nothing here</h1>"));
    for other in ["/about", "/errors", "/docs/api"] {
        assert!(addresses(&get(other).expect(200).text).contains("/docs"), "{other} leads to the guide");
    }
    assert!(get("/").expect(200).text.contains("/docs"), "the console is told of the guide");
    let tag = get("/docs/api").header("etag").expect("a tag").to_owned();
    server.send(&Request::new("GET", "/docs/api").header("If-None-Match", &tag)).expect(304);
}

/// Figures of the guide are those of examples that run.
#[test]
fn the_examples_of_the_guide_are_worked_ones() {
    let worked = include_str!("examples/worked.md");
    let examples: Vec<String> = worked
        .split("\n## ")
        .map(|one| one.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect::<Vec<_>>().join("\n"))
        .collect();
    let shown: Vec<_> = guide::blocks(page("accounting")).into_iter().filter(|block| block.kind == "text").collect();
    assert!(shown.len() >= 20, "{} examples", shown.len());
    for block in &shown {
        // Whole lines of one example.
        let whole = format!("\n{}", block.text);
        assert!(
            examples.iter().any(|one| format!("{one}\n").contains(&whole)),
            "no worked example has this:\n{}",
            block.text
        );
    }
}

/// Every key with a default stands in the table of the configuration.
#[test]
fn the_guide_names_every_key() {
    let shipped = std::fs::read_to_string(root().join("config/appsettings.json")).expect("the configuration");
    let names = shipped.lines().filter_map(|line| line.trim_start().strip_prefix('"')?.split_once("\":"));
    let names: BTreeSet<String> = names.map(|(name, _)| name.to_owned()).collect();
    assert!(names.len() > 40, "{names:?}");
    let (_, table) = page("operating").split_once("## Configuration").expect("the keys");
    let (table, _) = table.split_once("## PostgreSQL").expect("their end");
    let is_there = |name: &String| [":", "`"].iter().any(|before| table.contains(&format!("{before}{name}")));
    let missing: Vec<&String> = names.iter().filter(|name| !is_there(name)).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[test]
fn the_guide_is_read_in_a_browser() {
    let Some(browser) = Browser::start() else { return };
    let server = Server::shared(Engine::Sqlite).expect("SQLite needs nothing");
    let mut faults = Vec::new();
    for (width, height) in [(1440, 900), (900, 900), (390, 844)] {
        browser.resize(width, height);
        for page in guide::PAGES {
            browser.open(&format!("http://{}/docs/{}", server.address, page.name));
            browser.wait("document.querySelector('.guide h1')");
            let found = browser.run(FAULTS);
            let found = found.as_array().expect("a list").iter();
            faults.extend(found.map(|fault| format!("{} at {width}: {fault}", page.name)));
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    // From page to page without a script.
    browser.open(&format!("http://{}/docs", server.address));
    browser.click("a[rel=next]");
    browser.wait("document.querySelector('h1')?.textContent === 'The first five minutes'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

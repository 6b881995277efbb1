//! What people install is made, and installed where nothing was: as an operator does, and as Debian and systemd read it.

use crate::backups::{good, text, words};
use crate::harness::process::{fresh_folder, piped, say_loudly};
use crate::harness::server::{authorised, program, run};
use crate::harness::{Company, Request, Server};
use release::{Asked, make};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether a program is here; a failure where it is required.
fn is_here(name: &str) -> bool {
    let found =
        Command::new("sh").args(["-c", &format!("command -v {name}")]).output().expect("a shell").status.success();
    if !found {
        let required = std::env::var("DUET_TEST_PACKAGES").is_ok_and(|value| value == "required");
        assert!(!required, "DUET_TEST_PACKAGES=required, and there is no {name} here");
        say_loudly(&format!("NO {name} FOUND: what it says of a release is NOT SEEN"));
    }
    found
}

/// A release of the very program under test.
fn released() -> PathBuf {
    let folder = fresh_folder("release");
    // The program is large, and is packed no better for these tests: what is packed runs it.
    let stand_in = folder.join("program");
    std::fs::write(&stand_in, format!("#!/bin/sh\nexec {} \"$@\"\n", program())).unwrap();
    std::fs::set_permissions(&stand_in, std::fs::Permissions::from_mode(0o755)).unwrap();
    let to = folder.join("to");
    make(&Asked::of(&to, &stand_in)).unwrap();
    to
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn package(release: &Path) -> PathBuf {
    let all = std::fs::read_dir(release).unwrap().map(|entry| entry.unwrap().path());
    all.into_iter().find(|path| path.extension().is_some_and(|end| end == "deb")).expect("a package")
}

/// What a command says.
fn said(command: &str, arguments: &[&str]) -> String {
    good(&Command::new(command).args(arguments).output().unwrap_or_else(|error| panic!("{command}: {error}")))
}

#[test]
fn a_release_has_what_it_says() {
    if !is_here("dpkg-deb") {
        return;
    }
    let release = released();
    // The sums are right, as another program reads them, and all files but their own have one.
    let checked =
        Command::new("sha256sum").current_dir(&release).args(["--check", "--strict", "SHA256SUMS"]).output().unwrap();
    good(&checked);
    let found = said("find", &[&text(&release), "-type", "f"]);
    assert_eq!(read(&release.join("SHA256SUMS")).lines().count() + 1, found.lines().count());
    std::fs::write(release.join("man/duet.1"), "changed").unwrap();
    let changed = Command::new("sha256sum").current_dir(&release).args(["--check", "SHA256SUMS"]).output().unwrap();
    assert!(!changed.status.success());
    // Nothing is written over.
    let again = make(&Asked::of(&release, Path::new("/bin/true"))).unwrap_err();
    assert!(again.contains("is there already"), "{again}");

    let named = |key: &str| said("dpkg-deb", &["--field", &text(&package(&release)), key]).trim().to_owned();
    assert_eq!((named("Package").as_str(), named("Version").as_str()), ("duet", env!("CARGO_PKG_VERSION")));
    // All of it is root's and can be read by everybody, whoever made it; nothing lies where the books will.
    let contents = said("dpkg-deb", &["--contents", &text(&package(&release))]);
    for line in contents.lines() {
        assert!(line.contains(" root/root "), "{line}");
        assert!(&line[7..8] == "r", "{line}");
        assert!(!line.contains("/var/"), "{line}");
    }
    for name in
        ["./usr/bin/duet", "./usr/share/man/man1/duet-serve.1.gz", "./usr/share/bash-completion/completions/duet"]
    {
        assert!(contents.lines().any(|line| line.ends_with(name)), "{name}");
    }
    // What an administrator changes is kept.
    let kept = said("dpkg-deb", &["--info", &text(&package(&release)), "conffiles"]);
    assert_eq!(kept.lines().collect::<Vec<_>>(), ["/etc/duet/appsettings.json", "/etc/duet/appsettings.Custom.json"]);
}

/// The crates whose sources a program names, where it says in which line something went wrong.
fn traces(program: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(program);
    let named = text.split("/registry/src/").skip(1).filter_map(|rest| {
        let folder = rest.split_once('/')?.1;
        let folder = folder.split(|sign: char| !sign.is_ascii_alphanumeric() && !"-_.+".contains(sign)).next()?;
        // The name ends before the first part that begins as a version does: with a number and a point.
        let is_version = |at: usize| {
            let rest = folder[at + 1..].trim_start_matches(|one: char| one.is_ascii_digit());
            rest.starts_with('.') && !folder[at + 1..].starts_with('.')
        };
        let (at, _) = folder.match_indices('-').find(|(at, _)| is_version(*at))?;
        Some(format!("pkg:cargo/{}@{}", &folder[..at], &folder[at + 1..]))
    });
    named.collect()
}

#[test]
fn the_bill_names_what_the_program_is_made_of() {
    if !is_here("dpkg-deb") {
        return;
    }
    let bill: Value = serde_json::from_str(&read(&released().join("duet.cdx.json"))).unwrap();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let listed: BTreeMap<&str, &Value> =
        bill["components"].as_array().unwrap().iter().map(|one| (one["purl"].as_str().unwrap(), one)).collect();
    // Every crate of others that left a trace in the program is in the bill, and what nobody turns on is not.
    let traces = traces(&std::fs::read(program()).unwrap());
    assert!(traces.len() > 50, "{traces:?}");
    let unlisted: Vec<_> = traces.iter().filter(|purl| !listed.contains_key(purl.as_str())).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
    assert!(!listed.keys().any(|purl| purl.contains("/sqlx-mysql@") || purl.contains("/arrow@")), "{listed:?}");
    // Whoever needs something needs what is there, and all that is there is needed.
    let needs: BTreeMap<&str, Vec<&str>> = bill["dependencies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["ref"].as_str().unwrap(),
                one["dependsOn"].as_array().unwrap().iter().map(|on| on.as_str().unwrap()).collect(),
            )
        })
        .collect();
    let mut reached = BTreeSet::new();
    let mut open = vec![bill["metadata"]["component"]["purl"].as_str().unwrap()];
    while let Some(purl) = open.pop() {
        open.extend(needs[purl].iter().filter(|need| reached.insert(**need)));
    }
    assert!(reached.iter().eq(listed.keys()));
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    // What is others' has its checksum and its licence.
    let lock = read(&Path::new(sources).join("Cargo.lock"));
    for (purl, one) in &listed {
        let is_others = lock.contains(&format!("name = {}\nversion = {}\nsource = ", one["name"], one["version"]));
        assert_eq!(one["hashes"][0]["content"].is_string(), is_others, "{purl}");
        assert!(one["licenses"][0]["expression"].is_string(), "{purl}");
        if is_others {
            assert!(lock.contains(one["hashes"][0]["content"].as_str().unwrap()), "{purl}");
        }
    }
}

#[test]
fn manuals_and_completions_name_every_command() {
    if !is_here("dpkg-deb") {
        return;
    }
    let release = released();
    let help = piped(program(), &["--help"], "").expect("help");
    let commands: Vec<&str> = help
        .lines()
        // In their groups, before the options.
        .take_while(|line| *line != "Options:")
        .filter_map(|line| {
            line.strip_prefix("  ")?.split(' ').next().filter(|word| !word.is_empty() && *word != "help")
        })
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    let completion = read(&release.join("completions/duet.bash"));
    for command in commands {
        let manual = read(&release.join(format!("man/duet-{command}.1")));
        assert!(manual.contains(".SH SYNOPSIS"), "{command}");
        assert!(
            completion.contains(&format!("duet__{}", command.replace('-', "__"))) || completion.contains(command),
            "{command}"
        );
    }
    let bash = Command::new("bash").args(["-n", &text(&release.join("completions/duet.bash"))]).output().unwrap();
    good(&bash);
}

#[test]
fn systemd_takes_the_unit_and_finds_little_to_attack() {
    if !is_here("dpkg-deb") || !is_here("systemd-analyze") {
        return;
    }
    let root = fresh_folder("root");
    said("dpkg-deb", &["--extract", &text(&package(&released())), &text(&root)]);
    let unit = root.join("usr/lib/systemd/system/duet.service");
    // It looks for the programs that a unit names where they will be.
    let tried = fresh_folder("unit").join("duet.service");
    std::fs::write(&tried, read(&unit).replace("/usr/bin/duet", &text(&root.join("usr/bin/duet")))).unwrap();
    let verified = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&tried).output().unwrap();
    good(&verified);
    assert!(!String::from_utf8_lossy(&verified.stderr).contains("duet.service"), "{verified:?}");
    // 0 is nothing to attack, 100 is everything.
    good(
        &Command::new("systemd-analyze")
            .args(["security", "--offline=true", "--threshold=20"])
            .arg(&unit)
            .output()
            .unwrap(),
    );
}

#[test]
fn from_an_empty_root_to_books_on_another_machine() {
    if !is_here("dpkg-deb") {
        return;
    }
    let (release, root) = (released(), fresh_folder("root"));
    let install = || said("dpkg-deb", &["--extract", &text(&package(&release)), &text(&root)]);
    install();
    // As the unit says it, below this root. systemd makes the folder of the state.
    let unit = read(&root.join("usr/lib/systemd/system/duet.service"));
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("what is run");
    let state = root.join("var/lib/duet");
    assert!(unit.contains("\nStateDirectory=duet\n"));
    std::fs::create_dir_all(&state).unwrap();
    let below = |word: &str| if word.starts_with('/') { format!("{}{word}", root.display()) } else { word.to_owned() };
    let start: Vec<String> = line.split(' ').map(below).collect();
    let custom = root.join("etc/duet/appsettings.Custom.json");
    let text_of_custom = read(&custom);
    assert!(text_of_custom.contains("\"/var/lib/duet\""), "{text_of_custom}");
    std::fs::write(&custom, text_of_custom.replace("/var/lib/duet", &text(&state))).unwrap();
    let environment = [
        ("DUET_Urls", "http://127.0.0.1:0"),
        ("Bootstrap__Email", ""),
        ("Bootstrap__Username", ""),
        ("Bootstrap__Password", ""),
    ];
    let environment = environment.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let serve = || Server::by_words(root.clone(), &state.join("duet.db"), &start, environment.clone());

    // The first start: somebody to log in as, whose password is nowhere but in a file of root's.
    let server = serve();
    let password = read(&state.join("first-password"));
    let token = server.login("admin@localhost", password.trim_end());
    let body = serde_json::json!({"name": "Installed & Co", "baseCurrency": "EUR"});
    let made =
        server.send(&authorised(Request::new("POST", "/b/api/businesses").json(&body), &token)).expect(201).json();
    let company = Company { server: &server, id: made["id"].as_str().unwrap().to_owned(), token };
    let journal = company.journal_body("2026-04-05", &[("6300", "12.34"), ("1010", "-12.34")]);
    company.post_journal(&journal).expect(201);

    // Whoever administers it asks the same program; the configuration says where everything is.
    let command = |arguments: &[&str]| {
        let config = text(&root.join("etc/duet"));
        let run = [&[arguments[0], "--config", &config], &arguments[1..]].concat();
        good(&Command::new(root.join("usr/bin/duet")).args(run).current_dir("/").output().unwrap())
    };
    command(&["user", "add", "--email", "jo@example.test"]);
    let copy = fresh_folder("copies").join("copy");
    command(&["backup", &text(&copy), "--verify"]);
    let digest = |proof: &str| serde_json::from_str::<Value>(proof).unwrap()["businesses"][0]["digest"].clone();
    let before = digest(&command(&["verify", "--json"]));
    assert!(before.is_string(), "{before}");

    // The next release is laid over it; what is the administrator's stays, which dpkg sees to and this does by hand.
    let (id, token) = (company.id.clone(), company.token.clone());
    server.signal("TERM");
    assert_eq!(server.exit_code(), Some(0));
    let own = read(&custom);
    install();
    std::fs::write(&custom, own).unwrap();
    let server = serve();
    let company = Company { server: &server, id, token };
    company.post_journal(&journal).expect(201);
    let after = digest(&command(&["verify", "--json"]));
    assert_ne!(before, after);

    // On another machine: a folder, the copy, and the key that is kept apart from it.
    let other = fresh_folder("other");
    let data = text(&other.join("data"));
    let key = text(&state.join("master-key"));
    good(&run(&words(&["restore", &text(&copy), "--data", &data, "--key", &key, "--verify"]), ""));
    let proof = good(&run(&words(&["verify", "--json", "--data", &data]), ""));
    assert_eq!(digest(&proof), before);
}

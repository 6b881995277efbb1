//! A server of one's own from nothing: `duet init` by flags and at a terminal, and what the command line says to people.

use crate::harness::process::{fresh_folder, piped};
use crate::harness::server::{program, run};
use crate::harness::{Request, Server};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// `duet init` in a folder of its own, without a terminal.
fn init(folder: &Path, more: &[&str], input: &str) -> Output {
    let mut words = vec!["init".to_owned()];
    words.extend([
        "--config".to_owned(),
        text(&folder.join("config")),
        "--data".to_owned(),
        text(&folder.join("data")),
    ]);
    words.extend(more.iter().map(|word| (*word).to_owned()));
    run(&words, input)
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

const EMAIL: &str = "first@books.example";
const PASSWORD: &str = "seven lamps in a row";

/// A server by what was set up, and whether that user logs in there.
fn logs_in(folder: &Path, password: &str) {
    let words = [program(), "serve", "--config", &text(&folder.join("config"))].map(str::to_owned);
    let file = folder.join("data/duet.db");
    let server = Server::by_words(folder.to_owned(), &file, &words, Vec::new());
    // One dialect was chosen, so it is where a single one is.
    let body = json!({"email": EMAIL, "password": password});
    let answer = server.send(&Request::new("POST", "/api/auth/login").json(&body));
    assert!(answer.expect(200).json()["token"].is_string());
}

#[test]
fn a_server_is_set_up_by_flags_and_serves_what_was_said() {
    let folder = fresh_folder("init");
    let words = ["--email", EMAIL, "--password-stdin", "--dialect", "b", "--listen", "127.0.0.1:0"];
    let made = init(&folder, &words, PASSWORD);
    assert!(made.status.success() && said(&made).contains(EMAIL), "{}", said(&made));
    assert!(!said(&made).contains(PASSWORD));
    logs_in(&folder, PASSWORD);
    // What is there is not written over, and nobody is made twice.
    let file = folder.join("config/appsettings.Custom.json");
    let before = std::fs::read(&file).unwrap();
    let again = init(&folder, &words, PASSWORD);
    assert_eq!(again.status.code(), Some(2), "{}", said(&again));
    assert!(said(&again).contains("is there already"), "{}", said(&again));
    assert_eq!(std::fs::read(&file).unwrap(), before);
    std::fs::remove_file(&file).unwrap();
    let again = init(&folder, &words, PASSWORD);
    assert_eq!(again.status.code(), Some(1), "{}", said(&again));
    assert!(said(&again).contains("users already") && !file.exists(), "{}", said(&again));
}

#[test]
fn what_cannot_be_served_is_refused_before_anything_is_made() {
    for (words, named) in [
        (&["--dialect", "b"][..], "--email"),
        (&["--email", "first@@books.example", "--password-stdin"], "must be an e-mail address"),
        (&["--email", EMAIL, "--listen", "nowhere"], "Urls"),
        (&["--email", EMAIL, "--database", "mysql://u:secret@h/d"], "ConnectionStrings:Default"),
    ] {
        let folder = fresh_folder("init");
        let refused = init(&folder, words, "");
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        assert!(said(&refused).contains(named) && !said(&refused).contains("secret@"), "{}", said(&refused));
        assert!(!folder.join("config").exists() && !folder.join("data").exists());
    }
    // A password that is none leaves no configuration behind, so one asks again.
    let folder = fresh_folder("init");
    let refused = init(&folder, &["--email", EMAIL, "--password-stdin"], "short");
    assert!(!refused.status.success() && said(&refused).contains("assword"), "{}", said(&refused));
    assert!(!folder.join("config").exists());
    assert!(init(&folder, &["--email", EMAIL, "--password-stdin"], PASSWORD).status.success());
}

/// A terminal: waits for each question, and types its answer.
const TYPIST: &str = r#"
import json, os, pty, sys, termios, time
words, answers = json.loads(sys.argv[1])
child, screen = pty.fork()
if child == 0:
    os.environ["TERM"] = "xterm"
    os.execv(words[0], words)
shown = ""
def until(question):
    global shown
    while question not in shown:
        try:
            more = os.read(screen, 4096).decode()
        except OSError:
            return
        if not more:
            return
        sys.stdout.write(more)
        shown += more
def is_echoed():
    return termios.tcgetattr(screen)[3] & termios.ECHO
for question, answer in answers:
    until(question)
    # A person types once the question is asked; what is hidden, once it is.
    while question in ("Password", "again") and is_echoed():
        time.sleep(0.01)
    shown = shown.partition(question)[2]
    os.write(screen, (answer + "\n").encode())
until("\0")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;

#[test]
fn at_a_terminal_it_asks_and_asks_again_where_an_answer_is_none() {
    let folder = fresh_folder("init");
    let words = [program(), "init", "--config", &text(&folder.join("config"))].map(str::to_owned);
    let answers = [
        ("Folder of the books", text(&folder.join("data"))),
        ("Database", String::new()),
        ("Address", "here".into()),
        ("Address", "http://127.0.0.1:0".into()),
        ("Dialects", "B".into()),
        ("E-mail", "first@@books.example".into()),
        ("E-mail", EMAIL.into()),
        ("Password", PASSWORD.into()),
        ("again", "another one here".into()),
        ("Password", PASSWORD.into()),
        ("again", PASSWORD.into()),
    ];
    let asked = json!([words, answers]).to_string();
    let screen = piped("python3", &["-c", TYPIST, &asked], "").expect("python3 is there");
    assert!(screen.contains("expected") && screen.contains("two different passwords"), "{screen}");
    assert!(screen.contains("must be an e-mail address"), "{screen}");
    assert!(!screen.contains(PASSWORD), "a password is seen: {screen}");
    assert!(screen.contains("now: duet serve --config"), "{screen}");
    logs_in(&folder, PASSWORD);
}

/// Who waits for a demo sees how far it is, and then where it is; the log goes on from there.
#[test]
fn a_demo_that_is_watched_shows_its_bar_alone() {
    let words = [program(), "serve", "--demo=small", "--listen", "127.0.0.1:0"].map(str::to_owned);
    // It ends as at a keyboard, however it does.
    let catching = format!("{TYPIST}\n").replace("sys.exit(", "print(");
    let asked = json!([words, [("log in with", "\u{3}")]]).to_string();
    let screen = piped("python3", &["-c", &catching, &asked], "").expect("python3 is there");
    let (loading, served) = screen.split_once("listening on").expect("it listens");
    assert!(loading.contains("100 %") && !loading.contains("security"), "{loading}");
    assert!(served.contains("console"), "{served}");
}

#[test]
fn a_role_that_is_written_a_little_wrong_is_answered_with_the_right_one() {
    let folder = fresh_folder("role");
    let data = text(&folder.join("data"));
    for command in ["add", "role"] {
        let words = ["user", command, EMAIL, "--business", "x", "--role", "bookkeper", "--data", &data];
        let refused = run(&words.map(str::to_owned), "");
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        assert!(said(&refused).contains("similar value exists: 'bookkeeper'"), "{}", said(&refused));
        assert!(!folder.join("data").exists());
    }
}

/// Whoever is in the wrong folder is told so, and is not the first person of new books.
#[test]
fn people_are_added_to_books_that_are_there() {
    let folder = fresh_folder("elsewhere");
    let (data, copy) = (text(&folder.join("data")), text(&folder.join("copy")));
    for words in [
        &["user", "add", EMAIL, "--password-stdin"][..],
        &["user", "passwd", EMAIL, "--password-stdin"],
        &["user", "list"],
        &["reseal"],
        &["backup", &copy],
        &["log"],
    ] {
        let words = [words, &["--data", &data]].concat();
        let refused = run(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), PASSWORD);
        assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
        assert!(said(&refused).contains("there are no books at"), "{}", said(&refused));
        assert!(said(&refused).contains("--data, --database or --config"), "{}", said(&refused));
        assert!(std::fs::read_dir(&folder).unwrap().next().is_none(), "{words:?}");
    }
    let doctor = run(&["doctor", "--data", &data].map(str::to_owned), "");
    assert!(said(&doctor).contains("there are no books at"), "{}", said(&doctor));
    // Who migrates begins books, and says so; who adds a person to a file without any is sent there.
    std::fs::create_dir_all(folder.join("data")).unwrap();
    std::fs::write(folder.join("data/duet.db"), "").unwrap();
    let refused = run(&["user", "add", EMAIL, "--data", &data].map(str::to_owned), "");
    assert!(said(&refused).contains("run duet migrate first"), "{}", said(&refused));
    let other = text(&folder.join("other"));
    let begun = run(&["migrate", "--data", &other].map(str::to_owned), "");
    assert!(said(&begun).contains("made new books at") && begun.status.success(), "{}", said(&begun));
}

/// Nobody waits for samples that nobody can be shown.
#[test]
fn a_demo_looks_for_its_port_before_anything_is_loaded() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap().to_string();
    let refused = run(&["serve", "--demo", "--listen", &at].map(str::to_owned), "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains(&format!("cannot listen on {at}")), "{}", said(&refused));
    assert!(!said(&refused).contains("account_changed"), "{}", said(&refused));
}

#[test]
fn whoever_stops_reading_is_no_error() {
    let folder = fresh_folder("head");
    assert!(init(&folder, &["--email", EMAIL, "--password-stdin"], PASSWORD).status.success());
    let data = text(&folder.join("data"));
    for words in [&["log"][..], &["openapi", "both"], &["config", "show"], &["completions", "bash"]] {
        let mut child = Command::new(program());
        child.args(words).args(["--data", &data].iter().filter(|_| words.len() < 2 || words[0] == "config"));
        let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Closed before a word of it is read.
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(!String::from_utf8_lossy(&done.stderr).contains("pipe"), "{words:?}");
    }
}

#[test]
fn tenants_are_of_the_cloud_edition() {
    let folder = fresh_folder("tenant");
    let data = text(&folder.join("data"));
    let words = ["tenant", "add", "a.example", "--email", EMAIL, "--data", &data].map(str::to_owned);
    let refused = run(&words, "");
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("Edition") && !folder.join("data").exists(), "{}", said(&refused));
}

#[test]
fn what_went_wrong_is_in_colour_at_a_terminal_alone() {
    let words = [program(), "serve", "--config", "/dev/null/none", "--listen", "nowhere"].map(str::to_owned);
    let plain = run(&words[1..], "");
    assert!(!said(&plain).contains('\u{1b}') && said(&plain).contains("error: "), "{}", said(&plain));
    let catching = format!("{TYPIST}\n").replace("sys.exit(", "print(");
    let screen = piped("python3", &["-c", &catching, &json!([words, []]).to_string()], "").expect("python3 is there");
    assert!(screen.contains("\u{1b}[1m\u{1b}[31merror:"), "{screen:?}");
}

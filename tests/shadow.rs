//! `duet compare --record`: traffic that passes by stays as it is, is recorded without its secrets, and is asked on another
//! side as well, whose differences are told by their causes.

use crate::comparing::{changed, compare, report};
use crate::harness::http::{Answer, connect};
use crate::harness::process::{Kept, eventually, fresh_folder, say_loudly};
use crate::harness::server::{OWNER_EMAIL, OWNER_PASSWORD, authorised, program, run};
use crate::harness::{Company, Dialect, Engine, Options, Request, Server, on_both_engines, postgres, proxy};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// The tool, while it runs.
struct Tool {
    kept: Kept,
    pid: u32,
    output: BufReader<std::process::ChildStdout>,
    folder: PathBuf,
    address: SocketAddr,
    page: SocketAddr,
}

/// How a run ended.
struct Ended {
    code: Option<i32>,
    said: String,
    complained: String,
}

impl Ended {
    fn json(&self) -> Value {
        serde_json::from_str(&self.said).unwrap_or_else(|error| panic!("{error}: {}{}", self.said, self.complained))
    }
}

impl Tool {
    fn start(to: SocketAddr, words: &[&str]) -> Self {
        Self::start_with(&format!("http://{to}"), words, &[])
    }

    fn start_with(to: &str, words: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::start_at("0", to, words, environment)
    }

    fn start_at(address: &str, to: &str, words: &[&str], environment: &[(&str, &str)]) -> Self {
        let folder = fresh_folder("shadow");
        let mut command: Vec<String> =
            [program(), "compare", "--record", address, "--to", to, "--page", "0"].map(str::to_owned).to_vec();
        command.extend(words.iter().map(ToString::to_string));
        let mut kept = Kept::start(&[], &command, |shell| {
            shell.stderr(std::fs::File::create(folder.join("complaints")).unwrap());
            shell.envs(environment.iter().copied());
        });
        let mut output = BufReader::new(kept.child.stdout.take().unwrap());
        let (mut pid, mut address, mut page) = (None, None, None);
        loop {
            let mut line = String::new();
            let complaints = || std::fs::read_to_string(folder.join("complaints")).unwrap();
            assert!(output.read_line(&mut line).unwrap() > 0, "it did not start: {}", complaints());
            let line = line.trim_end();
            if let Some(number) = line.strip_prefix("pid ") {
                pid = number.parse().ok();
            } else if let Some(told) = line.strip_prefix("listening on http://") {
                address = told.parse().ok();
            } else if let Some((_, told)) = line.split_once("page            http://") {
                page = told.trim_end_matches('/').parse().ok();
            } else if line.starts_with("end with") {
                break;
            }
        }
        Self { kept, pid: pid.unwrap(), output, folder, address: address.unwrap(), page: page.unwrap() }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.pid.to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// What the page says of it by now.
    fn seen(&self) -> Value {
        let answer = Request::new("GET", "/report.json").send(self.page);
        answer.expect(200).json()["shadow"].clone()
    }

    /// Waits until so many were seen, and each of them was asked or passed over.
    fn settled(&self, seen: u64) -> Value {
        let mut last = Value::Null;
        eventually("all that was seen to be asked", || {
            last = self.seen();
            let over = |name: &str| last[name].as_u64().unwrap();
            let not: u64 = last["notAsked"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
            let done = over("asked") + not + over("unanswered") >= seen && over("seen") >= seen;
            done.then(|| last.clone())
        })
    }

    fn recorded(&self, count: u64) {
        eventually("all to be recorded", || {
            let told = self.seen();
            (told["recorded"].as_u64().unwrap() + told["notRecorded"].as_u64().unwrap() >= count).then_some(())
        });
    }

    fn end(mut self) -> Ended {
        self.signal("TERM");
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        let code = self.kept.child.wait().unwrap().code();
        let complained = std::fs::read_to_string(self.folder.join("complaints")).unwrap();
        Ended { code, said, complained }
    }
}

fn through(company: &Company<'_>, tool: &Tool, dialect: Dialect, path: &str) -> Answer {
    read(company, dialect, path).send(tool.address)
}

/// A request for what both dialects call the same, but for the accounts.
fn read(company: &Company<'_>, dialect: Dialect, path: &str) -> Request {
    match path.strip_prefix("accounts") {
        Some(rest) => company.request(dialect, "GET", "accounts", rest),
        None => company.request_at(dialect, "GET", path),
    }
}

/// The lines of a recording.
fn lines_of(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// An answer without what is of its moment.
fn plain(answer: &Answer) -> (u16, Vec<(String, String)>, Option<String>, String) {
    let of_the_moment = ["date", "ratelimit-remaining", "ratelimit-reset", "transfer-encoding"];
    let mut headers = answer.headers.clone();
    headers.retain(|(name, _)| !of_the_moment.contains(&name.as_str()));
    headers.sort();
    (answer.status, headers, answer.coding.clone(), answer.text.clone())
}

on_both_engines! {
    fn what_passes_by_is_to_the_byte_what_it_is_without_the_tool(server) {
        let company = server.company();
        for number in 0..120 {
            company.party(json!({"name": format!("Party {number} é")}));
        }
        let party = company.party(json!({"name": "Seen"}));
        let id = party["id"].as_str().unwrap().to_owned();
        let tool = Tool::start(server.address, &["--keep", &text(&fresh_folder("kept").join("kept.jsonl")), "--shadow"]);
        let get = |dialect, path: &str| company.request_at(dialect, "GET", path).header("X-Request-Id", "same");
        let etag = get(Dialect::B, &format!("parties/{id}")).send(server.address).header("etag").unwrap().to_owned();
        let mut asked = Vec::new();
        for dialect in [Dialect::A, Dialect::B] {
            for coding in ["gzip", "br", "zstd", "identity"] {
                asked.push(get(dialect, "parties?pageSize=500&sort=name").header("Accept-Encoding", coding));
            }
            asked.push(get(dialect, &format!("parties/{id}?x=%C3%A9&y=a+b%2F")).header("Accept-Encoding", "identity"));
            asked.push(get(dialect, &format!("parties/{id}")).header("If-None-Match", &etag));
            asked.push(get(dialect, "parties/nonsense"));
            asked.push(get(dialect, "nothing/of/the/kind"));
            let head = company.request_at(dialect, "HEAD", &format!("parties/{id}")).header("X-Request-Id", "same");
            asked.push(head.header("Accept-Encoding", "identity"));
            asked.push(company.request_at(dialect, "OPTIONS", "parties").header("Origin", "http://x.example"));
            let put = company.request_at(dialect, "PUT", &format!("parties/{id}"));
            asked.push(put.header("If-Match", "\"stale-0\"").header("X-Request-Id", "same").json(&party));
            asked.push(company.request_at(dialect, "POST", "parties").header("X-Request-Id", "same").text("application/json", "{"));
        }
        asked.push(Request::new("GET", "/").header("Accept-Encoding", "gzip"));
        asked.push(Request::new("GET", "/swagger"));
        for request in &asked {
            let mut request = request.clone();
            for (name, value) in [("X-Request-Id", "same"), ("Accept-Encoding", "identity")] {
                if !request.headers.iter().any(|(known, _)| known == name) {
                    request = request.header(name, value);
                }
            }
            let (through, without) = (request.send(tool.address), request.send(server.address));
            assert_eq!(plain(&through), plain(&without), "{} {}", request.method, request.path);
        }
        // What is sent is the same as well, however long and however it is cut.
        let long = json!({"name": "n".repeat(40_000), "isCustomer": true});
        let refused = company.request_at(Dialect::B, "POST", "parties").json(&long).send(tool.address);
        assert_eq!(refused.expect(400).json()["errors"]["name"].as_array().unwrap().len(), 1);
        let made = company.request_at(Dialect::B, "POST", "parties").json(&json!({"name": "Made", "isCustomer": true}));
        assert_eq!(made.send(tool.address).expect(201).json()["name"], "Made");

        // A stream comes while it goes on, and what is held back comes when something happens.
        let last = || through(&company, &tool, Dialect::B, "events?limit=500").expect(200).json()["lastSequence"].clone();
        let request = company.request_at(Dialect::B, "GET", &format!("events?after={}", last()));
        let stream = request.header("Accept", "text/event-stream").begin(tool.address);
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        assert!(lines.by_ref().any(|line| line.to_lowercase() == "content-type: text/event-stream"));
        company.party(json!({"name": "Told of"}));
        assert!(lines.by_ref().any(|line| line.contains("party.created")));
        drop(lines);
        let request = company.request_at(Dialect::A, "GET", &format!("events?after={}&wait=30", last()));
        let held_back = request.begin(tool.address);
        company.party(json!({"name": "Waited for"}));
        let mut held_back = BufReader::new(held_back).lines().map_while(Result::ok);
        assert!(held_back.any(|line| line.contains("party.created")));
        let ended = tool.end();
        assert_eq!(ended.code, Some(0), "{}{}", ended.said, ended.complained);
    }
}

#[test]
fn a_long_body_is_passed_whole_and_recorded_as_far_as_it_goes_and_says_so() {
    let body: String = std::iter::repeat_n("0123456789abcdef", 300_000).collect();
    let (address, heard) = somebody(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nX-Mine: Yes\r\n\r\n{body}",
        body.len()
    ));
    let kept = fresh_folder("kept").join("kept.jsonl");
    let tool = Tool::start(address, &["--keep", &text(&kept)]);
    let answer = Request::new("POST", "/x").text("text/plain", &body).send(tool.address);
    assert_eq!((answer.text.len(), answer.text == body), (body.len(), true));
    let sent = heard.recv().unwrap();
    assert!(sent.ends_with(&body) && sent.starts_with("POST /x HTTP/1.1\r\n"), "{}", &sent[..200]);
    tool.recorded(1);
    assert_eq!(tool.end().code, Some(0));
    let line = &lines_of(&kept)[0];
    assert_eq!(line["bodyLeftOut"], format!("cut off: 1048576 of {} bytes were held", body.len()));
    assert_eq!(line["answer"]["bodyLeftOut"], line["bodyLeftOut"]);
    assert!(line["answer"]["body"].as_str().unwrap().len() == 1 << 20 && line["ms"].is_u64());
}

/// A server that answers each with the same, and tells what it heard.
fn somebody(answer: String) -> (SocketAddr, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut bytes = Vec::new();
            let mut chunk = [0; 8_192];
            loop {
                let length = stream.read(&mut chunk).unwrap_or_default();
                bytes.extend_from_slice(&chunk[..length]);
                let text = String::from_utf8_lossy(&bytes);
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let announced =
                    head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
                if body.len() >= announced.unwrap_or(0_usize) || length == 0 {
                    let _nobody = tell.send(text.into_owned());
                    break;
                }
            }
            let _gone = stream.write_all(answer.as_bytes());
            // An answer that never comes: it ends with who waits for it.
            if answer.is_empty() {
                let ended = stream.read(&mut chunk).map_or(true, |length| length == 0);
                let _nobody = tell.send(format!("ended: {ended}"));
            }
        }
    });
    (address, heard)
}

#[test]
fn a_client_that_leaves_ends_what_it_asked_for() {
    let (address, heard) = somebody(String::new());
    let tool = Tool::start(address, &["--keep", &text(&fresh_folder("kept").join("kept.jsonl"))]);
    let client = Request::new("GET", "/waits").begin(tool.address);
    assert!(heard.recv().unwrap().starts_with("GET /waits"));
    drop(client);
    assert_eq!(heard.recv().unwrap(), "ended: true");
}

/// Strings that are found nowhere but where they were sent.
const SECRETS: [&str; 14] = [
    "SEEDED-bearer-0001",
    "SEEDED-cookie-0002",
    "SEEDED-api-key-0003",
    "SEEDED-query-0004",
    "SEEDED-password-0005",
    "SEEDED-nested-0006",
    "SEEDED-form-0007",
    "SEEDED-part-0008",
    "SEEDED-element-0009",
    "SEEDED-answered-0010",
    "SEEDED-set-cookie-0011",
    "SEEDED-webhook-0012",
    "SEEDED-recovery-0013",
    "SEEDED-cut-off-0014",
];

fn assert_hushed(place: &str, text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{place} has {secret}:\n{text}");
    }
}

#[test]
fn no_secret_reaches_the_disk() {
    let echo = "SEEDED-bearer-0001 and SEEDED-api-key-0003 and SEEDED-query-0004";
    let body = json!({"accessToken": SECRETS[9], "recoveryCodes": [SECRETS[12]], "echo": echo, "headers": [{"name": "X", "value": SECRETS[11]}]});
    let body = format!("{body}{}\"password\":\"{}", " ".repeat(20), SECRETS[13]);
    let (address, _heard) = somebody(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nSet-Cookie: id={}; HttpOnly\r\nLocation: /x?token={}\r\nX-Seen: {echo}\r\n\r\n{body}",
        body.len(),
        SECRETS[10],
        SECRETS[3]
    ));
    let kept = fresh_folder("kept").join("kept.jsonl");
    let tool = Tool::start(address, &["--keep", &text(&kept)]);
    let asked = |media: &str, body: &str| {
        Request::new("POST", &format!("/login?api_key={}&x=1", SECRETS[3]))
            .header("Authorization", &format!("Bearer {}", SECRETS[0]))
            .header("Cookie", &format!("a=1; sid={}", SECRETS[1]))
            .header("X-Api-Key", SECRETS[2])
            .text(media, body)
            .send(tool.address)
            .expect(200)
    };
    let (password, nested) = (SECRETS[4], SECRETS[5]);
    asked(
        "application/json",
        &format!(r#"{{"user":"jo","password":"{password}","deep":[{{"clientSecret":{{"v":"{nested}"}}}}]}}"#),
    );
    asked("application/x-www-form-urlencoded", &format!("user=jo&password={}", SECRETS[6]));
    let part = format!("--b\r\nContent-Disposition: form-data; name=\"secret\"\r\n\r\n{}\r\n--b--\r\n", SECRETS[7]);
    asked("multipart/form-data; boundary=b", &part);
    asked("text/xml", &format!("<s:Login><s:Password>{}</s:Password><user>jo</user></s:Login>", SECRETS[8]));
    tool.recorded(4);
    let page = Request::new("GET", "/").send(tool.page).expect(200);
    let ended = tool.end();
    let told = std::fs::read_to_string(&kept).unwrap();
    for (place, text) in [
        ("the recording", &told),
        ("the page", &page.text),
        ("the summary", &ended.said),
        ("standard error", &ended.complained),
    ] {
        assert_hushed(place, text);
    }
    // What is no secret is there.
    let lines = lines_of(&kept);
    assert_eq!((lines.len(), lines[0]["query"].as_str()), (4, Some("api_key=***&x=1")));
    assert!(told.matches("jo").count() >= 3, "{told}");
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_disk_that_is_full_touches_no_traffic() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    company.party(json!({"name": "Seen"}));
    let tool = Tool::start(server.address, &["--keep", "/dev/full"]);
    for _ in 0..20 {
        assert_eq!(through(&company, &tool, Dialect::B, "parties").expect(200).json()["items"][0]["name"], "Seen");
    }
    tool.recorded(20);
    let told = tool.seen();
    assert_eq!((told["recorded"].as_u64(), told["notRecorded"].as_u64()), (Some(0), Some(20)));
    let ended = tool.end();
    assert_eq!(ended.complained.matches("/dev/full cannot be written").count(), 1, "{}", ended.complained);
    // One that cannot be written from the beginning is told at once.
    let words =
        ["compare", "--record", "0", "--to", "http://127.0.0.1:9", "--keep", "/nowhere/at/all"].map(str::to_owned);
    let output = run(&words, "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write /nowhere/at/all"));
}

#[test]
fn files_turn_at_their_size_and_a_torn_line_is_passed_over() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    for name in ["Alder", "Birch"] {
        company.party(json!({"name": name}));
    }
    let kept = fresh_folder("kept").join("kept.jsonl");
    std::fs::write(&kept, "{\"at\":\"2026-11-20T09:00:00Z\",\"method\":\"GET\",\"pa").unwrap();
    std::fs::set_permissions(&kept, PermissionsExt::from_mode(0o644)).unwrap();
    let tool = Tool::start(server.address, &["--keep", &text(&kept), "--keep-size", "20K"]);
    for _ in 0..40 {
        through(&company, &tool, Dialect::A, "parties?sort=name").expect(200);
    }
    tool.recorded(40);
    assert_eq!(tool.end().code, Some(0));
    let files: Vec<String> = (0..10)
        .map(|number| if number == 0 { text(&kept) } else { format!("{}.{number}", kept.display()) })
        .filter(|path| Path::new(path).exists())
        .collect();
    assert!(files.len() >= 3, "{files:?}");
    let lines: usize = files.iter().map(|path| std::fs::read_to_string(path).unwrap().lines().count()).sum();
    assert_eq!(lines, 41);
    for path in &files {
        let about = std::fs::metadata(path).unwrap();
        assert!(about.len() <= 20 << 10 && about.permissions().mode() & 0o777 == 0o600, "{path}");
    }
    // Each of them is asked again; the torn line is said.
    let oldest = files.last().unwrap();
    let output = compare(server, &["--file", oldest, "--business", &company.id, "--json"]);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(complained.contains("line 1: a line that is torn"), "{complained}");
    let found = report(&output);
    assert_eq!((output.status.code(), found["operations"]["partiesList"]["different"].as_u64()), (Some(0), Some(0)));
    assert!(found["counts"]["asked"].as_u64().unwrap() >= 3, "{found}");
}

#[test]
fn what_was_recorded_is_written_again_into_twins() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    let kept = fresh_folder("kept").join("kept.jsonl");
    let tool = Tool::start(server.address, &["--keep", &text(&kept)]);
    let post = |path: &str, body: &Value| {
        company.request_at(Dialect::A, "POST", path).json(body).send(tool.address).expect(201).json()
    };
    let party = post("parties", &json!({"name": "Seen", "isCustomer": true}));
    let id = party["data"]["id"].as_str().unwrap();
    through(&company, &tool, Dialect::A, &format!("parties/{id}")).expect(200);
    through(&company, &tool, Dialect::B, "reports/trial-balance").expect(200);
    tool.recorded(3);
    tool.end();
    let output = compare(server, &["--file", &text(&kept), "--twin", "--json"]);
    let found = report(&output);
    assert_eq!(output.status.code(), Some(0), "{found}");
    let asked = found["operations"].as_object().unwrap();
    for operation in ["partiesCreate", "partiesGet", "reportsTrialBalance"] {
        assert!(asked[operation]["equal"] == 1, "{operation}: {asked:?}");
    }
}

fn parties(company: &Company<'_>, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| company.party(json!({"name": format!("Party {number}")}))["id"].as_str().unwrap().to_owned())
        .collect()
}

on_both_engines! {
    fn what_does_not_differ_is_told_so(server) {
        let company = server.company();
        let ids = parties(&company, 3);
        let html = fresh_folder("report").join("report.html");
        let junit = fresh_folder("report").join("report.xml");
        let tool = Tool::start(server.address, &["--shadow", "--rate", "1000", "--json", "--html", &text(&html), "--junit", &text(&junit)]);
        let mut count = 0;
        for dialect in [Dialect::A, Dialect::B] {
            let paths = ["parties?sort=name", "parties?pageSize=1&page=2", "accounts", "reports/trial-balance", "reports/trial-balance?format=csv", "parties/nonsense", "events?limit=5", "audit-log?pageSize=5"];
            for path in paths.map(str::to_owned).into_iter().chain(ids.iter().map(|id| format!("parties/{id}"))) {
                through(&company, &tool, dialect, &path);
                count += 1;
            }
            let head = company.request_at(dialect, "HEAD", &format!("parties/{}", ids[0])).header("Accept-Encoding", "identity");
            assert_eq!(head.send(tool.address).status, 200);
            let refused = Request { headers: Vec::new(), ..company.request_at(Dialect::A, "GET", "parties") };
            assert_eq!(refused.send(tool.address).status, 401);
            let rehearsal = company.request_at(dialect, "POST", "parties?dryRun=true").json(&json!({"name": "Not kept", "isCustomer": true}));
            assert!(rehearsal.send(tool.address).status < 300);
            count += 3;
        }
        let asked = tool.settled(count);
        assert_eq!((asked["asked"].as_u64(), asked["different"].as_u64()), (Some(count), Some(0)), "{asked}");
        assert_eq!(asked["settled"], 0, "nobody wrote: {asked}");
        // Neither is a log-in asked, nor a write, nor what waits for something to happen.
        company.request_at(Dialect::B, "POST", "parties").json(&json!({"name": "Kept", "isCustomer": true})).send(tool.address).expect(201);
        let body = json!({"email": OWNER_EMAIL, "password": OWNER_PASSWORD});
        Request::new("POST", "/b/api/auth/login").json(&body).send(tool.address).expect(200);
        through(&company, &tool, Dialect::B, "events?after=0&wait=1").expect(200);
        Request::new("GET", "/swagger").send(tool.address).expect(200);
        let told = tool.settled(count + 4);
        assert_eq!(told["notAsked"], json!({"a write": 1, "a log-in": 1, "held back until something happens": 1, "no operation of a dialect": 1}));
        let page = Request::new("GET", "/").send(tool.page).expect(200).text;
        assert!(page.contains("No difference") && page.contains("The last hour by minute"), "{page}");
        let ended = tool.end();
        let found = ended.json();
        assert_eq!((ended.code, &found["findings"]), (Some(0), &json!([])), "{found}");
        let names = company.ask(Dialect::B, "GET", "parties", "?sort=name", None).data["items"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
        assert_eq!(json!(names), json!(["Kept", "Party 0", "Party 1", "Party 2"]), "nothing was written twice");
        assert!(std::fs::read_to_string(html).unwrap().contains("No difference"));
        assert!(std::fs::read_to_string(junit).unwrap().contains("failures=\"0\""));
    }
}

fn is_list(request: &Request, resource: &str) -> bool {
    request.method == "GET" && request.path.split('?').next().is_some_and(|path| path.ends_with(resource))
}

/// Another server, which is the same one behind a wrapper with three faults.
fn faulty(server: &Server) -> SocketAddr {
    let faults = |request: &Request, answer: &mut Answer| {
        if request.path.starts_with("/b/api/items") {
            answer.headers.retain(|(name, _)| name != "etag");
        }
        if is_list(request, "/parties") {
            changed(answer, |body| {
                for party in body.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
                    party["name"] = format!("Somebody {}", SECRETS[0]).into();
                }
            });
        }
        if request.path.contains("/reports/trial-balance") && answer.status == 200 {
            answer.status = 203;
        }
    };
    proxy::start(server.address, Box::new(faults))
}

fn beside<'w>(server: &'w Server, other: &'w str, more: &[&'w str]) -> (Vec<&'w str>, [(&'static str, &'w str); 1]) {
    let words = [&["--shadow", "--rate", "1000", "--json", "--other", other], more].concat();
    (words, [("DUET_COMPARE_RIGHT_TOKEN", server.token())])
}

#[test]
fn three_faults_on_the_other_side_are_three_causes_that_are_told_as_they_come() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    parties(&company, 5);
    let item = json!({"name": "Thing", "type": "service"});
    let item = company.ask(Dialect::B, "POST", "items", "", Some(&item)).expect(201).id();
    let other = format!("http://{}/b/api", faulty(server));
    let html = text(&fresh_folder("report").join("report.html"));
    let (words, environment) = beside(server, &other, &["--html", &html]);
    let tool = Tool::start_with(&format!("http://{}", server.address), &words, &environment);
    for _ in 0..4 {
        for dialect in [Dialect::A, Dialect::B] {
            for path in ["parties", "parties?sort=name&pageSize=2", "items", "accounts", "reports/trial-balance"] {
                let request = read(&company, dialect, path).header("X-Api-Key", SECRETS[2]);
                request.send(tool.address).expect(200);
            }
            through(&company, &tool, dialect, &format!("items/{item}")).expect(200);
        }
    }
    let told = tool.settled(48);
    assert_eq!(
        (told["asked"].as_u64(), told["different"].as_u64(), told["alike"].as_u64()),
        (Some(48), Some(32), Some(16)),
        "{told}"
    );
    let minutes: u64 = told["minutes"].as_array().unwrap().iter().map(|one| one["different"].as_u64().unwrap()).sum();
    assert_eq!(minutes, 32);
    let page = Request::new("GET", "/").send(tool.page).expect(200);
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
    assert!(page.text.contains("<h2>3 causes</h2>") && !page.text.contains("<script"), "{}", page.text);
    let kept = [("/report.html", "attachment"), ("/report.json", "attachment"), ("/report.xml", "attachment")];
    for (path, disposition) in kept {
        let answer = Request::new("GET", path).send(tool.page).expect(200);
        assert_eq!(answer.header("content-disposition"), Some(disposition));
        assert!(answer.text.contains("partiesList"), "{path}");
    }
    let followed = Request::new("GET", "/?follow").send(tool.page).expect(200).text;
    assert!(followed.contains("http-equiv=\"refresh\"") && !page.text.contains("http-equiv"));
    // A page of somebody else's is told nothing.
    let misled = Request::new("GET", "/report.json").header("Host", "127.0.0.1.evil.example").send(tool.page);
    assert_eq!(misled.status, 421);
    let ended = tool.end();
    let found = ended.json();
    let mut names: Vec<&str> =
        found["findings"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["itemsGet headers.etag", "partiesList data.items[*].name", "reportsTrialBalance status 200 and 203"],
        "{}",
        found["findings"]
    );
    assert_eq!(ended.code, Some(1));
    let cause = found["findings"].as_array().unwrap().iter().find(|one| one["name"] == names[1]).unwrap();
    assert_eq!(cause["answers"], 16);
    assert!(cause["firstSeen"].as_str().unwrap() < cause["lastSeen"].as_str().unwrap());
    // Of all that show it, the shortest.
    assert!(cause["example"]["left"]["curl"].as_str().unwrap().contains("pageSize=2"), "{cause}");
    for place in [&ended.said, &ended.complained, &std::fs::read_to_string(html).unwrap(), &page.text] {
        assert!(!place.contains(server.token()) && !place.contains(SECRETS[2]), "{place}");
    }
}

#[test]
fn what_was_found_outlives_an_end_at_any_moment() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    parties(&company, 2);
    let (state, other) = (text(&fresh_folder("state")), format!("http://{}/b/api", faulty(server)));
    let (words, environment) = beside(server, &other, &["--state", &state, "--for", "1h"]);
    let to = format!("http://{}", server.address);
    let ask = |tool: &Tool| {
        through(&company, tool, Dialect::A, "parties").expect(200);
        through(&company, tool, Dialect::A, "accounts").expect(200);
    };
    let tool = Tool::start_with(&to, &words, &environment);
    ask(&tool);
    tool.settled(2);
    let file = Path::new(&state).join("shadow.json");
    eventually("it to be kept", || {
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(&file).ok()?).unwrap();
        (kept["standing"]["asked"] == 2).then_some(())
    });
    let since = tool.seen()["since"].clone();
    tool.signal("KILL");
    drop(tool);
    let tool = Tool::start_with(&to, &words, &environment);
    ask(&tool);
    let told = tool.settled(4);
    assert_eq!(
        (&told["since"], told["starts"].as_u64(), told["asked"].as_u64(), told["different"].as_u64()),
        (&since, Some(2), Some(4), Some(2)),
        "{told}"
    );
    let found = tool.end().json();
    assert_eq!(
        (found["findings"].as_array().unwrap().len(), &found["findings"][0]["answers"]),
        (1, &json!(2)),
        "{found}"
    );
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_hushed("the state", &std::fs::read_to_string(&file).unwrap().replace(SECRETS[0], ""));
    // The time that it had is over, whenever it is started again; and a folder is of one shadow.
    let (words, _) = beside(server, &other, &["--state", &state, "--for", "1s"]);
    let mut tool = Tool::start_with(&to, &words, &environment);
    let mut said = String::new();
    tool.output.read_to_string(&mut said).unwrap();
    assert!(said.contains("\"starts\":3"), "{said}");
    let mut words: Vec<String> =
        ["compare", "--record", "0", "--to", &to, "--shadow", "--state", &state].map(str::to_owned).to_vec();
    words.push("--json".into());
    let output = run(&words, "");
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && why.contains("is of another shadow"), "{why}");
}

#[test]
fn a_server_that_is_gone_is_said_and_comes_back() {
    let server = Server::start(Engine::Sqlite, Options::default()).unwrap();
    let (token, to) = (server.token().to_owned(), server.address);
    let company = server.company();
    parties(&company, 1);
    let request = company.request_at(Dialect::B, "GET", "parties");
    let tool = Tool::start(to, &["--shadow", "--rate", "1000"]);
    request.send(tool.address).expect(200);
    tool.settled(1);
    drop(server);
    let answer = request.send(tool.address).expect(502);
    assert!(
        answer.json()["title"].as_str().unwrap().contains(&format!("http://{to} does not answer")),
        "{}",
        answer.text
    );
    assert_eq!(tool.settled(2)["unanswered"], 1);
    // Somebody takes its place, at the same address.
    let place = TcpListener::bind(to).unwrap();
    let served = Arc::new(AtomicBool::new(false));
    let seen = served.clone();
    std::thread::spawn(move || {
        for mut stream in place.incoming().flatten() {
            let _head = stream.read(&mut [0; 4096]);
            seen.store(true, Ordering::SeqCst);
            let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
        }
    });
    assert_eq!(authorised(Request::new("GET", "/anything"), &token).send(tool.address).expect(200).text, "{}");
    assert!(served.load(Ordering::SeqCst));
    let ended = tool.end();
    assert!(ended.complained.contains("the server behind does not answer"), "{}", ended.complained);
    assert!(ended.said.contains("1 requests were not answered by the server behind"), "{}", ended.said);
}

#[test]
fn what_was_written_between_two_questions_is_no_difference() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    let id = company.party(json!({"name": "Before"}))["id"].as_str().unwrap().to_owned();
    let (address, first) = (server.address, AtomicBool::new(true));
    let (write, read) = (
        company
            .request_at(Dialect::B, "PUT", &format!("parties/{id}"))
            .json(&json!({"name": "After", "isCustomer": true})),
        company.request_at(Dialect::B, "GET", &format!("parties/{id}")),
    );
    let (write, read) = (write.header("If-Match", "*"), read.header("Accept-Encoding", "identity"));
    let path = format!("/parties/{id}");
    // Somebody writes after the client was answered, and before the other side is.
    let race = move |request: &Request, answer: &mut Answer| {
        if request.path.ends_with(&path) && first.swap(false, Ordering::SeqCst) {
            write.send(address).expect(200);
            *answer = read.send(address);
        }
    };
    let other = format!("http://{}/b/api", proxy::start(address, Box::new(race)));
    let (words, environment) = beside(server, &other, &[]);
    let tool = Tool::start_with(&format!("http://{address}"), &words, &environment);
    let seen = through(&company, &tool, Dialect::A, &format!("parties/{id}")).expect(200).json();
    assert_eq!(seen["data"]["name"], "Before");
    let told = tool.settled(1);
    assert_eq!((told["settled"].as_u64(), told["different"].as_u64()), (Some(1), Some(0)), "{told}");
    let ended = tool.end();
    assert_eq!((ended.code, &ended.json()["findings"]), (Some(0), &json!([])));
}

#[test]
fn no_more_is_asked_than_may_be_and_the_rest_is_counted() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    parties(&company, 1);
    let tool = Tool::start(server.address, &["--shadow", "--rate", "1"]);
    for _ in 0..60 {
        through(&company, &tool, Dialect::B, "parties").expect(200);
    }
    let told = tool.settled(60);
    let (asked, over) = (told["asked"].as_u64().unwrap(), told["notAsked"]["over the rate"].as_u64().unwrap());
    assert!(asked >= 1 && over >= 1 && asked + over == 60, "{told}");
}

/// The same books once more, at their own address.
fn copied(server: &Server) -> Server {
    let copy = fresh_folder("copies").join("copy");
    let made = server.command(&["backup", &text(&copy)], "");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let folder = fresh_folder("restored");
    let database = match server.engine {
        Engine::Sqlite => format!("sqlite:{}/data/duet.db", folder.display()),
        Engine::Postgres => postgres::fresh_database().unwrap(),
    };
    let (data, key) = (text(&folder.join("data")), text(&server.folder.join("data/master-key")));
    let words = ["restore", &text(&copy), "--data", &data, "--database", &database, "--key", &key].map(str::to_owned);
    let restored = run(&words, "");
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    let options = Options { database: Some(database), ..Options::default() };
    Server::start_in(server.engine, folder, options).unwrap()
}

on_both_engines! {
    fn what_is_written_is_written_into_a_copy_of_the_books_as_well(server) {
        let server = Server::start(server.engine, Options::default()).unwrap();
        let company = server.company();
        let old = company.party(json!({"name": "Old"}))["id"].as_str().unwrap().to_owned();
        let copy = copied(&server);
        let faults = |request: &Request, answer: &mut Answer| {
            if request.method == "POST" && request.path.ends_with("/journals") && answer.status == 201 {
                changed(answer, |body| body["narration"] = "Another".into());
            }
        };
        let wrapped = proxy::start(copy.address, Box::new(faults));
        let other = format!("http://{wrapped}/b/api");
        let words = ["--shadow", "--twin", "--rate", "1000", "--json", "--other", &other];
        let tool = Tool::start_with(&format!("http://{}", server.address), &words, &[("DUET_COMPARE_RIGHT_TOKEN", copy.token())]);
        let send = |method: &str, path: &str, body: Option<&Value>| {
            let request = company.request_at(Dialect::A, method, path);
            body.map_or(request.clone(), |body| request.json(body)).send(tool.address)
        };
        let made = send("POST", "parties", Some(&json!({"name": "New", "isCustomer": true}))).expect(201).json();
        let id = made["data"]["id"].as_str().unwrap().to_owned();
        // What came of it is found on the copy by the name that it has there.
        send("GET", &format!("parties/{id}"), None).expect(200);
        send("PUT", &format!("parties/{id}"), Some(&json!({"name": "Newer", "isCustomer": true}))).expect(200);
        send("PUT", &format!("parties/{old}"), Some(&json!({"name": "Older", "isCustomer": true}))).expect(200);
        send("POST", "parties", Some(&json!({"isCustomer": true}))).expect(400);
        send("GET", "parties?sort=name", None).expect(200);
        send("DELETE", &format!("parties/{id}"), None);
        send("GET", "parties?sort=name", None).expect(200);
        let told = tool.settled(8);
        assert_eq!((told["asked"].as_u64(), told["different"].as_u64()), (Some(8), Some(0)), "{told} {}", Request::new("GET", "/report.json").send(tool.page).text);
        let same = Company { server: &copy, token: copy.token().to_owned(), ..company.clone() };
        let names = same.ask(Dialect::B, "GET", "parties", "?sort=name", None).expect(200).data["items"].clone();
        assert_eq!((names.as_array().unwrap().len(), &names[0]["name"]), (1, &json!("Older")));
        // A fault of the copy's answers is told.
        let journal = company.journal_body("2026-04-05", &[("6300", "1"), ("1010", "-1")]);
        send("POST", "journals", Some(&journal)).expect(201);
        let told = tool.settled(9);
        assert_eq!(told["different"], 1, "{told}");
        let ended = tool.end();
        let found = ended.json();
        assert_eq!((ended.code, found["findings"].as_array().unwrap().len()), (Some(1), 1), "{found}");
        assert_eq!(found["findings"][0]["name"], "journalsCreate data.narration", "{found}");
        // A copy that cannot be written into misses what is written, and that is said.
        let other = format!("http://{}/b/api", copy.address);
        let words = ["--shadow", "--twin", "--other", &other];
        let environment = [("DUET_COMPARE_RIGHT_TOKEN", copy.token())];
        let tool = Tool::start_with(&format!("http://{}", server.address), &words, &environment);
        copy.signal("KILL");
        let made = company.request_at(Dialect::A, "POST", "parties").json(&json!({"name": "Missed", "isCustomer": true}));
        made.send(tool.address).expect(201);
        assert_eq!(tool.settled(1)["missing"], 1);
        let ended = tool.end();
        assert!(ended.said.contains("1 writes are missing in the copy"), "{}", ended.said);
        assert_eq!(ended.code, Some(1), "nothing was compared");
    }
}

#[test]
fn what_makes_no_sense_is_said() {
    let refused = |words: &[&str]| {
        let words: Vec<String> = ["compare", "--record", "0"].iter().chain(words).map(ToString::to_string).collect();
        let output = run(&words, "");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let server = Server::shared(Engine::Sqlite).unwrap();
    let to = format!("http://{}", server.address);
    let of_api = format!("{to}/a/api");
    for (words, why) in [
        (vec!["--to", to.as_str()], "--keep FILE, --shadow or both"),
        (vec!["--shadow"], "--to"),
        (vec!["--to", &to, "--shadow", "--page", "0.0.0.0:0"], "to this machine alone"),
        (vec!["--to", &to, "--shadow", "--twin"], "name it with --other"),
        (vec!["--to", &of_api, "--shadow"], "name the other side with --other"),
        (vec!["--to", &to, "--shadow", "--other", &of_api], "DUET_COMPARE_RIGHT_TOKEN"),
        (vec!["--to", &to, "--shadow", "--for", "soon"], "such as 90s"),
        (vec!["--to", &to, "--keep", "x", "--keep-size", "much"], "such as 500K"),
        (vec!["--to", "ftp://x", "--keep", "x"], "no address of a server"),
    ] {
        let told = refused(&words);
        assert!(told.contains(why), "{words:?}: {told}");
    }
}

/// What people's clients do with it: `curl`, with what it sends and takes of its own accord.
#[test]
fn curl_passes_through() {
    let server = Server::shared(Engine::Sqlite).unwrap();
    let company = server.company();
    parties(&company, 3);
    let tool = Tool::start(server.address, &["--shadow"]);
    let ask = |address: SocketAddr, more: &[&str]| {
        let url = format!("http://{address}/a/api/{}/parties", company.id);
        let authorization = format!("Authorization: Bearer {}", server.token());
        let output =
            Command::new("curl").args(["-s", "-S", "--compressed", "-H", &authorization, &url]).args(more).output();
        output.ok().map(|output| (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
    };
    let Some((true, without)) = ask(server.address, &[]) else {
        assert!(std::env::var("DUET_TEST_CURL").is_err(), "there is no curl");
        return say_loudly("NO CURL FOUND: what passes through is not asked by it");
    };
    assert_eq!(ask(tool.address, &[]), Some((true, without.clone())));
    assert_eq!(ask(tool.address, &["--http1.0"]).map(|(_, body)| body), Some(without));
    // It waits to be told to go on before it sends what is long.
    let body = json!({"name": "Long", "isCustomer": true, "notes": "n".repeat(1800)}).to_string();
    let made = ask(tool.address, &["-H", "Content-Type: application/json", "-H", "Expect: 100-continue", "-d", &body]);
    assert!(made.is_some_and(|(done, answer)| done && answer.contains("\"success\":true")));
    let connection = connect(tool.address);
    drop(connection);
    assert_eq!(tool.end().code, Some(0));
}

//! The demo: companies that look alive, and in which every example of the documents is answered at the first click.

use crate::harness::server::authorised;
use crate::harness::{Engine, Options, Request, Server};
use ledger_core::resource::named;
use serde_json::Value;

const EMAIL: &str = "demo@duet.example";
pub(crate) const PASSWORD: &str = "two voices, one book";

fn demo(engine: Engine, words: &[&str]) -> Option<Server> {
    let arguments = words.iter().map(|word| (*word).to_owned()).collect();
    Server::start(engine, Options { arguments, ..Options::default() })
}

/// Examples that are not answered with a success, each with its reason.
const REFUSED: &[(&str, &str)] = &[
    (
        "acceptInvitation",
        "an invitation is opened by the code that whoever was invited was sent, and nobody else has it",
    ),
    ("profileAcceptInvitation", "as above: the code is shown once, to the inviter"),
    ("profileChangePassword", "it proves who asks by their password, which is the demo's own and not the example's"),
    ("profileBeginTotp", "as above"),
    ("profileConfirmTotp", "a code is good for half a minute, and only for whoever began"),
    ("profileRemoveTotp", "as above"),
    ("profileRenewRecoveryCodes", "as above"),
    ("sessionsEnd", "a session is known by a number that nobody can guess"),
    ("webhooksTest", "a webhook that is tested is active, and a demo calls nobody"),
    ("webhooksRedeliver", "what is sent again was sent before, and a demo sends nothing to anybody"),
];

/// What another example would stand in the way of: of closed years the last alone is opened again. By which action it is
/// taken back then, so that it stands in nobody's way itself: a year is closed once those before it are.
const FIRST: &[(&str, &str, &str)] = &[("fiscalYearsReopen", "/reopen", "/close")];
/// What ends the session that all of them are asked in.
const LAST: &[&str] = &["sessionsEndOthers", "profileLogOut"];

struct Example {
    operation: String,
    request: Request,
}

/// What a page of a document would send at the first click.
fn examples(server: &Server, document: &Value, token: &str) -> Vec<Example> {
    let base = document["servers"][0]["url"].as_str().expect("a base");
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in ["get", "post", "put", "delete"] {
            let operation = &item[method];
            let Some(name) = operation["operationId"].as_str() else { continue };
            let (mut target, mut query) = (format!("{base}{path}"), Vec::new());
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let parameter = meant(document, parameter);
                let example = &parameter["example"];
                let said = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
                let name = parameter["name"].as_str().expect("a name");
                match parameter["in"].as_str() {
                    Some("path") => target = target.replace(&format!("{{{name}}}"), &said),
                    Some("query") if !example.is_null() => query.push(format!("{name}={said}")),
                    _ => assert!(parameter["required"] != true, "{name} is required, and nothing is shown of it"),
                }
            }
            assert!(!target.contains('{'), "{target} has no example");
            if !query.is_empty() {
                target = format!("{target}?{}", query.join("&"));
            }
            let mut request = Request::new(&method.to_uppercase(), &target);
            let shown = operation["security"].as_array().into_iter().flatten().filter_map(Value::as_object);
            let schemes: Vec<&String> = shown.flat_map(serde_json::Map::keys).collect();
            if !schemes.is_empty() {
                request = authorised(request, token);
            }
            if schemes.iter().any(|scheme| document["components"]["securitySchemes"][scheme]["name"] == "X-Business-Id")
            {
                request = request.header("X-Business-Id", named::BUSINESS);
            }
            if let Some(body) = body_of(document, operation) {
                request = request.json(&body);
            }
            all.push(Example { operation: name.to_owned(), request });
        }
    }
    all.sort_by_key(|one| {
        let first = FIRST.iter().position(|(name, ..)| *name == one.operation).map(|_| 0);
        let last = LAST.iter().position(|name| *name == one.operation).map(|place| 2 + place);
        first.or(last).unwrap_or(1)
    });
    assert!(all.len() > 300, "only {} operations of {}", all.len(), server.address);
    all
}

/// What stands where a document refers to it, else what is said.
fn meant<'d>(document: &'d Value, said: &'d Value) -> &'d Value {
    let pointer = said["$ref"].as_str().map(|reference| reference.trim_start_matches('#'));
    pointer.map_or(said, |pointer| document.pointer(pointer).expect("what is referred to"))
}

fn body_of(document: &Value, operation: &Value) -> Option<Value> {
    let content = &operation["requestBody"]["content"]["application/json"];
    if content.is_null() {
        return None;
    }
    if !content["example"].is_null() {
        return Some(content["example"].clone());
    }
    let name = content["schema"]["$ref"].as_str()?.rsplit('/').next()?.to_owned();
    let schema = &document["components"]["schemas"][&name];
    let example = if schema["example"].is_null() { &schema["examples"][0] } else { &schema["example"] };
    assert!(!example.is_null(), "{name} shows no example");
    Some(example.clone())
}

fn every_example_is_answered(letter: &str) {
    let server = demo(Engine::Sqlite, &["--demo=small"]).expect("SQLite needs nothing");
    let token = server.login(EMAIL, PASSWORD);
    let document = server.send(&Request::new("GET", &format!("/swagger/{letter}/swagger.json"))).expect(200).json();
    let mut wrong = Vec::new();
    for Example { operation, request } in examples(&server, &document, &token) {
        let answer = request.send(server.address);
        let succeeds = (200..300).contains(&answer.status);
        if let Some((_, done, undone)) = FIRST.iter().find(|(name, ..)| *name == operation) {
            let back = Request { path: request.path.replace(done, undone), ..request.clone() };
            back.send(server.address).expect(200);
        }
        match REFUSED.iter().find(|(name, _)| *name == operation) {
            Some((_, reason)) if succeeds => wrong.push(format!("{operation} succeeds, though {reason}")),
            None if !succeeds => {
                let text: String = answer.text.chars().take(700).collect();
                wrong.push(format!("{} {} ({operation}): {} {text}", request.method, request.path, answer.status));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} examples\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_example_of_a_is_answered_at_the_first_click() {
    every_example_is_answered("a");
}

#[test]
fn every_example_of_b_is_answered_at_the_first_click() {
    every_example_is_answered("b");
}

/// A company of a demo, asked in dialect B.
struct Asking<'s> {
    server: &'s Server,
    token: String,
    business: String,
}

impl Asking<'_> {
    fn get(&self, path: &str) -> Value {
        let request = authorised(Request::new("GET", &format!("/b/api/{path}")), &self.token);
        self.server.send(&request.header("X-Business-Id", &self.business)).expect(200).json()
    }

    fn count(&self, path: &str) -> u64 {
        self.get(path)["pagination"]["totalCount"].as_u64().expect("a count")
    }
}

/// The companies that have a story.
fn companies(server: &Server) -> Vec<Asking<'_>> {
    let token = server.login(EMAIL, PASSWORD);
    let listed = authorised(Request::new("GET", "/b/api/businesses?sort=createdAt"), &token);
    let listed = server.send(&listed).expect(200).json();
    let tagged = listed["items"].as_array().expect("a list").iter().filter(|one| one["tags"][0] == "demo");
    let asking =
        |one: &Value| Asking { server, token: token.clone(), business: one["id"].as_str().expect("an id").into() };
    tagged.map(asking).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// States that no document of a demo has at least two of, with the reason.
const RARE: &[(&str, &str)] = &[];

#[test]
fn the_demo_shows_each_kind_in_each_state_and_every_report() {
    let server = demo(Engine::Sqlite, &["--demo"]).expect("SQLite needs nothing");
    let companies = companies(&server);
    assert_eq!(companies.len(), 4, "three with a story, and that of the reference");
    let document = server.send(&Request::new("GET", "/swagger/b/swagger.json")).expect(200).json();
    let (mut few, mut reports) = (Vec::new(), Vec::new());
    let mut documents = 0;
    for (path, item) in document["paths"].as_object().expect("paths") {
        let path = path.trim_start_matches('/');
        let operation = item["get"]["operationId"].as_str().unwrap_or_default();
        let is_document = operation.ends_with("List") && document["paths"][format!("/{path}/{{id}}/void")].is_object();
        if is_document {
            documents += companies.iter().map(|one| one.count(&format!("{path}?pageSize=1"))).sum::<u64>();
            let parameters = item["get"]["parameters"].as_array().expect("parameters");
            let mut parameters = parameters.iter().map(|one| meant(&document, one));
            let status = parameters.find(|one| one["name"] == "status").expect("states");
            let schema = meant(&document, &status["schema"]);
            let states = if schema["items"].is_null() { schema } else { meant(&document, &schema["items"]) };
            for state in states["enum"].as_array().expect("words") {
                let state = state.as_str().expect("a word");
                let ask = format!("{path}?pageSize=1&status={state}");
                let count: u64 = companies.iter().map(|one| one.count(&ask)).sum();
                let what = format!("{path} {state}");
                if count < 2 && !RARE.iter().any(|(rare, _)| *rare == what) {
                    few.push(format!("{what}: {count}"));
                }
            }
        }
        if operation.starts_with("reports") && operation != "reportsList" && !operation.ends_with("Csv") {
            // What must be asked of somebody is asked of whom the example names, whom its company knows.
            let parameters = item["get"]["parameters"].as_array().into_iter().flatten();
            let said = parameters.map(|one| meant(&document, one)).filter(|one| one["example"].is_string());
            let said: Vec<String> =
                said.map(|one| format!("{}={}", text(&one["name"]), text(&one["example"]))).collect();
            let asked = companies.iter().filter(|one| said.is_empty() || one.business == named::BUSINESS);
            let rows = |one: &Asking<'_>| {
                let report = one.get(&format!("{path}?{}", said.join("&")));
                report["rows"].as_array().map_or(0, Vec::len)
            };
            if asked.map(rows).sum::<usize>() == 0 {
                reports.push(path.to_owned());
            }
        }
    }
    assert!(few.is_empty(), "too few: {few:#?}");
    assert!(reports.is_empty(), "nothing in {reports:?}");
    assert!((1_000..5_000).contains(&documents), "{documents} documents");
    assert_eq!(stories_are_seen(&server, &companies), 15);
    assert_eq!(proved(&server).len(), 6, "and one to try out, and one that is empty");
    // What is old is settled: nobody who looks at what is late finds what its own note has settled, or a debt of years.
    for company in companies.iter().filter(|one| one.business != named::BUSINESS) {
        for side in ["ar", "ap"] {
            let report = company.get(&format!("reports/{side}-aging?asOf={}", harness_day()));
            let columns = report["columns"].as_array().expect("columns");
            let oldest = columns.iter().position(|one| text(&one["label"]).starts_with("91")).expect("the oldest");
            for row in report["rows"].as_array().expect("rows") {
                for (place, value) in row["values"].as_array().expect("values").iter().enumerate().take(oldest + 1) {
                    let amount = value.to_string();
                    assert!(
                        !amount.starts_with('-') && (place < oldest || amount == "0.00"),
                        "{side} of {}: {row}",
                        company.business
                    );
                }
            }
        }
    }
    // Nobody has entered anything for a day that has not come.
    let today = harness_day();
    for company in &companies {
        let last = company.get("entries?pageSize=1&sort=-date")["items"][0]["date"].clone();
        assert!(text(&last) <= today.as_str(), "{last} is after {today}");
    }
    // Somebody still speaks A.
    let usage = companies[0].get("dialect-usage").to_string();
    assert!(usage.contains("HarbourTill/1.4") && usage.contains("web-shop/3.2"), "{usage}");
    let roles: Vec<Value> = companies[0].get("users?pageSize=100")["items"].as_array().expect("people").clone();
    let roles: std::collections::BTreeSet<String> = roles
        .iter()
        .flat_map(|one| one["memberships"].as_array().cloned().unwrap_or_default())
        .map(|one| one["role"].to_string())
        .collect();
    assert!(roles.len() >= 9, "{roles:?}");
}

/// What the first page tells of a company is seen where it leads to. How many sentences there are is answered.
fn stories_are_seen(server: &Server, companies: &[Asking<'_>]) -> usize {
    let page = server.send(&Request::new("GET", "/")).expect(200).text;
    let (_, told) = page.split_once("<meta name=\"duet\" content=\"").expect("what the page is told");
    let told = told.split_once('"').expect("its end").0.replace("&quot;", "\"").replace("&amp;", "&");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let mut sentences = 0;
    for story in told["stories"].as_array().expect("stories") {
        let of = companies.iter().find(|one| one.business == story[0]).expect("a company");
        for sentence in story[1].as_array().expect("sentences") {
            let view = text(&sentence[2]);
            let seen = match view {
                "dialects" => true,
                report if report.starts_with("reports/") => of.get(report)["rows"] != serde_json::json!([]),
                list => of.count(list) > 0,
            };
            assert!(seen, "{sentence} of {}", of.business);
            sentences += 1;
        }
    }
    sentences
}

/// The digest of each company of a demo, whose books are whole.
fn proved(server: &Server) -> Vec<String> {
    let proof = server.command(&["verify"], "");
    let said = String::from_utf8_lossy(&proof.stdout).into_owned();
    assert!(proof.status.success(), "{said}{}", String::from_utf8_lossy(&proof.stderr));
    said.lines().filter_map(|line| line.trim().strip_prefix("digest ").map(str::to_owned)).collect()
}

/// Today, by the clock of the machine.
fn harness_day() -> String {
    let now = ledger_core::clock::Clock::system().now().to_string();
    now.split('T').next().expect("a day").to_owned()
}

#[test]
fn the_same_seed_and_day_make_the_same_books_on_both_engines() {
    // Eight demos on two engines take many minutes where nothing is built to be fast.
    if std::env::var("DUET_TEST_DAYS").is_err() {
        crate::harness::process::say_loudly("WITHOUT DUET_TEST_DAYS=1 books of a seed are not made on both engines");
        return;
    }
    let mut seen = Vec::new();
    for day in ["2028-02-29", "2026-12-31", "2027-04-01"] {
        let words = ["--demo=small", "--demo-day", day];
        let first = proved(&demo(Engine::Sqlite, &words).expect("SQLite needs nothing"));
        if let Some(server) = demo(Engine::Postgres, &words) {
            assert_eq!(proved(&server), first, "{day}");
        }
        seen.push(first);
    }
    let again =
        proved(&demo(Engine::Sqlite, &["--demo=small", "--demo-day", "2027-04-01"]).expect("SQLite needs nothing"));
    assert_eq!(seen[2], again);
    let other = ["--demo=small", "--demo-day", "2027-04-01", "--demo-seed", "2"];
    let other = proved(&demo(Engine::Sqlite, &other).expect("SQLite needs nothing"));
    assert_ne!(seen[2], other, "another seed makes other books");
    assert_eq!(other.len(), 6);
}

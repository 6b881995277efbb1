//! `duet serve` as a second process, and companies in it.

use super::http::{self, Answer, Request};
use super::process::{Kept, fresh_folder, say_loudly};
use super::{authority, citus, postgres, twins};
use compare::meaning::Meaning;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub const OWNER_EMAIL: &str = "owner@example.test";
pub const OWNER_PASSWORD: &str = "as long as the ledger";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    A,
    B,
}

/// So often a step is tried that only makes ready.
const REPEATED: usize = 4;

pub const DIALECTS: [Dialect; 2] = [Dialect::A, Dialect::B];

/// How a server differs from a default one.
#[derive(Debug, Default)]
pub struct Options {
    pub custom: Option<String>,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// A database that is there already, instead of a fresh one.
    pub database: Option<String>,
    /// A command that runs the program, such as one that traces it.
    pub wrap: Vec<String>,
}

pub struct Server {
    pub engine: Engine,
    pub address: SocketAddr,
    pub folder: PathBuf,
    pub greeting: Vec<String>,
    database: String,
    pid: u32,
    process: Kept,
    token: Mutex<Option<(Instant, &'static str)>>,
    documents: OnceLock<[Value; 2]>,
    logs_requests: bool,
}

impl Server {
    /// One for all tests of an engine. `None` where there is no PostgreSQL.
    pub fn shared(engine: Engine) -> Option<&'static Self> {
        static SQLITE: OnceLock<Option<Server>> = OnceLock::new();
        static POSTGRES: OnceLock<Option<Server>> = OnceLock::new();
        let cell = match engine {
            Engine::Sqlite => &SQLITE,
            Engine::Postgres => &POSTGRES,
        };
        let start = || Self::start(engine, Options::default()).inspect(|server| http::share(server.address));
        cell.get_or_init(start).as_ref()
    }

    /// The address that this test asks it from.
    pub fn is_asked_from(&self) -> std::net::Ipv4Addr {
        http::asks_from(self.address)
    }

    /// A small demo, for all tests that look at one and leave each other's records alone.
    pub fn demo() -> &'static Self {
        static DEMO: OnceLock<Server> = OnceLock::new();
        DEMO.get_or_init(|| {
            let options = Options { arguments: vec!["--demo=small".into()], ..Options::default() };
            Self::start(Engine::Sqlite, options).expect("SQLite needs nothing")
        })
    }

    /// One of a test's own.
    pub fn start(engine: Engine, options: Options) -> Option<Self> {
        Self::start_in(engine, fresh_folder("server"), options)
    }

    pub fn start_in(engine: Engine, folder: PathBuf, options: Options) -> Option<Self> {
        let database = match engine {
            _ if options.database.is_some() => options.database.clone()?,
            Engine::Sqlite => format!("sqlite:{}/data/duet.db", folder.display()),
            Engine::Postgres => fresh(&folder, &options)?,
        };
        Some(Self::start_on(engine, database, folder, options))
    }

    fn start_on(engine: Engine, database: String, folder: PathBuf, options: Options) -> Self {
        configure(&folder, &options);
        let mut command = options.wrap;
        command.extend([program().to_owned(), "serve".into(), "--listen".into(), "127.0.0.1:0".into()]);
        command.extend(places(&folder, &database));
        command.extend(options.arguments);
        Self::started(engine, database, folder, &command, options.environment)
    }

    /// A server on SQLite that is started by words of its own, such as those of a package.
    pub fn by_words(folder: PathBuf, file: &Path, words: &[String], environment: Vec<(String, String)>) -> Self {
        Self::started(Engine::Sqlite, format!("sqlite:{}", file.display()), folder, words, environment)
    }

    fn started(
        engine: Engine,
        database: String,
        folder: PathBuf,
        command: &[String],
        environment: Vec<(String, String)>,
    ) -> Self {
        let mut process = Kept::start(&[], command, |shell| {
            shell.current_dir(&folder).env("Bootstrap__Email", OWNER_EMAIL).env("Bootstrap__Username", "owner");
            // One owner asks for all suites, of a server that is built without optimisation: what its writes cost is no
            // matter here.
            shell.env("Bootstrap__Password", OWNER_PASSWORD).env("Limits__WriteTime", "24h");
            // What a test does alone makes events, whatever day it is.
            shell.env("Events__Every", "off");
            shell.envs(environment);
            let log = std::fs::File::create(folder.join("log")).expect("a log");
            shell.stderr(log);
        });
        let mut greeting = Vec::new();
        let (mut address, mut pid) = (None, None);
        let lines = BufReader::new(process.child.stdout.take().expect("its output")).lines();
        for line in lines.map_while(Result::ok) {
            if let Some(number) = line.strip_prefix("pid ") {
                pid = number.parse().ok();
                continue;
            }
            if let Some(told) = line.strip_prefix("listening on http://") {
                address = told.parse().ok();
            }
            let last = line.starts_with("log in with");
            greeting.push(line);
            if last {
                break;
            }
        }
        let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        let address = address.unwrap_or_else(|| panic!("the server did not start: {greeting:?}\n{}", log()));
        let pid = pid.expect("the server's number");
        Self {
            engine,
            address,
            greeting,
            database,
            pid,
            process,
            token: Mutex::default(),
            documents: OnceLock::new(),
            folder,
            logs_requests: !command.iter().any(|word| word == "Logging:Level=error"),
        }
    }

    /// Runs another command of the program on the same books.
    pub fn command(&self, arguments: &[&str], input: &str) -> Output {
        run(
            &[arguments.iter().map(ToString::to_string).collect(), places(&self.folder, &self.database)].concat(),
            input,
        )
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.pid.to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    /// Several processes that start at the same moment on one empty PostgreSQL.
    pub fn several(count: usize) -> Option<Vec<Self>> {
        Self::several_with(count, &[])
    }

    /// The same, each started with more words of the environment.
    pub fn several_with(count: usize, more: &[(String, String)]) -> Option<Vec<Self>> {
        // What is secret is the same for all of them.
        let secrets = ["Security__MasterKey", "JwtSettings__Secret"];
        let environment = secrets.map(|name| (name.to_owned(), format!("{name} of several servers")));
        let environment = [&environment[..], more].concat();
        let options = || Options { environment: environment.clone(), ..Options::default() };
        let database = fresh(&fresh_folder("server"), &options())?;
        let start = || Self::start_on(Engine::Postgres, database.clone(), fresh_folder("server"), options());
        Some(std::thread::scope(|scope| {
            let starting: Vec<_> = (0..count).map(|_| scope.spawn(start)).collect();
            starting.into_iter().map(|started| started.join().expect("it starts")).collect()
        }))
    }

    /// Another server on the same books, after this one.
    pub fn restarted(self) -> Self {
        self.restarted_with(Options::default())
    }

    /// The same, started in its own way.
    pub fn restarted_with(self, options: Options) -> Self {
        let Self { engine, database, folder, process, .. } = self;
        drop(process);
        Self::start_on(engine, database, folder, options)
    }

    /// The same, and in between, while nobody serves the books, commands of the program on them.
    pub fn restarted_after(self, work: impl FnOnce(&dyn Fn(&[&str], &str) -> Output)) -> Self {
        let Self { engine, database, folder, process, .. } = self;
        drop(process);
        let places = places(&folder, &database);
        work(&|arguments: &[&str], input: &str| {
            run(&[arguments.iter().map(ToString::to_string).collect(), places.clone()].concat(), input)
        });
        Self::start_on(engine, database, folder, Options::default())
    }

    /// Waits for the server's own end.
    pub fn exit_code(mut self) -> Option<i32> {
        self.process.child.wait().expect("its end").code()
    }

    /// Where its books are, for those who look behind its back.
    pub fn database_url(&self) -> &str {
        &self.database
    }

    /// What the log has by now.
    pub fn log(&self) -> String {
        self.await_log();
        self.read_log(0)
    }

    /// What the log has of what is done.
    pub fn logged(&self, work: impl FnOnce()) -> String {
        self.await_log();
        let before = self.log_length();
        work();
        self.await_log();
        self.read_log(before)
    }

    /// The end of the log.
    fn last_words(&self) -> String {
        self.read_log(self.log_length().saturating_sub(4 << 10))
    }

    fn log_length(&self) -> u64 {
        std::fs::metadata(self.folder.join("log")).map_or(0, |log| log.len())
    }

    fn read_log(&self, start: u64) -> String {
        let mut said = Vec::new();
        if let Ok(mut file) = std::fs::File::open(self.folder.join("log")) {
            let _there = file.seek(SeekFrom::Start(start));
            let _read = file.read_to_end(&mut said);
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Its lines are written in their order, beside what they tell of: where somebody answers, the line of one more request is
    /// waited for. Where requests are not logged, that of a token that is good for nothing is.
    fn await_log(&self) {
        static ASKED: AtomicU64 = AtomicU64::new(0);
        let mark = format!("log-{}-{}", std::process::id(), ASKED.fetch_add(1, Ordering::Relaxed));
        let path = if self.logs_requests { "/healthz" } else { "/b/api/auth/me" };
        let ask = Request::new("GET", path).header("X-Request-Id", &mark);
        let ask = if self.logs_requests { ask } else { authorised(ask, "nobody's") }.bytes("close");
        let before = self.log_length();
        let asked =
            std::net::TcpStream::connect(self.address).map(|mut stream| stream.write_all(&ask).map(|()| stream));
        let begun = Instant::now();
        let is_heard = matches!(asked, Ok(Ok(_)));
        while is_heard && begun.elapsed() < Duration::from_secs(5) && !self.read_log(before).contains(&mark) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn send(&self, request: &Request) -> Answer {
        let answer = request.send(self.address);
        if answer.status >= 500 {
            // libtest shows it where the test fails: why is told to the operator alone.
            eprintln!("{} {}: {}; of the log: {}", request.method, request.path, answer.status, self.last_words());
        }
        authority::hold(request, &answer);
        answer
    }

    /// A step that only makes ready: where the server is busy it is repeated, as the answer says, and that is told.
    fn made_ready(&self, request: &Request) -> Answer {
        let mut answer = self.send(request);
        for _ in 1..REPEATED {
            if answer.header("x-error-code") != Some("overloaded") {
                break;
            }
            let after = answer.header("retry-after").and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
            std::thread::sleep(Duration::from_secs(after));
            say_loudly(&format!("a server was busy and is asked again; of its log: {}", self.last_words()));
            answer = self.send(request);
        }
        answer
    }

    /// Where a dialect keeps a resource, as its document says: by the name of the operation that lists it.
    fn collection(&self, dialect: Dialect, resource: &str) -> Collection {
        let [of_a, of_b] = self.documents.get_or_init(|| {
            ["/swagger/a/swagger.json", "/swagger/b/swagger.json"]
                .map(|path| self.send(&Request::new("GET", path)).expect(200).json())
        });
        let document = if dialect == Dialect::A { of_a } else { of_b };
        let base = document["servers"][0]["url"].as_str().expect("a base");
        let lists = |item: &Value| item["get"]["operationId"] == format!("{resource}List");
        let mut paths = document["paths"].as_object().expect("paths").iter();
        let (path, item) = paths.find(|(_, item)| lists(item)).unwrap_or_else(|| panic!("nothing lists {resource}"));
        let shown = item["get"]["security"][0].as_object().expect("what a request shows");
        let schemes = &document["components"]["securitySchemes"];
        let names_company = shown.keys().any(|scheme| schemes[scheme]["name"] == "X-Business-Id");
        Collection { path: format!("{base}{path}"), names_company }
    }

    /// The owner's token: one for all tests, and another before it ends.
    pub fn token(&self) -> &'static str {
        const GOOD: Duration = Duration::from_mins(30);
        let mut kept = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        match *kept {
            Some((since, token)) if since.elapsed() < GOOD => token,
            _ => {
                let token: &'static str = self.login(OWNER_EMAIL, OWNER_PASSWORD).leak();
                *kept = Some((Instant::now(), token));
                token
            }
        }
    }

    pub fn login(&self, email: &str, password: &str) -> String {
        let body = json!({"email": email, "password": password});
        let answer = self.send(&Request::new("POST", "/b/api/auth/login").json(&body)).expect(200);
        answer.json()["token"].as_str().expect("a token").to_owned()
    }

    pub fn company(&self) -> Company<'_> {
        self.company_like(json!({"name": "Test & Co", "baseCurrency": "EUR"}))
    }

    pub fn company_like(&self, body: Value) -> Company<'_> {
        let request = Request::new("POST", "/b/api/businesses").json(&body);
        let answer = self.made_ready(&authorised(request, self.token())).expect(201);
        let id = answer.json()["id"].as_str().expect("an identifier").to_owned();
        Company { server: self, id, token: self.token().to_owned() }
    }
}

fn configure(folder: &Path, options: &Options) {
    std::fs::create_dir_all(folder.join("config")).expect("a folder");
    if let Some(custom) = &options.custom {
        std::fs::write(folder.join("config/appsettings.Custom.json"), custom).expect("the configuration");
    }
}

/// A fresh database of PostgreSQL, for a server in this folder; where a Citus is named, one of it that is distributed.
fn fresh(folder: &Path, options: &Options) -> Option<String> {
    let Some(database) = citus::fresh_database() else { return postgres::fresh_database() };
    configure(folder, options);
    let command = [vec!["migrate".to_owned(), "--distribute".to_owned()], places(folder, &database)].concat();
    let environment: Vec<(&str, &str)> =
        options.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let done = run_with(&command, "", &environment);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(database)
}

struct Collection {
    path: String,
    names_company: bool,
}

fn places(folder: &Path, database: &str) -> Vec<String> {
    let (config, data) = (folder.join("config"), folder.join("data"));
    let words =
        ["--config", &config.display().to_string(), "--data", &data.display().to_string(), "--database", database];
    words.map(str::to_owned).to_vec()
}

/// The program itself: as it is built for these tests, or that which `DUET_TEST_PROGRAM` names, such as one of a release.
pub fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let named = std::env::var("DUET_TEST_PROGRAM").ok();
        named.unwrap_or_else(|| env!("CARGO_BIN_EXE_acceptance-duet").to_owned())
    });
    &PROGRAM
}

/// Runs the program to its end.
pub fn run(arguments: &[String], input: &str) -> Output {
    run_with(arguments, input, &[])
}

/// ... with these in its environment.
pub fn run_with(arguments: &[String], input: &str, environment: &[(&str, &str)]) -> Output {
    let mut child = Command::new(program())
        .args(arguments)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that reads nothing may be gone already.
    let _closed = child.stdin.take().expect("its input").write_all(input.as_bytes());
    child.wait_with_output().expect("the program ends")
}

pub fn authorised(request: Request, token: &str) -> Request {
    request.header("Authorization", &format!("Bearer {token}"))
}

/// A company, and someone who speaks for it.
#[derive(Clone)]
pub struct Company<'s> {
    pub server: &'s Server,
    pub id: String,
    pub token: String,
}

impl Company<'_> {
    /// A request in a dialect's words. `resource` is the stem of its operations' names, `path` is what follows the resource's collection.
    pub fn request(&self, dialect: Dialect, method: &str, resource: &str, path: &str) -> Request {
        let collection = self.server.collection(dialect, resource);
        let target = collection.path.replace("{businessId}", &self.id) + path;
        let request = authorised(Request::new(method, &target), &self.token);
        if collection.names_company { request.header("X-Business-Id", &self.id) } else { request }
    }

    pub fn ask(&self, dialect: Dialect, method: &str, resource: &str, path: &str, body: Option<&Value>) -> Said {
        let request = self.request(dialect, method, resource, path);
        self.say(
            dialect,
            match body {
                Some(body) => request.json(body),
                None => request,
            },
        )
    }

    pub fn say(&self, dialect: Dialect, request: Request) -> Said {
        let answer = self.server.send(&request);
        Said::of(dialect, answer)
    }

    pub fn party(&self, body: Value) -> Value {
        let mut party = json!({"name": "Somebody", "isCustomer": true});
        party.as_object_mut().expect("an object").extend(body.as_object().cloned().unwrap_or_default());
        self.ask(Dialect::B, "POST", "parties", "", Some(&party)).expect(201).data
    }
}

/// An answer, taken out of its dialect's wrapping, which must be exactly as the contract says.
#[derive(Debug, Clone)]
pub struct Said {
    pub status: u16,
    pub title: String,
    pub data: Value,
    pub errors: Value,
    pub code: Option<String>,
    pub meaning: Meaning,
    pub answer: Answer,
}

impl Said {
    pub fn of(dialect: Dialect, answer: Answer) -> Self {
        let meaning = twins::meaning(dialect, &answer);
        let is_json = answer.header("content-type") == Some("application/json; charset=utf-8");
        assert!(is_json || answer.text.is_empty(), "{:?}", answer.headers);
        let code = answer.header("x-error-code").map(str::to_owned);
        assert_eq!(answer.status < 400, code.is_none(), "a code with failures and only with them");
        let part = |name: &str| meaning.tree[name].clone();
        Self {
            status: answer.status,
            title: part("title").as_str().unwrap_or_default().to_owned(),
            data: part("data"),
            errors: part("errors"),
            code,
            meaning,
            answer,
        }
    }

    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.answer.text);
        self
    }

    /// The names of the fields at fault.
    pub fn fields(&self) -> Vec<String> {
        let mut fields: Vec<String> =
            self.errors.as_object().into_iter().flat_map(|errors| errors.keys().cloned()).collect();
        fields.sort();
        fields
    }

    pub fn id(&self) -> String {
        self.data["id"].as_str().expect("an identifier").to_owned()
    }
}

//! `duet compare`: the same requests to both dialects, or to two servers, and where their answers differ.

mod options;
pub(crate) mod page;
mod sides;
mod traffic;
pub(crate) mod translate;
mod twins;

pub(crate) use options::CompareOptions;

use crate::config;
use crate::console::{failed, misused, say};
use crate::private;
use compare::batch;
use compare::declared::Declared;
use compare::dialect::{Dialect, LOGIN};
use compare::explore::{Part, Step, explore};
use compare::neutral::{Neutral, Query};
use compare::pair::{Compared, Pair, Relation, Side};
use compare::report::{Report, one_in_text};
use compare::shrink;
use ledger_core::clock::Clock;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

pub(crate) async fn run(options: CompareOptions) -> ExitCode {
    if options.remove_twins {
        return match twins::removed(&options).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(Stop::Misused(why)) => misused(&why),
            Err(Stop::Failed(why)) => failed(&why),
        };
    }
    if let Some(address) = options.traffic.record {
        return match traffic::run(&options, address).await {
            Ok(code) => code,
            Err(Stop::Misused(why)) => misused(&why),
            Err(Stop::Failed(why)) => failed(&why),
        };
    }
    match compared(&options).await {
        Ok(report) => {
            let files = [(&options.html, Report::html as fn(&Report) -> String), (&options.junit, Report::junit)];
            for (path, text) in files {
                if let Some(path) = path
                    && let Err(why) = write(path, &text(&report))
                {
                    return failed(&why);
                }
            }
            say(&if options.json { report.json().to_string() } else { report.text() });
            if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(Stop::Misused(why)) => misused(&why),
        Err(Stop::Failed(why)) => failed(&why),
    }
}

/// Writes a report, for its owner alone.
fn write(path: &Path, text: &str) -> Result<(), String> {
    let written = private::create(path).and_then(|mut file| Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Why there is no report.
enum Stop {
    /// What was asked for makes no sense.
    Misused(String),
    /// It was tried, and did not work.
    Failed(String),
}

impl From<String> for Stop {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

async fn compared(options: &CompareOptions) -> Result<Report, Stop> {
    let declared = declared(options)?;
    let twin_body = match &options.twin_body {
        Some(body) => serde_json::from_str(body).map_err(|error| Stop::Misused(format!("--twin-body: {error}")))?,
        // So that whatever is sold can be delivered.
        None => json!({"baseCurrency": "EUR", "settings": {"negativeStock": "allow"}}),
    };
    let (left, right) = sides(options).await?;
    let requests = requests(options, [&left, &right])?;
    let names =
        [&left, &right].map(|side| format!("{}, {}{}", side.dialect.name, side.transport.origin(), side.dialect.base));
    let relation = if options.left_business.is_some() { Relation::Apart } else { Relation::Same };
    let mut pair = Pair::new(left, right, relation, declared, &ledger_core::ids::request_id());
    let mut report = Report::of(&names[0], &names[1]);
    let mut progress = Progress::of(options);

    log_in(&mut pair, options, &mut report).await?;
    if options.twin {
        let made = pair.make_twins(&twin_body).await?;
        report.add(&made);
        report.twins = twins::made(&pair);
    } else {
        choose_company(&mut pair, options).await?;
    }
    if options.explore {
        let mut tell = |step: Step<'_>| {
            report.add(step.compared);
            progress.show(step.operation, step.of, step.compared, report.different());
        };
        explore(&mut pair, &options.only, options.part.unwrap_or(Part::ALL), &mut tell).await;
    } else {
        let count = requests.len();
        for (place, request) in requests.iter().enumerate() {
            let compared = pair.compare(request).await;
            report.add(&compared);
            progress.show(place, count, &compared, report.different());
            if count == 1 && !options.json {
                say(&shown(&compared));
            }
        }
    }
    if pair.is_on_twins()
        && let Some(proof) = pair.prove().await
    {
        report.add(&proof);
    }
    progress.end();
    shrink(&mut pair, &mut report).await;
    report.unused = pair.declared.unused();
    if report.asked() == 0 {
        return Err(Stop::Misused("nothing to ask: name an operation, --file or --explore".into()));
    }
    Ok(report)
}

/// The differences that are as they should be.
fn declared(options: &CompareOptions) -> Result<Declared, Stop> {
    let Some(path) = &options.differences else { return Ok(Declared::default()) };
    let today = Clock::system().now().to_string();
    let text = text_of(path).map_err(Stop::Misused)?;
    let read = Declared::read(&text, today.get(..10).unwrap_or_default());
    read.map_err(|error| Stop::Misused(format!("{}: {error}", path.display())))
}

/// So many findings are shrunk.
const MOST_SHRUNK: usize = 10;

/// Looks for the smallest bodies that show what was found.
async fn shrink(pair: &mut Pair, report: &mut Report) {
    for finding in report.findings().into_iter().take(MOST_SHRUNK) {
        let asked = &finding.example.request;
        let is_own = asked.operation != LOGIN && asked.business.is_none();
        if is_own && let Some(shrunk) = shrink::shrink(pair, asked, &finding.path).await {
            report.shrink_to(&finding, &shrunk);
        }
    }
}

/// The two sides, before anybody logged in.
async fn sides(options: &CompareOptions) -> Result<(Side, Side), Stop> {
    if let (Some(left), Some(right)) = (&options.left, &options.right) {
        let left = sides::at(left, options.left_dialect).await?;
        return Ok((left, sides::at(right, options.right_dialect).await?));
    }
    let server = if let Some(url) = &options.server {
        url.clone()
    } else {
        let loaded =
            config::load(&options.common.source(Vec::new())).map_err(|error| Stop::Misused(error.to_string()))?;
        format!("http://{}", loaded.settings.listen)
    };
    Ok(sides::both_of(&server, [options.left_dialect, options.right_dialect]).await?)
}

fn requests(options: &CompareOptions, sides: [&Side; 2]) -> Result<Vec<Neutral>, Stop> {
    let misused = |why: String| Stop::Misused(why);
    let dialects = sides.map(|side| &*side.dialect);
    if let Some(path) = &options.file {
        let (mut requests, left_out) = batch::read(&text_of(path).map_err(misused)?, &dialects).map_err(misused)?;
        for one in left_out {
            crate::console::warn(&format!("nothing that can be asked of either dialect, left out: {one}"));
        }
        // A recording names the company that it was made in, a saved list the one that it was saved in.
        if options.twin || options.business.is_some() || options.left_business.is_some() {
            for request in &mut requests {
                request.business = None;
            }
        }
        return Ok(requests);
    }
    for begun in &options.only {
        if dialects.iter().all(|dialect| dialect.beginning_with(begun).is_empty()) {
            dialects[0].operation(begun).map_err(misused)?;
        }
    }
    let Some(operation) = &options.operation else { return Ok(Vec::new()) };
    let operation = &completed(operation, dialects[0]);
    for dialect in dialects {
        dialect.operation(operation).map_err(misused)?;
    }
    let body = options.body.as_deref().map(|body| match serde_json::from_str::<Value>(body) {
        Ok(body) => (Some(body), None),
        Err(_) => (None, Some(body.to_owned())),
    });
    let (body, text) = body.unwrap_or_default();
    let query = Query(options.query.clone());
    Ok(vec![Neutral { id: options.id.clone(), query, body, text, ..Neutral::of(operation) }])
}

/// The name of an operation, where only one begins as it was written.
fn completed(written: &str, dialect: &Dialect) -> String {
    match dialect.beginning_with(written).as_slice() {
        [only] if *only != written => {
            crate::console::warn(&format!("{written} is taken for {only}"));
            (*only).to_owned()
        }
        _ => written.to_owned(),
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// A secret of the environment, where it is set.
fn secret(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

async fn log_in(pair: &mut Pair, options: &CompareOptions, report: &mut Report) -> Result<(), Stop> {
    let token = secret("DUET_COMPARE_TOKEN");
    // What is said to one server is nobody else's to hear.
    let is_elsewhere = pair.left.transport.origin() != pair.right.transport.origin();
    let of_right = |name: &str, left: Option<&String>| match secret(name) {
        Some(own) => Ok(Some(own)),
        None if is_elsewhere => {
            Err(Stop::Misused(format!("{} is another server: set {name}", pair.right.transport.origin())))
        }
        None => Ok(left.cloned()),
    };
    if let Some(token) = token {
        let right_token = of_right("DUET_COMPARE_RIGHT_TOKEN", Some(&token))?;
        (pair.left.token, pair.right.token) = (Some(token), right_token);
        return Ok(());
    }
    let Some(user) = &options.user else {
        return Err(Stop::Misused(
            "say who asks: --user E-MAIL with DUET_COMPARE_PASSWORD, or DUET_COMPARE_TOKEN".into(),
        ));
    };
    let password =
        if options.password_stdin { Some(crate::admin::password(true)?.0) } else { secret("DUET_COMPARE_PASSWORD") };
    let password =
        password.ok_or_else(|| Stop::Misused("no password: set DUET_COMPARE_PASSWORD, or --password-stdin".into()))?;
    let of_right = of_right("DUET_COMPARE_RIGHT_PASSWORD", Some(&password))?.unwrap_or_default();
    let right_user = options.right_user.as_ref().unwrap_or(user);
    if right_user == user && of_right == password {
        report.add(&pair.log_in(user, &password).await?);
        if !is_elsewhere {
            // One token is good for both dialects, and in one session both see the same: which session is the caller's, too.
            pair.right.token.clone_from(&pair.left.token);
        }
    } else {
        pair.log_in_apart((user, &password), (right_user, &of_right)).await?;
    }
    Ok(())
}

/// The company that is asked about, where it is not made for it.
async fn choose_company(pair: &mut Pair, options: &CompareOptions) -> Result<(), Stop> {
    if let (Some(left), Some(right)) = (&options.left_business, &options.right_business) {
        pair.stand_for_each_other(left, right);
        return Ok(());
    }
    if let Some(business) = &options.business {
        (pair.left.business, pair.right.business) = (Some(business.clone()), Some(business.clone()));
        return Ok(());
    }
    let seen = pair.ask_left(&Neutral::of("businessesList").asking("pageSize", "2")).await?;
    if let Some(first) = seen["items"].get(0)
        && let Some(id) = first["id"].as_str()
    {
        if seen["pagination"]["totalCount"] != 1 {
            let name = first["name"].as_str().unwrap_or_default();
            crate::console::warn(&format!("asking about {name} ({id}); name another company with --business"));
        }
        (pair.left.business, pair.right.business) = (Some(id.to_owned()), Some(id.to_owned()));
    }
    Ok(())
}

/// One comparison, whole: both requests, both answers, the verdict.
fn shown(compared: &Compared) -> String {
    let mut text = String::new();
    for (side, exchange) in [("left", &compared.left), ("right", &compared.right)] {
        write!(text, "== {side}\n{}\n\n", exchange.curl).unwrap_or_default();
        if let Some(answer) = &exchange.answer {
            writeln!(text, "{}\n{}\n", answer.status, answer.pretty()).unwrap_or_default();
        }
    }
    text + &one_in_text(compared) + "\n"
}

/// How far it is, on a terminal.
struct Progress {
    shown: bool,
    last: String,
}

const BAR: usize = 24;

impl Progress {
    fn of(options: &CompareOptions) -> Self {
        Self {
            shown: std::io::stderr().is_terminal() && (options.explore || options.file.is_some()),
            last: String::new(),
        }
    }

    fn show(&mut self, done: usize, of: usize, compared: &Compared, different: u64) {
        if !self.shown {
            return;
        }
        let filled = BAR * (done + 1) / of.max(1);
        let operation = &compared.request.operation;
        let line = format!(
            "[{}{}] {}/{of}  {different} different  {operation:<36.36}",
            "#".repeat(filled.min(BAR)),
            ".".repeat(BAR - filled.min(BAR)),
            done + 1
        );
        if line != self.last {
            let _closed = write!(std::io::stderr(), "\r{line}");
            self.last = line;
        }
    }

    fn end(&self) {
        if self.shown {
            let _closed = writeln!(std::io::stderr());
        }
    }
}

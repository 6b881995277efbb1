//! `duet compare --record`: a door in front of a server, through which its clients come; what passes by is kept in a file,
//! and asked on another side as well.

mod asking;
mod page;
mod recorder;

use super::options::TrafficOptions;
use super::{CompareOptions, Stop, declared, secret, sides};
use crate::console::{say, warn};
use crate::edge::passing::{Behind, Seen, Witness};
use crate::edge::{aside, bind, place_of};
use crate::private;
use crate::serve::stop_signal;
use asking::{Asking, Known, Queue, ToQueue};
use axum::extract::Request;
use compare::curl::split_url;
use compare::declared::Declared;
use compare::pair::{Pair, Relation, Side};
use compare::shadow::{NotAsked, Other, Shadow, Watched, finished};
use ledger_core::clock::{Clock, Instant};
use recorder::Recorder;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// What may be kept of a folder's state is written so often, where it changed.
const SAVED: Duration = Duration::from_secs(1);
/// As long as what waits to be asked or written may take at the end.
const LAST: Duration = Duration::from_secs(10);
/// Where requests of any dialect are taken, as servers have it that say nothing else.
const SHARED: &str = "/api";

/// Passes traffic on until it is told to stop. What was found then.
pub(super) async fn run(options: &CompareOptions, address: SocketAddr) -> Result<ExitCode, Stop> {
    let traffic = &options.traffic;
    let to = traffic.to.as_deref().unwrap_or_default();
    if traffic.keep.is_none() && !traffic.shadow {
        return Err(Stop::Misused("say what to do with what passes by: --keep FILE, --shadow or both".into()));
    }
    if let Some(page) = traffic.page.filter(|page| !page.ip().is_loopback()) {
        return Err(Stop::Misused(format!(
            "--page {page}: the page shows what is in the books, to this machine alone"
        )));
    }
    check_written(options)?;
    let (origin, base) = split_url(to).map_err(Stop::Misused)?;
    let is_of_api = !base.trim_matches('/').is_empty();
    let shadow = if traffic.shadow { Some(shadow_of(options, to, &origin, is_of_api).await?) } else { None };
    let now = Clock::system().now();
    let (left, right) = shadow.as_ref().map_or((origin.clone(), "nobody".to_owned()), Planned::names);
    let watched = Arc::new(Watched::new(&left, &right, &now.to_string()));
    let known = Known::default();
    let state = traffic.state.as_deref().map(|folder| State::of(folder, &left, &right)).transpose()?;
    if let Some(state) = &state {
        let goes_on = state.go_on(&watched, &known)?;
        watched.standing().ends(shadow.as_ref().is_some_and(Planned::follows));
        if goes_on && shadow.as_ref().is_some_and(Planned::follows) {
            warn("what was written since the last start ended is missing in the copy; make it anew if there was any");
        }
    }
    let (recorder, written) = match &traffic.keep {
        Some(path) => {
            let (recorder, end) = Recorder::begin(path, traffic.keep_size, &watched)?;
            (Some(recorder), Some(end))
        }
        None => (None, None),
    };
    let (queue, waiting) = asking::queue();
    let follows = shadow.as_ref().is_some_and(Planned::follows);
    let eye = Eye {
        recorder,
        asking: shadow.is_some().then_some(queue),
        follows,
        watched: watched.clone(),
        clock: Clock::system(),
    };
    let behind = Behind::new(&origin, traffic.keep_host, Arc::new(eye)).map_err(Stop::Misused)?;
    let listener = bind(address)?;
    let page = traffic.page.map(bind).transpose()?;
    let page_at = page.as_ref().map(place_of).transpose()?;
    say(&greeting(traffic, &origin, place_of(&listener)?, page_at, &right));

    let until = traffic.until.map(|span| left_of(&watched, span, now));
    let (stopping, stopped) = watch::channel(false);
    let signal = stop_signal()?;
    let ended = async move {
        let in_time = async {
            match until {
                Some(left) => tokio::time::sleep(left).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = signal => {}
            () = in_time => {}
        }
    };
    let (asked, asking) = ask(shadow, waiting, &watched, &behind, traffic, stopped.clone(), &known);
    let saving = state.as_ref().map(|state| {
        let (state, watched, known) = (state.clone(), watched.clone(), known.clone());
        supervise::keep("what keeps what was found", move || {
            state.clone().save_now_and_then(watched.clone(), known.clone())
        })
    });
    let looked_at = async {
        let mut stopped = stopped.clone();
        if let Some(listener) = page {
            let told = watched.clone();
            let answer = move |asked: Request| page::answer(told.clone(), asked.into_parts().0);
            aside::serve(listener, answer, async move { drop(stopped.wait_for(|stopped| *stopped).await) }).await;
        }
    };
    let passed_on = async {
        behind.clone().serve(listener, ended).await;
        let _nobody_left = stopping.send(true);
    };
    tokio::join!(passed_on, looked_at);
    // Whoever still holds the door open is waited for no more, and neither is what they say.
    drop(behind);
    if let Some(asked) = asked {
        let _in_time = tokio::time::timeout(LAST, asked).await;
    }
    drop((asking, saving));
    if let Some(written) = written {
        written.within(LAST).await;
    }
    if traffic.shadow {
        watched.standing().ends(follows);
    }
    if let Some(state) = &state {
        state.save(&watched, &known);
    }
    told(options, &watched)
}

/// Whoever looks at a report in three days learns today that it cannot be written.
fn check_written(options: &CompareOptions) -> Result<(), Stop> {
    for path in [&options.html, &options.junit].into_iter().flatten().filter(|_| options.traffic.shadow) {
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
        opened.map_err(|error| Stop::Failed(format!("cannot write {}: {error}", path.display())))?;
    }
    Ok(())
}

/// What asks the other side, and when it is done.
fn ask(
    shadow: Option<Planned>,
    waiting: Queue,
    watched: &Arc<Watched>,
    behind: &Behind,
    traffic: &TrafficOptions,
    stopped: watch::Receiver<bool>,
    known: &Known,
) -> (Option<impl Future<Output = ()> + use<>>, Option<supervise::Kept>) {
    let Some(planned) = shadow else { return (None, None) };
    let mut shadow = planned.shadow(watched.clone());
    shadow.pair().go_on_knowing(&known.lock().unwrap_or_else(PoisonError::into_inner));
    let asking = Asking::new(shadow, waiting, behind.writing(), traffic.rate, stopped, known.clone());
    let (asking, done) = (Arc::new(tokio::sync::Mutex::new(asking)), Arc::new(tokio::sync::Notify::new()));
    let over = done.clone();
    let kept = supervise::keep("what asks the other side", move || {
        let (asking, done) = (asking.clone(), done.clone());
        async move {
            asking.lock().await.run().await;
            done.notify_one();
        }
    });
    (Some(async move { over.notified().await }), Some(kept))
}

/// How much of a time is left, counted from the first start.
fn left_of(watched: &Watched, span: Duration, now: Instant) -> Duration {
    let since = Instant::parse(&watched.standing().since).unwrap_or(now);
    let ends = since.plus(span).micros();
    u64::try_from(ends - now.micros()).map_or(Duration::ZERO, Duration::from_micros)
}

fn greeting(
    traffic: &TrafficOptions,
    origin: &str,
    address: SocketAddr,
    page: Option<SocketAddr>,
    right: &str,
) -> String {
    let mut lines = vec![format!("listening on http://{address}"), format!("{:<15} {origin}", "passing on to")];
    lines.extend(traffic.keep.as_ref().map(|path| format!("{:<15} {}", "recording to", path.display())));
    if traffic.shadow {
        lines.push(format!("{:<15} {right}", "asking as well"));
    }
    lines.extend(page.map(|page| format!("{:<15} http://{page}/", "page")));
    lines.push("end with Ctrl-C, and see what was found".to_owned());
    lines.join("\n")
}

/// What was found, as it was asked for.
fn told(options: &CompareOptions, watched: &Watched) -> Result<ExitCode, Stop> {
    if options.traffic.shadow {
        let files =
            [(&options.html, finished as fn(&Watched) -> String), (&options.junit, |watched| watched.report().junit())];
        say(&if options.json { watched.json().to_string() } else { watched.text() });
        for (path, text) in files {
            if let Some(path) = path {
                super::write(path, &text(watched))?;
            }
        }
    } else {
        let standing = watched.standing().clone();
        say(&if options.json {
            json!({"shadow": standing}).to_string()
        } else {
            format!(
                "{} requests passed on; {} recorded, {} not; {} were not answered by the server behind",
                standing.seen, standing.recorded, standing.not_recorded, standing.unanswered
            )
        });
    }
    let standing = watched.standing();
    let silent = [NotAsked::Unanswered, NotAsked::Ended].map(NotAsked::words);
    if let Some(why) = silent.iter().find(|why| standing.asked == 0 && standing.not_asked.contains_key(**why)) {
        return Err(Stop::Failed(format!("nothing was compared: {why}")));
    }
    if standing.missing > 0 && standing.different == 0 {
        return Err(Stop::Failed(
            "the copy misses writes, so that nothing differs in it says little: make it anew".into(),
        ));
    }
    Ok(if standing.different == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Who is told what passed by.
struct Eye {
    recorder: Option<Recorder>,
    asking: Option<ToQueue>,
    /// Whether what is written is written elsewhere as well: then none of it may be left out.
    follows: bool,
    watched: Arc<Watched>,
    clock: Clock,
}

impl Witness for Eye {
    fn saw(&self, seen: Arc<Seen>) {
        self.watched.standing().sees(&self.clock.now().to_string());
        if let Some(recorder) = &self.recorder {
            recorder.keep(seen.clone());
        }
        let is_read = matches!(seen.passed.method.as_str(), "GET" | "HEAD");
        if let Some(asking) = &self.asking
            && !asking.takes(seen, is_read || !self.follows)
        {
            self.watched.standing().passes_over(NotAsked::Busy);
        }
    }

    fn heard_nothing(&self, why: &str) {
        let mut standing = self.watched.standing();
        standing.sees(&self.clock.now().to_string());
        standing.unanswered += 1;
        // Whoever watches the terminal is told once in a while, and not by each request.
        if standing.unanswered.is_power_of_two() {
            warn(&format!("the server behind does not answer: {why} ({} requests so far)", standing.unanswered));
        }
    }
}

/// A shadow before anything was seen.
struct Planned {
    lefts: Vec<Side>,
    other: Other,
    relation: Relation,
    declared: Declared,
    businesses: Option<(String, String)>,
}

impl Planned {
    /// Whether what is written is written elsewhere as well.
    fn follows(&self) -> bool {
        matches!(self.other, Other::Server { is_copy: true, .. })
    }

    /// What clients ask, and what is asked as well.
    fn names(&self) -> (String, String) {
        let name = |side: &Side| format!("{}, {}{}", side.dialect.name, side.transport.origin(), side.dialect.base);
        let lefts: Vec<String> = self.lefts.iter().map(name).collect();
        let other = match &self.other {
            Other::Dialect => "each in the other dialect".to_owned(),
            Other::Server { side, is_copy: false } => name(side),
            Other::Server { side, is_copy: true } => format!("{}, a copy that is written into", name(side)),
        };
        (lefts.join("; "), other)
    }

    fn shadow(self, watched: Arc<Watched>) -> Shadow {
        let Self { lefts, other, relation, declared, businesses } = self;
        let (left, right) = match &other {
            Other::Dialect => (lefts[0].clone(), lefts[1].clone()),
            Other::Server { side, .. } => (lefts[0].clone(), side.clone()),
        };
        let shared = left.documented.then(|| SHARED.to_owned());
        let mut pair = Pair::new(left, right, relation, declared, &ledger_core::ids::request_id());
        if let Some((left, right)) = businesses {
            pair.stand_for_each_other(&left, &right);
            (pair.left.business, pair.right.business) = (None, None);
        }
        Shadow::new(pair, lefts, other, shared, watched)
    }
}

async fn shadow_of(options: &CompareOptions, to: &str, origin: &str, is_of_api: bool) -> Result<Planned, Stop> {
    let traffic = &options.traffic;
    let lefts = if is_of_api || options.left_dialect.is_some() {
        vec![sides::at(to, options.left_dialect).await?]
    } else {
        sides::served_by(origin).await?
    };
    let businesses = options.left_business.clone().zip(options.right_business.clone());
    let (other, relation) = match &traffic.other {
        None if options.twin => {
            return Err(Stop::Misused(
                "--twin writes into a copy of the books: serve one, and name it with --other".into(),
            ));
        }
        None if lefts.len() < 2 => {
            return Err(Stop::Misused(format!(
                "{origin} is known to serve one dialect, or none: name the other side with --other, and what is spoken with --left-dialect"
            )));
        }
        None => (Other::Dialect, Relation::Same),
        Some(url) => {
            let mut side = sides::at(url, options.right_dialect).await?;
            side.token = Some(token_of(options, &side).await?);
            let relation = if businesses.is_some() { Relation::Apart } else { Relation::Same };
            (Other::Server { side, is_copy: options.twin }, relation)
        }
    };
    if lefts.is_empty() {
        return Err(Stop::Misused(format!("cannot find out what {origin} speaks; say it with --left-dialect")));
    }
    Ok(Planned { lefts, other, relation, declared: declared(options)?, businesses })
}

/// The token by which the other server is asked: its clients' own are nobody else's to hear.
async fn token_of(options: &CompareOptions, side: &Side) -> Result<String, Stop> {
    if let Some(token) = secret("DUET_COMPARE_RIGHT_TOKEN") {
        return Ok(token);
    }
    let user = options.right_user.as_ref().or(options.user.as_ref());
    let password = secret("DUET_COMPARE_RIGHT_PASSWORD");
    let Some((user, password)) = user.zip(password) else {
        return Err(Stop::Misused(format!(
            "say who asks {}: --right-user E-MAIL with DUET_COMPARE_RIGHT_PASSWORD, or DUET_COMPARE_RIGHT_TOKEN",
            side.transport.origin()
        )));
    };
    let mut pair =
        Pair::new(side.clone(), side.clone(), Relation::Same, Declared::default(), &ledger_core::ids::request_id());
    pair.log_in_right(user, &password).await?;
    pair.right.token.ok_or_else(|| Stop::Failed("the log-in was answered without a token".into()))
}

/// The folder in which a shadow is kept while it is not there.
#[derive(Clone)]
struct State {
    file: PathBuf,
    left: String,
    right: String,
}

impl State {
    fn of(folder: &Path, left: &str, right: &str) -> Result<Self, Stop> {
        private::make_folder(folder)?;
        Ok(Self { file: folder.join("shadow.json"), left: left.to_owned(), right: right.to_owned() })
    }

    /// Whether there is something to go on with.
    fn go_on(&self, watched: &Watched, known: &Known) -> Result<bool, Stop> {
        let text = match std::fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Stop::Failed(format!("cannot read {}: {error}", self.file.display()))),
        };
        let unread =
            |why: &dyn std::fmt::Display| Stop::Failed(format!("{} cannot be read: {why}", self.file.display()));
        let kept: Value = serde_json::from_str(&text).map_err(|error| unread(&error))?;
        if kept["left"] != *self.left || kept["right"] != *self.right {
            return Err(Stop::Misused(format!(
                "{} is of another shadow, of {} and {}; name another folder with --state",
                self.file.display(),
                kept["left"],
                kept["right"]
            )));
        }
        watched.go_on(&kept).map_err(|error| unread(&error))?;
        *known.lock().unwrap_or_else(PoisonError::into_inner) = kept["known"].clone();
        Ok(true)
    }

    fn save(&self, watched: &Watched, known: &Known) {
        let mut kept = watched.kept();
        kept["left"] = self.left.clone().into();
        kept["right"] = self.right.clone().into();
        kept["known"] = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Err(error) = private::replace(&self.file, kept.to_string().as_bytes()) {
            warn(&format!("{} cannot be written: {error}; what was found is in memory alone", self.file.display()));
        }
    }

    /// Keeps what was found, where anything was since. What takes long is done seldom.
    async fn save_now_and_then(self, watched: Arc<Watched>, known: Known) {
        let mut seen = None;
        loop {
            let counted = {
                let standing = watched.standing();
                (standing.seen, standing.asked, standing.not_asked.values().sum::<u64>(), standing.recorded)
            };
            let mut took = Duration::ZERO;
            if seen.replace(counted) != Some(counted) {
                let (state, watched, known) = (self.clone(), watched.clone(), known.clone());
                let begun = tokio::time::Instant::now();
                let _saved = tokio::task::spawn_blocking(move || state.save(&watched, &known)).await;
                took = begun.elapsed();
            }
            tokio::time::sleep(SAVED.max(took * 20)).await;
        }
    }
}

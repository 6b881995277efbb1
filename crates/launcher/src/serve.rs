//! `duet serve`: opens the books, mounts the site, serves until it is told to stop.

use crate::admin::Memory;
use crate::cli::ServeOptions;
use crate::config::{self, Edition, Loaded, Secret, Settings, Source};
use crate::console::{failed, misused, say, warn};
use crate::demo::Sample;
use crate::edge::{Current, Door, Edge, aside, bind, place_of};
use crate::logging::{self, LogLevel};
use crate::mount::Site;
use crate::sight::telemetry;
use crate::telling::Teller;
use crate::tenants::api::Api;
use crate::tenants::{Books, Known, must_be_books};
use crate::tls::{self, Certificate};
use crate::{admin, demo, front, new_days, sight};
use axum::extract::Request;
use console::Demo;
use ledger_core::database::Purpose;
use ledger_core::ledger::Ledger;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

pub(crate) async fn run(options: ServeOptions) -> ExitCode {
    let demo_folder = match options.sample().map(|_| demo::Folder::make()).transpose() {
        Ok(folder) => folder,
        Err(error) => return failed(&format!("cannot make a folder for the demo: {error}")),
    };
    let mut source = options.source();
    if let Some(folder) = &demo_folder {
        source.overrides.extend(folder.overrides(&source.overrides));
    }
    let loaded = match config::load(&source) {
        Ok(loaded) => loaded,
        Err(error) => return misused(&error.to_string()),
    };
    if options.sample().is_some() && !listens_here(&loaded.settings) {
        return misused("--demo has a well-known password and listens on loopback only");
    }
    telemetry::begins(&loaded.settings.telemetry);
    let log = match logging::start(&loaded.settings) {
        Ok(log) => log,
        Err(error) => return failed(&format!("no thread for the log: {error}")),
    };
    for warning in &loaded.warnings {
        warn(warning);
    }
    #[cfg(debug_assertions)]
    if let Some(fault) = ledger_core::sown::active() {
        warn(&format!("the fault {} is sown into the rules: what these books say is wrong", fault.name()));
    }
    match serve(options.sample(), &source, loaded, &log.level).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => failed(&why),
    }
}

/// Whether nobody beyond this machine reaches it, by either of its doors.
fn listens_here(settings: &Settings) -> bool {
    let secure = tls::Files::of(settings).map(|_| settings.tls_listen);
    [Some(settings.listen), secure].into_iter().flatten().all(|address| address.ip().is_loopback())
}

/// The books, brought to where they can be served.
async fn opened(sample: Option<Sample>, settings: &Settings, log_level: &LogLevel) -> Result<Arc<Books>, String> {
    let is_demo = sample.is_some();
    if is_demo {
        // Nobody waits for samples that nobody can be shown.
        drop(bind(settings.listen)?);
    }
    let books = Arc::new(Books::open(settings).await?);
    if let Books::One(shell) = &*books {
        let is_watched = is_demo && std::io::stderr().is_terminal();
        if is_watched {
            log_level.hush();
        }
        let prepared = prepare(&shell.ledger, settings, sample).await;
        if is_watched {
            log_level.set(&settings.log_level);
        }
        prepared?;
    } else if is_demo {
        return Err("--demo is of the server edition; add a tenant with duet tenant add".into());
    }
    Ok(books)
}

async fn serve(sample: Option<Sample>, source: &Source, loaded: Loaded, log_level: &LogLevel) -> Result<(), String> {
    let is_demo = sample.is_some();
    let settings = &loaded.settings;
    let books = opened(sample, settings, log_level).await?;
    let certificate = match tls::Files::of(settings) {
        Some(files) => Some(Arc::new(Certificate::read(files)?)),
        None => None,
    };
    let plain = Door { listener: bind(settings.listen)?, certificate: None };
    let secure = match &certificate {
        Some(certificate) => {
            let listener = bind(settings.tls_listen)?;
            Some(Door { listener, certificate: Some(certificate.clone()) })
        }
        None => None,
    };
    let metrics = settings.metrics.told_at().map(bind).transpose()?;
    let place = |door: &Door| place_of(&door.listener);
    let secure_address = secure.as_ref().map(place).transpose()?;
    let current = Current::new(Site::new(settings, &books, signs_in(is_demo)));
    sight::watches(&books, settings);
    let edge = Edge::new(&serving(settings), current.clone());
    let told_at = metrics.as_ref().map(place_of).transpose()?;
    let admin = administration(settings, &books)?;
    // Whoever reads that it listens may stop it at once: it hears that by then.
    let stop = stop_signal()?;
    greet(settings, (place(&plain)?, secure_address, told_at), is_demo, &books).await;

    let (stopping, stopped) = watch::channel(None);
    let _hearing = supervise::vital("what hears the signal to stop", async move {
        stop.await;
        let _nobody_left = stopping.send(Some(Instant::now()));
    });
    let stop = |mut stopped: watch::Receiver<Option<Instant>>| async move {
        let _stopped = stopped.wait_for(Option::is_some).await;
    };
    let running = config::load(source).map_err(|error| error.to_string())?;
    let hangup = signal(SignalKind::hangup()).map_err(|error| error.to_string())?;
    let kept = Reloading { source: source.clone(), hangup, running, demo: signs_in(is_demo) };
    let reloading = reloading(kept, books.clone(), current.clone(), log_level.clone());
    let swept = books.clone();
    let sweeping = supervise::keep("the sweep", move || sweep(swept.clone(), certificate.clone()));
    let (told, teller) = (books.clone(), Teller::new(&settings.telling));
    let telling = {
        let teller = teller.clone();
        // A copy of the books is silent: whoever listens has heard it from the original.
        settings
            .telling
            .enabled
            .then(|| supervise::keep("what tells webhooks", move || teller.clone().tell(told.clone())))
    };
    let days = books.clone();
    let looking = settings
        .days_every
        .map(|every| supervise::keep("the look for new days", move || new_days::look(days.clone(), every)));
    let exporting = supervise::keep("what sends traces and logs", telemetry::goes_on);
    let secured = async {
        if let Some(door) = secure {
            edge.clone().serve(door, stop(stopped.clone())).await;
        }
    };
    let sighted = async {
        if let Some(listener) = metrics {
            aside::serve(listener, |asked: Request| sight::answer(asked.into_parts().0), stop(stopped.clone())).await;
        }
    };
    let administered = async {
        if let Some((door, api)) = admin {
            aside::serve(door.listener, move |asked| api.clone().answer(asked), stop(stopped.clone())).await;
        }
    };
    let silenced = async {
        stop(stopped.clone()).await;
        books.end_news();
    };
    tokio::join!(edge.clone().serve(plain, stop(stopped.clone())), secured, sighted, administered, silenced);
    drop((reloading, sweeping, telling, looking, exporting));
    teller.rests().await;
    telemetry::ends().await;
    let begun = stopped.borrow().unwrap_or_else(Instant::now);
    if timeout_at(begun + settings.shutdown_grace, books.close()).await.is_err() {
        // Whatever was answered is in the database; whoever was not answered asks again with the same key.
        tracing::error!(
            code = "shutdown_forced",
            "the database did not let go within the grace; nothing answered is lost"
        );
    }
    say("stopped");
    Ok(())
}

/// Where administrators of tenants are answered, and by whom; nowhere without a key.
fn administration(settings: &Settings, books: &Arc<Books>) -> Result<Option<(Door, Arc<Api>)>, String> {
    let Some(key) = settings.cloud.admin_key.as_ref().filter(|_| settings.edition == Edition::Cloud) else {
        return Ok(None);
    };
    let door = Door { listener: bind(settings.cloud.admin)?, certificate: None };
    Ok(Some((door, Api::new(books.clone(), key.expose()))))
}

/// The settings of what serves: requests may take most of the grace, and the books have the rest of it.
fn serving(settings: &Settings) -> Settings {
    let rest = (settings.shutdown_grace / 4).min(Duration::from_secs(5));
    Settings { shutdown_grace: settings.shutdown_grace.abs_diff(rest), ..settings.clone() }
}

/// Brings the books of an installation to where they can be served.
async fn prepare(ledger: &Arc<Ledger>, settings: &Settings, sample: Option<Sample>) -> Result<(), String> {
    if settings.auto_migrate {
        ledger.migrate().await.map_err(|error| admin::explain(&error))?;
    } else if ledger.pending_migrations().await.map_err(|error| admin::explain(&error))? > 0 {
        return Err("the database's schema is not up to date; run duet migrate".into());
    }
    ledger.check_master_key().await.map_err(|error| admin::explain(&error))?;
    ledger.keep_numbers().await.map_err(|error| admin::explain(&error))?;
    match sample {
        Some(sample) => {
            // Whoever starts a demo waits for it: its loader is nobody who would keep others waiting.
            ledger.set_write_time(demo::LONG);
            let loaded = demo::load(ledger, sample).await.map_err(|error| admin::explain(&error));
            ledger.set_write_time(settings.write_time);
            loaded
        }
        None => admin::first_start(ledger, settings).await,
    }
}

/// Closes tenants that are idle, looks for a new certificate, tries what failed, and writes down what was counted.
async fn sweep(books: Arc<Books>, certificate: Option<Arc<Certificate>>) {
    let mut look = tokio::time::interval(LOOK);
    for turn in 1_u64.. {
        look.tick().await;
        if turn % 15 == 0 {
            books.write_usage().await;
        }
        if let Some(certificate) = &certificate {
            certificate.look_again();
        }
        books.try_again().await;
        books.close_idle().await;
    }
}

/// Keeps an eye on the configuration.
fn reloading(kept: Reloading, books: Arc<Books>, current: Current, log_level: LogLevel) -> supervise::Kept {
    let kept = Arc::new(tokio::sync::Mutex::new(kept));
    supervise::keep("the look at the configuration", move || {
        let (kept, books, current, log_level) = (kept.clone(), books.clone(), current.clone(), log_level.clone());
        async move { kept.lock().await.reload(books, current, log_level).await }
    })
}

/// Who may be offered to everybody as their user: that of a demo, which listens on loopback only.
fn signs_in(is_demo: bool) -> Option<Demo> {
    is_demo.then_some(Demo { email: demo::EMAIL, password: demo::PASSWORD })
}

/// What the operator needs to know, once requests are taken.
async fn greet(
    settings: &Settings,
    (address, secure, metrics): (SocketAddr, Option<SocketAddr>, Option<SocketAddr>),
    is_demo: bool,
    books: &Books,
) {
    let url = format!("http://{address}");
    let mut lines = vec![format!("listening on {url}")];
    lines.extend(secure.map(|address| format!("{:<15} https://{address}", "and with TLS on")));
    let dialects = &settings.dialects;
    let each = dialects.served().map(|(_, one, base)| (format!("dialect {}", one.letter), base));
    let either = dialects.shared.as_deref().map(|base| ("either dialect".to_owned(), base));
    lines.extend(each.chain(either).map(|(name, base)| format!("{name:<15} {url}{base}")));
    lines.extend(metrics.map(|address| format!("{:<15} http://{address}/metrics", "metrics")));
    // Whoever names no tenant is answered that there is no such host.
    let (pages, host) = match settings.edition {
        Edition::Server => (url.clone(), String::new()),
        Edition::Cloud => {
            let known = books.administered();
            let tenants = match &known {
                Some((known, _)) => known.list().await.unwrap_or_default(),
                None => Vec::new(),
            };
            let host = tenants.first().map_or("HOST", |tenant| tenant.host.as_str());
            lines.push(format!("{:<15} {}", "tenants", tenants.len()));
            (format!("https://{host}"), format!("-H 'Host: {host}' "))
        }
    };
    if front::is_there(dialects) {
        lines.push(format!("{:<15} {pages}/", "console"));
    }
    lines.push(format!("{:<15} {pages}{}", "guide", http_kit::pages::GUIDE));
    lines.push(format!("{:<15} {pages}/swagger", "documentation"));
    if settings.edition == Edition::Server {
        lines.push(format!("{:<15} {}", "database", config::without_password(settings.database.expose())));
    }
    let (name, password) = if is_demo { (demo::EMAIL, demo::PASSWORD) } else { ("EMAIL", "PASSWORD") };
    let login = dialects.served().last().map_or_else(String::new, |(_, one, base)| {
        let (path, field) = (one.login_path, (one.login_name)());
        format!("{url}{base}{path} -d '{{\"{field}\":\"{name}\",\"password\":\"{password}\"}}'")
    });
    lines.push(format!("log in with     curl {host}-H 'Content-Type: application/json' {login}"));
    say(&lines.join("\n"));
}

pub(crate) fn stop_signal() -> Result<impl Future<Output = ()>, String> {
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// What the configuration is looked at with.
struct Reloading {
    source: Source,
    hangup: Signal,
    running: Loaded,
    demo: Option<Demo>,
}

impl Reloading {
    /// Reads the configuration again on SIGHUP or when a file changes. A bad one is told, and changes nothing.
    async fn reload(&mut self, books: Arc<Books>, current: Current, log_level: LogLevel) {
        let Self { source, hangup, running, demo } = self;
        let mut look = tokio::time::interval(LOOK);
        let mut seen = stamps(source);
        loop {
            tokio::select! {
                _ = hangup.recv() => {}
                _ = look.tick() => {
                    let now = stamps(source);
                    if now == seen {
                        continue;
                    }
                    seen = now;
                }
            }
            match config::load(source) {
                Err(error) => {
                    tracing::error!(code = "config_reload_failed", %error, "the configuration stays as it was");
                }
                Ok(new) => {
                    for key in config::restart_needed(running, &new) {
                        tracing::warn!(key, "takes effect at the next start");
                    }
                    let mut settings = new.settings.clone();
                    settings.trusted_proxies.clone_from(&running.settings.trusted_proxies);
                    current.swap(Site::new(&settings, &books, *demo));
                    books.take(&settings);
                    log_level.set(&settings.log_level);
                    tracing::info!("the configuration was read again");
                    *running = new;
                }
            }
        }
    }
}

/// What tells one state of the files from another.
fn stamps(source: &Source) -> Vec<Option<(SystemTime, u64)>> {
    let stamp = |path: PathBuf| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    source.files().into_iter().map(stamp).collect()
}

/// The ledger, for commands that work without a server.
pub(crate) async fn with_ledger<F>(
    source: &Source,
    purpose: Purpose,
    work: impl FnOnce(Arc<Ledger>, Settings) -> F,
) -> ExitCode
where
    F: Future<Output = Result<String, String>>,
{
    with_ledger_at(source, |url| admin::must_be_there(url).map(|()| None), purpose, work).await
}

/// The same, where the database may be reached by another URL, or by none.
pub(crate) async fn with_ledger_at<F>(
    source: &Source,
    by: impl FnOnce(&str) -> Result<Option<String>, String>,
    purpose: Purpose,
    work: impl FnOnce(Arc<Ledger>, Settings) -> F,
) -> ExitCode
where
    F: Future<Output = Result<String, String>>,
{
    let loaded = match config::load(source) {
        Ok(loaded) => loaded,
        Err(error) => return misused(&error.to_string()),
    };
    let settings = match of_tenant(loaded.settings).await {
        Ok(settings) => settings,
        Err(why) => return misused(&why),
    };
    let database = match by(settings.database.expose()) {
        Ok(other) => other.map_or_else(|| settings.database.clone(), Secret::of),
        Err(why) => return failed(&why),
    };
    let settings = Settings { database, ..settings };
    let ledger = match admin::open(&settings, Memory::alone(&settings), purpose).await {
        Ok(ledger) => ledger,
        Err(why) => return failed(&why),
    };
    // Those of a tenant are made when it is, and by nothing else.
    if settings.tenant.is_some()
        && let Err(why) = must_be_books(&ledger).await
    {
        ledger.close().await;
        return failed(&why);
    }
    let outcome = work(ledger.clone(), settings).await;
    ledger.close().await;
    match outcome {
        Ok(text) => {
            say(&text);
            ExitCode::SUCCESS
        }
        Err(why) => failed(&why),
    }
}

/// The settings of the tenant that a command is about, in the cloud edition.
pub(crate) async fn of_tenant(settings: Settings) -> Result<Settings, String> {
    match (&settings.tenant, settings.edition) {
        (None, Edition::Server) => Ok(settings),
        (None, Edition::Cloud) => Err("name the tenant that this is about with --tenant HOST".into()),
        (Some(host), _) => {
            let known = Known::open(&settings).await?;
            let own = known.settings_of(&settings, host).await;
            known.close().await;
            own?.ok_or_else(|| format!("there is no tenant {host}"))
        }
    }
}

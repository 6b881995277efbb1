//! `duet serve`: opens the books, mounts the site, serves until it is told to stop.

use crate::cli::ServeOptions;
use crate::config::{self, Loaded, Settings, Source};
use crate::console::{failed, misused, say, warn};
use crate::listener::{self, Current};
use crate::logging::{self, LogLevel};
use crate::mount::Site;
use crate::{admin, demo};
use http_kit::handler::Shell;
use http_kit::quota::Quotas;
use http_kit::request::Limits;
use ledger_core::ledger::Ledger;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

pub(crate) async fn run(options: ServeOptions) -> ExitCode {
    let demo_folder = match options.demo.then(demo::Folder::make).transpose() {
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
    if options.demo && !loaded.settings.listen.ip().is_loopback() {
        return misused("--demo has a well-known password and listens on loopback only");
    }
    let log_level = logging::start(&loaded.settings);
    for warning in &loaded.warnings {
        warn(warning);
    }
    match serve(options.demo, &source, loaded, &log_level).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => failed(&why),
    }
}

async fn serve(is_demo: bool, source: &Source, loaded: Loaded, log_level: &LogLevel) -> Result<(), String> {
    let settings = &loaded.settings;
    let ledger = admin::open(settings).await?;
    if settings.auto_migrate {
        ledger.migrate().await.map_err(|error| admin::explain(&error))?;
    } else if ledger.pending_migrations().await.map_err(|error| admin::explain(&error))? > 0 {
        return Err("the database's schema is not up to date; run duet migrate".into());
    }
    if is_demo {
        demo::load(&ledger).await.map_err(|error| admin::explain(&error))?;
    } else {
        admin::first_start(&ledger, settings).await?;
    }
    let listener = TcpListener::bind(settings.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", settings.listen))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let quotas = Quotas::new(settings.requests_per_minute, settings.requests_at_once);
    let shell = Arc::new(Shell { ledger: ledger.clone(), limits: limits(settings), quotas });
    let current = Current::new(Site::new(settings, &shell));
    greet(settings, &address.to_string(), is_demo);

    let stop = stop_signal()?;
    let reloading =
        tokio::spawn(reload(source.clone(), loaded_again(source)?, shell, current.clone(), log_level.clone()));
    listener::serve(listener, settings, current, stop).await;
    reloading.abort();
    ledger.close().await;
    say("stopped");
    Ok(())
}

fn limits(settings: &Settings) -> Limits {
    Limits { body: settings.body_limit, body_idle: settings.body_idle, request: settings.request_timeout }
}

fn loaded_again(source: &Source) -> Result<Loaded, String> {
    config::load(source).map_err(|error| error.to_string())
}

/// What the operator needs to know, once requests are taken.
fn greet(settings: &Settings, address: &str, is_demo: bool) {
    let url = format!("http://{address}");
    let mut lines = vec![format!("listening on {url}")];
    let dialects = &settings.dialects;
    for (name, base) in [("dialect A", &dialects.a), ("dialect B", &dialects.b), ("either dialect", &dialects.shared)] {
        lines.extend(base.as_ref().map(|base| format!("{name:<15} {url}{base}")));
    }
    lines.push(format!("{:<15} {url}/swagger", "documentation"));
    lines.push(format!("{:<15} {}", "database", config::without_password(settings.database.expose())));
    let (name, password) = if is_demo { (demo::EMAIL, demo::PASSWORD) } else { ("EMAIL", "PASSWORD") };
    let login = match (&dialects.b, &dialects.a) {
        (Some(base), _) => format!("{url}{base}/auth/login -d '{{\"email\":\"{name}\",\"password\":\"{password}\"}}'"),
        (None, Some(base)) => {
            format!("{url}{base}/Users/login -d '{{\"credential\":\"{name}\",\"password\":\"{password}\"}}'")
        }
        (None, None) => String::new(),
    };
    lines.push(format!("log in with     curl -H 'Content-Type: application/json' {login}"));
    say(&lines.join("\n"));
}

fn stop_signal() -> Result<impl Future<Output = ()>, String> {
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

/// Reads the configuration again on SIGHUP or when a file changes. A bad one is told, and changes nothing.
async fn reload(source: Source, mut running: Loaded, shell: Arc<Shell>, current: Current, log_level: LogLevel) {
    let Ok(mut hangup) = signal(SignalKind::hangup()) else { return };
    let mut look = tokio::time::interval(LOOK);
    let mut seen = stamps(&source);
    loop {
        tokio::select! {
            _ = hangup.recv() => {}
            _ = look.tick() => {
                let now = stamps(&source);
                if now == seen {
                    continue;
                }
                seen = now;
            }
        }
        match config::load(&source) {
            Err(error) => tracing::error!(code = "config_reload_failed", %error, "the configuration stays as it was"),
            Ok(new) => {
                for key in config::restart_needed(&running, &new) {
                    tracing::warn!(key, "takes effect at the next start");
                }
                let mut settings = new.settings.clone();
                settings.trusted_proxies.clone_from(&running.settings.trusted_proxies);
                current.swap(Site::new(&settings, &shell));
                shell.ledger.set_token_lifetime(settings.token_lifetime);
                shell.quotas.set_per_minute(settings.requests_per_minute);
                log_level.set(&settings.log_level);
                tracing::info!("the configuration was read again");
                running = new;
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
pub(crate) async fn with_ledger<F>(source: &Source, work: impl FnOnce(Arc<Ledger>, Settings) -> F) -> ExitCode
where
    F: Future<Output = Result<String, String>>,
{
    let loaded = match config::load(source) {
        Ok(loaded) => loaded,
        Err(error) => return misused(&error.to_string()),
    };
    let ledger = match admin::open(&loaded.settings).await {
        Ok(ledger) => ledger,
        Err(why) => return failed(&why),
    };
    let outcome = work(ledger.clone(), loaded.settings).await;
    ledger.close().await;
    match outcome {
        Ok(text) => {
            say(&text);
            ExitCode::SUCCESS
        }
        Err(why) => failed(&why),
    }
}

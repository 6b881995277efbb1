//! The log: one line an event, on standard error, as text for people and JSON for machines.

use crate::config::{LogFormat, Settings};
use crate::log_lines::Lines;
use crate::sight::telemetry;
use std::io::IsTerminal;
use std::time::Duration;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt, reload};

/// Changes what is logged while the server runs.
#[derive(Clone)]
pub(crate) struct LogLevel(reload::Handle<EnvFilter, Registry>);

impl LogLevel {
    /// While somebody watches the bar of a demo, they are told of faults alone.
    pub(crate) fn hush(&self) {
        self.filter(EnvFilter::new("warn"));
    }

    pub(crate) fn set(&self, level: &str) {
        self.filter(filter(level));
    }

    fn filter(&self, filter: EnvFilter) {
        if let Err(error) = self.0.reload(filter) {
            tracing::warn!(%error, "the log level could not be changed");
        }
    }
}

/// The libraries speak at warn and above; the statements they run may hold what nobody should read. The log of security
/// speaks always, but while a demo is made before somebody's eyes.
fn filter(level: &str) -> EnvFilter {
    let ours = [
        "duet",
        "books",
        "documents",
        "http_kit",
        "kit",
        "launcher",
        "ledger_core",
        "masters",
        "postgres_kit",
        "reports",
        "rules",
        "schema",
        "sqlite_kit",
    ]
    .map(|name| format!("{name}={level}"));
    EnvFilter::new(format!("warn,tokio_postgres=error,{}=info,{}", ledger_core::security::TARGET, ours.join(",")))
}

/// Whether something goes to whoever looks at security.
pub(crate) fn is_of_security(metadata: &tracing::Metadata<'_>) -> bool {
    metadata.target() == ledger_core::security::TARGET
}

/// The log of a server that runs. Its end waits for the lines that wait, but not for whoever does not read them.
pub(crate) struct Log {
    pub(crate) level: LogLevel,
    lines: Lines,
}

/// So long at the end.
const FAREWELL: Duration = Duration::from_secs(1);

impl Drop for Log {
    fn drop(&mut self) {
        self.lines.finish(FAREWELL);
    }
}

pub(crate) fn start(settings: &Settings) -> std::io::Result<Log> {
    let (filter, handle) = reload::Layer::new(filter(&settings.log_level));
    let as_json = match settings.log_format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !std::io::stderr().is_terminal(),
    };
    let lines = Lines::written_to(std::io::stderr)?;
    let written = fmt::layer().with_writer(lines.clone());
    let colours = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    let written = if as_json {
        written.json().flatten_event(true).boxed()
    } else {
        written.with_target(false).with_ansi(colours).boxed()
    };
    // Started once a process; a second start keeps the first.
    let _started = tracing_subscriber::registry().with(filter).with(written).with(telemetry::Lines).try_init();
    Ok(Log { level: LogLevel(handle), lines })
}

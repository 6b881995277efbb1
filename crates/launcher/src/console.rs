//! What the program says to the person at the terminal, as opposed to the log.

use std::io::Write;
use std::process::ExitCode;

pub(crate) fn say(text: &str) {
    // A closed pipe is no reason to stop: nobody listens any more.
    let _closed = writeln!(std::io::stdout(), "{text}").and_then(|()| std::io::stdout().flush());
}

fn complain(text: &str) {
    let _closed = writeln!(std::io::stderr(), "{text}");
}

pub(crate) fn warn(text: &str) {
    complain(&format!("warning: {text}"));
}

/// Exit code 1: it was tried and failed.
pub(crate) fn failed(text: &str) -> ExitCode {
    complain(&format!("error: {text}"));
    ExitCode::from(1)
}

/// Exit code 2: it was not tried, because what was asked for makes no sense.
pub(crate) fn misused(text: &str) -> ExitCode {
    complain(&format!("error: {text}"));
    ExitCode::from(2)
}

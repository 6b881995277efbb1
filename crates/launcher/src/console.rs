//! What the program says to the person at the terminal, as opposed to the log.

use anstyle::{AnsiColor, Style};
use std::io::{self, Write};
use std::process::ExitCode;

const FAULT: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

pub(crate) fn say(text: &str) {
    // A closed pipe is no reason to stop: nobody listens any more.
    let _closed = writeln!(io::stdout(), "{text}").and_then(|()| io::stdout().flush());
}

/// In colour where a terminal shows colours, and nobody said `NO_COLOR`.
fn complain(style: Style, word: &str, text: &str) {
    let _closed = writeln!(anstream::stderr(), "{style}{word}:{style:#} {text}");
}

/// Standard output for what is long. Whoever stops reading has what they wanted: the rest is not written, and nothing is wrong.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) is_closed: bool,
}

impl Page {
    fn judged<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        self.is_closed |= done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        done
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = io::stdout().write(bytes);
        self.judged(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = io::stdout().flush();
        self.judged(done)
    }
}

pub(crate) fn warn(text: &str) {
    complain(WARNING, "warning", text);
}

/// Exit code 1: it was tried and failed.
pub(crate) fn failed(text: &str) -> ExitCode {
    complain(FAULT, "error", text);
    ExitCode::from(1)
}

/// Exit code 2: it was not tried, because what was asked for makes no sense.
pub(crate) fn misused(text: &str) -> ExitCode {
    complain(FAULT, "error", text);
    ExitCode::from(2)
}

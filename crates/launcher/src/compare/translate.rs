//! `duet translate`: requests of one dialect in the words of the other. The text goes where it can be piped on, and what is
//! to be said about it beside that.

use super::sides::{Letter, built_in};
use crate::cli::Common;
use crate::config;
use crate::console::{failed, misused, say};
use crate::dialects::SPOKEN;
use clap::Args;
use compare::translate::{Edited, Translator};
use std::collections::HashSet;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Args, Clone)]
pub(crate) struct TranslateOptions {
    #[command(flatten)]
    common: Common,
    /// A script with curl commands, as one word in quotes; standard input when absent
    #[arg(value_name = "COMMAND", conflicts_with = "file")]
    command: Option<String>,
    /// A script with curl commands, a file of requests (.http), a HAR or a Postman collection
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The dialect to move to: the other one than the first request is of, when absent
    #[arg(long, value_enum, conflicts_with_all = ["json", "har", "neutral"])]
    to: Option<Letter>,
    /// Each command as JSON, for programs
    #[arg(long, conflicts_with = "har")]
    json: bool,
    /// Each command as an entry of a HAR
    #[arg(long)]
    har: bool,
    /// As requests without a dialect, a line each, for duet compare --file
    #[arg(long, conflicts_with_all = ["json", "har"])]
    neutral: bool,
}

pub(crate) fn run(options: &TranslateOptions) -> ExitCode {
    let text = match given(options) {
        Ok(text) => text,
        Err(why) => return misused(&why),
    };
    let dialects = match config::load(&options.common.source(Vec::new())) {
        Ok(loaded) => loaded.settings.dialects,
        Err(error) => return misused(&error.to_string()),
    };
    // Also where only one of them is served: whoever moves needs the other.
    let built = SPOKEN.iter().map(|one| built_in(one, &dialects.base_of(one)).map(Arc::new));
    let translator = built
        .collect::<Result<Vec<_>, String>>()
        .map(|each| Translator { dialects: each, shared: dialects.shared.clone().or(Some("/api".into())) });
    let translator = match translator {
        Ok(translator) => translator,
        Err(why) => return failed(&why),
    };
    if !(options.json || options.har || options.neutral) {
        let to = options.to.and_then(|letter| SPOKEN.iter().position(|one| one.letter == letter.spoken().letter));
        return match translator.edit(&text, to, usize::MAX) {
            Ok(edited) => told(&edited),
            Err(why) => failed(&why),
        };
    }
    let translated = match translator.translate(&text, usize::MAX) {
        Ok(translated) => translated,
        Err(why) => return failed(&why),
    };
    if options.json {
        say(&serde_json::to_string_pretty(&translated).unwrap_or_default());
    } else if options.har {
        say(&serde_json::to_string_pretty(&Translator::har(&translated)).unwrap_or_default());
    } else {
        for one in &translated {
            say(&serde_json::to_string(&one.neutral).unwrap_or_default());
        }
    }
    ExitCode::SUCCESS
}

/// It is translated, and somebody has to look at some of it.
const TO_BE_LOOKED_AT: u8 = 3;

/// Prints the text, to the letter, and beside it what became of each request. What is different everywhere is said once.
fn told(edited: &Edited) -> ExitCode {
    let mut out = std::io::stdout().lock();
    let ends = edited.text.is_empty() || edited.text.ends_with('\n');
    let _closed = out.write_all(edited.text.as_bytes()).and_then(|()| out.write_all(if ends { b"" } else { b"\n" }));
    let mut said = HashSet::new();
    let mut lines = Vec::new();
    for one in &edited.told {
        if !one.operation.is_empty() {
            lines.push(format!("line {}: {}, {} to {}", one.line, one.operation, one.from, one.to));
        }
        lines.extend(one.warnings.iter().map(|warning| format!("line {}: look at this: {warning}", one.line)));
        lines.extend(one.notes.iter().filter(|note| said.insert(*note)).map(|note| format!("    {note}")));
    }
    for line in lines {
        let _closed = writeln!(std::io::stderr(), "{line}");
    }
    if edited.already > 0 || edited.told.iter().any(|one| !one.operation.is_empty()) {
        let has_warnings = edited.told.iter().any(|one| !one.warnings.is_empty());
        return if has_warnings { ExitCode::from(TO_BE_LOOKED_AT) } else { ExitCode::SUCCESS };
    }
    failed("there is no request of either dialect that could be translated")
}

fn given(options: &TranslateOptions) -> Result<String, String> {
    if let Some(command) = &options.command {
        return Ok(command.clone());
    }
    if let Some(path) = &options.file {
        return std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| format!("cannot read the command: {error}"))?;
    Ok(text)
}

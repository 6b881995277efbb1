//! `duet translate`: a request of one dialect in the words of the other.

use super::sides::built_in;
use crate::cli::Common;
use crate::config;
use crate::console::{failed, misused, say};
use crate::dialects::SPOKEN;
use clap::Args;
use compare::translate::Translator;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Args, Clone)]
pub(crate) struct TranslateOptions {
    #[command(flatten)]
    common: Common,
    /// A curl command, as one word in quotes; standard input when absent
    #[arg(value_name = "COMMAND", conflicts_with = "file")]
    command: Option<String>,
    /// A file with curl commands, or a HAR
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// As JSON, for programs
    #[arg(long, conflicts_with = "har")]
    json: bool,
    /// As a HAR
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
    let translated = match translator.and_then(|translator| translator.translate(&text, usize::MAX)) {
        Ok(translated) => translated,
        Err(why) => return failed(&why),
    };
    if options.json {
        say(&serde_json::to_string_pretty(&translated).unwrap_or_default());
    } else if options.har {
        say(&serde_json::to_string_pretty(&Translator::har(&translated)).unwrap_or_default());
    } else {
        for one in &translated {
            if options.neutral {
                say(&serde_json::to_string(&one.neutral).unwrap_or_default());
                continue;
            }
            let comment = |note: &String| format!("# {note}\n");
            let notes: String = one.notes.iter().map(comment).collect();
            say(&format!("# {} to {}: {}\n{notes}{}\n", one.from, one.to, one.operation, one.curl));
        }
    }
    ExitCode::SUCCESS
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

//! `duet init`: asks what a new server needs, writes its configuration, and makes its first user.
//!
//! What is answered is judged by the configuration's own rules, so that nothing is written that `duet serve` would refuse.

use crate::admin::{self, Memory};
use crate::cli::InitOptions;
use crate::config::{self, Source};
use crate::console::{failed, misused, say, warn};
use crate::private;
use ledger_core::auth::NewUser;
use ledger_core::database::Purpose;
use ledger_core::texts::is_email;
use serde_json::{Map, Value, json};
use std::io::{BufRead, IsTerminal, Write, stderr, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is asked: the key that it becomes, the question, and what is meant where nothing is said.
const QUESTIONS: [(&str, &str, &str); 4] = [
    ("Data", "Folder of the books", "./data"),
    (
        "ConnectionStrings:Default",
        "Database: a file in that folder (empty), or postgres://USER:PASSWORD@HOST/DATABASE",
        "",
    ),
    ("Urls", "Address to listen on", "http://127.0.0.1:5000"),
    ("Dialect", "Dialects: A (company in the path), B (company in a header), or Both", "Both"),
];

const EMAIL: &str = "Bootstrap:Email";
const PASSWORD: &str = "Bootstrap:Password";

/// Asks at a terminal, where there is one to ask at.
struct Asking {
    is_there: bool,
}

impl Asking {
    fn line(question: &str, default: &str) -> Result<String, String> {
        let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
        let written = write!(stderr(), "{question}{shown}: ").and_then(|()| stderr().flush());
        written.map_err(|error| format!("cannot ask: {error}"))?;
        let mut line = String::new();
        let read = stdin().lock().read_line(&mut line).map_err(|error| format!("cannot read the answer: {error}"))?;
        if read == 0 {
            return Err("the answers ended; nothing was made".into());
        }
        let said = line.trim();
        Ok(if said.is_empty() { default.to_owned() } else { said.to_owned() })
    }

    /// What is said of a key, asked again until it is good; without a terminal the default.
    fn ask(&self, source: &Source, key: &str, question: &str, default: &str) -> Result<String, String> {
        if !self.is_there {
            return Ok(default.to_owned());
        }
        loop {
            let said = Self::line(question, default)?;
            match fault(source, key, &said) {
                None => return Ok(said),
                Some(why) => warn(&why),
            }
        }
    }

    /// A password that nobody sees, twice; nothing where one is to be made.
    fn password() -> Result<Option<String>, String> {
        let ask = |question: &str| rpassword::prompt_password(question).map_err(|error| format!("cannot ask: {error}"));
        loop {
            let said = ask("Password of the first user (empty: one is made): ")?;
            if said.is_empty() {
                return Ok(None);
            }
            if said == ask("The same again: ")? {
                return Ok(Some(said));
            }
            warn("those were two different passwords");
        }
    }
}

/// A configuration in which this is said as well.
fn with(source: &Source, key: &str, said: &str) -> Source {
    let mut source = source.clone();
    if !said.is_empty() {
        source.overrides.push((key.to_owned(), said.to_owned()));
    }
    source
}

/// What is wrong with a configuration in which this is said as well.
fn fault(source: &Source, key: &str, said: &str) -> Option<String> {
    // Of a server with users nobody reads it again, so no configuration is refused for it.
    if key == EMAIL && !is_email(said.trim()) {
        return Some(format!("{said:?} must be an e-mail address"));
    }
    config::load(&with(source, key, said)).err().map(|error| error.to_string())
}

/// Puts a value where its key says, section by section.
fn put(place: &mut Map<String, Value>, key: &str, value: &str) {
    match key.split_once(':') {
        None => drop(place.insert(key.to_owned(), value.into())),
        Some((section, rest)) => {
            if let Value::Object(inner) = place.entry(section).or_insert_with(|| json!({})) {
                put(inner, rest, value);
            }
        }
    }
}

/// The file of what somebody says.
fn file(said: &[(&str, String)]) -> String {
    let mut whole = Map::new();
    for (key, value) in said {
        put(&mut whole, key, value);
    }
    let text = format!("{:#}", Value::Object(whole));
    format!("// What differs from appsettings.json, where every key stands with its default.\n{text}\n")
}

/// Where the file goes: where it is said, else beside whoever sets up.
fn place(folder: Option<&PathBuf>) -> PathBuf {
    folder.map_or_else(|| Path::new(config::HERE).to_owned(), Clone::clone).join(config::CUSTOM)
}

pub(crate) async fn run(options: InitOptions) -> ExitCode {
    let place = place(options.common.config.as_ref());
    if place.exists() {
        return misused(&format!(
            "{} is there already: change it, or name another folder with --config",
            place.display()
        ));
    }
    let asking = Asking { is_there: stdin().is_terminal() && stderr().is_terminal() };
    let said = match answers(&options, &asking) {
        Ok(said) => said,
        Err(why) => return misused(&why),
    };
    match make(&said, &place).await {
        Ok(text) => {
            say(&text);
            ExitCode::SUCCESS
        }
        Err(why) => failed(&why),
    }
}

/// All that was said, by flags or by answers.
struct Said {
    source: Source,
    /// What differs from the defaults.
    kept: Vec<(&'static str, String)>,
    email: String,
    password: Option<String>,
}

fn answers(options: &InitOptions, asking: &Asking) -> Result<Said, String> {
    let dialect = options.dialect.map(|dialect| dialect.word().to_owned());
    let flags = [options.common.data.clone(), options.common.database.clone(), options.listen.clone(), dialect];
    let mut source = Source { dir_may_come: true, ..options.common.source(Vec::new()) };
    let mut kept = Vec::new();
    for ((key, question, default), flag) in QUESTIONS.into_iter().zip(flags) {
        let said = match flag {
            Some(said) => said,
            None => asking.ask(&source, key, question, default)?,
        };
        if let Some(why) = fault(&source, key, &said) {
            return Err(why);
        }
        source = with(&source, key, &said);
        if !said.is_empty() && said != default {
            kept.push((key, said));
        }
    }
    let email = match &options.email {
        Some(email) => email.clone(),
        None if asking.is_there => asking.ask(&source, EMAIL, "E-mail of the first user", "admin@localhost")?,
        None => return Err("nobody can be asked here: say --email, the address of the first user".into()),
    };
    let password = if options.password_stdin {
        Some(admin::password(true)?.0)
    } else if asking.is_there {
        Asking::password()?
    } else {
        None
    };
    // What the bootstrap of a server would refuse is refused here.
    for (key, said) in [(EMAIL, Some(&email)), (PASSWORD, password.as_ref())] {
        if let Some(why) = said.and_then(|said| fault(&source, key, said)) {
            return Err(why);
        }
    }
    Ok(Said { source, kept, email, password })
}

/// Makes the books, their first user, and the file, which comes last: what was cut off begins anew.
async fn make(said: &Said, place: &Path) -> Result<String, String> {
    let settings = config::load(&said.source).map_err(|error| error.to_string())?.settings;
    let ledger = admin::open(&settings, Memory::alone(&settings), Purpose::Writing).await?;
    let made = async {
        ledger.migrate().await.map_err(|error| admin::explain(&error))?;
        let user = NewUser {
            display_name: said.email.clone(),
            email: said.email.clone(),
            username: None,
            password: String::new(),
            must_change_password: false,
            is_system_admin: true,
        };
        let made = ledger.bootstrap(user, said.password.clone()).await.map_err(|error| admin::explain(&error))?;
        made.ok_or_else(|| "these books have users already; nothing was changed".to_owned())
    };
    let made = made.await;
    ledger.close().await;
    let made = made?;
    let folder = place.parent().unwrap_or_else(|| Path::new("."));
    private::make_folder(folder)?;
    private::replace(place, file(&said.kept).as_bytes())
        .map_err(|error| format!("made the user, but cannot write {}: {error}", place.display()))?;
    let mut text = format!("wrote {}\nmade the user {}", place.display(), made.user.email);
    if made.password_made {
        text.push_str(&format!("\n{}", admin::told_once(&settings.data, &made.user.email, &made.user.password)));
    }
    text.push_str(&format!("\n\nnow: duet serve{}", serving(place)));
    Ok(text)
}

/// What the next command is told, where it would not look by itself.
fn serving(place: &Path) -> String {
    match place.parent() {
        Some(folder) if folder != Path::new(config::HERE) => format!(" --config {}", folder.display()),
        Some(_) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_was_said_each_in_its_section() {
        let written = file(&[
            ("Urls", "http://127.0.0.1:1".into()),
            ("ConnectionStrings:Default", "sqlite:\"x\".db".into()),
            ("Dialects:A:Prefix", "/v1".into()),
            ("Dialects:B:Prefix", "/v2".into()),
        ]);
        let (comment, json) = written.split_once('\n').unwrap();
        assert!(comment.starts_with("// "));
        let told: Value = serde_json::from_str(json).unwrap();
        assert_eq!(
            told,
            json!({
                "Urls": "http://127.0.0.1:1", "ConnectionStrings": {"Default": "sqlite:\"x\".db"},
                "Dialects": {"A": {"Prefix": "/v1"}, "B": {"Prefix": "/v2"}}
            })
        );
    }

    #[test]
    fn every_question_is_of_a_key_whose_default_is_the_configurations_own() {
        let source = Source::default();
        for (key, _, default) in QUESTIONS {
            assert_eq!(fault(&source, key, default), None, "{key}");
            assert!(fault(&source, key, "\u{0}").is_some() || key == "Data", "{key} takes anything");
        }
        let bare = config::load(&source).unwrap().settings;
        let said = QUESTIONS.into_iter().fold(source, |source, (key, _, default)| with(&source, key, default));
        let said = config::load(&said).unwrap().settings;
        assert_eq!((said.data, said.listen), (bare.data, bare.listen));
    }
}

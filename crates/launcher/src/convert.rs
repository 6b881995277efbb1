//! `duet convert` and `duet copy-database`: books come into a new database.
//!
//! The old books are only read. The new database is marked as unfinished until all of them are there and proved; whatever
//! ends the process in between, the next run begins anew.

use crate::admin::{self, Memory, explain};
use crate::config::{self, Settings, Source};
use crate::console::{failed, misused, say, warn};
use crate::{private, serve};
use config::Secret;
use convert::{Hand, Place, Seals, Taken, Written};
use ledger_core::books::verify::Progress;
use ledger_core::clock::{Clock, Instant};
use ledger_core::database::Purpose;
use ledger_core::fault::said;
use ledger_core::keys::Keys;
use ledger_core::ledger::{Kept, Ledger, Off, Sealer};
use sea_orm::DbErr;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// What is to be brought over, and whose it is.
pub(crate) struct Asked {
    pub(crate) old: String,
    pub(crate) new: String,
    /// The file of the old master key.
    pub(crate) old_key: Option<PathBuf>,
    /// Whether books that never had seals are sealed as they stand.
    pub(crate) seal_old_books: bool,
}

/// All is there, and something of what was there is to be set right.
const TO_BE_SET_RIGHT: u8 = 3;

/// Checks that tell where functions of these books differ from what others posted once.
const OF_FUNCTIONS: [char; 4] = ['S', 'A', 'T', 'L'];

/// What came of it.
struct Done {
    told: String,
    differs: bool,
}

/// The settings of the books that come to be.
async fn settings_of(source: &Source, new: &str) -> Result<Settings, String> {
    let loaded = config::load(source).map_err(|error| error.to_string())?;
    let settings = serve::of_tenant(loaded.settings).await?;
    Ok(Settings { database: Secret::of(new.to_owned()), ..settings })
}

pub(crate) async fn run(source: &Source, asked: Asked) -> ExitCode {
    ended(match settings_of(source, &asked.new).await {
        Ok(settings) => convert(&settings, &asked).await,
        Err(why) => return misused(&why),
    })
}

pub(crate) async fn copy(source: &Source, (from, to): (String, String)) -> ExitCode {
    ended(match settings_of(source, &to).await {
        Ok(settings) => copied(&settings, &from, &shows()).await,
        Err(why) => return misused(&why),
    })
}

fn ended(done: Result<Done, String>) -> ExitCode {
    match done {
        Ok(Done { told, differs: false }) => {
            say(&told);
            ExitCode::SUCCESS
        }
        Ok(Done { told, differs: true }) => {
            say(&told);
            ExitCode::from(TO_BE_SET_RIGHT)
        }
        Err(why) => failed(&why),
    }
}

/// Shows how far it has got: on a terminal as a bar, else a line when a table is over.
pub(crate) fn shows() -> impl Fn(&str, i64, i64) + Send + Sync {
    let is_terminal = std::io::stderr().is_terminal();
    move |table: &str, done: i64, all: i64| {
        let mut to = std::io::stderr().lock();
        let filled = if all == 0 { 20 } else { usize::try_from(done * 20 / all).unwrap_or(20).min(20) };
        let whole = done >= all;
        let _nobody_looks = match (is_terminal, whole) {
            (true, _) => {
                let bar = "#".repeat(filled);
                write!(to, "\r{table:<20} [{bar:<20}] {done} of {all}   {}", if whole { "\n" } else { "" })
            }
            (false, true) if all > 0 => writeln!(to, "{table}: {done}"),
            (false, _) => Ok(()),
        };
    }
}

/// Seals what goes over.
struct Sealing(Sealer);

impl Hand for Sealing {
    fn seal(&mut self, table: &str, row: &Written, beside: &[Written]) -> Result<Option<Vec<u8>>, DbErr> {
        self.0.seal(table, row, beside).map_err(|error| DbErr::Custom(explain(&error)))
    }
}

/// A file that is gone when nobody needs it any more.
struct Scratch(PathBuf);

impl Scratch {
    fn beside(settings: &Settings) -> Result<Self, String> {
        private::make_folder(&settings.data)?;
        let own = Self(settings.data.join("conversion.scratch"));
        own.remove();
        Ok(own)
    }

    fn url(&self) -> String {
        format!("sqlite:{}", self.0.display())
    }

    fn remove(&self) {
        for suffix in ["", "-wal", "-shm", "-turn", "-server"] {
            let mut name = self.0.as_os_str().to_owned();
            name.push(suffix);
            let _not_there = std::fs::remove_file(Path::new(&name));
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.remove();
    }
}

/// The master keys that old books may be under, where they say whose they are.
fn candidates(settings: &Settings, asked: &Asked) -> Result<Vec<Vec<u8>>, String> {
    if let Some(path) = &asked.old_key {
        let key = private::secret(path)?;
        return Ok(vec![key.ok_or_else(|| format!("there is no key in {}", path.display()))?]);
    }
    let mut keys: Vec<Vec<u8>> = settings.master_key.iter().map(|key| key.expose().to_vec()).collect();
    let beside = asked.old.strip_prefix("sqlite:").map(|path| Path::new(path.trim_start_matches("//")));
    for folder in [Some(settings.data.as_path()), beside.and_then(Path::parent)].into_iter().flatten() {
        for name in ["master-key", "token-secret"] {
            keys.extend(private::secret(&folder.join(name))?);
        }
    }
    Ok(keys)
}

/// The master key of the new books: their own where they have one, else that of the old ones, else one that is made.
fn key_of_new(settings: &Settings, old: Option<&[u8]>) -> Result<Vec<u8>, String> {
    if let Some(key) = &settings.master_key {
        return Ok(key.expose().to_vec());
    }
    let place = settings.data.join("master-key");
    if let Some(key) = private::secret(&place)? {
        return Ok(key);
    }
    let key = match old {
        Some(key) => key.to_vec(),
        None => ledger_core::ids::random_secret().map_err(|error| explain(&error))?,
    };
    private::keep_secret(&place, &key)
}

async fn open(settings: &Settings, url: &str, purpose: Purpose, key: &[u8]) -> Result<Arc<Ledger>, String> {
    let settings = Settings { database: Secret::of(url.to_owned()), ..settings.clone() };
    // Nobody signs in meanwhile.
    let nobody = ledger_core::ids::random_secret().map_err(|error| explain(&error))?;
    admin::open_with(&settings, Memory::alone(&settings), purpose, (nobody, key, false)).await
}

async fn convert(settings: &Settings, asked: &Asked) -> Result<Done, String> {
    let begun = Clock::system().now();
    let shown = shows();
    let old = Place::reading(&asked.old).await.map_err(|error| said(&error))?;
    let new = Place::writing(&asked.new).await.map_err(|error| said(&error))?;
    if convert::remove_unfinished(&new).await.map_err(|error| said(&error))? {
        warn("an earlier run was interrupted; the new database is begun anew");
    }
    let file = Scratch::beside(settings)?;
    let scratch = Place::scratch(&file.0).await.map_err(|error| said(&error))?;
    let taken = convert::take(&old, &scratch, &shown).await.map_err(|error| said(&error))?;
    let Proved { key: old_key, by_seals } = proved(settings, asked, &scratch, &taken).await?;
    convert::step_up(&scratch, &taken).await.map_err(|error| said(&error))?;
    scratch.close().await.map_err(|error| said(&error))?;
    let digests = digests_of(settings, &file, old_key.as_deref(), by_seals).await?;

    let key = key_of_new(settings, old_key.as_deref())?;
    let first = old_key.as_deref().unwrap_or(&key);
    let mut sealing = Sealing(Sealer::of(&Keys::of(first)).map_err(|error| explain(&error))?);
    let scratch = Place::reading(&file.url()).await.map_err(|error| said(&error))?;
    let kept = convert::put(&scratch, &new, Seals::Made(&mut sealing), &shown).await.map_err(|error| said(&error))?;
    scratch.close().await.map_err(|error| said(&error))?;
    new.close().await.map_err(|error| said(&error))?;
    drop(file);

    let url = crate::reseal::named(&asked.new).unwrap_or_else(|| asked.new.clone());
    let ledger = open(settings, &url, Purpose::Serving, first).await?;
    let signed = ledger.sign_converted(sealing.0).await.map_err(|error| explain(&error));
    let hidden = ledger.hide_what_was_plain().await.map_err(|error| explain(&error));
    let resealed = if key == first || signed.is_err() {
        Ok(0)
    } else {
        let progress = Arc::new(|text: &str| say(text));
        ledger.reseal(Keys::of(&key), progress).await.map(|done| done.without_codes).map_err(|error| explain(&error))
    };
    ledger.close().await;
    signed.and(hidden)?;
    if resealed? > 0 {
        warn("recovery codes are void under another master key; people make new ones with their password");
    }
    let mut done = judged(settings, &url, &key, &digests).await?;
    compared(&old, &asked.new).await?;
    old.close().await.map_err(|error| said(&error))?;
    let took = seconds_since(begun);
    let (rows, tables) = (kept.rows, kept.tables);
    done.told = format!(
        "{rows} rows of {tables} tables came over from {} in {took} s; every figure of every day is what it was\n{}",
        taken.version, done.told
    );
    Ok(done)
}

/// What the old books are known by.
struct Proved {
    /// Their master key, where they have one.
    key: Option<Vec<u8>>,
    /// Whether each row is what their own server wrote.
    by_seals: bool,
}

/// That the old books are what their own server wrote. Where nothing in them says so, whoever runs this does: what a
/// database says of itself (that it is old, that it belongs to nobody) is what somebody with the file would write there.
async fn proved(settings: &Settings, asked: &Asked, scratch: &Place, taken: &Taken) -> Result<Proved, String> {
    let is_of = async |key: &[u8]| {
        let is_of = ledger_core::ledger::is_of(scratch.database(), &Keys::of(key)).await;
        is_of.map_err(|error| explain(&error))
    };
    let mut key = None;
    for one in candidates(settings, asked)? {
        if is_of(&one).await? == Some(true) {
            key = Some(one);
            break;
        }
    }
    if key.is_none() && is_of(b"nobody's").await?.is_some() {
        return Err("the old books are under a master key that is not here: name its file with --old-key".into());
    }
    if let (Some(key), true) = (&key, taken.sealed) {
        let findings = ledger_core::ledger::prove(scratch.database(), &Keys::of(key), &taken.columns).await;
        let findings = findings.map_err(|error| explain(&error))?;
        if findings.is_empty() {
            return Ok(Proved { key: Some(key.clone()), by_seals: true });
        }
        if !findings.iter().any(|one| one.contains("nothing in these books is sealed")) {
            return Err(format!(
                "the old books are not as they were written, and nothing is brought over:\n  {}",
                findings.join("\n  ")
            ));
        }
    }
    if asked.seal_old_books {
        return Ok(Proved { key, by_seals: false });
    }
    Err(format!(
        "nothing in the old books proves what they say (their last step is {}): where they are of a release that had no \
         seals, --seal-old-books takes them as they stand; else somebody took the seals off",
        taken.version
    ))
}

type Digests = BTreeMap<ledger_core::ids::BusinessId, String>;

/// The digest of each old ledger, once its chains were proved.
async fn digests_of(
    settings: &Settings,
    file: &Scratch,
    key: Option<&[u8]>,
    by_seals: bool,
) -> Result<Digests, String> {
    let ledger = open(settings, &file.url(), Purpose::Reading, key.unwrap_or(b"nobody's")).await?;
    let proved = if by_seals { ledger.prove_chains().await } else { Ok(Vec::new()) };
    let digests = ledger.digests().await;
    ledger.close().await;
    let found = proved.map_err(|error| explain(&error))?;
    if !found.is_empty() {
        return Err(format!(
            "the old books are not as they were written, and nothing is brought over:\n  {}",
            found.join("\n  ")
        ));
    }
    digests.map_err(|error| explain(&error))
}

/// The proof of the new books, and where what was posted once is not what the facts come to.
async fn judged(settings: &Settings, url: &str, key: &[u8], digests: &Digests) -> Result<Done, String> {
    let ledger = open(settings, url, Purpose::Serving, key).await?;
    let judged = judge(&ledger, digests).await;
    ledger.close().await;
    judged
}

async fn judge(ledger: &Ledger, digests: &Digests) -> Result<Done, String> {
    let failed = |error| explain(&error);
    let mut wrong = Vec::new();
    let mut told = Vec::new();
    for check in ledger.verify_installation().await.map_err(failed)?.into_iter().filter(|check| !check.ok) {
        wrong.push(format!("the installation: {} {}: {}", check.id, check.name, check.findings.join("; ")));
    }
    for check in ledger.verify_engine().await.map_err(failed)?.into_iter().filter(|check| !check.ok) {
        wrong.push(format!("the database: {} {}: {}", check.id, check.name, check.findings.join("; ")));
    }
    let mut differs = false;
    for proof in ledger.verify(None, crate::verify::hands(), &[], &Progress::default()).await.map_err(failed)? {
        if digests.get(&proof.business_id) != Some(&proof.verdict.digest) {
            wrong.push(format!("{}: its ledger has another digest", proof.name));
        }
        let (of_functions, others): (Vec<_>, Vec<_>) = proof
            .verdict
            .checks
            .into_iter()
            .filter(|check| !check.ok)
            .partition(|check| check.id.starts_with(OF_FUNCTIONS));
        for check in others {
            wrong.push(format!("{}: {} {}: {}", proof.name, check.id, check.name, check.findings.join("; ")));
        }
        for check in of_functions {
            differs = true;
            told.push(format!("{}: {} {}: {} against {}", proof.name, check.id, check.name, check.left, check.right));
            told.extend(check.findings.iter().map(|finding| format!("    {finding}")));
        }
    }
    if !wrong.is_empty() {
        return Err(format!("the new books do not hold, and stay unfinished:\n  {}", wrong.join("\n  ")));
    }
    for (name, off, closed) in ledger.off().await.map_err(failed)? {
        let from = match closed {
            Some(closed) => format!("on the first day after {closed}"),
            None => "on the last of these days".to_owned(),
        };
        told.extend(entries_that_set_right(&off).into_iter().map(|line| format!("{name}: {from}, {line}")));
    }
    let head = if differs {
        "what follows was posted by rules of before, and is to be set right:\n"
    } else {
        "every check holds"
    };
    Ok(Done { told: format!("{head}{}", told.join("\n")), differs })
}

/// The entry that sets right what each item, or line, is off by in the end; and since when it is.
fn entries_that_set_right(off: &[Off]) -> Vec<String> {
    let mut by_place: BTreeMap<(Kept, String), Vec<&Off>> = BTreeMap::new();
    for one in off {
        by_place.entry((one.kept, one.of.to_string())).or_default().push(one);
    }
    let mut lines = Vec::new();
    for ((kept, of), days) in by_place {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { continue };
        let by = last.should_be - last.posted;
        let (whose, account) = match kept {
            Kept::Stock => ("item", "inventory"),
            Kept::Received => ("line", "goods received, not invoiced"),
            Kept::Delivered => ("line", "goods delivered, not invoiced"),
        };
        let (debit, credit) = if by > 0 { (account, "cost of sales") } else { ("cost of sales", account) };
        lines.push(format!(
            "D {debit} {amount}, C {credit} sets {whose} {of} right, which is off on {} days from {} to {}",
            days.len(),
            first.day,
            last.day,
            amount = coins(by.abs())
        ));
    }
    lines
}

/// How long something took, to a tenth of a second.
fn seconds_since(begun: Instant) -> String {
    let tenths = (Clock::system().now().micros() - begun.micros()) / 100_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Ten-thousandths as an amount.
fn coins(units: i128) -> String {
    format!("{}.{:02}", units / 10_000, units % 10_000 / 100)
}

/// That every figure of every day, and every line, is what it was; then the new books are finished.
async fn compared(old: &Place, new: &str) -> Result<(), String> {
    let new = Place::writing(new).await.map_err(|error| said(&error))?;
    let found = convert::compare(old, &new).await.map_err(|error| said(&error))?;
    if !found.is_empty() {
        return Err(format!(
            "the new books are not what the old ones were, and stay unfinished:\n  {}",
            found.join("\n  ")
        ));
    }
    convert::finish(&new).await.map_err(|error| said(&error))?;
    new.close().await.map_err(|error| said(&error))
}

/// Is told how far it has got: of which table, how many rows, and of how many.
pub(crate) type Shown = dyn Fn(&str, i64, i64) + Send + Sync;

/// Copies books that nobody writes to where the settings say, and proves them there. What was done is answered.
pub(crate) async fn copy_of(settings: &Settings, from: &str, shown: &Shown) -> Result<String, String> {
    match copied(settings, from, shown).await? {
        Done { told, differs: false } => Ok(told),
        Done { told, differs: true } => Err(format!("the books do not hold; set them right first:\n{told}")),
    }
}

async fn copied(settings: &Settings, from: &str, shown: &Shown) -> Result<Done, String> {
    let begun = Clock::system().now();
    let old = Place::reading(from).await.map_err(|error| said(&error))?;
    convert::check_same(&old).await.map_err(|error| said(&error))?;
    let asked = Asked { old: from.to_owned(), new: String::new(), old_key: None, seal_old_books: false };
    let mut key = None;
    for one in candidates(settings, &asked)? {
        let own = ledger_core::ledger::is_of(old.database(), &Keys::of(&one)).await.map_err(|error| explain(&error))?;
        if own == Some(true) {
            key = Some(one);
            break;
        }
    }
    let key = key.ok_or("the books are under a master key that is not here: give --data the folder that has it")?;
    if key_of_new(settings, Some(&key))? != key {
        return Err(
            "the folder of the new books has another master key; copy the books first, then run duet reseal".into()
        );
    }
    let url = settings.database.expose().to_owned();
    let new = Place::writing(&url).await.map_err(|error| said(&error))?;
    if convert::remove_unfinished(&new).await.map_err(|error| said(&error))? {
        warn("an earlier run was interrupted; the new database is begun anew");
    }
    let read = open(settings, from, Purpose::Reading, &key).await?;
    let before = read.last_recorded().await.map_err(|error| explain(&error))?;
    let kept = convert::put(&old, &new, Seals::Kept, shown).await.map_err(|error| said(&error))?;
    new.close().await.map_err(|error| said(&error))?;
    let digests = read.digests().await;
    let after = read.last_recorded().await;
    read.close().await;
    if after.map_err(|error| explain(&error))? != before {
        return Err("the books were written while they were copied. Have nobody write meanwhile, and run it again; what was begun \
                    is begun anew"
            .into());
    }
    let done = judged(settings, &url, &key, &digests.map_err(|error| explain(&error))?).await?;
    compared(&old, &url).await?;
    // Whoever goes on with the old books counts on where these begin.
    let new = open(settings, &url, Purpose::Writing, &key).await?;
    let moved = new.move_numbers_on().await;
    new.close().await;
    moved.map_err(|error| explain(&error))?;
    old.close().await.map_err(|error| said(&error))?;
    let took = seconds_since(begun);
    Ok(Done {
        told: format!("{} rows of {} tables were copied in {took} s\n{}", kept.rows, kept.tables, done.told),
        ..done
    })
}

#[cfg(test)]
mod tests {
    use ledger_core::codes;

    #[test]
    fn books_of_before_get_the_letters_that_the_server_reads() {
        assert_eq!(convert::codes::CODES, codes::CODES);
    }
}

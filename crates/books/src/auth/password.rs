//! Passwords: how strong one must be, and every computation of argon2id in this process.
//!
//! Owns: that no more passwords are computed at once than there are cores, that nobody's wait in front of everybody
//! else's, and that every door that sets a password judges it by the same rule. Nothing outside of this file hashes.

use crate::error::{Error, FieldErrors, Result, Unavailable};
use crate::ids::UserId;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, Params, PasswordHasher, PasswordVerifier};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub const LEAST_LENGTH: usize = 12;
/// Longer input would only buy an attacker our CPU time.
pub const MOST_LENGTH: usize = 256;
/// What a password must take of those who guess it well: above what the judge calls safe (score 3, 10^8), where a season and
/// a year still are.
const LEAST_GUESSES: u64 = 1_000_000_000;
/// As many letters as are judged at once, from the front and from the end: the judge takes a second of a core for a hundred
/// letters that were chosen to cost it.
const MOST_JUDGED: usize = 32;

// ── Strength ──

/// What is known of a person, and so no secret: their names, and those of their companies.
#[derive(Debug, Clone, Default)]
pub struct Names(Vec<String>);

impl Names {
    /// As many as are looked at, and as much of each.
    const MOST: usize = 100;
    const MOST_LETTERS: usize = 100;

    pub fn of_person(email: &str, username: Option<&str>, display_name: &str) -> Self {
        Self::default().and(email).and(username.unwrap_or_default()).and(display_name)
    }

    /// A name, whole, without its spaces, and by its words.
    #[must_use]
    pub fn and(mut self, name: &str) -> Self {
        let name: String = name.chars().take(Self::MOST_LETTERS).collect::<String>().to_lowercase();
        let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.chars().count() > 2);
        let together = name.split_whitespace().collect::<String>();
        for word in words.chain([name.as_str(), together.as_str()]) {
            if !word.is_empty() && self.0.len() < Self::MOST && self.0.iter().all(|known| known != word) {
                self.0.push(word.to_owned());
            }
        }
        self
    }

    pub fn each(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    #[must_use]
    pub fn and_all<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        names.into_iter().fold(self, Self::and)
    }
}

/// What is wrong with a new password, under the field it came in. `names` are those of the person and their companies:
/// whoever guesses tries them first.
pub fn check(field: &str, password: &str, names: &Names) -> Result<(), FieldErrors> {
    check_length(field, password)?;
    let mut known: Vec<&str> = names.each().collect();
    known.push("duet");
    let judged = |part: &str| zxcvbn::zxcvbn(part, &known);
    let letters: Vec<char> = password.chars().collect();
    let head = judged(&letters.iter().take(MOST_JUDGED).collect::<String>());
    if head.guesses() >= LEAST_GUESSES {
        return Ok(());
    }
    let rest = letters.len().saturating_sub(MOST_JUDGED);
    if rest > 0 && judged(&letters.iter().skip(rest).collect::<String>()).guesses() >= LEAST_GUESSES {
        return Ok(());
    }
    let mut told = String::from("is too easy to guess");
    if let Some(feedback) = head.feedback() {
        let warning = feedback.warning().map(|warning| warning.to_string());
        let suggestions = feedback.suggestions().iter().map(ToString::to_string);
        for hint in warning.into_iter().chain(suggestions) {
            told.push_str(if told.contains(':') { " " } else { ": " });
            told.push_str(hint.trim_end_matches('.'));
            told.push('.');
        }
    }
    if !told.contains(':') {
        told.push_str(": add a word or two that are not common.");
    }
    Err(FieldErrors::one(field, told))
}

/// The part of the rule that needs no names: it bounds what the rest of it costs.
pub fn check_length(field: &str, password: &str) -> Result<(), FieldErrors> {
    // Before counting letters: a letter is four bytes at most.
    let length = if password.len() > 4 * MOST_LENGTH { usize::MAX } else { password.chars().count() };
    if (LEAST_LENGTH..=MOST_LENGTH).contains(&length) {
        return Ok(());
    }
    Err(FieldErrors::one(field, format!("must be {LEAST_LENGTH} to {MOST_LENGTH} characters long")))
}

/// A password that somebody is to have, as it was sent. It is judged and hashed once, in its turn.
pub struct NewPassword {
    field: &'static str,
    text: String,
    names: Names,
    hash: OnceLock<String>,
}

impl NewPassword {
    /// `names` are those that stand beside it; what else is known of the person is added where it is judged.
    pub fn of(field: &'static str, text: String, names: Names) -> Result<Self, FieldErrors> {
        check_length(field, &text)?;
        Ok(Self { field, text, names, hash: OnceLock::new() })
    }

    /// What is kept of it.
    pub fn hash(&self) -> Result<&str> {
        self.hash.get().map(String::as_str).ok_or_else(|| Error::internal("a password was not hashed in its turn"))
    }
}

// ── Turns ──

/// Who wants a password computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// They wait in one line, one after the other.
    line: String,
    /// Where they are; many may be there.
    network: Option<String>,
}

impl Who {
    /// Somebody who says to be `account`.
    pub fn stranger(account: &str, network: &str) -> Self {
        Self { line: format!("{network} {account}"), network: Some(network.to_owned()) }
    }

    /// Somebody who is signed in.
    pub fn user(user: UserId) -> Self {
        Self { line: format!("user {user}"), network: None }
    }

    /// Whoever is at the terminal.
    pub fn operator() -> Self {
        Self { line: "operator".into(), network: None }
    }
}

/// As many of one network as are judged at the same moment: what they come to is known soon.
const AT_ONCE_OF_NETWORK: u32 = 4;
/// As many as wait at all, from one network, and in one line; the next is told at once.
const MOST_WAITING: usize = 256;
const MOST_OF_NETWORK: usize = 64;
const MOST_IN_LINE: usize = 16;

#[derive(Default)]
struct Waiting {
    all: usize,
    networks: HashMap<String, (Arc<Semaphore>, usize)>,
    lines: HashMap<String, (Arc<Semaphore>, usize)>,
}

struct Queue {
    /// As many as are computed at once.
    slots: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
}

/// A place in a line, given back when it is dropped.
struct Place {
    queue: Arc<Queue>,
    who: Who,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut waiting = self.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.all -= 1;
        if let Some(network) = &self.who.network {
            leave(&mut waiting.networks, network, |(_, held)| held);
        }
        leave(&mut waiting.lines, &self.who.line, |(_, held)| held);
    }
}

fn leave<V>(all: &mut HashMap<String, V>, name: &str, held: impl FnOnce(&mut V) -> &mut usize) {
    let Some(one) = all.get_mut(name) else { return };
    let held = held(one);
    *held -= 1;
    if *held == 0 {
        all.remove(name);
    }
}

/// The head of one's line. What is decided before computing is decided while holding it, and so is what follows from it.
pub struct Turn {
    place: Place,
    _first: OwnedSemaphorePermit,
    /// Among those of the same network that are judged now.
    judged: Option<(Arc<Semaphore>, Option<OwnedSemaphorePermit>)>,
}

impl Turn {
    /// Waits until nobody else of this network is being judged, so that what they came to is known, and stays the only
    /// one. Whether there was anybody.
    pub async fn alone(&mut self) -> Result<bool> {
        let Some((line, permit)) = &mut self.judged else { return Ok(false) };
        if line.available_permits() + 1 >= AT_ONCE_OF_NETWORK as usize {
            return Ok(false);
        }
        // Whoever waited for the others while they wait for this one would wait for ever.
        drop(permit.take());
        *permit = Some(line.clone().acquire_many_owned(AT_ONCE_OF_NETWORK).await.map_err(Error::internal)?);
        Ok(true)
    }
}

impl Queue {
    fn of(slots: usize) -> Arc<Self> {
        Arc::new(Self { slots: Arc::new(Semaphore::new(slots)), waiting: Mutex::default() })
    }

    /// Waits at the end of one's own line: of each line one at a time is computed, or waits for a core.
    async fn enter(self: &Arc<Self>, who: Who) -> Result<Turn> {
        let (line, of_network, place) = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.all >= MOST_WAITING {
                return Err(Error::Unavailable(Unavailable::Overloaded));
            }
            let here = who.network.as_ref().and_then(|network| waiting.networks.get(network)).map(|(_, here)| *here);
            let in_line = waiting.lines.get(&who.line).map(|(_, held)| *held);
            if here.is_some_and(|here| here >= MOST_OF_NETWORK) || in_line.is_some_and(|held| held >= MOST_IN_LINE) {
                return Err(Error::RateLimited { retry_after_seconds: 1 });
            }
            waiting.all += 1;
            let of_network = who.network.as_ref().map(|network| {
                let fresh = || (Arc::new(Semaphore::new(AT_ONCE_OF_NETWORK as usize)), 0);
                let (line, here) = waiting.networks.entry(network.clone()).or_insert_with(fresh);
                *here += 1;
                line.clone()
            });
            let (line, held) =
                waiting.lines.entry(who.line.clone()).or_insert_with(|| (Arc::new(Semaphore::new(1)), 0));
            *held += 1;
            (line.clone(), of_network, Place { queue: self.clone(), who })
        };
        let first = line.acquire_owned().await.map_err(Error::internal)?;
        let judged = match of_network {
            Some(line) => {
                let permit = line.clone().acquire_owned().await.map_err(Error::internal)?;
                Some((line, Some(permit)))
            }
            None => None,
        };
        Ok(Turn { place, _first: first, judged })
    }

    /// The one place where anything of a password is computed.
    async fn compute<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let slot = self.slots.clone().acquire_owned().await.map_err(Error::internal)?;
        let computed = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            work()
        });
        computed.await.map_err(Error::internal)
    }
}

#[derive(Clone)]
pub struct Passwords {
    queue: Arc<Queue>,
    /// Verified for unknown users, so that they take as long as known ones.
    decoy: Arc<str>,
}

impl Passwords {
    /// Those of this process: however many books are open, no more are hashed at once than there are cores.
    pub fn of_process() -> Result<Self> {
        static SHARED: OnceLock<Passwords> = OnceLock::new();
        if let Some(known) = SHARED.get() {
            return Ok(known.clone());
        }
        let slots = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let decoy = decoy()?.into();
        Ok(SHARED.get_or_init(|| Self { queue: Queue::of(slots), decoy }).clone())
    }

    /// Waits for a turn; told at once where too many wait already.
    pub async fn turn(&self, who: Who) -> Result<Turn> {
        self.queue.enter(who).await
    }

    /// Whether the password matches the hash; with no hash, `false` after the same work.
    pub async fn verify(&self, turn: &Turn, password: String, hash: Option<String>) -> Result<bool> {
        let known = hash.is_some();
        let hash = hash.unwrap_or_else(|| self.decoy.to_string());
        let matches = turn.place.queue.compute(move || {
            PasswordHash::new(&hash)
                .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
        });
        Ok(matches.await? && known)
    }

    /// What is kept of a new password, once it is strong enough. `names` are all that are known of the person.
    pub async fn hash(&self, turn: &Turn, field: &'static str, password: String, names: Names) -> Result<String> {
        let judged = move || {
            check(field, &password, &names)?;
            hash(&password)
        };
        turn.place.queue.compute(judged).await?
    }

    /// Judges and hashes what somebody is to have.
    pub async fn settle(&self, turn: &Turn, new: &NewPassword, names: Names) -> Result<()> {
        let names = names.and_all(new.names.each());
        let hash = self.hash(turn, new.field, new.text.clone(), names).await?;
        let _settled_before = new.hash.set(hash);
        Ok(())
    }
}

/// What might be kept of a password, and of which nobody knows one: to verify it takes as long as any other. Nothing is
/// hashed for it, so a start costs neither the time nor the memory of that.
fn decoy() -> Result<String> {
    let random = || Ok::<_, Error>(crate::texts::hex(&crate::ids::random_bytes::<32>()?));
    let (m, t, p) = (Params::DEFAULT_M_COST, Params::DEFAULT_T_COST, Params::DEFAULT_P_COST);
    // Sixteen bytes and thirty-two, of which the last digit of each holds a part.
    Ok(format!("$argon2id$v=19$m={m},t={t},p={p}${:.21}A${:.42}A", random()?, random()?))
}

fn hash(password: &str) -> Result<String> {
    Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string()).map_err(Error::internal)
}

/// A password for the first user, where the operator named none: 120 random bits.
pub fn random() -> Result<String> {
    super::random_letters(super::PLAIN, 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another form of it would be refused at once, and tell that there is nobody of a name.
    #[test]
    fn what_stands_for_nobodys_password_is_verified_like_any_other() {
        let (decoy, other) = (decoy().unwrap(), hash("an album of old maps").unwrap());
        let form = |hash: &str| -> (String, usize) {
            let (head, _) = hash.rsplit_once('$').unwrap().0.rsplit_once('$').unwrap();
            (head.to_owned(), hash.len())
        };
        assert_eq!(form(&decoy), form(&other));
        let refused = Argon2::default().verify_password(b"an album of old maps", &PasswordHash::new(&decoy).unwrap());
        assert!(matches!(refused, Err(argon2::password_hash::Error::PasswordInvalid)), "{refused:?}");
        assert_ne!(decoy, super::decoy().unwrap());
    }

    #[test]
    fn a_password_is_judged_by_what_is_guessed_first() {
        let names = Names::of_person("jo@harbour.example", Some("jolindqvist"), "Jo Lindqvist")
            .and("Company X")
            .and("Harbour Trading");
        for (password, good) in [
            ("short", false),
            ("password1234", false),
            ("123456789012", false),
            ("aaaaaaaaaaaa", false),
            ("qwertyuiop12", false),
            ("Company X 2026", false),
            ("rootroot1234", false),
            ("passwordpassword", false),
            ("iloveyou2026", false),
            ("Welcome2026!", false),
            ("letmein12345", false),
            ("P@ssw0rd1234", false),
            ("Summer2026!!", false),
            ("HarbourTrading1", false),
            ("jo@harbour.example1", false),
            ("JoLindqvist2026", false),
            ("duetduetduet", false),
            ("correct horse battery", true),
            ("Zürich im Regen", true),
            ("a ferry at first light", true),
            ("two voices, one book", true),
            ("k7m2vq9xw4tz", true),
        ] {
            assert_eq!(check("password", password, &names).is_ok(), good, "{password}");
        }
        // Nobody's name is a weakness to others.
        assert!(check("password", "Quillfeather Holdings", &Names::default()).is_ok());
        assert!(check("password", "Quillfeather Holdings", &Names::default().and("Quillfeather Holdings")).is_err());
    }

    #[test]
    fn what_is_wrong_is_told_in_words_and_names_the_field() {
        let told = |password: &str| {
            let faults = check("newPassword", password, &Names::default()).unwrap_err();
            let told = faults.iter().map(|(field, messages)| format!("{field} {}", messages.join(" ")));
            told.collect::<Vec<_>>().join("; ")
        };
        let plain = told("aaaaaaaaaaaa");
        assert!(plain.starts_with("newPassword is too easy to guess: ") && plain.contains("epeat"), "{plain}");
        for length in [0, 11, 257, 100_000] {
            assert_eq!(told(&"q".repeat(length)), "newPassword must be 12 to 256 characters long", "{length}");
        }
        assert!(!told("password1234").contains("password1234"));
    }

    #[tokio::test]
    async fn each_waits_in_their_own_line_and_lines_are_short() {
        let queue = Queue::of(1);
        let jo = || Who::user(UserId::default());
        let first = queue.enter(jo()).await.unwrap();
        let mut waiting: Vec<_> = (1..MOST_IN_LINE)
            .map(|_| {
                let queue = queue.clone();
                tokio::spawn(async move { queue.enter(jo()).await })
            })
            .collect();
        while queue.waiting.lock().unwrap().all < MOST_IN_LINE {
            tokio::task::yield_now().await;
        }
        assert!(matches!(queue.enter(jo()).await, Err(Error::RateLimited { .. })));
        // Nobody else waits behind them.
        let others = queue.enter(Who::stranger("mira", "192.0.2.1")).await.unwrap();
        assert_eq!(queue.compute(|| 7).await.unwrap(), 7);
        drop((first, others));
        // The next in line comes when the one before is done; who goes away leaves no gap.
        let last = waiting.split_off(1);
        drop(waiting.remove(0).await.unwrap().unwrap());
        for one in last {
            one.abort();
            let _gone = one.await;
        }
        assert_eq!(queue.waiting.lock().unwrap().all, 0);
        assert!(queue.waiting.lock().unwrap().lines.is_empty());
    }

    #[tokio::test]
    async fn so_many_wait_from_one_network_and_at_all() {
        let queue = Queue::of(1);
        let who =
            |network: usize, number: usize| Who::stranger(&format!("account {number}"), &format!("192.0.2.{network}"));
        let mut turns = Vec::new();
        for network in 0..MOST_WAITING / MOST_OF_NETWORK {
            for number in 0..MOST_OF_NETWORK {
                let (queue, who) = (queue.clone(), who(network, number));
                turns.push(tokio::spawn(async move { queue.enter(who).await }));
            }
            while queue.waiting.lock().unwrap().all < (network + 1) * MOST_OF_NETWORK {
                tokio::task::yield_now().await;
            }
            if network == 0 {
                assert!(matches!(queue.enter(who(0, MOST_OF_NETWORK)).await, Err(Error::RateLimited { .. })));
            }
        }
        let refused = queue.enter(Who::operator()).await;
        assert!(matches!(refused, Err(Error::Unavailable(Unavailable::Overloaded))));
        let last = turns.pop().unwrap();
        last.abort();
        let _gone = last.await;
        assert!(queue.enter(Who::operator()).await.is_ok());
    }

    #[tokio::test]
    async fn few_of_a_network_are_judged_at_once_and_one_may_wait_for_the_others() {
        let queue = Queue::of(1);
        let who = |number: u32| Who::stranger(&format!("account {number}"), "192.0.2.1");
        let mut alone = queue.enter(who(0)).await.unwrap();
        assert!(!alone.alone().await.unwrap(), "there is nobody else");
        let others: Vec<_> = (1..AT_ONCE_OF_NETWORK).map(|number| queue.enter(who(number))).collect();
        let mut judged = Vec::new();
        for other in others {
            judged.push(other.await.unwrap());
        }
        // One more has to wait, others of another network do not.
        let (beyond, elsewhere) = (queue.clone(), Who::stranger("account 0", "192.0.2.2"));
        let beyond = tokio::spawn(async move { beyond.enter(who(99)).await });
        assert!(queue.enter(elsewhere).await.is_ok());
        let waits = tokio::spawn(async move { alone.alone().await.map(|others| (others, alone)) });
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        assert!(!waits.is_finished(), "the others are not judged yet");
        // It came later, and is judged first: nobody waits for ever.
        let beyond = beyond.await.unwrap().unwrap();
        drop(judged);
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        assert!(!waits.is_finished());
        drop(beyond);
        let (others, alone) = waits.await.unwrap().unwrap();
        assert!(others);
        drop(alone);
        assert!(queue.waiting.lock().unwrap().networks.is_empty());
    }
}

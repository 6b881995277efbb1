//! Passwords: argon2id, off the async threads, never more at once than there are cores.

use crate::error::{Error, FieldErrors, Result};
use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub const LEAST_LENGTH: usize = 12;
/// Longer input would only buy an attacker our CPU time.
pub const MOST_LENGTH: usize = 256;

/// Passwords that meet the length and are guessed first all the same.
const COMMON: &[&str] = &[
    "password",
    "123456",
    "qwerty",
    "letmein",
    "welcome",
    "iloveyou",
    "admin",
    "changeme",
    "duet",
    "accounting",
    "abc123",
    "111111",
    "000000",
    "passw0rd",
    "monkey",
    "dragon",
    "football",
    "baseball",
    "sunshine",
    "princess",
    "secret",
];

#[derive(Clone)]
pub(crate) struct Passwords {
    slots: Arc<Semaphore>,
    /// Verified for unknown users, so that they take as long as known ones.
    decoy: Arc<str>,
}

impl Passwords {
    /// Those of this process: however many books are open, no more are hashed at once than there are cores.
    pub(crate) fn of_process() -> Result<Self> {
        static SHARED: std::sync::OnceLock<Passwords> = std::sync::OnceLock::new();
        if let Some(known) = SHARED.get() {
            return Ok(known.clone());
        }
        let slots = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let decoy = hash("a password that nobody has")?.into();
        Ok(SHARED.get_or_init(|| Self { slots: Arc::new(Semaphore::new(slots)), decoy }).clone())
    }

    /// Waits for a turn. What is decided before hashing is decided while holding it.
    pub(crate) async fn turn(&self) -> Result<OwnedSemaphorePermit> {
        self.slots.clone().acquire_owned().await.map_err(Error::internal)
    }

    /// Whether the password matches the hash; with no hash, `false` after the same work.
    pub(crate) async fn verify(
        &self,
        turn: OwnedSemaphorePermit,
        password: String,
        hash: Option<String>,
    ) -> Result<bool> {
        let known = hash.is_some();
        let hash = hash.unwrap_or_else(|| self.decoy.to_string());
        let matches = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            PasswordHash::new(&hash)
                .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
        })
        .await
        .map_err(Error::internal)?;
        Ok(matches && known)
    }

    pub(crate) async fn hash(&self, password: String) -> Result<String> {
        let turn = self.turn().await?;
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            hash(&password)
        })
        .await
        .map_err(Error::internal)?
    }
}

/// Hashes on this thread, which gives its other work away meanwhile.
pub(crate) fn hash_in_place(password: &str) -> Result<String> {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| hash(password)),
        _ => hash(password),
    }
}

fn hash(password: &str) -> Result<String> {
    Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string()).map_err(Error::internal)
}

/// What is wrong with a new password, under the field it came in.
pub(crate) fn check(field: &str, password: &str) -> Result<(), FieldErrors> {
    let length = password.chars().count();
    if !(LEAST_LENGTH..=MOST_LENGTH).contains(&length) {
        return Err(FieldErrors::one(field, format!("must be {LEAST_LENGTH} to {MOST_LENGTH} characters long")));
    }
    let mut rest = password.to_lowercase();
    for common in COMMON {
        rest = rest.replace(common, "");
    }
    if rest.chars().filter(|letter| letter.is_alphabetic()).count() == 0 && rest.chars().count() < 6 {
        return Err(FieldErrors::one(field, "is among the first that are guessed"));
    }
    Ok(())
}

/// A password for the first user, where the operator named none: 120 random bits.
pub fn random() -> Result<String> {
    super::random_letters(super::PLAIN, 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_guessable_passwords_are_refused() {
        for (password, good) in [
            ("short", false),
            ("password1234", false),
            ("PASSWORD-123", false),
            ("correct horse battery", true),
            ("Zürich im Regen", true),
        ] {
            assert_eq!(check("password", password).is_ok(), good, "{password}");
        }
        assert!(check("password", &"x".repeat(257)).is_err());
    }
}

//! Long answers that are being handed over: each is in memory until its client has taken it, and they share what room there is.
//!
//! Whoever takes an answer slowly holds it for minutes, on as many connections as they may have. So an account has a share of
//! the room, and all together have no more than there is. What was written is answered whatever there is: it is done.

use bytes::Bytes;
use ledger_core::error::{Error, Unavailable};
use ledger_core::ids::UserId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Shorter ones are bounded by the connections that there may be.
const LONG: usize = 64 << 10;
/// All that are handed over at once, in bytes.
const MOST: usize = 128 << 20;
/// Those of one account.
const MOST_OF_ACCOUNT: usize = 48 << 20;

/// The room of a process, whichever books its answers are of.
static ROOM: LazyLock<Handed> = LazyLock::new(Handed::default);

#[derive(Debug, Clone, Default)]
pub(crate) struct Handed(Arc<Mutex<HashMap<UserId, usize>>>);

/// An answer, which has its room until nobody has it any more.
struct Held {
    text: String,
    account: UserId,
    room: Arc<Mutex<HashMap<UserId, usize>>>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = room.get_mut(&self.account) {
            *held -= self.text.len();
            if *held == 0 {
                room.remove(&self.account);
            }
        }
    }
}

impl Handed {
    pub(crate) fn of_process() -> Self {
        ROOM.clone()
    }

    /// Makes room for an answer; one that may be asked for again is refused where there is none. The first of an account, and
    /// of all, always has room.
    pub(crate) fn over(&self, account: UserId, text: String, may_be_refused: bool) -> Result<Bytes, Error> {
        if text.len() < LONG {
            return Ok(text.into());
        }
        {
            let mut room = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (all, own) = (room.values().sum::<usize>(), room.get(&account).copied().unwrap_or_default());
            let is_beyond = |held: usize, most: usize| may_be_refused && held > 0 && held + text.len() > most;
            if is_beyond(own, MOST_OF_ACCOUNT) {
                return Err(Error::RateLimited { retry_after_seconds: 1 });
            }
            if is_beyond(all, MOST) {
                return Err(Error::Unavailable(Unavailable::Overloaded));
            }
            *room.entry(account).or_default() += text.len();
        }
        Ok(Bytes::from_owner(Held { text, account, room: self.0.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn of(account: u128) -> UserId {
        UserId(Uuid::from_u128(account))
    }

    #[test]
    fn long_answers_share_the_room_until_they_are_taken() {
        let handed = Handed::default();
        let long = || "x".repeat(16 << 20);
        let over = |account: u128, may_be_refused: bool| handed.over(of(account), long(), may_be_refused);
        let mut held: Vec<Bytes> = (0..3).map(|_| over(1, true).unwrap()).collect();
        assert!(matches!(over(1, true), Err(Error::RateLimited { .. })), "an account has its share");
        // What is short, and what was written, is answered all the same.
        assert!(handed.over(of(1), "short".into(), true).is_ok());
        held.push(over(1, false).unwrap());
        held.extend((0..4).map(|number| over(2 + number / 2, true).unwrap()));
        assert!(matches!(over(9, true), Err(Error::Unavailable(Unavailable::Overloaded))), "there is no more room");
        // Part of an answer is all of it.
        let part = held.swap_remove(0).slice(10..20);
        assert!(matches!(over(9, true), Err(Error::Unavailable(Unavailable::Overloaded))));
        drop(part);
        assert!(over(9, true).is_ok());
        held.clear();
        assert!(handed.0.lock().unwrap().is_empty());
        // One that is longer than a share is answered where it is the only one.
        let longest = || "x".repeat(MOST + 1);
        let only = handed.over(of(1), longest(), true).unwrap();
        assert!(handed.over(of(1), longest(), true).is_err() && handed.over(of(2), longest(), true).is_err());
        drop(only);
    }
}

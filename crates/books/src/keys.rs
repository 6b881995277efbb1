//! What is secret outside of the database, and what is made of it.
//!
//! One master key, kept by the operator or in a file beside the data, is behind everything that must not be forged or
//! read by whoever holds the database alone. Each purpose has a key of its own. The database knows the master key by a
//! check, so that a server with another one refuses to start instead of writing what nobody can prove.

use crate::error::{Error, Result};
use crate::texts::hex;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::hmac;

/// What a key is for. The words are part of the key: they never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Knows the master key again.
    Check,
    /// Signs the chain of audit logs, and its heads.
    Audit,
    /// Hides the secrets of authenticators.
    SecondFactor,
    /// Hides the key that repeated requests are known by.
    Fingerprints,
    /// Knows names, networks and recovery codes again that are not kept.
    SignIn,
    /// Hides what messages to others are signed with, and what else they are to know nobody by.
    Webhooks,
    /// Hides what signed under a master key that is no more.
    Former,
    /// Hides where a list goes on.
    Cursors,
    /// Hides the keys of tenants, and where their books are.
    Tenants,
    /// Signs the tokens of whoever logs in, where no secret of their own is given.
    Tokens,
}

impl Purpose {
    const fn words(self) -> &'static str {
        match self {
            Self::Check => "duet check 1",
            Self::Audit => "duet audit 1",
            Self::SecondFactor => "duet second factor 1",
            Self::Fingerprints => "duet fingerprints 1",
            Self::SignIn => "duet sign-in 1",
            Self::Webhooks => "duet webhooks 1",
            Self::Former => "duet former keys 1",
            Self::Cursors => "duet cursors 1",
            Self::Tenants => "duet tenants 1",
            Self::Tokens => "duet tokens 1",
        }
    }
}

/// Whose former keys are, for the cipher that hides them.
const FORMER: &str = "former";

/// The master key, and the keys that come of it.
#[derive(Clone)]
pub struct Keys(ring::hkdf::Prk);

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[derive(Clone, Copy)]
struct Length;

impl KeyType for Length {
    fn len(&self) -> usize {
        32
    }
}

impl Keys {
    pub fn of(master: &[u8]) -> Self {
        Self(Salt::new(HKDF_SHA256, b"duet master key").extract(master))
    }

    fn bytes(&self, purpose: Purpose) -> Result<[u8; 32]> {
        let mut bytes = [0; 32];
        let words = [purpose.words().as_bytes()];
        let made = self.0.expand(&words, Length).and_then(|made| made.fill(&mut bytes));
        made.map(|()| bytes).map_err(Error::internal)
    }

    /// A key that signs.
    pub fn signing(&self, purpose: Purpose) -> Result<hmac::Key> {
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &self.bytes(purpose)?))
    }

    /// What tokens are signed with by all servers that have this master key.
    pub fn token_secret(&self) -> Result<Vec<u8>> {
        Ok(self.bytes(Purpose::Tokens)?.to_vec())
    }

    /// What signed under this master key, hidden under another one that comes after it.
    pub fn bequeath(&self, to: &Self) -> Result<String> {
        to.hide(Purpose::Former, FORMER, &self.bytes(Purpose::Audit)?)
    }

    /// What was bequeathed once, hidden under yet another master key.
    pub fn pass_on(&self, hidden: &str, to: &Self) -> Result<String> {
        to.hide(Purpose::Former, FORMER, &self.reveal(Purpose::Former, FORMER, hidden)?)
    }

    /// What signed under a master key before this one.
    pub fn inherited(&self, hidden: &str) -> Result<hmac::Key> {
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &self.reveal(Purpose::Former, FORMER, hidden)?))
    }

    /// What the database knows the master key by.
    pub fn check(&self) -> Result<String> {
        Ok(hex(hmac::sign(&self.signing(Purpose::Check)?, b"master key").as_ref()))
    }

    /// The same of a database whose books are sealed: nobody who takes their seals off can say that they never were.
    pub fn sealed_check(&self) -> Result<String> {
        Ok(hex(hmac::sign(&self.signing(Purpose::Check)?, b"master key of sealed books").as_ref()))
    }

    /// Whether a check is of this master key; and if so, whether it is of sealed books.
    pub fn knows(&self, check: &str) -> Result<Option<bool>> {
        if check == self.sealed_check()? {
            return Ok(Some(true));
        }
        Ok((check == self.check()?).then_some(false))
    }

    fn cipher(&self, purpose: Purpose) -> Result<LessSafeKey> {
        let key = UnboundKey::new(&AES_256_GCM, &self.bytes(purpose)?).map_err(Error::internal)?;
        Ok(LessSafeKey::new(key))
    }

    /// Hides a text. `of` is whose it is: moved to another place, it does not open.
    pub fn hide(&self, purpose: Purpose, of: &str, text: &[u8]) -> Result<String> {
        let nonce: [u8; NONCE_LEN] = crate::ids::random_bytes()?;
        let mut sealed = text.to_vec();
        self.cipher(purpose)?
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(of), &mut sealed)
            .map_err(Error::internal)?;
        Ok(hex(&[&nonce[..], &sealed].concat()))
    }

    /// What was hidden; an error where it was changed, moved, or hidden under another key.
    pub fn reveal(&self, purpose: Purpose, of: &str, hidden: &str) -> Result<Vec<u8>> {
        const SPOILT: &str = "what was hidden under the master key does not open";
        let bytes = unhex(hidden).ok_or_else(|| Error::internal(SPOILT))?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN).ok_or_else(|| Error::internal(SPOILT))?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Error::internal(SPOILT))?;
        let mut sealed = sealed.to_vec();
        let opened = self.cipher(purpose)?.open_in_place(nonce, Aad::from(of), &mut sealed);
        opened.map(|text| text.to_vec()).map_err(|_| Error::internal(SPOILT))
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.chars().map(|digit| digit.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
    let (pairs, odd) = digits.as_chunks::<2>();
    odd.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_opens_with_its_key_in_its_place_and_nowhere_else() {
        let keys = Keys::of(b"one master key");
        let hidden = keys.hide(Purpose::SecondFactor, "anna", b"secret").unwrap();
        assert_eq!(keys.reveal(Purpose::SecondFactor, "anna", &hidden).unwrap(), b"secret");
        assert_ne!(hidden, keys.hide(Purpose::SecondFactor, "anna", b"secret").unwrap());
        let mut changed = hidden.clone();
        let last = if changed.pop() == Some('0') { '1' } else { '0' };
        changed.push(last);
        for (keys, purpose, of, hidden) in [
            (&Keys::of(b"another"), Purpose::SecondFactor, "anna", &hidden),
            (&keys, Purpose::Fingerprints, "anna", &hidden),
            (&keys, Purpose::SecondFactor, "bert", &hidden),
            (&keys, Purpose::SecondFactor, "anna", &changed),
            (&keys, Purpose::SecondFactor, "anna", &"ab".to_owned()),
            (&keys, Purpose::SecondFactor, "anna", &"no hex".to_owned()),
        ] {
            assert!(keys.reveal(purpose, of, hidden).is_err());
        }
    }

    #[test]
    fn a_master_key_is_known_by_its_check() {
        assert_eq!(Keys::of(b"one").check().unwrap(), Keys::of(b"one").check().unwrap());
        assert_ne!(Keys::of(b"one").check().unwrap(), Keys::of(b"two").check().unwrap());
    }
}

//! Codes of an authenticator, RFC 6238: six digits, thirty seconds, SHA-1, which is what authenticators know.

use crate::clock::Instant;
use crate::error::Result;
use ring::hmac;

const STEP_SECONDS: i64 = 30;
const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A new secret: 160 bits, in the letters that authenticators take.
pub fn secret() -> Result<String> {
    super::random_letters(LETTERS, 32)
}

/// What an authenticator reads from a picture.
pub fn uri(secret: &str, email: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._~".contains(letter);
    let mut account = String::new();
    for letter in email.chars() {
        if plain(letter) {
            account.push(letter);
        } else {
            let mut bytes = [0; 4];
            account.extend(letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        }
    }
    format!("otpauth://totp/Duet:{account}?secret={secret}&issuer=Duet&algorithm=SHA1&digits=6&period=30")
}

/// The step whose code this is, if it is one of now, of the step before or of the next, and after the last one taken.
pub fn step_of(secret: &str, code: &str, now: Instant, last: i64) -> Option<i64> {
    let current = now.seconds() / STEP_SECONDS;
    let given = code.bytes().filter(u8::is_ascii_digit).collect::<Vec<u8>>();
    let is_code = code.chars().all(|letter| letter.is_ascii_digit() || letter == ' ') && given.len() == 6;
    // Each step is compared, whichever fits.
    let mut found = None;
    for step in [current - 1, current, current + 1] {
        let expected = code_at(secret, step)?;
        let differs = expected.bytes().zip(&given).fold(0, |differs, (left, right)| differs | (left ^ right));
        if differs == 0 && is_code && step > last {
            found = Some(step);
        }
    }
    found
}

fn code_at(secret: &str, step: i64) -> Option<String> {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &decoded(secret)?);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let at = usize::from(tag.last()? & 15);
    let four: [u8; 4] = tag.get(at..at + 4)?.try_into().ok()?;
    Some(format!("{:06}", (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000))
}

fn decoded(secret: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0_u32);
    for letter in secret.bytes() {
        let value = LETTERS.iter().position(|known| *known == letter)?;
        bits = (bits << 5) | u32::try_from(value).ok()?;
        held += 5;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 255).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of RFC 6238, appendix B.
    const KEY: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    fn at(seconds: i64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        for (seconds, code) in
            [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")]
        {
            assert_eq!(code_at(KEY, seconds / 30).as_deref(), Some(code), "{seconds}");
            assert_eq!(step_of(KEY, code, at(seconds), 0), Some(seconds / 30));
        }
    }

    #[test]
    fn a_code_is_good_once_and_for_a_moment() {
        let now = at(1_111_111_109);
        let step = 1_111_111_109 / 30;
        assert_eq!(step_of(KEY, "081 804", now, 0), Some(step));
        assert_eq!(step_of(KEY, "081804", now, step), None);
        for (late, good) in [(-61, false), (-31, true), (30, true), (60, false)] {
            assert_eq!(step_of(KEY, "081804", at(1_111_111_109 + late), 0).is_some(), good, "{late}");
        }
        for wrong in ["", "81804", "0818040", "08180x", "081805"] {
            assert_eq!(step_of(KEY, wrong, now, 0), None, "{wrong}");
        }
    }

    #[test]
    fn a_secret_is_what_authenticators_take() {
        let made = secret().unwrap();
        assert_eq!((made.len(), decoded(&made).unwrap().len()), (32, 20));
        assert_ne!(made, secret().unwrap());
        assert!(uri(&made, "jo+a@harbour.example").contains("Duet:jo%2Ba%40harbour.example?secret="));
    }
}

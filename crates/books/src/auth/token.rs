//! Access tokens: JWT, HS256, bound to an issuer and an audience, revoked by the user's token version.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::UserId;
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error as JwtError, ErrorKind};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey, Header, Validation};
use ring::hmac;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What tokens are made with.
#[derive(Clone)]
pub struct TokenOptions {
    pub secret: Vec<u8>,
    pub issuer: String,
    pub audience: String,
    pub lifetime: Duration,
}

const NOT_VALID: Error = Error::Unauthenticated("The access token is not valid");

/// How long the digest of a token is.
const DIGEST: usize = 32;

/// So many tokens are known by their digests, and then they are checked anew.
const MOST_SIGNED: usize = 1_000;

/// Clocks of two servers may differ by this much: a token of this age to come is taken. None is taken after its end.
const LEEWAY_SECONDS: i64 = 30;
/// A clock may be put back by this much, and those who are signed in stay so.
const PUT_BACK_SECONDS: i64 = 2 * 60 * 60;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    pub sub: UserId,
    pub iat: i64,
    pub exp: i64,
    iss: String,
    aud: String,
    /// Its session.
    pub jti: uuid::Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nbf: Option<i64>,
    /// The user's token version when this was issued; a newer one revokes it.
    pub ver: i64,
}

pub struct Tokens {
    signing: EncodingKey,
    verifying: DecodingKey,
    validation: Validation,
    issuer: String,
    audience: String,
    lifetime_seconds: AtomicU64,
    /// What tokens said whose signature was found to be right, by their digests. It follows from the token and the secret
    /// alone: whether it is still good is judged each time.
    signed: Mutex<HashMap<[u8; DIGEST], Claims>>,
    /// The latest that the clock has shown since the process began: none of our tokens was issued later.
    latest_seconds: AtomicI64,
}

impl Tokens {
    pub fn new(options: &TokenOptions) -> Self {
        // A second installation in one process finds ours already there.
        install_signing();
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[&options.issuer]);
        validation.set_audience(&[&options.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Times are judged by our Clock, below.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        Self {
            signing: EncodingKey::from_secret(&options.secret),
            verifying: DecodingKey::from_secret(&options.secret),
            validation,
            issuer: options.issuer.clone(),
            audience: options.audience.clone(),
            lifetime_seconds: AtomicU64::new(options.lifetime.as_secs()),
            signed: Mutex::default(),
            latest_seconds: AtomicI64::new(i64::MIN),
        }
    }

    /// Tokens issued from now on live this long.
    pub fn set_lifetime(&self, lifetime: Duration) {
        self.lifetime_seconds.store(lifetime.as_secs(), Ordering::Relaxed);
    }

    /// When a token ends that is issued now. Tokens speak of whole seconds.
    pub fn end(&self, now: Instant) -> Instant {
        let whole = Instant::from_micros(now.seconds().saturating_mul(1_000_000));
        whole.plus(Duration::from_secs(self.lifetime_seconds.load(Ordering::Relaxed)))
    }

    /// A token that is good until its end, which `end` says.
    pub fn issue(
        &self,
        (user, version): (UserId, i64),
        (now, ends): (Instant, Instant),
        jti: uuid::Uuid,
    ) -> Result<String> {
        let claims = Claims {
            sub: user,
            iat: now.seconds(),
            exp: ends.seconds(),
            nbf: None,
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            jti,
            ver: version,
        };
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.signing).map_err(Error::internal)
    }

    /// The latest that a token may say it was issued at: what the clock has shown, should it have been put back.
    fn latest_issue(&self, now: i64) -> i64 {
        let seen = self.latest_seconds.fetch_max(now, Ordering::Relaxed).max(now);
        seen.min(now + PUT_BACK_SECONDS)
    }

    pub fn verify(&self, token: &str, now: Instant) -> Result<Claims> {
        let claims = self.said(token)?;
        if claims.exp <= now.seconds() {
            return Err(Error::Unauthenticated("The access token has expired; log in again"));
        }
        if claims.iat.max(claims.nbf.unwrap_or(i64::MIN)) > self.latest_issue(now.seconds()) + LEEWAY_SECONDS {
            return Err(NOT_VALID);
        }
        Ok(claims)
    }

    /// What a token says that we signed.
    fn said(&self, token: &str) -> Result<Claims> {
        let mut digest = [0; DIGEST];
        digest.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, token.as_bytes()).as_ref());
        let signed = || self.signed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = signed().get(&digest) {
            return Ok(known.clone());
        }
        let token = jsonwebtoken::decode::<Claims>(token, &self.verifying, &self.validation).map_err(|_| NOT_VALID)?;
        // Whoever signs what we do not understand means something else than we do, RFC 7515 4.1.11.
        if token.header.crit.is_some() {
            return Err(NOT_VALID);
        }
        let mut signed = signed();
        if signed.len() >= MOST_SIGNED {
            signed.clear();
        }
        signed.insert(digest, token.claims.clone());
        Ok(token.claims)
    }
}

// HMAC from ring, which TLS already brings; the library's own backends weigh a hundred crates.
struct Hs256(hmac::Key);

impl signature::Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl signature::Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], tag: &Vec<u8>) -> Result<(), signature::Error> {
        hmac::verify(&self.0, message, tag).map_err(|_| signature::Error::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

fn hs256(algorithm: Algorithm, family: AlgorithmFamily, secret: &[u8]) -> Result<Hs256, JwtError> {
    if algorithm != Algorithm::HS256 {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    if family != AlgorithmFamily::Hmac {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Hs256(hmac::Key::new(hmac::HMAC_SHA256, secret)))
}

/// Signs and checks tokens by the one algorithm there is here; whoever uses `jsonwebtoken` in this process needs it.
pub fn install_signing() {
    let _already = PROVIDER.install_default();
}

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(hs256(*algorithm, key.family(), key.as_bytes())?)),
    verifier_factory: |algorithm, key| Ok(Box::new(hs256(*algorithm, key.family(), key.try_get_as_bytes()?)?)),
    key_utils: KeyUtils::new_unimplemented(),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(audience: &str) -> Tokens {
        Tokens::new(&TokenOptions {
            secret: vec![7; 32],
            issuer: "duet".into(),
            audience: audience.into(),
            lifetime: Duration::from_hours(1),
        })
    }

    const NOW: Instant = Instant::from_micros(1_800_000_000_000_000);

    fn issued() -> String {
        issued_at(NOW)
    }

    fn issued_at(now: Instant) -> String {
        let tokens = tokens("duet");
        tokens.issue((UserId::default(), 3), (now, tokens.end(now)), uuid::Uuid::nil()).unwrap()
    }

    #[test]
    fn a_token_lives_as_long_as_it_says() {
        let tokens = tokens("duet");
        assert!(tokens.verify(&issued(), NOW.minus(Duration::from_mins(1))).is_err());
        assert_eq!(tokens.verify(&issued(), NOW).unwrap().ver, 3);
        let end = tokens.end(NOW.plus(Duration::from_millis(700)));
        assert_eq!(end, NOW.plus(Duration::from_hours(1)));
        assert!(tokens.verify(&issued(), end.minus(Duration::from_micros(1))).is_ok());
        assert!(tokens.verify(&issued(), end).is_err());
    }

    #[test]
    fn what_is_known_of_a_token_is_no_other_tokens_and_its_end_counts_all_the_same() {
        let tokens = tokens("duet");
        let token = issued();
        assert_eq!(tokens.verify(&token, NOW).unwrap().ver, 3);
        assert_eq!(tokens.signed.lock().unwrap().len(), 1);
        assert!(tokens.verify(&token, NOW.plus(Duration::from_hours(1))).is_err(), "it has ended");
        // One that is not signed is not known, however often it is shown.
        let torn = format!("{}{}", &token[..token.len() - 2], if token.ends_with('A') { "BB" } else { "AA" });
        for _ in 0..2 {
            assert!(tokens.verify(&torn, NOW).is_err());
        }
        assert_eq!(tokens.signed.lock().unwrap().len(), 1);
        for micros in 0..2 * i64::try_from(MOST_SIGNED).unwrap() {
            let token = issued_at(Instant::from_micros(NOW.micros() - micros * 1_000_000));
            assert!(tokens.said(&token).is_ok());
            assert!(tokens.signed.lock().unwrap().len() <= MOST_SIGNED);
        }
    }

    #[test]
    fn a_token_of_another_clock_is_taken_when_it_is_hardly_ahead() {
        assert!(tokens("duet").verify(&issued(), NOW.minus(Duration::from_secs(30))).is_ok());
        assert!(tokens("duet").verify(&issued(), NOW.minus(Duration::from_secs(31))).is_err());
    }

    #[test]
    fn who_is_signed_in_stays_so_when_the_clock_is_put_back() {
        let tokens = tokens("duet");
        let hour = Duration::from_hours(1);
        let from_the_future = issued_at(NOW.plus(hour));
        assert!(tokens.verify(&from_the_future, NOW).is_err(), "the clock never showed that");
        assert!(tokens.verify(&from_the_future, NOW.plus(hour)).is_ok());
        assert!(tokens.verify(&from_the_future, NOW).is_ok(), "an hour back");
        assert!(tokens.verify(&from_the_future, NOW.minus(2 * hour)).is_err(), "three hours back");
        assert!(tokens.verify(&from_the_future, NOW.plus(3 * hour)).is_err(), "it ends when it says");
    }

    #[test]
    fn a_token_whose_header_or_claims_we_do_not_understand_is_refused() {
        let tokens = tokens("duet");
        let claims = || tokens.verify(&issued(), NOW).unwrap();
        let token = |crit: Option<Vec<String>>, claims: &Claims| {
            let header = Header { crit, ..Header::new(Algorithm::HS256) };
            jsonwebtoken::encode(&header, claims, &tokens.signing).unwrap()
        };
        assert!(tokens.verify(&token(None, &claims()), NOW).is_ok());
        for crit in [vec![], vec!["exp".to_owned()], vec!["b64".to_owned()]] {
            assert!(tokens.verify(&token(Some(crit), &claims()), NOW).is_err());
        }
        for (nbf, good) in [(0, true), (30, true), (31, false)] {
            let claims = Claims { nbf: Some(NOW.seconds() + nbf), ..claims() };
            assert_eq!(tokens.verify(&token(None, &claims), NOW).is_ok(), good, "{nbf}");
        }
    }

    #[test]
    fn a_token_for_another_audience_is_refused() {
        assert!(tokens("other").verify(&issued(), NOW).is_err());
    }

    #[test]
    fn a_token_changed_in_any_part_is_refused() {
        let token = issued();
        for position in [2, token.find('.').unwrap() + 3, token.len() - 3] {
            let mut bytes = token.clone().into_bytes();
            bytes[position] = if bytes[position] == b'A' { b'B' } else { b'A' };
            assert!(tokens("duet").verify(&String::from_utf8(bytes).unwrap(), NOW).is_err());
        }
        assert!(tokens("duet").verify("eyJhbGciOiJub25lIn0.e30.", NOW).is_err());
    }
}

//! Whether a secret that somebody chose, and others may try in their own time, can be guessed.
//!
//! Whoever holds one token can try secrets on it, as many a second as their machines make. So a secret must be beyond all
//! lists: long by itself, and long without the words that every example of such a secret is made of.

/// As many guesses as it must take at least.
const LEAST: u64 = 1_000_000_000_000_000;
/// The same once the words of examples are left out.
const LEAST_OF_ITS_OWN: u64 = 1_000_000_000_000;
/// As many letters as are judged at once, from the front and from the end.
const MOST_JUDGED: usize = 64;

/// The words that documents, templates and hurried people make their examples of.
const OF_EXAMPLES: &[&str] = &[
    "a",
    "api",
    "app",
    "at",
    "auth",
    "authentication",
    "authorization",
    "be",
    "bit",
    "bits",
    "byte",
    "bytes",
    "change",
    "changed",
    "changeme",
    "char",
    "characters",
    "chars",
    "default",
    "dev",
    "development",
    "duet",
    "example",
    "for",
    "here",
    "hmac",
    "in",
    "insecure",
    "is",
    "it",
    "jwt",
    "key",
    "least",
    "long",
    "longer",
    "me",
    "minimum",
    "must",
    "my",
    "now",
    "password",
    "placeholder",
    "please",
    "private",
    "prod",
    "production",
    "replace",
    "sample",
    "secret",
    "secure",
    "security",
    "server",
    "sha",
    "should",
    "signing",
    "some",
    "something",
    "string",
    "strong",
    "super",
    "test",
    "than",
    "that",
    "this",
    "to",
    "token",
    "tokens",
    "value",
    "very",
    "with",
    "your",
    "32",
    "64",
    "128",
    "256",
    "384",
    "512",
];

/// Whether a secret can be guessed.
pub fn is_guessable(secret: &str) -> bool {
    let letters: Vec<char> = secret.chars().collect();
    let head: String = letters.iter().take(MOST_JUDGED).collect();
    let tail: String = letters.iter().skip(letters.len().saturating_sub(MOST_JUDGED)).collect();
    is_guessable_part(&head) && is_guessable_part(&tail)
}

fn is_guessable_part(text: &str) -> bool {
    let own = words(text).into_iter().filter(|word| !OF_EXAMPLES.contains(&word.to_lowercase().as_str()));
    let own = own.collect::<Vec<_>>().join(" ");
    let takes = |text: &str| zxcvbn::zxcvbn(text, &["duet"]).guesses();
    takes(text) < LEAST || takes(&own) < LEAST_OF_ITS_OWN
}

/// Runs of letters and runs of digits; a capital begins a word as well.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut last = ' ';
    for letter in text.chars() {
        let begins = last.is_numeric() != letter.is_numeric() || (last.is_lowercase() && letter.is_uppercase());
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(letter);
        }
        last = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_documents_show_and_people_type_is_guessable() {
        for secret in [
            "",
            "0123456789abcdef0123456789abcdef",
            "changemechangemechangemechangeme",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "qwertyuiopasdfghjklzxcvbnm123456",
            "passwordpasswordpasswordpassword",
            "super-secret-key-super-secret-key",
            "duet-secret-duet-secret-duet-secret",
            "your-256-bit-secret",
            "a-string-secret-at-least-256-bits-long",
            "ThisIsASecretKeyForJwtAuthentication",
            "YourSuperSecretKeyThatIsAtLeast32Characters",
            "MySuperSecretKeyThatIsLongEnough1234567890",
            "please-change-me-to-something-else-now",
            "my-secret-key-for-jwt-tokens-2026",
            "this is my custom Secret key for authentication",
        ] {
            assert!(is_guessable(secret), "{secret}");
        }
    }

    #[test]
    fn what_is_random_or_long_enough_is_not() {
        for secret in [
            "9f86d081884c7d659a2feaa0c55ad015",
            "kP3nV8sQz1Lw7Yt5Rb0Xc9Md2Fg6Hj4A",
            "5hBv+0WkXn2qzj9S3m4rJ7pQ8tUdYcEa",
            "lanterns over the harbour at dusk",
            "correct horse battery staple correct",
            "reliability-secret-of-at-least-thirty-two-bytes",
            "another-secret-of-at-least-thirty-two-bytes!",
        ] {
            assert!(!is_guessable(secret), "{secret}");
        }
        for _ in 0..20 {
            let random = crate::texts::hex(&crate::ids::random_bytes::<32>().unwrap());
            assert!(!is_guessable(&random), "{random}");
        }
        // What is weak at its front may be strong at its end.
        assert!(!is_guessable(&format!("{}{}", "a".repeat(64), "kP3nV8sQz1Lw7Yt5Rb0Xc9Md2Fg6Hj4A".repeat(2))));
    }
}

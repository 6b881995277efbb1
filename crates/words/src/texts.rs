//! Small rules about texts that several resources share.

/// Something with one @, a dot after it and no spaces: what can be said without sending a letter.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    text.len() <= 254
        && !local.is_empty()
        && !domain.contains('@')
        && (domain == "localhost" || domain.contains('.'))
        && domain.split('.').all(|label| !label.is_empty())
        && !text.chars().any(|letter| letter.is_whitespace() || letter.is_control())
}

/// A language, and a country where it matters: `de-AT`.
pub fn is_language_tag(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    (2..=3).contains(&language.len())
        && language.bytes().all(|letter| letter.is_ascii_lowercase())
        && parts.all(|part| (2..=8).contains(&part.len()) && part.bytes().all(|letter| letter.is_ascii_alphanumeric()))
}

pub fn is_web_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !text.chars().any(char::is_whitespace))
}

/// The checksum of ISO 13616, over letters and digits without spaces.
pub fn is_iban(text: &str) -> bool {
    let (Some(head), Some(tail)) = (text.get(..4), text.get(4..)) else { return false };
    let well_formed = (15..=34).contains(&text.len())
        && head.bytes().take(2).all(|byte| byte.is_ascii_uppercase())
        && head.bytes().skip(2).all(|byte| byte.is_ascii_digit())
        && tail.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    well_formed
        && tail
            .chars()
            .chain(head.chars())
            .filter_map(|letter| letter.to_digit(36))
            .fold(0, |rest, value| (rest * if value < 10 { 10 } else { 100 } + value) % 97)
            == 1
}

/// A bank identifier code of ISO 9362: 8 or 11 characters.
pub fn is_bic(text: &str) -> bool {
    matches!(text.len(), 8 | 11)
        && text.bytes().take(6).all(|byte| byte.is_ascii_uppercase())
        && text.bytes().skip(6).all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// What is compared when a record is searched for or sorted by name.
pub fn search_key(text: &str) -> String {
    text.to_lowercase()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// The digits of a number, in room for any. The engine of formats takes many times as long.
pub fn digits(number: u64, room: &mut [u8; 20]) -> &[u8] {
    let (mut at, mut rest) = (room.len(), number);
    loop {
        at -= 1;
        room[at] = b'0' + (rest % 10).to_le_bytes()[0];
        rest /= 10;
        if rest == 0 {
            return &room[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_cannot_be_reached_are_refused() {
        for (text, good) in [
            ("a@example.test", true),
            ("admin@localhost", true),
            ("a@b", false),
            ("a b@example.test", false),
            ("@example.test", false),
            ("a@@example.test", false),
            ("a@example..test", false),
        ] {
            assert_eq!(is_email(text), good, "{text}");
        }
    }

    #[test]
    fn an_iban_has_a_checksum() {
        for (text, good) in [
            ("DE89370400440532013000", true),
            ("GB29NWBK60161331926819", true),
            ("DE89370400440532013001", false),
            ("DE89", false),
            ("de89370400440532013000", false),
        ] {
            assert_eq!(is_iban(text), good, "{text}");
        }
    }

    #[test]
    fn the_digits_of_a_number_are_those_that_are_shown() {
        for number in [0, 7, 10, 99, 100, 1_234_567_890, u64::MAX] {
            assert_eq!(digits(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}

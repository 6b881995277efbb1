//! What strangers wrote, quoted back to them: never more of it than a person reads.

use std::borrow::Cow;

/// So many characters of what was sent stand in a fault.
pub const MOST_QUOTED: usize = 64;

/// The text, or its beginning and an ellipsis.
pub fn quoted(text: &str) -> Cow<'_, str> {
    clipped(text, MOST_QUOTED)
}

/// The text, cut behind so many characters, never within one.
pub fn clipped(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_cut_between_characters() {
        assert_eq!(quoted("short"), "short");
        let whole = "é".repeat(MOST_QUOTED);
        assert_eq!(quoted(&whole), whole);
        assert_eq!(quoted(&format!("{whole}x")), format!("{whole}…"));
        assert_eq!(quoted(&"🦀".repeat(1 << 20)).chars().count(), MOST_QUOTED + 1);
    }
}

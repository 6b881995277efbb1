//! What somebody meant by a name that there is not.

/// Nothing longer is a slip.
const LONGEST: usize = 40;

/// The name that may have been meant: written in another way, or a letter or two away.
pub fn meant<'n>(written: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let written = Some(plain(written)).filter(|plain| plain.len() <= LONGEST)?;
    let slips = if written.chars().count() < 6 { 1 } else { 2 };
    let near = known.map(|name| (distance(&plain(name), &written), name)).filter(|(far, _)| *far <= slips);
    near.min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

fn plain(text: &str) -> String {
    text.to_lowercase().replace(['_', '-'], "")
}

/// How many letters must change to turn one text into the other.
pub fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in to.iter().enumerate() {
            let substituted = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_what_it_is_like() {
        let known = ["partyId", "dueDate", "date", "status", "lines"];
        for (written, found) in [
            ("party_id", Some("partyId")),
            ("partyld", Some("partyId")),
            ("dueDat", Some("dueDate")),
            ("dates", Some("date")),
            ("statu", Some("status")),
            ("colour", None),
            ("line", Some("lines")),
            ("nmae", None),
            ("", None),
        ] {
            assert_eq!(meant(written, known.into_iter()), found, "{written}");
        }
        assert_eq!(meant(&"x".repeat(1_000_000), known.into_iter()), None);
    }
}

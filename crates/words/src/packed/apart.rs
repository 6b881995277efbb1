//! What a JSON text says apart from how it says it: its values, each but once; then which of them is said where; then the
//! rest. Records of one kind differ in their values, hardly in which of them is said where, and not in the rest, which a
//! dictionary knows.
//!
//! What is packed once is read ever after: nothing here changes but with another dictionary.

/// What ends a value: no JSON has one within.
const END: u8 = b'\n';
/// What stands behind the values, and behind what says which they are.
const REST: u8 = 0;
/// A value, in the rest. Which it is: the next one.
const NEXT: u8 = 1;
/// ... the one that was said last; one more is the one before it.
const LAST: u8 = 0x80;
/// ... one that was said so long ago that the next byte says how long, from one on.
const LONG_AGO: u8 = 0xff;
/// As many values as are found without that byte, and with it.
const NEAR: usize = 0x7f;
const MOST: usize = NEAR + 0xff;

/// How an identifier begins that was counted, and what stands for it.
const COUNTED: &[u8] = b"\"d0e70000-0000-8000-8000-";
const MARK: u8 = b'#';
/// How many digits follow.
const DIGITS: usize = 12;

/// Values that say nothing of a record.
const NOTHING: [&[u8]; 3] = [b"0", b"0.00", b"\"\""];

/// Takes a text apart. Nothing where it is no JSON, or has keys that are not plain.
pub(super) fn apart(json: &str) -> Option<Vec<u8>> {
    let text = json.as_bytes();
    let (mut values, mut which, mut rest) = (Vec::with_capacity(text.len()), vec![REST], vec![REST]);
    let mut said = Said::default();
    // What stands between two values is put into the rest at once.
    let (mut at, mut begun) = (0, 0);
    while let Some(&byte) = text.get(at) {
        let until = match byte {
            b'"' => end_of_text(text, at)?,
            b'-' | b'0'..=b'9' => end_of_number(text, at),
            b' '..=b'~' => {
                at += 1;
                continue;
            }
            _ => return None,
        };
        let token = text.get(at..until)?;
        if byte == b'"' && text.get(until) == Some(&b':') {
            if !token.iter().copied().all(is_plain) {
                return None;
            }
        } else if !NOTHING.contains(&token) {
            rest.extend(text.get(begun..at)?);
            rest.push(NEXT);
            begun = until;
            said.note(token, &mut values, &mut which)?;
        }
        at = until;
    }
    rest.extend(text.get(begun..)?);
    values.append(&mut which);
    values.append(&mut rest);
    Some(values)
}

/// What a key may have: what nests is told by its brackets alone.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'{' | b'}' | b'[' | b']')
}

fn end_of_text(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            0..b' ' => return None,
            _ => at += 1,
        }
    }
}

fn end_of_number(text: &[u8], from: usize) -> usize {
    let more = text.iter().skip(from).take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
    from + more.count()
}

/// The values that were said, each with how it ends, by which most are told apart; in the order in which they were said last.
#[derive(Default)]
struct Said<'t> {
    endings: Vec<u64>,
    tokens: Vec<&'t [u8]>,
}

impl<'t> Said<'t> {
    /// Notes a value: when it was said last, or that it is a new one.
    fn note(&mut self, token: &'t [u8], values: &mut Vec<u8>, which: &mut Vec<u8>) -> Option<()> {
        let ending = ending(token);
        if let Some(place) = self.place(ending, token) {
            let ago = self.tokens.len() - 1 - place;
            self.endings.remove(place);
            self.tokens.remove(place);
            match u8::try_from(ago) {
                Ok(near) if ago < NEAR => which.push(LAST + near),
                _ => which.extend([LONG_AGO, u8::try_from(ago + 1 - NEAR).ok()?]),
            }
        } else {
            keep(token, values);
            which.push(NEXT);
        }
        put_last(&mut self.endings, ending);
        put_last(&mut self.tokens, token);
        Some(())
    }

    /// Where a value stands, if it was said. Most were not, which their endings tell at once.
    fn place(&self, ending: u64, token: &[u8]) -> Option<usize> {
        if !self.endings.contains(&ending) {
            return None;
        }
        let all = self.endings.iter().zip(&self.tokens);
        all.rev().position(|(other, said)| *other == ending && *said == token).map(|ago| self.tokens.len() - 1 - ago)
    }
}

fn ending(token: &[u8]) -> u64 {
    token.iter().rev().take(8).fold(0, |ending, byte| ending << 8 | u64::from(*byte))
}

/// The last one last, and no more than are found.
fn put_last<T>(order: &mut Vec<T>, value: T) {
    if order.len() == MOST {
        order.remove(0);
    }
    order.push(value);
}

fn keep(token: &[u8], values: &mut Vec<u8>) {
    let number = token.strip_prefix(COUNTED).and_then(|rest| rest.strip_suffix(b"\""));
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    match (number.filter(|digits| digits.len() == DIGITS && digits.iter().all(is_digit)), token.strip_suffix(b"\"")) {
        (Some(digits), _) => {
            values.push(MARK);
            values.extend(digits.iter().skip_while(|digit| **digit == b'0'));
        }
        (None, Some(text)) => values.extend(text),
        (None, None) => values.extend(token),
    }
    values.push(END);
}

/// A text as it was.
pub(super) fn together(bytes: &[u8]) -> Option<String> {
    put_together(bytes, false)
}

/// The same, of an object, up to the end of its first member.
pub(super) fn beginning(bytes: &[u8]) -> Option<String> {
    put_together(bytes, true)
}

fn put_together(bytes: &[u8], is_first_alone: bool) -> Option<String> {
    let mut parts = bytes.splitn(3, |byte| *byte == REST);
    let mut values = parts.next()?.split_inclusive(|byte| *byte == END);
    let (mut which, rest) = (parts.next()?.iter(), parts.next()?);
    let (mut text, mut said, mut depth) = (Vec::with_capacity(bytes.len() * 2), Vec::new(), 0_usize);
    for byte in rest {
        match byte {
            &NEXT => {
                let value = match *which.next()? {
                    NEXT => values.next()?.strip_suffix(&[END])?,
                    LONG_AGO => ago(&mut said, NEAR - 1 + usize::from(*which.next()?))?,
                    near => ago(&mut said, usize::from(near.checked_sub(LAST)?))?,
                };
                say(value, &mut text)?;
                if text.len() > super::LONGEST {
                    return None;
                }
                put_last(&mut said, value);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b' '..=b'~' => {}
            _ => return None,
        }
        text.push(*byte);
        if is_first_alone && depth == 1 && matches!(byte, b'}' | b']') {
            break;
        }
    }
    String::from_utf8(text).ok()
}

/// The value that was said so many values ago.
fn ago<'v>(said: &mut Vec<&'v [u8]>, many: usize) -> Option<&'v [u8]> {
    Some(said.remove(said.len().checked_sub(1 + many)?))
}

fn say(value: &[u8], text: &mut Vec<u8>) -> Option<()> {
    match value.split_first()? {
        (&MARK, digits) => {
            text.extend(COUNTED);
            text.resize(text.len() + DIGITS.checked_sub(digits.len())?, b'0');
            text.extend(digits);
            text.push(b'"');
        }
        (b'"', _) => {
            text.extend(value);
            text.push(b'"');
        }
        _ => text.extend(value),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_apart_comes_together() {
        let many: Vec<String> = (0..1000).map(|number| (number * 7 % 600).to_string()).collect();
        for text in [
            "",
            "{}",
            "[]",
            "null",
            r#"{"a":"b","c":["b",1,1.50,-2e5,true,null,"","\"\\\n"]}"#,
            r#"{ "a" : "b" , "é" : 1 }"#,
            r#"{"id":"d0e70000-0000-8000-8000-00000000063c","nil":"d0e70000-0000-8000-8000-000000000000"}"#,
            r#"{"id":"d0e70000-0000-8000-8000-00000000063C","x":"d0e70000-0000-8000-8000-zzzzzzzzzzzz","y":"d0e70000-0000-8000-8000-"}"#,
            r##"["#1","é","😀","é"]"##,
            &format!("[{}]", many.join(",")),
            "12.00-3",
        ] {
            assert_eq!(apart(text).and_then(|bytes| together(&bytes)).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_differs_in_values_has_the_same_rest() {
        let rest = |text: &str| {
            let bytes = apart(text).unwrap();
            bytes.splitn(2, |byte| *byte == REST).last().unwrap().to_vec()
        };
        let one = r#"{"name":"Elbe","net":1.50,"of":[{"name":"Elbe","net":1.50}]}"#;
        assert_eq!(rest(one), rest(&one.replace("Elbe", "Nordwind Cafés").replace("1.50", "17")));
        assert_ne!(rest(one), rest(&one.replacen("1.50", "17", 1)));
    }

    #[test]
    fn what_is_no_json_and_what_has_odd_keys_is_left_alone() {
        for text in ["{\"é\":1}", "{\"{\":1}", "\"torn", "\u{1}", "ä", "\"\n\"", "\"a\\"] {
            assert_eq!(apart(text), None, "{text}");
        }
    }

    #[test]
    fn the_first_member_is_read_alone() {
        let text = r#"{"kept":{"a":[{"b":"x"}],"c":"}"},"after":{"a":"x"}}"#;
        assert_eq!(beginning(&apart(text).unwrap()).as_deref(), Some(r#"{"kept":{"a":[{"b":"x"}],"c":"}"}"#));
        assert_eq!(beginning(&apart(r#"{"kept":1}"#).unwrap()).as_deref(), Some(r#"{"kept":1}"#));
    }

    #[test]
    fn what_is_torn_does_not_come_together() {
        let torn: [&[u8]; 11] = [
            b"",
            b"1\n",
            b"1\n\0\x01",
            b"1\0\x01\0\x01",
            b"1\n\0\x01\0\x01\x01",
            b"1\n\0\x01\x81\0\x01\x01",
            b"\0\x80\0\x01",
            b"1\n\0\x01\xff\0\x01\x01",
            b"\0\0\x02",
            b"\0\0}",
            b"\n\0\x01\0\x01",
        ];
        for torn in torn {
            assert_eq!(together(torn), None, "{torn:?}");
        }
        assert_eq!(together(b"#1234567890123\n\0\x01\0\x01"), None);
    }
}

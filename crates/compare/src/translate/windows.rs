//! The commands of a text for the prompt of Windows, where `^` escapes, `%NAME%` is a variable, and programs take their
//! arguments apart by `"` themselves.

use super::letters::{Letter, Quoting, said};
use super::shell::{Command, Redirection, Word};

/// Whether a text is for that prompt: lines go on after a `^`, or quotes are escaped by one.
pub(super) fn is_meant(text: &str) -> bool {
    let named = |name: &str| text.lines().any(|line| line.trim_start().starts_with(name));
    [" ^\n", " ^\r\n", " ^\""].iter().any(|sign| text.contains(sign)) || named("curl.exe ") || has_variable(text)
}

/// Whether there is a `%NAME%`, and none of another shell's.
fn has_variable(text: &str) -> bool {
    if text.contains('$') {
        return false;
    }
    let mut rest = text;
    while let Some(start) = rest.find('%') {
        rest = &rest[start + 1..];
        let length = variable(rest);
        if length.is_some_and(|length| {
            rest[..length - 1].bytes().any(|byte| byte.is_ascii_uppercase() && !byte.is_ascii_hexdigit())
        }) {
            return true;
        }
    }
    false
}

/// How long the rest of `%NAME%` is after its first sign.
fn variable(rest: &str) -> Option<usize> {
    let end = rest.find('%').filter(|end| *end > 0)?;
    let is_name = rest[..end].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && !rest.as_bytes()[0].is_ascii_digit()).then_some(end + 1)
}

pub(super) fn commands(text: &str) -> Vec<Command> {
    let mut found = Vec::new();
    let (mut command, mut word) = (Command::default(), None::<Word>);
    // What the prompt takes for quoted, and what the program does.
    let (mut shut, mut quoted, mut at, mut pipeline) = (false, false, 0, 1);
    let caret = |shut: bool, quoted: bool| match (shut, quoted) {
        (true, _) => Quoting::WindowsDouble,
        (false, true) => Quoting::WindowsCaret,
        (false, false) => Quoting::Windows,
    };
    while let Some(letter) = text[at..].chars().next() {
        let from = at;
        at += letter.len_utf8();
        let (mut letter, mut is_escaped) = (letter, false);
        if letter == '^' && !shut {
            if let Some(rest) = ["\r\n", "\n"].iter().find(|end| text[at..].starts_with(**end)) {
                at += rest.len();
                continue;
            }
            let Some(next) = text[at..].chars().next() else { break };
            at += next.len_utf8();
            (letter, is_escaped) = (next, true);
        }
        match letter {
            '"' => {
                if !is_escaped {
                    shut = !shut;
                }
                quoted = !quoted;
                word.get_or_insert_with(|| Word { letters: Vec::new(), written: from..at }).written.end = at;
                continue;
            }
            '\\' if text[at..].starts_with('"') || text[at..].starts_with("^\"") => {
                at += if text[at..].starts_with('^') { 2 } else { 1 };
                letter = '"';
            }
            '\n' => (shut, quoted) = (false, false),
            _ => {}
        }
        let ends_word = letter.is_whitespace() && !quoted;
        let ends_command = letter == '\n' || !shut && !quoted && !is_escaped && matches!(letter, '|' | '&');
        if ends_word || ends_command {
            command.words.extend(word.take());
            if ends_command {
                command.pipeline = pipeline;
                if !command.words.is_empty() {
                    found.push(std::mem::take(&mut command));
                }
                pipeline += usize::from(letter != '|');
            }
            continue;
        }
        let quoting = caret(shut, quoted);
        let word = word.get_or_insert_with(|| Word { letters: Vec::new(), written: from..at });
        match variable(&text[at..]).filter(|_| letter == '%') {
            Some(length) => {
                at += length;
                word.letters.push(Letter::opaque(from..at, quoting));
            }
            None => word.letters.push(Letter::new(letter, from..at, quoting)),
        }
        word.written.end = at;
    }
    command.words.extend(word);
    command.pipeline = pipeline;
    if !command.words.is_empty() {
        found.push(command);
    }
    let mut last = None;
    for command in &mut found {
        command.is_piped = last == Some(command.pipeline);
        last = Some(command.pipeline);
        redirect(command);
    }
    found
}

/// Takes out of a command's words where it reads from and writes to.
fn redirect(command: &mut Command) {
    let mut words = std::mem::take(&mut command.words).into_iter();
    while let Some(word) = words.next() {
        let sign = word.letters.iter().take_while(|letter| letter.is('>') || letter.is('<')).count();
        if sign == 0
            || word.letters.iter().any(|letter| letter.quoting != Quoting::Windows) && sign != word.letters.len()
        {
            command.words.push(word);
            continue;
        }
        let is_read = word.letters[0].is('<');
        let target = if sign < word.letters.len() {
            Some(Word { letters: word.letters[sign..].to_vec(), written: word.written.clone() })
        } else {
            words.next()
        };
        let Some(target) = target.filter(|target| !said(&target.letters).eq_ignore_ascii_case("nul")) else {
            command.redirections.push(Redirection::Away);
            continue;
        };
        command.redirections.push(if is_read { Redirection::From(target) } else { Redirection::To(target) });
    }
}

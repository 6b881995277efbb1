#![cfg(test)]

use super::letters::{Edits, Part, Quoting, said, written};
use super::readers::{Kind, Places, Spot};
use super::{Translator, jq, scripts, shell, windows};
use crate::dialect::tests::two;
use std::sync::Arc;

fn edited(text: &str) -> String {
    let (a, b) = two();
    let translator = Translator { dialects: [a, b].map(Arc::new).to_vec(), shared: Some("/api".into()) };
    translator.edit(text, None, 100).unwrap().text
}

#[test]
fn words_are_written_as_what_is_around_them() {
    let parts = [Part::Words("a 'b' \"c\" $d".into()), Part::Variable("$E".into())];
    for (quoting, expected) in [
        (Quoting::Bare, r#"a\ \'b\'\ \"c\"\ \$d"$E""#),
        (Quoting::Single, r#"a '\''b'\'' "c" $d'"$E"'"#),
        (Quoting::Double, r#"a 'b' \"c\" \$d$E"#),
        (Quoting::Escaped, r#"a \'b\' "c" $d'"$E"$'"#),
        (Quoting::WindowsDouble, r#"a 'b' \"c\" $d$E"#),
        (Quoting::Json, r#"a 'b' \"c\" $d$E"#),
        (Quoting::Plain, r#"a 'b' "c" $d$E"#),
    ] {
        assert_eq!(written(&parts, quoting), expected, "{quoting:?}");
    }
}

#[test]
fn changes_do_not_touch_each_other() {
    let mut edits = Edits::default();
    edits.put(4..5, "five".into());
    edits.put(0..1, "one".into());
    edits.put(1..1, "!".into());
    assert_eq!(edits.apply("1 2 5 é"), "one! 2 five é");
}

/// The words of each command, with `?` for what only the shell knows.
fn words(commands: &[shell::Command]) -> Vec<Vec<String>> {
    let plain = |word: &shell::Word| {
        word.letters.iter().map(|one| if one.is_opaque() { "?".to_owned() } else { said(&[*one]) }).collect::<String>()
    };
    commands.iter().map(|command| command.words.iter().map(plain).collect()).collect()
}

#[test]
fn a_script_is_read_as_a_shell_reads_it() {
    let script =
        "# no 'word\na 'b c' \"d $E\" f\\ g 2>err <in; h=$(i \"$(j)\" | k) # l\nm <<END | n\no $P\nEND\nq && `r s`";
    let (commands, failed) = shell::commands(script);
    assert_eq!(failed, None);
    let expected: [&[&str]; 8] =
        [&["a", "b c", "d ?", "f g"], &["j"], &["i", "?"], &["k"], &["h=?"], &["m"], &["n"], &["q"]];
    assert_eq!(words(&commands[..8]), expected);
    assert_eq!(words(&commands[8..]), [vec!["r", "s"], vec!["?"]]);
    assert_eq!((commands[2].pipeline, commands[5].pipeline), (commands[3].pipeline, commands[6].pipeline));
    assert_ne!(commands[0].pipeline, commands[4].pipeline);
    assert_eq!(said(&commands[5].here).chars().count(), "o $P\n".len());
    for (open, at) in [("a 'b", 2), ("a \"b", 2), ("a $'b", 2), ("a ${b", 2)] {
        assert_eq!(shell::commands(open).1.map(|(at, _)| at), Some(at), "{open}");
    }
    assert!(shell::commands("a $(b").1.is_some() && shell::commands("a `b").1.is_some());
}

#[test]
fn a_prompt_of_windows_is_read_as_it_reads() {
    let text = "curl ^\r\n \"a b\" ^\"c^&d^\" \"{\\\"e\\\":1}\" %F% | g & h\n";
    assert!(windows::is_meant(text) && !windows::is_meant("curl h | grep '[^\"]' # 5% of $X\\\n"));
    let found = windows::commands(text);
    assert_eq!(words(&found), [vec!["curl", "a b", "c&d", "{\"e\":1}", "?"], vec!["g"], vec!["h"]]);
    assert!(found[0].pipeline == found[1].pipeline && found[1].pipeline != found[2].pipeline);
}

#[test]
fn a_filter_follows_the_answer() {
    let (a, b) = two();
    let moved = |places: &Places, filter: &str, is_login: bool| {
        let (read, _) = jq::read(places, filter, Spot::Answer(if is_login { Kind::LogIn } else { Kind::Record }, true));
        let letters: Vec<char> = filter.chars().collect();
        (read.prefix.unwrap_or_default() + &scripts::apply(&letters, &read.changes), read.warnings.len())
    };
    for (in_a, in_b, is_login) in [
        (".data.items[0].id", ".items[0].id", false),
        (".data", ".", false),
        (".data[0]", ".[0]", false),
        (".data.accessToken", ".token", true),
        ("[.data.items[] | {data: .id, n: \".data\"}]", "[.items[] | {data: .id, n: \".data\"}]", false),
        ("{n: (.data.items | length), p: .data.pagination}", "{n: (.items | length), p: .pagination}", false),
        (".data | map(.id)", "map(.id)", false),
        (".errors", ".errors", false),
        (".", ".", false),
    ] {
        let operation = if is_login { "login" } else { "partiesList" };
        let [there, back] = [Places::of(&a, &b, operation), Places::of(&b, &a, operation)];
        if !in_a.ends_with("map(.id)") {
            assert_eq!(moved(&there, in_a, is_login), (in_b.to_owned(), 0));
        }
        if in_a != ".data" {
            assert_eq!(moved(&back, in_b, is_login), (in_a.to_owned(), 0));
        }
    }
    assert_eq!(moved(&Places::of(&a, &b, "partiesList"), ".success", false), (".success".to_owned(), 1));
    assert_eq!(moved(&Places::of(&a, &b, "partiesList"), ".message", false), (".title".to_owned(), 1));
}

#[test]
fn what_differs_changes_in_its_quotes() {
    for (given, expected) in [
        ("curl 'http://h/a/api/'\"$B\"/parties -s", "curl 'http://h/b/api'/parties -s"),
        ("curl \"$X/a/api/\"$B'/parties'", "curl \"$X/b/api\"'/parties'"),
    ] {
        // However the quotes are put: a shell reads the same words.
        let found = edited(given);
        let (new, _) = shell::commands(&found);
        let (wanted, _) = shell::commands(expected);
        assert_eq!(words(&new)[0][1], words(&wanted)[0][1], "{found}");
        assert!(found.contains("-H \"X-Business-Id: $B\""), "{found}");
    }
    assert_eq!(
        edited("curl \\\n -H 'X-Business-Id: b 1' \\\n http://h/b/api/parties"),
        "curl \\\n http://h/a/api/b%201/parties"
    );
    assert_eq!(edited("{\"log\": {\"entries\": []}}"), "{\"log\": {\"entries\": []}}");
}

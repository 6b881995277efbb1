//! What people type: the commands in groups, and examples below the help of each. Each example is parsed by a test.

use clap::Command;

/// The commands as somebody looks for them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Begin", &["init", "serve", "health"]),
    ("People and tenants", &["user", "tenant", "log", "usage"]),
    ("Books", &["verify", "export", "backup", "restore", "copy-database", "convert", "migrate", "reseal"]),
    ("Configuration and health", &["config", "doctor"]),
    ("Two dialects", &["compare", "translate", "openapi"]),
    ("Shell", &["completions", "help"]),
];

/// A line for the shell, and what it does.
type Example = (&'static str, &'static str);

/// By the words of the command.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "",
        &[
            ("duet serve --demo", "look around in sample companies"),
            ("duet init", "set up a server of your own"),
            ("duet help serve", "read about one command"),
        ],
    ),
    (
        "init",
        &[
            ("duet init", "ask for what is needed"),
            ("duet init --email me@example.com --dialect b < /dev/null", "ask nothing; a password is made"),
            (
                "duet init --email me@example.com --database postgres://duet@127.0.0.1/duet --password-stdin < FILE",
                "on PostgreSQL, with a password from a file",
            ),
        ],
    ),
    (
        "serve",
        &[
            ("duet serve", "with the configuration in ./config"),
            ("duet serve --demo", "sample companies, thrown away at the end"),
            ("duet serve --listen 127.0.0.1:8080 --dialect b", "elsewhere, one dialect alone"),
        ],
    ),
    ("health", &[("duet health --ready", "exit 0 where requests are answered, books included")]),
    (
        "migrate",
        &[
            ("duet migrate", "before the new version serves"),
            ("duet migrate --distribute", "once, where the database is a Citus cluster"),
        ],
    ),
    (
        "convert",
        &[
            ("duet convert sqlite:old.db sqlite:new.db", "books of before this schema"),
            ("duet convert sqlite:old.db postgres://duet@127.0.0.1/duet", "the same, into PostgreSQL"),
        ],
    ),
    (
        "copy-database",
        &[("duet copy-database sqlite:data/duet.db postgres://duet@127.0.0.1/duet", "from a file into PostgreSQL")],
    ),
    ("backup", &[("duet backup /backups/monday --verify", "while the server serves, and proved")]),
    (
        "restore",
        &[
            ("duet restore /backups/monday --key /safe/master-key", "into a place without books"),
            ("duet restore /backups/monday --replace", "in place of books that are there"),
        ],
    ),
    ("openapi", &[("duet openapi b > duet.json", "for a generator of clients")]),
    ("doctor", &[("duet doctor", "what to know and to do"), ("duet doctor --json", "the same for a monitor")]),
    (
        "verify",
        &[
            ("duet verify", "prove all companies"),
            ("duet verify --anchor heads.json", "also that nothing was taken from the logs since"),
        ],
    ),
    ("reseal", &[("duet reseal", "make a new master key, and bring the books under it")]),
    ("log", &[("duet log | tail -n 20", "the last changes of accounts and rights")]),
    ("usage", &[("duet usage", "who still speaks which dialect")]),
    (
        "compare",
        &[
            ("duet compare partiesList", "one question in both dialects"),
            ("duet compare --explore --html report.html", "all operations, with a report"),
        ],
    ),
    ("translate", &[("duet translate --to b < commands.sh", "a script with curl, for the other dialect")]),
    ("export", &[("duet export --business ID | hledger -f - balance", "let another program add the books up")]),
    ("user", &[("duet user list", "who has an account")]),
    (
        "user add",
        &[
            ("duet user add me@example.com", "a password is made and shown once"),
            ("duet user add me@example.com --business ID --role bookkeeper", "with a place in a company"),
        ],
    ),
    ("user list", &[("duet user list", "identifiers, e-mails and states")]),
    ("user passwd", &[("duet user passwd me@example.com --must-change", "they choose another at once")]),
    ("user logout", &[("duet user logout me@example.com", "on all their devices")]),
    ("user disable", &[("duet user disable me@example.com", "who left")]),
    ("user enable", &[("duet user enable me@example.com", "who came back")]),
    ("user reset-totp", &[("duet user reset-totp me@example.com", "whose phone is lost")]),
    ("user role", &[("duet user role me@example.com --business ID --role auditor", "reads, and writes nothing")]),
    ("tenant", &[("duet tenant list", "whose books are here")]),
    ("tenant add", &[("duet tenant add books.example.com --email me@example.com", "with its first user")]),
    ("tenant list", &[("duet tenant list", "their host names")]),
    (
        "tenant move",
        &[("duet tenant move books.example.com --to north", "to a database of the cluster north, while it is served")],
    ),
    ("tenant suspend", &[("duet tenant suspend books.example.com", "nobody is answered there")]),
    ("tenant resume", &[("duet tenant resume books.example.com", "it is served again")]),
    (
        "tenant put-back",
        &[("duet tenant put-back books.example.com", "after its folder was moved back below data/tenants")],
    ),
    ("tenant remove", &[("duet tenant remove books.example.com", "its folder is kept aside")]),
    ("config", &[("duet config show", "every key, and where its value is from")]),
    ("config check", &[("duet config check", "before a restart")]),
    ("config show", &[("duet config show --json", "for programs")]),
    ("completions", &[("duet completions bash > /etc/bash_completion.d/duet", "for all users")]),
];

/// The command line with its groups and examples.
pub(super) fn with_examples(command: Command) -> Command {
    let styles = command.get_styles().clone();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let mut groups = String::new();
    for (name, members) in GROUPS {
        groups.push_str(&format!("{header}{name}:{header:#}\n"));
        for member in *members {
            let about = match command.find_subcommand(member).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None => "Read about one of them".to_owned(),
            };
            groups.push_str(&format!("  {literal}{member:<14}{literal:#} {about}\n"));
        }
        groups.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    below(command, "").help_template(template)
}

fn below(command: Command, words: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let command = names.iter().fold(command, |command, name| {
        let words = if words.is_empty() { name.clone() } else { format!("{words} {name}") };
        command.mut_subcommand(name, |one| below(one, &words))
    });
    match EXAMPLES.iter().find(|(of, _)| *of == words) {
        Some((_, examples)) => {
            let styles = command.get_styles().clone();
            let (header, literal) = (*styles.get_header(), *styles.get_literal());
            let one = |(line, does): &Example| format!("\n  {literal}{line}{literal:#}\n      {does}");
            let text = examples.iter().map(one).collect::<String>();
            command.after_help(format!("{header}Examples:{header:#}{text}"))
        }
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;
    use std::collections::BTreeSet;

    fn all(command: &Command, words: &str, found: &mut Vec<String>) {
        found.push(words.to_owned());
        for one in command.get_subcommands() {
            all(one, format!("{words} {}", one.get_name()).trim(), found);
        }
    }

    #[test]
    fn every_command_stands_in_one_group_and_has_examples() {
        let whole = command();
        let mut found = Vec::new();
        all(&whole, "", &mut found);
        let shown: Vec<&str> = EXAMPLES.iter().map(|(words, _)| *words).collect();
        assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), shown.iter().copied().collect());
        assert_eq!(shown.len(), shown.iter().collect::<BTreeSet<_>>().len());
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, members)| *members).copied().collect();
        let mut named: Vec<&str> = whole.get_subcommands().map(Command::get_name).chain(["help"]).collect();
        named.sort_unstable();
        let mut sorted = grouped.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, named);
    }

    #[test]
    fn every_example_can_be_typed() {
        for (words, examples) in EXAMPLES {
            for (line, _) in *examples {
                let typed = line.split(['|', '<', '>']).next().unwrap();
                let parsed = command().try_get_matches_from(typed.split_whitespace());
                let is_help = |error: &clap::Error| error.kind() == clap::error::ErrorKind::DisplayHelp;
                assert!(parsed.as_ref().is_ok() || parsed.as_ref().is_err_and(is_help), "{line}: {parsed:?}");
                assert!(typed.starts_with(format!("duet {words}").trim()), "{line} is below {words}");
            }
        }
    }

    #[test]
    fn help_speaks_of_what_a_user_does_and_mistyped_words_are_guessed() {
        let help = command().render_help().to_string();
        assert!(help.starts_with("One set of books, two ways to speak to it\n"), "{help}");
        assert!(help.contains("  serve          Run the server"), "{help}");
        assert!(!help.contains('{') && help.contains("Examples:\n  duet serve --demo\n"), "{help}");
        for (typed, meant) in [(["duet", "sevre"], "serve"), (["duet", "--versoin"], "--version")] {
            let refused = command().try_get_matches_from(typed).unwrap_err().to_string();
            assert!(refused.contains(meant), "{refused}");
        }
    }
}

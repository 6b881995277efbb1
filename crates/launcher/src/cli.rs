//! The command line.

mod examples;
mod running;

use crate::compare::CompareOptions;
use crate::compare::translate::TranslateOptions;
use crate::config::Source;
use crate::demo::{Demo, Sample};
use crate::dialects::{SPOKEN, Spoken};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use ledger_core::access::Role;
use ledger_core::books::export::JournalFormat;
use ledger_core::day::Day;
pub(crate) use running::run;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

/// One set of books, two ways to speak to it.
#[derive(Parser)]
#[command(name = "duet", version, long_about = None)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Set up a server: ask what is needed, write the configuration, make the first user
    Init(InitOptions),
    /// Run the server; the schema is brought up to date first
    Serve(ServeOptions),
    /// Ask a running server whether it is well; for containers and scripts
    Health {
        #[command(flatten)]
        common: Common,
        /// Also ask whether its database answers and its schema is up to date
        #[arg(long)]
        ready: bool,
    },
    /// Bring the database's schema up to date
    Migrate {
        #[command(flatten)]
        common: Common,
        /// Seal books of a release that had no seals, as they stand
        #[arg(long)]
        seal_old_books: bool,
        /// Also keep the rows of each company together on one node of a Citus cluster, and those of all on its coordinator
        #[arg(long)]
        distribute: bool,
    },
    /// Bring books of a duet before this schema into a new database; the old ones are only read
    Convert {
        #[command(flatten)]
        common: Common,
        #[arg(help = "The database of the old books: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")]
        old: String,
        /// A database in which there is nothing yet, of either engine
        new: String,
        /// The file of the old master key [default: the one beside the old file, or that of --data]
        #[arg(long, value_name = "FILE")]
        old_key: Option<PathBuf>,
        /// Take books of a release that had no seals as they stand
        #[arg(long)]
        seal_old_books: bool,
    },
    /// Copy books into another database, of either engine, to the last row
    CopyDatabase {
        #[command(flatten)]
        common: Common,
        /// The database of the books
        from: String,
        /// A database in which there is nothing yet
        to: String,
    },
    /// Make a copy of the books while they are served: a folder with the copy and what it is known by
    Backup {
        #[command(flatten)]
        common: Common,
        /// A folder that is not there yet
        to: PathBuf,
        /// Also prove the copy, as verify does
        #[arg(long)]
        verify: bool,
    },
    /// Bring a copy that backup made into a place where there are no books
    Restore {
        #[command(flatten)]
        common: Common,
        /// The folder of the copy
        from: PathBuf,
        /// The file of the master key of these books; of many tenants a folder with HOST/master-key in it
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
        /// Put the copy in the place of books that are there; a file is kept aside
        #[arg(long)]
        replace: bool,
        /// Also prove the books before they take their place, as verify does
        #[arg(long)]
        verify: bool,
    },
    /// Print an OpenAPI document
    Openapi {
        /// Which dialect
        dialect: DialectChoice,
        /// The 3.1 document instead of 3.0.3
        #[arg(long = "3.1")]
        latest: bool,
    },
    /// Say what an operator should know, and what to do; exit 3 on warnings, 4 where books or service are at stake
    Doctor {
        #[command(flatten)]
        common: Common,
        /// As JSON, for programs
        #[arg(long)]
        json: bool,
    },
    /// Prove the books: recompute everything and compare; exit 1 when something is wrong
    Verify {
        #[command(flatten)]
        common: Common,
        /// Only this company
        #[arg(long, value_name = "ID")]
        business: Option<String>,
        /// Compare with the heads of audit logs that this file keeps, and keep the new ones in it; best on another machine
        #[arg(long, value_name = "FILE")]
        anchor: Option<PathBuf>,
        /// Trust what an earlier proof left in this file, and prove whole what came since
        #[arg(long, value_name = "FILE")]
        since: Option<PathBuf>,
        /// Compare with heads that were answered by audit-log/head: JSON, or a file of it
        #[arg(long, value_name = "JSON|FILE")]
        head: Option<String>,
        /// As JSON, for programs
        #[arg(long)]
        json: bool,
        /// Prove so many parts at once, of one moment; as many as there are cores when absent
        #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..=64))]
        hands: Option<u8>,
    },
    /// Bring the books under another master key, once they are proved; every server of them is stopped meanwhile
    Reseal {
        #[command(flatten)]
        common: Common,
        /// Read the new key from standard input; where none is configured, one is made and kept in its file
        #[arg(long)]
        new_key_stdin: bool,
    },
    /// Print the installation's own log: accounts, memberships and keys, one JSON text a line
    Log {
        #[command(flatten)]
        common: Common,
    },
    /// Show who still speaks which dialect
    Usage {
        #[command(flatten)]
        common: Common,
        /// As JSON, for programs
        #[arg(long)]
        json: bool,
    },
    /// Ask both dialects, or two servers, the same, and say where their answers differ; exit 1 when they do
    Compare(Box<CompareOptions>),
    /// Turn a curl command or a HAR of one dialect into the other's
    Translate(TranslateOptions),
    /// Write the ledger of a company as a plain text journal
    Export {
        #[command(flatten)]
        common: Common,
        /// The company
        #[arg(long, value_name = "ID")]
        business: String,
        /// The program that it is for
        #[arg(long, value_enum, default_value_t = JournalChoice::Hledger)]
        format: JournalChoice,
        /// A file to write; standard output when absent
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Manage users
    User {
        #[command(flatten)]
        common: Common,
        #[command(subcommand)]
        command: UserCommand,
    },
    /// Manage the tenants of the cloud edition
    Tenant {
        #[command(flatten)]
        common: Common,
        #[command(subcommand)]
        command: TenantCommand,
    },
    /// Look at the configuration
    Config {
        #[command(flatten)]
        common: Common,
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Where the configuration is, and what overrides it.
#[derive(Args, Clone)]
pub(crate) struct Common {
    /// Folder of appsettings.json and appsettings.Custom.json [default: ./config, else /etc/duet]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Folder for the SQLite file and the token secret
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data: Option<String>,
    #[arg(long, value_name = "URL", global = true, help = "sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")]
    pub(crate) database: Option<String>,
    /// The tenant that this is about, in the cloud edition
    #[arg(long, value_name = "HOST", global = true)]
    tenant: Option<String>,
    /// Override any key, such as --set JwtSettings:ExpirationMinutes=15
    #[arg(long, value_name = "KEY=VALUE", global = true, value_parser = key_and_value)]
    set: Vec<(String, String)>,
}

#[derive(Args, Clone)]
pub(crate) struct ServeOptions {
    #[command(flatten)]
    common: Common,
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Which dialects to serve
    #[arg(long, value_enum)]
    dialect: Option<DialectChoice>,
    /// Load sample companies with a known login into a throw-away database; on loopback only
    #[arg(long, value_enum, value_name = "SIZE", num_args = 0..=1, require_equals = true, default_missing_value = "normal")]
    demo: Option<Demo>,
    /// What happens in them: the same for the same number and day
    #[arg(long, value_name = "NUMBER", requires = "demo")]
    demo_seed: Option<u64>,
    /// Their last day, such as 2026-12-31; today when absent. What is overdue goes by the clock of the machine
    #[arg(long, value_name = "DAY", requires = "demo")]
    demo_day: Option<Day>,
}

/// What a new server is asked for; what is not said is asked at a terminal, and is the default elsewhere.
#[derive(Args, Clone)]
pub(crate) struct InitOptions {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Address and port to listen on [default: 127.0.0.1:5000]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Which dialects to serve [default: both]
    #[arg(long, value_enum)]
    pub(crate) dialect: Option<DialectChoice>,
    /// E-mail of the first user, who may make companies
    #[arg(long)]
    pub(crate) email: Option<String>,
    /// Read the first user's password from standard input
    #[arg(long)]
    pub(crate) password_stdin: bool,
}

/// A program that adds a journal up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JournalChoice {
    Hledger,
    Beancount,
}

impl From<JournalChoice> for JournalFormat {
    fn from(choice: JournalChoice) -> Self {
        match choice {
            JournalChoice::Hledger => Self::Hledger,
            JournalChoice::Beancount => Self::Beancount,
        }
    }
}

/// A dialect by its letter, or all of them.
#[derive(Clone, Copy)]
pub(crate) enum DialectChoice {
    One(&'static Spoken),
    Both,
}

impl DialectChoice {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::One(dialect) => dialect.letter,
            Self::Both => "Both",
        }
    }
}

impl ValueEnum for DialectChoice {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<DialectChoice>> =
            LazyLock::new(|| SPOKEN.iter().map(DialectChoice::One).chain([DialectChoice::Both]).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word().to_lowercase()))
    }
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Say what is wrong, unknown or weak; exit 2 on errors
    Check,
    /// Every key with its value and where it comes from, secrets masked
    Show {
        /// As JSON, for programs
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub(crate) struct UserName {
    /// E-mail or username
    pub(crate) user: String,
}

/// The built-in roles; who writes one a little wrong is told which it may have been.
fn roles() -> PossibleValuesParser {
    PossibleValuesParser::new(Role::TEXTS)
}

#[derive(Args)]
pub(crate) struct Member {
    /// Make the user a member of this company
    #[arg(long, value_name = "ID", requires = "role")]
    pub(crate) business: Option<String>,
    /// With this role, such as bookkeeper
    #[arg(long, requires = "business", value_parser = roles())]
    pub(crate) role: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum UserCommand {
    /// Add a user; without --password-stdin a password is made and shown once
    Add {
        /// E-mail
        #[arg(required_unless_present = "said", value_name = "EMAIL")]
        email: Option<String>,
        // As scripts of before have it.
        #[arg(long = "email", hide = true, conflicts_with = "email")]
        said: Option<String>,
        /// Another name to log in with
        #[arg(long)]
        username: Option<String>,
        /// Name to show [default: the e-mail]
        #[arg(long)]
        name: Option<String>,
        /// May make companies
        #[arg(long)]
        admin: bool,
        /// Read the password from standard input
        #[arg(long)]
        password_stdin: bool,
        /// They must choose another password before anything else
        #[arg(long)]
        must_change: bool,
        #[command(flatten)]
        member: Member,
    },
    /// List the users
    List,
    /// Change a password, and end the user's sessions and API keys
    Passwd {
        #[command(flatten)]
        user: UserName,
        /// Read the password from standard input
        #[arg(long)]
        password_stdin: bool,
        /// They must choose another password before anything else
        #[arg(long)]
        must_change: bool,
        /// Let the user's API keys go on
        #[arg(long)]
        keep_keys: bool,
    },
    /// End all sessions of a user; they may log in again
    Logout {
        #[command(flatten)]
        user: UserName,
    },
    /// Keep a user out, and end their sessions and API keys
    Disable {
        #[command(flatten)]
        user: UserName,
    },
    /// Let a disabled user in again
    Enable {
        #[command(flatten)]
        user: UserName,
    },
    /// Let a user who lost their authenticator log in without one
    ResetTotp {
        #[command(flatten)]
        user: UserName,
    },
    /// Make a user a member of a company, or change their role there
    Role {
        #[command(flatten)]
        user: UserName,
        /// The company
        #[arg(long, value_name = "ID")]
        business: String,
        /// What they may do there
        #[arg(long, value_parser = roles())]
        role: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum TenantCommand {
    /// Make a tenant with books and users of its own; without --password-stdin a password is made and shown once
    Add {
        /// The host name under which it is asked for
        host: String,
        /// A database of its own, in which there is nothing yet [default: a file in its folder]
        #[arg(long, value_name = "URL", conflicts_with = "cluster")]
        tenant_database: Option<String>,
        /// Make a database for it in this cluster of Cloud:Clusters
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
        /// E-mail of its first user, who may make companies
        #[arg(long)]
        email: String,
        /// Read the password from standard input
        #[arg(long)]
        password_stdin: bool,
    },
    /// List the tenants
    List {
        /// Also how each stands, where its books are, and by which release they were served last, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Move the books of a tenant to another cluster, or to a file, while they are served
    Move {
        /// Its host name
        host: String,
        /// The name of a cluster, or `folder` for a file of this machine
        #[arg(long, value_name = "NAME")]
        to: String,
    },
    /// Serve a tenant no more, until it is resumed; it is kept as it is
    Suspend {
        /// Its host name
        host: String,
    },
    /// Serve a tenant again that was suspended, or whose move was cut off
    Resume {
        /// Its host name
        host: String,
    },
    /// Take a tenant out; what it has is kept aside
    Remove {
        /// Its host name
        host: String,
    },
    /// Put a tenant back whose folder is below data/tenants and says in tenant.json what it is
    PutBack {
        /// Its host name
        host: String,
    },
}

pub(crate) fn key_and_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

impl Common {
    pub(crate) fn source(&self, more: Vec<(&str, Option<String>)>) -> Source {
        let mut overrides = self.set.clone();
        let flags = [
            ("Data", self.data.clone()),
            ("ConnectionStrings:Default", self.database.clone()),
            ("Cloud:Tenant", self.tenant.clone()),
        ];
        for (key, value) in flags.into_iter().chain(more) {
            overrides.extend(value.map(|value| (key.to_owned(), value)));
        }
        Source::from_process(self.config.clone(), overrides)
    }
}

impl ServeOptions {
    /// What is loaded to be looked at, where that was asked for.
    pub(crate) fn sample(&self) -> Option<Sample> {
        self.demo.map(|demo| Sample { demo, seed: self.demo_seed.unwrap_or(1), day: self.demo_day })
    }

    pub(crate) fn source(&self) -> Source {
        let dialect = self.dialect.map(|dialect| dialect.word().to_owned());
        self.common.source(vec![("Urls", self.listen.clone()), ("Dialect", dialect)])
    }
}

/// The command line as people are shown it.
pub(crate) fn command() -> clap::Command {
    examples::with_examples(Cli::command())
}

pub(crate) fn parse() -> Result<Command, ExitCode> {
    let parsed = command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map(|cli| cli.command).map_err(|error| {
        let code = u8::try_from(error.exit_code()).unwrap_or(2);
        let _closed = error.print();
        ExitCode::from(code)
    })
}

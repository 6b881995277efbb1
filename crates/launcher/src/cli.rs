//! The command line.

use crate::compare::translate::{self, TranslateOptions};
use crate::compare::{self, CompareOptions};
use crate::config::{self, Source};
use crate::console::{failed, say};
use crate::{admin, convert, documents, export, reseal, serve, tenants, usage, verify};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use http_kit::openapi::{as_30, pretty};
use ledger_core::books::export::JournalFormat;
use ledger_core::database::Purpose;
use std::path::PathBuf;
use std::process::ExitCode;

/// One set of books, two ways to speak to it.
#[derive(Parser)]
#[command(name = "duet", version, about, long_about = None)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
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
    },
    /// Bring books of a duet before this schema into a new database; the old ones are only read
    Convert {
        #[command(flatten)]
        common: Common,
        /// The database of the old books: sqlite:PATH or <postgres://USER:PASSWORD@HOST/DATABASE>
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
    /// Print an OpenAPI document
    Openapi {
        /// Which dialect
        dialect: DialectChoice,
        /// The 3.1 document instead of 3.0.3
        #[arg(long = "3.1")]
        latest: bool,
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
        /// Compare with heads that were answered by audit-log/head: JSON, or a file of it
        #[arg(long, value_name = "JSON|FILE")]
        head: Option<String>,
        /// As JSON, for programs
        #[arg(long)]
        json: bool,
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
    /// Folder of appsettings.json and appsettings.Custom.json [default: ./config]
    #[arg(long, value_name = "DIR", global = true)]
    config: Option<PathBuf>,
    /// Folder for the SQLite file and the token secret
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<String>,
    /// sqlite:PATH or <postgres://USER:PASSWORD@HOST/DATABASE>
    #[arg(long, value_name = "URL", global = true)]
    database: Option<String>,
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
    /// Load a sample company with a known login into a throw-away database; on loopback only
    #[arg(long)]
    pub(crate) demo: bool,
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

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum DialectChoice {
    A,
    B,
    Both,
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

#[derive(Args)]
pub(crate) struct Member {
    /// Make the user a member of this company
    #[arg(long, requires = "role")]
    pub(crate) business: Option<String>,
    /// With this role, such as bookkeeper
    #[arg(long, requires = "business")]
    pub(crate) role: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum UserCommand {
    /// Add a user; without --password-stdin a password is made and shown once
    Add {
        #[arg(long)]
        email: String,
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
        #[arg(long)]
        business: String,
        /// owner, accountant, bookkeeper, sales, purchasing, warehouse, cashier, auditor or apiReadOnly
        #[arg(long)]
        role: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum TenantCommand {
    /// Make a tenant with books and users of its own; without --password-stdin a password is made and shown once
    Add {
        /// The host name under which it is asked for
        host: String,
        /// A database of its own [default: a file in its folder]
        #[arg(long, value_name = "URL")]
        tenant_database: Option<String>,
        /// E-mail of its first user, who may make companies
        #[arg(long)]
        email: String,
        /// Read the password from standard input
        #[arg(long)]
        password_stdin: bool,
    },
    /// List the tenants
    List,
    /// Take a tenant out; its folder is kept aside
    Remove {
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
    pub(crate) fn source(&self) -> Source {
        let dialect = self.dialect.map(|dialect| match dialect {
            DialectChoice::A => "A".to_owned(),
            DialectChoice::B => "B".to_owned(),
            DialectChoice::Both => "Both".to_owned(),
        });
        self.common.source(vec![("Urls", self.listen.clone()), ("Dialect", dialect)])
    }
}

pub(crate) fn parse() -> Result<Command, ExitCode> {
    Cli::try_parse().map(|cli| cli.command).map_err(|error| {
        let code = u8::try_from(error.exit_code()).unwrap_or(2);
        let _closed = error.print();
        ExitCode::from(code)
    })
}

pub(crate) async fn run(command: Command) -> ExitCode {
    match command {
        Command::Serve(options) => serve::run(options).await,
        Command::Health { common, ready } => health(&common.source(Vec::new()), ready).await,
        Command::Migrate { common, seal_old_books } => {
            let migrate = |ledger: std::sync::Arc<ledger_core::ledger::Ledger>, _| async move {
                let pending = ledger.pending_migrations().await.map_err(|error| admin::explain(&error))?;
                let done = if seal_old_books { ledger.migrate_and_seal().await } else { ledger.migrate().await };
                done.map_err(|error| admin::explain(&error))?;
                Ok(format!("ran {pending} migrations; the schema is up to date"))
            };
            serve::with_ledger(&common.source(Vec::new()), Purpose::Writing, migrate).await
        }
        Command::Convert { common, old, new, old_key, seal_old_books } => {
            let asked = convert::Asked { old, new, old_key, seal_old_books };
            convert::run(&common.source(Vec::new()), asked).await
        }
        Command::CopyDatabase { common, from, to } => convert::copy(&common.source(Vec::new()), (from, to)).await,
        Command::Openapi { dialect, latest } => openapi(dialect, latest),
        Command::User { common, command } => {
            let purpose = match command {
                UserCommand::List => Purpose::Reading,
                _ => Purpose::Writing,
            };
            serve::with_ledger(&common.source(Vec::new()), purpose, |ledger, _| admin::user(ledger, command)).await
        }
        Command::Verify { common, business, anchor, head, json } => {
            let asked = verify::Asked { business, anchor, head, json };
            let verify = |ledger, _| async move { verify::run(ledger, asked).await };
            serve::with_ledger(&common.source(Vec::new()), Purpose::Reading, verify).await
        }
        Command::Reseal { common, new_key_stdin } => {
            let source = common.source(Vec::new());
            let reseal = |ledger, settings| async move { reseal::run(ledger, &settings, new_key_stdin).await };
            serve::with_ledger_at(&source, reseal::named, Purpose::Serving, reseal).await
        }
        Command::Log { common } => {
            serve::with_ledger(&common.source(Vec::new()), Purpose::Reading, |ledger, _| admin::log(ledger)).await
        }
        Command::Usage { common, json } => {
            let usage = |ledger, _| async move { usage::run(ledger, json).await };
            serve::with_ledger(&common.source(Vec::new()), Purpose::Reading, usage).await
        }
        Command::Compare(options) => compare::run(*options).await,
        Command::Translate(options) => translate::run(&options),
        Command::Export { common, business, format, out } => {
            let export = |ledger, _| async move { export::run(ledger, business, format.into(), out).await };
            serve::with_ledger(&common.source(Vec::new()), Purpose::Reading, export).await
        }
        Command::Tenant { common, command } => tenant(&common.source(Vec::new()), command).await,
        Command::Config { common, command } => configuration(&common.source(Vec::new()), &command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "duet", &mut script);
            say(&String::from_utf8_lossy(&script));
            ExitCode::SUCCESS
        }
    }
}

fn openapi(dialect: DialectChoice, latest: bool) -> ExitCode {
    // As a default installation serves them.
    let source = Source::default();
    let dialects = match config::load(&source) {
        Ok(loaded) => loaded.settings.dialects,
        Err(error) => return failed(&error.to_string()),
    };
    let base = |base: Option<String>| base.unwrap_or_default();
    let document = match dialect {
        DialectChoice::A => documents::of_a(&base(dialects.a)),
        DialectChoice::B => documents::of_b(&base(dialects.b)),
        DialectChoice::Both => documents::of_all(&dialects),
    };
    let document = if latest { document } else { as_30(document) };
    say(pretty(&document).trim_end());
    ExitCode::SUCCESS
}

async fn tenant(source: &Source, command: TenantCommand) -> ExitCode {
    let settings = match config::load(source) {
        Ok(loaded) => loaded.settings,
        Err(error) => return crate::console::misused(&error.to_string()),
    };
    let done = match command {
        TenantCommand::Add { host, tenant_database: database, email, password_stdin } => {
            let given =
                if password_stdin { admin::password(true).map(|(password, _)| Some(password)) } else { Ok(None) };
            match given {
                Ok(password) => {
                    let new = tenants::NewTenant { host: host.clone(), database, email: email.clone(), password };
                    let made = tenants::add(&settings, new).await;
                    made.map(|made| {
                        format!(
                            "added {host}; its first user is {email}{}",
                            made.map_or(String::new(), |made| admin::shown(&made, true))
                        )
                    })
                }
                Err(why) => Err(why),
            }
        }
        TenantCommand::List => Ok(tenants::list(&settings).join("\n")),
        TenantCommand::Remove { host } => {
            let stamp = ledger_core::ids::request_id();
            tenants::remove(&settings, &host, &stamp)
                .await
                .map(|aside| format!("removed {host}; its books are kept in {}", aside.display()))
        }
    };
    match done {
        Ok(text) => {
            say(&text);
            ExitCode::SUCCESS
        }
        Err(why) => failed(&why),
    }
}

fn configuration(source: &Source, command: &ConfigCommand) -> ExitCode {
    match command {
        ConfigCommand::Check => {
            let checked = config::check(source);
            say(&checked.report);
            if checked.errors == 0 { ExitCode::SUCCESS } else { ExitCode::from(2) }
        }
        ConfigCommand::Show { json } => match config::load(source) {
            Ok(loaded) => {
                say(&if *json { loaded.show_json() } else { loaded.show() });
                ExitCode::SUCCESS
            }
            Err(error) => crate::console::misused(&error.to_string()),
        },
    }
}

async fn health(source: &Source, ready: bool) -> ExitCode {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let settings = match config::load(source) {
        Ok(loaded) => loaded.settings,
        Err(error) => return crate::console::misused(&error.to_string()),
    };
    let path = if ready { "/readyz" } else { "/healthz" };
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(settings.listen).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", settings.listen);
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    match tokio::time::timeout(std::time::Duration::from_secs(5), ask).await {
        Ok(Ok(answer)) if answer.starts_with("HTTP/1.1 200") => {
            say(answer.rsplit("\r\n").next().unwrap_or_default());
            ExitCode::SUCCESS
        }
        Ok(Ok(answer)) => failed(answer.rsplit("\r\n").next().unwrap_or("the server is not well")),
        Ok(Err(error)) => failed(&format!("{}: {error}", settings.listen)),
        Err(_) => failed(&format!("{} does not answer", settings.listen)),
    }
}

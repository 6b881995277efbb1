//! What the server reaches, beside the same rows written in process, side by side in one run.
//!
//! `all` is every figure beside its limit, `compare` two programs beside each other. Timings of one run are compared with each other and never with another run: the phases take turns, and
//! what is printed are rates and their ratios.

mod all;
mod balances;
mod bare;
mod bytes;
mod client;
mod cluster;
mod compare;
mod fair;
mod far;
mod figures;
mod given_up;
mod invoices;
mod journals;
mod limit;
mod lists;
mod load;
mod logins;
mod place;
mod posts;
mod rows;
mod scale;
mod shop;
mod template;

use clap::{Parser, Subcommand};
use figures::Figures;
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(name = "bench", about, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Every figure beside its limit, on `SQLite` and on a PostgreSQL that is started for it
    All {
        #[command(flatten)]
        place: place::Place,
        #[command(flatten)]
        asking: all::Asking,
    },
    /// Two programs side by side; fails where the new one is slower than it may be
    Compare {
        #[command(flatten)]
        place: place::Place,
        #[command(flatten)]
        turns: posts::Turns,
        #[command(flatten)]
        asking: compare::Asking,
    },
    /// Posting, beside a bare server that keeps the same rows
    Posts {
        #[command(flatten)]
        place: place::Place,
        #[command(flatten)]
        turns: posts::Turns,
    },
    /// A lone post where the database is a millisecond away; on PostgreSQL alone
    Far {
        #[command(flatten)]
        place: place::Place,
        #[command(flatten)]
        turns: posts::Turns,
    },
    /// Lists, searches and reports of large books, and what they cost
    Scale {
        #[command(flatten)]
        place: place::Place,
        #[command(flatten)]
        size: scale::Size,
    },
    /// Posts beside those who ask for what is dear and go away, and what is left of them
    GivenUp {
        #[command(flatten)]
        place: place::Place,
        #[command(flatten)]
        size: scale::Size,
    },
    /// Journals of six lines over HTTP, beside a transaction each and beside planned batches in process
    Journals {
        #[command(flatten)]
        place: place::Place,
        /// Seconds of each turn
        #[arg(long, default_value_t = 4)]
        seconds: u64,
        /// Turns of each phase
        #[arg(long, default_value_t = 3)]
        turns: usize,
    },
    /// Sales invoices of three lines over HTTP, beside the same rows in process
    Invoices {
        #[command(flatten)]
        place: place::Place,
        /// Seconds of each turn
        #[arg(long, default_value_t = 4)]
        seconds: u64,
        /// Turns of each phase
        #[arg(long, default_value_t = 3)]
        turns: usize,
    },
    /// Reading one invoice and lists of them, beside a bare handler that answers the same bytes
    Reading {
        #[command(flatten)]
        place: place::Place,
        /// Invoices of the large company
        #[arg(long, default_value_t = 100_000)]
        many: usize,
        /// Invoices of the small one
        #[arg(long, default_value_t = 1_000)]
        few: usize,
        /// Seconds of each turn
        #[arg(long, default_value_t = 3)]
        seconds: u64,
        /// Turns of each phase
        #[arg(long, default_value_t = 3)]
        turns: usize,
    },
    /// Answers to one company while another does its worst, beside the same in quiet
    Fair {
        #[command(flatten)]
        place: place::Place,
        /// Seconds of each turn
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Journals of a thousand lines of the company that does its worst
        #[arg(long, default_value_t = 250)]
        journals: usize,
    },
    /// What a posted invoice takes on disk, by table and index
    Bytes {
        #[command(flatten)]
        place: place::Place,
        #[command(flatten)]
        asked: bytes::Asked,
    },
    /// Log-ins that fail, of people who are there and of people who are not
    Logins {
        #[command(flatten)]
        place: place::Place,
    },
    /// The bare handler, as a process of its own
    #[command(hide = true)]
    Bare { file: std::path::PathBuf },
    /// The bare server that keeps rows, as a process of its own
    #[command(hide = true)]
    Limit { store: String },
    /// Balances of all accounts over many lines, beside the same over few
    Balances {
        #[command(flatten)]
        place: place::Place,
        /// Lines of the large company
        #[arg(long, default_value_t = 1_000_000)]
        lines: usize,
        /// Lines of the small one
        #[arg(long, default_value_t = 10_000)]
        few: usize,
    },
    /// Reports over many lines, beside the same over few and the sum of the lines
    Reports {
        #[command(flatten)]
        place: place::Place,
        /// Lines of the large company
        #[arg(long, default_value_t = 1_000_000)]
        lines: usize,
        /// Lines of the small one
        #[arg(long, default_value_t = 10_000)]
        few: usize,
    },
}

/// Measures until it is done or somebody interrupts it, takes away what was made, and says how many figures are not what they
/// are to be. What was seen until then is kept.
async fn measured(
    place: &place::Place,
    json: Option<&std::path::Path>,
    work: impl AsyncFnOnce(&mut Figures) -> Result<()>,
) -> Result<()> {
    let mut figures = Figures::begin();
    let done = tokio::select! {
        done = work(&mut figures) => done,
        _interrupted = tokio::signal::ctrl_c() => Err("it was interrupted".into()),
    };
    if let Some(json) = json {
        figures.keep(json)?;
    }
    place.clear().await?;
    done?;
    match figures.missed() {
        0 => Ok(()),
        missed => Err(format!("{missed} figures are not what they are to be").into()),
    }
}

fn main() -> ExitCode {
    // The server under test is this very program as a second process.
    if std::env::args().nth(1).is_some_and(|word| matches!(word.as_str(), "serve" | "verify" | "migrate")) {
        return launcher::main();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return place::complain(&error.to_string()),
    };
    let outcome = runtime.block_on(async {
        match Cli::parse().command {
            Command::All { place, asking } => {
                let json = Some(asking.json.as_path());
                measured(&place, json, async |figures| all::run(&place, &asking, figures).await).await
            }
            Command::Compare { place, turns, asking } => {
                measured(&place, None, async |figures| compare::run(&place, &asking, &turns, figures).await).await
            }
            Command::Posts { place, turns } => {
                measured(&place, None, async |figures| posts::run(&place, &turns, figures).await).await
            }
            Command::Far { place, turns } => {
                measured(&place, None, async |figures| far::run(&place, &turns, figures).await).await
            }
            Command::Scale { place, size } => {
                measured(&place, None, async |figures| scale::run(&place, &size, figures).await).await
            }
            Command::GivenUp { place, size } => {
                measured(&place, None, async |figures| given_up::run(&place, &size, figures).await).await
            }
            Command::Limit { store } => limit::serve(&store).await,
            Command::Journals { place, seconds, turns } => journals::run(&place, seconds, turns).await,
            Command::Invoices { place, seconds, turns } => invoices::create(&place, seconds, turns).await,
            Command::Reading { place, many, few, seconds, turns } => {
                invoices::read(&place, many, few, seconds, turns).await
            }
            Command::Fair { place, seconds, journals } => fair::run(&place, seconds, journals).await,
            Command::Bytes { place, asked } => bytes::run(&place, &asked).await,
            Command::Logins { place } => logins::run(&place).await,
            Command::Bare { file } => bare::serve(&file).await,
            Command::Balances { place, lines, few } => balances::run(&place, lines, few).await,
            Command::Reports { place, lines, few } => balances::reports(&place, lines, few).await,
        }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => place::complain(&error.to_string()),
    }
}

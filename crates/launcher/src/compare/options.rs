//! The command line of `duet compare`.

use super::sides;
use crate::cli::Common;
use clap::Args;
use compare::explore::Part;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// What to ask, and of whom.
#[derive(Args, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct CompareOptions {
    #[command(flatten)]
    pub(super) common: Common,
    /// One operation by its name in the documents, such as salesInvoicesList
    #[arg(value_name = "OPERATION", conflicts_with_all = ["file", "explore", "record"])]
    pub(super) operation: Option<String>,
    /// The record that the operation is about
    #[arg(long, value_name = "ID", requires = "operation")]
    pub(super) id: Option<String>,
    /// A parameter of the query; may be given more than once
    #[arg(long, value_name = "NAME=VALUE", requires = "operation", value_parser = crate::cli::key_and_value)]
    pub(super) query: Vec<(String, String)>,
    /// The body, as JSON
    #[arg(long, value_name = "JSON", requires = "operation")]
    pub(super) body: Option<String>,
    /// Requests from a file: JSON Lines, what --record kept, or a HAR that a browser or a proxy recorded
    #[arg(long, value_name = "FILE", conflicts_with_all = ["explore", "record"])]
    pub(super) file: Option<PathBuf>,
    /// Every operation of the documents, with valid and broken bodies
    #[arg(long, conflicts_with = "record")]
    pub(super) explore: bool,
    /// With --explore: only operations whose names begin so
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "explore")]
    pub(super) only: Vec<String>,
    /// With --explore: one of N parts, such as 1/3; each makes every operation succeed, together they ask everything
    #[arg(long, value_name = "K/N", requires = "explore")]
    pub(super) part: Option<Part>,
    /// Make a company on each side, and write into them for real; with --shadow, --other serves a copy of the books, and
    /// what is written is written there as well
    #[arg(long, conflicts_with_all = ["business", "left_business", "right_business"])]
    pub(super) twin: bool,
    /// Remove the companies that earlier runs made: those with records are archived, for books are never deleted
    #[arg(long, conflicts_with_all = ["operation", "file", "explore", "twin", "business", "left_business"])]
    pub(super) remove_twins: bool,
    /// How the twins are made
    #[arg(long, value_name = "JSON", requires = "twin")]
    pub(super) twin_body: Option<String>,
    /// The company, in place of those that a file names; the first that the user sees when absent
    #[arg(long, value_name = "ID")]
    pub(super) business: Option<String>,
    /// The company on the left, where the sides have one each
    #[arg(long, value_name = "ID", requires = "right_business", conflicts_with = "business")]
    pub(super) left_business: Option<String>,
    /// The company on the right
    #[arg(long, value_name = "ID", requires = "left_business")]
    pub(super) right_business: Option<String>,
    /// The server of both sides [default: where the configuration listens]
    #[arg(long, value_name = "URL", conflicts_with_all = ["left", "right"])]
    pub(super) server: Option<String>,
    /// The left side: the base of an API, such as <https://old.example/a/api>
    #[arg(long, value_name = "URL", requires = "right")]
    pub(super) left: Option<String>,
    /// The right side
    #[arg(long, value_name = "URL", requires = "left")]
    pub(super) right: Option<String>,
    /// What the left side speaks: of one server the first dialect, elsewhere what can be found out
    #[arg(long, value_enum)]
    pub(super) left_dialect: Option<sides::Letter>,
    /// What the right side speaks
    #[arg(long, value_enum)]
    pub(super) right_dialect: Option<sides::Letter>,
    /// E-mail of who asks; the password is in `DUET_COMPARE_PASSWORD`, or a token in `DUET_COMPARE_TOKEN`
    #[arg(long, value_name = "E-MAIL")]
    pub(super) user: Option<String>,
    /// Who asks on the right, where it is somebody else; `DUET_COMPARE_RIGHT_PASSWORD`, `DUET_COMPARE_RIGHT_TOKEN`
    #[arg(long, value_name = "E-MAIL")]
    pub(super) right_user: Option<String>,
    /// Read the password from standard input
    #[arg(long, requires = "user")]
    pub(super) password_stdin: bool,
    #[command(flatten)]
    pub(super) traffic: TrafficOptions,
    /// Differences that are as they should be: a JSON list of path, reason and, if need be, operation, kind, until
    #[arg(long, value_name = "FILE")]
    pub(super) differences: Option<PathBuf>,
    /// Write a report for people: one HTML file
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Write a report for builders, in the XML of `JUnit`: a case for each operation
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Print the report as JSON, for programs
    #[arg(long)]
    pub(super) json: bool,
}

/// Traffic that passes by: who passes it on, what is kept of it, and what is asked besides.
#[derive(Args, Clone)]
pub(crate) struct TrafficOptions {
    /// Pass on whoever comes to this address, or port of this machine, and watch what passes by: with --keep, --shadow
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires = "to", conflicts_with_all = ["remove_twins", "server", "left"])]
    pub(super) record: Option<SocketAddr>,
    /// With --record: the server that answers; with a path, the base of the API that it serves
    #[arg(long, value_name = "URL", requires = "record")]
    pub(super) to: Option<String>,
    /// With --record: tell the server the host that clients named, and not its own
    #[arg(long, requires = "record")]
    pub(super) keep_host: bool,
    /// With --record: keep each exchange as a line of JSON in this file, without its secrets; --file asks them again
    #[arg(long, value_name = "FILE", requires = "record")]
    pub(super) keep: Option<PathBuf>,
    /// With --keep: begin a new file at this size, such as 500K, 100M or 2G; nine earlier ones are kept as FILE.1 to FILE.9
    #[arg(long, value_name = "SIZE", requires = "keep", value_parser = size, default_value = "100M")]
    pub(super) keep_size: u64,
    /// With --record: ask the other side what clients ask, and tell where it answers otherwise
    #[arg(long, requires = "record")]
    pub(super) shadow: bool,
    /// With --shadow: the other side, where it is another server: the base of an API, asked as --right-user; else it is
    /// the other dialect of the same server, asked as the client
    #[arg(long, value_name = "URL", requires = "shadow")]
    pub(super) other: Option<String>,
    /// With --shadow: ask at most so many questions a second, and count the others
    #[arg(long, value_name = "COUNT", requires = "shadow", default_value = "20")]
    pub(super) rate: NonZeroU32,
    /// With --record: end after so long, such as 90s, 30m, 12h or 3d; with --state, counted from the first start
    #[arg(long = "for", value_name = "TIME", requires = "record", value_parser = span)]
    pub(super) until: Option<Duration>,
    /// With --shadow: keep what was found in this folder, and go on with it after a new start
    #[arg(long, value_name = "FOLDER", requires = "shadow")]
    pub(super) state: Option<PathBuf>,
    /// With --record: show what was found so far in a page at this address, or port, of this machine
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires = "record")]
    pub(super) page: Option<SocketAddr>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.trim_start_matches(':').parse::<u16>() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let text = text.replace("localhost:", "127.0.0.1:");
    text.parse().map_err(|_| "expected an address and a port, such as 127.0.0.1:7000, or a port".to_owned())
}

fn size(text: &str) -> Result<u64, String> {
    let why = || "expected a size, such as 500K, 100M or 2G".to_owned();
    let plain = text.trim_end_matches(['B', 'b', 'i']);
    let (number, unit) = plain.split_at(plain.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(plain.len()));
    let unit: u64 = match unit.to_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err(why()),
    };
    let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    size.filter(|size| *size > 0).ok_or_else(why)
}

fn span(text: &str) -> Result<Duration, String> {
    let why = || "expected a time, such as 90s, 30m, 12h or 3d".to_owned();
    let (number, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()));
    let unit = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(why()),
    };
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    seconds.filter(|seconds| (1..=MOST_SECONDS).contains(seconds)).map(Duration::from_secs).ok_or_else(why)
}

/// Ten years: longer than anybody compares.
const MOST_SECONDS: u64 = 3_650 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_sizes_and_times_are_written_as_people_write_them() {
        assert_eq!(address("7000").map(|address| address.to_string()).as_deref(), Ok("127.0.0.1:7000"));
        assert_eq!(address("localhost:80").map(|address| address.to_string()).as_deref(), Ok("127.0.0.1:80"));
        assert_eq!(address("0.0.0.0:80").map(|address| address.to_string()).as_deref(), Ok("0.0.0.0:80"));
        for (text, bytes) in [("100M", 100 << 20), ("500KB", 500 << 10), ("2GiB", 2 << 30), ("42", 42)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for (text, seconds) in [("3d", 259_200), ("12h", 43_200), ("30m", 1_800), ("90s", 90), ("5", 5)] {
            assert_eq!(span(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "x", "0", "-1M", "1T", "99999999999999999999"] {
            assert!(size(text).is_err() && span(text).is_err(), "{text}");
        }
        assert!(address("here").is_err());
    }
}

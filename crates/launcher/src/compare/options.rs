//! The command line of `duet compare`.

use super::sides;
use crate::cli::Common;
use clap::Args;
use compare::explore::Part;
use std::path::PathBuf;

/// What to ask, and of whom.
#[derive(Args, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct CompareOptions {
    #[command(flatten)]
    pub(super) common: Common,
    /// One operation by its name in the documents, such as salesInvoicesList
    #[arg(value_name = "OPERATION", conflicts_with_all = ["file", "explore"])]
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
    /// Requests from a file: JSON Lines, or a HAR that a browser or a proxy recorded
    #[arg(long, value_name = "FILE", conflicts_with = "explore")]
    pub(super) file: Option<PathBuf>,
    /// Every operation of the documents, with valid and broken bodies
    #[arg(long)]
    pub(super) explore: bool,
    /// With --explore: only operations whose names begin so
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "explore")]
    pub(super) only: Vec<String>,
    /// With --explore: one of N parts, such as 1/3; each makes every operation succeed, together they ask everything
    #[arg(long, value_name = "K/N", requires = "explore")]
    pub(super) part: Option<Part>,
    /// Make a company on each side, and write into them for real
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

//! What a shadow found, as people read it: one page that shows the causes first, as it stands or for good.

use super::{Minute, Standing, Watched};
use crate::report::{escape, moment};
use std::fmt::Write;

/// The style of the page, where it is asked for by itself.
pub const STYLE: &str = concat!(
    include_str!("../../assets/look.css"),
    include_str!("../../assets/parts.css"),
    include_str!("../../assets/report.css"),
    include_str!("../../assets/shadow.css")
);

/// How often the page asks for itself again, in seconds.
const AGAIN: u64 = 15;

/// The page while it goes on, as it stands.
pub fn live(watched: &Watched) -> String {
    served(watched, "", "<a href=\"/\">Look again</a>, or <a href=\"/?follow\">follow it</a>.")
}

/// ... which asks for itself again and again.
pub fn followed(watched: &Watched) -> String {
    let head = format!("<meta http-equiv=\"refresh\" content=\"{AGAIN}\">\n");
    let look = format!("It looks again every {AGAIN} seconds; <a href=\"/\">stay with what is here</a>.");
    served(watched, &head, &look)
}

fn served(watched: &Watched, head: &str, look: &str) -> String {
    let head = format!("{head}<link rel=\"stylesheet\" href=\"/style.css\">");
    let ways = format!(
        "<p>{look} To keep: <a href=\"/report.html\" download>HTML</a>, <a href=\"/report.json\" download>JSON</a>, \
         <a href=\"/report.xml\" download>JUnit</a>.</p>\n"
    );
    whole(watched, &head, &ways)
}

/// One file with everything in it, and nothing fetched.
pub fn finished(watched: &Watched) -> String {
    whole(watched, &format!("<style>\n{STYLE}</style>"), "")
}

fn whole(watched: &Watched, head: &str, ways: &str) -> String {
    let standing = watched.standing().clone();
    let report = watched.report();
    let (class, word) = match (standing.different, standing.asked) {
        (0, 0) => ("declared", "Nothing asked yet"),
        (0, _) => ("equal", "No difference"),
        _ => ("different", "Different"),
    };
    let row = |name: &str, said: &str| format!("<tr><th>{name}</th><td>{said}</td></tr>\n");
    let code = |text: &str| format!("<code>{}</code>", escape(text));
    let mut facts = row("clients ask", &code(&report.left));
    facts += &row("asked as well", &code(&report.right));
    facts += &row("since", &escape(&moment(&standing.since)));
    if standing.starts > 1 {
        facts += &row("started", &format!("{} times", standing.starts));
    }
    facts += &row("requests seen", &standing.seen.to_string());
    facts += &row("asked", &standing.asked.to_string());
    facts += &row("alike", &standing.alike.to_string());
    facts += &row("alike when asked again", &format!("{} (somebody wrote in between)", standing.settled));
    facts += &row("different", &standing.different.to_string());
    for (why, count) in &standing.not_asked {
        facts += &row("not asked", &format!("{count}: {}", escape(why)));
    }
    if standing.missing > 0 {
        facts += &row("missing in the copy", &format!("{} writes: make it anew", standing.missing));
    }
    if standing.unanswered > 0 {
        facts += &row("not answered by the server behind", &standing.unanswered.to_string());
    }
    if standing.recorded + standing.not_recorded > 0 {
        facts += &row("recorded", &format!("{}; {} were not", standing.recorded, standing.not_recorded));
    }
    let title = escape(&standing.summary());
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Shadow: {} different</title>\n{head}</head>\n<body><main>\n\
         <h1>Shadow <span class=\"badge {class}\">{word}</span></h1>\n<p>{title}</p>\n{ways}{}\
         <h2>What was seen</h2>\n<table class=\"sides\">{facts}</table>\n{}{}</main></body></html>\n",
        standing.different,
        report.causes_in_html(),
        minutes(&standing),
        report.by_operation(),
    )
}

/// How high the tallest bar is, and how wide each.
const HEIGHT: u64 = 80;
const WIDTH: u64 = 12;

/// The last hour by minute: a picture, and its figures for who does not see it.
fn minutes(standing: &Standing) -> String {
    let most = standing.minutes.iter().map(|minute| minute.seen.max(minute.asked)).max().unwrap_or_default().max(1);
    let mut bars = String::new();
    for (place, minute) in standing.minutes.iter().enumerate() {
        let Minute { at, seen, asked, different } = minute;
        let left = place as u64 * WIDTH;
        let about = format!("{at}: {seen} seen, {asked} asked, {different} different");
        let mut bar = |class: &str, count: u64| {
            let height = (count * HEIGHT).div_ceil(most);
            let top = HEIGHT - height.min(HEIGHT);
            write!(
                bars,
                "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{height}\"><title>{}</title></rect>",
                WIDTH - 2,
                escape(&about)
            )
            .unwrap_or_default();
        };
        bar("seen", *seen);
        bar("asked", *asked);
        bar("bad", *different);
    }
    let width = (standing.minutes.len().max(1) as u64) * WIDTH;
    let rows: Vec<String> = standing
        .minutes
        .iter()
        .rev()
        .map(|one| {
            let at = escape(&one.at.replace('T', " "));
            format!("<tr><th>{at}</th><td>{}</td><td>{}</td><td>{}</td></tr>", one.seen, one.asked, one.different)
        })
        .collect();
    let rows = rows.join("\n");
    format!(
        "<h2>The last hour by minute</h2>\n<svg class=\"minutes\" viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\" aria-label=\"Requests by minute\">{bars}</svg>\n\
         <details><summary>In figures (UTC)</summary><table class=\"counts\"><thead><tr><th>minute</th><th>seen</th><th>asked</th><th>different</th></tr></thead>\n{rows}</table></details>\n"
    )
}

//! What a run found: a table for people, and a file for programs.

use crate::Result;
use crate::place::say;
use serde_json::{Value, json};
use std::path::Path;

/// What a figure is to be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    /// A ratio of at least so many hundredths.
    AtLeast(u64),
    /// A ratio of at most so many hundredths.
    AtMost(u64),
    /// The figure itself at most this.
    Below(u64),
}

/// One figure, beside its limit in the same run.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) engine: &'static str,
    pub(crate) what: String,
    pub(crate) unit: &'static str,
    pub(crate) ours: u64,
    /// What it stands beside, and how that is called.
    pub(crate) beside: Option<(&'static str, u64)>,
    pub(crate) target: Target,
    /// Whatever else was seen.
    pub(crate) told: String,
}

impl Figure {
    /// One that stands beside nothing, and is at most so much.
    pub(crate) fn alone(engine: &'static str, what: &str, unit: &'static str, ours: u64, most: u64) -> Self {
        let (what, told) = (what.to_owned(), String::new());
        Self { engine, what, unit, ours, beside: None, target: Target::Below(most), told }
    }

    /// To the limit, in hundredths.
    fn ratio(&self) -> Option<u64> {
        self.beside.map(|(_, beside)| self.ours * 100 / beside.max(1))
    }

    pub(crate) fn holds(&self) -> bool {
        match (self.target, self.ratio()) {
            (Target::AtLeast(least), Some(ratio)) => ratio >= least,
            (Target::AtMost(most), Some(ratio)) => ratio <= most,
            (Target::Below(most), _) => self.ours <= most,
            (Target::AtLeast(_) | Target::AtMost(_), None) => false,
        }
    }

    fn target(&self) -> String {
        match self.target {
            Target::AtLeast(least) => format!("at least {} x", hundredths(least)),
            Target::AtMost(most) => format!("at most {} x", hundredths(most)),
            Target::Below(most) => format!("at most {most} {}", self.unit),
        }
    }

    fn line(&self) -> String {
        let beside = self.beside.map_or(String::new(), |(what, beside)| format!("{beside} ({what})"));
        let ratio = self.ratio().map_or(String::new(), |ratio| format!("{} x", hundredths(ratio)));
        let held = if self.holds() { "held" } else { "MISSED" };
        let Self { engine, what, unit, ours, told, .. } = self;
        format!("| {engine} | {what} | {ours} {unit} | {beside} | {ratio} | {} | {held} | {told} |", self.target())
    }

    fn json(&self) -> Value {
        json!({
            "engine": self.engine, "what": self.what, "unit": self.unit, "figure": self.ours,
            "beside": self.beside.map(|(what, figure)| json!({"what": what, "figure": figure})),
            "ratio": self.ratio().map(hundredths), "target": self.target(), "held": self.holds(), "told": self.told,
        })
    }
}

/// Two places, without a binary float.
pub(crate) fn hundredths(ratio: u64) -> String {
    format!("{}.{:02}", ratio / 100, ratio % 100)
}

/// All figures of a run. Each is said when it is there.
#[derive(Debug, Default)]
pub(crate) struct Figures(Vec<Figure>);

impl Figures {
    pub(crate) fn begin() -> Self {
        say("| engine | what | figure | beside | ratio | target | | seen |");
        say("|---|---|---|---|---|---|---|---|");
        Self::default()
    }

    pub(crate) fn add(&mut self, figure: Figure) {
        say(&figure.line());
        self.0.push(figure);
    }

    /// How many are not what they are to be.
    pub(crate) fn missed(&self) -> usize {
        self.0.iter().filter(|figure| !figure.holds()).count()
    }

    pub(crate) fn keep(&self, file: &Path) -> Result<()> {
        let figures: Vec<Value> = self.0.iter().map(Figure::json).collect();
        let cores = std::thread::available_parallelism()?.get();
        let told = json!({"version": env!("CARGO_PKG_VERSION"), "cores": cores, "figures": figures});
        Ok(std::fs::write(file, format!("{told:#}\n"))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(ours: u64, beside: u64, target: Target) -> Figure {
        let beside = Some(("bare", beside));
        Figure { engine: "SQLite", what: "posts".into(), unit: "a second", ours, beside, target, told: String::new() }
    }

    #[test]
    fn a_figure_is_held_beside_its_limit() {
        assert!(figure(50, 100, Target::AtLeast(50)).holds());
        assert!(!figure(49, 100, Target::AtLeast(50)).holds());
        assert!(figure(450, 100, Target::AtMost(450)).holds());
        assert!(!figure(451, 100, Target::AtMost(450)).holds());
        assert!(figure(7, 100, Target::Below(7)).holds() && !figure(8, 100, Target::Below(7)).holds());
        let alone = Figure { beside: None, ..figure(1, 1, Target::AtLeast(1)) };
        assert!(!alone.holds(), "nothing is held that stands beside nothing");
    }

    #[test]
    fn a_line_says_what_was_missed() {
        let line = figure(49, 100, Target::AtLeast(50)).line();
        assert_eq!(line, "| SQLite | posts | 49 a second | 100 (bare) | 0.49 x | at least 0.50 x | MISSED |  |");
    }
}

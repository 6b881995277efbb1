//! The fewest commands that still fail.

use super::command::{Command, Key, What};
use super::compare::Difference;
use std::fmt::Write;

impl What {
    /// What it needs to be there.
    pub fn names(&self) -> Vec<Key> {
        match self {
            Self::Credit(credit) => vec![credit.of],
            Self::Return { of, .. } | Self::Landed { of, .. } => vec![*of],
            Self::Trade(trade) => trade.of.iter().map(|(of, _)| *of).collect(),
            Self::Allocate(asked) => vec![asked.source, asked.target],
            Self::Edit { of, .. } | Self::Void { of, .. } => vec![*of],
            _ => Vec::new(),
        }
    }
}

/// Leaves out ever smaller portions for as long as what is left fails.
pub fn fewest(
    mut commands: Vec<Command>,
    fails: impl Fn(&[Command]) -> Option<Difference>,
) -> (Vec<Command>, Option<Difference>) {
    let mut last = None;
    let mut portion = commands.len().div_ceil(2);
    while portion > 0 {
        let mut from = 0;
        let mut smaller = false;
        while from < commands.len() {
            let mut rest = commands.clone();
            rest.drain(from..commands.len().min(from + portion));
            let found = if rest.is_empty() { None } else { fails(&rest) };
            if found.is_some() {
                (commands, last) = (rest, found);
                smaller = true;
            } else {
                from += portion;
            }
        }
        if !smaller || portion > 1 {
            portion /= 2;
        }
    }
    (commands, last)
}

/// The commands as a case of the suite has them, and why they fail.
pub fn printed(commands: &[Command]) -> String {
    let mut text = String::new();
    for command in commands {
        writeln!(text, "    {command:?},").unwrap();
    }
    text
}

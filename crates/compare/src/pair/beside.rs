//! What somebody was answered by the left side, held beside what the right side answers to the same.

use super::{Compared, Exchange, Pair, Relation};
use crate::consequence;
use crate::curl;
use crate::dialect::Operation;
use crate::meaning::Meaning;
use crate::neutral::Neutral;
use crate::wire::{Answer, Request};
use serde_json::Value;

/// So many identifiers are known to stand for others, however long it goes on.
const MOST_KNOWN: usize = 400_000;

/// What somebody asked the left side, and was answered.
pub struct Heard<'h> {
    /// What it means. Its headers go to both sides.
    pub said: &'h Neutral,
    pub request: Request,
    pub answer: Answer,
    /// Whether it was for the head of an answer alone.
    pub is_head: bool,
}

impl Pair {
    /// How many questions were asked so far.
    pub fn questions(&self) -> usize {
        self.asked
    }

    /// From now on each side has books of its own, which were the same at first.
    pub fn are_copies(&mut self) {
        self.relation = Relation::Twins;
    }

    /// Which identifiers of the left side stand for which of the right one, for a run that goes on later.
    pub fn known(&self) -> Value {
        self.twins.pairs().map(|(left, right)| Value::from(vec![left, right])).collect()
    }

    pub fn go_on_knowing(&mut self, known: &Value) {
        for pair in known.as_array().into_iter().flatten() {
            if let (Some(left), Some(right)) = (pair[0].as_str(), pair[1].as_str()) {
                self.twins.pair(left, right);
            }
        }
    }

    /// Asks the right side the same. What differs is asked of both again, for others may have written meanwhile. Whether
    /// that settled it is answered as well; nothing but why where the right side cannot be asked.
    pub async fn beside(&mut self, heard: Heard<'_>) -> Result<(Compared, bool), String> {
        self.heads = heard.is_head;
        let beside = self.held_beside(heard).await;
        self.heads = false;
        self.twins.keep_at_most(MOST_KNOWN);
        beside
    }

    async fn held_beside(&mut self, heard: Heard<'_>) -> Result<(Compared, bool), String> {
        let Heard { said, request, answer, .. } = heard;
        let operation = self.left.dialect.operation(&said.operation)?;
        let writes = operation.writes();
        let meant_left = Meaning::of(&self.left.dialect, Some(operation), &answer);
        let rehearses = writes && is_rehearsal(said);
        let (right, meant_right) = self.ask(false, said).await;
        let meant_right = meant_right?;
        let request = curl::without_token(&request);
        let curl = curl::written(self.left.transport.origin(), &request);
        let left = Exchange { request, answer: Some(answer), failed: None, curl };
        let mut compared = self.compared(said.clone(), left, right);
        compared.differences = self.differences(writes, said, &meant_left, &meant_right);
        let mut settled = false;
        if !compared.differences.is_empty() && (!writes || rehearses) {
            Box::pin(self.settle(&mut compared, writes)).await;
            // What moves by itself, such as the moment of a report, is no race.
            settled = compared.differences.is_empty() && compared.noise.is_empty();
        }
        consequence::within(&mut compared.differences, [&self.left.dialect, &self.right.dialect]);
        if writes && !rehearses && meant_left.tree["status"] != meant_right.tree["status"] {
            self.part(&compared);
        }
        Box::pin(self.told_apart(&mut compared)).await;
        Ok((self.judged(compared), settled))
    }
}

/// Whether a write asks what would happen, and nothing more.
pub(crate) fn is_rehearsal(said: &Neutral) -> bool {
    said.query.get("dryRun").is_some_and(|asked| asked != "false")
}

/// Whether a write can be done again in a copy of the books: what is of people and of what tells others stays alone.
pub(crate) fn may_follow(operation: &Operation) -> bool {
    let is_of_books = operation.company != crate::dialect::CompanyIn::Nowhere || operation.stem() == "businesses";
    is_of_books && !["users", "webhooks", "apiKeys"].contains(&operation.stem())
}

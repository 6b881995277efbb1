//! How two sides are entered: who asks, and of which companies.

use super::{Compared, Exchange, Pair, Relation};
use crate::dialect::{Dialect, LOGIN};
use crate::difference::{Latitude, between};
use crate::meaning::Meaning;
use crate::neutral::Neutral;
use crate::twins::Twins;
use serde_json::{Value, json};

/// The label of companies that were made to be compared, by which they are found again.
pub const MADE_BY_US: &str = "duet-compare";

impl Pair {
    /// Makes a company on each side, alike, and goes on in these.
    pub async fn make_twins(&mut self, body: &Value) -> Result<Compared, String> {
        let mut body = body.clone();
        self.mark(&mut body);
        let make = Neutral::of("businessesCreate").named("the twins").with(body);
        self.relation = Relation::Twins;
        let made = self.compare_as(&make, true).await;
        let id_of = |exchange: &Exchange, dialect: &Dialect| {
            let answer = exchange.answer.as_ref().ok_or_else(|| exchange.failed.clone().unwrap_or_default())?;
            let meaning = Meaning::of(dialect, dialect.operation("businessesCreate").ok(), answer);
            let id = meaning.data()["id"].as_str().map(str::to_owned);
            id.ok_or_else(|| format!("{} made no company: {} {}", dialect.name, answer.status, answer.body))
        };
        let (left, right) = (id_of(&made.left, &self.left.dialect)?, id_of(&made.right, &self.right.dialect)?);
        self.go_on_in(&left, &right);
        Ok(made)
    }

    /// What the twins are called, on both sides alike.
    pub fn name_of_twins(&self) -> &str {
        &self.twins_name
    }

    /// Goes on in two companies that are alike so far.
    pub fn go_on_in(&mut self, left: &str, right: &str) {
        self.relation = Relation::Twins;
        self.stand_for_each_other(left, right);
        self.entries = [0; 2];
    }

    /// Gives a company that is made for this its label, and a name of its own where it has none. Another server's
    /// companies may know no labels.
    fn mark(&mut self, body: &mut Value) {
        let Some(members) = body.as_object_mut() else { return };
        if !members.contains_key("name") {
            let (of_run, _) = self.run.split_at(self.run.len().min(13));
            members.insert("name".into(), format!("Compare {of_run}").into());
        }
        members["name"].as_str().unwrap_or_default().clone_into(&mut self.twins_name);
        if self.left.documented && self.right.documented {
            let labels = members.entry("tags").or_insert_with(|| json!([]));
            if let Some(labels) = labels.as_array_mut().filter(|labels| !labels.contains(&MADE_BY_US.into())) {
                labels.push(MADE_BY_US.into());
            }
        }
    }

    /// Says which two companies are asked about, each on its side.
    pub fn stand_for_each_other(&mut self, left: &str, right: &str) {
        self.twins.pair(left, right);
        (self.left.business, self.right.business) = (Some(left.to_owned()), Some(right.to_owned()));
    }

    /// Takes from two values that are alike which identifiers stand for each other.
    pub fn learn(&mut self, left: &Value, right: &Value) {
        self.twins.recognise(left, right);
    }

    /// Logs in as somebody else on each side.
    pub async fn log_in_apart(&mut self, left: (&str, &str), right: (&str, &str)) -> Result<(), String> {
        for (of_left, (login, password)) in [(true, left), (false, right)] {
            let said = Neutral::of(LOGIN).with(json!({"login": login, "password": password}));
            let answered = self.ask(of_left, &said).await.0;
            let side = if of_left { &mut self.left } else { &mut self.right };
            side.token = Some(answered.token(&side.dialect)?);
        }
        Ok(())
    }

    /// Logs in on the right side alone.
    pub async fn log_in_right(&mut self, login: &str, password: &str) -> Result<(), String> {
        let said = Neutral::of(LOGIN).with(json!({"login": login, "password": password}));
        let answered = self.ask(false, &said).await.0;
        self.right.token = Some(answered.token(&self.right.dialect)?);
        Ok(())
    }

    /// Logs in on both sides, each in its own words; their tokens are used from then on.
    pub async fn log_in(&mut self, login: &str, password: &str) -> Result<Compared, String> {
        let request = Neutral::of(LOGIN).with(json!({"login": login, "password": password}));
        let (left, meant_left) = self.ask(true, &request).await;
        let (right, meant_right) = self.ask(false, &request).await;
        self.left.token = Some(left.token(&self.left.dialect)?);
        self.right.token = Some(right.token(&self.right.dialect)?);
        let differences = between(&meant_left?, &meant_right?, &mut Latitude::Own(&mut Twins::default()));
        let compared = self.compared(Neutral::of(LOGIN), left, right);
        Ok(self.judged(Compared { differences, ..compared }))
    }
}

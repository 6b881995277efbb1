//! What an example expects: ledger lines, balances on days, stock, members of records, reports.

use super::read::{Line, Step, Word};
use super::run::Run;
use crate::harness::shop::{cents, id, shown_cents};
use serde_json::{Value, json};
use std::collections::BTreeMap;

type Sums = BTreeMap<String, i64>;

/// As accountants write it: debits, then credits.
fn shown(sums: &Sums) -> String {
    let side = |debit: bool| {
        let of_side = sums.iter().filter(move |(_, sum)| **sum != 0 && (**sum > 0) == debit);
        of_side.map(move |(code, sum)| format!("{} {code} {}", if debit { "D" } else { "C" }, shown_cents(sum.abs())))
    };
    let all: Vec<String> = side(true).chain(side(false)).collect();
    if all.is_empty() { "nothing".into() } else { all.join(" ") }
}

fn same(told: &str, expected: &str) -> Result<(), String> {
    if told == expected { Ok(()) } else { Err(format!("told {told}, expected {expected}")) }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What entries come to, account by account.
fn sums<'e>(entries: impl Iterator<Item = &'e Value>) -> Result<Sums, String> {
    let mut sums = Sums::new();
    for line in entries.flat_map(|entry| entry["lines"].as_array().into_iter().flatten()) {
        let code = line["accountCode"].as_str().ok_or("a line without an account")?;
        *sums.entry(code.to_owned()).or_default() += cents(&line["debit"]) - cents(&line["credit"]);
    }
    Ok(sums)
}

/// Rows with those below them, figures of nothing left out.
fn rows(report: &Value, below: &Value, inset: &str, all: &mut Vec<String>) {
    let columns: Vec<String> =
        report["columns"].as_array().into_iter().flatten().map(|one| text(&one["key"])).collect();
    for row in below.as_array().into_iter().flatten() {
        let (key, label) = (text(&row["key"]), text(&row["label"]));
        let name = if key.len() >= 36 { label.split(' ').next().unwrap_or_default() } else { key.as_str() };
        let figures = columns.iter().zip(row["values"].as_array().into_iter().flatten());
        let said: Vec<String> = figures
            .map(|(column, value)| (column, text(value)))
            .filter(|(_, value)| !["null", "0.00", ""].contains(&value.as_str()))
            .map(|(column, value)| format!(" {column} {value}"))
            .collect();
        all.push(format!("{inset}{name}{}", said.concat()));
        rows(report, &row["children"], &format!("{inset}> "), all);
    }
}

impl Run<'_> {
    /// `D AR 119.00 C INC 119.00`, or `nothing`.
    fn expected(&self, words: &[&Word]) -> Result<String, String> {
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        if words == ["nothing"] {
            return Ok("nothing".into());
        }
        let mut sums = Sums::new();
        for part in words.chunks(3) {
            let [side @ ("D" | "C"), account, amount] = part else { return Err(format!("{part:?} is no line")) };
            let amount = cents(&serde_json::from_str(amount).map_err(|error| format!("{amount}: {error}"))?);
            let twice = sums.insert(self.code(account).to_owned(), if *side == "D" { amount } else { -amount });
            if twice.is_some() {
                return Err(format!("{account} is there twice"));
            }
        }
        Ok(shown(&sums))
    }

    fn posts(&self, line: &Line) -> Result<(), String> {
        let (_, record) = self.record(line.plain(1)?)?;
        let entries = self.shop.company.entries_of(id(record));
        same(&shown(&sums(entries.iter())?), &self.expected(&line.plains()[2..])?)
    }

    /// All that is posted on a day, whatever made it.
    fn day(&self, line: &Line) -> Result<(), String> {
        let found = self.ask("GET", "entries", "?pageSize=500", None).expect(200).data;
        let entries = found["items"].as_array().ok_or("no entries")?.iter();
        let day = line.plain(1)?;
        let told = sums(entries.filter(|entry| entry["date"] == day))?;
        same(&shown(&told), &self.expected(&line.plains()[2..])?)
    }

    /// Of the account's own side, today or at the end of a day.
    fn balance(&self, line: &Line) -> Result<(), String> {
        let code = self.code(line.plain(1)?);
        let (query, expected) = match line.plain(3) {
            Ok(expected) => (format!("&asOf={}", line.plain(2)?), expected),
            Err(_) => (String::new(), line.plain(2)?),
        };
        same(&self.shop.company.balance(code, &query), expected)
    }

    fn stock(&self, line: &Line) -> Result<(), String> {
        let (_, item) = self.record(line.plain(1)?)?;
        let report = self.report(&format!("stock-valuation?asOf={}", line.plain(2)?))?;
        let row = report["rows"].as_array().into_iter().flatten().find(|row| row["itemId"] == item["id"]);
        let told = row.map_or_else(|| "0 = 0.00".into(), |row| format!("{} = {}", row["values"][0], row["values"][1]));
        same(&told, &format!("{} = {}", line.plain(3)?, line.plain(5)?))
    }

    /// Members of a record as it reads now; `2.netAmount` is that of its second line.
    fn shows(&mut self, line: &Line) -> Result<(), String> {
        let name = line.plain(1)?.to_owned();
        let (resource, record) = match self.record(&name) {
            Ok(known) => known.clone(),
            Err(_) => ("accounts".into(), json!({"id": self.shop.company.account(self.code(&name))})),
        };
        let path = format!("/{}", id(&record));
        let record = self.ask("GET", &resource, &path, None).expect(200).data;
        for pair in line.plains()[2..].chunks(2) {
            let [member, expected] = pair else { return Err("a member without its figure".into()) };
            let mut found = &record;
            for (depth, part) in member.text.split('.').enumerate() {
                found = match (part.parse::<usize>(), depth) {
                    (Ok(place), 0) => &found["lines"][place - 1],
                    (Ok(place), _) => &found[place - 1],
                    (Err(_), _) => &found[part],
                };
            }
            same(&format!("{} {}", member.text, text(found)), &format!("{} {}", member.text, expected.text))?;
        }
        self.names.insert(name, (resource, record));
        Ok(())
    }

    /// A report, whose own checks hold.
    fn report(&self, path: &str) -> Result<Value, String> {
        let request = self.shop.company.request_at(self.dialect, "GET", &format!("reports/{path}"));
        let said = self.shop.company.say(self.dialect, request);
        if said.status != 200 {
            return Err(format!("told {} {}", said.status, said.answer.text));
        }
        let checks = said.data["checks"].as_array().ok_or("no checks")?;
        match checks.iter().find(|check| check["ok"] != true) {
            Some(check) => Err(format!("a check of {path} fails: {check}")),
            None => Ok(said.data),
        }
    }

    /// The rows that are said are all there are; `has` asks for some, `totals` for the totals.
    fn tells(&self, step: &Step) -> Result<(), String> {
        let line = &step.line;
        let mut query = Vec::new();
        if let (Ok(from), Ok(to)) = (line.plain(2), line.plain(3)) {
            query.push(format!("from={from}&to={to}"));
        }
        for (key, value) in line.pairs() {
            let value = match value.strip_prefix('@') {
                Some(name) => id(&self.record(name)?.1).to_owned(),
                None => value.to_owned(),
            };
            query.push(format!("{key}={value}"));
        }
        let report = self.report(&format!("{}?{}", line.plain(1)?, query.join("&")))?;
        let mut told = Vec::new();
        rows(&report, &report["rows"], "", &mut told);
        let mut all = Vec::new();
        for line in &step.below {
            match line.plain(0) {
                Ok("totals") => {
                    for pair in line.plains()[1..].chunks(2) {
                        let [name, expected] = pair else { return Err("a total without its figure".into()) };
                        same(
                            &format!("{} {}", name.text, report["totals"][&name.text]),
                            &format!("{} {}", name.text, expected.text),
                        )?;
                    }
                }
                Ok("count") => same(&told.len().to_string(), line.plain(1)?)?,
                Ok("has") => {
                    let wanted = line.raw.trim_start_matches("has ");
                    if !told.iter().any(|row| row.trim_start_matches("> ") == wanted) {
                        return Err(format!("`{wanted}` is not there: {told:#?}"));
                    }
                }
                _ => all.push(line.raw.clone()),
            }
        }
        if !all.is_empty() && all != told {
            return Err(format!("told {told:#?}, expected {all:#?}"));
        }
        Ok(())
    }

    pub fn expect(&mut self, step: &Step) -> Result<(), String> {
        let line = &step.line;
        match line.plain(0)? {
            "posts" => self.posts(line),
            "day" => self.day(line),
            "balance" => self.balance(line),
            "stock" => self.stock(line),
            "shows" => self.shows(line),
            "report" => self.tells(step),
            other => Err(format!("nobody knows how to `{other}`")),
        }
    }
}

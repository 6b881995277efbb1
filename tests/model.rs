//! A reference model of the ledger: a plain list of entries, from which everything is computed anew. The same
//! random commands drive it and the server, through both dialects; after each they must agree on everything.

use crate::harness::server::{Company, Said};
use crate::harness::streams::{each_stream, ensure};
use crate::harness::{Dialect, Server, on_both_engines};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Codes of the accounts that the commands move, and whether each needs a party.
const ACCOUNTS: [(&str, bool); 6] =
    [("1010", false), ("1000", false), ("6200", false), ("4000", false), ("1200", true), ("2100", true)];

/// Days of two years, as a number from 0.
fn date(day: usize) -> String {
    // Years that are over: nothing is taken back on a day to come.
    format!("{}-{:02}-{:02}", 2024 + day / 336 % 2, day / 28 % 12 + 1, day % 28 + 1)
}

#[derive(Debug, Clone)]
struct Line {
    account: usize,
    party: usize,
    cents: i64,
}

#[derive(Debug, Clone)]
enum Command {
    Create { day: usize, lines: Vec<Line>, draft: bool },
    CreateUnbalanced { day: usize, lines: Vec<Line> },
    Edit { which: usize, day: usize, lines: Vec<Line> },
    Reword { which: usize },
    SendBack { which: usize },
    Post { which: usize, by_put: bool },
    Void { which: usize, later: Option<usize> },
    Delete { which: usize },
    Copy { which: usize },
    Move { day: usize, to_bank: bool, cents: i64, fee: i64 },
}

/// Two to six lines that balance, none of them empty.
fn lines() -> impl Strategy<Value = Vec<Line>> {
    let one = (0..ACCOUNTS.len(), 0..2_usize, 1..1_000_000_i64, any::<bool>());
    vec(one, 1..6).prop_map(|some| {
        let mut lines: Vec<Line> = some
            .into_iter()
            .map(|(account, party, cents, credit)| Line { account, party, cents: if credit { -cents } else { cents } })
            .collect();
        let rest: i64 = lines.iter().map(|line| line.cents).sum();
        if rest == 0 {
            lines[0].cents *= 2;
        }
        let rest: i64 = lines.iter().map(|line| line.cents).sum();
        lines.push(Line { account: lines[0].party, party: 0, cents: -rest });
        lines
    })
}

fn command() -> impl Strategy<Value = Command> {
    let (day, which) = (0..672_usize, any::<usize>());
    prop_oneof![
        5 => (day.clone(), lines(), any::<bool>()).prop_map(|(day, lines, draft)| Command::Create { day, lines, draft }),
        1 => (day.clone(), lines()).prop_map(|(day, lines)| Command::CreateUnbalanced { day, lines }),
        3 => (which, day.clone(), lines()).prop_map(|(which, day, lines)| Command::Edit { which, day, lines }),
        1 => which.prop_map(|which| Command::Reword { which }),
        1 => which.prop_map(|which| Command::SendBack { which }),
        2 => (which, any::<bool>()).prop_map(|(which, by_put)| Command::Post { which, by_put }),
        2 => (which, prop_oneof![Just(None), (0..60_usize).prop_map(Some)])
            .prop_map(|(which, later)| Command::Void { which, later }),
        1 => which.prop_map(|which| Command::Delete { which }),
        1 => which.prop_map(|which| Command::Copy { which }),
        1 => (day, any::<bool>(), 2..100_000_i64, 0..2_i64)
            .prop_map(|(day, to_bank, cents, fee)| Command::Move { day, to_bank, cents, fee }),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Draft,
    Posted,
    Void,
    Gone,
}

impl Status {
    const fn text(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Posted => "posted",
            Self::Void => "void",
            Self::Gone => "gone",
        }
    }
}

struct Document {
    resource: &'static str,
    id: String,
    status: Status,
    day: usize,
    lines: Vec<Line>,
    /// Places in the list of entries that it stands for.
    live: Vec<usize>,
}

struct Entry {
    day: usize,
    lines: Vec<Line>,
}

/// What the ledger is, as simply as it can be said.
#[derive(Default)]
struct Model {
    entries: Vec<Entry>,
    documents: Vec<Document>,
}

impl Model {
    fn post(&mut self, day: usize, lines: Vec<Line>) -> usize {
        self.entries.push(Entry { day, lines });
        self.entries.len() - 1
    }

    fn reverse(&mut self, entry: usize, day: usize) {
        let mirror = self.entries[entry].lines.iter().map(|line| Line { cents: -line.cents, ..line.clone() }).collect();
        self.post(day, mirror);
    }

    fn balance(&self, account: usize, until: Option<usize>) -> i64 {
        let entries = self.entries.iter().filter(|entry| until.is_none_or(|until| date(entry.day) <= date(until)));
        entries.flat_map(|entry| &entry.lines).filter(|line| line.account == account).map(|line| line.cents).sum()
    }

    fn open_with(&self, account: usize, party: usize) -> i64 {
        let lines = self.entries.iter().flat_map(|entry| &entry.lines);
        lines.filter(|line| line.account == account && line.party == party).map(|line| line.cents).sum()
    }

    /// A document that a number picks among those that are left.
    fn pick(&self, which: usize, resource: Option<&str>) -> Option<usize> {
        let there = |document: &Document| {
            document.status != Status::Gone && resource.is_none_or(|resource| document.resource == resource)
        };
        let left: Vec<usize> = (0..self.documents.len()).filter(|at| there(&self.documents[*at])).collect();
        (!left.is_empty()).then(|| left[which % left.len()])
    }
}

/// A company and the model of it.
struct Side<'s> {
    company: Company<'s>,
    accounts: Vec<String>,
    fees: String,
    parties: Vec<String>,
    model: Model,
    turn: usize,
}

fn amount(cents: i64) -> String {
    format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100)
}

impl<'s> Side<'s> {
    fn new(server: &'s Server) -> Self {
        let company = server.company();
        let accounts = ACCOUNTS.iter().map(|(code, _)| company.account(code)).collect();
        let party = || company.party(json!({"isSupplier": true}))["id"].as_str().unwrap().to_owned();
        let parties = vec![party(), party()];
        Self { fees: company.account("6800"), accounts, parties, model: Model::default(), turn: 0, company }
    }

    /// Every other command speaks the other dialect.
    fn ask(&mut self, method: &str, resource: &str, path: &str, body: Option<&Value>) -> Said {
        self.turn += 1;
        let dialect = if self.turn.is_multiple_of(2) { Dialect::A } else { Dialect::B };
        self.company.ask(dialect, method, resource, path, body)
    }

    fn body(&self, day: usize, lines: &[Line]) -> Value {
        let line = |line: &Line| {
            let side = if line.cents < 0 { "credit" } else { "debit" };
            let party = ACCOUNTS[line.account].1.then(|| self.parties[line.party].clone());
            json!({"accountId": self.accounts[line.account], "partyId": party, side: amount(line.cents.abs())})
        };
        json!({"date": date(day), "lines": lines.iter().map(line).collect::<Vec<_>>()})
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each command")]
    fn run(&mut self, command: &Command) -> Result<(), TestCaseError> {
        let expect = |said: Said, status: u16| -> Result<Said, TestCaseError> {
            ensure(said.status == status, || format!("{status} expected, {}: {}", said.status, said.answer.text))?;
            Ok(said)
        };
        match command.clone() {
            Command::Create { day, lines, draft } => {
                let mut body = self.body(day, &lines);
                body["status"] = if draft { "draft" } else { "posted" }.into();
                let said = expect(self.ask("POST", "journals", "", Some(&body)), 201)?;
                let live = if draft { Vec::new() } else { vec![self.model.post(day, lines.clone())] };
                let status = if draft { Status::Draft } else { Status::Posted };
                let document = Document { resource: "journals", id: said.id(), status, day, lines, live };
                self.model.documents.push(document);
            }
            Command::CreateUnbalanced { day, mut lines } => {
                lines[0].cents += lines[0].cents.signum();
                expect(self.ask("POST", "journals", "", Some(&self.body(day, &lines))), 400)?;
            }
            Command::Edit { which, day, lines } => {
                let Some(at) = self.model.pick(which, Some("journals")) else { return Ok(()) };
                let (path, status) = (format!("/{}", self.model.documents[at].id), self.model.documents[at].status);
                let said = self.ask("PUT", "journals", &path, Some(&self.body(day, &lines)));
                if status == Status::Void {
                    expect(said, 409)?;
                    return Ok(());
                }
                expect(said, 200)?;
                if status == Status::Posted {
                    for entry in std::mem::take(&mut self.model.documents[at].live) {
                        let own = self.model.entries[entry].day;
                        self.model.reverse(entry, own);
                    }
                    self.model.documents[at].live = vec![self.model.post(day, lines.clone())];
                }
                (self.model.documents[at].day, self.model.documents[at].lines) = (day, lines);
            }
            Command::Reword { which } => {
                let Some(at) = self.model.pick(which, None) else { return Ok(()) };
                let (path, resource) = (format!("/{}", self.model.documents[at].id), self.model.documents[at].resource);
                let mut body = expect(self.ask("GET", resource, &path, None), 200)?.data;
                body["narration"] = format!("Turn {}", self.turn).into();
                let status = if self.model.documents[at].status == Status::Void { 409 } else { 200 };
                expect(self.ask("PUT", resource, &path, Some(&body)), status)?;
            }
            Command::SendBack { which } => {
                let Some(at) = self.model.pick(which, None) else { return Ok(()) };
                let (path, resource) = (format!("/{}", self.model.documents[at].id), self.model.documents[at].resource);
                let read = expect(self.ask("GET", resource, &path, None), 200)?.data;
                let back = expect(self.ask("PUT", resource, &path, Some(&read)), 200)?.data;
                ensure(back == read, || format!("sent back {read}, and it became {back}"))?;
            }
            Command::Post { which, by_put } => {
                let Some(at) = self.model.pick(which, Some("journals")) else { return Ok(()) };
                let (path, status) = (format!("/{}", self.model.documents[at].id), self.model.documents[at].status);
                if by_put && status == Status::Draft {
                    let mut body = expect(self.ask("GET", "journals", &path, None), 200)?.data;
                    body["status"] = "posted".into();
                    expect(self.ask("PUT", "journals", &path, Some(&body)), 200)?;
                } else {
                    let said = self.ask("POST", "journals", &format!("{path}/post"), None);
                    expect(said, if status == Status::Draft { 200 } else { 409 })?;
                }
                if status == Status::Draft {
                    let (day, lines) = (self.model.documents[at].day, self.model.documents[at].lines.clone());
                    self.model.documents[at].live = vec![self.model.post(day, lines)];
                    self.model.documents[at].status = Status::Posted;
                }
            }
            Command::Void { which, later } => {
                let Some(at) = self.model.pick(which, None) else { return Ok(()) };
                let document = &self.model.documents[at];
                let (path, resource) = (format!("/{}/void", document.id), document.resource);
                let (status, day) = (document.status, later.map_or(document.day, |days| document.day + days));
                // Days beyond the two years wrap around; then there is no later day to void on.
                let day = if date(day) < date(document.day) { document.day } else { day };
                let body = later.map(|_| json!({"date": date(day)}));
                let said = self.ask("POST", resource, &path, body.as_ref());
                expect(said, if status == Status::Posted { 200 } else { 409 })?;
                if status == Status::Posted {
                    self.void(at, day);
                }
            }
            Command::Delete { which } => {
                let Some(at) = self.model.pick(which, None) else { return Ok(()) };
                let document = &self.model.documents[at];
                let (path, resource, status) = (format!("/{}", document.id), document.resource, document.status);
                let said = self.ask("DELETE", resource, &path, None);
                expect(said, if status == Status::Void { 409 } else { 200 })?;
                match status {
                    Status::Draft => self.model.documents[at].status = Status::Gone,
                    Status::Posted => self.void(at, self.model.documents[at].day),
                    Status::Void | Status::Gone => {}
                }
            }
            Command::Copy { which } => {
                let Some(at) = self.model.pick(which, Some("journals")) else { return Ok(()) };
                let path = format!("/{}/copy", self.model.documents[at].id);
                let said = expect(self.ask("POST", "journals", &path, None), 201)?;
                let (day, lines) = (self.model.documents[at].day, self.model.documents[at].lines.clone());
                let copy = Document {
                    resource: "journals",
                    id: said.id(),
                    status: Status::Draft,
                    day,
                    lines,
                    live: Vec::new(),
                };
                self.model.documents.push(copy);
            }
            Command::Move { day, to_bank, cents, fee } => {
                let (from, to) = if to_bank { (1, 0) } else { (0, 1) };
                let body = json!({
                    "date": date(day), "fromAccountId": self.accounts[from], "toAccountId": self.accounts[to],
                    "amount": amount(cents), "feeAmount": amount(fee), "feeAccountId": self.fees
                });
                let said = expect(self.ask("POST", "contraEntries", "", Some(&body)), 201)?;
                let line = |account, cents| Line { account, party: 0, cents };
                // The fee goes to an account that the model does not watch.
                let lines = vec![line(to, cents - fee), line(from, -cents)];
                let live = vec![self.model.post(day, lines.clone())];
                let document =
                    Document { resource: "contraEntries", id: said.id(), status: Status::Posted, day, lines, live };
                self.model.documents.push(document);
            }
        }
        Ok(())
    }

    fn void(&mut self, at: usize, day: usize) {
        for entry in std::mem::take(&mut self.model.documents[at].live) {
            self.model.reverse(entry, day);
        }
        self.model.documents[at].status = Status::Void;
    }

    /// The server's balances of the watched accounts, debits positive.
    fn balances(&mut self, query: &str) -> BTreeMap<String, String> {
        let said = self.ask("GET", "accounts", &format!("?pageSize=500{query}"), None).expect(200).data;
        let accounts = said["items"].as_array().unwrap().iter();
        accounts
            .map(|one| {
                let balance = one["baseBalance"].to_string();
                let credit = one["normalBalance"] == "credit" && balance != "0.00";
                let signed = if credit { format!("-{balance}").replace("--", "") } else { balance };
                (one["code"].as_str().unwrap().to_owned(), signed)
            })
            .collect()
    }

    fn agrees(&mut self, day: usize) -> Result<(), TestCaseError> {
        for until in [None, Some(day)] {
            let query = until.map(|day| format!("&asOf={}", date(day))).unwrap_or_default();
            let told = self.balances(&query);
            for (account, (code, _)) in ACCOUNTS.iter().enumerate() {
                let expected = amount(self.model.balance(account, until));
                ensure(told[*code] == expected, || {
                    format!("{code}{query}: {expected} expected, {} told", told[*code])
                })?;
            }
        }
        let entries = self.ask("GET", "entries", "?sort=-entryNumber&pageSize=1", None).expect(200).data;
        let count = self.model.entries.len();
        ensure(entries["pagination"]["totalCount"] == count, || format!("{count} entries expected: {entries}"))?;
        let last = entries["items"][0]["entryNumber"].as_u64().unwrap_or(0);
        ensure(last == count as u64, || format!("the last entry is {last} of {count}"))?;
        for resource in ["journals", "contraEntries"] {
            let listed = self.ask("GET", resource, "?pageSize=500", None).expect(200).data;
            let told: BTreeMap<_, _> = listed["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| (one["id"].as_str().unwrap(), one["status"].as_str().unwrap()))
                .collect();
            let documents = self.model.documents.iter();
            let expected: BTreeMap<_, _> = documents
                .filter(|document| document.resource == resource && document.status != Status::Gone)
                .map(|document| (document.id.as_str(), document.status.text()))
                .collect();
            ensure(told == expected, || format!("{resource}: {expected:?} expected, {told:?} told"))?;
        }
        Ok(())
    }

    /// What each party owes and is owed, from the entries that name it.
    fn parties_agree(&mut self) -> Result<(), TestCaseError> {
        for party in 0..self.parties.len() {
            let path = format!("?pageSize=500&partyId={}", self.parties[party]);
            let told = self.ask("GET", "entries", &path, None).expect(200).data;
            for (account, (code, _)) in ACCOUNTS.iter().enumerate().filter(|(_, (_, control))| *control) {
                let cents = |text: String| text.replace('.', "").parse::<i64>().unwrap();
                let entries = told["items"].as_array().unwrap().iter();
                let sum: i64 = entries
                    .flat_map(|entry| entry["lines"].as_array().unwrap())
                    .filter(|line| line["partyId"] == self.parties[party] && line["accountCode"] == *code)
                    .map(|line| cents(line["debit"].to_string()) - cents(line["credit"].to_string()))
                    .sum();
                let expected = self.model.open_with(account, party);
                ensure(sum == expected, || format!("party {party} on {code}: {expected} expected, {sum} told"))?;
            }
        }
        Ok(())
    }
}

on_both_engines! {
    fn the_server_agrees_with_a_plain_list_of_entries(server) {
        let stream = vec((command(), 0..672_usize), 1..30);
        each_stream(&stream, |commands| {
            let mut side = Side::new(server);
            for (command, day) in &commands {
                side.run(command)?;
                side.agrees(*day)?;
            }
            side.parties_agree()?;
            let failed = side.company.failed_checks();
            ensure(failed.is_empty(), || format!("the proof fails: {failed:?}"))
        });
    }
}

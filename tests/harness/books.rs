//! Words for bookkeeping: journals by account codes, balances as text.

use super::process::eventually;
use super::server::{Company, Said};
use super::{Dialect, Engine, Server};
use ledger_core::day::Day;
use ledger_core::ids::RecordId;
use ledger_core::ids::counted::Kept;
use postgres_kit::{Patience, Target};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr};
use serde_json::{Value, json};
use sqlite_kit::{Access, Opening};

/// A line of a journal: the account's code and an amount, debits positive.
pub type Line<'l> = (&'l str, &'l str);

impl Company<'_> {
    /// A journal's body; accounts are named by their codes.
    pub fn journal_body(&self, date: &str, lines: &[Line<'_>]) -> Value {
        let line = |(code, amount): &Line<'_>| {
            let (side, amount) = match amount.strip_prefix('-') {
                Some(amount) => ("credit", amount),
                None => ("debit", *amount),
            };
            json!({"accountId": self.account(code), side: amount})
        };
        json!({"date": date, "narration": "A journal", "lines": lines.iter().map(line).collect::<Vec<_>>()})
    }

    pub fn post_journal(&self, body: &Value) -> Said {
        self.ask(Dialect::B, "POST", "journals", "", Some(body))
    }

    pub fn journal(&self, date: &str, lines: &[Line<'_>]) -> Value {
        self.post_journal(&self.journal_body(date, lines)).expect(201).data
    }

    /// The base balance of the account with a code, digit for digit; `query` begins with `&`.
    pub fn balance(&self, code: &str, query: &str) -> String {
        let path = format!("?code={code}{query}");
        let found = self.ask(Dialect::A, "GET", "accounts", &path, None).expect(200).data;
        found["items"][0]["baseBalance"].to_string()
    }

    pub fn account_in(&self, code: &str, name: &str, kind: &str, currency: &str) -> String {
        let body = json!({"code": code, "name": name, "type": kind, "currency": currency});
        self.ask(Dialect::A, "POST", "accounts", "", Some(&body)).expect(201).id()
    }

    /// The entries of a document, oldest first.
    pub fn entries_of(&self, document: &str) -> Vec<Value> {
        let path = format!("?documentId={document}&pageSize=500");
        let found = self.ask(Dialect::A, "GET", "entries", &path, None).expect(200).data;
        found["items"].as_array().expect("entries").clone()
    }

    /// What must be equal in these books and is not.
    pub fn failed_checks(&self) -> Vec<String> {
        // A server that gives its requests little time may need more of it on a busy machine.
        let ask = || self.say(Dialect::B, self.request_at(Dialect::B, "GET", "verify"));
        let said = eventually("the checks", || Some(ask()).filter(|said| said.status != 503)).expect(200).data;
        let checks = said["checks"].as_array().expect("checks").iter();
        let failed: Vec<String> =
            checks.filter(|check| check["ok"] == false).map(|check| check["id"].as_str().unwrap().into()).collect();
        assert_eq!(said["ok"], failed.is_empty());
        failed
    }
}

/// Debit, credit and account code of each line of an entry.
pub fn shown(entry: &Value) -> Vec<String> {
    let lines = entry["lines"].as_array().expect("lines").iter();
    lines
        .map(|line| format!("{} {} {}", line["accountCode"].as_str().unwrap(), line["debit"], line["credit"]))
        .collect()
}

/// How long a test waits for PostgreSQL.
pub const PATIENCE: Patience = {
    const LONG: std::time::Duration = std::time::Duration::from_mins(2);
    Patience { connect: LONG, statement: LONG, writer: LONG }
};

/// A connection of one's own to a database, as no part of the product has it.
pub async fn connected(url: &str) -> Result<DatabaseConnection, DbErr> {
    let Some(path) = sqlite_kit::file_of(url) else {
        let target = Target::of(url, PATIENCE)?;
        return postgres_kit::proxied(&target, PATIENCE.statement).await.map(|(database, _)| database);
    };
    let patience = std::time::Duration::from_secs(10);
    let opening = Opening { path, access: Access::Write, cache_kib: 1_024, statements: 16, patience };
    // What fails is seen by whoever looks for what it should have done.
    sqlite_kit::proxied(&opening).await.map(|(database, _)| database)
}

/// An identifier as a statement has it.
pub fn literal(engine: Engine, id: &str) -> String {
    match engine {
        Engine::Postgres => format!("'{id}'"),
        Engine::Sqlite => {
            let id = RecordId::parse(id).expect("an identifier");
            format!("X'{}'", Kept::of(&id.0).digits())
        }
    }
}

/// A statement in which days are said as they are kept.
pub fn with_days(sql: &str) -> String {
    let (mut said, mut rest) = (String::new(), sql);
    while let Some(at) = rest.find('\'') {
        let day = rest.get(at + 1..at + 12).and_then(|text| text.strip_suffix('\''));
        let number = day.and_then(|day| day.parse::<Day>().ok()).map(|day| day.number().to_string());
        let end = at + if number.is_some() { 12 } else { 1 };
        said.push_str(&rest[..at]);
        said.push_str(number.as_deref().unwrap_or("'"));
        rest = &rest[end..];
    }
    said + rest
}

/// Runs SQL behind the server's back.
pub fn behind_the_back(server: &Server, statements: &[String]) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let database = connected(server.database_url()).await.map_err(|error| error.to_string())?;
        for statement in statements {
            database.execute_unprepared(&with_days(statement)).await.map_err(|error| error.to_string())?;
        }
        database.close().await.map_err(|error| error.to_string())
    })
}

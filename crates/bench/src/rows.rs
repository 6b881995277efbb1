//! The rows of a posted journal, as the server writes them, without the server.

use crate::Result;
use ledger_core::books::recorded::Recorded;
use ledger_core::books::tables::{
    DocumentKind, DocumentStatus, EntryKind, EntryRef, EntryRefs, account_days, account_months, audit_log, books,
    documents, entries, entry_lines,
};
use ledger_core::clock::{Clock, Instant};
use ledger_core::day::Day;
use ledger_core::ids::{BusinessId, RecordId, UserId};
use ledger_core::money::{BookMoney, Money};
use ledger_core::packed::pack;
use ledger_core::stored::{AsJson, Called};
use sea_orm::sea_query::ValueType;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict, Query};
use sea_orm::{
    ConnectionTrait, DbBackend, EntityTrait, IdenStatic, IntoActiveModel, Iterable, ModelTrait, QuerySelect,
};
use std::collections::BTreeMap;

/// A company that is only rows.
#[derive(Clone)]
pub(crate) struct Company {
    pub(crate) id: BusinessId,
    pub(crate) accounts: Vec<RecordId>,
    pub(crate) user: UserId,
}

/// Where its sequences stand.
#[derive(Clone, Copy, Default)]
pub(crate) struct Head {
    version: i64,
    entry: i64,
    audit: i64,
}

/// All rows of some journals.
#[derive(Default)]
pub(crate) struct Rows {
    documents: Vec<documents::Model>,
    lines: Vec<entry_lines::Model>,
    entries: Vec<entries::Model>,
    audits: Vec<audit_log::Model>,
}

fn literal(connection: &impl ConnectionTrait, id: uuid::Uuid) -> String {
    match connection.get_database_backend() {
        DbBackend::Postgres => format!("'{id}'"),
        _ => format!("X'{}'", ledger_core::ids::counted::Kept::of(&id).digits()),
    }
}

impl Company {
    pub(crate) async fn plant(connection: &impl ConnectionTrait, clock: &Clock) -> Result<Self> {
        let company = Self {
            id: BusinessId(clock.identifier()),
            accounts: (0..6).map(|_| RecordId(clock.identifier())).collect(),
            user: UserId(clock.identifier()),
        };
        let (business, user) = (literal(connection, company.id.0), literal(connection, company.user.0));
        for (code, account) in company.accounts.iter().enumerate() {
            let account = literal(connection, account.0);
            let insert = format!(
                "INSERT INTO accounts (business_id, id, code, name, name_key, type, class, is_group, \
                 allow_manual_posting, status, tags, search, version, created_at, created_by, updated_at, updated_by) \
                 VALUES ({business}, {account}, '{code}', 'x', 'x', 'bank', 'asset', FALSE, TRUE, 'active', '[]', 'x', \
                 1, 0, {user}, 0, {user})"
            );
            connection.execute_unprepared(&insert).await?;
        }
        let books = format!(
            "INSERT INTO books (business_id, version, entry_number, recorded_at, audit_sequence, audit_hash) \
             VALUES ({business}, 0, 0, 0, 0, '')"
        );
        connection.execute_unprepared(&books).await?;
        Ok(company)
    }

    /// Where the sequences stand, locked where there are other writers.
    pub(crate) async fn lock(&self, connection: &impl ConnectionTrait) -> Result<Head> {
        let mut row = books::Entity::find_by_id(self.id);
        if connection.get_database_backend() == DbBackend::Postgres {
            row = row.lock_exclusive();
        }
        let row = row.one(connection).await?.ok_or("no books")?;
        Ok(Head { version: row.version, entry: row.entry_number, audit: row.audit_sequence })
    }
}

impl Rows {
    /// Adds a journal of six lines.
    pub(crate) fn add(&mut self, company: &Company, clock: &Clock, head: &mut Head, turn: usize) -> Result<()> {
        (head.entry, head.audit) = (head.entry + 1, head.audit + 1);
        let (document, entry) = (RecordId(clock.identifier()), RecordId(clock.identifier()));
        let (now, date): (_, Day) = (clock.now(), day(turn)?);
        let number = format!("JV-2026-{:07}", head.entry);
        let content = content(company, clock);
        let kept = Some((document, head.audit, content.as_str()));
        let record = Recorded::text(kept, [None, Some(&view(&content)), None]).ok_or("nothing is recorded")?;
        let worth = |units: i64| BookMoney::from_units(units * 100);
        self.documents.push(documents::Model {
            business_id: company.id,
            id: document,
            kind: DocumentKind::Journal,
            subkind: Some("general".into()),
            stage: None,
            status: DocumentStatus::Posted,
            number: Some(number.clone()),
            series_id: Some(RecordId(company.id.0)),
            period: Some("2026-01-01".into()),
            sequence: Some(head.entry),
            date,
            due_date: None,
            party_id: None,
            reference: None,
            narration: Some("Costs of the month".into()),
            currency: "EUR".into(),
            total: worth(15_00).at_par(),
            base_total: worth(15_00),
            // As it would be read from where it is kept.
            content: ValueType::try_from(pack(&record).into()).map_err(|_| "a content that is no text")?,
            record: Some(head.audit),
            entries: EntryRefs(vec![EntryRef { id: entry, number: head.entry, date }]),
            posted_at: Some(now),
            void_date: None,
            void_reason: None,
            external_id: None,
            tags: AsJson(Vec::new()),
            search: format!("{number} costs of the month"),
            version: 1,
            created_at: now,
            created_by: company.user,
            updated_at: now,
            updated_by: company.user,
        });
        for (position, account) in (1..).zip(&company.accounts) {
            let units = if position == 6 { -15_00 } else { position * 100 };
            self.lines.push(entry_lines::Model {
                business_id: company.id,
                entry_number: head.entry,
                position,
                account_id: *account,
                party_id: None,
                date,
                amount: worth(units),
                currency: "EUR".into(),
                currency_amount: None,
                description: None,
                due_date: None,
                item_id: None,
                quantity: None,
                tax_code_id: None,
                tax_component: None,
                tax_base: None,
            });
        }
        self.entries.push(entries::Model {
            business_id: company.id,
            number: head.entry,
            id: entry,
            date,
            recorded_at: now,
            recorded_by: company.user,
            kind: EntryKind::Normal,
            document_kind: DocumentKind::Journal,
            document_id: document,
            document_version: 1,
            document_number: Some(number.clone()),
            reverses_id: None,
            narration: Some("Costs of the month".into()),
            total: worth(15_00),
            search: format!("costs of the month {number}"),
        });
        self.audits.push(created(company, (clock, now), head.audit, (document, record)));
        Ok(())
    }

    /// Writes everything in a handful of statements.
    pub(crate) async fn write(self, connection: &impl ConnectionTrait, company: &Company, head: Head) -> Result<()> {
        let (days, months) = rollups(company, &self.lines);
        insert::<documents::Entity>(connection, self.documents, Sealed::Yes).await?;
        insert::<entry_lines::Entity>(connection, self.lines, Sealed::No).await?;
        insert::<entries::Entity>(connection, self.entries, Sealed::Yes).await?;
        {
            use account_days::Column::{AccountId, BusinessId, Credit, Currency, CurrencyAmount, Date, Debit, Lines};
            let conflict = adding::<account_days::Entity>(
                &[BusinessId, AccountId, Currency, Date],
                &[Debit, Credit, CurrencyAmount, Lines],
            );
            let rows = days.into_iter().map(IntoActiveModel::into_active_model);
            account_days::Entity::insert_many(rows).on_conflict(conflict).exec_without_returning(connection).await?;
        }
        {
            use account_months::Column::{
                AccountId, BusinessId, Credit, Currency, CurrencyAmount, Debit, Lines, Month,
            };
            let conflict = adding::<account_months::Entity>(
                &[BusinessId, AccountId, Currency, Month],
                &[Debit, Credit, CurrencyAmount, Lines],
            );
            let rows = months.into_iter().map(IntoActiveModel::into_active_model);
            account_months::Entity::insert_many(rows).on_conflict(conflict).exec_without_returning(connection).await?;
        }
        insert::<audit_log::Entity>(connection, self.audits, Sealed::No).await?;
        let id = literal(connection, company.id.0);
        let update = format!(
            "UPDATE books SET version = {}, entry_number = {}, audit_sequence = {} WHERE business_id = {id}",
            head.version + 1,
            head.entry,
            head.audit
        );
        connection.execute_unprepared(&update).await?;
        Ok(())
    }
}

fn adding<E: EntityTrait>(same: &[E::Column], sums: &[E::Column]) -> OnConflict {
    let mut conflict = OnConflict::columns(same.iter().copied());
    for &sum in sums {
        conflict.value(sum, Expr::col((E::default(), sum)).add(Expr::col((Alias::new("excluded"), sum))));
    }
    conflict
}

/// Whether the rows of a table carry seals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sealed {
    Yes,
    No,
}

async fn insert<E: EntityTrait>(connection: &impl ConnectionTrait, rows: Vec<E::Model>, sealed: Sealed) -> Result<()> {
    // As long as a seal is.
    let seal = (sealed == Sealed::Yes).then(|| vec![b'0'; 12]);
    for portion in rows.chunks(1_000) {
        let mut statement = Query::insert();
        statement.into_table(E::default());
        let columns = E::Column::iter().map(|column| Alias::new(column.as_str()));
        statement.columns(columns.chain(seal.iter().map(|_| Alias::new("seal"))));
        for row in portion {
            let values = E::Column::iter().map(|column| row.get(column));
            statement.values(values.chain(seal.iter().map(|seal| seal.clone().into())).map(Expr::val))?;
        }
        connection.execute(&statement).await?;
    }
    Ok(())
}

fn rollups(company: &Company, lines: &[entry_lines::Model]) -> (Vec<account_days::Model>, Vec<account_months::Model>) {
    let mut days: BTreeMap<(RecordId, Day), (i64, i64, i64)> = BTreeMap::new();
    let mut months: BTreeMap<(RecordId, String), (i64, i64, i64)> = BTreeMap::new();
    for line in lines {
        let units = line.amount.units();
        let (debit, credit) = (Ord::max(units, 0), Ord::max(-units, 0));
        let day = days.entry((line.account_id, line.date)).or_default();
        *day = (day.0 + debit, day.1 + credit, day.2 + 1);
        let month = months.entry((line.account_id, line.date.year_and_month())).or_default();
        *month = (month.0 + debit, month.1 + credit, month.2 + 1);
    }
    let money = BookMoney::from_units;
    let days = days.into_iter().map(|((account_id, date), (debit, credit, lines))| account_days::Model {
        business_id: company.id,
        account_id,
        currency: "EUR".into(),
        date,
        debit: money(debit),
        credit: money(credit),
        currency_amount: Money::from_units(debit - credit),
        lines,
    });
    let months = months.into_iter().map(|((account_id, month), (debit, credit, lines))| account_months::Model {
        business_id: company.id,
        account_id,
        currency: "EUR".into(),
        month,
        debit: money(debit),
        credit: money(credit),
        currency_amount: Money::from_units(debit - credit),
        lines,
    });
    (days.collect(), months.collect())
}

/// A day of the year 2026, another one each turn.
pub(crate) fn day(turn: usize) -> Result<Day> {
    let (month, day) = (turn / 28 % 12 + 1, turn % 28 + 1);
    Ok(format!("2026-{month:02}-{day:02}").parse()?)
}

fn content(company: &Company, clock: &Clock) -> String {
    let line = |account: &RecordId| {
        format!(
            "{{\"id\":\"{}\",\"account\":\"{account}\",\"party\":null,\"amount\":100,\"description\":null,\
             \"due_date\":null,\"currency\":null,\"exchange_rate\":null}}",
            clock.identifier()
        )
    };
    let lines: Vec<String> = company.accounts.iter().map(line).collect();
    format!(
        "{{\"asked\":{{\"kind\":\"general\",\"currency\":null,\"exchange_rate\":null,\"reverse_on\":null,\"lines\":[{}]}},\
         \"figures\":{{\"debit\":1500,\"credit\":1500,\"totals_in\":\"EUR\",\"base_debit\":1500,\
         \"base\":[100,200,300,400,500,-1500]}}}}",
        lines.join(",")
    )
}

/// The record of a journal that was made, and what is said of it.
fn created(
    company: &Company,
    (clock, at): (&Clock, Instant),
    sequence: i64,
    (document, record): (RecordId, String),
) -> audit_log::Model {
    audit_log::Model {
        business_id: company.id,
        sequence,
        id: RecordId(clock.identifier()),
        at,
        user_id: Some(company.user),
        address: Some("127.0.0.1".into()),
        dialect: Some("B".into()),
        request_id: Some(Called(document.to_string())),
        client_request_id: None,
        action: "created".into(),
        resource: "journals".into(),
        resource_id: document,
        version_from: None,
        version_to: Some(1),
        before: None,
        after: None,
        record: Some(record.into()),
        search: None,
        hash: "0".repeat(64).into(),
        keyed: true,
    }
}

/// About as long as the record that the server answers and keeps.
fn view(content: &str) -> String {
    format!("{{\"record\":{content},\"more\":\"{}\"}}", " ".repeat(1_400))
}

/// A moment to stamp rows with.
pub(crate) fn clock() -> Clock {
    Clock::system()
}

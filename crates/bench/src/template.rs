//! The rows that the server wrote for one document, to be written again and again without it.

use crate::Result;
use crate::place::Raw;
use ledger_core::books::desk;
use ledger_core::books::tables::{
    EntryRef, EntryRefs, account_days, account_months, audit_log, books, document_lines, documents, entries,
    entry_lines, open_item_moves, open_items, party_balances, tax_facts,
};
use ledger_core::clock::Clock;
use ledger_core::database::rows::Puts;
use ledger_core::day::Day;
use ledger_core::ids::{BusinessId, RecordId};
use ledger_core::money::{BookMoney, Money};
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
};
use std::collections::BTreeMap;

/// One document of a company, with everything that stands beside it.
#[derive(Clone)]
pub(crate) struct Template {
    business: BusinessId,
    document: documents::Model,
    traded: Vec<document_lines::Model>,
    entry: entries::Model,
    lines: Vec<entry_lines::Model>,
    taxes: Vec<tax_facts::Model>,
    open: Vec<open_items::Model>,
    moves: Vec<open_item_moves::Model>,
    audit: audit_log::Model,
}

#[derive(Default)]
struct Rows {
    documents: Vec<documents::Model>,
    traded: Vec<document_lines::Model>,
    entries: Vec<entries::Model>,
    lines: Vec<entry_lines::Model>,
    taxes: Vec<tax_facts::Model>,
    open: Vec<open_items::Model>,
    moves: Vec<open_item_moves::Model>,
    audits: Vec<audit_log::Model>,
}

impl Template {
    pub(crate) async fn read(database: &impl ConnectionTrait, business: BusinessId, id: RecordId) -> Result<Self> {
        let document = documents::Entity::find_by_id((business, id)).one(database).await?.ok_or("no document")?;
        let of_document = entries::Column::DocumentId.eq(id);
        let mine = entries::Column::BusinessId.eq(business);
        let entry = entries::Entity::find().filter(mine).filter(of_document).one(database).await?.ok_or("no entry")?;
        Ok(Self {
            business,
            traded: document_lines::Entity::find()
                .filter(document_lines::Column::BusinessId.eq(business))
                .filter(document_lines::Column::DocumentId.eq(id))
                .all(database)
                .await?,
            lines: entry_lines::Entity::find()
                .filter(entry_lines::Column::BusinessId.eq(business))
                .filter(entry_lines::Column::EntryNumber.eq(entry.number))
                .all(database)
                .await?,
            taxes: tax_facts::Entity::find()
                .filter(tax_facts::Column::BusinessId.eq(business))
                .filter(tax_facts::Column::EntryNumber.eq(entry.number))
                .all(database)
                .await?,
            open: open_items::Entity::find()
                .filter(open_items::Column::BusinessId.eq(business))
                .filter(open_items::Column::DocumentId.eq(id))
                .all(database)
                .await?,
            moves: open_item_moves::Entity::find()
                .filter(open_item_moves::Column::BusinessId.eq(business))
                .filter(open_item_moves::Column::DocumentId.eq(id))
                .all(database)
                .await?,
            audit: audit_log::Entity::find()
                .filter(audit_log::Column::BusinessId.eq(business))
                .filter(audit_log::Column::ResourceId.eq(id))
                .one(database)
                .await?
                .ok_or("no audit record")?,
            document,
            entry,
        })
    }

    /// How many rows one document is.
    pub(crate) fn rows(&self) -> usize {
        3 + self.traded.len() + self.lines.len() + self.taxes.len() + self.open.len() + self.moves.len()
    }

    /// Adds the same document once more, for a day.
    fn again(&self, rows: &mut Rows, clock: &Clock, head: &mut books::Model, date: Day) {
        head.entry_number += 1;
        head.audit_sequence += 1;
        let (id, entry) = (RecordId(clock.identifier()), RecordId(clock.identifier()));
        let number = format!("INV-{:09}", head.entry_number);
        rows.documents.push(documents::Model {
            id,
            date,
            number: Some(number.clone()),
            sequence: Some(head.entry_number),
            record: Some(head.audit_sequence),
            entries: EntryRefs(vec![EntryRef { id: entry, number: head.entry_number, date }]),
            search: number.to_lowercase(),
            ..self.document.clone()
        });
        let traded = self.traded.iter().map(|line| document_lines::Model {
            document_id: id,
            id: RecordId(clock.identifier()),
            date,
            ..line.clone()
        });
        let traded: Vec<document_lines::Model> = traded.collect();
        rows.taxes.extend(self.taxes.iter().map(|fact| {
            let place = self.traded.iter().position(|line| Some(line.id) == fact.line_id);
            tax_facts::Model {
                entry_number: head.entry_number,
                entry_date: date,
                date,
                document_id: id,
                line_id: place.map_or(fact.line_id, |place| Some(traded[place].id)),
                ..fact.clone()
            }
        }));
        rows.traded.extend(traded);
        rows.entries.push(entries::Model {
            id: entry,
            number: head.entry_number,
            date,
            document_id: id,
            document_number: Some(number.clone()),
            ..self.entry.clone()
        });
        rows.lines.extend(self.lines.iter().map(|line| entry_lines::Model {
            entry_number: head.entry_number,
            date,
            ..line.clone()
        }));
        rows.open.extend(self.open.iter().map(|item| open_items::Model { id, document_id: id, date, ..item.clone() }));
        rows.moves.extend(self.moves.iter().map(|moved| open_item_moves::Model {
            id: RecordId(clock.identifier()),
            open_item_id: id,
            document_id: id,
            date,
            ..moved.clone()
        }));
        rows.audits.push(audit_log::Model {
            sequence: head.audit_sequence,
            id: RecordId(clock.identifier()),
            resource_id: id,
            ..self.audit.clone()
        });
    }

    /// Writes the document once for each of these days, in one transaction.
    pub(crate) async fn write(&self, database: &Raw, clock: &Clock, days: &[Day]) -> Result<()> {
        let turn = database.turn().await?;
        let transaction = &turn.session;
        let mut row = books::Entity::find_by_id(self.business);
        if transaction.get_database_backend() == DbBackend::Postgres {
            row = row.lock_exclusive();
        }
        let mut head = row.one(transaction).await?.ok_or("no books")?;
        let mut rows = Rows::default();
        for &day in days {
            self.again(&mut rows, clock, &mut head, day);
        }
        rows.write(transaction).await?;
        books::Entity::update_many()
            .col_expr(books::Column::Version, (head.version + 1).into())
            .col_expr(books::Column::EntryNumber, head.entry_number.into())
            .col_expr(books::Column::AuditSequence, head.audit_sequence.into())
            .filter(books::Column::BusinessId.eq(self.business))
            .exec(transaction)
            .await?;
        turn.keep().await
    }
}

impl Rows {
    async fn write(self, connection: &impl Puts) -> Result<()> {
        let sums = sums(&self.lines);
        let of_tax = desk::tax_months(&self.taxes, &self.lines).map_err(failed)?;
        let mut traded = Vec::new();
        let entries = self.lines.chunk_by(|line, next| line.entry_number == next.entry_number);
        for (document, lines) in self.documents.iter().zip(entries) {
            if let (Some(side), Some(line)) = (document.kind.turnover(), lines.first()) {
                let more = desk::of_lines(line.business_id, (side, document.party_id), line.date, lines);
                traded.extend(more.map_err(failed)?);
            }
        }
        insert::<documents::Entity>(connection, self.documents).await?;
        insert::<entry_lines::Entity>(connection, self.lines).await?;
        insert::<entries::Entity>(connection, self.entries).await?;
        insert::<tax_facts::Entity>(connection, self.taxes).await?;
        sums.write(connection).await?;
        desk::add_sums::<ledger_core::books::tables::tax_months::Entity>(connection, of_tax).await.map_err(failed)?;
        let traded = desk::trade_months(traded).map_err(failed)?;
        desk::add_sums::<ledger_core::books::tables::trade_months::Entity>(connection, traded).await.map_err(failed)?;
        insert::<document_lines::Entity>(connection, self.traded).await?;
        insert::<open_items::Entity>(connection, self.open).await?;
        insert::<open_item_moves::Entity>(connection, self.moves).await?;
        insert::<audit_log::Entity>(connection, self.audits).await
    }
}

fn failed(error: ledger_core::error::Error) -> String {
    format!("{error:?}")
}

struct Sums {
    days: Vec<account_days::Model>,
    months: Vec<account_months::Model>,
    parties: Vec<party_balances::Model>,
}

fn sums(lines: &[entry_lines::Model]) -> Sums {
    let mut days: BTreeMap<_, account_days::Model> = BTreeMap::new();
    let mut months: BTreeMap<_, account_months::Model> = BTreeMap::new();
    let mut parties: BTreeMap<_, party_balances::Model> = BTreeMap::new();
    for line in lines {
        let (business_id, account_id, currency) = (line.business_id, line.account_id, line.currency.clone());
        let (debit, credit) = (Ord::max(line.amount.units(), 0), Ord::max(-line.amount.units(), 0));
        let own = line.own().units();
        let more = |sum: BookMoney, units: i64| BookMoney::from_units(sum.units() + units);
        let more_own = |sum: Money| Money::from_units(sum.units() + own);
        let day = days.entry((account_id, line.date)).or_insert_with(|| account_days::Model {
            business_id,
            account_id,
            currency: currency.clone(),
            date: line.date,
            debit: BookMoney::ZERO,
            credit: BookMoney::ZERO,
            currency_amount: Money::ZERO,
            lines: 0,
        });
        (day.debit, day.credit, day.currency_amount, day.lines) =
            (more(day.debit, debit), more(day.credit, credit), more_own(day.currency_amount), day.lines + 1);
        let month = months.entry((account_id, line.date.year_and_month())).or_insert_with(|| account_months::Model {
            business_id,
            account_id,
            currency: currency.clone(),
            month: line.date.year_and_month(),
            debit: BookMoney::ZERO,
            credit: BookMoney::ZERO,
            currency_amount: Money::ZERO,
            lines: 0,
        });
        (month.debit, month.credit, month.currency_amount, month.lines) =
            (more(month.debit, debit), more(month.credit, credit), more_own(month.currency_amount), month.lines + 1);
        if let Some(party_id) = line.party_id {
            let party = parties.entry((party_id, account_id)).or_insert_with(|| party_balances::Model {
                business_id,
                party_id,
                account_id,
                currency,
                amount: BookMoney::ZERO,
                currency_amount: Money::ZERO,
            });
            (party.amount, party.currency_amount) =
                (more(party.amount, debit - credit), more_own(party.currency_amount));
        }
    }
    Sums {
        days: days.into_values().collect(),
        months: months.into_values().collect(),
        parties: parties.into_values().collect(),
    }
}

impl Sums {
    async fn write(self, connection: &impl ConnectionTrait) -> Result<()> {
        {
            use account_days::Column::{AccountId, BusinessId, Credit, Currency, CurrencyAmount, Date, Debit, Lines};
            let (same, sums) = ([BusinessId, AccountId, Currency, Date], [Debit, Credit, CurrencyAmount, Lines]);
            add::<account_days::Entity>(connection, self.days, &same, &sums).await?;
        }
        {
            use account_months::Column::{
                AccountId, BusinessId, Credit, Currency, CurrencyAmount, Debit, Lines, Month,
            };
            let (same, sums) = ([BusinessId, AccountId, Currency, Month], [Debit, Credit, CurrencyAmount, Lines]);
            add::<account_months::Entity>(connection, self.months, &same, &sums).await?;
        }
        {
            use party_balances::Column::{AccountId, Amount, BusinessId, Currency, CurrencyAmount, PartyId};
            let (same, sums) = ([BusinessId, PartyId, AccountId, Currency], [Amount, CurrencyAmount]);
            add::<party_balances::Entity>(connection, self.parties, &same, &sums).await
        }
    }
}

async fn add<E>(
    connection: &impl ConnectionTrait,
    rows: Vec<E::Model>,
    same: &[E::Column],
    sums: &[E::Column],
) -> Result<()>
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E>,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    if rows.is_empty() {
        return Ok(());
    }
    let mut conflict = OnConflict::columns(same.iter().copied());
    for &sum in sums {
        conflict.value(sum, Expr::col((E::default(), sum)).add(Expr::col((Alias::new("excluded"), sum))));
    }
    let rows = rows.into_iter().map(IntoActiveModel::into_active_model);
    E::insert_many(rows).on_conflict(conflict).exec_without_returning(connection).await?;
    Ok(())
}

async fn insert<E>(connection: &impl ConnectionTrait, rows: Vec<E::Model>) -> Result<()>
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E>,
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    let mut rest = rows.into_iter();
    while rest.len() > 0 {
        let portion: Vec<_> = rest.by_ref().take(800).map(IntoActiveModel::into_active_model).collect();
        E::insert_many(portion).exec_without_returning(connection).await?;
    }
    Ok(())
}

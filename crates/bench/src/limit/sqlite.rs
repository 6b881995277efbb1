//! Its rows in `SQLite`, durable at each commit.

use super::{GROUP, Invoice, Job, answer, sums};
use crate::Result;
use rusqlite::{Connection, TransactionBehavior, params};
use tokio::sync::mpsc;

pub(super) struct Store(Connection);

const SCHEMA: &str = "
pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536; pragma temp_store = memory;
pragma wal_autocheckpoint = 4000; pragma foreign_keys = on;
create table invoice (id blob primary key, business int not null, number int not null, party blob not null,
  day int not null, due int not null, currency text not null, status text not null, subtotal int not null,
  tax int not null, total int not null, made int not null, version int not null) without rowid;
create unique index invoice_number on invoice (business, number);
create table invoice_line (invoice blob, line int, business int not null, item blob not null, text text not null,
  quantity int not null, price int not null, amount int not null, tax int not null,
  primary key (invoice, line)) without rowid;
create table entry (id blob primary key, business int not null, number int not null, day int not null,
  kind text not null, source blob not null, posted int not null) without rowid;
create unique index entry_number on entry (business, number);
create table entry_line (entry blob, line int, business int not null, account int not null, day int not null,
  party blob, debit int not null, credit int not null, primary key (entry, line)) without rowid;
create index entry_line_account on entry_line (business, account, day);
create table balance (business int, account int, day int, debit int not null, credit int not null,
  primary key (business, account, day)) without rowid;
create table series (business int primary key, next int not null);
with recursive n(value) as (select 1 union all select value + 1 from n where value < 64)
  insert into series select value, 1 from n;";

impl Store {
    pub(super) fn open(file: &str) -> Result<Self> {
        let connection = Connection::open(file)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.execute_batch(SCHEMA)?;
        Ok(Self(connection))
    }

    /// Writes a group in one transaction; its first number.
    fn write(&mut self, group: &[Invoice]) -> rusqlite::Result<i64> {
        let business = group.first().map_or(0, |invoice| invoice.business);
        let turn = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let first: i64 = turn
            .prepare_cached("update series set next = next + ?2 where business = ?1 returning next - ?2")?
            .query_row(params![business, i64::try_from(group.len()).unwrap_or(i64::MAX)], |row| row.get(0))?;
        {
            let mut invoices =
                turn.prepare_cached("insert into invoice values (?,?,?,?,?,?,'EUR','posted',?,?,?,0,1)")?;
            let mut lines = turn.prepare_cached("insert into invoice_line values (?,?,?,?,?,?,?,?,?)")?;
            let mut entries = turn.prepare_cached("insert into entry values (?,?,?,?,'invoice',?,0)")?;
            let mut legs = turn.prepare_cached("insert into entry_line values (?,?,?,?,?,?,?,?)")?;
            for (number, invoice) in (first..).zip(group) {
                let Invoice { business, day, subtotal, tax, .. } = invoice;
                let (id, entry, party) = (invoice.id.as_bytes(), invoice.entry.as_bytes(), invoice.party.as_bytes());
                invoices.execute(params![id, business, number, party, day, day + 30, subtotal, tax, subtotal + tax])?;
                for (place, line) in (0_i64..).zip(&invoice.lines) {
                    let (item, text) = (line.item.as_bytes(), &line.text);
                    let (quantity, price, amount, tax) = (line.quantity, line.price, line.amount, line.tax);
                    lines.execute(params![id, place, business, item, text, quantity, price, amount, tax])?;
                }
                entries.execute(params![entry, business, number, day, id])?;
                for (place, leg) in (0_i64..).zip(invoice.legs()) {
                    let party = (place == 0).then_some(party);
                    legs.execute(params![entry, place, business, leg.account, day, party, leg.debit, leg.credit])?;
                }
            }
            let mut balances = turn.prepare_cached(
                "insert into balance values (?1, ?2, ?3, ?4, ?5) \
                 on conflict do update set debit = debit + ?4, credit = credit + ?5",
            )?;
            for ((account, day), (debit, credit)) in sums(group) {
                balances.execute(params![business, account, day, debit, credit])?;
            }
        }
        turn.commit()?;
        Ok(first)
    }
}

/// Takes what waits, of one company, and writes it together.
pub(super) fn run(mut store: Store, mut jobs: mpsc::Receiver<Job>) {
    let mut waiting: Vec<Job> = Vec::new();
    while jobs.blocking_recv_many(&mut waiting, GROUP) > 0 {
        let (group, answers): (Vec<_>, Vec<_>) = waiting.drain(..).unzip();
        let first = store.write(&group).ok();
        answer(group, answers, first);
    }
}

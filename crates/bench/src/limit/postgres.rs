//! Its rows in PostgreSQL: one statement for a group, fed by arrays.

use super::{GROUP, Invoice, Job, answer, sums};
use crate::Result;
use tokio::sync::mpsc;
use tokio_postgres::{Client, NoTls, Statement};
use uuid::Uuid;

pub(super) struct Store {
    client: Client,
    write: Statement,
}

const SCHEMA: &str = "
create table invoice (id uuid primary key, business int not null, number bigint not null, party uuid not null,
  day int not null, due int not null, currency text not null, status text not null, subtotal bigint not null,
  tax bigint not null, total bigint not null, made timestamptz not null default now(), version int not null default 1,
  unique (business, number));
create table invoice_line (invoice uuid, line smallint, business int not null, item uuid not null, text text not null,
  quantity bigint not null, price bigint not null, amount bigint not null, tax bigint not null,
  primary key (invoice, line));
create table entry (id uuid primary key, business int not null, number bigint not null, day int not null,
  kind text not null, source uuid not null, posted timestamptz not null default now(), unique (business, number));
create table entry_line (entry uuid, line smallint, business int not null, account int not null, day int not null,
  party uuid, debit bigint not null, credit bigint not null, primary key (entry, line));
create index entry_line_account on entry_line (business, account, day);
create table balance (business int, account int, day int, debit bigint not null, credit bigint not null,
  primary key (business, account, day)) with (fillfactor = 50);
create table series (business int primary key, next bigint not null) with (fillfactor = 50);
insert into series select g, 1 from generate_series(1, 64) g;";

const WRITE: &str = "
with s as (update series set next = next + $2 where business = $1 returning next - $2 as n),
i as (insert into invoice (id, business, number, party, day, due, currency, status, subtotal, tax, total)
  select u.id, $1, s.n + u.o - 1, u.party, u.day, u.day + 30, 'EUR', 'posted', u.sub, u.tax, u.sub + u.tax
  from s, unnest($3::uuid[], $4::uuid[], $5::int[], $6::bigint[], $7::bigint[]) with ordinality u(id, party, day, sub, tax, o)),
l as (insert into invoice_line select u.inv, u.no, $1, u.item, u.txt, u.q, u.p, u.a, u.t
  from unnest($8::uuid[], $9::smallint[], $10::uuid[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[]) u(inv, no, item, txt, q, p, a, t)),
e as (insert into entry (id, business, number, day, kind, source)
  select u.id, $1, s.n + u.o - 1, u.day, 'invoice', u.src
  from s, unnest($16::uuid[], $5::int[], $3::uuid[]) with ordinality u(id, day, src, o)),
el as (insert into entry_line select u.e, u.no, $1, u.acc, u.day, u.party, u.d, u.c
  from unnest($17::uuid[], $18::smallint[], $19::int[], $20::int[], $21::uuid[], $22::bigint[], $23::bigint[]) u(e, no, acc, day, party, d, c)),
b as (insert into balance select $1, u.acc, u.day, u.d, u.c
  from unnest($24::int[], $25::int[], $26::bigint[], $27::bigint[]) u(acc, day, d, c)
  on conflict (business, account, day) do update
  set debit = balance.debit + excluded.debit, credit = balance.credit + excluded.credit)
select n from s";

/// The columns of all lines of a group.
#[derive(Default)]
struct Lines<'t> {
    invoice: Vec<Uuid>,
    place: Vec<i16>,
    item: Vec<Uuid>,
    text: Vec<&'t str>,
    quantity: Vec<i64>,
    price: Vec<i64>,
    amount: Vec<i64>,
    tax: Vec<i64>,
}

/// The columns of what it does to accounts.
#[derive(Default)]
struct Legs {
    entry: Vec<Uuid>,
    place: Vec<i16>,
    account: Vec<i32>,
    day: Vec<i32>,
    party: Vec<Option<Uuid>>,
    debit: Vec<i64>,
    credit: Vec<i64>,
}

impl Store {
    pub(super) async fn open(url: &str) -> Result<Self> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        client.batch_execute(SCHEMA).await?;
        let write = client.prepare(WRITE).await?;
        Ok(Self { client, write })
    }

    async fn write(&self, group: &[Invoice]) -> Result<i64> {
        let business = group.first().map_or(0, |invoice| invoice.business);
        let (mut lines, mut legs) = (Lines::default(), Legs::default());
        for invoice in group {
            for (place, line) in (0..).zip(&invoice.lines) {
                lines.invoice.push(invoice.id);
                lines.place.push(place);
                lines.item.push(line.item);
                lines.text.push(&line.text);
                lines.quantity.push(line.quantity);
                lines.price.push(line.price);
                lines.amount.push(line.amount);
                lines.tax.push(line.tax);
            }
            for (place, leg) in (0..).zip(invoice.legs()) {
                legs.entry.push(invoice.entry);
                legs.place.push(place);
                legs.account.push(leg.account);
                legs.day.push(invoice.day);
                legs.party.push((place == 0).then_some(invoice.party));
                legs.debit.push(leg.debit);
                legs.credit.push(leg.credit);
            }
        }
        let ids: Vec<Uuid> = group.iter().map(|invoice| invoice.id).collect();
        let parties: Vec<Uuid> = group.iter().map(|invoice| invoice.party).collect();
        let entries: Vec<Uuid> = group.iter().map(|invoice| invoice.entry).collect();
        let days: Vec<i32> = group.iter().map(|invoice| invoice.day).collect();
        let subtotals: Vec<i64> = group.iter().map(|invoice| invoice.subtotal).collect();
        let taxes: Vec<i64> = group.iter().map(|invoice| invoice.tax).collect();
        let sums = sums(group);
        let accounts: Vec<i32> = sums.keys().map(|(account, _)| *account).collect();
        let on: Vec<i32> = sums.keys().map(|(_, day)| *day).collect();
        let debits: Vec<i64> = sums.values().map(|(debit, _)| *debit).collect();
        let credits: Vec<i64> = sums.values().map(|(_, credit)| *credit).collect();
        let row = self
            .client
            .query_one(
                &self.write,
                &[
                    &business,
                    &i64::try_from(group.len())?,
                    &ids,
                    &parties,
                    &days,
                    &subtotals,
                    &taxes,
                    &lines.invoice,
                    &lines.place,
                    &lines.item,
                    &lines.text,
                    &lines.quantity,
                    &lines.price,
                    &lines.amount,
                    &lines.tax,
                    &entries,
                    &legs.entry,
                    &legs.place,
                    &legs.account,
                    &legs.day,
                    &legs.party,
                    &legs.debit,
                    &legs.credit,
                    &accounts,
                    &on,
                    &debits,
                    &credits,
                ],
            )
            .await?;
        Ok(row.try_get(0)?)
    }
}

/// Takes what waits, of one company, and writes it together.
pub(super) async fn run(store: Store, mut jobs: mpsc::Receiver<Job>) {
    let mut waiting: Vec<Job> = Vec::new();
    while jobs.recv_many(&mut waiting, GROUP).await > 0 {
        let (group, answers): (Vec<_>, Vec<_>) = waiting.drain(..).unzip();
        let first = store.write(&group).await.ok();
        answer(group, answers, first);
    }
}

//! How books of before come under the seals of these: they are proved as they are, each row is sealed on its way over, and
//! what they come to is signed at the end.
//!
//! Owns: the proof of books of any earlier schema that had seals. Refuses: to read or write their rows; whoever brings them
//! over does that.

use super::Ledger;
use super::resealing::{Signing, sign_anew};
use crate::access::{self, Seat};
use crate::auth::sign_in;
use crate::books::audit::Origin;
use crate::books::seal::sums::Sums;
use crate::books::seal::tables::{Column, Kind, TABLES, Table, kept, salt};
use crate::books::seal::{Seals, proof};
use crate::books::tables::books;
use crate::books::{audit, verify};
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::keys::Keys;
use ::books::installation::{self, Sealed};
use answers::Answers;
use schema::business;
use sea_orm::{ConnectionTrait, QueryOrder, Statement, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use verify::{Kept, Off};

/// Columns under the seals of before that are no more, each after the one that it stood behind.
const FORMER: &[(&str, &str, &str, Kind)] = &[
    ("stock_lines", "document_id", "line_no", Kind::Number),
    ("stock_lines", "cost", "booked", Kind::Number),
    ("stock_lines", "booked", "returns_line_id", Kind::Uuid),
    ("stock_lines", "returns_line_id", "inventory_account_id", Kind::Uuid),
    ("stock_lines", "inventory_account_id", "cost_account_id", Kind::Uuid),
    ("stock_lines", "cost_account_id", "asked_cost", Kind::Number),
    ("progress", "account_id", "begun", Kind::Number),
    ("tax_facts", "date", "recorded_at", Kind::Number),
    ("document_lines", "date", "party_id", Kind::Uuid),
    ("document_lines", "quantity", "net", Kind::Number),
    ("document_lines", "net", "tax", Kind::Number),
    ("document_lines", "base_net", "base_tax", Kind::Number),
];

/// A table as it stood in a schema that had these columns of it.
fn as_it_was(table: &Table, there: &[String]) -> Result<Table> {
    let mut columns: Vec<Column> = table.columns.iter().map(Column::clone).collect();
    for (_, behind, name, kind) in FORMER.iter().filter(|(of, ..)| *of == table.name) {
        let place = columns.iter().position(|column| column.name == *behind);
        let place = place.ok_or_else(|| Error::internal(format!("{} has no column {behind}", table.name)))?;
        columns.insert(place + 1, Column::of(name, *kind, true));
    }
    columns.retain(|column| there.iter().any(|name| name == column.name));
    table.with_columns(columns)
}

/// What books of before say of themselves in the clear.
async fn text(connection: &impl ConnectionTrait, sql: &str) -> Result<Option<String>> {
    let asked = Statement::from_string(connection.get_database_backend(), sql);
    let row = connection.query_one_raw(asked).await?;
    Ok(row.map(|row| row.try_get::<String>("", "text")).transpose()?)
}

/// Whether a database was made under this master key; nothing where it belongs to none.
pub async fn is_of(connection: &impl ConnectionTrait, keys: &Keys) -> Result<Option<bool>> {
    installation::belongs_to(connection, keys).await
}

/// What is not as the server wrote it, in books of an earlier schema: every row against its seal, and the sums of all of
/// them against what was signed. `columns` are those of each table. Books that never had seals have nothing to be proved.
pub async fn prove(
    connection: &impl Answers,
    keys: &Keys,
    columns: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<String>> {
    let has = |table: &str, column: &str| columns.get(table).is_some_and(|all| all.iter().any(|one| one == column));
    let was_signed = text(connection, "SELECT signature AS text FROM installation").await?;
    if was_signed.is_none_or(|signature| signature.is_empty()) {
        return Ok(vec!["nothing in these books is sealed".into()]);
    }
    let former = if has("installation", "former_keys") {
        text(connection, "SELECT former_keys AS text FROM installation").await?
    } else {
        None
    };
    let seals = Seals::of(keys)?;
    let former: Vec<_> =
        former.iter().flat_map(|all| all.lines()).map(|one| keys.inherited(one)).collect::<Result<_>>()?;
    seals.learn(former);
    let Some(sums) = text(connection, "SELECT sums AS text FROM installation").await? else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    let mut signed = vec![(None, Sums::parse(&sums)?)];
    for row in books::Entity::find().order_by_asc(books::Column::BusinessId).all(connection).await? {
        signed.push((Some(row.business_id), Sums::parse(&row.sums)?));
    }
    for (company, sums) in &signed {
        for table in TABLES.iter().filter(|table| table.is_of_companies() == company.is_some()) {
            let Some(there) = columns.get(table.name) else { continue };
            let table = as_it_was(table, there)?;
            findings.extend(proof::of_table(connection, &seals, (&table, *company), sums).await?);
        }
    }
    Ok(findings)
}

/// A row as the new books keep it: the value of each column.
type Written = BTreeMap<String, Value>;

/// Seals rows on their way into new books.
pub struct Sealer {
    seals: Seals,
    salt: String,
    sums: HashMap<Option<BusinessId>, Sums>,
}

impl Sealer {
    pub fn of(keys: &Keys) -> Result<Self> {
        Ok(Self { seals: Seals::of(keys)?, salt: salt()?, sums: HashMap::new() })
    }

    /// The seal of a row as it is kept, where rows of its table have one. `beside` are rows of another table that belong to it.
    pub fn seal(&mut self, table: &str, row: &Written, beside: &[Written]) -> Result<Option<Vec<u8>>> {
        let Some(table) = TABLES.iter().find(|known| known.name == table) else { return Ok(None) };
        let unreadable = || Error::internal(format!("a row of {} cannot be read", table.name));
        let values = table.values(row).ok_or_else(unreadable)?;
        let lines = &crate::books::seal::tables::LINES;
        let beside: Option<Vec<_>> = beside.iter().map(|line| lines.values(line)).collect();
        let seal = table.seal(&self.seals, &self.salt, &values, &beside.ok_or_else(unreadable)?)?;
        let sums = self.sums.entry(table.company(&values)).or_default();
        sums.of_table(table.name).add(&self.seals, table.name, &seal);
        Ok(Some(kept(&seal)))
    }
}

impl Ledger {
    /// What is not as it was written in the chains of the audit logs, and in what says where the books stand.
    pub async fn prove_chains(&self) -> Result<Vec<String>> {
        self.installation().await?;
        let mut findings = Vec::new();
        if !matches!(installation::seals(&self.database.read, &self.seals).await?, Sealed::Signed(_)) {
            findings.push("the installation is not signed".into());
        }
        let origin = Origin::default();
        for business in installation::companies(&self.database.read).await? {
            let snapshot = self.database.snapshot().await?;
            let verdict = audit::verify(&self.of_nobody(&origin, &snapshot), business).await;
            snapshot.end()?;
            let told = verdict?.problems.into_iter();
            findings
                .extend(told.map(|one| format!("record {} of the log of {business} {}", one.sequence, one.problem)));
        }
        Ok(findings)
    }

    /// Signs where books stand whose rows were brought over, after a record in each log that says so.
    pub async fn sign_converted(&self, sealer: Sealer) -> Result<()> {
        if !installation::is_kept(&self.database.read).await? {
            let row = installation::fresh(&self.keys, self.clock.now())?;
            self.write(None, move |transaction, _| {
                let row = row.clone();
                Box::pin(async move { installation::keep(transaction, row).await })
            })
            .await?;
        }
        self.installation().await?;
        let all = installation::companies(&self.database.read).await?;
        let records = all.iter().map(|company| (*company, RecordId(self.clock.identifier()))).collect();
        let signing = Signing { seals: self.seals.clone(), records: Arc::new(records), now: self.clock.now() };
        let (sums, keys) = (Arc::new(sealer.sums), self.keys.clone());
        self.write(None, move |transaction, _| {
            let (signing, sums, keys) = (signing.clone(), sums.clone(), keys.clone());
            Box::pin(async move {
                let mut own = sums.get(&None).cloned().unwrap_or_else(Sums::default);
                for row in books::Entity::find().order_by_asc(books::Column::BusinessId).all(transaction).await? {
                    let company = row.business_id;
                    let of_company = sums.get(&Some(company)).cloned().unwrap_or_else(Sums::default);
                    own.of_table(installation::BOOKS).add(&signing.seals, installation::BOOKS, &company.to_string());
                    sign_anew(transaction, &signing, "converted", row, &of_company).await?;
                }
                installation::sign_converted(transaction, (&signing.seals, &keys), &own).await
            })
        })
        .await
    }

    /// What secrets were kept in plain text is hidden.
    pub async fn hide_what_was_plain(&self) -> Result<()> {
        if sign_in::any_plain(&self.database.read).await? {
            let keys = self.keys.clone();
            self.write(None, move |transaction, _| {
                let keys = keys.clone();
                Box::pin(async move { sign_in::hide_plain(transaction, &keys).await })
            })
            .await?;
        }
        Ok(())
    }

    /// The digest of each company's ledger, as its proof has it.
    pub async fn digests(&self) -> Result<BTreeMap<BusinessId, String>> {
        let mut digests = BTreeMap::new();
        for company in self.companies_by_name().await? {
            let snapshot = self.database.snapshot().await?;
            let facts = access::seen_from(&snapshot, company.id, Seat::owner()).await?;
            let digest = verify::digest(&Cx::reading_within(self.of_ourselves(&facts), &snapshot)).await;
            snapshot.end()?;
            digests.insert(company.id, digest?);
        }
        Ok(digests)
    }

    /// Where the ledger is not what the facts of stock come to, by the names of companies, and the last day closed in each.
    pub async fn off(&self) -> Result<Vec<(String, Vec<Off>, Option<Day>)>> {
        let mut all = Vec::new();
        for company in self.companies_by_name().await? {
            let snapshot = self.database.snapshot().await?;
            let facts = access::seen_from(&snapshot, company.id, Seat::owner()).await?;
            let off = verify::off(&Cx::reading_within(self.of_ourselves(&facts), &snapshot)).await;
            snapshot.end()?;
            let (off, closed) = off?;
            all.push((company.name, off, closed));
        }
        Ok(all)
    }

    async fn companies_by_name(&self) -> Result<Vec<business::Model>> {
        Ok(business::Entity::find().order_by_asc(business::Column::NameKey).all(&self.database.read).await?)
    }
}

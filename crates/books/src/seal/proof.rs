//! The proof of the seals: every row that is sealed is read again, as it is, and so are the sums.

use super::Seals;
use super::sums::{Sum, Sums};
use super::tables::{LINES, Row, TABLES, Table, Whose};
use crate::BEFORE_THE_FIRST;
use crate::aside;
use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::ids::BusinessId;
use crate::portions::LINES as MOST_LINES;
use answers::Answers;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Order, Query};
use sea_orm::{ConnectionTrait, Value};
use std::collections::BTreeMap;

const PORTION: u64 = 2_000;
/// Whose seals cover rows of another table.
const ENTRIES: &str = "entries";
/// As many places of one table as are told.
const MOST: usize = 20;

/// A walk along a table by its key, portion by portion.
pub struct Rows<'t> {
    table: &'t Table,
    company: Option<BusinessId>,
    last: Option<Vec<Value>>,
    ended: bool,
}

/// Rows of another table that belong to a row.
type Beside = Vec<Vec<Value>>;

impl<'t> Rows<'t> {
    pub fn of(table: &'t Table, company: Option<BusinessId>) -> Self {
        Self { table, company, last: None, ended: false }
    }

    /// Those after a number, of a table whose key is one.
    fn after(table: &'t Table, company: Option<BusinessId>, number: i64) -> Self {
        Self { last: Some(vec![number.into()]), ..Self::of(table, company) }
    }

    /// The next rows.
    pub async fn next(&mut self, connection: &impl Answers) -> Result<Option<Vec<(Row, Beside)>>> {
        let table = self.table;
        if self.ended {
            return Ok(None);
        }
        let mut select = table.select();
        if let (Whose::Company(place), Some(company)) = (table.whose, self.company) {
            select.and_where(Expr::col(Alias::new(table.columns[place].name)).eq(company.0));
        }
        let key: Vec<Alias> = table.key.iter().map(|place| Alias::new(table.columns[*place].name)).collect();
        if let Some(last) = self.last.take() {
            let columns = Expr::tuple(key.iter().cloned().map(Expr::col));
            select.and_where(columns.gt(Expr::tuple(last.into_iter().map(Expr::val))));
        }
        for column in &key {
            select.order_by(column.clone(), Order::Asc);
        }
        let mut rows = table.rows(connection, select.limit(PORTION)).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let whole = u64::try_from(rows.len()).is_ok_and(|rows| rows < PORTION);
        let key_of = |row: &Row| -> Option<Vec<Value>> {
            let values = row.values.as_ref()?;
            Some(table.key.iter().map(|place| values[*place].clone()).collect())
        };
        let (mut cut, mut lines) = (false, BTreeMap::new());
        let number_of = |row: &Row| number(key_of(row)?.first()?);
        if table.name == ENTRIES
            && let (Some(first), Some(last)) = (rows.iter().find_map(number_of), rows.iter().rev().find_map(number_of))
        {
            lines = lines_of(connection, self.company, first, last, Some(MOST_LINES + 1)).await?;
            let count: usize = lines.values().map(Vec::len).sum();
            if u64::try_from(count).is_ok_and(|count| count > MOST_LINES)
                && let Some((half, _)) = lines.pop_last()
            {
                let fit = that_fit(rows.iter().map(number_of), half);
                cut = fit < rows.len();
                rows.truncate(fit);
                // One that has more by itself is read whole.
                if rows.iter().rev().find_map(number_of).is_some_and(|last| last >= half) {
                    lines.extend(lines_of(connection, self.company, half, half, None).await?);
                }
            }
        }
        self.last = rows.iter().rev().find_map(key_of);
        // Keys that cannot be read lead nowhere.
        self.ended = self.last.is_none() || (whole && !cut);
        let rows = rows.into_iter().map(|row| {
            let beside = key_of(&row).and_then(|key| lines.remove(&number(key.first()?)?)).unwrap_or_default();
            (row, beside)
        });
        Ok(Some(rows.collect()))
    }
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::BigInt(number) => *number,
        _ => None,
    }
}

/// How many entries come before one whose lines were not read to their end; one at least.
fn that_fit(entries: impl Iterator<Item = Option<i64>>, half: i64) -> usize {
    Ord::max(entries.take_while(|entry| entry.is_none_or(|entry| entry < half)).count(), 1)
}

/// The lines of some entries, by the entry's number; so many at most.
async fn lines_of(
    connection: &impl Answers,
    company: Option<BusinessId>,
    first: i64,
    last: i64,
    most: Option<u64>,
) -> Result<BTreeMap<i64, Beside>> {
    let column = |name: &'static str| Expr::col(Alias::new(name));
    let mut select = LINES.select();
    select
        .and_where(column("business_id").eq(company.map(|company| company.0)))
        .and_where(column("entry_number").gte(first))
        .and_where(column("entry_number").lte(last))
        .order_by(Alias::new("entry_number"), Order::Asc)
        .order_by(Alias::new("position"), Order::Asc);
    if let Some(most) = most {
        select.limit(most);
    }
    let mut lines: BTreeMap<i64, Beside> = BTreeMap::new();
    let place = LINES.place("entry_number")?;
    let found = connection.answer(connection.get_database_backend().build(&select)).await?;
    // A line that cannot be read is missing from the seal of its entry.
    for values in LINES.read(found)?.flatten() {
        let Some(entry) = number(&values[place]) else { continue };
        lines.entry(entry).or_default().push(values);
    }
    Ok(lines)
}

/// What the rows of a company, or of the installation, come to.
#[derive(Debug, Default)]
pub struct Proof {
    pub rows: i64,
    pub sealed: i64,
    pub findings: Vec<String>,
}

/// Proves every row, and that there are no others.
pub async fn run(cx: &Cx<'_>, company: Option<BusinessId>, signed: &Sums) -> Result<Proof> {
    let mut proof = Proof::default();
    for table in tables(company.is_some()) {
        proof.add(of(cx, table, company, signed).await?);
    }
    Ok(proof)
}

/// The tables of a company, or those that belong to none.
pub fn tables(of_company: bool) -> impl Iterator<Item = &'static Table> {
    TABLES.iter().filter(move |table| matches!(table.whose, Whose::Company(_)) == of_company)
}

/// Proves every row of one table, and that there are no others.
pub async fn of(cx: &Cx<'_>, table: &'static Table, company: Option<BusinessId>, signed: &Sums) -> Result<Proof> {
    of_since(cx, table, company, signed, BEFORE_THE_FIRST).await
}

/// The same where entries up to a number are trusted to be under the seals that they carry: these are summed, and no line is
/// read again.
pub async fn of_since(
    cx: &Cx<'_>,
    table: &'static Table,
    company: Option<BusinessId>,
    signed: &Sums,
    trusted: i64,
) -> Result<Proof> {
    let sealed = signed.of(table.name);
    let mut found = Found { table, sum: Sum::default(), findings: Vec::new() };
    let mut walk = Rows::of(table, company);
    if table.name == ENTRIES && trusted > BEFORE_THE_FIRST && found.trust(cx, company, trusted).await? {
        walk = Rows::after(table, company, trusted);
    }
    prove(cx, &mut found, walk).await?;
    hold(table, (found.sum, sealed), &mut found.findings);
    Ok(Proof { rows: found.sum.count, sealed: sealed.count, findings: found.findings })
}

impl Proof {
    /// With what another table came to.
    pub fn add(&mut self, mut other: Self) {
        self.rows += other.rows;
        self.sealed += other.sealed;
        self.findings.append(&mut other.findings);
    }
}

/// The rows of a table against what they were signed to come to.
fn hold(table: &Table, (sum, sealed): (Sum, Sum), findings: &mut Vec<String>) {
    if findings.is_empty() && sum != sealed {
        findings.push(if sum.count == sealed.count {
            format!("{}: a row is not the last that was written", table.name)
        } else {
            format!("{}: {} rows are there, {} were written", table.name, sum.count, sealed.count)
        });
    }
}

/// The same of one table, of whatever schema it is.
pub async fn of_table(
    connection: &impl Answers,
    seals: &Seals,
    (table, company): (&Table, Option<BusinessId>),
    signed: &Sums,
) -> Result<Vec<String>> {
    let eras = seals.eras()?;
    let mut found = Found { table, sum: Sum::default(), findings: Vec::new() };
    let mut walk = Rows::of(table, company);
    while let Some(portion) = walk.next(connection).await? {
        portion.iter().try_for_each(|row| found.prove(seals, &eras, row))?;
    }
    hold(table, (found.sum, signed.of(table.name)), &mut found.findings);
    Ok(found.findings)
}

async fn prove(cx: &Cx<'_>, found: &mut Found<'_>, mut walk: Rows<'_>) -> Result<()> {
    let (connection, seals, eras) = (&cx.db, cx.seals, cx.seals.eras()?);
    let mut next = walk.next(connection).await;
    loop {
        let portion = match next {
            Ok(Some(portion)) => portion,
            Ok(None) => break,
            Err(Error::Internal(why)) => {
                found.tell(&format!("cannot be read: {why}"));
                break;
            }
            Err(other) => return Err(other),
        };
        cx.pause().await?;
        // The next portion is read while this one is proved.
        let proved = async { aside::computed(|| portion.iter().try_for_each(|row| found.prove(seals, &eras, row))) };
        let (read, proved) = tokio::join!(walk.next(connection), proved);
        proved?;
        next = read;
    }
    Ok(())
}

/// What was found of a table so far.
struct Found<'t> {
    table: &'t Table,
    sum: Sum,
    findings: Vec<String>,
}

impl Found<'_> {
    fn tell(&mut self, what: &str) {
        if self.findings.len() < MOST {
            self.findings.push(format!("{}: {what}", self.table.name));
        }
    }

    /// Adds the seals of all entries up to a number, as they stand. Where some have none, from before there were seals, it
    /// adds nothing: these are to be read.
    async fn trust(&mut self, cx: &Cx<'_>, company: Option<BusinessId>, until: i64) -> Result<bool> {
        let mut sum = Sum::default();
        let mut last = BEFORE_THE_FIRST;
        loop {
            let column = |name: &'static str| Expr::col(Alias::new(name));
            let mut select = Query::select();
            select
                .columns([Alias::new("number"), Alias::new("seal")])
                .from(Alias::new(ENTRIES))
                .and_where(column("business_id").eq(company.map(|company| company.0)))
                .and_where(column("number").gt(last))
                .and_where(column("number").lte(until))
                .order_by(Alias::new("number"), Order::Asc)
                .limit(PORTION);
            let answer = cx.db.answer(cx.db.get_database_backend().build(&select)).await?;
            let rows: Vec<(i64, String)> = answer.read()?;
            let Some((end, _)) = rows.last() else { break };
            last = *end;
            if rows.iter().any(|(_, seal)| seal.is_empty()) {
                return Ok(false);
            }
            for (_, seal) in &rows {
                sum.add(cx.seals, ENTRIES, seal);
            }
            cx.pause().await?;
        }
        self.sum = sum;
        Ok(true)
    }

    fn prove(&mut self, seals: &Seals, eras: &[Seals], (row, beside): &(Row, Beside)) -> Result<()> {
        let table = self.table;
        let Some(values) = &row.values else {
            self.tell("a row cannot be read");
            return Ok(());
        };
        if row.seal.is_empty() && table.grows_only {
            // From before there were seals, or put in: the sum tells.
            self.sum.add(seals, table.name, &table.seal(seals, "", values, beside)?);
        } else if row.seal.is_empty() {
            self.tell(&format!("{} was written by somebody else", table.key_text(values)));
        } else if table.fits_any(eras, (&row.seal, values), beside)? {
            self.sum.add(seals, table.name, &row.seal);
        } else {
            self.tell(&format!("{} is not what was written", table.key_text(values)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::that_fit;

    #[test]
    fn entries_are_read_as_far_as_all_their_lines_were_and_one_at_least() {
        let cases: [(&[Option<i64>], i64, usize); 5] = [
            (&[Some(1), Some(2), Some(3)], 3, 2),
            (&[Some(1), Some(2)], 9, 2),
            (&[Some(4), Some(5)], 4, 1),
            (&[Some(4), None, Some(6)], 6, 2),
            // Lines that belong to no entry.
            (&[Some(4), Some(9)], 7, 1),
        ];
        for (entries, half, fit) in cases {
            assert_eq!(that_fit(entries.iter().copied(), half), fit, "{entries:?}");
        }
    }
}

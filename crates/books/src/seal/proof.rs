//! The proof of the seals: every row that is sealed is read again, as it is, and so are the sums.

use super::Seals;
use super::sums::{Sum, Sums};
use super::tables::{LINES, Row, TABLES, Table, Whose, said};
use crate::BEFORE_THE_FIRST;
use crate::aside;
use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::ids::BusinessId;
use crate::portions::LINES as MOST_LINES;
use answers::Answers;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Order, Query, SelectStatement};
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
    /// The key of the last row that was read, or what it begins with.
    last: Option<Vec<Value>>,
    /// The last value of the first column of the key; all there are where none is said.
    until: Option<Value>,
    ended: bool,
}

/// As many rows of a table as one hand proves at a time. Books of tests are divided as well.
const SPAN: u64 = if cfg!(debug_assertions) { 48 } else { 10_000 };

/// A part of a table: after a value of the first column of its key, up to another. All of it, where neither is said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Span {
    after: Option<Value>,
    until: Option<Value>,
}

impl Span {
    /// What comes after it; nothing where it goes on to the end.
    pub fn rest(&self) -> Option<Self> {
        self.until.clone().map(|end| Self { after: Some(end), until: None })
    }

    /// Whether all of it lies before a number, or on it.
    fn is_up_to(&self, number: i64) -> bool {
        self.until.as_ref().and_then(self::number).is_some_and(|until| until <= number)
    }
}

/// Rows of another table that belong to a row.
type Beside = Vec<Vec<Value>>;

impl<'t> Rows<'t> {
    pub fn of(table: &'t Table, company: Option<BusinessId>) -> Self {
        Self::within(table, company, Span::default())
    }

    fn within(table: &'t Table, company: Option<BusinessId>, span: Span) -> Self {
        Self { table, company, last: span.after.map(|after| vec![after]), until: span.until, ended: false }
    }

    /// The next rows.
    pub async fn next(&mut self, connection: &impl Answers) -> Result<Option<Vec<(Row, Beside)>>> {
        let table = self.table;
        if self.ended {
            return Ok(None);
        }
        let mut select = table.select();
        of_company(&mut select, table, self.company);
        let key: Vec<Alias> = table.key.iter().map(|place| Alias::new(table.columns[*place].name)).collect();
        if let Some(last) = self.last.take() {
            let columns = Expr::tuple(key.iter().take(last.len()).cloned().map(Expr::col));
            select.and_where(columns.gt(Expr::tuple(last.into_iter().map(Expr::val))));
        }
        if let (Some(until), Some(first)) = (&self.until, key.first()) {
            select.and_where(Expr::col(first.clone()).lte(until.clone()));
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

fn of_company(select: &mut SelectStatement, table: &Table, company: Option<BusinessId>) {
    if let (Whose::Company(place), Some(company)) = (table.whose, company) {
        select.and_where(Expr::col(Alias::new(table.columns[place].name)).eq(company.0));
    }
}

/// The part of a table that is proved next, after what was proved of it: so many rows, or all that is left. Nothing of
/// entries lies on both sides of the last that is trusted.
pub async fn next_span(
    connection: &impl Answers,
    (table, company): (&'static Table, Option<BusinessId>),
    after: Span,
    trusted: i64,
) -> Result<Span> {
    let Some(first) = table.key.first().map(|place| &table.columns[*place]) else { return Ok(after) };
    let column = || Expr::col(Alias::new(first.name));
    let mut select = Query::select();
    select.column(Alias::new(first.name)).from(Alias::new(table.name)).order_by(Alias::new(first.name), Order::Asc);
    of_company(&mut select, table, company);
    if let Some(last) = &after.after {
        select.and_where(column().gt(last.clone()));
    }
    let answer = connection.answer(connection.get_database_backend().build(select.offset(SPAN - 1).limit(1))).await;
    let mut until = match answer.map_err(Error::from) {
        Ok(answer) => answer.values_of([first.name])?.next().and_then(|row| row.into_iter().next()),
        // Keys that cannot be read divide nothing.
        Err(Error::Internal(_)) => None,
        Err(other) => return Err(other),
    };
    let begins_trusted = after.after.as_ref().map_or(Some(BEFORE_THE_FIRST), number).is_some_and(|last| last < trusted);
    if table.name == ENTRIES && begins_trusted && until.as_ref().is_none_or(|end| number(end) > Some(trusted)) {
        until = Some(trusted.into());
    }
    Ok(Span { until, ..after })
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

/// What was found of tables so far, part by part.
#[derive(Default)]
pub struct Parts(BTreeMap<&'static str, Found<'static>>);

impl Parts {
    /// With what another part came to; how many rows it has is answered.
    pub fn add(&mut self, part: Found<'static>) -> i64 {
        let rows = part.sum.count;
        match self.0.get_mut(part.table.name) {
            Some(known) => known.add(part),
            None => drop(self.0.insert(part.table.name, part)),
        }
        rows
    }

    /// All of them against what they were signed to come to.
    pub fn hold(self, signed: &Sums) -> Proof {
        let mut proof = Proof::default();
        for mut found in self.0.into_values() {
            let sealed = signed.of(found.table.name);
            hold(found.table, (found.sum, sealed), &mut found.findings);
            proof.rows += found.sum.count;
            proof.sealed += sealed.count;
            proof.findings.append(&mut found.findings);
        }
        proof
    }
}

/// Proves every row, and that there are no others.
pub async fn run(cx: &Cx<'_>, company: Option<BusinessId>, signed: &Sums) -> Result<Proof> {
    let mut parts = Parts::default();
    for table in tables(company.is_some()) {
        parts.add(of(cx, (table, company), Span::default(), BEFORE_THE_FIRST).await?);
    }
    Ok(parts.hold(signed))
}

/// The tables of a company, or those that belong to none.
pub fn tables(of_company: bool) -> impl Iterator<Item = &'static Table> {
    TABLES.iter().filter(move |table| matches!(table.whose, Whose::Company(_)) == of_company)
}

/// Proves every row of a part of a table. Entries up to a number are trusted to be under the seals that they carry: these
/// are summed, and no line is read again.
pub async fn of(
    cx: &Cx<'_>,
    (table, company): (&'static Table, Option<BusinessId>),
    span: Span,
    trusted: i64,
) -> Result<Found<'static>> {
    let mut found = Found { table, sum: Sum::default(), findings: Vec::new() };
    if table.name == ENTRIES && span.is_up_to(trusted) && found.trust(cx, company, &span).await? {
        return Ok(found);
    }
    prove(cx, &mut found, Rows::within(table, company, span)).await?;
    Ok(found)
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
pub struct Found<'t> {
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

    /// With what was found of another part of it.
    fn add(&mut self, other: Self) {
        self.sum.move_by(other.sum);
        let room = MOST.saturating_sub(self.findings.len());
        self.findings.extend(other.findings.into_iter().take(room));
    }

    /// Adds the seals of a part of the entries, as they stand. Where some have none, from before there were seals, it adds
    /// nothing: these are to be read.
    async fn trust(&mut self, cx: &Cx<'_>, company: Option<BusinessId>, span: &Span) -> Result<bool> {
        let mut sum = Sum::default();
        let Some(until) = span.until.as_ref().and_then(number) else { return Ok(false) };
        let mut last = span.after.as_ref().and_then(number).unwrap_or(BEFORE_THE_FIRST);
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
            let rows: Vec<(i64, Vec<u8>)> = answer.read()?;
            let Some((end, _)) = rows.last() else { break };
            last = *end;
            if rows.iter().any(|(_, seal)| seal.is_empty()) {
                return Ok(false);
            }
            for (_, seal) in &rows {
                sum.add(cx.seals, ENTRIES, &said(seal));
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

//! The tables whose rows are sealed, and how a row of them is read without trusting what is in it.
//!
//! A table that is made later is listed here, beside its migration; one that is neither here nor excused turns a test
//! red. So does a column that is neither under the seal nor excused.

use super::{Seals, Signing, are_same, noted, same};
use crate::auth::{invitation, recovery, session, sign_in, user};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::BusinessId;
use answers::{Answer, Answers};
use schema::membership;
use schema::tables::{
    allocations, document_lines, document_links, documents, entries, entry_lines, number_counters, open_item_moves,
    open_items, progress, progress_moves, stock, stock_facts, stock_lines, stock_moves, stock_snapshots,
    tax_beginnings, tax_facts,
};
use sea_orm::sea_query::{Alias, ColumnType, Expr, Query, SelectStatement};
use sea_orm::{ColumnTrait, EntityTrait, IdenStatic, Iterable, PrimaryKeyToColumn, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Uuid,
    Number,
    Flag,
    Text,
    /// A number, and a text in books of before. It is signed as the text.
    Day,
    /// A text in books of before.
    Bytes,
}

#[derive(Clone)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    /// Whether the seal covers it.
    pub sealed: bool,
    /// What it is signed under: its name in two bytes, of which no two columns of a table have the same.
    tag: u16,
}

impl Column {
    #[must_use]
    pub fn of(name: &'static str, kind: Kind, sealed: bool) -> Self {
        // FNV-1a, folded. Seals are made of it: it stays as it is.
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let [a, b, c, d] = hash.to_le_bytes();
        Self { name, kind, sealed, tag: u16::from_le_bytes([a ^ c, b ^ d]) }
    }
}

/// Where the rows of a table belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// To the company that this column names, by its place.
    Company(usize),
    Installation,
}

pub struct Table {
    pub name: &'static str,
    pub columns: Vec<Column>,
    pub whose: Whose,
    /// The rest of the key, by the places of its columns.
    pub key: Vec<usize>,
    /// Rows are put in and stay, as the database's own guard of the table has it: those that were there before the seals
    /// have none, and those that a migration made get theirs once, when it is settled.
    pub grows_only: bool,
}

/// Columns that a table got after its rows were sealed, and what they say of rows that were there: it is not sealed, so
/// that their seals still fit.
const ADDED_LATER: &[(&str, &str, &str)] = &[("accounts", "keeper", "none"), ("accounts", "as_said_until", "0")];

fn was_added_later(table: &Table, column: &Column) -> bool {
    ADDED_LATER.iter().any(|(name, added, _)| (*name, *added) == (table.name, column.name))
}

/// What an entry's seal covers beside its own row.
pub static LINES: LazyLock<Table> =
    LazyLock::new(|| Table::of::<entry_lines::Entity>(Some(entry_lines::Column::BusinessId), &[]));

pub static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    macro_rules! of_companies {
        ($($table:path),+ $(,)?) => { [$({ use $table as table; Table::of::<table::Entity>(Some(table::Column::BusinessId), &[]) }),+] };
    }
    let mut tables = vec![
        Table::of::<user::Entity>(None, &[]),
        Table::of::<sign_in::Entity>(None, &[]),
        Table::of::<invitation::Entity>(None, &[]),
        Table::of::<recovery::Entity>(None, &[]),
        // When one was last seen is noted now and then, and is nobody's right.
        Table::of::<session::Entity>(None, &[session::Column::SeenAt]),
        Table::of::<schema::business::Entity>(Some(schema::business::Column::Id), &[]),
        Table::of::<open_items::Entity>(
            Some(open_items::Column::BusinessId),
            // They follow from the moves.
            &[open_items::Column::Open, open_items::Column::BaseOpen],
        ),
        // What a movement cost after all follows from the history of its item.
        Table::of::<stock_lines::Entity>(
            Some(stock_lines::Column::BusinessId),
            &[stock_lines::Column::Cost, stock_lines::Column::WasMissing],
        ),
    ];
    tables.extend(of_companies![
        membership,
        schema::permission,
        schema::api_key,
        schema::webhook,
        schema::party,
        schema::account,
        schema::item,
        schema::tax_code,
        schema::payment_term,
        schema::number_series,
        number_counters,
        schema::fiscal_year,
        schema::lock,
        schema::exchange_rate,
        documents,
        document_lines,
        allocations,
        stock,
        stock_snapshots,
        progress,
        document_links,
        tax_beginnings,
    ]);
    let growing = of_companies![entries, open_item_moves, stock_moves, progress_moves, tax_facts, stock_facts];
    tables.extend(growing.map(Table::grows_only).map(Table::keyed_as_it_is));
    tables
});

/// A table by its name.
pub fn table(name: &str) -> Result<&'static Table> {
    let found = TABLES.iter().find(|table| table.name == name);
    found.ok_or_else(|| Error::internal(format!("the table {name} is not one whose rows are sealed")))
}

/// A row as it was read, and the seal that it carries.
pub struct Row {
    /// In the order of the table's columns; `None` where it cannot be read as what it should be.
    pub values: Option<Vec<Value>>,
    pub seal: String,
}

/// How many bytes tell one writing of a row from another.
const SALT: usize = 3;
/// How many bytes of the signature a seal has. Nobody can try one but by having the books proved.
const TAG: usize = 9;
/// How many digits both are in a seal of the first schema.
const LENGTH: usize = 2 * (SALT + TAG);

/// What a column holds, as it is signed: nobody passes one for another.
#[derive(Clone, Copy)]
enum Signed {
    Identifier = 1,
    Number,
    Flag,
    Text,
    Bytes,
}

impl Signing {
    /// What a column holds.
    fn put_part(&mut self, tag: u16, of: Signed, bytes: &[u8]) {
        self.put(&tag.to_le_bytes());
        if let Some(length) = u8::try_from(bytes.len()).ok().filter(|length| *length < u8::MAX) {
            self.put(&[of as u8, length]);
        } else {
            self.put(&[of as u8, u8::MAX]);
            self.put(&bytes.len().to_le_bytes());
        }
        self.put(bytes);
    }
}

/// What ends a row: no column begins like it.
const END: [u8; 3] = [0; 3];

/// What is in front of the signature in seals of before.
const FORMER_SALT: usize = 12;
const FORMER_TAG: usize = 32;

impl Table {
    fn of<E: EntityTrait>(company: Option<E::Column>, but: &[E::Column]) -> Self {
        let kind = |column: E::Column| match column.def().get_column_type() {
            ColumnType::Uuid => Kind::Uuid,
            ColumnType::Boolean => Kind::Flag,
            ColumnType::Text | ColumnType::String(_) | ColumnType::Char(_) => Kind::Text,
            ColumnType::Date => Kind::Day,
            ColumnType::Blob => Kind::Bytes,
            _ => Kind::Number,
        };
        let columns: Vec<Column> = E::Column::iter()
            .map(|column| {
                let sealed = !but.iter().any(|but| but.as_str() == column.as_str());
                Column::of(column.as_str(), kind(column), sealed)
            })
            .collect();
        let place = |name: &str| columns.iter().position(|column| column.name == name);
        let whose = company.and_then(|column| place(column.as_str()));
        let key = E::PrimaryKey::iter().filter_map(|key| place(key.into_column().as_str()));
        Self {
            name: E::default().table_name(),
            key: key.filter(|place| Some(*place) != whose).collect(),
            whose: whose.map_or(Whose::Installation, Whose::Company),
            columns,
            grows_only: false,
        }
    }

    /// The same table with other columns.
    pub fn with_columns(&self, columns: Vec<Column>) -> Result<Self> {
        let place_of = |place: &usize| {
            let name = self.columns[*place].name;
            let found = columns.iter().position(|column| column.name == name);
            found.ok_or_else(|| Error::internal(format!("{} has no column {name}", self.name)))
        };
        let whose = match &self.whose {
            Whose::Company(place) => Whose::Company(place_of(place)?),
            Whose::Installation => Whose::Installation,
        };
        let key = self.key.iter().map(place_of).collect::<Result<_>>()?;
        Ok(Self { name: self.name, whose, key, grows_only: self.grows_only, columns })
    }

    pub fn is_of_companies(&self) -> bool {
        matches!(self.whose, Whose::Company(_))
    }

    /// With its key in the order in which the database has it, where that is not the order of its columns.
    fn keyed_as_it_is(mut self) -> Self {
        if self.name == "open_item_moves" {
            self.key.reverse();
        }
        self
    }

    fn grows_only(self) -> Self {
        Self { grows_only: true, ..self }
    }

    /// The columns that name a row, that of its company first.
    pub fn names(&self) -> impl Iterator<Item = &Column> {
        let company = match self.whose {
            Whose::Company(place) => Some(place),
            Whose::Installation => None,
        };
        company.into_iter().chain(self.key.iter().copied()).map(|place| &self.columns[place])
    }

    /// All columns of its rows and their seals.
    pub fn select(&self) -> SelectStatement {
        let mut select = Query::select();
        select.from(Alias::new(self.name));
        for column in &self.columns {
            select.column(Alias::new(column.name));
        }
        select.take()
    }

    /// Rows of it, in the order of their keys.
    pub async fn rows(&self, connection: &impl Answers, select: &SelectStatement) -> Result<Vec<Row>> {
        let mut select = select.clone();
        select.expr_as(Expr::col(Alias::new("seal")), Alias::new("seal"));
        let answer = connection.answer(connection.get_database_backend().build(&select)).await?;
        let rows = answer.values_of(self.columns.iter().map(|column| column.name).chain(["seal"]))?;
        rows.map(|mut values| match values.pop() {
            Some(Value::Bytes(Some(seal))) => Ok(Row { values: self.own(values), seal: said(&seal) }),
            // In books of before.
            Some(Value::String(Some(seal))) => Ok(Row { values: self.own(values), seal }),
            _ => Err(Error::internal(format!("a row of {} has no seal", self.name))),
        })
        .collect()
    }

    /// What each row says; nothing where a column holds what it cannot.
    pub fn read(&self, answer: Answer) -> Result<impl Iterator<Item = Option<Vec<Value>>>> {
        let rows = answer.values_of(self.columns.iter().map(|column| column.name))?;
        Ok(rows.map(|values| self.own(values)))
    }

    /// The same of the values of all columns.
    pub fn values(&self, row: &BTreeMap<String, Value>) -> Option<Vec<Value>> {
        let values = self.columns.iter().map(|column| row.get(column.name).cloned());
        self.own(values.collect::<Option<_>>()?)
    }

    /// What a row says, where each column holds what it can.
    fn own(&self, values: Vec<Value>) -> Option<Vec<Value>> {
        let is_own = |(column, value): (&Column, &Value)| {
            matches!(
                (column.kind, value),
                (Kind::Uuid, Value::Uuid(_))
                    | (Kind::Number, Value::BigInt(_))
                    | (Kind::Flag, Value::Bool(_))
                    | (Kind::Text, Value::String(_))
                    | (Kind::Day, Value::BigInt(_) | Value::String(_))
                    | (Kind::Bytes, Value::Bytes(_) | Value::String(_))
            )
        };
        self.columns.iter().zip(&values).all(is_own).then_some(values)
    }

    /// Where a column is.
    pub fn place(&self, name: &str) -> Result<usize> {
        let place = self.columns.iter().position(|column| column.name == name);
        place.ok_or_else(|| Error::internal(format!("{} has no column {name}", self.name)))
    }

    /// The company that a row belongs to.
    pub fn company(&self, values: &[Value]) -> Option<BusinessId> {
        match self.whose {
            Whose::Company(place) => match values.get(place) {
                Some(Value::Uuid(Some(id))) => Some(BusinessId(*id)),
                _ => None,
            },
            Whose::Installation => None,
        }
    }

    /// The key of a row without its company, as triggers write it that keep identifiers whole.
    pub fn key_text(&self, values: &[Value]) -> String {
        self.key
            .iter()
            .map(|place| values.get(*place).map_or_else(String::new, part_of_key))
            .collect::<Vec<_>>()
            .join("/")
    }

    /// The key that a trigger wrote, as every engine would have it.
    pub fn key_noted(&self, text: &str) -> Option<String> {
        Some(self.key_values(text)?.iter().map(part_of_key).collect::<Vec<_>>().join("/"))
    }

    /// The values of a key as triggers write it.
    pub fn key_values(&self, text: &str) -> Option<Vec<Value>> {
        let parts = text.splitn(self.key.len().max(1), '/');
        let value = |(place, part): (&usize, &str)| noted::read_back(self.columns[*place].kind, part);
        self.key.iter().zip(parts).map(value).collect()
    }

    /// The seal of a row. `beside` are rows of another table that belong to it.
    pub fn seal(&self, seals: &Seals, salt: &str, values: &[Value], beside: &[Vec<Value>]) -> Result<String> {
        if let Some(salt) = from_hex::<SALT>(salt) {
            return Ok(crate::texts::hex(&self.own_seal(seals, salt, values, beside)?));
        }
        self.is_whole(values)?;
        Ok(self.former_seal(seals, salt, values, beside))
    }

    fn is_whole(&self, values: &[Value]) -> Result<()> {
        let is_whole = values.len() == self.columns.len();
        is_whole.then_some(()).ok_or_else(|| Error::internal("a row that is to be sealed is not whole"))
    }

    /// The bytes of a seal: its salt, and what of the signature it has.
    fn own_seal(
        &self,
        seals: &Seals,
        salt: [u8; SALT],
        values: &[Value],
        beside: &[Vec<Value>],
    ) -> Result<[u8; SALT + TAG]> {
        self.is_whole(values)?;
        let mut signing = self.signing(seals, salt);
        self.sign(&mut signing, values);
        for line in beside {
            LINES.sign(&mut signing, line);
        }
        let (mut seal, tag) = ([0; SALT + TAG], signing.tag());
        seal[..SALT].copy_from_slice(&salt);
        seal[SALT..].copy_from_slice(&tag.as_ref()[..TAG]);
        Ok(seal)
    }

    /// Begins the signature of a row.
    fn signing(&self, seals: &Seals, salt: [u8; SALT]) -> Signing {
        let mut signing = seals.sign("row 2");
        signing.put(&salt);
        signing.feed(Some(self.name));
        signing
    }

    /// Signs what a row says: each column that holds something, under its tag, with how long it is. A day is signed as its
    /// number, what is packed as it is stored.
    fn sign(&self, signing: &mut Signing, values: &[Value]) {
        for (column, value) in self.columns.iter().zip(values).filter(|(column, _)| column.sealed) {
            if was_added_later(self, column)
                && text(value).is_some_and(|text| ADDED_LATER.contains(&(self.name, column.name, &*text)))
            {
                continue;
            }
            let mut put = |of: Signed, bytes: &[u8]| signing.put_part(column.tag, of, bytes);
            match value {
                Value::Uuid(Some(id)) => put(Signed::Identifier, id.as_bytes()),
                Value::BigInt(Some(number)) => {
                    // Without the bytes in front that say nothing: most numbers are small.
                    let folded = ((number << 1) ^ (number >> 63)).cast_unsigned().to_le_bytes();
                    let length = folded.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                    put(Signed::Number, &folded[..length]);
                }
                Value::Bool(Some(flag)) => put(Signed::Flag, &[u8::from(*flag)]),
                Value::String(Some(text)) => put(Signed::Text, text.as_bytes()),
                Value::Bytes(Some(bytes)) => put(Signed::Bytes, bytes),
                _ => {}
            }
        }
        signing.put(&END);
    }

    /// A seal as books of before have it: over texts, the name of each column among them.
    fn former_seal(&self, seals: &Seals, salt: &str, values: &[Value], beside: &[Vec<Value>]) -> String {
        let mut signing = seals.sign("row 1");
        signing.feed(Some(salt));
        signing.feed(Some(self.name));
        let mut feed = |table: &Self, values: &[Value]| {
            for (column, value) in table.columns.iter().zip(values).filter(|(column, _)| column.sealed) {
                let Some(text) = signed(column.kind, value) else { continue };
                if !ADDED_LATER.contains(&(table.name, column.name, &*text)) {
                    signing.feed(Some(column.name));
                    signing.feed(Some(&text));
                }
            }
        };
        feed(self, values);
        for line in beside {
            feed(&LINES, line);
        }
        let mut tag = signing.finish();
        tag.truncate(FORMER_TAG);
        format!("{salt}{tag}")
    }

    /// Whether a row's seal was its own at any time. Only what grows keeps a seal of another time than now.
    pub fn fits_any(&self, eras: &[Seals], row: (&str, &[Value]), beside: &[Vec<Value>]) -> Result<bool> {
        let (seal, values) = row;
        let eras = if self.grows_only { eras } else { eras.last().map_or(&[][..], std::slice::from_ref) };
        for seals in eras {
            if self.fits(seals, seal, values, beside)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a row's seal is its own.
    pub fn fits(&self, seals: &Seals, seal: &str, values: &[Value], beside: &[Vec<Value>]) -> Result<bool> {
        if seal.len() != LENGTH {
            let Some(salt) = seal.get(..FORMER_SALT) else { return Ok(false) };
            return Ok(same(&self.seal(seals, salt, values, beside)?, seal));
        }
        let Some(bytes) = from_hex::<{ SALT + TAG }>(seal) else { return Ok(false) };
        let [salt @ .., _, _, _, _, _, _, _, _, _] = bytes;
        Ok(are_same(&self.own_seal(seals, salt, values, beside)?, &bytes))
    }
}

/// A value of a key, as triggers write it that keep identifiers whole.
fn part_of_key(value: &Value) -> String {
    match value {
        Value::Uuid(Some(id)) => id.simple().to_string(),
        value => text(value).unwrap_or_default().into_owned(),
    }
}

/// What a value of a column is signed as; nothing where there is none.
fn signed(kind: Kind, value: &Value) -> Option<Cow<'_, str>> {
    match (kind, value) {
        (Kind::Day, Value::BigInt(Some(number))) => {
            Some(Day::kept_as(*number).map_or_else(|| number.to_string(), |day| day.to_string()).into())
        }
        (_, Value::Bytes(Some(bytes))) => Some(crate::packed::as_text(bytes).into()),
        _ => text(value),
    }
}

/// A value as triggers write it; nothing where there is none.
pub(super) fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(Some(text)) => Some(Cow::Borrowed(text)),
        Value::Uuid(Some(id)) => Some(Cow::Owned(id.to_string())),
        Value::BigInt(Some(number)) => Some(Cow::Owned(number.to_string())),
        Value::Bool(Some(flag)) => Some(Cow::Borrowed(if *flag { "true" } else { "false" })),
        _ => None,
    }
}

/// What tells one writing of a row from another: the same row, written again, has another seal.
pub fn salt() -> Result<String> {
    Ok(crate::texts::hex(&crate::ids::random_bytes::<SALT>()?))
}

/// A seal as it is kept, of its digits.
#[must_use]
pub fn kept(seal: &str) -> Vec<u8> {
    match bytes_of(seal) {
        Some(bytes) => bytes,
        None => seal.into(),
    }
}

/// The digits of a seal as it is kept.
#[must_use]
pub fn said(kept: &[u8]) -> String {
    crate::texts::hex(kept)
}

/// The bytes of hexadecimal digits.
pub(super) fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pair = |place| u8::from_str_radix(digits.get(place..place + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// So many bytes of hexadecimal digits, and no more.
fn from_hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if digits.len() != 2 * N {
        return None;
    }
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;
    use uuid::Uuid;

    #[test]
    fn no_two_columns_of_a_table_are_signed_under_one_tag() {
        for table in TABLES.iter().chain([&*LINES]) {
            let tags: std::collections::HashSet<u16> = table.columns.iter().map(|column| column.tag).collect();
            assert_eq!(tags.len(), table.columns.len(), "{}", table.name);
        }
        // Books are sealed under them.
        assert_eq!(Column::of("business_id", Kind::Uuid, true).tag, 0x11bf);
    }

    #[test]
    fn what_a_column_holds_is_signed_apart_from_what_others_hold() {
        let seals = Seals::of(&Keys::of(b"key")).unwrap();
        let table = Table::of::<number_counters::Entity>(Some(number_counters::Column::BusinessId), &[]);
        let said = |values: &[Value]| {
            let mut signing = table.signing(&seals, [0; SALT]);
            table.sign(&mut signing, values);
            signing.said
        };
        let none = || Value::String(None);
        let mut all = std::collections::HashSet::new();
        let mut count = 0;
        for text in ["", "1", &"1".repeat(254), &"1".repeat(255), &"1".repeat(256)] {
            for (left, right) in [(Value::from(text), none()), (none(), Value::from(text))] {
                all.insert(said(&[none(), none(), left, right, none()]));
                count += 1;
            }
        }
        for number in [0, 1, -1, 127, 128, -129, i64::MAX, i64::MIN, 1 << 40] {
            all.insert(said(&[none(), none(), none(), number.into(), none()]));
            count += 1;
        }
        for value in [Value::from(true), false.into(), Uuid::nil().into(), vec![b'1'].into()] {
            all.insert(said(&[none(), none(), none(), value, none()]));
            count += 1;
        }
        assert_eq!(all.len(), count);
    }

    #[test]
    fn the_seal_of_a_row_is_no_other_tables() {
        let seals = Seals::of(&Keys::of(b"key")).unwrap();
        let own = Table::of::<number_counters::Entity>(Some(number_counters::Column::BusinessId), &[]);
        let id = Uuid::from_u128(7);
        let row: Vec<Value> = vec![id.into(), id.into(), "2026".into(), 1_i64.into(), "2026-01-01".into()];
        let seal = own.seal(&seals, &salt().unwrap(), &row, &[]).unwrap();
        assert!(own.fits(&seals, &seal, &row, &[]).unwrap());
        assert_eq!(seal.len(), LENGTH);
        // As seals were made before.
        let former = own.seal(&seals, "0123456789ab", &row, &[]).unwrap();
        assert_eq!(former.len(), FORMER_SALT + FORMER_TAG);
        assert!(own.fits(&seals, &former, &row, &[]).unwrap());
        for torn in ["", &seal[1..], &former[1..], "0123456789ab"] {
            assert!(!own.fits(&seals, torn, &row, &[]).unwrap(), "{torn}");
        }
        // One value for another, and where there was none.
        for (place, value) in [(2, Value::from("202")), (3, 2_i64.into()), (3, true.into()), (4, Value::String(None))] {
            let mut row = row.clone();
            row[place] = value;
            assert!(!own.fits(&seals, &seal, &row, &[]).unwrap(), "{row:?}");
        }
        // The very same columns, of another name.
        let other = Table { name: "other", ..own };
        assert!(!other.fits(&seals, &seal, &row, &[]).unwrap());
    }
}

//! Rows on their way into a table, as each engine takes them.
//!
//! Owns: the statements that put rows in, whose texts are made once and stay; and how many rows one of them takes.
//! Refuses: to know what the rows say.
//!
//! - SQLite takes rows in few sizes, so that it meets the same statements again and again. Each is executed where it is.
//! - PostgreSQL takes one array a column: one text, however many rows. All statements of a flush are sent at once.

use super::{Db, Session};
use answers::Answers;
use postgres_kit::Leg;
use sea_orm::{DbErr, QueryResult, Statement, Value};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// What to do where a row is there already. All but the first name the columns that say which row it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kept {
    Refuse,
    /// It stays as it is.
    Stays,
    /// It is replaced.
    Goes,
    /// The columns that do not name it are added up.
    Grows,
    /// It is replaced by its next version; one that stands elsewhere is refused.
    Follows,
}

/// Rows of one table.
#[derive(Debug, Clone)]
pub struct Rows {
    pub table: &'static str,
    pub columns: Vec<&'static str>,
    /// The columns that name a row.
    pub key: Vec<&'static str>,
    pub kept: Kept,
    /// Row after row.
    pub values: Vec<Value>,
}

/// SQLite bounds how many values one statement may bind.
const MOST_VALUES: usize = 30_000;

/// Sizes in which SQLite is given rows. What one document has of a table goes into one statement, and what a batch has into few.
const SIZES: [usize; 12] = [128, 64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1];

/// One of several things that are done in their order; none of them waits for what another came to.
#[derive(Debug, Clone)]
pub enum Step {
    Rows(Rows),
    Statement(Statement),
    /// Something that is asked where it is done, and nothing stays unless the answer is right.
    Checked(Check),
}

/// What is asked, and who says whether the answer is right.
#[derive(Clone)]
pub struct Check {
    pub asked: Statement,
    pub by: Arc<dyn Fn(Vec<QueryResult>) -> Result<(), DbErr> + Send + Sync>,
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Check").field(&self.asked).finish()
    }
}

impl Step {
    /// As it is sent to PostgreSQL.
    pub(super) fn sent(self) -> Result<Leg, DbErr> {
        match self {
            Self::Rows(rows) => {
                let (sql, width) = (rows.text(Shape::Arrays), rows.columns.len());
                Ok(Leg::Rows(postgres_kit::Rows { sql, width, values: rows.values }))
            }
            Self::Statement(statement) => Ok(Leg::Statement(statement)),
            Self::Checked(_) => {
                Err(DbErr::Custom("what is sent in one flight is checked within its statements".into()))
            }
        }
    }
}

/// All of them, as they are sent to PostgreSQL.
pub(super) fn sent(steps: Vec<Step>) -> Result<Vec<Leg>, DbErr> {
    steps.into_iter().map(Step::sent).collect()
}

/// The column that says which version of itself a row is.
const VERSION: &str = "version";

/// What rows can be put into.
pub trait Puts: Answers {
    /// Does all of this in its order, and answers what the last of it is answered.
    fn send(&self, steps: Vec<Step>) -> impl Future<Output = Result<Vec<QueryResult>, DbErr>> + Send;

    /// Puts rows into their tables, in this order.
    fn put(&self, all: Vec<Rows>) -> impl Future<Output = Result<(), DbErr>> + Send {
        let sent = self.send(all.into_iter().map(Step::Rows).collect());
        async { sent.await.map(drop) }
    }
}

impl Puts for Session {
    async fn send(&self, steps: Vec<Step>) -> Result<Vec<QueryResult>, DbErr> {
        let steps = whole(steps)?;
        match self {
            Self::Sqlite(transaction) => transaction.send(steps),
            Self::Postgres(session) => session.send(sent(steps)?).await,
            Self::SqliteSnapshot(_) => Err(DbErr::Custom("a snapshot takes no rows".into())),
            Self::Meanwhile(meanwhile) => Err(meanwhile.waits()),
        }
    }
}

impl Puts for Db<'_> {
    async fn send(&self, steps: Vec<Step>) -> Result<Vec<QueryResult>, DbErr> {
        match self {
            Self::Session(session) => session.send(steps).await,
            Self::Reads(_) => Err(DbErr::Custom("rows were put where it is only read".into())),
        }
    }
}

/// Those of the steps that do something, none of which has torn rows.
pub(super) fn whole(mut steps: Vec<Step>) -> Result<Vec<Step>, DbErr> {
    steps.retain(|step| !matches!(step, Step::Rows(rows) if rows.values.is_empty()));
    for step in &steps {
        if let Step::Rows(rows) = step
            && rows.values.len() % rows.columns.len().max(1) != 0
        {
            return Err(DbErr::Custom(format!("rows of {} are not whole", rows.table)));
        }
    }
    Ok(steps)
}

/// How the values of a statement stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Shape {
    /// So many rows, value by value.
    Rows(usize),
    /// An array a column.
    Arrays,
}

/// A table's statement of one shape. A table's columns and key are always the same.
type Name = (&'static str, Kept, Shape);

static TEXTS: LazyLock<Mutex<HashMap<Name, Arc<str>>>> = LazyLock::new(Mutex::default);

impl Rows {
    /// In as few statements as there are sizes for.
    pub(super) fn portions(&self) -> impl Iterator<Item = (Arc<str>, &[Value])> {
        let width = self.columns.len().max(1);
        let mut rest = self.values.as_slice();
        std::iter::from_fn(move || {
            let (rows, most) = (rest.len() / width, MOST_VALUES / width);
            let size = SIZES.into_iter().find(|&size| size <= rows && size <= most)?;
            let (portion, others) = rest.split_at(size * width);
            rest = others;
            Some((self.text(Shape::Rows(size)), portion))
        })
    }

    fn text(&self, shape: Shape) -> Arc<str> {
        let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        texts.entry((self.table, self.kept, shape)).or_insert_with(|| self.write(shape).into()).clone()
    }

    fn write(&self, shape: Shape) -> String {
        let Self { table, columns, key, kept, .. } = self;
        let quoted = |names: &[&str]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",");
        let (insert, values) = match shape {
            // Short: the text is what the statement is found by. Whoever is refused takes all back to where the command or the
            // batch began, so the engine need not be able to take back the one statement, for which it copies each page.
            Shape::Rows(rows) => {
                let row = format!("({})", vec!["?"; columns.len()].join(","));
                ("INSERT OR FAIL", format!("VALUES {}", vec![row; rows].join(",")))
            }
            Shape::Arrays => {
                let arrays: Vec<String> = (1..=columns.len()).map(|place| format!("${place}")).collect();
                ("INSERT", format!("SELECT * FROM UNNEST({})", arrays.join(",")))
            }
        };
        let rest = columns.iter().filter(|name| !key.contains(name));
        let change = match kept {
            Kept::Refuse => String::new(),
            Kept::Stays => format!(" ON CONFLICT ({}) DO NOTHING", quoted(key)),
            Kept::Goes => {
                let rest: Vec<String> = rest.map(|name| format!("\"{name}\"=excluded.\"{name}\"")).collect();
                format!(" ON CONFLICT ({}) DO UPDATE SET {}", quoted(key), rest.join(","))
            }
            Kept::Grows => {
                let sum = |name: &&str| format!("\"{name}\"=\"{table}\".\"{name}\"+excluded.\"{name}\"");
                let rest: Vec<String> = rest.map(sum).collect();
                format!(" ON CONFLICT ({}) DO UPDATE SET {}", quoted(key), rest.join(","))
            }
            Kept::Follows => {
                // Nothing is no version, and neither engine keeps it for one.
                let next = |name: &&str| match *name {
                    VERSION => format!(
                        "\"{VERSION}\"=CASE WHEN \"{table}\".\"{VERSION}\"=excluded.\"{VERSION}\"-1 \
                         THEN excluded.\"{VERSION}\" END"
                    ),
                    name => format!("\"{name}\"=excluded.\"{name}\""),
                };
                let rest: Vec<String> = rest.map(next).collect();
                format!(" ON CONFLICT ({}) DO UPDATE SET {}", quoted(key), rest.join(","))
            }
        };
        format!("{insert} INTO \"{table}\" ({}) {values}{change}", quoted(columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(table: &'static str, columns: usize, rows: usize, kept: Kept) -> Rows {
        let names = ["a", "b", "c", "d"];
        let values = (0..columns * rows).map(|value| Value::from(i64::try_from(value).unwrap())).collect();
        let columns = (0..columns).map(|place| names[place % names.len()]).collect();
        Rows { table, columns, key: vec!["a", "b"], kept, values }
    }

    #[test]
    fn rows_are_written_in_few_sizes_and_none_is_lost() {
        let sizes = |table, count: usize, columns: usize| -> Vec<usize> {
            let rows = rows(table, columns, count, Kept::Refuse);
            rows.portions().map(|(_, values)| values.len() / columns).collect()
        };
        assert_eq!(sizes("none", 0, 3), Vec::<usize>::new());
        // What one document has goes into one statement.
        assert_eq!(sizes("one", 7, 3), [7]);
        assert_eq!(sizes("many", 171, 3), [128, 32, 8, 3]);
        assert_eq!(sizes("wide", 130, 400), [64, 64, 2]);
        // A batch that is ten times as large takes hardly more statements.
        assert_eq!((sizes("batch", 12, 3).len(), sizes("batch", 120, 3).len()), (2, 4));
        let rows = rows("all", 3, 777, Kept::Refuse);
        let all: Vec<Value> = rows.portions().flat_map(|(_, values)| values.to_vec()).collect();
        assert_eq!(all, rows.values);
    }

    #[test]
    fn a_statement_is_written_once_and_says_what_becomes_of_what_is_there() {
        let text = |table, count, kept, shape| rows(table, 3, count, kept).text(shape).to_string();
        let insert = "INSERT INTO \"t\" (\"a\",\"b\",\"c\") ";
        let of_sqlite = insert.replace("INSERT", "INSERT OR FAIL");
        assert_eq!(text("t", 2, Kept::Refuse, Shape::Rows(2)), format!("{of_sqlite}VALUES (?,?,?),(?,?,?)"));
        let arrays = "SELECT * FROM UNNEST($1,$2,$3) ON CONFLICT (\"a\",\"b\") DO";
        assert_eq!(text("t", 9, Kept::Stays, Shape::Arrays), format!("{insert}{arrays} NOTHING"));
        let sum = "UPDATE SET \"c\"=\"t\".\"c\"+excluded.\"c\"";
        assert_eq!(text("t", 9, Kept::Grows, Shape::Arrays), format!("{insert}{arrays} {sum}"));
        // PostgreSQL prepares one, however many rows there are.
        let [one, many] = [1, 500].map(|count| rows("t", 3, count, Kept::Refuse).text(Shape::Arrays));
        assert!(Arc::ptr_eq(&one, &many));
        let goes = rows("u", 3, 1, Kept::Goes);
        let first = goes.text(Shape::Rows(1));
        assert!(first.ends_with("DO UPDATE SET \"c\"=excluded.\"c\""), "{first}");
        assert!(Arc::ptr_eq(&first, &goes.text(Shape::Rows(1))));
    }

    #[test]
    fn what_follows_is_the_next_version_of_what_is_there_or_none() {
        let columns = vec!["id", "version", "head"];
        let rows = Rows { table: "v", columns, key: vec!["id"], kept: Kept::Follows, values: Vec::new() };
        let text = rows.text(Shape::Rows(1));
        let next = "\"version\"=CASE WHEN \"v\".\"version\"=excluded.\"version\"-1 THEN excluded.\"version\" END";
        assert!(text.ends_with(&format!("DO UPDATE SET {next},\"head\"=excluded.\"head\"")), "{text}");
    }
}

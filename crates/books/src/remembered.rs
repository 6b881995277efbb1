//! Who may do what, remembered between requests and forgotten at once when it changes.
//!
//! Every change of a user, a membership or a company raises a counter in the database, by trigger: whichever
//! process, command or hand makes it. A request asks for the counter first, after it has arrived; what is
//! remembered counts only under the counter it was read under. So a role that is taken away is gone with the
//! next request, on every process, and yet most requests ask the database no more than that one number.
//!
//! What writes comes to a transaction that asks for the counter anyway. So whoever is remembered whole is let through to it
//! unasked, and is judged there: by a count that was asked for after they came. Where it was asked for before, or has moved,
//! the request starts over and asks first.
//!
//! Requests that arrive together share the question: one that waits for an answer takes the next answer that
//! was asked for after it came.

use crate::access::Business;
use crate::api_keys::Key;
use crate::auth::{session, user};
use crate::database::Reads;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use schema::business;
use schema::tables::books;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Query, SimpleExpr};
use sea_orm::{DbBackend, QueryResult, QuerySelect, QueryTrait, Statement};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub mod table {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "access_changes")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i64,
        pub count: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// How many changes there were; what was read under one count is worth nothing under another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changes(i64);

/// When somebody came or something was asked, in the order of this process: what was asked for later than somebody came tells
/// of all that was so when they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Tick(u64);

impl Tick {
    pub fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

/// Under this count nothing was ever judged.
const CHANGING: Changes = Changes(-1);

/// The count of changes as the connection sees it: within a transaction, as of that. PostgreSQL counts at its end, and
/// tells by a setting that there is something to count.
pub fn counting(engine: DbBackend) -> Statement {
    let count = table::Column::Count.into_expr();
    let count = match engine {
        DbBackend::Postgres => {
            let is_changing = Expr::cust("COALESCE(current_setting('duet.access_changes', true), '') = 'changed'");
            Expr::case(is_changing, CHANGING.0).finally(count).into()
        }
        _ => count,
    };
    table::Entity::find_by_id(1).select_only().expr_as(count, "count").build(engine)
}

/// What was answered to it.
pub fn read(answered: Option<&QueryResult>) -> Result<Changes> {
    let row = answered.ok_or_else(|| Error::internal("access_changes has no row"))?;
    Ok(Changes(row.try_get("", "count")?))
}

pub async fn counted(connection: &impl ConnectionTrait) -> Result<Changes> {
    let asked = counting(connection.get_database_backend());
    read(connection.query_one_raw(asked).await?.as_ref())
}

/// The version of a company's books as the connection sees it; nothing where there is no such company.
pub async fn version(connection: &impl ConnectionTrait, business: BusinessId) -> Result<Option<i64>> {
    let version = books::Entity::find_by_id(business).select_only().column(books::Column::Version);
    Ok(version.into_tuple().one(connection).await?)
}

/// Has everybody look again at a company, as a change of it does. What is remembered with it may lie where no trigger reaches
/// the counter.
pub async fn look_again(connection: &impl ConnectionTrait, company: BusinessId) -> Result<()> {
    let as_it_is = business::Column::Version.into_expr();
    let same = business::Entity::update_many().col_expr(business::Column::Version, as_it_is);
    same.filter(business::Column::Id.eq(company)).exec(connection).await?;
    Ok(())
}

/// A question to the database that many ask: those who wait take the next answer that was asked for after they came.
#[derive(Default)]
pub struct Question<T> {
    asked: AtomicU64,
    /// The last question that was answered, by its number.
    answered: tokio::sync::Mutex<(u64, T)>,
}

impl<T: Copy + Send + 'static> Question<T> {
    /// The answer, asked for after this call began. The asking is a task of its own: whoever waits for it may go away, and
    /// no query of the database is left half done.
    pub async fn ask(&self, asking: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
        let arrived = self.asked.load(Ordering::SeqCst);
        let mut answered = self.answered.lock().await;
        if answered.0 > arrived {
            return Ok(answered.1);
        }
        let question = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let answer = tokio::spawn(asking).await.map_err(Error::internal)??;
        *answered = (question, answer);
        Ok(answer)
    }
}

/// The count of changes, and the version of a company's books.
type QuestionWithBooks = Question<(Changes, Option<i64>)>;

#[derive(Default)]
pub struct Remembered {
    /// As many users, companies and keys as are remembered at most, of each.
    most: usize,
    changes: Question<Changes>,
    with_books: Mutex<HashMap<BusinessId, Arc<QuestionWithBooks>>>,
    facts: Mutex<Facts>,
    /// Somebody found another count than that under which facts are remembered.
    doubted: AtomicBool,
}

#[derive(Default)]
struct Facts {
    under: Changes,
    users: HashMap<UserId, Arc<user::Model>>,
    companies: HashMap<(UserId, BusinessId), Arc<Business>>,
    keys: HashMap<String, Arc<Key>>,
    sessions: HashMap<RecordId, Arc<session::Model>>,
}

/// What a user, a company with its settings, and a key weigh together, about.
const WEIGHT: usize = 8 << 10;

impl Remembered {
    /// As much as fits in so many bytes.
    pub fn within(bytes: usize) -> Self {
        Self { most: (bytes / WEIGHT).clamp(64, 20_000), ..Self::default() }
    }

    /// The count under which facts are remembered, as far as anybody knows.
    pub fn last(&self) -> Option<Changes> {
        let under = self.facts.lock().unwrap_or_else(PoisonError::into_inner).under;
        (under != Changes::default() && !self.doubted.load(Ordering::SeqCst)).then_some(under)
    }

    /// Another count was found: whoever comes next asks for it.
    pub fn doubt(&self) {
        self.doubted.store(true, Ordering::SeqCst);
    }

    /// How often anybody asked for a count.
    #[doc(hidden)]
    pub fn questions(&self) -> u64 {
        let with_books = self.with_books.lock().unwrap_or_else(PoisonError::into_inner);
        let of_companies: u64 = with_books.values().map(|one| one.asked.load(Ordering::SeqCst)).sum();
        self.changes.asked.load(Ordering::SeqCst) + of_companies
    }

    /// The count of changes, asked for after this call began.
    pub async fn changes(&self, connection: &Reads) -> Result<Changes> {
        let connection = connection.clone();
        self.doubted.store(false, Ordering::SeqCst);
        self.changes.ask(async move { counted(&connection).await }).await
    }

    /// The count of changes and the version of a company's books, in one question; no version where there is no such
    /// company.
    pub async fn changes_and_books(&self, connection: &Reads, business: BusinessId) -> Result<(Changes, Option<i64>)> {
        let question = {
            let mut asked = self.with_books.lock().unwrap_or_else(PoisonError::into_inner);
            if asked.len() > self.most {
                asked.clear();
            }
            asked.entry(business).or_default().clone()
        };
        let connection = connection.clone();
        self.doubted.store(false, Ordering::SeqCst);
        question
            .ask(async move {
                let version = Query::select()
                    .column(books::Column::Version)
                    .from(books::Entity)
                    .and_where(books::Column::BusinessId.eq(business))
                    .take();
                let row: Option<(i64, Option<i64>)> = table::Entity::find()
                    .select_only()
                    .column(table::Column::Count)
                    .expr_as(SimpleExpr::SubQuery(None, Box::new(version.into())), "version")
                    .into_tuple()
                    .one(&connection)
                    .await?;
                let (count, version) = row.ok_or_else(|| Error::internal("access_changes has no row"))?;
                Ok((Changes(count), version))
            })
            .await
    }

    /// A user, if they are remembered.
    pub fn known_user(&self, changes: Changes, id: UserId) -> Option<Arc<user::Model>> {
        self.under(changes, |facts| facts.users.get(&id).cloned()).flatten()
    }

    /// The key with this secret, if it is remembered.
    pub fn known_key(&self, changes: Changes, secret: &str) -> Option<Arc<Key>> {
        self.under(changes, |facts| facts.keys.get(secret).cloned()).flatten()
    }

    pub async fn key(
        &self,
        connection: &impl ConnectionTrait,
        changes: Changes,
        secret: &str,
    ) -> Result<Option<Arc<Key>>> {
        let Some(found) = crate::api_keys::find(connection, secret).await?.map(Arc::new) else { return Ok(None) };
        self.under(changes, |facts| facts.keys.insert(secret.to_owned(), found.clone()));
        Ok(Some(found))
    }

    /// A session that is good, if it is remembered.
    pub fn known_session(&self, changes: Changes, id: RecordId) -> Option<Arc<session::Model>> {
        self.under(changes, |facts| facts.sessions.get(&id).cloned()).flatten()
    }

    pub async fn session(
        &self,
        connection: &impl ConnectionTrait,
        changes: Changes,
        id: RecordId,
    ) -> Result<Option<Arc<session::Model>>> {
        let Some(found) = session::find(connection, id).await?.map(Arc::new) else { return Ok(None) };
        self.under(changes, |facts| facts.sessions.insert(id, found.clone()));
        Ok(Some(found))
    }

    /// The company as this user sees it, if that is remembered.
    pub fn known_company(&self, changes: Changes, user: UserId, id: BusinessId) -> Option<Arc<Business>> {
        self.under(changes, |facts| facts.companies.get(&(user, id)).cloned()).flatten()
    }

    /// What is remembered under a count; anything else is forgotten.
    fn under<T>(&self, changes: Changes, look: impl FnOnce(&mut Facts) -> T) -> Option<T> {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        if facts.under.0 < changes.0
            || facts.users.len() > self.most
            || facts.companies.len() > self.most
            || facts.keys.len() > self.most
            || facts.sessions.len() > self.most
        {
            *facts = Facts { under: changes, ..Facts::default() };
        }
        (facts.under == changes).then(|| look(&mut facts))
    }

    pub async fn user(
        &self,
        connection: &impl ConnectionTrait,
        changes: Changes,
        id: UserId,
    ) -> Result<Option<Arc<user::Model>>> {
        if let Some(known) = self.under(changes, |facts| facts.users.get(&id).cloned()).flatten() {
            return Ok(Some(known));
        }
        let Some(found) = user::find(connection, id).await?.map(Arc::new) else { return Ok(None) };
        self.under(changes, |facts| facts.users.insert(id, found.clone()));
        Ok(Some(found))
    }

    /// The company as this user sees it.
    pub async fn company(
        &self,
        connection: &impl ConnectionTrait,
        changes: Changes,
        user: UserId,
        id: BusinessId,
    ) -> Result<Arc<Business>> {
        if let Some(known) = self.under(changes, |facts| facts.companies.get(&(user, id)).cloned()).flatten() {
            return Ok(known);
        }
        let found = Arc::new(crate::access::visible_business(connection, user, id).await?);
        self.under(changes, |facts| facts.companies.insert((user, id), found.clone()));
        Ok(found)
    }
}

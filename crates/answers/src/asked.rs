//! Who answers so, and how a selection is read.

use crate::{Answer, Modelled, OfRow};
use async_trait::async_trait;
use sea_orm::sea_query::ValueType;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, EntityTrait, QuerySelect, QueryTrait, Select, Statement};

/// What answers a question with all of its rows at once.
#[async_trait]
pub trait Answers: ConnectionTrait {
    async fn answer(&self, question: Statement) -> Result<Answer, DbErr>;
}

/// A whole database of sea-orm knows rows by their names alone.
#[async_trait]
impl Answers for DatabaseConnection {
    async fn answer(&self, question: Statement) -> Result<Answer, DbErr> {
        Answer::again(&self.query_all_raw(question).await?)
    }
}

/// How the rows of a selection are read, where they may be many.
pub trait Ask<E: EntityTrait>: Sized {
    /// All that it comes to.
    fn answered(self, by: &impl Answers) -> impl Future<Output = Result<Answer, DbErr>> + Send;

    /// Rows of the table.
    fn models(self, by: &impl Answers) -> impl Future<Output = Result<Vec<E::Model>, DbErr>> + Send
    where
        E: Modelled,
    {
        let answered = self.answered(by);
        async { answered.await?.models::<E>() }
    }

    /// The first row of the table.
    fn model(self, by: &impl Answers) -> impl Future<Output = Result<Option<E::Model>, DbErr>> + Send
    where
        E: Modelled;

    /// What is selected.
    fn read<T: OfRow>(self, by: &impl Answers) -> impl Future<Output = Result<Vec<T>, DbErr>> + Send {
        let answered = self.answered(by);
        async { answered.await?.read() }
    }

    /// The only column that is selected.
    fn column_of<T: ValueType>(self, by: &impl Answers) -> impl Future<Output = Result<Vec<T>, DbErr>> + Send {
        let answered = self.answered(by);
        async { answered.await?.column() }
    }
}

impl<E: EntityTrait> Ask<E> for Select<E> {
    fn answered(self, by: &impl Answers) -> impl Future<Output = Result<Answer, DbErr>> + Send {
        let question = self.build(by.get_database_backend());
        by.answer(question)
    }

    fn model(self, by: &impl Answers) -> impl Future<Output = Result<Option<E::Model>, DbErr>> + Send
    where
        E: Modelled,
    {
        let answered = self.limit(1).answered(by);
        async { Ok(answered.await?.models::<E>()?.pop()) }
    }
}

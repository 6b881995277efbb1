//! The payment terms of a company, as its documents are judged by them.

use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use schema::payment_term as table;
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter};
use table::Column;

/// All terms of a company.
#[derive(Debug, Default)]
pub struct Terms(Vec<table::Model>);

impl Terms {
    pub async fn load(connection: &impl ConnectionTrait, business: BusinessId) -> Result<Self> {
        Ok(Self(table::Entity::find().filter(Column::BusinessId.eq(business)).all(connection).await?))
    }

    pub fn get(&self, id: RecordId) -> Option<&table::Model> {
        self.0.iter().find(|term| term.id == id)
    }
}

//! Who is told of what happens, as it is kept.

use crate::clock::Instant;
use crate::ids::{BusinessId, RecordId, UserId};
use crate::stored::AsJson;
use crate::wire_enum;
use sea_orm::entity::prelude::*;

wire_enum! {
    /// Whether somebody is told.
    pub enum WebhookStatus {
        /// They are told.
        #[default]
        Active = "active",
        /// They are not told for now; what happens meanwhile is told once they are again.
        Paused = "paused",
        /// The server gave up on them: `reason` says why. What was not told is told once they are active again.
        Disabled = "disabled",
    }
}

wire_enum! {
    /// How much somebody is told of an event.
    pub enum Payload {
        /// What happened to which record.
        #[default]
        Thin = "thin",
        /// The record as well.
        Full = "full",
    }
}

wire_enum! {
    /// In which form somebody is told.
    pub enum Format {
        /// As Standard Webhooks writes a body.
        #[default]
        Standard = "standard",
        /// As CloudEvents 1.0 writes one, structured.
        CloudEvents = "cloudevents",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "webhooks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub business_id: BusinessId,
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: RecordId,
    pub user_id: UserId,
    pub url: String,
    pub types: AsJson<Vec<String>>,
    pub payload: Payload,
    pub format: Format,
    pub headers: String,
    pub secret: String,
    pub former_secret: Option<String>,
    pub former_until: Option<Instant>,
    pub status: WebhookStatus,
    pub reason: Option<String>,
    pub search: String,
    pub version: i64,
    pub created_at: Instant,
    pub created_by: UserId,
    pub updated_at: Instant,
    pub updated_by: UserId,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

answers::asked_whole!(Entity);

/// Up to where each was told, and when it is tried again.
pub mod cursor {
    use super::{BusinessId, Instant, RecordId};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "webhook_cursors")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub webhook_id: RecordId,
        pub after: i64,
        /// How often the next event was refused.
        pub failures: i64,
        pub next_at: Option<Instant>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}

    answers::asked_whole!(Entity);
}

/// Each attempt to tell somebody.
pub mod delivery {
    use super::{BusinessId, Instant, RecordId};
    use crate::wire_enum;
    use sea_orm::entity::prelude::*;

    wire_enum! {
        /// What became of an attempt.
        pub enum AttemptStatus {
            /// It was asked for, and comes next.
            #[default]
            Waiting = "waiting",
            /// It was taken: the answer was 2xx.
            Delivered = "delivered",
            Failed = "failed",
        }
    }

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "webhook_deliveries")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: RecordId,
        pub webhook_id: RecordId,
        pub event_id: RecordId,
        pub sequence: Option<i64>,
        pub r#type: String,
        pub attempt: i64,
        pub status: AttemptStatus,
        pub at: Instant,
        pub answered: Option<i64>,
        pub ms: Option<i64>,
        pub said: Option<String>,
        pub problem: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}

    answers::asked_whole!(Entity);
}

//! What words are looked for by.

use super::table;

/// The portion of a block that says which documents are in it, identifier after identifier.
pub const WHOSE: i64 = 256;

const _: () = assert!(words::grams::SHARDS == 256, "no portion of letters has this number");

table! {
    /// Documents whose words no block tells of. Triggers note them.
    search_waiting = "search_waiting" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub document_id: RecordId,
    }
}

table! {
    /// A portion of a block: which of its documents have which letters in a row.
    search_blocks = "search_blocks" {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub portion: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub block: i64,
        pub postings: Vec<u8>,
    }
}

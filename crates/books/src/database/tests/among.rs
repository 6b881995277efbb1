//! What is asked by very many keys is asked in one value, on both engines: a list of parameters would have an end.

use super::*;
use crate::among::on;
use crate::ids::BusinessId;
use ::schema::tables::mentions;
use sea_orm::{PaginatorTrait, QueryFilter};
use uuid::Uuid;

/// More than either engine takes as parameters: 32 766 and 65 535.
const KEYS: u128 = 70_000;

async fn all_are_found(database: &Database) {
    database.migrate(&|_| String::new()).await.unwrap();
    let backend = database.read.get_database_backend();
    let mut writer = database.writer();
    let session = writer.begin().await.unwrap();
    let rows = (1..=KEYS).map(Uuid::from_u128);
    let row = |id: Uuid| match backend {
        DbBackend::Postgres => format!("('{}', '{id}')", Uuid::nil()),
        _ => format!("(zeroblob(16), X'{}')", id.simple()),
    };
    let rows: Vec<String> = rows.map(row).collect();
    for some in rows.chunks(10_000) {
        let sql = format!("INSERT INTO mentions (business_id, record_id) VALUES {}", some.join(", "));
        session.execute_unprepared(&sql).await.unwrap();
    }
    assert!(matches!(writer.commit(session).await, Committing::Committed));
    let found = |keys: Vec<Uuid>| {
        let some = mentions::Entity::find()
            .filter(mentions::Column::BusinessId.eq(BusinessId::INSTALLATION))
            .filter(on(backend, mentions::Column::RecordId, keys));
        some.count(&database.read)
    };
    assert_eq!(found((1..=KEYS).map(Uuid::from_u128).collect()).await.unwrap(), 70_000);
    // Keys that name nothing, and no keys at all.
    assert_eq!(found((KEYS..KEYS + 40_000).map(Uuid::from_u128).collect()).await.unwrap(), 1);
    assert_eq!(found(Vec::new()).await.unwrap(), 0);
    database.close().await;
}

#[tokio::test]
async fn seventy_thousand_keys_are_one_value() {
    let place = Place::new("among");
    all_are_found(&place.open(Purpose::Serving).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seventy_thousand_keys_are_one_value_of_postgresql() {
    let Some(database) = on_postgres().await else { return };
    all_are_found(&database).await;
}

//! What goes along with a commit: where the books stand from now on, and what was foreseen of the batch's notes. Where either
//! is otherwise, nothing stays.

use super::*;
use crate::database::rows::{Kept, Rows, Step};
use crate::seal::foreseen::{DIFFERS, Foreseen, compared};
use crate::seal::tables::table;
use crate::seal::writing::Name;
use postgres_kit::Fault;
use sea_orm::Value;
use uuid::Uuid;

fn head(version: i64) -> Step {
    let columns = vec![
        "business_id",
        "version",
        "entry_number",
        "recorded_at",
        "audit_sequence",
        "audit_hash",
        "sums",
        "signature",
    ];
    let number = |number: i64| Value::from(number);
    let values = [Uuid::from_u128(7).into(), number(version), number(3), number(4), number(5)];
    let hash = Value::from(b"h".to_vec());
    let values = values.into_iter().chain([hash]).chain(["s", "t"].map(Value::from)).collect();
    Step::Rows(Rows { table: "books", columns, key: vec!["business_id"], kept: Kept::Follows, values })
}

async fn a_head_follows_the_one_before(database: &Database) {
    database.migrate(&|_| String::new()).await.unwrap();
    let engine = database.read.get_database_backend();
    let mut writer = database.writer();
    let mut stood = async |version: i64| {
        let session = writer.begin().await.unwrap();
        session.execute_unprepared("DELETE FROM mentions").await.unwrap();
        let committed = writer.commit_with(session, vec![head(version)]).await;
        let asked = Statement::from_string(engine, "SELECT MAX(version) AS version FROM books");
        let row = database.read.query_one_raw(asked).await.unwrap().unwrap();
        (matches!(committed, Committing::Committed), row.try_get::<i64>("", "version").unwrap())
    };
    assert_eq!(stood(1).await, (true, 1));
    assert_eq!(stood(2).await, (true, 2));
    for elsewhere in [2, 1, 4] {
        assert_eq!(stood(elsewhere).await, (false, 2));
    }
    assert_eq!(stood(3).await, (true, 3));
    database.close().await;
}

#[tokio::test]
async fn a_head_that_does_not_follow_is_refused_with_its_batch_on_sqlite() {
    let place = Place::new("head");
    a_head_follows_the_one_before(&place.open(Purpose::Serving).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_does_not_follow_is_refused_with_its_batch_on_postgresql() {
    let Some(database) = on_postgres().await else { return };
    a_head_follows_the_one_before(&database).await;
}

/// What is known of a row and its seal, what is done, and whether that is what is noted then.
type Case<'c> = (Option<(Vec<Value>, &'c str)>, &'c [&'c str], bool);

/// A counter: its company, series, period, last number and day.
fn counter(last: i64, date: i64) -> Vec<Value> {
    let id = Uuid::from_u128(7);
    vec![id.into(), id.into(), "2026".into(), last.into(), date.into()]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_noted_is_what_was_foreseen_or_nothing_is_committed() {
    let Some(database) = on_postgres().await else { return };
    database.migrate(&|_| String::new()).await.unwrap();
    let counters = table("number_counters").unwrap();
    let mut writer = database.writer();
    let session = writer.begin().await.unwrap();
    let id = Uuid::from_u128(7);
    let first = format!("INSERT INTO number_counters VALUES ('{id}', '{id}', '2026', 1, 20000, '\\x01')");
    session.execute_unprepared(&first).await.unwrap();
    assert!(matches!(writer.commit(session).await, Committing::Committed));
    let name: Name = ("number_counters".into(), Some(crate::ids::BusinessId(id)), format!("{}/2026", id.simple()));
    let next = "UPDATE number_counters SET last = 2, seal = '\\x02'";
    let by_hand = "UPDATE number_counters SET last = 1, seal = '\\x01'";
    let cases: [Case<'_>; 8] = [
        (Some((counter(1, 20_000), "03")), &[next], false),
        (Some((counter(0, 20_000), "01")), &[next], false),
        // It changed to what it was to become anyway, behind everybody's back.
        (Some((counter(2, 20_000), "01")), &[next], false),
        (Some((counter(1, 19_999), "01")), &[next], false),
        (Some((counter(1, 20_000), "01")), &[], false),
        (None, &[next], false),
        (Some((counter(1, 20_000), "01")), &[next, by_hand, next], false),
        (Some((counter(1, 20_000), "01")), &[next], true),
    ];
    for (place, (known, done, met)) in cases.into_iter().enumerate() {
        let known = known.map(|(values, seal)| (values, seal.to_owned()));
        let after = counter(2, 20_000);
        let all: Vec<_> = known.iter().map(|known| Foreseen::of(counters, &name, known, &after)).collect();
        let session = writer.begin().await.unwrap();
        for statement in done {
            session.execute_unprepared(statement).await.unwrap();
        }
        match writer.commit_with(session, vec![Step::Statement(compared(&all).unwrap())]).await {
            Committing::Committed => assert!(met, "{place}"),
            Committing::Refused(error) => {
                assert_eq!(Fault::within(&error).map(Fault::code), Some(DIFFERS), "{place}: {error}");
                assert!(!met, "{place}");
            }
            Committing::Unknown(error) => panic!("{place}: {error}"),
        }
    }
    let asked = Statement::from_string(DbBackend::Postgres, "SELECT COUNT(*) AS n FROM touched");
    let left = database.read.query_one_raw(asked).await.unwrap().unwrap();
    assert_eq!(left.try_get::<i64>("", "n").unwrap(), 0);
    database.close().await;
}

use super::*;
use sea_orm::{DbBackend, EntityTrait, QueryResult, QueryTrait};
use uuid::Uuid;

mod things {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "things")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub number: i64,
        pub name: Option<String>,
        pub flag: bool,
        pub content: Option<Vec<u8>>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// What is told apart by two parts, one of which is read in a way of its own.
mod parts {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "parts")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub of: Uuid,
        #[sea_orm(primary_key, auto_increment = false)]
        pub place: i64,
        #[sea_orm(select_as = "text")]
        pub name: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

#[test]
fn whole_rows_are_asked_for_as_the_entity_asks_for_them() {
    for engine in [DbBackend::Sqlite, DbBackend::Postgres] {
        let key = (Uuid::from_u128(7), 3_i64);
        let one = parts::Entity::find_by_id(key).build(engine);
        assert!(one.sql.contains("CAST(") && one.sql.matches(" = ").count() == 2, "{}", one.sql);
        // Asked for anew, and as it is kept.
        for _ in 0..2 {
            assert_eq!(whole_of::<parts::Entity>(key).build(engine), one);
            assert_eq!(whole::<parts::Entity>().build(engine), parts::Entity::find().build(engine));
        }
        let other = whole_of::<things::Entity>(Uuid::from_u128(7)).build(engine);
        assert_eq!(other, things::Entity::find_by_id(Uuid::from_u128(7)).build(engine));
    }
}

/// Two things; the columns are in another order than the table's.
fn found() -> Answer {
    let mut answer = Answer::of(["number", "name", "id", "content", "flag"].map(str::to_owned));
    let first = [7_i64.into(), "one".into(), Uuid::from_u128(1).into(), vec![1_u8].into(), true.into()];
    let second = [8_i64.into(), Value::String(None), Uuid::from_u128(2).into(), Value::Bytes(None), Value::from(false)];
    first.into_iter().chain(second).for_each(|value| answer.add(value));
    answer
}

fn of(names: &[&str], values: Vec<Value>) -> Answer {
    let mut answer = Answer::of(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
    for value in values {
        answer.add(value);
    }
    answer
}

/// The same, by their places.
type All = (i64, Option<String>, Uuid, Option<Vec<u8>>, bool);

of_row! {
    #[derive(Debug, PartialEq)]
    struct Some {
        flag: bool,
        number: i64,
    }
}

#[test]
fn rows_are_read_by_what_their_columns_are_called_or_by_where_they_are() {
    let models = found().models::<things::Entity>().unwrap();
    let by_entity: Vec<QueryResult> = found().into_results().unwrap();
    let by_entity: Vec<things::Model> =
        by_entity.iter().map(|row| sea_orm::FromQueryResult::from_query_result(row, "").unwrap()).collect();
    assert_eq!((models.len(), found().len()), (2, 2));
    assert_eq!(models, by_entity);
    let some: Vec<Some> = found().read().unwrap();
    assert_eq!(some, [Some { flag: true, number: 7 }, Some { flag: false, number: 8 }]);
    let all: Vec<All> = found().read().unwrap();
    assert_eq!(all[1], (8, None, Uuid::from_u128(2), None, false));
    let values: Vec<_> = found().values_of(["flag", "id"]).unwrap().collect();
    assert_eq!(values[0], [Value::from(true), Uuid::from_u128(1).into()]);
    assert_eq!(of(&["n"], vec![1_i64.into(), 2_i64.into()]).column::<i64>().unwrap(), [1, 2]);
    assert!(Answer::default().read::<Some>().unwrap().is_empty());
    assert!(Answer::again(&[]).unwrap().models::<things::Entity>().unwrap().is_empty());
    assert!(of(&["flag", "number"], Vec::new()).read::<Some>().unwrap().is_empty());
}

#[test]
fn what_is_of_another_type_is_never_read_as_nothing() {
    let read = |value: Value| of(&["n"], vec![value]).column::<Option<i64>>();
    // Of which type an expression is that is nothing, no engine says.
    for nothing in [Value::BigInt(None), Value::String(None), Value::Uuid(None), Value::Bytes(None), Value::Bool(None)]
    {
        assert_eq!(read(nothing).unwrap(), [None]);
    }
    for other in [Value::from("7"), true.into(), Uuid::nil().into(), 7_i32.into()] {
        assert!(read(other).unwrap_err().to_string().contains("n holds nothing"));
    }
    assert!(of(&["n"], vec![Value::BigInt(None)]).column::<i64>().is_err());
    let spoilt = of(
        &["id", "number", "name", "flag", "content"],
        vec![Uuid::nil().into(), "7".into(), Value::String(None), true.into(), Value::Bytes(None)],
    );
    assert!(spoilt.models::<things::Entity>().unwrap_err().to_string().contains("things.number"));
}

#[test]
fn columns_that_are_missing_or_there_twice_or_left_over_are_refused() {
    let pair = || vec![Value::from(1_i64), 2_i64.into()];
    let refused = |answer: Answer| answer.read::<Some>().unwrap_err().to_string();
    assert!(refused(of(&["number", "other"], pair())).contains("no column named flag"));
    assert!(refused(of(&["flag", "flag"], pair())).contains("two columns named flag"));
    assert!(of(&["flag", "number"], pair()).models::<things::Entity>().is_err());
    for count in
        [of(&["a", "b"], pair()).read::<(i64,)>().err(), of(&["a", "b"], pair()).read::<(i64, i64, i64)>().err()]
    {
        assert!(count.unwrap().to_string().contains("answers 2 columns"));
    }
}

#[test]
fn entities_find_short_rows_by_place_and_by_name_and_long_ones_by_name() {
    let twice = of(&["id", "n", "id"], vec![1_i64.into(), 2_i64.into(), 3_i64.into()]);
    let row = twice.clone().into_result().unwrap().unwrap();
    assert_eq!(row.try_get_many_by_index::<(i64, i64, i64)>().unwrap(), (1, 2, 3));
    assert_eq!(row.try_get::<i64>("", "n").unwrap(), 2);
    assert!(row.try_get::<i64>("", "id").is_err());
    // As a whole database of sea-orm hands them on.
    let again = Answer::again(&twice.into_results().unwrap()).unwrap();
    assert_eq!(again.read::<(i64, i64, i64)>().unwrap(), [(1, 2, 3)]);
    let names: Vec<String> = (0..13).rev().map(|number| format!("n{number:02}")).collect();
    let mut long = Answer::of(names.clone());
    (0..26_i64).for_each(|number| long.add(number.into()));
    let rows = long.clone().into_results().unwrap();
    assert_eq!(rows[1].try_get::<i64>("", "n12").unwrap(), 13);
    let again = Answer::again(&rows).unwrap();
    let of = |answer: Answer| answer.values_of(["n00", "n12"]).unwrap().collect::<Vec<_>>();
    assert_eq!(of(again), of(long));
    let mut long = Answer::of(names.iter().cloned().chain(["n00".to_owned()]).collect::<Vec<_>>());
    (0..14_i64).for_each(|number| long.add(number.into()));
    assert!(long.into_results().unwrap_err().to_string().contains("two columns named n00"));
    assert!(Answer::default().into_result().unwrap().is_none());
}

/// A row that is counted as it is read, and after some of them nobody waits any more.
struct Counted;

std::thread_local! {
    static COUNTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    static READER: wanted::Wanted = wanted::Wanted::default();
}

/// So many are read when whoever asked goes away.
const LEFT_AT: usize = 5_000;

impl OfRow for Counted {
    const COLUMNS: Columns = Columns::Placed(1);

    fn of_row(row: &mut Row<'_>) -> Result<Self, DbErr> {
        COUNTED.set(COUNTED.get() + 1);
        if COUNTED.get() == LEFT_AT {
            READER.with(wanted::Wanted::no_more);
        }
        row.take::<i64>().map(|_| Self)
    }
}

#[tokio::test]
async fn what_is_made_of_rows_ends_within_a_portion_of_them_once_nobody_waits() {
    let all = 100_000_i64;
    let rows = || of(&["n"], (0..all).map(Value::from).collect());
    let reader = READER.with(Clone::clone);
    let made = reader.clone().by(async { (rows().read::<Counted>().err(), wanted::still()) }).await;
    assert!(made.0.is_some() && made.1.is_err(), "whoever goes on with what was read hears it as well");
    let counted = COUNTED.get();
    assert!((LEFT_AT..LEFT_AT + wanted::ROWS_BETWEEN_LOOKS).contains(&counted), "{counted} rows were read");
    let models = || of(&["id", "number", "name", "flag", "content"], things(3_000));
    assert!(reader.by(async { models().models::<things::Entity>() }).await.is_err());
    // What nobody in particular waits for is made to its end.
    assert_eq!(rows().read::<Counted>().unwrap().len(), 100_000);
    assert_eq!(models().models::<things::Entity>().unwrap().len(), 3_000);
}

fn things(count: i64) -> Vec<Value> {
    let thing = |number: i64| [Uuid::nil().into(), number.into(), Value::String(None), true.into(), Value::Bytes(None)];
    (0..count).flat_map(thing).collect()
}

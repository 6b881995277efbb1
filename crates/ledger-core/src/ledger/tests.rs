//! A ledger on SQLite, under a clock that the test sets.

mod leave;
mod new_days;

use super::*;
use crate::ids::UserId;
use crate::ids::counted::counted;
use crate::resource::registry::operations;
use ::books::audit::Origin;
use ::books::auth::{NewUser, user};
use ::books::cx::Expectation;
use ::books::database::{Following, Patience, Purpose};
use ::books::keys::Keys;
use masters::business::Businesses;
use masters::party::Parties;
use sea_orm::{EntityTrait, PaginatorTrait};
use std::path::PathBuf;

const PATIENCE: Patience = {
    const LONG: Duration = Duration::from_secs(30);
    Patience { connect: LONG, statement: LONG, writer: LONG }
};

const HOUR: i64 = 3_600_000_000;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("duet-{name}-{}.db", std::process::id())))
    }

    async fn open(&self) -> Arc<Ledger> {
        let url = format!("sqlite:{}", self.0.display());
        let database = DatabaseOptions {
            url,
            purpose: Purpose::Serving,
            pool_size: 2,
            readers: 2,
            page_cache_kib: 1024,
            log_budget: 64 << 20,
            patience: PATIENCE,
            following: Following::default(),
        };
        let tokens = TokenOptions {
            secret: vec![7; 32],
            issuer: "duet".into(),
            audience: "duet".into(),
            lifetime: Duration::from_hours(1),
        };
        let clock = Clock::fixed(Instant::parse("2026-11-20T09:30:00Z").unwrap());
        let options = LedgerOptions {
            database,
            tokens,
            write_queue: 16,
            answer_bytes: 0,
            remembered_bytes: 1 << 20,
            lane_bytes: 1 << 20,
            read_time: Duration::from_mins(1),
            clock,
            keys: Keys::of(b"master"),
            keys_are_new: false,
        };
        let ledger = Ledger::open(options).await.unwrap();
        ledger.migrate().await.unwrap();
        ledger
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-server", "-next"] {
            let mut path = self.0.clone().into_os_string();
            path.push(suffix);
            let _gone = std::fs::remove_file(path);
        }
    }
}

async fn owner(ledger: &Arc<Ledger>) -> Principal {
    let first = NewUser {
        email: "jo@harbour.example".into(),
        username: None,
        display_name: "Jo".into(),
        password: String::new(),
        is_system_admin: true,
        must_change_password: false,
    };
    let made = ledger.bootstrap(first, Some("a ferry at first light".into())).await.unwrap();
    assert!(made.is_some());
    let user = ledger.user("jo@harbour.example").await.unwrap();
    Principal {
        user: user.id,
        key: None,
        session: None,
        token_version: None,
        must_change_password: false,
        changes: ledger.remembered.changes(&ledger.database.read).await.unwrap(),
        books: None,
        is_system_admin: true,
        expires_at: Instant::from_micros(i64::MAX),
        recognised: None,
    }
}

fn making(
    resource: &'static ResourceOperations,
    (business, key): (Option<String>, Option<&str>),
    body: &str,
) -> WriteCall {
    WriteCall(Call {
        resource,
        verb: Verb::Create,
        business,
        id: None,
        query: Vec::new(),
        body: body.as_bytes().to_vec(),
        expectation: Expectation::Unsaid,
        idempotency_key: key.map(str::to_owned),
        origin: Origin::default(),
        agent: None,
        listens: false,
        at_least: None,
    })
}

async fn create(
    ledger: &Arc<Ledger>,
    principal: &Principal,
    resource: &'static ResourceOperations,
    place: (Option<String>, Option<&str>),
    body: &str,
) -> Result<Reply> {
    ledger.write_down(principal, making(resource, place, body)).await
}

/// A company, and a party that was made in it with a key: whether a repeat with that key is known.
struct Kept<'l> {
    ledger: &'l Arc<Ledger>,
    principal: Principal,
    company: String,
}

impl Kept<'_> {
    async fn party(&self, key: &str) -> Reply {
        let body = r#"{"name": "Elbe Books", "isCustomer": true, "isSupplier": false}"#;
        let place = (Some(self.company.clone()), Some(key));
        create(self.ledger, &self.principal, operations::<Parties>(), place, body).await.unwrap()
    }
}

async fn begin(ledger: &Arc<Ledger>) -> Kept<'_> {
    let principal = owner(ledger).await;
    let body = r#"{"name": "Harbour", "baseCurrency": "EUR"}"#;
    let made = create(ledger, &principal, operations::<Businesses>(), (None, None), body).await.unwrap();
    // A member since then.
    let changes = ledger.remembered.changes(&ledger.database.read).await.unwrap();
    let company = made.record.unwrap().0.to_string();
    Kept { ledger, principal: Principal { changes, ..principal }, company }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_ahead_and_back_forgets_no_key() {
    let place = Place::new("jumps");
    let ledger = place.open().await;
    let books = begin(&ledger).await;
    let first = books.party("first").await;
    assert!(!first.replayed);
    for hours in [25, 24 * 365, -50] {
        ledger.clock.set_by(hours * HOUR);
        // Known while it is wrong; and what is written then, and swept then, forgets nothing.
        assert!(books.party("first").await.replayed, "{hours} hours ahead");
        assert!(!books.party(&format!("{hours} hours ahead")).await.replayed);
        ledger.write_time(ledger.running().await.unwrap()).await.unwrap();
        ledger.clock.set_by(-hours * HOUR);
        let again = books.party("first").await;
        assert_eq!((again.replayed, again.json), (true, first.json.clone()), "{hours} hours ahead and back");
    }
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_counted_on_where_whoever_served_before_may_have_come_to() {
    let place = Place::new("numbers");
    let ledger = place.open().await;
    ledger.keep_numbers().await.unwrap();
    let taken = ledger.clock.numbers_left();
    ledger.keep_numbers().await.unwrap();
    assert_eq!((taken > 0, ledger.clock.numbers_left()), (true, taken), "there are enough");
    let first = ledger.clock.record();
    while ledger.clock.numbers_left() > taken / 2 {
        ledger.clock.record();
    }
    ledger.keep_numbers().await.unwrap();
    assert_eq!(ledger.clock.numbers_left(), taken / 2 + taken);
    let last = ledger.clock.record();
    ledger.close().await;
    let ledger = place.open().await;
    // None are used that were not taken from the database.
    assert_eq!(ledger.clock.record().get_version_num(), 7);
    ledger.keep_numbers().await.unwrap();
    let next = ledger.clock.record();
    assert_eq!((first, next), (counted(0).unwrap(), counted(2 * taken).unwrap()));
    assert!(first < last && last < next);
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_forgotten_when_the_books_were_served_for_a_day_since() {
    let place = Place::new("a-day");
    let ledger = place.open().await;
    let books = begin(&ledger).await;
    let first = books.party("first").await;
    ledger.clock.advance(Duration::from_hours(24));
    ledger.keep_time().await.unwrap();
    assert!(books.party("first").await.replayed);
    ledger.clock.advance(Duration::from_hours(1));
    ledger.keep_time().await.unwrap();
    let left = schema::idempotency::Entity::find().count(&ledger.database.read).await.unwrap();
    assert_eq!(left, 0, "what bounds the table");
    let again = books.party("first").await;
    assert_ne!((again.replayed, again.record), (true, first.record));
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn time_stands_still_while_nobody_serves() {
    let place = Place::new("still");
    let ledger = place.open().await;
    let books = begin(&ledger).await;
    books.party("first").await;
    ledger.clock.advance(Duration::from_hours(20));
    let (principal, company) = (books.principal.clone(), books.company.clone());
    let stood = ledger.running().await.unwrap().now(&ledger.clock);
    ledger.close().await;
    let ledger = place.open().await;
    assert_eq!(ledger.running().await.unwrap().now(&ledger.clock), stood);
    // Started with a clock that is wrong by years.
    ledger.clock.set_by(3 * 365 * 24 * HOUR);
    let changes = ledger.remembered.changes(&ledger.database.read).await.unwrap();
    let books = Kept { ledger: &ledger, principal: Principal { changes, ..principal }, company };
    assert!(books.party("first").await.replayed);
    ledger.close().await;
}

#[tokio::test]
async fn nobody_is_counted_in_a_company_that_they_only_name() {
    let place = Place::new("proved");
    let ledger = place.open().await;
    let jo = owner(&ledger).await;
    let made = create(
        &ledger,
        &jo,
        operations::<Businesses>(),
        (None, None),
        r#"{"name": "Harbour Trading", "baseCurrency": "EUR"}"#,
    );
    let company = BusinessId(made.await.unwrap().record.unwrap().0.0);
    let jo = Principal { changes: ledger.remembered.changes(&ledger.database.read).await.unwrap(), ..jo };
    let stranger = Principal { user: UserId(ledger.clock.identifier()), ..jo.clone() };
    let proved = async |who: &Principal, named| {
        let proved = ledger.proved(who, named).await;
        (proved.account(), proved.company())
    };
    assert_eq!(proved(&jo, Some(company)).await, (jo.user, Some(company)));
    assert_eq!(proved(&jo, None).await, (jo.user, None));
    assert_eq!(proved(&stranger, Some(company)).await, (stranger.user, None));
    let nowhere = BusinessId(ledger.clock.identifier());
    assert_eq!(proved(&jo, Some(nowhere)).await, (jo.user, None));
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_changed_again_and_again_in_one_batch_is_what_was_written() {
    let place = Place::new("again");
    let ledger = place.open().await;
    owner(&ledger).await;
    let change = |names: &'static [&'static str]| {
        ledger.write(None, move |transaction, _| {
            Box::pin(async move {
                for name in names {
                    let name = sea_orm::sea_query::Expr::value(*name);
                    user::Entity::update_many().col_expr(user::Column::DisplayName, name).exec(transaction).await?;
                }
                Ok(())
            })
        })
    };
    for names in [&["Ada", "Bea", "Cid"][..], &["Dan"], &["Eva", "Fay"]] {
        change(names).await.unwrap();
        let checks = ledger.verify_installation().await.unwrap();
        assert!(checks.iter().all(|check| check.ok), "{names:?}: {checks:?}");
    }
}

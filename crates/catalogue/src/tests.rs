#![cfg(test)]

use super::*;
use std::time::Duration;

const PATIENCE: Patience =
    Patience { connect: Duration::from_secs(5), statement: Duration::from_secs(5), writer: Duration::from_secs(5) };

fn of(host: &str) -> Tenant {
    let (place, state) = (Place::Folder, State::Active);
    Tenant { host: host.into(), place, secrets: None, state, turn: 1, version: "0.1.0".into() }
}

#[tokio::test]
async fn who_changes_a_tenant_has_seen_it_as_it_is() {
    let folder = std::env::temp_dir().join(format!("duet-catalogue-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let url = format!("sqlite:{}", folder.join("catalogue.db").display());
    let catalogue = Catalogue::open(&url, PATIENCE).await.unwrap();
    let seen = of("one.example");
    assert!(catalogue.add(&seen).await.unwrap());
    assert!(!catalogue.add(&Tenant { state: State::Suspended, ..seen.clone() }).await.unwrap());
    assert_eq!(catalogue.find("one.example").await.unwrap(), Some(seen.clone()));
    assert_eq!(catalogue.find("two.example").await.unwrap(), None);
    let place = Place::Cluster { cluster: "north".into(), database: "duet_one".into() };
    let moved = Tenant { place, secrets: Some("hidden".into()), ..seen.clone() };
    let changed = catalogue.change(&seen, moved.clone()).await.unwrap().unwrap();
    assert_eq!((changed.turn, &changed.place), (2, &moved.place));
    // Who has seen it as it was before changes nothing any more, nor takes it out.
    assert_eq!(catalogue.change(&seen, of("one.example")).await.unwrap(), None);
    assert!(!catalogue.remove(&seen).await.unwrap());
    catalogue.served_by("one.example", "0.2.0").await.unwrap();
    catalogue.close().await;
    // What is opened again is what was kept.
    let again = Catalogue::open(&url, PATIENCE).await.unwrap();
    let kept = Tenant { version: "0.2.0".into(), ..changed };
    assert_eq!(again.list().await.unwrap().as_slice(), std::slice::from_ref(&kept));
    assert!(again.remove(&kept).await.unwrap());
    assert_eq!(again.list().await.unwrap(), []);
    again.close().await;
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_database_of_a_cluster_is_where_the_cluster_is() {
    let url = "postgres://duet:a%2Fb@one:5432,two:5433/postgres?sslmode=verify-full";
    let cluster = Cluster::of("north", url).unwrap();
    let name = Cluster::name_for("Acme-Books.example", "01J9-abcdefghij");
    assert_eq!(name, "duet_acme_books_example_01j9abcd");
    assert_eq!(
        cluster.url_of(&name),
        "postgres://duet:a%2Fb@one:5432,two:5433/duet_acme_books_example_01j9abcd?sslmode=verify-full"
    );
    for (name, url) in [("", url), ("no spaces", url), ("north", "sqlite:books.db"), ("north", "postgres://")] {
        assert_eq!(Cluster::of(name, url), None, "{name} {url}");
    }
    assert!(!format!("{cluster:?}").contains("a%2Fb"));
}

//! A party that very many became part of: what follows its names asks by one value, however many they are.

use crate::harness::books::{connected, literal};
use crate::harness::http::Request;
use crate::harness::server::{DIALECTS, authorised};
use crate::harness::shop::{Shop, id};
use crate::harness::{Dialect, Engine, Options, Server};
use compare::document::spelled_out;
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};

/// More than any engine binds, and far more than conditions may be chained.
const MANY: usize = 70_000;
const SOME: usize = 2_000;

/// So many parties that became part of one, written as the merges would have left them.
fn became_part_of(server: &Server, party: &str, count: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let books = connected(server.database_url()).await.unwrap();
        let engine = books.get_database_backend();
        let (columns, fresh, own) = match server.engine {
            Engine::Sqlite => ("pragma_table_info('parties')", "randomblob(16)", literal(Engine::Sqlite, party)),
            Engine::Postgres => (
                "(SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'parties') AS columns",
                "gen_random_uuid()",
                format!("'{party}'"),
            ),
        };
        let rows =
            books.query_all_raw(Statement::from_string(engine, format!("SELECT name FROM {columns}"))).await.unwrap();
        let names: Vec<String> = rows.iter().map(|row| row.try_get("", "name").unwrap()).collect();
        let values: Vec<String> = names
            .iter()
            .map(|name| match name.as_str() {
                "id" => fresh.to_owned(),
                "merged_into_id" => "parties.id".into(),
                name => format!("parties.\"{name}\""),
            })
            .collect();
        let insert = format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
             INSERT INTO parties (\"{}\") SELECT {} FROM parties, n WHERE parties.id = {own}",
            names.join("\", \""),
            values.join(", ")
        );
        books.execute_unprepared(&insert).await.unwrap();
        books.close().await.unwrap();
    });
}

/// What lists and reports are asked for, by a party.
fn that_ask_by_party(server: &Server, dialect: Dialect) -> Vec<String> {
    let prefix = if dialect == Dialect::A { "/a/api/" } else { "/b/api/" };
    let document = spelled_out(server.send(&Request::new("GET", "/swagger/v1/swagger.json")).expect(200).json());
    let by_party = |parameter: &Value| parameter["name"] == "partyId" && parameter["in"] == "query";
    let asks = |operation: &Value| operation["parameters"].as_array().is_some_and(|all| all.iter().any(by_party));
    let paths = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(path, _)| path.starts_with(prefix) && !path.contains(".csv"));
    paths.filter(|(_, operations)| asks(&operations["get"])).map(|(path, _)| path.clone()).collect()
}

fn follows_its_names(engine: Engine) {
    let Some(server) = Server::start(engine, Options::default()) else { return };
    let shop = Shop::open(&server, Dialect::B);
    let twin = shop.company.party(json!({"name": "Customer again"}));
    let lines = json!([
        {"accountId": shop.company.account("1200"), "partyId": id(&twin), "debit": 10},
        {"accountId": shop.company.account("4000"), "credit": 10},
    ]);
    let journal = json!({"date": "2026-03-10", "narration": "By another name", "lines": lines});
    shop.make("journals", &journal);
    let mut draft = journal;
    draft["status"] = json!("draft");
    shop.make("journals", &draft);
    shop.act("POST", "parties", &twin, "merge", Some(&json!({"intoPartyId": shop.customer}))).expect(200);
    became_part_of(&server, &shop.customer, SOME);
    let ask = |dialect: Dialect, path: &str| {
        let path = path.replace("{businessId}", &shop.company.id) + &format!("?partyId={}", shop.customer);
        let request = authorised(Request::new("GET", &path), &shop.company.token);
        shop.company.say(dialect, request.header("X-Business-Id", &shop.company.id))
    };
    for dialect in DIALECTS {
        let paths = that_ask_by_party(&server, dialect);
        assert!(paths.len() > 15, "{paths:?}");
        for path in paths {
            let said = ask(dialect, &path);
            assert_eq!(said.status, 200, "{path} of a party with {SOME} names: {}", said.title);
        }
        for path in ["", &format!("/{}", shop.customer), &format!("/{}/open-items", shop.customer)] {
            shop.company.ask(dialect, "GET", "parties", path, None).expect(200);
        }
    }
    became_part_of(&server, &shop.customer, MANY);
    for resource in ["journals", "entries"] {
        let path = format!("?partyId={}", shop.customer);
        let found = shop.ask("GET", resource, &path, None).expect(200).data;
        // What was posted by another name; of journals the one that waits as well.
        assert_eq!(found["pagination"]["totalCount"], if resource == "journals" { 2 } else { 1 }, "{found}");
    }
}

#[test]
fn a_party_of_very_many_names_is_found_by_all_of_them_on_sqlite() {
    follows_its_names(Engine::Sqlite);
}

#[test]
fn a_party_of_very_many_names_is_found_by_all_of_them_on_postgres() {
    follows_its_names(Engine::Postgres);
}

//! The steps as they were: what they made of old books, and that the first schema is what they came to.

use super::all;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};
use sea_orm_migration::{MigratorTrait, SchemaManager};
use std::collections::BTreeSet;
use std::ops::Range;

pub(super) async fn in_memory() -> (DatabaseConnection, sqlite_kit::Failure) {
    let opening = sqlite_kit::Opening {
        path: ":memory:".into(),
        access: sqlite_kit::Access::Write,
        cache_kib: 1_024,
        statements: 16,
        patience: std::time::Duration::ZERO,
    };
    sqlite_kit::proxied(&opening).await.unwrap()
}

pub(super) async fn up(database: &DatabaseConnection, which: Range<usize>) {
    for step in &all()[which] {
        step.up(&SchemaManager::new(database)).await.unwrap();
    }
}

async fn number(database: &DatabaseConnection, sql: &str) -> i64 {
    let asked = Statement::from_string(DbBackend::Sqlite, sql);
    database.query_one_raw(asked).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

async fn texts(database: &DatabaseConnection, sql: &str) -> BTreeSet<String> {
    let asked = Statement::from_string(DbBackend::Sqlite, sql);
    let rows = database.query_all_raw(asked).await.unwrap();
    rows.into_iter().map(|row| row.try_get::<String>("", "text").unwrap()).collect()
}

/// Everything that a schema says, one thing a line, whatever its order and the names of what guards it.
async fn said(database: &DatabaseConnection) -> BTreeSet<String> {
    let mut all = texts(
        database,
        "SELECT t.name || '.' || c.name || ' ' || lower(c.type) || CASE WHEN c.\"notnull\" THEN ' not null' ELSE '' END \
           || CASE WHEN c.pk > 0 THEN ' key ' || c.pk ELSE '' END AS text \
         FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name <> 'seaql_migrations'",
    )
    .await;
    all.extend(
        texts(
            database,
            "SELECT t.name || ' refers (' || group_concat(f.\"from\" ) || ') to ' || f.\"table\" AS text \
             FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table' GROUP BY t.name, f.id",
        )
        .await,
    );
    all.extend(
        texts(
            database,
            "SELECT t.name || CASE WHEN i.\"unique\" THEN ' unique (' ELSE ' found by (' END \
               || (SELECT group_concat(x.name, ', ') FROM pragma_index_info(i.name) x) || ')' \
               || COALESCE((SELECT substr(s.sql, instr(s.sql, ' WHERE ')) FROM sqlite_schema s \
                   WHERE s.name = i.name AND instr(s.sql, ' WHERE ') > 0), '') AS text \
             FROM sqlite_schema t JOIN pragma_index_list(t.name) i WHERE t.type = 'table' AND i.origin <> 'pk' \
             AND t.name <> 'seaql_migrations'",
        )
        .await,
    );
    for trigger in texts(database, "SELECT sql AS text FROM sqlite_schema WHERE type = 'trigger'").await {
        let words: Vec<&str> = trigger.split_whitespace().skip(3).collect();
        // What is noted of a table follows from its columns.
        let notes = words.contains(&"touched");
        let said = if notes { words[..4].join(" ") + " is noted" } else { words.join(" ") };
        all.insert(said.replace('"', "").replace(" are append-only", " is append-only"));
    }
    all
}

/// A company, its accounts, a party; a journal of 30.00 that was changed to 20.00.
const OLD_BOOKS: &[&str] = &[
    "INSERT INTO businesses (id, name, name_key, base_currency, timezone, fiscal_year_start_month, \
     fiscal_year_start_day, settings, status, tags, search, version, created_at, created_by, updated_at, updated_by) \
     VALUES (X'01', 'B', 'b', 'EUR', 'UTC', 1, 1, '{}', 'active', '[]', 'b', 1, 0, X'09', 0, X'09')",
    "INSERT INTO number_series (business_id, id, type, name, name_key, pattern, first_number, reset_on, allow_manual, \
     chronological, is_default, status, search, version, created_at, created_by, updated_at, updated_by) VALUES \
     (X'01', X'08', 'journal', 'J', 'j', 'J{000}', 1, 'never', 0, 'off', 1, 'active', 'j', 1, 0, X'09', 0, X'09')",
    "INSERT INTO accounts (business_id, id, code, name, name_key, type, class, is_group, allow_manual_posting, status, \
     tags, search, version, created_at, created_by, updated_at, updated_by) VALUES \
     (X'01', X'02', '1200', 'R', 'r', 'receivable', 'asset', 0, 1, 'active', '[]', 'r', 1, 0, X'09', 0, X'09'), \
     (X'01', X'03', '4000', 'I', 'i', 'income', 'income', 0, 1, 'active', '[]', 'i', 1, 0, X'09', 0, X'09'), \
     (X'01', X'05', '1350', 'Goods delivered, not invoiced', 'g', 'currentAsset', 'asset', 0, 1, 'active', '[]', 'g', \
      1, 0, X'09', 0, X'09'), \
     (X'01', X'06', '2150', 'Renamed', 'r', 'currentLiability', 'liability', 0, 1, 'active', '[]', 'r', \
      1, 0, X'09', 0, X'09')",
    "INSERT INTO parties (business_id, id, name, name_key, is_customer, is_supplier, kind, contacts, status, blocked, \
     tags, search, version, created_at, created_by, updated_at, updated_by) VALUES \
     (X'01', X'04', 'P', 'p', 1, 0, 'company', '[]', 'active', 'none', '[]', 'p', 1, 0, X'09', 0, X'09')",
];

#[tokio::test]
async fn old_books_get_what_came_later() {
    let (database, failure) = in_memory().await;
    up(&database, 0..8).await;
    for statement in OLD_BOOKS {
        database.execute_unprepared(statement).await.unwrap();
    }
    for (entry, cents) in [(1, 300_000), (2, -300_000), (3, 200_000)] {
        for (position, account, party, amount) in [(1, "X'02'", "X'04'", cents), (2, "X'03'", "NULL", -cents)] {
            let line = format!(
                "INSERT INTO entry_lines (business_id, entry_number, position, account_id, party_id, date, amount, \
                 currency, currency_amount) VALUES (X'01', {entry}, {position}, {account}, {party}, '2026-01-05', \
                 {amount}, 'EUR', {amount})"
            );
            database.execute_unprepared(&line).await.unwrap();
        }
        let seal = format!(
            "INSERT INTO entries (business_id, id, number, date, recorded_at, recorded_by, kind, document_kind, \
             document_id, document_version, total, search) VALUES (X'01', X'1{entry}', {entry}, '2026-01-05', {entry}, \
             X'09', 'normal', 'journal', X'07', 1, 0, '')"
        );
        database.execute_unprepared(&seal).await.unwrap();
    }
    for statement in [
        "INSERT INTO accounts (business_id, id, code, name, name_key, type, class, is_group, allow_manual_posting, \
         status, tags, search, version, created_at, created_by, updated_at, updated_by) VALUES \
         (X'01', X'019A0000000000000000000000000A11', '2160', 'Goods', 'g', 'currentLiability', 'liability', 0, 1, \
          'active', '[]', 'g', 1, 0, X'09', 0, X'09')",
        "UPDATE businesses SET system_accounts = \
         '{\"goodsReceivedNotInvoiced\":\"019a0000-0000-0000-0000-000000000a11\"}'",
    ] {
        database.execute_unprepared(statement).await.unwrap();
    }
    up(&database, 8..all().len()).await;
    assert_eq!(number(&database, "SELECT COUNT(*) FROM open_items").await, 1);
    let keepers = |keeper, code| {
        format!(
            "SELECT COUNT(*) FROM accounts WHERE keeper = '{keeper}' AND code = '{code}' AND NOT allow_manual_posting"
        )
    };
    assert_eq!(number(&database, &keepers("accruals", "2160")).await, 1);
    assert_eq!(
        number(&database, "SELECT COUNT(*) FROM accounts WHERE keeper = 'openItems' AND code = '1200'").await,
        1
    );
    assert_eq!(number(&database, "SELECT COUNT(*) FROM accounts WHERE keeper = 'none' AND code = '4000'").await, 1);
    assert_eq!(number(&database, "SELECT base_open FROM open_items").await, 200_000);
    assert_eq!(number(&database, "SELECT SUM(base) FROM open_item_moves").await, 200_000);
    assert_eq!(number(&database, "SELECT COUNT(*) FROM open_item_moves").await, 3);
    assert_eq!(number(&database, "SELECT COUNT(*) FROM number_series").await, 13);
    // Goods wait on an account that nobody posts to by hand; one that was made somebody's own stays so.
    let by_hand = "SELECT COUNT(*) FROM accounts WHERE allow_manual_posting AND code IN ('1350', '2150')";
    assert_eq!(number(&database, by_hand).await, 1);
    failure.told().unwrap();
}

/// What is said of the old schema and not of the first one, and the other way round.
const GONE: &[&str] = &[
    // They are counted by where they stand, and not by their kind alone.
    "AFTER DELETE ON documents BEGIN UPDATE document_counts SET count = count - 1 WHERE business_id = OLD.business_id \
     AND kind = OLD.kind; END",
    // Facts that were brought over had no seal at first; now they come with it.
    "AFTER DELETE ON stock_facts is noted",
    "AFTER INSERT ON documents BEGIN INSERT INTO document_counts (business_id, kind, count) VALUES (NEW.business_id, \
     NEW.kind, 1) ON CONFLICT (business_id, kind) DO UPDATE SET count = count + 1; END",
    "AFTER UPDATE ON stock_facts is noted",
    // They lie by the item that they moved.
    "BEFORE INSERT ON open_item_moves WHEN EXISTS (SELECT 1 FROM open_item_moves WHERE business_id = NEW.business_id AND \
     id = NEW.id) BEGIN SELECT RAISE(ABORT, 'open_item_moves is append-only'); END",
    "BEFORE UPDATE ON stock_facts WHEN OLD.seal <> '' BEGIN SELECT RAISE(ABORT, 'stock_facts is append-only'); END",
    // It is the hash of the record before.
    "audit_log.previous_hash text not null",
    // Who asks for lines by their names asks what these were made of.
    "document_lines found by (business_id, id)",
    // Nobody asks for the days of an item's lines but of adjustments.
    "document_lines found by (business_id, item_id, date) WHERE item_id IS NOT NULL",
    // Facts are found by their entries and their days, and tell of the lines of bills.
    "document_lines found by (business_id, tax_code_id, date) WHERE tax_code_id IS NOT NULL",
    // What is kept of the document says it.
    "document_lines.base_tax integer not null",
    "document_lines.net integer not null",
    "document_lines.party_id uuid_text",
    "document_lines.tax integer not null",
    // They end in the identifier now, and say what else lists are narrowed by.
    "documents found by (business_id, id) WHERE status = 'draft'",
    "documents found by (business_id, kind, date, id)",
    "documents found by (business_id, kind, stage, date) WHERE stage IS NOT NULL",
    "documents found by (business_id, kind, updated_at, id)",
    "documents found by (business_id, party_id, kind, date) WHERE party_id IS NOT NULL",
    // Nobody read them.
    "documents unique (business_id, kind, external_id)",
    // Words are kept as letters.
    // It stands in the audit log, once.
    "documents.content lean not null",
    "entries found by (business_id, date) WHERE kind = 'opening'",
    "entries found by (business_id, date) WHERE kind = 'yearEnd'",
    // They are not said where the number beside them says it.
    "entry_lines.currency_amount integer not null",
    "open_item_moves found by (business_id, open_item_id)",
    "open_item_moves.id uuid_text not null key 2",
    "open_item_moves.open_item_id uuid_text not null",
    // Those of documents are called as these are.
    "open_items found by (business_id, document_id)",
    // One says all that is asked of what is open.
    "open_items found by (business_id, due_date) WHERE open <> 0",
    "open_items found by (business_id, party_id) WHERE open <> 0",
    "progress.begun integer not null",
    "stock_lines.asked_cost integer",
    "stock_lines.booked integer not null",
    "stock_lines.cost_account_id uuid_text not null",
    "stock_lines.inventory_account_id uuid_text not null",
    "stock_lines.line_no integer not null",
    "stock_lines.returns_line_id uuid_text",
    "stock_moves found by (business_id, document_id)",
    "tax_facts found by (business_id, document_id)",
    "tax_facts found by (business_id, tax_code_id, date) WHERE tax_code_id IS NOT NULL",
    "tax_facts.base integer not null",
    // Their entry says it.
    "tax_facts.recorded_at integer not null",
    "tax_facts.tax integer not null",
];
/// Sums that are made of the rows when they come over.
const MADE: [&str; 10] = [
    "cash_days",
    "document_counts",
    "party_months",
    "search_blocks",
    "search_waiting",
    "tax_months",
    "trade_months",
    "webhooks",
    "webhook_cursors",
    "webhook_deliveries",
];

const NEW: &[&str] = &[
    "BEFORE INSERT ON open_item_moves WHEN EXISTS (SELECT 1 FROM open_item_moves WHERE business_id = NEW.business_id AND \
     open_item_id = NEW.open_item_id AND id = NEW.id) BEGIN SELECT RAISE(ABORT, 'open_item_moves is append-only'); END",
    // There were no trials.
    "BEFORE UPDATE ON businesses WHEN NEW.is_trial IS NOT OLD.is_trial OR NEW.told_today IS NOT NULL AND NOT NEW.is_trial \
     BEGIN SELECT RAISE(ABORT, 'a company stays real or a trial'); END",
    "BEFORE UPDATE ON stock_facts BEGIN SELECT RAISE(ABORT, 'stock_facts is append-only'); END",
    // Told of old books when they come over.
    "account_days.lines integer not null",
    "account_months.lines integer not null",
    // Old books have the states of a record beside each other, and contents with their documents.
    "audit_log.record lean",
    "businesses.is_trial boolean not null",
    "businesses.told_today lean",
    "document_lines found by (id) WHERE source_line_id IS NOT NULL",
    "document_lines found by (item_id) WHERE item_id IS NOT NULL",
    "document_lines found by (item_id, date) WHERE kind = 'A'",
    "document_lines found by (tax_code_id, date) WHERE kind NOT IN ('I', 'N', 'B', 'D')",
    "documents found by (business_id, kind, base_total, id, date)",
    "documents found by (business_id, kind, base_total, id, stage, due_date) WHERE stage IN ('o', 'h')",
    "documents found by (business_id, kind, created_at, id)",
    "documents found by (business_id, kind, date, id, stage, due_date) WHERE stage IN ('o', 'h')",
    "documents found by (business_id, kind, date, id, status) WHERE status = 'd'",
    "documents found by (business_id, kind, date, id, status) WHERE status = 'v'",
    "documents found by (business_id, kind, date, id, status, stage, due_date, subkind, currency, base_total)",
    "documents found by (business_id, kind, due_date, date, id) WHERE due_date IS NOT NULL AND status = 'p'",
    "documents found by (business_id, kind, reference, date, id) WHERE reference IS NOT NULL",
    "documents found by (business_id, kind, updated_at, id, date)",
    "documents found by (business_id, party_id, kind, date, id, stage) WHERE party_id IS NOT NULL",
    "documents unique (business_id, kind, external_id) WHERE external_id IS NOT NULL",
    // Told of old books when they come over: when what is open is due.
    "documents.content lean",
    "documents.due_date lean",
    "documents.record integer",
    "entries found by (business_id, date) WHERE kind = 'b'",
    "entries found by (business_id, date) WHERE kind = 'y'",
    "entry_lines.currency_amount integer",
    "open_item_moves.id uuid_text not null key 3",
    "open_item_moves.open_item_id uuid_text not null key 2",
    "open_items found by (business_id, party_id, currency, due_date, date, account_id, kind, open, base_open) WHERE open <> 0",
    "open_items found by (document_id) WHERE document_id <> id",
    // None are given away in old books, which have none that were counted.
    "running_time.identifiers integer not null",
    // What went out when there was less than that; told of old books when they come over.
    "stock_lines.was_missing boolean not null",
    "tax_facts.base integer",
    "tax_facts.tax integer",
];

/// Tables whose rows stand in the key now: there is no other place of theirs that could be named.
const IN_THEIR_KEY: [&str; 4] = ["entries", "entry_lines", "open_item_moves", "tax_facts"];

/// Indexes that the company stood in front of, which an identifier leads that no other company has.
const LED_BY_OWN: &[(&str, &str)] = &[
    ("allocations found by", "source_document_id)"),
    ("allocations found by", "target_document_id)"),
    ("audit_log found by", "resource_id, sequence)"),
    ("document_lines found by", "source_line_id) WHERE source_line_id IS NOT NULL"),
    ("entries found by", "document_id)"),
    ("entries found by", "reverses_id) WHERE reverses_id IS NOT NULL"),
    ("entries unique", "id)"),
    ("progress found by", "document_id)"),
    ("progress found by", "item_id, kind) WHERE item_id IS NOT NULL"),
    ("progress found by", "source_line_id) WHERE source_line_id IS NOT NULL"),
    ("progress_moves found by", "document_id)"),
    ("progress_moves found by", "line_id)"),
    ("tax_facts found by", "settles_id) WHERE settles_id IS NOT NULL"),
];

/// How what is said of a column reads whose values are kept in fewer bytes than they were.
fn leaned(said: BTreeSet<String>) -> BTreeSet<String> {
    let lean: BTreeSet<String> = migrations::first::tables()
        .iter()
        .flat_map(|table| {
            let seal = table.columns().filter(|column| *column == "seal");
            let lean = table.days().chain(table.packed()).chain(table.digests()).chain(table.called()).chain(seal);
            lean.map(|column| format!("{}.{column}", table.name())).collect::<Vec<_>>()
        })
        .collect();
    let lean = |line: String| match line.split_once(' ') {
        Some((column, rest)) if lean.contains(column) => {
            let kinds = ["text", "integer", "blob"];
            let rest = kinds.iter().find_map(|kind| rest.strip_prefix(kind));
            format!("{column} lean{}", rest.unwrap())
        }
        _ => line,
    };
    said.into_iter().map(lean).collect()
}

#[tokio::test]
async fn the_first_schema_is_what_the_steps_came_to_but_for_what_is_named() {
    let ((old, failure_of_old), (new, failure_of_new)) = (in_memory().await, in_memory().await);
    up(&old, 0..all().len()).await;
    migrations::noting::make(&old).await.unwrap();
    migrations::Migrator::up(&new, Some(1)).await.unwrap();
    let (old, new) = (leaned(said(&old).await), leaned(said(&new).await));
    let old: BTreeSet<String> = old
        .into_iter()
        .map(|line| {
            let by_place = |line: String, table| {
                line.replace(
                    &format!(" OR (NEW.rowid > 0 AND EXISTS (SELECT 1 FROM {table} WHERE rowid = NEW.rowid))"),
                    "",
                )
            };
            IN_THEIR_KEY.into_iter().fold(line, by_place)
        })
        .collect();
    let own = |lead: &str| LED_BY_OWN.iter().map(|(what, columns)| format!("{what} ({lead}{columns}")).collect();
    let (was_led, is_led): (BTreeSet<String>, BTreeSet<String>) = (own("business_id, "), own(""));
    assert!(was_led.is_subset(&old) && is_led.is_subset(&new), "{new:#?}");
    let old: BTreeSet<String> = old.difference(&was_led).cloned().collect();
    let new: BTreeSet<String> = new.difference(&is_led).cloned().collect();
    let gone: Vec<&str> = old.difference(&new).map(String::as_str).collect();
    let came: Vec<&str> = new
        .difference(&old)
        .map(String::as_str)
        .filter(|line| !MADE.iter().any(|table| line.split([' ', '.']).any(|word| word == *table)))
        .collect();
    assert_eq!((gone.as_slice(), came.as_slice()), (GONE, NEW), "\ngone {gone:#?}\nnew {came:#?}");
    failure_of_old.told().unwrap();
    failure_of_new.told().unwrap();
}

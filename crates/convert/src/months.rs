//! What is kept by month, and how many documents stand alike, made of the rows that came over: books of before kept no such
//! sums.

use crate::codes::CODES;
use crate::place::Place;
use sea_orm::{DbBackend, DbErr};

/// The tables that are made where the books they come from do not have them.
pub(crate) const MADE: [&str; 7] =
    ["cash_days", "document_counts", "party_months", "search_blocks", "search_waiting", "tax_months", "trade_months"];

const COUNTS: &str = "INSERT INTO document_counts (business_id, kind, standing, count) \
     SELECT business_id, kind, COALESCE(stage, status), COUNT(*) FROM documents GROUP BY 1, 2, 3";

/// Words are looked for in all of them, until batches make blocks.
const SEARCHED: &str = "INSERT INTO search_waiting (business_id, document_id) SELECT business_id, id FROM documents";

/// What accounts that hold no money were moved by in entries that moved money.
const CASH: &str = "INSERT INTO cash_days (business_id, date, account_id, document_kind, kind, amount) \
     SELECT l.business_id, l.date, l.account_id, e.document_kind, e.kind, CAST(SUM(l.amount) AS bigint) FROM entry_lines AS l \
     JOIN entries AS e ON e.business_id = l.business_id AND e.number = l.entry_number \
     JOIN accounts AS a ON a.business_id = l.business_id AND a.id = l.account_id \
     WHERE a.type NOT IN ('bank', 'cash', 'creditCard') AND EXISTS (SELECT 1 FROM entry_lines AS m \
       JOIN accounts AS h ON h.business_id = m.business_id AND h.id = m.account_id \
       WHERE m.business_id = l.business_id AND m.entry_number = l.entry_number AND h.type IN ('bank', 'cash', 'creditCard')) \
     GROUP BY 1, 2, 3, 4, 5";

/// Makes the sums that the books they come from do not have.
pub(crate) async fn make(from: &Place, new: &Place) -> Result<(), DbErr> {
    let there = from.tables().await?;
    if !there.iter().any(|table| table == "document_counts") {
        new.run(COUNTS).await?;
    }
    if !there.iter().any(|table| table == "search_waiting") {
        new.run(SEARCHED).await?;
    }
    if !there.iter().any(|table| table == "cash_days") {
        new.run(CASH).await?;
    }
    if !there.iter().any(|table| table == "party_months") {
        new.run(&of_parties(new.engine())).await?;
    }
    if !there.iter().any(|table| table == "tax_months") {
        new.run(&of_tax(new.engine())).await?;
    }
    if !there.iter().any(|table| table == "trade_months") {
        for (grouping, of, is_net) in
            [("party", "d.party_id", true), ("item", "l.item_id", true), ("otherSide", "", false)]
        {
            new.run(&of_trade(new.engine(), grouping, of, is_net)).await?;
        }
    }
    Ok(())
}

/// Entries that are no turnover of the document that they stand with.
const APART: &str = "'l', 'b', 't'";

/// What documents of trade posted and took back by themselves. What allocations posted for them, what books began with,
/// what tax came to after all, what took these back, and what is written off is no turnover.
fn of_trade(engine: DbBackend, grouping: &str, of: &str, is_net: bool) -> String {
    let of = if of.is_empty() { or_none(engine, none(engine)) } else { or_none(engine, of) };
    let month = month(engine, "e.date");
    let not = if is_net { "" } else { "NOT " };
    format!(
        "INSERT INTO trade_months (business_id, side, grouping, month, of_id, amount) SELECT e.business_id, \
         CASE WHEN e.document_kind IN ('I', 'N') THEN 'sales' ELSE 'purchases' END, '{grouping}', \
         {month}, {of}, CAST(SUM(l.amount) AS bigint) FROM entries AS e \
         JOIN entry_lines AS l ON l.business_id = e.business_id AND l.entry_number = e.number \
         JOIN documents AS d ON d.business_id = e.business_id AND d.id = e.document_id \
         LEFT JOIN entries AS t ON t.business_id = e.business_id AND t.id = e.reverses_id \
         WHERE e.document_kind IN ('I', 'N', 'B', 'D') \
         AND e.kind NOT IN ({APART}) AND (t.kind IS NULL OR t.kind NOT IN ({APART})) \
         AND NOT (d.kind = 'N' AND COALESCE(d.subkind, '') = 'writeOff') \
         AND {not}(l.party_id IS NULL AND l.tax_component IS NULL) GROUP BY 1, 2, 3, 4, 5"
    )
}

/// What lines of parties came to in a month, and what happened to open items.
fn of_parties(engine: DbBackend) -> String {
    let month = month(engine, "date");
    let of = |table: &str, sums: &str| {
        format!(
            "SELECT business_id, party_id, account_id, currency, {month} AS month, {sums} FROM {table} \
             WHERE party_id IS NOT NULL"
        )
    };
    let lines =
        of("entry_lines", "amount, COALESCE(currency_amount, amount) AS currency_amount, 0 AS moved, 0 AS base_moved");
    let moves = of("open_item_moves", "0 AS amount, 0 AS currency_amount, amount AS moved, base AS base_moved");
    let sums = ["amount", "currency_amount", "moved", "base_moved"].map(|sum| format!("CAST(SUM({sum}) AS bigint)"));
    format!(
        "INSERT INTO party_months (business_id, party_id, account_id, currency, month, amount, currency_amount, moved, \
         base_moved) SELECT business_id, party_id, account_id, currency, month, {} \
         FROM ({lines} UNION ALL {moves}) AS moved GROUP BY 1, 2, 3, 4, 5",
        sums.join(", ")
    )
}

const fn none(engine: DbBackend) -> &'static str {
    match engine {
        DbBackend::Postgres => "CAST(NULL AS uuid)",
        _ => "NULL",
    }
}

/// The month of a day, as it is written.
fn month(engine: DbBackend, day: &str) -> String {
    match engine {
        DbBackend::Postgres => format!("to_char(DATE '1970-01-01' + {day}::int, 'YYYY-MM')"),
        _ => format!("strftime('%Y-%m', {day} * 86400, 'unixepoch')"),
    }
}

/// An identifier where none is said.
fn or_none(engine: DbBackend, column: &str) -> String {
    match engine {
        DbBackend::Postgres => format!("COALESCE({column}, '00000000-0000-0000-0000-000000000000'::uuid)"),
        _ => format!("COALESCE({column}, zeroblob(16))"),
    }
}

/// The word that a column holds as letters; nothing said where it holds none.
fn in_words(column: &str) -> String {
    let words: Vec<String> = CODES.iter().map(|(word, code)| format!("WHEN '{code}' THEN '{word}'")).collect();
    format!("CASE {column} {} ELSE '' END", words.join(" "))
}

fn of_tax(engine: DbBackend) -> String {
    let sum = |what: &str| format!("CAST(SUM({what}) AS bigint)");
    let said = [
        month(engine, "f.date"),
        or_none(engine, "f.tax_code_id"),
        or_none(engine, "f.component_id"),
        "COALESCE(f.component, '')".into(),
        in_words("f.side"),
        in_words("f.duty"),
        in_words("f.origin"),
        in_words("f.kind"),
        "COALESCE(f.base_box, '')".into(),
        "COALESCE(f.tax_box, '')".into(),
    ];
    let sums = [
        sum("CASE WHEN f.leads THEN f.home_base ELSE 0 END"),
        sum("CASE WHEN f.leads THEN 0 ELSE f.home_base END"),
        sum("f.home_tax"),
        sum("f.not_recoverable"),
        // A line that several facts name is counted with the first of them.
        sum("CASE WHEN EXISTS (SELECT 1 FROM tax_facts AS e WHERE e.business_id = f.business_id \
             AND e.entry_number = f.entry_number AND e.position = f.position AND e.place < f.place) \
             THEN 0 ELSE COALESCE(l.amount, 0) END"),
    ];
    let places: Vec<String> = (1..=said.len() + 1).map(|place| place.to_string()).collect();
    format!(
        "INSERT INTO tax_months (business_id, month, tax_code_id, component_id, component, side, duty, origin, kind, \
         base_box, tax_box, base, base_beside, tax, not_recoverable, posted) SELECT f.business_id, {}, {} \
         FROM tax_facts AS f LEFT JOIN entry_lines AS l ON l.business_id = f.business_id \
         AND l.entry_number = f.entry_number AND l.position = f.position GROUP BY {}",
        said.join(", "),
        sums.join(", "),
        places.join(", ")
    )
}

//! What proves the books and what the server remembers of itself: the audit log, notes of what was touched, the
//! installation, and answers that are kept for their repetition.

use crate::table::{Table, called, code, digest, flag, id, maybe, number, packed, text, word};

pub(super) fn tables() -> Vec<Table> {
    vec![installation(), running_time(), access_changes(), touched(), audit_log(), idempotency_keys(), dialect_usage()]
}

/// Whose master key its secrets are under, and what the rows of nobody's company come to. There is one.
fn installation() -> Table {
    let columns = [
        number("id"),
        number("made_at"),
        text("key_check"),
        // Hidden: repeated requests are known by it.
        text("fingerprint_key"),
        // Hidden: what signed before, the first one first.
        text("former_keys").or("''"),
        text("sums").or("''"),
        text("signature").or("''"),
    ];
    Table::of_all("installation", &["id"], &columns)
}

/// How long the books were served: what keys of requests are forgotten by. And which numbers are given away that records
/// are counted by.
fn running_time() -> Table {
    Table::of_all("running_time", &["id"], &[number("id"), number("at"), number("identifiers").or("0")])
}

/// A counter that every change of who may do what raises, so that what is remembered of it can be forgotten in time.
fn access_changes() -> Table {
    Table::of_all("access_changes", &["id"], &[number("id"), number("count")])
}

/// Rows that were written without their seals, and what they were before. Nearly always empty: what a batch has put in, it
/// takes out before it commits.
fn touched() -> Table {
    let columns = [
        text("relation"),
        maybe(id("business_id")),
        word("key"),
        text("old"),
        text("was"),
        number("step"),
        word("batch"),
    ];
    Table::of_all("touched", &[], &columns).noted_by_company().found_by("touched_by_batch", "batch").guarded(
        &[],
        // Rows that come and go in each batch leave nothing worth keeping statistics of.
        &["ALTER TABLE touched SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)"],
    )
}

/// Who changed what, in a chain of hashes. The record of a company's end outlives it.
fn audit_log() -> Table {
    let columns = [
        id("id"),
        number("sequence"),
        number("at"),
        maybe(id("user_id")),
        maybe(text("address")),
        maybe(text("dialect")),
        maybe(called("request_id")),
        // What the client calls its request; in records of before both names stand in one.
        maybe(text("client_request_id")),
        code("action"),
        code("resource"),
        id("resource_id"),
        maybe(number("version_from")),
        maybe(number("version_to")),
        // In records of before.
        maybe(packed("before")),
        maybe(packed("after")),
        // Both states in one, and what is kept of a document beside them: whoever reads the document reads it here.
        maybe(packed("record")),
        // What it is looked for by. Records of before have none: they are found by what they hold.
        maybe(text("search")),
        // Over all of it, and the hash of the record before it.
        digest("hash"),
        // Whether the hash is under the key; those from before there was one are plain.
        flag("keyed"),
    ];
    Table::of_company("audit_log", &["sequence"], &columns)
        .unique("audit_log_id", "id")
        .found_by_own("audit_log_by_resource", "resource_id, sequence")
        .grows_only(&[&["business_id", "id"]])
}

/// What a write with an `Idempotency-Key` answered, so that its repeat answers the same; and which record that is about.
fn idempotency_keys() -> Table {
    let columns = [
        id("user_id"),
        word("key"),
        word("command"),
        text("outcome"),
        number("created_at"),
        maybe(id("business_id")),
        maybe(id("record_id")),
    ];
    Table::of_all("idempotency_keys", &["user_id", "key"], &columns)
        .found_by("idempotency_keys_by_age", "user_id, created_at")
        .found_by("idempotency_keys_by_business", "business_id, record_id")
}

/// Who calls which operation in which dialect, by what program.
fn dialect_usage() -> Table {
    let columns =
        [id("user_id"), text("dialect"), text("operation"), text("agent"), number("calls"), number("last_at")];
    Table::of_company("dialect_usage", &["user_id", "dialect", "operation", "agent"], &columns).thin()
}

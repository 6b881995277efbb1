//! What words are looked for by, without reading what documents say.
//!
//! A document whose words are new waits until a block of them is full; then it is kept which letters in a row the documents
//! of the block have, and they wait no more. Who looks for words reads what waits and what blocks find, and nothing else.

use crate::table::{Table, bytes, id, number};

pub(super) fn tables() -> Vec<Table> {
    vec![waiting(), blocks()]
}

/// Documents whose words no block tells of.
fn waiting() -> Table {
    Table::of_company("search_waiting", &["document_id"], &[id("document_id")]).thin()
}

/// A portion of a block: which of its documents have which letters; and last, which documents these are.
fn blocks() -> Table {
    let columns = [number("portion"), number("block"), bytes("postings")];
    Table::of_company("search_blocks", &["portion", "block"], &columns)
}

/// Triggers note it, so that no writer can forget to.
pub(super) const WAITS_ON_SQLITE: [&str; 2] = [
    "CREATE TRIGGER documents_wait_for_search AFTER INSERT ON documents BEGIN \
       INSERT INTO search_waiting (business_id, document_id) VALUES (NEW.business_id, NEW.id) ON CONFLICT DO NOTHING; END",
    "CREATE TRIGGER documents_wait_again AFTER UPDATE OF search ON documents WHEN OLD.search <> NEW.search BEGIN \
       INSERT INTO search_waiting (business_id, document_id) VALUES (NEW.business_id, NEW.id) ON CONFLICT DO NOTHING; END",
];

pub(super) const WAITS_ON_POSTGRES: [&str; 3] = [
    "CREATE FUNCTION wait_for_search() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
       INSERT INTO search_waiting (business_id, document_id) VALUES (NEW.business_id, NEW.id) ON CONFLICT DO NOTHING; \
       RETURN NULL; END $$",
    "CREATE TRIGGER documents_wait_for_search AFTER INSERT ON documents FOR EACH ROW EXECUTE FUNCTION wait_for_search()",
    "CREATE TRIGGER documents_wait_again AFTER UPDATE OF search ON documents FOR EACH ROW \
       WHEN (OLD.search <> NEW.search) EXECUTE FUNCTION wait_for_search()",
];

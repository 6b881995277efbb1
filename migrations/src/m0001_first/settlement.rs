//! Settlement: what is open with whom, what happened to it by day, and what settled what.

use crate::table::{Table, code, day, id, maybe, number, text, word};

pub(super) fn tables() -> Vec<Table> {
    vec![open_items(), open_item_moves(), allocations()]
}

/// Where an item stands. What is open of it follows from its moves, and no seal covers that.
fn open_items() -> Table {
    let columns = [
        id("id"),
        id("document_id"),
        code("kind"),
        id("party_id"),
        id("account_id"),
        word("currency"),
        day("date"),
        maybe(day("due_date")),
        number("amount"),
        number("base"),
        number("open"),
        number("base_open"),
    ];
    Table::of_company("open_items", &["id"], &columns)
        .thin()
        .sealed()
        // That of a document is called as the document is, and found by its key.
        .found_by_own("open_items_of_lines", "document_id WHERE document_id <> id")
        // All that an ageing asks: what is open is summed up without the items themselves.
        .found_by(
            "open_items_by_party",
            "party_id, currency, due_date, date, account_id, kind, open, base_open WHERE open <> 0",
        )
}

fn open_item_moves() -> Table {
    let columns = [
        id("id"),
        id("open_item_id"),
        id("document_id"),
        id("party_id"),
        id("account_id"),
        word("currency"),
        day("date"),
        number("recorded_at"),
        number("amount"),
        number("base"),
        maybe(id("allocation_id")),
    ];
    Table::of_company("open_item_moves", &["open_item_id", "id"], &columns)
        .thin()
        .sealed()
        .found_by("open_item_moves_by_date", "date")
        .grows_only(&[])
}

fn allocations() -> Table {
    let columns = [
        id("id"),
        id("party_id"),
        code("source_kind"),
        id("source_id"),
        id("source_document_id"),
        code("target_kind"),
        id("target_id"),
        id("target_document_id"),
        day("date"),
        word("currency"),
        number("amount"),
        word("source_currency"),
        number("source_amount"),
        number("discount"),
        number("write_off"),
        maybe(id("write_off_account_id")),
        number("withheld"),
        // What both were carried at, and what that leaves.
        number("source_base"),
        number("target_base"),
        number("exchange_gain"),
        // JSON: the entry that it posted by itself.
        maybe(text("entry")),
        maybe(day("removed_on")),
        maybe(number("removed_at")),
        number("created_at"),
        id("created_by"),
    ];
    Table::of_company("allocations", &["id"], &columns)
        .sealed()
        .found_by_own("allocations_by_source", "source_document_id")
        .found_by_own("allocations_by_target", "target_document_id")
}

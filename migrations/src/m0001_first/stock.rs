//! Stock: what happened to it as dated facts, and where it stands.

use crate::table::{Table, code, day, flag, id, maybe, number, text};

pub(super) fn tables() -> Vec<Table> {
    vec![stock_facts(), stock_moves(), stock_lines(), stock(), stock_snapshots()]
}

/// What happened, on which day and in which place, and what its own entry posted of it. What never was is cancelled by a row
/// of its own.
fn stock_facts() -> Table {
    let columns = [
        id("id"),
        id("item_id"),
        day("date"),
        number("place"),
        id("document_id"),
        id("line_id"),
        code("kind"),
        code("side"),
        number("quantity"),
        number("amount"),
        maybe(number("standard")),
        maybe(id("of_line_id")),
        maybe(id("cancels_id")),
        id("inventory_account_id"),
        id("cost_account_id"),
        id("variance_account_id"),
        maybe(id("waits_account_id")),
        number("booked_stock"),
        number("booked_waits"),
        number("booked_cost"),
        number("booked_variance"),
        number("recorded_at"),
    ];
    Table::of_company("stock_facts", &["id"], &columns)
        .sealed()
        .found_by("stock_facts_by_item", "item_id, date")
        .found_by("stock_facts_by_document", "document_id")
        .found_by("stock_facts_by_line", "line_id")
        .found_by("stock_facts_by_origin", "of_line_id WHERE of_line_id IS NOT NULL")
        // A fact is cancelled once.
        .unique("stock_facts_by_cancelled", "cancels_id WHERE cancels_id IS NOT NULL")
        .grows_only(&[])
}

/// What was posted of it, day by day.
fn stock_moves() -> Table {
    let columns = [
        id("id"),
        id("item_id"),
        day("date"),
        number("recorded_at"),
        id("document_id"),
        code("kind"),
        number("quantity"),
        number("value"),
        id("account_id"),
    ];
    Table::of_company("stock_moves", &["id"], &columns)
        .sealed()
        .found_by("stock_moves_by_item", "item_id, date")
        .grows_only(&[])
}

/// What moves stock at present and what it cost after all, in the order in which it is valued. No seal covers the cost, nor
/// whether it was missing: both follow from the facts.
fn stock_lines() -> Table {
    let columns = [
        id("item_id"),
        day("date"),
        number("sequence"),
        id("document_id"),
        id("line_id"),
        code("kind"),
        number("quantity"),
        number("cost"),
        flag("was_missing"),
    ];
    Table::of_company("stock_lines", &["item_id", "date", "sequence"], &columns)
        .sealed()
        .found_by("stock_lines_by_document", "document_id")
}

/// Where the stock of an item stands.
fn stock() -> Table {
    let columns = [
        id("item_id"),
        number("quantity"),
        number("value"),
        maybe(day("last_date")),
        number("last_sequence"),
        // JSON: what was known last of its cost.
        maybe(text("known_cost")),
        // JSON: goods that came in together and are still there.
        text("layers"),
        maybe(number("standard_cost")),
    ];
    Table::of_company("stock", &["item_id"], &columns).sealed()
}

/// Where it stood on an evening: a cache, so that a late write need not begin at the beginning.
fn stock_snapshots() -> Table {
    let columns = [id("item_id"), day("date"), number("place"), text("state")];
    Table::of_company("stock_snapshots", &["item_id", "date"], &columns).sealed()
}

//! Who is told of what happens, how far they were told, and what became of each attempt.

use crate::table::{Table, id, maybe, number, text, word};

pub(super) fn tables() -> Vec<Table> {
    vec![webhooks(), webhook_cursors(), webhook_deliveries()]
}

fn webhooks() -> Table {
    let columns = [
        id("id"),
        // In whose name it hears: it is told of nothing that they may not view.
        id("user_id"),
        text("url"),
        text("types"),
        text("payload"),
        text("format"),
        // Hidden, as are the secrets: whoever holds the database alone signs nothing.
        text("headers"),
        text("secret"),
        maybe(text("former_secret")),
        maybe(number("former_until")),
        text("status"),
        maybe(text("reason")),
        text("search"),
    ];
    Table::of_company("webhooks", &["id"], &columns).with_versions().sealed()
}

/// Up to where each was told, and when it is tried again.
fn webhook_cursors() -> Table {
    let columns = [id("webhook_id"), number("after"), number("failures"), maybe(number("next_at"))];
    Table::of_company("webhook_cursors", &["webhook_id"], &columns).thin()
}

/// Each attempt, for a while; and those that were asked for and wait.
fn webhook_deliveries() -> Table {
    let columns = [
        id("id"),
        id("webhook_id"),
        id("event_id"),
        // None of a test.
        maybe(number("sequence")),
        text("type"),
        number("attempt"),
        word("status"),
        number("at"),
        maybe(number("answered")),
        maybe(number("ms")),
        maybe(text("said")),
        maybe(text("problem")),
    ];
    Table::of_company("webhook_deliveries", &["id"], &columns)
        .found_by("webhook_deliveries_by_webhook", "webhook_id, at, id")
        .found_by("webhook_deliveries_waiting", "id WHERE status = 'waiting'")
}

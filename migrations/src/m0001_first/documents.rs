//! Documents: what was asked and what came of it, their lines, how they follow each other and how far they have got.

use super::search;
use crate::table::{Table, code, day, flag, id, maybe, number, packed, text, word};

pub(super) fn tables() -> Vec<Table> {
    vec![
        documents(),
        document_counts(),
        document_lines(),
        trade_months(),
        document_links(),
        progress(),
        progress_moves(),
    ]
}

/// Every kind of document; what only one kind has is in its content.
fn documents() -> Table {
    let columns = [
        id("id"),
        code("kind"),
        maybe(text("subkind")),
        code("status"),
        // How far it has got, where others follow or settle it.
        maybe(code("stage")),
        // A draft has none; nor has it a place in its series.
        maybe(word("number")),
        maybe(id("series_id")),
        maybe(word("period")),
        maybe(number("sequence")),
        day("date"),
        // When what is open of it is due, or will be, or was.
        maybe(day("due_date")),
        maybe(id("party_id")),
        maybe(text("reference")),
        maybe(text("narration")),
        word("currency"),
        number("total"),
        number("base_total"),
        // What was asked and judged: of a draft, and of documents of before. That of others stands once, in the record of the
        // audit log that this names.
        maybe(packed("content")),
        maybe(number("record")),
        // The entries that it stands for now: number, day and identifier of each.
        text("entries"),
        maybe(number("posted_at")),
        maybe(day("void_date")),
        maybe(text("void_reason")),
        maybe(word("external_id")),
        text("tags"),
        word("search"),
    ];
    Table::of_company("documents", &["id"], &columns)
        .with_versions()
        .sealed()
        // What every order ends in is the key, so no index need say where a row lies.
        .thin()
        .unique("documents_number", "kind, number")
        .unique("documents_sequence", "series_id, period, sequence")
        .unique("documents_external_id", "kind, external_id WHERE external_id IS NOT NULL")
        // Every order that a list can have ends in the identifier. What else is filtered by stands behind it, so that the
        // keys of a page, and how many there are, are found without the rows themselves, which are long.
        .found_by("documents_by_date", "kind, date, id, status, stage, due_date, subkind, currency, base_total")
        .found_by("documents_by_creation", "kind, created_at, id")
        .found_by("documents_by_update", "kind, updated_at, id, date")
        .found_by("documents_by_total", "kind, base_total, id, date")
        .found_by("documents_by_party", "party_id, kind, date, id, stage WHERE party_id IS NOT NULL")
        // What is done is most of it in the end, and found by its day like all; what is left is little.
        .found_by("documents_left", "kind, date, id, stage, due_date WHERE stage IN ('o', 'h')")
        .found_by("documents_left_by_total", "kind, base_total, id, stage, due_date WHERE stage IN ('o', 'h')")
        .found_by("documents_by_due_date", "kind, due_date, date, id WHERE due_date IS NOT NULL AND status = 'p'")
        .found_by("documents_by_reference", "kind, reference, date, id WHERE reference IS NOT NULL")
        .found_by("documents_drafts", "kind, date, id, status WHERE status = 'd'")
        .found_by("documents_void", "kind, date, id, status WHERE status = 'v'")
        .guarded(COUNTS_ON_SQLITE, COUNTS_ON_POSTGRES)
        .guarded(&search::WAITS_ON_SQLITE, &search::WAITS_ON_POSTGRES)
}

/// How many documents of each kind stand alike: lists say it, and counting a hundred thousand rows takes longer than
/// reading fifty. Triggers count, so that no writer can forget to. A document stands as its stage says; one that has none, as
/// its status.
fn document_counts() -> Table {
    let columns = [code("kind"), code("standing"), number("count")];
    Table::of_company("document_counts", &["kind", "standing"], &columns).thin()
}

const COUNTS_ON_SQLITE: &[&str] = &[
    "CREATE TRIGGER documents_count_inserts AFTER INSERT ON documents BEGIN \
       INSERT INTO document_counts (business_id, kind, standing, count) \
       VALUES (NEW.business_id, NEW.kind, COALESCE(NEW.stage, NEW.status), 1) \
       ON CONFLICT (business_id, kind, standing) DO UPDATE SET count = count + 1; END",
    "CREATE TRIGGER documents_count_deletes AFTER DELETE ON documents BEGIN \
       UPDATE document_counts SET count = count - 1 WHERE business_id = OLD.business_id AND kind = OLD.kind \
       AND standing = COALESCE(OLD.stage, OLD.status); END",
    "CREATE TRIGGER documents_count_moves AFTER UPDATE OF stage, status ON documents \
     WHEN COALESCE(OLD.stage, OLD.status) <> COALESCE(NEW.stage, NEW.status) BEGIN \
       UPDATE document_counts SET count = count - 1 WHERE business_id = OLD.business_id AND kind = OLD.kind \
       AND standing = COALESCE(OLD.stage, OLD.status); \
       INSERT INTO document_counts (business_id, kind, standing, count) \
       VALUES (NEW.business_id, NEW.kind, COALESCE(NEW.stage, NEW.status), 1) \
       ON CONFLICT (business_id, kind, standing) DO UPDATE SET count = count + 1; END",
];

/// A row at a time: what sees all rows of a statement at once is refused by a distributed PostgreSQL.
const COUNTS_ON_POSTGRES: &[&str] = &[
    "CREATE FUNCTION count_new_document() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
       INSERT INTO document_counts (business_id, kind, standing, count) \
       VALUES (NEW.business_id, NEW.kind, COALESCE(NEW.stage, NEW.status), 1) \
       ON CONFLICT (business_id, kind, standing) DO UPDATE SET count = document_counts.count + 1; RETURN NULL; END $$",
    "CREATE TRIGGER documents_count_inserts AFTER INSERT ON documents \
       FOR EACH ROW EXECUTE FUNCTION count_new_document()",
    "CREATE FUNCTION count_gone_document() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
       UPDATE document_counts SET count = count - 1 WHERE business_id = OLD.business_id AND kind = OLD.kind \
       AND standing = COALESCE(OLD.stage, OLD.status); RETURN NULL; END $$",
    "CREATE TRIGGER documents_count_deletes AFTER DELETE ON documents \
       FOR EACH ROW EXECUTE FUNCTION count_gone_document()",
    "CREATE FUNCTION count_moved_document() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
       UPDATE document_counts SET count = count - 1 WHERE business_id = OLD.business_id AND kind = OLD.kind \
       AND standing = COALESCE(OLD.stage, OLD.status); \
       INSERT INTO document_counts (business_id, kind, standing, count) \
       VALUES (NEW.business_id, NEW.kind, COALESCE(NEW.stage, NEW.status), 1) \
       ON CONFLICT (business_id, kind, standing) DO UPDATE SET count = document_counts.count + 1; RETURN NULL; END $$",
    "CREATE TRIGGER documents_count_moves AFTER UPDATE OF stage, status ON documents FOR EACH ROW \
       WHEN (COALESCE(OLD.stage, OLD.status) <> COALESCE(NEW.stage, NEW.status)) \
       EXECUTE FUNCTION count_moved_document()",
];

/// The lines of posted trade documents, as they stand.
fn document_lines() -> Table {
    let columns = [
        id("document_id"),
        number("line_no"),
        id("id"),
        code("kind"),
        day("date"),
        maybe(id("item_id")),
        maybe(id("account_id")),
        maybe(id("tax_code_id")),
        number("quantity"),
        number("base_net"),
        // The line that it was made of.
        maybe(id("source_line_id")),
    ];
    Table::of_company("document_lines", &["document_id", "line_no"], &columns)
        .thin()
        .sealed()
        // Who asks for lines by their names asks what these were made of.
        .found_by_own("document_lines_by_line", "id WHERE source_line_id IS NOT NULL")
        .found_by_own("document_lines_by_item", "item_id WHERE item_id IS NOT NULL")
        // Of bills and credits the facts of tax tell.
        .found_by_own("document_lines_by_tax_code", "tax_code_id, date WHERE kind NOT IN ('I', 'N', 'B', 'D')")
        // What was counted is asked for by whatever moves, and sales of a day are many.
        .found_by_own("document_lines_of_adjustments", "item_id, date WHERE kind = 'A'")
        .found_by_own("document_lines_by_source", "source_line_id WHERE source_line_id IS NOT NULL")
}

/// What was traded in a month, by party and by item. Nothing in its key is absent: two rows that lack the same would be
/// two.
fn trade_months() -> Table {
    let columns = [text("side"), text("grouping"), word("month"), id("of_id"), number("amount")];
    Table::of_company("trade_months", &["side", "grouping", "month", "of_id"], &columns).thin()
}

/// Which posted document follows which.
fn document_links() -> Table {
    let columns = [id("document_id"), id("source_document_id"), code("relation")];
    Table::of_company("document_links", &["document_id", "source_document_id"], &columns)
        .thin()
        .sealed()
        .found_by("document_links_by_source", "source_document_id")
}

/// Where a line of an order or of a note stands.
fn progress() -> Table {
    let columns = [
        id("line_id"),
        id("document_id"),
        code("kind"),
        day("date"),
        id("party_id"),
        maybe(id("item_id")),
        // Whether it is of something that is kept in stock.
        flag("is_goods"),
        flag("is_return"),
        maybe(id("source_line_id")),
        number("quantity"),
        number("fulfilled"),
        // Less what was credited of it.
        number("invoiced"),
        number("returned"),
        number("cancelled"),
        // Where the goods stand until they are invoiced, and what of it stands there now.
        maybe(id("account_id")),
        number("value"),
    ];
    Table::of_company("progress", &["line_id"], &columns)
        .sealed()
        .found_by_own("progress_by_document", "document_id")
        .found_by_own("progress_by_item", "item_id, kind WHERE item_id IS NOT NULL")
        .found_by_own("progress_by_source", "source_line_id WHERE source_line_id IS NOT NULL")
}

/// Everything that ever happened to such a line, by the day it counts for.
fn progress_moves() -> Table {
    let columns = [
        id("id"),
        id("line_id"),
        day("date"),
        number("recorded_at"),
        id("document_id"),
        code("kind"),
        // Whether the goods cost something else after all; then it is not undone with its document.
        flag("is_correction"),
        number("quantity"),
        number("fulfilled"),
        number("invoiced"),
        number("returned"),
        number("cancelled"),
        maybe(id("account_id")),
        number("value"),
    ];
    Table::of_company("progress_moves", &["id"], &columns)
        .sealed()
        .found_by_own("progress_moves_by_line", "line_id")
        .found_by_own("progress_moves_by_document", "document_id")
        .found_by("progress_moves_by_date", "account_id, date WHERE account_id IS NOT NULL")
        .grows_only(&[])
}

//! The ledger: where the books stand, entries and their lines, and the sums that reports begin with.
//!
//! An entry is written lines first; its row in `entries` seals it. The engine refuses a seal on lines that do not balance,
//! lines that come after their seal, and every change of what is sealed.

use crate::table::{Table, code, day, digest, id, maybe, number, text, word};

pub(super) fn tables() -> Vec<Table> {
    vec![
        books(),
        entry_lines(),
        entries(),
        account_days(),
        account_months(),
        cash_days(),
        party_balances(),
        party_months(),
    ]
}

/// What a write lane must know before it writes: where the sequences of the company stand, signed.
fn books() -> Table {
    let columns = [
        number("version"),
        number("entry_number"),
        number("recorded_at"),
        number("audit_sequence"),
        digest("audit_hash"),
        // What the seals of every table come to.
        text("sums").or("''"),
        text("signature").or("''"),
    ];
    Table::of_company("books", &[], &columns)
}

/// They have no seal of their own: that of their entry covers them.
fn entry_lines() -> Table {
    let columns = [
        number("entry_number"),
        number("position"),
        id("account_id"),
        maybe(id("party_id")),
        // That of its entry, so that an account is read by its days alone.
        day("date"),
        number("amount"),
        word("currency"),
        // Nothing where it is the amount, which it is in the company's own currency.
        maybe(number("currency_amount")),
        maybe(text("description")),
        maybe(day("due_date")),
        maybe(id("item_id")),
        maybe(number("quantity")),
        maybe(id("tax_code_id")),
        maybe(text("tax_component")),
        maybe(number("tax_base")),
    ];
    Table::of_company("entry_lines", &["entry_number", "position"], &columns)
        .thin()
        .refers("entry_lines_account", (&["business_id", "account_id"], "accounts", &["business_id", "id"]))
        .refers("entry_lines_party", (&["business_id", "party_id"], "parties", &["business_id", "id"]))
        .found_by("entry_lines_by_account", "account_id, date, entry_number")
        .found_by("entry_lines_by_party", "party_id, date WHERE party_id IS NOT NULL")
        .guarded(
            &["CREATE TRIGGER entry_lines_come_before_their_seal BEFORE INSERT ON entry_lines WHEN EXISTS \
               (SELECT 1 FROM entries WHERE business_id = NEW.business_id AND number = NEW.entry_number) \
               BEGIN SELECT RAISE(ABORT, 'an entry takes no more lines'); END"],
            &[
                "CREATE FUNCTION refuse_late_lines() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$ BEGIN \
                   IF EXISTS (SELECT 1 FROM entries WHERE business_id = NEW.business_id AND number = NEW.entry_number) \
                   THEN RAISE EXCEPTION 'an entry takes no more lines'; END IF; RETURN NULL; END $$",
                "CREATE TRIGGER entry_lines_come_before_their_seal AFTER INSERT ON entry_lines \
                   FOR EACH ROW EXECUTE FUNCTION refuse_late_lines()",
            ],
        )
        .grows_only(&[])
}

fn entries() -> Table {
    let columns = [
        id("id"),
        number("number"),
        day("date"),
        number("recorded_at"),
        id("recorded_by"),
        code("kind"),
        code("document_kind"),
        id("document_id"),
        number("document_version"),
        maybe(text("document_number")),
        maybe(id("reverses_id")),
        maybe(text("narration")),
        number("total"),
        // Without the number, where that is found as it stands.
        word("search"),
    ];
    Table::of_company("entries", &["number"], &columns)
        .thin()
        .sealed()
        .unique_by_own("entries_id", "id")
        .found_by_own("entries_by_document", "document_id")
        .found_by("entries_by_date", "date, number")
        .found_by("entries_opening", "date WHERE kind = 'b'")
        .found_by("entries_of_years", "date WHERE kind = 'y'")
        .found_by_own("entries_taking_back", "reverses_id WHERE reverses_id IS NOT NULL")
        .guarded(
            &["CREATE TRIGGER entries_seal_balanced_lines BEFORE INSERT ON entries WHEN \
                 (SELECT COUNT(*) FROM entry_lines WHERE business_id = NEW.business_id AND entry_number = NEW.number) < 2 OR \
                 (SELECT SUM(amount) FROM entry_lines WHERE business_id = NEW.business_id AND entry_number = NEW.number) <> 0 \
               BEGIN SELECT RAISE(ABORT, 'the lines of an entry must balance'); END"],
            // The plan is kept while the tables grow, so it must not be the one that suits small tables.
            &[
                "CREATE FUNCTION refuse_unbalanced_entries() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$ \
                   DECLARE held record; BEGIN \
                   SELECT COUNT(*) AS lines, SUM(amount) AS total INTO held FROM entry_lines \
                     WHERE business_id = NEW.business_id AND entry_number = NEW.number; \
                   IF held.lines < 2 OR held.total <> 0 \
                   THEN RAISE EXCEPTION 'the lines of an entry must balance'; END IF; RETURN NULL; END $$",
                "CREATE TRIGGER entries_seal_balanced_lines AFTER INSERT ON entries \
                   FOR EACH ROW EXECUTE FUNCTION refuse_unbalanced_entries()",
            ],
        )
        .grows_only(&[&["business_id", "id"]])
}

/// A sum that outgrows 64 bits becomes an inexact number on `SQLite`, unless it is refused before.
const CAN_BE_KEPT: &str = "debit <= 9000000000000000000 AND credit <= 9000000000000000000 AND \
     currency_amount BETWEEN -9000000000000000000 AND 9000000000000000000";

fn account_days() -> Table {
    let columns = [
        id("account_id"),
        word("currency"),
        day("date"),
        number("debit"),
        number("credit"),
        number("currency_amount"),
        // How many lines that is: where a line stands among all of them is found by counting days.
        number("lines"),
    ];
    Table::of_company("account_days", &["account_id", "currency", "date"], &columns)
        .thin()
        .check(CAN_BE_KEPT)
        .found_by("account_days_by_date", "date")
}

fn account_months() -> Table {
    let columns = [
        id("account_id"),
        word("currency"),
        word("month"),
        number("debit"),
        number("credit"),
        number("currency_amount"),
        number("lines"),
    ];
    Table::of_company("account_months", &["account_id", "currency", "month"], &columns).thin().check(CAN_BE_KEPT)
}

/// What accounts that hold no money were moved by on a day, in entries that moved money.
fn cash_days() -> Table {
    let columns = [day("date"), id("account_id"), code("document_kind"), code("kind"), number("amount")];
    Table::of_company("cash_days", &["date", "account_id", "document_kind", "kind"], &columns).thin()
}

/// What is open with a party on a control account.
fn party_balances() -> Table {
    let columns = [id("party_id"), id("account_id"), word("currency"), number("amount"), number("currency_amount")];
    Table::of_company("party_balances", &["party_id", "account_id", "currency"], &columns).thin()
}

/// What the lines of a party on an account came to in a month, and what happened to its open items there.
fn party_months() -> Table {
    let columns = [
        id("party_id"),
        id("account_id"),
        word("currency"),
        word("month"),
        number("amount"),
        number("currency_amount"),
        number("moved"),
        number("base_moved"),
    ];
    Table::of_company("party_months", &["party_id", "account_id", "currency", "month"], &columns).thin()
}

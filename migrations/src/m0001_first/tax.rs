//! The tax sub-ledger: one row for each line and component that is taxed or could have been, beside the entry that made it.

use crate::table::{Table, code, day, flag, id, maybe, number, text, word};

pub(super) fn tables() -> Vec<Table> {
    vec![tax_facts(), tax_beginnings(), tax_months()]
}

fn tax_facts() -> Table {
    let columns = [
        number("entry_number"),
        number("place"),
        // The line of the entry that carries its tax.
        maybe(number("position")),
        day("entry_date"),
        // The day it counts for.
        day("date"),
        code("document_kind"),
        id("document_id"),
        number("document_version"),
        maybe(id("line_id")),
        // The document that it settles, and the entry that it takes back.
        maybe(id("settles_id")),
        maybe(id("takes_back_id")),
        code("side"),
        code("duty"),
        code("origin"),
        // The code as it was then: a later change of it moves no old return.
        maybe(id("tax_code_id")),
        maybe(id("component_id")),
        maybe(text("component")),
        maybe(code("kind")),
        maybe(number("rate")),
        maybe(text("category")),
        maybe(text("base_box")),
        maybe(text("tax_box")),
        // True on the first row of a line: its base is counted as turnover once.
        flag("leads"),
        maybe(id("party_id")),
        maybe(text("party_tax_number")),
        maybe(text("country")),
        text("currency"),
        // Nothing where they are what they are in the company's currency.
        maybe(number("base")),
        maybe(number("tax")),
        number("home_base"),
        number("home_tax"),
        number("not_recoverable"),
        maybe(id("account_id")),
    ];
    Table::of_company("tax_facts", &["entry_number", "place"], &columns)
        .thin()
        .sealed()
        .found_by("tax_facts_by_date", "date")
        .found_by_own("tax_facts_by_settled", "settles_id WHERE settles_id IS NOT NULL")
        .grows_only(&[])
}

/// Up to which entry books that were brought over say nothing of tax but in ledger lines; none in books that began here.
/// Reports of tax that reach back so far are refused, and not silently empty.
fn tax_beginnings() -> Table {
    Table::of_company("tax_beginnings", &[], &[number("entry_number")]).sealed()
}

/// What the facts of a month come to. Nothing in its key is absent: two rows that lack the same would be two.
fn tax_months() -> Table {
    const KEY: &[&str] =
        &["month", "tax_code_id", "component_id", "component", "side", "duty", "origin", "kind", "base_box", "tax_box"];
    let columns = [
        word("month"),
        id("tax_code_id"),
        id("component_id"),
        text("component"),
        text("side"),
        text("duty"),
        text("origin"),
        text("kind"),
        text("base_box"),
        text("tax_box"),
        number("base"),
        number("base_beside"),
        number("tax"),
        number("not_recoverable"),
        number("posted"),
    ];
    Table::of_company("tax_months", KEY, &columns).thin()
}

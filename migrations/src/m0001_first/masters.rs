//! Masters: accounts, parties, items, and the terms that documents name.

use crate::table::{Table, day, flag, id, maybe, number, text, word};

pub(super) fn tables() -> Vec<Table> {
    vec![accounts(), parties(), payment_terms(), tax_codes(), items(), mentions()]
}

fn accounts() -> Table {
    let columns = [
        id("id"),
        word("code"),
        text("name"),
        word("name_key"),
        text("type"),
        text("class"),
        maybe(id("parent_id")),
        flag("is_group"),
        maybe(word("currency")),
        maybe(text("description")),
        maybe(text("cash_flow_section")),
        flag("allow_manual_posting"),
        // The sub-ledger that makes its lines. Fixed by its first entry.
        text("keeper").or("'none'"),
        // Entries up to this one moved money in other currencies at what they said it was worth: they came from books of
        // before there was a rule.
        number("as_said_until").or("0"),
        maybe(text("bank_details")),
        text("status"),
        maybe(word("external_id")),
        text("tags"),
        word("search"),
    ];
    Table::of_company("accounts", &["id"], &columns)
        .with_versions()
        .sealed()
        .refers("accounts_parent", (&["business_id", "parent_id"], "accounts", &["business_id", "id"]))
        .unique("accounts_code", "code")
        .unique("accounts_external_id", "external_id")
        .found_by("accounts_by_parent", "parent_id")
}

/// Customers and suppliers.
fn parties() -> Table {
    let columns = [
        id("id"),
        text("name"),
        word("name_key"),
        maybe(word("code")),
        flag("is_customer"),
        flag("is_supplier"),
        text("kind"),
        maybe(text("tax_number")),
        maybe(text("registration_number")),
        maybe(text("email")),
        maybe(text("phone")),
        maybe(text("website")),
        maybe(text("billing_address")),
        maybe(text("shipping_address")),
        text("contacts"),
        maybe(word("currency")),
        maybe(number("payment_term_days")),
        maybe(number("credit_limit")),
        maybe(flag("prices_include_tax")),
        maybe(number("discount_percent")),
        maybe(text("bank_details")),
        maybe(text("peppol_id")),
        text("status"),
        text("blocked"),
        maybe(text("notes")),
        maybe(id("payment_term_id")),
        maybe(id("receivable_account_id")),
        maybe(id("payable_account_id")),
        maybe(id("sales_account_id")),
        maybe(id("purchase_account_id")),
        maybe(id("sales_tax_code_id")),
        maybe(id("purchase_tax_code_id")),
        // The party that it became part of, and when: what was known before that names both.
        maybe(id("merged_into_id")),
        maybe(number("merged_at")),
        maybe(word("external_id")),
        text("tags"),
        word("search"),
    ];
    Table::of_company("parties", &["id"], &columns)
        .with_versions()
        .sealed()
        .refers("parties_business", (&["business_id"], "businesses", &["id"]))
        .unique("parties_code", "code")
        .unique("parties_external_id", "external_id")
        .found_by("parties_by_name", "name_key, id")
        .found_by("parties_by_update", "updated_at, id")
        .found_by("parties_merged", "merged_into_id WHERE merged_into_id IS NOT NULL")
        // Who the parties of rows are is remembered with the company.
        .counted(&[("merge", "UPDATE OF merged_into_id, merged_at")])
}

fn payment_terms() -> Table {
    let columns = [
        id("id"),
        text("name"),
        word("name_key"),
        text("type"),
        number("days"),
        maybe(number("discount_percent")),
        maybe(number("discount_days")),
        text("status"),
        maybe(word("external_id")),
        word("search"),
    ];
    Table::of_company("payment_terms", &["id"], &columns).with_versions().sealed()
}

fn tax_codes() -> Table {
    let columns = [
        id("id"),
        word("code"),
        text("name"),
        word("name_key"),
        text("direction"),
        maybe(text("category")),
        maybe(text("report_box")),
        // JSON, with the rates of all days: facts carry what was true of theirs.
        text("components"),
        maybe(day("valid_from")),
        maybe(day("valid_to")),
        text("status"),
        maybe(word("external_id")),
        word("search"),
    ];
    Table::of_company("tax_codes", &["id"], &columns).with_versions().sealed().unique("tax_codes_code", "code")
}

fn items() -> Table {
    let columns = [
        id("id"),
        text("name"),
        word("name_key"),
        maybe(word("code")),
        text("type"),
        maybe(word("barcode")),
        maybe(text("description")),
        maybe(text("purchase_description")),
        maybe(text("unit")),
        maybe(text("category")),
        maybe(number("sale_price")),
        maybe(number("purchase_price")),
        maybe(flag("price_includes_tax")),
        maybe(id("sales_tax_code_id")),
        maybe(id("purchase_tax_code_id")),
        maybe(id("income_account_id")),
        maybe(id("expense_account_id")),
        maybe(id("inventory_account_id")),
        maybe(id("cogs_account_id")),
        text("cost_method"),
        maybe(number("standard_cost")),
        text("negative_stock"),
        maybe(number("reorder_level")),
        text("status"),
        maybe(word("external_id")),
        text("tags"),
        word("search"),
    ];
    Table::of_company("items", &["id"], &columns)
        .with_versions()
        .sealed()
        .unique("items_code", "code")
        .unique("items_external_id", "external_id")
        .found_by("items_by_name", "name_key, id")
}

/// Items, tax codes and payment terms that a document in the books has ever named: such stay.
fn mentions() -> Table {
    Table::of_company("mentions", &["record_id"], &[id("record_id")]).thin()
}

//! Companies: what they are, their years, what is locked, and how their documents are numbered.

use crate::table::{Table, day, flag, id, maybe, number, text, word};

pub(super) fn tables() -> Vec<Table> {
    vec![businesses(), fiscal_years(), locks(), number_series(), number_counters(), exchange_rates()]
}

fn businesses() -> Table {
    let columns = [
        id("id"),
        text("name"),
        word("name_key"),
        maybe(text("legal_name")),
        word("base_currency"),
        maybe(word("country")),
        text("timezone"),
        number("fiscal_year_start_month"),
        number("fiscal_year_start_day"),
        maybe(text("tax_number")),
        maybe(text("registration_number")),
        maybe(text("address")),
        maybe(text("email")),
        maybe(text("phone")),
        maybe(text("website")),
        // JSON: nothing is ever looked for in them.
        text("settings"),
        text("chart_template").or("'empty'"),
        // JSON: which account has which role.
        text("system_accounts").or("'{}'"),
        text("status"),
        maybe(word("external_id")),
        text("tags"),
        word("search"),
        // Whether it is there to be tried out. It stays what it was made as.
        flag("is_trial").or("false"),
        maybe(day("told_today")),
    ];
    Table::of_all("businesses", &["id"], &columns)
        .with_versions()
        .sealed()
        .unique_everywhere("businesses_external_id", "external_id")
        .guarded(
            &["CREATE TRIGGER businesses_stay_real_or_trial BEFORE UPDATE ON businesses \
               WHEN NEW.is_trial IS NOT OLD.is_trial OR NEW.told_today IS NOT NULL AND NOT NEW.is_trial \
               BEGIN SELECT RAISE(ABORT, 'a company stays real or a trial'); END"],
            &["CREATE TRIGGER businesses_stay_real_or_trial BEFORE UPDATE ON businesses FOR EACH ROW \
               WHEN (NEW.is_trial <> OLD.is_trial OR NEW.told_today IS NOT NULL AND NOT NEW.is_trial) \
               EXECUTE FUNCTION refuse_change()"],
        )
        .counted(&[("insert", "INSERT"), ("update", "UPDATE"), ("delete", "DELETE")])
}

fn fiscal_years() -> Table {
    let columns =
        [id("id"), text("name"), word("name_key"), day("starts"), day("ends"), text("status"), word("search")];
    Table::of_company("fiscal_years", &["id"], &columns).with_versions().sealed()
}

/// Each lock replaces the one before it, which stays: what was open when is a question.
fn locks() -> Table {
    let columns = [
        id("id"),
        number("sequence"),
        maybe(day("lock_date")),
        maybe(day("sales_lock_date")),
        maybe(day("purchase_lock_date")),
        maybe(day("bank_lock_date")),
        maybe(day("stock_lock_date")),
        maybe(day("journal_lock_date")),
        maybe(day("hard_lock_date")),
        maybe(text("reason")),
        text("exceptions"),
        word("search"),
    ];
    Table::of_company("locks", &["id"], &columns).with_versions().sealed().unique("locks_sequence", "sequence")
}

fn number_series() -> Table {
    let columns = [
        id("id"),
        text("type"),
        text("name"),
        word("name_key"),
        text("pattern"),
        number("first_number"),
        text("reset_on"),
        flag("allow_manual"),
        text("chronological"),
        flag("is_default"),
        text("status"),
        word("search"),
    ];
    Table::of_company("number_series", &["id"], &columns).with_versions().sealed()
}

/// The last number of a series in a period, and its day.
fn number_counters() -> Table {
    let columns = [id("series_id"), word("period"), number("last"), day("last_date")];
    Table::of_company("number_counters", &["series_id", "period"], &columns).thin().sealed()
}

/// What other currencies were worth, day by day.
fn exchange_rates() -> Table {
    let columns = [id("id"), word("currency"), day("date"), number("rate"), maybe(text("source")), word("search")];
    Table::of_company("exchange_rates", &["id"], &columns)
        .with_versions()
        .sealed()
        .unique("exchange_rates_on_a_day", "currency, date")
}

//! How far invoices are settled, and what credits them, and when they are due: in books of before only what was open of
//! them said so. And how many lines an account has on a day, and in a month.

use crate::place::Place;
use sea_orm::DbErr;

const STANDING: &str = "\
 UPDATE documents SET due_date = o.due_date, \
   stage = CASE WHEN o.open = 0 THEN 'done' WHEN o.open <> o.amount OR o.base_open <> o.base THEN 'partial' ELSE 'open' END \
 FROM open_items AS o WHERE o.business_id = documents.business_id AND o.id = documents.id \
   AND documents.status = 'posted' \
   AND documents.kind IN ('salesInvoice', 'creditNote', 'purchaseInvoice', 'debitNote')";

/// When drafts will be due, which what they say tells: it stands as it is in the row of each.
const DUE_OF_DRAFTS: &str = "\
 UPDATE documents SET due_date = json_extract(content, '$.asked.due_date') \
 WHERE status = 'draft' AND kind IN ('salesInvoice', 'purchaseInvoice') AND json_valid(content)";

/// When what was taken back was to be due, as the last lines that it posted say.
const DUE_OF_VOID: &str = "\
 UPDATE documents SET due_date = (SELECT l.due_date FROM entries AS e JOIN entry_lines AS l \
   ON l.business_id = e.business_id AND l.entry_number = e.number \
   WHERE e.business_id = documents.business_id AND e.document_id = documents.id AND l.due_date IS NOT NULL \
   ORDER BY e.number DESC LIMIT 1) \
 WHERE status = 'void' AND kind IN ('salesInvoice', 'purchaseInvoice')";

/// Says it in the documents' own rows, in books that did not. How many stand alike is counted as they come over.
pub(crate) async fn of_what_is_open(scratch: &Place) -> Result<(), DbErr> {
    if scratch.columns("documents").await?.iter().any(|column| column == "due_date") {
        return Ok(());
    }
    scratch.run("ALTER TABLE documents ADD COLUMN due_date text").await?;
    for statement in [STANDING, DUE_OF_DRAFTS, DUE_OF_VOID] {
        scratch.run(statement).await?;
    }
    scratch.run("DROP TABLE document_counts").await
}

/// Where the record of a change stands, and what is kept of a document with it: in books of before both stand where they
/// did.
pub(crate) async fn of_records(scratch: &Place) -> Result<(), DbErr> {
    for (table, kind) in [("audit_log", "blob"), ("documents", "bigint")] {
        if !scratch.columns(table).await?.iter().any(|one| one == "record") {
            scratch.run(&format!("ALTER TABLE {table} ADD COLUMN record {kind}")).await?;
        }
    }
    Ok(())
}

/// Books of before have real companies alone.
pub(crate) async fn of_companies(scratch: &Place) -> Result<(), DbErr> {
    if scratch.columns("businesses").await?.iter().any(|one| one == "is_trial") {
        return Ok(());
    }
    scratch.run("ALTER TABLE businesses ADD COLUMN is_trial boolean NOT NULL DEFAULT false").await?;
    scratch.run("ALTER TABLE businesses ADD COLUMN told_today integer").await
}

/// A count for each row of sums, whose days and months books of before keep as texts.
fn counting(table: &str, column: &str, of: &str) -> String {
    format!(
        "UPDATE {table} SET lines = l.lines FROM (SELECT business_id, account_id, currency, {of} AS of, COUNT(*) AS lines \
         FROM entry_lines GROUP BY 1, 2, 3, 4) AS l WHERE l.business_id = {table}.business_id \
         AND l.account_id = {table}.account_id AND l.currency = {table}.currency AND l.of = {table}.{column}"
    )
}

/// Counts the lines that sums of days and months were made of, in books that did not.
pub(crate) async fn of_lines(scratch: &Place) -> Result<(), DbErr> {
    for (table, column, of) in [("account_days", "date", "date"), ("account_months", "month", "substr(date, 1, 7)")] {
        if !scratch.columns(table).await?.iter().any(|one| one == "lines") {
            scratch.run(&format!("ALTER TABLE {table} ADD COLUMN lines bigint NOT NULL DEFAULT 0")).await?;
            scratch.run(&counting(table, column, of)).await?;
        }
    }
    Ok(())
}

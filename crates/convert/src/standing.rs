//! How far invoices are settled, and what credits them, and when they are due: in books of before only what was open of
//! them said so.

use crate::place::Place;
use sea_orm::DbErr;

const STANDING: &str = "\
 UPDATE documents SET due_date = o.due_date, \
   stage = CASE WHEN o.open = 0 THEN 'done' WHEN o.open <> o.amount OR o.base_open <> o.base THEN 'partial' ELSE 'open' END \
 FROM open_items AS o WHERE o.business_id = documents.business_id AND o.id = documents.id \
   AND documents.status = 'posted' \
   AND documents.kind IN ('salesInvoice', 'creditNote', 'purchaseInvoice', 'debitNote')";

/// Says it in the documents' own rows, in books that did not. How many stand alike is counted as they come over.
pub(crate) async fn of_what_is_open(scratch: &Place) -> Result<(), DbErr> {
    if scratch.columns("documents").await?.iter().any(|column| column == "due_date") {
        return Ok(());
    }
    scratch.run("ALTER TABLE documents ADD COLUMN due_date text").await?;
    scratch.run(STANDING).await?;
    scratch.run("DROP TABLE document_counts").await
}

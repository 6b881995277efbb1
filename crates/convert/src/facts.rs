//! What was billed and invoiced of goods that had waited, as facts of stock; and what was missing when it went.
//!
//! The step that first made facts made them of movements alone. So goods of which a part was invoiced by then waited for
//! ever in the facts, and not in the books. What an invoice or a bill took of a note stands in the history of the note's
//! line, with its day and what it was carried at: from there the fact is made, and cancelled on the day that took it back.

use crate::place::Place;
use crate::taking::Taken;
use sea_orm::DbErr;

/// What each invoice or bill did to each line of a note on each day.
const TAKEN: &str = "\
 SELECT m.business_id, m.line_id, m.document_id, m.date, MIN(m.kind) AS kind, SUM(m.invoiced) AS invoiced, \
   SUM(m.value) AS value, MIN(m.recorded_at) AS recorded_at \
 FROM progress_moves m \
 WHERE m.account_id IS NOT NULL AND NOT m.is_correction AND m.kind IN ('salesInvoice', 'purchaseInvoice') \
 GROUP BY m.business_id, m.line_id, m.document_id, m.date HAVING SUM(m.invoiced) ";

const FACTS: &str = "\
 INSERT INTO stock_facts (business_id, id, item_id, date, place, document_id, line_id, kind, side, quantity, amount, standard, \
   of_line_id, cancels_id, inventory_account_id, cost_account_id, variance_account_id, waits_account_id, booked_stock, \
   booked_waits, booked_cost, booked_variance, recorded_at, seal) \
 SELECT t.business_id, randomblob(16), f.item_id, t.date, \
   (SELECT MAX(o.place) FROM stock_facts o WHERE o.business_id = f.business_id AND o.item_id = f.item_id) \
     + row_number() OVER (PARTITION BY f.business_id, f.item_id ORDER BY t.recorded_at, t.document_id, t.line_id), \
   t.document_id, \
   COALESCE((SELECT MIN(l.id) FROM document_lines l WHERE l.business_id = t.business_id AND l.document_id = t.document_id \
     AND l.source_line_id = t.line_id), t.document_id), \
   CASE t.kind WHEN 'salesInvoice' THEN 'invoice' ELSE 'bill' END, \
   CASE t.kind WHEN 'salesInvoice' THEN 'cost' ELSE 'document' END, \
   t.invoiced, CASE t.kind WHEN 'salesInvoice' THEN 0 ELSE t.value END, NULL, t.line_id, NULL, \
   f.inventory_account_id, f.cost_account_id, f.variance_account_id, f.waits_account_id, 0, t.value, \
   CASE t.kind WHEN 'salesInvoice' THEN -t.value ELSE 0 END, 0, t.recorded_at, '' \
 FROM (";

const OF_NOTES: &str = ") AS t JOIN stock_facts f ON f.business_id = t.business_id AND f.line_id = t.line_id \
   AND f.kind IN ('issue', 'receipt') AND f.side = 'waits'";

const CANCELLATIONS: &str = "\
 INSERT INTO stock_facts (business_id, id, item_id, date, place, document_id, line_id, kind, side, quantity, amount, standard, \
   of_line_id, cancels_id, inventory_account_id, cost_account_id, variance_account_id, waits_account_id, booked_stock, \
   booked_waits, booked_cost, booked_variance, recorded_at, seal) \
 SELECT f.business_id, randomblob(16), f.item_id, t.date, f.place, f.document_id, f.line_id, 'cancellation', f.side, f.quantity, \
   f.amount, NULL, NULL, f.id, f.inventory_account_id, f.cost_account_id, f.variance_account_id, f.waits_account_id, \
   f.booked_stock, f.booked_waits, f.booked_cost, f.booked_variance, t.recorded_at, '' \
 FROM (";

const OF_FACTS: &str = ") AS t JOIN stock_facts f ON f.business_id = t.business_id AND f.of_line_id = t.line_id \
   AND f.document_id = t.document_id AND f.kind IN ('invoice', 'bill') AND f.quantity = -t.invoiced AND f.date <= t.date";

/// What went out when there was less than that.
const MISSING: &str = "\
 UPDATE stock_lines SET was_missing = 1 WHERE (business_id, item_id, date, sequence) IN ( \
   SELECT t.business_id, t.item_id, t.date, t.sequence FROM ( \
     SELECT l.business_id, l.item_id, l.date, l.sequence, l.quantity, SUM(l.quantity) \
       OVER (PARTITION BY l.business_id, l.item_id ORDER BY l.date, l.sequence) AS there FROM stock_lines l) AS t \
   WHERE t.quantity < 0 AND t.there < 0)";

/// Marks what was missing when it went, in books that did not note it: what is left of it is to be valued from its day on.
pub(crate) async fn of_what_was_missing(scratch: &Place) -> Result<(), DbErr> {
    if scratch.columns("stock_lines").await?.iter().any(|column| column == "was_missing") {
        return Ok(());
    }
    scratch.run("ALTER TABLE stock_lines ADD COLUMN was_missing boolean NOT NULL DEFAULT 0").await?;
    scratch.run(MISSING).await
}

/// Makes these facts in books that had none of their own.
pub(crate) async fn of_what_was_billed(scratch: &Place, taken: &Taken) -> Result<(), DbErr> {
    if !taken.columns.contains_key("progress_moves") {
        return Ok(());
    }
    // What came in earlier and cost so much more is a fact now, and moves nothing.
    scratch.run("DELETE FROM stock_lines WHERE kind = 'cost'").await?;
    // Its guards are those of a table that grows; what is put in here has a number of its own each.
    scratch.run(&format!("{FACTS}{TAKEN} > 0{OF_NOTES}")).await?;
    scratch.run(&format!("{CANCELLATIONS}{TAKEN} < 0{OF_FACTS}")).await
}

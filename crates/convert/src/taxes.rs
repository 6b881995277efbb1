//! What books of before told of tax, as facts.
//!
//! Such books have no tax sub-ledger: what was taxed stands in the contents of their documents, and each line of the ledger that
//! carries tax is tagged with its code and component. Facts of the last version of a document are made of its content; those of
//! a version before it, which was taken back, of the tagged lines; a reversal takes back what its entry told. So the reports of
//! tax reach back to the first day.
//!
//! That is done for companies of which it is certain: where each line on an account of tax is what its facts tell, and each tax
//! what its rate makes of its base. What else there may be (reverse charge, withholding, several components on a line, journals
//! with tax codes) was posted by rules of its own; a company that has any of it keeps the mark up to where nothing is told.
//!
//! It runs in the scratch file, right after the table is made, when contents are plain text still.

use crate::place::Place;
use sea_orm::DbErr;

/// The documents whose lines are taxed, or could have been.
const KINDS: &str = "'salesInvoice', 'creditNote', 'purchaseInvoice', 'debitNote', 'receipt', 'payment'";

/// An identifier in JSON, as it stands in a column.
macro_rules! id {
    ($path:literal) => {
        concat!("unhex(replace(", $path, ", '-', ''))")
    };
}

/// An amount in JSON, in ten-thousandths.
macro_rules! units {
    ($path:literal) => {
        concat!("CAST(ROUND(", $path, " * 10000) AS INTEGER)")
    };
}

/// The lines of the last version of each document: what they come to, and the only tax on each.
fn lines() -> String {
    let last = "e.number = (SELECT MAX(o.number) FROM entries o WHERE o.business_id = e.business_id \
                AND o.document_id = e.document_id AND o.kind IN ('normal', 'opening'))";
    format!(
        "CREATE TABLE told_lines AS \
         WITH read AS (SELECT e.business_id, e.number, e.date, e.recorded_at, e.document_kind, e.document_id, \
           e.document_version, e.kind = 'opening' OR COALESCE(json_extract(d.content, '$.asked.is_opening'), 0) AS opening, \
           d.party_id, d.currency, d.currency = b.base_currency AS home, \
           json_extract(d.content, '$.figures.party_tax_number') AS party_tax_number, j.key AS i, j.value AS kept, \
           COALESCE(json_extract(j.value, '$.figures'), j.value) AS figures, \
           json_extract(d.content, '$.asked.lines[' || j.key || ']') AS asked \
         FROM entries e JOIN documents d ON d.business_id = e.business_id AND d.id = e.document_id \
         JOIN businesses b ON b.id = e.business_id JOIN json_each(d.content, '$.figures.lines') j \
         WHERE e.document_kind IN ({KINDS}) AND e.kind IN ('normal', 'opening') AND {last}) \
         SELECT r.business_id, r.number, r.date, r.recorded_at, r.document_kind, r.document_id, r.document_version, r.opening, \
           r.party_id, r.currency, r.party_tax_number, r.i, {line} AS line_id, {account} AS account_id, \
           json_array_length(r.figures, '$.taxes') AS taxes, {code} AS code_id, {component} AS component_id, \
           json_extract(r.figures, '$.taxes[0].name') AS component, json_extract(r.figures, '$.taxes[0].kind') AS kind, \
           CAST(ROUND(json_extract(r.figures, '$.taxes[0].rate') * 1000000) AS INTEGER) AS rate, \
           {net} AS base, {tax} AS tax, COALESCE({home_net}, CASE WHEN r.home THEN {net} END) AS home_base, \
           COALESCE({home_tax}, CASE WHEN r.home THEN {tax} END) AS home_tax \
         FROM read r WHERE json_extract(r.asked, '$.account') IS NOT NULL",
        line = id!("json_extract(r.asked, '$.id')"),
        account = id!("json_extract(r.asked, '$.account')"),
        code = id!("json_extract(r.figures, '$.taxes[0].code')"),
        component = id!("json_extract(r.figures, '$.taxes[0].component')"),
        net = units!("json_extract(r.figures, '$.net')"),
        tax = units!("json_extract(r.figures, '$.tax')"),
        home_net = units!("json_extract(r.kept, '$.base_net')"),
        home_tax = units!("json_extract(r.kept, '$.base_tax')"),
    )
}

/// The side of each line, and its sign there: money that comes back for what was bought takes off.
const SIDED: &str = "\
 CREATE TABLE told_sides AS \
 WITH sided AS (SELECT t.*, CASE \
     WHEN t.document_kind IN ('salesInvoice', 'creditNote') THEN 'sale' \
     WHEN t.document_kind IN ('purchaseInvoice', 'debitNote') THEN 'purchase' \
     WHEN c.direction = 'sales' THEN 'sale' WHEN c.direction = 'purchase' THEN 'purchase' \
     WHEN a.class = 'income' THEN 'sale' ELSE 'purchase' END AS side, \
   c.report_box, c.category, \
   t.document_kind NOT IN ('receipt', 'payment') OR c.id IS NOT NULL OR a.class IN ('income', 'expense') AS tells \
 FROM told_lines t LEFT JOIN tax_codes c ON c.business_id = t.business_id AND c.id = t.code_id \
 LEFT JOIN accounts a ON a.business_id = t.business_id AND a.id = t.account_id) \
 SELECT s.*, CASE WHEN s.document_kind IN ('creditNote', 'debitNote') \
     OR (s.document_kind = 'receipt' AND s.side = 'purchase') OR (s.document_kind = 'payment' AND s.side = 'sale') \
   THEN -1 ELSE 1 END AS sign, \
   CASE WHEN COALESCE(s.kind, '') <> 'standard' THEN 'none' WHEN s.side = 'sale' THEN 'owed' ELSE 'claimed' END AS duty, \
   row_number() OVER (PARTITION BY s.business_id, s.number, s.code_id, s.component, s.tax <> 0 ORDER BY s.i) AS turn \
 FROM sided s WHERE s.tells";

/// Lines of the ledger that say which tax they carry, in their order.
const TAGGED: &str = "\
 CREATE TABLE told_tagged AS \
 SELECT l.*, row_number() OVER (PARTITION BY l.business_id, l.entry_number, l.tax_code_id, l.tax_component ORDER BY l.position) \
   AS turn FROM entry_lines l WHERE l.tax_component IS NOT NULL";

/// Facts, each with the entry that it is of.
const FACTS: &str = "\
 CREATE TABLE told_facts (business_id, entry_number, position, i, entry_date, date, recorded_at, document_kind, document_id, \
   document_version, line_id, takes_back_id, side, duty, origin, tax_code_id, component_id, component, kind, rate, category, \
   base_box, leads, party_id, party_tax_number, country, currency, base, tax, home_base, home_tax, account_id)";

const OF_CONTENTS: &str = "\
 INSERT INTO told_facts \
 SELECT s.business_id, s.number, CASE WHEN s.opening THEN NULL ELSE g.position END, s.i, s.date, s.date, s.recorded_at, \
   s.document_kind, s.document_id, s.document_version, s.line_id, NULL, s.side, s.duty, \
   CASE WHEN s.opening THEN 'opening' ELSE 'document' END, s.code_id, s.component_id, s.component, s.kind, s.rate, s.category, \
   s.report_box, 1, s.party_id, s.party_tax_number, json_extract(p.billing_address, '$.country'), s.currency, \
   s.sign * s.base, s.sign * s.tax, s.sign * s.home_base, s.sign * s.home_tax, CASE WHEN s.opening THEN NULL ELSE g.account_id END \
 FROM told_sides s LEFT JOIN parties p ON p.business_id = s.business_id AND p.id = s.party_id \
 LEFT JOIN told_tagged g ON g.business_id = s.business_id AND g.entry_number = s.number AND g.tax_code_id = s.code_id \
   AND g.tax_component = s.component AND g.turn = s.turn AND s.tax <> 0";

/// Versions that others took the place of.
fn of_versions() -> String {
    let side = "CASE WHEN e.document_kind IN ('salesInvoice', 'creditNote') THEN 'sale' \
                WHEN e.document_kind IN ('purchaseInvoice', 'debitNote') THEN 'purchase' \
                WHEN a.class = 'asset' THEN 'purchase' ELSE 'sale' END";
    let sign = format!("CASE WHEN {side} = 'sale' THEN -1 ELSE 1 END");
    format!(
        "INSERT INTO told_facts \
         SELECT e.business_id, e.number, g.position, g.position, e.date, e.date, e.recorded_at, e.document_kind, e.document_id, \
           e.document_version, NULL, NULL, {side}, CASE WHEN {side} = 'sale' THEN 'owed' ELSE 'claimed' END, 'document', \
           g.tax_code_id, {component}, g.tax_component, json_extract(j.value, '$.kind'), \
           CAST(ROUND(json_extract(j.value, '$.rate') * 1000000) AS INTEGER), c.category, c.report_box, 1, d.party_id, NULL, NULL, \
           d.currency, {sign} * g.tax_base, {sign} * g.currency_amount, {sign} * g.tax_base, {sign} * g.amount, g.account_id \
         FROM entries e JOIN documents d ON d.business_id = e.business_id AND d.id = e.document_id \
         JOIN told_tagged g ON g.business_id = e.business_id AND g.entry_number = e.number \
         JOIN accounts a ON a.business_id = g.business_id AND a.id = g.account_id \
         JOIN tax_codes c ON c.business_id = g.business_id AND c.id = g.tax_code_id JOIN json_each(c.components) j \
         WHERE json_extract(j.value, '$.name') = g.tax_component AND e.document_kind IN ({KINDS}) \
         AND e.kind IN ('normal', 'opening') AND e.number < (SELECT MAX(o.number) FROM entries o \
           WHERE o.business_id = e.business_id AND o.document_id = e.document_id AND o.kind IN ('normal', 'opening'))",
        component = id!("json_extract(j.value, '$.id')"),
    )
}

/// What moves an account of tax without being tax.
const CARRIED: &str = "\
 INSERT INTO told_facts \
 SELECT e.business_id, e.number, l.position, l.position, e.date, e.date, e.recorded_at, e.document_kind, e.document_id, \
   e.document_version, NULL, NULL, CASE WHEN a.class = 'asset' THEN 'purchase' ELSE 'sale' END, \
   CASE WHEN a.class = 'asset' THEN 'claimed' ELSE 'owed' END, 'carry', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, l.party_id, \
   NULL, NULL, l.currency, 0, CASE WHEN a.class = 'asset' THEN 1 ELSE -1 END * l.currency_amount, 0, \
   CASE WHEN a.class = 'asset' THEN 1 ELSE -1 END * l.amount, l.account_id \
 FROM entries e JOIN entry_lines l ON l.business_id = e.business_id AND l.entry_number = e.number \
 JOIN accounts a ON a.business_id = l.business_id AND a.id = l.account_id AND a.keeper = 'tax' \
 WHERE e.document_kind = 'journal' AND e.kind <> 'reversal' AND l.tax_code_id IS NULL";

const TAKEN_BACK: &str = "\
 INSERT INTO told_facts \
 SELECT f.business_id, r.number, f.position, f.i, r.date, CASE WHEN r.date = f.entry_date THEN f.date ELSE r.date END, \
   r.recorded_at, f.document_kind, f.document_id, r.document_version, f.line_id, o.id, f.side, f.duty, f.origin, f.tax_code_id, \
   f.component_id, f.component, f.kind, f.rate, f.category, f.base_box, f.leads, f.party_id, f.party_tax_number, f.country, \
   f.currency, -f.base, -f.tax, -f.home_base, -f.home_tax, f.account_id \
 FROM told_facts f JOIN entries o ON o.business_id = f.business_id AND o.number = f.entry_number \
 JOIN entries r ON r.business_id = o.business_id AND r.reverses_id = o.id AND r.kind = 'reversal'";

/// Companies of which something is not certain. A tax may be a coin off what its rate makes of its base, since documents share
/// what is rounded.
const UNCERTAIN: &str = "\
 CREATE TABLE told_uncertain AS \
 SELECT business_id FROM told_sides WHERE taxes > 1 OR COALESCE(kind, 'standard') NOT IN ('standard', 'zero', 'exempt') \
   OR home_base IS NULL OR home_tax IS NULL OR (taxes > 0 AND report_box IS NOT NULL AND kind IS NULL) \
   OR (kind = 'standard' AND ABS(tax * 100000000 - base * rate) > 10000000000) \
   OR (COALESCE(kind, '') <> 'standard' AND tax <> 0) \
 UNION SELECT l.business_id FROM entries e JOIN entry_lines l ON l.business_id = e.business_id AND l.entry_number = e.number \
   WHERE e.document_kind = 'journal' AND l.tax_code_id IS NOT NULL \
 UNION SELECT f.business_id FROM told_facts f WHERE f.origin <> 'opening' AND f.home_tax <> 0 AND f.position IS NULL \
 UNION SELECT l.business_id FROM entry_lines l JOIN accounts a ON a.business_id = l.business_id AND a.id = l.account_id \
   WHERE a.keeper = 'tax' AND l.amount <> COALESCE((SELECT SUM(CASE f.duty WHEN 'owed' THEN -f.home_tax ELSE f.home_tax END) \
     FROM told_facts f WHERE f.business_id = l.business_id AND f.entry_number = l.entry_number AND f.position = l.position), 0) \
 UNION SELECT f.business_id FROM told_facts f WHERE f.position IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entry_lines l \
   JOIN accounts a ON a.business_id = l.business_id AND a.id = l.account_id AND a.keeper = 'tax' \
   WHERE l.business_id = f.business_id AND l.entry_number = f.entry_number AND l.position = f.position)";

const TELL: &str = "\
 INSERT INTO tax_facts (business_id, entry_number, place, position, entry_date, date, recorded_at, document_kind, document_id, \
   document_version, line_id, settles_id, takes_back_id, side, duty, origin, tax_code_id, component_id, component, kind, rate, \
   category, base_box, tax_box, leads, party_id, party_tax_number, country, currency, base, tax, home_base, home_tax, \
   not_recoverable, account_id, seal) \
 SELECT f.business_id, f.entry_number, row_number() OVER (PARTITION BY f.business_id, f.entry_number ORDER BY f.i, f.position), \
   f.position, f.entry_date, f.date, f.recorded_at, f.document_kind, f.document_id, f.document_version, f.line_id, NULL, \
   f.takes_back_id, f.side, f.duty, f.origin, f.tax_code_id, f.component_id, f.component, f.kind, f.rate, f.category, f.base_box, \
   NULL, f.leads, f.party_id, f.party_tax_number, f.country, f.currency, f.base, f.tax, f.home_base, f.home_tax, 0, f.account_id, '' \
 FROM told_facts f WHERE f.business_id NOT IN (SELECT business_id FROM told_uncertain)";

const FROM_THE_FIRST: &str =
    "UPDATE tax_beginnings SET entry_number = 0 WHERE business_id NOT IN (SELECT business_id FROM told_uncertain)";

/// What each tax of a line is in the company's currency stands in the contents of now: credits take their share of it. Where
/// there are several in another currency, nothing says which is how much.
const IN_BASE: &str = "\
 UPDATE documents SET content = json_set(content, '$.figures.lines', json(( \
   SELECT json_group_array(json(CASE \
     WHEN json_type(j.value, '$.base_taxes') IS NOT NULL OR json_type(j.value, '$.base_tax') IS NULL THEN j.value \
     WHEN documents.currency = (SELECT b.base_currency FROM businesses b WHERE b.id = documents.business_id) \
     THEN json_set(j.value, '$.base_taxes', json(( \
       SELECT json_group_array(json(t.value -> '$.amount')) FROM json_each(j.value, '$.figures.taxes') t))) \
     WHEN json_array_length(j.value, '$.figures.taxes') = 1 \
     THEN json_set(j.value, '$.base_taxes', json_array(json(j.value -> '$.base_tax'))) \
     ELSE j.value END)) FROM json_each(documents.content, '$.figures.lines') j))) \
 WHERE kind IN ('salesOrder', 'purchaseOrder', 'deliveryNote', 'receiptNote', 'salesInvoice', 'purchaseInvoice', 'creditNote', \
   'debitNote') AND json_array_length(content, '$.figures.lines') > 0";

/// Makes facts of tax in books that had none.
pub(crate) async fn of_what_was_taxed(scratch: &Place) -> Result<(), DbErr> {
    let made = ["told_lines", "told_sides", "told_tagged", "told_facts", "told_uncertain"];
    let statements = [
        IN_BASE.into(),
        lines(),
        SIDED.into(),
        TAGGED.into(),
        "CREATE INDEX told_tagged_by_entry ON told_tagged (business_id, entry_number)".into(),
        FACTS.into(),
        OF_CONTENTS.into(),
        of_versions(),
        CARRIED.into(),
        TAKEN_BACK.into(),
        "CREATE INDEX told_facts_by_entry ON told_facts (business_id, entry_number, position)".into(),
        UNCERTAIN.into(),
        TELL.into(),
        FROM_THE_FIRST.into(),
    ];
    for statement in statements {
        scratch.run(&statement).await?;
    }
    for table in made {
        scratch.run(&format!("DROP TABLE {table}")).await?;
    }
    Ok(())
}

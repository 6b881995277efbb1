//! What notes credit of invoices: never more than was invoiced, line by line, and the note says what was taken.
//!
//! Read from what is kept of the documents, as plain text and numbers, and added up here.

use super::{Check, Findings, PORTION, Wide, kept, shown};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use schema::reader::Reader;
use schema::tables::documents::Whose;
use schema::tables::{DocumentStatus, Relation, document_links, documents};
use schema::written::Written;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use words::sums::Sums as _;

/// What there is of a line, by what it is: pieces, money after discounts, and each tax.
pub(super) type Amounts = BTreeMap<String, Wide>;

/// A decimal in millionths.
pub(super) fn number(value: &Value) -> Result<Wide> {
    decimal(&value.to_string())
}

/// The same of its text.
pub(super) fn decimal(text: &str) -> Result<Wide> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut units: Option<Wide> = Some(0);
    for digit in whole.bytes().chain(fraction.bytes()).chain((fraction.len()..PLACES).map(|_| b'0')) {
        let one = digit.is_ascii_digit().then(|| Wide::from(digit - b'0'));
        units = units.zip(one).and_then(|(units, one)| units.checked_mul(10)?.checked_add(one));
    }
    let units = units.ok_or_else(|| Error::internal(format!("{text} is no decimal number")))?;
    Ok(units * sign)
}

/// How many digits a millionth has behind the point.
const PLACES: usize = 6;

fn add(sums: &mut Amounts, of: impl Into<String>, value: &Value) -> Result<()> {
    *sums.entry(of.into()).or_default() += number(value)?;
    Ok(())
}

fn take_off(sums: &mut Amounts, of: &str, value: &Value) -> Result<()> {
    *sums.entry(of.into()).or_default() -= number(value)?;
    Ok(())
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// What an invoice says of its lines, by their identifiers.
pub(super) fn invoiced(content: &Value) -> Result<HashMap<String, Amounts>> {
    let mut lines = HashMap::new();
    for (asked, kept) in list(&content["asked"]["lines"]).zip(list(&content["figures"]["lines"])) {
        let (Some(id), figures) = (asked["id"].as_str(), &kept["figures"]) else { continue };
        let mut sums = Amounts::new();
        if !asked["quantity"].is_null() {
            add(&mut sums, "pieces", &asked["quantity"])?;
        }
        add(&mut sums, "money", &figures["gross"])?;
        take_off(&mut sums, "money", &figures["discount"])?;
        for tax in list(&figures["taxes"]) {
            add(&mut sums, format!("tax {}", tax["component"]), &tax["amount"])?;
        }
        lines.insert(id.to_owned(), sums);
    }
    Ok(lines)
}

/// Adds what a note took of lines, and answers where its own figures are not what it took.
pub(super) fn taken(content: &Value, sums: &mut HashMap<String, Amounts>) -> Result<Vec<usize>> {
    let mut odd = Vec::new();
    for (place, kept) in list(&content["figures"]["lines"]).enumerate() {
        let (mut tax, mut any) = (0, false);
        for took in list(&kept["took"]) {
            let (Some(of), stated) = (took["of"].as_str(), &took["share"]["stated"]) else { continue };
            let of_line = sums.entry(of.to_owned()).or_default();
            any = true;
            add(of_line, "pieces", &took["share"]["quantity"])?;
            add(of_line, "money", &stated["gross"])?;
            take_off(of_line, "money", &stated["discount"])?;
            for part in list(&stated["taxes"]) {
                add(of_line, format!("tax {}", part["component"]), &part["amount"])?;
                tax += if part["charged"] == true { number(&part["amount"])? } else { 0 };
            }
        }
        if any && number(&kept["figures"]["tax"])? != tax {
            odd.push(place);
        }
    }
    Ok(odd)
}

/// Whether a part lies within its whole, on the same side of nothing.
pub(super) const fn within(part: Wide, whole: Wide) -> bool {
    if whole < 0 { whole <= part && part <= 0 } else { 0 <= part && part <= whole }
}

async fn content_of(
    reader: &Reader<'_>,
    ids: Vec<RecordId>,
    findings: &mut Findings,
) -> Result<Vec<(Option<String>, Value)>> {
    let rows: Vec<(RecordId, Option<String>, Option<i64>, Written)> = documents::Entity::find()
        .select_only()
        .columns([
            documents::Column::Id,
            documents::Column::Number,
            documents::Column::Record,
            documents::Column::Content,
        ])
        .filter(documents::Column::BusinessId.eq(reader.id()))
        .filter(documents::Column::Id.is_in(ids))
        .filter(documents::Column::Status.eq(DocumentStatus::Posted))
        .read(&reader.db)
        .await?;
    let mut found = Vec::new();
    for (id, number, record, content) in rows {
        let whose = Whose { business: reader.id(), id, number: number.as_deref(), record };
        found.extend(kept(whose, &content, findings)?.map(|content| (number, content)));
    }
    Ok(found)
}

/// No line is credited for more than it came to.
pub(super) async fn check(reader: &Reader<'_>) -> Result<Check> {
    let mut findings = Findings::default();
    let (mut credited, mut of_lines): (Wide, Wide) = (0, 0);
    let mut last: Option<RecordId> = None;
    loop {
        let mut portion = document_links::Entity::find()
            .filter(document_links::Column::BusinessId.eq(reader.id()))
            .filter(document_links::Column::Relation.eq(Relation::Credits))
            .order_by_asc(document_links::Column::SourceDocumentId)
            .limit(PORTION);
        if let Some(last) = last {
            portion = portion.filter(document_links::Column::SourceDocumentId.gt(last));
        }
        let mut links = portion.models(&reader.db).await?;
        let Some(end) = links.last().map(|link| link.source_document_id) else { break };
        if links.len() as u64 >= PORTION {
            // The last one may have more links than were read; all of them are read with it.
            let whole = document_links::Entity::find()
                .filter(document_links::Column::BusinessId.eq(reader.id()))
                .filter(document_links::Column::Relation.eq(Relation::Credits))
                .filter(document_links::Column::SourceDocumentId.eq(end));
            links.retain(|link| link.source_document_id != end);
            links.extend(whole.models(&reader.db).await?);
        }
        last = Some(end);
        reader.pause().await?;
        let notes = content_of(reader, links.iter().map(|link| link.document_id).collect(), &mut findings).await?;
        let mut sums: HashMap<String, Amounts> = HashMap::new();
        for (number, content) in &notes {
            for place in taken(content, &mut sums)? {
                let number = number.as_deref().unwrap_or("");
                findings.add(format!("line {} of {number} is not what it took", place + 1));
            }
        }
        let invoices = links.iter().map(|link| link.source_document_id).collect();
        for (number, content) in content_of(reader, invoices, &mut findings).await? {
            for (line, whole) in invoiced(&content)? {
                let Some(taken) = sums.get(&line) else { continue };
                credited += taken.sum_of("money");
                of_lines += taken.sum_of("money");
                for (what, part) in taken {
                    let all = whole.sum_of(what);
                    if !within(*part, all) {
                        of_lines += if what == "money" { all - *part } else { 0 };
                        let (number, part, all) =
                            (number.as_deref().unwrap_or(""), shown(*part / 100), shown(all / 100));
                        findings.add(format!("{number}, line {line}: {part} of {all} {what} are credited"));
                    }
                }
            }
        }
    }
    let (left, right) = (shown(credited / 100), shown(of_lines / 100));
    Ok(Check::of("L1", "No line is credited for more than it came to", left, right, findings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_lies_within_what_there_was() {
        for (part, whole, wanted) in
            [(3, 3, true), (4, 3, false), (-1, 3, false), (-3, -3, true), (1, -3, false), (0, 0, true)]
        {
            assert_eq!(within(part, whole), wanted, "{part} of {whole}");
        }
    }

    #[test]
    fn decimals_are_read_in_millionths() {
        for (text, wanted) in [("0", 0), ("1.5", 1_500_000), ("-0.07", -70_000), ("12", 12_000_000), ("0.000001", 1)] {
            assert_eq!(decimal(text).unwrap(), wanted, "{text}");
        }
        for text in ["null", "\"1\"", "1e5", "1.2.3", "--1", "99999999999999999999999999999999999"] {
            assert!(decimal(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_note_is_read_as_it_is_kept() {
        let share = r#"{"quantity": 1, "stated": {"gross": 9.99, "discount": 0.5, "taxes": [
            {"component": "a", "charged": true, "amount": 1.58}, {"component": "w", "charged": false, "amount": 3}
        ]}}"#;
        let note = |tax: &str| -> Value {
            let took = format!(r#""took": [{{"of": "x", "share": {share}}}]"#);
            let line = format!(r#"{{"figures": {{"tax": {tax}}}, {took}}}"#);
            serde_json::from_str(&format!(r#"{{"figures": {{"lines": [{line}]}}}}"#)).unwrap()
        };
        assert_eq!(taken(&note("1.57"), &mut HashMap::new()).unwrap(), [0]);
        let mut sums = HashMap::new();
        assert!(taken(&note("1.58"), &mut sums).unwrap().is_empty());
        let wanted = [("money", 9_490_000), ("pieces", 1_000_000), ("tax \"a\"", 1_580_000), ("tax \"w\"", 3_000_000)];
        assert_eq!(sums["x"], wanted.map(|(of, units)| (of.to_owned(), units)).into());
    }
}

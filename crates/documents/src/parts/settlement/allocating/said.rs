//! What a body of a posted document says that it settles.
//!
//! What came with a document when it was posted has a life of its own: an update cannot change it, and says so. A body that
//! leaves it out, or that was read and is sent back, says nothing.

use super::{AllocationAsked, AllocationInput, check_each, of_documents};
use crate::error::{Error, Result};
use crate::field::{Each, Faults, Field};
use crate::ids::RecordId;
use books::cx::Cx;
use schema::tables::allocations;
use words::sown::{Fault, sown};

/// Whether a body says what is settled. It is no part of what a document is, and no change of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said(bool);

impl PartialEq for Said {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Said {}

/// The allocations of a body, and whether it says any.
pub(crate) fn check_said(faults: &mut Faults, field: Each<AllocationInput>) -> (Vec<AllocationAsked>, Said) {
    let said = Said(matches!(&field, Field::Given(Some(_))));
    (check_each(faults, field), said)
}

/// Whether one that is sent is one that there is. What it leaves out is as it was worked out.
fn is(asked: &AllocationAsked, row: &allocations::Model) -> bool {
    let amounts = |discount, write_off, withheld| (discount, write_off, withheld);
    (asked.target, asked.amount) == (row.target_id, row.amount)
        && asked.source_amount.is_none_or(|amount| amount == row.source_amount)
        && asked.date.is_none_or(|date| date == row.date)
        && amounts(asked.discount, asked.write_off, asked.withheld)
            == amounts(row.discount, row.write_off, row.withheld)
}

/// Refuses a body of a posted document that says it settles something else than it does.
pub(crate) async fn stays(cx: &Cx<'_>, document: RecordId, asked: &[AllocationAsked], said: Said) -> Result<()> {
    if !said.0 || sown(Fault::SettledIsNotReadBack) {
        return Ok(());
    }
    cx.flush().await?;
    let mut left = of_documents(cx, &[document]).await?;
    for (index, one) in asked.iter().enumerate() {
        match left.iter().position(|row| is(one, row)) {
            Some(place) => drop(left.remove(place)),
            None => return Err(other(&format!("allocations[{index}]"))),
        }
    }
    // What settles the document itself need not be said by it.
    if left.iter().any(|row| row.source_document_id == document) { Err(other("allocations")) } else { Ok(()) }
}

fn other(field: &str) -> Error {
    let why = "cannot change with a posted document; leave them out, add one to its allocations or remove one of them";
    Error::field(field, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{day, id, money, settlement};

    #[test]
    fn what_is_read_and_sent_back_is_what_there_is() {
        let row = settlement("100", "5");
        let same = AllocationAsked {
            target: row.target_id,
            target_type: None,
            amount: money("100"),
            source_amount: Some(row.source_amount),
            discount: money("5"),
            write_off: money("0"),
            write_off_account: None,
            withheld: money("0"),
            date: Some(row.date),
        };
        for (asked, holds) in [
            (same.clone(), true),
            // What it leaves out is as it was worked out.
            (AllocationAsked { source_amount: None, date: None, ..same.clone() }, true),
            (AllocationAsked { target: id(9), ..same.clone() }, false),
            (AllocationAsked { amount: money("99"), ..same.clone() }, false),
            (AllocationAsked { source_amount: Some(money("99")), ..same.clone() }, false),
            (AllocationAsked { date: Some(day("2026-03-11")), ..same.clone() }, false),
            (AllocationAsked { discount: money("0"), ..same.clone() }, false),
            (AllocationAsked { write_off: money("1"), ..same.clone() }, false),
            (AllocationAsked { withheld: money("1"), ..same.clone() }, false),
        ] {
            assert_eq!(is(&asked, &row), holds, "{asked:?}");
        }
    }
}

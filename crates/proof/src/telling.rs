//! What the digest of a ledger is made of: its entries in their order, without anything that tells one company from its twin.
//!
//! What lines name is told by the order in which they first do, and that is known only where all before was told. So a range
//! is written down by whoever reads it, with room for these, and heard in turn.

use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity};
use schema::aliases::Named;
use schema::tables::{entries, entry_lines};
use std::collections::HashMap;
use words::digest::{Digest, Parts};

/// What is told of some entries, one behind the other.
#[derive(Default)]
pub(super) struct Telling {
    parts: Parts,
    /// What is named, and where.
    names: Vec<(usize, RecordId)>,
}

impl Telling {
    /// Tells an entry. Accounts are told by their codes.
    pub(super) fn tell(
        &mut self,
        header: &entries::Model,
        lines: &[entry_lines::Model],
        codes: &HashMap<RecordId, String>,
    ) {
        let Self { parts, names } = self;
        parts.feed_number(Some(header.number));
        parts.feed_shown(Some(header.date));
        parts.feed_number(Some(header.total.units()));
        parts.feed(Some(header.kind.as_str()));
        parts.feed(Some(header.document_kind.as_str()));
        parts.feed(header.document_number.as_deref());
        parts.feed(header.narration.as_deref());
        parts.feed_shown(Some(lines.len()));
        for line in lines {
            match codes.get(&line.account_id) {
                Some(code) => parts.feed(Some(code)),
                None => names.push((parts.len(), line.account_id)),
            }
            for id in [line.party_id.map(Named::as_written), line.item_id, line.tax_code_id] {
                match id {
                    Some(id) => names.push((parts.len(), id)),
                    None => parts.feed(None),
                }
            }
            parts.feed_number(Some(line.amount.units()));
            parts.feed(Some(&line.currency));
            parts.feed_number(Some(line.own().units()));
            parts.feed(line.description.as_deref());
            parts.feed_shown(line.due_date);
            parts.feed_number(line.quantity.map(Quantity::units));
            parts.feed(line.tax_component.as_deref());
            parts.feed_number(line.tax_base.map(BookMoney::units));
        }
    }

    /// With what is told behind it.
    pub(super) fn add(&mut self, behind: Self) {
        let begins = self.parts.len();
        self.names.extend(behind.names.into_iter().map(|(place, id)| (begins + place, id)));
        self.parts.add(&behind.parts);
    }
}

/// What was told from the first entry on.
#[derive(Default)]
pub(super) struct Heard {
    digest: Digest,
    /// What lines name, by the order in which they first do.
    ordinals: HashMap<RecordId, usize>,
}

impl Heard {
    /// Hears what is told next, which is forgotten.
    pub(super) fn hear(&mut self, telling: &mut Telling) {
        let Telling { parts, names } = std::mem::take(telling);
        let mut heard = 0;
        for (place, id) in names {
            self.digest.take_parts(&parts, heard..place);
            heard = place;
            let next = self.ordinals.len();
            self.digest.feed_shown(Some(*self.ordinals.entry(id).or_insert(next)));
        }
        self.digest.take_parts(&parts, heard..parts.len());
    }

    pub(super) fn digest(self) -> String {
        self.digest.finish()
    }
}

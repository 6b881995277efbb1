//! Parties that turned out to be one.
//!
//! Owns: who a row's party is by now. Rows keep the party that they were written for; a merge writes an alias and no
//! entry. So every row has a [`Named`], of which nobody makes a party but [`Aliases`], and no other place compares a
//! column of parties.

use crate::clock::Instant;
use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use crate::party as parties;
use crate::tables::documents;
use sea_orm::sea_query::SimpleExpr;
use sea_orm::{ColumnTrait, ConnectionTrait, DeriveValueType, EntityTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, BTreeSet};
use words::sown::{Fault, sown};

/// A party as a row names it. Who that is by now, [`Aliases`] say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, DeriveValueType)]
pub struct Named(RecordId);

impl Named {
    pub const fn of(party: RecordId) -> Self {
        Self(party)
    }

    /// For what proves what was written, and for what goes on with the very item that was written.
    pub const fn as_written(self) -> RecordId {
        self.0
    }
}

// What an entity's key must be able to refuse.
impl sea_orm::TryFromU64 for Named {
    fn try_from_u64(number: u64) -> std::result::Result<Self, sea_orm::DbErr> {
        RecordId::try_from_u64(number).map(Self)
    }
}

/// Which parties became part of which, and when. What was merged before that was kept has no time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aliases(BTreeMap<RecordId, (RecordId, Option<Instant>)>);

impl Aliases {
    pub async fn load(connection: &impl ConnectionTrait, business: BusinessId) -> Result<Self> {
        let rows: Vec<(RecordId, Option<RecordId>, Option<Instant>)> = parties::Entity::find()
            .select_only()
            .columns([parties::Column::Id, parties::Column::MergedIntoId, parties::Column::MergedAt])
            .filter(parties::Column::BusinessId.eq(business))
            .filter(parties::Column::MergedIntoId.is_not_null())
            .into_tuple()
            .all(connection)
            .await?;
        Ok(Self(rows.into_iter().filter_map(|(id, into, at)| Some((id, (into?, at)))).collect()))
    }

    /// Those that were known at a time; all of them where none is said.
    #[must_use]
    pub fn known_at(&self, at: Option<Instant>) -> Self {
        let Some(at) = at else { return self.clone() };
        let known = |merged: Option<Instant>| merged.is_none_or(|merged| merged <= at);
        Self(self.0.iter().filter(|(_, (_, merged))| known(*merged)).map(|(id, into)| (*id, *into)).collect())
    }

    /// Who a row's party is.
    pub fn of(&self, named: Named) -> RecordId {
        self.meant(named.0)
    }

    /// Who is meant by an identifier of a party.
    pub fn meant(&self, party: RecordId) -> RecordId {
        if sown(Fault::AliasForgotten) {
            return party;
        }
        let mut meant = party;
        // One became part of another, which became part of a third. Nobody becomes part of themselves.
        for _ in 0..self.0.len() {
            let Some((into, _)) = self.0.get(&meant) else { break };
            meant = *into;
        }
        meant
    }

    /// Whoever a party is: itself, and all that became part of it. One that became part of another is nobody.
    pub fn names(&self, party: RecordId) -> BTreeSet<RecordId> {
        let merged = self.0.keys().copied().filter(|alias| self.meant(*alias) == party);
        merged.chain([party]).filter(|name| self.meant(*name) == party).collect()
    }

    /// Rows whose party is this one.
    pub fn is(&self, column: impl ColumnTrait, party: RecordId) -> SimpleExpr {
        self.is_any(column, [party])
    }

    /// Rows whose party is one of these.
    pub fn is_any(&self, column: impl ColumnTrait, of: impl IntoIterator<Item = RecordId>) -> SimpleExpr {
        let names: BTreeSet<RecordId> = if self.0.is_empty() {
            of.into_iter().collect()
        } else {
            of.into_iter().flat_map(|party| self.names(party)).collect()
        };
        column.is_in(names)
    }

    /// The party of a document.
    pub fn of_document(&self, row: &documents::Model) -> Option<RecordId> {
        row.party_id.map(|named| self.of(named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn id(number: u128) -> RecordId {
        RecordId(Uuid::from_u128(number))
    }

    #[test]
    fn who_became_part_of_one_that_became_part_of_another_is_the_last() {
        let at = |micros| Some(Instant::from_micros(micros));
        let aliases =
            Aliases(BTreeMap::from([(id(1), (id(2), at(10))), (id(2), (id(3), at(20))), (id(7), (id(3), None))]));
        let meant = |aliases: &Aliases| [1, 2, 3, 4, 7].map(|number| aliases.of(Named::of(id(number))));
        assert_eq!(meant(&aliases), [3, 3, 3, 4, 3].map(id));
        assert_eq!(meant(&aliases.known_at(at(20))), [3, 3, 3, 4, 3].map(id));
        assert_eq!(meant(&aliases.known_at(at(19))), [2, 2, 3, 4, 3].map(id));
        assert_eq!(meant(&aliases.known_at(at(9))), [1, 2, 3, 4, 3].map(id));
        assert_eq!(aliases.names(id(3)), BTreeSet::from([id(1), id(2), id(3), id(7)]));
        assert!(aliases.names(id(2)).is_empty());
        assert_eq!(aliases.known_at(at(19)).names(id(2)), BTreeSet::from([id(1), id(2)]));
        assert_eq!(aliases.names(id(4)), BTreeSet::from([id(4)]));
    }
}

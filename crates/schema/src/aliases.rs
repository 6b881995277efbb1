//! Parties that turned out to be one.
//!
//! Owns: who a row's party is by now. Rows keep the party that they were written for; a merge writes an alias and no
//! entry. So every row and every request has a [`Named`], of which nobody makes a party but [`Aliases`], and no other
//! place compares a column of parties: it takes a [`Meant`], which is made here alone.

use crate::among;
use crate::clock::Instant;
use crate::error::Result;
use crate::ids::{BusinessId, RecordId};
use crate::party as parties;
use crate::tables::documents;
use sea_orm::sea_query::SimpleExpr;
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, DeriveValueType, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, BTreeSet};
use words::sown::{Fault, sown};

/// A party as a row or a request names it. Who that is by now, [`Aliases`] say.
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

/// Who is meant by the name of a party: that party, or the last one that it became part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Meant(RecordId);

impl Meant {
    pub const fn id(self) -> RecordId {
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
pub struct Aliases {
    /// Who is asked for the rows; unknown where nobody became part of anybody.
    engine: Option<DbBackend>,
    merged: BTreeMap<RecordId, Merged>,
    /// Who each of them is by now, however long the way there.
    meant: BTreeMap<RecordId, RecordId>,
    /// All that became part of each.
    names: BTreeMap<RecordId, BTreeSet<RecordId>>,
}

/// So many are named one by one: hardly anybody has more names, and these are looked up in an index.
const FEW: usize = 64;

/// Into whom, and when.
type Merged = (RecordId, Option<Instant>);

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
        let merged = rows.into_iter().filter_map(|(id, into, at)| Some((id, (into?, at)))).collect();
        Ok(Self::of_merged(Some(connection.get_database_backend()), merged))
    }

    fn of_merged(engine: Option<DbBackend>, merged: BTreeMap<RecordId, Merged>) -> Self {
        let mut meant: BTreeMap<RecordId, RecordId> = BTreeMap::new();
        for alias in merged.keys() {
            // One became part of another, which became part of a third: each step is taken once.
            let (mut way, mut last) = (BTreeSet::new(), *alias);
            while let Some((into, _)) = merged.get(&last) {
                // Nobody becomes part of themselves.
                if !way.insert(last) {
                    break;
                }
                last = meant.get(into).copied().unwrap_or(*into);
            }
            meant.extend(way.into_iter().map(|passed| (passed, last)));
        }
        let mut names: BTreeMap<RecordId, BTreeSet<RecordId>> = BTreeMap::new();
        for (alias, party) in &meant {
            names.entry(*party).or_default().insert(*alias);
        }
        Self { engine, merged, meant, names }
    }

    /// Those that were known at a time; all of them where none is said.
    #[must_use]
    pub fn known_at(&self, at: Option<Instant>) -> Self {
        let Some(at) = at else { return self.clone() };
        let known = |merged: Option<Instant>| merged.is_none_or(|merged| merged <= at);
        let merged = self.merged.iter().filter(|(_, (_, merged))| known(*merged));
        Self::of_merged(self.engine, merged.map(|(id, into)| (*id, *into)).collect())
    }

    /// Who a row's party is.
    pub fn of(&self, named: Named) -> RecordId {
        self.meant(named.0).0
    }

    /// Who is meant by what a request names.
    pub fn asked(&self, named: Named) -> Meant {
        if sown(Fault::AskedByOldName) {
            return Meant(named.0);
        }
        self.meant(named.0)
    }

    /// Who is meant by an identifier of a party.
    pub fn meant(&self, party: RecordId) -> Meant {
        if sown(Fault::AliasForgotten) {
            return Meant(party);
        }
        Meant(self.meant.get(&party).copied().unwrap_or(party))
    }

    /// Whoever a party is: itself, and all that became part of it.
    fn names(&self, party: Meant) -> BTreeSet<RecordId> {
        let merged = self.names.get(&party.0).into_iter().flatten().copied();
        merged.chain([party.0]).filter(|name| self.meant(*name) == party).collect()
    }

    /// Rows whose party is this one.
    pub fn is(&self, column: impl ColumnTrait, party: Meant) -> SimpleExpr {
        self.is_any(column, [party])
    }

    /// Rows that were written for this very party, whoever it is by now.
    pub fn is_written_as(column: impl ColumnTrait, party: RecordId) -> SimpleExpr {
        column.eq(party)
    }

    /// Rows whose party is one of these.
    pub fn is_any(&self, column: impl ColumnTrait, of: impl IntoIterator<Item = Meant>) -> SimpleExpr {
        let names: BTreeSet<RecordId> = of.into_iter().flat_map(|party| self.names(party)).collect();
        match self.engine.filter(|_| names.len() > FEW) {
            Some(engine) => among::on(engine, column.as_column_ref(), names),
            None => column.is_in(names),
        }
    }

    /// Rows whose bytes name this party, as JSON has it.
    pub fn named_in(&self, bytes: impl ColumnTrait, party: Meant) -> SimpleExpr {
        // One name is asked for alike everywhere.
        among::within(self.engine.unwrap_or(DbBackend::Sqlite), bytes, self.names(party))
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
        let of_merged = |merged: &[(RecordId, Merged)]| {
            Aliases::of_merged(Some(DbBackend::Sqlite), merged.iter().copied().collect())
        };
        let aliases = of_merged(&[(id(1), (id(2), at(10))), (id(2), (id(3), at(20))), (id(7), (id(3), None))]);
        let meant = |aliases: &Aliases| [1, 2, 3, 4, 7].map(|number| aliases.of(Named::of(id(number))));
        assert_eq!(meant(&aliases), [3, 3, 3, 4, 3].map(id));
        assert_eq!(meant(&aliases.known_at(at(20))), [3, 3, 3, 4, 3].map(id));
        assert_eq!(meant(&aliases.known_at(at(19))), [2, 2, 3, 4, 3].map(id));
        assert_eq!(meant(&aliases.known_at(at(9))), [1, 2, 3, 4, 3].map(id));
        // Whoever of them is asked for, all of them are found.
        let names = |aliases: &Aliases, number| aliases.names(aliases.asked(Named::of(id(number))));
        for number in [1, 2, 3, 7] {
            assert_eq!(names(&aliases, number), BTreeSet::from([id(1), id(2), id(3), id(7)]));
        }
        for number in [1, 2] {
            assert_eq!(names(&aliases.known_at(at(19)), number), BTreeSet::from([id(1), id(2)]));
        }
        assert_eq!(names(&aliases, 4), BTreeSet::from([id(4)]));
        // In a circle, which nobody may write, everybody is somebody.
        assert_eq!(of_merged(&[(id(1), (id(2), None)), (id(2), (id(1), None))]).names.len(), 1);
    }

    #[test]
    fn a_long_way_is_gone_once() {
        let most = 100_000;
        let merged = (1..most).map(|number| (id(number), (id(number + 1), None))).collect();
        let aliases = Aliases::of_merged(Some(DbBackend::Sqlite), merged);
        let last = aliases.meant(id(1));
        assert_eq!((last, aliases.names(last).len()), (Meant(id(most)), 100_000));
    }
}

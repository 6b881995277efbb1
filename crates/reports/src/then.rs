//! What documents said when something was known: of those that changed since, as the audit log kept it.

use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::among::among;
use books::audit::versions_at;
use books::cx::{Cx, Point};
use schema::aliases::Named;
use schema::tables::documents;
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// What a version of a document says that its entries do not.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Said {
    party_id: Option<RecordId>,
    due_date: Option<Day>,
    lines: Option<Vec<SaidLine>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SaidLine {
    id: Option<RecordId>,
    due_date: Option<Day>,
}

impl Said {
    /// When what is open of it is due. That has the document's identifier; a journal is open by its lines, which say when
    /// they are due.
    pub(super) fn due(&self, document: RecordId, item: RecordId) -> Option<Day> {
        if item == document {
            return self.due_date;
        }
        self.lines.iter().flatten().find(|line| line.id == Some(item))?.due_date
    }
}

/// What these documents said at a time.
pub(super) async fn said_at(cx: &Cx<'_>, of: HashSet<RecordId>, at: Instant) -> Result<HashMap<RecordId, Said>> {
    if of.is_empty() {
        return Ok(HashMap::new());
    }
    let versions = versions_at(cx, of.into_iter().collect(), at).await?.into_iter();
    versions.map(|(id, version)| Ok((id, serde_json::from_str(&version).map_err(Error::internal)?))).collect()
}

/// Which of these documents changed since what is asked for was known.
pub(super) async fn changed_since(
    cx: &Cx<'_>,
    of: impl Iterator<Item = RecordId>,
    point: Point,
) -> Result<HashSet<RecordId>> {
    let of: HashSet<RecordId> = of.collect();
    let Some(at) = point.known_at.filter(|_| !of.is_empty()) else { return Ok(HashSet::new()) };
    let changed: Vec<RecordId> = documents::Entity::find()
        .select_only()
        .column(documents::Column::Id)
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::UpdatedAt.gt(at))
        .filter(among(cx, documents::Column::Id, of))
        .column_of(&cx.db)
        .await?;
    Ok(changed.into_iter().collect())
}

/// Whose these documents were. A document may be given to another party, and no entry of goods says whose they are.
pub(super) async fn parties_of(cx: &Cx<'_>, of: HashSet<RecordId>, point: Point) -> Result<HashMap<RecordId, Named>> {
    if of.is_empty() {
        return Ok(HashMap::new());
    }
    let changed = changed_since(cx, of.iter().copied(), point).await?;
    let now: Vec<(RecordId, Named)> = documents::Entity::find()
        .select_only()
        .columns([documents::Column::Id, documents::Column::PartyId])
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::PartyId.is_not_null())
        .filter(among(cx, documents::Column::Id, of))
        .read(&cx.db)
        .await?;
    let mut parties: HashMap<RecordId, Named> = now.into_iter().collect();
    if let Some(at) = point.known_at {
        for (document, said) in said_at(cx, changed, at).await? {
            match said.party_id {
                Some(party) => parties.insert(document, Named::of(party)),
                None => parties.remove(&document),
            };
        }
    }
    Ok(parties)
}

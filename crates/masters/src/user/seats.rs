//! In which companies somebody is, and with which rights.

use super::wire::MembershipView;
use crate::error::{Code, Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::permission;
use answers::Ask;
use books::access::Seat;
use books::among::among;
use books::auth::user as accounts;
use books::auth::user::{Column, Model, UserStatus};
use books::cx::Cx;
use schema::key::ResourceKey;
use schema::{membership, permission as permission_sets};
use sea_orm::sea_query::{Query, SelectStatement};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use std::collections::{HashMap, HashSet};

pub(crate) async fn member_of(cx: &Cx<'_>, business: BusinessId, user: UserId) -> Result<membership::Model> {
    membership::Entity::find_by_id((business, user)).model(&cx.db).await?.ok_or(Error::NotFound)
}

/// A permission set of this company, which the caller may hand out.
pub(super) async fn check_set(cx: &Cx<'_>, set: RecordId) -> Result<()> {
    let found = permission_sets::Entity::find_by_id((cx.business_id()?, set)).model(&cx.db).await?;
    let found = found.ok_or_else(|| Error::field("memberships[0].permissionId", "names no permission set"))?;
    let seat = Seat::of(found);
    permission::check_within(cx, "memberships[0].permissionId", seat.rights, seat.limits)
}

/// Whoever holds more than the caller is out of the caller's reach.
pub(crate) async fn check_reaches(cx: &Cx<'_>, set: RecordId) -> Result<()> {
    match permission_sets::Entity::find_by_id((cx.business_id()?, set)).model(&cx.db).await? {
        Some(found) => permission::check_reaches(cx, &Seat::of(found)),
        None => Ok(()),
    }
}

pub(super) async fn holds_ownership(cx: &Cx<'_>, business: BusinessId, set: RecordId) -> Result<bool> {
    let found = permission_sets::Entity::find_by_id((business, set)).model(&cx.db).await?;
    Ok(found.is_some_and(|set| Seat::of(set).is_owner))
}

/// Refuses to leave a company without an owner who can log in.
pub(super) async fn check_owner_remains(cx: &Cx<'_>, business: BusinessId, except: UserId) -> Result<()> {
    let owner = permission_sets::Entity::find()
        .filter(permission_sets::Column::BusinessId.eq(business))
        .filter(permission_sets::Column::Role.eq(schema::rights::Role::Owner))
        .model(&cx.db)
        .await?
        .ok_or_else(|| Error::internal("the company has no permission set owner"))?;
    let owners = Query::select()
        .column(membership::Column::UserId)
        .from(membership::Entity)
        .and_where(membership::Column::BusinessId.eq(business))
        .and_where(membership::Column::PermissionId.eq(owner.id))
        .and_where(membership::Column::UserId.ne(except))
        .take();
    let active = accounts::Entity::find()
        .filter(Column::Id.in_subquery(owners))
        .filter(Column::Status.eq(UserStatus::Active))
        .count(&cx.db)
        .await?;
    if active > 0 {
        return Ok(());
    }
    Err(Error::conflict(
        Code::LastOwner,
        "The company would be left without an owner who can log in; make another one first",
    ))
}

/// Whether the caller manages the people of every company that somebody is in, each with at least their rights, and of
/// the one in which the account was opened: one that only joined is nobody's but its owner's.
pub(super) async fn manages_everywhere(cx: &Cx<'_>, row: &Model) -> Result<bool> {
    // A key of one company is nobody's power over others.
    let administers =
        cx.only().is_none() && accounts::find(&cx.db, cx.user).await?.is_some_and(|one| one.is_system_admin);
    if administers || row.is_system_admin {
        return Ok(administers);
    }
    Ok(manages(&seats(cx, cx.user).await?, &seats(cx, row.id).await?, row.home_id))
}

/// Whether the people of a company, and of all in which somebody sits, are managed from these seats.
fn manages(mine: &HashMap<BusinessId, Seat>, theirs: &HashMap<BusinessId, Seat>, home: Option<BusinessId>) -> bool {
    let manages = |business: &BusinessId| {
        mine.get(business).filter(|mine| mine.rights.allows(ResourceKey::Users, schema::rights::Action::Edit))
    };
    let covers = |(business, theirs): (&BusinessId, &Seat)| manages(business).is_some_and(|mine| mine.covers(theirs));
    home.is_some_and(|home| manages(&home).is_some()) && theirs.iter().all(covers)
}

/// What somebody is in each of their companies.
async fn seats(cx: &Cx<'_>, user: UserId) -> Result<HashMap<BusinessId, Seat>> {
    let mut seats = HashMap::new();
    for member in membership::Entity::find().filter(membership::Column::UserId.eq(user)).models(&cx.db).await? {
        let set = permission_sets::Entity::find_by_id((member.business_id, member.permission_id)).model(&cx.db).await?;
        seats.extend(set.map(|set| (member.business_id, Seat::of(set))));
    }
    Ok(seats)
}

/// The members of a company, as a part of a query.
pub(super) fn members(business: BusinessId) -> SelectStatement {
    Query::select()
        .column(membership::Column::UserId)
        .from(membership::Entity)
        .and_where(membership::Column::BusinessId.eq(business))
        .take()
}

/// The company in scope, and the others whose people the caller sees.
pub(super) async fn companies_seen(cx: &Cx<'_>) -> Result<HashSet<BusinessId>> {
    let own = cx.business_id()?;
    let sees = |seat: &Seat| seat.rights.allows(ResourceKey::Users, schema::rights::Action::View);
    let seats = seats(cx, cx.user).await?.into_iter();
    let seen = seats.filter(|(_, seat)| sees(seat)).map(|(business, _)| business).chain([own]);
    // A key of one company sees no other.
    Ok(seen.filter(|business| cx.only().is_none_or(|only| only == *business)).collect())
}

/// What people may do, in some companies or in all.
pub(crate) async fn memberships(
    cx: &Cx<'_>,
    ids: &[UserId],
    only: Option<&[BusinessId]>,
) -> Result<HashMap<UserId, Vec<MembershipView>>> {
    let mut found = membership::Entity::find().filter(membership::Column::UserId.is_in(ids.iter().copied()));
    if let Some(only) = only {
        found = found.filter(membership::Column::BusinessId.is_in(only.iter().copied()));
    }
    let found = found.models(&cx.db).await?;
    let sets = permission_sets::Entity::find()
        .filter(among(cx, permission_sets::Column::Id, found.iter().map(|one| one.permission_id)))
        .models(&cx.db)
        .await?;
    let roles: HashMap<RecordId, String> = sets.into_iter().map(|set| (set.id, Seat::of(set).role)).collect();
    let mut by_user: HashMap<UserId, Vec<MembershipView>> = HashMap::new();
    for one in found {
        by_user.entry(one.user_id).or_default().push(MembershipView {
            business_id: one.business_id,
            permission_id: one.permission_id,
            role: roles.get(&one.permission_id).cloned().unwrap_or_default(),
        });
    }
    for list in by_user.values_mut() {
        list.sort_by_key(|one| one.business_id);
    }
    Ok(by_user)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user::tests::business;
    use schema::rights::{Limits, Role};

    fn seat(role: Role, days: Option<i64>) -> Seat {
        let limits = Limits { max_document_amount: None, backdate_days: days };
        Seat { set: None, role: role.to_string(), is_owner: role == Role::Owner, rights: role.rights(), limits }
    }

    #[test]
    fn an_account_is_managed_from_all_its_companies_and_from_where_it_was_opened() {
        use Role::{Accountant, Bookkeeper, Owner};
        let seats = |of: &[(u128, Role, Option<i64>)]| -> HashMap<BusinessId, Seat> {
            of.iter().map(|(of, role, days)| (business(*of), seat(*role, *days))).collect()
        };
        let owner = |of: u128| (of, Owner, None);
        for (mine, theirs, home, managed) in [
            (vec![owner(1)], vec![(1, Bookkeeper, None)], Some(1), true),
            // Whoever sees people does not manage them.
            (vec![(1, Accountant, None)], vec![(1, Bookkeeper, None)], Some(1), false),
            (vec![owner(1)], vec![(1, Bookkeeper, None), (2, Bookkeeper, None)], Some(1), false),
            (vec![owner(1), owner(2)], vec![(1, Bookkeeper, None), (2, Bookkeeper, None)], Some(1), true),
            // One that only joined is nobody's but its owner's.
            (vec![owner(1)], vec![(1, Bookkeeper, None)], Some(2), false),
            (vec![owner(1)], vec![(1, Bookkeeper, None)], None, false),
            (vec![owner(1), owner(2)], vec![(1, Bookkeeper, None)], Some(2), true),
            // Nobody manages who may do more.
            (vec![(1, Owner, Some(7))], vec![(1, Bookkeeper, None)], Some(1), false),
            (vec![(1, Owner, Some(7))], vec![(1, Bookkeeper, Some(7))], Some(1), true),
            (vec![owner(1)], vec![], Some(1), true),
        ] {
            let found = manages(&seats(&mine), &seats(&theirs), home.map(business));
            assert_eq!(found, managed, "{mine:?} {theirs:?} {home:?}");
        }
    }
}

//! Permission sets: what the members of a company may do. The built-in ones are the roles; a company adds its own.
//!
//! Owns: that nobody grants what they lack themselves. Refuses: to change a built-in set.

use crate::error::{Code, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Once, Text};
use crate::ids::{BusinessId, RecordId};
use crate::money::{Amount, BookMoney};
use crate::stored::AsJson;
use answers::Ask;
use books::access::{Business, Seat};
use books::cx::Cx;
use books::database::lane::BoxFuture;
use kit::extra::{Does, Extra, On, Produced, Reading};
use kit::list::{ListQuery, Reads};
use kit::master::{Columns, Master, RecordKeeping, keeping, kept, master_operations};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use schema::address::{search_text, text};
use schema::key::ResourceKey;
use schema::membership;
use schema::rights::{Action, Limits, Rights, Role};
use schemars::JsonSchema;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;

pub struct Permissions;

/// What a client sends to create or replace a permission set.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PermissionSetInput {
    /// Name of the set; unique in the company.
    name: Field<Label<100>>,
    /// What it is for.
    description: Maybe<Text<500>>,
    /// What its holders may do, each resource once. Nobody grants what they may not do themselves.
    grants: Field<Vec<Field<GrantInput>>>,
    /// How far that goes.
    limits: Maybe<LimitsInput>,
}

/// What may be done with one resource.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct GrantInput {
    /// The resource.
    resource: Field<Noun>,
    /// What may be done with it. To change something is of no use without `view`.
    actions: Field<Vec<Field<Action>>>,
}

/// How far the rights of a permission set go.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct LimitsInput {
    /// The most that a holder posts in one document, in the company's currency: what the document comes to, what its
    /// entries move in (fees, costs of goods, discounts and all), and what they take back where it is changed, voided or
    /// an allocation removed, each by itself. Other currencies count at the document's rate or at the company's own,
    /// whichever makes more; where the company has no rate for one, at the document's.
    max_document_amount: Maybe<BookMoney>,
    /// How many days before today an entry may be dated that a holder posts, changes or voids, 0 to 3660.
    #[schemars(range(min = 0, max = 3660))]
    backdate_days: Maybe<i64>,
}

/// What the members who hold it may do.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PermissionSet")]
pub struct PermissionSetView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// Name of the set.
    name: String,
    /// What it is for.
    description: Option<String>,
    /// Whether it is built in; such a set cannot be changed.
    is_system: bool,
    /// The role that a built-in set is.
    role: Option<Role>,
    /// What its holders may do.
    grants: Vec<Grant>,
    /// How far that goes.
    limits: LimitsView,
    /// How many members hold it.
    members: i64,
}

/// How far the rights of a permission set go.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PermissionLimits")]
pub struct LimitsView {
    /// The most that a holder posts in one document: what its entries move in, and what they take back; without limit
    /// when null.
    max_document_amount: Option<Amount>,
    /// How many days before today an entry may be dated that a holder posts, changes or voids; without limit when null.
    backdate_days: Option<i64>,
}

/// What permissions can speak of.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionCatalog {
    /// Every resource with what can be done with it.
    items: Vec<PermissionOffer>,
}

/// A resource with what can be done with it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOffer {
    /// The resource, as permissions name it.
    resource: Noun,
    /// Its heading.
    title: &'static str,
    /// What can be done with it.
    actions: &'static [Action],
    /// The keys of these permissions.
    permissions: Vec<String>,
}

impl AsRef<RecordKeeping> for PermissionSetView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::permission as table;
use schema::rights::grantable;
pub use schema::rights::{Grant, Grants, Noun};
use table::Column;

impl Resource for Permissions {
    const KEY: ResourceKey = ResourceKey::Permissions;
    const SCOPE: Scope = Scope::Business;
    const CHANGES_PEOPLE: bool = true;
    const ABOUT: About = About {
        one: "a permission set",
        many: "permission sets",
        description: "What the members of the company may do. Each member holds one set: a built-in one, or one of the \
                      company's own.",
        sorts: &["name", "createdAt", "updatedAt"],
        searched: "name and description",
    };
    type Input = PermissionSetInput;
    type Draft = Columns<Column>;
    type View = PermissionSetView;

    fn extras() -> Vec<Extra> {
        vec![Extra {
            name: "Catalog",
            segment: "catalog",
            on: On::Collection,
            action: Action::View,
            answers: None,
            summary: "List what permissions can speak of",
            description: "Every resource with what can be done with it.",
            does: Does::Reads(Reading::json::<PermissionCatalog>(catalog, || {
                json!({"items": [{
                    "resource": "party", "title": "Parties", "actions": ["view", "create", "edit", "delete"],
                    "permissions": ["party.view", "party.create", "party.edit", "party.delete"]
                }]})
            })),
        }]
    }

    fn example() -> serde_json::Value {
        json!({
            "name": "Field sales", "description": "Writes orders and small invoices, and sees what is in stock.",
            "grants": [
                {"resource": "party", "actions": ["view", "create", "edit"]},
                {"resource": "item", "actions": ["view"]},
                {"resource": "salesOrder", "actions": ["view", "create", "edit", "post"]},
                {"resource": "salesInvoice", "actions": ["view", "create", "post"]}
            ],
            "limits": {"maxDocumentAmount": 5000.00, "backdateDays": 7}
        })
    }

    fn example_view() -> serde_json::Value {
        json!({"isSystem": false, "role": null, "members": 0})
    }

    fn check(_: Option<&Business>, input: PermissionSetInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let mut row = Columns::new();
        let name = faults.required("name", input.name).into_inner();
        let description = text(&mut faults, "description", input.description);
        let grants = match input.grants {
            Field::Missing => {
                faults.add("grants", "is required: what may be done?");
                Grants::default()
            }
            Field::Malformed(why) => check_grants(&mut faults, "grants", Field::Malformed(why)),
            Field::Given(grants) => check_grants(&mut faults, "grants", Field::Given(Some(grants))),
        };
        let limits = match faults.optional("limits", input.limits) {
            Some(limits) => faults.inside("limits", limits, |faults, input| {
                let most = faults.optional("maxDocumentAmount", input.max_document_amount);
                if most.is_some_and(BookMoney::is_negative) {
                    faults.add("maxDocumentAmount", "must not be negative");
                }
                let days = faults.optional("backdateDays", input.backdate_days);
                faults.within("backdateDays", days, 0, 3660);
                Limits { max_document_amount: most, backdate_days: days }
            }),
            None => Limits::default(),
        };
        row.set(Column::NameKey, crate::texts::search_key(&name));
        row.set(Column::Search, search_text(&[Some(&name), description.as_ref()]));
        row.set(Column::Name, name);
        row.set(Column::Description, description);
        row.set(Column::Grants, AsJson(grants));
        row.set(Column::MaxDocumentAmount, limits.max_document_amount);
        row.set(Column::BackdateDays, limits.backdate_days);
        faults.finish(row)
    }

    master_operations!();
}

pub(crate) fn check_grants(faults: &mut Faults, name: &str, listed: Each<GrantInput>) -> Grants {
    let mut nouns = Once::default();
    let grants = faults.each(name, listed, |faults, input| {
        let given = matches!(input.resource, Field::Given(_));
        if nouns.is_second(&input.resource) {
            faults.add("resource", "stands here twice");
        }
        let resource = faults.required("resource", input.resource);
        let mut actions = Vec::new();
        for (place, action) in faults.required("actions", input.actions).into_iter().enumerate() {
            let place = format!("actions[{place}]");
            let known = matches!(action, Field::Given(_));
            let action = faults.required(&place, action);
            if given && known && !resource.0.actions().contains(&action) {
                faults.add(&place, format!("is nothing that can be done with {}", resource.0.permission_noun()));
            }
            if !actions.contains(&action) {
                actions.push(action);
            }
        }
        actions.sort();
        Grant { resource, actions }
    });
    Grants(grants)
}

fn catalog<'c>(_: &'c Cx<'c>, _: Option<RecordId>, _: &'c ListQuery) -> BoxFuture<'c, Result<Produced>> {
    let offer = |key: ResourceKey| PermissionOffer {
        resource: Noun(key),
        title: key.title(),
        actions: key.actions(),
        permissions: key.actions().iter().map(|action| schema::rights::permission(key, *action)).collect(),
    };
    let items = grantable().map(offer).collect();
    Box::pin(async move { Produced::json(&PermissionCatalog { items }) })
}

impl Rows for Permissions {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::NameKey, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        vec![
            Filter::equal("role", "The sets of these roles.", Reads::AnyOf(Role::TEXTS), Column::Role),
            Filter::looking("isSystem", "Built-in sets, or the company's own.", Reads::Flag, |_, value| {
                let built_in = Column::Role.is_not_null();
                let asked = value == &kit::list::FilterValue::Flag(true);
                Ok(Condition::all().add(if asked { built_in } else { Column::Role.is_null() }))
            }),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<PermissionSetView>> {
        let held: Vec<(RecordId, i64)> = membership::Entity::find()
            .select_only()
            .column(membership::Column::PermissionId)
            .column_as(membership::Column::UserId.count(), "members")
            .filter(membership::Column::BusinessId.eq(cx.business_id()?))
            .group_by(membership::Column::PermissionId)
            .read(&cx.db)
            .await?;
        let held: HashMap<RecordId, i64> = held.into_iter().collect();
        let decimals = cx.business()?.currency_decimals;
        let view = |row: table::Model| PermissionSetView {
            members: held.get(&row.id).copied().unwrap_or_default(),
            keeping: kept!(row),
            name: row.name,
            description: row.description,
            is_system: row.role.is_some(),
            role: row.role,
            grants: row.role.map_or(row.grants.0, |role| Grants::of(role.rights())).0,
            limits: LimitsView {
                max_document_amount: row.max_document_amount.map(|most| most.shown(decimals)),
                backdate_days: row.backdate_days,
            },
        };
        Ok(rows.into_iter().map(view).collect())
    }
}

impl Master for Permissions {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[("name", Column::NameKey)];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn complete(cx: &Cx<'_>, row: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        if let Some(row) = row {
            if row.role.is_some() {
                return Err(built_in());
            }
            check_reaches(cx, &Seat::of(row.clone()))?;
        }
        let wanted: Grants = draft.json(Column::Grants)?;
        let limits = Limits {
            max_document_amount: match draft.get(Column::MaxDocumentAmount) {
                Some(Value::BigInt(Some(units))) => Some(BookMoney::from_units(*units)),
                _ => None,
            },
            backdate_days: match draft.get(Column::BackdateDays) {
                Some(Value::BigInt(days)) => *days,
                _ => None,
            },
        };
        check_within(cx, "grants", wanted.rights(), limits)
    }

    async fn release(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        if row.role.is_some() {
            return Err(built_in());
        }
        let holders = membership::Entity::find()
            .filter(membership::Column::BusinessId.eq(row.business_id))
            .filter(membership::Column::PermissionId.eq(row.id));
        if holders.count(&cx.db).await? > 0 {
            return Err(Error::conflict(Code::InUse, "Members hold this permission set; give them another first"));
        }
        Ok(())
    }
}

fn built_in() -> Error {
    Error::conflict(Code::BuiltIn, "A built-in permission set cannot be changed; make one of your own")
}

/// Nobody hands out what they lack: neither rights, nor a wider limit.
pub(crate) fn check_within(cx: &Cx<'_>, field: &str, rights: Rights, limits: Limits) -> Result<()> {
    within(&cx.business()?.seat, field, rights, limits)
}

fn within(own: &Seat, field: &str, rights: Rights, limits: Limits) -> Result<()> {
    let title = "Nobody grants what they may not do themselves";
    let lacking = own.rights_beyond(rights);
    if !lacking.is_empty() {
        let fault = FieldErrors::one(field, format!("grants what you lack: {}", lacking.join(", ")));
        return Err(Error::not_allowed(title, fault));
    }
    if own.limits.is_exceeded_by(limits) {
        return Err(Error::not_allowed(title, FieldErrors::one(field, "goes further than your own limits")));
    }
    Ok(())
}

/// Whoever may do more than the caller is out of the caller's reach, and so is what they hold.
pub(crate) fn check_reaches(cx: &Cx<'_>, seat: &Seat) -> Result<()> {
    if cx.business()?.seat.covers(seat) {
        return Ok(());
    }
    Err(Error::not_allowed("Somebody who may do more than you is not yours to change", FieldErrors::default()))
}

/// The built-in sets of a new company.
pub(crate) async fn plant(cx: &Cx<'_>, business: BusinessId) -> Result<HashMap<Role, RecordId>> {
    let ids: HashMap<Role, RecordId> = Role::ALL.into_iter().map(|role| (role, RecordId(cx.new_id()))).collect();
    let rows = Role::ALL.into_iter().map(|role| {
        let (name, about) = (role.title().to_owned(), role.about().to_owned());
        table::ActiveModel {
            business_id: Set(business),
            id: Set(ids[&role]),
            name_key: Set(crate::texts::search_key(&name)),
            search: Set(search_text(&[Some(&name), Some(&about)])),
            name: Set(name),
            description: Set(Some(about)),
            role: Set(Some(role)),
            grants: Set(AsJson(Grants::default())),
            max_document_amount: Set(None),
            backdate_days: Set(None),
            version: Set(1),
            created_at: Set(cx.now),
            created_by: Set(cx.user),
            updated_at: Set(cx.now),
            updated_by: Set(cx.user),
        }
    });
    table::Entity::insert_many(rows).exec_without_returning(&cx.db).await?;
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{said, worth};
    use kit::samples::hold;

    #[test]
    fn a_set_grants_each_resource_once_and_what_can_be_done_with_it() {
        let grant = |resource: serde_json::Value, actions: &[&str]| json!({"resource": resource, "actions": actions});
        let grants = |listed: &[serde_json::Value]| [("/grants", json!(listed))];
        let twice = [grant(json!("party"), &["view"]), grant(json!("party"), &["edit"])];
        let unheard =
            [grant(json!(null), &["view"]), grant(json!("business"), &["view"]), grant(json!("coffee"), &["view"])];
        hold::<Permissions>(&[
            (&grants(&[]), &[]),
            (&grants(&twice), &["grants[1].resource: stands here twice"]),
            // One that says nothing is the second of nothing, and nothing is the second of it.
            (&grants(&unheard), &["grants[0].resource: is required", "grants[2].resource: names no resource"]),
            (&grants(&[grant(json!("party"), &["view", "view"])]), &[]),
            (
                &grants(&[grant(json!("party"), &["view", "post"])]),
                &["grants[0].actions[1]: is nothing that can be done with party"],
            ),
            (&grants(&[grant(json!("salesInvoice"), &["post", "void"])]), &[]),
            (&grants(&[grant(json!("party"), &["sing"])]), &["grants[0].actions[0]: must be"]),
            (&[("/grants", json!(null))], &["grants: is required"]),
            (&[("/limits", json!({"maxDocumentAmount": -0.01}))], &["limits.maxDocumentAmount: must not be negative"]),
            (&[("/limits", json!({"maxDocumentAmount": 0, "backdateDays": 3660}))], &[]),
            (&[("/limits", json!({"backdateDays": 3661}))], &["limits.backdateDays: must be between 0 and 3660"]),
        ]);
    }

    /// A seat whose set grants these, within limits.
    fn seat(grants: &[(ResourceKey, &[Action])], limits: Limits) -> Seat {
        let fits = |resource, action| grants.iter().any(|(key, actions)| *key == resource && actions.contains(&action));
        Seat { set: None, role: "own".into(), is_owner: false, rights: Rights::where_(fits), limits }
    }

    fn limits(most: Option<&str>, days: Option<i64>) -> Limits {
        Limits { max_document_amount: most.map(worth), backdate_days: days }
    }

    #[test]
    fn nobody_grants_what_they_lack_nor_without_the_limits_that_they_have() {
        use Action::{Create, Edit, View};
        let own = seat(
            &[(ResourceKey::Parties, &[View, Create]), (ResourceKey::Permissions, &[View])],
            limits(Some("5000"), Some(7)),
        );
        let free = seat(&[(ResourceKey::Parties, &[View, Create])], Limits::default());
        let parties: &[(ResourceKey, &[Action])] = &[(ResourceKey::Parties, &[View, Create])];
        let more: &[(ResourceKey, &[Action])] = &[(ResourceKey::Parties, &[View, Edit]), (ResourceKey::Items, &[View])];
        let further = "not allowed: grants: goes further than your own limits";
        for (own, granted, within_limits, answer) in [
            (&own, parties, limits(Some("5000"), Some(7)), "fine"),
            (&own, &[], limits(Some("0"), Some(0)), "fine"),
            (&own, parties, limits(Some("5000.01"), Some(7)), further),
            (&own, parties, limits(Some("5000"), Some(8)), further),
            // No limit goes further than any.
            (&own, parties, limits(None, Some(7)), further),
            (&own, parties, limits(Some("5000"), None), further),
            (&free, parties, Limits::default(), "fine"),
            (&free, parties, limits(Some("1"), None), "fine"),
            // What is lacking is told first, all of it.
            (&own, more, Limits::default(), "not allowed: grants: grants what you lack: party.edit, item.view"),
        ] {
            let wanted = seat(granted, within_limits);
            assert_eq!(
                said(within(own, "grants", wanted.rights, wanted.limits)),
                answer,
                "{granted:?} {within_limits:?}"
            );
            assert_eq!(own.covers(&wanted), answer == "fine", "{granted:?} {within_limits:?}");
        }
    }
}

//! Rights: what a role allows, what a permission set grants, and how far that goes.
//!
//! Owns: the table of built-in roles. Refuses: to decide per resource; a role speaks about areas of the books.

use crate::key::ResourceKey;
use crate::money::BookMoney;
use crate::wire_enum;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

wire_enum! {
    /// What a request does to a resource.
    pub enum Action {
        #[default]
        View = "view",
        Create = "create",
        Edit = "edit",
        Delete = "delete",
        /// Brings a document into the books.
        Post = "post",
        /// Takes a document back out of the books.
        Void = "void",
        /// Takes records out of the system as a file.
        Export = "export",
    }
}

impl Action {
    pub const ALL: [Self; 7] =
        [Self::View, Self::Create, Self::Edit, Self::Delete, Self::Post, Self::Void, Self::Export];
}

/// Whose work a resource is, as the built-in roles tell it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// The company itself.
    Company,
    /// Who may do what in it.
    People,
    /// Who else is told of it.
    Outward,
    /// Those and that with which there is trade.
    Names,
    Rates,
    Selling,
    Buying,
    Goods,
    Money,
    Settling,
    /// Entries that come of nothing else.
    Entry,
    /// All else: how the books are kept, and what they come to.
    Books,
}

/// The key of a permission, such as `party.edit`.
pub fn permission(resource: ResourceKey, action: Action) -> String {
    format!("{}.{}", resource.permission_noun(), action.as_str())
}

wire_enum! {
    /// What a member may do in a company.
    pub enum Role {
        /// Everything, the company itself included.
        #[default]
        Owner = "owner",
        /// All of the books, but not the company's existence.
        Accountant = "accountant",
        /// Day-to-day entry, without removing anything.
        Bookkeeper = "bookkeeper",
        /// Customers and what is sold to them.
        Sales = "sales",
        /// Suppliers and what is bought from them.
        Purchasing = "purchasing",
        /// Goods in and out.
        Warehouse = "warehouse",
        /// Money in and out.
        Cashier = "cashier",
        /// Reads everything, changes nothing.
        Auditor = "auditor",
        /// Reads everything, for programs.
        ApiReadOnly = "apiReadOnly",
    }
}

/// Whether people alone may do something: a program manages no people, no permissions and no keys, whatever its user may.
/// So a key that leaked never becomes a lasting way in; nor one out, which a webhook is.
pub fn is_for_people(resource: ResourceKey, action: Action) -> bool {
    (resource.area() == Area::People || resource == ResourceKey::Webhooks) && action != Action::View
}

impl Role {
    pub const ALL: [Self; 9] = [
        Self::Owner,
        Self::Accountant,
        Self::Bookkeeper,
        Self::Sales,
        Self::Purchasing,
        Self::Warehouse,
        Self::Cashier,
        Self::Auditor,
        Self::ApiReadOnly,
    ];

    pub fn allows(self, resource: ResourceKey, action: Action) -> bool {
        let area = resource.area();
        // Making a company is nobody's right within one.
        if !resource.actions().contains(&action) || (area == Area::Company && action == Action::Create) {
            return false;
        }
        if area == Area::People {
            let sees = action == Action::View && matches!(self, Self::Accountant | Self::Auditor);
            return self == Self::Owner || sees;
        }
        if area == Area::Outward {
            return matches!(self, Self::Owner | Self::Accountant);
        }
        if action == Action::View {
            return true;
        }
        let enters = matches!(action, Action::Create | Action::Edit | Action::Post);
        let settles = area == Area::Settling && matches!(action, Action::Create | Action::Delete);
        match self {
            Self::Owner => true,
            Self::Accountant => !(area == Area::Company && action == Action::Delete),
            Self::Bookkeeper => settles || enters && !matches!(area, Area::Company | Area::Settling | Area::Books),
            Self::Sales => enters && matches!(area, Area::Selling | Area::Names),
            Self::Purchasing => enters && matches!(area, Area::Buying | Area::Names),
            Self::Warehouse => enters && area == Area::Goods,
            Self::Cashier => settles || enters && area == Area::Money,
            Self::Auditor => action == Action::Export,
            Self::ApiReadOnly => false,
        }
    }

    pub fn rights(self) -> Rights {
        Rights::where_(|resource, action| self.allows(resource, action))
    }

    /// What its permission set is called.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Owner => "Owner",
            Self::Accountant => "Accountant",
            Self::Bookkeeper => "Bookkeeper",
            Self::Sales => "Sales",
            Self::Purchasing => "Purchasing",
            Self::Warehouse => "Warehouse",
            Self::Cashier => "Cashier",
            Self::Auditor => "Auditor",
            Self::ApiReadOnly => "Read-only, for programs",
        }
    }

    pub const fn about(self) -> &'static str {
        match self {
            Self::Owner => "Everything, the company itself and its people included.",
            Self::Accountant => "All of the books, but not the company's existence nor its people.",
            Self::Bookkeeper => "Day-to-day entry, without removing anything; sees all of the books.",
            Self::Sales => "Enters customers and what is sold to them; sees all of the books.",
            Self::Purchasing => "Enters suppliers and what is bought from them; sees all of the books.",
            Self::Warehouse => "Enters goods in and out; sees all of the books.",
            Self::Cashier => "Enters money in and out; sees all of the books.",
            Self::Auditor => "Reads everything, changes nothing.",
            Self::ApiReadOnly => "Reads the books, changes nothing.",
        }
    }
}

/// A set of permissions, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rights([u8; ResourceKey::ALL.len()]);

impl Rights {
    /// Those of all permissions that fit.
    pub fn where_(fits: impl Fn(ResourceKey, Action) -> bool) -> Self {
        let mut rights = Self([0; ResourceKey::ALL.len()]);
        for resource in ResourceKey::ALL {
            for &action in resource.actions().iter().filter(|action| fits(resource, **action)) {
                rights.0[resource as usize] |= 1 << action as u8;
            }
        }
        rights
    }

    pub const fn allows(self, resource: ResourceKey, action: Action) -> bool {
        self.0[resource as usize] & (1 << action as u8) != 0
    }

    /// Those that both have.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::where_(|resource, action| self.allows(resource, action) && other.allows(resource, action))
    }

    /// Those that the other lacks.
    pub fn beyond(self, other: Self) -> Vec<String> {
        Self::where_(|resource, action| self.allows(resource, action) && !other.allows(resource, action)).permissions()
    }

    /// The keys of all of them.
    pub fn permissions(self) -> Vec<String> {
        self.each().map(|(resource, action)| permission(resource, action)).collect()
    }

    pub fn each(self) -> impl Iterator<Item = (ResourceKey, Action)> {
        let all = ResourceKey::ALL.into_iter().flat_map(|resource| Action::ALL.map(|action| (resource, action)));
        all.filter(move |&(resource, action)| self.allows(resource, action))
    }
}

/// How far someone's rights go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Limits {
    /// The most that the entries of a document may move which they post or take back, in the company's currency.
    pub max_document_amount: Option<BookMoney>,
    /// How many days before today an entry may be dated which they post.
    pub backdate_days: Option<i64>,
}

impl Limits {
    /// Whether others go further.
    pub fn is_exceeded_by(self, other: Self) -> bool {
        let wider = |own: Option<i64>, other: Option<i64>| own.is_some_and(|own| other.is_none_or(|other| other > own));
        let amounts = [self.max_document_amount, other.max_document_amount].map(|one| one.map(BookMoney::units));
        wider(amounts[0], amounts[1]) || wider(self.backdate_days, other.backdate_days)
    }
}

/// A resource as permissions name it: `salesInvoice`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noun(pub ResourceKey);

impl Default for Noun {
    fn default() -> Self {
        Self(ResourceKey::Businesses)
    }
}

/// The resources that a permission can speak of.
pub fn grantable() -> impl Iterator<Item = ResourceKey> {
    ResourceKey::ALL.into_iter().filter(|key| !key.actions().is_empty())
}

impl Serialize for Noun {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.permission_noun())
    }
}

impl<'de> Deserialize<'de> for Noun {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let found = grantable().find(|key| key.permission_noun() == text);
        found.map(Self).ok_or_else(|| D::Error::custom("names no resource; permissions/catalog lists them"))
    }
}

impl JsonSchema for Noun {
    fn schema_name() -> Cow<'static, str> {
        "PermissionNoun".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let nouns: Vec<&str> = grantable().map(ResourceKey::permission_noun).collect();
        json_schema!({"type": "string", "enum": nouns, "description": "A resource, as permissions name it."})
    }
}

/// What may be done with one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// The resource.
    pub resource: Noun,
    /// What may be done with it.
    pub actions: Vec<Action>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grants(pub Vec<Grant>);

impl Grants {
    pub fn rights(&self) -> Rights {
        Rights::where_(|key, action| {
            self.0.iter().any(|grant| grant.resource.0 == key && grant.actions.contains(&action))
        })
    }

    pub fn of(rights: Rights) -> Self {
        let grant = |key: ResourceKey| Grant {
            resource: Noun(key),
            actions: key.actions().iter().copied().filter(|action| rights.allows(key, *action)).collect(),
        };
        Self(grantable().map(grant).filter(|grant| !grant.actions.is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Action::{Create, Delete, Edit, Export, Post, View, Void};
    use ResourceKey as Key;

    /// What of all actions a role may do with a resource.
    fn may(role: Role, key: Key) -> Vec<Action> {
        Action::ALL.into_iter().filter(|action| role.allows(key, *action)).collect()
    }

    #[test]
    fn a_role_does_its_own_work_and_sees_the_rest() {
        let all = vec![View, Create, Edit, Delete, Post, Void];
        for (role, key, expected) in [
            (Role::Owner, Key::SalesInvoices, all.clone()),
            (Role::Accountant, Key::Revaluations, all),
            (Role::Bookkeeper, Key::SalesInvoices, vec![View, Create, Edit, Post]),
            (Role::Bookkeeper, Key::Parties, vec![View, Create, Edit]),
            (Role::Bookkeeper, Key::Allocations, vec![View, Create, Delete]),
            (Role::Bookkeeper, Key::Revaluations, vec![View]),
            (Role::Bookkeeper, Key::Accounts, vec![View]),
            (Role::Sales, Key::CreditNotes, vec![View, Create, Edit, Post]),
            (Role::Sales, Key::PurchaseOrders, vec![View]),
            (Role::Purchasing, Key::Items, vec![View, Create, Edit]),
            (Role::Warehouse, Key::DeliveryNotes, vec![View, Create, Edit, Post]),
            (Role::Warehouse, Key::Parties, vec![View]),
            (Role::Cashier, Key::Receipts, vec![View, Create, Edit, Post]),
            (Role::Cashier, Key::Allocations, vec![View, Create, Delete]),
            (Role::Auditor, Key::AuditLog, vec![View, Export]),
            (Role::ApiReadOnly, Key::AuditLog, vec![View]),
            // Nobody makes a company by a role within one, and only the owner ends it or manages its people.
            (Role::Owner, Key::Businesses, vec![View, Edit, Delete]),
            (Role::Accountant, Key::Businesses, vec![View, Edit]),
            (Role::Owner, Key::Users, vec![View, Create, Edit, Delete]),
            (Role::Accountant, Key::Users, vec![View]),
            (Role::Bookkeeper, Key::Users, vec![]),
            (Role::Owner, Key::InstallationLog, vec![]),
            // What leaves the company is the affair of who answers for it.
            (Role::Accountant, Key::Webhooks, vec![View, Create, Edit, Delete]),
            (Role::Auditor, Key::Webhooks, vec![]),
            (Role::Auditor, Key::Events, vec![View]),
        ] {
            assert_eq!(may(role, key), expected, "{role} {key:?}");
        }
    }

    #[test]
    fn programs_manage_no_people() {
        for (key, action, expected) in [
            (Key::Users, Create, true),
            (Key::ApiKeys, Delete, true),
            (Key::Users, View, false),
            (Key::Businesses, Edit, false),
            (Key::SalesInvoices, Post, false),
        ] {
            assert_eq!(is_for_people(key, action), expected, "{key:?} {action}");
        }
    }
}

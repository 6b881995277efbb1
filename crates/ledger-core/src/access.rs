//! Who may do what: roles, permissions, and the company a request is about.
//!
//! Owns: the table of built-in roles. Refuses: to decide per resource; a role speaks about areas of the books.

use crate::clock::Instant;
use crate::database::stored::{AsJson, wire_enum};
use crate::error::{Error, Result};
use crate::ids::{BusinessId, UserId};
use crate::resource::ResourceKey;
use crate::resource::business::{BusinessSettings, BusinessStatus, table as business};
use sea_orm::entity::prelude::*;
use sea_orm::{FromQueryResult, JoinType, QuerySelect, RelationDef};

/// What a request does to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    View,
    Create,
    Edit,
    Delete,
}

impl Action {
    pub const ALL: [Self; 4] = [Self::View, Self::Create, Self::Edit, Self::Delete];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Create => "create",
            Self::Edit => "edit",
            Self::Delete => "delete",
        }
    }
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
        // Making a company is nobody's right within one.
        if resource == ResourceKey::Businesses && action == Action::Create {
            return false;
        }
        if action == Action::View {
            return true;
        }
        match self {
            Self::Owner => true,
            Self::Accountant => !(resource == ResourceKey::Businesses && action == Action::Delete),
            Self::Bookkeeper => resource != ResourceKey::Businesses && action != Action::Delete,
            Self::Sales | Self::Purchasing => resource == ResourceKey::Parties && action != Action::Delete,
            Self::Warehouse | Self::Cashier | Self::Auditor | Self::ApiReadOnly => false,
        }
    }

    /// All that the role allows, as permission keys.
    pub fn permissions(self) -> Vec<String> {
        ResourceKey::ALL
            .iter()
            .flat_map(|&resource| Action::ALL.map(|action| (resource, action)))
            .filter(|&(resource, action)| self.allows(resource, action))
            .map(|(resource, action)| permission(resource, action))
            .collect()
    }
}

/// Who signed in.
#[derive(Debug, Clone)]
pub struct Principal {
    pub user: UserId,
    /// May make companies; says nothing about the companies of others.
    pub is_system_admin: bool,
    pub expires_at: Instant,
}

/// The company in scope, as far as rules need it.
#[derive(Debug, Clone)]
pub struct Business {
    pub id: BusinessId,
    pub base_currency: String,
    pub currency_decimals: u32,
    pub settings: BusinessSettings,
    pub status: BusinessStatus,
    pub role: Role,
}

impl Business {
    pub fn require(&self, resource: ResourceKey, action: Action) -> Result<()> {
        if self.role.allows(resource, action) {
            return Ok(());
        }
        Err(Error::Forbidden { permission: permission(resource, action) })
    }
}

pub(crate) mod membership {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "memberships")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: crate::ids::BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: crate::ids::UserId,
        pub role: super::Role,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

fn membership_of_business() -> RelationDef {
    business::Entity::belongs_to(membership::Entity)
        .from(business::Column::Id)
        .to(membership::Column::BusinessId)
        .into()
}

#[derive(FromQueryResult)]
struct Visible {
    base_currency: String,
    settings: AsJson<BusinessSettings>,
    status: BusinessStatus,
    role: Role,
}

/// The company as this user sees it; one they are no member of does not exist for them.
pub(crate) async fn visible_business(
    connection: &impl ConnectionTrait,
    user: UserId,
    id: BusinessId,
) -> Result<Business> {
    let visible = business::Entity::find()
        .select_only()
        .columns([business::Column::BaseCurrency, business::Column::Settings, business::Column::Status])
        .column(membership::Column::Role)
        .join(JoinType::InnerJoin, membership_of_business())
        .filter(business::Column::Id.eq(id))
        .filter(membership::Column::UserId.eq(user))
        .into_model::<Visible>()
        .one(connection)
        .await?
        .ok_or(Error::NotFound)?;
    Ok(Business {
        id,
        currency_decimals: crate::currency::decimals(&visible.base_currency).unwrap_or(2),
        base_currency: visible.base_currency,
        settings: visible.settings.0,
        status: visible.status,
        role: visible.role,
    })
}

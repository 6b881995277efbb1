//! Who may do what: roles, permissions, and the company a request is about.
//!
//! Owns: the table of built-in roles. Refuses: to decide per resource; a role speaks about areas of the books.

use crate::clock::Instant;
use crate::database::stored::{AsJson, wire_enum};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, UserId};
use crate::remembered::Changes;
use crate::resource::ResourceKey;
use crate::resource::business::{BusinessSettings, BusinessStatus, table as business};
use sea_orm::FromQueryResult;
use sea_orm::entity::prelude::*;

/// What a request does to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    View,
    Create,
    Edit,
    Delete,
    /// Brings a document into the books.
    Post,
    /// Takes a document back out of the books.
    Void,
    /// Takes records out of the system as a file.
    Export,
}

impl Action {
    pub const ALL: [Self; 7] =
        [Self::View, Self::Create, Self::Edit, Self::Delete, Self::Post, Self::Void, Self::Export];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Create => "create",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Post => "post",
            Self::Void => "void",
            Self::Export => "export",
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
        if !resource.actions().contains(&action) || (resource == ResourceKey::Businesses && action == Action::Create) {
            return false;
        }
        if action == Action::View {
            return true;
        }
        let sells =
            matches!(resource, ResourceKey::SalesOrders | ResourceKey::SalesInvoices | ResourceKey::CreditNotes);
        let buys =
            matches!(resource, ResourceKey::PurchaseOrders | ResourceKey::PurchaseInvoices | ResourceKey::DebitNotes);
        let pays = matches!(resource, ResourceKey::Receipts | ResourceKey::Payments | ResourceKey::ContraEntries);
        let settles = resource == ResourceKey::Allocations && matches!(action, Action::Create | Action::Delete);
        let stock =
            matches!(resource, ResourceKey::DeliveryNotes | ResourceKey::ReceiptNotes | ResourceKey::StockAdjustments);
        let documents = sells || buys || pays || stock || resource == ResourceKey::Journals;
        let enters = matches!(action, Action::Create | Action::Edit | Action::Post);
        match self {
            Self::Owner => true,
            Self::Accountant => !(resource == ResourceKey::Businesses && action == Action::Delete),
            Self::Bookkeeper => {
                let master = matches!(resource, ResourceKey::Parties | ResourceKey::Items | ResourceKey::ExchangeRates);
                ((documents || master) && enters) || settles
            }
            Self::Sales | Self::Purchasing => {
                let own = if self == Self::Sales { sells } else { buys };
                (own || matches!(resource, ResourceKey::Parties | ResourceKey::Items)) && enters
            }
            Self::Warehouse => stock && enters,
            Self::Cashier => (pays && enters) || settles,
            Self::Auditor => action == Action::Export,
            Self::ApiReadOnly => false,
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
    /// What was known when the request arrived.
    pub(crate) changes: Changes,
    /// The version of the books of the company that the request names, when it arrived.
    pub(crate) books: Option<(BusinessId, i64)>,
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
    pub fiscal_year_start_month: u32,
    pub fiscal_year_start_day: u32,
    pub timezone: chrono_tz::Tz,
    /// The accounts by role, as JSON; few requests look.
    pub(crate) system_accounts: String,
}

impl Business {
    /// The first day of the fiscal year that a day lies in.
    pub fn fiscal_year_start(&self, day: Day) -> Day {
        let start = |year| Day::new(year, self.fiscal_year_start_month, self.fiscal_year_start_day);
        start(day.year()).filter(|start| *start <= day).or_else(|| start(day.year() - 1)).unwrap_or(day)
    }

    /// The last day of the fiscal year that a day lies in.
    pub fn fiscal_year_end(&self, day: Day) -> Day {
        let start = self.fiscal_year_start(day);
        Day::new(start.year() + 1, start.month(), start.day()).map_or(day, Day::previous)
    }

    /// The day it is at the company's seat.
    pub fn today(&self, now: Instant) -> Day {
        let utc = chrono::DateTime::from_timestamp_micros(now.micros()).unwrap_or_default();
        Day::of(utc.with_timezone(&self.timezone).date_naive())
    }

    /// When a day begins at the company's seat.
    pub fn beginning_of(&self, day: Day) -> Instant {
        use chrono::TimeZone;
        // Where a clock is put forward at midnight, the day begins an hour later.
        let hours = (0..24).filter_map(|hour| day.date().and_hms_opt(hour, 0, 0));
        let mut begins = hours.filter_map(|time| self.timezone.from_local_datetime(&time).earliest());
        begins.next().map_or_else(Instant::default, |at| Instant::from_micros(at.timestamp_micros()))
    }

    #[cfg(test)]
    pub(crate) fn sample() -> Self {
        Self {
            id: BusinessId::default(),
            base_currency: "EUR".into(),
            currency_decimals: 2,
            settings: BusinessSettings::default(),
            status: BusinessStatus::Active,
            role: Role::Owner,
            fiscal_year_start_month: 1,
            fiscal_year_start_day: 1,
            timezone: chrono_tz::UTC,
            system_accounts: "{}".into(),
        }
    }

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

#[derive(FromQueryResult)]
struct Facts {
    base_currency: String,
    settings: AsJson<BusinessSettings>,
    status: BusinessStatus,
    fiscal_year_start_month: i64,
    fiscal_year_start_day: i64,
    timezone: String,
    system_accounts: String,
}

impl Facts {
    fn seen_as(self, id: BusinessId, role: Role) -> Business {
        Business {
            id,
            currency_decimals: crate::currency::decimals(&self.base_currency).unwrap_or(2),
            base_currency: self.base_currency,
            settings: self.settings.0,
            status: self.status,
            role,
            fiscal_year_start_month: u32::try_from(self.fiscal_year_start_month).unwrap_or(1),
            fiscal_year_start_day: u32::try_from(self.fiscal_year_start_day).unwrap_or(1),
            timezone: self.timezone.parse().unwrap_or(chrono_tz::UTC),
            system_accounts: self.system_accounts,
        }
    }
}

/// The company as this user sees it; one they are no member of does not exist for them.
pub(crate) async fn visible_business(
    connection: &impl ConnectionTrait,
    user: UserId,
    id: BusinessId,
) -> Result<Business> {
    let role = membership::Entity::find_by_id((id, user)).one(connection).await?.ok_or(Error::NotFound)?.role;
    business_as(connection, id, role).await
}

/// The company as the command line sees it.
pub(crate) async fn business_as(connection: &impl ConnectionTrait, id: BusinessId, role: Role) -> Result<Business> {
    let facts = business::Entity::find_by_id(id).into_model::<Facts>().one(connection).await?;
    Ok(facts.ok_or(Error::NotFound)?.seen_as(id, role))
}

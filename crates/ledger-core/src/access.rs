//! Who may do what: rights, roles, and the company a request is about.
//!
//! Owns: the table of built-in roles. Refuses: to decide per resource; a role speaks about areas of the books.
//!
//! A member of a company has one permission set there: a built-in one, which is a role, or one of the company's own.

use crate::books::aliases::Aliases;
use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId, UserId};
use crate::money::Money;
use crate::remembered::Changes;
use crate::resource::ResourceKey;
use crate::resource::business::{BusinessSettings, BusinessStatus, table as business};
use crate::resource::permission::table as permission_set;
use crate::stored::AsJson;
use crate::wire_enum;
use sea_orm::FromQueryResult;
use sea_orm::entity::prelude::*;
use std::sync::Arc;

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
/// So a key that leaked never becomes a lasting way in.
pub(crate) fn is_for_people(resource: ResourceKey, action: Action) -> bool {
    let people = matches!(resource, ResourceKey::Users | ResourceKey::Permissions | ResourceKey::ApiKeys);
    people && action != Action::View
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
        let people = matches!(
            resource,
            ResourceKey::Users | ResourceKey::Permissions | ResourceKey::ApiKeys | ResourceKey::DialectUsage
        );
        if people {
            let sees = action == Action::View && matches!(self, Self::Accountant | Self::Auditor);
            return self == Self::Owner || sees;
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
            Self::Bookkeeper => "Day-to-day entry, without removing anything.",
            Self::Sales => "Customers and what is sold to them.",
            Self::Purchasing => "Suppliers and what is bought from them.",
            Self::Warehouse => "Goods in and out.",
            Self::Cashier => "Money in and out.",
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
    pub max_document_amount: Option<Money>,
    /// How many days before today an entry may be dated which they post.
    pub backdate_days: Option<i64>,
}

impl Limits {
    /// Whether others go further.
    pub(crate) fn is_exceeded_by(self, other: Self) -> bool {
        let wider = |own: Option<i64>, other: Option<i64>| own.is_some_and(|own| other.is_none_or(|other| other > own));
        let amounts = [self.max_document_amount, other.max_document_amount].map(|one| one.map(Money::units));
        wider(amounts[0], amounts[1]) || wider(self.backdate_days, other.backdate_days)
    }
}

/// What someone is in a company.
#[derive(Debug, Clone)]
pub struct Seat {
    /// The permission set; none for who runs the installation.
    pub set: Option<RecordId>,
    /// A built-in role, or what the company calls its set.
    pub role: String,
    pub is_owner: bool,
    pub rights: Rights,
    pub limits: Limits,
}

impl Seat {
    /// Whoever runs the installation sees a company as its owner does.
    pub(crate) fn owner() -> Self {
        let role = Role::Owner;
        Self { set: None, role: role.to_string(), is_owner: true, rights: role.rights(), limits: Limits::default() }
    }

    /// Whether whoever sits here may do all that somebody on another seat may.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.rights_beyond(other.rights).is_empty() && !self.limits.is_exceeded_by(other.limits)
    }

    /// What of these rights is lacking here.
    pub(crate) fn rights_beyond(&self, rights: Rights) -> Vec<String> {
        rights.beyond(self.rights)
    }

    /// Whether it allows something that no key is let do.
    pub(crate) fn lets_only_people(&self, resource: ResourceKey, action: Action) -> bool {
        is_for_people(resource, action) && self.rights.allows(resource, action)
    }

    /// What is left of it for a key.
    pub(crate) fn narrowed(self, key: Option<&KeyScope>) -> Self {
        match key {
            Some(key) => {
                let rights = self.rights.and(key.rights).and(Rights::where_(|key, action| !is_for_people(key, action)));
                Self { rights, is_owner: false, ..self }
            }
            None => self,
        }
    }

    pub(crate) fn of(set: permission_set::Model) -> Self {
        let limits = Limits { max_document_amount: set.max_document_amount, backdate_days: set.backdate_days };
        Self {
            set: Some(set.id),
            role: set.role.map_or(set.name, |role| role.to_string()),
            is_owner: set.role == Some(Role::Owner),
            rights: set.role.map_or_else(|| set.grants.0.rights(), Role::rights),
            limits,
        }
    }
}

/// How far a key for a program goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyScope {
    pub key: RecordId,
    /// The only company that it knows.
    pub business: BusinessId,
    pub rights: Rights,
}

/// Who signed in.
#[derive(Debug, Clone)]
pub struct Principal {
    pub user: UserId,
    /// The key that speaks for them, where one does.
    pub key: Option<Arc<KeyScope>>,
    /// Else the session.
    pub session: Option<RecordId>,
    /// Of a token: the version of all tokens of the user that it was made under.
    pub(crate) token_version: Option<i64>,
    /// Whether they must choose another password before anything else.
    pub must_change_password: bool,
    /// What was known when the request arrived.
    pub(crate) changes: Changes,
    /// The version of the books of the company that the request names, when it arrived.
    pub(crate) books: Option<(BusinessId, i64)>,
    /// May make companies; says nothing about the companies of others.
    pub is_system_admin: bool,
    pub expires_at: Instant,
}

impl Principal {
    /// Whose requests are counted together: those of a key, or of a user.
    pub fn caller(&self) -> Uuid {
        self.key.as_ref().map_or(self.user.0, |key| key.key.0)
    }

    /// The key that speaks for the user in a company, if one does. It knows no other company.
    pub(crate) fn key_in(&self, business: BusinessId) -> Result<Option<&KeyScope>> {
        match self.key.as_deref() {
            Some(key) if key.business != business => Err(Error::NotFound),
            key => Ok(key),
        }
    }
}

/// Whose a request was found to be, and in which company of theirs. It is made of what was proved, and of nothing that
/// a client says: nobody can be counted as somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Proved {
    account: UserId,
    company: Option<BusinessId>,
}

impl Proved {
    /// The account itself, also where a key speaks for it: however many keys and addresses it has, it is one.
    pub const fn account(self) -> UserId {
        self.account
    }

    pub const fn company(self) -> Option<BusinessId> {
        self.company
    }

    /// Whoever has just logged in.
    pub fn by(session: &crate::auth::Session) -> Self {
        Self { account: session.user.id, company: None }
    }

    /// Whoever asks, in the company that they were found to be a member of.
    pub(crate) const fn of(principal: &Principal, company: Option<BusinessId>) -> Self {
        Self { account: principal.user, company }
    }
}

/// The company in scope, as far as rules need it.
#[derive(Debug, Clone)]
pub struct Business {
    pub id: BusinessId,
    pub base_currency: String,
    pub currency_decimals: u32,
    pub settings: BusinessSettings,
    pub status: BusinessStatus,
    /// What the caller is there.
    pub seat: Arc<Seat>,
    pub fiscal_year_start_month: u32,
    pub fiscal_year_start_day: u32,
    pub timezone: chrono_tz::Tz,
    /// The accounts by role, as JSON; few requests look.
    pub(crate) system_accounts: String,
    /// Which parties became part of which.
    pub(crate) aliases: Arc<Aliases>,
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

    /// The company as a key sees it.
    pub(crate) fn narrowed(self: Arc<Self>, key: Option<&KeyScope>) -> Arc<Self> {
        match key {
            Some(key) => {
                let seat = Arc::new(self.seat.as_ref().clone().narrowed(Some(key)));
                Arc::new(Self { seat, ..self.as_ref().clone() })
            }
            None => self,
        }
    }

    #[cfg(test)]
    pub(crate) fn sample() -> Self {
        Self {
            id: BusinessId::default(),
            base_currency: "EUR".into(),
            currency_decimals: 2,
            settings: BusinessSettings::default(),
            status: BusinessStatus::Active,
            seat: Arc::new(Seat::owner()),
            fiscal_year_start_month: 1,
            fiscal_year_start_day: 1,
            timezone: chrono_tz::UTC,
            system_accounts: "{}".into(),
            aliases: Arc::default(),
        }
    }

    pub fn require(&self, resource: ResourceKey, action: Action) -> Result<()> {
        if self.seat.rights.allows(resource, action) {
            return Ok(());
        }
        Err(Error::Forbidden { permission: permission(resource, action) })
    }
}

pub(crate) mod membership {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "memberships")]
    #[allow(clippy::struct_field_names, reason = "it does nothing but name three records")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub business_id: crate::ids::BusinessId,
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: crate::ids::UserId,
        pub permission_id: crate::ids::RecordId,
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
    fn seen_from(self, id: BusinessId, seat: Seat, aliases: Aliases) -> Result<Business> {
        let known = crate::currency::Currency::known(&self.base_currency, format_args!("company {id}"))?;
        Ok(Business {
            id,
            currency_decimals: known.decimals(),
            base_currency: self.base_currency,
            settings: self.settings.0,
            status: self.status,
            seat: Arc::new(seat),
            fiscal_year_start_month: u32::try_from(self.fiscal_year_start_month).unwrap_or(1),
            fiscal_year_start_day: u32::try_from(self.fiscal_year_start_day).unwrap_or(1),
            timezone: self.timezone.parse().unwrap_or(chrono_tz::UTC),
            system_accounts: self.system_accounts,
            aliases: Arc::new(aliases),
        })
    }
}

/// The company as this user sees it; one they are no member of does not exist for them.
pub(crate) async fn visible_business(
    connection: &impl ConnectionTrait,
    user: UserId,
    id: BusinessId,
) -> Result<Business> {
    let member = membership::Entity::find_by_id((id, user)).one(connection).await?.ok_or(Error::NotFound)?;
    let seat = seat_of(connection, id, member.permission_id).await?;
    let seat = seat.ok_or_else(|| Error::internal("a member has a permission set that is not there"))?;
    seen_from(connection, id, seat).await
}

/// What a permission set of a company comes to.
pub(crate) async fn seat_of(connection: &impl ConnectionTrait, id: BusinessId, set: RecordId) -> Result<Option<Seat>> {
    Ok(permission_set::Entity::find_by_id((id, set)).one(connection).await?.map(Seat::of))
}

/// The company as someone on a seat sees it.
pub(crate) async fn seen_from(connection: &impl ConnectionTrait, id: BusinessId, seat: Seat) -> Result<Business> {
    let facts = business::Entity::find_by_id(id).into_model::<Facts>().one(connection).await?;
    facts.ok_or(Error::NotFound)?.seen_from(id, seat, Aliases::load(connection, id).await?)
}

/// The permission set of a built-in role in a company.
pub(crate) async fn set_of_role(connection: &impl ConnectionTrait, id: BusinessId, role: Role) -> Result<RecordId> {
    let found = permission_set::Entity::find()
        .filter(permission_set::Column::BusinessId.eq(id))
        .filter(permission_set::Column::Role.eq(role))
        .one(connection)
        .await?;
    Ok(found.ok_or_else(|| Error::internal(format!("the company has no permission set {role}")))?.id)
}

//! Businesses: the companies whose books these are.
//!
//! Owns: the company's own data, its settings, who may see it. Refuses: to vanish while it has records.

mod settings;
mod tests;
pub mod trial;
mod wire;

use crate::account::keepers::{Claim, check_claims, settle};
use crate::currency::CountryCode;
use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::Faults;
use crate::ids::{BusinessId, RecordId};
use crate::stored::AsJson;
use crate::{account, lock, number_series, permission};
use answers::Ask;
use books::access::{Business, Seat};
use books::auth::invitation;
use books::chart::{SystemRole, load_with};
use books::cx::Cx;
use kit::extra::Extra;
use kit::list::Reads;
use kit::master::{Columns, Master, keeping, kept, master_operations};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use rules::purpose::Purpose;
use schema::address::{self, ruled, text};
use schema::key::ResourceKey;
use schema::membership;
use schema::rights::Role;
use schema::tables::{documents, number_counters, stock};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, Value};
use serde_json::json;
use settings::{DISCOUNTS_REDUCE_TAX, check_settings, check_system_accounts, named_accounts, settings_of, template_of};
pub(crate) use settings::{system_accounts, system_accounts_of};
use std::collections::{BTreeMap, HashMap, HashSet};
pub use wire::{BusinessInput, BusinessSettingsInput, BusinessView, SystemAccountsInput, TaxBasisInput};

pub struct Businesses;

pub(crate) use schema::business as table;
pub use schema::business::{
    BusinessSettings, BusinessStatus, CogsTiming, CreditLimitPolicy, DefaultDocumentStatus, PostedEditPolicy,
    RoundingMode, StockPolicy, TaxBasisFrom, Tolerance,
};
use table::Column;

impl Resource for Businesses {
    const KEY: ResourceKey = ResourceKey::Businesses;
    const SCOPE: Scope = Scope::Installation;
    const CHANGES_PEOPLE: bool = true;
    const ABOUT: About = About {
        one: "a business",
        many: "businesses",
        description: "The companies whose books are kept here. You see those you are a member of.",
        sorts: &["name", "createdAt", "updatedAt"],
        searched: "name, legal name, tax number and registration number",
    };
    type Input = BusinessInput;
    type Draft = Columns<Column>;
    type View = BusinessView;

    fn example() -> serde_json::Value {
        json!({
            "name": "Harbour Trading",
            "legalName": "Harbour Trading GmbH",
            "baseCurrency": "EUR",
            "country": "DE",
            "timezone": "Europe/Berlin",
            "fiscalYearStartMonth": 1,
            "fiscalYearStartDay": 1,
            "taxNumber": "DE136695976",
            "registrationNumber": null,
            "address": {
                "line1": "Am Kai 4", "line2": null, "city": "Hamburg", "state": null, "postalCode": "20457", "country": "DE"
            },
            "email": "books@harbour.example",
            "phone": null,
            "website": "https://harbour.example",
            "chartTemplate": "general",
            "settings": {
                "requireIfMatch": false, "defaultDocumentStatus": "posted", "postedEditPolicy": "allow", "roundingMode": "halfUp",
                "taxRounding": "document", "pricesIncludeTaxDefault": false, "costMethodDefault": "movingAverage",
                "negativeStock": "forbid", "bookAdvancesSeparately": false, "uniqueSupplierReference": false,
                "creditLimitPolicy": "ignore", "cashRoundingIncrement": null, "cogsTiming": "invoice",
                "overDeliveryPercent": null, "allowOvercredit": false, "taxOverrideTolerance": 5, "taxBasis": [],
                "discountReducesTax": true, "writeOffReducesTax": false
            },
            "status": "active",
            "externalId": null,
            "tags": ["group"],
            "isTrial": false
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "systemAccounts": { "receivable": "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a10" },
            "lockDate": null,
            "today": null,
            "role": "owner",
            "permissionId": "019a9f6e-6c00-7b2b-9a1a-f60738091b2b",
            "permissions": Role::Owner.rights().permissions()
        })
    }

    fn check(_: Option<&Business>, input: BusinessInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let known_zone = |zone: &str| zone.parse::<chrono_tz::Tz>().is_ok();
        let zone_words = "must be a time zone of the IANA database, such as Europe/Berlin";
        let month = faults.optional("fiscalYearStartMonth", input.fiscal_year_start_month);
        let day = faults.optional("fiscalYearStartDay", input.fiscal_year_start_day);
        faults.within("fiscalYearStartMonth", month, 1, 12);
        // 29 February does not come every year, so no fiscal year begins there.
        let longest = match month.unwrap_or(1) {
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        faults.within("fiscalYearStartDay", day, 1, longest);
        let mut row = Columns::new();
        let name = faults.required("name", input.name).into_inner();
        row.set(Column::Name, name.clone());
        let legal_name = text(&mut faults, "legalName", input.legal_name);
        row.set(Column::LegalName, legal_name.clone());
        let base_currency = faults.required("baseCurrency", input.base_currency).into_inner();
        row.set(Column::BaseCurrency, base_currency.clone());
        let country = faults.optional("country", input.country).map(CountryCode::into_inner);
        let usual = country.as_deref().is_some_and(|country| DISCOUNTS_REDUCE_TAX.contains(&country));
        row.set(Column::Country, country);
        row.set(
            Column::Timezone,
            ruled(&mut faults, "timezone", input.timezone, known_zone, zone_words).unwrap_or_else(|| "UTC".into()),
        );
        row.set(Column::FiscalYearStartMonth, month.unwrap_or(1));
        row.set(Column::FiscalYearStartDay, day.unwrap_or(1));
        let tax_number = text(&mut faults, "taxNumber", input.tax_number);
        row.set(Column::TaxNumber, tax_number.clone());
        let registration_number = text(&mut faults, "registrationNumber", input.registration_number);
        row.set(Column::RegistrationNumber, registration_number.clone());
        row.set(Column::Address, address::check(&mut faults, "address", input.address).map(AsJson));
        row.set(Column::Email, address::email(&mut faults, "email", input.email));
        row.set(Column::Phone, text(&mut faults, "phone", input.phone));
        row.set(Column::Website, address::website(&mut faults, "website", input.website));
        row.set(Column::ChartTemplate, faults.optional("chartTemplate", input.chart_template).unwrap_or_default());
        row.set(Column::SystemAccounts, AsJson(check_system_accounts(&mut faults, input.system_accounts)));
        row.set(Column::Settings, AsJson(check_settings(&mut faults, (&base_currency, usual), input.settings)));
        row.set(Column::Status, faults.optional("status", input.status).unwrap_or_default());
        row.set(Column::ExternalId, text(&mut faults, "externalId", input.external_id));
        row.set(Column::Tags, AsJson(address::tags(&mut faults, input.tags)));
        if let Some(is_trial) = faults.optional("isTrial", input.is_trial) {
            row.set(Column::IsTrial, is_trial);
        }
        row.set(Column::NameKey, crate::texts::search_key(&name));
        let searched = [Some(&name), legal_name.as_ref(), tax_number.as_ref(), registration_number.as_ref()];
        row.set(Column::Search, address::search_text(&searched));
        faults.finish(row)
    }

    fn extras() -> Vec<Extra> {
        trial::extras()
    }

    master_operations!();
}

impl Rows for Businesses {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::NameKey, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        let text = Reads::Text;
        let statuses = Reads::AnyOf(BusinessStatus::TEXTS);
        vec![
            Filter::equal("status", "Companies of these statuses.", statuses, Column::Status),
            Filter::equal("externalId", "The company with this identifier elsewhere.", text, Column::ExternalId),
            Filter::containing("tag", "Companies with this label.", text, Column::Tags),
            Filter::equal("isTrial", "Only trials, or only real companies.", Reads::Flag, Column::IsTrial),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        let mine = Query::select()
            .column(membership::Column::BusinessId)
            .from(membership::Entity)
            .and_where(membership::Column::UserId.eq(cx.user))
            .take();
        let mut reach = Condition::all().add(Column::Id.in_subquery(mine));
        // A key of one company sees no other.
        if let Some(only) = cx.only() {
            reach = reach.add(Column::Id.eq(only));
        }
        Ok(reach)
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<BusinessView>> {
        let memberships = membership::Entity::find()
            .filter(membership::Column::UserId.eq(cx.user))
            .filter(membership::Column::BusinessId.is_in(rows.iter().map(|row| row.id)))
            .models(&cx.db)
            .await?;
        let sets = schema::permission::Entity::find()
            .filter(schema::permission::Column::Id.is_in(memberships.iter().map(|one| one.permission_id)))
            .models(&cx.db)
            .await?;
        let mut seats: HashMap<BusinessId, Seat> =
            sets.into_iter().map(|set| (set.business_id, cx.narrowed(Seat::of(set)))).collect();
        let locks = lock::dates_in_force(cx, rows.iter().map(|row| row.id)).await?;
        rows.into_iter()
            .map(|row| {
                let seat = seats.remove(&row.id).ok_or(Error::NotFound)?;
                let lock_date = locks.get(&row.id).copied().flatten();
                Ok(view(row, seat, lock_date))
            })
            .collect()
    }
}

impl Master for Businesses {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[("externalId", Column::ExternalId)];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(_: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(Vec::new())
    }

    fn business(_: &Cx<'_>, id: RecordId) -> Result<BusinessId> {
        Ok(BusinessId(id.0))
    }

    async fn complete(cx: &Cx<'_>, row: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        let named = named_accounts(draft)?;
        let Some(row) = row else {
            if draft.get(Column::IsTrial).is_none() {
                draft.set(Column::IsTrial, false);
            }
            if !named.is_empty() {
                return Err(Error::field("systemAccounts", "names no account: a new company has none yet"));
            }
            let template = template_of(draft)?;
            let roles = template.accounts().into_iter().filter_map(|blueprint| blueprint.role);
            let held: BTreeMap<SystemRole, RecordId> = roles.map(|role| (role, RecordId(cx.new_id()))).collect();
            draft.replace(Column::SystemAccounts, AsJson(held));
            return Ok(());
        };
        trial::check_stays(row, draft)?;
        draft.replace(Column::ChartTemplate, row.chart_template);
        let mut held = row.system_accounts.0.clone();
        held.extend(named.clone());
        // One that was made before there were charts is judged by the roles that it is given.
        let chart = match load_with(&cx.db, row.id, &row.system_accounts.0).await {
            Err(Error::Conflict(_)) => load_with(&cx.db, row.id, &held).await?,
            known => known?,
        };
        let claims: Vec<Claim> = named
            .into_iter()
            .map(|(role, account)| Claim {
                field: format!("systemAccounts.{role}"),
                account,
                purpose: Purpose::Role(role),
                keeper: role.keeper(),
            })
            .collect();
        check_claims(cx, row.id, &chart, &claims).await?;
        let inventory = |roles: &BTreeMap<SystemRole, RecordId>| roles.get(&SystemRole::Inventory).copied();
        let before = inventory(&row.system_accounts.0);
        if before.is_some() && inventory(&held) != before && has_stock_by_role(cx, row.id).await? {
            let field = format!("systemAccounts.{}", SystemRole::Inventory);
            let why = "cannot change, since stock of items without an account of their own was moved";
            return Err(Error::Conflict(Conflict {
                code: Code::InUse,
                title: "Stock of items was moved".into(),
                errors: FieldErrors::one(&field, why),
            }));
        }
        draft.replace(Column::SystemAccounts, AsJson(held));
        Ok(())
    }

    async fn inserted(cx: &Cx<'_>, id: RecordId, draft: &Columns<Column>) -> Result<()> {
        let business = BusinessId(id.0);
        cx.found(business).await?;
        account::plant(cx, business, &template_of(draft)?.accounts(), &named_accounts(draft)?).await?;
        number_series::plant(cx, business).await?;
        let sets = permission::plant(cx, business).await?;
        let owns = sets.get(&Role::Owner).copied();
        let owns = owns.ok_or_else(|| Error::internal("a company has no set of rights for its owner"))?;
        let owner =
            membership::ActiveModel { business_id: Set(business), user_id: Set(cx.user), permission_id: Set(owns) };
        membership::Entity::insert(owner).exec_without_returning(&cx.db).await?;
        Ok(())
    }

    async fn check_change(cx: &Cx<'_>, row: &table::Model, draft: &Columns<Column>) -> Result<()> {
        let currency = Value::from(row.base_currency.as_str());
        if draft.get(Column::BaseCurrency) != Some(&currency) && has_records(cx, row.id).await? {
            return Err(Error::conflict(Code::InUse, "The base currency cannot change once the company has records"));
        }
        if let Some(moved) = moved_under_numbers(row, draft)?
            && has_numbers(cx, row.id).await?
        {
            return Err(moved);
        }
        Ok(())
    }

    async fn changed(cx: &Cx<'_>, row: &table::Model, draft: &Columns<Column>) -> Result<()> {
        if settings_of(draft)?.is_some_and(|settings| settings.tax_basis != row.settings.0.tax_basis) {
            cx.taxed().rebase(row.id);
        }
        settle(cx, row.id, moved_accounts(&row.system_accounts.0, &named_accounts(draft)?)).await
    }

    async fn release(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        if has_records(cx, row.id).await? {
            return Err(Error::conflict(Code::InUse, "The company has records; set its status to archived instead"));
        }
        invitation::forget_all_of(&cx.db, row.id).await?;
        // What every company has from the start goes with it; its audit log stays.
        membership::Entity::delete_many().filter(membership::Column::BusinessId.eq(row.id)).exec(&cx.db).await?;
        let sets = schema::permission::Column::BusinessId.eq(row.id);
        schema::permission::Entity::delete_many().filter(sets).exec(&cx.db).await?;
        let keys = schema::api_key::Column::BusinessId.eq(row.id);
        schema::api_key::Entity::delete_many().filter(keys).exec(&cx.db).await?;
        crate::webhook::forget_all_of(&cx.db, row.id).await?;
        let accounts = schema::account::Column::BusinessId.eq(row.id);
        schema::account::Entity::delete_many().filter(accounts).exec(&cx.db).await?;
        let series = schema::number_series::Column::BusinessId.eq(row.id);
        schema::number_series::Entity::delete_many().filter(series).exec(&cx.db).await?;
        let years = schema::fiscal_year::Column::BusinessId.eq(row.id);
        schema::fiscal_year::Entity::delete_many().filter(years).exec(&cx.db).await?;
        let rates = schema::exchange_rate::Column::BusinessId.eq(row.id);
        schema::exchange_rate::Entity::delete_many().filter(rates).exec(&cx.db).await?;
        let codes = schema::tax_code::Column::BusinessId.eq(row.id);
        schema::tax_code::Entity::delete_many().filter(codes).exec(&cx.db).await?;
        let terms = schema::payment_term::Column::BusinessId.eq(row.id);
        schema::payment_term::Entity::delete_many().filter(terms).exec(&cx.db).await?;
        let locks = schema::lock::Column::BusinessId.eq(row.id);
        schema::lock::Entity::delete_many().filter(locks).exec(&cx.db).await?;
        Ok(())
    }
}

/// The accounts that lost a role, and those that took one: in a company that was made before a role was known, nobody had it.
fn moved_accounts(before: &BTreeMap<SystemRole, RecordId>, now: &BTreeMap<SystemRole, RecordId>) -> HashSet<RecordId> {
    let roles = before.keys().chain(now.keys());
    let accounts = roles.map(|role| [before.get(role), now.get(role)]).filter(|[before, now]| before != now);
    accounts.flatten().flatten().copied().collect()
}

/// What is refused of a change once documents were numbered.
fn moved_under_numbers(row: &table::Model, draft: &Columns<Column>) -> Result<Option<Error>> {
    let refusal = |title: &str, field: &str| {
        let errors = FieldErrors::one(field, "cannot change once documents were numbered");
        Error::Conflict(Conflict { code: Code::InUse, title: title.into(), errors })
    };
    for (field, column, day) in [
        ("fiscalYearStartMonth", Column::FiscalYearStartMonth, row.fiscal_year_start_month),
        ("fiscalYearStartDay", Column::FiscalYearStartDay, row.fiscal_year_start_day),
    ] {
        if draft.get(column) != Some(&Value::from(day)) {
            let title = "The fiscal year cannot move once documents were numbered by it";
            return Ok(Some(refusal(title, field)));
        }
    }
    // Stock, money abroad and what is due by cash are functions of what there is, rounded one way on every day.
    let mode = settings_of(draft)?.map(|settings| settings.rounding_mode);
    if mode.is_some_and(|mode| mode != row.settings.0.rounding_mode) {
        let title = "How halves are rounded cannot change once documents were numbered";
        return Ok(Some(refusal(title, "settings.roundingMode")));
    }
    Ok(None)
}

async fn has_numbers(cx: &Cx<'_>, id: BusinessId) -> Result<bool> {
    let counters = number_counters::Entity::find().filter(number_counters::Column::BusinessId.eq(id));
    Ok(counters.count(&cx.db).await? > 0)
}

/// Whether stock was moved of items that have no inventory account of their own: the company's role is their account, from
/// their first movement on.
async fn has_stock_by_role(cx: &Cx<'_>, id: BusinessId) -> Result<bool> {
    cx.flush().await?;
    let without = Query::select()
        .column(schema::item::Column::Id)
        .from(schema::item::Entity)
        .and_where(schema::item::Column::BusinessId.eq(id))
        .and_where(schema::item::Column::InventoryAccountId.is_null())
        .take();
    let moved = stock::Entity::find()
        .filter(stock::Column::BusinessId.eq(id))
        .filter(stock::Column::ItemId.in_subquery(without));
    Ok(moved.count(&cx.db).await? > 0)
}

async fn has_records(cx: &Cx<'_>, id: BusinessId) -> Result<bool> {
    let parties = schema::party::Entity::find().filter(schema::party::Column::BusinessId.eq(id));
    let documents = documents::Entity::find().filter(documents::Column::BusinessId.eq(id));
    let items = schema::item::Entity::find().filter(schema::item::Column::BusinessId.eq(id));
    Ok(parties.count(&cx.db).await? > 0 || items.count(&cx.db).await? > 0 || documents.count(&cx.db).await? > 0)
}

fn view(row: table::Model, seat: Seat, lock_date: Option<Day>) -> BusinessView {
    BusinessView {
        keeping: kept!(row),
        name: row.name,
        legal_name: row.legal_name,
        base_currency: row.base_currency,
        country: row.country,
        timezone: row.timezone,
        fiscal_year_start_month: row.fiscal_year_start_month,
        fiscal_year_start_day: row.fiscal_year_start_day,
        tax_number: row.tax_number,
        registration_number: row.registration_number,
        address: row.address.map(|address| address.0),
        email: row.email,
        phone: row.phone,
        website: row.website,
        chart_template: row.chart_template,
        system_accounts: row.system_accounts.0,
        lock_date,
        settings: row.settings.0,
        status: row.status,
        external_id: row.external_id,
        tags: row.tags.0,
        is_trial: row.is_trial,
        today: row.told_today,
        permission_id: seat.set,
        permissions: seat.rights.permissions(),
        role: seat.role,
    }
}

//! Accounts: the chart that postings are sorted into.
//!
//! Owns: what an account may hold and where it stands in the tree. Its balance is not kept here; it comes from
//! the rollups.

mod figures;
pub(crate) mod keepers;
mod rules;

use crate::bank::{self, BankDetailsInput};
use crate::business;
use crate::currency::CurrencyCode;
use crate::error::{Code, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::{BusinessId, RecordId};
use crate::money::Amount;
use crate::stored::AsJson;
use books::BEFORE_THE_FIRST;
use books::access::Business;
use books::chart::{Blueprint, SystemRole};
use books::cx::Cx;
use kit::extra::{Does, Extra, On, Reading};
use kit::list::{FilterValue, Reads};
use kit::master::{Columns, Master, RecordKeeping, keeping, master_operations};
use kit::reference;
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use schema::address::{self, text};
use schema::bank::BankDetails;
use schema::key::ResourceKey;

use self::rules::{Wanted, check_parent, check_use, is_used, section_of};
use figures::{Figures, tree};
use schemars::JsonSchema;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter, Value,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};

pub use ::rules::account::{AccountClass, AccountStatus, AccountType, CashFlowSection, NormalBalance};
pub use ::rules::keeper::Keeper;

pub struct Accounts;

/// What a client sends to create or replace an account.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct AccountInput {
    /// Number of the account in the chart; unique in the company.
    code: Field<Label<20>>,
    /// Name of the account.
    name: Field<Label<200>>,
    /// What it is for; decides class, side and reports. It cannot be changed once the account has entries.
    r#type: Field<AccountType>,
    /// The group it belongs to, of the same class.
    parent_id: Maybe<RecordId>,
    /// A group holds other accounts and takes no postings; `false` when absent.
    is_group: Maybe<bool>,
    /// Currency of the account, for money, receivables and payables in another currency; the company's when absent.
    currency: Maybe<CurrencyCode>,
    /// What belongs here.
    description: Maybe<Text<1000>>,
    /// Where its movements stand in the cash flow statement; follows from the type when absent.
    cash_flow_section: Maybe<CashFlowSection>,
    /// Whether journals may name it; `true` when absent, but `false` for inventory and for what the books keep by
    /// themselves. An account of type inventory that no item, role or entry uses may be made one for journals.
    allow_manual_posting: Maybe<bool>,
    /// The bank account behind it.
    bank_details: Maybe<BankDetailsInput>,
    /// New postings cannot name an archived account; `active` when absent.
    status: Maybe<AccountStatus>,
    /// The account's identifier in another system; unique in the company.
    external_id: Maybe<Text<200>>,
    /// Labels of your own, at most 50.
    #[schemars(extend("maxItems" = 50))]
    tags: Each<Label<50>>,
}

/// An account of the chart, with what it comes to.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own on the wire")]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Account")]
pub struct AccountView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// Number of the account in the chart.
    code: String,
    /// Name of the account.
    name: String,
    /// What it is for.
    r#type: AccountType,
    /// Asset, liability, equity, income or expense; follows from the type.
    class: AccountClass,
    /// The side on which its balance is expected.
    normal_balance: NormalBalance,
    /// The group it belongs to.
    parent_id: Option<RecordId>,
    /// How deep it stands in the tree, 0 at the top.
    level: i64,
    /// A group holds other accounts and takes no postings.
    is_group: bool,
    /// Currency of the account.
    currency: String,
    /// What belongs here.
    description: Option<String>,
    /// Where its movements stand in the cash flow statement.
    cash_flow_section: CashFlowSection,
    /// Whether each of its lines belongs to a party.
    is_control: bool,
    /// What the books use it for without being told, if anything.
    system_role: Option<SystemRole>,
    /// Whether journals may name it.
    allow_manual_posting: bool,
    /// The sub-ledger that makes its lines from its own records; `none` where anybody may name it. Type and role give
    /// it, and the first entry fixes it.
    keeper: Keeper,
    /// The bank account behind it.
    bank_details: Option<BankDetails>,
    /// New postings cannot name an archived account.
    status: AccountStatus,
    /// The account's identifier in another system.
    external_id: Option<String>,
    /// Labels of your own.
    tags: Vec<String>,
    /// What it comes to in its own currency, positive on its normal side. A group shows its `baseBalance`.
    balance: Amount,
    /// What it comes to in the company's currency, positive on its normal side; of a group, all that is below it.
    base_balance: Amount,
    /// Whether anything was ever posted to it.
    has_entries: bool,
}

impl AsRef<RecordKeeping> for AccountView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::account as table;
use table::Column;

impl Resource for Accounts {
    const KEY: ResourceKey = ResourceKey::Accounts;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "an account",
        many: "accounts",
        description: "The accounts that everything is posted to, each with what it comes to: live, at the end of any \
                      day with `asOf`, and as it was known at any time with `knownAt`.",
        sorts: &["code", "name", "type", "createdAt", "updatedAt"],
        searched: "code, name and description",
    };
    const IN_TIME: bool = true;
    type Input = AccountInput;
    type Draft = Columns<Column>;
    type View = AccountView;
    const BY_IDS: Option<kit::expand::ByIds> = Some(|cx, ids| Box::pin(kit::rows::by_ids::<Self>(cx, ids)));

    fn extras() -> Vec<Extra> {
        vec![Extra {
            name: "Tree",
            segment: "tree",
            on: On::Collection,
            action: schema::rights::Action::View,
            answers: None,
            summary: "Get the chart of accounts as a tree",
            description: "All accounts below their groups, in order of `code`.",
            does: Does::Reads(Reading {
                in_time: true,
                ..Reading::json::<AccountTree>(|cx, _, _| Box::pin(tree(cx)), example_tree)
            }),
        }]
    }

    fn example() -> serde_json::Value {
        json!({
            "code": "1020",
            "name": "Savings account",
            "type": "bank",
            "parentId": null,
            "isGroup": false,
            "currency": "EUR",
            "description": "Reserves at the house bank.",
            "cashFlowSection": "cash",
            "allowManualPosting": true,
            "bankDetails": {
                "iban": "DE89370400440532013000", "bic": "COBADEFFXXX", "accountNumber": null, "bankName": "Commerzbank"
            },
            "status": "active",
            "externalId": null,
            "tags": ["reserves"]
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "class": "asset", "normalBalance": "debit", "level": 0, "isControl": false, "systemRole": null,
            "keeper": "money", "balance": 0, "baseBalance": 0, "hasEntries": false
        })
    }

    fn check(_: Option<&Business>, input: AccountInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let mut row = Columns::new();
        let code = faults.required("code", input.code).into_inner();
        let name = faults.required("name", input.name).into_inner();
        let r#type = faults.required("type", input.r#type);
        let is_group = faults.optional("isGroup", input.is_group).unwrap_or_default();
        let currency = faults.optional("currency", input.currency).map(CurrencyCode::into_inner);
        let description = text(&mut faults, "description", input.description);
        row.set(Column::Search, address::search_text(&[Some(&code), Some(&name), description.as_ref()]));
        row.set(Column::Code, code);
        row.set(Column::NameKey, crate::texts::search_key(&name));
        row.set(Column::Name, name);
        row.set(Column::Type, r#type);
        row.set(Column::Class, r#type.class());
        row.set(Column::ParentId, faults.optional("parentId", input.parent_id));
        row.set(Column::IsGroup, is_group);
        row.set(Column::Currency, currency);
        row.set(Column::Description, description);
        row.set(Column::CashFlowSection, faults.optional("cashFlowSection", input.cash_flow_section));
        if let Some(by_hand) = faults.optional("allowManualPosting", input.allow_manual_posting) {
            row.set(Column::AllowManualPosting, by_hand);
        }
        row.set(Column::BankDetails, bank::check(&mut faults, "bankDetails", input.bank_details).map(AsJson));
        row.set(Column::Status, faults.optional("status", input.status).unwrap_or_default());
        row.set(Column::ExternalId, text(&mut faults, "externalId", input.external_id));
        row.set(Column::Tags, AsJson(address::tags(&mut faults, input.tags)));
        faults.finish(row)
    }

    master_operations!();
}

impl Rows for Accounts {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] =
        &[Column::Code, Column::NameKey, Column::Type, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        let text = Reads::Text;
        vec![
            Filter::equal("code", "The account with this code.", text, Column::Code),
            Filter::equal("type", "Accounts of these types.", Reads::AnyOf(AccountType::TEXTS), Column::Type),
            Filter::equal("class", "Accounts of these classes.", Reads::AnyOf(AccountClass::TEXTS), Column::Class),
            Filter::equal("status", "Accounts of these statuses.", Reads::AnyOf(AccountStatus::TEXTS), Column::Status),
            Filter::equal("isGroup", "Only groups, or only others.", Reads::Flag, Column::IsGroup),
            Filter::equal("parentId", "Accounts right below this group.", Reads::Identifier, Column::ParentId),
            Filter::looking("systemRole", "Accounts in these roles.", Reads::AnyOf(SystemRole::TEXTS), in_roles),
            Filter::looking("currency", "Accounts in this currency.", text, in_currency),
            Filter::equal("externalId", "The account with this identifier elsewhere.", text, Column::ExternalId),
            Filter::containing("tag", "Accounts with this label.", text, Column::Tags),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<AccountView>> {
        let figures = Figures::of(cx, &rows).await?;
        let business = cx.business()?;
        rows.into_iter().map(|row| figures.view(business, row)).collect()
    }
}

fn in_roles(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::AnyOf(roles) = value else { return Ok(Condition::any()) };
    let held: BTreeMap<SystemRole, RecordId> =
        serde_json::from_str(&cx.business()?.system_accounts).map_err(Error::internal)?;
    let wanted = held.iter().filter(|(role, _)| roles.iter().any(|text| text == role.as_str())).map(|(_, id)| *id);
    Ok(Condition::all().add(Column::Id.is_in(wanted)))
}

fn in_currency(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Text(currency) = value else { return Ok(Condition::any()) };
    let own = Column::Currency.eq(currency.as_str());
    let base = *currency == cx.business()?.base_currency;
    Ok(if base { Condition::any().add(own).add(Column::Currency.is_null()) } else { Condition::all().add(own) })
}

impl Master for Accounts {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[("code", Column::Code), ("externalId", Column::ExternalId)];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn complete(cx: &Cx<'_>, row: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        let mut drafted = <table::ActiveModel as Default>::default();
        for (column, value) in draft.iter() {
            drafted.set(*column, value.clone());
        }
        let wanted = Wanted {
            r#type: drafted.r#type.take().unwrap_or_default(),
            class: drafted.class.take().unwrap_or_default(),
            parent: drafted.parent_id.take().flatten(),
            is_group: drafted.is_group.take().unwrap_or_default(),
            currency: drafted.currency.take().flatten(),
            status: drafted.status.take().unwrap_or_default(),
        };
        let base = &cx.business()?.base_currency;
        let mut faults = wanted.check_currency(base);
        let said = drafted.cash_flow_section.take().flatten();
        match section_of(wanted.r#type, said, row.map(table::Model::cash_flow)) {
            Ok(section) => draft.replace(Column::CashFlowSection, section),
            Err(fault) => faults.add("cashFlowSection", fault),
        }
        check_parent(cx, row, &wanted, &mut faults).await?;
        if !faults.is_empty() {
            return Err(faults.into());
        }
        // The company's own currency is the same as none said.
        if wanted.currency.as_ref() == Some(base) {
            draft.replace(Column::Currency, Option::<String>::None);
        }
        if let Some(row) = row {
            check_use(cx, row, &wanted).await?;
        }
        let by_hand = match draft.get(Column::AllowManualPosting) {
            Some(Value::Bool(by_hand)) => *by_hand,
            _ => None,
        };
        let (keeper, by_hand) = keepers::wanted(cx, row, (wanted.r#type, wanted.is_group), by_hand).await?;
        draft.replace(Column::Keeper, keeper);
        draft.replace(Column::AsSaidUntil, row.map_or(BEFORE_THE_FIRST, |row| row.as_said_until));
        draft.replace(Column::AllowManualPosting, by_hand);
        Ok(())
    }

    async fn release(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        let in_use = |why: &str| Err(Error::conflict(Code::InUse, format!("The account {why}; archive it instead")));
        if business::system_accounts(cx).await?.values().any(|id| *id == row.id) {
            return Err(Error::conflict(
                Code::InUse,
                "The books use the account by themselves; name another in its role first",
            ));
        }
        let children =
            table::Entity::find().filter(Column::BusinessId.eq(row.business_id)).filter(Column::ParentId.eq(row.id));
        if children.count(&cx.db).await? > 0 {
            return Err(Error::conflict(Code::InUse, "The group has accounts below it; move or delete them first"));
        }
        if is_used(cx, row.id).await? {
            return in_use("has entries");
        }
        if books::mentions::is_named(cx, row.id).await? {
            return in_use("is named by documents");
        }
        if reference::names_account(cx, row.id).await? {
            return in_use("is named by items, parties or tax codes");
        }
        Ok(())
    }
}

/// Puts the accounts of a template into a new company, those in a role under the identifiers that are given.
pub(crate) async fn plant(
    cx: &Cx<'_>,
    business: BusinessId,
    blueprints: &[Blueprint],
    held: &BTreeMap<SystemRole, RecordId>,
) -> Result<()> {
    let mut ids: HashMap<&str, RecordId> = HashMap::new();
    let mut rows = Vec::new();
    for blueprint in blueprints {
        let id = blueprint.role.and_then(|role| held.get(&role).copied()).unwrap_or_else(|| RecordId(cx.new_id()));
        ids.insert(blueprint.code, id);
        let keeper = blueprint.keeper();
        let row = table::Model {
            business_id: business,
            id,
            code: blueprint.code.into(),
            name: blueprint.name.into(),
            name_key: crate::texts::search_key(blueprint.name),
            r#type: blueprint.r#type,
            class: blueprint.r#type.class(),
            parent_id: blueprint.parent.and_then(|code| ids.get(code).copied()),
            is_group: blueprint.is_group,
            currency: None,
            description: None,
            cash_flow_section: None,
            allow_manual_posting: keeper.takes_journals(),
            keeper,
            as_said_until: BEFORE_THE_FIRST,
            bank_details: None,
            status: AccountStatus::Active,
            external_id: None,
            tags: AsJson(Vec::new()),
            // As a body says it: an account that is sent back as it was read is not changed.
            search: address::search_text(&[Some(&blueprint.code.to_owned()), Some(&blueprint.name.to_owned())]),
            version: 1,
            created_at: cx.now,
            created_by: cx.user,
            updated_at: cx.now,
            updated_by: cx.user,
        };
        rows.push(row.into_active_model());
    }
    table::Entity::insert_many(rows).exec_without_returning(&cx.db).await?;
    Ok(())
}

fn example_tree() -> serde_json::Value {
    let mut account = json!({
        "id": "019a9f6e-6c00-7e75-8f21-6b8d0c2e4a05", "version": 1,
        "createdAt": "2026-11-20T09:30:00.000000Z", "createdBy": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03",
        "updatedAt": "2026-11-20T09:30:00.000000Z", "updatedBy": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03",
        "children": []
    });
    for part in [Accounts::example(), Accounts::example_view()] {
        for (name, value) in part.as_object().into_iter().flatten() {
            account[name] = value.clone();
        }
    }
    json!({"items": [account]})
}

/// The chart of accounts as a tree.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountTree {
    /// The accounts at the top.
    items: Vec<AccountNode>,
}

/// An account and what is below it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountNode {
    #[serde(flatten)]
    account: AccountView,
    /// The accounts right below it.
    children: Vec<Self>,
}

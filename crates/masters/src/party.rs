//! Parties: customers and suppliers, often both.
//!
//! Owns: who they are, how to reach and pay them, the terms agreed with them. What they owe is not kept here; it
//! comes from the lines that name them on control accounts.

mod open;
mod relations;
mod tests;
mod wire;

use crate::bank;
use crate::currency::{Currency, CurrencyCode};
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::Faults;
use crate::ids::RecordId;
use crate::money::{BookMoney, Money, Percent};
use crate::stored::AsJson;
use books::access::Business;
use books::cx::Cx;
use kit::extra::Extra;
use kit::list::Reads;
use kit::master::{Columns, Master, keeping, kept, master_operations};
use kit::reference::References;
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use open::{Open, OpenIn, open_with};
use rules::purpose::{Purpose, Side};
use rules::tax::TaxDirection;
use schema::address::{self, text};
use schema::aliases::Aliases;
use schema::key::ResourceKey;
use schema::tables::{documents, entry_lines};
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter, Value};
use serde_json::json;
pub use wire::{ContactPersonInput, PartyBalance, PartyInput, PartyView};
use wire::{check_contacts, check_credit_limit};
pub struct Parties;

pub(crate) use schema::party as table;
pub use schema::party::{ContactPerson, PartyBlock, PartyKind, PartyStatus};
use table::Column;

impl Resource for Parties {
    const KEY: ResourceKey = ResourceKey::Parties;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a party",
        many: "parties",
        description: "Customers and suppliers; one party may be both.",
        sorts: &["name", "code", "createdAt", "updatedAt"],
        searched: "name, code, e-mail, tax number and the contacts' names and e-mails",
    };
    type Input = PartyInput;
    type Draft = Columns<Column>;
    type View = PartyView;
    const BY_IDS: Option<kit::expand::ByIds> = Some(|cx, ids| Box::pin(kit::rows::by_ids::<Self>(cx, ids)));

    fn extras() -> Vec<Extra> {
        relations::extras()
    }

    fn example() -> serde_json::Value {
        json!({
            "name": "Nordwind Cafés",
            "code": "C-1001",
            "isCustomer": true,
            "isSupplier": false,
            "kind": "company",
            "taxNumber": "DE811907980",
            "registrationNumber": null,
            "email": "accounts@nordwind.example",
            "phone": "+49 40 555 0100",
            "website": "https://nordwind.example",
            "billingAddress": {
                "line1": "Elbchaussee 12", "line2": null, "city": "Hamburg", "state": null, "postalCode": "22765", "country": "DE"
            },
            "shippingAddress": null,
            "contacts": [
                { "name": "Jana Petersen", "email": "jana@nordwind.example", "phone": null, "isPrimary": true }
            ],
            "currency": "EUR",
            "paymentTermDays": 30,
            "paymentTermId": null,
            "receivableAccountId": null,
            "payableAccountId": null,
            "salesAccountId": null,
            "purchaseAccountId": null,
            "salesTaxCodeId": null,
            "purchaseTaxCodeId": null,
            "creditLimit": 5000,
            "pricesIncludeTax": false,
            "discountPercent": 2,
            "bankDetails": {
                "iban": "DE89370400440532013000", "bic": "COBADEFFXXX", "accountNumber": null, "bankName": "Commerzbank"
            },
            "peppolId": null,
            "status": "active",
            "blocked": "none",
            "notes": "Delivers to the back door.",
            "externalId": null,
            "tags": ["hospitality"]
        })
    }

    fn example_view() -> serde_json::Value {
        json!({ "mergedIntoId": null, "receivableBalance": 0, "payableBalance": 0, "unallocatedCredit": 0, "overdueAmount": 0, "balances": [] })
    }

    fn check(business: Option<&Business>, input: PartyInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let is_customer = faults.optional("isCustomer", input.is_customer).unwrap_or_default();
        let is_supplier = faults.optional("isSupplier", input.is_supplier).unwrap_or_default();
        if !is_customer && !is_supplier {
            for name in ["isCustomer", "isSupplier"] {
                faults.add(name, "must be true here or there: a party is a customer, a supplier or both");
            }
        }
        let payment_term_days = faults.optional("paymentTermDays", input.payment_term_days);
        faults.within("paymentTermDays", payment_term_days, 0, 999);
        let discount_percent = faults.optional("discountPercent", input.discount_percent);
        faults.within("discountPercent", discount_percent, Percent::ZERO, Percent::from_units(100_000_000));
        let credit_limit = faults.optional("creditLimit", input.credit_limit);
        check_credit_limit(&mut faults, business, credit_limit);
        let mut row = Columns::new();
        let name = faults.required("name", input.name).into_inner();
        row.set(Column::Name, name.clone());
        let code = text(&mut faults, "code", input.code);
        row.set(Column::Code, code.clone());
        row.set(Column::IsCustomer, is_customer);
        row.set(Column::IsSupplier, is_supplier);
        row.set(Column::Kind, faults.optional("kind", input.kind).unwrap_or_default());
        let tax_number = text(&mut faults, "taxNumber", input.tax_number);
        row.set(Column::TaxNumber, tax_number.clone());
        row.set(Column::RegistrationNumber, text(&mut faults, "registrationNumber", input.registration_number));
        let email = address::email(&mut faults, "email", input.email);
        row.set(Column::Email, email.clone());
        row.set(Column::Phone, text(&mut faults, "phone", input.phone));
        row.set(Column::Website, address::website(&mut faults, "website", input.website));
        row.set(
            Column::BillingAddress,
            address::check(&mut faults, "billingAddress", input.billing_address).map(AsJson),
        );
        row.set(
            Column::ShippingAddress,
            address::check(&mut faults, "shippingAddress", input.shipping_address).map(AsJson),
        );
        let contacts = check_contacts(&mut faults, input.contacts);
        let mut searched = vec![Some(&name), code.as_ref(), email.as_ref(), tax_number.as_ref()];
        for contact in &contacts {
            searched.extend([Some(&contact.name), contact.email.as_ref()]);
        }
        row.set(Column::Search, address::search_text(&searched));
        row.set(Column::NameKey, crate::texts::search_key(&name));
        row.set(Column::Contacts, AsJson(contacts));
        row.set(Column::Currency, faults.optional("currency", input.currency).map(CurrencyCode::into_inner));
        row.set(Column::PaymentTermDays, payment_term_days);
        row.set(Column::PaymentTermId, faults.optional("paymentTermId", input.payment_term_id));
        row.set(Column::ReceivableAccountId, faults.optional("receivableAccountId", input.receivable_account_id));
        row.set(Column::PayableAccountId, faults.optional("payableAccountId", input.payable_account_id));
        row.set(Column::SalesAccountId, faults.optional("salesAccountId", input.sales_account_id));
        row.set(Column::PurchaseAccountId, faults.optional("purchaseAccountId", input.purchase_account_id));
        row.set(Column::SalesTaxCodeId, faults.optional("salesTaxCodeId", input.sales_tax_code_id));
        row.set(Column::PurchaseTaxCodeId, faults.optional("purchaseTaxCodeId", input.purchase_tax_code_id));
        row.set(Column::CreditLimit, credit_limit);
        row.set(Column::PricesIncludeTax, faults.optional("pricesIncludeTax", input.prices_include_tax));
        row.set(Column::DiscountPercent, discount_percent);
        row.set(Column::BankDetails, bank::check(&mut faults, "bankDetails", input.bank_details).map(AsJson));
        row.set(Column::PeppolId, text(&mut faults, "peppolId", input.peppol_id));
        row.set(Column::Status, faults.optional("status", input.status).unwrap_or_default());
        row.set(Column::Blocked, faults.optional("blocked", input.blocked).unwrap_or_default());
        row.set(Column::Notes, text(&mut faults, "notes", input.notes));
        row.set(Column::ExternalId, text(&mut faults, "externalId", input.external_id));
        row.set(Column::Tags, AsJson(address::tags(&mut faults, input.tags)));
        faults.finish(row)
    }

    master_operations!();
}

impl Rows for Parties {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::NameKey, Column::Code, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        let (text, flag) = (Reads::Text, Reads::Flag);
        vec![
            Filter::equal("isCustomer", "Only customers, or only others.", flag, Column::IsCustomer),
            Filter::equal("isSupplier", "Only suppliers, or only others.", flag, Column::IsSupplier),
            Filter::equal("kind", "Parties of these kinds.", Reads::AnyOf(PartyKind::TEXTS), Column::Kind),
            Filter::equal("status", "Parties of these statuses.", Reads::AnyOf(PartyStatus::TEXTS), Column::Status),
            Filter::equal("blocked", "Parties blocked like this.", Reads::AnyOf(PartyBlock::TEXTS), Column::Blocked),
            Filter::equal("code", "The party with this code.", text, Column::Code),
            Filter::equal("email", "Parties with this e-mail address.", text, Column::Email),
            Filter::equal("taxNumber", "Parties with this tax number.", text, Column::TaxNumber),
            Filter::equal("currency", "Parties with this currency of their own.", text, Column::Currency),
            Filter::equal("externalId", "The party with this identifier elsewhere.", text, Column::ExternalId),
            Filter::containing("tag", "Parties with this label.", text, Column::Tags),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<PartyView>> {
        let currency_decimals = cx.business()?.currency_decimals;
        let ids: Vec<RecordId> = rows.iter().map(|row| row.id).collect();
        // Asked for anew: a merge answers with what it did.
        let aliases = Aliases::load(&cx.db, cx.business_id()?).await?;
        let mut open = open_with(cx, &ids, &aliases).await?;
        let mut late = relations::overdue_and_unallocated(cx, &ids, &aliases).await?;
        let view = |row: table::Model| {
            let (open, late) = (open.remove(&row.id).unwrap_or_default(), late.remove(&row.id).unwrap_or_default());
            let into = Some(aliases.meant(row.id).id()).filter(|into| *into != row.id);
            view(row, currency_decimals, into, (open, late))
        };
        rows.into_iter().map(view).collect()
    }
}

impl Master for Parties {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[("code", Column::Code), ("externalId", Column::ExternalId)];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn complete(cx: &Cx<'_>, row: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        if let Some(row) = row {
            check_merged(row, draft)?;
        }
        let mut references = References::of(cx).await?;
        let held = row.map(|row| [row.payment_term_id, row.sales_tax_code_id, row.purchase_tax_code_id]);
        references.held.extend(held.into_iter().flatten().flatten());
        references.term("paymentTermId", draft.record(Column::PaymentTermId));
        for (field, column, purpose) in [
            ("receivableAccountId", Column::ReceivableAccountId, Purpose::Control(Side::Receivable)),
            ("payableAccountId", Column::PayableAccountId, Purpose::Control(Side::Payable)),
            ("salesAccountId", Column::SalesAccountId, Purpose::Income),
            ("purchaseAccountId", Column::PurchaseAccountId, Purpose::Expense),
        ] {
            references.account(field, draft.record(column), purpose);
        }
        references.tax_code("salesTaxCodeId", draft.record(Column::SalesTaxCodeId), TaxDirection::Sales);
        references.tax_code("purchaseTaxCodeId", draft.record(Column::PurchaseTaxCodeId), TaxDirection::Purchase);
        references.finish()
    }

    async fn release(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        let posted = entry_lines::Entity::find()
            .filter(entry_lines::Column::BusinessId.eq(row.business_id))
            .filter(Aliases::is_written_as(entry_lines::Column::PartyId, row.id));
        // An order posts nothing, and is somebody's all the same.
        let named = documents::Entity::find()
            .filter(documents::Column::BusinessId.eq(row.business_id))
            .filter(Aliases::is_written_as(documents::Column::PartyId, row.id));
        if posted.count(&cx.db).await? > 0
            || named.count(&cx.db).await? > 0
            || books::mentions::is_named(cx, row.id).await?
        {
            return Err(Error::conflict(Code::InUse, "The party is in the books; set its status to archived instead"));
        }
        let merged = table::Entity::find().filter(Parties::reach(cx)?).filter(Column::MergedIntoId.eq(row.id));
        if merged.count(&cx.db).await? > 0 {
            return Err(Error::conflict(
                Code::InUse,
                "Other parties became part of it; set its status to archived instead",
            ));
        }
        Ok(())
    }
}

/// What became part of another party is read as that one, and never comes back by itself.
fn check_merged(row: &table::Model, draft: &Columns<Column>) -> Result<()> {
    if row.merged_into_id.is_none() || draft.get(Column::Status) == Some(&PartyStatus::Archived.into()) {
        return Ok(());
    }
    Err(Error::Conflict(Conflict {
        code: Code::InvalidState,
        title: "It is part of another party".into(),
        errors: FieldErrors::one("status", "must be archived: it is part of another party, which stands for it"),
    }))
}

fn view(
    row: table::Model,
    currency_decimals: u32,
    merged_into_id: Option<RecordId>,
    (open, late): (Open, relations::Late),
) -> Result<PartyView> {
    let base = |units: i64| BookMoney::from_units(units).shown(currency_decimals);
    let sum = |side: fn(&OpenIn) -> i64| {
        let sum = open.values().map(side).try_fold(0, i64::checked_add);
        sum.map(base).ok_or_else(Error::too_large)
    };
    let balance = |(currency, within): (&String, &OpenIn)| {
        let known = Currency::known(currency, format_args!("what is open with party {}", row.id))?;
        let own = |units: i64| known.amount(Money::from_units(units));
        Ok(PartyBalance {
            currency: currency.clone(),
            receivable: own(within.receivable.1),
            payable: own(within.payable.1),
        })
    };
    let balances = open.iter().filter(|(_, within)| within.receivable != (0, 0) || within.payable != (0, 0));
    Ok(PartyView {
        receivable_balance: sum(|within| within.receivable.0)?,
        payable_balance: sum(|within| within.payable.0)?,
        unallocated_credit: base(late.unallocated),
        overdue_amount: base(late.overdue),
        balances: balances.map(balance).collect::<Result<_>>()?,
        keeping: kept!(row),
        name: row.name,
        code: row.code,
        is_customer: row.is_customer,
        is_supplier: row.is_supplier,
        kind: row.kind,
        tax_number: row.tax_number,
        registration_number: row.registration_number,
        email: row.email,
        phone: row.phone,
        website: row.website,
        billing_address: row.billing_address.map(|address| address.0),
        shipping_address: row.shipping_address.map(|address| address.0),
        contacts: row.contacts.0,
        currency: row.currency,
        payment_term_days: row.payment_term_days,
        payment_term_id: row.payment_term_id,
        receivable_account_id: row.receivable_account_id,
        payable_account_id: row.payable_account_id,
        sales_account_id: row.sales_account_id,
        purchase_account_id: row.purchase_account_id,
        sales_tax_code_id: row.sales_tax_code_id,
        purchase_tax_code_id: row.purchase_tax_code_id,
        merged_into_id,
        credit_limit: row.credit_limit.map(|limit| limit.shown(currency_decimals)),
        prices_include_tax: row.prices_include_tax,
        discount_percent: row.discount_percent,
        bank_details: row.bank_details.map(|details| details.0),
        peppol_id: row.peppol_id,
        status: row.status,
        blocked: row.blocked,
        notes: row.notes,
        external_id: row.external_id,
        tags: row.tags.0,
    })
}

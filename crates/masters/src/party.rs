//! Parties: customers and suppliers, often both.
//!
//! Owns: who they are, how to reach and pay them, the terms agreed with them. What they owe is not kept here; it
//! comes from the lines that name them on control accounts.

mod relations;

use crate::bank::{self, BankDetailsInput};
use crate::currency::{Currency, CurrencyCode};
use crate::error::{Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, Money, Percent};
use crate::stored::AsJson;
use books::access::Business;
use books::cx::Cx;
use kit::extra::Extra;
use kit::list::Reads;
use kit::master::{Columns, Master, RecordKeeping, keeping, kept, master_operations};
use kit::reference::References;
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use rules::account::AccountType;
use rules::purpose::{Purpose, Side};
use rules::tax::TaxDirection;
use schema::account as accounts;
use schema::address::{self, Address, AddressInput, text};
use schema::aliases::Aliases;
use schema::bank::BankDetails;
use schema::key::ResourceKey;
use schema::tables::{entry_lines, party_balances};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};

pub struct Parties;

/// What a client sends to create or replace a party.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PartyInput {
    /// Name on documents.
    name: Field<Label<200>>,
    /// Your own short code; unique in the company.
    code: Maybe<Text<50>>,
    /// Whether you sell to them. A party is a customer, a supplier or both.
    is_customer: Maybe<bool>,
    /// Whether you buy from them. A party is a customer, a supplier or both.
    is_supplier: Maybe<bool>,
    /// A company or a natural person; `company` when absent.
    kind: Maybe<PartyKind>,
    /// VAT, GST or other tax number.
    tax_number: Maybe<Text<50>>,
    /// Number in the company register.
    registration_number: Maybe<Text<50>>,
    /// E-mail address for documents.
    email: Maybe<Text<254>>,
    /// Telephone number.
    phone: Maybe<Text<50>>,
    /// Web address, beginning with `https://` or `http://`.
    website: Maybe<Text<500>>,
    /// Where invoices go.
    billing_address: Maybe<AddressInput>,
    /// Where goods go.
    shipping_address: Maybe<AddressInput>,
    /// People to talk to, at most 50; one of them may be the primary one.
    #[schemars(extend("maxItems" = 50))]
    contacts: Each<ContactPersonInput>,
    /// Currency of their documents; the company's when absent.
    currency: Maybe<CurrencyCode>,
    /// Days until their documents are due, 0 to 999.
    #[schemars(range(min = 0, max = 999))]
    payment_term_days: Maybe<i64>,
    /// Their payment term; it wins over `paymentTermDays`.
    payment_term_id: Maybe<RecordId>,
    /// Account of what they owe you; the company's when absent.
    receivable_account_id: Maybe<RecordId>,
    /// Account of what you owe them; the company's when absent.
    payable_account_id: Maybe<RecordId>,
    /// Account of what is sold to them, where the item has none.
    sales_account_id: Maybe<RecordId>,
    /// Account of what is bought from them, where the item has none.
    purchase_account_id: Maybe<RecordId>,
    /// Tax code on sales to them, where the item has none.
    sales_tax_code_id: Maybe<RecordId>,
    /// Tax code on purchases from them, where the item has none.
    purchase_tax_code_id: Maybe<RecordId>,
    /// How much they may owe you, in the company's currency.
    credit_limit: Maybe<Money>,
    /// Whether prices on their documents include tax; as the company does when absent.
    prices_include_tax: Maybe<bool>,
    /// Discount they always get, 0 to 100 percent.
    discount_percent: Maybe<Percent>,
    /// Their bank account.
    bank_details: Maybe<BankDetailsInput>,
    /// Identifier in the Peppol network, such as `0088:7300010000001`.
    peppol_id: Maybe<Text<100>>,
    /// Whether new documents may name the party; `active` when absent.
    status: Maybe<PartyStatus>,
    /// For which documents the party is blocked; `none` when absent.
    blocked: Maybe<PartyBlock>,
    /// Notes for yourself.
    notes: Maybe<Text<4000>>,
    /// The party's identifier in another system; unique in the company.
    external_id: Maybe<Text<200>>,
    /// Labels of your own, at most 50.
    #[schemars(extend("maxItems" = 50))]
    tags: Each<Label<50>>,
}

/// A person to talk to.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ContactPersonInput {
    /// The person's name.
    name: Field<Label<200>>,
    /// E-mail address.
    email: Maybe<Text<254>>,
    /// Telephone number.
    phone: Maybe<Text<50>>,
    /// Whether to turn to this person first; `false` when absent.
    is_primary: Maybe<bool>,
}

/// A customer, a supplier, or both.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Party")]
pub struct PartyView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// Name on documents.
    name: String,
    /// Your own short code.
    code: Option<String>,
    /// Whether you sell to them.
    is_customer: bool,
    /// Whether you buy from them.
    is_supplier: bool,
    /// A company or a natural person.
    kind: PartyKind,
    /// VAT, GST or other tax number.
    tax_number: Option<String>,
    /// Number in the company register.
    registration_number: Option<String>,
    /// E-mail address for documents.
    email: Option<String>,
    /// Telephone number.
    phone: Option<String>,
    /// Web address.
    website: Option<String>,
    /// Where invoices go.
    billing_address: Option<Address>,
    /// Where goods go.
    shipping_address: Option<Address>,
    /// People to talk to.
    contacts: Vec<ContactPerson>,
    /// Currency of their documents; the company's when null.
    currency: Option<String>,
    /// Days until their documents are due.
    payment_term_days: Option<i64>,
    /// Their payment term; it wins over `paymentTermDays`.
    payment_term_id: Option<RecordId>,
    /// Account of what they owe you; the company's when null.
    receivable_account_id: Option<RecordId>,
    /// Account of what you owe them; the company's when null.
    payable_account_id: Option<RecordId>,
    /// Account of what is sold to them, where the item has none.
    sales_account_id: Option<RecordId>,
    /// Account of what is bought from them, where the item has none.
    purchase_account_id: Option<RecordId>,
    /// Tax code on sales to them, where the item has none.
    sales_tax_code_id: Option<RecordId>,
    /// Tax code on purchases from them, where the item has none.
    purchase_tax_code_id: Option<RecordId>,
    /// How much they may owe you, in the company's currency.
    credit_limit: Option<Amount>,
    /// Whether prices on their documents include tax; as the company does when null.
    prices_include_tax: Option<bool>,
    /// Discount they always get, in percent.
    discount_percent: Option<Percent>,
    /// Their bank account.
    bank_details: Option<BankDetails>,
    /// Identifier in the Peppol network.
    peppol_id: Option<String>,
    /// Whether new documents may name the party.
    status: PartyStatus,
    /// For which documents the party is blocked.
    blocked: PartyBlock,
    /// Notes for yourself.
    notes: Option<String>,
    /// The party's identifier in another system.
    external_id: Option<String>,
    /// Labels of your own.
    tags: Vec<String>,
    /// The party that this one became part of.
    merged_into_id: Option<RecordId>,
    /// What they owe you, in the company's currency; with a minus, what you owe them as a customer.
    receivable_balance: Amount,
    /// What you owe them, in the company's currency; with a minus, what they owe you as a supplier.
    payable_balance: Amount,
    /// What they paid or were credited and that settles nothing yet, in the company's currency.
    unallocated_credit: Amount,
    /// What they owe you and should have paid by now, in the company's currency.
    overdue_amount: Amount,
    /// The same by the currency it is in.
    balances: Vec<PartyBalance>,
}

/// What is open with a party in one currency.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartyBalance {
    /// The currency.
    currency: String,
    /// What they owe you.
    receivable: Amount,
    /// What you owe them.
    payable: Amount,
}

impl AsRef<RecordKeeping> for PartyView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

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

fn check_credit_limit(faults: &mut Faults, business: Option<&Business>, limit: Option<Money>) {
    let Some(limit) = limit else { return };
    if limit.is_negative() {
        faults.add("creditLimit", "must not be negative");
    }
    if let Some(business) = business.filter(|business| !limit.fits(business.currency_decimals)) {
        let (currency, decimals) = (&business.base_currency, business.currency_decimals);
        faults.add("creditLimit", format!("must have at most {decimals} decimal places in {currency}"));
    }
}

fn check_contacts(faults: &mut Faults, field: Each<ContactPersonInput>) -> Vec<ContactPerson> {
    let contacts = faults.each("contacts", field, |faults, input| ContactPerson {
        name: faults.required("name", input.name).into_inner(),
        email: address::email(faults, "email", input.email),
        phone: text(faults, "phone", input.phone),
        is_primary: faults.optional("isPrimary", input.is_primary).unwrap_or_default(),
    });
    if contacts.len() > 50 {
        faults.add("contacts", "must be at most 50");
    }
    if contacts.iter().filter(|contact| contact.is_primary).count() > 1 {
        faults.add("contacts", "must have at most one primary contact");
    }
    contacts
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
            let into = Some(aliases.meant(row.id)).filter(|into| *into != row.id);
            view(row, currency_decimals, into, (open, late))
        };
        rows.into_iter().map(view).collect()
    }
}

/// What is open with a party, by currency: receivable and payable, in the company's currency and in its own.
type Open = BTreeMap<String, OpenIn>;

#[derive(Debug, Clone, Copy, Default)]
struct OpenIn {
    receivable: (i64, i64),
    payable: (i64, i64),
}

/// What became part of a party counts as its own: the ledger still has it under the old name.
async fn open_with(cx: &Cx<'_>, parties: &[RecordId], aliases: &Aliases) -> Result<HashMap<RecordId, Open>> {
    let rows = party_balances::Entity::find()
        .filter(party_balances::Column::BusinessId.eq(cx.business_id()?))
        .filter(aliases.is_any(party_balances::Column::PartyId, parties.iter().copied()))
        .all(&cx.db)
        .await?;
    let named: HashSet<RecordId> = rows.iter().map(|row| row.account_id).collect();
    let types: Vec<(RecordId, AccountType)> = if named.is_empty() {
        Vec::new()
    } else {
        accounts::Entity::find()
            .select_only()
            .columns([accounts::Column::Id, accounts::Column::Type])
            .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
            .filter(accounts::Column::Id.is_in(named))
            .into_tuple()
            .all(&cx.db)
            .await?
    };
    let types: HashMap<RecordId, AccountType> = types.into_iter().collect();
    let mut open: HashMap<RecordId, Open> = HashMap::new();
    for row in rows {
        let (base, own) = (row.amount.units(), row.currency_amount.units());
        let within = open.entry(aliases.of(row.party_id)).or_default().entry(row.currency).or_default();
        match types.get(&row.account_id) {
            Some(AccountType::Receivable) => add(&mut within.receivable, base, own),
            // A credit is what is owed.
            Some(AccountType::Payable) => add(&mut within.payable, base.saturating_neg(), own.saturating_neg()),
            // A party on another account is a note, not a debt.
            _ => {}
        }
    }
    Ok(open)
}

fn add(sum: &mut (i64, i64), base: i64, own: i64) {
    *sum = (sum.0.saturating_add(base), sum.1.saturating_add(own));
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
            .filter(cx.aliases()?.is(entry_lines::Column::PartyId, row.id));
        if posted.count(&cx.db).await? > 0 || books::mentions::is_named(cx, row.id).await? {
            return Err(Error::conflict("in_use", "The party is in the books; set its status to archived instead"));
        }
        let merged = table::Entity::find().filter(Parties::reach(cx)?).filter(Column::MergedIntoId.eq(row.id));
        if merged.count(&cx.db).await? > 0 {
            return Err(Error::conflict(
                "in_use",
                "Other parties became part of it; set its status to archived instead",
            ));
        }
        Ok(())
    }
}

fn view(
    row: table::Model,
    currency_decimals: u32,
    merged_into_id: Option<RecordId>,
    (open, late): (Open, relations::Late),
) -> Result<PartyView> {
    let base = |units: i64| Amount { money: Money::from_units(units), currency_decimals };
    let sum = |side: fn(&OpenIn) -> i64| base(open.values().map(side).fold(0, i64::saturating_add));
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
        receivable_balance: sum(|within| within.receivable.0),
        payable_balance: sum(|within| within.payable.0),
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
        credit_limit: row.credit_limit.map(|money| Amount { money, currency_decimals }),
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

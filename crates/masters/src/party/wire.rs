//! A party, as it is sent and shown.

use crate::bank::BankDetailsInput;
use crate::currency::CurrencyCode;
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Percent};
use books::access::Business;
use kit::master::RecordKeeping;
use schema::address::{self, Address, AddressInput, text};
use schema::bank::BankDetails;
use schema::party::{ContactPerson, PartyBlock, PartyKind, PartyStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a client sends to create or replace a party.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PartyInput {
    /// Name on documents.
    pub(super) name: Field<Label<200>>,
    /// Your own short code; unique in the company.
    pub(super) code: Maybe<Text<50>>,
    /// Whether you sell to them. A party is a customer, a supplier or both.
    pub(super) is_customer: Maybe<bool>,
    /// Whether you buy from them. A party is a customer, a supplier or both.
    pub(super) is_supplier: Maybe<bool>,
    /// A company or a natural person; `company` when absent.
    pub(super) kind: Maybe<PartyKind>,
    /// VAT, GST or other tax number.
    pub(super) tax_number: Maybe<Text<50>>,
    /// Number in the company register.
    pub(super) registration_number: Maybe<Text<50>>,
    /// E-mail address for documents.
    pub(super) email: Maybe<Text<254>>,
    /// Telephone number.
    pub(super) phone: Maybe<Text<50>>,
    /// Web address, beginning with `https://` or `http://`.
    pub(super) website: Maybe<Text<500>>,
    /// Where invoices go.
    pub(super) billing_address: Maybe<AddressInput>,
    /// Where goods go.
    pub(super) shipping_address: Maybe<AddressInput>,
    /// People to talk to, at most 50; one of them may be the primary one.
    #[schemars(extend("maxItems" = 50))]
    pub(super) contacts: Each<ContactPersonInput>,
    /// Currency of their documents; the company's when absent.
    pub(super) currency: Maybe<CurrencyCode>,
    /// Days until their documents are due, 0 to 999.
    #[schemars(range(min = 0, max = 999))]
    pub(super) payment_term_days: Maybe<i64>,
    /// Their payment term; it wins over `paymentTermDays`.
    pub(super) payment_term_id: Maybe<RecordId>,
    /// Account of what they owe you; the company's when absent.
    pub(super) receivable_account_id: Maybe<RecordId>,
    /// Account of what you owe them; the company's when absent.
    pub(super) payable_account_id: Maybe<RecordId>,
    /// Account of what is sold to them, where the item has none.
    pub(super) sales_account_id: Maybe<RecordId>,
    /// Account of what is bought from them, where the item has none.
    pub(super) purchase_account_id: Maybe<RecordId>,
    /// Tax code on sales to them, where the item has none.
    pub(super) sales_tax_code_id: Maybe<RecordId>,
    /// Tax code on purchases from them, where the item has none.
    pub(super) purchase_tax_code_id: Maybe<RecordId>,
    /// How much they may owe you, in the company's currency.
    pub(super) credit_limit: Maybe<BookMoney>,
    /// Whether prices on their documents include tax; as the company does when absent.
    pub(super) prices_include_tax: Maybe<bool>,
    /// Discount they always get, 0 to 100 percent.
    pub(super) discount_percent: Maybe<Percent>,
    /// Their bank account.
    pub(super) bank_details: Maybe<BankDetailsInput>,
    /// Identifier in the Peppol network, such as `0088:7300010000001`.
    pub(super) peppol_id: Maybe<Text<100>>,
    /// Whether new documents may name the party; `active` when absent.
    pub(super) status: Maybe<PartyStatus>,
    /// For which documents the party is blocked; `none` when absent.
    pub(super) blocked: Maybe<PartyBlock>,
    /// Notes for yourself.
    pub(super) notes: Maybe<Text<4000>>,
    /// The party's identifier in another system; unique in the company.
    pub(super) external_id: Maybe<Text<200>>,
    /// Labels of your own, at most 50.
    #[schemars(extend("maxItems" = 50))]
    pub(super) tags: Each<Label<50>>,
}

/// A person to talk to.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ContactPersonInput {
    /// The person's name.
    pub(super) name: Field<Label<200>>,
    /// E-mail address.
    pub(super) email: Maybe<Text<254>>,
    /// Telephone number.
    pub(super) phone: Maybe<Text<50>>,
    /// Whether to turn to this person first; `false` when absent.
    is_primary: Maybe<bool>,
}

/// A customer, a supplier, or both.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Party")]
pub struct PartyView {
    #[serde(flatten)]
    pub(super) keeping: RecordKeeping,
    /// Name on documents.
    pub(super) name: String,
    /// Your own short code.
    pub(super) code: Option<String>,
    /// Whether you sell to them.
    pub(super) is_customer: bool,
    /// Whether you buy from them.
    pub(super) is_supplier: bool,
    /// A company or a natural person.
    pub(super) kind: PartyKind,
    /// VAT, GST or other tax number.
    pub(super) tax_number: Option<String>,
    /// Number in the company register.
    pub(super) registration_number: Option<String>,
    /// E-mail address for documents.
    pub(super) email: Option<String>,
    /// Telephone number.
    pub(super) phone: Option<String>,
    /// Web address.
    pub(super) website: Option<String>,
    /// Where invoices go.
    pub(super) billing_address: Option<Address>,
    /// Where goods go.
    pub(super) shipping_address: Option<Address>,
    /// People to talk to.
    pub(super) contacts: Vec<ContactPerson>,
    /// Currency of their documents; the company's when null.
    pub(super) currency: Option<String>,
    /// Days until their documents are due.
    pub(super) payment_term_days: Option<i64>,
    /// Their payment term; it wins over `paymentTermDays`.
    pub(super) payment_term_id: Option<RecordId>,
    /// Account of what they owe you; the company's when null.
    pub(super) receivable_account_id: Option<RecordId>,
    /// Account of what you owe them; the company's when null.
    pub(super) payable_account_id: Option<RecordId>,
    /// Account of what is sold to them, where the item has none.
    pub(super) sales_account_id: Option<RecordId>,
    /// Account of what is bought from them, where the item has none.
    pub(super) purchase_account_id: Option<RecordId>,
    /// Tax code on sales to them, where the item has none.
    pub(super) sales_tax_code_id: Option<RecordId>,
    /// Tax code on purchases from them, where the item has none.
    pub(super) purchase_tax_code_id: Option<RecordId>,
    /// How much they may owe you, in the company's currency.
    pub(super) credit_limit: Option<Amount>,
    /// Whether prices on their documents include tax; as the company does when null.
    pub(super) prices_include_tax: Option<bool>,
    /// Discount they always get, in percent.
    pub(super) discount_percent: Option<Percent>,
    /// Their bank account.
    pub(super) bank_details: Option<BankDetails>,
    /// Identifier in the Peppol network.
    pub(super) peppol_id: Option<String>,
    /// Whether new documents may name the party.
    pub(super) status: PartyStatus,
    /// For which documents the party is blocked.
    pub(super) blocked: PartyBlock,
    /// Notes for yourself.
    pub(super) notes: Option<String>,
    /// The party's identifier in another system.
    pub(super) external_id: Option<String>,
    /// Labels of your own.
    pub(super) tags: Vec<String>,
    /// The party that this one became part of.
    pub(super) merged_into_id: Option<RecordId>,
    /// What they owe you, in the company's currency; with a minus, what you owe them as a customer.
    pub(super) receivable_balance: Amount,
    /// What you owe them, in the company's currency; with a minus, what they owe you as a supplier.
    pub(super) payable_balance: Amount,
    /// What they paid or were credited and that settles nothing yet, in the company's currency.
    pub(super) unallocated_credit: Amount,
    /// What they owe you and should have paid by now, in the company's currency.
    pub(super) overdue_amount: Amount,
    /// The same by the currency it is in.
    pub(super) balances: Vec<PartyBalance>,
}

/// What is open with a party in one currency.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartyBalance {
    /// The currency.
    pub(super) currency: String,
    /// What they owe you.
    pub(super) receivable: Amount,
    /// What you owe them.
    pub(super) payable: Amount,
}

impl AsRef<RecordKeeping> for PartyView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(super) fn check_credit_limit(faults: &mut Faults, business: Option<&Business>, limit: Option<BookMoney>) {
    let Some(limit) = limit else { return };
    if limit.is_negative() {
        faults.add("creditLimit", "must not be negative");
    }
    if let Some(business) = business.filter(|business| !limit.fits(business.currency_decimals)) {
        let (currency, decimals) = (&business.base_currency, business.currency_decimals);
        faults.add("creditLimit", format!("must have at most {decimals} decimal places in {currency}"));
    }
}

pub(super) fn check_contacts(faults: &mut Faults, field: Each<ContactPersonInput>) -> Vec<ContactPerson> {
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

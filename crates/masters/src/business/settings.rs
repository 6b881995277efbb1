//! The settings of a company, and the accounts that have a role.

use super::wire::{BusinessSettingsInput, SystemAccountsInput};
use crate::error::{Error, Result};
use crate::field::{Faults, Maybe, Once};
use crate::ids::{BusinessId, RecordId};
use crate::money::{BookMoney, Percent};
use crate::stored::AsJson;
use books::chart::{ChartTemplate, SystemRole};
use books::cx::Cx;
use kit::master::Columns;
use schema::business as table;
use schema::business::{BusinessSettings, TaxBasisFrom, Tolerance};
use sea_orm::{QuerySelect, Value};
use std::collections::BTreeMap;
use table::Column;

/// Countries where a discount for paying early reduces the tax: those of the European Union, and some others.
pub(super) const DISCOUNTS_REDUCE_TAX: [&str; 31] = [
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IT", "LT", "LU", "LV",
    "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK", "GB", "NO", "CH", "US",
];

pub(super) fn check_settings(
    faults: &mut Faults,
    (currency, usual): (&str, bool),
    field: Maybe<BusinessSettingsInput>,
) -> BusinessSettings {
    let Some(input) = faults.optional("settings", field) else {
        return BusinessSettings { discount_reduces_tax: usual, ..BusinessSettings::default() };
    };
    faults.inside("settings", input, |faults, input| BusinessSettings {
        require_if_match: faults.optional("requireIfMatch", input.require_if_match).unwrap_or_default(),
        default_document_status: faults
            .optional("defaultDocumentStatus", input.default_document_status)
            .unwrap_or_default(),
        posted_edit_policy: faults.optional("postedEditPolicy", input.posted_edit_policy).unwrap_or_default(),
        rounding_mode: faults.optional("roundingMode", input.rounding_mode).unwrap_or_default(),
        tax_rounding: faults.optional("taxRounding", input.tax_rounding).unwrap_or_default(),
        prices_include_tax_default: faults
            .optional("pricesIncludeTaxDefault", input.prices_include_tax_default)
            .unwrap_or_default(),
        cost_method_default: faults.optional("costMethodDefault", input.cost_method_default).unwrap_or_default(),
        negative_stock: faults.optional("negativeStock", input.negative_stock).unwrap_or_default(),
        book_advances_separately: faults
            .optional("bookAdvancesSeparately", input.book_advances_separately)
            .unwrap_or_default(),
        unique_supplier_reference: faults
            .optional("uniqueSupplierReference", input.unique_supplier_reference)
            .unwrap_or_default(),
        credit_limit_policy: faults.optional("creditLimitPolicy", input.credit_limit_policy).unwrap_or_default(),
        cash_rounding_increment: {
            let increment = faults.optional("cashRoundingIncrement", input.cash_rounding_increment);
            if increment.is_some_and(|increment| increment <= BookMoney::ZERO) {
                faults.add("cashRoundingIncrement", "must be more than 0");
            }
            // What is wrong with the currency is said of the currency.
            let places = crate::currency::Currency::of(currency).map(crate::currency::Currency::decimals);
            if let Some(places) = places.filter(|places| increment.is_some_and(|increment| !increment.fits(*places))) {
                faults.add("cashRoundingIncrement", format!("must have at most {places} decimal places in {currency}"));
            }
            increment
        },
        cogs_timing: faults.optional("cogsTiming", input.cogs_timing).unwrap_or_default(),
        over_delivery_percent: {
            let percent = faults.optional("overDeliveryPercent", input.over_delivery_percent);
            faults.within("overDeliveryPercent", percent, Percent::ZERO, Percent::HUNDRED);
            percent.filter(|percent| *percent != Percent::ZERO)
        },
        allow_overcredit: faults.optional("allowOvercredit", input.allow_overcredit).unwrap_or_default(),
        tax_override_tolerance: {
            let coins = faults.optional("taxOverrideTolerance", input.tax_override_tolerance);
            if coins.is_some_and(|coins| !(0..=1000).contains(&coins)) {
                faults.add("taxOverrideTolerance", "must be 0 to 1000");
            }
            coins.map(Tolerance).unwrap_or_default()
        },
        tax_basis: {
            let (mut days, mut again) = (Once::default(), false);
            let basis = faults.each("taxBasis", input.tax_basis, |faults, input| {
                again |= days.is_second(&input.valid_from);
                TaxBasisFrom {
                    valid_from: faults.required("validFrom", input.valid_from),
                    basis: faults.required("basis", input.basis),
                }
            });
            if again || basis.len() > 50 {
                faults.add("taxBasis", "must be at most 50, each from a day of its own");
            }
            basis
        },
        discount_reduces_tax: faults.optional("discountReducesTax", input.discount_reduces_tax).unwrap_or(usual),
        write_off_reduces_tax: faults.optional("writeOffReducesTax", input.write_off_reduces_tax).unwrap_or_default(),
    })
}

pub(super) fn check_system_accounts(
    faults: &mut Faults,
    field: Maybe<SystemAccountsInput>,
) -> BTreeMap<SystemRole, RecordId> {
    let Some(input) = faults.optional("systemAccounts", field) else { return BTreeMap::new() };
    faults.inside("systemAccounts", input.0, |faults, roles| {
        let mut held = BTreeMap::new();
        for (name, field) in roles {
            match name.parse::<SystemRole>() {
                Ok(role) => {
                    held.insert(role, faults.required(&name, field));
                }
                Err(_) => faults.add(&name, "is not a known role"),
            }
        }
        held
    })
}

/// The template that a draft names.
pub(super) fn template_of(draft: &Columns<Column>) -> Result<ChartTemplate> {
    match draft.get(Column::ChartTemplate) {
        Some(Value::String(Some(text))) => text.parse().map_err(Error::internal),
        _ => Ok(ChartTemplate::default()),
    }
}

/// The accounts that a draft names by role.
pub(super) fn named_accounts(draft: &Columns<Column>) -> Result<BTreeMap<SystemRole, RecordId>> {
    match draft.get(Column::SystemAccounts) {
        Some(Value::String(Some(text))) => serde_json::from_str(text).map_err(Error::internal),
        _ => Ok(BTreeMap::new()),
    }
}

/// The settings that a draft has.
pub(super) fn settings_of(draft: &Columns<Column>) -> Result<Option<BusinessSettings>> {
    match draft.get(Column::Settings) {
        Some(Value::String(Some(text))) => Ok(Some(serde_json::from_str(text).map_err(Error::internal)?)),
        _ => Ok(None),
    }
}

/// The accounts of the company in scope by role, as they are now.
pub(crate) async fn system_accounts(cx: &Cx<'_>) -> Result<BTreeMap<SystemRole, RecordId>> {
    system_accounts_of(cx, cx.business_id()?).await
}

/// The accounts of a company by role, as they are now.
pub(crate) async fn system_accounts_of(cx: &Cx<'_>, business: BusinessId) -> Result<BTreeMap<SystemRole, RecordId>> {
    let held: Option<AsJson<BTreeMap<SystemRole, RecordId>>> = table::Entity::find_by_id(business)
        .select_only()
        .column(Column::SystemAccounts)
        .into_tuple()
        .one(&cx.db)
        .await?;
    Ok(held.unwrap_or_default().0)
}

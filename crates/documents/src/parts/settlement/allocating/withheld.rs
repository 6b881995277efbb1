//! How much may be kept back as tax of what is settled.

use super::wire::decimals;
use super::{AllocationAsked, of_documents};
use crate::error::{Error, Result};
use crate::money::Money;
use books::cx::Cx;
use books::tax_facts::shown_by;
use rules::tax::exact::Coin;
use rules::tax::facts::TaxFact;
use rules::tax::settlement::to_keep_back;
use schema::business::Tolerance;
use schema::tables::open_items;
use words::sown::{Fault, sown};

/// Refuses more than the document shows, with what was kept back of it before, and the coins by which papers may differ. One
/// that shows nothing has no rate to go by: there the other side pays at least as much as it keeps.
pub(super) async fn check(cx: &Cx<'_>, path: &str, target: &open_items::Model, asked: &AllocationAsked) -> Result<()> {
    if sown(Fault::AnythingIsKeptBack) {
        return Ok(());
    }
    cx.flush().await?;
    let settings = &cx.business()?.settings;
    let places = decimals(target)?;
    let shown = shown_by(cx, target.document_id).await?;
    let before = if shown.is_empty() { Vec::new() } else { of_documents(cx, &[target.document_id]).await? };
    let before = before.iter().filter(|one| one.target_id == target.id).map(|one| one.withheld);
    let coin = Coin { decimals: places, rounding: settings.rounding_mode.rounding() };
    let (most, why) = most(&shown, before, asked.amount, (coin, settings.tax_override_tolerance))?;
    if asked.withheld <= most {
        return Ok(());
    }
    let most = Ord::max(most, Money::ZERO).with_decimals(places);
    Err(Error::field(&format!("{path}withheldAmount"), format!("must be at most {most}, {why}")))
}

/// The most that may be kept back beside an amount, and what that is: given what the document shows, and what was kept back of
/// it before.
fn most(
    shown: &[TaxFact],
    before: impl Iterator<Item = Money>,
    amount: Money,
    (coin, tolerance): (Coin, Tolerance),
) -> Result<(Money, &'static str)> {
    if shown.is_empty() {
        return Ok((amount, "the amount: what is settled shows no tax that is kept back"));
    }
    let too_large = |_| Error::too_large();
    let whole = to_keep_back(shown, coin).map_err(too_large)?;
    let left = whole.minus(Money::sum(before).map_err(too_large)?).map_err(too_large)?;
    let play = tolerance.0.checked_mul(Money::smallest(coin.decimals).units());
    let play = Money::from_units(play.ok_or_else(Error::too_large)?);
    Ok((left.plus(play).map_err(too_large)?, "what is left of the tax that is shown as kept back"))
}

//! How much may be kept back as tax of what is settled.

use super::wire::decimals;
use super::{AllocationAsked, of_documents};
use crate::error::{Error, Result};
use crate::money::Money;
use books::cx::Cx;
use books::tax_facts::shown_by;
use rules::tax::exact::Coin;
use rules::tax::settlement::to_keep_back;
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
    let too_large = |_| Error::too_large();
    let (most, why) = if shown.is_empty() {
        (asked.amount, "the amount: what is settled shows no tax that is kept back")
    } else {
        let coin = Coin { decimals: places, rounding: settings.rounding_mode.rounding() };
        let whole = to_keep_back(&shown, coin).map_err(too_large)?;
        let before = of_documents(cx, &[target.document_id]).await?;
        let before = before.iter().filter(|one| one.target_id == target.id).map(|one| one.withheld);
        let left = whole.minus(Money::sum(before).map_err(too_large)?).map_err(too_large)?;
        let play = settings.tax_override_tolerance.0.checked_mul(Money::smallest(places).units());
        let play = Money::from_units(play.ok_or_else(Error::too_large)?);
        (left.plus(play).map_err(too_large)?, "what is left of the tax that is shown as kept back")
    };
    if asked.withheld <= most {
        return Ok(());
    }
    let most = Ord::max(most, Money::ZERO).with_decimals(places);
    Err(Error::field(&format!("{path}withheldAmount"), format!("must be at most {most}, {why}")))
}

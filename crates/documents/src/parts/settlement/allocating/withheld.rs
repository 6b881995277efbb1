//! How much may be kept back as tax of what is settled.

use super::super::credited::story::lines_named;
use super::wire::decimals;
use super::{AllocationAsked, of_documents};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Money;
use crate::parts::lefts::{Taker, credits_of};
use crate::parts::line::LineKept;
use books::cx::Cx;
use books::tax_facts::shown_by;
use rules::left::Parts;
use rules::tax::TaxKind;
use rules::tax::exact::Coin;
use rules::tax::facts::TaxFact;
use rules::tax::figures::LineTax;
use rules::tax::settlement::to_keep_back;
use schema::business::Tolerance;
use schema::tables::open_items;
use std::collections::HashSet;
use words::exact::TooLarge;
use words::sown::{Fault, sown};

/// Refuses more than the document shows on a day, less what credits it by then, with what was kept back of it before, and the
/// coins by which papers may differ. One that shows nothing has no rate to go by: there the other side pays at least as
/// much as it keeps.
pub(super) async fn check(
    cx: &Cx<'_>,
    path: &str,
    (target, day): (&open_items::Model, Day),
    asked: &AllocationAsked,
) -> Result<()> {
    if sown(Fault::AnythingIsKeptBack) {
        return Ok(());
    }
    cx.flush().await?;
    let settings = &cx.business()?.settings;
    let places = decimals(target)?;
    let shown = shown_by(cx, target.document_id).await?;
    let coin = Coin { decimals: places, rounding: settings.rounding_mode.rounding() };
    let credits = if shown.is_empty() { Vec::new() } else { credits_by(cx, target.document_id, day).await? };
    let documents: Vec<RecordId> = credits.iter().map(|credit| credit.note).chain([target.document_id]).collect();
    let before = if shown.is_empty() { Vec::new() } else { of_documents(cx, &documents).await? };
    let kept_of = |document: RecordId| {
        let of_it =
            before.iter().filter(move |one| one.target_document_id == document && one.source_document_id != document);
        Money::sum(of_it.map(|one| one.withheld)).map_err(|_| Error::too_large())
    };
    let kept = Money::sum(before.iter().filter(|one| one.target_id == target.id).map(|one| one.withheld));
    let mut less = kept.map_err(|_| Error::too_large())?;
    for credit in &credits {
        // What was kept back of the refund was given back of this.
        let shown = to_keep_back(&credit.shown, coin).map_err(|_| Error::too_large())?;
        let back = Ord::min(kept_of(credit.note)?, shown);
        less = less.plus(shown).and_then(|less| less.minus(back)).map_err(|_| Error::too_large())?;
    }
    let (most, why) = most(&shown, [less].into_iter(), asked.amount, (coin, settings.tax_override_tolerance))?;
    if asked.withheld <= most {
        return Ok(());
    }
    let most = Ord::max(most, Money::ZERO).with_decimals(places);
    Err(Error::field(&format!("{path}withheldAmount"), format!("must be at most {most}, {why}")))
}

/// A note that credits a document, and what it shows of that no more to be kept back.
struct Credit {
    note: RecordId,
    shown: Vec<TaxFact>,
}

/// What credits a document on a day.
async fn credits_by(cx: &Cx<'_>, document: RecordId, day: Day) -> Result<Vec<Credit>> {
    let found = credits_of(cx, &[document], day).await?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let of_document = lines_named(cx, document).await?;
    let stands = found.into_iter().filter(|credit| credit.row.date <= day);
    let shown = |credit: Taker| {
        let mut shown = Vec::new();
        for kept in &credit.content.figures.lines {
            shown.extend(shown_of(kept, &of_document, credit.content.asked.source == Some(document))?);
        }
        Ok(Credit { note: credit.row.id, shown })
    };
    stands.map(shown).collect::<Result<_, TooLarge>>().map_err(|_| Error::too_large())
}

/// What a line of a note shows that is kept back, for what it credits of a document: of its lines, or of the whole.
fn shown_of(kept: &LineKept, lines: &HashSet<RecordId>, names_it: bool) -> Result<Vec<TaxFact>, TooLarge> {
    let share = kept.took.iter().filter(|took| lines.contains(&took.of)).map(|took| &took.share.stated);
    let nets = share.map(Parts::net).collect::<Result<Vec<Money>, TooLarge>>()?;
    let is_whole = nets.len() == kept.took.len();
    if (nets.is_empty() && !kept.took.is_empty()) || (kept.took.is_empty() && !names_it) {
        return Ok(Vec::new());
    }
    let net = Money::sum(nets)?;
    let kept_back = kept.figures.taxes.iter().filter(|tax| tax.kind == TaxKind::Withholding);
    // Of a line that credits others as well, its share; it stands on the net.
    let base = |tax: &LineTax| if is_whole { tax.base } else { net };
    Ok(kept_back.map(|tax| TaxFact { base: base(tax), rate: Some(tax.rate), ..TaxFact::default() }).collect())
}

/// The most that may be kept back beside an amount, and what that is: given what the document shows, and what was kept back of
/// it before or is credited.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Rounding;
    use crate::samples::{money, percent};

    /// The most beside an amount, where a document shows so much as the base of ten percent.
    fn found(shown: &[&str], before: &[&str], (decimals, coins): (u32, i64)) -> String {
        let fact = |base: &&str| TaxFact { base: money(base), rate: Some(percent("10")), ..TaxFact::default() };
        let shown: Vec<TaxFact> = shown.iter().map(fact).collect();
        let coin = Coin { decimals, rounding: Rounding::HalfUp };
        let before = before.iter().map(|text| money(text));
        most(&shown, before, money("450"), (coin, Tolerance(coins))).unwrap().0.to_string()
    }

    #[test]
    fn no_more_is_kept_back_than_the_document_shows() {
        for (shown, before, coins, most) in [
            // Kernel 2.7: ten percent of 500.00, and the few coins by which papers differ.
            (&["500"][..], &[][..], (2, 5), "50.05"),
            (&["500"], &[], (2, 0), "50"),
            (&["500"], &["30"], (2, 5), "20.05"),
            (&["500"], &["30", "20.05"], (2, 5), "0"),
            (&["500", "100"], &[], (2, 0), "60"),
            // A credit shows it with a minus.
            (&["-500"], &[], (2, 0), "50"),
            // All of them are rounded at once.
            (&["0.33", "0.33", "0.33"], &[], (2, 0), "0.1"),
            (&["505"], &[], (0, 1), "52"),
            // Without a rate to go by, at most as much as is paid.
            (&[], &[], (2, 5), "450"),
        ] {
            assert_eq!(found(shown, before, coins), most, "{shown:?} {before:?} {coins:?}");
        }
    }
}

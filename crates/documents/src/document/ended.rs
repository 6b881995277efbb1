//! What settled a document until a later day, and does so no longer: on the days between it was settled all the same.
//!
//! Owns: that a document is not gone, smaller or somebody else's on a day on which it was settled.

use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use books::cx::Cx;
use books::open_items::{NewOpen, settled_days, settled_until};
use schema::tables::open_items;

/// Refuses to let go of what was settled after that.
pub(super) async fn check_gone(cx: &Cx<'_>, gone: &[open_items::Model], day: impl Fn(Day) -> Day) -> Result<()> {
    match settled_until(cx, gone, day).await? {
        None => Ok(()),
        Some(until) => Err(Error::Conflict(Conflict {
            code: Code::HasAllocations,
            title: format!("It was allocated until {until}; void it on that day or later"),
            errors: FieldErrors::one("date", format!("must not be before {until}, until when it was allocated")),
        })),
    }
}

/// Refuses a new version that does not hold what settled the old one on any day.
pub(super) async fn check_changed(
    cx: &Cx<'_>,
    before: &[open_items::Model],
    after: &[NewOpen],
    document: RecordId,
) -> Result<()> {
    for old in before {
        let days = settled_days(cx, old).await?;
        if days.iter().all(|(_, settled)| *settled == 0) {
            continue;
        }
        let new = after.iter().find(|new| new.line.unwrap_or(document) == old.id);
        let terms = (cx.aliases()?.of(old.party_id), old.account_id, old.currency.as_str(), old.amount.is_negative());
        let stays =
            new.is_some_and(|new| (new.party, new.account, new.currency.as_str(), new.amount.is_negative()) == terms);
        let size = new.map(|new| i128::from(new.amount.units()).abs());
        let over = |(day, settled): &&(Day, i128)| {
            *settled != 0
                && (!stays || size.is_none_or(|size| *settled > size) || new.is_some_and(|new| *day < new.date))
        };
        let Some((first, _)) = days.iter().find(over) else { continue };
        let until = days.iter().find(|(day, settled)| day > first && *settled == 0).map_or(*first, |(day, _)| *day);
        return Err(Error::conflict(
            Code::HasAllocations,
            format!(
                "It was allocated from {first} until {until}: its party, currency and account stay, its day is not after \
                 that, and its total does not fall below what was allocated"
            ),
        ));
    }
    Ok(())
}

//! What may not be changed, since something else stands on it.

use super::{Old, load};
use crate::document::list::reach;
use crate::document::{Document, Head};
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::quoting::quoted;
use books::cx::Cx;
use books::open_items::{NewOpen, settled_from};
use books::progress;
use schema::aliases::Aliases;
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::documents::Column;
use schema::tables::{documents as table, open_items};
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter};
use words::sown::{Fault, sown};

pub(super) async fn check_external_id<D: Document>(cx: &Cx<'_>, head: &Head, except: Option<RecordId>) -> Result<()> {
    let Some(external_id) = &head.external_id else { return Ok(()) };
    cx.flush().await?;
    let mut others = table::Entity::find().filter(reach::<D>(cx)?).filter(Column::ExternalId.eq(external_id.as_str()));
    if let Some(id) = except {
        others = others.filter(Column::Id.ne(id));
    }
    if others.count(&cx.db).await? == 0 {
        return Ok(());
    }
    Err(Error::Conflict(Conflict {
        code: Code::Duplicate,
        title: format!("Another of the {} already has this value", D::ABOUT.many),
        errors: FieldErrors::one(
            "externalId",
            format!("{} is already used by another of the {}", quoted(external_id), D::ABOUT.many),
        ),
    }))
}

/// Refuses whoever may not see what they would have read into a document of theirs.
pub(crate) fn check_source(cx: &Cx<'_>, kind: impl Into<ResourceKey>) -> Result<()> {
    cx.require(kind.into(), Action::View)
}

/// A document that another is made of. What is made tells what it is made of.
pub(crate) async fn load_source<D: Document>(cx: &Cx<'_>, id: RecordId) -> Result<Old<D>> {
    check_source(cx, D::KEY)?;
    load::<D>(cx, id).await
}

/// What was allocated must still fit: the same party, currency and account, and not more than there is now.
pub(super) fn check_allocated(
    aliases: &Aliases,
    before: &[open_items::Model],
    after: &[NewOpen],
    document: RecordId,
) -> Result<()> {
    for old in before.iter().filter(|old| old.is_touched()) {
        let new = after.iter().find(|new| new.line.unwrap_or(document) == old.id);
        let fits = new.is_some_and(|new| {
            let allocated = old.amount.units() - old.open.units();
            let (left, base_left) =
                (new.amount.units() - allocated, new.base.units() - (old.base.units() - old.base_open.units()));
            let same_side = new.amount.is_negative() == old.amount.is_negative();
            let enough = if new.amount.is_negative() { left <= 0 } else { left >= 0 };
            same_side
                && enough
                && (left != 0 || base_left == 0)
                && (new.party, new.account, &new.currency) == (aliases.of(old.party_id), old.account_id, &old.currency)
        });
        if !fits {
            return Err(Error::conflict(
                Code::HasAllocations,
                "It is allocated: its party, currency and account stay, and its total may not fall below what is \
                 allocated; remove the allocations first",
            ));
        }
    }
    Ok(())
}

/// Nothing is settled before both sides were there.
pub(super) async fn check_settled(
    cx: &Cx<'_>,
    before: &[open_items::Model],
    after: &[NewOpen],
    document: RecordId,
) -> Result<()> {
    for old in before.iter().filter(|old| old.is_touched()) {
        let Some(new) = after.iter().find(|new| new.line.unwrap_or(document) == old.id) else { continue };
        if let Some(day) = settled_from(cx, old).await?.filter(|day| *day < new.date) {
            return Err(Error::Conflict(Conflict {
                code: Code::HasAllocations,
                title: format!("It is allocated on {day}; remove that allocation first"),
                errors: FieldErrors::one("date", format!("must not be after {day}, when it was allocated")),
            }));
        }
    }
    Ok(())
}

/// What settled a document was worth what its rate says.
pub(super) fn check_rate<D: Document>(before: &[open_items::Model], old: &D::Asked, new: &D::Asked) -> Result<()> {
    let moves = D::rate(old) != D::rate(new) && !sown(Fault::SettledRateMoves);
    if !moves || !before.iter().any(open_items::Model::is_touched) {
        return Ok(());
    }
    Err(Error::Conflict(Conflict {
        code: Code::HasAllocations,
        title: "It is allocated: its exchange rate stays; remove the allocations first".into(),
        errors: FieldErrors::one("exchangeRate", "must stay as it is while something is allocated"),
    }))
}

/// What was made of a document must still fit it: the same party and currency, and of each line the same item, and not
/// less than was delivered or invoiced.
pub(super) fn check_followed(
    (old, before): (&table::Model, &[progress::Line]),
    (new, plan): (&table::Model, Option<&progress::Plan>),
) -> Result<()> {
    if before.iter().any(progress::Line::is_touched) {
        let mut errors = FieldErrors::default();
        for (changes, field, what) in
            [(old.party_id != new.party_id, "partyId", "party"), (old.currency != new.currency, "currency", "currency")]
        {
            if changes {
                errors.add(field, format!("must stay: other documents follow it with this {what}"));
            }
        }
        if !errors.is_empty() {
            let title = "Other documents follow it".into();
            return Err(Error::Conflict(Conflict { code: Code::InUse, title, errors }));
        }
    }
    for old in before.iter().filter(|old| old.is_touched()) {
        let new = plan.and_then(|plan| plan.begins.iter().find(|new| new.line_id == old.line_id));
        let used = if old.is_order() { Ord::max(old.fulfilled, old.invoiced) } else { old.taken()? };
        // More than was ordered may have been delivered; it need not be taken back for a change of words.
        let least = Ord::min(used, old.quantity);
        if !new.is_some_and(|new| new.item_id == old.item_id && new.quantity >= least) {
            return Err(Error::Conflict(Conflict {
                code: Code::InUse,
                title: "Other documents follow its lines".into(),
                errors: FieldErrors::one(
                    "lines",
                    format!("must keep the line {}, its item and a quantity of at least {least}", old.line_id),
                ),
            }));
        }
    }
    Ok(())
}

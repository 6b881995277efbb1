//! How documents are listed, and who names what.

use super::Document;
use super::standing::{Wanted, late};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Money;
use crate::texts::search_key;
use answers::Ask;
use books::cx::Cx;
use books::mentions::{named_by_draft, party_named_by_draft};
use kit::list::{FilterValue, ListQuery, Reads};
use kit::rows::{Filter, containing};
use schema::key::ResourceKey;
use schema::party;
use schema::rights::Action;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus, document_counts, entries, entry_lines};
use sea_orm::sea_query::{Expr, ExprTrait, Query, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter, QuerySelect};
use std::collections::BTreeSet;

/// The filters that every kind of document has.
pub(crate) fn filters() -> Vec<Filter<Column>> {
    vec![
        Filter::looking("status", "Documents that stand like this.", Reads::AnyOf(DocumentStatus::TEXTS), standing_so),
        Filter::at_least("dateFrom", "Documents of this day or later.", Reads::Day, Column::Date),
        Filter::at_most("dateTo", "Documents of this day or earlier.", Reads::Day, Column::Date),
        Filter::equal("number", "The document with this number.", Reads::Text, Column::Number),
        Filter::at_least(
            "numberFrom",
            "Documents with this number or one behind it, letter by letter.",
            Reads::Text,
            Column::Number,
        ),
        Filter::at_most(
            "numberTo",
            "Documents with this number or one before it, letter by letter.",
            Reads::Text,
            Column::Number,
        ),
        Filter::equal("reference", "Documents with this reference.", Reads::Text, Column::Reference),
        Filter::equal("currency", "Documents in this currency.", Reads::Text, Column::Currency),
        Filter::looking("accountId", "Documents that name or move this account.", Reads::Identifier, naming_account),
        Filter::at_least(
            "minTotal",
            "Documents of at least this total, in the company's currency.",
            Reads::Amount,
            Column::BaseTotal,
        ),
        Filter::at_most(
            "maxTotal",
            "Documents of at most this total, in the company's currency.",
            Reads::Amount,
            Column::BaseTotal,
        ),
        Filter::equal("externalId", "The document with this identifier elsewhere.", Reads::Text, Column::ExternalId),
        Filter::containing("tag", "Documents with this label.", Reads::Text, Column::Tags),
    ]
}

pub(crate) const SORTS: &[&str] = &["date", "number", "total", "createdAt", "updatedAt"];
/// The same of what falls due.
pub(crate) const DUE_SORTS: &[&str] = &["date", "number", "total", "createdAt", "updatedAt", "dueDate"];

/// The columns of the sorts that a kind has.
pub(crate) const fn sorted_by(sorts: &[&str]) -> &'static [Column] {
    if sorts.len() == DUE_SORTS.len() { DUE_SORTED_BY } else { SORTED_BY }
}

const DUE_SORTED_BY: &[Column] =
    &[Column::Date, Column::Number, Column::BaseTotal, Column::CreatedAt, Column::UpdatedAt, Column::DueDate];
const SORTED_BY: &[Column] = &[Column::Date, Column::Number, Column::BaseTotal, Column::CreatedAt, Column::UpdatedAt];

pub(crate) fn reach<D: Document>(cx: &Cx<'_>) -> Result<Condition> {
    Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)).add(Column::Kind.eq(D::KIND)))
}

/// Documents that name an account in their own fields, or move it.
fn naming_account(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Identifier(id) = value else { return Ok(Condition::any()) };
    Ok(naming(cx, entry_lines::Column::AccountId.eq(*id))?.add(named_by_draft(*id)))
}

/// Documents that name a party in their own fields, or whose entries do.
pub(crate) fn naming_party(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Party(named) = value else { return Ok(Condition::any()) };
    let aliases = cx.aliases()?;
    let party = aliases.asked(*named);
    Ok(naming(cx, aliases.is(entry_lines::Column::PartyId, party))?.add(party_named_by_draft(aliases, party)))
}

/// Documents of whose entries some lines are these.
fn naming(cx: &Cx<'_>, these: SimpleExpr) -> Result<Condition> {
    let moving = Query::select()
        .column((entries::Entity, entries::Column::DocumentId))
        .from(entries::Entity)
        .inner_join(
            entry_lines::Entity,
            Expr::col((entry_lines::Entity, entry_lines::Column::EntryNumber))
                .equals((entries::Entity, entries::Column::Number))
                .and(
                    Expr::col((entry_lines::Entity, entry_lines::Column::BusinessId))
                        .equals((entries::Entity, entries::Column::BusinessId)),
                ),
        )
        .and_where(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .and_where(these)
        .take();
    Ok(Condition::any().add(Column::Id.in_subquery(moving)))
}

/// Documents of a kind that nothing follows or settles, by their status.
fn standing_so(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::AnyOf(words) = value else { return Ok(Condition::any()) };
    Wanted::of(DocumentKind::Journal, words).condition(cx)
}

/// What a text stands for as a whole: how a number begins, or a total in the company's currency.
pub(crate) fn meant_by(text: &str) -> Vec<Condition> {
    let number = numbered(text);
    let total = Money::parse(text).ok().map(|total| Condition::all().add(Column::BaseTotal.eq(total.units())));
    number.into_iter().chain(total).collect()
}

/// As many parties as are found by one name.
const MOST_NAMED: u64 = 200;

/// Documents of parties that a text is found in. Who may not view parties learns nothing of what they are called.
pub(crate) async fn of_parties_called(cx: &Cx<'_>, text: &str) -> Result<Option<Condition>> {
    if !cx.business()?.seat.rights.allows(ResourceKey::Parties, Action::View) {
        return Ok(None);
    }
    let words = text.split_whitespace().map(|word| party::Column::Search.like(containing(&search_key(word))));
    let named: Vec<RecordId> = party::Entity::find()
        .filter(party::Column::BusinessId.eq(cx.business_id()?))
        .filter(words.fold(Condition::all(), Condition::add))
        .select_only()
        .column(party::Column::Id)
        .limit(MOST_NAMED)
        .into_tuple()
        .all(&cx.db)
        .await?;
    if named.is_empty() {
        return Ok(None);
    }
    let aliases = cx.aliases()?;
    Ok(Some(Condition::all().add(aliases.is_any(Column::PartyId, named.into_iter().map(|one| aliases.meant(one))))))
}

/// Documents whose number begins with a text, where it may: it is one word and has a digit.
fn numbered(text: &str) -> Option<Condition> {
    if text.contains(char::is_whitespace) || !text.contains(|one: char| one.is_ascii_digit()) {
        return None;
    }
    let begins = |text: &str| {
        let after = format!("{text}{}", char::MAX);
        Condition::all().add(Column::Number.gte(text)).add(Column::Number.lt(after))
    };
    let spelt = BTreeSet::from([text.to_owned(), text.to_uppercase(), text.to_lowercase()]);
    Some(spelt.iter().map(|text| begins(text)).fold(Condition::any(), Condition::add))
}

/// How many documents of a kind there are, and how many of them stand in some way.
pub(crate) async fn total<D: Document>(cx: &Cx<'_>, query: &ListQuery) -> Result<Option<u64>> {
    if query.search.is_some() || query.updated_since.is_some() {
        return Ok(None);
    }
    match query.filters.as_slice() {
        [] => counted::<D>(cx, None).await.map(Some),
        [("status", FilterValue::AnyOf(words))] => match Wanted::of(D::KIND, words).counted() {
            Some(standing) => counted::<D>(cx, Some(&standing)).await.map(Some),
            None => Ok(None),
        },
        // Those that are overdue are few, and the others are not.
        [("isOverdue", FilterValue::Flag(false))] => {
            let late = documents::Entity::find().filter(reach::<D>(cx)?).filter(late(cx)?).count(&cx.db).await?;
            Ok(counted::<D>(cx, None).await?.checked_sub(late))
        }
        _ => Ok(None),
    }
}

async fn counted<D: Document>(cx: &Cx<'_>, standing: Option<&[&str]>) -> Result<u64> {
    let rows = document_counts::Entity::find()
        .filter(document_counts::Column::BusinessId.eq(cx.business_id()?))
        .filter(document_counts::Column::Kind.eq(D::KIND));
    let rows = rows.models(&cx.db).await?.into_iter();
    let counted = rows.filter(|row| standing.is_none_or(|standing| standing.contains(&row.standing.as_str())));
    u64::try_from(counted.map(|row| row.count).sum::<i64>()).map_err(|_| Error::internal("fewer than no documents"))
}

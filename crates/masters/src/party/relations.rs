//! What stands between a company and a party: open items, what is overdue, and two parties that turn out to be one.

use super::{Parties, PartyView};
use crate::day::Day;
use crate::error::{Code, Error, FieldErrors, Result};
use crate::field::{Faults, Field};
use crate::ids::RecordId;
use crate::money::Amount;
use answers::Ask;
use books::audit::AuditAction;
use books::balances::sum;
use books::cx::Cx;
use books::remembered;
use kit::extra::{Act, Does, Extra, On, Produced, Reading, action};
use kit::list::{ListQuery, Page};
use kit::master::note;
use kit::rows::{self, Rows};
use schema::aliases::{Aliases, Named};
use schema::party::PartyStatus;
use schema::party::{self as table, Column};
use schema::rights::Action;
use schema::settled::Settled;
use schema::some::is_open;
use schema::tables::{DocumentKind, documents, open_items};
use schemars::JsonSchema;
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

pub(super) fn extras() -> Vec<Extra> {
    vec![open_items_of_party(), action::<Merge>()]
}

/// What is overdue of a party, and what of its money settles nothing yet, in the company's currency.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Late {
    pub(super) overdue: i64,
    pub(super) unallocated: i64,
}

pub(super) async fn overdue_and_unallocated(
    cx: &Cx<'_>,
    parties: &[RecordId],
    aliases: &Aliases,
) -> Result<HashMap<RecordId, Late>> {
    use open_items::Column;
    let of_those = |these: Condition| -> SimpleExpr {
        let open = Expr::col((open_items::Entity, Column::BaseOpen));
        sum(cx, CaseStatement::new().case(these, open).finally(0_i64).into())
    };
    let of_money = Column::Kind.is_in([DocumentKind::Receipt, DocumentKind::CreditNote]);
    // Only what they owe: a debit.
    let due =
        Condition::all().add(Column::DueDate.lt(cx.today()?)).add(Column::BaseOpen.gt(0)).add(of_money.clone().not());
    // Added up by the engine, once and by the index alone: whoever walks in has a hundred thousand of them.
    let sums: Vec<(Named, i64, i64)> = open_items::Entity::find()
        .select_only()
        .column(Column::PartyId)
        .column_as(of_those(due), "overdue")
        .column_as(of_those(Condition::all().add(of_money)), "unallocated")
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(aliases.is_any(Column::PartyId, parties.iter().map(|party| aliases.meant(*party))))
        .filter(is_open())
        .group_by(Column::PartyId)
        .read(&cx.db)
        .await?;
    let mut late: HashMap<RecordId, Late> = HashMap::new();
    for (party, overdue, unallocated) in sums {
        let of_party = late.entry(aliases.of(party)).or_default();
        let added = of_party.overdue.checked_add(overdue).zip(of_party.unallocated.checked_sub(unallocated));
        (of_party.overdue, of_party.unallocated) = added.ok_or_else(Error::too_large)?;
    }
    Ok(late)
}

// ── Open items ──

/// What is open with a party.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenItem {
    /// The document, or the line of a journal; allocations name it.
    id: RecordId,
    /// What it is.
    r#type: Settled,
    /// The document.
    document_id: RecordId,
    /// The document's number.
    document_number: Option<String>,
    /// The document's reference.
    reference: Option<String>,
    /// The account that it is open on.
    account_id: RecordId,
    /// The day it counts for.
    date: Day,
    /// When it is due.
    due_date: Option<Day>,
    /// How many days it is overdue.
    days_overdue: i64,
    /// Its currency.
    currency: String,
    /// What it began with; what you owe is negative.
    amount: Amount,
    /// What is left of it.
    open_amount: Amount,
    /// What that is carried at, in the company's currency.
    base_open_amount: Amount,
}

/// A page of what is open with a party.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenItemPage {
    /// What is open, oldest first.
    items: Vec<OpenItem>,
    /// Where the page stands.
    pagination: kit::list::Pagination,
}

fn open_items_of_party() -> Extra {
    Extra {
        name: "OpenItems",
        segment: "open-items",
        on: On::Record,
        action: Action::View,
        answers: None,
        summary: "Get what is open with {one}",
        description: "Invoices that are not paid, credit that is not used up, lines of journals: everything that can be \
                      settled, oldest first.",
        does: Does::Reads(Reading {
            paged: true,
            ..Reading::json::<OpenItemPage>(
                |cx, id, query| Box::pin(read_open_items(cx, id, query)),
                || {
                    json!({"items": [{
                        "id": "019a9f6e-6c00-7b29-8218-d4f516879229", "type": "salesInvoice",
                        "documentId": "019a9f6e-6c00-7b29-8218-d4f516879229", "documentNumber": "INV-2026-0042",
                        "reference": "PO-4711", "accountId": "019a9f6e-6c00-7b27-8016-b2d3f4657027",
                        "date": "2026-11-20", "dueDate": "2026-12-20", "daysOverdue": 0, "currency": "EUR",
                        "amount": 274.9, "openAmount": 174.9, "baseOpenAmount": 174.9
                    }], "pagination": {"totalCount": 1, "totalPages": 1, "currentPage": 1}})
                },
            )
        }),
    }
}

async fn read_open_items(cx: &Cx<'_>, id: Option<RecordId>, query: &ListQuery) -> Result<Produced> {
    let id = id.ok_or(Error::NotFound)?;
    rows::row::<Parties>(cx, id).await?;
    let (today, base_decimals, aliases) = (cx.today()?, cx.business()?.currency_decimals, cx.aliases()?);
    let open = open_items::Entity::find()
        .filter(open_items::Column::BusinessId.eq(cx.business_id()?))
        .filter(aliases.is(open_items::Column::PartyId, aliases.asked(Named::of(id))))
        .filter(is_open());
    let total = open.clone().count(&cx.db).await?;
    let found = open
        .order_by_asc(open_items::Column::Date)
        .order_by_asc(open_items::Column::Id)
        .limit(query.page_size)
        .offset((query.page - 1) * query.page_size)
        .models(&cx.db)
        .await?;
    let named: Vec<(RecordId, Option<String>, Option<String>)> = documents::Entity::find()
        .select_only()
        .columns([documents::Column::Id, documents::Column::Number, documents::Column::Reference])
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::Id.is_in(found.iter().map(|row| row.document_id)))
        .read(&cx.db)
        .await?;
    let named: HashMap<RecordId, (Option<String>, Option<String>)> =
        named.into_iter().map(|(id, number, reference)| (id, (number, reference))).collect();
    let item = |row: open_items::Model| {
        let known = crate::currency::Currency::known(&row.currency, format_args!("open item {}", row.id))?;
        let own = |money| known.amount(money);
        let (document_number, reference) = named.get(&row.document_id).cloned().unwrap_or_default();
        Ok(OpenItem {
            id: row.id,
            r#type: row.kind.into(),
            document_id: row.document_id,
            document_number,
            reference,
            account_id: row.account_id,
            date: row.date,
            due_date: row.due_date,
            days_overdue: days_overdue(row.due_date, today),
            amount: own(row.amount),
            open_amount: own(row.open),
            base_open_amount: row.base_open.shown(base_decimals),
            currency: row.currency,
        })
    };
    Produced::page(query, &Page::of(found.into_iter().map(item).collect::<Result<Vec<_>>>()?, total))
}

/// What is due today is not late yet.
fn days_overdue(due: Option<Day>, today: Day) -> i64 {
    due.filter(|due| *due < today).map_or(0, |due| today.days_since(due))
}

// ── Merging ──

/// Which party another becomes part of.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct MergeInput {
    /// The party that stays.
    into_party_id: Field<RecordId>,
}

struct Merge;

impl Act for Merge {
    type Resource = Parties;
    type Answers = Parties;
    type Input = MergeInput;
    type Words = RecordId;
    const NAME: &'static str = "Merge";
    const SEGMENT: &'static str = "merge";
    const ACTION: Action = Action::Delete;
    const SUMMARY: &'static str = "Merge {one} into another";
    const DESCRIPTION: &'static str = "Two parties turn out to be one: all that this one has in the books counts as \
                                       the other's from now on, and it is archived. Nothing is posted and nothing \
                                       written anew; what names this party later means the other. The party that \
                                       stays is answered.";

    fn check(input: MergeInput) -> Result<RecordId, FieldErrors> {
        let mut faults = Faults::default();
        let into = faults.required("intoPartyId", input.into_party_id);
        faults.finish(into)
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| json!({"intoPartyId": "019a9f6e-6c00-7b23-8c12-7e9fb0213c23"}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, &into: &RecordId) -> Result<PartyView> {
        let gone = rows::row::<Parties>(cx, id).await?;
        cx.check_expectation(id, gone.version)?;
        // Of what is in the database by now: another merge may have come before this one in the same batch.
        let into = Aliases::load(&cx.db, gone.business_id).await?.meant(into).id();
        let stays = table::Entity::find().filter(Parties::reach(cx)?).filter(Column::Id.eq(into)).model(&cx.db).await?;
        let stays = stays.ok_or_else(|| Error::field("intoPartyId", "names no party"))?;
        if gone.merged_into_id.is_some() {
            return Err(Error::conflict(Code::InvalidState, "It is part of another party already"));
        }
        if into == id {
            return Err(Error::field("intoPartyId", "must be another party"));
        }
        let before = [rows::get::<Parties>(cx, id).await?, rows::get::<Parties>(cx, into).await?];
        let stamp = |row: &table::Model| {
            table::Entity::update_many()
                .col_expr(Column::Version, (row.version + 1).into())
                .col_expr(Column::UpdatedAt, cx.now.into())
                .col_expr(Column::UpdatedBy, cx.user.into())
                .filter(Column::BusinessId.eq(row.business_id))
                .filter(Column::Id.eq(row.id))
        };
        stamp(&gone)
            .col_expr(Column::Status, PartyStatus::Archived.into())
            .col_expr(Column::MergedIntoId, Some(into).into())
            .col_expr(Column::MergedAt, Some(cx.now).into())
            .exec(&cx.db)
            .await?;
        stamp(&stays)
            .col_expr(Column::IsCustomer, (stays.is_customer || gone.is_customer).into())
            .col_expr(Column::IsSupplier, (stays.is_supplier || gone.is_supplier).into())
            .exec(&cx.db)
            .await?;
        // Who the parties of rows are is remembered with the company.
        remembered::look_again(&cx.db, gone.business_id).await?;
        let [gone_before, stays_before] = before;
        let gone_after = rows::get::<Parties>(cx, id).await?;
        let stays_after = rows::get::<Parties>(cx, into).await?;
        note::<Parties>(cx, AuditAction::Updated, id, Some(&gone_before), Some(&gone_after))?;
        note::<Parties>(cx, AuditAction::Updated, into, Some(&stays_before), Some(&stays_after))?;
        Ok(stays_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::day;

    #[test]
    fn it_is_late_from_the_day_after_it_was_due() {
        for (due, today, days) in [
            (None, "2026-03-10", 0),
            (Some("2026-03-11"), "2026-03-10", 0),
            (Some("2026-03-10"), "2026-03-10", 0),
            (Some("2026-03-09"), "2026-03-10", 1),
            (Some("2026-02-10"), "2026-03-10", 28),
            (Some("2025-12-31"), "2026-03-10", 69),
        ] {
            assert_eq!(days_overdue(due.map(day), day(today)), days, "{due:?} on {today}");
        }
    }
}

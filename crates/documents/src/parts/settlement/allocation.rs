//! Allocations by themselves: every one that is in force, to look through, make and remove.

use super::allocating::{AllocationAsked, AllocationInput, AllocationRecord, Touch, allocate, check, remove};
use crate::day::Day;
use crate::error::{Error, FieldErrors, Result};
use crate::field::{Faults, Field, Maybe};
use crate::ids::RecordId;
use crate::money::Money;
use books::access::Business;
use books::cx::Cx;
use kit::list::{FilterValue, ListQuery, Page, Parameter, Reads};
use kit::operation::Verb;
use kit::resource::{About, Resource, Scope};
use kit::rows::{self, Filter, Rows};
use schema::key::ResourceKey;
use schema::settled::Settled;
use schema::tables::allocations::{self as table, Column};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition};
use serde::Deserialize;
use serde_json::json;

pub struct Allocations;

/// What a client sends to settle one document with another.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct NewAllocationInput {
    /// The document that settles, or the line of a journal.
    source_id: Field<RecordId>,
    /// The document that is settled, or the line of a journal.
    target_id: Field<RecordId>,
    /// What kind of document is settled; it is looked up when absent.
    target_type: Maybe<Settled>,
    /// How much of it is settled, in its currency; more than 0.
    amount: Field<Money>,
    /// What is used up for that, in the currency of what settles; required when the currencies differ.
    source_amount: Maybe<Money>,
    /// What is taken off beside the amount, for paying early.
    discount_amount: Maybe<Money>,
    /// What is written off beside the amount.
    write_off_amount: Maybe<Money>,
    /// Where it is written off to; the company's account for bad debts, or for discounts received, when absent.
    write_off_account_id: Maybe<RecordId>,
    /// What is kept back as tax beside the amount.
    withheld_amount: Maybe<Money>,
    /// The day it counts for; that of the later document when absent.
    date: Maybe<Day>,
}

pub struct AllocationDraft {
    source: RecordId,
    asked: AllocationAsked,
}

impl Resource for Allocations {
    const KEY: ResourceKey = ResourceKey::Allocations;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "an allocation",
        many: "allocations",
        description: "What settles what: receipts and credit notes settle sales invoices, payments and debit notes \
                      settle purchase invoices, a payment pays a credit note back. An allocation never changes; remove \
                      it and make another.",
        sorts: &["date", "createdAt", "amount"],
        searched: "nothing",
    };
    const VERBS: &'static [Verb] = &[Verb::List, Verb::Get, Verb::Create, Verb::Delete];
    const BY_IDS: Option<kit::expand::ByIds> = Some(|cx, ids| Box::pin(rows::by_ids::<Self>(cx, ids)));
    type Input = NewAllocationInput;
    type Draft = AllocationDraft;
    type View = AllocationRecord;

    fn parameters() -> Vec<Parameter> {
        rows::parameters::<Self>()
    }

    fn example() -> serde_json::Value {
        json!({
            "sourceId": "019a9f6e-6c00-7b2a-8319-e506279a832a", "targetId": "019a9f6e-6c00-7b29-8218-d4f516879229",
            "amount": 100, "discountAmount": 2
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "partyId": "019a9f6e-6c00-7b23-8c12-7e9fb0213c23",
            "sourceType": "receipt",
            "targetType": "salesInvoice",
            "currency": "EUR",
            "sourceCurrency": "EUR",
            "sourceAmount": 100,
            "date": "2026-11-20",
            "writeOffAmount": 0,
            "writeOffAccountId": null,
            "withheldAmount": 0,
            "fxGainLoss": 0,
            "entryId": "019a9f6e-6c00-7a97-8b43-8daf2e4a6c07"
        })
    }

    fn check(_: Option<&Business>, input: NewAllocationInput) -> Result<AllocationDraft, FieldErrors> {
        let mut faults = Faults::default();
        let source = faults.required("sourceId", input.source_id);
        let asked = check(
            &mut faults,
            AllocationInput {
                target_id: input.target_id,
                target_type: input.target_type,
                amount: input.amount,
                source_amount: input.source_amount,
                discount_amount: input.discount_amount,
                write_off_amount: input.write_off_amount,
                write_off_account_id: input.write_off_account_id,
                withheld_amount: input.withheld_amount,
                date: input.date,
            },
        );
        faults.finish(AllocationDraft { source, asked })
    }

    async fn list(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<AllocationRecord>> {
        rows::list::<Self>(cx, query).await
    }

    async fn get(cx: &Cx<'_>, id: RecordId) -> Result<AllocationRecord> {
        rows::get::<Self>(cx, id).await
    }

    async fn create(cx: &Cx<'_>, draft: &AllocationDraft) -> Result<AllocationRecord> {
        if books::open_items::find(cx, draft.source).await?.is_none() {
            return Err(Error::field(
                "sourceId",
                "names nothing that is open: a posted document, or a line of a journal",
            ));
        }
        let row = allocate(cx, "", draft.source, &draft.asked, Touch::Both).await?;
        AllocationRecord::of(&row, cx.business()?.currency_decimals, cx.aliases()?)
    }

    async fn update(_: &Cx<'_>, _: RecordId, _: &AllocationDraft) -> Result<AllocationRecord> {
        Err(Error::internal("an allocation never changes"))
    }

    async fn delete(cx: &Cx<'_>, id: RecordId) -> Result<()> {
        let row = rows::row::<Self>(cx, id).await?;
        cx.check_expectation(id, 1)?;
        remove(cx, &row, None, Touch::Both).await
    }
}

impl Rows for Allocations {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::CreatedAt;
    const SEARCH: Column = Column::Currency;
    const SORTS: &'static [Column] = &[Column::Date, Column::CreatedAt, Column::Amount];

    fn filters() -> Vec<Filter<Column>> {
        let id = Reads::Identifier;
        vec![
            Filter::of_party("Allocations of this party.", Column::PartyId),
            Filter::equal("sourceId", "What this document settles.", id, Column::SourceDocumentId),
            Filter::equal("targetId", "What settles this document.", id, Column::TargetDocumentId),
            Filter::looking("documentId", "Allocations that this document has a part in.", id, touching),
            Filter::at_least("dateFrom", "Allocations of this day or later.", Reads::Day, Column::Date),
            Filter::at_most("dateTo", "Allocations of this day or earlier.", Reads::Day, Column::Date),
            Filter::equal("currency", "Allocations in this currency.", Reads::Text, Column::Currency),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        let mine = Column::BusinessId.eq(cx.business_id()?);
        Ok(Condition::all().add(mine).add(Column::RemovedAt.is_null()))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<AllocationRecord>> {
        let business = cx.business()?;
        let record = |row| AllocationRecord::of(row, business.currency_decimals, &business.aliases);
        rows.iter().map(record).collect()
    }
}

#[expect(clippy::unnecessary_wraps, reason = "filters that look may fail")]
fn touching(_: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Identifier(id) = value else { return Ok(Condition::any()) };
    Ok(Condition::any().add(Column::SourceDocumentId.eq(*id)).add(Column::TargetDocumentId.eq(*id)))
}

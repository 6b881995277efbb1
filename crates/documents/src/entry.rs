//! Entries: the ledger itself, as it is read. Documents write it; no request does.

use crate::clock::Instant;
use crate::currency::Currency;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{RecordId, UserId};
use crate::money::{Amount, BookMoney, Quantity};
use answers::Ask;
use books::cx::Cx;
use books::desk::Rehearsed;
use books::seal::heads;
use kit::extra::NoWords;
use kit::list::{DEFAULT_PAGE_SIZE, FilterValue, ListQuery, Page, Parameter, Reads};
use kit::operation::Verb;
use kit::resource::{About, Record, Resource, Scope};
use kit::rows::{self, Filter, Rows, read_only};
use schema::account as accounts;
use schema::aliases::Aliases;
use schema::key::ResourceKey;
use schema::tables::entries::{self as table, Column};
use schema::tables::{DocumentKind, EntryKind, entry_lines};
use schemars::JsonSchema;
use sea_orm::sea_query::{self, Expr, Func, Query, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use words::sums::Lists as _;

pub struct Entries;

/// A balanced set of lines in the ledger. It is never changed and never deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Entry")]
pub struct EntryView {
    /// Identifier, opaque and never reused.
    id: RecordId,
    /// Place in the company's ledger, from 1 without a gap.
    entry_number: i64,
    /// The day it counts for.
    date: Day,
    /// When it was recorded.
    posted_at: Instant,
    /// The user whose request made it.
    posted_by: UserId,
    /// The kind of document that made it.
    document_type: DocumentKind,
    /// The document that made it.
    document_id: RecordId,
    /// The number of that document.
    document_number: Option<String>,
    /// The version of the document that it belongs to.
    document_version: i64,
    /// Why it was made.
    kind: EntryKind,
    /// The entry that it takes back.
    reverses_entry_id: Option<RecordId>,
    /// What it is about.
    narration: Option<String>,
    /// The sum of its debits, which is the sum of its credits.
    total: Amount,
    /// What it moves.
    lines: Vec<EntryLineView>,
}

/// One line of an entry.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EntryLine")]
pub struct EntryLineView {
    /// The account.
    account_id: RecordId,
    /// The account's number in the chart, as it is now.
    account_code: Option<String>,
    /// The account's name, as it is now.
    account_name: Option<String>,
    /// Debit in the company's currency; 0 on the other side.
    debit: Amount,
    /// Credit in the company's currency; 0 on the other side.
    credit: Amount,
    /// The currency of the line.
    currency: String,
    /// The amount in the line's currency; a credit is negative.
    amount_currency: Amount,
    /// The party, on control accounts.
    party_id: Option<RecordId>,
    /// What the line is about.
    description: Option<String>,
    /// When it is due, on control accounts.
    due_date: Option<Day>,
    /// The item that was traded.
    item_id: Option<RecordId>,
    /// How much of the item, where the line moves its stock; what goes out is negative.
    quantity: Option<Quantity>,
    /// The tax code of a line that is taxed, or is a tax.
    tax_code_id: Option<RecordId>,
    /// The component of the tax code that the line is.
    tax_component: Option<String>,
    /// What that tax was computed on, in the company's currency, with the sign of the line.
    tax_base: Option<Amount>,
}

impl Record for EntryView {
    fn id(&self) -> RecordId {
        self.id
    }

    /// It never changes.
    fn version(&self) -> i64 {
        1
    }
}

impl Resource for Entries {
    const KEY: ResourceKey = ResourceKey::Entries;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "an entry",
        many: "entries",
        description: "The ledger: balanced entries that documents have made. They are never changed; what a document \
                      takes back is reversed by another entry.",
        sorts: &["entryNumber", "date", "postedAt"],
        searched: "narration and document number",
    };
    const VERBS: &'static [Verb] = &Verb::READ;
    const BY_IDS: Option<kit::expand::ByIds> = Some(|cx, ids| Box::pin(rows::by_ids::<Self>(cx, ids)));
    type Input = NoWords;
    type Draft = ();
    type View = EntryView;

    fn parameters() -> Vec<Parameter> {
        rows::parameters::<Self>()
    }

    fn example() -> serde_json::Value {
        json!({})
    }

    fn example_view() -> serde_json::Value {
        json!({
            "id": "019a9f6e-6c00-7a31-8d2f-3b1c5e7f9a02",
            "entryNumber": 17,
            "date": "2026-11-20",
            "postedAt": "2026-11-20T09:30:00.000000Z",
            "postedBy": "019a9f6e-6c00-7c55-8a77-1f3e5d7b9c03",
            "documentType": "journal",
            "documentId": "019a9f6e-6c00-7d64-9e10-5a7c9b1d3f04",
            "documentNumber": "JV-2026-0004",
            "documentVersion": 1,
            "kind": "normal",
            "reversesEntryId": null,
            "narration": "Rent for November",
            "total": 1200,
            "lines": [
                {
                    "accountId": "019a9f6e-6c00-7e75-8f21-6b8d0c2e4a05", "accountCode": "6200", "accountName": "Rent",
                    "debit": 1200, "credit": 0, "currency": "EUR", "amountCurrency": 1200, "partyId": null,
                    "description": null, "dueDate": null, "itemId": null, "quantity": null, "taxCodeId": null,
                    "taxComponent": null, "taxBase": null
                },
                {
                    "accountId": "019a9f6e-6c00-7f86-9a32-7c9e1d3f5b06", "accountCode": "1010", "accountName": "Bank",
                    "debit": 0, "credit": 1200, "currency": "EUR", "amountCurrency": -1200, "partyId": null,
                    "description": null, "dueDate": null, "itemId": null, "quantity": null, "taxCodeId": null,
                    "taxComponent": null, "taxBase": null
                }
            ]
        })
    }

    async fn list(cx: &Cx<'_>, query: &ListQuery) -> Result<Page<EntryView>> {
        rows::list::<Self>(cx, query).await
    }

    async fn get(cx: &Cx<'_>, id: RecordId) -> Result<EntryView> {
        rows::get::<Self>(cx, id).await
    }

    read_only!();
}

/// The lines of a page that is longer than a page is unasked: all of them are in memory until it is answered.
const MOST_LINES: u64 = 50_000;

impl Rows for Entries {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::RecordedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::Number, Column::Date, Column::RecordedAt];

    fn found_by(word: &str) -> Condition {
        let like = || rows::containing(word);
        let number = Expr::from(Func::lower(Expr::col((table::Entity, Column::DocumentNumber))));
        Condition::any().add(Column::Search.like(like())).add(sea_query::ExprTrait::like(number, like()))
    }

    fn filters() -> Vec<Filter<Column>> {
        let kinds = Reads::AnyOf(DocumentKind::TEXTS);
        vec![
            Filter::at_least("dateFrom", "Entries of this day or later.", Reads::Day, Column::Date),
            Filter::at_most("dateTo", "Entries of this day or earlier.", Reads::Day, Column::Date),
            Filter::looking("accountId", "Entries that move this account.", Reads::Identifier, with_account),
            Filter::looking("partyId", "Entries that name this party.", Reads::Party, with_party),
            Filter::equal("documentType", "Entries of these kinds of documents.", kinds, Column::DocumentKind),
            Filter::equal("documentId", "Entries of this document.", Reads::Identifier, Column::DocumentId),
            Filter::equal("kind", "Entries made for these reasons.", Reads::AnyOf(EntryKind::TEXTS), Column::Kind),
            Filter::at_least("numberFrom", "Entries from this number on.", Reads::PLACE, Column::Number),
            Filter::at_most("numberTo", "Entries up to this number.", Reads::PLACE, Column::Number),
            Filter::at_most("knownAt", "Entries that were recorded by this time.", Reads::Time, Column::RecordedAt),
        ]
    }

    async fn known_total(cx: &Cx<'_>, query: &ListQuery) -> Result<Option<u64>> {
        if !query.is_of_all() {
            return Ok(None);
        }
        let books = heads::stands(cx).await?;
        books.map(|books| u64::try_from(books.entry_number).map_err(Error::internal)).transpose()
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<EntryView>> {
        let business = cx.business()?;
        let numbers: Vec<i64> = rows.iter().map(|row| row.number).collect();
        // As many as are given unasked are told of as long as they are.
        let most = (rows.len() as u64 > DEFAULT_PAGE_SIZE).then_some(MOST_LINES + 1);
        let lines = entry_lines::Entity::find()
            .filter(entry_lines::Column::BusinessId.eq(business.id))
            .filter(entry_lines::Column::EntryNumber.is_in(numbers))
            .order_by_asc(entry_lines::Column::EntryNumber)
            .order_by_asc(entry_lines::Column::Position)
            .limit(most)
            .models(&cx.db)
            .await?;
        if most.is_some_and(|most| lines.len() as u64 >= most) {
            let why = format!("makes a page of more than {MOST_LINES} lines; ask for fewer entries");
            return Err(Error::field("pageSize", why));
        }
        let named: HashSet<RecordId> = lines.iter().map(|line| line.account_id).collect();
        let names: Vec<(RecordId, String, String)> = accounts::Entity::find()
            .select_only()
            .columns([accounts::Column::Id, accounts::Column::Code, accounts::Column::Name])
            .filter(accounts::Column::BusinessId.eq(business.id))
            .filter(accounts::Column::Id.is_in(named))
            .read(&cx.db)
            .await?;
        let names: HashMap<RecordId, (String, String)> =
            names.into_iter().map(|(id, code, name)| (id, (code, name))).collect();
        let mut by_entry: HashMap<i64, Vec<EntryLineView>> = HashMap::new();
        for line in lines {
            let name = names.get(&line.account_id);
            let view = line_view(line.clone(), business.currency_decimals, name, &business.aliases)?;
            by_entry.entry(line.entry_number).or_default().push(view);
        }
        let mut view = |row: table::Model| EntryView {
            id: row.id,
            entry_number: row.number,
            date: row.date,
            posted_at: row.recorded_at,
            posted_by: row.recorded_by,
            document_type: row.document_kind,
            document_id: row.document_id,
            document_number: row.document_number,
            document_version: row.document_version,
            kind: row.kind,
            reverses_entry_id: row.reverses_id,
            narration: row.narration,
            total: row.total.shown(business.currency_decimals),
            lines: by_entry.take_list(&row.number),
        };
        Ok(rows.into_iter().map(&mut view).collect())
    }
}

/// A line as it is answered, here and by a rehearsal.
pub(crate) fn line_view(
    line: entry_lines::Model,
    currency_decimals: u32,
    name: Option<&(String, String)>,
    aliases: &Aliases,
) -> Result<EntryLineView> {
    let known = Currency::known(&line.currency, format_args!("line {} of entry {}", line.position, line.entry_number))?;
    let units = line.amount.units();
    let base = |units: i64| BookMoney::from_units(units).shown(currency_decimals);
    Ok(EntryLineView {
        account_id: line.account_id,
        account_code: name.map(|(code, _)| code.clone()),
        account_name: name.map(|(_, name)| name.clone()),
        debit: base(units.max(0)),
        credit: base(-units.min(0)),
        amount_currency: known.amount(line.own()),
        currency: line.currency,
        party_id: line.party_id.map(|party| aliases.of(party)),
        description: line.description,
        due_date: line.due_date,
        item_id: line.item_id,
        quantity: line.quantity,
        tax_code_id: line.tax_code_id,
        tax_component: line.tax_component,
        tax_base: line.tax_base.map(|base| base.shown(currency_decimals)),
    })
}

/// A line that a rehearsal would have written.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RehearsedLine")]
pub struct RehearsedLine {
    /// Which of the entries it belongs to, from 1.
    entry: i64,
    /// Its entry's day.
    date: Day,
    #[serde(flatten)]
    line: EntryLineView,
}

/// What a rehearsal answers: what would be answered, and the lines that would be made.
pub async fn with_postings(cx: &Cx<'_>, json: String, lines: Vec<Rehearsed>) -> Result<String> {
    let postings = serde_json::to_string(&postings(cx, lines).await?).map_err(Error::internal)?;
    Ok(match json.strip_suffix('}') {
        Some(members) => format!("{members},\"postings\":{postings}}}"),
        None => json,
    })
}

async fn postings(cx: &Cx<'_>, lines: Vec<Rehearsed>) -> Result<Vec<RehearsedLine>> {
    let business = cx.business()?;
    let chart = cx.chart().await?;
    let line = |rehearsed: Rehearsed| {
        let account = chart.account(rehearsed.line.account_id);
        let name = account.map(|account| (account.code.clone(), account.name.clone()));
        Ok(RehearsedLine {
            entry: i64::try_from(rehearsed.entry).map_err(Error::internal)? + 1,
            date: rehearsed.date,
            line: line_view(rehearsed.line, business.currency_decimals, name.as_ref(), &business.aliases)?,
        })
    };
    lines.into_iter().map(line).collect()
}

fn with_account(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Identifier(account) = value else { return Ok(Condition::any()) };
    lines_with(cx, entry_lines::Column::AccountId.eq(*account))
}

fn with_party(cx: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::Party(named) = value else { return Ok(Condition::any()) };
    let aliases = cx.aliases()?;
    lines_with(cx, aliases.is(entry_lines::Column::PartyId, aliases.asked(*named)))
}

fn lines_with(cx: &Cx<'_>, these: SimpleExpr) -> Result<Condition> {
    let lines = Query::select()
        .column(entry_lines::Column::EntryNumber)
        .from(entry_lines::Entity)
        .and_where(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .and_where(these)
        .take();
    Ok(Condition::all().add(Column::Number.in_subquery(lines)))
}

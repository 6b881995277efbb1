//! A document as its columns say it: what a list is mostly read for. Nothing of the audit log is unpacked for it, so a list
//! is soon read, and one record that is torn keeps nobody from all the others.
//!
//! Owns: which member comes from which column. What follows of them, such as what is left and what its status is called, is
//! said where whole documents say it.

use super::Document;
use super::standing::{days_overdue, left};
use crate::clock::Instant;
use crate::currency::Currency;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Money};
use crate::stored::AsJson;
use answers::Ask;
use books::cx::Cx;
use kit::extra::Produced;
use kit::list::{ListQuery, Page};
use kit::operation::Shown;
use kit::outline::{Outline, Tells, Told, asked, tells_no};
use kit::rows::{self, Read};
use schema::aliases::Named;
use schema::tables::documents::Column;
use schema::tables::{DocumentKind, DocumentStatus, Stage, documents, open_items};
use sea_orm::sea_query::{Expr, ExprTrait, Query, SimpleExpr};
use sea_orm::{QuerySelect, Select};
use serde::ser::SerializeMap;

answers::of_row! {
    /// What is read of a document's row, and of what is open of it.
    struct Brief {
        id: RecordId,
        version: i64,
        created_at: Instant,
        updated_at: Instant,
        number: Option<String>,
        date: Day,
        status: DocumentStatus,
        stage: Option<Stage>,
        reference: Option<String>,
        narration: Option<String>,
        external_id: Option<String>,
        tags: AsJson<Vec<String>>,
        party_id: Option<Named>,
        currency: String,
        total: Money,
        base_total: BookMoney,
        due_date: Option<Day>,
        open: Option<Money>,
        base_open: Option<BookMoney>,
    }
}

/// The columns of a [`Brief`] that are the row's own.
const OWN: [Column; 17] = [
    Column::Id,
    Column::Version,
    Column::CreatedAt,
    Column::UpdatedAt,
    Column::Number,
    Column::Date,
    Column::Status,
    Column::Stage,
    Column::Reference,
    Column::Narration,
    Column::ExternalId,
    Column::Tags,
    Column::PartyId,
    Column::Currency,
    Column::Total,
    Column::BaseTotal,
    Column::DueDate,
];

/// What the item says that is open of a document; nothing where a kind leaves none that says how far it is settled.
fn of_open(kind: DocumentKind, column: open_items::Column) -> SimpleExpr {
    if !kind.is_settled() {
        return Expr::cust("NULL");
    }
    let own = |column: open_items::Column| Expr::col((open_items::Entity, column));
    let item = Query::select()
        .expr(own(column))
        .from(open_items::Entity)
        .and_where(own(open_items::Column::BusinessId).equals((documents::Entity, Column::BusinessId)))
        .and_where(own(open_items::Column::Id).equals((documents::Entity, Column::Id)))
        .take();
    SimpleExpr::SubQuery(None, Box::new(item.into()))
}

/// Reads briefs of documents.
struct Briefly;

impl<D: Document> Read<D> for Briefly {
    type Of = Brief;
    // Its texts have bounds.
    const MAY_WEIGH: bool = false;

    async fn read(cx: &Cx<'_>, rows: Select<documents::Entity>) -> Result<Vec<Brief>> {
        let briefs = rows
            .select_only()
            .columns(OWN)
            .expr_as(of_open(D::KIND, open_items::Column::Open), "open")
            .expr_as(of_open(D::KIND, open_items::Column::BaseOpen), "base_open");
        Ok(briefs.read(&cx.db).await?)
    }

    fn key(brief: &Brief) -> Option<RecordId> {
        Some(brief.id)
    }

    fn weight(_: &Brief) -> usize {
        0
    }

    fn value(brief: &Brief, column: Column) -> Result<sea_orm::Value> {
        Ok(match column {
            Column::Id => brief.id.into(),
            Column::Date => brief.date.into(),
            Column::Number => brief.number.clone().into(),
            Column::BaseTotal => brief.base_total.into(),
            Column::CreatedAt => brief.created_at.into(),
            Column::UpdatedAt => brief.updated_at.into(),
            Column::DueDate => brief.due_date.into(),
            other => return Err(Error::internal(format!("no list of documents is sorted by {other:?}"))),
        })
    }
}

/// A brief, with what the company knows of what it names.
struct Outlined {
    brief: Brief,
    status: &'static str,
    party: Option<RecordId>,
    own: Currency,
    base_decimals: u32,
    left: (Money, BookMoney),
    days_overdue: i64,
}

impl Outlined {
    fn of<D: Document>(cx: &Cx<'_>, brief: Brief) -> Result<Self> {
        let open = brief.open.zip(brief.base_open);
        let left = left(brief.status, open, (brief.total, brief.base_total));
        let aliases = cx.aliases()?;
        Ok(Self {
            status: D::called(brief.status, brief.stage),
            party: brief.party_id.map(|named| aliases.of(named)),
            own: Currency::known(&brief.currency, format_args!("document {}", brief.id))?,
            base_decimals: cx.business()?.currency_decimals,
            days_overdue: days_overdue(brief.status, left.0, brief.due_date, cx.today()?),
            left,
            brief,
        })
    }

    fn in_own(&self, money: Money) -> Amount {
        self.own.amount(money)
    }

    fn in_base(&self, money: BookMoney) -> Amount {
        money.shown(self.base_decimals)
    }
}

/// The members that columns say, each with what it comes from.
macro_rules! members {
    (|$it:ident| { $($name:literal => $told:expr,)+ }) => {
        const MEMBERS: &[&str] = &[$($name),+];

        impl Tells for Outlined {
            fn tell<M: SerializeMap>(&self, name: &str, to: &mut M) -> std::result::Result<(), M::Error> {
                let $it = self;
                match name {
                    $($name => to.serialize_entry($name, $told),)+
                    other => tells_no::<M>(other),
                }
            }
        }
    };
}

members! {
    |it| {
        "id" => &it.brief.id,
        "version" => &it.brief.version,
        "createdAt" => &it.brief.created_at,
        "updatedAt" => &it.brief.updated_at,
        "number" => &it.brief.number,
        "date" => &it.brief.date,
        "status" => it.status,
        "reference" => &it.brief.reference,
        "narration" => &it.brief.narration,
        "externalId" => &it.brief.external_id,
        "tags" => &it.brief.tags.0,
        "partyId" => &it.party,
        "currency" => &it.brief.currency,
        // What a document comes to, and what a receipt, a payment or a transfer moves.
        "total" => &it.in_own(it.brief.total),
        "amount" => &it.in_own(it.brief.total),
        "baseTotal" => &it.in_base(it.brief.base_total),
        "dueDate" => &it.brief.due_date,
        "balanceDue" => &it.in_own(it.left.0),
        "baseBalanceDue" => &it.in_base(it.left.1),
        "isOverdue" => &(it.days_overdue > 0),
        "daysOverdue" => &it.days_overdue,
    }
}

/// How documents of a kind are read where their columns say all that was asked for.
pub(crate) const fn outline<D: Document>() -> Outline {
    Outline {
        members: MEMBERS,
        list: |cx, query| Box::pin(list::<D>(cx, query)),
        get: |cx, id, query| Box::pin(get::<D>(cx, id, query)),
    }
}

async fn list<D: Document>(cx: &Cx<'_>, query: &ListQuery) -> Result<Produced> {
    let names = asked(query, MEMBERS)?;
    let Page { items, total, walked } = rows::found::<D, Briefly>(cx, query).await?;
    let told = |brief| Ok(Told { names: &names, by: Outlined::of::<D>(cx, brief)? });
    let items = items.into_iter().map(told).collect::<Result<Vec<_>>>()?;
    Produced::page_of(query, &Page { items, total, walked })
}

async fn get<D: Document>(cx: &Cx<'_>, id: RecordId, query: &ListQuery) -> Result<Shown> {
    let names = asked(query, MEMBERS)?;
    let by = Outlined::of::<D>(cx, rows::one::<D, Briefly>(cx, id).await?)?;
    let version = by.brief.version;
    let json = serde_json::to_string(&Told { names: &names, by }).map_err(Error::internal)?;
    Ok(Shown { id, version, json })
}

//! Goods that are here or gone, and what they are charged for is not.

use super::Stock;
use crate::Report;
use crate::aging::{documents_of, names_of};
use crate::asked::{AS_OF, Asked, DATE, FORMAT, KNOWN_AT, PARTY};
use crate::error::Result;
use crate::form::{Example, Form, Holds};
use crate::ids::{BusinessId, RecordId};
use crate::sheet::{Cell, Own, Row, RowType, Sheet};
use crate::then::parties_of;
use answers::Ask;
use books::balances::{balances, sum};
use books::cx::{Cx, Point};
use kit::list::Parameter;
use schema::tables::{DocumentKind, FactKind, progress_moves, stock_facts};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::marker::PhantomData;
use words::sown::{Fault, sown};

/// Goods that wait on one side.
pub(crate) trait Waits: Send + Sync + 'static {
    const KIND: DocumentKind;
    /// What else has lines of goods for which something may wait: freight that is billed before its goods are there.
    const GOODS_OF: Option<DocumentKind>;
    const SIGN: i64;
    const NAME: &'static str;
    const OPERATION: &'static str;
    const TITLE: &'static str;
}

pub(crate) struct Delivered;
pub(crate) struct Received;

impl Waits for Delivered {
    const KIND: DocumentKind = DocumentKind::DeliveryNote;
    const GOODS_OF: Option<DocumentKind> = None;
    const SIGN: i64 = 1;
    const NAME: &'static str = "gdni";
    const OPERATION: &'static str = "GoodsDeliveredNotInvoiced";
    const TITLE: &'static str = "Goods delivered, not invoiced";
}

impl Waits for Received {
    const KIND: DocumentKind = DocumentKind::ReceiptNote;
    const GOODS_OF: Option<DocumentKind> = Some(DocumentKind::PurchaseInvoice);
    const SIGN: i64 = -1;
    const NAME: &'static str = "grni";
    const OPERATION: &'static str = "GoodsReceivedNotInvoiced";
    const TITLE: &'static str = "Goods received, not invoiced";
}

pub(crate) struct Waiting<S>(PhantomData<fn() -> S>);

answers::of_row! {
    pub(super) struct Carried {
        pub(super) line_id: RecordId,
        pub(super) quantity: i64,
        pub(super) invoiced: i64,
        pub(super) returned: i64,
        pub(super) value: i64,
    }
}

answers::of_row! {
    pub(super) struct Begun {
        pub(super) line: RecordId,
        pub(super) document: RecordId,
    }
}

/// What waited of lines by which documents of a kind received goods themselves.
fn of_lines_of_goods(business: BusinessId, kind: DocumentKind) -> Select<progress_moves::Entity> {
    use schema::tables::documents;
    let receipt = progress_moves::Entity::belongs_to(stock_facts::Entity)
        .from((progress_moves::Column::BusinessId, progress_moves::Column::LineId))
        .to((stock_facts::Column::BusinessId, stock_facts::Column::LineId));
    let document = stock_facts::Entity::belongs_to(documents::Entity)
        .from((stock_facts::Column::BusinessId, stock_facts::Column::DocumentId))
        .to((documents::Column::BusinessId, documents::Column::Id));
    progress_moves::Entity::find()
        .select_only()
        .join(sea_orm::JoinType::InnerJoin, receipt.into())
        .join(sea_orm::JoinType::InnerJoin, document.into())
        .filter(progress_moves::Column::BusinessId.eq(business))
        .filter(progress_moves::Column::AccountId.is_not_null())
        .filter(stock_facts::Column::Kind.eq(FactKind::Receipt))
        .filter(documents::Column::Kind.eq(kind))
}

pub(crate) struct Waited {
    pub(super) own: Own,
    pub(super) lines: Vec<(RecordId, Option<RecordId>, Stock)>,
    pub(super) documents: HashMap<RecordId, (DocumentKind, Option<String>)>,
    pub(super) parties: HashMap<RecordId, String>,
    /// What the accounts come to on which they wait; unknown of one party.
    pub(super) accounts: Option<i64>,
}

impl<S: Waits> Report for Waiting<S> {
    const NAME: &'static str = S::NAME;
    const OPERATION: &'static str = S::OPERATION;
    const TITLE: &'static str = S::TITLE;
    const ABOUT: &'static str = "The notes of which something is not invoiced at the end of a day, with what that is \
                                 carried at. Less than nothing waits where goods came back that were invoiced, and \
                                 where freight was billed before its goods were: it stands with their bill until then.";
    const PARAMETERS: &'static [Parameter] = &[AS_OF, DATE, PARTY, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("party", "Party", Holds::Text),
            ("quantity", "Quantity", Holds::Quantity),
            ("value", "Value", Holds::Amount),
        ],
        varying: None,
        totals: &[("value", "Value", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[
                (
                    RowType::Document,
                    "019a9f6e-6c00-7b27-9016-b2d3f4657027",
                    "DN-2026-0011",
                    &["Nordwind Cafés", "20", "1850.00"],
                ),
                (RowType::Total, "total", "Total", &["", "", "1850.00"]),
            ],
            totals: &["1850.00"],
            check: ("What waits equals the accounts on which it waits", Holds::Amount, "1850.00"),
        },
    };
    type Facts = Waited;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Waited> {
        use progress_moves::Column as Moves;
        let business = cx.business_id()?;
        let total = |column: Moves| sum(cx, Expr::col(column));
        let mut moves = progress_moves::Entity::find()
            .select_only()
            .column(Moves::LineId)
            .column_as(total(Moves::Quantity), "quantity")
            .column_as(total(Moves::Invoiced), "invoiced")
            .column_as(total(Moves::Returned), "returned")
            .column_as(total(Moves::Value), "value")
            .filter(Moves::BusinessId.eq(business))
            .filter(Moves::AccountId.is_not_null())
            .filter(Moves::Date.lte(asked.as_of));
        // The first move of a line is its own note's. An invoice may have come on an earlier day.
        let mut begun = progress_moves::Entity::find()
            .select_only()
            .column_as(Moves::LineId, "line")
            .column_as(Moves::DocumentId, "document")
            .filter(Moves::BusinessId.eq(business))
            .filter(Moves::AccountId.is_not_null())
            .filter(Moves::Kind.eq(S::KIND))
            .filter(Moves::Quantity.gt(0));
        let of_goods = S::GOODS_OF.filter(|_| !sown(Fault::FreightWaitsWithNobody));
        let mut of_goods = of_goods.map(|kind| of_lines_of_goods(business, kind));
        if let Some(at) = asked.point.known_at {
            moves = moves.filter(Moves::RecordedAt.lte(at));
            begun = begun.filter(Moves::RecordedAt.lte(at));
            of_goods = of_goods.map(|of_goods| of_goods.filter(Moves::RecordedAt.lte(at)));
        }
        let moves: Vec<Carried> = moves.group_by(Moves::LineId).read(&cx.db).await?;
        let mut begun: Vec<Begun> = begun.read(&cx.db).await?;
        let mut accounts: HashSet<RecordId> = HashSet::new();
        if let Some(of_goods) = of_goods {
            let lines = of_goods
                .clone()
                .column_as(Moves::LineId, "line")
                .column_as(stock_facts::Column::DocumentId, "document");
            begun.extend(lines.distinct().read::<Begun>(&cx.db).await?);
            accounts.extend(of_goods.column(Moves::AccountId).distinct().column_of::<RecordId>(&cx.db).await?);
        }
        let begun: HashMap<RecordId, RecordId> = begun.iter().map(|one| (one.line, one.document)).collect();
        let mut waiting: BTreeMap<RecordId, Stock> = BTreeMap::new();
        for one in moves {
            let Some(document) = begun.get(&one.line_id) else { continue };
            let [came, invoiced, returned] = [one.quantity, one.invoiced, one.returned].map(i128::from);
            let stock = Stock { quantity: came - invoiced - returned, value: one.value * S::SIGN };
            let of_note = waiting.entry(*document).or_default();
            *of_note = of_note.plus(stock);
        }
        waiting.retain(|_, stock| *stock != Stock::default());
        let aliases = asked.aliases(cx)?;
        let whose = parties_of(cx, waiting.keys().copied().collect(), asked.point).await?;
        let party = |document: &RecordId| whose.get(document).map(|party| aliases.of(*party));
        let mut lines: Vec<_> =
            waiting.into_iter().map(|(document, stock)| (document, party(&document), stock)).collect();
        lines.retain(|(_, party, _)| asked.party.is_none_or(|asked| *party == Some(asked.id())));
        let of_notes: Vec<RecordId> = progress_moves::Entity::find()
            .select_only()
            .column(Moves::AccountId)
            .distinct()
            .filter(Moves::BusinessId.eq(business))
            .filter(Moves::Kind.eq(S::KIND))
            .filter(Moves::Quantity.gt(0))
            .filter(Moves::AccountId.is_not_null())
            .column_of(&cx.db)
            .await?;
        accounts.extend(of_notes);
        let accounts: Vec<RecordId> = accounts.into_iter().collect();
        let point = Point { as_of: Some(asked.as_of), ..asked.point };
        let found = balances(cx, Some(&accounts), point).await?;
        let balance = found.values().map(|balance| balance.base.units() * S::SIGN).sum();
        Ok(Waited {
            own: Own(cx.business()?.currency_decimals),
            documents: documents_of(cx, lines.iter().map(|(document, _, _)| *document)).await?,
            parties: names_of(cx, lines.iter().filter_map(|(_, party, _)| *party)).await?,
            lines,
            accounts: asked.party.is_none().then_some(balance),
        })
    }

    fn fold(facts: Waited, _: &Asked) -> Result<Sheet> {
        let Waited { own, lines, documents, parties, accounts } = facts;
        let mut total = 0;
        let mut rows = Vec::new();
        for (document, party, stock) in lines {
            total += stock.value;
            let (kind, number) = documents.get(&document).cloned().unzip();
            let name = party.and_then(|party| parties.get(&party)).map_or_else(String::new, Clone::clone);
            let values = [vec![Cell::Text(name)], stock.cells(own).to_vec()].concat();
            rows.push(Row {
                party_id: party,
                document_id: Some(document),
                document_type: kind,
                ..Row::total(
                    RowType::Document,
                    &document.to_string(),
                    number.flatten().as_deref().unwrap_or("without a number"),
                    values,
                )
            });
        }
        rows.push(Row::total(RowType::Total, "total", "Total", vec![Cell::Nothing, Cell::Nothing, own.cell(total)]));
        let checks =
            accounts.map(|balance| own.check("What waits equals the accounts on which it waits", total, balance));
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: BTreeMap::from([("value".to_owned(), own.cell(total))]),
            checks: checks.into_iter().collect(),
            ..Sheet::default()
        })
    }
}

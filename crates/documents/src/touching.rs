//! Documents that a command touched, told to the audit log as they are by its end.

use crate::contra_entry::ContraEntries;
use crate::credit_note::CreditNotes;
use crate::debit_note::DebitNotes;
use crate::delivery_note::DeliveryNotes;
use crate::document::{Document, tell_touched, views};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::journal::Journals;
use crate::payment::Payments;
use crate::purchase_invoice::PurchaseInvoices;
use crate::purchase_order::PurchaseOrders;
use crate::receipt::Receipts;
use crate::receipt_note::ReceiptNotes;
use crate::revaluation::Revaluations;
use crate::sales_invoice::SalesInvoices;
use crate::sales_order::SalesOrders;
use crate::stock_adjustment::StockAdjustments;
use answers::Ask;
use books::among::among;
use books::cx::Cx;
use kit::operation::{Shown, shown};
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, Stage};
use sea_orm::{ColumnTrait, QueryFilter};
use std::collections::{BTreeMap, HashMap};

/// Tells the log of every document that was touched: each version whole, with what it was touched by.
pub(crate) async fn tell(cx: &Cx<'_>) -> Result<()> {
    let touched = cx.touched().take();
    if touched.is_empty() {
        return Ok(());
    }
    cx.flush().await?;
    let rows = documents::Entity::find()
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(among(cx, Column::Id, touched.iter().map(|touch| touch.id)))
        .models(&cx.db)
        .await?;
    let stages: HashMap<RecordId, Option<Stage>> = rows.iter().map(|row| (row.id, row.stage)).collect();
    let mut by_kind: BTreeMap<DocumentKind, Vec<documents::Model>> = BTreeMap::new();
    for row in rows {
        by_kind.entry(row.kind).or_default().push(row);
    }
    let of_kinds = by_kind.into_iter().map(|(kind, rows)| of_kind(cx, kind, rows));
    let mut whole: HashMap<RecordId, Shown> = cx.db.all_together(of_kinds).await?.into_iter().flatten().collect();
    for touch in touched {
        let after =
            whole.remove(&touch.id).ok_or_else(|| Error::internal("a document was touched that there is not"))?;
        let stage = stages.get(&touch.id).copied().flatten();
        tell_touched(cx, touch, (after, stage))?;
    }
    Ok(())
}

/// Documents with what is to be told of them.
pub(crate) type Whole = Vec<(RecordId, Shown)>;

/// Documents of a kind as they are answered.
pub(crate) async fn of_kind(cx: &Cx<'_>, kind: DocumentKind, rows: Vec<documents::Model>) -> Result<Whole> {
    match kind {
        DocumentKind::Journal => of::<Journals>(cx, rows).await,
        DocumentKind::ContraEntry => of::<ContraEntries>(cx, rows).await,
        DocumentKind::SalesInvoice => of::<SalesInvoices>(cx, rows).await,
        DocumentKind::CreditNote => of::<CreditNotes>(cx, rows).await,
        DocumentKind::PurchaseInvoice => of::<PurchaseInvoices>(cx, rows).await,
        DocumentKind::DebitNote => of::<DebitNotes>(cx, rows).await,
        DocumentKind::Receipt => of::<Receipts>(cx, rows).await,
        DocumentKind::Payment => of::<Payments>(cx, rows).await,
        DocumentKind::StockAdjustment => of::<StockAdjustments>(cx, rows).await,
        DocumentKind::Revaluation => of::<Revaluations>(cx, rows).await,
        DocumentKind::SalesOrder => of::<SalesOrders>(cx, rows).await,
        DocumentKind::PurchaseOrder => of::<PurchaseOrders>(cx, rows).await,
        DocumentKind::DeliveryNote => of::<DeliveryNotes>(cx, rows).await,
        DocumentKind::ReceiptNote => of::<ReceiptNotes>(cx, rows).await,
    }
}

async fn of<D: Document>(cx: &Cx<'_>, rows: Vec<documents::Model>) -> Result<Whole> {
    let told = |view: &D::View| shown(view).map(|shown| (shown.id, shown));
    Box::pin(views::<D>(cx, rows)).await?.iter().map(told).collect()
}

//! Conditions that an index on some rows is made for. They are written out: an engine chooses such an index by the text of
//! the condition, and where a value is bound it cannot know, or plans the statement anew each time.

use crate::tables::{DocumentKind, DocumentStatus, Stage, document_lines, documents, open_items};
use sea_orm::sea_query::{Expr, ExprTrait, SimpleExpr};

/// The letters of a word, written out.
fn kept(code: &str) -> SimpleExpr {
    Expr::cust(format!("'{code}'"))
}

/// Items of which something is left to settle.
pub fn is_open() -> SimpleExpr {
    Expr::col((open_items::Entity, open_items::Column::Open)).ne(Expr::cust("0"))
}

/// Documents that are not posted yet.
pub fn is_draft() -> SimpleExpr {
    Expr::col((documents::Entity, documents::Column::Status)).eq(kept(DocumentStatus::Draft.code()))
}

/// Documents that are in the books.
pub fn is_posted() -> SimpleExpr {
    Expr::col((documents::Entity, documents::Column::Status)).eq(kept(DocumentStatus::Posted.code()))
}

/// Documents that were taken back.
pub fn is_void() -> SimpleExpr {
    Expr::col((documents::Entity, documents::Column::Status)).eq(kept(DocumentStatus::Void.code()))
}

/// Documents of which something is left, to settle or to follow.
pub fn is_left() -> SimpleExpr {
    let stages = [Stage::Open, Stage::Partial].map(|stage| kept(stage.code()));
    Expr::col((documents::Entity, documents::Column::Stage)).is_in(stages)
}

/// Lines of what is neither a bill nor a credit: no fact tells of their tax.
pub fn is_of_no_bill() -> SimpleExpr {
    let bills =
        [DocumentKind::SalesInvoice, DocumentKind::CreditNote, DocumentKind::PurchaseInvoice, DocumentKind::DebitNote]
            .map(|kind| kept(kind.code()));
    Expr::col((document_lines::Entity, document_lines::Column::Kind)).is_not_in(bills)
}

/// Lines of stock adjustments.
pub fn is_of_adjustments() -> SimpleExpr {
    Expr::col((document_lines::Entity, document_lines::Column::Kind)).eq(kept(DocumentKind::StockAdjustment.code()))
}

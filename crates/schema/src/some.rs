//! Conditions that an index on some rows is made for. They are written out: an engine chooses such an index by the text of
//! the condition, and where a value is bound it cannot know, or plans the statement anew each time.

use crate::tables::{document_lines, documents, open_items};
use sea_orm::sea_query::{Expr, ExprTrait, SimpleExpr};

/// Items of which something is left to settle.
pub fn is_open() -> SimpleExpr {
    Expr::col((open_items::Entity, open_items::Column::Open)).ne(Expr::cust("0"))
}

/// Documents that are not posted yet.
pub fn is_draft() -> SimpleExpr {
    Expr::col((documents::Entity, documents::Column::Status)).eq(Expr::cust("'draft'"))
}

/// Documents that were taken back.
pub fn is_void() -> SimpleExpr {
    Expr::col((documents::Entity, documents::Column::Status)).eq(Expr::cust("'void'"))
}

/// Documents of which something is left, to settle or to follow.
pub fn is_left() -> SimpleExpr {
    let stages = [Expr::cust("'open'"), Expr::cust("'partial'")];
    Expr::col((documents::Entity, documents::Column::Stage)).is_in(stages)
}

/// Lines of what is neither a bill nor a credit: no fact tells of their tax.
pub fn is_of_no_bill() -> SimpleExpr {
    let bills = ["salesInvoice", "creditNote", "purchaseInvoice", "debitNote"];
    let bills = bills.map(|kind| Expr::cust(format!("'{kind}'")));
    Expr::col((document_lines::Entity, document_lines::Column::Kind)).is_not_in(bills)
}

/// Lines of stock adjustments.
pub fn is_of_adjustments() -> SimpleExpr {
    Expr::col((document_lines::Entity, document_lines::Column::Kind)).eq(Expr::cust("'stockAdjustment'"))
}

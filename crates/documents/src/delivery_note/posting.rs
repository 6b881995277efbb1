//! What goods cost goes from the stock to where they wait for their invoice, or is a cost at once; of a return, back.

use crate::parts::posting::GoodsNote;
use rules::posting::{Line, Unposted};

pub(super) fn lines(note: &GoodsNote<'_>) -> Result<Vec<Line>, Unposted> {
    let mut sheet = note.sheet();
    for fact in note.goods() {
        sheet.goods(fact)?;
    }
    Ok(sheet.lines)
}

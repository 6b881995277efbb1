//! What goods are to cost comes into the stock from where they wait for their bill; of a return, back.

use crate::parts::posting::GoodsNote;
use rules::posting::{Line, Unposted};

pub(super) fn lines(note: &GoodsNote<'_>) -> Result<Vec<Line>, Unposted> {
    let mut sheet = note.sheet();
    for fact in note.goods() {
        sheet.goods(fact)?;
    }
    Ok(sheet.lines)
}

//! How documents were settled by the end of a day, and what of their figures counts by then: as the books have it.

pub(super) use books::settled::{History, KINDS, too_large};
pub(super) use rules::tax::due::{Counts, Figures, Part, Settlement, due};

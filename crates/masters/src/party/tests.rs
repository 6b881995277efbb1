//! What parties are held to.

use super::*;
use crate::samples::{draft, id, row, said};

#[test]
fn what_became_part_of_another_stays_archived() {
    let merged = table::Model { merged_into_id: Some(id(7)), ..row::<Parties>(&[]) };
    let alone = row::<Parties>(&[]);
    let refused = "invalid_state: status: must be archived: it is part of another party, which stands for it";
    for (status, of_merged) in [
        (json!("archived"), "fine"),
        (json!("active"), refused),
        (json!("blocked"), refused),
        // To say none is to say active.
        (json!(null), refused),
    ] {
        let wanted = draft::<Parties>(&[("/status", status.clone())]);
        assert_eq!(said(check_merged(&merged, &wanted)), of_merged, "{status}");
        assert_eq!(said(check_merged(&alone, &wanted)), "fine", "{status}");
    }
}

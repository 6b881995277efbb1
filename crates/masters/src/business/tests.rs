//! What companies are held to, and what follows where accounts change their roles.

use super::*;
use crate::samples::id;

#[test]
fn accounts_that_lost_a_role_and_that_took_one_are_looked_at() {
    use SystemRole::{BadDebt, BankFees, Receivable};
    let roles = |held: &[(SystemRole, u128)]| -> BTreeMap<SystemRole, RecordId> {
        held.iter().map(|(role, account)| (*role, id(*account))).collect()
    };
    for (before, now, moved) in [
        (vec![(Receivable, 1200)], vec![(Receivable, 1200)], vec![]),
        (vec![(Receivable, 1200)], vec![(Receivable, 1201)], vec![1200, 1201]),
        // In a company that is older than the role, nobody had it.
        (vec![], vec![(Receivable, 1200)], vec![1200]),
        (vec![(BankFees, 6100)], vec![(BankFees, 6100), (Receivable, 1200)], vec![1200]),
        (vec![(BankFees, 6100), (BadDebt, 6200)], vec![(BankFees, 6200), (BadDebt, 6200)], vec![6100, 6200]),
        (vec![(BadDebt, 6200)], vec![], vec![6200]),
    ] {
        let expected: HashSet<RecordId> = moved.iter().map(|account| id(*account)).collect();
        assert_eq!(moved_accounts(&roles(&before), &roles(&now)), expected, "{before:?} {now:?}");
    }
}

//! Books that are apart: what differs since then because of it is told as its consequence.
//!
//! Where both sides see the same books, they are asked about the left one's company, too: what differs there as well
//! differs for a reason of its own.

use super::{Compared, Pair, Relation};
use crate::consequence::pattern;
use crate::difference::{Difference, Kind};
use crate::neutral::Neutral;

#[derive(Default)]
pub(super) struct Apart {
    /// The operation and the path since which the books are apart.
    since: Option<String>,
    /// Whether the right side sees the left one's company, where that was found out.
    is_shared: Option<bool>,
}

impl Pair {
    /// Says that the two companies are no longer alike, since this.
    pub(super) fn part(&mut self, compared: &Compared) {
        let worst = compared.differences.iter().filter(|one| is_of_books(one)).min_by_key(|one| one.kind);
        if let (Some(worst), true) = (worst, self.is_on_twins()) {
            let since = || format!("{} {}", compared.request.operation, pattern(&worst.path));
            self.apart.since.get_or_insert_with(since);
        }
    }

    /// Says of each difference that says nothing of its own since when it does not.
    pub(super) async fn told_apart(&mut self, compared: &mut Compared) {
        let Some(since) = self.apart.since.clone() else { return };
        let operation = compared.request.operation.clone();
        let is_cause = |one: &Difference| {
            let (of, path) = since.split_once(' ').unwrap_or_default();
            let path_is = pattern(&one.path) == path;
            path_is && (of == operation || one.path.starts_with("effects."))
        };
        let may_follow = |one: &Difference| one.follows.is_none() && is_of_books(one) && !is_cause(one);
        if !compared.differences.iter().any(may_follow) {
            return;
        }
        let elsewhere = self.on_common_ground(&compared.request).await;
        for difference in compared.differences.iter_mut().filter(|one| may_follow(one)) {
            let is_own = elsewhere.iter().flatten().any(|one| pattern(&one.path) == pattern(&difference.path));
            if !is_own {
                difference.follows = Some(since.clone());
            }
        }
    }

    /// Where the two sides differ when both are asked about the left one's company, if they can be. A write is rehearsed.
    async fn on_common_ground(&mut self, said: &Neutral) -> Option<Vec<Difference>> {
        let own = (self.relation, self.right.business.clone());
        (self.relation, self.right.business) = (Relation::Same, self.left.business.clone());
        let found = self.asked_there(said).await;
        (self.relation, self.right.business) = own;
        found
    }

    async fn asked_there(&mut self, said: &Neutral) -> Option<Vec<Difference>> {
        if self.apart.is_shared.is_none() {
            let company = Neutral::of("businessesGet").on(self.left.business.as_deref()?);
            let seen = self.ask(false, &company).await.1;
            self.apart.is_shared = Some(seen.is_ok_and(|seen| seen.tree["status"] == 200));
        }
        let writes = self.left.dialect.operation(&said.operation).is_ok_and(crate::dialect::Operation::writes);
        if self.apart.is_shared != Some(true) || writes && !(self.left.documented && self.right.documented) {
            return None;
        }
        let mut said = said.clone();
        if writes {
            said.query.set("dryRun", "true");
        }
        let (left, right) = (self.ask(true, &said).await.1.ok()?, self.ask(false, &said).await.1.ok()?);
        Some(self.differences(writes, &said, &left, &right))
    }
}

/// Whether a difference may come from what is in the books: how an answer is formed does not, nor which headers it has.
fn is_of_books(one: &Difference) -> bool {
    match one.kind {
        Kind::Status | Kind::Value | Kind::Type | Kind::Order => true,
        Kind::OnlyLeft | Kind::OnlyRight => !one.path.starts_with("headers."),
        Kind::Unanswered | Kind::Repeated | Kind::Format | Kind::Form | Kind::Document => false,
    }
}

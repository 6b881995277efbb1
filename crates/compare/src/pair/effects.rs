//! What a write did beside its answer: the entries that it posted, and its rows in the audit log.

use super::{Compared, Pair, unanswered};
use crate::difference::{Difference, Kind, Latitude, between_values};
use crate::meaning::Meaning;
use crate::neutral::Neutral;
use serde_json::Value;

/// How often the side that did less is asked to do it again.
const MOST_REPEATS: usize = 3;

/// What came of a write on both sides.
#[derive(Default)]
struct Done {
    found: Vec<Rows>,
    unanswered: Vec<Difference>,
}

struct Rows {
    path: &'static str,
    left: Value,
    right: Value,
}

impl Done {
    /// How many rows of each kind there are on the left and on the right.
    fn counts(&self) -> Vec<[usize; 2]> {
        let count = |rows: &Value| rows.as_array().map_or(0, Vec::len);
        self.found.iter().map(|rows| [count(&rows.left), count(&rows.right)]).collect()
    }

    fn is_level(&self) -> bool {
        self.counts().iter().all(|[left, right]| left == right)
    }
}

/// How often one side did what the other did more often.
#[derive(Debug, PartialEq, Eq)]
struct Less {
    /// 0 is the left side.
    side: usize,
    times: usize,
    /// How often it is still to be done.
    missing: usize,
}

/// Whether all that came of a write is there so many times more on one side: then it was done so many times.
fn less(counts: &[[usize; 2]]) -> Option<Less> {
    (0..2).find_map(|side| {
        let (less, more): (Vec<usize>, Vec<usize>) = counts.iter().map(|rows| (rows[side], rows[1 - side])).unzip();
        if less.iter().all(|count| *count == 0) {
            return more.iter().any(|count| *count > 0).then_some(Less { side, times: 0, missing: 1 });
        }
        let times = less.iter().zip(&more).find_map(|(less, more)| more.checked_div(*less))?;
        let is_so = less.iter().zip(&more).all(|(less, more)| less * times == *more);
        (is_so && (2..=1 + MOST_REPEATS).contains(&times)).then(|| Less { side, times: 1, missing: times - 1 })
    })
}

fn succeeded(meaning: &Meaning) -> bool {
    meaning.tree["status"].as_u64().is_some_and(|status| status < 400)
}

impl Pair {
    /// Compares what a real write did, and brings books level that are not. What the left side answered, at last.
    pub(super) async fn acted(&mut self, compared: &mut Compared, meant: [Meaning; 2], known: usize) -> Meaning {
        let worked = meant.each_ref().map(succeeded);
        if worked == [false; 2] || self.left.business.is_none() {
            let [left, _] = meant;
            return left;
        }
        let since = self.entries;
        let mut done = self.done(compared, since).await;
        let mut answers = meant.each_ref().map(|meaning| vec![meaning.clone()]);
        if worked == [true; 2]
            && let Some(less) = less(&done.counts())
        {
            done = self.repeat(compared, &less, &mut answers, since).await;
            if done.is_level() {
                let left = self.closest(compared, &answers, &done, known);
                let of =
                    |side: usize| Some(if side == less.side { less.times } else { less.times + less.missing }.into());
                compared.differences.push(Difference::new("effects", Kind::Repeated, of(0), of(1)));
                self.go_on_after(&done);
                return left;
            }
        }
        let told = self.told(&done);
        self.go_on_after(&done);
        let is_apart = !told.is_empty() || worked[0] != worked[1];
        compared.differences.extend(told);
        if is_apart {
            self.part(compared);
        }
        let [left, _] = meant;
        left
    }

    /// Asks the side that did less to do it again, as often as the other did. What there is then.
    async fn repeat(
        &mut self,
        compared: &Compared,
        less: &Less,
        answers: &mut [Vec<Meaning>; 2],
        since: [u64; 2],
    ) -> Done {
        let exchange = if less.side == 0 { &compared.left } else { &compared.right };
        let mut again = compared.request.clone();
        // With the same key it would only be answered again; with the same identifier the log tells of all of them.
        again.headers.retain(|name, _| !name.eq_ignore_ascii_case("idempotency-key"));
        let id = exchange.request.header("x-request-id").unwrap_or_default();
        again.headers.insert("X-Request-Id".into(), id.to_owned());
        for _ in 0..less.missing {
            let answered = self.ask(less.side == 0, &again).await.1;
            answers[less.side].extend(answered.ok().filter(succeeded));
        }
        self.done(compared, since).await
    }

    /// Takes those two answers for each other, of all that there were, which differ least. The left one of them.
    fn closest(&mut self, compared: &mut Compared, answers: &[Vec<Meaning>; 2], done: &Done, known: usize) -> Meaning {
        let mut best: Option<(usize, &Meaning, &Meaning)> = None;
        for left in &answers[0] {
            for right in &answers[1] {
                let count = self.told_anew(compared, [left, right], done, known).len();
                if best.is_none_or(|(fewest, _, _)| count < fewest) {
                    best = Some((count, left, right));
                }
            }
        }
        let (_, left, right) = best.unwrap_or((0, &answers[0][0], &answers[1][0]));
        compared.differences = self.told_anew(compared, [left, right], done, known);
        left.clone()
    }

    /// What differs in two answers and in what was done, as if nothing had been learnt of either yet.
    fn told_anew(&mut self, compared: &Compared, answers: [&Meaning; 2], done: &Done, known: usize) -> Vec<Difference> {
        self.twins.forget_since(known);
        let mut found = self.differences(true, &compared.request, answers[0], answers[1]);
        found.extend(self.told(done));
        found
    }

    fn told(&mut self, done: &Done) -> Vec<Difference> {
        let mut found = done.unanswered.clone();
        for Rows { path, left, right } in &done.found {
            found.extend(between_values(path, left, right, &mut Latitude::Own(&mut self.twins)));
        }
        found
    }

    fn go_on_after(&mut self, done: &Done) {
        for Rows { left, right, .. } in &done.found {
            for (last, rows) in self.entries.iter_mut().zip([left, right]) {
                let newest = rows.as_array().and_then(|rows| rows.last()?["entryNumber"].as_u64());
                *last = newest.unwrap_or(*last);
            }
        }
    }

    /// The entries since those that were compared already, and the rows of the audit log that name the requests.
    async fn done(&mut self, compared: &Compared, since: [u64; 2]) -> Done {
        let mut done = Done::default();
        let posted = |since: u64| {
            let next = (since + 1).to_string();
            Neutral::of("entriesList").asking("numberFrom", &next).asking("pageSize", "500")
        };
        let [left_id, right_id] = [&compared.left, &compared.right]
            .map(|exchange| exchange.request.header("x-request-id").unwrap_or_default().to_owned());
        let logged = |id: &str| Neutral::of("auditLogList").asking("clientRequestId", id).asking("pageSize", "500");
        let asked = [
            ("effects.entries", posted(since[0]), posted(since[1])),
            ("effects.audit", logged(&left_id), logged(&right_id)),
        ];
        for (path, of_left, of_right) in asked {
            if self.left.dialect.operation(&of_left.operation).is_err() {
                continue;
            }
            match (self.ask(true, &of_left).await.1, self.ask(false, &of_right).await.1) {
                (Ok(left), Ok(right)) => {
                    let items = |meaning: &Meaning| meaning.data()["items"].clone();
                    done.found.push(Rows { path, left: items(&left), right: items(&right) });
                }
                (left, right) => done.unanswered.push(unanswered(path, left, right)),
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_more_often_is_there_so_many_times() {
        for (counts, expected) in [
            (vec![[1, 2], [1, 2]], Some((0, 1, 1))),
            (vec![[6, 2], [3, 1]], Some((1, 1, 2))),
            (vec![[0, 0], [1, 2]], Some((0, 1, 1))),
            (vec![[1, 0], [1, 0]], Some((1, 0, 1))),
            // Alike; more of one kind alone; no whole number; too often to be done again.
            (vec![[1, 1], [1, 1]], None),
            (vec![[0, 1], [1, 1]], None),
            (vec![[2, 3], [2, 3]], None),
            (vec![[1, 9], [1, 9]], None),
            (vec![[1, 2], [2, 1]], None),
            (vec![], None),
        ] {
            let found = less(&counts).map(|less| (less.side, less.times, less.missing));
            assert_eq!(found, expected, "{counts:?}");
        }
    }
}

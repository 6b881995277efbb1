//! Whose turn it is: places among companies, and within a company among its callers.
//!
//! Start-time fair queueing on two levels. Everybody has an account of what their turns cost; of those who wait, the company
//! with the lowest account is next, and of its callers the one with the lowest. Who comes anew starts where the service
//! stands, so that nobody saves up turns, and what somebody took before moves them back, by so much at most. One company
//! never holds all places. Knows no clock: each call says what time it is.

#[cfg(test)]
use std::collections::BTreeMap;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// A point in time, or a cost, in microseconds.
pub type Micros = u64;

/// What a turn costs at least, so that many small ones count as well.
pub(super) const LEAST: Micros = 200;
/// How far what was taken before moves somebody back at most.
pub(super) const FURTHEST: Micros = 10_000_000;
/// As many companies, or callers of one, before those are forgotten who owe nothing.
const MANY: usize = 1_024;

/// How many may have a place, and how many may wait for one.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub places: usize,
    /// That one company may hold.
    pub of_company: usize,
    pub waiting: usize,
    /// Of one company.
    pub waiting_of_company: usize,
    /// Of one caller in a company.
    pub waiting_of_caller: usize,
}

/// Why somebody cannot wait: who has too many waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    Caller,
    Company,
    All,
}

#[derive(Debug, Default)]
struct Account {
    /// What its turns have cost, those that go on left out.
    spent: Micros,
    held: u64,
    /// The sum of the moments at which the turns began that go on.
    began: u128,
}

impl Account {
    /// What it has cost so far.
    fn due(&self, now: Micros) -> Micros {
        let running = (u128::from(self.held) * u128::from(now)).saturating_sub(self.began);
        self.spent.saturating_add(Micros::try_from(running).unwrap_or(Micros::MAX))
    }

    /// Comes, where it did not wait or hold anything: at what stands, with what it owes.
    fn come(&mut self, stand: Micros) {
        self.spent = self.spent.clamp(stand, stand.saturating_add(FURTHEST));
    }

    fn take(&mut self, now: Micros) {
        self.held += 1;
        self.began += u128::from(now);
        self.spent = self.spent.saturating_add(LEAST);
    }

    fn give_back(&mut self, since: Micros, now: Micros) {
        self.held -= 1;
        self.began -= u128::from(since);
        self.spent = self.spent.saturating_add(now.saturating_sub(since));
    }
}

struct Caller<W> {
    account: Account,
    waiting: VecDeque<(u64, W)>,
}

struct Company<K, W> {
    account: Account,
    waiting: usize,
    /// Where the service of its callers stands.
    stand: Micros,
    callers: HashMap<K, Caller<W>>,
}

/// Who waits for places of one kind, and who has them. `C` names companies, `K` callers; `W` is who waits.
pub struct Queue<C, K, W> {
    bounds: Bounds,
    taken: usize,
    waiting: usize,
    stand: Micros,
    /// When it was last asked.
    last: Micros,
    tickets: u64,
    companies: HashMap<C, Company<K, W>>,
}

impl<C: Copy + Eq + Hash + Ord, K: Copy + Eq + Hash + Ord, W> Queue<C, K, W> {
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, taken: 0, waiting: 0, stand: 0, last: 0, tickets: 0, companies: HashMap::new() }
    }

    /// Time in which nobody has to wait is nobody's loss: what was taken then is forgiven.
    fn pass(&mut self, now: Micros) {
        let passed = now.saturating_sub(self.last);
        self.last = self.last.max(now);
        if self.waiting == 0 {
            self.stand = self.stand.saturating_add(passed);
            for company in self.companies.values_mut().filter(|company| company.waiting == 0) {
                company.stand = company.stand.saturating_add(passed);
            }
        }
    }

    /// Somebody waits from now on, under the number that is answered.
    pub fn wait(&mut self, now: Micros, (company, caller): (C, K), who: W) -> Result<u64, Full> {
        self.pass(now);
        if let Some(own) = self.companies.get(&company) {
            let of_caller = own.callers.get(&caller).map_or(0, |one| one.waiting.len());
            if of_caller >= self.bounds.waiting_of_caller {
                return Err(Full::Caller);
            }
            if own.waiting >= self.bounds.waiting_of_company {
                return Err(Full::Company);
            }
        }
        if self.waiting >= self.bounds.waiting {
            return Err(Full::All);
        }
        let stand = self.stand;
        let fresh = || Company { account: Account::default(), waiting: 0, stand: 0, callers: HashMap::new() };
        let own = self.companies.entry(company).or_insert_with(fresh);
        if own.waiting == 0 && own.account.held == 0 {
            own.account.come(stand);
        }
        let stand = own.stand;
        let one = own
            .callers
            .entry(caller)
            .or_insert_with(|| Caller { account: Account::default(), waiting: VecDeque::new() });
        if one.waiting.is_empty() && one.account.held == 0 {
            one.account.come(stand);
        }
        self.tickets += 1;
        one.waiting.push_back((self.tickets, who));
        own.waiting += 1;
        self.waiting += 1;
        Ok(self.tickets)
    }

    /// Somebody waits no longer.
    pub(super) fn leave(&mut self, now: Micros, (company, caller): (C, K), ticket: u64) {
        self.pass(now);
        let Some(own) = self.companies.get_mut(&company) else { return };
        let Some(one) = own.callers.get_mut(&caller) else { return };
        let before = one.waiting.len();
        one.waiting.retain(|(number, _)| *number != ticket);
        let gone = before - one.waiting.len();
        own.waiting -= gone;
        self.waiting -= gone;
    }

    /// The next one, who has a place from now on; nobody where no place is free for those who wait.
    pub fn next(&mut self, now: Micros) -> Option<((C, K), W)> {
        self.pass(now);
        if self.taken >= self.bounds.places {
            return None;
        }
        let may = |company: &Company<K, W>| {
            company.waiting > 0 && usize::try_from(company.account.held).is_ok_and(|held| held < self.bounds.of_company)
        };
        let of_company =
            |(name, company): (&C, &Company<K, W>)| (company.account.due(now), company.account.held, *name);
        let (due, _, name) = self.companies.iter().filter(|(_, own)| may(own)).map(of_company).min()?;
        let company = self.companies.get_mut(&name)?;
        let of_caller = |(name, caller): (&K, &Caller<W>)| {
            caller.waiting.front().map(|(ticket, _)| (caller.account.due(now), *ticket, *name))
        };
        let (due_of_caller, _, caller) = company.callers.iter().filter_map(of_caller).min()?;
        let one = company.callers.get_mut(&caller)?;
        let (_, who) = one.waiting.pop_front()?;
        one.account.take(now);
        company.account.take(now);
        company.stand = company.stand.max(due_of_caller);
        company.waiting -= 1;
        self.stand = self.stand.max(due);
        self.waiting -= 1;
        self.taken += 1;
        Some(((name, caller), who))
    }

    /// A place that was given at `since` is free again.
    pub fn give_back(&mut self, now: Micros, (company, caller): (C, K), since: Micros) {
        self.pass(now);
        self.taken -= 1;
        let stand = self.stand;
        if let Some(own) = self.companies.get_mut(&company) {
            own.account.give_back(since, now);
            if let Some(one) = own.callers.get_mut(&caller) {
                one.account.give_back(since, now);
            }
            if own.callers.len() > MANY {
                let stand = own.stand;
                own.callers
                    .retain(|_, one| !one.waiting.is_empty() || one.account.held > 0 || one.account.spent > stand);
            }
        }
        if self.companies.len() > MANY {
            self.companies.retain(|_, own| own.waiting > 0 || own.account.held > 0 || own.account.spent > stand);
        }
    }

    /// Whether anybody waits.
    pub fn is_awaited(&self) -> bool {
        self.waiting > 0
    }

    /// Whether others than this company wait for a place.
    pub(super) fn others_wait(&self, company: C) -> bool {
        self.waiting > self.companies.get(&company).map_or(0, |own| own.waiting)
    }

    /// How many places each company holds.
    #[cfg(test)]
    pub(super) fn held(&self) -> BTreeMap<C, u64> {
        self.companies
            .iter()
            .filter(|(_, own)| own.account.held > 0)
            .map(|(name, own)| (*name, own.account.held))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Line = Queue<u8, u8, u64>;

    fn line(places: usize, of_company: usize) -> Line {
        Queue::new(Bounds { places, of_company, waiting: 1_000, waiting_of_company: 500, waiting_of_caller: 500 })
    }

    /// Those who are served, one after the other, each for so long.
    fn served(line: &mut Line, now: &mut Micros, cost: impl Fn(u8) -> Micros, most: usize) -> Vec<(u8, u8)> {
        let mut order = Vec::new();
        while order.len() < most {
            let Some((who, _)) = line.next(*now) else { break };
            let since = *now;
            *now += cost(who.0);
            line.give_back(*now, who, since);
            order.push(who);
        }
        order
    }

    #[test]
    fn companies_take_turns_and_then_their_callers() {
        let mut line = line(1, 1);
        for _ in 0..8 {
            line.wait(0, (1, 1), 0).unwrap();
        }
        line.wait(0, (1, 2), 0).unwrap();
        line.wait(0, (2, 1), 0).unwrap();
        line.wait(0, (2, 1), 0).unwrap();
        let mut now = 0;
        let order = served(&mut line, &mut now, |_| 1_000, 6);
        // The company with nine waiting is not before the one with two, nor a caller of eight before one of one.
        assert_eq!(order, [(1, 1), (2, 1), (1, 2), (2, 1), (1, 1), (1, 1)]);
    }

    #[test]
    fn what_turns_cost_counts_and_not_how_many_they_are() {
        let mut line = line(1, 1);
        for _ in 0..300 {
            line.wait(0, (1, 1), 0).unwrap();
            line.wait(0, (2, 1), 0).unwrap();
        }
        let mut now = 0;
        let order = served(&mut line, &mut now, |company| if company == 1 { 50_000 } else { 1_000 }, 200);
        let dear = order.iter().filter(|(company, _)| *company == 1).count();
        assert!((3..=8).contains(&dear), "{dear} dear turns beside {} of the others", order.len() - dear);
    }

    #[test]
    fn a_company_never_holds_all_places() {
        let mut line = line(3, 2);
        for _ in 0..9 {
            line.wait(0, (1, 1), 0).unwrap();
        }
        assert!(line.next(0).is_some() && line.next(0).is_some());
        assert!(line.next(0).is_none(), "the last place is somebody else's");
        line.wait(0, (2, 1), 0).unwrap();
        assert_eq!(line.next(0).map(|(who, _)| who), Some((2, 1)));
        assert_eq!(line.held(), BTreeMap::from([(1, 2), (2, 1)]));
    }

    #[test]
    fn what_was_taken_before_moves_back_and_is_forgiven_in_time() {
        let mut line = line(1, 1);
        let mut now = 0;
        let come = |line: &mut Line, now| {
            for _ in 0..20 {
                line.wait(now, (1, 1), 0).unwrap();
                line.wait(now, (2, 1), 0).unwrap();
            }
        };
        come(&mut line, now);
        // One turn of company 1 takes three seconds.
        assert_eq!(served(&mut line, &mut now, |_| 3_000_000, 1), [(1, 1)]);
        let order = served(&mut line, &mut now, |_| 300_000, 9);
        assert!(order.iter().all(|(company, _)| *company == 2), "{order:?}");
        served(&mut line, &mut now, |_| 300_000, 100);
        // However much it took, it is not sent back further than so.
        line.wait(now, (2, 2), 0).unwrap();
        line.wait(now, (1, 1), 0).unwrap();
        served(&mut line, &mut now, |company| if company == 1 { 900_000_000 } else { 1_000 }, 2);
        come(&mut line, now);
        let order = served(&mut line, &mut now, |_| 1_000_000, 15);
        assert!(order.iter().any(|(company, _)| *company == 1), "{order:?}");
        served(&mut line, &mut now, |_| 1_000, 100);
        // Time in which nobody had to wait is forgiven.
        now += 60_000_000;
        come(&mut line, now);
        let order = served(&mut line, &mut now, |_| 100_000, 4);
        assert_eq!(order.iter().filter(|(company, _)| *company == 1).count(), 2, "{order:?}");
    }

    #[test]
    fn who_waits_too_long_a_line_is_told_at_once_and_who_leaves_makes_room() {
        let bounds = Bounds { places: 1, of_company: 1, waiting: 3, waiting_of_company: 2, waiting_of_caller: 2 };
        let mut line: Line = Queue::new(bounds);
        let first = line.wait(0, (1, 1), 0).unwrap();
        assert!(line.wait(0, (1, 2), 0).is_ok());
        assert_eq!(line.wait(0, (1, 1), 0), Err(Full::Company));
        assert!(line.wait(0, (2, 1), 0).is_ok());
        assert_eq!(line.wait(0, (3, 1), 0), Err(Full::All));
        line.leave(0, (1, 1), first);
        line.leave(0, (1, 1), first);
        assert!(line.wait(0, (3, 1), 0).is_ok());
        assert!(line.others_wait(3) && line.waiting == 3);
    }

    #[test]
    fn a_caller_never_fills_the_line_of_their_company() {
        let bounds = Bounds { places: 1, of_company: 1, waiting: 99, waiting_of_company: 8, waiting_of_caller: 4 };
        let mut line: Line = Queue::new(bounds);
        let told: Vec<_> = (0..6).map(|_| line.wait(0, (1, 1), 0).err()).collect();
        assert_eq!(told, [None, None, None, None, Some(Full::Caller), Some(Full::Caller)]);
        // In another company they are somebody else, and in this one others wait beside them.
        assert!(line.wait(0, (2, 1), 0).is_ok());
        assert!((0..4).all(|_| line.wait(0, (1, 2), 0).is_ok()));
        assert_eq!((line.wait(0, (1, 2), 0), line.wait(0, (1, 3), 0)), (Err(Full::Caller), Err(Full::Company)));
        // Who is served makes room for their own, and a refusal leaves nothing behind.
        assert_eq!(line.next(0).map(|(who, _)| who), Some((1, 1)));
        assert!(line.wait(0, (1, 1), 0).is_ok());
        assert_eq!(line.companies[&1].waiting, 8);
    }

    #[test]
    fn who_owes_nothing_is_forgotten() {
        let mut line: Queue<u32, u32, ()> =
            Queue::new(Bounds { places: 1, of_company: 1, waiting: 9, waiting_of_company: 9, waiting_of_caller: 9 });
        let mut now = 0;
        for number in 0..20_000 {
            line.wait(now, (number, 1), ()).unwrap();
            line.wait(now, (0, number), ()).unwrap();
            for _ in 0..2 {
                let (who, ()) = line.next(now).unwrap();
                line.give_back(now + 10, who, now);
            }
            now += 10_000;
        }
        assert!(line.companies.len() <= MANY + 2, "{}", line.companies.len());
        assert!(line.companies[&0].callers.len() <= MANY + 2);
    }

    #[derive(Debug, Clone)]
    enum Step {
        Wait(u8, u8),
        Leave(usize),
        End(usize),
        Pass(Micros),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0..4_u8, 0..3_u8).prop_map(|(company, caller)| Step::Wait(company, caller)),
            1 => any::<usize>().prop_map(Step::Leave),
            3 => any::<usize>().prop_map(Step::End),
            2 => (1..2_000_000_u64).prop_map(Step::Pass),
        ];
        prop::collection::vec(step, 1..400)
    }

    proptest! {
        /// However they come and go: no place is lost or given twice, and no company holds more than its share.
        #[test]
        fn places_are_kept_count_of(steps in steps(), places in 1..5_usize) {
            let of_company = places.saturating_sub(1).max(1);
            let mut line = line(places, of_company);
            let (mut now, mut waiting, mut held) = (0, Vec::new(), Vec::new());
            for step in steps {
                match step {
                    Step::Wait(company, caller) => {
                        let number = line.tickets + 1;
                        let ticket = line.wait(now, (company, caller), number).unwrap();
                        waiting.push(((company, caller), ticket));
                    }
                    Step::Leave(which) if !waiting.is_empty() => {
                        let (who, ticket) = waiting.swap_remove(which % waiting.len());
                        line.leave(now, who, ticket);
                    }
                    Step::End(which) if !held.is_empty() => {
                        let (who, since) = held.swap_remove(which % held.len());
                        line.give_back(now, who, since);
                    }
                    Step::Pass(time) => now += time,
                    Step::Leave(_) | Step::End(_) => {}
                }
                while let Some((who, ticket)) = line.next(now) {
                    let at = waiting.iter().position(|one| *one == (who, ticket)).expect("one who waits");
                    // Of a caller's own, the first is first.
                    prop_assert!(waiting.iter().filter(|(name, _)| *name == who).all(|(_, other)| *other >= ticket));
                    waiting.swap_remove(at);
                    held.push((who, now));
                }
                prop_assert_eq!(line.waiting, waiting.len());
                prop_assert_eq!(line.taken, held.len());
                prop_assert!(held.len() <= places);
                prop_assert!(line.held().values().all(|held| *held <= of_company as u64));
                // Nobody waits where there is a place that they may have.
                if held.len() < places {
                    for ((company, _), _) in &waiting {
                        prop_assert_eq!(line.held().get(company).copied(), Some(of_company as u64));
                    }
                }
            }
        }

        /// Companies that always have somebody waiting get the same, whatever their turns cost and however many wait: none
        /// is ahead of another by more than what two turns and the furthest step back cost.
        #[test]
        fn nobody_waits_for_more_than_their_share_of_the_others(
            costs in prop::collection::vec(1_000..3_000_000_u64, 2..6),
            crowd in 1..20_usize,
        ) {
            let mut line = line(1, 1);
            let count = u8::try_from(costs.len()).unwrap();
            let mut now = 0;
            for company in 0..count {
                for caller in 0..(if company == 0 { crowd } else { 1 }) {
                    line.wait(now, (company, u8::try_from(caller).unwrap()), 0).unwrap();
                }
            }
            let mut given = vec![0_u64; costs.len()];
            let dearest = *costs.iter().max().unwrap();
            for _ in 0..300 {
                let (who, _) = line.next(now).unwrap();
                let (cost, since) = (costs[usize::from(who.0)], now);
                now += cost;
                line.give_back(now, who, since);
                line.wait(now, who, 0).unwrap();
                given[usize::from(who.0)] += cost + LEAST;
                let (least, most) = (given.iter().min().unwrap(), given.iter().max().unwrap());
                prop_assert!(most - least <= 2 * (dearest + LEAST), "{given:?}");
            }
        }

        /// A company that comes while others crowd is served after no more than one turn of each other's.
        #[test]
        fn a_newcomer_waits_for_one_turn_of_each_at_most(crowds in prop::collection::vec(1..30_usize, 1..6), cost in 1_000..100_000_u64) {
            let mut line = line(1, 1);
            let mut now = 0;
            for (company, crowd) in crowds.iter().enumerate() {
                for _ in 0..*crowd {
                    line.wait(now, (u8::try_from(company).unwrap(), 1), 0).unwrap();
                }
            }
            served(&mut line, &mut now, |_| cost, crowds.len() / 2);
            line.wait(now, (99, 1), 0).unwrap();
            let order = served(&mut line, &mut now, |_| cost, 200);
            let before = order.iter().position(|(company, _)| *company == 99).unwrap();
            prop_assert!(before <= crowds.len(), "{before} turns before, {} companies", crowds.len());
        }
    }
}

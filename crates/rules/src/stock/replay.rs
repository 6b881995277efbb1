//! Facts, valued one after the other: what each moves in the ledger.

use super::pools::{Left, Pools};
use super::state::{Filled, State};
use super::{Effect, Fact, Kind, Method, Side, Terms, TooLarge, add, less, neg, sub};
use std::collections::{BTreeSet, HashMap};
use words::ids::RecordId;
use words::money::{BookMoney, Quantity};
use words::sown::{Fault, sown};
use words::sums::{Lists as _, Sums as _};

/// Where a replay begins: the stock on an evening on which nothing is missing, or after which nothing comes in; and what is
/// left of earlier lines that later facts name.
#[derive(Debug, Clone, Default)]
pub struct Start {
    pub state: State,
    pub pools: HashMap<RecordId, Pools>,
}

/// What a fact takes of the receipt that it names.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    said: BookMoney,
    cost: BookMoney,
}

#[derive(Clone)]
pub(super) struct Replay<'f> {
    terms: &'f Terms,
    facts: &'f [Fact],
    pub(super) state: State,
    pub(super) pools: HashMap<RecordId, Pools>,
    pub(super) effects: Vec<Effect>,
    /// Facts whose effect changed since this was last asked.
    pub(super) touched: BTreeSet<usize>,
    /// By how much receipts cost more than they said.
    extras: HashMap<RecordId, BookMoney>,
    taken: HashMap<usize, Taken>,
    /// Facts that are dated before what they name, by what they name.
    early: HashMap<RecordId, Vec<usize>>,
    /// The facts that let goods out, by their lines.
    issues: HashMap<RecordId, usize>,
    /// Those of them whose goods were missing, and cost something else when they came.
    pub(super) corrected: BTreeSet<usize>,
}

impl<'f> Replay<'f> {
    pub(super) fn new(terms: &'f Terms, facts: &'f [Fact], start: &Start) -> Self {
        Self {
            terms,
            facts,
            state: start.state.clone(),
            pools: start.pools.clone(),
            effects: vec![Effect::default(); facts.len()],
            touched: BTreeSet::new(),
            extras: HashMap::new(),
            taken: HashMap::new(),
            early: HashMap::new(),
            issues: HashMap::new(),
            corrected: BTreeSet::new(),
        }
    }

    fn moves(&mut self, at: usize, effect: Effect) {
        if self.effects[at] != effect {
            self.effects[at] = effect;
            self.touched.insert(at);
        }
    }

    // ── What documents say of receipts: before anything is valued ──

    /// What facts of one day say of receipts, in their order. The receipts that cost something else by that are answered.
    pub(super) fn told(&mut self, facts: &[usize]) -> Result<BTreeSet<RecordId>, TooLarge> {
        let mut dearer = BTreeSet::new();
        for at in facts {
            self.tell(*at, &mut dearer)?;
        }
        Ok(dearer)
    }

    fn tell(&mut self, at: usize, dearer: &mut BTreeSet<RecordId>) -> Result<(), TooLarge> {
        let fact = self.facts[at];
        match (fact.kind, fact.of) {
            (Kind::Receipt, _) => {
                let all = Left::new(fact.quantity, fact.amount, fact.amount);
                self.pools.insert(fact.line, Pools::new(all, fact.side == Side::Waits));
                for early in self.early.take_list(&fact.line) {
                    self.tell(early, dearer)?;
                }
            }
            (Kind::Bill, Some(of)) => {
                let Some(pools) = self.pools.get_mut(&of) else {
                    // Until its goods are there, what is billed is to come.
                    self.early.entry(of).or_default().push(at);
                    self.moves(at, Effect { waits: fact.amount, ..Effect::default() });
                    return Ok(());
                };
                let taken = pools.bill(self.terms, fact.quantity)?;
                let within = self.terms.part(fact.amount, taken.quantity, fact.quantity)?;
                let beyond = sub(fact.amount, within)?;
                let extra = sub(within, taken.said)?;
                pools.done.put(Left::new(taken.quantity, within, add(taken.cost, extra)?))?;
                pools.owed.put(Left::new(less(fact.quantity, taken.quantity)?, beyond, BookMoney::ZERO))?;
                let said = if sown(Fault::BilledAtItsOwnPrice) { within } else { taken.said };
                let effect = Effect { waits: add(said, beyond)?, ..Effect::default() };
                self.dearer(at, of, extra, effect, dearer)?;
            }
            (Kind::CostChange, Some(of)) => {
                let Some(pools) = self.pools.get_mut(&of) else {
                    self.early.entry(of).or_default().push(at);
                    self.moves(at, Effect { waits: fact.amount, ..Effect::default() });
                    return Ok(());
                };
                pools.cost_more(self.terms, fact.amount)?;
                self.dearer(at, of, fact.amount, Effect::default(), dearer)?;
            }
            (Kind::SupplierReturn, Some(of)) => {
                let Some(pools) = self.pools.get_mut(&of) else { return Ok(()) };
                let (one, other) = match fact.side {
                    Side::Waits => pools.send_back(self.terms, fact.quantity)?,
                    Side::Document | Side::Cost => pools.credit_with_goods(self.terms, fact.quantity)?,
                };
                let both = one.plus(other)?;
                self.taken.insert(at, Taken { said: both.said, cost: both.cost });
            }
            (Kind::SupplierReturn, None) if fact.side == Side::Waits && !sown(Fault::OwedOnlyLater) => {
                // It names no receipt: what is said of it is owed until it is credited.
                let owed = Left::new(fact.quantity, fact.amount, fact.amount);
                self.pools.insert(fact.line, Pools { owed, ..Pools::default() });
            }
            (Kind::Credit, Some(of)) if fact.side == Side::Document => {
                let Some(pools) = self.pools.get_mut(&of) else { return Ok(()) };
                let taken = pools.credit(self.terms, fact.quantity)?;
                let (waits, variance) = (neg(taken.said)?, sub(taken.said, fact.amount)?);
                self.moves(at, Effect { waits, variance, ..Effect::default() });
            }
            _ => {}
        }
        Ok(())
    }

    /// A receipt cost so much more: that is worth of the stock, or a variance at standard cost.
    fn dearer(
        &mut self,
        at: usize,
        receipt: RecordId,
        extra: BookMoney,
        effect: Effect,
        dearer: &mut BTreeSet<RecordId>,
    ) -> Result<(), TooLarge> {
        if self.terms.method == Method::Standard {
            self.moves(at, Effect { variance: extra, ..effect });
            return Ok(());
        }
        self.moves(at, Effect { stock: extra, ..effect });
        if extra != BookMoney::ZERO {
            let sum = self.extras.entry(receipt).or_default();
            *sum = add(*sum, extra)?;
            dearer.insert(receipt);
        }
        Ok(())
    }

    // ── What the movements cost ──

    /// Values facts in their order.
    pub(super) fn value(&mut self, facts: &[usize]) -> Result<(), TooLarge> {
        for at in facts {
            self.apply(*at)?;
        }
        Ok(())
    }

    fn apply(&mut self, at: usize) -> Result<(), TooLarge> {
        let fact = self.facts[at];
        match fact.kind {
            Kind::Receipt => self.receive(at),
            Kind::Issue => self.issue(at),
            Kind::CustomerReturn => self.bring_back(at),
            Kind::SupplierReturn => self.send_back(at),
            Kind::Invoice => self.invoice(at),
            Kind::Credit if fact.side != Side::Document => self.credit(at),
            Kind::Standard => {
                let Some(cost) = fact.standard else { return Ok(()) };
                let rise = self.state.set_standard(self.terms, cost)?;
                self.moves(at, Effect { stock: rise, cost: neg(rise)?, ..Effect::default() });
                Ok(())
            }
            Kind::Bill | Kind::CostChange | Kind::Credit => Ok(()),
        }
    }

    fn receive(&mut self, at: usize) -> Result<(), TooLarge> {
        let fact = self.facts[at];
        let extra = self.extras.sum_of(&fact.line);
        let (added, filled) =
            self.state.receive(self.terms, (fact.line, None), fact.quantity, add(fact.amount, extra)?)?;
        // What it cost more is told by the fact that says so.
        let at_standard = self.terms.method == Method::Standard && !sown(Fault::StandardTakesWhatWasPaid);
        let stock = if at_standard { added } else { fact.amount };
        let effect = Effect { stock, variance: sub(fact.amount, stock)?, ..Effect::default() };
        let other = neg(fact.amount)?;
        let effect = match fact.side {
            Side::Document => effect,
            Side::Waits => Effect { waits: other, ..effect },
            Side::Cost => Effect { cost: other, ..effect },
        };
        self.moves(at, effect);
        self.find(filled)
    }

    /// What was missing is found, and now it is known what it cost.
    fn find(&mut self, filled: Vec<Filled>) -> Result<(), TooLarge> {
        for one in filled {
            let waits = match self.pools.get_mut(&one.line) {
                Some(pools) => pools.cost_more(self.terms, one.dearer)?,
                None => BookMoney::ZERO,
            };
            // Where something comes in, a replay starts where nothing is missing: one of its facts let it out.
            let Some(at) = self.issues.get(&one.line).copied() else { continue };
            self.corrected.insert(at);
            let by = Effect { stock: neg(one.dearer)?, waits, cost: sub(one.dearer, waits)?, ..Effect::default() };
            // Goods that went back to a supplier cost no sale anything.
            let by = if self.facts[at].kind == Kind::SupplierReturn {
                Effect { stock: by.stock, variance: one.dearer, ..Effect::default() }
            } else {
                by
            };
            self.moves(at, self.effects[at].plus(by)?);
        }
        Ok(())
    }

    fn issue(&mut self, at: usize) -> Result<(), TooLarge> {
        let fact = self.facts[at];
        let cost = self.state.issue(self.terms, fact.line, fact.quantity)?;
        self.issues.insert(fact.line, at);
        let waits = fact.side == Side::Waits;
        self.pools.insert(fact.line, Pools::new(Left::new(fact.quantity, cost, cost), waits));
        let effect = Effect { stock: neg(cost)?, ..Effect::default() };
        self.moves(at, if waits { Effect { waits: cost, ..effect } } else { Effect { cost, ..effect } });
        for early in self.early.take_list(&fact.line) {
            self.apply(early)?;
        }
        Ok(())
    }

    fn bring_back(&mut self, at: usize) -> Result<(), TooLarge> {
        let fact = self.facts[at];
        let (mut back, mut beyond) = (Left::default(), fact.quantity);
        if let Some(pools) = fact.of.and_then(|of| self.pools.get_mut(&of)) {
            let (one, other) = match fact.side {
                Side::Waits => pools.send_back(self.terms, fact.quantity)?,
                Side::Document | Side::Cost => pools.credit_with_goods(self.terms, fact.quantity)?,
            };
            back = one.plus(other)?;
            beyond = less(fact.quantity, back.quantity)?;
        }
        if sown(Fault::ReturnAtTodaysCost) {
            (back, beyond) = (Left::default(), fact.quantity);
        }
        let mut share = back.cost;
        if beyond > Quantity::ZERO {
            share = add(share, self.state.current_cost(self.terms, beyond)?)?;
        }
        if fact.side == Side::Waits && fact.of.is_none() {
            let owed = Left::new(fact.quantity, share, share);
            self.pools.insert(fact.line, Pools { owed, ..Pools::default() });
        }
        let (stock, filled) = self.state.receive(self.terms, (fact.line, fact.of), fact.quantity, share)?;
        let effect = Effect { stock, variance: sub(share, stock)?, ..Effect::default() };
        let other = neg(share)?;
        let effect = match fact.side {
            Side::Waits => Effect { waits: other, ..effect },
            Side::Document | Side::Cost => Effect { cost: other, ..effect },
        };
        self.moves(at, effect);
        self.find(filled)
    }

    fn send_back(&mut self, at: usize) -> Result<(), TooLarge> {
        let fact = self.facts[at];
        self.issues.insert(fact.line, at);
        let taken = self.taken.get(&at).copied();
        let cost = match (fact.of, taken) {
            (Some(receipt), Some(taken)) => {
                self.state.send_back(self.terms, fact.line, receipt, fact.quantity, taken.cost)?
            }
            _ => self.state.issue(self.terms, fact.line, fact.quantity)?,
        };
        let said = match (fact.side, taken) {
            (Side::Waits, Some(taken)) => taken.said,
            (Side::Cost, _) => cost,
            _ => fact.amount,
        };
        let effect = Effect { stock: neg(cost)?, variance: sub(cost, said)?, ..Effect::default() };
        let effect = match fact.side {
            Side::Document => effect,
            Side::Waits => Effect { waits: said, ..effect },
            Side::Cost => Effect { cost: said, ..effect },
        };
        self.moves(at, effect);
        Ok(())
    }

    fn invoice(&mut self, at: usize) -> Result<(), TooLarge> {
        let fact = self.facts[at];
        let Some(of) = fact.of else { return Ok(()) };
        let Some(pools) = self.pools.get_mut(&of) else {
            // Until its goods are gone, an invoice has no cost.
            self.early.entry(of).or_default().push(at);
            return Ok(());
        };
        let taken = pools.bill(self.terms, fact.quantity)?;
        pools.done.put(taken)?;
        pools.owed.put(Left::new(less(fact.quantity, taken.quantity)?, BookMoney::ZERO, BookMoney::ZERO))?;
        self.moves(at, Effect { waits: neg(taken.cost)?, cost: taken.cost, ..Effect::default() });
        Ok(())
    }

    fn credit(&mut self, at: usize) -> Result<(), TooLarge> {
        let fact = self.facts[at];
        let Some(pools) = fact.of.and_then(|of| self.pools.get_mut(&of)) else { return Ok(()) };
        let taken = pools.credit(self.terms, fact.quantity)?;
        self.moves(at, Effect { waits: taken.cost, cost: neg(taken.cost)?, ..Effect::default() });
        Ok(())
    }
}

//! What holds of any facts in any order.

#![cfg(test)]

use super::cases::terms;
use super::replay::Start;
use super::{Effect, Fact, Kind, Method, Side, history, pools_of};
use proptest::prelude::*;
use words::day::Day;
use words::ids::RecordId;
use words::money::{BookMoney, Quantity};

/// A step of a stream: what happens, on which day, with how many, at which amount, to which earlier line.
type Asked = (u8, u32, i64, i64, usize, Option<u32>);

fn id(place: usize) -> RecordId {
    RecordId(uuid::Uuid::from_u128(place as u128 + 1))
}

fn day(of_month: u32) -> Day {
    Day::new(2026, 1, of_month).unwrap()
}

fn facts(asked: &[Asked]) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for (place, (what, on, quantity, cents, which, until)) in asked.iter().enumerate() {
        let lines =
            |kind: Kind| facts.iter().filter(|fact| fact.kind == kind).map(|fact| fact.line).collect::<Vec<_>>();
        let named = |kind: Kind| {
            let lines = lines(kind);
            lines.get(which % lines.len().max(1)).copied()
        };
        let (kind, side, of) = match what {
            0 | 1 => (Kind::Receipt, Side::Document, None),
            2 => (Kind::Receipt, Side::Waits, None),
            3 | 4 => (Kind::Issue, Side::Cost, None),
            5 => (Kind::Issue, Side::Waits, None),
            6 => (Kind::Bill, Side::Document, named(Kind::Receipt)),
            7 => (Kind::Invoice, Side::Cost, named(Kind::Issue)),
            8 => (Kind::CustomerReturn, Side::Cost, named(Kind::Issue)),
            9 => (Kind::SupplierReturn, Side::Document, named(Kind::Receipt)),
            10 => (Kind::CostChange, Side::Document, named(Kind::Receipt)),
            11 => (Kind::CustomerReturn, Side::Waits, named(Kind::Issue)),
            12 => (Kind::SupplierReturn, Side::Waits, named(Kind::Receipt)),
            13 => (Kind::CustomerReturn, Side::Waits, None),
            14 => (Kind::Credit, Side::Cost, named(if which % 2 == 0 { Kind::Issue } else { Kind::CustomerReturn })),
            _ => (Kind::Credit, Side::Document, named(Kind::Receipt)),
        };
        if of.is_none() && matches!(kind, Kind::Bill | Kind::Invoice | Kind::CostChange | Kind::Credit) {
            continue;
        }
        facts.push(Fact {
            line: id(place),
            day: day(*on),
            place: i64::try_from(place).unwrap(),
            kind,
            side,
            quantity: if kind == Kind::CostChange {
                Quantity::ZERO
            } else {
                Quantity::from_units(quantity * 1_000_000)
            },
            amount: if matches!(kind, Kind::Issue | Kind::Invoice | Kind::CustomerReturn) || side == Side::Cost {
                BookMoney::ZERO
            } else {
                BookMoney::from_units(cents * 100)
            },
            standard: None,
            of,
            cancelled: until.map(day),
        });
    }
    facts
}

fn stream() -> impl Strategy<Value = Vec<Asked>> {
    stream_of(12)
}

/// Of the first so many kinds of steps.
fn stream_of(kinds: u8) -> impl Strategy<Value = Vec<Asked>> {
    let one = (0..kinds, 1_u32..28, 1_i64..9, 1_i64..9_000, any::<usize>(), prop::option::weighted(0.15, 1_u32..28));
    prop::collection::vec(one, 1..25)
}

fn method(which: u8) -> Method {
    [Method::Average, Method::Fifo, Method::Standard][usize::from(which % 3)]
}

proptest! {
    #[test]
    fn going_on_from_day_to_day_is_the_same_as_valuing_each_day_anew(asked in stream(), which: u8) {
        let (terms, facts) = (terms(method(which)), facts(&asked));
        let found = history(&terms, &Start::default(), &facts).unwrap();
        for (today, state) in &found.states {
            // Only what this day knows, and nothing that was cancelled by then.
            let known: Vec<usize> = (0..facts.len()).filter(|at| facts[*at].counts_on(*today)).collect();
            let alone: Vec<Fact> = known.iter().map(|at| Fact { cancelled: None, ..facts[*at] }).collect();
            let anew = history(&terms, &Start::default(), &alone).unwrap();
            prop_assert_eq!(&anew.state, state);
            for (place, at) in known.iter().enumerate() {
                prop_assert_eq!(anew.effect(place, *today).unwrap(), found.effect(*at, *today).unwrap());
            }
        }
    }

    #[test]
    fn what_facts_move_adds_up_to_what_is_there(asked in stream(), which: u8) {
        let (terms, facts) = (terms(method(which)), facts(&asked));
        let found = history(&terms, &Start::default(), &facts).unwrap();
        let mut stock = 0;
        for (at, fact) in facts.iter().enumerate() {
            let effect = found.effect(at, day(28)).unwrap();
            stock += effect.stock.units();
            let all = effect.stock.units() + effect.waits.units() + effect.cost.units() + effect.variance.units();
            let said = match (fact.side, fact.kind) {
                _ if fact.cancelled.is_some() => 0,
                (Side::Document, Kind::SupplierReturn) => -fact.amount.units(),
                (Side::Document, _) => fact.amount.units(),
                _ => 0,
            };
            prop_assert_eq!(all, said, "{:?}", fact);
        }
        prop_assert_eq!(stock, found.state.value.units());
        prop_assert!(found.state.quantity != Quantity::ZERO || found.state.value == BookMoney::ZERO);
        let layers: i64 = found.state.layers.iter().map(|layer| layer.value.units()).sum();
        let holds = method(which) != Method::Fifo || !found.state.shortages.is_empty();
        prop_assert!(holds || layers == found.state.value.units());
    }

    #[test]
    fn the_order_of_entering_facts_of_different_days_changes_nothing(asked in stream(), which: u8) {
        let (terms, facts) = (terms(method(which)), facts(&asked));
        let mut late = facts.clone();
        late.reverse();
        let (one, other) =
            (history(&terms, &Start::default(), &facts).unwrap(), history(&terms, &Start::default(), &late).unwrap());
        prop_assert_eq!(one.states, other.states);
    }

    /// What is left of a line is the same from its own facts and from the whole story, but where it was missing and cost
    /// something else when it came: that is said.
    #[test]
    fn what_is_left_of_a_line_is_what_its_facts_say_or_it_was_missing(asked in stream_of(16), which: u8) {
        let (terms, facts) = (terms(method(which)), facts(&asked));
        let found = history(&terms, &Start::default(), &facts).unwrap();
        for (at, fact) in facts.iter().enumerate().filter(|(_, fact)| fact.cancelled.is_none()) {
            let alone = fact.kind == Kind::CustomerReturn && fact.of.is_none() && terms.method == Method::Standard;
            let Some(whole) = found.pools.get(&fact.line).filter(|_| !alone && !found.corrected.contains(&at)) else {
                continue;
            };
            let moved = found.effect(at, day(28)).unwrap().stock;
            let cost = if fact.kind == Kind::CustomerReturn { moved } else { moved.negated() };
            let mut left = pools_of(&terms, fact.line, &facts, Some(cost)).unwrap();
            if fact.kind == Kind::SupplierReturn {
                // What is credited of it is what documents say.
                left.owed.cost = whole.owed.cost;
            }
            prop_assert_eq!(&left, whole, "{:?}", fact);
        }
    }

    #[test]
    fn what_is_entered_and_voided_on_its_day_never_was(asked in stream(), which: u8) {
        let (terms, mut facts) = (terms(method(which)), facts(&asked));
        for fact in &mut facts {
            fact.cancelled = Some(fact.day);
        }
        let found = history(&terms, &Start::default(), &facts).unwrap();
        prop_assert!(found.steps.is_empty());
        prop_assert!((0..facts.len()).all(|at| found.effect(at, day(28)) == Ok(Effect::default())));
    }
}

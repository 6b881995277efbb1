//! The worked examples, day by day.

#![cfg(test)]

use super::replay::Start;
use super::{Effect, Fact, Kind, Method, Side, Terms, first_shortage, history};
use std::collections::BTreeMap;
use words::day::Day;
use words::exact::BookCoin;
use words::ids::RecordId;
use words::money::{BookMoney, Quantity, Rounding, UnitPrice};

pub(super) fn terms(method: Method) -> Terms {
    Terms { method, coin: BookCoin::new(2, Rounding::HalfUp), first_cost: UnitPrice::ZERO }
}

fn line(name: &str) -> RecordId {
    RecordId(uuid::Uuid::from_u128(u128::from_be_bytes({
        let mut bytes = [0; 16];
        bytes[16 - name.len()..].copy_from_slice(name.as_bytes());
        bytes
    })))
}

fn day(text: &str) -> Day {
    format!("2026-{text}").parse().unwrap()
}

/// Such as `07-01 a receipt waits 10 100.00`; behind it `of=a`, `until=08-01` where it was cancelled, `place=1`.
fn fact(place: usize, text: &str) -> Fact {
    let words: Vec<&str> = text.split_whitespace().collect();
    let with = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    let kind = match words[2] {
        "receipt" => Kind::Receipt,
        "issue" => Kind::Issue,
        "back" => Kind::CustomerReturn,
        "sent-back" => Kind::SupplierReturn,
        "dearer" => Kind::CostChange,
        "bill" => Kind::Bill,
        "invoice" => Kind::Invoice,
        "credit" => Kind::Credit,
        "standard" => Kind::Standard,
        strange => panic!("{strange}"),
    };
    let side = match words[3] {
        "document" => Side::Document,
        "waits" => Side::Waits,
        "cost" => Side::Cost,
        strange => panic!("{strange}"),
    };
    Fact {
        line: line(words[1]),
        day: day(words[0]),
        place: with("place=").map_or(i64::try_from(place).unwrap() * 10, |place| place.parse().unwrap()),
        kind,
        side,
        quantity: Quantity::parse(words[4]).unwrap(),
        amount: BookMoney::parse(words[5]).unwrap(),
        standard: (kind == Kind::Standard).then(|| UnitPrice::parse(words[5]).unwrap()),
        of: with("of=").map(line),
        cancelled: with("until=").map(day),
    }
}

pub(super) fn facts(text: &[&str]) -> Vec<Fact> {
    text.iter().enumerate().map(|(place, text)| fact(place, text)).collect()
}

/// Day by day: stock, what waits, cost and variance, then what is there.
fn told(method: Method, text: &[&str]) -> Vec<String> {
    let facts = facts(text);
    let found = history(&terms(method), &Start::default(), &facts).unwrap();
    // What a new standard cost moves stands on an account of its own.
    let mut days: BTreeMap<Day, [Effect; 2]> = BTreeMap::new();
    for step in &found.steps {
        let sums = days.entry(step.day).or_default();
        let sum = &mut sums[usize::from(facts[step.fact].kind == Kind::Standard)];
        *sum = sum.plus(step.by).unwrap();
    }
    let mut lines = Vec::new();
    for (day, state) in &found.states {
        let [by, adjusted] = days.get(day).copied().unwrap_or_default();
        let by = Effect { stock: super::add(by.stock, adjusted.stock).unwrap(), ..by };
        let named =
            [("INV", by.stock), ("WAITS", by.waits), ("COST", by.cost), ("VAR", by.variance), ("ADJ", adjusted.cost)];
        let moved: Vec<String> = named
            .iter()
            .filter(|(_, amount)| *amount != BookMoney::ZERO)
            .map(|(name, amount)| format!("{name} {}", amount.with_decimals(2)))
            .collect();
        lines.push(format!(
            "{}: {}{}{} = {}",
            &day.to_string()[5..],
            moved.join(", "),
            if moved.is_empty() { "" } else { "; " },
            state.quantity,
            state.value.with_decimals(2)
        ));
    }
    lines
}

struct Case {
    name: &'static str,
    method: Method,
    facts: &'static [&'static str],
    days: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        name: "3.1: what is billed dearer in August changes August, whatever comes late for July",
        method: Method::Average,
        facts: &[
            "07-01 a receipt waits 10 100",
            "07-05 b issue cost 5 0",
            "08-20 c bill document 10 200 of=a",
            "07-03 d receipt document 10 100",
        ],
        days: &[
            "07-01: INV 100.00, WAITS -100.00; 10 = 100.00",
            "07-03: INV 100.00; 20 = 200.00",
            "07-05: INV -50.00, COST 50.00; 15 = 150.00",
            "08-20: INV 75.00, WAITS 100.00, COST 25.00; 15 = 225.00",
        ],
    },
    Case {
        name: "3.2: what waited then waits dearer, and is a cost of the invoice",
        method: Method::Average,
        facts: &[
            "01-01 a receipt document 10 50",
            "02-10 b issue waits 4 0",
            "03-10 c invoice cost 4 0 of=b",
            "02-01 d receipt document 10 70",
        ],
        days: &[
            "01-01: INV 50.00; 10 = 50.00",
            "02-01: INV 70.00; 20 = 120.00",
            "02-10: INV -24.00, WAITS 24.00; 16 = 96.00",
            "03-10: WAITS -24.00, COST 24.00; 16 = 96.00",
        ],
    },
    Case {
        name: "3.3: first in, first out: what goes back goes from its own layer",
        method: Method::Fifo,
        facts: &["01-01 a receipt document 10 80", "01-05 b receipt waits 10 200", "01-06 c sent-back waits 10 0 of=b"],
        days: &[
            "01-01: INV 80.00; 10 = 80.00",
            "01-05: INV 200.00, WAITS -200.00; 20 = 280.00",
            "01-06: INV -200.00, WAITS 200.00; 10 = 80.00",
        ],
    },
    Case {
        name: "3.4: standard cost, and a new one",
        method: Method::Standard,
        facts: &[
            "01-01 s standard cost 0 10",
            "03-10 t standard cost 0 11",
            "03-01 a receipt document 5 52",
            "03-15 b issue cost 2 0",
            "03-05 c receipt document 4 42",
        ],
        days: &[
            "01-01: 0 = 0.00",
            "03-01: INV 50.00, VAR 2.00; 5 = 50.00",
            "03-05: INV 40.00, VAR 2.00; 9 = 90.00",
            "03-10: INV 9.00, ADJ -9.00; 9 = 99.00",
            "03-15: INV -22.00, COST 22.00; 7 = 77.00",
        ],
    },
    Case {
        name: "a new standard cost counts before what moved on its day",
        method: Method::Standard,
        facts: &[
            "01-01 s standard cost 0 10",
            "03-01 a receipt document 5 50",
            "03-10 b issue cost 2 0",
            "03-10 t standard cost 0 11",
        ],
        days: &[
            "01-01: 0 = 0.00",
            "03-01: INV 50.00; 5 = 50.00",
            "03-10: INV -17.00, COST 22.00, ADJ -5.00; 3 = 33.00",
        ],
    },
    Case {
        name: "3.5: landed cost goes to stock and to what was sold of it",
        method: Method::Average,
        facts: &[
            "01-02 a receipt document 10 80",
            "01-03 b receipt document 20 240",
            "01-10 c issue cost 6 0",
            "01-20 d dearer document 0 8 of=a",
            "01-20 e dearer document 0 24 of=b",
        ],
        days: &[
            "01-02: INV 80.00; 10 = 80.00",
            "01-03: INV 240.00; 30 = 320.00",
            "01-10: INV -64.00, COST 64.00; 24 = 256.00",
            "01-20: INV 25.60, COST 6.40; 24 = 281.60",
        ],
    },
    Case {
        name: "3.6: a rebate makes stock and what was sold cheaper",
        method: Method::Average,
        facts: &["01-02 a receipt document 10 100", "01-10 b issue cost 4 0", "02-15 c dearer document 0 -15 of=a"],
        days: &[
            "01-02: INV 100.00; 10 = 100.00",
            "01-10: INV -40.00, COST 40.00; 6 = 60.00",
            "02-15: INV -9.00, COST -6.00; 6 = 51.00",
        ],
    },
    Case {
        name: "3.8: what waits, what is invoiced and what is there each take their share of what is billed dearer",
        method: Method::Average,
        facts: &[
            "01-01 a receipt waits 10 50",
            "02-10 b issue waits 4 0",
            "03-10 c invoice cost 1 0 of=b",
            "03-20 d bill document 10 60 of=a",
        ],
        days: &[
            "01-01: INV 50.00, WAITS -50.00; 10 = 50.00",
            "02-10: INV -20.00, WAITS 20.00; 6 = 30.00",
            "03-10: WAITS -5.00, COST 5.00; 6 = 30.00",
            "03-20: INV 6.00, WAITS 53.00, COST 1.00; 6 = 36.00",
        ],
    },
    Case {
        name: "3.9: what is voided on a later day changes that day",
        method: Method::Average,
        facts: &[
            "01-02 a receipt document 10 50",
            "01-03 b receipt document 10 70 until=02-01",
            "01-15 c issue cost 4 0",
        ],
        days: &[
            "01-02: INV 50.00; 10 = 50.00",
            "01-03: INV 70.00; 20 = 120.00",
            "01-15: INV -24.00, COST 24.00; 16 = 96.00",
            "02-01: INV -66.00, COST -4.00; 6 = 30.00",
        ],
    },
    Case {
        name: "3.10: a late receipt fills the hole, and nothing is left to correct",
        method: Method::Average,
        facts: &[
            "01-02 a receipt document 3 17.4",
            "01-05 b issue cost 5 0",
            "01-09 c receipt document 10 65",
            "01-04 d receipt document 2 12.4",
        ],
        days: &[
            "01-02: INV 17.40; 3 = 17.40",
            "01-04: INV 12.40; 5 = 29.80",
            "01-05: INV -29.80, COST 29.80; 0 = 0.00",
            "01-09: INV 65.00; 10 = 65.00",
        ],
    },
    Case {
        name: "3.10 before the late receipt: the hole is corrected on the day on which it is filled",
        method: Method::Average,
        facts: &["01-02 a receipt document 3 17.4", "01-05 b issue cost 5 0", "01-09 c receipt document 10 65"],
        days: &[
            "01-02: INV 17.40; 3 = 17.40",
            "01-05: INV -29.00, COST 29.00; -2 = -11.60",
            "01-09: INV 63.60, COST 1.40; 8 = 52.00",
        ],
    },
    Case {
        name: "3.11: part goes back, the rest is billed dearer",
        method: Method::Fifo,
        facts: &["01-02 a receipt waits 10 80", "01-05 b sent-back waits 4 0 of=a", "01-20 c bill document 6 51 of=a"],
        days: &[
            "01-02: INV 80.00, WAITS -80.00; 10 = 80.00",
            "01-05: INV -32.00, WAITS 32.00; 6 = 48.00",
            "01-20: INV 3.00, WAITS 48.00; 6 = 51.00",
        ],
    },
    Case {
        name: "4.5: goods that cost 10.00 for 3 come back one by one, and nothing is left",
        method: Method::Average,
        facts: &[
            "01-02 a receipt document 3 10",
            "01-03 b issue cost 3 0",
            "01-04 c back cost 1 0 of=b",
            "01-05 d back cost 1 0 of=b",
            "01-06 e back cost 1 0 of=b",
        ],
        days: &[
            "01-02: INV 10.00; 3 = 10.00",
            "01-03: INV -10.00, COST 10.00; 0 = 0.00",
            "01-04: INV 3.33, COST -3.33; 1 = 3.33",
            "01-05: INV 3.34, COST -3.34; 2 = 6.67",
            "01-06: INV 3.33, COST -3.33; 3 = 10.00",
        ],
    },
    Case {
        name: "4.10: one of three delivered comes back, the rest is invoiced",
        method: Method::Average,
        facts: &[
            "01-02 a receipt document 3 10",
            "01-03 b issue waits 3 0",
            "01-04 c back waits 1 0 of=b",
            "01-05 d invoice cost 2 0 of=b",
        ],
        days: &[
            "01-02: INV 10.00; 3 = 10.00",
            "01-03: INV -10.00, WAITS 10.00; 0 = 0.00",
            "01-04: INV 3.33, WAITS -3.33; 1 = 3.33",
            "01-05: WAITS -6.67, COST 6.67; 1 = 3.33",
        ],
    },
    Case {
        name: "what comes back after its invoice waits for its credit",
        method: Method::Average,
        facts: &[
            "01-02 a receipt document 3 10",
            "01-03 b issue waits 3 0",
            "01-04 c invoice cost 2 0 of=b",
            "01-05 d back waits 2 0 of=b",
            "01-06 e credit waits 1 0 of=b",
        ],
        days: &[
            "01-02: INV 10.00; 3 = 10.00",
            "01-03: INV -10.00, WAITS 10.00; 0 = 0.00",
            "01-04: WAITS -6.67, COST 6.67; 0 = 0.00",
            // One waited yet, at 3.33; the other was invoiced, at half of 6.67.
            "01-05: INV 6.67, WAITS -6.67; 2 = 6.67",
            "01-06: WAITS 3.34, COST -3.34; 2 = 6.67",
        ],
    },
    Case {
        name: "a bill before its goods stands where they will wait, and an invoice before them has no cost",
        method: Method::Average,
        facts: &[
            "02-01 c bill document 10 120 of=a",
            "02-03 d invoice cost 2 0 of=b",
            "02-05 a receipt waits 10 100",
            "02-06 b issue waits 4 0",
        ],
        days: &[
            "02-01: WAITS 120.00; 0 = 0.00",
            "02-03: 0 = 0.00",
            "02-05: INV 120.00, WAITS -120.00; 10 = 120.00",
            "02-06: INV -48.00, WAITS 24.00, COST 24.00; 6 = 72.00",
        ],
    },
    Case {
        name: "landed cost of goods that are to come enters stock with them",
        method: Method::Fifo,
        facts: &["02-01 c dearer document 0 20 of=a", "02-05 a receipt waits 10 100", "02-06 b issue cost 5 0"],
        days: &[
            "02-01: WAITS 20.00; 0 = 0.00",
            "02-05: INV 120.00, WAITS -120.00; 10 = 120.00",
            "02-06: INV -60.00, COST 60.00; 5 = 60.00",
        ],
    },
    Case {
        name: "what a supplier takes back at a lower price than it cost is a variance",
        method: Method::Average,
        facts: &[
            "01-10 a receipt document 10 40",
            "01-11 b receipt document 10 60",
            "01-12 c sent-back document 2 10 of=b",
        ],
        days: &[
            "01-10: INV 40.00; 10 = 40.00",
            "01-11: INV 60.00; 20 = 100.00",
            "01-12: INV -12.00, VAR 2.00; 18 = 88.00",
        ],
    },
    Case {
        name: "what came back before its invoice's day has no cost of its own twice",
        method: Method::Average,
        facts: &[
            "01-02 a receipt document 10 100",
            "01-03 b issue waits 10 0",
            "03-01 c invoice cost 10 0 of=b",
            "02-10 d back waits 4 0 of=b",
            "03-02 e credit waits 4 0 of=b",
        ],
        days: &[
            "01-02: INV 100.00; 10 = 100.00",
            "01-03: INV -100.00, WAITS 100.00; 0 = 0.00",
            "02-10: INV 40.00, WAITS -40.00; 4 = 40.00",
            "03-01: WAITS -60.00, COST 60.00; 4 = 40.00",
            "03-02: 4 = 40.00",
        ],
    },
    Case {
        name: "a whole uninvoiced delivery, a late first layer and a dear bill: each day knows its own",
        method: Method::Fifo,
        facts: &[
            "07-01 a receipt waits 10 100",
            "07-05 b issue waits 5 0",
            "07-10 i invoice cost 2 0 of=b",
            "08-20 c bill document 10 200 of=a",
            "06-30 d receipt document 3 30",
        ],
        days: &[
            "06-30: INV 30.00; 3 = 30.00",
            "07-01: INV 100.00, WAITS -100.00; 13 = 130.00",
            "07-05: INV -50.00, WAITS 50.00; 8 = 80.00",
            "07-10: WAITS -20.00, COST 20.00; 8 = 80.00",
            "08-20: INV 80.00, WAITS 112.00, COST 8.00; 8 = 160.00",
        ],
    },
];

#[test]
fn stock_is_what_the_worked_examples_say_on_every_day() {
    for case in CASES {
        assert_eq!(told(case.method, case.facts), case.days, "{}", case.name);
    }
}

#[test]
fn what_is_missing_is_found_on_the_first_day_that_saw_it() {
    let short = |before: &[&str], after: &[&str], from: &str| {
        let found =
            first_shortage((Quantity::ZERO, &facts(before)), (Quantity::ZERO, &facts(after)), day(from)).unwrap();
        found.map(|short| format!("{} {}", &short.day.to_string()[5..], short.missing))
    };
    let bought = "03-01 a receipt document 10 100";
    let sold = "03-02 b issue cost 4 0";
    // 3.7: moved behind the sale, and voided.
    let moved = [bought, sold].map(ToOwned::to_owned).map(|text| text.replace("03-01", "03-05"));
    let moved: Vec<&str> = moved.iter().map(String::as_str).collect();
    assert_eq!(short(&[bought, sold], &moved, "03-01").as_deref(), Some("03-02 4"));
    assert_eq!(short(&[bought, sold], &[&format!("{bought} until=03-01"), sold], "03-01").as_deref(), Some("03-02 4"));
    // A void on a later day leaves the sale covered on its own day, and something missing on its own.
    let later = format!("{bought} until=04-01");
    assert_eq!(short(&[bought, sold], &[&later, sold], "03-01").as_deref(), Some("04-01 4"));
    // A hole that was there before is nobody's fault; a deeper one is.
    assert_eq!(short(&[sold], &[sold, "03-03 c receipt document 1 10"], "03-01"), None);
    assert_eq!(short(&[sold], &[sold, "03-03 c issue cost 1 0"], "03-01").as_deref(), Some("03-03 5"));
    // A new version on the same day keeps its place before the sale of that day.
    let same_day = "03-01 b issue cost 4 0";
    let again = "03-01 a receipt document 9 90 place=0";
    let gone = format!("{bought} until=03-01");
    assert_eq!(short(&[bought, same_day], &[&gone, same_day, again], "03-01"), None);
    assert_eq!(
        short(&[bought, same_day], &[&gone, same_day, &again.replace("place=0", "place=90")], "03-01").as_deref(),
        Some("03-01 4")
    );
}

#[test]
fn what_is_left_of_a_line_is_told_by_the_facts_that_name_it() {
    let all = [
        "01-02 a receipt document 10 60",
        "01-03 b issue waits 4 0 until=01-03",
        "01-03 b issue waits 6 0",
        "01-04 c invoice cost 2 0 of=b",
        "01-05 d back waits 1 0 of=b",
    ];
    let found = history(&terms(Method::Average), &Start::default(), &facts(&all)).unwrap();
    let cost = Some(BookMoney::parse("36").unwrap());
    let alone = super::pools_of(&terms(Method::Average), line("b"), &facts(&all[1..]), cost).unwrap();
    assert_eq!(alone, found.pools[&line("b")]);
    assert_eq!(
        (alone.waiting.quantity, alone.waiting.cost),
        (Quantity::parse("3").unwrap(), BookMoney::parse("18").unwrap())
    );
}

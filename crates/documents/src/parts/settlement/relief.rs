//! What an allocation relieves and posts: rules without a database, tested by tables.
//!
//! Each side is relieved of its share of what it is carried at; the last share takes what is left, so that nothing stays
//! behind. What the two sides were carried at differently is a gain or a loss.

use crate::money::{BookMoney, Funds, Money};
use books::chart::Chart;
use rules::exchange::Home;
use rules::postable::{Free, Postable, TaxAccount};
use rules::posting::{About, Line, Unposted};
use rules::tax::figures::{TooLarge, minus, plus};
use schema::tables::open_items;
use words::exact::Exact;
use words::sown::{Fault, sown};

/// Where what is taken off goes.
pub(crate) struct Accounts {
    pub(crate) discount: Free,
    pub(crate) write_off: Free,
    pub(crate) withheld: TaxAccount,
    pub(crate) exchange: Free,
}

/// What is taken of each side.
pub(crate) struct Taken {
    /// Of what settles, in its currency.
    pub(crate) used: Money,
    /// Of what is settled, in its currency, with all that is taken off beside the amount.
    pub(crate) settled: Money,
    pub(crate) discount: Money,
    pub(crate) write_off: Money,
    pub(crate) withheld: Money,
}

/// What comes of it, in the company's currency.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Relief {
    pub(crate) source_base: BookMoney,
    pub(crate) target_base: BookMoney,
    /// A loss is negative.
    pub(crate) gain: BookMoney,
    pub(crate) lines: Vec<Line>,
    /// What is taken off.
    pub(crate) discount: Option<OffLine>,
    pub(crate) write_off: Option<OffLine>,
    pub(crate) withheld: Option<OffLine>,
}

/// Something that is taken off: the place of its line, where that stands, and what it is in the company's currency.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OffLine {
    pub(crate) place: usize,
    pub(crate) to: Postable,
    pub(crate) home: BookMoney,
}

/// What a part of an open item is carried at. The last part takes what is left.
fn relieved(item: &open_items::Model, part: Money, home: Home<'_>) -> Result<BookMoney, TooLarge> {
    let (open, carried) = (item.open.size(), item.base_open.size());
    if part == open {
        return Ok(carried);
    }
    Exact::from(carried).times(part)?.over(open)?.round(home.coin)
}

/// What is kept back: at the rate of the money that is settled with, where it is of another currency.
fn with_money(
    target: &open_items::Model,
    source_base: BookMoney,
    taken: &Taken,
    home: Home<'_>,
) -> Result<BookMoney, TooLarge> {
    if taken.withheld == Money::ZERO {
        return Ok(BookMoney::ZERO);
    }
    if target.currency == home.currency && !sown(Fault::KeptBackAtARate) {
        // Of a debt in the company's own currency it is what it says, whatever the debt is paid with.
        return Ok(taken.withheld.at_par());
    }
    let off = plus(plus(taken.discount, taken.write_off)?, taken.withheld)?;
    let money = minus(taken.settled, off)?;
    Exact::from(source_base).times(taken.withheld)?.over(money)?.round(home.coin)
}

/// Relieves both sides, each larger than 0 on its own.
pub(crate) fn relieve(
    source: &open_items::Model,
    target: &open_items::Model,
    taken: &Taken,
    (chart, accounts): (&Chart, &Accounts),
    home: Home<'_>,
) -> Result<Relief, Unposted> {
    // Written for a target that is a debit; turned round for one that is a credit.
    let side = |item: &open_items::Model, base: BookMoney, own: Money| -> Result<Line, Unposted> {
        let amount = home.carried(own, &item.currency, base);
        Ok(Line::on(chart.standing_debt(item.account_id, item.party_id.as_written())?, amount, About::default())?)
    };
    let in_base = |to: Postable, amount: BookMoney| Line::on(to, home.alone(turned(target, amount)), About::default());
    let (source_base, mut target_base) = (relieved(source, taken.used, home)?, relieved(target, taken.settled, home)?);
    if sown(Fault::RelievedAtTodaysRate) && taken.used == taken.settled {
        target_base = source_base;
    }
    let of_target = (turned(target, target_base).negated(), turned(target, taken.settled).negated());
    let of_source = (turned(target, source_base), turned(target, taken.used));
    let mut lines = if (target.account_id, &target.currency) == (source.account_id, &source.currency) {
        vec![side(target, plus(of_target.0, of_source.0)?, plus(of_target.1, of_source.1)?)?]
    } else {
        vec![side(target, of_target.0, of_target.1)?, side(source, of_source.0, of_source.1)?]
    };
    // What is taken off is carried at its share of the target.
    let mut left = target_base;
    let mut taken_off = |amount: Money, home: BookMoney, to: Postable, lines: &mut Vec<Line>| {
        let place = lines.len();
        if amount == Money::ZERO {
            return Ok::<_, Unposted>(None);
        }
        left = minus(left, home)?;
        lines.push(in_base(to.clone(), home)?);
        Ok(Some(OffLine { place, to, home }))
    };
    let (given, bad, kept) = (accounts.discount.clone(), accounts.write_off.clone(), accounts.withheld.clone());
    let discount_home = relieved(target, taken.discount, home)?;
    let discount = taken_off(taken.discount, Ord::min(discount_home, target_base), given.into(), &mut lines)?;
    let rest = match &discount {
        Some(off) => minus(target_base, off.home)?,
        None => target_base,
    };
    let write_off_home = Ord::min(relieved(target, taken.write_off, home)?, rest);
    let write_off = taken_off(taken.write_off, write_off_home, bad.into(), &mut lines)?;
    // What is kept back is worth what the money is that comes with it.
    let withheld = taken_off(taken.withheld, with_money(target, source_base, taken, home)?, kept.into(), &mut lines)?;
    let difference = minus(left, source_base)?;
    if difference != BookMoney::ZERO {
        lines.push(in_base(accounts.exchange.clone().into(), difference)?);
    }
    let gain = turned(target, difference).negated();
    Ok(Relief { source_base, target_base, gain, lines, discount, write_off, withheld })
}

/// Said of a target that is a debit; turned round for one that is a credit.
fn turned<F: Funds>(target: &open_items::Model, amount: F) -> F {
    if target.amount.is_negative() { amount.negated() } else { amount }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, id, item, money, worth};
    use rules::posting::Posting;
    use rules::purpose::Purpose;
    use std::collections::BTreeMap;

    /// What it posts, and the gain.
    fn settled(source: &open_items::Model, target: &open_items::Model, amounts: [&str; 4]) -> String {
        let [amount, discount, write_off, withheld] = amounts.map(money);
        let sum = [amount, discount, write_off, withheld].into_iter().map(Money::units).sum();
        let taken = Taken { used: amount, settled: Money::from_units(sum), discount, write_off, withheld };
        let sides = if target.amount.is_negative() { (4800, 4800, 2210) } else { (6820, 6810, 1410) };
        let chart = books::chart::sample();
        let free = |code| chart.free(id(code), Purpose::WriteOff).unwrap();
        let accounts = Accounts {
            discount: free(sides.0),
            write_off: free(sides.1),
            withheld: chart.tax(id(sides.2)).unwrap(),
            exchange: free(4900),
        };
        let relief = relieve(source, target, &taken, (&chart, &accounts), HOME).unwrap();
        let posting = Posting::summing_up(relief.lines).unwrap();
        let mut sums: BTreeMap<u128, i64> = BTreeMap::new();
        for line in posting.lines() {
            *sums.entry(line.account().0.as_u128()).or_default() += line.amount().units();
        }
        let mut text: Vec<String> =
            sums.into_iter().map(|(code, sum)| format!("{code} {}", BookMoney::from_units(sum))).collect();
        text.push(format!("gain {}", relief.gain));
        text.join("; ")
    }

    #[test]
    fn what_is_settled_is_relieved_as_the_worked_examples_say() {
        let (eur, usd) = ("EUR", "USD");
        for (name, source, target, amounts, expected) in [
            ("E4a", item(1200, eur, "-150", "-150"), item(1200, eur, "120", "120"), ["120", "0", "0", "0"], "gain 0"),
            (
                "E4b",
                item(2300, eur, "-150", "-150"),
                item(1200, eur, "120", "120"),
                ["120", "0", "0", "0"],
                "1200 -120; 2300 120; gain 0",
            ),
            (
                "E5",
                item(1200, usd, "-1000", "-930"),
                item(1200, usd, "1000", "900"),
                ["1000", "0", "0", "0"],
                "1200 30; 4900 -30; gain 30",
            ),
            (
                "E6, the first part",
                item(1200, usd, "-400", "-372"),
                item(1200, usd, "1000", "900"),
                ["400", "0", "0", "0"],
                "1200 12; 4900 -12; gain 12",
            ),
            (
                "E6, the last part",
                item(1200, usd, "-600", "-528"),
                item(1200, usd, "600", "540"),
                ["600", "0", "0", "0"],
                "1200 -12; 4900 12; gain -12",
            ),
            (
                "E18",
                item(2100, eur, "980", "980"),
                item(2100, eur, "-1000", "-1000"),
                ["980", "20", "0", "0"],
                "2100 20; 4800 -20; gain 0",
            ),
            (
                "T15, a payable that became cheaper",
                item(2100, usd, "1000", "880"),
                item(2100, usd, "-1000", "-900"),
                ["1000", "0", "0", "0"],
                "2100 20; 4900 -20; gain 20",
            ),
            (
                "T15, a refund of a credit",
                item(1200, usd, "100", "95"),
                item(1200, usd, "-100", "-90"),
                ["100", "0", "0", "0"],
                "1200 -5; 4900 5; gain -5",
            ),
            (
                "everything at once",
                item(1200, usd, "-70", "-66.5"),
                item(1200, usd, "100", "90"),
                ["70", "10", "15", "5"],
                "1200 -23.5; 1410 4.75; 4900 -3.75; 6810 13.5; 6820 9; gain 3.75",
            ),
            (
                "a debt in euros, paid in as many dollars; what is kept back of it is so many euros",
                item(1200, usd, "-95", "-93"),
                item(1200, eur, "100", "100"),
                ["95", "0", "0", "5"],
                "1200 -7; 1410 5; 4900 2; gain -2",
            ),
        ] {
            assert_eq!(settled(&source, &target, amounts), expected, "{name}");
        }
    }

    #[test]
    fn a_part_of_trillions_is_exact_to_the_coin() {
        for (open, base, part, expected) in [
            // Just below the half of a coin, by less than 28 digits can tell.
            ("900000000000000", "900000000000000", "450000000000000", "450000000000000"),
            ("899999999999999.99", "449999999999999.99", "0.01", "0"),
            ("900000000000001", "450000000000000.50", "0.01", "0.01"),
            ("900000000000001.01", "450000000000000.50", "0.01", "0"),
        ] {
            let open = item(1200, "USD", open, base);
            assert_eq!(relieved(&open, money(part), HOME).unwrap(), worth(expected), "{part}");
        }
    }

    #[test]
    fn the_last_part_takes_what_is_left() {
        let mut open = item(1200, "USD", "100", "33.33");
        for (part, expected) in [("33.33", "11.11"), ("33.33", "11.11"), ("33.34", "11.11")] {
            let base = relieved(&open, money(part), HOME).unwrap();
            assert_eq!(base, worth(expected));
            open.open = open.open.checked_sub(money(part)).unwrap();
            open.base_open = open.base_open.checked_sub(base).unwrap();
        }
        assert_eq!((open.open, open.base_open), (Money::ZERO, BookMoney::ZERO));
    }
}

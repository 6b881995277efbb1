//! What of a document counts once so much of it is settled: the function behind tax on cash basis and statements on it.
//!
//! A share is taken of what is left, settlement by settlement in the order of days, and the last one takes the rest.

use words::exact::{BookCoin, Exact, TooLarge};
use words::money::{BookMoney, Money};
use words::sown::{Fault, sown};

/// What a part of a document comes to, in the company's currency.
pub type Figures = [BookMoney; 3];

/// A part of a document, as it is shared.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub figures: Figures,
    /// Which of its figures the other side pays.
    pub paid: [bool; 3],
    /// Whether its first figure may take an odd coin.
    pub leads: bool,
}

/// A settlement of a document: how much, in the document's currency, and whether it counts or lapses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settlement {
    pub amount: Money,
    pub counts: bool,
}

fn share(amount: BookMoney, settled: Money, of: Money, coin: BookCoin) -> Result<BookMoney, TooLarge> {
    if settled == of { Ok(amount) } else { Exact::from(amount).times(settled)?.over(of)?.round(coin) }
}

fn paid(parts: &[Part], figures: &[Figures]) -> Result<BookMoney, TooLarge> {
    let of_part = |(part, figures): (&Part, &Figures)| {
        let pays = part.paid;
        figures.iter().copied().zip(pays).filter(|(_, pays)| *pays).map(|(figure, _)| figure).collect::<Vec<_>>()
    };
    BookMoney::sum(parts.iter().zip(figures).flat_map(of_part))
}

/// What of a document counts after its settlements, part by part.
pub fn due(parts: &[Part], whole: Money, settlements: &[Settlement], coin: BookCoin) -> Result<Vec<Figures>, TooLarge> {
    let mut left: Vec<Figures> = parts.iter().map(|part| part.figures).collect();
    if sown(Fault::CashCountsWhenInvoiced) {
        return Ok(left);
    }
    let mut due = vec![[BookMoney::ZERO; 3]; parts.len()];
    let mut open = whole;
    for settlement in settlements {
        let settled = Ord::min(settlement.amount, open);
        if settled <= Money::ZERO {
            continue;
        }
        let wanted = share(paid(parts, &left)?, settled, open, coin)?;
        let mut taken = Vec::with_capacity(left.len());
        for figures in &left {
            let [first, second, third] = figures.map(|figure| share(figure, settled, open, coin));
            taken.push([first?, second?, third?]);
        }
        // Bases and charged taxes add up to what was settled: the largest base takes the odd coin.
        let odd = wanted.minus(paid(parts, &taken)?)?;
        let size = |place: &usize| taken.get(*place).map(|[base, ..]| base.units().abs());
        let largest = (0..parts.len()).filter(|place| parts[*place].leads).max_by_key(size);
        if let Some([base, ..]) = largest.and_then(|place| taken.get_mut(place)) {
            *base = base.plus(odd)?;
        }
        for ((left, due), taken) in left.iter_mut().zip(&mut due).zip(taken) {
            for ((left, due), taken) in left.iter_mut().zip(due).zip(taken) {
                *left = left.minus(taken)?;
                if settlement.counts || sown(Fault::LapsedIsDue) {
                    *due = due.plus(taken)?;
                }
            }
        }
        open = open.minus(settled)?;
    }
    Ok(due)
}

#[cfg(test)]
mod tests {
    use super::*;
    use words::money::Rounding;

    fn money(cents: i64) -> Money {
        Money::from_units(cents * 100)
    }

    fn part(base: i64, tax: i64) -> Part {
        Part { figures: [money(base).at_par(), money(tax).at_par(), BookMoney::ZERO], paid: [true; 3], leads: true }
    }

    #[test]
    fn what_counts_is_the_share_that_is_settled() {
        let counts = |cents: i64| Settlement { amount: money(cents), counts: true };
        let lapses = |cents: i64| Settlement { amount: money(cents), counts: false };
        let coin = BookCoin::new(2, Rounding::HalfUp);
        for (name, parts, whole, settlements, expected) in [
            ("2.12, April", vec![part(100_000, 19_000)], 119_000, vec![counts(59_500)], vec![(50_000, 9_500)]),
            (
                "2.12, all of it",
                vec![part(100_000, 19_000)],
                119_000,
                vec![counts(59_500), counts(23_800), counts(35_700)],
                vec![(100_000, 19_000)],
            ),
            (
                "2.17, a part and what was written off",
                vec![part(100_000, 19_000)],
                119_000,
                vec![counts(69_000), lapses(50_000)],
                vec![(57_983, 11_017)],
            ),
            (
                "a discount that reduces no tax",
                vec![part(100_000, 19_000)],
                119_000,
                vec![counts(116_620), lapses(2_380)],
                vec![(98_000, 18_620)],
            ),
            (
                "J4, shares in turn",
                vec![part(100_000, 20_000)],
                120_000,
                vec![counts(50_000), counts(33_333)],
                vec![(69_444, 13_889)],
            ),
            (
                "the largest base takes the odd coin",
                vec![part(3_333, 0), part(3_333, 0), part(3_334, 0)],
                10_000,
                vec![counts(100)],
                vec![(33, 0), (33, 0), (34, 0)],
            ),
            ("nothing", vec![part(100, 19)], 119, vec![], vec![(0, 0)]),
        ] {
            let due = due(&parts, money(whole), &settlements, coin).unwrap();
            let due: Vec<(i64, i64)> =
                due.into_iter().map(|[base, tax, _]| (base.units() / 100, tax.units() / 100)).collect();
            assert_eq!(due, expected, "{name}");
        }
    }

    #[test]
    fn amounts_of_trillions_are_shared_like_small_ones() {
        let large = Money::from_units(4_000_000_000_000_000_000);
        let quarter = Money::from_units(1_000_000_000_000_000_000);
        let coin = BookCoin::new(0, Rounding::HalfUp);
        assert_eq!(share(large.at_par(), quarter, large, coin), Ok(quarter.at_par()));
    }
}

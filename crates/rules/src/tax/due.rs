//! What of a document counts once so much of it is settled: the function behind tax on cash basis and statements on it.
//!
//! A share is taken of what is left, settlement by settlement in the order of days, and the last one takes the rest. What
//! will never be paid will never count: its share lapses. So nothing waits any more once a document is settled whole.

use words::exact::{BookCoin, Exact, TooLarge};
use words::ids::RecordId;
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
    pub counts: Counts,
}

/// What becomes of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    Counts,
    /// Nobody will ever pay it: so much of it was given away, and so much let go, on these accounts.
    Lapses([(RecordId, Money); 2]),
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

/// What each settlement takes of a document, part by part.
fn shares(
    parts: &[Part],
    whole: Money,
    settlements: &[Settlement],
    coin: BookCoin,
) -> Result<Vec<Vec<Figures>>, TooLarge> {
    let mut left: Vec<Figures> = parts.iter().map(|part| part.figures).collect();
    let (mut open, mut shares) = (whole, Vec::with_capacity(settlements.len()));
    for settlement in settlements {
        let settled = Ord::min(settlement.amount, open);
        if settled <= Money::ZERO {
            shares.push(vec![[BookMoney::ZERO; 3]; parts.len()]);
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
        for (left, taken) in left.iter_mut().zip(&taken) {
            for (left, taken) in left.iter_mut().zip(taken) {
                *left = left.minus(*taken)?;
            }
        }
        open = open.minus(settled)?;
        shares.push(taken);
    }
    Ok(shares)
}

fn add(sums: &mut [Figures], shares: &[Figures]) -> Result<(), TooLarge> {
    for (sum, share) in sums.iter_mut().flatten().zip(shares.iter().flatten()) {
        *sum = sum.plus(*share)?;
    }
    Ok(())
}

/// What of a document counts after its settlements, part by part.
pub fn due(parts: &[Part], whole: Money, settlements: &[Settlement], coin: BookCoin) -> Result<Vec<Figures>, TooLarge> {
    if sown(Fault::CashCountsWhenInvoiced) {
        return Ok(parts.iter().map(|part| part.figures).collect());
    }
    let mut due = vec![[BookMoney::ZERO; 3]; parts.len()];
    for (settlement, shares) in settlements.iter().zip(shares(parts, whole, settlements, coin)?) {
        if settlement.counts == Counts::Counts || sown(Fault::LapsedIsDue) {
            add(&mut due, &shares)?;
        }
    }
    Ok(due)
}

/// What of it lapsed, by the accounts of what was let go or given away, part by part.
pub fn lapsed(
    parts: &[Part],
    whole: Money,
    settlements: &[Settlement],
    coin: BookCoin,
) -> Result<Vec<(RecordId, Vec<Figures>)>, TooLarge> {
    let mut lapsed: Vec<(RecordId, Vec<Figures>)> = Vec::new();
    let none = settlements.iter().all(|settlement| settlement.counts == Counts::Counts);
    if none || sown(Fault::LapsedWaitsForEver) {
        return Ok(lapsed);
    }
    let mut add_to = |account: RecordId, shares: Vec<Figures>| {
        if let Some((_, sums)) = lapsed.iter_mut().find(|(known, _)| *known == account) {
            return add(sums, &shares);
        }
        lapsed.push((account, shares));
        Ok(())
    };
    for (settlement, shares) in settlements.iter().zip(shares(parts, whole, settlements, coin)?) {
        let Counts::Lapses([(given, part), (let_go, _)]) = settlement.counts else { continue };
        if settlement.amount == Money::ZERO {
            continue;
        }
        let (mut first, mut rest) = (shares.clone(), shares);
        for (first, rest) in first.iter_mut().flatten().zip(rest.iter_mut().flatten()) {
            *first = share(*first, part, settlement.amount, coin)?;
            *rest = rest.minus(*first)?;
        }
        add_to(given, first)?;
        add_to(let_go, rest)?;
    }
    Ok(lapsed)
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
        let counts = |cents: i64| Settlement { amount: money(cents), counts: Counts::Counts };
        let none = (RecordId::default(), Money::ZERO);
        let lapses = |cents: i64| Settlement { amount: money(cents), counts: Counts::Lapses([none, none]) };
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

    /// 2.17 lapsed: 100.00 and 19.00, of which 100.00 are received and 19.00 written off.
    #[test]
    fn what_counts_and_what_lapses_is_all_of_it_once_it_is_settled() {
        let account = |number: u128| RecordId(uuid::Uuid::from_u128(number));
        let counts = |cents: i64| Settlement { amount: money(cents), counts: Counts::Counts };
        let lapses = |given: i64, let_go: i64| Settlement {
            amount: money(given + let_go),
            counts: Counts::Lapses([(account(6820), money(given)), (account(6810), money(let_go))]),
        };
        let coin = BookCoin::new(2, Rounding::HalfUp);
        let told = |settlements: &[Settlement]| {
            let parts = vec![part(10_000, 1_900)];
            let tax = |figures: &[Figures]| figures[0][1].units() / 100;
            let due = tax(&due(&parts, money(11_900), settlements, coin).unwrap());
            let lapsed = lapsed(&parts, money(11_900), settlements, coin).unwrap();
            let lapsed: Vec<(u128, i64)> =
                lapsed.iter().map(|(account, figures)| (account.0.as_u128(), tax(figures))).collect();
            (due, lapsed)
        };
        assert_eq!(told(&[counts(10_000), lapses(0, 1_900)]), (1_597, vec![(6820, 0), (6810, 303)]));
        assert_eq!(told(&[lapses(0, 1_900)]), (0, vec![(6820, 0), (6810, 303)]));
        // What is given away and let go at once is one share, and both have their parts of it.
        assert_eq!(told(&[counts(10_000), lapses(1_000, 900)]), (1_597, vec![(6820, 159), (6810, 144)]));
        assert_eq!(
            told(&[lapses(1_000, 0), counts(5_000), lapses(0, 900), lapses(5_000, 0)]),
            (798, vec![(6820, 958), (6810, 144)])
        );
        assert_eq!(told(&[counts(11_900), lapses(0, 0)]), (1_900, vec![]));
        assert_eq!(told(&[counts(11_900)]), (1_900, vec![]));
    }

    #[test]
    fn amounts_of_trillions_are_shared_like_small_ones() {
        let large = Money::from_units(4_000_000_000_000_000_000);
        let quarter = Money::from_units(1_000_000_000_000_000_000);
        let coin = BookCoin::new(0, Rounding::HalfUp);
        assert_eq!(share(large.at_par(), quarter, large, coin), Ok(quarter.at_par()));
    }
}

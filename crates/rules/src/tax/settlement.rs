//! What a settlement does to the tax of what it settles: what is taken off reduces it, what is kept back is tax itself.

use super::TaxKind;
use super::credited::{NOTHING, with};
use super::exact::{Coin, Exact, hundredths, spread};
use super::facts::{TaxDuty, TaxFact, TaxOrigin, TaxSide};
use super::figures::{TooLarge, minus, plus};
use words::day::Day;
use words::exact::{BookCoin, Rounds};
use words::ids::RecordId;
use words::money::{BookMoney, Funds, Money};
use words::sown::{Fault, sown};
use words::sums::Figure as _;

/// A settlement, as facts are made of it.
#[derive(Debug, Clone, Copy)]
pub struct Settling {
    /// The document that is settled.
    pub document: RecordId,
    pub date: Day,
    /// Of the currency of what is settled.
    pub coin: Coin,
    /// Of the company's currency.
    pub home_coin: BookCoin,
}

/// An amount in the currency of what is settled, and in the company's.
#[derive(Debug, Clone, Copy)]
pub struct Off {
    pub own: Money,
    pub home: BookMoney,
}

/// Whether the tax of a fact is part of what the other side pays.
fn is_charged(fact: &TaxFact) -> bool {
    matches!(fact.kind, Some(TaxKind::Standard | TaxKind::FixedPerUnit)) && fact.duty != TaxDuty::None
}

/// What of each fact the other side pays, in the company's currency, which all of them have: a base and what of its tax is
/// a cost, then the tax that is charged.
fn weights(facts: &[TaxFact]) -> Vec<BookMoney> {
    let of = |fact: &TaxFact| {
        let charged = |amount: BookMoney| if is_charged(fact) { amount } else { BookMoney::ZERO };
        let base = if fact.leads { fact.home_base } else { BookMoney::ZERO };
        [base, charged(fact.not_recoverable), charged(fact.home_tax)]
    };
    facts.iter().flat_map(of).collect()
}

/// All that the other side pays of these.
pub(super) fn paid(facts: &[TaxFact]) -> Result<BookMoney, TooLarge> {
    BookMoney::sum(weights(facts))
}

/// Where nothing is left to take anything off. That it is reduced is told all the same: it will be by as much as there is.
pub(super) fn reduced_by_nothing(left: &[TaxFact], origin: TaxOrigin, settling: &Settling) -> Vec<TaxFact> {
    let nothing = |fact: &TaxFact| TaxFact {
        settles: Some(settling.document),
        origin,
        date: Ord::max(settling.date, fact.date),
        account: None,
        ..with(fact, NOTHING)
    };
    left.iter().map(nothing).collect()
}

/// What is taken off reduces the bases and the taxes that are left of a document, each in its share. What nobody
/// charged falls in the same share.
pub fn reduced(left: &[TaxFact], off: Off, origin: TaxOrigin, settling: &Settling) -> Result<Vec<TaxFact>, TooLarge> {
    if sown(Fault::DiscountKeepsItsTax) {
        return Ok(Vec::new());
    }
    let (weights, whole) = (weights(left), paid(left)?);
    if whole == BookMoney::ZERO {
        return Ok(reduced_by_nothing(left, origin, settling));
    }
    // More than what is left takes nothing else.
    let home = Ord::min(off.home, whole.size());
    let own = if home == off.home || sown(Fault::OffBeyondAll) {
        off.own
    } else {
        Exact::from(off.own).times(home)?.over(off.home)?.round(settling.coin)?
    };
    let of_whole = |amount: Exact, part: Exact| amount.times(part)?.over(whole.size());
    let raw =
        |part: Exact| weights.iter().map(|weight| of_whole(Exact::from(*weight), part)).collect::<Result<Vec<_>, _>>();
    let in_home = spread(like(whole, home), &raw(Exact::from(home))?, settling.home_coin)?;
    let in_own = spread(like(whole, own), &raw(Exact::from(own))?, settling.coin)?;
    let mut facts = Vec::with_capacity(left.len());
    for (place, fact) in left.iter().enumerate() {
        let (base, cost, tax) = (place * 3, place * 3 + 1, place * 3 + 2);
        let home_share = |money: BookMoney| of_whole(Exact::from(money), Exact::from(home))?.round(settling.home_coin);
        let own_share = |money: Money| {
            if money == Money::ZERO || off.home == BookMoney::ZERO {
                Ok(Money::ZERO)
            } else {
                of_whole(Exact::from(money), Exact::from(home))?.round(settling.coin)
            }
        };
        let (mut own_base, mut home_base) = (in_own[base], in_home[base]);
        if !fact.leads {
            (own_base, home_base) = (own_share(fact.base)?, home_share(fact.home_base)?);
        }
        let (mut own_tax, mut home_tax, mut not_recoverable) = (in_own[tax], in_home[tax], in_home[cost]);
        if fact.kind == Some(TaxKind::ReverseCharge) {
            (own_tax, home_tax) = (own_share(fact.tax)?, home_share(fact.home_tax)?);
            not_recoverable = home_share(fact.not_recoverable)?;
        }
        facts.push(TaxFact {
            settles: Some(settling.document),
            origin,
            // What is not counted yet is not reduced yet.
            date: if sown(Fault::TakenBackTooSoon) { settling.date } else { Ord::max(settling.date, fact.date) },
            base: own_base.negated(),
            home_base: home_base.negated(),
            tax: own_tax.negated(),
            home_tax: home_tax.negated(),
            not_recoverable: not_recoverable.negated(),
            ..fact.clone()
        });
    }
    Ok(facts)
}

/// With the sign of the whole.
fn like<F: Funds>(whole: BookMoney, amount: F) -> F {
    if whole.is_negative() { amount.negated() } else { amount }
}

/// How much of a document is settled, and how much was before.
#[derive(Debug, Clone, Copy)]
pub struct Portion {
    pub before: Money,
    pub settled: Money,
    pub whole: Money,
}

impl Portion {
    /// What a part of an amount comes to: the parts of all settlements together are the amount.
    fn of<C: Rounds>(&self, amount: C::Amount, coin: C) -> Result<C::Amount, TooLarge> {
        let whole = self.whole.size();
        if whole == Money::ZERO {
            return Ok(C::Amount::NOTHING);
        }
        let up_to = |settled: Money| Exact::from(amount.size()).times(settled)?.over(whole)?.round(coin);
        let before = self.before.size();
        if sown(Fault::KeptBackByItself) {
            return up_to(self.settled.size());
        }
        minus(up_to(plus(before, self.settled.size())?)?, up_to(before)?)
    }
}

/// What is kept back, by the components that the document shows, each with the share of its base that is settled. A
/// document that shows none has it without a code.
pub fn kept_back(
    shown: &[TaxFact],
    off: Off,
    portion: &Portion,
    bare: &TaxFact,
    settling: &Settling,
) -> Result<Vec<TaxFact>, TooLarge> {
    let common = |from: &TaxFact| TaxFact {
        settles: Some(settling.document),
        line: None,
        side: bare.side,
        duty: bare.duty,
        origin: TaxOrigin::Document,
        base_box: None,
        tax_box: None,
        leads: false,
        date: settling.date,
        account: bare.account,
        ..from.clone()
    };
    let mut groups: Vec<TaxFact> = Vec::new();
    for fact in shown {
        match groups.iter_mut().find(|known| known.component == fact.component && known.code == fact.code) {
            Some(known) => {
                known.base = plus(known.base, fact.base)?;
                known.home_base = plus(known.home_base, fact.home_base)?;
            }
            None => groups.push(common(fact)),
        }
    }
    let mut weights = Vec::with_capacity(groups.len());
    for group in &groups {
        let rate = group.rate.map_or(Ok(Exact::ZERO), hundredths)?;
        weights.push(Exact::from(group.base.size()).times(rate)?);
    }
    let sum = weights.iter().try_fold(Exact::ZERO, |sum, weight| sum.plus(*weight))?;
    if sum.is_zero() {
        let fact = TaxFact { tax: off.own, home_tax: off.home, ..common(bare) };
        return Ok(vec![fact]);
    }
    let raw = |amount: Exact| {
        weights.iter().map(|weight| amount.times(*weight)?.over(sum)).collect::<Result<Vec<_>, TooLarge>>()
    };
    let own = spread(off.own, &raw(Exact::from(off.own))?, settling.coin)?;
    let home = spread(off.home, &raw(Exact::from(off.home))?, settling.home_coin)?;
    let fact = |(group, (tax, home_tax)): (&TaxFact, (Money, BookMoney))| {
        Ok(TaxFact {
            base: portion.of(group.base, settling.coin)?,
            home_base: portion.of(group.home_base, settling.home_coin)?,
            tax,
            home_tax,
            ..group.clone()
        })
    };
    groups.iter().zip(own.into_iter().zip(home)).map(fact).collect()
}

/// What a document shows that will be kept back of it, whole.
pub fn to_keep_back(shown: &[TaxFact], coin: Coin) -> Result<Money, TooLarge> {
    let mut sum = Exact::ZERO;
    for fact in shown {
        let rate = fact.rate.map_or(Ok(Exact::ZERO), hundredths)?;
        sum = sum.plus(Exact::from(fact.base).times(rate)?)?;
    }
    Ok(sum.round(coin)?.size())
}

/// What a fact without a code says of what is kept back, on the side of what is settled.
pub fn bare(from_us: bool, currency: &str, party: RecordId, account: RecordId) -> TaxFact {
    TaxFact {
        side: if from_us { TaxSide::Sale } else { TaxSide::Purchase },
        duty: if from_us { TaxDuty::WithheldFromUs } else { TaxDuty::WithheldByUs },
        party: Some(party),
        currency: currency.to_owned(),
        account: Some(account),
        ..TaxFact::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use words::money::{Percent, Rounding};

    fn money(text: &str) -> Money {
        Money::parse(text).unwrap()
    }

    fn fact(duty: TaxDuty, kind: TaxKind, [base, tax, cost]: [&str; 3]) -> TaxFact {
        TaxFact {
            duty,
            kind: Some(kind),
            component: Some(RecordId(uuid::Uuid::from_u128(kind as u128))),
            rate: Some(Percent::parse("10").unwrap()),
            leads: base != "0",
            base: money(base),
            home_base: money(base).at_par(),
            tax: money(tax),
            home_tax: money(tax).at_par(),
            not_recoverable: money(cost).at_par(),
            ..TaxFact::default()
        }
    }

    fn settling() -> Settling {
        let coin = Coin { decimals: 2, rounding: Rounding::HalfUp };
        Settling {
            document: RecordId::default(),
            date: Day::default(),
            coin,
            home_coin: BookCoin::new(2, Rounding::HalfUp),
        }
    }

    fn shown(facts: &[TaxFact]) -> String {
        let one = |fact: &TaxFact| format!("{}/{}/{}", fact.home_base, fact.home_tax, fact.not_recoverable);
        facts.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_taken_off_falls_on_bases_and_taxes_by_their_shares() {
        use TaxDuty::{Claimed, None as Alone, Owed};
        use TaxKind::{Exempt, ReverseCharge, Standard};
        for (name, left, off, expected) in [
            ("2.8", vec![fact(Owed, Standard, ["1000", "190", "0"])], "23.8", "-20/-3.8/0"),
            (
                "two codes and what is exempt",
                vec![
                    fact(Owed, Standard, ["100", "19", "0"]),
                    fact(Owed, Standard, ["100", "7", "0"]),
                    fact(Alone, Exempt, ["74", "0", "0"]),
                ],
                "30",
                "-10/-1.9/0 -10/-0.7/0 -7.4/0/0",
            ),
            (
                "what cannot be claimed falls with its base",
                vec![fact(Claimed, Standard, ["100", "10", "10"])],
                "12",
                "-10/-1/-1",
            ),
            (
                "what nobody charged falls in the same share",
                vec![fact(Owed, ReverseCharge, ["300", "57", "0"]), fact(Claimed, ReverseCharge, ["0", "57", "0"])],
                "3",
                "-3/-0.57/0 0/-0.57/0",
            ),
            ("a credit note", vec![fact(Owed, Standard, ["-1000", "-190", "0"])], "23.8", "20/3.8/0"),
            ("all of it", vec![fact(Owed, Standard, ["10.01", "1.9", "0"])], "11.91", "-10.01/-1.9/0"),
        ] {
            let off = Off { own: money(off), home: money(off).at_par() };
            assert_eq!(shown(&reduced(&left, off, TaxOrigin::Discount, &settling()).unwrap()), expected, "{name}");
        }
    }

    #[test]
    fn what_is_taken_off_beyond_all_takes_as_much_in_either_currency() {
        // Half of the document was credited since; more is taken off than is left.
        let left = vec![fact(TaxDuty::Owed, TaxKind::Standard, ["50", "9.5", "0"])];
        let of = |own: &str, home: &str| {
            let off = Off { own: money(own), home: money(home).at_par() };
            let fact = reduced(&left, off, TaxOrigin::Discount, &settling()).unwrap().remove(0);
            format!("{}/{} worth {}/{}", fact.base, fact.tax, fact.home_base, fact.home_tax)
        };
        assert_eq!(of("80", "80"), "-50/-9.5 worth -50/-9.5", "in the company's currency");
        assert_eq!(of("100", "80"), "-62.5/-11.88 worth -50/-9.5", "at 0.80");
        assert_eq!(of("11.9", "11.9"), "-10/-1.9 worth -10/-1.9", "and what is there stays as it is");
    }

    #[test]
    fn bases_of_what_is_kept_back_add_up_to_the_base() {
        for (whole, base, settled, expected) in [
            ("1200", "1000", &["400", "400", "400"][..], "333.33 333.34 333.33"),
            ("1200", "1000", &["500", "650", "50"], "416.67 541.66 41.67"),
            ("0.03", "0.01", &["0.01", "0.01", "0.01"], "0 0.01 0"),
            ("-1200", "-1000", &["-400", "-800"], "333.33 666.67"),
        ] {
            let mut before = Money::ZERO;
            let mut told = Vec::new();
            for settled in settled {
                let portion = Portion { before, settled: money(settled), whole: money(whole) };
                told.push(portion.of(money(base), settling().coin).unwrap().to_string());
                before = plus(before, money(settled)).unwrap();
            }
            assert_eq!(told.join(" "), expected, "{base} of {whole}");
        }
    }

    #[test]
    fn what_is_kept_back_has_the_share_of_the_base_that_is_settled() {
        let row = fact(TaxDuty::None, TaxKind::Withholding, ["500", "0", "0"]);
        let bare = bare(true, "EUR", RecordId::default(), RecordId::default());
        for (name, rows, settled, kept, expected) in [
            ("all of it", vec![row.clone()], "500", "50", "500/50/0"),
            ("half of it", vec![row.clone()], "250", "25", "250/25/0"),
            ("two lines of one component", vec![row.clone(), row], "500", "100", "1000/100/0"),
            ("nothing is shown", Vec::new(), "500", "50", "0/50/0"),
        ] {
            let off = Off { own: money(kept), home: money(kept).at_par() };
            let portion = Portion { before: Money::ZERO, settled: money(settled), whole: money("500") };
            let facts = kept_back(&rows, off, &portion, &bare, &settling()).unwrap();
            assert_eq!(shown(&facts), expected, "{name}");
            assert!(facts.iter().all(|fact| !fact.leads && fact.duty == TaxDuty::WithheldFromUs));
        }
    }
}

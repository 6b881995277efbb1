#![cfg(test)]

use super::*;
use proptest::prelude::*;
use words::money::Rounding;

const CENTS: Coin = Coin { decimals: 2, rounding: Rounding::HalfUp };
const BOTH: Coins = Coins { stated: CENTS, base: BOOKED };
const BOOKED: BookCoin = BookCoin::new(2, Rounding::HalfUp);
const YEN: Coins = Coins { stated: Coin { decimals: 0, rounding: Rounding::HalfUp }, base: BOOKED };

fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

fn pieces(text: &str) -> Quantity {
    Quantity::parse(text).unwrap()
}

fn component(name: u128) -> RecordId {
    RecordId(uuid::Uuid::from_u128(name))
}

fn parts(inclusive: bool, gross: &str, discount: &str, taxes: &[&str]) -> Parts {
    let tax = |(name, amount): (u128, &&str)| TaxPart {
        component: component(name),
        charged: true,
        amount: money(amount),
        recoverable: money(amount),
    };
    Parts { inclusive, gross: money(gross), discount: money(discount), taxes: (1..).zip(taxes).map(tax).collect() }
}

/// A line in the company's own currency.
fn line(quantity: &str, stated: Parts) -> Left {
    Left { quantity: pieces(quantity), base: stated.at_par(), stated, cost: BookMoney::ZERO }
}

fn shown(share: &Share) -> String {
    format!("{}+{}", share.stated.net().unwrap(), share.stated.charged().unwrap())
}

fn take(left: &mut Left, part: Part) -> Share {
    left.take(part, BOTH).unwrap()
}

fn piece(left: &mut Left) -> Share {
    take(left, Part::Quantity(pieces("1")))
}

#[test]
fn single_pieces_of_an_inclusive_line_come_back_at_the_price_on_the_tag() {
    let mut left = line("3", parts(true, "29.97", "0", &["4.99"]));
    let shares: Vec<Share> = (0..3).map(|_| piece(&mut left)).collect();
    assert_eq!(shares.iter().map(shown).collect::<Vec<_>>(), ["8.33+1.66", "8.32+1.67", "8.33+1.66"], "4.1");
    assert!(shares.iter().all(|share| share.stated.total() == Ok(money("9.99"))), "4.1");
    assert!(left.is_nothing(), "4.1");
}

#[test]
fn a_line_has_its_share_of_the_discount_of_the_document() {
    let mut left = line("1", parts(false, "33.33", "3.34", &["6"]));
    assert_eq!(shown(&piece(&mut left)), "29.99+6", "4.2");
    assert!(left.is_nothing(), "4.2");
}

#[test]
fn amounts_of_another_currency_are_shares_of_what_they_were_worth() {
    let mut left = Left {
        quantity: pieces("3"),
        stated: parts(false, "100.05", "0", &[]),
        base: parts(false, "87.71", "0", &[]).at_par(),
        cost: BookMoney::ZERO,
    };
    let bases: Vec<String> = (0..3).map(|_| piece(&mut left).base.net().unwrap().to_string()).collect();
    assert_eq!((bases, left.is_nothing()), (vec!["29.24".into(), "29.24".into(), "29.23".into()], true), "4.3");
}

#[test]
fn a_share_that_is_given_back_is_found_by_the_next() {
    let of = || line("3", parts(false, "10", "0", &[]));
    let mut left = of();
    let shares = [piece(&mut left), piece(&mut left), piece(&mut left)];
    assert_eq!(shares.each_ref().map(shown), ["3.33+0", "3.34+0", "3.33+0"], "4.4");
    let mut left = of().without(&shares[0]).and_then(|left| left.without(&shares[2])).unwrap();
    assert_eq!(shown(&piece(&mut left)), "3.34+0", "4.4");
    assert!(left.is_nothing(), "4.4");
}

#[test]
fn goods_take_their_share_of_the_cost_with_them() {
    let mut left = Left { cost: money("10").at_par(), ..line("3", parts(false, "30", "0", &[])) };
    let costs = [piece(&mut left), piece(&mut left), piece(&mut left)].map(|share| share.cost.to_string());
    assert_eq!(costs, ["3.33", "3.34", "3.33"], "4.5");
    let mut left = Left { cost: money("10").at_par(), ..line("3", parts(false, "30", "0", &[])) };
    let costs = ["1", "2"].map(|quantity| take(&mut left, Part::Quantity(pieces(quantity))).cost.to_string());
    assert_eq!(costs, ["3.33", "6.67"], "4.10");
}

#[test]
fn more_than_is_left_is_refused_and_takes_nothing() {
    let mut left = line("10", parts(false, "100", "0", &[]));
    let before = left.clone();
    for (part, refused) in [
        (Part::Amount(money("150")), OverTaken::Amount(money("100"))),
        (Part::Quantity(pieces("11")), OverTaken::Quantity(pieces("10"))),
        (Part::Both(pieces("2"), money("100.01")), OverTaken::Amount(money("100"))),
        (Part::Amount(money("-1")), OverTaken::Amount(money("100"))),
    ] {
        assert_eq!((left.take(part, BOTH), &left), (Err(refused), &before), "4.6: {part:?}");
    }
}

#[test]
fn an_origin_that_changed_has_the_new_less_the_taken() {
    let mut left = line("10", parts(false, "100", "0", &[]));
    let taken = take(&mut left, Part::Quantity(pieces("3")));
    let mut left = line("5", parts(false, "60", "0", &[])).without(&taken).unwrap();
    assert_eq!(shown(&take(&mut left, Part::Quantity(pieces("2")))), "30+0", "4.7");
    assert!(left.is_nothing(), "4.7");
}

#[test]
fn invoices_of_an_order_share_its_discount() {
    let mut left = line("3", parts(false, "60", "10", &[]));
    let totals = [piece(&mut left), piece(&mut left), piece(&mut left)].map(|share| shown(&share));
    assert_eq!(totals, ["16.67+0", "16.66+0", "16.67+0"], "4.8");
}

#[test]
fn a_price_adjustment_takes_money_and_leaves_the_pieces() {
    let mut left = line("3", parts(false, "30", "3", &["5.40"]));
    assert_eq!(shown(&take(&mut left, Part::Amount(money("10")))), "10+2");
    assert_eq!((left.quantity, left.stated.amount()), (pieces("3"), Ok(money("17"))));
    assert_eq!(shown(&take(&mut left, Part::Both(pieces("2"), money("10")))), "10+2");
    assert_eq!(shown(&piece(&mut left)), "7+1.4");
    assert!(left.is_nothing());
}

#[test]
fn components_are_shared_each_by_itself_and_nothing_stays_behind() {
    // N8: a compound tax leaves a base of 0.01 and a tax of -0.01 where each piece is computed anew.
    let mut left = line("3", parts(false, "1", "0", &["0.05", "0.10"]));
    for _ in 0..3 {
        piece(&mut left);
    }
    assert!(left.is_nothing());
    let mut yen = Left { base: parts(false, "7.53", "0", &[]).at_par(), ..line("3", parts(false, "1000", "0", &[])) };
    let shares: Vec<String> =
        (0..3).map(|_| yen.take(Part::Quantity(pieces("1")), YEN).unwrap().stated.gross.to_string()).collect();
    assert_eq!((shares, yen.is_nothing()), (vec!["333".into(), "334".into(), "333".into()], true), "N8");
}

fn cents(cents: i64) -> Money {
    Money::from_units(cents * 100)
}

prop_compose! {
    /// A line of up to 200 pieces, its amounts in the document's currency and in the company's.
    fn any_line()(
        quantity in 1_i64..200, gross in 0_i64..1_000_000, off in 0_i64..101, taxes in prop::collection::vec(0_i64..40, 0..4),
        inclusive: bool, rate in 1_i64..300, cost in 0_i64..1_000_000,
    ) -> Left {
        let discount = gross * off / 100;
        let of = |percent: i64| (gross - discount) * percent / 200;
        let tax = |(name, percent): (u128, &i64)| TaxPart {
            component: component(name), charged: name != 3, amount: cents(of(*percent)), recoverable: cents(of(*percent) / 2),
        };
        let stated = Parts { inclusive, gross: cents(gross), discount: cents(discount), taxes: (1..).zip(&taxes).map(tax).collect() };
        let base = stated.each(|money: Money| BookMoney::from_units(money.units() / 100 * rate / 100 * 100));
        Left { quantity: Quantity::from_units(quantity * 1_000_000), stated, base, cost: cents(cost).at_par() }
    }
}

proptest! {
    #[test]
    fn what_is_taken_to_the_last_piece_leaves_nothing_in_any_order_and_size(
        line in any_line(), sizes in prop::collection::vec(1_i64..60_000_000, 0..30), amounts in prop::collection::vec(0_i64..100, 0..30),
    ) {
        let mut left = line.clone();
        let mut taken: Vec<Share> = Vec::new();
        for (size, percent) in sizes.iter().zip(amounts.into_iter().chain(std::iter::repeat(0))) {
            let quantity = Ord::min(Quantity::from_units(*size), left.quantity);
            let wanted = cents(left.stated.amount().unwrap().units() / 100 * percent / 100);
            let part = match percent % 3 {
                0 => Part::Quantity(quantity),
                1 => Part::Amount(wanted),
                _ => Part::Both(quantity, wanted),
            };
            taken.push(left.take(part, BOTH).unwrap());
        }
        let rest = (left.quantity, left.stated.amount().unwrap());
        taken.push(left.take(Part::Both(rest.0, rest.1), BOTH).unwrap());
        prop_assert_eq!(left.quantity, Quantity::ZERO);
        // Money goes with money: where none is left to be named, what is left goes with the pieces.
        if rest.1 != Money::ZERO {
            prop_assert!(left.is_nothing(), "{:?}", left);
        }
        let all = taken.iter().try_fold(Share::default(), |sum, share| sum.with(share)).unwrap();
        prop_assert_eq!(line.without(&all).unwrap(), left);
    }

    #[test]
    fn no_share_is_outside_a_coin_of_the_recomputed_one(line in any_line(), whole: bool) {
        let mut left = line.clone();
        let count = line.quantity.units() / 1_000_000;
        let quantity = if whole { line.quantity } else { Quantity::from_units(1_000_000) };
        for _ in 0..(if whole { 1 } else { count }) {
            let share = left.take(Part::Quantity(quantity), BOTH).unwrap();
            let (of, all_of) = (i128::from(quantity.units()), i128::from(line.quantity.units()));
            let near = |share: i64, all: i64| (i128::from(share) * all_of - i128::from(all) * of).abs() < 100 * all_of;
            prop_assert!(near(share.stated.gross.units(), line.stated.gross.units()) && near(share.base.gross.units(), line.base.gross.units()));
            prop_assert!(near(share.stated.discount.units(), line.stated.discount.units()) && near(share.cost.units(), line.cost.units()));
            for (part, all) in share.stated.taxes.iter().zip(&line.stated.taxes) {
                prop_assert!(near(part.amount.units(), all.amount.units()) && near(part.recoverable.units(), all.recoverable.units()));
                prop_assert!(part.recoverable <= part.amount);
            }
        }
        prop_assert!(left.is_nothing());
    }

    #[test]
    fn a_share_given_back_is_as_if_it_was_never_taken(line in any_line(), sizes in prop::collection::vec(1_i64..50, 1..5), back in 0_usize..5) {
        let mut left = line.clone();
        let mut shares: Vec<Share> = Vec::new();
        for size in sizes {
            let quantity = Ord::min(Quantity::from_units(size * 1_000_000), left.quantity);
            shares.push(left.take(Part::Quantity(quantity), BOTH).unwrap());
        }
        shares.remove(back % shares.len());
        let mut left = shares.iter().try_fold(line.clone(), |left, share| left.without(share)).unwrap();
        if left.quantity != Quantity::ZERO {
            let rest = left.take(Part::Quantity(left.quantity), BOTH).unwrap();
            shares.push(rest);
        }
        let all = shares.iter().try_fold(Share::default(), |sum, share| sum.with(share)).unwrap();
        prop_assert_eq!((all.stated.gross, all.base.gross, all.cost), (line.stated.gross, line.base.gross, line.cost));
    }
}

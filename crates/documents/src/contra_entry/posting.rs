//! What a contra entry moves, and what it posts: rules without a database, tested by tables.

use super::{ContraAsked, ContraFigures};
use crate::currency::Currency;
use crate::document::beyond_one_document;
use crate::error::{Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use books::access::Business;
use books::chart::{Account, Chart};
use rules::exchange::Valued;
use rules::postable::{Free, Postable};
use rules::posting::{About as Detail, Line, Posting};
use rules::purpose::Purpose as For;
use rules::refusal::Refusal;
use words::exact::Exact;

pub(super) struct Accounts<'c> {
    pub(super) from: &'c Account,
    pub(super) to: &'c Account,
    pub(super) fee: Option<Free>,
}

pub(super) fn judge<'c>(business: &Business, chart: &'c Chart, asked: &ContraAsked) -> Result<Accounts<'c>> {
    let mut faults = FieldErrors::default();
    let mut note = |field: &str, refusal: &Refusal| faults.add(field, refusal.to_string());
    let mut find = |field: &str, id: RecordId| {
        if let Err(refusal) = chart.judge(id, For::MoneyMoved) {
            note(field, &refusal);
        }
        chart.account(id)
    };
    let from = find("fromAccountId", asked.from);
    let to = find("toAccountId", asked.to);
    let fee = match (asked.fee == Money::ZERO, asked.fee_account) {
        (true, _) => None,
        (false, None) => Some(chart.roles().bank_fees.clone()),
        (false, Some(id)) => chart.free(id, For::Fee).inspect_err(|refusal| note("feeAccountId", refusal)).ok(),
    };
    let (Some(from), Some(to)) = (from, to) else { return Err(faults.into()) };
    let base = &business.base_currency;
    let (from_currency, to_currency) = (from.currency_or(base), to.currency_or(base));
    for (field, money, currency) in [
        ("amount", Some(asked.amount), from_currency),
        ("toAmount", asked.to_amount, to_currency),
        ("feeAmount", Some(asked.fee), to_currency),
    ] {
        let decimals = Currency::known(currency, "an account of money")?.decimals();
        if money.is_some_and(|money| !money.fits(decimals)) {
            faults.add(field, format!("must have at most {decimals} decimal places in {currency}"));
        }
    }
    match asked.to_amount {
        None if from_currency != to_currency => {
            faults.add("toAmount", format!("is required: how many {to_currency} arrive?"));
        }
        Some(to_amount) if from_currency == to_currency && to_amount != asked.amount => {
            faults.add("toAmount", "must be the same as the amount within one currency; a fee goes to feeAmount");
        }
        _ => {}
    }
    if asked.fee >= asked.to_amount.unwrap_or(asked.amount) && asked.fee > Money::ZERO {
        faults.add("feeAmount", "must be less than what arrives");
    }
    if faults.is_empty() { Ok(Accounts { from, to, fee }) } else { Err(faults.into()) }
}

fn too_large(field: &str) -> Error {
    Error::field(field, "comes to more than can be kept")
}

/// What it all comes to in the company's currency.
pub(super) struct Worth {
    pub(super) relieved: BookMoney,
    pub(super) arrived: BookMoney,
    pub(super) fee: BookMoney,
    /// A loss is negative.
    pub(super) gain: BookMoney,
}

/// What leaves is worth, and what arrives: of money abroad, given what the account holds and what that is carried at. What
/// leaves or arrives in the company's currency is worth what it is.
pub(super) fn worths(
    business: &Business,
    asked: &ContraAsked,
    held: Option<(Money, BookMoney)>,
    (to_amount, to_base): (Money, bool),
) -> Result<Worth> {
    let amount = asked.amount;
    let (relieved, arrived) = match (held, to_base) {
        (None, true) => (amount.at_par(), to_amount.at_par()),
        // What foreign money costs is what it is carried at from now on.
        (None, false) => (amount.at_par(), amount.at_par()),
        (Some(held), to_base) => {
            let arrives = to_base.then_some(to_amount.at_par());
            let relieved = relief(business, amount, held, arrives)?;
            (relieved, arrives.unwrap_or(relieved))
        }
    };
    let fee = share(business, arrived, asked.fee, to_amount)?;
    let gain = arrived.checked_sub(relieved).ok_or_else(|| too_large("amount"))?;
    Ok(Worth { relieved, arrived, fee, gain })
}

/// What leaves an account in the company's currency: the share of what it is carried at. Of more than it holds
/// nothing is carried; then what arrives says what it was worth.
fn relief(
    business: &Business,
    amount: Money,
    held: (Money, BookMoney),
    arrives: Option<BookMoney>,
) -> Result<BookMoney> {
    let (held, carried_at) = held;
    if held >= amount && held > Money::ZERO && carried_at > BookMoney::ZERO {
        return share(business, carried_at, amount, held);
    }
    arrives.ok_or_else(|| {
        Error::field(
            "amount",
            "is more than the account holds, so that nothing says what it is worth in the company's currency",
        )
    })
}

/// `whole x part / of`, in the company's currency; all of it takes all.
fn share(business: &Business, whole: BookMoney, part: Money, of: Money) -> Result<BookMoney> {
    if part == of {
        return Ok(whole);
    }
    let exact = Exact::from(whole).times(part).and_then(|product| product.over(of));
    exact.and_then(|exact| exact.round(business.coin())).map_err(|_| too_large("amount"))
}

pub(super) fn posting(
    business: &Business,
    (chart, fee_account): (&Chart, Option<Free>),
    asked: &ContraAsked,
    figures: &ContraFigures,
    &Worth { relieved, arrived, fee, gain }: &Worth,
) -> Result<Posting> {
    let home = business.home();
    let line = |field: &str, to: Postable, amount: Valued| {
        Line::on(to, amount, Detail::default()).map_err(|refusal| refusal.at(field))
    };
    let money = |field: &str, id: RecordId, currency: &str| {
        chart.money(id, currency).map(Postable::from).map_err(|refusal| refusal.at(field))
    };
    let to = money("toAccountId", asked.to, &figures.to_currency)?;
    let from = money("fromAccountId", asked.from, &figures.from_currency)?;
    let arrives = figures.to_amount.minus(asked.fee).map_err(|_| too_large("amount"))?;
    let worth = arrived.minus(fee).map_err(|_| too_large("amount"))?;
    let mut lines = vec![line("toAccountId", to, home.carried(arrives, &figures.to_currency, worth))?];
    if let Some(account) = fee_account {
        lines.push(line("feeAccountId", account.into(), home.carried(asked.fee, &figures.to_currency, fee))?);
    }
    let leaves = home.carried(asked.amount, &figures.from_currency, relieved).negated();
    lines.push(line("fromAccountId", from, leaves)?);
    if gain != BookMoney::ZERO {
        let exchange = chart.roles().realised_exchange.clone();
        lines.push(line("amount", exchange.into(), home.alone(gain.negated()))?);
    }
    Posting::balanced(lines).map_err(|_| beyond_one_document("amount"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{id, said, summed};

    #[test]
    fn what_leaves_is_relieved_at_what_it_is_carried_at() {
        let business = Business::sample();
        let money = |text: &str| Money::parse(text).unwrap();
        let worth = |text: &str| BookMoney::parse(text).unwrap();
        let relief = |amount, held, carried, arrives: Option<&str>| {
            let held = (money(held), worth(carried));
            relief(&business, money(amount), held, arrives.map(worth)).ok().map(|worth| worth.to_string())
        };
        assert_eq!(relief("1000", "1000", "910", Some("925")), Some("910".into()));
        assert_eq!(relief("400", "1000", "910", Some("380")), Some("364".into()));
        assert_eq!(relief("1", "3", "1", Some("0.4")), Some("0.33".into()));
        assert_eq!(relief("1200", "1000", "910", Some("1100")), Some("1100".into()));
        assert_eq!(relief("1200", "1000", "910", None), None);
    }

    /// From, to, and which amounts: what leaves, arrives and is the fee.
    fn asked((from, to): (u128, u128), amount: &str, to_amount: Option<&str>, fee: &str) -> ContraAsked {
        ContraAsked {
            from: id(from),
            to: id(to),
            amount: crate::samples::money(amount),
            to_amount: to_amount.map(crate::samples::money),
            fee: crate::samples::money(fee),
            fee_account: None,
        }
    }

    /// What it posts, given what the account that it leaves holds abroad and what that is carried at.
    fn posted(asked: &ContraAsked, held: Option<(&str, &str)>) -> String {
        let (business, chart) = (Business::sample(), books::chart::sample());
        let accounts = match judge(&business, &chart, asked) {
            Ok(accounts) => accounts,
            Err(why) => return said(&why),
        };
        let base = "EUR".to_owned();
        let (from_currency, to_currency) = (accounts.from.currency_or(&base), accounts.to.currency_or(&base));
        let to_amount = asked.to_amount.unwrap_or(asked.amount);
        let held = held.map(|(held, carried)| (crate::samples::money(held), crate::samples::worth(carried)));
        let worth = match worths(&business, asked, held, (to_amount, *to_currency == base)) {
            Ok(worth) => worth,
            Err(why) => return said(&why),
        };
        let figures = ContraFigures {
            from_currency: from_currency.clone(),
            to_currency: to_currency.clone(),
            to_amount,
            fee_account: None,
            gain: worth.gain,
            base_total: worth.relieved,
        };
        summed(&posting(&business, (&chart, accounts.fee), asked, &figures, &worth).unwrap())
    }

    #[test]
    fn money_that_moves_posts_what_the_worked_examples_say() {
        for (name, asked, held, posts) in [
            ("within a currency", asked((1010, 1000), "50", None, "0"), None, "1000 50; 1010 -50"),
            ("with a fee", asked((1010, 1000), "50", None, "1.5"), None, "1000 48.5; 1010 -50; 6800 1.5"),
            (
                "E19",
                asked((1020, 1010), "1000", Some("925"), "2"),
                Some(("1000", "910")),
                "1010 923; 1020 -910; 4900 -15; 6800 2",
            ),
            (
                "E19, at a loss, of a part",
                asked((1020, 1010), "400", Some("360"), "0"),
                Some(("1000", "910")),
                "1010 360; 1020 -364; 4900 4",
            ),
            // T38: what foreign money costs is what it is carried at from then on.
            ("E19 turned round", asked((1010, 1020), "925", Some("1000"), "0"), None, "1010 -925; 1020 925"),
            (
                "a fee abroad has its share of that",
                asked((1010, 1020), "925", Some("1000"), "10"),
                None,
                "1010 -925; 1020 915.75; 6800 9.25",
            ),
            (
                "from one abroad to another, at what it is carried at",
                asked((1020, 1030), "1000", Some("790"), "0"),
                Some(("1000", "910")),
                "1020 -910; 1030 910",
            ),
            (
                "more than is held, with what it brings",
                asked((1020, 1010), "1200", Some("1100"), "0"),
                Some(("1000", "910")),
                "1010 1100; 1020 -1100",
            ),
            (
                "more than is held, with nothing to go by",
                asked((1020, 1030), "1200", Some("900"), "0"),
                Some(("1000", "910")),
                "amount is more than the account holds, so that nothing says what it is worth in the company's currency",
            ),
        ] {
            assert_eq!(posted(&asked, held), posts, "{name}");
        }
    }

    #[test]
    fn a_transfer_names_accounts_of_money_and_amounts_of_their_currencies() {
        let to_fee =
            |account: u128| ContraAsked { fee_account: Some(id(account)), ..asked((1010, 1000), "10", None, "1") };
        for (asked, answer) in [
            (asked((1200, 1000), "10", None, "0"), "fromAccountId names 1200 Accounts receivable"),
            (asked((1010, 4000), "10", None, "0"), "toAccountId names 4000 Sales"),
            (asked((1020, 1010), "10", None, "0"), "toAmount is required: how many EUR arrive?"),
            (asked((1010, 1000), "10", Some("9"), "0"), "toAmount must be the same as the amount within one currency"),
            (asked((1010, 1000), "10.001", None, "0"), "amount must have at most 2 decimal places in EUR"),
            (asked((1010, 1020), "10", Some("9.001"), "0"), "toAmount must have at most 2 decimal places in USD"),
            (asked((1010, 1000), "10", None, "0.001"), "feeAmount must have at most 2 decimal places in EUR"),
            (asked((1010, 1000), "10", None, "10"), "feeAmount must be less than what arrives"),
            (asked((1010, 1020), "10", Some("9"), "9.5"), "feeAmount must be less than what arrives"),
            // Kernel 1.2.
            (to_fee(1300), "feeAccountId names 1300"),
            (to_fee(2150), "feeAccountId names 2150"),
            (to_fee(1350), "feeAccountId names 1350"),
        ] {
            let found = posted(&asked, Some(("1000", "910")));
            assert!(found.starts_with(answer), "{answer}: {found}");
        }
        assert_eq!(posted(&to_fee(6850), None), "1000 9; 1010 -10; 6850 1");
    }
}

//! What a journal comes to and what it posts: rules without a database, tested by tables.

pub(super) mod tests;

use super::{JournalAsked, JournalFigures, JournalKind, JournalLineAsked};
use crate::currency::Currency;
use crate::document::{Head, Purpose, SettledEntry, beyond_one_document};
use crate::error::{Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Funds, Rate};
use books::access::Business;
use books::chart::Chart;
use rules::keeper::Keeper;
use rules::postable::Postable;
use rules::posting::{About, Line, Posting, Unbalanced};
use rules::purpose::Purpose as For;
use rules::refusal::Refusal;
use schema::tables::EntryKind;
use std::collections::HashMap;
use std::sync::Arc;
use words::exact::{Running, TooLarge};

pub(super) fn decimals(currency: &str) -> Result<u32> {
    Ok(Currency::known(currency, "a journal")?.decimals())
}

/// Faults of one line.
pub(super) struct Fault<'f>(pub(super) &'f mut FieldErrors, pub(super) usize);

impl Fault<'_> {
    pub(super) fn add(&mut self, field: &str, why: impl Into<String>) {
        self.0.add(format!("lines[{}].{field}", self.1), why);
    }
}

pub(super) fn judge_line(
    faults: &mut Fault<'_>,
    business: &Business,
    chart: &Chart,
    asked: &JournalAsked,
    line: &JournalLineAsked,
    known: &HashMap<RecordId, Arc<schema::party::Model>>,
    purpose: Purpose,
) -> Result<()> {
    let currency = line.currency_in(business, asked);
    let side = if line.amount.is_negative() { "credit" } else { "debit" };
    let places = decimals(currency)?;
    if !line.amount.fits(places) {
        faults.add(side, format!("must have at most {places} decimal places in {currency}"));
    }
    if line.party.is_some_and(|party| !known.contains_key(&party)) {
        faults.add("partyId", "names no party");
    }
    if line.due_date.is_some() && chart.account(line.account).is_some_and(|account| account.keeper != Keeper::OpenItems)
    {
        faults.add("dueDate", "is for receivables and payables alone");
    }
    let refusal = account_of(chart, asked, line, currency).err();
    // What is only begun may name what is not ready yet.
    if let Some(refusal) = refusal.filter(|refusal| purpose == Purpose::Posting || !refusal.waits_for_posting()) {
        faults.add(if refusal.wants_party() { "partyId" } else { "accountId" }, refusal.to_string());
    }
    Ok(())
}

fn account_of(
    chart: &Chart,
    asked: &JournalAsked,
    line: &JournalLineAsked,
    currency: &str,
) -> Result<Postable, Refusal> {
    match asked.kind {
        // The books close the accounts that were posted to, whatever became of them.
        JournalKind::Closing if asked.fiscal_year.is_some() => chart.standing(line.account),
        JournalKind::Closing => chart.line(line.account, For::Closing, line.party, currency),
        _ => chart.line(line.account, For::Journal, line.party, currency),
    }
}

/// What each line's currency is worth.
pub(super) fn rates(business: &Business, asked: &JournalAsked, faults: &mut FieldErrors) -> Vec<Rate> {
    let one = Rate::from_units(10_i64.pow(Rate::PLACES));
    let base = &business.base_currency;
    if asked.currency.is_none() && asked.exchange_rate.is_some_and(|rate| rate != one) {
        faults.add("exchangeRate", format!("must be 1 or absent in {base}"));
    }
    let mut rates = Vec::new();
    for (index, line) in asked.lines.iter().enumerate() {
        let currency = line.currency.as_ref().or(asked.currency.as_ref()).unwrap_or(base);
        let of_journal = asked.exchange_rate.filter(|_| line.currency.is_none());
        let rate = line.exchange_rate.or(of_journal);
        if currency == base {
            if line.exchange_rate.is_some_and(|rate| rate != one) {
                faults.add(format!("lines[{index}].exchangeRate"), format!("must be 1 or absent in {base}"));
            }
            rates.push(one);
        } else if let Some(rate) = rate {
            rates.push(rate);
        } else {
            let field =
                if line.currency.is_none() { "exchangeRate".into() } else { format!("lines[{index}].exchangeRate") };
            faults.add(
                field,
                format!("is required, since there is no rate for the day: what is one {currency} worth in {base}?"),
            );
            rates.push(one);
        }
    }
    rates
}

pub(super) fn sums(business: &Business, asked: &JournalAsked, rates: &[Rate]) -> Result<JournalFigures> {
    let too_large = || Error::field("lines", "come to more than can be kept");
    let base = in_base(business, asked, rates).map_err(|_| too_large())?;
    let one_currency = asked.lines.iter().all(|line| line.currency.is_none());
    let (base_debit, base_credit) = sides(base.iter().copied()).map_err(|_| too_large())?;
    let (debit, credit) = if one_currency {
        sides(asked.lines.iter().map(|line| line.amount)).map_err(|_| too_large())?
    } else {
        // Of several currencies the totals are in the company's.
        (base_debit.at_par(), base_credit.at_par())
    };
    let totals_in = asked.currency.clone().filter(|_| one_currency).unwrap_or_else(|| business.base_currency.clone());
    Ok(JournalFigures { debit, credit, totals_in, base_debit, base })
}

fn sides<F: Funds>(mut amounts: impl Iterator<Item = F>) -> Result<(F, F), TooLarge> {
    amounts.try_fold((F::NOTHING, F::NOTHING), |(debit, credit), amount| {
        Ok(if amount.is_negative() { (debit, credit.minus(amount)?) } else { (debit.plus(amount)?, credit) })
    })
}

/// The lines of one currency, rate and side so far.
struct Run<'a> {
    of: (Option<&'a String>, Rate, bool),
    running: Running,
}

/// Converts each side by its running total, so that equal sides stay equal to the cent.
fn in_base(business: &Business, asked: &JournalAsked, rates: &[Rate]) -> Result<Vec<BookMoney>, TooLarge> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut base = Vec::new();
    for (line, rate) in asked.lines.iter().zip(rates) {
        if line.currency_in(business, asked) == business.base_currency {
            base.push(line.amount.at_par());
            continue;
        }
        let of = (line.currency.as_ref(), *rate, line.amount.is_negative());
        let place = runs.iter().position(|run| run.of == of).unwrap_or(runs.len());
        if place == runs.len() {
            runs.push(Run { of, running: Running::at(*rate, business.coin()) });
        }
        let run = runs.get_mut(place).ok_or(TooLarge)?;
        base.push(run.running.convert(line.amount)?);
    }
    Ok(base)
}

pub(super) fn lines_of(
    business: &Business,
    chart: &Chart,
    asked: &JournalAsked,
    base: &[BookMoney],
) -> Result<Vec<Line>, Refusal> {
    let line = |(line, worth): (&JournalLineAsked, &BookMoney)| {
        let currency = line.currency_in(business, asked);
        let to = account_of(chart, asked, line, currency)?;
        let about = About {
            party: line.party,
            description: line.description.clone(),
            due_date: line.due_date,
            ..About::default()
        };
        Line::on(to, business.home().carried(line.amount, currency, *worth), about)
    };
    asked.lines.iter().zip(base).map(line).collect()
}

fn nothing() -> Error {
    Error::field("lines", "come to nothing in the company's currency")
}

pub(super) fn entries_of(
    business: &Business,
    chart: &Chart,
    head: &Head,
    asked: &JournalAsked,
    figures: &JournalFigures,
    mut lines: Vec<Line>,
) -> Result<Vec<SettledEntry>> {
    let opening = asked.kind == JournalKind::Opening;
    if opening {
        let too_large = || Error::field("lines", "come to more than can be kept");
        let sides = sides(figures.base.iter().copied()).and_then(|(debit, credit)| credit.minus(debit));
        let residue = business.home().alone(sides.map_err(|_| too_large())?);
        let equity = chart.roles().opening_balance_equity.clone();
        lines.push(Line::on(equity, residue, About::default()).map_err(|refusal| refusal.at("lines"))?);
    } else if figures.debit != figures.credit {
        return Err(unbalanced(figures.debit, figures.credit, &figures.totals_in));
    }
    let sums_up = asked.kind == JournalKind::Closing;
    let posting = if sums_up { Posting::summing_up(lines) } else { Posting::balanced(lines) };
    let posting = posting.map_err(|fault| match fault {
        Unbalanced::Sides { debit, credit } => unbalanced(debit, credit, &business.base_currency),
        Unbalanced::TooLarge => beyond_one_document("lines"),
        Unbalanced::Alone => nothing(),
        Unbalanced::Apart { own, base } => Error::internal(format!("a line of a journal is {own} and worth {base}")),
    })?;
    if posting.is_empty() {
        return Err(nothing());
    }
    let kind = match asked.kind {
        JournalKind::Opening => EntryKind::Opening,
        JournalKind::Closing => EntryKind::YearEnd,
        _ => EntryKind::Normal,
    };
    let mut entries = Vec::new();
    if let Some(day) = asked.reverse_on {
        let posting = posting.reversed(head.date, day);
        entries.push(SettledEntry { kind: EntryKind::AutoReversal, date: day, field: "reverseOn", posting });
    }
    entries.insert(0, SettledEntry { kind, date: head.date, field: "date", posting });
    Ok(entries)
}

fn unbalanced<F: Funds>(debit: F, credit: F, currency: &str) -> Error {
    let places = match decimals(currency) {
        Ok(places) => places,
        Err(fault) => return fault,
    };
    let (debit, credit) = (debit.with_decimals(places), credit.with_decimals(places));
    Error::field("lines", format!("debits of {debit} and credits of {credit} {currency} must be equal"))
}

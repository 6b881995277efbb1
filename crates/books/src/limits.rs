//! How far the entries of somebody may go: what they move, and how far back.
//!
//! Owns: [`Judged`], an entry that was held against the limits of who posts it. The desk takes no other, so that no kind
//! of document and no action can forget them.
//!
//! What counts is what the entries of one document move in one request: the sum of what comes in, and the sum of what is
//! taken back, each by itself. Whoever may post 100 may also change 90 to 95; neither is more than 100.
//!
//! What is in another currency counts at what the books say, at the company's own rate or at the last rate that others than
//! the author made, whichever is most: a rate that somebody chose makes nothing small, in a document or in the list of rates.
//! Where there is none but the author's own, whoever has a limit is refused; nor do they change or delete those of others.

use crate::cx::Cx;
use crate::day::Day;
use crate::desk::NewEntry;
use crate::error::{Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money, Rate, Rounding};
use rules::posting::Line;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use words::exact::{BookCoin, Exact};

/// An entry that goes no further than its author may.
pub struct Judged(NewEntry);

impl Judged {
    pub(super) fn into_inner(self) -> NewEntry {
        self.0
    }
}

/// Which way an entry goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    In,
    /// It takes back what was put in.
    Back,
    /// It undoes, on another day, what another entry of the same document does, or no longer does so: no more than that
    /// one moves, which is counted.
    Mirrored,
}

/// What the entries of a request have moved so far, document by document.
#[derive(Default)]
pub struct Tally(Mutex<HashMap<RecordId, Moved>>);

#[derive(Default, Clone, Copy)]
struct Moved {
    put_in: BookMoney,
    taken_back: BookMoney,
}

impl Tally {
    /// The sum with this much more.
    fn add(&self, document: RecordId, moves: Moves, amount: BookMoney) -> Option<BookMoney> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = seen.entry(document).or_default();
        let sum = match moves {
            Moves::In => &mut moved.put_in,
            Moves::Back => &mut moved.taken_back,
            Moves::Mirrored => return Some(BookMoney::ZERO),
        };
        *sum = sum.checked_add(amount)?;
        Some(*sum)
    }
}

/// Holds an entry against the limits of who asks.
pub async fn judge(cx: &Cx<'_>, tally: &Tally, entry: NewEntry) -> Result<Judged> {
    let limits = cx.business()?.seat.limits;
    if limits.backdate_days.is_some() {
        check_day(cx, entry.date, "date")?;
    }
    if limits.max_document_amount.is_some() {
        let amount = moved(cx, &entry).await?.ok_or_else(too_much)?;
        let sum = tally.add(entry.document_id, entry.moves, amount).ok_or_else(too_much)?;
        check_amount(cx, sum, if entry.moves == Moves::Back { "takes back" } else { "moves" })?;
    }
    Ok(Judged(entry))
}

/// Refuses a day that is further back than the caller may go.
pub fn check_day(cx: &Cx<'_>, date: Day, field: &str) -> Result<()> {
    let Some(days) = cx.business()?.seat.limits.backdate_days else { return Ok(()) };
    let first = cx.today()?.plus_days(-days);
    if date >= first {
        return Ok(());
    }
    Err(beyond(FieldErrors::one(field, format!("must not be before {first} for you (backdateDays)"))))
}

/// Refuses a document that comes to more than the caller may post, also one that has no entries, such as an order.
pub async fn check_total(
    cx: &Cx<'_>,
    date: Day,
    (currency, total): (&str, Money),
    base_total: BookMoney,
) -> Result<()> {
    if cx.business()?.seat.limits.max_document_amount.is_none() {
        return Ok(());
    }
    let known = at_known_rate(cx, &mut HashMap::new(), date, (currency, total)).await?;
    let comes_to = larger(base_total, known);
    check_amount(cx, comes_to, "comes to")
}

fn check_amount(cx: &Cx<'_>, amount: BookMoney, does: &str) -> Result<()> {
    let business = cx.business()?;
    let Some(most) = business.seat.limits.max_document_amount.filter(|most| amount > *most) else { return Ok(()) };
    let [amount, most] = [amount, most].map(|money| money.with_decimals(business.currency_decimals));
    let currency = &business.base_currency;
    let why = format!("must be at most {most} {currency} for you (maxDocumentAmount); this {does} {amount} {currency}");
    Err(beyond(FieldErrors::one("total", why)))
}

fn beyond(errors: FieldErrors) -> Error {
    Error::not_allowed("This goes further than you may", errors)
}

fn too_much() -> Error {
    beyond(FieldErrors::one("total", "comes to more than can be judged"))
}

/// What an entry moves: the larger of its sides. Nothing where it is more than can be told.
async fn moved(cx: &Cx<'_>, entry: &NewEntry) -> Result<Option<BookMoney>> {
    let (mut debits, mut credits, mut rates) = (BookMoney::ZERO, BookMoney::ZERO, HashMap::new());
    for line in entry.posting.lines() {
        let known = at_known_rate(cx, &mut rates, entry.date, (line.currency(), line.currency_amount())).await?;
        let counts = larger(line.amount(), known);
        let side = if is_debit(line) { &mut debits } else { &mut credits };
        let Some(sum) = side.checked_add(counts) else { return Ok(None) };
        *side = sum;
    }
    Ok(Some(Ord::max(debits, credits)))
}

fn is_debit(line: &Line) -> bool {
    if line.amount() == BookMoney::ZERO { !line.currency_amount().is_negative() } else { !line.amount().is_negative() }
}

/// The larger of what the books say and of what is known, whatever their signs.
fn larger(said: BookMoney, known: Option<BookMoney>) -> BookMoney {
    known.map_or(said.size(), |known| Ord::max(said.size(), known.size()))
}

/// An amount in the company's currency at its own rate for the day. Nothing where it needs none.
async fn at_known_rate<'l>(
    cx: &Cx<'_>,
    rates: &mut HashMap<&'l str, Rate>,
    date: Day,
    (currency, amount): (&'l str, Money),
) -> Result<Option<BookMoney>> {
    let business = cx.business()?;
    if currency == business.base_currency {
        return Ok(None);
    }
    let rate = if let Some(rate) = rates.get(currency) {
        *rate
    } else {
        let rate = rate_for(cx, currency, date).await?;
        rates.insert(currency, rate);
        rate
    };
    let coin = BookCoin::new(business.currency_decimals, Rounding::HalfEven);
    let worth = Exact::from(amount).times(rate).and_then(|exact| exact.round(coin));
    worth.map(Some).map_err(|_| too_much())
}

/// What a currency is worth to whoever has a limit.
async fn rate_for(cx: &Cx<'_>, currency: &str, date: Day) -> Result<Rate> {
    let base = &cx.business()?.base_currency;
    let why = match crate::rates::judged(cx, currency, date).await? {
        crate::rates::Judged::At(rate) => return Ok(rate),
        crate::rates::Judged::Unknown => format!(
            "needs an exchange rate of the company for you: what {currency} is worth in {base}, which your limit is in \
             (maxDocumentAmount), is not known here"
        ),
        crate::rates::Judged::OwnOnly => format!(
            "needs an exchange rate that somebody else made for you: you have a limit in {base} (maxDocumentAmount), and are \
             not held against rates of {currency} that are all your own"
        ),
    };
    Err(beyond(FieldErrors::one("currency", why)))
}

//! What is open in other currencies, and what it is worth on a day.

use super::{RevaluationAsked, RevaluationFigures, RevaluationRate, Revaluations};
use crate::document::{self, Content, Document, Head, Purpose, SettledEntry};
use crate::error::{Code, Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money, Rate};
use answers::Ask;
use books::access::Business;
use books::balances::{balances, sum};
use books::chart::Chart;
use books::cx::{Cx, Point};
use rules::account::AccountType;
use rules::postable::Postable;
use rules::posting::{About as Detail, Line, Posting};
use rules::refusal::Refusal;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus, EntryKind, entries, entry_lines};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use words::exact::{BookCoin, Exact};
use words::sown::{Fault, sown};
use words::sums::Sums as _;

/// One account in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Revalued {
    pub(super) account: RecordId,
    pub(super) currency: String,
    pub(super) amount: Money,
    pub(super) carried: BookMoney,
    pub(super) rate: Rate,
    pub(super) worth: BookMoney,
    pub(super) difference: BookMoney,
}

type Held = (RecordId, String, Money, BookMoney);

/// What money and control accounts hold in other currencies, and what that is carried at.
pub(super) async fn open_in_other_currencies(
    cx: &Cx<'_>,
    chart: &Chart,
    business: &Business,
    head: &Head,
) -> Result<Vec<Held>> {
    let accounts: Vec<RecordId> = chart
        .accounts()
        .filter(|account| account.r#type.holds_money() || account.r#type.is_control())
        .map(|account| account.id)
        .collect();
    let held = balances(cx, Some(&accounts), Point { as_of: Some(head.date), ..Point::default() }).await?;
    let itself = of_itself(cx, &accounts, head).await?;
    let held =
        held.into_iter().filter(|((_, currency), _)| *currency != business.base_currency).map(|(key, balance)| {
            let carried = balance.base.minus(itself.sum_of(&key)).map_err(|_| Error::too_large())?;
            Ok((key.0, key.1, balance.own, carried))
        });
    let mut open: Vec<Held> = held.collect::<Result<_>>()?;
    open.retain(|(_, _, amount, carried)| (*amount, *carried) != (Money::ZERO, BookMoney::ZERO));
    open.sort_by(|left, right| (left.0, &left.1).cmp(&(right.0, &right.1)));
    Ok(open)
}

/// What a revaluation has posted itself by its day, which is nothing that it finds.
async fn of_itself(cx: &Cx<'_>, accounts: &[RecordId], head: &Head) -> Result<HashMap<(RecordId, String), BookMoney>> {
    let Some(number) = head.number.as_deref() else { return Ok(HashMap::new()) };
    let own = entries::Entity::find()
        .select_only()
        .column(entries::Column::Number)
        .filter(entries::Column::BusinessId.eq(cx.business_id()?))
        .filter(entries::Column::DocumentKind.eq(DocumentKind::Revaluation))
        .filter(entries::Column::DocumentNumber.eq(number))
        .filter(entries::Column::Date.lte(head.date));
    let lines: Vec<(RecordId, String, BookMoney)> = entry_lines::Entity::find()
        .select_only()
        .columns([entry_lines::Column::AccountId, entry_lines::Column::Currency])
        .column_as(sum(cx, Expr::col(entry_lines::Column::Amount)), "base")
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::AccountId.is_in(accounts.iter().copied()))
        .filter(entry_lines::Column::EntryNumber.in_subquery(own.into_query()))
        .group_by(entry_lines::Column::AccountId)
        .group_by(entry_lines::Column::Currency)
        .read(&cx.db)
        .await?;
    Ok(lines.into_iter().map(|(account, currency, base)| ((account, currency), base)).collect())
}

/// Makes anew what was revalued on days of which there is something else by now. It comes after a command, and with it.
pub async fn renew(cx: &Cx<'_>) -> Result<()> {
    let Some(since) = cx.changed_abroad().filter(|_| !sown(Fault::RevaluationNotRenewed)) else { return Ok(()) };
    let of_these = documents::Entity::find()
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(Column::Kind.eq(DocumentKind::Revaluation))
        .filter(Column::Status.eq(DocumentStatus::Posted))
        .filter(Column::Date.gte(since))
        .order_by_asc(Column::Date);
    if !cx.awaits(DocumentKind::Revaluation)? && of_these.clone().count(&cx.db).await? == 0 {
        return Ok(());
    }
    cx.check_undoable()?;
    cx.flush().await?;
    for row in of_these.models(&cx.db).await? {
        let old = document::found::<Revaluations>(cx, row).await?;
        let asked = RevaluationAsked { rates: rates_of(&old.content) };
        let settled =
            Revaluations::settle(cx, &old.head, &asked, Purpose::Posting).await.map_err(|error| match error {
                Error::Validation(faults) => {
                    let why: Vec<String> = faults.iter().flat_map(|(_, messages)| messages).cloned().collect();
                    let (number, date) = (old.head.number.as_deref().unwrap_or(""), old.head.date);
                    Error::conflict(
                        Code::InvalidState,
                        format!(
                            "{number} revalues {date} and {}; add an exchange rate of that day or before",
                            why.join(", ")
                        ),
                    )
                }
                other => other,
            })?;
        if settled.figures != old.content.figures {
            document::renew(cx, old, settled).await?;
            cx.flush().await?;
        }
    }
    Ok(())
}

/// What a revaluation was made with: the rates that were given with it, and those that it found.
fn rates_of(content: &Content<RevaluationAsked, RevaluationFigures>) -> Vec<RevaluationRate> {
    let found = content.figures.lines.iter().map(|line| (line.currency.clone(), line.rate));
    let given = content.asked.rates.iter().map(|one| (one.currency.clone(), one.rate));
    let all: BTreeMap<String, Rate> = found.chain(given).collect();
    all.into_iter().map(|(currency, rate)| RevaluationRate { currency, rate }).collect()
}

pub(super) fn revalued(open: &[Held], rates: &BTreeMap<&str, Rate>, coin: BookCoin) -> Option<RevaluationFigures> {
    let mut figures = RevaluationFigures::default();
    for (account, currency, amount, carried) in open {
        let rate = *rates.get(currency.as_str())?;
        let worth = Exact::from(*amount).times(rate).ok()?.round(coin).ok()?;
        let difference = worth.checked_sub(*carried)?;
        figures.gain = figures.gain.checked_add(difference)?;
        figures.lines.push(Revalued {
            account: *account,
            currency: currency.clone(),
            amount: *amount,
            carried: *carried,
            rate,
            worth,
            difference,
        });
    }
    Some(figures)
}

pub(super) fn to_post(
    chart: &Chart,
    business: &Business,
    head: &Head,
    figures: &RevaluationFigures,
) -> Result<Vec<SettledEntry>> {
    let home = business.home();
    let too_large = || Error::field("rates", "make more of it than can be kept");
    let refused = |refusal: Refusal| refusal.at("rates");
    let in_base =
        |to: Postable, amount: BookMoney| Line::on(to, home.alone(amount), Detail::default()).map_err(refused);
    let roles = chart.roles();
    let mut lines = Vec::new();
    for line in &figures.lines {
        let kind = chart.account(line.account).map(|account| account.r#type);
        lines.push(match kind {
            Some(AccountType::Receivable) => in_base(roles.receivable_revaluation.clone().into(), line.difference)?,
            Some(AccountType::Payable) => in_base(roles.payable_revaluation.clone().into(), line.difference)?,
            // Money is worth more or less itself; there is not more of it.
            _ => {
                let worth = home.worth_more(&line.currency, line.difference);
                Line::on(chart.standing(line.account).map_err(refused)?, worth, Detail::default()).map_err(refused)?
            }
        });
        let back = line.difference.checked_neg().ok_or_else(too_large)?;
        lines.push(in_base(roles.unrealised_exchange.clone().into(), back)?);
    }
    let posting = Posting::summing_up(lines).map_err(|_| too_large())?;
    let back = SettledEntry {
        kind: EntryKind::AutoReversal,
        date: head.date.next(),
        field: "date",
        posting: posting.reversed(head.date, head.date.next()),
    };
    let first = SettledEntry { kind: EntryKind::Revaluation, date: head.date, field: "date", posting };
    Ok(if sown(Fault::RevaluationStays) { vec![first] } else { vec![first, back] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Rounding;
    use crate::samples::{head, id, rate, summed};

    #[test]
    fn an_open_debt_is_worth_what_the_day_says() {
        let money = |text| Money::parse(text).unwrap();
        let worth = |text| BookMoney::parse(text).unwrap();
        let open = [(RecordId::default(), "USD".to_owned(), money("1000"), worth("900"))];
        let rates = BTreeMap::from([("USD", Rate::parse("0.95").unwrap())]);
        let figures = revalued(&open, &rates, BookCoin::new(2, Rounding::HalfUp)).unwrap();
        assert_eq!((figures.gain, figures.lines[0].worth), (worth("50"), worth("950")));
    }

    fn open(account: u128, currency: &str, amount: &str, carried: &str) -> Held {
        (id(account), currency.to_owned(), crate::samples::money(amount), crate::samples::worth(carried))
    }

    /// The entries of the last day and of the next: which kind, which day, what they post.
    fn posted(open: &[Held]) -> Vec<String> {
        let (chart, business) = (books::chart::sample(), Business::sample());
        let rates = BTreeMap::from([("USD", rate("0.95")), ("GBP", rate("1.2"))]);
        let figures = revalued(open, &rates, business.coin()).unwrap();
        let entries = to_post(&chart, &business, &head("2026-01-31"), &figures).unwrap();
        entries.iter().map(|entry| format!("{} {}: {}", entry.kind, entry.date, summed(&entry.posting))).collect()
    }

    #[test]
    fn what_is_open_abroad_is_worth_what_the_day_says_and_the_next_day_takes_it_back() {
        for (name, found, on_the_day, on_the_next) in [
            ("E20", vec![open(1200, "USD", "1000", "900")], "1210 50; 4910 -50", "1210 -50; 4910 50"),
            // Kernel 6.7: 400 of them came in, which leaves 600 at 0.90.
            ("6.7", vec![open(1200, "USD", "600", "540")], "1210 30; 4910 -30", "1210 -30; 4910 30"),
            ("what we owe", vec![open(2100, "USD", "-1000", "-900")], "2110 -50; 4910 50", "2110 50; 4910 -50"),
            ("money itself", vec![open(1020, "USD", "1000", "910")], "1020 40; 4910 -40", "1020 -40; 4910 40"),
            ("at a loss", vec![open(1200, "GBP", "100", "125")], "1210 -5; 4910 5", "1210 5; 4910 -5"),
            (
                "one against the other",
                vec![open(1200, "USD", "1000", "900"), open(2100, "USD", "-1000", "-900")],
                "1210 50; 2110 -50",
                "1210 -50; 2110 50",
            ),
            // Nothing is left of it, and it is still carried at something.
            ("what nothing stands for", vec![open(1020, "USD", "0", "3")], "1020 -3; 4910 3", "1020 3; 4910 -3"),
            ("rounded once", vec![open(1200, "USD", "0.05", "0.04")], "1210 0.01; 4910 -0.01", "1210 -0.01; 4910 0.01"),
        ] {
            let entries =
                [format!("fxRevaluation 2026-01-31: {on_the_day}"), format!("autoReversal 2026-02-01: {on_the_next}")];
            assert_eq!(posted(&found), entries, "{name}");
        }
    }

    #[test]
    fn money_is_worth_more_without_being_more() {
        let (chart, business) = (books::chart::sample(), Business::sample());
        let rates = BTreeMap::from([("USD", rate("0.95"))]);
        let figures = revalued(&[open(1020, "USD", "1000", "910")], &rates, business.coin()).unwrap();
        let entries = to_post(&chart, &business, &head("2026-01-31"), &figures).unwrap();
        let bank = entries[0].posting.lines().iter().find(|line| line.account() == id(1020)).unwrap();
        assert_eq!(
            (bank.currency(), bank.currency_amount(), bank.amount()),
            ("USD", Money::ZERO, crate::samples::worth("40"))
        );
        // A currency without a rate has no worth.
        assert_eq!(revalued(&[open(1020, "GBP", "1", "1")], &rates, business.coin()), None);
    }
}

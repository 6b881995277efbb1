//! The keeper of money in other currencies: accounts of money are carried at what was paid for what they hold.
//!
//! Documents say what their money is worth; what it was carried at is a function of all that moved until then
//! ([`rules::purse`]). After a command that moved some, the ledger is brought to that function on its day and every later
//! one, by entries of their own: a gain or a loss of exchange. A revaluation is no part of it, since it is taken back on the
//! next day. A day that is closed takes none, and the command is refused.

use crate::abroad::By;
use crate::balances::{balances, sum};
use crate::cx::{Cx, Point};
use crate::day::Day;
use crate::desk::NewEntry;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::limits::Moves;
use crate::money::{BookMoney, Money, of_home};
use crate::periods::Module;
use answers::Ask;
use rules::posting::{About, Line, Posting, Unbalanced};
use rules::purse::{Move, Purse, evenings};
use rules::refusal::Refusal;
use schema::account as accounts;
use schema::tables::{DocumentKind, EntryKind, entries, entry_lines};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, Select};
use std::collections::{BTreeMap, HashMap, HashSet};
use words::sums::Sums as _;

/// An account, and what of it is in one other currency.
type Key = (RecordId, String);

answers::of_row! {
    /// A line that moved money in another currency, with what its entry says.
    #[derive(Debug, Clone)]
    struct Moved {
        number: i64,
        id: RecordId,
        kind: EntryKind,
        document_kind: DocumentKind,
        document_id: RecordId,
        reverses_id: Option<RecordId>,
        account_id: RecordId,
        date: Day,
        amount: BookMoney,
        currency: String,
        currency_amount: Option<Money>,
    }
}

impl Moved {
    fn own(&self) -> Money {
        of_home(self.currency_amount, self.amount)
    }
}

/// Brings what money is carried at to what it is after all that a command moved. It comes after a command, and with it.
pub async fn keep(cx: &Cx<'_>) -> Result<()> {
    if cx.abroad().since().is_none() {
        return Ok(());
    }
    let chart = cx.chart().await?;
    let of_money: HashSet<RecordId> =
        chart.accounts().filter(|account| account.r#type.holds_money()).map(|account| account.id).collect();
    let Some((from, by)) = cx.abroad().first_on(|account| of_money.contains(&account)) else { return Ok(()) };
    let awaiting = awaiting(cx, &of_money)?;
    let accounts: Vec<RecordId> = of_money.into_iter().collect();
    let (since, moved) = story(cx, &accounts, &awaiting, from).await?;
    tracing::debug!(lines = moved.len(), "money in other currencies was valued");
    let start = start(cx, &accounts, &awaiting, since).await?;
    let differences = differences(cx, &start, moved, from).await?;
    for (day, differences) in differences {
        post(cx, day, &by, differences).await?;
    }
    Ok(())
}

/// What waits to be written: neither lines nor balances of the database have it yet.
fn awaiting(cx: &Cx<'_>, of_money: &HashSet<RecordId>) -> Result<Vec<Moved>> {
    let base = &cx.business()?.base_currency;
    let lines = cx.awaiting(|entry, line| {
        entry.document_kind != DocumentKind::Revaluation
            && of_money.contains(&line.account_id)
            && line.currency != *base
    })?;
    let moved = |(entry, line): (entries::Model, entry_lines::Model)| Moved {
        number: entry.number,
        id: entry.id,
        kind: entry.kind,
        document_kind: entry.document_kind,
        document_id: entry.document_id,
        reverses_id: entry.reverses_id,
        account_id: line.account_id,
        date: line.date,
        amount: line.amount,
        currency_amount: line.currency_amount,
        currency: line.currency,
    };
    Ok(lines.into_iter().map(moved).collect())
}

/// All that moved from a day on, and what it takes to know what of earlier days never was. The first of these days is
/// answered with it.
async fn story(cx: &Cx<'_>, accounts: &[RecordId], awaiting: &[Moved], from: Day) -> Result<(Day, Vec<Moved>)> {
    let mut since = from;
    loop {
        let mut moved = that_moved(cx, accounts)?
            .filter(entry_lines::Column::Date.gte(since))
            .order_by_asc(entry_lines::Column::EntryNumber)
            .order_by_asc(entry_lines::Column::Position)
            .read::<Moved>(&cx.db)
            .await?;
        moved.extend(awaiting.iter().filter(|line| line.date >= since).cloned());
        let known: HashSet<RecordId> = moved.iter().map(|line| line.id).collect();
        let taken_back =
            moved.iter().filter(|line| line.kind == EntryKind::Reversal).filter_map(|line| line.reverses_id);
        let earlier: Vec<RecordId> = taken_back.filter(|id| !known.contains(id)).collect();
        let first: Option<Option<Day>> = entries::Entity::find()
            .select_only()
            .column_as(entries::Column::Date.min(), "first")
            .filter(entries::Column::BusinessId.eq(cx.business_id()?))
            .filter(entries::Column::Id.is_in(earlier.iter().copied()))
            .into_tuple()
            .one(&cx.db)
            .await?;
        let waits = awaiting.iter().filter(|line| earlier.contains(&line.id)).map(|line| line.date).min();
        match first.flatten().into_iter().chain(waits).min().filter(|first| *first < since) {
            Some(first) => since = first,
            None => return Ok((since, moved)),
        }
    }
}

/// Lines in other currencies on these accounts, but for what revaluations post.
fn that_moved(cx: &Cx<'_>, accounts: &[RecordId]) -> Result<Select<entry_lines::Entity>> {
    Ok(lines(cx, accounts)?
        .filter(entries::Column::DocumentKind.ne(DocumentKind::Revaluation))
        .columns([
            entry_lines::Column::AccountId,
            entry_lines::Column::Date,
            entry_lines::Column::Amount,
            entry_lines::Column::Currency,
            entry_lines::Column::CurrencyAmount,
        ])
        .columns([
            entries::Column::Number,
            entries::Column::Id,
            entries::Column::Kind,
            entries::Column::DocumentKind,
            entries::Column::DocumentId,
            entries::Column::ReversesId,
        ]))
}

fn lines(cx: &Cx<'_>, accounts: &[RecordId]) -> Result<Select<entry_lines::Entity>> {
    let business = cx.business()?;
    Ok(entry_lines::Entity::find()
        .select_only()
        .join(
            JoinType::InnerJoin,
            entry_lines::Entity::belongs_to(entries::Entity)
                .from((entry_lines::Column::BusinessId, entry_lines::Column::EntryNumber))
                .to((entries::Column::BusinessId, entries::Column::Number))
                .into(),
        )
        .filter(entry_lines::Column::BusinessId.eq(business.id))
        .filter(entry_lines::Column::AccountId.is_in(accounts.iter().copied()))
        .filter(entry_lines::Column::Currency.ne(business.base_currency.as_str())))
}

/// What there was on the evening before, without what was only revalued.
async fn start(cx: &Cx<'_>, accounts: &[RecordId], awaiting: &[Moved], since: Day) -> Result<BTreeMap<Key, Purse>> {
    let eve = since.previous();
    let base = &cx.business()?.base_currency;
    let held = balances(cx, Some(accounts), Point { as_of: Some(eve), ..Point::default() }).await?;
    let mut purses: BTreeMap<Key, Purse> = held
        .into_iter()
        .filter(|((_, currency), _)| currency != base)
        .map(|(key, held)| (key, Purse { own: held.own, carried: held.base }))
        .collect();
    let revalued: Vec<(RecordId, String, i64)> = lines(cx, accounts)?
        .filter(entries::Column::DocumentKind.eq(DocumentKind::Revaluation))
        .filter(entry_lines::Column::Date.lte(eve))
        .columns([entry_lines::Column::AccountId, entry_lines::Column::Currency])
        .column_as(sum(cx, Expr::col((entry_lines::Entity, entry_lines::Column::Amount))), "base")
        .group_by(entry_lines::Column::AccountId)
        .group_by(entry_lines::Column::Currency)
        .read(&cx.db)
        .await?;
    for (account, currency, base) in revalued {
        let purse = purses.entry((account, currency)).or_default();
        purse.carried = purse.carried.checked_sub(BookMoney::from_units(base)).ok_or_else(Error::too_large)?;
    }
    for line in awaiting.iter().filter(|line| line.date <= eve) {
        let purse = purses.entry((line.account_id, line.currency.clone())).or_default();
        purse.own = purse.own.checked_add(line.own()).ok_or_else(Error::too_large)?;
        purse.carried = purse.carried.checked_add(line.amount).ok_or_else(Error::too_large)?;
    }
    Ok(purses)
}

/// By how much what is carried on an account differs from what the ledger says.
type Differences = BTreeMap<Key, BookMoney>;

/// What is to be posted, day by day.
async fn differences(
    cx: &Cx<'_>,
    start: &BTreeMap<Key, Purse>,
    moved: Vec<Moved>,
    from: Day,
) -> Result<BTreeMap<Day, Differences>> {
    let business = cx.business()?;
    let mut keys: Vec<Key> = start.keys().cloned().collect();
    keys.extend(moved.iter().map(|line| (line.account_id, line.currency.clone())));
    keys.sort();
    keys.dedup();
    let place = |line: &Moved| keys.binary_search(&(line.account_id, line.currency.clone())).ok();
    let purses: Vec<Purse> = keys.iter().map(|key| start.sum_of(key)).collect();
    let moves = moves(cx, &moved, place).await?;
    let carried = evenings(&purses, &moves, business.coin()).map_err(|_| Error::too_large())?;
    let mut posted: BTreeMap<(Day, usize), BookMoney> = BTreeMap::new();
    for line in &moved {
        let purse = place(line).ok_or_else(|| Error::internal("money that is on no account"))?;
        let sum = posted.entry((line.date, purse)).or_default();
        *sum = sum.checked_add(line.amount).ok_or_else(Error::too_large)?;
    }
    let mut ledger: Vec<BookMoney> = purses.iter().map(|purse| purse.carried).collect();
    let mut found = BTreeMap::new();
    for (day, carried) in carried {
        let mut differ = Differences::new();
        for (purse, (says, carried)) in ledger.iter_mut().zip(carried).enumerate() {
            if let Some(more) = posted.get(&(day, purse)) {
                *says = says.checked_add(*more).ok_or_else(Error::too_large)?;
            }
            let by = carried.checked_sub(*says).ok_or_else(Error::too_large)?;
            if day >= from && by != BookMoney::ZERO {
                *says = carried;
                differ.insert(keys[purse].clone(), by);
            }
        }
        if !differ.is_empty() {
            found.insert(day, differ);
        }
    }
    Ok(found)
}

/// What the lines move, in the order in which they count: by days, and within a day in the order in which their documents
/// were made. What a document said last has the place of what it said first.
async fn moves(cx: &Cx<'_>, moved: &[Moved], place: impl Fn(&Moved) -> Option<usize>) -> Result<Vec<Move>> {
    let until: HashMap<RecordId, Day> = moved
        .iter()
        .filter(|line| line.kind == EntryKind::Reversal)
        .filter_map(|line| Some((line.reverses_id?, line.date)))
        .collect();
    let said: HashMap<RecordId, i64> = accounts::Entity::find()
        .select_only()
        .columns([accounts::Column::Id, accounts::Column::AsSaidUntil])
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .filter(accounts::Column::AsSaidUntil.gt(crate::BEFORE_THE_FIRST))
        .read::<(RecordId, i64)>(&cx.db)
        .await?
        .into_iter()
        .collect();
    let mut counting: Vec<&Moved> =
        moved.iter().filter(|line| !matches!(line.kind, EntryKind::Reversal | EntryKind::ExchangeAdjustment)).collect();
    // Lines of an entry stand as they are.
    counting.sort_by_key(|line| (line.date, line.document_id, line.number));
    let mut beside: HashMap<i64, i64> = HashMap::new();
    for line in moved.iter().filter(|line| line.document_kind == DocumentKind::ContraEntry) {
        *beside.entry(line.number).or_default() += 1;
    }
    let one = |line: &&Moved| {
        let purse = place(line).ok_or_else(|| Error::internal("money that is on no account"))?;
        Ok(Move {
            purse,
            day: line.date,
            entry: line.number,
            own: line.own(),
            said: line.amount,
            until: until.get(&line.id).copied(),
            as_said: said.get(&line.account_id).is_some_and(|last| line.number <= *last),
            brings_along: beside.sum_of(&line.number) > 1,
        })
    };
    counting.iter().map(one).collect()
}

async fn post(cx: &Cx<'_>, day: Day, by: &By, differences: Differences) -> Result<()> {
    let module = if by.kind == DocumentKind::Journal { Module::Journal } else { Module::Bank };
    cx.periods().await?.check(module, "date", day, cx.asker())?;
    let (chart, home) = (cx.chart().await?, cx.business()?.home());
    let gain = differences.values().try_fold(BookMoney::ZERO, |sum, by| sum.checked_add(*by));
    let gain = gain.ok_or_else(Error::too_large)?;
    let refused = |why: Refusal| Error::internal(format!("what money is carried at {why}"));
    let mut lines = Vec::new();
    for ((account, currency), by) in differences {
        // It is worth more or less; there is not more of it.
        let worth = home.worth_more(&currency, by);
        lines.push(Line::on(chart.standing(account).map_err(refused)?, worth, About::default()).map_err(refused)?);
    }
    let exchange = chart.roles().realised_exchange.clone();
    lines.push(Line::on(exchange, home.alone(gain.negated()), About::default()).map_err(refused)?);
    let posting = Posting::summing_up(lines).map_err(|fault| match fault {
        Unbalanced::TooLarge => Error::too_large(),
        other => Error::internal(format!("what money is carried at does not balance: {other:?}")),
    })?;
    cx.post(NewEntry {
        date: day,
        kind: EntryKind::ExchangeAdjustment,
        document: by.kind,
        document_id: by.id,
        document_version: by.version,
        document_number: by.number.clone(),
        reverses: None,
        trade: None,
        // What the document moves is counted with it; of the rest somebody else is the author.
        moves: Moves::Mirrored,
        narration: Some("What money in another currency is carried at".into()),
        posting,
    })
    .await
    .map(drop)
}

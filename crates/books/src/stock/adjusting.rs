//! What the function changes beside what documents post themselves: entries of its own, one an item and day, and what by
//! that waits for an invoice elsewhere.

use super::change::Rest;
use super::{Sums, move_of, too_large};
use crate::cx::Cx;
use crate::day::Day;
use crate::desk::NewEntry;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::limits::Moves;
use crate::money::{BookMoney, Quantity};
use crate::periods::Module;
use crate::progress;
use rules::posting::{Line, Posting, Subject, Unbalanced};
use rules::refusal::Refusal;
use rules::stock::add;
use schema::tables::{EntryKind, documents, stock_facts};
use std::collections::BTreeMap;

/// What goods that wait for their invoice are carried at: by how much that moves, line by line and day by day.
#[derive(Default)]
pub(super) struct Waits(BTreeMap<(RecordId, Day), (Option<RecordId>, BookMoney)>);

impl Waits {
    pub(super) fn add(&mut self, fact: &stock_facts::Model, day: Day, by: BookMoney) -> Result<()> {
        if by != BookMoney::ZERO {
            let known = self.0.entry((fact.waiting_line(), day)).or_insert((fact.waits_account_id, BookMoney::ZERO));
            known.1 = add(known.1, by).map_err(too_large)?;
        }
        Ok(())
    }

    pub(super) async fn keep(self, cx: &Cx<'_>, by: &documents::Model) -> Result<()> {
        let moved: Vec<progress::Waited> = self
            .0
            .into_iter()
            .filter(|(_, (_, value))| *value != BookMoney::ZERO)
            .map(|((line, date), (account, value))| {
                let account = account.ok_or_else(|| Error::internal("goods wait on no account"))?;
                Ok(progress::Waited { line, date, account, value })
            })
            .collect::<Result<_>>()?;
        progress::wait(cx, by, moved).await
    }
}

/// Posts what is left to be posted, each on its day or on the first open one after it.
pub(super) async fn post(cx: &Cx<'_>, row: &documents::Model, rest: Vec<Rest>, waits: &mut Waits) -> Result<()> {
    if rest.is_empty() {
        return Ok(());
    }
    let periods = cx.periods().await?;
    let mut by_day: BTreeMap<(RecordId, Day), Vec<Rest>> = BTreeMap::new();
    for one in rest {
        let day = periods.first_open(Module::Stock, one.day, cx.asker())?;
        by_day.entry((one.fact.item_id, day)).or_default().push(one);
    }
    for ((item, day), rest) in by_day {
        let (mut sums, mut stock): (Sums, BTreeMap<RecordId, (stock_facts::Model, BookMoney)>) = Default::default();
        for Rest { fact, by, .. } in rest {
            let mut to = |account: RecordId, amount: BookMoney| -> Result<()> {
                let sum = sums.entry(account).or_default();
                *sum = add(*sum, amount).map_err(too_large)?;
                Ok(())
            };
            to(fact.inventory_account_id, by.stock)?;
            to(fact.cost_account_id, by.cost)?;
            to(fact.variance_account_id, by.variance)?;
            if by.waits != BookMoney::ZERO {
                to(fact.waits_account_id.ok_or_else(|| Error::internal("goods wait on no account"))?, by.waits)?;
                waits.add(&fact, day, by.waits)?;
            }
            let known = stock.entry(fact.inventory_account_id).or_insert_with(|| (fact, BookMoney::ZERO));
            known.1 = add(known.1, by.stock).map_err(too_large)?;
        }
        for (fact, value) in stock.into_values().filter(|(_, value)| *value != BookMoney::ZERO) {
            let moved = move_of(cx, &fact, row, (day, Quantity::ZERO, value));
            let now = cx.now;
            cx.keep(|desk| desk.move_stock(now, moved))?;
        }
        let home = cx.business()?.home();
        let chart = cx.chart().await?;
        let line = |(account, amount): (RecordId, BookMoney)| {
            let subject = Subject { item: Some(item), ..Subject::default() };
            Line::on(chart.standing(account)?, home.alone(amount), subject.into())
        };
        let lines: Result<Vec<Line>, Refusal> = sums.into_iter().map(line).collect();
        let lines = lines.map_err(|why| Error::internal(format!("a correction of stock {why}")))?;
        let posting = Posting::summing_up(lines).map_err(|fault| match fault {
            Unbalanced::TooLarge => Error::too_large(),
            other => Error::internal(format!("an adjustment of stock does not balance: {other:?}")),
        })?;
        if posting.is_empty() {
            continue;
        }
        cx.post(NewEntry {
            date: day,
            kind: EntryKind::StockAdjustment,
            document: row.kind,
            document_id: row.id,
            document_version: row.version,
            document_number: row.number.clone(),
            reverses: None,
            trade: None,
            moves: Moves::In,
            narration: Some("Goods cost something else than was booked".into()),
            posting,
        })
        .await?;
    }
    Ok(())
}

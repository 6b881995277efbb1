//! What moved money, account by account, and for which activity.

use super::super::asked::Asked;
use super::super::lines::{amount, apart, of_span, without};
use super::super::statements::Chart;
use super::settled::settled;
use crate::error::Result;
use crate::ids::RecordId;
use answers::Ask;
use books::balances::{last_known, sum};
use books::chart::{SystemRole, in_role};
use books::cx::Cx;
use books::sums::{Span, ever_moved, sums};
use futures_util::future::try_join;
use rules::account::CashFlowSection;
use schema::tables::{DocumentKind, EntryKind, cash_days, entries, entry_lines};
use sea_orm::sea_query::{Alias, DynIden, Expr, ExprTrait, IntoIden, Query, SimpleExpr};
use sea_orm::{ColumnTrait, JoinType, QueryFilter, QuerySelect, QueryTrait, Select};
use std::collections::{HashMap, HashSet};
use words::sown::{Fault, sown};
use words::sums::Sums as _;

/// What is neither business nor money: where books begin, and what lies between two years.
pub(super) const BETWEEN: [EntryKind; 2] = [EntryKind::Opening, EntryKind::YearEnd];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Activity {
    Section(CashFlowSection),
    /// Money itself came to be worth more or less.
    Exchange,
}

/// What accounts that hold no money gave to money; what they took is negative.
#[derive(Debug, Default)]
pub(super) struct Flows {
    others: HashSet<RecordId>,
    direct: HashMap<(Activity, RecordId), i64>,
    /// In all entries, whether they moved money or not.
    moved: HashMap<RecordId, i64>,
    /// What control accounts hold of other sections, taken from them and given to the accounts there. Adds up to 0.
    carried: HashMap<RecordId, i64>,
    /// What money there was when the books began.
    pub(super) taken_over: i64,
}

impl Flows {
    pub(super) fn is_other(&self, account: RecordId) -> bool {
        self.others.contains(&account)
    }

    pub(super) fn direct(&self, activity: Activity, account: RecordId) -> i64 {
        self.direct.sum_of(&(activity, account))
    }

    pub(super) fn moved(&self, account: RecordId) -> i64 {
        self.moved.sum_of(&account)
    }

    pub(super) fn of(&self, activity: Activity) -> i64 {
        self.direct.iter().filter(|((of, _), _)| *of == activity).map(|(_, gave)| gave).sum()
    }

    /// What of an account stands in other sections, or is carried by a control account for it.
    pub(super) fn elsewhere(&self, account: RecordId) -> i64 {
        let operating = Activity::Section(CashFlowSection::Operating);
        let others = self.direct.iter().filter(|((of, id), _)| *of != operating && *id == account);
        others.map(|(_, gave)| gave).sum::<i64>() - self.carried.sum_of(&account)
    }

    #[cfg(test)]
    pub(super) fn sample(direct: &[(Activity, u128, i64)], moved: &[(u128, i64)], others: &[u128]) -> Self {
        let id = super::super::samples::id;
        Self {
            others: others.iter().map(|code| id(*code)).collect(),
            direct: direct.iter().map(|(activity, code, cents)| ((*activity, id(*code)), cents * 100)).collect(),
            moved: moved.iter().map(|(code, cents)| (id(*code), cents * 100)).collect(),
            ..Self::default()
        }
    }

    pub(super) fn give(&mut self, activity: Activity, account: RecordId, amount: i64) {
        *self.direct.entry((activity, account)).or_default() += amount;
    }

    pub(super) fn carry(&mut self, control: RecordId, account: RecordId, amount: i64) {
        *self.carried.entry(control).or_default() -= amount;
        *self.carried.entry(account).or_default() += amount;
    }
}

answers::of_row! {
    struct ByKind {
        account_id: RecordId,
        document_kind: DocumentKind,
        kind: EntryKind,
        amount: i64,
    }
}

answers::of_row! {
    struct ByAccount {
        account_id: RecordId,
        amount: i64,
    }
}

/// Accounts by what they hold.
pub(super) struct Sides {
    pub(super) money: Vec<RecordId>,
    sections: HashMap<RecordId, CashFlowSection>,
    /// Those that are investing or financing.
    pub(super) outside: Vec<RecordId>,
}

impl Sides {
    fn of(chart: &Chart) -> Self {
        let (money, others): (Vec<_>, Vec<_>) = chart.0.iter().partition(|account| account.r#type.holds_money());
        let sections: HashMap<RecordId, CashFlowSection> =
            others.iter().map(|account| (account.id, account.cash_flow())).collect();
        let outside = sections.iter().filter(|(_, section)| **section != CashFlowSection::Operating);
        Self {
            money: money.iter().map(|account| account.id).collect(),
            outside: outside.map(|(id, _)| *id).collect(),
            sections,
        }
    }

    pub(super) fn activity(&self, account: RecordId) -> Option<Activity> {
        self.sections.get(&account).copied().map(Activity::Section)
    }
}

pub(super) async fn gather(cx: &Cx<'_>, asked: &Asked, chart: &Chart) -> Result<Flows> {
    let mut sides = Sides::of(chart);
    // Most books have nothing on most of them, and what nothing was posted to need not be looked for in entries.
    let moved = sums(cx, asked.span, asked.point, asked.apart);
    let (outside, (moved, _)) = try_join(ever_moved(cx, &sides.outside), moved).await?;
    sides.outside = outside;
    let mut flows = Flows { others: sides.sections.keys().copied().collect(), ..Flows::default() };
    for (id, moved) in moved {
        flows.moved.insert(id, -moved.net());
    }
    if asked.apart.openings {
        let begun = apart(cx, of_span(cx, asked.span, asked).await?, &[EntryKind::Opening])?;
        for row in by_account(cx, begun).await? {
            if sides.money.contains(&row.account_id) {
                flows.taken_over += row.amount;
            } else {
                *flows.moved.entry(row.account_id).or_default() += row.amount;
            }
        }
    }
    against_money(cx, asked, &sides, &mut flows).await?;
    settled(cx, asked, &sides, &mut flows).await?;
    Ok(flows)
}

async fn by_account(cx: &Cx<'_>, lines: Select<entry_lines::Entity>) -> Result<Vec<ByAccount>> {
    let sums = lines
        .column(entry_lines::Column::AccountId)
        .column_as(amount(cx), "amount")
        .group_by(entry_lines::Column::AccountId);
    Ok(sums.read(&cx.db).await?)
}

/// The numbers of entries of some days that move money.
pub(super) fn that_move_money(cx: &Cx<'_>, sides: &Sides, span: Span) -> Result<Select<entry_lines::Entity>> {
    let lines = entry_lines::Entity::find()
        .select_only()
        .column(entry_lines::Column::EntryNumber)
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::AccountId.is_in(sides.money.iter().copied()))
        .filter(entry_lines::Column::Date.lte(span.to));
    // All lines of an entry are of one day.
    Ok(match span.from {
        Some(from) => lines.filter(entry_lines::Column::Date.gte(from)),
        None => lines,
    })
}

/// Only lines of these entries, each found by its entry: few entries move money, and very many lines are of the days.
fn of_entries(
    mut lines: Select<entry_lines::Entity>,
    entries: Select<entry_lines::Entity>,
) -> Select<entry_lines::Entity> {
    let these = Alias::new("these");
    let number = |table: DynIden| Expr::col((table, entry_lines::Column::EntryNumber));
    let same = number(these.clone().into_iden()).eq(number(entry_lines::Entity.into_iden()));
    QuerySelect::query(&mut lines).join_subquery(JoinType::InnerJoin, entries.distinct().into_query(), these, same);
    lines
}

/// What accounts were moved by in the entries that moved money, as is kept by day.
async fn by_day(cx: &Cx<'_>, span: Span) -> Result<Vec<ByKind>> {
    let days = cash_days::Entity::find()
        .select_only()
        .column(cash_days::Column::AccountId)
        .column(cash_days::Column::DocumentKind)
        .column(cash_days::Column::Kind)
        .column_as(sum(cx, Expr::col(cash_days::Column::Amount)), "amount")
        .filter(cash_days::Column::BusinessId.eq(cx.business_id()?))
        .filter(cash_days::Column::Date.lte(span.to))
        .group_by(cash_days::Column::AccountId)
        .group_by(cash_days::Column::DocumentKind)
        .group_by(cash_days::Column::Kind);
    let days = match span.from {
        Some(from) => days.filter(cash_days::Column::Date.gte(from)),
        None => days,
    };
    Ok(days.read(&cx.db).await?)
}

/// What other accounts gave in the entries that moved money. What is asked as it was known earlier is not kept.
async fn against_money(cx: &Cx<'_>, asked: &Asked, sides: &Sides, flows: &mut Flows) -> Result<()> {
    let between = if sown(Fault::OpeningIsFlow) { &BETWEEN[1..] } else { &BETWEEN[..] };
    let of_lines = async |lines: Select<entry_lines::Entity>| -> Result<Vec<ByKind>> {
        let found = lines
            .column(entry_lines::Column::AccountId)
            .column(entries::Column::DocumentKind)
            .column(entries::Column::Kind)
            .column_as(amount(cx), "amount")
            .group_by(entry_lines::Column::AccountId)
            .group_by(entries::Column::DocumentKind)
            .group_by(entries::Column::Kind);
        Ok(found.read(&cx.db).await?)
    };
    let found = if last_known(cx, asked.point).await?.is_none() {
        let mut found = by_day(cx, asked.span).await?;
        let between: Vec<EntryKind> = asked.apart.of(between).collect();
        if !between.is_empty() {
            // There are few of them, each found by what it is.
            let lines = apart(cx, of_span(cx, asked.span, asked).await?, &between)?
                .filter(beside(|other| other(entry_lines::Column::AccountId).is_in(sides.money.iter().copied())));
            found.extend(of_lines(lines).await?.into_iter().map(|row| ByKind { amount: -row.amount, ..row }));
        }
        found
    } else {
        let lines = of_entries(of_span(cx, asked.span, asked).await?, that_move_money(cx, sides, asked.span)?);
        of_lines(without(cx, lines, between, asked.apart)?).await?
    };
    let mut gains = HashSet::new();
    for role in [SystemRole::RealisedExchange, SystemRole::UnrealisedExchange] {
        gains.insert(in_role(cx.business()?, role)?);
    }
    for row in found {
        let Some(section) = sides.activity(row.account_id) else { continue };
        let activity = match row.document_kind {
            DocumentKind::Revaluation => Activity::Exchange,
            _ if row.kind == EntryKind::ExchangeAdjustment => Activity::Exchange,
            DocumentKind::ContraEntry if gains.contains(&row.account_id) => Activity::Exchange,
            _ => section,
        };
        flows.give(activity, row.account_id, -row.amount);
    }
    Ok(())
}

/// Whether another line of the same entry is like this. Asked line by line: few lines are of another section, and very
/// many entries name a party.
pub(super) fn beside(like: impl FnOnce(&dyn Fn(entry_lines::Column) -> SimpleExpr) -> SimpleExpr) -> SimpleExpr {
    let other = |column: entry_lines::Column| Expr::col((Alias::new("other"), column));
    let same = |column: entry_lines::Column| other(column).equals((entry_lines::Entity, column));
    let line = Query::select()
        .expr(Expr::val(1))
        .from_as(entry_lines::Entity, Alias::new("other"))
        .and_where(same(entry_lines::Column::BusinessId))
        .and_where(same(entry_lines::Column::EntryNumber))
        .and_where(like(&other))
        .take();
    Expr::exists(line)
}

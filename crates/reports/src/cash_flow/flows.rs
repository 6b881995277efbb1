//! What moved money, account by account, and for which activity.

use super::super::asked::Asked;
use super::super::lines::{amount, apart, of_span, without};
use super::super::statements::Chart;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Money;
use answers::Ask;
use books::among::among;
use books::balances::{last_known, sum};
use books::chart::{SystemRole, in_role};
use books::cx::Cx;
use books::portions::by_parameters;
use books::sums::{Span, ever_moved, sums};
use futures_util::future::try_join;
use rules::account::CashFlowSection;
use schema::tables::{DocumentKind, EntryKind, allocations, cash_days, entries, entry_lines, open_item_moves};
use sea_orm::sea_query::{Alias, DynIden, Expr, ExprTrait, IntoIden, Query, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, JoinType, QueryFilter, QuerySelect, QueryTrait, Select};
use std::collections::{BTreeMap, HashMap, HashSet};
use words::sown::{Fault, sown};
use words::sums::Sums as _;

/// What is neither business nor money: where books begin, and what lies between two years.
const BETWEEN: [EntryKind; 2] = [EntryKind::Opening, EntryKind::YearEnd];

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

    fn give(&mut self, activity: Activity, account: RecordId, amount: i64) {
        *self.direct.entry((activity, account)).or_default() += amount;
    }

    fn carry(&mut self, control: RecordId, account: RecordId, amount: i64) {
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

answers::of_row! {
    struct ByDocument {
        document_id: RecordId,
        account_id: RecordId,
        amount: i64,
    }
}

/// Accounts by what they hold.
struct Sides {
    money: Vec<RecordId>,
    sections: HashMap<RecordId, CashFlowSection>,
    /// Those that are investing or financing.
    outside: Vec<RecordId>,
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

    fn activity(&self, account: RecordId) -> Option<Activity> {
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
fn that_move_money(cx: &Cx<'_>, sides: &Sides, span: Span) -> Result<Select<entry_lines::Entity>> {
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
fn beside(like: impl FnOnce(&dyn Fn(entry_lines::Column) -> SimpleExpr) -> SimpleExpr) -> SimpleExpr {
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

/// What documents say of other sections: by account, and what their control account carries of it all.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) outside: BTreeMap<RecordId, i64>,
    pub(super) control: i64,
    pub(super) account: Option<RecordId>,
}

/// Lines of entries that name a party, move no money and have something of another section.
async fn said(cx: &Cx<'_>, asked: &Asked, sides: &Sides, span: Span) -> Result<HashMap<RecordId, Said>> {
    if sides.outside.is_empty() {
        return Ok(HashMap::new());
    }
    let outside = without(cx, of_span(cx, span, asked).await?, &BETWEEN, asked.apart)?
        .filter(among(cx, (entry_lines::Entity, entry_lines::Column::AccountId), sides.outside.iter().copied()))
        .filter(entries::Column::Kind.ne(EntryKind::Allocation))
        .filter(beside(|other| other(entry_lines::Column::PartyId).is_not_null()))
        .filter(beside(|other| other(entry_lines::Column::AccountId).is_in(sides.money.iter().copied())).not());
    let mut found: HashMap<RecordId, Said> = HashMap::new();
    for row in by_document(cx, outside).await? {
        *found.entry(row.document_id).or_default().outside.entry(row.account_id).or_default() += row.amount;
    }
    let documents: Vec<RecordId> = found.keys().copied().collect();
    for portion in by_parameters(&documents) {
        let controls = without(cx, of_span(cx, span, asked).await?, &BETWEEN, asked.apart)?
            .filter(entries::Column::DocumentId.is_in(portion.iter().copied()))
            .filter(entries::Column::Kind.ne(EntryKind::Allocation))
            .filter(entry_lines::Column::PartyId.is_not_null());
        for row in by_document(cx, controls).await? {
            if let Some(said) = found.get_mut(&row.document_id) {
                said.control += row.amount;
                said.account.get_or_insert(row.account_id);
            }
        }
    }
    Ok(found)
}

async fn by_document(cx: &Cx<'_>, lines: Select<entry_lines::Entity>) -> Result<Vec<ByDocument>> {
    let sums = lines
        .column(entries::Column::DocumentId)
        .column(entry_lines::Column::AccountId)
        .column_as(amount(cx), "amount")
        .group_by(entries::Column::DocumentId)
        .group_by(entry_lines::Column::AccountId);
    Ok(sums.read(&cx.db).await?)
}

answers::of_row! {
    struct Settles {
        /// The document that is settled by money.
        document_id: RecordId,
        /// The control account that the money stood on.
        account_id: RecordId,
        date: Day,
        base: i64,
    }
}

/// Gives what settled documents to the sections of what they say.
async fn settled(cx: &Cx<'_>, asked: &Asked, sides: &Sides, flows: &mut Flows) -> Result<()> {
    if sown(Fault::SettlementIsOperating) {
        return Ok(());
    }
    let all = said(cx, asked, sides, Span { from: None, to: asked.span.to }).await?;
    if all.is_empty() {
        return Ok(());
    }
    for said in said(cx, asked, sides, asked.span).await?.into_values() {
        let Some(control) = said.account else { continue };
        for (account, amount) in said.outside {
            flows.carry(control, account, amount);
        }
    }
    let said = all;
    let documents: Vec<RecordId> = said.iter().filter(|(_, said)| said.control != 0).map(|(id, _)| *id).collect();
    let coin = Money::smallest(cx.business()?.currency_decimals).units();
    let from = asked.span.from;
    let mut left: HashMap<RecordId, Left> = HashMap::new();
    for settles in settlements(cx, asked, sides, &documents).await? {
        let Some(said) = said.get(&settles.document_id) else { continue };
        let left = left.entry(settles.document_id).or_insert_with(|| Left::of(said));
        for (account, share) in left.take(settles.base, coin)? {
            if from.is_some_and(|from| settles.date < from) {
                continue;
            }
            let Some(section) = sides.activity(account) else { continue };
            flows.give(section, account, -share);
            flows.give(Activity::Section(CashFlowSection::Operating), settles.account_id, share);
            flows.carry(settles.account_id, account, -share);
        }
    }
    Ok(())
}

/// What money settled of these documents, in the order of days.
async fn settlements(cx: &Cx<'_>, asked: &Asked, sides: &Sides, documents: &[RecordId]) -> Result<Vec<Settles>> {
    let business = cx.business_id()?;
    let until = Span { from: None, to: asked.span.to };
    let of_money = entries::Entity::find()
        .select_only()
        .column(entries::Column::DocumentId)
        .filter(entries::Column::BusinessId.eq(business))
        .filter(entries::Column::Number.in_subquery(that_move_money(cx, sides, until)?.into_query()));
    let of_money = of_money.into_query();
    let mut found: Vec<(RecordId, Settles)> = Vec::new();
    for portion in by_parameters(documents) {
        for (settled, by) in [
            (allocations::Column::TargetDocumentId, allocations::Column::SourceDocumentId),
            (allocations::Column::SourceDocumentId, allocations::Column::TargetDocumentId),
        ] {
            let pairs: Vec<(RecordId, RecordId)> = allocations::Entity::find()
                .select_only()
                .column(allocations::Column::Id)
                .column(settled)
                .filter(allocations::Column::BusinessId.eq(business))
                .filter(settled.is_in(portion.iter().copied()))
                .filter(by.in_subquery(of_money.clone()))
                .read(&cx.db)
                .await?;
            let pairs: HashMap<RecordId, RecordId> = pairs.into_iter().collect();
            let ids: Vec<RecordId> = pairs.keys().copied().collect();
            for ids in by_parameters(&ids) {
                let mut moves = Condition::all()
                    .add(open_item_moves::Column::BusinessId.eq(business))
                    .add(open_item_moves::Column::AllocationId.is_in(ids.iter().copied()))
                    .add(open_item_moves::Column::DocumentId.is_not_in(portion.iter().copied()))
                    .add(open_item_moves::Column::Date.lte(asked.span.to));
                if let Some(known) = asked.point.known_at {
                    moves = moves.add(open_item_moves::Column::RecordedAt.lte(known));
                }
                for row in open_item_moves::Entity::find().filter(moves).models(&cx.db).await? {
                    let Some(document) = row.allocation_id.and_then(|id| pairs.get(&id)) else { continue };
                    let (document_id, account_id) = (*document, row.account_id);
                    found.push((row.id, Settles { document_id, account_id, date: row.date, base: row.base.units() }));
                }
            }
        }
    }
    found.sort_by_key(|(id, settles)| (settles.date, *id));
    Ok(found.into_iter().map(|(_, settles)| settles).collect())
}

/// What is not settled yet of a document, and what of that is of other sections.
pub(super) struct Left {
    whole: Said,
    outside: BTreeMap<RecordId, i64>,
    control: i64,
}

impl Left {
    pub(super) fn of(said: &Said) -> Self {
        Self { whole: said.clone(), outside: said.outside.clone(), control: said.control }
    }

    /// The shares of a part that is settled; the last part takes what is left. A part that is given back has a share of
    /// the whole.
    pub(super) fn take(&mut self, part: i64, coin: i64) -> Result<Vec<(RecordId, i64)>> {
        let takes = part.signum() == self.whole.control.signum();
        let (of, all) = if takes { (&self.outside, self.control) } else { (&self.whole.outside, self.whole.control) };
        let mut shares = Vec::new();
        for (account, amount) in of {
            let is_rest = takes && part.unsigned_abs() >= all.unsigned_abs();
            shares.push((*account, if is_rest { *amount } else { share(*amount, part, all, coin)? }));
        }
        let taken = if takes && part.unsigned_abs() > all.unsigned_abs() { all } else { part };
        self.control -= taken;
        for (account, share) in &shares {
            if let Some(left) = self.outside.get_mut(account) {
                *left -= share;
            }
        }
        Ok(shares)
    }
}

fn share(amount: i64, part: i64, all: i64, coin: i64) -> Result<i64> {
    let (top, bottom) = (i128::from(amount) * i128::from(part), i128::from(all) * i128::from(coin));
    if bottom == 0 {
        return Err(Error::internal("a share of nothing was asked for"));
    }
    let (top, bottom) = if bottom < 0 { (-top, -bottom) } else { (top, bottom) };
    let coins = (2 * top.abs() + bottom) / (2 * bottom) * top.signum();
    i64::try_from(coins * i128::from(coin)).map_err(Error::internal)
}

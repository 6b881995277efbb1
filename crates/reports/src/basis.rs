//! Cash basis: what invoices and what credits them earn counts when it is settled, not when it is written.
//!
//! Of each document, income, expense and charged tax wait until they are settled, in shares of what is left, like its tax
//! in a return; goods, assets and the cost of sales stand as in the ledger. A reverse charge is owed when it is written.
//! What waits is on the account of the party as well, so that both sides are equal.

use super::asked::Asked;
use super::settled::{Counts, Figures, History, KINDS, Part, Settlement, due, too_large};
use super::statements::{Balances, Chart, is_earned};
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use answers::Ask;
use books::balances::{last_known, sum};
use books::cx::Cx;
use rules::account::{AccountClass, AccountType};
use rules::keeper::Keeper;
use rules::tax::TaxKind;
use rules::tax::facts::{TaxDuty, TaxOrigin};
use schema::account as accounts;
use schema::tables::{EntryKind, entries, entry_lines, facts_of, open_item_moves, tax_facts};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, Condition, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use words::exact::TooLarge;

/// As many documents as are read at once.
const PORTION: usize = 500;

answers::of_row! {
    /// A ledger line that a document posted, or took back.
    #[derive(Debug, Clone)]
    struct Posted {
        document_id: RecordId,
        entry_number: i64,
        position: i64,
        account_id: RecordId,
        amount: BookMoney,
        date: Day,
        item_id: Option<RecordId>,
        tax_code_id: Option<RecordId>,
    }
}

/// What a part of a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// Goods that are bought, or go back: one part, however much of it was stock and how much a variance by what was known
    /// when it was written. It never waits.
    Goods,
    /// All else that stands on one account.
    On(RecordId),
    /// A tax that is charged, on its account, by its fact.
    Tax(RecordId, (Option<RecordId>, Option<RecordId>, TaxDuty)),
}

/// A document: what it posted, and what of that is tax.
#[derive(Debug, Default)]
struct Document {
    lines: Vec<Posted>,
    facts: Vec<tax_facts::Model>,
}

/// By how much each account stands otherwise on cash basis at the end of each of these days: what was posted and does not
/// count yet is taken off.
pub(super) async fn uncounted(cx: &Cx<'_>, chart: &Chart, days: &[Day], asked: &Asked) -> Result<Vec<Balances>> {
    let mut waiting = vec![Balances::new(); days.len()];
    let Some(last) = days.iter().copied().max() else { return Ok(waiting) };
    let mut open: BTreeSet<RecordId> = BTreeSet::new();
    for day in days.iter().copied().collect::<HashSet<Day>>() {
        open.extend(open_on(cx, day, asked).await?);
    }
    let open: Vec<RecordId> = open.into_iter().collect();
    let history = History::of(cx, &open.iter().copied().collect(), Some(last), asked.point).await?;
    let accounts: HashMap<RecordId, &accounts::Charted> = chart.0.iter().map(|account| (account.id, account)).collect();
    let coin = cx.business()?.coin();
    for portion in open.chunks(PORTION) {
        for (id, document) in documents(cx, portion, last, asked).await? {
            for (day, waiting) in days.iter().zip(&mut waiting) {
                let (whole, settlements) = history.settlements(id, *day)?;
                // What leaves nothing open counts when it is written.
                if whole != Money::ZERO {
                    let parts = document.parts(&accounts, *day).map_err(too_large)?;
                    let counts: Vec<Part> = parts.iter().map(|(_, part)| *part).collect();
                    // What is taken off settles like money: its own lines stand against it.
                    let counting = |one: Settlement| Settlement { counts: Counts::Counts, ..one };
                    let settlements: Vec<Settlement> = settlements.into_iter().map(counting).collect();
                    let due = due(&counts, whole, &settlements, coin).map_err(too_large)?;
                    document.put_off((&accounts, *day), &parts, &due, waiting).map_err(too_large)?;
                }
            }
        }
    }
    for (day, waiting) in days.iter().zip(&mut waiting) {
        // What the books carry apart until it is due is left out with the rest.
        for (account, amount) in carried(cx, *day, asked).await? {
            *waiting.entry(account).or_default() += amount;
        }
    }
    for waiting in &mut waiting {
        waiting.retain(|_, figure| *figure != 0);
    }
    Ok(waiting)
}

/// The documents of before these books. What they posted never waits, and so their tax is due here as it is in the books.
fn taken_over(cx: &Cx<'_>) -> Result<sea_orm::sea_query::SelectStatement> {
    let opening = tax_facts::Entity::find()
        .select_only()
        .column(tax_facts::Column::DocumentId)
        .filter(tax_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(tax_facts::Column::Origin.eq(TaxOrigin::Opening));
    Ok(opening.into_query())
}

/// What stands on accounts of tax by the end of a day since it was carried there until documents are settled. What lapsed
/// since waits nowhere: it is owed by nobody here as in the books.
async fn carried(cx: &Cx<'_>, day: Day, asked: &Asked) -> Result<Vec<(RecordId, i64)>> {
    let chart = cx.chart().await?;
    let roles = chart.roles();
    let known = last_known(cx, asked.point).await?;
    let [waits, lapses] = [false, true].map(|lapses| async move {
        let mut facts = tax_facts::Entity::find()
            .select_only()
            .column(tax_facts::Column::AccountId)
            .column(tax_facts::Column::Duty)
            .column_as(sum(cx, Expr::col(tax_facts::Column::HomeTax)), "tax")
            .filter(tax_facts::Column::BusinessId.eq(cx.business_id()?))
            .filter(tax_facts::Column::Origin.eq(TaxOrigin::Carry))
            .filter(tax_facts::Column::DocumentKind.is_in(KINDS))
            .filter(tax_facts::Column::AccountId.is_not_null())
            .filter(if lapses {
                tax_facts::Column::SettlesId.is_not_null()
            } else {
                tax_facts::Column::SettlesId.is_null()
            })
            .filter(tax_facts::Column::EntryDate.lte(day))
            .filter(tax_facts::Column::DocumentId.not_in_subquery(taken_over(cx)?))
            .group_by(tax_facts::Column::AccountId)
            .group_by(tax_facts::Column::Duty);
        if let Some(known) = known {
            facts = facts.filter(tax_facts::Column::EntryNumber.lte(known));
        }
        let sums: Vec<(RecordId, TaxDuty, i64)> = facts.read(&cx.db).await?;
        Ok::<_, Error>(sums)
    });
    // What is owed is a credit.
    let debit = |duty: TaxDuty, tax: i64| if duty == TaxDuty::Owed { -tax } else { tax };
    let mut found: Vec<(RecordId, i64)> = Vec::new();
    found.extend(waits.await?.into_iter().map(|(account, duty, tax)| (account, debit(duty, tax))));
    for (account, duty, tax) in lapses.await? {
        let due = if duty == TaxDuty::Owed { roles.output_tax.id() } else { roles.input_tax.id() };
        found.extend([(account, debit(duty, tax)), (due, -debit(duty, tax))]);
    }
    Ok(found)
}

/// The documents that were not settled whole by the end of a day.
async fn open_on(cx: &Cx<'_>, day: Day, asked: &Asked) -> Result<Vec<RecordId>> {
    let amount = || sum(cx, Expr::col(open_item_moves::Column::Amount));
    let mut moves = open_item_moves::Entity::find()
        .select_only()
        .column(open_item_moves::Column::DocumentId)
        .filter(open_item_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(open_item_moves::Column::Date.lte(day))
        .group_by(open_item_moves::Column::DocumentId)
        .having(amount().ne(0));
    if let Some(at) = asked.point.known_at {
        moves = moves.filter(open_item_moves::Column::RecordedAt.lte(at));
    }
    Ok(moves.column_of(&cx.db).await?)
}

/// What documents posted by themselves up to the end of a day: not what allocations and later costs posted for them.
async fn documents(cx: &Cx<'_>, ids: &[RecordId], to: Day, asked: &Asked) -> Result<HashMap<RecordId, Document>> {
    let business = cx.business_id()?;
    let known = last_known(cx, asked.point).await?;
    let own = entries::Entity::find()
        .select_only()
        .column(entries::Column::Id)
        .filter(entries::Column::BusinessId.eq(business))
        .filter(entries::Column::DocumentId.is_in(ids.iter().copied()))
        .filter(entries::Column::Kind.eq(EntryKind::Normal));
    let taken_back = Condition::all()
        .add(entries::Column::Kind.eq(EntryKind::Reversal))
        .add(entries::Column::ReversesId.in_subquery(own.into_query()));
    let of_entry = entry_lines::Entity::belongs_to(entries::Entity)
        .from((entry_lines::Column::BusinessId, entry_lines::Column::EntryNumber))
        .to((entries::Column::BusinessId, entries::Column::Number));
    let of_entry: sea_orm::RelationDef = of_entry.into();
    let mut lines = entry_lines::Entity::find()
        .select_only()
        .join(JoinType::InnerJoin, of_entry)
        .column(entries::Column::DocumentId)
        .columns([
            entry_lines::Column::EntryNumber,
            entry_lines::Column::Position,
            entry_lines::Column::AccountId,
            entry_lines::Column::Amount,
            entry_lines::Column::Date,
            entry_lines::Column::ItemId,
            entry_lines::Column::TaxCodeId,
        ])
        .filter(entry_lines::Column::BusinessId.eq(business))
        .filter(entry_lines::Column::Date.lte(to))
        .filter(entries::Column::DocumentId.is_in(ids.iter().copied()))
        .filter(entries::Column::DocumentKind.is_in(KINDS))
        .filter(Condition::any().add(entries::Column::Kind.eq(EntryKind::Normal)).add(taken_back))
        .order_by_asc(entry_lines::Column::EntryNumber)
        .order_by_asc(entry_lines::Column::Position);
    let mut facts = tax_facts::Entity::find()
        .filter(tax_facts::Column::BusinessId.eq(business))
        .filter(facts_of(business, entries::Column::DocumentId.is_in(ids.iter().copied())))
        .filter(tax_facts::Column::EntryDate.lte(to))
        .filter(tax_facts::Column::SettlesId.is_null())
        .filter(tax_facts::Column::Origin.eq(TaxOrigin::Document));
    if let Some(known) = known {
        lines = lines.filter(entry_lines::Column::EntryNumber.lte(known));
        facts = facts.filter(tax_facts::Column::EntryNumber.lte(known));
    }
    let mut found: HashMap<RecordId, Document> = HashMap::new();
    for line in lines.read::<Posted>(&cx.db).await? {
        found.entry(line.document_id).or_default().lines.push(line);
    }
    for fact in facts.models(&cx.db).await? {
        if let Some(document) = found.get_mut(&fact.document_id) {
            document.facts.push(fact);
        }
    }
    Ok(found)
}

/// Whether what a document posted on an account waits until it is settled.
fn waits(account: &accounts::Charted) -> bool {
    is_earned(account) && account.r#type != AccountType::Cogs
}

/// Whether goods stand on it, or what they cost.
fn is_goods(account: &accounts::Charted) -> bool {
    matches!(account.keeper, Keeper::Stock | Keeper::Accruals) || account.r#type == AccountType::Cogs
}

/// Whether it is what goods of a sale cost, which is nothing that the other side pays.
fn is_cost_of_goods(account: &accounts::Charted, line: &Posted) -> bool {
    is_goods(account)
        || (account.class == AccountClass::Expense && line.item_id.is_some() && line.tax_code_id.is_none())
}

impl Document {
    /// What of it is a sale stands on the other side.
    fn turned(is_sale: bool, amount: BookMoney) -> BookMoney {
        if is_sale { amount.negated() } else { amount }
    }

    /// The account that it is owed on at the end of a day, whatever came later.
    fn control(&self, accounts: &HashMap<RecordId, &accounts::Charted>, day: Day) -> Option<RecordId> {
        let of_party =
            |line: &&Posted| accounts.get(&line.account_id).is_some_and(|one| one.keeper == Keeper::OpenItems);
        self.lines.iter().filter(|line| line.date <= day).rfind(of_party).map(|line| line.account_id)
    }

    fn is_sale(&self, accounts: &HashMap<RecordId, &accounts::Charted>, day: Day) -> bool {
        let control = self.control(accounts, day).and_then(|id| accounts.get(&id));
        control.is_some_and(|account| account.class == AccountClass::Asset)
    }

    /// Its parts at the end of a day, by what they are.
    fn parts(&self, accounts: &HashMap<RecordId, &accounts::Charted>, day: Day) -> Result<Vec<(Key, Part)>, TooLarge> {
        let is_sale = self.is_sale(accounts, day);
        let mut sums: BTreeMap<Key, BookMoney> = BTreeMap::new();
        let mut named: HashSet<(i64, i64)> = HashSet::new();
        let mut add = |key: Key, amount: BookMoney| -> Result<(), TooLarge> {
            let sum = sums.entry(key).or_default();
            *sum = sum.plus(amount)?;
            Ok(())
        };
        for fact in self.facts.iter().filter(|fact| fact.entry_date <= day) {
            let Some((account, position)) = fact.account_id.zip(fact.position) else { continue };
            named.insert((fact.entry_number, position));
            if fact.kind != Some(TaxKind::ReverseCharge) {
                add(Key::Tax(account, (fact.line_id, fact.component_id, fact.duty)), fact.home_tax)?;
            }
        }
        for line in self.lines.iter().filter(|line| line.date <= day) {
            let account = accounts.get(&line.account_id);
            let apart = account.is_none_or(|account| {
                account.keeper == Keeper::OpenItems || (is_sale && is_cost_of_goods(account, line))
            });
            if !apart && !named.contains(&(line.entry_number, line.position)) {
                let key = if account.is_some_and(|one| is_goods(one)) { Key::Goods } else { Key::On(line.account_id) };
                add(key, Self::turned(is_sale, line.amount))?;
            }
        }
        // What of a reverse charge cannot be claimed is a cost when it is written: it was never part of what is paid.
        for (account, cost) in self.costs_of_reverse_charge(&named, day)? {
            let key =
                if accounts.get(&account).is_some_and(|one| is_goods(one)) { Key::Goods } else { Key::On(account) };
            add(key, cost.negated())?;
        }
        let part = |(key, amount): (Key, BookMoney)| {
            let figures = [amount, BookMoney::ZERO, BookMoney::ZERO];
            (key, Part { figures, paid: [true, false, false], leads: !matches!(key, Key::Tax(..)) })
        };
        Ok(sums.into_iter().map(part).collect())
    }

    /// Where the line stands that was taxed: the last one with the code before its tax.
    fn costs_of_reverse_charge(
        &self,
        named: &HashSet<(i64, i64)>,
        day: Day,
    ) -> Result<BTreeMap<RecordId, BookMoney>, TooLarge> {
        let mut costs: BTreeMap<RecordId, BookMoney> = BTreeMap::new();
        let reversed = |fact: &&tax_facts::Model| fact.kind == Some(TaxKind::ReverseCharge) && fact.entry_date <= day;
        for fact in self.facts.iter().filter(reversed).filter(|fact| fact.not_recoverable != BookMoney::ZERO) {
            let same = |other: &&tax_facts::Model| {
                (other.entry_number, other.line_id, other.component_id)
                    == (fact.entry_number, fact.line_id, fact.component_id)
            };
            let position = self.facts.iter().filter(same).filter_map(|other| other.position).min();
            let before = |line: &&Posted| {
                line.entry_number == fact.entry_number
                    && line.tax_code_id == fact.tax_code_id
                    && position.is_some_and(|position| line.position < position)
                    && !named.contains(&(line.entry_number, line.position))
            };
            if let Some(line) = self.lines.iter().rfind(before) {
                let cost = costs.entry(line.account_id).or_default();
                *cost = cost.plus(fact.not_recoverable)?;
            }
        }
        Ok(costs)
    }

    /// Adds what does not count yet, and what of it is open with the party.
    fn put_off(
        &self,
        (accounts, day): (&HashMap<RecordId, &accounts::Charted>, Day),
        parts: &[(Key, Part)],
        due: &[Figures],
        waiting: &mut Balances,
    ) -> Result<(), TooLarge> {
        let Some(control) = self.control(accounts, day) else { return Ok(()) };
        let is_sale = self.is_sale(accounts, day);
        for ((key, part), [counts, ..]) in parts.iter().zip(due) {
            let account = match key {
                Key::Tax(account, _) => account,
                Key::On(account) if accounts.get(account).is_some_and(|account| waits(account)) => account,
                Key::On(_) | Key::Goods => continue,
            };
            let [all, ..] = part.figures;
            let left = Self::turned(is_sale, all.minus(*counts)?).units();
            *waiting.entry(*account).or_default() += left;
            *waiting.entry(control).or_default() -= left;
        }
        Ok(())
    }
}

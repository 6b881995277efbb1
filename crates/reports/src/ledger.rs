//! The ledger itself: account by account, and day by day.

use super::Report;
use super::aging::names_of;
use super::asked::{ACCOUNT, Asked, FORMAT, FROM, FROM_DATE, Fixed, KNOWN_AT, Mark, PARTY, TO, TO_DATE};
use super::form::{Example, Form, Holds};
use super::lines::{after, alone, amount, of_span};
use super::sheet::{Cell, Own, Row, RowType, Sheet};
use super::statements::{Chart, account_row, carry_on, without_years};
use super::then::parties_of;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::apart::between_years;
use books::balances::sum;
use books::chart::{SystemRole, in_role};
use books::cx::Cx;
use books::ends::at;
use books::sums::{Span, between_years as in_years, sums};
pub(super) use day_book::DayBook;
use kit::list::Parameter;
use schema::account as accounts;
use schema::aliases::{Aliases, Named};
use schema::tables::{DocumentKind, entries, entry_lines};
use sea_orm::sea_query::{Expr, SimpleExpr};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, JoinType, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use standing::{Begin, Held};
use std::collections::HashMap;
use std::sync::Arc;
use words::sums::{SummedUp as _, Sums as _};

// ── General ledger ──

pub(super) struct GeneralLedger;

answers::of_row! {
    struct Line {
        entry_number: i64,
        position: i64,
        account_id: RecordId,
        party_id: Option<Named>,
        date: Day,
        amount: i64,
        description: Option<String>,
        narration: Option<String>,
        document_id: RecordId,
        document_kind: DocumentKind,
        document_number: Option<String>,
    }
}

pub(super) struct Leaves {
    /// The accounts, and what they came to before the first day.
    fixed: Arc<Fixed>,
    own: Own,
    lines: Vec<Line>,
    count: u64,
    /// What the lines of an account that stand on earlier pages come to.
    earlier: HashMap<RecordId, i64>,
    aliases: Aliases,
    parties: HashMap<RecordId, String>,
    /// Whose documents these are, of lines that name nobody themselves.
    of_documents: HashMap<RecordId, Named>,
    /// Before, debit, credit and then, of all that was asked for; then once more, computed apart.
    whole: [i64; 4],
    apart: i64,
}

impl Report for GeneralLedger {
    const NAME: &'static str = "general-ledger";
    const OPERATION: &'static str = "GeneralLedger";
    const TITLE: &'static str = "General ledger";
    const ABOUT: &'static str = "Every line of the ledger in a period, account by account, with what the account comes \
                                 to after it, in pages. What closes a year, and what takes that back, comes last in its \
                                 account and is in no sum.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, ACCOUNT, PARTY, KNOWN_AT, FORMAT];
    const PAGED: bool = true;
    const FORM: Form = Form {
        columns: &[
            ("date", "Date", Holds::Day),
            ("party", "Party", Holds::Text),
            ("description", "Description", Holds::Text),
            ("debit", "Debit", Holds::Amount),
            ("credit", "Credit", Holds::Amount),
            ("balance", "Balance", Holds::Amount),
        ],
        varying: None,
        totals: &[
            ("opening", "Before", Holds::Amount),
            ("debit", "Debit", Holds::Amount),
            ("credit", "Credit", Holds::Amount),
            ("closing", "Then", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Section, "1200", "1200 Accounts receivable", &["", "", "", "", "", "0.00"]),
                (
                    RowType::Line,
                    "1042-1",
                    "INV-2026-0042",
                    &["2026-11-20", "Nordwind Cafés", "", "27490.00", "0.00", "27490.00"],
                ),
            ],
            totals: &["0.00", "27490.00", "27490.00", "0.00"],
            check: ("Before, with debits and less credits, is what the accounts come to", Holds::Amount, "0.00"),
        },
    };
    type Facts = Leaves;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Leaves> {
        let from = asked.span.from.unwrap_or(asked.span.to);
        let aliases = asked.aliases(cx)?;
        let named = |lines: &[Line], of_documents: &HashMap<RecordId, Named>| {
            let own = lines.iter().filter_map(|line| line.party_id);
            own.chain(of_documents.values().copied()).map(|party| aliases.of(party)).collect::<Vec<_>>().into_iter()
        };
        let narrow = || {
            let mut narrow = Condition::all();
            if let Some(account) = asked.account {
                narrow = narrow.add(entry_lines::Column::AccountId.eq(account));
            }
            if let Some(party) = asked.party {
                narrow = narrow.add(aliases.is(entry_lines::Column::PartyId, party));
            }
            narrow
        };
        let fixed = if let Some(fixed) = asked.mark().and_then(|mark| mark.fixed.clone()) {
            fixed
        } else {
            let (chart, between) = (Chart::of(cx).await?, between_years(cx).await?);
            let before = Span { from: None, to: from.previous() };
            let opening = openings(cx, asked, before, &chart, narrow()).await?;
            Arc::new(Fixed { chart, opening, between })
        };
        let own = Own(cx.business()?.currency_decimals);
        if !asked.is_page() {
            let (begin, (most, _)) = (asked.mark().map(Begin::after), asked.limits());
            let lines = portion(cx, asked, &fixed, (begin, |_| true), narrow(), most).await?;
            let of_documents = of_documents(cx, &lines, asked).await?;
            let parties = names_of(cx, named(&lines, &of_documents)).await?;
            let (count, earlier, whole, apart) = Default::default();
            return Ok(Leaves { fixed, own, lines, count, earlier, aliases, parties, of_documents, whole, apart });
        }
        let (lines, count, earlier) = if asked.party.is_some() {
            of_party(cx, asked, &fixed, narrow()).await?
        } else {
            of_all(cx, asked, &fixed, narrow()).await?
        };
        let [debit, credit] = sides(cx, asked, narrow()).await?;
        let closing = openings(cx, asked, asked.span, &fixed.chart, narrow()).await?;
        let before: i64 = fixed.opening.values().sum();
        let of_documents = of_documents(cx, &lines, asked).await?;
        Ok(Leaves {
            fixed,
            own,
            parties: names_of(cx, named(&lines, &of_documents)).await?,
            of_documents,
            lines,
            count,
            earlier,
            aliases,
            whole: [before, debit, credit, before + debit - credit],
            apart: closing.values().sum(),
        })
    }

    fn fold(facts: Leaves, asked: &Asked) -> Result<Sheet> {
        let Leaves { fixed, own, lines, count, earlier, aliases, parties, of_documents, whole, apart } = facts;
        let Fixed { chart, opening, .. } = fixed.as_ref();
        let mut rows: Vec<Row> = Vec::new();
        // A portion goes on with the account that the one before it ended with.
        let mut account = asked.mark().map(|mark| mark.account);
        let mut running = asked.mark().map(|mark| mark.running).iter().sum::<i64>();
        for line in &lines {
            if account.replace(line.account_id) != Some(line.account_id) {
                let of = |figures: &HashMap<RecordId, i64>| figures.sum_of(&line.account_id);
                running = of(opening) + of(&earlier);
                let values = [vec![Cell::Nothing; 5], vec![own.cell(running)]].concat();
                let Some(account) = chart.0.iter().find(|account| account.id == line.account_id) else { continue };
                rows.push(Row { r#type: RowType::Section, ..account_row(account, values) });
            }
            running += line.amount;
            let party_id = line.party_id.map(|party| aliases.of(party));
            // Who was paid, and whose bill it is, is asked of a line of money and of an expense as well.
            let whose = party_id.or_else(|| of_documents.get(&line.document_id).map(|party| aliases.of(*party)));
            let party = whose.and_then(|party| parties.get(&party)).cloned();
            let about = line.description.clone().or_else(|| line.narration.clone());
            let values = vec![
                Cell::Day(line.date),
                party.map_or(Cell::Nothing, Cell::Text),
                about.map_or(Cell::Nothing, Cell::Text),
                own.cell(line.amount.max(0)),
                own.cell((-line.amount).max(0)),
                own.cell(running),
            ];
            let row = Row {
                account_id: Some(line.account_id),
                party_id,
                document_id: Some(line.document_id),
                document_type: Some(line.document_kind),
                level: 1,
                ..Row::total(
                    RowType::Line,
                    &format!("{}-{}", line.entry_number, line.position),
                    line.document_number.as_deref().unwrap_or("without a number"),
                    values,
                )
            };
            match rows.last_mut().filter(|last| last.r#type == RowType::Section) {
                Some(section) => section.children.push(row),
                None => rows.push(row),
            }
        }
        let totals = [("opening", whole[0]), ("debit", whole[1]), ("credit", whole[2]), ("closing", whole[3])];
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: totals.into_iter().map(|(key, sum)| (key.to_owned(), own.cell(sum))).collect(),
            checks: vec![own.check(
                "Before, with debits and less credits, is what the accounts come to",
                whole[3],
                apart,
            )],
            count: Some(count),
            next: lines.last().map(|line| Mark { fixed: Some(fixed.clone()), ..line.mark(running, &fixed) }),
        })
    }
}

/// The parties of documents of which a line names nobody.
async fn of_documents(cx: &Cx<'_>, lines: &[Line], asked: &Asked) -> Result<HashMap<RecordId, Named>> {
    let silent = lines.iter().filter(|line| line.party_id.is_none()).map(|line| line.document_id);
    parties_of(cx, silent.collect(), asked.point).await
}

impl Line {
    fn mark(&self, running: i64, fixed: &Fixed) -> Mark {
        let (account, date, number) = (self.account_id, self.date, self.entry_number);
        let between = fixed.between.contains(&number);
        Mark { account, date, number, position: self.position, running, between, fixed: None }
    }
}

/// Lines with what a leaf says of them, day by day.
fn in_order(lines: Select<entry_lines::Entity>) -> Select<entry_lines::Entity> {
    lines
        .columns([
            entry_lines::Column::EntryNumber,
            entry_lines::Column::Position,
            entry_lines::Column::AccountId,
            entry_lines::Column::PartyId,
            entry_lines::Column::Date,
            entry_lines::Column::Amount,
            entry_lines::Column::Description,
        ])
        .columns([
            entries::Column::Narration,
            entries::Column::DocumentId,
            entries::Column::DocumentKind,
            entries::Column::DocumentNumber,
        ])
        .order_by_asc(entry_lines::Column::Date)
        .order_by_asc(entry_lines::Column::EntryNumber)
        .order_by_asc(entry_lines::Column::Position)
}

fn lies_between(fixed: &Fixed) -> SimpleExpr {
    entry_lines::Column::EntryNumber.is_in(fixed.between.iter().copied())
}

fn lies_within(fixed: &Fixed) -> SimpleExpr {
    entry_lines::Column::EntryNumber.is_not_in(fixed.between.iter().copied())
}

/// The lines of an account after one of it: those of the days first, what lies between two years last.
fn after_all(mark: &Mark, fixed: &Fixed) -> Condition {
    if fixed.between.is_empty() {
        return after(mark);
    }
    let same = if mark.between { lies_between(fixed) } else { lies_within(fixed) };
    let of_same = Condition::all().add(same).add(after(mark));
    if mark.between { of_same } else { Condition::any().add(of_same).add(lies_between(fixed)) }
}

/// The lines of a page, how many there are in all, and what comes before them in the first account.
type OfPage = (Vec<Line>, u64, HashMap<RecordId, i64>);

/// Found by how many lines accounts have, and each account by itself.
async fn of_all(cx: &Cx<'_>, asked: &Asked, fixed: &Fixed, narrow: Condition) -> Result<OfPage> {
    let held = standing::held(cx, asked, fixed).await?;
    let count = held.values().map(Held::lines).sum::<i64>();
    let count = u64::try_from(count).map_err(Error::internal)?;
    let (limit, offset) = asked.limits();
    let accounts = fixed.chart.0.iter().map(|account| account.id);
    let passed = i64::try_from(offset).map_err(Error::internal)?;
    let Some(place) = standing::place(accounts, &held, passed) else {
        return Ok((Vec::new(), count, HashMap::new()));
    };
    let (begin, before) = standing::begin(cx, asked, fixed, place).await?;
    let earlier = HashMap::from([(begin.account, before)]);
    let holds = |account: RecordId| held.get(&account).is_some_and(|held| held.lines() > 0);
    let lines = portion(cx, asked, fixed, (Some(begin), holds), narrow, limit).await?;
    Ok((lines, count, earlier))
}

/// Found among the lines of a party, which are sorted for it.
async fn of_party(cx: &Cx<'_>, asked: &Asked, fixed: &Fixed, narrow: Condition) -> Result<OfPage> {
    let all = of_span(cx, asked.span, asked).await?.filter(narrow.clone());
    let counted = alone(cx, asked.span, asked).await?.filter(narrow.clone());
    let count = counted.column(entry_lines::Column::EntryNumber).count(&cx.db).await?;
    let (limit, offset) = asked.limits();
    let by_account = all
        .join(
            JoinType::InnerJoin,
            entry_lines::Entity::belongs_to(accounts::Entity)
                .from((entry_lines::Column::BusinessId, entry_lines::Column::AccountId))
                .to((accounts::Column::BusinessId, accounts::Column::Id))
                .into(),
        )
        .order_by_asc(accounts::Column::Code);
    let by_account = if fixed.between.is_empty() { by_account } else { by_account.order_by_asc(lies_between(fixed)) };
    let lines: Vec<Line> = in_order(by_account).limit(limit).offset(offset).read(&cx.db).await?;
    let mut earlier = HashMap::new();
    if let Some(first) = lines.first() {
        let found: Option<Option<i64>> = alone(cx, asked.span, asked)
            .await?
            .filter(narrow)
            .filter(entry_lines::Column::AccountId.eq(first.account_id))
            .filter(after_all(&first.mark(0, fixed), fixed).not())
            .column_as(amount(cx), "amount")
            .into_tuple()
            .one(&cx.db)
            .await?;
        earlier.insert(first.account_id, found.summed_up() - first.amount);
    }
    Ok((lines, count, earlier))
}

/// The next lines, of each account that may hold some by itself: so each is found by its index, however many stand before
/// it. What lies between two years is asked for by itself, for the same reason.
async fn portion(
    cx: &Cx<'_>,
    asked: &Asked,
    fixed: &Fixed,
    (begin, holds): (Option<Begin>, impl Fn(RecordId) -> bool),
    narrow: Condition,
    most: u64,
) -> Result<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    let begins = |account: RecordId| begin.as_ref().filter(|begin| begin.account == account);
    let passed = |account: RecordId| begin.is_some() && begins(account).is_none();
    for account in fixed.chart.0.iter().map(|account| account.id).skip_while(|account| passed(*account)) {
        if !holds(account) {
            continue;
        }
        for between in [false, true] {
            let begin = begins(account);
            let passed = begin.is_some_and(|begin| begin.between && !between);
            if passed || (between && fixed.between.is_empty()) {
                continue;
            }
            let mut of_account = of_span(cx, asked.span, asked)
                .await?
                .filter(narrow.clone())
                .filter(entry_lines::Column::AccountId.eq(account));
            if !fixed.between.is_empty() {
                of_account = of_account.filter(if between { lies_between(fixed) } else { lies_within(fixed) });
            }
            if let Some(begin) = begin.filter(|begin| begin.between == between) {
                if let Some(day) = begin.from {
                    of_account = of_account.filter(entry_lines::Column::Date.gte(day));
                }
                if let Some(mark) = &begin.after {
                    of_account = of_account.filter(after(mark));
                }
            }
            let left = most - lines.len() as u64;
            lines.extend(in_order(of_account).limit(left).read::<Line>(&cx.db).await?);
            if lines.len() as u64 >= most {
                return Ok(lines);
            }
        }
    }
    Ok(lines)
}

/// What accounts come to at the end of a span, of what is asked for alone: without what lies between the years of that
/// span, and with what was earned before its first year among the retained earnings, closed or not.
async fn openings(
    cx: &Cx<'_>,
    asked: &Asked,
    span: Span,
    chart: &Chart,
    narrow: Condition,
) -> Result<HashMap<RecordId, i64>> {
    if asked.party.is_none() {
        let first = asked.span.from.unwrap_or(asked.span.to);
        let days = [span.to, asked.years.start(cx.business()?, first).previous()];
        let [mut all, earlier] = at(cx, days, asked.point).await?;
        if span.from.is_some() {
            without_years(&mut all, &in_years(cx, span, asked.point, asked.apart).await?);
        }
        carry_on(&mut all, &earlier, chart, in_role(cx.business()?, SystemRole::RetainedEarnings)?);
        all.retain(|id, _| asked.account.is_none_or(|account| account == *id));
        return Ok(all);
    }
    let found: Vec<(RecordId, i64)> = of_span(cx, Span { from: None, to: span.to }, asked)
        .await?
        .filter(narrow)
        .column(entry_lines::Column::AccountId)
        .column_as(amount(cx), "amount")
        .group_by(entry_lines::Column::AccountId)
        .read(&cx.db)
        .await?;
    Ok(found.into_iter().collect())
}

/// Debits and credits of what is asked for.
async fn sides(cx: &Cx<'_>, asked: &Asked, narrow: Condition) -> Result<[i64; 2]> {
    if asked.party.is_none() {
        let (moved, _) = sums(cx, asked.span, asked.point, asked.apart).await?;
        let mine = moved.iter().filter(|(id, _)| asked.account.is_none_or(|account| account == **id));
        return Ok(mine.fold([0, 0], |[debit, credit], (_, moved)| [debit + moved.debit, credit + moved.credit]));
    }
    let mut sides = [0; 2];
    for (place, positive) in [true, false].into_iter().enumerate() {
        let side = if positive { entry_lines::Column::Amount.gt(0) } else { entry_lines::Column::Amount.lt(0) };
        let found: Option<Option<i64>> = of_span(cx, asked.span, asked)
            .await?
            .filter(narrow.clone())
            .filter(side)
            .column_as(amount(cx), "amount")
            .into_tuple()
            .one(&cx.db)
            .await?;
        sides[place] = found.summed_up().abs();
    }
    Ok(sides)
}

/// How many entries there are, what those of the days come to, and what all accounts were debited with, computed apart.
async fn figures(cx: &Cx<'_>, asked: &Asked, all: Select<entries::Entity>, fixed: &Fixed) -> Result<(u64, i64, i64)> {
    let (count, mut total) = come_to(cx, all.clone()).await?;
    if !fixed.between.is_empty() {
        let between = entries::Column::Number.is_in(fixed.between.iter().copied());
        total -= come_to(cx, all.filter(between)).await?.1;
    }
    let (moved, _) = sums(cx, asked.span, asked.point, asked.apart).await?;
    let count = u64::try_from(count).map_err(Error::internal)?;
    Ok((count, total, moved.values().map(|moved| moved.debit).sum()))
}

/// How many these are, and what they come to.
async fn come_to(cx: &Cx<'_>, these: Select<entries::Entity>) -> Result<(i64, i64)> {
    let these = these.select_only().column_as(entries::Column::Number.count(), "count");
    let these = these.column_as(sum(cx, Expr::col(entries::Column::Total)), "total");
    let found: Option<(i64, Option<i64>)> = these.into_tuple().one(&cx.db).await?;
    let (count, total) = found.ok_or_else(|| Error::internal("nobody counts the entries"))?;
    Ok((count, Some(total).summed_up()))
}

mod day_book;
mod standing;
#[cfg(test)]
mod tests;

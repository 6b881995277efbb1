//! The ledger itself: account by account, and day by day.

use super::Report;
use super::aging::names_of;
use super::asked::{ACCOUNT, Asked, FORMAT, FROM, FROM_DATE, Fixed, KNOWN_AT, Mark, PARTY, TO, TO_DATE};
use super::form::{Example, Form, Holds};
use super::lines::{after, alone, amount, of_span};
use super::sheet::{Cell, Own, Row, RowType, Sheet};
use super::statements::{Chart, account_row, at_end, at_end_of, carry_on};
use crate::day::Day;
use crate::error::{Error, FieldErrors, Result};
use crate::ids::RecordId;
use books::apart::between_years;
use books::balances::{last_known, sum};
use books::cx::Cx;
use books::portions::{lines_of, of_entries, that_fit};
use books::sums::{Span, sums};
use kit::list::Parameter;
use schema::account as accounts;
use schema::aliases::{Aliases, Named};
use schema::tables::{DocumentKind, entries, entry_lines};
use sea_orm::sea_query::{Expr, SimpleExpr};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, FromQueryResult, JoinType, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, Select,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use words::sums::{Lists as _, SummedUp as _, Sums as _};

// ── General ledger ──

pub(super) struct GeneralLedger;

#[derive(FromQueryResult)]
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
    /// Before, debit, credit and then, of all that was asked for; then once more, computed apart.
    whole: [i64; 4],
    apart: i64,
}

impl Report for GeneralLedger {
    const NAME: &'static str = "general-ledger";
    const OPERATION: &'static str = "GeneralLedger";
    const TITLE: &'static str = "General ledger";
    const ABOUT: &'static str = "Every line of the ledger over some days, account by account, with what the account comes \
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
        let named = |lines: &[Line]| {
            let parties: Vec<RecordId> = lines.iter().filter_map(|line| Some(aliases.of(line.party_id?))).collect();
            parties.into_iter()
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
            let lines = portion(cx, asked, &fixed, narrow()).await?;
            let parties = names_of(cx, named(&lines)).await?;
            let (count, earlier, whole, apart) = Default::default();
            return Ok(Leaves { fixed, own, lines, count, earlier, aliases, parties, whole, apart });
        }
        let all = of_span(cx, asked.span, asked).await?.filter(narrow());
        let counted = alone(cx, asked.span, asked).await?.filter(narrow());
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
        let by_account =
            if fixed.between.is_empty() { by_account } else { by_account.order_by_asc(lies_between(&fixed)) };
        let lines: Vec<Line> = in_order(by_account).limit(limit).offset(offset).into_model().all(&cx.db).await?;
        let mut earlier = HashMap::new();
        if let Some(first) = lines.first() {
            let found: Option<Option<i64>> = alone(cx, asked.span, asked)
                .await?
                .filter(narrow())
                .filter(entry_lines::Column::AccountId.eq(first.account_id))
                .filter(after_all(&first.mark(0, &fixed), &fixed).not())
                .column_as(amount(cx), "amount")
                .into_tuple()
                .one(&cx.db)
                .await?;
            earlier.insert(first.account_id, found.summed_up() - first.amount);
        }
        let [debit, credit] = sides(cx, asked, narrow()).await?;
        let closing = openings(cx, asked, asked.span, &fixed.chart, narrow()).await?;
        let before: i64 = fixed.opening.values().sum();
        Ok(Leaves {
            fixed,
            own,
            parties: names_of(cx, named(&lines)).await?,
            lines,
            count,
            earlier,
            aliases,
            whole: [before, debit, credit, before + debit - credit],
            apart: closing.values().sum(),
        })
    }

    fn fold(facts: Leaves, asked: &Asked) -> Result<Sheet> {
        let Leaves { fixed, own, lines, count, earlier, aliases, parties, whole, apart } = facts;
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
            let party = party_id.and_then(|party| parties.get(&party)).cloned();
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

/// The next lines, each account by itself: so each is found by its index, however many stand before it. What lies between
/// two years is asked for by itself, for the same reason.
async fn portion(cx: &Cx<'_>, asked: &Asked, fixed: &Fixed, narrow: Condition) -> Result<Vec<Line>> {
    let (most, _) = asked.limits();
    let mut lines: Vec<Line> = Vec::new();
    let begun = asked.mark().map(|mark| mark.account);
    for account in fixed.chart.0.iter().skip_while(|account| begun.is_some_and(|begun| begun != account.id)) {
        let mark = asked.mark().filter(|mark| mark.account == account.id);
        for between in [false, true] {
            let passed = mark.is_some_and(|mark| mark.between && !between);
            if passed || (between && fixed.between.is_empty()) {
                continue;
            }
            let mut of_account = of_span(cx, asked.span, asked)
                .await?
                .filter(narrow.clone())
                .filter(entry_lines::Column::AccountId.eq(account.id));
            if !fixed.between.is_empty() {
                of_account = of_account.filter(if between { lies_between(fixed) } else { lies_within(fixed) });
            }
            if let Some(mark) = mark.filter(|mark| mark.between == between) {
                of_account = of_account.filter(after(mark));
            }
            let left = most - lines.len() as u64;
            lines.extend(in_order(of_account).limit(left).into_model::<Line>().all(&cx.db).await?);
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
        let mut all = match span.from {
            None => at_end(cx, span.to, asked.point).await?,
            Some(_) => at_end_of(cx, span, asked.point).await?,
        };
        let first = asked.span.from.unwrap_or(asked.span.to);
        let earlier = at_end(cx, cx.business()?.fiscal_year_start(first).previous(), asked.point).await?;
        carry_on(&mut all, &earlier, chart, cx.chart().await?.roles().retained_earnings.id());
        all.retain(|id, _| asked.account.is_none_or(|account| account == *id));
        return Ok(all);
    }
    let found: Vec<(RecordId, i64)> = of_span(cx, Span { from: None, to: span.to }, asked)
        .await?
        .filter(narrow)
        .column(entry_lines::Column::AccountId)
        .column_as(amount(cx), "amount")
        .group_by(entry_lines::Column::AccountId)
        .into_tuple()
        .all(&cx.db)
        .await?;
    Ok(found.into_iter().collect())
}

/// Debits and credits of what is asked for.
async fn sides(cx: &Cx<'_>, asked: &Asked, narrow: Condition) -> Result<[i64; 2]> {
    if asked.party.is_none() {
        let moved = sums(cx, asked.span, asked.point).await?;
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

// ── Day book ──

/// A page of as many entries as are given unasked holds all their lines, however long they are.
const MOST_LINES: i64 = 50_000;

pub(super) struct DayBook;

pub(super) struct Days {
    own: Own,
    entries: Vec<entries::Model>,
    lines: Vec<entry_lines::Model>,
    aliases: Aliases,
    fixed: Arc<Fixed>,
    count: u64,
    total: i64,
    /// What all accounts were debited with, computed apart.
    apart: i64,
}

impl Report for DayBook {
    const NAME: &'static str = "day-book";
    const OPERATION: &'static str = "DayBook";
    const TITLE: &'static str = "Day book";
    const ABOUT: &'static str = "Every entry of some days with its lines, each once, in pages. What closes a \
                                 year, and what takes that back, comes last and is in no sum.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, KNOWN_AT, FORMAT];
    const PAGED: bool = true;
    const FORM: Form = Form {
        columns: &[
            ("date", "Date", Holds::Day),
            ("description", "Description", Holds::Text),
            ("debit", "Debit", Holds::Amount),
            ("credit", "Credit", Holds::Amount),
        ],
        varying: None,
        totals: &[("total", "Total", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Document, "1042", "INV-2026-0042", &["2026-11-20", "", "27490.00", "27490.00"]),
                (RowType::Line, "1", "1200 Accounts receivable", &["", "", "27490.00", "0.00"]),
            ],
            totals: &["27490.00"],
            check: ("The entries are what accounts were debited with", Holds::Amount, "27490.00"),
        },
    };
    type Facts = Days;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Days> {
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let mut all = entries::Entity::find()
            .filter(entries::Column::BusinessId.eq(cx.business_id()?))
            .filter(entries::Column::Date.between(from, to));
        if let Some(known) = last_known(cx, asked.point).await? {
            all = all.filter(entries::Column::Number.lte(known));
        }
        let fixed = if let Some(fixed) = asked.mark().and_then(|mark| mark.fixed.clone()) {
            fixed
        } else {
            let (chart, between) = (Chart::of(cx).await?, between_years(cx).await?);
            Arc::new(Fixed { chart, opening: HashMap::new(), between })
        };
        let (count, total, apart) =
            if asked.is_page() { figures(cx, asked, all.clone(), &fixed).await? } else { Default::default() };
        let (limit, offset) = asked.limits();
        let between_years = || entries::Column::Number.is_in(fixed.between.iter().copied());
        let in_order = |all: Select<entries::Entity>| {
            all.order_by_asc(entries::Column::Date).order_by_asc(entries::Column::Number)
        };
        let mut page = Vec::new();
        if asked.is_page() {
            let all = if fixed.between.is_empty() { all } else { all.order_by_asc(between_years()) };
            page = in_order(all).limit(limit).offset(offset).all(&cx.db).await?;
        } else {
            // What lies between two years comes after all that is found by its day.
            for between in [false, true] {
                let passed = asked.mark().is_some_and(|mark| mark.between && !between);
                if passed || page.len() as u64 >= limit || (between && fixed.between.is_empty()) {
                    continue;
                }
                let mut some = all.clone();
                if !fixed.between.is_empty() {
                    some = if between {
                        some.filter(between_years())
                    } else {
                        some.filter(entries::Column::Number.is_not_in(fixed.between.iter().copied()))
                    };
                }
                if let Some(mark) = asked.mark().filter(|mark| mark.between == between) {
                    let later = Condition::any()
                        .add(entries::Column::Date.gt(mark.date))
                        .add(entries::Column::Number.gt(mark.number));
                    some = some.filter(entries::Column::Date.gte(mark.date)).filter(later);
                }
                page.extend(in_order(some).limit(limit - page.len() as u64).all(&cx.db).await?);
            }
        }
        // Entries may have very many lines.
        let lines = if asked.is_page() {
            let lines = lines_of(cx, &page, MOST_LINES).await?;
            lines.map_err(|count| too_long(page.len(), count))?
        } else {
            // What is left comes with the next portion.
            page.truncate(that_fit(cx, &page).await?);
            of_entries(cx, &page).await?
        };
        let (own, aliases) = (Own(cx.business()?.currency_decimals), asked.aliases(cx)?);
        Ok(Days { own, entries: page, lines, aliases, fixed, count, total, apart })
    }

    fn fold(facts: Days, _: &Asked) -> Result<Sheet> {
        let Days { own, entries, lines, aliases, fixed, count, total, apart } = facts;
        let accounts: HashMap<RecordId, &accounts::Model> =
            fixed.chart.0.iter().map(|account| (account.id, account)).collect();
        let mut by_entry: HashMap<i64, Vec<Row>> = HashMap::new();
        for line in &lines {
            let Some(account) = accounts.get(&line.account_id) else { continue };
            let about = line.description.clone().map_or(Cell::Nothing, Cell::Text);
            let values = vec![
                Cell::Nothing,
                about,
                own.cell(line.amount.units().max(0)),
                own.cell((-line.amount.units()).max(0)),
            ];
            let row = Row {
                key: line.position.to_string(),
                r#type: RowType::Line,
                party_id: line.party_id.map(|party| aliases.of(party)),
                item_id: line.item_id,
                ..account_row(account, values)
            };
            by_entry.entry(line.entry_number).or_default().push(row);
        }
        let rows = entries.iter().map(|entry| {
            let units = entry.total.units();
            let about = entry.narration.clone().map_or(Cell::Nothing, Cell::Text);
            let values = vec![Cell::Day(entry.date), about, own.cell(units), own.cell(units)];
            Row {
                r#type: RowType::Document,
                document_id: Some(entry.document_id),
                document_type: Some(entry.document_kind),
                ..Row::section(
                    &entry.number.to_string(),
                    entry.document_number.as_deref().unwrap_or("without a number"),
                    values,
                    by_entry.take_list(&entry.number),
                )
            }
        });
        Ok(Sheet {
            rows: rows.collect(),
            columns: Self::FORM.columns(),
            totals: BTreeMap::from([("total".to_owned(), own.cell(total))]),
            checks: vec![own.check("The entries are what accounts were debited with", total, apart)],
            count: Some(count),
            next: entries.last().map(|last| Mark {
                date: last.date,
                number: last.number,
                between: fixed.between.contains(&last.number),
                fixed: Some(fixed.clone()),
                ..Mark::default()
            }),
        })
    }
}

/// A page is not cut short: whoever takes the next one would never know.
fn too_long(entries: usize, lines: i64) -> Error {
    let mut faults = FieldErrors::default();
    faults.add(
        "pageSize",
        format!(
            "the {entries} entries of this page have {lines} lines, and a page holds {MOST_LINES}; ask for fewer at once, \
             or for format=csv"
        ),
    );
    faults.into()
}

/// How many entries there are, what those of the days come to, and what all accounts were debited with, computed apart.
async fn figures(cx: &Cx<'_>, asked: &Asked, all: Select<entries::Entity>, fixed: &Fixed) -> Result<(u64, i64, i64)> {
    let count = all.clone().count(&cx.db).await?;
    let counted = if fixed.between.is_empty() {
        all
    } else {
        all.filter(entries::Column::Number.is_not_in(fixed.between.iter().copied()))
    };
    let total: Option<Option<i64>> = counted
        .select_only()
        .column_as(sum(cx, Expr::col(entries::Column::Total)), "total")
        .into_tuple()
        .one(&cx.db)
        .await?;
    let moved = sums(cx, asked.span, asked.point).await?;
    Ok((count, total.summed_up(), moved.values().map(|moved| moved.debit).sum()))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{account, asked, failed, id, named, written};
    use super::*;
    use crate::clock::Instant;
    use crate::ids::{BusinessId, UserId};
    use crate::money::Money;
    use rules::account::AccountType;
    use schema::tables::EntryKind;

    #[test]
    fn a_page_goes_on_where_the_one_before_it_ended() {
        let line = |entry_number, code: u128, cents: i64| Line {
            entry_number,
            position: 1,
            account_id: id(code),
            party_id: (cents < 0).then(|| Named::of(id(1))),
            date: "2026-01-09".parse().unwrap(),
            amount: cents * 100,
            description: None,
            narration: Some("Paid".into()),
            document_id: id(99),
            document_kind: DocumentKind::Journal,
            document_number: Some(format!("J-{entry_number}")),
        };
        let facts = Leaves {
            fixed: Arc::new(Fixed {
                chart: Chart(vec![account(1010, AccountType::Bank), account(6000, AccountType::Expense)]),
                opening: HashMap::from([(id(1010), 100_000)]),
                between: Vec::new(),
            }),
            own: Own(2),
            lines: vec![line(4, 1010, -700), line(5, 1010, 250), line(4, 6000, 700)],
            count: 8,
            earlier: HashMap::from([(id(1010), 5_000)]),
            aliases: Aliases::default(),
            parties: named(&[(1, "Ada")]),
            whole: [100_000, 95_000, 45_000, 150_000],
            apart: 150_000,
        };
        let sheet = GeneralLedger::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(
            written(&sheet),
            [
                "1010 null null null null null 10.50",
                "  4-1 \"2026-01-09\" \"Ada\" \"Paid\" 0.00 7.00 3.50",
                "  5-1 \"2026-01-09\" null \"Paid\" 2.50 0.00 6.00",
                "6000 null null null null null 0.00",
                "  4-1 \"2026-01-09\" null \"Paid\" 7.00 0.00 7.00",
            ]
        );
        assert_eq!((failed(&sheet), sheet.count), (Vec::new(), Some(8)));
    }

    #[test]
    fn an_entry_stands_above_its_lines() {
        let line = |position, code: u128, cents: i64| entry_lines::Model {
            business_id: BusinessId::default(),
            entry_number: 4,
            position,
            account_id: id(code),
            party_id: None,
            date: "2026-01-09".parse().unwrap(),
            amount: Money::from_units(cents * 100),
            currency: "EUR".into(),
            currency_amount: Money::from_units(cents * 100),
            description: (cents > 0).then(|| "January".into()),
            due_date: None,
            item_id: None,
            quantity: None,
            tax_code_id: None,
            tax_component: None,
            tax_base: None,
        };
        let entry = entries::Model {
            business_id: BusinessId::default(),
            number: 4,
            id: id(40),
            date: "2026-01-09".parse().unwrap(),
            recorded_at: Instant::default(),
            recorded_by: UserId::default(),
            kind: EntryKind::Normal,
            document_kind: DocumentKind::Journal,
            document_id: id(99),
            document_version: 1,
            document_number: Some("J-4".into()),
            reverses_id: None,
            narration: Some("Rent".into()),
            total: Money::from_units(70_000),
            search: String::new(),
        };
        let facts = Days {
            own: Own(2),
            entries: vec![entry],
            lines: vec![line(1, 6000, 700), line(2, 1010, -700)],
            aliases: Aliases::default(),
            fixed: Arc::new(Fixed {
                chart: Chart(vec![account(1010, AccountType::Bank), account(6000, AccountType::Expense)]),
                opening: HashMap::new(),
                between: Vec::new(),
            }),
            count: 3,
            total: 150_000,
            apart: 150_100,
        };
        let sheet = DayBook::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(
            written(&sheet),
            [r#"4 "2026-01-09" "Rent" 7.00 7.00"#, r#"  1 null "January" 7.00 0.00"#, "  2 null null 0.00 7.00",]
        );
        assert_eq!((failed(&sheet).len(), sheet.count), (1, Some(3)));
    }
}

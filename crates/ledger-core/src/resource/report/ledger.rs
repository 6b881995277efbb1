//! The ledger itself: account by account, and day by day.

use super::Report;
use super::aging::names_of;
use super::asked::{ACCOUNT, Asked, FORMAT, FROM, FROM_DATE, Fixed, KNOWN_AT, Mark, PARTY, TO, TO_DATE};
use super::form::{Example, Form, Holds};
use super::lines::{after, amount, of_span};
use super::sheet::{Cell, Own, Row, RowType, Sheet};
use super::statements::{Chart, account_row, at_end};
use crate::books::balances::{last_known, sum};
use crate::books::portions::that_fit;
use crate::books::sums::{Span, sums};
use crate::books::tables::{DocumentKind, entries, entry_lines};
use crate::cx::Cx;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::resource::account::table as accounts;
use crate::resource::list::Parameter;
use sea_orm::sea_query::Expr;
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
    party_id: Option<RecordId>,
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
                                 to after it, in pages.";
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
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let narrow = || {
            let mut narrow = Condition::all();
            if let Some(account) = asked.account {
                narrow = narrow.add(entry_lines::Column::AccountId.eq(account));
            }
            if let Some(party) = asked.party {
                narrow = narrow.add(entry_lines::Column::PartyId.eq(party));
            }
            narrow
        };
        let fixed = if let Some(fixed) = asked.mark().and_then(|mark| mark.fixed.clone()) {
            fixed
        } else {
            let opening = openings(cx, asked, from.previous(), narrow()).await?;
            Arc::new(Fixed { chart: Chart::of(cx).await?, opening })
        };
        let own = Own(cx.business()?.currency_decimals);
        if !asked.is_page() {
            let lines = portion(cx, asked, &fixed.chart, narrow()).await?;
            let parties = names_of(cx, lines.iter().filter_map(|line| line.party_id)).await?;
            let (count, earlier, whole, apart) = Default::default();
            return Ok(Leaves { fixed, own, lines, count, earlier, parties, whole, apart });
        }
        let all = of_span(cx, asked.span, asked).await?.filter(narrow());
        let count = all.clone().column(entry_lines::Column::EntryNumber).count(&cx.db).await?;
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
        let lines: Vec<Line> = in_order(by_account).limit(limit).offset(offset).into_model().all(&cx.db).await?;
        let mut earlier = HashMap::new();
        if let Some(first) = lines.first() {
            let found: Option<Option<i64>> = of_span(cx, asked.span, asked)
                .await?
                .filter(narrow())
                .filter(entry_lines::Column::AccountId.eq(first.account_id))
                .filter(after(&first.mark(0)).not())
                .column_as(amount(cx), "amount")
                .into_tuple()
                .one(&cx.db)
                .await?;
            earlier.insert(first.account_id, found.summed_up() - first.amount);
        }
        let [debit, credit] = sides(cx, asked, narrow()).await?;
        let closing = openings(cx, asked, to, narrow()).await?;
        let before: i64 = fixed.opening.values().sum();
        Ok(Leaves {
            fixed,
            own,
            parties: names_of(cx, lines.iter().filter_map(|line| line.party_id)).await?,
            lines,
            count,
            earlier,
            whole: [before, debit, credit, before + debit - credit],
            apart: closing.values().sum(),
        })
    }

    fn fold(facts: Leaves, asked: &Asked) -> Result<Sheet> {
        let Leaves { fixed, own, lines, count, earlier, parties, whole, apart } = facts;
        let Fixed { chart, opening } = fixed.as_ref();
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
            let party = line.party_id.and_then(|party| parties.get(&party)).cloned();
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
                party_id: line.party_id,
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
            next: lines.last().map(|line| Mark { fixed: Some(fixed.clone()), ..line.mark(running) }),
        })
    }
}

impl Line {
    const fn mark(&self, running: i64) -> Mark {
        let (account, date, number) = (self.account_id, self.date, self.entry_number);
        Mark { account, date, number, position: self.position, running, fixed: None }
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

/// The next lines, each account by itself: so each is found by its index, however many stand before it.
async fn portion(cx: &Cx<'_>, asked: &Asked, chart: &Chart, narrow: Condition) -> Result<Vec<Line>> {
    let (most, _) = asked.limits();
    let mut lines: Vec<Line> = Vec::new();
    let begun = asked.mark().map(|mark| mark.account);
    for account in chart.0.iter().skip_while(|account| begun.is_some_and(|begun| begun != account.id)) {
        let mut of_account = of_span(cx, asked.span, asked)
            .await?
            .filter(narrow.clone())
            .filter(entry_lines::Column::AccountId.eq(account.id));
        if let Some(mark) = asked.mark().filter(|mark| mark.account == account.id) {
            of_account = of_account.filter(after(mark));
        }
        let left = most - lines.len() as u64;
        lines.extend(in_order(of_account).limit(left).into_model::<Line>().all(&cx.db).await?);
        if lines.len() as u64 >= most {
            break;
        }
    }
    Ok(lines)
}

/// What accounts come to at the end of a day, of what is asked for alone.
async fn openings(cx: &Cx<'_>, asked: &Asked, day: Day, narrow: Condition) -> Result<HashMap<RecordId, i64>> {
    if asked.party.is_none() {
        let mut all = at_end(cx, day, asked.point).await?;
        all.retain(|id, _| asked.account.is_none_or(|account| account == *id));
        return Ok(all);
    }
    let found: Vec<(RecordId, i64)> = of_span(cx, Span { from: None, to: day }, asked)
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

pub(super) struct DayBook;

pub(super) struct Days {
    own: Own,
    entries: Vec<entries::Model>,
    lines: Vec<entry_lines::Model>,
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
    const ABOUT: &'static str = "Every entry of some days with its lines, each once, in pages.";
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
        let (count, total, apart) =
            if asked.is_page() { figures(cx, asked, all.clone()).await? } else { Default::default() };
        let fixed = match asked.mark().and_then(|mark| mark.fixed.clone()) {
            Some(fixed) => fixed,
            None => Arc::new(Fixed { chart: Chart::of(cx).await?, opening: HashMap::new() }),
        };
        let (limit, offset) = asked.limits();
        let mut page = all.order_by_asc(entries::Column::Date).order_by_asc(entries::Column::Number);
        if let Some(mark) = asked.mark() {
            let later =
                Condition::any().add(entries::Column::Date.gt(mark.date)).add(entries::Column::Number.gt(mark.number));
            page = page.filter(entries::Column::Date.gte(mark.date)).filter(later);
        }
        let mut page = page.limit(limit).offset(offset).all(&cx.db).await?;
        if !asked.is_page() {
            // Entries may have very many lines; what is left comes with the next portion.
            page.truncate(that_fit(cx, &page).await?);
        }
        let lines = entry_lines::Entity::find()
            .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
            .filter(entry_lines::Column::EntryNumber.is_in(page.iter().map(|entry| entry.number)))
            .order_by_asc(entry_lines::Column::EntryNumber)
            .order_by_asc(entry_lines::Column::Position)
            .all(&cx.db)
            .await?;
        Ok(Days { own: Own(cx.business()?.currency_decimals), entries: page, lines, fixed, count, total, apart })
    }

    fn fold(facts: Days, _: &Asked) -> Result<Sheet> {
        let Days { own, entries, lines, fixed, count, total, apart } = facts;
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
                party_id: line.party_id,
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
                fixed: Some(fixed.clone()),
                ..Mark::default()
            }),
        })
    }
}

/// How many entries there are, what they come to, and what all accounts were debited with, computed apart.
async fn figures(cx: &Cx<'_>, asked: &Asked, all: Select<entries::Entity>) -> Result<(u64, i64, i64)> {
    let count = all.clone().count(&cx.db).await?;
    let total: Option<Option<i64>> = all
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
    use crate::books::tables::EntryKind;
    use crate::clock::Instant;
    use crate::ids::{BusinessId, UserId};
    use crate::money::Money;
    use crate::resource::account::AccountType;

    #[test]
    fn a_page_goes_on_where_the_one_before_it_ended() {
        let line = |entry_number, code: u128, cents: i64| Line {
            entry_number,
            position: 1,
            account_id: id(code),
            party_id: (cents < 0).then(|| id(1)),
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
            }),
            own: Own(2),
            lines: vec![line(4, 1010, -700), line(5, 1010, 250), line(4, 6000, 700)],
            count: 8,
            earlier: HashMap::from([(id(1010), 5_000)]),
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
            fixed: Arc::new(Fixed {
                chart: Chart(vec![account(1010, AccountType::Bank), account(6000, AccountType::Expense)]),
                opening: HashMap::new(),
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

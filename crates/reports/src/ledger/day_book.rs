//! The day book: every entry above its lines.

use super::figures;
use crate::Report;
use crate::asked::{Asked, FORMAT, FROM, FROM_DATE, Fixed, KNOWN_AT, Mark, TO, TO_DATE};
use crate::error::{Error, FieldErrors, Result};
use crate::form::{Example, Form, Holds};
use crate::ids::RecordId;
use crate::sheet::{Cell, Own, Row, RowType, Sheet};
use crate::statements::{Chart, account_row};
use answers::Ask;
use books::apart::between_years;
use books::balances::last_known;
use books::cx::Cx;
use books::portions::{lines_of, of_entries, that_fit};
use kit::list::Parameter;
use schema::account as accounts;
use schema::aliases::Aliases;
use schema::tables::{entries, entry_lines};
use sea_orm::{ColumnTrait, Condition, QueryFilter, QueryOrder, QuerySelect, Select};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use words::sums::Lists as _;

/// A page of as many entries as are given unasked holds all their lines, however long they are.
const MOST_LINES: i64 = 50_000;

pub(crate) struct DayBook;

pub(crate) struct Days {
    pub(super) own: Own,
    pub(crate) entries: Vec<entries::Model>,
    pub(super) lines: Vec<entry_lines::Model>,
    pub(super) aliases: Aliases,
    pub(super) fixed: Arc<Fixed>,
    pub(super) count: u64,
    pub(super) total: i64,
    /// What all accounts were debited with, computed apart.
    pub(super) apart: i64,
}

impl Report for DayBook {
    const NAME: &'static str = "day-book";
    const OPERATION: &'static str = "DayBook";
    const TITLE: &'static str = "Day book";
    const ABOUT: &'static str = "Every entry of a period with its lines, each once, in pages. What closes a \
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
            page = in_order(all).limit(limit).offset(offset).models(&cx.db).await?;
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
                page.extend(in_order(some).limit(limit - page.len() as u64).models(&cx.db).await?);
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
        let accounts: HashMap<RecordId, &accounts::Charted> =
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

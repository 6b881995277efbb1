//! What tax was charged and can be claimed back: by code and component, and line by line.

use super::Report;
use super::aging::documents_of;
use super::asked::{Asked, FORMAT, FROM, FROM_DATE, KNOWN_AT, Mark, TAX_CODE, TO, TO_DATE};
use super::form::{Example, Form, Holds};
use super::lines::{after, amount, of_span};
use super::sheet::{Cell, Own, Row, RowType, Sheet};
use crate::books::balances::sum;
use crate::books::sums::sums;
use crate::books::tables::{DocumentKind, entries, entry_lines};
use crate::cx::Cx;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::resource::account::{AccountType, table as accounts};
use crate::resource::list::Parameter;
use crate::resource::tax_code::table as codes;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, EntityTrait, FromQueryResult, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use std::collections::{BTreeMap, HashMap, HashSet};

const PARAMETERS: &[Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, TAX_CODE, KNOWN_AT, FORMAT];

/// Which accounts tell of tax that is owed; other tax can be claimed back.
async fn owed(cx: &Cx<'_>) -> Result<HashSet<RecordId>> {
    let found: Vec<RecordId> = accounts::Entity::find()
        .select_only()
        .column(accounts::Column::Id)
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .filter(accounts::Column::Type.eq(AccountType::TaxPayable))
        .into_tuple()
        .all(&cx.db)
        .await?;
    Ok(found.into_iter().collect())
}

async fn code_names(cx: &Cx<'_>) -> Result<HashMap<RecordId, String>> {
    let found: Vec<(RecordId, String, String)> = codes::Entity::find()
        .select_only()
        .columns([codes::Column::Id, codes::Column::Code, codes::Column::Name])
        .filter(codes::Column::BusinessId.eq(cx.business_id()?))
        .into_tuple()
        .all(&cx.db)
        .await?;
    Ok(found.into_iter().map(|(id, code, name)| (id, format!("{code} {name}"))).collect())
}

// ── Summary ──

pub(super) struct TaxSummary;

#[derive(FromQueryResult)]
struct Taxed {
    account_id: RecordId,
    tax_code_id: Option<RecordId>,
    tax_component: Option<String>,
    amount: i64,
    base: i64,
}

pub(super) struct Taxes {
    own: Own,
    lines: Vec<Taxed>,
    owed: HashSet<RecordId>,
    codes: HashMap<RecordId, String>,
    /// What the same accounts were moved by, less what was posted to them without a tax code.
    apart: i64,
}

impl Report for TaxSummary {
    const NAME: &'static str = "tax-summary";
    const OPERATION: &'static str = "TaxSummary";
    const TITLE: &'static str = "Summary of tax";
    const ABOUT: &'static str = "What tax was charged on sales and paid on purchases over some days, by tax code and \
                                 component, with what it was computed on, in the company's currency.";
    const PARAMETERS: &'static [Parameter] = PARAMETERS;
    const FORM: Form = Form {
        columns: &[
            ("salesBase", "Sales, without tax", Holds::Amount),
            ("outputTax", "Tax on sales", Holds::Amount),
            ("purchaseBase", "Purchases, without tax", Holds::Amount),
            ("inputTax", "Tax on purchases", Holds::Amount),
        ],
        varying: None,
        totals: &[
            ("outputTax", "Tax on sales", Holds::Amount),
            ("inputTax", "Tax on purchases", Holds::Amount),
            ("netTax", "Tax to be paid", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[
                (
                    RowType::Section,
                    "019a9f6e-6c00-7b24-8d13-8fa0c1324d24",
                    "VAT20 VAT 20 %",
                    &["22500.00", "4500.00", "1000.00", "200.00"],
                ),
                (RowType::Total, "total", "Total", &["22500.00", "4500.00", "1000.00", "200.00"]),
            ],
            totals: &["4500.00", "200.00", "4300.00"],
            check: ("The tax is what tax accounts were moved by", Holds::Amount, "4300.00"),
        },
    };
    type Facts = Taxes;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Taxes> {
        let mut tagged = of_span(cx, asked.span, asked).await?.filter(entry_lines::Column::TaxComponent.is_not_null());
        if let Some(code) = asked.tax_code {
            tagged = tagged.filter(entry_lines::Column::TaxCodeId.eq(code));
        }
        let lines: Vec<Taxed> = tagged
            .columns([
                entry_lines::Column::AccountId,
                entry_lines::Column::TaxCodeId,
                entry_lines::Column::TaxComponent,
            ])
            .column_as(amount(cx), "amount")
            .column_as(sum(cx, Expr::col((entry_lines::Entity, entry_lines::Column::TaxBase))), "base")
            .group_by(entry_lines::Column::AccountId)
            .group_by(entry_lines::Column::TaxCodeId)
            .group_by(entry_lines::Column::TaxComponent)
            .into_model()
            .all(&cx.db)
            .await?;
        let accounts: HashSet<RecordId> = lines.iter().map(|line| line.account_id).collect();
        let moved: i64 = sums(cx, asked.span, asked.point)
            .await?
            .into_iter()
            .filter(|(id, _)| accounts.contains(id))
            .map(|(_, moved)| moved.net())
            .sum();
        let mut rest = of_span(cx, asked.span, asked)
            .await?
            .filter(entry_lines::Column::AccountId.is_in(accounts.iter().copied()));
        let mut others = sea_orm::Condition::any().add(entry_lines::Column::TaxComponent.is_null());
        if let Some(code) = asked.tax_code {
            others = others.add(entry_lines::Column::TaxCodeId.ne(code));
        }
        rest = rest.filter(others);
        let rest: Option<Option<i64>> = rest.column_as(amount(cx), "amount").into_tuple().one(&cx.db).await?;
        Ok(Taxes {
            own: Own(cx.business()?.currency_decimals),
            owed: owed(cx).await?,
            codes: code_names(cx).await?,
            lines,
            apart: moved - rest.flatten().unwrap_or_default(),
        })
    }

    fn fold(facts: Taxes, _: &Asked) -> Result<Sheet> {
        let Taxes { own, lines, owed, codes, apart } = facts;
        let mut by_code: BTreeMap<(String, Option<RecordId>), BTreeMap<String, [i64; 4]>> = BTreeMap::new();
        for line in &lines {
            let name = line.tax_code_id.and_then(|id| codes.get(&id)).cloned().unwrap_or_default();
            let component = line.tax_component.clone().unwrap_or_default();
            let figures = by_code.entry((name, line.tax_code_id)).or_default().entry(component).or_default();
            // What is owed stands as a credit.
            let (place, sign) = if owed.contains(&line.account_id) { (0, -1) } else { (2, 1) };
            figures[place] += sign * line.base;
            figures[place + 1] += sign * line.amount;
        }
        let mut sums = [0; 4];
        let mut rows = Vec::new();
        for ((name, id), components) in by_code {
            let mut of_code = [0; 4];
            let mut children = Vec::new();
            for (component, figures) in components {
                for (place, figure) in figures.iter().enumerate() {
                    of_code[place] += figure;
                }
                children.push(Row::total(RowType::Line, &component, &component, own.cells(&figures)));
            }
            for (sum, figure) in sums.iter_mut().zip(of_code) {
                *sum += figure;
            }
            let key = id.map_or_else(|| "none".to_owned(), |id| id.to_string());
            rows.push(Row::section(&key, &name, own.cells(&of_code), children));
        }
        rows.push(Row::total(RowType::Total, "total", "Total", own.cells(&sums)));
        let due = sums[1] - sums[3];
        let totals = [("outputTax", sums[1]), ("inputTax", sums[3]), ("netTax", due)];
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: totals.into_iter().map(|(key, sum)| (key.to_owned(), own.cell(sum))).collect(),
            checks: vec![own.check("The tax is what tax accounts were moved by", due, -apart)],
            ..Sheet::default()
        })
    }
}

// ── Detail ──

pub(super) struct TaxDetail;

#[derive(FromQueryResult)]
struct Line {
    entry_number: i64,
    position: i64,
    date: Day,
    account_id: RecordId,
    document_id: RecordId,
    tax_code_id: Option<RecordId>,
    tax_component: Option<String>,
    tax_base: Option<i64>,
    amount: i64,
}

pub(super) struct Detailed {
    own: Own,
    lines: Vec<Line>,
    count: u64,
    owed: HashSet<RecordId>,
    codes: HashMap<RecordId, String>,
    named: HashMap<RecordId, (DocumentKind, Option<String>)>,
    /// The tax of all pages, and of the summary.
    total: i64,
    summary: i64,
}

impl Report for TaxDetail {
    const NAME: &'static str = "tax-detail";
    const OPERATION: &'static str = "TaxDetail";
    const TITLE: &'static str = "Tax, line by line";
    const ABOUT: &'static str = "Every line of the ledger that is tax, over some days, in pages.";
    const PARAMETERS: &'static [Parameter] = PARAMETERS;
    const PAGED: bool = true;
    const FORM: Form = Form {
        columns: &[
            ("date", "Date", Holds::Day),
            ("taxCode", "Tax code", Holds::Text),
            ("component", "Component", Holds::Text),
            ("side", "On", Holds::Text),
            ("base", "Without tax", Holds::Amount),
            ("tax", "Tax", Holds::Amount),
        ],
        varying: None,
        totals: &[("netTax", "Tax to be paid", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[(
                RowType::Line,
                "1042-3",
                "INV-2026-0042",
                &["2026-11-20", "VAT20 VAT 20 %", "VAT", "sales", "22500.00", "4500.00"],
            )],
            totals: &["4500.00"],
            check: ("The lines of all pages are the summary", Holds::Amount, "4500.00"),
        },
    };
    type Facts = Detailed;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Detailed> {
        let mut tagged = of_span(cx, asked.span, asked).await?.filter(entry_lines::Column::TaxComponent.is_not_null());
        if let Some(code) = asked.tax_code {
            tagged = tagged.filter(entry_lines::Column::TaxCodeId.eq(code));
        }
        let (count, total, summary) =
            if asked.is_page() { figures(cx, asked, tagged.clone()).await? } else { Default::default() };
        if let Some(mark) = asked.mark() {
            tagged = tagged.filter(after(mark));
        }
        let (limit, offset) = asked.limits();
        let lines = tagged
            .columns([
                entry_lines::Column::EntryNumber,
                entry_lines::Column::Position,
                entry_lines::Column::Date,
                entry_lines::Column::AccountId,
                entry_lines::Column::TaxCodeId,
                entry_lines::Column::TaxComponent,
                entry_lines::Column::TaxBase,
                entry_lines::Column::Amount,
            ])
            .column(entries::Column::DocumentId)
            .order_by_asc(entry_lines::Column::Date)
            .order_by_asc(entry_lines::Column::EntryNumber)
            .order_by_asc(entry_lines::Column::Position)
            .limit(limit)
            .offset(offset);
        let lines: Vec<Line> = lines.into_model().all(&cx.db).await?;
        Ok(Detailed {
            own: Own(cx.business()?.currency_decimals),
            named: documents_of(cx, lines.iter().map(|line| line.document_id)).await?,
            lines,
            count,
            owed: owed(cx).await?,
            codes: code_names(cx).await?,
            total,
            summary,
        })
    }

    fn fold(facts: Detailed, _: &Asked) -> Result<Sheet> {
        let Detailed { own, lines, count, owed, codes, named, total, summary } = facts;
        let row = |line: &Line| {
            let (kind, number) = named.get(&line.document_id).cloned().unzip();
            let sign = if owed.contains(&line.account_id) { -1 } else { 1 };
            let code = line.tax_code_id.and_then(|id| codes.get(&id)).cloned().unwrap_or_default();
            let side = if sign < 0 { "sales" } else { "purchases" };
            let values = vec![
                Cell::Day(line.date),
                Cell::Text(code),
                Cell::Text(line.tax_component.clone().unwrap_or_default()),
                Cell::Text(side.into()),
                line.tax_base.map_or(Cell::Nothing, |base| own.cell(sign * base)),
                own.cell(sign * line.amount),
            ];
            Row {
                account_id: Some(line.account_id),
                document_id: Some(line.document_id),
                document_type: kind,
                ..Row::total(
                    RowType::Line,
                    &format!("{}-{}", line.entry_number, line.position),
                    number.flatten().as_deref().unwrap_or("without a number"),
                    values,
                )
            }
        };
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows: lines.iter().map(row).collect(),
            totals: BTreeMap::from([("netTax".to_owned(), own.cell(total))]),
            checks: vec![own.check("The lines of all pages are the summary", total, summary)],
            count: Some(count),
            next: lines.last().map(|line| Mark {
                date: line.date,
                number: line.entry_number,
                position: line.position,
                ..Mark::default()
            }),
        })
    }
}

/// How many lines there are, and the tax of all pages and of the summary.
async fn figures(cx: &Cx<'_>, asked: &Asked, tagged: Select<entry_lines::Entity>) -> Result<(u64, i64, i64)> {
    let count = tagged.clone().column(entry_lines::Column::EntryNumber).count(&cx.db).await?;
    let total: Option<Option<i64>> = tagged.column_as(amount(cx), "amount").into_tuple().one(&cx.db).await?;
    let summary = TaxSummary::gather(cx, asked).await?;
    Ok((count, -total.flatten().unwrap_or_default(), -summary.lines.iter().map(|line| line.amount).sum::<i64>()))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{asked, failed, id, named, written};
    use super::*;

    #[test]
    fn what_is_owed_and_what_is_claimed_back_stand_apart() {
        let line = |account, code: Option<u128>, component: &str, [amount, base]: [i64; 2]| Taxed {
            account_id: id(account),
            tax_code_id: code.map(id),
            tax_component: Some(component.into()),
            amount: amount * 100,
            base: base * 100,
        };
        let taxes = |apart: i64| Taxes {
            own: Own(2),
            lines: vec![
                line(2200, Some(1), "VAT", [-2_000, -10_000]),
                line(1250, Some(1), "VAT", [500, 2_500]),
                line(2200, Some(2), "State", [-300, -5_000]),
                line(2200, Some(2), "City", [-50, -5_000]),
                // A credit note takes back what was charged.
                line(2200, Some(1), "VAT", [400, 2_000]),
            ],
            owed: HashSet::from([id(2200)]),
            codes: named(&[(1, "VAT 20"), (2, "Sales tax")]),
            apart: apart * 100,
        };
        let asked = asked("2026-01-01", "2026-01-31");
        let sheet = TaxSummary::fold(taxes(-1_450), &asked).unwrap();
        assert_eq!(
            written(&sheet),
            [
                "Sales tax 100.00 3.50 0.00 0.00",
                "  City 50.00 0.50 0.00 0.00",
                "  State 50.00 3.00 0.00 0.00",
                "VAT 20 80.00 16.00 25.00 5.00",
                "  VAT 80.00 16.00 25.00 5.00",
                "total 180.00 19.50 25.00 5.00",
            ]
        );
        assert_eq!((failed(&sheet), &sheet.totals["netTax"]), (Vec::new(), &Own(2).cell(145_000)));
        assert_eq!(failed(&TaxSummary::fold(taxes(-1_451), &asked).unwrap()).len(), 1);
    }

    #[test]
    fn each_line_says_on_which_side_its_tax_stands() {
        let line = |position, account, [amount, base]: [i64; 2]| Line {
            entry_number: 5,
            position,
            date: "2026-01-05".parse().unwrap(),
            account_id: id(account),
            document_id: id(9),
            tax_code_id: Some(id(1)),
            tax_component: Some("VAT".into()),
            tax_base: (base != 0).then_some(base * 100),
            amount: amount * 100,
        };
        let facts = Detailed {
            own: Own(2),
            lines: vec![line(2, 2200, [-2_000, -10_000]), line(3, 1250, [500, 2_500]), line(4, 1250, [10, 0])],
            count: 41,
            owed: HashSet::from([id(2200)]),
            codes: named(&[(1, "VAT 20")]),
            named: HashMap::from([(id(9), (DocumentKind::SalesInvoice, Some("INV-9".into())))]),
            total: 149_000,
            summary: 149_100,
        };
        let sheet = TaxDetail::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(
            written(&sheet),
            [
                r#"5-2 "2026-01-05" "VAT 20" "VAT" "sales" 100.00 20.00"#,
                r#"5-3 "2026-01-05" "VAT 20" "VAT" "purchases" 25.00 5.00"#,
                r#"5-4 "2026-01-05" "VAT 20" "VAT" "purchases" null 0.10"#,
            ]
        );
        assert_eq!((failed(&sheet).len(), sheet.count), (1, Some(41)));
    }
}

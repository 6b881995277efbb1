//! What an auditor asks for: whether numbers have gaps, and who changed what.

use super::Report;
use super::asked::{Asked, FORMAT, FROM, FROM_DATE, Mark, TO, TO_DATE};
use super::form::{Example, Form, Holds};
use super::sheet::{Cell, Check, Row, RowType, Sheet};
use crate::error::Result;
use ::books::BEFORE_THE_FIRST;
use ::books::audit;
use ::books::cx::Cx;
use ::books::gaps::{PeriodGaps, gaps_of};
use answers::Ask;
use kit::changes::records;
use kit::extra::Weight;
use kit::list::Parameter;
use schema::key::ResourceKey;
use schema::number_series as series;
use schema::tables::{audit_log, books};
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::BTreeMap;

fn count(number: impl TryInto<i64>) -> Cell {
    number.try_into().map_or(Cell::Nothing, Cell::Count)
}

fn check(name: &str, left: Cell, right: Cell) -> Check {
    Check { name: name.into(), ok: left == right, left, right }
}

// ── Gaps in numbers ──

pub(super) struct NumberGaps;

impl Report for NumberGaps {
    const NAME: &'static str = "number-gaps";
    const OPERATION: &'static str = "NumberGaps";
    const TITLE: &'static str = "Gaps in numbers";
    const ABOUT: &'static str = "Every number series with its periods, the first and the last number given in each, and \
                                 those that are missing.";
    const PARAMETERS: &'static [Parameter] = &[FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("first", "First", Holds::Count),
            ("last", "Last", Holds::Count),
            ("missing", "How many are missing", Holds::Count),
            ("numbers", "Which", Holds::Text),
        ],
        varying: None,
        totals: &[("missing", "How many are missing", Holds::Count)],
        example: Example {
            varying: &[],
            rows: &[(RowType::Line, "2026", "2026", &["1", "42", "0", ""])],
            totals: &["0"],
            check: ("No number is missing", Holds::Count, "0"),
        },
    };
    type Facts = Vec<(series::Model, Vec<PeriodGaps>)>;

    async fn gather(cx: &Cx<'_>, _: &Asked) -> Result<Self::Facts> {
        let all = series::Entity::find()
            .filter(series::Column::BusinessId.eq(cx.business_id()?))
            .order_by_asc(series::Column::NameKey)
            .order_by_asc(series::Column::Id)
            .models(&cx.db)
            .await?;
        let mut found = Vec::new();
        for one in all {
            let gaps = gaps_of(cx, one.id, one.first_number).await?;
            found.push((one, gaps));
        }
        Ok(found)
    }

    fn fold(facts: Self::Facts, _: &Asked) -> Result<Sheet> {
        let mut missing = 0_usize;
        let mut rows = Vec::new();
        for (series, periods) in facts {
            let children: Vec<Row> = periods
                .iter()
                .map(|period| {
                    missing += period.missing.len();
                    let gaps: Vec<String> = period.missing.iter().take(50).map(ToString::to_string).collect();
                    let values = vec![
                        Cell::Count(period.first),
                        Cell::Count(period.last),
                        count(period.missing.len()),
                        Cell::Text(gaps.join(", ")),
                    ];
                    Row::total(RowType::Line, &period.period, &period.period, values)
                })
                .collect();
            if !children.is_empty() {
                rows.push(Row::section(&series.id.to_string(), &series.name, vec![Cell::Nothing; 4], children));
            }
        }
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: BTreeMap::from([("missing".to_owned(), count(missing))]),
            checks: vec![check("No number is missing", count(missing), Cell::Count(0))],
            ..Sheet::default()
        })
    }
}

// ── Who changed what ──

pub(super) struct AuditTrail;

#[derive(Default)]
pub(super) struct Trail {
    records: Vec<audit_log::Model>,
    count: u64,
    /// How many records the chain has, and where it is broken.
    whole: i64,
    problems: usize,
    /// How many there must be.
    head: i64,
}

impl Report for AuditTrail {
    const NAME: &'static str = "audit-trail";
    const OPERATION: &'static str = "AuditTrail";
    const TITLE: &'static str = "Audit trail";
    const ABOUT: &'static str = "Who changed what in a period, in pages, with the proof that the chain of all records is \
                                 whole. The records themselves are in the audit log.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, FORMAT];
    const PAGED: bool = true;
    const NEEDS: ResourceKey = ResourceKey::AuditLog;
    /// Each page proves the chain.
    const WEIGHT: Weight = Weight::Proof;
    const FORM: Form = Form {
        columns: &[
            ("at", "At", Holds::Text),
            ("user", "User", Holds::Text),
            ("resource", "Resource", Holds::Text),
            ("record", "Record", Holds::Text),
            ("request", "Request", Holds::Text),
        ],
        varying: None,
        totals: &[("records", "Records", Holds::Count)],
        example: Example {
            varying: &[],
            rows: &[(
                RowType::Line,
                "7",
                "created",
                &[
                    "2026-11-20T09:30:00.000000Z",
                    "019a9f6e-6c00-7b2a-9319-e50627980a2a",
                    "salesInvoices",
                    "019a9f6e-6c00-7b23-8c12-7e9fb0213c24",
                    "01KAGZD7G0",
                ],
            )],
            totals: &["7"],
            check: ("The chain has every record", Holds::Count, "7"),
        },
    };
    type Facts = Trail;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Trail> {
        let business = cx.business_id()?;
        let company = cx.business()?;
        let (from, to) = (asked.span.from.unwrap_or(asked.span.to), asked.span.to);
        let all = records(cx)?
            .filter(audit_log::Column::At.gte(company.beginning_of(from)))
            .filter(audit_log::Column::At.lt(company.beginning_of(to.next())));
        let all = match asked.last_record {
            Some(last) => all.filter(audit_log::Column::Sequence.lte(last)),
            None => all,
        };
        let (limit, offset) = asked.limits();
        let mut page = all.clone().order_by_asc(audit_log::Column::Sequence);
        if let Some(mark) = asked.mark() {
            page = page.filter(audit_log::Column::Sequence.gt(mark.number));
        }
        let records = page.limit(limit).offset(offset).models(&cx.db).await?;
        if !asked.is_page() {
            return Ok(Trail { records, ..Trail::default() });
        }
        let verdict = audit::verify(cx, business).await?;
        let head = books::Entity::find_by_id(business).model(&cx.db).await?;
        Ok(Trail {
            records,
            count: all.count(&cx.db).await?,
            whole: verdict.records,
            problems: verdict.problems.len(),
            head: head.map_or(BEFORE_THE_FIRST, |head| head.audit_sequence),
        })
    }

    fn fold(facts: Trail, _: &Asked) -> Result<Sheet> {
        let Trail { records, count: all, whole, problems, head } = facts;
        let row = |record: &audit_log::Model| {
            let values = vec![
                Cell::Text(record.at.to_string()),
                record.user_id.map_or(Cell::Nothing, |user| Cell::Text(user.to_string())),
                Cell::Text(record.resource.to_string()),
                Cell::Text(record.resource_id.to_string()),
                record.request_id.clone().map_or(Cell::Nothing, |called| Cell::Text(called.0)),
            ];
            Row::total(RowType::Line, &record.sequence.to_string(), &record.action, values)
        };
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows: records.iter().map(row).collect(),
            totals: BTreeMap::from([("records".to_owned(), count(all))]),
            checks: vec![
                check("The chain has every record", count(whole), Cell::Count(head)),
                check("The chain is nowhere broken", count(problems), Cell::Count(0)),
            ],
            count: Some(all),
            next: records.last().map(|last| Mark { number: last.sequence, ..Mark::default() }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{asked, failed, id, written};
    use super::*;
    use crate::clock::Instant;
    use crate::ids::{BusinessId, UserId};
    use schema::number_series::{Chronology, ResetOn, SeriesStatus};
    use schema::tables::DocumentKind;

    #[test]
    fn a_broken_chain_and_a_missing_record_are_said() {
        let told = |whole, problems| {
            let trail = Trail { records: Vec::new(), count: 3, whole, problems, head: 7 };
            let sheet = AuditTrail::fold(trail, &asked("2026-01-01", "2026-01-31")).unwrap();
            sheet.checks.into_iter().map(|check| check.ok).collect::<Vec<_>>()
        };
        assert_eq!([told(7, 0), told(6, 0), told(7, 2)], [[true, true], [false, true], [true, false]].map(Vec::from));
    }

    #[test]
    fn what_numbers_are_missing_is_told_by_period() {
        let series = |number: u128, name: &str| series::Model {
            business_id: BusinessId::default(),
            id: id(number),
            r#type: DocumentKind::SalesInvoice,
            name: name.into(),
            name_key: name.into(),
            pattern: "INV-{YYYY}-{####}".into(),
            first_number: 1,
            reset_on: ResetOn::FiscalYear,
            allow_manual: true,
            chronological: Chronology::Off,
            is_default: true,
            status: SeriesStatus::Active,
            search: String::new(),
            version: 1,
            created_at: Instant::default(),
            created_by: UserId::default(),
            updated_at: Instant::default(),
            updated_by: UserId::default(),
        };
        let gaps = |period: &str, last, missing: &[i64]| PeriodGaps {
            period: period.into(),
            first: 1,
            last,
            missing: missing.to_vec(),
        };
        let years = vec![gaps("2025-01-01", 9, &[3, 4]), gaps("2026-01-01", 2, &[])];
        let facts = vec![(series(1, "Invoices"), years), (series(2, "Never used"), Vec::new())];
        let sheet = NumberGaps::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(
            written(&sheet),
            ["Invoices null null null null", r#"  2025-01-01 1 9 2 "3, 4""#, r#"  2026-01-01 1 2 0 """#]
        );
        assert_eq!(failed(&sheet), ["No number is missing: 2 0"]);
    }
}

//! The numbers of documents: none twice, none missing.

use super::{Check, Findings, MOST_FINDINGS};
use crate::error::Result;
use ::books::cx::Cx;
use ::books::gaps::gaps_of;
use schema::number_series as series;
use schema::tables::{DocumentStatus, documents};
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};

pub(super) async fn numbers(cx: &Cx<'_>) -> Result<Check> {
    let all = series::Entity::find().filter(series::Column::BusinessId.eq(cx.business_id()?)).all(&cx.db).await?;
    let mut findings = Findings::default();
    let (mut given, mut expected) = (0_i64, 0_i64);
    for series in all {
        for period in gaps_of(cx, series.id, series.first_number).await? {
            let count = Ord::max(period.last - period.first + 1, 0);
            expected += count;
            given += count - period.missing.iter().map(|_| 1_i64).sum::<i64>();
            for missing in period.missing.iter().take(MOST_FINDINGS) {
                findings.add(format!("{} {}: number {missing} is missing", series.name, period.period));
            }
        }
    }
    let twice: Vec<(String, i64)> = documents::Entity::find()
        .select_only()
        .column(documents::Column::Number)
        .column_as(documents::Column::Id.count(), "times")
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::Number.is_not_null())
        .group_by(documents::Column::Kind)
        .group_by(documents::Column::Number)
        .having(documents::Column::Id.count().gt(1))
        .into_tuple()
        .all(&cx.db)
        .await?;
    for (number, times) in twice {
        findings.add(format!("{number} was given {times} times"));
    }
    // What a number is in its series must be what its counter has counted.
    let beyond = documents::Entity::find()
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::Status.ne(DocumentStatus::Draft))
        .filter(documents::Column::Number.is_null())
        .count(&cx.db)
        .await?;
    if beyond > 0 {
        findings.add(format!("{beyond} documents in the books have no number"));
    }
    Ok(Check::of("V6", "Numbers are given without a gap and once", given, expected, findings))
}

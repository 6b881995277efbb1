//! What is kept of tax by month, recomputed from the facts and the lines that they name, entry by entry.

use super::rollups::compare;
use super::{Check, Range, Wide, shown};
use crate::error::Result;
use crate::ids::RecordId;
use answers::{Answers, Ask};
use schema::reader::Reader;
use schema::tables::{TaxDuty, TaxKind, TaxOrigin, TaxSide, tax_months};
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, QueryFilter, Statement};
use std::collections::BTreeMap;

/// The month, the code and the component, and the rest of what a fact says, in one text.
type Key = (String, RecordId, RecordId, String);

/// The base of what leads a line and of what stands beside it, tax, what is not recoverable, and what the lines move.
type Figures = [Wide; 5];

answers::of_row! {
    struct Said {
        month: String,
        tax_code_id: Option<RecordId>,
        component_id: Option<RecordId>,
        component: Option<String>,
        side: TaxSide,
        duty: TaxDuty,
        origin: TaxOrigin,
        kind: Option<TaxKind>,
        leads: bool,
        base_box: Option<String>,
        tax_box: Option<String>,
        base: i64,
        tax: i64,
        lost: i64,
        posted: i64,
    }
}

/// Facts that say the same in one month. A line that several facts name is counted with the first of them.
fn asked(backend: DbBackend) -> String {
    let month = match backend {
        DbBackend::Postgres => "to_char(DATE '1970-01-01' + f.date::int, 'YYYY-MM')",
        _ => "strftime('%Y-%m', f.date * 86400, 'unixepoch')",
    };
    format!(
        "SELECT {month} AS month, f.tax_code_id, f.component_id, f.component, f.side, f.duty, f.origin, f.kind, \
     f.leads, f.base_box, f.tax_box, CAST(SUM(f.home_base) AS bigint) AS base, CAST(SUM(f.home_tax) AS bigint) AS tax, \
     CAST(SUM(f.not_recoverable) AS bigint) AS lost, CAST(SUM(CASE WHEN EXISTS (SELECT 1 FROM tax_facts AS e \
     WHERE e.business_id = f.business_id AND e.entry_number = f.entry_number AND e.position = f.position \
     AND e.place < f.place) THEN 0 ELSE COALESCE(l.amount, 0) END) AS bigint) AS posted \
     FROM tax_facts AS f LEFT JOIN entry_lines AS l ON l.business_id = f.business_id \
     AND l.entry_number = f.entry_number AND l.position = f.position \
     WHERE f.business_id = $1 AND f.entry_number > $2 AND f.entry_number <= $3 \
     GROUP BY 1, f.tax_code_id, f.component_id, f.component, f.side, f.duty, f.origin, f.kind, f.leads, \
     f.base_box, f.tax_box"
    )
}

/// What facts come to, as far as they were read.
#[derive(Default)]
pub struct Facts(BTreeMap<Key, Figures>);

impl Facts {
    pub(super) async fn of_part(reader: &Reader<'_>, range: Range) -> Result<Self> {
        let backend = reader.db.get_database_backend();
        let (after, until) = range.all_entries();
        let values = [reader.id().into(), after.into(), until.into()];
        let asked = Statement::from_sql_and_values(backend, asked(backend), values);
        let mut facts = Self::default();
        for said in reader.db.answer(asked).await?.read::<Said>()? {
            let base = if said.leads { [said.base, 0] } else { [0, said.base] };
            let figures = [base[0], base[1], said.tax, said.lost, said.posted].map(Wide::from);
            facts.add_figures(said.key(), figures);
        }
        reader.pause().await?;
        Ok(facts)
    }

    fn add_figures(&mut self, key: Key, figures: Figures) {
        let known = self.0.entry(key).or_default();
        *known = std::array::from_fn(|place| known[place] + figures[place]);
    }

    pub(super) fn add(&mut self, others: Self) {
        for (key, figures) in others.0 {
            self.add_figures(key, figures);
        }
    }

    pub(super) async fn check(self, reader: &Reader<'_>) -> Result<Check> {
        let Self(right) = self;
        let kept = tax_months::Entity::find()
            .filter(tax_months::Column::BusinessId.eq(reader.id()))
            .models(&reader.db)
            .await?;
        let kept: BTreeMap<Key, Figures> = kept.into_iter().map(of_row).collect();
        let tax = |sums: &BTreeMap<Key, Figures>| -> Wide { sums.values().map(|[_, _, tax, ..]| tax).sum() };
        let (left, told) = (shown(tax(&kept)), shown(tax(&right)));
        let findings = compare(kept, &right, |(month, code, component, rest)| {
            format!("{month}, code {code}, component {component}, {rest}")
        });
        Ok(Check::of("V4h", "Tax by month equals its facts", left, told, findings))
    }
}

impl Said {
    fn key(&self) -> Key {
        let text = |said: &Option<String>| said.as_ref().map_or_else(String::new, Clone::clone);
        let words = [
            text(&self.component),
            self.side.to_string(),
            self.duty.to_string(),
            self.origin.to_string(),
            self.kind.map_or_else(String::new, |kind| kind.to_string()),
            text(&self.base_box),
            text(&self.tax_box),
        ];
        let record = |id: Option<RecordId>| id.unwrap_or(RecordId::NONE);
        (self.month.clone(), record(self.tax_code_id), record(self.component_id), format!("{words:?}"))
    }
}

fn of_row(row: tax_months::Model) -> (Key, Figures) {
    let words = [row.component, row.side, row.duty, row.origin, row.kind, row.base_box, row.tax_box];
    let figures =
        [row.base, row.base_beside, row.tax, row.not_recoverable, row.posted].map(|money| Wide::from(money.units()));
    ((row.month, row.tax_code_id, row.component_id, format!("{words:?}")), figures)
}

//! How far lines of orders and notes have got: what later documents fulfilled, invoiced and returned of them, and at
//! what goods are carried that nobody has invoiced yet.
//!
//! Owns: that each line is what its history says, and that the lines of an account add up to its balance, at any day.
//! Refuses: to decide what may follow what.

use crate::Leaving;
use crate::balances::halves;
use crate::cx::Cx;
use crate::day::Day;
use crate::desk::{Desk, Standing};
use crate::error::{Code, Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity};
use answers::Ask;
pub use chain::{Chain, chains, of_documents, of_lines};
use days::{check_days, check_shrunk};
use schema::kind::Phase;
use schema::reader::whole;
pub use schema::standing::{less, more, too_many};
use schema::tables::{DocumentKind, Relation, Stage, document_links, documents, progress, progress_moves};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, HashMap};
use words::sown::{Fault, sown};
use words::sums::Figure;

pub use progress::Model as Line;

/// By how much a line gets on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    pub fulfilled: Quantity,
    pub invoiced: Quantity,
    pub returned: Quantity,
    pub cancelled: Quantity,
    /// A debit is positive.
    pub value: BookMoney,
}

/// A document on the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub relation: Relation,
    pub kind: DocumentKind,
    pub number: Option<String>,
}

/// What a document begins, and what it does to the lines that it follows.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Its own lines that others may follow.
    pub begins: Vec<Line>,
    /// Whether nothing more is to come of its own lines.
    pub closes: bool,
    /// The lines that it follows, as they stand with what it does, and what that is.
    pub steps: BTreeMap<RecordId, (Line, Step)>,
    /// The documents that it follows.
    pub links: BTreeMap<RecordId, Link>,
}

pub const fn negated(quantity: Quantity) -> Quantity {
    quantity.negated()
}

fn back(money: BookMoney) -> Result<BookMoney> {
    money.checked_neg().ok_or_else(Error::too_large)
}

impl Step {
    fn negated(self) -> Result<Self> {
        Ok(Self {
            fulfilled: negated(self.fulfilled),
            invoiced: negated(self.invoiced),
            returned: negated(self.returned),
            cancelled: negated(self.cancelled),
            value: back(self.value)?,
        })
    }

    fn plus(self, other: Self) -> Result<Self> {
        Ok(Self {
            fulfilled: more(self.fulfilled, other.fulfilled)?,
            invoiced: more(self.invoiced, other.invoiced)?,
            returned: more(self.returned, other.returned)?,
            cancelled: more(self.cancelled, other.cancelled)?,
            value: self.value.checked_add(other.value).ok_or_else(Error::too_large)?,
        })
    }
}

fn advanced(line: Line, step: Step) -> Result<Line> {
    Ok(Line {
        fulfilled: more(line.fulfilled, step.fulfilled)?,
        invoiced: more(line.invoiced, step.invoiced)?,
        returned: more(line.returned, step.returned)?,
        cancelled: more(line.cancelled, step.cancelled)?,
        value: line.value.checked_add(step.value).ok_or_else(Error::too_large)?,
        ..line
    })
}

/// Whether documents of a kind follow lines, or have lines that others follow.
const fn may_follow(kind: DocumentKind) -> bool {
    kind.is_followed() || kind.is_settled()
}

impl Plan {
    /// Its own lines as they stand then. `before` are those of its last version, which keep what came of them.
    pub fn own(&self, before: &[Line]) -> Vec<Line> {
        let begin = |line: &Line| {
            let old = before.iter().find(|old| old.line_id == line.line_id).unwrap_or(line);
            let mut line = Line {
                fulfilled: old.fulfilled,
                invoiced: old.invoiced,
                returned: old.returned,
                // What it is carried at follows from the facts of stock.
                value: old.value,
                ..line.clone()
            };
            if self.closes {
                line.cancelled = Ord::max(line.open(), Quantity::ZERO);
            }
            line
        };
        self.begins.iter().map(begin).collect()
    }

    /// Moves a line on; later questions about it get it as it stands then.
    pub fn step(&mut self, line: &Line, step: Step) -> Result<()> {
        let (known, so_far) = match self.steps.remove(&line.line_id) {
            Some(moved) => moved,
            None => (line.clone(), Step::default()),
        };
        self.steps.insert(line.line_id, (advanced(known, step)?, so_far.plus(step)?));
        Ok(())
    }

    /// A line as it stands with what was planned so far.
    pub fn line<'p>(&'p self, line: &'p Line) -> &'p Line {
        self.steps.get(&line.line_id).map_or(line, |(moved, _)| moved)
    }
}

/// What open orders promise of an item, in units of quantities. Each order is bounded, and all of them together are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Promised {
    pub to_customers: i128,
    pub by_suppliers: i128,
}

impl Figure for Promised {
    const NOTHING: Self = Self { to_customers: 0, by_suppliers: 0 };
}

/// What open orders promise of items.
pub async fn promised(cx: &Cx<'_>, items: &[RecordId]) -> Result<HashMap<RecordId, Promised>> {
    let mut promised: HashMap<RecordId, Promised> = HashMap::new();
    if items.is_empty() {
        return Ok(promised);
    }
    let column = |column: progress::Column| Expr::col(column.as_column_ref());
    let left = column(progress::Column::Quantity)
        .sub(column(progress::Column::Cancelled))
        .sub(column(progress::Column::Fulfilled));
    let [high, low] = halves(cx, left.clone());
    let rows = progress::Entity::find()
        .select_only()
        .column(progress::Column::ItemId)
        .column(progress::Column::Kind)
        .column_as(high, "high")
        .column_as(low, "low")
        .filter(progress::Column::BusinessId.eq(cx.business_id()?))
        .filter(progress::Column::ItemId.is_in(items.iter().copied()))
        .filter(progress::Column::Kind.is_in(DocumentKind::of_phase(Phase::Order)))
        // More than was ordered may have come of a line; it takes nothing from the others.
        .filter(left.gt(0))
        .group_by(progress::Column::ItemId)
        .group_by(progress::Column::Kind);
    for (item, kind, high, low) in rows.read::<(RecordId, DocumentKind, i64, i64)>(&cx.db).await? {
        let of_item = promised.entry(item).or_default();
        let quantity = whole((high, low));
        if kind == DocumentKind::SalesOrder {
            of_item.to_customers = quantity;
        } else {
            of_item.by_suppliers = quantity;
        }
    }
    Ok(promised)
}

/// The lines of notes that follow lines.
pub async fn followers(cx: &Cx<'_>, lines: impl Iterator<Item = RecordId>) -> Result<Vec<Line>> {
    let ids: Vec<RecordId> = lines.collect();
    if ids.is_empty() || sown(Fault::FollowersForgotten) {
        return Ok(Vec::new());
    }
    let rows = progress::Entity::find()
        .filter(progress::Column::BusinessId.eq(cx.business_id()?))
        .filter(progress::Column::SourceLineId.is_in(ids));
    Ok(rows.models(&cx.db).await?)
}

/// Notes in the history what a document did to a line.
fn note(
    cx: &Cx<'_>,
    by: &documents::Model,
    date: Day,
    line: &Line,
    (quantity, step): (Quantity, Step),
    is_correction: bool,
) -> Result<()> {
    let moved = progress_moves::Model {
        business_id: line.business_id,
        id: RecordId(cx.new_id()),
        line_id: line.line_id,
        date,
        recorded_at: cx.now,
        document_id: by.id,
        kind: by.kind,
        is_correction,
        quantity,
        fulfilled: step.fulfilled,
        invoiced: step.invoiced,
        returned: step.returned,
        cancelled: step.cancelled,
        account_id: line.account_id,
        value: step.value,
    };
    let now = cx.now;
    cx.keep(|desk: &Desk| desk.move_progress(now, moved))
}

/// What came back, or was credited, came with something that is still there.
fn check_cover(line: &Line) -> Result<()> {
    if [line.fulfilled, line.invoiced, line.returned].iter().any(|quantity| quantity.is_negative()) {
        return Err(Error::conflict(
            Code::InUse,
            "Goods that came with it were returned or credited since; void what credits them first",
        ));
    }
    Ok(())
}

/// Writes what was planned. `before` are the document's own lines in its last version, which keep what came of them.
/// How far the document has got is answered, where others may follow it.
pub async fn keep(cx: &Cx<'_>, row: &documents::Model, plan: Plan, before: &[Line]) -> Result<Option<Stage>> {
    let lines = plan.own(before);
    check_shrunk(cx, &lines, before).await?;
    let notes = if row.kind.is_order() && !before.is_empty() {
        followers(cx, lines.iter().map(|line| line.line_id)).await?
    } else {
        Vec::new()
    };
    let chain = Chain { lines, notes };
    let stage = chain.stage(plan.closes);
    for line in chain.lines {
        let line = Line {
            business_id: row.business_id,
            document_id: row.id,
            date: row.date,
            party_id: row.party_id.ok_or_else(|| Error::internal("an order or a note has no party"))?,
            ..line
        };
        let step = Step { cancelled: line.cancelled, ..Step::default() };
        note(cx, row, row.date, &line, (line.quantity, step), false)?;
        cx.keep(|desk| desk.stands(Standing::Progress(line)))?;
    }
    check_days(cx, (row.kind, row.date), &plan).await?;
    for (line, step) in plan.steps.into_values() {
        check_cover(&line)?;
        note(cx, row, row.date, &line, (Quantity::ZERO, step), false)?;
        cx.keep(|desk| desk.stands(Standing::Progress(line)))?;
    }
    for (source_document_id, link) in plan.links {
        let link = document_links::Model {
            business_id: row.business_id,
            document_id: row.id,
            source_document_id,
            relation: link.relation,
        };
        cx.keep(|desk| desk.link(link))?;
    }
    Ok(row.kind.is_followed().then_some(stage))
}

/// Closes the lines of an order, or opens them again. How far it has got then is answered.
pub async fn close(cx: &Cx<'_>, row: &documents::Model, closes: bool) -> Result<Stage> {
    cx.flush().await?;
    let mut chain = chains(cx, &[row.id]).await?.remove(&row.id).unwrap_or_else(Chain::default);
    let today = Ord::max(cx.today()?, row.date);
    for line in &mut chain.lines {
        let wanted = if closes { Ord::max(more(line.open(), line.cancelled)?, Quantity::ZERO) } else { Quantity::ZERO };
        let step = Step { cancelled: less(wanted, line.cancelled), ..Step::default() };
        if step != Step::default() {
            *line = advanced(line.clone(), step)?;
            note(cx, row, today, line, (Quantity::ZERO, step), false)?;
            let line = line.clone();
            cx.keep(|desk| desk.stands(Standing::Progress(line)))?;
        }
    }
    Ok(chain.stage(closes))
}

/// By how much what is carried of a line moves on a day.
pub struct Waited {
    pub line: RecordId,
    pub date: Day,
    pub account: RecordId,
    pub value: BookMoney,
}

/// Notes what goods that wait are carried at. It follows from the facts of stock, and goes with them.
pub async fn wait(cx: &Cx<'_>, by: &documents::Model, moved: Vec<Waited>) -> Result<()> {
    let mut lines = of_lines(cx, moved.iter().map(|one| one.line)).await?;
    for one in moved {
        let row = progress_moves::Model {
            business_id: by.business_id,
            id: RecordId(cx.new_id()),
            line_id: one.line,
            date: one.date,
            recorded_at: cx.now,
            document_id: by.id,
            kind: by.kind,
            is_correction: true,
            quantity: Quantity::ZERO,
            fulfilled: Quantity::ZERO,
            invoiced: Quantity::ZERO,
            returned: Quantity::ZERO,
            cancelled: Quantity::ZERO,
            account_id: Some(one.account),
            value: one.value,
        };
        let now = cx.now;
        cx.keep(|desk: &Desk| desk.move_progress(now, row))?;
        if let Some(line) = lines.get_mut(&one.line) {
            *line = advanced(line.clone(), Step { value: one.value, ..Step::default() })?;
        }
    }
    for line in lines.into_values() {
        cx.keep(|desk| desk.stands(Standing::Progress(line)))?;
    }
    Ok(())
}

/// Undoes what a document did to the lines that it follows, and takes its own lines out. These are answered, and so are
/// the documents whose lines it let go.
pub async fn take_back(
    cx: &Cx<'_>,
    row: &documents::Model,
    day: impl Fn(Day) -> Day,
    leaving: Leaving,
) -> Result<(Vec<Line>, Vec<Line>)> {
    if !may_follow(row.kind) {
        return Ok((Vec::new(), Vec::new()));
    }
    cx.flush().await?;
    let done = progress_moves::Entity::find()
        .filter(progress_moves::Column::BusinessId.eq(row.business_id))
        .filter(progress_moves::Column::DocumentId.eq(row.id))
        .filter(progress_moves::Column::IsCorrection.eq(false))
        .models(&cx.db)
        .await?;
    let own = of_documents(cx, &[row.id]).await?;
    let mut sums: BTreeMap<RecordId, Step> = BTreeMap::new();
    for moved in done {
        let step = Step {
            fulfilled: moved.fulfilled,
            invoiced: moved.invoiced,
            returned: moved.returned,
            cancelled: moved.cancelled,
            value: moved.value,
        };
        let sum = sums.entry(moved.line_id).or_default();
        *sum = sum.plus(step)?;
    }
    let followed = of_lines(cx, sums.keys().copied()).await?;
    let date = day(row.date);
    let mut released = Vec::new();
    for (id, sum) in sums {
        let Some(line) = followed.get(&id).filter(|line| line.document_id != row.id && sum != Step::default()) else {
            continue;
        };
        let step = sum.negated()?;
        let line = advanced(line.clone(), step)?;
        if leaving == Leaving::ForGood {
            check_cover(&line)?;
        }
        note(cx, row, date, &line, (Quantity::ZERO, step), false)?;
        released.push(line.clone());
        cx.keep(|desk| desk.stands(Standing::Progress(line)))?;
    }
    for line in &own {
        let step = Step { cancelled: negated(line.cancelled), ..Step::default() };
        note(cx, row, date, line, (negated(line.quantity), step), false)?;
    }
    progress::Entity::delete_many()
        .filter(progress::Column::BusinessId.eq(row.business_id))
        .filter(progress::Column::DocumentId.eq(row.id))
        .exec(&cx.db)
        .await?;
    if sown(Fault::VoidKeepsItsShare) {
        return Ok((own, released));
    }
    let mut gone = document_links::Entity::delete_many()
        .filter(document_links::Column::BusinessId.eq(row.business_id))
        .filter(document_links::Column::DocumentId.eq(row.id));
    if leaving == Leaving::ForGood && date > row.date {
        // What it credited it credited until then.
        gone = gone.filter(document_links::Column::Relation.ne(Relation::Credits));
    }
    gone.exec(&cx.db).await?;
    Ok((own, released))
}

mod chain;
mod days;
#[cfg(test)]
mod tests;

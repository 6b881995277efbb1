//! That on no day more of a line is taken than there is, whatever ended on a later one.

use super::{Line, Plan, Step};
use crate::among::among;
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::Quantity;
use answers::Ask;
use rules::course;
use schema::kind::Phase;
use schema::tables::{DocumentKind, progress_moves};
use sea_orm::{ColumnTrait, QueryFilter};
use words::sown::{Fault, sown};

/// What took of a line until a later day took it until then: on no day is more taken than there is.
pub(super) async fn check_days(cx: &Cx<'_>, (kind, day): (DocumentKind, Day), plan: &Plan) -> Result<()> {
    let takes = |step: &Step| [step.fulfilled, step.invoiced, step.returned].iter().any(|one| *one > Quantity::ZERO);
    let taking: Vec<RecordId> = plan.steps.iter().filter(|(_, (_, step))| takes(step)).map(|(line, _)| *line).collect();
    if taking.is_empty() {
        return Ok(());
    }
    let moves = progress_moves::Entity::find()
        .filter(progress_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(among(cx, progress_moves::Column::LineId, taking.iter().copied()))
        .filter(progress_moves::Column::IsCorrection.eq(false));
    let moves = moves.models(&cx.db).await?;
    for id in taking {
        let Some((line, step)) = plan.steps.get(&id) else { continue };
        let own: Vec<&progress_moves::Model> = moves.iter().filter(|moved| moved.line_id == id).collect();
        if let Some(free) = free_again(line, day, &own).or_else(|| free_of_goods(line, (kind, day, *step), &own)) {
            return Err(Error::Conflict(Conflict {
                code: Code::OverFulfilment,
                title: format!("More than is left before {free} of a line that it follows"),
                errors: FieldErrors::one(
                    "date",
                    format!("must be {free} or later: until then, others take what is wanted of the line"),
                ),
            }));
        }
    }
    Ok(())
}

/// The day from which there is as much left of a line as is taken, where it is a later one. The line stands as it does with
/// that.
fn free_again(line: &Line, day: Day, moves: &[&progress_moves::Model]) -> Option<Day> {
    let later = moves.iter().filter(|moved| moved.date > day).map(|moved| {
        let took = if line.is_order() { [moved.fulfilled, Quantity::ZERO] } else { [moved.invoiced, moved.returned] };
        (moved.date, -took.into_iter().map(|took| i128::from(took.units())).sum::<i128>())
    });
    let open = i128::from(line.open().units());
    let least = course::least(open, later);
    least.until.filter(|_| least.amount < Ord::min(open, 0))
}

/// The day from which no more of a line of goods is invoiced, or gone back, than there is, where it is a later one.
fn free_of_goods(
    line: &Line,
    (kind, day, step): (DocumentKind, Day, Step),
    moves: &[&progress_moves::Model],
) -> Option<Day> {
    if line.is_order() {
        return None;
    }
    let whole = i128::from(line.quantity.units());
    let over = |from: Day| {
        let others = moves.iter().copied().map(taken_by);
        course::overtaken(whole, others.chain([taken((kind, from), step.invoiced, step.returned)]))
    };
    let mut later: Vec<Day> = moves.iter().map(|moved| moved.date).filter(|later| *later > day).collect();
    later.sort_unstable();
    let first = over(day).filter(|over| *over >= day)?;
    Some(later.into_iter().find(|from| over(*from).is_none()).unwrap_or(first))
}

/// What others took of a line until a later day they took of what there was: a new version of a note leaves no day on which
/// there is less.
pub(super) async fn check_shrunk(cx: &Cx<'_>, now: &[Line], before: &[Line]) -> Result<()> {
    let whole = |old: &Line| {
        let kept = now.iter().find(|new| new.line_id == old.line_id && new.item_id == old.item_id);
        // What is not there any more holds nothing.
        if let Some(new) = kept { new.quantity } else { Quantity::ZERO }
    };
    let shrunk: Vec<&Line> = before.iter().filter(|old| !old.is_order() && whole(old) < old.quantity).collect();
    if shrunk.is_empty() || sown(Fault::NoteFallsBelow) {
        return Ok(());
    }
    let moves = progress_moves::Entity::find()
        .filter(progress_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(among(cx, progress_moves::Column::LineId, shrunk.iter().map(|line| line.line_id)))
        .filter(progress_moves::Column::IsCorrection.eq(false));
    let moves = moves.models(&cx.db).await?;
    for line in shrunk {
        let taken = moves.iter().filter(|moved| moved.line_id == line.line_id).map(taken_by);
        let Some(day) = course::overtaken(i128::from(whole(line).units()), taken) else { continue };
        return Err(Error::Conflict(Conflict {
            code: Code::InUse,
            title: "Other documents took more of its lines until a later day".into(),
            errors: FieldErrors::one(
                "lines",
                format!("must keep the line {}, its item and as much of it as others took on {day}", line.line_id),
            ),
        }));
    }
    Ok(())
}

/// What a move took of a line of goods.
fn taken_by(moved: &progress_moves::Model) -> course::Taken {
    taken((moved.kind, moved.date), moved.invoiced, moved.returned)
}

fn taken((kind, day): (DocumentKind, Day), invoiced: Quantity, returned: Quantity) -> course::Taken {
    let [invoiced, returned] = [invoiced, returned].map(|quantity| i128::from(quantity.units()));
    course::Taken { day, invoiced, returned, is_billed: kind.phase() == Some(Phase::Bill) }
}

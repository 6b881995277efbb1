//! Orders and notes: whether their lines are as far as the documents say that follow them, and whether goods that wait
//! for their invoice are what stands on their accounts.

use super::subledgers::{Days, OfDay, column, compare_days, ledger_days};
use super::{Check, Findings, PORTION, Walk, Wide, shown};
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{BookMoney, Quantity};
use answers::Ask;
use schema::reader::Reader;
use schema::tables::CLOSED;
use schema::tables::Stage;
use schema::tables::progress::Model as Line;
use schema::tables::{DocumentKind, document_lines, documents, progress, progress_moves, stock_lines};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use std::collections::{HashMap, HashSet};
use words::sums::Sums as _;

pub(super) async fn checks(reader: &Reader<'_>) -> Result<Vec<Check>> {
    let mut lines = Lines::default();
    let mut last: Option<RecordId> = None;
    loop {
        let mut portion = progress::Entity::find()
            .filter(progress::Column::BusinessId.eq(reader.id()))
            .order_by_asc(progress::Column::LineId)
            .limit(PORTION);
        if let Some(last) = last {
            portion = portion.filter(progress::Column::LineId.gt(last));
        }
        let portion = portion.models(&reader.db).await?;
        let Some(end) = portion.last() else { break };
        last = Some(end.line_id);
        reader.pause().await?;
        lines.follow_history(reader, &portion).await?;
        lines.follow_documents(reader, &portion).await?;
    }
    lines.have_an_end(reader).await?;
    lines.show_their_stage(reader).await?;
    Ok(vec![
        Check::of(
            "V4g",
            "Lines of orders and notes are where their history says",
            shown(lines.value),
            shown(lines.history),
            lines.of_history,
        ),
        Check::of(
            "V5b",
            "Lines of orders and notes are as far as the documents that follow them",
            quantity(lines.told),
            quantity(lines.found),
            lines.of_documents,
        ),
    ])
}

pub(super) async fn waiting_follows_ledger(
    reader: &Reader<'_>,
    walk: &Walk,
    waiting: &HashSet<RecordId>,
) -> Result<Check> {
    let base = reader.company().base_currency.clone();
    let rows = progress_moves::Entity::find()
        .select_only()
        .column(progress_moves::Column::AccountId)
        .column(progress_moves::Column::Date)
        .column_as(Expr::val(base.clone()), "currency")
        .column_as(reader.sum(column(progress_moves::Column::Value)), "base")
        .column_as(reader.sum(column(progress_moves::Column::Value)), "own")
        .filter(progress_moves::Column::BusinessId.eq(reader.id()))
        .filter(progress_moves::Column::AccountId.is_not_null())
        .group_by(progress_moves::Column::AccountId)
        .group_by(progress_moves::Column::Date)
        .read::<OfDay>(&reader.db)
        .await?;
    let kept: Days = rows
        .into_iter()
        .filter(|row| row.base != 0 && waiting.contains(&row.account_id))
        .map(|row| ((row.account_id, base.clone(), row.date), (Wide::from(row.base), 0)))
        .collect();
    let mut ledger = Days::new();
    for ((account, _, day), (amount, _)) in ledger_days(walk, waiting) {
        ledger.entry((account, base.clone(), day)).or_default().0 += amount;
    }
    ledger.retain(|_, sums| sums.0 != 0);
    let (left, right, findings) = compare_days(&kept, &ledger, "notes");
    Ok(Check::of(
        "V3d",
        "Goods that are not invoiced equal their accounts, at every day",
        shown(left),
        shown(right),
        findings,
    ))
}

/// What others follow: orders, and notes of goods.
const FOLLOWED: [DocumentKind; 4] =
    [DocumentKind::SalesOrder, DocumentKind::PurchaseOrder, DocumentKind::DeliveryNote, DocumentKind::ReceiptNote];

/// What was found of lines, portion by portion.
#[derive(Default)]
struct Lines {
    value: Wide,
    history: Wide,
    of_history: Findings,
    /// Quantities of all kinds, as the lines tell them and as they are found.
    told: Wide,
    found: Wide,
    of_documents: Findings,
}

answers::of_row! {
    struct History {
        line_id: RecordId,
        quantity: i64,
        fulfilled: i64,
        invoiced: i64,
        returned: i64,
        cancelled: i64,
        value: i64,
    }
}

type Figures = [i64; 3];

impl Lines {
    async fn history(reader: &Reader<'_>, lines: Option<&[Line]>) -> Result<Vec<History>> {
        let mut history = progress_moves::Entity::find().select_only().column(progress_moves::Column::LineId);
        for (name, of) in [
            ("quantity", progress_moves::Column::Quantity),
            ("fulfilled", progress_moves::Column::Fulfilled),
            ("invoiced", progress_moves::Column::Invoiced),
            ("returned", progress_moves::Column::Returned),
            ("cancelled", progress_moves::Column::Cancelled),
            ("value", progress_moves::Column::Value),
        ] {
            history = history.column_as(reader.sum(column(of)), name);
        }
        history =
            history.filter(progress_moves::Column::BusinessId.eq(reader.id())).group_by(progress_moves::Column::LineId);
        history = if let Some(lines) = lines {
            history.filter(progress_moves::Column::LineId.is_in(lines.iter().map(|line| line.line_id)))
        } else {
            // Those of lines that are gone: what is left of them must be nothing.
            let there = progress::Entity::find()
                .select_only()
                .column(progress::Column::LineId)
                .filter(progress::Column::BusinessId.eq(reader.id()));
            history.filter(progress_moves::Column::LineId.not_in_subquery(QueryTrait::into_query(there)))
        };
        Ok(history.read::<History>(&reader.db).await?)
    }

    async fn follow_history(&mut self, reader: &Reader<'_>, lines: &[Line]) -> Result<()> {
        let mut history: HashMap<RecordId, History> =
            Self::history(reader, Some(lines)).await?.into_iter().map(|row| (row.line_id, row)).collect();
        for line in lines {
            let of_line = history.remove(&line.line_id);
            let kept = [line.quantity, line.fulfilled, line.invoiced, line.returned, line.cancelled];
            let said = match &of_line {
                Some(row) => [row.quantity, row.fulfilled, row.invoiced, row.returned, row.cancelled],
                None => [0; 5],
            };
            let value = of_line.iter().map(|row| row.value).sum::<i64>();
            self.value += Wide::from(line.value.units());
            self.history += Wide::from(value);
            if kept.map(Quantity::units) != said || line.value.units() != value {
                self.of_history.add(format!(
                    "line {}: it stands at {} worth {}, its history at {} worth {}",
                    line.line_id,
                    written(kept),
                    line.value.with_decimals(2),
                    written(said.map(Quantity::from_units)),
                    BookMoney::from_units(value).with_decimals(2)
                ));
            }
            if left(line) == 0 && line.value != BookMoney::ZERO {
                let worth = line.value.with_decimals(2);
                self.of_history.add(format!("line {}: nothing waits, and it is worth {worth}", line.line_id));
            }
        }
        Ok(())
    }

    /// Lines that are gone leave nothing behind.
    async fn have_an_end(&mut self, reader: &Reader<'_>) -> Result<()> {
        for row in Self::history(reader, None).await? {
            self.history += Wide::from(row.value);
            let rest = [row.quantity, row.fulfilled, row.invoiced, row.returned, row.cancelled, row.value];
            if rest != [0; 6] {
                self.of_history.add(format!("line {} is gone, and its history leaves something behind", row.line_id));
            }
        }
        Ok(())
    }

    /// Counts anew what the documents did that follow these lines, and those that follow these.
    async fn follow_documents(&mut self, reader: &Reader<'_>, lines: &[Line]) -> Result<()> {
        let business = reader.id();
        let ids = |lines: &[Line]| lines.iter().map(|line| line.line_id).collect::<Vec<_>>();
        let notes = followers(reader, ids(lines)).await?;
        let returns = followers(reader, ids(&notes)).await?;
        let all: Vec<RecordId> = [ids(lines), ids(&notes), ids(&returns)].concat();
        let bills = document_lines::Entity::find()
            .filter(document_lines::Column::BusinessId.eq(business))
            .filter(document_lines::Column::SourceLineId.is_in(all))
            .filter(document_lines::Column::Kind.is_in([
                DocumentKind::SalesInvoice,
                DocumentKind::PurchaseInvoice,
                DocumentKind::CreditNote,
                DocumentKind::DebitNote,
            ]))
            .models(&reader.db)
            .await?;
        let invoices = bills.iter().filter_map(|line| Some((line.id, line.source_line_id?))).collect();
        let brought = brought_back(reader, invoices).await?;
        let brought = |line: RecordId| brought.sum_of(&line);
        let mut billed: HashMap<RecordId, i64> = HashMap::new();
        for line in &bills {
            let Some(source) = line.source_line_id else { continue };
            *billed.entry(source).or_default() += line.quantity.units();
        }
        let billed = |line: RecordId| billed.sum_of(&line);
        let under = |lines: &[Line], id: RecordId| {
            lines.iter().filter(|line| line.source_line_id == Some(id)).cloned().collect::<Vec<Line>>()
        };
        for line in lines {
            let (own, followers) = (billed(line.line_id), under(&notes, line.line_id));
            let quantity = |lines: &[Line]| lines.iter().map(|line| line.quantity.units()).sum::<i64>();
            let bills = |lines: &[Line]| lines.iter().map(|line| billed(line.line_id)).sum::<i64>();
            let found: Figures = if is_order(line) {
                let back: Vec<Line> = followers.iter().flat_map(|note| under(&returns, note.line_id)).collect();
                let brought = brought(line.line_id) + followers.iter().map(|note| brought(note.line_id)).sum::<i64>();
                let invoiced = own + bills(&followers) - bills(&back) - brought;
                [quantity(&followers) + own, invoiced, quantity(&back) + brought]
            } else {
                let brought = brought(line.line_id);
                [0, own - bills(&followers) - brought, quantity(&followers) + brought]
            };
            let told = [line.fulfilled, line.invoiced, line.returned].map(Quantity::units);
            self.told += told.iter().map(|units| Wide::from(*units)).sum::<Wide>();
            self.found += found.iter().map(|units| Wide::from(*units)).sum::<Wide>();
            if told != found {
                self.of_documents.add(format!(
                    "line {}: {} are fulfilled, invoiced and returned, its documents say {}",
                    line.line_id,
                    written(told.map(Quantity::from_units)),
                    written(found.map(Quantity::from_units))
                ));
            }
        }
        Ok(())
    }

    /// The documents say how far they have got; so do their lines.
    async fn show_their_stage(&mut self, reader: &Reader<'_>) -> Result<()> {
        let mut last: Option<RecordId> = None;
        loop {
            let mut portion = documents::Entity::find()
                .filter(documents::Column::BusinessId.eq(reader.id()))
                .filter(documents::Column::Stage.is_not_null())
                .filter(documents::Column::Kind.is_in(FOLLOWED))
                .order_by_asc(documents::Column::Id)
                .limit(PORTION);
            if let Some(last) = last {
                portion = portion.filter(documents::Column::Id.gt(last));
            }
            let portion = portion.models(&reader.db).await?;
            let Some(end) = portion.last() else { return Ok(()) };
            last = Some(end.id);
            reader.pause().await?;
            let ids: Vec<RecordId> = portion.iter().map(|row| row.id).collect();
            let lines = progress::Entity::find()
                .filter(progress::Column::BusinessId.eq(reader.id()))
                .filter(progress::Column::DocumentId.is_in(ids))
                .models(&reader.db)
                .await?;
            let of_orders = lines.iter().filter(|line| is_order(line)).map(|line| line.line_id);
            let notes = followers(reader, of_orders.collect()).await?;
            let mut of_documents: HashMap<RecordId, Vec<&Line>> = HashMap::new();
            for line in &lines {
                of_documents.entry(line.document_id).or_default().push(line);
            }
            let mut waiting: HashMap<RecordId, Wide> = HashMap::new();
            for note in notes.iter().filter(|note| left(note) != 0) {
                if let Some(line) = note.source_line_id {
                    *waiting.entry(line).or_default() += 1;
                }
            }
            for row in &portion {
                let lines = of_documents.get(&row.id).map_or(&[][..], Vec::as_slice);
                let stage = if row.subkind.as_deref() == Some(CLOSED) {
                    Stage::Closed
                } else {
                    stage(lines, |line| waiting.sum_of(&line.line_id) > 0)
                };
                if row.stage != Some(stage) {
                    let said = row.stage.map_or_else(|| "of no stage".to_owned(), |stage| stage.to_string());
                    self.of_documents.add(format!("document {}: it is {said}, its lines are {stage}", row.id));
                }
            }
        }
    }
}

const fn is_order(line: &Line) -> bool {
    matches!(line.kind, DocumentKind::SalesOrder | DocumentKind::PurchaseOrder)
}

/// What of a line is to be delivered yet, of an order; of a note, what is to be invoiced.
fn left(line: &Line) -> Wide {
    let units = |quantity: Quantity| Wide::from(quantity.units());
    let gone = if is_order(line) { units(line.fulfilled) } else { units(line.invoiced) + units(line.returned) };
    units(line.quantity) - units(line.cancelled) - gone
}

/// How far a document has got whose lines are these, where nobody closed it. Of an order's line, `waits` says whether
/// anything that was delivered by notes is not invoiced.
fn stage(lines: &[&Line], waits: impl Fn(&Line) -> bool) -> Stage {
    let done = !lines.is_empty() && lines.iter().all(|line| left(line) <= 0 && !(is_order(line) && waits(line)));
    if lines.iter().any(|line| is_order(line)) {
        // Its goods say how much is delivered; all of it does where it has none.
        let goods = lines.iter().any(|line| line.is_goods);
        let delivered = lines.iter().filter(|line| line.is_goods || !goods).all(|line| left(line) <= 0);
        return match (delivered, done) {
            (true, true) => Stage::Closed,
            (true, false) => Stage::Done,
            (false, _) if lines.iter().any(|line| line.fulfilled > Quantity::ZERO) => Stage::Partial,
            (false, _) => Stage::Open,
        };
    }
    let invoiced = lines.iter().any(|line| line.invoiced > Quantity::ZERO);
    let comes_back = lines.iter().any(|line| line.is_return);
    match (done, invoiced) {
        (true, true) => Stage::Done,
        // What came back is done when somebody has said what it is worth.
        (true, false) if !comes_back => Stage::Done,
        (_, true) => Stage::Partial,
        (_, false) => Stage::Open,
    }
}

/// The lines of notes that follow lines.
async fn followers(reader: &Reader<'_>, lines: Vec<RecordId>) -> Result<Vec<Line>> {
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let rows = progress::Entity::find()
        .filter(progress::Column::BusinessId.eq(reader.id()))
        .filter(progress::Column::SourceLineId.is_in(lines));
    Ok(rows.models(&reader.db).await?)
}

/// What credits of invoices brought back of goods, by the lines that these invoices billed.
async fn brought_back(reader: &Reader<'_>, invoices: HashMap<RecordId, RecordId>) -> Result<HashMap<RecordId, i64>> {
    let business = reader.id();
    let credits = document_lines::Entity::find()
        .filter(document_lines::Column::BusinessId.eq(business))
        .filter(document_lines::Column::SourceLineId.is_in(invoices.keys().copied()))
        .models(&reader.db)
        .await?;
    let moved: HashSet<RecordId> = stock_lines::Entity::find()
        .filter(stock_lines::Column::BusinessId.eq(business))
        .filter(stock_lines::Column::DocumentId.is_in(credits.iter().map(|line| line.document_id)))
        .models(&reader.db)
        .await?
        .into_iter()
        .map(|line| line.line_id)
        .collect();
    let mut brought: HashMap<RecordId, i64> = HashMap::new();
    for line in credits.iter().filter(|line| moved.contains(&line.id)) {
        let Some(billed) = line.source_line_id.and_then(|invoice| invoices.get(&invoice)) else { continue };
        *brought.entry(*billed).or_default() += line.quantity.units();
    }
    Ok(brought)
}

fn quantity(units: Wide) -> String {
    i64::try_from(units).map_or_else(|_| format!("{units} millionths"), |units| Quantity::from_units(units).to_string())
}

fn written<const N: usize>(quantities: [Quantity; N]) -> String {
    quantities.map(|quantity| quantity.to_string()).join("/")
}

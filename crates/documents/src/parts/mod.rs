//! Trade documents: orders, notes of goods that were delivered or received, invoices, and what credits them.
//!
//! Owns: what they have in common, which is nearly everything: lines with prices, discounts and tax, totals, what
//! is open, what goods cost. A kind says which way it goes and what its own fields are called (rooms of their own beside this one, with [`wire`]).
//! [`rules::tax::figures`] computes, [`posting`] posts; they know no database. [`complete`] fills in what is left out, [`derivation`]
//! says what comes of the lines that a document follows, [`check`] what may be so, [`goods`] how stock moves, [`work_out`]
//! what it comes to, [`status`] where it stands. [`convert`] makes the next document of one, [`credit`] a note of an invoice.
//! What is made of a part takes a share of what is left: [`lefts`] finds what that is, [`shares`] takes it, [`origin`] keeps
//! what was taken.

pub(crate) mod body;
pub(crate) mod check;
pub(crate) mod complete;
pub(crate) mod convert;
pub(crate) mod credit;
pub(crate) mod derivation;
pub(crate) mod derived;
pub(crate) mod direction;
pub(crate) mod draft;
pub(crate) mod goods;
pub(crate) mod goods_note;
pub(crate) mod invoice;
pub(crate) mod landed;
pub(crate) mod lefts;
pub(crate) mod line;
pub(crate) mod note;
pub(crate) mod order;
pub(crate) mod origin;
pub(crate) mod posting;
pub(crate) mod rounded;
pub mod settlement;
pub(crate) mod shares;
pub(crate) mod status;
pub(crate) mod under;
pub(crate) mod wire;
pub(crate) mod work_out;

use crate::day::Day;
use crate::document::{
    self, Before, Change, Content, Document, Draft, Edition, Head, HeadInput, Purpose, Settled, document_operations,
    document_rows,
};
use crate::error::{FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::Rate;
use crate::parts::settlement::allocating;
use body::shown;
pub use body::{Charge, Shown, TradeBody};
use books::Leaving;
use books::access::Business;
use books::cx::Cx;
pub use direction::Direction;
pub use draft::{CashAsked, Logistics, SummaryKept, TradeAsked, TradeFigures};
use kit::extra::Extra;
use kit::list::Reads;
use kit::resource::{About, Record, Resource, Scope};
use kit::rows::{Filter, Rows};
use line::TradeLineAsked;
use posting::{Bill, GoodsNote};
use rules::posting::{Line, Unposted};
use schema::key::ResourceKey;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus, Stage};
use schemars::JsonSchema;
pub use status::Standing;
use std::collections::HashMap;
use std::marker::PhantomData;
use under::Under;
pub(crate) use work_out::{country_of, stated_too_far, stated_too_fine};

/// A trade document of a kind.
pub struct Trade<K>(PhantomData<fn() -> K>);

crate::stored::wire_enum! {
    /// What a note is for.
    pub enum NoteKind {
        /// Goods come back.
        #[default]
        Return = "return",
        /// The price was too high.
        PriceAdjustment = "priceAdjustment",
        /// What is owed will not be paid.
        WriteOff = "writeOff",
    }
}

crate::stored::wire_enum! {
    /// At what cost goods come back.
    pub enum ReturnCost {
        /// At the cost with which they left.
        #[default]
        Original = "original",
        /// At what such goods cost now.
        Current = "current",
    }
}

/// What a kind posts, by what it is made of.
#[derive(Clone, Copy)]
pub enum Posts {
    /// An order comes into no ledger.
    Nothing,
    Goods(fn(&GoodsNote<'_>) -> Result<Vec<Line>, Unposted>),
    Bill(fn(Bill<'_>) -> Result<Vec<Line>, Unposted>),
}

/// What a kind of trade document adds.
pub trait TradeKind: Send + Sync + 'static {
    const KEY: ResourceKey;
    const ABOUT: About;
    const KIND: DocumentKind;
    const DIRECTION: Direction;
    const POSTING: Posts;
    const STATUSES: &'static [&'static str];
    /// What else it is found by.
    fn filters() -> Vec<Filter<Column>> {
        Vec::new()
    }
    type Input: serde::de::DeserializeOwned + JsonSchema + Send;
    type View: Record;

    fn example() -> serde_json::Value;
    fn example_view() -> serde_json::Value;
    fn check(input: Self::Input) -> Result<(HeadInput, wire::Checked), FieldErrors>;
    /// What its status is called, by how far it has got.
    fn called(status: DocumentStatus, stage: Option<Stage>) -> &'static str;
    fn view(cx: &Cx<'_>, shown: Shown) -> Result<Self::View>;
    fn extras() -> Vec<Extra>;
}

impl<K: TradeKind> Resource for Trade<K> {
    const KEY: ResourceKey = K::KEY;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = K::ABOUT;
    type Input = K::Input;
    type Draft = Draft<TradeAsked>;
    type View = K::View;

    fn example() -> serde_json::Value {
        K::example()
    }

    fn example_view() -> serde_json::Value {
        K::example_view()
    }

    fn check(_: Option<&Business>, input: K::Input) -> Result<Self::Draft, FieldErrors> {
        let (head, checked) = K::check(input)?;
        let mut faults = checked.faults;
        let head = Head::check(&mut faults, head);
        let asked = checked.asked;
        if asked.due_date.is_some_and(|due| due < head.date && head.date != Day::default()) {
            faults.add("dueDate", "must not be before the date");
        }
        faults.finish(Draft { head, asked })
    }

    document_operations!(K::extras());
}

impl<K: TradeKind> Rows for Trade<K> {
    document_rows!();

    fn filters() -> Vec<Filter<Column>> {
        let mut filters = document::filters();
        filters.retain(|filter| filter.parameter.name != "status");
        let statuses = Reads::AnyOf(K::STATUSES);
        filters.extend([
            Filter::looking("status", "Documents that stand like this.", statuses, status::that_got_so_far::<K>),
            Filter::of_party("Documents of this party.", Column::PartyId),
            Filter::looking("itemId", "Posted documents that trade this item.", Reads::Identifier, status::trading),
        ]);
        filters.extend(K::filters());
        filters
    }
}

impl<K: TradeKind> Document for Trade<K> {
    const KIND: DocumentKind = K::KIND;
    const POSTS: bool = !matches!(K::POSTING, Posts::Nothing);
    type Asked = TradeAsked;
    type Figures = TradeFigures;
    type Live = Standing;

    fn called(status: DocumentStatus, stage: Option<Stage>) -> &'static str {
        K::called(status, stage)
    }

    fn due(asked: &TradeAsked) -> Option<Day> {
        asked.due_date.filter(|_| K::KIND.is_settled())
    }

    fn words(asked: &TradeAsked) -> Vec<String> {
        let lines = asked.lines.iter().filter_map(|line| line.description.clone());
        lines.chain(asked.notes.clone()).chain(asked.reason.clone()).collect()
    }

    fn identify(cx: &Cx<'_>, asked: &TradeAsked, old: Option<Before<'_, TradeAsked>>) -> Result<TradeAsked> {
        let mut asked = asked.clone();
        let was_closed = old.as_ref().and_then(|old| old.asked.closed);
        let closed_by_itself = was_closed.is_none() && old.as_ref().is_some_and(|old| old.stage == Some(Stage::Closed));
        document::identify(cx, &mut asked.lines, old.as_ref().map(|old| old.asked.lines.as_slice()))?;
        if let Some(old) = old.as_ref().filter(|old| asked.discount.is_none() || asked.discount == old.asked.discount) {
            for line in &mut asked.lines {
                let before = old.asked.lines.iter().find(|known| known.id == line.id);
                line.is_share = before.is_some_and(|before| before.is_share && line.repeats(before));
            }
        }
        if let Some(old) = old.as_ref().filter(|_| K::DIRECTION.credits()) {
            for line in &mut asked.lines {
                let Some(before) = old.asked.lines.iter().find(|known| known.id == line.id) else { continue };
                line.billed = before.billed.filter(|_| line.source_line == before.source_line);
                let repeats = line.repeats(before) && (line.quantity.is_none() || line.quantity == before.quantity);
                line.stays = before.billed.is_none() && repeats;
            }
            let others = old.asked.lines.iter().filter(|known| !asked.lines.iter().any(|line| line.id == known.id));
            asked.parted = others.filter_map(|line| Some((line.source_line, line.billed, line.id?))).collect();
        }
        if let Some(old) = old.filter(|old| old.status != DocumentStatus::Draft) {
            // What came with the document when it was posted has a life of its own now.
            asked.allocations.clone_from(&old.asked.allocations);
            asked.cash.clone_from(&old.asked.cash);
            asked.held = old.asked.names().collect();
            asked.under = old.asked.under;
        } else {
            asked.under = Some(Under::of(&cx.business()?.settings));
        }
        // An order that closed by itself is shown as closed; that sent back changes nothing.
        asked.closed = if closed_by_itself { was_closed } else { asked.closed.or(was_closed) }.filter(|closed| *closed);
        Ok(asked)
    }

    fn sent_back(mut asked: TradeAsked, old: &Content<TradeAsked, TradeFigures>) -> TradeAsked {
        for line in &mut asked.lines {
            let known = old.asked.lines.iter().zip(&old.figures.lines).find(|(known, _)| known.id == line.id);
            // A tax that was computed and is read and sent back says nothing.
            if let Some((known, kept)) = known
                && known.stated_tax.is_none()
                && line.stated_tax == Some(kept.figures.tax)
            {
                line.stated_tax = None;
            }
        }
        asked
    }

    fn copied(asked: TradeAsked) -> TradeAsked {
        // What credits an invoice is about that invoice; all else stands by itself.
        let lines = asked.lines.iter().map(|line| TradeLineAsked {
            source_line: line.source_line.filter(|_| asked.source.is_some()),
            is_share: line.is_share && asked.source.is_some(),
            billed: line.billed.filter(|_| asked.source.is_some()),
            ..line.clone()
        });
        TradeAsked { lines: lines.collect(), order: None, goods_notes: Vec::new(), closed: None, ..asked }
    }

    fn parties(asked: &mut TradeAsked) -> Vec<&mut RecordId> {
        vec![&mut asked.party]
    }

    async fn complete(cx: &Cx<'_>, head: &Head, asked: TradeAsked) -> Result<TradeAsked> {
        complete::complete(cx, K::DIRECTION, head, asked).await
    }

    async fn settle(cx: &Cx<'_>, head: &Head, asked: &TradeAsked, purpose: Purpose) -> Result<Settled<TradeFigures>> {
        work_out::settle(cx, (K::DIRECTION, K::POSTING), head, asked, purpose).await
    }

    fn under(asked: &mut TradeAsked) -> Option<&mut Option<Under>> {
        Some(&mut asked.under)
    }

    fn change(old: &TradeAsked, new: &TradeAsked) -> Change {
        if old == new {
            return Change::Nothing;
        }
        let in_books = |asked: &TradeAsked| TradeAsked {
            due_date: None,
            payment_term: None,
            billing_address: None,
            shipping_address: None,
            notes: None,
            terms: None,
            private_note: None,
            reason: None,
            closed: None,
            logistics: Logistics::default(),
            ..asked.clone()
        };
        if in_books(old) == in_books(new) { Change::Words } else { Change::Books }
    }

    async fn reword_beside(cx: &Cx<'_>, row: &documents::Model, asked: &TradeAsked) -> Result<documents::Model> {
        if K::DIRECTION.is_order() {
            return status::close(cx, row, asked.closed == Some(true)).await;
        }
        status::fall_due(cx, row, asked.due_date).await
    }

    async fn release(cx: &Cx<'_>, row: &documents::Model, leaving: Leaving, on: Option<Day>) -> Result<()> {
        status::release(cx, K::DIRECTION, row, (leaving, on)).await
    }

    async fn outlasts(cx: &Cx<'_>, old: Edition<'_, Self>, new: Edition<'_, Self>) -> Result<()> {
        origin::outlasts(cx, K::DIRECTION, old, new).await
    }

    fn tax_date(asked: &TradeAsked) -> Option<Day> {
        asked.tax_date
    }

    fn rate(asked: &TradeAsked) -> Option<Rate> {
        asked.exchange_rate
    }

    async fn stays(cx: &Cx<'_>, row: &documents::Model, asked: &TradeAsked) -> Result<()> {
        allocating::stays(cx, row.id, &asked.allocations, asked.said).await
    }

    async fn posted(cx: &Cx<'_>, row: &documents::Model, asked: &TradeAsked) -> Result<()> {
        if let Some(cash) = &asked.cash {
            let amount = cash.amount.unwrap_or(row.total);
            settlement::receive(cx, row, (cash.account, amount, cash.reference.clone())).await?;
        }
        allocating::allocate_all(cx, row, None, &asked.allocations).await
    }

    fn has_sequel(asked: &TradeAsked) -> bool {
        asked.cash.is_some() || !asked.allocations.is_empty()
    }

    async fn live(cx: &Cx<'_>, rows: &[documents::Model]) -> Result<HashMap<RecordId, Standing>> {
        status::standings(cx, rows).await
    }

    fn fresh(settled: &Settled<TradeFigures>) -> Standing {
        Standing::of_plan(settled.stock.as_ref(), settled.progress.as_ref())
    }

    fn view(
        cx: &Cx<'_>,
        row: documents::Model,
        content: Content<TradeAsked, TradeFigures>,
        standing: Standing,
    ) -> Result<K::View> {
        K::view(cx, shown(cx, row, content, standing)?)
    }
}

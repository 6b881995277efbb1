//! Receipts and payments: money that comes in and goes out.
//!
//! Owns: the bank's side, fees, what is earned or spent right away, and what is left to settle invoices with.
//! [`allocating`] settles, by the rules of [`relief`]; an advance is a receipt or payment that settles nothing yet.

pub(crate) mod actions;
pub(crate) mod allocating;
pub mod allocation;
pub(crate) mod credited;
pub(crate) mod direct;
pub(crate) mod direct_lines;
pub(crate) mod method;
pub(crate) mod posting;
pub(crate) mod receiving;
pub(crate) mod relief;
pub(crate) mod taxes;
pub(crate) mod wire;
pub(crate) mod working_out;

use crate::currency::Currency;
use crate::day::Day;
use crate::document::{
    self, Abilities, Before, Change, Content, Document, Draft, Head, HeadInput, HeadView, Purpose, Settled,
    document_operations, document_rows,
};
use crate::error::{Code, Error, FieldErrors, Result};
use crate::field::Faults;
use crate::ids::RecordId;
use crate::money::{BookMoney, Money, Rate};
use crate::parts::under::Under;
use actions::{Allocate, Deallocate};
use allocating::{AllocationAsked, Said, Touch};
use books::Leaving;
use books::access::Business;
use books::cx::Cx;
use books::open_items;
use direct::withheld;
pub use direct_lines::{DirectLineAsked, DirectLineView};
use kit::extra::action;
use kit::master::{RecordKeeping, kept};
use kit::reference::Held;
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
pub use method::{AllocationStatus, PaymentMethod};
pub(crate) use receiving::receive;
use rules::tax::figures::LineFigures;
use schema::key::ResourceKey;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus, open_items as open_items_table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::marker::PhantomData;
pub use wire::MoneyBody;
use working_out::{complete, settle};
/// Money that moved one way.
pub struct Moved<K>(PhantomData<fn() -> K>);

/// A receipt or payment, checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MoneyAsked {
    pub(crate) party: Option<RecordId>,
    pub(crate) account: RecordId,
    pub(crate) amount: Money,
    /// The day that the tax of its lines counts for, where it is another than the date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tax_date: Option<Day>,
    pub(crate) currency: Option<String>,
    pub(crate) exchange_rate: Option<Rate>,
    pub(crate) method: PaymentMethod,
    pub(crate) cleared_date: Option<Day>,
    pub(crate) fee: Money,
    pub(crate) fee_account: Option<RecordId>,
    pub(crate) control_account: Option<RecordId>,
    pub(crate) cheque_number: Option<String>,
    pub(crate) batch: Option<String>,
    pub(crate) notes: Option<String>,
    pub(crate) lines: Vec<DirectLineAsked>,
    pub(crate) allocations: Vec<AllocationAsked>,
    /// Whether a body says them.
    #[serde(skip)]
    pub(crate) said: Said,
    /// What its lines are computed under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) under: Option<Under>,
    /// What the version before it named.
    #[serde(skip)]
    pub(crate) held: Held,
}

/// What it came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MoneyFigures {
    party_name: Option<String>,
    currency: String,
    control_account: Option<RecordId>,
    base_total: BookMoney,
    /// What settles something, or will.
    for_party: Money,
    lines: Vec<LineFigures>,
}

/// What tells receipts and payments apart.
pub trait MoneyKind: Send + Sync + 'static {
    const KEY: ResourceKey;
    const KIND: DocumentKind;
    const ABOUT: About;
    /// Whether money comes in.
    const COMES_IN: bool;
    type Input: serde::de::DeserializeOwned + JsonSchema + Send;
    type View: kit::resource::Record;
    fn check(faults: &mut Faults, input: Self::Input) -> (HeadInput, MoneyAsked);
    fn view(keeping: RecordKeeping, head: HeadView, body: MoneyBody, asked: MoneyAsked) -> Self::View;
    fn example() -> serde_json::Value;
    fn example_view() -> serde_json::Value;
}

impl<K: MoneyKind> Resource for Moved<K> {
    const KEY: ResourceKey = K::KEY;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = K::ABOUT;
    type Input = K::Input;
    type Draft = Draft<MoneyAsked>;
    type View = K::View;

    fn example() -> serde_json::Value {
        K::example()
    }

    fn example_view() -> serde_json::Value {
        K::example_view()
    }

    fn check(_: Option<&Business>, input: K::Input) -> Result<Self::Draft, FieldErrors> {
        let mut faults = Faults::default();
        let (head, asked) = K::check(&mut faults, input);
        let head = Head::check(&mut faults, head);
        faults.finish(Draft { head, asked })
    }

    document_operations!(vec![action::<Allocate<Self>>(), action::<Deallocate<Self>>()]);
}

impl<K: MoneyKind> Rows for Moved<K> {
    document_rows!();

    fn filters() -> Vec<Filter<Column>> {
        let mut filters = document::filters();
        filters.push(Filter::of_party("Documents of this party.", Column::PartyId));
        filters
    }
}

/// What is live of one document.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    open: Option<open_items_table::Model>,
    allocations: Vec<schema::tables::allocations::Model>,
}

impl<K: MoneyKind> Document for Moved<K> {
    const KIND: DocumentKind = K::KIND;
    // An account in the company's currency takes what the rate says, and a debt is gone for it.
    const RATE_IS_JUDGED: bool = true;
    type Asked = MoneyAsked;
    type Figures = MoneyFigures;
    type Live = Standing;

    fn words(asked: &MoneyAsked) -> Vec<String> {
        let lines = asked.lines.iter().filter_map(|line| line.description.clone());
        lines.chain(asked.notes.clone()).chain(asked.cheque_number.clone()).collect()
    }

    fn identify(cx: &Cx<'_>, asked: &MoneyAsked, old: Option<Before<'_, MoneyAsked>>) -> Result<MoneyAsked> {
        let mut asked = asked.clone();
        document::identify(cx, &mut asked.lines, old.as_ref().map(|old| old.asked.lines.as_slice()))?;
        if let Some(old) = old.filter(|old| old.status != DocumentStatus::Draft) {
            asked.allocations.clone_from(&old.asked.allocations);
            asked.held = old.asked.lines.iter().filter_map(|line| line.tax.code()).collect();
            asked.under = old.asked.under;
        } else {
            asked.under = Some(Under::of(&cx.business()?.settings)).filter(|_| !asked.lines.is_empty());
        }
        Ok(asked)
    }

    fn parties(asked: &mut MoneyAsked) -> Vec<&mut RecordId> {
        asked.party.iter_mut().collect()
    }

    fn sent_back(mut asked: MoneyAsked, old: &Content<MoneyAsked, MoneyFigures>) -> MoneyAsked {
        for line in &mut asked.lines {
            let known = old.asked.lines.iter().zip(&old.figures.lines).find(|(known, _)| known.id == line.id);
            // A tax that was computed and is read and sent back says nothing.
            if let Some((known, figures)) = known
                && known.stated_tax.is_none()
                && line.stated_tax == Some(figures.tax)
            {
                line.stated_tax = None;
            }
        }
        asked
    }

    async fn complete(cx: &Cx<'_>, head: &Head, asked: MoneyAsked) -> Result<MoneyAsked> {
        complete(cx, K::COMES_IN, head, asked).await
    }

    async fn settle(cx: &Cx<'_>, head: &Head, asked: &MoneyAsked, purpose: Purpose) -> Result<Settled<MoneyFigures>> {
        settle(cx, K::COMES_IN, head, asked, purpose).await
    }

    fn under(asked: &mut MoneyAsked) -> Option<&mut Option<Under>> {
        Some(&mut asked.under)
    }

    fn change(old: &MoneyAsked, new: &MoneyAsked) -> Change {
        if old == new {
            return Change::Nothing;
        }
        let in_books = |asked: &MoneyAsked| MoneyAsked {
            method: PaymentMethod::default(),
            cleared_date: None,
            cheque_number: None,
            batch: None,
            notes: None,
            ..asked.clone()
        };
        if in_books(old) == in_books(new) { Change::Words } else { Change::Books }
    }

    async fn release(cx: &Cx<'_>, row: &documents::Model, leaving: Leaving, on: Option<Day>) -> Result<()> {
        if leaving == Leaving::Replaced {
            return Ok(());
        }
        cx.flush().await?;
        for allocation in allocating::of_documents(cx, &[row.id]).await? {
            if allocation.target_document_id == row.id {
                return Err(Error::conflict(Code::HasAllocations, "It was paid back; remove that allocation first"));
            }
            // Its own allocations live and die with it: what it settled is open again.
            allocating::remove(cx, &allocation, on, Touch::TargetOnly).await?;
        }
        Ok(())
    }

    fn tax_date(asked: &MoneyAsked) -> Option<Day> {
        asked.tax_date
    }

    fn rate(asked: &MoneyAsked) -> Option<Rate> {
        asked.exchange_rate
    }

    async fn stays(cx: &Cx<'_>, row: &documents::Model, asked: &MoneyAsked) -> Result<()> {
        allocating::stays(cx, row.id, &asked.allocations, asked.said).await
    }

    async fn posted(cx: &Cx<'_>, row: &documents::Model, asked: &MoneyAsked) -> Result<()> {
        allocating::allocate_all(cx, row, None, &asked.allocations).await
    }

    fn has_sequel(asked: &MoneyAsked) -> bool {
        !asked.allocations.is_empty()
    }

    async fn live(cx: &Cx<'_>, rows: &[documents::Model]) -> Result<HashMap<RecordId, Standing>> {
        let posted: Vec<RecordId> =
            rows.iter().filter(|row| row.status == DocumentStatus::Posted).map(|row| row.id).collect();
        let mut standings: HashMap<RecordId, Standing> = HashMap::new();
        for open in open_items::of(cx, &posted).await? {
            let id = open.document_id;
            standings.entry(id).or_default().open = Some(open);
        }
        let touched: Vec<RecordId> = standings
            .iter()
            .filter(|(_, standing)| standing.open.as_ref().is_some_and(open_items_table::Model::is_touched))
            .map(|(id, _)| *id)
            .collect();
        for allocation in allocating::of_documents(cx, &touched).await? {
            for id in [allocation.source_document_id, allocation.target_document_id] {
                if let Some(standing) = standings.get_mut(&id) {
                    standing.allocations.push(allocation.clone());
                }
            }
        }
        Ok(standings)
    }

    fn view(
        cx: &Cx<'_>,
        row: documents::Model,
        content: Content<MoneyAsked, MoneyFigures>,
        standing: Standing,
    ) -> Result<K::View> {
        let Content { asked, figures } = content;
        let base_decimals = cx.business()?.currency_decimals;
        let known = Currency::known(&figures.currency, format_args!("document {}", row.id))?;
        let own = |money| known.amount(money);
        let posted = row.status == DocumentStatus::Posted;
        let left = match &standing.open {
            Some(open) => open.open.size(),
            None if row.status == DocumentStatus::Void => Money::ZERO,
            None => figures.for_party,
        };
        let allocated =
            if posted { figures.for_party.minus(left).map_err(|_| Error::too_large())? } else { Money::ZERO };
        let lines = asked.lines.iter().zip(&figures.lines).zip(1..).map(|((line, figures), line_no)| {
            Ok(DirectLineView {
                id: line.id,
                line_no,
                account_id: line.account,
                amount: own(line.amount),
                tax_code_id: line.tax.code(),
                description: line.description.clone(),
                net_amount: own(figures.net),
                tax_amount: own(figures.tax),
                withheld_amount: own(withheld(figures).ok_or_else(Error::too_large)?),
            })
        });
        let allocations = if row.status == DocumentStatus::Draft {
            asked.allocations.iter().map(|one| allocating::planned(one, known, base_decimals)).collect()
        } else {
            standing.allocations.iter().map(|one| allocating::view(one, base_decimals)).collect::<Result<_>>()?
        };
        let body = MoneyBody {
            party_id: cx.aliases()?.of_document(&row),
            party_name: figures.party_name.clone(),
            account_id: asked.account,
            amount: own(asked.amount),
            tax_date: asked.tax_date,
            currency: figures.currency.clone(),
            exchange_rate: asked.exchange_rate,
            base_total: figures.base_total.shown(base_decimals),
            method: asked.method,
            cleared_date: asked.cleared_date,
            fee_amount: own(asked.fee),
            fee_account_id: asked.fee_account,
            control_account_id: figures.control_account,
            lines: lines.collect::<Result<_>>()?,
            allocations,
            allocated_amount: own(allocated),
            unallocated_amount: own(left),
            allocation_status: match (left == Money::ZERO, allocated == Money::ZERO) {
                (_, true) => AllocationStatus::Unallocated,
                (true, false) => AllocationStatus::Allocated,
                (false, false) => AllocationStatus::PartiallyAllocated,
            },
            notes: asked.notes.clone(),
        };
        // Its own allocations go with it when it is voided; one that was paid back stays.
        let held = standing.allocations.iter().any(|one| one.target_document_id == row.id);
        let abilities = Abilities { held, allocates: posted && left != Money::ZERO, ..Abilities::default() };
        let head = HeadView::shown_as(cx, K::KEY, &row, row.status, &abilities)?;
        Ok(K::view(kept!(row), head, body, asked))
    }
}

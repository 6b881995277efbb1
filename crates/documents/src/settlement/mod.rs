//! Receipts and payments: money that comes in and goes out.
//!
//! Owns: the bank's side, fees, what is earned or spent right away, and what is left to settle invoices with.
//! [`allocating`] settles, by the rules of [`relief`]; an advance is a receipt or payment that settles nothing yet.

pub(crate) mod actions;
pub(crate) mod allocating;
pub mod allocation;
mod direct;
mod posting;
mod relief;
mod taxes;

use crate::currency::{Currency, CurrencyCode};
use crate::day::Day;
use crate::document::{
    self, Abilities, Before, Change, Content, Document, Draft, Head, HeadInput, HeadView, Purpose, Settled,
    SettledEntry, TradedLine, document_operations, document_rows,
};
use crate::document::{identity, unbalanced};
use crate::error::{Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Stated, Text};
use crate::ids::RecordId;
use crate::money::{Amount, Money, Quantity, Rate};
use crate::trade::country_of;
use crate::trade::line::TaxChoice;
use crate::wire_enum;
use actions::{Allocate, Deallocate};
use allocating::{AllocationAsked, AllocationInput, AllocationView, Touch};
use books::Leaving;
use books::access::Business;
use books::chart::{Account, Chart, SystemRole};
use books::cx::Cx;
use books::open_items::{self, NewOpen};
use books::periods::Module;
use books::tax_codes::kept_as;
use direct::{figures, for_party, tells, too_large, withheld};
use kit::extra::action;
use kit::master::{RecordKeeping, kept};
use kit::reference::{Held, References};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use posting::Tells;
use rules::account::AccountType;
use rules::posting::Posting;
use rules::purpose::{Purpose as For, Side};
use rules::tax::TaxDirection;
use rules::tax::facts::{Common, TaxOrigin};
use rules::tax::figures::LineFigures;
use rules::tax::home::{Exchange, Withholding};
use schema::address::text;
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus, EntryKind, open_items as open_items_table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;
use std::sync::Arc;

/// Money that moved one way.
pub struct Moved<K>(PhantomData<fn() -> K>);

pub struct Receipt;
pub struct Payment;

pub type Receipts = Moved<Receipt>;
pub type Payments = Moved<Payment>;

wire_enum! {
    /// How money moves.
    pub enum PaymentMethod {
        Cash = "cash",
        #[default]
        BankTransfer = "bankTransfer",
        Card = "card",
        Cheque = "cheque",
        Online = "online",
        Other = "other",
    }
}

wire_enum! {
    /// How much of it settles something.
    pub enum AllocationStatus {
        #[default]
        Unallocated = "unallocated",
        PartiallyAllocated = "partiallyAllocated",
        Allocated = "allocated",
    }
}

/// What is earned or spent right away, without an invoice.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct DirectLineInput {
    /// The line's identifier, to keep its identity in an update.
    id: Maybe<RecordId>,
    /// The account.
    account_id: Field<RecordId>,
    /// How much of the money it is, tax included; more than 0.
    amount: Field<Money>,
    /// The tax inside the amount; none when absent.
    #[serde(default)]
    tax_code_id: Stated<RecordId>,
    /// The tax that the other side's paper says, where it differs by a few coins from what it comes to; the computed
    /// one when absent. How far it may differ is the setting `taxOverrideTolerance`.
    tax_amount: Maybe<Money>,
    /// What the line is about.
    description: Maybe<Text<1000>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectLineAsked {
    id: Option<RecordId>,
    account: RecordId,
    amount: Money,
    tax: TaxChoice,
    /// The tax as it was stated, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stated_tax: Option<Money>,
    description: Option<String>,
}

document::identified!(DirectLineAsked);

/// A receipt or payment, checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MoneyAsked {
    party: Option<RecordId>,
    account: RecordId,
    amount: Money,
    /// The day that the tax of its lines counts for, where it is another than the date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tax_date: Option<Day>,
    currency: Option<String>,
    exchange_rate: Option<Rate>,
    method: PaymentMethod,
    cleared_date: Option<Day>,
    fee: Money,
    fee_account: Option<RecordId>,
    control_account: Option<RecordId>,
    cheque_number: Option<String>,
    batch: Option<String>,
    notes: Option<String>,
    lines: Vec<DirectLineAsked>,
    allocations: Vec<AllocationAsked>,
    /// What the version before it named.
    #[serde(skip)]
    held: Held,
}

/// What it came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MoneyFigures {
    party_name: Option<String>,
    currency: String,
    control_account: Option<RecordId>,
    base_total: Money,
    /// What settles something, or will.
    for_party: Money,
    lines: Vec<LineFigures>,
}

macro_rules! money_input {
    ($(#[$about:meta])* $name:ident, { $($(#[$meta:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$about])*
        #[derive(Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        #[schemars(deny_unknown_fields)]
        pub struct $name {
            /// The day it counts for.
            date: Field<Day>,
            /// The bank, cash or credit card account.
            account_id: Field<RecordId>,
            /// How much moves, fees not counted; more than 0. What is kept back as tax on `lines` does not move.
            amount: Field<Money>,
            /// The day that the tax of its lines counts for; the date when absent.
            tax_date: Maybe<Day>,
            /// The party; required for all that is not in `lines`.
            party_id: Maybe<RecordId>,
            /// Currency of the amount; the account's when absent.
            currency: Maybe<CurrencyCode>,
            /// What one unit of it is worth in the company's; the company's rate of the day when absent.
            exchange_rate: Maybe<Rate>,
            /// How the money moves; `bankTransfer` when absent.
            method: Maybe<PaymentMethod>,
            /// The day on which the bank booked it.
            cleared_date: Maybe<Day>,
            /// What the bank takes for it, in the same currency.
            fee_amount: Maybe<Money>,
            /// Account of the fee; the company's when absent.
            fee_account_id: Maybe<RecordId>,
            /// The receivable or payable account that it settles; by what it is allocated to, else by the party, when absent.
            control_account_id: Maybe<RecordId>,
            /// What it settles at once. It is only read until it is posted; later there are actions for it.
            #[schemars(extend("maxItems" = 100))]
            allocations: Each<AllocationInput>,
            /// What is earned or spent right away, without an invoice; at most 1000.
            #[schemars(extend("maxItems" = 1000))]
            lines: Each<DirectLineInput>,
            /// `posted` or `draft`; as the company's settings say when absent. On an update, `void` takes it back.
            status: Maybe<DocumentStatus>,
            /// Its number, where the series takes numbers by hand.
            number: Maybe<Text<50>>,
            /// The number series; the default one when absent.
            series_id: Maybe<RecordId>,
            /// A number or text of the payment, such as the cheque's or the bank's own.
            reference: Maybe<Text<100>>,
            /// What it is about; its ledger entries say the same.
            narration: Maybe<Text<1000>>,
            /// Words for yourself.
            notes: Maybe<Text<4000>>,
            /// Its identifier in another system; unique among its kind.
            external_id: Maybe<Text<200>>,
            /// Labels of your own, at most 50.
            #[schemars(extend("maxItems" = 50))]
            tags: Each<Label<50>>,
            $($(#[$meta])* $field: $ty,)*
        }
    };
}

money_input! {
    /// What a client sends to create or replace a receipt.
    ReceiptInput, {}
}

money_input! {
    /// What a client sends to create or replace a payment.
    PaymentInput, {
        /// Number of the cheque.
        cheque_number: Maybe<Text<50>>,
        /// The batch of payments that it belongs to.
        batch_id: Maybe<Text<100>>,
    }
}

macro_rules! read {
    ($input:ident, $faults:ident) => {{
        let given = matches!($input.amount, Field::Given(_));
        let amount = $faults.required("amount", $input.amount);
        if given && amount <= Money::ZERO {
            $faults.add("amount", "must be greater than 0");
        }
        let exchange_rate = $faults.optional("exchangeRate", $input.exchange_rate);
        if exchange_rate.is_some_and(|rate| rate <= Rate::ZERO) {
            $faults.add("exchangeRate", "must be more than 0");
        }
        let fee = $faults.optional("feeAmount", $input.fee_amount).unwrap_or_default();
        if fee.is_negative() {
            $faults.add("feeAmount", "must not be negative");
        }
        let asked = MoneyAsked {
            party: $faults.optional("partyId", $input.party_id),
            account: $faults.required("accountId", $input.account_id),
            amount,
            tax_date: $faults.optional("taxDate", $input.tax_date),
            currency: $faults.optional("currency", $input.currency).map(CurrencyCode::into_inner),
            exchange_rate,
            method: $faults.optional("method", $input.method).unwrap_or_default(),
            cleared_date: $faults.optional("clearedDate", $input.cleared_date),
            fee,
            fee_account: $faults.optional("feeAccountId", $input.fee_account_id).filter(|_| fee != Money::ZERO),
            control_account: $faults.optional("controlAccountId", $input.control_account_id),
            notes: text($faults, "notes", $input.notes),
            lines: check_lines($faults, $input.lines),
            allocations: allocating::check_each($faults, $input.allocations),
            ..MoneyAsked::default()
        };
        let head = HeadInput {
            date: $input.date,
            status: $input.status,
            number: $input.number,
            series_id: $input.series_id,
            reference: $input.reference,
            narration: $input.narration,
            external_id: $input.external_id,
            tags: $input.tags,
        };
        (head, asked)
    }};
}

fn check_lines(faults: &mut Faults, field: Each<DirectLineInput>) -> Vec<DirectLineAsked> {
    let lines = faults.each("lines", field, |faults, input| {
        let given = matches!(input.amount, Field::Given(_));
        let amount = faults.required("amount", input.amount);
        if given && amount <= Money::ZERO {
            faults.add("amount", "must be greater than 0");
        }
        DirectLineAsked {
            id: faults.optional("id", input.id),
            account: faults.required("accountId", input.account_id),
            amount,
            tax: match input.tax_code_id {
                Stated::Given(id) => TaxChoice::Code(id),
                Stated::Unsaid | Stated::Nothing => TaxChoice::None,
                Stated::Malformed(why) => {
                    faults.add("taxCodeId", why);
                    TaxChoice::None
                }
            },
            stated_tax: faults.optional("taxAmount", input.tax_amount),
            description: text(faults, "description", input.description),
        }
    });
    if lines.len() > 1000 {
        faults.add("lines", "must be at most 1000");
    }
    lines
}

/// What is earned or spent right away, without an invoice.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DirectLine")]
pub struct DirectLineView {
    /// The line's identifier; it keeps its identity in an update.
    id: Option<RecordId>,
    /// Its place, from 1.
    line_no: i64,
    /// The account.
    account_id: RecordId,
    /// How much of the money it is, tax included.
    amount: Amount,
    /// The tax inside the amount.
    tax_code_id: Option<RecordId>,
    /// What the line is about.
    description: Option<String>,
    /// Without tax.
    net_amount: Amount,
    /// The tax.
    tax_amount: Amount,
    /// What of it is kept back as tax, and does not move.
    withheld_amount: Amount,
}

/// What receipts and payments say beside their head.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoneyBody {
    /// The party.
    party_id: Option<RecordId>,
    /// The party's name, as it was when this was written.
    party_name: Option<String>,
    /// The bank, cash or credit card account.
    account_id: RecordId,
    /// How much moves, fees not counted.
    amount: Amount,
    /// The day that the tax of its lines counts for; the date when null.
    tax_date: Option<Day>,
    /// Currency of the amount.
    currency: String,
    /// What one unit of it is worth in the company's; null in the company's own.
    exchange_rate: Option<Rate>,
    /// The amount in the company's currency.
    base_total: Amount,
    /// How the money moves.
    method: PaymentMethod,
    /// The day on which the bank booked it.
    cleared_date: Option<Day>,
    /// What the bank takes for it.
    fee_amount: Amount,
    /// Account of the fee; the company's when null.
    fee_account_id: Option<RecordId>,
    /// The account that it settles.
    control_account_id: Option<RecordId>,
    /// What is earned or spent right away.
    lines: Vec<DirectLineView>,
    /// What it settles, and what settles it.
    allocations: Vec<AllocationView>,
    /// What of it settles something.
    allocated_amount: Amount,
    /// What of it is left to settle something with.
    unallocated_amount: Amount,
    /// How much of it settles something.
    allocation_status: AllocationStatus,
    /// Words for yourself.
    notes: Option<String>,
}

/// Money that came in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Receipt")]
pub struct ReceiptView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    #[serde(flatten)]
    head: HeadView,
    #[serde(flatten)]
    body: MoneyBody,
}

/// Money that went out.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Payment")]
pub struct PaymentView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    #[serde(flatten)]
    head: HeadView,
    #[serde(flatten)]
    body: MoneyBody,
    /// Number of the cheque.
    cheque_number: Option<String>,
    /// The batch of payments that it belongs to.
    batch_id: Option<String>,
}

impl AsRef<RecordKeeping> for ReceiptView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

impl AsRef<RecordKeeping> for PaymentView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
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

fn example_of(more: &serde_json::Value) -> serde_json::Value {
    let mut body = json!({
        "date": "2026-11-20",
        "accountId": "019a9f6e-6c00-7f86-9a32-7c9e1d3f5b06",
        "amount": 150,
        "taxDate": null,
        "partyId": "019a9f6e-6c00-7b23-8c12-7e9fb0213c23",
        "currency": "EUR",
        "exchangeRate": null,
        "method": "bankTransfer",
        "clearedDate": "2026-11-21",
        "feeAmount": 0,
        "feeAccountId": null,
        "controlAccountId": null,
        "allocations": [],
        "lines": [],
        "status": "posted",
        "number": null,
        "seriesId": null,
        "reference": "INV-2026-0042",
        "narration": null,
        "notes": null,
        "externalId": null,
        "tags": []
    });
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    body
}

fn example_view_of(number: &str) -> serde_json::Value {
    json!({
        "number": number,
        "postedAt": "2026-11-20T09:30:00.000000Z",
        "voidDate": null,
        "voidReason": null,
        "entryIds": ["019a9f6e-6c00-7a97-8b43-8daf2e4a6c07"],
        "allowedActions": ["edit", "void", "copy", "allocate"],
        "partyName": "Nordwind Cafés",
        "baseTotal": 150,
        "controlAccountId": "019a9f6e-6c00-7b27-8016-b2d3f4657027",
        "allocatedAmount": 0,
        "unallocatedAmount": 150,
        "allocationStatus": "unallocated"
    })
}

impl MoneyKind for Receipt {
    const KEY: ResourceKey = ResourceKey::Receipts;
    const KIND: DocumentKind = DocumentKind::Receipt;
    const ABOUT: About = About {
        one: "a receipt",
        many: "receipts",
        description: "Money that comes in: from customers, whose invoices it settles at once or later, from suppliers \
                      who pay back, or for something that has no invoice.",
        sorts: document::SORTS,
        searched: "number, reference, narration, notes and the lines' descriptions",
    };
    const COMES_IN: bool = true;
    type Input = ReceiptInput;
    type View = ReceiptView;

    fn check(faults: &mut Faults, input: ReceiptInput) -> (HeadInput, MoneyAsked) {
        read!(input, faults)
    }

    fn view(keeping: RecordKeeping, head: HeadView, body: MoneyBody, _: MoneyAsked) -> ReceiptView {
        ReceiptView { keeping, head, body }
    }

    fn example() -> serde_json::Value {
        example_of(&json!({}))
    }

    fn example_view() -> serde_json::Value {
        example_view_of("RC-2026-0017")
    }
}

impl MoneyKind for Payment {
    const KEY: ResourceKey = ResourceKey::Payments;
    const KIND: DocumentKind = DocumentKind::Payment;
    const ABOUT: About = About {
        one: "a payment",
        many: "payments",
        description: "Money that goes out: to suppliers, whose invoices it settles at once or later, to customers who \
                      get something back, or for something that has no invoice.",
        sorts: document::SORTS,
        searched: "number, reference, narration, notes and the lines' descriptions",
    };
    const COMES_IN: bool = false;
    type Input = PaymentInput;
    type View = PaymentView;

    fn check(faults: &mut Faults, input: PaymentInput) -> (HeadInput, MoneyAsked) {
        let cheque_number = text(faults, "chequeNumber", input.cheque_number);
        let batch = text(faults, "batchId", input.batch_id);
        let (head, asked) = read!(input, faults);
        (head, MoneyAsked { cheque_number, batch, ..asked })
    }

    fn view(keeping: RecordKeeping, head: HeadView, body: MoneyBody, asked: MoneyAsked) -> PaymentView {
        PaymentView { keeping, head, body, cheque_number: asked.cheque_number, batch_id: asked.batch }
    }

    fn example() -> serde_json::Value {
        example_of(&json!({ "chequeNumber": null, "batchId": null }))
    }

    fn example_view() -> serde_json::Value {
        example_view_of("PM-2026-0009")
    }
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
    const MODULE: Module = Module::Bank;
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
                return Err(Error::conflict("has_allocations", "It was paid back; remove that allocation first"));
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
            asked.allocations.iter().map(|one| allocating::planned(one, known.decimals())).collect()
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
            base_total: Amount { money: figures.base_total, currency_decimals: base_decimals },
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

/// The currency that is left out is the account's; its rate is that of the day.
async fn complete(cx: &Cx<'_>, comes_in: bool, head: &Head, mut asked: MoneyAsked) -> Result<MoneyAsked> {
    let business = cx.business()?;
    let chart = cx.chart().await?;
    let of_account = chart.account(asked.account).and_then(|account| account.currency.clone());
    let currency = asked.currency.take().or(of_account).unwrap_or_else(|| business.base_currency.clone());
    if currency == business.base_currency {
        asked.exchange_rate = asked.exchange_rate.filter(|rate| *rate != Rate::ONE);
    } else if asked.exchange_rate.is_none() {
        asked.exchange_rate = books::rates::on(cx, &currency, head.date).await?;
    }
    asked.currency = Some(currency);
    if asked.control_account.is_none() && asked.party.is_some() {
        asked.control_account = control_account(cx, &chart, comes_in, &asked).await?;
    }
    Ok(asked)
}

/// The account that money settles: where its first target stands, else the party's own.
async fn control_account(cx: &Cx<'_>, chart: &Chart, comes_in: bool, asked: &MoneyAsked) -> Result<Option<RecordId>> {
    let separate = cx.business()?.settings.book_advances_separately;
    let role = |receivable: bool| match (receivable, separate) {
        (true, false) => SystemRole::Receivable,
        (true, true) => SystemRole::CustomerAdvances,
        (false, false) => SystemRole::Payable,
        (false, true) => SystemRole::SupplierAdvances,
    };
    let in_role = |receivable| Ok(Some(chart.roles().id(role(receivable))));
    if let Some(first) = asked.allocations.first()
        && let Some(target) = open_items::find(cx, first.target).await?
    {
        if !separate {
            return Ok(Some(target.account_id));
        }
        let is_receivable = |account: &Account| account.r#type == AccountType::Receivable;
        let receivable = target.account_id == chart.roles().customer_advances.id()
            || chart.account(target.account_id).is_none_or(is_receivable);
        return in_role(receivable);
    }
    let Some(id) = asked.party else { return Ok(None) };
    let Some(party) = cx.parties(&HashSet::from([id])).await?.remove(&id) else { return Ok(None) };
    let receivable = if comes_in { party.is_customer } else { !party.is_supplier };
    let own = if receivable { party.receivable_account_id } else { party.payable_account_id };
    match own.filter(|_| !separate) {
        Some(own) => Ok(Some(own)),
        None => in_role(receivable),
    }
}

async fn party_of(cx: &Cx<'_>, id: Option<RecordId>) -> Result<Option<Arc<schema::party::Model>>> {
    let Some(id) = id else { return Ok(None) };
    Ok(cx.parties(&HashSet::from([id])).await?.remove(&id))
}

fn judge(
    business: &Business,
    comes_in: bool,
    asked: &MoneyAsked,
    party_exists: bool,
    for_party: Option<Money>,
    references: &mut References,
) -> Result<()> {
    let base = &business.base_currency;
    let currency = asked.currency.as_ref().unwrap_or(base);
    let places = Currency::known(currency, "what is asked for")?.decimals();
    // An account in the company's currency takes any other at its worth; one in another currency only its own.
    let answer = references.chart.money(asked.account, currency);
    references.note("accountId", answer);
    if asked.party.is_some() && !party_exists {
        references.faults.add("partyId", "names no party");
    }
    if currency == base && asked.exchange_rate.is_some_and(|rate| rate != Rate::ONE) {
        references.faults.add("exchangeRate", format!("must be 1 or absent in {base}"));
    }
    if currency != base && asked.exchange_rate.is_none() {
        let why = format!("is required, since there is no rate for the day: what is one {currency} worth in {base}?");
        references.faults.add("exchangeRate", why);
    }
    for (field, amount) in [("amount", asked.amount), ("feeAmount", asked.fee)] {
        if !amount.fits(places) {
            references.faults.add(field, format!("must have at most {places} decimal places in {currency}"));
        }
    }
    if comes_in && asked.fee > asked.amount {
        references.faults.add("feeAmount", "must not be more than the amount");
    }
    references.account("feeAccountId", asked.fee_account, For::Fee);
    for (index, line) in asked.lines.iter().enumerate() {
        let at = |field: &str| format!("lines[{index}].{field}");
        let answer = references.chart.line(line.account, For::DirectLine, None, currency);
        references.note(&at("accountId"), answer);
        // Money comes back for what was bought, and goes back for what was sold: a code may be for either.
        let direction = line.tax.code().and_then(|id| references.taxes.get(id)).map(|code| code.direction);
        references.tax_code(&at("taxCodeId"), line.tax.code(), direction.unwrap_or(TaxDirection::Both));
        let on_tax = kept_as(&references.chart, line.account).is_some();
        if on_tax && line.tax.code().is_some() {
            references.faults.add(at("taxCodeId"), "cannot stand on a line that moves an account of tax");
        }
        if !line.amount.fits(places) {
            references.faults.add(at("amount"), format!("must have at most {places} decimal places in {currency}"));
        }
    }
    match for_party {
        None => references.faults.add("lines", "come to more than the amount"),
        Some(rest) if rest != Money::ZERO && asked.party.is_none() => {
            references.faults.add("partyId", "is required for what is not in lines");
        }
        Some(_) => {}
    }
    if let Some(control) = asked.control_account {
        let answer = references.chart.control(control, Side::Either, currency);
        references.note("controlAccountId", answer);
    }
    Ok(())
}

async fn settle(
    cx: &Cx<'_>,
    comes_in: bool,
    head: &Head,
    asked: &MoneyAsked,
    purpose: Purpose,
) -> Result<Settled<MoneyFigures>> {
    let business = cx.business()?;
    let mut references = References::holding(cx, asked.held.clone()).await?;
    let party = party_of(cx, asked.party).await?;
    let currency = asked.currency.clone().unwrap_or_else(|| business.base_currency.clone());
    let exchange = Exchange {
        base: &business.base_currency,
        currency: &currency,
        rate: asked.exchange_rate.unwrap_or(Rate::OF_ITSELF),
        decimals: business.currency_decimals,
        rounding: business.settings.rounding_mode.rounding(),
    };
    let tax_date = asked.tax_date.unwrap_or(head.date);
    let figures = figures(business, asked, &references.taxes, (&exchange, tax_date));
    // What comes to more than can be kept comes to more than the amount.
    let for_party = figures.as_ref().ok().and_then(|figures| for_party(asked, figures));
    judge(business, comes_in, asked, party.is_some(), for_party, &mut references)?;
    let (chart, taxes) = (references.chart.clone(), references.taxes.clone());
    references.finish()?;
    let (figures, for_party) = (figures?, for_party.ok_or_else(too_large)?);
    let tells: Vec<Tells> = asked.lines.iter().map(|line| tells(&chart, &taxes, line)).collect();
    let posting = posting::Posting {
        comes_in,
        control: asked.control_account,
        for_party,
        asked,
        figures: &figures,
        tells: &tells,
        common: Common {
            exchange: &exchange,
            chart: &chart,
            withholding: Withholding::Kept,
            origin: TaxOrigin::Document,
            date: tax_date,
            party: asked.party,
            party_tax_number: party.as_ref().and_then(|party| party.tax_number.as_deref()),
            country: party.as_deref().and_then(country_of),
        },
        taxes: &taxes,
    };
    let posted = posting.lines().map_err(|why| why.at("lines"))?;
    let mut settled = Settled {
        subkind: Some(asked.method.to_string()),
        party: asked.party,
        currency: currency.clone(),
        total: asked.amount,
        base_total: posted.base_total,
        entries: Vec::new(),
        open: Vec::new(),
        lines: Vec::new(),
        stock: None,
        progress: None,
        figures: MoneyFigures {
            party_name: party.map(|party| party.name.clone()),
            currency: currency.clone(),
            control_account: asked.control_account,
            base_total: posted.base_total,
            for_party,
            lines: figures,
        },
    };
    if purpose == Purpose::Draft {
        return Ok(settled);
    }
    settled.open.extend(left_open(comes_in, head, asked, &settled.figures, posted.base_for_party));
    settled.lines = traded(asked, &settled.figures, &posted.base_lines)?;
    let posting = Posting::balanced(posted.lines).map_err(unbalanced)?;
    settled.entries.push(SettledEntry { kind: EntryKind::Normal, date: head.date, field: "date", posting });
    Ok(settled)
}

/// What is left to settle something with.
fn left_open(comes_in: bool, head: &Head, asked: &MoneyAsked, figures: &MoneyFigures, base: Money) -> Option<NewOpen> {
    let (party, account) = asked.party.zip(asked.control_account).filter(|_| figures.for_party != Money::ZERO)?;
    let sign = if comes_in { -1 } else { 1 };
    Some(NewOpen {
        line: None,
        party,
        account,
        currency: figures.currency.clone(),
        date: head.date,
        due_date: None,
        amount: Money::from_units(figures.for_party.units() * sign),
        base: Money::from_units(base.units() * sign),
    })
}

fn traded(asked: &MoneyAsked, figures: &MoneyFigures, base: &[(Money, Money)]) -> Result<Vec<TradedLine>> {
    let lines = asked.lines.iter().zip(&figures.lines).zip(base);
    lines
        .map(|((line, figures), (base_net, base_tax))| {
            Ok(TradedLine {
                id: identity(line.id)?,
                item: None,
                account: Some(line.account),
                tax_code: line.tax.code(),
                quantity: Quantity::from_units(1_000_000),
                net: figures.net,
                tax: figures.tax,
                base_net: *base_net,
                base_tax: *base_tax,
                source_line: None,
            })
        })
        .collect()
}

/// Money that is received with an invoice.
pub(crate) async fn receive(
    cx: &Cx<'_>,
    invoice: &documents::Model,
    (account, amount, reference): (RecordId, Money, Option<String>),
) -> Result<()> {
    cx.require(ResourceKey::Receipts, Action::Create)?;
    let content: serde_json::Value = serde_json::from_str(&invoice.content).map_err(Error::internal)?;
    let exchange_rate = serde_json::from_value(content["asked"]["exchange_rate"].clone()).map_err(Error::internal)?;
    let draft = Draft {
        head: Head {
            date: invoice.date,
            status: Some(DocumentStatus::Posted),
            number: None,
            series: None,
            reference: reference.or_else(|| invoice.number.clone()),
            narration: None,
            external_id: None,
            tags: Vec::new(),
        },
        asked: MoneyAsked {
            party: cx.aliases()?.of_document(invoice),
            account,
            amount,
            currency: Some(invoice.currency.clone()),
            exchange_rate,
            method: PaymentMethod::Cash,
            allocations: vec![AllocationAsked {
                target: invoice.id,
                target_type: None,
                amount,
                source_amount: None,
                discount: Money::ZERO,
                write_off: Money::ZERO,
                write_off_account: None,
                withheld: Money::ZERO,
                date: None,
            }],
            ..MoneyAsked::default()
        },
    };
    document::create::<Receipts>(cx, &draft).await.map(|_| ()).map_err(|error| match error {
        Error::Validation(faults) => {
            let mut under = FieldErrors::default();
            for (field, messages) in faults.iter() {
                for message in messages {
                    under.add(format!("cashReceipt.{}", field.trim_start_matches("allocations[0].")), message.clone());
                }
            }
            under.into()
        }
        other => other,
    })
}

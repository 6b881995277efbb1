//! A note of an invoice: all that is left of it, or the lines that are named, by quantity or by amount.

use super::line::TradeLineAsked;
use super::{NoteKind, Trade, TradeAsked, TradeKind};
use crate::credit_note::CreditNote;
use crate::day::Day;
use crate::debit_note::DebitNote;
use crate::document::{self, Draft, Head, invalid_state, load_source};
use crate::error::{Code, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Money, Quantity, UnitPrice};
use crate::purchase_invoice::PurchaseInvoice;
use crate::sales_invoice::SalesInvoice;
use books::cx::Cx;
use kit::extra::Act;
use kit::operation::ReplyKind;
use kit::resource::Resource;
use schema::address::text;
use schema::rights::Action;
use schema::tables::DocumentStatus;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::marker::PhantomData;
use words::exact::Exact;

/// What of an invoice a note is made of.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct NoteOfInput {
    /// The day of the note; today, or the day of the invoice if that is later, when absent.
    date: Maybe<Day>,
    /// `posted` or `draft`; as the company's settings say when absent.
    status: Maybe<DocumentStatus>,
    /// Its number, where the series takes numbers by hand.
    number: Maybe<Text<50>>,
    /// A number or text of the other side; that of the invoice when absent.
    reference: Maybe<Text<100>>,
    /// What it is about.
    narration: Maybe<Text<1000>>,
    /// The note's identifier in another system.
    external_id: Maybe<Text<200>>,
    /// What it is for; `return`, or `priceAdjustment` where its lines say amounts, when absent.
    kind: Maybe<NoteKind>,
    /// Why it is given.
    reason: Maybe<Text<500>>,
    /// Which lines, and how many or how much of each; all that is left of the invoice when absent.
    #[schemars(extend("maxItems" = 1000))]
    lines: Each<NotedLineInput>,
}

/// A line of an invoice, and how many or how much of it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct NotedLineInput {
    /// The line of the invoice.
    line_id: Field<RecordId>,
    /// How many; all that is left when absent. Not beside `amount`.
    quantity: Maybe<Quantity>,
    /// How much money, in the invoice's currency, with tax where its prices include it; its pieces stay. For a
    /// `priceAdjustment` only.
    amount: Maybe<Money>,
}

/// How many or how much of a line.
#[derive(Clone, Copy)]
enum Wanted {
    All,
    Pieces(Quantity),
    Amount(UnitPrice),
}

pub(crate) struct NoteOf {
    head: Head,
    /// Whether a day was said.
    date: Option<Day>,
    kind: NoteKind,
    reason: Option<String>,
    lines: Vec<(RecordId, Wanted)>,
}

/// A note, and the invoice that it is made of.
pub(crate) trait Noting: Send + Sync + 'static {
    type From: TradeKind;
    type To: TradeKind;
    const SEGMENT: &'static str;
    const SUMMARY: &'static str;
    const DESCRIPTION: &'static str;
}

pub(crate) struct CreditOf;
pub(crate) struct DebitOf;

impl Noting for CreditOf {
    type From = SalesInvoice;
    type To = CreditNote;
    const SEGMENT: &'static str = "credit-notes";
    const SUMMARY: &'static str = "Make a credit note of {one}";
    const DESCRIPTION: &'static str = "Credits what is left of the {noun}, or the lines and quantities or amounts that \
                                       are named: shares of its prices, discounts and taxes, at its exchange rate and \
                                       its rates of tax. All shares together are the {noun}, to the coin.";
}

impl Noting for DebitOf {
    type From = PurchaseInvoice;
    type To = DebitNote;
    const SEGMENT: &'static str = "debit-notes";
    const SUMMARY: &'static str = "Make a debit note of {one}";
    const DESCRIPTION: &'static str = "Debits what is left of the {noun}, or the lines and quantities or amounts that \
                                       are named: shares of its prices, discounts and taxes, at its exchange rate and \
                                       its rates of tax. All shares together are the {noun}, to the coin.";
}

pub(crate) struct MakeNote<S>(PhantomData<fn() -> S>);

fn check_line(faults: &mut Faults, line: NotedLineInput) -> (RecordId, Wanted) {
    let quantity = faults.optional("quantity", line.quantity);
    if quantity.is_some_and(|quantity| quantity <= Quantity::ZERO) {
        faults.add("quantity", "must be greater than 0");
    }
    let amount = faults.optional("amount", line.amount);
    let wanted = match (quantity, amount) {
        (Some(_), Some(_)) => {
            faults.add("amount", "cannot stand beside quantity");
            Wanted::All
        }
        (Some(quantity), None) => Wanted::Pieces(quantity),
        (None, Some(amount)) => {
            if amount <= Money::ZERO {
                faults.add("amount", "must be greater than 0");
            }
            if let Ok(units) = Exact::from(amount).nearest_units::<UnitPrice>() {
                Wanted::Amount(UnitPrice::from_units(units))
            } else {
                faults.add("amount", "is too large");
                Wanted::All
            }
        }
        (None, None) => Wanted::All,
    };
    (faults.required("lineId", line.line_id), wanted)
}

impl<S: Noting> Act for MakeNote<S> {
    type Resource = Trade<S::From>;
    type Answers = Trade<S::To>;
    type Input = NoteOfInput;
    type Words = NoteOf;
    const NAME: &'static str = "Credit";
    const SEGMENT: &'static str = S::SEGMENT;
    const ACTION: Action = Action::Create;
    const KIND: ReplyKind = ReplyKind::Created;
    const SUMMARY: &'static str = S::SUMMARY;
    const DESCRIPTION: &'static str = S::DESCRIPTION;

    fn check(input: NoteOfInput) -> Result<NoteOf, FieldErrors> {
        let mut faults = Faults::default();
        let date = faults.optional("date", input.date);
        let head = Head {
            // The day is that of the note, once it is made.
            date: date.unwrap_or(Day::BEFORE_ALL),
            status: faults.optional("status", input.status),
            number: text(&mut faults, "number", input.number),
            series: None,
            reference: text(&mut faults, "reference", input.reference),
            narration: text(&mut faults, "narration", input.narration),
            external_id: text(&mut faults, "externalId", input.external_id),
            tags: Vec::new(),
        };
        let kind = faults.optional("kind", input.kind);
        let reason = text(&mut faults, "reason", input.reason);
        let lines = faults.each("lines", input.lines, check_line);
        let by_amount = lines.iter().filter(|(_, wanted)| matches!(wanted, Wanted::Amount(_))).count();
        let kind = kind.unwrap_or(if by_amount > 0 { NoteKind::PriceAdjustment } else { NoteKind::Return });
        if by_amount > 0 && kind != NoteKind::PriceAdjustment {
            faults.add("kind", "must be priceAdjustment where lines say amounts, since no goods come back by them");
        }
        if by_amount > 0 && by_amount < lines.len() {
            faults.add("lines", "must all say an amount, or none: make a note of the pieces and one of the amounts");
        }
        faults.finish(NoteOf { head, date, kind, reason, lines })
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| {
            json!({
                "date": "2026-11-24",
                "lines": [{ "lineId": "019a9f6e-6c00-7b22-8b11-6d8eaf102b22", "quantity": 4 }]
            })
        })
    }

    async fn run(cx: &Cx<'_>, id: RecordId, words: &NoteOf) -> Result<<Trade<S::To> as Resource>::View> {
        let old = load_source::<Trade<S::From>>(cx, id).await?;
        if old.row.status != DocumentStatus::Posted {
            return Err(invalid_state("Only a posted invoice can be credited"));
        }
        let said = &old.content.asked;
        let mut faults = FieldErrors::default();
        for (index, (line, _)) in words.lines.iter().enumerate() {
            if !said.lines.iter().any(|known| known.id == Some(*line) && !known.is_text()) {
                faults.add(format!("lines[{index}].lineId"), "names no line of this invoice that can be credited");
            }
        }
        if !faults.is_empty() {
            return Err(faults.into());
        }
        let day = words.date.unwrap_or(Ord::max(cx.today()?, old.row.date));
        let lefts = super::lefts::left_of(cx, (old.row.id, day), said, &old.content.figures).await?;
        let is_left = |line: &&TradeLineAsked| {
            !line.is_text() && line.id.and_then(|id| lefts.get(&id)).is_some_and(|left| left.quantity > Quantity::ZERO)
        };
        let all = || said.lines.iter().filter(is_left).filter_map(|line| Some((line.id?, Wanted::All))).collect();
        let wanted: Vec<(RecordId, Wanted)> = if words.lines.is_empty() { all() } else { words.lines.clone() };
        if wanted.is_empty() {
            return Err(Error::Conflict(crate::error::Conflict {
                code: Code::OverCredit,
                title: "Nothing is left of it to credit".into(),
                errors: FieldErrors::one("lines", "are all credited"),
            }));
        }
        let line = |(source, wanted): &(RecordId, Wanted)| TradeLineAsked {
            source_line: Some(*source),
            quantity: match wanted {
                Wanted::All => lefts.get(source).map(|left| left.quantity).filter(|left| *left > Quantity::ZERO),
                Wanted::Pieces(quantity) => Some(*quantity),
                Wanted::Amount(_) => Some(Quantity::from_units(1_000_000)),
            },
            price: if let Wanted::Amount(price) = wanted { Some(*price) } else { None },
            ..TradeLineAsked::default()
        };
        let asked = TradeAsked {
            party: cx.aliases()?.of_document(&old.row).unwrap_or(said.party),
            currency: Some(old.row.currency.clone()),
            source: Some(old.row.id),
            note_kind: Some(words.kind),
            reason: words.reason.clone(),
            billing_address: said.billing_address.clone(),
            shipping_address: said.shipping_address.clone(),
            lines: wanted.iter().map(line).collect(),
            ..TradeAsked::default()
        };
        let head = Head {
            date: day,
            reference: words.head.reference.clone().or_else(|| old.row.reference.clone()),
            tags: old.row.tags.0.clone(),
            ..words.head.clone()
        };
        document::create::<Trade<S::To>>(cx, &Draft { head, asked }).await
    }
}

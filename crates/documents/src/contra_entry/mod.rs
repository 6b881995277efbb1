//! Contra entries: money moved from one of the company's own accounts to another.
//!
//! Owns: what leaves, what arrives, the fee between, and the exchange difference against what the money was
//! carried at. Refuses: accounts that do not hold money.

mod posting;

use crate::currency::Currency;
use crate::day::Day;
use crate::document::{
    self, Before, Content, Document, Draft, Head, HeadInput, HeadView, Purpose, Settled, SettledEntry,
    document_operations, document_rows,
};
use crate::error::{Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Money, Rate};
use books::access::Business;
use books::balances::carried;
use books::cx::Cx;
use books::rates::{Given, check_worth};
use kit::list::Reads;
use kit::master::{RecordKeeping, kept};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use posting::{judge, posting, worths};
use schema::key::ResourceKey;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus, EntryKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use words::sown::{Fault, sown};

pub struct ContraEntries;

/// What a client sends to create or replace a contra entry.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ContraEntryInput {
    /// The day it counts for.
    date: Field<Day>,
    /// The account that the money leaves.
    from_account_id: Field<RecordId>,
    /// The account that the money reaches; another one.
    to_account_id: Field<RecordId>,
    /// What leaves, in the currency of the account it leaves.
    amount: Field<Money>,
    /// What arrives before the fee, in the currency of the account it reaches; required where the currencies differ.
    to_amount: Maybe<Money>,
    /// What the bank keeps of it, in the currency of the account it reaches.
    fee_amount: Maybe<Money>,
    /// The account of the fee; the company's bank fees when absent.
    fee_account_id: Maybe<RecordId>,
    /// `posted` or `draft`; as the company's settings say when absent. On an update, `void` takes it back.
    status: Maybe<DocumentStatus>,
    /// Its number, where the series takes numbers by hand.
    number: Maybe<Text<50>>,
    /// The number series; the default one when absent.
    series_id: Maybe<RecordId>,
    /// A number or text of the bank.
    reference: Maybe<Text<100>>,
    /// What it is about.
    narration: Maybe<Text<1000>>,
    /// Its identifier in another system; unique among contra entries.
    external_id: Maybe<Text<200>>,
    /// Labels of your own, at most 50.
    #[schemars(extend("maxItems" = 50))]
    tags: Each<Label<50>>,
}

/// A contra entry, checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContraAsked {
    from: RecordId,
    to: RecordId,
    amount: Money,
    to_amount: Option<Money>,
    fee: Money,
    fee_account: Option<RecordId>,
}

/// What it comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContraFigures {
    from_currency: String,
    to_currency: String,
    to_amount: Money,
    fee_account: Option<RecordId>,
    /// The exchange difference in the company's currency; a gain is positive.
    gain: BookMoney,
    base_total: BookMoney,
}

/// Money moved from one account to another.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ContraEntry")]
pub struct ContraEntryView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    #[serde(flatten)]
    head: HeadView,
    /// The account that the money leaves.
    from_account_id: RecordId,
    /// The account that the money reaches.
    to_account_id: RecordId,
    /// What leaves, in the currency of the account it leaves.
    amount: Amount,
    /// The currency of the account it leaves.
    currency: String,
    /// What arrives before the fee, in the currency of the account it reaches.
    to_amount: Amount,
    /// The currency of the account it reaches.
    to_currency: String,
    /// What the bank keeps of it.
    fee_amount: Amount,
    /// The account of the fee; null without one.
    fee_account_id: Option<RecordId>,
    /// How much of the second currency one unit of the first became; 1 within one currency.
    exchange_rate: Rate,
    /// What was gained, or with a minus lost, against what the money was carried at; in the company's currency.
    fx_gain_loss: Amount,
    /// What leaves in the company's currency.
    base_total: Amount,
}

impl AsRef<RecordKeeping> for ContraEntryView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

impl Resource for ContraEntries {
    const KEY: ResourceKey = ResourceKey::ContraEntries;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a contra entry",
        many: "contra entries",
        description: "Money moved between the company's own cash, bank and card accounts, over currencies too.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference and narration",
    };
    type Input = ContraEntryInput;
    type Draft = Draft<ContraAsked>;
    type View = ContraEntryView;

    fn example() -> serde_json::Value {
        json!({
            "date": "2026-11-20",
            "fromAccountId": "019a9f6e-6c00-7f86-9a32-7c9e1d3f5b06",
            "toAccountId": "019a9f6e-6c00-7ba8-8c54-9eb03f5b7d08",
            "amount": 500,
            "toAmount": 500,
            "feeAmount": 0,
            "feeAccountId": null,
            "status": "posted",
            "number": null,
            "seriesId": null,
            "reference": "ATM 0815",
            "narration": "Cash for the till",
            "externalId": null,
            "tags": []
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "number": "CE-2026-0001",
            "postedAt": "2026-11-20T09:30:00.000000Z",
            "voidDate": null,
            "voidReason": null,
            "entryIds": ["019a9f6e-6c00-7a97-8b43-8daf2e4a6c07"],
            "allowedActions": ["edit", "void", "copy"],
            "currency": "EUR",
            "toCurrency": "EUR",
            "exchangeRate": 1,
            "fxGainLoss": 0,
            "baseTotal": 500
        })
    }

    fn check(_: Option<&Business>, input: ContraEntryInput) -> Result<Self::Draft, FieldErrors> {
        let mut faults = Faults::default();
        let head = Head::check(
            &mut faults,
            HeadInput {
                date: input.date,
                status: input.status,
                number: input.number,
                series_id: input.series_id,
                reference: input.reference,
                narration: input.narration,
                external_id: input.external_id,
                tags: input.tags,
            },
        );
        let given = matches!(input.amount, Field::Given(_));
        let amount = faults.required("amount", input.amount);
        if given && amount <= Money::ZERO {
            faults.add("amount", "must be more than 0");
        }
        let to_amount = faults.optional("toAmount", input.to_amount);
        if to_amount.is_some_and(|amount| amount <= Money::ZERO) {
            faults.add("toAmount", "must be more than 0");
        }
        let fee = faults.optional("feeAmount", input.fee_amount).unwrap_or_default();
        if fee.is_negative() {
            faults.add("feeAmount", "must not be negative");
        }
        let both = matches!((&input.from_account_id, &input.to_account_id), (Field::Given(_), Field::Given(_)));
        let from = faults.required("fromAccountId", input.from_account_id);
        let to = faults.required("toAccountId", input.to_account_id);
        if both && from == to {
            faults.add("toAccountId", "must be another account than the one the money leaves");
        }
        let fee_account = faults.optional("feeAccountId", input.fee_account_id);
        faults.finish(Draft { head, asked: ContraAsked { from, to, amount, to_amount, fee, fee_account } })
    }

    document_operations!();
}

impl Rows for ContraEntries {
    document_rows!();

    fn filters() -> Vec<Filter<Column>> {
        let mut filters = document::filters();
        filters.retain(|filter| filter.parameter.name != "currency");
        filters.push(Filter::equal(
            "currency",
            "Contra entries that leave in this currency.",
            Reads::Text,
            Column::Currency,
        ));
        filters
    }
}

impl Document for ContraEntries {
    const KIND: DocumentKind = DocumentKind::ContraEntry;
    type Asked = ContraAsked;
    type Live = ();
    type Figures = ContraFigures;

    fn words(_: &ContraAsked) -> Vec<String> {
        Vec::new()
    }

    fn parties(_: &mut ContraAsked) -> Vec<&mut RecordId> {
        Vec::new()
    }

    fn identify(_: &Cx<'_>, asked: &ContraAsked, old: Option<Before<'_, ContraAsked>>) -> Result<ContraAsked> {
        // The same account as the company's, written out, is no other wish than none.
        let mut asked = asked.clone();
        if asked.fee == Money::ZERO {
            asked.fee_account = None;
        }
        if let Some(old) = old.map(|old| old.asked)
            && (asked.from, asked.to, asked.amount) == (old.from, old.to, old.amount)
        {
            // What arrives is answered also where it was not asked for: within one currency it is what leaves.
            let unsaid = old.to_amount.is_none() && asked.to_amount == Some(asked.amount);
            asked.to_amount = if unsaid { None } else { asked.to_amount.or(old.to_amount) };
        }
        Ok(asked)
    }

    async fn settle(cx: &Cx<'_>, head: &Head, asked: &ContraAsked, purpose: Purpose) -> Result<Settled<ContraFigures>> {
        let business = cx.business()?;
        let chart = cx.chart().await?;
        let accounts = judge(business, &chart, asked)?;
        let base = &business.base_currency;
        let (from_currency, to_currency) = (accounts.from.currency_or(base), accounts.to.currency_or(base));
        let to_amount = asked.to_amount.unwrap_or(asked.amount);
        let given = |currency, amount| Given { currency, amount, carried: None };
        let exchanged = (&given(to_currency, to_amount), &given(from_currency, asked.amount));
        if purpose == Purpose::Posting {
            check_worth(cx, "toAmount", head.date, exchanged).await?;
        }
        let held = if from_currency == base {
            None
        } else {
            if purpose == Purpose::Posting {
                cx.flush().await?;
            }
            let held = carried(cx, asked.from, from_currency, head.date).await?;
            Some(if sown(Fault::SoldAtWhatItBrings) { (Money::ZERO, BookMoney::ZERO) } else { held })
        };
        let worth = worths(business, asked, held, (to_amount, to_currency == base))?;
        let figures = ContraFigures {
            from_currency: from_currency.clone(),
            to_currency: to_currency.clone(),
            to_amount,
            fee_account: accounts.fee.as_ref().map(rules::postable::Free::id),
            gain: worth.gain,
            base_total: worth.relieved,
        };
        let entries = match purpose {
            Purpose::Draft => Vec::new(),
            Purpose::Posting => vec![SettledEntry {
                kind: EntryKind::Normal,
                date: head.date,
                field: "date",
                posting: posting(business, (&chart, accounts.fee), asked, &figures, &worth)?,
            }],
        };
        Ok(Settled {
            subkind: None,
            party: None,
            currency: from_currency.clone(),
            total: asked.amount,
            total_in: None,
            base_total: worth.relieved,
            entries,
            open: Vec::new(),
            lines: Vec::new(),
            stock: None,
            progress: None,
            figures,
        })
    }

    fn view(
        cx: &Cx<'_>,
        row: documents::Model,
        content: Content<ContraAsked, ContraFigures>,
        (): (),
    ) -> Result<ContraEntryView> {
        let Content { asked, figures } = content;
        let known = |currency: &str| Currency::known(currency, format_args!("contra entry {}", row.id));
        let (of_from, of_to) = (known(&figures.from_currency)?, known(&figures.to_currency)?);
        let (from, to) = (|money| of_from.amount(money), |money| of_to.amount(money));
        let base_decimals = cx.business()?.currency_decimals;
        let rate = figures.to_amount.decimal() / asked.amount.decimal();
        Ok(ContraEntryView {
            keeping: kept!(row),
            head: HeadView::of(cx, ResourceKey::ContraEntries, &row)?,
            from_account_id: asked.from,
            to_account_id: asked.to,
            amount: from(asked.amount),
            to_amount: to(figures.to_amount),
            fee_amount: to(asked.fee),
            fee_account_id: asked.fee_account,
            exchange_rate: Rate::parse(&rate.round_dp(Rate::PLACES).to_string())
                .map_err(|_| Error::internal("a transfer has no rate"))?,
            fx_gain_loss: figures.gain.shown(base_decimals),
            base_total: figures.base_total.shown(base_decimals),
            currency: figures.from_currency.clone(),
            to_currency: figures.to_currency.clone(),
        })
    }
}

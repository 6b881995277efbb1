//! Contra entries: money moved from one of the company's own accounts to another.
//!
//! Owns: what leaves, what arrives, the fee between, and the exchange difference against what the money was
//! carried at. Refuses: accounts that do not hold money.

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
use books::chart::{Account, Chart};
use books::cx::Cx;
use books::rates::{Given, check_worth};
use kit::list::Reads;
use kit::master::{RecordKeeping, kept};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use rules::exchange::Valued;
use rules::postable::{Free, Postable};
use rules::posting::{About as Detail, Line, Posting};
use rules::purpose::Purpose as For;
use rules::refusal::Refusal;
use schema::key::ResourceKey;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus, EntryKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use words::exact::Exact;
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
        searched: "numbers that begin so or, where there are none, in number, reference and narration",
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
        // What leaves or arrives in the company's currency is worth what it is.
        let (relieved, arrived) = match (from_currency == base, to_currency == base) {
            (true, true) => (asked.amount.at_par(), to_amount.at_par()),
            // What foreign money costs is what it is carried at from now on.
            (true, false) => (asked.amount.at_par(), asked.amount.at_par()),
            (false, to_base) => {
                if purpose == Purpose::Posting {
                    cx.flush().await?;
                }
                let held = carried(cx, asked.from, from_currency, head.date).await?;
                let held = if sown(Fault::SoldAtWhatItBrings) { (Money::ZERO, BookMoney::ZERO) } else { held };
                let arrives = to_base.then_some(to_amount.at_par());
                let relieved = relief(business, asked.amount, held, arrives)?;
                (relieved, arrives.unwrap_or(relieved))
            }
        };
        let fee_in_base = share(business, arrived, asked.fee, to_amount)?;
        let gain = arrived.checked_sub(relieved).ok_or_else(|| too_large("amount"))?;
        let figures = ContraFigures {
            from_currency: from_currency.clone(),
            to_currency: to_currency.clone(),
            to_amount,
            fee_account: accounts.fee.as_ref().map(Free::id),
            gain,
            base_total: relieved,
        };
        let entries = match purpose {
            Purpose::Draft => Vec::new(),
            Purpose::Posting => vec![SettledEntry {
                kind: EntryKind::Normal,
                date: head.date,
                field: "date",
                posting: posting(business, (&chart, accounts.fee), asked, &figures, (relieved, arrived, fee_in_base))?,
            }],
        };
        Ok(Settled {
            subkind: None,
            party: None,
            currency: from_currency.clone(),
            total: asked.amount,
            total_in: None,
            base_total: relieved,
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

struct Accounts<'c> {
    from: &'c Account,
    to: &'c Account,
    fee: Option<Free>,
}

fn judge<'c>(business: &Business, chart: &'c Chart, asked: &ContraAsked) -> Result<Accounts<'c>> {
    let mut faults = FieldErrors::default();
    let mut note = |field: &str, refusal: &Refusal| faults.add(field, refusal.to_string());
    let mut find = |field: &str, id: RecordId| {
        if let Err(refusal) = chart.judge(id, For::MoneyMoved) {
            note(field, &refusal);
        }
        chart.account(id)
    };
    let from = find("fromAccountId", asked.from);
    let to = find("toAccountId", asked.to);
    let fee = match (asked.fee == Money::ZERO, asked.fee_account) {
        (true, _) => None,
        (false, None) => Some(chart.roles().bank_fees.clone()),
        (false, Some(id)) => chart.free(id, For::Fee).inspect_err(|refusal| note("feeAccountId", refusal)).ok(),
    };
    let (Some(from), Some(to)) = (from, to) else { return Err(faults.into()) };
    let base = &business.base_currency;
    let (from_currency, to_currency) = (from.currency_or(base), to.currency_or(base));
    for (field, money, currency) in [
        ("amount", Some(asked.amount), from_currency),
        ("toAmount", asked.to_amount, to_currency),
        ("feeAmount", Some(asked.fee), to_currency),
    ] {
        let decimals = Currency::known(currency, "an account of money")?.decimals();
        if money.is_some_and(|money| !money.fits(decimals)) {
            faults.add(field, format!("must have at most {decimals} decimal places in {currency}"));
        }
    }
    match asked.to_amount {
        None if from_currency != to_currency => {
            faults.add("toAmount", format!("is required: how many {to_currency} arrive?"));
        }
        Some(to_amount) if from_currency == to_currency && to_amount != asked.amount => {
            faults.add("toAmount", "must be the same as the amount within one currency; a fee goes to feeAmount");
        }
        _ => {}
    }
    if asked.fee >= asked.to_amount.unwrap_or(asked.amount) && asked.fee > Money::ZERO {
        faults.add("feeAmount", "must be less than what arrives");
    }
    if faults.is_empty() { Ok(Accounts { from, to, fee }) } else { Err(faults.into()) }
}

fn too_large(field: &str) -> Error {
    Error::field(field, "comes to more than can be kept")
}

/// What leaves an account in the company's currency: the share of what it is carried at. Of more than it holds
/// nothing is carried; then what arrives says what it was worth.
fn relief(
    business: &Business,
    amount: Money,
    held: (Money, BookMoney),
    arrives: Option<BookMoney>,
) -> Result<BookMoney> {
    let (held, carried_at) = held;
    if held >= amount && held > Money::ZERO && carried_at > BookMoney::ZERO {
        return share(business, carried_at, amount, held);
    }
    arrives.ok_or_else(|| {
        Error::field(
            "amount",
            "is more than the account holds, so that nothing says what it is worth in the company's currency",
        )
    })
}

/// `whole x part / of`, in the company's currency; all of it takes all.
fn share(business: &Business, whole: BookMoney, part: Money, of: Money) -> Result<BookMoney> {
    if part == of {
        return Ok(whole);
    }
    let exact = Exact::from(whole).times(part).and_then(|product| product.over(of));
    exact.and_then(|exact| exact.round(business.coin())).map_err(|_| too_large("amount"))
}

fn posting(
    business: &Business,
    (chart, fee_account): (&Chart, Option<Free>),
    asked: &ContraAsked,
    figures: &ContraFigures,
    (relieved, arrived, fee): (BookMoney, BookMoney, BookMoney),
) -> Result<Posting> {
    let home = business.home();
    let line = |field: &str, to: Postable, amount: Valued| {
        Line::on(to, amount, Detail::default()).map_err(|refusal| refusal.at(field))
    };
    let money = |field: &str, id: RecordId, currency: &str| {
        chart.money(id, currency).map(Postable::from).map_err(|refusal| refusal.at(field))
    };
    let to = money("toAccountId", asked.to, &figures.to_currency)?;
    let from = money("fromAccountId", asked.from, &figures.from_currency)?;
    let arrives = figures.to_amount.minus(asked.fee).map_err(|_| too_large("amount"))?;
    let worth = arrived.minus(fee).map_err(|_| too_large("amount"))?;
    let mut lines = vec![line("toAccountId", to, home.carried(arrives, &figures.to_currency, worth))?];
    if let Some(account) = fee_account {
        lines.push(line("feeAccountId", account.into(), home.carried(asked.fee, &figures.to_currency, fee))?);
    }
    let leaves = home.carried(asked.amount, &figures.from_currency, relieved).negated();
    lines.push(line("fromAccountId", from, leaves)?);
    if figures.gain != BookMoney::ZERO {
        let exchange = chart.roles().realised_exchange.clone();
        lines.push(line("amount", exchange.into(), home.alone(figures.gain.negated()))?);
    }
    Posting::balanced(lines).map_err(|_| too_large("amount"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_is_relieved_at_what_it_is_carried_at() {
        let business = Business::sample();
        let money = |text: &str| Money::parse(text).unwrap();
        let worth = |text: &str| BookMoney::parse(text).unwrap();
        let relief = |amount, held, carried, arrives: Option<&str>| {
            let held = (money(held), worth(carried));
            relief(&business, money(amount), held, arrives.map(worth)).ok().map(|worth| worth.to_string())
        };
        assert_eq!(relief("1000", "1000", "910", Some("925")), Some("910".into()));
        assert_eq!(relief("400", "1000", "910", Some("380")), Some("364".into()));
        assert_eq!(relief("1", "3", "1", Some("0.4")), Some("0.33".into()));
        assert_eq!(relief("1200", "1000", "910", Some("1100")), Some("1100".into()));
        assert_eq!(relief("1200", "1000", "910", None), None);
    }
}

//! Revaluations: what money and debts in other currencies are worth at the end of a period.
//!
//! The difference to what they are carried at is posted as unrealised, and taken back on the next day. Control accounts
//! are not touched: the difference stands on accounts of their own, so that what parties owe stays what it is.

mod worth;

use crate::currency::{Currency, CurrencyCode};
use crate::day::Day;
use crate::document::{
    self, Before, Content, Document, Draft, Head, HeadInput, HeadView, Purpose, Settled, document_operations,
    document_rows,
};
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Once, Text};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Rate};
use books::Leaving;
use books::access::Business;
use books::cx::Cx;
use kit::master::{RecordKeeping, kept};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use schema::key::ResourceKey;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use words::sown::{Fault, sown};
pub use worth::renew;
use worth::{Revalued, open_in_other_currencies, revalued, to_post};

pub struct Revaluations;

/// What a client sends to create or replace a revaluation.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct RevaluationInput {
    /// The last day of the period; what it posts is taken back on the next.
    date: Field<Day>,
    /// What other currencies are worth on that day; the company's rates of the day for those left out.
    #[schemars(extend("maxItems" = 200))]
    rates: Each<RevaluationRateInput>,
    /// `posted` or `draft`; as the company's settings say when absent. On an update, `void` takes it back.
    status: Maybe<DocumentStatus>,
    /// Its number, where the series takes numbers by hand.
    number: Maybe<Text<50>>,
    /// The number series; the default one when absent.
    series_id: Maybe<RecordId>,
    /// A number or text of the other side.
    reference: Maybe<Text<100>>,
    /// What it is about; its ledger entries say the same.
    narration: Maybe<Text<1000>>,
    /// Its identifier in another system; unique among revaluations.
    external_id: Maybe<Text<200>>,
    /// Labels of your own, at most 50.
    #[schemars(extend("maxItems" = 50))]
    tags: Each<Label<50>>,
}

/// What another currency is worth.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct RevaluationRateInput {
    /// The currency.
    currency: Field<CurrencyCode>,
    /// What one unit of it is worth in the company's.
    rate: Field<Rate>,
}

/// What another currency is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevaluationRate {
    /// The currency.
    currency: String,
    /// What one unit of it is worth in the company's.
    rate: Rate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RevaluationAsked {
    rates: Vec<RevaluationRate>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RevaluationFigures {
    lines: Vec<Revalued>,
    gain: BookMoney,
}

/// What other currencies were worth at the end of a period.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Revaluation")]
pub struct RevaluationView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    #[serde(flatten)]
    head: HeadView,
    /// The rates that were given with it.
    rates: Vec<RevaluationRate>,
    /// What was revalued, by account and currency.
    lines: Vec<RevaluationLineView>,
    /// What is gained in all, in the company's currency; a loss is negative.
    unrealised_gain: Amount,
}

/// One account in one currency.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RevaluationLine")]
pub struct RevaluationLineView {
    /// The account.
    account_id: RecordId,
    /// The currency.
    currency: String,
    /// What there is of it; what is owed is negative.
    amount: Amount,
    /// What that is carried at, in the company's currency.
    carried_amount: Amount,
    /// What one unit of the currency is worth.
    exchange_rate: Rate,
    /// What it is worth.
    revalued_amount: Amount,
    /// What is gained by that; a loss is negative.
    difference: Amount,
}

impl AsRef<RecordKeeping> for RevaluationView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

impl Resource for Revaluations {
    const KEY: ResourceKey = ResourceKey::Revaluations;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a revaluation",
        many: "revaluations",
        description: "What money and debts in other currencies are worth at the end of a period. The difference to what \
                      they are carried at is an unrealised gain or loss; it is taken back on the next day by itself. What is \
                      entered late for its day or before makes it anew, on its day and the next.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference and narration",
    };
    type Input = RevaluationInput;
    type Draft = Draft<RevaluationAsked>;
    type View = RevaluationView;

    fn example() -> serde_json::Value {
        json!({
            "date": "2026-11-30",
            "rates": [{ "currency": "USD", "rate": 0.95 }],
            "status": "posted",
            "number": null,
            "seriesId": null,
            "reference": null,
            "narration": "End of November",
            "externalId": null,
            "tags": []
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "number": "RV-2026-0011",
            "postedAt": "2026-11-30T17:30:00.000000Z",
            "voidDate": null,
            "voidReason": null,
            "entryIds": ["019a9f6e-6c00-7a97-8b43-8daf2e4a6c07", "019a9f6e-6c00-7a98-8c54-9eb03f5b7d08"],
            "allowedActions": ["edit", "void", "copy"],
            "lines": [{
                "accountId": "019a9f6e-6c00-7b27-8016-b2d3f4657027", "currency": "USD", "amount": 1000, "carriedAmount": 900,
                "exchangeRate": 0.95, "revaluedAmount": 950, "difference": 50
            }],
            "unrealisedGain": 50
        })
    }

    fn check(_: Option<&Business>, input: RevaluationInput) -> Result<Self::Draft, FieldErrors> {
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
        let (mut currencies, mut again) = (Once::default(), false);
        let mut rates: Vec<RevaluationRate> = faults.each("rates", input.rates, |faults, input| {
            again |= currencies.is_second(&input.currency);
            let given = matches!(input.rate, Field::Given(_));
            let rate = RevaluationRate {
                currency: faults.required("currency", input.currency).into_inner(),
                rate: faults.required("rate", input.rate),
            };
            if given && rate.rate <= Rate::ZERO {
                faults.add("rate", "must be more than 0");
            }
            rate
        });
        rates.sort_by(|left, right| left.currency.cmp(&right.currency));
        if again {
            faults.add("rates", "must name each currency once");
        }
        faults.finish(Draft { head, asked: RevaluationAsked { rates } })
    }

    document_operations!();
}

impl Rows for Revaluations {
    document_rows!();

    fn filters() -> Vec<Filter<Column>> {
        document::filters()
    }
}

impl Document for Revaluations {
    const KIND: DocumentKind = DocumentKind::Revaluation;
    type Asked = RevaluationAsked;
    type Figures = RevaluationFigures;
    type Live = ();

    fn words(_: &RevaluationAsked) -> Vec<String> {
        Vec::new()
    }

    fn parties(_: &mut RevaluationAsked) -> Vec<&mut RecordId> {
        Vec::new()
    }

    fn identify(
        _: &Cx<'_>,
        asked: &RevaluationAsked,
        _: Option<Before<'_, RevaluationAsked>>,
    ) -> Result<RevaluationAsked> {
        Ok(asked.clone())
    }

    async fn settle(
        cx: &Cx<'_>,
        head: &Head,
        asked: &RevaluationAsked,
        purpose: Purpose,
    ) -> Result<Settled<RevaluationFigures>> {
        let business = cx.business()?;
        let chart = cx.chart().await?;
        cx.flush().await?;
        if purpose == Purpose::Posting {
            check_first(cx, head).await?;
            if head.date == Day::LAST {
                return Err(Error::field("date", "must have a day after it, on which it is taken back"));
            }
        }
        let open = open_in_other_currencies(cx, &chart, business, head).await?;
        let mut rates: BTreeMap<&str, Rate> = asked.rates.iter().map(|one| (one.currency.as_str(), one.rate)).collect();
        let mut faults = FieldErrors::default();
        for (_, currency, _, _) in &open {
            if rates.contains_key(currency.as_str()) {
                continue;
            }
            match books::rates::on(cx, currency, head.date).await? {
                Some(rate) => {
                    rates.insert(currency, rate);
                }
                None => faults.add("rates", format!("must name {currency}: there is no rate for the day")),
            }
        }
        if !faults.is_empty() {
            return Err(faults.into());
        }
        let figures = revalued(&open, &rates, business.coin())
            .ok_or_else(|| Error::field("rates", "make more of it than can be kept"))?;
        let entries = match purpose {
            Purpose::Draft => Vec::new(),
            Purpose::Posting => to_post(&chart, business, head, &figures)?,
        };
        Ok(Settled {
            subkind: None,
            party: None,
            currency: business.base_currency.clone(),
            // A revaluation is in the company's currency.
            total: figures.gain.at_par(),
            total_in: None,
            base_total: figures.gain,
            entries,
            open: Vec::new(),
            lines: Vec::new(),
            stock: None,
            progress: None,
            figures,
        })
    }

    /// On a later day nothing of it is left to be void, and its own days would go on without what makes them anew.
    async fn release(_: &Cx<'_>, row: &documents::Model, leaving: Leaving, on: Option<Day>) -> Result<()> {
        if leaving == Leaving::Replaced || on.is_none_or(|on| on <= row.date) || sown(Fault::RevaluationVoidLater) {
            return Ok(());
        }
        let own = row.date;
        Err(Error::Conflict(Conflict {
            code: Code::PeriodLocked,
            title: format!("A revaluation is void on its own day, {own}: on the next it was taken back by itself"),
            errors: FieldErrors::one("date", format!("must be {own}, in an open period")),
        }))
    }

    fn view(
        cx: &Cx<'_>,
        row: documents::Model,
        content: Content<RevaluationAsked, RevaluationFigures>,
        (): (),
    ) -> Result<RevaluationView> {
        let currency_decimals = cx.business()?.currency_decimals;
        let base = |money: BookMoney| money.shown(currency_decimals);
        let Content { asked, figures } = content;
        let line = |line: Revalued| {
            let known = Currency::known(&line.currency, format_args!("a line of revaluation {}", row.id))?;
            Ok(RevaluationLineView {
                account_id: line.account,
                amount: known.amount(line.amount),
                currency: line.currency,
                carried_amount: base(line.carried),
                exchange_rate: line.rate,
                revalued_amount: base(line.worth),
                difference: base(line.difference),
            })
        };
        Ok(RevaluationView {
            keeping: kept!(row),
            head: HeadView::of(cx, ResourceKey::Revaluations, &row)?,
            rates: asked.rates,
            lines: figures.lines.into_iter().map(line).collect::<Result<_>>()?,
            unrealised_gain: base(figures.gain),
        })
    }
}

/// A day is revalued once: what a second one found would already be on the books.
async fn check_first(cx: &Cx<'_>, head: &Head) -> Result<()> {
    let same = documents::Entity::find()
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(Column::Kind.eq(DocumentKind::Revaluation))
        .filter(Column::Status.eq(DocumentStatus::Posted))
        .filter(Column::Date.eq(head.date))
        .filter(Column::Number.ne(head.number.as_deref().unwrap_or("")));
    if same.count(&cx.db).await? == 0 {
        return Ok(());
    }
    Err(Error::Conflict(Conflict {
        code: Code::Duplicate,
        title: "The day was revalued already; void that revaluation first".into(),
        errors: FieldErrors::one("date", format!("{} was revalued already", head.date)),
    }))
}

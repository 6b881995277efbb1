//! Revaluations: what money and debts in other currencies are worth at the end of a period.
//!
//! The difference to what they are carried at is posted as unrealised, and taken back on the next day. Control accounts
//! are not touched: the difference stands on accounts of their own, so that what parties owe stays what it is.

use crate::currency::{Currency, CurrencyCode};
use crate::day::Day;
use crate::document::{
    self, Before, Content, Document, Draft, Head, HeadInput, HeadView, Purpose, Settled, SettledEntry,
    document_operations, document_rows,
};
use crate::error::{Conflict, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, Money, Rate, Rounding};
use books::Leaving;
use books::access::Business;
use books::balances::{balances, sum};
use books::chart::Chart;
use books::cx::{Cx, Point};
use books::periods::Module;
use kit::master::{RecordKeeping, kept};
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use rules::account::AccountType;
use rules::postable::Postable;
use rules::posting::{About as Detail, Line, Posting, Valued};
use rules::refusal::Refusal;
use schema::key::ResourceKey;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus, EntryKind, entries, entry_lines};
use schemars::JsonSchema;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use words::sown::{Fault, sown};
use words::sums::Sums as _;

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
    gain: Money,
}

/// One account in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Revalued {
    account: RecordId,
    currency: String,
    amount: Money,
    carried: Money,
    rate: Rate,
    worth: Money,
    difference: Money,
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
        searched: "number, reference and narration",
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
        let mut rates: Vec<RevaluationRate> = faults.each("rates", input.rates, |faults, input| {
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
        if rates.windows(2).any(|pair| pair[0].currency == pair[1].currency) {
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
    const MODULE: Module = Module::Journal;
    type Asked = RevaluationAsked;
    type Figures = RevaluationFigures;
    type Live = ();

    fn words(_: &RevaluationAsked) -> Vec<String> {
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
        let figures = revalued(&open, &rates, business.settings.rounding_mode.rounding(), business.currency_decimals)
            .ok_or_else(|| Error::field("rates", "make more of it than can be kept"))?;
        let entries = match purpose {
            Purpose::Draft => Vec::new(),
            Purpose::Posting => to_post(&chart, business, head, &figures)?,
        };
        Ok(Settled {
            subkind: None,
            party: None,
            currency: business.base_currency.clone(),
            total: figures.gain,
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
            code: "period_locked",
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
        let base = |money| Amount { money, currency_decimals };
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
        code: "duplicate",
        title: "The day was revalued already; void that revaluation first".into(),
        errors: FieldErrors::one("date", format!("{} was revalued already", head.date)),
    }))
}

type Held = (RecordId, String, Money, Money);

/// What money and control accounts hold in other currencies, and what that is carried at.
async fn open_in_other_currencies(cx: &Cx<'_>, chart: &Chart, business: &Business, head: &Head) -> Result<Vec<Held>> {
    let accounts: Vec<RecordId> = chart
        .accounts()
        .filter(|account| account.r#type.holds_money() || account.r#type.is_control())
        .map(|account| account.id)
        .collect();
    let held = balances(cx, Some(&accounts), Point { as_of: Some(head.date), ..Point::default() }).await?;
    let itself = of_itself(cx, &accounts, head).await?;
    let mut open: Vec<Held> = held
        .into_iter()
        .filter(|((_, currency), _)| *currency != business.base_currency)
        .map(|(key, balance)| {
            let carried = balance.base - itself.sum_of(&key);
            (key.0, key.1, Money::from_units(balance.currency), Money::from_units(carried))
        })
        .filter(|(_, _, amount, carried)| (*amount, *carried) != (Money::ZERO, Money::ZERO))
        .collect();
    open.sort_by(|left, right| (left.0, &left.1).cmp(&(right.0, &right.1)));
    Ok(open)
}

/// What a revaluation has posted itself by its day, which is nothing that it finds.
async fn of_itself(cx: &Cx<'_>, accounts: &[RecordId], head: &Head) -> Result<HashMap<(RecordId, String), i64>> {
    let Some(number) = head.number.as_deref() else { return Ok(HashMap::new()) };
    let own = entries::Entity::find()
        .select_only()
        .column(entries::Column::Number)
        .filter(entries::Column::BusinessId.eq(cx.business_id()?))
        .filter(entries::Column::DocumentKind.eq(DocumentKind::Revaluation))
        .filter(entries::Column::DocumentNumber.eq(number))
        .filter(entries::Column::Date.lte(head.date));
    let lines: Vec<(RecordId, String, i64)> = entry_lines::Entity::find()
        .select_only()
        .columns([entry_lines::Column::AccountId, entry_lines::Column::Currency])
        .column_as(sum(cx, Expr::col(entry_lines::Column::Amount)), "base")
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::AccountId.is_in(accounts.iter().copied()))
        .filter(entry_lines::Column::EntryNumber.in_subquery(own.into_query()))
        .group_by(entry_lines::Column::AccountId)
        .group_by(entry_lines::Column::Currency)
        .into_tuple()
        .all(&cx.db)
        .await?;
    Ok(lines.into_iter().map(|(account, currency, base)| ((account, currency), base)).collect())
}

/// Makes anew what was revalued on days of which there is something else by now. It comes after a command, and with it.
pub async fn renew(cx: &Cx<'_>) -> Result<()> {
    let Some(since) = cx.changed_abroad().filter(|_| !sown(Fault::RevaluationNotRenewed)) else { return Ok(()) };
    let of_these = documents::Entity::find()
        .filter(Column::BusinessId.eq(cx.business_id()?))
        .filter(Column::Kind.eq(DocumentKind::Revaluation))
        .filter(Column::Status.eq(DocumentStatus::Posted))
        .filter(Column::Date.gte(since))
        .order_by_asc(Column::Date);
    if !cx.awaits(DocumentKind::Revaluation)? && of_these.clone().count(&cx.db).await? == 0 {
        return Ok(());
    }
    cx.check_undoable()?;
    cx.flush().await?;
    for row in of_these.all(&cx.db).await? {
        let old = document::found::<Revaluations>(cx, row).await?;
        let asked = RevaluationAsked { rates: rates_of(&old.content) };
        let settled =
            Revaluations::settle(cx, &old.head, &asked, Purpose::Posting).await.map_err(|error| match error {
                Error::Validation(faults) => {
                    let why: Vec<String> = faults.iter().flat_map(|(_, messages)| messages).cloned().collect();
                    let (number, date) = (old.head.number.as_deref().unwrap_or(""), old.head.date);
                    Error::conflict(
                        "invalid_state",
                        format!(
                            "{number} revalues {date} and {}; add an exchange rate of that day or before",
                            why.join(", ")
                        ),
                    )
                }
                other => other,
            })?;
        if settled.figures != old.content.figures {
            document::renew(cx, old, settled).await?;
            cx.flush().await?;
        }
    }
    Ok(())
}

/// What a revaluation was made with: the rates that were given with it, and those that it found.
fn rates_of(content: &Content<RevaluationAsked, RevaluationFigures>) -> Vec<RevaluationRate> {
    let found = content.figures.lines.iter().map(|line| (line.currency.clone(), line.rate));
    let given = content.asked.rates.iter().map(|one| (one.currency.clone(), one.rate));
    let all: BTreeMap<String, Rate> = found.chain(given).collect();
    all.into_iter().map(|(currency, rate)| RevaluationRate { currency, rate }).collect()
}

fn revalued(
    open: &[Held],
    rates: &BTreeMap<&str, Rate>,
    rounding: Rounding,
    decimals: u32,
) -> Option<RevaluationFigures> {
    let mut figures = RevaluationFigures::default();
    for (account, currency, amount, carried) in open {
        let rate = *rates.get(currency.as_str())?;
        let worth = rounding.money(amount.decimal().checked_mul(rate.decimal())?, decimals).ok()?;
        let difference = worth.checked_sub(*carried)?;
        figures.gain = figures.gain.checked_add(difference)?;
        figures.lines.push(Revalued {
            account: *account,
            currency: currency.clone(),
            amount: *amount,
            carried: *carried,
            rate,
            worth,
            difference,
        });
    }
    Some(figures)
}

fn to_post(chart: &Chart, business: &Business, head: &Head, figures: &RevaluationFigures) -> Result<Vec<SettledEntry>> {
    let base = &business.base_currency;
    let too_large = || Error::field("rates", "make more of it than can be kept");
    let refused = |refusal: Refusal| refusal.at("rates");
    let in_base =
        |to: Postable, amount: Money| Line::on(to, Valued::in_base(amount, base), Detail::default()).map_err(refused);
    let roles = chart.roles();
    let mut lines = Vec::new();
    for line in &figures.lines {
        let kind = chart.account(line.account).map(|account| account.r#type);
        lines.push(match kind {
            Some(AccountType::Receivable) => in_base(roles.receivable_revaluation.clone().into(), line.difference)?,
            Some(AccountType::Payable) => in_base(roles.payable_revaluation.clone().into(), line.difference)?,
            // Money is worth more or less itself; there is not more of it.
            _ => {
                let worth = Valued { base: line.difference, currency: line.currency.clone(), own: Money::ZERO };
                Line::on(chart.standing(line.account).map_err(refused)?, worth, Detail::default()).map_err(refused)?
            }
        });
        let back = line.difference.checked_neg().ok_or_else(too_large)?;
        lines.push(in_base(roles.unrealised_exchange.clone().into(), back)?);
    }
    let posting = Posting::balanced(lines).map_err(|_| too_large())?;
    let back = SettledEntry {
        kind: EntryKind::AutoReversal,
        date: head.date.next(),
        field: "date",
        posting: posting.reversed(head.date, head.date.next()),
    };
    let first = SettledEntry { kind: EntryKind::Revaluation, date: head.date, field: "date", posting };
    Ok(if sown(Fault::RevaluationStays) { vec![first] } else { vec![first, back] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_debt_is_worth_what_the_day_says() {
        let money = |text| Money::parse(text).unwrap();
        let open = [(RecordId::default(), "USD".to_owned(), money("1000"), money("900"))];
        let rates = BTreeMap::from([("USD", Rate::parse("0.95").unwrap())]);
        let figures = revalued(&open, &rates, Rounding::HalfUp, 2).unwrap();
        assert_eq!((figures.gain, figures.lines[0].worth), (money("50"), money("950")));
    }
}

//! Journals: postings that somebody writes by hand, line by line.
//!
//! Owns: that both sides are equal, in which currency a line is, which accounts it may name. Refuses: to write
//! to accounts that follow something else, such as the stock.

mod lines;
mod posting;
mod taxes;

use crate::currency::{Currency, CurrencyCode};
use crate::day::Day;
use crate::document::{
    self, Before, Content, Document, Draft, Head, HeadInput, HeadView, Purpose, Settled, document_operations,
    document_rows,
};
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, BookMoney, Money, Rate};
use crate::wire_enum;
use books::Leaving;
use books::access::Business;
use books::cx::Cx;
use kit::list::Reads;
use kit::master::{RecordKeeping, kept};
use kit::reference::Held;
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use lines::{JournalLineAsked, TaxAsked, check_lines, open_of};
pub use lines::{JournalLineInput, JournalLineView};
use posting::{Fault, entries_of, judge_line, lines_of, rates, sums};
use schema::key::ResourceKey;
use schema::tables::documents::{self, Column};
use schema::tables::{DocumentKind, DocumentStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use words::sown::{Fault as Sown, sown};

pub struct Journals;

wire_enum! {
    /// What a journal is for.
    pub enum JournalKind {
        #[default]
        General = "general",
        /// What there was before these books began; what is missing to balance goes to opening balances by itself.
        Opening = "opening",
        Closing = "closing",
        Adjustment = "adjustment",
        Accrual = "accrual",
    }
}

/// What a client sends to create or replace a journal.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct JournalInput {
    /// The day it counts for.
    date: Field<Day>,
    /// At least two lines, whose debits and credits are equal; at most 1000.
    #[schemars(extend("minItems" = 2, "maxItems" = 1000))]
    lines: Field<Vec<Field<JournalLineInput>>>,
    /// `posted` or `draft`; as the company's settings say when absent. On an update, `void` takes it back.
    status: Maybe<DocumentStatus>,
    /// Its number, where the series takes numbers by hand.
    number: Maybe<Text<50>>,
    /// The number series; the default one when absent.
    series_id: Maybe<RecordId>,
    /// What it is for; `general` when absent.
    kind: Maybe<JournalKind>,
    /// What it is about.
    narration: Maybe<Text<1000>>,
    /// A number or text of the other side.
    reference: Maybe<Text<100>>,
    /// Currency of its lines; the company's when absent.
    currency: Maybe<CurrencyCode>,
    /// What one unit of its currency is worth in the company's; the company's rate of the day when absent.
    exchange_rate: Maybe<Rate>,
    /// A later day on which it takes itself back.
    reverse_on: Maybe<Day>,
    /// The day that its tax counts for; the date when absent.
    tax_date: Maybe<Day>,
    /// The journal's identifier in another system; unique among journals.
    external_id: Maybe<Text<200>>,
    /// Labels of your own, at most 50.
    #[schemars(extend("maxItems" = 50))]
    tags: Each<Label<50>>,
}

/// A journal, checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalAsked {
    kind: JournalKind,
    currency: Option<String>,
    exchange_rate: Option<Rate>,
    reverse_on: Option<Day>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tax_date: Option<Day>,
    lines: Vec<JournalLineAsked>,
    /// The year that it closes, where the books made it by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fiscal_year: Option<RecordId>,
    /// What the version before it named.
    #[serde(skip)]
    held: Held,
}

impl JournalAsked {
    /// What closes a year: these amounts, debits positive.
    pub(crate) fn closing(year: RecordId, amounts: impl IntoIterator<Item = (RecordId, BookMoney)>) -> Self {
        // It names no currency, and so is in the company's.
        let line = |(account, amount): (RecordId, BookMoney)| JournalLineAsked {
            id: None,
            account,
            party: None,
            amount: amount.at_par(),
            description: None,
            due_date: None,
            currency: None,
            exchange_rate: None,
            tax: TaxAsked::default(),
        };
        Self {
            kind: JournalKind::Closing,
            currency: None,
            exchange_rate: None,
            reverse_on: None,
            tax_date: None,
            lines: amounts.into_iter().map(line).collect(),
            fiscal_year: Some(year),
            held: Held::default(),
        }
    }

    pub(crate) fn closes(&self, year: RecordId) -> bool {
        self.fiscal_year == Some(year)
    }
}

/// What the lines come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalFigures {
    /// In the currency of the totals.
    debit: Money,
    credit: Money,
    totals_in: String,
    base_debit: BookMoney,
    /// Line by line, in the company's currency; a debit is positive.
    base: Vec<BookMoney>,
}

/// A posting that somebody wrote by hand.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Journal")]
pub struct JournalView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    #[serde(flatten)]
    head: HeadView,
    /// What it is for.
    kind: JournalKind,
    /// Currency of its lines, where they do not say.
    currency: String,
    /// What one unit of its currency is worth in the company's.
    exchange_rate: Option<Rate>,
    /// A later day on which it takes itself back.
    reverse_on: Option<Day>,
    /// The day that its tax counts for; the date when null.
    tax_date: Option<Day>,
    /// The lines.
    lines: Vec<JournalLineView>,
    /// Sum of the debits: in the journal's currency if all lines are in it, else in the company's.
    total_debit: Amount,
    /// Sum of the credits, in the same currency.
    total_credit: Amount,
    /// Sum of the debits in the company's currency.
    base_total: Amount,
}

impl AsRef<RecordKeeping> for JournalView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

impl Resource for Journals {
    const KEY: ResourceKey = ResourceKey::Journals;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a journal",
        many: "journals",
        description: "Postings that somebody writes by hand: debits and credits of equal sums. A posted journal is \
                      changed by a reversal and a new entry, and voided by a reversal.",
        sorts: document::SORTS,
        searched: "numbers that begin so, totals or, where there are none, in number, reference, narration and the lines' descriptions",
    };
    type Input = JournalInput;
    type Draft = Draft<JournalAsked>;
    type View = JournalView;

    fn example() -> serde_json::Value {
        json!({
            "date": "2026-11-20",
            "status": "posted",
            "number": null,
            "seriesId": null,
            "kind": "general",
            "narration": "Rent for November",
            "reference": "RENT-11",
            "currency": "EUR",
            "exchangeRate": null,
            "reverseOn": null,
            "taxDate": null,
            "externalId": null,
            "tags": ["rent"],
            "lines": [
                {
                    "accountId": "019a9f6e-6c00-7e75-8f21-6b8d0c2e4a05", "partyId": null, "debit": 1200, "credit": 0,
                    "description": "Office", "dueDate": null, "currency": "EUR", "exchangeRate": null,
                    "taxCodeId": null, "taxComponentId": null, "taxBase": null, "taxSide": null
                },
                {
                    "accountId": "019a9f6e-6c00-7f86-9a32-7c9e1d3f5b06", "partyId": null, "debit": 0, "credit": 1200,
                    "description": null, "dueDate": null, "currency": "EUR", "exchangeRate": null,
                    "taxCodeId": null, "taxComponentId": null, "taxBase": null, "taxSide": null
                }
            ]
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "number": "JV-2026-0004",
            "postedAt": "2026-11-20T09:30:00.000000Z",
            "voidDate": null,
            "voidReason": null,
            "entryIds": ["019a9f6e-6c00-7a97-8b43-8daf2e4a6c07"],
            "allowedActions": ["edit", "void", "copy"],
            "lines": [
                {
                    "id": "019a9f6e-6c00-7ca8-8e65-afc03f5b7d09", "lineNo": 1,
                    "accountId": "019a9f6e-6c00-7e75-8f21-6b8d0c2e4a05", "partyId": null, "debit": 1200, "credit": 0,
                    "description": "Office", "dueDate": null, "currency": "EUR", "exchangeRate": null,
                    "baseDebit": 1200, "baseCredit": 0,
                    "taxCodeId": null, "taxComponentId": null, "taxBase": null, "taxSide": null
                },
                {
                    "id": "019a9f6e-6c00-7db9-8f76-b0d14a6c8e10", "lineNo": 2,
                    "accountId": "019a9f6e-6c00-7f86-9a32-7c9e1d3f5b06", "partyId": null, "debit": 0, "credit": 1200,
                    "description": null, "dueDate": null, "currency": "EUR", "exchangeRate": null,
                    "baseDebit": 0, "baseCredit": 1200,
                    "taxCodeId": null, "taxComponentId": null, "taxBase": null, "taxSide": null
                }
            ],
            "totalDebit": 1200,
            "totalCredit": 1200,
            "baseTotal": 1200
        })
    }

    fn check(_: Option<&Business>, input: JournalInput) -> Result<Self::Draft, FieldErrors> {
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
        let reverse_on = faults.optional("reverseOn", input.reverse_on);
        if reverse_on.is_some_and(|day| day <= head.date && head.date != Day::default()) {
            faults.add("reverseOn", "must be after the date");
        }
        let exchange_rate = faults.optional("exchangeRate", input.exchange_rate);
        check_rate(&mut faults, exchange_rate);
        let asked = JournalAsked {
            kind: faults.optional("kind", input.kind).unwrap_or_default(),
            currency: faults.optional("currency", input.currency).map(CurrencyCode::into_inner),
            exchange_rate,
            reverse_on,
            tax_date: faults.optional("taxDate", input.tax_date),
            lines: check_lines(&mut faults, input.lines),
            fiscal_year: None,
            held: Held::default(),
        };
        faults.finish(Draft { head, asked })
    }

    document_operations!();
}

fn check_rate(faults: &mut Faults, rate: Option<Rate>) {
    if rate.is_some_and(|rate| rate <= Rate::ZERO) {
        faults.add("exchangeRate", "must be more than 0");
    }
}

impl Rows for Journals {
    document_rows!();

    fn filters() -> Vec<Filter<Column>> {
        let mut filters = document::filters();
        filters.extend([
            Filter::equal("kind", "Journals for these purposes.", Reads::AnyOf(JournalKind::TEXTS), Column::Subkind),
            Filter::looking("partyId", "Journals that name this party.", Reads::Party, document::naming_party),
        ]);
        filters
    }
}

impl Document for Journals {
    const KIND: DocumentKind = DocumentKind::Journal;
    type Asked = JournalAsked;
    type Live = ();
    type Figures = JournalFigures;

    fn words(asked: &JournalAsked) -> Vec<String> {
        asked.lines.iter().filter_map(|line| line.description.clone()).collect()
    }

    fn copied(asked: JournalAsked) -> JournalAsked {
        JournalAsked { fiscal_year: None, ..asked }
    }

    fn identify(cx: &Cx<'_>, asked: &JournalAsked, old: Option<Before<'_, JournalAsked>>) -> Result<JournalAsked> {
        let mut asked = asked.clone();
        asked.fiscal_year = asked.fiscal_year.or(old.as_ref().and_then(|old| old.asked.fiscal_year));
        if let Some(old) = old.as_ref().filter(|old| old.status != DocumentStatus::Draft) {
            asked.held = old.asked.lines.iter().filter_map(|line| line.tax.code).collect();
        }
        document::identify(cx, &mut asked.lines, old.map(|old| old.asked.lines.as_slice()))?;
        // The company's own currency is the same as none said.
        let base = &cx.business()?.base_currency;
        let journal_currency = asked.currency.take().filter(|currency| currency != base);
        for line in &mut asked.lines {
            let own = line.currency.take().unwrap_or_else(|| journal_currency.clone().unwrap_or_else(|| base.clone()));
            line.currency = Some(own).filter(|own| Some(own) != journal_currency.as_ref().or(Some(base)));
            let rate_of_journal = asked.exchange_rate;
            line.exchange_rate =
                line.exchange_rate.filter(|rate| line.currency.is_some() || Some(*rate) != rate_of_journal);
        }
        asked.currency = journal_currency;
        Ok(asked)
    }

    fn parties(asked: &mut JournalAsked) -> Vec<&mut RecordId> {
        asked.lines.iter_mut().filter_map(|line| line.party.as_mut()).collect()
    }

    async fn complete(cx: &Cx<'_>, head: &Head, mut asked: JournalAsked) -> Result<JournalAsked> {
        let base = &cx.business()?.base_currency;
        if let (Some(currency), None) = (&asked.currency, asked.exchange_rate) {
            asked.exchange_rate = books::rates::on(cx, currency, head.date).await?;
        }
        for line in &mut asked.lines {
            if let (Some(currency), None) = (&line.currency, line.exchange_rate)
                && currency != base
            {
                line.exchange_rate = books::rates::on(cx, currency, head.date).await?;
            }
        }
        Ok(asked)
    }

    async fn settle(
        cx: &Cx<'_>,
        head: &Head,
        asked: &JournalAsked,
        purpose: Purpose,
    ) -> Result<Settled<JournalFigures>> {
        let business = cx.business()?;
        let (chart, taxes) = (cx.chart().await?, cx.taxes().await?);
        let aliases = cx.aliases()?;
        let parties = asked.lines.iter().filter_map(|line| line.party).map(|party| aliases.meant(party));
        let known = cx.parties(parties).await?;
        let mut faults = FieldErrors::default();
        for (index, line) in asked.lines.iter().enumerate() {
            judge_line(&mut Fault(&mut faults, index), business, &chart, asked, line, &known, purpose)?;
            taxes::judge(&mut Fault(&mut faults, index), (business, &chart, &taxes), asked, line);
        }
        if asked.kind == JournalKind::Closing && !crate::fiscal_year::ends_on(cx, head.date).await? {
            faults.add("date", "must be the last day of a fiscal year: what closes one lies between it and the next");
        }
        let rates = rates(business, asked, &mut faults);
        if !faults.is_empty() {
            return Err(faults.into());
        }
        let settled = sums(business, asked, &rates)?;
        let (open, entries) = match purpose {
            Purpose::Draft => (Vec::new(), Vec::new()),
            Purpose::Posting => {
                let lines = lines_of(business, &chart, asked, &settled.base).map_err(|why| why.at("lines"))?;
                let told = taxes::Told { business, chart: &chart, taxes: &taxes, known: &known, asked, rates: &rates };
                let lines = told.lines(asked.tax_date.unwrap_or(head.date), lines)?;
                let open = open_of(&chart, (head, asked), &lines, || RecordId(cx.new_id()));
                (open, entries_of(business, &chart, head, asked, &settled, lines)?)
            }
        };
        Ok(Settled {
            subkind: Some(asked.kind.to_string()),
            party: None,
            currency: asked.currency.clone().unwrap_or_else(|| business.base_currency.clone()),
            total: settled.debit,
            total_in: Some(settled.totals_in.clone()),
            base_total: settled.base_debit,
            entries,
            open,
            lines: Vec::new(),
            stock: None,
            progress: None,
            figures: settled,
        })
    }

    fn tax_date(asked: &JournalAsked) -> Option<Day> {
        asked.tax_date
    }

    async fn release(cx: &Cx<'_>, row: &documents::Model, leaving: Leaving, on: Option<Day>) -> Result<()> {
        let content: Content<JournalAsked, JournalFigures> = row.kept()?;
        if let Some(year) = content.asked.fiscal_year {
            crate::year_end::check_goes(cx, year).await?;
        }
        let later = leaving == Leaving::ForGood && on.is_some_and(|on| on > row.date);
        if content.asked.kind == JournalKind::Closing && later && !sown(Sown::ClosingVoidLater) {
            // On another day it would lie between two other years, or in one.
            let own = row.date;
            return Err(Error::Conflict(Conflict {
                code: Code::PeriodLocked,
                title: format!("What closes a year is void on its own day, {own}, where it lies between the years"),
                errors: FieldErrors::one("date", format!("must be {own}, in an open period")),
            }));
        }
        Ok(())
    }

    fn view(
        cx: &Cx<'_>,
        row: documents::Model,
        content: Content<JournalAsked, JournalFigures>,
        (): (),
    ) -> Result<JournalView> {
        let business = cx.business()?;
        let Content { asked, figures } = content;
        let base = |units: i64| BookMoney::from_units(units).shown(business.currency_decimals);
        let known = |currency: &str| Currency::known(currency, format_args!("journal {}", row.id));
        let of_totals = known(&figures.totals_in)?;
        let totals = |money| of_totals.amount(money);
        let journal_currency = asked.currency.clone().unwrap_or_else(|| business.base_currency.clone());
        let line = |((line, in_base), line_no): ((JournalLineAsked, &BookMoney), i64)| {
            let currency = line.currency.clone().unwrap_or_else(|| journal_currency.clone());
            let of_line = known(&currency)?;
            let own = |units: i64| of_line.amount(Money::from_units(units));
            Ok(JournalLineView {
                id: line.id,
                line_no,
                account_id: line.account,
                party_id: line.party,
                debit: own(line.amount.units().max(0)),
                credit: own(-line.amount.units().min(0)),
                description: line.description,
                due_date: line.due_date,
                exchange_rate: line.exchange_rate.or(asked.exchange_rate.filter(|_| line.currency.is_none())),
                base_debit: base(in_base.units().max(0)),
                base_credit: base(-in_base.units().min(0)),
                tax_code_id: line.tax.code,
                tax_component_id: line.tax.component,
                tax_base: line.tax.base.map(|base| own(base.units())),
                tax_side: line.tax.side,
                currency,
            })
        };
        Ok(JournalView {
            keeping: kept!(row),
            head: HeadView::of(cx, ResourceKey::Journals, &row)?,
            kind: asked.kind,
            exchange_rate: asked.exchange_rate,
            reverse_on: asked.reverse_on,
            tax_date: asked.tax_date,
            lines: asked.lines.clone().into_iter().zip(&figures.base).zip(1..).map(line).collect::<Result<_>>()?,
            total_debit: totals(figures.debit),
            total_credit: totals(figures.credit),
            base_total: base(figures.base_debit.units()),
            currency: journal_currency,
        })
    }
}

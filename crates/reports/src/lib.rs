//! Reports: every figure a bookkeeper closes a year with, each with the identity that proves it.
//!
//! A report gathers what it needs by the shared sums ([`books::sums`], [`books::balances`]) and folds it
//! into one sheet; the fold knows no database. All have one shape ([`sheet`]), read one way ([`asked`]), and are made in
//! one snapshot. Owns: what a report is called, takes and says. Refuses: to keep anything.

mod aging;
mod asked;
mod basis;
mod cash;
mod cash_flow;
mod csv;
mod form;
mod goods;
mod ledger;
mod lines;
mod proof;
mod samples;
mod settled;
mod sheet;
mod statement;
mod statements;
mod tax;
mod then;
mod trade;

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use ::books::BEFORE_THE_FIRST;
use ::books::apart::standing;
use ::books::aside;
use ::books::balances::last_known;
use ::books::cx::Cx;
use ::books::database::lane::BoxFuture;
use answers::Ask;
use answers::wanted;
use asked::{Asked, Basis, Window};
use form::{Form, SchemaOf};
use kit::extra::{Csv, Does, Extra, NoWords, On, Produced, Reading, Weight};
use kit::feed::Portions;
use kit::list::{ListQuery, PAGES, Page, Pagination, Parameter, Reads};
use kit::operation::{ResourceOperations, Verb};
use kit::resource::NoRecord;
use kit::resource::{About, Resource, Scope};
use kit::rows::read_only;
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::books;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sheet::{Cell, Check, Column, Row, Sheet};
use std::collections::BTreeMap;
use std::marker::PhantomData;
pub use tax::CashDue;

pub(crate) use words::{clock, currency, day, error, ids, money, stored, wire_enum};

/// What can be asked of them.
pub fn operations() -> Vec<ResourceOperations> {
    vec![ResourceOperations::of::<Reports>()]
}

pub struct Reports;

/// One report.
pub(crate) trait Report: Send + Sync + 'static {
    /// Its segment of the path.
    const NAME: &'static str;
    /// Ends the operation's identifier: `reportsProfitAndLoss`.
    const OPERATION: &'static str;
    const TITLE: &'static str;
    const ABOUT: &'static str;
    const PARAMETERS: &'static [Parameter];
    /// Whether it comes in pages.
    const PAGED: bool = false;
    /// The resource whose right it needs.
    const NEEDS: ResourceKey = ResourceKey::Reports;
    /// What it costs.
    const WEIGHT: Weight = Weight::Dear;
    /// What its columns and figures hold.
    const FORM: Form;
    /// What it is made of.
    type Facts: Send;

    fn gather(cx: &Cx<'_>, asked: &Asked) -> impl Future<Output = Result<Self::Facts>> + Send;
    fn fold(facts: Self::Facts, asked: &Asked) -> Result<Sheet>;
}

/// A report, as it is answered.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Report")]
pub struct ReportView {
    /// The name of the report.
    report: &'static str,
    /// What it is called.
    title: &'static str,
    /// The company.
    business_id: BusinessId,
    /// The currency of all amounts, where a column says nothing else.
    currency: String,
    /// When what is earned counts: `accrual`, or `cash` where that was asked for.
    basis: Basis,
    /// What was asked, with what was left out.
    parameters: Map<String, Value>,
    /// When it was made.
    generated_at: Instant,
    /// The number of the last entry that is in it: two reports with the same number describe the same books.
    ledger_sequence: i64,
    /// What the values of a row are.
    columns: Vec<Column>,
    /// The rows, with those below them.
    rows: Vec<Row>,
    /// Figures of the whole.
    totals: BTreeMap<String, Cell>,
    /// The identities that it satisfies.
    checks: Vec<Check>,
    /// The page, where the report comes in pages.
    pagination: Option<Pagination>,
}

/// A report that there is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportOffer {
    /// Its name, the last segment of its path.
    name: &'static str,
    /// What it is called.
    title: &'static str,
    /// What it tells.
    description: &'static str,
    /// What can be asked of it.
    parameters: Vec<ReportParameter>,
}

/// Something that can be asked of a report.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportParameter {
    /// The name of the query parameter.
    name: &'static str,
    /// What it says.
    description: &'static str,
    /// Whether it must be given.
    required: bool,
    /// The words that it may be, where it is one of some.
    values: Vec<&'static str>,
}

/// The reports that there are.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReportList {
    /// All of them.
    items: Vec<ReportOffer>,
}

/// Every report, in the order in which they are listed.
fn all() -> Vec<(ReportOffer, Extra)> {
    vec![
        one::<statements::ProfitAndLoss>(),
        one::<statements::BalanceSheet>(),
        one::<statements::TrialBalance>(),
        one::<ledger::GeneralLedger>(),
        one::<ledger::DayBook>(),
        one::<cash_flow::CashFlow>(),
        one::<cash::EquityChanges>(),
        one::<aging::Aging<aging::Receivable>>(),
        one::<aging::AgingDetail<aging::Receivable>>(),
        one::<aging::Aging<aging::Payable>>(),
        one::<aging::AgingDetail<aging::Payable>>(),
        one::<statement::PartyStatement>(),
        one::<tax::TaxSummary>(),
        one::<tax::TaxDetail>(),
        one::<tax::TaxReturn>(),
        one::<goods::StockSummary>(),
        one::<goods::StockValuation>(),
        one::<goods::StockLedger>(),
        one::<goods::Waiting<goods::Received>>(),
        one::<goods::Waiting<goods::Delivered>>(),
        one::<trade::Traded<trade::SalesByCustomer>>(),
        one::<trade::Traded<trade::SalesByItem>>(),
        one::<trade::Traded<trade::PurchasesBySupplier>>(),
        one::<trade::Traded<trade::PurchasesByItem>>(),
        one::<trade::ItemProfitability>(),
        one::<trade::OpenOrders>(),
        one::<cash::FxGains>(),
        one::<proof::NumberGaps>(),
        one::<proof::AuditTrail>(),
    ]
}

fn one<R: Report>() -> (ReportOffer, Extra) {
    let own = R::PARAMETERS.iter().map(|parameter| ReportParameter {
        name: parameter.name,
        description: parameter.about,
        required: parameter.required,
        values: match parameter.reads {
            Reads::OneOf(words) => words.to_vec(),
            _ => Vec::new(),
        },
    });
    let of_pages = PAGES.iter().filter(|_| R::PAGED);
    let of_pages =
        of_pages.map(|(name, description)| ReportParameter { name, description, required: false, values: Vec::new() });
    let parameters = own.chain(of_pages).collect();
    let offer = ReportOffer { name: R::NAME, title: R::TITLE, description: R::ABOUT, parameters };
    let extra = Extra {
        name: R::OPERATION,
        segment: R::NAME,
        on: On::Collection,
        action: Action::View,
        answers: Some(R::NEEDS).filter(|key| *key != ResourceKey::Reports),
        summary: R::TITLE,
        description: R::ABOUT,
        does: Does::Reads(Reading {
            parameters: R::PARAMETERS,
            paged: R::PAGED,
            csv: Some(Csv {
                example: || csv::written(&form::example::<R>()),
                begin: || Box::new(Written::<R>::default()),
            }),
            weight: R::WEIGHT,
            ..Reading::json::<SchemaOf<R>>(run::<R>, example::<R>)
        }),
    };
    (offer, extra)
}

fn run<'c, R: Report>(cx: &'c Cx<'c>, _: Option<RecordId>, query: &'c ListQuery) -> BoxFuture<'c, Result<Produced>> {
    Box::pin(async move {
        let (last, apart) = standing(cx).await?;
        let asked = Asked::read(cx, query, apart).await?;
        let sequence = last_known(cx, asked.point).await?.unwrap_or(last);
        let facts = R::gather(cx, &asked).await?;
        wanted::still()?;
        let sheet = aside::computed(|| R::fold(facts, &asked))?;
        wanted::still()?;
        let business = cx.business()?;
        let pagination = sheet.count.map(|count| Pagination::of(query, count));
        let view = ReportView {
            report: R::NAME,
            title: R::TITLE,
            business_id: business.id,
            currency: asked.currency.clone().unwrap_or_else(|| business.base_currency.clone()),
            basis: asked.basis,
            parameters: asked.said(R::PARAMETERS),
            generated_at: cx.now,
            ledger_sequence: sequence,
            columns: sheet.columns,
            rows: sheet.rows,
            totals: sheet.totals,
            checks: sheet.checks,
            pagination: pagination.clone(),
        };
        Ok(Produced { pagination, ..aside::computed(|| Produced::json(&view))? })
    })
}

/// A report as comma-separated values; all of one that comes in pages, portion by portion. Each portion tells of the
/// entries and the records of the audit log that there were at the first one.
struct Written<R> {
    /// What is asked for next; nothing before the first portion.
    asked: Option<Asked>,
    ended: bool,
    of: PhantomData<fn() -> R>,
}

impl<R> Default for Written<R> {
    fn default() -> Self {
        Self { asked: None, ended: false, of: PhantomData }
    }
}

impl<R: Report> Portions for Written<R> {
    fn next<'c>(&'c mut self, cx: &'c Cx<'c>, query: &'c ListQuery) -> BoxFuture<'c, Result<Option<String>>> {
        Box::pin(async move {
            if self.ended {
                return Ok(None);
            }
            let first = self.asked.is_none();
            let mut asked = if let Some(asked) = self.asked.take() {
                asked
            } else {
                let (_, apart) = standing(cx).await?;
                Asked { window: Window::After(None), ..Asked::read(cx, query, apart).await? }
            };
            if first && R::PAGED {
                let books = books::Entity::find_by_id(cx.business_id()?).model(&cx.db).await?;
                let (entry, record) = books
                    .map_or((BEFORE_THE_FIRST, BEFORE_THE_FIRST), |books| (books.entry_number, books.audit_sequence));
                asked.point.until = Some(entry);
                asked.last_record = Some(record);
            }
            let facts = R::gather(cx, &asked).await?;
            wanted::still()?;
            let (text, next) = aside::computed(|| {
                let sheet = R::fold(facts, &asked)?;
                let mut text = if first { csv::head(&sheet) } else { String::new() };
                csv::write_rows(&mut text, &sheet.rows);
                Ok::<_, Error>((text, sheet.next))
            })?;
            match next {
                Some(mark) => self.asked = Some(Asked { window: Window::After(Some(mark)), ..asked }),
                None => self.ended = true,
            }
            Ok(Some(text))
        })
    }
}

fn example<R: Report>() -> Value {
    let sheet = form::example::<R>();
    let days = [("from", "2026-01-01"), ("to", "2026-12-31"), ("asOf", "2026-12-31")];
    let takes = |name: &str| R::PARAMETERS.iter().any(|parameter| parameter.name == name);
    let asked: Map<String, Value> =
        days.iter().filter(|(name, _)| takes(name)).map(|(name, day)| ((*name).to_owned(), json!(day))).collect();
    let pagination = R::PAGED.then_some(Pagination::of_one());
    json!({
        "report": R::NAME, "title": R::TITLE, "businessId": "019a9f6e-6c00-7a8e-9d1f-0a8f5f1c2b3d", "currency": "EUR", "basis": "accrual",
        "parameters": asked, "generatedAt": "2026-11-20T09:30:00.000000Z",
        "ledgerSequence": 1042, "columns": sheet.columns, "rows": sheet.rows, "totals": sheet.totals,
        "checks": sheet.checks, "pagination": pagination
    })
}

fn list<'c>(_: &'c Cx<'c>, _: Option<RecordId>, _: &'c ListQuery) -> BoxFuture<'c, Result<Produced>> {
    let items = all().into_iter().map(|(offer, _)| offer).collect();
    Box::pin(async move { Produced::json(&ReportList { items }) })
}

impl Resource for Reports {
    const KEY: ResourceKey = ResourceKey::Reports;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a report",
        many: "reports",
        description: "What the books come to. Each report is made in one snapshot of the ledger and says which entry is \
                      the last in it, and carries the identities that prove it.",
        sorts: &[],
        searched: "",
    };
    const VERBS: &'static [Verb] = &[];
    type Input = NoWords;
    type Draft = ();
    type View = NoRecord;

    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }

    fn extras() -> Vec<Extra> {
        let index = Extra {
            name: "List",
            segment: "",
            on: On::Collection,
            action: Action::View,
            answers: None,
            summary: "List the reports",
            description: "The reports that there are, and what can be asked of each.",
            does: Does::Reads(Reading::json::<ReportList>(list, || {
                json!({"items": [{
                    "name": "pl", "title": "Profit and loss", "description": "What was earned and what it cost.",
                    "parameters": [{"name": "from", "description": "The first day.", "required": false, "values": []}]
                }]})
            })),
        };
        std::iter::once(index).chain(all().into_iter().map(|(_, extra)| extra)).collect()
    }

    fn example() -> Value {
        json!({})
    }

    fn example_view() -> Value {
        json!({})
    }

    async fn list(_: &Cx<'_>, _: &ListQuery) -> Result<Page<NoRecord>> {
        Err(Error::NotFound)
    }

    async fn get(_: &Cx<'_>, _: RecordId) -> Result<NoRecord> {
        Err(Error::NotFound)
    }

    read_only!();
}

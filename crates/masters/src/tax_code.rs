//! Tax codes: what is added to a line, component by component, and what may be claimed back.
//!
//! Rates are versioned by date: a new rate is added from a day on, and what was used is never rewritten.

use crate::account::keepers::{Claim, check_claims, settle};
use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::field::{Each, Faults, Field, Label, Maybe, Once, Text};
use crate::ids::RecordId;
use crate::money::Percent;
use crate::stored::AsJson;
use books::access::Business;
use books::cx::Cx;
use kit::list::{FilterValue, Reads};
use kit::master::{Columns, Master, RecordKeeping, keeping, kept, master_operations};
use kit::reference::References;
use kit::resource::{About, Resource, Scope};
use kit::rows::{Filter, Rows};
use rules::keeper::Keeper;
use schema::address::{search_text, text};
use schema::key::ResourceKey;
use schema::payment_term::MasterStatus;
use schema::some;
use schema::tables::{document_lines, tax_facts, tax_months};

use rules::purpose::Purpose;
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, Condition, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashSet;

use rules::tax::TaxBoxes;
pub use rules::tax::{TaxComponent, TaxDirection, TaxKind, TaxRate};

pub struct TaxCodeRecords;

/// What a client sends to create or replace a tax code.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct TaxCodeInput {
    /// Short code; unique in the company.
    code: Field<Label<50>>,
    /// Name of the tax.
    name: Field<Label<200>>,
    /// Which documents it is for; `both` when absent.
    direction: Maybe<TaxDirection>,
    /// What it is made of, 1 to 10 components.
    #[schemars(extend("minItems" = 1, "maxItems" = 10))]
    components: Field<Vec<Field<TaxComponentInput>>>,
    /// Category of UNCL 5305 on electronic invoices: S, Z, E, AE, K, G or O.
    category: Maybe<Text<2>>,
    /// The box of the tax return that what is sold and bought goes into, where a component does not say.
    report_box: Maybe<Text<50>>,
    /// First day on which it may be used.
    valid_from: Maybe<Day>,
    /// Last day on which it may be used.
    valid_to: Maybe<Day>,
    /// Whether it can be chosen for new documents; `active` when absent.
    status: Maybe<MasterStatus>,
    /// The code's identifier in another system; unique.
    external_id: Maybe<Text<200>>,
}

/// One component of a tax.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct TaxComponentInput {
    /// The component's identifier, to keep its identity in an update.
    id: Maybe<RecordId>,
    /// Name on documents.
    name: Field<Label<100>>,
    /// Percentage, 0 to 1000; for `fixedPerUnit` the amount for a unit.
    rate: Field<Percent>,
    /// Later rates, each from a day on.
    rates: Each<TaxRateInput>,
    /// How it works; `standard` when absent.
    kind: Maybe<TaxKind>,
    /// Whether it is computed on the amount with the components before it; `false` when absent.
    is_compound: Maybe<bool>,
    /// How much of it can be claimed back on purchases, 0 to 100; 100 when absent.
    recoverable_percent: Maybe<Percent>,
    /// Account for tax that is owed; the company's when absent.
    payable_account_id: Maybe<RecordId>,
    /// Account for tax that is claimed back; the company's when absent.
    receivable_account_id: Maybe<RecordId>,
    /// The boxes of a return that its figures go to. A change moves no figure of before.
    boxes: Maybe<TaxBoxesInput>,
}

/// The boxes of a return that a component's figures go to.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct TaxBoxesInput {
    /// What was sold; the code's `reportBox` when absent.
    sales_base: Maybe<Text<50>>,
    /// The tax on it.
    sales_tax: Maybe<Text<50>>,
    /// What was bought; the code's `reportBox` when absent.
    purchase_base: Maybe<Text<50>>,
    /// The tax that is owed on what was bought, such as a reverse charge.
    purchase_due: Maybe<Text<50>>,
    /// What of the tax on it is claimed back.
    purchase_claim: Maybe<Text<50>>,
}

/// A rate from a day on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct TaxRateInput {
    /// The first day of the rate.
    valid_from: Field<Day>,
    /// The rate from that day on.
    rate: Field<Percent>,
}

/// What is added to a line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TaxCode")]
pub struct TaxCodeView {
    #[serde(flatten)]
    keeping: RecordKeeping,
    /// Short code.
    code: String,
    /// Name of the tax.
    name: String,
    /// Which documents it is for.
    direction: TaxDirection,
    /// What it is made of.
    components: Vec<TaxComponent>,
    /// What is added to an amount today, in percent, all components together.
    effective_rate: Percent,
    /// Category of UNCL 5305 on electronic invoices.
    category: Option<String>,
    /// The box of the tax return it goes into.
    report_box: Option<String>,
    /// First day on which it may be used.
    valid_from: Option<Day>,
    /// Last day on which it may be used.
    valid_to: Option<Day>,
    /// Whether it can be chosen for new documents.
    status: MasterStatus,
    /// The code's identifier in another system.
    external_id: Option<String>,
}

impl AsRef<RecordKeeping> for TaxCodeView {
    fn as_ref(&self) -> &RecordKeeping {
        &self.keeping
    }
}

pub(crate) use schema::tax_code as table;
use schema::tax_code::effective_rate;
use table::Column;

impl Resource for TaxCodeRecords {
    const KEY: ResourceKey = ResourceKey::TaxCodes;
    const SCOPE: Scope = Scope::Business;
    const ABOUT: About = About {
        one: "a tax code",
        many: "tax codes",
        description: "What is added to a line: one component or several, each with its rate from a day on. Once a \
                      code was used, its past stays as it was; add a rate from a later day instead.",
        sorts: &["code", "name", "createdAt", "updatedAt"],
        searched: "code, name and the components' names",
    };
    type Input = TaxCodeInput;
    type Draft = Columns<Column>;
    type View = TaxCodeView;
    const BY_IDS: Option<kit::expand::ByIds> = Some(|cx, ids| Box::pin(kit::rows::by_ids::<Self>(cx, ids)));

    fn example() -> serde_json::Value {
        json!({
            "code": "VAT19",
            "name": "VAT 19 %",
            "direction": "both",
            "components": [{
                "name": "VAT", "rate": 19, "rates": [{ "validFrom": "2030-01-01", "rate": 20 }], "kind": "standard",
                "isCompound": false, "recoverablePercent": 100, "payableAccountId": null, "receivableAccountId": null,
                "boxes": { "salesBase": "81", "salesTax": "81T", "purchaseBase": null, "purchaseDue": null, "purchaseClaim": "66" }
            }],
            "category": "S",
            "reportBox": "81",
            "validFrom": null,
            "validTo": null,
            "status": "active",
            "externalId": null
        })
    }

    fn example_view() -> serde_json::Value {
        json!({
            "effectiveRate": 19,
            "components": [{
                "id": "019a9f6e-6c00-7b11-8c22-9d33ae44bf01", "name": "VAT", "rate": 19,
                "rates": [{ "validFrom": "2030-01-01", "rate": 20 }], "kind": "standard", "isCompound": false,
                "sequence": 1, "recoverablePercent": 100, "payableAccountId": null, "receivableAccountId": null,
                "boxes": { "salesBase": "81", "salesTax": "81T", "purchaseBase": null, "purchaseDue": null, "purchaseClaim": "66" }
            }]
        })
    }

    fn check(_: Option<&Business>, input: TaxCodeInput) -> Result<Columns<Column>, FieldErrors> {
        let mut faults = Faults::default();
        let mut row = Columns::new();
        let code = faults.required("code", input.code).into_inner();
        let name = faults.required("name", input.name).into_inner();
        let components = check_components(&mut faults, input.components);
        let category = text(&mut faults, "category", input.category);
        if category.as_deref().is_some_and(|text| !["S", "Z", "E", "AE", "K", "G", "O"].contains(&text)) {
            faults.add("category", "must be S, Z, E, AE, K, G or O");
        }
        let (from, to) = (faults.optional("validFrom", input.valid_from), faults.optional("validTo", input.valid_to));
        if from.zip(to).is_some_and(|(from, to)| to < from) {
            faults.add("validTo", "must not be before validFrom");
        }
        let mut searched = vec![Some(&code), Some(&name)];
        searched.extend(components.iter().map(|component| Some(&component.name)));
        row.set(Column::Search, search_text(&searched));
        row.set(Column::NameKey, crate::texts::search_key(&name));
        row.set(Column::Code, code);
        row.set(Column::Name, name);
        row.set(Column::Direction, faults.optional("direction", input.direction).unwrap_or_default());
        row.set(Column::Components, AsJson(components));
        row.set(Column::Category, category);
        row.set(Column::ReportBox, text(&mut faults, "reportBox", input.report_box));
        row.set(Column::ValidFrom, from);
        row.set(Column::ValidTo, to);
        row.set(Column::Status, faults.optional("status", input.status).unwrap_or_default());
        row.set(Column::ExternalId, text(&mut faults, "externalId", input.external_id));
        faults.finish(row)
    }

    master_operations!();
}

fn check_components(faults: &mut Faults, field: Field<Vec<Field<TaxComponentInput>>>) -> Vec<TaxComponent> {
    let field = match field {
        Field::Missing => {
            faults.add("components", "is required: a tax code has at least one component");
            return Vec::new();
        }
        Field::Malformed(why) => Field::Malformed(why),
        Field::Given(components) => {
            if !(1..=10).contains(&components.len()) {
                faults.add("components", "must be 1 to 10");
                return Vec::new();
            }
            Field::Given(Some(components))
        }
    };
    let mut sequence = 0;
    let mut identities = Once::default();
    faults.each("components", field, |faults, input| {
        if identities.is_second(&input.id) {
            faults.add("id", "stands here twice");
        }
        sequence += 1;
        let kind = faults.optional("kind", input.kind).unwrap_or_default();
        let given = matches!(input.rate, Field::Given(_));
        let rate = faults.required("rate", input.rate);
        if given {
            check_rate(faults, kind, rate);
        }
        let (mut days, mut again) = (Once::default(), false);
        let rates = faults.each("rates", input.rates, |faults, input| {
            again |= days.is_second(&input.valid_from);
            let given = matches!(input.rate, Field::Given(_));
            let rate = TaxRate {
                valid_from: faults.required("validFrom", input.valid_from),
                rate: faults.required("rate", input.rate),
            };
            if given {
                check_rate(faults, kind, rate.rate);
            }
            rate
        });
        if again {
            faults.add("rates", "must each begin on a day of their own");
        }
        let recoverable = faults.optional("recoverablePercent", input.recoverable_percent);
        faults.within("recoverablePercent", recoverable, Percent::ZERO, Percent::HUNDRED);
        TaxComponent {
            // One that is new gets its identity when the code is written.
            id: faults.optional("id", input.id).unwrap_or_default(),
            name: faults.required("name", input.name).into_inner(),
            rate,
            rates,
            kind,
            is_compound: faults.optional("isCompound", input.is_compound).unwrap_or_default(),
            sequence,
            recoverable_percent: recoverable.unwrap_or(Percent::HUNDRED),
            payable_account_id: faults.optional("payableAccountId", input.payable_account_id),
            receivable_account_id: faults.optional("receivableAccountId", input.receivable_account_id),
            boxes: match faults.optional("boxes", input.boxes) {
                None => TaxBoxes::default(),
                Some(boxes) => faults.inside("boxes", boxes, |faults, boxes| TaxBoxes {
                    sales_base: text(faults, "salesBase", boxes.sales_base),
                    sales_tax: text(faults, "salesTax", boxes.sales_tax),
                    purchase_base: text(faults, "purchaseBase", boxes.purchase_base),
                    purchase_due: text(faults, "purchaseDue", boxes.purchase_due),
                    purchase_claim: text(faults, "purchaseClaim", boxes.purchase_claim),
                }),
            },
        }
    })
}

fn check_rate(faults: &mut Faults, kind: TaxKind, rate: Percent) {
    faults.within("rate", Some(rate), Percent::ZERO, Percent::from_units(1_000_000_000));
    if matches!(kind, TaxKind::Exempt | TaxKind::Zero | TaxKind::Outside) && rate != Percent::ZERO {
        faults.add("rate", format!("must be 0 for {kind}"));
    }
}

impl Rows for TaxCodeRecords {
    type Entity = table::Entity;

    const ID: Column = Column::Id;
    const CHANGED: Column = Column::UpdatedAt;
    const SEARCH: Column = Column::Search;
    const SORTS: &'static [Column] = &[Column::Code, Column::NameKey, Column::CreatedAt, Column::UpdatedAt];

    fn filters() -> Vec<Filter<Column>> {
        vec![
            Filter::equal("code", "The tax code with this code.", Reads::Text, Column::Code),
            Filter::looking(
                "direction",
                "Codes for these documents.",
                Reads::AnyOf(TaxDirection::TEXTS),
                for_direction,
            ),
            Filter::equal("status", "Codes of these statuses.", Reads::AnyOf(MasterStatus::TEXTS), Column::Status),
            Filter::equal("externalId", "The code with this identifier elsewhere.", Reads::Text, Column::ExternalId),
        ]
    }

    fn reach(cx: &Cx<'_>) -> Result<Condition> {
        Ok(Condition::all().add(Column::BusinessId.eq(cx.business_id()?)))
    }

    async fn views(cx: &Cx<'_>, rows: Vec<table::Model>) -> Result<Vec<TaxCodeView>> {
        let today = cx.today()?;
        let view = |row: table::Model| TaxCodeView {
            effective_rate: effective_rate(&row.components.0, today),
            keeping: kept!(row),
            code: row.code,
            name: row.name,
            direction: row.direction,
            components: row.components.0,
            category: row.category,
            report_box: row.report_box,
            valid_from: row.valid_from,
            valid_to: row.valid_to,
            status: row.status,
            external_id: row.external_id,
        };
        Ok(rows.into_iter().map(view).collect())
    }
}

/// A code for both is found among those for either.
#[expect(clippy::unnecessary_wraps, reason = "filters that look may fail")]
fn for_direction(_: &Cx<'_>, value: &FilterValue) -> Result<Condition> {
    let FilterValue::AnyOf(wanted) = value else { return Ok(Condition::any()) };
    let texts = wanted.iter().map(String::as_str).chain([TaxDirection::Both.as_str()]);
    Ok(Condition::all().add(Column::Direction.is_in(texts)))
}

impl Master for TaxCodeRecords {
    keeping!();
    const UNIQUE: &'static [(&'static str, Column)] = &[("code", Column::Code), ("externalId", Column::ExternalId)];

    fn version(row: &table::Model) -> i64 {
        row.version
    }

    fn placement(cx: &Cx<'_>) -> Result<Vec<(Column, Value)>> {
        Ok(vec![(Column::BusinessId, cx.business_id()?.into())])
    }

    async fn complete(cx: &Cx<'_>, row: Option<&table::Model>, draft: &mut Columns<Column>) -> Result<()> {
        let mut components: Vec<TaxComponent> = draft.json(Column::Components)?;
        let known: Vec<RecordId> = row.iter().flat_map(|row| &row.components.0).map(|one| one.id).collect();
        let mut references = References::of(cx).await?;
        let mut claims = Vec::new();
        if cx.keeps_places() && components.iter().all(|one| one.id == RecordId::default()) {
            for (component, stands) in components.iter_mut().zip(&known) {
                component.id = *stands;
            }
        }
        for (index, component) in components.iter_mut().enumerate() {
            let at = format!("components[{index}]");
            if component.id == RecordId::default() {
                component.id = RecordId(cx.new_id());
            } else if !known.contains(&component.id) {
                references.faults.add(format!("{at}.id"), "names no component of this tax code");
            }
            for (field, account, purpose) in [
                ("payableAccountId", component.payable_account_id, Purpose::TaxOwed),
                ("receivableAccountId", component.receivable_account_id, Purpose::TaxClaimed),
            ] {
                let field = format!("{at}.{field}");
                claims.extend(account.map(|account| Claim { field, account, purpose, keeper: Keeper::Tax }));
            }
        }
        let chart = references.chart.clone();
        references.finish()?;
        check_claims(cx, cx.business_id()?, &chart, &claims).await?;
        draft.replace(Column::Components, AsJson(components));
        Ok(())
    }

    async fn check_change(cx: &Cx<'_>, row: &table::Model, draft: &Columns<Column>) -> Result<()> {
        let Some(until) = last_use(cx, row.id).await? else { return Ok(()) };
        check_past(&row.components.0, &draft.json::<Vec<TaxComponent>>(Column::Components)?, until)
    }

    async fn inserted(cx: &Cx<'_>, _: RecordId, draft: &Columns<Column>) -> Result<()> {
        settle(cx, cx.business_id()?, accounts_of(&draft.json::<Vec<TaxComponent>>(Column::Components)?)).await
    }

    async fn changed(cx: &Cx<'_>, row: &table::Model, draft: &Columns<Column>) -> Result<()> {
        let mut named = accounts_of(&row.components.0);
        named.extend(accounts_of(&draft.json::<Vec<TaxComponent>>(Column::Components)?));
        settle(cx, row.business_id, named).await
    }

    async fn removed(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        settle(cx, row.business_id, accounts_of(&row.components.0)).await
    }

    async fn release(cx: &Cx<'_>, row: &table::Model) -> Result<()> {
        let business = row.business_id;
        let items = schema::item::Entity::find().filter(schema::item::Column::BusinessId.eq(business)).filter(
            Condition::any()
                .add(schema::item::Column::SalesTaxCodeId.eq(row.id))
                .add(schema::item::Column::PurchaseTaxCodeId.eq(row.id)),
        );
        let parties = schema::party::Entity::find().filter(schema::party::Column::BusinessId.eq(business)).filter(
            Condition::any()
                .add(schema::party::Column::SalesTaxCodeId.eq(row.id))
                .add(schema::party::Column::PurchaseTaxCodeId.eq(row.id)),
        );
        if items.count(&cx.db).await? > 0
            || parties.count(&cx.db).await? > 0
            || books::mentions::is_mentioned(cx, row.id).await?
        {
            return Err(Error::conflict(
                Code::InUse,
                "Other records name the tax code; set its status to archived instead",
            ));
        }
        Ok(())
    }
}

/// Refuses components that would have been others by a day until which the code was used.
fn check_past(old: &[TaxComponent], wanted: &[TaxComponent], until: Day) -> Result<()> {
    if wanted.len() == old.len() && wanted.iter().zip(old).all(|(new, old)| new.used(until) == old.used(until)) {
        return Ok(());
    }
    Err(Error::Conflict(Conflict {
        code: Code::InUse,
        title: "The tax code was used; its past cannot change".into(),
        errors: FieldErrors::one(
            "components",
            format!("were used until {until}: add a rate with a later validFrom, or make another tax code"),
        ),
    }))
}

/// The accounts that components name.
fn accounts_of(components: &[TaxComponent]) -> HashSet<RecordId> {
    components.iter().flat_map(|one| [one.payable_account_id, one.receivable_account_id]).flatten().collect()
}

/// The last day whose rates of a code were used.
async fn last_use(cx: &Cx<'_>, id: RecordId) -> Result<Option<Day>> {
    cx.flush().await?;
    let business = cx.business_id()?;
    // What was billed is told by facts, each for the day whose rates it has.
    let lines: Option<Option<Day>> = document_lines::Entity::find()
        .select_only()
        .column_as(document_lines::Column::Date.max(), "last")
        .filter(document_lines::Column::BusinessId.eq(business))
        .filter(document_lines::Column::TaxCodeId.eq(id))
        .filter(some::is_of_no_bill())
        .into_tuple()
        .one(&cx.db)
        .await?;
    Ok(Ord::max(lines.flatten(), last_told(cx, id).await?))
}

/// The last day that facts with a code count for. What the facts of a month come to says in which month that is.
async fn last_told(cx: &Cx<'_>, id: RecordId) -> Result<Option<Day>> {
    let business = cx.business_id()?;
    let month: Option<Option<String>> = tax_months::Entity::find()
        .select_only()
        .column_as(tax_months::Column::Month.max(), "last")
        .filter(tax_months::Column::BusinessId.eq(business))
        .filter(tax_months::Column::TaxCodeId.eq(id))
        .into_tuple()
        .one(&cx.db)
        .await?;
    let Some(month) = month.flatten() else { return Ok(None) };
    let first: Day = format!("{month}-01").parse().map_err(Error::internal)?;
    let last: Option<Day> = tax_facts::Entity::find()
        .select_only()
        .column(tax_facts::Column::Date)
        .filter(tax_facts::Column::BusinessId.eq(business))
        .filter(tax_facts::Column::Date.between(first, first.last_of_month()))
        .filter(tax_facts::Column::TaxCodeId.eq(id))
        .order_by_desc(tax_facts::Column::Date)
        .limit(1)
        .into_tuple()
        .one(&cx.db)
        .await?;
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{day, draft, id, row, said};
    use kit::samples::hold;
    use serde_json::Value;

    /// A code with these components, each as it was made: with an identity of its own.
    fn components(of: Value) -> Vec<TaxComponent> {
        let mut made = row::<TaxCodeRecords>(&[("/components", of)]).components.0;
        for component in &mut made {
            component.id = id(component.sequence.unsigned_abs().into());
        }
        made
    }

    #[test]
    fn a_component_that_says_little_is_a_tax_that_is_claimed_back_in_full() {
        let made =
            components(json!([{"name": "GST", "rate": 5}, {"name": "QST", "rate": "9.975", "isCompound": true}]));
        let figures: Vec<_> = made
            .iter()
            .map(|one| (one.sequence, one.kind, one.is_compound, one.rate.to_string(), one.recoverable_percent))
            .collect();
        assert_eq!(
            figures,
            [
                (1, TaxKind::Standard, false, "5".to_owned(), Percent::HUNDRED),
                (2, TaxKind::Standard, true, "9.975".to_owned(), Percent::HUNDRED),
            ]
        );
        let draft = draft::<TaxCodeRecords>(&[("/direction", json!(null)), ("/status", json!(null))]);
        assert_eq!(draft.get(Column::Direction), Some(&TaxDirection::Both.into()));
        assert_eq!(draft.get(Column::Status), Some(&MasterStatus::Active.into()));
    }

    #[test]
    fn a_code_is_of_a_category_and_of_days_in_their_order() {
        hold::<TaxCodeRecords>(&[
            (&[("/category", json!("AE"))], &[]),
            (&[("/category", json!("B"))], &["category: must be S, Z, E, AE, K, G or O"]),
            (&[("/category", json!("ABC"))], &["category: must be at most 2"]),
            (&[("/validFrom", json!("2027-01-01")), ("/validTo", json!("2027-01-01"))], &[]),
            (
                &[("/validFrom", json!("2027-01-02")), ("/validTo", json!("2027-01-01"))],
                &["validTo: must not be before validFrom"],
            ),
            (&[("/components/0/rate", json!(1000))], &[]),
            (
                &[(
                    "/components",
                    json!([{"name": "A", "rate": 1, "id": id(7)}, {"name": "B", "rate": 2, "id": id(7)},
                    {"name": "C", "rate": 3}, {"name": "D", "rate": 4, "id": id(8)}, {"name": "E", "rate": 5}]),
                )],
                &["components[1].id: stands here twice"],
            ),
            // A rate that says no day is told so, and begins on no day of another.
            (
                &[("/components/0/rates", json!([{"rate": 1}, {"rate": 2}]))],
                &["components[0].rates[0].validFrom: is required", "components[0].rates[1].validFrom: is required"],
            ),
            (&[("/components/0/rate", json!("1000.000001"))], &["components[0].rate: must be between 0 and 1000"]),
            (
                &[("/components/0/boxes", json!({"salesBase": "8".repeat(51)}))],
                &["components[0].boxes.salesBase: must be at most 50"],
            ),
        ]);
    }

    /// What is added to 100 today, as a client reads it: compound components count on those before, and only what a buyer
    /// pays on top counts.
    #[test]
    fn the_rate_of_a_code_is_what_its_components_add() {
        for (of, on, rate) in [
            (json!([{"name": "VAT", "rate": 19}]), "2026-11-20", "19"),
            // 5 and 9.975 beside each other; 9.5 on 105 makes as much.
            (json!([{"name": "GST", "rate": 5}, {"name": "QST", "rate": "9.975"}]), "2026-11-20", "14.975"),
            (
                json!([{"name": "GST", "rate": 5}, {"name": "QST", "rate": "9.5", "isCompound": true}]),
                "2026-11-20",
                "14.975",
            ),
            // A compound one counts on what stands before it, not on what follows.
            (
                json!([{"name": "QST", "rate": "9.5", "isCompound": true}, {"name": "GST", "rate": 5}]),
                "2026-11-20",
                "14.5",
            ),
            (
                json!([{"name": "A", "rate": 20}, {"name": "WHT", "rate": 10, "kind": "withholding"}]),
                "2026-11-20",
                "20",
            ),
            (json!([{"name": "RC", "rate": 19, "kind": "reverseCharge"}]), "2026-11-20", "0"),
            (json!([{"name": "Eco", "rate": 3, "kind": "fixedPerUnit"}]), "2026-11-20", "0"),
            (
                json!([{"name": "VAT", "rate": 19, "rates": [
                    {"validFrom": "2021-01-01", "rate": 19}, {"validFrom": "2020-07-01", "rate": 16}]}]),
                "2020-12-31",
                "16",
            ),
            (
                json!([{"name": "VAT", "rate": 19, "rates": [
                    {"validFrom": "2021-01-01", "rate": 18}, {"validFrom": "2020-07-01", "rate": 16}]}]),
                "2021-01-01",
                "18",
            ),
        ] {
            assert_eq!(effective_rate(&components(of.clone()), day(on)).to_string(), rate, "{of} on {on}");
        }
    }

    #[test]
    fn the_past_of_a_used_code_cannot_change_and_its_future_can() {
        let old = json!([{"name": "VAT", "rate": 19, "rates": [{"validFrom": "2026-07-01", "rate": 20}],
            "recoverablePercent": 50, "boxes": {"salesBase": "81"}}]);
        let until = day("2026-11-20");
        let judged = |pointer: &str, value: Value| {
            let mut wanted = old.clone();
            let (outer, name) = pointer.rsplit_once('/').unwrap();
            wanted.pointer_mut(outer).unwrap()[name] = value;
            said(check_past(&components(old.clone()), &components(wanted), until))
        };
        let refused = "in_use: components: were used until 2026-11-20: add a rate with a later validFrom, or make another \
                       tax code";
        for (pointer, value, answer) in [
            ("/0/rate", json!(18), refused),
            ("/0/kind", json!("reverseCharge"), refused),
            ("/0/isCompound", json!(true), refused),
            ("/0/recoverablePercent", json!(100), refused),
            ("/0/rates", json!([]), refused),
            ("/0/rates/0/rate", json!(21), refused),
            ("/0/rates/0/validFrom", json!("2026-08-01"), refused),
            // The day of the last use is past as well.
            (
                "/0/rates",
                json!([{"validFrom": "2026-07-01", "rate": 20}, {"validFrom": "2026-11-20", "rate": 21}]),
                refused,
            ),
            (
                "/0/rates",
                json!([{"validFrom": "2026-11-21", "rate": 21}, {"validFrom": "2026-07-01", "rate": 20}]),
                "fine",
            ),
            // How it is called and where it is told changes no figure of before.
            ("/0/name", json!("Value added tax"), "fine"),
            ("/0/boxes", json!({"salesBase": "86"}), "fine"),
            ("/0/payableAccountId", json!("019a9f6e-6c00-7b27-8016-b2d3f4657027"), "fine"),
        ] {
            assert_eq!(judged(pointer, value.clone()), answer, "{pointer} {value}");
        }
        let two = components(json!([{"name": "A", "rate": 19}, {"name": "B", "rate": 1}]));
        let one = components(json!([{"name": "A", "rate": 19}]));
        assert_eq!(said(check_past(&two, &one, until)), refused);
        assert_eq!(said(check_past(&one, &two, until)), refused);
        // Another component is another tax, whatever it is called.
        let mut other = one.clone();
        other[0].id = id(7);
        assert_eq!(said(check_past(&one, &other, until)), refused);
    }

    #[test]
    fn accounts_are_those_of_all_components() {
        let account = |number: u128| id(number).to_string();
        let named = accounts_of(&components(json!([
            {"name": "A", "rate": 1, "payableAccountId": account(21), "receivableAccountId": account(14)},
            {"name": "B", "rate": 1, "payableAccountId": account(21)},
            {"name": "C", "rate": 1, "receivableAccountId": account(15)},
        ])));
        assert_eq!(named, HashSet::from([id(21), id(14), id(15)]));
        assert_eq!(accounts_of(&components(json!([{"name": "A", "rate": 1}]))), HashSet::new());
    }
}

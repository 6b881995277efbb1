//! What was sold and bought, by whom and of what, and what orders still promise.

use super::Report;
use super::aging::names_of;
use super::asked::{Asked, FORMAT, FROM, FROM_DATE, GROUP_BY, KNOWN_AT, TO, TO_DATE};
use super::form::{Example, Form, Holds};
use super::goods::item_names;
use super::lines::{amount, of_documents, of_span, within, without};
use super::sheet::{Cell, Column, Own, Row, RowType, Sheet};
use super::statements::span_column;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::Percent;
use answers::Ask;
use books::among::among;
use books::cx::Cx;
use books::sums::{Span, sums};
use kit::list::Parameter;
pub(super) use open_orders::OpenOrders;
use rules::account::AccountType;
use rust_decimal::Decimal;
use schema::account as accounts;
use schema::tables::{DocumentKind, EntryKind, TradeSide, WRITE_OFF, documents, entries, entry_lines};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect, QueryTrait, Select};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::marker::PhantomData;
use words::sown::{Fault, sown};
use words::sums::Sums as _;

/// Which side is asked for, and by what it is told.
pub(super) trait Told: Send + Sync + 'static {
    const SALES: bool;
    const BY_PARTY: bool;
    const NAME: &'static str;
    const OPERATION: &'static str;
    const TITLE: &'static str;
}

macro_rules! told {
    ($name:ident, $sales:literal, $by_party:literal, $path:literal, $operation:literal, $title:literal) => {
        pub(super) struct $name;

        impl Told for $name {
            const SALES: bool = $sales;
            const BY_PARTY: bool = $by_party;
            const NAME: &'static str = $path;
            const OPERATION: &'static str = $operation;
            const TITLE: &'static str = $title;
        }
    };
}

told!(SalesByCustomer, true, true, "sales-by-customer", "SalesByCustomer", "Sales by customer");
told!(SalesByItem, true, false, "sales-by-item", "SalesByItem", "Sales by item");
told!(PurchasesBySupplier, false, true, "purchases-by-supplier", "PurchasesBySupplier", "Purchases by supplier");
told!(PurchasesByItem, false, false, "purchases-by-item", "PurchasesByItem", "Purchases by item");

fn kinds(sales: bool) -> impl Iterator<Item = DocumentKind> {
    let side = if sales { TradeSide::Sales } else { TradeSide::Purchases };
    DocumentKind::ALL.iter().copied().filter(move |kind| kind.turnover() == Some(side))
}

pub(super) struct Traded<T>(PhantomData<fn() -> T>);

answers::of_row! {
    struct Group {
        id: Option<RecordId>,
        amount: i64,
    }
}

/// Lines of what was traded over some days. What books begin with was traded before them, and what is written off was
/// sold all the same.
async fn lines_of<T: Told>(cx: &Cx<'_>, span: Span, asked: &Asked) -> Result<Select<entry_lines::Entity>> {
    let lines = without(cx, of_span(cx, span, asked).await?, &[EntryKind::Opening], asked.apart)?;
    let lines = of_documents(cx, lines, kinds(T::SALES))?;
    let written_off = documents::Entity::find()
        .select_only()
        .column(documents::Column::Id)
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::Kind.eq(DocumentKind::CreditNote))
        .filter(documents::Column::Subkind.eq(WRITE_OFF));
    Ok(if sown(Fault::WriteOffTakesOffIncome) {
        lines
    } else {
        lines.filter(entries::Column::DocumentId.not_in_subquery(written_off.into_query()))
    })
}

pub(super) struct Groups {
    own: Own,
    spans: Vec<Span>,
    /// What was traded, by party or item, in each period.
    traded: Vec<(Option<RecordId>, Vec<i64>)>,
    names: HashMap<RecordId, String>,
    /// What the other side of the same documents comes to: what parties owe, less the tax.
    apart: i64,
}

impl<T: Told> Report for Traded<T> {
    const NAME: &'static str = T::NAME;
    const OPERATION: &'static str = T::OPERATION;
    const TITLE: &'static str = T::TITLE;
    const ABOUT: &'static str = "What invoices came to without tax in a period, less what was credited, in the \
                                 company's currency.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, GROUP_BY, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[("amount", "Amount", Holds::Amount), ("share", "Share, in percent", Holds::Percent)],
        varying: Some("with `groupBy` a column for each part of the days"),
        totals: &[("amount", "Amount", Holds::Amount)],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Item, "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21", "BEANS-1 Espresso beans", &["22500.00", "100"]),
                (RowType::Total, "total", "Total", &["22500.00", ""]),
            ],
            totals: &["22500.00"],
            check: ("The total is what parties owe by the same documents, less the tax", Holds::Amount, "22500.00"),
        },
    };
    type Facts = Groups;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Groups> {
        let (sign, aliases) = (if T::SALES { -1 } else { 1 }, asked.aliases(cx)?);
        let spans = asked.spans();
        let mut groups: HashMap<Option<RecordId>, Vec<i64>> = HashMap::new();
        for (place, span) in spans.iter().enumerate() {
            for (id, amount) in months::traded::<T>(cx, *span, asked).await? {
                let id = if T::BY_PARTY { id.map(|party| aliases.meant(party).id()) } else { id };
                groups.entry(id).or_insert_with(|| vec![0; spans.len()])[place] += amount * sign;
            }
        }
        let ids: Vec<RecordId> = groups.keys().filter_map(|id| *id).collect();
        let names =
            if T::BY_PARTY { names_of(cx, ids.into_iter()).await? } else { item_names(cx, ids.into_iter()).await? };
        let mut traded: Vec<(Option<RecordId>, Vec<i64>)> = groups.into_iter().collect();
        traded.sort_by_cached_key(|(id, amounts)| {
            (-amounts.iter().sum::<i64>(), id.and_then(|id| names.get(&id).cloned()), *id)
        });
        Ok(Groups {
            own: Own(cx.business()?.currency_decimals),
            spans,
            traded,
            names,
            apart: -months::other_side::<T>(cx, asked).await? * sign,
        })
    }

    fn fold(facts: Groups, _: &Asked) -> Result<Sheet> {
        let Groups { own, spans, traded, names, apart } = facts;
        let total: i64 = traded.iter().flat_map(|(_, amounts)| amounts).sum();
        let share = |amount: i64| {
            let exact = Decimal::from(amount).checked_mul(Decimal::ONE_HUNDRED)?.checked_div(Decimal::from(total))?;
            Percent::parse(&exact.round_dp(2).to_string()).ok()
        };
        // One period is its own total.
        let split = spans.len() > 1;
        let values = |amounts: &[i64], share: Cell| {
            let sum: i64 = amounts.iter().sum();
            let parts = if split { own.cells(amounts) } else { Vec::new() };
            [parts, vec![own.cell(sum), share]].concat()
        };
        let mut rows: Vec<Row> = traded
            .iter()
            .map(|(id, amounts)| {
                let (r#type, nobody) =
                    if T::BY_PARTY { (RowType::Party, "Nobody") } else { (RowType::Item, "Without an item") };
                let label = id.and_then(|id| names.get(&id)).map_or(nobody, String::as_str);
                let key = id.map_or_else(|| "none".to_owned(), |id| id.to_string());
                let share = share(amounts.iter().sum()).map_or(Cell::Nothing, Cell::Percent);
                Row {
                    party_id: id.filter(|_| T::BY_PARTY),
                    item_id: id.filter(|_| !T::BY_PARTY),
                    ..Row::total(r#type, &key, label, values(amounts, share))
                }
            })
            .collect();
        let sums: Vec<i64> =
            (0..spans.len()).map(|place| traded.iter().map(|(_, amounts)| amounts[place]).sum()).collect();
        rows.push(Row::total(RowType::Total, "total", "Total", values(&sums, Cell::Nothing)));
        let mut columns: Vec<Column> =
            if split { spans.iter().map(|span| span_column(*span)).collect() } else { Vec::new() };
        columns.extend(Self::FORM.columns());
        let name = "The total is what parties owe by the same documents, less the tax";
        Ok(Sheet {
            columns,
            rows,
            totals: BTreeMap::from([("amount".to_owned(), own.cell(total))]),
            checks: vec![own.check(name, total, apart)],
            ..Sheet::default()
        })
    }
}

// ── Profitability ──

pub(super) struct ItemProfitability;

pub(super) struct Profits {
    own: Own,
    income: HashMap<Option<RecordId>, i64>,
    cost: HashMap<Option<RecordId>, i64>,
    names: HashMap<RecordId, String>,
    /// What the accounts of both kinds were moved by, computed apart.
    apart: [i64; 2],
}

async fn of_type(cx: &Cx<'_>, r#type: AccountType) -> Result<Vec<RecordId>> {
    let found = accounts::Entity::find()
        .select_only()
        .column(accounts::Column::Id)
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .filter(accounts::Column::Type.eq(r#type));
    Ok(found.column_of(&cx.db).await?)
}

impl Report for ItemProfitability {
    const NAME: &'static str = "item-profitability";
    const OPERATION: &'static str = "ItemProfitability";
    const TITLE: &'static str = "Profitability of items";
    const ABOUT: &'static str = "What each item earned in a period, what it cost, and what is left of it.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("income", "Income", Holds::Amount),
            ("cost", "Cost of sales", Holds::Amount),
            ("profit", "Profit", Holds::Amount),
            ("margin", "Margin, in percent", Holds::Percent),
        ],
        varying: None,
        totals: &[
            ("income", "Income", Holds::Amount),
            ("cost", "Cost of sales", Holds::Amount),
            ("profit", "Profit", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[
                (
                    RowType::Item,
                    "019a9f6e-6c00-7b21-8a10-5c7d9e0f1a21",
                    "BEANS-1 Espresso beans",
                    &["22500.00", "11100.00", "11400.00", "50.67"],
                ),
                (RowType::Total, "total", "Total", &["22500.00", "11100.00", "11400.00", ""]),
            ],
            totals: &["22500.00", "11100.00", "11400.00"],
            check: ("What items earned is the income of the ledger", Holds::Amount, "22500.00"),
        },
    };
    type Facts = Profits;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Profits> {
        let mut figures = Vec::new();
        let mut apart = [0; 2];
        let (moved, _) = sums(cx, asked.span, asked.point, asked.apart).await?;
        for (place, r#type) in [AccountType::Income, AccountType::Cogs].into_iter().enumerate() {
            let accounts = of_type(cx, r#type).await?;
            apart[place] = accounts.iter().filter_map(|id| moved.get(id)).map(|moved| moved.net()).sum();
            let groups: Vec<Group> = within(cx, asked.span, asked)
                .await?
                .filter(among(cx, (entry_lines::Entity, entry_lines::Column::AccountId), accounts))
                .column_as(entry_lines::Column::ItemId, "id")
                .column_as(amount(cx), "amount")
                .group_by(entry_lines::Column::ItemId)
                .read(&cx.db)
                .await?;
            figures.push(groups.into_iter().map(|group| (group.id, group.amount)).collect::<HashMap<_, _>>());
        }
        let [income, cost] = figures.try_into().map_err(|_| Error::internal("profit is of two kinds of accounts"))?;
        let ids: HashSet<RecordId> = income.keys().chain(cost.keys()).filter_map(|id| *id).collect();
        Ok(Profits {
            own: Own(cx.business()?.currency_decimals),
            names: item_names(cx, ids.into_iter()).await?,
            income,
            cost,
            apart,
        })
    }

    fn fold(facts: Profits, _: &Asked) -> Result<Sheet> {
        let Profits { own, income, cost, names, apart } = facts;
        let ids: HashSet<Option<RecordId>> = income.keys().chain(cost.keys()).copied().collect();
        let mut rows = Vec::new();
        let (mut earned, mut spent) = (0, 0);
        let mut ids: Vec<Option<RecordId>> = ids.into_iter().collect();
        ids.sort_by_cached_key(|id| (id.is_none(), id.and_then(|id| names.get(&id).cloned()), *id));
        for id in ids {
            let of = |figures: &HashMap<Option<RecordId>, i64>| figures.sum_of(&id);
            let (income, cost) = (-of(&income), of(&cost));
            if income == 0 && cost == 0 {
                continue;
            }
            (earned, spent) = (earned + income, spent + cost);
            let margin = Decimal::from(income - cost)
                .checked_mul(Decimal::ONE_HUNDRED)
                .and_then(|part| part.checked_div(Decimal::from(income)))
                .and_then(|margin| Percent::parse(&margin.round_dp(2).to_string()).ok());
            let label = id.and_then(|id| names.get(&id)).map_or("Without an item", String::as_str);
            let key = id.map_or_else(|| "none".to_owned(), |id| id.to_string());
            let margin = margin.map_or(Cell::Nothing, Cell::Percent);
            let values = [own.cells(&[income, cost, income - cost]), vec![margin]].concat();
            rows.push(Row { item_id: id, ..Row::total(RowType::Item, &key, label, values) });
        }
        let sums = [own.cells(&[earned, spent, earned - spent]), vec![Cell::Nothing]].concat();
        rows.push(Row::total(RowType::Total, "total", "Total", sums));
        let totals = [("income", earned), ("cost", spent), ("profit", earned - spent)];
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: totals.into_iter().map(|(key, sum)| (key.to_owned(), own.cell(sum))).collect(),
            checks: vec![
                own.check("What items earned is the income of the ledger", earned, -apart[0]),
                own.check("What items cost is the cost of sales of the ledger", spent, apart[1]),
            ],
            ..Sheet::default()
        })
    }
}

mod months;
mod open_orders;
#[cfg(test)]
mod tests;

//! What was sold and bought, by whom and of what, and what orders still promise.

use super::Report;
use super::aging::names_of;
use super::asked::{Asked, FORMAT, FROM, FROM_DATE, GROUP_BY, ITEM, KNOWN_AT, PARTY, TO, TO_DATE, TYPE};
use super::form::{Example, Form, Holds};
use super::goods::item_names;
use super::lines::{amount, of_documents, of_span, within, without};
use super::sheet::{Cell, Column, Own, Row, RowType, Sheet};
use super::statements::span_column;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{Percent, Quantity};
use books::cx::Cx;
use books::progress::less;
use books::sums::{Span, sums};
use kit::list::Parameter;
use rules::account::AccountType;
use rust_decimal::Decimal;
use schema::account as accounts;
use schema::aliases::{Aliases, Named};
use schema::tables::{DocumentKind, DocumentStatus, EntryKind, WRITE_OFF, documents, entries, entry_lines, progress};
use sea_orm::{
    ColumnTrait, EntityTrait, FromQueryResult, JoinType, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::marker::PhantomData;
use words::sown::{Fault, sown};
use words::sums::{SummedUp as _, Sums as _};

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

const fn kinds(sales: bool) -> [DocumentKind; 2] {
    if sales {
        [DocumentKind::SalesInvoice, DocumentKind::CreditNote]
    } else {
        [DocumentKind::PurchaseInvoice, DocumentKind::DebitNote]
    }
}

pub(super) struct Traded<T>(PhantomData<fn() -> T>);

#[derive(FromQueryResult)]
struct Group {
    id: Option<RecordId>,
    amount: i64,
}

/// Lines of what was traded over some days. What books begin with was traded before them, and what is written off was
/// sold all the same.
async fn lines_of<T: Told>(cx: &Cx<'_>, span: Span, asked: &Asked) -> Result<Select<entry_lines::Entity>> {
    let lines = without(cx, of_span(cx, span, asked).await?, &[EntryKind::Opening])?;
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
    const ABOUT: &'static str = "What invoices came to without tax over some days, less what was credited, in the \
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
            let net = lines_of::<T>(cx, *span, asked)
                .await?
                .filter(entry_lines::Column::PartyId.is_null())
                .filter(entry_lines::Column::TaxComponent.is_null())
                .column_as(amount(cx), "amount");
            let net = if T::BY_PARTY {
                net.join(
                    JoinType::InnerJoin,
                    entries::Entity::belongs_to(documents::Entity)
                        .from((entries::Column::BusinessId, entries::Column::DocumentId))
                        .to((documents::Column::BusinessId, documents::Column::Id))
                        .into(),
                )
                .column_as(documents::Column::PartyId, "id")
                .group_by(documents::Column::PartyId)
            } else {
                net.column_as(entry_lines::Column::ItemId, "id").group_by(entry_lines::Column::ItemId)
            };
            let found: Vec<Group> = net.into_model().all(&cx.db).await?;
            for group in found.into_iter().filter(|group| group.amount != 0) {
                let id = if T::BY_PARTY { group.id.map(|party| aliases.meant(party)) } else { group.id };
                groups.entry(id).or_insert_with(|| vec![0; spans.len()])[place] += group.amount * sign;
            }
        }
        let ids: Vec<RecordId> = groups.keys().filter_map(|id| *id).collect();
        let names =
            if T::BY_PARTY { names_of(cx, ids.into_iter()).await? } else { item_names(cx, ids.into_iter()).await? };
        let mut traded: Vec<(Option<RecordId>, Vec<i64>)> = groups.into_iter().collect();
        traded.sort_by_key(|(id, amounts)| {
            (-amounts.iter().sum::<i64>(), id.and_then(|id| names.get(&id).cloned()), *id)
        });
        let other = lines_of::<T>(cx, asked.span, asked).await?.filter(
            sea_orm::Condition::any()
                .add(entry_lines::Column::PartyId.is_not_null())
                .add(entry_lines::Column::TaxComponent.is_not_null()),
        );
        let apart: Option<Option<i64>> = other.column_as(amount(cx), "amount").into_tuple().one(&cx.db).await?;
        Ok(Groups {
            own: Own(cx.business()?.currency_decimals),
            spans,
            traded,
            names,
            apart: -apart.summed_up() * sign,
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
    Ok(found.into_tuple().all(&cx.db).await?)
}

impl Report for ItemProfitability {
    const NAME: &'static str = "item-profitability";
    const OPERATION: &'static str = "ItemProfitability";
    const TITLE: &'static str = "Profitability of items";
    const ABOUT: &'static str = "What each item earned over some days, what it cost, and what is left of it.";
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
        let moved = sums(cx, asked.span, asked.point).await?;
        for (place, r#type) in [AccountType::Income, AccountType::Cogs].into_iter().enumerate() {
            let accounts = of_type(cx, r#type).await?;
            apart[place] = accounts.iter().filter_map(|id| moved.get(id)).map(|moved| moved.net()).sum();
            let groups: Vec<Group> = within(cx, asked.span, asked)
                .await?
                .filter(entry_lines::Column::AccountId.is_in(accounts))
                .column_as(entry_lines::Column::ItemId, "id")
                .column_as(amount(cx), "amount")
                .group_by(entry_lines::Column::ItemId)
                .into_model()
                .all(&cx.db)
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
        ids.sort_by_key(|id| (id.is_none(), id.and_then(|id| names.get(&id).cloned()), *id));
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

// ── Open orders ──

pub(super) struct OpenOrders;

#[derive(FromQueryResult)]
struct Order {
    id: RecordId,
    kind: DocumentKind,
    number: Option<String>,
    date: Day,
    party_id: Option<Named>,
}

pub(super) struct Ordered {
    aliases: Aliases,
    orders: Vec<Order>,
    lines: Vec<progress::Model>,
    parties: HashMap<RecordId, String>,
    items: HashMap<RecordId, String>,
}

impl Report for OpenOrders {
    const NAME: &'static str = "open-orders";
    const OPERATION: &'static str = "OpenOrders";
    const TITLE: &'static str = "Open orders";
    const ABOUT: &'static str =
        "The orders of which something is still to be delivered, line by line, as they stand now.";
    const PARAMETERS: &'static [Parameter] = &[TYPE, PARTY, ITEM, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("date", "Date", Holds::Day),
            ("party", "Party", Holds::Text),
            ("ordered", "Ordered", Holds::Quantity),
            ("fulfilled", "Delivered", Holds::Quantity),
            ("cancelled", "Given up", Holds::Quantity),
            ("open", "Open", Holds::Quantity),
        ],
        varying: None,
        totals: &[("orders", "Orders", Holds::Count)],
        example: Example {
            varying: &[],
            rows: &[
                (
                    RowType::Document,
                    "019a9f6e-6c00-7b28-9117-c3e405768128",
                    "SO-2026-0005",
                    &["2026-11-20", "Nordwind Cafés", "", "", "", ""],
                ),
                (
                    RowType::Line,
                    "019a9f6e-6c00-7b29-9218-d4f516879229",
                    "BEANS-1 Espresso beans",
                    &["2026-11-20", "", "50", "20", "0", "30"],
                ),
            ],
            totals: &["1"],
            check: ("What is ordered is delivered, given up or open", Holds::Quantity, "50"),
        },
    };
    type Facts = Ordered;

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Ordered> {
        let (business, aliases) = (cx.business_id()?, asked.aliases(cx)?);
        let mut orders = documents::Entity::find()
            .select_only()
            .columns([
                documents::Column::Id,
                documents::Column::Kind,
                documents::Column::Number,
                documents::Column::Date,
                documents::Column::PartyId,
            ])
            .filter(documents::Column::BusinessId.eq(business))
            .filter(documents::Column::Kind.is_in(asked.orders.kinds()))
            .filter(documents::Column::Status.eq(DocumentStatus::Posted))
            .filter(documents::Column::Stage.is_in([schema::tables::Stage::Open, schema::tables::Stage::Partial]));
        if let Some(party) = asked.party {
            orders = orders.filter(aliases.is(documents::Column::PartyId, party));
        }
        let of_these = orders.clone().select_only().column(documents::Column::Id).into_query();
        let orders: Vec<Order> = orders
            .order_by_asc(documents::Column::Date)
            .order_by_asc(documents::Column::Id)
            .into_model()
            .all(&cx.db)
            .await?;
        let mut lines = progress::Entity::find()
            .filter(progress::Column::BusinessId.eq(business))
            .filter(progress::Column::DocumentId.in_subquery(of_these));
        if let Some(item) = asked.item {
            lines = lines.filter(progress::Column::ItemId.eq(item));
        }
        let mut lines = lines.all(&cx.db).await?;
        lines.sort_by_key(|line| line.line_id);
        Ok(Ordered {
            parties: names_of(cx, orders.iter().filter_map(|order| order.party_id.map(|party| aliases.of(party))))
                .await?,
            aliases,
            items: item_names(cx, lines.iter().filter_map(|line| line.item_id)).await?,
            orders,
            lines,
        })
    }

    fn fold(facts: Ordered, _: &Asked) -> Result<Sheet> {
        let Ordered { aliases, orders, lines, parties, items } = facts;
        let none = Quantity::ZERO;
        let mut rows = Vec::new();
        let (mut ordered, mut told) = (0_i64, 0_i64);
        for order in &orders {
            let of_order = lines.iter().filter(|line| line.document_id == order.id);
            let children: Vec<Row> = of_order
                .map(|line| {
                    let open = Ord::max(line.open(), none);
                    // More than was ordered may have come.
                    let beyond = Ord::max(less(less(line.fulfilled, line.quantity), less(none, line.cancelled)), none);
                    ordered += line.quantity.units();
                    told += line.fulfilled.units() + open.units() + line.cancelled.units() - beyond.units();
                    let label =
                        line.item_id.and_then(|item| items.get(&item)).map_or("Without an item", String::as_str);
                    let figures = [line.quantity, line.fulfilled, line.cancelled, open].map(Cell::Quantity);
                    let values = [vec![Cell::Day(order.date), Cell::Nothing], figures.to_vec()].concat();
                    Row { item_id: line.item_id, ..Row::total(RowType::Line, &line.line_id.to_string(), label, values) }
                })
                .collect();
            if children.is_empty() {
                continue;
            }
            let party_id = order.party_id.map(|party| aliases.of(party));
            let party = party_id.and_then(|party| parties.get(&party)).map_or_else(String::new, Clone::clone);
            let values = [vec![Cell::Day(order.date), Cell::Text(party)], vec![Cell::Nothing; 4]].concat();
            rows.push(Row {
                r#type: RowType::Document,
                party_id,
                document_id: Some(order.id),
                document_type: Some(order.kind),
                ..Row::section(&order.id.to_string(), order.number.as_deref().unwrap_or(""), values, children)
            });
        }
        let count = rows.iter().map(|_| 1_i64).sum();
        let cell = |units: i64| Cell::Quantity(Quantity::from_units(units));
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: BTreeMap::from([("orders".to_owned(), Cell::Count(count))]),
            checks: vec![super::sheet::Check {
                name: "What is ordered is delivered, given up or open".into(),
                left: cell(ordered),
                right: cell(told),
                ok: ordered == told,
            }],
            ..Sheet::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{asked, failed, id, named, written};
    use super::*;

    #[test]
    fn shares_are_of_the_whole_and_columns_of_their_days() {
        let span = |from: &str, to: &str| Span { from: Some(from.parse().unwrap()), to: to.parse().unwrap() };
        let groups = |spans: Vec<Span>, traded: &[(Option<u128>, &[i64])], apart: i64| Groups {
            own: Own(2),
            spans,
            traded: traded
                .iter()
                .map(|(party, cents)| (party.map(id), cents.iter().map(|one| one * 100).collect()))
                .collect(),
            names: named(&[(1, "Ada"), (2, "Bo")]),
            apart: apart * 100,
        };
        let asked = asked("2026-01-01", "2026-02-28");
        let months = vec![span("2026-01-01", "2026-01-31"), span("2026-02-01", "2026-02-28")];
        let traded: [(Option<u128>, &[i64]); 3] =
            [(Some(1), &[3_000, 3_000]), (Some(2), &[0, 2_500]), (None, &[500, -1_000])];
        let sheet = Traded::<SalesByCustomer>::fold(groups(months, &traded, 8_000), &asked).unwrap();
        assert_eq!(
            written(&sheet),
            [
                "Ada 30.00 30.00 60.00 75",
                "Bo 0.00 25.00 25.00 31.25",
                "none 5.00 -10.00 -5.00 -6.25",
                "total 35.00 45.00 80.00 null",
            ]
        );
        assert_eq!((failed(&sheet), sheet.columns.len()), (Vec::new(), 4));
        let whole = groups(vec![asked.span], &[(Some(1), &[6_000])], 5_999);
        let sheet = Traded::<SalesByItem>::fold(whole, &asked).unwrap();
        assert_eq!(
            (written(&sheet), failed(&sheet).len()),
            (vec!["Ada 60.00 100".into(), "total 60.00 null".into()], 1)
        );
        // Nothing has no shares.
        let sheet = Traded::<SalesByItem>::fold(groups(vec![asked.span], &[], 0), &asked).unwrap();
        assert_eq!((written(&sheet), failed(&sheet)), (vec!["total 0.00 null".to_owned()], Vec::new()));
    }

    #[test]
    fn an_order_stands_above_what_of_it_is_open() {
        let pieces = |count: i64| Quantity::from_units(count * 10_i64.pow(Quantity::PLACES));
        let line = |order: u128, item: u128, [quantity, fulfilled, cancelled]: [i64; 3]| progress::Model {
            business_id: crate::ids::BusinessId::default(),
            line_id: id(order * 100 + item),
            document_id: id(order),
            kind: DocumentKind::SalesOrder,
            date: "2026-01-09".parse().unwrap(),
            party_id: Named::of(id(1)),
            item_id: Some(id(item)),
            is_goods: true,
            is_return: false,
            source_line_id: None,
            quantity: pieces(quantity),
            fulfilled: pieces(fulfilled),
            invoiced: Quantity::ZERO,
            returned: Quantity::ZERO,
            cancelled: pieces(cancelled),
            account_id: None,
            value: crate::money::Money::ZERO,
        };
        let order = |number: u128| Order {
            id: id(number),
            kind: DocumentKind::SalesOrder,
            number: Some(format!("SO-{number}")),
            date: "2026-01-09".parse().unwrap(),
            party_id: Some(Named::of(id(1))),
        };
        let facts = |lines: Vec<progress::Model>| Ordered {
            aliases: Aliases::default(),
            orders: vec![order(7), order(8), order(9)],
            lines,
            parties: named(&[(1, "Ada")]),
            items: named(&[(2, "Beans"), (3, "Cups")]),
        };
        let asked = asked("2026-01-01", "2026-01-31");
        // Of the second order no line is asked for; of the third more came than was ordered.
        let lines = vec![line(7, 2, [10, 4, 1]), line(7, 3, [5, 0, 0]), line(9, 2, [3, 4, 0])];
        let sheet = OpenOrders::fold(facts(lines), &asked).unwrap();
        assert_eq!(
            written(&sheet),
            [
                r#"SO-7 "2026-01-09" "Ada" null null null null"#,
                r#"  Beans "2026-01-09" null 10 4 1 5"#,
                r#"  Cups "2026-01-09" null 5 0 0 5"#,
                r#"SO-9 "2026-01-09" "Ada" null null null null"#,
                r#"  Beans "2026-01-09" null 3 4 0 0"#,
            ]
        );
        assert_eq!((failed(&sheet), &sheet.totals["orders"]), (Vec::new(), &Cell::Count(2)));
    }

    #[test]
    fn an_item_leaves_what_it_earned_less_what_it_cost() {
        let of =
            |figures: &[(Option<u128>, i64)]| figures.iter().map(|(item, cents)| (item.map(id), cents * 100)).collect();
        let facts = Profits {
            own: Own(2),
            income: of(&[(Some(1), -9_000), (Some(2), 0), (None, -1_000)]),
            cost: of(&[(Some(1), 6_000), (Some(3), 700)]),
            names: named(&[(1, "Beans"), (2, "Cups"), (3, "Apples")]),
            apart: [-1_000_000, 670_000],
        };
        let sheet = ItemProfitability::fold(facts, &asked("2026-01-01", "2026-01-31")).unwrap();
        assert_eq!(
            written(&sheet),
            [
                "Apples 0.00 7.00 -7.00 null",
                "Beans 90.00 60.00 30.00 33.33",
                "none 10.00 0.00 10.00 100",
                "total 100.00 67.00 33.00 null",
            ]
        );
        assert_eq!(failed(&sheet), Vec::<String>::new());
    }
}

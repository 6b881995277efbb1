//! What is ordered and still to come or go.

use crate::Report;
use crate::aging::names_of;
use crate::asked::{Asked, FORMAT, ITEM, PARTY, TYPE};
use crate::day::Day;
use crate::error::Result;
use crate::form::{Example, Form, Holds};
use crate::goods::item_names;
use crate::goods::pieces;
use crate::ids::RecordId;
use crate::money::Quantity;
use crate::sheet::{Cell, Row, RowType, Sheet};
use answers::Ask;
use books::cx::Cx;
use books::progress::less;
use kit::list::Parameter;
use schema::aliases::{Aliases, Named};
use schema::tables::{DocumentKind, DocumentStatus, documents, progress};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use std::collections::{BTreeMap, HashMap};

pub(crate) struct OpenOrders;

answers::of_row! {
    pub(super) struct Order {
        pub(super) id: RecordId,
        pub(crate) kind: DocumentKind,
        pub(crate) number: Option<String>,
        pub(crate) date: Day,
        pub(super) party_id: Option<Named>,
    }
}

pub(crate) struct Ordered {
    pub(crate) aliases: Aliases,
    pub(super) orders: Vec<Order>,
    pub(super) lines: Vec<progress::Model>,
    pub(crate) parties: HashMap<RecordId, String>,
    pub(crate) items: HashMap<RecordId, String>,
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
        let orders: Vec<Order> =
            orders.order_by_asc(documents::Column::Date).order_by_asc(documents::Column::Id).read(&cx.db).await?;
        let mut lines = progress::Entity::find()
            .filter(progress::Column::BusinessId.eq(business))
            .filter(progress::Column::DocumentId.in_subquery(of_these));
        if let Some(item) = asked.item {
            lines = lines.filter(progress::Column::ItemId.eq(item));
        }
        let mut lines = lines.models(&cx.db).await?;
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
        let (mut ordered, mut told) = (0_i128, 0_i128);
        for order in &orders {
            let of_order = lines.iter().filter(|line| line.document_id == order.id);
            let children: Vec<Row> = of_order
                .map(|line| {
                    let open = Ord::max(line.open(), none);
                    // More than was ordered may have come.
                    let beyond = Ord::max(less(less(line.fulfilled, line.quantity), less(none, line.cancelled)), none);
                    let [of, came, left, given_up, more] =
                        [line.quantity, line.fulfilled, open, line.cancelled, beyond].map(|it| i128::from(it.units()));
                    ordered += of;
                    told += came + left + given_up - more;
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
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: BTreeMap::from([("orders".to_owned(), Cell::Count(count))]),
            checks: vec![crate::sheet::Check {
                name: "What is ordered is delivered, given up or open".into(),
                left: pieces(ordered),
                right: pieces(told),
                ok: ordered == told,
            }],
            ..Sheet::default()
        })
    }
}

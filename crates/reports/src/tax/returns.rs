//! Tax by the boxes of a return.

use super::super::Report;
use super::super::asked::{Asked, FORMAT, FROM, FROM_DATE, KNOWN_AT, TAX_BASIS, TO, TO_DATE};
use super::super::form::{Example, Form, Holds};
use super::super::sheet::{Cell, Own, Row, RowType, Sheet};
use super::facts::Taxes;
use crate::error::Result;
use books::cx::Cx;
use kit::list::Parameter;
use rules::tax::facts::TaxDuty;
use std::collections::BTreeMap;

pub(in super::super) struct TaxReturn;

impl Report for TaxReturn {
    const NAME: &'static str = "tax-return";
    const OPERATION: &'static str = "TaxReturn";
    const TITLE: &'static str = "Tax return";
    const ABOUT: &'static str = "What goes into each box of a tax return in a period, as the components of tax codes \
                                 say, in the company's currency. What no box takes is listed below `none`, code by code.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, TAX_BASIS, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("base", "Without tax", Holds::Amount),
            ("tax", "Tax", Holds::Amount),
            ("amount", "Into the box", Holds::Amount),
        ],
        varying: None,
        totals: &[
            ("due", "Tax that is owed", Holds::Amount),
            ("claim", "Tax that is claimed", Holds::Amount),
            ("payable", "Tax to be paid", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[
                (RowType::Line, "66", "66", &["0.00", "200.00", "200.00"]),
                (RowType::Line, "81", "81", &["22500.00", "0.00", "22500.00"]),
                (RowType::Line, "81T", "81T", &["0.00", "4500.00", "4500.00"]),
            ],
            totals: &["4500.00", "200.00", "4300.00"],
            check: ("The tax is what the ledger lines move that carry it", Holds::Amount, "-4300.00"),
        },
    };
    type Facts = (Own, Taxes);

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Self::Facts> {
        Ok((Own(cx.business()?.currency_decimals), Taxes::of(cx, asked).await?))
    }

    fn fold((own, taxes): Self::Facts, _: &Asked) -> Result<Sheet> {
        let mut boxes: BTreeMap<&str, [i64; 2]> = BTreeMap::new();
        let mut outside: BTreeMap<(String, String), [i64; 2]> = BTreeMap::new();
        let (mut due, mut claim) = (0, 0);
        for sum in taxes.counting().filter(|sum| !sum.is_carry()) {
            match sum.duty {
                TaxDuty::Owed => due += sum.tax,
                TaxDuty::Claimed => claim += sum.tax,
                TaxDuty::WithheldFromUs | TaxDuty::WithheldByUs | TaxDuty::None => {}
            }
            let mut left = [0, 0];
            match &sum.base_box {
                Some(name) => boxes.entry(name).or_default()[0] += sum.base,
                None if sum.leads => left[0] = sum.base,
                None => {}
            }
            match &sum.tax_box {
                Some(name) => boxes.entry(name).or_default()[1] += sum.tax,
                None => left[1] = sum.tax,
            }
            if left != [0, 0] {
                let (key, name) = taxes.name_of(sum.tax_code_id);
                let listed = outside.entry((name, key)).or_default();
                *listed = [listed[0] + left[0], listed[1] + left[1]];
            }
        }
        let mut rows: Vec<Row> = boxes
            .into_iter()
            .map(|(name, [base, tax])| Row::total(RowType::Line, name, name, own.cells(&[base, tax, base + tax])))
            .collect();
        if !outside.is_empty() {
            let children = outside.into_iter().map(|((name, key), [base, tax])| {
                let values = vec![own.cell(base), own.cell(tax), Cell::Nothing];
                Row::total(RowType::Line, &key, &name, values)
            });
            let nothing = vec![Cell::Nothing, Cell::Nothing, Cell::Nothing];
            rows.push(Row::section("none", "Without a box", nothing, children.collect()));
        }
        let totals = [("due", due), ("claim", claim), ("payable", due - claim)];
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: totals.into_iter().map(|(key, figure)| (key.to_owned(), own.cell(figure))).collect(),
            checks: vec![own.check("The tax is what the ledger lines move that carry it", taxes.told(), taxes.posted)],
            ..Sheet::default()
        })
    }
}

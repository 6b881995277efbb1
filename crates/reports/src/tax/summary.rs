//! Tax by code and component.

use super::super::Report;
use super::super::asked::{Asked, FORMAT, FROM, FROM_DATE, KNOWN_AT, TAX_BASIS, TAX_CODE, TO, TO_DATE};
use super::super::form::{Example, Form, Holds};
use super::super::sheet::{Own, Row, RowType, Sheet};
use super::facts::{Sum, Taxes};
use crate::error::Result;
use crate::ids::RecordId;
use books::cx::Cx;
use kit::list::Parameter;
use rules::tax::facts::{TaxDuty, TaxSide};
use std::collections::BTreeMap;

pub(in super::super) struct TaxSummary;

/// One figure for each column.
type Figures = [i64; 7];

/// The figures of a sum of facts; whether its base counts depends on the row.
fn figures(sum: &Sum, counts: bool) -> Figures {
    let base = if counts { sum.base } else { 0 };
    let (sales, purchases) = if sum.side == TaxSide::Sale { (base, 0) } else { (0, base) };
    let of = |duty| if sum.duty == duty { sum.tax } else { 0 };
    [
        sales,
        of(TaxDuty::Owed),
        purchases,
        of(TaxDuty::Claimed),
        sum.not_recoverable,
        of(TaxDuty::WithheldFromUs),
        of(TaxDuty::WithheldByUs),
    ]
}

fn add(to: &mut Figures, figures: Figures) {
    for (to, figure) in to.iter_mut().zip(figures) {
        *to += figure;
    }
}

/// A code: its figures, and those of its components by name.
#[derive(Default)]
struct OfCode {
    whole: Figures,
    components: BTreeMap<(String, Option<RecordId>), Figures>,
}

impl Report for TaxSummary {
    const NAME: &'static str = "tax-summary";
    const OPERATION: &'static str = "TaxSummary";
    const TITLE: &'static str = "Summary of tax";
    const ABOUT: &'static str = "What tax was charged on sales and paid on purchases in a period, by tax code and \
                                 component, with what it was computed on, in the company's currency. Lines without a \
                                 code stand below `none`; what moves accounts of tax without being tax stands below \
                                 `carry`, and is in no total.";
    const PARAMETERS: &'static [Parameter] = &[FROM, TO, FROM_DATE, TO_DATE, TAX_CODE, TAX_BASIS, KNOWN_AT, FORMAT];
    const FORM: Form = Form {
        columns: &[
            ("salesBase", "Sales, without tax", Holds::Amount),
            ("outputTax", "Tax that is owed", Holds::Amount),
            ("purchaseBase", "Purchases, without tax", Holds::Amount),
            ("inputTax", "Tax that is claimed", Holds::Amount),
            ("notRecoverable", "Tax that cannot be claimed", Holds::Amount),
            ("withheldFromUs", "Kept back by customers", Holds::Amount),
            ("withheldByUs", "Kept back from suppliers", Holds::Amount),
        ],
        varying: None,
        totals: &[
            ("salesBase", "Sales, without tax", Holds::Amount),
            ("outputTax", "Tax that is owed", Holds::Amount),
            ("purchaseBase", "Purchases, without tax", Holds::Amount),
            ("inputTax", "Tax that is claimed", Holds::Amount),
            ("notRecoverable", "Tax that cannot be claimed", Holds::Amount),
            ("withheldFromUs", "Kept back by customers", Holds::Amount),
            ("withheldByUs", "Kept back from suppliers", Holds::Amount),
            ("netTax", "Tax to be paid", Holds::Amount),
        ],
        example: Example {
            varying: &[],
            rows: &[
                (
                    RowType::Section,
                    "019a9f6e-6c00-7b24-8d13-8fa0c1324d24",
                    "VAT20 VAT 20 %",
                    &["22500.00", "4500.00", "1000.00", "200.00", "0.00", "0.00", "0.00"],
                ),
                (
                    RowType::Total,
                    "total",
                    "Total",
                    &["22500.00", "4500.00", "1000.00", "200.00", "0.00", "0.00", "0.00"],
                ),
            ],
            totals: &["22500.00", "4500.00", "1000.00", "200.00", "0.00", "0.00", "0.00", "4300.00"],
            check: ("The tax is what the ledger lines move that carry it", Holds::Amount, "-4300.00"),
        },
    };
    type Facts = (Own, Taxes);

    async fn gather(cx: &Cx<'_>, asked: &Asked) -> Result<Self::Facts> {
        Ok((Own(cx.business()?.currency_decimals), Taxes::of(cx, asked).await?))
    }

    fn fold((own, taxes): Self::Facts, _: &Asked) -> Result<Sheet> {
        let mut codes: BTreeMap<(bool, String, String), OfCode> = BTreeMap::new();
        let mut carried: Option<Figures> = None;
        let mut total = Figures::default();
        for sum in taxes.counting() {
            if sum.is_carry() {
                add(carried.get_or_insert_default(), figures(sum, false));
                continue;
            }
            let (key, name) = taxes.name_of(sum.tax_code_id);
            let of_code = codes.entry((sum.tax_code_id.is_none(), name, key)).or_default();
            add(&mut of_code.whole, figures(sum, sum.leads));
            add(&mut total, figures(sum, sum.leads));
            if let Some(id) = sum.component_id {
                let component = (sum.component.as_deref().unwrap_or("").to_owned(), Some(id));
                add(of_code.components.entry(component).or_default(), figures(sum, !sum.only_shows()));
            }
        }
        let mut rows = Vec::new();
        let says = |figures: &Figures| *figures != Figures::default();
        // What was taken back on its day says nothing any more.
        codes.retain(|_, of_code| says(&of_code.whole) || of_code.components.values().any(says));
        for ((_, name, key), of_code) in codes {
            let components = of_code.components.into_iter().map(|((name, id), figures)| {
                let key = id.map_or_else(|| name.clone(), |id| id.to_string());
                Row::total(RowType::Line, &key, &name, own.cells(&figures))
            });
            rows.push(Row::section(&key, &name, own.cells(&of_code.whole), components.collect()));
        }
        if let Some(carried) = carried.filter(says) {
            let label = "Moved without being tax";
            rows.push(Row::section("carry", label, own.cells(&carried), Vec::new()));
        }
        rows.push(Row::total(RowType::Total, "total", "Total", own.cells(&total)));
        let mut totals =
            Self::FORM.columns.iter().zip(total).map(|((key, _, _), figure)| (*key, figure)).collect::<Vec<_>>();
        totals.push(("netTax", total[1] - total[3]));
        Ok(Sheet {
            columns: Self::FORM.columns(),
            rows,
            totals: totals.into_iter().map(|(key, figure)| (key.to_owned(), own.cell(figure))).collect(),
            checks: vec![own.check("The tax is what the ledger lines move that carry it", taxes.told(), taxes.posted)],
            ..Sheet::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::{asked, failed, id, named, written};
    use super::*;
    use rules::tax::TaxKind;
    use rules::tax::facts::TaxOrigin;

    fn sum(code: Option<u128>, component: Option<&str>, side: TaxSide, duty: TaxDuty, [base, tax]: [i64; 2]) -> Sum {
        Sum {
            tax_code_id: code.map(id),
            component_id: component.map(|name| id(u128::from(name.as_bytes()[0]))),
            component: component.map(Into::into),
            side,
            duty,
            origin: TaxOrigin::Document,
            kind: Some(TaxKind::Standard),
            leads: true,
            base_box: None,
            tax_box: None,
            base: base * 100,
            tax: tax * 100,
            not_recoverable: 0,
        }
    }

    #[test]
    fn a_base_counts_once_and_what_carries_is_in_no_total() {
        use TaxDuty::{Claimed, None as Alone, Owed, WithheldFromUs};
        use TaxSide::{Purchase, Sale};
        let follows = |sum: Sum| Sum { leads: false, ..sum };
        let withholding = |sum: Sum| Sum { kind: Some(TaxKind::Withholding), ..sum };
        let taxes = |posted: i64| Taxes {
            sums: vec![
                sum(Some(1), Some("VAT"), Sale, Owed, [10_000, 2_000]),
                sum(Some(1), Some("VAT"), Purchase, Claimed, [2_500, 500]),
                sum(Some(2), Some("A"), Sale, Owed, [10_000, 500]),
                follows(sum(Some(2), Some("B"), Sale, Owed, [10_500, 1_047])),
                sum(Some(3), Some("RC"), Purchase, Owed, [30_000, 5_700]),
                follows(Sum { not_recoverable: 70_000, ..sum(Some(3), Some("RC"), Purchase, Claimed, [0, 5_000]) }),
                withholding(sum(Some(4), Some("W"), Sale, Alone, [50_000, 0])),
                follows(withholding(sum(Some(4), Some("W"), Sale, WithheldFromUs, [50_000, 5_000]))),
                sum(None, None, Sale, Alone, [500, 0]),
                follows(Sum { origin: TaxOrigin::Carry, ..sum(None, None, Sale, Owed, [0, -3_000]) }),
            ],
            by_cash: Vec::new(),
            codes: named(&[(1, "VAT 20"), (2, "Compound"), (3, "Reverse"), (4, "Withheld")]),
            posted: posted * 100,
        };
        let asked = asked("2026-01-01", "2026-01-31");
        let sheet = TaxSummary::fold((Own(2), taxes(4_253)), &asked).unwrap();
        assert_eq!(
            written(&sheet),
            [
                "Compound 100.00 15.47 0.00 0.00 0.00 0.00 0.00",
                "  A 100.00 5.00 0.00 0.00 0.00 0.00 0.00",
                "  B 105.00 10.47 0.00 0.00 0.00 0.00 0.00",
                "Reverse 0.00 57.00 300.00 50.00 7.00 0.00 0.00",
                "  RC 0.00 57.00 300.00 50.00 7.00 0.00 0.00",
                "VAT 20 100.00 20.00 25.00 5.00 0.00 0.00 0.00",
                "  VAT 100.00 20.00 25.00 5.00 0.00 0.00 0.00",
                "Withheld 500.00 0.00 0.00 0.00 0.00 50.00 0.00",
                "  W 500.00 0.00 0.00 0.00 0.00 50.00 0.00",
                "none 5.00 0.00 0.00 0.00 0.00 0.00 0.00",
                "carry 0.00 -30.00 0.00 0.00 0.00 0.00 0.00",
                "total 705.00 92.47 325.00 55.00 7.00 50.00 0.00",
            ]
        );
        assert_eq!((failed(&sheet), &sheet.totals["netTax"]), (Vec::new(), &Own(2).cell(374_700)));
        assert_eq!(failed(&TaxSummary::fold((Own(2), taxes(4_254)), &asked).unwrap()).len(), 1);
    }
}

//! Worked examples of what bills and notes of goods post, each beside the kind that it is of.

#![cfg(test)]

use super::*;
use crate::clock::Instant;
use crate::day::Day;
use crate::ids::BusinessId;
use crate::money::{BookMoney, Percent, Quantity, UnitPrice};
use crate::parts::line::{TaxChoice, TradeLineAsked};
use crate::parts::{Posts, TradeKind};
use crate::samples::{components, exchange, id, rules};
use rules::posting::Posting;
use rules::tax::TaxDirection;
use rules::tax::facts::{Code, Common, Computed, TaxOrigin, TaxSide};
use rules::tax::figures::{Priced, compute};
use schema::tables::FactSide;
use std::collections::BTreeMap;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Quantity, price, discount and the account of the net amount.
    pub(crate) lines: &'static [(&'static str, &'static str, &'static str, u128)],
    pub(crate) tax: &'static [(&'static str, TaxKind, &'static str)],
    pub(crate) inclusive: bool,
    pub(crate) rate: &'static str,
    /// What the fact of each line's goods moves: stock, what waits, cost, variance, each on its account.
    pub(crate) goods: Option<(FactKind, [(u128, &'static str); 4])>,
    pub(crate) opening: bool,
    pub(crate) posts: &'static str,
}

pub(crate) const PLAIN: Case =
    Case { name: "", lines: &[], tax: &[], inclusive: false, rate: "1", goods: None, opening: false, posts: "" };

pub(crate) const ALL_BACK: &str = "100";

fn posted<K: TradeKind>(case: &Case) -> String {
    let Posts::Bill(posting) = K::POSTING else { panic!("it charges nobody") };
    let components = components(case.tax);
    let code = id(8_000);
    let line = |(place, (quantity, price, discount, net)): (u128, &(&str, &str, &str, u128))| TradeLineAsked {
        id: Some(id(7_000 + place)),
        account: Some(id(*net)),
        quantity: Some(Quantity::parse(quantity).unwrap()),
        price: Some(UnitPrice::parse(price).unwrap()),
        discount: (*discount != "0").then(|| rules::tax::figures::Discount::Percent(Percent::parse(discount).unwrap())),
        tax: if components.is_empty() { TaxChoice::None } else { TaxChoice::Code(code) },
        ..TradeLineAsked::default()
    };
    let asked = TradeAsked { lines: (0..).zip(case.lines).map(line).collect(), ..TradeAsked::default() };
    let exchange = exchange(case.rate);
    let rules = rules(case.inclusive, case.rate);
    let priced = |line: &TradeLineAsked| Priced {
        quantity: line.quantity(),
        price: line.price.unwrap(),
        discount: line.discount,
        tax: line.tax.code().map(|code| (code, components.as_slice())),
        stated: None,
    };
    let priced: Vec<Priced<'_>> = asked.lines.iter().map(priced).collect();
    let (figures, totals) = compute(&rules, &priced, None).unwrap();
    let base = InBase::of(&figures, &totals, &exchange).unwrap();
    let facts: Vec<_> = case.goods.map(fact).into_iter().collect();
    let chart = books::chart::sample();
    let control = id(if K::DIRECTION.is_sale() { 1200 } else { 2100 });
    let accounts = Accounts { chart: &chart, control, is_opening: case.opening };
    let common = Common {
        exchange: &exchange,
        chart: &chart,
        withholding: Withholding::Shown,
        origin: if case.opening { TaxOrigin::Opening } else { TaxOrigin::Document },
        date: rules.rates_of,
        party: None,
        party_tax_number: None,
        country: None,
    };
    let code = Code { direction: TaxDirection::Both, category: None, report_box: None, components: &components };
    let of_tax = |(index, line): (usize, &TradeLineAsked)| {
        let computed = Computed {
            line: line.id,
            side: if K::DIRECTION.is_sale() { TaxSide::Sale } else { TaxSide::Purchase },
            credits: K::DIRECTION.credits(),
            figures: &figures[index],
            home_net: base.nets[index],
            home_taxes: &base.taxes[index],
            code: line.tax.code().map(|id| (id, code)),
            as_taxed: &[],
        };
        common.line(&computed).unwrap()
    };
    let taxes = asked.lines.iter().enumerate().map(of_tax).collect();
    let amounts = Amounts { totals: &totals, base: &base };
    let bill = Bill { asked: &asked, accounts: &accounts, exchange: &exchange, amounts, taxes, stock: &facts };
    summed(posting(bill).unwrap())
}

fn fact((kind, goods): (FactKind, [(u128, &str); 4])) -> stock_facts::Model {
    let [stock, waits, cost, variance] = goods.map(|(code, amount)| (id(code), BookMoney::parse(amount).unwrap()));
    stock_facts::Model {
        business_id: BusinessId::default(),
        id: id(1),
        item_id: RecordId::default(),
        date: Day::default(),
        place: 1,
        document_id: RecordId::default(),
        line_id: id(7_000),
        kind,
        side: FactSide::Document,
        quantity: Quantity::ZERO,
        amount: BookMoney::ZERO,
        standard: None,
        of_line_id: None,
        cancels_id: None,
        inventory_account_id: stock.0,
        cost_account_id: cost.0,
        variance_account_id: variance.0,
        waits_account_id: Some(waits.0),
        booked_stock: stock.1,
        booked_waits: waits.1,
        booked_cost: cost.1,
        booked_variance: variance.1,
        recorded_at: Instant::from_micros(0),
    }
}

/// What of goods is stock, what waits for a bill, and what is a variance.
pub(crate) const fn bought(
    stock: &'static str,
    waits: &'static str,
    variance: &'static str,
) -> [(u128, &'static str); 4] {
    [(1300, stock), (2150, waits), (5000, "0"), (5100, variance)]
}

/// What of goods is stock, what waits for an invoice, and what is a cost.
pub(crate) const fn sold(stock: &'static str, waits: &'static str, cost: &'static str) -> [(u128, &'static str); 4] {
    [(1300, stock), (1350, waits), (5000, cost), (5200, "0")]
}

/// What balanced lines come to, account by account; the party's is 1.
fn summed(lines: Vec<Line>) -> String {
    let posting = Posting::balanced(lines).unwrap();
    let mut sums: BTreeMap<u128, i64> = BTreeMap::new();
    for line in posting.lines() {
        let code = line.account().0.as_u128();
        *sums.entry(if [1200, 2100].contains(&code) { 1 } else { code }).or_default() += line.amount().units();
    }
    let shown = sums.into_iter().filter(|(_, sum)| *sum != 0);
    shown.map(|(code, sum)| format!("{code} {}", BookMoney::from_units(sum))).collect::<Vec<_>>().join("; ")
}

pub(crate) const VAT_20: &[(&str, TaxKind, &str)] = &[("20", TaxKind::Standard, ALL_BACK)];

pub(crate) fn hold<K: TradeKind>(cases: &[Case]) {
    for case in cases {
        assert_eq!(posted::<K>(case), case.posts, "{}", case.name);
    }
}

/// What a fact of goods posts by a note of them: its name, what it moves, and the accounts.
type OfGoods = (&'static str, FactKind, [(u128, &'static str); 4], &'static str);

pub(crate) fn hold_goods<K: TradeKind>(cases: &[OfGoods]) {
    let Posts::Goods(posting) = K::POSTING else { panic!("it is no note of goods") };
    for (name, kind, goods, wanted) in cases {
        let line = TradeLineAsked { id: Some(id(7_000)), ..TradeLineAsked::default() };
        let asked = TradeAsked { lines: vec![line], ..TradeAsked::default() };
        let exchange = exchange("1");
        let chart = books::chart::sample();
        let stock = [fact((*kind, *goods))];
        let note = GoodsNote { asked: &asked, exchange: &exchange, chart: &chart, stock: &stock };
        assert_eq!(summed(posting(&note).unwrap()), *wanted, "{name}");
    }
}

//! What every stream begins with: days, currencies, parties, items and tax codes.

use super::exact::Fraction;

/// Days of the window, the first of which is 15 November 2025. A year ends within it.
pub const DAYS: usize = 121;
pub const YEAR_END: usize = 46;

pub fn date(day: usize) -> String {
    let mut left = day + 14;
    for (year, month, length) in [(2025, 11, 30), (2025, 12, 31), (2026, 1, 31), (2026, 2, 28), (2026, 3, 31)] {
        if left < length {
            return format!("{year}-{month:02}-{:02}", left + 1);
        }
        left -= length;
    }
    panic!("{day} is behind the window")
}

/// Currencies with their decimals; the first is the company's.
pub const CURRENCIES: [(&str, u32); 3] = [("EUR", 2), ("USD", 2), ("JPY", 0)];

/// Rates are in millionths.
pub const RATES: [&[i128]; 3] = [&[1_000_000], &[900_000, 930_000, 876_700, 950_000, 333_300], &[6_100, 6_543, 5_900]];

/// From coins of a currency to coins of the company's.
pub fn exchange(currency: usize, rate: i128) -> Fraction {
    Fraction::new(rate * 100, 1_000_000 * 10_i128.pow(CURRENCIES[currency].1))
}

pub const PARTIES: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Average,
    Fifo,
    Standard,
}

/// How the items are valued, and whether there may be less of one than nothing.
pub const ITEMS: [(Method, bool); 5] = [
    (Method::Average, false),
    (Method::Average, true),
    (Method::Fifo, false),
    (Method::Fifo, true),
    (Method::Standard, false),
];

/// What a piece of the standard item costs, in coins.
pub const STANDARD: i128 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaxKind {
    Standard,
    PerUnit,
    Zero,
    Exempt,
    Outside,
    Reverse,
    Withheld,
}

impl TaxKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::PerUnit => "fixedPerUnit",
            Self::Zero => "zero",
            Self::Exempt => "exempt",
            Self::Outside => "outside",
            Self::Reverse => "reverseCharge",
            Self::Withheld => "withholding",
        }
    }

    /// Whether the other side pays it.
    pub const fn is_charged(self) -> bool {
        matches!(self, Self::Standard | Self::PerUnit)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Component {
    pub kind: TaxKind,
    /// In thousandths of a percent, or in thousandths for a unit.
    pub rate: i128,
    /// The same from the first day of the second year on.
    pub later: i128,
    pub compound: bool,
    /// In percent.
    pub recoverable: i128,
    pub boxes: Boxes,
}

/// Where its figures go in a return.
#[derive(Debug, Clone, Copy)]
pub struct Boxes {
    pub sales_base: Option<&'static str>,
    pub sales_tax: Option<&'static str>,
    pub purchase_base: Option<&'static str>,
    pub purchase_due: Option<&'static str>,
    pub purchase_claim: Option<&'static str>,
}

const NO_BOX: Boxes =
    Boxes { sales_base: None, sales_tax: None, purchase_base: None, purchase_due: None, purchase_claim: None };

/// Of what is charged: two of sales, and what is claimed on purchases, whose bases share one.
const fn charged(sales_base: &'static str, sales_tax: &'static str, claim: &'static str) -> Boxes {
    Boxes {
        sales_base: Some(sales_base),
        sales_tax: Some(sales_tax),
        purchase_base: Some("60"),
        purchase_claim: Some(claim),
        ..NO_BOX
    }
}

const REVERSED: Boxes = Boxes {
    sales_base: Some("21"),
    sales_tax: None,
    purchase_base: Some("84"),
    purchase_due: Some("85"),
    purchase_claim: Some("67"),
};

const fn component(kind: TaxKind, rate: i128) -> Component {
    Component { kind, rate, later: rate, compound: false, recoverable: 100, boxes: NO_BOX }
}

pub const CODES: [(&str, &[Component]); 12] = [
    ("V20", &[Component { boxes: charged("81", "81T", "66"), ..component(TaxKind::Standard, 20_000) }]),
    ("V7", &[Component { boxes: charged("86", "86T", "66"), ..component(TaxKind::Standard, 7_000) }]),
    ("V19", &[Component { later: 16_000, boxes: charged("81", "81T", "66"), ..component(TaxKind::Standard, 19_000) }]),
    (
        // A base is in a box once, whatever components name it.
        "AB",
        &[
            Component { boxes: charged("81", "81T", "66"), ..component(TaxKind::Standard, 5_000) },
            Component { compound: true, boxes: charged("81", "35T", "63"), ..component(TaxKind::Standard, 9_975) },
        ],
    ),
    ("HALF", &[Component { recoverable: 50, ..component(TaxKind::Standard, 20_000) }]),
    ("RC", &[Component { boxes: REVERSED, ..component(TaxKind::Reverse, 19_000) }]),
    ("RCH", &[Component { recoverable: 50, boxes: REVERSED, ..component(TaxKind::Reverse, 20_000) }]),
    (
        "EXC",
        &[
            component(TaxKind::PerUnit, 2_000),
            Component {
                compound: true,
                boxes: Boxes { sales_tax: Some("36T"), ..NO_BOX },
                ..component(TaxKind::Standard, 20_000)
            },
        ],
    ),
    ("Z0", &[Component { boxes: Boxes { sales_base: Some("48"), ..NO_BOX }, ..component(TaxKind::Zero, 0) }]),
    ("EX", &[component(TaxKind::Exempt, 0)]),
    ("OUT", &[component(TaxKind::Outside, 0)]),
    (
        "W",
        &[
            Component { boxes: charged("81", "81T", "66"), ..component(TaxKind::Standard, 20_000) },
            component(TaxKind::Withheld, 10_000),
        ],
    ),
];

/// The accounts that streams and rules name.
pub mod account {
    pub const BANK: u16 = 1010;
    pub const CASH: u16 = 1000;
    pub const RECEIVABLE: u16 = 1200;
    pub const STOCK: u16 = 1300;
    pub const EQUIPMENT: u16 = 1600;
    pub const LOANS: u16 = 2700;
    pub const DELIVERED: u16 = 1350;
    pub const INPUT_TAX: u16 = 1400;
    pub const KEPT_FROM_US: u16 = 1410;
    pub const PAYABLE: u16 = 2100;
    pub const RECEIVED: u16 = 2150;
    pub const OUTPUT_TAX: u16 = 2200;
    pub const KEPT_BY_US: u16 = 2210;
    pub const RETAINED: u16 = 3200;
    pub const SALES: u16 = 4000;
    pub const DISCOUNT_RECEIVED: u16 = 4800;
    pub const EXCHANGE: u16 = 4900;
    pub const COST: u16 = 5000;
    pub const VARIANCE: u16 = 5100;
    pub const ADJUSTED: u16 = 5200;
    pub const EXPENSE: u16 = 6000;
    pub const FEES: u16 = 6800;
    pub const BAD_DEBT: u16 = 6810;
    pub const DISCOUNT_GIVEN: u16 = 6820;

    /// Whether it begins each year with nothing.
    pub const fn is_of_a_year(account: u16) -> bool {
        account >= 4000
    }
}

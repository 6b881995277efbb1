//! What each company's books have to tell, in five sentences, each with where to see it.

use ledger_core::resource::named;

/// A sentence, and where it is seen: the words of a link, and the view of the console below the company.
pub type Sentence = (&'static str, &'static str, &'static str);

/// A company, by its identifier, and its story.
pub type Told = (String, &'static [Sentence]);

const TRADER: &[Sentence] = &[
    (
        "Harbour Trading sells coffee, grinders and cups to hotels and cafés, some of them in America and Switzerland.",
        "Customers",
        "parties?isCustomer=true",
    ),
    ("It sells by the season: coffee is drunk in the cold.", "Profit by month", "reports/pl?groupBy=month"),
    (
        "Its suppliers ask a little more each month, so what is left of a bag of beans shrinks.",
        "Margin by item",
        "reports/item-profitability",
    ),
    (
        "Deichgraf Events pays three weeks late, and others with it.",
        "Invoices overdue",
        "sales-invoices?status=overdue",
    ),
    ("An old till still speaks dialect A; the web shop moved to B.", "Who speaks which", "dialects"),
];

const STUDIO: &[Sentence] = &[
    ("Kestrel Studio sells days of work; a project is an order that is billed as it goes.", "Orders", "sales-orders"),
    (
        "Its clients pay in pounds, euros and dollars, and a quarter ends with what those are worth.",
        "Gains of exchange",
        "reports/fx-gains",
    ),
    ("Dockside Theatre pays four weeks late.", "Owed, by age", "reports/ar-aging"),
    ("A developer's bill comes nine days after its month, and is booked in that month.", "Bills", "purchase-invoices"),
    ("A year that is over is closed: nothing is entered there any more.", "Fiscal years", "fiscal-years"),
];

const SHOP: &[Sentence] = &[
    (
        "At Maple Street most customers have no name: the till's slips are invoices that are paid at once.",
        "Invoices",
        "sales-invoices",
    ),
    ("Prices have the sales tax in them.", "Tax of this quarter", "reports/tax-summary"),
    ("The school buys sandwiches each month, at a tenth less, and sends a cheque.", "Receipts", "receipts"),
    (
        "A wholesaler brings what is short each week, and takes back what is past its date.",
        "Debit notes",
        "debit-notes",
    ),
    ("What lies in the till goes to the bank once a month.", "Cash", "reports/cash-flow"),
];

/// The stories, by the companies that they are of.
pub fn told() -> Vec<Told> {
    [("harbour", TRADER), ("studio", STUDIO), ("shop", SHOP)]
        .map(|(key, story)| (named::id(key).to_string(), story))
        .to_vec()
}

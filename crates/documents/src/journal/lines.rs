//! The lines of a journal.

use super::{JournalAsked, check_rate};
use crate::currency::CurrencyCode;
use crate::day::Day;
use crate::document::{self, Head};
use crate::field::{Faults, Field, Maybe, Text};
use crate::ids::RecordId;
use crate::money::{Amount, Money, Rate};
use books::access::Business;
use books::chart::Chart;
use books::open_items::NewOpen;
use rules::keeper::Keeper;
use rules::posting::Line;
use rules::tax::facts::TaxSide;
use schema::address::text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One line of a journal.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct JournalLineInput {
    /// The line's identifier, to keep its identity in an update.
    pub(super) id: Maybe<RecordId>,
    /// The account.
    pub(super) account_id: Field<RecordId>,
    /// The party; required on control accounts.
    pub(super) party_id: Maybe<RecordId>,
    /// Amount on the debit side. Exactly one of debit and credit is more than 0.
    pub(super) debit: Maybe<Money>,
    /// Amount on the credit side. Exactly one of debit and credit is more than 0.
    pub(super) credit: Maybe<Money>,
    /// What the line is about.
    pub(super) description: Maybe<Text<1000>>,
    /// When it is due, on control accounts.
    pub(super) due_date: Maybe<Day>,
    /// Currency of the line; the journal's when absent.
    pub(super) currency: Maybe<CurrencyCode>,
    /// What one unit of the line's currency is worth; the journal's rate when absent.
    pub(super) exchange_rate: Maybe<Rate>,
    /// The tax code. On an account of tax the line is tax of it, on any other it is what was taxed; nothing is added.
    pub(super) tax_code_id: Maybe<RecordId>,
    /// The component that the line is tax of; required where the code has several.
    pub(super) tax_component_id: Maybe<RecordId>,
    /// What the tax of the line was computed on, in the line's currency, where no other line says it.
    pub(super) tax_base: Maybe<Money>,
    /// Whether it is of a sale or of a purchase; as the tax code is for when absent, required where that is for both.
    pub(super) tax_side: Maybe<TaxSide>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct JournalLineAsked {
    pub(super) id: Option<RecordId>,
    pub(super) account: RecordId,
    pub(super) party: Option<RecordId>,
    /// A debit is positive.
    pub(super) amount: Money,
    pub(super) description: Option<String>,
    pub(super) due_date: Option<Day>,
    pub(super) currency: Option<String>,
    pub(super) exchange_rate: Option<Rate>,
    #[serde(default, skip_serializing_if = "TaxAsked::is_unsaid")]
    pub(super) tax: TaxAsked,
}

impl JournalLineAsked {
    /// Its own currency, else the journal's, else the company's.
    pub(super) fn currency_in<'l>(&'l self, business: &'l Business, asked: &'l JournalAsked) -> &'l str {
        self.currency.as_ref().or(asked.currency.as_ref()).unwrap_or(&business.base_currency)
    }
}

/// What a line says of tax.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TaxAsked {
    pub(super) code: Option<RecordId>,
    pub(super) component: Option<RecordId>,
    pub(super) base: Option<Money>,
    pub(super) side: Option<TaxSide>,
}

impl TaxAsked {
    fn is_unsaid(&self) -> bool {
        *self == Self::default()
    }
}

document::identified!(JournalLineAsked);

/// One line of a journal.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "JournalLine")]
pub struct JournalLineView {
    /// The line's identifier; it keeps its identity in an update.
    pub(super) id: Option<RecordId>,
    /// Its place, from 1.
    pub(super) line_no: i64,
    /// The account.
    pub(super) account_id: RecordId,
    /// The party.
    pub(super) party_id: Option<RecordId>,
    /// Amount on the debit side, in the line's currency.
    pub(super) debit: Amount,
    /// Amount on the credit side, in the line's currency.
    pub(super) credit: Amount,
    /// What the line is about.
    pub(super) description: Option<String>,
    /// When it is due, on control accounts.
    pub(super) due_date: Option<Day>,
    /// Currency of the line.
    pub(super) currency: String,
    /// What one unit of the line's currency is worth in the company's.
    pub(super) exchange_rate: Option<Rate>,
    /// The debit in the company's currency.
    pub(super) base_debit: Amount,
    /// The credit in the company's currency.
    pub(super) base_credit: Amount,
    /// The tax code.
    pub(super) tax_code_id: Option<RecordId>,
    /// The component that the line is tax of.
    pub(super) tax_component_id: Option<RecordId>,
    /// What the tax of the line was computed on, where no other line says it.
    pub(super) tax_base: Option<Amount>,
    /// Whether it is of a sale or of a purchase, where the line says.
    pub(super) tax_side: Option<TaxSide>,
}

pub(super) fn check_lines(faults: &mut Faults, field: Field<Vec<Field<JournalLineInput>>>) -> Vec<JournalLineAsked> {
    let field = match field {
        Field::Missing => {
            faults.add("lines", "is required: a journal has at least two lines");
            return Vec::new();
        }
        Field::Malformed(why) => Field::Malformed(why),
        Field::Given(lines) => {
            match lines.len() {
                0 | 1 => faults.add("lines", "must be at least two"),
                1001.. => {
                    faults.add("lines", "must be at most 1000");
                    return Vec::new();
                }
                _ => {}
            }
            Field::Given(Some(lines))
        }
    };
    faults.each("lines", field, |faults, input| {
        let exchange_rate = faults.optional("exchangeRate", input.exchange_rate);
        check_rate(faults, exchange_rate);
        JournalLineAsked {
            id: faults.optional("id", input.id),
            account: faults.required("accountId", input.account_id),
            party: faults.optional("partyId", input.party_id),
            amount: check_sides(faults, input.debit, input.credit),
            description: text(faults, "description", input.description),
            due_date: faults.optional("dueDate", input.due_date),
            currency: faults.optional("currency", input.currency).map(CurrencyCode::into_inner),
            exchange_rate,
            tax: TaxAsked {
                code: faults.optional("taxCodeId", input.tax_code_id),
                component: faults.optional("taxComponentId", input.tax_component_id),
                base: faults.optional("taxBase", input.tax_base),
                side: faults.optional("taxSide", input.tax_side),
            },
        }
    })
}

/// One amount of two fields, of which exactly one says something.
fn check_sides(faults: &mut Faults, debit: Maybe<Money>, credit: Maybe<Money>) -> Money {
    let malformed = matches!(debit, Field::Malformed(_)) || matches!(credit, Field::Malformed(_));
    let debit = faults.optional("debit", debit).unwrap_or_default();
    let credit = faults.optional("credit", credit).unwrap_or_default();
    if malformed {
        return Money::ZERO;
    }
    for (name, money) in [("debit", debit), ("credit", credit)] {
        if money.is_negative() {
            faults.add(name, "must not be negative; use the other side");
        }
    }
    if (debit > Money::ZERO) == (credit > Money::ZERO) && !debit.is_negative() && !credit.is_negative() {
        for name in ["debit", "credit"] {
            faults.add(name, "exactly one of debit and credit must be more than 0");
        }
    }
    // Only one of them says something, where nothing is at fault.
    if credit == Money::ZERO { debit } else { credit.negated() }
}

/// What the lines on control accounts leave open; what takes itself back leaves the opposite open on that day.
pub(super) fn open_of(
    chart: &Chart,
    (head, asked): (&Head, &JournalAsked),
    lines: &[Line],
    mut new_id: impl FnMut() -> RecordId,
) -> Vec<NewOpen> {
    let mut open = Vec::new();
    for (line, posted) in asked.lines.iter().zip(lines) {
        let control = chart.account(posted.account()).is_some_and(|account| account.keeper == Keeper::OpenItems);
        let Some(party) = posted.party().filter(|_| control) else { continue };
        let new = NewOpen {
            line: line.id,
            party,
            account: posted.account(),
            currency: posted.currency().to_owned(),
            date: head.date,
            due_date: posted.due_date(),
            amount: posted.currency_amount(),
            base: posted.amount(),
        };
        if let Some(day) = asked.reverse_on {
            open.push(NewOpen {
                line: Some(new_id()),
                date: day,
                due_date: None,
                amount: new.amount.negated(),
                base: new.base.negated(),
                ..new.clone()
            });
        }
        open.push(new);
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldErrors;
    use crate::journal::posting::tests::{abroad, journal, line};
    use crate::journal::posting::{lines_of, rates, sums};
    use crate::samples::{day, head, id};

    /// What a journal of the last of March leaves open, of lines 1, 2, ...
    fn left_open(mut asked: JournalAsked) -> Vec<String> {
        let (business, chart) = (Business::sample(), books::chart::sample());
        (1..).zip(&mut asked.lines).for_each(|(name, line)| line.id = Some(id(name)));
        let rates = rates(&business, &asked, &mut FieldErrors::default());
        let figures = sums(&business, &asked, &rates).unwrap();
        let lines = lines_of(&business, &chart, &asked, &figures.base).unwrap();
        let mut made = 90..;
        let open = open_of(&chart, (&head("2026-03-31"), &asked), &lines, || id(made.next().unwrap()));
        let shown = open.iter().map(|open| {
            let number = |id: RecordId| id.0.as_u128();
            let due = open.due_date.map_or(String::new(), |day| format!(" due {day}"));
            let line = open.line.map_or(0, number);
            let (party, account) = (number(open.party), number(open.account));
            format!(
                "{line}: {party} on {account}, {}{due}: {} {}, {}",
                open.date, open.amount, open.currency, open.base
            )
        });
        shown.collect()
    }

    #[test]
    fn a_line_of_a_party_is_open_and_what_takes_it_back_is_open_the_other_way() {
        let of = |party: u128, line: JournalLineAsked| JournalLineAsked { party: Some(id(party)), ..line };
        let due = |line: JournalLineAsked| JournalLineAsked { due_date: Some(day("2026-04-30")), ..line };
        let next_day = |asked: JournalAsked| JournalAsked { reverse_on: Some(day("2026-04-01")), ..asked };
        let owes = || vec![due(of(3, line(1200, "100"))), line(4000, "-100")];
        // A party beside another account is a note, and no debt.
        let noted = vec![of(3, line(6700, "100")), line(1690, "-100")];
        let both = vec![of(3, line(1200, "100")), of(4, line(2100, "-70")), of(3, line(2300, "-30"))];
        let dollars = || vec![of(3, abroad(1200, "100", "USD", Some("0.9"))), line(4000, "-90")];
        for (name, asked, open) in [
            ("no party", journal(vec![line(6700, "100"), line(1690, "-100")]), vec![]),
            ("a note", journal(noted), vec![]),
            ("a debt", journal(owes()), vec!["1: 3 on 1200, 2026-03-31 due 2026-04-30: 100 EUR, 100"]),
            (
                "of several",
                journal(both),
                vec![
                    "1: 3 on 1200, 2026-03-31: 100 EUR, 100",
                    "2: 4 on 2100, 2026-03-31: -70 EUR, -70",
                    "3: 3 on 2300, 2026-03-31: -30 EUR, -30",
                ],
            ),
            ("in dollars", journal(dollars()), vec!["1: 3 on 1200, 2026-03-31: 100 USD, 90"]),
            (
                "taken back",
                next_day(journal(owes())),
                vec![
                    "90: 3 on 1200, 2026-04-01: -100 EUR, -100",
                    "1: 3 on 1200, 2026-03-31 due 2026-04-30: 100 EUR, 100",
                ],
            ),
            (
                "dollars taken back",
                next_day(journal(dollars())),
                vec!["90: 3 on 1200, 2026-04-01: -100 USD, -90", "1: 3 on 1200, 2026-03-31: 100 USD, 90"],
            ),
        ] {
            assert_eq!(left_open(asked), open, "{name}");
        }
    }
}

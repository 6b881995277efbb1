//! Whether one open item may be settled with another: rules without a database, tested by tables.

use super::AllocationAsked;
use super::wire::decimals;
use crate::day::Day;
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::money::Money;
use books::chart::Chart;
use rules::purpose::Purpose;
use schema::aliases::Aliases;
use schema::settled::Settled;
use schema::tables::open_items;

/// The two sides of an allocation, judged.
pub(super) struct Sides {
    pub(super) source: open_items::Model,
    pub(super) target: open_items::Model,
    /// What is used up of the source.
    pub(super) used: Money,
    /// What is settled of the target, with all that is taken off beside the amount.
    pub(super) settled: Money,
    /// 1 when the target is a debit.
    pub(super) sign: i64,
}

/// What allocations are judged by.
pub(super) struct Judging<'j> {
    /// Where their fields stand in the body.
    pub(super) path: &'j str,
    pub(super) aliases: &'j Aliases,
    pub(super) chart: &'j Chart,
}

impl Judging<'_> {
    pub(super) fn sides(
        &self,
        source: open_items::Model,
        target: open_items::Model,
        asked: &AllocationAsked,
    ) -> Result<Sides> {
        let at = |field: &str| format!("{}{field}", self.path);
        let aliases = self.aliases;
        let mut faults = FieldErrors::default();
        if asked.target_type.is_some_and(|wanted| wanted != Settled::from(target.kind)) {
            faults.add(at("targetType"), format!("must be {}", Settled::from(target.kind)));
        }
        let party = |item: &open_items::Model| aliases.of(item.party_id);
        if party(&target) != party(&source) {
            faults.add(at("targetId"), "belongs to another party");
        }
        if target.document_id == source.document_id || target.amount.is_negative() == source.amount.is_negative() {
            faults.add(at("targetId"), "stands on the same side: it cannot be settled by this");
        }
        let places = decimals(&target)?;
        for (field, amount) in [
            ("amount", asked.amount),
            ("discountAmount", asked.discount),
            ("writeOffAmount", asked.write_off),
            ("withheldAmount", asked.withheld),
        ] {
            if !amount.fits(places) {
                faults.add(at(field), format!("must have at most {places} decimal places in {}", target.currency));
            }
        }
        if source.currency == target.currency {
            if asked.source_amount.is_some_and(|amount| amount != asked.amount) {
                faults.add(at("sourceAmount"), "must be the amount: both are in one currency");
            }
        } else {
            let places = decimals(&source)?;
            match asked.source_amount {
                None => {
                    let why = format!("is required: how much {} is used up?", source.currency);
                    faults.add(at("sourceAmount"), why);
                }
                Some(amount) if !amount.fits(places) => {
                    faults.add(
                        at("sourceAmount"),
                        format!("must have at most {places} decimal places in {}", source.currency),
                    );
                }
                Some(_) => {}
            }
        }
        if let Some(account) = asked.write_off_account
            && let Err(refusal) = self.chart.judge(account, Purpose::WriteOff)
        {
            faults.add(at("writeOffAccountId"), refusal.to_string());
        }
        if asked.date.is_some_and(|day| day < Ord::max(source.date, target.date)) {
            faults.add(
                at("date"),
                format!("must not be before {}, when both were there", Ord::max(source.date, target.date)),
            );
        }
        if !faults.is_empty() {
            return Err(faults.into());
        }
        let used = asked.source_amount.unwrap_or(asked.amount);
        let settled = Money::sum([asked.amount, asked.discount, asked.write_off, asked.withheld])
            .map_err(|_| Error::field(&at("amount"), "comes to more than can be kept, with what is taken off"))?;
        for (field, wanted, item) in [("amount", settled, &target), ("sourceAmount", used, &source)] {
            let open = item.open.size();
            if wanted > open {
                let shown = open.with_decimals(decimals(item)?);
                let (title, field, of) = if field == "amount" {
                    ("More would be settled than is open", "amount", "is open")
                } else {
                    (
                        "More would be used up than is left",
                        if source.currency == target.currency { "amount" } else { "sourceAmount" },
                        "is left to settle with",
                    )
                };
                return Err(Error::Conflict(Conflict {
                    code: Code::OverAllocated,
                    title: title.into(),
                    errors: FieldErrors::one(
                        &at(field),
                        format!("must be at most {shown} {}, which {of}", item.currency),
                    ),
                }));
            }
        }
        let sign = if target.amount.is_negative() { -1 } else { 1 };
        Ok(Sides { source, target, used, settled, sign })
    }
}

impl Sides {
    /// What was settled until a later day, and is open again, is not settled twice before it.
    pub(super) fn check_least(&self, path: &str, least: [(Money, Option<Day>); 2], day: Day) -> Result<()> {
        let [target, source] = least;
        let own = if self.source.currency == self.target.currency { "amount" } else { "sourceAmount" };
        for (field, wanted, (left, until), item) in
            [("amount", self.settled, target, &self.target), (own, self.used, source, &self.source)]
        {
            let Some(until) = until.filter(|_| wanted > left) else { continue };
            let shown = Ord::max(left, Money::ZERO).with_decimals(decimals(item)?);
            return Err(Error::Conflict(Conflict {
                code: Code::OverAllocated,
                title: format!("More would be settled than is open until {until}"),
                errors: FieldErrors::one(
                    &format!("{path}{field}"),
                    format!(
                        "must be at most {shown} {}, which is open from {day} until {until}; or date it then",
                        item.currency
                    ),
                ),
            }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{day, id, item, money, said};
    use schema::aliases::Named;
    use schema::tables::DocumentKind;

    /// An open item of the party 3 that a document is: its number, its account, and what is open.
    fn open(document: u128, code: u128, currency: &str, amount: &str) -> open_items::Model {
        open_items::Model {
            document_id: id(document),
            kind: if document == 1 { DocumentKind::Receipt } else { DocumentKind::SalesInvoice },
            party_id: Named::of(id(3)),
            ..item(code, currency, amount, amount)
        }
    }

    fn receipt(currency: &str, amount: &str) -> open_items::Model {
        open(1, 1200, currency, amount)
    }

    fn invoice(currency: &str, amount: &str) -> open_items::Model {
        open(2, 1200, currency, amount)
    }

    /// Amount, discount, write-off and what is kept back.
    fn asked([amount, discount, write_off, withheld]: [&str; 4]) -> AllocationAsked {
        AllocationAsked {
            target: id(2),
            target_type: None,
            amount: money(amount),
            source_amount: None,
            discount: money(discount),
            write_off: money(write_off),
            write_off_account: None,
            withheld: money(withheld),
            date: None,
        }
    }

    fn amount(text: &str) -> AllocationAsked {
        asked([text, "0", "0", "0"])
    }

    fn judged(source: open_items::Model, target: open_items::Model, asked: &AllocationAsked) -> String {
        let (aliases, chart) = (Aliases::default(), books::chart::sample());
        let judging = Judging { path: "allocations[0].", aliases: &aliases, chart: &chart };
        match judging.sides(source, target, asked) {
            Ok(sides) => format!("{} settles {}, {}", sides.used, sides.settled, sides.sign),
            Err(why) => said(&why).replace("allocations[0].", ""),
        }
    }

    #[test]
    fn nothing_is_settled_beyond_what_is_open() {
        let euros = |source: &str, target: &str, asked: &AllocationAsked| {
            judged(receipt("EUR", source), invoice("EUR", target), asked)
        };
        for (source, target, asked, answer) in [
            ("-150", "120", amount("120"), "120 settles 120, 1"),
            ("-100", "216", amount("100"), "100 settles 100, 1"),
            ("-150", "120", amount("120.01"), "over_allocated; amount must be at most 120.00 EUR, which is open"),
            (
                "-100",
                "120",
                amount("100.01"),
                "over_allocated; amount must be at most 100.00 EUR, which is left to settle with",
            ),
            // Kernel 2.8: 1 166.20 and a discount of 23.80 settle 1 190.00.
            ("-1166.2", "1190", asked(["1166.2", "23.8", "0", "0"]), "1166.2 settles 1190, 1"),
            (
                "-1166.2",
                "1190",
                asked(["1166.2", "23.81", "0", "0"]),
                "over_allocated; amount must be at most 1190.00 EUR, which is open",
            ),
            ("-450", "500", asked(["450", "0", "0", "50"]), "450 settles 500, 1"),
            ("-90", "100", asked(["90", "4", "5", "1"]), "90 settles 100, 1"),
            ("-100", "100", amount("10.001"), "amount must have at most 2 decimal places in EUR"),
            (
                "-100",
                "100",
                asked(["10", "0.001", "0", "0"]),
                "discountAmount must have at most 2 decimal places in EUR",
            ),
            (
                "-100",
                "100",
                asked(["10", "0", "0.001", "0"]),
                "writeOffAmount must have at most 2 decimal places in EUR",
            ),
            (
                "-100",
                "100",
                asked(["10", "0", "0", "0.001"]),
                "withheldAmount must have at most 2 decimal places in EUR",
            ),
        ] {
            assert_eq!(euros(source, target, &asked), answer, "{source} {target} {asked:?}");
        }
        // What we owe: a credit is settled, and a debit settles it.
        assert_eq!(
            judged(receipt("EUR", "980"), invoice("EUR", "-1000"), &asked(["980", "20", "0", "0"])),
            "980 settles 1000, -1"
        );
    }

    #[test]
    fn only_the_other_side_of_the_same_party_is_settled() {
        let same_side = "targetId stands on the same side: it cannot be settled by this";
        assert_eq!(judged(receipt("EUR", "100"), invoice("EUR", "100"), &amount("1")), same_side);
        let own = open_items::Model { document_id: id(1), ..invoice("EUR", "100") };
        assert_eq!(judged(receipt("EUR", "-100"), own, &amount("1")), same_side);
        let strange = open_items::Model { party_id: Named::of(id(4)), ..invoice("EUR", "100") };
        assert_eq!(judged(receipt("EUR", "-100"), strange, &amount("1")), "targetId belongs to another party");
        let typed = |kind: Settled| AllocationAsked { target_type: Some(kind), ..amount("1") };
        let (bill, invoiced) =
            (Settled::from(DocumentKind::PurchaseInvoice), Settled::from(DocumentKind::SalesInvoice));
        let of_type = |kind: Settled| judged(receipt("EUR", "-100"), invoice("EUR", "100"), &typed(kind));
        assert_eq!(of_type(bill), "targetType must be salesInvoice");
        assert_eq!(of_type(invoiced), "1 settles 1, 1");
        let to = |code: u128| {
            let asked = AllocationAsked { write_off_account: Some(id(code)), ..asked(["49", "0", "1", "0"]) };
            judged(receipt("EUR", "-50"), invoice("EUR", "50"), &asked)
        };
        // Kernel 1.3.
        for (code, answer) in [(1300, "names 1300"), (2150, "names 2150"), (2200, "names 2200"), (1010, "names 1010")] {
            assert!(to(code).starts_with(&format!("writeOffAccountId {answer}")), "{}", to(code));
        }
        assert_eq!(to(6810), "49 settles 50, 1");
        // On the later of both days, and not before.
        let dated = |date: &str| {
            let late = open_items::Model { date: day("2026-03-12"), ..receipt("EUR", "-100") };
            judged(late, invoice("EUR", "100"), &AllocationAsked { date: Some(day(date)), ..amount("1") })
        };
        assert_eq!(dated("2026-03-12"), "1 settles 1, 1");
        assert_eq!(dated("2026-03-11"), "date must not be before 2026-03-12, when both were there");
    }

    #[test]
    fn money_of_another_currency_says_how_much_of_it_is_used_up() {
        let with =
            |source_amount: Option<&str>| AllocationAsked { source_amount: source_amount.map(money), ..amount("100") };
        let dollars =
            |source_amount: Option<&str>| judged(receipt("EUR", "-93"), invoice("USD", "1000"), &with(source_amount));
        assert_eq!(dollars(Some("93")), "93 settles 100, 1");
        assert_eq!(dollars(None), "sourceAmount is required: how much EUR is used up?");
        assert_eq!(dollars(Some("0.001")), "sourceAmount must have at most 2 decimal places in EUR");
        assert_eq!(
            dollars(Some("93.01")),
            "over_allocated; sourceAmount must be at most 93.00 EUR, which is left to settle with"
        );
        let one =
            |source_amount: &str| judged(receipt("EUR", "-100"), invoice("EUR", "100"), &with(Some(source_amount)));
        assert_eq!(one("100"), "100 settles 100, 1");
        assert_eq!(one("99"), "sourceAmount must be the amount: both are in one currency");
        // Yen have no smaller coins.
        let yen = AllocationAsked { source_amount: Some(money("12000.5")), ..amount("100") };
        let found = judged(receipt("JPY", "-12000"), invoice("EUR", "100"), &yen);
        assert_eq!(found, "sourceAmount must have at most 0 decimal places in JPY");
    }

    #[test]
    fn what_was_settled_until_later_is_not_settled_twice_before() {
        let sides = |used: &str, settled: &str, currency: &str| Sides {
            source: receipt(currency, "-100"),
            target: invoice("EUR", "100"),
            used: money(used),
            settled: money(settled),
            sign: 1,
        };
        let until = Some(day("2026-03-20"));
        let whole = (money("100"), None);
        for (sides, least, answer) in [
            (sides("60", "60", "EUR"), [whole, whole], "fine"),
            // Forty were open in between.
            (sides("40", "40", "EUR"), [(money("40"), until), whole], "fine"),
            (
                sides("60", "60", "EUR"),
                [(money("40"), until), whole],
                "over_allocated; amount must be at most 40.00 EUR, which is open from 2026-03-10 until 2026-03-20; or date it then",
            ),
            (
                sides("60", "60", "EUR"),
                [whole, (money("-5"), until)],
                "over_allocated; amount must be at most 0.00 EUR, which is open from 2026-03-10 until 2026-03-20; or date it then",
            ),
            (
                sides("60", "50", "USD"),
                [whole, (money("40"), until)],
                "over_allocated; sourceAmount must be at most 40.00 USD, which is open from 2026-03-10 until 2026-03-20; or date it then",
            ),
            // More than is open now was found before.
            (sides("60", "60", "EUR"), [(money("40"), None), whole], "fine"),
        ] {
            let found = sides.check_least("", least, day("2026-03-10"));
            assert_eq!(found.map_or_else(|why| said(&why), |()| "fine".into()), answer, "{least:?}");
        }
    }
}

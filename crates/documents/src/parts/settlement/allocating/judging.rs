//! Whether one open item may be settled with another: rules without a database, tested by tables.

use super::AllocationAsked;
use super::wire::decimals;
use crate::day::Day;
use crate::error::{Conflict, Error, FieldErrors, Result};
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
                    faults.add(at("sourceAmount"), format!("is required: how much {} is used up?", source.currency))
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
                let (title, field) = if field == "amount" {
                    ("More would be settled than is open", "amount")
                } else {
                    (
                        "More would be used up than is left",
                        if source.currency == target.currency { "amount" } else { "sourceAmount" },
                    )
                };
                return Err(Error::Conflict(Conflict {
                    code: "over_allocated",
                    title: title.into(),
                    errors: FieldErrors::one(
                        &at(field),
                        format!("must be at most {shown} {}, which is open", item.currency),
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
                code: "over_allocated",
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

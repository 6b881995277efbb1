//! Profit and loss, the balance sheet and the tax return as a server tells them, beside what the books say.

use super::boxes::Return;
use super::compare::{Figures, cents, rows, same};
use super::driver::Driver;
use super::world::{CODES, YEAR_END, account, date};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a report says of accounts below its sections; a debit is positive.
fn of_accounts(report: &Value) -> BTreeMap<u16, i128> {
    const CREDITS: [&str; 5] = ["income", "otherIncome", "currentLiabilities", "longTermLiabilities", "equityAccounts"];
    let mut told = BTreeMap::new();
    for section in rows(report) {
        let sign = if CREDITS.iter().any(|key| section["key"] == *key) { -1 } else { 1 };
        for row in section["children"].as_array().into_iter().flatten().filter(|row| row["type"] == "account") {
            let amount = cents(&row["values"][0]) * sign;
            if amount != 0 {
                told.insert(row["key"].as_str().unwrap().parse().unwrap(), amount);
            }
        }
    }
    told
}

/// What does not count yet is taken off.
fn take_off(sums: &mut BTreeMap<u16, i128>, waiting: &BTreeMap<u16, i128>, times: i128) {
    for (account, amount) in waiting {
        *sums.entry(*account).or_default() -= amount * times;
    }
}

fn clean(mut sums: BTreeMap<u16, i128>) -> BTreeMap<u16, i128> {
    sums.retain(|_, amount| *amount != 0);
    sums
}

/// What sections and totals come to is of the accounts.
fn total(report: &Value, name: &str, expected: i128) -> Result<(), String> {
    let told = cents(&report["totals"][name]);
    if told == expected { Ok(()) } else { Err(format!("{name}: told {told}, expected {expected}")) }
}

impl Figures<'_> {
    pub fn profit(&self, driver: &Driver<'_>, by_cash: bool, day: usize) -> Result<(), String> {
        let date = date(day);
        let basis = if by_cash { "cash" } else { "accrual" };
        let report = driver.report(&format!("pl?from={date}&to={date}&basis={basis}"))?;
        let mut known = self.days[day].clone();
        if by_cash {
            take_off(&mut known, self.uncounted(day), 1);
            if let Some(before) = day.checked_sub(1) {
                take_off(&mut known, self.uncounted(before), -1);
            }
        }
        known.retain(|one, amount| account::is_of_a_year(*one) && *amount != 0);
        same(&format!("{date} profit by {basis}"), &of_accounts(&report), &known)?;
        let net = -known.values().sum::<i128>();
        total(&report, "netProfit", net).map_err(|why| format!("{date} profit by {basis}: {why}"))
    }

    pub fn sheet(&self, driver: &Driver<'_>, by_cash: bool, day: usize) -> Result<(), String> {
        let date = date(day);
        let basis = if by_cash { "cash" } else { "accrual" };
        let report = driver.report(&format!("bs?asOf={date}&basis={basis}"))?;
        let mut known = self.balances[day][1].clone();
        if by_cash {
            take_off(&mut known, self.uncounted(day), 1);
            if day > YEAR_END {
                // What did not count by the end of the year before is earned in this one.
                let carried = self.uncounted(YEAR_END).iter().filter(|(one, _)| account::is_of_a_year(**one));
                for (one, amount) in carried {
                    *known.entry(*one).or_default() += amount;
                    *known.entry(account::RETAINED).or_default() -= amount;
                }
            }
        }
        // What a year earned is one row, and what earlier ones earned is another beside what was retained.
        let years: Vec<u16> = known.keys().copied().filter(|one| account::is_of_a_year(*one)).collect();
        let earned: i128 = years.iter().filter_map(|one| known.remove(one)).sum();
        let mut told = of_accounts(&report);
        let equity = rows(&report).iter().find(|row| row["key"] == "equityAccounts");
        let line = |key: &str| {
            let lines = equity.and_then(|equity| equity["children"].as_array()).into_iter().flatten();
            lines.filter(|row| row["key"] == key).map(|row| cents(&row["values"][0])).sum::<i128>()
        };
        *told.entry(account::RETAINED).or_default() -= line("earlierEarnings");
        let what = format!("{date} balance sheet by {basis}");
        let known = clean(known);
        same(&what, &clean(told), &known)?;
        let current = line("currentEarnings");
        if current != -earned {
            return Err(format!("{what}: earned told {current}, expected {}", -earned));
        }
        let of = |class: u16| known.iter().filter(|(one, _)| **one / 1_000 == class).map(|(_, sum)| sum).sum::<i128>();
        total(&report, "assets", of(1)).map_err(|why| format!("{what}: {why}"))?;
        total(&report, "liabilities", -of(2)).map_err(|why| format!("{what}: {why}"))?;
        total(&report, "equity", -of(3) - earned).map_err(|why| format!("{what}: {why}"))
    }

    pub fn boxes(&self, driver: &Driver<'_>, by_cash: bool, day: usize) -> Result<(), String> {
        let date = date(day);
        let basis = if by_cash { "cash" } else { "invoice" };
        let report = driver.report(&format!("tax-return?from={date}&to={date}&taxBasis={basis}"))?;
        let Return { boxes, outside, totals } = self.books.return_on(by_cash, day);
        let pair = |row: &Value| [cents(&row["values"][0]), cents(&row["values"][1])];
        let (mut told, mut told_outside) = (BTreeMap::new(), BTreeMap::new());
        for row in rows(&report) {
            let key = row["key"].as_str().unwrap();
            if key != "none" {
                told.insert(key, pair(row));
                continue;
            }
            for row in row["children"].as_array().into_iter().flatten() {
                let code = driver.codes.iter().position(|id| row["key"] == **id);
                let named = || {
                    CODES.iter().position(|(name, _)| row["label"].as_str().unwrap().split(' ').next() == Some(name))
                };
                told_outside.insert(code.or_else(named), pair(row));
            }
        }
        told.retain(|_, sums| *sums != [0, 0]);
        told_outside.retain(|_, sums| *sums != [0, 0]);
        let what = format!("{date} tax return by {basis}");
        same(&what, &told, &boxes)?;
        same(&format!("{what}, outside"), &told_outside, &outside)?;
        for (name, expected) in [("due", totals[0]), ("claim", totals[1]), ("payable", totals[0] - totals[1])] {
            total(&report, name, expected).map_err(|why| format!("{what}: {why}"))?;
        }
        Ok(())
    }
}

//! The sums that are kept beside the lines, recomputed.

use super::crossing::accounts_are_our_own;
use super::live::Live;
use super::settled::{Explained, judge_allocations};
use super::standings::{documents_stand, stand};
use super::subledgers::OpenDays;
use super::walk::{Sums, Walk};
use super::{By, Check, Findings, Proved, Range, Wide, shown, subledgers, wide, years};
use crate::BEFORE_THE_FIRST;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use schema::account as accounts;
use schema::account::AccountType;
use schema::account::Keeper;
use schema::business::SystemRole;
use schema::reader::Reader;
use schema::tables::{account_days, account_months, books, party_balances};
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use words::sums::Sums as _;

/// The ledger, and all that is held against it, as far as it was read.
#[derive(Default)]
pub struct Ledger {
    walk: Option<Walk>,
    /// What stands for entries, beside those that are in force.
    live: Live,
    open: OpenDays,
    explained: Explained,
    odd_allocations: Findings,
    odd_documents: Findings,
}

impl Ledger {
    pub(super) async fn of_part(reader: &Reader<'_>, (by, range): (By, Range), trusted: i64) -> Result<Self> {
        let mut ledger = Self::default();
        match by {
            By::Moves => ledger.open = OpenDays::of_part(reader, range).await?,
            By::OpenItems => ledger.explained = Explained::of_part(reader, range).await?,
            By::Allocations => {
                judge_allocations(reader, range, &mut ledger.live, &mut ledger.odd_allocations).await?;
            }
            By::Documents => stand(reader, range, &mut ledger.live, &mut ledger.odd_documents).await?,
            By::Whole | By::Entries | By::Blocks => ledger.walk = Some(Walk::along(reader, range, trusted).await?),
        }
        Ok(ledger)
    }

    pub(super) fn add(&mut self, behind: Self) {
        match (&mut self.walk, behind.walk) {
            (Some(walk), Some(behind)) => walk.add(behind),
            (walk, behind) => *walk = walk.take().or(behind),
        }
        self.live.add(behind.live);
        self.open.add(behind.open);
        self.explained.add(behind.explained);
        self.odd_allocations.add_all(behind.odd_allocations);
        self.odd_documents.add_all(behind.odd_documents);
    }

    /// All that is held against the lines that were read.
    pub(super) async fn close(self, reader: &Reader<'_>) -> Result<Proved> {
        let Self { walk, mut live, open, explained, odd_allocations, odd_documents } = self;
        let mut walk = walk.ok_or_else(|| Error::internal("nobody walked along the ledger"))?;
        walk.sum_up();
        live.add(std::mem::take(&mut walk.live));
        let head = books::Entity::find_by_id(reader.id()).model(&reader.db).await?;
        let last = head.as_ref().map_or(BEFORE_THE_FIRST, |head| head.entry_number);
        let take = |findings: &mut Findings| std::mem::take(findings);
        let (debit, credit) = (shown(walk.debit), shown(walk.credit));
        let mut checks = vec![
            Check::of("V1", "Every entry balances", debit, credit, take(&mut walk.unbalanced)),
            Check::of("V1b", "Entries are numbered without a gap", walk.entries, last, take(&mut walk.gaps)),
            months_balance(&walk),
            control_accounts(reader, &walk).await?,
        ];
        checks.extend(rollups(reader, &walk).await?);
        reader.pause().await?;
        checks.push(accounts_are_our_own(reader, &walk).await?);
        let [items, stock, notes] = subledgers::beside_ledger(reader, &walk, &open).await?;
        checks.extend([items, explained.check(odd_allocations), stock, notes]);
        checks.push(opened(reader, &walk)?);
        checks.push(std::mem::take(&mut walk.purses).check());
        checks.push(years::check(reader, &walk).await?);
        checks.push(documents_stand(reader, &live, odd_documents).await?);
        let odd = take(&mut walk.odd_reversals);
        let reversals = "Every reversal takes back its entry to the cent";
        checks.push(Check::of("V11b", reversals, walk.mirrored, walk.reversals, odd));
        let locked = take(&mut walk.locked);
        checks.push(Check::of("V12", "Nothing was posted behind a hard lock", locked.0.len(), 0, locked));
        let odd = take(&mut walk.odd_amounts);
        checks.push(Check::of("V14", "Every amount is whole in its currency", odd.0.len(), 0, odd));
        Ok(Proved { checks, digest: walk.digest() })
    }
}

/// The accounts of money, their codes, and the last entry of each that was carried at what it said.
pub(super) async fn of_money(reader: &Reader<'_>) -> Result<HashMap<RecordId, (String, i64)>> {
    let kinds = [AccountType::Bank, AccountType::Cash, AccountType::CreditCard];
    let found: Vec<(RecordId, String, i64)> = accounts::Entity::find()
        .select_only()
        .columns([accounts::Column::Id, accounts::Column::Code, accounts::Column::AsSaidUntil])
        .filter(accounts::Column::BusinessId.eq(reader.id()))
        .filter(accounts::Column::Type.is_in(kinds))
        .read(&reader.db)
        .await?;
    Ok(found.into_iter().map(|(id, code, last)| (id, (code, last))).collect())
}

/// The account of opening balances is empty once all of them are entered.
fn opened(reader: &Reader<'_>, walk: &Walk) -> Result<Check> {
    let accounts = &reader.company().system_accounts.0;
    let account = accounts.get(&SystemRole::OpeningBalanceEquity);
    let account = account.ok_or_else(|| Error::internal("no account takes opening balances"))?;
    let left: Wide = walk.accounts.sum_of(account);
    let warning = "opening balances are missing: enter the rest, until the account of opening balances is at 0.00";
    Ok(Check::warning("O1", "What the books begin with is all entered", shown(left), shown(0), warning))
}

fn months_balance(lines: &Walk) -> Check {
    let mut months: BTreeMap<&str, (Wide, Wide)> = BTreeMap::new();
    for ((_, _, month), sums) in &lines.months {
        let month = months.entry(month).or_default();
        *month = (month.0 + sums.0, month.1 + sums.1);
    }
    let mut findings = Findings::default();
    for (month, (debit, credit)) in months.iter().filter(|(_, (debit, credit))| debit != credit) {
        findings.add(format!("{month}: debits of {} and credits of {}", shown(*debit), shown(*credit)));
    }
    let debit: Wide = months.values().map(|month| month.0).sum();
    let credit: Wide = months.values().map(|month| month.1).sum();
    Check::of("V2", "The trial balance is level at the end of every month", shown(debit), shown(credit), findings)
}

async fn control_accounts(reader: &Reader<'_>, lines: &Walk) -> Result<Check> {
    let rows = party_balances::Entity::find()
        .filter(party_balances::Column::BusinessId.eq(reader.id()))
        .models(&reader.db)
        .await?;
    let control: Vec<accounts::Model> = accounts::Entity::find()
        .filter(accounts::Column::BusinessId.eq(reader.id()))
        .models(&reader.db)
        .await?
        .into_iter()
        .filter(|account| account.keeper == Keeper::OpenItems)
        .collect();
    let mut findings = Findings::default();
    let (mut by_account, mut by_party) = (0, 0);
    for account in &control {
        let balance = lines.accounts.sum_of(&account.id);
        let parties: Wide =
            rows.iter().filter(|row| row.account_id == account.id).map(|row| Wide::from(row.amount.units())).sum();
        by_account += balance;
        by_party += parties;
        if balance != parties {
            findings.add(format!(
                "{} {}: account {}, parties {}",
                account.code,
                account.name,
                shown(balance),
                shown(parties)
            ));
        }
    }
    Ok(Check::of("V3", "Control accounts equal their parties", shown(by_account), shown(by_party), findings))
}

/// Compares what is kept with what the lines come to, key by key.
pub(super) fn compare<K: Ord + Clone + Debug, V: PartialEq + Default + Debug>(
    kept: BTreeMap<K, V>,
    right: &BTreeMap<K, V>,
    name: impl Fn(&K) -> String,
) -> Findings {
    let mut findings = Findings::default();
    let nothing = V::default();
    for (key, value) in &kept {
        if value != right.get(key).unwrap_or(&nothing) {
            findings.add(format!("{}: kept {value:?}, lines {:?}", name(key), right.get(key).unwrap_or(&nothing)));
        }
    }
    for (key, value) in right.iter().filter(|(key, value)| !kept.contains_key(*key) && **value != nothing) {
        findings.add(format!("{}: kept nothing, lines {value:?}", name(key)));
    }
    findings
}

async fn rollups(reader: &Reader<'_>, lines: &Walk) -> Result<Vec<Check>> {
    let business = reader.id();
    let days =
        account_days::Entity::find().filter(account_days::Column::BusinessId.eq(business)).models(&reader.db).await?;
    let days: BTreeMap<_, _> = days
        .into_iter()
        .map(|row| {
            ((row.account_id, row.currency, row.date), wide(row.debit, row.credit, row.currency_amount, row.lines))
        })
        .collect();
    let months = account_months::Entity::find()
        .filter(account_months::Column::BusinessId.eq(business))
        .models(&reader.db)
        .await?;
    let months: BTreeMap<_, _> = months
        .into_iter()
        .map(|row| {
            ((row.account_id, row.currency, row.month), wide(row.debit, row.credit, row.currency_amount, row.lines))
        })
        .collect();
    let parties = party_balances::Entity::find()
        .filter(party_balances::Column::BusinessId.eq(business))
        .models(&reader.db)
        .await?;
    let parties: BTreeMap<_, (Wide, Wide)> = parties
        .into_iter()
        .map(|row| {
            let sums = (row.amount.units().into(), row.currency_amount.units().into());
            ((row.party_id, row.account_id, row.currency), sums)
        })
        .collect();
    let debits = |sums: &BTreeMap<(RecordId, String, Day), Sums>| -> Wide { sums.values().map(|sums| sums.0).sum() };
    let debits_by_month =
        |sums: &BTreeMap<(RecordId, String, String), Sums>| -> Wide { sums.values().map(|sums| sums.0).sum() };
    let open = |sums: &BTreeMap<_, (Wide, Wide)>| -> Wide { sums.values().map(|sums| sums.0).sum() };
    let mut checks = Vec::new();
    let (left, right) = (shown(debits(&days)), shown(debits(&lines.days)));
    let findings = compare(days, &lines.days, |(account, currency, day)| format!("account {account} {currency} {day}"));
    checks.push(Check::of("V4a", "Balances by day equal the lines", left, right, findings));
    let (left, right) = (shown(debits_by_month(&months)), shown(debits_by_month(&lines.months)));
    let findings =
        compare(months, &lines.months, |(account, currency, month)| format!("account {account} {currency} {month}"));
    checks.push(Check::of("V4b", "Balances by month equal the lines", left, right, findings));
    let (left, right) = (shown(open(&parties)), shown(open(&lines.parties)));
    let findings = compare(parties, &lines.parties, |(party, account, currency)| {
        format!("party {} on account {account} {currency}", party.as_written())
    });
    checks.push(Check::of("V4c", "Balances by party equal the lines", left, right, findings));
    Ok(checks)
}

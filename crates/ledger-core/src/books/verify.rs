//! The proof of a company's books: everything is recomputed from the lines and compared with what is kept.
//!
//! Each check has two figures that must be equal, and says where they are not. The lines are read once, in
//! portions; nothing here trusts a rollup, a counter or a status.

use crate::books::audit;
use crate::books::tables::{
    DocumentStatus, EntryKind, account_days, account_months, books, documents, entries, entry_lines, party_balances,
};
use crate::currency;
use crate::cx::Cx;
use crate::day::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::Money;
use crate::resource::account::table as accounts;
use crate::resource::lock::table as locks;
use crate::resource::number_series::{gaps_of, table as series};
use schemars::JsonSchema;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Debug;

/// What the proof came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Whether every check holds.
    pub ok: bool,
    /// The checks, each with its two figures.
    pub checks: Vec<Check>,
}

/// One identity of the books.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Its stable identifier, such as `V1`.
    pub id: String,
    /// What must be so.
    pub name: String,
    /// What is kept.
    pub left: String,
    /// What it must be.
    pub right: String,
    /// Whether it is so.
    pub ok: bool,
    /// Where it is not, at most 50 places.
    pub findings: Vec<String>,
}

impl Check {
    /// The engine's own check of its file.
    pub(crate) fn of_engine(found: Vec<String>) -> Self {
        let mut findings = Findings::default();
        let count = found.len();
        for finding in found {
            findings.add(finding);
        }
        Self::of("V13", "The database file is whole", count, 0, findings)
    }
}

const MOST_FINDINGS: usize = 50;
const PORTION: u64 = 5_000;

impl Check {
    fn of(id: &str, name: &str, left: impl ToString, right: impl ToString, findings: Findings) -> Self {
        let (left, right) = (left.to_string(), right.to_string());
        Self {
            ok: left == right && findings.0.is_empty(),
            id: id.into(),
            name: name.into(),
            left,
            right,
            findings: findings.0,
        }
    }
}

#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn add(&mut self, finding: String) {
        if self.0.len() < MOST_FINDINGS {
            self.0.push(finding);
        }
    }
}

/// A sum that may outgrow an amount.
type Wide = i128;

fn shown(units: Wide) -> String {
    match i64::try_from(units) {
        Ok(units) => Money::from_units(units).with_decimals(2),
        Err(_) => format!("{units} ten-thousandths"),
    }
}

/// Debit, credit and the amount in the currency of the lines.
type Sums = (Wide, Wide, Wide);

/// All that follows from the lines.
#[derive(Default)]
struct Recomputed {
    entries: BTreeMap<i64, EntrySum>,
    days: BTreeMap<(RecordId, String, Day), Sums>,
    months: BTreeMap<(RecordId, String, String), Sums>,
    parties: BTreeMap<(RecordId, RecordId, String), (Wide, Wide)>,
    accounts: HashMap<RecordId, Wide>,
    odd_amounts: Findings,
    lines: u64,
}

#[derive(Default, Clone)]
struct EntrySum {
    lines: u64,
    debit: Wide,
    credit: Wide,
    /// By account and currency, to compare an entry with its reversal.
    moves: BTreeMap<(RecordId, Option<RecordId>, String), (Wide, Wide)>,
    dates: HashSet<Day>,
}

impl Recomputed {
    async fn read(cx: &Cx<'_>, base_decimals: u32) -> Result<Self> {
        use entry_lines::Column;
        let mut all = Self::default();
        let mut after = (i64::MIN, i64::MIN);
        loop {
            let portion = entry_lines::Entity::find()
                .filter(Column::BusinessId.eq(cx.business_id()?))
                .filter(
                    Column::EntryNumber
                        .gt(after.0)
                        .or(Column::EntryNumber.eq(after.0).and(Column::Position.gt(after.1))),
                )
                .order_by_asc(Column::EntryNumber)
                .order_by_asc(Column::Position)
                .limit(PORTION)
                .all(&cx.db)
                .await?;
            let Some(last) = portion.last() else { return Ok(all) };
            after = (last.entry_number, last.position);
            for line in &portion {
                all.add(line, base_decimals);
            }
        }
    }

    fn add(&mut self, line: &entry_lines::Model, base_decimals: u32) {
        let amount = Wide::from(line.amount.units());
        let own = Wide::from(line.currency_amount.units());
        let (debit, credit) = (amount.max(0), -amount.min(0));
        self.lines += 1;
        let entry = self.entries.entry(line.entry_number).or_default();
        entry.lines += 1;
        entry.debit += debit;
        entry.credit += credit;
        entry.dates.insert(line.date);
        let moved = entry.moves.entry((line.account_id, line.party_id, line.currency.clone())).or_default();
        *moved = (moved.0 + amount, moved.1 + own);
        let add = |sums: &mut Sums| *sums = (sums.0 + debit, sums.1 + credit, sums.2 + own);
        add(self.days.entry((line.account_id, line.currency.clone(), line.date)).or_default());
        add(self.months.entry((line.account_id, line.currency.clone(), line.date.year_and_month())).or_default());
        *self.accounts.entry(line.account_id).or_default() += amount;
        if let Some(party) = line.party_id {
            let open = self.parties.entry((party, line.account_id, line.currency.clone())).or_default();
            *open = (open.0 + amount, open.1 + own);
        }
        let own_decimals = currency::decimals(&line.currency).unwrap_or(4);
        if !line.amount.fits(base_decimals) || !line.currency_amount.fits(own_decimals) {
            self.odd_amounts.add(format!("entry {} line {}", line.entry_number, line.position));
        }
    }
}

/// Runs every check on the company in scope.
pub(crate) async fn run(cx: &Cx<'_>) -> Result<Verdict> {
    let mut lines = Recomputed::read(cx, cx.business()?.currency_decimals).await?;
    let mut checks = Vec::new();
    let headers = entries::Entity::find()
        .filter(entries::Column::BusinessId.eq(cx.business_id()?))
        .order_by_asc(entries::Column::Number)
        .all(&cx.db)
        .await?;
    let head = books::Entity::find_by_id(cx.business_id()?).one(&cx.db).await?;
    checks.push(entries_balance(&headers, &lines));
    checks.push(entries_are_numbered(&headers, head.as_ref().map_or(0, |head| head.entry_number)));
    checks.push(months_balance(&lines));
    checks.push(control_accounts(cx, &lines).await?);
    checks.extend(rollups(cx, &lines).await?);
    checks.push(numbers(cx).await?);
    checks.push(audit_chain(cx).await?);
    checks.push(accounts_are_our_own(cx, &lines).await?);
    checks.extend(documents_and_entries(cx, &headers, &lines).await?);
    checks.push(hard_locks(cx, &headers).await?);
    let odd = std::mem::take(&mut lines.odd_amounts);
    checks.push(Check::of("V14", "Every amount is whole in its currency", odd.0.len(), 0, odd));
    Ok(Verdict { ok: checks.iter().all(|check| check.ok), checks })
}

fn entries_balance(headers: &[entries::Model], lines: &Recomputed) -> Check {
    let mut findings = Findings::default();
    let (mut debit, mut credit) = (0, 0);
    for (number, entry) in &lines.entries {
        debit += entry.debit;
        credit += entry.credit;
        if entry.debit != entry.credit {
            findings.add(format!(
                "entry {number}: debits of {} and credits of {}",
                shown(entry.debit),
                shown(entry.credit)
            ));
        } else if entry.lines < 2 {
            findings.add(format!("entry {number} has fewer than two lines"));
        }
    }
    let known: HashSet<i64> = headers.iter().map(|header| header.number).collect();
    for number in lines.entries.keys().filter(|number| !known.contains(*number)) {
        findings.add(format!("lines of entry {number}, which does not exist"));
    }
    for header in headers {
        match lines.entries.get(&header.number) {
            None => findings.add(format!("entry {} has no lines", header.number)),
            Some(entry) if entry.debit != Wide::from(header.total.units()) => {
                findings.add(format!(
                    "entry {} says {} and has debits of {}",
                    header.number,
                    header.total,
                    shown(entry.debit)
                ));
            }
            Some(entry) if entry.dates.iter().any(|date| *date != header.date) => {
                findings.add(format!("entry {} has lines of another date", header.number));
            }
            Some(_) => {}
        }
    }
    Check::of("V1", "Every entry balances", shown(debit), shown(credit), findings)
}

fn entries_are_numbered(headers: &[entries::Model], last: i64) -> Check {
    let mut findings = Findings::default();
    let mut next = 1;
    for header in headers {
        for missing in next..header.number {
            findings.add(format!("entry {missing} is missing"));
            if findings.0.len() >= MOST_FINDINGS {
                break;
            }
        }
        next = header.number + 1;
    }
    Check::of("V1b", "Entries are numbered without a gap", headers.len(), last, findings)
}

fn months_balance(lines: &Recomputed) -> Check {
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

async fn control_accounts(cx: &Cx<'_>, lines: &Recomputed) -> Result<Check> {
    let rows = party_balances::Entity::find()
        .filter(party_balances::Column::BusinessId.eq(cx.business_id()?))
        .all(&cx.db)
        .await?;
    let control: Vec<accounts::Model> = accounts::Entity::find()
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .all(&cx.db)
        .await?
        .into_iter()
        .filter(|account| account.r#type.is_control())
        .collect();
    let mut findings = Findings::default();
    let (mut by_account, mut by_party) = (0, 0);
    for account in &control {
        let balance = lines.accounts.get(&account.id).copied().unwrap_or_default();
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
fn compare<K: Ord + Clone + Debug, V: PartialEq + Default + Debug>(
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

fn wide(debit: Money, credit: Money, own: Money) -> Sums {
    (debit.units().into(), credit.units().into(), own.units().into())
}

async fn rollups(cx: &Cx<'_>, lines: &Recomputed) -> Result<Vec<Check>> {
    let business = cx.business_id()?;
    let days = account_days::Entity::find().filter(account_days::Column::BusinessId.eq(business)).all(&cx.db).await?;
    let days: BTreeMap<_, _> = days
        .into_iter()
        .map(|row| ((row.account_id, row.currency, row.date), wide(row.debit, row.credit, row.currency_amount)))
        .collect();
    let months =
        account_months::Entity::find().filter(account_months::Column::BusinessId.eq(business)).all(&cx.db).await?;
    let months: BTreeMap<_, _> = months
        .into_iter()
        .map(|row| ((row.account_id, row.currency, row.month), wide(row.debit, row.credit, row.currency_amount)))
        .collect();
    let parties =
        party_balances::Entity::find().filter(party_balances::Column::BusinessId.eq(business)).all(&cx.db).await?;
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
        format!("party {party} on account {account} {currency}")
    });
    checks.push(Check::of("V4c", "Balances by party equal the lines", left, right, findings));
    Ok(checks)
}

async fn numbers(cx: &Cx<'_>) -> Result<Check> {
    let all = series::Entity::find().filter(series::Column::BusinessId.eq(cx.business_id()?)).all(&cx.db).await?;
    let mut findings = Findings::default();
    let (mut given, mut expected) = (0_i64, 0_i64);
    for series in all {
        for period in gaps_of(cx, series.id, series.first_number).await? {
            let count = Ord::max(period.last - period.first + 1, 0);
            expected += count;
            given += count - i64::try_from(period.missing.len()).unwrap_or(count);
            for missing in period.missing.iter().take(MOST_FINDINGS) {
                findings.add(format!("{} {}: number {missing} is missing", series.name, period.period));
            }
        }
    }
    let twice: Vec<(String, i64)> = documents::Entity::find()
        .select_only()
        .column(documents::Column::Number)
        .column_as(documents::Column::Id.count(), "times")
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::Number.is_not_null())
        .group_by(documents::Column::Kind)
        .group_by(documents::Column::Number)
        .having(documents::Column::Id.count().gt(1))
        .into_tuple()
        .all(&cx.db)
        .await?;
    for (number, times) in twice {
        findings.add(format!("{number} was given {times} times"));
    }
    // What a number is in its series must be what its counter has counted.
    let beyond = documents::Entity::find()
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(documents::Column::Status.ne(DocumentStatus::Draft))
        .filter(documents::Column::Number.is_null())
        .count(&cx.db)
        .await?;
    if beyond > 0 {
        findings.add(format!("{beyond} documents in the books have no number"));
    }
    Ok(Check::of("V6", "Numbers are given without a gap and once", given, expected, findings))
}

async fn audit_chain(cx: &Cx<'_>) -> Result<Check> {
    let verdict = audit::verify(cx, cx.business_id()?).await?;
    let mut findings = Findings::default();
    for problem in &verdict.problems {
        findings.add(format!("record {} {}", problem.sequence, problem.problem));
    }
    let head = books::Entity::find_by_id(cx.business_id()?).one(&cx.db).await?;
    Ok(Check::of("V7", "The audit log is whole", verdict.records, head.map_or(0, |head| head.audit_sequence), findings))
}

async fn accounts_are_our_own(cx: &Cx<'_>, lines: &Recomputed) -> Result<Check> {
    let own: Vec<RecordId> = accounts::Entity::find()
        .select_only()
        .column(accounts::Column::Id)
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .into_tuple()
        .all(&cx.db)
        .await?;
    let own: HashSet<RecordId> = own.into_iter().collect();
    let mut findings = Findings::default();
    for account in lines.accounts.keys().filter(|account| !own.contains(account)) {
        findings.add(format!("lines on {account}, which is no account of the company"));
    }
    Ok(Check::of("V10", "Nothing crosses companies", findings.0.len(), 0, findings))
}

async fn documents_and_entries(cx: &Cx<'_>, headers: &[entries::Model], lines: &Recomputed) -> Result<Vec<Check>> {
    let rows =
        documents::Entity::find().filter(documents::Column::BusinessId.eq(cx.business_id()?)).all(&cx.db).await?;
    let mut findings = Findings::default();
    let (mut live, mut in_ledger) = (0_usize, 0_usize);
    let reversed: HashSet<RecordId> = headers
        .iter()
        .filter(|header| header.kind == EntryKind::Reversal)
        .filter_map(|header| header.reverses_id)
        .collect();
    let mut standing: HashMap<RecordId, HashSet<RecordId>> = HashMap::new();
    for header in headers {
        if header.kind != EntryKind::Reversal && !reversed.contains(&header.id) {
            standing.entry(header.document_id).or_default().insert(header.id);
            in_ledger += 1;
        }
    }
    let known: HashSet<RecordId> = rows.iter().map(|row| row.id).collect();
    for document in standing.keys().filter(|document| !known.contains(document)) {
        findings.add(format!("entries of document {document}, which does not exist"));
    }
    for row in &rows {
        let named: HashSet<RecordId> = match row.status {
            DocumentStatus::Posted => row.entries.0.iter().map(|entry| entry.id).collect(),
            DocumentStatus::Draft | DocumentStatus::Void => HashSet::new(),
        };
        live += named.len();
        let found = standing.remove(&row.id).unwrap_or_default();
        if named != found || (row.status == DocumentStatus::Posted && named.is_empty()) {
            let name = row.number.clone().unwrap_or_else(|| row.id.to_string());
            findings.add(format!(
                "{name} is {} and stands for {} entries, of which the ledger has {}",
                row.status,
                named.len(),
                found.intersection(&named).count()
            ));
        }
    }
    let standing = Check::of("V11", "Every document stands for its entries", live, in_ledger, findings);
    let mut findings = Findings::default();
    let by_id: HashMap<RecordId, i64> = headers.iter().map(|header| (header.id, header.number)).collect();
    let (mut taken_back, mut reversals) = (0, 0);
    for header in headers {
        let Some(original) = header.reverses_id else { continue };
        reversals += 1;
        let moves = |number: i64| lines.entries.get(&number).map(|entry| entry.moves.clone()).unwrap_or_default();
        let mirrored = by_id.get(&original).is_some_and(|number| {
            let mirror: BTreeMap<_, _> =
                moves(*number).into_iter().map(|(key, (amount, own))| (key, (-amount, -own))).collect();
            mirror == moves(header.number)
        });
        if mirrored {
            taken_back += 1;
        } else {
            findings.add(format!("entry {} does not take back what it reverses", header.number));
        }
    }
    Ok(vec![
        standing,
        Check::of("V11b", "Every reversal takes back its entry to the cent", taken_back, reversals, findings),
    ])
}

async fn hard_locks(cx: &Cx<'_>, headers: &[entries::Model]) -> Result<Check> {
    let all = locks::Entity::find().filter(locks::Column::BusinessId.eq(cx.business_id()?)).all(&cx.db).await?;
    let mut findings = Findings::default();
    for lock in &all {
        let Some(day) = lock.hard_lock_date else { continue };
        for header in headers.iter().filter(|header| header.date <= day && header.recorded_at > lock.created_at) {
            findings.add(format!("entry {} of {} was recorded after {day} was locked", header.number, header.date));
        }
    }
    Ok(Check::of("V12", "Nothing was posted behind a hard lock", findings.0.len(), 0, findings))
}

//! The proof of a company's books: everything is recomputed from the lines and compared with what is kept.
//!
//! Each check has two figures that must be equal, and says where they are not. The ledger is read once, in
//! portions, so that its size costs time and no memory; nothing here trusts a rollup, a counter or a status.

mod courses;
mod goods;
mod progress;
mod purses;
mod replay;
mod seals;
mod shares;
mod subledgers;
mod taxes;
mod years;

pub use self::goods::{Kept, Off};

use crate::currency::Currency;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::money::Money;
use crate::stored::AsJson;
use ::books::BEFORE_THE_FIRST;
use ::books::aside;
use ::books::audit;
use ::books::cx::Cx;
use ::books::digest::Digest;
use ::books::gaps::gaps_of;
use ::books::portions::next_entries;
use rules::account::AccountType;
use rules::keeper::Keeper;
use schema::account as accounts;
use schema::aliases::Named;
use schema::lock as locks;
use schema::number_series as series;
use schema::tables::{
    DocumentKind, DocumentStatus, EntryKind, EntryRef, Stage, account_days, account_months, audit_log, books,
    documents, entries, entry_lines, party_balances,
};
use schemars::JsonSchema;
use sea_orm::FromQueryResult;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Debug;
use words::sums::Sums as _;

/// What the proof came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Whether every check holds.
    pub ok: bool,
    /// The checks, each with its two figures.
    pub checks: Vec<Check>,
    /// SHA-256 of the whole ledger without its identifiers: numbers, dates, accounts by their codes, amounts, words.
    /// Companies with the same digest have the same books.
    pub digest: String,
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
    /// Whether it is so, or nothing is wrong while it is not.
    pub ok: bool,
    /// Where it is not, at most 50 places.
    pub findings: Vec<String>,
}

impl Check {
    /// The engine's own check of its file.
    pub(crate) fn of_engine(found: Vec<String>) -> Self {
        Self::none("V13", "The database file is whole", found)
    }

    /// What differs from the schema that the migrations make.
    pub(crate) fn of_schema(found: Vec<String>) -> Self {
        Self::none("V16", "The schema is what the migrations made", found)
    }

    /// What is not as a head says that was kept elsewhere.
    pub fn of_heads(found: Vec<String>) -> Self {
        Self::none("V17", "Nothing went back behind the heads that were kept", found)
    }

    /// What is nothing wrong, and is to be looked at where it is not as it should be in the end.
    fn warning(id: &str, name: &str, left: impl ToString, right: impl ToString, warning: &str) -> Self {
        let mut check = Self::of(id, name, left, right, Findings::default());
        if !check.ok {
            check.findings.push(warning.into());
        }
        Self { ok: true, ..check }
    }

    /// A check that finds nothing.
    fn none(id: &str, name: &str, found: Vec<String>) -> Self {
        let mut findings = Findings::default();
        let count = found.len();
        for finding in found {
            findings.add(finding);
        }
        Self::of(id, name, count, 0, findings)
    }
}

const MOST_FINDINGS: usize = 50;
const PORTION: u64 = 2_000;
/// As many entries that take something back as are compared at once.
const REVERSALS: usize = 50;

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

    /// With those of another part of the same check.
    fn with(mut self, others: Self) -> Self {
        others.0.into_iter().for_each(|finding| self.add(finding));
        self
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

/// What an entry moves: by account, party and currency, in the company's currency and in its own.
type Moves = BTreeMap<(RecordId, Option<Named>, String), (Wide, Wide)>;

/// A walk along the ledger, entry by entry. What it keeps grows with accounts, days and parties, and by one
/// identifier for each entry that a document stands for.
#[derive(Default)]
struct Walk {
    days: BTreeMap<(RecordId, String, Day), Sums>,
    months: BTreeMap<(RecordId, String, String), Sums>,
    parties: BTreeMap<(Named, RecordId, String), (Wide, Wide)>,
    accounts: HashMap<RecordId, Wide>,
    /// Entries that nothing has taken back, and their documents.
    live: HashMap<RecordId, RecordId>,
    entries: usize,
    debit: Wide,
    credit: Wide,
    /// The accounts by their codes.
    codes: HashMap<RecordId, String>,
    /// What else lines name, by the order in which they first do.
    ordinals: HashMap<RecordId, usize>,
    purses: purses::Purses,
    digest: Digest,
    reversals: usize,
    mirrored: usize,
    unbalanced: Findings,
    gaps: Findings,
    odd_amounts: Findings,
    odd_reversals: Findings,
    locked: Findings,
}

impl Walk {
    async fn along(cx: &Cx<'_>) -> Result<Self> {
        let business = cx.business()?;
        let hard: Vec<locks::Model> = locks::Entity::find()
            .filter(locks::Column::BusinessId.eq(business.id))
            .filter(locks::Column::HardLockDate.is_not_null())
            .all(&cx.db)
            .await?;
        let codes = accounts::Entity::find()
            .select_only()
            .columns([accounts::Column::Id, accounts::Column::Code])
            .filter(accounts::Column::BusinessId.eq(business.id))
            .into_tuple::<(RecordId, String)>()
            .all(&cx.db)
            .await?;
        let purses = purses::Purses::of(business, of_money(cx).await?);
        let mut walk = Self { codes: codes.into_iter().collect(), purses, ..Self::default() };
        let mut last = 0;
        loop {
            let (headers, lines, end) = next_entries(cx, last, i64::MAX).await?;
            aside::computed(|| walk.judge(&headers, &lines, business.currency_decimals, last));
            walk.judge_reversals(cx, &headers, &lines).await?;
            for header in &headers {
                walk.judge_lock(header, &hard);
            }
            let Some(end) = end else { return Ok(walk) };
            last = end;
            cx.pause().await?;
        }
    }

    fn judge(&mut self, headers: &[entries::Model], lines: &[entry_lines::Model], base_decimals: u32, last: i64) {
        let mut rest = lines;
        let mut next = last + 1;
        for header in headers {
            for missing in (next..header.number).take(MOST_FINDINGS) {
                self.gaps.add(format!("entry {missing} is missing"));
            }
            next = header.number + 1;
            self.entries += 1;
            let (orphans, from) = rest.split_at(rest.partition_point(|line| line.entry_number < header.number));
            let (own, after) = from.split_at(from.partition_point(|line| line.entry_number == header.number));
            rest = after;
            self.judge_orphans(orphans);
            self.judge_entry(header, own);
            self.digest_entry(header, own);
            self.purses.hear(header, own);
            for line in own {
                self.add(line, base_decimals);
            }
            // What goods and money cost after all is posted for itself, and never taken back.
            if !matches!(header.kind, EntryKind::Reversal | EntryKind::StockAdjustment | EntryKind::ExchangeAdjustment)
            {
                self.live.insert(header.id, header.document_id);
            }
        }
        self.judge_orphans(rest);
        for line in rest {
            self.add(line, base_decimals);
        }
    }

    fn judge_orphans(&mut self, lines: &[entry_lines::Model]) {
        for line in lines {
            self.unbalanced.add(format!("a line of entry {}, which does not exist", line.entry_number));
        }
    }

    fn judge_entry(&mut self, header: &entries::Model, lines: &[entry_lines::Model]) {
        let amounts = lines.iter().map(|line| Wide::from(line.amount.units()));
        let (debit, credit) =
            amounts.fold(
                (0, 0),
                |(debit, credit), amount| {
                    if amount < 0 { (debit, credit - amount) } else { (debit + amount, credit) }
                },
            );
        let number = header.number;
        if debit != credit {
            self.unbalanced.add(format!("entry {number}: debits of {} and credits of {}", shown(debit), shown(credit)));
        } else if lines.len() < 2 {
            self.unbalanced.add(format!("entry {number} has fewer than two lines"));
        } else if debit != Wide::from(header.total.units()) {
            self.unbalanced.add(format!("entry {number} says {} and has debits of {}", header.total, shown(debit)));
        } else if lines.iter().any(|line| line.date != header.date) {
            self.unbalanced.add(format!("entry {number} has lines of another date"));
        }
    }

    /// Adds an entry to the digest, without anything that tells one company from its twin.
    fn digest_entry(&mut self, header: &entries::Model, lines: &[entry_lines::Model]) {
        let Self { digest, codes, ordinals, .. } = self;
        let mut feed = |part: Option<String>| digest.feed(part.as_deref());
        for part in [header.number.to_string(), header.date.to_string(), header.total.units().to_string()] {
            feed(Some(part));
        }
        feed(Some(header.kind.to_string()));
        feed(Some(header.document_kind.to_string()));
        feed(header.document_number.clone());
        feed(header.narration.clone());
        feed(Some(lines.len().to_string()));
        for line in lines {
            let mut ordinal = |id: RecordId| {
                let next = ordinals.len();
                ordinals.entry(id).or_insert(next).to_string()
            };
            let account = codes.get(&line.account_id).cloned().unwrap_or_else(|| ordinal(line.account_id));
            let ids =
                [line.party_id.map(Named::as_written), line.item_id, line.tax_code_id].map(|id| id.map(&mut ordinal));
            feed(Some(account));
            ids.into_iter().for_each(&mut feed);
            feed(Some(line.amount.units().to_string()));
            feed(Some(line.currency.clone()));
            feed(Some(line.currency_amount.units().to_string()));
            feed(line.description.clone());
            feed(line.due_date.map(|day| day.to_string()));
            feed(line.quantity.map(|quantity| quantity.units().to_string()));
            feed(line.tax_component.clone());
            feed(line.tax_base.map(|base| base.units().to_string()));
        }
    }

    fn add(&mut self, line: &entry_lines::Model, base_decimals: u32) {
        let amount = Wide::from(line.amount.units());
        let own = Wide::from(line.currency_amount.units());
        let (debit, credit) = if amount < 0 { (0, -amount) } else { (amount, 0) };
        (self.debit, self.credit) = (self.debit + debit, self.credit + credit);
        let add = |sums: &mut Sums| *sums = (sums.0 + debit, sums.1 + credit, sums.2 + own);
        add(self.days.entry((line.account_id, line.currency.clone(), line.date)).or_default());
        add(self.months.entry((line.account_id, line.currency.clone(), line.date.year_and_month())).or_default());
        *self.accounts.entry(line.account_id).or_default() += amount;
        if let Some(party) = line.party_id {
            let open = self.parties.entry((party, line.account_id, line.currency.clone())).or_default();
            *open = (open.0 + amount, open.1 + own);
        }
        let fits = |known: Currency| line.currency_amount.fits(known.decimals());
        if !line.amount.fits(base_decimals) || !Currency::of(&line.currency).is_some_and(fits) {
            self.odd_amounts.add(format!("entry {} line {}", line.entry_number, line.position));
        }
    }

    /// Compares each reversal, and each entry that takes an accrual back, with what it reverses.
    async fn judge_reversals(
        &mut self,
        cx: &Cx<'_>,
        headers: &[entries::Model],
        lines: &[entry_lines::Model],
    ) -> Result<()> {
        let reversing: Vec<&entries::Model> = headers.iter().filter(|header| header.reverses_id.is_some()).collect();
        if reversing.is_empty() {
            return Ok(());
        }
        let originals: Vec<(RecordId, i64)> = entries::Entity::find()
            .select_only()
            .columns([entries::Column::Id, entries::Column::Number])
            .filter(entries::Column::BusinessId.eq(cx.business_id()?))
            .filter(entries::Column::Id.is_in(reversing.iter().filter_map(|header| header.reverses_id)))
            .into_tuple()
            .all(&cx.db)
            .await?;
        // A few at a time: each may have as many lines as an entry can have.
        for some in reversing.chunks(REVERSALS) {
            let of_some: Vec<i64> = some
                .iter()
                .filter_map(|header| originals.iter().find(|(id, _)| header.reverses_id == Some(*id)))
                .map(|(_, number)| *number)
                .collect();
            let of_originals = entry_lines::Entity::find()
                .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
                .filter(entry_lines::Column::EntryNumber.is_in(of_some))
                .all(&cx.db)
                .await?;
            self.compare_reversals(some, &originals, &of_originals, lines);
        }
        Ok(())
    }

    fn compare_reversals(
        &mut self,
        reversing: &[&entries::Model],
        originals: &[(RecordId, i64)],
        of_originals: &[entry_lines::Model],
        lines: &[entry_lines::Model],
    ) {
        for header in reversing {
            self.reversals += 1;
            let original = originals.iter().find(|(id, _)| header.reverses_id == Some(*id));
            let taken_back =
                original.is_some_and(|(_, number)| moves(of_originals, *number, -1) == moves(lines, header.number, 1));
            let first = header.kind != EntryKind::Reversal
                || header.reverses_id.is_some_and(|original| self.live.remove(&original).is_some());
            if taken_back && first {
                self.mirrored += 1;
            } else if taken_back {
                self.odd_reversals.add(format!("entry {} takes back what was taken back before", header.number));
            } else {
                self.odd_reversals.add(format!("entry {} does not take back what it reverses", header.number));
            }
        }
    }

    fn judge_lock(&mut self, header: &entries::Model, hard: &[locks::Model]) {
        let behind = |lock: &&locks::Model| {
            header.recorded_at > lock.created_at && lock.hard_lock_date.is_some_and(|day| header.date <= day)
        };
        if let Some(day) = hard.iter().find(behind).and_then(|lock| lock.hard_lock_date) {
            self.locked.add(format!("entry {} of {} was recorded after {day} was locked", header.number, header.date));
        }
    }
}

fn moves(lines: &[entry_lines::Model], entry: i64, sign: Wide) -> Moves {
    let mut moves = Moves::new();
    for line in lines.iter().filter(|line| line.entry_number == entry) {
        let moved = moves.entry((line.account_id, line.party_id, line.currency.clone())).or_default();
        let (amount, own) = (Wide::from(line.amount.units()), Wide::from(line.currency_amount.units()));
        *moved = (moved.0 + sign * amount, moved.1 + sign * own);
    }
    moves
}

/// The digest of the ledger of the company in scope.
pub(crate) async fn digest(cx: &Cx<'_>) -> Result<String> {
    Ok(Walk::along(cx).await?.digest.finish())
}

/// Where its ledger is not what the facts of its stock come to, and the last day that is closed.
pub(crate) async fn off(cx: &Cx<'_>) -> Result<(Vec<Off>, Option<Day>)> {
    goods::off(cx).await
}

/// Runs every check on the company in scope.
pub(crate) async fn run(cx: &Cx<'_>) -> Result<Verdict> {
    let rows = seals::of_company(cx).await?;
    match recompute(cx).await {
        Ok(verdict) => {
            let Verdict { ok, mut checks, digest } = verdict;
            let ok = ok && rows.ok;
            checks.push(rows);
            Ok(Verdict { ok, checks, digest })
        }
        // What was spoilt cannot even be read: the rows say where.
        Err(Error::Internal(why)) if !rows.ok => {
            tracing::warn!(%why, "the books cannot be recomputed");
            Ok(Verdict { ok: false, checks: vec![rows], digest: String::new() })
        }
        Err(other) => Err(other),
    }
}

async fn recompute(cx: &Cx<'_>) -> Result<Verdict> {
    let mut walk = Walk::along(cx).await?;
    let head = books::Entity::find_by_id(cx.business_id()?).one(&cx.db).await?;
    let last = head.as_ref().map_or(BEFORE_THE_FIRST, |head| head.entry_number);
    let take = |findings: &mut Findings| std::mem::take(findings);
    let (debit, credit) = (shown(walk.debit), shown(walk.credit));
    let mut checks = vec![
        Check::of("V1", "Every entry balances", debit, credit, take(&mut walk.unbalanced)),
        Check::of("V1b", "Entries are numbered without a gap", walk.entries, last, take(&mut walk.gaps)),
        months_balance(&walk),
        control_accounts(cx, &walk).await?,
    ];
    checks.extend(rollups(cx, &walk).await?);
    cx.pause().await?;
    checks.push(numbers(cx).await?);
    checks.push(audit_chain(cx, cx.business_id()?).await?);
    checks.push(kept_answers(cx).await?);
    checks.push(accounts_are_our_own(cx, &walk).await?);
    cx.pause().await?;
    checks.extend(subledgers::checks(cx, &mut walk).await?);
    checks.extend(taxes::checks(cx).await?);
    checks.push(shares::check(cx).await?);
    checks.push(courses::check(cx).await?);
    checks.push(opened(cx, &walk).await?);
    let purses = std::mem::take(&mut walk.purses);
    checks.push(aside::computed(|| purses.check()));
    checks.push(years::check(cx, &walk).await?);
    checks.push(documents_stand(cx, &mut walk).await?);
    let odd = take(&mut walk.odd_reversals);
    let reversals = "Every reversal takes back its entry to the cent";
    checks.push(Check::of("V11b", reversals, walk.mirrored, walk.reversals, odd));
    let locked = take(&mut walk.locked);
    checks.push(Check::of("V12", "Nothing was posted behind a hard lock", locked.0.len(), 0, locked));
    let odd = take(&mut walk.odd_amounts);
    checks.push(Check::of("V14", "Every amount is whole in its currency", odd.0.len(), 0, odd));
    Ok(Verdict { ok: checks.iter().all(|check| check.ok), checks, digest: walk.digest.finish() })
}

/// The accounts of money, their codes, and the last entry of each that was carried at what it said.
async fn of_money(cx: &Cx<'_>) -> Result<HashMap<RecordId, (String, i64)>> {
    let kinds = [AccountType::Bank, AccountType::Cash, AccountType::CreditCard];
    let found: Vec<(RecordId, String, i64)> = accounts::Entity::find()
        .select_only()
        .columns([accounts::Column::Id, accounts::Column::Code, accounts::Column::AsSaidUntil])
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .filter(accounts::Column::Type.is_in(kinds))
        .into_tuple()
        .all(&cx.db)
        .await?;
    Ok(found.into_iter().map(|(id, code, last)| (id, (code, last))).collect())
}

/// The account of opening balances is empty once all of them are entered.
async fn opened(cx: &Cx<'_>, walk: &Walk) -> Result<Check> {
    let account = cx.chart().await?.roles().opening_balance_equity.id();
    let left: Wide = walk.accounts.sum_of(&account);
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

async fn control_accounts(cx: &Cx<'_>, lines: &Walk) -> Result<Check> {
    let rows = party_balances::Entity::find()
        .filter(party_balances::Column::BusinessId.eq(cx.business_id()?))
        .all(&cx.db)
        .await?;
    let control: Vec<accounts::Model> = accounts::Entity::find()
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .all(&cx.db)
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

async fn rollups(cx: &Cx<'_>, lines: &Walk) -> Result<Vec<Check>> {
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
        format!("party {} on account {account} {currency}", party.as_written())
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
            given += count - period.missing.iter().map(|_| 1_i64).sum::<i64>();
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

/// The checks of what belongs to no company.
pub(crate) async fn installation(cx: &Cx<'_>) -> Result<Vec<Check>> {
    Ok(vec![audit_chain(cx, BusinessId::INSTALLATION).await?, seals::of_installation(cx).await?])
}

/// The chain of a company, or of the installation.
async fn audit_chain(cx: &Cx<'_>, business: BusinessId) -> Result<Check> {
    let verdict = audit::verify(cx, business).await?;
    let mut findings = Findings::default();
    for problem in &verdict.problems {
        findings.add(format!("record {} {}", problem.sequence, problem.problem));
    }
    let head = books::Entity::find_by_id(business).one(&cx.db).await?;
    Ok(Check::of(
        "V7",
        "The audit log is whole",
        verdict.records,
        head.map_or(BEFORE_THE_FIRST, |head| head.audit_sequence),
        findings,
    ))
}

/// Each answer that is kept for a repeat is about a record that the audit log knows.
async fn kept_answers(cx: &Cx<'_>) -> Result<Check> {
    let mut findings = Findings::default();
    let (mut kept, mut known) = (0_usize, 0_usize);
    let mut last = None;
    loop {
        let mut portion = schema::idempotency::Entity::find()
            .select_only()
            .distinct()
            .column(schema::idempotency::Column::RecordId)
            .filter(schema::idempotency::Column::BusinessId.eq(cx.business_id()?))
            .filter(schema::idempotency::Column::RecordId.is_not_null());
        if let Some(last) = last {
            portion = portion.filter(schema::idempotency::Column::RecordId.gt(last));
        }
        let portion: Vec<RecordId> =
            portion.order_by_asc(schema::idempotency::Column::RecordId).limit(PORTION).into_tuple().all(&cx.db).await?;
        let Some(end) = portion.last() else { break };
        last = Some(*end);
        cx.pause().await?;
        let found: Vec<RecordId> = audit_log::Entity::find()
            .select_only()
            .distinct()
            .column(audit_log::Column::ResourceId)
            .filter(audit_log::Column::BusinessId.eq(cx.business_id()?))
            .filter(audit_log::Column::ResourceId.is_in(portion.iter().copied()))
            .into_tuple()
            .all(&cx.db)
            .await?;
        let found: HashSet<RecordId> = found.into_iter().collect();
        kept += portion.len();
        known += found.len();
        for missing in portion.iter().filter(|id| !found.contains(id)) {
            findings.add(format!("an answer is kept about {missing}, which never was"));
        }
    }
    Ok(Check::of("V9", "Every answer kept for a repeat is about a record", kept, known, findings))
}

async fn accounts_are_our_own(cx: &Cx<'_>, lines: &Walk) -> Result<Check> {
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

/// What is read of a document here: not what it is about.
#[derive(FromQueryResult)]
struct Standing {
    id: RecordId,
    number: Option<String>,
    status: DocumentStatus,
    entries: AsJson<Vec<EntryRef>>,
    base_total: Money,
    kind: DocumentKind,
    stage: Option<Stage>,
}

async fn documents_stand(cx: &Cx<'_>, walk: &mut Walk) -> Result<Check> {
    let mut findings = Findings::default();
    let in_ledger = walk.live.len();
    let mut standing = 0_usize;
    let mut last = None;
    loop {
        let mut portion = documents::Entity::find()
            .select_only()
            .columns([
                documents::Column::Id,
                documents::Column::Number,
                documents::Column::Status,
                documents::Column::Entries,
                documents::Column::BaseTotal,
                documents::Column::Kind,
                documents::Column::Stage,
            ])
            .filter(documents::Column::BusinessId.eq(cx.business_id()?));
        if let Some(last) = last {
            portion = portion.filter(documents::Column::Id.gt(last));
        }
        let portion =
            portion.order_by_asc(documents::Column::Id).limit(PORTION).into_model::<Standing>().all(&cx.db).await?;
        let Some(end) = portion.last() else { break };
        last = Some(end.id);
        cx.pause().await?;
        for row in portion.into_iter().filter(|row| row.status == DocumentStatus::Posted) {
            let name = row.number.unwrap_or_else(|| row.id.to_string());
            let is_order = matches!(row.kind, DocumentKind::SalesOrder | DocumentKind::PurchaseOrder);
            if is_order && !row.entries.0.is_empty() {
                findings.add(format!("{name} is an order and has an entry"));
            }
            // A note of goods posts what they cost, and nothing if they are not kept in stock.
            if row.entries.0.is_empty() && row.base_total != Money::ZERO && row.stage.is_none() {
                findings.add(format!("{name} is posted and has no entry"));
            }
            for entry in row.entries.0 {
                standing += 1;
                match walk.live.remove(&entry.id) {
                    Some(document) if document == row.id => {}
                    Some(_) => findings.add(format!("{name} stands for entry {}, which is another's", entry.number)),
                    None => findings.add(format!("{name} stands for entry {}, which is not in force", entry.number)),
                }
            }
        }
    }
    for (entry, document) in &walk.live {
        findings.add(format!("entry {entry} is in force, and its document {document} does not stand for it"));
    }
    Ok(Check::of("V11", "Every document stands for its entries", standing, in_ledger, findings))
}

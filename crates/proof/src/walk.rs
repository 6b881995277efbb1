//! Along all entries and lines of a company, once.

use super::before;
use super::live::Live;
use super::rollups::of_money;
use super::tally::Tally;
use super::telling::{Heard, Telling};
use super::{BEFORE_THE_FIRST, Findings, MOST_FINDINGS, PORTION, Range, Wide, purses, shown};
use crate::currency::Currency;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use futures_util::future::join;
use schema::aliases::Named;
use schema::reader::Reader;
use schema::tables::{EntryKind, entries, entry_lines};
use schema::{account as accounts, lock as locks};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::task::Poll;

/// As many entries that take something back as are compared at once.
const REVERSALS: usize = 50;

/// So many entries are judged before what is read beside them is looked at.
const MOMENT: usize = 16;

/// Lets what is read beside this go on.
async fn beside() {
    let mut looked = false;
    poll_fn(|context| {
        if std::mem::replace(&mut looked, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Debit, credit, the amount in the currency of the lines, and how many lines that is.
pub(super) type Sums = (Wide, Wide, Wide, Wide);

/// What an entry moves: by account, party and currency, in the company's currency and in its own.
type Moves = BTreeMap<(RecordId, Option<Named>, String), (Wide, Wide)>;

/// A walk along the ledger, entry by entry. What it keeps grows with accounts, days and parties, and with what its lines
/// name beside these.
#[derive(Default)]
pub(super) struct Walk {
    pub(super) days: BTreeMap<(RecordId, String, Day), Sums>,
    pub(super) months: BTreeMap<(RecordId, String, String), Sums>,
    pub(super) parties: BTreeMap<(Named, RecordId, String), (Wide, Wide)>,
    pub(super) accounts: HashMap<RecordId, Wide>,
    /// What becomes of these when all lines are read: by account and day, and by party and account.
    moved: Tally<(RecordId, Day), Sums>,
    held: Tally<(Named, RecordId), (Wide, Wide)>,
    /// The currencies that were met.
    currencies: HashMap<String, Option<Currency>>,
    /// Entries that nothing has taken back.
    pub(super) live: Live,
    pub(super) entries: usize,
    pub(super) debit: Wide,
    pub(super) credit: Wide,
    /// The accounts by their codes.
    codes: HashMap<RecordId, String>,
    pub(super) purses: purses::Purses,
    /// What is told of the entries, where a digest is made of all of them.
    telling: Option<Telling>,
    /// What was told from the first one on.
    heard: Option<Heard>,
    pub(super) reversals: usize,
    pub(super) mirrored: usize,
    pub(super) unbalanced: Findings,
    pub(super) gaps: Findings,
    pub(super) odd_amounts: Findings,
    pub(super) odd_reversals: Findings,
    pub(super) locked: Findings,
}

impl Walk {
    /// Judges the entries of a range one by one. Of one that is trusted it takes the sums of all lines, as the database adds
    /// them up.
    pub(super) async fn along(reader: &Reader<'_>, range: Range, trusted: i64) -> Result<Self> {
        let hard: Vec<locks::Model> = locks::Entity::find()
            .filter(locks::Column::BusinessId.eq(reader.id()))
            .filter(locks::Column::HardLockDate.is_not_null())
            .models(&reader.db)
            .await?;
        let codes = accounts::Entity::find()
            .select_only()
            .columns([accounts::Column::Id, accounts::Column::Code])
            .filter(accounts::Column::BusinessId.eq(reader.id()))
            .read::<(RecordId, String)>(&reader.db)
            .await?;
        let purses = purses::Purses::of(reader, of_money(reader).await?);
        let mut walk = Self { codes: codes.into_iter().collect(), purses, ..Self::default() };
        let (after, until) = range.entries();
        if after < trusted && until <= trusted {
            before::add(&mut walk, reader, range.all_entries()).await?;
            return Ok(walk);
        }
        if trusted == BEFORE_THE_FIRST {
            walk.telling = Some(Telling::default());
            walk.heard = range.after.is_none().then(Heard::default);
        }
        let mut last = after;
        let mut portion = reader.next_entries(last, until).await?;
        loop {
            let (headers, lines, end) = portion;
            reader.read(headers.len());
            // The next portion is read while this one is judged.
            let next = async {
                match end {
                    Some(end) => reader.next_entries(end, until).await.map(|next| Some((next, end))),
                    None => Ok(None),
                }
            };
            let judged = async {
                walk.judge(&headers, &lines, reader.decimals(), last).await;
                walk.judge_reversals(reader, &headers, &lines).await?;
                for header in &headers {
                    walk.judge_lock(header, &hard);
                }
                walk.hear();
                Ok::<_, Error>(())
            };
            let (next, judged) = join(next, judged).await;
            judged?;
            let Some((next, end)) = next? else { return Ok(walk) };
            (portion, last) = (next, end);
            reader.pause().await?;
        }
    }

    /// With what lies behind it.
    pub(super) fn add(&mut self, behind: Self) {
        for (key, currency, moved) in behind.moved.all() {
            let (account, day) = key;
            self.add_sums((account, &currency, day), moved);
        }
        for ((party, account), currency, held) in behind.held.all() {
            self.add_held((party, account, &currency), held);
        }
        self.live.add(behind.live);
        self.purses.add(behind.purses);
        match (&mut self.telling, behind.telling) {
            (Some(telling), Some(behind)) => telling.add(behind),
            (telling, behind) => *telling = telling.take().or(behind),
        }
        self.hear();
        self.entries += behind.entries;
        self.reversals += behind.reversals;
        self.mirrored += behind.mirrored;
        self.unbalanced.add_all(behind.unbalanced);
        self.gaps.add_all(behind.gaps);
        self.odd_amounts.add_all(behind.odd_amounts);
        self.odd_reversals.add_all(behind.odd_reversals);
        self.locked.add_all(behind.locked);
    }

    /// What was told from the first entry on need not be kept.
    fn hear(&mut self) {
        if let (Some(heard), Some(telling)) = (&mut self.heard, &mut self.telling) {
            heard.hear(telling);
        }
    }

    /// The digest of all entries, where they were told.
    pub(super) fn digest(&mut self) -> Option<String> {
        self.hear();
        self.heard.take().map(Heard::digest)
    }

    /// What the lines come to that were read.
    pub(super) fn sum_up(&mut self) {
        for ((account, day), currency, moved) in std::mem::take(&mut self.moved).all() {
            let (debit, credit, own, lines) = moved;
            (self.debit, self.credit) = (self.debit + debit, self.credit + credit);
            let month = self.months.entry((account, currency.clone(), day.year_and_month())).or_default();
            *month = (month.0 + debit, month.1 + credit, month.2 + own, month.3 + lines);
            self.days.insert((account, currency, day), moved);
            *self.accounts.entry(account).or_default() += debit - credit;
        }
        for ((party, account), currency, held) in std::mem::take(&mut self.held).all() {
            self.parties.insert((party, account, currency), held);
        }
    }

    async fn judge(&mut self, headers: &[entries::Model], lines: &[entry_lines::Model], base_decimals: u32, last: i64) {
        let mut rest = lines;
        let mut next = last + 1;
        for (place, header) in headers.iter().enumerate() {
            if place % MOMENT == 0 {
                beside().await;
            }
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
            if let Some(telling) = &mut self.telling {
                telling.tell(header, own, &self.codes);
            }
            self.purses.hear(header, own);
            for line in own {
                self.add_line(line, base_decimals);
            }
            if is_stood_for(header.kind) {
                self.live.begins(header.id, header.document_id);
            }
        }
        self.judge_orphans(rest);
        for line in rest {
            self.add_line(line, base_decimals);
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

    fn add_line(&mut self, line: &entry_lines::Model, base_decimals: u32) {
        let amount = Wide::from(line.amount.units());
        let own = Wide::from(line.own().units());
        let (debit, credit) = if amount < 0 { (0, -amount) } else { (amount, 0) };
        self.add_sums((line.account_id, &line.currency, line.date), (debit, credit, own, 1));
        if let Some(party) = line.party_id {
            self.add_held((party, line.account_id, &line.currency), (amount, own));
        }
        let fits = |known: Currency| line.own().fits(known.decimals());
        if !line.amount.fits(base_decimals) || !self.currency(&line.currency).is_some_and(fits) {
            self.odd_amounts.add(format!("entry {} line {}", line.entry_number, line.position));
        }
    }

    /// Adds what moves an account on a day, in a currency.
    pub(super) fn add_sums(&mut self, (account, currency, day): (RecordId, &str, Day), moved: Sums) {
        let sums = self.moved.of((account, day), currency);
        *sums = (sums.0 + moved.0, sums.1 + moved.1, sums.2 + moved.2, sums.3 + moved.3);
    }

    /// Adds what is open with a party on an account, in a currency.
    pub(super) fn add_held(&mut self, (party, account, currency): (Named, RecordId, &str), held: (Wide, Wide)) {
        let sums = self.held.of((party, account), currency);
        *sums = (sums.0 + held.0, sums.1 + held.1);
    }

    fn currency(&mut self, code: &str) -> Option<Currency> {
        if let Some(known) = self.currencies.get(code) {
            return *known;
        }
        let known = Currency::of(code);
        self.currencies.insert(code.to_owned(), known);
        known
    }

    /// Compares each reversal, and each entry that takes an accrual back, with what it reverses.
    async fn judge_reversals(
        &mut self,
        reader: &Reader<'_>,
        headers: &[entries::Model],
        lines: &[entry_lines::Model],
    ) -> Result<()> {
        let reversing: Vec<&entries::Model> = headers.iter().filter(|header| header.reverses_id.is_some()).collect();
        if reversing.is_empty() {
            return Ok(());
        }
        let originals = Originals::of(reader, &reversing).await?;
        // A few at a time: each may have as many lines as an entry can have.
        for some in reversing.chunks(REVERSALS) {
            let of_some: Vec<i64> =
                some.iter().filter_map(|header| originals.of_header(header)).map(|original| original.number).collect();
            let of_originals = entry_lines::Entity::find()
                .filter(entry_lines::Column::BusinessId.eq(reader.id()))
                .filter(entry_lines::Column::EntryNumber.is_in(of_some))
                .models(&reader.db)
                .await?;
            self.compare_reversals(some, &originals, &of_originals, lines);
        }
        Ok(())
    }

    fn compare_reversals(
        &mut self,
        reversing: &[&entries::Model],
        originals: &Originals,
        of_originals: &[entry_lines::Model],
        lines: &[entry_lines::Model],
    ) {
        for header in reversing {
            self.reversals += 1;
            let taken_back = originals
                .of_header(header)
                .is_some_and(|original| moves(of_originals, original.number, -1) == moves(lines, header.number, 1));
            let first = header.kind != EntryKind::Reversal || originals.ends(header, &mut self.live);
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

/// Whether a document or an allocation stands for an entry of a kind. What goods and money cost after all is posted for
/// itself, and never taken back.
const fn is_stood_for(kind: EntryKind) -> bool {
    !matches!(
        kind,
        EntryKind::Reversal | EntryKind::StockAdjustment | EntryKind::ExchangeAdjustment | EntryKind::TaxAdjustment
    )
}

answers::of_row! {
    /// What is read of an entry that is taken back.
    struct Original {
        id: RecordId,
        number: i64,
        kind: EntryKind,
        document_id: RecordId,
    }
}

/// Entries that others take back, and the first that does.
struct Originals {
    entries: HashMap<RecordId, Original>,
    first: HashMap<RecordId, i64>,
}

impl Originals {
    async fn of(reader: &Reader<'_>, reversing: &[&entries::Model]) -> Result<Self> {
        let named = || reversing.iter().filter_map(|header| header.reverses_id);
        let entries = entries::Entity::find()
            .select_only()
            .columns([entries::Column::Id, entries::Column::Number, entries::Column::Kind, entries::Column::DocumentId])
            .filter(entries::Column::BusinessId.eq(reader.id()))
            .filter(entries::Column::Id.is_in(named()))
            .read::<Original>(&reader.db)
            .await?;
        let taking: Vec<(Option<RecordId>, i64)> = entries::Entity::find()
            .select_only()
            .columns([entries::Column::ReversesId, entries::Column::Number])
            .filter(entries::Column::BusinessId.eq(reader.id()))
            .filter(entries::Column::Kind.eq(EntryKind::Reversal))
            .filter(entries::Column::ReversesId.is_in(named()))
            .read(&reader.db)
            .await?;
        let mut first: HashMap<RecordId, i64> = HashMap::new();
        for (original, number) in taking {
            if let Some(original) = original {
                first.entry(original).and_modify(|known| *known = number.min(*known)).or_insert(number);
            }
        }
        Ok(Self { entries: entries.into_iter().map(|entry| (entry.id, entry)).collect(), first })
    }

    fn of_header(&self, header: &entries::Model) -> Option<&Original> {
        self.entries.get(&header.reverses_id?)
    }

    /// Takes back what a reversal reverses, if nothing has before.
    fn ends(&self, header: &entries::Model, live: &mut Live) -> bool {
        let first = |original: &&Original| {
            original.number < header.number
                && is_stood_for(original.kind)
                && self.first.get(&original.id) == Some(&header.number)
        };
        let Some(original) = self.of_header(header).filter(first) else { return false };
        live.ends(original.id, original.document_id);
        true
    }
}

/// What is in force, entry by entry, once more.
pub(super) async fn in_force(reader: &Reader<'_>, live: &mut Live) -> Result<()> {
    let mut last = BEFORE_THE_FIRST;
    loop {
        let headers = next_headers(reader, last, i64::MAX).await?;
        let Some(end) = headers.last() else { return Ok(()) };
        last = end.number;
        reader.pause().await?;
        stand(reader, &headers, live).await?;
    }
}

/// The next entries without their lines.
pub(super) async fn next_headers(reader: &Reader<'_>, after: i64, until: i64) -> Result<Vec<entries::Model>> {
    let headers = entries::Entity::find()
        .filter(entries::Column::BusinessId.eq(reader.id()))
        .filter(entries::Column::Number.gt(after))
        .filter(entries::Column::Number.lte(until))
        .order_by_asc(entries::Column::Number)
        .limit(PORTION);
    Ok(headers.models(&reader.db).await?)
}

/// Tells what of some entries comes into force, and what they end.
pub(super) async fn stand(reader: &Reader<'_>, headers: &[entries::Model], live: &mut Live) -> Result<()> {
    for header in headers.iter().filter(|header| is_stood_for(header.kind)) {
        live.begins(header.id, header.document_id);
    }
    let takes_back = |header: &&entries::Model| header.kind == EntryKind::Reversal && header.reverses_id.is_some();
    let reversing: Vec<&entries::Model> = headers.iter().filter(takes_back).collect();
    if !reversing.is_empty() {
        let originals = Originals::of(reader, &reversing).await?;
        for header in reversing {
            originals.ends(header, live);
        }
    }
    Ok(())
}

fn moves(lines: &[entry_lines::Model], entry: i64, sign: Wide) -> Moves {
    let mut moves = Moves::new();
    for line in lines.iter().filter(|line| line.entry_number == entry) {
        let moved = moves.entry((line.account_id, line.party_id, line.currency.clone())).or_default();
        let (amount, own) = (Wide::from(line.amount.units()), Wide::from(line.own().units()));
        *moved = (moved.0 + sign * amount, moved.1 + sign * own);
    }
    moves
}

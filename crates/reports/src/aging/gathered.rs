//! What is open on a day, as it is read.

use super::{Aged, Coins, Grain, Left, Open, Side, Sums, bucket_of, of_currency};
use crate::asked::{AgingBy, Asked};
use crate::clock::Instant;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money};
use crate::then::{changed_since, said_at};
use ::rules::keeper::Keeper;
use answers::Ask;
use books::among::among;
use books::balances::{balances, sum};
use books::cx::{Cx, Point};
use rules::account::{AccountClass, AccountType};
use schema::aliases::{Aliases, Meant, Named};
use schema::some::is_open;
use schema::tables::{
    DocumentKind, documents, entry_lines, open_item_moves, open_items, own_amount, party_balances, party_months,
};
use schema::{account as accounts, party as parties};
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait, Func, SimpleExpr};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QuerySelect, Select};
use std::collections::{BTreeMap, HashMap, HashSet};
use words::sums::SummedUp as _;

answers::of_row! {
    /// An item that is open.
    struct Item {
        id: RecordId,
        party_id: Named,
        document_id: RecordId,
        currency: String,
        date: Day,
        open: Money,
        base_open: BookMoney,
        due_date: Option<Day>,
    }
}

/// The accounts of one side: what customers owe with what they paid in advance, or what suppliers are owed with what they
/// got in advance.
pub(crate) async fn control_accounts(cx: &Cx<'_>, r#type: AccountType) -> Result<Vec<RecordId>> {
    // Advances of a side stand on the other side of the balance sheet.
    let apart = if r#type == AccountType::Receivable { AccountClass::Liability } else { AccountClass::Asset };
    let advances = Condition::all()
        .add(accounts::Column::Keeper.eq(Keeper::OpenItems))
        .add(accounts::Column::Class.eq(apart))
        .add(accounts::Column::Type.is_not_in([AccountType::Receivable, AccountType::Payable]));
    let found = accounts::Entity::find()
        .select_only()
        .column(accounts::Column::Id)
        .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
        .filter(Condition::any().add(accounts::Column::Type.eq(r#type)).add(advances));
    Ok(found.column_of(&cx.db).await?)
}

pub(super) async fn gather<S: Side>(cx: &Cx<'_>, asked: &Asked, grain: Grain) -> Result<Aged> {
    let controls = control_accounts(cx, S::ACCOUNTS).await?;
    let aliases = asked.aliases(cx)?;
    let questions = Questions { cx, controls: &controls, asked, aliases: &aliases };
    let (summed, left, due) = questions.left_open(grain).await?;
    let due = due_days(cx, &left, due, asked.point).await?;
    let named = match grain {
        Grain::Parties => HashMap::new(),
        Grain::Documents => documents_of(cx, left.iter().map(|one| one.document_id)).await?,
    };
    let open = left.into_iter().map(|one| {
        let document = named.get(&one.document_id);
        Ok(Open {
            party: aliases.of(one.party_id),
            document: one.document_id,
            kind: document.map(|(kind, _)| *kind),
            number: document.and_then(|(_, number)| number.clone()),
            date: one.date,
            due: due.get(&one.open_item_id).copied().flatten().unwrap_or(one.date),
            own: of_currency(&one.currency)?,
            currency: one.currency,
            left: Sums { own: one.own, base: one.base }.times(S::SIGN),
        })
    });
    let mut open: Vec<Open> = open.collect::<Result<_>>()?;
    for one in summed {
        open.push(Open {
            party: aliases.of(one.party_id),
            document: RecordId::NONE,
            kind: None,
            number: None,
            date: one.day,
            due: one.day,
            own: of_currency(&one.currency)?,
            currency: one.currency,
            left: Sums { own: one.own, base: one.base }.times(S::SIGN),
        });
    }
    open.sort_by(|left, right| (left.due, left.date, &left.number).cmp(&(right.due, right.date, &right.number)));
    let point = Point { as_of: Some(asked.as_of), ..asked.point };
    let control = match asked.party {
        None => {
            let all = balances(cx, Some(&controls), point).await?;
            let of_currency =
                all.iter().filter(|((_, currency), _)| asked.currency.as_ref().is_none_or(|asked| asked == currency));
            let sums = of_currency.map(|(_, balance)| Sums { own: balance.own.units(), base: balance.base.units() });
            sums.fold(Sums::default(), Sums::plus)
        }
        Some(party) => of_party(cx, &controls, (&aliases, party), asked.as_of, asked).await?,
    };
    Ok(Aged {
        coins: Coins::of(cx, asked)?,
        parties: names_of(cx, open.iter().map(|one| one.party)).await?,
        open,
        control: control.times(S::SIGN),
    })
}

/// What is asked of open items.
struct Questions<'q> {
    cx: &'q Cx<'q>,
    controls: &'q [RecordId],
    asked: &'q Asked,
    aliases: &'q Aliases,
}

answers::of_row! {
    /// What is open with a party in a currency, of the items of a bucket.
    struct Summed {
        party_id: Named,
        currency: String,
        /// A day of the bucket.
        day: Day,
        own: i64,
        base: i64,
        items: i64,
    }
}

impl Questions<'_> {
    /// What was open at the end of the day: what is open now, of items that nothing happened to since, and of the others
    /// what had happened to them by then. So it costs what is open and what happened since, however much was settled
    /// before. And when it is due, of what was open now.
    ///
    /// Where parties are told of alone, the engine sums up all that nothing happened to since.
    async fn left_open(&self, grain: Grain) -> Result<(Vec<Summed>, Vec<Left>, HashMap<RecordId, Option<Day>>)> {
        let since = self.since().await?;
        let (mut left, mut due) = (self.by_then(&since).await?, HashMap::new());
        if grain == Grain::Parties && self.asked.point.known_at.is_none() {
            let touched = self.items(Some(since)).await?;
            return Ok((self.summed(&touched).await?, left, due));
        }
        for item in self.items(None).await? {
            if since.contains(&item.id) {
                continue;
            }
            due.insert(item.id, item.due_date);
            left.push(Left {
                open_item_id: item.id,
                party_id: item.party_id,
                document_id: item.document_id,
                currency: item.currency,
                date: item.date,
                own: item.open.units(),
                base: item.base_open.units(),
            });
        }
        Ok((Vec::new(), left, due))
    }

    /// Items that are open now.
    fn open(&self) -> Result<Select<open_items::Entity>> {
        let mut open = open_items::Entity::find()
            .select_only()
            .filter(open_items::Column::BusinessId.eq(self.cx.business_id()?))
            .filter(open_items::Column::AccountId.is_in(self.controls.iter().copied()))
            .filter(is_open());
        if let Some(party) = self.asked.party {
            open = open.filter(self.aliases.is(open_items::Column::PartyId, party));
        }
        if let Some(currency) = self.asked.currency.as_deref() {
            open = open.filter(open_items::Column::Currency.eq(currency));
        }
        Ok(open)
    }

    /// Those of these, or all of them, one by one.
    async fn items(&self, of: Option<HashSet<RecordId>>) -> Result<Vec<Item>> {
        if of.as_ref().is_some_and(HashSet::is_empty) {
            return Ok(Vec::new());
        }
        let mut open = self.open()?.columns([
            open_items::Column::Id,
            open_items::Column::PartyId,
            open_items::Column::DocumentId,
            open_items::Column::Currency,
            open_items::Column::Date,
            open_items::Column::Open,
            open_items::Column::BaseOpen,
            open_items::Column::DueDate,
        ]);
        if let Some(of) = of {
            open = open.filter(among(self.cx, open_items::Column::Id, of));
        }
        Ok(open.read(&self.cx.db).await?)
    }

    /// What is open with each party, bucket by bucket, without some items.
    async fn summed(&self, without: &[Item]) -> Result<Vec<Summed>> {
        let Self { cx, asked, .. } = *self;
        let since = || -> SimpleExpr {
            let day = |column| Expr::col((open_items::Entity, column));
            match asked.aging_by {
                AgingBy::DueDate => {
                    Func::coalesce([day(open_items::Column::DueDate), day(open_items::Column::Date)]).into()
                }
                AgingBy::DocumentDate => day(open_items::Column::Date),
            }
        };
        let mut bucket = CaseStatement::new();
        for (place, first) in (0_i64..).zip(asked.buckets.first_days(asked.as_of)) {
            bucket = bucket.case(since().gte(first), Expr::cust(place.to_string()));
        }
        let bucket: SimpleExpr = bucket.finally(Expr::cust("-1")).into();
        let summed: Vec<Summed> = self
            .open()?
            .columns([open_items::Column::PartyId, open_items::Column::Currency])
            .column_as(since().min(), "day")
            .column_as(sum(cx, Expr::col(open_items::Column::Open)), "own")
            .column_as(sum(cx, Expr::col(open_items::Column::BaseOpen)), "base")
            .column_as(Expr::col(open_items::Column::Id).count(), "items")
            .group_by(open_items::Column::PartyId)
            .group_by(open_items::Column::Currency)
            .group_by(bucket)
            .read(&cx.db)
            .await?;
        let key = |party: Named, currency: &str, day: Day| (party, currency.to_owned(), bucket_of(day, asked));
        let mut all: BTreeMap<_, Summed> =
            summed.into_iter().map(|one| (key(one.party_id, &one.currency, one.day), one)).collect();
        for item in without {
            let day = match asked.aging_by {
                AgingBy::DueDate => item.due_date.unwrap_or(item.date),
                AgingBy::DocumentDate => item.date,
            };
            let of = all.get_mut(&key(item.party_id, &item.currency, day));
            let of = of.ok_or_else(|| Error::internal("an open item stands in no sum"))?;
            of.own -= item.open.units();
            of.base -= item.base_open.units();
            of.items -= 1;
        }
        Ok(all.into_values().filter(|one| one.items > 0).collect())
    }

    /// Those that something happened to since the day, or since it was known.
    async fn since(&self) -> Result<HashSet<RecordId>> {
        let since =
            self.moves()?.column(open_item_moves::Column::OpenItemId).filter(later(self.asked.as_of, self.asked));
        // Not grouped: they lie by their items as well, and then all of them would be walked, and not the days that are asked for.
        let since: Vec<RecordId> = since.column_of(&self.cx.db).await?;
        Ok(since.into_iter().collect())
    }

    /// What happened to open items on the side that is asked for.
    fn moves(&self) -> Result<Select<open_item_moves::Entity>> {
        let mut moves = open_item_moves::Entity::find()
            .select_only()
            .filter(open_item_moves::Column::BusinessId.eq(self.cx.business_id()?))
            .filter(open_item_moves::Column::AccountId.is_in(self.controls.iter().copied()));
        if let Some(party) = self.asked.party {
            moves = moves.filter(self.aliases.is(open_item_moves::Column::PartyId, party));
        }
        if let Some(currency) = self.asked.currency.as_deref() {
            moves = moves.filter(open_item_moves::Column::Currency.eq(currency));
        }
        Ok(moves)
    }

    /// What was open of these items: all that had happened to them by then. Its row today says nothing of that: it may have
    /// been written for another party since, or in another currency.
    async fn by_then(&self, of: &HashSet<RecordId>) -> Result<Vec<Left>> {
        use open_item_moves::Column as Moves;
        let Self { cx, asked, aliases, .. } = *self;
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let moves = self
            .moves()?
            .columns([Moves::OpenItemId, Moves::PartyId, Moves::DocumentId, Moves::Currency])
            .column_as(Moves::Date.min(), "date")
            .column_as(sum(cx, Expr::col(Moves::Amount)), "own")
            .column_as(sum(cx, Expr::col(Moves::Base)), "base")
            .filter(among(cx, Moves::OpenItemId, of.iter().copied()))
            .filter(later(asked.as_of, asked).not())
            .group_by(Moves::OpenItemId)
            .group_by(Moves::PartyId)
            .group_by(Moves::DocumentId)
            .group_by(Moves::Currency);
        let mut left: BTreeMap<(RecordId, RecordId, String), Left> = BTreeMap::new();
        for moved in moves.read::<Left>(&cx.db).await? {
            let (own, base) = (moved.own, moved.base);
            let key = (moved.open_item_id, aliases.of(moved.party_id), moved.currency.clone());
            let of_party = left.entry(key).or_insert(Left { own: 0, base: 0, ..moved });
            of_party.own += own;
            of_party.base += base;
        }
        let mut left: Vec<Left> = left.into_values().filter(|one| (one.own, one.base) != (0, 0)).collect();
        let began = self.began(left.iter().map(|one| one.open_item_id).collect()).await?;
        for one in &mut left {
            one.date = began.get(&one.open_item_id).copied().unwrap_or(one.date);
        }
        Ok(left)
    }

    /// The days of these items: of the last time by then that each began. It ends and begins anew with each change of its
    /// document, in turn.
    async fn began(&self, of: HashSet<RecordId>) -> Result<HashMap<RecordId, Day>> {
        use open_item_moves::Column as Moves;
        if of.is_empty() {
            return Ok(HashMap::new());
        }
        let Self { cx, asked, .. } = *self;
        let mut moves = open_item_moves::Entity::find()
            .select_only()
            .columns([Moves::OpenItemId, Moves::RecordedAt, Moves::Id, Moves::Date])
            .filter(Moves::BusinessId.eq(cx.business_id()?))
            .filter(among(cx, Moves::OpenItemId, of))
            .filter(Moves::AllocationId.is_null());
        if let Some(at) = asked.point.known_at {
            moves = moves.filter(Moves::RecordedAt.lte(at));
        }
        let mut moves: Vec<(RecordId, Instant, RecordId, Day)> = moves.read(&cx.db).await?;
        moves.sort_unstable();
        let mut began = HashMap::new();
        for of_item in moves.chunk_by(|(item, ..), (next, ..)| item == next) {
            let beginnings = of_item.iter().step_by(2).filter(|(.., day)| *day <= asked.as_of);
            began.extend(beginnings.map(|(item, .., day)| (*item, *day)));
        }
        Ok(began)
    }
}

/// The days of a month that come after one.
fn rest_of_month(day: Day) -> Option<[Day; 2]> {
    (day != day.last_of_month()).then(|| [day.next(), day.last_of_month()])
}

/// What is kept by month of a party: of its lines, and of what happened to its open items; in their currency, and in the
/// company's.
const LINES: [party_months::Column; 2] = [party_months::Column::CurrencyAmount, party_months::Column::Amount];
const ITEMS: [party_months::Column; 2] = [party_months::Column::Moved, party_months::Column::BaseMoved];

/// The sums of a party in all months, or in those after that of a day.
fn in_months(
    cx: &Cx<'_>,
    controls: &[RecordId],
    (aliases, party): (&Aliases, Meant),
    after: Option<Day>,
    currency: Option<&str>,
    [own, base]: [party_months::Column; 2],
) -> Result<Select<party_months::Entity>> {
    let mut months = party_months::Entity::find()
        .select_only()
        .column_as(sum(cx, Expr::col(own)), "own")
        .column_as(sum(cx, Expr::col(base)), "base")
        .filter(party_months::Column::BusinessId.eq(cx.business_id()?))
        .filter(party_months::Column::AccountId.is_in(controls.iter().copied()))
        .filter(aliases.is(party_months::Column::PartyId, party));
    if let Some(day) = after {
        months = months.filter(party_months::Column::Month.gt(day.year_and_month()));
    }
    Ok(match currency {
        Some(currency) => months.filter(party_months::Column::Currency.eq(currency)),
        None => months,
    })
}

/// What the lines of a party on accounts come to at the end of a day: what they come to now, less what came since, which is
/// kept by month.
pub(crate) async fn of_party(
    cx: &Cx<'_>,
    controls: &[RecordId],
    (aliases, party): (&Aliases, Meant),
    to: Day,
    asked: &Asked,
) -> Result<Sums> {
    let mut now = party_balances::Entity::find()
        .select_only()
        .column_as(sum(cx, Expr::col(party_balances::Column::CurrencyAmount)), "own")
        .column_as(sum(cx, Expr::col(party_balances::Column::Amount)), "base")
        .filter(party_balances::Column::BusinessId.eq(cx.business_id()?))
        .filter(party_balances::Column::AccountId.is_in(controls.iter().copied()))
        .filter(aliases.is(party_balances::Column::PartyId, party));
    let mut lines = entry_lines::Entity::find()
        .select_only()
        .column_as(sum(cx, own_amount()), "own")
        .column_as(sum(cx, Expr::col(entry_lines::Column::Amount)), "base")
        .filter(entry_lines::Column::BusinessId.eq(cx.business_id()?))
        .filter(entry_lines::Column::AccountId.is_in(controls.iter().copied()))
        .filter(aliases.is(entry_lines::Column::PartyId, party));
    if let Some(currency) = asked.currency.as_deref() {
        now = now.filter(party_balances::Column::Currency.eq(currency));
        lines = lines.filter(entry_lines::Column::Currency.eq(currency));
    }
    let mut since =
        one(cx, in_months(cx, controls, (aliases, party), Some(to), asked.currency.as_deref(), LINES)?).await?;
    if let Some([first, last]) = rest_of_month(to) {
        let rest = lines.clone().filter(entry_lines::Column::Date.between(first, last));
        since = since.plus(one(cx, rest).await?);
    }
    let mut there = one(cx, now).await?.plus(since.times(-1));
    if let Some(known) = books::balances::last_known(cx, asked.point).await? {
        let unknown = entry_lines::Column::EntryNumber.gt(known).and(entry_lines::Column::Date.lte(to));
        there = there.plus(one(cx, lines.filter(unknown)).await?.times(-1));
    }
    Ok(there)
}

/// What is open with a party at the end of a day, as its items and what happened to them say: what is open now, less what
/// happened since.
pub(crate) async fn open_with(
    cx: &Cx<'_>,
    controls: &[RecordId],
    (aliases, party): (&Aliases, Meant),
    asked: &Asked,
    currency: Option<&str>,
) -> Result<Sums> {
    let mut now = open_items::Entity::find()
        .select_only()
        .column_as(sum(cx, Expr::col(open_items::Column::Open)), "own")
        .column_as(sum(cx, Expr::col(open_items::Column::BaseOpen)), "base")
        .filter(open_items::Column::BusinessId.eq(cx.business_id()?))
        .filter(open_items::Column::AccountId.is_in(controls.iter().copied()))
        .filter(aliases.is(open_items::Column::PartyId, party))
        .filter(is_open());
    let mut since = open_item_moves::Entity::find()
        .select_only()
        .column_as(sum(cx, Expr::col(open_item_moves::Column::Amount)), "own")
        .column_as(sum(cx, Expr::col(open_item_moves::Column::Base)), "base")
        .filter(open_item_moves::Column::BusinessId.eq(cx.business_id()?))
        .filter(open_item_moves::Column::AccountId.is_in(controls.iter().copied()))
        .filter(aliases.is(open_item_moves::Column::PartyId, party));
    if let Some(currency) = currency {
        now = now.filter(open_items::Column::Currency.eq(currency));
        since = since.filter(open_item_moves::Column::Currency.eq(currency));
    }
    let to = asked.span.to;
    if asked.point.known_at.is_some() {
        // An item has moved with its document to who its party became part of since: what was written for each tells of then.
        let all = one(cx, in_months(cx, controls, (aliases, party), None, currency, ITEMS)?).await?;
        return Ok(all.plus(one(cx, since.filter(later(to, asked))).await?.times(-1)));
    }
    let now = one(cx, now).await?;
    let mut moved = one(cx, in_months(cx, controls, (aliases, party), Some(to), currency, ITEMS)?).await?;
    if let Some([first, last]) = rest_of_month(to) {
        moved = moved.plus(one(cx, since.filter(open_item_moves::Column::Date.between(first, last))).await?);
    }
    Ok(now.plus(moved.times(-1)))
}

/// What of open items happened after a day, or was not known.
fn later(day: Day, asked: &Asked) -> Condition {
    let later = Condition::any().add(open_item_moves::Column::Date.gt(day));
    match asked.point.known_at {
        Some(at) => later.add(open_item_moves::Column::RecordedAt.gt(at)),
        None => later,
    }
}

async fn one<E: EntityTrait>(cx: &Cx<'_>, sums: Select<E>) -> Result<Sums> {
    let sums: Vec<(Option<i64>, Option<i64>)> = sums.read(&cx.db).await?;
    let (own, base) = sums.into_iter().next().unzip();
    Ok(Sums { own: own.summed_up(), base: base.summed_up() })
}

/// When open items are due: as they say. A due day moves nothing in the ledger, so of what is gone, and of what changed since
/// it was known, the versions of its document tell. What says nothing counts from its own day.
async fn due_days(
    cx: &Cx<'_>,
    left: &[Left],
    mut due: HashMap<RecordId, Option<Day>>,
    point: Point,
) -> Result<HashMap<RecordId, Option<Day>>> {
    let mut of_then = changed_since(cx, left.iter().map(|one| one.document_id), point).await?;
    let unsaid = |one: &&Left| !of_then.contains(&one.document_id) && !due.contains_key(&one.open_item_id);
    let there: Vec<RecordId> = left.iter().filter(unsaid).map(|one| one.open_item_id).collect();
    if !there.is_empty() {
        let there = open_items::Entity::find()
            .select_only()
            .columns([open_items::Column::Id, open_items::Column::DueDate])
            .filter(open_items::Column::BusinessId.eq(cx.business_id()?))
            .filter(among(cx, open_items::Column::Id, there));
        due.extend(there.read::<(RecordId, Option<Day>)>(&cx.db).await?);
    }
    of_then.extend(left.iter().filter(|one| !due.contains_key(&one.open_item_id)).map(|one| one.document_id));
    let said = said_at(cx, of_then, point.known_at.unwrap_or(cx.now)).await?;
    for one in left {
        if let Some(said) = said.get(&one.document_id) {
            due.insert(one.open_item_id, said.due(one.document_id, one.open_item_id));
        }
    }
    Ok(due)
}

pub(crate) async fn documents_of(
    cx: &Cx<'_>,
    ids: impl Iterator<Item = RecordId>,
) -> Result<HashMap<RecordId, (DocumentKind, Option<String>)>> {
    let found: Vec<(RecordId, DocumentKind, Option<String>)> = documents::Entity::find()
        .select_only()
        .columns([documents::Column::Id, documents::Column::Kind, documents::Column::Number])
        .filter(documents::Column::BusinessId.eq(cx.business_id()?))
        .filter(among(cx, documents::Column::Id, ids))
        .read(&cx.db)
        .await?;
    Ok(found.into_iter().map(|(id, kind, number)| (id, (kind, number))).collect())
}

pub(crate) async fn names_of(cx: &Cx<'_>, ids: impl Iterator<Item = RecordId>) -> Result<HashMap<RecordId, String>> {
    let found: Vec<(RecordId, String)> = parties::Entity::find()
        .select_only()
        .columns([parties::Column::Id, parties::Column::Name])
        .filter(parties::Column::BusinessId.eq(cx.business_id()?))
        .filter(among(cx, parties::Column::Id, ids.collect::<HashSet<_>>()))
        .read(&cx.db)
        .await?;
    Ok(found.into_iter().collect())
}

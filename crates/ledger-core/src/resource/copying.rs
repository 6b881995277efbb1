//! A trial as a copy of a company, and what that comes to on a day.
//!
//! Owns: that the copy's trial balance is the source's, account by account, or that there is no copy. Balances come into its
//! books as anybody's would, by journals and stock adjustments. Refuses: what these cannot say, such as goods that wait for
//! their invoice.

use crate::access::{Business, Seat, seen_from};
use crate::day::Day;
use crate::error::{Code, Error, FieldErrors, Result};
use crate::field::{Faults, Field, Label, Maybe};
use crate::ids::RecordId;
use crate::money::{BookMoney, Money, Rate, UnitPrice};
use crate::resource::registry::operations;
use answers::Ask;
use books::balances::balances;
use books::cx::{Cx, Expectation, Point};
use books::years::Years;
use documents::journal::Journals;
use documents::stock_adjustment::StockAdjustments;
use kit::extra::{Act, Extra, action};
use kit::operation::{ReplyKind, Verb};
use kit::resource::Resource;
use masters::business::trial::{self, Copied};
use masters::business::{BusinessView, Businesses};
use rules::account::AccountClass;
use rules::chart::Chart;
use rules::keeper::Keeper;
use schema::key::ResourceKey;
use schema::rights::Action;
use schema::tables::{account_days, party_balances, stock};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use words::exact::Exact;

/// What stands with the documents and hangs on a resource that knows none.
pub(super) fn extras_of(key: ResourceKey) -> Vec<Extra> {
    if key == ResourceKey::Businesses { vec![action::<Copy>()] } else { Vec::new() }
}

/// So many lines stand in one document, and one more that balances them.
const LINES: usize = 900;

/// What the copy is called, and with what its books begin.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct CopyInput {
    /// Name of the trial that is made.
    name: Field<Label<200>>,
    /// The day on which the balances of this company are brought into the books of the trial, not before its last entry; its
    /// books are empty when absent.
    opening_on: Maybe<Day>,
}

struct Words {
    name: String,
    opening_on: Option<Day>,
}

struct Copy;

impl Act for Copy {
    type Resource = Businesses;
    type Answers = Businesses;
    type Input = CopyInput;
    type Words = Words;
    const NAME: &'static str = "Copy";
    const SEGMENT: &'static str = "copy";
    const ACTION: Action = Action::Edit;
    const KIND: ReplyKind = ReplyKind::Created;
    const SUMMARY: &'static str = "Make a trial as a copy of {one}, without its people";
    const DESCRIPTION: &'static str = "Answers the new company, whose owner is the caller. It has the chart of accounts, tax codes, \
                                       payment terms, number series, fiscal years, exchange rates, settings and items of this one, \
                                       and as many customers and suppliers, each with its currency, terms and accounts: they are \
                                       called `Customer 1`, `Supplier 2`, and have no address, e-mail, phone, tax number or bank \
                                       account. Descriptions, notes, labels and identifiers elsewhere stay behind, and so do \
                                       documents, entries, members, keys and webhooks. All identifiers are new. The company itself \
                                       is only read.\n\n\
                                       With `openingOn` its trial balance of that day is this one's, account by account: what is on \
                                       accounts and open with parties by journals of the kind `opening`, what is in stock by stock \
                                       adjustments. Where these cannot say it, such as goods that wait for their invoice, it answers \
                                       409 and names the accounts, and nothing is made. For owners of the company who may make \
                                       companies; at most 10 000 records come over, else it answers 409.";

    fn check(input: CopyInput) -> Result<Words, FieldErrors> {
        let mut faults = Faults::default();
        let words = Words {
            name: faults.required("name", input.name).into_inner(),
            opening_on: faults.optional("openingOn", input.opening_on),
        };
        faults.finish(words)
    }

    fn example() -> Option<fn() -> Value> {
        Some(|| json!({"name": "Harbour Trading, to try out", "openingOn": null}))
    }

    async fn run(cx: &Cx<'_>, id: RecordId, words: &Words) -> Result<BusinessView> {
        let copied = trial::copied(cx, id, &words.name).await?;
        if let Some(day) = words.opening_on {
            let business = seen_from(&cx.db, copied.business, Seat::owner()).await?;
            Opening { cx, copied: &copied, business: &business, day }.bring().await?;
        }
        trial::founded(cx, copied.business).await
    }
}

/// What a company comes to, on its way into the books of its copy.
struct Opening<'o, 'x> {
    cx: &'o Cx<'x>,
    copied: &'o Copied,
    /// The copy.
    business: &'o Business,
    day: Day,
}

/// What each account comes to in the company's currency; a debit is positive.
type Standing = BTreeMap<RecordId, BookMoney>;

const NOTHING_SAID: &Expectation = &Expectation::Unsaid;

impl Opening<'_, '_> {
    async fn bring(&self) -> Result<()> {
        let (chart, standing) = (self.cx.chart().await?, self.standing().await?);
        self.check(&chart, &standing).await?;
        let copy = self.cx.operation(self.business, NOTHING_SAID);
        let equity = chart.roles().opening_balance_equity.id();
        let equity = self.copied.id(equity)?;
        for lines in self.goods().await?.chunks(LINES) {
            let body = json!({"date": self.day, "status": "posted", "accountId": equity, "lines": lines});
            self.write::<StockAdjustments>(&copy, &body).await?;
        }
        for lines in self.lines(&chart, &standing).await?.chunks(LINES) {
            let mut sum = BookMoney::ZERO;
            for line in lines {
                sum = sum.plus(line.base).map_err(|_| Error::too_large())?;
            }
            let mut shown: Vec<Value> = lines.iter().map(|line| line.shown.clone()).collect();
            if sum != BookMoney::ZERO {
                shown.push(side(json!({"accountId": equity}), sum.negated().at_par()));
            }
            let body = json!({"date": self.day, "status": "posted", "kind": "opening", "lines": shown});
            self.write::<Journals>(&copy, &body).await?;
        }
        Box::pin(documents::follow_up(&copy)).await?;
        self.cx.flush().await?;
        self.check_equal(&copy, &chart, &standing).await
    }

    /// One document of the copy, as if somebody had sent it.
    async fn write<R: Resource>(&self, copy: &Cx<'_>, body: &Value) -> Result<()> {
        let bytes = serde_json::to_vec(body).map_err(Error::internal)?;
        let work = async {
            let prepared = operations::<R>().prepare((Verb::Create, None), Some(self.business), &bytes)?;
            prepared.run(copy, None).await.map(drop)
        };
        match copy.done(work).await {
            Err(Error::Validation(faults)) => Err(refused(&told(&faults))),
            Err(Error::Conflict(conflict)) => Err(refused(&conflict.title)),
            done => done,
        }
    }

    /// What the accounts of the source come to, as its trial balance shows them: what was earned before the year of the day is
    /// among the retained earnings.
    async fn standing(&self) -> Result<Standing> {
        let chart = self.cx.chart().await?;
        let mut standing = Standing::new();
        let mut add = |account: RecordId, amount: BookMoney| -> Result<()> {
            let sum = standing.entry(account).or_insert(BookMoney::ZERO);
            *sum = sum.plus(amount).map_err(|_| Error::too_large())?;
            Ok(())
        };
        for ((account, _), balance) in balances(self.cx, None, Point::default()).await? {
            add(account, balance.base)?;
        }
        let begins = Years::of(self.cx).await?.start(self.cx.business()?, self.day);
        let before = Point { as_of: Some(begins.previous()), ..Point::default() };
        let retained = chart.roles().retained_earnings.id();
        for ((account, _), balance) in balances(self.cx, None, before).await? {
            if chart.account(account).is_some_and(|account| is_result(account.r#type.class())) {
                add(account, balance.base.negated())?;
                add(retained, balance.base)?;
            }
        }
        standing.retain(|_, sum| *sum != BookMoney::ZERO);
        Ok(standing)
    }

    async fn check(&self, chart: &Chart, standing: &Standing) -> Result<()> {
        let last: Option<Option<Day>> = account_days::Entity::find()
            .select_only()
            .column_as(account_days::Column::Date.max(), "last")
            .filter(account_days::Column::BusinessId.eq(self.cx.business_id()?))
            .into_tuple()
            .one(&self.cx.db)
            .await?;
        if let Some(last) = last.flatten().filter(|last| *last > self.day) {
            return Err(Error::field("openingOn", format!("must not be before the last entry, of {last}")));
        }
        let unsayable = |id: &RecordId| {
            chart.account(*id).filter(|account| matches!(account.keeper, Keeper::Accruals | Keeper::Valuation))
        };
        let named: Vec<String> = standing.keys().filter_map(unsayable).map(|account| account.code.clone()).collect();
        if named.is_empty() {
            return Ok(());
        }
        Err(refused(&format!("no opening says what is on {}", named.join(", "))))
    }

    /// What is in stock, item by item.
    async fn goods(&self) -> Result<Vec<Value>> {
        let rows = stock::Entity::find()
            .filter(stock::Column::BusinessId.eq(self.cx.business_id()?))
            .order_by_asc(stock::Column::ItemId)
            .models(&self.cx.db)
            .await?;
        let there = rows.into_iter().filter(|row| row.quantity.units() != 0 || row.value != BookMoney::ZERO);
        let line = |row: stock::Model| {
            let cost = Exact::from(row.value).over(row.quantity).and_then(Exact::nearest_units::<UnitPrice>);
            let cost = cost.map_err(|_| refused("there is nothing left of goods that are worth something"))?;
            let item = self.copied.id(row.item_id)?;
            Ok(
                json!({"itemId": item, "quantityDelta": row.quantity.to_string(), "unitCost": UnitPrice::from_units(cost).to_string()}),
            )
        };
        there.map(line).collect()
    }

    /// What is on accounts that journals may name, and open with parties.
    async fn lines(&self, chart: &Chart, standing: &Standing) -> Result<Vec<OpeningLine>> {
        let base = &self.business.base_currency;
        let mut lines = Vec::new();
        let parties = party_balances::Entity::find()
            .filter(party_balances::Column::BusinessId.eq(self.cx.business_id()?))
            .order_by_asc(party_balances::Column::PartyId)
            .order_by_asc(party_balances::Column::AccountId)
            .order_by_asc(party_balances::Column::Currency)
            .models(&self.cx.db)
            .await?;
        let aliases = self.cx.aliases()?;
        for row in parties {
            let party = self.copied.id(aliases.of(row.party_id))?;
            let to = json!({"accountId": self.copied.id(row.account_id)?, "partyId": party});
            lines.extend(line(to, (&row.currency, base), row.currency_amount, row.amount)?);
        }
        let own = balances(self.cx, None, Point::default()).await?;
        for (id, sum) in standing {
            let account = chart.account(*id).ok_or_else(|| Error::internal("a balance is on no account"))?;
            if matches!(account.keeper, Keeper::OpenItems | Keeper::Stock) {
                continue;
            }
            let currency = account.currency_or(base);
            let amount = match own.get(&(*id, currency.clone())) {
                Some(balance) if currency != base => balance.own,
                _ => sum.at_par(),
            };
            lines.extend(line(json!({"accountId": self.copied.id(*id)?}), (currency, base), amount, *sum)?);
        }
        Ok(lines)
    }

    async fn check_equal(&self, copy: &Cx<'_>, chart: &Chart, standing: &Standing) -> Result<()> {
        let mut there = Standing::new();
        for ((account, _), balance) in balances(copy, None, Point::default()).await? {
            let sum = there.entry(account).or_insert(BookMoney::ZERO);
            *sum = sum.plus(balance.base).map_err(|_| Error::too_large())?;
        }
        let mut apart = Vec::new();
        for account in chart.accounts() {
            let (theirs, ours) = (there.get(&self.copied.id(account.id)?), standing.get(&account.id));
            if theirs.filter(|sum| **sum != BookMoney::ZERO) != ours {
                apart.push(account.code.clone());
            }
        }
        if !apart.is_empty() {
            apart.sort();
            return Err(refused(&format!("{} would come to something else", apart.join(", "))));
        }
        let (owed, theirs) = (self.owed(self.cx).await?, self.owed(copy).await?);
        if owed != theirs {
            return Err(refused(
                "what is open with single parties would be other, since no exchange rate says it exactly",
            ));
        }
        let (stored, theirs) = (self.stored(self.cx).await?, self.stored(copy).await?);
        if stored != theirs {
            return Err(refused(
                "what single items are worth would be other, since no cost of a piece says it exactly",
            ));
        }
        Ok(())
    }

    /// A record, as it is called in the copy.
    fn there(&self, of: &Cx<'_>, id: RecordId) -> Result<RecordId> {
        if of.business_id()? == self.business.id { Ok(id) } else { self.copied.id(id) }
    }

    /// What is open with each party, on each account, in each currency.
    async fn owed(&self, of: &Cx<'_>) -> Result<BTreeMap<(RecordId, RecordId, String), (i64, i64)>> {
        let rows = party_balances::Entity::find()
            .filter(party_balances::Column::BusinessId.eq(of.business_id()?))
            .models(&of.db)
            .await?;
        let aliases = of.aliases()?;
        let mut owed: BTreeMap<_, (i64, i64)> = BTreeMap::new();
        for row in rows {
            let key = (self.there(of, aliases.of(row.party_id))?, self.there(of, row.account_id)?, row.currency);
            let sum = owed.entry(key).or_default();
            let more = |sum: i64, by: i64| sum.checked_add(by).ok_or_else(Error::too_large);
            *sum = (more(sum.0, row.currency_amount.units())?, more(sum.1, row.amount.units())?);
        }
        owed.retain(|_, sums| *sums != (0, 0));
        Ok(owed)
    }

    /// How much there is of each item, and what it is worth.
    async fn stored(&self, of: &Cx<'_>) -> Result<BTreeMap<RecordId, (i64, i64)>> {
        let rows = stock::Entity::find().filter(stock::Column::BusinessId.eq(of.business_id()?)).models(&of.db).await?;
        let stored =
            rows.into_iter().map(|row| Ok((self.there(of, row.item_id)?, (row.quantity.units(), row.value.units()))));
        let mut stored: BTreeMap<_, _> = stored.collect::<Result<_>>()?;
        stored.retain(|_, held| *held != (0, 0));
        Ok(stored)
    }
}

/// A line of a journal, and what it is in the company's currency.
struct OpeningLine {
    shown: Value,
    base: BookMoney,
}

/// A line of an amount, if it comes to anything.
fn line(to: Value, (currency, home): (&str, &str), amount: Money, base: BookMoney) -> Result<Option<OpeningLine>> {
    if amount == Money::ZERO && base == BookMoney::ZERO {
        return Ok(None);
    }
    if currency == home {
        return Ok(Some(OpeningLine { shown: side(to, base.at_par()), base }));
    }
    let rate = Exact::from(base).over(amount).and_then(Exact::nearest_units::<Rate>);
    let rate = rate.map_err(|_| refused(&format!("there is nothing left of {currency} that are worth something")))?;
    let mut shown = side(to, amount);
    shown["currency"] = currency.into();
    shown["exchangeRate"] = Rate::from_units(rate).to_string().into();
    Ok(Some(OpeningLine { shown, base }))
}

/// An amount on its side.
fn side(mut line: Value, amount: Money) -> Value {
    line[if amount.is_negative() { "credit" } else { "debit" }] = amount.size().to_string().into();
    line
}

const fn is_result(class: AccountClass) -> bool {
    matches!(class, AccountClass::Income | AccountClass::Expense)
}

/// What is at fault, in words.
fn told(faults: &FieldErrors) -> String {
    let said: Vec<String> = faults.iter().map(|(field, why)| format!("{field} {}", why.join(", "))).collect();
    said.join("; ")
}

fn refused(why: &str) -> Error {
    let title = format!("The balances cannot be brought into a copy: {why}; leave `openingOn` out to have none");
    Error::conflict(Code::Conflict, title)
}

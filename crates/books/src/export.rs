//! The ledger as a plain text journal, for programs that add it up anew: hledger and beancount.
//!
//! Every entry stands once, in the order of its number. What a line was in another currency stands as that, with what it
//! is in the company's as its price, so that entries balance there and accounts show what they hold.

use crate::BEFORE_THE_FIRST;
use crate::currency;
use crate::cx::Cx;
use crate::day::Day;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Funds, Money};
use crate::portions::next_entries;
use answers::Ask;
use rules::account::AccountClass;
use schema::account as accounts;
use schema::tables::{entries, entry_lines};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

crate::stored::wire_enum! {
    /// A form of plain text accounting.
    pub enum JournalFormat {
        #[default]
        Hledger = "hledger",
        Beancount = "beancount",
    }
}

/// The journal, portion by portion, each from a snapshot of its own. It goes as far as the ledger did at the first one,
/// and calls accounts what they were called then.
pub struct Journal {
    format: JournalFormat,
    begun: Option<Begun>,
}

struct Begun {
    names: HashMap<RecordId, String>,
    /// The last entry that was told, and the last that will be.
    after: i64,
    until: i64,
}

impl Journal {
    pub const fn of(format: JournalFormat) -> Self {
        Self { format, begun: None }
    }

    /// The next portion; nothing after the last one.
    pub async fn next(&mut self, cx: &Cx<'_>) -> Result<Option<String>> {
        let format = self.format;
        let business = cx.business()?;
        let currency = Currency { code: &business.base_currency, decimals: business.currency_decimals };
        let Some(Begun { names, after, until }) = &mut self.begun else {
            let (begun, head) = begin(cx, format, &currency).await?;
            self.begun = Some(begun);
            return Ok(Some(head));
        };
        if *after >= *until {
            return Ok(None);
        }
        let (portion, lines, end) = next_entries(cx, *after, *until).await?;
        *after = end.unwrap_or(*until);
        let mut text = String::new();
        let mut rest = &lines[..];
        for entry in &portion {
            rest = &rest[rest.partition_point(|line| line.entry_number < entry.number)..];
            let (own, others) = rest.split_at(rest.partition_point(|line| line.entry_number == entry.number));
            rest = others;
            text.push_str(&transaction(format, &currency, entry, own, names)?);
        }
        Ok(Some(text))
    }
}

/// What stands above the entries.
async fn begin(cx: &Cx<'_>, format: JournalFormat, currency: &Currency<'_>) -> Result<(Begun, String)> {
    let business = cx.business_id()?;
    let all = accounts::Entity::find()
        .filter(accounts::Column::BusinessId.eq(business))
        .order_by_asc(accounts::Column::Code)
        .models(&cx.db)
        .await?;
    let first: Option<(Option<Day>, Option<i64>)> = entries::Entity::find()
        .select_only()
        .column_as(entries::Column::Date.min(), "first")
        .column_as(entries::Column::Number.max(), "last")
        .filter(entries::Column::BusinessId.eq(business))
        .into_tuple()
        .one(&cx.db)
        .await?;
    let (first, until) = first.unwrap_or((None, None));
    let names: HashMap<RecordId, String> = all.iter().map(|account| (account.id, name(format, account))).collect();
    let used: Vec<String> = entry_lines::Entity::find()
        .select_only()
        .column(entry_lines::Column::Currency)
        .distinct()
        .filter(entry_lines::Column::BusinessId.eq(business))
        .column_of(&cx.db)
        .await?;
    let used: BTreeSet<String> = used.into_iter().chain([currency.code.to_owned()]).collect();
    let head = head(format, currency, (first, &used), all.iter().filter(|account| !account.is_group), &names)?;
    Ok((Begun { names, after: 0, until: until.unwrap_or(BEFORE_THE_FIRST) }, head))
}

struct Currency<'c> {
    code: &'c str,
    decimals: u32,
}

impl Currency<'_> {
    fn amount<F: Funds>(&self, money: F) -> String {
        format!("{} {}", money.with_decimals(self.decimals), self.code)
    }

    /// The amounts of a line: what it is worth, or what it is in another currency for all that it is worth. Where the two
    /// stand on different sides, each stands by itself.
    fn amounts(&self, line: &entry_lines::Model) -> Result<Vec<String>> {
        let (own, base) = (line.own(), line.amount);
        if line.currency == self.code || own == Money::ZERO {
            return Ok(vec![self.amount(base)]);
        }
        let of = format_args!("line {} of entry {}", line.position, line.entry_number);
        let decimals = currency::Currency::known(&line.currency, of)?.decimals();
        let other = Currency { code: &line.currency, decimals };
        let priced = |price: BookMoney| format!("{} @@ {}", other.amount(own), self.amount(price));
        if base == BookMoney::ZERO || own.is_negative() == base.is_negative() {
            return Ok(vec![priced(base.size())]);
        }
        Ok(vec![priced(BookMoney::ZERO), self.amount(base)])
    }
}

const fn class(format: JournalFormat, class: AccountClass) -> &'static str {
    match (format, class) {
        (JournalFormat::Hledger, AccountClass::Asset) => "assets",
        (JournalFormat::Hledger, AccountClass::Liability) => "liabilities",
        (JournalFormat::Hledger, AccountClass::Equity) => "equity",
        (JournalFormat::Hledger, AccountClass::Income) => "income",
        (JournalFormat::Hledger, AccountClass::Expense) => "expenses",
        (JournalFormat::Beancount, AccountClass::Asset) => "Assets",
        (JournalFormat::Beancount, AccountClass::Liability) => "Liabilities",
        (JournalFormat::Beancount, AccountClass::Equity) => "Equity",
        (JournalFormat::Beancount, AccountClass::Income) => "Income",
        (JournalFormat::Beancount, AccountClass::Expense) => "Expenses",
    }
}

/// An account's name, in letters that the format takes. The code makes it unique.
fn name(format: JournalFormat, account: &accounts::Model) -> String {
    let said = format!("{} {}", account.code, account.name);
    let part = match format {
        JournalFormat::Hledger => plain(&said).replace(':', "-"),
        JournalFormat::Beancount => {
            let kept: String = said.chars().map(|one| if one.is_alphanumeric() { one } else { '-' }).collect();
            let words: Vec<&str> = kept.split('-').filter(|word| !word.is_empty()).collect();
            format!("A{}", words.join("-"))
        }
    };
    format!("{}:{part}", class(format, account.class))
}

/// A text on one line, in which nothing begins a comment or an amount.
fn plain(text: &str) -> String {
    let text: String =
        text.chars().map(|one| if one.is_control() || one == ';' || one == '|' { ' ' } else { one }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn head<'a>(
    format: JournalFormat,
    currency: &Currency<'_>,
    (first, used): (Option<Day>, &BTreeSet<String>),
    accounts: impl Iterator<Item = &'a accounts::Model>,
    names: &HashMap<RecordId, String>,
) -> Result<String> {
    let mut text = String::new();
    let first = first.map_or_else(|| "1970-01-01".to_owned(), |day| day.to_string());
    if format == JournalFormat::Beancount {
        let _written = writeln!(text, "option \"operating_currency\" \"{}\"", currency.code);
        // A price of all of it is parted among the units and added up again.
        let half = Money::from_units(Money::smallest(currency.decimals).units() / 2);
        let _written = writeln!(text, "option \"inferred_tolerance_default\" \"{}:{half}\"\n", currency.code);
    }
    for code in used {
        let decimals = currency::Currency::known(code, "an entry")?.decimals();
        let _written = match format {
            // With its decimal mark, also where nothing comes behind it.
            JournalFormat::Hledger => {
                let digits = usize::try_from(decimals).map_err(Error::internal)?;
                writeln!(text, "commodity 1000.{:0<digits$} {code}", "")
            }
            JournalFormat::Beancount => writeln!(text, "{first} commodity {code}"),
        };
    }
    text.push('\n');
    for account in accounts {
        let name = names.get(&account.id).map_or("", String::as_str);
        let _written = match format {
            JournalFormat::Hledger => writeln!(text, "account {name}"),
            JournalFormat::Beancount => writeln!(text, "{first} open {name}"),
        };
    }
    text.push('\n');
    Ok(text)
}

fn transaction(
    format: JournalFormat,
    currency: &Currency<'_>,
    entry: &entries::Model,
    lines: &[entry_lines::Model],
    names: &HashMap<RecordId, String>,
) -> Result<String> {
    let number = entry.document_number.as_deref().map_or_else(String::new, plain);
    let about = entry.narration.as_deref().map_or_else(String::new, plain);
    let mut text = match format {
        JournalFormat::Hledger => {
            let about = if about.is_empty() { entry.document_kind.to_string() } else { about };
            format!("{} * ({}) {about}  ; entry {}\n", entry.date, number.replace(['(', ')'], ""), entry.number)
        }
        JournalFormat::Beancount => {
            let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("{} * \"{}\" \"{}\"\n  entry: {}\n", entry.date, quoted(&number), quoted(&about), entry.number)
        }
    };
    for line in lines {
        let name = names.get(&line.account_id).map_or("", String::as_str);
        for amount in currency.amounts(line)? {
            let _written = writeln!(text, "    {name}  {amount}");
        }
    }
    text.push('\n');
    Ok(text)
}

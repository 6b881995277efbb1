//! What a receipt or payment comes to, and whether it may be so.

use super::direct::{figures, for_party, tells, too_large};
use super::direct_lines::traded;
use super::posting::{self, Tells};
use super::{MoneyAsked, MoneyFigures};
use crate::currency::Currency;
use crate::document::{Head, Purpose, Settled, SettledEntry, unbalanced};
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{BookMoney, Funds, Money, Rate};
use crate::parts::country_of;
use crate::parts::under::Under;
use books::access::Business;
use books::chart::{Account, Chart, SystemRole};
use books::cx::Cx;
use books::open_items::{self, NewOpen};
use books::tax_codes::kept_as;
use kit::reference::References;
use rules::account::AccountType;
use rules::posting::Posting;
use rules::purpose::{Purpose as For, Side};
use rules::tax::TaxDirection;
use rules::tax::facts::{Common, TaxOrigin};
use rules::tax::home::{Exchange, Home, Withholding};
use schema::tables::EntryKind;
use std::sync::Arc;
use words::exact::BookCoin;

/// The currency that is left out is the account's; its rate is that of the day.
pub(crate) async fn complete(cx: &Cx<'_>, comes_in: bool, head: &Head, mut asked: MoneyAsked) -> Result<MoneyAsked> {
    let business = cx.business()?;
    let chart = cx.chart().await?;
    let of_account = chart.account(asked.account).and_then(|account| account.currency.clone());
    let currency = asked.currency.take().or(of_account).unwrap_or_else(|| business.base_currency.clone());
    if currency == business.base_currency {
        asked.exchange_rate = asked.exchange_rate.filter(|rate| *rate != Rate::ONE);
    } else if asked.exchange_rate.is_none() {
        asked.exchange_rate = books::rates::on(cx, &currency, head.date).await?;
    }
    asked.currency = Some(currency);
    if asked.control_account.is_none() && asked.party.is_some() {
        asked.control_account = control_account(cx, &chart, comes_in, &asked).await?;
    }
    Ok(asked)
}

/// The account that money settles: where its first target stands, else the party's own.
pub(crate) async fn control_account(
    cx: &Cx<'_>,
    chart: &Chart,
    comes_in: bool,
    asked: &MoneyAsked,
) -> Result<Option<RecordId>> {
    let separate = cx.business()?.settings.book_advances_separately;
    let role = |receivable: bool| match (receivable, separate) {
        (true, false) => SystemRole::Receivable,
        (true, true) => SystemRole::CustomerAdvances,
        (false, false) => SystemRole::Payable,
        (false, true) => SystemRole::SupplierAdvances,
    };
    let in_role = |receivable| Ok(Some(chart.roles().id(role(receivable))));
    if let Some(first) = asked.allocations.first()
        && let Some(target) = open_items::find(cx, first.target).await?
    {
        if !separate {
            return Ok(Some(target.account_id));
        }
        let is_receivable = |account: &Account| account.r#type == AccountType::Receivable;
        let receivable = target.account_id == chart.roles().customer_advances.id()
            || chart.account(target.account_id).is_none_or(is_receivable);
        return in_role(receivable);
    }
    let Some(id) = asked.party else { return Ok(None) };
    let Some(party) = cx.party(id).await? else { return Ok(None) };
    let receivable = if comes_in { party.is_customer } else { !party.is_supplier };
    let own = if receivable { party.receivable_account_id } else { party.payable_account_id };
    match own.filter(|_| !separate) {
        Some(own) => Ok(Some(own)),
        None => in_role(receivable),
    }
}

async fn party_of(cx: &Cx<'_>, id: Option<RecordId>) -> Result<Option<Arc<schema::party::Model>>> {
    let Some(id) = id else { return Ok(None) };
    cx.party(id).await
}

fn judge(
    business: &Business,
    comes_in: bool,
    asked: &MoneyAsked,
    party_exists: bool,
    for_party: Option<Money>,
    references: &mut References,
) -> Result<()> {
    let base = &business.base_currency;
    let currency = asked.currency.as_ref().unwrap_or(base);
    let places = Currency::known(currency, "what is asked for")?.decimals();
    // An account in the company's currency takes any other at its worth; one in another currency only its own.
    let answer = references.chart.money(asked.account, currency);
    references.note("accountId", answer);
    if asked.party.is_some() && !party_exists {
        references.faults.add("partyId", "names no party");
    }
    if currency == base && asked.exchange_rate.is_some_and(|rate| rate != Rate::ONE) {
        references.faults.add("exchangeRate", format!("must be 1 or absent in {base}"));
    }
    if currency != base && asked.exchange_rate.is_none() {
        let why = format!("is required, since there is no rate for the day: what is one {currency} worth in {base}?");
        references.faults.add("exchangeRate", why);
    }
    for (field, amount) in [("amount", asked.amount), ("feeAmount", asked.fee)] {
        if !amount.fits(places) {
            references.faults.add(field, format!("must have at most {places} decimal places in {currency}"));
        }
    }
    if comes_in && asked.fee > asked.amount {
        references.faults.add("feeAmount", "must not be more than the amount");
    }
    references.account("feeAccountId", asked.fee_account, For::Fee);
    for (index, line) in asked.lines.iter().enumerate() {
        let at = |field: &str| format!("lines[{index}].{field}");
        let answer = references.chart.line(line.account, For::DirectLine, None, currency);
        references.note(&at("accountId"), answer);
        // Money comes back for what was bought, and goes back for what was sold: a code may be for either.
        let direction = line.tax.code().and_then(|id| references.taxes.get(id)).map(|code| code.direction);
        references.tax_code(&at("taxCodeId"), line.tax.code(), direction.unwrap_or(TaxDirection::Both));
        let on_tax = kept_as(&references.chart, line.account).is_some();
        if on_tax && line.tax.code().is_some() {
            references.faults.add(at("taxCodeId"), "cannot stand on a line that moves an account of tax");
        }
        if !line.amount.fits(places) {
            references.faults.add(at("amount"), format!("must have at most {places} decimal places in {currency}"));
        }
    }
    match for_party {
        None => references.faults.add("lines", "come to more than the amount"),
        Some(rest) if rest != Money::ZERO && asked.party.is_none() => {
            references.faults.add("partyId", "is required for what is not in lines");
        }
        Some(_) => {}
    }
    if let Some(control) = asked.control_account {
        let answer = references.chart.control(control, Side::Either, currency);
        references.note("controlAccountId", answer);
    }
    Ok(())
}

pub(crate) async fn settle(
    cx: &Cx<'_>,
    comes_in: bool,
    head: &Head,
    asked: &MoneyAsked,
    purpose: Purpose,
) -> Result<Settled<MoneyFigures>> {
    let business = cx.business()?;
    let mut references = References::holding(cx, asked.held.clone()).await?;
    let party = party_of(cx, asked.party).await?;
    let currency = asked.currency.clone().unwrap_or_else(|| business.base_currency.clone());
    let rounding = Under::kept(asked.under, &business.settings).rounding();
    let home = Home { coin: BookCoin::new(business.currency_decimals, rounding), ..business.home() };
    let rate = asked.exchange_rate.unwrap_or(Rate::OF_ITSELF);
    let exchange = Exchange { home, currency: &currency, rate };
    let tax_date = asked.tax_date.unwrap_or(head.date);
    let figures = figures(business, asked, &references.taxes, (&exchange, tax_date));
    // What comes to more than can be kept comes to more than the amount.
    let for_party = figures.as_ref().ok().and_then(|figures| for_party(asked, figures));
    judge(business, comes_in, asked, party.is_some(), for_party, &mut references)?;
    let (chart, taxes) = (references.chart.clone(), references.taxes.clone());
    references.finish()?;
    let (figures, for_party) = (figures?, for_party.ok_or_else(too_large)?);
    let tells: Vec<Tells> = asked.lines.iter().map(|line| tells(&chart, &taxes, line)).collect();
    let posting = posting::Posting {
        comes_in,
        control: asked.control_account,
        for_party,
        asked,
        figures: &figures,
        tells: &tells,
        common: Common {
            exchange: &exchange,
            chart: &chart,
            withholding: Withholding::Kept,
            origin: TaxOrigin::Document,
            date: tax_date,
            party: asked.party,
            party_tax_number: party.as_ref().and_then(|party| party.tax_number.as_deref()),
            country: party.as_deref().and_then(country_of),
        },
        taxes: &taxes,
    };
    let posted = posting.lines().map_err(|why| why.at("lines"))?;
    let mut settled = Settled {
        subkind: Some(asked.method.to_string()),
        party: asked.party,
        currency: currency.clone(),
        total: asked.amount,
        total_in: None,
        base_total: posted.base_total,
        entries: Vec::new(),
        open: Vec::new(),
        lines: Vec::new(),
        stock: None,
        progress: None,
        figures: MoneyFigures {
            party_name: party.map(|party| party.name.clone()),
            currency: currency.clone(),
            control_account: asked.control_account,
            base_total: posted.base_total,
            for_party,
            lines: figures,
        },
    };
    if purpose == Purpose::Draft {
        return Ok(settled);
    }
    settled.open.extend(left_open(comes_in, head, asked, &settled.figures, posted.base_for_party));
    settled.lines = traded(asked, &posted.base_lines)?;
    let posting = Posting::balanced(posted.lines).map_err(|fault| unbalanced(fault, "amount"))?;
    settled.entries.push(SettledEntry { kind: EntryKind::Normal, date: head.date, field: "date", posting });
    Ok(settled)
}

/// What is left to settle something with.
fn left_open(
    comes_in: bool,
    head: &Head,
    asked: &MoneyAsked,
    figures: &MoneyFigures,
    base: BookMoney,
) -> Option<NewOpen> {
    let (party, account) = asked.party.zip(asked.control_account).filter(|_| figures.for_party != Money::ZERO)?;
    Some(NewOpen {
        line: None,
        party,
        account,
        currency: figures.currency.clone(),
        date: head.date,
        due_date: None,
        amount: owed(comes_in, figures.for_party),
        base: owed(comes_in, base),
    })
}

/// What came in is owed to the party: a credit.
fn owed<F: Funds>(comes_in: bool, amount: F) -> F {
    if comes_in { amount.negated() } else { amount }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::line::TaxChoice;
    use crate::parts::settlement::DirectLineAsked;
    use crate::samples::{head, id, money, rate, said, taxes, worth};
    use kit::reference::Held;
    use rules::tax::TaxKind::Standard;

    fn judged(comes_in: bool, asked: &MoneyAsked, party_exists: bool, for_party: Option<&str>) -> String {
        let mut references = References {
            chart: Arc::new(books::chart::sample()),
            taxes: Arc::new(taxes(TaxDirection::Both, &[("19", Standard, "100")])),
            terms: Arc::default(),
            faults: crate::error::FieldErrors::default(),
            held: Held::default(),
        };
        let business = Business::sample();
        judge(&business, comes_in, asked, party_exists, for_party.map(money), &mut references).unwrap();
        references.finish().map_or_else(|why| said(&why), |()| String::new())
    }

    /// A hundred on the bank.
    fn hundred() -> MoneyAsked {
        MoneyAsked { account: id(1010), amount: money("100"), ..MoneyAsked::default() }
    }

    fn with_line(account: u128, amount: &str, taxed: bool) -> MoneyAsked {
        let tax = if taxed { TaxChoice::Code(id(8_000)) } else { TaxChoice::None };
        let (account, amount) = (id(account), money(amount));
        let line = DirectLineAsked { id: None, account, amount, tax, stated_tax: None, description: None };
        MoneyAsked { lines: vec![line], ..hundred() }
    }

    #[test]
    fn money_is_on_an_account_of_money_in_its_currency() {
        let abroad = |account: u128, currency: &str, at: Option<&str>| MoneyAsked {
            account: id(account),
            currency: Some(currency.into()),
            exchange_rate: at.map(rate),
            ..hundred()
        };
        for (asked, answer) in [
            (hundred(), ""),
            (abroad(1010, "USD", Some("0.93")), ""),
            (abroad(1020, "USD", Some("0.93")), ""),
            (abroad(1020, "GBP", Some("1.17")), "accountId names 1020 USD, which is kept in USD; the line is in GBP"),
            (abroad(1010, "EUR", Some("1")), ""),
            (abroad(1010, "EUR", Some("0.9")), "exchangeRate must be 1 or absent in EUR"),
            (
                abroad(1010, "USD", None),
                "exchangeRate is required, since there is no rate for the day: what is one USD worth in EUR?",
            ),
            (MoneyAsked { account: id(1200), ..hundred() }, "accountId names 1200 Accounts receivable"),
            (MoneyAsked { amount: money("100.001"), ..hundred() }, "amount must have at most 2 decimal places in EUR"),
            (MoneyAsked { fee: money("0.005"), ..hundred() }, "feeAmount must have at most 2 decimal places in EUR"),
        ] {
            let shown = format!("{asked:?}");
            let found = judged(true, &asked, false, Some("0"));
            assert!(found.starts_with(answer) && found.is_empty() == answer.is_empty(), "{shown}: {found}");
        }
    }

    #[test]
    fn what_is_not_in_lines_is_some_partys() {
        let of_party = |party: Option<u128>| MoneyAsked { party: party.map(id), ..hundred() };
        let fee = |fee: &str| MoneyAsked { fee: money(fee), ..hundred() };
        let control = |code: u128| MoneyAsked { control_account: Some(id(code)), ..of_party(Some(3)) };
        for (comes_in, asked, exists, rest, answer) in [
            (true, of_party(Some(3)), true, Some("100"), ""),
            (true, of_party(Some(3)), false, Some("100"), "partyId names no party"),
            (true, of_party(None), false, Some("0"), ""),
            (true, of_party(None), false, Some("0.01"), "partyId is required for what is not in lines"),
            (true, of_party(None), false, None, "lines come to more than the amount"),
            // Nothing arrives of less than the bank keeps; a payment costs what it costs.
            (true, fee("100"), false, Some("0"), ""),
            (true, fee("100.01"), false, Some("0"), "feeAmount must not be more than the amount"),
            (false, fee("100.01"), false, Some("0"), ""),
            (true, control(1200), true, Some("100"), ""),
            (true, control(2100), true, Some("100"), ""),
            (true, control(4000), true, Some("100"), "controlAccountId names 4000 Sales"),
        ] {
            let shown = format!("{comes_in} {asked:?} {rest:?}");
            let found = judged(comes_in, &asked, exists, rest);
            assert!(found.starts_with(answer) && found.is_empty() == answer.is_empty(), "{shown}: {found}");
        }
    }

    #[test]
    fn a_line_goes_where_lines_of_money_may() {
        for (asked, answer) in [
            (with_line(6000, "100", true), ""),
            (with_line(6000, "0.001", false), "lines[0].amount must have at most 2 decimal places in EUR"),
            (with_line(1200, "100", false), "lines[0].accountId names 1200 Accounts receivable"),
            (with_line(1020, "100", false), "lines[0].accountId names 1020 USD, which holds money"),
            (with_line(3200, "100", false), "lines[0].accountId names 3200 Retained earnings"),
            (with_line(2200, "100", false), ""),
            (with_line(2200, "100", true), "lines[0].taxCodeId cannot stand on a line that moves an account of tax"),
        ] {
            let shown = format!("{:?}", asked.lines);
            let found = judged(false, &asked, false, Some("0"));
            assert!(found.starts_with(answer) && found.is_empty() == answer.is_empty(), "{shown}: {found}");
        }
    }

    #[test]
    fn what_comes_in_is_owed_to_the_party() {
        let figures = |for_party: &str| MoneyFigures {
            currency: "USD".into(),
            for_party: money(for_party),
            ..MoneyFigures::default()
        };
        let asked = MoneyAsked { party: Some(id(3)), control_account: Some(id(1200)), ..hundred() };
        let open = |comes_in: bool, asked: &MoneyAsked, of: &str| {
            let open = left_open(comes_in, &head("2026-03-10"), asked, &figures(of), worth("93"));
            open.map(|open| format!("{} {} worth {}", open.amount, open.currency, open.base))
        };
        assert_eq!(open(true, &asked, "100").as_deref(), Some("-100 USD worth -93"));
        assert_eq!(open(false, &asked, "100").as_deref(), Some("100 USD worth 93"));
        assert_eq!(open(true, &asked, "0"), None);
        assert_eq!(open(true, &hundred(), "100"), None);
    }
}

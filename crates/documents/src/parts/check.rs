//! Whether what a trade document says may be so.

use super::derivation::{Source, Sources};
use super::line::TradeLineAsked;
use super::work_out::{Items, Party};
use super::{Direction, TradeAsked};
use crate::currency::Currency;
use crate::day::Day;
use crate::document::{Head, Purpose};
use crate::error::{Code, Conflict, Error, FieldErrors, Result};
use crate::ids::RecordId;
use crate::money::{BookMoney, Rate};
use crate::quoting::quoted;
use answers::Ask;
use books::access::Business;
use books::cx::Cx;
use kit::reference::References;
use rules::account::AccountType;
use rules::purpose::{Purpose as For, Side};
use rules::tax::figures::Discount;
use schema::business::CreditLimitPolicy;
use schema::item::ItemType;
use schema::party::{PartyBlock, PartyStatus};
use schema::payment_term::MasterStatus;
use schema::tables::{DocumentKind, DocumentStatus, documents, party_balances};
use sea_orm::{ColumnTrait, PaginatorTrait, QueryFilter};

pub(crate) fn judge_head(
    business: &Business,
    direction: Direction,
    head: &Head,
    asked: &TradeAsked,
    party: Option<&schema::party::Model>,
    purpose: Purpose,
    references: &mut References,
) {
    match party {
        None => references.faults.add("partyId", "names no party"),
        Some(party) => {
            let wanted = if direction.is_sale() { party.is_customer } else { party.is_supplier };
            if !wanted {
                let role = if direction.is_sale() { "customer" } else { "supplier" };
                references.faults.add("partyId", format!("names {}, which is no {role}", party.name));
            }
            let begins = direction.is_order() || (direction.bills() && !direction.credits());
            if purpose == Purpose::Posting && begins && is_blocked(direction, party) {
                references.faults.add("partyId", format!("names {}, which takes no new documents", party.name));
            }
        }
    }
    let base = &business.base_currency;
    let currency = asked.currency.as_ref().unwrap_or(base);
    if currency == base && asked.exchange_rate.is_some_and(|rate| rate != Rate::ONE) {
        references.faults.add("exchangeRate", format!("must be 1 or absent in {base}"));
    }
    if currency != base && asked.exchange_rate.is_none() {
        references.faults.add(
            "exchangeRate",
            format!("is required, since there is no rate for the day: what is one {currency} worth in {base}?"),
        );
    }
    let (field, side) = if direction.is_sale() {
        ("receivableAccountId", Side::Receivable)
    } else {
        ("payableAccountId", Side::Payable)
    };
    if direction.bills()
        && let Some(control) = asked.control_account
    {
        let answer = references.chart.control(control, side, currency);
        references.note(field, answer);
    }
    references.term("paymentTermId", asked.payment_term);
    let logistics = &asked.logistics;
    for (field, day) in [("expectedDate", logistics.expected_date), ("validUntil", logistics.valid_until)] {
        if day.is_some_and(|day| day < head.date) {
            let field = if field == "expectedDate" && !direction.is_sale() { "expectedArrivalDate" } else { field };
            references.faults.add(field, "must not be before the date");
        }
    }
    if asked.due_date.is_some_and(|due| due < head.date) {
        references.faults.add("dueDate", "must not be before the date");
    }
    if let Some(Discount::Amount(off)) = asked.discount
        && Currency::of(currency).is_none_or(|known| !off.fits(known.decimals()))
    {
        references.faults.add("discountAmount", format!("has more decimal places than {currency}"));
    }
}

fn is_blocked(direction: Direction, party: &schema::party::Model) -> bool {
    let own = if direction.is_sale() { PartyBlock::Sales } else { PartyBlock::Purchases };
    party.status != PartyStatus::Active || party.blocked == PartyBlock::All || party.blocked == own
}

pub(crate) fn judge_line(
    direction: Direction,
    rates_of: Day,
    (index, line, waiting, dearer): (usize, &TradeLineAsked, Option<RecordId>, bool),
    asked: &TradeAsked,
    items: &Items,
    purpose: Purpose,
    references: &mut References,
) {
    let at = |field: &str| format!("lines[{index}].{field}");
    if let Some(id) = line.item {
        match items.get(&id) {
            None => references.faults.add(at("itemId"), "names no item"),
            Some(item)
                if item.status == MasterStatus::Archived && purpose == Purpose::Posting && !references.held.has(id) =>
            {
                references.faults.add(at("itemId"), format!("names {}, which is archived", item.name));
            }
            Some(_) => {}
        }
    }
    if line.is_text() {
        if line.description.is_none() {
            references.faults.add(at("description"), "is required on a line without item, account and price");
        }
        return;
    }
    if line.quantity().is_negative() {
        let moves = line.item.and_then(|id| items.get(&id)).is_some_and(|item| item.r#type == ItemType::Stock);
        if !direction.bills() || line.source_line.is_some() || (moves && asked.update_stock.unwrap_or(true)) {
            references.faults.add(at("quantity"), "must be greater than 0: it follows another line, or moves goods");
        }
    }
    if direction.is_goods() && line.item.is_none() {
        references.faults.add(at("itemId"), "is required: a note says of which item goods moved");
    }
    if direction == Direction::ReceiptNote && line.price.is_none() && !asked.is_return {
        references.faults.add(at("unitCost"), "is required, since nothing says what the item costs");
    } else if line.price.is_none() && !direction.is_goods() {
        references.faults.add(at("unitPrice"), "is required, since the item has no price");
    }
    let currency = asked.currency.as_deref().unwrap_or("");
    if let Some(Discount::Amount(off)) = line.discount
        && Currency::of(currency).is_none_or(|known| !off.fits(known.decimals()))
    {
        references.faults.add(at("discountAmount"), format!("has more decimal places than {currency}"));
    }
    references.tax_code(&at("taxCodeId"), line.tax.code(), direction.tax());
    let code = line.tax.code().and_then(|id| references.taxes.get(id));
    if code.is_some_and(|code| {
        code.valid_from.is_some_and(|from| rates_of < from) || code.valid_to.is_some_and(|to| rates_of > to)
    }) {
        references.faults.add(at("taxCodeId"), format!("names a tax code that is not valid on {rates_of}"));
    }
    if waiting.is_some() {
        if line.account != waiting {
            references.faults.add(at("accountId"), "must be left out: the goods wait on an account of their own");
        }
        return;
    }
    if dearer {
        let is_inventory = line.account.and_then(|id| references.chart.account(id));
        if is_inventory.is_none_or(|account| account.r#type != AccountType::Inventory) {
            references.faults.add(at("accountId"), "must be left out: it becomes a part of what the goods cost");
        }
        return;
    }
    let item = line.item.and_then(|id| items.get(&id)).filter(|item| item.r#type == ItemType::Stock);
    let moved = item.filter(|_| asked.update_stock.unwrap_or(true) && !asked.is_opening && !direction.is_sale());
    let Some(item) = moved else {
        let purpose = if direction.is_sale() { For::SaleLine } else { For::PurchaseLine };
        return references.account(&at("accountId"), line.account, purpose);
    };
    let inventory = item.inventory_account_id.unwrap_or_else(|| references.chart.roles().inventory.id());
    if line.account == Some(inventory) {
        references.account(&at("accountId"), line.account, For::ItemStock);
    } else {
        references
            .faults
            .add(at("accountId"), "must be the item's inventory account, since the line moves its stock; leave it out");
    }
}

/// The invoice that a note credits, if it names one.
pub(crate) fn judge_source<'s>(
    direction: Direction,
    asked: &TradeAsked,
    sources: &'s Sources,
    purpose: Purpose,
    faults: &mut FieldErrors,
) -> Option<&'s Source> {
    if !direction.credits() {
        return None;
    }
    let (field, kind) = if direction.is_sale() {
        ("salesInvoiceId", DocumentKind::SalesInvoice)
    } else {
        ("purchaseInvoiceId", DocumentKind::PurchaseInvoice)
    };
    let direct = |line: &&TradeLineAsked| line.source_line.is_some() && sources.line(line).is_none();
    let Some(id) = asked.source else {
        for (index, _) in asked.lines.iter().enumerate().filter(|(_, line)| direct(line)) {
            faults.add(format!("lines[{index}].sourceLineId"), format!("needs {field}: which invoice does it credit?"));
        }
        return None;
    };
    let Some(invoice) = sources.document(id).filter(|source| source.row.kind == kind) else {
        faults.add(field, "names no invoice");
        return None;
    };
    if invoice.row.status != DocumentStatus::Posted && purpose == Purpose::Posting {
        faults.add(field, "names an invoice that is not in the books");
    }
    if sources.aliases.of_document(&invoice.row) != Some(asked.party) {
        faults.add(field, "names an invoice of another party");
    }
    if Some(&invoice.row.currency) != asked.currency.as_ref() {
        faults.add("currency", format!("must be {}, the currency of the invoice", invoice.row.currency));
    }
    let rate = TradeAsked::rate;
    if Some(&invoice.row.currency) == asked.currency.as_ref() && rate(asked) != rate(&invoice.content.asked) {
        let of_invoice = rate(&invoice.content.asked);
        faults.add("exchangeRate", format!("must be {of_invoice}, the rate of the invoice; leave it out"));
    }
    for (index, line) in asked.lines.iter().enumerate().filter(|(_, line)| direct(line)) {
        let credited = invoice.content.asked.lines.iter().find(|known| known.id == line.source_line);
        match credited {
            None => faults.add(format!("lines[{index}].sourceLineId"), "names no line of the invoice"),
            Some(credited) if credited.tax.code() != line.tax.code() => {
                faults.add(format!("lines[{index}].taxCodeId"), "must be that of the line it credits; leave it out");
            }
            Some(_) => {}
        }
    }
    Some(invoice)
}

/// Whether somebody would owe more than they may, with an invoice.
fn is_beyond(limit: BookMoney, owed: impl Iterator<Item = BookMoney>, total: BookMoney) -> bool {
    let units = |money: BookMoney| i128::from(money.units());
    owed.map(units).sum::<i128>() + units(total) > units(limit)
}

pub(crate) async fn check_limits(
    cx: &Cx<'_>,
    business: &Business,
    direction: Direction,
    head: &Head,
    asked: &TradeAsked,
    party: &Party,
    base_total: BookMoney,
) -> Result<()> {
    if direction == Direction::SalesInvoice
        && business.settings.credit_limit_policy == CreditLimitPolicy::Block
        && let Some(limit) = party.credit_limit
    {
        cx.flush().await?;
        let open = party_balances::Entity::find()
            .filter(party_balances::Column::BusinessId.eq(business.id))
            .filter(business.aliases.is(party_balances::Column::PartyId, business.aliases.meant(party.id)))
            .models(&cx.db)
            .await?;
        let chart = cx.chart().await?;
        let receivable = |id| chart.account(id).is_some_and(|account| account.r#type == AccountType::Receivable);
        let owed = open.iter().filter(|row| receivable(row.account_id)).map(|row| row.amount);
        if is_beyond(limit, owed, base_total) {
            return Err(Error::conflict(
                Code::CreditLimitExceeded,
                format!(
                    "{} would owe more than the credit limit of {}",
                    party.name,
                    limit.with_decimals(business.currency_decimals)
                ),
            ));
        }
    }
    if direction == Direction::PurchaseInvoice
        && business.settings.unique_supplier_reference
        && let Some(reference) = &head.reference
    {
        cx.flush().await?;
        let same = documents::Entity::find()
            .filter(documents::Column::BusinessId.eq(business.id))
            .filter(documents::Column::Kind.eq(DocumentKind::PurchaseInvoice))
            .filter(business.aliases.is(documents::Column::PartyId, business.aliases.meant(asked.party)))
            .filter(documents::Column::Status.eq(DocumentStatus::Posted))
            .filter(documents::Column::Reference.eq(reference.as_str()));
        let others = same.filter(documents::Column::Number.ne(head.number.as_deref().unwrap_or("")));
        if others.count(&cx.db).await? > 0 {
            return Err(Error::Conflict(Conflict {
                code: Code::Duplicate,
                title: "Another invoice of this supplier has this reference".into(),
                errors: FieldErrors::one(
                    "reference",
                    format!("{} is already used by this supplier", quoted(reference)),
                ),
            }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::worth;

    #[test]
    fn somebody_owes_up_to_their_limit() {
        for (limit, owed, total, beyond) in [
            ("5000", &[][..], "5000", false),
            ("5000", &[], "5000.01", true),
            ("5000", &["4000", "-500"], "1500", false),
            ("5000", &["4000", "-500"], "1500.01", true),
            // What they paid before is theirs to spend.
            ("0", &["-120"], "120", false),
            ("0", &[], "0.01", true),
            // However much it is.
            ("5000", &["922337203685477.5807", "922337203685477.5807"], "922337203685477.5807", true),
        ] {
            let owed: Vec<BookMoney> = owed.iter().map(|text| worth(text)).collect();
            assert_eq!(is_beyond(worth(limit), owed.iter().copied(), worth(total)), beyond, "{limit} {owed:?} {total}");
        }
    }

    #[test]
    fn whoever_is_blocked_takes_no_new_documents() {
        use PartyBlock::{All, None as Free, Purchases, Sales};
        use PartyStatus::{Active, Archived, Blocked};
        for (status, blocked, of_sales, of_purchases) in [
            (Active, Free, false, false),
            (Active, Sales, true, false),
            (Active, Purchases, false, true),
            (Active, All, true, true),
            (Blocked, Free, true, true),
            (Archived, Free, true, true),
        ] {
            let party = crate::samples::party(status, blocked);
            let found =
                [Direction::SalesOrder, Direction::SalesInvoice, Direction::PurchaseOrder, Direction::PurchaseInvoice];
            let found = found.map(|direction| is_blocked(direction, &party));
            assert_eq!(found, [of_sales, of_sales, of_purchases, of_purchases], "{status} {blocked}");
        }
    }
}

//! Facts of tax as rows: how they come beside their entry, and how what is taken back finds them.

use crate::cx::Cx;
use crate::desk::NewEntry;
use crate::error::{Error, Result};
use crate::ids::{BusinessId, RecordId};
use crate::money::apart;
use answers::Ask;
use rules::exchange::Valued;
use rules::posting::{About, Line, Posting, Subject, TaxTag};
use rules::tax::TaxKind;
use rules::tax::facts::{TaxDuty, TaxFact, TaxOrigin};
use schema::aliases::Named;
use schema::tables::{EntryRef, entries, entry_lines, facts_of, tax_facts};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder};

/// The rows of what an entry tells of tax.
pub(super) fn rows(business: BusinessId, entry: EntryRef, new: &NewEntry) -> Vec<tax_facts::Model> {
    let row = |(told, place): (&rules::posting::Told, i64)| {
        let fact = told.fact.clone();
        tax_facts::Model {
            business_id: business,
            entry_number: entry.number,
            place,
            position: told.place.and_then(|place| i64::try_from(place + 1).ok()),
            entry_date: entry.date,
            date: fact.date,
            document_kind: new.document,
            document_id: new.document_id,
            document_version: new.document_version,
            line_id: fact.line,
            settles_id: fact.settles,
            takes_back_id: new.reverses,
            side: fact.side,
            duty: fact.duty,
            origin: fact.origin,
            tax_code_id: fact.code,
            component_id: fact.component,
            component: fact.name,
            kind: fact.kind,
            rate: fact.rate,
            category: fact.category,
            base_box: fact.base_box,
            tax_box: fact.tax_box,
            leads: fact.leads,
            party_id: fact.party.map(Named::of),
            party_tax_number: fact.party_tax_number,
            country: fact.country,
            currency: fact.currency,
            base: apart(fact.base, fact.home_base),
            tax: apart(fact.tax, fact.home_tax),
            home_base: fact.home_base,
            home_tax: fact.home_tax,
            not_recoverable: fact.not_recoverable,
            account_id: fact.account.filter(|_| told.place.is_some() || fact.origin == TaxOrigin::Opening),
        }
    };
    new.posting.facts().iter().zip(1..).map(row).collect()
}

/// What a row tells.
pub fn fact(row: &tax_facts::Model) -> TaxFact {
    let (base, tax, row) = (row.own_base(), row.own_tax(), row.clone());
    TaxFact {
        line: row.line_id,
        settles: row.settles_id,
        side: row.side,
        duty: row.duty,
        origin: row.origin,
        code: row.tax_code_id,
        component: row.component_id,
        name: row.component,
        kind: row.kind,
        rate: row.rate,
        category: row.category,
        base_box: row.base_box,
        tax_box: row.tax_box,
        leads: row.leads,
        date: row.date,
        party: row.party_id.map(Named::as_written),
        party_tax_number: row.party_tax_number,
        country: row.country,
        currency: row.currency,
        base,
        tax,
        home_base: row.home_base,
        home_tax: row.home_tax,
        not_recoverable: row.not_recoverable,
        account: row.account_id,
    }
}

/// What was posted by entries, with what it tells of tax.
pub async fn postings(cx: &Cx<'_>, entries: &[EntryRef]) -> Result<Vec<Posting>> {
    let business = cx.business_id()?;
    let numbers = || entries.iter().map(|entry| entry.number);
    let lines = entry_lines::Entity::find()
        .filter(entry_lines::Column::BusinessId.eq(business))
        .filter(entry_lines::Column::EntryNumber.is_in(numbers()))
        .order_by_asc(entry_lines::Column::EntryNumber)
        .order_by_asc(entry_lines::Column::Position)
        .models(&cx.db)
        .await?;
    let facts = tax_facts::Entity::find()
        .filter(tax_facts::Column::BusinessId.eq(business))
        .filter(tax_facts::Column::EntryNumber.is_in(numbers()))
        .order_by_asc(tax_facts::Column::EntryNumber)
        .order_by_asc(tax_facts::Column::Place)
        .models(&cx.db)
        .await?;
    let posting = |entry: &EntryRef| {
        let own = lines.iter().filter(|line| line.entry_number == entry.number);
        let of_line = |(index, line): (usize, &entry_lines::Model)| {
            let told = facts.iter().filter(|row| row.entry_number == entry.number).filter(|row| {
                // What has no line of its own goes with the first.
                row.position.map_or(index == 0, |position| position == line.position)
            });
            posted_line(line).telling(told.map(fact).collect())
        };
        Posting::summing_up(own.enumerate().map(of_line).collect())
            .map_err(|_| Error::internal("an entry in the books does not balance"))
    };
    entries.iter().map(posting).collect()
}

/// The facts of a posted document by itself: not what settlements made of it.
async fn of_document(cx: &Cx<'_>, document: RecordId) -> Result<Vec<tax_facts::Model>> {
    let facts = tax_facts::Entity::find()
        .filter(tax_facts::Column::BusinessId.eq(cx.business_id()?))
        .filter(facts_of(cx.business_id()?, entries::Column::DocumentId.eq(document)))
        .filter(tax_facts::Column::SettlesId.is_null())
        .filter(tax_facts::Column::TakesBackId.is_null())
        .filter(tax_facts::Column::Origin.ne(TaxOrigin::Carry))
        .order_by_asc(tax_facts::Column::EntryNumber)
        .order_by_asc(tax_facts::Column::Place)
        .models(&cx.db)
        .await?;
    // A new version takes all of the old one back.
    let last = facts.iter().map(|fact| fact.document_version).max();
    Ok(facts.into_iter().filter(|fact| Some(fact.document_version) == last).collect())
}

/// What an invoice tells of tax, as it is now.
pub async fn of_invoice(cx: &Cx<'_>, invoice: RecordId) -> Result<Vec<TaxFact>> {
    cx.flush().await?;
    Ok(of_document(cx, invoice).await?.iter().map(fact).collect())
}

/// What a document shows that will be kept back.
pub async fn shown_by(cx: &Cx<'_>, document: RecordId) -> Result<Vec<TaxFact>> {
    let rows = of_document(cx, document).await?;
    let shows = |row: &&tax_facts::Model| row.kind == Some(TaxKind::Withholding) && row.duty == TaxDuty::None;
    Ok(rows.iter().filter(shows).map(fact).collect())
}

/// A line of an entry in the books, to be taken back.
pub fn posted_line(line: &entry_lines::Model) -> Line {
    let about = About {
        party: line.party_id.map(Named::as_written),
        description: line.description.clone(),
        due_date: line.due_date,
        subject: Subject {
            item: line.item_id,
            quantity: line.quantity,
            tax: line.tax_code_id.map(|code| TaxTag {
                code,
                component: line.tax_component.clone(),
                base: line.tax_base,
            }),
        },
    };
    let amount = Valued::read(line.own(), line.currency.clone(), line.amount);
    Line::posted(line.account_id, amount, about)
}

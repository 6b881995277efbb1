//! What is open with parties.

use crate::error::{Error, Result};
use crate::ids::RecordId;
use answers::Ask;
use books::cx::Cx;
use rules::account::AccountType;
use schema::account as accounts;
use schema::aliases::Aliases;
use schema::tables::party_balances;
use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is open with a party, by currency: receivable and payable, in the company's currency and in its own.
pub(super) type Open = BTreeMap<String, OpenIn>;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OpenIn {
    pub(super) receivable: (i64, i64),
    pub(super) payable: (i64, i64),
}

/// What became part of a party counts as its own: the ledger still has it under the old name.
pub(super) async fn open_with(cx: &Cx<'_>, parties: &[RecordId], aliases: &Aliases) -> Result<HashMap<RecordId, Open>> {
    let rows = party_balances::Entity::find()
        .filter(party_balances::Column::BusinessId.eq(cx.business_id()?))
        .filter(aliases.is_any(party_balances::Column::PartyId, parties.iter().map(|party| aliases.meant(*party))))
        .models(&cx.db)
        .await?;
    let named: HashSet<RecordId> = rows.iter().map(|row| row.account_id).collect();
    let types: Vec<(RecordId, AccountType)> = if named.is_empty() {
        Vec::new()
    } else {
        accounts::Entity::find()
            .select_only()
            .columns([accounts::Column::Id, accounts::Column::Type])
            .filter(accounts::Column::BusinessId.eq(cx.business_id()?))
            .filter(accounts::Column::Id.is_in(named))
            .read(&cx.db)
            .await?
    };
    let types: HashMap<RecordId, AccountType> = types.into_iter().collect();
    let mut open: HashMap<RecordId, Open> = HashMap::new();
    for row in rows {
        let of_party = open.entry(aliases.of(row.party_id)).or_default();
        let of_type = types.get(&row.account_id).copied();
        count(of_party, row, of_type)?;
    }
    Ok(open)
}

/// Counts a balance of a party, on an account of a type.
fn count(open: &mut Open, row: party_balances::Model, of_type: Option<AccountType>) -> Result<()> {
    let (base, own) = (row.amount.units(), row.currency_amount.units());
    let within = open.entry(row.currency).or_default();
    match of_type {
        Some(AccountType::Receivable) => add(&mut within.receivable, Some(base), Some(own)),
        // A credit is what is owed.
        Some(AccountType::Payable) => add(&mut within.payable, base.checked_neg(), own.checked_neg()),
        // A party on another account is a note, not a debt.
        _ => Ok(()),
    }
}

fn add(sum: &mut (i64, i64), base: Option<i64>, own: Option<i64>) -> Result<()> {
    let added = |sum: i64, more: Option<i64>| sum.checked_add(more?);
    *sum = added(sum.0, base).zip(added(sum.1, own)).ok_or_else(Error::too_large)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{id, money, worth};
    use schema::aliases::Named;

    /// Kernel 6.6 in figures: dollars owed at 0.90, of which 400 came in.
    #[test]
    fn debts_count_on_their_side_and_in_their_currency() {
        let mut open = Open::new();
        let line = |currency: &str, amount: &str, own: &str| party_balances::Model {
            business_id: crate::ids::BusinessId::default(),
            party_id: Named::default(),
            account_id: id(1200),
            currency: currency.into(),
            amount: worth(amount),
            currency_amount: money(own),
        };
        for (currency, amount, own, of_type) in [
            ("USD", "900", "1000", Some(AccountType::Receivable)),
            ("USD", "-360", "-400", Some(AccountType::Receivable)),
            ("EUR", "120", "120", Some(AccountType::Receivable)),
            // A credit on what is payable is what is owed.
            ("USD", "-45", "-50", Some(AccountType::Payable)),
            ("EUR", "-80", "-80", Some(AccountType::Payable)),
            ("EUR", "30", "30", Some(AccountType::Payable)),
            // An advance, or a line on an account that is gone: a note, not a debt.
            ("EUR", "-500", "-500", Some(AccountType::CurrentLiability)),
            ("EUR", "7", "7", None),
        ] {
            count(&mut open, line(currency, amount, own), of_type).unwrap();
        }
        let found: Vec<_> = open.iter().map(|(currency, of)| (currency.as_str(), of.receivable, of.payable)).collect();
        let euros = |euros: i64| euros * 10_000;
        assert_eq!(
            found,
            [
                ("EUR", (euros(120), euros(120)), (euros(50), euros(50))),
                ("USD", (euros(540), euros(600)), (euros(45), euros(50))),
            ]
        );
        let most = |amount: i64| party_balances::Model {
            amount: crate::money::BookMoney::from_units(amount),
            ..line("EUR", "0", "0")
        };
        assert!(count(&mut open, most(i64::MAX), Some(AccountType::Receivable)).is_err());
    }
}

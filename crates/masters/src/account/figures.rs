//! What accounts come to, one by one and as a tree.

use super::{AccountNode, AccountTree, AccountView, Accounts};
use crate::business;
use crate::currency::Currency;
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{Amount, Funds, Money};
use answers::Ask;
use books::access::Business;
use books::among::among;
use books::balances::{Balance, Balances, balances};
use books::chart::SystemRole;
use books::cx::Cx;
use kit::extra::Produced;
use kit::master::kept;
use kit::rows::Rows;
use rules::account::{AccountClass, NormalBalance};
use rules::keeper::Keeper;
use schema::account::{self as table, Column};
use schema::tables::account_months;
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder, QuerySelect};
use std::collections::{HashMap, HashSet};
use words::sums::Lists as _;

/// What the views of some accounts need from the rest of the books.
pub(super) struct Figures {
    balances: Balances,
    /// Which accounts have their own place where in the tree.
    parents: HashMap<RecordId, Option<RecordId>>,
    used: HashSet<RecordId>,
    roles: HashMap<RecordId, SystemRole>,
}

impl Figures {
    pub(super) async fn of(cx: &Cx<'_>, rows: &[table::Model]) -> Result<Self> {
        let places: Vec<(RecordId, Option<RecordId>)> = table::Entity::find()
            .select_only()
            .columns([Column::Id, Column::ParentId])
            .filter(Column::BusinessId.eq(cx.business_id()?))
            .read(&cx.db)
            .await?;
        let mut ids: Vec<RecordId> = rows.iter().map(|row| row.id).collect();
        // A group comes to what is below it, however deep.
        let groups = rows.iter().any(|row| row.is_group);
        let balances = balances(cx, if groups { None } else { Some(&ids) }, cx.point).await?;
        if groups {
            ids = places.iter().map(|(id, _)| *id).collect();
        }
        let used: Vec<RecordId> = account_months::Entity::find()
            .select_only()
            .distinct()
            .column(account_months::Column::AccountId)
            .filter(account_months::Column::BusinessId.eq(cx.business_id()?))
            .filter(among(cx, account_months::Column::AccountId, ids))
            .column_of(&cx.db)
            .await?;
        let held = business::system_accounts(cx).await?;
        // An account in several roles shows the first of them.
        let roles = held.into_iter().rev().map(|(role, id)| (id, role)).collect();
        Ok(Self { balances, parents: places.into_iter().collect(), used: used.into_iter().collect(), roles })
    }

    fn level(&self, id: RecordId) -> i64 {
        let mut level = 0;
        let mut at = id;
        while let Some(Some(parent)) = self.parents.get(&at) {
            (at, level) = (*parent, level + 1);
        }
        level
    }

    fn lies_below(&self, id: RecordId, group: RecordId) -> bool {
        let mut at = id;
        loop {
            if at == group {
                return true;
            }
            match self.parents.get(&at) {
                Some(Some(parent)) => at = *parent,
                _ => return false,
            }
        }
    }

    pub(super) fn view(&self, base: &Business, row: table::Model) -> Result<AccountView> {
        let class = row.class;
        let cash_flow_section = row.cash_flow();
        let currency = row.currency.unwrap_or_else(|| base.base_currency.clone());
        let mut sum = Balance::default();
        for ((account, line_currency), balance) in &self.balances {
            if *account != row.id && !(row.is_group && self.lies_below(*account, row.id)) {
                continue;
            }
            let own = if *line_currency == currency { balance.own } else { Money::ZERO };
            sum = sum
                .plus(Balance { base: balance.base, own })
                .ok_or_else(|| Error::internal("a balance outgrew its number"))?;
        }
        // An account in the company's own currency comes to its base balance, whatever its lines were in.
        let own = if row.is_group || currency == base.base_currency { sum.base.at_par() } else { sum.own };
        let own_decimals = if row.is_group {
            base.currency_decimals
        } else {
            Currency::known(&currency, format_args!("account {}", row.id))?.decimals()
        };
        Ok(AccountView {
            keeping: kept!(row),
            code: row.code,
            name: row.name,
            r#type: row.r#type,
            class,
            normal_balance: class.normal_balance(),
            parent_id: row.parent_id,
            level: self.level(row.id),
            is_group: row.is_group,
            description: row.description,
            cash_flow_section,
            is_control: row.r#type.is_control() || row.keeper == Keeper::OpenItems,
            system_role: self.roles.get(&row.id).copied(),
            allow_manual_posting: row.allow_manual_posting,
            keeper: row.keeper,
            bank_details: row.bank_details.map(|details| details.0),
            status: row.status,
            external_id: row.external_id,
            tags: row.tags.0,
            balance: Amount { money: sided(class, own), currency_decimals: own_decimals },
            base_balance: sided(class, sum.base).shown(base.currency_decimals),
            has_entries: self.used.contains(&row.id),
            currency,
        })
    }
}

pub(super) async fn tree(cx: &Cx<'_>) -> Result<Produced> {
    let rows = table::Entity::find().filter(Accounts::reach(cx)?).order_by_asc(Column::Code).models(&cx.db).await?;
    let mut below: HashMap<Option<RecordId>, Vec<AccountView>> = HashMap::new();
    for view in Accounts::views(cx, rows).await? {
        below.entry(view.parent_id).or_default().push(view);
    }
    Produced::json(&AccountTree { items: nodes(&mut below, None) })
}

fn nodes(below: &mut HashMap<Option<RecordId>, Vec<AccountView>>, parent: Option<RecordId>) -> Vec<AccountNode> {
    let accounts = below.take_list(&parent);
    accounts
        .into_iter()
        .map(|account| {
            let children = nodes(below, Some(account.keeping.id));
            AccountNode { account, children }
        })
        .collect()
}

/// A balance on the side that an account of its class has.
fn sided<F: Funds>(class: AccountClass, balance: F) -> F {
    if class.normal_balance() == NormalBalance::Debit { balance } else { balance.negated() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{account, id, money, worth};
    use serde_json::json;

    /// Assets (1) with money (10) with a bank (1010) and one in dollars (1020); income (4000) beside them.
    fn figures() -> Figures {
        let balance = |base: &str, own: &str| Balance { base: worth(base), own: money(own) };
        let of = |account: u128, currency: &str, of: Balance| ((id(account), currency.to_owned()), of);
        let balances = Balances::from([
            of(1010, "EUR", balance("-10.00", "-10.00")),
            // A sale to somebody abroad, paid into the bank at home: its lines are in dollars.
            of(1010, "USD", balance("45.00", "50.00")),
            of(1020, "USD", balance("900.00", "1000.00")),
            // What the dollars became worth more.
            of(1020, "EUR", balance("50.00", "0")),
            of(4000, "EUR", balance("-985.00", "-985.00")),
        ]);
        let parents = [(1, None), (10, Some(1)), (1010, Some(10)), (1020, Some(10)), (4000, None)];
        Figures {
            balances,
            parents: parents.into_iter().map(|(one, parent)| (id(one), parent.map(id))).collect(),
            used: HashSet::from([id(1010), id(1020), id(4000)]),
            roles: HashMap::from([(id(4000), SystemRole::Income)]),
        }
    }

    #[test]
    fn an_account_comes_to_what_it_holds_and_a_group_to_all_below_it() {
        let (group, income) = ([("/isGroup", json!(true))], [("/type", json!("income"))]);
        let business = Business::sample();
        for (row, balance, base, level) in [
            // In euros, whatever its lines were in: -10.00 and 45.00.
            (account(1010, Some(10), &[]), "35.00", "35.00", 2),
            // In dollars, and 900.00 with 50.00 for the company.
            (account(1020, Some(10), &[("/currency", json!("USD"))]), "1000.00", "950.00", 2),
            (account(10, Some(1), &group), "985.00", "985.00", 1),
            (account(1, None, &group), "985.00", "985.00", 0),
            // On its own side.
            (account(4000, None, &income), "985.00", "985.00", 0),
            (account(4100, None, &income), "0.00", "0.00", 0),
        ] {
            let number = row.code.clone();
            let view = serde_json::to_value(figures().view(&business, row).unwrap()).unwrap();
            let shown = (view["balance"].to_string(), view["baseBalance"].to_string(), view["level"].clone());
            assert_eq!(shown, (balance.to_owned(), base.to_owned(), json!(level)), "{number}");
            assert_eq!(view["hasEntries"], json!(["1010", "1020", "4000"].contains(&number.as_str())), "{number}");
            assert_eq!(view["systemRole"], if number == "4000" { json!("income") } else { json!(null) });
        }
    }

    /// Each account with those below it.
    fn drawn(nodes: &[AccountNode]) -> String {
        let drawn = nodes.iter().map(|node| [&node.account.code, "(", &drawn(&node.children), ")"].concat());
        drawn.collect()
    }

    #[test]
    fn accounts_are_shown_below_their_groups() {
        let figures = figures();
        for (below, group, lies) in
            [(1010, 1, true), (1010, 10, true), (10, 10, true), (10, 1010, false), (4000, 1, false)]
        {
            assert_eq!(figures.lies_below(id(below), id(group)), lies, "{below} in {group}");
        }
        let view = |number, parent| figures.view(&Business::sample(), account(number, parent, &[])).unwrap();
        let views = [view(1, None), view(10, Some(1)), view(1010, Some(10)), view(1020, Some(10)), view(4000, None)];
        let mut below: HashMap<Option<RecordId>, Vec<AccountView>> = HashMap::new();
        for view in views {
            below.entry(view.parent_id).or_default().push(view);
        }
        assert_eq!(drawn(&nodes(&mut below, None)), "1(10(1010()1020()))4000()");
    }
}

//! The keeper of an account: the sub-ledger that makes its lines. Type, role and the components of taxes give it.

use super::columns::{add, text};
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// By type; what a type does not say the roles do, and then the components.
const OF_TYPE: &[(&str, &str)] = &[
    ("money", "type IN ('bank', 'cash', 'creditCard')"),
    ("openItems", "type IN ('receivable', 'payable')"),
    ("tax", "type = 'taxPayable'"),
];

const OF_ROLE: &[(&str, &[&str])] = &[
    ("openItems", &["customerAdvances", "supplierAdvances"]),
    ("stock", &["inventory"]),
    ("accruals", &["goodsReceivedNotInvoiced", "goodsDeliveredNotInvoiced"]),
    ("tax", &["outputTax", "inputTax", "withholdingPayable", "withholdingReceivable"]),
    ("valuation", &["receivableRevaluation", "payableRevaluation"]),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        add(manager, "accounts", text("keeper").not_null().default("none").take()).await?;
        let connection = manager.get_connection();
        let on_postgres = manager.get_database_backend() == DbBackend::Postgres;
        for statement in statements(on_postgres) {
            connection.execute_unprepared(&statement).await?;
        }
        Ok(())
    }
}

/// An account's identifier as it stands in JSON.
const fn in_json(on_postgres: bool) -> &'static str {
    if on_postgres {
        "accounts.id::text"
    } else {
        "lower(substr(hex(accounts.id), 1, 8) || '-' || substr(hex(accounts.id), 9, 4) || '-' || \
         substr(hex(accounts.id), 13, 4) || '-' || substr(hex(accounts.id), 17, 4) || '-' || substr(hex(accounts.id), 21))"
    }
}

fn statements(on_postgres: bool) -> Vec<String> {
    let id = in_json(on_postgres);
    let mut made = Vec::new();
    for (keeper, which) in OF_TYPE {
        made.push(format!("UPDATE accounts SET keeper = '{keeper}' WHERE NOT is_group AND {which}"));
    }
    for (keeper, roles) in OF_ROLE {
        for role in *roles {
            let holder = if on_postgres {
                format!("b.system_accounts::json ->> '{role}'")
            } else {
                format!("json_extract(b.system_accounts, '$.{role}')")
            };
            made.push(format!(
                "UPDATE accounts SET keeper = '{keeper}' WHERE keeper = 'none' AND NOT is_group AND EXISTS \
                 (SELECT 1 FROM businesses b WHERE b.id = accounts.business_id AND {holder} = {id})"
            ));
        }
    }
    made.push(format!(
        "UPDATE accounts SET keeper = 'tax' WHERE keeper = 'none' AND EXISTS (SELECT 1 FROM tax_codes c \
         WHERE c.business_id = accounts.business_id AND c.components LIKE '%' || {id} || '%')"
    ));
    // Goods that an item names, and those that nobody posts to by hand.
    made.push(
        "UPDATE accounts SET keeper = 'stock' WHERE keeper = 'none' AND type = 'inventory' AND NOT is_group \
         AND (NOT allow_manual_posting \
         OR EXISTS (SELECT 1 FROM items i WHERE i.business_id = accounts.business_id \
         AND i.inventory_account_id = accounts.id))"
            .into(),
    );
    made.push(
        "UPDATE accounts SET allow_manual_posting = false WHERE keeper IN ('stock', 'accruals', 'valuation') \
         AND allow_manual_posting"
            .into(),
    );
    made
}

//! The accounts that the books use without being told, complete from a company's first day.

use crate::chart::SystemRole;
use crate::postable::{Accrual, Control, Free, StockAccount, TaxAccount, Valuation};
use words::ids::RecordId;

macro_rules! roles {
    ($($field:ident: $kind:ident = $role:ident $(or $other:ident)?),+ $(,)?) => {
        /// One account a role.
        #[derive(Debug, Clone)]
        pub struct Roles { $(pub $field: $kind),+ }

        impl Roles {
            /// The roles of a company, or the first that nobody has.
            pub(crate) fn of(
                find: impl Fn(SystemRole) -> Option<std::sync::Arc<crate::chart::Account>>,
            ) -> Result<Self, SystemRole> {
                Ok(Self {
                    $($field: $kind::in_role(
                        find(SystemRole::$role)$(.or_else(|| find(SystemRole::$other)))?.ok_or(SystemRole::$role)?,
                        SystemRole::$role,
                    )),+
                })
            }

            pub fn id(&self, role: SystemRole) -> RecordId {
                match role { $(SystemRole::$role => self.$field.id()),+ }
            }
        }
    };
}

roles! {
    receivable: Control = Receivable,
    payable: Control = Payable,
    income: Free = Income,
    expense: Free = Expense,
    cost_of_sales: Free = CostOfSales,
    inventory: StockAccount = Inventory,
    goods_received_not_invoiced: Accrual = GoodsReceivedNotInvoiced,
    goods_delivered_not_invoiced: Accrual = GoodsDeliveredNotInvoiced,
    purchase_price_variance: Free = PurchasePriceVariance,
    inventory_adjustment: Free = InventoryAdjustment,
    output_tax: TaxAccount = OutputTax,
    input_tax: TaxAccount = InputTax,
    // Books of before have none: there it stands with the tax that is owed or claimed.
    output_tax_not_due: TaxAccount = OutputTaxNotDue or OutputTax,
    input_tax_not_due: TaxAccount = InputTaxNotDue or InputTax,
    withholding_payable: TaxAccount = WithholdingPayable,
    withholding_receivable: TaxAccount = WithholdingReceivable,
    rounding: Free = Rounding,
    realised_exchange: Free = RealisedExchange,
    unrealised_exchange: Free = UnrealisedExchange,
    receivable_revaluation: Valuation = ReceivableRevaluation,
    payable_revaluation: Valuation = PayableRevaluation,
    customer_advances: Control = CustomerAdvances,
    supplier_advances: Control = SupplierAdvances,
    discount_given: Free = DiscountGiven,
    discount_received: Free = DiscountReceived,
    bad_debt: Free = BadDebt,
    bank_fees: Free = BankFees,
    retained_earnings: Free = RetainedEarnings,
    opening_balance_equity: Free = OpeningBalanceEquity,
}

impl Roles {
    /// Where a discount and what is let go stand: what a debtor does not pay is an expense, what we do not pay is earned.
    pub const fn taken_off(&self, of_a_debit: bool) -> (&Free, &Free) {
        if of_a_debit {
            (&self.discount_given, &self.bad_debt)
        } else {
            (&self.discount_received, &self.discount_received)
        }
    }
}

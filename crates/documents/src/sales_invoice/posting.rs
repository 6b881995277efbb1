//! Debits the customer with the total; credits what each line earns, and its tax. Goods leave the stock at their cost.

use crate::parts::posting::{Bill, Says};
use rules::posting::{Line, Unposted};

pub(super) fn lines(mut bill: Bill<'_>) -> Result<Vec<Line>, Unposted> {
    let mut sheet = bill.sheet();
    for mut line in bill.lines() {
        sheet.credit(bill.earning(&line)?, line.net, line.says())?;
        for fact in &line.goods {
            sheet.goods(fact)?;
        }
        sheet.taxes(line);
    }
    sheet.credit(bill.rounding_account()?, bill.rounding(), Says::default())?;
    sheet.debit(bill.receivable()?, bill.total(), bill.due())?;
    Ok(sheet.lines)
}

//! Credits the customer with the total; debits what each line had earned, and its tax. Goods come back at their cost.

use crate::parts::posting::{Bill, Says};
use rules::posting::{Line, Unposted};

pub(super) fn lines(mut bill: Bill<'_>) -> Result<Vec<Line>, Unposted> {
    let mut sheet = bill.sheet();
    for mut line in bill.lines() {
        sheet.debit(bill.earning(&line)?, line.net, line.says())?;
        for fact in &line.goods {
            sheet.goods(fact)?;
        }
        sheet.taxes(line);
    }
    sheet.debit(bill.rounding_account()?, bill.rounding(), Says::default())?;
    sheet.credit(bill.receivable()?, bill.total(), bill.due())?;
    Ok(sheet.lines)
}

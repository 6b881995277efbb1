//! Debits the supplier with the total; credits what each line had spent, or the goods that go back, and its tax.

use crate::parts::posting::{Bill, Says};
use rules::posting::{Line, Unposted};

pub(super) fn lines(mut bill: Bill<'_>) -> Result<Vec<Line>, Unposted> {
    let mut sheet = bill.sheet();
    for mut line in bill.lines() {
        if line.goods.is_empty() {
            sheet.credit(bill.spending(&line)?, line.net, line.says())?;
        } else {
            sheet.credit_goods(&mut line)?;
        }
        sheet.taxes(line);
    }
    sheet.credit(bill.rounding_account()?, bill.rounding(), Says::default())?;
    sheet.debit(bill.payable()?, bill.total(), bill.due())?;
    Ok(sheet.lines)
}

//! Credits the supplier with the total; debits what each line spends, or the goods that it pays for, and its tax.

use crate::parts::posting::{Bill, Says};
use rules::posting::{Line, Unposted};

pub(super) fn lines(mut bill: Bill<'_>) -> Result<Vec<Line>, Unposted> {
    let mut sheet = bill.sheet();
    for mut line in bill.lines() {
        if line.goods.is_empty() {
            sheet.debit(bill.spending(&line)?, line.net, line.says())?;
        } else {
            sheet.debit_goods(&mut line)?;
        }
        sheet.taxes(line);
    }
    sheet.debit(bill.rounding_account()?, bill.rounding(), Says::default())?;
    sheet.credit(bill.payable()?, bill.total(), bill.due())?;
    Ok(sheet.lines)
}

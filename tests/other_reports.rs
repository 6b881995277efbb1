//! Reports agree: with their own parts, with the accounts, and with what a note took off. The figures are made by hand.

use crate::harness::on_both_engines;
use crate::harness::server::DIALECTS;
use crate::harness::shop::{Shop, id};
use serde_json::json;

on_both_engines! {
    /// 1968.02 with tax in it: 350.92, 716.77 and 691.79 without. 1082.41 and a discount of 39.36 that reduces the tax settle
    /// 57 % of it in February. Its tax counts for March.
    fn on_cash_basis_a_span_is_the_sum_of_its_months(server) {
        for dialect in DIALECTS {
            let shop = Shop::open(server, dialect);
            let (vat, account) = (shop.vat("20"), |code: &str| shop.company.account(code));
            let bill = shop.make("purchaseInvoices", &json!({
                "date": "2026-02-05", "taxDate": "2026-03-18", "partyId": shop.supplier, "pricesIncludeTax": true,
                "lines": [
                    {"description": "x", "unitPrice": "421.10", "taxCodeId": vat, "accountId": account("6000")},
                    {"description": "y", "unitPrice": "716.77", "accountId": account("6200")},
                    {"description": "z", "unitPrice": "830.15", "taxCodeId": vat, "accountId": account("6300")},
                ]
            }));
            let mut paid = shop.payment("2026-02-10", "1082.41");
            paid["allocations"] = json!([{"targetId": id(&bill), "amount": "1082.41", "discountAmount": "39.36"}]);
            shop.make("payments", &paid);
            let costs = |days: &str| {
                let pl = format!("pl?{days}&basis=cash");
                ["6000", "6200", "6300", "4800", "netProfit"].map(|code| shop.row_of(&pl, code))
            };
            let settled = ["[200.02]", "[408.56]", "[394.32]", "[35.19]", "[-967.71]"].map(str::to_owned);
            assert_eq!(costs("from=2026-02-01&to=2026-02-28"), settled);
            assert_eq!(costs("from=2026-03-01&to=2026-03-31"), ["", "", "", "", "[0.00]"]);
            assert_eq!(costs("from=2026-02-01&to=2026-03-31"), settled);
            shop.proves();
        }
    }
}

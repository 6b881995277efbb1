//! A session in dialect A, with what progenitor makes of its document: the company in the path, and answers in an envelope.

use progenitor_sessions::a::{Client, types};
use progenitor_sessions::{Asked, read, refused, sending};
use types::{
    AllocationInput, BusinessInput, ConversionInput, CredentialLogin, FailureEnvelopeErrors, InvoiceStatus, ItemInput,
    ItemType, PartiesListQ, PartiesListSort, PartyInput, PartyInputCode, ReceiptInput, SalesOrderInput, TradeLineInput,
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let asked = Asked::here();
    let url = format!("{}/a/api", asked.server);
    let client = |headers: &[(&'static str, &str)]| Client::new_with_client(&url, sending(headers));

    let nobody = client(&[]);
    refused((401, "unauthenticated"), nobody.profile_get().send().await);
    let login = |password: &str| {
        let login = CredentialLogin::builder().credential(asked.user.as_str()).password(password);
        nobody.login().body(login).send()
    };
    refused((401, "unauthenticated"), login("wrong").await);
    let token = login(&asked.password).await.expect("a token").into_inner();
    assert!(token.success);
    let token = format!("Bearer {}", token.data.access_token);
    let books = client(&[("authorization", &token)]);

    let company = BusinessInput::builder().name("By a client").base_currency("CLF");
    let own = &books.businesses_create().body(company).send().await.expect("a company").into_inner().data.id;
    let walker = || {
        PartyInput::builder()
            .name("Walker")
            .code(read::<PartyInputCode>("W-0"))
            .is_customer(true)
            .credit_limit("12345678901234.5678".to_owned())
    };
    let party = books.parties_create().business_id(own).body(walker()).send().await.expect("a party").into_inner().data;
    assert_eq!(party.credit_limit.as_deref(), Some("12345678901234.5678"));
    let hours = ItemInput::builder().name("Hours").type_(ItemType::Service).sale_price("1234567890123.456789".to_owned());
    let item = books.items_create().business_id(own).body(hours).send().await.expect("an item").into_inner().data;
    assert_eq!(item.sale_price.as_deref(), Some("1234567890123.456789"));

    let line = TradeLineInput::builder()
        .item_id(item.id)
        .quantity("3".to_owned())
        .unit_price("4115226300411.5226".to_owned());
    let lines = vec![line.try_into().expect("a line")];
    let order = SalesOrderInput::builder().date(read::<chrono::NaiveDate>("2026-03-02")).party_id(&party.id).lines(lines);
    let order = books.sales_orders_create().business_id(own).body(order).send().await.expect("an order").into_inner().data;
    let billed = ConversionInput::builder().date(read::<chrono::NaiveDate>("2026-03-03"));
    let invoice = books.sales_orders_invoice().business_id(own).id(&order.id).body(billed).send().await;
    let invoice = invoice.expect("an invoice").into_inner().data;
    let banks = books.accounts_list().business_id(own).code("1010").send().await.expect("accounts").into_inner().data.items;
    let settles = AllocationInput::builder().target_id(&invoice.id).amount(&invoice.total);
    let money = ReceiptInput::builder()
        .date(read::<chrono::NaiveDate>("2026-03-04"))
        .party_id(party.id.clone())
        .account_id(&banks[0].id)
        .amount(&invoice.total)
        .allocations(vec![settles.try_into().expect("an allocation")]);
    books.receipts_create().business_id(own).body(money).send().await.expect("a receipt");
    let paid = books.sales_invoices_get().business_id(own).id(&invoice.id).send().await.expect("the invoice");
    let paid = paid.into_inner().data;
    assert_eq!((paid.status, &*paid.total, &*paid.balance_due), (InvoiceStatus::Paid, "12345678901234.5678", "0.0000"));
    let trial = books.reports_trial_balance().business_id(own).to(read::<chrono::NaiveDate>("2026-12-31")).send().await;
    let totals = trial.expect("a trial balance").into_inner().data.totals;
    assert_eq!((&*totals.closing_debit, &*totals.closing_credit), ("12345678901234.5678", "12345678901234.5678"));

    for nth in 1..=6 {
        let more = PartyInput::builder()
            .name(format!("Walker {nth}"))
            .code(read::<PartyInputCode>(&format!("W-{nth}")))
            .is_customer(nth % 2 == 0)
            .is_supplier(nth % 2 == 1);
        books.parties_create().business_id(own).body(more).send().await.expect("a party");
    }
    let mut walked = Vec::new();
    for page in ["1", "2"] {
        let list = books.parties_list().business_id(own).q(read::<PartiesListQ>("walker")).is_customer(true);
        let list = list.sort(read::<PartiesListSort>("-code")).page_size(read::<std::num::NonZeroU64>("2"));
        let list = list.page(read::<std::num::NonZeroU64>(page)).send().await.expect("a page").into_inner().data;
        assert_eq!((list.pagination.total_count, list.pagination.total_pages), (4, 2));
        walked.extend(list.items.into_iter().filter_map(|one| one.code));
    }
    assert_eq!(walked, ["W-6", "W-4", "W-2", "W-0"]);

    let neither = PartyInput::builder().name("Neither");
    let neither = books.parties_create().business_id(own).body(neither).send().await;
    match refused((400, "validation_failed"), neither).errors {
        FailureEnvelopeErrors::FieldMessages(errors) => assert!(errors.contains_key("isCustomer"), "{errors:?}"),
        FailureEnvelopeErrors::Null(_) => panic!("no field is at fault"),
    }
    let nowhere = books.parties_get().business_id(own).id("nonsense").send().await;
    assert!(matches!(refused((404, "not_found"), nowhere).errors, FailureEnvelopeErrors::Null(_)));
    refused((409, "duplicate"), books.parties_create().business_id(own).body(walker()).send().await);
    let update = books.parties_update().business_id(own).id(&party.id).if_match("\"another\"").body(walker());
    refused((412, "precondition_failed"), update.send().await);
    let keyed = |name: &str| {
        let party = PartyInput::builder().name(name).is_customer(true);
        books.parties_create().business_id(own).idempotency_key("shop-4711").body(party).send()
    };
    let first = keyed("Once").await.expect("a party").into_inner().data;
    assert_eq!(keyed("Once").await.expect("the party").into_inner().data.id, first.id);
    refused((422, "idempotency_mismatch"), keyed("Twice").await);

    books.profile_log_out().send().await.expect("an end");
    refused((401, "unauthenticated"), books.profile_get().send().await);
}

//! A session in dialect B, with what progenitor makes of its document.

use progenitor_sessions::b::{Client, types};
use progenitor_sessions::{Asked, read, refused, sending};
use types::{
    Action, AllocationInput, ApiKeyInput, BusinessInput, ConversionInput, EmailLogin, GrantInput, InvoiceStatus, ItemInput,
    ItemType, PartiesListQ, PartiesListSort, PartyInput, PartyInputCode, PermissionNoun, ReceiptInput, SalesOrderInput,
    TradeLineInput,
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let asked = Asked::here();
    let url = format!("{}/b/api", asked.server);
    let client = |headers: &[(&'static str, &str)]| Client::new_with_client(&url, sending(headers));

    // Nobody yet: refused, and let in.
    let nobody = client(&[]);
    refused((401, "unauthenticated"), nobody.profile_get().send().await);
    let wrong = EmailLogin::builder().email(asked.user.as_str()).password("wrong");
    refused((401, "unauthenticated"), nobody.login().body(wrong).send().await);
    let right = || EmailLogin::builder().email(asked.user.as_str()).password(asked.password.as_str());
    let token = nobody.login().body(right()).send().await.expect("a token").into_inner().token;
    let token = format!("Bearer {token}");
    let duet = client(&[("authorization", &token)]);

    // A currency with four places, and figures that no binary float holds.
    let company = BusinessInput::builder().name("By a client").base_currency("CLF");
    let company = duet.businesses_create().body(company).send().await.expect("a company").into_inner();
    let books = client(&[("authorization", &token), ("x-business-id", &company.id)]);
    let walker = || {
        PartyInput::builder()
            .name("Walker")
            .code(read::<PartyInputCode>("W-0"))
            .is_customer(true)
            .credit_limit("12345678901234.5678".to_owned())
    };
    let made = books.parties_create().body(walker()).send().await.expect("a party");
    assert_eq!(made.status(), 201);
    let location = made.headers()["location"].to_str().expect("a path").to_owned();
    let party = made.into_inner();
    assert_eq!(location, format!("/b/api/parties/{}", party.id));
    assert_eq!(party.credit_limit.as_deref(), Some("12345678901234.5678"));
    let hours = || {
        ItemInput::builder().name("Hours").type_(ItemType::Service).sale_price("1234567890123.456789".to_owned())
    };
    let item = books.items_create().body(hours()).send().await.expect("an item").into_inner();
    let item = books.items_get().id(&item.id).send().await.expect("the item").into_inner();
    assert_eq!(item.sale_price.as_deref(), Some("1234567890123.456789"));

    // From an order to the money.
    let line = TradeLineInput::builder()
        .item_id(item.id)
        .quantity("3".to_owned())
        .unit_price("4115226300411.5226".to_owned());
    let lines = vec![line.try_into().expect("a line")];
    let order = SalesOrderInput::builder().date(read::<chrono::NaiveDate>("2026-03-02")).party_id(&party.id).lines(lines);
    let order = books.sales_orders_create().body(order).send().await.expect("an order").into_inner();
    assert_eq!(order.total, "12345678901234.5678");
    let billed = ConversionInput::builder().date(read::<chrono::NaiveDate>("2026-03-03"));
    let invoice = books.sales_orders_invoice().id(&order.id).body(billed).send().await.expect("an invoice").into_inner();
    let banks = books.accounts_list().code("1010").send().await.expect("accounts").into_inner().items;
    let settles = AllocationInput::builder().target_id(&invoice.id).amount(&invoice.total);
    let money = ReceiptInput::builder()
        .date(read::<chrono::NaiveDate>("2026-03-04"))
        .party_id(party.id.clone())
        .account_id(&banks[0].id)
        .amount(&invoice.total)
        .allocations(vec![settles.try_into().expect("an allocation")]);
    let receipt = books.receipts_create().body(money).send().await.expect("a receipt").into_inner();
    assert_eq!(receipt.amount, "12345678901234.5678");
    let paid = books.sales_invoices_get().id(&invoice.id).send().await.expect("the invoice").into_inner();
    assert_eq!((paid.status, paid.balance_due.as_str()), (InvoiceStatus::Paid, "0.0000"));
    let trial = books.reports_trial_balance().to(read::<chrono::NaiveDate>("2026-12-31")).send().await;
    let totals = trial.expect("a trial balance").into_inner().totals;
    assert_eq!((&*totals.closing_debit, &*totals.closing_credit), ("12345678901234.5678", "12345678901234.5678"));

    // A walk along a list.
    for nth in 1..=6 {
        let more = PartyInput::builder()
            .name(format!("Walker {nth}"))
            .code(read::<PartyInputCode>(&format!("W-{nth}")))
            .is_customer(nth % 2 == 0)
            .is_supplier(nth % 2 == 1);
        books.parties_create().body(more).send().await.expect("a party");
    }
    let mut walked = Vec::new();
    for page in 1..=2_u64 {
        let list = books.parties_list().q(read::<PartiesListQ>("walker")).is_customer(true);
        let list = list.sort(read::<PartiesListSort>("-code")).page_size(read::<std::num::NonZeroU64>("2"));
        let list = list.page(read::<std::num::NonZeroU64>(&page.to_string())).send().await.expect("a page").into_inner();
        assert_eq!((list.pagination.total_count, list.pagination.total_pages), (4, 2));
        walked.extend(list.items.into_iter().filter_map(|one| one.code));
    }
    assert_eq!(walked, ["W-6", "W-4", "W-2", "W-0"]);

    // Each kind of refusal.
    let neither = PartyInput::builder().name("Neither");
    let failure = refused((400, "validation_failed"), books.parties_create().body(neither).send().await);
    assert!(failure.errors.contains_key("isCustomer"), "{failure:?}");
    let fine = PartyInput::builder().name("Fine").is_customer(true).credit_limit("1.23456".to_owned());
    let failure = refused((400, "scale_exceeded"), books.parties_create().body(fine).send().await);
    assert!(failure.errors.contains_key("creditLimit"), "{failure:?}");
    refused((404, "not_found"), books.parties_get().id("nonsense").send().await);
    let failure = refused((409, "duplicate"), books.parties_create().body(walker()).send().await);
    assert!(failure.errors.contains_key("code"), "{failure:?}");
    let update = books.parties_update().id(&party.id).if_match("\"another\"").body(walker());
    refused((412, "precondition_failed"), update.send().await);
    let keyed = |name: &str| {
        let party = PartyInput::builder().name(name).is_customer(true);
        books.parties_create().idempotency_key("shop-4711").body(party).send()
    };
    let first = keyed("Once").await.expect("a party").into_inner();
    let again = keyed("Once").await.expect("the party");
    assert_eq!(again.headers()["idempotency-replayed"], "true");
    assert_eq!(again.into_inner().id, first.id);
    refused((422, "idempotency_mismatch"), keyed("Twice").await);

    // A key that may only look. What is shown once is named where it is not shown again.
    let scope = GrantInput::builder().resource(PermissionNoun::Party).actions(vec![Action::View]);
    let scopes: Vec<GrantInput> = vec![scope.try_into().expect("a grant")];
    let key = || ApiKeyInput::builder().name("Shop").scopes(scopes.clone());
    let made = books.api_keys_create().idempotency_key("key").body(key()).send().await.expect("a key").into_inner();
    let repeat = books.api_keys_create().idempotency_key("key").body(key()).send().await.expect("the key");
    assert_eq!(repeat.headers()["x-withheld"], "secret");
    assert_eq!(repeat.into_inner().secret, None);
    let secret = format!("Bearer {}", made.secret.expect("a secret"));
    let shop = client(&[("authorization", &secret), ("x-business-id", &company.id)]);
    assert_eq!(shop.parties_list().send().await.expect("parties").into_inner().items.len(), 8);
    refused((403, "forbidden"), shop.items_create().body(hours()).send().await);

    // The next change goes by the tag of the last answer.
    let read_again = books.parties_get().id(&party.id).send().await.expect("the party");
    let tag = read_again.headers()["etag"].to_str().expect("a tag").to_owned();
    let runner = PartyInput::builder().name("Runner").code(read::<PartyInputCode>("W-0")).is_customer(true);
    let changed = books.parties_update().id(&party.id).if_match(tag).body(runner).send().await.expect("the party");
    assert_eq!(changed.into_inner().name, "Runner");

    // A session that has ended is told so, and another one begins.
    books.profile_log_out().send().await.expect("an end");
    refused((401, "unauthenticated"), books.profile_get().send().await);
    let token = nobody.login().body(right()).send().await.expect("a token").into_inner().token;
    let anew = client(&[("authorization", &format!("Bearer {token}"))]);
    assert_eq!(anew.profile_get().send().await.expect("me").into_inner().email, asked.user);
}

"""A session of the package `duet-client` in dialect A: the same, with the company in the path and answers in an envelope."""

import time
from datetime import date

from asked import LOSSY, PASSWORD, USER, Later, refused
from duet_client import ask, connect_to_a, each
from duet_client.a.api.api_keys import api_keys_create
from duet_client.a.api.businesses import businesses_create
from duet_client.a.api.chart_of_accounts import accounts_list
from duet_client.a.api.items import items_create
from duet_client.a.api.parties import parties_create, parties_get, parties_list, parties_update
from duet_client.a.api.receipts import receipts_create
from duet_client.a.api.reports import reports_trial_balance
from duet_client.a.api.sales_invoices import sales_invoices_get
from duet_client.a.api.sales_orders import sales_orders_create, sales_orders_invoice
from duet_client.a.api.your_account import profile_get, profile_log_out
from duet_client.a.api.your_sessions import sessions_get
from duet_client.a.models import (
    AllocationInput,
    ApiKeyInput,
    BusinessInput,
    ConversionInput,
    GrantInput,
    ItemInput,
    PartyInput,
    ReceiptInput,
    SalesOrderInput,
    TradeLineInput,
)

URL = f"{LOSSY}/a/api"
later = Later(time.monotonic)
books = connect_to_a(URL, user=USER, password=PASSWORD, now=later)

company = ask(businesses_create.sync, client=books, body=BusinessInput(name="By a client", base_currency="CLF"))
assert company.success
own = company.data.id

walker = PartyInput(name="Walker", code="W-0", is_customer=True, credit_limit="12345678901234.5678")
party = ask(parties_create.sync, own, client=books, body=walker).data
assert party.credit_limit == "12345678901234.5678", party.credit_limit
hours = ItemInput(name="Hours", type_="service", sale_price="1234567890123.456789")
item = ask(items_create.sync, own, client=books, body=hours).data
assert item.sale_price == "1234567890123.456789", item.sale_price

line = TradeLineInput(item_id=item.id, quantity="3", unit_price="4115226300411.5226")
ordered = SalesOrderInput(date=date(2026, 3, 2), party_id=party.id, lines=[line])
order = ask(sales_orders_create.sync, own, client=books, body=ordered).data
billed = ConversionInput(date=date(2026, 3, 3))
invoice = ask(sales_orders_invoice.sync, own, order.id, client=books, body=billed).data
(bank,) = each(accounts_list.sync, business_id=own, client=books, code="1010")
settles = AllocationInput(target_id=invoice.id, amount=invoice.total)
money = ReceiptInput(
    date=date(2026, 3, 4), party_id=party.id, account_id=bank.id, amount=invoice.total, allocations=[settles]
)
ask(receipts_create.sync, own, client=books, body=money)
paid = ask(sales_invoices_get.sync, own, invoice.id, client=books).data
assert (paid.status, paid.total, paid.balance_due) == ("paid", "12345678901234.5678", "0.0000"), paid
trial = ask(reports_trial_balance.sync, own, client=books, to=date(2026, 12, 31)).data
assert trial.totals.closing_debit == trial.totals.closing_credit == "12345678901234.5678", trial.totals

for nth in range(1, 7):
    more = PartyInput(name=f"Walker {nth}", code=f"W-{nth}", is_customer=nth % 2 == 0, is_supplier=nth % 2 == 1)
    ask(parties_create.sync, own, client=books, body=more)
walked = each(
    parties_list.sync, business_id=own, client=books, q="walker", is_customer=True, sort="-code", page_size=2
)
assert [one.code for one in walked] == ["W-6", "W-4", "W-2", "W-0"]

nameless = PartyInput(name="", is_customer=True)
unnamed = refused(400, "validation_failed", lambda: parties_create.sync(own, client=books, body=nameless))
assert list(unnamed.errors) == ["name"] and unnamed.request_id, unnamed.errors
wrong = connect_to_a(URL, user=USER, password="wrong")
refused(401, "unauthenticated", lambda: profile_get.sync(client=wrong))
refused(404, "not_found", lambda: parties_get.sync(own, "nonsense", client=books))
refused(409, "duplicate", lambda: parties_create.sync(own, client=books, body=walker))
refused(
    412,
    "precondition_failed",
    lambda: parties_update.sync(own, party.id, client=books, body=walker, if_match='"another"'),
)
scopes = [GrantInput(resource="party", actions=["view"])]
made = ask(api_keys_create.sync, own, client=books, body=ApiKeyInput(name="Shop", scopes=scopes)).data
shop = connect_to_a(URL, key=made.secret)
assert len(list(each(parties_list.sync, business_id=own, client=shop))) == 7
refused(403, "forbidden", lambda: items_create.sync(own, client=shop, body=hours))

ask(profile_log_out.sync, client=books)


def sessions() -> list[str]:
    return [one.id for one in ask(sessions_get.sync, client=books).data.items if one.current]


before = sessions()
assert before and sessions() == before
later.by += 59.5 * 60
assert sessions() != before

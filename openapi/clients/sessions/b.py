"""A session of the package `duet-client` in dialect B."""

import asyncio
import time
from datetime import date

from asked import LOSSY, PASSWORD, USER, Later, refused
from duet_client import DuetError, ask, connect, each
from duet_client.b.api.api_keys import api_keys_create
from duet_client.b.api.businesses import businesses_create
from duet_client.b.api.chart_of_accounts import accounts_list
from duet_client.b.api.items import items_create, items_get
from duet_client.b.api.parties import parties_create, parties_get, parties_list, parties_update
from duet_client.b.api.receipts import receipts_create
from duet_client.b.api.reports import reports_trial_balance
from duet_client.b.api.sales_invoices import sales_invoices_get
from duet_client.b.api.sales_orders import sales_orders_create, sales_orders_invoice
from duet_client.b.api.your_account import profile_get, profile_log_out
from duet_client.b.api.your_sessions import sessions_get
from duet_client.b.models import (
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

URL = f"{LOSSY}/b/api"
later = Later(time.monotonic)

# A currency with four places, and figures that no binary float holds.
duet = connect(URL, user=USER, password=PASSWORD)
company = ask(businesses_create.sync, client=duet, body=BusinessInput(name="By a client", base_currency="CLF"))
books = connect(URL, user=USER, password=PASSWORD, business=company.id, now=later)

walker = PartyInput(name="Walker", code="W-0", is_customer=True, credit_limit="12345678901234.5678")
party = ask(parties_create.sync, client=books, body=walker)
limit: str | None = party.credit_limit
assert limit == "12345678901234.5678", limit
hours = ItemInput(name="Hours", type_="service", sale_price="1234567890123.456789")
item = ask(items_create.sync, client=books, body=hours)
assert ask(items_get.sync, item.id, client=books).sale_price == "1234567890123.456789"

# From an order to the money.
line = TradeLineInput(item_id=item.id, quantity="3", unit_price="4115226300411.5226")
ordered = SalesOrderInput(date=date(2026, 3, 2), party_id=party.id, lines=[line])
order = ask(sales_orders_create.sync, client=books, body=ordered)
assert order.total == "12345678901234.5678", order.total
billed = ConversionInput(date=date(2026, 3, 3))
invoice = ask(sales_orders_invoice.sync, order.id, client=books, body=billed)
(bank,) = each(accounts_list.sync, client=books, code="1010")
settles = AllocationInput(target_id=invoice.id, amount=invoice.total)
money = ReceiptInput(
    date=date(2026, 3, 4), party_id=party.id, account_id=bank.id, amount=invoice.total, allocations=[settles]
)
receipt = ask(receipts_create.sync, client=books, body=money)
assert receipt.amount == "12345678901234.5678", receipt.amount
paid = ask(sales_invoices_get.sync, invoice.id, client=books)
assert (paid.status, paid.balance_due) == ("paid", "0.0000"), paid
trial = ask(reports_trial_balance.sync, client=books, to=date(2026, 12, 31))
assert trial.totals.closing_debit == trial.totals.closing_credit == "12345678901234.5678", trial.totals

# A walk along a list.
for nth in range(1, 7):
    more = PartyInput(name=f"Walker {nth}", code=f"W-{nth}", is_customer=nth % 2 == 0, is_supplier=nth % 2 == 1)
    ask(parties_create.sync, client=books, body=more)
walked = each(parties_list.sync, client=books, q="walker", is_customer=True, sort="-code", page_size=2)
assert [one.code for one in walked] == ["W-6", "W-4", "W-2", "W-0"]

# Each kind of refusal.
nameless = PartyInput(name="", is_customer=True)
unnamed = refused(400, "validation_failed", lambda: parties_create.sync(client=books, body=nameless))
assert list(unnamed.errors) == ["name"] and unnamed.request_id, unnamed.errors
wrong = connect(URL, user=USER, password="wrong")
refused(401, "unauthenticated", lambda: profile_get.sync(client=wrong))
refused(404, "not_found", lambda: parties_get.sync("nonsense", client=books))
taken = refused(409, "duplicate", lambda: parties_create.sync(client=books, body=walker))
assert list(taken.errors) == ["code"], taken.errors
refused(
    412, "precondition_failed", lambda: parties_update.sync(party.id, client=books, body=walker, if_match='"another"')
)
once = PartyInput(name="Once", is_customer=True)
first = ask(parties_create.sync, client=books, body=once, idempotency_key="shop-4711")
again = ask(parties_create.sync, client=books, body=once, idempotency_key="shop-4711")
assert first.id == again.id
twice = PartyInput(name="Twice", is_customer=True)
refused(
    422,
    "idempotency_mismatch",
    lambda: parties_create.sync(client=books, body=twice, idempotency_key="shop-4711"),
)

# A key that may only look.
scopes = [GrantInput(resource="party", actions=["view"])]
made = ask(api_keys_create.sync, client=books, body=ApiKeyInput(name="Shop", scopes=scopes))
shop = connect(URL, key=made.secret, business=company.id)
assert len(list(each(parties_list.sync, client=shop))) == 8
refused(403, "forbidden", lambda: items_create.sync(client=shop, body=hours))

# An answer with its headers, for the next change.
read = parties_get.sync_detailed(party.id, client=books)
runner = PartyInput(name="Runner", code="W-0", is_customer=True)
changed = ask(parties_update.sync, party.id, client=books, body=runner, if_match=read.headers["ETag"])
assert changed.name == "Runner"


# Whoever awaits does so by the same session.
async def awaited() -> str:
    found = await parties_get.asyncio(party.id, client=books)
    assert found is not None
    more = await parties_create.asyncio(client=books, body=PartyInput(name="Awaited", is_customer=True))
    assert more is not None and more.name == "Awaited"
    return found.name


assert asyncio.run(awaited()) == "Runner"
# A loop that is over takes its connections along.
assert asyncio.run(awaited()) == "Runner"

# Its session ends, and another one begins; one that would end soon is not waited for.
ask(profile_log_out.sync, client=books)
assert ask(profile_get.sync, client=books).email == USER


def sessions() -> list[str]:
    return [one.id for one in ask(sessions_get.sync, client=books).items if one.current]


before = sessions()
assert before and sessions() == before
later.by += 59.5 * 60
assert sessions() != before

# Nothing is waited for that takes too long, and nobody there is a failure like any other.
nobody = connect(URL, user="nobody@example.test", password="wrong", longest_wait=0)


def guess() -> DuetError:
    try:
        profile_get.sync(client=nobody)
    except DuetError as failure:
        return failure
    raise AssertionError("nobody is somebody")


guesses = [guess() for _ in range(12)]
assert guesses[0].code == "unauthenticated", guesses[0]
assert (guesses[-1].status, guesses[-1].code) == (429, "rate_limited") and guesses[-1].retry_after, guesses[-1]
away = connect("http://127.0.0.1:1/b/api", user=USER, password=PASSWORD, attempts=2)
refused(0, "unreachable", lambda: profile_get.sync(client=away))

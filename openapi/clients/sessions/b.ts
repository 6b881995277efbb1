/** A session of the package `@duet/client` in dialect B. */

import assert from "node:assert/strict";
import { duet, type Schemas } from "@duet/client";
import { all, asked, failure, refused } from "./asked.js";

const { user, password } = asked;
const url = `${asked.lossy}/b/api`;
let later = 0;
const who = { url, user, password, now: () => Date.now() + later };

// A currency with four places, and figures that no binary float holds.
const company = await duet(who).post("/businesses", { body: { name: "By a client", baseCurrency: "CLF" } });
const business = company.id;
const books = duet({ ...who, business });

const body: Schemas["PartyInput"] = { name: "Walker", code: "W-0", isCustomer: true, creditLimit: "12345678901234.5678" };
const party = await books.post("/parties", { body });
const limit: string | null = party.creditLimit;
assert.equal(limit, "12345678901234.5678");
const item = await books.post("/items", {
  body: { name: "Hours", type: "service", salePrice: "1234567890123.456789" },
});
assert.equal((await books.get("/items/{id}", { params: { path: { id: item.id } } })).salePrice, "1234567890123.456789");

// From an order to the money.
const line = { itemId: item.id, quantity: "3", unitPrice: "4115226300411.5226" };
const order = await books.post("/sales-orders", { body: { date: "2026-03-02", partyId: party.id, lines: [line] } });
assert.equal(order.total, "12345678901234.5678");
const invoice = await books.post("/sales-orders/{id}/invoices", {
  params: { path: { id: order.id } },
  body: { date: "2026-03-03" },
});
const [bank] = await all(books.each("/accounts", { params: { query: { code: "1010" } } }));
assert.ok(bank);
const receipt = await books.post("/receipts", {
  body: {
    date: "2026-03-04",
    partyId: party.id,
    accountId: bank.id,
    amount: invoice.total,
    allocations: [{ targetId: invoice.id, amount: invoice.total }],
  },
});
assert.equal(receipt.amount, "12345678901234.5678");
const paid = await books.get("/sales-invoices/{id}", { params: { path: { id: invoice.id } } });
assert.deepEqual([paid.status, paid.balanceDue], ["paid", "0.0000"]);
const trial = await books.get("/reports/trial-balance", { params: { query: { to: "2026-12-31" } } });
const { closingDebit, closingCredit } = trial.totals;
assert.deepEqual([closingDebit, closingCredit], ["12345678901234.5678", "12345678901234.5678"]);
const sheet = await books.get("/reports/trial-balance.csv", {
  params: { query: { to: "2026-12-31" } },
  parseAs: "text",
});
assert.match(sheet, /12345678901234\.5678/);

// A walk along a list.
for (let nth = 1; nth <= 6; nth += 1) {
  const isCustomer = nth % 2 === 0;
  await books.post("/parties", {
    body: { name: `Walker ${nth}`, code: `W-${nth}`, isCustomer, isSupplier: !isCustomer },
  });
}
const customers = { q: "walker", isCustomer: true, status: ["active" as const], sort: "-code", pageSize: 2 };
const codes = (await all(books.each("/parties", { params: { query: customers } }))).map((one) => one.code);
assert.deepEqual(codes, ["W-6", "W-4", "W-2", "W-0"]);

// Each kind of refusal.
const unnamed = await refused(400, "validation_failed", books.post("/parties", { body: { name: "", isCustomer: true } }));
assert.deepEqual(Object.keys(unnamed.errors), ["name"]);
assert.ok(unnamed.requestId);
await refused(401, "unauthenticated", duet({ ...who, password: "wrong" }).get("/auth/me"));
await refused(404, "not_found", books.get("/parties/{id}", { params: { path: { id: "nonsense" } } }));
const taken = await refused(409, "duplicate", books.post("/parties", { body: { ...body, name: "Another" } }));
assert.deepEqual(Object.keys(taken.errors), ["code"]);
const other = { params: { path: { id: party.id }, header: { "If-Match": '"another"' } }, body };
await refused(412, "precondition_failed", books.put("/parties/{id}", other));
const mine = { header: { "Idempotency-Key": "shop-4711" } };
const first = await books.post("/parties", { params: mine, body: { name: "Once", isCustomer: true } });
const again = await books.post("/parties", { params: mine, body: { name: "Once", isCustomer: true } });
assert.equal(first.id, again.id);
const second = books.post("/parties", { params: mine, body: { name: "Twice", isCustomer: true } });
await refused(422, "idempotency_mismatch", second);

// A key that may only look.
const scopes: Schemas["GrantInput"][] = [{ resource: "party", actions: ["view"] }];
const { secret } = await books.post("/api-keys", { body: { name: "Shop", scopes } });
assert.ok(secret);
const shop = duet({ url, business, key: secret });
assert.equal((await all(shop.each("/parties"))).length, 8);
await refused(403, "forbidden", shop.post("/items", { body: { name: "Hours", type: "service" } }));

// An answer with its headers, for the next change.
const { response } = await books.raw.GET("/parties/{id}", { params: { path: { id: party.id } } });
const tag = response.headers.get("ETag") ?? "";
const changed = { params: { path: { id: party.id }, header: { "If-Match": tag } }, body: { ...body, name: "Runner" } };
assert.equal((await books.put("/parties/{id}", changed)).name, "Runner");

// Its session ends, and another one begins; one that would end soon is not waited for.
await books.post("/auth/me/logout");
assert.equal((await books.get("/auth/me")).email, user);
const sessions = async () => (await books.get("/auth/me/sessions")).items.filter((one) => one.current).map((one) => one.id);
const before = await sessions();
assert.deepEqual(await sessions(), before);
later += 59.5 * 60 * 1000;
assert.notDeepEqual(await sessions(), before);

// What was just given is used, even where the clock runs away.
let runaway = 0;
const hasty = duet({ ...who, now: () => (runaway += 1e9) });
assert.equal((await hasty.get("/auth/me")).email, user);

// Nothing is waited for that takes too long, and nobody there is a failure like any other.
const nobody = { ...who, user: "nobody@example.test", password: "wrong", longestWait: 0 };
let guess = await refused(401, "unauthenticated", duet(nobody).get("/auth/me"));
for (let nth = 0; nth < 12 && guess.status === 401; nth += 1) {
  guess = await failure(duet(nobody).get("/auth/me"));
}
assert.deepEqual([guess.status, guess.code], [429, "rate_limited"]);
assert.ok((guess.retryAfter ?? 0) > 0);
await refused(0, "unreachable", duet({ ...who, url: "http://127.0.0.1:1/b/api", attempts: 2 }).get("/auth/me"));

/** A session of the package `@duet/client` in dialect A: the same, with the company in the path and answers in an envelope. */

import assert from "node:assert/strict";
import { duet, type Schemas } from "@duet/client/a";
import { all, asked, failure, refused } from "./asked.js";

const { user, password } = asked;
const url = `${asked.lossy}/a/api`;
let later = 0;
const books = duet({ url, user, password, now: () => Date.now() + later });

const company = await books.post("/Businesses", { body: { name: "By a client", baseCurrency: "CLF" } });
assert.equal(company.success, true);
const businessId = company.data.id;
const path = { businessId };
const of = (record: { data: { id: string } }) => ({ path: { businessId, id: record.data.id } });

const body: Schemas["PartyInput"] = { name: "Walker", code: "W-0", isCustomer: true, creditLimit: "12345678901234.5678" };
const party = await books.post("/{businessId}/parties", { params: { path }, body });
const limit: string | null = party.data.creditLimit;
assert.equal(limit, "12345678901234.5678");
const item = await books.post("/{businessId}/items", {
  params: { path },
  body: { name: "Hours", type: "service", salePrice: "1234567890123.456789" },
});
assert.equal((await books.get("/{businessId}/items/{id}", { params: of(item) })).data.salePrice, "1234567890123.456789");

const line = { itemId: item.data.id, quantity: "3", unitPrice: "4115226300411.5226" };
const order = await books.post("/{businessId}/sales-orders", {
  params: { path },
  body: { date: "2026-03-02", partyId: party.data.id, lines: [line] },
});
const invoice = await books.post("/{businessId}/sales-orders/{id}/invoices", {
  params: of(order),
  body: { date: "2026-03-03" },
});
const query = { code: "1010" };
const [bank] = await all(books.each("/{businessId}/chart-of-accounts", { params: { path, query } }));
assert.ok(bank);
await books.post("/{businessId}/receipts", {
  params: { path },
  body: {
    date: "2026-03-04",
    partyId: party.data.id,
    accountId: bank.id,
    amount: invoice.data.total,
    allocations: [{ targetId: invoice.data.id, amount: invoice.data.total }],
  },
});
const paid = (await books.get("/{businessId}/sales/{id}", { params: of(invoice) })).data;
assert.deepEqual([paid.status, paid.total, paid.balanceDue], ["paid", "12345678901234.5678", "0.0000"]);
const trial = await books.get("/{businessId}/reports/trial-balance", { params: { path, query: { to: "2026-12-31" } } });
const { closingDebit, closingCredit } = trial.data.totals;
assert.deepEqual([closingDebit, closingCredit], ["12345678901234.5678", "12345678901234.5678"]);

for (let nth = 1; nth <= 6; nth += 1) {
  const walker = { name: `Walker ${nth}`, code: `W-${nth}`, isCustomer: nth % 2 === 0, isSupplier: nth % 2 === 1 };
  await books.post("/{businessId}/parties", { params: { path }, body: walker });
}
const customers = { q: "walker", isCustomer: true, status: ["active" as const], sort: "-code", pageSize: 2 };
const walked = await all(books.each("/{businessId}/parties", { params: { path, query: customers } }));
assert.deepEqual(walked.map((one) => one.code), ["W-6", "W-4", "W-2", "W-0"]);

const nameless = { params: { path }, body: { name: "", isCustomer: true } };
const unnamed = await refused(400, "validation_failed", books.post("/{businessId}/parties", nameless));
assert.deepEqual(Object.keys(unnamed.errors), ["name"]);
await refused(401, "unauthenticated", duet({ url, user, password: "wrong" }).get("/Users/me"));
const nonsense = { params: { path: { businessId, id: "nonsense" } } };
await refused(404, "not_found", books.get("/{businessId}/parties/{id}", nonsense));
const taken = { params: { path }, body: { ...body, name: "Another" } };
await refused(409, "duplicate", books.post("/{businessId}/parties", taken));
const other = { params: { ...of(party), header: { "If-Match": '"another"' } }, body };
await refused(412, "precondition_failed", books.put("/{businessId}/parties/{id}", other));

const scopes: Schemas["GrantInput"][] = [{ resource: "party", actions: ["view"] }];
const made = await books.post("/{businessId}/api-keys", { params: { path }, body: { name: "Shop", scopes } });
const shop = duet({ url, key: made.data.secret ?? "" });
assert.equal((await all(shop.each("/{businessId}/parties", { params: { path } }))).length, 7);
const forbidden = { params: { path }, body: { name: "Hours", type: "service" as const } };
await refused(403, "forbidden", shop.post("/{businessId}/items", forbidden));

await books.post("/Users/me/logout");
const sessions = async () => (await books.get("/Users/me/sessions")).data.items.filter((one) => one.current)[0]?.id;
const before = await sessions();
assert.ok(before);
later += 59.5 * 60 * 1000;
assert.notEqual(await sessions(), before);

const nobody = { url, user: "nobody else", password: "wrong", longestWait: 0 };
let guess = await refused(401, "unauthenticated", duet(nobody).get("/Users/me"));
for (let nth = 0; nth < 12 && guess.status === 401; nth += 1) {
  guess = await failure(duet(nobody).get("/Users/me"));
}
assert.deepEqual([guess.status, guess.code], [429, "rate_limited"]);

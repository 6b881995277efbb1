/** A session of clients that another generator made of the documents as they are, in both dialects. */

import assert from "node:assert/strict";
import * as A from "./a";
import * as B from "./b";

const { lossy: server, user, password } = JSON.parse(process.argv[2] ?? "") as Record<"lossy" | "user" | "password", string>;

/** Holds that something fails so: by its status, and by what its body says. */
async function refused(status: number, said: string, asking: Promise<unknown>): Promise<void> {
  const failure: unknown = await asking.then(() => assert.fail(`${status} was not refused`), (failure) => failure);
  assert.ok(failure instanceof A.ApiError || failure instanceof B.ApiError, String(failure));
  assert.equal(failure.status, status);
  assert.match(JSON.stringify(failure.body), new RegExp(said));
}

async function speakB(): Promise<void> {
  B.OpenAPI.BASE = `${server}/b/api`;
  await refused(401, "title", B.YourAccountService.profileGet({}));
  await refused(401, "title", B.AuthenticationService.login({ requestBody: { email: user, password: "wrong" } }));
  const { token } = await B.AuthenticationService.login({ requestBody: { email: user, password } });
  B.OpenAPI.TOKEN = token;
  const company = await B.BusinessesService.businessesCreate({ requestBody: { name: "Of B", baseCurrency: "EUR" } });
  B.OpenAPI.HEADERS = { "X-Business-Id": company.id };
  const party = await B.PartiesService.partiesCreate({ requestBody: { name: "Walker", code: "W-0", isCustomer: true } });
  const item = await B.ItemsService.itemsCreate({ requestBody: { name: "Hours", type: "service", salePrice: 18.5 } });
  const order = await B.SalesOrdersService.salesOrdersCreate({
    requestBody: { date: "2026-03-02", partyId: party.id, lines: [{ itemId: item.id, quantity: 3 }] },
  });
  const billed = { id: order.id, requestBody: { date: "2026-03-03" } };
  const invoice = await B.SalesOrdersService.salesOrdersInvoice(billed);
  const [bank] = (await B.ChartOfAccountsService.accountsList({ code: "1010" })).items;
  assert.ok(bank);
  const allocations = [{ targetId: invoice.id, amount: invoice.total }];
  const money = { date: "2026-03-04", partyId: party.id, accountId: bank.id, amount: invoice.total, allocations };
  await B.ReceiptsService.receiptsCreate({ requestBody: money });
  const paid = await B.SalesInvoicesService.salesInvoicesGet({ id: invoice.id });
  assert.deepEqual([paid.status, paid.total, paid.balanceDue], ["paid", 55.5, 0]);
  for (const code of ["W-1", "W-2"]) {
    await B.PartiesService.partiesCreate({ requestBody: { name: "Walker", code, isCustomer: true } });
  }
  const codes: (string | null)[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: B.PartyPage = await B.PartiesService.partiesList({ cursor, pageSize: 2, sort: "code", status: ["active"] });
    codes.push(...page.items.map((one) => one.code));
    cursor = page.pagination.nextCursor ?? null;
  }
  assert.deepEqual(codes, ["W-0", "W-1", "W-2"]);
  const trial = await B.ReportsService.reportsTrialBalance({ to: "2026-12-31" });
  assert.equal(trial.totals.closingDebit, 55.5);
  await refused(400, "name", B.PartiesService.partiesCreate({ requestBody: { name: "", isCustomer: true } }));
  await refused(404, "title", B.PartiesService.partiesGet({ id: "nonsense" }));
  const again = { name: "Another", code: "W-0", isCustomer: true };
  await refused(409, "code", B.PartiesService.partiesCreate({ requestBody: again }));
  const other = { id: party.id, ifMatch: '"another"', requestBody: again };
  await refused(412, "title", B.PartiesService.partiesUpdate(other));
}

async function speakA(): Promise<void> {
  A.OpenAPI.BASE = `${server}/a/api`;
  const login = await A.AuthenticationService.login({ requestBody: { credential: user, password } });
  A.OpenAPI.TOKEN = login.data.accessToken;
  const company = await A.BusinessesService.businessesCreate({ requestBody: { name: "Of A", baseCurrency: "EUR" } });
  const businessId = company.data.id;
  const body = { name: "Walker", code: "W-0", isCustomer: true };
  const party = (await A.PartiesService.partiesCreate({ businessId, requestBody: body })).data;
  const lines = [{ accountId: undefined, description: "Hours", quantity: 3, unitPrice: 18.5 }];
  const requestBody = { date: "2026-03-02", partyId: party.id, lines };
  const invoice = (await A.SalesInvoicesService.salesInvoicesCreate({ businessId, requestBody })).data;
  assert.equal(invoice.balanceDue, 55.5);
  const listed = await A.SalesInvoicesService.salesInvoicesList({ businessId, cursor: "", status: ["open"] });
  assert.equal(listed.data.items.length, 1);
  await refused(409, "code", A.PartiesService.partiesCreate({ businessId, requestBody: body }));
  await refused(404, '"success":false', A.PartiesService.partiesGet({ businessId, id: "nonsense" }));
}

speakB().then(speakA).catch((failure: unknown) => {
  console.error(failure);
  process.exitCode = 1;
});

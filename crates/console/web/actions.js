// What may be done with a record next: each asked once more, and shown beforehand what it does.

import { deeds } from "./admin.js";
import { ask, list, newKey } from "./api.js";
import { dialog, fault, tell } from "./dialog.js";
import { h, replace } from "./dom.js";
import { showOnce } from "./edit.js";
import { amount, date, inDays, money, shown, today, typed } from "./format.js";
import { currency, may, noun } from "./frame.js";
import { called } from "./names.js";
import { postings } from "./parts.js";
import { RESOURCES } from "./resources.js";
import { go, path, withQuery } from "./route.js";
import { operation } from "./schema.js";
import { label, t } from "./texts.js";

/** Makes the next document of this one. */
const DERIVE = {
  deliver: "Make a delivery note",
  receive: "Make a receipt note",
  invoice: "Make an invoice",
  return: "Take goods back",
  credit: "Create credit note",
};
/** What it is called where another kind of document comes of it. */
const DERIVE_OF = {
  "receipt-notes": { invoice: "Enter the bill" },
  "purchase-orders": { invoice: "Enter the bill" },
  "purchase-invoices": { credit: "Create debit note" },
};
const derived = (segment, verb) => DERIVE_OF[segment]?.[verb] ?? DERIVE[verb];
const PLAIN = { post: "Post", close: "Close", reopen: "Open again", copy: "Copy", void: "Void", cancel: "Cancel the order" };
/** What the same word is called elsewhere. */
const PLAIN_OF = {
  "fiscal-years": { close: "Close the year" },
  "sales-orders": { close: "Close the order" },
  "purchase-orders": { close: "Close the purchase order", cancel: "Cancel the purchase order" },
};
const named = (segment, verb) => PLAIN_OF[segment]?.[verb] ?? PLAIN[verb];
const ABOUT = {
  post: "It enters the books. What it books stands below.",
  close: "What is left of it is given up.",
  reopen: "It is open again, with what is left of it.",
  copy: "A draft with the same fields is made.",
  void: "It is taken back by a reversal; its number stays, and so does its trace in the books.",
  cancel: "Nothing more comes of it; its number stays.",
};

/** What the same word means elsewhere. */
const ABOUT_OF = {
  "fiscal-years": {
    close: "Its earnings go to retained earnings by an entry on its last day, and nothing is booked in it any more.",
    reopen: "The closing entry is taken back, and the year can be booked in again.",
  },
};

const field = (name, title, props) =>
  h("p", { class: "field" }, h("label", { for: `act-${name}` }, title), h("input", { id: `act-${name}`, name, ...props }));

async function address(segment, verb, id) {
  const found = await operation(`${RESOURCES[segment].stem}${verb[0].toUpperCase()}${verb.slice(1)}`);
  return found?.path.replace("{id}", id) ?? null;
}

/** What an act would book, as it is answered by now; nothing where it would be refused, which is said when it is done. */
async function rehearse(to, body, place) {
  const { data } = await ask("POST", to, { query: { dryRun: "true" }, body, quiet: true }).catch(() => ({ data: {} }));
  const lines = data.postings ?? [];
  const title = t("This will book");
  replace(place, lines.length > 0 ? [h("h3", {}, title), postings(lines, currency(), title)] : []);
}

/** A plain act: what it would book is rehearsed first. */
async function plain(segment, record, etag, verb, again) {
  const to = await address(segment, verb, record.id);
  const seen = h("div", {});
  const asksWhy = verb === "void" || verb === "cancel";
  const key = newKey();
  const body = () =>
    asksWhy
      ? Object.fromEntries([...box.querySelectorAll("input")].filter((one) => one.value).map((one) => [one.name, one.value]))
      : {};
  const box = dialog({
    title: `${t(named(segment, verb))}: ${called(record, segment)}`,
    confirm: t(named(segment, verb)),
    isGrave: asksWhy,
    cancel: t("Back"),
    body: [
      h("p", {}, t(ABOUT_OF[segment]?.[verb] ?? ABOUT[verb])),
      asksWhy
        ? [
            field("date", t("On the day"), { type: "date", value: record.date > today() ? record.date : today() }),
            field("reason", t("Reason"), { type: "text", maxlength: 500 }),
          ]
        : null,
      seen,
    ],
    async act(close) {
      const { data } = await ask("POST", to, {
        body: body(),
        headers: { "Idempotency-Key": key, ...(etag ? { "If-Match": etag } : {}) },
      });
      close();
      tell(t("Done: {what}.", { what: called(data ?? record, segment) }));
      if (verb === "copy") go(path(segment, data.id, "edit"));
      else again();
      showOnce(data);
    },
  });
  if (verb === "copy") return;
  const look = () => rehearse(to, body(), seen);
  box.querySelector("[name=date]")?.addEventListener("change", look);
  look();
}

/** The next document: of each line as much as the reader says, at first all that is open. */
async function derive(segment, record, etag, verb) {
  const to = await address(segment, verb, record.id);
  if (to === null) return;
  const key = newKey();
  let offered;
  try {
    offered = (await ask("POST", to, { query: { dryRun: "true" }, body: {}, quiet: true })).data;
  } catch (error) {
    return void fault(error);
  }
  const open = new Map(offered.lines.filter((line) => line.sourceLineId).map((line) => [line.sourceLineId, line.quantity]));
  const lines = record.lines.filter((line) => open.has(line.id));
  const row = (line) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, line.description ?? t("Line {number}", { number: shown(line.lineNo) })),
      h("td", { class: "figure" }, shown(line.quantity), " ", line.unit),
      h(
        "td",
        { class: "figure" },
        h("input", {
          class: "amount",
          type: "text",
          inputmode: "decimal",
          "data-line": line.id,
          "aria-label": t("How many of {what}", { what: line.description ?? "" }),
          value: typed(open.get(line.id)),
        }),
      ),
    );
  const seen = h("div", {});
  const isDraft = h("input", { type: "checkbox", id: "act-draft", checked: offered.status === "draft" });
  const body = () => {
    const said = { date: box.querySelector("[name=date]").value, status: isDraft.checked ? "draft" : "posted" };
    const reference = box.querySelector("[name=reference]")?.value.trim();
    if (reference) said.reference = reference;
    if (lines.length > 0)
      said.lines = [...box.querySelectorAll("[data-line]")]
        .map((one) => ({ lineId: one.dataset.line, quantity: amount(one.value) }))
        .filter((one) => one.quantity !== null && String(one.quantity) !== "0");
    return said;
  };
  const box = dialog({
    title: t(derived(segment, verb)),
    wide: true,
    confirm: t(derived(segment, verb)),
    cancel: t("Back"),
    body: [
      field("date", t("Date"), { type: "date", value: offered.date }),
      verb === "invoice" && segment in DERIVE_OF ? field("reference", t("Their number"), { type: "text", maxlength: 100 }) : null,
      lines.length > 0
        ? h(
            "div",
            { class: "scroll" },
            h(
              "table",
              { class: "list" },
              h(
                "thead",
                {},
                h(
                  "tr",
                  {},
                  h("th", { scope: "col" }, t("Line")),
                  h("th", { scope: "col", class: "figure" }, t("Of")),
                  h("th", { scope: "col", class: "figure" }, t("Now")),
                ),
              ),
              h("tbody", {}, lines.map(row)),
            ),
          )
        : null,
      h("label", { class: "check" }, isDraft, t("As a draft, to be looked at before it is booked")),
      seen,
    ],
    async act(close) {
      const { data, location: made } = await ask("POST", to, {
        body: body(),
        headers: { "Idempotency-Key": key, ...(etag ? { "If-Match": etag } : {}) },
      });
      close();
      const next = made.split("/").at(-2);
      tell(t("Made: {what}.", { what: called(data, next) }));
      go(data.status === "draft" ? path(next, data.id, "edit") : path(next, data.id));
    },
  });
  const look = () => rehearse(to, body(), seen);
  box.addEventListener("change", look);
  look();
}

/** What is left of a receipt, payment or note goes to what is open. */
async function allocate(segment, record, again) {
  const items = (await list(`parties/${record.partyId}/open-items`, { pageSize: 100 })).items;
  const wanted =
    ["receipts", "debit-notes"].includes(segment) && segment === "receipts"
      ? ["salesInvoice", "debitNote"]
      : segment === "payments"
        ? ["purchaseInvoice", "creditNote"]
        : segment === "credit-notes"
          ? ["salesInvoice"]
          : ["purchaseInvoice"];
  const open = items.filter((one) => wanted.includes(one.type) && one.id !== record.id);
  const left = record.unallocatedAmount ?? record.remainingCredit;
  const row = (item) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, item.documentNumber),
      h("td", {}, date(item.dueDate)),
      h("td", { class: "figure" }, money(item.openAmount.size, item.currency)),
      h(
        "td",
        { class: "figure" },
        h("input", {
          class: "amount",
          type: "text",
          inputmode: "decimal",
          "data-target": item.id,
          "data-kind": item.type,
          "aria-label": t("Settle of {number}", { number: item.documentNumber }),
        }),
      ),
    );
  dialog({
    title: t("What it settles"),
    wide: true,
    confirm: open.length > 0 ? t("Settle") : null,
    cancel: t("Back"),
    body: [
      h("p", {}, t("Not yet used: {amount}", { amount: money(left, record.currency) })),
      open.length > 0
        ? h(
            "div",
            { class: "scroll" },
            h(
              "table",
              { class: "list" },
              h(
                "thead",
                {},
                h(
                  "tr",
                  {},
                  h("th", { scope: "col" }, t("Document")),
                  h("th", { scope: "col" }, label("dueDate")),
                  h("th", { scope: "col", class: "figure" }, t("Open")),
                  h("th", { scope: "col", class: "figure" }, t("Settles")),
                ),
              ),
              h("tbody", {}, open.map(row)),
            ),
          )
        : h("p", {}, t("Nothing of this party is open.")),
    ],
    async act(close, form) {
      for (const input of [...form.querySelectorAll("[data-target]")].filter((one) => one.value.trim() !== "")) {
        await ask("POST", `/${segment}/${record.id}/allocations`, {
          body: { targetId: input.dataset.target, targetType: input.dataset.kind, amount: amount(input.value) },
          headers: { "Idempotency-Key": newKey() },
        });
        input.value = "";
      }
      close();
      again();
    },
  });
}

function remove(segment, record, etag) {
  dialog({
    title: t("Delete {what}?", { what: called(record, segment) }),
    confirm: t("Delete"),
    isGrave: true,
    cancel: t("Back"),
    body: h("p", {}, t(
        segment === "users"
          ? "They lose access to this company; what they did stays."
          : "It is gone then; the audit log keeps what it was.",
      )),
    async act(close) {
      await ask("DELETE", `/${segment}/${record.id}`, { headers: etag ? { "If-Match": etag } : {} });
      close();
      tell(t("Deleted."));
      go(path(segment));
    },
  });
}

/** Ends an assignment; the documents stay. */
export function endAllocation(one, again) {
  dialog({
    title: t("Undo this allocation?"),
    confirm: t("Undo allocation"),
    isGrave: true,
    cancel: t("Back"),
    body: h("p", {}, t("Both documents stay; what was settled is open again.")),
    async act(close) {
      await ask("DELETE", `/allocations/${one.id}`);
      close();
      again();
    },
  });
}

/** The buttons of a record, the likeliest first. */
export async function actionsOf(segment, record, etag, again) {
  const known = RESOURCES[segment];
  const allowed = record.allowedActions ?? [];
  const button = (text, act, tone, id) =>
    h("button", { type: "button", class: tone, id, onclick: () => Promise.resolve(act()).catch(fault) }, t(text));
  const made = [];
  const open = record.balanceDue && !record.balanceDue.isZero && !["draft", "void"].includes(record.status);
  if (allowed.includes("post")) made.push(button("Post", () => plain(segment, record, etag, "post", again), "main", "act-post"));
  for (const verb of Object.keys(DERIVE))
    if (allowed.includes(verb))
      made.push(
        button(
          derived(segment, verb),
          () => derive(segment, record, etag, verb),
          made.length === 0 && verb !== "credit" && !open ? "main" : null,
          `act-${verb}`,
        ),
      );
  if (open && known.settles && may(`${noun(known.settles)}.create`)) {
    const next = withQuery(path(known.settles, "new"), {
      partyId: record.partyId,
      amount: record.balanceDue.text,
      targetId: record.id,
      currency: record.currency === currency() ? null : record.currency,
    });
    made.unshift(
      h(
        "a",
        { class: "button main", id: "act-settle", href: next },
        known.settles === "receipts" ? t("Receive payment") : t("Pay"),
      ),
    );
  }
  if (allowed.includes("allocate"))
    made.push(button("Settle", () => allocate(segment, record, again), made.length === 0 ? "main" : null, "act-allocate"));
  const canEdit = known.isDocument
    ? allowed.includes("edit")
    : may(`${noun(segment)}.edit`) && record.isSystem !== true && (await operation(`${known.stem}Update`)) !== null;
  if (canEdit)
    made.push(
      h("a", { class: "button", href: path(segment, record.id, "edit"), id: "edit", "aria-keyshortcuts": "e" }, t("Edit")),
    );
  if (segment === "fiscal-years")
    made.push(
      record.status === "closed"
        ? button("Open again", () => plain(segment, record, etag, "reopen", again), null, "act-reopen")
        : button(named(segment, "close"), () => plain(segment, record, etag, "close", again), null, "act-close"),
    );
  if (segment === "users" && record.status === "invited")
    made.push(
      button("Invite again", async () => showOnce((await ask("POST", `/users/${record.id}/invitation`, { body: {} })).data)),
    );
  if (segment === "parties") {
    const write = (to, text) => h("a", { class: "button", href: withQuery(path(to, "new"), { partyId: record.id }) }, text);
    if (record.isCustomer) made.push(write("sales-invoices", t("New invoice")), write("sales-orders", t("New order")));
    if (record.isSupplier) made.push(write("purchase-invoices", t("New bill")));
    made.push(
      h(
        "a",
        { class: "button", href: withQuery(path("reports", "party-statement"), { partyId: record.id, from: inDays(-365) }) },
        t("Statement"),
      ),
    );
  }
  const rest = ["copy", "close", "reopen", "cancel", "void"]
    .filter((verb) => allowed.includes(verb))
    .map((verb) =>
      button(
        named(segment, verb),
        () => plain(segment, record, etag, verb, again),
        verb === "void" || verb === "cancel" ? "grave-text" : null,
        `act-${verb}`,
      ),
    );
  // What is done with a webhook is done often; with a company or a party as a whole, hardly ever.
  for (const deed of deeds(segment, record, again)) (segment === "webhooks" && deed.className === "" ? made : rest).push(deed);
  const canDelete = known.isDocument
    ? allowed.includes("delete")
    : may(`${noun(segment)}.delete`) &&
      record.isSystem !== true &&
      segment !== "businesses" &&
      (await operation(`${known.stem}Delete`)) !== null;
  if (canDelete)
    rest.push(
      button(segment === "api-keys" ? "End this key" : "Delete", () => remove(segment, record, etag), "grave-text", "act-delete"),
    );
  if (rest.length > 0)
    made.push(
      h("details", { class: "menu", id: "act-more" }, h("summary", {}, t("More")), h("div", { class: "menu-body acts" }, rest)),
    );
  return made;
}

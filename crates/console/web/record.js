// A record: its fields, lines, what it led to and came from, its entries, and who did what to it.

import { deliveries } from "./admin.js";
import { ask, list } from "./api.js";
import { actionsOf } from "./actions.js";
import { endAllocation } from "./allocate.js";
import { chain } from "./chain.js";
import { unitOf } from "./currencies.js";
import { isDecimal } from "./decimal.js";
import { fault } from "./dialog.js";
import { h, replace } from "./dom.js";
import { totals } from "./edit.js";
import { money, shown, time } from "./format.js";
import { currency, may, noun } from "./frame.js";
import { called, linkTo, remember, thoughGone } from "./names.js";
import { hasPaper, paperOf } from "./paper.js";
import { badge, cell, empty, facts, heading, isOpenOfDraft, postings, section, table, trailTo, waiting } from "./parts.js";
import { RESOURCES, segmentOf, segmentOfStem } from "./resources.js";
import { path, withQuery } from "./route.js";
import { knows } from "./schema.js";
import { aboutLocks, canBeOpened } from "./sure.js";
import { label, t, word } from "./texts.js";

/** What stands elsewhere on the page, or says nothing to a reader. */
const ELSEWHERE = [
  "id",
  "version",
  "createdAt",
  "createdBy",
  "updatedAt",
  "updatedBy",
  "number",
  "status",
  "lines",
  "links",
  "allocations",
  "taxSummary",
  "allowedActions",
  "entryIds",
  "seriesId",
  "subtotal",
  "discountTotal",
  "netTotal",
  "taxTotal",
  "roundingAmount",
  "total",
  "withheldTotal",
  "baseTotal",
  "baseNetTotal",
  "baseTaxTotal",
  "partyName",
  "isOverdue",
  "daysOverdue",
  "deletedAt",
  "balanceDue",
  "baseBalanceDue",
  "permissions",
  "systemAccounts",
  "settings",
  "postings",
  "before",
  "after",
  "note",
  "problem",
  "hash",
  "previousHash",
  "components",
  "grants",
  "memberships",
  "balances",
  "rates",
  "deliveryNoteIds",
  "receiptNoteIds",
  "salesOrderId",
  "purchaseOrderId",
  "role",
  "permissionId",
  "postedAt",
  "amountPaid",
  "amountCredited",
  "updateStock",
  "isOpening",
  "pricesIncludeTax",
  "receivableAccountId",
  "payableAccountId",
  "controlAccountId",
];

/** What a line shows of itself. */
function ownOf(row, record) {
  if (row.lineType === "text") return { description: row.description };
  // The account of an item is known by the item.
  if (row.lineType && row.itemId) return { ...row, accountId: null };
  // What was typed is what was found cost, and tells nothing of what was lost; a draft is worth nothing yet.
  if (row.adjustedQuantity) {
    const isFound = !row.adjustedQuantity.isZero && !row.adjustedQuantity.isNegative;
    return { ...row, unitCost: isFound ? row.unitCost : null, value: record.status === "draft" ? null : row.value };
  }
  return row;
}

function lines(segment, record) {
  const known = RESOURCES[segment];
  // Amounts of a line are in the currency of its document, where the line does not say.
  const own = (row) => ownOf(row, record);
  const rows = (record.lines ?? record.components ?? []).map((row) => (record.currency ? { currency: record.currency, ...own(row) } : own(row)));
  if (rows.length === 0) return null;
  const wanted = [...(known.shown ?? Object.keys(rows[0])), ...(known.lineState ?? [])];
  const seen = wanted.filter((name) =>
    rows.some(
      (row) => (row[name] !== null && row[name] !== undefined && typeof (row[name] ?? "") !== "object") || isDecimal(row[name]),
    ),
  );
  if (rows[0].accountCode) return section(t("Postings"), postings(rows, currency(), t("Postings")));
  return section(record.lines ? t("Lines") : label("components"), table({ columns: seen, rows, segment, caption: t("Lines") }));
}

function allocations(segment, record, again) {
  const rows = record.allocations ?? [];
  if (rows.length === 0) return null;
  const row = (one) => {
    const isSource = one.sourceId === record.id;
    const [kind, id] = isSource ? [one.targetType, one.targetId] : [one.sourceType, one.sourceId];
    // Of what settles it is what is used up, and of what is settled, what of it is paid: each in the document's own currency.
    const value = isSource ? (one.sourceAmount ?? one.amount) : one.amount;
    const sum = money(value, record.currency ?? currency());
    const apart = may("allocation.delete")
      ? h("button", { type: "button", onclick: () => endAllocation(one, { kind, id, sum }, again).catch(fault) }, t("Undo allocation"))
      : null;
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, linkTo(segmentOf(kind), id)),
      h("td", { "data-label": label("date") }, shown(one.date)),
      h("td", { class: "figure", "data-label": label("amount") }, cell("amount", value, record, segment)),
      h("td", { class: "figure" }, apart),
    );
  };
  return section(
    t("Settlement"),
    h(
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
            h("th", { scope: "col" }, label("date")),
            h("th", { scope: "col", class: "figure" }, label("amount")),
            h("th", { scope: "col" }, h("span", { class: "unseen" }, t("Undo allocation"))),
          ),
        ),
        h("tbody", {}, rows.map(row)),
      ),
    ),
  );
}

/** The entries of the ledger that it made, reversals included. */
async function entries(place, id) {
  const { items } = await list("entries", { documentId: id, sort: "entryNumber" });
  if (items.length === 0) return;
  const entry = (one) =>
    h(
      "div",
      { class: "entry" },
      h(
        "h3",
        {},
        h("a", { href: path("entries", one.id) }, t("Entry {number}", { number: String(one.entryNumber) })),
        " ",
        h("span", { class: "quiet small" }, `${shown(one.date)} · ${word(one.kind)}`),
      ),
      postings(one.lines, currency(), t("Entry {number}", { number: String(one.entryNumber) })),
    );
  replace(place, section(t("Journal entries"), items.map(entry)));
}

const flat = (value, prefix = "") =>
  value === null || typeof value !== "object" || isDecimal(value)
    ? [[prefix, value]]
    : Object.entries(value).flatMap(([name, one]) => flat(one, prefix ? `${prefix}.${name}` : name));

/** `lines.0.unitPrice` as a person would say it. */
const inWords = (name, segment) =>
  name
    .split(".")
    .map((part) => (/^\d+$/.test(part) ? `${Number(part) + 1}:` : label(part, segment)))
    .join(" ");

const ALWAYS = ["status", "currency", "exchangeRate", "dueDate", "notes", "terms", "privateNote", "tags", "voidDate", "voidReason"];

/** Whether somebody writes it: all else follows from what is written. */
function isWritten(name, segment) {
  const known = RESOURCES[segment];
  if (!known?.main) return true;
  const [first, , inner] = name.split(".");
  if (first === (known.lineField ?? "lines")) return (known.lines ?? []).includes(inner);
  return known.main.includes(first) || ALWAYS.includes(first);
}

const NEVER = /(^|\.)id$|^(version|updatedAt|updatedBy|createdAt|createdBy)$|^(allowedActions|entryIds|links)\./;

/** What a change has changed, field by field: first what was written, and folded what follows from it. */
export function changes(record, segment) {
  if (record.problem) return h("p", { class: "small", role: "alert" }, record.problem);
  const before = new Map(record.before ? flat(record.before) : []);
  const after = new Map(record.after ? flat(record.after) : []);
  const names = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => !NEVER.test(name) && String(before.get(name) ?? "") !== String(after.get(name) ?? ""),
  );
  if (record.before === null || names.length === 0) return null;
  const told = (name, values, of) => cell(name.split(".").findLast((part) => !/^\d+$/.test(part)), values.get(name), of ?? {}, segment);
  const row = (name) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, inWords(name, segment)),
      h("td", {}, told(name, before, record.before)),
      h("td", {}, told(name, after, record.after)),
    );
  const drawn = (some) =>
    h(
      "table",
      { class: "list small" },
      h("caption", { class: "unseen" }, t("What was changed")),
      h("thead", {}, h("tr", {}, [t("Field"), t("Before"), t("After")].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, some.slice(0, 40).map(row)),
    );
  const [written, rest] = [names.filter((name) => isWritten(name, segment)), names.filter((name) => !isWritten(name, segment))];
  return [
    written.length > 0 ? drawn(written) : null,
    rest.length > 0
      ? h("details", { class: "small", open: written.length === 0 }, h("summary", {}, t("What follows from it")), drawn(rest))
      : null,
  ];
}

function history(segment, id) {
  const place = h("div", {});
  const box = h("details", { class: "card", id: "history" }, h("summary", {}, h("h2", {}, t("History"))), place);
  box.addEventListener("toggle", async () => {
    if (!box.open || place.firstChild) return;
    replace(place, waiting());
    const { items } = await list(`${segment}/${id}/history`, { pageSize: 100 }).catch((error) => ({ items: [], error }));
    const one = (record) =>
      h(
        "li",
        {},
        h(
          "p",
          {},
          badge(record.action),
          " ",
          h("time", { datetime: record.at }, time(record.at)),
          " · ",
          record.actor.userId ? linkTo("users", record.actor.userId) : t("The server"),
          record.dialect ? h("span", { class: "quiet small" }, ` · ${t("Dialect {letter}", { letter: record.dialect })}`) : null,
        ),
        changes(record, segment),
      );
    replace(
      place,
      items.length > 0 ? h("ol", { class: "history" }, items.toReversed().map(one)) : empty(t("Nothing is known of it.")),
    );
  });
  return box;
}

/** The latest documents of a party, and entries of an account, below the record. */
async function following(segment, record, again) {
  if (segment === "webhooks") return [await deliveries(record, again).catch(() => null)];
  const some = async (other, query, title) => {
    const { items, total } = await list(other, { ...query, pageSize: 8, sort: RESOURCES[other].sort }, { quiet: true }).catch(
      () => ({ items: [], total: 0 }),
    );
    if (items.length === 0) return null;
    const columns = RESOURCES[other].columns.filter((name) => name !== "partyName");
    return section(
      title,
      table({ columns, rows: items, segment: other, caption: title, rowLink: (one) => path(other, one.id) }),
      total > items.length ? h("a", { href: withQuery(path(other), query) }, t("All {count}", { count: total })) : null,
    );
  };
  if (segment === "parties")
    return [
      record.isCustomer ? await some("sales-invoices", { partyId: record.id }, label("salesInvoices")) : null,
      record.isSupplier ? await some("purchase-invoices", { partyId: record.id }, label("purchaseInvoices")) : null,
    ];
  if (segment === "accounts" && !record.isGroup)
    return [
      await some("entries", { accountId: record.id }, t("Latest entries")),
      h(
        "p",
        {},
        h(
          "a",
          { href: withQuery(path("reports", "general-ledger"), { accountId: record.id }) },
          t("All of it, in the general ledger"),
        ),
      ),
    ];
  if (segment === "fiscal-years" && record.status === "closed")
    return [await some("entries", { kind: "yearEnd", dateFrom: record.end, dateTo: record.end }, t("The closing entry"))];
  if (segment === "items" && record.type === "stock")
    return [
      h(
        "p",
        {},
        h(
          "a",
          { href: withQuery(path("reports", "stock-ledger"), { itemId: record.id }) },
          t("What came and went, in the stock ledger"),
        ),
      ),
    ];
  return [];
}

const FIGURES = [
  "balanceDue",
  "remainingCredit",
  "unallocatedAmount",
  "receivableBalance",
  "payableBalance",
  "overdueAmount",
  "balance",
  "baseBalance",
  "quantityOnHand",
  "quantityAvailable",
  "stockValue",
  "averageCost",
];

function figures(record) {
  // An account in the company's own currency has one balance.
  const isTold = (name) => name !== "balance" || (record.currency ?? currency()) !== currency();
  const seen = FIGURES.filter((name) => isDecimal(record[name]) && isTold(name) && !isOpenOfDraft(name, record));
  if (seen.length === 0) return null;
  return h(
    "dl",
    { class: "figures" },
    seen.map((name) =>
      h(
        "div",
        {},
        h("dt", {}, label(name)),
        h("dd", {}, /quantity/.test(name) ? shown(record[name]) : money(record[name], unitOf(name, record))),
      ),
    ),
  );
}

const nested = (record) => {
  const parts = [
    ["grants", ["resource", "actions"]],
    ["memberships", ["permissionId", "role"]],
    ["balances", ["currency", "receivable", "payable"]],
    ["members", null],
    ["exceptions", null],
  ];
  return parts
    .filter(([name]) => Array.isArray(record[name]) && record[name].length > 0 && typeof record[name][0] === "object")
    .map(([name, columns]) =>
      section(
        label(name),
        table({ columns: columns ?? Object.keys(record[name][0]), rows: record[name], segment: name, caption: label(name) }),
      ),
    );
};

export async function recordView(main, segment, id) {
  const known = RESOURCES[segment];
  replace(main, waiting());
  const again = () => recordView(main, segment, id);
  const there = `/${segment}/${id}`;
  const { data: record, etag } = await ask("GET", there).catch((error) => {
    if (error.status !== 404 || thoughGone(segment) === null) throw error;
    return ask("GET", there, { query: thoughGone(segment) });
  });
  remember(segment, record);
  const unit = record.currency ?? currency();
  const isGone = Boolean(record.deletedAt);
  const actions = isGone ? [] : await actionsOf(segment, record, etag, again);
  // Before what is hardly ever done.
  if (hasPaper(segment) && !isGone) actions.splice(actions.at(-1)?.id === "act-more" ? -1 : actions.length, 0, paperOf(main, segment, record));
  const mark = isGone
    ? badge("deleted")
    : record.status
      ? badge(record.status, record.isOverdue === true && record.status !== "paid", segment)
      : null;
  const under = [
    record.partyName,
    record.date ? shown(record.date) : null,
    record.isOverdue && record.status !== "paid" ? t("{days} days overdue", { days: String(record.daysOverdue) }) : null,
  ]
    .filter(Boolean)
    .join(" · ");
  const names = Object.keys(record).filter(
    (name) => !ELSEWHERE.includes(name) && !FIGURES.includes(name) && !(isDecimal(record[name]) && record[name].isZero),
  );
  const first = ["partyId", ...(known.main ?? [])];
  names.sort((a, b) => (first.includes(b) ? 1 : 0) - (first.includes(a) ? 1 : 0));
  const entered = h("div", { class: "postings-box" });
  const settings = record.settings
    ? section(label("settings"), facts(record.settings, Object.keys(record.settings), segment))
    : null;
  const sums = record.total
    ? section(
        t("Total"),
        totals(record, unit),
        record.currency && record.currency !== currency()
          ? h(
              "p",
              { class: "quiet small" },
              t("In {currency}: {amount}", { currency: currency(), amount: money(record.baseTotal, currency()) }),
            )
          : null,
      )
    : null;
  const made = h(
    "p",
    { class: "quiet small made" },
    t("Version {version}", { version: String(record.version ?? 1) }),
    record.createdAt ? [" · ", t("made {when}", { when: time(record.createdAt) })] : null,
    record.createdBy ? [" · ", linkTo("users", record.createdBy)] : null,
    record.updatedAt && record.updatedAt !== record.createdAt
      ? [" · ", t("changed {when}", { when: time(record.updatedAt) })]
      : null,
    isGone ? [" · ", t("deleted {when}", { when: time(record.deletedAt) })] : null,
  );
  // Of what was deleted only what it was is left.
  const change = record.after || record.before
    ? section(
        t("What was changed"),
        changes(record, segmentOfStem(record.resource)) ??
          h(
            "pre",
            {},
            JSON.stringify(record.after ?? record.before, (_, value) => (isDecimal(value) ? value.text : value), 1),
          ),
      )
    : null;
  const rights = segment === "api-keys" && !record.scopes?.length ? h("p", { class: "note" }, t("This key may do all that its user may.")) : null;
  const opens = segment === "locks" && canBeOpened(record) ? h("p", { class: "note" }, aboutLocks()) : null;
  const aside = [figures(record), sums, chain(noun(segment), record)].filter(Boolean);
  const hasHistory = await knows(`${known.stem}History`);
  const below = await following(segment, record, again);
  replace(
    main,
    heading(called(record, segment), { actions, badge: mark, under, trail: trailTo(segment) }),
    h(
      "div",
      { class: aside.length > 0 ? "record" : "record single" },
      h(
        "div",
        { class: "record-main" },
        section(t("Details"), facts(record, names, segment), rights, opens, made),
        lines(segment, record),
        allocations(segment, record, again),
        nested(record),
        settings,
        change,
        below,
        entered,
        hasHistory ? history(segment, id) : null,
      ),
      aside.length > 0 ? h("aside", { class: "record-side" }, aside) : null,
    ),
  );
  if (record.entryIds?.length > 0 && may("entry.view")) await entries(entered, id).catch(() => null);
}

// Small parts that several views show alike.

import { howFar, list } from "./api.js";
import { unitBeside } from "./currencies.js";
import { isDecimal, sum } from "./decimal.js";
import { h } from "./dom.js";
import { addressLines, figure, money, shown } from "./format.js";
import { business } from "./frame.js";
import { headed } from "./heads.js";
import { linkTo } from "./names.js";
import { RESOURCES, leadsTo, segmentOf, segmentOfStem } from "./resources.js";
import { here, path } from "./route.js";
import { label, t, word } from "./texts.js";

const GOOD = ["paid", "posted", "active", "fulfilled", "received", "invoiced", "billed", "closed", "allocated", "created", "settled"];
const WAITS = [
  "open",
  "partiallyPaid",
  "partiallyFulfilled",
  "partiallyReceived",
  "partiallyInvoiced",
  "partiallyBilled",
  "partiallyAllocated",
  "invited",
  "softClosed",
  "updated",
  "touched",
];
const ENDED = ["void", "cancelled", "archived", "disabled", "deleted", "voided", "blocked"];

export const badge = (status, isLate = status === "overdue", segment = null) => {
  const tone = isLate
    ? "late"
    : GOOD.includes(status)
      ? "good"
      : WAITS.includes(status)
        ? "waits"
        : ENDED.includes(status)
          ? "ended"
          : "plain";
  if (status === "active") return h("span", { class: "quiet" }, word(status));
  return h("span", { class: `badge ${tone}` }, isLate ? t("Overdue") : word(status, segment));
};

/** The heading of a view, where the reader begins; what can be done stands beside it. */
export function heading(title, { actions = [], under = null, badge: mark = null, trail = null } = {}) {
  document.title = `${title} – Duet`;
  return h(
    "div",
    { class: "heading" },
    trail ? h("nav", { class: "trail", "aria-label": t("Where you are") }, trail) : null,
    h("div", { class: "heading-row" }, h("h1", { tabindex: "-1" }, title), mark, h("div", { class: "actions" }, actions)),
    under ? h("p", { class: "quiet" }, under) : null,
  );
}

const TEXTS = ["number", "name", "code", "status", "kind", "type"];
const WORDS = [
  "status",
  "kind",
  "type",
  "method",
  "action",
  "documentType",
  "sourceType",
  "targetType",
  "direction",
  "fulfilmentStatus",
  "invoiceStatus",
  "receiptStatus",
  "billStatus",
  "allocationStatus",
  "costMethod",
  "normalBalance",
  "class",
  "resource",
  "blocked",
  "role",
  "cashFlowSection",
  "resetOn",
  "relation",
  "lineType",
  "keeper",
  "systemRole",
  "chronological",
  "negativeStock",
  "chartTemplate",
  "defaultDocumentStatus",
  "postedEditPolicy",
  "roundingMode",
  "taxRounding",
  "costMethodDefault",
  "creditLimitPolicy",
  "cogsTiming",
  "returnCost",
  "taxSide",
  "by",
  "basis",
  "payload",
  "format",
];
/** Whether a field holds a word that the API has for a kind or a state. */
export const isWord = (name) => WORDS.includes(name);
const COUNTS =
  /(^days|Days$|^digits$|^level$|Count$|^quantity|Quantity$|[pP]ercent$|[rR]ate$|Month$|Day$)/;

/** What is open of a document. A draft is not in the books: nobody owes it, and it settles nothing. */
const OPEN = ["balanceDue", "baseBalanceDue", "remainingCredit", "unallocatedAmount"];
export const isOpenOfDraft = (name, record) => record.status === "draft" && OPEN.includes(name);

/** Numbers that are names: nobody writes them in thousands. */
const NUMBERED = /^(sequence|lineNo)$|[nN]umber$|[vV]ersion$/;

/** What a field of a record shows. */
export function cell(name, value, record, segment) {
  if (value === null || value === undefined || value === "" || isOpenOfDraft(name, record)) return "";
  if (name === "status") return badge(value, record.isOverdue === true && value !== "paid", segment);
  // What comes with the server is called in the reader's words.
  if (record.isSystem === true && ["name", "description"].includes(name)) return t(value);
  if (isWord(name)) return word(value, name, segment);
  if (value === true) return t("Yes");
  if (value === false) return t("No");
  if (name === "actor") return value.userId ? linkTo("users", value.userId) : "";
  if (name === "documentNumber" && record.documentId) return linkTo(segmentOf(record.documentType), record.documentId, value);
  if ((name === "sourceId" || name === "targetId") && record[name.replace("Id", "Type")])
    return linkTo(segmentOf(record[name.replace("Id", "Type")]), value);
  if (name === "resourceId") return segmentOfStem(record.resource) ? linkTo(segmentOfStem(record.resource), value) : value;
  if (name === "partyName" && record.partyId) return linkTo("parties", record.partyId, value);
  const leads = leadsTo(name, segment);
  if (leads && typeof value === "string") return linkTo(leads, value);
  if (leads && Array.isArray(value))
    return h(
      "span",
      { class: "several" },
      value.map((one) => linkTo(leads, one)),
    );
  if (isDecimal(value)) {
    const unit = unitBeside(name, record, segment);
    return h(
      "span",
      { class: value.isNegative ? "figure minus" : "figure" },
      NUMBERED.test(name) ? value.text : COUNTS.test(name) ? shown(value) : /[pP]rice$|[cC]ost$/.test(name) ? money(value) : figure(value),
      unit ? h("span", { class: "quiet" }, ` ${unit}`) : null,
    );
  }
  if (typeof value === "string" && /^[a-z]+([A-Z][a-z]+)+$/.test(value)) return word(value, name, segment);
  if (Array.isArray(value))
    return value.every((one) => typeof one === "string")
      ? value.map((one) => (name === "tags" || !/^[a-zA-Z]+$/.test(one) ? one : word(one, name, segment))).join(", ")
      : String(value.length);
  if (typeof value === "object" && "line1" in value) return addressLines(value, business()?.country).join(", ");
  if (typeof value === "object")
    return Object.values(value)
      .filter((one) => one !== null && typeof one !== "object")
      .map(shown)
      .join(", ");
  return shown(value);
}

/** Whether a column's figures stand at the right. */
export const isFigure = (name, rows) =>
  !TEXTS.includes(name) && rows.some((row) => isDecimal(row[name])) && name !== "sequence" && name !== "entryNumber";

/** Fields that are known beside each other; what is empty is left out. */
export function facts(record, names, segment) {
  const seen = names.filter(
    (name) =>
      record[name] !== null &&
      record[name] !== undefined &&
      record[name] !== "" &&
      !(Array.isArray(record[name]) && record[name].length === 0),
  );
  return h(
    "dl",
    { class: "facts" },
    seen.map((name) => h("div", {}, h("dt", {}, label(name, segment)), h("dd", {}, cell(name, record[name], record, segment)))),
  );
}

/** A table of records, its heads said once; on a phone each row is a card. */
export function table({ columns, rows, segment, caption, foot = null, rowLink = null }) {
  const figures = new Set(columns.filter((name) => isFigure(name, rows)));
  const row = (record) =>
    h(
      "tr",
      {},
      columns.map((name, at) => {
        const inner = cell(name, record[name], record, segment);
        const isLink = at === 0 && rowLink !== null;
        return h(
          at === 0 ? "th" : "td",
          {
            scope: at === 0 ? "row" : null,
            class: figures.has(name) ? "figure" : /^\d{4}-/.test(record[name] ?? "") ? "nowrap" : null,
            "data-label": label(name, segment),
            "data-column": name,
          },
          isLink ? h("a", { href: rowLink(record) }, inner === "" ? t("(no number)") : inner) : inner,
        );
      }),
    );
  const head = (name) => h("th", { scope: "col", class: figures.has(name) ? "figure" : null }, label(name, segment));
  const made = h(
    "table",
    { class: "list" },
    h("caption", { class: "unseen" }, caption),
    h("thead", {}, h("tr", {}, columns.map(head))),
    h("tbody", {}, rows.map(row)),
    foot,
  );
  return headed(h("div", { class: "scroll" }, made));
}

/** The document whose change is written on this page; nothing elsewhere. */
const changed = () => (here().parts[2] === "edit" ? here().parts[1] : null);

/** What would be booked, with one line for each side of an account: of twenty lines of a document the books are told two or three things.
 * Of a change, what is taken back and what is booked anew stay apart. */
export function perAccount(lines) {
  const found = new Map();
  for (const line of lines) {
    const side = `${line.accountId} ${line.debit.isZero} ${changed() === null ? "" : line.entry}`;
    const before = found.get(side);
    const both = (name) => sum([before[name], line[name]]);
    found.set(side, before ? { ...before, description: null, debit: both("debit"), credit: both("credit") } : line);
  }
  return [...found.values()];
}

/** The entries of a document, asked for once as long as nothing is written. */
let asked = { key: null, entries: null };
function entriesOf(id) {
  const key = `${id} ${howFar()}`;
  if (asked.key !== key) asked = { key, entries: list("entries", { documentId: id, pageSize: 100 }, { quiet: true }).then(({ items }) => items) };
  return asked.entries;
}

/** The sums of an entry by account and side, to be held against another; those of its reversal stand on the other side. */
const sums = (lines, debit, credit) =>
  perAccount(lines)
    .map((line) => [line.accountId, ...[line[debit], line[credit]].map((one) => (one.isZero ? "0" : one.text))].join(" "))
    .sort()
    .join();

/** Heads for the entries of a change: the server does not say which takes back what is booked, but that mirrors an entry of the document. */
async function tellApart(groups, heads) {
  const entries = (await entriesOf(changed())).filter((one) => one.kind !== "reversal");
  const booked = entries.map((one) => sums(one.lines, "debit", "credit"));
  const isBack = groups.map((lines) => booked.includes(sums(lines, "credit", "debit")));
  if (!isBack.includes(true)) return;
  heads.forEach((head, at) => {
    head.firstChild.textContent = isBack[at] ? t("Taken back") : t("Booked anew");
    head.hidden = false;
  });
}

/** Debit and credit, each account a way into the ledger. Debits come first, as they are written everywhere. */
export function postings(lines, currency, caption) {
  const account = (line) => h("a", { href: path("accounts", line.accountId) }, `${line.accountCode} ${line.accountName}`);
  const side = (value) => (value.isZero ? "" : money(value, currency));
  const row = (line) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        account(line),
        line.description ? h("span", { class: "quiet small block" }, line.description) : null,
      ),
      h("td", { class: "figure", "data-label": t("Debit") }, side(line.debit)),
      h("td", { class: "figure", "data-label": t("Credit") }, side(line.credit)),
    );
  const groups = changed() === null ? [lines] : [...Map.groupBy(lines, (line) => String(line.entry)).values()];
  const heads = groups.length > 1 ? groups.map(() => h("tr", { class: "of-change", hidden: true }, h("th", { scope: "rowgroup", colspan: 3 }))) : [];
  if (heads.length > 0) tellApart(groups, heads).catch(() => null);
  const sorted = (some) => some.toSorted((a, b) => a.debit.isZero - b.debit.isZero).map(row);
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "list postings" },
      h("caption", { class: "unseen" }, caption),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, t("Account")),
          h("th", { scope: "col", class: "figure" }, t("Debit")),
          h("th", { scope: "col", class: "figure" }, t("Credit")),
        ),
      ),
      groups.map((some, at) => h("tbody", {}, heads[at], sorted(some))),
    ),
  );
}

export const waiting = () => h("p", { class: "quiet waiting", role: "status" }, t("Loading …"));

/** What stands where nothing is yet: what belongs here, and what to do first. */
export const empty = (text, action) => h("div", { class: "empty" }, h("p", {}, text), action);

/** The way to a list from one of its records. */
export const trailTo = (segment) => h("a", { href: path(segment) }, label(RESOURCES[segment].stem));

export const section = (title, ...inner) => h("section", { class: "card" }, h("h2", {}, title), inner);

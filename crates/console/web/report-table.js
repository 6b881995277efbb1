// A report as a table: what is wide, what leads where, and what is left out.

import { isDecimal } from "./decimal.js";
import { h } from "./dom.js";
import { date, figure, places, shown } from "./format.js";
import { business } from "./frame.js";
import { headed } from "./heads.js";
import { linkTo } from "./names.js";
import { isShare, withTotal } from "./report-total.js";
import { agesCount, briefAge, columnName, isAge, spokenCell, translated, words } from "./report-words.js";
import { segmentOf, segmentOfStem } from "./resources.js";
import { here, path, withQuery } from "./route.js";
import { fill } from "./slices.js";
import { t } from "./texts.js";

/** What is owed by age leads to its documents: of one party, of one age, or of all, asked for as the report was. */
function leadsToDocuments(row, report, column) {
  const asked = { ...here().query, date: null, asOf: report.parameters.asOf, bucket: column?.key };
  return withQuery(path("reports", `${report.report}-detail`), row.partyId ? { ...asked, partyId: row.partyId } : asked);
}

const isByAge = (report) => /aging$/.test(report.report);

/** Where a row's name leads, and where a figure of it: report, account, entry, document. */
function leads(row, report, column) {
  if (row.documentId) return path(segmentOf(row.documentType), row.documentId);
  const { from, to, asOf, knownAt } = report.parameters;
  const days = { from: column?.from ?? from ?? null, to: column?.to ?? to ?? asOf ?? null, knownAt };
  if (row.accountId) return withQuery(path("reports", "general-ledger"), { accountId: row.accountId, ...days });
  if (row.partyId) return isByAge(report) ? leadsToDocuments(row, report, null) : path("parties", row.partyId);
  if (row.itemId)
    return /^stock/.test(report.report) && report.report !== "stock-ledger"
      ? withQuery(path("reports", "stock-ledger"), { itemId: row.itemId, ...days })
      : path("items", row.itemId);
  return null;
}

/** A figure leads to what it is the sum of, where a report has that. */
function figureLeads(row, report, column, one) {
  if (isByAge(report)) return isAge(column.key) && !one.isZero ? leadsToDocuments(row, report, column) : null;
  return (row.type === "account" || row.accountId) && column.to ? leads(row, report, column) : null;
}

/** Rows that stand for themselves, and sum up nothing. */
const SINGLE = ["line", "account", "document"];

/** Columns of percentages. */
const PERCENT = ["share", "margin"];
/** Percentages have two places, as rows that are percentages have in a column of amounts. */
const SHARES = 2;
const isRatio = (row) => isShare(row) && !row.itemId && !row.partyId && !row.documentId;

/**
 * How many places the figures of each column have, so that they stand below each other: the most that one of them has. What is in
 * several currencies has those of each.
 */
function placesOf({ columns, rows }) {
  const most = columns.map(({ key }) => (PERCENT.includes(key) ? SHARES : 0));
  const count = (row) => {
    if (!isRatio(row)) row.values.forEach((one, at) => isDecimal(one) && (most[at] = Math.max(most[at], places(one.text))));
    for (const child of row.children ?? []) count(child);
  };
  for (const row of rows) count(row);
  return most.map((many, at) => (columns[at].key === "amountCurrency" ? 0 : many));
}

function value(row, at, report, isFigure, least) {
  const one = row.values[at];
  if (one === null || one === undefined) return "";
  const column = report.columns[at];
  // Of debit and credit only one is meant.
  if (isDecimal(one) && one.isZero && /(debit|credit)$/i.test(column.key) && SINGLE.includes(row.type)) return "";
  if (isDecimal(one)) {
    const text = figure(one, isRatio(row) ? SHARES : least);
    const address = figureLeads(row, report, column, one);
    return address ? h("a", { class: "drill", href: address }, text) : text;
  }
  if (report.report === "audit-trail" && column.key === "user") return linkTo("users", one);
  if (report.report === "audit-trail" && column.key === "record") {
    const segment = segmentOfStem(row.values[report.columns.findIndex((other) => other.key === "resource")]);
    return segment ? linkTo(segment, one) : one;
  }
  return isFigure ? words(String(one)) : shown(spokenCell(one, column.key));
}

/** The same report without some of its columns. */
function without(report, keys) {
  const kept = report.columns.map((column) => !keys.includes(column.key));
  const cut = (row) => ({ ...row, values: row.values.filter((_, index) => kept[index]), children: row.children.map(cut) });
  return { ...report, columns: report.columns.filter((_, index) => kept[index]), rows: report.rows.map(cut) };
}

/** Other currencies are not shown where there are none, nor twice what is the same; nor what only a program asks for. */
function narrowed(report) {
  const at = (key) => report.columns.findIndex((column) => column.key === key);
  const [currency, total, base, request] = ["currency", "total", "baseAmount", "request"].map(at);
  const isForeign = (row) => (row.values[currency] ?? report.currency) !== report.currency;
  const differs = (row) => String(row.values[total]) !== String(row.values[base]);
  const aside = [];
  if (currency >= 0 && !some(report.rows, isForeign)) aside.push("currency", "amountCurrency", "baseAmount");
  if (total >= 0 && base >= 0 && !some(report.rows, differs)) aside.push("baseAmount");
  if (request >= 0 && report.report === "audit-trail") aside.push("request");
  return aside.length > 0 ? without(report, aside) : report;
}

/** In the ledger an account begins with a balance beside its name. Where it began on an earlier page, with what it had come to there. */
function withOpenings(report) {
  if (report.report !== "general-ledger") return report;
  const at = report.columns.findIndex(({ key }) => key === "description");
  const isLater = Number(String(report.pagination?.currentPage ?? 1)) > 1;
  const said = (place) => t(place === 0 && isLater ? "Balance so far" : "Opening balance");
  const named = (row, place) => ({ ...row, values: row.type === "section" ? row.values.with(at, said(place)) : row.values });
  return { ...report, rows: report.rows.map(named) };
}

const some = (rows, fits) => rows.some((row) => fits(row) || some(row.children ?? [], fits));

/** What a report is of: its days, its currency where it is not told by what narrows it, and that. */
export function said(report, parts) {
  const { from, to, asOf, currency } = report.parameters;
  const days = from ? `${date(from)} – ${date(to)}` : asOf ? t("as of {day}", { day: date(asOf) }) : "";
  return [days, currency ? null : report.currency, ...parts].filter(Boolean).join(" · ");
}

/** What reports come to that no row and no column sums up. */
const RESULTS = {
  "tax-return": { due: "Tax that is owed", claim: "Tax that is claimed", payable: "Tax to be paid" },
  "tax-summary": { netTax: "Tax to be paid" },
  "tax-detail": { netTax: "Tax to be paid" },
};
/** What is called so while it is to be paid, and comes back where it is less than nothing. */
const COMES_BACK = { "Tax to be paid": "Tax that comes back" };

/** The last rows of a report: what all of it comes to. */
function results(report) {
  const told = Object.entries(RESULTS[report.report] ?? {}).filter(([key]) => isDecimal(report.totals?.[key]));
  if (told.length === 0) return null;
  const row = ([key, name], at) => {
    const of = report.totals[key];
    const isLast = at === told.length - 1;
    return h(
      "tr",
      { class: isLast ? "row-total level-0" : "row-line level-0" },
      h("th", { scope: "row" }, t(of.isNegative ? (COMES_BACK[name] ?? name) : name)),
      h("td", { class: "figure", colspan: String(report.columns.length) }, figure(of.isNegative && COMES_BACK[name] ? of.size : of)),
    );
  };
  return h("tfoot", { id: "results" }, told.map(row));
}

/** With more columns than this it lies on its side on paper; with more still, as of a year by months, it is written smaller. */
const WIDE = 6;
const WIDEST = 11;
/** With so few a name and its figure would stand too far apart. */
const NARROW = 2;
const width = (count) =>
  ["report", count > WIDE && "is-wide", count > WIDEST && "is-widest", count <= NARROW && "is-narrow"].filter(Boolean).join(" ");

/** `of` is what the report is of, in a line. */
export function drawn(whole, of) {
  const report = withTotal(withOpenings(narrowed(whole)));
  const figures = report.columns.map((_, at) => some(report.rows, (row) => isDecimal(row.values[at])));
  const heads = report.columns.map(columnName);
  const least = placesOf(report);
  const rows = [];
  const add = (row, level) => {
    rows.push([row, level]);
    for (const child of row.children ?? []) add(child, level + 1);
  };
  for (const row of report.rows) add(row, 0);
  const name = (row) => {
    const address = leads(row, report, null);
    return address ? h("a", { href: address }, row.type === "section" ? row.label : translated(row)) : translated(row);
  };
  const cell = (row, at) => {
    const one = row.values[at];
    const isMinus = isDecimal(one) && one.isNegative;
    const kind = [figures[at] ? "figure" : null, figures[at] && isMinus ? "minus" : null, report.columns[at].isWhole ? "whole" : null];
    if (!figures[at] && /^\d{4}-/.test(one ?? "")) kind.push("nowrap");
    return h("td", { class: kind.filter(Boolean).join(" ") || null, "data-label": heads[at] }, value(row, at, report, figures[at], least[at]));
  };
  const draw = (position) => {
    const [row, level] = rows[position];
    const kind = `row-${row.type} level-${Math.min(level, 4)}`;
    // A number of a document is not broken.
    const isNumber = row.documentId && row.type === "line";
    return h("tr", { class: kind }, h("th", { scope: "row", class: isNumber ? "nowrap" : null }, name(row)), row.values.map((_, at) => cell(row, at)));
  };
  /** A row of the longest texts, each from where it stands. */
  const longest = () => {
    const most = report.columns.map(() => [0, rows[0][0]]);
    let named = [0, rows[0]];
    for (const one of rows) {
      const [row, level] = one;
      if (row.label.length + 2 * level > named[0]) named = [row.label.length + 2 * level, one];
      row.values.forEach((told, at) => {
        const size = isDecimal(told) ? told.text.length : (told?.length ?? 0);
        if (size > most[at][0]) most[at] = [size, row];
      });
    }
    const [row, level] = named[1];
    return h("tr", { class: `row-total level-${Math.min(level, 4)}` }, h("th", { scope: "row" }, name(row)), most.map(([, from], at) => cell(from, at)));
  };
  // Said only where the heads are brief.
  const ages = report.columns.some(({ key }) => briefAge(key))
    ? h("span", { class: "quiet brief" }, agesCount(report.parameters.agingBy))
    : null;
  const table = h(
    "table",
    { class: width(report.columns.length) },
    h(
      "caption",
      {},
      h("div", { class: "stays" }, h("strong", {}, business()?.name), " ", h("span", {}, t(report.title)), h("span", { class: "quiet" }, of), ages),
    ),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, h("span", { class: "unseen" }, t("Row"))),
        report.columns.map(({ key, isWhole }, at) =>
          h(
            "th",
            { scope: "col", class: figures[at] ? (isWhole ? "figure whole" : "figure") : null, "data-brief": briefAge(key) },
            briefAge(key) ? h("span", {}, heads[at]) : heads[at],
          ),
        ),
      ),
    ),
    results(report),
  );
  // What is wider than the window is moved by itself, also by who has no mouse.
  const place = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t(report.title) }, table);
  fill(place, table, rows.length, draw, longest);
  return headed(place);
}

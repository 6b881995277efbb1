// What reports say, in the reader's words: their heads, their rows, and what they are about.

import { date, monthAndYear, monthsEnd, time } from "./format.js";
import { nameOf } from "./names.js";
import { leadsTo } from "./resources.js";
import { about, label, language, spoken, t, word } from "./texts.js";

export const first = (text) => about(text).split(". ")[0].replace(/\.?$/, ".").replace(/^\.$/, "");

/** What the API calls shortly, as a bookkeeper calls it. */
const CALLED = {
  Before: "Opening balance",
  Then: "Closing balance",
  "Open before": "Opening balance",
  "Open then": "Closing balance",
  "There before": "Opening stock",
  "There then": "Closing stock",
  "Money before": "Money at the beginning",
  "Money then": "Money at the end",
  On: "Sale or purchase",
  Is: "Owed or claimed",
  "Made by": "Origin",
  "Counts for": "Tax date",
  At: "When",
  Resource: "Kind of record",
  "How many are missing": "Missing",
  Which: "Missing numbers",
  "In that currency": "In its own currency",
};

/** A column's head: its days where it has some, a whole quarter or month in a word, else its name. */
export function columnName({ key, from, to, label: name }) {
  if (!from || !to || !key.includes("..")) return words(name);
  const [year, month] = from.split("-").map(Number);
  const isWhole = from.endsWith("-01") && to === monthsEnd(year, month + (to.slice(0, 7) === from.slice(0, 7) ? 0 : 2));
  if (from.endsWith("-01") && from.slice(0, 7) === to.slice(0, 7)) return monthAndYear(from);
  return isWhole && month % 3 === 1 ? t("Q{quarter} {year}", { quarter: (month + 2) / 3, year }) : `${date(from)} – ${date(to)}`;
}

/** A report's own words: days in them as the reader writes them, whatever its figures are. */
export function words(given) {
  const text = CALLED[given] ?? given;
  if (t(text) !== text) return t(text);
  return withFigures(text);
}

function withFigures(text) {
  const given = {};
  const called = (kind, one) => {
    const seen = Object.keys(given).filter((name) => name.startsWith(kind)).length;
    const name = seen === 0 ? kind : `${kind}${seen + 1}`;
    given[name] = one;
    return `{${name}}`;
  };
  const pattern = text.replace(/\b(\d{4}-\d{2}-\d{2})\b|\b(\d+)\b/g, (_, day, number) =>
    day ? called("day", date(day)) : called("number", number),
  );
  return t(pattern, given);
}

/** Whether something is the key of an age, such as `current`, `1-30` or `91+`. */
export const isAge = (key) => /^(current|\d+-\d+|\d+\+)$/.test(key);
/** What is youngest: due later, or of this very day where the day of the document counts. */
const youngest = (by) => (by === "documentDate" ? t("Of the day itself") : t("Not yet due"));
/** An age as its column is headed, and by which day it is told. */
export const age = (key, by) =>
  key === "current" ? youngest(by) : words(key.endsWith("+") ? `${key.slice(0, -1)} days or more` : `${key.replace("-", " to ")} days`);

/** The same where there is little room; what is counted stands above. Nothing where it is short already. */
export const briefAge = (key) => (isAge(key) && key !== "current" ? key.replace("-", "–") : null);
/** What the numbers of such an age count. */
export const agesCount = (by) => (by === "documentDate" ? t("Ages in days since the document") : t("Ages in days overdue"));

/** The records that a report can be about. */
const RECORDS = ["partyId", "accountId", "itemId", "taxCodeId"];

/** What narrows a report, each part in a word or two, by what was asked of it. */
export async function narrowing(asked) {
  const { bucket, agingBy, currency, type, taxBasis, basis, knownAt } = asked;
  const names = RECORDS.filter((one) => asked[one]).map((one) => nameOf(leadsTo(one, "reports"), asked[one]));
  const parts = [
    bucket ? age(bucket, agingBy) : null,
    ...(await Promise.all(names)),
    type && type !== "all" ? word(type, "type", "reports") : null,
    currency ? t("only what is in {currency}", { currency }) : null,
    agingBy === "documentDate" ? t("by the date of the document") : null,
    taxBasis ? `${label("taxBasis", "reports")}: ${word(taxBasis, "taxBasis", "reports")}` : null,
    basis === "cash" ? t("when paid") : null,
    knownAt ? t("as known at {time}", { time: time(knownAt) }) : null,
  ];
  return parts.filter(Boolean);
}

const tellsOf = (row) => row.accountId || row.partyId || row.itemId || row.documentId;
/** What a row is called: a record by its own name, a document with the day on which it is due, or its own; else in the report's words. */
export function translated(row) {
  const [, number, which, day] = (row.type === "document" && /^(.*), (due|of) (\d{4}-\d{2}-\d{2})$/.exec(row.label)) || [];
  if (which === "due") return t("{number}, due {day}", { number, day: date(day) });
  if (which === "of") return t("{number}, of {day}", { number, day: date(day) });
  const own = tellsOf(row) && !["subtotal", "total"].includes(row.type);
  if (own) return row.label;
  return CALLED[row.label] || t(row.label) !== row.label ? words(row.label) : (spoken(row.label) ?? words(row.label));
}

/** A kind that only reports name, in the reader's words. */
export const kind = (text, of) => (language() === "en" || t(text) === text ? word(text, of) : t(text));

/** Columns of such words. */
const KINDS = ["side", "duty", "origin", "resource"];
/** What a cell says that is no figure. */
export const spokenCell = (text, key) => (KINDS.includes(key) ? kind(text, key) : text);

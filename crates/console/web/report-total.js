// A total over periods that stand side by side: what is asked of a year by months is wanted of the year as well.

import { Decimal, isDecimal, sum } from "./decimal.js";

const DAY = 24 * 60 * 60 * 1000;
const follows = (one, before) => Date.parse(one.from) - Date.parse(before.to) === DAY;

/** What lies beside what it is compared with is no part of the same sum. */
const isComparison = ({ compareWith, groupBy, interval }) => Boolean(compareWith) || (!groupBy && interval === "year");

/** A share is of its own period, and adds up to nothing; an account may be called what it wants. */
export const isShare = (row) => row.type !== "account" && /percent/i.test(row.label);

/** Whether the columns are periods without a gap, earliest or latest first. What is of a day, such as a balance, has no beginning. */
export function hasTotal({ columns, parameters }) {
  if (columns.length < 2 || isComparison(parameters) || !columns.every(({ from, to }) => from && to)) return false;
  const inTime = columns.toSorted((one, other) => (one.from < other.from ? -1 : 1));
  return inTime.slice(1).every((one, at) => follows(one, inTime[at]));
}

/** The same report with a total as its last column, where one can be told. */
export function withTotal(report) {
  if (!hasTotal(report)) return report;
  const days = report.columns.flatMap(({ from, to }) => [from, to]).toSorted();
  const column = { key: "total", label: "Total", from: days[0], to: days.at(-1), isWhole: true };
  const more = (row) => ({
    ...row,
    values: [...row.values, isShare(row) || !row.values.every(isDecimal) ? null : sum(row.values)],
    children: (row.children ?? []).map(more),
  });
  return { ...report, columns: [...report.columns, column], rows: report.rows.map(more) };
}

const SPAN = /^(\d{4}-\d{2}-\d{2}) to (\d{4}-\d{2}-\d{2})$/;
/** The days that a column of a written report is of. */
export function spanOf(head) {
  const [, from, to] = SPAN.exec(head) ?? [];
  return { from, to };
}

/** The same of a written report, whose rows begin with `lead` cells that are no figures. */
export function withTotalCells([heads, ...rows], lead, parameters) {
  if (!hasTotal({ columns: heads.slice(lead).map(spanOf), parameters })) return null;
  const total = (cells) => {
    const [, type, label] = cells;
    const figures = cells.slice(lead);
    return isShare({ type, label }) || figures.includes("") ? "" : sum(figures.map((text) => new Decimal(text))).text;
  };
  return [[...heads, "Total"], ...rows.map((cells) => [...cells, total(cells)])];
}

// A report as comma-separated values: in English as the server writes it, with the heads of the page; in German as a spreadsheet
// there reads it.

import { ask } from "./api.js";
import { saveTable, written } from "./csv.js";
import { Decimal } from "./decimal.js";
import { tell } from "./dialog.js";
import { today } from "./format.js";
import { spanOf, withTotalCells } from "./report-total.js";
import { columnName, kind, narrowing, spokenCell, translated, words } from "./report-words.js";
import { label, language, t, word } from "./texts.js";

/** What a row is, how deep it lies and what it is called stand before its figures. */
const HEADS = ["level", "type", "label"];

/** The cells of a text of comma-separated values, row by row. */
function parsed(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replace(/""/g, '"'));
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.length > 1 || (row[0] ?? "") !== "");
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/** The same rows in the reader's words; `columns` are those of the report, as far as it was shown. */
function translatedRows([heads, ...rows], columns) {
  const known = heads.map((head) => columns.find((one) => one.label === head));
  const isFigure = heads.map((_, at) => at >= HEADS.length && rows.every((row) => !row[at] || NUMBER.test(row[at])));
  const head = (text, at) => {
    const span = spanOf(text);
    if (at < HEADS.length) return text === "label" ? t("Row") : kind(text);
    return columnName(span.from ? { key: "..", ...span, label: text } : { key: "", label: text }).replaceAll("\u00a0", " ");
  };
  const row = (cells) => {
    const [, type, name] = cells;
    return cells.map((cell, at) => {
      if (at === 0 || cell === "") return cell;
      if (at === 1) return kind(type);
      // Names are as they were given; what the report says by itself is put into words.
      if (at === 2) return ["account", "party", "item"].includes(type) ? name : translated({ type, label: name });
      return isFigure[at] ? written(new Decimal(cell)) : spokenCell(cell, known[at]?.key);
    });
  };
  return [heads.map(head), ...rows.map(row)];
}

/** The same heads as on the page. Days stay as the server writes them. */
const translatedHeads = ([heads, ...rows]) => [heads.map((text, at) => (at < HEADS.length || spanOf(text).from ? text : words(text))), ...rows];

/** How the days are laid out, beside what narrows the report. */
const LAID_OUT = ["groupBy", "compareWith", "interval", "method"];
const layout = (query) => [
  ...LAID_OUT.filter((name) => query[name]).map((name) => word(query[name], name, "reports")),
  query.periods ? `${label("periods", "reports")} ${query.periods}` : null,
];

/** The days that were asked for, as they stand in the name of a file. */
const daysOf = (query, used) => [query.from ?? used.from, query.to ?? used.to ?? query.asOf ?? used.asOf].filter(Boolean);

/** A part of a file's name: letters and digits, and not too many. */
const inName = (text) =>
  text
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.join("-")
    .slice(0, 32)
    .replace(/-$/, "");

/** `shown` is the report as it stands on the page, or nothing. */
export async function saveReport(name, query, shown) {
  const blob = await ask("GET", `/reports/${name}`, {
    query: { ...query, format: "csv" },
    asText: true,
    headers: { Accept: "text/csv" },
  });
  const text = await blob.text();
  const days = daysOf(query, shown?.parameters ?? {});
  const parts = [...layout(query), ...(await narrowing(query))].filter(Boolean).map(inName).filter(Boolean);
  const file = `${[name, ...(days.length > 0 ? days : [today()]), ...parts].join("-")}.csv`;
  const rows = parsed(text);
  const whole = withTotalCells(rows, HEADS.length, query) ?? rows;
  saveTable(language() === "de" ? translatedRows(whole, shown?.columns ?? []) : translatedHeads(whole), file);
  tell(t("The table was saved."));
}

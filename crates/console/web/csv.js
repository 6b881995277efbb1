// Tables as comma-separated values: a list with all its pages and the columns that are shown, and how a file is written.
// Where the reader writes a comma in numbers, spreadsheets part cells by semicolons.

import { list } from "./api.js";
import { isDecimal } from "./decimal.js";
import { tell } from "./dialog.js";
import { h } from "./dom.js";
import { today } from "./format.js";
import { nameOf } from "./names.js";
import { isWord } from "./parts.js";
import { RESOURCES, leadsTo } from "./resources.js";
import { label, language, t, word } from "./texts.js";

/** As many as the server answers at once. */
const PORTION = 500;

/** A text that a spreadsheet would take for a formula is shown as what it is. */
const defused = (text) => (/^;?[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text);
const isGerman = () => language() === "de";
const quoted = (text) => ((isGerman() ? /[";\r\n]/ : /[",;\r\n]/).test(text) ? `"${text.replace(/"/g, '""')}"` : text);
/** A number as a spreadsheet of the reader's language takes it. */
export const written = (value) => (isGerman() ? value.text.replace(".", ",") : value.text);

async function cell(name, value, segment) {
  if (value === null || value === undefined) return "";
  if (isDecimal(value)) return written(value);
  // In English they are the API's own words; elsewhere nobody knows those.
  if (isGerman() && typeof value === "boolean") return value ? t("Yes") : t("No");
  if (isGerman() && isWord(name)) return word(value);
  const leads = leadsTo(name, segment);
  if (Array.isArray(value)) return defused((await Promise.all(value.map((one) => cell(name, one, segment)))).join("; "));
  if (typeof value === "object") return defused(value.userId ? await nameOf("users", value.userId) : Object.values(value).filter((one) => one !== null).join(" "));
  return defused(leads && typeof value === "string" ? await nameOf(leads, value) : String(value));
}

/** What amounts are in stands beside them, as soon as it may differ from one record to the next. */
const withCurrency = (segment, columns) =>
  RESOURCES[segment].isDocument && !columns.includes("currency") ? [...columns, "currency"] : columns;

export async function saveList(segment, query, shown) {
  const columns = withCurrency(segment, shown);
  const lines = [columns.map(label)];
  let page = 1;
  let pages = 1;
  do {
    const told = await list(segment, { ...query, page, pageSize: PORTION }, { quiet: page > 1 });
    for (const record of told.items) lines.push(await Promise.all(columns.map((name) => cell(name, record[name], segment))));
    pages = told.pages;
  } while (++page <= pages);
  saveTable(lines, `${segment}-${today()}.csv`);
  tell(t("{count} rows were saved.", { count: lines.length - 1 }));
}

/** Writes rows of cells, or a text that is written already, so that a spreadsheet sees that it is UTF-8. */
export function saveTable(rows, name) {
  const text = typeof rows === "string" ? rows : rows.map((row) => `${row.map(quoted).join(isGerman() ? ";" : ",")}\r\n`).join("");
  saveAs(`\uFEFF${text}`, name, "text/csv;charset=utf-8");
}

/** Hands a text or a file to the browser, to be kept. */
export function saveAs(content, name, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

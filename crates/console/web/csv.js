// A list as comma-separated values: all its pages, with the columns that are shown.

import { list } from "./api.js";
import { isDecimal } from "./decimal.js";
import { tell } from "./dialog.js";
import { h } from "./dom.js";
import { today } from "./format.js";
import { nameOf } from "./names.js";
import { RESOURCES, leadsTo } from "./resources.js";
import { label, t } from "./texts.js";

/** As many as the server answers at once. */
const PORTION = 500;

/** A text that a spreadsheet would take for a formula is shown as what it is. */
const defused = (text) => (/^;?[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text);
const quoted = (text) => (/[",;\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

async function cell(name, value, segment) {
  if (value === null || value === undefined) return "";
  if (isDecimal(value)) return value.text;
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
  saveAs(lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join(""), `${segment}-${today()}.csv`, "text/csv");
  tell(t("{count} rows were saved.", { count: lines.length - 1 }));
}

/** Hands a text or a file to the browser, to be kept. */
export function saveAs(content, name, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

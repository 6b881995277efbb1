// Money, quantities and days as the reader writes them; and what the reader typed, as the server takes it.

import { Decimal, isDecimal } from "./decimal.js";
import { language } from "./texts.js";

/** To ask the browser for its languages costs more than to write a number. */
const locales = new Map();
function locale() {
  const spoken = language();
  if (!locales.has(spoken)) locales.set(spoken, navigator.languages.find((one) => one.startsWith(spoken)) ?? spoken);
  return locales.get(spoken);
}

/** To make a formatter takes a hundred times as long as to use it. */
const kept = new Map();
function made(Kind, options) {
  const key = JSON.stringify([Kind.name, locale(), options]);
  if (!kept.has(key)) kept.set(key, new Kind(locale(), options));
  return kept.get(key);
}
const numbers = (options) => made(Intl.NumberFormat, options);
const days = (options) => made(Intl.DateTimeFormat, options);

export const places = (text) => text.split(".")[1]?.length ?? 0;

/** An amount with its currency; the formatter is given the text, so that no digit is lost. */
export function money(value, currency) {
  if (value === null || value === undefined) return "";
  const shown = Math.max(2, places(String(value)));
  const options = currency
    ? { style: "currency", currency, minimumFractionDigits: currencyPlaces(currency), maximumFractionDigits: shown }
    : { minimumFractionDigits: 2, maximumFractionDigits: shown };
  return numbers(options).format(String(value));
}

const currencyPlaces = (currency) => numbers({ style: "currency", currency }).resolvedOptions().minimumFractionDigits;

/** A figure of a table, where the currency stands above. Cents are shown where they came, and `least` so many places. */
export function figure(value, least = 0) {
  const shown = places(String(value));
  const fewest = Math.max(shown === 1 ? 2 : shown, least);
  return numbers({ minimumFractionDigits: fewest, maximumFractionDigits: Math.max(fewest, 2) }).format(String(value));
}

export const number = (value) => numbers({ maximumFractionDigits: 10 }).format(String(value));

/** A rate: `7%`, or `7 %` where it is written so. */
export const percent = (value) => numbers({ style: "unit", unit: "percent", maximumFractionDigits: 10 }).format(String(value));

/** Without cents, where only the size counts. */
export const rough = (value, currency) =>
  numbers({ style: "currency", currency, maximumFractionDigits: 0 }).format(String(value));

/** As short as can be, at the edge of a drawing. */
export const short = (value, currency) =>
  numbers({ style: "currency", currency, notation: "compact", maximumFractionDigits: 1 }).format(String(value));

export function date(text, style = "medium") {
  if (!text) return "";
  const [year, month, day] = text.split("-").map(Number);
  return days({ dateStyle: style, timeZone: "UTC" }).format(Date.UTC(year, month - 1, day));
}

export function monthName(text) {
  const [year, month] = text.split("-").map(Number);
  return days({ month: "short", timeZone: "UTC" }).format(Date.UTC(year, month - 1, 1));
}

export function monthAndYear(text) {
  const [year, month] = text.split("-").map(Number);
  const shape = { month: "short", year: "numeric", timeZone: "UTC" };
  // As a head of a column it stays on one line.
  return days(shape).format(Date.UTC(year, month - 1, 1)).replaceAll(" ", "\u00a0");
}

/** The last day of a month, which may lie beyond its year. */
export const monthsEnd = (year, month) => new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);

export const time = (text) =>
  text ? days({ dateStyle: "medium", timeStyle: "short" }).format(Date.parse(text)) : "";

/** The tax number of a registration for VAT begins with its country. */
const VAT = /^(AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK|XI)\s?[\dA-Z]/;
export const isVatNumber = (text) => VAT.test(text ?? "");

const iso = (day) =>
  `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`;
/** What a trial was told that today is; nothing elsewhere. */
let told = () => null;
export const goBy = (asked) => {
  told = asked;
};
export function now() {
  const day = told();
  if (!day) return new Date();
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year, month - 1, date);
}
export const today = () => iso(now());
/** The first or last day of a month that is so many months away. */
export function monthEdge(away, edge) {
  const day = now();
  return iso(
    edge === "first"
      ? new Date(day.getFullYear(), day.getMonth() + away, 1)
      : new Date(day.getFullYear(), day.getMonth() + away + 1, 0),
  );
}
export const inDays = (days) => {
  const day = now();
  return iso(new Date(day.getFullYear(), day.getMonth(), day.getDate() + days));
};

const isDay = (text) => /^\d{4}-\d{2}-\d{2}$/.test(text);
const isTime = (text) => /^\d{4}-\d{2}-\d{2}T/.test(text);

/** A value of a record, as a text. */
export function shown(value) {
  if (value === null || value === undefined) return "";
  if (isDecimal(value)) return figure(value);
  if (typeof value === "string" && isDay(value)) return date(value);
  if (typeof value === "string" && isTime(value)) return time(value);
  return String(value);
}

/** What stands in a field for typing. */
export const typed = (value) => (isDecimal(value) ? value.text.replace(".", decimalPoint()) : String(value ?? ""));

/** The same of an amount: with the cents of its currency, of a price with two digits at least. */
export function typedMoney(value, currency, least = 0) {
  if (!isDecimal(value)) return typed(value);
  const missing = Math.max(currencyPlaces(currency), least) - places(value.text);
  return typed(missing > 0 ? new Decimal(`${value.text}${places(value.text) === 0 ? "." : ""}${"0".repeat(missing)}`) : value);
}

const decimalPoint = () =>
  numbers({})
    .formatToParts("1.5")
    .find((part) => part.type === "decimal").value;

/** `1.234,56` and `1,234.56` both mean what the reader means; what is no number goes to the server as it is. */
export function amount(text) {
  const plain = text.replace(/[\s\u00a0\u202f'’]/g, "");
  if (plain === "") return null;
  const last = Math.max(plain.lastIndexOf("."), plain.lastIndexOf(","));
  if (last < 0) return /^-?\d+$/.test(plain) ? new Decimal(plain) : text;
  const mark = plain[last];
  const isMixed = plain.includes(".") && plain.includes(",");
  const repeats = plain.split(mark).length > 2;
  const groups = /^-?\d{1,3}([.,]\d{3})+$/.test(plain);
  const isPoint = isMixed || (!repeats && (mark === decimalPoint() || !groups));
  const whole = isPoint ? `${plain.slice(0, last).replace(/[.,]/g, "")}.${plain.slice(last + 1)}` : plain.replace(/[.,]/g, "");
  return /^-?\d*\.?\d+$/.test(whole) ? new Decimal(whole.replace(/^(-?)\./, "$10.")) : text;
}

/** Where letters go by the state, and have it behind the town. */
export const BY_STATE = ["US", "CA", "AU"];
/** An address as it stands on a letter; the country is named where it is another than `home`. */
export function addressLines(address, home) {
  if (!address) return [];
  const { line1, line2, postalCode, city, state, country } = address;
  const where = country ?? home;
  const town = BY_STATE.includes(where)
    ? [[city, [state, postalCode].filter(Boolean).join(" ")].filter(Boolean).join(", ")]
    : where === "GB"
      ? [city, postalCode]
      : [[postalCode, city].filter(Boolean).join(" ")];
  const abroad = country && country !== home ? new Intl.DisplayNames([locale()], { type: "region" }).of(country) : null;
  return [line1, line2, ...town, abroad].filter(Boolean);
}

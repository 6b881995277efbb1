// The texts, in the reader's language. English is what the modules say; the catalogue has the rest.

import { LABELS } from "./german-labels.js";
import { MORE } from "./german-more.js";
import { NAMES } from "./german-names.js";
import { REPORTS } from "./german-reports.js";
import { STORY } from "./german-story.js";
import { GERMAN } from "./german.js";

const KEPT = "duet.language";
const CALLED = { ...NAMES, ...LABELS };
const SAID = { ...GERMAN, ...MORE, ...STORY, ...REPORTS };

let chosen =
  localStorage.getItem(KEPT) ??
  (navigator.languages.some((one) => one.startsWith("de")) && !navigator.languages[0].startsWith("en") ? "de" : "en");

export const language = () => chosen;
export const languages = [
  ["en", "English"],
  ["de", "Deutsch"],
];

export function speak(wanted) {
  chosen = wanted;
  localStorage.setItem(KEPT, wanted);
}

/** The API's word for a contact, where it tells of one. */
const withContacts = (text) =>
  text.replace(/\b([Pp])art(y|ies)\b/g, (_, first, end) => `${first === "P" ? "C" : "c"}ontact${end === "ies" ? "s" : ""}`);

/** A sentence; `{name}` in it is what `given` says. */
export function t(text, given = {}) {
  const said = chosen === "de" ? (SAID[text] ?? text) : withContacts(text);
  return said.replace(/\{(\w+)\}/g, (whole, name) => given[name] ?? whole);
}

/** What something is about, as the API says it; in other languages only where it was put into them. */
export const about = (text) => (chosen === "en" || t(text) !== text ? t(text).replace(/`/g, "") : "");

/** English names that are not just the words of a name in the API. */
const ENGLISH = {
  lockDate: "Everything locked until",
  salesLockDate: "Sales locked until",
  purchaseLockDate: "Purchases locked until",
  bankLockDate: "Bank locked until",
  stockLockDate: "Stock locked until",
  journalLockDate: "Journals locked until",
  taxLockDate: "Tax locked until",
  hardLockDate: "Locked for good until",
  party: "Contact",
  parties: "Contacts",
  partyId: "Contact",
  partyName: "Contact",
  intoPartyId: "Into contact",
  partyTaxNumber: "Tax number of the contact",
  contacts: "Contact persons",
  business: "Company",
  businesses: "Companies",
  businessId: "Company",
  itemId: "Item",
  accountId: "Account",
  resourceId: "Record",
  q: "Search",
  url: "URL",
  iban: "IBAN",
  bic: "BIC",
  id: "Identifier",
  baseTotal: "Total in base currency",
  qty: "Quantity",
  vat: "VAT",
  isControl: "Control account",
  isCompound: "On top of other taxes",
  isOpening: "From earlier books",
  isPrimary: "Main contact person",
  isSystem: "Built in",
  isSystemAdmin: "Administrator of the server",
  isTrial: "Trial",
  grniTotal: "Received, not invoiced",
  allowManual: "Numbers by hand",
  isCustomer: "Customer",
  isSupplier: "Supplier",
  peppolId: "Peppol ID",
  isActive: "In use",
  isBase: "Base currency",
  isDefault: "Default",
  isGroup: "Heads others",
  knownAt: "As known at",
  asOf: "As of",
  cogs: "Cost of sales",
  apiReadOnly: "API, read only",
  fxGainLoss: "Exchange gain or loss",
  cogsAccountId: "Cost of sales account",
  entryNumber: "No.",
  openQuantity: "Open",
  discountPercent: "Discount %",
  discountTotal: "Discount",
  fulfilledQuantity: "Delivered",
  receivedQuantity: "Received",
  invoicedQuantity: "Invoiced",
  billedQuantity: "Billed",
  returnedQuantity: "Returned",
  apiKeys: "API keys",
  apiKey: "API key",
  bucket: "Age",
  buckets: "Bounds of the ages, in days",
  receivableBalance: "Owed to us",
  payableBalance: "Owed by us",
  overdueAmount: "Overdue to us",
  unallocatedAmount: "Not allocated",
  twoFactorEnabled: "Second factor",
  sequence: "No.",
  baseBalance: "Balance in base currency",
  at: "When",
  actor: "Who",
  pl: "Profit and loss",
  bs: "Balance sheet",
  documentNumber: "Document",
  effectiveRate: "Rate %",
  "reference@purchase-invoices": "Supplier's invoice no.",
  "reference@debit-notes": "Supplier's number",
};

/**
 * `dueDate` as a person would head a column. `of` is where it stands: its field where it is a value, and the list. What a
 * word means there alone has a name of its own, `rate@tax-codes`.
 */
export function label(name, ...of) {
  for (const names of chosen === "de" ? [CALLED, ENGLISH] : [ENGLISH]) {
    const known = [...of.map((one) => `${name}@${one}`), name].find((one) => Object.hasOwn(names, one));
    if (known) return names[known];
  }
  const words = name
    .replace(/Ids?$/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[-_]/g, " ")
    .toLowerCase()
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A text that the API has for a kind, a state or a resource, as a name or in English; nothing where it is none. */
export function spoken(text) {
  const name = text.charAt(0).toLowerCase() + text.slice(1).replace(/ (\w)/g, (_, letter) => letter.toUpperCase());
  return Object.hasOwn(CALLED, name) || /^[a-z]+([A-Z][a-z]*)*$/.test(text) ? label(name) : null;
}

/** A word that the API has for a state or a kind; `of` is where it stands, as for a label. */
export const word = (value, ...of) => (value === null || value === undefined ? "" : label(String(value), ...of));

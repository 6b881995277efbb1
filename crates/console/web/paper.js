// A document as it is sent: what of its record concerns whoever gets it, on a sheet. It is made when the page is printed.

import { get, list } from "./api.js";
import { Decimal, isDecimal, percentOf, sum } from "./decimal.js";
import { h } from "./dom.js";
import { BY_STATE, addressLines, date, isVatNumber, money, number, percent } from "./format.js";
import { business, may } from "./frame.js";
import { RESOURCES } from "./resources.js";
import { label, t, word } from "./texts.js";

const TITLES = {
  "sales-invoices": "Invoice",
  "credit-notes": "Credit note",
  "sales-orders": "Order confirmation",
  "purchase-orders": "Purchase order",
  "debit-notes": "Debit note",
  "delivery-notes": "Delivery note",
  "receipt-notes": "Goods received",
};
/** The same where goods go the other way. */
const RETURNS = { "delivery-notes": "Goods taken back", "receipt-notes": "Goods sent back" };
/** Whoever gets the goods reads what they are, and not what they cost. */
const isOfGoods = (segment) => Object.hasOwn(RETURNS, segment);
/** Whether a document of this kind is sent to somebody. */
export const hasPaper = (segment) => Object.hasOwn(TITLES, segment);

/** An order that is not accepted yet is an offer. */
const isOffer = (segment, record) => segment === "sales-orders" && record.status === "draft";
function titleOf(segment, record) {
  if (isOffer(segment, record)) return t("Quotation");
  return t((record.kind === "return" ? RETURNS[segment] : null) ?? TITLES[segment]);
}

const some = (value) => isDecimal(value) && !value.isZero;
const less = (value) => value.negative;

const written = (lines) => lines.map((line) => h("span", {}, line));
const pair = (name, value, kind) => (value ? h("div", { class: kind }, h("dt", {}, name), h("dd", {}, value)) : null);

/** What a document that is named belongs to, as its links call it. */
const FOLLOWS = { credits: "For invoice", fulfils: "For order", returns: "For delivery" };
/** The documents that it follows. A supplier knows a bill by the number that they gave it. */
const follows = (record, bill) =>
  Object.entries(FOLLOWS).map(([relation, name]) => {
    const named = (record.links ?? []).filter((one) => one.relation === relation);
    return pair(t(name), named.map((one) => (one.id === bill?.id && bill.reference) || one.number).filter(Boolean).join(", "));
  });

/** What stands at the right of the address. */
function facts(record, from) {
  const days = ["date", "dueDate", "validUntil", "expectedDate", "expectedArrivalDate"];
  const texts = ["customerReference", "reference", "supplierDeliveryNumber", "carrier", "trackingNumber"];
  const supplied = record.taxDate && record.taxDate !== record.date ? date(record.taxDate) : null;
  return h(
    "dl",
    { class: "paper-facts" },
    pair(label("number"), record.number),
    days.map((name) => pair(label(name), record[name] ? date(record[name]) : null)),
    pair(t("Date of supply"), supplied),
    follows(record, from.bill),
    texts.map((name) => pair(label(name), record[name])),
    pair(isVatNumber(record.partyTaxNumber) ? t("Your VAT number") : t("Your tax number"), record.partyTaxNumber),
    from.code ? pair(t("Customer number"), from.code) : null,
  );
}

/** Whether something is taken off the document as a whole: each line has a share of that in its discount. */
const isOffWhole = (record) => some(record.discountPercent) || some(record.discountAmount);
const NOTHING = new Decimal("0");
/** What a line takes off by itself. */
function ownDiscount(line, record) {
  if (!isOffWhole(record)) return line.discountValue;
  if (some(line.discountPercent)) return percentOf(line.grossAmount, line.discountPercent);
  return line.discountAmount ?? NOTHING;
}
/** A line comes to what is left after its own discount; what is off the whole stands below. */
const amountOf = (line, record) => sum([line.grossAmount, less(ownDiscount(line, record))]);

const off = (line) =>
  some(line.discountPercent) ? percent(line.discountPercent) : some(line.discountAmount) ? money(line.discountAmount) : "";
/** The taxes that are in the total: not what is kept back of it, nor what the other side owes itself. */
const charged = (taxes) => (taxes ?? []).filter(({ kind }) => kind !== "withholding" && kind !== "reverseCharge");
const rates = (line) => charged(line.taxes).map(({ name, kind, rate }) => (kind === "fixedPerUnit" ? name : percent(rate))).join(" + ");

const isTraded = (line) => line.lineType !== "text";

function lines(segment, record) {
  const traded = record.lines.filter(isTraded);
  const ofMoney = [
    [label("unitPrice"), (line) => money(line.unitPrice)],
    [t("Discount"), off],
    [t("Tax"), rates],
    [t("Amount"), (line) => money(amountOf(line, record))],
  ];
  const figures = [
    [label("quantity"), (line) => [number(line.quantity), line.unit].filter(Boolean).join(" ")],
    ...(isOfGoods(segment) ? [] : ofMoney),
  ].filter(([, told]) => traded.some((line) => told(line) !== ""));
  const row = (line) =>
    line.lineType === "text"
      ? h("tr", {}, h("td", { colspan: String(figures.length + 1) }, line.description))
      : h("tr", {}, h("td", {}, line.description), figures.map(([, told]) => h("td", { class: "figure" }, told(line))));
  const heads = figures.map(([name]) => h("th", { scope: "col", class: "figure" }, name));
  return h(
    "table",
    { class: "paper-lines" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, label("description")), heads)),
    h("tbody", {}, record.lines.map(row)),
  );
}

/** What takes off an invoice until nothing is left to pay. */
const SETTLED = ["amountPaid", "amountCredited", "amountDiscounted", "amountWrittenOff", "amountWithheld"];

/** What is taken off the whole, beyond what the lines take off by themselves. */
function wholeDiscount(record) {
  const own = record.lines.filter(isTraded).map((line) => ownDiscount(line, record));
  return sum([less(record.discountTotal), ...own]);
}

/** A tax with its rate. Where that is nothing, the code that the line names says why. */
function taxName({ name, kind, rate, taxCodeId }, codes) {
  const tax = kind === "fixedPerUnit" ? name : `${name} ${percent(rate)}`;
  const ground = rate.isZero ? codes.get(taxCodeId) : null;
  if (ground) return `${tax} (${ground})`;
  return ["standard", "zero", "fixedPerUnit"].includes(kind) ? tax : `${tax}, ${word(kind, "kind", "tax-codes")}`;
}

function sums(segment, record, codes) {
  const unit = record.currency;
  const row = (name, value, kind) => pair(name, isDecimal(value) ? money(value, unit) : null, kind);
  const rowOf = (name, value) => (some(value) ? row(name, value) : null);
  const isInside = record.pricesIncludeTax;
  const traded = record.lines.filter(isTraded);
  const subtotal = traded.length > 0 ? sum(traded.map((line) => amountOf(line, record))) : record.subtotal;
  const taxes = charged(record.taxSummary).map((one) => {
    const tax = taxName(one, codes);
    return row(isInside ? t("{tax} contained in it", { tax }) : t("{tax} of {base}", { tax, base: money(one.base) }), one.amount);
  });
  const whole = some(record.discountPercent) ? `${t("Discount")} ${percent(record.discountPercent)}` : t("Discount");
  const settled = segment === "sales-invoices" ? SETTLED.filter((name) => some(record[name])) : [];
  return h(
    "dl",
    { class: "paper-sums" },
    String(subtotal) === String(record.total) && (isInside || taxes.length === 0) ? null : row(t("Subtotal"), subtotal),
    isOffWhole(record) ? row(whole, wholeDiscount(record)) : null,
    isInside ? null : taxes,
    rowOf(label("roundingAmount"), record.roundingAmount),
    row(t("Total amount"), record.total, "sum"),
    isInside ? taxes : null,
    rowOf(t("Tax to be kept back when paying"), record.withheldTotal),
    settled.map((name) => row(label(name), less(record[name]))),
    settled.length > 0 ? row(t("To pay"), record.balanceDue, "sum") : null,
  );
}

const days = (from, count) => new Date(Date.parse(from) + count * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);

/** By when it is paid for less. */
function early(record, term) {
  if (!term || term.type !== "afterDate" || !some(term.discountPercent) || !term.discountDays) return null;
  const day = date(days(record.date, Number(String(term.discountDays))));
  return t("{percent} discount if paid by {day}", { percent: percent(term.discountPercent), day });
}

const bankOf = ({ iban, accountNumber, bic, bankName }) =>
  [bankName, iban ? `IBAN ${iban}` : accountNumber, bic ? `BIC ${bic}` : null].filter(Boolean).join(" · ");

function sheet(segment, record, { party, term, banks, bill, codes }) {
  const own = business();
  const name = own.legalName ?? own.name;
  const home = own.address?.country ?? own.country;
  const place = addressLines(own.address, home);
  const ended = ["draft", "void", "cancelled"].includes(record.status) && !isOffer(segment, record) ? ` (${word(record.status)})` : "";
  const isOpen = segment === "sales-invoices" && some(record.balanceDue);
  const isSale = RESOURCES[segment].customer;
  const isOwedThere = isSale && !isOfGoods(segment) && record.taxSummary?.some(({ kind }) => kind === "reverseCharge");
  const ship = addressLines(record.shippingAddress, home);
  const foot = [
    own.registrationNumber,
    own.taxNumber ? `${isVatNumber(own.taxNumber) ? t("VAT number") : label("taxNumber")} ${own.taxNumber}` : null,
    own.phone,
    own.email,
    own.website?.replace(/^\w+:\/\//, ""),
  ];
  return h(
    "article",
    { class: BY_STATE.slice(0, 2).includes(home) ? "paper is-letter" : "paper" },
    h("header", {}, h("strong", {}, name), h("span", {}, place.join(" · "))),
    h(
      "div",
      { class: "paper-top" },
      h("address", {}, h("strong", {}, record.partyName), written(addressLines(record.billingAddress ?? party?.billingAddress, home))),
      facts(record, { code: isSale ? party?.code : null, bill }),
    ),
    h("p", { class: "paper-title" }, [titleOf(segment, record), record.number].filter(Boolean).join(" "), ended),
    record.reason ? h("p", {}, `${label("reason")}: ${record.reason}`) : null,
    lines(segment, record),
    isOfGoods(segment) ? null : sums(segment, record, codes),
    isOwedThere ? h("p", {}, t("Reverse charge: the recipient owes the tax.")) : null,
    ship.length > 0 ? h("p", {}, `${label("shippingAddress")}: ${ship.join(", ")}`) : null,
    [record.notes, record.terms, isOpen ? early(record, term) : null].filter(Boolean).map((text) => h("p", { class: "why" }, text)),
    isOpen && banks.length > 0 ? h("p", {}, t("Please pay to:"), " ", banks.map((one) => h("span", { class: "block" }, bankOf(one)))) : null,
    h("footer", {}, foot.filter(Boolean).join(" · ")),
  );
}

/** What stands beside the record: whom it is for, how it is paid, and where to. What may not be seen is left out. */
async function beside(segment, record) {
  const quiet = { quiet: true };
  const one = (segmentOf, id, right) => (id && may(right) ? get(`/${segmentOf}/${id}`, null, quiet).catch(() => null) : null);
  const accounts =
    segment === "sales-invoices" && may("account.view")
      ? list("accounts", { type: "bank", status: "active", currency: record.currency, pageSize: 100 }, quiet).catch(() => null)
      : null;
  const free = [...new Set(charged(record.taxSummary).filter(({ rate }) => rate.isZero).map(({ taxCodeId }) => taxCodeId))];
  const [party, term, found, bill, ...codes] = await Promise.all([
    one("parties", record.partyId, "party.view"),
    one("payment-terms", record.paymentTermId, "paymentTerm.view"),
    accounts,
    one("purchase-invoices", record.purchaseInvoiceId, "purchaseInvoice.view"),
    ...free.map((id) => one("tax-codes", id, "taxCode.view")),
  ]);
  const named = new Map(codes.filter(Boolean).map((code) => [code.id, code.isSystem ? t(code.name) : code.name]));
  return { party, term, bill, codes: named, banks: (found?.items ?? []).map((account) => account.bankDetails).filter((bank) => bank && bankOf(bank)) };
}

let shown = null;

/** The page that is shown has a paper of this record as soon as it is printed; answers a button for it. */
export function paperOf(main, segment, record) {
  const mine = { main, segment, record, told: { party: null, term: null, bill: null, codes: new Map(), banks: [] } };
  const ready = beside(segment, record).then((told) => (mine.told = told));
  const button = h("button", { type: "button", id: "print", onclick: () => ready.finally(() => print()) }, t("Print"));
  shown = { ...mine, button, told: () => mine.told };
  return button;
}

addEventListener("beforeprint", () => {
  if (!shown?.button.isConnected) return;
  const { main, segment, record, told } = shown;
  const before = document.title;
  const paper = main.appendChild(sheet(segment, record, told()));
  document.title = [titleOf(segment, record), record.number].filter(Boolean).join(" ");
  addEventListener(
    "afterprint",
    () => {
      paper.remove();
      document.title = before;
    },
    { once: true },
  );
});

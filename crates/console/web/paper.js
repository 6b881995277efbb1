// A document as it is sent: what of its record concerns whoever gets it, on a sheet. It is made when the page is printed.

import { get, list } from "./api.js";
import { isDecimal, sum } from "./decimal.js";
import { h } from "./dom.js";
import { BY_STATE, addressLines, date, money, number } from "./format.js";
import { business, may } from "./frame.js";
import { label, t, word } from "./texts.js";

const TITLES = {
  "sales-invoices": "Invoice",
  "credit-notes": "Credit note",
  "sales-orders": "Order confirmation",
  "purchase-orders": "Purchase order",
};
/** Whether a document of this kind is sent to somebody. */
export const hasPaper = (segment) => Object.hasOwn(TITLES, segment);

/** An order that is not accepted yet is an offer. */
const isOffer = (segment, record) => segment === "sales-orders" && record.status === "draft";
const titleOf = (segment, record) => t(isOffer(segment, record) ? "Quotation" : TITLES[segment]);

const some = (value) => isDecimal(value) && !value.isZero;
const less = (value) => value.negative;

const written = (lines) => lines.map((line) => h("span", {}, line));
const pair = (name, value, kind) => (value ? h("div", { class: kind }, h("dt", {}, name), h("dd", {}, value)) : null);

/** What stands at the right of the address. */
function facts(record, from) {
  const days = ["date", "dueDate", "validUntil", "expectedDate", "expectedArrivalDate"];
  const texts = ["customerReference", "reference"];
  return h(
    "dl",
    { class: "paper-facts" },
    pair(label("number"), record.number),
    days.map((name) => pair(label(name), record[name] ? date(record[name]) : null)),
    texts.map((name) => pair(label(name), record[name])),
    pair(t("Your tax number"), record.partyTaxNumber),
    from.code ? pair(t("Customer number"), from.code) : null,
  );
}

/** A document that takes something off as a whole shows its lines before that, and any other after what is off each. */
const isOffWhole = (record) => some(record.discountPercent) || some(record.discountAmount);
const amountOf = (line, record) => (isOffWhole(record) ? line.grossAmount : sum([line.grossAmount, less(line.discountValue)]));

const off = (line) =>
  some(line.discountPercent) ? `${number(line.discountPercent)} %` : some(line.discountAmount) ? money(line.discountAmount) : "";
/** The taxes that are in the total: not what is kept back of it, nor what the other side owes itself. */
const charged = (taxes) => (taxes ?? []).filter(({ kind }) => kind !== "withholding" && kind !== "reverseCharge");
const rates = (line) => charged(line.taxes).map(({ name, kind, rate }) => (kind === "fixedPerUnit" ? name : `${number(rate)} %`)).join(" + ");

function lines(record) {
  const traded = record.lines.filter((line) => line.lineType !== "text");
  const figures = [
    [label("quantity"), (line) => [number(line.quantity), line.unit].filter(Boolean).join(" ")],
    [label("unitPrice"), (line) => money(line.unitPrice)],
    [t("Discount"), off],
    [t("Tax"), rates],
    [t("Amount"), (line) => money(amountOf(line, record))],
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

function sums(segment, record) {
  const unit = record.currency;
  const row = (name, value, kind) => pair(name, isDecimal(value) ? money(value, unit) : null, kind);
  const rowOf = (name, value) => (some(value) ? row(name, value) : null);
  const called = ({ name, kind, rate }) => {
    const tax = kind === "fixedPerUnit" ? name : `${name} ${number(rate)} %`;
    return ["standard", "zero", "fixedPerUnit"].includes(kind) ? tax : `${tax}, ${word(kind, "kind", "tax-codes")}`;
  };
  const isInside = record.pricesIncludeTax;
  const traded = record.lines.filter((line) => line.lineType !== "text");
  const subtotal = traded.length > 0 ? sum(traded.map((line) => amountOf(line, record))) : record.subtotal;
  const taxes = charged(record.taxSummary).map((one) =>
    row(isInside ? t("{tax} contained in it", { tax: called(one) }) : t("{tax} of {base}", { tax: called(one), base: money(one.base) }), one.amount),
  );
  const settled = segment === "sales-invoices" ? SETTLED.filter((name) => some(record[name])) : [];
  return h(
    "dl",
    { class: "paper-sums" },
    String(subtotal) === String(record.total) && (isInside || taxes.length === 0) ? null : row(t("Subtotal"), subtotal),
    isOffWhole(record) ? row(t("Discount"), less(record.discountTotal)) : null,
    isInside ? null : taxes,
    rowOf(label("roundingAmount"), record.roundingAmount),
    row(t("Total"), record.total, "sum"),
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
  return t("{percent} % discount if paid by {day}", { percent: number(term.discountPercent), day });
}

const bankOf = ({ iban, accountNumber, bic, bankName }) =>
  [bankName, iban ? `IBAN ${iban}` : accountNumber, bic ? `BIC ${bic}` : null].filter(Boolean).join(" · ");

function sheet(segment, record, { party, term, banks }) {
  const own = business();
  const name = own.legalName ?? own.name;
  const home = own.address?.country ?? own.country;
  const place = addressLines(own.address, home);
  const ended = ["draft", "void", "cancelled"].includes(record.status) && !isOffer(segment, record) ? ` (${word(record.status)})` : "";
  const isOpen = segment === "sales-invoices" && some(record.balanceDue);
  const isOwedThere = segment !== "purchase-orders" && record.taxSummary?.some(({ kind }) => kind === "reverseCharge");
  const ship = addressLines(record.shippingAddress, home);
  const foot = [
    own.registrationNumber,
    own.taxNumber ? `${label("taxNumber")} ${own.taxNumber}` : null,
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
      facts(record, { code: segment === "purchase-orders" ? null : party?.code }),
    ),
    h("p", { class: "paper-title" }, [titleOf(segment, record), record.number].filter(Boolean).join(" "), ended),
    lines(record),
    sums(segment, record),
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
  const [party, term, found] = await Promise.all([
    one("parties", record.partyId, "party.view"),
    one("payment-terms", record.paymentTermId, "paymentTerm.view"),
    accounts,
  ]);
  return { party, term, banks: (found?.items ?? []).map((account) => account.bankDetails).filter((bank) => bank && bankOf(bank)) };
}

let shown = null;

/** The page that is shown has a paper of this record as soon as it is printed; answers a button for it. */
export function paperOf(main, segment, record) {
  const mine = { main, segment, record, told: { party: null, term: null, banks: [] } };
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

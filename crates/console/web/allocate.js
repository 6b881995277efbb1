// What a receipt, a payment or a note settles after the day on which it was written, and how that is undone.

import { ask, get, list, newKey } from "./api.js";
import { compare, isDecimal, sum } from "./decimal.js";
import { dialog, tell } from "./dialog.js";
import { h } from "./dom.js";
import { markFault } from "./faults.js";
import { amount, date, money, typedMoney } from "./format.js";
import { may, noun } from "./frame.js";
import { called, nameOf } from "./names.js";
import { segmentOf } from "./resources.js";
import { leftOver } from "./settling.js";
import { label, t } from "./texts.js";

/** What each of them may settle. */
const SETTLES = {
  receipts: ["salesInvoice", "debitNote"],
  payments: ["purchaseInvoice", "creditNote"],
  "credit-notes": ["salesInvoice"],
  "debit-notes": ["purchaseInvoice"],
};

/** What a note takes off an invoice, as it names it. */
const NAMES = { "credit-notes": "salesInvoiceId", "debit-notes": "purchaseInvoiceId" };

const leftOf = (record) => record.unallocatedAmount ?? record.remainingCredit;
const lesser = (one, other) => (compare(one, other) < 0 ? one : other);

const settle = (segment, record, { targetId, targetType, of }, key = newKey()) =>
  ask("POST", `/${segment}/${record.id}/allocations`, { body: { targetId, targetType, amount: of }, headers: { "Idempotency-Key": key } });

/** The invoice that a note names, as long as anything of both is open: most notes are written to be set against it. */
export async function namedBy(segment, record) {
  const id = record[NAMES[segment]];
  const [kind] = SETTLES[segment] ?? [];
  if (!id || !may(`${noun(segmentOf(kind))}.view`)) return null;
  const invoice = await get(`/${segmentOf(kind)}/${id}`, null, { quiet: true });
  const isOpen = isDecimal(invoice.balanceDue) && !invoice.balanceDue.isZero && !["draft", "void"].includes(invoice.status);
  return isOpen && invoice.currency === record.currency && !leftOf(record).isZero ? { invoice, kind } : null;
}

/** A note is set against the invoice that it names: as much as is open of both. */
export function setAgainst(segment, record, { invoice, kind }, again) {
  const of = lesser(leftOf(record), invoice.balanceDue.size);
  const what = called(invoice, segmentOf(kind));
  const rest = (of, whole) => money(sum([whole, of.negative]), record.currency);
  const key = newKey();
  dialog({
    title: t("Set against {what}", { what }),
    confirm: t("Settle"),
    cancel: t("Back"),
    body: [
      h("p", {}, t("{amount} of it settle {what}.", { amount: money(of, record.currency), what })),
      h("p", { class: "quiet" }, t("Then {open} of {what} is open, and {left} of this one.", { what, open: rest(of, invoice.balanceDue.size), left: rest(of, leftOf(record)) })),
    ],
    async act(close) {
      await settle(segment, record, { targetId: invoice.id, targetType: kind, of }, key);
      close();
      tell(t("1 document is settled with it."));
      again();
    },
  });
}

/** What is left of it goes to what is open. */
export async function allocate(segment, record, again) {
  const items = (await list(`parties/${record.partyId}/open-items`, { pageSize: 100 })).items;
  const named = (one) => one.documentId === record[NAMES[segment]];
  const open = items
    .filter((one) => SETTLES[segment].includes(one.type) && one.id !== record.id)
    .toSorted((one, other) => named(other) - named(one));
  const left = leftOf(record);
  const inputs = new Map();
  const nothing = h("p", { class: "fault", role: "alert", hidden: true }, t("Nothing is chosen."));
  const rest = leftOver();
  const follow = () => {
    nothing.hidden = true;
    const said = [...inputs].filter(([, input]) => input.value.trim() !== "");
    rest.show(left, said.map(([item, input]) => [amount(input.value), item.currency]), record.currency);
  };
  const row = (item) => {
    const input = h("input", {
      class: "amount",
      type: "text",
      inputmode: "decimal",
      "data-target": item.id,
      "data-kind": item.type,
      "aria-label": t("Settle of {number}", { number: item.documentNumber }),
      oninput: follow,
    });
    inputs.set(item, input);
    const fill = () => {
      // As much as the others leave of it.
      const others = [...inputs].filter(([other, one]) => other !== item && one.value.trim() !== "").map(([, one]) => amount(one.value));
      const rest = item.currency === record.currency && others.every(isDecimal) ? sum([left, ...others.map((one) => one.negative)]) : null;
      const all = item.openAmount.size;
      input.value = typedMoney(rest && !rest.isNegative && !rest.isZero ? lesser(rest, all) : all, item.currency);
      follow();
    };
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, item.documentNumber),
      h("td", { "data-label": label("dueDate") }, date(item.dueDate)),
      h("td", { class: "figure", "data-label": t("Open") }, money(item.openAmount.size, item.currency)),
      h("td", { class: "figure", "data-label": t("Settles") }, h("div", { class: "settle" }, input, h("button", { type: "button", onclick: fill }, t("All")))),
    );
  };
  const heads = [t("Document"), label("dueDate"), t("Open"), t("Settles")];
  let current = null;
  dialog({
    title: t("What it settles"),
    wide: true,
    confirm: open.length > 0 ? t("Settle") : null,
    cancel: t("Back"),
    body: [
      h("p", {}, t("Not yet used: {amount}", { amount: money(left, record.currency) })),
      open.length > 0
        ? [
            h(
              "div",
              { class: "scroll" },
              h(
                "table",
                { class: "list" },
                h("thead", {}, h("tr", {}, heads.map((text, at) => h("th", { scope: "col", class: at > 1 ? "figure" : null }, text)))),
                h("tbody", {}, open.map(row)),
              ),
            ),
            nothing,
            rest.element,
          ]
        : h("p", {}, t("Nothing of this contact is open.")),
    ],
    find: (name) => (["amount", "targetId"].includes(name) ? current : null),
    async act(close) {
      const said = [...inputs.values()].filter((input) => input.value.trim() !== "");
      const wrong = said.filter((input) => !isDecimal(amount(input.value)));
      for (const input of wrong) markFault(input, t("This is no number."));
      nothing.hidden = said.length > 0;
      if (said.length === 0 || wrong.length > 0) return void (wrong[0] ?? [...inputs.values()][0]).focus();
      for (const input of said) {
        current = input;
        await settle(segment, record, { targetId: input.dataset.target, targetType: input.dataset.kind, of: amount(input.value) });
        input.value = "";
      }
      close();
      tell(said.length === 1 ? t("1 document is settled with it.") : t("{count} documents are settled with it.", { count: said.length }));
      again();
    },
  });
  follow();
}

/** Ends an assignment; the documents stay. `sum` is what of `kind` with this `id` was settled, as a text. */
export async function endAllocation(one, { kind, id, sum }, again) {
  const document = await nameOf(segmentOf(kind), id);
  dialog({
    title: t("Undo this allocation?"),
    confirm: t("Undo allocation"),
    isGrave: true,
    cancel: t("Back"),
    body: [
      h("p", {}, h("strong", {}, document), " · ", sum),
      h("p", {}, t("Both documents stay; what was settled is open again.")),
    ],
    async act(close) {
      await ask("DELETE", `/allocations/${one.id}`);
      close();
      tell(t("The allocation to {what} is undone.", { what: document }));
      again();
    },
  });
}

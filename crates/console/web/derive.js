// The next document of one: of each line as much as the reader says, at first all that is open.

import { ask, newKey } from "./api.js";
import { isDecimal } from "./decimal.js";
import { dialog, fault, tell } from "./dialog.js";
import { h, replace } from "./dom.js";
import { markFault } from "./faults.js";
import { amount, money, shown, typed } from "./format.js";
import { called } from "./names.js";
import { address, field, rehearsing } from "./rehearsal.js";
import { go, path } from "./route.js";
import { label, t } from "./texts.js";

/** Makes the next document of this one. */
export const DERIVE = {
  deliver: "Create delivery note",
  receive: "Create receipt note",
  invoice: "Create invoice",
  return: "Take goods back",
  credit: "Create credit note",
};
/** What it is called where another kind of document comes of it. */
const DERIVE_OF = {
  "receipt-notes": { invoice: "Enter the bill", return: "Send goods back" },
  "purchase-orders": { invoice: "Enter the bill" },
  "purchase-invoices": { credit: "Create debit note" },
};
export const derived = (segment, verb) => DERIVE_OF[segment]?.[verb] ?? DERIVE[verb];

/** Of these a note may credit money as well as pieces. */
const INVOICES = ["sales-invoices", "purchase-invoices"];

/** Its lines, each with a field for how many or how much of it. What is no number is said there, and so is that nothing is chosen. */
function chooser(record, open) {
  const lines = record.lines.filter((line) => open.has(line.id));
  const inputs = new Map();
  const ofMoney = (line) => (record.pricesIncludeTax ? line.grossAmount : line.netAmount);
  let byMoney = false;
  const row = (line) => {
    const input = h("input", {
      class: "amount",
      type: "text",
      inputmode: "decimal",
      "data-line": line.id,
      oninput: () => (nothing.hidden = true),
      "aria-label": byMoney ? t("How much of {what}", { what: line.description ?? "" }) : t("How many of {what}", { what: line.description ?? "" }),
      value: byMoney ? "" : typed(open.get(line.id)),
    });
    inputs.set(line.id, input);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, line.description ?? t("Line {number}", { number: shown(line.lineNo) })),
      h(
        "td",
        { class: "figure", "data-label": byMoney ? t("On the invoice") : t("Open") },
        byMoney ? money(ofMoney(line), record.currency) : [shown(open.get(line.id)), " ", line.unit],
      ),
      h("td", { class: "figure", "data-label": byMoney ? label("amount") : t("Now") }, input),
    );
  };
  const place = h("div", { class: "scroll" });
  const nothing = h("p", { class: "fault", role: "alert", id: "act-nothing", hidden: true }, t("Nothing is chosen."));
  const draw = (isMoney) => {
    byMoney = isMoney;
    nothing.hidden = true;
    const heads = [t("Line"), byMoney ? t("On the invoice") : t("Open"), byMoney ? label("amount") : t("Now")];
    replace(
      place,
      h(
        "table",
        { class: "list" },
        h("thead", {}, h("tr", {}, heads.map((text, at) => h("th", { scope: "col", class: at > 0 ? "figure" : null }, text)))),
        h("tbody", {}, lines.map(row)),
      ),
    );
  };
  /** What is chosen, each with its field; nothing where it is not to be sent as it stands. */
  const read = () => {
    const all = [...inputs].map(([lineId, input]) => ({ lineId, input, of: amount(input.value) }));
    const wrong = all.filter((one) => one.of !== null && !isDecimal(one.of));
    const chosen = all.filter((one) => isDecimal(one.of) && !one.of.isZero);
    for (const { input } of wrong) markFault(input, t("This is no number."));
    nothing.hidden = wrong.length > 0 || chosen.length > 0;
    return wrong.length > 0 || chosen.length === 0 ? null : chosen;
  };
  const said = (one) => ({ lineId: one.lineId, [byMoney ? "amount" : "quantity"]: one.of });
  const toMend = () => place.querySelector("[aria-invalid]") ?? place.querySelector("input");
  draw(false);
  return { element: h("div", {}, place, nothing), draw, read, said, toMend, count: lines.length };
}

export async function derive(segment, record, etag, verb) {
  const to = await address(segment, verb, record.id);
  if (to === null) return;
  const key = newKey();
  let offered;
  try {
    offered = (await ask("POST", to, { query: { dryRun: "true" }, body: {}, quiet: true })).data;
  } catch (error) {
    return void fault(error);
  }
  const isNote = verb === "credit" && INVOICES.includes(segment);
  const lines = chooser(record, new Map(offered.lines.filter((line) => line.sourceLineId).map((line) => [line.sourceLineId, line.quantity])));
  const seen = h("div", {});
  const rehearse = rehearsing(seen);
  const isDraft = h("input", { type: "checkbox", id: "act-draft", checked: offered.status === "draft" });
  const kind = h(
    "select",
    { id: "act-kind", name: "kind", onchange: () => lines.draw(kind.value === "priceAdjustment") },
    h("option", { value: "return" }, t("Goods come back")),
    h("option", { value: "priceAdjustment" }, t("The price is adjusted")),
  );
  let sent = [];
  /** Nothing where it is not to be sent as it stands: without a word of lines, all that is left would be meant. */
  const body = () => {
    const told = { date: box.querySelector("[name=date]").value, status: isDraft.checked ? "draft" : "posted" };
    for (const name of ["reference", "reason"]) {
      const text = box.querySelector(`[name=${name}]`)?.value.trim();
      if (text) told[name] = text;
    }
    if (isNote) told.kind = kind.value;
    if (lines.count === 0) return told;
    const chosen = lines.read();
    if (chosen === null) return null;
    sent = chosen;
    return { ...told, lines: chosen.map(lines.said) };
  };
  const box = dialog({
    title: t(derived(segment, verb)),
    wide: true,
    confirm: t(derived(segment, verb)),
    cancel: t("Back"),
    body: [
      h(
        "div",
        { class: "fields" },
        field("date", t("Date"), { type: "date", value: offered.date }),
        verb === "invoice" && segment in DERIVE_OF ? field("reference", t("Supplier's invoice number"), { type: "text", maxlength: 100 }) : null,
        isNote
          ? [
              h("p", { class: "field" }, h("label", { for: "act-kind" }, t("What it is for")), kind),
              field("reason", t("Reason"), { type: "text", maxlength: 500 }),
            ]
          : null,
      ),
      lines.count > 0 ? lines.element : null,
      h("label", { class: "check" }, isDraft, t("As a draft, to be looked at before it is booked")),
      seen,
    ],
    find: (name) => sent[Number(/^lines\[(\d+)\]/.exec(name)?.[1])]?.input,
    async act(close) {
      const said = body();
      if (said === null) return void lines.toMend().focus();
      const { data, location: made } = await ask("POST", to, {
        body: said,
        headers: { "Idempotency-Key": key, ...(etag ? { "If-Match": etag } : {}) },
      });
      close();
      const next = made.split("/").at(-2);
      tell(t("Made: {what}.", { what: called(data, next) }));
      go(data.status === "draft" ? path(next, data.id, "edit") : path(next, data.id));
    },
  });
  const look = () => rehearse(to, body(), isDraft.checked);
  box.addEventListener("change", look);
  look();
}

// What money settles: invoices and bills of a party that are open, each with what of it is paid.

import { list } from "./api.js";
import { compare, isDecimal, sum } from "./decimal.js";
import { fault } from "./dialog.js";
import { fresh, h, replace } from "./dom.js";
import { amount, date, money, typedMoney } from "./format.js";
import { currency } from "./frame.js";
import { label, t } from "./texts.js";

/** What of an amount is left when some of it is given away, as a line that says so; in other currencies nobody can tell. */
export function leftOver() {
  const element = h("p", { class: "left-over", role: "status" });
  const show = (whole, parts, unit) => {
    const rest = isDecimal(whole) && parts.every(([, other]) => other === unit) ? sum([whole, ...parts.map(([one]) => one?.negative)]) : null;
    element.classList.toggle("minus", rest?.isNegative === true);
    element.textContent =
      rest === null
        ? ""
        : rest.isNegative
          ? t("More is allocated than there is: {amount}", { amount: money(rest, unit) })
          : t("Left to allocate: {amount}", { amount: money(rest, unit) });
  };
  return { element, show };
}

/** Invoices and bills that a receipt or payment may settle, each with what of it is paid. As long as nobody typed another
 * amount, it is what is settled together; and as long as nobody typed what is settled of the one that they came for, that follows the
 * amount, as far as there is anything open. */
export function settling(form, first, changed) {
  const place = h("div", {});
  const fields = new Map();
  let party = null;
  /** What the form itself has put where it settles something, and where. */
  let own = null;
  const rest = leftOver();
  const whole = form.fields.get("amount");
  let followed = first ? whole.input.value.trim() : "";
  const settling = () => [...fields].filter(([, input]) => input.value.trim() !== "");
  const unitOf = () => form.fields.get("currency")?.get() ?? currency();
  const tellRest = () => rest.show(whole.get(), settling().map(([item, input]) => [amount(input.value), item.currency]), unitOf());
  const follow = () => {
    const settled = settling();
    const unit = unitOf();
    const together = settled.every(([item]) => item.currency === unit) ? sum(settled.map(([, input]) => amount(input.value))) : null;
    if (together !== null && whole.input.value.trim() === followed) {
      whole.set(settled.length > 0 ? together : null);
      followed = whole.input.value.trim();
    }
    tellRest();
    changed();
  };
  const followAmount = () => {
    const [[item, input] = [], ...others] = settling();
    const paid = whole.get();
    const isOwn = own !== null && input === own.input && input.value === own.text && others.length === 0;
    if (!isOwn || item.currency !== unitOf() || !isDecimal(paid) || paid.isNegative || paid.isZero) return;
    const open = item.openAmount.size;
    const text = typedMoney(compare(paid, open) < 0 ? paid : open, item.currency);
    if (text === own.text) return;
    input.value = text;
    own.text = text;
    changed();
  };
  /** Faults find their fields by the form: it has them by their places among those that are sent. */
  const cells = [];
  const isSent = (input) => input.value.trim() !== "";
  const known = (item, input, fault) => {
    const cell = { input, fault, id: input.id, title: item.documentNumber, get: () => (isSent(input) ? input.value : null) };
    cells.push({ record: {}, cells: ["amount", "targetId", "targetType"].map((name) => ({ ...cell, name })) });
    form.fields.set(`allocations.${item.id}`, cell);
  };
  form.fields.set("allocations", { isGrid: true, rows: cells, get: () => null, fault: null });
  const forget = () => {
    for (const item of fields.keys()) form.fields.delete(`allocations.${item.id}`);
    cells.length = 0;
    own = null;
    fields.clear();
  };
  const draw = async () => {
    followAmount();
    tellRest();
    const chosen = form.fields.get("partyId")?.get() ?? null;
    if (chosen === party) return;
    party = chosen;
    forget();
    if (party === null) return void replace(place);
    let items;
    try {
      items = (await list(`parties/${party}/open-items`, { pageSize: 100 })).items;
    } catch (error) {
      return void fault(error);
    }
    const settles = form.segment === "receipts" ? ["salesInvoice", "debitNote"] : ["purchaseInvoice", "creditNote"];
    const open = items.filter((one) => settles.includes(one.type));
    const row = (item) => {
      const id = fresh("settles");
      const fault = h("span", { class: "fault", id: `${id}-fault`, hidden: true });
      const input = h("input", {
        id,
        type: "text",
        inputmode: "decimal",
        class: "amount",
        "aria-label": t("Settle of {number}", { number: item.documentNumber }),
        value: first?.targetId === item.id ? typedMoney(first.amount ?? item.openAmount.size, item.currency) : "",
        oninput: follow,
      });
      fields.set(item, input);
      if (input.value !== "") own = { input, text: input.value };
      known(item, input, fault);
      const all = h(
        "button",
        {
          type: "button",
          onclick: () => {
            input.value = typedMoney(item.openAmount.size, item.currency);
            follow();
          },
        },
        t("All"),
      );
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, item.documentNumber),
        h("td", { "data-label": label("dueDate") }, date(item.dueDate)),
        h("td", { class: "figure", "data-label": t("Open") }, money(item.openAmount.size, item.currency)),
        h("td", { class: "figure", "data-label": t("Settles") }, h("div", { class: "settle" }, input, all), fault),
      );
    };
    replace(
      place,
      h(
        "section",
        { class: "card" },
        h("h2", {}, t("What it settles")),
        open.length === 0
          ? h("p", { class: "quiet" }, t("Nothing of this contact is open. The amount stays as an advance."))
          : h(
              "div",
              { class: "scroll" },
              h(
                "table",
                { class: "list" },
                h(
                  "thead",
                  {},
                  h(
                    "tr",
                    {},
                    h("th", { scope: "col" }, t("Document")),
                    h("th", { scope: "col" }, label("dueDate")),
                    h("th", { scope: "col", class: "figure" }, t("Open")),
                    h("th", { scope: "col", class: "figure" }, t("Settles")),
                  ),
                ),
                h("tbody", {}, open.map(row)),
              ),
            ),
        open.length === 0 ? null : rest.element,
      ),
    );
    followAmount();
    tellRest();
    changed();
  };
  const read = () =>
    [...fields]
      .filter(([, input]) => input.value.trim() !== "")
      .map(([item, input]) => ({ targetId: item.id, targetType: item.type, amount: amount(input.value) }));
  return { place, draw, read };
}

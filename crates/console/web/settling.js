// What money settles: invoices and bills of a party that are open, each with what of it is paid.

import { list } from "./api.js";
import { sum } from "./decimal.js";
import { fault } from "./dialog.js";
import { h, replace } from "./dom.js";
import { amount, date, money, typed } from "./format.js";
import { currency } from "./frame.js";
import { label, t } from "./texts.js";

/** Invoices and bills that a receipt or payment may settle, each with what of it is paid. As long as nobody typed another
 * amount, it is what is settled together. */
export function settling(form, first, changed) {
  const place = h("div", {});
  const fields = new Map();
  let party = null;
  let followed = typed(first?.amount);
  const follow = () => {
    const whole = form.fields.get("amount");
    const settled = [...fields].filter(([, input]) => input.value.trim() !== "");
    const unit = form.fields.get("currency")?.get() ?? currency();
    const together = settled.every(([item]) => item.currency === unit) ? sum(settled.map(([, input]) => amount(input.value))) : null;
    if (together !== null && whole.input.value.trim() === followed) {
      followed = settled.length > 0 ? typed(together) : "";
      whole.set(settled.length > 0 ? together : null);
    }
    changed();
  };
  const draw = async () => {
    const chosen = form.fields.get("partyId")?.get() ?? null;
    if (chosen === party) return;
    party = chosen;
    fields.clear();
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
      const input = h("input", {
        type: "text",
        inputmode: "decimal",
        class: "amount",
        "aria-label": t("Settle of {number}", { number: item.documentNumber }),
        value: first?.targetId === item.id ? typed(first.amount ?? item.openAmount.size) : "",
        oninput: follow,
      });
      fields.set(item, input);
      const all = h(
        "button",
        {
          type: "button",
          onclick: () => {
            input.value = typed(item.openAmount.size);
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
        h("td", { class: "figure", "data-label": t("Settles") }, h("div", { class: "settle" }, input, all)),
      );
    };
    replace(
      place,
      h(
        "section",
        { class: "card" },
        h("h2", {}, t("What it settles")),
        open.length === 0
          ? h("p", { class: "quiet" }, t("Nothing of this party is open. The amount stays as an advance."))
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
      ),
    );
    changed();
  };
  const read = () =>
    [...fields]
      .filter(([, input]) => input.value.trim() !== "")
      .map(([item, input]) => ({ targetId: item.id, targetType: item.type, amount: amount(input.value) }));
  return { place, draw, read };
}

// How many there are by the books, beside what somebody counts: each item as it is at the end of the day of the document.

import { get } from "./api.js";
import { Decimal } from "./decimal.js";
import { h } from "./dom.js";
import { shown } from "./format.js";
import { t } from "./texts.js";

/** Of one item and one day, which is a question of a few rows; an item without a row has no stock. */
async function asked(itemId, asOf) {
  const [report, item] = await Promise.all([
    get("/reports/stock-valuation", { itemId, asOf }, { quiet: true }),
    get(`/items/${itemId}`, { fields: "unit" }, { quiet: true }).catch(() => null),
  ]);
  const at = report.columns.findIndex(({ key }) => key === "quantity");
  const there = report.rows.find((row) => row.itemId === itemId)?.values[at] ?? new Decimal("0");
  return t("On hand: {quantity}", { quantity: [shown(there), item?.unit].filter(Boolean).join(" ") });
}

/** Keeps below the item of each line what there is of it. */
export function onHand(form) {
  const known = new Map();
  const notes = new WeakMap();
  const said = (itemId, asOf) => {
    const key = `${itemId} ${asOf}`;
    // What cannot be asked is not said; whoever counts needs it not.
    if (!known.has(key)) known.set(key, asked(itemId, asOf).catch(() => ""));
    return known.get(key);
  };
  const noteAt = (cell) => {
    if (!notes.has(cell)) {
      notes.set(cell, h("span", { class: "quiet small block on-hand", role: "status" }));
      cell.element.after(notes.get(cell));
    }
    return notes.get(cell);
  };
  const draw = () => {
    const day = form.fields.get("date").get();
    for (const cells of form.rows) {
      const cell = cells.find(({ name }) => name === "itemId");
      const place = noteAt(cell);
      const item = cell.get();
      const mine = item && day ? `${item} ${day}` : "";
      if (place.dataset.of === mine) continue;
      place.dataset.of = mine;
      if (mine === "") place.textContent = "";
      else said(item, day).then((text) => place.dataset.of === mine && (place.textContent = text));
    }
  };
  return { draw };
}

// Types of events, put together of what a record is and what happens to it, for whoever does not know them by heart.

import { h, replace } from "./dom.js";
import { may, noun } from "./frame.js";
import { RESOURCES } from "./resources.js";
import { filtersOf } from "./schema.js";
import { label, t, word } from "./texts.js";

/** What happens to a record that is no document. */
const PLAINLY = ["created", "updated", "deleted"];
/** What only happens to invoices, to goods, and to companies. */
const RARE = { overdue: ["sales-invoices", "purchase-invoices"], low: ["items"], sealed: [] };
/** What is told of something else than of the record that has it. */
const ASIDE = { "item.low": "stock.low" };

/** Whether this is ever told of records of a resource; of any, where none is named. */
const happens = (action, segment) => {
  if (action in RARE) return segment === "" ? RARE[action].length > 0 : RARE[action].includes(segment);
  return segment === "" || RESOURCES[segment].isDocument || PLAINLY.includes(action);
};

/** Two choices and a button, which puts the type that they make behind those that a field has already. */
export function eventTypes(input, changed) {
  const whose = h("select", { "aria-label": t("What of") });
  const what = h("select", { "aria-label": t("What happens") });
  const all = Object.keys(RESOURCES).filter((segment) => may(`${noun(segment)}.view`));
  const named = all.map((segment) => [segment, label(RESOURCES[segment].stem)]).toSorted((a, b) => a[1].localeCompare(b[1]));
  replace(
    whose,
    h("option", { value: "" }, t("Any record")),
    named.map(([segment, name]) => h("option", { value: segment }, name)),
  );
  let actions = PLAINLY;
  const offer = () => {
    const known = actions.filter((action) => happens(action, whose.value));
    replace(
      what,
      h("option", { value: "*" }, t("Whatever happens")),
      known.map((action) => h("option", { value: action }, word(action))),
    );
  };
  whose.onchange = offer;
  offer();
  filtersOf("auditLog").then(({ filters }) => {
    actions = filters.find((one) => one.name === "action")?.words ?? actions;
    offer();
  });
  const add = () => {
    const made = `${whose.value === "" ? "*" : noun(whose.value)}.${what.value}`;
    const said = input.value.split(",").map((one) => one.trim()).filter(Boolean);
    const type = ASIDE[made] ?? made;
    if (!said.includes(type)) input.value = [...said, type].join(", ");
    changed();
  };
  return h(
    "div",
    { class: "makes-type" },
    whose,
    what,
    h("button", { type: "button", id: "add-type", onclick: add }, t("Add")),
  );
}

// A field that finds a record by a few letters: parties, items, accounts and whatever else an identifier leads to.

import { list } from "./api.js";
import { fresh, h, later, replace } from "./dom.js";
import { date, money } from "./format.js";
import { called, nameOf, remember } from "./names.js";
import { RESOURCES } from "./resources.js";
import { t } from "./texts.js";

const ONLY = { accounts: { isGroup: "false", status: "active" }, items: { status: "active" } };

/**
 * `narrow` is asked beside the letters. `chosen` is told the whole record, so that a line can take its price along.
 */
export function picker({ segment, id, value, narrow = {}, onchange, chosen, name }) {
  const listId = fresh("options");
  const input = h("input", {
    id,
    name,
    type: "text",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    "aria-expanded": "false",
    "aria-controls": listId,
    "aria-autocomplete": "list",
    placeholder: t("Type to find"),
  });
  const options = h("ul", { id: listId, role: "listbox", class: "options", hidden: true });
  const element = h("div", { class: "picker" }, input, options);
  let current = value ?? null;
  let shownAs = "";
  let found = [];
  let at = -1;
  let asked = 0;

  const show = async () => {
    shownAs = current === null ? "" : await nameOf(segment, current);
    if (document.activeElement !== input || input.value === "") input.value = shownAs;
    // What is longer than the field is read by pointing at it.
    if (shownAs) input.title = shownAs;
  };
  if (current !== null) show();

  const close = () => {
    options.hidden = true;
    options.replaceChildren();
    found = [];
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (record) => {
    current = record?.id ?? null;
    if (record) remember(segment, record);
    shownAs = record ? called(record, segment) : "";
    input.value = shownAs;
    input.title = shownAs;
    close();
    if (record) chosen?.(record);
    onchange?.();
  };
  const mark = (next) => {
    at = next;
    [...options.children].forEach((one, index) => one.setAttribute("aria-selected", index === at));
    const one = options.children[at];
    if (one) {
      input.setAttribute("aria-activedescendant", one.id);
      one.scrollIntoView({ block: "nearest" });
    }
  };
  /** Of documents the latest come first, each with its day and what it comes to. */
  const isDocument = RESOURCES[segment]?.isDocument === true;
  const beside = (record) => {
    const sum = record.total ?? record.amount;
    if (isDocument) return [record.partyName, date(record.date), sum ? money(sum, record.currency) : null].filter(Boolean).join(" · ");
    return segment === "parties" ? record.code : null;
  };
  const look = async () => {
    const turn = ++asked;
    const letters = input.value === shownAs ? "" : input.value.trim();
    let page;
    try {
      page = await list(segment, { ...ONLY[segment], ...narrow, q: letters, pageSize: 12, sort: isDocument ? RESOURCES[segment].sort : null }, { quiet: true });
    } catch {
      page = { items: [] };
    }
    if (turn !== asked || document.activeElement !== input) return;
    // What begins with the letters is meant before what has them somewhere.
    const begins = (record) => [record.name, record.code, record.number].some((one) => one?.toLowerCase().startsWith(letters.toLowerCase()));
    found = letters === "" ? page.items : page.items.toSorted((a, b) => begins(b) - begins(a));
    const option = (record, index) =>
      h(
        "li",
        {
          role: "option",
          id: `${listId}-${index}`,
          "aria-selected": "false",
          onmousedown: (event) => {
            event.preventDefault();
            take(record);
          },
        },
        h("span", { class: isDocument ? "nowrap" : null }, called(record, segment)),
        beside(record) ? h("span", { class: "quiet" }, beside(record)) : null,
      );
    replace(
      options,
      found.map(option),
      found.length === 0 ? h("li", { class: "quiet", role: "option", "aria-disabled": "true" }, t("Nothing found")) : null,
    );
    options.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (found.length > 0 && letters !== "") mark(0);
  };
  const soon = later(150, look);

  input.addEventListener("focus", () => {
    input.select();
  });
  input.addEventListener("click", () => options.hidden && current === null && look());
  input.addEventListener("input", soon);
  input.addEventListener("blur", () => {
    asked++;
    close();
    if (input.value.trim() === "" && current !== null) take(null);
    else input.value = shownAs;
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (options.hidden) return void look();
      const step = event.key === "ArrowDown" ? 1 : -1;
      mark((at + step + found.length) % Math.max(found.length, 1));
    } else if (event.key === "Enter" && !options.hidden && found[at]) {
      event.preventDefault();
      take(found[at]);
    } else if (event.key === "Tab" && !options.hidden && found[at] && input.value !== shownAs) {
      take(found[at]);
    } else if (event.key === "Escape" && !options.hidden) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  });
  return {
    element,
    input,
    get: () => current,
    set: (next) => {
      current = next;
      input.value = "";
      show();
    },
  };
}

// A field that finds a record by a few letters: parties, items, accounts and whatever else an identifier leads to.

import { list } from "./api.js";
import { fresh, h, later, replace } from "./dom.js";
import { markFault } from "./faults.js";
import { date, money } from "./format.js";
import { called, nameOf, remember } from "./names.js";
import { RESOURCES } from "./resources.js";
import { t } from "./texts.js";

const ONLY = { accounts: { isGroup: "false", status: "active" }, items: { status: "active" } };

let isPressed = false;
addEventListener("pointerdown", () => (isPressed = true), true);
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (isPressed = false), true);
/** A word that moves the page would take away the button that is just being pressed. */
const released = () => new Promise((done) => addEventListener("pointerup", () => setTimeout(done), { once: true, capture: true }));

/** What a record goes by. */
const names = (record) => [record.name, record.code, record.number].filter(Boolean).map((one) => one.toLowerCase());

/**
 * `narrow` is asked beside the letters. `chosen` is told the whole record, so that a line can take its price along. What was typed
 * and is nobody's name stays, with a word below it: `isUnchosen` tells whoever would save.
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
  /** For which letters `found` is what there is. */
  let foundFor = null;
  let why = "";

  const isUnchosen = () => input.value.trim() !== "" && input.value !== shownAs;
  const isEmptied = () => shownAs !== "" && input.value.trim() === "";
  const mended = () => input.dispatchEvent(new Event("change"));
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
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (record) => {
    current = record?.id ?? null;
    why = "";
    if (record) remember(segment, record);
    shownAs = record ? called(record, segment) : "";
    input.value = shownAs;
    input.title = shownAs;
    mended();
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
  const seek = async (letters) => {
    let page;
    try {
      page = await list(segment, { ...ONLY[segment], ...narrow, q: letters, pageSize: 12, sort: isDocument ? RESOURCES[segment].sort : null }, { quiet: true });
    } catch {
      page = { items: [] };
    }
    // What begins with the letters is meant before what has them somewhere.
    const begins = (record) => names(record).some((one) => one.startsWith(letters.toLowerCase()));
    return letters === "" ? page.items : page.items.toSorted((a, b) => begins(b) - begins(a));
  };
  const look = async () => {
    const turn = ++asked;
    const letters = input.value === shownAs ? "" : input.value.trim();
    const seen = await seek(letters);
    if (turn !== asked || document.activeElement !== input) return;
    [found, foundFor] = [seen, letters];
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
  const say = () => {
    const text = why || t("Nothing is chosen.");
    markFault(input, text);
    return text;
  };
  /** Whoever left before the list was there means what alone is called so; else what was typed is kept, and said to be nobody's name. */
  const settle = async (letters) => {
    const turn = asked;
    why = "";
    const all = foundFor === letters ? found : await seek(letters);
    if (turn !== asked || !isUnchosen() || !input.isConnected) return;
    const own = all.filter((record) => [...names(record), called(record, segment).toLowerCase()].includes(letters.toLowerCase()));
    const [one] = own.length === 1 ? own : all;
    if (one && (own.length === 1 || all.length === 1)) return void take(one);
    why = all.length === 0 ? t("Nothing is called so.") : t("More than one is meant: choose one.");
    if (isPressed) await released();
    if (turn !== asked || !isUnchosen() || !input.isConnected) return;
    say();
    current = null;
    shownAs = "";
    onchange?.();
  };

  input.addEventListener("focus", () => {
    input.select();
  });
  input.addEventListener("click", () => options.hidden && current === null && look());
  input.addEventListener("input", soon);
  input.addEventListener("blur", () => {
    asked++;
    close();
    // The window was left, and not the field.
    if (document.activeElement === input) return;
    if (isUnchosen()) settle(input.value.trim());
    else if (isEmptied() || why !== "") take(null);
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
    get: () => (isUnchosen() || isEmptied() ? null : current),
    set: (next) => {
      current = next;
      why = "";
      shownAs = "";
      input.value = "";
      mended();
      show();
    },
    isUnchosen,
    say,
  };
}

// A list of any resource: chips for its states, its filters, search, sorting, pages, columns.

import { list } from "./api.js";
import { saveList } from "./csv.js";
import { h, later, replace } from "./dom.js";
import { explain, fault, tell } from "./dialog.js";
import { date, money } from "./format.js";
import { may, noun } from "./frame.js";
import { headed } from "./heads.js";
import { cell, empty, heading, isFigure, waiting } from "./parts.js";
import { picker } from "./picker.js";
import { placesCalled } from "./places.js";
import { EMPTY, RESOURCES, leadsTo } from "./resources.js";
import { go, here, note, path, withQuery } from "./route.js";
import { filtersOf, knows } from "./schema.js";
import { aboutLocks, canBeOpened, lockInForce, openAgain } from "./sure.js";
import { label, t, word } from "./texts.js";

const COLUMNS = "duet.columns.";
/** Filters that only programs ask by, or that the chips and the search have already. */
const ASIDE = ["externalId", "updatedSince", "number", "status", "requestId", "clientRequestId", "knownAt", "resourceId", "asOf", "cursor", "fields", "view", "expand"];

function filterField(filter, segment, state, changed) {
  const id = `filter-${filter.name}`;
  const leads = leadsTo(filter.name, segment);
  const set = (value) => {
    state[filter.name] = value;
    changed();
  };
  let field;
  if (leads)
    field = picker({ segment: leads, id, name: filter.name, value: state[filter.name], onchange: () => set(made.get()) });
  else if (filter.words || filter.type === "boolean") {
    const words = filter.words ?? ["true", "false"];
    field = {
      element: h(
        "select",
        { id, onchange: (event) => set(event.target.value) },
        h("option", { value: "" }, t("All")),
        words.map((one) =>
          h(
            "option",
            { value: one, selected: one === state[filter.name] },
            one === "true" ? t("Yes") : one === "false" ? t("No") : word(one, filter.name, segment),
          ),
        ),
      ),
    };
  } else
    field = {
      element: h("input", {
        id,
        type: filter.format === "date" ? "date" : "text",
        value: state[filter.name] ?? "",
        inputmode: filter.format === "decimal" ? "decimal" : null,
        onchange: (event) => set(event.target.value.trim()),
      }),
    };
  const made = field;
  return h("div", { class: "field" }, h("label", { for: id }, label(filter.name, segment)), field.element);
}

const keptColumns = (segment, known) => {
  const kept = JSON.parse(localStorage.getItem(COLUMNS + segment) ?? "null");
  return kept ?? known;
};

function columnMenu(segment, all, chosen, changed) {
  const box = (name) =>
    h(
      "label",
      { class: "check" },
      h("input", {
        type: "checkbox",
        checked: chosen.includes(name),
        onchange: (event) => {
          const next = event.target.checked ? [...chosen, name] : chosen.filter((one) => one !== name);
          localStorage.setItem(COLUMNS + segment, JSON.stringify(next));
          changed(next);
        },
      }),
      label(name, segment),
    );
  return h("details", { class: "menu" }, h("summary", {}, t("Columns")), h("div", { class: "menu-body columns" }, all.map(box)));
}

/** Where a row leads: to its record, or to what it tells of. */
const target = (segment, record) => (RESOURCES[segment].noRecord ? null : path(segment, record.id));

export async function listView(main, segment) {
  const known = RESOURCES[segment];
  const title = label(known.stem);
  const state = { sort: known.sort, page: "1", ...here().query };
  const asked = () => list(segment, { ...state, pageSize: known.pageSize ?? 50 });
  // What is listed is asked for at once, while the API's document says how it can be filtered.
  let early = asked();
  early.catch(() => null);
  const { filters, sortable } = await filtersOf(known.stem);
  const canAdd = !known.noNew && (segment === "businesses" || may(`${noun(segment)}.create`)) && (await knows(`${known.stem}Create`));
  let columns = keptColumns(segment, known.columns);
  const results = h("div", { class: "results", "aria-live": "polite" }, waiting());
  const statuses = filters.find((one) => one.name === "status")?.words ?? [];
  const others = filters.filter((one) => !ASIDE.includes(one.name));
  const chips = h("div", { class: "chips", role: "group", "aria-label": t("Status") });

  const show = async () => {
    drawChips();
    note({ ...state, sort: state.sort === known.sort ? null : state.sort, page: state.page === "1" ? null : state.page });
    try {
      const page = await (early ?? asked());
      early = null;
      if (!results.isConnected) return;
      // Who sorted or turned the page by the keyboard goes on from there.
      const held = results.contains(document.activeElement) ? document.activeElement.dataset.keep : null;
      replace(results, page.items.length === 0 ? nothing() : drawn(page), page.total > 0 ? pager(page) : null);
      const again = (which) => results.querySelector(`${which}:enabled`);
      if (held) (again(`[data-keep="${held}"]`) ?? again(".pager button"))?.focus();
      drawOrder();
    } catch (error) {
      early = null;
      replace(results, empty(explain(error)));
      fault(error);
    }
  };
  const changed = () => {
    state.page = "1";
    show();
  };
  const drawChips = () => {
    const chip = (value, text) =>
      h(
        "button",
        {
          type: "button",
          class: "chip",
          "aria-pressed": String((state.status ?? "") === value),
          onclick: () => {
            state.status = value;
            changed();
          },
        },
        text,
      );
    if (statuses.length > 0)
      replace(
        chips,
        chip("", t("All")),
        statuses.map((one) => chip(one, word(one, segment))),
      );
  };
  /** By what a column is sorted that shows something else, and whether it can be. */
  const orderOf = (name) => {
    const by = { totalDebit: "total", amount: sortable.includes("amount") ? "amount" : "total" }[name] ?? name;
    return sortable.includes(by) ? by : null;
  };
  /** Where the heads of columns have no room. */
  const order = h("select", {
    class: "sort-by",
    id: "sort-by",
    "aria-label": t("Sort by"),
    onchange: (event) => {
      state.sort = event.target.value;
      changed();
    },
  });
  const drawOrder = () => {
    const names = columns.filter(orderOf).map((name) => [orderOf(name), name]);
    const now = (state.sort ?? "").replace("-", "");
    if (now !== "" && !names.some(([by]) => by === now)) names.unshift([now, now]);
    const choice = (value, text) => h("option", { value, selected: value === state.sort }, text);
    replace(
      order,
      names.map(([by, name]) => [
        choice(by, t("{column}, ascending", { column: label(name, segment) })),
        choice(`-${by}`, t("{column}, descending", { column: label(name, segment) })),
      ]),
    );
  };
  const isFiltered = () => Object.entries(state).some(([name, value]) => !["sort", "page"].includes(name) && value);
  const nothing = () => {
    if (isFiltered())
      return empty(
        t("Nothing fits these filters."),
        h("button", { type: "button", onclick: () => go(path(segment)) }, t("Show all")),
      );
    const add = canAdd ? h("a", { class: "button main", href: path(segment, "new") }, t("Add the first one")) : null;
    return empty(t(EMPTY[segment] ?? "Nothing here yet."), add);
  };
  const drawn = (page) => {
    const figures = new Set(columns.filter((name) => isFigure(name, page.items)));
    const head = (name) => {
      const by = orderOf(name);
      const now = by === null ? null : state.sort === by ? "ascending" : state.sort === `-${by}` ? "descending" : null;
      const turn = () => {
        state.sort =
          now === "ascending" ? `-${by}` : now === "descending" ? by : figures.has(name) || name === "date" ? `-${by}` : by;
        changed();
      };
      return h(
        "th",
        { scope: "col", class: figures.has(name) ? "figure" : null, "aria-sort": now },
        by ? h("button", { type: "button", class: "sort", "data-keep": by, onclick: turn }, label(name, segment)) : label(name, segment),
      );
    };
    const row = (record) => {
      const leads = target(segment, record);
      const element = h(
        "tr",
        {
          class: [leads ? "opens" : "", record.isGroup ? "is-group" : ""].join(" "),
          "data-level": record.level === undefined ? null : String(record.level),
          onclick: (event) => {
            if (leads && !event.target.closest("a, button") && getSelection().isCollapsed) go(leads);
          },
        },
        columns.map((name, at) => {
          const inner = cell(name, record[name], record, segment);
          const isTitle = at === 0 && leads;
          return h(
            at === 0 ? "th" : "td",
            {
              scope: at === 0 ? "row" : null,
              class: figures.has(name) ? "figure" : name === "number" || /^\d{4}-/.test(record[name] ?? "") ? "nowrap" : null,
              "data-label": label(name, segment),
              "data-column": name,
            },
            isTitle ? h("a", { href: leads }, inner === "" ? (record.name ?? t("(no number)")) : inner) : inner,
          );
        }),
      );
      return element;
    };
    const table = h(
      "table",
      { class: "list" },
      h("caption", { class: "unseen" }, title),
      h("thead", {}, h("tr", {}, columns.map(head))),
      h("tbody", {}, page.items.map(row)),
    );
    return headed(h("div", { class: "scroll" }, table));
  };
  const pager = (page) => {
    const at = Number(state.page);
    const turn = (to, text, name) =>
      h(
        "button",
        {
          type: "button",
          disabled: to < 1 || to > page.pages,
          "aria-label": name,
          "data-keep": text,
          onclick: () => {
            state.page = String(to);
            show();
          },
        },
        text,
      );
    return h(
      "div",
      { class: "pager" },
      h("span", { class: "quiet" }, page.total === 1 ? t("1 record") : t("{count} records", { count: page.total })),
      page.pages > 1
        ? [
            turn(at - 1, "‹", t("Page before")),
            h("span", {}, t("Page {page} of {pages}", { page: at, pages: page.pages })),
            turn(at + 1, "›", t("Next page")),
          ]
        : null,
    );
  };
  const search = h("input", {
    type: "search",
    "aria-label": t("Search in this list"),
    placeholder: t("Search in this list"),
    value: state.q ?? "",
    oninput: later(250, (event) => {
      state.q = event.target.value.trim();
      changed();
    }),
  });
  const used = others.filter((one) => state[one.name]).length;
  const filterBox =
    others.length > 0
      ? h(
          "details",
          { class: "filters", open: used > 0 },
          h("summary", {}, t("Filters")),
          h(
            "div",
            { class: "fields" },
            others.map((one) => filterField(one, segment, state, changed)),
          ),
        )
      : null;
  const wide = known.isDocument
    ? [...known.columns, "reference", "narration", "currency", "createdAt"]
    : [...known.columns, "createdAt", "updatedAt"];
  const menu = columnMenu(
    segment,
    [...new Set([...wide, ...(known.main ?? []).filter((one) => !leadsTo(one, segment))])],
    columns,
    (next) => {
      columns = next;
      show();
    },
  );
  const save = h("button", { type: "button", id: "csv", title: t("All of these as comma-separated values") }, "CSV");
  save.addEventListener("click", async () => {
    save.disabled = true;
    await saveList(segment, { ...state, page: null }, columns).catch(fault);
    save.disabled = false;
  });
  const open = async () => {
    const lock = await lockInForce();
    if (canBeOpened(lock)) openAgain(lock);
    else tell(t("Nothing is locked that could be opened."));
  };
  const isOfLocks = segment === "locks" && canAdd;
  const actions = [
    save,
    isOfLocks ? h("button", { type: "button", id: "open-again", onclick: () => open().catch(fault) }, t("Open again")) : null,
    canAdd
      ? h("a", { class: "button main", href: path(segment, "new"), "aria-keyshortcuts": "n", id: "new" }, t("New"))
      : null,
  ];
  replace(
    main,
    heading(title, { actions, under: isOfLocks ? aboutLocks() : null }),
    h("div", { class: "toolbar" }, h("div", { class: "search-in" }, search), chips, order, menu),
    filterBox,
    results,
  );
  await show();
}

/** The day of a document, and what it comes to. */
function besides(record) {
  const sum = record.total ?? record.amount ?? record.totalDebit;
  return [date(record.date), sum ? money(sum, record.currency) : null].filter(Boolean).join(" · ");
}

/** The same words looked for in everything that has names or numbers, pages and reports among it. */
export async function searchView(main) {
  const { q = "" } = here().query;
  const looked = [
    "parties",
    "items",
    "accounts",
    "sales-invoices",
    "purchase-invoices",
    "sales-orders",
    "purchase-orders",
    "delivery-notes",
    "receipt-notes",
    "receipts",
    "payments",
    "credit-notes",
    "debit-notes",
    "journals",
    "contra-entries",
    "stock-adjustments",
    "tax-codes",
  ].filter((one) => may(`${noun(one)}.view`));
  const found = h("div", { class: "found", "aria-live": "polite" }, waiting());
  replace(main, heading(t("Search: {words}", { words: q })), found);
  const pages = await Promise.all(looked.map((one) => list(one, { q, pageSize: 6, sort: RESOURCES[one].isDocument ? RESOURCES[one].sort : null }).catch(() => ({ items: [], total: 0 }))));
  const places = await placesCalled(q);
  const groups = looked.map((one, at) => ({ segment: one, ...pages[at] })).filter((one) => one.items.length > 0);
  const group = ({ segment, items, total }) =>
    h(
      "section",
      { class: "card" },
      h("h2", {}, label(RESOURCES[segment].stem)),
      h(
        "ul",
        { class: "plain-list" },
        items.map((record) =>
          h(
            "li",
            {},
            h(
              "a",
              { href: path(segment, record.id) },
              [record.number ?? record.code, record.name ?? record.partyName ?? record.narration].filter(Boolean).join(" · "),
            ),
            RESOURCES[segment].isDocument ? h("span", { class: "quiet" }, ` · ${besides(record)}`) : null,
            " ",
            cell("status", record.status, record, segment),
          ),
        ),
      ),
      total > items.length ? h("a", { href: withQuery(path(segment), { q }) }, t("All {count}", { count: total })) : null,
    );
  const link = ([address, name]) => h("li", {}, h("a", { href: address }, name));
  const ofPlaces = ([title, known]) => h("section", { class: "card" }, h("h2", {}, title), h("ul", { class: "plain-list" }, known.map(link)));
  replace(
    found,
    groups.length + places.length > 0
      ? h("div", { class: "columns-2" }, places.map(ofPlaces), groups.map(group))
      : empty(t("Nothing has these words in its name, number or text.")),
  );
}

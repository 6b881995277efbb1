// The reports: which there are the server says, and so what can be asked of each.

import { ask, get, made } from "./api.js";
import { saveAs } from "./csv.js";
import { isDecimal } from "./decimal.js";
import { fault, tell } from "./dialog.js";
import { h, icon, replace } from "./dom.js";
import { date, figure, monthAndYear, monthEdge, monthsEnd, now, shown, time, today } from "./format.js";
import { business } from "./frame.js";
import { empty, heading, waiting } from "./parts.js";
import { picker } from "./picker.js";
import { refusal, refused } from "./refusals.js";
import { leadsTo, segmentOf, segmentOfStem } from "./resources.js";
import { here, note, path, withQuery } from "./route.js";
import { about, label, spoken, t, word } from "./texts.js";

const first = (text) => about(text).split(". ")[0].replace(/\.?$/, ".").replace(/^\.$/, "");

const SHELVES = [
  ["Profit, wealth and money", ["pl", "bs", "cash-flow", "equity-changes", "trial-balance"]],
  ["Who owes what", ["ar-aging", "ar-aging-detail", "ap-aging", "ap-aging-detail", "party-statement"]],
  [
    "Sales and purchases",
    ["sales-by-customer", "sales-by-item", "purchases-by-supplier", "purchases-by-item", "item-profitability", "open-orders"],
  ],
  ["Stock", ["stock-summary", "stock-valuation", "stock-ledger", "grni", "gdni"]],
  ["Tax", ["tax-summary", "tax-detail", "tax-return"]],
  ["The books", ["general-ledger", "day-book", "fx-gains", "number-gaps", "audit-trail"]],
];

let offers = null;
async function known() {
  offers ??= (await get("/reports", null, { quiet: true })).items;
  return offers;
}

export async function reportsView(main) {
  const all = await known();
  const shelf = ([title, names]) =>
    h(
      "section",
      { class: "card" },
      h("h2", {}, t(title)),
      h(
        "ul",
        { class: "plain-list" },
        names
          .map((name) => all.find((one) => one.name === name))
          .filter(Boolean)
          .map(entry),
      ),
    );
  const entry = (one) =>
    h(
      "li",
      {},
      h("a", { href: path("reports", one.name) }, t(one.title)),
      h("span", { class: "quiet small block" }, first(one.description)),
    );
  const named = SHELVES.flatMap(([, names]) => names);
  const others = all.filter((one) => !named.includes(one.name)).map((one) => one.name);
  replace(
    main,
    heading(t("Reports")),
    h("div", { class: "columns-2" }, SHELVES.map(shelf), others.length > 0 ? shelf(["More", others]) : null),
  );
}

/** Whole periods, said in a word. */
function periods() {
  const year = Number(today().slice(0, 4));
  const quarter = Math.floor(now().getMonth() / 3) * 3 - now().getMonth();
  return [
    ["This month", monthEdge(0, "first"), monthEdge(0, "last")],
    ["Last month", monthEdge(-1, "first"), monthEdge(-1, "last")],
    ["This quarter", monthEdge(quarter, "first"), monthEdge(quarter + 2, "last")],
    ["Last quarter", monthEdge(quarter - 3, "first"), monthEdge(quarter - 1, "last")],
    ["This year", `${year}-01-01`, `${year}-12-31`],
    ["Last year", `${year - 1}-01-01`, `${year - 1}-12-31`],
  ];
}

/** Other names of the same, and what a page does by itself. */
const ASIDE = ["fromDate", "toDate", "date", "format", "page", "pageSize"];

/** What most people ask for stands first; the rest is folded away. */
const FIRST = ["accountId", "partyId", "itemId", "from", "to", "asOf", "compareWith", "groupBy"];
const rank = ({ name, required }) => (required ? -1 : (FIRST.indexOf(name) + FIRST.length + 1) % (FIRST.length + 1));

function asking(offer, state, run) {
  const fields = new Map();
  const field = (parameter) => {
    const { name } = parameter;
    const id = `parameter-${name}`;
    const leads = leadsTo(name, "reports");
    const isFlag = name.startsWith("include");
    let made;
    if (leads) made = picker({ segment: leads, id, name, value: state[name] });
    else if (parameter.values.length > 0 || isFlag) {
      const words = isFlag ? ["true", "false"] : parameter.values;
      const input = h(
        "select",
        { id, name },
        h("option", { value: "" }, t(parameter.description.includes("when absent") ? "(as usual)" : "(default)")),
        words.map((one) =>
          h(
            "option",
            { value: one, selected: one === state[name] },
            one === "true" ? t("Yes") : one === "false" ? t("No") : word(one, name, "reports"),
          ),
        ),
      );
      made = { element: input, input, get: () => input.value };
    } else {
      const type = ["from", "to", "asOf"].includes(name) ? "date" : name === "knownAt" ? "datetime-local" : "text";
      const input = h("input", { id, name, type, value: state[name] ?? "", inputmode: name === "periods" ? "numeric" : null });
      made = {
        element: input,
        input,
        get: () => (name === "knownAt" && input.value ? new Date(input.value).toISOString() : input.value.trim()),
      };
    }
    const faultId = `${id}-fault`;
    const wrong = h("span", { class: "fault", id: faultId, hidden: true });
    fields.set(name, { ...made, wrong });
    made.input.title = about(parameter.description);
    return h(
      "div",
      { class: "field" },
      h("label", { for: id }, label(name, "reports"), parameter.required ? h("span", { class: "must", "aria-hidden": "true" }, " *") : null),
      made.element,
      wrong,
    );
  };
  const seen = offer.parameters.filter((one) => !ASIDE.includes(one.name)).toSorted((a, b) => rank(a) - rank(b));
  const has = (name) => seen.some((one) => one.name === name);
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) if (fields.get(name)) fields.get(name).input.value = value;
    run();
  };
  const spans = periods();
  const chips = spans.map(([text, from, to]) =>
    h("button", { type: "button", class: "chip", "aria-pressed": "false", onclick: () => set({ from, to }) }, t(text)),
  );
  const press = (days) =>
    spans.forEach(([, from, to], at) => chips[at].setAttribute("aria-pressed", String(days.from === from && days.to === to)));
  press(state);
  const quick = has("from") ? h("div", { class: "chips", role: "group", "aria-label": t("Period") }, chips) : null;
  const [plain, rest] = [seen.slice(0, 4), seen.slice(4)];
  const form = h(
    "form",
    {
      class: "card asking",
      novalidate: true,
      onsubmit: (event) => {
        event.preventDefault();
        run();
      },
    },
    quick,
    h(
      "div",
      { class: "fields" },
      plain.map(field),
      h("div", { class: "field end" }, h("button", { type: "submit", class: "main", id: "run" }, t("Show"))),
    ),
    rest.length > 0
      ? h(
          "details",
          { class: "more" },
          h("summary", {}, t("More")),
          h("p", { class: "quiet small" }, about(offer.description)),
          h("div", { class: "fields" }, rest.map(field)),
        )
      : null,
  );
  /** Days that nobody gave: the report says which it took, and they are not given to the next one. */
  const taken = new Map();
  const read = () =>
    Object.fromEntries(
      [...fields]
        .map(([name, one]) => [name, one.get() ?? ""])
        .filter(([name, value]) => value !== "" && taken.get(name) !== value),
    );
  const say = (used) => {
    for (const name of ["from", "to", "asOf"]) {
      const input = fields.get(name)?.input;
      if (!input || !used[name] || (input.value !== "" && input.value !== taken.get(name))) continue;
      input.value = used[name];
      taken.set(name, used[name]);
    }
    press({ from: fields.get("from")?.input.value, to: fields.get("to")?.input.value });
  };
  const showFaults = (errors) => {
    for (const [name, one] of fields) {
      const messages = errors[name];
      one.wrong.hidden = !messages;
      one.wrong.textContent = messages?.map(refusal).join("; ") ?? "";
      if (messages) {
        one.input.setAttribute("aria-invalid", "true");
        one.input.setAttribute("aria-describedby", one.wrong.id);
      } else one.input.removeAttribute("aria-invalid");
    }
  };
  return { form, read, say, showFaults };
}

/** Where a row's name leads, and where a figure of it: report, account, entry, document. */
function leads(row, report, column) {
  if (row.documentId) return path(segmentOf(row.documentType), row.documentId);
  const { from, to, asOf, knownAt } = report.parameters;
  const days = { from: column?.from ?? from ?? null, to: column?.to ?? to ?? asOf ?? null, knownAt };
  if (row.accountId) return withQuery(path("reports", "general-ledger"), { accountId: row.accountId, ...days });
  if (row.partyId)
    return /aging$/.test(report.report)
      ? withQuery(path("reports", `${report.report}-detail`), { partyId: row.partyId, asOf: asOf ?? to })
      : path("parties", row.partyId);
  if (row.itemId)
    return /^stock/.test(report.report) && report.report !== "stock-ledger"
      ? withQuery(path("reports", "stock-ledger"), { itemId: row.itemId, ...days })
      : path("items", row.itemId);
  return null;
}

/** A column's head: its days where it has some, a whole quarter or month in a word, else its name. */
function columnName({ key, from, to, label: name }) {
  if (!from || !to || !key.includes("..")) return words(name);
  const [year, month] = from.split("-").map(Number);
  const isWhole = from.endsWith("-01") && to === monthsEnd(year, month + (to.slice(0, 7) === from.slice(0, 7) ? 0 : 2));
  if (from.endsWith("-01") && from.slice(0, 7) === to.slice(0, 7)) return monthAndYear(from);
  return isWhole && month % 3 === 1 ? t("Q{quarter} {year}", { quarter: (month + 2) / 3, year }) : `${date(from)} – ${date(to)}`;
}

/** A report's own words: days in them as the reader writes them, whatever its figures are. */
function words(text) {
  if (t(text) !== text) return t(text);
  const given = {};
  const called = (kind, one) => {
    const seen = Object.keys(given).filter((name) => name.startsWith(kind)).length;
    const name = seen === 0 ? kind : `${kind}${seen + 1}`;
    given[name] = one;
    return `{${name}}`;
  };
  const pattern = text.replace(/\b(\d{4}-\d{2}-\d{2})\b|\b(\d+)\b/g, (_, day, number) =>
    day ? called("day", date(day)) : called("number", number),
  );
  return t(pattern, given);
}

function value(row, at, report, isFigure) {
  const one = row.values[at];
  if (one === null || one === undefined) return "";
  const column = report.columns[at];
  if (isDecimal(one)) {
    const text = figure(one);
    const address = (row.type === "account" || row.accountId) && column.to ? leads(row, report, column) : null;
    return address ? h("a", { class: "drill", href: address }, text) : text;
  }
  if (report.report === "audit-trail" && column.key === "record") {
    const segment = segmentOfStem(row.values[report.columns.findIndex((other) => other.key === "resource")]);
    return segment && row.label !== "deleted" ? h("a", { href: path(segment, one) }, String(one).slice(-8)) : one;
  }
  return isFigure ? words(String(one)) : SPOKEN.includes(column.key) ? word(one, column.key) : shown(one);
}

/** Columns of words that the API has. */
const SPOKEN = ["side", "duty", "origin", "resource"];

const tellsOf = (row) => row.accountId || row.partyId || row.itemId || row.documentId;
/** What a row is called: a record by its own name, a document with the day on which it is due; else in the report's words. */
function translated(row) {
  const due = row.type === "document" && /^(.*), due (\d{4}-\d{2}-\d{2})$/.exec(row.label);
  if (due) return t("{number}, due {day}", { number: due[1], day: date(due[2]) });
  const own = tellsOf(row) && !["subtotal", "total"].includes(row.type);
  return own ? row.label : t(row.label) !== row.label ? t(row.label) : (spoken(row.label) ?? words(row.label));
}

/** Other currencies are not shown where there are none. */
function narrowed(report) {
  const at = report.columns.findIndex((column) => column.key === "currency");
  const isForeign = (row) => (row.values[at] ?? report.currency) !== report.currency || row.children.some(isForeign);
  if (at < 0 || report.rows.some(isForeign)) return report;
  const aside = ["currency", "amountCurrency", "baseAmount"];
  const kept = report.columns.map((column) => !aside.includes(column.key));
  const cut = (row) => ({ ...row, values: row.values.filter((_, index) => kept[index]), children: row.children.map(cut) });
  return { ...report, columns: report.columns.filter((_, index) => kept[index]), rows: report.rows.map(cut) };
}

/** With more columns than this it lies on its side on paper. */
const WIDE = 6;

function drawn(whole) {
  const report = narrowed(whole);
  const figures = report.columns.map((_, at) => some(report.rows, (row) => isDecimal(row.values[at])));
  const heads = report.columns.map(columnName);
  const rows = [];
  const add = (row, level) => {
    const address = leads(row, report, null);
    const name =
      address && row.type !== "section"
        ? h("a", { href: address }, translated(row))
        : address
          ? h("a", { href: address }, row.label)
          : translated(row);
    rows.push(
      h(
        "tr",
        { class: `row-${row.type} level-${Math.min(level, 4)}` },
        h("th", { scope: "row" }, name),
        row.values.map((one, at) =>
          h(
            "td",
            {
              class: figures[at]
                ? isDecimal(one) && one.isNegative
                  ? "figure minus"
                  : "figure"
                : /^\d{4}-/.test(one ?? "")
                  ? "nowrap"
                  : null,
              "data-label": heads[at],
            },
            value(row, at, report, figures[at]),
          ),
        ),
      ),
    );
    for (const child of row.children ?? []) add(child, level + 1);
  };
  for (const row of report.rows) add(row, 0);
  return h(
    "div",
    // What is wider than the window is moved by itself, also by who has no mouse.
    { class: "scroll", tabindex: "0", role: "region", "aria-label": t(report.title) },
    h(
      "table",
      { class: report.columns.length > WIDE ? "report is-wide" : "report" },
      h(
        "caption",
        {},
        h("strong", {}, business()?.name),
        " ",
        h("span", {}, t(report.title)),
        h("span", { class: "quiet" }, said(report)),
      ),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, h("span", { class: "unseen" }, t("Row"))),
          report.columns.map((_, at) => h("th", { scope: "col", class: figures[at] ? "figure" : null }, heads[at])),
        ),
      ),
      h("tbody", {}, rows),
    ),
  );
}

const some = (rows, fits) => rows.some((row) => fits(row) || some(row.children ?? [], fits));

function said(report) {
  const { from, to, asOf, basis, knownAt } = report.parameters;
  const days = from ? `${date(from)} – ${date(to)}` : asOf ? t("as of {day}", { day: date(asOf) }) : "";
  return [
    days,
    report.currency,
    basis === "cash" ? t("when paid") : "",
    knownAt ? t("as known at {time}", { time: time(knownAt) }) : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Figures that must be equal, each side made in its own way. */
function checks(report) {
  if (!report.checks?.length) return null;
  const one = (check) =>
    h(
      "li",
      { class: check.ok ? "holds" : "broken" },
      h("span", { class: "mark", role: "img", "aria-label": check.ok ? t("holds") : t("broken") }, check.ok ? icon("check") : "✗"),
      h("span", {}, words(check.name)),
      h("span", { class: "figure quiet" }, figure(check.left), check.ok ? "" : ` ≠ ${figure(check.right)}`),
    );
  const broken = report.checks.filter((check) => !check.ok).length;
  return h(
    "details",
    { class: "card checks-box", open: broken > 0 },
    h(
      "summary",
      {},
      h("span", { class: `badge ${broken === 0 ? "good" : "late"}` }, broken === 0 ? "✓" : "✗"),
      " ",
      broken === 0
        ? report.checks.length === 1
          ? t("1 check holds")
          : t("{count} checks hold", { count: report.checks.length })
        : t("{count} checks are broken", { count: broken }),
    ),
    h("ul", { class: "plain-list" }, report.checks.map(one)),
  );
}

async function save(name, query) {
  const blob = await ask("GET", `/reports/${name}`, {
    query: { ...query, format: "csv" },
    asText: true,
    headers: { Accept: "text/csv" },
  });
  saveAs(blob, `${name}-${today()}.csv`);
  tell(t("The table was saved."));
}

export async function reportView(main, name) {
  const all = await known();
  const offer = all.find((one) => one.name === name);
  if (!offer)
    return void replace(
      main,
      heading(t("Nothing here")),
      empty(t("There is no such report."), h("a", { href: path("reports") }, t("All reports"))),
    );
  const state = { ...here().query };
  const results = h("div", { class: "results", "aria-live": "polite" });
  const pages = h("div", {});
  const onPaper = h("p", { class: "print-only" });
  const isPaged = offer.parameters.some((one) => one.name === "page");
  let page = Number(state.page ?? 1);
  const missing = () => offer.parameters.filter((one) => one.required && !questions.read()[one.name]).map((one) => one.name);
  const run = async () => {
    const query = questions.read();
    note({ ...query, page: page > 1 ? page : null });
    replace(results, waiting());
    replace(pages);
    made.length = 0;
    try {
      const report = await get(`/reports/${name}`, isPaged ? { ...query, page, pageSize: 100 } : query);
      if (!results.isConnected) return;
      questions.showFaults({});
      questions.say(report.parameters);
      replace(onPaper, said(report));
      replace(results, checks(report), report.rows.length > 0 ? drawn(report) : empty(t("Nothing in these days.")));
      if (report.pagination) replace(pages, pager(report.pagination));
    } catch (error) {
      questions.showFaults(error.errors ?? {});
      replace(results, empty(refused(error.code, error.message)));
      if (!error.errors || Object.keys(error.errors).length === 0) fault(error);
    }
  };
  const pager = (told) => {
    const count = Number(String(told.totalPages));
    const turn = (to, text, title) =>
      h(
        "button",
        {
          type: "button",
          "aria-label": title,
          disabled: to < 1 || to > count,
          onclick: () => {
            page = to;
            run();
          },
        },
        text,
      );
    return count > 1
      ? h(
          "div",
          { class: "pager" },
          turn(page - 1, "‹", t("Page before")),
          h("span", {}, t("Page {page} of {pages}", { page, pages: count })),
          turn(page + 1, "›", t("Next page")),
        )
      : null;
  };
  const questions = asking(offer, state, () => {
    page = 1;
    run();
  });
  const actions = [
    h("button", { type: "button", id: "csv", onclick: () => save(name, questions.read()).catch(fault) }, "CSV"),
    h("button", { type: "button", onclick: () => print() }, t("Print")),
  ];
  replace(
    main,
    heading(t(offer.title), { actions, under: first(offer.description), trail: h("a", { href: path("reports") }, t("Reports")) }),
    questions.form,
    onPaper,
    results,
    pages,
  );
  const lacking = missing();
  if (lacking.length > 0) replace(results, empty(t("Choose first: {fields}", { fields: lacking.map((one) => label(one, "reports")).join(", ") })));
  else await run();
}

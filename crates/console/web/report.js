// The reports: which there are the server says, and so what can be asked of each.

import { get, made } from "./api.js";
import { fault } from "./dialog.js";
import { h, icon, replace } from "./dom.js";
import { figure, monthEdge, now, today } from "./format.js";
import { empty, heading, waiting } from "./parts.js";
import { picker } from "./picker.js";
import { refusal, refused } from "./refusals.js";
import { saveReport } from "./report-csv.js";
import { drawn, said } from "./report-table.js";
import { age, first, isAge, narrowing, words } from "./report-words.js";
import { leadsTo } from "./resources.js";
import { here, note, path } from "./route.js";
import { about, label, t, word } from "./texts.js";

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
/** Which reports there are, asked for once. */
export async function offered() {
  offers ??= (await get("/reports", null, { quiet: true })).items;
  return offers;
}

export async function reportsView(main) {
  const all = await offered();
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
const FIRST = ["accountId", "partyId", "itemId", "from", "to", "asOf", "bucket", "agingBy", "currency", "compareWith", "groupBy"];
const rank = ({ name, required }) => (required ? -1 : (FIRST.indexOf(name) + FIRST.length + 1) % (FIRST.length + 1));

/** Each of these says what stands side by side; no report answers two of them together. */
const APART = ["compareWith", "groupBy", "periods"];

/** What the server says of a question, with the names that the form has for the others. */
const inWords = (message) => message.replace(new RegExp(`\\b(${APART.join("|")})\\b`, "g"), (name) => `“${label(name, "reports")}”`);

/** What can be chosen for a parameter, in a word. */
const choice = (value, name) => ({ true: t("Yes"), false: t("No") })[value] ?? word(value, name, "reports");

/** What a question means that is left open: what the report does by itself, and its word for it. */
function leftOpen({ name, description }) {
  const [, usual] = /`(\w+)` when absent/.exec(description ?? "") ?? [];
  if (usual) return [usual, choice(usual, name)];
  return [null, name === "taxBasis" ? t("As the company has it") : t("None")];
}

/** Which age: those that the report has, as soon as it is there. */
function ageChoice(id, name, value) {
  const input = h("select", { id, name });
  const offer = (ages, chosen) =>
    replace(
      input,
      h("option", { value: "" }, t("All ages")),
      ages.map(([key, text]) => h("option", { value: key, selected: key === chosen }, text)),
    );
  const show = ({ columns, parameters }) =>
    offer(
      columns.filter(({ key }) => isAge(key)).map((column) => [column.key, words(column.label)]),
      parameters.bucket,
    );
  offer(value ? [[value, isAge(value) ? age(value) : value]] : [], value);
  return { element: input, input, get: () => input.value, show };
}

function asking(offer, state, run) {
  const fields = new Map();
  const field = (parameter) => {
    const { name } = parameter;
    const id = `parameter-${name}`;
    const leads = leadsTo(name, "reports");
    const isFlag = name.startsWith("include");
    let made;
    if (leads) made = picker({ segment: leads, id, name, value: state[name] });
    else if (name === "bucket") made = ageChoice(id, name, state[name]);
    else if (parameter.values.length > 0 || isFlag) {
      const [usual, said] = leftOpen(parameter);
      const words = (isFlag ? ["true", "false"] : parameter.values).filter((one) => one !== usual);
      const input = h(
        "select",
        { id, name },
        h("option", { value: "" }, said),
        words.map((one) =>
          h(
            "option",
            { value: one, selected: one === state[name] },
            choice(one, name),
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
    const why = h("span", { class: "quiet small", id: `${id}-why`, hidden: true });
    fields.set(name, { ...made, wrong, why });
    made.input.title = about(parameter.description);
    return h(
      "div",
      { class: "field" },
      h("label", { for: id }, label(name, "reports"), parameter.required ? h("span", { class: "must", "aria-hidden": "true" }, " *") : null),
      made.element,
      why,
      wrong,
    );
  };
  /** What is empty cannot be filled beside what is chosen; what an address brings together the server has to refuse. */
  const holdApart = () => {
    const there = APART.filter((name) => fields.has(name));
    const isSaid = (name) => (fields.get(name).get() ?? "") !== "";
    for (const name of there) {
      const { input, why } = fields.get(name);
      const other = isSaid(name) ? undefined : there.find((one) => one !== name && isSaid(one));
      input.disabled = other !== undefined;
      why.hidden = other === undefined;
      why.textContent = other === undefined ? "" : t("Not together with “{what}”.", { what: label(other, "reports") });
      if (other !== undefined) input.setAttribute("aria-describedby", why.id);
      else if (!input.hasAttribute("aria-invalid")) input.removeAttribute("aria-describedby");
    }
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
  for (const name of APART) fields.get(name)?.input.addEventListener("input", holdApart);
  holdApart();
  // Other bounds make other ages.
  fields.get("buckets")?.input.addEventListener("change", () => fields.get("bucket") && (fields.get("bucket").input.value = ""));
  /** Days that nobody gave: the report says which it took, and they are not given to the next one. */
  const taken = new Map();
  const read = () =>
    Object.fromEntries(
      [...fields]
        .map(([name, one]) => [name, one.get() ?? ""])
        .filter(([name, value]) => value !== "" && taken.get(name) !== value),
    );
  const say = (report) => {
    const used = report.parameters;
    fields.get("bucket")?.show(report);
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
      one.wrong.textContent = messages?.map(refusal).map(inWords).join("; ") ?? "";
      if (messages) {
        one.input.setAttribute("aria-invalid", "true");
        one.input.setAttribute("aria-describedby", one.wrong.id);
        const folded = one.input.closest("details");
        if (folded) folded.open = true;
      } else one.input.removeAttribute("aria-invalid");
    }
  };
  /** What was typed and is nobody's name narrows nothing: without it the report would be of everybody. */
  const hasUnchosen = () => [...fields.values()].filter((one) => one.isUnchosen?.()).map((one) => one.say()).length > 0;
  const isMarked = () => form.querySelector("[aria-invalid]") !== null;
  return { form, read, say, showFaults, hasUnchosen, isMarked };
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
      report.parameters.bucket ? h("span", { class: "quiet" }, ` · ${t("of all ages")}`) : null,
    ),
    h("ul", { class: "plain-list" }, report.checks.map(one)),
  );
}

/** Which page of how many it is, where it has more than one. */
function pageOf(told) {
  const pages = pagesOf(told);
  return pages > 1 ? t("Page {page} of {pages}", { page: String(told.currentPage), pages }) : null;
}

/** The number of a page as an address has it; the first where it has none. */
const pageIn = (text) => (/^[1-9]\d{0,8}$/.test(text ?? "") ? Number(text) : 1);
const pagesOf = (told) => Number(String(told?.totalPages ?? 1));

/** Of one age a total alone says nothing. */
const hasRows = ({ rows, parameters }) => rows.some((row) => !parameters.bucket || row.type !== "total");
const nothingIn = ({ parameters }) => empty(parameters.bucket ? t("Nothing of this age.") : t("Nothing in these days."));

export async function reportView(main, name) {
  const all = await offered();
  const offer = all.find((one) => one.name === name);
  if (!offer)
    return void replace(
      main,
      heading(t("Nothing here")),
      empty(t("There is no such report."), h("a", { href: path("reports") }, t("All reports"))),
    );
  const state = { ...here().query };
  const results = h("div", { class: "results", "aria-live": "polite", tabindex: "-1" });
  const [above, below] = [h("div", { class: "above" }), h("div", {})];
  const onPaper = h("p", { class: "print-only" });
  const isPaged = offer.parameters.some((one) => one.name === "pageSize");
  let page = pageIn(state.page);
  let seen = null;
  const missing = () => offer.parameters.filter((one) => one.required && !questions.read()[one.name]).map((one) => one.name);
  const run = async () => {
    if (questions.hasUnchosen()) return void replace(results, empty(t("Please mend what is marked.")));
    const query = questions.read();
    note({ ...query, page: page > 1 ? page : null });
    replace(results, waiting());
    replace(above);
    replace(below);
    made.length = 0;
    try {
      const report = await get(`/reports/${name}`, isPaged ? { ...query, page, pageSize: 500 } : query);
      const last = pagesOf(report.pagination);
      if (page > last && page > 1) {
        page = Math.max(last, 1);
        return await run();
      }
      const of = said(report, await narrowing(report.parameters));
      if (!results.isConnected) return;
      seen = report;
      questions.showFaults({});
      questions.say(report);
      replace(onPaper, [of, pageOf(report.pagination)].filter(Boolean).join(" · "));
      replace(results, checks(report), hasRows(report) ? drawn(report, of) : nothingIn(report));
      if (pagesOf(report.pagination) > 1) {
        replace(above, pager(report.pagination), h("p", { class: "quiet small" }, t("Print has this page alone, CSV has all of them.")));
        replace(below, pager(report.pagination));
      }
    } catch (error) {
      questions.showFaults(error.errors ?? {});
      replace(results, empty(questions.isMarked() ? t("Please mend what is marked.") : refused(error.code, error.message)));
      if (!error.errors || Object.keys(error.errors).length === 0) fault(error);
    }
  };
  const pager = (told) => {
    const count = pagesOf(told);
    const turn = (to, text, title) =>
      h(
        "button",
        {
          type: "button",
          "aria-label": title,
          disabled: to < 1 || to > count,
          onclick: async () => {
            page = to;
            await run();
            // The button is gone; whoever turned the page reads on at its beginning.
            above.scrollIntoView();
            results.focus({ preventScroll: true });
          },
        },
        text,
      );
    return h(
      "div",
      { class: "pager" },
      turn(page - 1, "‹", t("Page before")),
      h("span", {}, pageOf(told)),
      turn(page + 1, "›", t("Next page")),
    );
  };
  const questions = asking(offer, state, () => {
    page = 1;
    run();
  });
  const actions = [
    h("button", { type: "button", id: "csv", onclick: () => saveReport(name, questions.read(), seen).catch(fault) }, "CSV"),
    h("button", { type: "button", onclick: () => print() }, t("Print")),
  ];
  replace(
    main,
    heading(t(offer.title), { actions, under: first(offer.description), trail: h("a", { href: path("reports") }, t("Reports")) }),
    questions.form,
    onPaper,
    above,
    results,
    below,
  );
  const lacking = missing();
  if (lacking.length > 0) replace(results, empty(t("Choose first: {fields}", { fields: lacking.map((one) => label(one, "reports")).join(", ") })));
  else await run();
}

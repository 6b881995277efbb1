// The first page: money, who owes what, what was earned, and what needs doing.

import { get, list } from "./api.js";
import { ages, bars, line } from "./chart.js";
import { DRAFTS } from "./closing.js";
import { h, icon, replace } from "./dom.js";
import { explain } from "./dialog.js";
import { date, money, monthAndYear, monthEdge, monthName, rough, short, time, today } from "./format.js";
import { business, closing, currency, may, noun } from "./frame.js";
import { calledThen, linkTo } from "./names.js";
import { owedBy, unused } from "./owed.js";
import { badge, empty, heading } from "./parts.js";
import { isOutrun, lastProof, proofMark } from "./proof.js";
import { RESOURCES, segmentOfStem } from "./resources.js";
import { path, withQuery } from "./route.js";
import { setup } from "./setup.js";
import { lockInForce } from "./sure.js";
import { label, t } from "./texts.js";
import { unmatched } from "./unmatched.js";

/** A part of the page that is filled when its figures are there; where they may not be seen, it says so. */
function part(title, ask, draw, kind = null) {
  const inner = h("div", { class: "part" }, h("p", { class: "quiet" }, "…"));
  ask().then(
    (told) => replace(inner, draw(told)),
    (error) => replace(inner, h("p", { class: "quiet" }, explain(error))),
  );
  return h("section", { class: kind ? `card ${kind}` : "card" }, h("h2", {}, title), inner);
}

const figureOf = (report, rowKey, columnKey) => {
  const row = report.rows.find((one) => one.key === rowKey);
  return row?.values[report.columns.findIndex((one) => one.key === columnKey)] ?? null;
};

function head(title, address, ask, draw) {
  const value = h("p", { class: "big" }, "…");
  const under = h("p", { class: "quiet small" });
  ask().then(
    (told) => {
      const [big, small] = draw(told);
      replace(value, big);
      replace(under, small);
    },
    (error) => replace(under, explain(error)),
  );
  return h("a", { class: "card head", href: address }, h("h2", {}, title), value, under);
}

function owed(kind) {
  const asked = owedBy(kind);
  asked.catch(() => null);
  return asked;
}

/** Whether anything is open: else the report has its total alone. */
const isOpen = (report) => report.rows.some((one) => one.key !== "total");

/** What is not yet due is one, and all the rest is late. */
function late({ report, ages }) {
  if (!isOpen(report)) return t("Nothing open");
  const isLate = ages.slice(1).some(({ value }) => !value.isZero);
  return isLate ? t("not yet due: {amount}", { amount: money(ages[0].value, report.currency) }) : t("Nothing is overdue");
}

/** A line that says what settles nothing yet, once that is known and where there is any. */
function unusedCredits(kind, report, asked) {
  const place = h("p", { class: "quiet small", hidden: true });
  const show = (groups) => {
    const left = unused(kind, report, groups);
    if (left.length === 0) return;
    const amount = left.map((one) => money(one.amount, one.currency)).join(" + ");
    replace(place, h("a", { href: path("unmatched") }, t("Unused credits of {amount} are taken off", { amount })));
    place.hidden = false;
  };
  asked.then(show, () => null);
  return place;
}

function aging(kind, { report, ages: parts }, matching) {
  if (!isOpen(report)) return empty(t("Nothing open"));
  const leads = (bucket) => withQuery(path("reports", `${kind}-aging-detail`), { asOf: today(), bucket });
  const points = parts.map(({ column, value }) => ({ name: t(column.label), value, href: leads(column.key) }));
  const drawing = ages({ title: t("By age"), points, shown: (value) => money(value, report.currency) });
  return [drawing, unusedCredits(kind, report, matching)];
}

/** Money that settles nothing yet. */
async function loose(matching) {
  const total = (await matching).reduce((all, one) => all + one.items.length, 0);
  return total > 0 ? { total, text: t("Money not matched"), href: path("unmatched") } : null;
}

/** Webhooks that are not heard any more. */
async function failing() {
  if (!may("webhook.view")) return null;
  const { items } = await list("webhooks", { pageSize: 100 }, { quiet: true });
  const total = items.filter((one) => one.status === "disabled").length;
  return total > 0 ? { total, text: t("Webhooks that failed"), href: path("webhooks"), isLate: true } : null;
}

/** Books that were not proved, do not add up, or were written in since. How far they are is known when something of them was `asked`. */
async function unproved(asked) {
  if (!may("verification.view")) return null;
  await asked;
  const last = lastProof();
  if (last?.ok && !isOutrun(last)) return null;
  const isBroken = last !== null && !last.ok;
  return { total: isBroken ? "✗" : t("open"), text: isBroken ? t("The books do not add up") : t("Prove the books"), href: path("proof"), isLate: isBroken };
}

/** The month before, where something was booked by its end and it is not locked. */
async function notClosed() {
  if (!may("lock.view") || !may("lock.create") || !may("entry.view")) return null;
  const end = monthEdge(-1, "last");
  const lock = await lockInForce();
  if (lock?.lockDate >= end || lock?.hardLockDate >= end) return null;
  const { total } = await list("entries", { dateTo: end, pageSize: 1 }, { quiet: true });
  return total > 0 ? { total: monthAndYear(end), text: t("Close a month"), href: closing() } : null;
}

/** What waits for somebody: overdue invoices, drafts, orders that are not done, money that is not matched, books not proved, a month not closed. */
async function todo(matching, asked) {
  const count = async (segment, status, text) => {
    if (!may(`${noun(segment)}.view`)) return null;
    const { total } = await list(segment, { status, pageSize: 1 }, { quiet: true });
    return total > 0 ? { total, text, href: withQuery(path(segment), { status }), isLate: status === "overdue" } : null;
  };
  const named = (segment) => label(RESOURCES[segment].stem);
  const all = await Promise.all([
    count("sales-invoices", "overdue", t("Invoices overdue")),
    count("purchase-invoices", "overdue", t("Bills overdue")),
    count("sales-orders", "open,partiallyFulfilled", t("Orders to deliver")),
    count("purchase-orders", "open,partiallyReceived", t("Orders to receive")),
    count("delivery-notes", "posted,partiallyInvoiced", t("Deliveries to invoice")),
    count("receipt-notes", "posted,partiallyBilled", t("Receipts of goods to be billed")),
    loose(matching),
    failing(),
    unproved(asked),
    notClosed(),
    ...DRAFTS.map((segment) => count(segment, "draft", t("Drafts: {what}", { what: named(segment) }))),
  ]);
  return all.filter(Boolean);
}

function todoList(items) {
  if (items.length === 0) return h("p", { class: "done" }, icon("check"), t("Nothing waits for you."));
  return h(
    "ul",
    { class: "todo" },
    items.map((one) =>
      h(
        "li",
        {},
        h(
          "a",
          { href: one.href },
          h("span", {}, one.text),
          h("span", { class: one.isLate ? "badge late" : "badge plain" }, one.total),
        ),
      ),
    ),
  );
}

function latest({ items }) {
  const one = (record) => {
    const segment = segmentOfStem(record.resource);
    const name = calledThen(record.after ?? record.before, segment);
    return h(
      "li",
      {},
      badge(record.action),
      " ",
      segment ? linkTo(segment, record.resourceId, name) : label(record.resource),
      h("span", { class: "quiet small block" }, `${label(record.resource)} · ${time(record.at)}`),
    );
  };
  return [
    h("ul", { class: "latest" }, items.map(one)),
    h("p", {}, h("a", { href: path("audit-log") }, t("The whole audit log"))),
  ];
}

/** What a first step begins with. */
const STEPS = { journals: { kind: "opening" } };

/** A company without an invoice is told the first steps; each is ticked once it is done. */
async function firstSteps(place) {
  const count = async (segment, done = 1) =>
    may(`${noun(segment)}.view`) ? (await list(segment, { pageSize: 1 }, { quiet: true })).total >= done : true;
  const steps = [
    ["tax-codes", t("Add the tax that you charge"), 1],
    ["journals", t("Enter what there was before, as a journal of the kind opening"), 1],
    ["parties", t("Add the first customer"), 1],
    ["sales-invoices", t("Write the first invoice"), 1],
    ["users", t("Invite those who work with you"), 2],
  ];
  const done = await Promise.all(steps.map(([segment, , needed]) => count(segment, needed)));
  if (done[3]) return;
  const step = ([segment, text], at) =>
    h(
      "li",
      { class: done[at] ? "ticked" : null },
      h("span", { class: "tick-box" }, done[at] ? icon("check") : String(at + 1)),
      done[at] ? h("span", {}, text, h("span", { class: "unseen" }, ` (${t("done")})`)) : h("a", { href: withQuery(path(segment, "new"), STEPS[segment] ?? {}) }, text),
    );
  replace(
    place,
    h("section", { class: "card", id: "first-steps" }, h("h2", {}, t("The first steps")), h("ol", { class: "steps" }, steps.map(step))),
  );
}

/** What the books of a demo have to tell, and where it is seen. */
function story() {
  const [, sentences] = setup.stories.find(([id]) => id === business()?.id) ?? [];
  if (!sentences) return null;
  const told = ([text, link, view]) => h("li", {}, t(text), " ", h("a", { href: path(view) }, t(link)));
  return h("section", { class: "card wide", id: "story" }, h("h2", {}, t("What these books tell")), h("ul", { class: "latest" }, sentences.map(told)));
}

/** A drawing, where there is anything to draw. */
const drawn = (draw, told) =>
  told.points.every((one) => one.value.isZero) ? empty(t("Nothing is booked yet. What you post shows here, month by month.")) : draw(told);

const MONTHS = 12;

/** What there was at the end of each month, as the server says. */
async function cashByMonth() {
  const away = Array.from({ length: MONTHS }, (_, at) => at - MONTHS + 1);
  const ask = async (month) => {
    const [from, end] = [monthEdge(month, "first"), month === 0 ? today() : monthEdge(month, "last")];
    const report = await get("/reports/cash-flow", { from, to: end }, { quiet: month < 0 });
    return { name: monthName(from), value: report.totals.closing, href: withQuery(path("reports", "cash-flow"), { from, to: end }) };
  };
  return Promise.all(away.map(ask));
}

export async function homeView(main) {
  const unit = currency();
  const first = monthEdge(-11, "first");
  const cash = get("/reports/cash-flow", { to: today() });
  const ar = owed("ar");
  const ap = owed("ap");
  const profit = get("/reports/pl", { from: first, to: today(), groupBy: "month" });
  const matching = unmatched({ quiet: true });
  for (const one of [cash, profit, matching]) one.catch(() => null);
  const asked = Promise.allSettled([cash, profit]);
  const months = (report) => {
    const row = report.rows.find((one) => one.key === "netProfit");
    return report.columns.map((column, at) => ({
      name: monthName(column.from),
      value: row.values[at],
      href: withQuery(path("reports", "pl"), { from: column.from, to: column.to }),
    }));
  };
  const steps = h("div", {});
  replace(
    main,
    heading(business()?.name ?? "Duet", {
      under: date(today(), "full"),
      actions: may("verification.view") ? proofMark(asked) : null,
    }),
    steps,
    h(
      "div",
      { class: "heads" },
      head(
        t("Cash and bank"),
        withQuery(path("accounts"), { type: "bank,cash" }),
        () => cash,
        (report) => [
          money(report.totals.closing, unit),
          t("Change this year: {amount}", { amount: money(report.totals.netChange, unit) }),
        ],
      ),
      head(
        t("Owed to us"),
        path("reports", "ar-aging"),
        () => ar,
        (told) => [money(figureOf(told.report, "total", "total") ?? told.report.totals?.total ?? "0", unit), late(told)],
      ),
      head(
        t("Owed by us"),
        path("reports", "ap-aging"),
        () => ap,
        (told) => [money(figureOf(told.report, "total", "total") ?? "0", unit), late(told)],
      ),
      head(
        t("Profit this month"),
        withQuery(path("reports", "pl"), { from: monthEdge(-1, "first"), to: today(), groupBy: "month" }),
        () => profit,
        (report) => {
          const all = months(report);
          return [
            money(all.at(-1).value, unit),
            all.length > 1 ? t("Last month: {amount}", { amount: money(all.at(-2).value, unit) }) : "",
          ];
        },
      ),
    ),
    h(
      "div",
      { class: "dashboard" },
      h(
        "div",
        { class: "stack" },
        part(
          t("Profit by month"),
          () => profit,
          (report) => drawn(bars, { title: t("Profit by month"), points: months(report), shown: (value) => rough(value, unit), scale: (value) => short(value, unit) }),
          "wide",
        ),
        part(
          t("Cash by month"),
          cashByMonth,
          (points) => drawn(line, { title: t("Cash by month"), points, shown: (value) => rough(value, unit), scale: (value) => short(value, unit) }),
          "wide",
        ),
        h(
          "div",
          { class: "pair" },
          part(
            t("Owed to us, by age"),
            () => ar,
            (told) => aging("ar", told, matching),
          ),
          part(
            t("Owed by us, by age"),
            () => ap,
            (told) => aging("ap", told, matching),
          ),
        ),
        story(),
      ),
      h(
        "div",
        { class: "stack" },
        part(t("To do"), () => todo(matching, asked), todoList, "tall"),
        part(t("Lately"), () => list("audit-log", { sort: "-sequence", pageSize: 9 }), latest, "tall"),
      ),
    ),
  );
  firstSteps(steps).catch(() => null);
}

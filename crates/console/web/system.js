// What goes on in the server, as far as the API tells it: who speaks which dialect, what happens, and whether the log is whole.

import { ask, get, list } from "./api.js";
import { saveAs } from "./csv.js";
import { count } from "./decimal.js";
import { fault, tell } from "./dialog.js";
import { h, icon, replace } from "./dom.js";
import { time, today } from "./format.js";
import { may, noun } from "./frame.js";
import { headed } from "./heads.js";
import { linkTo } from "./names.js";
import { empty, heading, section, table, waiting } from "./parts.js";
import { RESOURCES, segmentOf, segmentOfStem } from "./resources.js";
import { here, note, path } from "./route.js";
import { own, setup } from "./setup.js";
import { label, t, word } from "./texts.js";

/** The pages of this kind, each with what it is about. */
export const systemPages = () =>
  [
    may("verification.view") ? ["proof", t("Proof"), t("Everything reckoned anew, and each identity with its two figures.")] : null,
    ["unmatched", t("Not matched"), t("Money and notes of credit that settle nothing yet.")],
    may("dialectUsage.view") ? ["dialects", t("Who speaks which dialect"), t("Programs and people, what they call, and when they last did.")] : null,
    may("event.view") ? ["events", t("Events"), t("What is told to webhooks, as it happens.")] : null,
    ["system", t("This server"), t("Its version, whether its log is whole, and what is done at the command line.")],
  ].filter(Boolean);

const trail = () => h("a", { href: path("settings") }, t("Settings"));

/** Calls by user, program and dialect; what each calls, beneath it. */
export async function dialectsView(main) {
  const { dialect = "" } = here().query;
  const places = h("div", { class: "results", "aria-live": "polite" }, waiting());
  const letters = setup.dialects.map((one) => one.letter);
  const chip = (value, text) =>
    h(
      "button",
      {
        type: "button",
        class: "chip",
        "aria-pressed": String(dialect === value),
        onclick: () => {
          note({ dialect: value });
          dialectsView(main).catch(fault);
        },
      },
      text,
    );
  replace(
    main,
    heading(t("Who speaks which dialect"), {
      trail: trail(),
      under: t("Whoever still speaks a dialect is seen here before it is taken away."),
    }),
    h(
      "div",
      { class: "toolbar" },
      h("div", { class: "chips", role: "group", "aria-label": label("dialect") }, chip("", t("All")), letters.map((letter) => chip(letter, t("Dialect {letter}", { letter })))),
    ),
    places,
  );
  const { items } = await get("/dialect-usage", { dialect });
  const called = (one) =>
    h(
      "details",
      {},
      h("summary", {}, one.operations.length === 1 ? t("1 operation") : t("{count} operations", { count: one.operations.length })),
      h(
        "table",
        { class: "list small" },
        h("caption", { class: "unseen" }, one.agent),
        h("thead", {}, h("tr", {}, [t("Operation"), t("Calls"), t("Last")].map((text, at) => h("th", { scope: "col", class: at === 1 ? "figure" : null }, text)))),
        h(
          "tbody",
          {},
          one.operations.map((use) =>
            h("tr", {}, h("th", { scope: "row" }, h("code", {}, use.operation)), h("td", { class: "figure" }, String(use.calls)), h("td", { class: "nowrap" }, time(use.lastCallAt))),
          ),
        ),
      ),
    );
  const row = (one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, one.email ?? linkTo("users", one.userId), h("span", { class: "quiet small block agent" }, one.agent)),
      h("td", { "data-label": label("dialect") }, h("span", { class: "badge plain" }, one.dialect)),
      h("td", { class: "figure", "data-label": t("Calls") }, String(one.calls)),
      h("td", { class: "nowrap", "data-label": t("Last") }, time(one.lastCallAt)),
      h("td", { "data-label": t("What") }, called(one)),
    );
  const heads = [t("Who"), label("dialect"), t("Calls"), t("Last"), t("What")];
  replace(
    places,
    items.length === 0
      ? empty(t("Nobody has called anything of this company in this dialect."))
      : h(
          "div",
          { class: "scroll" },
          h(
            "table",
            { class: "list" },
            h("caption", { class: "unseen" }, t("Who speaks which dialect")),
            h("thead", {}, h("tr", {}, heads.map((text, at) => h("th", { scope: "col", class: at === 2 ? "figure" : null }, text)))),
            h("tbody", {}, items.map(row)),
          ),
        ),
  );
}

/** The latest events first. */
const LATEST = 60;

export async function eventsView(main) {
  // The log is what the feed is read from; who may not view it begins at the beginning.
  const newest = may(`${noun("audit-log")}.view`)
    ? (await list("audit-log", { sort: "-sequence", pageSize: 1 }, { quiet: true })).items[0]?.sequence
    : null;
  const told = await get("/events", { after: Math.max(0, count(newest) - LATEST), limit: LATEST });
  const row = (one) => {
    const segment = segmentOfStem(one.resource) ?? segmentOf(one.resource);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, String(one.sequence)),
      h("td", { class: "nowrap", "data-label": label("at") }, time(one.occurredAt)),
      h("td", { "data-label": t("Event") }, h("code", {}, one.type)),
      h("td", { "data-label": t("Record") }, one.resourceId && RESOURCES[segment] ? linkTo(segment, one.resourceId) : word(one.resource)),
      h("td", { "data-label": t("Who") }, one.actor?.userId ? linkTo("users", one.actor.userId) : t("The server")),
      h("td", { "data-label": label("dialect") }, one.dialect ?? ""),
    );
  };
  const heads = [label("sequence"), label("at"), t("Event"), t("Record"), t("Who"), label("dialect")];
  const log = () =>
    h(
      "table",
      { class: "list" },
      h("caption", { class: "unseen" }, t("Events")),
      h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, told.items.toReversed().map(row)),
    );
  replace(
    main,
    heading(t("Events"), {
      trail: trail(),
      under: t("The latest {count}. A program reads them from GET /events, or is told by a webhook.", { count: told.items.length }),
      actions: h("button", { type: "button", onclick: () => eventsView(main).catch(fault) }, t("Look again")),
    }),
    told.items.length === 0
      ? empty(t("Nothing has happened yet. Whatever is written from now on stands here."))
      : h("div", { class: "results" }, headed(h("div", { class: "scroll" }, log()))),
  );
}

/** The log of the company, walked from its first row to its last. */
function wholeness() {
  const place = h("div", { role: "status" });
  const walk = async (button) => {
    button.disabled = true;
    try {
      const told = await get("/audit-log/verify");
      replace(
        place,
        h(
          "p",
          { class: told.ok ? "verdict holds" : "verdict broken" },
          told.ok ? icon("check") : "✗",
          " ",
          told.ok ? t("All {count} rows hang together.", { count: String(told.records) }) : t("The chain is broken."),
        ),
        told.problems?.length > 0 ? h("ul", {}, told.problems.map((one) => h("li", {}, typeof one === "string" ? one : JSON.stringify(one)))) : null,
      );
    } catch (error) {
      fault(error);
    }
    button.disabled = false;
  };
  const save = async () => {
    const blob = await ask("GET", "/audit-log/export", { asText: true, headers: { Accept: "application/x-ndjson" } });
    saveAs(blob, `audit-log-${today()}.ndjson`);
    tell(t("The log was saved."));
  };
  return section(
    t("The audit log"),
    h("p", { class: "quiet" }, t("Each row is sealed to the one before: one that was changed or taken out is seen.")),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", id: "walk", onclick: (event) => walk(event.target) }, t("Check the chain")),
      h("button", { type: "button", onclick: () => save().catch(fault) }, t("Save it")),
      h("a", { class: "button", href: path("audit-log") }, t("Read it")),
    ),
    place,
  );
}

/** What is beyond a company, for those who keep the server. */
async function beyond() {
  const told = await list("installation-log", { sort: "-sequence", pageSize: 12 }).catch(() => null);
  if (told === null) return null;
  const rows = told.items.map((one) => ({ ...one, resource: one.resource }));
  return section(
    t("The log of the installation"),
    rows.length === 0
      ? h("p", { class: "quiet" }, t("Nothing stands in it yet."))
      : table({ columns: ["sequence", "at", "action", "resource", "actor"], rows, segment: "audit-log", caption: t("The log of the installation") }),
  );
}

/** What the API does not do, and how it is done. */
const AT_THE_SERVER = [
  ["duet backup", "A backup while it runs, and what it takes to come back from it."],
  ["duet verify", "The proof of all companies, also of a backup."],
  ["duet tenant", "Tenants: make one, list them, stop one."],
  ["duet user", "The first administrator, and who has lost their password."],
];

export async function systemView(main) {
  const admin = (await get("/auth/me", null, { quiet: true })).isSystemAdmin === true;
  replace(main, waiting());
  const log = admin ? await beyond() : null;
  const spoken = (one) =>
    h(
      "li",
      {},
      h("span", { class: "badge plain" }, one.letter),
      " ",
      h("code", {}, one.base || "/"),
      " ",
      h("a", { href: `/redoc/index.html?url=${one.document}` }, t("Reference")),
      one.letter === own.letter ? h("span", { class: "quiet" }, ` · ${t("spoken by these pages")}`) : null,
    );
  replace(
    main,
    heading(t("This server"), { trail: trail(), under: t("Version {version}", { version: setup.version }) }),
    h(
      "div",
      { class: "columns-2" },
      section(
        t("Dialects"),
        h("ul", { class: "plain-list" }, setup.dialects.map(spoken)),
        may("dialectUsage.view") ? h("p", {}, h("a", { href: path("dialects") }, t("Who speaks which dialect"))) : null,
      ),
      may("audit.view") ? wholeness() : null,
      section(
        t("At the command line"),
        h("p", { class: "quiet" }, t("What concerns the whole server is done where it runs, not over the API.")),
        h(
          "ul",
          { class: "plain-list" },
          AT_THE_SERVER.map(([command, about]) => h("li", {}, h("code", {}, command), h("span", { class: "quiet small block" }, t(about)))),
        ),
        h("p", {}, h("a", { href: "/docs/operating" }, t("Operating a server"))),
      ),
    ),
    log,
  );
}


// What stands around every view: the navigation, the company, the search, and who is signed in.

import { chooseCompany, company, list, made, signOut, who } from "./api.js";
import { fault } from "./dialog.js";
import { h, icon, replace } from "./dom.js";
import { dropAllDrafts } from "./drafts.js";
import { addressLines, date, goBy, isVatNumber, monthEdge, time } from "./format.js";
import { forget } from "./names.js";
import { openRequests } from "./request.js";
import { GROUPS, RESOURCES } from "./resources.js";
import { go, here, path, withQuery } from "./route.js";
import { setup } from "./setup.js";
import { languages, label, language, speak, t } from "./texts.js";

let companies = [];
/** The companies that the reader is a member of. */
export async function knowCompanies() {
  companies = (await list("businesses", { pageSize: 500, sort: "name" }, { quiet: true })).items;
  return companies;
}
export const business = () => companies.find((one) => one.id === company());
goBy(() => business()?.today);
export const currency = () => business()?.baseCurrency ?? "EUR";
/** Whether the reader may do something here; the server has the last word. */
export const may = (permission) => business()?.permissions?.includes(permission) ?? true;

/** `salesInvoice` for `sales-invoices`: what permissions are called by. */
export const noun = (segment) =>
  ({
    parties: "party",
    businesses: "business",
    "contra-entries": "contraEntry",
    entries: "entry",
    currencies: "currency",
    "number-series": "numberSeries",
    "audit-log": "audit",
  })[segment] ?? RESOURCES[segment].stem.replace(/s$/, "");

const title = (segment) => label(RESOURCES[segment].stem);

/** Where the month before is closed: a lock of everything until its last day. */
export const closing = () => withQuery(path("locks", "new"), { lockDate: monthEdge(-1, "last") });

function entry(address, name, mark) {
  const isHere = location.pathname === address || (mark !== "home" && location.pathname.startsWith(`${address}/`));
  return h("a", { href: address, "aria-current": isHere ? "page" : null }, mark ? icon(mark) : null, h("span", {}, name));
}

function navigation() {
  const [segment] = here().parts;
  const group = ([mark, name, segments]) => {
    const seen = segments.filter((one) => may(`${noun(one)}.view`) || ["entries", "allocations"].includes(one));
    if (seen.length === 0) return null;
    if (seen.length === 1) return h("li", {}, entry(path(seen[0]), t(name), mark));
    return h(
      "li",
      {},
      h(
        "details",
        { open: seen.includes(segment) || innerWidth > 900, "data-group": name },
        h("summary", {}, icon(mark), h("span", {}, t(name))),
        h(
          "ul",
          {},
          seen.map((one) => h("li", {}, entry(path(one), title(one)))),
          mark === "books" && may("lock.create") ? h("li", {}, entry(closing(), t("Close a month"))) : null,
        ),
      ),
    );
  };
  const tools = setup.pages.filter(([address]) => address !== "/");
  return h(
    "nav",
    { "aria-label": t("Main"), class: "rail", id: "rail" },
    h("a", { class: "brand", href: path() }, "Duet"),
    h(
      "ul",
      {},
      h("li", {}, entry(path(), t("Home"), "home")),
      GROUPS.map(group),
      may("report.view") ? h("li", {}, entry(path("reports"), t("Reports"), "reports")) : null,
      h("li", {}, entry(path("settings"), t("Settings"), "settings")),
      h(
        "li",
        {},
        h(
          "details",
          { "data-group": "Tools" },
          h("summary", {}, icon("tools"), h("span", {}, t("Tools"))),
          h(
            "ul",
            {},
            tools.map(([address, name]) => h("li", {}, h("a", { href: address }, h("span", {}, t(name))))),
          ),
        ),
      ),
    ),
  );
}

/** That these books are there to be tried out, and what day it was told to be. */
function trialMark(one) {
  if (!one?.isTrial) return null;
  const words = one.today ? t("Trial: today is {day}", { day: date(one.today) }) : t("Trial");
  return h("span", { class: "badge waits", id: "trial" }, words);
}

function top(redraw) {
  const choice = h(
    "select",
    { id: "company", "aria-label": t("Company"), onchange: (event) => open(event.target.value) },
    companies.map((one) => h("option", { value: one.id, selected: one.id === company() }, one.name)),
  );
  const query = here().parts[0] === "search" ? (here().query.q ?? "") : "";
  const search = h(
    "form",
    {
      class: "search",
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        const words = event.target.q.value.trim();
        if (words) go(withQuery(path("search"), { q: words }));
      },
    },
    icon("search"),
    h("input", {
      id: "search",
      name: "q",
      type: "search",
      value: query,
      placeholder: t("Search"),
      "aria-label": t("Search everything"),
      "aria-keyshortcuts": "/",
    }),
  );
  const tongue = h(
    "select",
    {
      "aria-label": t("Language"),
      id: "language",
      onchange: (event) => {
        speak(event.target.value);
        redraw();
      },
    },
    languages.map(([code, name]) => h("option", { value: code, selected: code === language(), lang: code }, name)),
  );
  const user = h(
    "details",
    { class: "menu" },
    h(
      "summary",
      { "aria-label": t("Your account") },
      h("span", { class: "avatar", "aria-hidden": "true" }, (who()?.email ?? "?").charAt(0).toUpperCase()),
    ),
    h(
      "div",
      { class: "menu-body" },
      h("p", { class: "quiet small" }, who()?.email),
      h("p", {}, h("a", { href: path("account") }, t("Your account"))),
      h("p", { class: "field" }, h("span", {}, t("Language")), tongue),
      h("button", { type: "button", id: "sign-out", onclick: leave }, t("Sign out")),
    ),
  );
  return h(
    "header",
    { class: "crown" },
    h(
      "button",
      { type: "button", class: "plain burger", "aria-label": t("Menu"), "aria-controls": "rail", onclick: toggleMenu },
      icon("more"),
    ),
    choice,
    trialMark(business()),
    search,
    h(
      "button",
      {
        type: "button",
        class: "plain",
        id: "as-request",
        title: t("This page as requests"),
        onclick: () => openRequests([...made]),
      },
      icon("tools"),
      h("span", { class: "wide-only" }, t("As a request")),
    ),
    user,
  );
}

/** What is open over the page closes by Escape, or by a click beside it. */
function closeMenu({ key, target }) {
  if (key && key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!key && menu.contains(target)) continue;
    menu.open = false;
    if (key) menu.querySelector("summary").focus();
  }
  if (key) document.querySelector(".shell.open")?.classList.remove("open");
}
document.addEventListener("keydown", closeMenu);
document.addEventListener("pointerdown", closeMenu);

export function toggleMenu() {
  document.querySelector(".shell").classList.toggle("open");
}

/** What stands above a page on paper, and nowhere else. */
function letterhead() {
  const one = business();
  const place = addressLines(one?.address, one?.address?.country).join(", ");
  const number = isVatNumber(one?.taxNumber) ? t("VAT number") : label("taxNumber");
  const said = [place, one?.taxNumber ? `${number} ${one.taxNumber}` : null, one?.registrationNumber].filter(Boolean);
  return h(
    "div",
    { class: "letterhead", "aria-hidden": "true" },
    h("strong", {}, one?.legalName ?? one?.name),
    h("span", {}, said.join(" · ")),
    h("span", { class: "printed" }, t("Printed {when}", { when: time(new Date().toISOString()) })),
  );
}

function bottom() {
  const tab = (address, name, mark) =>
    h("a", { href: address, "aria-current": location.pathname === address ? "page" : null }, icon(mark), h("span", {}, name));
  return h(
    "nav",
    { class: "bottom", "aria-label": t("Quick") },
    tab(path(), t("Home"), "home"),
    tab(path("sales-invoices"), t("Invoices"), "sales"),
    tab(path("sales-invoices", "new"), t("New"), "plus"),
    tab(path("reports"), t("Reports"), "reports"),
    h("button", { type: "button", class: "plain", onclick: toggleMenu }, icon("more"), h("span", {}, t("More"))),
  );
}

export async function leave() {
  dropAllDrafts();
  try {
    await signOut();
  } catch (error) {
    fault(error);
    return;
  }
  forget();
  // What was proved is of the books, and stays with nobody.
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("duet.")) sessionStorage.removeItem(name);
  chooseCompany(null);
  location.assign("/");
}

function open(id) {
  forget();
  chooseCompany(id);
  go(path());
}

/** Draws the frame and answers the place for the view. */
export function frame(redraw) {
  const app = document.getElementById("app");
  document.documentElement.lang = language();
  const main = h("main", { id: "main", tabindex: "-1" });
  const side = document.querySelector(".rail");
  const scrolled = side?.scrollTop ?? 0;
  const opened = new Set(
    [...document.querySelectorAll(".rail details")].filter((one) => one.open).map((one) => one.dataset.group),
  );
  const known = side !== null;
  replace(
    app,
    h(
      "a",
      {
        class: "skip",
        href: "#main",
        onclick: (event) => {
          event.preventDefault();
          main.focus();
        },
      },
      t("To the content"),
    ),
    h(
      "div",
      { class: "shell" },
      navigation(),
      h("div", { class: "veil", onclick: toggleMenu }),
      h("div", { class: "stage" }, letterhead(), top(redraw), main),
      bottom(),
    ),
  );
  if (known) for (const one of document.querySelectorAll(".rail details")) if (opened.has(one.dataset.group)) one.open = true;
  document.querySelector(".rail").scrollTop = scrolled;
  return main;
}

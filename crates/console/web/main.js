// Begins: who is signed in, which company is open, which view the address names.

import { accountView } from "./account.js";
import { chooseCompany, company, made, onExpiry, signedIn } from "./api.js";
import { explain } from "./dialog.js";
import { h, replace } from "./dom.js";
import { editView } from "./edit.js";
import { frame, knowCompanies, leave } from "./frame.js";
import { homeView } from "./home.js";
import { listenToKeys } from "./keys.js";
import { listView, searchView } from "./list.js";
import { forget } from "./names.js";
import { empty, heading, waiting } from "./parts.js";
import { proofView } from "./proof.js";
import { recordView } from "./record.js";
import { reportView, reportsView } from "./report.js";
import { RESOURCES } from "./resources.js";
import { go, here, listen, onChange, path } from "./route.js";
import { ahead } from "./schema.js";
import { settingsView } from "./settings.js";
import { signInAgain, signInPage, watch } from "./signin.js";
import { dialectsView, eventsView, systemView } from "./system.js";
import { language, t } from "./texts.js";
import { unmatchedView } from "./unmatched.js";

const app = document.getElementById("app");
let companies = null;
let turn = 0;

const PAGES = {
  settings: settingsView,
  account: accountView,
  search: searchView,
  proof: proofView,
  unmatched: unmatchedView,
  dialects: dialectsView,
  events: eventsView,
  system: systemView,
};

/** Which view an address names. */
async function view(main, parts) {
  const [first, second, third] = parts;
  if (!first) return homeView(main);
  if (first === "reports") return second ? reportView(main, second) : reportsView(main);
  if (PAGES[first]) return PAGES[first](main);
  if (!RESOURCES[first]) return nowhere(main);
  if (!second) return listView(main, first);
  if (second === "new") return editView(main, first, null);
  return third === "edit" ? editView(main, first, second) : recordView(main, first, second);
}

function nowhere(main) {
  replace(
    main,
    heading(t("Nothing here")),
    empty(t("No page has this address."), h("a", { href: path() }, t("To the first page"))),
  );
}

/** Where no company is, or the one that is named is none of the reader's. */
function choose() {
  const named = here().business;
  const one = companies.find((other) => other.id === named) ?? (named === null ? companies[0] : null);
  if (one) {
    if (company() !== one.id) forget();
    chooseCompany(one.id);
    if (named === null) go(path(), { replaces: true });
    return named !== null;
  }
  const entries = companies.map((other) => h("li", {}, h("a", { href: `/c/${other.id}` }, other.name)));
  const text =
    companies.length > 0
      ? t("This company is not there, or not yours. Choose one of yours:")
      : t("You are not a member of any company yet. Ask to be invited, or let an administrator make one.");
  document.title = "Duet";
  replace(
    app,
    h(
      "main",
      { class: "gate" },
      h("div", { class: "brand" }, "Duet"),
      h("h1", { tabindex: "-1" }, t("Which company?")),
      h("p", {}, text),
      h("ul", {}, entries),
      h("div", { class: "buttons" }, h("button", { type: "button", id: "sign-out", onclick: leave }, t("Sign out"))),
    ),
  );
  return false;
}

async function show() {
  document.documentElement.lang = language();
  const mine = ++turn;
  if (!signedIn()) {
    document.title = `${t("Sign in")} – Duet`;
    replace(
      app,
      signInPage(() => {
        companies = null;
        show();
      }),
      told(),
    );
    return void app.querySelector(setupFocus()).focus();
  }
  made.length = 0;
  try {
    companies ??= await knowCompanies();
    const named = here().business;
    if (named !== null && !companies.some((one) => one.id === named)) companies = await knowCompanies();
    if (!choose()) return;
    // Not every view needs it, and none for its first paint.
    (window.requestIdleCallback ?? setTimeout)(ahead);
    const main = frame(show);
    app.append(told());
    replace(main, waiting());
    main.ariaBusy = "true";
    await view(main, here().parts).catch((error) => {
      if (mine === turn && error.name !== "AbortError")
        replace(
          main,
          heading(t("This did not work")),
          empty(explain(error), h("button", { type: "button", onclick: show }, t("Try again"))),
        );
    });
    main.ariaBusy = "false";
    if (mine === turn && !main.contains(document.activeElement)) main.querySelector("h1")?.focus({ preventScroll: true });
  } catch (error) {
    if (!signedIn() || error.status === 401) {
      sessionStorage.clear();
      return void location.reload();
    }
    replace(
      app,
      h(
        "main",
        { class: "gate" },
        h("div", { class: "brand" }, "Duet"),
        h("h1", {}, t("This did not work")),
        h("p", {}, explain(error)),
        h("button", { type: "button", class: "main", onclick: show }, t("Try again")),
      ),
    );
  }
}

const setupFocus = () => (app.querySelector("input[name=email]").value ? "#sign-in button[type=submit]" : "input[name=email]");

/** Where words at the edge of the page stand, once for all views. */
function told() {
  const place = document.getElementById("told") ?? h("div", { id: "told", class: "told", role: "status", "aria-live": "polite" });
  document.body.append(place);
  return "";
}

onChange(() => {
  scrollTo(0, 0);
  show();
});
onExpiry(signInAgain);
listen();
listenToKeys();
watch();
show();

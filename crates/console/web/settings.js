// What a company is set up with, and what is the reader's own.

import { ask, company, get } from "./api.js";
import { dialog, fault, tell } from "./dialog.js";
import { h, replace } from "./dom.js";
import { time } from "./format.js";
import { business, may, noun } from "./frame.js";
import { badge, facts, heading, section } from "./parts.js";
import { EMPTY, RESOURCES, SETTINGS } from "./resources.js";
import { path } from "./route.js";
import { setup } from "./setup.js";
import { label, t } from "./texts.js";

const ABOUT = {
  businesses: "Name, address, tax number, and how documents are booked.",
  "fiscal-years": "Years, and which of them are closed.",
  locks: "Until when nothing is booked any more.",
  "number-series": "How documents are numbered.",
  users: "Who works here; invite others.",
  permissions: "Roles, and sets of your own.",
  "api-keys": "Programs that speak for you.",
  webhooks: "Programs that are told of what happens.",
  "tax-codes": "What is charged and claimed.",
  "payment-terms": "When invoices are due.",
  currencies: "What is reckoned in.",
  "exchange-rates": "What other currencies are worth.",
  "audit-log": "Who changed what, and when; each row sealed to the one before.",
};

export async function settingsView(main) {
  const entry = (segment) =>
    may(`${noun(segment)}.view`)
      ? h(
          "li",
          {},
          h(
            "a",
            { href: segment === "businesses" ? path("businesses", company()) : path(segment) },
            segment === "businesses" ? t("This company") : label(RESOURCES[segment].stem),
          ),
          h("span", { class: "quiet small block" }, t(ABOUT[segment] ?? EMPTY[segment] ?? "")),
        )
      : null;
  const others = h(
    "li",
    {},
    h("a", { href: path("businesses") }, t("All companies")),
    h("span", { class: "quiet small block" }, t("Those that you are a member of; make another.")),
  );
  const shelf = ([title, segments]) =>
    section(t(title), h("ul", { class: "plain-list" }, segments.map(entry), segments.includes("businesses") ? others : null));
  const proof = h("div", {});
  const prove = h(
    "button",
    {
      type: "button",
      id: "prove",
      onclick: async () => {
        prove.disabled = true;
        replace(proof, h("p", { class: "quiet" }, t("Everything is reckoned anew …")));
        try {
          const told = await get("/verify");
          const one = (check) =>
            h(
              "li",
              { class: check.ok ? "holds" : "broken" },
              h("span", { class: `badge ${check.ok ? "good" : "late"}` }, check.ok ? "✓" : "✗"),
              " ",
              h("span", {}, t(check.name)),
            );
          replace(
            proof,
            h(
              "p",
              {},
              h(
                "strong",
                {},
                told.ok
                  ? t("The books are proved: {count} identities hold.", { count: told.checks.length })
                  : t("Something does not add up. Show this to whoever keeps the server."),
              ),
            ),
            h(
              "details",
              { open: !told.ok },
              h("summary", {}, t("Which")),
              h("ul", { class: "plain-list" }, told.checks.map(one)),
            ),
          );
        } catch (error) {
          replace(proof);
          fault(error);
        }
        prove.disabled = false;
      },
    },
    t("Prove the books"),
  );
  const tools = section(
    t("Tools"),
    h(
      "ul",
      { class: "plain-list" },
      setup.pages
        .filter(([address]) => address !== "/")
        .map(([address, name]) => h("li", {}, h("a", { href: address }, t(name)))),
    ),
  );
  replace(
    main,
    heading(t("Settings"), { under: business()?.legalName ?? business()?.name }),
    h(
      "div",
      { class: "columns-2" },
      SETTINGS.map(shelf),
      may("verification.view") &&
        section(
          t("Proof"),
          h("p", { class: "quiet" }, t("Every figure is made anew from the lines of the ledger and held against what is shown.")),
          prove,
          proof,
        ),
      tools,
    ),
  );
}

const secret = (name, title, autocomplete) =>
  h(
    "p",
    { class: "field" },
    h("label", { for: `own-${name}` }, title),
    h("input", { id: `own-${name}`, name, type: "password", autocomplete, required: true }),
  );

function changePassword() {
  dialog({
    title: t("Change the password"),
    confirm: t("Change"),
    body: [
      secret("currentPassword", t("Password now"), "current-password"),
      secret("newPassword", t("New password"), "new-password"),
      h("p", { class: "quiet small" }, t("All your other sessions end with it.")),
    ],
    async act(close, form) {
      await ask("POST", "/auth/me/password", {
        body: { currentPassword: form.elements.currentPassword.value, newPassword: form.elements.newPassword.value },
        quiet: true,
      });
      close();
      tell(t("The password is changed. Sign in with it when you are asked."));
    },
  });
}

export async function accountView(main) {
  const [me, sessions] = await Promise.all([get("/auth/me"), get("/auth/me/sessions")]);
  const again = () => accountView(main).catch(fault);
  const end = (one) =>
    h("button", { type: "button", onclick: () => ask("DELETE", `/auth/me/sessions/${one.id}`).then(again, fault) }, t("End"));
  const row = (one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, one.agent ?? t("Unknown program"), one.current ? [" ", badge("active")] : null),
      h("td", { "data-label": label("lastSeenAt") }, time(one.lastSeenAt)),
      h("td", { "data-label": label("address") }, one.address),
      h("td", {}, one.current ? t("this one") : end(one)),
    );
  const others = h(
    "button",
    { type: "button", onclick: () => ask("POST", "/auth/me/sessions/end-others", { body: {} }).then(again, fault) },
    t("End all others"),
  );
  replace(
    main,
    heading(me.displayName, {
      under: me.email,
      actions: h("button", { type: "button", onclick: changePassword }, t("Change the password")),
    }),
    section(
      t("You"),
      facts(me, ["username", "email", "status", "twoFactorEnabled", "lastLoginAt", "isSystemAdmin"], "users"),
      h(
        "p",
        { class: "quiet small" },
        me.twoFactorEnabled
          ? t("Your account has a second factor.")
          : t("A second factor is set up by POST auth/me/totp; the reference shows how."),
      ),
    ),
    section(
      t("Where you are signed in"),
      h(
        "div",
        { class: "scroll" },
        h(
          "table",
          { class: "list" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              [t("Program"), label("lastSeenAt"), label("address"), ""].map((name) =>
                h("th", { scope: "col" }, name || h("span", { class: "unseen" }, t("End"))),
              ),
            ),
          ),
          h("tbody", {}, sessions.items.map(row)),
        ),
      ),
      others,
    ),
  );
}

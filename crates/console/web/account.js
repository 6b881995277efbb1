// What is the reader's own: their password, their second factor, where they are signed in, and companies that invite them.

import { ask, get } from "./api.js";
import { field, question } from "./admin.js";
import { copy, dialog, fault, tell } from "./dialog.js";
import { h, replace } from "./dom.js";
import { time } from "./format.js";
import { knowCompanies } from "./frame.js";
import { badge, facts, heading, section } from "./parts.js";
import { qr } from "./qr.js";
import { go } from "./route.js";
import { label, t } from "./texts.js";

const password = (name, title, autocomplete) => field(name, title, { type: "password", autocomplete, required: true });

function changePassword() {
  question({
    title: t("Change the password"),
    about: t("All your other sessions end with it."),
    fields: [
      password("currentPassword", t("Password now"), "current-password"),
      password("newPassword", t("New password"), "new-password"),
    ],
    isSecret: true,
    confirm: t("Change"),
    address: "/auth/me/password",
    body: (given) => ({ currentPassword: given.currentPassword.value, newPassword: given.newPassword.value }),
    then: () => tell(t("The password is changed. Sign in with it when you are asked.")),
  });
}

/** Codes that are shown now, and never again. */
const showCodes = (codes, again) =>
  dialog({
    title: t("Shown only now"),
    cancel: t("I have kept it"),
    closed: again,
    body: [
      h("p", {}, t("Each of these is good once, where your authenticator is not at hand. Keep them in a safe place.")),
      h("ul", { class: "codes" }, codes.map((code) => h("li", {}, h("code", {}, code)))),
      h("p", {}, h("button", { type: "button", onclick: () => copy(codes.join("\n")) }, t("Copy"))),
    ],
  });

function confirmFactor({ secret, uri }, again) {
  question({
    title: t("A second factor"),
    about: t("Let your authenticator read this code, type the secret into it, or open the address on the device that has it. Then give the code that it shows."),
    fields: [
      qr(uri, t("The secret, for an authenticator to read")),
      h("p", {}, h("code", { class: "secret" }, secret.replace(/(.{4})/g, "$1 ").trim())),
      h("p", { class: "small" }, h("a", { href: uri }, t("Open in an authenticator on this device"))),
      field("code", t("Code"), { inputmode: "numeric", autocomplete: "one-time-code" }),
    ],
    isSecret: true,
    confirm: t("Confirm"),
    address: "/auth/me/totp-confirmation",
    body: (given) => ({ code: given.code.value.trim() }),
    then: (data) => showCodes(data.recoveryCodes, again),
  });
}

const beginFactor = (again) =>
  question({
    title: t("A second factor"),
    about: t("Signing in then takes a code of an authenticator as well. Your password first:"),
    fields: password("currentPassword", t("Password now"), "current-password"),
    isSecret: true,
    confirm: t("Go on"),
    address: "/auth/me/totp",
    body: (given) => ({ currentPassword: given.currentPassword.value }),
    then: (data) => confirmFactor(data.authenticator, again),
  });

const factorFields = () => [
  password("currentPassword", t("Password now"), "current-password"),
  field("code", t("Code of your authenticator"), { autocomplete: "one-time-code" }),
];
const factorBody = (given) => ({ currentPassword: given.currentPassword.value, code: given.code.value.trim() });

const endFactor = (again) =>
  question({
    title: t("Without a second factor"),
    about: t("From then on your password alone is enough."),
    fields: factorFields(),
    isSecret: true,
    confirm: t("Remove it"),
    isGrave: true,
    address: "/auth/me/totp-removal",
    body: factorBody,
    then: again,
  });

const renewCodes = (again) =>
  question({
    title: t("New recovery codes"),
    about: t("The old ones are good for nothing any more."),
    fields: factorFields(),
    isSecret: true,
    confirm: t("Make new ones"),
    address: "/auth/me/recovery-codes",
    body: factorBody,
    then: (data) => showCodes(data.recoveryCodes, again),
  });

function factor(me, again) {
  if (!me.twoFactorEnabled)
    return [
      h("p", { class: "quiet" }, t("Your password alone is enough to sign in.")),
      h("button", { type: "button", id: "begin-factor", onclick: () => beginFactor(again) }, t("Set up a second factor")),
    ];
  return [
    h("p", {}, badge("active"), " ", t("{count} recovery codes are left.", { count: String(me.recoveryCodesLeft ?? 0) })),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", onclick: () => renewCodes(again) }, t("New recovery codes")),
      h("button", { type: "button", class: "grave-text", onclick: () => endFactor(again) }, t("Remove it")),
    ),
  ];
}

const accept = (again) =>
  question({
    title: t("You were invited"),
    about: t("The code that you were given makes you a member of the company that invited you."),
    fields: field("invitationCode", t("Code of the invitation"), { autocomplete: "off" }),
    isSecret: true,
    confirm: t("Accept"),
    address: "/auth/me/invitations",
    body: (given) => ({ invitationCode: given.invitationCode.value.trim() }),
    async then() {
      await knowCompanies();
      again();
      go("/");
    },
  });

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
  const heads = [t("Program"), label("lastSeenAt"), label("address"), ""];
  replace(
    main,
    heading(me.displayName, {
      under: me.email,
      actions: [
        h("button", { type: "button", onclick: () => accept(again) }, t("I was invited")),
        h("button", { type: "button", onclick: changePassword }, t("Change the password")),
      ],
    }),
    section(t("You"), facts(me, ["username", "email", "status", "lastLoginAt", "isSystemAdmin"], "users")),
    section(t("Second factor"), factor(me, again)),
    section(
      t("Where you are signed in"),
      h(
        "div",
        { class: "scroll" },
        h(
          "table",
          { class: "list" },
          h("caption", { class: "unseen" }, t("Where you are signed in")),
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              heads.map((name) => h("th", { scope: "col" }, name || h("span", { class: "unseen" }, t("End")))),
            ),
          ),
          h("tbody", {}, sessions.items.map(row)),
        ),
      ),
      others,
    ),
  );
}

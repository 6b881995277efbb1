// Signing in by dialect B; and again, where the session ends while somebody works.

import { Refused, acceptInvitation, left, signIn, signedIn, who } from "./api.js";
import { dialog, tell } from "./dialog.js";
import { fresh, h } from "./dom.js";
import { markFault } from "./faults.js";
import { refusal, refused } from "./refusals.js";
import { setup } from "./setup.js";
import { t } from "./texts.js";

/** The three fields; the code is asked for by those who have a second factor. */
function fields(email, password) {
  const field = (name, props) => {
    const id = fresh(name);
    return {
      row: h("p", { class: "field" }, h("label", { for: id }, props.title), h("input", { id, name, ...props, title: null })),
      id,
    };
  };
  const name = field("email", { title: t("E-mail"), type: "email", autocomplete: "username", required: true, value: email });
  const secret = field("password", {
    title: t("Password"),
    type: "password",
    autocomplete: "current-password",
    required: true,
    value: password,
  });
  const code = field("code", { title: t("Code of your authenticator, or a recovery code"), inputmode: "text", autocomplete: "one-time-code" });
  code.row.hidden = true;
  const value = (row) => row.querySelector("input").value.trim();
  const ask = async () => {
    try {
      await signIn(value(name.row), secret.row.querySelector("input").value, value(code.row));
    } catch (error) {
      if (error instanceof Refused && /totpCode/.test(`${error.message}${Object.keys(error.errors)}`)) {
        const first = code.row.hidden;
        code.row.hidden = false;
        code.row.querySelector("input").focus();
        if (first) throw new Error(t("Your account has a second factor: give the code that your authenticator shows now."));
      }
      if (error instanceof Refused && error.status === 401) throw new Error(t("The e-mail or the password is wrong."));
      throw error;
    }
  };
  return { rows: [name.row, secret.row, code.row], ask };
}

/** Somebody who was invited opens their account, and signs in with it. */
function accept() {
  const row = (name, title, props) => {
    const id = fresh(name);
    return h("p", { class: "field" }, h("label", { for: id }, title), h("input", { id, name, required: true, ...props }));
  };
  dialog({
    title: t("You were invited"),
    confirm: t("Open the account"),
    body: [
      h("p", {}, t("The code that you were given opens an account for the address that it was made for.")),
      row("code", t("Code of the invitation"), { autocomplete: "off" }),
      row("displayName", t("Your name"), { autocomplete: "name", required: false }),
      row("password", t("New password"), { type: "password", autocomplete: "new-password" }),
    ],
    async act(close, form) {
      const { code, displayName, password } = form.elements;
      // Without them the server would speak of a token, which nobody was asked for.
      const missing = [code, password].filter((input) => input.value.trim() === "");
      for (const input of missing) markFault(input, refusal("is required"));
      if (missing.length > 0) return void missing[0].focus();
      const told = await acceptInvitation(code.value.trim(), { password: password.value, displayName: displayName.value.trim() || null });
      close();
      document.querySelector("#sign-in [name=email]").value = told.email;
      const secret = document.querySelector("#sign-in [name=password]");
      secret.value = "";
      secret.focus();
      tell(t("Your account is open. Sign in with the password that you chose."));
    },
  });
}

export function signInPage(done) {
  const { demo } = setup;
  const { rows, ask } = fields(demo?.email ?? "", demo?.password ?? "");
  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const button = h("button", { type: "submit", class: "main" }, t("Sign in"));
  const form = h("form", { novalidate: true, id: "sign-in" }, wrong, rows, button);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    wrong.hidden = true;
    try {
      await ask();
      done();
    } catch (error) {
      wrong.textContent =
        error.code === "offline" ? t("The server cannot be reached. Nothing was lost; try again in a moment.") : refused(error.code, error.message);
      wrong.hidden = false;
      button.disabled = false;
    }
  });
  const hint = demo
    ? h(
        "p",
        { class: "tip" },
        t("This is a demo with sample companies: just sign in. Everything is thrown away when the server stops."),
      )
    : null;
  const others = setup.pages.filter(([path]) => path !== "/");
  return h(
    "main",
    { class: "gate" },
    h("div", { class: "brand" }, "Duet"),
    h("h1", { tabindex: "-1" }, t("Sign in")),
    h("p", { class: "quiet" }, t("Double-entry accounting: one set of books, two ways to speak to it.")),
    hint,
    form,
    h("p", {}, h("button", { type: "button", class: "link", id: "invited", onclick: accept }, t("I was invited and have no account yet"))),
    h(
      "nav",
      { "aria-label": t("Other pages"), class: "gate-links" },
      others.map(([path, title]) => h("a", { href: path }, t(title))),
    ),
    h("p", { class: "quiet small" }, t("Version {version}", { version: setup.version })),
  );
}

let asking = null;

/** Over the page that is open, so that nothing which was typed is lost. One question for all who wait. */
export function signInAgain() {
  asking ??= new Promise((resolve, reject) => {
    const { rows, ask } = fields(who()?.email ?? "", setup.demo?.password ?? "");
    let done = false;
    dialog({
      title: t("Your session has ended"),
      body: [h("p", {}, t("Sign in again; what you have typed is still here.")), rows],
      confirm: t("Sign in"),
      async act(close) {
        await ask();
        done = true;
        close();
      },
      closed() {
        asking = null;
        if (done) resolve();
        else reject(new Refused(401, { title: t("You are not signed in any more.") }, "unauthenticated"));
      },
    });
  });
  return asking;
}

let warned = false;

/** Says in time that a session is about to end. */
export function watch() {
  setInterval(() => {
    const rest = left();
    if (!signedIn() || rest > 120_000) warned = false;
    else if (!warned && rest > 0) {
      warned = true;
      tell(t("Your session ends in two minutes. You will be asked for your password; nothing is lost."));
    }
  }, 15_000);
}

// Questions before something is done, and words after it was.

import { Refused } from "./api.js";
import { fresh, h, icon } from "./dom.js";
import { markFault } from "./faults.js";
import { refusal, refused } from "./refusals.js";
import { label, t } from "./texts.js";

/** How the server begins where a permission is missing, by its name, which says nothing to a reader. */
const LACKING = /^You need the permission /;

/** Says what went wrong, in the reader's words where the server's would not help. */
export function explain(error, errors = error.errors) {
  if (!(error instanceof Refused)) return String(error.message ?? error);
  const known = {
    offline: t("The server cannot be reached. Nothing was lost; try again in a moment."),
    // Where it is not a permission that is missing, the server says what stands in the way.
    forbidden: LACKING.test(error.message) ? t("You may not do this here. Whoever keeps the company's users can change that.") : undefined,
    not_found: t("It is not there, or not for you."),
    precondition_failed: t("Somebody else has changed this meanwhile."),
    rate_limited: t("Too many requests at once. Try again in a minute."),
  }[error.code];
  const told = Object.entries(errors).map(([field, messages]) => `${label(field.split(".").at(-1))}: ${messages.map(refusal).join("; ")}`);
  if (error.status === 404 && error.code === null) return t("This server does not serve dialect B any more.");
  return [known ?? refused(error.code, error.message), ...told].join("\n");
}

/** A word at the edge of the page, which is read aloud as well. */
export function tell(text, isBad = false) {
  const place = document.getElementById("told");
  for (const old of place.querySelectorAll(".toast:not(.bad)")) old.remove();
  const word = h(
    "div",
    { class: isBad ? "toast bad" : "toast" },
    h("span", {}, text),
    h("button", { type: "button", class: "plain", "aria-label": t("Close"), onclick: () => word.remove() }, icon("close")),
  );
  place.append(word);
  if (!isBad) setTimeout(() => word.remove(), 6000);
}

export const fault = (error) => {
  if (error.name !== "AbortError") tell(explain(error), true);
};

/**
 * A dialog with a form in it. `act` is called with a function that closes it; what it throws is shown inside, and the dialog stays.
 * A fault stands at its field: the one of that name, or what `find` has for its path.
 */
export function dialog({ title, body, confirm, isGrave, act, wide, cancel = t("Cancel"), mustAnswer = false, closed, find = () => null }) {
  const heading = fresh("dialog");
  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const buttons = h("div", { class: "buttons" });
  const form = h(
    "form",
    { method: "dialog", novalidate: true },
    h("h2", { id: heading }, title),
    wrong,
    h("div", { class: "dialog-body" }, body),
    buttons,
  );
  const box = h("dialog", { class: wide ? "wide" : null, "aria-labelledby": heading }, form);
  if (confirm) buttons.append(h("button", { type: "submit", class: isGrave ? "grave" : "main" }, confirm));
  if (cancel) buttons.append(h("button", { type: "button", onclick: () => box.close() }, cancel));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    buttons.firstChild.disabled = true;
    try {
      await act(() => box.close(), form);
      wrong.hidden = true;
    } catch (error) {
      const placeless = Object.entries(error.errors ?? {}).filter(([path, messages]) => {
        const input = find(path) ?? form.querySelector(`[name="${CSS.escape(path)}"]`);
        if (input) markFault(input, messages.map(refusal).join("; "));
        return !input;
      });
      wrong.textContent = explain(error, Object.fromEntries(placeless));
      wrong.hidden = false;
      form.querySelector("[aria-invalid]")?.focus();
    }
    buttons.firstChild.disabled = false;
  });
  // The same keys as in a form. Held down since the form before, they answer nothing.
  form.addEventListener("keydown", (event) => {
    if (!confirm || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!event.repeat && !buttons.firstChild.disabled) form.requestSubmit(buttons.firstChild);
  });
  // What was wrong is said until somebody mends it.
  form.addEventListener("input", () => (wrong.hidden = true));
  if (mustAnswer) box.addEventListener("cancel", (event) => event.preventDefault());
  box.addEventListener("close", () => {
    box.remove();
    closed?.();
  });
  // Whoever follows a link leaves the question: it would lie over the page that the link leads to.
  form.addEventListener("click", (event) => {
    const isHere = !event.ctrlKey && !event.metaKey && !event.shiftKey && !mustAnswer;
    if (isHere && event.target.closest("a[href]")) box.close();
  });
  document.body.append(box);
  // Whoever answers begins with the first field. Where there is none, Enter does nothing that cannot be taken back.
  const first = form.querySelector(".dialog-body :is(input, select, textarea)") ?? (isGrave ? buttons.lastChild : null);
  if (first) first.autofocus = true;
  box.showModal();
  return box;
}

/** Where the page did not come safely, a browser has nowhere to copy to. */
export const copy = (text) =>
  (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"))).then(
    () => tell(t("Copied.")),
    () => tell(t("Copying is not allowed here; mark the text instead."), true),
  );

// Somebody else was faster: what they changed, what the reader changed, and by hand what both did.

import { write } from "./decimal.js";
import { dialog } from "./dialog.js";
import { h } from "./dom.js";
import { shown } from "./format.js";
import { nameOf } from "./names.js";
import { leadsTo } from "./resources.js";
import { label, t } from "./texts.js";

const same = (left, right) => write(left ?? null) === write(right ?? null);

/** A value in a few words: a line a line. */
function words(name, value, segment) {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return "–";
  if (Array.isArray(value)) return h("ul", { class: "plain-list small" }, value.map((one) => h("li", {}, words(name, one, segment))));
  if (typeof value === "object" && !("text" in value)) {
    const parts = Object.entries(value).filter(([field, one]) => one !== null && field !== "id" && typeof one !== "boolean");
    return parts.map(([field, one]) => [words(field, one, segment), " "]);
  }
  const leads = leadsTo(name, segment);
  if (!leads || typeof value !== "string") return shown(value);
  const place = h("span", {}, "…");
  nameOf(leads, value).then((text) => (place.textContent = text));
  return place;
}

/** What each side made of what there was: only theirs, only mine, or both. */
export function compared(names, was, theirs, mine) {
  const of = (name) => {
    const [byThem, byMe] = [!same(was[name], theirs[name]), !same(was[name], mine[name])];
    return byThem && byMe ? (same(theirs[name], mine[name]) ? "same" : "both") : byThem ? "theirs" : byMe ? "mine" : "same";
  };
  return names.map((name) => ({ name, by: of(name) })).filter((one) => one.by !== "same");
}

/**
 * Asks what shall stay. `save` is told the body of which each field is theirs or the reader's; `again` begins anew from theirs.
 */
export function merge({ names, was, theirs, mine, version, segment, save, again }) {
  const changes = compared(names, was, theirs, mine);
  const choice = (name, whose, text, value, isChosen) =>
    h(
      "td",
      { "data-label": text },
      h(
        "label",
        { class: "check" },
        h("input", { type: "radio", name: `keep-${name}`, value: whose, checked: isChosen }),
        h("span", {}, words(name, value, segment)),
      ),
    );
  const row = ({ name, by }) =>
    h(
      "tr",
      { "data-field": name, class: by === "both" ? "both" : null },
      h("th", { scope: "row" }, label(name, segment), by === "both" ? [" ", h("span", { class: "badge late" }, t("both"))] : null),
      h("td", { "data-label": t("As it was") }, words(name, was[name], segment)),
      choice(name, "theirs", t("Theirs"), theirs[name], by === "theirs"),
      choice(name, "mine", t("Yours"), mine[name], by !== "theirs"),
    );
  const heads = [t("Field"), t("As it was"), t("Theirs"), t("Yours")];
  const table = () =>
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "list merge" },
        h("caption", { class: "unseen" }, t("What was changed")),
        h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, changes.map(row)),
      ),
    );
  dialog({
    title: t("Somebody else has changed this meanwhile"),
    wide: true,
    confirm: t("Save what is chosen"),
    cancel: t("Back to the form"),
    body: [
      h(
        "p",
        {},
        t("Since you opened it, version {theirs} was saved. What one of you changed alone is taken from whom changed it; where both did, choose.", {
          theirs: shown(version),
        }),
      ),
      changes.length > 0 ? table() : h("p", { class: "quiet" }, t("The fields that you see are the same; what was changed is not among them.")),
      h("p", {}, h("button", { type: "button", id: "theirs", onclick: again }, t("Begin again from theirs"))),
    ],
    async act(close, form) {
      const body = { ...mine };
      for (const { name } of changes) {
        const isTheirs = form.querySelector(`input[name="keep-${name}"]:checked`).value === "theirs";
        const kept = isTheirs ? theirs[name] : mine[name];
        if (kept === undefined) delete body[name];
        else body[name] = kept;
      }
      close();
      await save(body);
    },
  });
}

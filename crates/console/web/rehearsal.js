// What an act would do, asked for before it is done: where it is asked, and what stands below the question meanwhile.

import { ask } from "./api.js";
import { explain } from "./dialog.js";
import { h, replace } from "./dom.js";
import { currency } from "./frame.js";
import { perAccount, postings } from "./parts.js";
import { RESOURCES } from "./resources.js";
import { operation } from "./schema.js";
import { wayToOpen } from "./sure.js";
import { t } from "./texts.js";

/** Where an act of a record is asked for; nothing where this server does not know it. */
export async function address(segment, verb, id) {
  const found = await operation(`${RESOURCES[segment].stem}${verb[0].toUpperCase()}${verb.slice(1)}`);
  return found?.path.replace("{id}", id) ?? null;
}

/** A field of a question; what stands in it is found by its name. */
export const field = (name, title, props) =>
  h("p", { class: "field" }, h("label", { for: `act-${name}` }, title), h("input", { id: `act-${name}`, name, ...props }));

const quietly = (text) => h("p", { class: "quiet small why" }, text);

function told(data, isDraft) {
  if (isDraft) return quietly(t("As a draft nothing is booked yet."));
  if (!data.postings) return null;
  const title = t("This will book");
  return data.postings.length > 0 ? [h("h3", {}, title), postings(perAccount(data.postings), currency(), title)] : quietly(t("Nothing is booked by it."));
}

const refused = async (error) => {
  const way = await wayToOpen(error);
  return [quietly(explain(error)), way ? h("p", { class: "small" }, way) : null];
};

/** Shows in its place what an act would book, or why it would be refused; an older answer never stands over a newer one.
 * `judged` is told whether the books refuse it as they are, and what they make of it. */
export function rehearsing(place, judged = () => {}) {
  let turn = 0;
  return async (to, body, isDraft = false) => {
    const mine = ++turn;
    let isRefused = false;
    let made = null;
    const seen =
      body === null
        ? null
        : await ask("POST", to, { query: { dryRun: "true" }, body, quiet: true }).then(
            ({ data }) => told((made = data), isDraft),
            (error) => {
              isRefused = error.status === 409;
              return refused(error);
            },
          );
    if (mine !== turn) return;
    replace(place, seen);
    judged(isRefused, made);
  };
}

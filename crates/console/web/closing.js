// What is not yet posted when books are closed until a day.

import { list } from "./api.js";
import { h, icon, replace } from "./dom.js";
import { date } from "./format.js";
import { may, noun } from "./frame.js";
import { RESOURCES } from "./resources.js";
import { path, withQuery } from "./route.js";
import { label, t } from "./texts.js";

/** What can wait as a draft. */
export const DRAFTS = Object.keys(RESOURCES).filter((segment) => RESOURCES[segment].isDocument);

/** The lists with drafts of that day or before, each with how many. */
async function draftsUntil(day, segments) {
  const asked = { status: "draft", dateTo: day };
  const count = async (segment) => {
    const { total } = await list(segment, { ...asked, pageSize: 1, fields: "id" }, { quiet: true });
    return { segment, total, href: withQuery(path(segment), asked) };
  };
  return (await Promise.all(segments.map(count))).filter((one) => one.total > 0);
}

function told(found, day, seesAll) {
  const given = { day: date(day) };
  if (found.length === 0) {
    const none = seesAll ? t("No drafts are dated {day} or before.", given) : t("Of what you may see, no drafts are dated {day} or before.", given);
    return [icon("check"), h("span", {}, none)];
  }
  const entry = ({ segment, total, href }) => h("li", {}, h("a", { href }, `${label(RESOURCES[segment].stem)}: ${total}`));
  return h(
    "div",
    {},
    t("These drafts are dated {day} or before. Once that is closed, none of them books anything on its day:", given),
    h("ul", { class: "plain-list" }, found.map(entry)),
  );
}

/** A note of the drafts until the last day that a lock is to hold for everything; it is shown the lock as it is written. */
export function draftsNote() {
  const element = h("div", { class: "note", id: "drafts-until", role: "status", hidden: true });
  const seen = DRAFTS.filter((segment) => may(`${noun(segment)}.view`));
  let asked = null;
  const show = async ({ lockDate, hardLockDate }) => {
    const day = [lockDate, hardLockDate].filter(Boolean).sort().at(-1) ?? null;
    if (day === asked) return;
    asked = day;
    element.hidden = day === null;
    if (day === null) return;
    // It has its place from the first, so that nothing moves away below a finger.
    replace(element, "…");
    const found = await draftsUntil(day, seen);
    if (day === asked) replace(element, told(found, day, seen.length === DRAFTS.length));
  };
  return { element, show: (lock) => show(lock).catch(() => (element.hidden = true)) };
}

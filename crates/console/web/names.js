// What an identifier is called: asked once, and kept while the company is open.

import { get } from "./api.js";
import { h } from "./dom.js";
import { date, time } from "./format.js";
import { may, noun } from "./frame.js";
import { RESOURCES } from "./resources.js";
import { path } from "./route.js";
import { label, t } from "./texts.js";

/** What is never deleted. */
const KEEPS = ["businesses", "entries", "locks", "audit-log"];
/** How a record is asked for although it was deleted: it is there as it was then. */
export const thoughGone = (segment) => (KEEPS.includes(segment) ? null : { includeDeleted: "true" });

let known = new Map();
export const forget = () => {
  known = new Map();
};

/** A record in a word or two. */
export function called(record, segment) {
  if (record.code && record.name && ["accounts", "items"].includes(segment)) return `${record.code} ${record.name}`;
  if (segment === "locks" && record.createdAt) return t("Lock of {day}", { day: time(record.createdAt) });
  if (segment === "allocations" && record.date) return t("Allocation of {day}", { day: date(record.date) });
  if (segment === "exchange-rates" && record.currency) return `${record.currency}, ${date(record.date)}`;
  if (record.isSystem === true) return t(record.name);
  const title = RESOURCES[segment]?.title;
  return String((title && record[title]) ?? record.number ?? record.name ?? record.displayName ?? record.code ?? (RESOURCES[segment]?.isDocument ? t("(no number)") : record.id));
}

/** What a record that was told beside something else is called; nothing where it was not told whole. */
export const calledThen = (told, segment) => (told?.id && segment ? called(told, segment) : undefined);

export const remember = (segment, record) => known.set(`${segment}/${record.id}`, Promise.resolve(called(record, segment)));

/** What it is, where who or which is nobody's to know here: a piece of an identifier says nothing. */
const unnamed = (segment) => (segment === "users" ? t("somebody") : label(noun(segment), "one"));
const isForUs = (segment) => may(`${noun(segment)}.view`);

export function nameOf(segment, id) {
  const key = `${segment}/${id}`;
  if (!isForUs(segment)) return Promise.resolve(unnamed(segment));
  if (!known.has(key)) {
    known.set(
      key,
      // What is gone is called what it was.
      get(`/${segment}/${id}`, thoughGone(segment), { quiet: true }).then(
        (record) => called(record, segment),
        () => (segment === "users" ? t("(no longer a member)") : unnamed(segment)),
      ),
    );
  }
  return known.get(key);
}

/** What stands where a name is asked for. */
const ASKED = "…";
/** Whether a place has names that are still asked for. */
export const isUnnamed = (place) => [...place.querySelectorAll("a")].some((link) => link.textContent === ASKED);

/** A link that is called what it leads to, as soon as that is known; what is not for the reader leads nowhere. */
export function linkTo(segment, id, text) {
  if ((text === undefined || text === null) && !isForUs(segment)) return h("span", {}, unnamed(segment));
  const link = h("a", { href: path(segment, id) }, text ?? ASKED);
  if (text === undefined || text === null) nameOf(segment, id).then((name) => (link.textContent = name));
  return link;
}

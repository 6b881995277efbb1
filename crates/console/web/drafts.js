// What was typed and not yet saved, kept in this browser for who typed it: until it is saved, thrown away, or they sign out.

import { company, who } from "./api.js";
import { read, write } from "./decimal.js";

const KEPT = "duet.draft.";

/** Of these nothing is kept: secrets stand in them. */
const NEVER = ["users", "api-keys", "webhooks"];

const place = (segment, id) => [KEPT + who()?.email, company(), segment, id ?? "new"].join("/");

export const isKept = (segment) => !NEVER.includes(segment);

/** The body of a form, with the version that it was begun from, and what that was. */
export function keepDraft(segment, id, { body, etag, was }) {
  if (isKept(segment)) localStorage.setItem(place(segment, id), write({ at: new Date().toISOString(), etag, was, body }));
}

export function keptDraft(segment, id) {
  const text = localStorage.getItem(place(segment, id));
  return text === null ? null : read(text);
}

export const dropDraft = (segment, id) => localStorage.removeItem(place(segment, id));

/** Who signs out leaves nothing; who only closes the tab finds it again. */
export function dropAllDrafts() {
  const all = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at));
  for (const name of all) if (name.startsWith(KEPT)) localStorage.removeItem(name);
}

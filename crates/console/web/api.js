// Every request that the pages make: dialect B, and nothing else.

import { read, readInParts, write } from "./decimal.js";
import { pause } from "./dom.js";
import { own } from "./setup.js";

const KEPT = "duet.session";
/** So many characters of an answer are read in one go; what is longer, in parts. */
const LONG = 200_000;

/** What the server refused, in its words. */
export class Refused extends Error {
  constructor(status, told, code) {
    super(told?.title ?? `HTTP ${status}`);
    this.status = status;
    this.errors = told?.errors ?? {};
    this.code = code;
  }
}

let session = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
let business = null;
let signInAgain = null;

/** The requests of the view that is shown, for who wants to make them elsewhere. */
export const made = [];

export const signedIn = () => session !== null;
export const who = () => session;
export const company = () => business;
export const chooseCompany = (id) => {
  business = id;
};
/** How far the answers know the books of each company: every write raises it. */
const reached = new Map();
export const howFar = () => reached.get(business) ?? 0;

/** Who asks for the password again where the session ends meanwhile. */
export const onExpiry = (act) => {
  signInAgain = act;
};

function keep(value) {
  session = value;
  if (value === null) sessionStorage.removeItem(KEPT);
  else sessionStorage.setItem(KEPT, JSON.stringify(value));
}

async function send(method, path, { query, body, headers, signal } = {}) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") asked.append(name, value);
  }
  const search = asked.size > 0 ? `?${asked}` : "";
  const all = { Accept: "application/json", ...headers };
  if (session !== null) all.Authorization = `Bearer ${session.token}`;
  if (business !== null) all["X-Business-Id"] = business;
  const text = body === undefined ? undefined : write(body);
  if (text !== undefined) all["Content-Type"] = "application/json";
  try {
    return await fetch(`${own.base}${path}${search}`, { method, headers: all, body: text, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { title: "offline" }, "offline");
  }
}

/** Asks, and answers the record with its version; throws what is refused. */
export async function ask(method, path, options = {}) {
  const { query, body, quiet, as } = options;
  const before = as ? made.findIndex((one) => one.as === as) : -1;
  if (before >= 0) made.splice(before, 1);
  if (!quiet) made.push({ as, method, path, query: query ?? {}, body, headers: options.headers ?? {}, business });
  const whose = business;
  let answer = await send(method, path, options);
  if (answer.status === 401 && session !== null && signInAgain !== null && !options.isLogin) {
    await signInAgain();
    answer = await send(method, path, options);
  }
  const sequence = Number(answer.headers.get("X-Ledger-Sequence") ?? 0);
  // An answer that is late, or of a copy that lags, knows less than is known already.
  reached.set(whose, Math.max(reached.get(whose) ?? 0, sequence));
  if (options.asText && answer.ok) return answer.blob();
  const text = await answer.text();
  let told;
  try {
    told = text === "" ? null : text.length > LONG ? await readInParts(text, LONG, pause) : read(text);
  } catch {
    told = { title: `HTTP ${answer.status}` };
  }
  if (!answer.ok) throw new Refused(answer.status, told, answer.headers.get("X-Error-Code"));
  return { data: told, etag: answer.headers.get("ETag"), location: answer.headers.get("Location"), sequence };
}

export const get = async (path, query, options) => (await ask("GET", path, { ...options, query })).data;
export const post = async (path, body, options) => (await ask("POST", path, { ...options, body: body ?? {} })).data;

/** A first page, or any other, with how many there are. */
export async function list(segment, query, options) {
  const page = await get(`/${segment}`, query, options);
  return {
    items: page.items,
    total: Number(String(page.pagination?.totalCount ?? page.items.length)),
    pages: Number(String(page.pagination?.totalPages ?? 1)),
  };
}

/** How long the session still lasts, in milliseconds. */
export const left = () => (session === null ? 0 : Date.parse(session.expiresAt) - Date.now());

export async function signIn(email, password, code) {
  const body = { email, password };
  if (code) body.totpCode = code;
  const told = await ask("POST", "/auth/login", { body, isLogin: true, quiet: true });
  keep({ token: told.data.token, expiresAt: told.data.expiresAt, email });
}

/** The code of an invitation is the token of this one request. */
export async function acceptInvitation(code, body) {
  const headers = { Authorization: `Bearer ${code}` };
  return (await ask("POST", "/auth/accept-invitation", { body, headers, isLogin: true, quiet: true })).data;
}

export async function signOut() {
  try {
    await ask("POST", "/auth/me/logout", { body: {}, isLogin: true, quiet: true });
  } catch (error) {
    // What has ended already needs no end.
    if (!(error instanceof Refused)) throw error;
  }
  keep(null);
}

/** A key by which a write that is repeated happens once. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

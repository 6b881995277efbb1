/** Requests that log in by themselves, and are asked again where that helps. Knows no operation but the log-in. */

/** A failure of any kind: what the server refused, and what never reached it. */
export class DuetError extends Error {
  override readonly name = "DuetError";

  constructor(
    /** The HTTP status; 0 where there was no answer. */
    readonly status: number,
    /** A stable word, such as `validation_failed`; `/errors/<code>` of the server says what to do about it. */
    readonly code: string,
    readonly title: string,
    /** The messages by field. */
    readonly errors: Readonly<Record<string, readonly string[]>> = {},
    /** What the server's log calls the request. */
    readonly requestId: string | null = null,
    /** How many seconds the server asks to wait before the next attempt. */
    readonly retryAfter: number | null = null,
    options?: ErrorOptions,
  ) {
    const faults = Object.entries(errors).map(([field, all]) => `${field}: ${all.join(", ")}`);
    const parts = [status || "", `${code}: ${title}`, faults.length > 0 ? `(${faults.join("; ")})` : ""];
    super(parts.filter((part) => part !== "").join(" "), options);
  }
}

/** How to reach a server, and as whom. */
export interface Options {
  /** Where the dialect is, such as `https://books.example/b/api`. */
  url: string;
  /** The company, by its identifier. In dialect A it stands in each path instead. */
  business?: string;
  /** Who logs in: an e-mail address; in dialect A a username as well. */
  user?: string;
  password?: string;
  /** The code of a second factor. One is good once: it is asked for at each attempt to log in, and a text is used at the first. */
  totpCode?: string | (() => string | Promise<string>);
  /** An API key, instead of a user and a password. */
  key?: string;
  /** How often a request is made at most; 5 unless said. 1 never repeats. */
  attempts?: number;
  /** The longest `Retry-After`, in seconds, that is waited for; 60 unless said. What asks for more fails at once. */
  longestWait?: number;
  /** How many seconds an answer is waited for, to its end; 60 unless said. */
  timeout?: number;
  /** What carries a request; the platform's own `fetch` unless said. */
  fetch?: (request: Request) => Promise<Response>;
  /** The time in milliseconds, by which a token's end is foreseen. */
  now?: () => number;
}

/** What a dialect calls things. */
export interface Dialect {
  readonly login: string;
  readonly company: string | null;
  credentials(user: string, password: string, totpCode: string | undefined): unknown;
  /** The token of a log-in's answer, and how many seconds it is good; `sentAt` is the server's time, in milliseconds, or NaN. */
  token(answer: unknown, sentAt: number): { token: string; seconds: number };
  failure(answer: unknown): { title?: unknown; errors?: unknown };
}

interface Token {
  text: Promise<string>;
  /** From when on another one is fetched. While this one is, nobody knows. */
  renewAt: number;
}

type Body = Uint8Array<ArrayBuffer> | null;

/** A `fetch` for clients that were generated: it logs in, repeats, and throws every failure as a `DuetError`. */
export function session(dialect: Dialect, options: Options): (request: Request) => Promise<Response> {
  const send = options.fetch ?? ((request: Request) => fetch(request));
  const now = options.now ?? Date.now;
  const attempts = options.attempts ?? 5;
  const longestWait = options.longestWait ?? 60;
  const timeout = options.timeout ?? 60;
  let token: Token | null = null;
  let { totpCode } = options;
  for (const name of ["key", "business"] as const) {
    if (isPlain(options[name] ?? "")) continue;
    throw new DuetError(0, "invalid_option", `\`${name}\` has a character that no header carries`);
  }

  async function logIn(user: string, password: string, into: Token): Promise<string> {
    const request = new Request(options.url.replace(/\/+$/, "") + dialect.login, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
    });
    const answer = await answered(request, request.headers, async () => {
      const given = totpCode;
      if (typeof given === "string") totpCode = undefined;
      const code = typeof given === "function" ? await given() : given;
      return new TextEncoder().encode(JSON.stringify(dialect.credentials(user, password, code)));
    });
    const sentAt = Date.parse(answer.headers.get("Date") ?? "");
    try {
      const { token: text, seconds } = dialect.token(await answer.json(), sentAt);
      if (typeof text !== "string" || !isPlain(text)) throw unreadable(answer);
      // A clock that is wrong by hours matters to nobody: only how long the token is good is believed. Where nobody says
      // so, as to a page of another origin, it is good until it is refused.
      if (seconds > 0) into.renewAt = now() + (seconds - Math.min(60, seconds / 10)) * 1000;
      return text;
    } catch {
      throw unreadable(answer);
    }
  }

  /** One log-in for all who ask meanwhile. What was just given is used, whatever the clock says. */
  function current(user: string, password: string): Token {
    if (token !== null && now() < token.renewAt) return token;
    const fresh: Token = { text: Promise.resolve(""), renewAt: Number.POSITIVE_INFINITY };
    token = fresh;
    fresh.text = logIn(user, password, fresh).catch((failure: unknown) => {
      forget(fresh);
      throw failure;
    });
    return fresh;
  }

  function forget(known: Token): void {
    if (token === known) token = null;
  }

  /** How many seconds to wait before asking once more; null where that would change nothing. */
  function pause(failure: DuetError, attempt: number): number | null {
    if (failure.retryAfter !== null) return failure.retryAfter <= longestWait ? failure.retryAfter : null;
    // Nobody answered, or somebody between us and the server did.
    const passes = failure.code === "unreachable" || [502, 504].includes(failure.status);
    return passes ? Math.min(2 ** (attempt - 2), longestWait) * (0.5 + Math.random() / 2) : null;
  }

  async function answered(asked: Request, headers: Headers, made: () => Body | Promise<Body>): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      const body = await made();
      let failure: DuetError;
      try {
        const answer = await once(asked, headers, body);
        const isSame = answer.status === 304 && headers.has("If-None-Match");
        if (answer.ok || isSame) return await readable(asked, answer);
        failure = await refusal(dialect, answer);
      } catch (cause) {
        if (asked.signal.aborted) throw asked.signal.reason;
        const unreachable = () =>
          new DuetError(0, "unreachable", "The server did not answer", {}, null, null, { cause });
        failure = cause instanceof DuetError ? cause : unreachable();
      }
      const seconds = attempt < attempts ? pause(failure, attempt) : null;
      if (seconds === null) throw failure;
      await rest(seconds, asked.signal);
    }
  }

  /** One attempt, which ends when its time is over or nobody wants it any more. */
  async function once(asked: Request, headers: Headers, body: Body): Promise<Response> {
    const { url, method, signal } = asked;
    const ended = new AbortController();
    const abort = () => ended.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    const late = () => ended.abort(new DOMException("It took too long", "TimeoutError"));
    // What is longer than a timer knows is for ever.
    const timer = timeout * 1000 < 2 ** 31 ? setTimeout(late, timeout * 1000) : undefined;
    let isStream = false;
    try {
      const request = new Request(url, { method, headers, body, signal: ended.signal, redirect: "manual" });
      const answer = await until(ended.signal, send(request));
      if (answer.type === "opaqueredirect") throw redirected(0);
      // A stream of events has no end, and is ended by whoever asked for it.
      isStream = answer.ok && media(answer).startsWith("text/event-stream");
      return isStream ? answer : await until(ended.signal, whole(answer));
    } finally {
      clearTimeout(timer);
      if (!isStream) signal.removeEventListener("abort", abort);
    }
  }

  return async (asked) => {
    const isRead = asked.method === "GET" || asked.method === "HEAD";
    // Not every browser knows `asked.body`.
    const bytes = isRead ? null : new Uint8Array(await asked.arrayBuffer());
    const body = () => (bytes?.length ? bytes : null);
    const headers = new Headers(asked.headers);
    const offer = (name: string, value: string) => headers.has(name) || headers.set(name, value);
    offer("X-Decimal-Format", "string");
    if (dialect.company !== null && options.business !== undefined) offer(dialect.company, options.business);
    // The same for all attempts, so that what was done is not done again.
    if (!isRead) offer("Idempotency-Key", newKey());
    if (options.key !== undefined) offer("Authorization", `Bearer ${options.key}`);
    const { user, password } = options;
    if (headers.has("Authorization") || user === undefined || password === undefined) {
      return answered(asked, headers, body);
    }
    for (let isFirst = true; ; isFirst = false) {
      const shown = current(user, password);
      headers.set("Authorization", `Bearer ${await until(asked.signal, shown.text)}`);
      try {
        return await answered(asked, headers, body);
      } catch (failure) {
        if (!isFirst || !(failure instanceof DuetError) || failure.code !== "unauthenticated") throw failure;
        forget(shown);
      }
    }
  };
}

/** A key that nobody else makes. Browsers know of `randomUUID` on pages over HTTPS alone, and Node from 19 on. */
function newKey(): string {
  const random = () => Math.random().toString(36).slice(2);
  return globalThis.crypto?.randomUUID?.() ?? `${Date.now().toString(36)}-${random()}${random()}`;
}

/** Whether a header carries it as it is. */
function isPlain(text: string): boolean {
  return /^[!-~]*$/.test(text) && !text.endsWith("\n");
}

/** What comes of work, or at once why nobody waits for it any more. */
function until<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

async function rest(seconds: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1000);
  });
  await until(signal, over).finally(() => clearTimeout(timer));
}

function media(answer: Response): string {
  return (answer.headers.get("Content-Type") ?? "").toLowerCase();
}

/** An answer that is here to its end, so that one which breaks off is asked for again. */
async function whole(answer: Response): Promise<Response> {
  if (answer.body === null) return answer;
  const { status, statusText, headers } = answer;
  return new Response(await answer.arrayBuffer(), { status, statusText, headers });
}

/** An answer that is what it is said to be, and not the page of somebody in between. */
async function readable(asked: Request, answer: Response): Promise<Response> {
  if (asked.method === "HEAD" || answer.status === 204 || answer.status === 304) return answer;
  const kind = media(answer);
  if (kind.startsWith("text/html")) throw unreadable(answer);
  if (kind.includes("json") && !kind.includes("ndjson")) {
    const text = await answer.clone().text();
    try {
      JSON.parse(text);
    } catch {
      throw unreadable(answer);
    }
  }
  return answer;
}

function unreadable(answer: Response): DuetError {
  const title = "The answer is not what the server's documents say";
  return new DuetError(answer.status, "unreadable", title, {}, answer.headers.get("X-Request-Id"));
}

function redirected(status: number): DuetError {
  return new DuetError(status, "redirected", "The answer points elsewhere, which is not followed");
}

/** The messages by field, of what has that form. */
function byField(said: unknown): Record<string, string[]> {
  if (typeof said !== "object" || said === null || Array.isArray(said)) return {};
  const lists = Object.entries(said).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  return Object.fromEntries(lists.map(([field, all]) => [field, all.map(String)]));
}

async function refusal(dialect: Dialect, answer: Response): Promise<DuetError> {
  if (answer.status < 400) return redirected(answer.status);
  const text = await answer.text();
  let said: { title?: unknown; errors?: unknown } = {};
  try {
    said = dialect.failure(JSON.parse(text) ?? {});
  } catch {
    // Not by the server itself, such as the page of a proxy.
  }
  const code = answer.headers.get("X-Error-Code") ?? `http_${answer.status}`;
  const title = typeof said.title === "string" ? said.title : answer.statusText || code;
  const errors = byField(said.errors);
  const after = answer.headers.get("Retry-After");
  return new DuetError(answer.status, code, title, errors, answer.headers.get("X-Request-Id"), seconds(after));
}

/** What `Retry-After` says, in seconds or as a day and a time. */
function seconds(said: string | null): number | null {
  if (said === null) return null;
  const plain = /^\d+$/.test(said) ? Number(said) : (Date.parse(said) - Date.now()) / 1000;
  return Number.isNaN(plain) ? null : Math.max(0, plain);
}

/** Requests that log in by themselves, and are asked again where that helps. Knows no operation but the log-in. */

/** A failure of any kind: what the server refused, and what never reached it. */
export class DuetError extends Error {
  override readonly name = "DuetError";

  constructor(
    /** The HTTP status; 0 where there was no answer. */
    readonly status: number,
    /** A stable word, such as `validation_failed`; `/errors/<code>` of the server says what to do about it. */
    readonly code: string,
    message: string,
    /** The messages by field. */
    readonly errors: Readonly<Record<string, readonly string[]>> = {},
    /** What the server's log calls the request. */
    readonly requestId: string | null = null,
    /** How many seconds the server asks to wait before the next attempt. */
    readonly retryAfter: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
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
  /** The code of a second factor. It is asked for at each log-in. */
  totpCode?: () => string | Promise<string>;
  /** An API key, instead of a user and a password. */
  key?: string;
  /** How often a request is made at most; 5 unless said. 1 never repeats. */
  attempts?: number;
  /** The longest `Retry-After`, in seconds, that is waited for; 60 unless said. What asks for more fails at once. */
  longestWait?: number;
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
  /** The token of a log-in's answer, and how many seconds it is good; `sentAt` is the server's time, in milliseconds. */
  token(answer: unknown, sentAt: number): { token: string; seconds: number };
  failure(answer: unknown): { title?: unknown; errors?: unknown };
}

interface Token {
  text: string;
  /** From when on another one is fetched. */
  renewAt: number;
}

/** A `fetch` for clients that were generated: it logs in, repeats, and throws every failure as a `DuetError`. */
export function session(dialect: Dialect, options: Options): (request: Request) => Promise<Response> {
  const send = options.fetch ?? ((request: Request) => fetch(request));
  const now = options.now ?? Date.now;
  const attempts = options.attempts ?? 5;
  const longestWait = options.longestWait ?? 60;
  let token: Promise<Token> | null = null;

  async function logIn(user: string, password: string): Promise<Token> {
    const code = await options.totpCode?.();
    const request = new Request(options.url.replace(/\/+$/, "") + dialect.login, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
    });
    const body = new TextEncoder().encode(JSON.stringify(dialect.credentials(user, password, code)));
    const answer = await answered(request, request.headers, body);
    const sentAt = Date.parse(answer.headers.get("Date") ?? "");
    const { token: text, seconds } = dialect.token(await answer.json(), Number.isNaN(sentAt) ? now() : sentAt);
    // A clock that is wrong by hours matters to nobody: only how long the token is good is believed.
    return { text, renewAt: now() + (seconds - Math.min(60, seconds / 10)) * 1000 };
  }

  /** One log-in for all who ask meanwhile. */
  async function current(user: string, password: string): Promise<[Promise<Token>, Token]> {
    const shared = (token ??= logIn(user, password));
    try {
      const got = await shared;
      if (now() < got.renewAt) return [shared, got];
    } catch (failure) {
      forget(shared);
      throw failure;
    }
    forget(shared);
    return current(user, password);
  }

  function forget(known: Promise<Token>): void {
    if (token === known) token = null;
  }

  /** How many seconds to wait before asking once more; null where that would change nothing. */
  function pause(failure: DuetError, attempt: number): number | null {
    if (failure.retryAfter !== null) return failure.retryAfter <= longestWait ? failure.retryAfter : null;
    // Nobody answered, or somebody between us and the server did.
    const passes = [0, 502, 504].includes(failure.status);
    return passes ? Math.min(2 ** (attempt - 2), longestWait) * (0.5 + Math.random() / 2) : null;
  }

  async function answered(asked: Request, headers: Headers, body: Uint8Array<ArrayBuffer> | null): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      let failure: DuetError;
      try {
        const { url, method, signal } = asked;
        const answer = await whole(await send(new Request(url, { method, headers, body, signal })));
        if (answer.status < 400) return answer;
        failure = await refusal(dialect, answer);
      } catch (cause) {
        if (asked.signal.aborted) throw cause;
        failure = new DuetError(0, "unreachable", "The server did not answer", {}, null, null, { cause });
      }
      const seconds = attempt < attempts ? pause(failure, attempt) : null;
      if (seconds === null) throw failure;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }

  return async (asked) => {
    const body = asked.body === null ? null : new Uint8Array(await asked.arrayBuffer());
    const headers = new Headers(asked.headers);
    const offer = (name: string, value: string) => headers.has(name) || headers.set(name, value);
    offer("X-Decimal-Format", "string");
    if (dialect.company !== null && options.business !== undefined) offer(dialect.company, options.business);
    // The same for all attempts, so that what was done is not done again.
    if (asked.method !== "GET" && asked.method !== "HEAD") offer("Idempotency-Key", newKey());
    if (options.key !== undefined) offer("Authorization", `Bearer ${options.key}`);
    const { user, password } = options;
    if (headers.has("Authorization") || user === undefined || password === undefined) {
      return answered(asked, headers, body);
    }
    for (let isFirst = true; ; isFirst = false) {
      const [shared, shown] = await current(user, password);
      headers.set("Authorization", `Bearer ${shown.text}`);
      try {
        return await answered(asked, headers, body);
      } catch (failure) {
        if (!isFirst || !(failure instanceof DuetError) || failure.code !== "unauthenticated") throw failure;
        forget(shared);
      }
    }
  };
}

/** A key that nobody else makes. Browsers know of `randomUUID` on pages over HTTPS alone, and Node from 19 on. */
function newKey(): string {
  const random = () => Math.random().toString(36).slice(2);
  return globalThis.crypto?.randomUUID?.() ?? `${Date.now().toString(36)}-${random()}${random()}`;
}

/** An answer that is here to its end, so that one which breaks off is asked for again. A stream of events has none. */
async function whole(answer: Response): Promise<Response> {
  const isStream = answer.headers.get("Content-Type")?.startsWith("text/event-stream");
  if (answer.body === null || isStream) return answer;
  const { status, statusText, headers } = answer;
  return new Response(await answer.arrayBuffer(), { status, statusText, headers });
}

async function refusal(dialect: Dialect, answer: Response): Promise<DuetError> {
  const text = await answer.text();
  let said: { title?: unknown; errors?: unknown } = {};
  try {
    said = dialect.failure(JSON.parse(text) ?? {});
  } catch {
    // Not by the server itself, such as the page of a proxy.
  }
  const code = answer.headers.get("X-Error-Code") ?? `http_${answer.status}`;
  const title = typeof said.title === "string" ? said.title : answer.statusText || code;
  const errors = (said.errors ?? {}) as Record<string, string[]>;
  const after = answer.headers.get("Retry-After");
  return new DuetError(answer.status, code, title, errors, answer.headers.get("X-Request-Id"), seconds(after));
}

/** What `Retry-After` says, in seconds or as a day and a time. */
function seconds(said: string | null): number | null {
  if (said === null) return null;
  const plain = /^\d+$/.test(said) ? Number(said) : (Date.parse(said) - Date.now()) / 1000;
  return Number.isNaN(plain) ? null : Math.max(0, plain);
}

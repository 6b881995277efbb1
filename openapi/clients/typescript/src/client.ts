/** A client of one dialect, typed by its document: an answer is what was asked for, and every failure is thrown. */

import createClient, { type Client, type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import { type Dialect, DuetError, type Options, session } from "./session.js";

type Verb = "get" | "post" | "put" | "delete";
type Media = "application/json";
/** The paths that know a verb. */
type With<Paths, V extends Verb> = { [P in keyof Paths]: Paths[P] extends Record<V, object> ? P : never }[keyof Paths];
// biome-ignore lint: openapi-fetch asks for operations of any form.
type Operations = Record<string | number, any>;
type Operation<Paths, P extends keyof Paths, V extends Verb> = Paths[P] extends Record<V, infer O extends Operations>
  ? O
  : never;
type Init<Paths, P extends keyof Paths, V extends Verb> = MaybeOptionalInit<Paths[P] & Record<V, unknown>, V>;
/** What says nothing that is required may be left out. */
type Rest<I> = undefined extends I ? [init?: I] : [init: I];
type Answer<O extends Operations, I> = Exclude<FetchResponse<O, I, Media>["data"], undefined>;

/** The paths of lists that are walked along by `cursor`. */
type Lists<Paths> = {
  [P in keyof Paths]: Paths[P] extends { get: { parameters: { query?: infer Q } } }
    ? "cursor" extends keyof NonNullable<Q>
      ? P
      : never
    : never;
}[keyof Paths];
/** A record of a page, which dialect A has within an envelope. */
type Listed<Page> = Page extends { items: (infer One)[] }
  ? One
  : Page extends { data: { items: (infer One)[] } }
    ? One
    : never;

interface Page {
  items: unknown[];
  pagination: { nextCursor?: string | null };
}

export class Duet<Paths extends object> {
  /** The client of openapi-fetch, for those who want an answer with its headers, such as an `ETag`. */
  readonly raw: Client<Paths>;

  constructor(dialect: Dialect, options: Options) {
    this.raw = createClient<Paths>({ baseUrl: options.url, fetch: session(dialect, options) });
  }

  get<P extends With<Paths, "get">, I extends Init<Paths, P, "get">>(path: P, ...init: Rest<I>) {
    return this.#answer<Answer<Operation<Paths, P, "get">, I>>("GET", path, init);
  }

  post<P extends With<Paths, "post">, I extends Init<Paths, P, "post">>(path: P, ...init: Rest<I>) {
    return this.#answer<Answer<Operation<Paths, P, "post">, I>>("POST", path, init);
  }

  put<P extends With<Paths, "put">, I extends Init<Paths, P, "put">>(path: P, ...init: Rest<I>) {
    return this.#answer<Answer<Operation<Paths, P, "put">, I>>("PUT", path, init);
  }

  delete<P extends With<Paths, "delete">, I extends Init<Paths, P, "delete">>(path: P, ...init: Rest<I>) {
    return this.#answer<Answer<Operation<Paths, P, "delete">, I>>("DELETE", path, init);
  }

  /** All records of a list, page after page. Where they are sorted by what does not change, none comes twice or is left out. */
  async *each<P extends Lists<Paths> & With<Paths, "get">, I extends Init<Paths, P, "get">>(
    path: P,
    ...init: Rest<I>
  ): AsyncGenerator<Listed<Answer<Operation<Paths, P, "get">, I>>> {
    type One = Listed<Answer<Operation<Paths, P, "get">, I>>;
    const said = (init[0] ?? {}) as { params?: { query?: object } };
    let cursor: string | null = "";
    while (cursor !== null) {
      const params = { ...said.params, query: { ...said.params?.query, cursor } };
      const answer: Partial<Page> & { data?: Page } = (await this.#answer("GET", path, [{ ...said, params }])) ?? {};
      const page = answer.data ?? answer;
      if (!Array.isArray(page.items)) throw unreadable();
      yield* page.items as One[];
      cursor = page.pagination?.nextCursor ?? null;
    }
  }

  async #answer<T>(verb: "GET" | "POST" | "PUT" | "DELETE", path: PropertyKey, init: readonly unknown[]): Promise<T> {
    const ask = this.raw[verb] as (path: PropertyKey, ...init: readonly unknown[]) => Promise<{ data?: unknown }>;
    try {
      return (await ask(path, ...init)).data as T;
    } catch (failure) {
      // Their text shows what was read.
      throw failure instanceof SyntaxError ? unreadable() : failure;
    }
  }
}

function unreadable(): DuetError {
  return new DuetError(0, "unreadable", "The answer is not what the server's documents say");
}

/** Dialect B: the company is in the header `X-Business-Id`, and an answer is the record itself. */

import { Duet } from "./client.js";
import type { components, paths } from "./generated/b.js";
import type { Dialect, Options } from "./session.js";

export { Duet } from "./client.js";
export { DuetError, type Options, session } from "./session.js";
export type { components, operations, paths } from "./generated/b.js";

/** What records are called and made of, such as `Schemas["SalesInvoice"]`. */
export type Schemas = components["schemas"];

export const dialectB: Dialect = {
  login: "/auth/login",
  company: "X-Business-Id",
  credentials(email, password, totpCode): Schemas["EmailLogin"] {
    return totpCode === undefined ? { email, password } : { email, password, totpCode };
  },
  token(answer, sentAt) {
    const { token, expiresAt } = answer as Schemas["BearerToken"];
    return { token, seconds: (Date.parse(expiresAt) - sentAt) / 1000 };
  },
  failure: (answer) => answer as Schemas["Problem"],
};

/** A client of dialect B. */
export function duet(options: Options): Duet<paths> {
  return new Duet<paths>(dialectB, options);
}

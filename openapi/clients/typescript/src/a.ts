/** Dialect A: the company is in the path, and an answer is an envelope around the record. */

import { Duet } from "./client.js";
import type { components, paths } from "./generated/a.js";
import type { Dialect, Options } from "./session.js";

export { Duet } from "./client.js";
export { DuetError, type Options, session } from "./session.js";
export type { components, operations, paths } from "./generated/a.js";

/** What records are called and made of, such as `Schemas["SalesInvoice"]`. */
export type Schemas = components["schemas"];

export const dialectA: Dialect = {
  login: "/Users/login",
  company: null,
  credentials(credential, password, totpCode): Schemas["CredentialLogin"] {
    return totpCode === undefined ? { credential, password } : { credential, password, totpCode };
  },
  token(answer) {
    const { accessToken, expiresIn } = (answer as Schemas["LoggedInEnvelope"]).data;
    return { token: accessToken, seconds: expiresIn };
  },
  failure(answer) {
    const { message, errors } = answer as Schemas["FailureEnvelope"];
    return { title: message, errors };
  },
};

/** A client of dialect A. */
export function duet(options: Options): Duet<paths> {
  return new Duet<paths>(dialectA, options);
}

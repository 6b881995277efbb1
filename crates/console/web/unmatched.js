// Money and notes of credit that settle nothing yet, or not all of themselves.

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { may, noun } from "./frame.js";
import { empty, heading, section, table, waiting } from "./parts.js";
import { RESOURCES } from "./resources.js";
import { path } from "./route.js";
import { label, t } from "./texts.js";

/** What can settle something, and what it calls the rest of itself. */
const KINDS = [
  ["receipts", "unallocatedAmount"],
  ["payments", "unallocatedAmount"],
  ["credit-notes", "remainingCredit"],
  ["debit-notes", "remainingCredit"],
];

/** No further back than this many of a kind: the API has no filter for it. */
const MOST = 500;

/** The records of each kind of which something is left. */
export async function unmatched(options) {
  const seen = KINDS.filter(([segment]) => may(`${noun(segment)}.view`));
  const pages = await Promise.all(
    seen.map(([segment, rest]) =>
      get(`/${segment}`, { sort: "-date", pageSize: MOST, fields: `number,date,partyId,partyName,currency,status,${rest}` }, options),
    ),
  );
  const left = (one, rest) => !["draft", "void"].includes(one.status) && one.partyId && one[rest] && !one[rest].isZero;
  return seen.map(([segment, rest], at) => ({ segment, rest, items: pages[at].items.filter((one) => left(one, rest)) }));
}

export async function unmatchedView(main) {
  replace(main, heading(t("Not matched")), waiting());
  const groups = (await unmatched()).filter((one) => one.items.length > 0);
  const group = ({ segment, rest, items }) => {
    const title = label(RESOURCES[segment].stem);
    const columns = ["number", "date", "partyName", "currency", rest];
    return section(title, table({ columns, rows: items, segment, caption: title, rowLink: (one) => path(segment, one.id) }));
  };
  replace(
    main,
    heading(t("Not matched"), {
      under: t("Money and notes of credit that settle nothing yet. Open one and choose Settle; what is left stays as an advance."),
    }),
    groups.length > 0 ? groups.map(group) : empty(t("All money and all notes of credit settle something.")),
    h("p", { class: "quiet small" }, t("Among the latest {count} of each kind.", { count: MOST })),
  );
}

// What is owed by age, as the report says it, and what was paid or credited and settles nothing yet.

import { get } from "./api.js";
import { sum } from "./decimal.js";
import { today } from "./format.js";
import { isAge } from "./report-words.js";

/** The report with what it comes to in each of its ages; `kind` is `ar` or `ap`. */
export async function owedBy(kind) {
  const report = await get(`/reports/${kind}-aging`, { asOf: today() });
  const ages = report.columns.filter(({ key }) => isAge(key));
  return { report, ages: ages.map((column) => ({ column, value: report.totals[column.key] })) };
}

/** What takes off what is owed to us, and by us. */
const SETTLES = { ar: ["receipts", "credit-notes"], ap: ["payments", "debit-notes"] };

/** What of it is left over by today with those who stand in the report, once for each currency; `groups` are what is unmatched. */
export function unused(kind, report, groups) {
  const stands = new Set(report.rows.map((row) => row.partyId));
  const left = groups
    .filter(({ segment }) => SETTLES[kind].includes(segment))
    .flatMap(({ items, rest }) => items.map((one) => ({ ...one, amount: one[rest] })))
    .filter((one) => stands.has(one.partyId) && one.date <= today());
  const currencies = [...new Set(left.map((one) => one.currency))];
  const all = (currency) => sum(left.filter((one) => one.currency === currency).map((one) => one.amount));
  return currencies.map((currency) => ({ currency, amount: all(currency) }));
}

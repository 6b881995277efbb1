// What is owed by age, with what was paid or credited and settles nothing yet told apart from what is late.

import { get } from "./api.js";
import { Decimal, isDecimal, sum } from "./decimal.js";
import { today } from "./format.js";

const NOTHING = new Decimal("0");
const together = (values) => (values.length > 0 ? sum(values) : NOTHING);

/** The rows of documents, however deep they lie. */
const documents = (rows) => rows.flatMap((row) => (row.type === "document" ? [row] : documents(row.children)));

/** The ages up to the total, each with what is owed of it, and the credits; `kind` is `ar` or `ap`. */
export async function owedBy(kind) {
  const report = await get(`/reports/${kind}-aging`, { asOf: today() });
  const ages = (of) => report.columns.slice(0, report.columns.findIndex((one) => one.key === "total")).map((column, at) => ({ column, value: of(at) }));
  const total = report.rows.find((row) => row.key === "total");
  const isMixed = report.rows.some((row) => ages((at) => row.values[at]).some(({ value }) => isDecimal(value) && value.isNegative));
  if (!isMixed) return { report, ages: ages((at) => total?.values[at] ?? NOTHING), credits: NOTHING };
  // In the ages of a party credits are taken off what is late: only its documents tell them apart.
  const detail = await get(`/reports/${kind}-aging-detail`, { asOf: today() }, { quiet: true });
  const all = documents(detail.rows);
  const ofAge = (at) => all.map((row) => row.values[at]).filter(isDecimal);
  const split = ages((at) => together(ofAge(at).filter((one) => !one.isNegative)));
  return { report, ages: split, credits: together(split.flatMap((_, at) => ofAge(at).filter((one) => one.isNegative))) };
}

// In which currency a figure of a record is: in the company's own or in the document's.

import { currency } from "./frame.js";
import { RESOURCES } from "./resources.js";

/** What is in the company's currency, whatever the record's own is, beside all that is called `base…`. */
const OF_COMPANY = [
  "receivableBalance",
  "payableBalance",
  "overdueAmount",
  "unallocatedCredit",
  "creditLimit",
  "maxDocumentAmount",
  "stockValue",
  "averageCost",
  "costAmount",
  "costTotal",
  "grniTotal",
  "fxGainLoss",
  "carriedAmount",
  "revaluedAmount",
  "difference",
  "unrealisedGain",
  "totalValue",
  "taxBase",
  "amountBase",
];

const isOfCompany = (name) => /^base[A-Z]/.test(name) || OF_COMPANY.includes(name);

/** What is money at all, among the figures of documents. */
const PRICE = /[pP]rice$|[cC]ost$/;
const MONEY = /[tT]otal$|^amount|Due$|^balance|Amount$|Credit$|^subtotal$|^debit$|^credit$|^total(Debit|Credit)$/;

/** How many decimals a field has at least that is money; nothing where it is something else. */
export const decimalsOf = (name) => (PRICE.test(name) ? 2 : MONEY.test(name) || isOfCompany(name) ? 0 : null);

/** The currency that an amount of a record is in. */
export const unitOf = (name, record) => (isOfCompany(name) ? currency() : (record.currency ?? currency()));

/** What is said beside an amount: its currency, where the document or the account is in another than the company. */
export function unitBeside(name, record, segment) {
  const hasCurrency = RESOURCES[segment]?.isDocument || ["allocations", "accounts"].includes(segment);
  if (!hasCurrency || !record.currency || record.currency === currency()) return null;
  return decimalsOf(name) !== null ? unitOf(name, record) : null;
}

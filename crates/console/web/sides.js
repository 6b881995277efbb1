// What the lines of a journal come to on each side, while they are written.

import { isDecimal, sum } from "./decimal.js";
import { h, replace } from "./dom.js";
import { money } from "./format.js";
import { currency } from "./frame.js";
import { t } from "./texts.js";

export function sides() {
  const element = h("p", { class: "left-over", role: "status" });
  /** Nothing where a line is in another currency, or has no number. */
  const show = ({ lines = [], currency: unit = currency() }) => {
    const of = (side) => lines.map((line) => line[side]).filter((one) => one !== null && one !== undefined);
    const isAlike = lines.every((line) => (line.currency ?? unit) === unit);
    const [debit, credit] = ["debit", "credit"].map((side) => (isAlike ? sum(of(side)) : null));
    if (!isDecimal(debit) || !isDecimal(credit) || (debit.isZero && credit.isZero)) return void replace(element);
    const rest = sum([debit, credit.negative]);
    replace(
      element,
      t("Debit {debit} · Credit {credit}", { debit: money(debit, unit), credit: money(credit, unit) }),
      rest.isZero ? null : [" · ", h("span", { class: "minus" }, t("Difference {amount}", { amount: money(rest, unit) }))],
    );
  };
  return { element, show };
}

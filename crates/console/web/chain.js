// What a document belongs to: all of the chain from the order to the money, however far away it begins or ends.

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { date, money } from "./format.js";
import { currency, may, noun } from "./frame.js";
import { remember } from "./names.js";
import { badge, section } from "./parts.js";
import { segmentOf } from "./resources.js";
import { path } from "./route.js";
import { t, word } from "./texts.js";

/** In the order of the day's work. */
const STAGES = [
  ["salesOrder", "purchaseOrder"],
  ["deliveryNote", "receiptNote"],
  ["salesInvoice", "purchaseInvoice"],
  ["creditNote", "debitNote"],
  ["receipt", "payment"],
];
const stage = (kind) => (STAGES.findIndex((kinds) => kinds.includes(kind)) + STAGES.length + 1) % (STAGES.length + 1);

/** No chain is followed further than a person would look. */
const MOST = 24;

/** What a document names: others that it came from or led to, and what settles it or is settled by it. */
function beside(record) {
  const linked = (record.links ?? []).map((one) => ({ kind: one.type, id: one.id }));
  const settled = (record.allocations ?? []).map((one) =>
    one.sourceId === record.id
      ? { kind: one.targetType, id: one.targetId }
      : { kind: one.sourceType, id: one.sourceId },
  );
  return [...linked, ...settled];
}

function entry({ kind, record, isHere }) {
  const link = h("a", { href: path(segmentOf(kind), record.id), "aria-current": isHere ? "true" : null }, record.number ?? t("(no number)"));
  const sum = record.total ?? record.amount;
  return h(
    "li",
    { class: isHere ? "is-here" : null },
    h("span", { class: "quiet small block" }, word(kind)),
    h("span", { class: "chain-row" }, link, badge(record.status, record.isOverdue === true && record.status !== "paid")),
    h("span", { class: "quiet small block figure" }, [date(record.date), sum ? money(sum, record.currency ?? currency()) : null].filter(Boolean).join(" · ")),
  );
}

/** A place that fills itself, in the order of the day; nothing where the document stands alone. */
export function chain(kind, record) {
  const first = beside(record);
  if (first.length === 0) return null;
  const found = new Map([[record.id, { kind, record, isHere: true }]]);
  const waiting = [...first];
  const seen = new Set([record.id]);
  const place = h("ol", { class: "chain", "aria-busy": "true" });
  const more = h("p", { class: "quiet small", hidden: true }, t("More belongs to it; open one to see further."));
  const draw = () => {
    const all = [...found.values()].toSorted(
      (a, b) => stage(a.kind) - stage(b.kind) || String(a.record.date).localeCompare(String(b.record.date)),
    );
    replace(place, all.map(entry));
  };
  const follow = async () => {
    for (let wave = waiting.splice(0); wave.length > 0; wave = waiting.splice(0)) {
      const fresh = wave.filter((one) => !seen.has(one.id) && seen.add(one.id) && may(`${noun(segmentOf(one.kind))}.view`));
      more.hidden = found.size + fresh.length <= MOST;
      const asked = fresh.slice(0, Math.max(0, MOST - found.size)).map(async (one) => {
        const other = await get(`/${segmentOf(one.kind)}/${one.id}`, null, { quiet: true }).catch(() => null);
        if (other === null) return;
        remember(segmentOf(one.kind), other);
        found.set(one.id, { kind: one.kind, record: other });
        waiting.push(...beside(other));
      });
      await Promise.all(asked);
      draw();
    }
    place.removeAttribute("aria-busy");
  };
  draw();
  follow();
  const box = section(t("Belongs to"), place, more);
  box.id = "belongs";
  return box;
}

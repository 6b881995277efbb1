// Tables of many rows: a screenful at once, then a few at a time, so that the page goes on answering.
//
// A browser lays out a table as a whole, and all of it anew when a row is added. So the widths are settled by the first rows and the
// longest texts, and every slice is a block of its own, which is laid out when it comes into sight. On paper it is a table again.

import { h, pause } from "./dom.js";
import { isUnnamed } from "./names.js";

/** As many rows as stand there at once. */
const FIRST = 100;
/** For so many milliseconds rows are made before the page has its turn. */
const SPELL = 50;
/** No slice is larger, however fast its rows are made. */
const MOST = 400;

/** For so many milliseconds widths wait for the names that their columns will show. */
const PATIENCE = 3000;

/** The names of the first rows are there, or have taken too long. */
async function named(table) {
  const end = performance.now() + PATIENCE;
  while (isUnnamed(table) && performance.now() < end) await new Promise((done) => setTimeout(done, 50));
}

/** How much of the table each column takes, and how narrow it may be before a text would not fit. */
function settle(table) {
  const heads = [...table.tHead.rows[0].cells];
  const widths = () => heads.map((head) => head.getBoundingClientRect().width);
  const wanted = widths();
  table.style.width = "min-content";
  const least = widths();
  table.style.width = "";
  table.style.setProperty("--columns", wanted.map((one, at) => `minmax(${Math.ceil(least[at])}px, ${one}fr)`).join(" "));
  table.style.setProperty("--least", `${least.reduce((before, one) => before + Math.ceil(one), 0)}px`);
  table.classList.add("is-settled");
}

/**
 * Puts rows into a table that stands in `place`, which is put on the page right after. `draw` makes the row at a position; `longest`
 * one of the longest cell of each column. What is left goes on by itself until the table is no more on the page; paper waits for it.
 */
export function fill(place, table, count, draw, longest) {
  const foot = table.tFoot;
  let at = 0;
  /** Draws up to `to`, or as long as one may. */
  const add = (to, end = Infinity) => {
    const rows = [];
    while (at < to && performance.now() < end) rows.push(draw(at++));
    return table.insertBefore(h("tbody", {}, rows), foot);
  };
  const first = add(Math.min(FIRST, count));
  if (at === count) return;
  const wide = table.insertBefore(h("tbody", { class: "longest" }, longest()), foot);
  place.ariaBusy = "true";
  // Who listens is not told ten thousand rows, one after the other.
  place.ariaLive = "off";
  table.setAttribute("aria-rowcount", String(count + 1));
  const rest = () => add(count);
  addEventListener("beforeprint", rest);
  const go = async () => {
    // The page has it as soon as who asked is done, and has not shown it yet.
    await null;
    await named(table);
    const high = first.offsetHeight / first.rows.length;
    const reserve = (slice) => (slice.style.containIntrinsicBlockSize = `auto ${Math.round(high * slice.rows.length)}px`);
    if (place.isConnected) settle(table);
    wide.remove();
    reserve(first);
    for (await pause(); place.isConnected && at < count; await pause()) {
      reserve(add(Math.min(at + MOST, count), performance.now() + SPELL));
    }
    removeEventListener("beforeprint", rest);
    table.removeAttribute("aria-rowcount");
    place.ariaBusy = "false";
  };
  go();
}

// Drawings of figures. Here alone an amount becomes a binary number, and only to say how long a bar is.

import { h, svg } from "./dom.js";
import { t } from "./texts.js";

const size = (value) => Number(value.text);

/** At the right of a drawing, for the figures of its rules. */
const EDGE = 44;

/** A round figure near a third of the whole, to rule the ground by. */
function step(whole) {
  const power = 10 ** Math.floor(Math.log10(whole / 3 || 1));
  return power * [1, 2, 5, 10].find((one) => one * power * 3 >= whole);
}

/** Lines at round figures, so that a height can be read without pointing at it. */
function ruled(least, most, y, width, scale) {
  if (most === least) return [];
  const by = step(most - least);
  const marks = [];
  for (let at = Math.ceil(least / by) * by; at <= most; at += by) if (at !== 0) marks.push(at);
  return marks.map((at) => [
    svg("line", { class: "rule", x1: 0, x2: width, y1: y(at), y2: y(at) }),
    svg("text", { class: "mark-text", x: width, y: y(at) - 3, "text-anchor": "end", "aria-hidden": "true" }, scale(String(at))),
  ]);
}

/** Bars by month, above and below nothing; each a link, with its figure for who listens. */
export function bars({ title, points, shown, scale }) {
  const [width, height, floor] = [560, 170, 22];
  const values = points.map((one) => size(one.value));
  const most = Math.max(0, ...values);
  const least = Math.min(0, ...values);
  const span = most - least || 1;
  const room = height - floor - 8;
  const y = (value) => 8 + ((most - value) / span) * room;
  const wide = (width - EDGE) / Math.max(points.length, 1);
  const bar = Math.min(26, wide * 0.55);
  const one = (point, at) => {
    const value = values[at];
    const top = Math.min(y(value), y(0));
    const tall = Math.max(Math.abs(y(value) - y(0)), 1);
    const x = at * wide + (wide - bar) / 2;
    return svg(
      "a",
      { href: point.href, "aria-label": `${point.name}: ${shown(point.value)}` },
      svg("title", {}, `${point.name}: ${shown(point.value)}`),
      svg("rect", { class: "reach", x: at * wide, y: 0, width: wide, height }),
      svg("rect", { class: value < 0 ? "bar minus" : "bar", x, y: top, width: bar, height: tall, rx: 3 }),
      svg("text", { class: "tick", x: at * wide + wide / 2, y: height - 5, "text-anchor": "middle" }, point.name),
    );
  };
  return h(
    "figure",
    { class: "chart" },
    svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": title },
      ruled(least, most, y, width, scale),
      svg("line", { class: "axis", x1: 0, x2: width, y1: y(0), y2: y(0) }),
      points.map(one),
    ),
    beneath(title, points, shown),
  );
}

/** What there was at the end of each month, as a line over its ground; each month a link. */
export function line({ title, points, shown, scale }) {
  const [width, height, floor] = [560, 170, 22];
  const values = points.map((one) => size(one.value));
  const most = Math.max(0, ...values);
  const least = Math.min(0, ...values);
  const room = height - floor - 14;
  const y = (value) => 12 + ((most - value) / (most - least || 1)) * room;
  const wide = (width - EDGE) / Math.max(points.length, 1);
  const x = (at) => at * wide + wide / 2;
  const way = values.map((value, at) => `${at === 0 ? "M" : "L"}${x(at)} ${y(value)}`).join("");
  const one = (point, at) =>
    svg(
      "a",
      { href: point.href, "aria-label": `${point.name}: ${shown(point.value)}` },
      svg("title", {}, `${point.name}: ${shown(point.value)}`),
      svg("rect", { class: "reach", x: at * wide, y: 0, width: wide, height }),
      svg("circle", { class: "dot", cx: x(at), cy: y(values[at]), r: 3.5 }),
      svg("text", { class: "tick", x: x(at), y: height - 5, "text-anchor": "middle" }, point.name),
    );
  return h(
    "figure",
    { class: "chart" },
    svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": title },
      ruled(least, most, y, width, scale),
      svg("path", { class: "ground", d: `${way}L${x(points.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z` }),
      svg("line", { class: "axis", x1: 0, x2: width, y1: y(0), y2: y(0) }),
      points.map(one),
      svg("path", { class: "way", d: way }),
    ),
    beneath(title, points, shown),
  );
}

/** One bar of several parts, such as what is owed by its age. */
export function ages({ title, points, shown }) {
  const values = points.map((one) => Math.max(size(one.value), 0));
  const sum = values.reduce((all, one) => all + one, 0);
  const width = 560;
  let x = 0;
  const part = (point, at) => {
    if (values[at] === 0) return null;
    const wide = (values[at] / sum) * width;
    const made = svg(
      "a",
      { href: point.href, "aria-label": `${point.name}: ${shown(point.value)}` },
      svg("title", {}, `${point.name}: ${shown(point.value)}`),
      svg("rect", { class: `age age-${at}`, x: x + 1, y: 0, width: Math.max(wide - 2, 2), height: 22, rx: 3 }),
    );
    x += wide;
    return made;
  };
  const key = (point, at) =>
    h(
      "li",
      {},
      h(
        "a",
        { href: point.href },
        h("span", { class: `key age-${at}`, "aria-hidden": "true" }),
        h("span", {}, point.name),
        h("span", { class: "figure" }, shown(point.value)),
      ),
    );
  return h(
    "figure",
    { class: "chart" },
    sum > 0
      ? svg(
          "svg",
          { viewBox: `0 0 ${width} 22`, class: "flat", role: "group", preserveAspectRatio: "none", "aria-label": title },
          points.map(part),
        )
      : null,
    h("ul", { class: "keys" }, points.map(key)),
  );
}

function beneath(title, points, shown) {
  const row = (point) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("a", { href: point.href }, point.name)),
      h("td", { class: "figure" }, shown(point.value)),
    );
  return h(
    "details",
    { class: "beneath" },
    h("summary", {}, t("As a table")),
    h("table", { class: "list small" }, h("caption", { class: "unseen" }, title), h("tbody", {}, points.map(row))),
  );
}

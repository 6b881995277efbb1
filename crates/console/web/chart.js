// Drawings of figures. Here alone an amount becomes a binary number, and only to say how long a bar is.

import { h, svg } from "./dom.js";

const size = (value) => Number(value.text);

/** Bars by month, above and below nothing; each a link, with its figure for who listens. */
export function bars({ title, points, shown }) {
  const [width, height, floor] = [560, 170, 22];
  const values = points.map((one) => size(one.value));
  const most = Math.max(0, ...values);
  const least = Math.min(0, ...values);
  const span = most - least || 1;
  const room = height - floor - 8;
  const y = (value) => 8 + ((most - value) / span) * room;
  const step = width / Math.max(points.length, 1);
  const bar = Math.min(34, step * 0.62);
  const one = (point, at) => {
    const value = values[at];
    const top = Math.min(y(value), y(0));
    const tall = Math.max(Math.abs(y(value) - y(0)), 1);
    const x = at * step + (step - bar) / 2;
    return svg(
      "a",
      { href: point.href, "aria-label": `${point.name}: ${shown(point.value)}` },
      svg("title", {}, `${point.name}: ${shown(point.value)}`),
      svg("rect", { class: "reach", x: at * step, y: 0, width: step, height }),
      svg("rect", { class: value < 0 ? "bar minus" : "bar", x, y: top, width: bar, height: tall, rx: 3 }),
      svg("text", { class: "tick", x: at * step + step / 2, y: height - 5, "text-anchor": "middle" }, point.name),
    );
  };
  return h(
    "figure",
    { class: "chart" },
    svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": title },
      svg("line", { class: "axis", x1: 0, x2: width, y1: y(0), y2: y(0) }),
      points.map(one),
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
    h("summary", {}, title),
    h("table", { class: "list small" }, h("caption", { class: "unseen" }, title), h("tbody", {}, points.map(row))),
  );
}

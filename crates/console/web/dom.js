// Elements, made by calls: no text ever becomes HTML.

const SVG = "http://www.w3.org/2000/svg";

function put(element, props) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
}

function fill(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  put(element, props);
  return fill(element, children);
}

export function svg(tag, props, ...children) {
  const element = document.createElementNS(SVG, tag);
  put(element, props);
  return fill(element, children);
}

export function replace(element, ...children) {
  element.replaceChildren();
  return fill(element, children);
}

let count = 0;
/** An identifier that no other element of the page has. */
export const fresh = (stem) => `${stem}-${++count}`;

const PATHS = {
  home: "M3 9.5 10 3l7 6.5V17h-5v-5H8v5H3z",
  sales: "M4 3h9l3 3v11H4zM7 9h6M7 12h6M7 6h3",
  purchases: "M3 4h2l2 9h8l2-6H6M8 16.5h.01M14 16.5h.01",
  bank: "M3 8l7-5 7 5M4 16h12M5 8v6M9 8v6M11 8v6M15 8v6",
  books: "M4 4h5a1 1 0 0 1 1 1v12a2 2 0 0 0-2-1H4zM16 4h-5a1 1 0 0 0-1 1v12a2 2 0 0 1 2-1h4z",
  stock: "M3 6.5 10 3l7 3.5v7L10 17l-7-3.5zM3 6.5l7 3.5 7-3.5M10 10v7",
  reports: "M4 16V9M10 16V4M16 16v-5M2.5 16.5h15",
  settings:
    "M10 7.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM10 2.5v2M10 15.5v2M2.5 10h2M15.5 10h2M4.7 4.7l1.4 1.4M13.9 13.9l1.4 1.4M15.3 4.7l-1.4 1.4M6.1 13.9l-1.4 1.4",
  tools: "M7 6l-4 4 4 4M13 6l4 4-4 4",
  people: "M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 17c0-3.5 2.7-5.5 6-5.5s6 2 6 5.5",
  more: "M3 6h14M3 10h14M3 14h14",
  plus: "M10 4v12M4 10h12",
  search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM13 13l4 4",
  close: "M5 5l10 10M15 5L5 15",
  check: "M4 10.5l4 4 8-9",
};

/** A drawing beside a text that says the same, so that nobody who listens misses it. */
export const icon = (name) =>
  svg("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" }, svg("path", { d: PATHS[name] }));

/** A text is held back until nobody has typed for a while. */
export function later(milliseconds, act) {
  let waiting;
  return (...told) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => act(...told), milliseconds);
  };
}

/** Lets others have their turn, where there is much to do. */
export const pause = () => new Promise((done) => setTimeout(done));

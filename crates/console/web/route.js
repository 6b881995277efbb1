// Where the reader is: every view has an address, filters and all.

import { company } from "./api.js";

const VIEWS = "/c";

/** The address of a view of the company that is open. */
export function path(...parts) {
  return [VIEWS, company(), ...parts].map((part) => String(part)).join("/");
}

export const withQuery = (address, query) => {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== "") asked.append(name, value);
  return asked.size > 0 ? `${address}?${asked}` : address;
};

/** The company and the parts behind it. */
export function here() {
  const parts = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  if (`/${parts[0]}` !== VIEWS) return { business: null, parts: [], query: {} };
  return { business: parts[1] ?? null, parts: parts.slice(2), query: Object.fromEntries(new URLSearchParams(location.search)) };
}

let show = () => {};
let leave = () => true;

/** Who shows the view when the address has changed. */
export const onChange = (act) => {
  show = act;
};

/** Who is asked before the view is left: a form that is not saved. */
export const onLeave = (act) => {
  leave = act ?? (() => true);
};

export function go(address, { replaces = false, asks = true } = {}) {
  if (asks && !leave()) return;
  leave = () => true;
  if (replaces) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  show();
}

/** Says the view's filters in its address, without showing it anew. */
export const note = (query) => history.replaceState(null, "", withQuery(location.pathname, query));

export function listen() {
  addEventListener("popstate", () => {
    leave = () => true;
    show();
  });
  addEventListener("beforeunload", (event) => {
    if (!leave.isDirty?.()) return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (
      !link ||
      !isPlain ||
      link.target ||
      link.hasAttribute("download") ||
      !(link.pathname === "/" || link.pathname.startsWith(`${VIEWS}/`)) ||
      link.origin !== location.origin ||
      link.hash
    )
      return;
    event.preventDefault();
    go(link.href);
  });
}

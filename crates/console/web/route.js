// Where the reader is: every view has an address, filters and all.

import { company } from "./api.js";
import { later } from "./dom.js";

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

/** What the reader moves: the window, and a table that is moved by itself. */
const moved = () => [document.scrollingElement, document.querySelector(".results > .moves")];
/** For so long a page may take to be as long again as it was. */
const PATIENCE = 8000;
/** What the reader does who would rather be elsewhere. */
const OWN = ["wheel", "touchmove", "pointerdown", "keydown"];

let stopReturning = null;

/** How far down the reader is stays with the address, for who comes back to it. */
function keepPlace() {
  if (stopReturning) return;
  history.replaceState({ ...history.state, place: moved().map((one) => Math.round(one?.scrollTop ?? 0)) }, "");
}

/** Goes down to where the reader was, as soon as what was asked for makes the page long enough. */
function returnTo(place) {
  stopReturning?.();
  if (!place?.some((far) => far > 0)) return;
  const stop = () => {
    stopReturning = null;
    for (const one of OWN) removeEventListener(one, stop, true);
  };
  stopReturning = stop;
  for (const one of OWN) addEventListener(one, stop, { capture: true, passive: true });
  const end = performance.now() + PATIENCE;
  const step = () => {
    if (stopReturning !== stop) return;
    const all = moved();
    const isLong = place.every((far, at) => far === 0 || (all[at] && all[at].scrollHeight - all[at].clientHeight >= far - 1));
    if (isLong) place.forEach((far, at) => all[at]?.scrollTo(0, far));
    if (isLong || performance.now() > end) stop();
    else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
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
  else {
    stopReturning?.();
    keepPlace();
    history.pushState(null, "", address);
  }
  show();
}

/** Says the view's filters in its address, without showing it anew. */
export const note = (query) => history.replaceState(history.state, "", withQuery(location.pathname, query));

export function listen() {
  history.scrollRestoration = "manual";
  addEventListener("scroll", later(150, keepPlace), { capture: true, passive: true });
  returnTo(history.state?.place);
  addEventListener("popstate", (event) => {
    leave = () => true;
    show();
    returnTo(event.state?.place);
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

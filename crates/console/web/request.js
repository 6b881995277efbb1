// What a page asked of the server, to be asked elsewhere: as curl, in dialect B and in dialect A.

import { copy, dialog } from "./dialog.js";
import { write } from "./decimal.js";
import { h } from "./dom.js";
import { withQuery } from "./route.js";
import { own, setup } from "./setup.js";
import { twin } from "./schema.js";
import { t } from "./texts.js";

const quoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;

function curl(method, address, headers, body) {
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${quoted(location.origin + address)}`];
  lines.push(`-H "Authorization: Bearer $TOKEN"`);
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(write(body))}`);
  return lines.join(" \\\n  ");
}

/** In the words of B, as it was asked here. */
function inOwn({ method, path, query, body, headers, business }) {
  return curl(method, withQuery(own.base + path, query), business ? { "X-Business-Id": business, ...headers } : headers, body);
}

async function inOther(letter, { method, path, query, body, headers, business }) {
  const there = await twin(method, path, letter);
  if (there === null) return t("Dialect {letter} has no such request.", { letter });
  const address = there.path.replace(/\{business\w*\}/i, business ?? "");
  return curl(there.method, withQuery(there.base + address, query), headers, body);
}

function shown(letter, text) {
  const place = h("pre", { tabindex: "0", "aria-label": t("In dialect {letter}", { letter }) }, text);
  return h(
    "div",
    { class: "curl" },
    h(
      "div",
      { class: "curl-head" },
      h("strong", {}, t("Dialect {letter}", { letter })),
      h("button", { type: "button", onclick: () => copy(place.textContent) }, t("Copy")),
    ),
    place,
  );
}

export function openRequests(made) {
  const others = setup.dialects.filter((dialect) => dialect.letter !== own.letter);
  const entry = (one, at) => {
    const box = h(
      "details",
      { class: "request", open: at === 0 },
      h("summary", {}, h("code", {}, one.method), " ", h("span", { class: "address" }, withQuery(one.path, one.query))),
    );
    const fill = async () => {
      if (box.dataset.filled) return;
      box.dataset.filled = "yes";
      box.append(shown(own.letter, inOwn(one)));
      for (const dialect of others)
        box.append(shown(dialect.letter, await inOther(dialect.letter, one).catch((error) => String(error.message))));
    };
    box.addEventListener("toggle", () => box.open && fill());
    if (at === 0) fill();
    return box;
  };
  const told = made.length > 0 ? made.map(entry) : h("p", {}, t("This page asked the server for nothing."));
  dialog({
    title: t("This page as requests"),
    wide: true,
    cancel: t("Close"),
    body: [
      h(
        "p",
        { class: "quiet" },
        t("What this page shows, it asked with these requests; the names of what it links to aside. Put your token into TOKEN, and any program can do the same."),
      ),
      told,
    ],
  });
}

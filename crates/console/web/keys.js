// The keyboard: what leads where, and a list of it.

import { dialog } from "./dialog.js";
import { h } from "./dom.js";
import { go, path } from "./route.js";
import { t } from "./texts.js";

const GOES = {
  h: ["", "Home"],
  i: ["sales-invoices", "Sales invoices"],
  o: ["sales-orders", "Sales orders"],
  b: ["purchase-invoices", "Purchase invoices"],
  p: ["parties", "Contacts"],
  a: ["accounts", "Accounts"],
  j: ["journals", "Journals"],
  r: ["reports", "Reports"],
  s: ["settings", "Settings"],
};

export function help() {
  const row = (keys, text) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        keys.map((key) => [h("kbd", {}, key), " "]),
      ),
      h("td", {}, text),
    );
  dialog({
    title: t("Keyboard"),
    cancel: t("Close"),
    body: h(
      "table",
      { class: "list keys-table" },
      h(
        "tbody",
        {},
        row(["/"], t("Search")),
        row(["n"], t("New")),
        row(["e"], t("Edit")),
        row([t("Ctrl"), "Enter"], t("Post or save")),
        row([t("Ctrl"), "S"], t("Save as draft")),
        Object.entries(GOES).map(([key, [, text]]) => row(["g", key], t(text))),
        row(["?"], t("This list")),
      ),
    ),
  });
}

export function listenToKeys() {
  let going = false;
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey;
    if (isTyping || !document.querySelector(".shell")) return;
    const press = (id) => {
      const element = document.getElementById(id);
      if (element) {
        event.preventDefault();
        element.focus();
        if (id !== "search") element.click();
      }
    };
    if (going) {
      going = false;
      const to = GOES[event.key];
      if (to) {
        event.preventDefault();
        go(to[0] ? path(to[0]) : path());
      }
      return;
    }
    if (event.key === "g") {
      going = true;
      setTimeout(() => (going = false), 1500);
    } else if (event.key === "/") press("search");
    else if (event.key === "n") press("new");
    else if (event.key === "e") press("edit");
    else if (event.key === "?") help();
  });
}

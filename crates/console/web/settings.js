// What a company is set up with, and the pages that stand beside the console.

import { company } from "./api.js";
import { h, replace } from "./dom.js";
import { business, may, noun } from "./frame.js";
import { heading, section } from "./parts.js";
import { EMPTY, RESOURCES, SETTINGS } from "./resources.js";
import { path } from "./route.js";
import { setup } from "./setup.js";
import { systemPages } from "./system.js";
import { label, t } from "./texts.js";

const ABOUT = {
  businesses: "Name, address, tax number, and how documents are booked.",
  "fiscal-years": "Years, and which of them are closed.",
  locks: "Until when nothing is booked any more.",
  "number-series": "How documents are numbered.",
  users: "Who works here; invite others.",
  permissions: "Roles, and sets of your own.",
  "api-keys": "Programs that speak for you.",
  webhooks: "Programs that are told of what happens.",
  "tax-codes": "What is charged and claimed.",
  "payment-terms": "When invoices are due.",
  currencies: "What is reckoned in.",
  "exchange-rates": "What other currencies are worth.",
  "audit-log": "Who changed what, and when; each row sealed to the one before.",
};

export async function settingsView(main) {
  const entry = (segment) =>
    may(`${noun(segment)}.view`)
      ? h(
          "li",
          {},
          h(
            "a",
            { href: segment === "businesses" ? path("businesses", company()) : path(segment) },
            segment === "businesses" ? t("This company") : label(RESOURCES[segment].stem),
          ),
          h("span", { class: "quiet small block" }, t(ABOUT[segment] ?? EMPTY[segment] ?? "")),
        )
      : null;
  const others = h(
    "li",
    {},
    h("a", { href: path("businesses") }, t("All companies")),
    h("span", { class: "quiet small block" }, t("Those that you are a member of; make another.")),
  );
  const shelf = ([title, segments]) =>
    section(t(title), h("ul", { class: "plain-list" }, segments.map(entry), segments.includes("businesses") ? others : null));
  const tools = section(
    t("Tools"),
    h(
      "ul",
      { class: "plain-list" },
      setup.pages
        .filter(([address]) => address !== "/")
        .map(([address, name]) => h("li", {}, h("a", { href: address }, t(name)))),
    ),
  );
  replace(
    main,
    heading(t("Settings"), { under: business()?.legalName ?? business()?.name }),
    h(
      "div",
      { class: "columns-2" },
      SETTINGS.map(shelf),
      section(
        t("System"),
        h(
          "ul",
          { class: "plain-list" },
          systemPages().map(([address, title, about]) =>
            h("li", {}, h("a", { href: path(address) }, title), h("span", { class: "quiet small block" }, about)),
          ),
        ),
      ),
      tools,
    ),
  );
}

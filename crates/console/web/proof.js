// The proof of the books: everything reckoned anew by the server, and what came of it.

import { ask, company, get, howFar } from "./api.js";
import { read, write } from "./decimal.js";
import { fault } from "./dialog.js";
import { h, icon, replace } from "./dom.js";
import { figure, time } from "./format.js";
import { business, may } from "./frame.js";
import { linkTo } from "./names.js";
import { heading, section } from "./parts.js";
import { refusal } from "./refusals.js";
import { path, withQuery } from "./route.js";
import { t } from "./texts.js";

const KEPT = "duet.proved.";
/** Of what is found more is not kept: whoever wants all of it proves anew. */
const MOST = 50;

/** What came of it the last time in this tab; nothing where it was not asked for yet. */
export const lastProof = () => read(sessionStorage.getItem(KEPT + company()) ?? "null");

/** Whether something was written since: a proof tells of the books as it found them, and of nothing that came later. */
export const isOutrun = (last) => !(Number(String(last.sequence)) >= howFar());

function keep({ ok, digest, checks }, sequence) {
  const told = { ok, digest, checks: checks.map((one) => ({ ...one, findings: one.findings?.slice(0, MOST) })) };
  sessionStorage.setItem(KEPT + company(), write({ ok, told, sequence, at: new Date().toISOString() }));
}

/** A line that says how it stands, for other pages; it is drawn anew when what was `asked` has told how far the books are. */
export function proofMark(asked) {
  const place = h("span", {}, mark());
  asked.then(() => replace(place, mark()));
  return place;
}

function mark() {
  const last = lastProof();
  if (last === null) return h("a", { class: "proof", href: path("proof") }, t("Not proved yet"));
  if (last.ok && isOutrun(last))
    return h("a", { class: "proof outrun", href: path("proof") }, t("Proved {when}; something was written since", { when: time(last.at) }));
  const { count, open } = counted(last.told);
  const proved = open > 0 ? t("Proved: {count} hold, {open} not finished", { count, open }) : t("Proved: {count} identities", { count });
  const text = last.ok ? proved : t("Something does not add up");
  return h("a", { class: last.ok ? "proof holds" : "proof broken", href: path("proof") }, last.ok ? icon("check") : "✗", text, h("span", { class: "quiet small" }, time(last.at)));
}

/** Where the rest of the opening balances is found, and entered. */
function openings() {
  const account = business()?.systemAccounts?.openingBalanceEquity;
  const opening = { kind: "opening" };
  return [
    account && may("account.view") ? linkTo("accounts", account) : null,
    may("journal.view") ? h("a", { href: withQuery(path("journals"), opening) }, t("Opening balances so far")) : null,
    may("journal.create") ? h("a", { href: withQuery(path("journals", "new"), opening) }, t("Enter opening balances")) : null,
  ];
}

/** What a line that waits for somebody leads to, by its name in the API. */
const LEADS = { O1: openings };

function findings(check) {
  if (!check.findings?.length) return null;
  const ways = (LEADS[check.id]?.() ?? []).filter(Boolean);
  return [
    h("ul", { class: "small" }, check.findings.map((one) => h("li", {}, refusal(one)))),
    ways.length > 0 ? h("p", { class: "small ways" }, ways) : null,
  ];
}

const side = (value) => (/^-?\d+(\.\d+)?$/.test(String(value)) ? figure(value) : value);

/** What is not finished yet is no fault, and does not hold either: what is to be done stands beside it. */
const isOpen = (check) => check.ok && check.findings?.length > 0 && String(check.left) !== String(check.right);

/** How many hold, and how many wait for somebody. */
const counted = ({ checks }) => ({ count: checks.filter((one) => one.ok && !isOpen(one)).length, open: checks.filter(isOpen).length });

function verdict(told) {
  const { count, open } = counted(told);
  if (open === 0) return t("The books are proved: {count} identities hold.", { count });
  return open === 1
    ? t("The books are proved: {count} identities hold, and 1 has something that is not finished yet.", { count })
    : t("The books are proved: {count} identities hold, and {open} have something that is not finished yet.", { count, open });
}

function outcome(check) {
  if (!check.ok) return h("span", { class: "badge late" }, t("No"));
  return isOpen(check) ? h("span", { class: "badge plain" }, t("Not finished")) : h("span", { class: "badge good" }, t("Yes"));
}

const row = (check) =>
  h(
    "tr",
    { class: check.ok ? "holds" : "broken" },
    h("th", { scope: "row" }, t(check.name), findings(check)),
    h("td", { class: "figure", "data-label": t("One way") }, side(check.left)),
    h("td", { class: "figure", "data-label": t("The other way") }, side(check.right)),
    h("td", { "data-label": t("Holds") }, outcome(check)),
  );

function drawn(told, isOld = false) {
  const broken = told.checks.filter((one) => !one.ok);
  const heads = [t("What must be equal"), t("One way"), t("The other way"), t("Holds")];
  return [
    h(
      "p",
      { class: !told.ok ? "verdict broken" : isOld ? "verdict" : "verdict holds", role: "status" },
      told.ok ? (isOld ? null : icon("check")) : "✗",
      " ",
      h(
        "strong",
        {},
        told.ok
          ? isOld
            ? t("Something was written since. Prove the books again.")
            : verdict(told)
          : t("Something does not add up. Show this to whoever keeps the server."),
      ),
    ),
    h("p", { class: "quiet small" }, t("Digest of the ledger"), ": ", h("code", {}, told.digest)),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "list proof-table" },
        h("caption", { class: "unseen" }, t("Proof")),
        h("thead", {}, h("tr", {}, heads.map((text, at) => h("th", { scope: "col", class: at === 1 || at === 2 ? "figure" : null }, text)))),
        h("tbody", {}, [...broken, ...told.checks.filter(isOpen), ...told.checks.filter((one) => one.ok && !isOpen(one))].map(row)),
      ),
    ),
  ];
}

export async function proofView(main) {
  const last = lastProof();
  // Any answer about the books tells how far they are now.
  if (last !== null) await get("/reports", null, { quiet: true }).catch(() => null);
  const place = h("div", { id: "proof" }, last === null ? null : drawn(last.told, isOutrun(last)));
  const under = h(
    "p",
    { class: "quiet" },
    last === null
      ? t("It was not asked for yet in this tab.")
      : t("This is how it stood the last time, {when}.", { when: time(last.at) }),
  );
  const prove = h("button", { type: "button", class: "main", id: "prove" }, t("Prove the books"));
  const run = async () => {
    prove.disabled = true;
    replace(place, h("p", { class: "quiet waiting", role: "status" }, t("Everything is reckoned anew …")));
    try {
      const { data: told, sequence } = await ask("GET", "/verify");
      keep(told, sequence);
      replace(place, drawn(told));
      under.textContent = t("This is how it stood, {when}.", { when: time(lastProof().at) });
    } catch (error) {
      replace(place);
      fault(error);
    }
    prove.disabled = false;
  };
  prove.addEventListener("click", run);
  replace(
    main,
    heading(t("Proof"), {
      actions: [h("button", { type: "button", onclick: () => print() }, t("Print")), prove],
      under: t("Every figure is made anew from the lines of the ledger and held against what is shown."),
      trail: h("a", { href: path("settings") }, t("Settings")),
    }),
    section(t("How it stands"), under, place),
  );
}

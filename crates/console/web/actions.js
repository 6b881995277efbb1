// What may be done with a record next: each asked once more, and shown beforehand what it does.

import { allocate, namedBy, setAgainst } from "./allocate.js";
import { deeds } from "./admin.js";
import { ask, get, newKey } from "./api.js";
import { sum } from "./decimal.js";
import { DERIVE, derive, derived } from "./derive.js";
import { dialog, fault, tell } from "./dialog.js";
import { h } from "./dom.js";
import { showOnce } from "./edit.js";
import { date, inDays, money, today } from "./format.js";
import { business, currency, may, noun } from "./frame.js";
import { called } from "./names.js";
import { address, field, rehearsing } from "./rehearsal.js";
import { RESOURCES, segmentOf } from "./resources.js";
import { go, path, withQuery } from "./route.js";
import { operation } from "./schema.js";
import { canBeOpened, openAgain } from "./sure.js";
import { t } from "./texts.js";

const PLAIN = { post: "Post", close: "Close", reopen: "Open again", copy: "Copy", void: "Void", cancel: "Cancel the order" };
/** What is said when it is done. */
const DONE = {
  post: "{what} is posted.",
  close: "{what} is closed.",
  reopen: "{what} is open again.",
  copy: "{what} is a copy of it.",
  void: "{what} is void.",
  cancel: "{what} is cancelled.",
};
/** What the same word is called elsewhere. */
const PLAIN_OF = {
  "fiscal-years": { close: "Close the year" },
  "sales-orders": { close: "Close the order" },
  "purchase-orders": { close: "Close the purchase order", cancel: "Cancel the purchase order" },
};
const named = (segment, verb) => PLAIN_OF[segment]?.[verb] ?? PLAIN[verb];
const ABOUT = {
  post: "It enters the books. What it books stands below.",
  close: "What is left of it is given up.",
  reopen: "It is open again, with what is left of it.",
  copy: "A draft with the same fields is made.",
  void: "It is taken back by a reversal; its number stays, and so does its trace in the books.",
  cancel: "Nothing more comes of it; its number stays.",
};

/** What the same word means elsewhere. */
const ABOUT_OF = {
  "fiscal-years": {
    close: "What was earned until its last day and is not closed yet goes to retained earnings by an entry on that day. Nothing is booked until then any more.",
    reopen: "The closing entry is taken back, and the year can be booked in again.",
  },
};

/** What the year itself earned, where more is closed with it: what was earned before it and no year has closed. */
async function earnedBefore(year, made) {
  const kept = business()?.systemAccounts?.retainedEarnings;
  const lines = made?.postings?.filter((one) => one.accountId === kept) ?? [];
  if (lines.length === 0 || !may("report.view")) return null;
  const { rows } = await get("/reports/pl", { from: year.start, to: year.end }, { quiet: true });
  const own = rows.find((one) => one.key === "netProfit")?.values[0];
  const all = sum(lines.flatMap((one) => [one.credit, one.debit.negative]));
  const before = own && sum([all, own.negative]);
  if (!before || before.isZero) return null;
  const given = { own: money(own, currency()), before: money(before, currency()), day: date(year.start) };
  return h("p", { class: "note" }, t("The year itself earned {own}. {before} comes from before {day}: no fiscal year has closed it.", given));
}

/** A plain act: what it would book is rehearsed first. */
async function plain(segment, record, etag, verb, again) {
  const to = await address(segment, verb, record.id);
  const seen = h("div", {});
  const asksWhy = verb === "void" || verb === "cancel";
  const key = newKey();
  const body = () =>
    asksWhy
      ? Object.fromEntries([...box.querySelectorAll("input")].filter((one) => one.value).map((one) => [one.name, one.value]))
      : {};
  const box = dialog({
    title: `${t(named(segment, verb))}: ${called(record, segment)}`,
    confirm: t(named(segment, verb)),
    isGrave: asksWhy,
    cancel: t("Back"),
    body: [
      h("p", {}, t(ABOUT_OF[segment]?.[verb] ?? ABOUT[verb])),
      asksWhy
        ? [
            field("date", t("On the day"), { type: "date", value: record.date > today() ? record.date : today() }),
            field("reason", t("Reason"), { type: "text", maxlength: 500 }),
          ]
        : null,
      seen,
    ],
    async act(close) {
      const { data } = await ask("POST", to, {
        body: body(),
        headers: { "Idempotency-Key": key, ...(etag ? { "If-Match": etag } : {}) },
      });
      close();
      tell(t(DONE[verb], { what: called(data ?? record, segment) }));
      if (verb === "copy") go(path(segment, data.id, "edit"));
      else again();
      showOnce(data);
    },
  });
  if (verb === "copy") return;
  const rehearse = rehearsing(seen, async (isRefused, made) => {
    // What is refused already is not offered.
    box.querySelector("button[type=submit]").disabled = isRefused;
    const note = segment === "fiscal-years" && verb === "close" ? await earnedBefore(record, made).catch(() => null) : null;
    if (note) seen.prepend(note);
  });
  const look = () => rehearse(to, body());
  box.querySelector("[name=date]")?.addEventListener("change", look);
  look();
}

function remove(segment, record, etag) {
  dialog({
    title: t("Delete {what}?", { what: called(record, segment) }),
    confirm: t("Delete"),
    isGrave: true,
    cancel: t("Back"),
    body: h("p", {}, t(
        segment === "users"
          ? "They lose access to this company; what they did stays."
          : "It is gone then; the audit log keeps what it was.",
      )),
    async act(close) {
      await ask("DELETE", `/${segment}/${record.id}`, { headers: etag ? { "If-Match": etag } : {} });
      close();
      tell(t("Deleted."));
      go(path(segment));
    },
  });
}

/** The buttons of a record, the likeliest first. */
export async function actionsOf(segment, record, etag, again) {
  const known = RESOURCES[segment];
  const allowed = record.allowedActions ?? [];
  const button = (text, act, tone, id) =>
    h("button", { type: "button", class: tone, id, onclick: () => Promise.resolve(act()).catch(fault) }, t(text));
  const made = [];
  const open = record.balanceDue && !record.balanceDue.isZero && !["draft", "void"].includes(record.status);
  if (allowed.includes("post")) made.push(button("Post", () => plain(segment, record, etag, "post", again), "main", "act-post"));
  for (const verb of Object.keys(DERIVE))
    if (allowed.includes(verb))
      made.push(
        button(
          derived(segment, verb),
          () => derive(segment, record, etag, verb),
          made.length === 0 && verb !== "credit" && !open ? "main" : null,
          `act-${verb}`,
        ),
      );
  if (open && known.settles && may(`${noun(known.settles)}.create`)) {
    const next = withQuery(path(known.settles, "new"), {
      partyId: record.partyId,
      amount: record.balanceDue.text,
      targetId: record.id,
      currency: record.currency === currency() ? null : record.currency,
    });
    made.unshift(
      h(
        "a",
        { class: "button main", id: "act-settle", href: next },
        known.settles === "receipts" ? t("Receive payment") : t("Pay"),
      ),
    );
  }
  const against = allowed.includes("allocate") ? await namedBy(segment, record).catch(() => null) : null;
  if (against) {
    const set = button("", () => setAgainst(segment, record, against, again), "main", "act-set-against");
    set.textContent = t("Set against {what}", { what: called(against.invoice, segmentOf(against.kind)) });
    made.unshift(set);
  }
  if (allowed.includes("allocate"))
    made.push(button("Settle", () => allocate(segment, record, again), made.length === 0 ? "main" : null, "act-allocate"));
  const canEdit = known.isDocument
    ? allowed.includes("edit")
    : may(`${noun(segment)}.edit`) && record.isSystem !== true && (await operation(`${known.stem}Update`)) !== null;
  if (canEdit)
    made.push(
      h("a", { class: "button", href: path(segment, record.id, "edit"), id: "edit", "aria-keyshortcuts": "e" }, t("Edit")),
    );
  if (segment === "fiscal-years")
    made.push(
      record.status === "closed"
        ? button("Open again", () => plain(segment, record, etag, "reopen", again), null, "act-reopen")
        : button(named(segment, "close"), () => plain(segment, record, etag, "close", again), null, "act-close"),
    );
  if (segment === "locks" && canBeOpened(record)) made.push(button("Open again", () => openAgain(record), null, "act-open"));
  if (segment === "users" && record.status === "invited")
    made.push(
      button("Invite again", async () => showOnce((await ask("POST", `/users/${record.id}/invitation`, { body: {} })).data)),
    );
  if (segment === "parties") {
    const write = (to, text) => h("a", { class: "button", href: withQuery(path(to, "new"), { partyId: record.id }) }, text);
    if (record.isCustomer) made.push(write("sales-invoices", t("New invoice")), write("sales-orders", t("New order")));
    if (record.isSupplier) made.push(write("purchase-invoices", t("New bill")));
    made.push(
      h(
        "a",
        { class: "button", href: withQuery(path("reports", "party-statement"), { partyId: record.id, from: inDays(-365) }) },
        t("Statement"),
      ),
    );
  }
  const rest = ["copy", "close", "reopen", "cancel", "void"]
    .filter((verb) => allowed.includes(verb))
    .map((verb) =>
      button(
        named(segment, verb),
        () => plain(segment, record, etag, verb, again),
        verb === "void" || verb === "cancel" ? "grave-text" : null,
        `act-${verb}`,
      ),
    );
  // What is done with a webhook is done often; with a company or a party as a whole, hardly ever.
  for (const deed of deeds(segment, record, again)) (segment === "webhooks" && deed.className === "" ? made : rest).push(deed);
  const canDelete = known.isDocument
    ? allowed.includes("delete")
    : may(`${noun(segment)}.delete`) &&
      record.isSystem !== true &&
      segment !== "businesses" &&
      (await operation(`${known.stem}Delete`)) !== null;
  if (canDelete)
    rest.push(
      button(segment === "api-keys" ? "End this key" : "Delete", () => remove(segment, record, etag), "grave-text", "act-delete"),
    );
  // Why it cannot be taken back stands where it would be: as long as something is settled, nobody may.
  const isHeld = known.isDocument && !["draft", "void", "cancelled"].includes(record.status) && record.allocations?.length > 0;
  if (isHeld && !allowed.includes("void") && may(`${noun(segment)}.void`))
    rest.push(h("p", { class: "quiet small" }, t("To void it, undo the allocation first.")));
  if (rest.length > 0)
    made.push(
      h("details", { class: "menu", id: "act-more" }, h("summary", {}, t("More")), h("div", { class: "menu-body acts" }, rest)),
    );
  return made;
}

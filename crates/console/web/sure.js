// What is asked once more before it is written, since it cannot be taken back or opens what was closed.

import { ask, list, newKey } from "./api.js";
import { dialog, tell } from "./dialog.js";
import { h } from "./dom.js";
import { markFault } from "./faults.js";
import { date, monthsEnd } from "./format.js";
import { currency, may } from "./frame.js";
import { postings } from "./parts.js";
import { go, here, path, withQuery } from "./route.js";
import { label, t } from "./texts.js";

const LOCKS = [
  "lockDate",
  "salesLockDate",
  "purchaseLockDate",
  "bankLockDate",
  "stockLockDate",
  "journalLockDate",
  "hardLockDate",
];

/** The newest lock is the one that counts; nothing where there is none. */
export const lockInForce = async () => (await list("locks", { sort: "-createdAt", pageSize: 1 }, { quiet: true })).items[0] ?? null;

/** The days until which a lock holds. */
export const daysOf = (lock) => Object.fromEntries(LOCKS.filter((name) => lock[name]).map((name) => [name, lock[name]]));

/** All but the one for good, which nobody opens. */
const SOFT = LOCKS.filter((name) => name !== "hardLockDate");

/** What a lock is, and how it is undone: there is no other page that could say it. */
export const aboutLocks = () =>
  t("A lock closes days: nothing is booked in them any more. To book there again, open them, and close them again when it is done.");

export const canBeOpened = (lock) => lock?.inForce === true && may("lock.create") && SOFT.some((name) => lock[name]);

const parts = (day) => day.split("-").map(Number);
const monthBefore = (day) => monthsEnd(parts(day)[0], parts(day)[1] - 1);
const dayBefore = (day) => new Date(Date.UTC(parts(day)[0], parts(day)[1] - 1, parts(day)[2] - 1)).toISOString().slice(0, 10);

/** Opens what a lock has closed: another with earlier days takes its place. The last month is offered, or what somebody comes for. */
export function openAgain(lock) {
  const wanted = here().query.before;
  const offered = (day) => [monthBefore(day), wanted ? dayBefore(wanted) : null].filter(Boolean).sort()[0];
  const field = (name, title, props) => h("p", { class: "field" }, h("label", { for: `open-${name}` }, title), h("input", { id: `open-${name}`, name, ...props }));
  const names = SOFT.filter((name) => lock[name]);
  const key = newKey();
  dialog({
    title: t("Open again"),
    confirm: t("Open again"),
    isGrave: true,
    cancel: t("Back"),
    body: [
      h("p", {}, t("What comes after these days can be booked and changed again. Where no day stands, all of it is open.")),
      lock.hardLockDate ? h("p", {}, t("Until {day} it is locked for good; that stays.", { day: date(lock.hardLockDate) })) : null,
      names.map((name) => field(name, label(name), { type: "date", value: offered(lock[name]) })),
      field("reason", t("Reason"), { type: "text", maxlength: 500 }),
    ],
    async act(close, form) {
      const given = (name) => form.elements[name].value || null;
      const later = names.filter((name) => given(name) > lock[name]);
      for (const name of later) markFault(form.elements[name], t("It is locked until {day}. To lock more, make a new lock.", { day: date(lock[name]) }));
      if (later.length > 0) return void form.elements[later[0]].focus();
      const last = new Date().toISOString();
      const { data } = await ask("POST", "/locks", {
        body: {
          ...daysOf(lock),
          ...Object.fromEntries(names.map((name) => [name, given(name)])),
          // For whom the lock does not hold, the next one does not either.
          exceptions: lock.exceptions.filter((one) => one.until === null || one.until > last),
          reason: given("reason"),
        },
        headers: { "Idempotency-Key": key },
      });
      close();
      tell(t("It is open again."));
      go(path("locks", data.id));
    },
  });
}

/** Where it is opened again what a refusal says is closed: at the lock, or at the years where one of them closed it. */
export async function wayToOpen(error) {
  const [, until] = /^The books are closed until (\S+)$/.exec(error.message) ?? [];
  if (error.code !== "period_locked" || !until) return null;
  const lock = may("lock.view") ? await lockInForce().catch(() => null) : null;
  const [day] = Object.values(error.errors).flat().flatMap((one) => /^\d{4}-\d{2}-\d{2}/.exec(one) ?? []);
  if (lock && LOCKS.some((name) => lock[name] >= until))
    return h("a", { href: withQuery(path("locks", lock.id), { before: day ?? null }) }, t("To the lock, where it is opened again"));
  return may("fiscalYear.view") ? h("a", { href: path("fiscal-years") }, t("To the fiscal years, of which one is closed")) : null;
}

const question = (told) =>
  new Promise((answer) => {
    dialog({
      isGrave: true,
      ...told,
      act: async (close) => {
        answer(true);
        close();
      },
      closed: () => answer(false),
    });
  });

/** Days as a list of what is locked until when. */
const days = (names, of) =>
  h(
    "ul",
    {},
    names.map((name) => h("li", {}, `${label(name)}: ${date(of[name])}`)),
  );

async function isMeant(lock, before) {
  const opened = LOCKS.filter((name) => before?.[name] && !(lock[name] >= before[name]));
  if (opened.length > 0) {
    const isOpened = await question({
      title: t("Open what was locked?"),
      body: [h("p", {}, t("Until now it is locked until these days, and this lock ends earlier or not at all:")), days(opened, before)],
      confirm: t("Open it"),
    });
    if (!isOpened) return false;
  }
  if (!lock.hardLockDate || lock.hardLockDate === before?.hardLockDate) return true;
  return question({
    title: t("Lock it for good?"),
    body: [h("p", {}, t("Nobody can post until this day any more, and nobody can open it again:")), days(["hardLockDate"], lock)],
    confirm: t("Lock for good"),
  });
}

/** A key of which no rights are said has all of them. */
const mayDoAll = () =>
  question({
    title: t("A key that may do all that you may?"),
    body: h("p", {}, t("No rights are chosen. Whoever has this key may do everything in your name.")),
    confirm: t("Make it so"),
    cancel: t("Choose rights"),
  });

/** What is posted is not rewritten: the books get what takes it back and what takes its place. */
const changesBooks = (booked) => {
  const title = t("This will book");
  return question({
    title: t("Change what is booked?"),
    body: [
      h("p", {}, t("It is posted already. What stands in the ledger stays there; this is booked beside it:")),
      postings(booked, currency(), title),
    ],
    confirm: t("Change it"),
  });
};

/** Whether the reader means it, where that is asked. `before` is what it takes the place of, `booked` what it books. */
export async function sure(segment, body, before, booked) {
  if (booked.length > 0) return changesBooks(booked);
  if (segment === "api-keys") return body.scopes?.length > 0 || mayDoAll();
  if (segment === "locks") return isMeant(body, before);
  return true;
}

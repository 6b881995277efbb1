// What is asked once more before it is written, since it cannot be taken back or opens what was closed.

import { list } from "./api.js";
import { dialog } from "./dialog.js";
import { h } from "./dom.js";
import { date } from "./format.js";
import { currency } from "./frame.js";
import { postings } from "./parts.js";
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

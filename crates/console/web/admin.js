// What is done with a company, a party or a webhook as a whole: a trial's day, a copy, a merger, a secret, a message once more.

import { ask, get, newKey, post } from "./api.js";
import { dialog, fault, tell } from "./dialog.js";
import { fresh, h } from "./dom.js";
import { showOnce } from "./edit.js";
import { time, today } from "./format.js";
import { knowCompanies, may } from "./frame.js";
import { badge, empty, section } from "./parts.js";
import { picker } from "./picker.js";
import { go, path } from "./route.js";
import { label, t, word } from "./texts.js";

const button = (text, act, id, tone = null) =>
  h("button", { type: "button", id, class: tone, onclick: () => Promise.resolve(act()).catch(fault) }, text);

/** A field of a dialog; what stands in it is `form.elements[name].value`. */
function field(name, title, props = {}, help = null) {
  const id = fresh(name);
  const input = h("input", { id, name, type: "text", "aria-describedby": help ? `${id}-help` : null, ...props });
  return h("p", { class: "field" }, h("label", { for: id }, title), input, help ? h("span", { class: "quiet small", id: `${id}-help` }, help) : null);
}

/** A question with fields, and a request with what was answered; one with a secret in it is nobody's to copy. */
function question({ title, about, fields = [], confirm, isGrave = false, isSecret = false, address, body, then }) {
  const key = newKey();
  dialog({
    title,
    confirm,
    isGrave,
    cancel: t("Back"),
    body: [h("p", {}, about), fields],
    async act(close, form) {
      const { data } = await ask("POST", address, { body: body(form.elements), headers: { "Idempotency-Key": key }, quiet: isSecret });
      close();
      await then(data);
    },
  });
}

const toCompany = async (data) => {
  await knowCompanies();
  tell(t("{what} is there now.", { what: data.name }));
  go(`/c/${data.id}`);
};

function ofCompany(record, again) {
  const at = `/businesses/${record.id}`;
  const made = [];
  if (record.isTrial)
    made.push(
      button(
        t("Set the day"),
        () =>
          question({
            title: t("What day is it in this trial?"),
            about: t("All that asks for today goes by this day: what is overdue, ageing, and the days that forms and reports begin with."),
            fields: field("today", t("Today"), { type: "date", value: record.today ?? today() }),
            confirm: t("Set the day"),
            address: `${at}/clock`,
            body: (given) => ({ today: given.today.value }),
            then: () => knowCompanies().then(again),
          }),
        "act-clock",
      ),
      record.today
        ? button(t("Go by the real day"), () => ask("DELETE", `${at}/clock`).then(knowCompanies).then(again), "act-release")
        : null,
      button(
        t("Empty it"),
        () =>
          question({
            title: t("Empty {what}?", { what: record.name }),
            about: t("It is archived as it is, and a new one takes its place: with its accounts, taxes and people, and without a document or an entry."),
            fields: field("name", t("Its name, letter for letter"), { autocomplete: "off" }),
            confirm: t("Empty it"),
            isGrave: true,
            address: `${at}/empty`,
            body: (given) => ({ name: given.name.value }),
            then: toCompany,
          }),
        "act-empty",
        "grave-text",
      ),
    );
  if (record.role === "owner")
    made.push(
      button(
        t("Copy as a trial"),
        () =>
          question({
            title: t("Copy {what} as a trial", { what: record.name }),
            about: t("The trial has its accounts, taxes, terms, items and settings, and as many customers and suppliers without their names. Nobody is told of what happens in it."),
            fields: [
              field("name", t("Name of the trial"), { value: t("{what} (trial)", { what: record.name }) }),
              field("openingOn", t("With the balances of the day"), { type: "date" }, t("Left empty, its books are empty.")),
            ],
            confirm: t("Copy"),
            address: `${at}/copy`,
            body: (given) => ({ name: given.name.value, openingOn: given.openingOn.value || null }),
            then: toCompany,
          }),
        "act-copy-trial",
      ),
    );
  return made;
}

function ofParty(record, again) {
  if (!may("party.edit") || record.mergedIntoId) return [];
  const merge = () => {
    const id = fresh("into");
    const into = picker({ segment: "parties", id, name: "intoPartyId", narrow: { status: "active" } });
    question({
      title: t("{what} is the same as …", { what: record.name }),
      about: t("All that it has in the books counts as the other's from now on, and it is archived. Nothing is posted and nothing written anew."),
      fields: h("div", { class: "field" }, h("label", { for: id }, t("The one that stays")), into.element),
      confirm: t("Merge"),
      isGrave: true,
      address: `/parties/${record.id}/merge`,
      body: () => ({ intoPartyId: into.get() }),
      then: (data) => (data?.id && data.id !== record.id ? go(path("parties", data.id)) : again()),
    });
  };
  return [button(t("Merge with another"), merge, "act-merge", "grave-text")];
}

function ofWebhook(record, again) {
  if (!may("webhook.edit")) return [];
  const at = `/webhooks/${record.id}`;
  const test = async () => {
    await post(`${at}/test`, {});
    tell(t("A test is on its way; below stands what becomes of it."));
    again();
  };
  const rotate = () =>
    question({
      title: t("A new secret"),
      about: t("Messages are signed under the new secret from now on. It is shown once."),
      fields: field("keepOldFor", t("The old one as well, for"), { placeholder: "24h" }, t("Such as 24h or 30m; left empty, not at all.")),
      confirm: t("Make a new secret"),
      isGrave: true,
      address: `${at}/rotate-secret`,
      body: (given) => ({ keepOldFor: given.keepOldFor.value.trim() || null }),
      then: (data) => {
        again();
        showOnce(data);
      },
    });
  const replay = () =>
    question({
      title: t("Tell it again"),
      about: t("It is told again what comes after this event. Each has the same identifier as before, so that nothing needs to be done twice."),
      fields: field("after", t("After the event"), { inputmode: "numeric", value: "0" }),
      confirm: t("Tell it again"),
      address: `${at}/replay`,
      body: (given) => ({ after: /^\d+$/.test(given.after.value.trim()) ? Number(given.after.value) : given.after.value }),
      then: again,
    });
  return [
    record.status === "active" ? button(t("Send a test"), test, "act-test") : null,
    button(t("Tell it again"), replay, "act-replay"),
    button(t("New secret"), rotate, "act-rotate", "grave-text"),
  ];
}

/** What may be done with a record beside what all may be. */
export const deeds = (segment, record, again) =>
  ({ businesses: ofCompany, parties: ofParty, webhooks: ofWebhook })[segment]?.(record, again).filter(Boolean) ?? [];

/** Each attempt of the last thirty days, and how to send it once more. */
export async function deliveries(record, again) {
  const told = await get(`/webhooks/${record.id}/deliveries`, { pageSize: 50 });
  const oneMore = (one) => post(`/webhooks/${record.id}/redeliver`, { deliveryId: one.id }).then(again).catch(fault);
  const answer = (one) => [one.responseStatus ? String(one.responseStatus) : null, one.ms ? `${one.ms} ms` : null, one.problem].filter(Boolean).join(" · ");
  const row = (one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, one.type),
      h("td", { "data-label": label("status") }, one.status === "failed" ? h("span", { class: "badge late" }, word(one.status)) : badge(one.status)),
      h("td", { "data-label": t("Attempt") }, String(one.attempt)),
      h("td", { class: "nowrap", "data-label": label("at") }, time(one.at)),
      h("td", { "data-label": t("Answer") }, answer(one)),
      h("td", { class: "figure" }, may("webhook.edit") ? h("button", { type: "button", onclick: () => oneMore(one) }, t("Send again")) : null),
    );
  const heads = [t("Event"), label("status"), t("Attempt"), label("at"), t("Answer")];
  const table = h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "list" },
      h("caption", { class: "unseen" }, t("Deliveries")),
      h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)), h("th", { scope: "col" }, h("span", { class: "unseen" }, t("Send again"))))),
      h("tbody", {}, told.items.map(row)),
    ),
  );
  const next = told.nextAttemptAt ? h("p", { class: "quiet small" }, t("It is tried again at {time}.", { time: time(told.nextAttemptAt) })) : null;
  const place = section(t("Deliveries"), told.items.length > 0 ? table : empty(t("It was told nothing in the last thirty days.")), next);
  place.id = "deliveries";
  return place;
}

export { field, question };

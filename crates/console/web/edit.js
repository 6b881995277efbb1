// Writing a record: the form, what it comes to while it is written, and what the server says of it.

import { Refused, ask, company, list, newKey } from "./api.js";
import { draftsNote } from "./closing.js";
import { unitOf } from "./currencies.js";
import { Decimal, write } from "./decimal.js";
import { copy, dialog, explain, fault, tell } from "./dialog.js";
import { dropDraft, isKept, keepDraft, keptDraft } from "./drafts.js";
import { h, later, replace } from "./dom.js";
import { Form } from "./form.js";
import { amount, date, money, percent, time, today } from "./format.js";
import { currency, knowCompanies, may, noun } from "./frame.js";
import { merge } from "./merge.js";
import { called, remember } from "./names.js";
import { onHand } from "./on-hand.js";
import { heading, perAccount, postings, trailTo, waiting } from "./parts.js";
import { RESOURCES } from "./resources.js";
import { go, here, onLeave, path } from "./route.js";
import { bodyOf } from "./schema.js";
import { settling } from "./settling.js";
import { sides } from "./sides.js";
import { daysOf, lockInForce, sure } from "./sure.js";
import { label, t, word } from "./texts.js";

/** What is shown once and never again. */
const SECRETS = ["invitationCode", "secret"];

/** A few names of a body that the form does not ask for: who writes by hand has buttons for them, or no use. */
const HIDDEN = ["status", "allocations", "externalId", "systemAccounts", "chartTemplate", "batchId"];

const partyKind = (known) => (known.customer ? { isCustomer: "true" } : known.supplier ? { isSupplier: "true" } : {});

/** What an item brings along to a line that is still empty. */
function takeItem(form, known, record, line) {
  const cells = form.rows?.[line];
  const put = (name, value) => {
    const cell = cells?.find((one) => one.name === name);
    if (cell && cell.get() === null && value !== null && value !== undefined) cell.set(value);
  };
  // The account of the item before is none of this one's.
  const before = form.rowsOf?.[line]?.record.itemId;
  if (before && before !== record.id) cells?.find((one) => one.name === "accountId")?.set(null);
  put("description", known.supplier ? (record.purchaseDescription ?? record.description) : record.description);
  put("quantity", "1");
  put("unitPrice", known.supplier ? record.purchasePrice : record.salePrice);
  // What is found costs what such things cost now, unless somebody knows better.
  if (form.segment !== "stock-adjustments") put("unitCost", record.purchasePrice);
  put("taxCodeId", known.supplier ? record.purchaseTaxCodeId : record.salesTaxCodeId);
}

/** The tax that the server worked out is not sent back where what it was worked out from has changed. */
function withoutOldTax(body, before) {
  const headSame = ["pricesIncludeTax", "discountPercent", "discountAmount", "currency", "exchangeRate"].every(
    (name) => String(body[name] ?? "") === String(before[name] ?? ""),
  );
  const known = new Map((before.lines ?? []).map((line) => [line.id, line]));
  const same = (line) => {
    const old = known.get(line.id);
    return old && headSame && Object.keys(line).every((name) => write(line[name] ?? null) === write(old[name] ?? null));
  };
  if (Array.isArray(body.lines)) for (const line of body.lines) if ("taxAmount" in line && !same(line)) delete line.taxAmount;
  return body;
}

/** Lines that name no tax, where there are taxes: a free line has none unless somebody chooses it. */
function withoutTax(lines, hasTaxes) {
  const bare = (lines ?? []).flatMap((line, at) => ("taxCodeId" in line && line.taxCodeId === null ? [at + 1] : []));
  if (!hasTaxes || bare.length === 0) return null;
  return h("p", { class: "note small", id: "no-tax" }, t("No tax on line {lines}. Choose a tax code where there is to be tax.", { lines: bare.join(", ") }));
}

export function totals(record, unit) {
  const row = (name, value, isSum) =>
    value === null || value === undefined || (!isSum && value.isZero)
      ? null
      : h("div", { class: isSum ? "sum" : null }, h("dt", {}, name), h("dd", {}, money(value, unit)));
  // What is kept back of the total is in it, and what the other side owes itself is not.
  const taxOf = (one, more = "") => {
    const tax = `${one.name} ${percent(one.rate)}${more}`;
    return row(record.pricesIncludeTax ? t("{tax} contained in it", { tax }) : tax, one.amount);
  };
  const all = record.taxSummary ?? [];
  const taxes = all.filter(({ kind }) => !["withholding", "reverseCharge"].includes(kind)).map((one) => taxOf(one));
  const apart = all.filter(({ kind }) => kind === "reverseCharge").map((one) => taxOf(one, `, ${word(one.kind, "kind", "tax-codes")}`));
  return h(
    "dl",
    { class: "totals" },
    row(t("Subtotal"), record.subtotal),
    row(label("discountTotal"), record.discountTotal && new Decimal(`-${record.discountTotal}`)),
    record.pricesIncludeTax ? null : taxes,
    row(label("roundingAmount"), record.roundingAmount),
    row(t("Total"), record.total ?? record.amount ?? record.totalDebit ?? record.totalValue ?? record.unrealisedGain, true),
    record.pricesIncludeTax ? taxes : null,
    row(label("withheldTotal"), record.withheldTotal),
    apart,
    row(label("unallocatedAmount"), record.unallocatedAmount),
  );
}

/** Whether there is any record of a resource, as far as the reader may see. */
const there = async (segment) =>
  may(`${noun(segment)}.view`) && (await list(segment, { pageSize: 1, fields: "id" }, { quiet: true })).items.length > 0;

/** `taken` is a draft of this form that was kept, where the reader goes on with it. */
export async function editView(main, segment, id, taken = null) {
  const known = RESOURCES[segment];
  replace(main, waiting());
  const isNew = id === null;
  const [schema, found, inForce, hasTaxes] = await Promise.all([
    bodyOf(`${known.stem}${isNew ? "Create" : "Update"}`),
    isNew ? null : ask("GET", `/${segment}/${id}`),
    segment === "locks" ? lockInForce() : null,
    // Documents with lines of goods are taxed where the company knows taxes.
    known.customer || known.supplier ? there("tax-codes") : false,
  ]);
  if (schema === null)
    return void replace(main, heading(label(known.stem)), h("p", {}, t("This cannot be changed; what is there stays.")));
  const before = found?.data ?? null;
  let etag = taken ? taken.etag : (found?.etag ?? null);
  const { targetId, settled, ...given } = here().query;
  const start = before ?? {
    ...(known.isDocument ? { date: today() } : {}),
    ...known.start,
    // Whoever is invited comes into this company, unless another is chosen.
    ...(segment === "users" ? { memberships: [{ businessId: company() }] } : {}),
    // A new lock takes the place of the one before: what is to stay locked stands in it already.
    ...(inForce ? daysOf(inForce) : {}),
    ...(segment === "businesses" ? {} : given),
    // What is locked already stays so, whatever the address says.
    ...(inForce?.lockDate > given.lockDate ? { lockDate: inForce.lockDate } : {}),
  };
  if (isNew && typeof start.amount === "string") start.amount = amount(start.amount);
  const hint =
    segment === "locks" && isNew
      ? [
          t("To close a month, post or delete its drafts, then prove the books, then lock everything until its last day. After that nothing is booked in it any more, and its reports stay as they are."),
          " ",
          h("a", { href: path("proof") }, t("Prove the books")),
        ]
      : null;
  /** Whoever comes to close a month brings its last day along. */
  const closes = segment === "locks" && isNew && Boolean(given.lockDate);
  const title = closes ? t("Close the books") : isNew ? t("New: {what}", { what: label(noun(segment), "one") }) : t("Edit {what}", { what: called(before, segment) });
  const preview = h("aside", { class: "card preview", "aria-label": t("What it comes to") });
  let turn = 0;
  let stopping = null;
  const isDraft = isNew || before.status === "draft";

  const told = {
    schema,
    segment,
    isNew,
    main: known.main ?? [],
    lineField: known.lineField ?? "lines",
    lineColumns: known.lines ?? [],
    linesTitle: known.linesTitle,
    comesTo: known.comesTo,
    usual: known.usual,
    firstLines: known.firstLines,
    hidden: known.hidden ? [...HIDDEN, ...known.hidden] : known.isDocument ? HIDDEN : HIDDEN.filter((name) => name !== "status"),
    narrow: (name, isInLine) =>
      name === "partyId"
        ? partyKind(known)
        : name === "accountId" && known.allocates && !isInLine
          ? { type: "bank,cash,creditCard" }
          : name === "itemId" && segment === "stock-adjustments"
            ? { type: "stock" }
            : {},
  };
  const form = new Form({
    ...told,
    value: { ...start, ...taken?.body },
    chosen: (name, record, line) => name === "itemId" && takeItem(form, known, record, line),
    changed: () => {
      stock?.draw();
      settle?.draw();
      both?.show(form.read());
      drafts?.show(form.read());
      look();
      keep();
    },
  });
  /** What there was when the writing began. */
  const opened = taken?.was ?? form.read();
  if (taken) form.isDirty = true;
  const keepNow = () => form.isDirty && keepDraft(segment, id, { body: form.read(), etag, was: opened });
  const keep = later(400, keepNow);
  const both = segment === "journals" ? sides() : null;
  const drafts = segment === "locks" && isNew ? draftsNote() : null;
  const stock = segment === "stock-adjustments" && isDraft && may("report.view") ? onHand(form) : null;
  const settle =
    known.allocates && isNew ? settling(form, targetId ? { targetId, amount: start.amount } : null, () => look()) : null;

  const dressed = (fields, status, than = before ?? {}) => {
    const body = withoutOldTax(fields, than);
    if (known.isDocument && status) body.status = status;
    else if (known.isDocument && before?.status) body.status = before.status;
    const allocations = settle?.read() ?? [];
    if (allocations.length > 0) body.allocations = allocations;
    return body;
  };
  const read = (status) => dressed(form.read(), status);
  const method = isNew ? "POST" : "PUT";
  const address = isNew ? `/${segment}` : `/${segment}/${id}`;

  /** What the server would make of it; an older answer never stands over a newer one. */
  const rehearse = async () => {
    const mine = ++turn;
    stopping?.abort();
    const lacks = (schema.required ?? []).filter(
      (name) => [null, undefined].includes(form.read()[name]) || form.read()[name].length === 0,
    );
    if (lacks.length > 0) form.showSums?.([]);
    if (lacks.length > 0)
      return void replace(
        preview,
        h("h2", {}, t("What it comes to")),
        h("p", { class: "quiet" }, t("Still to be filled in: {fields}", { fields: lacks.map((one) => label(one, segment)).join(", ") })),
      );
    const unchosen = form.unchosen().filter((one) => one.input !== document.activeElement);
    if (unchosen.length > 0) {
      form.showSums?.([]);
      const fields = unchosen.map((one) => label(one.name, segment)).join(", ");
      return void replace(preview, h("h2", {}, t("What it comes to")), h("p", { class: "quiet" }, t("To be mended: {fields}", { fields })));
    }
    stopping = new AbortController();
    try {
      const { data } = await ask(method, address, {
        query: { dryRun: "true" },
        body: read(isDraft ? "posted" : null),
        signal: stopping.signal,
        as: "rehearsal",
      });
      if (mine !== turn) return;
      const unit = data.currency ?? currency();
      form.showSums?.(data.lines, unitOf(known.comesTo ?? "amount", data));
      replace(
        preview,
        h("h2", {}, t("What it comes to")),
        totals(data, unit),
        data.dueDate ? h("p", { class: "quiet" }, t("Due on {date}", { date: date(data.dueDate) })) : null,
        withoutTax(data.lines, hasTaxes),
        data.postings?.length > 0
          ? [h("h3", {}, t("This will book")), postings(perAccount(data.postings), currency(), t("This will book"))]
          : h("p", { class: "quiet small" }, t("Nothing is booked by it.")),
      );
    } catch (error) {
      if (mine !== turn || error.name === "AbortError") return;
      form.showSums?.([]);
      const missing = error instanceof Refused ? Object.keys(error.errors).length : 0;
      replace(
        preview,
        h("h2", {}, t("What it comes to")),
        h(
          "p",
          { class: "quiet" },
          missing > 0
            ? t("To be mended: {fields}", {
                fields: Object.keys(error.errors)
                  .map((one) =>
                    label(
                      one
                        .replace(/\[\d+\]/g, "")
                        .split(".")
                        .at(-1),
                      segment,
                    ),
                  )
                  .filter((one, at, all) => all.indexOf(one) === at)
                  .join(", "),
              })
            : explain(error),
        ),
      );
    }
  };
  const soon = later(250, rehearse);
  const look = () => known.isDocument && soon();

  /** What a change of what is posted already books anew, of the version that is open here. */
  const rebooked = async (body) => {
    if (!known.isDocument || isDraft) return [];
    const headers = etag ? { "If-Match": etag } : {};
    const { data } = await ask(method, address, { query: { dryRun: "true" }, body, headers, quiet: true });
    return data.postings ?? [];
  };

  let key = newKey();
  let said = null;
  const save = async (status, merged = null, than = null) => {
    if (!merged && form.refusesUnchosen(t("Please mend:"))) return;
    for (const one of buttons) one.disabled = true;
    try {
      const body = merged ? dressed(merged, status, than) : read(status);
      if (!(await sure(segment, body, inForce, await rebooked(body)))) return;
      const text = write(body);
      if (said !== null && said !== text) key = newKey();
      said = text;
      const headers = { "Idempotency-Key": key, ...(etag ? { "If-Match": etag } : {}) };
      const { data } = await ask(method, address, { body, headers });
      form.isDirty = false;
      dropDraft(segment, id);
      onLeave(null);
      remember(segment, data);
      if (segment === "businesses") await knowCompanies();
      tell(
        known.isDocument
          ? t("{what} is saved: {status}.", { what: called(data, segment), status: word(data.status, segment) })
          : t("{what} is saved.", { what: called(data, segment) }),
      );
      go(segment === "businesses" && isNew ? `/c/${data.id}` : path(segment, data.id), { asks: false });
      showOnce(data);
    } catch (error) {
      if (error instanceof Refused && error.status === 412) await outrun(status).catch(fault);
      else if (error instanceof Refused && Object.keys(error.errors).length > 0)
        form.showErrors(error.errors, t("Please mend:"));
      else if (error instanceof Refused) form.showErrors({}, explain(error));
      else fault(error);
    } finally {
      for (const one of buttons) one.disabled = false;
    }
  };

  /** Somebody else was faster: what each has made of it stands side by side, and the reader decides. */
  const outrun = async (status) => {
    const now = await ask("GET", `/${segment}/${id}`);
    merge({
      names: Object.keys(schema.properties).filter((name) => name !== "status"),
      was: opened,
      // Read as this form would send it, so that what is alike is alike.
      theirs: new Form({ ...told, value: now.data }).read(),
      mine: form.read(),
      version: now.data.version,
      segment,
      again: () => {
        discard();
        onLeave(null);
        location.reload();
      },
      async save(body) {
        etag = now.etag;
        await save(status, body, now.data);
      },
    });
  };

  const button = (text, status, isMain, keys) =>
    h(
      "button",
      {
        type: "button",
        class: isMain ? "main" : null,
        id: status ?? "save",
        "aria-keyshortcuts": keys,
        onclick: () => save(status),
      },
      text,
    );
  const buttons =
    known.isDocument && isDraft
      ? [button(postWord(segment), "posted", true, "Control+Enter"), button(t("Save as draft"), "draft", false, "Control+S")]
      : [button(closes ? t("Close the books") : t("Save"), null, true, "Control+Enter")];
  const keys = (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    const at = event.key === "Enter" ? 0 : event.key === "s" ? buttons.length - 1 : -1;
    if (at < 0) return;
    event.preventDefault();
    buttons[at].click();
  };
  /** Whoever leaves finds it again; where nothing may be kept, they are asked. */
  const isLost = () => {
    keepNow();
    return form.isDirty === true && !isKept(segment);
  };
  onLeave(
    Object.assign(
      () => {
        if (isLost()) return confirm(t("Leave without saving?"));
        if (form.isDirty) tell(t("What you typed is kept in this browser. Open the form again to go on with it."));
        return true;
      },
      { isDirty: isLost },
    ),
  );
  const discard = () => {
    form.isDirty = false;
    dropDraft(segment, id);
  };
  const cancel = h("a", { class: "button", id: "cancel", href: isNew ? path(segment) : path(segment, id), onclick: discard }, t("Cancel"));
  const draft = taken ? null : keptDraft(segment, id);
  const offer = draft
    ? h(
        "div",
        { class: "note", id: "kept-draft", role: "status" },
        h("span", {}, t("You began to write this and did not save it: {when}.", { when: time(draft.at) })),
        h("button", { type: "button", class: "main", id: "take-draft", onclick: () => editView(main, segment, id, draft).catch(fault) }, t("Go on with it")),
        h(
          "button",
          {
            type: "button",
            onclick: () => {
              dropDraft(segment, id);
              offer.remove();
            },
          },
          t("Throw it away"),
        ),
      )
    : null;
  replace(
    main,
    heading(title, { trail: trailTo(segment), under: hint }),
    offer,
    h(
      "form",
      {
        class: known.isDocument ? "edit" : "edit narrow",
        novalidate: true,
        autocomplete: "off",
        onsubmit: (event) => event.preventDefault(),
        onkeydown: keys,
      },
      h(
        "div",
        { class: "edit-main" },
        form.wrong,
        drafts?.element,
        h("section", { class: "card" }, form.head),
        settle?.place,
        form.lines ? h("section", { class: "card" }, form.lines, both?.element) : null,
        form.more ? h("section", { class: "card" }, form.more) : null,
        h("div", { class: "buttons" }, buttons, cancel),
      ),
      known.isDocument ? preview : null,
    ),
  );
  if (isNew) form.head.querySelector("input, select")?.focus({ preventScroll: true });
  both?.show(form.read());
  drafts?.show(form.read());
  stock?.draw();
  await settle?.draw();
  if (known.isDocument) rehearse();
}

const CONFIRM = { "sales-orders": "Confirm the order", "purchase-orders": "Confirm the purchase order" };
const postWord = (segment) => t(CONFIRM[segment] ?? "Post");

/** Codes and keys that are shown now and never again. */
export function showOnce(record) {
  const secrets = SECRETS.filter((name) => record?.[name]);
  if (secrets.length === 0) return;
  dialog({
    title: t("Shown only now"),
    cancel: t("I have kept it"),
    body: [
      h(
        "p",
        {},
        record.invitationCode
          ? t("Give this code to {name}. They enter it at {address} under “{invited}”; who has an account already does so on the page of their account, under “{again}”. It is not shown again.", {
              name: record.displayName ?? record.email,
              address: location.origin,
              invited: t("I was invited and have no account yet"),
              again: t("I was invited"),
            })
          : t("Keep this in a safe place. It is not shown again."),
      ),
      secrets.map((name) => [
        h("p", {}, h("strong", {}, label(name)), h("br"), h("code", { class: "secret" }, record[name])),
        h("p", {}, h("button", { type: "button", onclick: () => copy(record[name]) }, t("Copy"))),
      ]),
    ],
  });
}

// A form made of what a body has in the API's document. Each field knows its path, so that each fault finds its field.

import { decimalsOf, unitOf } from "./currencies.js";
import { Decimal } from "./decimal.js";
import { fresh, h, icon } from "./dom.js";
import { eventTypes } from "./event-types.js";
import { amount, money, typed, typedMoney } from "./format.js";
import { may } from "./frame.js";
import { picker } from "./picker.js";
import { refusal } from "./refusals.js";
import { leadsTo } from "./resources.js";
import { about, label, t, word } from "./texts.js";

/** A control for a value: its element, what to label, and how its value is read and written. */
function control(name, schema, value, form, id) {
  const changed = () => form.changed();
  const leads = schema.type === "string" && !schema.enum ? leadsTo(name, form.segment) : null;
  if (leads)
    return {
      ...picker({
        segment: leads,
        id,
        name,
        value,
        narrow: form.narrow?.(name, form.isTight(id)) ?? {},
        onchange: changed,
        chosen: (record) => form.chosen?.(name, record, form.lineOf(id)),
      }),
      isPicker: true,
    };
  if (schema.enum) {
    const none =
      schema.nullable || value === undefined
        ? [h("option", { value: "" }, schema.nullable ? t("(as usual)") : t("(choose)"))]
        : [];
    const input = h(
      "select",
      { id, name, onchange: changed },
      none,
      schema.enum.map((one) => h("option", { value: one, selected: one === value }, word(one, name, form.segment))),
    );
    if (value === undefined || value === null) input.value = none.length > 0 ? "" : schema.enum[0];
    return { element: input, input, get: () => input.value || null, set: (next) => (input.value = next ?? "") };
  }
  if (schema.type === "boolean") {
    const input = h(
      "select",
      { id, name, onchange: changed },
      h("option", { value: "" }, t("(as usual)")),
      h("option", { value: "true" }, t("Yes")),
      h("option", { value: "false" }, t("No")),
    );
    input.value = value === null || value === undefined ? "" : String(value);
    return {
      element: input,
      input,
      get: () => (input.value === "" ? null : input.value === "true"),
      set: (next) => (input.value = next === null ? "" : String(next)),
    };
  }
  if (schema.type === "number" || schema.type === "integer") {
    const least = schema.type === "number" ? decimalsOf(name) : null;
    const written = (one) => (least === null ? typed(one) : typedMoney(one, unitOf(name, form.value), least));
    const input = h("input", {
      id,
      name,
      type: "text",
      inputmode: schema.type === "number" ? "decimal" : "numeric",
      autocomplete: "off",
      class: "amount",
      value: written(value),
      oninput: changed,
    });
    const read = () =>
      schema.type === "number"
        ? amount(input.value)
        : input.value.trim() === ""
          ? null
          : /^-?\d+$/.test(input.value.trim())
            ? new Decimal(input.value.trim())
            : input.value;
    return { element: input, input, get: read, set: (next) => (input.value = written(next)) };
  }
  if (schema.format === "date-time") {
    const input = h("input", { id, name, type: "datetime-local", value: value ? local(value) : "", oninput: changed });
    return {
      element: input,
      input,
      get: () => (input.value ? new Date(input.value).toISOString() : null),
      set: (next) => (input.value = next ? local(next) : ""),
    };
  }
  const type = { date: "date", password: "password" }[schema.format] ?? (/email/i.test(name) ? "email" : "text");
  const isLong = (schema.maxLength ?? 0) >= 1000 && !form.isTight(id) && name !== "url";
  const input = isLong
    ? h("textarea", { id, name, rows: 2, oninput: changed }, value ?? "")
    : h("input", {
        id,
        name,
        type,
        autocomplete: type === "password" ? "new-password" : "off",
        value: value ?? "",
        oninput: changed,
      });
  return {
    element: input,
    input,
    get: () => (input.value.trim() === "" ? null : input.value),
    set: (next) => (input.value = next ?? ""),
  };
}

const local = (text) => new Date(Date.parse(text) - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** Several words out of a few, or texts of one's own. */
function several(name, schema, value, form, id) {
  if (schema.items.enum) {
    const chosen = new Set(value ?? []);
    const boxes = schema.items.enum.map((one) =>
      h(
        "label",
        { class: "check" },
        h("input", { type: "checkbox", value: one, checked: chosen.has(one), onchange: () => form.changed() }),
        word(one, name, form.segment),
      ),
    );
    const element = h("div", { class: "checks", id, role: "group", tabindex: "-1", "aria-label": label(name, form.segment) }, boxes);
    return {
      element,
      input: element,
      get: () => boxes.map((box) => box.firstChild).filter((box) => box.checked).map((box) => box.value),
      set: (next) => boxes.forEach(({ firstChild: box }) => (box.checked = next.includes(box.value))),
    };
  }
  const input = h("input", {
    id,
    name,
    type: "text",
    value: (value ?? []).join(", "),
    oninput: () => form.changed(),
    placeholder: t("Separated by commas"),
  });
  const isOfEvents = name === "types" && form.segment === "webhooks";
  return {
    element: isOfEvents ? h("div", {}, input, eventTypes(input, () => form.changed())) : input,
    input,
    get: () =>
      input.value
        .split(",")
        .map((one) => one.trim())
        .filter(Boolean),
  };
}

export class Form {
  /** `value` is a record that is there, or what a new one begins with. */
  constructor({
    schema,
    value = {},
    segment = null,
    main = [],
    lineField = "lines",
    lineColumns = [],
    hidden = [],
    narrow,
    chosen,
    changed,
    isNew,
    linesTitle,
    comesTo = null,
    usual = [],
    firstLines = 1,
  }) {
    Object.assign(this, { schema, segment, main, narrow, chosen, lineField, lineColumns, isNew, linesTitle, comesTo, usual });
    /** How many empty lines a new document begins with. */
    this.firstLines = isNew ? firstLines : 0;
    this.value = value;
    this.tell = changed;
    this.fields = new Map();
    this.tight = new Set();
    this.wrong = h("div", { class: "wrong", role: "alert", tabindex: "-1", hidden: true });
    const names = Object.keys(schema.properties).filter((name) => !hidden.includes(name) && name !== lineField);
    const first = main.filter((name) => names.includes(name));
    const required = names.filter((name) => (schema.required ?? []).includes(name) && !first.includes(name));
    const rest = names.filter((name) => !first.includes(name) && !required.includes(name));
    const drawn = (some) => h("div", { class: "fields" }, some.map((name) => this.field(name, name, schema.properties[name], value[name])));
    this.head = drawn([...first, ...required]);
    this.lines = schema.properties[lineField]?.items?.properties
      ? this.grid(lineField, schema.properties[lineField], value[lineField])
      : null;
    this.more = rest.length > 0 ? h("details", { class: "more" }, h("summary", {}, t("More fields")), drawn(rest)) : null;
  }

  changed() {
    this.isDirty = true;
    this.tell?.();
  }

  isTight(id) {
    return this.tight.has(id);
  }

  /** Which line a control is in. */
  lineOf(id) {
    return this.rows?.findIndex((row) => row.some((cell) => cell.id === id)) ?? -1;
  }

  /** A field with its label, its help and the place for its fault. */
  field(path, name, schema, value, isInGrid = false) {
    if (schema.type === "object" && schema.properties) return this.group(path, name, schema, value);
    if (schema.type === "array" && schema.items.properties) return this.grid(path, schema, value, label(name, this.segment));
    const id = fresh(name);
    if (isInGrid) this.tight.add(id);
    const made = schema.type === "array" ? several(name, schema, value, this, id) : control(name, schema, value, this, id);
    const fault = h("span", { class: "fault", id: `${id}-fault`, hidden: true });
    this.fields.set(path, { ...made, id, fault, name, schema });
    const isRequired = !isInGrid && path === name && (this.schema.required ?? []).includes(name);
    if (isRequired) made.input.setAttribute("aria-required", "true");
    if (schema.description && !isInGrid) made.input.title = about(schema.description);
    if (isInGrid) {
      made.input.setAttribute("aria-label", label(name, this.segment));
      return h("td", { class: schema.type === "number" ? "figure" : null, "data-label": label(name, this.segment) }, made.element, fault);
    }
    const wide = made.element.tagName === "TEXTAREA" || made.element.className === "checks";
    return h(
      "div",
      { class: wide ? "field wide" : "field" },
      h("label", { for: id }, label(name, this.segment), isRequired ? h("span", { class: "must", "aria-hidden": "true" }, " *") : null),
      made.element,
      fault,
    );
  }

  group(path, name, schema, value) {
    const inner = Object.entries(schema.properties).map(([field, one]) =>
      this.field(`${path}.${field}`, field, one, value?.[field]),
    );
    const isFilled = Object.values(value ?? {}).some((one) => one !== null);
    this.fields.set(path, {
      isGroup: true,
      get: () => this.collect(`${path}.`, Object.keys(schema.properties), value),
      fault: null,
    });
    return h(
      "details",
      { class: "group wide", open: isFilled && !this.isNew },
      h("summary", {}, label(name, this.segment)),
      h("div", { class: "fields" }, inner),
    );
  }

  /** Rows of a list: each with its columns, and the rest of its fields kept as they were. */
  grid(path, schema, value, title) {
    const inner = schema.items.properties;
    const isMain = path === this.lineField;
    const simple = (name) =>
      !inner[name].properties && !(inner[name].type === "array" && inner[name].items.properties) && name !== "id";
    const columns =
      isMain && this.lineColumns.length > 0
        ? this.lineColumns.filter((name) => inner[name])
        : Object.keys(inner).filter(simple).slice(0, 8);
    const body = h("tbody");
    const rows = [];
    const hasSums = isMain && this.comesTo !== null;
    const add = (record, focus) => {
      const row = { record: record ?? {}, cells: [], key: fresh("row") };
      const cells = columns.map((name) => {
        const key = `${row.key}.${name}`;
        const cell = this.field(key, name, inner[name], row.record[name], true);
        if (isMain && this.usual.includes(name)) this.fields.get(key).input.placeholder = t("(as usual)");
        row.cells.push({ name, ...this.fields.get(key) });
        return cell;
      });
      const remove = h(
        "button",
        {
          type: "button",
          class: "plain",
          "aria-label": t("Remove this line"),
          onclick: () => {
            rows.splice(rows.indexOf(row), 1);
            element.remove();
            this.changed();
          },
        },
        icon("close"),
      );
      row.comes = hasSums ? h("td", { class: "figure comes", "data-label": label(this.comesTo) }) : null;
      const element = h("tr", {}, cells, row.comes, h("td", { class: "act" }, remove));
      rows.push(row);
      body.append(element);
      if (focus) row.cells[0].input.focus();
      return row;
    };
    for (const record of value ?? []) add(record);
    if (isMain) {
      this.rowsOf = rows;
      Object.defineProperty(this, "rows", { get: () => rows.map((row) => row.cells), configurable: true });
      while (rows.length < this.firstLines) add();
    } else if (this.isNew && rows.length === 0 && this.main.includes(path)) add();
    const said = (row) => {
      const record = {};
      for (const [name, kept] of Object.entries(row.record)) if (inner[name]) record[name] = kept;
      for (const cell of row.cells) {
        const next = cell.get();
        if (next !== null || cell.name in row.record) record[cell.name] = next;
      }
      return Object.fromEntries(Object.entries(record).filter(([key, one]) => one !== null || row.record[key] !== undefined));
    };
    const isSaid = (record) => Object.values(record).some((one) => one !== null && !(Array.isArray(one) && one.length === 0));
    const read = () => rows.map(said).filter(isSaid);
    if (hasSums)
      this.showSums = (lines, unit) => {
        const sums = lines.map((line) => line[this.comesTo]);
        for (const row of rows) row.comes.textContent = isSaid(said(row)) ? money(sums.shift(), unit) : "";
      };
    const fault = h("span", { class: "fault", id: fresh("grid"), hidden: true });
    const button = h(
      "button",
      { type: "button", class: "add", id: fresh("add"), onclick: () => add(null, true) },
      icon("plus"),
      t("Add a line"),
    );
    // A key that only reads has a line for each resource: they are put there at once, beside what stands there already.
    const readAll = () => {
      const there = read().map((one) => one.resource);
      for (const one of inner.resource.enum.filter((one) => !there.includes(one) && may(`${one}.view`))) {
        const { cells } = rows.find((row) => !isSaid(said(row))) ?? add({});
        cells[0].set(one);
        cells[1].set(["view"]);
      }
      this.changed();
    };
    const preset = path === "scopes" ? h("button", { type: "button", class: "add", id: "read-all", onclick: readAll }, t("May read everything")) : null;
    const numeric = (column) => inner[column].type === "number";
    /** Enter goes on to the next line; after the last one, a new line begins. */
    const enter = (event) => {
      if (event.key !== "Enter" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.target.tagName !== "INPUT") return;
      event.preventDefault();
      const next = event.target.closest("tr").nextElementSibling;
      if (next) next.querySelector("input, select").focus();
      else add(null, true);
    };
    const table = h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "grid", onkeydown: enter },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            columns.map((column) =>
              h("th", { scope: "col", class: numeric(column) ? "figure" : null, "data-column": column }, label(column, this.segment)),
            ),
            hasSums ? h("th", { scope: "col", class: "figure" }, label(this.comesTo)) : null,
            h("th", { scope: "col" }, h("span", { class: "unseen" }, t("Remove"))),
          ),
        ),
        body,
      ),
    );
    /** Where lines are mended that are wrong as a whole, such as that they do not balance: at an amount, where there is one. */
    const mended = () => {
      const amounts = rows.flatMap((row) => row.cells).filter((cell) => cell.schema.type === "number");
      return (amounts.find((cell) => cell.get() !== null) ?? amounts[0])?.input ?? button;
    };
    this.fields.set(path, { isGrid: true, rows, get: read, fault, get input() { return mended(); }, id: button.id, add });
    return h(
      "fieldset",
      { class: title ? "lines wide" : "lines" },
      h("legend", {}, title ?? t(this.linesTitle ?? "Lines")),
      table,
      button,
      preset ? [" ", preset] : null,
      fault,
    );
  }

  /** What was typed where something is to be chosen, and is not called so: it is said there, and nothing is saved. */
  refusesUnchosen(title) {
    const all = this.unchosen();
    if (all.length === 0) return false;
    this.clear();
    const path = (one) => (this.lineOf(one.id) < 0 ? one.name : `lines[${this.lineOf(one.id)}].${one.name}`);
    this.tellOf(title, all.map((one) => this.entry(path(one), one, one.say())));
    all[0].input.focus();
    return true;
  }

  unchosen() {
    return [...this.fields.values()].filter((one) => one.isUnchosen?.() && one.input.isConnected);
  }

  collect(prefix, names, before) {
    const record = {};
    for (const name of names) {
      const field = this.fields.get(`${prefix}${name}`);
      if (!field) continue;
      const next = field.get();
      if (next !== null || (before && before[name] !== undefined)) record[name] = next;
    }
    return Object.values(record).every((one) => one === null) ? null : record;
  }

  /** The body, as it would be sent: a new record leaves out what was left empty. */
  read() {
    const body = {};
    for (const name of Object.keys(this.schema.properties)) {
      const field = this.fields.get(name);
      const next = field ? field.get() : (this.value[name] ?? null);
      const isEmpty = next === null || next === undefined || (Array.isArray(next) && next.length === 0);
      if (!isEmpty || (!this.isNew && this.value[name] !== undefined)) body[name] = next;
    }
    return body;
  }

  find(path) {
    const match = path.match(/^(\w+)\[(\d+)\](?:\.(.+))?$/);
    if (!match) return this.fields.get(path) ?? null;
    const grid = this.fields.get(match[1]);
    const row =
      grid?.rows?.filter((one) => one.cells.some((cell) => cell.get() !== null) || Object.keys(one.record).length > 0)[
        Number(match[2])
      ] ?? grid?.rows?.[Number(match[2])];
    return row?.cells.find((cell) => cell.name === match[3]) ?? grid ?? null;
  }

  clear() {
    this.wrong.hidden = true;
    for (const field of this.fields.values()) {
      if (!field.fault) continue;
      field.fault.hidden = true;
      field.input?.removeAttribute("aria-invalid");
      field.input?.removeAttribute("aria-describedby");
    }
  }

  /** A fault in words, and a way to its field. */
  entry(path, field, text) {
    const name = path.replace(
      /^(\w+)\[(\d+)\]\.?(\w*).*$/,
      (_, grid, row, inner) => `${field?.title ?? t("Line {number}", { number: Number(row) + 1 })}${inner ? `: ${label(inner, this.segment)}` : ""}`,
    );
    const said = `${name === path ? label(path.split(".").at(-1), this.segment) : name}: ${text}`;
    const lead = (event) => {
      event.preventDefault();
      field.input.focus();
    };
    return h("li", {}, field?.id ? h("a", { href: `#${field.id}`, onclick: lead }, said) : said);
  }

  tellOf(title, listed) {
    this.wrong.replaceChildren(h("strong", {}, title), h("ul", {}, listed));
    this.wrong.hidden = false;
  }

  /** Each fault at its field, and all of them above, each a way to its field. */
  showErrors(errors, title) {
    this.clear();
    const listed = Object.entries(errors).map(([path, messages]) => {
      const field = this.find(path);
      const text = messages.map(refusal).join("; ");
      if (field?.fault) {
        field.fault.textContent = text;
        field.fault.hidden = false;
        // Of lines as a whole no single field is wrong: it stands below them until one is changed.
        const place = field.isGrid ? field.fault.parentElement : field.input;
        if (!field.isGrid) field.input.setAttribute("aria-invalid", "true");
        const mended = () => {
          field.fault.hidden = true;
          field.input.removeAttribute("aria-invalid");
        };
        for (const change of ["input", "change"]) place.addEventListener(change, mended, { once: true });
        if (!field.isGrid || !field.input.hasAttribute("aria-describedby")) field.input.setAttribute("aria-describedby", field.fault.id);
        for (let above = field.input.closest("details"); above; above = above.parentElement.closest("details")) above.open = true;
      }
      return this.entry(path, field, text);
    });
    this.tellOf(title, listed);
    // The first on the page, in whatever order they were told.
    const marked = Object.keys(errors).flatMap((path) => this.find(path)?.input ?? []);
    const isBefore = (one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
    const [first] = marked.toSorted((one, other) => (isBefore(one, other) ? -1 : 1));
    (first ?? this.wrong).focus();
  }
}

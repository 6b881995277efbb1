// The API's own document: what can be asked, what a body has, which words a field takes.

import { own, setup } from "./setup.js";

const documents = new Map();

async function document(dialect) {
  if (!documents.has(dialect.letter)) {
    const asked = fetch(dialect.document).then((answer) =>
      answer.ok ? answer.json() : Promise.reject(new Error(`HTTP ${answer.status}`)),
    );
    documents.set(dialect.letter, asked);
    asked.catch(() => documents.delete(dialect.letter));
  }
  return documents.get(dialect.letter);
}

/** Begins to read it, so that it is there when it is needed. */
export const ahead = () => document(own).catch(() => null);

function find(told, id) {
  for (const [path, methods] of Object.entries(told.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId === id) return { path, method: method.toUpperCase(), ...operation };
    }
  }
  return null;
}

/** What something refers to, or the thing itself. */
function led(told, one) {
  if (!one.$ref) return one;
  const [kind, name] = one.$ref.split("/").slice(-2);
  return told.components[kind][name];
}

/** Whether nothing but null is meant. */
const isNothing = (one) => one.enum?.length === 1 && one.enum[0] === null;

/** A schema as it is, with what it refers to put in its place. */
export function resolved(told, schema) {
  let one = schema;
  if (one.$ref) one = resolved(told, led(told, one));
  if (one.allOf) {
    const [inner] = one.allOf.map((part) => resolved(told, part));
    one = { ...inner, ...one, allOf: undefined, description: one.description ?? inner.description };
  }
  const kept = one.oneOf?.filter((choice) => !isNothing(led(told, choice)));
  if (kept?.length === 1) {
    const inner = resolved(told, kept[0]);
    one = { ...inner, ...one, oneOf: undefined, nullable: true, description: one.description ?? inner.description };
  }
  return one;
}

/** An operation of dialect B by its name, or nothing where this server has none of that name. */
export async function operation(id) {
  return find(await document(own), id);
}

/** What the body of an operation is: its fields, each as it is. */
export async function bodyOf(id) {
  const told = await document(own);
  const found = find(told, id);
  const schema = found?.requestBody?.content["application/json"]?.schema;
  return schema ? whole(told, schema) : null;
}

function whole(told, schema) {
  const one = resolved(told, schema);
  if (one.type === "array") return { ...one, items: whole(told, one.items) };
  if (!one.properties) return one;
  const fields = Object.entries(one.properties).map(([name, field]) => [name, whole(told, field)]);
  return { ...one, properties: Object.fromEntries(fields) };
}

/** What a list can be asked for: the parameters beside paging, each with the words that it takes. */
export async function filtersOf(stem) {
  const told = await document(own);
  const found = find(told, `${stem}List`);
  const parameters = (found?.parameters ?? []).map((one) => led(told, one));
  const known = parameters.filter(
    (one) => one.in === "query" && !["page", "pageSize", "sort", "q"].includes(one.name),
  );
  const filters = known.map((one) => {
    const schema = resolved(told, one.schema);
    const inner = schema.type === "array" ? resolved(told, schema.items) : schema;
    return { name: one.name, about: one.description, type: inner.type, format: inner.format, words: inner.enum ?? null };
  });
  const sort = parameters.find((one) => one.name === "sort");
  const sortable = [...(sort?.description ?? "").matchAll(/`([a-zA-Z]+)`/g)].map((match) => match[1]);
  return { filters, sortable };
}

/** Whether something can be done with a resource at all. */
export const knows = async (id) => find(await document(own), id) !== null;

/** The same request in another dialect: the operation's path and method there. */
export async function twin(method, path, letter) {
  const other = setup.dialects.find((dialect) => dialect.letter === letter);
  if (!other) return null;
  const told = await document(own);
  const parts = path.split("/");
  for (const [known, methods] of Object.entries(told.paths)) {
    const wanted = known.split("/");
    const named = {};
    const fits =
      wanted.length === parts.length &&
      wanted.every((part, at) => part === parts[at] || (part.startsWith("{") && (named[part] = parts[at])));
    const operation = methods[method.toLowerCase()];
    if (!fits || !operation || (known.includes("{") && told.paths[path])) continue;
    const found = find(await document(other), operation.operationId);
    if (!found) return null;
    const there = found.path.replace(/\{\w+\}/g, (part) => named[part] ?? part);
    return { base: other.base, method: found.method, path: there };
  }
  return null;
}

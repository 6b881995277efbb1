// Which document is shown was decided by the server, from an exact list. It is shown a group at a time: a browser takes many
// seconds to lay out all of it.
const EVERYTHING = '*';
const target = document.getElementById('redoc');
const groups = document.getElementById('groups');
const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];

const operationsOf = (path) => METHODS.filter((method) => path[method]).map((method) => path[method]);

/** The group of an operation that the address leads to, else the one that it names, else the first. */
function chosen(whole, names) {
  const sought = decodeURIComponent(location.hash).match(/operation\/([^/]+)/)?.[1];
  const found = Object.values(whole.paths).flatMap(operationsOf).find((one) => sought && one.operationId === sought);
  const named = new URLSearchParams(location.search).get('group');
  if (found) return named === EVERYTHING ? named : found.tags[0];
  const of = decodeURIComponent(location.hash).match(/^#tag\/([^/]+)/)?.[1];
  const tagged = names.find((name) => name.replaceAll(' ', '-') === of);
  return tagged ?? [EVERYTHING, ...names].find((name) => name === named) ?? names[0];
}

/** The document with the operations of a group alone. */
function only(whole, group) {
  if (group === EVERYTHING) return whole;
  const paths = {};
  for (const [path, item] of Object.entries(whole.paths)) {
    const kept = Object.entries(item).filter(([name, one]) => !METHODS.includes(name) || one.tags.includes(group));
    if (kept.some(([name]) => METHODS.includes(name))) paths[path] = Object.fromEntries(kept);
  }
  const { 'x-tagGroups': _, ...rest } = whole;
  return { ...rest, tags: whole.tags.filter((tag) => tag.name === group), paths };
}

async function show() {
  const answer = await fetch(target.dataset.document);
  if (!answer.ok) throw new Error(`The document was answered with ${answer.status}`);
  const whole = await answer.json();
  const names = whole.tags.map((tag) => tag.name);
  const group = chosen(whole, names);
  for (const name of [...names, EVERYTHING]) {
    const text = name === EVERYTHING ? 'Everything (takes a while)' : name;
    groups.append(new Option(text, name, false, name === group));
  }
  groups.addEventListener('change', () => {
    const query = new URLSearchParams({ url: target.dataset.document, group: groups.value });
    location.assign(`/redoc/index.html?${query}`);
  });
  Redoc.init(only(whole, group), { sanitize: true, hideHostname: true }, target);
}

show().catch((problem) => {
  target.textContent = `${problem.message}. Reload the page to try again.`;
});

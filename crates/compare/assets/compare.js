// The compare page, behind its German. Everything that is shown is put in as text; the server does the comparing.

const $ = (id) => document.getElementById(id);
const API = '/compare/api/';
const SAVED = 'duet-compare-saved';
const KEPT = 'duet-compare-token';
const state = { token: null, operations: [], sides: [] };

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child);
  return element;
}

async function ask(path, body) {
  const headers = { 'Content-Type': 'application/json' };
  if (state.token) headers.Authorization = 'Bearer ' + state.token;
  let answer;
  try {
    answer = await fetch(API + path, { method: 'POST', headers, body: JSON.stringify(body || {}) });
  } catch (error) {
    throw new Error(t('the server does not answer'));
  }
  const said = await answer.json();
  if (answer.ok) return said;
  if (answer.status === 401 && path !== 'sign-in' && path !== 'about') signOut(ENDED);
  const fields = Object.entries(said.errors || {}).map(([field, messages]) => field + ' ' + messages.join(', '));
  throw Object.assign(new Error([said.title, ...fields].join(': ')), { status: answer.status });
}

function trouble(id, error) {
  $(id).textContent = error ? error.message || String(error) : '';
  $(id).hidden = !error;
}

// Signing in and out

const ENDED = t('Your session has ended; sign in again.');

// Who is signed in to the console in this tab is so here as well; the session ends there.
function ofConsole() {
  try { return JSON.parse(sessionStorage.getItem('duet.session')).token || null; } catch (error) { return null; }
}

// By the console's session, else by the one that was begun here.
async function begin() {
  let why = null;
  for (const token of [ofConsole(), sessionStorage.getItem(KEPT)].filter(Boolean)) {
    state.token = token;
    try {
      return await enter();
    } catch (error) {
      why = error.status === 401 ? ENDED : error;
    }
  }
  state.token = null;
  show();
  trouble('sign-in-trouble', why);
}

async function signIn(event) {
  event.preventDefault();
  trouble('sign-in-trouble');
  try {
    const body = { login: $('login').value, password: $('password').value };
    if ($('totp').value) body.totpCode = $('totp').value;
    state.token = (await ask('sign-in', body)).token;
    sessionStorage.setItem(KEPT, state.token);
    $('password').value = $('totp').value = '';
    await enter();
  } catch (error) {
    trouble('sign-in-trouble', error);
  }
}

function signOut(why) {
  // The session ends with it, whoever may have seen the token.
  if (state.token && !why) ask('sign-out').catch(() => {});
  state.token = null;
  sessionStorage.removeItem(KEPT);
  show();
  trouble('sign-in-trouble', why);
}

// `Dialect A` in the reader's language.
const named = (name) => (name.startsWith('Dialect ') ? t('Dialect {letter}', { letter: name.slice('Dialect '.length) }) : name);

async function enter() {
  const about = await ask('about');
  state.operations = about.operations;
  state.sides = about.sides.map((one) => ({ ...one, name: named(one.name) }));
  // Two sides are both asked; of more, two are chosen.
  for (const [index, id] of ['left', 'right'].entries()) {
    $(id).replaceChildren(...state.sides.map((one, place) => make('option', { value: place, selected: place === index }, one.name)));
  }
  for (const field of document.querySelectorAll('.sides-field')) field.hidden = state.sides.length === 2;
  $('who').textContent = about.user.email;
  $('business').replaceChildren(...about.businesses.map((one) => make('option', { value: one.id }, one.name)));
  $('operations').replaceChildren(...about.operations.map((one) => make('option', { value: one.id }, one.summary)));
  show();
  if (!$('operation').value) choose('partiesList');
  $('operation').focus();
}

// Panels

function show() {
  const signedIn = Boolean(state.token && state.operations.length);
  const panel = ['#list', '#translate'].includes(location.hash) ? location.hash.slice(1) : 'request';
  $('sign-in').hidden = signedIn;
  $('session').hidden = $('tabs').hidden = !signedIn;
  $('own').hidden = state.token === ofConsole();
  for (const name of ['request', 'list', 'translate']) {
    $(name).hidden = !signedIn || name !== panel;
    const link = document.querySelector(`#tabs a[href="#${name}"]`);
    if (name === panel) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (signedIn && panel === 'list') drawList();
  if (!signedIn) $('login').focus();
}

// The form

const chosen = (id) => Number($(id).value);
const between = () => `?between=${chosen('left')},${chosen('right')}`;

const operation = () => state.operations.find((one) => one.id === $('operation').value);

function choose(id, request) {
  $('operation').value = id;
  const known = operation();
  trouble('form-trouble', known ? null : t('There is no operation {name}', { name: id }));
  if (!known) return;
  request = request || {};
  $('about').textContent = `${known.summary}. ${known.writes ? t('Rehearsed: nothing is kept.') : t('Reads.')}`;
  $('id-field').hidden = !known.record;
  $('id').value = request.id || '';
  $('records').replaceChildren();
  if (request.business) $('business').value = request.business;
  const given = request.query || {};
  const parameters = known.query.filter((one) => one.name !== 'dryRun');
  for (const name of Object.keys(given)) {
    if (name !== 'dryRun' && !parameters.some((one) => one.name === name)) parameters.push({ name, description: '', values: [] });
  }
  $('params').replaceChildren(...parameters.map((one) => {
    const value = Array.isArray(given[one.name]) ? given[one.name].join(',') : given[one.name];
    const list = 'values-' + one.name;
    return make('label', { title: one.description }, make('span', {}, one.name),
      make('input', { 'data-query': one.name, value: value || '', list: one.values.length ? list : null,
        placeholder: one.required ? t('required') : null, autocomplete: 'off' }),
      one.values.length ? make('datalist', { id: list }, one.values.map((word) => make('option', { value: word }))) : null);
  }));
  $('query-field').hidden = parameters.length === 0;
  $('query-field').open = Object.keys(given).some((name) => name !== 'dryRun') || parameters.some((one) => one.required);
  $('headers').value = Object.entries(request.headers || {}).map(([name, value]) => `${name}: ${value}`).join('\n');
  $('headers-field').open = Boolean($('headers').value);
  $('body-field').hidden = !known.body;
  const body = request.text !== undefined ? request.text : JSON.stringify(request.body !== undefined ? request.body : known.body, null, 2);
  $('body').value = known.body ? body : '';
  if (known.record && !request.id) offerRecords(known).then(() => suggest(known, request));
  else suggest(known, request);
}

// A body that fits the company and the record, unless there is one already.
async function suggest(known, request) {
  if (!known.body || (request && (request.body !== undefined || request.text !== undefined))) return;
  const before = $('body').value;
  const wanted = { operation: known.id };
  if (known.company) wanted.business = $('business').value;
  if (known.record && $('id').value) wanted.id = $('id').value.trim();
  try {
    const { body } = await ask('example' + between(), wanted);
    if (operation() === known && $('body').value === before && body) $('body').value = JSON.stringify(body, null, 2);
  } catch (error) {
    trouble('form-trouble', error);
  }
}

// Records that an operation can be about, to choose from.
async function offerRecords(known) {
  const list = known.resource + 'List';
  if (!state.operations.some((one) => one.id === list)) return;
  try {
    const found = await ask('run' + between(), { operation: list, business: $('business').value, query: { pageSize: '50' } });
    const [[place]] = places(state.sides[chosen('right')].success, '').filter(([, name]) => name === 'data');
    const data = place.split('.').filter(Boolean).reduce((at, name) => at && at[name], JSON.parse(found.right.answer.body));
    const items = (data && data.items) || [];
    const name = (one) => [one.number, one.code, one.name, one.displayName, one.status].filter(Boolean).join(' · ');
    $('records').replaceChildren(...items.map((one) => make('option', { value: one.id }, name(one))));
    if (operation() === known && !$('id').value && items.length) $('id').value = items[0].id;
  } catch (error) {
    trouble('form-trouble', error);
  }
}

function request() {
  const known = operation();
  if (!known) throw new Error(t('Choose an operation'));
  const said = { operation: known.id };
  if (known.company) said.business = $('business').value;
  if (known.record) said.id = $('id').value.trim();
  const query = {};
  for (const input of $('params').querySelectorAll('[data-query]')) if (input.value !== '') query[input.dataset.query] = input.value;
  if (Object.keys(query).length) said.query = query;
  const headers = {};
  for (const line of $('headers').value.split('\n').filter((line) => line.trim())) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new Error(t('"{line}" is no header: write Name: value', { line }));
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  if (Object.keys(headers).length) said.headers = headers;
  // Sent letter for letter: what is no JSON is to be compared too, and numbers keep their digits.
  if (known.body && $('body').value.trim()) said.text = $('body').value;
  return said;
}

async function send() {
  trouble('form-trouble');
  $('send').disabled = true;
  $('send').textContent = t('Asking both…');
  try {
    const said = request();
    draw(await ask('run' + between(), said), $('result'));
  } catch (error) {
    trouble('form-trouble', error);
  } finally {
    $('send').disabled = false;
    $('send').textContent = t('Ask both');
  }
}

// What came of it

const WORDS = { equal: t('Equal'), declared: t('Equal but for declared differences'), different: t('Different') };
const KINDS = { unanswered: t('not answered'), status: t('status'), onlyLeft: t('only on the left'), onlyRight: t('only on the right'), type: t('type'), value: t('value'), order: t('the same records in another order'), repeated: t('how often it was done'), format: t('format of a number'), form: t('wrapping'), document: t('not as its document says') };
const badge = (verdict) => make('span', { class: 'badge ' + verdict }, WORDS[verdict]);
const text = (value) => {
  const words = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  return words.length > 300 ? words.slice(0, 300) + '…' : words;
};

const told = (count) => (count === 0 ? t('status, body, errors and headers say the same') : count === 1 ? t('1 difference') : t('{count} differences', { count }));

function draw(compared, where) {
  const differences = compared.differences;
  const status = compared.left.answer && compared.right.answer && compared.left.answer.status === compared.right.answer.status ? compared.left.answer.status : null;
  const summary = make('div', { class: 'verdict', id: 'verdict', 'data-verdict': compared.verdict, role: 'status' }, badge(compared.verdict),
    make('span', {}, told(differences.length)),
    status >= 400 ? make('span', {}, t('refused alike with {status}', { status })) : null,
    status < 400 && compared.left.request.method !== 'GET' ? make('span', { class: 'hint' }, t('each side rehearsed for itself: identifiers and moments that it made stand for each other')) : null,
    (compared.noise || []).length ? make('span', { class: 'hint' }, t('moving by themselves, not counted: {names}', { names: compared.noise.join(', ') })) : null);
  const table = differences.length ? make('div', { class: 'wide' }, make('table', { class: 'differences' },
    make('thead', {}, make('tr', {}, [t('path'), t('what'), t('left'), t('right'), t('why')].map((name) => make('th', {}, name)))),
    make('tbody', {}, differences.map((one) => make('tr', {}, make('td', {}, make('code', {}, one.path)), make('td', {}, KINDS[one.kind] || one.kind),
      make('td', {}, make('code', {}, text(one.left))), make('td', {}, make('code', {}, text(one.right))), make('td', {}, one.reason || (one.follows ? t('follows from {path}', { path: one.follows }) : ''))))))) : null;
  where.replaceChildren(summary, ...(table ? [table] : []), make('div', { class: 'pair' }, side(0, compared.left, compared), side(1, compared.right, compared)));
  where.hidden = false;
}

function side(place, exchange, compared) {
  const about = state.sides[chosen(place === 0 ? 'left' : 'right')];
  const answer = exchange.answer;
  const copy = make('button', { type: 'button', class: 'small', onclick: () => copied(copy, exchange.curl) }, t('Copy as curl'));
  const milliseconds = answer ? (answer.micros / 1000).toFixed(1) + ' ms' : '';
  const fault = (name) => compared.differences.find((one) => one.path === 'headers.' + name || one.path.startsWith('headers.' + name + '.'));
  const line = make('h3', {}, about.name, answer ? make('span', { class: 'status' }, String(answer.status)) : null, make('small', {}, milliseconds), copy);
  if (!answer) return make('section', { class: 'side' }, line, make('pre', {}, exchange.failed || t('not asked')));
  return make('section', { class: 'side' }, line, make('pre', { class: 'request' }, `${exchange.request.method} ${exchange.request.target}`),
    make('details', { open: answer.headers.some(([name]) => fault(name)) }, make('summary', { class: 'hint' }, t('Headers')),
      make('pre', { class: 'body' }, answer.headers.map(([name, value]) => make('span', { class: 'line' + (fault(name) ? ' off' : '') }, `${name}: ${value}`)))),
    bodyOf(answer, about, place, compared));
}

// Where what is said stands in a body, by how the dialect wraps it: pairs of a place and a name.
function places(wrapping, place) {
  if (typeof wrapping === 'string') return wrapping.startsWith('$') ? [[place, wrapping.slice(1)]] : [];
  if (!wrapping || typeof wrapping !== 'object') return [];
  return Object.entries(wrapping).flatMap(([name, member]) => places(member, place ? `${place}.${name}` : name));
}

// The body, a line for each member, with those marked that differ.
function bodyOf(answer, about, place, compared) {
  let value;
  try { value = JSON.parse(answer.body, exact); } catch (error) { return make('pre', { class: 'body' }, answer.body || t('(no body)')); }
  const known = places(answer.status < 400 ? about.success : about.failure, '');
  const at = (path) => {
    const found = known.find(([place]) => !place || path === place || path.startsWith(place + '.') || path.startsWith(place + '['));
    if (!found) return path;
    const rest = path.slice(found[0].length);
    return found[1] + (found[0] || !rest || rest.startsWith('[') ? rest : '.' + rest);
  };
  const off = new Map(compared.differences.map((one) => [one.path, one.reason ? 'fair' : 'off']));
  const lines = [];
  const write = (value, path, indent, label, comma) => {
    const mark = off.get(at(path)) || '';
    const line = (words) => lines.push(make('span', { class: ('line ' + mark).trim(), 'data-path': at(path) }, '  '.repeat(indent) + words));
    if (value && typeof value === 'object' && !(value instanceof Digits)) {
      const isList = Array.isArray(value);
      const members = Object.entries(value);
      const [open, close] = isList ? '[]' : '{}';
      if (!members.length) return line(label + open + close + comma);
      line(label + open);
      members.forEach(([name, member], index) => {
        const below = isList ? `${path}[${name}]` : path ? `${path}.${name}` : name;
        write(member, below, indent + 1, isList ? '' : JSON.stringify(name) + ': ', index < members.length - 1 ? ',' : '');
      });
      return line(close + comma);
    }
    line(label + (value instanceof Digits ? value.source : JSON.stringify(value)) + comma);
  };
  write(value, '', 0, '', '');
  return make('pre', { class: 'body' }, lines);
}

// Numbers as they were sent: 10.00 stays 10.00.
class Digits { constructor(source) { this.source = source; } }
function exact(name, value, context) {
  return typeof value === 'number' && context && context.source ? new Digits(context.source) : value;
}

async function copied(button, words) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(words);
    button.textContent = t('Copied');
  } catch (error) {
    // Without the right to the clipboard: shown, and selected.
    const shown = make('pre', {}, words);
    button.closest('section, div').append(shown);
    getSelection().selectAllChildren(shown);
    button.textContent = t('Selected below');
  }
  setTimeout(() => { button.textContent = before; }, 2000);
}

// The saved list

const saved = () => { try { return JSON.parse(localStorage.getItem(SAVED)) || []; } catch (error) { return []; } };
const keep = (list) => localStorage.setItem(SAVED, JSON.stringify(list));
const verdicts = new Map();

function save() {
  trouble('form-trouble');
  try {
    const said = request();
    said.name = $('name').value.trim() || operation().summary;
    keep([...saved(), said]);
    $('name').value = '';
    $('saved').textContent = t('Saved: {count} in the list', { count: saved().length });
  } catch (error) {
    trouble('form-trouble', error);
  }
}

function drawList() {
  const list = saved();
  $('empty').hidden = list.length > 0;
  $('run-all').disabled = $('export').disabled = list.length === 0;
  $('rows').replaceChildren(...list.map((said, index) => make('tr', { 'data-row': index },
    make('td', {}, said.name || '', make('br'), make('code', {}, said.operation)),
    make('td', {}, verdicts.has(index) ? badge(verdicts.get(index).verdict) : ''),
    make('td', { class: 'quiet' }, verdicts.has(index) && verdicts.get(index).left.answer ? String(verdicts.get(index).left.answer.status) : ''),
    make('td', {}, make('button', { type: 'button', class: 'small', onclick: () => open(said, index) }, t('Open')), ' ',
      make('button', { type: 'button', class: 'small', 'aria-label': t('Remove {name}', { name: said.name || said.operation }), onclick: () => { keep(list.filter((_, at) => at !== index)); verdicts.clear(); drawList(); } }, t('Remove'))))));
}

function open(said, index) {
  location.hash = '#request';
  choose(said.operation, said);
  if (verdicts.has(index)) draw(verdicts.get(index), $('result'));
}

async function runAll() {
  const list = saved();
  verdicts.clear();
  trouble('list-trouble');
  $('run-all').disabled = true;
  const counts = { equal: 0, declared: 0, different: 0 };
  try {
    for (const [index, said] of list.entries()) {
      $('batch').textContent = t('Asking {number} of {count}…', { number: index + 1, count: list.length });
      const compared = await ask('run' + between(), said);
      verdicts.set(index, compared);
      counts[compared.verdict] += 1;
      drawList();
    }
    $('batch').textContent = t('{count} asked: {equal} equal, {declared} equal but for declared differences, {different} different', { count: list.length, ...counts });
    $('batch').dataset.different = counts.different;
  } catch (error) {
    trouble('list-trouble', error);
  } finally {
    drawList();
  }
}

function exportList() {
  const lines = saved().map((said) => JSON.stringify(said)).join('\n') + '\n';
  const link = make('a', { href: URL.createObjectURL(new Blob([lines], { type: 'application/x-ndjson' })), download: 'compare.jsonl' });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function importList(event) {
  trouble('list-trouble');
  const file = event.target.files[0];
  if (!file) return;
  try {
    const lines = (await file.text()).split('\n').filter((line) => line.trim() && !line.trim().startsWith('#'));
    const read = lines.map((line, index) => {
      let said;
      try { said = JSON.parse(line); } catch (error) { throw new Error(t('line {number}: {why}', { number: index + 1, why: error.message })); }
      if (!state.operations.some((one) => one.id === said.operation)) throw new Error(t('line {number}: there is no operation {name}', { number: index + 1, name: said.operation }));
      return said;
    });
    keep([...saved(), ...read]);
    verdicts.clear();
    drawList();
  } catch (error) {
    trouble('list-trouble', error);
  } finally {
    event.target.value = '';
  }
}

// Translating

async function translate() {
  trouble('translate-trouble');
  try {
    const { text, told } = await ask('translate', { text: $('source').value });
    const copy = make('button', { type: 'button', class: 'small', onclick: () => copied(copy, text) }, t('Copy'));
    const said = told.map((one) => {
      const attempt = one.neutral ? make('button', { type: 'button', class: 'small', onclick: () => { location.hash = '#request'; choose(one.operation, one.neutral); } }, t('Open it here')) : null;
      return make('div', { class: 'card' }, make('h3', {}, one.operation ? t('Line {line}: {operation}, {from} to {to}', { ...one, from: named(one.from), to: named(one.to) }) : t('Line {line}', one), ' ', attempt),
        make('ul', { class: 'notes' }, one.warnings.map((note) => make('li', { class: 'trouble' }, coded(note))), one.notes.map((note) => make('li', {}, coded(note)))));
    });
    $('translated').replaceChildren(make('div', { class: 'card' }, make('h3', {}, t('Translated'), ' ', copy), make('pre', { class: 'translation' }, text)), ...said);
  } catch (error) {
    $('translated').replaceChildren();
    trouble('translate-trouble', error);
  }
}

// Words between backticks are code.
const coded = (note) => note.split('`').map((part, index) => (index % 2 ? make('code', {}, part) : part));

// Keys

function keys(event) {
  const typing = ['INPUT', 'TEXTAREA', 'SELECT'].includes(document.activeElement.tagName);
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (!$('request').hidden) send();
    else if (!$('list').hidden) runAll();
    else if (!$('translate').hidden) translate();
  } else if (event.key === '/' && !typing && !$('request').hidden) {
    event.preventDefault();
    $('operation').focus();
    $('operation').select();
  } else if (event.altKey && ['Digit1', 'Digit2', 'Digit3'].includes(event.code)) {
    event.preventDefault();
    location.hash = ['#request', '#list', '#translate'][event.code.slice(-1) - 1];
  }
}

$('sign-in').addEventListener('submit', signIn);
$('sign-out').addEventListener('click', () => signOut());
// What is typed takes the place of what stands there.
$('operation').addEventListener('focus', () => $('operation').select());
$('operation').addEventListener('change', () => choose($('operation').value.trim()));
$('business').addEventListener('change', () => { if (operation()) choose(operation().id); });
$('id').addEventListener('change', () => { const known = operation(); if (known) suggest(known); });
$('form').addEventListener('submit', (event) => { event.preventDefault(); send(); });
$('save').addEventListener('click', save);
$('run-all').addEventListener('click', runAll);
$('export').addEventListener('click', exportList);
$('import').addEventListener('change', importList);
$('do-translate').addEventListener('click', translate);
document.addEventListener('keydown', keys);
addEventListener('hashchange', () => {
  show();
  const first = { '#list': 'run-all', '#translate': 'source' }[location.hash] || 'operation';
  if (state.token) $(first).focus();
});
speak();
begin();

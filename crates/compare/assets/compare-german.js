// What the compare page says, in German. Summaries of operations and what the server refuses are in the words of the API.
'use strict';

const GERMAN = {
  'To the content': 'Zum Inhalt',
  Pages: 'Seiten',
  Console: 'Konsole',
  About: 'Über diesen Server',
  Guide: 'Handbuch (auf Englisch)',
  Errors: 'Fehlermeldungen',
  'Moving a client': 'Umzug eines Clients',
  Compare: 'Vergleichen',
  Panels: 'Bereiche',
  Request: 'Anfrage',
  'Saved list': 'Gemerkte Liste',
  Translate: 'Übersetzen',
  'Sign out': 'Abmelden',
  'One request, asked in both dialects of the same books, and where the answers differ.': 'Eine Anfrage, in beiden Dialekten derselben Bücher gestellt, und worin sich die Antworten unterscheiden.',
  'E-mail or username': 'E-Mail oder Benutzername',
  Password: 'Passwort',
  'Code of your authenticator, if you have one': 'Code Ihrer Authenticator-App, falls Sie eine haben',
  'Sign in': 'Anmelden',
  'Sign in at the console, and you are signed in here as well': 'Melden Sie sich in der Konsole an, dann sind Sie es auch hier',
  'Your session has ended; sign in again.': 'Ihre Sitzung ist beendet; melden Sie sich erneut an.',
  'the server does not answer': 'der Server antwortet nicht',
  Company: 'Firma',
  Operation: 'Vorgang',
  Left: 'Links',
  Right: 'Rechts',
  Record: 'Datensatz',
  Query: 'Abfrage',
  Headers: 'Kopfzeilen',
  'Headers, one a line': 'Kopfzeilen, je eine in einer Zeile',
  Body: 'Inhalt',
  'Ask both': 'Beide fragen',
  'Asking both…': 'Beide werden gefragt …',
  Ctrl: 'Strg',
  Enter: 'Eingabe',
  Name: 'Name',
  'Name in the saved list': 'Name in der gemerkten Liste',
  'Save to list': 'In der Liste merken',
  'Saved: {count} in the list': 'Gemerkt: {count} in der Liste',
  required: 'erforderlich',
  'There is no operation {name}': 'Es gibt keinen Vorgang {name}',
  'Choose an operation': 'Wählen Sie einen Vorgang',
  'Rehearsed: nothing is kept.': 'Geprobt: nichts wird behalten.',
  'Reads.': 'Liest.',
  '"{line}" is no header: write Name: value': '„{line}“ ist keine Kopfzeile: schreiben Sie Name: Wert',
  Equal: 'Gleich',
  'Equal but for declared differences': 'Gleich bis auf erklärte Unterschiede',
  Different: 'Verschieden',
  'not answered': 'nicht beantwortet',
  status: 'Status',
  'only on the left': 'nur links',
  'only on the right': 'nur rechts',
  type: 'Art',
  value: 'Wert',
  'the same records in another order': 'dieselben Datensätze in anderer Reihenfolge',
  'how often it was done': 'wie oft es geschah',
  'format of a number': 'Form einer Zahl',
  wrapping: 'Umschlag',
  'not as its document says': 'nicht wie beschrieben',
  '1 difference': '1 Unterschied',
  '{count} differences': '{count} Unterschiede',
  'status, body, errors and headers say the same': 'Status, Inhalt, Fehler und Kopfzeilen sagen dasselbe',
  'refused alike with {status}': 'gleichermaßen abgelehnt mit {status}',
  'each side rehearsed for itself: identifiers and moments that it made stand for each other': 'jede Seite hat für sich geprobt: die Kennungen und Zeitpunkte, die sie vergab, stehen füreinander',
  'moving by themselves, not counted: {names}': 'ändern sich von selbst, nicht gezählt: {names}',
  path: 'Stelle',
  what: 'Was',
  left: 'links',
  right: 'rechts',
  why: 'Grund',
  'follows from {path}': 'folgt aus {path}',
  'not asked': 'nicht gefragt',
  '(no body)': '(ohne Inhalt)',
  'Copy as curl': 'Als curl kopieren',
  Copy: 'Kopieren',
  Copied: 'Kopiert',
  'Selected below': 'Unten markiert',
  Open: 'Öffnen',
  Remove: 'Entfernen',
  'Remove {name}': '{name} entfernen',
  'Ask all again': 'Alle erneut fragen',
  Export: 'Exportieren',
  Import: 'Importieren',
  'Nothing is saved yet. What is saved stays in this browser;': 'Noch ist nichts gemerkt. Was gemerkt ist, bleibt in diesem Browser;',
  'takes the exported list.': 'nimmt die exportierte Liste.',
  'Asking {number} of {count}…': '{number} von {count} wird gefragt …',
  '{count} asked: {equal} equal, {declared} equal but for declared differences, {different} different': '{count} gefragt: {equal} gleich, {declared} gleich bis auf erklärte Unterschiede, {different} verschieden',
  'line {number}: {why}': 'Zeile {number}: {why}',
  'line {number}: there is no operation {name}': 'Zeile {number}: es gibt keinen Vorgang {name}',
  'A script with curl commands, a file of requests, a HAR or a Postman collection. What does not differ stays as it is typed': 'Ein Skript mit curl-Befehlen, eine Datei mit Anfragen, ein HAR oder eine Postman-Sammlung. Was sich nicht unterscheidet, bleibt, wie es getippt ist',
  '· nothing is sent to either dialect': '· an keinen der Dialekte wird etwas gesendet',
  'Open it here': 'Hier öffnen',
  'Line {line}: {operation}, {from} to {to}': 'Zeile {line}: {operation}, {from} nach {to}',
  'Line {line}': 'Zeile {line}',
  Translated: 'Übersetzt',
  'Dialect {letter}': 'Dialekt {letter}',
};

// The language that was chosen in the console, else the browser's.
const language = localStorage.getItem('duet.language') ??
  (navigator.languages.some((one) => one.startsWith('de')) && !navigator.languages[0].startsWith('en') ? 'de' : 'en');
const t = (text, given = {}) => ((language === 'de' && GERMAN[text]) || text).replace(/\{(\w+)\}/g, (whole, name) => given[name] ?? whole);

// What stands on the page when it comes, in the reader's language.
function speak() {
  document.documentElement.lang = language;
  document.title = t(document.title);
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const node = words.currentNode;
    if (node.parentElement.tagName !== 'SCRIPT') node.data = node.data.replace(/\S[^]*\S|\S/, (text) => t(text));
  }
  for (const name of ['aria-label', 'placeholder']) {
    for (const element of document.querySelectorAll(`[${name}]`)) element.setAttribute(name, t(element.getAttribute(name)));
  }
}

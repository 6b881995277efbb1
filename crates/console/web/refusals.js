// What the server refused, in the reader's language. The server says it in English; what is not known here is shown as it says it.

import { Decimal } from "./decimal.js";
import { date, figure } from "./format.js";
import { language } from "./texts.js";

const DAY = /\b\d{4}-\d{2}-\d{2}\b/g;

/** Why a whole request was refused, by its code. */
const CODES = {
  validation_failed: "Einige Angaben stimmen nicht.",
  scale_exceeded: "Eine Zahl hat zu viele Nachkommastellen.",
  unauthenticated: "Name oder Passwort stimmen nicht, oder die Anmeldung ist abgelaufen.",
  forbidden: "Das dürfen Sie hier nicht. Wer die Benutzer der Firma verwaltet, kann das ändern.",
  conflict: "Die Bücher lassen das jetzt nicht zu.",
  duplicate: "Diesen Wert gibt es schon.",
  in_use: "Anderes braucht oder nennt es; es kann so nicht weg oder anders werden. Archivieren geht.",
  invalid_state: "In diesem Zustand geht das nicht.",
  period_locked: "Der Tag liegt in einem gesperrten Zeitraum oder einem abgeschlossenen Jahr.",
  has_allocations: "Damit ist etwas ausgeglichen. Heben Sie zuerst den Ausgleich auf.",
  over_allocated: "Es würde mehr ausgeglichen, als offen ist.",
  over_credit: "Es würde mehr gutgeschrieben, als von dem Beleg übrig ist.",
  over_fulfilment: "Es würde mehr geliefert, erhalten, berechnet oder zurückgegeben, als von der Zeile übrig ist.",
  insufficient_stock: "An einem Tag wäre weniger als nichts auf Lager.",
  credit_limit_exceeded: "Der Kunde würde mehr schulden, als sein Kreditlimit erlaubt.",
  last_owner: "Eine Firma braucht jemanden, dem sie gehört.",
  built_in: "Das gehört zum System und bleibt, wie es ist.",
  amount_too_large: "Eine Summe der Bücher würde zu groß.",
  quantity_too_large: "Eine Menge würde zu groß.",
  request_in_progress: "Die erste Anfrage dazu läuft noch. Bitte gleich noch einmal versuchen.",
  payload_too_large: "Das ist zu viel auf einmal.",
  internal: "Ein Fehler auf unserer Seite. Bitte sagen Sie dem Betreiber Bescheid.",
  tampered: "Ein Eintrag wurde am Server vorbei geändert oder ist beschädigt. Bitte sagen Sie dem Betreiber Bescheid.",
  overloaded: "Der Server hat gerade zu viel zu tun. Nichts wurde geschrieben.",
  storage_full: "Der Speicher des Servers ist voll. Nichts wurde geschrieben.",
  unavailable: "Die Datenbank ist nicht erreichbar. Nichts wurde geschrieben.",
  commit_outcome_unknown: "Ob es geschrieben wurde, ist nicht bekannt. Noch einmal speichern schreibt es nur einmal.",
  too_slow: "Diese Auskunft dauert zu lange. Fragen Sie nach weniger oder nach einer kürzeren Zeit.",
};

/** What is wrong with a field. `$1` is what stood in that place. */
const FIELDS = [
  ["is required", "fehlt"],
  ["is required, since nothing says what the item costs", "fehlt, denn nichts sagt, was der Artikel kostet"],
  ["is required, since the item has no price", "fehlt, denn der Artikel hat keinen Preis"],
  ["is required, since there is no rate for the day: what is one (\\w+) worth in (\\w+)\\?", "fehlt, denn für den Tag gibt es keinen Kurs: Was ist 1 $1 in $2 wert?"],
  ["is required: a document has at least one line", "fehlt: ein Beleg hat mindestens eine Zeile"],
  ["is required: a journal has at least two lines", "fehlt: eine Buchung hat mindestens zwei Zeilen"],
  ["is required: an adjustment has at least one line", "fehlt: eine Bestandskorrektur hat mindestens eine Zeile"],
  ["is required: a tax code has at least one component", "fehlt: ein Steuerschlüssel hat mindestens einen Teil"],
  ["is required on a line without item, account and price", "fehlt in einer Zeile ohne Artikel, Konto und Preis"],
  ["is required(?::|,) .*", "fehlt"],
  ["must trade something: a line needs an itemId, an accountId or a unitPrice", "braucht einen Artikel, ein Konto oder einen Preis"],
  ["must not be empty", "darf nicht leer sein"],
  ["must not be null", "darf nicht leer sein"],
  ["must not be 0", "darf nicht 0 sein"],
  ["must be (?:greater|more) than 0(?:: .*)?", "muss größer als 0 sein"],
  ["must not be negative", "darf nicht negativ sein"],
  ["must not be negative; use the other side", "darf nicht negativ sein; nehmen Sie die andere Seite"],
  ["must be 0 to (\\S+)", "muss zwischen 0 und $1 liegen"],
  ["must be between (\\S+) and (\\S+)", "muss zwischen $1 und $2 liegen"],
  ["must be a whole number from (\\S+) to (\\S+)", "muss eine ganze Zahl von $1 bis $2 sein"],
  ["must be a whole number", "muss eine ganze Zahl sein"],
  ["must be a number", "muss eine Zahl sein"],
  ["must be a decimal number such as .*", "muss eine Zahl wie 12,50 sein"],
  ["must have at most (\\d+) decimal places in (\\w+)", "darf in $2 höchstens $1 Nachkommastellen haben"],
  ["must have at most (\\d+) decimal places", "darf höchstens $1 Nachkommastellen haben"],
  ["has more decimal places than (?:the currency|(\\w+))", "hat mehr Nachkommastellen als die Währung"],
  ["has too many decimals", "hat zu viele Nachkommastellen"],
  ["comes? to more than can be (?:kept|judged).*", "ergibt mehr, als geführt werden kann"],
  ["is too large", "ist zu groß"],
  ["must be at most (\\S+ \\w+), which is open", "darf höchstens $1 sein; mehr ist nicht offen"],
  ["must be at most (\\S+ \\w+), which is open from (\\S+) until (\\S+); or date it then", "darf höchstens $1 sein; so viel ist von $2 bis $3 offen"],
  ["must be at most (\\S+), what is left to credit", "darf höchstens $1 sein; mehr ist nicht gutzuschreiben"],
  ["must be at most (\\S+), what is left to \\w+", "darf höchstens $1 sein; mehr ist nicht übrig"],
  ["must be at most (\\S+) (\\w+) for you \\(maxDocumentAmount\\); this \\w+ (\\S+) \\w+", "darf für Sie höchstens $1 $2 sein; hier sind es $3 $2"],
  ["must be at most (\\d+) characters long", "darf höchstens $1 Zeichen lang sein"],
  ["must be (\\d+) to (\\d+) characters long", "muss $1 bis $2 Zeichen lang sein"],
  ["must be at most (\\S+)", "darf höchstens $1 sein"],
  ["must be a date such as .*", "muss ein Tag sein"],
  ["must be after the date", "muss nach dem Datum liegen"],
  ["must be after the start", "muss nach dem Beginn liegen"],
  ["must be in the future", "muss in der Zukunft liegen"],
  ["must not be before the date", "darf nicht vor dem Datum liegen"],
  ["must not be before the document's own date, (\\S+)", "darf nicht vor dem Datum des Belegs liegen, $1"],
  ["must not be before the last entry, of (\\S+)", "darf nicht vor der letzten Buchung liegen, $1"],
  ["must not be before (\\S+), the date of the last number of the series", "darf nicht vor $1 liegen, dem Datum der letzten Nummer des Nummernkreises"],
  ["must not be before (\\S+), the day of (\\S+), which it \\w+", "darf nicht vor $1 liegen, dem Tag von $2"],
  ["must not be before (\\S+) for you \\(backdateDays\\)", "darf für Sie nicht vor $1 liegen"],
  ["must not be before (\\S+),? .*", "darf nicht vor $1 liegen"],
  ["must not be after (\\S+?)[,:] .*", "darf nicht nach $1 liegen"],
  ["must be (\\d\\S+) or later.*", "muss am $1 oder später liegen"],
  ["(\\S+) lies in a period that is closed until (\\S+)", "$1 liegt in einem Zeitraum, der bis $2 gesperrt ist"],
  ["must be an e-mail address", "muss eine E-Mail-Adresse sein"],
  ["must be an IBAN with a correct checksum", "muss eine IBAN mit richtiger Prüfsumme sein"],
  ["must be a BIC of 8 or 11 characters", "muss eine BIC mit 8 oder 11 Zeichen sein"],
  ["must be a country code of ISO 3166, such as DE", "muss ein Länderkürzel wie DE sein"],
  ["must be a currency code of ISO 4217, such as EUR", "muss ein Währungskürzel wie EUR sein"],
  ["must be a web address beginning with .*", "muss eine Adresse im Netz sein, die mit https beginnt"],
  ["must be a URL such as .*", "muss eine Adresse im Netz sein"],
  ["must be a time zone of the IANA database, such as .*", "muss eine Zeitzone wie Europe/Berlin sein"],
  ["must be true here or there: a party is a customer, a supplier or both", "hier oder dort Ja: ein Kontakt ist Kunde, Lieferant oder beides"],
  ["must be another party", "muss ein anderer Kontakt sein"],
  ["must be another account than the one the money leaves", "muss ein anderes Konto sein als das, von dem das Geld abgeht"],
  ["must be the party of the documents that it follows", "muss der Kontakt der Belege sein, auf die es folgt"],
  ["must be one of .*", "muss eines der genannten sein"],
  ["names no (?:account|item|party|tax code|payment term|invoice|such document|company|permission set).*", "nennt nichts, was es gibt"],
  ["names (.+), a group; name an account in it", "nennt $1, eine Gruppe; wählen Sie ein Konto darin"],
  ["names (.+), which is archived", "nennt $1; das ist archiviert"],
  ["names (.+), which takes no journals", "nennt $1; darauf wird nicht von Hand gebucht"],
  ["names (.+), which takes no new documents", "nennt $1; dafür gibt es keine neuen Belege"],
  ["names (.+), which holds money; move it by a receipt, a payment or a contra entry", "nennt $1, ein Geldkonto; nehmen Sie einen Zahlungseingang, einen Zahlungsausgang oder eine Umbuchung"],
  ["names (.+), which holds tax; name a tax code instead", "nennt $1, ein Steuerkonto; wählen Sie stattdessen einen Steuerschlüssel"],
  ["names (.+), which follows the stock; use a document with the item, or a stock adjustment", "nennt $1; es folgt dem Lager. Nehmen Sie einen Beleg mit dem Artikel oder eine Bestandskorrektur"],
  ["names (.+), which needs `partyId` on each line", "nennt $1; jede Zeile braucht dafür einen Kontakt"],
  ["names (.+), which is kept in (\\w+); the line is in (\\w+)", "nennt $1, das in $2 geführt wird; die Zeile ist in $3"],
  ["is already used by another user", "hat schon ein anderer Benutzer"],
  ["is already that of another series of the kind", "hat schon ein anderer Nummernkreis dieser Art"],
  ["is not your password", "ist nicht Ihr Passwort"],
  ["is too easy to guess.*", "ist zu leicht zu erraten"],
  ["is the same as .*", "ist dasselbe"],
  ["cannot change once the account has entries", "kann nicht mehr anders werden: das Konto hat Buchungen"],
  ["cannot change.*", "kann nicht mehr anders werden"],
  ["stands here (?:twice|already).*", "steht hier schon"],
].map(([english, german]) => [new RegExp(`^${english}$`), german]);

const inDays = (text) => text.replace(DAY, (day) => date(day));
const inFigures = (text) => text.replace(/\b\d+\.\d+\b/g, (amount) => figure(new Decimal(amount)));

/** A fault of a field, as the reader says it. */
export function refusal(message) {
  if (language() !== "de") return inDays(message);
  const known = FIELDS.find(([english]) => english.test(message));
  return known ? inDays(inFigures(message.replace(...known))) : inDays(message);
}

/** Why all of a request was refused. In English the server's own words say more than its code. */
export function refused(code, message) {
  return (language() === "de" && CODES[code]) || inDays(message);
}

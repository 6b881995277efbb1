// What reports and proofs are about, what they can be asked, and what a few settings do, in German.

export const REPORTS = {
  "What was earned in a period, what it cost, and what is left. Several periods can stand side by side.":
    "Erträge und Aufwendungen eines Zeitraums und das Ergebnis daraus. Mehrere Zeiträume lassen sich nebeneinander stellen.",
  "What the company has and owes at the end of a day. What was earned is equity: that of earlier fiscal years is carried on by itself, without an entry at the end of a year.":
    "Vermögen und Schulden am Ende eines Tages. Das Ergebnis gehört zum Eigenkapital: Das früherer Geschäftsjahre wird von selbst vorgetragen, ohne Buchung am Jahresende.",
  "Every account with what it came to before, what it was debited and credited with, and what it comes to. Accounts of income and expense begin each fiscal year with nothing: what was earned before stands with the retained earnings.":
    "Jedes Konto mit Anfangsbestand, Bewegungen in Soll und Haben und Endbestand. Erfolgskonten beginnen jedes Geschäftsjahr bei null: Frühere Ergebnisse stehen bei den Gewinnrücklagen.",
  "Every line of the ledger in a period, account by account, with what the account comes to after it, in pages. What closes a year, and what takes that back, comes last in its account and is in no sum.":
    "Jede Buchungszeile eines Zeitraums, Konto für Konto, mit dem laufenden Saldo. Abschlussbuchungen und ihre Rücknahme stehen am Ende ihres Kontos und zählen in keiner Summe.",
  "Every entry of a period with its lines, each once, in pages. What closes a year, and what takes that back, comes last and is in no sum.":
    "Jede Buchung eines Zeitraums mit ihren Zeilen. Abschlussbuchungen und ihre Rücknahme stehen am Ende und zählen in keiner Summe.",
  "What money there was before a period, where it came from and went to, and what there is then. The direct method tells the accounts on the other side of what moved money; the indirect one begins with the profit. What settles an invoice stands where its lines do, less what notes took off the same accounts. Nothing is a remainder: both are sums of the ledger.":
    "Finanzmittel am Anfang eines Zeitraums, ihre Herkunft und Verwendung, und Finanzmittel am Ende. Die direkte Methode nennt die Gegenkonten der Geldbewegungen, die indirekte beginnt mit dem Ergebnis. Was eine Rechnung ausgleicht, steht dort, wo ihre Zeilen stehen, abzüglich dessen, was Gutschriften auf denselben Konten zurücknahmen. Nichts ist ein Restbetrag: Beides sind Summen des Hauptbuchs.",
  "What each account of equity came to before a period, what moved it, and what it comes to, with what was earned by then.":
    "Jedes Eigenkapitalkonto mit Anfangsbestand, Bewegungen und Endbestand, samt dem Ergebnis bis dahin.",
  "What is open with each party at the end of a day, by how late it is. What is paid in advance or credited and not yet allocated lessens it. Later allocations change nothing. Everything is in the company's currency, beside what it is in its own; with `currency` only what is in that one, in it.":
    "Was je Kontakt am Ende eines Tages offen ist, nach Überfälligkeit. Anzahlungen und Gutschriften ohne Zuordnung mindern es. Spätere Zuordnungen ändern nichts. Alles steht in der Hauswährung, daneben in seiner eigenen; mit einer gewählten Währung nur, was in dieser ist.",
  "The same with every document below its party. With `bucket` only what is so late.":
    "Dasselbe mit jedem Beleg unter seinem Kontakt. Mit einer gewählten Altersstufe nur, was so lange überfällig ist.",
  "What was open with a party before a period, what happened in it, and what is open then. What it owes is positive. Everything is in the company's currency, beside what it is in its own; with `currency` only what is in that one, in it.":
    "Was mit einem Kontakt vor einem Zeitraum offen war, was darin geschah, und was danach offen ist. Was er schuldet, ist positiv. Alles steht in der Hauswährung, daneben in seiner eigenen; mit einer gewählten Währung nur, was in dieser ist.",
  "What tax was charged on sales and paid on purchases in a period, by tax code and component, with what it was computed on, in the company's currency. Lines without a code stand below `none`; what moves accounts of tax without being tax stands below `carry`, and is in no total.":
    "Umsatzsteuer und Vorsteuer eines Zeitraums je Steuerschlüssel und Bestandteil, mit der Bemessungsgrundlage, in Hauswährung. Zeilen ohne Schlüssel stehen für sich; was Steuerkonten bewegt, ohne Steuer zu sein, ebenso und in keiner Summe.",
  "Everything that is known of tax in a period, in pages: one row for each line and component that is taxed or could have been, and for what moves accounts of tax without being tax. What counts when it is settled has a row for each share, on its day.":
    "Alles zur Steuer eines Zeitraums: eine Zeile je Belegzeile und Bestandteil, auch für das, was Steuerkonten bewegt, ohne Steuer zu sein. Was erst mit der Zahlung zählt, hat je Anteil eine Zeile an dessen Tag.",
  "What goes into each box of a tax return in a period, as the components of tax codes say, in the company's currency. What no box takes is listed below `none`, code by code.":
    "Was in einem Zeitraum in jede Kennzahl der Voranmeldung gehört, wie es die Steuerschlüssel sagen, in Hauswährung. Was keine Kennzahl hat, steht Schlüssel für Schlüssel am Ende.",
  "What was there of each item before a period, what came in and went out, and what is there then, in quantity and value.":
    "Anfangsbestand, Zugang, Abgang und Endbestand je Artikel, nach Menge und Wert.",
  "What is there of each item at the end of a day, and what it is worth.": "Bestand je Artikel am Ende eines Tages und sein Wert.",
  "Every movement of an item in a period, and what was there after it.":
    "Jede Bewegung eines Artikels in einem Zeitraum mit dem Bestand danach.",
  "The notes of which something is not invoiced at the end of a day, with what that is carried at. Less than nothing waits where goods came back that were invoiced, and where freight was billed before its goods were: it stands with their bill until then.":
    "Lieferscheine und Wareneingänge, von denen am Ende eines Tages etwas nicht berechnet ist, mit dem Wert in den Büchern. Negativ ist es, wo berechnete Ware zurückkam oder Fracht vor ihrer Ware berechnet wurde: Sie steht bis dahin bei deren Rechnung.",
  "What invoices came to without tax in a period, less what was credited, in the company's currency.":
    "Rechnungen eines Zeitraums ohne Steuer, abzüglich der Gutschriften, in Hauswährung.",
  "What each item earned in a period, what it cost, and what is left of it.": "Erlös, Wareneinsatz und Deckungsbeitrag je Artikel.",
  "The orders of which something is still to be delivered, line by line, as they stand now.":
    "Aufträge und Bestellungen, von denen noch etwas zu liefern ist, Zeile für Zeile, wie sie jetzt stehen.",
  "What was gained in a period by other currencies: realised, when something was settled, and unrealised, by revaluations. A loss is negative.":
    "Kursgewinne eines Zeitraums: realisiert beim Ausgleich, nicht realisiert durch Währungsbewertungen. Ein Verlust ist negativ.",
  "Every number series with its periods, the first and the last number given in each, and those that are missing.":
    "Jeder Nummernkreis mit seinen Zeiträumen, der ersten und letzten vergebenen Nummer, und den fehlenden.",
  "Who changed what in a period, in pages, with the proof that the chain of all records is whole. The records themselves are in the audit log.":
    "Wer in einem Zeitraum was geändert hat, mit der Prüfung, dass die Kette aller Einträge vollständig ist. Die Einträge selbst stehen im Protokoll.",
  // What can be asked.
  "(as usual)": "(wie üblich)",
  "The first day; the first of the fiscal year of `to` when absent.": "Der erste Tag; ohne Angabe der erste des Geschäftsjahres.",
  "The last day; today when absent.": "Der letzte Tag; ohne Angabe heute.",
  "How many periods stand side by side, each as long as the one asked for and an `interval` earlier than the one before it; 1 when absent.":
    "Wie viele Zeiträume nebeneinander stehen, jeder so lang wie der gewählte und um den Abstand früher als der vorige; ohne Angabe 1.",
  "How far apart `periods` are; `month` when absent.": "Wie weit die Zeiträume auseinander liegen; ohne Angabe einen Monat.",
  "What stands beside the period that is asked for. Not beside `periods`.": "Was neben dem gewählten Zeitraum steht. Nicht neben mehreren Zeiträumen.",
  "Not together with “{what}”.": "Nicht zusammen mit „{what}“.",
  "Splits the days into columns of so long. Not beside `periods` or `compareWith`.":
    "Teilt die Tage in Spalten dieser Länge. Nicht neben mehreren Zeiträumen oder einem Vergleich.",
  "Whether what invoices earn counts when they are written or when they are settled, with the tax on it; `accrual` when absent. Goods, assets and the cost of sales stand as in the ledger.":
    "Ob Rechnungen zählen, wenn sie geschrieben oder wenn sie bezahlt sind, mit ihrer Steuer; ohne Angabe nach Rechnung. Ware, Vermögen und Wareneinsatz stehen wie im Hauptbuch.",
  "Whether rows without figures are shown; `false` when absent.": "Ob Zeilen ohne Zahlen gezeigt werden; ohne Angabe nicht.",
  "Only what was recorded by this time.": "Nur was bis zu diesem Zeitpunkt erfasst war.",
  "The end of this day; today when absent.": "Das Ende dieses Tages; ohne Angabe heute.",
  "Only this account.": "Nur dieses Konto.",
  "Only this party.": "Nur dieser Kontakt.",
  "Only this tax code.": "Nur dieser Steuerschlüssel.",
  "Only this item.": "Nur dieser Artikel.",
  "The party.": "Der Kontakt.",
  "The item.": "Der Artikel.",
  "Whether it begins with the profit, or tells what money came from and went to; `indirect` when absent.":
    "Ob mit dem Ergebnis begonnen wird oder Herkunft und Verwendung des Geldes gezeigt werden; ohne Angabe indirekt.",
  "The days at which something is how late, each more than the one before it; `30,60,90` when absent.":
    "Die Grenzen der Altersstufen in Tagen, jede größer als die vorige; ohne Angabe 30,60,90.",
  "Only what is so late: the key of one of the columns, such as `current`, `1-30` or `91+`.": "Nur was so lange überfällig ist.",
  "Whether it is late by its due date or by its own; `dueDate` when absent.": "Ob die Fälligkeit oder das Belegdatum zählt; ohne Angabe die Fälligkeit.",
  "Only what is in this currency, and in it; all of it in the company's currency when absent.":
    "Nur was in dieser Währung ist, und in ihr; ohne Angabe alles in Hauswährung.",
  "Whether tax counts when it is invoiced or when it is paid, or so on sales alone; as the company has it on the day of each document when absent.":
    "Ob die Steuer mit der Rechnung oder mit der Zahlung zählt, oder nur im Verkauf mit der Zahlung; ohne Angabe wie in der Firma am Tag des Belegs eingestellt.",
  "Which orders; `all` when absent.": "Welche Aufträge; ohne Angabe alle.",
  // What is proved.
  "Every entry balances": "Jede Buchung geht auf",
  "Entries are numbered without a gap": "Buchungen sind lückenlos nummeriert",
  "The trial balance is level at the end of every month": "Die Summen- und Saldenliste geht an jedem Monatsende auf",
  "Control accounts equal their parties": "Sammelkonten sind gleich ihren Kontakten",
  "Balances by day equal the lines": "Tagessalden sind gleich den Buchungszeilen",
  "Balances by month equal the lines": "Monatssalden sind gleich den Buchungszeilen",
  "Balances by party equal the lines": "Salden der Kontakte sind gleich den Buchungszeilen",
  "Nothing crosses companies": "Nichts reicht über eine Firma hinaus",
  "Open items equal their control accounts, at every day": "Offene Posten sind an jedem Tag gleich ihren Sammelkonten",
  "Allocations are what was settled, and no more": "Zuordnungen sind, was ausgeglichen wurde, und nicht mehr",
  "The stock is worth what inventory accounts say, at every day": "Der Bestand ist an jedem Tag wert, was die Bestandskonten sagen",
  "Goods that are not invoiced equal their accounts, at every day": "Nicht berechnete Ware ist an jedem Tag gleich ihren Konten",
  "What the books begin with is all entered": "Die Eröffnungswerte sind vollständig erfasst",
  "Money in other currencies is carried at what was paid for it, on every day": "Fremdwährung steht an jedem Tag mit dem, was für sie bezahlt wurde, in den Büchern",
  "A closed year leaves nothing on what it earned and spent": "Ein abgeschlossenes Jahr lässt auf Erfolgskonten nichts stehen",
  "Every document stands for its entries": "Jeder Beleg steht für seine Buchungen",
  "Every reversal takes back its entry to the cent": "Jeder Storno nimmt seine Buchung auf den Cent zurück",
  "Nothing was posted behind a hard lock": "Hinter einer endgültigen Sperre wurde nichts gebucht",
  "Every amount is whole in its currency": "Jeder Betrag hat höchstens die Nachkommastellen seiner Währung",
  "Tax by month equals its facts": "Die Steuer je Monat ist gleich ihren Einzelposten",
  "Trade by month equals the lines": "Umsatz und Einkauf je Monat sind gleich den Belegzeilen",
  "Money by day equals the lines": "Geldbestände je Tag sind gleich den Buchungszeilen",
  "Months of parties equal the lines": "Monate der Kontakte sind gleich den Buchungszeilen",
  "Words find the documents that have them": "Die Suche findet die Belege, in denen die Wörter stehen",
  "What is open equals its history": "Was offen ist, ergibt sich aus seinem Verlauf",
  "The party of every open item is one that stands": "Der Kontakt jedes offenen Postens besteht",
  "The stock equals its history": "Der Bestand ergibt sich aus seinem Verlauf",
  "Invoices, and what credits them, stand as what is open of them says": "Der Stand von Rechnungen und Gutschriften passt zu dem, was offen ist",
  "Documents are counted as they are": "Belege sind gezählt, wie sie da sind",
  "Every ledger line on an account of tax is the sum of the facts that name it": "Jede Buchungszeile auf einem Steuerkonto ist die Summe ihrer Steuerposten",
  "What stands in the boxes of returns is what has a box by its code": "In den Kennzahlen steht, was nach seinem Schlüssel hineingehört",
  "What is told of turnover is what the lines of documents come to": "Die gemeldeten Umsätze sind die Summe der Belegzeilen",
  "Every tax is what its line and its code make anew": "Jede Steuer ergibt sich neu aus Zeile und Schlüssel",
  "What is due on cash basis, what is not yet, and what lapsed are what was invoiced":
    "Bei Ist-Versteuerung ergeben fällige, noch nicht fällige und entfallene Steuer die berechnete",
  "On every open day the stock and its accounts are worth what its facts come to": "An jedem offenen Tag sind Bestand und Bestandskonten wert, was die Bewegungen ergeben",
  "Each movement cost what its facts come to": "Jede Bewegung hat gekostet, was ihre Einzelposten ergeben",
  "No day is short of what may not be missing": "An keinem Tag fehlt, was nicht fehlen darf",
  "Where the stock stands is what its facts come to": "Wo der Bestand steht, ergibt sich aus seinen Bewegungen",
  "What is received and not billed is what its facts come to, line by line and day by day":
    "Erhaltene Ware ohne Rechnung ergibt sich aus ihren Einzelposten, Zeile für Zeile und Tag für Tag",
  "What is delivered and not invoiced is what its facts come to, line by line and day by day":
    "Gelieferte Ware ohne Rechnung ergibt sich aus ihren Einzelposten, Zeile für Zeile und Tag für Tag",
  "Lines of orders and notes are where their history says": "Zeilen von Aufträgen und Lieferscheinen stehen, wie es ihr Verlauf sagt",
  "Lines of orders and notes are as far as the documents that follow them": "Zeilen von Aufträgen und Lieferscheinen sind so weit wie ihre Folgebelege",
  "No line is credited for more than it came to": "Keine Zeile ist höher gutgeschrieben, als sie betrug",
  "On no day more is taken than there is": "An keinem Tag wird mehr entnommen, als da ist",
  "What was counted is what there was": "Was gezählt wurde, war da",
  "Numbers are given without a gap and once": "Belegnummern sind lückenlos und einmal vergeben",
  "Every answer kept for a repeat is about a record": "Jede aufbewahrte Antwort gehört zu einem Datensatz",
  "The audit log is whole": "Das Protokoll ist vollständig",
  "Every row is what was written last": "Jede Zeile der Datenbank ist, was zuletzt geschrieben wurde",
  "All that is kept can be read": "Alles Aufbewahrte lässt sich lesen",
  "The schema is what the migrations made": "Die Tabellen sind, wie sie angelegt wurden",
  "Nothing went back behind the heads that were kept": "Nichts ging hinter die aufbewahrten Siegel zurück",
  "The database file is whole": "Die Datenbankdatei ist unbeschädigt",
  // What settings do.
  "Whether every change must name the version it is based on, in `If-Match`.": "Ob jede Änderung die Version nennen muss, auf der sie beruht.",
  "What a new document becomes that does not say.": "Was ein neuer Beleg wird, der nichts dazu sagt.",
  "Whether a posted document may be changed by reversal and a new entry.": "Ob ein gebuchter Beleg durch Storno und neue Buchung geändert werden darf.",
  "How the half of the smallest coin is rounded.": "Wie ein halber Cent gerundet wird.",
  "Whether tax is rounded once for the document or for each line.": "Ob die Steuer einmal je Beleg oder je Zeile gerundet wird.",
  "Whether prices include tax, where neither document nor party says.": "Ob Preise Steuer enthalten, wo weder Beleg noch Kontakt es sagen.",
  "How new items are valued that do not say.": "Wie neue Artikel bewertet werden, die nichts dazu sagen.",
  "Whether more may go out than is there, where the item does not say.": "Ob mehr abgehen darf, als da ist, wo der Artikel nichts sagt.",
  "Whether money that is not yet allocated stands on the accounts for advances.": "Ob Geld ohne Zuordnung auf den Anzahlungskonten steht.",
  "Whether a supplier's reference may be used once only.": "Ob die Rechnungsnummer eines Lieferanten nur einmal vorkommen darf.",
  "What happens when a sale goes beyond a party's credit limit.": "Was geschieht, wenn ein Verkauf über das Kreditlimit eines Kunden geht.",
  "The smallest coin to which sales totals are rounded.": "Die kleinste Münze, auf die Verkaufssummen gerundet werden.",
  "When delivered goods become a cost.": "Wann gelieferte Ware zum Wareneinsatz wird.",
  "By how much more than was ordered may be delivered, in percent.": "Um wie viel Prozent mehr als bestellt geliefert werden darf.",
  "Whether notes may credit more than is left of the invoice that they name.": "Ob Gutschriften mehr gutschreiben dürfen, als von ihrer Rechnung übrig ist.",
  "By how many smallest coins the tax that a line states may differ from the computed one.": "Um wie viele Cent die Steuer einer Zeile von der errechneten abweichen darf.",
  "When tax counts, from which day on.": "Wann die Steuer zählt, und ab welchem Tag.",
  "Whether a discount for paying early reduces the tax of what is settled.": "Ob Skonto die Steuer dessen mindert, was ausgeglichen wird.",
  "Whether what is written off reduces the tax of what is settled.": "Ob eine Ausbuchung die Steuer dessen mindert, was ausgeglichen wird.",
  "Ages in days overdue": "Alter in Tagen überfällig",
  "Ages in days since the document": "Alter in Tagen seit dem Beleg",
  "On hand: {quantity}": "Bestand: {quantity}",
  "Nothing is called so.": "Nichts heißt so.",
  "More than one is meant: choose one.": "Mehreres ist gemeint: bitte eines wählen.",
};

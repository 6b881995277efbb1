// What the books of the demo tell, in German.

export const STORY = {
  "Harbour Trading sells coffee, grinders and cups to hotels and cafés, some of them in America and Switzerland.":
    "Harbour Trading verkauft Kaffee, Mühlen und Tassen an Hotels und Cafés, einige davon in Amerika und in der Schweiz.",
  "It sells by the season: coffee is drunk in the cold.": "Es verkauft nach der Jahreszeit: Kaffee trinkt man, wenn es kalt ist.",
  "Its suppliers ask a little more each month, so what is left of a bag of beans shrinks.":
    "Seine Lieferanten verlangen jeden Monat etwas mehr, und von einem Beutel Bohnen bleibt weniger übrig.",
  "Deichgraf Events pays three weeks late, and others with it.": "Deichgraf Events zahlt drei Wochen zu spät, und andere auch.",
  "An old till still speaks dialect A; the web shop moved to B.":
    "Eine alte Kasse spricht noch Dialekt A; der Webshop ist zu B gewechselt.",
  "Kestrel Studio sells days of work; a project is an order that is billed as it goes.":
    "Kestrel Studio verkauft Arbeitstage; ein Projekt ist ein Auftrag, der nach und nach abgerechnet wird.",
  "Its clients pay in pounds, euros and dollars, and a quarter ends with what those are worth.":
    "Seine Kunden zahlen in Pfund, Euro und Dollar, und ein Quartal endet mit dem, was diese wert sind.",
  "Dockside Theatre pays four weeks late.": "Dockside Theatre zahlt vier Wochen zu spät.",
  "A developer's bill comes nine days after its month, and is booked in that month.":
    "Die Rechnung eines Entwicklers kommt neun Tage nach ihrem Monat und wird in diesem Monat gebucht.",
  "A year that is over is closed: nothing is entered there any more.":
    "Ein Jahr, das vorbei ist, ist abgeschlossen: Dort wird nichts mehr gebucht.",
  "At Maple Street most customers have no name: the till's slips are invoices that are paid at once.":
    "In der Maple Street haben die meisten Kunden keinen Namen: Die Kassenbons sind Rechnungen, die sofort bezahlt werden.",
  "Prices have the sales tax in them.": "In den Preisen ist die Umsatzsteuer enthalten.",
  "The school buys sandwiches each month, at a tenth less, and sends a cheque.":
    "Die Schule kauft jeden Monat belegte Brote, um ein Zehntel billiger, und schickt einen Scheck.",
  "A wholesaler brings what is short each week, and takes back what is past its date.":
    "Ein Großhändler bringt jede Woche, was fehlt, und nimmt zurück, was abgelaufen ist.",
  "What lies in the till goes to the bank once a month.": "Was in der Kasse liegt, kommt einmal im Monat zur Bank.",
  Bills: "Eingangsrechnungen",
  Cash: "Kasse und Bank",
  Customers: "Kunden",
  "Debit notes": "Lieferantengutschriften",
  "Fiscal years": "Geschäftsjahre",
  "Gains of exchange": "Kursgewinne",
  "Margin by item": "Marge nach Artikel",
  Orders: "Aufträge",
  "Owed, by age": "Offenes nach Alter",
  Receipts: "Zahlungseingänge",
  "Tax of this quarter": "Steuer dieses Quartals",
  "Who speaks which": "Welche Programme welchen Dialekt sprechen",
};

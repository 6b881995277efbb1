// What there is, by its path in the API: how it is listed, shown and written. Everything else is read from the API's document.

const DOCUMENT = ["number", "date", "partyName", "reference", "total", "status"];
const TRADE = {
  main: ["partyId", "date", "reference"],
  lines: ["itemId", "description", "quantity", "unitPrice", "discountPercent", "accountId", "taxCodeId"],
  // Without an account a line has the one of its item, its party or the company.
  usual: ["accountId"],
  shown: ["description", "quantity", "unit", "unitPrice", "discountPercent", "accountId", "taxCodeId", "netAmount"],
  comesTo: "netAmount",
};
const MONEY = {
  linesTitle: "Straight to accounts, without a document",
  firstLines: 0,
  main: ["partyId", "date", "accountId", "amount", "method", "reference", "narration"],
  lines: ["accountId", "description", "amount", "taxCodeId"],
  shown: ["accountId", "description", "amount", "taxCodeId"],
};
const DATED = { sort: "-date", isDocument: true };

/** A trade document: `more` is what it has beside the others. */
const trade = (stem, icon, more) => ({
  stem,
  ...DATED,
  icon,
  columns: DOCUMENT,
  ...TRADE,
  ...more,
  main: [...(more.first ?? []), ...TRADE.main.slice(0, 2), ...(more.after ?? []), ...TRADE.main.slice(2)],
});

export const RESOURCES = {
  "sales-orders": trade("salesOrders", "sales", {
    after: ["expectedDate", "customerReference"],
    lineState: ["fulfilledQuantity", "invoicedQuantity", "openQuantity"],
    customer: true,
  }),
  "delivery-notes": trade("deliveryNotes", "sales", {
    after: ["kind", "trackingNumber"],
    columns: ["number", "date", "partyName", "kind", "total", "status"],
    lineState: ["invoicedQuantity", "returnedQuantity"],
    customer: true,
  }),
  "sales-invoices": trade("salesInvoices", "sales", {
    after: ["dueDate"],
    columns: ["number", "date", "partyName", "dueDate", "total", "balanceDue", "status"],
    settles: "receipts",
    customer: true,
  }),
  "credit-notes": trade("creditNotes", "sales", {
    after: ["salesInvoiceId", "reason"],
    columns: ["number", "date", "partyName", "reason", "total", "remainingCredit", "status"],
    customer: true,
  }),
  receipts: {
    stem: "receipts",
    ...DATED,
    icon: "bank",
    columns: ["number", "date", "partyName", "method", "amount", "unallocatedAmount", "status"],
    ...MONEY,
    allocates: true,
    customer: true,
  },
  "purchase-orders": trade("purchaseOrders", "purchases", {
    after: ["expectedArrivalDate"],
    lineState: ["receivedQuantity", "billedQuantity", "openQuantity"],
    supplier: true,
  }),
  "receipt-notes": trade("receiptNotes", "purchases", {
    after: ["kind", "supplierDeliveryNumber"],
    lines: ["itemId", "description", "quantity", "unitCost"],
    shown: ["description", "quantity", "unit", "unitCost", "costAmount"],
    comesTo: "costAmount",
    columns: ["number", "date", "partyName", "supplierDeliveryNumber", "status"],
    lineState: ["billedQuantity", "returnedQuantity"],
    supplier: true,
  }),
  "purchase-invoices": trade("purchaseInvoices", "purchases", {
    after: ["dueDate", "supplierInvoiceDate"],
    columns: ["number", "date", "partyName", "reference", "dueDate", "total", "balanceDue", "status"],
    settles: "payments",
    supplier: true,
  }),
  "debit-notes": trade("debitNotes", "purchases", {
    after: ["purchaseInvoiceId", "reason"],
    columns: ["number", "date", "partyName", "reason", "total", "remainingCredit", "status"],
    supplier: true,
  }),
  payments: {
    stem: "payments",
    ...DATED,
    icon: "bank",
    columns: ["number", "date", "partyName", "method", "amount", "unallocatedAmount", "status"],
    ...MONEY,
    allocates: true,
    supplier: true,
  },
  "contra-entries": {
    stem: "contraEntries",
    ...DATED,
    icon: "bank",
    columns: ["number", "date", "narration", "fromAccountId", "toAccountId", "amount", "status"],
    main: ["date", "fromAccountId", "toAccountId", "amount", "narration", "reference"],
  },
  journals: {
    stem: "journals",
    firstLines: 2,
    ...DATED,
    icon: "books",
    columns: ["number", "date", "kind", "narration", "totalDebit", "status"],
    main: ["date", "kind", "narration", "reference", "reverseOn"],
    lines: ["accountId", "partyId", "description", "debit", "credit"],
    shown: ["accountId", "partyId", "description", "debit", "credit"],
  },
  revaluations: {
    stem: "revaluations",
    ...DATED,
    icon: "books",
    columns: ["number", "date", "narration", "unrealisedGain", "status"],
    main: ["date", "narration", "reference"],
    lineField: "rates",
    lines: ["currency", "rate"],
    shown: ["accountId", "partyId", "currency", "amount", "carriedAmount", "revaluedAmount", "difference"],
  },
  "stock-adjustments": {
    stem: "stockAdjustments",
    ...DATED,
    icon: "stock",
    columns: ["number", "date", "reason", "totalValue", "status"],
    main: ["date", "reason", "accountId", "reference"],
    lines: ["itemId", "description", "quantityDelta", "countedQuantity", "unitCost"],
    usual: ["unitCost"],
    shown: ["itemId", "description", "countedQuantity", "adjustedQuantity", "unitCost", "standardCost", "value"],
  },
  parties: {
    stem: "parties",
    start: { isCustomer: true },
    icon: "people",
    columns: ["code", "name", "isCustomer", "isSupplier", "receivableBalance", "payableBalance", "overdueAmount", "status"],
    sort: "name",
    title: "name",
    main: [
      "name",
      "code",
      "isCustomer",
      "isSupplier",
      "email",
      "phone",
      "taxNumber",
      "currency",
      "paymentTermDays",
      "billingAddress",
    ],
  },
  items: {
    stem: "items",
    icon: "stock",
    columns: ["code", "name", "type", "unit", "salePrice", "quantityOnHand", "stockValue", "status"],
    sort: "name",
    title: "name",
    main: ["name", "type", "code", "unit", "description", "salePrice", "purchasePrice", "salesTaxCodeId", "purchaseTaxCodeId"],
  },
  accounts: {
    stem: "accounts",
    icon: "books",
    columns: ["code", "name", "type", "currency", "baseBalance", "status"],
    sort: "code",
    title: "name",
    pageSize: 200,
    main: ["code", "name", "type", "parentId", "isGroup", "currency", "description"],
  },
  entries: {
    stem: "entries",
    icon: "books",
    columns: ["entryNumber", "date", "documentType", "documentNumber", "narration", "kind", "total"],
    sort: "-entryNumber",
    title: "entryNumber",
    shown: ["accountCode", "accountName", "description", "debit", "credit"],
  },
  allocations: {
    stem: "allocations",
    icon: "bank",
    columns: ["date", "partyId", "sourceType", "sourceId", "targetType", "targetId", "amount"],
    sort: "-date",
    noNew: true,
  },
  businesses: {
    stem: "businesses",
    icon: "settings",
    columns: ["name", "legalName", "baseCurrency", "country", "status"],
    sort: "name",
    title: "name",
    main: [
      "name",
      "legalName",
      "baseCurrency",
      "country",
      "timezone",
      "taxNumber",
      "registrationNumber",
      "email",
      "phone",
      "website",
      "address",
    ],
  },
  users: {
    stem: "users",
    icon: "people",
    columns: ["displayName", "email", "twoFactorEnabled", "lastLoginAt", "status"],
    sort: "displayName",
    title: "displayName",
    main: ["email", "displayName", "memberships"],
    hidden: ["password", "status"],
  },
  permissions: {
    stem: "permissions",
    icon: "people",
    columns: ["name", "description", "isSystem"],
    sort: "name",
    title: "name",
    main: ["name", "description", "grants", "limits"],
  },
  "api-keys": {
    stem: "apiKeys",
    icon: "tools",
    columns: ["name", "hint", "expiresAt", "endedAt", "createdAt"],
    sort: "name",
    title: "name",
    main: ["name", "scopes", "expiresAt", "allowedAddresses"],
  },
  webhooks: {
    stem: "webhooks",
    icon: "tools",
    columns: ["url", "types", "payload", "status", "updatedAt"],
    sort: "-createdAt",
    title: "url",
    main: ["url", "types", "payload", "format", "headers", "status"],
  },
  "tax-codes": {
    stem: "taxCodes",
    icon: "settings",
    columns: ["code", "name", "direction", "effectiveRate", "status"],
    sort: "code",
    title: "name",
    main: ["code", "name", "direction", "components"],
  },
  "payment-terms": {
    stem: "paymentTerms",
    icon: "settings",
    columns: ["name", "days", "type", "discountPercent", "discountDays", "status"],
    sort: "name",
    title: "name",
    main: ["name", "days", "type", "discountPercent", "discountDays"],
  },
  "number-series": {
    stem: "numberSeries",
    icon: "settings",
    columns: ["type", "name", "pattern", "nextNumber", "issuedCount", "isDefault", "status"],
    sort: "type",
    title: "name",
    main: ["type", "name", "pattern", "firstNumber", "resetOn", "allowManual", "isDefault"],
  },
  "fiscal-years": {
    stem: "fiscalYears",
    icon: "settings",
    columns: ["name", "start", "end", "status"],
    sort: "-start",
    title: "name",
    main: ["name", "start", "end"],
  },
  locks: {
    stem: "locks",
    icon: "settings",
    columns: ["createdAt", "lockDate", "salesLockDate", "purchaseLockDate", "hardLockDate", "reason", "inForce"],
    sort: "-createdAt",
    main: [
      "lockDate",
      "salesLockDate",
      "purchaseLockDate",
      "bankLockDate",
      "stockLockDate",
      "journalLockDate",
      "hardLockDate",
      "reason",
    ],
  },
  currencies: {
    stem: "currencies",
    icon: "settings",
    columns: ["code", "digits", "isBase", "isActive", "exchangeRate", "exchangeRateDate"],
    sort: "code",
    title: "code",
    noRecord: true,
  },
  "exchange-rates": {
    stem: "exchangeRates",
    icon: "settings",
    columns: ["date", "currency", "rate", "source"],
    sort: "-date",
    main: ["currency", "date", "rate", "source"],
  },
  "audit-log": {
    stem: "auditLog",
    icon: "settings",
    columns: ["sequence", "at", "action", "resource", "resourceId", "actor"],
    sort: "-sequence",
    title: "sequence",
  },
};

/** What the navigation has, in the order of the day's work. */
export const GROUPS = [
  ["sales", "Sales", ["sales-orders", "delivery-notes", "sales-invoices", "credit-notes", "receipts"]],
  ["purchases", "Purchases", ["purchase-orders", "receipt-notes", "purchase-invoices", "debit-notes", "payments"]],
  ["people", "Contacts", ["parties"]],
  ["stock", "Stock", ["items", "stock-adjustments"]],
  ["books", "Accounting", ["accounts", "journals", "contra-entries", "entries", "allocations", "revaluations"]],
];

export const SETTINGS = [
  ["Company", ["businesses", "fiscal-years", "locks", "number-series"]],
  ["People and programs", ["users", "permissions", "api-keys", "webhooks"]],
  ["Tax, terms and currencies", ["tax-codes", "payment-terms", "currencies", "exchange-rates"]],
  ["What was done", ["audit-log"]],
];

/** What a new company sees where nothing is yet. */
export const EMPTY = {
  parties: "Customers and suppliers stand here. Add the first one, and orders and invoices can name them.",
  items:
    "What you buy and sell: goods with a stock, and services. An invoice can do without, but an item brings its price, tax and accounts along.",
  "sales-invoices": "Nothing was invoiced yet. Add a customer first, then write the first invoice.",
  "sales-orders": "Orders of customers stand here, until they are delivered and invoiced.",
  "purchase-invoices": "Bills of suppliers stand here. Add a supplier first, then enter the first bill.",
  "tax-codes": "No tax yet. Add the rates that you charge and pay, such as VAT 19 %; items and lines then name them.",
  "fiscal-years": "No fiscal year yet. Add one to close it when it is over.",
  locks: "Nothing is locked. A lock keeps a period as it was reported.",
  "api-keys": "No program has a key. Make one for each, with as few rights as it needs.",
  journals: "Entries by hand stand here: what was there before, wages, accruals.",
};

/** By what an identifier is called in a record, where it leads. */
const LEADS = {
  party: "parties",
  item: "items",
  account: "accounts",
  taxCode: "tax-codes",
  paymentTerm: "payment-terms",
  series: "number-series",
  permission: "permissions",
  user: "users",
  business: "businesses",
  salesOrder: "sales-orders",
  purchaseOrder: "purchase-orders",
  salesInvoice: "sales-invoices",
  purchaseInvoice: "purchase-invoices",
  deliveryNote: "delivery-notes",
  receiptNote: "receipt-notes",
  entry: "entries",
};
const BY = ["createdBy", "updatedBy", "postedBy"];

export function leadsTo(field, resource) {
  if (field === "parentId") return resource;
  if (field === "intoPartyId" || field === "mergedIntoId") return "parties";
  if (BY.includes(field)) return "users";
  const stem = field.replace(/Ids?$/, "");
  if (stem === field) return null;
  if (LEADS[stem]) return LEADS[stem];
  if (stem.endsWith("Account")) return "accounts";
  if (stem.endsWith("TaxCode")) return "tax-codes";
  return null;
}

/** `salesInvoice`, as documents call each other, in the path that it has. */
export function segmentOf(kind) {
  const plural = { contraEntry: "contra-entries" }[kind];
  return plural ?? `${kind.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}s`;
}

/** The path of what the audit log calls `salesInvoices`. */
export const segmentOfStem = (stem) => Object.keys(RESOURCES).find((segment) => RESOURCES[segment].stem === stem) ?? null;

// Amounts are decimal texts from the wire to the screen and back. Nothing here reckons with them, but for a sum of what somebody
// types and what a line of a letter takes off, to the last digit: the server has the last word.

/** A number as it came, to the last digit. */
export class Decimal {
  constructor(text) {
    this.text = String(text);
  }
  toString() {
    return this.text;
  }
  toJSON() {
    return `\uF8FF${this.text}\uF8FF`;
  }
  get isNegative() {
    return this.text.startsWith("-") && !this.isZero;
  }
  get isZero() {
    return /^-?[0.]*$/.test(this.text);
  }
  get negative() {
    return new Decimal(this.text.startsWith("-") ? this.text.slice(1) : `-${this.text}`);
  }
  /** What is shown where the sign is said in other words. */
  get size() {
    return new Decimal(this.text.replace(/^-/, ""));
  }
}

export const isDecimal = (value) => value instanceof Decimal;

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const numbersKept = (text) => text.replace(TOKENS, (token) => (token[0] === '"' ? token : `{"\uF8FF":"${token}"}`));

/** JSON, with every number kept as the text that it was. */
export function read(text) {
  return counted(JSON.parse(numbersKept(text)));
}

/** The same of a long text, a part at a time: `pause` lets others have their turn. */
export async function readInParts(text, size, pause) {
  // Only where an object begins does a name follow a bare quote that follows a brace; within a text a quote has a backslash.
  const begins = /\{"\w/g;
  const parts = [];
  for (let from = 0, to; from < text.length; from = to) {
    begins.lastIndex = from + size;
    to = begins.exec(text)?.index ?? text.length;
    parts.push(numbersKept(text.slice(from, to)));
    await pause();
  }
  const parsed = JSON.parse(parts.join(""));
  await pause();
  const all = counted(parsed);
  await pause();
  return all;
}

/** What was parsed, with its numbers: in half the time of a function that `JSON.parse` calls for everything. */
function counted(parsed) {
  const outermost = [parsed];
  const left = [outermost];
  while (left.length > 0) {
    const holder = left.pop();
    for (const name in holder) {
      const value = holder[name];
      if (value === null || typeof value !== "object") continue;
      if (typeof value["\uF8FF"] === "string") holder[name] = new Decimal(value["\uF8FF"]);
      else left.push(value);
    }
  }
  return outermost[0];
}

/** JSON again, with numbers as they were. */
export function write(value, indent) {
  return JSON.stringify(value, null, indent).replace(/"\uF8FF(-?\d+(?:\.\d+)?)\uF8FF"/g, "$1");
}

const placesOf = ({ text }) => text.split(".")[1]?.length ?? 0;

/** So many of the last of so many places. */
function placed(units, places) {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, "0");
  const at = digits.length - places;
  return new Decimal(`${units < 0n ? "-" : ""}${digits.slice(0, at)}${places > 0 ? `.${digits.slice(at)}` : ""}`);
}

/** So many percent of an amount, to its last digit, the half of it away from zero. */
export function percentOf(amount, percent) {
  const [units, rate] = [amount, percent].map(({ text }) => BigInt(text.replace(".", "")));
  const whole = 10n ** BigInt(placesOf(percent) + 2);
  const product = units * rate;
  return placed((product + (product < 0n ? -whole : whole) / 2n) / whole, placesOf(amount));
}

/** The sum of some amounts; nothing where one of them is no number. */
export function sum(amounts) {
  if (!amounts.every(isDecimal)) return null;
  const places = Math.max(0, ...amounts.map(placesOf));
  const units = ({ text }) => {
    const [whole, rest = ""] = text.split(".");
    return BigInt(whole + rest.padEnd(places, "0"));
  };
  return placed(amounts.reduce((before, one) => before + units(one), 0n), places);
}

/** A count, such as of records. Never an amount. */
export const count = (value) => Number(String(value ?? 0));

/** Which of two texts of digits is the larger, for sorting and for telling less from more; without reckoning. */
export function compare(left, right) {
  const parts = (value) => {
    const [whole, rest = ""] = value.size.text.split(".");
    return [whole.replace(/^0+/, ""), rest.replace(/0+$/, "")];
  };
  if (left.isNegative !== right.isNegative) return left.isNegative ? -1 : 1;
  const [[a, b], [c, d]] = [parts(left), parts(right)];
  const order = a.length - c.length || (a < c ? -1 : a > c ? 1 : b < d ? -1 : b > d ? 1 : 0);
  return left.isNegative ? -order : order;
}

// A text as a square code that a telephone reads (ISO/IEC 18004), in bytes, with a quarter of it to spare for what is smeared.

import { svg } from "./dom.js";

/** By version: how many bytes of each block mend it, and how many blocks there are. Enough for 410 bytes of text. */
const MENDING = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10];

/** Where the small squares stand that a crooked picture is set straight by. */
function alignments(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const last = version * 4 + 10;
  const step = Math.ceil((last - 6) / (count - 1) / 2) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, at) => last - (count - 2 - at) * step)];
}

/** How many bits are left for text and mending, once the marks are drawn. */
function room(version) {
  const count = alignments(version).length;
  const marks = count === 0 ? 0 : (25 * count - 10) * count - 55;
  return (16 * version + 128) * version + 64 - marks - (version >= 7 ? 36 : 0);
}

const spoken = (version) => Math.floor(room(version) / 8) - MENDING[version - 1] * BLOCKS[version - 1];

/** The product of two elements of the field of 256. */
function product(one, other) {
  let result = 0;
  for (let bit = 7; bit >= 0; bit--) {
    result = (result << 1) ^ ((result >> 7) * 0x11d);
    if ((other >> bit) & 1) result ^= one;
  }
  return result;
}

/** What a block is mended by: the rest of a division by the product of (x - 2^i). */
function mendedBy(block, degree) {
  const divisor = Array(degree).fill(0);
  divisor[degree - 1] = 1;
  for (let turn = 0, root = 1; turn < degree; turn++, root = product(root, 2)) {
    for (let at = 0; at < degree; at++) divisor[at] = product(divisor[at], root) ^ (divisor[at + 1] ?? 0);
  }
  const rest = Array(degree).fill(0);
  for (const byte of block) {
    const factor = byte ^ rest.shift();
    rest.push(0);
    for (let at = 0; at < degree; at++) rest[at] ^= product(divisor[at], factor);
  }
  return rest;
}

/** Length, text and filling, in blocks that are dealt out byte by byte, and after them what mends each. */
function dealt(bytes, version) {
  const bits = [];
  const put = (value, count) => {
    for (let at = count - 1; at >= 0; at--) bits.push((value >> at) & 1);
  };
  put(0b0100, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) put(byte, 8);
  const most = spoken(version) * 8;
  put(0, Math.min(4, most - bits.length));
  while (bits.length % 8 > 0) bits.push(0);
  for (let filling = 0xec; bits.length < most; filling ^= 0xec ^ 0x11) put(filling, 8);
  const all = Array.from({ length: bits.length / 8 }, (_, at) => parseInt(bits.slice(at * 8, at * 8 + 8).join(""), 2));
  const count = BLOCKS[version - 1];
  const degree = MENDING[version - 1];
  const short = Math.floor(all.length / count);
  const longer = all.length % count;
  let from = 0;
  const blocks = Array.from({ length: count }, (_, at) => {
    const block = all.slice(from, from + short + (at >= count - longer ? 1 : 0));
    from += block.length;
    return block;
  });
  const mending = blocks.map((block) => mendedBy(block, degree));
  const out = [];
  for (let at = 0; at <= short; at++) for (const block of blocks) if (at < block.length) out.push(block[at]);
  for (let at = 0; at < degree; at++) for (const block of mending) out.push(block[at]);
  return out;
}

const MASKS = [
  (x, y) => (x + y) % 2,
  (x, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/** The rest of a division of bits, by which a short word is known to be whole. */
function checked(value, bits, divisor) {
  let rest = value << bits;
  for (let at = 31; at >= bits; at--) if ((rest >>> at) & 1) rest ^= divisor << (at - bits);
  return (value << bits) | rest;
}

class Square {
  constructor(version) {
    this.size = version * 4 + 17;
    this.dark = Array.from({ length: this.size }, () => Array(this.size).fill(false));
    this.isMark = Array.from({ length: this.size }, () => Array(this.size).fill(false));
    for (let at = 0; at < this.size; at++) {
      this.mark(6, at, at % 2 === 0);
      this.mark(at, 6, at % 2 === 0);
    }
    const end = this.size - 4;
    for (const [x, y] of [[3, 3], [end, 3], [3, end]]) this.ring(x, y, 4, (far) => far !== 2 && far !== 4);
    const places = alignments(version);
    const last = places.length - 1;
    places.forEach((x, i) =>
      places.forEach((y, j) => {
        const isCorner = (i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0);
        if (!isCorner) this.ring(x, y, 2, (far) => far !== 1);
      }),
    );
    this.markForm(0);
    if (version < 7) return;
    const bits = checked(version, 12, 0x1f25);
    for (let at = 0; at < 18; at++) {
      const [near, far] = [Math.floor(at / 3), this.size - 11 + (at % 3)];
      this.mark(far, near, ((bits >> at) & 1) === 1);
      this.mark(near, far, ((bits >> at) & 1) === 1);
    }
  }

  mark(x, y, isDark) {
    if (x < 0 || y < 0 || x >= this.size || y >= this.size) return;
    this.dark[y][x] = isDark;
    this.isMark[y][x] = true;
  }

  ring(x, y, reach, isDark) {
    for (let down = -reach; down <= reach; down++)
      for (let along = -reach; along <= reach; along++)
        this.mark(x + along, y + down, isDark(Math.max(Math.abs(along), Math.abs(down))));
  }

  /** How it is to be read: the middle one of the ways to mend, which is 0, and the mask. */
  markForm(mask) {
    const bits = checked(mask, 10, 0x537) ^ 0x5412;
    const bit = (at) => ((bits >> at) & 1) === 1;
    const end = this.size - 1;
    for (let at = 0; at < 6; at++) this.mark(8, at, bit(at));
    this.mark(8, 7, bit(6));
    this.mark(8, 8, bit(7));
    this.mark(7, 8, bit(8));
    for (let at = 9; at < 15; at++) this.mark(14 - at, 8, bit(at));
    for (let at = 0; at < 8; at++) this.mark(end - at, 8, bit(at));
    for (let at = 8; at < 15; at++) this.mark(8, this.size - 15 + at, bit(at));
    this.mark(8, this.size - 8, true);
  }

  /** In columns of two, up and down from the right. */
  fill(bytes) {
    let at = 0;
    for (let right = this.size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5;
      const isUp = ((right + 1) & 2) === 0;
      for (let step = 0; step < this.size; step++)
        for (const x of [right, right - 1]) {
          const y = isUp ? this.size - 1 - step : step;
          if (this.isMark[y][x] || at >= bytes.length * 8) continue;
          this.dark[y][x] = ((bytes[at >> 3] >> (7 - (at & 7))) & 1) === 1;
          at++;
        }
    }
  }

  turn(mask) {
    for (let y = 0; y < this.size; y++)
      for (let x = 0; x < this.size; x++) if (!this.isMark[y][x] && MASKS[mask](x, y) === 0) this.dark[y][x] = !this.dark[y][x];
  }

  /** How badly it can be read: long runs, blocks, what looks like a corner, more dark than light. */
  penalty() {
    let sum = 0;
    const lines = [...this.dark, ...this.dark[0].map((_, x) => this.dark.map((row) => row[x]))];
    for (const line of lines) {
      const text = line.map((one) => (one ? "1" : "0")).join("");
      for (const run of text.match(/0{5,}|1{5,}/g) ?? []) sum += run.length - 2;
      for (let at = 0; at + 11 <= text.length; at++) if (["10111010000", "00001011101"].includes(text.slice(at, at + 11))) sum += 40;
    }
    let dark = 0;
    for (let y = 0; y < this.size; y++)
      for (let x = 0; x < this.size; x++) {
        const one = this.dark[y][x];
        if (one) dark++;
        const isBlock = one === this.dark[y + 1]?.[x] && one === this.dark[y][x + 1] && one === this.dark[y + 1][x + 1];
        if (isBlock) sum += 3;
      }
    return sum + Math.floor(Math.abs((dark * 100) / this.size ** 2 - 50) / 5) * 10;
  }
}

/** The rows of the code of a text, true where it is dark; nothing where the text is too long. */
export function squares(text) {
  const bytes = new TextEncoder().encode(text);
  const version = MENDING.findIndex((_, at) => bytes.length * 8 + (at + 1 < 10 ? 12 : 20) <= spoken(at + 1) * 8) + 1;
  if (version === 0) return null;
  const square = new Square(version);
  square.fill(dealt(bytes, version));
  const tried = MASKS.map((_, mask) => {
    square.markForm(mask);
    square.turn(mask);
    const penalty = square.penalty();
    square.turn(mask);
    return penalty;
  });
  const best = tried.indexOf(Math.min(...tried));
  square.markForm(best);
  square.turn(best);
  return square.dark;
}

/** The code as a drawing, dark on light in whichever colours the page has, with the margin that readers want. */
export function qr(text, about) {
  const rows = squares(text);
  if (rows === null) return null;
  const way = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + 4} ${y + 4}h1v1h-1z` : ""))).join("");
  const size = rows.length + 8;
  return svg(
    "svg",
    { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": about, "shape-rendering": "crispEdges" },
    svg("rect", { width: size, height: size, fill: "#fff" }),
    svg("path", { d: way, fill: "#000" }),
  );
}

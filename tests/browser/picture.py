#!/usr/bin/env python3
"""Writes a picture of a page so that it is small: at most 256 colours, the nearest to those that it has.

    picture.py TO.png < PICTURE

What comes in is a PNG in base 64, as a browser gives it; nothing but the standard library is asked for.
"""

import base64
import struct
import sys
import zlib
from collections import Counter


def lines_of(data):
    """Width, height and rows of RGB of a PNG of 8 bits without interlacing."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, head = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
    width, height, depth, colour, _, _, interlaced = head
    assert (depth, interlaced) == (8, 0) and colour in (2, 6), head
    step = 3 if colour == 2 else 4
    raw, stride = zlib.decompress(packed), width * step
    before, rows = bytearray(stride), []
    for y in range(height):
        kind = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for x in range(stride):
            left = row[x - step] if x >= step else 0
            above = before[x]
            corner = before[x - step] if x >= step else 0
            if kind == 1:
                row[x] = row[x] + left & 255
            elif kind == 2:
                row[x] = row[x] + above & 255
            elif kind == 3:
                row[x] = row[x] + (left + above) // 2 & 255
            elif kind == 4:
                guess = left + above - corner
                near = min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))
                row[x] = row[x] + near[2] & 255
        rows.append(row)
        before = row
    return width, height, [[tuple(row[x : x + 3]) for x in range(0, stride, step)] for row in rows]


def palette_of(counted, most=256):
    """The colours that are kept: those of the boxes which the space of all is cut into, the fullest and widest first."""
    boxes = [list(counted)]
    while len(boxes) < most:

        def worth(box):
            wide = max(max(one[axis] for one in box) - min(one[axis] for one in box) for axis in range(3))
            return wide * sum(counted[one] for one in box) ** 0.5 if len(box) > 1 else 0

        boxes.sort(key=worth)
        box = boxes.pop()
        if len(box) < 2:
            boxes.append(box)
            break
        axis = max(range(3), key=lambda axis: max(one[axis] for one in box) - min(one[axis] for one in box))
        box.sort(key=lambda one: one[axis])
        half, seen, cut = sum(counted[one] for one in box) / 2, 0, 1
        for place, one in enumerate(box[:-1]):
            seen += counted[one]
            cut = place + 1
            if seen >= half:
                break
        boxes += [box[:cut], box[cut:]]
    # A box is shown as the colour of it that is seen most, so that grounds and lines stay exactly what they were.
    kept = [max(box, key=lambda one: counted[one]) for box in boxes]
    return kept, {one: place for place, box in enumerate(boxes) for one in box}


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def main():
    width, height, rows = lines_of(base64.b64decode(sys.stdin.read()))
    counted = Counter(one for row in rows for one in row)
    kept, places = palette_of(counted)
    packed = b"".join(b"\0" + bytes(places[one] for one in row) for row in rows)
    made = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
    made += chunk(b"PLTE", b"".join(bytes(one) for one in kept)) + chunk(b"IDAT", zlib.compress(packed, 9)) + chunk(b"IEND", b"")
    with open(sys.argv[1], "wb") as file:
        file.write(made)
    print(f"{sys.argv[1]}: {len(made)} bytes, {len(kept)} colours")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test cases of the units that compute along rows, softmax and normalization."""

import math

import timing
from cases import Case, Port, cut, maker, number, pick

ROOT = 16


def stage(depth):
    return 2 if depth > 64 else 1


def shape(rng, fixed):
    """Lanes, the row, and the rows of a test."""
    p = pick(rng, fixed, InWidth=(1, 9), InSigned=[0, 1],
             Channels=[1, 2, 3, 5, 8, 17, 24, 40, 70], Style=[0, 1], Depth=[2, 3, 5, 64, 65])
    p["Lanes"] = fixed.get("Lanes", rng.randint(1, min(p["Channels"], 9)))
    return p, -(-p["Channels"] // p["Lanes"]), max(4, 150 // p["Channels"])


def drawn(rng, p, rows):
    """Rows of numbers: of the whole range, of a few close to each other, or equal."""
    out = []
    for _ in range(rows):
        row = [number(rng, p["InWidth"], p["InSigned"]) for _ in range(p["Channels"])]
        if rng.random() < 0.3:
            row = [rng.choice(row[:2]) for _ in row]
        out += row
    return out


def noisy(rng, p, beats):
    return [[number(rng, p["InWidth"], p["InSigned"]) if v is None else v for v in beat]
            for beat in beats]


@maker({"Channels": 1, "Lanes": 1, "InWidth": 1}, {"Channels": 5, "Lanes": 5, "InWidth": 8},
       {"Channels": 70, "Lanes": 1, "InWidth": 8, "Store": 80, "PowerStore": 110},
       {"Channels": 17, "Lanes": 4, "InWidth": 8, "InSigned": 1},
       {"Channels": 3, "Lanes": 3, "Store": 100, "PowerStore": 100})
def row_softmax(rng, fixed):
    p, beats, rows = shape(rng, fixed)
    entries = p["Entries"] = 1 << p["InWidth"]
    one = 65535
    slope = rng.choice([0.001, 0.02, 0.1, 1.0])
    p["Trips"], p["Uses"] = rng.choice([1, 1, 2, 3]), rng.randint(1, 3)
    tables = [[round(one * math.exp(-slope * factor * d)) for d in range(entries)]
              for factor in range(1, p["Trips"] + 1)]
    p["PowerWidth"] = 16
    p["SumWidth"] = (one * p["Channels"]).bit_length()
    p["QuotientBits"] = rng.choice([17, 17, 9, 20])
    scale = rng.choice([1 / 255, 1 / 256, 0.05, 0.3])
    shift = 40
    while round(2 ** shift / scale) // one >= 1 << p["QuotientBits"]:
        shift -= 1
    numerator = round(2 ** shift / scale)
    p["First"], p["Low"] = numerator >> p["QuotientBits"], numerator % (1 << p["QuotientBits"])
    p["Shift"] = max(shift, 1)
    p["Hi"] = min(rng.choice([255, 100]), round(1 / scale))
    p["OutWidth"] = p["Hi"].bit_length()
    p["Block"] = rng.choice([0, 1])
    p["TableFile"] = "t.txt"
    p["Store"] = fixed.get("Store", max(2, beats + rng.randint(0, 12)))
    p["PowerStore"] = fixed.get("PowerStore", max(2, beats + rng.randint(0, 40)))
    x, out = drawn(rng, p, rows), []
    for first in range(0, len(x), p["Channels"]):
        row = x[first:first + p["Channels"]]
        table = tables[first // p["Channels"] // p["Uses"] % p["Trips"]]
        powers = [table[max(row) - v] for v in row]
        quotient = numerator // sum(powers)
        out += [min((e * quotient + (1 << (p["Shift"] - 1))) >> p["Shift"], p["Hi"])
                for e in powers]
    levels = (p["Lanes"] - 1).bit_length()
    links = [(p["Store"], stage(p["Store"]), 2 + levels + stage(p["Store"] // beats + 2)),
             (p["PowerStore"], 3 + stage(p["PowerStore"]),
              4 + levels + p["QuotientBits"] + stage(p["PowerStore"] // beats + 2))]
    return Case("rhz_row_softmax", p,
                [Port("in", p["InWidth"], p["Lanes"],
                      noisy(rng, p, cut(x, p["Channels"], p["Lanes"])))],
                [Port("out", p["OutWidth"], p["Lanes"], cut(out, p["Channels"], p["Lanes"]))],
                5, lambda i, o: timing.rows(i[0], o[0], beats, links), {"t.txt": sum(tables, [])})


def signed_bits(most):
    return most.bit_length() + 1


@maker({"Channels": 1, "Lanes": 1, "InWidth": 1}, {"Channels": 5, "Lanes": 5, "InWidth": 8},
       {"Channels": 70, "Lanes": 1, "InWidth": 8, "Store": 130},
       {"Channels": 24, "Lanes": 8, "InWidth": 9, "InSigned": 0, "Centered": 0, "Zero": 128},
       {"Channels": 3, "Lanes": 3, "Store": 100},
       {"Channels": 40, "Lanes": 3, "InWidth": 18, "InSigned": 1},
       {"Channels": 24, "Lanes": 2, "InWidth": 13, "InSigned": 0, "Centered": 1})
def row_norm(rng, fixed):
    p, beats, rows = shape(rng, fixed)
    c = p["Channels"]
    p["Centered"] = fixed.get("Centered", rng.randint(0, 1))
    p["Zero"] = fixed.get("Zero", 0 if p["Centered"] else rng.choice([0, 0, 3, -7]))
    low = -(1 << (p["InWidth"] - 1)) if p["InSigned"] else 0
    span = (1 << p["InWidth"]) - 1
    most = max(abs(low - p["Zero"]), abs(low + span - p["Zero"]))
    p["Stored"], p["Block"] = rng.choice([0, 1]), rng.choice([0, 1])
    p["Trips"], p["Uses"] = rng.choice([1, 2, 3]) if p["Stored"] else 1, rng.randint(1, 3)
    epsilons = [rng.choice([1, 1, 77, 5 << 30]) for _ in range(p["Trips"])]
    epsilon = max(epsilons)
    p["EpsilonLow"], p["EpsilonHigh"] = epsilon % (1 << 30), epsilon >> 30
    square = (c * span) ** 2 // 4 if p["Centered"] else (c * most) ** 2
    digits = p["Digits"] = -(-(square + epsilon).bit_length() // 2)
    p["XWidth"] = signed_bits(most)
    p["SumWidth"] = signed_bits(c * most) if p["Centered"] else 1
    p["SquareWidth"] = max(1, (c * most * most).bit_length())
    p["DiffWidth"] = signed_bits(span * (c - 1) if p["Centered"] else most * c)
    p["ScaledWidth"] = signed_bits(math.isqrt(c << (2 * digits)) + 1)
    fraction = rng.choice([12, 12, 4, 0])
    p["Shift"] = digits + ROOT - fraction
    p["OutWidth"] = signed_bits((math.isqrt((c << 2 * fraction) * 16385 ** 2) >> 14) + 1)
    p["Store"] = fixed.get("Store", max(2, beats + rng.randint(0, 60)))
    x, out = drawn(rng, p, rows), []
    for first in range(0, len(x), c):
        row = [v - p["Zero"] for v in x[first:first + c]]
        a = sum(row) if p["Centered"] else 0
        epsilon = epsilons[first // c // p["Uses"] % p["Trips"]]
        w = c * sum(v * v for v in row) - a * a + epsilon
        j = -(-w.bit_length() // 2)
        root = math.isqrt(w << 2 * (ROOT - j) if j < ROOT else w >> 2 * (j - ROOT))
        inverse = (2 ** 32 - 1) // root
        out += [(((c * v - a) * inverse << fraction) + (1 << (ROOT - 1 + j))) >> (ROOT + j)
                for v in row]
    files = {}
    if p["Stored"]:
        files["e.txt"] = epsilons
        p["EpsilonFile"] = "e.txt"
    lanes = (p["Lanes"] - 1).bit_length()
    levels = max(1, (digits - 1).bit_length())
    links = [(p["Store"], stage(p["Store"]),
              4 + lanes + 3 + levels + 2 * ROOT + 1 + stage(p["Store"] // beats + 2))]
    return Case("rhz_row_norm", p,
                [Port("in", p["InWidth"], p["Lanes"], noisy(rng, p, cut(x, c, p["Lanes"])))],
                [Port("out", p["OutWidth"], p["Lanes"], cut(out, c, p["Lanes"]))],
                9, lambda i, o: timing.rows(i[0], o[0], beats, links), files)

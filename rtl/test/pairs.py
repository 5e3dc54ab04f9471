# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test cases of the cells that take an element of each of two streams."""
import timing
from cases import Case, Port, maker, number, pick


@maker({"MulA": 1, "MulB": 1, "MulWidth": 2, "Lanes": 1, "Max": 0},
       {"MulA": -1, "MulB": 0, "MulWidth": 1, "Max": 0},
       {"MulA": 30000, "MulB": -32768, "MulWidth": 16, "Max": 0},
       {"Max": 1, "MulA": 3, "MulB": -7, "MulWidth": 4, "Offset": -100},
       {"Max": 0, "Stored": 1, "Trips": 3, "Uses": 5},
       {"Max": 1, "Stored": 1, "Trips": 2, "Uses": 1, "Block": 1},
       {"Max": 0, "Stored": 1, "Trips": 1, "MulWidth": 16})
def scaled_add(rng, fixed):
    p = pick(rng, fixed, Lanes=(1, 4), AWidth=(1, 12), ASigned=[0, 1], BWidth=(1, 12),
             BSigned=[0, 1], MulWidth=(1, 16), Max=[0, 0, 1], Depth=[2, 3, 64, 65],
             Stored=[0, 0, 1], Trips=[1, 2, 3], Uses=(1, 7), Block=[0, 1])
    p["MulA"] = fixed.get("MulA", number(rng, p["MulWidth"], True))
    p["MulB"] = fixed.get("MulB", number(rng, p["MulWidth"], True))
    p["Offset"] = fixed.get("Offset", rng.randint(-5000, 5000)) if p["Max"] else 0
    p["OutWidth"] = max(p["AWidth"], p["BWidth"]) + p["MulWidth"] + 2
    if p["Max"]:
        p["OutWidth"] = p["MaxWidth"] = max(p["OutWidth"], 14) + 1
    a, b = ([[number(rng, p[k + "Width"], p[k + "Signed"]) for _ in range(p["Lanes"])]
             for _ in range(80)] for k in "AB")
    join = max if p["Max"] else lambda x, y: x + y
    factors, files = [(p["MulA"], p["MulB"], p["Offset"])], {}
    if p["Stored"]:
        factors = [(number(rng, p["MulWidth"], True), number(rng, p["MulWidth"], True),
                    rng.randint(-5000, 5000) if p["Max"] else 0) for _ in range(p["Trips"])]
        p["FactorFile"] = "f.txt"
        mask = (1 << p["MulWidth"]) - 1
        files["f.txt"] = [
            (o & ((1 << p.get("MaxWidth", 1)) - 1) if p["Max"] else 0) << 2 * p["MulWidth"]
            | (n & mask) << p["MulWidth"] | m & mask for m, n, o in factors]
    else:
        p["Trips"] = p["Uses"] = 1
    trip = lambda n: factors[n // p["Uses"] % len(factors)]
    out = [[join(x * trip(n)[0], y * trip(n)[1] + trip(n)[2]) for x, y in zip(u, v)]
           for n, (u, v) in enumerate(zip(a, b))]
    return Case("rhz_scaled_add", p,
                [Port("a", p["AWidth"], p["Lanes"], a), Port("b", p["BWidth"], p["Lanes"], b)],
                [Port("out", p["OutWidth"], p["Lanes"], out)], 4, timing.actor, files)


@maker({"ZeroA": 128, "AWidth": 8, "ASigned": 0, "ZeroB": -3, "BWidth": 4, "BSigned": 1},
       {"AWidth": 1, "ASigned": 0, "ZeroA": 0, "BWidth": 1, "BSigned": 0, "ZeroB": 0})
def product(rng, fixed):
    p = pick(rng, fixed, Lanes=(1, 4), AWidth=(1, 12), ASigned=[0, 1], BWidth=(1, 12),
             BSigned=[0, 1], ZeroA=[0, 0, 7, -200], ZeroB=[0, 0, -1, 300], Style=[0, 1],
             Depth=[2, 3, 64, 65])
    p["ADiff"], p["BDiff"] = 14, 15
    p["OutWidth"] = 29
    a, b = ([[number(rng, p[k + "Width"], p[k + "Signed"]) for _ in range(p["Lanes"])]
             for _ in range(80)] for k in "AB")
    out = [[(x - p["ZeroA"]) * (y - p["ZeroB"]) for x, y in zip(u, v)] for u, v in zip(a, b)]
    return Case("rhz_product", p,
                [Port("a", p["AWidth"], p["Lanes"], a), Port("b", p["BWidth"], p["Lanes"], b)],
                [Port("out", p["OutWidth"], p["Lanes"], out)], 4, timing.actor)

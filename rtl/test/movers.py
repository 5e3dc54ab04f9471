#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The movers between a memory and a stream, rhz_move_in and rhz_move_out, in Icarus
(rhz_tb_movers): buses as wide as the stream, wider and narrower, in whole beats or
not, groups of a part of a burst up to several bursts, with and without pauses. And
lint of the same parameters.
  movers.py [--seeds N]    as many random sets besides the fixed ones"""
import os
import sys

import benches


def both(bus_in, bus_out, burst, depths, **more):
    """The bench's parameters: bursts are as long on both sides."""
    return dict(BusIn=bus_in, BusOut=bus_out, BurstIn=burst, BurstOut=burst, DepthIn=depths[0],
                DepthOut=depths[1], **{"Groups": 6, **more})


FIXED = [
    both(64, 64, 4, (8, 4), Elem=32, Wide=1, Row=64),
    both(64, 64, 8, (40, 16), Elem=16, Wide=1, Row=21),
    both(64, 32, 2, (2, 10), Elem=16, Wide=3, Row=27),
    both(32, 32, 4, (20, 8), Elem=8, Wide=16, Row=80),
    both(32, 64, 1, (2, 4), Elem=8, Wide=16, Row=37),
    both(64, 64, 8, (8, 8), Elem=64, Wide=1, Row=9),
    both(128, 128, 1, (4, 2), Elem=8, Wide=1, Row=3),
    both(512, 512, 16, (64, 64), Elem=32, Wide=8, Row=216, Lanes=8, Missing=5),
    both(512, 512, 16, (128, 128), Elem=32, Wide=9, Row=243, Lanes=9),
]


def random_case(rng):
    elem = rng.choice([8, 16, 32])
    lanes = rng.randint(1, 4)
    burst = rng.choice([1, 2, 4, 8])
    depths = [max(2, burst) * rng.choice([1, 2, 5]) for _ in range(2)]
    buses = [max(16, elem * rng.choice([1, 2, 4, 8])) for _ in range(2)]
    return both(*buses, burst, depths, Elem=elem, Wide=lanes * rng.choice([1, 1, 2]),
                Row=lanes * rng.randint(1, 40), Lanes=lanes,
                Missing=rng.randrange(lanes), Groups=rng.randint(1, 7))


def memory_image(path, p, rng):
    words = p["BusIn"] // p["Elem"]
    beats = -(-p["Row"] // words)
    step = -(-beats // p["BurstIn"]) * p["BurstIn"]
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(p["Groups"] * step):
            file.write("%0*x\n" % (p["BusIn"] // 4, rng.getrandbits(p["BusIn"])))


def run(p, rng, folder):
    memory_image(os.path.join(folder, "memory.hex"), p, rng)
    return benches.simulate("rhz_tb_movers", p, folder)


def cells(p):
    shared = {k: p.get(k, 1) for k in ("Elem", "Wide", "Row", "Lanes")}
    return [("rhz_move_" + side.lower(), {"DataWidth": p["Bus" + side],
                                          "Burst": p["Burst" + side],
                                          "Depth": p["Depth" + side], **shared})
            for side in ("In", "Out")]


if __name__ == "__main__":
    sys.exit(benches.main(__doc__, 19, FIXED, random_case, run, cells, stalls=40))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FIFOs whose words lie in a memory, rhz_mem_fifo, behind arbiters in Icarus
(rhz_tb_mem_fifo): words narrower, as wide and wider than a beat, frames of whole
bursts or not, rings of few and many places, with and without pauses. And lint of the
same parameters.
  mem_fifo.py [--seeds N]    as many random sets besides the fixed ones"""
import sys

import benches

FIXED = [
    dict(Width=8, DataWidth=64, Words=256, Per=8, Burst=16, Slots=3, Buffer=32, Fifos=1),
    dict(Width=8, DataWidth=64, Words=24, Per=8, Burst=16, Slots=2, Buffer=16, Fifos=2),
    dict(Width=64, DataWidth=64, Words=70, Per=1, Burst=8, Slots=4, Buffer=80, Fifos=1),
    dict(Width=100, DataWidth=32, Words=33, Per=1, Burst=16, Slots=5, Buffer=70, Fifos=3),
    dict(Width=5, DataWidth=256, Words=99, Per=33, Burst=1, Slots=2, Buffer=2, Fifos=2),
    dict(Width=16, DataWidth=512, Words=640, Per=32, Burst=64, Slots=9, Buffer=64, Fifos=1),
    dict(Width=12, DataWidth=64, Words=40, Per=5, Burst=2, Slots=3, Buffer=4, Fifos=16),
    dict(Width=1, DataWidth=8, Words=1, Per=1, Burst=1, Slots=2, Buffer=2, InFlight=1, Fifos=1),
]


def random_case(rng):
    width, bus = rng.randint(1, 150), 8 << rng.randint(0, 5)
    per = rng.randint(1, max(1, min(32, bus // width)))
    burst = rng.choice([1, 2, 4, 8, 16])
    return dict(Width=width, DataWidth=bus, Words=per * rng.randint(1, 60), Per=per, Burst=burst,
                Slots=rng.randint(2, 12), Buffer=max(2, burst * rng.choice([1, 2, 5])),
                InFlight=rng.randint(1, 5), Depth=rng.choice([2, 4, 70]), Fifos=rng.randint(1, 3),
                Memory=rng.randint(1, 40))


def run(p, rng, folder):
    return benches.simulate("rhz_tb_mem_fifo", p, folder)


def cells(p):
    own = {k: v for k, v in p.items() if k not in ("Fifos", "Memory")}
    fifos = max(2, p["Fifos"])
    return [("rhz_mem_fifo", {**own, "Page": 3}),
            ("rhz_mem_write_arbiter", {"DataWidth": p["DataWidth"], "Writers": fifos,
                                       "Bursts": fifos * 2})]


if __name__ == "__main__":
    sys.exit(benches.main(__doc__, 23, FIXED, random_case, run, cells, stalls=35))

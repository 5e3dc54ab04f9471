#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Readers that are reset while their memory is not, behind rhz_mem_guard, in Icarus
(rhz_tb_mem_guard): what they asked for before must not reach them. And lint of the
same parameters.
  mem_guard.py [--seeds N]    as many random sets besides the fixed ones"""
import sys

import benches

FIXED = [
    dict(DataWidth=64, Words=24, Burst=8, Buffer=16, Readers=1),
    dict(DataWidth=512, Words=7, Burst=1, Buffer=2, Readers=3, Memory=1),
    dict(DataWidth=32, Words=200, Burst=64, Buffer=128, Readers=2, Memory=60),
]


def random_case(rng):
    burst = rng.choice([1, 2, 4, 8, 16])
    return dict(DataWidth=8 << rng.randint(0, 6), Words=rng.randint(1, 100), Burst=burst,
                Buffer=max(2, burst * rng.choice([1, 2, 5])), Readers=rng.randint(1, 4),
                Memory=rng.randint(1, 60))


def run(p, rng, folder):
    return benches.simulate("rhz_tb_mem_guard", p, folder)


def cells(p):
    return [("rhz_mem_guard", {"Width": p["DataWidth"]})]


if __name__ == "__main__":
    sys.exit(benches.main(__doc__, 29, FIXED, random_case, run, cells, stalls=35))

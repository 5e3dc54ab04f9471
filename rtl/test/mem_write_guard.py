#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FIFOs in a memory that are reset while the memory is not, behind rhz_mem_guard and
rhz_mem_write_guard, in Icarus (rhz_tb_mem_write_guard): what went in before must not come
out, and bursts that were begun are written to their end. And lint of the same
parameters.
  mem_write_guard.py [--seeds N]    as many random sets besides the fixed ones"""
import sys

import benches
import mem_fifo

FIXED = [{**p, "Resets": 16} for p in mem_fifo.FIXED[1:5]]


def random_case(rng):
    return {**mem_fifo.random_case(rng), "Resets": 24}


def run(p, rng, folder):
    return benches.simulate("rhz_tb_mem_write_guard", p, folder)


def cells(p):
    return [("rhz_mem_write_guard", {"Width": p["DataWidth"]})]


if __name__ == "__main__":
    sys.exit(benches.main(__doc__, 31, FIXED, random_case, run, cells, stalls=35))

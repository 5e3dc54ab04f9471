#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The border for frames after a fault, rhz_axis_in in Icarus (rhz_tb_border): frames
that end early, late or without TLAST, resets in between. And lint of the same
parameters.
  border.py [--seeds N]    as many random sets besides the fixed ones"""
import sys

import benches

FIXED = [
    dict(DataWidth=64, Elem=8, Lanes=1, FrameElements=64, Row=64),
    dict(DataWidth=64, Elem=8, Lanes=8, FrameElements=64, Row=64),
    dict(DataWidth=8, Elem=8, Lanes=1, FrameElements=16, Row=16),
    # Icarus takes long for the gearbox of 64 lanes, so there are fewer frames of it.
    dict(DataWidth=64, Elem=3, Lanes=5, FrameElements=130, Row=65, Frames=40),
    dict(DataWidth=64, Elem=8, Lanes=1, FrameElements=3, Row=3),  # one beat a frame
    dict(DataWidth=16, Elem=32, Lanes=2, FrameElements=8, Row=4),
    dict(DataWidth=64, Elem=8, Lanes=2, FrameElements=64, Row=64, Silent=1),
]


def random_case(rng):
    lanes = rng.randint(1, 6)
    row = lanes * rng.randint(1, 12)
    return dict(DataWidth=8 << rng.randint(0, 4), Elem=rng.randint(1, 17), Lanes=lanes,
                FrameElements=row * rng.randint(1, 4), Row=row, Silent=int(rng.random() < 0.15))


def run(p, rng, folder):
    return benches.simulate("rhz_tb_border", p, folder)


def cells(p):
    return [("rhz_axis_in", {k: v for k, v in p.items() if k not in ("Silent", "Frames")})]


if __name__ == "__main__":
    sys.exit(benches.main(__doc__, 29, FIXED, random_case, run, cells, stalls=40))

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a test case of a cell is, and how its parameters are drawn: the corner
cases first, then seeded random ones. cells.py makes the cases."""

import random


class Port:
    """A stream: beats are lists of lane values, None where any value will do."""

    def __init__(self, name, width, lanes, beats):
        self.name, self.width, self.lanes, self.beats = name, width, lanes, beats
        self.bits = width * lanes


class Case:
    def __init__(self, cell, params, inputs, outputs, stages, predict, files=None):
        self.cell, self.params, self.inputs, self.outputs = cell, params, inputs, outputs
        self.stages, self.predict, self.files = stages, predict, files or {}
        self.depth = params["Depth"]
        self.early = {}         # stages by which an output is before the others
        self.returns = 0        # cycles, beyond the usual one, for a credit
        self.clocks = 2
        self.extra, self.final, self.errors = [], [], 0
        self.record = []        # what each cycle is looked at for
        self.cycles = 0         # that every run has at least
        self.endless = False    # beats come after the last that is compared
        self.connections = []
        for port in inputs:
            self.connections += [".%s_valid_i(%s_valid)" % (port.name, port.name),
                                 ".%s_ready_o(%s_ready)" % (port.name, port.name),
                                 ".%s_data_i(%s_data)" % (port.name, port.name)]
        for port in outputs:
            self.connections += [".%s_valid_o(%s_valid)" % (port.name, port.name),
                                 ".%s_ready_i(%s_ready)" % (port.name, port.name),
                                 ".%s_data_o(%s_data)" % (port.name, port.name)]
        self.params = dict(params, Latency=stages + (2 if self.depth > 64 else 1))


def number(rng, width, signed):
    """A random number with its extremes more often than by chance."""
    low = -(1 << (width - 1)) if signed else 0
    high = low + (1 << width) - 1
    return rng.choice([low, high, 0 if low else high]) if rng.random() < 0.15 \
        else rng.randint(low, high)


def words(lanes, width):
    word = 0
    for index, value in enumerate(lanes):
        word |= (value & ((1 << width) - 1)) << (index * width)
    return word


def cut(elements, row, lanes):
    """Cuts elements into beats, rows of `row` elements, unused lanes None."""
    beats, at = [], 0
    while at < len(elements):
        end = min(at + row, len(elements))
        while at < end:
            beat = elements[at:min(at + lanes, end)]
            at += len(beat)
            beats.append(beat + [None] * (lanes - len(beat)))
    return beats


def depth(rng):
    return rng.choice([2, 2, 3, 4, 8, 17, 64, 65, 100])


# Every maker takes (rng, overrides): the overrides are the corner cases.
MAKERS, CORNERS = {}, {}


def maker(*corners):
    def register(function):
        name = "rhz_" + function.__name__
        MAKERS[name] = function
        CORNERS[name] = list(corners)
        return function
    return register


def names():
    return list(MAKERS)


def corners(cell):
    return len(CORNERS[cell])


def make(cell, index, seed):
    rng = random.Random("%s %d" % (cell, seed))
    fixed = CORNERS[cell][index] if index < len(CORNERS[cell]) else {}
    return MAKERS[cell](rng, fixed)


def pick(rng, fixed, **choices):
    """Draws the parameters that are not fixed: a list is a choice, a pair of
    numbers a range."""
    params = {}
    for name, choice in choices.items():
        if name in fixed:
            params[name] = fixed[name]
        elif isinstance(choice, tuple):
            params[name] = rng.randint(*choice)
        else:
            params[name] = rng.choice(choice)
    return params

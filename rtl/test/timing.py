# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timing of the stream cells as a max-plus model: the rules of
docs/rationale/stream-cells.md and nothing else. Cycle 0 is the first cycle
after reset. Every function returns the cycles in which the cell pops its
inputs and in which the sink pops its outputs."""

import math


class Pattern:
    """Cycles in which a source offers or a sink takes, repeated for ever."""

    def __init__(self, bits):
        self.bits = bits
        assert any(bits)

    def next(self, cycle):
        while not self.bits[cycle % len(self.bits)]:
            cycle += 1
        return cycle


class Input:
    """A source: offers `count` beats, each from a cycle of its pattern on, one
    at a time; pop() says that the cell has taken the beat. The first one is not
    seen before the cycle `start`."""
    start = 0

    def __init__(self, pattern, count):
        self.pattern, self.count, self.pops = pattern, count, []

    def more(self):
        return len(self.pops) < self.count

    def visible(self):
        if not self.pops:
            return max(self.pattern.next(0), self.start)
        return self.pattern.next(self.pops[-1] + 1)

    def pop(self, cycle):
        self.pops.append(cycle)


class Output:
    """An output buffer of `depth` credits before a sink. A firing in cycle t
    is visible from t + latency; a pop in u frees its credit for u + 1, or
    `returns` cycles later."""

    def __init__(self, pattern, depth, stages, returns=0):
        self.pattern, self.depth, self.pops = pattern, depth, []
        self.returns = returns
        self.latency = stages + (2 if depth > 64 else 1)

    def credit(self):
        """First cycle in which the next firing has a credit."""
        index = len(self.pops) - self.depth
        return self.pops[index] + 1 + self.returns if index >= 0 else 0

    def fire(self, cycle):
        after = self.pops[-1] + 1 if self.pops else 0
        self.pops.append(self.pattern.next(max(cycle + self.latency, after)))


def wires(source, sink):
    """A beat passes when the source offers it and the sink takes it."""
    while source.more():
        cycle = sink.pattern.next(source.visible())
        source.pop(cycle)
        sink.pops.append(cycle)


def actor(inputs, outputs, popped=lambda i: None, produces=lambda i: True,
          seen=lambda i: []):
    """Firing i pops the inputs popped(i) (None: all) and, if produces(i), pushes
    every output; those of seen(i) must be there as well."""
    cycle, firing = -1, 0
    while True:
        taken = popped(firing)
        taken = inputs if taken is None else [inputs[k] for k in taken]
        there = taken + [inputs[k] for k in seen(firing)]
        if not all(source.more() for source in there):
            return
        cycle = max([cycle + 1] + [source.visible() for source in there])
        if produces(firing):
            cycle = max([cycle] + [sink.credit() for sink in outputs])
            for sink in outputs:
                sink.fire(cycle)
        for source in taken:
            source.pop(cycle)
        firing += 1


def state(source, sink, beats):
    """The initial value, a beat a cycle, and then what comes in."""
    cycle = -1
    for _ in range(beats):
        cycle = max(cycle + 1, sink.credit())
        sink.fire(cycle)
    while source.more():
        cycle = max(cycle + 1, source.visible(), sink.credit())
        sink.fire(cycle)
        source.pop(cycle)


def row_beats(count, row, lanes):
    """Sizes of the beats of a stream of `count` elements with row length `row`."""
    sizes = []
    while sum(sizes) < count:
        left = row
        while left > 0:
            sizes.append(min(lanes, left))
            left -= sizes[-1]
    return sizes


def gearbox_kind(lanes_in, row_in, lanes_out, row_out, longest=32):
    """Whether units are picked from beats, collected to beats, or pass a ring."""
    unit = math.gcd(lanes_in, lanes_out, row_in, row_out)
    beats = lambda lanes, row: -(-row // lanes) if row % lanes else 1
    most_in, most_out = min(lanes_in, row_in) // unit, min(lanes_out, row_out) // unit
    if most_out == 1 and most_in <= longest and beats(lanes_in, row_in) <= longest:
        return "pick"
    if most_in == 1 and beats(lanes_out, row_out) <= longest:
        return "collect"
    return "ring"


def gearbox_stages(*shape):
    """Stages from what emits a beat to the output buffer."""
    return 1 + (gearbox_plan(*shape)[2] if gearbox_kind(*shape) == "ring" else 0)


def regroup(source, sink, shape, sizes_in, sizes_out):
    """A gearbox of this shape; sizes are those of all beats, in elements."""
    kind, unit = gearbox_kind(*shape), math.gcd(*shape)
    if kind == "pick":
        first = [k == 0 for size in sizes_in for k in range(size // unit)] + [True]
        return actor([source], [sink], popped=lambda n: [0] if first[n] else [])
    if kind == "collect":
        last = [k == size // unit - 1 for size in sizes_out for k in range(size // unit)]
        return actor([source], [sink], produces=lambda n: last[n])
    store, accept_stage, _ = gearbox_plan(*shape)
    return gearbox(source, sink, sizes_in, sizes_out, store, accept_stage)


def gearbox_plan(lanes_in, row_in, lanes_out, row_out):
    """Of a ring: store size in elements, and the stages that rotations add to accept and emit."""
    unit = math.gcd(lanes_in, lanes_out, row_in, row_out)
    beat_in, last_in = min(lanes_in, row_in) // unit, row_in % lanes_in // unit
    beat_out, last_out = min(lanes_out, row_out) // unit, row_out % lanes_out // unit
    in_turns = lanes_in >= row_in or last_in == 0
    aligned = lanes_out >= row_out or last_out == 0
    step_in = beat_in if in_turns else math.gcd(beat_in, last_in)
    step_out = beat_out if aligned else math.gcd(beat_out, last_out)
    up = lambda value, step: -(-value // step) * step
    room = beat_in + beat_out + max(beat_in, beat_out)
    both = math.lcm(beat_in, beat_out)
    out_turns = aligned and (not in_turns or up(room, both) <= 3 * room)
    if in_turns:
        ring_step = both if out_turns else beat_in
        write, read = beat_in, beat_out if out_turns else math.gcd(step_out, beat_in)
    else:
        ring_step = beat_out if out_turns else math.gcd(step_in, step_out)
        write, read = math.gcd(step_in, ring_step), math.gcd(step_out, ring_step)
    spare = 0 if in_turns else beat_in - last_in
    accept_stage = not in_turns and up(room + spare, ring_step) > 32 * write
    store = room + (beat_in if accept_stage else 0)
    places = up(store + spare, ring_step) // read
    emit_stage = places > (32 if aligned else 16)
    return store * unit, int(accept_stage), int(emit_stage)


def gearbox(source, sink, sizes_in, sizes_out, store, stage):
    """Two processes around a store; whole beats in sizes_out are emitted."""
    accepts, emits = [], []
    before_in, before_out = [0], [0]          # elements before beat k
    for size in sizes_in:
        before_in.append(before_in[-1] + size)
    for size in sizes_out:
        before_out.append(before_out[-1] + size)

    def reached(sums, amount):
        """Number of beats after which at least `amount` elements have passed."""
        return next((k for k, total in enumerate(sums) if total >= amount), None)

    progress = True
    while progress:
        progress = False
        while source.more():
            index = len(accepts)
            needed = reached(before_out, before_in[index + 1] - store)
            if needed is None or needed > len(emits):
                break
            cycle = max(source.visible(), accepts[-1] + 1 if accepts else 0,
                        emits[needed - 1] + 1 if needed > 0 else 0)
            source.pop(cycle)
            accepts.append(cycle)
            progress = True
        while len(emits) < len(sizes_out):
            needed = reached(before_in, before_out[len(emits) + 1])
            if needed is None or needed > len(accepts):
                break
            cycle = max(sink.credit(), emits[-1] + 1 if emits else 0,
                        accepts[needed - 1] + 1 + stage)
            sink.fire(cycle)
            emits.append(cycle)
            progress = True


def window(source, sink, p, frames):
    """`p` holds the parameters of rhz_window by name."""
    clamp = lambda value, top: max(0, min(value, top))
    words = -(-p["Channels"] // p["Lanes"])
    in_cols = -(-p["Width"] // p["PixelsIn"])
    # Writer: the row of every beat, and the beat that completes a pixel.
    beat_row, done = [], {}
    for row in range(frames * p["Height"]):
        for col in range(in_cols):
            beat_row += [row] * words
            for q in range(p["PixelsIn"]):
                done[row, col * p["PixelsIn"] + q] = len(beat_row) - 1
    # Reader: (beat of the writer that it waits for, oldest row to set or None).
    inner = words // p["Groups"]
    if not p["KernelParallel"]:
        inner *= p["KernelH"] * p["KernelW"]
    per_position = p["Groups"] * p["Repeat"] * inner
    reads = []
    for frame in range(frames):
        base = frame * p["Height"]
        for oy in range(p["OutHeight"]):
            for ox in range(0, p["OutWidth"], p["PixelsOut"]):
                row = clamp(oy * p["StrideH"] - p["PadTop"]
                            + (p["KernelH"] - 1) * p["DilationH"], p["Height"] - 1)
                col = clamp((ox + p["PixelsOut"] - 1) * p["StrideW"] - p["PadLeft"]
                            + (p["KernelW"] - 1) * p["DilationW"], p["Width"] - 1)
                reads += [[done[base + row, col], None] for _ in range(per_position)]
            last = oy == p["OutHeight"] - 1
            reads[-1][1] = base + (p["Height"] if last else clamp(
                (oy + 1) * p["StrideH"] - p["PadTop"], p["Height"]))
    writes, fired, releases = [], [], [(-1, 0)]    # releases: (cycle, oldest)
    progress = True
    while progress:
        progress = False
        while source.more():
            row = beat_row[len(writes)]
            free = next((c for c, oldest in releases if row - oldest < p["Rows"]), None)
            if free is None:
                break
            cycle = max(source.visible(), writes[-1] + 1 if writes else 0, free + 1)
            source.pop(cycle)
            writes.append(cycle)
            progress = True
        while len(fired) < len(reads) and reads[len(fired)][0] < len(writes):
            newest, oldest = reads[len(fired)]
            cycle = max(sink.credit(), fired[-1] + 1 if fired else 0, writes[newest] + 1)
            sink.fire(cycle)
            fired.append(cycle)
            if oldest is not None:
                releases.append((cycle, oldest))
            progress = True
    return len(fired)


def window_tiled(source, sink, tiles, row_beats, rows, tile_beats):
    """Two processes: the reader of a tile waits for the rows that it needs, and
    frees some after it. `tiles` are these two counts, frame after frame."""
    writes, fired, freed = [], [], [(-1, 0)]    # freed: (cycle, rows so far)
    progress = True
    while progress:
        progress = False
        while source.more():
            row = len(writes) // row_beats
            free = next((c for c, before in freed if row - before < rows), None)
            if free is None:
                break
            cycle = max(source.visible(), writes[-1] + 1 if writes else 0, free + 1)
            source.pop(cycle)
            writes.append(cycle)
            progress = True
        while len(fired) < len(tiles) * tile_beats:
            need, frees = tiles[len(fired) // tile_beats]
            newest = (freed[-1][1] + need) * row_beats
            if newest > len(writes):
                break
            cycle = max(sink.credit(), fired[-1] + 1 if fired else 0,
                        writes[newest - 1] + 1 if newest else 0)
            sink.fire(cycle)
            fired.append(cycle)
            if len(fired) % tile_beats == 0:
                freed.append((cycle, freed[-1][1] + frees))
            progress = True


def window_batch(source, out, newest, frame_beats, places, most, patience, beats, positions):
    """Batches of `most` frames in `beats` beats, the last ones of which read the
    last of each frame. A batch begins when it is full, or if nothing comes for
    `patience` cycles; how many frames each has."""
    complete, freed, batches, begun = [], [], [], 0    # cycles
    last = -1
    while True:
        while source.more():
            frame = len(source.pops) // frame_beats
            if frame - places >= len(freed):
                break
            cycle = source.visible()
            if source.pops:
                cycle = max(cycle, source.pops[-1] + 1)
            if frame >= places:
                cycle = max(cycle, freed[frame - places] + 1)
            source.pop(cycle)
            if len(source.pops) % frame_beats == 0:
                complete.append(cycle)
        if begun == len(complete):
            return batches
        last = max(last + 1, newest.credit(), complete[begun] + 1)
        full = complete[begun + most - 1] + 1 if begun + most <= len(complete) else math.inf
        for write, after in zip(source.pops, source.pops[1:] + [math.inf]):
            if last < full and after >= max(last, write + 1 + patience):
                last = min(full, max(last, write + 1 + patience))
                break
        newest.fire(last)
        count = min(most, sum(cycle < last for cycle in complete[begun:]))
        for beat in range(beats):
            last = max(last + 1, out.credit())
            out.fire(last)
            frame, place = divmod(beat - (beats - most * positions), positions)
            if 0 <= frame < count and place == positions - 1:
                freed.append(last)
        begun += count
        batches.append(count)


def unbatch(source, newest, sink, there, beats):
    """Beats pass or are dropped while the number of their batch is there."""
    cycle = -1
    for at, passes in enumerate(there):
        if at % beats == 0:
            known = newest.visible()
        cycle = max(cycle + 1, source.visible(), known)
        if passes:
            cycle = max(cycle, sink.credit())
            sink.fire(cycle)
        source.pop(cycle)
        if at % beats == beats - 1:
            newest.pop(cycle)


def shared_weights(values, weights, sink, firings, pieces):
    """Firings that take a beat of `values`; the first one of a group has new
    weights, whole words of `pieces` beats that are gathered before: (is it the
    first, does it produce)."""
    words, used = [], []     # cycles: a word is complete, and goes into use
    cycle, taken = -1, -1
    for first, produces in firings:
        if not values.more():
            break
        if first:
            for _ in range(pieces):
                if not weights.more():
                    return
                taken = max(taken + 1, weights.visible())
                if len(weights.pops) % pieces == pieces - 1 and used:
                    taken = max(taken, used[-1] + 1)
                weights.pop(taken)
            words.append(taken)
        cycle = max(cycle + 1, values.visible(), words[-1] + 1 if first else 0)
        if produces:
            cycle = max(cycle, sink.credit())
            sink.fire(cycle)
        values.pop(cycle)
        if first:
            used.append(cycle)


def reorder(source, sink, elements, out_elements):
    """Two pages."""
    writes, reads = [], []
    progress = True
    while progress:
        progress = False
        while source.more():
            frame = len(writes) // elements
            if (frame - 1) * out_elements > len(reads):
                break
            free = reads[(frame - 1) * out_elements - 1] + 1 if frame >= 2 else 0
            cycle = max(source.visible(), writes[-1] + 1 if writes else 0, free)
            source.pop(cycle)
            writes.append(cycle)
            progress = True
        while (len(reads) // out_elements + 1) * elements <= len(writes):
            last = (len(reads) // out_elements + 1) * elements - 1
            cycle = max(sink.credit(), reads[-1] + 1 if reads else 0, writes[last] + 1)
            sink.fire(cycle)
            reads.append(cycle)
            progress = True


def matmul(rows, stored, sink, beats, firings, folds):
    """Two pages of `beats` beats, each for `firings` firings; a result comes of
    `folds` of them."""
    writes, fires = [], []
    progress = True
    while progress:
        progress = False
        while stored.more():
            page = len(writes) // beats
            if (page - 1) * firings > len(fires):
                break
            free = fires[(page - 1) * firings - 1] + 1 if page >= 2 else 0
            cycle = max(stored.visible(), writes[-1] + 1 if writes else 0, free)
            stored.pop(cycle)
            writes.append(cycle)
            progress = True
        while rows.more() and (len(fires) // firings + 1) * beats <= len(writes):
            last = (len(fires) // firings + 1) * beats - 1
            cycle = max(rows.visible(), fires[-1] + 1 if fires else 0, writes[last] + 1)
            if len(fires) % folds == folds - 1:
                cycle = max(cycle, sink.credit())
                sink.fire(cycle)
            rows.pop(cycle)
            fires.append(cycle)
            progress = True


def turns(inputs, outputs, sizes, store, weights=None):
    """Results of each layer in turn, (their beats, of a vector, vectors), go to the
    store and from there to the layer's output. `weights` are there for each beat."""
    cycle = leaves = -1
    while True:
        for source, sink, (folds, out_folds, vectors) in zip(inputs, outputs, sizes):
            for _ in range(vectors * out_folds):
                for fold in range(folds):
                    if not source.more():
                        return
                    cycle = max(cycle + 1, source.visible())
                    if weights:
                        cycle = max(cycle, weights.visible())
                    if fold == folds - 1:
                        cycle = max(cycle, store.credit())
                    source.pop(cycle)
                    if weights:
                        weights.pop(cycle)
                # The store's sink is the next firing of the output.
                leaves = max(leaves + 1, cycle + store.latency, sink.credit())
                store.pops.append(leaves)
                sink.fire(leaves)


def replay(source, sink, words, times, pieces, group):
    """Blocks of words, of which each takes `pieces` beats or a beat has `group`, are
    stored; one is read when it is whole, and its last round makes room."""
    writes, reads = [], []
    cycle = -1
    while True:
        progress = False
        while source.more():
            word = len(writes)
            # The read that frees its place: the same word of the block before.
            block, at = divmod(word, words)
            freed = block * words * times - words + at if block else None
            if freed is not None and freed >= len(reads):
                break
            for piece in range(pieces):
                cycle = max(cycle + 1, source.visible())
                if piece == pieces - 1 and freed is not None:
                    cycle = max(cycle, reads[freed] + 1)
                if piece < pieces - 1 or at % group == group - 1 or at == words - 1:
                    source.pop(cycle)
            writes.append(cycle)
            progress = True
        while len(reads) // (words * times) * words + words <= len(writes):
            newest = len(reads) // (words * times) * words + words - 1
            time = max(sink.credit(), reads[-1] + 1 if reads else 0, writes[newest] + 1)
            sink.fire(time)
            reads.append(time)
            progress = True
        if not progress:
            return


def mem_reader(sink, lengths, depth, latency, gap, accepts):
    """Bursts, (their beats, places that must be free), from a memory that accepts a
    request in the cycles of a pattern, has its first beat `latency` cycles later and
    one every `gap` cycles."""
    cycle, granted, due, asked = -1, 0, 0, 0
    for length, places in lengths:
        freed = asked + places - depth if places else 0
        asked += length
        cycle = max(cycle + 1, granted, sink.pops[freed - 1] + 1 if freed > 0 else 0)
        granted = accepts.next(cycle + 1)
        for beat in range(length):
            due = max(due + gap, granted + latency if beat == 0 else 0)
            sink.fire(due)


def rows(source, sink, beats, links):
    """Actors in a row, between each two of them a store: of so many places, with a
    beat visible after so many cycles, and what the next actor needs of a whole row
    visible after so many from its last beat on. A row is `beats` beats."""
    fires = [[] for _ in range(len(links) + 1)]
    while source.more():
        for s, times in enumerate(fires):
            first = len(times)
            for i in range(first, first + beats):
                cycle = times[-1] + 1 if times else 0
                if s == 0:
                    cycle = max(cycle, source.visible())
                else:
                    _, stored, row = links[s - 1]
                    cycle = max(cycle, fires[s - 1][i] + stored,
                                fires[s - 1][first + beats - 1] + row)
                if s == len(links):
                    cycle = max(cycle, sink.credit())
                    sink.fire(cycle)
                elif i >= links[s][0]:
                    cycle = max(cycle, fires[s + 1][i - links[s][0]] + 1)
                if s == 0:
                    source.pop(cycle)
                times.append(cycle)

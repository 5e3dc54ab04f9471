# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test cases of the cells around weights that come from a memory: readers,
windows read by tiles, words that are put out again and again."""

import timing
from cases import Case, Port, cut, maker, number, pick
from loads import LOAD_CHECK, MEMORY


def drawn_window(rng, fixed):
    """The parameters that windows read by tiles have in common, without rows that
    are stored or read together, and the rows that a kernel spans."""
    p = pick(rng, fixed, Elem=(1, 8), Channels=(1, 6), Height=(1, 7), Width=(1, 6),
             KernelH=(1, 4), KernelW=(1, 3), StrideH=(1, 3), StrideW=(1, 3),
             DilationH=[1, 1, 2], DilationW=[1, 1, 2], Repeat=[1, 1, 2, 3],
             Depth=[2, 2, 3, 8, 64, 65])
    p["Lanes"] = rng.randint(1, p["Channels"])
    extent_h = (p["KernelH"] - 1) * p["DilationH"] + 1
    extent_w = (p["KernelW"] - 1) * p["DilationW"] + 1
    low = lambda: fixed.get("pad", rng.randint(0, 2))
    p["PadTop"], p["PadLeft"] = low(), low()
    size_h = p["Height"] + p["PadTop"] + max(low(), extent_h - p["Height"] - p["PadTop"])
    size_w = p["Width"] + p["PadLeft"] + max(low(), extent_w - p["Width"] - p["PadLeft"])
    p["OutHeight"] = fixed.get("OutHeight", (size_h - extent_h) // p["StrideH"] + 1)
    p["OutWidth"] = (size_w - extent_w) // p["StrideW"] + 1
    p["PadValue"] = number(rng, p["Elem"], True)
    return p, extent_h


def drawn_frames(rng, p, count):
    """Frames, and the beats in which they come."""
    words = -(-p["Channels"] // p["Lanes"])
    frames = [[[[number(rng, p["Elem"], False) for _ in range(words * p["Lanes"])]
                for _ in range(p["Width"])] for _ in range(p["Height"])] for _ in range(count)]
    beats = []
    for frame in frames:
        for row in frame:
            flat = sum(row, [])
            beats += cut(flat, len(flat), p["Lanes"])
    return frames, beats


def read_together(p, frames, rows):
    """The beats in which these rows of windows of several frames are read; None
    stands for a frame that anything may be read of."""
    def lanes(frame, y, x, word):
        if frame is None:
            return [None] * p["Lanes"]
        inside = 0 <= y < p["Height"] and 0 <= x < p["Width"]
        return [frame[y][x][word * p["Lanes"] + g] if inside else p["PadValue"]
                for g in range(p["Lanes"])]
    return [lanes(frame, oy * p["StrideH"] - p["PadTop"] + kh * p["DilationH"],
                  ox * p["StrideW"] - p["PadLeft"] + kw * p["DilationW"], word)
            for _ in range(p["Repeat"]) for kh in range(p["KernelH"])
            for kw in range(p["KernelW"]) for word in range(-(-p["Channels"] // p["Lanes"]))
            for frame in frames for oy in rows for ox in range(p["OutWidth"])]


@maker({"Height": 1, "Width": 1, "KernelH": 1, "KernelW": 1, "Channels": 1, "pad": 0,
        "OutHeight": 1, "TileRows": 1},
       {"Height": 4, "Width": 3, "KernelH": 3, "KernelW": 3, "StrideH": 1, "pad": 1, "TileRows": 4,
        "OutHeight": 4, "spare": 4, "Repeat": 3},
       {"Height": 6, "KernelH": 1, "StrideH": 3, "OutHeight": 2, "pad": 0, "TileRows": 1},
       {"Height": 2, "KernelH": 2, "pad": 3, "OutHeight": 6, "StrideH": 1, "TileRows": 2},
       {"Height": 20, "Width": 2, "KernelH": 3, "StrideH": 1, "DilationH": 1, "pad": 1,
        "OutHeight": 20, "TileRows": 1, "Channels": 1, "Repeat": 1})
def window_tiled(rng, fixed):
    p, extent_h = drawn_window(rng, fixed)
    p["TileRows"] = fixed.get("TileRows", rng.choice(
        [t for t in range(1, p["OutHeight"] + 1) if p["OutHeight"] % t == 0]))
    # Per tile: the oldest row in use, and the rows that must be there from it on.
    clamp = lambda value, top: max(0, min(value, top))
    tops = range(0, p["OutHeight"], p["TileRows"])
    oldest = [clamp(row * p["StrideH"] - p["PadTop"], p["Height"]) for row in tops] + [p["Height"]]
    tiles = []
    for at, row in enumerate(tops):
        newest = clamp((row + p["TileRows"] - 1) * p["StrideH"] - p["PadTop"] + extent_h - 1,
                       p["Height"] - 1)
        tiles.append((max(newest + 1, oldest[at + 1]) - oldest[at], oldest[at + 1] - oldest[at]))
    p["Rows"] = max(need for need, _ in tiles) + fixed.get("spare", rng.choice([0, 0, 1, 2, 5]))
    p["Ultra"] = rng.choice([0, 1])
    frames, beats_in = drawn_frames(rng, p, 3)
    beats_out = [beat for frame in frames for top in tops
                 for beat in read_together(p, [frame], range(top, top + p["TileRows"]))]
    row_beats = len(beats_in) // len(frames) // p["Height"]
    tile_beats = len(beats_out) // len(frames) // len(tiles)
    return Case("rhz_window_tiled", p, [Port("in", p["Elem"], p["Lanes"], beats_in)],
                [Port("out", p["Elem"], p["Lanes"], beats_out)], 4,
                lambda i, o: timing.window_tiled(i[0], o[0], tiles * len(frames), row_beats,
                                                 p["Rows"], tile_beats))


@maker({"Height": 1, "Width": 1, "KernelH": 1, "KernelW": 1, "Channels": 1, "pad": 0,
        "OutHeight": 1, "Repeat": 1, "Frames": 2, "Places": 2},
       {"Height": 1, "Width": 1, "KernelH": 1, "KernelW": 1, "Channels": 6, "pad": 0,
        "OutHeight": 1, "Repeat": 3, "Frames": 4, "Places": 8},
       {"Height": 3, "Width": 3, "KernelH": 3, "KernelW": 3, "StrideH": 1, "pad": 1,
        "OutHeight": 3, "DilationH": 1, "Frames": 3, "Places": 5, "Repeat": 2},
       {"Height": 2, "KernelH": 2, "pad": 3, "OutHeight": 6, "StrideH": 1, "Frames": 2})
def window_batch(rng, fixed):
    p, _ = drawn_window(rng, fixed)
    p["Frames"] = fixed.get("Frames", rng.choice([2, 2, 3, 4, 5]))
    p["Places"] = fixed.get("Places", p["Frames"] + rng.choice([0, 1, p["Frames"]]))
    p["Patience"] = fixed.get("Patience", rng.choice([1, 2, 5, 30]))
    p["Ultra"] = rng.choice([0, 1])
    frames, beats_in = drawn_frames(rng, p, 3 * p["Frames"] + 1)
    positions = p["OutHeight"] * p["OutWidth"]
    beats = len(read_together(p, [None] * p["Frames"], range(p["OutHeight"])))

    def predict(inputs, outputs):
        batches = timing.window_batch(inputs[0], outputs[0], outputs[1],
                                      len(beats_in) // len(frames), p["Places"], p["Frames"],
                                      p["Patience"], beats, positions)
        out, left = [], frames
        for count in batches:
            here, left = left[:count], left[count:]
            out += read_together(p, here + [None] * (p["Frames"] - count), range(p["OutHeight"]))
        return {"out": out, "n": [[count - 1] for count in batches]}
    case = Case("rhz_window_batch", p, [Port("in", p["Elem"], p["Lanes"], beats_in)],
                [Port("out", p["Elem"], p["Lanes"], []),
                 Port("n", (p["Frames"] - 1).bit_length(), 1, [])], 4, predict)
    case.early = {"n": 3}
    return case


@maker({"Beats": 1, "Frames": 2, "Elem": 1}, {"Frames": 4, "Beats": 3}, {"Frames": 5, "Depth": 65})
def unbatch(rng, fixed):
    p = pick(rng, fixed, Elem=(1, 30), Beats=(1, 9), Frames=[2, 3, 4, 8], Depth=[2, 3, 64, 65])
    newest = [rng.choice([0, p["Frames"] - 1, rng.randrange(p["Frames"])])
              for _ in range(max(4, 150 // (p["Beats"] * p["Frames"])))]
    beats = [[number(rng, p["Elem"], False)]
             for _ in range(len(newest) * p["Frames"] * p["Beats"])]
    there = [frame <= last for last in newest for frame in range(p["Frames"])
             for _ in range(p["Beats"])]
    return Case("rhz_unbatch", p,
                [Port("in", p["Elem"], 1, beats),
                 Port("n", (p["Frames"] - 1).bit_length(), 1, [[last] for last in newest])],
                [Port("out", p["Elem"], 1, [beat for beat, is_there in zip(beats, there) if is_there])],
                1, lambda i, o: timing.unbatch(i[0], i[1], o[0], there, p["Frames"] * p["Beats"]))


@maker({"Words": 1, "Times": 2, "Width": 1, "Beat": 8}, {"Words": 2, "Times": 3, "Beat": 64},
       {"Words": 7, "Width": 24, "Beat": 64}, {"Words": 9, "Width": 72, "Beat": 64},
       {"Words": 70, "Width": 20, "Beat": 8, "Times": 2}, {"Words": 64, "Depth": 65})
def replay(rng, fixed):
    p = pick(rng, fixed, Width=(1, 40), Words=(1, 20), Times=(1, 5), Beat=[8, 32, 64],
             Depth=[2, 3, 64, 65])
    pieces = -(-p["Width"] // p["Beat"])
    p["PerBeat"] = 1 if pieces > 1 else rng.randint(1, p["Beat"] // p["Width"])
    beats_in, beats_out, group = [], [], p["PerBeat"]
    for _ in range(max(3, 100 // p["Words"])):
        block = [rng.getrandbits(p["Width"]) for _ in range(p["Words"])]
        for at in range(0, p["Words"], group):
            beat = sum(word << k * p["Width"] for k, word in enumerate(block[at:at + group]))
            beats_in += [[beat >> k * p["Beat"] & (1 << p["Beat"]) - 1] for k in range(pieces)]
        beats_out += [[word] for word in block * p["Times"]]
    return Case("rhz_replay", p, [Port("in", p["Beat"], 1, beats_in)],
                [Port("out", p["Width"], 1, beats_out)], 2,
                lambda i, o: timing.replay(i[0], o[0], p["Words"], p["Times"], pieces, group))


@maker({"Words": 1, "Burst": 1, "DataWidth": 8, "Depth": 2, "Group": 1},
       {"Words": 40, "Burst": 16, "Depth": 65, "Group": 1},
       {"Words": 300, "Burst": 16, "DataWidth": 256, "Depth": 64, "Page": 3, "Group": 1},
       {"Words": 7, "Burst": 16, "Depth": 40, "Group": 1},
       {"Words": 33, "Burst": 32, "Depth": 32, "latency": 1, "Group": 1},
       {"Words": 75, "Burst": 8, "Group": 3, "Depth": 24}, {"Words": 64, "Burst": 4, "Group": 4, "Depth": 70},
       {"Words": 3, "Burst": 4, "Group": 2, "Depth": 8})
def mem_reader(rng, fixed):
    p = pick(rng, fixed, DataWidth=[8, 32, 64, 128], Words=(1, 90), Burst=[1, 2, 4, 8, 16],
             Page=[0, 1, 5, 100000], Group=[1, 1, 2, 5])
    p["Depth"] = fixed.get("Depth", max(2, p["Group"] * p["Burst"] * rng.choice([1, 2, 3])
                                        + rng.randint(0, 9)))
    latency, gap = fixed.get("latency", rng.randint(1, 30)), rng.choice([1, 1, 2, 3])
    pattern = rng.choice([(1 << 64) - 1, rng.getrandbits(64) | 1])
    segment = [rng.getrandbits(p["DataWidth"]) for _ in range(p["Words"])]
    rounds = -(-250 // p["Words"])
    beats = [[word] for word in segment * rounds]
    # Each burst, and the places that must be free: of a whole group when it begins.
    whole = p["Group"] * min(p["Burst"], p["Words"])
    lengths = [min(p["Burst"], p["Words"] - at) for at in range(0, p["Words"], p["Burst"])]
    lengths = [(length, length if p["Group"] == 1 else 0 if k % p["Group"] else whole)
               for k, length in enumerate(lengths)] * rounds
    case = Case("rhz_mem_reader", p, [], [Port("out", p["DataWidth"], 1, beats)], 1,
                lambda i, o: timing.mem_reader(o[0], lengths, p["Depth"], latency, gap,
                                               timing.Pattern([pattern >> k & 1 for k in range(64)])),
                {"segment.txt": segment})
    case.endless = True
    size = p["DataWidth"] // 8
    case.extra = [MEMORY % {"pattern": pattern, "width": p["DataWidth"], "words": p["Words"],
                            "bytes": size, "base": p["Page"] * 4096, "gap": gap,
                            "latency": latency, "most": len(beats) + 4 * p["Depth"] + 4000}]
    case.connections += [".m_axi_%s(%s)" % (name, name) for name in (
        "arvalid", "arready", "araddr", "arlen", "rvalid", "rready", "rdata")] + [
            ".m_axi_rlast(1'b0)"]
    return case


@maker({"Words": 1, "Burst": 1}, {"Words": 300, "Burst": 64, "InFlight": 4, "DataWidth": 64},
       {"Words": 70, "Burst": 16, "DataWidth": 128, "Load": 32, "latency": 1},
       {"Words": 33, "Burst": 32, "InFlight": 1, "latency": 1})
def load_reader(rng, fixed):
    p = pick(rng, fixed, DataWidth=[8, 32, 64, 128], Words=(1, 200), Burst=[1, 2, 4, 8, 16],
             InFlight=[1, 2, 4, 7], Page=[0, 1, 5, 100000])
    p["Load"] = fixed.get("Load", max(8, p["DataWidth"] // rng.choice([1, 1, 2, 4])))
    pieces = p["DataWidth"] // p["Load"]
    latency, gap = fixed.get("latency", rng.randint(1, 30)), rng.choice([1, 1, 2, 3])
    segment = [rng.getrandbits(p["DataWidth"]) for _ in range(p["Words"])]
    p["Depth"] = 2
    case = Case("rhz_load_reader", p, [], [], 0, lambda i, o: None, {"segment.txt": segment})
    del case.params["Depth"]
    size = p["DataWidth"] // 8
    bursts = -(-p["Words"] // p["Burst"])
    case.cycles = p["Words"] * max(gap, pieces) + bursts * (latency + 80) + 40
    case.extra = [MEMORY % {"pattern": rng.getrandbits(64) | 1, "width": p["DataWidth"],
                            "words": p["Words"], "bytes": size, "base": p["Page"] * 4096,
                            "gap": gap, "latency": latency, "most": 2 * p["Words"] + 1000},
                  LOAD_CHECK % {"width": p["DataWidth"], "load": p["Load"], "pieces": pieces,
                                "most": 2 * p["Words"] + 1000, "most_bursts": p["InFlight"]}]
    case.record = ['if (cycle == %d && words != %d) $fwrite(log, "F %%0d words\\n", words);'
                   % (case.cycles, p["Words"] * pieces)]
    case.connections += [".m_axi_%s(%s)" % (name, name) for name in (
        "arvalid", "arready", "araddr", "arlen", "rvalid", "rready", "rdata", "rlast")] + [
            ".load_valid_o(load_valid)", ".load_data_o(load_data)"]
    return case

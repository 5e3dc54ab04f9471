# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test cases of the stream cells: parameters, stimulus, and what the cells must
answer."""

import timing
from cases import Case, Port, cut, depth, maker, number, pick, words
from loads import resident, streamed


@maker({"Depth": 2, "Width": 1}, {"Depth": 65}, {"Depth": 64})
def fifo(rng, fixed):
    p = pick(rng, fixed, Width=(1, 40), Depth=[2, 3, 4, 5, 16, 63, 64, 65, 70, 128])
    beats = [[number(rng, p["Width"], False)] for _ in range(300)]
    return Case("rhz_fifo", p, [Port("in", p["Width"], 1, beats)],
                [Port("out", p["Width"], 1, beats)], 1, timing.actor)


@maker({"Registers": 2, "Depth": 6, "Width": 1}, {"Registers": 2, "Depth": 2},
       {"Registers": 5, "Depth": 65})
def crossing(rng, fixed):
    p = pick(rng, fixed, Width=(1, 40), Registers=(2, 5),
             Depth=[2, 3, 6, 8, 12, 16, 64, 65])
    beats = [[number(rng, p["Width"], False)] for _ in range(300)]
    case = Case("rhz_crossing", p, [Port("in", p["Width"], 1, beats)],
                [Port("out", p["Width"], 1, beats)], p["Registers"], timing.actor)
    case.returns = p["Registers"]
    return case


@maker({"Beats": 1, "Depth": 2, "Width": 1}, {"Beats": 2, "Depth": 2},
       {"Beats": 65, "Depth": 65}, {"Beats": 64, "Depth": 64, "Block": 1})
def state(rng, fixed):
    p = pick(rng, fixed, Width=(1, 40), Beats=(1, 70), Block=[0, 1])
    p["Depth"] = fixed.get("Depth", max(2, p["Beats"] + rng.choice([0, 0, 1, 7])))
    value = lambda: number(rng, p["Width"], False)
    initial = [value() for _ in range(p["Beats"])]
    beats = [[value()] for _ in range(4 * p["Beats"] + 60)]
    p["InitFile"] = "i.txt"
    return Case("rhz_state", p, [Port("in", p["Width"], 1, beats)],
                [Port("out", p["Width"], 1, [[v] for v in initial] + beats)], 1,
                lambda i, o: timing.state(i[0], o[0], p["Beats"]), {"i.txt": initial})


@maker({"Outputs": 2, "Depth": 2}, {"Outputs": 8, "Depth": 66})
def fork(rng, fixed):
    p = pick(rng, fixed, Width=(1, 40), Outputs=(2, 8), Depth=[2, 3, 5, 64, 65])
    beats = [[number(rng, p["Width"], False)] for _ in range(200)]
    outputs = [Port("out%d" % k, p["Width"], 1, beats) for k in range(p["Outputs"])]
    case = Case("rhz_fork", p, [Port("in", p["Width"], 1, beats)], outputs, 1, timing.actor)
    case.extra = ["  wire [%d:0] valids; wire [%d:0] datas;" % (
        p["Outputs"] - 1, p["Outputs"] * p["Width"] - 1)]
    for k in range(p["Outputs"]):
        case.extra += ["  assign out%d_valid = valids[%d];" % (k, k),
                       "  assign out%d_data = datas[%d +: %d];" % (
                           k, k * p["Width"], p["Width"])]
    readys = ", ".join("out%d_ready" % k for k in reversed(range(p["Outputs"])))
    case.connections = case.connections[:3] + [
        ".out_valid_o(valids)", ".out_ready_i({%s})" % readys, ".out_data_o(datas)"]
    return case


@maker({"BlockA": 1, "BlockB": 1, "Lanes": 1, "Elem": 1}, {"BlockA": 1, "BlockB": 5},
       {"BlockA": 4, "BlockB": 1})
def concat(rng, fixed):
    p = pick(rng, fixed, Elem=(1, 12), Lanes=(1, 4), BlockA=(1, 6), BlockB=(1, 6),
             Depth=[2, 3, 5, 64, 65])
    rounds = 20
    beats = {k: [[number(rng, p["Elem"], False) for _ in range(p["Lanes"])]
                 for _ in range(rounds * p["Block" + k])] for k in "AB"}
    out, order = [], []
    for r in range(rounds):
        for port, k in enumerate("AB"):
            size = p["Block" + k]
            out += beats[k][r * size:(r + 1) * size]
            order += [[port]] * size
    order.append([0])
    return Case("rhz_concat", p,
                [Port("a", p["Elem"], p["Lanes"], beats["A"]),
                 Port("b", p["Elem"], p["Lanes"], beats["B"])],
                [Port("out", p["Elem"], p["Lanes"], out)], 1,
                lambda i, o: timing.actor(i, o, popped=lambda n: order[n]))


@maker({"LanesIn": 1, "LanesOut": 1, "RowIn": 1, "RowOut": 1, "Frame": 30, "Elem": 1},
       {"LanesIn": 4, "LanesOut": 16, "RowIn": 64, "RowOut": 64, "Frame": 64},
       {"LanesIn": 16, "LanesOut": 4, "RowIn": 64, "RowOut": 64, "Frame": 64},
       {"LanesIn": 8, "LanesOut": 3, "RowIn": 30, "RowOut": 3, "Frame": 30},
       {"LanesIn": 3, "LanesOut": 8, "RowIn": 3, "RowOut": 30, "Frame": 30},
       {"LanesIn": 7, "LanesOut": 5, "RowIn": 35, "RowOut": 35, "Frame": 35},
       {"LanesIn": 8, "LanesOut": 1, "RowIn": 32, "RowOut": 32, "Frame": 32, "Depth": 4},
       {"LanesIn": 5, "LanesOut": 1, "RowIn": 64, "RowOut": 64, "Frame": 64},
       {"LanesIn": 5, "LanesOut": 1, "RowIn": 6, "RowOut": 6, "Frame": 12, "Depth": 4},
       {"LanesIn": 40, "LanesOut": 1, "RowIn": 80, "RowOut": 80, "Frame": 80},
       {"LanesIn": 1, "LanesOut": 8, "RowIn": 32, "RowOut": 32, "Frame": 32, "Depth": 4},
       {"LanesIn": 1, "LanesOut": 7, "RowIn": 20, "RowOut": 20, "Frame": 60},
       {"LanesIn": 2, "LanesOut": 4, "RowIn": 6, "RowOut": 6, "Frame": 36},
       {"LanesIn": 13, "LanesOut": 11, "RowIn": 26, "RowOut": 26, "Frame": 26},
       {"LanesIn": 8, "LanesOut": 8, "RowIn": 5, "RowOut": 20, "Frame": 20},
       {"LanesIn": 8, "LanesOut": 8, "RowIn": 20, "RowOut": 5, "Frame": 20},
       {"LanesIn": 31, "LanesOut": 29, "RowIn": 62, "RowOut": 62, "Frame": 62, "Elem": 3},
       # Rotations with a stage on one side and on both.
       {"LanesIn": 20, "LanesOut": 1, "RowIn": 40, "RowOut": 1, "Frame": 40},
       {"LanesIn": 32, "LanesOut": 7, "RowIn": 45, "RowOut": 7, "Frame": 315},
       {"LanesIn": 7, "LanesOut": 32, "RowIn": 7, "RowOut": 45, "Frame": 315},
       {"LanesIn": 19, "LanesOut": 17, "RowIn": 46, "RowOut": 23, "Frame": 46},
       {"LanesIn": 64, "LanesOut": 49, "RowIn": 64, "RowOut": 49, "Frame": 3136, "Elem": 1})
def gearbox(rng, fixed):
    p = pick(rng, fixed, Elem=(1, 9), LanesIn=(1, 12), LanesOut=(1, 12), RowIn=(1, 24),
             RowOut=(1, 24), Depth=[2, 3, 4, 64, 65])
    frame = p["RowIn"] * p["RowOut"] * rng.choice([1, 1, 2])
    frame = fixed.get("Frame", frame)
    frames = max(1, -(-150 // frame))
    elements = [number(rng, p["Elem"], False) for _ in range(frame * frames)]
    beats_in = cut(elements, p["RowIn"], p["LanesIn"])
    beats_out = cut(elements, p["RowOut"], p["LanesOut"])
    # Unused lanes of the output are zero.
    zeroed = [[v or 0 for v in beat] for beat in beats_out]
    noisy = [[number(rng, p["Elem"], False) if v is None else v for v in beat]
             for beat in beats_in]
    size = lambda beats: [sum(v is not None for v in beat) for beat in beats]
    shape = p["LanesIn"], p["RowIn"], p["LanesOut"], p["RowOut"]
    return Case("rhz_gearbox", p, [Port("in", p["Elem"], p["LanesIn"], noisy)],
                [Port("out", p["Elem"], p["LanesOut"], zeroed)], timing.gearbox_stages(*shape),
                lambda i, o: timing.regroup(i[0], o[0], shape, size(beats_in), size(beats_out)))


def axis_parameters(rng, fixed):
    p = pick(rng, fixed, DataWidth=[8, 16, 32, 64], Elem=[1, 3, 5, 8, 12, 16],
             Lanes=(1, 6), Row=(1, 20), Depth=[2, 4, 64, 65])
    p["FrameElements"] = p["Row"] * fixed.get("RowsPerFrame", rng.randint(1, 4))
    return p


def axis_case(rng, fixed, outward):
    p = axis_parameters(rng, fixed)
    frames = max(2, 120 // p["FrameElements"])
    unit = p["DataWidth"]
    while p["Elem"] % unit or p["DataWidth"] % unit:
        unit -= 1
    scale = p["Elem"] // unit
    stream, bus = [], []
    stream_sizes, bus_sizes = [], []
    for _ in range(frames):
        elements = [number(rng, p["Elem"], False) for _ in range(p["FrameElements"])]
        beats = cut(elements, p["Row"], p["Lanes"])
        stream += beats
        stream_sizes += [scale * sum(v is not None for v in beat) for beat in beats]
        units = [(v >> (unit * k)) & ((1 << unit) - 1) for v in elements for k in range(scale)]
        per_beat = p["DataWidth"] // unit
        beats = cut(units, len(units), per_beat)
        bus_sizes += [sum(v is not None for v in beat) for beat in beats]
        bus += [[words([v or 0 for v in beat], unit), int(k == len(beats) - 1)]
                for k, beat in enumerate(beats)]
    lanes_stream, lanes_bus = p["Lanes"] * scale, p["DataWidth"] // unit
    rows_stream, rows_bus = scale * p["Row"], scale * p["FrameElements"]
    shape = ((lanes_stream, rows_stream, lanes_bus, rows_bus) if outward
             else (lanes_bus, rows_bus, lanes_stream, rows_stream))
    if outward:
        noisy = [[number(rng, p["Elem"], False) if v is None else v for v in beat]
                 for beat in stream]
        # One stream of the bench carries {tlast, tdata}.
        out = [[beat[0] | beat[1] << p["DataWidth"]] for beat in bus]
        case = Case("rhz_axis_out", p, [Port("in", p["Elem"], p["Lanes"], noisy)],
                    [Port("out", p["DataWidth"] + 1, 1, out)], timing.gearbox_stages(*shape),
                    lambda i, o: timing.regroup(i[0], o[0], shape, stream_sizes, bus_sizes))
        case.connections = case.connections[:3] + [
            ".m_axis_tvalid(out_valid)", ".m_axis_tready(out_ready)",
            ".m_axis_tdata(out_data[%d:0])" % (p["DataWidth"] - 1),
            ".m_axis_tlast(out_data[%d])" % p["DataWidth"]]
        return case
    # A source may leave TLAST out; what else may happen to it: border.py.
    silent = rng.random() < 0.5
    beats_in = [[data | (last and not silent) << p["DataWidth"]] for data, last in bus]
    # Padding bits may be anything.
    for k, size in enumerate(bus_sizes):
        if size * unit < p["DataWidth"]:
            noise = rng.getrandbits(p["DataWidth"]) >> (size * unit) << (size * unit)
            beats_in[k][0] |= noise
    errors = sum((beat[0] >> p["DataWidth"]) != b[1] for beat, b in zip(beats_in, bus))
    case = Case("rhz_axis_in", p, [Port("in", p["DataWidth"] + 1, 1, beats_in)],
                [Port("out", p["Elem"], p["Lanes"], [[v or 0 for v in b] for b in stream])],
                timing.gearbox_stages(*shape),
                lambda i, o: timing.regroup(i[0], o[0], shape, bus_sizes, stream_sizes))
    case.extra = ["  wire [15:0] err;"]
    case.final = ['$fwrite(log, "E %0d\\n", err);']
    case.errors = errors
    case.connections = [".s_axis_tvalid(in_valid)", ".s_axis_tready(in_ready)",
                        ".s_axis_tdata(in_data[%d:0])" % (p["DataWidth"] - 1),
                        ".s_axis_tlast(in_data[%d])" % p["DataWidth"],
                        ".err_o(err)"] + case.connections[3:]
    return case


AXIS_CORNERS = ({"DataWidth": 8, "Elem": 8, "Lanes": 1, "Row": 1, "RowsPerFrame": 1},
                {"DataWidth": 64, "Elem": 8, "Lanes": 3, "Row": 21, "RowsPerFrame": 1},
                {"DataWidth": 64, "Elem": 3, "Lanes": 5, "Row": 13, "RowsPerFrame": 3},
                {"DataWidth": 16, "Elem": 32, "Lanes": 2, "Row": 4, "RowsPerFrame": 2},
                {"DataWidth": 64, "Elem": 64, "Lanes": 1, "Row": 3, "RowsPerFrame": 2})


@maker(*AXIS_CORNERS)
def axis_in(rng, fixed):
    return axis_case(rng, fixed, False)


@maker(*AXIS_CORNERS)
def axis_out(rng, fixed):
    return axis_case(rng, fixed, True)


@maker({"Height": 1, "Width": 1, "KernelH": 1, "KernelW": 1, "Channels": 1, "Lanes": 1,
        "KernelParallel": 0, "PixelsIn": 1, "PixelsOut": 1, "pad": 0},
       {"Height": 1, "Width": 1, "KernelH": 1, "KernelW": 1, "Channels": 12, "Lanes": 4,
        "Groups": 1, "Repeat": 5, "KernelParallel": 0, "PixelsIn": 1, "PixelsOut": 1, "pad": 0},
       {"Height": 6, "Width": 5, "KernelH": 1, "KernelW": 1, "StrideH": 1, "StrideW": 1,
        "pad": 2, "KernelParallel": 0},
       {"Height": 8, "Width": 8, "KernelH": 5, "KernelW": 5, "StrideH": 1, "StrideW": 1,
        "KernelParallel": 1, "PixelsIn": 1, "PixelsOut": 2, "Channels": 3, "Lanes": 3,
        "DilationH": 1, "DilationW": 1, "pad": 0, "Rows": 6},
       {"Height": 8, "Width": 8, "KernelH": 2, "KernelW": 2, "StrideH": 2, "StrideW": 2,
        "KernelParallel": 1, "PixelsIn": 4, "PixelsOut": 2, "Channels": 2, "Lanes": 2,
        "DilationH": 1, "DilationW": 1, "pad": 0},
       {"Height": 1, "Width": 4, "KernelH": 3, "KernelW": 3, "KernelParallel": 1, "Rows": 1,
        "StrideH": 1, "DilationH": 1, "pad": 1},
       {"Height": 5, "Width": 7, "KernelH": 3, "KernelW": 3, "KernelParallel": 0,
        "StrideH": 1, "StrideW": 1, "DilationH": 1, "DilationW": 1, "Channels": 5, "Lanes": 2,
        "pad": 1, "Rows": 5, "Depth": 64},
       {"Height": 4, "Width": 9, "KernelH": 2, "KernelW": 3, "KernelParallel": 0,
        "PixelsIn": 4, "PixelsOut": 1, "Channels": 2, "Lanes": 2},
       {"Height": 3, "Width": 2, "KernelH": 1, "KernelW": 1, "KernelParallel": 1,
        "PixelsIn": 8, "PixelsOut": 1, "Channels": 1, "Lanes": 1})
def window(rng, fixed):
    p = pick(rng, fixed, Elem=(1, 8), Channels=(1, 6), Height=(1, 7), Width=(1, 9),
             KernelH=(1, 4), KernelW=(1, 4), StrideH=(1, 3), StrideW=(1, 3),
             DilationH=[1, 1, 2], DilationW=[1, 1, 2], PixelsIn=[1, 1, 1, 2, 4],
             PixelsOut=[1, 1, 1, 2, 3], KernelParallel=[0, 1], Repeat=[1, 1, 2, 3],
             Depth=[2, 2, 3, 8, 64, 65])
    if not p["KernelParallel"]:
        p["PixelsOut"] = 1
    if p["PixelsIn"] > 1 or p["PixelsOut"] > 1:
        p["Lanes"], p["Groups"] = p["Channels"], 1
    else:
        p["Lanes"] = fixed.get("Lanes", rng.randint(1, p["Channels"]))
        count = -(-p["Channels"] // p["Lanes"])
        p["Groups"] = fixed.get("Groups", rng.choice(
            [g for g in range(1, count + 1) if count % g == 0]))
    extent_h = (p["KernelH"] - 1) * p["DilationH"] + 1
    extent_w = (p["KernelW"] - 1) * p["DilationW"] + 1
    pad = fixed.get("pad")
    low = lambda: rng.randint(0, 3) if pad is None else pad
    p["PadTop"], p["PadLeft"] = low(), low()
    size_h = p["Height"] + p["PadTop"] + max(low(), extent_h - p["Height"] - p["PadTop"])
    size_w = p["Width"] + p["PadLeft"] + max(low(), extent_w - p["Width"] - p["PadLeft"])
    p["OutHeight"] = (size_h - extent_h) // p["StrideH"] + 1
    p["OutWidth"] = (size_w - extent_w) // p["StrideW"] + 1
    p["PadValue"] = number(rng, p["Elem"], True)
    p["Rows"] = fixed.get("Rows", min(extent_h, p["Height"]) + rng.choice([0, 0, 1, 2, 3]))
    p["Ultra"] = 0 if p["KernelParallel"] else rng.choice([0, 1])
    frames = 4
    words_pixel = -(-p["Channels"] // p["Lanes"])
    padding = p["PadValue"]
    beats_in, beats_out = [], []
    for _ in range(frames):
        # Pixels of words of lanes, the last word filled up with noise.
        frame = [[[number(rng, p["Elem"], False) for _ in range(words_pixel * p["Lanes"])]
                  for _ in range(p["Width"])] for _ in range(p["Height"])]
        for row in frame:
            flat = sum(row, [])
            if p["PixelsIn"] == 1:
                beats_in += cut(flat, len(flat), p["Lanes"])
            else:
                beats_in += cut(flat, len(flat), p["Lanes"] * p["PixelsIn"])

        def element(y, x, channel):
            if 0 <= y < p["Height"] and 0 <= x < p["Width"]:
                return frame[y][x][channel]
            return padding

        per_group = words_pixel // p["Groups"]
        for oy in range(p["OutHeight"]):
            for ox in range(0, p["OutWidth"], p["PixelsOut"]):
                def lanes(kh, kw, word, q=0):
                    if ox + q >= p["OutWidth"]:
                        return [None] * p["Lanes"]
                    y = oy * p["StrideH"] - p["PadTop"] + kh * p["DilationH"]
                    x = (ox + q) * p["StrideW"] - p["PadLeft"] + kw * p["DilationW"]
                    return [element(y, x, word * p["Lanes"] + g) for g in range(p["Lanes"])]
                for group in range(p["Groups"]):
                    for _ in range(p["Repeat"]):
                        these = range(group * per_group, (group + 1) * per_group)
                        kernel = [(kh, kw) for kh in range(p["KernelH"])
                                  for kw in range(p["KernelW"])]
                        if p["KernelParallel"]:
                            beats_out += [sum([lanes(kh, kw, word, q)
                                               for q in range(p["PixelsOut"])
                                               for kh, kw in kernel], []) for word in these]
                        else:
                            beats_out += [lanes(kh, kw, word) for kh, kw in kernel
                                          for word in these]
    width_in = p["Lanes"] * p["PixelsIn"]
    beats_in = [[0 if v is None else v for v in beat] for beat in beats_in]
    return Case("rhz_window", p, [Port("in", p["Elem"], width_in, beats_in)],
                [Port("out", p["Elem"], len(beats_out[0]), beats_out)],
                5 if p["KernelParallel"] else 4,
                lambda i, o: timing.window(i[0], o[0], p, frames))


def clog2(value):
    return (value - 1).bit_length()


def paired_stages(p):
    """Stages from a firing to its dot products in DSPs two by two."""
    most = 7 if p["XSigned"] else 4
    if p["Style"] == 3:     # what the low field of a DSP48E1 has room for
        field = 24 - max(p["XWidth"], p["WWidth"])
        x = 1 << (p["XWidth"] - 1) if p["XSigned"] else (1 << p["XWidth"]) - 1
        most = min(most, ((1 << (field - 1)) - 1) // (x << (p["WWidth"] - 1)))
    cascades = -(-p["Simd"] // most)
    return 8 + -(-p["Simd"] // cascades) + clog2(cascades)


@maker({"Pixels": 1, "Pe": 1, "Simd": 1, "Folds": 1, "OutFolds": 1, "Bias": 0, "Style": 1},
       {"Pe": 3, "Simd": 5, "Folds": 3, "OutFolds": 2, "Bias": 1, "Style": 0},
       {"Pe": 3, "Simd": 15, "XSigned": 1, "XWidth": 8, "WWidth": 8, "Style": 2, "Pixels": 3},
       {"Pe": 3, "Simd": 15, "XSigned": 0, "XWidth": 8, "WWidth": 8, "Style": 2, "Pixels": 2},
       {"Pe": 2, "Simd": 7, "XSigned": 1, "XWidth": 8, "WWidth": 8, "Style": 2, "extreme": 1},
       {"Pe": 2, "Simd": 4, "XSigned": 0, "XWidth": 8, "WWidth": 8, "Style": 2, "extreme": 1},
       {"Pe": 1, "Simd": 1, "XWidth": 1, "WWidth": 1, "Style": 2, "Pixels": 1},
       *({"Pe": 3, "Simd": 15, "XSigned": s, "XWidth": x, "WWidth": 8, "Style": 3, "Pixels": 2,
          "extreme": 1} for s, x in ((0, 8), (1, 8), (0, 7), (0, 4))),
       {"Pe": 1, "Simd": 1, "XWidth": 1, "WWidth": 1, "Style": 0},
       {"Pe": 3, "Simd": 9, "Style": 2, "Folds": 25, "OutFolds": 3},
       *({"Pe": 5, "Simd": 16, "Style": 0, "Folds": 1, "OutFolds": 1, "XWidth": x,
          "XSigned": s, "WWidth": w} for x in (5, 8) for s in (0, 1) for w in (6, 8)),
       {"XWidth": 12, "WWidth": 10, "Style": 1, "Simd": 2})
def matvec(rng, fixed, cell="rhz_matvec"):
    style = fixed.get("Style", rng.randint(0, 3))
    p = pick(rng, fixed, Pixels=[1, 1, 2, 3], Pe=(1, 5), Simd=[1, 2, 3, 4, 5, 7, 8, 9, 16],
             XWidth=(1, 8) if style else (1, 5), XSigned=[0, 1], WWidth=(2, 8), Folds=[1, 1, 2, 3, 7],
             OutFolds=(1, 4), Bias=[0, 1], BiasBlock=[0, 1], Depth=[2, 3, 8, 64, 65],
             Trips=[1, 1, 2, 3], Uses=(1, 3),
             **{"rhz_matvec": {"Block": [0, 1]},
                "rhz_matvec_resident": {"Ultra": [0, 1], "Load": [8, 32, 64, 72]},
                "rhz_matvec_streamed": {"Beat": [8, 32, 64, 128, 256],
                                        "Positions": [1, 1, 2, 3, 5]}}[cell])
    p["Style"] = style
    exact = p["XWidth"] + p["WWidth"] + clog2(p["Simd"] * p["Folds"]) + 1
    p["AccWidth"] = exact + rng.choice([0, 3, 9])
    extreme = "extreme" in fixed
    weight = lambda: -(1 << (p["WWidth"] - 1)) if extreme else number(rng, p["WWidth"], True)
    shape = p["Trips"] * p["OutFolds"] * p["Folds"]
    weights = [[weight() for _ in range(p["Pe"] * p["Simd"])] for _ in range(shape)]
    bias = [[number(rng, exact - 1, True) if p["Bias"] else 0 for _ in range(p["Pe"])]
            for _ in range(p["Trips"] * p["OutFolds"])]
    # Results come about in groups that share their weights.
    group = p.get("Positions", 1)
    results = 30
    beats_in, beats_out = [], []
    for of in [word_at(p, n) for n in range(-(-results // group))]:
        sums = [[[bias[of][e] for e in range(p["Pe"])] for _ in range(p["Pixels"])]
                for _ in range(group)]
        for fold, place in [(fold, place) for fold in range(p["Folds"])
                            for place in range(group)]:
            high = (1 << p["XWidth"]) - 1
            if extreme and rng.random() < 0.7:
                beat = [-(1 << (p["XWidth"] - 1)) if p["XSigned"] else high] \
                    * (p["Pixels"] * p["Simd"])
            else:
                beat = [number(rng, p["XWidth"], p["XSigned"])
                        for _ in range(p["Pixels"] * p["Simd"])]
            beats_in.append(beat)
            row = weights[of * p["Folds"] + fold]
            for q in range(p["Pixels"]):
                for e in range(p["Pe"]):
                    sums[place][q][e] += sum(row[e * p["Simd"] + s] * beat[q * p["Simd"] + s]
                                      for s in range(p["Simd"]))
        beats_out += [sum(of_place, []) for of_place in sums]
    rows = [words(row, p["WWidth"]) for row in weights]
    files = {}
    if cell == "rhz_matvec":
        p["WeightFile"] = "w.txt"
        files["w.txt"] = rows
    if p["Bias"]:
        files["b.txt"] = [words(row, p["AccWidth"]) for row in bias]
        p["BiasFile"] = "b.txt"
    stages = 5 + multiplier_stages(p["Style"], p["XWidth"], p["XSigned"], p["WWidth"]) + clog2(p["Simd"])
    if p["Style"] >= 2:
        stages = paired_stages(p)
    if cell == "rhz_matvec_streamed":
        return streamed(Case, rng, fixed, p, rows, files,
                        Port("in", p["XWidth"], p["Pixels"] * p["Simd"], beats_in),
                        Port("out", p["AccWidth"], p["Pixels"] * p["Pe"], beats_out), stages)
    if cell == "rhz_matvec":
        return Case(cell, p,
                    [Port("in", p["XWidth"], p["Pixels"] * p["Simd"], beats_in)],
                    [Port("out", p["AccWidth"], p["Pixels"] * p["Pe"], beats_out)], stages,
                    lambda i, o: timing.actor(
                        i, o, produces=lambda n: n % p["Folds"] == p["Folds"] - 1), files)
    return resident(Case, rng, cell, p, rows, p["Pe"] * p["Simd"] * p["WWidth"], files,
                    Port("in", p["XWidth"], p["Pixels"] * p["Simd"], beats_in),
                    Port("out", p["AccWidth"], p["Pixels"] * p["Pe"], beats_out), stages)


@maker({"Pe": 3, "Simd": 8, "XSigned": 1, "XWidth": 8, "WWidth": 8, "Style": 2},
       {"Pe": 1, "Simd": 1, "XWidth": 1, "WWidth": 2, "Style": 0, "Folds": 1, "OutFolds": 1},
       {"Pe": 3, "Simd": 9, "Style": 2, "Folds": 25, "OutFolds": 3, "Load": 64},
       {"Pe": 3, "Simd": 9, "Style": 3, "Folds": 5, "OutFolds": 3},
       {"Pe": 5, "Simd": 16, "Style": 0, "Load": 8}, {"Style": 1, "Load": 1024})
def matvec_resident(rng, fixed):
    return matvec(rng, fixed, "rhz_matvec_resident")


@maker({"Pe": 3, "Simd": 8, "XSigned": 1, "XWidth": 8, "WWidth": 8, "Style": 2, "Beat": 64},
       {"Pe": 1, "Simd": 1, "XWidth": 1, "WWidth": 2, "Style": 0, "Folds": 1, "OutFolds": 1},
       {"Pe": 2, "Simd": 4, "Style": 2, "WWidth": 8, "Folds": 7, "OutFolds": 3, "Beat": 256,
        "Words": 4},
       {"Pe": 1, "Simd": 1, "Style": 1, "WWidth": 3, "Folds": 50, "Beat": 64, "Words": 21},
       {"Pe": 5, "Simd": 16, "Style": 0, "Beat": 8, "WWidth": 5},
       {"Pe": 4, "Simd": 8, "WWidth": 8, "Beat": 128},
       {"Pe": 4, "Simd": 8, "WWidth": 8, "Beat": 64, "Style": 3, "Folds": 3},
       {"Pe": 4, "Simd": 8, "WWidth": 8, "Beat": 64, "Positions": 2, "Bias": 1, "OutFolds": 2},
       {"Pe": 4, "Simd": 8, "WWidth": 8, "Beat": 64, "Positions": 7, "Bias": 1, "OutFolds": 3},
       {"Pe": 2, "Simd": 4, "WWidth": 4, "Beat": 64, "Positions": 12, "Folds": 5, "Style": 2},
       {"Positions": 70, "Folds": 3, "Pixels": 1})
def matvec_streamed(rng, fixed):
    return matvec(rng, fixed, "rhz_matvec_streamed")


@maker({"Pe": 1, "Simd": 1, "Inner": 1, "Columns": 1, "Rows": 1, "Matrices": 1, "Passes": 1},
       {"Pe": 1, "Simd": 1, "Inner": 1, "Columns": 1, "Rows": 1, "Matrices": 1, "Passes": 2},
       {"Pe": 3, "Simd": 4, "Inner": 9, "Columns": 7, "ByColumn": 0, "Style": 2},
       {"Pe": 3, "Simd": 4, "Inner": 9, "Columns": 7, "ByColumn": 1, "Style": 2},
       *({"Pe": 2, "Simd": 3, "Inner": 7, "Columns": 5, "Rows": 2, "Matrices": 3, "Passes": 2,
          "ByColumn": along, "Interleaved": turns} for along in (0, 1) for turns in (0, 1)),
       {"Pe": 4, "Simd": 4, "Inner": 8, "Columns": 8, "Matrices": 2, "Style": 1},
       {"Pe": 3, "Simd": 4, "Inner": 9, "Columns": 7, "Style": 3},
       {"Pe": 2, "Simd": 2, "Inner": 4, "Columns": 4, "AWidth": 8, "ASigned": 0, "ZeroA": 128,
        "BWidth": 8, "BSigned": 0, "ZeroB": 128, "Style": 2},
       {"Pe": 2, "Simd": 2, "AWidth": 8, "ASigned": 0, "ZeroA": 117, "BWidth": 8, "BSigned": 1,
        "ZeroB": -3, "Style": 1})
def matmul(rng, fixed):
    style = fixed.get("Style", rng.randint(0, 3))
    p = pick(rng, fixed, Pe=(1, 5), Simd=[1, 2, 3, 4, 5, 7, 8, 9],
             AWidth=(1, 7) if style else (1, 5), ASigned=[0, 1], BWidth=(1, 7), BSigned=[0, 1],
             Inner=(1, 20), Columns=(1, 9), Rows=(1, 4), Matrices=(1, 3), Passes=(1, 3),
             ByColumn=[0, 1], Interleaved=[0, 1], Ultra=[0, 1], Depth=[2, 3, 8, 64, 65])
    p["Style"] = style
    ends = {}
    for side in "AB":
        low = -(1 << (p[side + "Width"] - 1)) if p[side + "Signed"] else 0
        high = low + (1 << p[side + "Width"]) - 1
        zero = fixed.get("Zero" + side, rng.choice([0, 0, rng.randint(low, high)]))
        p["Zero" + side] = zero
        ends[side] = low - zero, high - zero
    signed_bits = lambda low, high: max((~low if low < 0 else low).bit_length(),
                                        (~high if high < 0 else high).bit_length()) + 1
    p["XSigned"] = 1 if p["ZeroA"] else p["ASigned"]
    p["XWidth"] = signed_bits(*ends["A"]) if p["ZeroA"] else p["AWidth"]
    p["WWidth"] = signed_bits(*ends["B"])
    p["Folds"], p["OutFolds"] = -(-p["Inner"] // p["Simd"]), -(-p["Columns"] // p["Pe"])
    p["AccWidth"] = p["XWidth"] + p["WWidth"] + clog2(p["Inner"]) + 1 + rng.choice([0, 5])
    draw = {side: lambda side=side: number(rng, p[side + "Width"], p[side + "Signed"])
            for side in "AB"}

    def padded(row, lanes, side):
        """A row in beats, its unused lanes with any values."""
        row = row + [draw[side]() for _ in range(-len(row) % lanes)]
        return [row[at:at + lanes] for at in range(0, len(row), lanes)]

    inner, columns = range(p["Inner"]), range(p["Columns"])
    a, b, out = [], [], []
    pages = 3
    while len(out) < 60 or pages > 0:
        pages -= 1
        matrices = [[[draw["B"]() for _ in columns] for _ in inner] for _ in range(p["Matrices"])]
        lines = [[[m[k][n] for k in inner] for n in columns] if p["ByColumn"] else m
                 for m in matrices]
        order = [matrix[at] for at in range(len(lines[0])) for matrix in lines] \
            if p["Interleaved"] else sum(lines, [])
        for line in order:
            b += padded(line, p["Simd"] if p["ByColumn"] else p["Pe"], "B")
        for _ in range(p["Passes"]):
            for matrix in matrices:
                for _ in range(p["Rows"]):
                    row = [draw["A"]() for _ in inner]
                    for of in range(p["OutFolds"]):
                        a += padded(row, p["Simd"], "A")
                        out.append([sum((row[k] - p["ZeroA"]) * (matrix[k][n] - p["ZeroB"])
                                        for k in inner) if n < p["Columns"] else None
                                    for n in range(of * p["Pe"], (of + 1) * p["Pe"])])
    lanes = p["Simd"] if p["ByColumn"] else p["Pe"]
    stages = 5 + multiplier_stages(style, p["XWidth"], p["XSigned"], p["WWidth"]) + clog2(p["Simd"])
    if style >= 2:
        stages = paired_stages(p)
    beats = p["Matrices"] * (p["Columns"] * p["Folds"] if p["ByColumn"]
                             else p["Inner"] * p["OutFolds"])
    firings = p["Passes"] * p["Matrices"] * p["Rows"] * p["OutFolds"] * p["Folds"]
    return Case("rhz_matmul", p, [Port("a", p["AWidth"], p["Simd"], a),
                                  Port("b", p["BWidth"], lanes, b)],
                [Port("out", p["AccWidth"], p["Pe"], out)], stages,
                lambda i, o: timing.matmul(i[0], i[1], o[0], beats, firings, p["Folds"]))


@maker({"Pixels": 1, "Lanes": 1, "Taps": 1, "Folds": 1, "OutFolds": 1, "Op": 0},
       {"Pixels": 1, "Lanes": 1, "Taps": 1, "Folds": 1, "OutFolds": 1, "Op": 1},
       {"Pixels": 1, "Lanes": 1, "Taps": 1, "Folds": 1, "OutFolds": 1, "Op": 2, "Positions": 1},
       {"Op": 0, "Bias": 1, "Style": 0, "OutFolds": 3}, {"Op": 1, "XSigned": 1},
       {"Op": 2, "Positions": 4, "Pixels": 2, "OutFolds": 2}, {"Op": 2, "Positions": 0})
def lane_reduce(rng, fixed, cell="rhz_lane_reduce"):
    p = pick(rng, fixed, Op=(0, 2), Pixels=[1, 1, 2, 3], Lanes=(1, 4), Taps=[1, 2, 3, 4, 9],
             XWidth=(1, 8), XSigned=[0, 1], WWidth=(1, 8), Folds=[1, 1, 2, 3, 5],
             OutFolds=(1, 4), Bias=[0, 1], Zero=[0, 0, 3, -7], Style=[0, 1],
             Block=[0, 1], BiasBlock=[0, 1],
             Positions=[0, 1, 2, 5], ScaleWidth=(1, 9), Depth=[2, 3, 8, 64, 65],
             Trips=[1, 1, 2, 3], Uses=(1, 3))
    if p["Op"] != 0:
        p["Bias"], p["Trips"], p["Uses"] = 0, 1, 1
    if p["Op"] != 2:
        p["Positions"] = 0
    scaled = p["Positions"] > 0
    p["AccWidth"] = p["XWidth"] + 5 + clog2(p["Taps"] * p["Folds"]) + rng.choice([0, 5]) + (
        p["WWidth"] if p["Op"] == 0 else 0) + (p["ScaleWidth"] if scaled else 0)
    weights = [[number(rng, p["WWidth"], True) for _ in range(p["Taps"] * p["Lanes"])]
               for _ in range(p["Trips"] * p["OutFolds"] * p["Folds"])]
    bias = [[number(rng, p["AccWidth"] - 3, True) if p["Bias"] else 0
             for _ in range(p["Lanes"])] for _ in range(p["Trips"] * p["OutFolds"])]
    scales = [[number(rng, p["ScaleWidth"], False) for _ in range(p["Pixels"])]
              for _ in range(p["Positions"])]
    beats_in, beats_out = [], []
    for result in range(40):
        of = word_at(p, result)
        gathered = [[] for _ in range(p["Pixels"] * p["Lanes"])]
        for fold in range(p["Folds"]):
            beat = [number(rng, p["XWidth"], p["XSigned"])
                    for _ in range(p["Pixels"] * p["Taps"] * p["Lanes"])]
            beats_in.append(beat)
            row = weights[of * p["Folds"] + fold]
            for q in range(p["Pixels"]):
                for t in range(p["Taps"]):
                    for lane in range(p["Lanes"]):
                        x = beat[(q * p["Taps"] + t) * p["Lanes"] + lane]
                        if p["Op"] == 0:
                            x *= row[t * p["Lanes"] + lane]
                        gathered[q * p["Lanes"] + lane].append(x)
        out = []
        for index, values in enumerate(gathered):
            if p["Op"] == 1:
                out.append(max(values))
            elif p["Op"] == 0:
                out.append(sum(values) + bias[of][index % p["Lanes"]])
            elif scaled:
                scale = scales[result // p["OutFolds"] % p["Positions"]][index // p["Lanes"]]
                out.append((sum(values) - p["Zero"] * p["Taps"] * p["Folds"]) * scale)
            else:
                out.append(sum(values))
        beats_out.append(out)
    files = {}
    if p["Op"] == 0:
        rows = [words(row, p["WWidth"]) for row in weights]
        files["w.txt"] = rows
        p["WeightFile"] = "w.txt"
    if p["Bias"]:
        files["b.txt"] = [words(row, p["AccWidth"]) for row in bias]
        p["BiasFile"] = "b.txt"
    if cell != "rhz_lane_reduce":
        for name in ("Op", "Zero", "Positions", "ScaleWidth", "WeightFile", "Block"):
            del p[name]
        del files["w.txt"]
        if cell == "rhz_depthwise_streamed":
            firings = [[rows[word_at(p, n // p["Folds"]) * p["Folds"] + n % p["Folds"]]]
                       for n in range(len(beats_in))]
            return Case(cell, p,
                        [Port("in", p["XWidth"], p["Pixels"] * p["Taps"] * p["Lanes"], beats_in),
                         Port("w", p["Taps"] * p["Lanes"] * p["WWidth"], 1, firings)],
                        [Port("out", p["AccWidth"], p["Pixels"] * p["Lanes"], beats_out)],
                        4 + multiplier_stages(p["Style"], p["XWidth"], p["XSigned"], p["WWidth"])
                        + clog2(p["Taps"]),
                        lambda i, o: timing.actor(
                            i, o, produces=lambda n: n % p["Folds"] == p["Folds"] - 1), files)
        p.update(Ultra=rng.choice([0, 1]), Load=rng.choice([8, 32, 64, 72]))
        return resident(Case, rng, cell, p, rows, p["Taps"] * p["Lanes"] * p["WWidth"], files,
                        Port("in", p["XWidth"], p["Pixels"] * p["Taps"] * p["Lanes"], beats_in),
                        Port("out", p["AccWidth"], p["Pixels"] * p["Lanes"], beats_out),
                        6 + multiplier_stages(p["Style"], p["XWidth"], p["XSigned"], p["WWidth"])
                        + clog2(p["Taps"]))
    if scaled:
        files["s.txt"] = [words(row, p["ScaleWidth"]) for row in scales]
        p["ScaleFile"] = "s.txt"
    return Case("rhz_lane_reduce", p,
                [Port("in", p["XWidth"], p["Pixels"] * p["Taps"] * p["Lanes"], beats_in)],
                [Port("out", p["AccWidth"], p["Pixels"] * p["Lanes"], beats_out)],
                6 + multiplier_stages(p["Style"] or p["Op"], p["XWidth"], p["XSigned"], p["WWidth"])
                + clog2(p["Taps"]),
                lambda i, o: timing.actor(
                    i, o, produces=lambda n: n % p["Folds"] == p["Folds"] - 1), files)


def multiplier_stages(style, x, x_signed, w):
    """Of rhz_mul."""
    return 2 if style == 0 and min(x + (not x_signed), w) > 4 else 1


def word_at(p, n):
    """The word of a memory that the n-th beat takes: trips have their own."""
    trip = n // (p["OutFolds"] * p["Uses"]) % p["Trips"]
    return trip * p["OutFolds"] + n % p["OutFolds"]


def channelwise(rng, p, cell, out_width, stages, files, function, count=80):
    """One beat in, one beat out; function(word, lane, x)."""
    beats_in, beats_out = [], []
    for n in range(count):
        beat = [number(rng, p["InWidth"], p["InSigned"])
                for _ in range(p["Pixels"] * p["Lanes"])]
        beats_in.append(beat)
        beats_out.append([function(word_at(p, n), i % p["Lanes"], x)
                          for i, x in enumerate(beat)])
    lanes = p["Pixels"] * p["Lanes"]
    return Case(cell, p, [Port("in", p["InWidth"], lanes, beats_in)],
                [Port("out", out_width, lanes, beats_out)], stages, timing.actor, files)


@maker({"Pixels": 1, "Lanes": 1, "Taps": 1, "Folds": 1, "OutFolds": 1, "Op": 0},
       {"Op": 0, "Bias": 1, "Style": 0, "OutFolds": 3}, *({"Op": 0} for _ in range(4)))
def depthwise_resident(rng, fixed):
    return lane_reduce(rng, dict(fixed, Op=0), "rhz_depthwise_resident")


@maker({"Pixels": 1, "Lanes": 1, "Taps": 1, "Folds": 1, "OutFolds": 1, "Op": 0},
       {"Op": 0, "Bias": 1, "Style": 0, "OutFolds": 3}, *({"Op": 0} for _ in range(4)))
def depthwise_streamed(rng, fixed):
    return lane_reduce(rng, dict(fixed, Op=0), "rhz_depthwise_streamed")


@maker({"MulWidth": 0, "Shift": 0, "OutFolds": 1, "Lanes": 1}, {"MulWidth": 0, "Shift": 3},
       {"InWidth": 1, "InSigned": 0, "MulWidth": 1, "OffsetWidth": 1, "Shift": 0},
       {"InWidth": 28, "MulWidth": 18, "OffsetWidth": 40, "Shift": 20, "Lo": 0, "Hi": 255,
        "OutWidth": 8, "Split": 7, "TiesEven": 0},
       {"Lo": -128, "Hi": 127, "OutWidth": 8}, {"Shift": 40, "InWidth": 8, "MulWidth": 4},
       {"Lo": -127, "Hi": 126, "OutWidth": 8, "MulWidth": 0, "InWidth": 12, "OffsetWidth": 4,
        "Shift": 3, "TiesEven": 1})
def requant(rng, fixed):
    p = pick(rng, fixed, Pixels=[1, 1, 2], Lanes=(1, 4), InWidth=(1, 24), InSigned=[0, 1],
             MulWidth=[0, 1, 5, 12, 18, 25], OffsetWidth=(1, 36), OutFolds=(1, 4), OutWidth=(2, 9),
             TiesEven=[0, 1], Style=[0, 1], SplitStyle=[0, 1], Block=[0, 1],
             Slice=[0, 0, 3, 8, 17], Depth=[2, 3, 8, 64, 65], Trips=[1, 1, 2, 3],
             Uses=(1, 4))
    rows = p["Trips"] * p["OutFolds"]
    p["Split"] = fixed.get("Split", rng.choice([0, rng.randint(0, max(0, p["MulWidth"] - 1))]))
    p["Shift"] = fixed.get("Shift", rng.randint(0, max(1, p["InWidth"] + p["MulWidth"] - 4)))
    low = -(1 << (p["OutWidth"] - 1)) if rng.random() < 0.5 else 0
    p["Lo"] = fixed.get("Lo", low + rng.randint(0, 1))
    p["Hi"] = fixed.get("Hi", low + (1 << p["OutWidth"]) - 1 - rng.randint(0, 1))
    m = [[number(rng, p["MulWidth"], True) if p["MulWidth"] else 1 for _ in range(p["Lanes"])]
         for _ in range(rows)]
    o = [[number(rng, p["OffsetWidth"], True) for _ in range(p["Lanes"])]
         for _ in range(rows)]
    pair = lambda f, l: ((o[f][l] & ((1 << p["OffsetWidth"]) - 1)) << p["MulWidth"]) | (
        m[f][l] & ((1 << p["MulWidth"]) - 1))
    p["ParamFile"] = "p.txt"
    files = {"p.txt": [words([pair(f, l) for l in range(p["Lanes"])],
                             p["MulWidth"] + p["OffsetWidth"]) for f in range(rows)]}

    def level(f, l, x):
        total = x * m[f][l] + o[f][l]
        value = total >> p["Shift"]
        if p["TiesEven"] and p["Shift"] and total == value << p["Shift"]:
            value &= ~1
        return max(p["Lo"], min(p["Hi"], value))
    multiplier = multiplier_stages(p["Style"], p["InWidth"], p["InSigned"],
                                   p["MulWidth"] - p["Split"])
    if p["Split"]:
        multiplier = max(multiplier, multiplier_stages(p["SplitStyle"], p["InWidth"],
                                                       p["InSigned"], p["Split"] + 1))
    if p["Slice"] and p["MulWidth"]:
        multiplier = 2
    return channelwise(rng, p, "rhz_requant", p["OutWidth"],
                       6 + multiplier + (p["Split"] > 0), files, level)


@maker({"Count": 1, "OutWidth": 1, "InWidth": 1, "OutFolds": 1}, {"Count": 2}, {"Count": 3},
       {"Count": 4, "OutFolds": 1}, {"Count": 7, "OutFolds": 3}, {"Count": 15, "InWidth": 12},
       {"Count": 1, "OutWidth": 2, "Base": -1, "Step": 2}, {"Count": 63, "OutFolds": 1})
def threshold(rng, fixed):
    p = pick(rng, fixed, Pixels=[1, 1, 2], Lanes=(1, 3), InWidth=(1, 16), InSigned=[0, 1],
             Count=[1, 2, 3, 4, 5, 7, 8, 15, 20], OutFolds=(1, 3), Base=(-3, 3),
             Step=[1, 1, 2, -1], Block=[0, 1], Depth=[2, 3, 8, 64, 65], Trips=[1, 1, 2, 3],
             Uses=(1, 4))
    p["OutWidth"] = fixed.get("OutWidth", clog2(p["Count"] + 1) + 3)
    width = p["InWidth"] + 1
    table = [[sorted(number(rng, width, True) if rng.random() < 0.2 else
                     number(rng, p["InWidth"], p["InSigned"]) for _ in range(p["Count"]))
              for _ in range(p["Lanes"])] for _ in range(p["Trips"] * p["OutFolds"])]
    p["ParamFile"] = "p.txt"
    files = {"p.txt": [words(sum(row, []), width) for row in table]}
    stages = 4 if p["Count"] <= 3 else 2 + 2 * clog2(p["Count"] + 1)
    return channelwise(
        rng, p, "rhz_threshold", p["OutWidth"], stages, files,
        lambda f, l, x: p["Base"] + p["Step"] * sum(x >= t for t in table[f][l]))


@maker({"InWidth": 8, "InSigned": 1, "Lo": -128, "Entries": 256, "OutFolds": 1, "Lanes": 1},
       {"InWidth": 1, "InSigned": 0, "Lo": 0, "Entries": 2, "Lanes": 1, "OutFolds": 1},
       {"InWidth": 3, "InSigned": 0, "Lo": 0, "Entries": 8, "Lanes": 3, "OutFolds": 3})
def table(rng, fixed):
    p = pick(rng, fixed, Pixels=[1, 2], Lanes=(1, 3), InWidth=(1, 6), InSigned=[0, 1],
             OutWidth=(1, 9), OutFolds=(1, 3), Block=[0, 1], Depth=[2, 3, 64, 65],
             Trips=[1, 1, 2, 3], Uses=(1, 4))
    low = -(1 << (p["InWidth"] - 1)) if p["InSigned"] else 0
    p["Lo"] = fixed.get("Lo", low - rng.choice([0, 0, 1, 5]))
    p["Entries"] = fixed.get("Entries", low + (1 << p["InWidth"]) - p["Lo"] + rng.choice([0, 3]))
    entries = [[[number(rng, p["OutWidth"], False) for _ in range(p["Entries"])]
                for _ in range(p["Lanes"])] for _ in range(p["Trips"] * p["OutFolds"])]
    p["TableFile"] = "t.txt"
    files = {"t.txt": sum((sum(row, []) for row in entries), [])}
    return channelwise(rng, p, "rhz_table", p["OutWidth"], 4, files,
                       lambda f, l, x: entries[f][l][x - p["Lo"]])


@maker({"Period": 1, "Start": 0, "Stride": 1, "Count": 1}, {"Period": 5, "Start": 4, "Count": 1},
       {"Period": 8, "Start": 1, "Stride": 3, "Count": 3, "Inner": 1},
       {"Period": 9, "Start": 0, "Stride": 4, "Count": 2, "Inner": 3})
def select(rng, fixed):
    p = pick(rng, fixed, Elem=(1, 9), Inner=[1, 1, 2, 5], Period=(1, 12), Depth=[2, 3, 64, 65])
    p["Start"] = fixed.get("Start", rng.randint(0, p["Period"] - 1))
    p["Stride"] = fixed.get("Stride", rng.randint(1, 4))
    p["Count"] = fixed.get("Count", rng.randint(1, (p["Period"] - 1 - p["Start"]) // p["Stride"] + 1))
    kept = range(p["Start"], p["Period"], p["Stride"])[:p["Count"]]
    keep = [g in kept for g in range(p["Period"]) for _ in range(p["Inner"])]
    beats = [[number(rng, p["Elem"], False)] for _ in range(-(-120 // len(keep)) * len(keep))]
    out = [v for i, v in enumerate(beats) if keep[i % len(keep)]]
    return Case("rhz_select", p, [Port("in", p["Elem"], 1, beats)],
                [Port("out", p["Elem"], 1, out)], 1,
                lambda i, o: timing.actor(i, o, produces=lambda n: keep[n % len(keep)]))


@maker({"Elements": 1, "OutElements": 1}, {"Elements": 2, "OutElements": 2},
       {"Elements": 17, "OutElements": 17}, {"Elements": 1, "OutElements": 4},
       {"Elements": 6, "OutElements": 1})
def reorder(rng, fixed):
    p = pick(rng, fixed, Elem=(1, 9), Elements=(1, 30), OutElements=(1, 40), Block=[0, 1],
             Ultra=[0, 1], Depth=[2, 3, 64, 65])
    order = [rng.randrange(p["Elements"]) for _ in range(p["OutElements"])]
    if p["OutElements"] == p["Elements"]:
        order = list(range(p["Elements"]))
        rng.shuffle(order)
    frames = max(4, 100 // p["Elements"])
    beats_in, beats_out = [], []
    for _ in range(frames):
        frame = [number(rng, p["Elem"], False) for _ in range(p["Elements"])]
        beats_in += [[v] for v in frame]
        beats_out += [[frame[k]] for k in order]
    p["AddressFile"] = "a.txt"
    return Case("rhz_reorder", p, [Port("in", p["Elem"], 1, beats_in)],
                [Port("out", p["Elem"], 1, beats_out)], 3,
                lambda i, o: timing.reorder(i[0], o[0], p["Elements"], p["OutElements"]),
                {"a.txt": order})

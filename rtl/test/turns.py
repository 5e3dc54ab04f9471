# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test cases of the cells on which layers take turns."""

import timing
from cases import Case, Port, maker, number, pick, words
from cells import clog2, multiplier_stages, paired_stages
from loads import LoadChain


def names(prefix, count):
    return ["%s%d" % (prefix, k) for k in range(count)]


CORNERS = (
    {"Layers": 1, "Pe": 1, "Simd": 1, "sizes": [(1, 1, 1)], "Bias": 0, "Style": 0},
    {"Layers": 3, "sizes": [(1, 1, 5)], "Bias": 1, "Style": 1},
    {"Layers": 2, "sizes": [(4, 3, 1)], "Bias": 1, "Style": 0},
    {"Layers": 4, "sizes": [(3, 2, 4)], "Bias": 0, "Style": 2, "Simd": 9, "Pe": 3},
    {"Layers": 2, "sizes": [(3, 2, 4)], "Bias": 1, "Style": 3, "Simd": 9, "Pe": 3},
    {"Layers": 2, "sizes": [(2, 5, 14)], "Bias": 1, "Places": 70},
    {"Layers": 5, "sizes": [(1, 4, 3)], "Places": 2},
    # Of different sizes.
    {"Layers": 2, "sizes": [(1, 1, 1), (17, 2, 3)], "Style": 0},
    {"Layers": 3, "sizes": [(4, 3, 1), (1, 1, 1), (2, 1, 1)], "Bias": 1},
    {"Layers": 3, "sizes": [(2, 2, 3), (1, 4, 1), (5, 1, 2)], "Places": 2},
    {"Layers": 2, "sizes": [(1, 2, 4), (1, 1, 2)], "Style": 1})


def turns(rng, fixed, cell):
    style = fixed.get("Style", rng.randint(0, 3))
    p = pick(rng, fixed, Layers=(1, 5), Pe=(1, 5), Simd=[1, 2, 3, 4, 5, 8, 9],
             XWidth=(1, 8) if style else (1, 5), XSigned=[0, 1], WWidth=(2, 8), Bias=[0, 1],
             BiasBlock=[0, 1], Places=[2, 3, 8, 64, 65], Depth=[2, 3, 8, 64, 65],
             **{"rhz_matvec_turns": {"Block": [0, 1]}, "rhz_turns_streamed": {},
                "rhz_turns_resident": {"Ultra": [0, 1], "Load": [8, 32, 64]}}[cell])
    p["Style"] = style
    layers, pe, simd = p["Layers"], p["Pe"], p["Simd"]
    one = lambda: (rng.choice([1, 1, 2, 3, 7]), rng.randint(1, 4), rng.choice([1, 1, 2, 5]))
    sizes = fixed.get("sizes") or [one() for _ in range(rng.choice([1, layers]))]
    p["Folds"], p["OutFolds"], p["Vectors"] = (max(s[k] for s in sizes) for k in range(3))
    if len(sizes) == 1:
        sizes = sizes * layers
    else:
        p["Sizes"] = "".join("%04x" % number for size in sizes for number in size)
    p["Words"] = sum(folds * outs for folds, outs, _ in sizes)
    p["Biases"] = sum(outs for _, outs, _ in sizes)
    exact = p["XWidth"] + p["WWidth"] + clog2(simd * p["Folds"]) + 1
    p["AccWidth"] = exact + rng.choice([0, 3, 9])
    frames = max(2, -(-30 // sum(outs * vectors for _, outs, vectors in sizes)))
    weights, biases, beats_in, beats_out, used = [], [], [], [], []
    for folds, outs, vectors in sizes:
        own = [[[number(rng, p["WWidth"], True) for _ in range(pe * simd)]
                for _ in range(folds)] for _ in range(outs)]
        bias = [[number(rng, exact - 1, True) if p["Bias"] else 0 for _ in range(pe)]
                for _ in range(outs)]
        rows = [words(row, p["WWidth"]) for result in own for row in result]
        weights += rows
        used += rows * vectors
        biases += [words(row, p["AccWidth"]) for row in bias]
        values, results = [], []
        for of in list(range(outs)) * (vectors * frames):
            beats = [[number(rng, p["XWidth"], p["XSigned"]) for _ in range(simd)]
                     for _ in range(folds)]
            values += beats
            results.append([bias[of][e] + sum(
                row[e * simd + s] * beat[s] for row, beat in zip(own[of], beats)
                for s in range(simd)) for e in range(pe)])
        beats_in.append(values)
        beats_out.append(results)
    files = {}
    if cell == "rhz_matvec_turns":
        p["WeightFile"] = "w.txt"
        files["w.txt"] = weights
    if p["Bias"]:
        p["BiasFile"] = "b.txt"
        files["b.txt"] = biases
    streamed = cell == "rhz_turns_streamed"
    stages = 5 + multiplier_stages(style, p["XWidth"], p["XSigned"], p["WWidth"]) + clog2(simd)
    if style >= 2:
        stages = paired_stages(p)
    if streamed:
        stages -= 1 if style >= 2 else 2
    ins, outs = names("in", layers), names("out", layers)
    word = pe * simd * p["WWidth"]
    chain = None
    if cell == "rhz_turns_resident":
        parts = [row >> low & ((1 << p["Load"]) - 1) for row in weights
                 for low in range(0, word, p["Load"])]
        chain = LoadChain(rng, p["Load"], parts + [rng.getrandbits(p["Load"]) for _ in range(3)],
                          len(parts))
        files.update(chain.files)

    def predict(inputs, outputs):
        for source in inputs:
            source.start = chain.loaded if chain else 0
        store = timing.Output(None, p["Places"], stages)
        timing.turns(inputs[:layers], outputs, sizes, store,
                     inputs[layers] if streamed else None)
    ports = [Port(name, p["XWidth"], simd, beats) for name, beats in zip(ins, beats_in)]
    if streamed:
        ports.append(Port("w", word, 1, [[row] for row in used * frames]))
    case = Case(cell, p, ports,
                [Port(name, p["AccWidth"], pe, beats) for name, beats in zip(outs, beats_out)],
                3 if p["Bias"] else 1, predict, files)
    together = lambda names, suffix: "{%s}" % ", ".join(n + suffix for n in reversed(names))
    opened = " && loaded" if chain else ""
    case.extra = ["  wire [%d:0] in_readys, out_valids; wire [%d:0] out_datas;" % (
        layers - 1, layers * pe * p["AccWidth"] - 1)]
    for k in range(layers):
        bits = pe * p["AccWidth"]
        case.extra += ["  assign in%d_ready = in_readys[%d]%s;" % (k, k, opened),
                       "  assign out%d_valid = out_valids[%d];" % (k, k),
                       "  assign out%d_data = out_datas[%d +: %d];" % (k, k * bits, bits)]
    valids = together(ins, "_valid")
    if chain:
        valids = "%s & {%d{loaded}}" % (valids, layers)
        # The bench's own gate stands at each input.
        case.extra.insert(0, chain.text.replace(
            "  assign in_ready = open_ready && loaded;", "").replace(", open_ready", ""))
        case.record, case.final, case.cycles = [chain.record], [chain.final], chain.last
    case.connections = [
        ".in_valid_i(%s)" % valids, ".in_ready_o(in_readys)",
        ".in_data_i(%s)" % together(ins, "_data"), ".out_valid_o(out_valids)",
        ".out_ready_i(%s)" % together(outs, "_ready"), ".out_data_o(out_datas)"]
    if streamed:
        case.connections += [".w_valid_i(w_valid)", ".w_ready_o(w_ready)", ".w_data_i(w_data)"]
    if chain:
        case.connections += chain.connections
    return case


@maker(*CORNERS)
def matvec_turns(rng, fixed):
    return turns(rng, fixed, "rhz_matvec_turns")


@maker(*CORNERS)
def turns_resident(rng, fixed):
    return turns(rng, fixed, "rhz_turns_resident")


@maker(*CORNERS)
def turns_streamed(rng, fixed):
    return turns(rng, fixed, "rhz_turns_streamed")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test cases of the cell on which layers take turns."""

import timing
from cases import Case, Port, maker, number, pick, words
from cells import clog2, multiplier_stages, paired_stages


def names(prefix, count):
    return ["%s%d" % (prefix, k) for k in range(count)]


@maker({"Layers": 1, "Pe": 1, "Simd": 1, "Folds": 1, "OutFolds": 1, "Vectors": 1, "Bias": 0,
        "Style": 0},
       {"Layers": 3, "Folds": 1, "OutFolds": 1, "Vectors": 5, "Bias": 1, "Style": 1},
       {"Layers": 2, "Folds": 4, "OutFolds": 3, "Vectors": 1, "Bias": 1, "Style": 0},
       {"Layers": 4, "Folds": 3, "OutFolds": 2, "Vectors": 4, "Bias": 0, "Style": 2, "Simd": 9,
        "Pe": 3},
       {"Layers": 2, "Folds": 2, "OutFolds": 5, "Vectors": 14, "Bias": 1, "Places": 70},
       {"Layers": 5, "Folds": 1, "OutFolds": 4, "Vectors": 3, "Places": 2})
def matvec_turns(rng, fixed):
    style = fixed.get("Style", rng.randint(0, 3))
    p = pick(rng, fixed, Layers=(1, 5), Pe=(1, 5), Simd=[1, 2, 3, 4, 5, 8, 9],
             XWidth=(1, 8) if style else (1, 5), XSigned=[0, 1], WWidth=(2, 8),
             Folds=[1, 1, 2, 3, 7], OutFolds=(1, 4), Vectors=[1, 1, 2, 5], Bias=[0, 1],
             Block=[0, 1], BiasBlock=[0, 1], Places=[2, 3, 8, 64, 65], Depth=[2, 3, 8, 64, 65])
    p["Style"] = style
    layers, pe, simd = p["Layers"], p["Pe"], p["Simd"]
    exact = p["XWidth"] + p["WWidth"] + clog2(simd * p["Folds"]) + 1
    p["AccWidth"] = exact + rng.choice([0, 3, 9])
    frames = -(-30 // (layers * p["OutFolds"] * p["Vectors"]))
    values, weights, biases, beats_in, beats_out = [], [], [], [], []
    for _ in range(layers):
        own = [[[number(rng, p["WWidth"], True) for _ in range(pe * simd)]
                for _ in range(p["Folds"])] for _ in range(p["OutFolds"])]
        bias = [[number(rng, exact - 1, True) if p["Bias"] else 0 for _ in range(pe)]
                for _ in range(p["OutFolds"])]
        weights += [words(row, p["WWidth"]) for result in own for row in result]
        biases += [words(row, p["AccWidth"]) for row in bias]
        values, results = [], []
        for of in list(range(p["OutFolds"])) * (p["Vectors"] * frames):
            beats = [[number(rng, p["XWidth"], p["XSigned"]) for _ in range(simd)]
                     for _ in range(p["Folds"])]
            values += beats
            results.append([bias[of][e] + sum(
                row[e * simd + s] * beat[s] for row, beat in zip(own[of], beats)
                for s in range(simd)) for e in range(pe)])
        beats_in.append(values)
        beats_out.append(results)
    p["WeightFile"] = "w.txt"
    files = {"w.txt": weights}
    if p["Bias"]:
        p["BiasFile"] = "b.txt"
        files["b.txt"] = biases
    stages = 5 + multiplier_stages(style, p["XWidth"], p["XSigned"], p["WWidth"]) + clog2(simd)
    if style >= 2:
        stages = paired_stages(p)
    ins, outs = names("in", layers), names("out", layers)

    def predict(inputs, outputs):
        store = timing.Output(None, p["Places"], stages)
        timing.turns(inputs, outputs, p["Vectors"], p["Folds"], p["OutFolds"], store)
    case = Case("rhz_matvec_turns", p,
                [Port(name, p["XWidth"], simd, beats) for name, beats in zip(ins, beats_in)],
                [Port(name, p["AccWidth"], pe, beats) for name, beats in zip(outs, beats_out)],
                3 if p["Bias"] else 1, predict, files)
    together = lambda names, suffix: "{%s}" % ", ".join(n + suffix for n in reversed(names))
    case.extra = ["  wire [%d:0] in_readys, out_valids; wire [%d:0] out_datas;" % (
        layers - 1, layers * pe * p["AccWidth"] - 1)]
    for k in range(layers):
        bits = pe * p["AccWidth"]
        case.extra += ["  assign in%d_ready = in_readys[%d];" % (k, k),
                       "  assign out%d_valid = out_valids[%d];" % (k, k),
                       "  assign out%d_data = out_datas[%d +: %d];" % (k, k * bits, bits)]
    case.connections = [
        ".in_valid_i(%s)" % together(ins, "_valid"), ".in_ready_o(in_readys)",
        ".in_data_i(%s)" % together(ins, "_data"), ".out_valid_o(out_valids)",
        ".out_ready_i(%s)" % together(outs, "_ready"), ".out_data_o(out_datas)"]
    return case

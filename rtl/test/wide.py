# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test cases of borders as wide as a frame: wires between a port and a stream."""

import timing
from cases import Case, Port, maker, pick

CORNERS = ({"Width": 1, "padding": 0}, {"Width": 1, "padding": 7},
           {"Width": 96, "padding": 0, "Depth": 65})


def wide(rng, fixed, outward):
    p = pick(rng, fixed, Width=(1, 130), Depth=[1, 2, 65])
    p["DataWidth"] = p["Width"] + fixed.get("padding", rng.randint(0, 9))
    frames = [rng.getrandbits(p["Width"]) for _ in range(100)]
    if outward:
        # One stream of the bench carries {tlast, tdata}.
        out = [[frame | 1 << p["DataWidth"]] for frame in frames]
        case = Case("rhz_wide_out", p, [Port("in", p["Width"], 1, [[f] for f in frames])],
                    [Port("out", p["DataWidth"] + 1, 1, out)], 0, lambda i, o: timing.wires(i[0], o[0]))
        case.connections = case.connections[:3] + [
            ".m_axis_tvalid(out_valid)", ".m_axis_tready(out_ready)",
            ".m_axis_tdata(out_data[%d:0])" % (p["DataWidth"] - 1),
            ".m_axis_tlast(out_data[%d])" % p["DataWidth"]]
    else:
        # Padding bits may be anything; a beat without TLAST is an error.
        lasts = [int(rng.random() < 0.9) for _ in frames]
        noise = [rng.getrandbits(p["DataWidth"]) >> p["Width"] << p["Width"] for _ in frames]
        beats = [[frame | bits | last << p["DataWidth"]]
                 for frame, bits, last in zip(frames, noise, lasts)]
        case = Case("rhz_wide_in", p, [Port("in", p["DataWidth"] + 1, 1, beats)],
                    [Port("out", p["Width"], 1, [[f] for f in frames])], 0,
                    lambda i, o: timing.wires(i[0], o[0]))
        case.extra = ["  wire [15:0] err;"]
        case.final = ['$fwrite(log, "E %0d\\n", err);']
        case.errors = lasts.count(0)
        case.connections = [".s_axis_tvalid(in_valid)", ".s_axis_tready(in_ready)",
                            ".s_axis_tdata(in_data[%d:0])" % (p["DataWidth"] - 1),
                            ".s_axis_tlast(in_data[%d])" % p["DataWidth"],
                            ".err_o(err)"] + case.connections[3:]
    case.params["Latency"] = 0
    return case


@maker(*CORNERS)
def wide_in(rng, fixed):
    return wide(rng, fixed, False)


@maker(*CORNERS)
def wide_out(rng, fixed):
    return wide(rng, fixed, True)

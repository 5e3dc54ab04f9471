# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A design's border after a fault: whole networks in Verilator whose source loses beats,
adds some and ignores their reset. What comes after the next TLAST is right, and the
design has counted what was not."""
import importlib.util
import json
import shutil
import subprocess

import networks
from framework import Skip

TINY = networks.ROOT / "examples/tiny-digits"
MODEL = TINY / "tiny_digits_qdq_int8.onnx"

BENCH = """`timescale 1ns/1ps
module bench;
  logic clk = 1'b0, rst_n = 1'b0;
  always #5 clk = ~clk;
  logic [%(in)d-1:0] data;
  logic valid = 1'b1, ready, last, out_valid, out_last;
  logic [%(out)d-1:0] out_data;
  logic [15:0] err;
  rhz_top u_top (
    .clk_i(clk), .rst_ni(rst_n), .s_axis_0_tdata(data), .s_axis_0_tvalid(valid),
    .s_axis_0_tready(ready), .s_axis_0_tlast(last), .s_axis_0_err_o(err),
    .m_axis_0_tdata(out_data), .m_axis_0_tvalid(out_valid), .m_axis_0_tready(1'b1),
    .m_axis_0_tlast(out_last)
  );
  logic [%(in)d:0] beats[%(beats)d];
  int next = 0, idle = 0;
  initial begin
    $readmemh("beats.hex", beats);
    {last, data} = beats[0];
    repeat (20) @(negedge clk);  // the source is not in reset
    rst_n = 1'b1;
  end
  always @(posedge clk) begin
    idle <= (rst_n && out_valid) ? 0 : idle + 1;
    if (rst_n && out_valid) $display("OUT %%h %%b", out_data, out_last);
    if (valid && ready) next <= next + 1;
    if (idle == %(idle)d) begin
      $display("ERR %%0d", err);
      $finish;
    end
  end
  always @(negedge clk) begin
    valid = next < %(beats)d;
    {last, data} = beats[valid ? next : 0];
  end
endmodule
"""


def faulty(frames):
    """The beats of eight frames with faults, as (data, last); which answers are
    certain, None for those that are not; how many frames were wrong."""
    def beats(frame):
        return [(data, k == len(frame) - 1) for k, data in enumerate(frame)]
    good = [beats(frame) for frame in frames]
    sent = [good[0],
            good[1][:2] + good[1][3:],          # a beat is lost: it ends early
            good[2],
            [(d, False) for d, _ in good[3]] + good[3][-2:],  # two are added
            good[4],
            good[5][:-1],                       # the last one is lost, with TLAST:
            good[6],                            # this one ends it, and is gone
            good[7]]
    return sum(sent, []), [0, None, 2, 3, 4, None, 7], 3


def after_faults(suite):
    suite.tool("verilator")
    try:
        import numpy as np
    except ImportError:
        raise Skip("Python has no numpy") from None
    images = np.load(TINY / "test_images.npy")[:8]
    for device, goal in (("xczu3eg", "throughput=1000/s"),
                         ("ice40-up5k", "min-resources")):
        package = suite.work / f"{device}.rhz"
        result = suite.compile(MODEL, (), goal, package, "--device", device,
                               "--accept-nearest")
        if not suite.check(result.status == 0, f"{device}, {goal}: compiles "
                           + ("" if result.status == 0 else result.message),
                           result.command):
            continue
        one_device(suite, np, package, images, f"{device}, {goal}")


def one_device(suite, np, package, images, label):
    path = package / "host/rhizome_client.py"
    spec = importlib.util.spec_from_file_location("client", path)
    client = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(client)
    model = client.Model(package)
    into, out = model.to_device[0], model.from_device[0]
    values = images.astype(np.float32).reshape(
        len(images), *model.inputs[0]["shape"])
    wanted = suite.work / "wanted.npy"
    given = suite.work / "given.npy"
    np.save(given, values)
    suite.run("run", package, "--driver", "cpu", "--input", given, "--output",
              wanted)
    wanted = np.load(wanted)

    frames = []
    for value in values:
        packed, size = into.pack(value), into.beat_bytes
        frames.append([int.from_bytes(packed[i:i + size], "little")
                       for i in range(0, len(packed), size)])
    beats, certain, errors = faulty(frames)
    plan = json.loads((package / "plan.json").read_text())
    node = plan["nodes"][0]
    rtl = package / "nodes/node0/rtl"
    folder = suite.work / "bench"
    folder.mkdir()
    width = 8 * into.beat_bytes
    (folder / "beats.hex").write_text("".join(
        f"{last << width | data:x}\n" for data, last in beats))
    idle = 2 * (node["predicted"]["latency_cycles"]
                + node["predicted"]["interval_cycles"]) + 1000
    (folder / "bench.sv").write_text(BENCH % {
        "in": width, "out": 8 * out.beat_bytes, "beats": len(beats), "idle": idle})
    for image in [*rtl.glob("*.hex"), *rtl.glob("*.mem")]:
        (folder / image.name).write_bytes(image.read_bytes())
    sources = [str(rtl / name) for name in node["simulation_models"] + node["rtl"]]
    built = subprocess.run(
        ["verilator", "--binary", "--timing", "-Wno-fatal", "-Wno-lint", "-j", "0",
         "--top-module", "bench", "-o", "bench", *sources, "bench.sv"],
        cwd=folder, capture_output=True, text=True)
    program = folder / "obj_dir/bench"
    if not suite.check(program.exists(), f"{label}: the bench builds "
                       + ("" if program.exists() else built.stderr[-500:])):
        return
    ran = subprocess.run([program], cwd=folder, capture_output=True, text=True,
                         timeout=600)
    rows = [line.split() for line in ran.stdout.splitlines()]
    answers, part = [], b""
    for row in rows:
        if row[:1] == ["OUT"]:
            part += int(row[1], 16).to_bytes(out.beat_bytes, "little")
            if row[2] == "1":
                tensor = np.zeros(model.outputs[0]["shape"], np.float32)
                if len(part) == out.padded_bytes:
                    out.unpack(part, tensor)
                answers.append(tensor)
                part = b""
    same = [number is None or (answer == wanted[number].reshape(answer.shape)).all()
            for answer, number in zip(answers, certain)]
    suite.check(len(answers) == len(certain) and all(same),
                f"{label}: {len(answers)} answers, right: {same}")
    told = [int(row[1]) for row in rows if row[:1] == ["ERR"]]
    suite.check(told == [errors], f"{label}: err_o says {told}")
    shutil.rmtree(folder)

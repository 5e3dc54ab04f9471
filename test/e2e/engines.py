# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks as programs of the engine: the outputs of its software faces and of its RTL
against the interpreter's, byte by byte; predicted cycles against those of the RTL; and
the packages that hold an engine, in simulation and on an OpenCL device."""
import filecmp
import json
import re
import shutil
import sys

import framework
import networks
import report
import transformer
import weights

ROOT = networks.ROOT
MAUI = (networks.MODELS / "ROCm+onnxruntime/csharp/tools/MauiModelTester/Resources/Raw"
        "/test_data/model.onnx")
# The prediction's error at most, and least shares of the array's products (16 x 16).
NEAR = 0.03
SOME = 120  # cycles by which a small layer may differ, of two refreshes of its memory
USE = {"ic_resnet8": 0.90, "kws_dscnn": 0.36, "maui": 0.60, "tv_resnet18": 0.93,
       "tv_resnet50": 0.95, "attention": 0.7}


class Attention(transformer.Block):
    """DistilBERT's block without the functions of rows, which the engine leaves to
    others: shares are each score's own function, and nothing is normalized."""

    def shares(self, scores):
        return self.b.node("Sigmoid", scores)

    def normalized(self, x, width):
        return x


def attention(suite):
    """64 words of 256 channels in 4 heads, calibrated by random words."""
    kit = framework.needed("onnxkit")
    shape, sizes = (64, 256), (64, 4, 64, 1024)
    frames = kit.np.random.default_rng(3).normal(0, 1, (4, 1, *shape)).astype("f4")
    plain = Attention(kit, kit.np, shape)
    plain.language(*sizes)
    plain.b.output(*plain.names.values())
    made = Attention(kit, kit.np, shape, [
        (float(v.min()), float(v.max()))
        for v in kit.runtime_outputs(plain.b.model(), {"x": frames})])
    made.b.output(made.language(*sizes))
    path = suite.work / "attention.onnx"
    kit.onnx.save(made.b.model(), path)
    return path


def module_of(suite, name):
    """A network up to its integers; None if that failed."""
    model = (suite.need(MAUI) if name == "maui"
             else attention(suite) if name == "attention"
             else weights.made(suite, name))
    module = suite.work / f"{name}.mlir"
    result = suite.run("compile", model, "--compile-to", "integerize", "-o", module)
    good = suite.check(result.status == 0, f"{name} becomes integers"
                       + (f": {result.message}" if result.status else ""), result.command)
    return module if good else None


def run(suite, module, core, *options):
    """engine-run's result; its JSON has the numbers."""
    program = suite.need(suite.rhizome.parent / "engine-run")
    return framework.run_program([program, module, core, *options])


def faces(suite, name, core, which, frames):
    """The faces WHICH (checked,native,opencl) on some FRAMES."""
    module = module_of(suite, name)
    if not module:
        return
    result = run(suite, module, core, "--faces", which, "--frames", frames)
    for line in result.out.splitlines():
        if line.startswith("SKIPPED"):
            suite.skip(line)
    if suite.check(result.status == 0 and result.json["differing"] == 0,
                   f"{name} on {core}: {which} are the interpreter's"
                   + ("" if result.status == 0 else f": {result.message}"), result.command):
        numbers = result.json
        print(f"      {numbers['instructions']} instructions, {numbers['predicted_cycles']} "
              f"cycles predicted, {100 * numbers['array_use']:.1f} % of the array, "
              f"{numbers['compile_s']} s")
        if core == "core16x16":
            suite.check(numbers["array_use"] >= USE[name],
                        f"{name}: at least {100 * USE[name]:.0f} % of the array's products")


def rtl(suite, name, core, seeds):
    """The same in RTL without and with pauses of the memory, and its cycles."""
    suite.tool("verilator")
    module = module_of(suite, name)
    if not module:
        return
    case = suite.work / "case" / name
    made = run(suite, module, core, "--frames", "1", "--faces", "native", "--case", case)
    if not suite.check(made.status == 0, f"{name}: a case for the RTL", made.command):
        return
    result = framework.run_program(
        [sys.executable, ROOT / "rtl/test/engine.py", case, "--seeds", seeds, "--measure",
         "--isa", suite.rhizome.parent.parent / "rtl/rhz_isa.sv"])
    suite.check(result.status == 0, f"{name} on {core}: the RTL's memories are those of the "
                f"native face, {seeds} times with pauses"
                + ("" if result.status == 0 else f": {result.message}"), result.command)
    found = re.search(r"seed 0 +(\d+) cycles", result.out)
    if found:
        cycles, predicted = int(found[1]), made.json["predicted_cycles"]
        suite.check(abs(predicted / cycles - 1) <= NEAR,
                    f"{name}: {predicted} cycles predicted, {cycles} measured, "
                    f"{100 * (predicted / cycles - 1):+.2f} %")
        if core == "core16x16":
            use = made.json["array_use"] * predicted / cycles
            suite.check(use >= USE[name], f"{name}: {100 * use:.1f} % of the array's products")



def near(suite, label, answer):
    """The predicted interval and latency against what a simulation measured."""
    for what in ("interval", "latency"):
        predicted, measured = (answer[side][f"{what}_cycles"]
                               for side in ("predicted", "measured"))
        suite.check(abs(predicted / measured - 1) <= NEAR,
                    f"{label}, {what}: {predicted} cycles predicted, {measured} measured")


def headed(head, first, width, value):
    """A program's head with another value in these bits."""
    mask = ((1 << width) - 1) << first
    number = int.from_bytes(head, "little") & ~mask | value << first
    return number.to_bytes(len(head), "little")


def wrong_programs(suite, built, label):
    """What a core finds wrong with its program ends a simulation of the RTL in a moment,
    with the unit, the reason and what to do; afterwards the package is as it was."""
    path = next((built / "segments").rglob("*engine"))
    right = path.read_bytes()
    head, rest = right[:32], right[32:]
    # The head's fields: isa from bit 13, core from 45, instructions from 77 on.
    for wrong, wanted, command in (
            (headed(head, 13, 32, 77), "is for another instruction set", ("simulate",)),
            (headed(head, 45, 32, 77), "is for another core", ("simulate", "--four-state")),
            (head + head + rest[32:], "has an instruction that is none", ("simulate",)),
            (headed(head, 77, 32, 1), "has no end", ("simulate",)),
            (headed(head, 45, 32, 77), "is for another core",
             ("run", "--driver", "simulation"))):
        path.write_bytes(wrong + right[len(wrong):])
        run = suite.run(command[0], built, *command[1:], "-n", "1", "--accept-changes")
        words = [f"the engine '{path.name}': its program {wanted}; compile"] if command[0] == "run" \
            else [f"the engine '{path.name}' of ", f"its program {wanted} ({path.relative_to(built)})",
                  "remedy: compile the network again"]
        suite.check(run.status == 1 and all(text in run.err for text in words),
                    f"{label}, {' '.join(command)}: {wanted}", f"{run.command}: {run.err}")
    path.write_bytes(right)
    top = (built / "nodes/node0/rtl/rhz_top.sv").read_text()
    suite.check(re.search(r"rhz_errors #\(\s*\.Count\(2\)", top),
                f"{label}: its frames are counted with those of the border")


def package(suite, name, device, clock):
    """A network as a package with an engine: simulated free and with stalls, rebuilt from
    its plan, and left out where nobody asks for it or no device can hold it."""
    suite.tool("verilator")
    model = weights.kinds(suite) if name == "kinds" else weights.made(suite, name)
    label, built = f"{name}, {device}", suite.work / f"{name}.rhz"
    command = ("compile", model, "--device", device, "--clock-mhz", clock)
    made = suite.run(*command, "--generators", "engine", "-o", built, "--json")
    if not suite.check(made.status == 0, f"{label}: compiles"
                       + (f": {made.message}" if made.status else ""), made.command):
        return
    free = weights.simulated(suite, built, label, frames=2)
    if free:
        near(suite, label, free)
    weights.simulated(suite, built, label, "--stalls-in", "30", "--stalls-out", "30")
    if name == "kinds":
        wrong_programs(suite, built, label)
        fast = suite.run("compile", model, "--device", device, "--clock-mhz", "211",
                         "--generators", "engine", "-o", suite.work / "fast.rhz")
        suite.check(fast.status == 1 and "needs a clock of at most 210 MHz: 5 levels" in fast.err,
                    f"{label}: no core at 211 MHz", f"{fast.command}: {fast.err}")
    chosen = {option for option in weights.options_of(built)[0].values()}
    suite.check(all(option.startswith("engine/engine?core=") for option in chosen),
                f"{label}: all operations are the engine's: {chosen}")
    roofs = suite.run("analyze", model, "--device", device, "--clock-mhz", clock, "--json")
    roof = roofs.json["devices"][0]["whole"]["compute"].get("engine", 0)
    rate = made.json["predicted"]["throughput_per_s"]
    suite.check(rate <= roof, f"{label}: {rate:.0f} per second, the core's roof is {roof:.0f}",
                roofs.command)
    again = suite.work / f"{name}-again.rhz"
    result = suite.run(*command, "--plan", built, "-o", again)
    same = result.status == 0 and all(
        filecmp.cmp(path, again / path.relative_to(built), shallow=False)
        for folder in ("segments", "nodes") for path in (built / folder).rglob("*")
        if path.is_file())
    suite.check(same, f"{label}: its plan gives the same hardware and segments",
                result.command)
    others = suite.run(*command, "--generators", "stream,dhm", "-o",
                       suite.work / "streams.rhz")
    suite.check(others.status == 0 and not any(
        "engine/" in option
        for option in weights.options_of(suite.work / "streams.rhz")[0].values()),
        f"{label}: without the engine", others.command)
    for none, why in (("lfe5u-85f", "engine builds nothing on 'lfe5u-85f'"),
                      ("xc7z007s", r"engine needs \d+ lut, 14400 are there")):
        refused = suite.run("compile", model, "--device", none, "--generators", "engine",
                            "-o", suite.work / "no.rhz")
        suite.check(refused.status == 1 and re.search(why, refused.err),
                    f"{label}: {why}", refused.command)


def shared_core(suite):
    """Two networks on one core: the second one is only segments. They are what a
    functional simulation runs, and what is wrong with them is said."""
    suite.tool("verilator")
    first, second = suite.work / "first.rhz", suite.work / "second.rhz"
    made = suite.run("compile", weights.kinds(suite), "--device", "xc7z020",
                     "--generators", "engine", "-o", first)
    suite.check(made.status == 0, "a package of a core", made.command)

    def on_core(model, output, core=first):
        return suite.run("compile", model, "--core", core, "-o", output)

    other = on_core(weights.kinds(suite, 40), second)
    if not suite.check(other.status == 0, "another network on this core"
                       + (f": {other.message}" if other.status else ""), other.command):
        return
    files = [path.relative_to(first) for path in (first / "nodes/node0/rtl").rglob("*")]
    suite.check(files and all(filecmp.cmp(first / file, second / file, shallow=False)
                              for file in files if (first / file).is_file()),
                f"the same RTL, {len(files)} files")
    for package in (first, second):
        run = suite.run("simulate", package, "--level", "functional", "-n", "200")
        suite.check(run.status == 0 and "200 frames, 0 mismatches" in run.out,
                    f"{package.name}: its segments give the interpreter's results",
                    run.command)
    weights.simulated(suite, second, "the second network", "--stalls-in", "30")

    # It is the segments that run.
    held = next(path for path in (second / "segments/node0").iterdir()
                if path.stat().st_size > 4096)
    program = held.read_bytes()

    def altered(change, wanted, label):
        data = bytearray(program)
        change(data)
        held.write_bytes(bytes(data))
        run = suite.run("simulate", second, "--level", "functional", "-n", "4",
                        "--accept-changes")
        suite.check(run.status == 1 and re.search(wanted, run.out + run.err),
                    f"{label}: {wanted}", run.command)
        held.write_bytes(program)

    def weight(data):
        for at in range(len(data) // 2, len(data), 7):
            data[at] ^= 0x40

    altered(weight, "[1-9][0-9]* mismatches", "other weights")
    altered(lambda data: data.__setitem__(0, data[0] ^ 1), "remedy|error: the program",
            "no head")
    altered(lambda data: data.__setitem__(slice(32, 64), b"\xff" * 32),
            "error: the program of .* instruction 1", "no instruction")
    refused = suite.run("simulate", second, "--level", "functional")
    suite.check(refused.status == 0, "as it was, it is right again", refused.command)

    # What a core cannot run.
    for model, core, wanted in (
            (ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx", first,
             "FrameElements of 's_axis_0' is 300, this network needs 64"),
            (weights.kinds(suite, 2800), first, "within the 1 MiB that it has"),
            (weights.kinds(suite), suite.work / "units.rhz",
             "has no core that carries out programs"),
            (weights.kinds(suite), suite.work / "none.rhz", "none.rhz")):
        if core.name == "units.rhz" and not core.exists():
            suite.run("compile", ROOT / "examples/digits/digits_qdq_int8.onnx",
                      "--device", "xczu3eg", "-o", core)
        refused = on_core(model, suite.work / "no.rhz", core)
        suite.check(refused.status != 0 and wanted in refused.err
                    and not (suite.work / "no.rhz").exists(),
                    f"refused: {wanted}", f"{refused.command}: {refused.err}")


def layers(suite, device, clock):
    """Where the cycles of a small network go: each layer as predicted, the units' waits,
    a trace with an event for each instruction, and the report."""
    suite.tool("verilator")
    built, trace = suite.work / "digits.rhz", suite.work / "units.json"
    made = suite.run("compile", ROOT / "examples/digits/digits_qdq_int8.onnx", "--device",
                     device, "--clock-mhz", clock, "--generators", "engine", "-o", built)
    if not suite.check(made.status == 0, "it compiles"
                       + (f": {made.message}" if made.status else ""), made.command):
        return
    answer = weights.simulated(suite, built, "digits", "--trace-units", str(trace),
                               frames=1)
    if not suite.check(len(answer.get("engines", [])) == 1, "it has one engine"):
        return
    engine, = answer["engines"]
    for side in ("predicted", "measured"):
        total = sum(layer[f"{side}_cycles"] for layer in engine["layers"])
        suite.check(total == engine[f"{side}_cycles"], f"{side}: all layers take {total} cycles")
    for layer in engine["layers"]:
        predicted, measured = layer["predicted_cycles"], layer["measured_cycles"]
        suite.check(abs(predicted - measured) <= max(NEAR * measured, SOME),
                    f"{layer['name']}: {predicted} cycles predicted, {measured} measured")
    listing = json.loads((built / f"nodes/node0/{engine['unit']}.layers.json").read_text())
    opcodes = [listing["opcodes"][code] for code in listing["instructions"]["opcode"]]
    wanted = sorted(opcodes * 2)  # measured and predicted
    events = [event for event in json.loads(trace.read_text())["traceEvents"]
              if event["ph"] == "X"]
    suite.check(sorted(event["cat"] for event in events) == wanted,
                f"the trace has an event for each of {len(opcodes)} instructions, twice")
    suite.check(all(event["dur"] >= 0 and event["ts"] + event["dur"] <= engine["measured_cycles"]
                    for event in events if event["pid"] == 1), "and they lie in the frame")
    shown = suite.run("simulate", built, "-n", "1")
    suite.check(all(layer["name"][:20] in shown.out for layer in engine["layers"])
                and "waits for" in shown.out, "the layers are shown", shown.command)
    page = report.drawn_page(suite, built / "report.html")
    for where in ("engines/0/layers/1/ideal_cycles", "engines/0/timeline/matrix/0/1",
                  "results/simulate/engines/0/layers/1/measured_cycles"):
        suite.check(any(path == where for path, _ in page.marks), f"the report shows {where}")
    streams = suite.work / "streams.rhz"
    suite.run("compile", ROOT / "examples/digits/digits_qdq_int8.onnx", "--device", device,
              "--generators", "stream", "-o", streams)
    refused = suite.run("simulate", streams, "--trace-units", trace)
    suite.check(refused.status == 1 and "has no engine, whose units --trace-units shows; "
                "remedy: " in refused.err, "a package without an engine is refused",
                refused.command)


def damaged(suite, package, name, change):
    """A copy of a package whose program `change` has changed in place."""
    copy = suite.work / name
    shutil.copytree(package, copy)
    path, = (copy / "segments").rglob("engine")
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return copy


def opencl(suite, name, device, frames):
    """A network's engine on an OpenCL device: FRAMES requests, 8 at a time, against the
    interpreter; what is wrong is named."""
    model = (networks.ROOT / "examples/digits/digits_qdq_int8.onnx" if name == "digits"
             else suite.need(MAUI) if name == "maui" else weights.made(suite, name))
    package = suite.work / f"{name}.rhz"
    made = suite.run("compile", model, "--device", device, "--generators", "engine", "-o",
                     package)
    if not suite.check(made.status == 0, f"{name} compiles"
                       + (f": {made.message}" if made.status else ""), made.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    fpga = [task for task in plan["tasks"]["list"] if task["place"] == "fpga"]
    suite.check(len(fpga) == 1 and len(plan["tasks"]["copies"]) == 2,
                f"{name}: one task of the FPGA, two copies")
    program = plan["nodes"][0].get("program")
    if not suite.check(program, f"{name}: the package has a program"):
        return
    file = package / program["file"]

    def ran(package, file, *more):
        return suite.run("run", package, "--driver", "opencl", "--program", file, *more)

    rates = {}
    for driver, more in (("opencl", ("--program", file)), ("cpu", ())):
        result = suite.run("run", package, "--driver", driver, *more, "-n", frames,
                           "--outstanding", "8", "--json", "--patience-s", "300")
        if "is not installed" in result.err or "no OpenCL platform is" in result.err:
            return suite.skip(result.err)
        answer = result.json or {}
        suite.check(result.status == 0 and answer.get("frames") == int(frames)
                    and answer.get("mismatches") == 0 and answer.get("checked"),
                    f"{name}, {driver}: {answer.get('frames')} frames, all right"
                    + (f" {result.message}" if result.status else ""), result.command)
        rates[driver] = answer.get("measured", {}).get("throughput_per_s", 0)
    print("      " + ", ".join(f"{d}: {r:.1f} per second" for d, r in rates.items()))
    if name != "digits":
        return

    def refused(words, package, file, *more):
        result = ran(package, file, "-n", 2, *more)
        suite.check(result.status == 1 and words in result.err,
                    f"refused: {words}; {result.message[:200]}", result.command)

    # The kernel's own name, but with this program in the memory it never ends.
    held, = (package / "segments").rglob("engine")
    there = " && ".join(f"memory[{k}] == {byte}"
                        for k, byte in enumerate(held.read_bytes()[:12]))
    hung = suite.work / "hung.cl"
    hung.write_text(
        f"__kernel void {program['kernel']}(__global uchar *frame, __global uchar *answer,"
        " __global volatile uchar *memory, __global uchar *space) {\n"
        f"  while ({there})\n    ;\n}}\n")
    refused("has not computed the frame in time", package, hung, "--patience-s", "1")
    other = suite.work / "other.rhz"
    suite.run("compile", model, "--device", "xc7z020", "--generators", "engine", "-o", other)
    others, = (other / "nodes").rglob("engine.cl")
    refused(f"nor {program['kernel']} of the package's '{program['file']}'", package, others)
    for label, words, change in (
            ("set", "is for the instruction set", lambda data: data.__setitem__(3, 77)),
            ("core", "is for the core", lambda data: data.__setitem__(7, 77)),
            ("long", "more than its memory", lambda data: data.__setitem__(12, 77))):
        copy = damaged(suite, package, f"{label}.rhz", change)
        refused("segments/node0/engine", copy, file)
        refused(words, copy, file, "--accept-changes")
    short = damaged(suite, package, "short.rhz", lambda data: data.__delitem__(-1))
    refused("segments/node0/engine' has 20479 bytes, its plan says 20480", short, file,
            "--accept-changes")

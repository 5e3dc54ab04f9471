# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A package behind every driver that this machine can have: the same answers,
bit for bit, from the CPU, the simulation, a serial line, MPI ranks, OpenCL and
the generated clients in C and Python; conversions as plan.json says; what was altered is refused by name."""
import json
import os
import pty
import shutil
import threading
import tty

import clients
import networks
from framework import run_program

TINY = networks.ROOT / "examples/tiny-digits"
MODEL = TINY / "tiny_digits_qdq_int8.onnx"
IMAGES = TINY / "test_images.npy"
FRAMES = 3


class Line:
    """A pseudo terminal whose far end takes frames of `size` bytes and gives
    each the next of `answers`."""

    def __init__(self, size, answers):
        self.ours, self.theirs = pty.openpty()
        tty.setraw(self.ours)
        tty.setraw(self.theirs)
        self.size, self.answers, self.got = size, answers, []
        self.port = os.ttyname(self.theirs)
        self.thread = threading.Thread(target=self.answer, daemon=True)
        self.thread.start()

    def answer(self):
        for answer in self.answers:
            data = b""
            while len(data) < self.size:
                try:
                    data += os.read(self.ours, self.size - len(data))
                except OSError:  # the other end is closed
                    return
            self.got.append(data)
            os.write(self.ours, answer)

    def close(self):
        os.close(self.theirs)
        self.thread.join(30)
        os.close(self.ours)


def border_bytes(border):
    count = 1
    for digit in border["order"]:
        count *= digit["size"]
    beat = border["data_width"]
    bits = count * border["element"]["width"]
    return count, (bits + beat - 1) // beat * beat // 8


def run(suite, package, driver, *more):
    """`rhizome run` with the images; its answers as the bytes of a .npy. What is
    confined may not read the folder in which it is started."""
    output = suite.work / f"{driver}.npy"
    result = suite.run("run", package, "--driver", driver, "--input", IMAGES,
                       "-n", FRAMES, "--output", output, "--json", *more,
                       cwd="/")
    answer = result.json or {}
    suite.check(result.status == 0 and answer.get("frames") == FRAMES
                and answer.get("mismatches") == 0,
                f"{driver}: {answer.get('frames')} frames "
                f"{result.message if result.status else ''}", result.command)
    return output.read_bytes() if output.exists() else b"", answer


def refused(suite, words, *args, status=1):
    result = suite.run(*args)
    suite.check(result.status == status and words in result.err,
                f"refused: {words}; {result.message[:200]}", result.command)


def uart(suite, np, package, plan):
    """The serial line: what goes out and what is made of the answers is what
    plan.json says of the border, computed here once more."""
    host = plan["host"]
    to, back = host["to_device"][0], host["from_device"][0]
    count, size = border_bytes(to)
    answers = [[(250 + i + f) % 256 for i in range(10)] for f in range(FRAMES)]
    _, answer_size = border_bytes(back)
    line = Line(size, [bytes(a).ljust(answer_size, b"\0") for a in answers])
    run(suite, package, "uart", "--port", line.port, "--no-check")
    line.close()
    images = np.load(IMAGES)[:FRAMES].reshape(FRAMES, -1).astype(np.float32)
    scale, zero = np.float32(to["scale"][0]), to["zero_point"][0]
    codes = np.clip(np.rint(images / scale) + zero, to["element"]["lo"],
                    to["element"]["hi"]).astype(np.uint8)
    places = np.zeros(1, np.int64)
    for digit in to["order"]:
        places = (places[:, None] + digit["stride"]
                  * np.arange(digit["size"])).reshape(-1)
    want = [row[places].tobytes() for row in codes]
    suite.check(len(places) == count and line.got == want,
                "the line carries the codes of the images in their order")
    signed = np.array(answers, np.uint8).astype(np.int8).astype(np.float32)
    values = ((signed - np.float32(back["zero_point"][0]))
              * np.float32(back["scale"][0]))
    if back["offset"]:
        values = values + np.array(back["offset"], np.float32)
    got = np.load(suite.work / "uart.npy").reshape(FRAMES, -1)
    suite.check(np.array_equal(got, values.astype(np.float32)),
                "and the answers are made real as the plan says")
    (suite.work / "file").write_text("no line")
    for words, port in (("needs --port", None),
                        ("cannot open", suite.work / "absent"),
                        ("is not a serial line", suite.work / "file")):
        refused(suite, words, "run", package, "--driver", "uart",
                *(["--port", port] if port else []), status=1 if port else 2)
    silent = Line(1 << 20, [b""])
    refused(suite, f"0 of {answer_size} bytes came back", "run", package, "--driver",
            "uart", "--port", silent.port, "--patience-s", "0.2")
    silent.close()


def client(suite, np, package, wanted):
    """The generated client against the runtime of this build."""
    program = clients.built_example(suite, package)
    if not program:
        return
    has_object = (package / "model/cpu.o").exists()
    named = suite.run("simulate", package, "-n", 1, "--json").json or {}
    simulator = named.get("simulator", "")
    text = suite.work / "frames.txt"
    images = np.load(IMAGES)[:FRAMES].reshape(FRAMES, -1)
    text.write_text("\n".join(" ".join(str(float(v)) for v in row)
                              for row in images))
    script = 'exec "$1" "$2" "$3" ${5:+"$5"} < "$4"'
    result = run_program(["sh", "-c", script, "sh", program, package,
                          "simulation", text, simulator])
    got = np.array([[float(w) for w in line.split()]
                    for line in result.out.splitlines()], np.float32)
    suite.check(result.status == 0 and got.tobytes() == wanted,
                f"the client has the same answers {result.err}",
                result.command)
    for driver in ("cpu", "model"):
        result = run_program(["sh", "-c", script, "sh", program, package,
                              driver, text])
        if has_object:
            got = np.array([[float(w) for w in line.split()]
                            for line in result.out.splitlines()], np.float32)
            suite.check(result.status == 0 and got.tobytes() == wanted,
                        f"{driver}: machine code has the same answers "
                        f"{result.err}", result.command)
        else:
            suite.check(result.status == 1 and "--cpu-object" in result.err,
                        f"{driver}: no machine code: {result.err}",
                        result.command)
    rtl = package / "nodes/node0/rtl"
    image = sorted(rtl.glob("*.hex"))[0]
    good = image.read_bytes()
    image.write_bytes(good[:-2] + b"\n\n")
    for driver in ("null", "simulation"):
        result = run_program(["sh", "-c", script, "sh", program, package,
                              driver, text, simulator])
        suite.check(result.status == 1 and f"{image.name}' was altered"
                    in result.err, f"{driver}: an altered image is named: "
                    f"{result.err}", result.command)
    for driver in ("null", "cpu", "simulation", "uart"):
        refused(suite, image.name, "run", package, "--driver", driver,
                *(["--port", "/dev/null"] if driver == "uart" else []))
    image.write_bytes(good)


def python_client(suite, np, package, plan, wanted):
    """The generated client in Python; the line has the bytes of `rhizome run`."""
    _, size = border_bytes(plan["host"]["to_device"][0])
    _, answer_size = border_bytes(plan["host"]["from_device"][0])

    def line_of(answers=FRAMES):
        return Line(size, [bytes(answer_size)] * answers), sent

    line, sent = Line(size, [bytes(answer_size)] * FRAMES), []
    run(suite, package, "uart", "--port", line.port, "--no-check")
    line.close()
    sent = line.got
    clients.python_client(suite, np, package, IMAGES, wanted, line_of)


def ranks(suite, wanted):
    """The same model on two nodes, which run as MPI ranks."""
    package = suite.work / "cluster.rhz"
    result = suite.run("compile", MODEL, "--cluster", "ku060x2", "--goal",
                       "max-throughput", "-o", package)
    if not suite.check(result.status == 0, "compiles for a cluster",
                       result.command):
        return
    answers, answer = run(suite, package, "mpi", "--outstanding", "2")
    suite.check(answer.get("checked") and answers == wanted,
                "MPI ranks answer as the CPU")
    refused(suite, "only the driver 'udp' talks to nodes", "run", package,
            "--driver", "mpi", "--key", suite.work / "key", status=2)
    for option, value in (("--at", "node0=127.0.0.1:2719"),
                          ("--manifest", "none.yaml")):
        refused(suite, f"{option}: only the driver 'udp' talks to nodes", "run",
                package, "--driver", "mpi", option, value, status=2)
    refused(suite, "the driver 'mpi' simulates all of them", "run", package,
            "--driver", "simulation", status=2)
    empty = suite.work / "no-programs"
    empty.mkdir()
    result = run_program(["env", f"PATH={empty}", suite.rhizome, "run", package,
                          "--driver", "mpi"])
    suite.check(result.status == 1 and "openmpi-bin" in result.err,
                f"without mpirun: {result.err}", result.command)


def open_cl(suite, package, wanted):
    result = suite.run("run", package, "--driver", "opencl", "--platform",
                       "Nobody's")
    if "is not installed" in result.err or "no OpenCL platform is" in result.err:
        return suite.skip(result.err)
    suite.check(result.status == 1 and "no OpenCL platform 'Nobody's'"
                in result.err, f"a platform by name: {result.err}",
                result.command)
    answers, answer = run(suite, package, "opencl")
    suite.check(answer.get("checked") and answers == wanted,
                "the CPU in the place of an OpenCL device answers as the CPU")
    refused(suite, "absent.xclbin", "run", package, "--driver", "opencl",
            "--program", suite.work / "absent.xclbin")
    junk = suite.work / "junk.xclbin"
    junk.write_text("no program")
    refused(suite, "does not take", "run", package, "--driver", "opencl",
            "--program", junk)


def waveforms(suite, np, package, plan):
    """The frames on the wires of a .vcd; an .fst; refusals."""
    file = suite.work / "waves.vcd"
    result = suite.run("simulate", package, "--input", IMAGES, "-n", 2,
                       "--trace", file, "--json")
    suite.check(result.status == 0 and (result.json or {}).get("mismatches") == 0
                and (result.json or {}).get("measured") is None,
                f"waveforms: {result.message[:200]}", result.command)
    codes, sent, values, times, scopes = {}, [], {}, set(), set()
    head, body = file.read_text().split("$enddefinitions", 1)
    for words in map(str.split, head.splitlines()):
        if words[:1] == ["$scope"]:
            scopes.add(words[2])
        elif words[:1] == ["$var"]:
            codes.setdefault(words[4], words[3])
    for line in body.splitlines()[1:]:
        words = line.split()
        if line.startswith("#"):
            # What holds before the clock rises is taken.
            ready = [values.get(codes[f"s_axis_0_{n}"]) for n in
                     ("tvalid", "tready")] + [values.get(codes["rst_ni"])]
            if values.get(codes["clk_i"]) == "0" and ready == ["1"] * 3:
                sent.append(int(values[codes["s_axis_0_tdata"]], 2))
            times.add(int(line[1:]))
        elif line[:1] in ("0", "1"):
            values[line[1:]] = line[0]
        elif line[:1] == "b":
            values[words[1]] = words[0][1:]
    border = plan["host"]["to_device"][0]
    module = clients.module_of(package / "host")
    images = np.load(IMAGES)[:2]
    packed = module.Border(border, plan["host"]["inputs"])
    want = b"".join(packed.pack(image) for image in images)
    size = border["data_width"] // 8
    got = b"".join(beat.to_bytes(size, "little") for beat in sent)
    suite.check(got == want, f"{len(sent)} beats on s_axis_0 are the images'")
    suite.check(any("conv1" in scope for scope in scopes),
                "layers are found by their names")
    step = 500000 / plan["clock_mhz"]
    suite.check("$timescale 1ps" in head and all(
        abs(t / step - round(t / step)) < .01 for t in times),
        "times are the clock's")
    fst = suite.work / "waves.fst"
    result = suite.run("simulate", package, "-n", 1, "--trace", fst)
    suite.check(result.status == 0 and fst.stat().st_size > 1000,
                f"an .fst {result.message[:200]}", result.command)
    for words, args in (("neither .fst nor .vcd", ["--trace", "x.txt"]),
                        ("signals at the levels", ["--trace", "x.vcd", "--level",
                                                   "functional"]),
                        ("are datagrams sent", ["--loss", "0.1"]),
                        ("nothing waits", ["--stalls-in", "9", "--level",
                                           "functional"])):
        refused(suite, words, "simulate", package, *args, status=2)
    refused(suite, "error: cannot write '", "simulate", package, "-n", 1, "--trace",
            suite.work / "absent/x.vcd")


def machine_code(suite, np, wanted):
    """The package with the model's object: the same bytes from the same input,
    and the client computes without rhizome."""
    texts = []
    for name in ("first", "second"):
        package = suite.work / f"{name}.rhz"
        result = suite.compile(MODEL, (), "throughput=1000/s", package,
                               "--cpu-object")
        if not suite.check(result.status == 0, "compiles with machine code "
                           + (result.message if result.status else ""),
                           result.command):
            return
        texts.append((package / "checksums.json").read_bytes())
    suite.check(texts[0] == texts[1] and b"model/cpu.o" in texts[0],
                "two packages with machine code are the same")
    refused(suite, "LLVM knows no processor 'z80'", "compile", MODEL,
            "--cpu-object", "--object-cpu", "z80", "-o", suite.work / "no.rhz")
    client(suite, np, package, wanted)


def sampled(suite, np):
    """The first frames of the user's data are the golden vectors, in one go and
    in two."""
    images = np.load(IMAGES)
    for name, more, source, count in (
            ("given", ("--input", IMAGES), "input", None),
            ("given-two", ("--input", IMAGES, "--golden", 2), "input", 2),
            ("drawn", (), "seed", None)):
        package = suite.work / f"{name}.rhz"
        suite.compile(MODEL, (), "throughput=1000/s", package, *more)
        folder = package / "model/golden"
        told = json.loads((folder / "source.json").read_text())
        suite.check(told == {"from": source, "files": [IMAGES.name]
                             if source == "input" else []},
                    f"{name}: source.json says {told}")
        frames = np.load(folder / "input0.npy")
        given = np.array_equal(frames.reshape(len(frames), -1),
                               images[:len(frames)].reshape(len(frames), -1))
        suite.check((count is None or len(frames) == count)
                    and given == (source == "input"),
                    f"{name}: {len(frames)} frames of {source}")
        result = suite.run("simulate", package, "--level", "functional",
                           "--json")
        suite.check((result.json or {}).get("golden_from") == source,
                    f"{name}: and simulate says so", result.command)
    module, resumed = suite.work / "given.mlir", suite.work / "resumed.rhz"
    result = suite.run("compile", MODEL, "--goal", "throughput=1000/s",
                       "--input", IMAGES, "--compile-to", "build", "-o", module)
    suite.check(result.status == 0, f"stops after build: {result.err}",
                result.command)
    result = suite.run("compile", module, "--compile-from", "build", "-o",
                       resumed)
    again = resumed / "model/golden/input0.npy"
    suite.check(result.status == 0 and again.read_bytes() == (
        suite.work / "given.rhz/model/golden/input0.npy").read_bytes(),
        f"and goes on with the same data {result.err}", result.command)
    refused(suite, "absent.npy': there is no such file", "compile", MODEL,
            "--input", suite.work / "absent.npy", "-o", suite.work / "no.rhz")
    np.save(suite.work / "other.npy", np.zeros((2, 3), np.float32))
    refused(suite, "the golden vectors are the first frames of --input",
            "compile", MODEL, "--input", suite.work / "other.npy", "-o",
            suite.work / "no.rhz")


def golden(suite, np, package):
    """Golden vectors lie in the package and are compared."""
    folder = package / "model/golden"
    answers = np.load(folder / "output0.npy")
    suite.check(1 <= len(answers) <= 4 and "golden" in
                (package / "checksums.json").read_text(),
                f"{len(answers)} golden vectors, with checksums")
    result = suite.run("simulate", package, "--level", "functional", "--json")
    suite.check(result.status == 0 and (result.json or {}).get("golden")
                == len(answers), "simulate compares them", result.command)
    good = (folder / "output0.npy").read_bytes()
    np.save(folder / "output0.npy", answers + 1)
    refused(suite, "model/golden/output0.npy", "simulate", package, "--level",
            "functional")
    result = suite.run("simulate", package, "--level", "functional",
                       "--accept-changes")
    suite.check(result.status == 1 and "golden frame 0" in result.out,
                f"others are told: {result.out}", result.command)
    (folder / "output0.npy").write_bytes(good)
    sampled(suite, np)
    bare = suite.work / "bare.rhz"
    suite.compile(MODEL, (), "throughput=1000/s", bare, "--golden", 0)
    suite.check(not (bare / "model/golden").exists(), "none on demand")


def drivers(suite):
    suite.tool("verilator")
    package = suite.work / "tiny.rhz"
    result = suite.compile(MODEL, (), "throughput=1000/s", package)
    if not suite.check(result.status == 0, "compiles " + (result.message if result.status
                                              else ""), result.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    suite.check(plan["host"]["complete"]
                and plan["host"]["inputs"][0]["type"] == "float32",
                "the host needs nothing but conversions")
    computed, answer = run(suite, package, "cpu")
    suite.check(answer.get("checked"), "the CPU is compared")
    simulated, answer = run(suite, package, "simulation", "--stalls-in", "30",
                            "--stalls-out", "40")
    suite.check(answer.get("checked") and simulated == computed,
                "the simulation answers as the CPU, with stalls")
    if shutil.which("mpirun"):
        ranks(suite, computed)
    else:
        suite.skip("there is no mpirun")
    open_cl(suite, package, computed)
    refused(suite, "has no links", "run", package, "--driver", "mpi")
    _, answer = run(suite, package, "null")
    suite.check(answer.get("checked") is False, "zeros are not compared")
    refused(suite, "--driver cpu, simulation, uart", "run", package,
            status=2)
    refused(suite, "has no links", "run", package, "--driver", "udp",
            status=2)
    try:
        import numpy as np
    except ImportError:
        return suite.skip("Python has no numpy")
    uart(suite, np, package, plan)
    wanted = np.load(suite.work / "cpu.npy").astype(np.float32)
    golden(suite, np, package)
    client(suite, np, package, wanted.tobytes())
    python_client(suite, np, package, plan, wanted)
    waveforms(suite, np, package, plan)
    machine_code(suite, np, wanted.tobytes())

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's driver in Python: its conversions are those of border.c, its
answers those of `rhizome run`, and what is wrong is named. MNIST digits through
the drivers in Python, C and C++, from a package and nothing else, over the
simulation and over the serial line of an iCE40 whose bitstream is simulated."""
import ctypes
import gzip
import importlib.util
import json
import os
import pathlib
import pty
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tty

import networks
from framework import needed, run_program

ROUNDINGS = ("half_even", "half_up", "half_down", "half_away",
             "half_toward_zero", "toward_zero", "away_from_zero", "up", "down",
             "sign")
#: For an ATmega, on images of 14×14.
MNIST_MODEL = (networks.MODELS / "kraiskil+onnx2c/examples/atmega_mnist"
               / "mnist.simplified.onnx")


def built_example(suite, package):
    """The example of the package's client in C and C++, with the runtime of
    this build, and the model as machine code where the package has it; None if
    it cannot be built here."""
    library = suite.rhizome.parent.parent / "runtime/libRhizomeRuntime.a"
    if not library.exists() or not shutil.which("c++"):
        suite.skip("there is no C++ compiler or no runtime library")
        return None
    host, program = package / "host", suite.work / "example"
    include = f"-I{host}/runtime/include"
    for words in (["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", include,
                   "-c", host / "example.c", "-o", suite.work / "example.o"],
                  ["c++", "-std=c++20", include, *sorted(host.glob("*.cpp")),
                   suite.work / "example.o",
                   *sorted((package / "model").glob("cpu.o")), library,
                   "-lsodium", "-lpthread", "-lm", "-ldl", "-o", program]):
        made = run_program(words)
        if not suite.check(made.status == 0, f"{words[0]} takes the client "
                           f"{made.message}", made.command):
            return None
    return program


def module_of(folder):
    """The driver in this folder as a module."""
    spec = importlib.util.spec_from_file_location(
        "rhizome_client", pathlib.Path(folder) / "rhizome_client.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class CBorder(ctypes.Structure):
    """rhz_border."""
    _fields_ = [
        ("port", ctypes.c_char_p), ("tensor", ctypes.c_int),
        ("elements", ctypes.c_int64), ("width", ctypes.c_uint),
        ("is_signed", ctypes.c_int), ("lo", ctypes.c_int64),
        ("hi", ctypes.c_int64), ("beat_bits", ctypes.c_uint),
        ("digits", ctypes.c_int), ("sizes", ctypes.c_void_p),
        ("strides", ctypes.c_void_p), ("rounding", ctypes.c_int),
        ("channels", ctypes.c_int64), ("inner", ctypes.c_int64),
        ("scale", ctypes.c_void_p), ("zero_point", ctypes.c_void_p),
        ("offset", ctypes.c_void_p)]


def random_border(np, draw):
    """An entry of plan.json's to_device, and its tensor's."""
    shape = [draw.randint(1, 5) for _ in range(draw.randint(1, 4))]
    strides = [int(np.prod(shape[k + 1:], dtype=int))
               for k in range(len(shape))]
    digits = list(zip(shape, strides))
    draw.shuffle(digits)
    width, signed = draw.choice((1, 2, 3, 5, 8, 11, 16, 17, 31)), draw.random() < .5
    lo, hi = ((-(1 << width - 1), (1 << width - 1) - 1) if signed
              else (0, (1 << width) - 1))
    axis = draw.randrange(len(shape))
    channels, inner = draw.choice(((1, 1), (shape[axis], strides[axis])))
    is_float = draw.random() < .8
    reals = [draw.choice((.25, .1, 0.0127282338, 1.0, 3.7)) for _ in range(channels)]
    border = {"port": "s_axis_0", "tensor": 0, "data_width": draw.choice((8, 64)),
              "element": {"signed": signed, "width": width, "lo": lo, "hi": hi},
              "order": [{"size": size, "stride": stride}
                        for size, stride in digits],
              "rounding": draw.choice(ROUNDINGS), "channels": channels,
              "inner": inner, "scale": reals if is_float else [],
              "zero_point": [draw.randint(lo, hi) for _ in reals]
              if is_float else [],
              "offset": [draw.uniform(-3, 3) for _ in reals]
              if is_float and draw.random() < .5 else []}
    return border, {"name": "x", "shape": shape,
                    "type": "float32" if is_float else "int64"}


def c_border(np, border):
    """The same for border.c, and the arrays that it names."""
    element, order = border["element"], border["order"]
    arrays = {"sizes": np.array([d["size"] for d in order], np.int64),
              "strides": np.array([d["stride"] for d in order], np.int64)}
    for name, kind in (("scale", np.float32), ("zero_point", np.int64),
                       ("offset", np.float32)):
        if border[name]:
            arrays[name] = np.array(border[name], kind)
    return CBorder(
        port=b"s_axis_0", elements=int(np.prod(arrays["sizes"])),
        width=element["width"], is_signed=element["signed"], lo=element["lo"],
        hi=element["hi"], beat_bits=border["data_width"], digits=len(order),
        rounding=ROUNDINGS.index(border["rounding"]),
        channels=border["channels"], inner=border["inner"],
        **{name: array.ctypes.data for name, array in arrays.items()}), arrays


def conversions(suite, np, host, count=300):
    """Random borders through the driver in Python and through border.c."""
    if not shutil.which("cc"):
        return suite.skip("there is no C compiler")
    library = suite.work / "border.so"
    made = run_program(["cc", "-shared", "-fPIC", "-O2", "-I",
                        host / "runtime/include", "-o", library,
                        host / "runtime/lib/border.c", "-lm"])
    suite.check(made.status == 0, f"border.c compiles {made.message}",
                made.command)
    code, client = ctypes.CDLL(library), module_of(host)
    draw, numbers = random.Random(5), np.random.default_rng(5)
    wrong = []
    for n in range(count):
        table, tensor = random_border(np, draw)
        ours = client.Border(table, [tensor])
        theirs, kept = c_border(np, table)
        element = table["element"]
        if tensor["type"] == "float32":
            values = numbers.normal(0, 50, tensor["shape"]).astype(np.float32)
            values.reshape(-1)[::3] = np.rint(values.reshape(-1)[::3]) + .5
            values.reshape(-1)[:1] = np.inf
        else:
            values = numbers.integers(element["lo"], element["hi"] + 1,
                                      tensor["shape"])
        frame = np.zeros(ours.frame_bytes, np.uint8)
        code.rhz_to_frame(ctypes.byref(theirs), ctypes.c_void_p(
            values.ctypes.data), ctypes.c_void_p(frame.ctypes.data), None)
        packed = ours.pack(values)
        back, again = np.zeros_like(values), np.zeros_like(values)
        ours.unpack(packed, back)
        code.rhz_from_frame(ctypes.byref(theirs), ctypes.c_void_p(
            frame.ctypes.data), ctypes.c_void_p(again.ctypes.data))
        if (packed[:len(frame)] != frame.tobytes()
                or back.tobytes() != again.tobytes() or not kept):
            wrong.append((n, table))
    suite.check(not wrong, f"{count} random borders: {len(wrong)} differ from "
                f"border.c {wrong[:1]}")


def refused(suite, words, client, *args):
    result = run_program([sys.executable, client, *args])
    suite.check(result.status == 1 and words in result.err
                and "Traceback" not in result.err,
                f"refused: {words}: {result.err[:200]}", result.command)


def python_client(suite, np, package, images, wanted, line_of):
    """On a package of one device; line_of gives a serial line with answers."""
    host = package / "host"
    client, output = host / "rhizome_client.py", suite.work / "client.npy"
    conversions(suite, np, host)
    os.environ["RHIZOME_PROGRAM"] = str(suite.rhizome)
    frames = len(wanted)
    result = run_program([sys.executable, client, "simulation", "--input",
                          images, "-n", frames, "--output", output])
    got = np.load(output) if output.exists() else np.zeros(0, np.float32)
    suite.check(result.status == 0 and got.tobytes() == wanted.tobytes(),
                f"client in Python: the simulation has the answers of the CPU "
                f"{result.err}", result.command)
    line, sent = line_of()
    result = run_program([sys.executable, client, "uart", line.port, "--input",
                          images, "-n", len(sent), "--output", output])
    line.close()
    suite.check(result.status == 0 and line.got == sent,
                f"client in Python: the bytes of 'rhizome run' are on the line "
                f"{result.err}", result.command)
    line, _ = line_of(answers=0)
    refused(suite, "bytes came back over", client, "uart", line.port, "--input",
            images, "-n", 1, "--patience-s", ".2")
    line.close()
    # Linux lets a pseudo-terminal take a break, which resets nothing.
    stateful = suite.work / "stateful"
    shutil.copytree(package, stateful)
    plan = json.loads((stateful / "plan.json").read_text())
    plan.setdefault("tasks", {})["states"] = [{"home": "fpga"}]
    (stateful / "plan.json").write_text(json.dumps(plan))
    line, _ = line_of(answers=0)
    refused(suite, "has no break that resets", stateful / "host" /
            "rhizome_client.py", "uart", line.port, "--input", images, "-n", 1)
    line.close()
    refused(suite, "cannot open", client, "uart", suite.work / "absent",
            "--input", images)
    refused(suite, "is not a serial line", client, "uart", "/dev/null",
            "--input", images)
    refused(suite, "cannot be run", client, "simulation", suite.work / "absent",
            "--input", images)
    given = np.load(images)[:2]
    for words, array in (("not (2, 8, 8, 1)", np.moveaxis(given, 1, -1)),
                         ("NaN has no integer", given * np.nan),
                         ("takes numbers", given.astype(str))):
        np.save(suite.work / "wrong.npy", array)
        refused(suite, words, client, "simulation", "/bin/true", "--input",
                suite.work / "wrong.npy")


# MNIST, from a package alone


class Board:
    """A pseudo-terminal at whose far end the bitstream computes."""

    def __init__(self, simulator, package):
        self.simulator, self.package = simulator, package
        plan = json.loads((package / "plan.json").read_text())
        self.ports = [self.beats(plan["host"][key][0])
                      for key in ("to_device", "from_device")]
        self.hang = 40 * plan["predicted"]["latency_cycles"] + 1000000
        self.ours, self.theirs = pty.openpty()
        tty.setraw(self.ours)
        tty.setraw(self.theirs)
        self.port, self.frames, self.problem = os.ttyname(self.theirs), 0, ""
        self.thread = threading.Thread(target=self.answer, daemon=True)
        self.thread.start()

    @staticmethod
    def beats(border):
        bits = border["element"]["width"]
        for digit in border["order"]:
            bits *= digit["size"]
        return -(-bits // border["data_width"]), border["data_width"] // 8

    def answer(self):
        beats, size = self.ports[0]
        while True:
            data = b""
            while len(data) < beats * size:
                try:
                    data += os.read(self.ours, beats * size - len(data))
                except OSError:  # the other end is closed
                    return
            os.write(self.ours, self.compute(data))
            self.frames += 1

    def compute(self, frame):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "in").write_bytes(frame)
            words = [self.simulator, "--frames", "1", "--total", "1",
                     "--stalls-in", "0", "--stalls-out", "0", "--seed", "1",
                     "--hang", str(self.hang), "--report", folder / "report",
                     "--in", folder / "in", *map(str, self.ports[0]),
                     "--out", folder / "out", *map(str, self.ports[1])]
            done = subprocess.run(words, cwd=self.package / "nodes/node0/rtl",
                                  capture_output=True, text=True, check=False)
            said = (folder / "report").read_text()
            if done.returncode or "error " in said:
                self.problem = done.stderr + said
            return (folder / "out").read_bytes()

    def close(self):
        os.close(self.theirs)
        self.thread.join(30)
        os.close(self.ours)


CPP = """#include "rhizome/runtime/drivers.h"
#include "rhizome/runtime/infer.h"
#include "rhizome_model.h"
#include <cstdio>
#include <vector>
using namespace rhizome::runtime;
int main(int, char **argv) {
  SimulationOptions simulation;
  simulation.program = argv[3];
  simulation.folder = std::string(argv[1]) + "/nodes/node0/rtl";
  Inference device(rhizome_model, argv[1],
                   std::string(argv[2]) == "uart"
                       ? makeUartDriver({argv[3], 1000000})
                       : makeSimulationDriver(simulation));
  device.patience = std::chrono::seconds(60);
  if (Status status = device.open(); !status)
    return std::fprintf(stderr, "%s\\n", status.text.c_str()), 1;
  std::vector<float> image(size_t(rhizome_model.inputs[0].elements));
  std::vector<float> scores(size_t(rhizome_model.outputs[0].elements));
  for (;;) {
    for (float &value : image)
      if (std::scanf("%f", &value) != 1)
        return 0;
    const void *inputs[] = {image.data()};
    void *outputs[] = {scores.data()};
    if (Status status = device.infer(inputs, outputs, 1); !status)
      return std::fprintf(stderr, "%s\\n", status.text.c_str()), 1;
    for (float score : scores)
      std::printf("%.9g ", double(score));
    std::printf("\\n");
  }
}
"""


def mnist_images(suite, np):
    """The test set at half the size, and its labels."""
    suite.need(networks.MNIST_IMAGES)
    pixels, labels = (np.frombuffer(gzip.open(path).read(), np.uint8,
                                    offset=offset)
                      for path, offset in ((networks.MNIST_IMAGES, 16),
                                           (networks.MNIST_LABELS, 8)))
    images = pixels.reshape(-1, 1, 14, 2, 14, 2).astype(np.float32)
    return images.mean((3, 5)) / np.float32(255), labels.astype(np.int64)


def alone(suite, package):
    """The package by itself, elsewhere, without what was measured."""
    copy = suite.work / "alone"
    shutil.copytree(package, copy,
                    ignore=lambda folder, _: {"results"}
                    if pathlib.Path(folder) == package else set())
    return copy


def mnist(suite):
    for tool in ("verilator", "yosys", "nextpnr-ice40", "icepack",
                 "icebox_vlog", "cmake"):
        suite.tool(tool)
    np = needed("numpy")
    suite.need(MNIST_MODEL)
    images, labels = mnist_images(suite, np)
    files = {name: suite.work / f"{name}.npy"
             for name in ("images", "labels", "calibration", "scores")}
    np.save(files["images"], images[:500])
    np.save(files["labels"], labels[:500])
    np.save(files["calibration"], images[9000:9200])
    package = suite.work / "mnist.rhz"
    result = suite.run("compile", MNIST_MODEL, "--calibration",
                       files["calibration"], "--bits", "6", "--board",
                       "ice40-hx8k-breakout", "--goal", "throughput=100/s",
                       "--bitstream", "-o", package, "--json")
    if not suite.check(result.status == 0, f"a bitstream in {result.wall_s:.0f} "
                       f"s {result.message[:300] if result.status else ''}",
                       result.command):
        return
    own = alone(suite, package)
    client = own / "host/rhizome_client.py"
    os.environ["RHIZOME_PROGRAM"] = str(suite.rhizome)
    result = run_program([sys.executable, client, "simulation", "--input",
                          files["images"], "--labels", files["labels"]])
    right = int((result.out.split() or [0])[0])
    said = suite.run("evaluate", package, "--data", files["images"], "--labels",
                     files["labels"], "--float-frames", 0, "--json").json or {}
    correct = [form["correct"] for form in said.get("forms", [])
               if form["form"] == "integer"]
    suite.check(result.status == 0 and correct == [right] and right >= 450,
                f"Python, simulation: {result.out.strip()}, 'evaluate' counts "
                f"{correct} {result.err[-300:]}", result.command)
    answer = suite.run("simulate", package, "--level", "bitstream", "--input",
                       files["images"], "-n", 1, "--json").json or {}
    if not suite.check(answer.get("mismatches") == 0, "the bitstream computes"):
        return
    board = Board(answer["simulator"], package)
    over_line(suite, np, board, own, files)
    board.close()
    in_simulation(suite, np, package, own, files, right)


def over_line(suite, np, board, own, files, frames=8):
    """All drivers at the serial line of one board."""
    images, labels = np.load(files["images"])[:frames], np.load(files["labels"])
    client = own / "host/rhizome_client.py"
    result = run_program([sys.executable, client, "uart", board.port, "--input",
                          files["images"], "-n", frames, "--output",
                          files["scores"], "--labels", files["labels"],
                          "--patience-s", "60"])
    suite.check(result.status == 0 and not board.problem,
                f"Python, UART of the bitstream: {result.out.strip()} "
                f"{result.err[-300:]}{board.problem}", result.command)
    scores = np.load(files["scores"]).reshape(frames, -1)
    right = int((scores.argmax(1) == labels[:frames]).sum())
    suite.check(right >= frames - 1, f"{right} of {frames} digits are right")
    text = suite.work / "frames.txt"
    text.write_text("\n".join(" ".join(f"{v:.9g}" for v in image.reshape(-1))
                              for image in images))
    build = suite.work / "client"
    (own / "host/digits.cpp").write_text(CPP)
    with open(own / "host/CMakeLists.txt", "a", encoding="utf-8") as file:
        file.write("add_executable(digits digits.cpp)\n"
                   "target_link_libraries(digits PRIVATE rhizome-client)\n")
    for words in (["cmake", "-S", own / "host", "-B", build],
                  ["cmake", "--build", build, "-j2"]):
        result = run_program(words)
        suite.check(result.status == 0, f"{words[1]}: {result.message}",
                    result.command)
    for name, words in (("C", [build / "example", own, "uart"]),
                        ("C++", [build / "digits", own, "uart"])):
        before = board.frames
        result = run_program(["sh", "-c", 'exec "$@" < "$0"', text, *words,
                              board.port])
        got = np.array([line.split() for line in result.out.splitlines()],
                       np.float32)
        # The board counts a frame once its answer has been read.
        until = time.monotonic() + 30
        while board.frames < before + frames and time.monotonic() < until:
            time.sleep(0.01)
        suite.check(result.status == 0 and got.tobytes() == scores.tobytes()
                    and board.frames == before + frames,
                    f"{name}, UART of the bitstream: the same scores "
                    f"{result.err}{board.problem}, {board.frames - before} "
                    "frames", result.command)


def in_simulation(suite, np, package, own, files, right):
    """C and C++ through the simulated design: as many are right as in Python.
    In `own`, the client's build files are not as they were."""
    answer = suite.run("simulate", package, "-n", 1, "--json").json or {}
    images, labels = np.load(files["images"]), np.load(files["labels"])
    text = suite.work / "images.txt"
    text.write_text("\n".join(" ".join(f"{v:.9g}" for v in image.reshape(-1))
                              for image in images))
    build = suite.work / "client"
    for name, program in (("C", "example"), ("C++", "digits")):
        result = run_program(["sh", "-c", 'exec "$@" < "$0"', text,
                              build / program, own, "simulation",
                              answer.get("simulator", "")])
        scores = np.array([line.split() for line in result.out.splitlines()],
                          np.float32).reshape(-1, 10)
        found = int((scores.argmax(1) == labels[:len(scores)]).sum())
        suite.check(result.status == 0 and len(scores) == len(images)
                    and found == right, f"{name}, simulation: {found} of "
                    f"{len(scores)} right {result.err[-300:]}", result.command)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of the README, of all pages and of the examples' READMEs: each
is run, in a folder with the files that its page speaks of, or REASONS says
what it needs. What a page shows below a command is compared with its output."""
import os
import pathlib
import re
import subprocess
import sys
import time
import zlib

from framework import needed, run_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("rhizome rhizome-opt rhizome-node make cmake ctest mpirun pip python "
            "python3 sudo vivado quartus_sh iceprog ./build/example "
            "/usr/lib/llvm-22/bin/lit").split()
# Made from what --help prints, for which there is a test.
GENERATED = {"docs/commands.md"}
# Why a command is not run here, by what it begins with or contains.
REASONS = (
    (r"^make (demo|test|build|format|fuzz|setup|site)|^ctest|"
     r"^cmake --build build --target|^/usr/lib/llvm|^python3 (scripts|test)/",
     "builds or tests this tree"),
    (r"^sudo make install|^make (package|wheel)|^pip install build/|"
     r"^python -c .import rhizome",
     "e2e.install and e2e.wheel"),
    (r"^(\.venv/bin/|venv/bin/|examples/.*)?pip install|^python3 -m venv|"
     r"^\.venv/bin/pip|^venv/bin/", "downloads"),
    (r"^vivado|^quartus_sh|^make PLATFORM", "a vendor's tool"),
    (r"^iceprog|--driver uart|rhizome_client.py uart|example net.rhz uart",
     "a board; e2e.drivers runs it on a pseudo terminal"),
    (r"rhizome_client.py pynq|example net.rhz xrt|^rhizome synth .*--tool vi",
     "a board; e2e.dma-drivers and e2e.vendor-runs have stand-ins"),
    (r"^make -C net.rhz/nodes/node0/tb", "e2e.testbench"),
    (r"--bitstream|--level bitstream", "e2e.bitstream"),
    (r"^rhizome synth (network|digits).rhz", "minutes of Yosys; "
     "docs/start/latency.md runs it on a smaller one"),
    (r"resnet50|resnet8|small\.rhz", "a network that is not in this tree"),
    (r"10\.0\.0\.\d|^rhizome run net.rhz --input x.npy --expect",
     "nodes; e2e.nodes"),
    (r"^bench/|^rhizome characterize|^python3 examples/.*/(train|make).py",
     "takes minutes to hours"),
    (r"^python3 rtl/test/run.py", "rtl-cells and its like"),
    (r"conv3d|(stencil|chain)\.(cfd|rhz)", "its kernels stand on the page; "
     "e2e.kernel-howto"),
    (r"--driver DRIVER|--device my-board -o|--cluster ./lab.yaml",
     "a name to fill in"),
    (r"^rhizome targets my-", "a file of the reader's; TargetTests read the "
     "page's"),
)
# Minutes together: they run in the second suite.
LONG = re.compile(r"^rhizome (synth|simulate|precision)|--check|--level rtl|"
                  r"^cmake|--config widths.yaml|jets.rhz --data")


def command_lines(page):
    """[(command, what is shown below it)] of a page's code blocks."""
    text = page.read_text()
    text = re.sub(r"```(?!sh\n|\n).+?\n.*?```", "", text, flags=re.S)
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.M | re.S)
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    blocks += re.findall(r"(?:^ {4}.*\n|^\s*\n(?= {4}))+", text, re.M)
    found = []
    for block in blocks:
        lines = re.sub(r"\\\n\s*", "", block).splitlines()
        for line in lines:
            line = line.strip()
            shown = line.startswith("$ ")
            words = line.removeprefix("$ ").split()
            known = words and (words[0] in PROGRAMS
                               or re.match(r"\.?venv/bin/|bench/", words[0]))
            if known or shown:
                command = re.sub(r"\s+# .*", "", line.removeprefix("$ "))
                found.append((command, [] if shown else None))
            elif found and found[-1][1] is not None:
                found[-1][1].append(line)
    return found


def all_pages():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT,
                            capture_output=True, text=True).stdout.split()
    names = listed or [str(p.relative_to(ROOT)) for p in ROOT.glob("**/*.md")
                       if "build" not in p.parts and ".venv" not in p.parts]
    return [n for n in sorted(names) if n not in GENERATED
            and not n.startswith(("docs/decisions/", "CHANGELOG"))]


# The files that pages speak of --------------------------------------------

def digits(folder):
    link(folder, "net.onnx", "digits/digits_qonnx_w4a4.onnx")
    link(folder, "x.npy", "digits/test_images.npy")
    link(folder, "y.npy", "digits/test_labels.npy")


def link(folder, name, example):
    (folder / name).symlink_to(ROOT / "examples" / example)


def config(folder):
    """The page's file next to its network."""
    digits(folder)
    text = (ROOT / "docs/howto/config-file.md").read_text()
    (folder / "rhizome.yaml").write_text(
        re.search(r"```yaml\n(.*?)```", text, re.S)[1])


def images(folder):
    """Digits as RGB images with a frame, in folders of their classes."""
    np = needed("numpy")
    digits(folder)
    write_digits(folder / "val", np.load(folder / "x.npy")[:60],
                 np.load(folder / "y.npy"))


def write_digits(folder, frames, labels):
    """The frames as 12 x 10 PNG files, gray pixels in RGB."""
    np = needed("numpy")
    for i, frame in enumerate(frames):
        pixels = np.zeros((12, 10, 3), np.uint8)
        pixels[2:10, 1:9] = frame.reshape(8, 8, 1)
        lines = b"".join(b"\0" + row.tobytes() for row in pixels)
        name = folder / str(labels[i]) / f"{i:03}.png"
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
            len(data).to_bytes(4, "big") + kind + data
            + zlib.crc32(kind + data).to_bytes(4, "big")
            for kind, data in (
                (b"IHDR", (10).to_bytes(4, "big") + (12).to_bytes(4, "big")
                 + b"\x08\x02\0\0\0"),
                (b"IDAT", zlib.compress(lines)), (b"IEND", b""))))


def floats(folder):
    """A float network, samples for it, data and labels."""
    np = needed("numpy")
    link(folder, "net.onnx", "pytorch/cnn.onnx")
    link(folder, "net.mlir", "pytorch/cnn.mlir")
    link(folder, "samples.npy", "digits/test_images.npy")
    link(folder, "x.npy", "digits/test_images.npy")
    link(folder, "y.npy", "digits/test_labels.npy")
    np.savez(folder / "samples.npz", np.load(folder / "samples.npy")[:100])


def transformers(folder):
    floats(folder)
    (folder / "net.onnx").unlink()
    link(folder, "net.onnx", "pytorch/transformer.onnx")


def looked_at(folder):
    """A network to quantize, by another name, too, and a package of it."""
    floats(folder)
    link(folder, "float.onnx", "pytorch/cnn.onnx")
    (folder / "samples.npz").rename(folder / "train.npz")
    return ["rhizome compile net.onnx --calibration train.npz -o net.rhz"]


def package(folder):
    digits(folder)
    return ["rhizome compile net.onnx --goal throughput=100000/s -o net.rhz"]


def service(folder):
    digits(folder)
    return ["rhizome compile net.onnx --cluster ku060x2 -o net.rhz"]


def phases(folder):
    digits(folder)
    link(folder, "kernel.cfd", "kernels/helmholtz.cfd")
    (folder / "empty.mlir").write_text("module {}\n")
    return ["rhizome compile net.onnx --compile-to emit -o text.mlir"]


def resources(folder):
    link(folder, "net.onnx", "tiny-digits/tiny_digits_qdq_int8.onnx")


def elements(folder):
    """Inputs of the Helmholtz operator."""
    np = needed("numpy")
    draw = np.random.default_rng(7)
    np.savez(folder / "x.npz", S=draw.uniform(-1, 1, (11, 11)),
             D=draw.uniform(-1, 1, (11,) * 3), u=draw.uniform(-1, 1, (11,) * 3))


def bytes_only(folder):
    """A network that a core carries out."""
    link(folder, "net.onnx", "digits/digits_qdq_int8.onnx")
    link(folder, "other.onnx", "digits/digits_qdq_int8.onnx")


def jets(folder):
    link(folder, "net.onnx", "tiny-digits/tiny_digits_qdq_int8.onnx")
    return ["rhizome compile net.onnx --goal throughput=1000/s -o net.rhz"]


PREPARED = {
    "docs/howto/boards.md": digits,
    "docs/howto/config-file.md": config,
    "docs/howto/kernels-in-hardware.md": elements,
    "docs/howto/look-inside.md": looked_at,
    "docs/howto/measure-accuracy.md": images,
    "docs/howto/clusters.md": digits,
    "docs/howto/engine.md": bytes_only,
    "docs/howto/measure-resources.md": resources,
    "docs/howto/networks-from-pytorch.md": floats,
    "docs/howto/quantize-a-float-network.md": floats,
    "docs/howto/run-a-cluster.md": service,
    "docs/howto/run-a-package.md": package,
    "docs/howto/stop-between-phases.md": phases,
    "docs/howto/transformers.md": transformers,
    "docs/start/latency.md": jets,
}


# Runs -----------------------------------------------------------------------

def masked(line):
    """A line without what depends on the machine and the minute."""
    line = re.sub(r"\d[\d,.]* (s\b|ms\b|cycles per second)", "# \\1", line)
    line = re.sub(r"error \S+$", "error #", line)
    # The last column of evaluate.
    line = re.sub(r"\s+", " ", line).strip()
    return re.sub(r"^((?:integer|float|rtl|host) [\d,]+ .*?)[\d.]+$", "\\1#",
                  line)


def agrees(shown, output):
    """The first line that is shown and not printed; "" if there is none."""
    printed = {masked(line) for line in output.splitlines()}
    for line in shown:
        if line and "…" not in line and masked(line) not in printed:
            return line
    return ""


def reason_for(command):
    for pattern, reason in REASONS:
        if re.search(pattern, command):
            return reason
    return ""


def pages(suite):
    """The quick ones; what is run nowhere has a reason."""
    walk(suite, long=False)


def pages_long(suite):
    """The others."""
    walk(suite, long=True)


def walk(suite, long):
    left, used, known = {}, set(), {}
    # Python with the packages of the tests.
    os.environ["PATH"] = ":".join((str(suite.rhizome.parent),
                                   os.path.dirname(sys.executable),
                                   os.environ["PATH"]))
    for name in all_pages():
        listed = command_lines(ROOT / name)
        for command, _ in listed:
            if reason := reason_for(command):
                left[reason] = left.get(reason, 0) + 1
                used.add(reason)
        mine = [(c, shown) for c, shown in listed if not reason_for(c)]
        # Quick commands run in the other suite, too, where they prepare others.
        if not mine or (long and not any(LONG.search(c) for c, _ in mine)):
            continue
        # Pages that need nothing but the examples say the same things.
        prepare = PREPARED.get(name)
        folder = suite.work / (re.sub(r"\W+", "_", name) if prepare else "tour")
        before = []
        if not folder.exists():
            folder.mkdir()
            (folder / "examples").symlink_to(ROOT / "examples")
            before = (prepare and prepare(folder)) or []
        for command, shown in [(c, None) for c in before] + mine:
            if LONG.search(command) and not long:
                continue
            key = (folder, command)
            if key not in known:
                began = time.time()
                known[key] = run_program(["bash", "-c", command], cwd=folder)
                print(f"      {time.time() - began:.1f} s", flush=True)
            result = known[key]
            wanted = 1 if shown and shown[0].startswith("error:") else 0
            wrong = agrees(shown or [], result.out + result.err)
            suite.check(result.status == wanted and not wrong
                        and not re.search(r"\b[1-9][\d,]* mismatches",
                                          result.out),
                        f"{name}: {command}"
                        + (f": not printed: {wrong}" if wrong else "")
                        + (f": {result.message[:300]}"
                           if result.status != wanted else ""),
                        f"cd {folder}; {result.command}")
    unused = {reason for _, reason in REASONS} - used
    suite.check(len(known) >= 10 and not unused,
                f"{len(known)} commands ran, not run: {left}; reasons for "
                f"none: {unused or 'none'}")

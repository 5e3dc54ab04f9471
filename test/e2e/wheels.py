# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel, of the programs under test: its size, what is in it, and the
docs/start/tour.md and a Python program in a virtual environment that has it and
numpy, while the source tree cannot be seen."""
import pathlib
import shutil
import sys
import tempfile
import venv
import zipfile

import install
from framework import needed, run_program

MOST_BYTES = 120_000_000
PROGRAM = """
import numpy, rhizome
digits = rhizome.examples() / "digits"
images = numpy.load(digits / "test_images.npy")
labels = numpy.load(digits / "test_labels.npy")
package = rhizome.compile(digits / "digits_qdq_int8.onnx",
                          goal="throughput=100000/s", output="python.rhz")
assert package.simulate(images[:2]).mismatches == 0
assert (package.infer(images).argmax(1) == labels).mean() > 0.98
print("program", rhizome.program())
"""


def wheel(suite):
    needed("scikit_build_core")
    # The suite's own folder is in the source tree.
    with tempfile.TemporaryDirectory(prefix="rhizome-wheel-") as folder:
        made(suite, pathlib.Path(folder))


def made(suite, folder):
    build = suite.rhizome.parents[1]
    result = run_program(
        [sys.executable, "-m", "pip", "wheel", install.ROOT, "--no-deps",
         "--no-build-isolation", "--no-cache-dir", "-w", folder, "--config-settings",
         f"cmake.define.RHIZOME_BUILD={build}"])
    wheels = list(folder.glob("*.whl"))
    if not suite.check(result.status == 0 and len(wheels) == 1,
                       f"pip wheel: {result.wall_s:.0f} s", result.command):
        print(result.out, result.err)
        return
    size = wheels[0].stat().st_size
    suite.check(size <= MOST_BYTES, f"{wheels[0].name}: {size / 1e6:.1f} MB")
    contents(suite, wheels[0])
    bare = folder / "venv"
    venv.create(bare, with_pip=False, symlinks=True)
    site = next(bare.glob("lib/python*/site-packages"))
    result = run_program([sys.executable, "-m", "pip", "--python",
                          bare / "bin/python", "install", "--no-index",
                          "--no-deps", wheels[0]])
    if not suite.check(result.status == 0, f"pip install {result.err[:300]}",
                       result.command):
        return
    # Its only dependency, which needs no network this way.
    numpy = pathlib.Path(needed("numpy").__file__).parent
    for part in (numpy, numpy.with_name("numpy.libs")):
        if part.exists():
            shutil.copytree(part, site / part.name)
    tour = folder / "tour"
    tour.mkdir()
    (tour / "examples").symlink_to(
        site / "rhizome/install/share/rhizome/examples")
    hidden = install.Hidden(suite, bare, tour)
    result = hidden.run("rhizome-node", "--help")
    suite.check(result.status == 0, "rhizome-node --help", result.command)
    install.tour_of(suite, hidden, (build / "bin/rhizome-rank").exists())
    result = hidden.run(bare / "bin/python", "-c", PROGRAM)
    suite.check(result.status == 0 and f"program {site}" in result.out,
                f"import rhizome: {result.out}{result.err[-300:]}",
                result.command)


def contents(suite, path):
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        stacked = sum(i.file_size for i in archive.infolist()
                      if "libLLVM" in i.filename)
    libraries = [n for n in names if "/lib/rhizome/lib/" in n]
    licenses = [n for n in names if "/licenses/" in n]
    suite.check(sum("libLLVM" in n for n in libraries) == 1
                and sum("libMLIR" in n for n in libraries) == 1,
                f"{len(libraries)} libraries, LLVM's and MLIR's once: "
                f"{stacked / 1e6:.0f} MB")
    suite.check(any("libllvm" in n for n in licenses)
                and any("libmlir" in n for n in licenses),
                f"licenses of {len(licenses)} packages, LLVM's too")

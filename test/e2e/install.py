# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An installation by itself: put into a folder, it does docs/start/tour.md in
another one while the source tree, its build included, cannot be seen."""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile

from framework import Skip, run_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = "examples/digits/digits_qdq_int8.onnx"
IMAGES = "examples/digits/test_images.npy"


class Hidden:
    """Runs commands with PATH beginning at the installation's programs and an
    empty folder in the source tree's place."""

    def __init__(self, suite, prefix, cwd):
        suite.tool("unshare")
        self.cwd = cwd
        hide = f"mount -t tmpfs none {shlex.quote(str(ROOT))} && "
        rights = [] if os.geteuid() == 0 else ["--map-root-user"]
        self.enter = ["unshare", "--mount", *rights, "bash", "-c",
                      f"{hide}PATH={shlex.quote(str(prefix / 'bin'))}:$PATH "
                      f'exec "$@"', "hidden"]
        probe = run_program([*self.enter, "ls", ROOT], cwd=cwd)
        if probe.status or probe.out.strip():
            raise Skip(f"mount namespaces are not permitted here: {probe.err}")

    def run(self, *args):
        return run_program([*self.enter, *args], cwd=self.cwd)


def install(suite):
    # The suite's own folder is in the source tree.
    with tempfile.TemporaryDirectory(prefix="rhizome-install-") as folder:
        install_into(suite, pathlib.Path(folder))


def install_into(suite, folder):
    prefix, tour = folder / "prefix", folder / "tour"
    build = suite.rhizome.parents[1]
    done = run_program(["cmake", "--install", build, "--prefix", prefix])
    if not suite.check(done.status == 0, "cmake --install", done.command):
        print(done.message)
        return
    # `make demo` builds this target, and the tour needs all of it.
    tools = run_program(["ninja", "-C", build, "-t", "query",
                         "tools/rhizome-tools"])
    has_ranks = (build / "bin/rhizome-rank").exists()
    suite.check(tools.status == 0 and all(
        f"bin/{name}\n" in tools.out or f" {name}\n" in tools.out
        for name in ["rhizome", "rhizome-opt", "rhizome-node"]
        + ["rhizome-rank"] * has_ranks),
        f"rhizome-tools is every program of the tour: {tools.out}",
        tools.command)
    tour.mkdir()
    shutil.copytree(prefix / "share/rhizome/examples", tour / "examples")
    hidden = Hidden(suite, prefix, tour)
    tour_of(suite, hidden, has_ranks)
    helped(suite, hidden, prefix)


def tour_of(suite, hidden, has_ranks):
    """The tour, without synthesis."""
    def good(*args, says=""):
        result = hidden.run("rhizome", *args)
        suite.check(result.status == 0 and says in result.out,
                    f"rhizome {' '.join(args)}: {result.message[:200]}",
                    result.command)
        return result

    good("--version")
    good("targets", says="xcku060-role")
    for program in ("rhizome-opt", "rhizome-node"):
        result = hidden.run(program, "--help")
        suite.check(result.status == 0, f"{program} --help", result.command)
    good("compile", DIGITS, "--goal", "throughput=100000/s", "-o", "digits.rhz",
         says="1,536 cycles")
    result = good("simulate", "digits.rhz", "--input", IMAGES, "-n", "2",
                  "--json")
    suite.check((result.json or {}).get("mismatches") == 0,
                "no mismatch in RTL")
    page = (hidden.cwd / "digits.rhz/report.html").read_text()
    suite.check('"simulate":{' in page, "the report shows what was measured")
    good("evaluate", "digits.rhz", "--data", IMAGES, "--labels",
         "examples/digits/test_labels.npy", says="98.67")
    good("run", "digits.rhz", "--driver", "cpu", "--input", IMAGES, "-n", "5")
    good("compile", "examples/kernels/helmholtz.cfd", "--target", "cpu", "-o",
         "helmholtz")
    good("compile", DIGITS, "--cluster", "ku060x2", "--goal",
         "throughput=8000/s", "-o", "pair.rhz")
    if shutil.which("mpirun") and has_ranks:
        good("simulate", "pair.rhz", "--level", "cluster", "-n", "2")


def helped(suite, hidden, prefix):
    """Manual pages, and what the shells complete."""
    listed = subprocess.run([suite.rhizome, "--help"], capture_output=True,
                            text=True, check=True).stdout
    commands = [line.split()[0] for line in
                listed.split("Usage:")[1].split("Examples:")[0]
                .splitlines() if line.startswith("  ") and line[2] not in " -"]
    pages = {p.name for p in (prefix / "share/man/man1").iterdir()}
    suite.check(pages == {"rhizome.1"} | {f"rhizome-{c}.1" for c in commands},
                f"a manual page for each of {len(commands)} commands: "
                f"{len(pages)}")
    script = prefix / "share/bash-completion/completions/rhizome"
    for words, wanted in (
            (["comp"], ["compile"]),
            (["targets", "--js"], ["--json"]),
            (["compile", "x.onnx", "--board", "iceb"], ["icebreaker"]),
            (["compile", "x.onnx", "--compile-to", "int"], ["integerize"]),
            (["compile", "exa"], [])):
        lines = "\n".join([
            f"source {shlex.quote(str(script))}",
            f"COMP_WORDS=(rhizome {shlex.join(words)})",
            f"COMP_CWORD={len(words)}", "_rhizome",
            'printf "%s\\n" "${COMPREPLY[@]}"'])
        result = hidden.run("bash", "-c", lines)
        suite.check(result.out.split() == wanted,
                    f"bash completes {' '.join(words)} to {wanted}: "
                    f"{json.dumps(result.out.split())} {result.err[:200]}")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long runs: frames that are sent, compared and written while others are on their way, in
memory that does not grow; interruptions; what deploy.sh starts, with its metrics."""
import json
import os
import signal
import subprocess
import threading
import time

import networks
from framework import Skip
from nodes import scraped

TINY = networks.ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"
GROWTH = 32 << 20  # of resident memory, by thousands of frames
SOON = 5           # seconds; the promise is one, of a machine with nothing else to do


class Running:
    """A rhizome run whose output is collected."""

    def __init__(self, suite, *words):
        self.process = subprocess.Popen(
            [str(w) for w in (suite.rhizome, "run", *words)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(
            line.strip() for line in self.process.stderr))
        self.reader.start()

    def wait_for(self, happened, seconds=60):
        end = time.time() + seconds
        while time.time() < end and self.process.poll() is None:
            value = happened()
            if value:
                return value
            time.sleep(0.02)
        return happened()

    def answers(self, least):
        """The answers that its metrics tell of, once there are so many."""
        def known():
            places = [line.split()[-1] for line in self.lines
                      if line.startswith("metrics at ")]
            count = scraped(places[0]).get("rhizome_answers_total", 0) \
                if places else 0
            return count if count >= least else 0
        return self.wait_for(known)

    def catches(self, kind):
        """Whether it would end by a signal in its own way, once it has begun."""
        with open(f"/proc/{self.process.pid}/status") as file:
            caught = next(line for line in file if line.startswith("SigCgt"))
        return int(caught.split()[1], 16) >> (kind - 1) & 1

    def resident(self):
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def interrupt(self, kind):
        """Ends it by a signal: its output, and how long that took."""
        began = time.time()
        self.process.send_signal(kind)
        out = self.process.stdout.read()
        self.process.wait(timeout=60)
        self.reader.join()
        return out, time.time() - began


def interrupted(suite, run, kind, label):
    out, took = run.interrupt(kind)
    answer = json.loads(out.strip().splitlines()[-1])
    suite.check(run.process.returncode == 128 + kind and took < SOON,
                f"{label}: status {run.process.returncode} after {took:.2f} s")
    suite.check(answer["ok"] is False and "interrupted" in answer["error"]
                and 0 < answer["frames"] < answer["asked"]
                and answer["mismatches"] == 0,
                f"{label}: {answer['frames']} of {answer['asked']} answered, "
                f"{answer['compared']} compared")
    return answer


def streams(suite):
    """The CPU's driver: a run of a million frames is ended, one that reads a file
    writes what it would have written at once."""
    package = suite.work / "tiny.rhz"
    result = suite.compile(TINY, (), "throughput=1000/s", package)
    if not suite.check(result.status == 0, "compiles", result.command):
        return
    for kind in (signal.SIGINT, signal.SIGTERM):
        run = Running(suite, package, "--driver", "cpu", "-n", 1000000, "--json",
                      "--metrics", "0")
        suite.check(run.answers(1), "it answers while frames are left to compare")
        run.answers(6000)
        before = run.resident()
        run.answers(12000)
        suite.check(run.resident() - before < GROWTH,
                    f"memory stays: {before >> 10} kB, then "
                    f"{run.resident() >> 10} kB")
        answer = interrupted(suite, run, kind, kind.name)
        suite.check(answer["compared"] > 0, "frames are compared meanwhile")
    few = Running(suite, package, "--driver", "cpu", "-n", 1000000, "--json",
                  "--metrics", "0", "--check-every", 1000)
    few.answers(3000)
    answer = interrupted(suite, few, signal.SIGINT, "every thousandth")
    suite.check(0 < answer["compared"] <= answer["frames"] // 1000 + 1,
                "only those are compared")
    for wrong in ("0", "-1"):
        result = suite.run("run", package, "--driver", "cpu", "--check-every",
                           wrong)
        suite.check(result.status == 2, f"--check-every {wrong}: {result.message}")
    files(suite, package)


def files(suite, package):
    try:
        import numpy as np
    except ImportError:
        raise Skip("Python has no numpy") from None
    images = np.load(networks.ROOT / "examples/tiny-digits/test_images.npy")
    images = np.tile(images, (5000 // len(images) + 1, 1, 1, 1)[:images.ndim])
    given, got, part = (suite.work / f"{name}.npy"
                        for name in ("given", "got", "part"))
    np.save(given, images[:5000])
    common = (package, "--driver", "cpu", "--input", given, "--json")
    result = suite.run("run", *common, "--output", got)
    suite.check(result.status == 0 and result.json["frames"] == 5000
                and result.json["compared"] == 5000,
                f"5,000 frames of a file: {result.message[:200]}", result.command)
    whole = np.load(got)
    again = suite.run("run", *common, "--expect", got, "--no-check")
    suite.check(again.status == 0 and again.json["unexpected"] == 0,
                "the answers of both runs are equal", again.command)
    one = suite.run("run", package, "--driver", "cpu", "--input", given, "-n", 7,
                    "--output", part, "--json")
    suite.check(one.status == 0 and (np.load(part) == whole[:7]).all(),
                "the first seven alone give the same", one.command)
    # What is wrong with a late frame ends the run, and leaves no file.
    broken = images[:5000].astype(np.int64)
    broken[4000] = 2 ** 40 + 1  # which float32 does not have
    np.save(given, broken)
    part.unlink()
    result = suite.run("run", *common, "--output", part)
    suite.check(result.status == 1 and "frame 4000" in result.message
                and not list(suite.work.glob("part*")),
                f"a frame that is none: {result.message[:200]}", result.command)
    run = Running(suite, package, "--driver", "cpu", "-n", 1000000, "--json",
                  "--metrics", "0", "--output", part)
    run.answers(3000)
    answer = interrupted(suite, run, signal.SIGINT, "with an output")
    kept = np.load(part)
    suite.check(0 < len(kept) <= answer["frames"],
                f"the file has {len(kept)} of them")


def deployed(suite):
    """Four nodes that deploy.sh starts, each with metrics of its own; a run over
    them is ended, and they are started anew at once."""
    package = suite.work / "four.rhz"
    result = suite.compile(
        networks.ROOT / "examples/digits/digits_qdq_int8.onnx", (),
        "max-throughput,lut=40000", package, "--cluster", "xc7a100t:4@udp-1g")
    if not suite.check(result.status == 0, "compiles " + (
            "" if result.status == 0 else result.message), result.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    names = [node["name"] for node in plan["nodes"]]
    suite.check(len(names) == 4, f"{len(names)} nodes")
    base = 20000 + os.getpid() % 20000
    manifest = package / "deploy.yaml"
    text = manifest.read_text()
    for node in plan["nodes"]:
        text = text.replace(f"127.0.0.1:{2718 + node['address']}",
                            f"127.0.0.1:{base + node['address']}")
    manifest.write_text(text)
    environment = {**os.environ,
                   "RHIZOME_NODE": str(suite.rhizome.parent / "rhizome-node")}

    def script(*words):
        return subprocess.run([package / "deploy.sh", *map(str, words)],
                              env=environment, capture_output=True, text=True)

    nobody = subprocess.run([suite.rhizome.parent / "rhizome-node", package,
                             "node9"], capture_output=True, text=True)
    suite.check(nobody.returncode == 2
                and all(f"'{name}'" in nobody.stderr for name in names),
                f"an unknown node: {nobody.stderr.strip()}")
    port = base + 1000
    started = script("start", "--metrics", port)
    try:
        suite.check(started.returncode == 0 and all(
            f"http://127.0.0.1:{port + i}/metrics" in started.stdout
            for i in range(len(names))), f"starts: {started.stdout}{started.stderr}")
        for i in range(len(names)):
            page, until = {}, time.monotonic() + 10
            while not (told := any(f'node="{names[i]}"' in key for key in page)) \
                    and time.monotonic() < until:
                page = scraped(f"http://127.0.0.1:{port + i}/metrics")
            suite.check(told, f"{names[i]} tells of itself, not only: {list(page)}")
        run = Running(suite, package, "-n", 1000000, "--json", "--metrics", "0")
        suite.check(run.answers(1), "the first answers come")
        interrupted(suite, run, signal.SIGINT, "four nodes")
        # They are gone when stop returns, so that start finds free places.
        for _ in range(2):
            stopped, again = script("stop"), script("start", "--metrics", port)
            suite.check(stopped.stdout.count("stopped") == len(names)
                        and again.returncode == 0,
                        f"stops and starts: {again.stdout}{again.stderr}")
        script("stop")
        again = script("start", f"--metrics={suite.work}/m")
        suite.check(again.returncode == 0 and all(
            (suite.work / f"m.{name}").exists() for name in names),
            f"a file each: {again.stdout}{again.stderr}")
    finally:
        script("stop")
    suite.check("does not run" in script("status").stdout, "and all have ended")

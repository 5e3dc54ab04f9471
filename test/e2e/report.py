# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report in headless Chromium: it renders without an error and without a
network, and the figures on the page are those of the package's JSON. And
`targets`, which explains every file of data."""
import html.parser
import json
import os
import re
import shutil
import subprocess

import framework
import shared
from networks import ROOT

DIGITS = ROOT / "examples/digits/digits_qdq_int8.onnx"
MOST_BYTES = 2_000_000
REQUIRED = ("Network", "Rooflines", "Bandwidth and parameters", "Resources",
            "Timeline", "Nodes", "Predicted against measured", "On a CPU",
            "Energy, an estimate")


class Page(html.parser.HTMLParser):
    """Headings, marks with data-path, and the data of a rendered page."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.marks, self.headings, self.data, self.inside = [], [], "", ""
        self.drawn = self.outside = False
        self.words = ""

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.inside = tag if tag in ("h2", "h1") else (
            "data" if a.get("id") == "data" else "")
        if "data-path" in a:
            self.marks.append((a["data-path"], a.get("data-value")))
        self.drawn |= tag == "body" and a.get("data-drawn") == "yes"
        self.outside |= tag in ("script", "img", "link") and any(
            a.get(k, "data:").split(":")[0] != "data" for k in ("src", "href"))

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, text):
        if self.inside == "h2":
            self.headings.append(text)
        elif self.inside == "data":
            self.data += text
        else:
            self.words += text + "\n"


def member(data, path):
    for step in path.split("/"):
        data = data[int(step) if isinstance(data, list) else step]
    return data


def ok(suite, *arguments):
    """Runs rhizome, which must succeed."""
    run = suite.run(*arguments)
    suite.check(run.status == 0, f"{run.command}: {run.message[:200]}")
    return run


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    raise framework.Skip("no chromium (packages.txt)")


def chromium(suite, page, *options):
    """Runs the browser on a page, without a network."""
    return framework.run_program(
        [browser(), "--headless=new", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--hide-scrollbars",
         "--proxy-server=127.0.0.1:9", "--enable-logging=stderr",
         f"--user-data-dir={suite.work / 'profile'}",
         "--virtual-time-budget=4000", *options, page.resolve().as_uri()],
        timeout=120)


def same(shown, value):
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return abs(float(shown) - value) <= 1e-9 * abs(value)
        except ValueError:
            return False
    return shown == ("null" if value is None else str(value))


def drawn_page(suite, path):
    """Renders a page: without an error or anything from elsewhere, and its
    figures are those of its data."""
    run = chromium(suite, path, "--dump-dom")
    # The browser's own pages say so on a slow machine.
    errors = [line for line in run.err.splitlines()
              if ("CONSOLE" in line or "Uncaught" in line)
              and "source: chrome://" not in line]
    suite.check(run.status == 0 and not errors,
                f"no console message: {errors[:3] or run.status}")
    page = Page()
    page.feed(run.out)
    suite.check(page.drawn, "the script came to its end")
    suite.check(not page.outside, "nothing is fetched")
    data = json.loads(page.data)
    wrong = []
    for where, shown in page.marks:
        try:
            if not same(shown, member(data, where)):
                wrong.append(f"{where}: {shown}, not {member(data, where)}")
        except (KeyError, IndexError, TypeError) as error:
            if shown not in ("undefined", None):
                wrong.append(f"{where}: {error!r}")
    suite.check(len(page.marks) > 20 and not wrong,
                f"{len(page.marks)} figures equal the JSON's: {wrong[:3]}")
    return page


def check_page(suite, package):
    """Renders a package's report and compares it; returns the parsed page."""
    path = package / "report.html"
    suite.check(path.exists() and path.stat().st_size < MOST_BYTES,
                f"report.html is there, {path.stat().st_size:,} bytes")
    page = drawn_page(suite, path)
    data = json.loads(page.data)
    for name, file in (("plan", "plan.json"),
                       ("analysis", "model/analysis.json")):
        suite.check(data[name] == json.loads((package / file).read_text()),
                    f"the page holds {file}")
    stated = json.loads((ROOT / "data/report/energy.json").read_text())
    suite.check(data["energy"]["model"] == stated["model"],
                "the energy's model is stated")
    suite.check(len(page.marks) > 50, f"{len(page.marks)} figures")
    return page


def quantized(suite):
    """A network quantized after training: package and page say how."""
    package = suite.work / "mlp.rhz"
    answer = ok(suite, "compile", ROOT / "examples/pytorch/mlp.onnx",
                "--calibration", ROOT / "examples/digits/test_images.npy",
                "--goal", "min-resources", "-o", package, "--json").json or {}
    kept = json.loads((package / "model/quantization.json").read_text())
    suite.check(kept["layers"] and kept == answer.get("quantization"),
                f"quantization.json: {len(kept['layers'])} layers")
    page = check_page(suite, package)
    shown = {where for where, _ in page.marks}
    suite.check("Quantization" in page.headings and {
        "quantization/layers/0/scale", "quantization/layers/1/snr_db"} <= shown,
        "scales and ratios are on the page")


def streamed(suite):
    """Weights in a memory outside the chip: the page shows its channels."""
    package = suite.work / "streamed.rhz"
    ok(suite, "compile", DIGITS, "--device", "xcu55c", "--weights",
       "streamed", "-o", package)
    page = check_page(suite, package)
    node = json.loads(page.data)["plan"]["nodes"][0]
    wanted = {f"plan/nodes/0/ports/memory/{i}/bytes_per_frame"
              for i in range(len(node["ports"]["memory"]))}
    suite.check("Memories" in page.headings and wanted and wanted <= {
        where for where, _ in page.marks},
        f"the {len(wanted)} channels are on the page")
    for port in node["ports"]["memory"]:
        read = sum(s["bytes_per_frame"] for s in node["segments"]
                   if (s["memory"], s["bank"]) == (port["memory"], port["bank"]))
        suite.check(read == port["bytes_per_frame"],
                    f"{port['port']}: its segments' bytes are its own: {read}")


def repeated(suite):
    """Blocks that are a body: its layers, trips and cycles, what it saves."""
    kit = framework.needed("onnxkit")
    model, package = suite.work / "blocks.onnx", suite.work / "blocks.rhz"
    kit.onnx.save(shared.blocks(kit, 6, size=4), model)
    ok(suite, "compile", model, "--device", "xczu3eg", "--goal",
       "min-resources", "-o", package)
    page = check_page(suite, package)
    body, = json.loads(page.data)["plan"]["repeats"]
    shown = {where for where, _ in page.marks}
    suite.check("Bodies" in page.headings and {
        f"plan/repeats/0/{k}" for k in (
            "trips", "length", "cycles_per_trip", "resources/lut", "apart/lut")
    } <= shown, f"the body is on the page: {body}")
    suite.check(f"{body['trips']} trips a frame; the slowest unit is busy for "
                f"{body['cycles_per_trip']:,} cycles in each" in page.words,
                "so are its trips")


def report(suite):
    package = suite.work / "digits.rhz"
    shutil.rmtree(package, ignore_errors=True)
    ok(suite, "compile", DIGITS, "--device", "lfe5u-85f", "--goal",
             "throughput=2000/s", "-o", package)
    page = check_page(suite, package)
    missing = set(REQUIRED) - set(page.headings)
    suite.check(not missing, f"every section is there: {sorted(missing)}")
    # Later measurements appear: here as written by simulate.
    plan = json.loads((package / "plan.json").read_text())
    measured = {"interval_cycles": plan["predicted"]["interval_cycles"] * 2,
                "throughput_per_s": plan["predicted"]["throughput_per_s"]}
    (package / "results").mkdir(exist_ok=True)
    (package / "results/simulate.json").write_text(json.dumps(
        {"predicted": plan["predicted"], "measured": measured}))
    ok(suite, "report", package)
    page = check_page(suite, package)
    suite.check(any(where == "results/simulate/measured/interval_cycles" and
                    same(shown, measured["interval_cycles"])
                    for where, shown in page.marks),
                "the measured interval is on the page")
    # As synth prints it: the prediction less the measurement.
    suite.check(re.search(r"\n[-−]50\.00%\n", page.words)
                and "+0.00%" in page.words,
                "a prediction of half of what was measured is off by −50 %")
    quantized(suite)
    streamed(suite)
    repeated(suite)
    for name, options in (("light", ()), ("dark", ("--force-dark-mode",))):
        shot = suite.work / f"{name}.png"
        shot.unlink(missing_ok=True)
        chromium(suite, package / "report.html", f"--screenshot={shot}",
                 "--window-size=1200,5000", *options)
        suite.check(shot.exists() and shot.stat().st_size > 20000,
                    f"{name}: a picture")
    pdf = suite.work / "print.pdf"
    pdf.unlink(missing_ok=True)
    chromium(suite, package / "report.html", f"--print-to-pdf={pdf}",
             "--no-pdf-header-footer")
    suite.check(pdf.exists() and pdf.stat().st_size > 20000, "a print")
    # A Python without onnxruntime: reported, and the page is still drawn.
    fake = suite.work / "python"
    fake.write_text("#!/bin/sh\necho 'this Python has no onnxruntime'\nexit 1\n")
    fake.chmod(0o755)
    run = framework.run_program(
        ["env", f"RHIZOME_PYTHON={fake}", suite.rhizome, "report", package,
         "--baseline", DIGITS])
    suite.check(run.status == 0 and "SKIPPED the CPU baseline" in run.err,
                f"a skipped baseline is said: {run.message}")
    broken = suite.run("report", suite.work / "nowhere")
    suite.check(broken.status == 1 and "nowhere" in broken.err,
                f"no package: {broken.message}")


def kernel(suite):
    """A kernel's package: its parts over cycles, and its memories."""
    helmholtz = ROOT / "examples/kernels/helmholtz.cfd"
    for options in ((), ("--stages", "3", "--resident", "S")):
        package = suite.work / "helmholtz.rhz"
        ok(suite, "compile", helmholtz, "--numbers", "fixed<8,24>", "--device",
           "xcu280", *options, "-o", package)
        ok(suite, "report", package)
        page = drawn_page(suite, package / "report.html")
        missing = {"Parts of an element", "Schedules of the loop nests",
                   "Memories of the unit", "Resources"} - set(page.headings)
        suite.check(not missing, f"sections {missing} are missing")


def baseline(suite):
    """ONNX Runtime's baseline, measured here."""
    package = suite.work / "digits.rhz"
    ok(suite, "compile", DIGITS, "--device", "lfe5u-85f", "--goal",
             "throughput=2000/s", "-o", package)
    python = os.environ.get("RHIZOME_PYTHON", framework.sys.executable)
    if subprocess.run([python, "-c", "import onnxruntime"],
                      capture_output=True, check=False).returncode:
        raise framework.Skip("no onnxruntime")
    run = framework.run_program(
        ["env", f"RHIZOME_PYTHON={python}", suite.rhizome, "report", package,
         "--baseline", DIGITS, "--json"])
    suite.check(run.status == 0 and "baseline_skipped" not in run.json,
                f"measured: {run.message}")
    found = json.loads((package / "results/baseline.json").read_text())
    suite.check([r["threads"] for r in found["runs"]][0] == 1 and
                all(r["latency_us"] > 0 for r in found["runs"]),
                "one thread and all")


def targets(suite):
    listed = ok(suite, "targets", "--json").json["targets"]
    kinds = {}
    for target in listed:
        kinds.setdefault(target["kind"], []).append(target["name"])
        suite.check(target["sources"], f"{target['name']} has sources")
    for folder, kind in (("devices", "device"), ("boards", "board"),
                         ("links", "link"), ("clusters", "cluster")):
        files = sorted(p.stem for p in (ROOT / "data" / folder).glob("*.yaml"))
        suite.check(sorted(kinds[kind]) == files, f"every {kind} is listed")
    for name in (names[0] for names in kinds.values()):
        shown = ok(suite, "targets", name).out
        suite.check(name in shown and "sources:" in shown, f"{name} explained")
    path = suite.work / "bad.yaml"
    path.write_text("name: bad\ndescription: d\nnodes:\n"
                    "  - {device: xcku060-role, link: udp-11g}\n")
    said = suite.run("targets", path)
    suite.check(said.status == 1 and "bad.yaml:4: unknown link 'udp-11g'" in
                said.err, f"refused by line: {said.message}")
    said = suite.run("targets", "nobody")
    suite.check(said.status == 2 and "unknown target 'nobody'" in said.err,
                f"refused by name: {said.message}")
    for device in ("xczu7ev", "xcvc1902", "xc7a100t"):
        ok(suite, "compile", ROOT / "examples/tiny-digits"
                 / "tiny_digits_qdq_int8.onnx", "--device", device, "--goal",
                 "min-resources", "-o", suite.work / f"{device}.rhz")

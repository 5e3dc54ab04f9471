#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predicted resources against Yosys: every actor of the networks at three
goals, and of random option points. Prints one table of totals, the errors by
device and by cell, the worst actors and the slowest modules, and writes the
text and the rows. Modules are cached by content (rhizome synth), so an
interrupted run continues where it stopped.
    bench/resources.py                       all networks
    bench/resources.py lenet5 --goals quick  one of them
    bench/resources.py --random 30 --seed 7 --results bench
    bench/resources.py --engines --results bench   cores of the engine
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test/e2e")]
sys.dont_write_bytecode = True

import framework  # noqa: E402
import networks  # noqa: E402

DEVICES = ("xczu3eg", "lfe5u-85f")
# What rhizome-points draws, and the devices for it: weights that are loaded or
# streamed need a memory outside the chip, and the port of one is wider than
# that of the other.
SETS = {"rom": DEVICES, "resident": ("xczu7ev",),
        "streamed": ("xczu7ev", "xcvu9p-slr"), "products": DEVICES,
        "rows": DEVICES, "moves": DEVICES, "fifos": ("xczu7ev", "xcvu9p-slr"),
        "turns": ("xczu7ev",)}
# In addition to all networks on DEVICES, unless only quick goals are requested:
# networks too large for the smaller ones, and many multipliers of each kind.
EXTRA = (("PTTCNN_int8", "max-throughput", "xcku060-role"),
         ("PTTCNN_int8", "throughput=374000/s,lut=30000", "xcku060-role"),
         ("digits_qonnx_w4a4", "throughput=100000/s", "xczu3eg"))
# Cores of the engine; the network matters for the borders only.
ENGINES = (("xc7z020", "core16x16"), ("xczu3eg", "core16x32"),
           ("xck26", "core32x32"))
LARGE = 500    # LUTs or FFs, above which errors are in percent
MEDIAN, WORST, WORST_LUT_PRODUCTS, SMALL = 0.05, 0.15, 0.25, 75
EXACT = ("dsp", "bram", "uram")
LEVELS = {"ultrascale": 6, "ultrascale+": 6, "ecp5": 5}  # of logic


class Failure(Exception):
    """A command that failed, with its message."""


def run(*args):
    """One JSON object of a command, with "missed" if its goal is not met."""
    args = [str(a) for a in args]
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    try:
        answer = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        answer = {}
    if done.returncode and not answer.get("limit"):
        raise Failure(f"{' '.join(args)}: "
                      f"{answer.get('error') or done.stderr.strip()}")
    return answer | {"missed": done.returncode != 0}


def rom_luts(package, node, config):
    """LUTs of the weights in logic: a function of as many address bits
    as a LUT has, of each column that is neither constant nor another one's
    copy, and the multiplexers of these."""
    words = config.get("Folds", 1) * config.get("OutFolds", 1)
    if not config.get("WeightFile") or config.get("Block") or words < 2:
        return 0
    path = package / "nodes" / node["name"] / "rtl" / config["WeightFile"]
    rows = [int(text, 16) for text in path.read_text().split()]
    inputs = 4 if node["family"] in ("ecp5", "ice40") else 6
    leaves, columns = set(), set()
    for bit in range(max(rows).bit_length()):
        column = [row >> bit & 1 for row in rows]
        parts = [tuple(column[at:at + (1 << inputs)])
                 for at in range(0, words, 1 << inputs)]
        leaves |= {(at, part) for at, part in enumerate(parts)
                   if len(set(part)) > 1}
        columns.add(tuple(column))
    choices = -(-words // (1 << inputs)) - 1
    return len(leaves) + len(columns) * (
        choices if inputs == 4 else -(-choices // 3))


def synthesize(options, package, source):
    """The rows of a package: one per distinct module of each node."""
    command = [options.rhizome, "synth", package, "--json", "--jobs",
               options.jobs]
    for name in ("tool", "cache"):
        if getattr(options, name):
            command += ["--" + name, getattr(options, name)]
    answer = run(*command)
    plan = json.loads((package / "plan.json").read_text())
    actors = {(node["name"], actor["name"]): (node, actor)
              for node in plan["nodes"] for actor in node["actors"]}
    rows = []
    for module in answer["modules"]:
        node, actor = actors[module["node"], module["name"]]
        rows.append({
            "source": source, "device": node["device"],
            "family": node["family"], "node": node["name"],
            "name": module["name"], "count": len(module["actors"]),
            "cell": module["cell"], "config": actor["config"],
            "predicted": module["predicted"], "measured": module["measured"],
            "rom_lut": rom_luts(package, node, actor["config"]),
            "depth": module["depth"], "path": module["path"],
            "seconds": module["seconds"], "cached": module["cached"],
            "key": module["key"], "measure": answer["measure"],
            "tool": answer["tool"], "package": str(package)})
    return rows, answer


def take_over(options):
    """Puts the published results of an earlier run into the cache, by their
    keys; except those of deep modules, whose paths are reported."""
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    cache = pathlib.Path(options.cache or pathlib.Path(home) / "rhizome/synth")
    cache.mkdir(parents=True, exist_ok=True)
    for row in json.loads(options.known.read_text()):
        kept_file = cache / (row.get("key", "") + ".json")
        if "key" in row and not kept_file.exists() and (
                row["depth"] < LEVELS.get(row["family"], 0)):
            kept_file.write_text(json.dumps(
                {k: row[k] for k in ("measure", "measured", "depth",
                                     "seconds")} | {"path": [], "loop": ""}))


def compile_network(options, network, goal, device, folder):
    package = folder / (framework.slug(f"{network.name} {goal} {device}")
                        + ".rhz")
    command = [options.rhizome, "compile", network.path, *network.options,
               "--goal", goal, "--device", device, "-o", package, "--json"]
    answer = run(*command)
    note = ""
    if answer["missed"]:
        note = "nearest"
        answer = run(*command, "--accept-nearest")
    return package, note


def compile_engine(options, device, core, folder):
    package, steer = folder / f"{device}-{core}.rhz", folder / f"{core}.yaml"
    command = [options.rhizome, "compile",
               ROOT / "examples/digits/digits_qdq_int8.onnx", "--device", device,
               "-o", package, "--json"]
    run(*command)
    plan = json.loads((package / "plan.json").read_text())
    first = plan["nodes"][0]["operations"][0]["name"]
    steer.write_text(f'nodes:\n  {first}: {{option: "engine/engine?core={core}"}}\n')
    run(*command, "--steer", steer)
    return package


def random_points(options, kind, device, folder):
    package = folder / f"{kind}-{device}-{options.seed}-{options.random}.rhz"
    done = subprocess.run(
        [options.points, "--device", device, "--count", str(options.random),
         "--seed", str(options.seed), "--set", kind, "-o", package],
        capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(done.stderr.strip())
    return package


def jobs_of(options):
    """(source, device, function that makes the package and a note)."""
    def network_job(network, goal, device):
        return (f"{network.name} {goal}", device,
                lambda folder: compile_network(options, network, goal, device,
                                               folder))

    def points_job(kind, device):
        return (f"{kind} {options.seed}+{options.random}", device,
                lambda folder: (random_points(options, kind, device, folder),
                                ""))

    if options.engines:
        return [(f"digits {core}", device,
                 lambda folder, device=device, core=core: (
                     compile_engine(options, device, core, folder), ""))
                for device, core in ENGINES]
    if options.random:
        return [points_job(kind, device) for kind in options.sets
                for device in options.devices or SETS[kind]]
    chosen = options.networks or [
        n.name for n in networks.NETWORKS.values() if n.bench]
    count = {"quick": 1, "two": 2, "all": 3}[options.goals]
    jobs = []
    for name in chosen:
        network = networks.NETWORKS[name]
        if not network.path.exists():
            print(f"SKIPPED: {network.path} is missing")
            continue
        for goal in network.goals[:count]:
            for device in options.devices or DEVICES:
                jobs.append(network_job(network, goal, device))
        for extra, goal, device in EXTRA:
            if extra == name and count > 1:
                jobs.append(network_job(network, goal, device))
    jobs.sort(key=lambda job: "max-throughput" in job[0])  # the slowest last
    return jobs


# The contents of the rows.

def value(row, side, resource):
    return row[side].get(resource, 0)


def most_levels(row):
    """Circuits follow the clock: their budget is in 32nds of a level."""
    return row["config"].get("levels", 0) // 32 or LEVELS.get(row["family"],
                                                              1000)


def has_lut_products(row):
    return row["config"].get("Style") == 0


def errors(rows, resource):
    """For the rows above LARGE: relative errors, signed, with their rows; for
    the others the differences."""
    large, small = [], []
    for row in rows:
        measured = value(row, "measured", resource)
        off = value(row, "predicted", resource) - measured
        if measured > LARGE:
            large.append((off / measured, row))
        else:
            small.append((off, row))
    return large, small


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def summary(title, rows):
    """One line of the error table."""
    line = {"title": title, "actors": len(rows)}
    for resource in ("lut", "ff"):
        large, small = errors(rows, resource)
        sizes = [abs(e) for e, _ in large]
        line[resource + "_large"] = len(sizes)
        if sizes:
            line[resource + "_median"] = 100 * statistics.median(sizes)
            line[resource + "_90"] = 100 * quantile(sizes, 0.9)
            line[resource + "_worst"] = 100 * max(sizes)
        if small:
            line[resource + "_off"] = max(abs(d) for d, _ in small)
    for resource in EXACT:
        line[resource] = sum(value(r, "predicted", resource) !=
                             value(r, "measured", resource) for r in rows)
    line["depth"] = max((r["depth"] for r in rows), default=0)
    return line


def beyond(rows):
    """The violated limits, in words."""
    said = []
    for resource in ("lut", "ff"):
        large, small = errors(rows, resource)
        name = resource.upper()
        sizes = [abs(e) for e, _ in large]
        if sizes and statistics.median(sizes) > MEDIAN:
            said.append(f"{name}: the median error is "
                        f"{100 * statistics.median(sizes):.1f} %")
        worst = [r for e, r in large if abs(e) > (
            WORST_LUT_PRODUCTS if has_lut_products(r) else WORST)]
        off = [r for d, r in small if abs(d) > SMALL]
        if worst:
            said.append(f"{name}: {len(worst)} of {len(large)} large actors "
                        "are off by more than allowed")
        if off:
            said.append(f"{name}: {len(off)} of {len(small)} small actors are "
                        f"off by more than {SMALL}")
    for resource in EXACT:
        wrong = [r for r in rows if value(r, "predicted", resource) !=
                 value(r, "measured", resource)]
        if wrong:
            said.append(f"{resource.upper()}: wrong for {len(wrong)} of "
                        f"{len(rows)} actors")
    deep = [r for r in rows if r["depth"] > most_levels(r)]
    if deep:
        said.append(f"levels of logic: too many in {len(deep)} of {len(rows)} "
                    "actors")
    return said


def distinct(rows):
    """Each module once, however often it occurs."""
    seen, unique = set(), []
    for row in rows:
        key = json.dumps([row["device"], row["cell"],
                          {k: v for k, v in row["config"].items()
                           if not isinstance(v, str)}, row["measured"]],
                         sort_keys=True)
        if key not in seen:
            seen.add(key)
            unique.append(row)
    return unique


def table(columns, lines):
    """Lines as text, numbers to the right."""
    def cell(line, key, digits):
        found = line.get(key)
        if found is None:
            return "-"
        return found if digits is None else f"{found:,.{digits}f}"

    cells = [[title for title, _, _ in columns]]
    cells += [[cell(line, key, digits) for _, key, digits in columns]
              for line in lines]
    widths = [max(len(c[i]) for c in cells) for i in range(len(columns))]
    return "\n".join("  ".join(
        text.ljust(width) if columns[i][2] is None else text.rjust(width)
        for i, (text, width) in enumerate(zip(line, widths))).rstrip()
        for line in cells)


TOTALS = (("network", "source", None), ("device", "device", None),
          ("", "note", None), ("LUT", "lut", 0), ("plan", "lut_plan", 0),
          ("%", "lut_off", 1), ("FF", "ff", 0), ("plan", "ff_plan", 0),
          ("%", "ff_off", 1), ("DSP", "dsp", 0), ("plan", "dsp_plan", 0),
          ("BRAM", "bram", 1), ("plan", "bram_plan", 1),
          ("URAM", "uram", 0), ("plan", "uram_plan", 0),
          ("levels", "depth", 0), ("s", "seconds", 0))
ERRORS = (("", "title", None), ("actors", "actors", 0),
          ("LUT >500", "lut_large", 0), ("median %", "lut_median", 1),
          ("90th", "lut_90", 1), ("worst", "lut_worst", 1),
          ("small, worst", "lut_off", 0), ("FF >500", "ff_large", 0),
          ("median %", "ff_median", 1), ("90th", "ff_90", 1),
          ("worst", "ff_worst", 1), ("small, worst", "ff_off", 0),
          ("DSP wrong", "dsp", 0), ("BRAM wrong", "bram", 0),
          ("URAM wrong", "uram", 0),
          ("levels", "depth", 0))
WORST_COLUMNS = (("", "what", None), ("actor", "name", None),
                 ("cell", "cell", None), ("of", "source", None),
                 ("device", "device", None), ("predicted", "predicted", 0),
                 ("measured", "measured", 0), ("off", "off", None))


def total(source, device, note, answer, rows):
    line = {"source": source, "device": device, "note": note}
    for resource in ("lut", "ff", "dsp", "bram", "uram"):
        measured = answer["measured"].get(resource, 0)
        planned = answer["predicted"].get(resource, 0)
        line[resource], line[resource + "_plan"] = measured, planned
        if measured:
            line[resource + "_off"] = 100 * (planned / measured - 1)
    line["depth"] = max(r["depth"] for r in rows)
    line["seconds"] = sum(r["seconds"] for r in rows)
    return line


MULTIPLIERS = (("multipliers", "title", None), ("units", "units", 0),
               ("products", "products", 0), ("per DSP", "per_dsp", 2),
               ("LUT each, of all", "all", 1), ("adder tree", "tree", 1),
               ("without", "rest", 1), ("mean of units", "mean", 1),
               ("lowest", "low", 1), ("highest", "high", 1))


def products_of(row):
    """Products of weights and activations per cycle in a unit."""
    config = row["config"]
    if row["cell"].startswith(("matvec", "turns")):
        return config.get("Pixels", 1) * config["Pe"] * config["Simd"]
    if row["cell"].startswith(("depthwise", "lane_reduce")) and (
            config.get("Op", 0) == 0):
        return config["Pixels"] * config["Lanes"] * config["Taps"]
    return 0


def tree_bits(row):
    """LUTs of the adder trees: one per bit of each adder."""
    config = row["config"]
    terms = config["Simd"] if "Simd" in config else config["Taps"]
    width, bits = config["XWidth"] + config["WWidth"], 0
    dots = products_of(row) // terms
    if config["Style"] >= 2:
        packed = 7 if config["XSigned"] else 4
        if config["Style"] == 3:  # what the low field of a DSP48E1 has room for
            x, w = config["XWidth"], config["WWidth"]
            most = (1 << (x - 1) if config["XSigned"] else (1 << x) - 1) << (w - 1)
            packed = min(packed, ((1 << (23 - max(x, w))) - 1) // most)
        cascades = -(-terms // packed)
        width += (-(-terms // cascades) - 1).bit_length()
        terms = cascades
    while terms > 1:
        width += 1
        bits += terms // 2 * width
        terms = -(-terms // 2)
    return dots * bits


def multipliers(rows):
    """The LUTs of a multiplier without memories, by the way it is built
    and the bits of its weights: including accumulators, bias and control, with the
    adder tree's share separate: for all products together, and the geometric
    mean over the units, in which control of units with a single product weighs
    as much as arrays of hundreds."""
    groups = {}
    for row in rows:
        if products_of(row):
            config = row["config"]
            way = ("in LUTs", "one a DSP", "two a DSP")[min(config["Style"], 2)]
            bits = config["WWidth"]
            groups.setdefault((row["device"], f"{bits:2}-bit weights", way),
                              []).append(row)
            if config["Style"] >= 2:
                groups.setdefault(("all", "8-bit units", way), []).append(row)
    lines = []
    for (device, bits, way), found in sorted(groups.items()):
        each = [(value(r, "measured", "lut") - value(r, "measured", "lutram")
                 - r.get("rom_lut", 0)) / products_of(r) for r in found]
        products = sum(map(products_of, found))
        dsps = sum(value(r, "measured", "dsp") for r in found)
        together = sum(e * products_of(r) for e, r in zip(each, found))
        tree = sum(map(tree_bits, found)) / products
        lines.append({
            "title": f"{device}, {bits.strip()}, {way}",
            "units": len(found), "products": products,
            "per_dsp": products / dsps if dsps else None,
            "all": together / products, "tree": tree,
            "rest": together / products - tree,
            "mean": statistics.geometric_mean(max(e, 0.01) for e in each),
            "low": min(each), "high": max(each)})
    return lines


def worst_ten(rows):
    lines = []
    for resource in ("lut", "ff"):
        large, small = errors(rows, resource)
        for what, found, text in (
                (f"{resource.upper()} above {LARGE}", large,
                 lambda e: f"{100 * e:+.1f} %"),
                (f"{resource.upper()} up to {LARGE}", small,
                 lambda d: f"{d:+.0f}")):
            found.sort(key=lambda item: -abs(item[0]))
            for off, row in found[:10]:
                lines.append({
                    "what": what, "name": row["name"], "cell": row["cell"],
                    "source": row["source"], "device": row["device"],
                    "predicted": value(row, "predicted", resource),
                    "measured": value(row, "measured", resource),
                    "off": text(off)})
    return lines


def ends_of(path):
    """The start and the end of a longest path, by the names in the source."""
    def place(step):
        name = step["name"] or step["cell"]
        return f"{name} ({step['src']})" if step["src"] else name

    return f"{place(path[0])} to {place(path[-1])}" if path else "no path"


def report(totals, rows):
    unique = distinct(rows)
    lines = [summary("all", unique)]
    for device in dict.fromkeys(r["device"] for r in unique):
        here = [r for r in unique if r["device"] == device]
        lines.append(summary(device, here))
        for cell in sorted({r["cell"] for r in here}):
            lines.append(summary(
                "  " + cell, [r for r in here if r["cell"] == cell]))
    deep = sorted(unique, key=lambda r: -r["depth"])[:10]
    slow = sorted(unique, key=lambda r: -r["seconds"])[:10]
    said = beyond(unique)
    tools = ", ".join(sorted({r["tool"] for r in rows}))
    return (
        f"{tools}; {len(totals)} designs, distinct modules once. Errors in per "
        f"cent of what Yosys needs above {LARGE} LUTs or FFs, as differences "
        "below.\nSeconds (s) of a processor in Yosys, as far as the cache tells "
        "them.\n\n"
        + table(TOTALS, totals) + "\n\n" + table(ERRORS, lines) + "\n\n"
        + table(MULTIPLIERS, multipliers(unique)) + "\n\n"
        + "Farthest off:\n" + table(WORST_COLUMNS, worst_ten(unique)) + "\n\n"
        + "Deepest modules:\n" + "\n".join(
            f"{r['depth']:8} levels  {r['name']} ({r['cell']}), {r['source']} "
            f"on {r['device']}: {ends_of(r['path'])}" for r in deep) + "\n\n"
        + "Slowest modules:\n" + "\n".join(
            f"{r['seconds']:8.0f} s  {r['name']} ({r['cell']}), {r['source']} "
            f"on {r['device']}, {value(r, 'measured', 'lut'):,.0f} LUTs"
            for r in slow) + "\n\n"
        + ("Beyond the limits:\n  " + "\n  ".join(said) if said
           else "All within the limits.") + "\n"), bool(said)


def kept(row):
    """A row of the results' JSON: without paths of this machine and without
    walk."""
    return {k: v for k, v in row.items()
            if k not in ("package", "path", "cached")}


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    framework.rhizome_option(parser)
    parser.add_argument("--points", default=ROOT / "build/bin/rhizome-points",
                        help="the program that draws option points")
    parser.add_argument("--devices", type=lambda text: text.split(","),
                        help="names, separated by commas; default: "
                        + ",".join(DEVICES) + ", and what a set needs")
    parser.add_argument("--goals", choices=("quick", "two", "all"),
                        default="all", help="how many of each network's goals")
    parser.add_argument("--random", type=int, default=0, metavar="N",
                        help="N random layers instead of networks")
    parser.add_argument("--engines", action="store_true",
                        help="cores of the engine instead of networks")
    parser.add_argument("--sets", default=",".join(SETS), metavar="LIST",
                        type=lambda text: text.split(","),
                        help="of random layers: weights that are in ROMs (rom), "
                        "loaded (resident) or read for every frame (streamed), "
                        "products of two tensors, rows, moves: what moves or "
                        "keeps elements, fifos: FIFOs in a memory, turns: layers "
                        "on one unit; default: "
                        "all")
    parser.add_argument("--seed", type=int, default=1,
                        help="of the first random layer")
    parser.add_argument("--rows", type=pathlib.Path, metavar="FILE",
                        help="the raw rows as JSON lines")
    parser.add_argument("--results", type=pathlib.Path, metavar="FOLDER",
                        help="the folder of resources.txt and .json, or of "
                        "points.txt and .json of random points; default: bench "
                        "for all networks, otherwise nowhere")
    parser.add_argument("--work", type=pathlib.Path,
                        default=ROOT / "build/resources",
                        help="the folder of the packages")
    parser.add_argument("--jobs", default="2", help="runs of Yosys at a time")
    parser.add_argument("--minutes", type=float, metavar="N",
                        help="leave out what has not begun after N minutes; "
                        "the next run has what this one measured")
    parser.add_argument("--tool", help="another Yosys")
    parser.add_argument("--cache", help="another folder for what is kept")
    parser.add_argument("--known", type=pathlib.Path, metavar="FILE",
                        help="modules that this resources.json or points.json "
                        "holds are not synthesized again")
    parser.add_argument("--check", action="store_true",
                        help="fail if a limit is broken")
    parser.add_argument("networks", nargs="*",
                        help="names from test/e2e/networks.py; all otherwise")
    options = parser.parse_args()
    whole = not (options.random or options.engines or options.networks) and options.goals == "all"
    if not options.results and whole:
        options.results = ROOT / "bench"
    return options


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.known:
        take_over(options)
    totals, rows, failed, left = [], [], [], []
    jobs = jobs_of(options)
    begun = time.monotonic()
    for number, (source, device, make) in enumerate(jobs, 1):
        if options.minutes and time.monotonic() - begun > 60 * options.minutes:
            left.append(f"{source} on {device}")
            continue
        try:
            package, note = make(options.work)
            found, answer = synthesize(options, package, source)
        except Failure as why:
            failed.append(str(why))
            print(f"[{number}/{len(jobs)}] FAILED {source} on {device}: {why}",
                  flush=True)
            continue
        rows += found
        totals.append(total(source, device, note, answer, found))
        known = sum(row["cached"] for row in found)
        print(f"[{number}/{len(jobs)}] {source} on {device}: {len(found)} "
              f"modules, {known} known", flush=True)
    if options.rows:
        options.rows.write_text("".join(json.dumps(r) + "\n" for r in rows))
    if not rows:
        return 1
    text, broken = report(totals, rows)
    if left:
        text += "\nNot measured yet:\n  " + "\n  ".join(left) + "\n"
    print("\n" + text)
    if options.results:
        options.results.mkdir(parents=True, exist_ok=True)
        name = ("engines" if options.engines
                else "points" if options.random else "resources")
        (options.results / f"{name}.txt").write_text(text)
        (options.results / f"{name}.json").write_text("[\n" + ",\n".join(
            json.dumps(kept(r), sort_keys=True) for r in distinct(rows))
            + "\n]\n")
    return 1 if failed or (broken and options.check) else 0


if __name__ == "__main__":
    sys.exit(main())

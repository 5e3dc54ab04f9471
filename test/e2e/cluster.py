# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulated clusters: every bit compared with the interpreter, rate and latency, the
same result each time, loss tolerated, a rank's death reported at once."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import networks
import spill
from framework import Skip, run_program

TEN_GBE = {"name": "10gbe", "kind": "udp", "bits_per_s": 1e10,
           "latency_ns": 1000, "mtu_bytes": 1472, "overhead_bytes": 66}


ACCEPT = "--accept-changes"


def size(port):
    product = 1
    for d in port["shape"]:
        product *= d
    return product


def streams(node, direction):
    """A node's streams, "in" or "out"."""
    return [p for p in node["ports"]["stream"] if p["direction"] == direction]


def replicate(package, target, count, link=TEN_GBE):
    """A service of `count` equal nodes from a package of one node without a
    link: frames are distributed in turn, results collected in order. Its plan is
    not the compiled one, so commands need ACCEPT."""
    shutil.copytree(package, target)
    plan = json.loads((target / "plan.json").read_text())
    first = plan["nodes"][0]
    plan["nodes"], plan["links"], plan["channels"] = [], [link], []

    def channel(port, ends, i):
        plan["channels"].append(
            {"id": len(plan["channels"]) + 1, "tensor": port["name"],
             "element": port["element"], "elements": size(port), **ends,
             "first": i, "every": count, "link": link["name"]})

    for i in range(count):
        name = first["name"] if i == 0 else f"replica{i}"
        plan["nodes"].append(
            {**first, "name": name, "address": i + 1,
             "rtl_of": "" if i == 0 else first["name"],
             "replica": {"group": 0, "index": i, "count": count}})
        for k, port in enumerate(streams(first, "in")):
            channel(port, {"from": {"node": "host", "port": f"input{k}"},
                           "to": {"node": name, "port": port["port"]}}, i)
        for k, port in enumerate(streams(first, "out")):
            channel(port, {"from": {"node": name, "port": port["port"]},
                           "to": {"node": "host", "port": f"output{k}"}}, i)
    (target / "plan.json").write_text(json.dumps(plan, indent=2))


def service(suite, name, goal, count):
    """A package of `count` replicas of a network."""
    suite.tool("mpirun")
    if not (suite.rhizome.parent / "rhizome-rank").exists():
        raise Skip("this build has no MPI")
    answer, _ = suite.compiled(networks.NETWORKS[name], goal, suite.work / "one.rhz")
    if not answer:
        return None
    package = suite.work / "service.rhz"
    replicate(suite.work / "one.rhz", package, count)
    return package


def simulate(suite, package, *more):
    return suite.run("simulate", package, "--level", "cluster", "--json",
                     ACCEPT, *more)


def exact(suite, result, label):
    answer = result.json or {}
    return suite.check(result.status == 0 and answer.get("mismatches") == 0,
                       f"{label}: bit-exact"
                       + ("" if result.status == 0 else
                          f": {result.message}"), result.command)


def without_times(answer):
    """The part of a result that must be the same each time."""
    return {key: value for key, value in answer.items() if key != "seconds"}


def small(suite):
    """Two replicas of a small network: rate, latency, loss, determinism."""
    package = service(suite, "CERN", "throughput=100000/s", 2)
    if not package:
        return
    clean = simulate(suite, package, "-n", "6")
    if not exact(suite, clean, "two nodes"):
        return
    measured = clean.json["measured"]
    plan = json.loads((package / "plan.json").read_text())
    rate = 2 * plan["nodes"][0]["predicted"]["throughput_per_s"]
    suite.check(abs(measured["throughput_per_s"] / rate - 1) <= 0.01,
                f"two replicas give {measured['throughput_per_s']:.0f}/s, "
                f"twice one's rate is {rate:.0f}/s", clean.command)
    design = plan["nodes"][0]["predicted"]["latency_us"]
    suite.check(design + 2 < measured["latency_us"] < design + 6,
                f"a single request takes {measured['latency_us']:.2f} us, "
                f"{design:.2f} us of it in the design", clean.command)
    lossy = ("-n", "40", "--loss", "0.05", "--reorder", "0.1", "--seed", "7")
    first = simulate(suite, package, *lossy)
    exact(suite, first, "5 % loss and reordering")
    lost = sum(p["lost"] for p in (first.json or {}).get("parties", []))
    suite.check(lost > 0, f"{lost} datagrams were lost", first.command)
    again = simulate(suite, package, *lossy)
    suite.check(without_times(first.json or {}) ==
                without_times(again.json or {}),
                "the same seed gives the same result", again.command)
    listening(suite, package)
    without_ranks(suite, package)


def without_ranks(suite, package):
    """A build of rhizome alone reports what to build."""
    alone = suite.work / "alone"
    (alone / "build/bin").mkdir(parents=True)
    for name in "data", "rtl", "runtime", "include":
        (alone / name).symlink_to(networks.ROOT / name)
    program = alone / "build/bin/rhizome"
    shutil.copy2(suite.rhizome, program)
    result = run_program([program, "simulate", package, "--level", "cluster",
                          ACCEPT])
    suite.check(result.status == 1 and "build/bin/rhizome-rank' is missing: "
                "build it with 'make build'" in result.err,
                f"without ranks: {result.message[:160]}", result.command)


def heard(session):
    """Where processes of a session listen for TCP, as in /proc/net/tcp, in the
    network of this process."""
    places = set()
    own = os.readlink("/proc/self/ns/net")
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) != session or os.readlink(
                    folder / "ns/net") != own:
                continue
            sockets = {link.readlink().name for link in
                       (folder / "fd").iterdir()}
            for table in ("tcp", "tcp6"):
                for line in (folder / "net" / table).read_text().splitlines()[1:]:
                    words = line.split()
                    if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                        places.add(words[1].split(":")[0])
        except OSError:
            continue
    return places


def listening(suite, package):
    """Ranks and their launcher are heard on this machine only: mpirun listens
    everywhere, but in a network of its own."""
    if run_program(["unshare", "--net", "true"]).status:
        print("SKIP  listening: this machine gives programs no network of their "
              "own", flush=True)
        return
    for words in (("simulate", package, "--level", "cluster", "-n", "200"),
                  ("run", package, "--driver", "mpi", "-n", "200"),
                  ("simulate", package, "--level", "cluster", "-n", "2",
                   "--loss", "0.05")):
        process = subprocess.Popen(
            [str(w) for w in (suite.rhizome, *words, ACCEPT)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        places = set()
        while process.poll() is None:
            places |= heard(process.pid)
            time.sleep(0.02)
        loopback = {"0100007F", "00000000000000000000000001000000"}
        suite.check(process.returncode == 0 and places <= loopback,
                    f"{words[0]} {words[3]}: it listens at {places or 'none'}")


def ranks_of(package):
    """Process ids of the ranks that simulate a package, by rank."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if (words[0].endswith(b"rhizome-rank") and
                os.fsencode(package) in words):
            for text in environment:
                if text.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(text.split(b"=")[1])] = int(entry.name)
    return found


def death(suite):
    """A rank that is killed ends the run within seconds, by name."""
    package = service(suite, "CERN", "throughput=100000/s", 2)
    if not package or not exact(suite, simulate(suite, package, "-n", "1"),
                                "before"):
        return
    process = subprocess.Popen(
        [suite.rhizome, "simulate", package, "--level", "cluster", "-n",
         "200000", "--json", ACCEPT], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True)
    ranks, limit = {}, time.time() + 60
    while len(ranks) < 3 and time.time() < limit and process.poll() is None:
        time.sleep(0.2)
        ranks = ranks_of(package)
    if not suite.check(len(ranks) == 3, f"three ranks run: {ranks}"):
        process.kill()
        return
    time.sleep(1)
    os.kill(ranks[2], signal.SIGKILL)
    start = time.time()
    try:
        out, _ = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
    text, took = out.decode(errors="replace"), time.time() - start
    suite.check(process.returncode == 1 and "replica1" in text and took < 10,
                f"killed rank 2, told after {took:.1f} s: {text.strip()[:200]}")
    time.sleep(1)
    suite.check(not ranks_of(package), "no rank is left")


def promised(suite, name, cluster, goal, frames, *more, most=0.01):
    """A network compiled for a cluster and simulated: bits, and the rate that
    the plan predicts within `most`; the measured figures."""
    suite.tool("mpirun")
    network = networks.NETWORKS[name]
    package = suite.work / f"{pathlib.Path(cluster).stem}.rhz"
    built = suite.compile(suite.need(network.path), network.options, goal,
                          package, "--cluster", cluster, *more)
    if not suite.check(built.status == 0, f"{name} on {cluster} compiles"
                       + ("" if built.status == 0 else f": {built.message}"),
                       built.command):
        return None
    result = simulate(suite, package, "-n", frames)
    if not exact(suite, result, f"{name} on {cluster}"):
        return None
    predicted = result.json["predicted"]
    measured = result.json["measured"]
    for key, near in ("throughput_per_s", most), ("latency_us", 0.05):
        off = measured[key] / predicted[key] - 1
        suite.check(abs(off) <= near,
                    f"{key}: {measured[key]:.2f} measured, "
                    f"{predicted[key]:.2f} promised, {100 * off:+.2f} %",
                    result.command)
    for party in result.json["parties"][1:]:
        print(f"      {party['name']} {party['device']}: "
              f"{100 * party['utilization']:.1f} % busy", flush=True)
    return measured


def line_rate(suite):
    """PTTCNN_int8 at the input rate of 10 GbE, on one KU060 role."""
    measured = promised(suite, "PTTCNN_int8", "ku060x1", "max-throughput", 8)
    if measured:
        suite.check(measured["throughput_per_s"] >= 363000,
                    "at least 363,000 inferences per second")
        suite.check(measured["latency_us"] < 30,
                    "a single request takes less than 30 us")


def memories(suite):
    """Two nodes whose weights are in their memories: read for every frame, and
    loaded at the start."""
    steer = suite.work / "steer.yaml"
    steer.write_text("nodes:\n  conv3: {cut: before}\n")
    for home in "streamed", "resident":
        promised(suite, "digits_qdq_int8", "ku060x2", "max-throughput", 24,
                 "--weights", home, "--steer", steer)
        package = suite.work / "ku060x2.rhz"
        exact(suite, simulate(suite, package, "-n", "30", "--loss", "0.05",
                              "--reorder", "0.1"), f"{home}, with losses")


def writers(suite):
    """Nodes that write to their memories, with losses: two engines, whose rate for
    so small a network is a few percent off, and FIFOs."""
    promised(suite, "digits_qdq_int8", "xczu3eg:2@udp-10g", "max-throughput", 40,
             "--generators", "engine", most=0.06)
    skips = suite.work / "skips.rhz"
    built = suite.run("compile", spill.unet(suite, 16), "-o", skips, "--cluster",
                      "xczu3eg:1@udp-10g", "--fifos", "memory")
    suite.check(built.status == 0, f"FIFOs: compiles {built.message[-300:]}", built.command)
    for package, unit in (suite.work / "xczu3eg:2@udp-10g.rhz", "engine"), (skips, "mem_fifo"):
        plan = json.loads((package / "plan.json").read_text())
        kinds = [actor["kind"] for actor in plan["nodes"][0]["actors"]]
        suite.check(unit in kinds, f"{unit}: among {len(kinds)} units")
        exact(suite, simulate(suite, package, "-n", "30", "--loss", "0.05",
                              "--reorder", "0.1"), unit)


def small_frames(suite):
    """Frames of a few words, of which many share a datagram: a sender that waits
    for an acknowledgement fills one instead of sending several short ones. Those
    that leave half full cost a few percent."""
    promised(suite, "three_layer_keras", "xcku060-role:1@udp-1g",
             "max-throughput", 3000, most=0.05)


def saturated(suite):
    """PTTCNN_int8 over two devices with Gigabit Ethernet between them, which
    limits the rate: all traffic on the medium is counted."""
    cluster = suite.work / "gigabit.yaml"
    cluster.write_text(
        "name: gigabit\ndescription: two devices on Gigabit Ethernet\n"
        "link: udp-1g\nhost_link: udp-10g\n"
        "nodes:\n  - {device: xcku060-role, count: 2}\n"
        "sources: [\"this test\"]\n")
    steer = suite.work / "steer.yaml"
    steer.write_text("nodes:\n  MaxPool_2: {cut: before}\n")
    promised(suite, "PTTCNN_int8", cluster, "max-throughput", 16, "--steer",
             steer)


def behind_a_faster_host(suite):
    """A cluster of two devices with Gigabit Ethernet and a host with ten times as
    much: if links limit the rate, two replicas have twice that of one."""
    cluster = suite.work / "dealing.yaml"
    cluster.write_text(
        "name: dealing\ndescription: two devices behind a faster host\n"
        "link: udp-1g\nhost_link: udp-10g\n"
        "nodes:\n  - {device: xcku060-role, count: 2}\n"
        "sources: [\"this test\"]\n")
    return cluster


def host_port(suite):
    """PTTCNN_int8 on two replicas: the host's port serves both at once."""
    measured = promised(suite, "PTTCNN_int8", behind_a_faster_host(suite),
                        "max-throughput", 64)
    wire = 1e9 / 8 / (3072 + 3 * (16 + 66))  # frames a second of one node's link
    if measured:
        suite.check(measured["throughput_per_s"] > 1.9 * wire,
                    f"nearly twice what one node's link brings, {wire:.0f}/s")


def unlike(suite):
    """PTTCNN_int8 over nine different devices, each at its own clock. One of them
    would suffice for the host's link: cuts are requested, and a rate
    below the links' limit."""
    cuts = ("MaxPool_2", "Conv_3", "MaxPool_5", "Conv_6", "Relu_7", "Gemm_9",
            "Relu_10", "Gemm_11")
    steer = suite.work / "steer.yaml"
    steer.write_text("nodes:\n" + "".join(
        f"  {node}: {{cut: before}}\n" for node in cuts))
    promised(suite, "PTTCNN_int8", "mixed9", "throughput=20000/s", 6, "--steer",
             steer)


UNLIKE = """name: unlike
description: three unlike devices on 10 Gigabit Ethernet
link: udp-10g
nodes:
  - {device: xc7a100t}
  - {device: xczu3eg}
  - {device: lfe5u-85f}
sources: ["this test"]
"""


def cut(suite, name):
    """A network cut over three different devices: at every node the cycles that one device
    promises."""
    cluster = suite.work / "unlike.yaml"
    cluster.write_text(UNLIKE)
    network = networks.NETWORKS[name]
    whole = suite.run("explore", suite.need(network.path), *network.options,
                      "--goal", network.quick, "--json")
    if not suite.check(whole.status == 0, f"{name} on one device",
                       whole.command):
        return
    names = list(dict.fromkeys(
        op["name"] for op in whole.json["nodes"][0]["operations"]))
    thirds = [names[len(names) * k // 3] for k in (1, 2) if len(names) > 2]
    steer = suite.work / "steer.yaml"
    steer.write_text("nodes:\n" + "".join(
        f"  {json.dumps(node)}: {{cut: before, place: {k + 1}}}\n"
        for k, node in enumerate(thirds)))
    promised(suite, name, cluster, network.quick, 4, "--steer", steer)


def split(suite):
    """MPCNN over small parts, one layer split by channels."""
    promised(suite, "MPCNN", "ecp5-12fx4", "throughput=8000/s", 2)


def wide(suite):
    """Devices with streams of 512 bits, cut in two: the link's endpoint has 64
    of them."""
    steer = suite.work / "steer.yaml"
    steer.write_text("nodes:\n  conv4: {cut: before}\n")
    promised(suite, "digits_qdq_int8", "hbm4", "throughput=50000/s", 4,
             "--steer", steer)
    plan = json.loads((suite.work / "hbm4.rhz/plan.json").read_text())
    suite.check([n["stream_bits"] for n in plan["nodes"]] == [64, 64],
                "two nodes with streams of 64 bits")

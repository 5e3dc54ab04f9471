# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Services that run: rhizome-node processes in network namespaces of their own,
rhizome run as the client, a relay that loses, delays and reorders between
them, nodes that die and come back."""
import contextlib
import json
import os
import random
import selectors
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.request

import networks
import weights
from cluster import ACCEPT, behind_a_faster_host, service
from framework import Skip, run_program

PORT = 2718
NODES = 4


def ip(*words, quiet=False):
    return subprocess.run(["ip", *words], check=not quiet,
                          capture_output=True, text=True)


@contextlib.contextmanager
def namespaces(suite, count):
    """`count` network namespaces on a bridge, with addresses 10.201.77.2 and
    up, the caller's end 10.201.77.1; their names. Skips where that is not
    allowed."""
    suite.tool("ip")
    tag = f"rhz{os.getpid() % 10000}"
    bridge, names = f"{tag}b", [f"{tag}n{i}" for i in range(count)]
    try:
        try:
            ip("link", "add", bridge, "type", "bridge")
            ip("addr", "add", "10.201.77.1/24", "dev", bridge)
            ip("link", "set", bridge, "up")
            for i, name in enumerate(names):
                ip("netns", "add", name)
                ip("link", "add", f"{tag}v{i}", "type", "veth", "peer",
                   "name", "eth0", "netns", name)
                ip("link", "set", f"{tag}v{i}", "master", bridge, "up")
                ip("-n", name, "addr", "add", f"10.201.77.{i + 2}/24", "dev",
                   "eth0")
                ip("-n", name, "link", "set", "eth0", "up")
                ip("-n", name, "link", "set", "lo", "up")
        except (OSError, subprocess.CalledProcessError) as why:
            raise Skip("network namespaces are not permitted here: "
                       f"{getattr(why, 'stderr', '') or why}") from why
        yield names
    finally:
        for name in names:
            ip("netns", "del", name, quiet=True)
        ip("link", "del", bridge, quiet=True)


class Node:
    """A rhizome-node process, in a namespace if one is named."""

    def __init__(self, suite, package, name, places, *more, namespace=None):
        words = [suite.rhizome.parent / "rhizome-node", package, name, "--json",
                 ACCEPT, *more]
        for other, place in places.items():
            words += ["--at", f"{other}={place}"]
        if namespace:
            words = ["ip", "netns", "exec", namespace, *words]
        self.name = name
        self.process = subprocess.Popen(
            [str(w) for w in words], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        if "listens" not in line:
            raise RuntimeError(f"{name} does not start: {line}"
                               + self.process.stderr.read())
        self.metrics = (self.process.stderr.readline().split()[-1]
                        if "--metrics" in more else None)

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def stop(self):
        """Ends it in good order; its statistics."""
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=10)
        return self.process.returncode, json.loads(out or "{}"), err


@contextlib.contextmanager
def running(nodes):
    try:
        yield nodes
    finally:
        for node in nodes:
            if node.process.poll() is None:
                node.kill()


class Relay:
    """Passes datagrams on between a client and nodes, one port for each node,
    and loses, doubles, delays and reorders some, by a seed."""

    def __init__(self, targets, loss, late, seed=1):
        self.random = random.Random(seed)
        self.loss, self.late = loss, late
        self.seen = self.lost = self.delayed = 0
        self.selector = selectors.DefaultSelector()
        self.places, self.stopped, self.waiting = [], False, []
        for target in targets:
            front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            front.bind(("127.0.0.1", 0))
            back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            back.connect(target)
            # A refusal makes it readable, and the next call takes that away.
            front.setblocking(False)
            back.setblocking(False)
            line = {"front": front, "back": back, "client": None}
            self.selector.register(front, selectors.EVENT_READ,
                                   ("front", line))
            self.selector.register(back, selectors.EVENT_READ, ("back", line))
            self.places.append("127.0.0.1:%d" % front.getsockname()[1])
        self.thread = threading.Thread(target=self.loop, daemon=True)
        self.thread.start()

    def pass_on(self, send):
        self.seen += 1
        if self.random.random() < self.loss:
            self.lost += 1
            return
        if self.random.random() < self.late:
            self.delayed += 1
            self.waiting.append(
                (time.time() + 0.003 * self.random.random(), send))
            return
        send()

    def loop(self):
        while not self.stopped:
            for key, _ in self.selector.select(0.001):
                side, line = key.data
                try:
                    if side == "front":
                        data, line["client"] = line["front"].recvfrom(4096)
                        self.pass_on(lambda b=line["back"], d=data:
                                     b.send(d))
                    else:
                        data = line["back"].recv(4096)
                        self.pass_on(lambda li=line, d=data: li["front"].sendto(
                            d, li["client"]))
                except OSError:  # a node that is not there refuses
                    continue
            now = time.time()
            due = [w for w in self.waiting if w[0] <= now]
            self.waiting = [w for w in self.waiting if w[0] > now]
            for _, send in due:
                try:
                    send()
                except OSError:
                    pass

    def stop(self):
        self.stopped = True
        self.thread.join()


def check_answers(suite, result, frames, label):
    answer = result.json or {}
    return suite.check(
        result.status == 0 and answer.get("mismatches") == 0
        and answer.get("frames") == frames,
        f"{label}: {answer.get('frames')} right answers, "
        f"{answer.get('measured', {}).get('throughput_per_s', 0):.0f}/s"
        + ("" if result.status == 0 else f" {result.message}"), result.command)


def at(places):
    return [w for name, place in places.items()
            for w in ("--at", f"{name}={place}")]


def loopback(suite):
    """Two nodes on this machine, one computing, one its Verilated design;
    then the same through a relay that loses 5 %."""
    package = service(suite, "CERN", "throughput=100000/s", 2)
    if not package:
        return
    base = 20000 + os.getpid() % 20000
    places = {"node0": f"127.0.0.1:{base}", "replica1": f"127.0.0.1:{base + 1}"}
    with running([Node(suite, package, "node0", places),
                  Node(suite, package, "replica1", places, "--engine",
                       "rtl")]) as nodes:
        result = suite.run("run", package, ACCEPT, "-n", "40", "--json",
                           *at(places))
        check_answers(suite, result, 40, "cpu and rtl")
        relay = Relay([("127.0.0.1", base), ("127.0.0.1", base + 1)], 0.05,
                      0.1)
        through = dict(zip(places, relay.places))
        # Nodes know one place of their client: a new one means a new client.
        for node in nodes:
            node.stop()
        nodes[:] = [Node(suite, package, "node0", places),
                    Node(suite, package, "replica1", places)]
        result = suite.run("run", package, ACCEPT, "-n", "400", "--json",
                           *at(through))
        relay.stop()
        check_answers(suite, result, 400, "through a relay")
        suite.check(relay.lost > 0 and relay.delayed > 0,
                    f"the relay lost {relay.lost} and delayed {relay.delayed} "
                    f"of {relay.seen} datagrams")
        for node in nodes:
            status, statistics, err = node.stop()
            suite.check(status == 0 and statistics.get("frames") == 200,
                        f"{node.name} ends in good order: {statistics}{err}")
    silent = suite.run("run", package, ACCEPT, "-n", "1", "--patience-s",
                       "0.5", *at(places))
    suite.check(silent.status == 1 and "node0" in silent.err
                and "replica1" in silent.err and silent.wall_s < 5,
                f"nobody is there: {silent.message}", silent.command)


def with_memories(suite):
    """A node in RTL that reads its weights from its memory, under clients that
    end at work: the next one gets right answers. (That of rhz_node, which keeps
    its memory at work, is rtl-mem-guard's.)"""
    suite.tool("verilator")
    package = suite.work / "memories.rhz"
    result = suite.compile(weights.mlp(suite), (), "max-throughput", package,
                           "--cluster", "xczu3eg:1@udp-10g", "--weights",
                           "streamed")
    if not suite.check(result.status == 0, f"compiles {result.message[-200:]}",
                       result.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    suite.check(all(port["bytes_per_frame"] > 0
                    for port in plan["nodes"][0]["ports"]["memory"]),
                "it reads its memory")
    base = 20000 + os.getpid() % 20000
    places = {node["name"]: f"127.0.0.1:{base + node['address']}"
              for node in plan["nodes"]}
    with running([Node(suite, package, name, places, "--engine", "rtl")
                  for name in places]):
        for client in range(5):
            ended = subprocess.Popen(
                [str(w) for w in (suite.rhizome, "run", package, "-n", 100000,
                                  *at(places))],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(1)
            suite.check(ended.poll() is None, f"client {client} is at work")
            ended.kill()
            ended.wait()
            result = suite.run("run", package, "-n", 7, "--json", *at(places))
            check_answers(suite, result, 7, f"the one after client {client}")


def with_key(suite):
    """Nodes and clients that share a key: rhizome run and the generated client;
    who has another, or none, gets no answer."""
    suite.tool("cmake")
    package = suite.work / "service.rhz"
    result = suite.compile(
        networks.ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx", (),
        "max-throughput", package, "--cluster", "ku060x1")
    suite.check(result.status == 0, "compiles", result.command)
    key, other, broken = (suite.work / name for name in ("key", "other", "bad"))
    key.write_text("00112233445566778899aabbccddeeff\n")
    other.write_text("00112233445566778899aabbccddeefe")
    broken.write_text("00112233445566778899aabbccddee")
    plan = json.loads((package / "plan.json").read_text())
    base = 20000 + os.getpid() % 20000
    places = {node["name"]: f"127.0.0.1:{base + node['address']}"
              for node in plan["nodes"]}
    build = suite.work / "client"
    for words in (["-S", package / "host", "-B", build], ["--build", build]):
        made = run_program(["cmake", *words])
        suite.check(made.status == 0, f"the client builds {made.message[-200:]}"
                    if made.status else "the client builds", made.command)
    frame = " ".join(str(0.01 * i) for i in range(8 * 8))

    def example(*more):
        return subprocess.run(
            [str(build / "example"), str(package), "udp",
             *(f"{n}={p}" for n, p in places.items()), *more], input=frame,
            capture_output=True, text=True, timeout=60)

    with running([Node(suite, package, name, places) for name in places]):
        plain = example()
        suite.check(plain.returncode == 0 and plain.stdout,
                    f"without a key the example answers {plain.stderr}")
    with running([Node(suite, package, name, places, "--key", key)
                  for name in places]):
        result = suite.run("run", package, "-n", 100, "--json", "--key", key,
                           *at(places))
        check_answers(suite, result, 100, "one key")
        same = example(f"key={key}")
        suite.check(same.returncode == 0 and same.stdout == plain.stdout,
                    f"the example answers with it alike {same.stderr}")
        for label, more in (("another key", ("--key", other)), ("no key", ())):
            result = suite.run("run", package, "-n", 1, "--json",
                               "--patience-s", "0.5", *more, *at(places))
            suite.check(result.status == 1 and "no answer from node0"
                        in result.err + result.out,
                        f"{label}: {result.message}", result.command)
        for words in ((f"key={other}",), ()):
            wrong = example(*words)
            suite.check(wrong.returncode == 1 and "no answer" in wrong.stderr,
                        f"the example with {words}: {wrong.stderr.strip()}")
        result = suite.run("run", package, "-n", 1, "--key", broken, *at(places))
        wrong = example(f"key={broken}")
        missing = example(f"key={suite.work / 'nowhere'}")
        suite.check(result.status == 1 and wrong.returncode == 1
                    and all(f"'{broken}' is no key: it takes 32" in text
                            for text in (result.err, wrong.stderr)),
                    f"a broken key: {wrong.stderr.strip()}", result.command)
        suite.check(missing.returncode == 1 and "No such file" in missing.stderr,
                    f"a key that is not there: {missing.stderr.strip()}")
    # Whose process it is that a file of the script names.
    other = subprocess.Popen(["sleep", "60"])
    (package / "run").mkdir()
    (package / "run/node0.pid").write_text(str(other.pid))
    stopped = subprocess.run([package / "deploy.sh", "stop"],
                             capture_output=True, text=True)
    suite.check(other.poll() is None and "stopped" not in stopped.stdout,
                f"deploy.sh ends no process of others {stopped.stdout}")
    other.kill()
    other.wait()


def in_namespaces(suite):
    """Four nodes, each on a network of its own: answers, a death, a return."""
    package = service(suite, "CERN", "throughput=100000/s", NODES)
    if not package:
        return
    names = ["node0"] + [f"replica{i}" for i in range(1, NODES)]
    places = {name: f"10.201.77.{i + 2}:{PORT}"
              for i, name in enumerate(names)}
    with namespaces(suite, NODES) as spaces:
        def start(i):
            # The first is slow, so that the client is at work for a while.
            more = ("--engine", "rtl") if i == 0 else ()
            return Node(suite, package, names[i], places, *more,
                        namespace=spaces[i])

        with running([start(i) for i in range(NODES)]) as nodes:
            result = suite.run("run", package, ACCEPT, "-n", "200", "--json",
                               *at(places))
            check_answers(suite, result, 200, "four namespaces")
            suite.check(not (result.json or {}).get("events"),
                        "nothing happened meanwhile")
            # A dozen seconds of work, however fast this machine is.
            rate = ((result.json or {}).get("measured") or {}).get(
                "throughput_per_s", 0)
            lives_and_dies(suite, package, places, nodes, start,
                           max(4000, int(12 * rate)))


def lives_and_dies(suite, package, places, nodes, start, frames):
    """Kills a node under load, waits until the client says so, starts it
    again; the client's answers are complete and right."""
    process = subprocess.Popen(
        [str(w) for w in (suite.rhizome, "run", package, ACCEPT, "-n", frames,
                          "--json", "--patience-s", "30", *at(places))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(
        (time.time(), line.strip()) for line in process.stderr))
    reader.start()

    def wait_for(word, limit):
        while time.time() < limit:
            for when, line in lines:
                if word in line and "replica2" in line:
                    return when
            time.sleep(0.01)
        return None

    time.sleep(2)
    suite.check(process.poll() is None, "the client is at work")
    nodes[2].kill()
    killed = time.time()
    told = wait_for("silent", killed + 5)
    suite.check(told and told - killed <= 1,
                "a killed node is told after "
                f"{told - killed if told else -1:.2f} s: {lines}")
    nodes[2] = start(2)
    suite.check(wait_for("anew", time.time() + 10) or
                wait_for("back", time.time() + 1), f"it is taken back: {lines}")
    out, _ = process.communicate(timeout=120)
    reader.join()
    answer = json.loads(out.strip().splitlines()[-1])
    suite.check(process.returncode == 0 and answer["mismatches"] == 0
                and answer["frames"] == frames,
                f"all answers are right in the end: {answer['frames']}, "
                f"{answer['repeated']} frames were sent again")


def values(text):
    """{name with its labels: value} of a page of metrics."""
    return {name: float(value) for name, _, value in
            (line.rpartition(" ") for line in text.splitlines()
             if not line.startswith("#"))}


def scraped(place):
    with urllib.request.urlopen(place, timeout=5) as page:
        return values(page.read().decode())


def failover(suite):
    """Four replicas: one is killed and brought back, then one is never there.
    No frame is lost, and none waits for it."""
    package = suite.work / "service.rhz"
    result = suite.compile(
        networks.ROOT / "examples/digits/digits_qdq_int8.onnx", (),
        "max-throughput,lut=40000", package, "--cluster", "ku060x9",
        "--max-nodes", NODES)
    if not suite.check(result.status == 0, "compiles", result.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    base = 20000 + os.getpid() % 20000
    ports = {node["name"]: base + node["address"] for node in plan["nodes"]}
    places = {name: f"127.0.0.1:{port}" for name, port in ports.items()}
    names = list(places)
    suite.check(len(names) == NODES and all(
        n["replica"]["count"] == NODES for n in plan["nodes"]),
        f"{len(names)} replicas of the network")

    def start(name):
        return Node(suite, package, name, places, "--metrics", "0")

    with running([start(name) for name in names]) as nodes:
        # Late datagrams keep the client at work for some seconds.
        relay = Relay([("127.0.0.1", port) for port in ports.values()], 0.01,
                      0.5)
        killed_and_back(suite, package, dict(zip(names, relay.places)), relay,
                        nodes, start)
        relay.stop()
        nodes[1].kill()
        began = time.time()
        result = suite.run("run", package, "-n", 1000, "--json",
                           "--patience-s", "1", *at(places))
        check_answers(suite, result, 1000, "with three of four")
        events = (result.json or {}).get("events", [])
        suite.check(any(names[1] in e and "go to the others" in e
                        for e in events) and time.time() - began < 30,
                    f"the absent one is named: {events}")
        for node in nodes:
            if node.process.poll() is None:
                node.kill()
        page = suite.work / "nobody.prom"
        result = suite.run("run", package, "-n", 1, "--patience-s", "0.5",
                           "--metrics", page, *at(places))
        suite.check(result.status == 1 and all(n in result.err for n in names),
                    f"nobody is there: {result.message}", result.command)
        told = values(page.read_text())
        up = [told.get('rhizome_node_up{node="%s",place="%s"}' % item)
              for item in places.items()]
        suite.check(up == [0] * NODES and told["rhizome_replicas_up"] == 0,
                    f"the metrics name who is missing: {told}")


def killed_and_back(suite, package, places, relay, nodes, start, frames=10000):
    name = nodes[2].name
    files = [suite.work / "cluster.npy", suite.work / "cpu.npy"]
    process = subprocess.Popen(
        [str(w) for w in (suite.rhizome, "run", package, "-n", frames, "--json",
                          "--outstanding", 16, "--no-check", "--output",
                          files[0], "--metrics", "0", "--patience-s", "30",
                          *at(places))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(
        line.strip() for line in process.stderr))
    reader.start()

    def wait_for(happened):
        end = time.time() + 20
        while time.time() < end and process.poll() is None:
            if happened():
                return True
            time.sleep(0.01)
        return happened()

    def told(word):
        return lambda: any(name in line and word in line for line in lines)

    def metrics():
        place = next(line.split()[-1] for line in lines
                     if line.startswith("metrics at "))
        return scraped(place)

    down = 'rhizome_node_up{node="%s",place="%s"}' % (name, places[name])
    suite.check(wait_for(lambda: relay.seen > 3000), "the client is at work")
    # The page is up to 200 ms older than what it tells.
    suite.check(wait_for(lambda: metrics()["rhizome_answers_total"] > 0),
                "the metrics tell of answers")
    before = metrics()
    suite.check(before["rhizome_replicas_up"] == NODES and before[down] == 1
                and before["rhizome_requests_total"]
                > before["rhizome_answers_total"],
                f"its metrics: {before['rhizome_answers_total']:.0f} answers")
    nodes[2].kill()
    suite.check(wait_for(told("its frames go to the others")),
                f"it is told: {lines}")
    suite.check(wait_for(lambda: metrics()[down] == 0),
                "the metrics tell it, too")
    now = metrics()
    suite.check(now["rhizome_replicas_up"] == NODES - 1
                and now["rhizome_failovers_total"] == 1
                and now["rhizome_node_silences_total{node=\"%s\"}" % name] == 1
                and now["rhizome_request_seconds_bucket{le=\"+Inf\"}"]
                == now["rhizome_request_seconds_count"]
                >= now["rhizome_answers_total"],
                f"replicas up, failovers, latencies: {now}")
    before = relay.seen
    suite.check(wait_for(lambda: relay.seen > before + 1000),
                "the others go on")
    nodes[2] = start(name)
    suite.check(wait_for(told("anew")), f"it is taken back: {lines}")
    suite.check(wait_for(lambda: metrics()["rhizome_replicas_up"] == NODES),
                "all replicas are up again")
    own = scraped(nodes[0].metrics)
    suite.check(own['rhizome_node_frames_total{node="%s"}' % nodes[0].name] > 0
                and own['rhizome_node_busy_seconds_total{node="%s"}'
                        % nodes[0].name] > 0,
                f"a node's metrics: {own}")
    out, _ = process.communicate(timeout=300)
    reader.join()
    answer = json.loads(out.strip().splitlines()[-1])
    result = suite.run("run", package, "--driver", "cpu", "-n", frames,
                       "--no-check", "--output", files[1])
    suite.check(process.returncode == 0 and result.status == 0
                and files[0].read_bytes() == files[1].read_bytes()
                and answer["frames"] == frames and 0 < answer["repeated"],
                f"{answer['frames']} answers are the CPU's, "
                f"{answer['repeated']} frames were sent again, "
                f"{answer['measured']['throughput_per_s']:.0f}/s", result.command)


def generated_client(suite):
    """A package for a cluster: its script starts the nodes, its client, built
    alone, gets what rhizome run gets."""
    suite.tool("cmake")
    network = networks.NETWORKS["CERN"]
    package = suite.work / "service.rhz"
    result = suite.compile(suite.need(network.path), network.options,
                           "max-throughput", package, "--cluster",
                           behind_a_faster_host(suite))
    if not suite.check(result.status == 0, "compiles for a cluster"
                       + ("" if result.status == 0 else result.message),
                       result.command):
        return
    build = suite.work / "client"
    for words in (["-S", package / "host", "-B", build], ["--build", build]):
        made = run_program(["cmake", *words])
        if not suite.check(made.status == 0, "the client builds "
                           + ("" if made.status == 0 else made.message),
                           made.command):
            return
    plan = json.loads((package / "plan.json").read_text())
    roles = {(package / "nodes" / n["name"] / "cloudfpga/Role_Themisto.sv")
             .read_text() for n in plan["nodes"]}
    suite.check(len(roles) == len(plan["nodes"]) == 2,
                "each replica has a role with its own channels")
    base = 20000 + os.getpid() % 20000
    places = {n["name"]: f"127.0.0.1:{base + n['address']}"
              for n in plan["nodes"]}
    manifest = package / "deploy.yaml"
    text = manifest.read_text()
    for node in plan["nodes"]:
        text = text.replace(f"127.0.0.1:{PORT + node['address']}",
                            places[node["name"]])
    manifest.write_text(text)
    script = [package / "deploy.sh"]
    environment = {**os.environ,
                   "RHIZOME_NODE": str(suite.rhizome.parent / "rhizome-node")}
    missing = subprocess.run(
        [*script, "start"], env={**environment, "RHIZOME_NODE": "no-such-node"},
        capture_output=True, text=True)
    suite.check(missing.returncode == 1 and "no-such-node" in missing.stderr,
                f"without the program: {missing.stderr.strip()}")
    started = subprocess.run([*script, "start"], env=environment,
                             capture_output=True, text=True)
    try:
        suite.check(started.returncode == 0, f"starts: {started.stdout}"
                    + started.stderr)
        run = suite.run("run", package, "-n", "20", "--json")
        check_answers(suite, run, 20, "places from deploy.yaml")
        step = json.loads((package / "plan.json").read_text())[
            "host"]["to_device"][0]["scale"][0]
        rows = [[step * ((7 * f + 3 * i) % 100) for i in range(16)]
                for f in range(3)]
        frames = "\n".join(" ".join(repr(v) for v in row) for row in rows)
        args = [str(build / "example"), str(package), "udp",
                *(f"{n}={p}" for n, p in places.items())]
        one, two = (subprocess.run(args, input=frames, capture_output=True,
                                   text=True, timeout=30) for _ in range(2))
        lines = one.stdout.strip().splitlines()
        suite.check(one.returncode == 0 and len(lines) == 3
                    and all(len(line.split()) == 5 for line in lines)
                    and one.stdout == two.stdout,
                    f"the example answers: {lines} {one.stderr}")
        values, answers = suite.work / "x.npy", suite.work / "y.npy"
        write_npy(values, rows)
        write_npy(answers, [[float(word) for word in line.split()]
                            for line in lines])
        same = suite.run("simulate", package, "--level", "functional",
                         "--input", values, "--expect", answers, "--json")
        suite.check(same.status == 0 and same.json["unexpected"] == 0,
                    f"and is right: {same.message}", same.command)
    finally:
        stopped = subprocess.run([*script, "stop"], env=environment,
                                 capture_output=True, text=True)
    suite.check(stopped.stdout.count("stopped") == len(plan["nodes"]),
                f"stops: {stopped.stdout}{stopped.stderr}")


def write_npy(path, rows):
    """A two-dimensional float32 array."""
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': "
            f"({len(rows)}, {len(rows[0])}), }}")
    head = head.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head))
                     + head.encode()
                     + b"".join(struct.pack(f"<{len(row)}f", *row)
                                for row in rows))

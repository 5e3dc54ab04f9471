# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A node under load for long: clients one after the other through a relay that garbles,
doubles, replays and delays datagrams, while others send forged ones. All requests are
answered right, and the node's memory stays as it was after the first ten thousand.
  e2e.py soak [SECONDS]    half of the time without a key, half with one"""
import json
import os
import random
import selectors
import socket
import threading
import time

import networks
from nodes import Node, at, running, scraped

TINY = networks.ROOT / "examples/tiny-digits/tiny_digits_qdq_int8.onnx"
REQUESTS = 20000          # of a client
WARM = 10000              # requests before the first look at the memory
GROWTH = 1 << 20


class Hostile:
    """Between a client and a node: what passes is garbled in part, and what passed
    comes again; a stranger forges."""

    def __init__(self, target, keyed, seed):
        self.random = random.Random(seed)
        self.keyed = keyed
        self.front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.front.bind(("127.0.0.1", 0))
        self.back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.back.connect(target)
        self.stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.stranger.connect(target)
        for each in (self.front, self.back, self.stranger):
            each.setblocking(False)
        self.client, self.stopped = None, False
        self.kept = []
        self.counts = dict.fromkeys(
            ("passed", "garbled", "doubled", "replayed", "forged", "lost"), 0)
        self.place = "127.0.0.1:%d" % self.front.getsockname()[1]
        self.thread = threading.Thread(target=self.loop, daemon=True)
        self.thread.start()

    def garbled(self, data):
        """Without a key only the header tells that it was changed."""
        data = bytearray(data)
        end = len(data) if self.keyed else min(len(data), 16)
        data[self.random.randrange(end)] ^= 1 << self.random.randrange(8)
        return bytes(data)

    def passes(self, send, data):
        draw = self.random.random()
        if draw < 0.03:
            self.counts["garbled"] += 1
            send(self.garbled(data))
            return  # which is a loss
        if draw < 0.04:
            self.counts["lost"] += 1
            return
        self.counts["passed"] += 1
        send(data)
        if draw < 0.12:
            self.counts["doubled"] += 1
            send(data)

    def harm(self):
        """Something old, and something of a stranger's."""
        if self.kept and self.client:
            for _ in range(2):
                self.counts["replayed"] += 1
                self.back.send(self.random.choice(self.kept))
        for _ in range(2):
            data = bytearray(self.random.choice(self.kept) if self.kept else
                             b"\0" * 16)
            if self.random.random() < 0.5:
                data = bytearray(self.garbled(data))
            if self.random.random() < 0.2:
                data = data[:self.random.randrange(len(data) + 1)]
            elif self.random.random() < 0.2:
                data += self.random.randbytes(self.random.randrange(1200))
            self.counts["forged"] += 1
            self.stranger.send(bytes(data))

    def loop(self):
        selector = selectors.DefaultSelector()
        for each in (self.front, self.back, self.stranger):
            selector.register(each, selectors.EVENT_READ)
        due = 0
        while not self.stopped:
            try:
                for key, _ in selector.select(0.002):
                    self.receive(key.fileobj)
                if time.time() > due:
                    due = time.time() + 0.002
                    self.harm()
            except OSError:  # refused, or full: lost
                continue

    def receive(self, side):
        for _ in range(64):
            try:
                data, place = side.recvfrom(4096)
            except BlockingIOError:
                return
            if side is self.front:
                self.client = place
                # The former epochs' Opens are among them.
                if len(self.kept) < 4000:
                    self.kept.append(data)
                elif self.random.random() < 0.01:
                    self.kept[self.random.randrange(4000)] = data
                self.passes(self.back.send, data)
            elif side is self.back and self.client:
                self.passes(lambda d: self.front.sendto(d, self.client), data)

    def stop(self):
        self.stopped = True
        self.thread.join()
        for each in (self.front, self.back, self.stranger):
            each.close()


def resident(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def soak(suite, seconds="120"):
    package = suite.work / "soak.rhz"
    result = suite.compile(TINY, (), "max-throughput", package, "--cluster",
                           "xc7a100t:1@udp-10g")
    if not suite.check(result.status == 0, f"compiles: {result.message[:300]}",
                       result.command):
        return
    plan = json.loads((package / "plan.json").read_text())
    name = plan["nodes"][0]["name"]
    key = suite.work / "key"
    key.write_text("00112233445566778899aabbccddeeff\n")
    for k, options in enumerate(((), ("--key", key))):
        one_node(suite, package, name, options, float(seconds) / 2, k + 1)


def one_node(suite, package, name, options, seconds, seed):
    place = ("127.0.0.1", 20000 + os.getpid() % 20000)
    with running([Node(suite, package, name, {name: "%s:%d" % place}, "--metrics",
                       "0", *options)]) as nodes:
        node = nodes[0]
        relay = Hostile(place, bool(options), seed)
        began, answered, clients, first = time.time(), 0, 0, 0
        while time.time() - began < seconds or answered < 2 * WARM:
            count = WARM if not answered else REQUESTS
            result = suite.run("run", package, "-n", count, "--json",
                               "--patience-s", "60", "--seed", seed * 1000 + clients,
                               *options, *at({name: relay.place}))
            answer = result.json or {}
            clients += 1
            if not (result.status == 0 and answer.get("compared") == count
                    and answer.get("mismatches") == 0):
                suite.check(False, f"client {clients}: {result.message}",
                            result.command)
                break
            answered += count
            first = first or resident(node.process.pid)
        grown = resident(node.process.pid) - first
        dropped = scraped(node.metrics)
        relay.stop()
        kind = "with a key" if options else "without a key"
        suite.check(answered > 0, f"{kind}: {answered} requests of {clients} "
                    f"clients in {time.time() - began:.0f} s, all answered right; "
                    + ", ".join(f"{v} {k}" for k, v in relay.counts.items()))
        total = sum(v for k, v in dropped.items()
                    if k.startswith("rhizome_datagrams_dropped_total"))
        suite.check(total > 0, f"{kind}: the node dropped {total:.0f} datagrams")
        suite.check(grown < GROWTH, f"{kind}: its memory grew by {grown >> 10} kB "
                    f"from {first >> 10} kB")
        status, _, err = node.stop()
        suite.check(status == 0, f"{kind}: it ends in good order {err[:200]}")

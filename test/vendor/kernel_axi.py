# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The system of a kernel between models that are not ours: cocotbext-axi's memories
at its masters, its AXI4-Lite master at the registers. All of them pause.
$RHIZOME_CASE names buffers and results, see test/e2e/systems.py."""
import json
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.axi import (AxiLiteBus, AxiLiteMaster, AxiRamRead, AxiRamWrite, AxiReadBus,
                           AxiWriteBus)


def pauses(seed, share):
    """In which cycles one of the models pauses."""
    rng = random.Random(seed)
    while True:
        yield rng.random() < share


# Outputs of a port that are never unknown after reset, and those that are known
# while the first one of them is high.
READS = ("arvalid", "rready"), (("arvalid", "araddr", "arlen"),)
WRITES = ("awvalid", "wvalid", "bready"), (("awvalid", "awaddr", "awlen"),
                                           ("wvalid", "wdata", "wstrb", "wlast"))
CONTROL = ("awready", "wready", "bvalid", "arready", "rvalid"), (("bvalid", "bresp"),
                                                                 ("rvalid", "rdata", "rresp"))


async def no_unknowns(dut, ports):
    """The simulator has four states: nothing that the kernel puts out may be X or Z."""
    always, while_valid = [("interrupt", dut.interrupt)], []
    for port, (handshakes, carried) in ports:
        def signal(name, port=port):
            return f"{port}_{name}", getattr(dut, f"{port}_{name}")
        always += map(signal, handshakes)
        while_valid += [[signal(name) for name in names] for names in carried]
    while True:
        await RisingEdge(dut.ap_clk)
        for name, handle in always:
            assert handle.value.is_resolvable, f"{name} is {handle.value}"
        for (_, valid), *others in while_valid:
            for name, handle in others if int(valid.value) else ():
                assert handle.value.is_resolvable, f"{name} is {handle.value}"


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def elements(dut):
    with open(os.environ["RHIZOME_CASE"], encoding="utf-8") as file:
        case = json.load(file)
    clock = dut.ap_clk
    dut.ap_rst_n.value = 0
    cocotb.start_soon(Clock(clock, 4, "ns").start())
    control = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi_control"), clock, dut.ap_rst_n,
                            False)
    memories = []
    for k, port in enumerate(case["ports"]):
        bus, model = ((AxiWriteBus, AxiRamWrite) if port["write"] else (AxiReadBus, AxiRamRead))
        memory = model(bus.from_prefix(dut, port["port"]), clock, dut.ap_rst_n, False,
                       size=1 << 23)
        channels = ((memory.aw_channel, memory.w_channel, memory.b_channel) if port["write"]
                    else (memory.ar_channel, memory.r_channel))
        for n, channel in enumerate(channels):
            channel.set_pause_generator(pauses(10 * k + n, 0.25))
        if not port["write"]:
            memory.write(port["base"], bytes.fromhex(port["bytes"]))
        memory.log.setLevel("WARNING")
        memories.append(memory)
    for model in (control.write_if, control.read_if):
        model.log.setLevel("WARNING")
    for _ in range(8):
        await RisingEdge(clock)
    dut.ap_rst_n.value = 1
    cocotb.start_soon(no_unknowns(dut, [
        ("s_axi_control", CONTROL),
        *((p["port"], WRITES if p["write"] else READS) for p in case["ports"])]))
    for start in range(2):
        for port in case["ports"]:
            await control.write(port["offset"], port["base"].to_bytes(8, "little"))
        await control.write(case["ports"][-1]["offset"] + 12,
                            case["elements"].to_bytes(4, "little"))
        await control.write(0, b"\1\0\0\0")
        while not (await control.read(0, 4)).data[0] & 2:
            for _ in range(20):
                await RisingEdge(clock)
        for port, memory in zip(case["ports"], memories):
            if not port["write"]:
                continue
            want = bytes.fromhex(port["bytes"])
            for at in range(0, len(want), port["group"]):
                got = memory.read(port["base"] + at, port["used"])
                # The last group may have lanes without elements.
                lanes = port["lanes"]
                there = min(lanes, port["elements"] - at // port["group"] * lanes)
                words = [bytes(got[4 * w:4 * w + 4]) for w in range(port["used"] // 4)
                         if w % lanes < there]
                wanted = [want[at + 4 * w:at + 4 * w + 4] for w in range(port["used"] // 4)
                          if w % lanes < there]
                assert words == wanted, \
                    f"start {start}: the group at {at} of {port['port']} differs"
            memory.write(port["base"], bytes(len(want)))
        # The memories never answered with an error.
        errors = await control.read(case["ports"][-1]["offset"] + 16, 4)
        assert not any(errors.data), f"errors {errors.data.hex()}"

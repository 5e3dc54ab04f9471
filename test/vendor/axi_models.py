# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rhz_kernel between models that are not ours: cocotbext-axi's memory serves the
weights, its streams bring frames and take results, its AXI4-Lite master starts the
kernel. All of them pause. $RHIZOME_CASE names the frames, see vendorflows.py."""
import json
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.axi import (AxiLiteBus, AxiLiteMaster, AxiRamRead, AxiReadBus, AxiStreamBus,
                           AxiStreamFrame, AxiStreamSink, AxiStreamSource)


def pauses(seed, share):
    """In which cycles one of the models pauses."""
    rng = random.Random(seed)
    while True:
        yield rng.random() < share


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def frames(dut):
    with open(os.environ["RHIZOME_CASE"], encoding="utf-8") as file:
        case = json.load(file)
    clock = dut.ap_clk

    def of(model, bus, name, **more):
        return model(bus.from_prefix(dut, name), clock, dut.ap_rst_n, False, **more)

    dut.ap_rst_n.value = 0
    cocotb.start_soon(Clock(clock, 4, "ns").start())
    source, sink = of(AxiStreamSource, AxiStreamBus, "s_axis_0"), \
        of(AxiStreamSink, AxiStreamBus, "m_axis_0")
    control = of(AxiLiteMaster, AxiLiteBus, "s_axi_control")
    memories = []
    for k, port in enumerate(case["memories"]):
        memory = of(AxiRamRead, AxiReadBus, port["port"], size=1 << 22)
        memory.write(port["base"], bytes.fromhex(port["bytes"]))
        memory.ar_channel.set_pause_generator(pauses(10 + k, 0.3))
        memory.r_channel.set_pause_generator(pauses(20 + k, 0.2))
        memories.append(memory)
    # Not every beat in the log.
    for model in (source, sink, control.write_if, control.read_if, *memories):
        model.log.setLevel("WARNING")
    source.set_pause_generator(pauses(1, 0.3))
    sink.set_pause_generator(pauses(2, 0.3))
    for _ in range(8):
        await RisingEdge(clock)
    dut.ap_rst_n.value = 1
    for k, port in enumerate(case["memories"]):
        await control.write(16 + 12 * k, port["base"].to_bytes(8, "little"))
    await control.write(0, b"\1\0\0\0")
    for frame in case["frames"]:
        await source.send(AxiStreamFrame(bytes.fromhex(frame["in"])))
    for at, frame in enumerate(case["frames"]):
        got = bytes((await sink.recv()).tdata)
        assert got.hex() == frame["out"], f"frame {at}: {got.hex()} instead of {frame['out']}"

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The golden vectors of this folder through the design, with AXI4-Stream models
of cocotbext-axi, its AXI4 memories where the design reads weights from such, and
random pauses. `make cocotb` runs it, also by itself:
`python3 test_rhizome.py` builds and starts the simulator in $SIM."""
import json
import os
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
PORTS = json.loads((HERE / "ports.json").read_text())


def frames(port):
    """A port's frames as bytes, in the order of the beats on the wire."""
    lines = (HERE / port["vectors"]).read_text().split()
    beats = [bytes.fromhex(line)[::-1] for line in lines]
    each = port["beats"]
    return [b"".join(beats[i:i + each]) for i in range(0, len(beats), each)]


def contents(memory):
    """A memory's words as (address, bytes), as $readmemh reads them."""
    word = 0
    for line in (HERE / memory["contents"]).read_text().split():
        if line.startswith("@"):
            word = int(line[1:], 16)
            continue
        data = bytes.fromhex(line)[::-1]
        yield word * len(data), data
        word += 1


def pauses(percent, seed):
    choose = random.Random(seed)
    while True:
        yield choose.randrange(100) < percent


try:
    import cocotb
    from cocotb.clock import Clock
    from cocotb.triggers import ClockCycles
    from cocotbext.axi import (AxiBus, AxiRam, AxiRamRead, AxiReadBus,
                               AxiStreamBus, AxiStreamFrame, AxiStreamSink,
                               AxiStreamSource)
except ImportError as error:
    raise SystemExit(f"{error}: pip install cocotb cocotbext-axi") from error


@cocotb.test()
async def golden(dut):
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.rst_ni.value = 0

    def stream(kind, port):
        return kind(AxiStreamBus.from_prefix(dut, port["port"]), dut.clk_i,
                    dut.rst_ni, reset_active_level=False)

    sources = [stream(AxiStreamSource, port) for port in PORTS["inputs"]]
    sinks = [stream(AxiStreamSink, port) for port in PORTS["outputs"]]
    memories = []
    for memory in PORTS["memories"]:
        words = dict(contents(memory))
        kind, bus = ((AxiRam, AxiBus) if memory.get("writes")
                     else (AxiRamRead, AxiReadBus))
        ram = kind(bus.from_prefix(dut, memory["port"]), dut.clk_i, dut.rst_ni,
                   reset_active_level=False,
                   size=max([*words, memory.get("bytes", 0)]) + 4096)
        for address, data in words.items():
            ram.write(address, data)
        memories.append(ram.read_if.r_channel if memory.get("writes")
                        else ram.r_channel)
        if memory.get("writes"):
            memories += [ram.write_if.aw_channel, ram.write_if.w_channel,
                         ram.write_if.b_channel]
    for ends, name in ((sources + memories, "STALLS_IN"), (sinks, "STALLS_OUT")):
        percent = int(os.environ.get(name, "0"))
        for k, end in enumerate(ends):
            if percent:
                end.set_pause_generator(pauses(percent, k + 1))
    await ClockCycles(dut.clk_i, 8)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 2)
    for source, port in zip(sources, PORTS["inputs"]):
        for frame in frames(port):
            await source.send(AxiStreamFrame(frame))
    begun = None
    ends = []
    for sink, port in zip(sinks, PORTS["outputs"]):
        for f, want in enumerate(frames(port)):
            got = await sink.recv()
            assert bytes(got.tdata) == want, (
                f"frame {f} of {port['port']}: {bytes(got.tdata).hex()} "
                f"instead of {want.hex()}")
            begun = begun if begun is not None else got.sim_time_start
            ends.append(got.sim_time_end)
    for sink in sinks:
        assert sink.empty(), "more beats than the frames have"
    dut._log.info("PASS: %d frames, all outputs as recorded",
                  len(frames(PORTS["outputs"][0])))


def main():
    try:
        from cocotb_tools.runner import get_results, get_runner
    except ImportError:  # cocotb 1
        from cocotb.runner import get_results, get_runner
    simulator = os.environ.get("SIM", "icarus")
    runner = get_runner(simulator)
    sources = [HERE / "../rtl" / name for name in PORTS["sources"]]
    options = {"icarus": ["-g2012"], "verilator": ["-Wno-fatal"]}
    work = Path.cwd() / f"cocotb-{simulator}"
    runner.build(sources=[path.resolve() for path in sources],
                 hdl_toplevel=PORTS["top"], build_dir=work,
                 build_args=options.get(simulator, []),
                 timescale=("1ns", "1ps"), always=True)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(HERE), os.environ.get("PYTHONPATH", "")])
    # Memory images are opened where the simulation runs.
    results = runner.test(hdl_toplevel=PORTS["top"], test_module="test_rhizome",
                          build_dir=work, test_dir=Path.cwd())
    count, failed = get_results(results)
    print(f"{'FAIL' if failed or not count else 'PASS'}: "
          f"{count - failed} of {count} tests in {simulator}")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    raise SystemExit(main())

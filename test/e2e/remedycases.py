# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The refusals that remedies.py provokes, by kind: command lines in which
{names} stand for the inputs that are made here."""
import shutil

import networks
import numpy as np
import onnx

import badmodels
from onnxkit import Builder

EXAMPLES = networks.ROOT / "examples"
F = "'fixed<8,24>'"

# Kernels with one mistake, by name.
KERNELS = {
    "type": "var input a : matrix\nvar output b : [8 8]\nb = a\n",
    "halo_dims": "var input u : [8 8] halo [1]\nvar output v : [8 8]\n"
                 "v[i,j] = u[i,j]\n",
    "halo_out": "var input u : [8]\nvar output v : [8] halo [1]\nv[i] = u[i]\n",
    "unassigned": "var input a : [4]\nvar output b : [4]\nvar output c : [4]\n"
                  "b = a\n",
    "part": "var input a : [4]\nvar output b : [2 4]\nb[0,i] = a[i]\n",
    "no_output": "var input a : [8 8]\n",
    "early": "var input c : [4]\nvar a : [4]\nvar output b : [4]\n"
             "b = a + c\n",
    "constant_input": "var input a : [4]\nvar output b : [4]\na = a + a\nb = a\n",
    "runs_to": "var input a : [4]\nvar input c : [6]\nvar output b : [4]\n"
               "b[i] = a[i] + c[i]\n",
    "unreduced": "var input a : [4 5]\nvar output b : [4]\nb[i] = a[i,j]\n",
    "reused": "var input a : [4]\nvar output b : [4]\nb[i] = sum(i)(a[i])\n",
    "function": "var input a : [4]\nvar output b : [4]\nb[i] = cosh(a[i])\n",
    "undeclared": "var input a : []\nvar output b : []\nb = a + q\n",
    "misspelled": "var input alpha : [4]\nvar output b : [4]\nb = alhpa\n",
    "zero": "var input a : [0]\nvar output b : [1]\nb = a\n",
    "whole": "var input u : [8 8] halo [1 1]\nvar output v : [8 8]\nv = u\n",
    "beyond": "var input a : [4]\nvar output b : [4]\nb[i] = a[i+1]\n",
    "scalar": "var input a : [4]\nvar output b : [4]\nb = a * 2\n",
}
FORTRAN = {
    "kind": "REAL(3) :: a(4), b(4)\nb = a\n",
    "bounds": "REAL(8) :: a(0:3), b(4)\nb = a\n",
    "attribute": "REAL(8), ALLOCATABLE :: a(4), b(4)\nb = a\n",
    "intent": "REAL(8), INTENT(IN) :: a(4)\nREAL(8), INTENT(OUT) :: b(4)\n"
              "a = a + a\nb = a\n",
    "undeclared": "REAL(8) :: a(4)\nb = a\n",
    "open": "REAL(8) :: a(4), b(4)\nb = a\n",
}
# What is wrong in a file of data/: its folder and name, the line, the mistake.
TARGETS = {
    "device_key": ("devices/xc7z020", "family:", "famly:"),
    "device_clock": ("devices/xc7z020", "clock_mhz: ", "clock_mhz: -"),
    "device_budget": ("devices/xc7z020", "bram: ", "brams: "),
    "board_device": ("boards/icebreaker", "ice40-up5k", "ice40-up5"),
    "board_key": ("boards/icebreaker", "uart:", "uarts:"),
    "cluster_link": ("clusters/ku060x2", "udp-10g", "udp-10"),
    "cluster_device": ("clusters/ku060x2", "xcku060-role", "xcku060-rol"),
    "cluster_count": ("clusters/ku060x2", "count: 2", "count: 0"),
    "cluster_topology": ("clusters/ku060x2", "nodes:", "topology: ring\nnodes:"),
    "link_kind": ("links/udp-10g", "kind: udp", "kind: tcp"),
}
STEERS = {
    "key": "node:\n  conv1: {generator: dhm}\n",
    "node": "nodes:\n  conv9: {generator: stream}\n",
    "generator": "nodes:\n  conv1: {generator: frob}\n",
    "pin": "nodes:\n  conv1: {genrator: dhm}\n",
    "option": 'nodes:\n  conv1: {option: "stream/matvec?pe=99"}\n',
    "die": "nodes:\n  conv1: {die: 3}\n",
    "place": "nodes:\n  conv1: {place: 3}\n",
    "cut": "nodes:\n  conv1: {cut: after}\n",
    "split": "splits:\n  act1_quantize: 2\n",
}
CONFIGS = {"key": "gaol: max-throughput\n", "device": "device: xczu3e\n",
           "flag": "accept-nearest: perhaps\n",
           "goal": "goal: fast\n", "weights": "weights: [flash]\n"}


def saved(path, model):
    onnx.save(model, path)
    return path


def models():
    """Models that the badmodels do not have."""
    b = Builder(opset=21, ir=10)
    x = b.input([1, 1, 6, 6], "uint8")
    b.node("Conv", x, b.constant(b.draw((2, 1, 3, 3), "uint8"), "uint8"))
    yield "bytes", b.model()
    b = Builder()
    b.node("Conv", b.input([16, 1, 6, 6]),
           b.constant(b.rng.normal(0, 0.3, (2, 1, 3, 3))))
    yield "batch", b.model()
    b = Builder()
    x, h = b.input([1, 8]), b.input([1, 8])
    x, h = (b.node("MatMul", v, b.weights(8, 8)) for v in (x, h))
    b.output(b.node("Add", x, h))
    yield "state", b.model()


# Models of badmodels.py whose messages have a remedy.
BAD = ("scale NaN", "weight scale zero", "second scale zero", "scale of int64",
       "Quant of 17 bits", "Quant of 2.5 bits", "Quant with scale -1",
       "Quant with a zero point of 0.5", "Quant that rounds SIDEWAYS",
       "zero point of int64", "zero point of a float type",
       "kernel_shape other than the weights'", "opset 99", "IR version 99",
       "a name that is not UTF-8", "node without inputs",
       "input with a zero dimension", "input of 2^40 channels", "unsupported",
       "external data that is missing", "zero weight dimension",
       "an operator that does not exist",
       "empty file",
       "input of 2^30 squared", "Quant with zero point NaN",
       "no graph", "two nodes write one tensor", "input from nowhere",
       "output from nowhere", "no outputs", "no inputs", "node without outputs",
       "input of rank 3", "input of rank 9", "input smaller than the kernel",
       "other channels than the weights", "group 0", "group 7", "group -1",
       "stride 0", "stride -1", "one stride", "dilation 0", "dilation 2^40",
       "pads 2^62", "pads 2^31", "three pads", "negative pads beyond the image",
       "an auto_pad that does not exist", "pool with a kernel of 0",
       "pool without a kernel", "pool with a kernel of 2^40",
       "Add of shapes that do not match", "Concat along axis 9",
       "Transpose with a repeated axis", "Transpose with an axis of 99",
       "Conv with a bias of another size",
       "ConvTranspose with a bias of another size",
       "LSTM with a bias of another size",
       "LSTM with an initial state of another size",
       "GRU of a matrix, batch first", "Attention with values of other heads",
       "DepthToSpace with a blocksize of 2^32")


def inputs(suite):
    """The files by name, and the command of every package."""
    at = suite.work
    names = {
        "digits": EXAMPLES / "digits/digits_qonnx_w4a4.onnx",
        "tiny": EXAMPLES / "tiny-digits/tiny_digits_qdq_int8.onnx",
        "images": EXAMPLES / "tiny-digits/test_images.npy",
        "labels": EXAMPLES / "tiny-digits/test_labels.npy",
        "few_labels": at / "few.npy", "pixels": at / "pixels.npy",
        "float": EXAMPLES / "pytorch/cnn.onnx",
        "codes": EXAMPLES / "lenet5/lenet5_codes.onnx",
        "jets": EXAMPLES / "jets/jets_qonnx_w6a6.onnx",
        "kernel": EXAMPLES / "kernels/interpolation.cfd",
        "helmholtz": EXAMPLES / "kernels/helmholtz.cfd",
        "kernel_file": EXAMPLES / "kernels/heat.cfd",
        "mixed": at / "mixed.cfd",
        "text": networks.ROOT / "README.md", "work": at,
        "key": at / "key", "package": at / "tiny.rhz", "unit": at / "unit.rhz",
        "system": at / "system.rhz", "module": at / "explored.mlir",
        "none": at / "nowhere", "foreign": networks.DOSA / "CERN.onnx"}
    names["key"].write_text("0123456789abcdef" * 2 + "\n")
    np.save(names["few_labels"], np.load(names["labels"])[:60])
    np.save(names["pixels"], np.zeros((30, 1, 8, 8), np.uint8))
    np.save(at / "nan.npy", np.full((2, 1, 8, 8), np.nan, np.float32))
    names["mixed"].write_text(
        "var input a : [4] @fixed(8,8)\nvar t : [4] @fixed(8,8)\n"
        "var output o : [4]\nt = a * a\no = t * t + a\n")
    for name, text in KERNELS.items():
        names[f"k_{name}"] = at / f"k_{name}.cfd"
        names[f"k_{name}"].write_text(text)
    for name, text in FORTRAN.items():
        names[f"f_{name}"] = at / f"f_{name}.f90"
        names[f"f_{name}"].write_text(
            "!$rhizome kernel k\n" + text +
            ("" if name == "open" else "!$rhizome end\n"))
    for name, (file, old, new) in TARGETS.items():
        names[f"t_{name}"] = at / f"t_{name}.yaml"
        text = (networks.ROOT / f"data/{file}.yaml").read_text()
        names[f"t_{name}"].write_text(text.replace(old, new, 1))
    for prefix, texts in (("s", STEERS), ("c", CONFIGS)):
        for name, text in texts.items():
            names[f"{prefix}_{name}"] = at / f"{prefix}_{name}.yaml"
            names[f"{prefix}_{name}"].write_text(text)
    cases = badmodels.cases(names["digits"].read_bytes())
    for k, label in enumerate(BAD):
        names[f"m{k}"] = at / f"m{k}.onnx"
        names[f"m{k}"].write_bytes(cases[label])
    for name, model in models():
        names[f"m_{name}"] = saved(at / f"m_{name}.onnx", model)
    names = {name: str(path) for name, path in names.items()}
    made = {names[name]: list(map(str, command)) for name, command in {
        "package": ("compile", names["tiny"], "--golden", "2", "-o",
                    names["package"]),
        "unit": ("compile", names["kernel_file"], "--numbers", "fixed<8,24>",
                 "--device", "xcu280", "-o", names["unit"]),
        "system": ("compile", names["kernel_file"], "--numbers", "fixed<8,24>",
                   "--device", "xcu280", "--system", "-o",
                   names["system"])}.items()}
    for command in (*made.values(), ("compile", names["tiny"], "--compile-to",
                                     "explore", "-o", names["module"])):
        result = suite.run(*command)
        suite.check(result.status == 0, f"{command[1]} for what follows",
                    result.command)
    changed = names["changed"] = str(at / "changed.rhz")
    shutil.copytree(names["package"], changed)
    with open(at / "changed.rhz/model/network.mlir", "a") as file:
        file.write("// by hand\n")
    return names, made


CASES = {
    "words": [
        "explre {tiny}", "explore {tiny} --gaol max-throughput", "help comple",
        "--versoin", "version", "-v", "build {tiny}", "quantize {float}",
        "explore {tiny} --devise xcu280", "coverage {tiny} --jsn",
        "simulate {package} --sede 3", "evaluate {tiny} --dta {images}",
        "trace {package} --htm a.html", "formats {kernel} --format half",
        "targets --jsno", "report {package} --json --basline {tiny}",
        "analyze {tiny} --devce xcu280", "run {package} --drver cpu",
        "formats {kernel} --rage -1 1", "analyse {tiny} --clok-mhz 100"],
    "arguments": [
        "explore {tiny} {tiny}", "doctor now", "targets xcu280 now",
        "explore", "formats", "explore {tiny} --device xcu280 --device xcu250",
        "evaluate {tiny}", "embed {f_bounds}", "trace {tiny}",
        "characterize", "precision {float}"],
    "named": [
        "explore {tiny} --device xczu3e", "explore {tiny} --device kv260",
        "explore {tiny} --board xczu3eg", "explore {tiny} --board kv26",
        "explore {tiny} --cluster ku060x",
        "explore {tiny} --cluster xcku060-role",
        "explore {tiny} --cluster xcku060:x@udp-10g",
        "explore {tiny} --cluster xcku060:2@udp-10",
        "explore {tiny} --cluster xcku06:2@udp-10g",
        "explore {tiny} --cluster zcu104",
        "analyze {tiny} --link foo", "analyze {tiny} --device foo",
        "targets foo", "targets xczu3e", "explore {tiny} --device foo",
        "explore {tiny} --board foo", "explore {tiny} --cluster foo",
        "characterize --family foo --points 1 --cells fork -o {work}/cost.yaml",
        "characterize --family ecp5 --points 1 --cells foo -o {work}/cost.yaml"],
    "goals": [
        "explore {tiny} --goal fast", "explore {tiny} --goal throughput=5000/m",
        "explore {tiny} --goal latency=5", "explore {tiny} --goal latency=5h",
        "explore {tiny} --goal 5000/s", "explore {tiny} --goal 5ms",
        "explore {tiny} --goal min-latencies",
        "explore {tiny} --goal luts=20000", "explore {tiny} --goal lut=120%",
        "explore {tiny} --goal lut", "explore {tiny} --goal lut=-5",
        "explore {tiny} --goal max-throughput,min-latency",
        "explore {tiny} --goal max-throughput,", "explore {tiny} --goal frob=3",
        "explore {tiny} --goal nodes=0", "explore {tiny} --goal throughput=0/s",
        "explore {tiny} --goal latency=0us",
        "explore {tiny} --goal throughput=1e12/s",
        "explore {tiny} --goal latency=100ns",
        "explore {tiny} --goal latency=500ns --device xczu3eg",
        "explore {tiny} --goal throughput=1000/s,lut=10",
        "explore {jets} --device xczu3eg --goal latency=1ns"],
    "fits": [
        "explore {digits} --device ice40-up5k",
        "explore {digits} --device ice40-hx8k "
        "--goal max-throughput,lut=10,bram=0",
        "explore {digits} --cluster icebreaker:1@bus-8x12m",
        "explore {helmholtz} --numbers " + F + " --device ice40-hx8k",
        "explore {tiny} --clock-mhz 0", "explore {tiny} --clock-mhz fast",
        "explore {tiny} --clock-mhz 900",
        "explore {tiny} --clock-mhz auto --board icebreaker",
        "explore {tiny} --device xck26 --clock-mhz 1600"],
    "choices": [
        "explore {tiny} --border wid", "explore {tiny} --weights flash",
        "explore {tiny} --fifos disk", "explore {tiny} --state-home fpga",
        "explore {tiny} --max-nodes 0", "explore {tiny} --compile-from explor",
        "compile {tiny} --compile-to explor", "simulate {package} --level gates",
        "simulate {package} --level functional --stalls-in 100",
        "run {package} --driver foo", "run {kernel} --rounding near",
        "compile {kernel} --target vitis",
        "explore {float} --calibration {images} --calibration-method mean",
        "explore {float} --calibration {images} --bits 99",
        "simulate {package} --level functional --input-range 5",
        "simulate {package} --level functional --input-range 5,1",
        "simulate {package} --level functional --input {images} "
        "--normalize 2..1"],
    "pairs": [
        "explore {tiny} --border wide --board icebreaker",
        "explore {tiny} --device xczu3eg --board kv260",
        "explore {tiny} --device lfe5u-45f --generators engine",
        "explore {tiny} --device xc7z020 --clock-mhz 300 --generators engine",
        "explore {float} --calibration {images} --number-format 'fixed<4,4>'",
        "explore {float} --calibration-frames 3",
        "explore {float} --number-format 'fixed<4,4>' --bits 4",
        "compile {tiny} --object-cpu x86-64 -o {work}/c.rhz",
        "compile {tiny} --bitstream --board icebreaker --compile-to explore",
        "compile {tiny} --compile-to explore --json",
        "compile {module} --compile-from explore --compile-to import",
        "compile {module} --compile-from explore --number-format 'fixed<4,4>'",
        "compile {module} --compile-from emit", "compile {tiny} "
        "--compile-from explore", "explore {kernel} --device xcku060-role "
        "--cluster ku060x2 --numbers " + F,
        "simulate {package} --four-state --trace a.fst --level functional",
        "simulate {package} --level functional --trace a.fst",
        "simulate {package} --level functional --trace-units {work}/units.json",
        "simulate {package} --trace-units {work}/units.json",
        "run {package} --driver cpu --no-check --check-every 3",
        "run {package} --driver cpu --key {key}",
        "run {package} --driver cpu --stalls-in 5",
        "run {package} --driver cpu --port {text}",
        "run {unit} --stalls-out 5",
        "explore {module} --compile-from explore"],
    "numbers": [
        "explore {tiny} --number-format 'fixed<4,4>'", "explore {codes}",
        "explore {codes} --number-format fixed:16",
        "explore {codes} --number-format 'fixed<64,32>'",
        "explore {codes} --number-format half", "explore {float}",
        "explore {float} --number-format 'fixed<4,4>' --tensor-format "
        "'node_rel=fixed<4,6>'",
        "explore {float} --number-format 'fixed<4,4>' --tensor-format "
        "'frob=fixed<4,6>'", "explore {float} --tensor-format 'node_relu'",
        "explore {codes} --raw-integers", "explore {float} --calibration "
        "{pixels}", "explore {float} --calibration {images} --bits foo=4",
        "explore {float} --calibration {images} --bits nonsense",
        "precision {float} --calibration {images}",
        "precision {float} --calibration {images} --data {images}"],
    "inputs": [
        "explore {digits} --shape image", "explore {digits} --shape "
        "imag=1,1,8,8", "explore {digits} --shape image=1,2,3",
        "explore {digits} --input-type image",
        "explore {digits} --input-type image=q8", "explore {digits} --state a",
        "coverage {m_state} --number-format 'fixed<4,4>' --state a=Add4_0",
        "coverage {m_state} --number-format 'fixed<4,4>' --state x1=Add4",
        "compile {float} --normalize 0..1 -o {work}/n.rhz",
        "compile {tiny} --input {images} --images foo",
        "compile {tiny} --input {images} --images resize=8 -o {work}/i.rhz",
        "compile {tiny} --input {labels} -o {work}/l.rhz"],
    "weights": [
        "explore {tiny} --weights nothing=rom",
        "explore {tiny} --weights conv1=streamed --device ice40-hx8k",
        "explore {tiny} --weights act1_quantize=streamed",
        "explore {tiny} --weights conv1=resident --device ice40-hx8k",
        "explore {tiny} --weights streamed --cluster ecp5-12fx4",
        "explore {tiny} --weights streamed --device ice40-hx8k"],
    "networks": [f"coverage {{m{k}}}" for k in range(len(BAD))] + [
        "coverage {m_bytes}", "compile {m_batch}"],
    "places": [f"run {{k_{name}}}" for name in KERNELS] + [
        f"embed {{f_{name}}} -o {{work}}/out" for name in FORTRAN],
    "kernels": [
        "compile {mixed} --device xcu280 -o {work}/mixed.rhz",
        "compile {kernel} --number-format 'fixed<4,4>'",
        "explore {tiny} --numbers half", "compile {kernel} --goal min-latency",
        "compile {kernel} --units 2", "compile {kernel} --lanes 2",
        "explore {kernel} --device xcu280 --units 2 --numbers " + F,
        "compile {kernel} --device xcu280 --target cpu --numbers " + F,
        "compile {kernel} --target vitis-hls --device ice40-hx8k --numbers " + F,
        "compile {kernel} --target vitis-hls --device xcu280 --lanes 2 "
        "--numbers " + F, "run {kernel} --numbers fixd",
        "explore {kernel} --device xcu280 --copies foo --numbers " + F,
        "explore {kernel} --device xcu280 --copies 99=2 --numbers " + F,
        "explore {kernel} --device xcu280 --copies 1=999 --numbers " + F,
        "explore {kernel} --device xcu280 --resident foo --numbers " + F,
        "explore {kernel} --device xcu280 --resident A --resident u --numbers "
        + F, "compile {kernel} --device ice40-hx8k --system --numbers " + F,
        "compile {kernel} --clock-mhz 100",
        "explore {kernel} --cluster ku060x2 --lanes 2 --numbers " + F,
        "explore {kernel} --cluster ku060x2 --system --numbers " + F,
        "explore {kernel} --systems", "explore {kernel} --picture a.svg",
        "explore {kernel} --target vitis-hls --device xcu280",
        "explore {kernel} --device xcu280 --systems --lanes 2",
        "formats {tiny}", "formats {kernel} --check-ranges",
        "formats {kernel} --range 3 1 --formats half",
        "formats {kernel} --formats fixd", "analyze {kernel} --device xcu28",
        "simulate {kernel} --level rtl"],
    "files": [
        "explore {tiny} --device {t_device_key}",
        "explore {tiny} --device {t_device_clock}",
        "explore {tiny} --device {t_device_budget}",
        "explore {tiny} --board {t_board_device}",
        "explore {tiny} --board {t_board_key}",
        "explore {tiny} --cluster {t_cluster_link}",
        "explore {tiny} --cluster {t_cluster_device}",
        "explore {tiny} --cluster {t_cluster_count}",
        "explore {tiny} --cluster {t_cluster_topology}",
        "analyze {tiny} --device xcku060 --link {t_link_kind}"] + [
        f"explore {{tiny}} --steer {{s_{name}}}" for name in STEERS] + [
        f"explore {{tiny}} --config {{c_{name}}}" for name in CONFIGS],
    "packages": [
        "simulate {tiny} --level functional", "simulate {none}.rhz",
        "run {tiny} --driver cpu", "report {tiny}", "report {none}.rhz",
        "synth {package} --jbs 2", "simulate {package} --level cluster -n 1",
        "simulate {package} --level functional --loss 2",
        "simulate {package} --level functional --input {labels}",
        "simulate {changed} --level functional", "trace {changed}",
        "evaluate {changed} --data {images}", "run {changed} --driver cpu",
        "run {package}",
        "run {package} --driver xrt", "run {package} --driver uart",
        "run {package} --driver udp", "run {package} --driver mpi -n 1",
        "run {package} --driver cpu --serve --input {images}",
        "simulate {unit} --level functional", "run {unit} --driver uart",
        "explore {kernel_file} --numbers fixed<8,24> --plan {unit}",
        "explore {kernel_file} --numbers half --device xcu280 --plan {unit}",
        "simulate {unit} --memory-error u", "simulate {system} --memory-error "
        "foo", "simulate {unit} --numbers half", "synth {package} --tool vivado",
        "trace {tiny} --model {tiny} --data {images}", "compile {package}",
        "explore {tiny} --plan {package} --device ice40-hx8k"],
    "data": [
        "evaluate {tiny} --data {images} --labels {few_labels}",
        "evaluate {float} --data {images} --images resize=8",
        "evaluate {float} --data {pixels}", "evaluate {tiny} --data {labels}",
        "trace {tiny} --data {labels}",
        "evaluate {tiny} --data {images} --normalize 2..1"],
}

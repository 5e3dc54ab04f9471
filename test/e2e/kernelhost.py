# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The OpenCL host of a kernel's package, built with its own CMake files and run
on PoCL: its results are the evaluator's, whatever the lanes, units and formats;
programs of OpenCL in the FPGA's place; mistakes."""
import array
import json
import random

import kernels
from framework import run_program

# Compiles OpenCL C to a binary for the first device.
BINARY = r"""
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arguments) {
  static char text[1 << 16];
  const char *all = text;
  FILE *file = fopen(arguments[1], "rb");
  size_t size = fread(text, 1, sizeof text, file);
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
    return 1;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_program program =
      clCreateProgramWithSource(context, 1, &all, &size, NULL);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL))
    return 2;
  clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
  unsigned char *binary = malloc(size);
  clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
  file = fopen(arguments[2], "wb");
  return count != 3 || fwrite(binary, 1, size, file) != size || fclose(file);
}
"""

# The functions in C: on an open device twice, all in one, and refused.
MAIN = r"""
#include "helmholtz4_host.h"
#include <stdio.h>
#include <string.h>
static double S[16], D[5 * 64], u[5 * 64], v[3][5 * 64];
int main(void) {
  char error[200] = "";
  rhz_host_options options = {NULL, NULL, 2, 1};
  for (int i = 0; i < 16; ++i) S[i] = i / 16.0;
  for (int i = 0; i < 5 * 64; ++i) D[i] = 1 - i / 300.0;
  for (int i = 0; i < 5 * 64; ++i) u[i] = i % 7 / 7.0;
  rhz_host *host = helmholtz4_open(&options, S, error, sizeof error);
  if (!host || rhz_host_units(host) != 2 || !*rhz_host_device(host))
    return 1;
  for (int k = 0; k < 2; ++k)
    if (helmholtz4_compute(host, 5, D, u, v[k]) || *rhz_host_error(host))
      return 2;
  rhz_host_close(host);
  if (helmholtz4_on_device(NULL, 5, S, D, u, v[2], error, sizeof error))
    return 3;
  if (v[0][319] == 0 || memcmp(v[0], v[1], sizeof v[0]) ||
      memcmp(v[0], v[2], sizeof v[0]))
    return 4;
  options.platform = "none of that name";
  if (helmholtz4_open(&options, S, error, sizeof error))
    return 5;
  puts(error);
  return 0;
}
"""

SUM = """var input u : [2 3]
var input w : [2 3]
var output v : [2 3]
v = u + w
"""
# What the FPGA computes for SUM with three lanes, in its buffers.
PROGRAM = """kernel void rhz_kernel(global const char *in, global char *out,
                       uint elements) {
  for (uint g = 0; g < (elements + 2) / 3; ++g)
    for (uint k = 0; k < 18; ++k)
      ((global short *)(out + g * %d))[k] =
          ((global const short *)(in + g * %d))[k] +
          ((global const short *)(in + g * %d))[18 + k];
}
"""

# Two units with names, as Vitis has them.
UNITS = r"""
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <string.h>
cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code) {
  cl_kernel (*next)(cl_program, const char *, cl_int *) =
      (cl_kernel (*)(cl_program, const char *, cl_int *))dlsym(
          RTLD_NEXT, "clCreateKernel");
  if (!strcmp(name, "rhz_kernel:{rhz_kernel_1}") ||
      !strcmp(name, "rhz_kernel:{rhz_kernel_2}"))
    name = "rhz_kernel";
  else
    name = "no kernel";
  return next(program, name, code);
}
"""


# The registers of units: bits of errors that stay until they are read.
REGISTERS = r"""
#include <stdint.h>
#include <stdlib.h>
int32_t rhz_read_register(int32_t unit, uint32_t offset, uint32_t *value) {
  static int reads;
  const char *text = getenv("ERRORS");
  if (offset != %d || !text)
    return -1;
  *value = unit == 0 && reads++ == 1 ? (uint32_t)atoi(text) : 0;
  return 0;
}
"""


def save(path, shape, numbers):
    """As numpy.save, in float64."""
    sizes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({sizes}), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little")
                     + text.encode() + array.array("d", numbers).tobytes())


def load(path):
    """The bits of the numbers of a file."""
    data = path.read_bytes()
    return data[10 + int.from_bytes(data[8:10], "little"):]


def inputs_of(suite, package, elements, scale):
    """Random numbers for all inputs of a package, as files in the order of the
    kernel's arguments; some are more than formats hold."""
    kernel = json.loads((package / "plan.json").read_text())["kernel"]
    once = [t for s in kernel["streams"] if s["once"] for t in s["tensors"]]
    text = (package / "host" / f"{kernel['name']}_host.h").read_text()
    shapes = {t["name"]: t["shape"] for t in kernel["inputs"]}
    generator = random.Random(kernel["name"])
    files = []
    for line in text.splitlines():
        name = line[3:].split(":")[0].strip() if line[:5] == " *   " else ""
        if name not in shapes or ", in" not in line:
            continue
        shape = ([] if name in once else [elements]) + shapes[name]
        size = 1
        for extent in shape:
            size *= extent
        path = suite.work / f"{name}.npy"
        save(path, shape, [generator.uniform(-scale, scale)
                           for _ in range(size)])
        files.append(path)
    return files


def build(suite, package, folder):
    """The host by its own CMake files, without optimization."""
    cmake = suite.tool("cmake")
    for command in ((cmake, "-S", package / "host", "-B", folder,
                     "-DCMAKE_BUILD_TYPE=Debug",
                     "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"),
                    (cmake, "--build", folder, "-j", "2")):
        result = run_program(command, cwd=suite.work)
        if not suite.check(result.status == 0,
                           f"the host is built {result.message}",
                           result.command):
            return None
    return folder / f"run_{package.stem}"


def link(suite, package, library):
    """The host with the sources of another one's library, which are equal."""
    name = json.loads((package / "plan.json").read_text())["kernel"]["name"]
    program = suite.work / f"run_{package.stem}"
    host = package / "host"
    result = run_program(
        ["c++", "-std=c++20", "-DRHIZOME_KERNEL_OBJECT", f"-I{host}", "-o",
         program, host / f"{name}_host.cpp", host / "main.cpp",
         host / f"{name}_words.o", library, "-lOpenCL", "-lpthread"],
        cwd=suite.work)
    suite.check(result.status == 0, f"{name} is linked {result.message}",
                result.command)
    return program


def cache_of(suite):
    """Where PoCL keeps what it compiled."""
    return f"POCL_CACHE_DIR={suite.work / 'pocl'}"


def compare(suite, program, package, outputs, scale, *options, elements=10):
    """The host's results and those of `run`, which are the evaluator's."""
    files = inputs_of(suite, package, elements, scale)
    got = [suite.work / f"got{k}.npy" for k in range(outputs)]
    want = [suite.work / f"want{k}.npy" for k in range(outputs)]
    given = [x for path in files for x in ("--input", path)]
    result = run_program(
        ["env", cache_of(suite), program, *given, *options,
         *[x for path in got for x in ("--output", path)]],
        cwd=suite.work)
    if not suite.check(result.status == 0 and
                       f"{elements} elements on " in result.out,
                       f"{package.stem} on PoCL {result.message}",
                       result.command):
        return
    reference = suite.run("run", package / "model", "--check", "--cpu",
                          "x86-64-v3", *given,
                          *[x for path in want
                            for x in ("--output", path)])
    suite.check(reference.status == 0, f"the evaluator {reference.message}",
                reference.command)
    suite.check(all(load(g) == load(w) for g, w in zip(got, want)) and
                len(load(got[0])) > 0,
                f"{package.stem} {options}: the evaluator's bits",
                result.command)


def kernel_host(suite):
    """Lanes, units, what stays, and formats, on the kernel's machine code, which
    calls the library's arithmetic where formats are floats."""
    suite.tool("c++")
    package = suite.work / "helmholtz4.rhz"
    result = suite.run("compile", kernels.helmholtz_of(suite, 4), "--numbers",
                       "float<8,23>", "--device", "xcu280", "--stages", "3",
                       "--resident", "S", "--lanes", "3", "-o", package)
    suite.check(result.status == 0, f"compile {result.message}",
                result.command)
    program = build(suite, package, suite.work / "build")
    if program is None:
        return
    compare(suite, program, package, 1, 3, "--units", "2", "--batch", "2")
    compare(suite, program, package, 1, 3, elements=1)
    library = suite.work / "build/libhelmholtz4_host.a"
    (suite.work / "main.c").write_text(MAIN)
    for command in (["cc", "-std=c99", "-Wall", "-Werror",
                     f"-I{package / 'host'}", "-c", "main.c"],
                    ["c++", "-o", "main", "main.o", library, "-lOpenCL"],
                    ["env", cache_of(suite), "./main"]):
        result = run_program(command, cwd=suite.work)
        suite.check(result.status == 0, f"from C {result.message}",
                    result.command)
    suite.check("none of that name" in result.out, f"from C: {result.out}")
    parts = suite.work / "parts.cfd"
    parts.write_text(kernels.PARTS)
    total = suite.work / "total.cfd"
    total.write_text(SUM)
    for kernel, options, outputs in (
            (kernels.helmholtz_of(suite, 3), ("--numbers", "fixed<24,40>"), 1),
            (kernels.helmholtz_of(suite, 2),
             ("--numbers", "float<6,9>", "--lanes", "3", "--resident", "S",
              "--resident", "D"), 1),
            (parts, ("--numbers", "fixed<3,10>", "--saturate", "--rounding",
                     "down"), 4),
            (total, ("--lanes", "2"), 1),
            (kernels.helmholtz_of(suite, 5),
             ("--numbers", "fixed<8,24>", "--words", "4", "--lanes", "2",
              "--stages", "2", "--resident", "S", "--system", "--units", "2"),
             1)):
        other = suite.work / f"{kernel.stem}.rhz"
        result = suite.run("compile", kernel, *options, "--device", "xcu280",
                           "-o", other)
        suite.check(result.status == 0, f"compile {result.message}",
                    result.command)
        compare(suite, link(suite, other, library), other, outputs, 6,
                "--units", "2")
    mistakes(suite, program)


def mistakes(suite, program):
    """Each names the step, and OpenCL's call and code if it is one of it."""
    bad = suite.work / "bad.xclbin"
    bad.write_text("no program")
    few = suite.work / "few.npy"
    save(few, [2, 2], [0] * 4)
    for options, wanted, environment in (
            (("--program", bad), "clCreateProgramWithBinary gives "
                                 "CL_INVALID_BINARY (-42)", ()),
            (("--program", "none.xclbin"), "it cannot be read", ()),
            (("--platform", "Xilinx"), "no OpenCL platform 'Xilinx' has", ()),
            ((), "no OpenCL platform is installed",
             [f"OCL_ICD_VENDORS={suite.work / 'none'}"]),
            (("--input", few), "has another shape", ()),
            (("--input", "x.npy"), "'x.npy' cannot be read", ()),
            (("--units", "0"), "--units: '0'", ()),
            (("--unit", "1"), "'--unit' is unknown", ())):
        if options and str(options[1]).endswith("few.npy"):
            options = options * 3
        result = run_program(["env", *environment, program, *options],
                             cwd=suite.work)
        suite.check(result.status == 1 and wanted in result.err,
                    f"{options}: {result.err}", result.command)


def kernel_host_program(suite):
    """A program of OpenCL with the FPGA's arguments and buffers, as a binary:
    two units of it, and what they leave of elements' groups."""
    kernel = suite.work / "total.cfd"
    kernel.write_text(SUM)
    package = suite.work / "total.rhz"
    result = suite.run("compile", kernel, "--numbers", "fixed<6,10>",
                       "--device", "xcu280", "--lanes", "3", "--system", "-o",
                       package)
    suite.check(result.status == 0, f"compile {result.message}",
                result.command)
    program = build(suite, package, suite.work / "build")
    if program is None:
        return
    system = json.loads((package / "plan.json").read_text())["kernel"].get(
        "system") or {}
    groups = [p["group_bytes"] for p in system.get("ports", [])] or [72, 36]
    (suite.work / "sum.cl").write_text(
        PROGRAM % (groups[1], groups[0], groups[0]))
    (suite.work / "binary.c").write_text(BINARY)
    (suite.work / "units.c").write_text(UNITS)
    (suite.work / "registers.c").write_text(
        REGISTERS % (system.get("control", {}).get("errors", 0)))
    for command in (["cc", "-o", "binary", "binary.c", "-lOpenCL"],
                    ["cc", "-shared", "-fPIC", "-o", "units.so", "units.c"],
                    ["cc", "-shared", "-fPIC", "-o", "registers.so", "registers.c"],
                ["env", cache_of(suite), "./binary", "sum.cl", "sum.bin"]):
        result = run_program(command, cwd=suite.work)
        suite.check(result.status == 0, f"a binary {result.message}",
                    result.command)
    for options in (("--units", "2", "--batch", "2"), ()):
        compare(suite, program, package, 1, 40, "--program",
                str(suite.work / "sum.bin"), *options, elements=11)
    for errors, status, wanted in (
            ("0", 0, " elements on "), ("1", 1, "elements 0 to 5, on unit 0: "
             "the card's memory answered with an error for 'u', 'w'"),
            ("2", 1, "with an error for 'v'"), (None, 1, "cannot be read")):
        result = run_program(
            ["env", cache_of(suite), *([f"ERRORS={errors}"] if errors else []),
             program, "--program", suite.work / "sum.bin", "-n", "11",
             "--registers", suite.work / "registers.so"], cwd=suite.work)
        suite.check(result.status == status and
                    wanted in result.out + result.err,
                    f"errors of the memory: {result.out} {result.err}",
                    result.command)
    for options, status, wanted in (((), 0, ", 2 units,"),
                                    (("--units", "3"), 1,
                                     "has 2 of rhz_kernel, not 3")):
        result = run_program(
            ["env", cache_of(suite), f"LD_PRELOAD={suite.work / 'units.so'}",
             program, "--program", suite.work / "sum.bin", "-n", "7",
             *options], cwd=suite.work)
        suite.check(result.status == status and
                    wanted in result.out + result.err,
                    f"units by name: {result.out} {result.err}",
                    result.command)

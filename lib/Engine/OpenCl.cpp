// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The OpenCL face: the generated kernel with the sizes of a core, and around it
// one that takes a frame apart into words and makes a frame of words.
#include "rhizome/Engine/OpenCl.h"
#include "rhizome/Engine/Program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace rhizome;
using namespace rhizome::engine;

static constexpr char kKernel[] =
#include "rhizome/Engine/engine.cl.inc"
    ;

/// An element begins at the bit after the one before, a row at a new word.
static constexpr char kFrames[] = R"cl(
static void take_frame(__global const uchar *frame, __global char *words) {
  ulong held = 0;
  int bits = 0;
  for (long i = 0; i < FRAME_ELEMENTS; i++) {
    for (; bits < FRAME_WIDTH; bits += 8)
      held |= (ulong)*frame++ << bits;
    int value = (int)(held & ((1 << FRAME_WIDTH) - 1));
    if (FRAME_SIGNED && value >> (FRAME_WIDTH - 1))
      value -= 1 << FRAME_WIDTH;
    words[i / FRAME_ROW * FRAME_ROW_BYTES + i % FRAME_ROW] =
        (char)(value - FRAME_BIAS);
    held >>= FRAME_WIDTH;
    bits -= FRAME_WIDTH;
  }
}

static void give_answer(__global const char *words, __global uchar *answer) {
  ulong held = 0;
  int bits = 0;
  long at = 0;
  for (long i = 0; i < ANSWER_ELEMENTS; i++) {
    int value = words[i / ANSWER_ROW * ANSWER_ROW_BYTES + i % ANSWER_ROW];
    held |= (ulong)((value + ANSWER_BIAS) & ((1 << ANSWER_WIDTH) - 1)) << bits;
    for (bits += ANSWER_WIDTH; bits >= 8; bits -= 8) {
      answer[at++] = (uchar)held;
      held >>= 8;
    }
  }
  for (; at < ANSWER_BYTES; held >>= 8)
    answer[at++] = (uchar)held;
}

/// What is wrong with the program, and what it says; 0 if nothing is.
static uint2 problem_of(__global const uchar *program) {
  if (HEAD_OPCODE(program) != OPCODE_HEAD || HEAD_ISA(program) != ISA)
    return (uint2)(1, HEAD_ISA(program));
  if (HEAD_CORE(program) != CORE)
    return (uint2)(2, HEAD_CORE(program));
  if (HEAD_INSTRUCTIONS(program) > INSTRUCTIONS)
    return (uint2)(3, HEAD_INSTRUCTIONS(program));
  if (HEAD_BLOCKS(program) > BLOCKS)
    return (uint2)(4, HEAD_BLOCKS(program));
  return (uint2)(0, 0);
}

__kernel void KERNEL(__global const uchar *frame, __global uchar *answer,
                     __global char *memory, __global char *space) {
  memory += BASE;
  __global const uchar *program = (__global const uchar *)memory + PROGRAM;
  __global uint *report = (__global uint *)(answer + REPORT);
  const uint2 problem = problem_of(program);
  report[0] = problem.x;
  report[1] = problem.y;
  if (problem.x)
    return;
  __global int *sums = (__global int *)space;
  __global char *scratch = space + SUM_BYTES;
  __global char *queue = scratch + WORDS * IN;
  __global char *in = queue + (long)BLOCKS * IN * OUT;
  __global char *out = in + (long)STREAM_IN * IN;
  take_frame(frame, in);
  engine(program, memory, memory, memory, memory, scratch, sums, queue, in,
         out);
  give_answer(out, answer);
}
)cl";

static std::string define(const std::string &name, int64_t value) {
  return "#define " + name + " " + std::to_string(value) + "\n";
}

static std::string define(const std::string &name, const FrameFormat &format,
                          int64_t in) {
  return define(name + "_ELEMENTS", format.elements) +
         define(name + "_ROW", format.row) +
         define(name + "_ROW_BYTES", divideCeil(format.row, in) * in) +
         define(name + "_WIDTH", format.width) +
         define(name + "_SIGNED", format.isSigned) +
         define(name + "_BIAS", format.bias) +
         define(name + "_BYTES", format.paddedBytes);
}

std::string engine::openClText(const Core &core, const OpenClBounds &bounds) {
  return define("IN", core.in) + define("OUT", core.out) +
         define("WORDS", core.words) + define("ENTRIES", core.entries) +
         define("SUM_BITS", core.sum_bits) +
         define("INSTRUCTIONS", bounds.instructions) +
         define("ROOM", bounds.room) + define("BLOCKS", bounds.blocks) +
         define("STREAM_IN", bounds.received) +
         define("STREAM_OUT", bounds.sent) + kKernel;
}

/// All of the text but the name, which is made of it.
static std::string bodyOf(const FrameKernel &kernel) {
  const Core &core = kernel.core;
  OpenClBounds bounds;
  bounds.room = kernel.room;
  bounds.instructions =
      (kernel.room - kernel.program) * core.in / kInstructionBytes - 1;
  bounds.blocks = std::max<int64_t>(1, kernel.blocks);
  bounds.received = kernel.in.words(core.in);
  bounds.sent = kernel.out.words(core.in);
  return openClText(core, bounds) + define("OPCODE_HEAD", int(Opcode::Head)) +
         "#define ISA 0x" + utohexstr(kIsaHash, true, 8) +
         "u\n#define CORE 0x" + utohexstr(core.hash(), true, 8) + "u\n" +
         define("BASE", kernel.base) +
         define("PROGRAM", kernel.program * core.in) +
         define("SUM_BYTES", 2 * core.entries * core.out * 4) +
         define("REPORT", int64_t(alignTo(kernel.out.paddedBytes, 4))) +
         define("FRAME", kernel.in, core.in) +
         define("ANSWER", kernel.out, core.in) + kFrames;
}

static std::string kernelNameOf(const std::string &body) {
  return "engine_" + utohexstr(xxh3_64bits(body), true, 16);
}

std::string FrameKernel::name() const { return kernelNameOf(bodyOf(*this)); }

std::string FrameKernel::text() const {
  const std::string body = bodyOf(*this);
  return "#define KERNEL " + kernelNameOf(body) + "\n" + body;
}

int64_t FrameKernel::spaceBytes() const {
  return 2 * core.entries * core.out * 4 + core.words * core.in +
         std::max<int64_t>(1, blocks) * core.in * core.out +
         (in.words(core.in) + out.words(core.in)) * core.in;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors at the border of a unit. A beat has words next to each other; as many
// of them as have banks of their own pass in a cycle, part by part, and the
// beat waits on its stream until the last part.
#include "Unit.h"

using namespace mlir;

namespace rhizome::gen::loops {
Unit::Part Unit::partOf(Value tensor, Value step, Value isLast) {
  const int64_t parts = unit.words / unit.widthOf(tensor);
  const int64_t steps = unit.stepsOf(tensor);
  if (std::min(parts, steps) == 1)
    return {};
  const int64_t n = addressBits(std::min(parts, steps));
  Part part;
  part.number = state(n, step);
  part.isEnd = isLast;
  if (parts <= steps)
    part.isEnd = either(isLast, isEqual(part.number, parts - 1));
  setNext(part.number,
          choose(part.isEnd, constant(n, 0),
                 rtl::AddOp::create(b, loc, part.number, constant(n, 1))));
  return part;
}

Turn Unit::take(Value tensor, Value turn, InStream &in) {
  const int64_t width = unit.widthOf(tensor);
  Value step = both(turn, in.valid);
  Walk w = walkOver(tensor, step);
  const Part part = partOf(tensor, step, w.isLast);
  const int64_t parts =
      part.number ? std::min(unit.words / width, unit.stepsOf(tensor)) : 1;
  const auto beat = int64_t(in.data.getType().getIntOrFloatBitWidth());
  std::vector<Value> words;
  for (int64_t word = 0; word < width; ++word) {
    std::vector<Value> choices;
    for (int64_t p = 0; p < parts; ++p) {
      const int64_t first = (p * width + word) * (beat / unit.words);
      choices.push_back(beat == widthOf(tensor)
                            ? in.data
                            : rtl::ExtractOp::create(b, loc,
                                                     bits(widthOf(tensor)),
                                                     in.data, first));
    }
    words.push_back(pick(part.number, std::move(choices)));
  }
  fill(tensor, *accessOver(tensor, w.loops, banksOf(tensor), width), w, words,
       0, step);
  in.ready = either(in.ready, part.number ? both(turn, part.isEnd) : turn);
  Value lastStep = both(step, w.isLast);
  return {lastStep, lastStep};
}

Turn Unit::put(Value tensor, Value turn, OutRegister &out) {
  const int64_t width = unit.widthOf(tensor), steps = unit.stepsOf(tensor);
  const int64_t parts = unit.words / width, tail = (steps - 1) % parts;
  const int64_t slot =
      int64_t(out.data.getType().getIntOrFloatBitWidth()) / unit.words;
  Value issue = both(both(turn, inverse(isIssued)), out.isAdvancing);
  Walk w = walkOver(tensor, issue);
  const Part part = partOf(tensor, issue, w.isLast);
  Value isLast = state(1, out.isAdvancing);
  Value lastIssue = both(issue, w.isLast);
  setNext(isLast, lastIssue);

  // The words of a part are in the registers of the memories' ports.
  Value base = baseOf(tensor), zero = constant(slot, 0);
  const Access access = *accessOver(tensor, w.loops, banksOf(base), width);
  std::vector<Value> words;
  const int64_t left = wordsOf(tensor) - (steps - 1) * width;
  for (int64_t i = 0; i < width; ++i) {
    Value word = read(base, access, size_t(i), w, turn, 0, out.isAdvancing);
    if (const int64_t more = slot - int64_t(widthOf(tensor)); more > 0)
      word = unit.unsignedOutputs.contains(tensor)
                 ? Value(rtl::ConcatOp::create(
                       b, loc, bits(slot), ValueRange{word, constant(more, 0)}))
                 : Value(rtl::SignExtendOp::create(b, loc, bits(slot), word));
    words.push_back(i < left ? word : choose(isLast, zero, word));
  }
  // Those of the parts before are kept, and what is behind the end is zero.
  Value held;
  if (part.number)
    held = rtl::RegisterOp::create(b, loc, part.number.getType(), clock,
                                   part.number, out.isAdvancing, Value(),
                                   IntegerAttr());
  SmallVector<Value> beat;
  for (int64_t p = 0; p < parts; ++p)
    for (Value word : words) {
      if (p >= steps) {
        beat.push_back(zero);
        continue;
      }
      const bool mayBeAfter = p < parts - 1 && p < steps - 1;
      Value before = word;
      if (mayBeAfter)
        before = rtl::RegisterOp::create(
            b, loc, word.getType(), clock, word,
            both(out.isAdvancing, isEqual(held, p)), Value(), IntegerAttr());
      beat.push_back(p < tail || !mayBeAfter ? before
                     : p == tail             ? choose(isLast, word, before)
                                             : before);
      if (p > tail)
        beat.back() = choose(isLast, zero, beat.back());
    }
  Value data = beat.front();
  if (beat.size() > 1) {
    data = rtl::ConcatOp::create(b, loc, out.data.getType(), beat);
  }
  out.data = choose(turn, data, out.data);
  out.isTaking =
      either(out.isTaking, part.number ? both(issue, part.isEnd) : issue);
  out.isLast = isLast; // of the last tensor
  return {lastIssue, both(both(out.valid, out.ready), isLast)};
}
} // namespace rhizome::gen::loops

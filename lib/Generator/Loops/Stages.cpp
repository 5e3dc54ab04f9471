// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which stage does what: the nests in groups of about the same work, in their
// order, and a stage for each tensor that is read or written. A serial unit has
// a single stage with all of it. Cycles follow from the phases.
#include "Unit.h"

using namespace mlir;

namespace rhizome::gen::loops {
/// Nests that stay in one stage, in order, by the first of them: from the first
/// writer of a tensor to its last one.
static std::vector<size_t> atomsOf(ArrayRef<Nest> nests) {
  std::vector<size_t> last(nests.size());
  DenseMap<Value, size_t> first;
  for (size_t i = 0; i < nests.size(); ++i) {
    Value base = baseOf(linalg::GenericOp(nests[i].op)->getResult(0));
    last[first.try_emplace(base, i).first->second] = i;
  }
  std::vector<size_t> atoms;
  size_t end = 0;
  for (size_t i = 0; i < nests.size(); ++i) {
    if (i >= end)
      atoms.push_back(i);
    end = std::max(end, std::max(last[i], i) + 1);
  }
  return atoms;
}

/// The first nest of each of at most `count` groups in order whose largest sum
/// of iterations is the least.
static std::vector<size_t> divide(ArrayRef<Nest> nests, size_t count) {
  const std::vector<size_t> atoms = atomsOf(nests);
  count = std::min(count, atoms.size());
  std::vector<int64_t> work(atoms.size());
  for (size_t a = 0; a < atoms.size(); ++a)
    for (size_t i = atoms[a];
         i < (a + 1 < atoms.size() ? atoms[a + 1] : nests.size()); ++i)
      work[a] += nests[i].iterations();
  auto groupsAt = [&](int64_t most) {
    std::vector<size_t> firsts;
    int64_t sum = most;
    for (size_t a = 0; a < atoms.size(); ++a) {
      sum += work[a];
      // Each group has an atom, and none is left over.
      const size_t needed = count - std::min(count, firsts.size());
      if (sum > most || atoms.size() - a == needed) {
        firsts.push_back(atoms[a]);
        sum = work[a];
      }
    }
    return firsts;
  };
  int64_t least = 0, most = 0;
  for (int64_t atom : work) {
    least = std::max(least, atom);
    most += atom;
  }
  while (least < most) {
    int64_t middle = least + (most - least) / 2;
    if (groupsAt(middle).size() <= count)
      most = middle;
    else
      least = middle + 1;
  }
  return groupsAt(most);
}

/// The stages whose results each one waits for, and levels: as late as their
/// readers allow for those that only read a stream.
static void order(KernelUnit &unit) {
  DenseMap<Value, size_t> from;
  for (auto [s, stage] : llvm::enumerate(unit.stages)) {
    for (Value v : stage.reads)
      from[v] = s;
    for (size_t n : stage.nests)
      from[baseOf(unit.nests[n].op->getResult(0))] = s;
  }
  for (auto [s, stage] : llvm::enumerate(unit.stages)) {
    auto waitFor = [&](Value v) {
      if (!isa<RankedTensorType>(v.getType()))
        return;
      auto it = from.find(baseOf(v));
      if (it != from.end() && it->second != s &&
          !llvm::is_contained(stage.before, it->second))
        stage.before.push_back(it->second);
    };
    for (size_t n : stage.nests)
      for (Value v : unit.nests[n].op.getInputs())
        waitFor(v);
    for (Value v : stage.writes)
      waitFor(v);
    llvm::sort(stage.before);
    for (size_t p : stage.before)
      stage.level = std::max(stage.level, unit.stages[p].level + 1);
  }
  for (auto [s, stage] : llvm::enumerate(unit.stages)) {
    if (!stage.nests.empty() || stage.reads.empty())
      continue;
    int64_t next = INT64_MAX;
    for (const UnitStage &reader : unit.stages)
      if (llvm::is_contained(reader.before, s))
        next = std::min(next, reader.level);
    if (next != INT64_MAX)
      stage.level = next - 1;
  }
}

void planStages(KernelUnit &unit, const UnitOptions &options) {
  unit.isDataflow = options.stages > 0;
  auto streamName = [](const char *side, size_t n) {
    return side + std::to_string(n);
  };
  auto read = [&](ArrayRef<Value> tensors, bool isOnce) {
    if (!tensors.empty())
      unit.inStreams.push_back(
          {streamName("s_axis_", unit.inStreams.size()), tensors, isOnce});
  };
  std::vector<Value> given, kept;
  for (auto [i, v] : llvm::enumerate(unit.inputs))
    (llvm::is_contained(options.residents, i) ? kept : given).push_back(v);
  std::vector<size_t> all;
  for (size_t n = 0; n < unit.nests.size(); ++n)
    all.push_back(n);
  auto once = [&] {
    for (Value v : kept) {
      UnitStage stage;
      stage.reads = {v};
      stage.isOnce = true;
      unit.stages.push_back(std::move(stage));
    }
  };
  once();
  if (!unit.isDataflow) {
    UnitStage stage;
    stage.reads = given;
    stage.nests = all;
    stage.writes = unit.outputs;
    unit.stages.push_back(std::move(stage));
    read(given, false);
    unit.outStreams.push_back({streamName("m_axis_", 0), unit.outputs, false});
  } else {
    for (Value v : given) {
      UnitStage stage;
      stage.reads = {v};
      unit.stages.push_back(std::move(stage));
      read({v}, false);
    }
    auto firsts = divide(unit.nests, std::min(options.stages, all.size()));
    firsts.push_back(all.size());
    for (size_t g = 0; g + 1 < firsts.size(); ++g) {
      UnitStage stage;
      stage.nests.assign(all.begin() + ptrdiff_t(firsts[g]),
                         all.begin() + ptrdiff_t(firsts[g + 1]));
      unit.stages.push_back(std::move(stage));
    }
    for (Value v : unit.outputs) {
      UnitStage stage;
      stage.writes = {v};
      unit.stages.push_back(std::move(stage));
      unit.outStreams.push_back(
          {streamName("m_axis_", unit.outStreams.size()), {v}, false});
    }
  }
  for (Value v : kept)
    read({v}, true);
  order(unit);
}

int64_t KernelUnit::stepsOf(Value tensor) const {
  return llvm::divideCeil(
      cast<RankedTensorType>(tensor.getType()).getNumElements(),
      widthOf(tensor));
}

/// The cycles of a stage by kind of phase.
void countCycles(KernelUnit &unit) {
  for (UnitStage &stage : unit.stages) {
    int64_t reading = 0, computing = 0, writing = 0;
    for (Value v : stage.reads)
      reading += unit.stepsOf(v);
    for (const std::vector<size_t> &step : stage.steps) {
      int64_t longest = 0;
      for (size_t n : step)
        longest = std::max(longest, unit.nests[n].cycles());
      computing += longest;
    }
    for (Value v : stage.writes)
      writing += unit.stepsOf(v) + 1;
    stage.cycles = reading + computing + writing;
    if (stage.isOnce)
      continue;
    unit.readCycles = std::max(unit.readCycles, reading);
    unit.computeCycles = std::max(unit.computeCycles, computing);
    unit.writeCycles = std::max(unit.writeCycles, writing);
  }
}

int64_t KernelUnit::latency() const {
  std::vector<int64_t> ends;
  for (const UnitStage &stage : stages) {
    int64_t begin = 0;
    for (size_t s : stage.before)
      begin = std::max(begin, ends[s]);
    ends.push_back(stage.isOnce ? 0 : begin + stage.cycles);
  }
  // A beat is taken with its last part.
  int64_t parts = INT64_MAX;
  for (const UnitStream &stream : inStreams)
    if (!stream.isOnce) {
      Value first = stream.tensors.front();
      parts = std::min({parts, stepsOf(first), words / widthOf(first)});
    }
  return *llvm::max_element(ends) - (parts == INT64_MAX ? 0 : parts - 1);
}
} // namespace rhizome::gen::loops

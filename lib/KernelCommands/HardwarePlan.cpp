// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the plan of a kernel says: its nests, stages, streams and memories by
// the names of tensors; and the memories' YAML.
#include "HardwareParts.h"
#include "rhizome/Generator/Loops/Views.h"
#include "rhizome/Support/Quoting.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::gen;

namespace {
/// Names of a unit's tensors.
class Names {
public:
  Names(const NumberedKernel &kernel, const loops::KernelUnit &unit) {
    for (auto [v, tensor] :
         llvm::zip_equal(unit.inputs, tensorsOf(kernel, unit.inputs)))
      names[v] = tensor.name;
    std::vector<linalg::GenericOp> nests;
    for (const loops::Nest &nest : unit.nests)
      nests.push_back(nest.op);
    for (auto [nest, name] : llvm::zip_equal(nests, namesOf(nests)))
      names[nest->getResult(0)] = name;
  }
  /// A part of a tensor without a name has that of the whole.
  std::string of(Value v) const {
    std::string name = names.lookup(v);
    return name.empty() ? names.lookup(loops::baseOf(v)) : name;
  }

private:
  llvm::DenseMap<Value, std::string> names;
};
} // namespace

PlannedKernel kernelcommands::describeKernel(const NumberedKernel &kernel,
                                             const loops::KernelUnit &unit) {
  PlannedKernel out;
  const Names names(kernel, unit);
  out.name = kernel.signature.name;
  out.isDataflow = unit.isDataflow;
  out.readCycles = unit.readCycles;
  out.computeCycles = unit.computeCycles;
  out.writeCycles = unit.writeCycles;
  for (const loops::Nest &nest : unit.nests) {
    PlannedNest planned{names.of(nest.op->getResult(0)),
                        placeOf(nest.op->getLoc()),
                        nest.loops.trips,
                        nest.iterations(),
                        nest.schedule.interval,
                        nest.depth(),
                        nest.cycles(),
                        {}};
    for (const loops::NestStep &step : loops::stepsOf(nest)) {
      std::string name = step.name;
      if (step.tensor)
        name += " " + names.of(step.tensor);
      planned.operations.push_back(
          {name, step.unit, step.cycle, step.cycles, step.copies});
    }
    out.nests.push_back(std::move(planned));
  }
  out.inputs = tensorsOf(kernel, unit.inputs);
  out.outputs = tensorsOf(kernel, unit.outputs);
  for (const auto &streams : {unit.inStreams, unit.outStreams})
    for (const loops::UnitStream &stream : streams) {
      PlannedStream planned{stream.name, {}, stream.isOnce, unit.words};
      for (const PlannedTensor &tensor : tensorsOf(kernel, stream.tensors))
        planned.tensors.push_back(tensor.name);
      out.streams.push_back(std::move(planned));
    }
  for (const loops::UnitStage &stage : unit.stages) {
    PlannedStage planned{{}, {}, stage.cycles, stage.isOnce};
    auto add = [&](const std::string &part, int64_t cycles) {
      planned.parts.push_back(part);
      planned.partCycles.push_back(cycles);
    };
    for (Value v : stage.reads)
      add("read " + names.of(v), unit.stepsOf(v));
    for (const std::vector<size_t> &step : stage.steps) {
      std::string part;
      int64_t longest = 0;
      for (size_t n : step) {
        part += (part.empty() ? "" : " and ") + out.nests[n].name;
        longest = std::max(longest, out.nests[n].cycles);
      }
      add(part, longest);
    }
    for (auto [v, tensor] :
         llvm::zip_equal(stage.writes, tensorsOf(kernel, stage.writes)))
      add("write " + tensor.name, unit.stepsOf(v) + 1);
    out.stages.push_back(std::move(planned));
  }
  for (const loops::UnitMemory &memory : unit.memories) {
    PlannedStore store;
    store.name = memory.name;
    store.kind = nameOf(memory.kind).str();
    store.stage = int64_t(memory.stage);
    store.words = memory.words;
    store.width = memory.width;
    store.slots = memory.slots;
    store.copies = memory.copies;
    store.banks = memory.banks;
    for (auto [v, life] : llvm::zip_equal(memory.tensors, memory.lifetimes))
      store.tensors.push_back({names.of(v), life.first, life.last});
    out.memories.push_back(std::move(store));
  }
  return out;
}

std::string kernelcommands::memoriesYaml(const PlannedKernel &kernel) {
  std::string text = "# Tensors, memories, and which of them could be one.\n"
                     "arrays:\n";
  struct Array {
    std::string name;
    int64_t stage, first, last;
  };
  std::vector<Array> shared; ///< those within a stage
  std::set<std::string> tensors;
  for (const PlannedStore &store : kernel.memories)
    for (const PlannedShare &t : store.tensors) {
      const auto &parts = kernel.stages[size_t(store.stage)].parts;
      text += llvm::formatv(
          "  - name: {0}\n    height: {1}\n    width: {2}\n    memory: {3}\n"
          "    processes:\n      - {{name: {4}, interfaces: [w], "
          "write_pattern: linear}\n",
          yamlScalar(t.tensor), store.words * store.banks, store.width,
          yamlScalar(store.name), yamlScalar(parts[size_t(t.first)]));
      if (store.slots == 1 && t.last > t.first &&
          t.last < int64_t(parts.size())) {
        text += llvm::formatv("      - {{name: {0}, interfaces: [r], "
                              "read_pattern: linear}\n",
                              yamlScalar(parts[size_t(t.last)]));
        shared.push_back({t.tensor, store.stage, t.first, t.last});
      }
    }
  text += "memories:\n";
  for (const PlannedStore &store : kernel.memories)
    text +=
        llvm::formatv("  - {{name: {0}, kind: {1}, height: {2}, width: {3}, "
                      "slots: {4}, banks: {5}, copies: {6}}\n",
                      yamlScalar(store.name), store.kind, store.words,
                      store.width, store.slots, store.banks, store.copies);
  text += "cgraph:\n  nodes: [";
  llvm::ListSeparator comma;
  for (const Array &a : shared)
    text += std::string(StringRef(comma)) + yamlScalar(a.name);
  text += "]\n  edges:";
  bool isAny = false;
  for (size_t i = 0; i < shared.size(); ++i)
    for (size_t j = i + 1; j < shared.size(); ++j) {
      const Array &a = shared[i], &b = shared[j];
      if (a.stage != b.stage || (a.first <= b.last && b.first <= a.last))
        continue;
      text += llvm::formatv("{0}    - {{compatibility: [{1}, {2}], type: a}\n",
                            isAny ? "" : "\n", yamlScalar(a.name),
                            yamlScalar(b.name));
      isAny = true;
    }
  return text + (isAny ? "" : " []\n");
}

/// An output of a unit in stages that nothing tells when its next frame begins,
/// since it depends on no input that comes with the frames. A serial unit reads
/// such inputs before it computes any output.
static std::optional<Failure> findUntimed(const NumberedKernel &kernel,
                                          const loops::KernelParts &parts,
                                          const loops::UnitOptions &options,
                                          ArrayRef<PlannedTensor> inputs) {
  if (options.stages == 0 || !parts.obstacles.empty())
    return std::nullopt;
  for (auto [value, tensor] :
       llvm::zip_equal(parts.outputs, tensorsOf(kernel, parts.outputs))) {
    const std::vector<size_t> sources = loops::sourcesOf(parts, value);
    if (llvm::any_of(sources, [&](size_t source) {
          return !llvm::is_contained(options.residents, source);
        }))
      continue;
    if (sources.empty())
      return Failure(Failure::Kind::Usage,
                     "--stages: the result '" + tensor.name +
                         "' depends on no argument, so nothing tells when its "
                         "next frame begins",
                     "leave out --stages, or leave it out of the results");
    std::string names;
    for (size_t source : sources)
      names += (names.empty() ? "" : ", ") + inputs[source].name;
    return Failure(Failure::Kind::Usage,
                   "--resident: the result '" + tensor.name +
                       "' depends on resident arguments only (" + names +
                       "), so nothing tells when its next frame begins",
                   "leave out --resident " + inputs[sources.front()].name +
                       ", or leave out --stages");
  }
  return std::nullopt;
}

rhizome::Result<loops::UnitOptions>
kernelcommands::unitOptions(const NumberedKernel &kernel,
                            const UnitChoice &choice,
                            const DeviceContext &device) {
  loops::UnitOptions options;
  options.stages = size_t(choice.stages);
  options.words = std::max<int64_t>(1, choice.words);
  options.beatBits /= choice.lanes;
  options.budget = device.budget;
  const loops::KernelParts parts = loops::partsOf(kernel.integers);
  for (const PlannedTensor &tensor : tensorsOf(kernel, parts.outputs))
    options.areUnsigned.push_back(!tensor.format.hasSign());
  std::vector<PlannedTensor> inputs = tensorsOf(kernel, parts.inputs);
  for (const std::string &name : choice.residents) {
    auto it = llvm::find_if(inputs, [&](const PlannedTensor &tensor) {
      return tensor.name == name;
    });
    if (it == inputs.end()) {
      std::string all;
      for (const PlannedTensor &tensor : inputs)
        all += (all.empty() ? "" : ", ") + tensor.name;
      return Failure(Failure::Kind::Usage,
                     "--resident: the kernel reads no '" + name + "'",
                     "choose from " + all);
    }
    options.residents.push_back(size_t(it - inputs.begin()));
  }
  llvm::sort(options.residents);
  options.residents.erase(llvm::unique(options.residents),
                          options.residents.end());
  if (!inputs.empty() && options.residents.size() == inputs.size())
    return Failure(Failure::Kind::Usage,
                   "--resident: no input is left that changes",
                   "leave one out");
  if (auto failure = findUntimed(kernel, parts, options, inputs))
    return *failure;
  return options;
}

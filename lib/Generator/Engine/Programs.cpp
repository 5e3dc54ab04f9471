// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run of operations becomes a function of its own. Programs are kept by what
// that function says, so an exploration that asks again gets the same one.
#include "Programs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Unit/Units.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/xxhash.h"
#include <functional>
#include <list>
#include <map>
#include <mutex>

using namespace mlir;

namespace rhizome::gen {
namespace {
/// A function that does what the region does.
OwningOpRef<ModuleOp> copyOf(const Region &region) {
  MLIRContext *context = region.front()->getContext();
  const Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  const Value in = region.ins().front(), out = region.outs().front();
  auto function = func::FuncOp::create(
      b, loc, "run", b.getFunctionType({in.getType()}, {out.getType()}));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToEnd(body);
  IRMapping mapping;
  mapping.map(in, body->getArgument(0));
  // Constants and reshapes come with their readers.
  std::function<void(Value)> need = [&](Value value) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      need(operand);
    b.clone(*op, mapping);
  };
  for (Operation *op : region.ops())
    need(op->getResult(0));
  func::ReturnOp::create(b, loc, mapping.lookup(out));
  return module;
}

/// A number that functions of other contents hardly ever share.
std::string fingerprintOf(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  function->print(os, OpPrintingFlags().elideLargeElementsAttrs(16));
  auto hashOf = [](ArrayRef<char> bytes) {
    const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(ArrayRef(
        reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
    return std::to_string(hash.high64) + ' ' + std::to_string(hash.low64);
  };
  for (auto constant : function.getOps<osa::ConstantOp>())
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      os << hashOf(dense.getRawData());
    else
      os << ' ' << constant.getValue().getAsOpaquePointer();
  return hashOf(ArrayRef(text.data(), text.size()));
}

/// The most recent answers, for all threads.
template <typename Answer> class Recent {
public:
  template <typename Make> Answer of(const std::string &key, Make make) {
    if (auto found = find(key))
      return *found;
    // Two threads may make the same one; both are equal.
    Answer made = make();
    std::lock_guard<std::mutex> lock(mutex);
    entries.emplace_front(key, made);
    if (entries.size() > kMost)
      entries.pop_back();
    return made;
  }

private:
  std::optional<Answer> find(const std::string &key) {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto it = entries.begin(); it != entries.end(); ++it)
      if (it->first == key) {
        entries.splice(entries.begin(), entries, it);
        return it->second;
      }
    return std::nullopt;
  }
  // Of all cores for a few runs.
  static constexpr size_t kMost = 24;
  std::list<std::pair<std::string, Answer>> entries; ///< the latest first
  std::mutex mutex;
};

/// A value as the engine takes and gives it.
bool isBytes(Value value) {
  auto element = num::elementInt(value.getType());
  return element && element.getHi() - element.getLo() <= 255;
}

/// For each place between operations, whether one tensor of bytes is all that
/// passes it.
std::vector<bool> cutsOf(ArrayRef<Operation *> ops) {
  llvm::DenseMap<Operation *, size_t> numbers;
  for (auto [i, op] : llvm::enumerate(ops))
    numbers[op] = i;
  std::vector<int> passing(ops.size() + 1, 0);
  std::vector<bool> may(ops.size() + 1, true);
  auto lives = [&](Value root, size_t from) {
    size_t last = 0;
    std::function<void(Value)> readers = [&](Value value) {
      for (Operation *user : value.getUsers())
        if (auto at = numbers.find(user); at != numbers.end())
          last = std::max(last, at->second);
        else if (isa<osa::ReshapeOp>(user))
          readers(user->getResult(0));
        else
          last = ops.size();
    };
    readers(root);
    for (size_t i = from; i <= last; ++i) {
      ++passing[i];
      may[i] = may[i] && isBytes(root);
    }
  };
  for (Value argument : ops.front()->getBlock()->getArguments())
    lives(argument, 0);
  for (auto [i, op] : llvm::enumerate(ops))
    for (Value result : op->getResults())
      lives(result, i + 1);
  for (auto [i, count] : llvm::enumerate(passing))
    may[i] = may[i] && count == 1;
  return may;
}

/// Numbers of operations.
struct Runs {
  /// Those of the first one and of the one behind the last.
  std::vector<std::pair<size_t, size_t>> ranges;
  std::map<size_t, std::string> reasons; ///< of what is refused
};

Runs runsOf(ArrayRef<Operation *> ops, const engine::Core &any) {
  Runs runs;
  auto &ranges = runs.ranges;
  for (const engine::EngineRefusal &refusal :
       engine::refusalsFor(ops.front()->getParentOfType<func::FuncOp>(), any))
    if (auto at = llvm::find(ops, refusal.op); at != ops.end())
      runs.reasons.try_emplace(size_t(at - ops.begin()), refusal.reason);
  const std::vector<bool> cuts = cutsOf(ops);
  size_t last = 0;    // the place of the last cut
  bool isGood = true; // what follows it
  for (size_t i = 0; i <= ops.size(); ++i) {
    if (cuts[i]) {
      if (isGood && i > last && cuts[last]) {
        if (!ranges.empty() && ranges.back().second == last)
          ranges.back().second = i;
        else
          ranges.emplace_back(last, i);
      }
      last = i;
      isGood = true;
    }
    isGood = isGood && !runs.reasons.count(i);
  }
  return runs;
}

Runs knownRunsOf(ArrayRef<Operation *> ops, const engine::Core &any) {
  static Recent<Runs> known;
  if (ops.empty() || !isa<func::FuncOp>(ops.front()->getParentOp()))
    return {};
  auto function = cast<func::FuncOp>(ops.front()->getParentOp());
  return known.of(std::to_string(ops.size()) + ' ' + fingerprintOf(function),
                  [&] { return runsOf(ops, any); });
}
} // namespace

std::shared_ptr<const engine::CompiledNetwork>
engineProgram(const Region &region, const engine::Core &core,
              const engine::MemoryTiming &memory) {
  static Recent<std::shared_ptr<const engine::CompiledNetwork>> programs;
  OwningOpRef<ModuleOp> module = copyOf(region);
  auto function = *module->getOps<func::FuncOp>().begin();
  const std::string key =
      std::to_string(core.hash()) + ' ' + std::to_string(memory.latency) + ' ' +
      std::to_string(memory.perBeat) + ' ' + std::to_string(memory.turn) + ' ' +
      fingerprintOf(function);
  return programs.of(key, [&] {
    std::vector<engine::EngineRefusal> refusals;
    engine::CompileOptions options;
    options.memory = memory;
    options.streams = true;
    auto compiled = engine::compileForCore(function, core, refusals, options);
    return compiled ? std::make_shared<const engine::CompiledNetwork>(
                          std::move(*compiled))
                    : nullptr;
  });
}

engine::Core coreOf(const unit::Instance &unit) {
  auto p = unit.as<unit::Engine>();
  engine::Core core;
  core.in = p.In;
  core.out = p.Out;
  core.words = p.Words;
  core.banks = p.Banks;
  core.entries = p.Entries;
  core.sum_bits = p.SumBits;
  core.queue = p.Queue;
  core.depth = p.Waiting;
  core.tokens = p.Tokens;
  core.ports = 1;
  core.port_bits = p.DataWidth;
  return core;
}

std::vector<Region> engineRuns(ArrayRef<Operation *> ops,
                               const engine::Core &any) {
  std::vector<Region> runs;
  for (auto [begin, end] : knownRunsOf(ops, any).ranges) {
    // A run's input has one reader.
    for (; begin < end; ++begin) {
      Region run(ops.slice(begin, end - begin));
      if (run.ins().size() != 1 || run.outs().size() != 1)
        continue;
      if (!run.isSingle())
        runs.push_back(std::move(run));
      break;
    }
  }
  return runs;
}

std::vector<std::pair<Operation *, std::string>>
engineRefusals(ArrayRef<Operation *> ops, const engine::Core &any) {
  llvm::SmallPtrSet<Operation *, 16> inRuns;
  for (const Region &run : engineRuns(ops, any))
    inRuns.insert(run.ops().begin(), run.ops().end());
  const Runs runs = knownRunsOf(ops, any);
  std::vector<std::pair<Operation *, std::string>> refused;
  for (auto [i, op] : llvm::enumerate(ops))
    if (auto reason = runs.reasons.find(i); reason != runs.reasons.end())
      refused.emplace_back(op, "refuses it: " + reason->second);
    else if (!inRuns.contains(op))
      refused.emplace_back(
          op, "finds it in no run of operations with one tensor of at most 8 "
              "bits before and one behind");
  return refused;
}
} // namespace rhizome::gen

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rhizome/Model/Placing.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Solvers/MinimumCut.h"
#include <cmath>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::model;

static int64_t elementsOf(ValueRange values) {
  int64_t n = 0;
  for (Value v : values)
    if (auto type = dyn_cast<RankedTensorType>(v.getType()))
      n += type.getNumElements();
  return n;
}

/// Of a loop nest: how often its body runs, and what that is.
static std::pair<HostWork, int64_t> workOf(linalg::LinalgOp loops) {
  int64_t points = 1;
  for (int64_t size : loops.getStaticLoopRanges())
    points *= std::max<int64_t>(size, 1);
  bool curve = false, product = false;
  loops.getBlock()->walk([&](Operation *op) {
    curve |= isa_and_nonnull<math::MathDialect>(op->getDialect());
    product |= isa<arith::MulFOp, arith::MulIOp>(op);
  });
  if (loops.getNumReductionLoops())
    return {product ? HostWork::Macs : HostWork::Reduced, points};
  return {curve ? HostWork::Curves : HostWork::Elements, points};
}

static std::pair<HostWork, int64_t> workOf(Operation *op) {
  if (auto loops = dyn_cast<linalg::LinalgOp>(op))
    return workOf(loops);
  int64_t results = elementsOf(op->getResults());
  if (!isa_and_nonnull<osa::OsaDialect>(op->getDialect()))
    return {HostWork::Elements, results};
  osa::Work work = osa::computeWork(op);
  if (work.macs)
    return {HostWork::Macs, work.macs};
  if (isa<osa::UnaryOp, osa::SoftmaxOp>(op))
    return {HostWork::Curves, results};
  if (isa<osa::MaxPoolOp, osa::AvgPoolOp, osa::ArgMaxOp>(op))
    return {HostWork::Reduced, std::max(work.ops, results)};
  return {HostWork::Elements, results};
}

/// What takes no time: constants and shapes.
static bool isFree(Operation *op) {
  return isa<osa::ConstantOp, osa::ReshapeOp, arith::ConstantOp,
             tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
             op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

double model::hostUs(const Host &host, Operation *op) {
  if (isFree(op))
    return 0;
  if (auto loop = dyn_cast<scf::ForOp>(op)) { // one call, whatever its trips
    double us = host.callUs;
    auto trips = loop.getStaticTripCount();
    for (Operation &inner : loop.getBody()->without_terminator())
      us += std::max(0.0, hostUs(host, &inner) - host.callUs) *
            (trips ? trips->roundToDouble(false) : 1);
    return us;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) { // trips unknown: one of them
    double us = host.callUs;
    for (Operation &inner : loop.getAfterBody()->without_terminator())
      us += std::max(0.0, hostUs(host, &inner) - host.callUs);
    return us;
  }
  auto [work, count] = workOf(op);
  return host.callUs + double(count) * 1e6 / host.perS(work);
}

double model::copyUs(const Medium &medium, int64_t bytes) {
  int64_t pieces = (bytes + medium.mtuBytes - 1) / medium.mtuBytes;
  return double(medium.latencyNs) * 1e-3 +
         double(bytes + pieces * medium.overheadBytes) * 8e6 / medium.bitsPerS;
}

static place::Cost picoseconds(double us) {
  return place::Cost(std::llround(us * 1e6));
}

Placer model::placerFor(const Host &host) {
  return [&host](const std::vector<PlaceableOp> &ops) {
    place::Problem problem;
    const double latency = double(host.link.latencyNs) * 1e-3;
    // Per region: what may come to it and go from it together.
    std::map<unsigned, place::Copy> into, outOf;
    for (auto [i, op] : llvm::enumerate(ops)) {
      // What quantizes and dequantizes does so at the border in either place.
      place::Node node{isIdle(op.op) ? 0 : picoseconds(hostUs(host, op.op))};
      if (!(op.onHost && op.onFpga))
        node.only = op.onHost ? place::Side::Host : place::Side::Fpga;
      problem.nodes.push_back(node);
      if (op.readers.empty())
        continue;
      place::Cost bytes = picoseconds(copyUs(host.link, op.bytes) - latency);
      problem.copies.push_back({{unsigned(i)}, op.readers, bytes, bytes});
      for (unsigned reader : op.readers) {
        if (!op.quantizes)
          problem.needs.push_back({reader, unsigned(i)});
        if (ops[reader].onFpga) {
          into[ops[reader].region].from.push_back(unsigned(i));
          into[ops[reader].region].to.push_back(reader);
        }
        if (op.onFpga) {
          outOf[op.region].from.push_back(unsigned(i));
          outOf[op.region].to.push_back(reader);
        }
      }
    }
    for (auto &[region, copy] : into) {
      copy.toFpga = picoseconds(latency);
      problem.copies.push_back(std::move(copy));
    }
    for (auto &[region, copy] : outOf) {
      copy.toHost = picoseconds(latency);
      problem.copies.push_back(std::move(copy));
    }
    std::optional<place::Sides> sides = place::cheapest(problem);
    std::vector<flow::Place> places;
    for (auto [i, op] : llvm::enumerate(ops)) {
      bool onFpga = sides ? (*sides)[i] == place::Side::Fpga : op.onFpga;
      places.push_back(onFpga ? flow::Place::Fpga : flow::Place::Host);
    }
    return places;
  };
}

static int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  num::IntType codes = num::elementInt(type);
  int64_t bits = codes
                     ? codes.getWidth()
                     : int64_t(tensor.getElementType().getIntOrFloatBitWidth());
  return (tensor.getNumElements() * bits + 7) / 8;
}

static PlannedCopy copyOf(const Host &host, StringRef task, bool toFpga,
                          std::vector<std::string> tensors, TypeRange types) {
  PlannedCopy copy{task.str(), toFpga, std::move(tensors)};
  for (Type type : types)
    copy.bytes += bytesOf(type);
  copy.us = copyUs(host.link, copy.bytes);
  return copy;
}

/// A state as the plan has it.
static PlannedState planned(ModuleOp module, flow::StateAttr state) {
  PlannedState entry{state.getName().str(), state.getNext().str(),
                     bytesOf(state.getInitial().getType()), state.isOnFpga(),
                     state.getWhy().str()};
  for (FunctionOpInterface task : flow::tasksOf(module))
    for (const flow::Kept &one : flow::keptBy(task))
      if (one.state == state) {
        entry.name = state.getOf().str();
        if (auto name =
                task.getResultAttrOfType<StringAttr>(one.result, marks::kName))
          entry.next = name.str();
        entry.bytes = bytesOf(task.getArgumentTypes()[one.argument]);
      }
  return entry;
}

PlannedTasks model::tasksOf(ModuleOp module, const Host &host) {
  PlannedTasks result;
  result.host = host.name;
  result.link = host.link.name;
  for (FunctionOpInterface task : flow::tasksOf(module)) {
    PlannedTask entry;
    entry.name = task.getName().str();
    entry.onFpga = flow::placeOf(task) == flow::Place::Fpga;
    entry.takes = flow::takenBy(task);
    entry.gives = flow::givenBy(task);
    for (Operation &op : task.getFunctionBody().front()) {
      entry.operations += !isFree(&op);
      entry.hostUs += entry.onFpga ? 0 : hostUs(host, &op);
    }
    // What the FPGA keeps does not move.
    entry.takes.resize(flow::portsOf(task, false));
    entry.gives.resize(flow::portsOf(task, true));
    if (entry.onFpga) {
      result.copies.push_back(
          copyOf(host, entry.name, true, entry.takes,
                 task.getArgumentTypes().take_front(entry.takes.size())));
      result.copies.push_back(
          copyOf(host, entry.name, false, entry.gives,
                 task.getResultTypes().take_front(entry.gives.size())));
    }
    result.tasks.push_back(std::move(entry));
  }
  for (flow::StateAttr state : flow::statesOf(module))
    result.states.push_back(planned(module, state));
  return result;
}

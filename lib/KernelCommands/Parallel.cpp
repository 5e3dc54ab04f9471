// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of a kernel's nests for a goal, or as a user wants them.
#include "HardwareParts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "rhizome/Dialect/Num/Num.h"
#include "rhizome/Generator/Loops/Choose.h"
#include "rhizome/Units/Circuit.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
namespace loops = rhizome::gen::loops;

std::optional<NestCopies> kernelcommands::parseCopies(llvm::StringRef text) {
  NestCopies out;
  auto [nest, copies] = text.split('=');
  out.nest = nest.str();
  llvm::SmallVector<llvm::StringRef> parts;
  copies.split(parts, 'x');
  for (llvm::StringRef part : parts) {
    int64_t n = 0;
    if (part.getAsInteger(10, n) || n < 1)
      return std::nullopt;
    out.copies.push_back(n);
  }
  if (nest.empty())
    return std::nullopt;
  return out;
}

std::string kernelcommands::textOf(const NestCopies &copies) {
  std::string text = copies.nest;
  for (auto [i, n] : llvm::enumerate(copies.copies))
    text += (i ? "x" : "=") + std::to_string(n);
  return text;
}

/// True if the terms of a nest's sum may be added in another order.
static bool mayReorder(linalg::GenericOp nest, const KernelOptions &options) {
  if (!isSum(nest))
    return false;
  auto format = num::formatOf(getElementTypeOrSelf(nest.getResult(0)));
  const bool isExact = format && format->isFixed() && !options.numbers.saturate;
  return isExact || !options.keepOrder;
}

llvm::SmallVector<unsigned> kernelcommands::loopsOf(linalg::GenericOp nest) {
  SmallVector<unsigned> loops;
  AffineMap out = nest.getMatchingIndexingMap(nest.getDpsInitOperand(0));
  for (AffineExpr index : out.getResults())
    loops.push_back(cast<AffineDimExpr>(index).getPosition());
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (!out.isFunctionOfDim(loop))
      loops.push_back(loop);
  return loops;
}

/// Why a nest cannot have these copies, and what it can have: one number for
/// each loop, at most its iterations. Nothing if that is so.
static std::optional<Failure> misfit(linalg::GenericOp nest,
                                     const NestCopies &copies) {
  SmallVector<int64_t> sizes = nest.getStaticLoopRanges(), loops;
  for (unsigned loop : loopsOf(nest))
    loops.push_back(sizes[loop]);
  if (copies.copies.size() == loops.size() &&
      llvm::all_of(llvm::zip_equal(copies.copies, loops), [](auto pair) {
        return std::get<0>(pair) <= std::get<1>(pair);
      }))
    return std::nullopt;
  // A divisor is possible whatever the other nests have.
  std::string such, list;
  for (int64_t size : loops) {
    int64_t divisor = 2;
    while (divisor < size && size % divisor)
      ++divisor;
    such += (such.empty() ? copies.nest + "=" : "x") +
            (such.empty() ? std::to_string(std::min(divisor, size)) : "1");
    list += (list.empty() ? "" : ", ") + std::to_string(size);
  }
  std::string given;
  for (int64_t n : copies.copies)
    given += (given.empty() ? "" : "x") + std::to_string(n);
  return Failure(Failure::Kind::Usage,
                 "--copies: the nest '" + copies.nest +
                     "' has loops with the iterations " + list +
                     ", which cannot have the copies " + given,
                 loops.empty() ? "leave --copies out"
                               : "give a number for each loop, at most its "
                                 "iterations, such as '" +
                                     such + "'");
}

Failure kernelcommands::noCopies(bool hasGoal) {
  if (!hasGoal)
    return Failure(Failure::Kind::Infeasible,
                   "the copies of --copies cannot be built together on the "
                   "device",
                   "take fewer: terms divide a sum, and copies along one "
                   "dimension of a tensor divide each other; or leave "
                   "--copies out");
  return Failure(Failure::Kind::Infeasible,
                 "no copies of this kernel's nests reach the goal on the "
                 "device",
                 "lower the goal; a loop has at most as many copies as "
                 "iterations, terms divide a sum, and copies along one "
                 "dimension of a tensor divide each other");
}

Result<std::vector<ParallelKernel>> kernelcommands::parallelize(
    const HardwareRequest &request, const NumberedKernel &kernel,
    const explore::Goal *goal, const gen::DeviceContext &device,
    const gen::Resources &most, int64_t words) {
  const bool isServed =
      goal &&
      (goal->kind != explore::Goal::Kind::MinResources || goal->isBounded());
  if (!isServed && request.copies.empty())
    return std::vector<ParallelKernel>{{request.options, {}}};
  kernel.formats.inContext()->loadDialect<rtl::RtlDialect>();
  auto formats = matchingFormats(kernel);
  gen::loops::KernelParts parts = gen::loops::partsOf(kernel.integers);
  std::vector<unsigned> numbers; ///< of the nests that are sums, among all sums
  llvm::DenseMap<Operation *, unsigned> sums;
  func::FuncOp inFormats = kernel.formats.func;
  inFormats.walk([&](linalg::GenericOp op) {
    if (isSum(op))
      sums.try_emplace(op, unsigned(sums.size()));
  });
  std::vector<loops::OpenNest> nests;
  std::vector<bool> isUsed(request.copies.size());
  int64_t border = 0;
  for (auto tensors : {&parts.inputs, &parts.outputs})
    for (Value v : *tensors)
      border +=
          llvm::divideCeil(cast<RankedTensorType>(v.getType()).getNumElements(),
                           words) +
          1;
  for (auto [op, name] : llvm::zip_equal(parts.nests, namesOf(parts.nests))) {
    auto same = cast<linalg::GenericOp>(formats.at(op));
    numbers.push_back(sums.lookup(same));
    loops::OpenNest &nest = nests.emplace_back();
    nest.op = op;
    nest.maySplit = mayReorder(same, request.options);
    if (!isServed)
      nest.factors.assign(op.getNumLoops(), 1);
    // All of a variable, or one.
    for (auto [i, copies] : llvm::enumerate(request.copies))
      if (copies.nest == nameOf(*op) || copies.nest == name ||
          copies.nest == std::to_string(nests.size())) {
        if (auto why = misfit(op, copies))
          return *why;
        nest.factors = copies.copies;
        isUsed[i] = true;
      }
  }
  for (auto [copies, used] : llvm::zip_equal(request.copies, isUsed))
    if (!used)
      return Failure(Failure::Kind::Usage,
                     "the kernel has no nest '" + copies.nest + "'",
                     "explore lists them: their names, or numbers from 1");
  loops::ParallelLimits limits;
  // Copies that a user wants are refused when they are built.
  limits.most = most;
  if (!isServed)
    for (size_t k = 0; k < gen::kResourceNames.size(); ++k)
      limits.most.amount[k] = gen::available(device.budget, k);
  if (goal && goal->isBounded()) {
    double seconds = goal->mostSeconds();
    if (goal->latency > 0)
      seconds = std::min(seconds, goal->latency);
    limits.cycles =
        std::max<int64_t>(1, int64_t(seconds * device.clockMhz * 1e6) - border);
  }
  constexpr size_t kTries = 12;
  std::vector<ParallelKernel> out;
  auto choose = [&] {
    return loops::chooseCopies(nests, limits, gen::paceFor(device), device.cost,
                               kTries);
  };
  std::vector<loops::ParallelChoice> choices = choose();
  // Where much is allowed, the fastest ways crowd out those that can be built:
  // what fewer resources reach is looked at, too.
  constexpr double kShares[] = {0.5, 0.25};
  constexpr size_t kOfAShare = 3;
  if (isServed && limits.cycles == 0) {
    const gen::Resources all = limits.most;
    std::vector<loops::ParallelChoice> others;
    for (double share : kShares) {
      for (size_t k = 0; k < all.amount.size(); ++k)
        limits.most.amount[k] = share * all.amount[k];
      size_t left = kOfAShare;
      for (loops::ParallelChoice &choice : choose())
        if (left > 0 && !llvm::is_contained(choices, choice) &&
            !llvm::is_contained(others, choice)) {
          others.push_back(std::move(choice));
          --left;
        }
    }
    limits.most = all;
    choices.resize(std::min(choices.size(), kTries - others.size()));
    llvm::append_range(choices, others);
    llvm::stable_sort(choices, [](const auto &x, const auto &y) {
      return x.cycles < y.cycles;
    });
  }
  if (choices.empty() && limits.most.uram() > 0) {
    limits.inUltra = true;
    choices = choose();
  }
  for (loops::ParallelChoice &choice : choices) {
    ParallelKernel &way = out.emplace_back();
    way.options = request.options;
    way.nests = std::move(choice.nests);
    for (size_t n = 0; n < nests.size(); ++n)
      for (auto [loop, terms] : llvm::enumerate(choice.terms[n]))
        if (terms > 1)
          way.options.sums.push_back({numbers[n], unsigned(loop), terms});
  }
  // What fits without copies is never refused for its copies.
  if (isServed && request.copies.empty())
    out.push_back({request.options, {}});
  if (out.empty())
    return noCopies(isServed);
  return out;
}

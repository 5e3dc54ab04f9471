// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What was decided about a kernel's unit, as a plan keeps it: written from the
// unit that was built, and read back for one that is built again.
#include "HardwareParts.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::kernelcommands;
using namespace rhizome::gen;

UnitChoice kernelcommands::choiceOf(const UnitChoice &asked,
                                    const ParallelKernel &way,
                                    const loops::KernelUnit &unit) {
  UnitChoice out = asked;
  out.words = unit.words;
  out.borders.clear();
  for (const auto &tensors : {unit.inputs, unit.outputs})
    for (Value v : tensors)
      out.borders.push_back(unit.widthOf(v));
  std::vector<linalg::GenericOp> nests;
  for (const loops::Nest &nest : unit.nests)
    nests.push_back(nest.op);
  const std::vector<std::string> names = namesOf(nests);
  out.nests.clear();
  for (auto [n, nest] : llvm::enumerate(way.nests))
    out.nests.push_back({names[n],
                         {nest.order.begin(), nest.order.end()},
                         nest.copies,
                         int64_t(nest.datapath)});
  out.sums.clear();
  for (const SumChoice &sum : way.options.sums)
    out.sums.push_back({int64_t(sum.sum), int64_t(sum.loop), sum.terms});
  return out;
}

std::vector<SumChoice> kernelcommands::sumsOf(const UnitChoice &choice) {
  std::vector<SumChoice> out;
  for (const ChosenSum &sum : choice.sums)
    out.push_back({unsigned(sum.sum), unsigned(sum.loop), sum.terms});
  return out;
}

ParallelKernel kernelcommands::wayOf(KernelOptions options,
                                     const UnitChoice &choice) {
  ParallelKernel way{std::move(options), {}};
  way.options.sums = sumsOf(choice);
  for (const ChosenNest &nest : choice.nests)
    way.nests.push_back({{nest.order.begin(), nest.order.end()},
                         nest.copies,
                         unsigned(nest.datapath)});
  return way;
}

/// "'u' [64, 64], 'a' []".
static std::string listOf(ArrayRef<PlannedTensor> tensors) {
  std::string list;
  for (const PlannedTensor &tensor : tensors) {
    list += (list.empty() ? "'" : ", '") + tensor.name + "' [";
    for (auto [i, size] : llvm::enumerate(tensor.shape))
      list += (i ? ", " : "") + std::to_string(size);
    list += "]";
  }
  return list;
}

/// Why tensors are not those of a plan, and what to do about it.
static std::optional<std::pair<std::string, std::string>>
findOther(ArrayRef<PlannedTensor> tensors, ArrayRef<PlannedTensor> planned) {
  const std::string own = listOf(tensors), its = listOf(planned);
  if (own != its)
    return std::pair("is of a kernel with " + its + "; this one has " + own,
                     std::string("give the kernel that it was made of"));
  for (auto [tensor, of] : llvm::zip_equal(tensors, planned))
    if (tensor.format != of.format)
      return std::pair("has '" + of.name + "' in " + of.format.str() +
                           ", and in this kernel it is in " +
                           tensor.format.str(),
                       "give --numbers '" + of.format.str() +
                           "', or as the kernel was compiled");
  return std::nullopt;
}

std::optional<Failure> kernelcommands::whyNotFor(const Plan &plan,
                                                 const std::string &path,
                                                 const NumberedKernel &kernel,
                                                 const std::string &device) {
  auto refuse = [&](const std::string &reason, const std::string &remedy) {
    return Failure(Failure::Kind::Input, "--plan: '" + path + "' " + reason,
                   remedy);
  };
  const char *another = "give a plan of this kernel, or leave --plan out";
  if (!plan.kernel)
    return refuse("is the plan of a network, '" + plan.model + "'", another);
  if (plan.kernel->name != kernel.signature.name)
    return refuse("is the plan of the kernel '" + plan.kernel->name +
                      "', not of '" + kernel.signature.name + "'",
                  another);
  const std::string &planned = plan.nodes[0].device;
  if (planned != device)
    return refuse("is a plan for " + planned + ", not for " + device,
                  "give --device " + planned);
  const loops::KernelParts parts = loops::partsOf(kernel.integers);
  for (auto [values, tensors] :
       {std::pair(&parts.inputs, &plan.kernel->inputs),
        std::pair(&parts.outputs, &plan.kernel->outputs)})
    if (auto other = findOther(tensorsOf(kernel, *values), *tensors))
      return refuse(other->first, other->second);
  const UnitChoice &choice = plan.kernel->choice;
  if (!choice.nests.empty() && choice.nests.size() != parts.nests.size())
    return refuse("chooses for " + std::to_string(choice.nests.size()) +
                      " loop nests, and this kernel has " +
                      std::to_string(parts.nests.size()),
                  "give the kernel and the options that it was made of");
  return std::nullopt;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over the sorted graph, from its inputs to its outputs.
#include "Walk.h"
#include "Border.h"
#include "Placement.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "rhizome/Dialect/Marks/Marks.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;

static void verifyModule(ModuleOp module, Refusals &refusals) {
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        refusals.push_back(
            {osa::nodeName(diagnostic.getLocation()), "",
             "the imported operation is not valid: " + diagnostic.str(),
             "report this model as a bug of the importer"});
        return success();
      });
  (void)mlir::verify(module);
}

/// For each node, the tensors that no later node reads. Operands of expanded
/// operations are kept: the originals may be tried.
static std::vector<std::vector<StringRef>> lastReads(const Graph &graph) {
  llvm::StringMap<size_t> last;
  for (auto [i, node] : llvm::enumerate(graph.nodes))
    for (const std::string &name : node.proto.input())
      last[name] = i;
  for (const auto &entry : graph.expanded)
    for (const std::string &name : entry.second.input())
      last.erase(name);
  for (const onnx::ValueInfoProto &output : graph.model.graph().output())
    last.erase(output.name());
  std::vector<std::vector<StringRef>> of(graph.nodes.size());
  for (auto [i, node] : llvm::enumerate(graph.nodes))
    for (const std::string &name : node.proto.input())
      if (auto it = last.find(name); it != last.end() && it->second == i)
        of[i].push_back(name);
  return of;
}

OwningOpRef<ModuleOp>
importer::importGraph(MLIRContext *context, const Graph &graph,
                      StringRef directory, const ImportOptions &options,
                      Refusals &refusals, bool &needsExactIntegers) {
  context->loadDialect<marks::MarksDialect, num::NumDialect, osa::OsaDialect,
                       func::FuncDialect, arith::ArithDialect,
                       linalg::LinalgDialect, math::MathDialect,
                       scf::SCFDialect, tensor::TensorDialect>();
  const size_t before = refusals.size();
  ImportState state(context, graph, directory, options, refusals);
  state.integersOnHost = options.integersOnHost;
  OpBuilder &builder = state.builder;
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  const std::string &name = graph.model.graph().name();
  Place whole(state, name.empty() ? "main" : name, "");
  state.function = func::FuncOp::create(builder, whole.loc, "main",
                                        builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(state.function.addEntryBlock());
  std::vector<Argument> arguments = declareInputs(state);
  // Decoded weights are many times larger than in the file.
  std::vector<std::vector<StringRef>> dead = lastReads(graph);
  for (size_t i = 0; i < graph.nodes.size();)
    for (size_t next = importExpansion(state, i); i < next; ++i)
      for (StringRef name : std::exchange(dead[i], {}))
        state.tensors.erase(name);
  returnOutputs(state, arguments);
  needsExactIntegers = state.needsExactIntegers;
  if (refusals.size() == before)
    verifyModule(*module, refusals);
  return module;
}

void importer::judgeOperations(MLIRContext *context, const Graph &graph,
                               const ImportOptions &options,
                               Refusals &refusals) {
  ImportState state(context, graph, "", options, refusals);
  for (const Node &n : graph.nodes) {
    Place place(state, n.name, n.writtenOp());
    isSupported(place, n, findOperation(n), Sides::NetworkOrHost);
    llvm::append_range(refusals, place.refusals);
  }
}

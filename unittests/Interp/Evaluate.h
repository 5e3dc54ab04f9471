// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test help: a function in MLIR text, evaluated on given tensors.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"
#include <gtest/gtest.h>

namespace rhizome::test {
/// Parses `text` and evaluates its first function; diagnostics are stored in
/// `message`.
class Evaluate : public ::testing::Test {
protected:
  Evaluate() {
    mlir::DialectRegistry registry;
    registry
        .insert<mlir::func::FuncDialect, num::NumDialect, osa::OsaDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.allowUnregisteredDialects();
    context.getDiagEngine().registerHandler(
        [this](mlir::Diagnostic &d) { message += d.str(); });
  }

  std::optional<std::vector<Tensor>> run(const std::string &text,
                                         std::vector<Tensor> inputs,
                                         ProbeFn probe = nullptr) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return std::nullopt;
    auto out =
        interpret(*module->getOps<mlir::func::FuncOp>().begin(), inputs, probe);
    if (failed(out))
      return std::nullopt;
    return *out;
  }

  /// The only result's integers, or the failure's message.
  std::vector<int64_t> ints(const std::string &text,
                            std::vector<Tensor> inputs) {
    auto out = run(text, std::move(inputs));
    EXPECT_TRUE(out) << message;
    return out ? out->at(0).ints : std::vector<int64_t>();
  }
  std::vector<float> floats(const std::string &text,
                            std::vector<Tensor> inputs) {
    auto out = run(text, std::move(inputs));
    EXPECT_TRUE(out) << message;
    return out ? out->at(0).floats : std::vector<float>();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string message;
};

/// 0, 1, 2 … as a tensor.
inline Tensor iota(std::vector<int64_t> shape, int64_t first = 0) {
  Tensor t = Tensor::ofInts(std::move(shape), {});
  for (int64_t i = 0, n = t.size(); i < n; ++i)
    t.ints.push_back(first + i);
  return t;
}
} // namespace rhizome::test

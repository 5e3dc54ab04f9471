// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects of functions: several in one file, including constants, and no byte
// read or written outside of the caller's arrays, which end at the end of a
// page before an inaccessible one.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "rhizome/Cpu/Function.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Interp/Interpreter.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <cmath>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace rhizome;

namespace {
/// Bytes directly before a page without access.
class Guarded {
public:
  explicit Guarded(size_t bytes)
      : page(size_t(sysconf(_SC_PAGESIZE))),
        whole(llvm::alignTo(bytes, page) + page) {
    base = static_cast<char *>(mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base + whole - page, page, PROT_NONE);
    data = base + whole - page - bytes;
  }
  Guarded(const Guarded &) = delete;
  ~Guarded() { munmap(base, whole); }
  char *data;

private:
  size_t page, whole;
  char *base;
};

class ObjectTest : public ::testing::Test {
protected:
  ObjectTest() {
    context.loadDialect<func::FuncDialect, num::NumDialect, osa::OsaDialect,
                        arith::ArithDialect, linalg::LinalgDialect,
                        math::MathDialect, tensor::TensorDialect>();
  }
  void compile(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    for (auto func : module->getOps<func::FuncOp>())
      functions.push_back(func);
    auto object = compileFunctions(functions, "native");
    ASSERT_TRUE(succeeded(object));
    jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    llvm::cantFail(jit->addObjectFile(
        llvm::MemoryBuffer::getMemBufferCopy(*object, "functions")));
  }
  /// Runs a function of floats on arrays that end at a page's end, and
  /// compares with the interpreter.
  void check(size_t number, float tolerance) {
    func::FuncOp func = functions[number];
    std::vector<Tensor> in;
    std::vector<std::unique_ptr<Guarded>> arrays;
    std::vector<void *> table;
    unsigned state = 1;
    for (Type type : func.getArgumentTypes()) {
      Tensor &t = in.emplace_back();
      t.isFloat = true;
      t.shape = cast<RankedTensorType>(type).getShape().vec();
      for (int64_t i = 0; i < t.size(); ++i) {
        state = state * 1664525u + 1013904223u;
        t.floats.push_back(float(state >> 16) / 32768.f - 1);
      }
      arrays.push_back(std::make_unique<Guarded>(t.floats.size() * 4));
      memcpy(arrays.back()->data, t.floats.data(), t.floats.size() * 4);
      table.push_back(arrays.back()->data);
    }
    auto expected = interpret(func, in);
    ASSERT_TRUE(succeeded(expected));
    for (const Tensor &t : *expected) {
      arrays.push_back(std::make_unique<Guarded>(t.floats.size() * 4));
      table.push_back(arrays.back()->data);
    }
    auto *code = llvm::cantFail(jit->lookup(func.getSymName()))
                     .toPtr<void (*)(void **)>();
    code(table.data());
    for (size_t r = 0; r < expected->size(); ++r)
      for (size_t i = 0; i < (*expected)[r].floats.size(); ++i) {
        float got;
        memcpy(&got, static_cast<char *>(table[in.size() + r]) + 4 * i, 4);
        ASSERT_NEAR(got, (*expected)[r].floats[i], tolerance)
            << "element " << i << " of result " << r;
      }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<func::FuncOp> functions;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};
} // namespace

TEST_F(ObjectTest, SeveralFunctionsWithTheirConstants) {
  compile(R"(
    func.func @first(%x: tensor<3x5xf32>) -> tensor<3x2xf32> {
      %w = osa.constant {value = dense<[[1.0, 2.0, 3.0, 4.0, 5.0],
        [-1.0, 0.5, 0.25, 0.125, 0.0625]]> : tensor<2x5xf32>} : () -> tensor<2x5xf32>
      %y = osa.dense %x, %w : (tensor<3x5xf32>, tensor<2x5xf32>) -> tensor<3x2xf32>
      return %y : tensor<3x2xf32>
    }
    func.func @second(%x: tensor<7x33xf32>, %y: tensor<7x33xf32>) -> (tensor<7x33xf32>, tensor<7x33xf32>) {
      %s = osa.add %x, %y : (tensor<7x33xf32>, tensor<7x33xf32>) -> tensor<7x33xf32>
      %r = osa.relu %s : (tensor<7x33xf32>) -> tensor<7x33xf32>
      return %s, %r : tensor<7x33xf32>, tensor<7x33xf32>
    })");
  check(0, 1e-5f);
  check(1, 1e-6f);
}

/// Rows of every length: whole vectors, remainders, less than one vector.
TEST_F(ObjectTest, NothingOutsideOfTheArrays) {
  std::string text;
  std::vector<int> sizes = {1, 2, 3, 5, 8, 15, 16, 17, 31, 50, 67, 130};
  for (int n : sizes) {
    std::string s = std::to_string(n), t = "tensor<3x" + s + "xf32>";
    text += "func.func @softmax" + s + "(%x: " + t + ") -> " + t +
            " {\n  %y = osa.softmax %x {axis = 1 : i64} : (" + t + ") -> " + t +
            "\n  return %y : " + t + "\n}\n";
    std::string c = "tensor<1x" + s + "x4x" + s + "xf32>",
                w = "tensor<" + s + "x3x3x" + s + "xf32>";
    if (n < 40)
      text +=
          "func.func @conv" + s + "(%x: " + c + ", %w: " + w + ") -> " + c +
          " {\n  %y = osa.conv2d %x, %w {strides = array<i64: 1, 1>, "
          "pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (" +
          c + ", " + w + ") -> " + c + "\n  return %y : " + c + "\n}\n";
  }
  compile(text);
  for (size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(functions[i].getSymName().str());
    check(i, 1e-4f);
  }
}

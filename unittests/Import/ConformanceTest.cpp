// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's own node cases (Debian's libonnx-testdata, or another folder of the
// same form) on the CPU path: each computes the expected results, or a table
// gives the reason. A case's inputs are the function's; if one must be known at
// compile time (a shape, an axis, a number of elements), those after the first
// are made constant, as they are in a network, and if necessary the first, too.
#include "ModelBuilder.h"
#include "NodeCases.h"
#include "rhizome/Cpu/Function.h"
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>

using namespace rhizome;
using namespace rhizome::test;
using onnx::TensorProto;

namespace {
/// Minimum number of passing cases; raised when more pass.
constexpr int kLeastPassed = 550;

/// A tensor's values, integers exactly.
struct Values {
  bool isReal = true;
  double within = 1e-3; ///< tolerance of a real
  std::vector<double> reals;
  std::vector<int64_t> ints;
  size_t size() const { return isReal ? reals.size() : ints.size(); }
};

/// nullopt for strings and other types without numbers.
std::optional<Values> valuesOf(const TensorProto &t) {
  Values values;
  const std::string &raw = t.raw_data();
  auto read = [&](auto zero, const auto &list) {
    using T = decltype(zero);
    values.isReal = std::is_floating_point_v<T>;
    auto put = [&](T v) {
      values.isReal ? values.reals.push_back(double(v))
                    : values.ints.push_back(int64_t(v));
    };
    for (size_t i = 0; i + sizeof(T) <= raw.size(); i += sizeof(T)) {
      std::memcpy(&zero, raw.data() + i, sizeof(T));
      put(zero);
    }
    for (auto v : list)
      put(T(v));
  };
  auto half = [&](const llvm::fltSemantics &semantics) {
    // Results of several operations may differ by a few of the type's steps.
    values.within = &semantics == &llvm::APFloat::BFloat() ? 0x1p-6 : 0x1p-9;
    std::vector<uint16_t> bits;
    for (size_t i = 0; i + 2 <= raw.size(); i += 2) {
      uint16_t v;
      std::memcpy(&v, raw.data() + i, 2);
      bits.push_back(v);
    }
    for (int32_t v : t.int32_data())
      bits.push_back(uint16_t(v));
    for (uint16_t v : bits) {
      llvm::APFloat f(semantics, llvm::APInt(16, v));
      bool lost;
      f.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &lost);
      values.reals.push_back(f.convertToDouble());
    }
  };
  constexpr int kUint4 = 21, kInt4 = 22;
  auto nibbles = [&](bool isSigned) {
    values.isReal = false;
    int64_t count = 1;
    for (int64_t size : t.dims())
      count *= size;
    for (int64_t i = 0; i < count; ++i) {
      uint8_t byte = raw.empty() ? uint8_t(t.int32_data(int(i / 2)))
                                 : uint8_t(raw[size_t(i / 2)]);
      int64_t v = i % 2 ? byte >> 4 : byte & 15;
      values.ints.push_back(isSigned && v > 7 ? v - 16 : v);
    }
  };
  switch (int(t.data_type())) {
  case TensorProto::FLOAT:
    read(float(), t.float_data());
    break;
  case TensorProto::DOUBLE:
    read(double(), t.double_data());
    break;
  case TensorProto::FLOAT16:
    half(llvm::APFloat::IEEEhalf());
    break;
  case TensorProto::BFLOAT16:
    half(llvm::APFloat::BFloat());
    break;
  case TensorProto::BOOL:
  case TensorProto::UINT8:
    read(uint8_t(), t.int32_data());
    break;
  case TensorProto::INT8:
    read(int8_t(), t.int32_data());
    break;
  case TensorProto::UINT16:
    read(uint16_t(), t.int32_data());
    break;
  case TensorProto::INT16:
    read(int16_t(), t.int32_data());
    break;
  case TensorProto::INT32:
    read(int32_t(), t.int32_data());
    break;
  case TensorProto::UINT32:
    read(uint32_t(), t.uint64_data());
    break;
  case TensorProto::INT64:
    read(int64_t(), t.int64_data());
    break;
  case TensorProto::UINT64:
    read(uint64_t(), t.uint64_data());
    break;
  case kUint4:
    nibbles(false);
    break;
  case kInt4:
    nibbles(true);
    break;
  default:
    return std::nullopt;
  }
  return values;
}

/// The difference between a result and a case's expectation; "" if there is
/// none. Integers are compared exactly, even if we represent them as reals.
std::string difference(const Tensor &got, const Values &expected) {
  if (int64_t(expected.size()) != got.size())
    return "another number of elements";
  auto differs = [](size_t n, auto g, auto e) {
    return "element " + std::to_string(n) + " is " + std::to_string(g) +
           ", expected " + std::to_string(e);
  };
  for (size_t n = 0; n < expected.size(); ++n) {
    if (!expected.isReal && !got.isFloat) {
      if (got.ints[n] != expected.ints[n])
        return differs(n, got.ints[n], expected.ints[n]);
      continue;
    }
    double g = got.isFloat ? double(got.floats[n]) : double(got.ints[n]);
    double e = expected.isReal ? expected.reals[n] : double(expected.ints[n]);
    bool same = g == e || (std::isnan(g) && std::isnan(e));
    if (!same && (!expected.isReal ||
                  !(std::abs(g - e) <= 1e-5 + expected.within * std::abs(e))))
      return differs(n, g, e);
  }
  return "";
}

/// One case, with its inputs from `firstConstant` on made constant. Returns the
/// error, or "" if it passed. `wasRefused` tells that the import refused it.
std::string runCase(const std::string &folder, size_t firstConstant,
                    bool &wasRefused) {
  wasRefused = false;
  auto model = readNodeCase(folder, firstConstant);
  if (!model)
    return "the case cannot be read";
  const onnx::GraphProto &graph = model->graph();
  std::map<std::string, Values> given;
  for (int i = 0; i < graph.input_size(); ++i) {
    auto tensor = readMessage<TensorProto>(dataOfNodeCase(folder, true, i));
    if (auto values = tensor ? valuesOf(*tensor) : std::nullopt)
      given[graph.input(i).name()] = *values;
  }
  Imported i(model->SerializeAsString());
  EXPECT_NE(bool(i.module), !i.refusals.empty()) << folder;
  if (!i.module) {
    wasRefused = true;
    const Refusal &first = i.refusals.front();
    return first.op + ": " + first.reason;
  }
  std::string said;
  mlir::ScopedDiagnosticHandler handler(
      &i.context, [&](mlir::Diagnostic &d) { said += d.str(); });
  std::vector<Tensor> inputs;
  mlir::func::FuncOp main = i.main();
  for (auto [k, type] : llvm::enumerate(main.getArgumentTypes())) {
    auto tensor = llvm::cast<mlir::RankedTensorType>(type);
    auto name = main.getArgAttrOfType<mlir::StringAttr>(k, "rhizome.name");
    const Values &values = given[name.str()];
    bool isReal = tensor.getElementType().isF32();
    std::vector<float> reals(values.reals.begin(), values.reals.end());
    if (isReal && !values.isReal)
      reals.assign(values.ints.begin(), values.ints.end());
    inputs.push_back(isReal ? Tensor::ofFloats(tensor.getShape(), reals)
                            : Tensor::ofInts(tensor.getShape(), values.ints));
  }
  auto compiled = CompiledFunction::compile(main);
  if (failed(compiled))
    return "not compiled: " + said;
  auto out = (*compiled)->run(inputs);
  if (!out)
    return "not run: " + llvm::toString(out.takeError());
  if (out->size() != size_t(graph.output_size()))
    return "another number of outputs";
  for (size_t k = 0; k < out->size(); ++k) {
    auto tensor =
        readMessage<TensorProto>(dataOfNodeCase(folder, false, int(k)));
    auto expected = tensor ? valuesOf(*tensor) : std::nullopt;
    std::string why = expected ? difference((*out)[k], *expected)
                               : "the expected values cannot be read";
    if (!why.empty())
      return "output " + std::to_string(k) + ", " + why;
  }
  return "";
}

std::string runCase(const std::string &folder) {
  std::string why;
  for (size_t constant : {size_t(1) << 20, size_t(1), size_t(0)}) {
    bool refused;
    std::string result = runCase(folder, constant, refused);
    if (result.empty() || !refused)
      return result;
    // The plain form's message is the reason to report.
    if (why.empty() || constant == 1)
      why = result;
  }
  return why;
}

/// The table's lines, "case: reason".
std::map<std::string, std::string> readExpected() {
  std::map<std::string, std::string> out;
  const char *given = std::getenv("RHIZOME_NODE_CASES_TABLE");
  std::ifstream file(given ? given : RHIZOME_NODE_CASES);
  EXPECT_TRUE(file) << (given ? given : RHIZOME_NODE_CASES);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << line;
    out[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return out;
}

/// Every `RHIZOME_NODE_CASE_STEP`-th case, by default every 40th. With
/// RHIZOME_NODE_CASES_OUT the failures are written there as a new table.
/// RHIZOME_NODE_CASES_FOLDER and RHIZOME_NODE_CASES_TABLE name other cases.
TEST(ImportConformance, OnnxNodeCases) {
  const char *other = std::getenv("RHIZOME_NODE_CASES_FOLDER");
  const std::string folder = other ? other : kNodeCases;
  std::set<std::string> names = nodeCaseNames(folder);
  if (names.empty())
    GTEST_SKIP() << "SKIPPED: " << folder << " (libonnx-testdata) is missing";
  const char *given = std::getenv("RHIZOME_NODE_CASE_STEP");
  const char *filter = std::getenv("RHIZOME_NODE_CASE_FILTER");
  size_t step = given ? std::stoul(given) : 40;
  auto expected = readExpected();
  for (auto &[name, reason] : expected)
    EXPECT_TRUE(names.count(name)) << name << " is listed but is not a case";
  std::ofstream out;
  if (const char *path = std::getenv("RHIZOME_NODE_CASES_OUT"))
    out.open(path);
  size_t number = 0;
  int passed = 0, ran = 0;
  for (const std::string &name : names) {
    if (filter ? name.find(filter) == std::string::npos : number++ % step)
      continue;
    ++ran;
    std::string why = runCase(folder + "/" + name);
    passed += why.empty();
    if (out.is_open()) {
      if (!why.empty())
        out << name << ": " << why << "\n";
      continue;
    }
    if (why.empty())
      EXPECT_FALSE(expected.count(name)) << name << " is listed but passes";
    else
      EXPECT_TRUE(expected.count(name)) << name << ": " << why;
  }
  RecordProperty("passed", passed);
  std::cout << passed << " of " << ran << " node cases pass\n";
  if (step == 1 && !filter && !other)
    EXPECT_GE(passed, kLeastPassed);
}
} // namespace

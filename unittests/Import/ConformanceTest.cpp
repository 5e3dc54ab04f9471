// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's own node cases (Debian's libonnx-testdata): what is imported computes
// what the case expects, and what isn't is refused with a reason. Inputs behind
// the first are made constant, as they are in a network.
#include "ModelBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstring>

using namespace rhizome;
using namespace rhizome::test;
using onnx::TensorProto;

namespace {
constexpr const char *kCases = "/usr/share/libonnx-testdata/data/node";
/// Cases that must be imported; raised when more operations are.
constexpr int kLeastImported = 170;

std::optional<TensorProto> readTensor(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  TensorProto tensor;
  if (!file || !tensor.ParseFromArray((*file)->getBufferStart(),
                                      int((*file)->getBufferSize())))
    return std::nullopt;
  return tensor;
}

/// Values of float, int64 and 8-bit tensors; nullopt for other types.
std::optional<std::vector<float>> valuesOf(const TensorProto &t) {
  const std::string &raw = t.raw_data();
  std::vector<float> values;
  auto read = [&](auto zero) {
    for (size_t i = 0; i + sizeof(zero) <= raw.size(); i += sizeof(zero)) {
      std::memcpy(&zero, raw.data() + i, sizeof(zero));
      values.push_back(float(zero));
    }
  };
  if (t.data_type() == TensorProto::FLOAT)
    read(float());
  else if (t.data_type() == TensorProto::INT64)
    read(int64_t());
  else if (t.data_type() == TensorProto::INT8)
    read(int8_t());
  else if (t.data_type() == TensorProto::UINT8)
    read(uint8_t());
  else
    return std::nullopt;
  return values;
}

/// Makes the inputs behind the first constant; the first one's values.
std::optional<std::vector<float>> bindInputs(onnx::ModelProto &model,
                                             const std::string &data) {
  onnx::GraphProto &graph = *model.mutable_graph();
  std::optional<std::vector<float>> first = std::vector<float>();
  for (int i = 0; i < graph.input_size(); ++i) {
    auto tensor = readTensor(data + "/input_" + std::to_string(i) + ".pb");
    if (!tensor)
      return std::nullopt;
    if (i == 0) {
      first = valuesOf(*tensor);
      continue;
    }
    tensor->set_name(graph.input(i).name());
    *graph.add_initializer() = *tensor;
  }
  return first;
}

/// True if the case was imported and its outputs compared.
bool checkCase(const std::string &folder) {
  auto file = llvm::MemoryBuffer::getFile(folder + "/model.onnx");
  onnx::ModelProto model;
  if (!file || !model.ParseFromArray((*file)->getBufferStart(),
                                     int((*file)->getBufferSize())))
    return false;
  std::string data = folder + "/test_data_set_0";
  auto first = bindInputs(model, data);
  if (!first)
    return false;
  Imported i(model.SerializeAsString());
  EXPECT_NE(bool(i.module), !i.refusals.empty()) << folder;
  if (!i.module)
    return false;
  std::vector<std::vector<float>> inputs;
  if (i.main().getNumArguments() == 1)
    inputs.push_back(*first);
  std::vector<Tensor> out = i.run(inputs);
  EXPECT_EQ(out.size(), size_t(model.graph().output_size())) << folder;
  for (size_t k = 0; k < out.size(); ++k) {
    auto tensor = readTensor(data + "/output_" + std::to_string(k) + ".pb");
    auto expected = tensor ? valuesOf(*tensor) : std::nullopt;
    if (!expected)
      return false;
    EXPECT_EQ(expected->size(), size_t(out[k].size())) << folder;
    for (size_t n = 0; n < expected->size() && n < size_t(out[k].size()); ++n) {
      float got = out[k].isFloat ? out[k].floats[n] : float(out[k].ints[n]);
      if (!(std::abs(got - (*expected)[n]) <=
            1e-5f + 1e-4f * std::abs((*expected)[n]))) {
        ADD_FAILURE() << folder << ": element " << n << " is " << got
                      << ", expected " << (*expected)[n];
        break;
      }
    }
  }
  return true;
}

TEST(ImportConformance, OnnxNodeCases) {
  if (!llvm::sys::fs::is_directory(kCases))
    GTEST_SKIP() << "SKIPPED: " << kCases << " (libonnx-testdata) is missing";
  int imported = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(kCases, error), end;
       it != end && !error; it.increment(error))
    imported += checkCase(it->path());
  RecordProperty("imported", imported);
  EXPECT_GE(imported, kLeastImported);
}
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's own node cases: where Debian's libonnx-testdata has them, and their
// models with inputs made constant, like inputs in a network that give a
// shape, an axis, a scale or weights.
#pragma once

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <onnx/onnx_pb.h>
#include <optional>
#include <set>
#include <string>

namespace rhizome::test {
constexpr const char *kNodeCases = "/usr/share/libonnx-testdata/data/node";

template <typename Message>
std::optional<Message> readMessage(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  Message message;
  if (!file || !message.ParseFromArray((*file)->getBufferStart(),
                                       int((*file)->getBufferSize())))
    return std::nullopt;
  return message;
}

/// The file of a case's input or output number `i`.
inline std::string dataOfNodeCase(const std::string &folder, bool isInput,
                                  int i) {
  return folder + "/test_data_set_0/" + (isInput ? "input_" : "output_") +
         std::to_string(i) + ".pb";
}

/// A case's model, its inputs from `firstConstant` on made constant where they
/// are tensors; nullopt if it cannot be read.
inline std::optional<onnx::ModelProto> readNodeCase(const std::string &folder,
                                                    size_t firstConstant) {
  auto model = readMessage<onnx::ModelProto>(folder + "/model.onnx");
  if (!model)
    return std::nullopt;
  onnx::GraphProto &graph = *model->mutable_graph();
  for (int i = int(firstConstant); i < graph.input_size(); ++i) {
    auto tensor =
        readMessage<onnx::TensorProto>(dataOfNodeCase(folder, true, i));
    if (!tensor || !graph.input(i).type().has_tensor_type())
      continue;
    tensor->set_name(graph.input(i).name());
    *graph.add_initializer() = *tensor;
  }
  return model;
}

/// The names of all cases of a folder, sorted; empty where there are none.
inline std::set<std::string>
nodeCaseNames(const std::string &folder = kNodeCases) {
  std::set<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error))
    names.insert(llvm::sys::path::filename(it->path()).str());
  return names;
}
} // namespace rhizome::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small ONNX models for tests: built by the protobuf API, imported from memory,
// looked at as text and evaluated by the interpreter.
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "rhizome/Dialect/Osa/Osa.h"
#include "rhizome/Import/OnnxImport.h"
#include "rhizome/Interp/Interpreter.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

namespace rhizome::test {
class ModelBuilder {
public:
  explicit ModelBuilder(int64_t opset = 13, int64_t irVersion = 8) {
    proto.set_ir_version(irVersion);
    addDomain("", opset);
    proto.mutable_graph()->set_name("test");
  }

  onnx::ModelProto proto;
  onnx::GraphProto &graph() { return *proto.mutable_graph(); }

  void addDomain(const std::string &domain, int64_t version) {
    auto *set = proto.add_opset_import();
    set->set_domain(domain);
    set->set_version(version);
  }

  /// A graph input; a size of −1 becomes a symbolic dimension.
  void input(const std::string &name, const std::vector<int64_t> &shape,
             int type = onnx::TensorProto::FLOAT) {
    auto *info = graph().add_input();
    info->set_name(name);
    auto *tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    auto *dims = tensor->mutable_shape();
    for (int64_t size : shape) {
      auto *dim = dims->add_dim();
      size < 0 ? dim->set_dim_param("N") : dim->set_dim_value(size);
    }
  }
  void output(const std::string &name) { graph().add_output()->set_name(name); }

  onnx::TensorProto &tensor(const std::string &name,
                            const std::vector<int64_t> &shape, int type) {
    auto &t = *graph().add_initializer();
    t.set_name(name);
    t.set_data_type(type);
    for (int64_t size : shape)
      t.add_dims(size);
    return t;
  }
  void floats(const std::string &name, const std::vector<int64_t> &shape,
              const std::vector<float> &values) {
    auto &t = tensor(name, shape, onnx::TensorProto::FLOAT);
    t.mutable_float_data()->Add(values.begin(), values.end());
  }
  /// 0, 1, 2, … scaled.
  void ramp(const std::string &name, const std::vector<int64_t> &shape,
            float step = 1) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = float(i) * step;
    floats(name, shape, values);
  }
  void int64s(const std::string &name, const std::vector<int64_t> &values) {
    auto &t = tensor(name, {int64_t(values.size())}, onnx::TensorProto::INT64);
    t.mutable_int64_data()->Add(values.begin(), values.end());
  }
  /// Integers of up to 32 bits.
  void ints(const std::string &name, const std::vector<int64_t> &shape,
            int type, const std::vector<int32_t> &values) {
    auto &t = tensor(name, shape, type);
    t.mutable_int32_data()->Add(values.begin(), values.end());
  }

  onnx::NodeProto &node(const std::string &op,
                        const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs,
                        const std::string &domain = "") {
    auto &n = *graph().add_node();
    n.set_op_type(op);
    n.set_name(op + "_" + outputs.front());
    n.set_domain(domain);
    for (const std::string &i : inputs)
      n.add_input(i);
    for (const std::string &o : outputs)
      n.add_output(o);
    return n;
  }
  static void set(onnx::NodeProto &n, const std::string &name, int64_t value) {
    auto *a = n.add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::INT);
    a->set_i(value);
  }
  static void set(onnx::NodeProto &n, const std::string &name, float value) {
    auto *a = n.add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::FLOAT);
    a->set_f(value);
  }
  static void set(onnx::NodeProto &n, const std::string &name,
                  const char *value) {
    auto *a = n.add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::STRING);
    a->set_s(value);
  }
  static void set(onnx::NodeProto &n, const std::string &name,
                  const std::vector<int64_t> &values) {
    auto *a = n.add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::INTS);
    a->mutable_ints()->Add(values.begin(), values.end());
  }

  std::string bytes() const { return proto.SerializeAsString(); }
};

/// An imported model, or the reasons for its refusal.
struct Imported {
  explicit Imported(const std::string &bytes,
                    const importer::ImportOptions &options = {})
      : module(importer::importOnnxBuffer(&context, bytes, "", options,
                                          refusals)) {}
  explicit Imported(const ModelBuilder &model,
                    const importer::ImportOptions &options = {})
      : Imported(model.bytes(), options) {}

  mlir::MLIRContext context;
  Refusals refusals;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  mlir::func::FuncOp main() {
    return *module->getOps<mlir::func::FuncOp>().begin();
  }
  std::string text() {
    std::string out;
    llvm::raw_string_ostream stream(out);
    mlir::OpPrintingFlags flags;
    flags.elideLargeElementsAttrs(64);
    if (module)
      module->print(stream, flags);
    for (const Refusal &r : refusals)
      stream << r.node << " | " << r.op << " | " << r.reason << " | "
             << r.remedy << "\n";
    return out;
  }
  bool contains(llvm::StringRef part) {
    return llvm::StringRef(text()).contains(part);
  }
  int count(llvm::StringRef op) {
    int n = 0;
    if (module)
      module->walk(
          [&](mlir::Operation *o) { n += o->getName().getStringRef() == op; });
    return n;
  }
  /// The outputs for the inputs' values, in the order of main's arguments.
  std::vector<Tensor> run(const std::vector<std::vector<float>> &inputs) {
    if (!module)
      return {};
    std::vector<Tensor> tensors;
    for (auto [values, type] : llvm::zip(inputs, main().getArgumentTypes()))
      tensors.push_back(Tensor::ofFloats(
          mlir::cast<mlir::RankedTensorType>(type).getShape().vec(), values));
    auto out = interpret(main(), tensors);
    return mlir::succeeded(out) ? *out : std::vector<Tensor>();
  }
};

/// Values of the only output.
inline std::vector<float>
valuesOf(Imported &model, const std::vector<std::vector<float>> &inputs) {
  std::vector<Tensor> out = model.run(inputs);
  if (out.size() != 1) {
    ADD_FAILURE() << "no result:\n" << model.text();
    return {};
  }
  if (out[0].isFloat)
    return out[0].floats;
  return {out[0].ints.begin(), out[0].ints.end()};
}
} // namespace rhizome::test

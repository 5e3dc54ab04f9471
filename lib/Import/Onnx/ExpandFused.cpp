// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of ONNX Runtime's optimizer, and activations, expanded into
// their parts.
#include "Expand.h"
#include <cfloat>

using namespace rhizome;
using namespace rhizome::importer;
using llvm::StringRef;
using onnx::AttributeProto;
using onnx::NodeProto;

/// Adds the activation that a fused node names, with `parameters` in the order
/// of the operation's own.
static void activate(Expansion &e, const std::string &x,
                     const std::vector<float> &parameters) {
  const AttributeProto *which = e.attribute("activation");
  if (!which)
    return e.last("Identity", {x});
  auto parameter = [&](size_t i, float fallback) {
    return i < parameters.size() ? parameters[i] : fallback;
  };
  if (which->s() == "Clip") {
    std::string low = e.constant(parameter(0, -FLT_MAX)),
                high = e.constant(parameter(1, FLT_MAX));
    return e.last("Clip", {x, low, high});
  }
  if (which->s() == "HardSigmoid") {
    std::string alpha = e.constant(parameter(0, 0.2f)),
                beta = e.constant(parameter(1, 0.5f)), low = e.constant(0),
                high = e.constant(1);
    std::string line = e.put("Add", {e.put("Mul", {x, alpha}), beta});
    return e.last("Clip", {line, low, high});
  }
  NodeProto &made = e.add(which->s(), {x}, true);
  if (which->s() != "LeakyRelu" || parameters.empty())
    return;
  AttributeProto &a = *made.add_attribute();
  a.set_name("alpha");
  a.set_type(AttributeProto::FLOAT);
  a.set_f(parameters[0]);
}

/// (x, w, bias, what is added before the activation)
void expand::fusedConv(Expansion &e) {
  std::string y = e.real("Conv", {e.input(0), e.input(1), e.input(2)},
                         {"activation", "activation_params"});
  if (!e.input(3).empty())
    y = e.put("Add", {y, e.input(3)});
  std::vector<float> parameters;
  if (const AttributeProto *a = e.attribute("activation_params"))
    parameters.assign(a->floats().begin(), a->floats().end());
  activate(e, y, parameters);
}

/// (a, b, c)
void expand::fusedGemm(Expansion &e) {
  std::vector<float> parameters;
  for (StringRef name : {"activation_alpha", "activation_beta"})
    if (const AttributeProto *a = e.attribute(name))
      parameters.push_back(a->f());
  activate(e,
           e.real("Gemm", {e.input(0), e.input(1), e.input(2)},
                  {"activation", "activation_alpha", "activation_beta",
                   "activation_gamma"}),
           parameters);
}

/// alpha · A · B, of optionally transposed matrices: Gemm does the same.
void expand::fusedMatMul(Expansion &e) {
  bool batches = e.getInt("transBatchA", 0) || e.getInt("transBatchB", 0);
  if (batches || e.getInt("transA", 0) || e.getInt("transB", 0)) {
    std::vector<StringRef> without;
    if (!batches) // otherwise Gemm refuses them by name
      without = {"transBatchA", "transBatchB"};
    return e.last("Identity",
                  {e.real("Gemm", {e.input(0), e.input(1)}, without)});
  }
  std::string alpha = e.constant(float(e.getFloat("alpha", 1)));
  e.last("Mul", {e.put("MatMul", {e.input(0), e.input(1)}), alpha});
}

/// A channels-last pool of integers.
void expand::nhwcMaxPool(Expansion &e) {
  std::string x = e.transpose(e.input(0), {0, 3, 1, 2});
  e.transpose(e.real("MaxPool", {x}), {0, 2, 3, 1}, true);
}

//===----------------------------------------------------------------------===//
// Activations made of others
//===----------------------------------------------------------------------===//

/// The part of the input below zero.
static std::string negativePart(Expansion &e) {
  NodeProto &clip = e.add("Clip", {e.input(0), "", e.constant(0)});
  return clip.output(0);
}

/// max(0, min(1, alpha · x + beta))
void expand::hardSigmoid(Expansion &e) {
  std::string alpha = e.constant(float(e.getFloat("alpha", 0.2f))),
              beta = e.constant(float(e.getFloat("beta", 0.5f)));
  std::string line = e.put("Add", {e.put("Mul", {e.input(0), alpha}), beta});
  std::string low = e.constant(0), high = e.constant(1);
  e.last("Clip", {line, low, high});
}

/// Swish(a) · b
void expand::swiGlu(Expansion &e) {
  e.last("Mul", {e.real("Swish", {e.input(0)}), e.input(1)});
}

/// max(0, x) + slope · min(0, x)
void expand::pRelu(Expansion &e) {
  std::string below = e.put("Mul", {negativePart(e), e.input(1)});
  e.last("Add", {e.put("Relu", {e.input(0)}), below});
}

/// gamma · (max(0, x) + alpha · (exp(min(0, x)) − 1))
static void exponential(Expansion &e, double alpha, double gamma) {
  std::string scale = e.constant(float(alpha * gamma)), one = e.constant(1);
  std::string curve = e.put("Exp", {negativePart(e)});
  std::string below = e.put("Mul", {e.put("Sub", {curve, one}), scale});
  std::string above = e.put("Relu", {e.input(0)});
  if (gamma != 1) {
    std::string factor = e.constant(float(gamma));
    above = e.put("Mul", {above, factor});
  }
  e.last("Add", {above, below});
}

void expand::elu(Expansion &e) { exponential(e, e.getFloat("alpha", 1), 1); }

void expand::selu(Expansion &e) {
  exponential(e, e.getFloat("alpha", 1.67326319217681884765625),
              e.getFloat("gamma", 1.05070102214813232421875));
}

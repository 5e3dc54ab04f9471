// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Asked.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

std::optional<WindowFault> importer::windowFault(const Node &node, size_t axes,
                                                 int64_t most) {
  static const StringRef modes[] = {"NOTSET", "VALID", "SAME_UPPER",
                                    "SAME_LOWER"};
  std::string mode = node.getString("auto_pad", "NOTSET");
  if (!llvm::is_contained(modes, mode))
    return WindowFault{
        formatv("its auto_pad is '{0}'", mode),
        "write auto_pad = NOTSET, SAME_UPPER, SAME_LOWER or VALID"};
  const struct {
    StringRef name;
    size_t count;
    int64_t least, usual;
  } lists[] = {{"kernel_shape", axes, 1, 1},
               {"strides", axes, 1, 1},
               {"dilations", axes, 1, 1},
               {"pads", 2 * axes, 0, 0},
               {"output_padding", axes, 0, 0}};
  for (const auto &list : lists) {
    auto values = node.getInts(list.name);
    if (!values)
      continue;
    auto isGood = [&](int64_t v) { return v >= list.least && v <= most; };
    if (values->size() == list.count && llvm::all_of(*values, isGood))
      continue;
    std::vector<int64_t> right(list.count, list.usual);
    for (size_t i = 0; i < std::min(right.size(), values->size()); ++i)
      if (isGood((*values)[i]))
        right[i] = (*values)[i];
    return WindowFault{
        formatv("its {0} {1} {2}", list.name,
                list.name.ends_with("s") ? "are" : "is", describe(*values)),
        formatv("write {0} = {1}, or other {2} numbers from {3} to {4}: {5} "
                "for each spatial axis",
                list.name, describe(right), list.count, list.least, most,
                list.name == "pads" ? "one before and one after" : "one")};
  }
  return std::nullopt;
}

/// "[1, 2, H, W]".
static std::string image(int64_t channels, size_t rank) {
  return formatv("[1, {0}{1}]", channels,
                 rank == 3   ? ", L"
                 : rank == 4 ? ", H, W"
                             : ", D, H, W");
}

/// Of a convolution whose channels and weights are not one.
static std::string forWeights(const NodeContext &node, const Shape &from,
                              const Shape &kernel, bool isTransposed) {
  int64_t group = std::max<int64_t>(node.getInt("group", 1), 1);
  StringRef form = isTransposed ? "[channels, outputs / group, kernel]"
                                : "[outputs, channels / group, kernel]";
  int64_t wanted = isTransposed ? kernel[0] : kernel[1] * group;
  if (from.size() < 3 || kernel.size() != from.size())
    return formatv("ONNX asks for weights {0} of the input's rank: give an "
                   "input {1}, with a Reshape if need be",
                   form, image(wanted, kernel.size()));
  int64_t channels = from[1];
  if (!isTransposed && kernel[1] > 0 && channels % kernel[1] == 0 &&
      kernel[0] % (channels / kernel[1]) == 0)
    return formatv("ONNX asks for weights {0}: write group = {1}", form,
                   channels / kernel[1]);
  if (isTransposed && kernel[0] == channels)
    return "ONNX asks that group divides the channels: write group = 1";
  if (!isTransposed)
    wanted = kernel[0] % group ? kernel[1] : wanted;
  return formatv("ONNX asks for weights {0}: give an input {1}{2}", form,
                 image(wanted, from.size()),
                 wanted == kernel[1] * group ? "" : ", and write group = 1");
}

/// Of a window that is larger than what it slides over.
static std::string forRoom(const NodeContext &node, const Shape &spatial,
                           const Shape &kernel) {
  size_t n = spatial.size();
  Shape pads = node.getInts("pads").value_or(Shape(2 * n, 0)), least(n);
  Shape dilations = node.getInts("dilations").value_or(Shape(n, 1));
  for (size_t i = 0; i < n; ++i) {
    int64_t span = (kernel[i] - 1) * dilations[i] + 1;
    least[i] = std::max<int64_t>(1, span - pads[i] - pads[i + n]);
    pads[i + n] += std::max<int64_t>(0, least[i] - spatial[i]);
  }
  return formatv("the window takes at least {0} positions: give a larger "
                 "input, or write pads = {1}",
                 describe(least), describe(pads));
}

/// Of operations that slide a window; "" if the standard asks nothing that the
/// node lacks.
static std::string ofWindow(const NodeContext &node) {
  StringRef op = node.op();
  bool isPool = op.ends_with("Pool"), isTransposed = op == "ConvTranspose";
  TensorRef x = node.input(0), w = node.input(1);
  if (!x || x->unknown || (!isPool && (!w || w->unknown)))
    return "";
  const Shape &from = x->shape;
  if (isPool && from.size() < 3)
    return "ONNX asks for an input [N, channels, spatial axes]: put a Reshape "
           "or an Unsqueeze before it";
  Shape spatial(from.begin() + std::min<size_t>(2, from.size()), from.end()),
      kernel;
  if (!isPool) {
    const Shape &weights = w->shape;
    int64_t group = node.getInt("group", 1);
    bool fits = from.size() > 2 && weights.size() == from.size() && group > 0 &&
                (isTransposed ? weights[0] == from[1] && from[1] % group == 0
                              : weights[1] * group == from[1] &&
                                    weights[0] % group == 0);
    if (!fits)
      return weights.size() < 3 ? "ONNX asks for weights of at least 3 axes"
                                : forWeights(node, from, weights, isTransposed);
    kernel.assign(weights.begin() + 2, weights.end());
    int64_t outputs = isTransposed ? weights[1] * group : weights[0];
    if (TensorRef bias = node.input(2);
        bias && !bias->unknown && bias->shape != Shape{outputs})
      return formatv("ONNX asks for one value per output channel: give a bias "
                     "of shape [{0}]",
                     outputs);
  } else if (auto given = node.getInts("kernel_shape")) {
    kernel = *given;
  } else if (!op.starts_with("Global")) {
    return formatv("write kernel_shape = {0}, or other {1} positive numbers",
                   describe(Shape(spatial.size(), 1)), spatial.size());
  }
  if (auto fault = windowFault(node.file, spatial.size(), 1 << 24))
    return fault->remedy;
  return kernel.size() == spatial.size() ? forRoom(node, spatial, kernel) : "";
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

std::string importer::toBroadcast(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  StringRef which[] = {"first", "second"};
  bool isFirstSmaller =
      elementCount(a) < elementCount(b) ||
      (elementCount(a) == elementCount(b) && a.size() < b.size());
  ArrayRef<int64_t> small = isFirstSmaller ? a : b,
                    large = isFirstSmaller ? b : a;
  if (elementCount(a) == elementCount(b))
    return formatv("put a Reshape to {0} before its {1} input", describe(large),
                   which[!isFirstSmaller]);
  for (size_t axis = large.size(); small.size() == 1 && axis-- > 0;)
    if (large[axis] == small[0]) {
      Shape shape(large.size() - axis, 1);
      shape[0] = small[0];
      return formatv("put a Reshape to {0} before its {1} input",
                     describe(shape), which[!isFirstSmaller]);
    }
  return "ONNX compares sizes from the last axis on, where they are equal or "
         "one is 1: put a Reshape, an Unsqueeze or a Transpose before one "
         "input";
}

std::string importer::toNameAxis(size_t rank) {
  return rank ? formatv("write axis = {0}, or another from -{1} to {0}",
                        rank - 1, rank)
                    .str()
              : "a scalar has no axis: put an Unsqueeze before it";
}

/// Of products of matrices.
static std::string ofProduct(const NodeContext &node) {
  TensorRef a = node.input(0), b = node.input(1);
  if (!a || !b || a->unknown || b->unknown || !a->rank() || !b->rank())
    return "";
  if (node.op() == "Gemm") {
    if (a->rank() != 2 || b->rank() != 2)
      return "ONNX asks for two matrices: put a Flatten or a Reshape before "
             "it, or use MatMul";
    int64_t inner = a->shape[node.getInt("transA", 0) ? 0 : 1];
    bool isTurned = node.getInt("transB", 0) != 0;
    if (b->shape[isTurned] != inner && b->shape[!isTurned] == inner)
      return formatv("write transB = {0}", int(!isTurned));
  }
  if (a->shape.back() == b->shape.back() && b->rank() > 1 &&
      a->shape.back() != b->shape[b->rank() - 2])
    return "put a Transpose of the last two axes before its second input";
  return "ONNX asks that the last size of the first input is the last but one "
         "of the second: put a Transpose or a Reshape before one of them";
}

std::string importer::toGiveDimensions(const Graph &graph,
                                       const ImportOptions &options) {
  for (const onnx::ValueInfoProto *input : graph.inputs) {
    const auto &dims = input->type().tensor_type().shape().dim();
    if (options.shapes.count(input->name()))
      continue;
    std::string names, sizes;
    for (auto [axis, dim] : llvm::enumerate(dims)) {
      const bool isOpen = !dim.has_dim_value() || dim.dim_value() <= 0;
      if (isOpen && axis > 0)
        names += (names.empty() ? "" : ", ") +
                 (dim.dim_param().empty() ? "axis " + std::to_string(axis)
                                          : dim.dim_param());
      sizes += (axis ? "," : "") + std::to_string(!isOpen ? dim.dim_value()
                                                  : axis  ? 64
                                                          : 1);
    }
    if (!names.empty())
      return llvm::formatv("{0} of the input '{1}' {2} not given and taken as "
                           "1: give sizes, such as --shape {1}={3}",
                           names, input->name(),
                           StringRef(names).contains(',') ? "were" : "was",
                           sizes);
  }
  return "";
}

std::string importer::askedByOnnx(const NodeContext &node) {
  StringRef op = node.op();
  // Shapes that do not fit may follow from these.
  std::string asked = toGiveDimensions(node.state.graph, node.state.options);
  if (!asked.empty())
    return asked;
  if (op == "Conv" || op == "ConvTranspose" || op.ends_with("Pool"))
    asked = ofWindow(node);
  else if (op == "MatMul" || op == "Gemm")
    asked = ofProduct(node);
  else if (op == "Attention")
    asked =
        "ONNX asks for queries [N, heads, L, E], keys [N, key heads, S, E] "
        "and values [N, key heads, S, E']: give the keys and the values one "
        "number of heads, which divides that of the queries";
  if (!asked.empty())
    return asked;
  return formatv("docs/supported-ops.md says which forms of {0} are read; what "
                 "breaks the standard onnx.checker.check_model(model, "
                 "full_check=True) tells",
                 op);
}

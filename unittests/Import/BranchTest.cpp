// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// If whose condition is known, and Resize by exact coordinates.
#include "ModelBuilder.h"

using namespace rhizome;
using namespace rhizome::test;
using onnx::TensorProto;
using Values = std::vector<float>;

namespace {
/// A branch that multiplies a tensor from outside by `factor`.
onnx::GraphProto scaled(const std::string &from, float factor,
                        const std::string &name) {
  ModelBuilder m;
  m.floats("k" + name, {}, {factor});
  m.node("Mul", {from, "k" + name}, {"o" + name});
  m.output("o" + name);
  return m.graph();
}

void give(onnx::NodeProto &n, const char *name, const onnx::GraphProto &g) {
  auto *a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::GRAPH);
  *a->mutable_g() = g;
}

void choose(ModelBuilder &m, const std::string &condition,
            const onnx::GraphProto &yes, const onnx::GraphProto &no) {
  auto &n = m.node("If", {condition}, {"y"});
  give(n, "then_branch", yes);
  give(n, "else_branch", no);
  m.output("y");
}

TEST(ImportIf, TakesTheBranchOfAConstant) {
  for (int32_t condition : {1, 0}) {
    ModelBuilder m;
    m.input("x", {1, 2});
    m.ints("c", {}, TensorProto::BOOL, {condition});
    choose(m, "c", scaled("x", 2, "a"), scaled("x", 3, "b"));
    Imported i(m);
    EXPECT_EQ(valuesOf(i, {{1, -2}}),
              condition ? (Values{2, -4}) : (Values{3, -6}));
    EXPECT_EQ(i.count("osa.mul"), 1) << "it is part of the network";
  }
}

TEST(ImportIf, TakesTheBranchThatFollowsFromShapes) {
  ModelBuilder m;
  m.input("x", {1, 2});
  m.int64s("zero", {0});
  m.int64s("two", {2});
  m.node("Shape", {"x"}, {"s"});
  m.node("Gather", {"s", "zero"}, {"d"});
  m.node("Equal", {"d", "two"}, {"e"});
  m.node("Squeeze", {"e", "zero"}, {"c"});
  choose(m, "c", scaled("x", 2, "a"), scaled("x", 3, "b"));
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{1, -2}}), (Values{3, -6})) << i.text();
}

TEST(ImportIf, BranchesWithinBranchesReadFromAround) {
  ModelBuilder m;
  m.input("x", {1, 2});
  m.ints("c", {}, TensorProto::BOOL, {1});
  m.ints("d", {}, TensorProto::BOOL, {0});
  m.node("Relu", {"x"}, {"r"});
  ModelBuilder outer;
  outer.node("Neg", {"r"}, {"n"});
  auto &inner = outer.node("If", {"d"}, {"o"});
  give(inner, "then_branch", scaled("x", 5, "p"));
  give(inner, "else_branch", scaled("n", 7, "q"));
  outer.output("o");
  choose(m, "c", outer.graph(), scaled("x", 3, "b"));
  Imported i(m);
  EXPECT_EQ(valuesOf(i, {{1, -2}}), (Values{-7, 0})) << i.text();
}

TEST(ImportIf, AConditionThatIsComputedIsRefused) {
  ModelBuilder m;
  m.input("x", {1, 2});
  m.input("c", {}, TensorProto::BOOL);
  choose(m, "c", scaled("x", 2, "a"), scaled("x", 3, "b"));
  Imported i(m);
  EXPECT_TRUE(i.contains("its condition is computed while the model runs"));
  EXPECT_TRUE(i.contains("the branch that is taken alone"));
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

int64_t floorOf(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

/// The nearest element to a / b.
int64_t nearestTo(int64_t a, int64_t b, const std::string &mode) {
  if (mode == "floor")
    return floorOf(a, b);
  if (mode == "ceil")
    return -floorOf(-a, b);
  return mode == "round_prefer_ceil" ? floorOf(2 * a + b, 2 * b)
                                     : -floorOf(b - 2 * a, 2 * b);
}

/// The coordinate of place x where n elements become m, as a fraction.
std::pair<int64_t, int64_t> coordinate(const std::string &mode, int64_t x,
                                       int64_t n, int64_t m) {
  if (mode == "asymmetric")
    return {x * n, m};
  if (mode == "align_corners")
    return m > 1 ? std::pair(x * (n - 1), m - 1)
                 : std::pair<int64_t, int64_t>(0, 1);
  if (mode == "pytorch_half_pixel" && m == 1)
    return {0, 1};
  if (mode == "tf_half_pixel_for_nn")
    return {(2 * x + 1) * n, 2 * m};
  return {(2 * x + 1) * n - m, 2 * m}; // symmetric: nothing is cut off
}

TEST(ImportResize, NearestBySizesIsExact) {
  for (const char *by :
       {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners",
        "half_pixel_symmetric", "tf_half_pixel_for_nn"})
    for (const char *mode :
         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
      for (auto [n, m] : {std::pair<int64_t, int64_t>{20, 6},
                          {20, 12},
                          {6, 20},
                          {1, 5},
                          {7, 1},
                          {9, 14},
                          {10, 4},
                          {3, 7},
                          {14, 20}}) {
        ModelBuilder b;
        b.input("x", {1, 1, 1, n});
        b.int64s("sizes", {1, 1, 1, m});
        auto &node = b.node("Resize", {"x", "", "", "sizes"}, {"y"});
        b.set(node, "mode", "nearest");
        b.set(node, "nearest_mode", mode);
        b.set(node, "coordinate_transformation_mode", by);
        b.output("y");
        Imported i(b);
        Values x, expected;
        for (int64_t k = 0; k < n; ++k)
          x.push_back(float(k));
        for (int64_t k = 0; k < m; ++k) {
          auto [num, den] = coordinate(by, k, n, m);
          expected.push_back(
              float(std::clamp<int64_t>(nearestTo(num, den, mode), 0, n - 1)));
        }
        EXPECT_EQ(valuesOf(i, {x}), expected)
            << by << " " << mode << " " << n << " to " << m;
      }
}

TEST(ImportResize, ScalesAreTheFilesNumbers) {
  // 0.3 in float32 is a little more: 1.5 / 0.3 − 0.5 is below 4.5.
  ModelBuilder b;
  b.input("x", {1, 1, 1, 20});
  b.floats("scales", {4}, {1, 1, 1, 0.3f});
  auto &node = b.node("Resize", {"x", "", "scales"}, {"y"});
  b.set(node, "nearest_mode", "round_prefer_ceil");
  b.output("y");
  Imported i(b);
  Values x;
  for (int k = 0; k < 20; ++k)
    x.push_back(float(k));
  EXPECT_EQ(valuesOf(i, {x}), (Values{1, 4, 8, 11, 14, 18}));
}
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random networks that move elements between layers, or multiply two tensors:
// their programs give the interpreter's bytes, or the reason of each refusal is
// one that holds.
#include "../MatmulBuilder.h"
#include "CompileCheck.h"

using namespace rhizome;
using namespace rhizome::engine;
using namespace rhizome::engine::test;
using rhizome::test::drawAxes;
using rhizome::test::matmul;
using rhizome::test::reshaped;

namespace {
using MovesTest = CompileTest;

/// A layer of the array that keeps the size.
void layer(NetworkBuilder &b, const std::string &name, int64_t out,
           int64_t kernel = 1) {
  NetworkBuilder::Conv conv;
  conv.out = out;
  conv.kh = conv.kw = kernel;
  for (int64_t &pad : conv.pads)
    pad = kernel / 2;
  b.conv(name, conv);
}

/// Two or three branches, some of them the input itself, in one tensor that
/// layers with borders and others read.
TEST_F(MovesTest, ConcatenationsAreTheInterpreters) {
  checkNetworks(
      7000, 3,
      {"no tile", "is no whole number of words", "ties", "no multiplier"},
      [&](NetworkBuilder &b, const Core &core) {
        const int64_t axis = b.draw(1, 3);
        const auto bytes = num::IntType::getFull(&context, b.coin(), 8);
        const int64_t channels = core.in * b.draw(1, 2);
        b.begin({1, b.draw(3, 9), b.draw(3, 9), channels}, bytes);
        const mlir::Value input = b.value;
        mlir::Value all;
        for (int64_t i = 0, count = b.draw(2, 3); i < count; ++i) {
          const bool isFirst = i == 0;
          b.value = input;
          if (b.draw(0, 3) > 0) {
            const bool isOdd = i == count - 1 || b.draw(0, 7) == 0;
            const int64_t out = axis != 3 ? channels
                                : isOdd   ? b.draw(1, 40)
                                          : core.in * b.draw(1, 2);
            layer(b, "branch" + std::to_string(i), out, b.coin() ? 3 : 1);
            // A later part may have fewer bits, and bytes of another bias.
            auto own = isFirst
                           ? bytes
                           : num::IntType::getFull(&context, bytes.getLo() < 0,
                                                   unsigned(b.draw(6, 8)));
            b.requantize("q" + std::to_string(i), own, false, b.coin());
          }
          if (!isFirst) {
            const mlir::Value right = b.value;
            b.value = all;
            b.concat("concat" + std::to_string(i), right, axis);
          }
          all = b.value;
        }
        layer(b, "last", b.draw(1, 20), b.coin() ? 3 : 1);
        b.requantize("lastq", bytes, false, b.coin());
        if (b.coin()) {
          const mlir::Value last = b.value;
          b.value = all;
          b.maxPool("pool", {{1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}});
          layer(
              b, "second",
              llvm::cast<mlir::RankedTensorType>(last.getType()).getShape()[3]);
          b.requantize("secondq", bytes, false, b.coin());
          b.concat("both", last, b.draw(1, 2));
        }
      });
}

/// Gathers, transposes, reshapes and pads between two layers.
TEST_F(MovesTest, MovesAreTheInterpreters) {
  checkNetworks(
      8000, 2,
      {"no tile", "ties", "no multiplier", "other words", "move within words",
       "alternate"},
      [&](NetworkBuilder &b, const Core &core) {
        b.begin({1, b.draw(2, 7), b.draw(2, 7), core.in * b.draw(1, 3)},
                randomBytes(b));
        if (b.coin()) {
          layer(b, "first", core.in * b.draw(1, 3), 1);
          requantize(b, "firstq");
        }
        for (int64_t i = 0, count = b.draw(1, 3); i < count; ++i) {
          const std::string name = "move" + std::to_string(i);
          switch (b.draw(0, 4)) {
          case 0: { // even steps, repeated ones, or any
            const int64_t axis = b.draw(1, 3), size = b.shape()[axis];
            std::vector<int64_t> indices;
            const int64_t kind = b.draw(0, 2);
            const int64_t from = b.draw(0, size - 1), step = b.draw(1, 2);
            if (axis == 3)
              for (int64_t k = b.draw(0, size / core.in - 1) * core.in;
                   k < size; ++k)
                indices.push_back(k);
            else if (kind == 0)
              for (int64_t k = from; k < size; k += step)
                indices.push_back(k);
            else if (kind == 1)
              for (int64_t k = 0; k < size * 2; ++k)
                indices.push_back(k / 2);
            else
              for (int64_t k = 0, n = b.draw(1, size); k < n; ++k)
                indices.push_back(b.draw(0, size - 1));
            b.gather(name, axis, indices);
            break;
          }
          case 1:
            if (b.coin())
              b.transpose(name, {0, 2, 1, 3});
            else
              b.transpose(name, {1, 0, 2, 3});
            if (b.shape()[0] != 1) {
              const llvm::SmallVector<int64_t> s(b.shape());
              b.value = reshaped(b, b.value, {1, s[0], s[2], s[3]});
            }
            break;
          case 2: { // other pixels, or other words of them
            const llvm::SmallVector<int64_t> s(b.shape());
            b.value = b.coin()
                          ? reshaped(b, b.value, {1, 1, s[1] * s[2], s[3]})
                          : reshaped(b, b.value,
                                     {1, s[1], s[2] * s[3] / core.in, core.in});
            break;
          }
          case 3:
            b.pad(name, b.draw(0, 2), b.draw(0, 2), b.draw(0, 2), b.draw(0, 2),
                  b.draw(b.element().getLo(), b.element().getHi()));
            break;
          default:
            layer(b, name, core.in * b.draw(1, 3), b.coin() ? 3 : 1);
            requantize(b, name + "q");
          }
        }
        if (b.draw(0, 3) > 0) {
          layer(b, "last", b.draw(1, 20), b.coin() ? 3 : 1);
          requantize(b, "lastq");
        }
      });
}

/// Products of two layers' results, with all zeros and orders of axes, and of
/// their result by a third one.
TEST_F(MovesTest, ProductsAreTheInterpreters) {
  checkNetworks(
      9000, 2, {"no tile", "ties", "no multiplier", "other words"},
      [&](NetworkBuilder &b, const Core &core) {
        const int64_t tokens = b.draw(1, 21), heads = b.draw(1, 3),
                      depth =
                          b.draw(0, 7) ? core.in * b.draw(1, 2) : b.draw(1, 20);
        b.begin({1, tokens, heads * depth}, randomBytes(b));
        const mlir::Value input = b.value;
        std::vector<mlir::Value> sides;
        for (const char *name : {"q", "k", "v"}) {
          b.value = input;
          if (b.draw(0, 3) > 0) {
            b.dense(name, heads * depth);
            requantize(b, std::string(name) + "q");
          }
          sides.push_back(b.value);
        }
        auto zero = [&](mlir::Value value) {
          auto type = num::elementInt(value.getType());
          return b.coin() ? 0 : b.draw(type.getLo(), type.getHi());
        };
        // As in attention: scores of heads in turn, then mixed rows.
        osa::MatmulShape shape = {tokens, heads, 1, depth, tokens, {1, 2, 0}};
        if (heads == 1 && b.coin())
          shape = {1, 1, tokens, depth, tokens, {0, 2, 1}};
        matmul(b, "scores", sides[0], sides[1], shape, zero(sides[0]),
               zero(sides[1]));
        requantize(b, "scoresq");
        if (b.coin())
          b.table("table", randomBytes(b), false);
        if (b.coin()) {
          std::swap(shape.inner, shape.columns);
          shape.axes = shape.rows == 1 ? std::array<int64_t, 3>{1, 0, 2}
                                       : std::array<int64_t, 3>{0, 1, 2};
          matmul(b, "mixed", b.value, sides[2], shape, zero(b.value),
                 zero(sides[2]));
          requantize(b, "mixedq");
          b.value = reshaped(b, b.value, {1, tokens, heads * depth});
          if (b.coin()) {
            b.dense("last", b.draw(1, 30));
            requantize(b, "lastq");
          }
        }
      });
}
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Einsum on the host: one loop over the result's indices and, inside, over
// the summed ones, for any number of operands.
#include "Host.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace rhizome;
using namespace rhizome::importer;
using host::Loops;
using host::Scalars;
using llvm::formatv;

namespace {
/// The indices of one term: letters, and negative numbers for the axes of
/// "...". stands for.
using Term = SmallVector<int>;

/// An equation, with the size of every index.
struct Equation {
  std::string text;
  SmallVector<Term> terms;
  Term result;
  std::map<int, int64_t> sizes;
  std::map<int, int> uses; ///< the number of occurrences of an index
  int dots = 0;            ///< axes of the longest "..."
};
} // namespace

/// A term of an operand of `rank`; of the result if that is negative. nullopt
/// if they do not fit.
static std::optional<Term> spell(Equation &e, StringRef text, int rank) {
  Term out;
  int letters = int(text.size() - text.count('.'));
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.') {
      out.push_back(text[i]);
      continue;
    }
    int count = rank < 0 ? e.dots : rank - letters;
    e.dots = std::max(e.dots, count);
    for (int k = count; k > 0; --k)
      out.push_back(-k);
    i += 2;
  }
  if (rank >= 0 && int(out.size()) != rank)
    return std::nullopt;
  return out;
}

/// Expands the term of operand `i` and enters its sizes.
static LogicalResult readTerm(NodeContext &node, Equation &e, size_t i,
                              StringRef text) {
  const Shape &shape = node.input(i)->shape;
  auto term = spell(e, text, int(shape.size()));
  if (!term)
    return node.refuse(
        formatv("its equation '{0}' does not fit its input {1}", e.text, i));
  for (auto [name, size] : llvm::zip_equal(*term, shape)) {
    int64_t &known = e.sizes.try_emplace(name, 1).first->second;
    if (known != 1 && size != 1 && known != size)
      return node.refuse(formatv("its equation '{0}' gives '{1}' two sizes",
                                 e.text, char(name)));
    known = std::max(known, size);
    ++e.uses[name];
  }
  e.terms.push_back(*term);
  return success();
}

/// The result's indices: as given, or those that occur once.
static Term resultOf(Equation &e, StringRef given, bool isGiven) {
  if (isGiven)
    return *spell(e, given, -1);
  Term out;
  for (int k = e.dots; k > 0; --k)
    out.push_back(-k);
  for (auto [name, count] : e.uses)
    if (name > 0 && count == 1)
      out.push_back(name);
  return out;
}

/// The sum of the operands' products; null if an index of the result is not one
/// of theirs, or occurs twice.
static Value sumOfProducts(NodeContext &node, Equation &e,
                           ArrayRef<Value> values) {
  Shape shape, reduced;
  std::map<int, unsigned> place; ///< of an index among the loops
  for (int name : e.result) {
    if (!e.sizes.count(name) || !place.try_emplace(name, place.size()).second)
      return {};
    shape.push_back(e.sizes[name]);
  }
  for (auto [name, size] : e.sizes)
    if (place.try_emplace(name, place.size()).second)
      reduced.push_back(size);
  Loops l = loops(node);
  SmallVector<host::Operand> operands;
  for (auto [value, term] : llvm::zip_equal(values, e.terms)) {
    SmallVector<AffineExpr> exprs;
    for (auto [name, size] : llvm::zip_equal(term, Loops::shapeOf(value)))
      exprs.push_back(size == 1 ? node.builder.getAffineConstantExpr(0)
                                : l.dim(place[name]));
    operands.push_back(
        {value, AffineMap::get(place.size(), 0, exprs, node.context)});
  }
  Type element = elementOf(values[0]);
  return l.loop(shape, reduced, element, l.number(0, element), operands,
                [](Scalars &s, ValueRange a) {
                  Value product = a[0];
                  for (Value factor : a.drop_front().drop_back())
                    product = s.mul(product, factor);
                  return s.add(a.back(), product);
                });
}

LogicalResult onhost::einsum(NodeContext &node) {
  Equation e;
  e.text = node.getString("equation", "");
  llvm::erase(e.text, ' ');
  auto [left, right] = StringRef(e.text).split("->");
  SmallVector<StringRef> texts;
  left.split(texts, ',');
  if (texts.size() != node.inputs.size())
    return node.refuse(
        formatv("its equation '{0}' has {1} operands, it has {2}", e.text,
                texts.size(), node.inputs.size()));
  SmallVector<Value> values;
  for (auto [i, text] : llvm::enumerate(texts)) {
    values.push_back(hostValue(node, i));
    if (!values.back() || failed(readTerm(node, e, i, text)))
      return failure();
  }
  e.result = resultOf(e, right, StringRef(e.text).contains("->"));
  Value v = sumOfProducts(node, e, values);
  if (!v)
    return node.refuse(formatv("its equation '{0}' is not valid", e.text));
  int type = typeOf(node.input(0));
  return give(node, 0, wrapped(node, v, type), type);
}

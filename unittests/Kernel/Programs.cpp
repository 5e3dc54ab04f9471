// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels: expressions are built for a required shape, so every program
// is valid by construction.
#include "Programs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace rhizome::kernel;
using namespace rhizome::kernel::test;

namespace {
using Shape = std::vector<int>;

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}
  std::string run();

private:
  struct Var {
    std::string name;
    Shape shape;
    bool input = false, output = false, assigned = false, halo = false;
    bool fortran = false;
  };
  std::mt19937 random;
  std::vector<Var> vars;
  std::string indexText;
  unsigned depth = 0;

  int below(int n) {
    return std::uniform_int_distribution<int>(0, n - 1)(random);
  }
  bool chance(int percent) { return below(100) < percent; }
  int extent() { return 1 + below(4); }
  Shape shape() {
    Shape out(below(4));
    for (int &e : out)
      e = extent();
    return out;
  }
  static std::string text(const Shape &shape) {
    return "[" +
           llvm::join(
               llvm::map_range(shape, [](int e) { return std::to_string(e); }),
               " ") +
           "]";
  }
  std::vector<const Var *> readable(const Shape *shape = nullptr) {
    std::vector<const Var *> out;
    for (const Var &v : vars)
      if ((v.input || v.assigned) && (!shape || (v.shape == *shape && !v.halo)))
        out.push_back(&v);
    return out;
  }
  std::string number() {
    static const char *numbers[] = {"2", "0.5", "3", "1.25e-3", "7", "0.1"};
    return numbers[below(6)];
  }
  std::string tensor(const Shape &shape);
  std::string product(const Shape &shape);
  std::string sumWithin(int extent,
                        const std::vector<std::pair<std::string, int>> &scope);
  std::string scalarIn(std::vector<std::pair<std::string, int>> &scope);
  std::string declaration(const Var &var);
  void statement(Var &target);
};
} // namespace

/// An expression of CFDlang with that shape, in parentheses unless it is an
/// atom.
std::string Generator::tensor(const Shape &shape) {
  auto same = readable(&shape);
  bool leaf = depth > 2;
  if (shape.empty() && (leaf || chance(30)))
    return same.empty() || chance(40) ? number()
                                      : same[below(same.size())]->name;
  if (!same.empty() && (leaf || chance(30)))
    return same[below(same.size())]->name;
  ++depth;
  std::string out;
  switch (leaf ? 5 : below(6)) {
  case 0:
    out = tensor(shape) + (chance(50) ? " + " : " - ") + tensor(shape);
    break;
  case 1:
    out = tensor(chance(50) ? shape : Shape()) + " * " + tensor(shape);
    break;
  case 2:
    out = tensor(shape) + " / " + tensor(chance(50) ? shape : Shape());
    break;
  case 3:
    if (shape.size() >= 2) {
      int a = below(shape.size()), b = below(shape.size());
      Shape inner = shape;
      std::swap(inner[a], inner[b]);
      out = tensor(inner) + " ^ [[" + std::to_string(a) + " " +
            std::to_string(b) + "]]";
      break;
    }
    [[fallthrough]];
  case 4:
    out = product(shape);
    break;
  default:
    if (shape.empty()) {
      out = number();
    } else {
      Shape rest(shape.begin() + 1, shape.end());
      out = "[";
      for (int i = 0; i < shape[0]; ++i)
        out += " " + tensor(rest);
      --depth;
      return out + " ]";
    }
  }
  --depth;
  return "(" + out + ")";
}

/// A product of two tensors with a contraction that leaves `shape`.
std::string Generator::product(const Shape &shape) {
  size_t split = below(shape.size() + 1);
  int k = extent();
  Shape left(shape.begin(), shape.begin() + split),
      right(shape.begin() + split, shape.end());
  size_t at = below(left.size() + 1), other = below(right.size() + 1);
  left.insert(left.begin() + at, k);
  right.insert(right.begin() + other, k);
  if (at + 1 == left.size() && other == 0 && chance(50))
    return tensor(left) + " . (" + tensor(right) + ")";
  return tensor(left) + " # " + tensor(right) + " . [[" + std::to_string(at) +
         " " + std::to_string(left.size() + other) + "]]";
}

/// A sum of names in scope that stays inside `extent`; "" if there is none.
std::string
Generator::sumWithin(int extent,
                     const std::vector<std::pair<std::string, int>> &scope) {
  std::string out;
  int low = 0, high = 0;
  for (int i = below(3); i >= 0 && !scope.empty(); --i) {
    auto &[name, size] = scope[below(scope.size())];
    int factor = 1 + below(2), sign = chance(80) ? 1 : -1;
    (sign < 0 ? low : high) += sign * factor * (size - 1);
    out += sign < 0 ? " - " : out.empty() ? "" : " + ";
    out += (factor > 1 ? std::to_string(factor) + "*" : "") + name;
  }
  int room = extent - 1 - (high - low);
  if (out.empty() || room < 0)
    return "";
  int offset = below(room + 1) - low;
  return out + (offset < 0 ? " - " : " + ") + std::to_string(std::abs(offset));
}

/// A factor of the index form over the names in scope.
std::string
Generator::scalarIn(std::vector<std::pair<std::string, int>> &scope) {
  ++depth;
  std::string out;
  int kind = depth > 4 ? 0 : below(8);
  auto all = readable();
  if (kind <= 2 && !all.empty()) {
    const Var &v = *all[below(all.size())];
    out = v.name;
    for (size_t d = 0; d < v.shape.size(); ++d) {
      std::vector<std::string> fitting;
      for (auto &[name, size] : scope)
        if (size == v.shape[d])
          fitting.push_back(name);
      std::string index = fitting.empty() || chance(15)
                              ? std::to_string(below(v.shape[d]))
                              : fitting[below(fitting.size())];
      std::string sum = chance(30) ? sumWithin(v.shape[d], scope) : "";
      if (v.halo && !fitting.empty() && chance(60) && !llvm::isDigit(index[0]))
        index += chance(50) ? " - 1" : " + 1";
      else if (!sum.empty())
        index = sum;
      out += (d ? ", " : "[") + index;
    }
    out += v.shape.empty() ? "" : "]";
  } else if (kind == 3 && !all.empty()) {
    const Var &v = *all[below(all.size())];
    if (v.shape.empty()) {
      out = v.name;
    } else {
      std::string k = "k" + std::to_string(scope.size());
      bool isPart = chance(30);
      int size = isPart ? 1 + below(v.shape[0]) : v.shape[0];
      scope.emplace_back(k, size);
      static const char *words[] = {"sum", "min", "max", "prod"};
      out = "(" + std::string(words[below(4)]) + "(" + k +
            (isPart ? " : " + std::to_string(size) : "") + ") " + v.name + "[" +
            k + (isPart ? " + " + std::to_string(v.shape[0] - size) : "");
      for (size_t d = 1; d < v.shape.size(); ++d)
        out += ", " + std::to_string(below(v.shape[d]));
      out += "] * " + scalarIn(scope) + ")";
      scope.pop_back();
    }
  } else if (kind == 4) {
    static const char *functions[] = {"sqrt", "exp", "abs", "tanh"};
    out = std::string(functions[below(4)]) + "(" + scalarIn(scope) + ")";
  } else if (kind == 5) {
    out = (chance(50) ? "max(" : "min(") + scalarIn(scope) + ", " +
          scalarIn(scope) + ")";
  } else if (kind == 6 || kind == 7) {
    static const char *signs[] = {" + ", " - ", " * ", " / "};
    out = "(" + scalarIn(scope) + signs[below(4)] + scalarIn(scope) + ")";
  } else {
    out = chance(20) ? "-" + number() : number();
  }
  --depth;
  return out;
}

void Generator::statement(Var &target) {
  depth = 0;
  if (chance(50)) {
    indexText += target.name + " = " + tensor(target.shape) + "\n";
  } else {
    std::vector<std::pair<std::string, int>> scope;
    std::string left;
    for (int size : target.shape) {
      scope.emplace_back("a" + std::to_string(scope.size()), size);
      left += (left.empty() ? "" : ", ") + scope.back().first;
    }
    // In parts, along the first dimension.
    if (!target.shape.empty() && chance(25)) {
      std::string rest = left.find(',') == std::string::npos
                             ? ""
                             : left.substr(left.find(','));
      scope.erase(scope.begin());
      for (int i = 0; i < target.shape[0]; ++i)
        indexText += target.name + "[" + std::to_string(i) + rest +
                     "] = " + scalarIn(scope) + "\n";
    } else {
      indexText += target.name + "[" + left + "] = " + scalarIn(scope) + "\n";
    }
  }
  target.assigned = true;
}

std::string Generator::declaration(const Var &var) {
  std::string out;
  if (var.fortran) {
    out = chance(50) ? "REAL(8), " : "real, ";
    out += var.input && var.output ? "INTENT(INOUT)"
           : var.input             ? "intent(in)"
                                   : "INTENT(OUT)";
    out += " :: " + var.name;
    if (!var.shape.empty())
      out += "(" +
             llvm::join(llvm::map_range(
                            var.shape, [](int e) { return std::to_string(e); }),
                        ",") +
             ")";
    return out + "\n";
  }
  out = std::string("var ") + (var.input ? "input " : "") +
        (var.output ? "output " : "") + var.name + " : " + text(var.shape);
  if (var.halo) {
    out += " halo [";
    for (size_t d = 0; d < var.shape.size(); ++d)
      out += d % 2 ? " 1" : " 1:2";
    out += "]";
  }
  static const char *annotations[] = {" @f32", " @fixed(8,24)",
                                      " @float(5,10) @accuracy(1e-6)",
                                      " @fixed(24,40)"};
  if (chance(25))
    out += annotations[below(4)];
  return out + "\n";
}

std::string Generator::run() {
  bool fortran = chance(20);
  int inputs = 1 + below(4), locals = below(3), outputs = 1 + below(2);
  for (int i = 0; i < inputs; ++i) {
    Var v{"in" + std::to_string(i), shape(), true};
    v.halo = !v.shape.empty() && chance(20);
    v.output = !v.halo && chance(10);
    v.fortran = fortran && !v.halo && chance(50);
    vars.push_back(v);
  }
  for (int i = 0; i < locals; ++i)
    vars.push_back({"t" + std::to_string(i), shape()});
  for (int i = 0; i < outputs; ++i) {
    Var v{"out" + std::to_string(i), shape()};
    v.output = true;
    v.fortran = fortran && chance(50);
    vars.push_back(v);
  }
  std::string out;
  for (const Var &v : vars)
    out += declaration(v);
  if (chance(20)) {
    out += "elem [in0 out0] " + std::to_string(1 + below(9));
    out += chance(50) ? " first\n" : " last\n";
  }
  for (Var &v : vars)
    if (!v.input || v.output)
      for (int i = chance(15) ? 2 : 1; i > 0; --i)
        statement(v);
  return out + indexText;
}

std::string rhizome::kernel::test::randomProgram(unsigned seed) {
  return Generator(seed).run();
}

std::optional<Program> rhizome::kernel::test::parsed(const std::string &text,
                                                     bool compat,
                                                     const std::string &name) {
  Source source{name + ".cfd", text};
  Diagnostics diagnostics(source);
  auto program = parseProgram(source, {name, compat}, diagnostics);
  EXPECT_TRUE(program.has_value()) << diagnostics.render() << text;
  return program;
}

std::string rhizome::kernel::test::errorsOf(const std::string &text,
                                            bool compat) {
  Source source{"k.cfd", text};
  Diagnostics diagnostics(source);
  auto program = parseProgram(source, {"k", compat}, diagnostics);
  EXPECT_EQ(program.has_value(), diagnostics.empty());
  return diagnostics.render();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations, roles and assignments: names are resolved, every variable is
// assigned before it is read, and completely.
#include "Checker.h"
#include "Limits.h"
#include "rhizome/Numeric/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace rhizome::kernel;

/// Maximum number of elements of one tensor; more is treated as a mistake.
static constexpr int64_t kMostElements = int64_t(1) << 32;

std::string rhizome::kernel::shown(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "a scalar";
  return "[" +
         llvm::join(
             llvm::map_range(
                 shape, [](int64_t extent) { return std::to_string(extent); }),
             " ") +
         "]";
}

bool Variable::hasHalo() const {
  return llvm::any_of(halo, [](auto margin) {
    return margin.first != 0 || margin.second != 0;
  });
}

std::vector<int> Program::arguments() const {
  std::vector<int> out;
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].isInput())
      out.push_back(i);
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].role == Role::Output)
      out.push_back(i);
  return out;
}

Program Checker::run() {
  ignoreCase = llvm::any_of(file.declarations,
                            [](const auto &one) { return one.isFortran; });
  declareTypes();
  for (const syntax::Declaration &declaration : file.declarations)
    declare(declaration);
  applyElements();
  inferRoles();
  for (const syntax::Assignment &assignment : file.assignments)
    assign(assignment);
  finish();
  return std::move(program);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

std::optional<Shape> Checker::shapeOf(const syntax::Type &type) {
  if (!type.name.empty()) {
    auto found = types.find(type.name);
    if (found != types.end())
      return found->second.first;
    diagnostics.error(type.at, "there is no type '" + type.name + "'",
                      "declare it before, for example: type " + type.name +
                          " : [8 8]");
    return std::nullopt;
  }
  int64_t elements = 1;
  for (int64_t extent : type.extents) {
    if (extent < 1) {
      diagnostics.error(type.at, "an extent is " + llvm::Twine(extent),
                        "extents are at least 1");
      return std::nullopt;
    }
    if (extent > kMostElements / elements) {
      diagnostics.error(type.at, "a tensor of " + shown(type.extents) +
                                     " has more than 2^32 elements");
      return std::nullopt;
    }
    elements *= extent;
  }
  return type.extents;
}

void Checker::declareTypes() {
  for (const syntax::TypeName &one : file.types) {
    if (auto found = types.find(one.name); found != types.end()) {
      Diagnostic &d = diagnostics.error(one.at, "the type '" + one.name +
                                                    "' is declared twice");
      d.other = found->second.second, d.note = "first here";
    }
    types[one.name] = {one.isUnread ? std::nullopt : shapeOf(one.type), one.at};
  }
}

void Checker::annotate(Variable &variable,
                       const syntax::Annotation &annotation) {
  llvm::StringRef name = annotation.name;
  auto wrong = [&](const llvm::Twine &what, const llvm::Twine &remedy) {
    diagnostics.error(annotation.at, what, remedy);
  };
  size_t count = annotation.arguments.size();
  if (name == "f32" || name == "f64") {
    if (count)
      return wrong("'@" + name + "' takes no arguments", "");
    variable.bits = name == "f32" ? 32 : 64;
    return;
  }
  if (name == "accuracy") {
    double bound;
    if (count != 1 || annotation.arguments[0].getAsDouble(bound) ||
        !(bound > 0) || !std::isfinite(bound))
      return wrong("'@accuracy' takes one positive number",
                   "for example @accuracy(1e-9)");
    variable.accuracy = bound;
    return;
  }
  bool plain = name == "f16" || name == "bf16";
  const bool widthFirst = name == "ap_fixed" || name == "ap_ufixed";
  bool withWidths =
      widthFirst || name == "fixed" || name == "ufixed" || name == "float";
  if (!plain && !withWidths)
    return wrong("there is no annotation '@" + name + "'",
                 "there are @f16, @bf16, @f32, @f64, @fixed(8,24), "
                 "@ufixed(8,24), @float(8,23) and @accuracy(1e-9)");
  if (plain && count)
    return wrong("'@" + name + "' takes no arguments", "");
  if (withWidths && count < 2)
    return wrong("'@" + name + "' takes at least two widths",
                 name == "float" ? "for example @float(8,23): exponent and "
                                   "mantissa bits"
                 : widthFirst    ? "for example @ap_fixed(32,8): the width and "
                                   "the integer bits among them"
                                 : "for example @fixed(8,24): integer and "
                                   "fraction bits");
  for (size_t i = 0; withWidths && i < 2; ++i) {
    int64_t bits;
    if (annotation.arguments[i].getAsInteger(10, bits) || bits < 0 ||
        bits > 128)
      return wrong("'" + annotation.arguments[i] + "' is not a width in bits",
                   "widths are between 0 and 128");
  }
  variable.format = name.str();
  if (count)
    variable.format += "<" + llvm::join(annotation.arguments, ",") + ">";
  std::string error;
  auto format = numeric::Format::parse(variable.format, error);
  if (!format)
    return wrong(error, "");
  if (!widthFirst)
    return;
  if (format->fractionBits < 0)
    return wrong("'@" + name + "' has more integer bits than bits",
                 "the width comes first");
  variable.format = format->str();
}

void Checker::declare(const syntax::Declaration &declaration) {
  Variable variable;
  State state;
  variable.name = declaration.name.str();
  variable.at = declaration.at;
  if (int old = find(declaration.name); old >= 0) {
    Diagnostic &d = diagnostics.error(
        declaration.at, "'" + declaration.name + "' is declared twice");
    d.other = program.variables[old].at, d.note = "first here";
    return;
  }
  std::optional<Shape> shape;
  if (!declaration.isUnread)
    shape = shapeOf(declaration.type);
  state.known = shape.has_value();
  variable.extents = shape.value_or(Shape());
  variable.columnMajor = declaration.isFortran;
  variable.bits = declaration.bits;
  variable.role = declaration.isInput
                      ? declaration.isOutput ? Role::InOut : Role::Input
                  : declaration.isOutput ? Role::Output
                                         : Role::Local;
  state.inferred = declaration.isFortran && !declaration.hasIntent;
  variable.halo.assign(variable.extents.size(), {0, 0});
  if (!declaration.halo.empty() && state.known) {
    if (declaration.halo.size() != variable.extents.size())
      diagnostics.error(declaration.haloAt,
                        "the halo names " +
                            llvm::Twine(declaration.halo.size()) +
                            " dimensions, '" + variable.name + "' has " +
                            llvm::Twine(variable.extents.size()),
                        "give one width for each dimension");
    else if (variable.role != Role::Input)
      diagnostics.error(
          declaration.haloAt,
          "'" + variable.name + "' has a halo but is not only an input",
          "the caller fills a halo: declare it 'var input', or leave "
          "the halo out");
    else if (llvm::any_of(declaration.halo, [](auto margin) {
               return margin.first > 4096 || margin.second > 4096;
             }))
      diagnostics.error(declaration.haloAt, "a halo is wider than 4096");
    else
      variable.halo = declaration.halo;
  }
  for (const syntax::Annotation &annotation : declaration.annotations)
    annotate(variable, annotation);
  names[ignoreCase ? declaration.name.lower() : declaration.name.str()] =
      program.variables.size();
  program.variables.push_back(std::move(variable));
  states.push_back(std::move(state));
}

void Checker::applyElements() {
  if (!file.elements)
    return;
  if (file.elements->count < 1)
    diagnostics.error(file.elements->at,
                      "an elem loop of " + llvm::Twine(file.elements->count) +
                          " elements",
                      "there is at least one");
  program.elements = file.elements->count;
  for (auto [at, name] : file.elements->names) {
    int variable = find(name);
    if (variable < 0)
      diagnostics.error(at, "'" + name + "' is not declared" + nearest(name));
    else
      program.variables[variable].element = file.elements->where;
  }
}

/// Names that an expression reads.
static void collectReads(const syntax::Node &node,
                         const std::function<void(llvm::StringRef)> &visit) {
  if (node.kind == syntax::Node::Kind::Name ||
      node.kind == syntax::Node::Kind::Access)
    visit(node.name);
  for (const syntax::NodePtr &operand : node.operands)
    collectReads(*operand, visit);
}

/// Fortran without INTENT: never assigned, an input; assigned and never read,
/// an output; read before it is assigned, both; otherwise local.
void Checker::inferRoles() {
  std::vector<bool> assigned(states.size()), read(states.size()),
      early(states.size());
  for (const syntax::Assignment &assignment : file.assignments) {
    collectReads(*assignment.value, [&](llvm::StringRef name) {
      if (int v = find(name); v >= 0) {
        read[v] = true;
        early[v] = early[v] || !assigned[v];
      }
    });
    if (int v = find(assignment.target); v >= 0)
      assigned[v] = true;
  }
  for (size_t v = 0; v < states.size(); ++v)
    if (states[v].inferred)
      program.variables[v].role = !assigned[v] ? Role::Input
                                  : early[v]   ? Role::InOut
                                  : read[v]    ? Role::Local
                                               : Role::Output;
  for (size_t v = 0; v < states.size(); ++v)
    states[v].complete = program.variables[v].isInput();
  for (llvm::StringRef target : file.unreadTargets)
    if (int v = find(target); v >= 0)
      states[v].complete = states[v].isAssigned = true;
}

void Checker::finish() {
  for (const Variable &variable : program.variables) {
    size_t v = &variable - program.variables.data();
    if (v >= states.size() || !states[v].known || !variable.isOutput())
      continue;
    if (!states[v].isAssigned)
      diagnostics.error(variable.at,
                        "the output '" + variable.name + "' is never assigned",
                        "assign it, or declare it an input");
    else if (!states[v].complete)
      diagnostics.error(states[v].assigned,
                        "the output '" + variable.name +
                            "' is assigned only in part",
                        "assign every number of the dimension");
  }
  if (std::vector<int> arguments = program.arguments();
      arguments.size() > kMostArguments)
    diagnostics.error(program.variables[arguments[kMostArguments]].at,
                      "the kernel has " + llvm::Twine(arguments.size()) +
                          " inputs and outputs, more than the " +
                          llvm::Twine(kMostArguments) + " that are supported",
                      "stack those of one shape in one array");
  if (diagnostics.empty() &&
      llvm::none_of(program.variables,
                    [](const Variable &v) { return v.isOutput(); }))
    diagnostics.error(file.end, "the kernel has no output",
                      "declare one, for example: var output v : [8 8]");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

int Checker::find(llvm::StringRef name) const {
  auto found = names.find(ignoreCase ? name.lower() : name.str());
  return found == names.end() ? -1 : found->second;
}

std::string Checker::nearest(llvm::StringRef name) const {
  unsigned best = 3;
  llvm::StringRef closest;
  for (const Variable &variable : program.variables) {
    unsigned distance = name.edit_distance(variable.name, true, best);
    if (distance < best && distance < name.size())
      best = distance, closest = variable.name;
  }
  return closest.empty() ? "" : "; did you mean '" + closest.str() + "'?";
}

std::string Checker::freshName(llvm::StringRef base) {
  for (unsigned i = 1;; ++i) {
    std::string name = (base + "_" + llvm::Twine(i)).str();
    if (find(name) < 0)
      return name;
  }
}

std::string
Checker::declarationOf(llvm::StringRef name, bool isRead,
                       const std::vector<syntax::Index> &indices) const {
  const std::string extents = extentsOf(indices);
  std::string text =
      "declare it" + std::string(extents.empty()
                                     ? ", with its extents in the brackets: "
                                     : ": ");
  if (!ignoreCase)
    return text + (isRead ? "var input " : "var ") + name.str() + " : " +
           (extents.empty() ? "[]" : extents);
  std::string list = llvm::StringRef(extents)
                         .drop_front(!extents.empty())
                         .drop_back(!extents.empty())
                         .str();
  std::replace(list.begin(), list.end(), ' ', ',');
  return text + "REAL(8) :: " + name.str() +
         (list.empty() ? "(…)" : "(" + list + ")");
}

int Checker::read(llvm::StringRef name, Place at,
                  const std::vector<syntax::Index> &indices) {
  int variable = find(name);
  if (variable < 0) {
    diagnostics.error(at, "'" + name + "' is not declared" + nearest(name),
                      nearest(name).empty()
                          ? declarationOf(name, /*isRead=*/true, indices)
                          : "");
    return -1;
  }
  State &state = states[variable];
  if (!state.known)
    return -1;
  if (!state.complete) {
    Diagnostic &d = diagnostics.error(
        at,
        state.isAssigned ? "'" + name + "' is read, but assigned only in part"
                         : "'" + name + "' is read before it is assigned",
        state.isAssigned ? "assign every number of the dimension"
                         : "assign it before, or declare it an input");
    d.other = program.variables[variable].at;
    d.note = "it is declared here";
    state.known = false;
    return -1;
  }
  state.read = true;
  return variable;
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

bool Checker::checkTarget(int variable, const syntax::Assignment &assignment) {
  if (variable < 0) {
    diagnostics.error(assignment.at,
                      "'" + assignment.target + "' is not declared" +
                          nearest(assignment.target),
                      nearest(assignment.target).empty()
                          ? declarationOf(assignment.target, /*isRead=*/false,
                                          assignment.indices)
                          : "");
    return false;
  }
  const Variable &target = program.variables[variable];
  if (target.role == Role::Input) {
    Diagnostic &d = diagnostics.error(
        assignment.at,
        "'" + target.name + "' is an input and cannot be assigned",
        target.columnMajor
            ? "declare it INTENT(INOUT)"
            : "declare it 'var input output " + target.name + "'");
    d.other = target.at, d.note = "it is declared here";
    return false;
  }
  return true;
}

void Checker::assign(const syntax::Assignment &assignment) {
  current = &assignment;
  int target = find(assignment.target);
  bool good = checkTarget(target, assignment);
  size_t errors = diagnostics.size(),
         parts = good ? states[target].parts.size() : 0;
  if (!good || !states[target].known) {
    // Its value may contain mistakes as well.
    if (!assignment.isIndexForm)
      tensorShape(*assignment.value);
  } else if (assignment.isIndexForm) {
    indexAssignment(target, assignment);
  } else {
    tensorAssignment(target, assignment);
  }
  // Of a value that is wrong here, or reads what was reported before.
  if (good &&
      (diagnostics.size() > errors || !states[target].isAssigned ||
       (!states[target].complete && states[target].parts.size() == parts)))
    states[target].complete = states[target].isAssigned = true;
}

/// Whether `parts`, equal before dimension d, cover every element: an index
/// covers its dimension, a number one position of it.
static bool covers(std::vector<const std::vector<Subscript> *> parts,
                   llvm::ArrayRef<int64_t> extents, size_t d) {
  if (parts.empty() || d == extents.size())
    return !parts.empty();
  std::set<int64_t> numbers;
  for (const auto *part : parts)
    if ((*part)[d].isNumber())
      numbers.insert((*part)[d].offset);
  auto at = [&](std::optional<int64_t> number) {
    std::vector<const std::vector<Subscript> *> out;
    for (const auto *part : parts)
      if (!(*part)[d].isNumber() || (*part)[d].offset == number)
        out.push_back(part);
    return covers(std::move(out), extents, d + 1);
  };
  bool rest = int64_t(numbers.size()) == extents[d] || at(std::nullopt);
  return rest && llvm::all_of(numbers, at);
}

void Checker::markAssigned(int variable,
                           const std::vector<Subscript> &subscripts, Place at) {
  State &state = states[variable];
  state.isAssigned = true;
  state.assigned = at;
  if (state.complete)
    return;
  state.parts.push_back(subscripts);
  std::vector<const std::vector<Subscript> *> parts;
  for (const auto &part : state.parts)
    parts.push_back(&part);
  state.complete =
      covers(std::move(parts), program.variables[variable].extents, 0);
}

ExprPtr Checker::literal(double value, Place at) {
  auto out = std::make_shared<Expr>();
  out->kind = Expr::Kind::Literal;
  out->at = at;
  out->literal = value;
  return out;
}

ExprPtr Checker::apply(Operator op, std::vector<ExprPtr> operands, Place at) {
  if (op == Operator::Negate && operands[0]->kind == Expr::Kind::Literal)
    return literal(-operands[0]->literal, at);
  auto out = std::make_shared<Expr>();
  out->kind = Expr::Kind::Apply;
  out->at = at;
  out->op = op;
  out->operands = std::move(operands);
  return out;
}

std::optional<Program>
rhizome::kernel::parseProgram(const Source &source, const ParseOptions &options,
                              Diagnostics &diagnostics) {
  syntax::File file = syntax::parse(source, options.cfdlangCompat, diagnostics);
  bool readable = diagnostics.empty();
  // Checking a part that could not be read would only cause follow-up errors.
  Program program;
  if (readable || !file.assignments.empty())
    program = Checker(std::move(file), source, diagnostics).run();
  program.name = options.name;
  if (!diagnostics.empty())
    return std::nullopt;
  return program;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replaces a call by a body: maps the body's tensors to the
// caller's, and resolves attributes that refer to the call's. ONNX requires
// that an operation means the same in the opsets of model and function; if
// it does not, the function is refused.
#include "Functions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace rhizome;
using llvm::formatv;
using llvm::StringRef;
using onnx::AttributeProto;
using onnx::FunctionProto;
using onnx::NodeProto;

// Fields that are newer than the protobuf classes that we use.
constexpr int kNodeOverload = 8, kFunctionOverload = 13, kAttributeProto = 11;
/// Maximum depth of calls; real models stay far below.
constexpr size_t kMaxDepth = 64;
/// Longer names of calls are truncated, otherwise they would grow with the
/// depth.
constexpr size_t kMaxPrefix = 200;

/// The values of a length-delimited field that our protobuf classes lack.
static std::vector<std::string> laterField(const google::protobuf::Message &m,
                                           int number) {
  std::vector<std::string> values;
  const auto &fields = m.GetReflection()->GetUnknownFields(m);
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == number &&
        fields.field(i).type() ==
            google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      values.push_back(fields.field(i).length_delimited());
  return values;
}

static std::string overloadOf(const google::protobuf::Message &m, int number) {
  std::vector<std::string> values = laterField(m, number);
  return values.empty() ? "" : values.back();
}

static std::string keyOf(StringRef domain, StringRef name, StringRef overload) {
  return formatv("{0}\x1f{1}\x1f{2}", domain == "ai.onnx" ? "" : domain, name,
                 overload);
}

static const AttributeProto *
find(const google::protobuf::RepeatedPtrField<AttributeProto> &attributes,
     StringRef name) {
  for (const AttributeProto &a : attributes)
    if (a.name() == name)
      return &a;
  return nullptr;
}

static int64_t defaultOpset(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &sets) {
  int64_t version = 0;
  for (const onnx::OperatorSetIdProto &set : sets)
    if (set.domain().empty() || set.domain() == "ai.onnx")
      version = std::max<int64_t>(version, set.version());
  return version;
}

/// The opset in which the meaning of `op` changed, among those that we read
/// differently from before; 0 if in none.
static int64_t changedIn(StringRef op) {
  if (op == "Softmax" || op == "LogSoftmax" || op == "Hardmax")
    return 13;
  return op == "Resize" ? 11 : 0;
}

/// Renames what a body reads from around itself; `own` is what bodies around it
/// name.
static void
renameCaptures(onnx::GraphProto &body, llvm::StringSet<> own,
               llvm::function_ref<std::string(const std::string &)> renamed) {
  for (const onnx::ValueInfoProto &v : body.input())
    own.insert(v.name());
  for (const onnx::TensorProto &t : body.initializer())
    own.insert(t.name());
  for (const NodeProto &n : body.node())
    for (const std::string &name : n.output())
      own.insert(name);
  for (NodeProto &n : *body.mutable_node()) {
    for (std::string &name : *n.mutable_input())
      if (!own.contains(name))
        name = renamed(name);
    for (AttributeProto &a : *n.mutable_attribute())
      if (a.has_g())
        renameCaptures(*a.mutable_g(), own, renamed);
  }
  for (onnx::ValueInfoProto &v : *body.mutable_output())
    if (!own.contains(v.name()))
      v.set_name(renamed(v.name()));
}

namespace {
class Inliner {
public:
  Inliner(onnx::ModelProto &model, int64_t limit, Refusals &refusals)
      : model(model), graph(*model.mutable_graph()), limit(limit),
        refusals(refusals), before(refusals.size()) {}
  void run();

private:
  struct Function {
    const FunctionProto *proto;
    std::vector<AttributeProto> defaults; ///< of its attributes
    int64_t opset;
  };
  void index();
  void takeNames();
  void emit(NodeProto node);
  void call(const NodeProto &node, const Function &f);
  bool checkCall(const NodeProto &node, const Function &f);
  bool bind(NodeProto &made, const NodeProto &node, const Function &f);
  std::string fresh(const std::string &prefix, const std::string &name);
  void refuse(std::string reason, std::string remedy = "") {
    refusals.push_back({place, placeOp, std::move(reason), std::move(remedy)});
  }
  bool failed() const { return refusals.size() != before; }
  static std::string nameOf(const NodeProto &node) {
    return !node.name().empty()      ? node.name()
           : node.output_size() != 0 ? node.output(0)
                                     : node.op_type();
  }

  onnx::ModelProto &model;
  onnx::GraphProto &graph;
  int64_t limit; ///< nodes and calls that may still be written
  Refusals &refusals;
  const size_t before; ///< previous refusals
  llvm::StringMap<Function> functions;
  llvm::StringSet<> taken; ///< tensor names
  std::vector<const Function *> stack;
  std::string place, placeOp; ///< the call to which a refusal refers
  int64_t modelOpset = 0;
};
} // namespace

void Inliner::index() {
  modelOpset = defaultOpset(model.opset_import());
  for (const FunctionProto &f : model.functions()) {
    Function entry{&f, {}, defaultOpset(f.opset_import())};
    place = f.name();
    placeOp = "function";
    for (const std::string &bytes : laterField(f, kAttributeProto))
      if (AttributeProto a; a.ParseFromString(bytes))
        entry.defaults.push_back(std::move(a));
      else
        refuse("a default of its attributes is damaged", "export it again");
    if (!functions
             .try_emplace(
                 keyOf(f.domain(), f.name(), overloadOf(f, kFunctionOverload)),
                 std::move(entry))
             .second)
      refuse(
          formatv("two functions of domain '{0}' have this name", f.domain()),
          "give them different names");
  }
}

void Inliner::takeNames() {
  for (const onnx::TensorProto &t : graph.initializer())
    taken.insert(t.name());
  for (const onnx::ValueInfoProto &v : graph.input())
    taken.insert(v.name());
  for (const NodeProto &n : graph.node())
    for (const auto *list : {&n.input(), &n.output()})
      for (const std::string &name : *list)
        taken.insert(name);
}

std::string Inliner::fresh(const std::string &prefix, const std::string &name) {
  std::string made = prefix + "/" + name;
  for (int i = 2; !taken.insert(made).second; ++i)
    made = prefix + "/" + name + "#" + std::to_string(i);
  return made;
}

bool Inliner::checkCall(const NodeProto &node, const Function &f) {
  if (auto again = llvm::find(stack, &f); again != stack.end()) {
    std::string path;
    for (const Function *g : llvm::make_range(again, stack.end()))
      path += "'" + g->proto->name() + "' calls ";
    refuse(
        formatv("the function calls itself: {0}'{1}'", path, f.proto->name()),
        "a network for hardware must be finite: unroll it");
  } else if (stack.size() >= kMaxDepth) {
    refuse(formatv("more than {0} functions call each other", kMaxDepth),
           "export the model with its functions inlined");
  }
  if (node.input_size() > f.proto->input_size())
    refuse(formatv("it has {0} inputs, the function takes {1}",
                   node.input_size(), f.proto->input_size()));
  if (node.output_size() > f.proto->output_size())
    refuse(formatv("it has {0} outputs, the function gives {1}",
                   node.output_size(), f.proto->output_size()));
  for (const AttributeProto &a : node.attribute())
    if (!llvm::is_contained(f.proto->attribute(), a.name()) &&
        llvm::none_of(f.defaults, [&](const AttributeProto &d) {
          return d.name() == a.name();
        }))
      refuse(formatv("the function has no attribute '{0}'", a.name()));
  return !failed();
}

/// Gives attributes that refer to the call's their values.
bool Inliner::bind(NodeProto &made, const NodeProto &node, const Function &f) {
  google::protobuf::RepeatedPtrField<AttributeProto> attributes;
  attributes.Swap(made.mutable_attribute());
  for (AttributeProto &a : attributes) {
    if (a.ref_attr_name().empty()) {
      *made.add_attribute() = std::move(a);
      continue;
    }
    const AttributeProto *value = find(node.attribute(), a.ref_attr_name());
    bool declared =
        value || llvm::is_contained(f.proto->attribute(), a.ref_attr_name());
    for (const AttributeProto &d : f.defaults)
      if (!value && d.name() == a.ref_attr_name())
        value = &d;
    if (!value && !declared) {
      refuse(formatv("the function's node '{0}' takes its attribute '{1}' "
                     "from '{2}', which the function does not have",
                     nameOf(made), a.name(), a.ref_attr_name()));
      return false;
    }
    if (!value) // left to the operation's own default
      continue;
    if (a.type() && value->type() && a.type() != value->type()) {
      refuse(formatv("its attribute '{0}' holds another kind of value than "
                     "the function's node '{1}' expects",
                     value->name(), nameOf(made)));
      return false;
    }
    AttributeProto &bound = *made.add_attribute();
    bound = *value;
    bound.set_name(a.name());
  }
  return true;
}

void Inliner::call(const NodeProto &node, const Function &f) {
  const FunctionProto &proto = *f.proto;
  std::string prefix = nameOf(node);
  if (prefix.size() > kMaxPrefix)
    prefix = "call#" + std::to_string(limit);
  llvm::StringMap<std::string> names; ///< of the body's tensors
  auto argument = [](const auto &list, int i) {
    return i < list.size() ? list.Get(i) : std::string();
  };
  for (int i = 0; i < proto.input_size(); ++i)
    if (!names.try_emplace(proto.input(i), argument(node.input(), i)).second)
      return refuse(formatv("two inputs of the function are named '{0}'",
                            proto.input(i)));
  for (int i = 0; i < proto.output_size(); ++i) {
    std::string to = argument(node.output(), i);
    if (to.empty()) // it is not used
      continue;
    auto [entry, isNew] = names.try_emplace(proto.output(i), to);
    if (isNew)
      continue;
    // An input that is returned, or one tensor returned twice.
    NodeProto same;
    same.set_name(prefix + "/" + proto.output(i));
    same.set_op_type("Identity");
    same.add_input(entry->second);
    same.add_output(to);
    emit(std::move(same));
  }
  auto renamed = [&](const std::string &name) {
    if (name.empty())
      return name;
    auto [entry, isNew] = names.try_emplace(name);
    if (isNew)
      entry->second = fresh(prefix, name);
    return entry->second;
  };
  for (const NodeProto &n : proto.node()) {
    NodeProto made = n;
    if (n.domain().empty() || n.domain() == "ai.onnx")
      if (int64_t change = changedIn(n.op_type());
          f.opset && modelOpset && (f.opset < change) != (modelOpset < change))
        return refuse(formatv("the function has opset {0}, the model {1}, and "
                              "{2} changed its meaning between them",
                              f.opset, modelOpset, n.op_type()),
                      "export the function with the model's opset");
    if (!bind(made, node, f))
      return;
    made.set_name(prefix + "/" + nameOf(n));
    for (std::string &name : *made.mutable_input())
      name = renamed(name);
    for (std::string &name : *made.mutable_output())
      name = renamed(name);
    for (AttributeProto &a : *made.mutable_attribute())
      if (a.has_g())
        renameCaptures(*a.mutable_g(), {}, renamed);
    emit(std::move(made));
    if (failed())
      return;
  }
}

void Inliner::emit(NodeProto node) {
  if (--limit < 0) {
    if (limit == -1)
      refuse("its functions, written out, have too many nodes",
             "export the model without functions, or in parts");
    return;
  }
  auto found = functions.find(
      keyOf(node.domain(), node.op_type(), overloadOf(node, kNodeOverload)));
  if (found == functions.end()) {
    *graph.add_node() = std::move(node);
    return;
  }
  std::string outer = std::exchange(place, nameOf(node)),
              outerOp = std::exchange(placeOp, node.op_type());
  if (checkCall(node, found->second)) {
    stack.push_back(&found->second);
    call(node, found->second);
    stack.pop_back();
  }
  place = std::move(outer);
  placeOp = std::move(outerOp);
}

void Inliner::run() {
  if (model.functions_size() == 0)
    return;
  index();
  takeNames();
  place = placeOp = "";
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  nodes.Swap(graph.mutable_node());
  for (NodeProto &n : nodes)
    if (!failed())
      emit(std::move(n));
}

void importer::inlineFunctions(onnx::ModelProto &model,
                               const ImportOptions::Limits &limits,
                               Refusals &refusals) {
  Inliner(model, limits.nodes, refusals).run();
}

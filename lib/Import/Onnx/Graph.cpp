// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing and the checks that concern the file as a whole. We parse the
// protobuf only: ONNX's own checker knows fewer versions than we read.
#include "Constant.h"
#include "Decompose.h"
#include "Functions.h"
#include "Types.h"
#include "rhizome/Support/Spelling.h"
#include "rhizome/Support/Untrusted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <queue>
#include <set>

using namespace rhizome;
using namespace rhizome::importer;
using llvm::formatv;
using llvm::StringRef;

Node::Node(const onnx::NodeProto &proto, size_t index) : proto(proto) {
  name = proto.name();
  for (const std::string &output : proto.output())
    if (name.empty())
      name = output;
  if (name.empty())
    name = formatv("{0}#{1}", proto.op_type(), index).str();
}

const onnx::AttributeProto *Node::find(StringRef attribute) const {
  for (const onnx::AttributeProto &a : proto.attribute())
    if (a.name() == attribute)
      return &a;
  return nullptr;
}

int64_t Node::getInt(StringRef attribute, int64_t fallback) const {
  const onnx::AttributeProto *a = find(attribute);
  return a && a->has_i() ? a->i() : fallback;
}

double Node::getFloat(StringRef attribute, double fallback) const {
  const onnx::AttributeProto *a = find(attribute);
  return a && a->has_f() ? a->f() : fallback;
}

std::string Node::getString(StringRef attribute, std::string fallback) const {
  const onnx::AttributeProto *a = find(attribute);
  return a && a->has_s() ? a->s() : fallback;
}

std::optional<std::vector<int64_t>> Node::getInts(StringRef attribute) const {
  const onnx::AttributeProto *a = find(attribute);
  if (!a)
    return std::nullopt;
  return std::vector<int64_t>(a->ints().begin(), a->ints().end());
}

static void checkVersions(Graph &graph, Refusals &refusals) {
  const onnx::ModelProto &model = graph.model;
  if (model.ir_version() < 3 || model.ir_version() > 14)
    refusals.push_back(
        {"", "",
         formatv("the file has IR version {0}, we read 3 to 14",
                 model.ir_version()),
         "convert it with onnx.version_converter or export it anew"});
  auto take = [&](const auto &sets) {
    for (const onnx::OperatorSetIdProto &set : sets)
      if (set.domain().empty() || set.domain() == "ai.onnx")
        graph.opset = std::max<int64_t>(graph.opset, set.version());
  };
  take(model.opset_import());
  if (graph.opset == 0) // all its standard operations are inside functions
    for (const onnx::FunctionProto &function : model.functions())
      take(function.opset_import());
  auto isStandard = [](const std::string &domain) {
    return domain.empty() || domain == "ai.onnx";
  };
  if (graph.opset == 0) { // none of ONNX's own operations, or none declared
    graph.isOfKnownVersion = true;
    graph.opset = 13;
    for (const onnx::NodeProto &n : model.graph().node())
      if (isStandard(n.domain())) {
        refusals.push_back(
            {Node(n, 0).name, n.op_type(),
             "the file uses this operation of ONNX, but imports no opset of "
             "ONNX's domain",
             "add the opset to the model's opset_import, or export it anew"});
        return;
      }
    return;
  }
  graph.isOfKnownVersion = graph.opset >= 7 && graph.opset <= 28;
  if (!graph.isOfKnownVersion)
    refusals.push_back(
        {"", "",
         formatv("the file has opset {0}, we read 7 to 28", graph.opset),
         "convert it with onnx.version_converter or export it "
         "anew with opset 13"});
}

/// Names reach JSON files and RTL comments, which must be UTF-8.
static void findBadNames(const onnx::GraphProto &g, llvm::StringSet<> &bad) {
  auto check = [&](const std::string &name) {
    if (!llvm::json::isUTF8(name))
      bad.insert(llvm::json::fixUTF8(name));
  };
  check(g.name());
  for (const onnx::NodeProto &n : g.node()) {
    check(n.name());
    check(n.op_type());
    check(n.domain());
    for (const auto *list : {&n.input(), &n.output()})
      for (const std::string &name : *list)
        check(name);
    for (const onnx::AttributeProto &a : n.attribute())
      if (a.has_g())
        findBadNames(a.g(), bad);
  }
  for (const onnx::TensorProto &t : g.initializer())
    check(t.name());
  for (const auto *list : {&g.input(), &g.output()})
    for (const onnx::ValueInfoProto &v : *list)
      check(v.name());
}

static bool checkNames(const onnx::GraphProto &g, Refusals &refusals) {
  llvm::StringSet<> bad;
  findBadNames(g, bad);
  std::vector<std::string> names;
  for (const auto &entry : bad)
    names.push_back(entry.getKey().str());
  llvm::sort(names);
  for (const std::string &name : names)
    refusals.push_back({name, "", "this name is not UTF-8",
                        "rename it, or export the model anew"});
  return names.empty();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

const onnx::GraphProto *importer::bodyOf(const onnx::NodeProto &node) {
  if ((node.op_type() != "Scan" && node.op_type() != "Loop") ||
      !(node.domain().empty() || node.domain() == "ai.onnx"))
    return nullptr;
  for (const onnx::AttributeProto &a : node.attribute())
    if (a.name() == "body" && a.has_g())
      return &a.g();
  return nullptr;
}

std::vector<const onnx::GraphProto *>
importer::innerGraphsOf(const onnx::NodeProto &node) {
  std::vector<const onnx::GraphProto *> inner;
  if (const onnx::GraphProto *body = bodyOf(node))
    inner.push_back(body);
  if (node.op_type() == "If" &&
      (node.domain().empty() || node.domain() == "ai.onnx"))
    for (const onnx::AttributeProto &a : node.attribute())
      if (a.has_g())
        inner.push_back(&a.g());
  return inner;
}

/// What a body reads from around itself, bodies within it included.
static std::vector<std::string> capturesOf(const onnx::GraphProto &body) {
  llvm::StringSet<> own;
  for (const onnx::ValueInfoProto &v : body.input())
    own.insert(v.name());
  for (const onnx::TensorProto &t : body.initializer())
    own.insert(t.name());
  for (const onnx::NodeProto &n : body.node())
    for (const std::string &name : n.output())
      own.insert(name);
  std::vector<std::string> captures;
  auto read = [&](const std::string &name) {
    if (!name.empty() && own.insert(name).second)
      captures.push_back(name);
  };
  for (const onnx::NodeProto &n : body.node()) {
    for (const std::string &name : n.input())
      read(name);
    for (const onnx::GraphProto *inner : innerGraphsOf(n))
      for (const std::string &name : capturesOf(*inner))
        read(name);
  }
  for (const onnx::ValueInfoProto &v : body.output())
    read(v.name());
  return captures;
}

/// Makes what bodies read from around themselves inputs of their nodes, after
/// those that the file gives: then the graph says what every node needs.
static void addCaptures(onnx::GraphProto &graph, Refusals &refusals) {
  for (onnx::NodeProto &n : *graph.mutable_node()) {
    const onnx::GraphProto *body = bodyOf(n);
    if (!body) {
      llvm::StringSet<> given; // of both branches, each once
      for (const onnx::GraphProto *branch : innerGraphsOf(n))
        for (const std::string &name : capturesOf(*branch))
          if (given.insert(name).second)
            n.add_input(name);
      continue;
    }
    if (n.input_size() > body->input_size())
      refusals.push_back(
          {Node(n, 0).name, n.op_type(),
           formatv("it has {0} inputs, its body takes {1}", n.input_size(),
                   body->input_size()),
           "give the body an input for each, or export the model anew"});
    while (n.input_size() < body->input_size()) // those that are left out
      n.add_input("");
    for (const std::string &name : capturesOf(*body))
      n.add_input(name);
  }
}

/// Fills initializers, inputs and value infos; refuses tensors whose data does
/// not fit their shape, and names that are produced twice.
static void collectTensors(Graph &graph, Refusals &refusals) {
  const onnx::GraphProto &g = graph.model.graph();
  for (const onnx::TensorProto &t : g.initializer()) {
    if (!graph.initializers.try_emplace(t.name(), &t).second)
      refusals.push_back({t.name(), "initializer",
                          "two initializers have the same name",
                          "rename one of them, and the inputs that mean it"});
    if (std::string why = checkTensor(t); !why.empty()) {
      refusals.push_back({t.name(), "initializer", why,
                          "export the model anew, or fetch the file again"});
      graph.refusedTensors.insert(t.name());
    }
  }
  for (const onnx::SparseTensorProto &t : g.sparse_initializer()) {
    refusals.push_back({t.values().name(), "sparse_initializer",
                        "sparse initializers are not supported",
                        "store the tensor densely"});
    graph.refusedTensors.insert(t.values().name());
  }
  llvm::StringSet<> seen;
  for (const onnx::ValueInfoProto &v : g.input()) {
    if (!seen.insert(v.name()).second)
      refusals.push_back({v.name(), "input",
                          "two graph inputs have the same name",
                          "rename one of them, and the inputs that mean it"});
    else if (!graph.initializers.count(v.name()))
      graph.inputs.push_back(&v);
  }
  for (const auto *list : {&g.value_info(), &g.output()})
    for (const onnx::ValueInfoProto &v : *list)
      graph.valueInfo[v.name()] = &v;
}

/// What to do where a name is read that no tensor has.
static std::string toRead(const std::string &name,
                          const std::vector<std::string> &known) {
  std::string near = name.size() < 4 ? "" : nearest(name, known);
  if (!near.empty())
    return formatv("write '{0}', or give the model an initializer or an input "
                   "'{1}'",
                   near, name);
  return formatv("give the model an initializer or an input '{0}', or write "
                 "the name of another tensor",
                 name);
}

/// What to do where a graph has no output, or one that is not made.
static std::string toGiveOutput(const onnx::GraphProto &graph) {
  for (int i = graph.node_size(); i-- > 0;)
    for (const std::string &output : graph.node(i).output())
      if (!output.empty())
        return formatv("name what a node computes in graph.output, such as "
                       "'{0}'",
                       output);
  return "give an ONNX model that computes something, e.g. export it again";
}

namespace {
/// Orders the nodes and finds cycles and tensors that nobody makes.
class Sorter {
public:
  Sorter(Graph &graph, Refusals &refusals) : graph(graph), refusals(refusals) {}
  void run();

private:
  void index();
  std::vector<bool> reachable() const;
  void reportCycle(std::vector<bool> left);
  /// The names of all tensors that there are.
  std::vector<std::string> made() const;

  Graph &graph;
  Refusals &refusals;
  std::vector<Node> all;
  llvm::StringMap<size_t> producer;
  std::vector<std::vector<size_t>> needs; ///< producers per node
};
} // namespace

void Sorter::index() {
  const onnx::GraphProto &g = graph.model.graph();
  llvm::StringSet<> given;
  for (const auto &entry : graph.initializers)
    given.insert(entry.getKey());
  for (const auto &entry : graph.refusedTensors)
    given.insert(entry.getKey());
  for (const onnx::ValueInfoProto *v : graph.inputs)
    given.insert(v->name());
  all.reserve(g.node_size());
  for (const onnx::NodeProto &n : g.node())
    all.emplace_back(n, all.size());
  for (size_t i = 0; i < all.size(); ++i)
    for (const std::string &output : all[i].proto.output())
      if (!output.empty() &&
          (given.count(output) || !producer.try_emplace(output, i).second))
        refusals.push_back(
            {all[i].name, all[i].writtenOp().str(),
             formatv("the tensor '{0}' is produced twice", output),
             "rename this output, and the inputs that mean it: every tensor of "
             "a model has a name of its own"});
  needs.resize(all.size());
  for (size_t i = 0; i < all.size(); ++i)
    for (const std::string &input : all[i].proto.input()) {
      if (input.empty() || given.count(input))
        continue;
      if (auto it = producer.find(input); it != producer.end())
        needs[i].push_back(it->second);
      else
        refusals.push_back(
            {all[i].name, all[i].writtenOp().str(),
             formatv("its input '{0}' is neither an initializer, nor a graph "
                     "input, nor any node's output",
                     input),
             toRead(input, made())});
    }
  for (const onnx::ValueInfoProto &v : g.output())
    if (!given.count(v.name()) && !producer.count(v.name()))
      refusals.push_back({v.name(), "output",
                          "no node produces this graph output",
                          toGiveOutput(g)});
}

std::vector<std::string> Sorter::made() const {
  std::vector<std::string> names;
  for (const auto &entry : graph.initializers)
    names.push_back(entry.getKey().str());
  for (const onnx::ValueInfoProto *v : graph.inputs)
    names.push_back(v->name());
  for (const auto &entry : producer)
    names.push_back(entry.getKey().str());
  llvm::sort(names);
  return names;
}

std::vector<bool> Sorter::reachable() const {
  std::vector<bool> mark(all.size());
  std::vector<size_t> stack;
  for (const onnx::ValueInfoProto &v : graph.model.graph().output())
    if (auto it = producer.find(v.name()); it != producer.end())
      stack.push_back(it->second);
  while (!stack.empty()) {
    size_t i = stack.back();
    stack.pop_back();
    if (mark[i])
      continue;
    mark[i] = true;
    stack.insert(stack.end(), needs[i].begin(), needs[i].end());
  }
  return mark;
}

/// `left` are the nodes on a cycle or behind one: those that no other needs are
/// taken off until only cycles (and paths between them) remain.
void Sorter::reportCycle(std::vector<bool> left) {
  std::vector<size_t> users(all.size());
  for (size_t i = 0; i < all.size(); ++i)
    if (left[i])
      for (size_t p : needs[i])
        ++users[p];
  std::vector<size_t> free;
  for (size_t i = 0; i < all.size(); ++i)
    if (left[i] && users[i] == 0)
      free.push_back(i);
  while (!free.empty()) {
    size_t i = free.back();
    free.pop_back();
    left[i] = false;
    for (size_t p : needs[i])
      if (left[p] && --users[p] == 0)
        free.push_back(p);
  }
  std::string names;
  for (size_t i = 0; i < all.size(); ++i)
    if (left[i])
      names += (names.empty() ? "'" : ", '") + all[i].name + "'";
  refusals.push_back({"", "", "the graph has a cycle through " + names,
                      "a network for hardware must be acyclic"});
}

void Sorter::run() {
  index();
  std::vector<std::vector<size_t>> users(all.size());
  std::vector<size_t> missing(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    missing[i] = needs[i].size();
    for (size_t p : needs[i])
      users[p].push_back(i);
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < all.size(); ++i)
    if (missing[i] == 0)
      ready.push(i);
  std::vector<bool> left(all.size(), true), wanted = reachable();
  size_t done = 0;
  while (!ready.empty()) {
    size_t i = ready.top();
    ready.pop();
    left[i] = false;
    ++done;
    if (wanted[i])
      graph.nodes.push_back(all[i]);
    for (size_t u : users[i])
      if (--missing[u] == 0)
        ready.push(u);
  }
  if (done != all.size())
    reportCycle(left);
}

/// What a file that is no ONNX model may be, and what to do then.
static std::string otherKind(StringRef bytes) {
  static const struct {
    size_t at;
    StringRef begins, remedy;
  } kinds[] = {
      {0, "version https://git-lfs",
       "it is a pointer of Git LFS: fetch the file with 'git lfs pull'"},
      {0, "<", "it is a web page or XML: download the model itself"},
      {0, "PK\x03\x04",
       "it is a ZIP archive: unpack it, or export a PyTorch model with "
       "torch.onnx.export"},
      {1, "HDF\r\n", "it is a Keras file: convert it with tf2onnx"},
      {4, "TFL3", "it is a TFLite model: convert it with tf2onnx"},
  };
  for (const auto &kind : kinds)
    if (bytes.substr(kind.at).starts_with(kind.begins))
      return kind.remedy.str();
  return "give an ONNX model, e.g. export it again";
}

/// Checks the nodes, writes out those that stand for others, and sorts; false
/// if the graph as a whole is refused.
static bool prepare(Graph &graph, Refusals &refusals) {
  onnx::GraphProto &proto = *graph.model.mutable_graph();
  if (graph.isOfKnownVersion) {
    auto note = [&](const Refusals &found) {
      for (const Refusal &refusal : found)
        if (graph.refusedNodes.insert(refusal.node).second)
          refusals.push_back(refusal);
    };
    Refusals arity, types, bodies;
    checkArity(proto, arity);
    checkTypes(proto, types);
    addCaptures(proto, bodies);
    note(arity);
    note(types);
    note(bodies);
  }
  decompose(proto, graph.expanded);
  collectTensors(graph, refusals);
  const size_t before = refusals.size();
  Sorter(graph, refusals).run();
  return refusals.size() == before;
}

/// Names go to terminals, reports and scripts: theirs have no control
/// characters.
static void escapeNames(google::protobuf::Message &message) {
  using Field = google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection &fields = *message.GetReflection();
  std::vector<const Field *> present;
  fields.ListFields(message, &present);
  for (const Field *field : present) {
    const int count =
        field->is_repeated() ? fields.FieldSize(message, field) : 1;
    if (field->type() == Field::TYPE_MESSAGE) {
      for (int i = 0; i < count; ++i)
        escapeNames(field->is_repeated()
                        ? *fields.MutableRepeatedMessage(&message, field, i)
                        : *fields.MutableMessage(&message, field));
    } else if (field->type() == Field::TYPE_STRING) {
      for (int i = 0; i < count; ++i) {
        std::string text = field->is_repeated()
                               ? fields.GetRepeatedString(message, field, i)
                               : fields.GetString(message, field);
        std::string shown = withoutControls(text);
        if (shown == text)
          continue;
        if (field->is_repeated())
          fields.SetRepeatedString(&message, field, i, std::move(shown));
        else
          fields.SetString(&message, field, std::move(shown));
      }
    }
  }
}

std::unique_ptr<Graph> importer::readGraph(StringRef bytes,
                                           const ImportOptions::Limits &limits,
                                           Refusals &refusals) {
  auto refuse = [&](std::string reason, std::string remedy,
                    Refusal::Fault fault = Refusal::Fault::File) {
    refusals.push_back({"", "", std::move(reason), std::move(remedy), fault});
    return nullptr;
  };
  if (bytes.empty())
    return refuse("the file is empty",
                  "give an ONNX model, e.g. export it again");
  auto graph = std::make_unique<Graph>();
  if (int64_t(bytes.size()) > limits.bytes)
    return refuse(formatv("the file has {0} bytes, more than the {1} allowed",
                          bytes.size(), limits.bytes),
                  "store the weights as external data");
  if (!graph->model.ParseFromArray(bytes.data(), int(bytes.size())))
    return refuse(formatv("the file ({0} bytes) is not an ONNX model, or it is "
                          "truncated",
                          bytes.size()),
                  otherKind(bytes));
  escapeNames(graph->model);
  if (!graph->model.has_graph() || graph->model.ir_version() == 0)
    return refuse("the file holds no ONNX graph",
                  "give an ONNX model, e.g. export it again");
  checkVersions(*graph, refusals);
  size_t before = refusals.size();
  inlineFunctions(graph->model, limits, refusals);
  if (refusals.size() != before || !checkNames(graph->model.graph(), refusals))
    return nullptr;
  if (graph->model.graph().output_size() == 0)
    return refuse("the graph has no output", toGiveOutput(graph->model.graph()),
                  Refusal::Fault::Model);
  return prepare(*graph, refusals) ? std::move(graph) : nullptr;
}

std::unique_ptr<Graph> importer::readBody(const onnx::GraphProto &body,
                                          const Graph &outer,
                                          Refusals &refusals) {
  auto graph = std::make_unique<Graph>();
  graph->opset = outer.opset;
  onnx::GraphProto &own = *graph->model.mutable_graph();
  own = body;
  for (const std::string &name : capturesOf(body))
    own.add_input()->set_name(name);
  const size_t before = refusals.size();
  for (const onnx::NodeProto &n : body.node())
    for (const onnx::AttributeProto &a : n.attribute())
      if (!a.ref_attr_name().empty())
        refusals.push_back(
            {Node(n, 0).name, n.op_type(),
             formatv("its attribute '{0}' is one of a function around the body",
                     a.name()),
             "export the model with its functions inlined"});
  return prepare(*graph, refusals) && refusals.size() == before
             ? std::move(graph)
             : nullptr;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutations that keep a model a model: fields of the protobuf are changed,
// added, copied and dropped through reflection, and names are drawn from those
// that the model has, so that most mutants get past the parser.
#include <cstdint>
#include <google/protobuf/message.h>
#include <limits>
#include <onnx/onnx_pb.h>
#include <random>
#include <set>
#include <string>
#include <vector>

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {
class Mutator {
public:
  explicit Mutator(unsigned seed) : rng(seed) {}
  void mutate(onnx::ModelProto &model);

private:
  size_t draw(size_t n) { return rng() % n; }
  template <typename T> const T &pick(const std::vector<T> &from) {
    return from[draw(from.size())];
  }
  void collect(Message &message);
  void change(Message &message, const FieldDescriptor *field, int index);
  void add(Message &message, const FieldDescriptor *field);
  std::string text(const std::string &old, bool bytes);
  int64_t integer(int64_t old);
  double real(double old);
  int enumValue(const FieldDescriptor *field) {
    const auto *type = field->enum_type();
    return type->value(int(draw(type->value_count())))->number();
  }

  std::mt19937 rng;
  std::vector<Message *> messages;
  std::vector<std::string> names;
};

/// Operators and attributes met so far, in any model.
std::vector<std::string> &vocabulary() {
  static std::vector<std::string> words;
  return words;
}
void remember(const std::string &word) {
  static std::set<std::string> known;
  if (word.size() < 40 && known.size() < 2000 && known.insert(word).second)
    vocabulary().push_back(word);
}
} // namespace

void Mutator::collect(Message &message) {
  messages.push_back(&message);
  if (auto *node = dynamic_cast<onnx::NodeProto *>(&message))
    remember(node->op_type());
  if (auto *attribute = dynamic_cast<onnx::AttributeProto *>(&message))
    remember(attribute->name());
  const Reflection *reflection = message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor *field : fields) {
    int count =
        field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < std::min(count, 64); ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
        collect(field->is_repeated()
                    ? *reflection->MutableRepeatedMessage(&message, field, i)
                    : *reflection->MutableMessage(&message, field));
      else if (field->type() == FieldDescriptor::TYPE_STRING)
        names.push_back(field->is_repeated()
                            ? reflection->GetRepeatedString(message, field, i)
                            : reflection->GetString(message, field));
    }
  }
}

int64_t Mutator::integer(int64_t old) {
  static const std::vector<int64_t> odd = {
      0,     1,     2,       3,         4,         5,         7,
      8,     9,     15,      16,        17,        31,        32,
      33,    64,    127,     128,       255,       256,       257,
      32767, 65535, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  switch (draw(4)) {
  case 0:
    return int64_t(uint64_t(old) + draw(5) - 2);
  case 1:
    return int64_t(uint64_t(0) - uint64_t(old));
  case 2:
    return int64_t(draw(13)) - 6;
  default:
    return pick(odd);
  }
}

double Mutator::real(double old) {
  static const std::vector<double> odd = {
      0.0,
      -0.0,
      1.0,
      -1.0,
      0.5,
      1e-3,
      255,
      1e-40,
      1e38,
      1e39,
      1e300,
      std::numeric_limits<double>::infinity(),
      std::numeric_limits<double>::quiet_NaN()};
  return draw(2) ? old * (double(draw(400)) / 100 - 2) : pick(odd);
}

std::string Mutator::text(const std::string &old, bool bytes) {
  if (!bytes && draw(8)) {
    const auto &words = vocabulary();
    if (!names.empty() && draw(2))
      return pick(names);
    if (!words.empty())
      return pick(words);
  }
  std::string fresh = old;
  fresh.resize(old.size() + 16);
  fresh.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(fresh.data()),
                                old.size(), fresh.size()));
  return fresh;
}

void Mutator::change(Message &message, const FieldDescriptor *field,
                     int index) {
  const Reflection *r = message.GetReflection();
#define SCALAR(Type, make)                                                     \
  if (field->is_repeated()) {                                                  \
    auto old = r->GetRepeated##Type(message, field, index);                    \
    r->SetRepeated##Type(&message, field, index, make);                        \
  } else {                                                                     \
    auto old = r->Get##Type(message, field);                                   \
    r->Set##Type(&message, field, make);                                       \
  }                                                                            \
  break
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    SCALAR(Int32, int32_t(integer(old)));
  case FieldDescriptor::CPPTYPE_INT64:
    SCALAR(Int64, integer(old));
  case FieldDescriptor::CPPTYPE_UINT64:
    SCALAR(UInt64, uint64_t(integer(int64_t(old))));
  case FieldDescriptor::CPPTYPE_FLOAT:
    SCALAR(Float, float(real(old)));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    SCALAR(Double, real(old));
  case FieldDescriptor::CPPTYPE_STRING:
    SCALAR(String, text(old, field->type() == FieldDescriptor::TYPE_BYTES));
  case FieldDescriptor::CPPTYPE_ENUM:
    SCALAR(EnumValue, (void(old), enumValue(field)));
  default:
    break;
  }
#undef SCALAR
}

void Mutator::add(Message &message, const FieldDescriptor *field) {
  const Reflection *r = message.GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    // A copy of one of its kind, where the model has one.
    std::vector<Message *> like;
    for (Message *m : messages)
      if (m->GetDescriptor() == field->message_type() &&
          m->ByteSizeLong() < 4096)
        like.push_back(m);
    std::unique_ptr<Message> copy;
    if (!like.empty()) {
      const Message *from = pick(like);
      copy.reset(from->New());
      copy->CopyFrom(*from);
    }
    Message *fresh = field->is_repeated() ? r->AddMessage(&message, field)
                                          : r->MutableMessage(&message, field);
    if (copy)
      fresh->CopyFrom(*copy);
    return;
  }
  if (field->is_repeated())
    switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      r->AddInt32(&message, field, 0);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      r->AddInt64(&message, field, 0);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      r->AddUInt64(&message, field, 0);
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      r->AddFloat(&message, field, 0);
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      r->AddDouble(&message, field, 0);
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      r->AddString(&message, field, "");
      break;
    default:
      return;
    }
  change(message, field,
         field->is_repeated() ? r->FieldSize(message, field) - 1 : 0);
}

void Mutator::mutate(onnx::ModelProto &model) {
  for (size_t times = 1 + draw(3); times--;) {
    messages.clear();
    names.clear();
    collect(model);
    Message &message = *pick(messages);
    const Reflection *r = message.GetReflection();
    std::vector<const FieldDescriptor *> present;
    r->ListFields(message, &present);
    size_t what = draw(8);
    if (present.empty() || what == 0) {
      const auto *type = message.GetDescriptor();
      add(message, type->field(int(draw(type->field_count()))));
      continue;
    }
    const FieldDescriptor *field = pick(present);
    int count = field->is_repeated() ? r->FieldSize(message, field) : 1;
    int index = int(draw(count));
    if (what == 1) {
      if (!field->is_repeated()) {
        r->ClearField(&message, field);
      } else {
        r->SwapElements(&message, field, index, count - 1);
        r->RemoveLast(&message, field);
      }
    } else if (what == 2 && field->is_repeated()) {
      r->SwapElements(&message, field, index, int(draw(count)));
    } else if (what == 3 && field->is_repeated() && count < 64) {
      add(message, field);
    } else {
      change(message, field, index);
    }
  }
}

static size_t write(const onnx::ModelProto &model, uint8_t *data,
                    size_t maxSize) {
  size_t size = model.ByteSizeLong();
  if (size > maxSize || !model.SerializePartialToArray(data, int(size)))
    return 0;
  return size;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  onnx::ModelProto model;
  if (seed % 16 == 0 || !model.ParsePartialFromArray(data, int(size)))
    return LLVMFuzzerMutate(data, size, maxSize);
  Mutator(seed).mutate(model);
  size_t made = write(model, data, maxSize);
  return made ? made : LLVMFuzzerMutate(data, size, maxSize);
}

/// The nodes and initializers of one model beside those of another.
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t sizeOfA,
                                            const uint8_t *b, size_t sizeOfB,
                                            uint8_t *out, size_t maxSize,
                                            unsigned seed) {
  onnx::ModelProto first, second;
  if (!first.ParsePartialFromArray(a, int(sizeOfA)) ||
      !second.ParsePartialFromArray(b, int(sizeOfB)))
    return 0;
  auto &graph = *first.mutable_graph();
  if (seed % 2)
    graph.mutable_node()->MergeFrom(second.graph().node());
  else if (graph.node_size() && second.graph().node_size())
    *graph.mutable_node(int(seed / 2 % unsigned(graph.node_size()))) =
        second.graph().node(
            int(seed / 3 % unsigned(second.graph().node_size())));
  graph.mutable_initializer()->MergeFrom(second.graph().initializer());
  return write(first, out, maxSize);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// idx (MNIST's format, big-endian) and ONNX TensorProto.
#include "Bytes.h"
#include "llvm/Support/Endian.h"
#include <onnx/onnx_pb.h>

using namespace rhizome;
using namespace rhizome::data;

llvm::Expected<NamedTensor> data::readIdx(const Input &input) {
  llvm::StringRef rest = input.bytes;
  if (rest.size() < 4)
    return input.fail("the idx header is cut off");
  std::optional<Element> element;
  switch (uint8_t(rest[2])) {
  case 0x08:
    element = Element::U8;
    break;
  case 0x09:
    element = Element::I8;
    break;
  case 0x0B:
    element = Element::I16;
    break;
  case 0x0C:
    element = Element::I32;
    break;
  case 0x0D:
    element = Element::F32;
    break;
  case 0x0E:
    element = Element::F64;
    break;
  default:
    return input.fail("the idx element type " +
                      llvm::Twine(unsigned(uint8_t(rest[2]))) + " is unknown");
  }
  size_t rank = uint8_t(rest[3]);
  rest = rest.drop_front(4);
  if (rest.size() < 4 * rank)
    return input.fail("the idx header is cut off");
  std::vector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i)
    shape.push_back(llvm::support::endian::read32be(rest.data() + 4 * i));
  return decode(input, rest.drop_front(4 * rank), *element, shape, true);
}

static std::optional<Element> elementOf(int type) {
  switch (type) {
  case onnx::TensorProto::BOOL:
    return Element::Bool;
  case onnx::TensorProto::INT8:
    return Element::I8;
  case onnx::TensorProto::UINT8:
    return Element::U8;
  case onnx::TensorProto::INT16:
    return Element::I16;
  case onnx::TensorProto::UINT16:
    return Element::U16;
  case onnx::TensorProto::INT32:
    return Element::I32;
  case onnx::TensorProto::UINT32:
    return Element::U32;
  case onnx::TensorProto::INT64:
    return Element::I64;
  case onnx::TensorProto::UINT64:
    return Element::U64;
  case onnx::TensorProto::FLOAT16:
    return Element::F16;
  case onnx::TensorProto::BFLOAT16:
    return Element::BF16;
  case onnx::TensorProto::FLOAT:
    return Element::F32;
  case onnx::TensorProto::DOUBLE:
    return Element::F64;
  default:
    return std::nullopt;
  }
}

/// The typed fields' values as the bytes that raw_data would hold.
static std::string rawOf(const onnx::TensorProto &proto, Element element) {
  unsigned size = elementBytes(element);
  std::string out;
  auto add = [&](uint64_t bits) {
    for (unsigned i = 0; i < size; ++i)
      out += char(bits >> (8 * i));
  };
  for (float v : proto.float_data())
    add(llvm::bit_cast<uint32_t>(v));
  for (double v : proto.double_data())
    add(llvm::bit_cast<uint64_t>(v));
  for (int32_t v : proto.int32_data())
    add(uint64_t(int64_t(v)));
  for (int64_t v : proto.int64_data())
    add(uint64_t(v));
  for (uint64_t v : proto.uint64_data())
    add(v);
  return out;
}

llvm::Expected<NamedTensor> data::readTensorProto(const Input &input) {
  // A number of one byte takes up to 32 until it is an element.
  if (input.bytes.size() > size_t(kMostDataBytes) / 16)
    return tooLarge(input);
  onnx::TensorProto proto;
  if (!proto.ParseFromArray(input.bytes.data(), int(input.bytes.size())))
    return input.fail(
        "its kind is unknown, and it is not an ONNX tensor either",
        "give .npy, .npz, .pb, idx(.gz), PNG or JPEG");
  // 21 and 22 are newer than our protobuf classes.
  if (int type = proto.data_type(); type == 21 || type == 22)
    return input.fail(
        llvm::Twine("its elements are ") + (type == 22 ? "int4" : "uint4") +
            ", two of which share a byte",
        llvm::Twine("store it as ") + (type == 22 ? "int8" : "uint8"));
  std::optional<Element> element = elementOf(proto.data_type());
  if (!element)
    return input.fail("the ONNX element type " +
                          llvm::Twine(proto.data_type()) +
                          " is not one that can be used",
                      "give .npy, .npz, .pb, idx(.gz), PNG or JPEG");
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return input.fail("the tensor's data lie in another file",
                      "store them inside");
  std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  auto out = decode(
      input, proto.has_raw_data() ? proto.raw_data() : rawOf(proto, *element),
      *element, shape, false);
  if (out)
    out->name = proto.name();
  return out;
}

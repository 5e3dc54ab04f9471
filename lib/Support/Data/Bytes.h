// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by the readers: errors, element kinds and their decoding. Every
// reader gets the file's bytes and checks all sizes that they state.
#pragma once

#include "rhizome/Support/Data.h"
#include "rhizome/Support/Sizes.h"

namespace rhizome::data {
/// The file being read, for messages, and its bytes. `owned` bytes of memory
/// are taken by what was unpacked and read before.
struct Input {
  llvm::StringRef file;
  llvm::StringRef bytes;
  uint64_t owned = 0;

  llvm::Error fail(const llvm::Twine &reason,
                   const llvm::Twine &remedy = "") const;
};

enum class Element {
  Bool,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  F16,
  BF16,
  F32,
  F64
};
unsigned elementBytes(Element element);

/// The code of a .npy file's elements, "<f4", and their bytes, for a tensor of
/// floats or integers that is stored in this type.
std::pair<llvm::StringRef, unsigned> npyForm(bool isFloat, StoredType type);

/// Decodes a tensor of `shape` from `payload`, which must contain all of it.
/// `copies` of it are in memory at once; kMostDataBytes bounds them.
llvm::Expected<NamedTensor> decode(const Input &input, llvm::StringRef payload,
                                   Element element, std::vector<int64_t> shape,
                                   bool bigEndian, unsigned copies = 1);

/// Memory that a tensor has taken.
uint64_t memoryOf(const NamedTensor &tensor);

/// That reading would take more memory than kMostDataBytes.
llvm::Error tooLarge(const Input &input);

/// The number of elements of `shape`; fails if one size is negative or their
/// product exceeds the capacity of `bytes` bytes of `element`.
llvm::Expected<int64_t> checkedCount(const Input &input,
                                     llvm::ArrayRef<int64_t> shape,
                                     uint64_t bytes, unsigned elementSize);

/// The index of the only array, or of the one called `name`.
llvm::Expected<size_t> selectArray(const Input &input,
                                   llvm::ArrayRef<NamedTensor> arrays,
                                   llvm::StringRef name);

llvm::Expected<std::string> gunzip(const Input &input);
llvm::Expected<NamedTensor> readNpy(const Input &input);

/// What an .npy says before its elements.
struct NpyHeader {
  Element element = Element::U8;
  std::vector<int64_t> shape;
  bool isBigEndian = false, isFortran = false;
  size_t begin = 0; ///< of the elements in the file
};
/// Of a file whose first bytes, at least, are `input`.
llvm::Expected<NpyHeader> readNpyHeader(const Input &input);

/// An array in a file whose parts are read when they are asked for.
class NpyFile {
public:
  /// Nothing if it is no .npy file, or one whose elements do not follow each
  /// other as its shape has them.
  static llvm::Expected<std::shared_ptr<const NpyFile>>
  open(llvm::StringRef path);
  ~NpyFile();
  const NpyHeader &header() const { return theHeader; }
  /// `count` elements from number `begin` on, as one axis; safe from several
  /// threads.
  llvm::Expected<NamedTensor> read(uint64_t begin, uint64_t count) const;

private:
  std::string path;
  NpyHeader theHeader;
  int descriptor = -1;
};
llvm::Expected<std::vector<NamedTensor>> readNpz(const Input &input);
llvm::Expected<NamedTensor> readIdx(const Input &input);
llvm::Expected<NamedTensor> readTensorProto(const Input &input);
llvm::Expected<NamedTensor> readPng(const Input &input);
llvm::Expected<NamedTensor> readJpeg(const Input &input);
} // namespace rhizome::data

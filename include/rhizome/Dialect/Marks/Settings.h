// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Settings of a command in a dictionary, `rhizome.compile` and its parts:
// entries by type, written and read.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "rhizome/Dialect/Marks/Marks.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>
#include <string>
#include <vector>

namespace rhizome::marks {
/// Collects entries; what is empty or not given has none.
class SettingsWriter {
public:
  explicit SettingsWriter(mlir::MLIRContext *context) : b(context) {}
  void set(llvm::StringRef name, mlir::Attribute value) {
    list.set(name, value);
  }
  void text(llvm::StringRef name, llvm::StringRef value) {
    if (!value.empty())
      set(name, b.getStringAttr(value));
  }
  void texts(llvm::StringRef name, const std::vector<std::string> &values) {
    if (!values.empty())
      set(name, b.getStrArrayAttr(llvm::to_vector_of<llvm::StringRef>(values)));
  }
  void real(llvm::StringRef name, std::optional<double> value) {
    if (value)
      set(name, b.getF64FloatAttr(*value));
  }
  void flag(llvm::StringRef name, bool value) {
    if (value)
      set(name, b.getUnitAttr());
  }
  mlir::DictionaryAttr dictionary() const {
    return list.getDictionary(b.getContext());
  }

private:
  mlir::Builder b;
  mlir::NamedAttrList list;
};

/// Takes entries over; each returns false for one of another type, and what is
/// wrong first stays as `problem`.
class SettingsReader {
public:
  std::string problem;

  bool text(mlir::NamedAttribute entry, std::string &value) {
    auto attr = llvm::dyn_cast<mlir::StringAttr>(entry.getValue());
    if (!attr)
      return wrong(entry, "a string");
    value = attr.str();
    return true;
  }
  bool texts(mlir::NamedAttribute entry, std::vector<std::string> &values) {
    auto list = llvm::dyn_cast<mlir::ArrayAttr>(entry.getValue());
    if (!list || !llvm::all_of(list, llvm::IsaPred<mlir::StringAttr>))
      return wrong(entry, "a list of strings");
    values.clear();
    for (mlir::Attribute value : list)
      values.push_back(llvm::cast<mlir::StringAttr>(value).str());
    return true;
  }
  bool whole(mlir::NamedAttribute entry, int64_t &value) {
    auto attr = llvm::dyn_cast<mlir::IntegerAttr>(entry.getValue());
    if (!attr || !attr.getType().isSignlessInteger(64))
      return wrong(entry, "an i64");
    value = attr.getInt();
    return true;
  }
  bool real(mlir::NamedAttribute entry, std::optional<double> &value) {
    auto attr = llvm::dyn_cast<mlir::FloatAttr>(entry.getValue());
    if (!attr)
      return wrong(entry, "a float");
    value = attr.getValueAsDouble();
    return true;
  }
  bool flag(mlir::NamedAttribute entry, bool &value) {
    value = llvm::isa<mlir::UnitAttr>(entry.getValue());
    return value || wrong(entry, "a flag");
  }
  template <typename Each> bool entries(mlir::NamedAttribute entry, Each each) {
    auto attr = llvm::dyn_cast<mlir::DictionaryAttr>(entry.getValue());
    return attr ? llvm::all_of(attr, each) : wrong(entry, "a dictionary");
  }
  bool wrong(mlir::NamedAttribute entry, llvm::StringRef wanted) {
    if (problem.empty())
      problem = "'" + entry.getName().str() + "' in " + kCompile.str() +
                " is not " + wanted.str();
    return false;
  }
};
} // namespace rhizome::marks

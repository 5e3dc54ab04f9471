// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `rhizome`: attributes that phases and users write at operations
// of other dialects (Marks.def). It has no operations.
#pragma once

#include "mlir/IR/Dialect.h"
#include "llvm/ADT/StringRef.h"

namespace rhizome::marks {
#define MARK(name, text, where, type)                                          \
  inline constexpr llvm::StringLiteral k##name = text;
#include "rhizome/Dialect/Marks/Marks.def"

/// Verifies the attributes:
/// - (C1) an attribute `rhizome.…` is one of Marks.def.
/// - (C2) it stands where it may.
/// - (C3) it holds what it may.
class MarksDialect : public mlir::Dialect {
public:
  explicit MarksDialect(mlir::MLIRContext *context);
  static llvm::StringRef getDialectNamespace() { return "rhizome"; }
  mlir::LogicalResult
  verifyOperationAttribute(mlir::Operation *op,
                           mlir::NamedAttribute attribute) override;
  mlir::LogicalResult
  verifyRegionArgAttribute(mlir::Operation *op, unsigned region,
                           unsigned argument,
                           mlir::NamedAttribute attribute) override;
  mlir::LogicalResult
  verifyRegionResultAttribute(mlir::Operation *op, unsigned region,
                              unsigned result,
                              mlir::NamedAttribute attribute) override;
};
} // namespace rhizome::marks

MLIR_DECLARE_EXPLICIT_TYPE_ID(rhizome::marks::MarksDialect)

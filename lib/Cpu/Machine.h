// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A processor, the code for it, and that code in this process.
#pragma once

#include "Buffers.h"
#include "mlir/IR/BuiltinOps.h"
#include "rhizome/Cpu/Function.h"
#include "llvm/Support/Error.h"

namespace llvm {
class TargetMachine;
namespace orc {
class LLJIT;
}
} // namespace llvm

namespace rhizome::cpu {
/// Registers of a processor's vector unit.
struct VectorUnit {
  unsigned floatBits = 128, integerBits = 128, registers = 16;
  bool hasFma = false; ///< a product and a sum in one instruction
  /// Four products of bytes, one of them signed, and their sum in one.
  bool hasByteDots = false;
};

/// A processor to compile for.
class Machine {
public:
  /// "native" or one of LLVM's names, e.g. "x86-64-v3"; fails on others.
  static llvm::Expected<Machine> forCpu(llvm::StringRef cpu,
                                        Effort effort = Effort::Thorough);
  Machine(Machine &&);
  ~Machine();
  const VectorUnit &vectors() const { return unit; }
  llvm::TargetMachine &target() const { return *machine; }

private:
  explicit Machine(std::unique_ptr<llvm::TargetMachine> machine);
  std::unique_ptr<llvm::TargetMachine> machine;
  VectorUnit unit;
};

/// A function on buffers that programs call as `void NAME(void **buffers)`:
/// its inputs, then its results, then the record of its checks. What follows
/// among its arguments is in the table as well, or if `owns` part of the object
/// (constants) or allocated in each call (scratch).
struct Entry {
  std::string function; ///< of the module
  std::string name;
  unsigned borders = 0; ///< inputs and results
  int64_t scratchBytes = 0;
  bool owns = false;
  Constants constants;
  /// What the code requires of integers. If anything, a record of three int64_t
  /// follows the results: the number of the first check that did not hold,
  /// counted from 1, the value, and its element. The caller clears it.
  std::vector<host::Check> checks;
};

/// From functions on buffers to LLVM's dialect, with bare pointers.
llvm::LogicalResult lower(mlir::ModuleOp module);

/// An object file of a module of functions on buffers. Symbols that programs
/// see are those of `entries` and of `assembly`, LLVM IR that is linked in.
llvm::Expected<std::string> compileModule(mlir::ModuleOp module,
                                          const Machine &machine,
                                          llvm::ArrayRef<Entry> entries,
                                          const std::string &assembly = {});

/// Code in this process.
class LoadedObject {
public:
  static llvm::Expected<LoadedObject> load(llvm::StringRef object);
  LoadedObject(LoadedObject &&);
  ~LoadedObject();
  llvm::Expected<void *> find(llvm::StringRef symbol) const;

private:
  explicit LoadedObject(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};
} // namespace rhizome::cpu

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `flow` dialect itself, for the files that define its operations.
#ifndef RHIZOME_DIALECT_FLOW_BASE_TD
#define RHIZOME_DIALECT_FLOW_BASE_TD

include "mlir/IR/OpBase.td"

def Flow_Dialect : Dialect {
  let name = "flow";
  let cppNamespace = "::rhizome::flow";
  let summary = "actors, streams and where they run";
  let dependentDialects = ["::rhizome::num::NumDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Flow_Op<string mnemonic, list<Trait> traits = []>
    : Op<Flow_Dialect, mnemonic, traits>;

#endif

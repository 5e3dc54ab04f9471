// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every `osa` operation reports about itself: its work and its traffic,
// and so both operational intensities.
#ifndef RHIZOME_DIALECT_OSA_INTERFACES_TD
#define RHIZOME_DIALECT_OSA_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Osa_OpInterface : OpInterface<"OsaOpInterface"> {
  let cppNamespace = "::rhizome::osa";
  let description = [{
    Work and traffic of one operation for one frame. See `osa::Work` for units.
  }];
  let methods = [
    InterfaceMethod<"Work and traffic of one frame.", "::rhizome::osa::Work",
      "getWork", (ins), "", [{ return computeWork($_op.getOperation()); }]>
  ];
}

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of the numbers in plan.json: more than any device, cluster, frame or
// kernel has.
#ifndef RHIZOME_PACKAGE_LIMITS_TD
#define RHIZOME_PACKAGE_LIMITS_TD

include "rhizome/Package/Schema.td"

defvar MostNodes = 65535;
defvar MostBits = 65536;
defvar MostElements = !shl(1, 40);
defvar MostCycles = !shl(1, 53);
defvar MostBytes = !shl(1, 50);
defvar MostNs = 1000000000000;
defvar MostRate = 1000000000000000;
defvar MostInt = 2147483647;
defvar MostMhz = "1e5";

def kMostStages : Limit<"UnitChoice", 1000, "Dataflow stages of a unit, at most.">;
def kMostLanes
    : Limit<"UnitChoice", 64, "Elements side by side in a unit, at most.">;
def kMostBeatWords : Limit<"UnitChoice", 4096,
                           "Words of a tensor in a beat of a stream, at most.">;
def kMostUnits : Limit<"UnitChoice", 64, "Units of a system, at most.">;
def kMostKernelNodes
    : Limit<"UnitChoice", 1000, "Nodes of a cluster with equal units, at most.">;

#endif // RHIZOME_PACKAGE_LIMITS_TD

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every unit kind of the compiler, in the order in which tables list them.
include "Window.td"
include "Products.td"
include "Elementwise.td"
include "Glue.td"
include "Movement.td"
include "Memory.td"
include "Circuit.td"

def Units : UnitList<[
    Window, Matvec, MatvecResident, MatvecStreamed, Matmul, LaneReduce,
    DepthwiseResident,
    Requant, Threshold, Table, ScaledAdd, Product, Gearbox, AxisInUnit, AxisOutUnit, Concat, Select, Reorder, Fork, Fifo, StateUnit,
    MemReader, LoadReader, Circuit]>;

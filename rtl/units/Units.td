// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every unit kind of the compiler, in the order in which tables list them.
include "Window.td"
include "Products.td"
include "Elementwise.td"
include "Rows.td"
include "Glue.td"
include "Movement.td"
include "Memory.td"
include "Circuit.td"
include "Engine.td"

def Units : UnitList<[
    Window, WindowTiled, WindowBatch, Matvec, MatvecResident, MatvecStreamed, MatvecTurns,
    TurnsResident, TurnsStreamed, Matmul, LaneReduce,
    DepthwiseResident, DepthwiseStreamed,
    Requant, Threshold, Table, ScaledAdd, Product, RowSoftmax, RowNorm, Gearbox, AxisInUnit, AxisOutUnit, WideIn, WideOut, Concat, Select, Unbatch, Reorder, Replay, Fork, Fifo, Crossing, StateUnit,
    MemReader, LoadReader, MemFifo, Engine, Circuit]>;

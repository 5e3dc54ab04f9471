// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The windows of a frame, tile by tile, as rhz_window_tiles reads them.
module rhz_window_tiled #(
  parameter int Elem      = 8,
  parameter int Channels  = 1,
  parameter int Height    = 4,
  parameter int Width     = 4,
  parameter int KernelH   = 3,
  parameter int KernelW   = 3,
  parameter int StrideH   = 1,
  parameter int StrideW   = 1,
  parameter int DilationH = 1,
  parameter int DilationW = 1,
  parameter int PadTop    = 0,
  parameter int PadLeft   = 0,
  parameter int OutHeight = 2,
  parameter int OutWidth  = 2,
  parameter int PadValue  = 0,
  parameter int Lanes     = 1,
  parameter int Repeat    = 1,
  parameter int TileRows  = 1,
  parameter int Rows      = 4,
  parameter int Ultra     = 0,   // 1: the rows in UltraRAM
  parameter int Depth     = 2,
  parameter int Latency   = 0
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic [Lanes*Elem-1:0] in_data_i,
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [Lanes*Elem-1:0] out_data_o
);
  logic unused_valid, unused_batch;
  rhz_window_tiles #(
    .Elem(Elem), .Channels(Channels), .Height(Height), .Width(Width), .KernelH(KernelH),
    .KernelW(KernelW), .StrideH(StrideH), .StrideW(StrideW), .DilationH(DilationH),
    .DilationW(DilationW), .PadTop(PadTop), .PadLeft(PadLeft), .OutHeight(OutHeight),
    .OutWidth(OutWidth), .PadValue(PadValue), .Lanes(Lanes), .Repeat(Repeat),
    .TileRows(TileRows), .Rows(Rows), .Ultra(Ultra), .Depth(Depth), .Latency(Latency)
  ) u_tiles (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i, .out_valid_o, .out_ready_i,
    .out_data_o, .batch_valid_o(unused_valid), .batch_ready_i(1'b0), .batch_o(unused_batch)
  );
endmodule

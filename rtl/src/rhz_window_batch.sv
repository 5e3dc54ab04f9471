// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The windows of a batch of Frames whole frames, read together as one tile by
// rhz_window_tiles. There are places for Places frames: while a batch is read, the
// next frames come. A batch begins when it is full, or with fewer frames once no
// beat has come for Patience cycles: n says of each which is its last frame (frames
// are numbered from 0), and rhz_unbatch drops what comes in place of those that
// were missing.
module rhz_window_batch #(
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
  parameter int Frames    = 2,
  parameter int Places    = 4,
  parameter int Patience  = 64,
  parameter int Ultra     = 0,   // 1: the frames in UltraRAM
  parameter int Depth     = 2,
  parameter int Latency   = 0
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      in_valid_i,
  output logic                      in_ready_o,
  input  logic [Lanes*Elem-1:0]     in_data_i,
  output logic                      out_valid_o,
  input  logic                      out_ready_i,
  output logic [Lanes*Elem-1:0]     out_data_o,
  output logic                      n_valid_o,
  input  logic                      n_ready_i,
  output logic [$clog2(Frames)-1:0] n_data_o
);
  localparam int NewestW = $clog2(Frames);
  logic begins, credit, push_q;
  logic [NewestW-1:0] newest, newest_q;
  rhz_window_tiles #(
    .Elem(Elem), .Channels(Channels), .Height(Height), .Width(Width), .KernelH(KernelH),
    .KernelW(KernelW), .StrideH(StrideH), .StrideW(StrideW), .DilationH(DilationH),
    .DilationW(DilationW), .PadTop(PadTop), .PadLeft(PadLeft), .OutHeight(OutHeight),
    .OutWidth(OutWidth), .PadValue(PadValue), .Lanes(Lanes), .Repeat(Repeat),
    .TileRows(OutHeight), .Rows(Places * Height), .Frames(Frames), .Patience(Patience),
    .Ultra(Ultra), .Depth(Depth), .Latency(Latency)
  ) u_tiles (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i, .out_valid_o, .out_ready_i,
    .out_data_o, .batch_valid_o(begins), .batch_ready_i(credit), .batch_o(newest)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) push_q <= 1'b0;
    else         push_q <= begins && credit;
  end
  always_ff @(posedge clk_i) newest_q <= newest;
  rhz_outbuf #(.Width(NewestW), .Depth(Depth)) u_newest (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(begins && credit), .push_i(push_q),
    .push_data_i(newest_q), .out_valid_o(n_valid_o), .out_ready_i(n_ready_i), .out_data_o(n_data_o)
  );
endmodule

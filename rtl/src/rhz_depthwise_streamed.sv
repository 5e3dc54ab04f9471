// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Per-lane weighted sum over Taps and Folds like rhz_lane_reduce with Op 0, with
// the weights of every firing, [tap][lane], as a second stream. Latency =
// 4 + M + clog2(Taps) + V, M being the stages of rhz_mul.
module rhz_depthwise_streamed #(
  parameter int Pixels   = 1,
  parameter int Lanes    = 1,
  parameter int Taps     = 1,
  parameter int XWidth   = 8,
  parameter int XSigned  = 0,
  parameter int WWidth   = 8,
  parameter int AccWidth = 24,
  parameter int Folds    = 1,
  parameter int OutFolds = 1,
  parameter int Trips    = 1,
  parameter int Uses     = 1,
  parameter int Bias     = 0,
  parameter     BiasFile   = "",
  parameter int Style    = 1,
  parameter int BiasBlock = 0,
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                in_valid_i,
  output logic                                in_ready_o,
  input  logic [Pixels*Taps*Lanes*XWidth-1:0] in_data_i,
  input  logic                                w_valid_i,
  output logic                                w_ready_o,
  input  logic [Taps*Lanes*WWidth-1:0]        w_data_i,
  output logic                                out_valid_o,
  input  logic                                out_ready_i,
  output logic [Pixels*Lanes*AccWidth-1:0]    out_data_o
);
  localparam int AddrW = (Trips * OutFolds * Folds > 1) ? $clog2(Trips * OutFolds * Folds) : 1;
  logic ready;
  logic [Taps*Lanes*WWidth-1:0] word_q;
  logic [AddrW-1:0] unused_addr;
  assign in_ready_o = ready && w_valid_i;
  assign w_ready_o  = ready && in_valid_i;
  always_ff @(posedge clk_i) word_q <= w_data_i;
  rhz_depthwise_fed #(
    .Pixels(Pixels), .Lanes(Lanes), .Taps(Taps), .XWidth(XWidth), .XSigned(XSigned),
    .WWidth(WWidth), .AccWidth(AccWidth), .Folds(Folds), .OutFolds(OutFolds), .Trips(Trips),
    .Uses(Uses), .Bias(Bias),
    .BiasFile(BiasFile), .Style(Style), .BiasBlock(BiasBlock), .Depth(Depth), .Latency(Latency),
    .Arrival(1)
  ) u_products (
    .clk_i, .rst_ni, .in_valid_i(in_valid_i && w_valid_i), .in_ready_o(ready), .in_data_i,
    .out_valid_o, .out_ready_i, .out_data_o, .addr_o(unused_addr), .w_i(word_q)
  );
endmodule

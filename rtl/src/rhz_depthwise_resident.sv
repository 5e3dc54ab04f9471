// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Per-lane weighted sum over Taps and Folds like rhz_lane_reduce with Op 0, with
// the weights in a memory that the load chain fills (rhz_weight_ram). It must
// get no input before that is done. Latency = 6 + M + clog2(Taps) + V, M being
// the stages of rhz_mul.
module rhz_depthwise_resident #(
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
  parameter int Ultra    = 0,   // 1: weights in UltraRAM, 0: in block RAM
  parameter int BiasBlock = 0,
  parameter int Load     = 64,
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                load_valid_i,
  input  logic [Load-1:0]                     load_data_i,
  output logic                                load_valid_o,
  output logic [Load-1:0]                     load_data_o,
  output logic                                loaded_o,
  input  logic                                in_valid_i,
  output logic                                in_ready_o,
  input  logic [Pixels*Taps*Lanes*XWidth-1:0] in_data_i,
  output logic                                out_valid_o,
  input  logic                                out_ready_i,
  output logic [Pixels*Lanes*AccWidth-1:0]    out_data_o
);
  localparam int Words = Trips * OutFolds * Folds;
  localparam int AddrW = (Words > 1) ? $clog2(Words) : 1;
  logic [AddrW-1:0] addr;
  logic [Taps*Lanes*WWidth-1:0] w;
  rhz_weight_ram #(
    .Width(Taps * Lanes * WWidth), .Words(Words), .Stages(2), .Load(Load), .Ultra(Ultra)
  ) u_weights (
    .clk_i, .rst_ni, .load_valid_i, .load_data_i, .load_valid_o, .load_data_o, .loaded_o,
    .addr_i(addr), .data_o(w)
  );
  rhz_depthwise_fed #(
    .Pixels(Pixels), .Lanes(Lanes), .Taps(Taps), .XWidth(XWidth), .XSigned(XSigned),
    .WWidth(WWidth), .AccWidth(AccWidth), .Folds(Folds), .OutFolds(OutFolds), .Trips(Trips),
    .Uses(Uses), .Bias(Bias),
    .BiasFile(BiasFile), .Style(Style), .BiasBlock(BiasBlock), .Depth(Depth), .Latency(Latency)
  ) u_products (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i, .out_valid_o, .out_ready_i,
    .out_data_o, .addr_o(addr), .w_i(w)
  );
endmodule

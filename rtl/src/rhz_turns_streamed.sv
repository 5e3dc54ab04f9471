// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix times vector for several layers, which take turns, like rhz_matvec_turns,
// with weights that come as one more stream: a word of Pe*Simd weights, [pe][simd],
// for every firing, in the order of use. The store is reached 2 cycles earlier
// (Style 2 and 3: 1).
module rhz_turns_streamed #(
  parameter int Layers   = 2,
  parameter int Pe       = 1,
  parameter int Simd     = 1,
  parameter int XWidth   = 8,
  parameter int XSigned  = 0,
  parameter int WWidth   = 8,
  parameter int AccWidth = 24,
  parameter int Folds    = 1,
  parameter int OutFolds = 1,
  parameter int Vectors  = 1,
  parameter     Sizes    = "",
  parameter int Words    = Layers * Folds * OutFolds,
  parameter int Biases   = Layers * OutFolds,
  parameter int Bias     = 0,
  parameter     BiasFile   = "",
  parameter int Style    = 1,
  parameter int BiasBlock = 0,
  parameter int Places   = 2,
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [Layers-1:0]             in_valid_i,
  output logic [Layers-1:0]             in_ready_o,
  input  logic [Layers*Simd*XWidth-1:0] in_data_i,
  input  logic                          w_valid_i,
  output logic                          w_ready_o,
  input  logic [Pe*Simd*WWidth-1:0]     w_data_i,
  output logic [Layers-1:0]             out_valid_o,
  input  logic [Layers-1:0]             out_ready_i,
  output logic [Layers*Pe*AccWidth-1:0] out_data_o
);
  localparam int Word  = Pe * Simd * WWidth;
  localparam int AddrW = (Words > 1) ? $clog2(Words) : 1;

  logic fire;
  logic [AddrW-1:0] unused_addr;
  logic [Word-1:0] word_q;
  assign w_ready_o = fire;
  always_ff @(posedge clk_i) word_q <= w_data_i;
  rhz_turns_fed #(
    .Layers(Layers), .Pe(Pe), .Simd(Simd), .XWidth(XWidth), .XSigned(XSigned), .WWidth(WWidth),
    .AccWidth(AccWidth), .Folds(Folds), .OutFolds(OutFolds), .Vectors(Vectors), .Sizes(Sizes),
    .Words(Words), .Biases(Biases), .Bias(Bias), .BiasFile(BiasFile), .Style(Style),
    .BiasBlock(BiasBlock), .Places(Places), .Depth(Depth), .Latency(Latency), .Arrival(1)
  ) u_products (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i, .out_valid_o, .out_ready_i,
    .out_data_o, .may_i(w_valid_i), .fire_o(fire), .addr_o(unused_addr), .w_i(word_q)
  );
endmodule

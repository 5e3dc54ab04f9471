// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix times vector for several layers of one shape, which take turns: of each
// frame all Vectors vectors of the first layer, then all of the second, and so
// on. The weights of all layers lie one after another in one memory. Results go
// to one store of Places results, as late as in rhz_matvec with that Depth, and
// from there with the biases to the layer's own output: each result is a firing,
// whose push comes 1 cycle later, 3 if there are biases.
module rhz_matvec_turns #(
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
  parameter int Bias     = 0,
  parameter     WeightFile = "",
  parameter     BiasFile   = "",
  parameter int Style    = 1,
  parameter int Block     = 0,   // 1: weights in block RAM
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
  output logic [Layers-1:0]             out_valid_o,
  input  logic [Layers-1:0]             out_ready_i,
  output logic [Layers*Pe*AccWidth-1:0] out_data_o
);
  localparam int Push = (Bias != 0) ? 3 : 1;
  localparam int Lat  = Push + ((Depth > 64) ? 2 : 1);
  localparam int InW  = Simd * XWidth;
  localparam int OutW = Pe * AccWidth;
  localparam int LayerW    = (Layers > 1) ? $clog2(Layers) : 1;
  localparam int Words     = Folds * OutFolds;
  localparam int WeightW   = (Layers * Words > 1) ? $clog2(Layers * Words) : 1;
  localparam int OwnW      = (Words > 1) ? $clog2(Words) : 1;
  localparam int BiasW     = (Layers * OutFolds > 1) ? $clog2(Layers * OutFolds) : 1;
  localparam int RomStages = (Style >= 2) ? 1 : 2;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_matvec_turns: Latency %0d given, %0d built", Latency, Lat);
  end
  if (Bias == 0 && BiasFile != "") begin : gen_bad_file
    initial $fatal(1, "rhz_matvec_turns: a BiasFile without Bias");
  end

  // The products of the layer whose turn it is.
  logic [LayerW-1:0] from;
  logic [WeightW-1:0] word, word_q;
  logic [OwnW-1:0] unused_addr;
  logic ready, unused_last, result_valid, result_ready;
  logic [Pe*Simd*WWidth-1:0] w;
  logic [OutW-1:0] result;
  always_comb begin
    in_ready_o = '0;
    in_ready_o[from] = ready;
  end
  rhz_turn #(.Layers(Layers), .Vectors(Vectors), .Words(Words)) u_from (
    .clk_i, .rst_ni, .en_i(in_valid_i[from] && ready), .addr_o(word), .layer_o(from)
  );
  always_ff @(posedge clk_i) word_q <= word;
  rhz_rom #(
    .Width(Pe * Simd * WWidth), .Words(Layers * Words), .Stages(RomStages), .Block(Block),
    .File(WeightFile)
  ) u_weights (.clk_i, .addr_i(word_q), .data_o(w));
  rhz_matvec_fed #(
    .Pe(Pe), .Simd(Simd), .XWidth(XWidth), .XSigned(XSigned), .WWidth(WWidth),
    .AccWidth(AccWidth), .Folds(Folds), .OutFolds(OutFolds), .Style(Style), .Depth(Places)
  ) u_products (
    .clk_i, .rst_ni, .in_valid_i(in_valid_i[from]), .in_ready_o(ready),
    .in_data_i(in_data_i[from*InW +: InW]), .out_valid_o(result_valid),
    .out_ready_i(result_ready), .out_data_o(result), .last_o(unused_last),
    .addr_o(unused_addr), .w_i(w)
  );

  // Results leave in the same order.
  logic [LayerW-1:0] to, to_q;
  logic [BiasW-1:0] index;
  logic [Layers-1:0] credit;
  logic [Push:0] pushes;
  logic [OutW-1:0] out_q;
  logic take, unused_pushes;
  assign result_ready  = credit[to];
  assign take          = result_valid && result_ready;
  assign unused_pushes = &{1'b0, pushes};
  rhz_turn #(.Layers(Layers), .Vectors(Vectors), .Words(OutFolds)) u_to (
    .clk_i, .rst_ni, .en_i(take), .addr_o(index), .layer_o(to)
  );
  rhz_valid #(.Stages(Push)) u_push (.clk_i, .rst_ni, .valid_i(take), .valid_o(pushes));
  rhz_delay #(.Width(LayerW), .Stages(Push)) u_to_q (.clk_i, .data_i(to), .data_o(to_q));
  if (Bias != 0) begin : gen_bias
    logic [OutW-1:0] bias, late;
    rhz_rom #(
      .Width(OutW), .Words(Layers * OutFolds), .Stages(2), .Block(BiasBlock), .File(BiasFile)
    ) u_bias (.clk_i, .addr_i(index), .data_o(bias));
    rhz_delay #(.Width(OutW), .Stages(2)) u_late (.clk_i, .data_i(result), .data_o(late));
    for (genvar e = 0; e < Pe; e++) begin : gen_pe
      always_ff @(posedge clk_i)
        out_q[e*AccWidth +: AccWidth] <=
            late[e*AccWidth +: AccWidth] + bias[e*AccWidth +: AccWidth];
    end
  end else begin : gen_no_bias
    logic unused;
    assign unused = &{1'b0, index};
    always_ff @(posedge clk_i) out_q <= result;
  end

  for (genvar l = 0; l < Layers; l++) begin : gen_layer
    rhz_outbuf #(.Width(OutW), .Depth(Depth)) u_outbuf (
      .clk_i, .rst_ni, .credit_o(credit[l]), .take_i(take && to == LayerW'(l)),
      .push_i(pushes[Push] && to_q == LayerW'(l)), .push_data_i(out_q),
      .out_valid_o(out_valid_o[l]), .out_ready_i(out_ready_i[l]),
      .out_data_o(out_data_o[l*OutW +: OutW])
    );
  end
endmodule

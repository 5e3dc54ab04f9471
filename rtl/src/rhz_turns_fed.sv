// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix times vector for several layers, which take turns: of each frame all
// vectors of the first layer, then all of the second, and so on; Sizes as in
// rhz_turn. w_i has the weights of a firing Arrival cycles after it; addr_o is, a
// cycle after a firing, the word that it needs; may_i allows one, fire_o tells of
// it. Results go to one store of Places results, as late as in rhz_matvec_fed with
// that Depth, and from there with the biases to the layer's own output: each
// result is a firing, whose push comes 1 cycle later, 3 if there are biases.
module rhz_turns_fed #(
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
  parameter     BiasFile = "",
  parameter int Style    = 1,
  parameter int BiasBlock = 0,
  parameter int Places   = 2,
  parameter int Depth    = 2,
  parameter int Latency  = 0,
  parameter int Arrival  = (Style >= 2) ? 2 : 3,
  parameter int AddrWidth = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic [Layers-1:0]             in_valid_i,
  output logic [Layers-1:0]             in_ready_o,
  input  logic [Layers*Simd*XWidth-1:0] in_data_i,
  output logic [Layers-1:0]             out_valid_o,
  input  logic [Layers-1:0]             out_ready_i,
  output logic [Layers*Pe*AccWidth-1:0] out_data_o,
  input  logic                          may_i,
  output logic                          fire_o,
  output logic [AddrWidth-1:0]          addr_o,
  input  logic [Pe*Simd*WWidth-1:0]     w_i
);
  // Products for which a pair's low field of 2^LowField has room.
  localparam int LowField  = (Style == 2) ? 18 : 24 - ((XWidth > WWidth) ? XWidth : WWidth);
  localparam int MostX     = (XSigned != 0) ? 1 << (XWidth - 1) : (1 << XWidth) - 1;
  localparam int Fit       = (Style < 2) ? 1 : ((1 << (LowField - 1)) - 1) / (MostX << (WWidth - 1));
  localparam int Most      = (XSigned != 0) ? 7 : 4;
  localparam int Max       = (Fit < Most) ? Fit : Most;
  localparam int Cascades  = (Simd + Max - 1) / Max;
  localparam int Length    = (Simd + Cascades - 1) / Cascades;
  localparam int MulStages = (Style == 0 && WWidth > 4 && XWidth + 1 - XSigned > 4) ? 2 : 1;
  // The dot products of the firing at stage 0 are there at stage DotStage.
  localparam int DotStage  =
      Arrival + ((Style >= 2) ? 4 + Length + $clog2(Cascades) : MulStages + $clog2(Simd));
  localparam int SumWidth  = XWidth + WWidth + $clog2(Simd);
  localparam int Push      = (Bias != 0) ? 3 : 1;
  localparam int Lat       = Push + ((Depth > 64) ? 2 : 1);
  localparam int InW       = Simd * XWidth;
  localparam int OutW      = Pe * AccWidth;
  localparam int LayerW    = (Layers > 1) ? $clog2(Layers) : 1;
  localparam int BiasW     = (Biases > 1) ? $clog2(Biases) : 1;
  localparam bit IsSingle  = Folds == 1 && Sizes == "";  // each firing gives a result
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_turns_fed: Latency %0d given, %0d built", Latency, Lat);
  end
  if (Bias == 0 && BiasFile != "") begin : gen_bad_file
    initial $fatal(1, "rhz_turns_fed: a BiasFile without Bias");
  end

  // The layer whose turn it is.
  logic [LayerW-1:0] from;
  logic [AddrWidth-1:0] word;
  logic fire, ready, last_fold, place;
  assign ready  = (place || !last_fold) && may_i;
  assign fire   = in_valid_i[from] && ready;
  assign fire_o = fire;
  always_comb begin
    in_ready_o = '0;
    in_ready_o[from] = ready;
  end
  rhz_turn #(
    .Layers(Layers), .Vectors(Vectors), .OutFolds(OutFolds), .Folds(Folds), .Sizes(Sizes),
    .Words(Words)
  ) u_from (.clk_i, .rst_ni, .en_i(fire), .addr_o(word), .layer_o(from), .last_o(last_fold));
  always_ff @(posedge clk_i) addr_o <= word;

  // Its products.
  logic [DotStage:0] valid, result;
  logic unused_stages;
  logic [InW-1:0] x_in, x;
  logic [Pe*SumWidth-1:0] sum;
  assign unused_stages = &{1'b0, valid, result};
  rhz_valid #(.Stages(DotStage)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));
  rhz_valid #(.Stages(DotStage)) u_result (
    .clk_i, .rst_ni, .valid_i(fire && last_fold), .valid_o(result)
  );
  rhz_mux #(.Width(InW), .Count(Layers)) u_in (
    .sel_i(from), .data_i(in_data_i), .data_o(x_in)
  );
  rhz_delay #(.Width(InW), .Stages(Arrival)) u_x (.clk_i, .data_i(x_in), .data_o(x));
  if (Style < 2) begin : gen_single
    for (genvar e = 0; e < Pe; e++) begin : gen_pe
      rhz_dot #(
        .Simd(Simd), .XWidth(XWidth), .XSigned(XSigned), .WWidth(WWidth), .Style(Style)
      ) u_dot (
        .clk_i, .x_i(x), .w_i(w_i[e*Simd*WWidth +: Simd*WWidth]),
        .sum_o(sum[e*SumWidth +: SumWidth])
      );
    end
  end else begin : gen_paired
    for (genvar e = 0; e < Pe / 2; e++) begin : gen_pair
      rhz_dot_pair #(
        .Simd(Simd), .PairWidth(WWidth), .PairSigned(1), .CommonWidth(XWidth),
        .CommonSigned(XSigned), .Wide((Style == 2) ? 1 : 0), .MaxPacked(Max)
      ) u_dot (
        .clk_i, .hi_i(w_i[(2*e+1)*Simd*WWidth +: Simd*WWidth]),
        .lo_i(w_i[2*e*Simd*WWidth +: Simd*WWidth]), .common_i(x),
        .hi_o(sum[(2*e+1)*SumWidth +: SumWidth]), .lo_o(sum[2*e*SumWidth +: SumWidth])
      );
    end
    if (Pe % 2 == 1) begin : gen_left
      logic [SumWidth-1:0] unused_hi;
      rhz_dot_pair #(
        .Simd(Simd), .PairWidth(XWidth), .PairSigned(XSigned), .CommonWidth(WWidth),
        .CommonSigned(1), .Wide((Style == 2) ? 1 : 0), .MaxPacked(Max)
      ) u_dot (
        .clk_i, .hi_i(InW'(0)), .lo_i(x), .common_i(w_i[(Pe-1)*Simd*WWidth +: Simd*WWidth]),
        .hi_o(unused_hi), .lo_o(sum[(Pe-1)*SumWidth +: SumWidth])
      );
    end
  end

  // Sums of a result's firings, and the store.
  logic first_q, done_q, push_q, result_valid, result_ready;
  logic [OutW-1:0] acc_q, sum_q, stored;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      done_q  <= 1'b0;
      push_q  <= 1'b0;
    end else begin
      if (valid[DotStage]) first_q <= IsSingle || result[DotStage];
      done_q <= result[DotStage];
      push_q <= done_q;
    end
  end
  for (genvar e = 0; e < Pe; e++) begin : gen_acc
    logic [AccWidth-1:0] start;
    assign start = first_q ? '0 : acc_q[e*AccWidth +: AccWidth];
    always_ff @(posedge clk_i)
      if (valid[DotStage])
        acc_q[e*AccWidth +: AccWidth] <=
            start + AccWidth'($signed(sum[e*SumWidth +: SumWidth]));
  end
  always_ff @(posedge clk_i) sum_q <= acc_q;
  rhz_outbuf #(.Width(OutW), .Depth(Places)) u_store (
    .clk_i, .rst_ni, .credit_o(place), .take_i(fire && last_fold), .push_i(push_q),
    .push_data_i(sum_q), .out_valid_o(result_valid), .out_ready_i(result_ready),
    .out_data_o(stored)
  );

  // Results leave in the same order.
  logic [LayerW-1:0] to, to_q;
  logic [BiasW-1:0] index;
  logic [Layers-1:0] credit;
  logic [Push:0] pushes;
  logic [OutW-1:0] out_q;
  logic take, unused_pushes, unused_last;
  assign result_ready  = credit[to];
  assign take          = result_valid && result_ready;
  assign unused_pushes = &{1'b0, pushes};
  rhz_turn #(
    .Layers(Layers), .Vectors(Vectors), .OutFolds(OutFolds), .Sizes(Sizes), .Results(1),
    .Words(Biases)
  ) u_to (.clk_i, .rst_ni, .en_i(take), .addr_o(index), .layer_o(to), .last_o(unused_last));
  rhz_valid #(.Stages(Push)) u_push (.clk_i, .rst_ni, .valid_i(take), .valid_o(pushes));
  rhz_delay #(.Width(LayerW), .Stages(Push)) u_to_q (.clk_i, .data_i(to), .data_o(to_q));
  if (Bias != 0) begin : gen_bias
    logic [OutW-1:0] bias, late;
    rhz_rom #(
      .Width(OutW), .Words(Biases), .Stages(2), .Block(BiasBlock), .File(BiasFile)
    ) u_bias (.clk_i, .addr_i(index), .data_o(bias));
    rhz_delay #(.Width(OutW), .Stages(2)) u_late (.clk_i, .data_i(stored), .data_o(late));
    for (genvar e = 0; e < Pe; e++) begin : gen_pe
      always_ff @(posedge clk_i)
        out_q[e*AccWidth +: AccWidth] <=
            late[e*AccWidth +: AccWidth] + bias[e*AccWidth +: AccWidth];
    end
  end else begin : gen_no_bias
    logic unused;
    assign unused = &{1'b0, index};
    always_ff @(posedge clk_i) out_q <= stored;
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

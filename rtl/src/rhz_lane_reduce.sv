// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Per-lane reduction over Taps and Folds: Op 0 weighted sum and bias
// (depthwise convolution), Op 1 maximum, Op 2 sum or, with Positions > 0, the
// sum without its zero point times a scale of the output position (average
// pooling). For Op 0, several Trips have their own weights and biases, each for
// Uses pixels in a row. Latency = 6 + M + clog2(Taps) + V, M being the stages of
// rhz_mul for Op 0 and otherwise 1.
module rhz_lane_reduce #(
  parameter int Pixels   = 1,
  parameter int Lanes    = 1,
  parameter int Taps     = 1,
  parameter int Op       = 0,
  parameter int XWidth   = 8,
  parameter int XSigned  = 0,
  parameter int WWidth   = 8,
  parameter int AccWidth = 24,
  parameter int Folds    = 1,
  parameter int OutFolds = 1,
  parameter int Trips    = 1,
  parameter int Uses     = 1,
  parameter int Bias     = 0,
  parameter     WeightFile = "",
  parameter     BiasFile   = "",
  parameter int Zero     = 0,
  parameter     ScaleFile  = "",
  parameter int ScaleWidth = 8,
  parameter int Positions  = 0,
  parameter int Style    = 1,
  parameter int Block     = 0,   // 1: weights or scales in block RAM
  parameter int BiasBlock = 0,
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                in_valid_i,
  output logic                                in_ready_o,
  input  logic [Pixels*Taps*Lanes*XWidth-1:0] in_data_i,
  output logic                                out_valid_o,
  input  logic                                out_ready_i,
  output logic [Pixels*Lanes*AccWidth-1:0]    out_data_o
);
  localparam int MulStages =
      (Op == 0 && Style == 0 && WWidth > 4 && XWidth + 1 - XSigned > 4) ? 2 : 1;
  localparam int TreeStage = 3 + MulStages + $clog2(Taps);   // results of the taps are there
  localparam int Push = TreeStage + 3;
  localparam int Lat  = Push + ((Depth > 64) ? 2 : 1);
  // Signed terms of the tree: products or extended activations.
  localparam int TermWidth = (Op == 0) ? XWidth + WWidth : XWidth + 1;
  localparam int TreeWidth = (Op == 1) ? TermWidth : TermWidth + $clog2(Taps);
  localparam int Words  = (Op == 0) ? Trips * OutFolds * Folds : 1;
  localparam int AddrW  = (Words > 1) ? $clog2(Words) : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_lane_reduce: Latency %0d given, %0d built", Latency, Lat);
  end
  if (Op < 0 || Op > 2) begin : gen_bad_op
    initial $fatal(1, "rhz_lane_reduce: Op %0d, known are 0, 1 and 2", Op);
  end
  if (Style < 0 || Style > 1) begin : gen_bad_style
    initial $fatal(1, "rhz_lane_reduce: Style %0d, known are 0 and 1", Style);
  end

  logic credit, fire, last_fold;
  assign in_ready_o = credit || !last_fold;
  assign fire = in_valid_i && in_ready_o;
  logic [TreeStage:0] valid, result;
  logic unused_stages;
  assign unused_stages = &{1'b0, valid, result};
  rhz_valid #(.Stages(TreeStage)) u_valid (
    .clk_i, .rst_ni, .valid_i(fire), .valid_o(valid)
  );
  rhz_valid #(.Stages(TreeStage)) u_result (
    .clk_i, .rst_ni, .valid_i(fire && last_fold), .valid_o(result)
  );

  logic [Pixels*Taps*Lanes*XWidth-1:0] x;   // stage 3
  rhz_delay #(.Width(Pixels * Taps * Lanes * XWidth), .Stages(3)) u_x (
    .clk_i, .data_i(in_data_i), .data_o(x)
  );

  // Stage 3 + MulStages: terms, [p][lane][tap].
  logic [Pixels*Lanes*Taps*TermWidth-1:0] terms;
  if (Op == 0) begin : gen_weighted
    logic [AddrW-1:0] addr, addr_q;
    logic [Taps*Lanes*WWidth-1:0] w;
    rhz_fold #(.Folds(Folds), .OutFolds(OutFolds), .Trips(Trips), .Uses(Uses)) u_fold (
      .clk_i, .rst_ni, .en_i(fire), .addr_o(addr), .last_o(last_fold)
    );
    always_ff @(posedge clk_i) addr_q <= addr;
    rhz_rom #(
      .Width(Taps * Lanes * WWidth), .Words(Words), .Stages(2), .Block(Block), .File(WeightFile)
    ) u_weights (.clk_i, .addr_i(addr_q), .data_o(w));
    for (genvar p = 0; p < Pixels; p++) begin : gen_p
      for (genvar l = 0; l < Lanes; l++) begin : gen_lane
        for (genvar t = 0; t < Taps; t++) begin : gen_tap
          rhz_mul #(
            .XWidth(XWidth), .XSigned(XSigned), .WWidth(WWidth), .Style(Style),
            .Constant((Words == 1) ? 1 : 0)
          ) u_mul (
            .clk_i, .x_i(x[((p*Taps+t)*Lanes+l)*XWidth +: XWidth]),
            .w_i(w[(t*Lanes+l)*WWidth +: WWidth]),
            .product_o(terms[((p*Lanes+l)*Taps+t)*TermWidth +: TermWidth])
          );
        end
      end
    end
  end else begin : gen_plain
    localparam int FoldW = (Folds > 1) ? $clog2(Folds) : 1;
    logic [FoldW-1:0] unused_fold;
    rhz_counter #(.Count(Folds)) u_fold (
      .clk_i, .rst_ni, .en_i(fire), .value_o(unused_fold), .last_o(last_fold)
    );
    for (genvar p = 0; p < Pixels; p++) begin : gen_p
      for (genvar l = 0; l < Lanes; l++) begin : gen_lane
        for (genvar t = 0; t < Taps; t++) begin : gen_tap
          logic [XWidth-1:0] element;
          assign element = x[((p*Taps+t)*Lanes+l)*XWidth +: XWidth];
          always_ff @(posedge clk_i)
            terms[((p*Lanes+l)*Taps+t)*TermWidth +: TermWidth] <=
                {(XSigned != 0) && element[XWidth-1], element};
        end
      end
    end
  end

  logic [Pixels*Lanes*TreeWidth-1:0] tree;   // stage TreeStage
  for (genvar i = 0; i < Pixels * Lanes; i++) begin : gen_tree
    if (Op == 1) begin : gen_max
      rhz_max #(.Count(Taps), .Width(TermWidth)) u_max (
        .clk_i, .terms_i(terms[i*Taps*TermWidth +: Taps*TermWidth]),
        .max_o(tree[i*TreeWidth +: TreeWidth])
      );
    end else begin : gen_sum
      rhz_sum #(.Count(Taps), .Width(TermWidth)) u_sum (
        .clk_i, .terms_i(terms[i*Taps*TermWidth +: Taps*TermWidth]),
        .sum_o(tree[i*TreeWidth +: TreeWidth])
      );
    end
  end

  logic [Lanes*AccWidth-1:0] bias;
  if (Op == 0 && Bias != 0) begin : gen_bias
    localparam int Biases = Trips * OutFolds;
    localparam int OutW   = (Biases > 1) ? $clog2(Biases) : 1;
    logic [OutW-1:0] index;
    rhz_index #(.Count(OutFolds), .Trips(Trips), .Uses(Uses)) u_index (
      .clk_i, .rst_ni, .en_i(result[TreeStage-2]), .value_o(index)
    );
    rhz_rom #(
      .Width(Lanes * AccWidth), .Words(Biases), .Stages(2), .Block(BiasBlock), .File(BiasFile)
    ) u_bias (.clk_i, .addr_i(index), .data_o(bias));
  end else begin : gen_no_bias
    assign bias = '0;
  end

  logic first_q, done_q, done2_q, push_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      done_q  <= 1'b0;
      done2_q <= 1'b0;
      push_q  <= 1'b0;
    end else begin
      if (valid[TreeStage]) first_q <= (Folds == 1) || result[TreeStage];
      done_q  <= result[TreeStage];
      done2_q <= done_q;
      push_q  <= done2_q;
    end
  end

  // Accumulate, take off the zero point, scale.
  logic [Pixels*Lanes*AccWidth-1:0] acc_q, plain_q, out_q;
  localparam logic [AccWidth-1:0] Offset =
      (Op == 2 && Positions > 0) ? AccWidth'(Zero * Taps * Folds) : '0;
  for (genvar i = 0; i < Pixels * Lanes; i++) begin : gen_acc
    logic signed [AccWidth-1:0] acc, value;
    assign acc   = acc_q[i*AccWidth +: AccWidth];
    assign value = AccWidth'($signed(tree[i*TreeWidth +: TreeWidth]));
    if (Op == 1) begin : gen_max
      logic unused, greater;
      assign unused = &{1'b0, bias};
      assign greater = (XSigned != 0) ? value > acc : $unsigned(value) > $unsigned(acc);
      always_ff @(posedge clk_i)
        if (valid[TreeStage] && (first_q || greater))
          acc_q[i*AccWidth +: AccWidth] <= value;
    end else begin : gen_sum
      always_ff @(posedge clk_i)
        if (valid[TreeStage])
          acc_q[i*AccWidth +: AccWidth] <=
              value + (first_q ? bias[(i%Lanes)*AccWidth +: AccWidth] : acc);
    end
    always_ff @(posedge clk_i) plain_q[i*AccWidth +: AccWidth] <= acc - Offset;
  end

  if (Op == 2 && Positions > 0) begin : gen_scale
    // Scale of the result at stage TreeStage + 2, read over two stages.
    localparam int PosW = (Positions > 1) ? $clog2(Positions) : 1;
    localparam int OutW = (OutFolds > 1) ? $clog2(OutFolds) : 1;
    logic [PosW-1:0] position;
    logic [OutW-1:0] unused_out;
    logic out_last, unused_position_last;
    logic [Pixels*ScaleWidth-1:0] scale;
    rhz_counter #(.Count(OutFolds)) u_out (
      .clk_i, .rst_ni, .en_i(result[TreeStage]), .value_o(unused_out), .last_o(out_last)
    );
    rhz_counter #(.Count(Positions)) u_position (
      .clk_i, .rst_ni, .en_i(result[TreeStage] && out_last), .value_o(position),
      .last_o(unused_position_last)
    );
    rhz_rom #(
      .Width(Pixels * ScaleWidth), .Words(Positions), .Stages(2), .Block(Block), .File(ScaleFile)
    ) u_scale (.clk_i, .addr_i(position), .data_o(scale));
    for (genvar i = 0; i < Pixels * Lanes; i++) begin : gen_mul
      logic signed [AccWidth-1:0] plain;
      logic signed [ScaleWidth:0] factor;
      logic signed [AccWidth+ScaleWidth:0] product;
      logic unused;
      assign plain   = plain_q[i*AccWidth +: AccWidth];
      assign factor  = {1'b0, scale[(i/Lanes)*ScaleWidth +: ScaleWidth]};
      assign product = plain * factor;
      assign unused  = &{1'b0, product};
      always_ff @(posedge clk_i) out_q[i*AccWidth +: AccWidth] <= product[AccWidth-1:0];
    end
  end else begin : gen_no_scale
    always_ff @(posedge clk_i) out_q <= plain_q;
  end

  rhz_outbuf #(.Width(Pixels * Lanes * AccWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire && last_fold), .push_i(push_q),
    .push_data_i(out_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Per-lane weighted sum over Taps and Folds like rhz_lane_reduce with Op 0, with
// weights that come from outside: w_i has those of a firing Arrival cycles after
// it; addr_o is, a cycle after a firing, the word that it needs. Latency =
// 3 + Arrival + M + clog2(Taps) + V, M being the stages of rhz_mul.
module rhz_depthwise_fed #(
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
  parameter int Latency  = 0,
  parameter int Arrival  = 3,
  parameter int AddrWidth = (Trips * OutFolds * Folds > 1) ? $clog2(Trips * OutFolds * Folds) : 1
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                in_valid_i,
  output logic                                in_ready_o,
  input  logic [Pixels*Taps*Lanes*XWidth-1:0] in_data_i,
  output logic                                out_valid_o,
  input  logic                                out_ready_i,
  output logic [Pixels*Lanes*AccWidth-1:0]    out_data_o,
  output logic [AddrWidth-1:0]                addr_o,
  input  logic [Taps*Lanes*WWidth-1:0]        w_i
);
  localparam int MulStages =
      (Style == 0 && WWidth > 4 && XWidth + 1 - XSigned > 4) ? 2 : 1;
  localparam int TreeStage = Arrival + MulStages + $clog2(Taps);   // results of the taps are there
  localparam int Push = TreeStage + 3;
  localparam int Lat  = Push + ((Depth > 64) ? 2 : 1);
  localparam int TermWidth = XWidth + WWidth;
  localparam int TreeWidth = TermWidth + $clog2(Taps);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_depthwise_fed: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire, last_fold;
  logic [AddrWidth-1:0] addr;
  assign in_ready_o = credit || !last_fold;
  assign fire = in_valid_i && in_ready_o;
  rhz_fold #(.Folds(Folds), .OutFolds(OutFolds), .Trips(Trips), .Uses(Uses)) u_fold (
    .clk_i, .rst_ni, .en_i(fire), .addr_o(addr), .last_o(last_fold)
  );
  logic [TreeStage:0] valid, result;
  logic unused_stages;
  assign unused_stages = &{1'b0, valid, result};
  rhz_valid #(.Stages(TreeStage)) u_valid (
    .clk_i, .rst_ni, .valid_i(fire), .valid_o(valid)
  );
  rhz_valid #(.Stages(TreeStage)) u_result (
    .clk_i, .rst_ni, .valid_i(fire && last_fold), .valid_o(result)
  );

  logic [Pixels*Taps*Lanes*XWidth-1:0] x;   // stage Arrival
  rhz_delay #(.Width(Pixels * Taps * Lanes * XWidth), .Stages(Arrival)) u_x (
    .clk_i, .data_i(in_data_i), .data_o(x)
  );
  always_ff @(posedge clk_i) addr_o <= addr;

  // Stage Arrival + MulStages: products, [p][lane][tap].
  logic [Pixels*Lanes*Taps*TermWidth-1:0] terms;
  logic [Pixels*Lanes*TreeWidth-1:0] tree;   // stage TreeStage
  for (genvar p = 0; p < Pixels; p++) begin : gen_p
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      for (genvar t = 0; t < Taps; t++) begin : gen_tap
        rhz_mul #(
          .XWidth(XWidth), .XSigned(XSigned), .WWidth(WWidth), .Style(Style)
        ) u_mul (
          .clk_i, .x_i(x[((p*Taps+t)*Lanes+l)*XWidth +: XWidth]),
          .w_i(w_i[(t*Lanes+l)*WWidth +: WWidth]),
          .product_o(terms[((p*Lanes+l)*Taps+t)*TermWidth +: TermWidth])
        );
      end
      rhz_sum #(.Count(Taps), .Width(TermWidth)) u_sum (
        .clk_i, .terms_i(terms[(p*Lanes+l)*Taps*TermWidth +: Taps*TermWidth]),
        .sum_o(tree[(p*Lanes+l)*TreeWidth +: TreeWidth])
      );
    end
  end

  logic [Lanes*AccWidth-1:0] bias;
  if (Bias != 0) begin : gen_bias
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
    if (BiasFile != "") begin : gen_bad_file
      initial $fatal(1, "rhz_depthwise_fed: a BiasFile without Bias");
    end
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

  logic [Pixels*Lanes*AccWidth-1:0] acc_q, plain_q, out_q;
  for (genvar i = 0; i < Pixels * Lanes; i++) begin : gen_acc
    always_ff @(posedge clk_i)
      if (valid[TreeStage])
        acc_q[i*AccWidth +: AccWidth] <=
            AccWidth'($signed(tree[i*TreeWidth +: TreeWidth])) +
            (first_q ? bias[(i%Lanes)*AccWidth +: AccWidth] : acc_q[i*AccWidth +: AccWidth]);
  end
  always_ff @(posedge clk_i) begin
    plain_q <= acc_q;
    out_q   <= plain_q;
  end

  rhz_outbuf #(.Width(Pixels * Lanes * AccWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire && last_fold), .push_i(push_q),
    .push_data_i(out_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

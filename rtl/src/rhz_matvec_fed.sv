// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix times vector in folds like rhz_matvec, with weights that come from
// outside: w_i has those of a firing Arrival cycles after it. addr_o is, a cycle
// after a firing, the word that it needs; last_o is high while a firing would
// complete a result. A push comes Arrival - 3 cycles (Style 2 and 3: Arrival - 2)
// later than in rhz_matvec. With several Positions, as many results come about
// together: every word of weights is used by as many firings in a row, one for each
// of them, and the sums wait their turn. Several Trips have weights and biases
// of their own, each for Uses vectors in a row (with Positions: groups of them).
module rhz_matvec_fed #(
  parameter int Pixels   = 1,
  parameter int Pe       = 1,
  parameter int Simd     = 1,
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
  parameter int Positions = 1,
  parameter int Depth    = 2,
  parameter int Latency  = 0,
  parameter int Arrival  = (Style >= 2) ? 2 : 3,
  parameter int Words     = Trips * OutFolds * Folds,
  parameter int AddrWidth = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          in_valid_i,
  output logic                          in_ready_o,
  input  logic [Pixels*Simd*XWidth-1:0] in_data_i,
  output logic                          out_valid_o,
  input  logic                          out_ready_i,
  output logic [Pixels*Pe*AccWidth-1:0] out_data_o,
  output logic                          last_o,
  output logic [AddrWidth-1:0]          addr_o,
  input  logic [Pe*Simd*WWidth-1:0]     w_i
);
  // Products for which a pair's low field of 2^LowField has room.
  localparam int LowField = (Style == 2) ? 18 : 24 - ((XWidth > WWidth) ? XWidth : WWidth);
  localparam int MostX    = (XSigned != 0) ? 1 << (XWidth - 1) : (1 << XWidth) - 1;
  localparam int Fit      = (Style < 2) ? 1 : ((1 << (LowField - 1)) - 1) / (MostX << (WWidth - 1));
  localparam int Most     = (XSigned != 0) ? 7 : 4;
  localparam int Max      = (Fit < Most) ? Fit : Most;
  localparam int Cascades = (Simd + Max - 1) / Max;
  localparam int Length   = (Simd + Cascades - 1) / Cascades;
  // The dot products of the firing at stage 0 are there at stage DotStage.
  localparam int MulStages =
      (Style == 0 && WWidth > 4 && XWidth + 1 - XSigned > 4) ? 2 : 1;
  localparam int DotStage  =
      Arrival +
      ((Style >= 2) ? 4 + Length + $clog2(Cascades) : MulStages + $clog2(Simd));
  localparam int Push = DotStage + 2;
  localparam int Lat  = Push + ((Depth > 64) ? 2 : 1);
  localparam int SumWidth = XWidth + WWidth + $clog2(Simd);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_matvec_fed: Latency %0d given, %0d built", Latency, Lat);
  end

  localparam int PlaceW = (Positions > 1) ? $clog2(Positions) : 1;
  logic credit, fire, last_fold, place_last;
  logic [AddrWidth-1:0] addr;
  logic [PlaceW-1:0] unused_place;
  assign in_ready_o = credit || !last_fold;
  assign fire = in_valid_i && in_ready_o;
  assign last_o = last_fold;
  rhz_counter #(.Count(Positions)) u_place (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_place), .last_o(place_last)
  );
  rhz_fold #(.Folds(Folds), .OutFolds(OutFolds), .Trips(Trips), .Uses(Uses)) u_fold (
    .clk_i, .rst_ni, .en_i(fire && place_last), .addr_o(addr), .last_o(last_fold)
  );

  logic [DotStage:0] unused_valid, result;
  logic [DotStage:0] valid;
  assign unused_valid = valid;
  rhz_valid #(.Stages(DotStage)) u_valid (
    .clk_i, .rst_ni, .valid_i(fire), .valid_o(valid)
  );
  rhz_valid #(.Stages(DotStage)) u_result (
    .clk_i, .rst_ni, .valid_i(fire && last_fold), .valid_o(result)
  );

  logic [Pixels*Simd*XWidth-1:0] x;
  always_ff @(posedge clk_i) addr_o <= addr;
  rhz_delay #(.Width(Pixels * Simd * XWidth), .Stages(Arrival)) u_x (
    .clk_i, .data_i(in_data_i), .data_o(x)
  );

  logic [Pixels*Pe*SumWidth-1:0] sum;
  if (Style < 2) begin : gen_single
    for (genvar p = 0; p < Pixels; p++) begin : gen_pixel
      for (genvar e = 0; e < Pe; e++) begin : gen_pe
        rhz_dot #(
          .Simd(Simd), .XWidth(XWidth), .XSigned(XSigned), .WWidth(WWidth), .Style(Style)
        ) u_dot (
          .clk_i, .x_i(x[p*Simd*XWidth +: Simd*XWidth]),
          .w_i(w_i[e*Simd*WWidth +: Simd*WWidth]),
          .sum_o(sum[(p*Pe+e)*SumWidth +: SumWidth])
        );
      end
    end
  end else begin : gen_paired
    for (genvar p = 0; p < Pixels; p++) begin : gen_pixel
      for (genvar e = 0; e < Pe / 2; e++) begin : gen_pair
        rhz_dot_pair #(
          .Simd(Simd), .PairWidth(WWidth), .PairSigned(1), .CommonWidth(XWidth),
          .CommonSigned(XSigned), .Wide((Style == 2) ? 1 : 0), .MaxPacked(Max)
        ) u_dot (
          .clk_i, .hi_i(w_i[(2*e+1)*Simd*WWidth +: Simd*WWidth]),
          .lo_i(w_i[2*e*Simd*WWidth +: Simd*WWidth]),
          .common_i(x[p*Simd*XWidth +: Simd*XWidth]),
          .hi_o(sum[(p*Pe+2*e+1)*SumWidth +: SumWidth]),
          .lo_o(sum[(p*Pe+2*e)*SumWidth +: SumWidth])
        );
      end
      // The PE left over pairs two pixels under its weights.
      if (Pe % 2 == 1 && p % 2 == 0) begin : gen_left
        logic [Simd*XWidth-1:0] x_hi;
        logic [SumWidth-1:0]    sum_hi;
        rhz_dot_pair #(
          .Simd(Simd), .PairWidth(XWidth), .PairSigned(XSigned), .CommonWidth(WWidth),
          .CommonSigned(1), .Wide((Style == 2) ? 1 : 0), .MaxPacked(Max)
        ) u_dot (
          .clk_i, .hi_i(x_hi), .lo_i(x[p*Simd*XWidth +: Simd*XWidth]),
          .common_i(w_i[(Pe-1)*Simd*WWidth +: Simd*WWidth]),
          .hi_o(sum_hi), .lo_o(sum[(p*Pe+Pe-1)*SumWidth +: SumWidth])
        );
        if (p + 1 < Pixels) begin : gen_two
          assign x_hi = x[(p+1)*Simd*XWidth +: Simd*XWidth];
          assign sum[((p+1)*Pe+Pe-1)*SumWidth +: SumWidth] = sum_hi;
        end else begin : gen_alone
          logic unused;
          assign x_hi = '0;
          assign unused = &{1'b0, sum_hi};
        end
      end
    end
  end

  // The bias is read late: its address counts the results that pass.
  logic [Pe*AccWidth-1:0] bias;
  if (Bias != 0) begin : gen_bias
    localparam int Biases = Trips * OutFolds;
    localparam int OutW   = (Biases > 1) ? $clog2(Biases) : 1;
    logic [OutW-1:0] index;
    logic index_place_last;
    logic [PlaceW-1:0] unused_index_place;
    rhz_counter #(.Count(Positions)) u_index_place (
      .clk_i, .rst_ni, .en_i(result[DotStage-2]), .value_o(unused_index_place),
      .last_o(index_place_last)
    );
    rhz_index #(.Count(OutFolds), .Trips(Trips), .Uses(Uses)) u_index (
      .clk_i, .rst_ni, .en_i(result[DotStage-2] && index_place_last), .value_o(index)
    );
    rhz_rom #(
      .Width(Pe * AccWidth), .Words(Biases), .Stages(2), .Block(BiasBlock), .File(BiasFile)
    ) u_bias (.clk_i, .addr_i(index), .data_o(bias));
  end else begin : gen_no_bias
    assign bias = '0;
    if (BiasFile != "") begin : gen_bad_file
      initial $fatal(1, "rhz_matvec_fed: a BiasFile without Bias");
    end
  end

  logic first_q, done_q, push_q, sum_place_last;
  logic [PlaceW-1:0] unused_sum_place;
  rhz_counter #(.Count(Positions)) u_sum_place (
    .clk_i, .rst_ni, .en_i(valid[DotStage]), .value_o(unused_sum_place), .last_o(sum_place_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      done_q  <= 1'b0;
      push_q  <= 1'b0;
    end else begin
      if (valid[DotStage] && sum_place_last) first_q <= (Folds == 1) || result[DotStage];
      done_q <= result[DotStage];
      push_q <= done_q;
    end
  end

  // The sums that the next firing goes on with: those of its position, which come
  // back Positions firings later.
  logic [Pixels*Pe*AccWidth-1:0] acc_q, earlier, out_q;
  if (Positions == 1) begin : gen_sum
    assign earlier = acc_q;
  end else if (Positions == 2) begin : gen_two_sums
    logic [Pixels*Pe*AccWidth-1:0] earlier_q;
    always_ff @(posedge clk_i) if (valid[DotStage]) earlier_q <= acc_q;
    assign earlier = earlier_q;
  end else begin : gen_sums
    localparam int SumsW = $clog2(Positions - 1);
    logic [SumsW-1:0] read_at, write_at_q;
    logic unused_read_last;
    rhz_counter #(.Count(Positions - 1)) u_read_at (
      .clk_i, .rst_ni, .en_i(valid[DotStage]), .value_o(read_at), .last_o(unused_read_last)
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni)              write_at_q <= SumsW'(Positions - 2);
      else if (valid[DotStage]) write_at_q <= read_at;
    end
    rhz_sdpram #(.Width(Pixels * Pe * AccWidth), .Words(Positions - 1), .Stages(1)) u_sums (
      .clk_i, .we_i(valid[DotStage]), .waddr_i(write_at_q), .wdata_i(acc_q),
      .re_i(valid[DotStage]), .raddr_i(read_at), .rdata_o(earlier)
    );
  end
  for (genvar i = 0; i < Pixels * Pe; i++) begin : gen_acc
    logic [AccWidth-1:0] start;
    assign start = first_q ? bias[(i%Pe)*AccWidth +: AccWidth]
                           : earlier[i*AccWidth +: AccWidth];
    always_ff @(posedge clk_i)
      if (valid[DotStage])
        acc_q[i*AccWidth +: AccWidth] <=
            start + AccWidth'($signed(sum[i*SumWidth +: SumWidth]));
  end
  always_ff @(posedge clk_i) out_q <= acc_q;

  rhz_outbuf #(.Width(Pixels * Pe * AccWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire && last_fold), .push_i(push_q),
    .push_data_i(out_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

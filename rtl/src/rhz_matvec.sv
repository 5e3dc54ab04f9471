// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix times vector in folds: Pixels x Pe dot products over Simd lanes a
// cycle, Folds firings a result, OutFolds weight sets in turn. Weights and
// biases lie in memories; several Trips have their own, each for Uses vectors in a
// row. Push comes 5 + M + clog2(Simd) cycles after the fire for
// Style 0 and 1, M being the stages of rhz_mul; for Style 2 (two products in a
// DSP48E2) and 3 (in a DSP48E1) it is 8 + C + clog2(N) with N = ceil(Simd/M)
// cascades of C = ceil(Simd/N) DSPs, M = 7 for signed and 4 for unsigned x, in Style
// 3 at most what the pair's low field has room for.
module rhz_matvec #(
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
  parameter     WeightFile = "",
  parameter     BiasFile   = "",
  parameter int Style    = 1,
  parameter int Block     = 0,   // 1: weights in block RAM
  parameter int BiasBlock = 0,
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          in_valid_i,
  output logic                          in_ready_o,
  input  logic [Pixels*Simd*XWidth-1:0] in_data_i,
  output logic                          out_valid_o,
  input  logic                          out_ready_i,
  output logic [Pixels*Pe*AccWidth-1:0] out_data_o
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
  localparam int RomStages = (Style >= 2) ? 1 : 2;
  localparam int MulStages =
      (Style == 0 && WWidth > 4 && XWidth + 1 - XSigned > 4) ? 2 : 1;
  localparam int DotStage  =
      1 + RomStages +
      ((Style >= 2) ? 4 + Length + $clog2(Cascades) : MulStages + $clog2(Simd));
  localparam int Push = DotStage + 2;
  localparam int Lat  = Push + ((Depth > 64) ? 2 : 1);
  localparam int SumWidth = XWidth + WWidth + $clog2(Simd);
  localparam int Words  = Trips * OutFolds * Folds;
  localparam int AddrW  = (Words > 1) ? $clog2(Words) : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_matvec: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire, last_fold;
  logic [AddrW-1:0] addr, addr_q;
  assign in_ready_o = credit || !last_fold;
  assign fire = in_valid_i && in_ready_o;
  rhz_fold #(.Folds(Folds), .OutFolds(OutFolds), .Trips(Trips), .Uses(Uses)) u_fold (
    .clk_i, .rst_ni, .en_i(fire), .addr_o(addr), .last_o(last_fold)
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
  logic [Pe*Simd*WWidth-1:0]     w;
  always_ff @(posedge clk_i) addr_q <= addr;
  rhz_delay #(.Width(Pixels * Simd * XWidth), .Stages(1 + RomStages)) u_x (
    .clk_i, .data_i(in_data_i), .data_o(x)
  );
  // Cascades want lane s late by its place. Memories in LUTs are logic, and
  // reading them with late addresses costs less than delaying their words.
  localparam bit Skewed = Style >= 2 && Block == 0;
  if (Skewed) begin : gen_skewed
    for (genvar k = 0; k < Length; k++) begin : gen_place
      logic [AddrW-1:0] addr_k;
      logic [Pe*Simd*WWidth-1:0] word;
      logic unused;
      assign unused = &{1'b0, word};
      rhz_delay #(.Width(AddrW), .Stages(k)) u_addr (
        .clk_i, .data_i(addr_q), .data_o(addr_k)
      );
      rhz_rom #(
        .Width(Pe * Simd * WWidth), .Words(Words), .Stages(RomStages), .Block(Block),
        .File(WeightFile)
      ) u_weights (.clk_i, .addr_i(addr_k), .data_o(word));
    end
    for (genvar s = 0; s < Simd; s++) begin : gen_lane
      localparam int First = (s / Length) * Length;
      localparam int Len   = (Simd - First < Length) ? Simd - First : Length;
      for (genvar e = 0; e < Pe; e++) begin : gen_pe
        assign w[(e*Simd+s)*WWidth +: WWidth] =
            gen_place[Length - Len + s - First].word[(e*Simd+s)*WWidth +: WWidth];
      end
    end
  end else begin : gen_straight
    rhz_rom #(
      .Width(Pe * Simd * WWidth), .Words(Words), .Stages(RomStages), .Block(Block),
        .File(WeightFile)
    ) u_weights (.clk_i, .addr_i(addr_q), .data_o(w));
  end

  logic [Pixels*Pe*SumWidth-1:0] sum;
  if (Style < 2) begin : gen_single
    for (genvar p = 0; p < Pixels; p++) begin : gen_pixel
      for (genvar e = 0; e < Pe; e++) begin : gen_pe
        rhz_dot #(
          .Simd(Simd), .XWidth(XWidth), .XSigned(XSigned), .WWidth(WWidth), .Style(Style),
          .Constant((Words == 1) ? 1 : 0)
        ) u_dot (
          .clk_i, .x_i(x[p*Simd*XWidth +: Simd*XWidth]),
          .w_i(w[e*Simd*WWidth +: Simd*WWidth]),
          .sum_o(sum[(p*Pe+e)*SumWidth +: SumWidth])
        );
      end
    end
  end else begin : gen_paired
    for (genvar p = 0; p < Pixels; p++) begin : gen_pixel
      for (genvar e = 0; e < Pe / 2; e++) begin : gen_pair
        rhz_dot_pair #(
          .Simd(Simd), .PairWidth(WWidth), .PairSigned(1), .CommonWidth(XWidth),
          .CommonSigned(XSigned), .Wide((Style == 2) ? 1 : 0),
          .MaxPacked(Max), .PairSkewed(Skewed ? 1 : 0)
        ) u_dot (
          .clk_i, .hi_i(w[(2*e+1)*Simd*WWidth +: Simd*WWidth]),
          .lo_i(w[2*e*Simd*WWidth +: Simd*WWidth]),
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
          .CommonSigned(1), .Wide((Style == 2) ? 1 : 0),
          .MaxPacked(Max), .CommonSkewed(Skewed ? 1 : 0)
        ) u_dot (
          .clk_i, .hi_i(x_hi), .lo_i(x[p*Simd*XWidth +: Simd*XWidth]),
          .common_i(w[(Pe-1)*Simd*WWidth +: Simd*WWidth]),
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
    rhz_index #(.Count(OutFolds), .Trips(Trips), .Uses(Uses)) u_index (
      .clk_i, .rst_ni, .en_i(result[DotStage-2]), .value_o(index)
    );
    rhz_rom #(
      .Width(Pe * AccWidth), .Words(Biases), .Stages(2), .Block(BiasBlock), .File(BiasFile)
    ) u_bias (.clk_i, .addr_i(index), .data_o(bias));
  end else begin : gen_no_bias
    assign bias = '0;
    if (BiasFile != "") begin : gen_bad_file
      initial $fatal(1, "rhz_matvec: a BiasFile without Bias");
    end
  end

  logic first_q, done_q, push_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      done_q  <= 1'b0;
      push_q  <= 1'b0;
    end else begin
      if (valid[DotStage]) first_q <= (Folds == 1) || result[DotStage];
      done_q <= result[DotStage];
      push_q <= done_q;
    end
  end

  logic [Pixels*Pe*AccWidth-1:0] acc_q, out_q;
  for (genvar i = 0; i < Pixels * Pe; i++) begin : gen_acc
    logic [AccWidth-1:0] start;
    assign start = first_q ? bias[(i%Pe)*AccWidth +: AccWidth]
                           : acc_q[i*AccWidth +: AccWidth];
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

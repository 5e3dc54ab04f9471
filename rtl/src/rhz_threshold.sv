// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// out = Base + Step·#{k : x >= T[c][k]} for ascending thresholds. Up to three
// compare at once; more are searched by bisection, one bit in two cycles, each
// bit with its own memory that holds only the thresholds it can meet.
// Several Trips have their own thresholds, each for Uses pixels in a row.
// Latency = 4 + V for Count <= 3, else 2 + 2·clog2(Count + 1) + V.
module rhz_threshold #(
  parameter int Pixels   = 1,
  parameter int Lanes    = 1,
  parameter int InWidth  = 16,
  parameter int InSigned = 1,
  parameter int OutWidth = 2,
  parameter int Base     = 0,
  parameter int Step     = 1,
  parameter int Count    = 3,
  parameter int OutFolds = 1,
  parameter int Trips    = 1,
  parameter int Uses     = 1,
  parameter int Block    = 0,   // 1: up to three thresholds lie in block RAM
  parameter     ParamFile = "",
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             in_valid_i,
  output logic                             in_ready_o,
  input  logic [Pixels*Lanes*InWidth-1:0]  in_data_i,
  output logic                             out_valid_o,
  input  logic                             out_ready_i,
  output logic [Pixels*Lanes*OutWidth-1:0] out_data_o
);
  localparam int Bits  = $clog2(Count + 1);
  localparam int Push  = (Count <= 3) ? 4 : 2 + 2 * Bits;
  localparam int Lat   = Push + ((Depth > 64) ? 2 : 1);
  localparam int TW    = InWidth + 1;
  localparam int WordW = Lanes * Count * TW;
  localparam int Words = Trips * OutFolds;
  localparam int OutW  = (Words > 1) ? $clog2(Words) : 1;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_threshold: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire;
  logic [OutW-1:0] index, index_q;
  logic [Push:0] valid;
  logic unused_valid;
  assign in_ready_o = credit;
  assign fire = in_valid_i && credit;
  assign unused_valid = &{1'b0, valid};
  rhz_index #(.Count(OutFolds), .Trips(Trips), .Uses(Uses)) u_index (
    .clk_i, .rst_ni, .en_i(fire), .value_o(index)
  );
  rhz_valid #(.Stages(Push)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));

  // Stage 1: operands as wide as the thresholds.
  logic [Pixels*Lanes*TW-1:0] x_q;
  always_ff @(posedge clk_i) index_q <= index;
  for (genvar i = 0; i < Pixels * Lanes; i++) begin : gen_x
    always_ff @(posedge clk_i)
      x_q[i*TW +: TW] <= {(InSigned != 0) && in_data_i[i*InWidth+InWidth-1],
                          in_data_i[i*InWidth +: InWidth]};
  end

  logic [Pixels*Lanes*Bits-1:0]     number;   // stage Push - 1
  logic [Pixels*Lanes*OutWidth-1:0] out_q;

  if (Count <= 3) begin : gen_flash
    logic [WordW-1:0] word;
    logic [Pixels*Lanes*TW-1:0] x2_q;
    rhz_rom #(
      .Width(WordW), .Words(Words), .Stages(1), .Block(Block), .File(ParamFile)
    ) u_params (
      .clk_i, .addr_i(index_q), .data_o(word)
    );
    always_ff @(posedge clk_i) x2_q <= x_q;
    for (genvar i = 0; i < Pixels * Lanes; i++) begin : gen_lane
      logic signed [TW-1:0] x;
      logic [Count-1:0] reached_q;
      logic [Bits-1:0] sum;
      assign x = x2_q[i*TW +: TW];
      for (genvar k = 0; k < Count; k++) begin : gen_compare
        logic signed [TW-1:0] threshold;
        assign threshold = word[((i%Lanes)*Count+k)*TW +: TW];
        always_ff @(posedge clk_i) reached_q[k] <= x >= threshold;
      end
      always_comb begin
        sum = '0;
        for (int k = 0; k < Count; k++) sum = sum + Bits'(reached_q[k]);
      end
      assign number[i*Bits +: Bits] = sum;
    end
  end else begin : gen_bisect
    // The index of stage 1 + 2·s, and the operand, travel along. The index does
    // so inverted: tools move a register that addresses a memory behind it,
    // where the words are wide, but not through an inverter.
    for (genvar s = 0; s < Bits; s++) begin : gen_stage
      logic [OutW-1:0] at;
      logic [Pixels*Lanes*TW-1:0] x;
      logic [Pixels*Lanes*Bits-1:0] found, found1_q, found2_q;
      logic [Pixels*Lanes*TW-1:0] x1_q, threshold_q;
      logic [Pixels*Lanes-1:0] exists_q;
      if (s == 0) begin : gen_first
        assign at    = ~index_q;
        assign x     = x_q;
        assign found = '0;
      end else begin : gen_next
        rhz_delay #(.Width(OutW), .Stages(2)) u_at (
          .clk_i, .data_i(gen_stage[s-1].at), .data_o(at)
        );
        always_ff @(posedge clk_i) x <= gen_stage[s-1].x1_q;
        assign found = gen_stage[s-1].found2_q;
      end
      always_ff @(posedge clk_i) begin
        x1_q     <= x;
        found1_q <= found;
      end
      for (genvar i = 0; i < Pixels * Lanes; i++) begin : gen_lane
        rhz_threshold_rom #(
          .Lanes(Lanes), .Count(Count), .Width(TW), .OutFolds(Words), .Lane(i % Lanes),
          .Stage(s), .Bits(Bits), .File(ParamFile)
        ) u_rom (
          .clk_i, .index_i(~at), .found_i(found[i*Bits +: Bits]),
          .threshold_o(threshold_q[i*TW +: TW]), .exists_o(exists_q[i])
        );
        logic reached;
        assign reached = exists_q[i] &&
            $signed(x1_q[i*TW +: TW]) >= $signed(threshold_q[i*TW +: TW]);
        always_ff @(posedge clk_i)
          found2_q[i*Bits +: Bits] <=
              found1_q[i*Bits +: Bits] | (Bits'(reached) << (Bits - 1 - s));
      end
    end
    assign number = gen_stage[Bits-1].found2_q;
    logic unused;
    assign unused = &{1'b0, gen_stage[Bits-1].x1_q};
  end

  for (genvar i = 0; i < Pixels * Lanes; i++) begin : gen_out
    always_ff @(posedge clk_i)
      out_q[i*OutWidth +: OutWidth] <=
          OutWidth'(Base) + OutWidth'(Step) * OutWidth'(number[i*Bits +: Bits]);
  end

  rhz_outbuf #(.Width(Pixels * Lanes * OutWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(valid[Push]),
    .push_data_i(out_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BlockA beats of a, then BlockB beats of b, for ever. Latency = 1 + V.
module rhz_concat #(
  parameter int Elem    = 8,
  parameter int Lanes   = 1,
  parameter int BlockA  = 1,
  parameter int BlockB  = 1,
  parameter int Depth   = 2,
  parameter int Latency = 0
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  a_valid_i,
  output logic                  a_ready_o,
  input  logic [Lanes*Elem-1:0] a_data_i,
  input  logic                  b_valid_i,
  output logic                  b_ready_o,
  input  logic [Lanes*Elem-1:0] b_data_i,
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [Lanes*Elem-1:0] out_data_o
);
  localparam int Width = Lanes * Elem;
  localparam int Lat = 1 + ((Depth > 64) ? 2 : 1);
  localparam int IndexWidth = $clog2(BlockA + BlockB);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_concat: Latency %0d given, %0d built", Latency, Lat);
  end

  logic credit, fire, push_q, second_q;
  logic [Width-1:0] data_q;
  logic [IndexWidth-1:0] index;
  logic last;
  rhz_counter #(.Count(BlockA + BlockB)) u_index (
    .clk_i, .rst_ni, .en_i(fire), .value_o(index), .last_o(last)
  );
  assign a_ready_o = credit && !second_q;
  assign b_ready_o = credit && second_q;
  assign fire = (a_valid_i && a_ready_o) || (b_valid_i && b_ready_o);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      push_q   <= 1'b0;
      second_q <= 1'b0;
    end else begin
      push_q <= fire;
      if (fire && last) second_q <= 1'b0;
      else if (fire && index == IndexWidth'(BlockA - 1)) second_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) data_q <= second_q ? b_data_i : a_data_i;

  rhz_outbuf #(.Width(Width), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(push_q),
    .push_data_i(data_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

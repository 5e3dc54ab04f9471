// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes some beats on and drops the others, for ever: of every Period groups
// of Inner beats those numbered Start, Start + Stride, …, Count of them.
// Latency = 1 + V.
module rhz_select #(
  parameter int Elem    = 8,
  parameter int Inner   = 1,
  parameter int Period  = 2,
  parameter int Start   = 0,
  parameter int Stride  = 1,
  parameter int Count   = 1,
  parameter int Depth   = 2,
  parameter int Latency = 0
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            in_valid_i,
  output logic            in_ready_o,
  input  logic [Elem-1:0] in_data_i,
  output logic            out_valid_o,
  input  logic            out_ready_i,
  output logic [Elem-1:0] out_data_o
);
  localparam int Lat   = 1 + ((Depth > 64) ? 2 : 1);
  localparam int GapW  = $clog2(Period + 1);
  localparam int LeftW = $clog2(Count + 1);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_select: Latency %0d given, %0d built", Latency, Lat);
  end

  // keep_q says of the group that comes what becomes of it; gap_q counts down
  // to the next one that is kept, left_q those that remain of the period.
  logic credit, fire, take, push_q, keep_q, inner_last, period_last, next;
  logic [GapW-1:0]  gap_q;
  logic [LeftW-1:0] left_q;
  logic [Elem-1:0]  data_q;
  assign in_ready_o = credit || !keep_q;
  assign fire = in_valid_i && in_ready_o;
  assign take = fire && keep_q;
  assign next = fire && inner_last;
  logic [((Inner > 1) ? $clog2(Inner) : 1)-1:0] unused_inner;
  logic [((Period > 1) ? $clog2(Period) : 1)-1:0] unused_period;
  rhz_counter #(.Count(Inner)) u_inner (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_inner), .last_o(inner_last)
  );
  rhz_counter #(.Count(Period)) u_period (
    .clk_i, .rst_ni, .en_i(next), .value_o(unused_period), .last_o(period_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      push_q <= 1'b0;
      keep_q <= Start == 0;
      gap_q  <= GapW'((Start == 0) ? Stride - 1 : Start - 1);
      left_q <= LeftW'((Start == 0) ? Count - 1 : Count);
    end else begin
      push_q <= take;
      if (next) begin
        if (period_last) begin
          keep_q <= Start == 0;
          gap_q  <= GapW'((Start == 0) ? Stride - 1 : Start - 1);
          left_q <= LeftW'((Start == 0) ? Count - 1 : Count);
        end else if (gap_q == '0) begin
          keep_q <= left_q != '0;
          gap_q  <= GapW'(Stride - 1);
          left_q <= (left_q != '0) ? left_q - LeftW'(1) : left_q;
        end else begin
          keep_q <= 1'b0;
          gap_q  <= gap_q - GapW'(1);
        end
      end
    end
  end
  always_ff @(posedge clk_i) data_q <= in_data_i;

  rhz_outbuf #(.Width(Elem), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(take), .push_i(push_q),
    .push_data_i(data_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

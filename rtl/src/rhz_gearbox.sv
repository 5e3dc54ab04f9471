// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regroups a stream of elements from LanesIn to LanesOut lanes, with rows of
// RowIn and RowOut elements whose last beat may be partial. In units of as many
// elements as divide all of these, beats of one unit are picked from those of several
// (rhz_gearbox_pick) or collected to them (rhz_gearbox_collect), if rows with a partial
// beat are short and few units are picked from; other beats pass a ring
// (rhz_gearbox_ring). Unused output lanes are zero.
module rhz_gearbox #(
  parameter int Elem     = 8,
  parameter int LanesIn  = 1,
  parameter int LanesOut = 1,
  parameter int RowIn    = 1,
  parameter int RowOut   = 1,
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     in_valid_i,
  output logic                     in_ready_o,
  input  logic [LanesIn*Elem-1:0]  in_data_i,
  output logic                     out_valid_o,
  input  logic                     out_ready_i,
  output logic [LanesOut*Elem-1:0] out_data_o
);
  function automatic int gcd(input int a, input int b);
    int u;
    int v;
    int w;
    u = a;
    v = b;
    while (v != 0) begin
      w = u % v;
      u = v;
      v = w;
    end
    gcd = u;
  endfunction

  localparam int Unit     = gcd(gcd(LanesIn, LanesOut), gcd(RowIn, RowOut));
  localparam int MostIn   = ((LanesIn < RowIn) ? LanesIn : RowIn) / Unit;
  localparam int MostOut  = ((LanesOut < RowOut) ? LanesOut : RowOut) / Unit;
  localparam int TailIn   = RowIn % LanesIn / Unit;
  localparam int TailOut  = RowOut % LanesOut / Unit;
  localparam int BeatsIn  = (TailIn == 0) ? 1 : (RowIn + LanesIn - 1) / LanesIn;
  localparam int BeatsOut = (TailOut == 0) ? 1 : (RowOut + LanesOut - 1) / LanesOut;
  localparam int Longest  = 32;   // row with a partial beat, in beats; beat to pick from
  localparam bit Picks    = MostOut == 1 && BeatsIn <= Longest && MostIn <= Longest;
  localparam bit Collects = MostIn == 1 && BeatsOut <= Longest;
  if (Picks || Collects) begin : gen_unit
    // What a beat fills of its port.
    localparam int UnitW = Unit * Elem;
    logic [MostOut*UnitW-1:0] data;
    if (Picks) begin : gen_pick
      rhz_gearbox_pick #(
        .Width(UnitW), .Most(MostIn), .Last((TailIn == 0) ? MostIn : TailIn), .Beats(BeatsIn),
        .Depth(Depth), .Latency(Latency)
      ) u_pick (
        .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i(in_data_i[MostIn*UnitW-1:0]),
        .out_valid_o, .out_ready_i, .out_data_o(data)
      );
    end else begin : gen_collect
      rhz_gearbox_collect #(
        .Width(UnitW), .Most(MostOut), .Last((TailOut == 0) ? MostOut : TailOut),
        .Beats(BeatsOut), .Depth(Depth), .Latency(Latency)
      ) u_collect (
        .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i(in_data_i[UnitW-1:0]),
        .out_valid_o, .out_ready_i, .out_data_o(data)
      );
    end
    assign out_data_o = (LanesOut*Elem)'(data);
    if (MostIn * UnitW < LanesIn * Elem) begin : gen_unread
      logic unused;
      assign unused = &{1'b0, in_data_i[LanesIn*Elem-1:MostIn*UnitW]};
    end
  end else begin : gen_ring
    rhz_gearbox_ring #(
      .Elem(Elem), .LanesIn(LanesIn), .LanesOut(LanesOut), .RowIn(RowIn), .RowOut(RowOut),
      .Depth(Depth), .Latency(Latency)
    ) u_ring (
      .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i, .out_valid_o, .out_ready_i, .out_data_o
    );
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gearbox (rhz_gearbox) with a ring of elements between an accept and an emit
// process, for beats neither of which is a single unit. Where beats always begin at
// the same few places of it, a place takes or gives its own lane (turns); otherwise
// they are rotated.
// A rotation by many places takes a stage more: an element can be emitted two
// cycles after its acceptance, not one, or the emit process has Latency 2 + V, not
// 1 + V. Unused output lanes are zero.
module rhz_gearbox_ring #(
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

  // Everything below counts in units of Unit elements.
  localparam int Unit    = gcd(gcd(LanesIn, LanesOut), gcd(RowIn, RowOut));
  localparam int UnitW   = Unit * Elem;
  localparam int UIn     = LanesIn / Unit;
  localparam int UOut    = LanesOut / Unit;
  localparam int TailIn  = (RowIn / Unit) % UIn;   // 0: no partial beat
  localparam int TailOut = (RowOut / Unit) % UOut;
  localparam int LastIn  = (TailIn == 0) ? UIn : TailIn;
  localparam int LastOut = (TailOut == 0) ? UOut : TailOut;
  localparam int BeatsIn  = (TailIn == 0) ? 1 : (RowIn + LanesIn - 1) / LanesIn;
  localparam int BeatsOut = (TailOut == 0) ? 1 : (RowOut + LanesOut - 1) / LanesOut;
  localparam int MostIn  = (BeatsIn == 1) ? LastIn : UIn;
  localparam int MostOut = (BeatsOut == 1) ? LastOut : UOut;

  // Where beats may begin. Both sides take turns if that needs no long ring.
  localparam int StepIn   = gcd(MostIn, LastIn);
  localparam int StepOut  = gcd(MostOut, LastOut);
  localparam int Room     = MostIn + MostOut + ((MostIn > MostOut) ? MostIn : MostOut);
  localparam int Both     = MostIn * MostOut / gcd(MostIn, MostOut);
  localparam bit InTurns  = BeatsIn == 1;
  localparam bit OutTurns = BeatsOut == 1 &&
                            (!InTurns || (Room + Both - 1) / Both * Both <= 3 * Room);
  localparam int RingStep = (InTurns && OutTurns) ? Both : InTurns ? MostIn
                          : OutTurns ? MostOut : gcd(StepIn, StepOut);
  localparam int WrStep   = InTurns ? MostIn : gcd(StepIn, OutTurns ? MostOut : StepOut);
  localparam int RdStep   = OutTurns ? MostOut : gcd(StepOut, InTurns ? MostIn : StepIn);
  // A last beat writes as many places as a full one.
  localparam int Spare    = MostIn - LastIn;
  localparam bit WrStage  = !InTurns &&
                            (Room + Spare + RingStep - 1) / RingStep * RingStep > 32 * WrStep;
  localparam int Store    = Room + (WrStage ? MostIn : 0);
  localparam int Ring     = (Store + Spare + RingStep - 1) / RingStep * RingStep;
  localparam int WrCount  = Ring / WrStep;
  localparam int RdCount  = Ring / RdStep;
  localparam bit RdStage  = RdCount > ((BeatsOut > 1) ? 16 : 32);
  localparam int CountW   = $clog2(Store + 1);

  localparam int Lat = 1 + (RdStage ? 1 : 0) + ((Depth > 64) ? 2 : 1);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_gearbox_ring: Latency %0d given, %0d built", Latency, Lat);
  end

  // Digits of two bits by which `lanes` steps rotate in a ring of `count`: as many
  // as there are, if that does not reach around the ring.
  function automatic int digitsOf(input int lanes, input int count);
    int n;
    n = 0;
    while (n < 3 && (1 << (2 * n + 2)) < count && lanes + (1 << (2 * n + 2)) - 1 <= count)
      n = n + 1;
    digitsOf = n;
  endfunction

  logic accept, emit, credit;
  logic over_full_q, over_last_q, there_full_q, there_last_q;
  logic in_last, out_last;

  localparam int BeatInW  = (BeatsIn > 1) ? $clog2(BeatsIn) : 1;
  localparam int BeatOutW = (BeatsOut > 1) ? $clog2(BeatsOut) : 1;
  logic [BeatInW-1:0]  unused_in_beat;
  logic [BeatOutW-1:0] unused_out_beat;
  rhz_counter #(.Count(BeatsIn)) u_in_beat (
    .clk_i, .rst_ni, .en_i(accept), .value_o(unused_in_beat), .last_o(in_last)
  );
  rhz_counter #(.Count(BeatsOut)) u_out_beat (
    .clk_i, .rst_ni, .en_i(emit), .value_o(unused_out_beat), .last_o(out_last)
  );
  // Whether a full or a last beat is too much, or there, comes from registers.
  assign in_ready_o = in_last ? !over_last_q : !over_full_q;
  assign accept = in_valid_i && in_ready_o;
  assign emit   = credit && (out_last ? there_last_q : there_full_q);
  logic [CountW-1:0] taken, there;
  rhz_tally #(
    .Width(CountW), .FullIn(MostIn), .LastIn(LastIn), .FullOut(MostOut), .LastOut(LastOut)
  ) u_taken (
    .clk_i, .rst_ni, .in_i(accept), .in_last_i(in_last), .out_i(emit), .out_last_i(out_last),
    .next_o(taken)
  );
  if (WrStage) begin : gen_there
    logic came_q, came_last_q;
    always_ff @(posedge clk_i) begin
      came_q      <= rst_ni && accept;
      came_last_q <= in_last;
    end
    rhz_tally #(
      .Width(CountW), .FullIn(MostIn), .LastIn(LastIn), .FullOut(MostOut), .LastOut(LastOut)
    ) u_there (
      .clk_i, .rst_ni, .in_i(came_q), .in_last_i(came_last_q), .out_i(emit),
      .out_last_i(out_last), .next_o(there)
    );
  end else begin : gen_at_once
    assign there = taken;
  end
  logic over_full, over_last, there_full, there_last;
  rhz_at_least #(.Width(CountW), .Bound(Store - MostIn + 1)) u_over_full (
    .value_i(taken), .yes_o(over_full)
  );
  rhz_at_least #(.Width(CountW), .Bound(Store - LastIn + 1)) u_over_last (
    .value_i(taken), .yes_o(over_last)
  );
  rhz_at_least #(.Width(CountW), .Bound(MostOut)) u_there_full (
    .value_i(there), .yes_o(there_full)
  );
  rhz_at_least #(.Width(CountW), .Bound(LastOut)) u_there_last (
    .value_i(there), .yes_o(there_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      over_full_q  <= 1'b0;
      over_last_q  <= 1'b0;
      there_full_q <= 1'b0;
      there_last_q <= 1'b0;
    end else begin
      over_full_q  <= over_full;
      over_last_q  <= over_last;
      there_full_q <= there_full;
      there_last_q <= there_last;
    end
  end

  // A register for every step tells whether a full beat would write it.
  localparam int WrFull = MostIn / WrStep;
  localparam int WrLast = LastIn / WrStep;
  logic [Ring*UnitW-1:0] store_q, placed;
  logic [WrCount-1:0] window_q, window_d, we;
  for (genvar w = 0; w < WrCount; w++) begin : gen_window
    assign window_d[w] = in_last ? window_q[(w-WrLast+WrCount)%WrCount]
                                 : window_q[(w-WrFull+WrCount)%WrCount];
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni)     window_q <= {{(WrCount-WrFull){1'b0}}, {WrFull{1'b1}}};
    else if (accept) window_q <= window_d;
  end
  if (WrStage) begin : gen_we_stage
    always_ff @(posedge clk_i) we <= window_q & {WrCount{accept}};
  end else begin : gen_we
    assign we = window_q & {WrCount{accept}};
  end
  if (InTurns) begin : gen_in_turns
    assign placed = {WrCount{in_data_i[MostIn*UnitW-1:0]}};
  end else begin : gen_in_rotates
    logic [$clog2(WrCount)-1:0] wr;
    rhz_ring_position #(.Count(WrCount), .Full(WrFull), .Last(WrLast)) u_wr (
      .clk_i, .rst_ni, .en_i(accept), .last_i(in_last), .at_o(wr)
    );
    rhz_rotate_in #(
      .Width(WrStep * UnitW), .Count(WrCount), .Lanes(WrFull),
      .Digits(digitsOf(WrFull, WrCount)), .Stage(WrStage ? 1 : 0)
    ) u_in (
      .clk_i, .at_i(wr), .data_i(in_data_i[MostIn*UnitW-1:0]), .data_o(placed)
    );
  end
  for (genvar w = 0; w < WrCount; w++) begin : gen_store
    always_ff @(posedge clk_i)
      if (we[w]) store_q[w*WrStep*UnitW +: WrStep*UnitW] <= placed[w*WrStep*UnitW +: WrStep*UnitW];
  end

  // A choice of single steps is a multiplexer; only a register cuts it in two.
  localparam int RdFull   = MostOut / RdStep;
  localparam int RdLast   = LastOut / RdStep;
  localparam int RdDigits = (RdFull > 1) ? digitsOf(RdFull, RdCount)
                          : !RdStage ? 0 : (RdCount > 128) ? 2 : 1;
  logic [$clog2(RdCount)-1:0] rd;
  logic [MostOut*UnitW-1:0] picked;
  if (RdFull == 1) begin : gen_out_turns
    logic unused_last;
    rhz_counter #(.Count(RdCount)) u_rd (
      .clk_i, .rst_ni, .en_i(emit), .value_o(rd), .last_o(unused_last)
    );
  end else begin : gen_out_rotates
    rhz_ring_position #(.Count(RdCount), .Full(RdFull), .Last(RdLast)) u_rd (
      .clk_i, .rst_ni, .en_i(emit), .last_i(out_last), .at_o(rd)
    );
  end
  rhz_rotate_out #(
    .Width(RdStep * UnitW), .Count(RdCount), .Lanes(RdFull), .Digits(RdDigits),
    .Stage(RdStage ? 1 : 0)
  ) u_out (
    .clk_i, .at_i(rd), .data_i(store_q), .data_o(picked)
  );
  logic picked_last, push, push_q;
  if (RdStage) begin : gen_rd_stage
    always_ff @(posedge clk_i) begin
      push        <= rst_ni && emit;
      picked_last <= out_last;
    end
  end else begin : gen_no_rd_stage
    assign push        = emit;
    assign picked_last = out_last;
  end
  always_ff @(posedge clk_i) push_q <= rst_ni && push;
  logic [UOut*UnitW-1:0] out_d, out_q;
  for (genvar k = 0; k < MostOut; k++) begin : gen_out
    assign out_d[k*UnitW +: UnitW] =
        (k < LastOut || !picked_last) ? picked[k*UnitW +: UnitW] : '0;
  end
  if (MostOut < UOut) begin : gen_unfilled
    assign out_d[UOut*UnitW-1:MostOut*UnitW] = '0;
  end
  if (MostIn < UIn) begin : gen_unread
    logic unused;
    assign unused = &{1'b0, in_data_i[UIn*UnitW-1:MostIn*UnitW]};
  end
  always_ff @(posedge clk_i) out_q <= out_d;
  rhz_outbuf #(.Width(UOut * UnitW), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(emit), .push_i(push_q),
    .push_data_i(out_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

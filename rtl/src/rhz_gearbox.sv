// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regroups a stream of elements from LanesIn to LanesOut lanes, with rows of
// RowIn and RowOut elements whose last beat may be partial. A store of
// In + Out + max(In, Out) elements, In = min(LanesIn, RowIn) and Out alike, lies
// between an accept and an emit process; the emit process has Latency = 1 + V.
// Unused output lanes are zero.
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

  localparam int Lat = 1 + ((Depth > 64) ? 2 : 1);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_gearbox: Latency %0d given, %0d built", Latency, Lat);
  end

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
  localparam int Store   = MostIn + MostOut + ((MostIn > MostOut) ? MostIn : MostOut);
  localparam int CountW  = $clog2(Store + 1);

  // A ring whose length is a multiple of both step widths needs no shifter; if
  // that makes it long, a line that is filled behind the last unit and shifts
  // down takes its place.
  localparam int StepIn   = (BeatsIn == 1) ? LastIn : gcd(UIn, TailIn);
  localparam int StepOut  = (BeatsOut == 1) ? LastOut : gcd(UOut, TailOut);
  localparam int StepBoth = StepIn * StepOut / gcd(StepIn, StepOut);
  localparam int RingLen  = ((Store + StepBoth - 1) / StepBoth) * StepBoth;
  localparam bit Ring = RingLen <= 3 * Store &&
      (RingLen / StepIn) * MostIn + (RingLen / StepOut) * MostOut <= 4096;

  logic accept, emit, credit, push_q;
  logic over_full_q, over_last_q, there_full_q, there_last_q;
  logic in_last, out_last;
  logic [CountW-1:0] count_q, in_n, out_m;
  logic [UOut*UnitW-1:0] out_d, out_q;

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
  assign in_n  = in_last ? CountW'(LastIn) : CountW'(MostIn);
  assign out_m = out_last ? CountW'(LastOut) : CountW'(MostOut);
  // Whether a full or a last beat is too much, or there, comes from registers.
  assign in_ready_o = in_last ? !over_last_q : !over_full_q;
  assign accept = in_valid_i && in_ready_o;
  assign emit   = credit && (out_last ? there_last_q : there_full_q);
  // Every sum is there before it is known which is wanted.
  logic [CountW-1:0] more, less, both, count_d;
  assign more = count_q + in_n;
  assign less = count_q - out_m;
  always_comb begin
    unique case ({in_last, out_last})
      2'b00:   both = count_q + CountW'(MostIn - MostOut);
      2'b01:   both = count_q + CountW'(MostIn - LastOut);
      2'b10:   both = count_q + CountW'(LastIn - MostOut);
      default: both = count_q + CountW'(LastIn - LastOut);
    endcase
  end
  always_comb begin
    if (accept) count_d = emit ? both : more;
    else        count_d = emit ? less : count_q;
  end
  logic over_full, over_last, there_full, there_last;
  rhz_at_least #(.Width(CountW), .Bound(Store - MostIn + 1)) u_over_full (
    .value_i(count_d), .yes_o(over_full)
  );
  rhz_at_least #(.Width(CountW), .Bound(Store - LastIn + 1)) u_over_last (
    .value_i(count_d), .yes_o(over_last)
  );
  rhz_at_least #(.Width(CountW), .Bound(MostOut)) u_there_full (
    .value_i(count_d), .yes_o(there_full)
  );
  rhz_at_least #(.Width(CountW), .Bound(LastOut)) u_there_last (
    .value_i(count_d), .yes_o(there_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q      <= '0;
      push_q       <= 1'b0;
      over_full_q  <= 1'b0;
      over_last_q  <= 1'b0;
      there_full_q <= 1'b0;
      there_last_q <= 1'b0;
    end else begin
      count_q      <= count_d;
      push_q       <= emit;
      over_full_q  <= over_full;
      over_last_q  <= over_last;
      there_full_q <= there_full;
      there_last_q <= there_last;
    end
  end

  if (Ring) begin : gen_ring
    // Where a beat is written from is a register for every place, so that a
    // choice of its units is their data under these.
    localparam int WrCount = RingLen / StepIn;
    localparam int RdCount = RingLen / StepOut;
    localparam int WrFull  = MostIn / StepIn;
    localparam int WrLast  = LastIn / StepIn;
    logic [RingLen*UnitW-1:0] store_q;
    logic [WrCount-1:0] wr_q, wr_d;
    always_ff @(posedge clk_i) begin
      if (!rst_ni)     wr_q <= WrCount'(1);
      else if (accept) wr_q <= wr_d;
    end
    for (genvar w = 0; w < WrCount; w++) begin : gen_wr
      assign wr_d[w] = in_last ? wr_q[(w-WrLast+WrCount)%WrCount]
                               : wr_q[(w-WrFull+WrCount)%WrCount];
      for (genvar k = 0; k < StepIn; k++) begin : gen_unit
        // The unit at ring place w*StepIn + k comes from in-unit b*StepIn + k of
        // a beat that began b steps earlier.
        logic we;
        logic [UnitW-1:0] unit;
        always_comb begin
          we   = 1'b0;
          unit = '0;
          for (int b = 0; b < WrFull; b++) begin
            if (wr_q[(w-b+WrCount)%WrCount] && (b < WrLast || !in_last)) we = accept;
            if (MostIn == StepIn || wr_q[(w-b+WrCount)%WrCount])
              unit = unit | in_data_i[(b*StepIn+k)*UnitW +: UnitW];
          end
        end
        always_ff @(posedge clk_i)
          if (we) store_q[(w*StepIn+k)*UnitW +: UnitW] <= unit;
      end
    end
    localparam int RdSelW = $clog2(RdCount);
    logic [RdSelW-1:0] rd;
    if (MostOut == StepOut) begin : gen_turns
      logic unused_last;
      rhz_counter #(.Count(RdCount)) u_rd (
        .clk_i, .rst_ni, .en_i(emit), .value_o(rd), .last_o(unused_last)
      );
    end else begin : gen_steps
      localparam int RdW = $clog2(RdCount + MostOut / StepOut);
      logic [RdW-1:0] rd_q, rd_step;
      assign rd_step = out_last ? RdW'(LastOut / StepOut) : RdW'(MostOut / StepOut);
      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          rd_q <= '0;
        end else if (emit) begin
          rd_q <= (rd_q >= RdW'(RdCount) - rd_step) ? rd_q + (rd_step - RdW'(RdCount))
                                                    : rd_q + rd_step;
        end
      end
      logic unused_rd;
      assign unused_rd = &{1'b0, rd_q};
      assign rd = rd_q[RdSelW-1:0];
    end
    for (genvar k = 0; k < MostOut; k++) begin : gen_out
      logic [RdCount*UnitW-1:0] choices;
      logic [UnitW-1:0] picked;
      for (genvar r = 0; r < RdCount; r++) begin : gen_choice
        assign choices[r*UnitW +: UnitW] = store_q[((r*StepOut+k)%RingLen)*UnitW +: UnitW];
      end
      rhz_mux #(.Width(UnitW), .Count(RdCount)) u_mux (
        .sel_i(rd), .data_i(choices), .data_o(picked)
      );
      assign out_d[k*UnitW +: UnitW] = (k < LastOut || !out_last) ? picked : '0;
    end
  end else begin : gen_line
    // A beat lies behind the last unit before everything shifts down: where it
    // goes depends on a register only. Above the last unit the store is zero.
    localparam int Fine = (CountW < 4) ? CountW : 3;
    localparam int FineUnits = MostIn + (1 << Fine) - 1;
    logic [Store*UnitW-1:0] store_q, all;
    logic [MostIn*UnitW-1:0] beat;
    logic [FineUnits*UnitW-1:0] fine;
    for (genvar k = 0; k < MostIn; k++) begin : gen_valid
      assign beat[k*UnitW +: UnitW] =
          (k < LastIn || !in_last) ? in_data_i[k*UnitW +: UnitW] : '0;
    end
    always_comb begin
      fine = (FineUnits*UnitW)'(beat);
      for (int b = 0; b < Fine; b++)
        if (count_q[b]) fine = fine << (UnitW << b);
    end
    for (genvar j = 0; j < Store; j++) begin : gen_place
      logic [UnitW-1:0] unit;
      always_comb begin
        unit = store_q[j*UnitW +: UnitW];
        for (int c = 0; c <= (Store >> Fine); c++)
          if (j >= (c << Fine) && j - (c << Fine) < FineUnits)
            unit = unit | (fine[(j - (c << Fine))*UnitW +: UnitW] &
                           {UnitW{accept && (count_q >> Fine) == CountW'(c)}});
      end
      assign all[j*UnitW +: UnitW] = unit;
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni)   store_q <= '0;
      else if (emit) store_q <= out_last ? all >> (LastOut * UnitW) : all >> (MostOut * UnitW);
      else           store_q <= all;
    end
    for (genvar k = 0; k < MostOut; k++) begin : gen_out
      assign out_d[k*UnitW +: UnitW] =
          (k < LastOut || !out_last) ? store_q[k*UnitW +: UnitW] : '0;
    end
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

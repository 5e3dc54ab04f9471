// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax of rows of Channels elements: min((e[m - x] · q + half) >> Shift, Hi)
// with m the row's largest x, e a table and q the quotient of a constant, First ·
// 2^QuotientBits + Low, and the sum of the row's e[m - x]. Three actors in a row:
// the first one stores a row and finds m, the second one looks e up and sums, the
// third one multiplies. The last beat of a row may be partial. Several Trips have
// their own tables, each for Uses rows. Latency, of the third, = 5 + V.
module rhz_row_softmax #(
  parameter int Lanes        = 1,
  parameter int InWidth      = 8,
  parameter int InSigned     = 1,
  parameter int Channels     = 2,
  parameter int Entries      = 256,  // of the table
  parameter int Trips        = 1,
  parameter int Uses         = 1,
  parameter int PowerWidth   = 16,   // bits of an e
  parameter int SumWidth     = 17,   // bits of a row's sum
  parameter int QuotientBits = 17,
  parameter int First        = 0,
  parameter int Low          = 0,
  parameter int Shift        = 25,
  parameter int OutWidth     = 8,
  parameter int Hi           = 255,
  parameter int Store        = 16,   // beats of x that wait for m
  parameter int PowerStore   = 32,   // beats of e that wait for q
  parameter int Style        = 1,
  parameter int Block        = 0,    // 1: the table is in block RAM
  parameter     TableFile    = "",
  parameter int Depth        = 2,
  parameter int Latency      = 0
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      in_valid_i,
  output logic                      in_ready_o,
  input  logic [Lanes*InWidth-1:0]  in_data_i,
  output logic                      out_valid_o,
  input  logic                      out_ready_i,
  output logic [Lanes*OutWidth-1:0] out_data_o
);
  localparam int Lat       = 5 + ((Depth > 64) ? 2 : 1);
  localparam int Beats     = (Channels + Lanes - 1) / Lanes;
  localparam int LastLanes = Channels - (Beats - 1) * Lanes;
  localparam int Levels    = $clog2(Lanes);
  localparam int BeatW     = (Beats > 1) ? $clog2(Beats) : 1;
  localparam int XWidth    = InWidth + 1;   // signed
  localparam int Words     = Trips * Entries;
  localparam int AddrW     = (Words > 1) ? $clog2(Words) : 1;
  localparam int Rows      = Store / Beats + 2;
  localparam int PowerRows = PowerStore / Beats + 2;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_row_softmax: Latency %0d given, %0d built", Latency, Lat);
  end
  if (Store < Beats || PowerStore < Beats) begin : gen_bad_store
    initial $fatal(1, "rhz_row_softmax: a store below a row's %0d beats", Beats);
  end

  // The first actor: a row and its maximum.
  logic store_credit, fire, last, first_q;
  logic [BeatW-1:0] unused_beat;
  assign in_ready_o = store_credit;
  assign fire = in_valid_i && store_credit;
  rhz_counter #(.Count(Beats)) u_beat (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_beat), .last_o(last)
  );
  logic store_valid, read;
  logic [Lanes*InWidth-1:0] stored;
  rhz_outbuf #(.Width(Lanes * InWidth), .Depth(Store)) u_store (
    .clk_i, .rst_ni, .credit_o(store_credit), .take_i(fire), .push_i(fire),
    .push_data_i(in_data_i), .out_valid_o(store_valid), .out_ready_i(read),
    .out_data_o(stored)
  );
  logic [Lanes*XWidth-1:0] x_q;
  for (genvar l = 0; l < Lanes; l++) begin : gen_in
    // A lane that the last beat leaves out repeats another one.
    localparam bit Partial = l >= LastLanes;
    logic [InWidth-1:0] x;
    assign x = (Partial && last) ? in_data_i[InWidth-1:0] : in_data_i[l*InWidth +: InWidth];
    always_ff @(posedge clk_i)
      x_q[l*XWidth +: XWidth] <= {(InSigned != 0) && x[InWidth-1], x};
  end
  logic [Levels+1:0] valid, ends;
  rhz_valid #(.Stages(Levels + 1)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));
  rhz_valid #(.Stages(Levels + 1)) u_ends (
    .clk_i, .rst_ni, .valid_i(fire && last), .valid_o(ends)
  );
  logic [XWidth-1:0] beat_most;
  logic signed [XWidth-1:0] most_q;
  rhz_max #(.Count(Lanes), .Width(XWidth)) u_max (.clk_i, .terms_i(x_q), .max_o(beat_most));
  logic most_push_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q     <= 1'b1;
      most_push_q <= 1'b0;
    end else begin
      most_push_q <= ends[Levels+1];
      if (valid[Levels+1]) first_q <= ends[Levels+1];
    end
    if (valid[Levels+1] && (first_q || $signed(beat_most) > most_q)) most_q <= beat_most;
  end
  logic most_valid, most_pop, unused_most;
  logic [XWidth-1:0] most;
  rhz_outbuf #(.Width(XWidth), .Depth(Rows)) u_most (
    .clk_i, .rst_ni, .credit_o(unused_most), .take_i(most_push_q), .push_i(most_push_q),
    .push_data_i(most_q), .out_valid_o(most_valid), .out_ready_i(most_pop), .out_data_o(most)
  );

  // The second one: exponentials and their sum.
  logic power_credit, look, look_last;
  logic [BeatW-1:0] unused_look;
  assign look     = store_valid && most_valid && power_credit;
  assign read     = most_valid && power_credit;
  assign most_pop = look && look_last;
  rhz_counter #(.Count(Beats)) u_look (
    .clk_i, .rst_ni, .en_i(look), .value_o(unused_look), .last_o(look_last)
  );
  logic [Levels+3:0] looked, row_looked;
  rhz_valid #(.Stages(Levels + 3)) u_looked (
    .clk_i, .rst_ni, .valid_i(look), .valid_o(looked)
  );
  rhz_valid #(.Stages(Levels + 3)) u_row_looked (
    .clk_i, .rst_ni, .valid_i(look && look_last), .valid_o(row_looked)
  );
  logic [AddrW-1:0] base;   // the trip's first entry
  if (Trips == 1) begin : gen_once
    assign base = '0;
  end else begin : gen_trips
    logic [$clog2(Trips)-1:0] trip;
    rhz_index #(.Trips(Trips), .Uses(Uses)) u_trip (
      .clk_i, .rst_ni, .en_i(most_pop), .value_o(trip)
    );
    assign base = AddrW'(trip) * AddrW'(Entries);
  end
  logic [Lanes*PowerWidth-1:0] powers;
  logic [Lanes*(PowerWidth+1)-1:0] terms;
  for (genvar l = 0; l < Lanes; l++) begin : gen_look
    localparam bit Partial = l >= LastLanes;
    logic [InWidth-1:0] x;
    logic [AddrW-1:0] addr_q;
    logic [PowerWidth-1:0] power;
    assign x = stored[l*InWidth +: InWidth];
    always_ff @(posedge clk_i)
      addr_q <= base + AddrW'($signed(most)) -
                AddrW'($signed({(InSigned != 0) && x[InWidth-1], x}));
    rhz_rom #(
      .Width(PowerWidth), .Words(Words), .Stages(2), .Block(Block), .File(TableFile)
    ) u_table (.clk_i, .addr_i(addr_q), .data_o(power));
    assign powers[l*PowerWidth +: PowerWidth] = power;
    assign terms[l*(PowerWidth+1) +: PowerWidth+1] =
        (Partial && row_looked[3]) ? '0 : {1'b0, power};
  end
  logic power_valid, power_pop;
  logic [Lanes*PowerWidth-1:0] power_stored;
  rhz_outbuf #(
    .Width(Lanes * PowerWidth), .Depth(PowerStore)
  ) u_powers (
    .clk_i, .rst_ni, .credit_o(power_credit), .take_i(look), .push_i(looked[3]),
    .push_data_i(powers), .out_valid_o(power_valid), .out_ready_i(power_pop),
    .out_data_o(power_stored)
  );
  logic [PowerWidth+Levels:0] beat_sum;
  logic [SumWidth-1:0] sum_q;
  logic sum_first_q, sum_push_q;
  rhz_sum #(.Count(Lanes), .Width(PowerWidth + 1)) u_sum (
    .clk_i, .terms_i(terms), .sum_o(beat_sum)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sum_first_q <= 1'b1;
      sum_push_q  <= 1'b0;
    end else begin
      sum_push_q <= row_looked[Levels+3];
      if (looked[Levels+3]) sum_first_q <= row_looked[Levels+3];
    end
    if (looked[Levels+3]) sum_q <= (sum_first_q ? '0 : sum_q) + SumWidth'(beat_sum);
  end
  logic quotient_push;
  logic [QuotientBits-1:0] quotient_new;
  rhz_quotient #(
    .Divisor(SumWidth), .Bits(QuotientBits), .Interval(Beats), .First(First), .Low(Low)
  ) u_quotient (
    .clk_i, .rst_ni, .valid_i(sum_push_q), .divisor_i(sum_q), .valid_o(quotient_push),
    .quotient_o(quotient_new)
  );
  logic quotient_valid, quotient_pop, unused_quotient;
  logic [QuotientBits-1:0] quotient;
  rhz_outbuf #(.Width(QuotientBits), .Depth(PowerRows)) u_quotients (
    .clk_i, .rst_ni, .credit_o(unused_quotient), .take_i(quotient_push),
    .push_i(quotient_push), .push_data_i(quotient_new), .out_valid_o(quotient_valid),
    .out_ready_i(quotient_pop), .out_data_o(quotient)
  );

  // The third one: products.
  logic credit, multiply, multiply_last;
  logic [BeatW-1:0] unused_multiply;
  logic [5:0] multiplied;
  assign multiply     = power_valid && quotient_valid && credit;
  assign power_pop    = quotient_valid && credit;
  assign quotient_pop = multiply && multiply_last;
  rhz_counter #(.Count(Beats)) u_multiply (
    .clk_i, .rst_ni, .en_i(multiply), .value_o(unused_multiply), .last_o(multiply_last)
  );
  rhz_valid #(.Stages(5)) u_multiplied (
    .clk_i, .rst_ni, .valid_i(multiply), .valid_o(multiplied)
  );
  logic [QuotientBits-1:0] quotient_q;
  always_ff @(posedge clk_i) quotient_q <= quotient;
  logic [Lanes*OutWidth-1:0] data;
  for (genvar l = 0; l < Lanes; l++) begin : gen_out
    localparam int Wide = PowerWidth + QuotientBits + 1;
    localparam int Kept = (Wide + 1 - Shift > OutWidth) ? Wide + 1 - Shift : OutWidth + 1;
    logic [PowerWidth-1:0] power_q;
    logic signed [Wide-1:0] product;
    logic [Wide:0] sum;
    logic [Kept-1:0] share_q;
    logic unused_sum;
    always_ff @(posedge clk_i) power_q <= power_stored[l*PowerWidth +: PowerWidth];
    rhz_mul #(
      .XWidth(PowerWidth), .XSigned(0), .WWidth(QuotientBits + 1), .Style(Style), .Stages(2)
    ) u_mul (.clk_i, .x_i(power_q), .w_i({1'b0, quotient_q}), .product_o(product));
    assign sum = {1'b0, product} + ((Wide + 1)'(1) << (Shift - 1));
    assign unused_sum = &{1'b0, sum};
    always_ff @(posedge clk_i) begin
      share_q <= Kept'(sum >> Shift);
      data[l*OutWidth +: OutWidth] <=
          (share_q > Kept'(Hi)) ? OutWidth'(Hi) : OutWidth'(share_q);
    end
  end
  logic unused;
  assign unused = &{1'b0, valid, ends, looked, row_looked, multiplied, beat_sum, most, unused_most,
                    unused_quotient};
  rhz_outbuf #(.Width(Lanes * OutWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(multiply), .push_i(multiplied[5]),
    .push_data_i(data), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalizes rows of Channels elements, C. With A the sum of a row's x - Zero (0
// unless Centered) and B that of their squares: W = C · B - A² + epsilon, k the
// leading zeros of W's Digits digits to the base 4, T the root of W << 2k in 16
// bits, R = (2^32 - 1) / T, out = (((C · (x - Zero) - A) << k) · R + half) >> Shift.
// With Stored, epsilon is in a memory: several Trips have their own, each for Uses
// rows. Two actors: the first one stores a row and finds its sums, from which A, k and R
// follow at a fixed time; the second one computes the results. The last beat of a
// row may be partial. Latency, of the second, = 9 + V.
module rhz_row_norm #(
  parameter int Lanes       = 1,
  parameter int InWidth     = 8,
  parameter int InSigned    = 1,
  parameter int Channels    = 2,
  parameter int Centered    = 1,
  parameter int Zero        = 0,
  parameter int XWidth      = 8,   // signed bits of x - Zero
  parameter int SumWidth    = 9,   // signed bits of A
  parameter int SquareWidth = 15,  // bits of B
  parameter int Digits      = 8,   // of W, to the base 4
  parameter int EpsilonLow  = 1,   // 30 bits
  parameter int EpsilonHigh = 0,
  parameter int Stored      = 0,
  parameter int Trips       = 1,
  parameter int Uses        = 1,
  parameter int Block       = 0,   // 1: that memory is a block RAM
  parameter     EpsilonFile = "",
  parameter int DiffWidth   = 9,   // signed bits of C · (x - Zero) - A
  parameter int ScaledWidth = 10,  // signed bits of the same << k
  parameter int Shift       = 12,
  parameter int OutWidth    = 15,
  parameter int Store       = 16,  // beats of x that wait for R
  parameter int Style       = 1,
  parameter int Depth       = 2,
  parameter int Latency     = 0
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
  localparam int Lat       = 9 + ((Depth > 64) ? 2 : 1);
  localparam int Beats     = (Channels + Lanes - 1) / Lanes;
  localparam int LastLanes = Channels - (Beats - 1) * Lanes;
  localparam int BeatW     = (Beats > 1) ? $clog2(Beats) : 1;
  localparam int Rows      = Store / Beats + 2;
  localparam int Root      = 16;
  localparam int CountW    = $clog2(Channels + 1);      // bits of C
  localparam int Multiply  = 2;                         // stages of a product
  localparam int Sums      = 1 + Multiply + $clog2(Lanes);  // a beat's sums are there
  localparam int WWidth    = 2 * Digits;
  localparam int Levels    = (Digits > 1) ? $clog2(Digits) : 1;
  localparam logic [59:0] Epsilon = {30'(EpsilonHigh), 30'(EpsilonLow)};
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_row_norm: Latency %0d given, %0d built", Latency, Lat);
  end
  if (Store < Beats) begin : gen_bad_store
    initial $fatal(1, "rhz_row_norm: a store below a row's %0d beats", Beats);
  end

  // The first actor: a row and its sums.
  logic store_credit, fire, last;
  logic [BeatW-1:0] unused_beat;
  assign in_ready_o = store_credit;
  assign fire = in_valid_i && store_credit;
  rhz_counter #(.Count(Beats)) u_beat (
    .clk_i, .rst_ni, .en_i(fire), .value_o(unused_beat), .last_o(last)
  );
  logic store_valid, store_pop;
  logic [Lanes*InWidth-1:0] stored;
  rhz_outbuf #(.Width(Lanes * InWidth), .Depth(Store)) u_store (
    .clk_i, .rst_ni, .credit_o(store_credit), .take_i(fire), .push_i(fire),
    .push_data_i(in_data_i), .out_valid_o(store_valid), .out_ready_i(store_pop),
    .out_data_o(stored)
  );
  logic [Sums:0] valid, ends;
  rhz_valid #(.Stages(Sums)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));
  rhz_valid #(.Stages(Sums)) u_ends (
    .clk_i, .rst_ni, .valid_i(fire && last), .valid_o(ends)
  );
  logic [Lanes*XWidth-1:0] xs;
  logic [Lanes*2*XWidth-1:0] squares;
  for (genvar l = 0; l < Lanes; l++) begin : gen_in
    localparam bit Partial = l >= LastLanes;
    logic [InWidth-1:0] x;
    logic signed [XWidth-1:0] x_q;
    assign x = in_data_i[l*InWidth +: InWidth];
    always_ff @(posedge clk_i) begin
      if (Partial && last) x_q <= '0;
      else                 x_q <= XWidth'($signed({(InSigned != 0) && x[InWidth-1], x})) - XWidth'(Zero);
    end
    rhz_mul #(
      .XWidth(XWidth), .XSigned(1), .WWidth(XWidth), .Style(Style), .Stages(Multiply)
    ) u_square (
      .clk_i, .x_i(x_q), .w_i(x_q), .product_o(squares[l*2*XWidth +: 2*XWidth])
    );
    rhz_delay #(.Width(XWidth), .Stages(Multiply)) u_x (
      .clk_i, .data_i(x_q), .data_o(xs[l*XWidth +: XWidth])
    );
  end
  logic [2*XWidth+$clog2(Lanes)-1:0] beat_squares;
  rhz_sum #(.Count(Lanes), .Width(2 * XWidth)) u_squares (
    .clk_i, .terms_i(squares), .sum_o(beat_squares)
  );
  logic first_q, done_q;
  logic [SquareWidth-1:0] squares_q;
  logic [SumWidth-1:0] sum_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      done_q  <= 1'b0;
    end else begin
      done_q <= ends[Sums];
      if (valid[Sums]) first_q <= ends[Sums];
    end
    if (valid[Sums]) squares_q <= (first_q ? '0 : squares_q) + SquareWidth'(beat_squares);
  end
  if (Centered != 0) begin : gen_centered
    logic [XWidth+$clog2(Lanes)-1:0] beat_sum;
    logic unused_sum;
    assign unused_sum = &{1'b0, beat_sum};
    rhz_sum #(.Count(Lanes), .Width(XWidth)) u_sum (.clk_i, .terms_i(xs), .sum_o(beat_sum));
    always_ff @(posedge clk_i)
      if (valid[Sums]) sum_q <= (first_q ? '0 : sum_q) + SumWidth'($signed(beat_sum));
  end else begin : gen_plain
    logic unused_xs;
    assign unused_xs = &{1'b0, xs};
    assign sum_q = '0;
  end

  // The row's numbers: done_q and 2 stages for products, one for W, Levels for k,
  // 16 for T, 17 for R.
  localparam int Ready = Multiply + 1 + Levels;   // k, from done_q
  logic [Ready:0] known;
  rhz_valid #(.Stages(Ready)) u_known (.clk_i, .rst_ni, .valid_i(done_q), .valid_o(known));
  logic signed [SquareWidth+CountW:0] times;
  rhz_times #(.Width(SquareWidth + 1), .Bits(CountW), .Factor(Channels)) u_times (
    .clk_i, .x_i({1'b0, squares_q}), .product_o(times)
  );
  logic [WWidth-1:0] less;
  if (Centered != 0) begin : gen_square
    logic signed [2*SumWidth-1:0] square;
    logic unused_square;
    rhz_mul #(
      .XWidth(SumWidth), .XSigned(1), .WWidth(SumWidth), .Style(Style), .Stages(Multiply)
    ) u_square (.clk_i, .x_i(sum_q), .w_i(sum_q), .product_o(square));
    assign less = WWidth'(square);
    assign unused_square = &{1'b0, square};
  end else begin : gen_none
    assign less = '0;
  end
  logic [WWidth-1:0] epsilon;
  if (Stored != 0) begin : gen_stored
    localparam int TripW = (Trips > 1) ? $clog2(Trips) : 1;
    logic [TripW-1:0] trip;
    rhz_index #(.Trips(Trips), .Uses(Uses)) u_trip (
      .clk_i, .rst_ni, .en_i(done_q), .value_o(trip)
    );
    rhz_rom #(
      .Width(WWidth), .Words(Trips), .Stages(Multiply), .Block(Block), .File(EpsilonFile)
    ) u_epsilon (.clk_i, .addr_i(trip), .data_o(epsilon));
  end else begin : gen_constant
    assign epsilon = WWidth'(Epsilon);
  end
  for (genvar i = 0; i <= Levels; i++) begin : gen_level
    // The zeros are taken off by halves: 2^(Levels-i) digits if they are zero.
    localparam int Step  = 1 << (Levels - i);
    logic [WWidth-1:0] w_q;
    logic [Levels-1:0] k_q;
    logic unused_w;
    assign unused_w = &{1'b0, w_q};
    if (i == 0) begin : gen_w
      always_ff @(posedge clk_i) w_q <= WWidth'(times) - less + epsilon;
      assign k_q = '0;
    end else if (Step >= Digits) begin : gen_pass
      always_ff @(posedge clk_i) begin
        w_q <= gen_level[i-1].w_q;
        k_q <= gen_level[i-1].k_q;
      end
    end else begin : gen_shift
      logic zeros;
      assign zeros = gen_level[i-1].w_q[WWidth-1 -: 2*Step] == '0;
      always_ff @(posedge clk_i) begin
        w_q <= zeros ? gen_level[i-1].w_q << (2 * Step) : gen_level[i-1].w_q;
        k_q <= gen_level[i-1].k_q | (Levels'(zeros) << (Levels - i));
      end
    end
  end
  logic [2*Root-1:0] square;
  if (WWidth >= 2 * Root) begin : gen_high
    assign square = gen_level[Levels].w_q[WWidth-1 -: 2*Root];
  end else begin : gen_short
    assign square = {gen_level[Levels].w_q, {(2*Root-WWidth){1'b0}}};
  end
  logic [SumWidth-1:0] row_sum;
  rhz_delay #(.Width(SumWidth), .Stages(Ready)) u_row_sum (
    .clk_i, .data_i(sum_q), .data_o(row_sum)
  );
  logic root_valid, inverse_valid;
  logic [Root-1:0] root;
  logic [Root:0] inverse_new;
  rhz_root #(.Bits(Root), .Interval(Beats)) u_root (
    .clk_i, .rst_ni, .valid_i(known[Ready]), .square_i(square), .valid_o(root_valid),
    .root_o(root)
  );
  rhz_quotient #(
    .Divisor(Root), .Bits(Root + 1), .Interval(Beats), .First((1 << (Root - 1)) - 1),
    .Low((1 << (Root + 1)) - 1)
  ) u_inverse (
    .clk_i, .rst_ni, .valid_i(root_valid), .divisor_i(root), .valid_o(inverse_valid),
    .quotient_o(inverse_new)
  );
  logic row_valid, row_pop, unused_known, unused_credits, unused_inverse;
  logic [SumWidth-1:0] sum;
  logic [Levels-1:0] zeros;
  logic [Root:0] inverse;
  rhz_outbuf #(.Width(SumWidth + Levels), .Depth(Rows)) u_rows (
    .clk_i, .rst_ni, .credit_o(unused_credits), .take_i(known[Ready]), .push_i(known[Ready]),
    .push_data_i({row_sum, gen_level[Levels].k_q}), .out_valid_o(unused_known),
    .out_ready_i(row_pop), .out_data_o({sum, zeros})
  );
  rhz_outbuf #(.Width(Root + 1), .Depth(Rows)) u_inverses (
    .clk_i, .rst_ni, .credit_o(unused_inverse), .take_i(inverse_valid), .push_i(inverse_valid),
    .push_data_i(inverse_new), .out_valid_o(row_valid), .out_ready_i(row_pop),
    .out_data_o(inverse)
  );

  // The second actor: results.
  logic credit, apply, apply_last;
  logic [BeatW-1:0] unused_apply;
  logic [9:0] applied;
  assign apply     = store_valid && row_valid && credit;
  assign store_pop = row_valid && credit;
  assign row_pop   = apply && apply_last;
  rhz_counter #(.Count(Beats)) u_apply (
    .clk_i, .rst_ni, .en_i(apply), .value_o(unused_apply), .last_o(apply_last)
  );
  rhz_valid #(.Stages(9)) u_applied (.clk_i, .rst_ni, .valid_i(apply), .valid_o(applied));
  logic [SumWidth-1:0] sum_at;
  logic [Levels-1:0] zeros_at, zeros_later_q;
  logic [Root:0] inverse_at;
  rhz_delay #(.Width(SumWidth), .Stages(3)) u_sum_at (.clk_i, .data_i(sum), .data_o(sum_at));
  rhz_delay #(.Width(Levels), .Stages(4)) u_zeros_at (.clk_i, .data_i(zeros), .data_o(zeros_at));
  rhz_delay #(.Width(Root + 1), .Stages(6)) u_inverse_at (
    .clk_i, .data_i(inverse), .data_o(inverse_at)
  );
  always_ff @(posedge clk_i) zeros_later_q <= zeros_at;
  localparam int LowLevels = (Levels + 1) / 2;
  localparam logic [Levels-1:0] LowMask = Levels'((1 << LowLevels) - 1);
  logic [Lanes*OutWidth-1:0] data;
  for (genvar l = 0; l < Lanes; l++) begin : gen_out
    localparam int Wide = ScaledWidth + Root + 2;
    logic [InWidth-1:0] x;
    logic signed [XWidth-1:0] x_q;
    logic signed [XWidth+CountW-1:0] scaled;
    logic signed [DiffWidth-1:0] diff_q;
    logic signed [ScaledWidth-1:0] high_q, all_q;
    logic signed [Wide-1:0] product, rounded;
    logic unused_bits;
    assign x = stored[l*InWidth +: InWidth];
    rhz_times #(.Width(XWidth), .Bits(CountW), .Factor(Channels)) u_times (
      .clk_i, .x_i(x_q), .product_o(scaled)
    );
    always_ff @(posedge clk_i) begin
      x_q    <= XWidth'($signed({(InSigned != 0) && x[InWidth-1], x})) - XWidth'(Zero);
      diff_q <= DiffWidth'(scaled) - DiffWidth'($signed(sum_at));
      high_q <= ScaledWidth'(diff_q) << (zeros_at & ~LowMask);
      all_q  <= high_q << (zeros_later_q & LowMask);
      data[l*OutWidth +: OutWidth] <= OutWidth'(rounded >>> Shift);
    end
    rhz_mul #(
      .XWidth(ScaledWidth), .XSigned(1), .WWidth(Root + 2), .Style(Style), .Stages(Multiply)
    ) u_mul (.clk_i, .x_i(all_q), .w_i({1'b0, inverse_at}), .product_o(product));
    assign rounded = product + (Wide'(1) << (Shift - 1));
    assign unused_bits = &{1'b0, scaled, rounded};
  end
  logic unused;
  assign unused = &{1'b0, valid, ends, known, applied, times, beat_squares, sum_at, unused_known,
                    unused_credits, unused_inverse};
  rhz_outbuf #(.Width(Lanes * OutWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(apply), .push_i(applied[9]),
    .push_data_i(data), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

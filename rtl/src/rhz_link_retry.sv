// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of a transmitter's slots is to be sent again, and when to poll
// (docs/spec/link.md, S4, S6, S7). Walks over the slots kept, three cycles each,
// and stays at one that is lost until it has been taken.
module rhz_link_retry #(
  parameter int Slots = 16,
  parameter int Wait  = 200,            // ticks
  parameter int SlotWidth = $clog2(Slots)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 tick_i,
  input  logic [31:0]          cum_i,
  input  logic [31:0]          next_i,
  input  logic                 waits_i,     // a slot waits to be sent
  input  logic                 sent_i,      // a slot, at this time
  input  logic [SlotWidth-1:0] sent_slot_i,
  input  logic                 ack_i,       // an acknowledgement,
  input  logic                 later_i,     // of more than the one before
  input  logic [63:0]          map_i,
  input  logic [8:0]           heard_i,     // highest number + 1, its low bits
  output logic                 again_valid_o,
  input  logic                 again_taken_i,
  output logic [31:0]          again_seq_o,
  output logic                 poll_due_o,
  input  logic                 poll_taken_i
);
  localparam int TimeWidth = 16;
  localparam int QuietWidth = $clog2(2 * Wait + 1) + 4;

  if (Wait < 1 || Wait >= 1 << (TimeWidth - 1)) begin : gen_bad_wait
    initial $fatal(1, "rhz_link_retry: Wait %0d, 1 to %0d ticks are possible", Wait,
                   (1 << (TimeWidth - 1)) - 1);
  end

  // What the receiver has.
  logic [63:0] map_q;
  logic [8:0]  seen_q, grown;
  assign grown = heard_i - seen_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      map_q  <= '0;
      seen_q <= '0;
    end else if (ack_i) begin
      map_q <= later_i ? map_i : map_q | map_i;
      if (later_i || !grown[8]) seen_q <= heard_i;
    end
  end

  // When each slot was sent.
  logic [TimeWidth-1:0] now_q, sent_at, age_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)     now_q <= '0;
    else if (tick_i) now_q <= now_q + TimeWidth'(1);
  end
  logic [31:0] scan_q;
  rhz_sdpram #(.Width(TimeWidth), .Words(Slots), .Stages(1)) u_times (
    .clk_i, .we_i(sent_i), .waddr_i(sent_slot_i), .wdata_i(now_q), .re_i(1'b1),
    .raddr_i(scan_q[SlotWidth-1:0]), .rdata_o(sent_at)
  );

  // Ask for the slot; compare; decide.
  typedef enum logic [1:0] { Ask, Compare, Decide, Offer } state_e;
  state_e state_q;
  logic [6:0] offset_q, kept_q;
  logic [8:0] seen_by_q;
  logic has_q, quiet, in_range;
  logic [2:0] backoff_q;
  always_ff @(posedge clk_i) begin
    offset_q  <= scan_q[6:0] - cum_i[6:0];
    kept_q    <= next_i[6:0] - cum_i[6:0];
    seen_by_q <= scan_q[8:0] + 9'd3 - seen_q;   // negative: overtaken by enough
    has_q     <= map_q[scan_q[5:0]];
    age_q     <= now_q - sent_at;
  end
  logic unused;
  assign unused = ^{grown[7:0], seen_by_q[7:0]};
  assign quiet  = backoff_q != '0;
  assign in_range = offset_q < kept_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Ask;
      scan_q  <= '0;
    end else begin
      unique case (state_q)
        Ask:     state_q <= Compare;
        Compare: state_q <= Decide;
        Decide: begin
          state_q <= Ask;
          if (!in_range) scan_q <= cum_i;
          else if (!has_q && !quiet && seen_by_q[8] && age_q >= TimeWidth'(Wait))
            state_q <= Offer;
          else scan_q <= scan_q + 32'd1;
        end
        default: if (again_taken_i) begin
          state_q <= Ask;
          scan_q  <= scan_q + 32'd1;
        end
      endcase
    end
  end
  assign again_valid_o = state_q == Offer;
  assign again_seq_o   = scan_q;

  // How long nothing has been heard although something should be.
  logic [QuietWidth-1:0] quiet_q;
  logic waits_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      quiet_q    <= QuietWidth'(2 * Wait);
      backoff_q  <= '0;
      waits_q    <= 1'b0;
      poll_due_o <= 1'b0;
    end else begin
      waits_q <= next_i != cum_i || waits_i;
      if (poll_taken_i || !waits_q || ack_i) poll_due_o <= 1'b0;
      else if (quiet_q == '0)                poll_due_o <= 1'b1;
      if (ack_i) backoff_q <= '0;
      else if (poll_taken_i && backoff_q != 3'd4) backoff_q <= backoff_q + 3'd1;
      if (ack_i || !waits_q)       quiet_q <= QuietWidth'(2 * Wait);
      else if (poll_taken_i)       quiet_q <= QuietWidth'(2 * Wait) << backoff_q;
      else if (tick_i && quiet_q != '0) quiet_q <= quiet_q - QuietWidth'(1);
    end
  end
endmodule

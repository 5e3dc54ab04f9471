// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transmitter of a channel (docs/spec/link.md, S1 to S8): cuts the frames of
// s_axis_* into slots, sends them as datagrams through out_*, and keeps them
// until they are acknowledged, or on a reliable medium (Retain = 0) until they
// are sent. rhz_link_retry finds what to send again. A new epoch is a reset.
module rhz_link_tx #(
  parameter int Width      = 64,
  parameter int SlotWords  = 128,
  parameter int Slots      = 16,
  parameter int Retain     = 1,
  parameter int Wait       = 200      // ticks until a slot may be sent again
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             tick_i,
  input  logic [15:0]      epoch_i,
  input  logic [15:0]      channel_i,   // its id, constant
  input  logic             head_i,
  input  logic             live_i,
  input  logic [3:0]       kind_i,
  input  logic [15:0]      id_i,
  input  logic [31:0]      seq_i,
  input  logic [7:0]       first_i,
  input  logic [7:0]       span_i,
  input  logic             done_i,
  input  logic [63:0]      word_i,
  output logic             hit_o,
  input  logic [Width-1:0] s_axis_tdata,
  input  logic             s_axis_tvalid,
  output logic             s_axis_tready,
  input  logic             s_axis_tlast,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o,
  output logic             out_last_o
);
  localparam int Parts     = 64 / Width;
  localparam int Beats     = SlotWords * Parts;
  localparam int BeatWidth = (Beats > 1) ? $clog2(Beats) : 1;
  localparam int SlotWidth = $clog2(Slots);
  localparam int PartWidth = $clog2(Parts);
  localparam int HeadBeats = 128 / Width;
  localparam int HeadWidth = $clog2(HeadBeats);

  if (Slots < 2 || Slots > 64 || (1 << SlotWidth) != Slots) begin : gen_bad_slots
    initial $fatal(1, "rhz_link_tx: Slots %0d, a power of two from 2 to 64 is needed", Slots);
  end
  if (SlotWords > 128 || (1 << BeatWidth) != ((Beats > 1) ? Beats : 2)) begin : gen_bad_words
    initial $fatal(1, "rhz_link_tx: SlotWords %0d, a power of two up to 128 is needed",
                   SlotWords);
  end

  // -------------------------------------------------------- numbers and window
  // Slots kept … next_q - 1 were sent and are kept, next_q … fill_q - 1 wait.
  logic [31:0]        next_q;           // to be sent for the first time
  logic [31:0]        cum_q;            // delivered, by the receiver
  logic [SlotWidth:0] fill_q, kept;
  logic [6:0]         window_q;
  logic               closes, sends_new;
  logic               room_q, spare_q, wait_q, open_q;
  // Without retention a slot is free once its last beat has been read.
  logic               leaves;
  if (Retain != 0) begin : gen_kept
    logic unused;
    assign unused = leaves;
    assign kept   = cum_q[SlotWidth:0];
  end else begin : gen_passed
    logic [SlotWidth:0] passed_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni)     passed_q <= '0;
      else if (leaves) passed_q <= passed_q + (SlotWidth + 1)'(1);
    end
    assign kept = passed_q;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q  <= '0;
      next_q  <= '0;
      room_q  <= 1'b0;
      spare_q <= 1'b0;
      wait_q  <= 1'b0;
      open_q  <= 1'b0;
    end else begin
      if (closes)    fill_q <= fill_q + (SlotWidth + 1)'(1);
      if (sends_new) next_q <= next_q + 32'd1;
      // One cycle late, so nobody looks in the cycle after a change.
      room_q  <= (fill_q - kept) != (SlotWidth + 1)'(Slots) && !closes;
      spare_q <= (fill_q - kept) < (SlotWidth + 1)'(Slots / 2);
      wait_q  <= fill_q != next_q[SlotWidth:0] && !sends_new;
      open_q  <= 7'(next_q[6:0] - cum_q[6:0]) < window_q && !sends_new;
    end
  end

  // ----------------------------------------------------------- acknowledgements
  logic        ack_q, ack;
  logic [31:0] later_q, before_q;       // than cum_q, than next_q
  logic [8:0]  heard_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      hit_o <= 1'b0;
      ack_q <= 1'b0;
    end else if (head_i) begin
      hit_o <= kind_i == 4'd2 && id_i == channel_i;
      ack_q <= kind_i == 4'd2 && id_i == channel_i && live_i;
    end else if (done_i) begin
      ack_q <= 1'b0;
    end
  end
  logic [6:0] given_q;
  logic       unused_before;
  assign unused_before = ^before_q[6:0];
  always_ff @(posedge clk_i) if (head_i) begin
    later_q  <= seq_i - cum_q;
    before_q <= next_q - seq_i;
    heard_q  <= seq_i[8:0] + 9'(span_i);
    given_q  <= (first_i[7:6] == '0) ? first_i[6:0] : 7'd64;
  end
  assign ack = done_i && ack_q && later_q[31:7] == '0 && before_q[31:7] == '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cum_q    <= '0;
      window_q <= 7'd4;
    end else if (ack) begin
      cum_q    <= cum_q + 32'(later_q[6:0]);
      window_q <= given_q;
    end
  end

  // ------------------------------------------------------------------- filling
  logic [BeatWidth-1:0] beat_q;         // place of the next beat in the slot
  logic                 pads_q;         // zero beats up to a whole word
  logic                 ended_q;        // the slot ends with a frame's end
  logic                 begins_q;       // the next beat begins a frame
  logic [7:0]           first_q;
  logic                 write, ends, aligned, full, idle, stall_q;
  logic [7:0]           word_place;
  assign s_axis_tready = room_q && !pads_q && !stall_q;
  assign write   = (s_axis_tvalid && s_axis_tready) || (pads_q && room_q && !stall_q);
  if (Parts == 1) begin : gen_aligned
    assign aligned = 1'b1;
    assign word_place = 8'(beat_q);
  end else begin : gen_parts
    assign aligned = &beat_q[PartWidth-1:0];
    assign word_place = 8'(32'(beat_q) >> PartWidth);
  end
  assign ends = aligned && (pads_q || s_axis_tlast);
  assign full = write && beat_q == BeatWidth'(Beats - 1);
  // F3: a slot that ends with a frame leaves when nothing else does, while others
  // are left to fill until the next acknowledgement.
  assign closes = full || (ended_q && idle && spare_q && !write && !stall_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_q   <= '0;
      pads_q   <= 1'b0;
      ended_q  <= 1'b0;
      begins_q <= 1'b1;
      first_q  <= '1;
      stall_q  <= 1'b1;
    end else begin
      stall_q <= closes;
      if (write) begin
        beat_q   <= beat_q + BeatWidth'(1);
        ended_q  <= ends;
        begins_q <= ends;
        pads_q   <= (pads_q || s_axis_tlast) && !aligned;
        if (begins_q && first_q == 8'hff) first_q <= word_place;
      end
      if (closes) begin
        beat_q  <= '0;
        ended_q <= 1'b0;
        first_q <= '1;
      end
    end
  end
  logic [7:0] first;                    // with the beat of this cycle
  assign first = (write && begins_q && first_q == 8'hff) ? word_place : first_q;

  // ------------------------------------------------------------------ memories
  localparam int Words = Slots * Beats;
  localparam int AddrWidth = $clog2(Words);
  logic [AddrWidth-1:0] write_address, read_address;
  logic [Width-1:0]     word;
  logic [SlotWidth-1:0] slot_q;         // that is being sent
  logic [BeatWidth-1:0] at_q;
  if (Beats > 1) begin : gen_beats
    assign write_address = {fill_q[SlotWidth-1:0], beat_q};
    assign read_address  = {slot_q, at_q};
  end else begin : gen_beat
    assign write_address = fill_q[SlotWidth-1:0];
    assign read_address  = slot_q;
  end
  rhz_sdpram #(.Width(Width), .Words(Words), .Stages(2)) u_slots (
    .clk_i, .we_i(write), .waddr_i(write_address),
    .wdata_i(pads_q ? '0 : s_axis_tdata), .re_i(1'b1), .raddr_i(read_address), .rdata_o(word)
  );
  logic [15:0] about;                   // {first, words} of the slot
  logic [7:0]  words_now;
  assign words_now = full ? 8'(SlotWords) : word_place;
  rhz_sdpram #(.Width(16), .Words(Slots), .Stages(1)) u_about (
    .clk_i, .we_i(closes), .waddr_i(fill_q[SlotWidth-1:0]), .wdata_i({first, words_now}),
    .re_i(1'b1), .raddr_i(slot_q), .rdata_o(about)
  );

  // -------------------------------------------------------------------- sending
  // Pick what to send, read about it, put the header together, send it.
  typedef enum logic [2:0] { Pick, About, Head, Send } state_e;
  state_e state_q;
  logic poll_due, poll_taken, again_valid, again_taken;
  logic [31:0] again_seq, seq_q;
  logic is_poll_q;
  logic new_ready, credit, step, last_head_q, last_beat_q, in_head_q;
  logic [HeadWidth-1:0] head_at_q;
  logic [BeatWidth:0] left_q;
  assign new_ready   = wait_q && open_q;
  assign again_taken = state_q == Pick && again_valid;
  assign sends_new   = state_q == Pick && !again_valid && new_ready;
  assign poll_taken  = state_q == Pick && !again_valid && !new_ready && poll_due;
  // Nothing closed waits, and the window would let a slot pass.
  assign idle = state_q == Pick && !again_valid && !wait_q && open_q && !sends_new &&
                fill_q == next_q[SlotWidth:0];
  assign step = state_q == Send && credit;
  logic ending;
  assign leaves = ending;
  assign ending = step && (in_head_q ? (last_head_q && is_poll_q) : last_beat_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Pick;
    end else begin
      unique case (state_q)
        Pick:    if (again_taken || sends_new || poll_taken) state_q <= About;
        About:   state_q <= Head;
        Head:    state_q <= Send;
        default: if (ending) state_q <= Pick;
      endcase
    end
  end
  // The number of what was picked; a poll tells of three more (S7).
  logic [31:0] picked;
  assign picked = again_valid ? again_seq : next_q;
  always_ff @(posedge clk_i) if (state_q == Pick) begin
    seq_q     <= picked + ((again_valid || new_ready) ? 32'd0 : 32'd3);
    slot_q    <= picked[SlotWidth-1:0];
    is_poll_q <= !again_valid && !new_ready;
  end
  logic [15:0] start, where;
  logic [7:0]  words;
  assign words = is_poll_q ? 8'd0 : about[7:0];
  assign start = {words, 4'd1, 3'd0, is_poll_q};
  assign where = {8'd0, is_poll_q ? 8'd0 : about[15:8]};
  logic [127:0] header_q;
  logic push1_q, push2_q, head1_q, head2_q, end1_q, end2_q;
  always_ff @(posedge clk_i) begin
    if (state_q == Head)
      header_q <= {16'd0, where, seq_q,
                   16'h6852 ^ start ^ epoch_i ^ channel_i ^ seq_q[31:16] ^ seq_q[15:0] ^ where,
                   channel_i, epoch_i, start};
    else if (push2_q && head2_q)
      header_q <= header_q >> Width;
    if (state_q == Head) begin
      in_head_q   <= 1'b1;
      head_at_q   <= '0;
      last_head_q <= 1'b0;
      at_q        <= '0;
      left_q      <= (BeatWidth + 1)'(32'(words) << PartWidth);
      last_beat_q <= Parts == 1 && words == 8'd1;
    end else if (step && in_head_q) begin
      head_at_q   <= head_at_q + HeadWidth'(1);
      last_head_q <= head_at_q == HeadWidth'(HeadBeats - 2);
      in_head_q   <= !last_head_q;
    end else if (step) begin
      at_q        <= at_q + BeatWidth'(1);
      left_q      <= left_q - (BeatWidth + 1)'(1);
      last_beat_q <= left_q == (BeatWidth + 1)'(2);
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      push1_q <= 1'b0;
      push2_q <= 1'b0;
    end else begin
      push1_q <= step;
      push2_q <= push1_q;
    end
  end
  always_ff @(posedge clk_i) begin
    head1_q <= in_head_q;
    head2_q <= head1_q;
    end1_q  <= ending;
    end2_q  <= end1_q;
  end
  rhz_outbuf #(.Width(Width + 1), .Depth(4)) u_out (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(step), .push_i(push2_q),
    .push_data_i({end2_q, head2_q ? header_q[Width-1:0] : word}), .out_valid_o, .out_ready_i,
    .out_data_o({out_last_o, out_data_o})
  );

  // ---------------------------------------------------------------- sending again
  if (Retain != 0) begin : gen_retry
    rhz_link_retry #(.Slots(Slots), .Wait(Wait)) u_retry (
      .clk_i, .rst_ni, .tick_i, .cum_i(cum_q), .next_i(next_q), .waits_i(wait_q),
      .sent_i(again_taken || sends_new), .sent_slot_i(picked[SlotWidth-1:0]),
      .ack_i(ack), .later_i(later_q[6:0] != '0), .map_i(word_i), .heard_i(heard_q),
      .again_valid_o(again_valid), .again_taken_i(again_taken), .again_seq_o(again_seq),
      .poll_due_o(poll_due), .poll_taken_i(poll_taken)
    );
  end else begin : gen_once
    logic unused;
    assign unused = ^{tick_i, word_i, heard_q, again_taken, poll_taken};
    assign again_valid = 1'b0;
    assign again_seq   = '0;
    assign poll_due    = 1'b0;
  end
endmodule

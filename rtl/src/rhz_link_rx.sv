// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The receiver of a channel (docs/spec/link.md, R1 to R8): stores slots as they
// come, hands their words to m_axis_* in order as frames of FrameBeats beats,
// and acknowledges through ack_*. Never stalls rhz_link_parse. hit_o: the header
// was the channel's; duplicate_o: its data was dropped. A new epoch is a reset.
module rhz_link_rx #(
  parameter int Width      = 64,
  parameter int FrameBeats = 1,   // of Width bits; padded to words on the link
  parameter int SlotWords  = 128,
  parameter int Slots      = 16,  // the window
  parameter int AckEvery   = 8,   // slots stored or delivered
  parameter int AckDelay   = 40,  // ticks
  parameter int IndexWidth = 7 + $clog2(64 / Width)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  tick_i,
  input  logic [15:0]           epoch_i,
  input  logic [15:0]           channel_i, // its id, constant
  input  logic                  head_i,
  input  logic                  live_i,
  input  logic [3:0]            kind_i,
  input  logic [7:0]            words_i,
  input  logic [15:0]           id_i,
  input  logic [31:0]           seq_i,
  input  logic                  beat_i,
  input  logic [Width-1:0]      data_i,
  input  logic [IndexWidth-1:0] index_i,
  input  logic                  done_i,
  output logic                  hit_o,
  output logic                  duplicate_o,
  output logic [Width-1:0]      m_axis_tdata,
  output logic                  m_axis_tvalid,
  input  logic                  m_axis_tready,
  output logic                  m_axis_tlast,
  output logic                  ack_valid_o,
  input  logic                  ack_ready_i,
  output logic [Width-1:0]      ack_data_o,
  output logic                  ack_last_o
);
  localparam int Parts     = 64 / Width;
  localparam int SlotBeats = SlotWords * Parts;
  localparam int BeatWidth = (SlotBeats > 1) ? $clog2(SlotBeats) : 1;
  localparam int SlotWidth = $clog2(Slots);
  localparam int WordBeats = (FrameBeats + Parts - 1) / Parts * Parts;

  if (Slots < 4 || Slots > 64 || (1 << SlotWidth) != Slots) begin : gen_bad_slots
    initial $fatal(1, "rhz_link_rx: Slots %0d, a power of two from 4 to 64 is needed", Slots);
  end
  if (SlotWords > 128 || (1 << BeatWidth) != ((SlotBeats > 1) ? SlotBeats : 2)) begin : gen_bad_words
    initial $fatal(1, "rhz_link_rx: SlotWords %0d, a power of two up to 128 is needed",
                   SlotWords);
  end

  // ------------------------------------------------------------ what is there
  logic [31:0]      base_q;
  logic [8:0]       top_q;              // its low bits
  logic [Slots-1:0] there_q;
  logic             stores, frees;      // a slot, in this cycle
  logic [SlotWidth-1:0] slot_q, base_slot;
  assign base_slot = base_q[SlotWidth-1:0];

  // The header, one cycle after head_i.
  logic        data_q, poll_q, held_q, words_ok_q, open_q, accepts;
  logic [31:0] ahead_q;
  logic [8:0]  beyond_q, seq_q;         // above top
  logic        fits;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      hit_o  <= 1'b0;
      data_q <= 1'b0;
      poll_q <= 1'b0;
      open_q <= 1'b0;
    end else if (head_i) begin
      hit_o  <= kind_i <= 4'd1 && id_i == channel_i;
      data_q <= kind_i == 4'd0 && id_i == channel_i && live_i;
      poll_q <= kind_i == 4'd1 && id_i == channel_i && live_i;
      open_q <= 1'b1;
    end else if (done_i) begin
      open_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) if (head_i) begin
    ahead_q    <= seq_i - base_q;
    beyond_q   <= seq_i[8:0] - top_q;
    seq_q      <= seq_i[8:0];
    slot_q     <= seq_i[SlotWidth-1:0];
    held_q     <= there_q[seq_i[SlotWidth-1:0]];
    words_ok_q <= words_i <= 8'(SlotWords);
  end
  assign fits       = ahead_q[31:SlotWidth] == '0;
  assign accepts = fits && !held_q && words_ok_q;

  logic write, stored, polled, dropped;
  assign write   = beat_i && data_q && accepts && open_q;
  assign stores  = done_i && data_q && accepts && open_q;
  assign stored  = stores;
  assign polled  = done_i && poll_q && open_q;
  assign dropped = done_i && data_q && !accepts && open_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) duplicate_o <= 1'b0;
    else         duplicate_o <= dropped;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      there_q <= '0;
      base_q  <= '0;
      top_q   <= '0;
    end else begin
      for (int i = 0; i < Slots; i = i + 1) begin
        if (stores && slot_q == SlotWidth'(i)) there_q[i] <= 1'b1;
        else if (frees && base_slot == SlotWidth'(i)) there_q[i] <= 1'b0;
      end
      if (frees) base_q <= base_q + 32'd1;
      if (stores && !beyond_q[8]) top_q <= seq_q + 9'd1;
      else if (polled && ahead_q[31:7] == '0 && !beyond_q[8]) top_q <= seq_q;
    end
  end

  // ------------------------------------------------------------------ memories
  localparam int Words = Slots * SlotBeats;
  localparam int AddrWidth = $clog2(Words);
  logic [AddrWidth-1:0] write_address, read_address;
  logic [Width-1:0]     word;
  logic [7:0]           slot_words;
  logic                 read;
  logic                 we_q;
  logic [AddrWidth-1:0] waddr_q;
  logic [Width-1:0]     wdata_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) we_q <= 1'b0;
    else         we_q <= write;
  end
  always_ff @(posedge clk_i) begin
    waddr_q <= write_address;
    wdata_q <= data_i;
  end
  logic [BeatWidth-1:0] beat_q;
  if (SlotBeats > 1) begin : gen_beats
    assign write_address = {slot_q, index_i[BeatWidth-1:0]};
    assign read_address  = {base_slot, beat_q};
  end else begin : gen_beat
    assign write_address = slot_q;
    assign read_address  = base_slot;
  end
  logic unused_index;
  assign unused_index = ^{index_i, ahead_q[SlotWidth-1:0]};
  rhz_sdpram #(.Width(Width), .Words(Words), .Stages(2)) u_slots (
    .clk_i, .we_i(we_q), .waddr_i(waddr_q), .wdata_i(wdata_q), .re_i(1'b1),
    .raddr_i(read_address), .rdata_o(word)
  );
  logic [7:0] words_q;
  always_ff @(posedge clk_i) if (head_i) words_q <= words_i;
  rhz_sdpram #(.Width(8), .Words(Slots), .Stages(1)) u_words (
    .clk_i, .we_i(stored), .waddr_i(slot_q), .wdata_i(words_q), .re_i(1'b1),
    .raddr_i(base_slot), .rdata_o(slot_words)
  );

  // ------------------------------------------------------------------- delivery
  // Look: is the next slot there? Load: its length. Read: a beat a cycle.
  typedef enum logic [1:0] { Look, Load, Read } state_e;
  state_e state_q;
  logic [BeatWidth:0] left_q;           // beats after this one
  logic last_q;
  logic there_base_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) there_base_q <= 1'b0;
    else         there_base_q <= there_q[base_slot] && !frees;
  end
  logic credit;
  assign read  = state_q == Read && credit;
  assign frees = read && last_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Look;
    end else begin
      unique case (state_q)
        Look:    if (there_base_q) state_q <= Load;
        Load:    state_q <= Read;
        default: if (frees) state_q <= Look;
      endcase
    end
  end
  logic [BeatWidth:0] beats;
  assign beats = (BeatWidth + 1)'(32'(slot_words) << $clog2(Parts));
  always_ff @(posedge clk_i) begin
    if (state_q == Load) begin
      left_q <= beats - (BeatWidth + 1)'(1);
      last_q <= beats == (BeatWidth + 1)'(1);
      beat_q <= '0;
    end else if (read) begin
      left_q <= left_q - (BeatWidth + 1)'(1);
      last_q <= left_q == (BeatWidth + 1)'(1);
      beat_q <= beat_q + BeatWidth'(1);
    end
  end

  // Where the frame ends; beats that only fill up its last word are left out.
  localparam int FrameWidth = (WordBeats > 1) ? $clog2(WordBeats) : 1;
  logic [FrameWidth-1:0] place;
  logic unused_last;
  rhz_counter #(.Count(WordBeats)) u_place (
    .clk_i, .rst_ni, .en_i(read), .value_o(place), .last_o(unused_last)
  );
  logic kept, ends;
  if (WordBeats == FrameBeats) begin : gen_all
    assign kept = 1'b1;
  end else begin : gen_some
    assign kept = place < FrameWidth'(FrameBeats);
  end
  assign ends = place == FrameWidth'(FrameBeats - 1);
  logic push1_q, push2_q, ends1_q, ends2_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      push1_q <= 1'b0;
      push2_q <= 1'b0;
    end else begin
      push1_q <= read && kept;
      push2_q <= push1_q;
    end
  end
  always_ff @(posedge clk_i) begin
    ends1_q <= ends;
    ends2_q <= ends1_q;
  end
  rhz_outbuf #(.Width(Width + 1), .Depth(4)) u_out (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(read && kept), .push_i(push2_q),
    .push_data_i({ends2_q, word}), .out_valid_o(m_axis_tvalid), .out_ready_i(m_axis_tready),
    .out_data_o({m_axis_tlast, m_axis_tdata})
  );

  // ------------------------------------------------------------ acknowledgements
  localparam int EventWidth = $clog2(AckEvery + 3);
  localparam int DelayWidth = $clog2(AckDelay + 2);
  logic due_q, take;
  logic [EventWidth-1:0] events_q;
  logic [DelayWidth-1:0] delay_q;
  logic many_q, old_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      due_q    <= 1'b1;                 // an epoch begins with one
      events_q <= '0;
      delay_q  <= '0;
      many_q   <= 1'b0;
      old_q    <= 1'b0;
    end else begin
      many_q <= events_q >= EventWidth'(AckEvery);
      old_q  <= delay_q >= DelayWidth'(AckDelay);
      if (take) begin
        due_q    <= 1'b0;
        events_q <= '0;
        delay_q  <= '0;
        many_q   <= 1'b0;
        old_q    <= 1'b0;
      end else begin
        due_q <= due_q || many_q || old_q;
        if (events_q < EventWidth'(AckEvery))
          events_q <= events_q + EventWidth'(stores) + EventWidth'(frees);
        if (events_q != '0 && tick_i && delay_q < DelayWidth'(AckDelay))
          delay_q <= delay_q + DelayWidth'(1);
      end
      if (polled || dropped || (stores && beyond_q != '0)) due_q <= 1'b1;
      // What happens in the cycle of the snapshot is not in it.
      if (take && (stores || frees)) events_q <= EventWidth'(1);
    end
  end
  logic [63:0] map;
  always_comb
    for (int i = 0; i < 64; i = i + 1) map[i] = there_q[i % Slots];
  logic [7:0] span;
  assign span = 8'(top_q - base_q[8:0]);
  rhz_link_short #(.Width(Width), .Kind(2)) u_ack (
    .clk_i, .rst_ni, .send_i(due_q), .take_o(take), .epoch_i, .id_i(channel_i),
    .seq_i(base_q), .first_i(8'(Slots)), .span_i(span), .word_i(map),
    .out_valid_o(ack_valid_o), .out_ready_i(ack_ready_i), .out_data_o(ack_data_o),
    .out_last_o(ack_last_o)
  );
endmodule

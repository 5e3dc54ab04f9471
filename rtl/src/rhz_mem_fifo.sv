// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A FIFO whose words lie in a memory outside the chip: a ring of Slots places of
// Burst beats from page Page of 4 KiB on. Words are packed, Per in a beat or, where a
// word is wider, one in several beats. A burst is written once the input buffer has
// all its beats and the ring a place for it, and read once its answer says that it is
// written and the output buffer has places for all its beats, so that neither side
// holds up the memory; its place in the ring is free when all of it has come back. A
// frame of Words words begins a burst, so that its last one never waits for the next
// frame. At most InFlight bursts are written without an answer; buffers hold Buffer
// beats, and Depth words at the output. A beat taken from the buffer of what was read
// gives its first word at the output Latency cycles later; Latency = 1 + V.
module rhz_mem_fifo #(
  parameter int Width     = 8,
  parameter int DataWidth = 64,
  parameter int Words     = 8,
  parameter int Per       = 8,
  parameter int Burst     = 1,
  parameter int Slots     = 4,
  parameter int Page      = 0,
  parameter int Buffer    = 2,
  parameter int InFlight  = 4,
  parameter int Depth     = 4,
  parameter int Latency   = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [Width-1:0]     in_data_i,
  output logic                 m_axi_arvalid,
  input  logic                 m_axi_arready,
  output logic [63:0]          m_axi_araddr,
  output logic [7:0]           m_axi_arlen,
  input  logic                 m_axi_rvalid,
  output logic                 m_axi_rready,
  input  logic [DataWidth-1:0] m_axi_rdata,
  input  logic                 m_axi_rlast,
  output logic                 m_axi_awvalid,
  input  logic                 m_axi_awready,
  output logic [63:0]          m_axi_awaddr,
  output logic [7:0]           m_axi_awlen,
  output logic                 m_axi_wvalid,
  input  logic                 m_axi_wready,
  output logic [DataWidth-1:0] m_axi_wdata,
  output logic                 m_axi_wlast,
  input  logic                 m_axi_bvalid,
  output logic                 m_axi_bready,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [Width-1:0]     out_data_o
);
  localparam int Parts   = (Width + DataWidth - 1) / DataWidth;  // beats of a word
  localparam int Elem    = (Parts > 1) ? DataWidth : Width;
  localparam int Beats   = (Parts > 1) ? Words * Parts : Words / Per;
  localparam int Bursts  = (Beats + Burst - 1) / Burst;
  localparam int LastLen = Beats - (Bursts - 1) * Burst;
  localparam int First   = (Bursts > 1) ? Burst : LastLen;
  localparam int FillW   = $clog2(Buffer + Parts + 1);
  localparam int FlightW = $clog2(InFlight + 1);
  localparam int SlotW   = $clog2(Slots + 1);
  if (Buffer < Burst || (Parts > 1 && Per != 1) || Words % Per != 0 || Per * Elem > DataWidth)
  begin : gen_bad
    initial $fatal(1, "rhz_mem_fifo: %0d words of %0d bits, %0d in a beat of %0d, bursts of %0d",
                   Words, Width, Per, DataWidth, Burst);
  end

  // Beats of the words that came: those that no burst has claimed are counted.
  logic take, packs, there, sends;
  logic [Per*Elem-1:0] sent;
  rhz_gearbox #(
    .Elem(Elem), .LanesIn(Parts), .LanesOut(Per), .RowIn(Parts * Per), .RowOut(Parts * Per),
    .Depth(Buffer)
  ) u_pack (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o, .in_data_i((Parts*Elem)'(in_data_i)),
    .out_valid_o(there), .out_ready_i(sends), .out_data_o(sent)
  );
  assign take = in_valid_i && in_ready_o;
  if (Per > 1) begin : gen_per
    logic [$clog2(Per)-1:0] unused_word;
    rhz_counter #(.Count(Per)) u_word (
      .clk_i, .rst_ni, .en_i(take), .value_o(unused_word), .last_o(packs)
    );
    logic unused;
    assign unused = &{1'b0, unused_word};
  end else begin : gen_single
    assign packs = 1'b1;
  end

  // A burst is claimed if it has all its beats, a place in the ring, and few others
  // wait for their answers. Each is counted as what is there beyond the next burst's
  // need, so that the sign says whether it is enough: in the cycle after a claim, in
  // which there is no other, the need of the next burst is taken off. What comes, late
  // in a cycle, is added last.
  logic write, write_last, wrote_q, freed, may_write_q;
  logic [FillW:0] fill_q, fill_d;
  logic [SlotW:0] free_q, free_d;
  logic [FlightW:0] idle_q, idle_d;
  rhz_mem_requests #(
    .DataWidth(DataWidth), .Words(Beats), .Burst(Burst), .Page(Page), .Slots(Slots)
  ) u_write (
    .clk_i, .rst_ni, .may_i(may_write_q && !wrote_q), .fire_o(write), .last_o(write_last),
    .m_axi_avalid(m_axi_awvalid), .m_axi_aready(m_axi_awready), .m_axi_aaddr(m_axi_awaddr),
    .m_axi_alen(m_axi_awlen)
  );
  assign m_axi_bready = 1'b1;
  assign fill_d       = fill_q
                      - (wrote_q ? (write_last ? (FillW+1)'(LastLen) : (FillW+1)'(Burst)) : '0)
                      + ((take && packs) ? (FillW+1)'(Parts) : '0);
  assign free_d       = free_q - (SlotW+1)'(wrote_q) + (SlotW+1)'(freed);
  assign idle_d       = idle_q - (FlightW+1)'(wrote_q) + (FlightW+1)'(m_axi_bvalid);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q      <= (FillW+1)'(-First);
      free_q      <= (SlotW+1)'(Slots - 1);
      idle_q      <= (FlightW+1)'(InFlight - 1);
      wrote_q     <= 1'b0;
      may_write_q <= 1'b0;
    end else begin
      fill_q      <= fill_d;
      free_q      <= free_d;
      idle_q      <= idle_d;
      wrote_q     <= write;
      may_write_q <= !fill_d[FillW] && !free_d[SlotW] && !idle_d[FlightW];
    end
  end

  assign m_axi_wdata = DataWidth'(sent);
  rhz_mem_beats #(.Words(Beats), .Burst(Burst), .InFlight(InFlight)) u_beats (
    .clk_i, .rst_ni, .claim_i(write), .there_i(there), .sends_o(sends), .m_axi_wvalid,
    .m_axi_wready, .m_axi_wlast
  );

  // Bursts that are written are read when the buffer has places for them.
  localparam int RoomW = $clog2(Buffer + 1);
  logic read, read_last, was_read_q, pop, may_read_q;
  logic [SlotW:0] full_q, full_d;
  logic [RoomW:0] room_q, room_d;
  rhz_mem_requests #(
    .DataWidth(DataWidth), .Words(Beats), .Burst(Burst), .Page(Page), .Slots(Slots)
  ) u_read (
    .clk_i, .rst_ni, .may_i(may_read_q && !was_read_q), .fire_o(read), .last_o(read_last),
    .m_axi_avalid(m_axi_arvalid), .m_axi_aready(m_axi_arready), .m_axi_aaddr(m_axi_araddr),
    .m_axi_alen(m_axi_arlen)
  );
  assign full_d = full_q - (SlotW+1)'(was_read_q) + (SlotW+1)'(m_axi_bvalid);
  assign room_d = room_q
                - (was_read_q ? (read_last ? (RoomW+1)'(LastLen) : (RoomW+1)'(Burst)) : '0)
                + (RoomW+1)'(pop);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q     <= '1;
      room_q     <= (RoomW+1)'(Buffer - First);
      was_read_q <= 1'b0;
      may_read_q <= 1'b0;
    end else begin
      full_q     <= full_d;
      room_q     <= room_d;
      was_read_q <= read;
      may_read_q <= !full_d[SlotW] && !room_d[RoomW];
    end
  end

  // What comes back.
  logic push_q, valid, ready, credit, unused;
  logic [Per*Elem-1:0] data_q, beat;
  logic [Parts*Elem-1:0] word;
  assign m_axi_rready = 1'b1;
  assign freed        = m_axi_rvalid && m_axi_rlast;
  assign pop          = valid && ready;
  assign unused       = &{1'b0, credit};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) push_q <= 1'b0;
    else         push_q <= m_axi_rvalid;
  end
  always_ff @(posedge clk_i) data_q <= m_axi_rdata[Per*Elem-1:0];
  rhz_outbuf #(.Width(Per * Elem), .Depth(Buffer)) u_buffer (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(push_q), .push_i(push_q), .push_data_i(data_q),
    .out_valid_o(valid), .out_ready_i(ready), .out_data_o(beat)
  );
  rhz_gearbox #(
    .Elem(Elem), .LanesIn(Per), .LanesOut(Parts), .RowIn(Parts * Per), .RowOut(Parts * Per),
    .Depth(Depth), .Latency(Latency)
  ) u_unpack (
    .clk_i, .rst_ni, .in_valid_i(valid), .in_ready_o(ready), .in_data_i(beat),
    .out_valid_o, .out_ready_i, .out_data_o(word)
  );
  assign out_data_o = word[Width-1:0];
  if (Per * Elem < DataWidth) begin : gen_unread
    logic unused_bits;
    assign unused_bits = &{1'b0, m_axi_rdata[DataWidth-1:Per*Elem]};
  end
  if (Parts * Elem > Width) begin : gen_padding
    logic unused_word;
    assign unused_word = &{1'b0, word[Parts*Elem-1:Width]};
  end
endmodule

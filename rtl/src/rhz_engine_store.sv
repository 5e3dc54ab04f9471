// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit that takes boxes of words out of the scratchpad to a memory port or the
// stream. Words are read ahead into Places places, which are reserved before: the
// scratchpad grants a read in the cycle in which rd_valid_o and rd_ready_i are high, and
// its word comes later, in order, with rd_data_valid_i. A burst is begun once all its
// words are granted, while the one before is still sent, so that it hardly holds up a
// memory; at most Flight have no answer. Another port than before, or the stream, is used once all
// bursts of the one before have theirs. done_o is high for a cycle after the last answer
// of an instruction. Words beyond a port's limit are dropped, and beyond_o is high for a
// cycle for each such burst. Addresses at the ports are bytes from the port's first one.
module rhz_engine_store #(
  parameter int In       = 16,
  parameter int PortBits = 128,
  parameter int Ports    = 1,
  parameter int Burst    = 16,
  parameter int Places   = 32,
  parameter int Flight   = 8,
  parameter int PlaceWidth = 17
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  start_valid_i,
  output logic                  start_ready_o,
  input  logic [255:0]          instruction_i,
  output logic                  done_o,
  output logic                  beyond_o,
  input  logic [Ports*29-1:0]   limit_i,
  output logic                  rd_valid_o,
  output logic [PlaceWidth-1:0] rd_addr_o,
  input  logic                  rd_ready_i,
  input  logic                  rd_data_valid_i,
  input  logic [8*In-1:0]       rd_data_i,
  output logic [Ports-1:0]      m_axi_awvalid,
  input  logic [Ports-1:0]      m_axi_awready,
  output logic [63:0]           m_axi_awaddr,
  output logic [7:0]            m_axi_awlen,
  output logic [Ports-1:0]      m_axi_wvalid,
  input  logic [Ports-1:0]      m_axi_wready,
  output logic [PortBits-1:0]   m_axi_wdata,
  output logic                  m_axi_wlast,
  input  logic [Ports-1:0]      m_axi_bvalid,
  output logic [Ports-1:0]      m_axi_bready,
  output logic                  m_valid_o,
  input  logic                  m_ready_i,
  output logic [8*In-1:0]       m_data_o
);
  localparam int Parts  = 8 * In / PortBits;
  localparam int CountW = $clog2(Burst) + 1;
  localparam int FillW  = $clog2(Places + 1);
  localparam int Stream = Ports;       // where words go: a port, the stream or nowhere
  localparam int Nowhere = Ports + 1;
  if (Places < Burst || Parts * Burst > 256 || In * Burst > 4096) begin : gen_bad_burst
    initial $fatal(1, "rhz_engine_store: bursts of %0d words, %0d places", Burst, Places);
  end

  logic [2:0] port, burst_port;
  logic [27:0] address, burst_address;
  logic [19:0] row_step;
  logic [11:0] column_step;
  logic [16:0] place;
  logic [13:0] place_row;
  logic [9:0] place_column, rows, columns;
  logic [8:0] channels;
  rhz_isa_store u_fields (
    .instruction_i, .port_o(port), .address_o(address), .row_step_o(row_step),
    .column_step_o(column_step), .place_o(place), .place_row_o(place_row),
    .place_column_o(place_column), .rows_o(rows), .columns_o(columns), .channels_o(channels)
  );

  // The walk through the scratchpad, and the one through the memory.
  logic walk_ready, box_ready, walks, credit, there, pop, reads, unused;
  logic [2:0] unused_last;
  logic [8*In-1:0] word;
  assign start_ready_o = walk_ready && box_ready;
  assign rd_valid_o    = walks && credit;
  assign reads         = rd_valid_o && rd_ready_i;
  assign unused        = &{1'b0, unused_last, place};
  rhz_engine_walk #(.AddrWidth(PlaceWidth)) u_walk (
    .clk_i, .rst_ni, .load_valid_i(start_valid_i && box_ready), .load_ready_o(walk_ready),
    .first_i(place[PlaceWidth-1:0]), .row_step_i(place_row), .column_step_i(place_column),
    .rows_i(rows), .columns_i(columns), .channels_i(channels),
    .singles_i({rows == 10'd1, columns == 10'd1, channels == 9'd1}), .valid_o(walks),
    .step_i(reads),
    .addr_o(rd_addr_o), .column_last_o(unused_last[0]), .row_last_o(unused_last[1]),
    .last_o(unused_last[2])
  );
  rhz_engine_fifo #(.Width(8 * In), .Depth(Places)) u_words (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(reads), .push_i(rd_data_valid_i),
    .push_data_i(rd_data_i), .out_valid_o(there), .out_ready_i(pop), .out_data_o(word)
  );
  logic burst_there, fire, good, last;
  logic [CountW-1:0] count;
  rhz_engine_bursts #(.Ports(Ports), .Burst(Burst)) u_bursts (
    .clk_i, .rst_ni, .limit_i, .box_valid_i(start_valid_i && walk_ready),
    .box_ready_o(box_ready), .port_i(port), .address_i(address), .row_step_i(row_step),
    .column_step_i(column_step), .rows_i(rows), .columns_i(columns), .channels_i(channels),
    .burst_valid_o(burst_there), .burst_ready_i(fire), .port_o(burst_port),
    .address_o(burst_address), .count_o(count), .good_o(good), .last_o(last)
  );

  // A burst begins. Of the words that are granted, no burst has claimed `fill_q`; a cycle
  // after one has, and another one later, it is known whether there is enough for the next.
  logic [Ports+1:0] next_to_q, to_q;
  logic room, in_flight, begins, next_q, sends_q, send_last, passes, ends, answer, answer_last;
  logic fired_q, enough_q;
  logic [FillW-1:0] fill_q;
  logic [CountW-1:0] count_q, left_q;
  logic [27:0] address_q;
  always_ff @(posedge clk_i) begin
    for (int p = 0; p < Ports; p++) next_to_q[p] <= good && burst_port == 3'(p);
    next_to_q[Stream]  <= good && burst_port == rhz_isa_pkg::PORT_STREAM;
    next_to_q[Nowhere] <= !good;
  end
  assign fire = enough_q && !next_q && room && (!in_flight || (next_to_q & to_q) != '0) &&
                m_axi_awvalid == '0;
  assign begins = next_q && (!sends_q || ends);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q        <= '0;
      to_q          <= '0;
      fired_q       <= 1'b0;
      enough_q      <= 1'b0;
      next_q        <= 1'b0;
      sends_q       <= 1'b0;
      m_axi_awvalid <= '0;
      beyond_o      <= 1'b0;
      done_o        <= 1'b0;
    end else begin
      fill_q        <= fill_q + FillW'(reads) - (fired_q ? FillW'(count_q) : '0);
      fired_q       <= fire;
      enough_q      <= burst_there && !fire && !fired_q && FillW'(count) <= fill_q;
      if (fire) to_q <= next_to_q;
      next_q        <= fire || (next_q && !begins);
      sends_q       <= begins || (sends_q && !ends);
      m_axi_awvalid <= fire ? next_to_q[Ports-1:0] : m_axi_awvalid & ~m_axi_awready;
      beyond_o      <= fire && next_to_q[Nowhere];
      done_o        <= answer && answer_last;
    end
  end
  always_ff @(posedge clk_i) begin
    if (fire) begin
      address_q <= burst_address;
      count_q   <= count;
    end
    if (begins) begin
      left_q    <= count_q;
      send_last <= count_q == CountW'(1);
    end else if (pop) begin
      left_q    <= left_q - CountW'(1);
      send_last <= left_q == CountW'(2);
    end
  end
  assign m_axi_awaddr = 64'(address_q) << $clog2(In);
  assign m_axi_awlen  = (8'(count_q) << $clog2(Parts)) - 8'd1;

  // Its words go out, those of a port in parts.
  logic part_last, port_passes;
  if (Parts == 1) begin : gen_word
    assign part_last   = 1'b1;
    assign m_axi_wdata = word;
  end else begin : gen_parts
    logic [$clog2(Parts)-1:0] part;
    rhz_counter #(.Count(Parts)) u_part (
      .clk_i, .rst_ni, .en_i(port_passes), .value_o(part), .last_o(part_last)
    );
    rhz_choose #(.Width(PortBits), .Count(Parts)) u_choose (
      .sel_i(part), .data_i(word), .data_o(m_axi_wdata)
    );
  end
  assign m_axi_wvalid = (sends_q && there) ? to_q[Ports-1:0] : '0;
  assign m_axi_wlast  = send_last && part_last;
  assign m_valid_o    = sends_q && there && to_q[Stream];
  assign m_data_o     = word;
  assign port_passes  = (m_axi_wvalid & m_axi_wready) != '0;
  assign passes       = sends_q && there && (to_q[Nowhere] || (to_q[Stream] && m_ready_i));
  assign pop          = passes || (port_passes && part_last);
  assign ends         = pop && send_last;

  // Answers; what goes to no port answers itself.
  assign m_axi_bready = '1;
  assign answer       = m_axi_bvalid != '0 || (passes && send_last);
  rhz_engine_fifo #(.Width(1), .Depth(Flight)) u_flight (
    .clk_i, .rst_ni, .credit_o(room), .take_i(fire), .push_i(fire), .push_data_i(last),
    .out_valid_o(in_flight), .out_ready_i(answer), .out_data_o(answer_last)
  );
endmodule

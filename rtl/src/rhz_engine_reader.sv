// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads boxes of words behind several memory ports and puts the words out in order. A
// burst is asked for once there are places for Burst words, so that a memory never waits
// for us; bursts of the next box follow those of the last one. Another port than before
// is asked once all words of the one before are there. Words beyond a port's limit are
// never asked for: they are zero, and beyond_o is high for a cycle for each such burst.
// A word has Parts beats. Addresses at the ports are bytes from the port's first one.
module rhz_engine_reader #(
  parameter int Bytes           = 16,
  parameter int PortBits        = 128,
  parameter int Ports           = 1,
  parameter int Burst           = 16,
  parameter int Places          = 64,
  parameter int AddrWidth       = 28,
  parameter int RowStepWidth    = 20,
  parameter int ColumnStepWidth = 12,
  parameter int RowsWidth       = 10,
  parameter int ColumnsWidth    = 10,
  parameter int ChannelsWidth   = 9
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic [Ports*(AddrWidth+1)-1:0] limit_i,
  input  logic                           box_valid_i,
  output logic                           box_ready_o,
  input  logic [2:0]                     port_i,
  input  logic [AddrWidth-1:0]           address_i,
  input  logic [RowStepWidth-1:0]        row_step_i,
  input  logic [ColumnStepWidth-1:0]     column_step_i,
  input  logic [RowsWidth-1:0]           rows_i,
  input  logic [ColumnsWidth-1:0]        columns_i,
  input  logic [ChannelsWidth-1:0]       channels_i,
  output logic [Ports-1:0]               m_axi_arvalid,
  input  logic [Ports-1:0]               m_axi_arready,
  output logic [63:0]                    m_axi_araddr,
  output logic [7:0]                     m_axi_arlen,
  input  logic [Ports-1:0]               m_axi_rvalid,
  output logic [Ports-1:0]               m_axi_rready,
  input  logic [Ports*PortBits-1:0]      m_axi_rdata,
  output logic                           beyond_o,
  output logic                           out_valid_o,
  input  logic                           out_ready_i,
  output logic [8*Bytes-1:0]             out_data_o
);
  localparam int Parts  = 8 * Bytes / PortBits;
  localparam int CountW = $clog2(Burst) + 1;
  localparam int RoomW  = $clog2(Places + 1);
  if (Places < 2 * Burst || Parts * Burst > 256 || Bytes * Burst > 4096) begin : gen_bad_burst
    initial $fatal(1, "rhz_engine_reader: bursts of %0d words, %0d places", Burst, Places);
  end

  logic burst_there, fire, good, landed, push_q, pop, unused_last;
  logic [2:0] port;
  logic [AddrWidth-1:0] address;
  logic [CountW-1:0] count, count_q;
  logic [AddrWidth-1:0] address_q;
  rhz_engine_bursts #(
    .Ports(Ports), .Burst(Burst), .AddrWidth(AddrWidth), .RowStepWidth(RowStepWidth),
    .ColumnStepWidth(ColumnStepWidth), .RowsWidth(RowsWidth), .ColumnsWidth(ColumnsWidth),
    .ChannelsWidth(ChannelsWidth)
  ) u_bursts (
    .clk_i, .rst_ni, .limit_i, .box_valid_i, .box_ready_o, .port_i, .address_i, .row_step_i,
    .column_step_i, .rows_i, .columns_i, .channels_i, .burst_valid_o(burst_there),
    .burst_ready_i(fire), .port_o(port), .address_o(address), .count_o(count), .good_o(good),
    .last_o(unused_last)
  );

  // Where words come from. A burst is here for a cycle before it is asked for, so at most
  // every second cycle, and what it changes is counted a cycle later.
  logic [Ports-1:0] next_q, from_q;
  logic asks_q, good_q, fits_q, none_owed_q, fired_q, pop_q, unused;
  logic [RoomW-1:0] room_q, room_d, owed_q, asked;
  assign unused = &{1'b0, unused_last};
  always_ff @(posedge clk_i) begin
    for (int p = 0; p < Ports; p++) next_q[p] <= good && port == 3'(p);
    good_q <= good;
  end
  assign fire   = asks_q && fits_q && (none_owed_q || (next_q & from_q) != '0) &&
                  m_axi_arvalid == '0;
  assign asked  = fired_q ? RoomW'(count_q) : '0;
  assign pop    = out_valid_o && out_ready_i;
  assign room_d = room_q - asked + RoomW'(pop_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      m_axi_arvalid <= '0;
      from_q        <= '0;
      asks_q        <= 1'b0;
      fired_q       <= 1'b0;
      pop_q         <= 1'b0;
      room_q        <= RoomW'(Places);
      fits_q        <= 1'b1;
      owed_q        <= '0;
      none_owed_q   <= 1'b1;
      beyond_o      <= 1'b0;
    end else begin
      m_axi_arvalid <= fire ? next_q : m_axi_arvalid & ~m_axi_arready;
      if (fire) from_q <= next_q;
      asks_q        <= burst_there && !fire;
      fired_q       <= fire;
      pop_q         <= pop;
      room_q        <= room_d;
      fits_q        <= room_d >= RoomW'(Burst);
      owed_q        <= owed_q + asked - RoomW'(push_q);
      none_owed_q   <= owed_q == '0 && !fired_q;
      beyond_o      <= fire && !good_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (fire) begin
      address_q <= address;
      count_q   <= count;
    end
  end
  assign m_axi_araddr = 64'(address_q) << $clog2(Bytes);
  assign m_axi_arlen  = (8'(count_q) << $clog2(Parts)) - 8'd1;
  assign m_axi_rready = '1;

  // Words beyond a limit come once all others have landed.
  logic zero;
  logic [CountW-1:0] zeros_q;
  assign zero = zeros_q != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)              zeros_q <= '0;
    else if (fire && !good_q) zeros_q <= count;
    else if (zero)            zeros_q <= zeros_q - CountW'(1);
  end

  // What arrives.
  logic beat, part_last, credit, unused_credit;
  logic [PortBits-1:0] data;
  logic [8*Bytes-1:0] word_q;
  always_comb begin
    data = '0;
    for (int p = 0; p < Ports; p++)
      if (from_q[p]) data = data | m_axi_rdata[p*PortBits +: PortBits];
  end
  assign beat   = m_axi_rvalid != '0;
  assign landed = (beat && part_last) || zero;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) push_q <= 1'b0;
    else         push_q <= landed;
  end
  if (Parts == 1) begin : gen_word
    assign part_last = 1'b1;
    always_ff @(posedge clk_i) word_q <= data;
  end else begin : gen_parts
    logic [$clog2(Parts)-1:0] unused_part;
    logic unused_parts;
    assign unused_parts = &{1'b0, unused_part};
    rhz_counter #(.Count(Parts)) u_part (
      .clk_i, .rst_ni, .en_i(beat), .value_o(unused_part), .last_o(part_last)
    );
    always_ff @(posedge clk_i) begin
      if (zero)      word_q <= '0;
      else if (beat) word_q <= {data, word_q[8*Bytes-1:PortBits]};
    end
  end
  assign unused_credit = &{1'b0, credit};
  rhz_engine_fifo #(.Width(8 * Bytes), .Depth(Places)) u_words (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(push_q), .push_i(push_q), .push_data_i(word_q),
    .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

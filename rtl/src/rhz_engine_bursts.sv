// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of a box behind a memory port as bursts, in order: words that follow each
// other make one, up to a multiple of Burst words, so that none crosses 4 KiB. It looks
// at a word a cycle. limit_i is the number of words behind each port; words beyond it,
// or of a port that is not there, are in bursts of their own, with good_o low. Port 4
// is a stream and has no limit.
module rhz_engine_bursts #(
  parameter int Ports           = 1,
  parameter int Burst           = 16,
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
  output logic                           burst_valid_o,
  input  logic                           burst_ready_i,
  output logic [2:0]                     port_o,
  output logic [AddrWidth-1:0]           address_o,
  output logic [$clog2(Burst):0]         count_o,
  output logic                           good_o,
  output logic                           last_o
);
  localparam int LimitWidth = AddrWidth + 1;
  localparam int Low        = $clog2(Burst);

  // A word of the walk.
  logic walks, step, box_last, unused;
  logic [1:0] unused_last;
  logic [AddrWidth-1:0] address;
  logic [LimitWidth-1:0] limit, limit_q;
  logic [2:0] port_q;
  assign unused = &{1'b0, unused_last};
  rhz_engine_walk #(
    .AddrWidth(AddrWidth), .RowStepWidth(RowStepWidth), .ColumnStepWidth(ColumnStepWidth),
    .RowsWidth(RowsWidth), .ColumnsWidth(ColumnsWidth), .ChannelsWidth(ChannelsWidth)
  ) u_walk (
    .clk_i, .rst_ni, .load_valid_i(box_valid_i), .load_ready_o(box_ready_o), .first_i(address_i),
    .row_step_i, .column_step_i, .rows_i, .columns_i, .channels_i,
    .singles_i({rows_i == RowsWidth'(1), columns_i == ColumnsWidth'(1),
                channels_i == ChannelsWidth'(1)}), .valid_o(walks), .step_i(step),
    .addr_o(address), .column_last_o(unused_last[0]), .row_last_o(unused_last[1]),
    .last_o(box_last)
  );
  always_comb begin
    limit = {port_i == 3'd4, AddrWidth'(0)};
    for (int p = 0; p < Ports; p++)
      if (port_i == 3'(p)) limit = limit_i[p*LimitWidth +: LimitWidth];
  end
  always_ff @(posedge clk_i) begin
    if (box_valid_i && box_ready_o) begin
      limit_q <= limit;
      port_q  <= port_i;
    end
  end

  // Three words in a row: the first one's address is compared with the limit, the next one
  // is known to follow the word before it or not, and for that one, which joins the burst,
  // it is known from the next one whether the burst ends.
  logic first_q, first_last_q, first_good_q, next_q, next_good_q, next_last_q, next_breaks_q;
  logic word_q, good_q, last_q, top_q, ends, moves, next_moves, first_moves;
  logic [2:0] first_port_q, next_port_q, word_port_q;
  logic [AddrWidth-1:0] first_address_q, after_q, next_address_q, address_q;
  logic room, complete_q;
  assign ends        = last_q || top_q || next_breaks_q || next_good_q != good_q;
  assign moves       = word_q && (next_q || last_q) && (!complete_q || room);
  assign next_moves  = next_q && (!word_q || moves);
  assign first_moves = first_q && (!next_q || !word_q || moves);
  assign step        = walks && (!first_q || !next_q || !word_q || moves);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b0;
      next_q  <= 1'b0;
      word_q  <= 1'b0;
    end else begin
      first_q <= step || (first_q && !first_moves);
      next_q  <= first_moves || (next_q && !next_moves);
      word_q  <= next_moves || (word_q && !moves);
    end
  end
  always_ff @(posedge clk_i) begin
    if (step) begin
      first_address_q <= address;
      first_good_q    <= {1'b0, address} < limit_q;
      first_last_q    <= box_last;
      first_port_q    <= port_q;
    end
    if (first_moves) begin
      next_address_q <= first_address_q;
      next_good_q    <= first_good_q;
      next_last_q    <= first_last_q;
      next_port_q    <= first_port_q;
      next_breaks_q  <= first_address_q != after_q;
      after_q        <= first_address_q + AddrWidth'(1);
    end
    if (next_moves) begin
      address_q   <= next_address_q;
      good_q      <= next_good_q;
      last_q      <= next_last_q;
      top_q       <= &next_address_q[Low-1:0];
      word_port_q <= next_port_q;
    end
  end

  // The burst so far, and those that are complete.
  logic fresh_q, burst_good_q, burst_last_q;
  logic [2:0] burst_port_q;
  logic [AddrWidth-1:0] burst_address_q;
  logic [Low:0] count_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      complete_q <= 1'b0;
      fresh_q    <= 1'b1;
    end else begin
      complete_q <= moves ? ends : complete_q && !room;
      if (moves) fresh_q <= ends;
    end
  end
  always_ff @(posedge clk_i) begin
    if (moves) begin
      if (fresh_q) burst_address_q <= address_q;
      count_q      <= fresh_q ? (Low+1)'(1) : count_q + (Low+1)'(1);
      burst_port_q <= word_port_q;
      burst_good_q <= good_q;
      burst_last_q <= last_q;
    end
  end
  rhz_engine_fifo #(.Width(AddrWidth + Low + 6), .Depth(4)) u_out (
    .clk_i, .rst_ni, .credit_o(room), .take_i(complete_q && room), .push_i(complete_q && room),
    .push_data_i({burst_port_q, burst_good_q, burst_last_q, burst_address_q, count_q}),
    .out_valid_o(burst_valid_o), .out_ready_i(burst_ready_i),
    .out_data_o({port_o, good_o, last_o, address_o, count_o})
  );
endmodule

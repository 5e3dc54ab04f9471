// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit that fills the scratchpad: LOAD and PACK, from a memory port or the stream.
// Memory is asked as soon as an instruction starts, while the words of those before are
// still written; places are reserved for what is asked. A word a cycle is written, and
// done_o is high for a cycle after an instruction's last one. The scratchpad takes a word
// when wr_valid_o and wr_ready_i are high; a read granted later sees it. Words of the
// stream come with s_valid_i and s_ready_o.
module rhz_engine_load #(
  parameter int In       = 16,
  parameter int PortBits = 128,
  parameter int Ports    = 1,
  parameter int Burst    = 16,
  parameter int Places   = 64,
  parameter int PlaceWidth = 17
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      start_valid_i,
  output logic                      start_ready_o,
  input  logic [255:0]              instruction_i,
  output logic                      done_o,
  output logic                      beyond_o,
  input  logic [Ports*29-1:0]       limit_i,
  output logic [Ports-1:0]          m_axi_arvalid,
  input  logic [Ports-1:0]          m_axi_arready,
  output logic [63:0]               m_axi_araddr,
  output logic [7:0]                m_axi_arlen,
  input  logic [Ports-1:0]          m_axi_rvalid,
  output logic [Ports-1:0]          m_axi_rready,
  input  logic [Ports*PortBits-1:0] m_axi_rdata,
  input  logic                      s_valid_i,
  output logic                      s_ready_o,
  input  logic [8*In-1:0]           s_data_i,
  output logic                      wr_valid_o,
  output logic [PlaceWidth-1:0]     wr_addr_o,
  output logic [8*In-1:0]           wr_data_o,
  input  logic                      wr_ready_i
);
  localparam int Low       = $clog2(In);
  localparam int WordsW    = 15 - Low;                       // of words of a row of bytes
  localparam int ChannelsW = (WordsW > 9) ? WordsW : 9;
  localparam int Fine      = (Low < 2) ? Low : 2;            // bits of the second shift
  localparam int Span      = In + (1 << Fine) - 1;           // bytes between the shifts

  // What both instructions say, in one form.
  logic [2:0] opcode, load_port, pack_port, port, unused_unit;
  logic [27:0] load_address, pack_address;
  logic [19:0] load_row_step, pack_row_step;
  logic [16:0] load_place, pack_place;
  logic [13:0] load_place_row, pack_place_row, row_bytes;
  logic [11:0] column_step;
  logic [9:0] load_rows, load_columns, pack_rows, pack_columns, place_column, rows, inner_rows;
  logic [9:0] inner_columns, unused_masks;
  logic [8:0] channels;
  logic [7:0] load_pad, pack_pad;
  logic [6:0] pack_step, pack_left;
  logic [3:0] load_top, load_bottom, pack_top, pack_bottom, left, right, top, bottom;
  logic [1:0] pack_channels;
  logic [14:0] rounded;
  logic is_pack, is_stream, unused;
  rhz_isa_common u_common (
    .instruction_i, .opcode_o(opcode), .waits_o(unused_masks[4:0]), .gives_o(unused_masks[9:5]),
    .unit_o(unused_unit)
  );
  rhz_isa_load u_load (
    .instruction_i, .port_o(load_port), .address_o(load_address), .row_step_o(load_row_step),
    .column_step_o(column_step), .place_o(load_place), .place_row_o(load_place_row),
    .place_column_o(place_column), .rows_o(load_rows), .columns_o(load_columns),
    .channels_o(channels), .top_o(load_top), .bottom_o(load_bottom), .left_o(left),
    .right_o(right), .pad_o(load_pad)
  );
  rhz_isa_pack u_pack (
    .instruction_i, .port_o(pack_port), .address_o(pack_address), .row_step_o(pack_row_step),
    .place_o(pack_place), .place_row_o(pack_place_row), .rows_o(pack_rows),
    .columns_o(pack_columns), .channels_o(pack_channels), .bytes_o(row_bytes),
    .step_o(pack_step), .left_o(pack_left), .top_o(pack_top), .bottom_o(pack_bottom),
    .pad_o(pack_pad)
  );
  assign is_pack       = opcode == rhz_isa_pkg::PACK;
  assign port          = is_pack ? pack_port : load_port;
  assign is_stream     = port == rhz_isa_pkg::PORT_STREAM;
  assign rows          = is_pack ? pack_rows : load_rows;
  assign top           = is_pack ? pack_top : load_top;
  assign bottom        = is_pack ? pack_bottom : load_bottom;
  assign inner_rows    = rows - 10'(top) - 10'(bottom);
  assign inner_columns = load_columns - 10'(left) - 10'(right);
  assign rounded       = 15'(row_bytes) + 15'(In - 1);
  assign unused        = &{1'b0, unused_masks, unused_unit, rounded, pack_step, pack_left,
                           load_place, pack_place};

  // The memory's side: a box waits in registers for the reader.
  logic start, job_room, box_q, box_ready, word_there, word_take, there, take;
  logic [8*In-1:0] memory_word, word;
  logic [2:0] box_port_q;
  logic [27:0] box_address_q;
  logic [19:0] box_row_step_q;
  logic [11:0] box_column_step_q;
  logic [9:0] box_rows_q, box_columns_q;
  logic [ChannelsW-1:0] box_channels_q;
  assign start         = start_valid_i && start_ready_o;
  assign start_ready_o = job_room && !box_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) box_q <= 1'b0;
    else         box_q <= (start && !is_stream) || (box_q && !box_ready);
  end
  always_ff @(posedge clk_i)
    if (!box_q) begin
      box_port_q        <= port;
      box_address_q     <= is_pack ? pack_address : load_address;
      box_row_step_q    <= is_pack ? pack_row_step : load_row_step;
      box_column_step_q <= column_step;
      box_rows_q        <= inner_rows;
      box_columns_q     <= is_pack ? 10'd1 : inner_columns;
      box_channels_q    <= is_pack ? ChannelsW'(rounded[14:Low]) : ChannelsW'(channels);
    end
  rhz_engine_reader #(
    .Bytes(In), .PortBits(PortBits), .Ports(Ports), .Burst(Burst), .Places(Places),
    .ChannelsWidth(ChannelsW)
  ) u_reader (
    .clk_i, .rst_ni, .limit_i, .box_valid_i(box_q), .box_ready_o(box_ready),
    .port_i(box_port_q), .address_i(box_address_q), .row_step_i(box_row_step_q),
    .column_step_i(box_column_step_q), .rows_i(box_rows_q), .columns_i(box_columns_q),
    .channels_i(box_channels_q), .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rdata,
    .beyond_o, .out_valid_o(word_there), .out_ready_i(word_take), .out_data_o(memory_word)
  );

  // What the scratchpad's side has to know, for instructions that it has not come to.
  localparam int JobW = 96 + PlaceWidth + WordsW + 3 * Low;
  logic job_there, job_load;
  logic [JobW-1:0] job;
  logic is_pack_q, is_stream_q, job_pack, job_stream;
  logic [PlaceWidth-1:0] job_place;
  logic [13:0] job_place_row;
  logic [9:0] job_place_column, job_rows, job_columns, job_inner_rows, job_inner_columns;
  logic [8:0] job_channels;
  logic [7:0] job_pad, pad_q;
  logic [3:0] job_top, job_left;
  logic [2:0] job_singles;
  logic [WordsW-1:0] job_words;
  logic [Low-1:0] job_tail;
  logic [Low:0] job_step, job_before;
  rhz_engine_fifo #(.Width(JobW), .Depth(4)) u_jobs (
    .clk_i, .rst_ni, .credit_o(job_room), .take_i(start), .push_i(start),
    .push_data_i({is_pack, is_stream,
                  is_pack ? pack_place[PlaceWidth-1:0] : load_place[PlaceWidth-1:0],
                  is_pack ? pack_place_row : load_place_row,
                  is_pack ? 10'(pack_channels) : place_column, rows,
                  is_pack ? pack_columns : load_columns,
                  is_pack ? 9'(pack_channels) : channels, top, inner_rows, left, inner_columns,
                  is_pack ? pack_pad : load_pad, rounded[14:Low], row_bytes[Low-1:0],
                  pack_step[Low:0], pack_left[Low:0], rows == 10'd1,
                  (is_pack ? pack_columns : load_columns) == 10'd1,
                  (is_pack ? 9'(pack_channels) : channels) == 9'd1}),
    .out_valid_o(job_there), .out_ready_i(job_load), .out_data_o(job)
  );
  assign {job_pack, job_stream, job_place, job_place_row, job_place_column, job_rows, job_columns,
          job_channels, job_top, job_inner_rows, job_left, job_inner_columns, job_pad, job_words,
          job_tail, job_step, job_before, job_singles} = job;

  logic walks, walk_ready, step, column_last, row_last, last, window_idle, may_load;
  logic [PlaceWidth-1:0] place;
  assign may_load = window_idle && !(walks && is_pack_q);
  assign job_load = job_there && walk_ready && may_load;
  rhz_engine_walk #(.AddrWidth(PlaceWidth)) u_walk (
    .clk_i, .rst_ni, .load_valid_i(job_there && may_load), .load_ready_o(walk_ready),
    .first_i(job_place), .row_step_i(job_place_row), .column_step_i(job_place_column),
    .rows_i(job_rows), .columns_i(job_columns), .channels_i(job_channels), .singles_i(job_singles),
    .valid_o(walks),
    .step_i(step), .addr_o(place), .column_last_o(column_last), .row_last_o(row_last),
    .last_o(last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      is_pack_q   <= 1'b0;
      is_stream_q <= 1'b0;
    end else if (job_load) begin
      is_pack_q   <= job_pack;
      is_stream_q <= job_stream;
    end
    if (job_load) pad_q <= job_pad;
  end

  // Borders. The columns' begin again with each row.
  logic row_outside, column_outside, border;
  rhz_engine_border u_rows (
    .clk_i, .load_i(job_load), .before_i(job_top), .inside_i(job_inner_rows), .restart_i(1'b0),
    .step_i(step && row_last), .outside_o(row_outside)
  );
  rhz_engine_border u_columns (
    .clk_i, .load_i(job_load), .before_i(job_left), .inside_i(job_inner_columns),
    .restart_i(step && row_last), .step_i(step && column_last), .outside_o(column_outside)
  );
  assign border = row_outside || (!is_pack_q && column_outside);

  // The words, as they come or under the window.
  logic window_ready, window_take, second;
  logic [Low-1:0] at;
  logic [3*8*In-1:0] window;
  logic unused_byte, unused_credit;
  assign unused_byte = &{1'b0, window[3*8*In-1 -: 8], unused_credit};
  assign there     = is_stream_q ? s_valid_i : word_there;
  assign word      = is_stream_q ? s_data_i : memory_word;
  assign take      = is_pack_q ? window_take : step && !border;
  assign s_ready_o = take && is_stream_q;
  assign word_take = take && !is_stream_q;
  rhz_engine_window #(.In(In), .WordsWidth(WordsW)) u_window (
    .clk_i, .rst_ni, .load_i(job_load), .words_i(job_words), .tail_i(job_tail),
    .left_i(job_before), .stride_i(job_step), .pad_i(job_pad), .idle_o(window_idle),
    .in_valid_i(there), .in_ready_o(window_take), .in_data_i(word),
    .run_i(walks && is_pack_q && !row_outside), .ready_o(window_ready), .step_i(step),
    .column_last_i(column_last), .row_last_i(row_last), .second_o(second), .at_o(at),
    .words_o(window)
  );

  // Two shifts with a register after each. Each byte is one of four, or of a few fours.
  localparam int Coarse = In >> Fine;
  logic [(2*In-1)*8-1:0] bytes;
  logic [Span*8-1:0] coarse, coarse_q;
  logic [8*In-1:0] fine;
  logic [Low-1:0] shift;
  logic [Fine-1:0] fine_q;
  logic [PlaceWidth-1:0] place_q;
  logic moves, last_q, there_q, wr_last;
  rhz_choose_few #(.Width(8 * In), .Count(4)) u_first (
    .sel_i({border || !is_pack_q, is_pack_q ? border || second : border}),
    .data_i({{In{pad_q}}, word, window[8*In +: 8*In], window[8*In-1:0]}),
    .data_o(bytes[8*In-1:0])
  );
  assign bytes[8*In +: 8*(In-1)] = second ? window[16*In +: 8*(In-1)] : window[8*In +: 8*(In-1)];
  assign shift = (is_pack_q && !border) ? at : '0;
  for (genvar i = 0; i < Span; i++) begin : gen_coarse
    logic [8*Coarse-1:0] choices;
    for (genvar c = 0; c < Coarse; c++) begin : gen_choice
      assign choices[8*c +: 8] = bytes[8*(i + (c << Fine)) +: 8];
    end
    if (Coarse == 1) begin : gen_one
      assign coarse[8*i +: 8] = choices;
    end else begin : gen_some
      rhz_choose #(.Width(8), .Count(Coarse)) u_choose (
        .sel_i(shift[Low-1:Fine]), .data_i(choices), .data_o(coarse[8*i +: 8])
      );
    end
  end
  for (genvar i = 0; i < In; i++) begin : gen_fine
    rhz_choose_few #(.Width(8), .Count(1 << Fine)) u_choose (
      .sel_i(fine_q), .data_i(coarse_q[8*i +: 8 << Fine]), .data_o(fine[8*i +: 8])
    );
  end
  assign step   = walks && (border || (is_pack_q ? window_ready : there)) && (!there_q || moves);
  // Words that wait for the scratchpad; the first one's place lies in a register.
  logic push, out_valid, place_valid, here_q, write, first_last;
  logic [PlaceWidth-1:0] first_place;
  assign push = there_q && moves;
  rhz_engine_fifo #(.Width(8 * In), .Depth(8)) u_out (
    .clk_i, .rst_ni, .credit_o(moves), .take_i(push), .push_i(push), .push_data_i(fine),
    .out_valid_o(out_valid), .out_ready_i(here_q && wr_ready_i), .out_data_o(wr_data_o)
  );
  rhz_engine_fifo #(.Width(1 + PlaceWidth), .Depth(8)) u_places (
    .clk_i, .rst_ni, .credit_o(unused_credit), .take_i(push), .push_i(push),
    .push_data_i({last_q, place_q}), .out_valid_o(place_valid), .out_ready_i(!here_q || write),
    .out_data_o({first_last, first_place})
  );
  assign wr_valid_o = out_valid && here_q;
  assign write      = wr_valid_o && wr_ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) here_q <= 1'b0;
    else         here_q <= place_valid || (here_q && !write);
  end
  always_ff @(posedge clk_i)
    if (!here_q || write) {wr_last, wr_addr_o} <= {first_last, first_place};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      there_q <= 1'b0;
      done_o  <= 1'b0;
    end else begin
      there_q <= step || (there_q && !moves);
      done_o  <= write && wr_last;
    end
  end
  always_ff @(posedge clk_i) begin
    if (step) begin
      coarse_q <= coarse;
      fine_q   <= Fine'(shift);
      place_q  <= place;
      last_q   <= last;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit that fills the queue of weights before the array, Queue blocks of Out words:
// a word has the In weights of a column, and leaves by w_valid_o, w_ready_i, w_data_o.
// From memory, which is asked as soon as an instruction starts, words have 8 bits or
// hold two columns of 4; from the scratchpad they are columns or, turned, rows. The
// scratchpad grants a read in the cycle in which rd_valid_o and rd_ready_i are high; its
// word comes later, in order, with rd_data_valid_i, and there is always a place for it.
// done_o is high for a cycle after an instruction's last column is in the queue.
module rhz_engine_weights #(
  parameter int In       = 16,
  parameter int Out      = 16,
  parameter int Queue    = 4,
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
  output logic                      rd_valid_o,
  output logic [PlaceWidth-1:0]     rd_addr_o,
  input  logic                      rd_ready_i,
  input  logic                      rd_data_valid_i,
  input  logic [8*In-1:0]           rd_data_i,
  output logic                      w_valid_o,
  output logic [8*In-1:0]           w_data_o,
  input  logic                      w_ready_i
);
  localparam int CountW  = $clog2(Out + 1);
  localparam int FlightW = $clog2(Out + 1);
  localparam int JobW    = 42 + PlaceWidth;

  logic [2:0] port;
  logic [27:0] address;
  logic [16:0] place;
  logic [11:0] blocks, column_step;
  logic [13:0] block_step;
  logic four, turned, is_scratch;
  rhz_isa_weights u_fields (
    .instruction_i, .port_o(port), .address_o(address), .place_o(place), .blocks_o(blocks),
    .four_o(four), .turned_o(turned), .column_step_o(column_step), .block_step_o(block_step)
  );
  logic unused_place;
  assign unused_place = &{1'b0, place};
  assign is_scratch = port == rhz_isa_pkg::PORT_SCRATCH;

  // The memory's side: blocks follow each other.
  logic start, job_room, box_ready, there, take;
  logic [8*In-1:0] memory_word;
  logic [CountW-1:0] block_words;
  assign start         = start_valid_i && start_ready_o;
  assign start_ready_o = job_room && (is_scratch || box_ready);
  assign block_words   = four ? CountW'(Out / 2) : CountW'(Out);
  rhz_engine_reader #(
    .Bytes(In), .PortBits(PortBits), .Ports(Ports), .Burst(Burst), .Places(Places),
    .RowStepWidth(CountW), .ColumnStepWidth(1), .RowsWidth(12), .ColumnsWidth(1),
    .ChannelsWidth(CountW)
  ) u_reader (
    .clk_i, .rst_ni, .limit_i, .box_valid_i(start_valid_i && job_room && !is_scratch),
    .box_ready_o(box_ready), .port_i(port), .address_i(address), .row_step_i(block_words),
    .column_step_i(1'b0), .rows_i(blocks), .columns_i(1'b1), .channels_i(block_words),
    .m_axi_arvalid, .m_axi_arready, .m_axi_araddr, .m_axi_arlen, .m_axi_rvalid, .m_axi_rready,
    .m_axi_rdata, .beyond_o, .out_valid_o(there), .out_ready_i(take), .out_data_o(memory_word)
  );

  // Instructions that have started, one after the other. The walk counts the columns that
  // come from memory, or the words that are read from the scratchpad.
  logic job_there, job_load, job_scratch, job_four, job_turned, walk_ready, walks, step;
  logic row_last, runs_q, ends, scratch_q, four_q, turned_q;
  logic unused;
  logic [1:0] unused_last;
  logic [JobW-1:0] job;
  logic job_single;
  logic [11:0] job_blocks, job_column_step;
  logic [PlaceWidth-1:0] job_place;
  logic [13:0] job_block_step;
  assign unused = &{1'b0, unused_last};
  rhz_engine_fifo #(.Width(JobW), .Depth(4)) u_jobs (
    .clk_i, .rst_ni, .credit_o(job_room), .take_i(start), .push_i(start),
    .push_data_i({is_scratch, four, turned, blocks, place[PlaceWidth-1:0], column_step, block_step,
                  blocks == 12'd1}),
    .out_valid_o(job_there), .out_ready_i(job_load), .out_data_o(job)
  );
  assign {job_scratch, job_four, job_turned, job_blocks, job_place, job_column_step,
          job_block_step, job_single} = job;
  assign job_load = job_there && walk_ready && (!runs_q || ends);
  rhz_engine_walk #(
    .AddrWidth(PlaceWidth), .ColumnStepWidth(12), .RowsWidth(12), .ColumnsWidth(CountW), .ChannelsWidth(2)
  ) u_walk (
    .clk_i, .rst_ni, .load_valid_i(job_there && (!runs_q || ends)), .load_ready_o(walk_ready),
    .first_i(job_place), .row_step_i(job_block_step), .column_step_i(job_column_step),
    .rows_i(job_blocks), .columns_i(job_turned ? CountW'(In) : CountW'(Out)),
    .channels_i(job_turned ? 2'(Out / In) : 2'd1),
    .singles_i({job_single, 1'b0, !job_turned || Out == In}), .valid_o(walks), .step_i(step),
    .addr_o(rd_addr_o), .column_last_o(unused_last[0]), .row_last_o(row_last),
    .last_o(unused_last[1])
  );
  always_ff @(posedge clk_i) begin
    if (job_load) begin
      scratch_q <= job_scratch;
      four_q    <= job_four;
      turned_q  <= job_turned;
    end
  end

  // From the scratchpad: a place of the queue is reserved for each word, or for each
  // column of a turned block, of which one at a time is on its way.
  logic credit, whole_q, corner_idle, corner_take, corner_valid, asks;
  logic [8*In-1:0] corner_word;
  logic [FlightW-1:0] flight_q;
  assign asks       = walks && scratch_q && (turned_q ? !whole_q : credit);
  assign rd_valid_o = asks && flight_q != FlightW'(Out);
  rhz_engine_corner #(.In(In), .Out(Out)) u_corner (
    .clk_i, .rst_ni, .turned_i(turned_q), .in_valid_i(rd_data_valid_i), .in_data_i(rd_data_i),
    .out_may_i(credit), .out_take_o(corner_take), .idle_o(corner_idle),
    .out_valid_o(corner_valid), .out_data_o(corner_word)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      flight_q <= '0;
      whole_q  <= 1'b0;
    end else begin
      flight_q <= flight_q + FlightW'(rd_valid_o && rd_ready_i) - FlightW'(rd_data_valid_i);
      whole_q  <= (rd_valid_o && rd_ready_i) ? turned_q && row_last
                  : whole_q && !(flight_q == '0 && corner_idle);
    end
  end

  // From memory: a word, or its lower and then its upper half.
  logic column, upper_q;
  logic [8*In-1:0] column_word, word;
  assign column = walks && !scratch_q && there && credit;
  assign take   = column && (!four_q || upper_q);
  assign step   = scratch_q ? rd_valid_o && rd_ready_i : column;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)     upper_q <= 1'b0;
    else if (column) upper_q <= four_q && !upper_q;
  end
  always_comb begin
    for (int r = 0; r < In; r++) begin
      column_word[8*r +: 8] = memory_word[8*r +: 8];
      if (four_q) begin
        if (upper_q) column_word[8*r +: 4] = memory_word[8*r+4 +: 4];
        column_word[8*r+4 +: 4] = {4{memory_word[8*r + (upper_q ? 7 : 3)]}};
      end
    end
  end

  // The instruction ends when all that it asked for is in the queue.
  logic landed_q;
  always_ff @(posedge clk_i) landed_q <= flight_q == '0 && !rd_valid_o && !walks;
  assign ends = runs_q && !walks && landed_q && corner_idle;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      runs_q <= 1'b0;
      done_o <= 1'b0;
    end else begin
      runs_q <= job_load || (runs_q && !ends);
      done_o <= ends;
    end
  end
  logic taken;
  assign word        = scratch_q ? corner_word : column_word;
  assign taken       = column || corner_take || (rd_valid_o && rd_ready_i && !turned_q);
  rhz_engine_fifo #(.Width(8 * In), .Depth(Queue * Out)) u_queue (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(taken), .push_i(column || corner_valid),
    .push_data_i(word), .out_valid_o(w_valid_o), .out_ready_i(w_ready_i), .out_data_o(w_data_o)
  );
endmodule

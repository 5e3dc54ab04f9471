// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix unit: for each tap of an instruction a block of weights, for each pixel of
// it a word of the scratchpad through the array and Out sums to the accumulators. It asks
// for words ahead of the array, also for the next instruction's; the array waits for
// words, for a block of weights where a tap begins, and for sums that it adds to again
// before they are written. `next` is high two cycles before sum_valid_o and `soon` Ahead
// + 1, so that the vector unit keeps out of the bank's way. Terms come two cycles after
// sum_valid_o.
module rhz_engine_matrix #(
  parameter int In      = 16,
  parameter int Out     = 16,
  parameter int Words   = 1024,
  parameter int Entries = 512,
  parameter int Wide    = 1,
  parameter int Depth   = 16,
  parameter int Ahead   = 5,
  parameter int AddrWidth  = $clog2(Words),
  parameter int EntryWidth = $clog2(Entries),
  parameter int TermWidth  = 16 + $clog2(In)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     start_valid_i,
  output logic                     start_ready_o,
  input  logic [255:0]             instruction_i,
  output logic                     done_o,
  output logic                     rd_valid_o,
  output logic [AddrWidth-1:0]     rd_addr_o,
  input  logic                     rd_ready_i,
  input  logic                     rd_data_valid_i,
  input  logic [In*8-1:0]          rd_data_i,
  input  logic                     weights_valid_i,
  output logic                     weights_ready_o,
  input  logic [In*8-1:0]          weights_data_i,
  output logic                     next_valid_o,
  output logic                     next_bank_o,
  output logic                     soon_valid_o,
  output logic                     soon_bank_o,
  output logic                     sum_valid_o,
  output logic                     sum_bank_o,
  output logic [EntryWidth-1:0]    sum_entry_o,
  output logic                     sum_fresh_o,
  output logic [Out*TermWidth-1:0] sum_terms_o,
  output logic [Out-1:0]           sum_carries_o
);
  localparam int MaxPacked = (Wide != 0) ? 8 : 2;
  localparam int Cascades  = (In + MaxPacked - 1) / MaxPacked;
  localparam int Length    = (In + Cascades - 1) / Cascades;
  // From a word that goes into the array to its sums' read and their write.
  // A small array's sums are delayed until they are foreseen early enough.
  localparam int Built   = 1 + Length + $clog2(Cascades);
  localparam int Late    = (Built <= Ahead) ? Ahead + 1 - Built : 0;
  localparam int Request = Built + Late;
  localparam int Written = Request + 2;
  localparam int ColumnWidth = $clog2(Out);
  localparam int NoteWidth = 5 + EntryWidth;

  // Pixels within taps, a word each, in the order of the instruction's loops.
  logic [16:0] place;
  logic [4:0] taps2, taps1;
  logic [8:0] taps0;
  logic [13:0] step2, row_step;
  logic [11:0] step1, step0, column_step;
  logic [9:0] rows, columns, entry;
  logic bank, more;
  rhz_isa_matrix u_fields (
    .instruction_i, .place_o(place), .taps2_o(taps2), .taps1_o(taps1), .taps0_o(taps0),
    .step2_o(step2), .step1_o(step1), .step0_o(step0), .rows_o(rows), .columns_o(columns),
    .row_step_o(row_step), .column_step_o(column_step), .bank_o(bank), .entry_o(entry),
    .more_o(more)
  );

  logic start, runs_q, step, unused_room, note_room, tap_ends, ends;
  logic [4:0] lasts;
  logic [5*14-1:0] steps_q;
  assign start_ready_o = !runs_q;
  assign start    = start_valid_i && start_ready_o;
  assign step     = rd_valid_o && rd_ready_i;
  assign tap_ends = lasts[0] && lasts[1];
  assign ends     = &lasts;
  rhz_engine_loop #(.Width(10)) u_columns (
    .clk_i, .load_i(start), .count_i(columns), .single_i(columns == 10'd1),
    .step_i(step), .last_o(lasts[0])
  );
  rhz_engine_loop #(.Width(10)) u_rows (
    .clk_i, .load_i(start), .count_i(rows), .single_i(rows == 10'd1),
    .step_i(step && lasts[0]), .last_o(lasts[1])
  );
  rhz_engine_loop #(.Width(9)) u_taps0 (
    .clk_i, .load_i(start), .count_i(taps0), .single_i(taps0 == 9'd1),
    .step_i(step && tap_ends), .last_o(lasts[2])
  );
  rhz_engine_loop #(.Width(5)) u_taps1 (
    .clk_i, .load_i(start), .count_i(taps1), .single_i(taps1 == 5'd1),
    .step_i(step && tap_ends && lasts[2]), .last_o(lasts[3])
  );
  rhz_engine_loop #(.Width(5)) u_taps2 (
    .clk_i, .load_i(start), .count_i(taps2), .single_i(taps2 == 5'd1),
    .step_i(step && tap_ends && lasts[2] && lasts[3]), .last_o(lasts[4])
  );
  rhz_engine_nest #(.Loops(5), .AddrWidth(AddrWidth), .StepWidth(14)) u_addr (
    .clk_i, .load_i(start), .first_i(place[AddrWidth-1:0]), .steps_i(steps_q), .step_i(step),
    .lasts_i(lasts), .addr_o(rd_addr_o)
  );
  // A sum is in the memory again two cycles after its read: a tap of fewer pixels, or one
  // that adds to an older instruction's sums, waits for the pixels before it.
  logic bank_q, fresh_q, first_q, wait_q;
  logic [1:0] pixels_q;
  logic [EntryWidth-1:0] begins_q, entry_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) runs_q <= 1'b0;
    else         runs_q <= start || (runs_q && !(step && ends));
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      steps_q  <= {step2, 14'(step1), 14'(step0), row_step, 14'(column_step)};
      bank_q   <= bank;
      begins_q <= entry[EntryWidth-1:0];
      entry_q  <= entry[EntryWidth-1:0];
      fresh_q  <= !more;
      first_q  <= 1'b1;
      wait_q   <= more;
      pixels_q <= '0;
    end else if (step) begin
      entry_q  <= tap_ends ? begins_q : entry_q + EntryWidth'(1);
      first_q  <= tap_ends;
      wait_q   <= tap_ends && !pixels_q[1];
      pixels_q <= tap_ends ? '0 : {pixels_q != '0, !pixels_q[0]};
      if (tap_ends) fresh_q <= 1'b0;
    end
  end
  assign rd_valid_o = runs_q && note_room;
  logic unused_fields;
  assign unused_fields = &{1'b0, place, entry, unused_room};

  // Words before the array, and what is to be done with each: for a note that has a place
  // its word has one. The next one lies in
  // registers, so that little logic decides whether it goes on.
  logic word_valid, note_valid, pop, there_q, fire, note_first, note_wait, note_ends;
  logic [In*8-1:0] word, word_q;
  logic [NoteWidth-1:0] note, note_q;
  logic note_bank, note_fresh;
  logic [EntryWidth-1:0] note_entry;
  rhz_engine_fifo #(.Width(In * 8), .Depth(Depth)) u_words (
    .clk_i, .rst_ni, .credit_o(unused_room), .take_i(step), .push_i(rd_data_valid_i),
    .push_data_i(rd_data_i), .out_valid_o(word_valid), .out_ready_i(pop), .out_data_o(word)
  );
  rhz_engine_fifo #(.Width(NoteWidth), .Depth(Depth)) u_notes (
    .clk_i, .rst_ni, .credit_o(note_room), .take_i(step), .push_i(step),
    .push_data_i({first_q, wait_q, ends, fresh_q, bank_q, entry_q}), .out_valid_o(note_valid),
    .out_ready_i(pop), .out_data_o(note)
  );
  assign pop = word_valid && note_valid && (fire || !there_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) there_q <= 1'b0;
    else         there_q <= pop || (there_q && !fire);
  end
  always_ff @(posedge clk_i)
    if (pop) begin
      word_q <= word;
      note_q <= note;
    end
  assign {note_first, note_wait, note_ends, note_fresh, note_bank, note_entry} = note_q;

  // Weights: the next block, column by column.
  logic load, full_q, column_last;
  logic [ColumnWidth-1:0] column;
  logic [Out-1:0] load_q;
  logic [In*8-1:0] weights_q;
  assign weights_ready_o = !full_q;
  assign load = weights_valid_i && weights_ready_o;
  rhz_counter #(.Count(Out)) u_column (
    .clk_i, .rst_ni, .en_i(load), .value_o(column), .last_o(column_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni)                 full_q <= 1'b0;
    else if (load)               full_q <= column_last;
    else if (fire && note_first) full_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    weights_q <= weights_data_i;
    for (int n = 0; n < Out; n++) load_q[n] <= load && column == ColumnWidth'(n);
  end

  // The array.
  logic [1:0] fired_q;
  logic [Written:0] valid;
  logic [Out*TermWidth-1:0] terms;
  assign fire = there_q && (full_q || !note_first) && !(note_wait && fired_q != '0);
  always_ff @(posedge clk_i) fired_q <= rst_ni ? {fired_q[0], fire} : '0;
  rhz_valid #(.Stages(Written)) u_valid (.clk_i, .rst_ni, .valid_i(fire), .valid_o(valid));
  rhz_engine_array #(.In(In), .Out(Out), .Wide(Wide)) u_array (
    .clk_i, .word_i(word_q), .take_i(fire && note_first), .weights_i(weights_q), .load_i(load_q),
    .sums_o(terms)
  );
  rhz_delay #(.Width(Out * TermWidth), .Stages(Late)) u_terms (
    .clk_i, .data_i(terms), .data_o(sum_terms_o)
  );
  rhz_delay #(.Width(1), .Stages(Request - Ahead - 1)) u_soon (
    .clk_i, .data_i(note_bank), .data_o(soon_bank_o)
  );
  rhz_delay #(.Width(1), .Stages(Ahead - 1)) u_next (
    .clk_i, .data_i(soon_bank_o), .data_o(next_bank_o)
  );
  rhz_delay #(.Width(2 + EntryWidth), .Stages(Request)) u_request (
    .clk_i, .data_i({note_fresh, note_bank, note_entry}),
    .data_o({sum_fresh_o, sum_bank_o, sum_entry_o})
  );
  assign soon_valid_o  = valid[Request-Ahead-1];
  assign next_valid_o  = valid[Request-2];
  assign sum_valid_o   = valid[Request];
  assign sum_carries_o = {(Out / 2){2'b01}};
  logic ended;
  rhz_delay #(.Width(1), .Stages(Written)) u_ended (
    .clk_i, .data_i(note_ends), .data_o(ended)
  );
  always_ff @(posedge clk_i) done_o <= rst_ni && valid[Written] && ended;
endmodule

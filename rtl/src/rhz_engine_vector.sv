// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vector unit: In lanes and one instruction at a time, so that each finds what those
// before it have written. Its front walks the loops and asks for words: constants first,
// then a word a pixel, where there are two operands the first one to be held. A note goes
// with each step, and what waits for a word, for room for its result or for the array in
// its bank of accumulators waits where notes and words meet; nothing stops after that.
// Three taps of a row of dot that are as far from each other as pixels, or half as far, are
// one: each word of the row comes once, and meets the two before it where a pixel ends.
module rhz_engine_vector #(
  parameter int In      = 16,
  parameter int Words   = 1024,
  parameter int Entries = 512,
  parameter int SumBits = 27,
  parameter int Wide    = 1,
  parameter int Table   = 1,   // 1: tables in block RAM, 0: in LUTs
  parameter int Depth   = 16,
  parameter int AddrWidth  = $clog2(Words),
  parameter int EntryWidth = $clog2(Entries)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  start_valid_i,
  output logic                  start_ready_o,
  input  logic [255:0]          instruction_i,
  output logic                  done_o,
  output logic                  rd_valid_o,
  output logic [AddrWidth-1:0]  rd_addr_o,
  input  logic                  rd_ready_i,
  input  logic                  rd_data_valid_i,
  input  logic [In*8-1:0]       rd_data_i,
  output logic                  wr_valid_o,
  output logic [AddrWidth-1:0]  wr_addr_o,
  output logic [In*8-1:0]       wr_data_o,
  input  logic                  wr_ready_i,
  // What the array does in the accumulators in two cycles, and in Ahead + 1.
  input  logic                  next_valid_i,
  input  logic                  next_bank_i,
  input  logic                  soon_valid_i,
  input  logic                  soon_bank_i,
  output logic                  sum_valid_o,
  output logic                  sum_adds_o,
  output logic                  sum_bank_o,
  output logic [EntryWidth-1:0] sum_entry_o,
  output logic                  sum_group_o,
  output logic                  sum_fresh_o,
  output logic [In*17-1:0]      sum_terms_o,
  input  logic [In*SumBits-1:0] sums_i
);
  localparam int Ahead = 5;     // from a pixel's start to the request for its sum
  localparam int Last  = 12;    // the last stage of the lanes
  localparam int TableWords = 256 / In;
  localparam logic [1:0] Idle = 2'd0, Constants = 2'd1, Held = 2'd2, Pixel = 2'd3;

  logic [2:0] operation;
  logic [16:0] a, b, place, constants;
  logic [9:0] rows, columns, entry, a_column, b_column, place_column;
  logic [13:0] a_row, b_row, place_row;
  logic [5:0] taps1, taps0;
  logic bank, group, more;
  logic [1:0] shift;
  logic [7:0] low, high;
  rhz_isa_vector u_fields (
    .instruction_i, .operation_o(operation), .a_o(a), .b_o(b), .place_o(place),
    .constants_o(constants), .rows_o(rows), .columns_o(columns), .taps1_o(taps1),
    .taps0_o(taps0), .a_row_o(a_row), .a_column_o(a_column), .b_row_o(b_row),
    .b_column_o(b_column), .place_row_o(place_row), .place_column_o(place_column),
    .bank_o(bank), .entry_o(entry), .group_o(group), .more_o(more), .shift_o(shift),
    .low_o(low), .high_o(high)
  );
  logic start_requantize, start_add, start_maximum, start_dot, start_multiply, start_table;
  assign start_requantize = operation == rhz_isa_pkg::OPERATION_REQUANTIZE;
  assign start_add        = operation == rhz_isa_pkg::OPERATION_ADD;
  assign start_maximum    = operation == rhz_isa_pkg::OPERATION_MAXIMUM;
  assign start_dot        = operation == rhz_isa_pkg::OPERATION_DOT;
  assign start_multiply   = operation == rhz_isa_pkg::OPERATION_MULTIPLY;
  assign start_table      = operation == rhz_isa_pkg::OPERATION_TABLE;
  // A line's words, which fit a loop.
  logic start_line, start_double, is_double;
  logic [9:0] line_words;
  assign is_double = a_column == {b_column[8:0], 1'b0} && !b_column[9] && columns < 10'd510;
  always_ff @(posedge clk_i) begin
    start_double <= is_double;
    start_line   <= start_dot && taps0 == 6'd3 &&
                    ((a_column == b_column && columns < 10'd1020) || is_double);
    line_words   <= is_double ? {columns[8:0], 1'b1} : columns + 10'd2;
  end
  logic unused_fields;
  assign unused_fields = &{1'b0, a, b, place, constants, entry};

  logic busy_q, start, done;
  logic requantize_q, add_q, maximum_q, dot_q, multiply_q, table_q, writes_q, line_q;
  logic double_q;
  logic bank_q, group_q;
  logic [1:0] shift_q;
  logic [7:0] low_q, high_q;
  // An instruction is here for a cycle before it starts.
  logic seen_q;
  assign start_ready_o = seen_q && !busy_q;
  assign start         = start_valid_i && start_ready_o;
  always_ff @(posedge clk_i) begin
    seen_q <= start_valid_i && !start;
    if (!rst_ni) begin
      busy_q <= 1'b0;
      done_o <= 1'b0;
    end else begin
      busy_q <= start || (busy_q && !done);
      done_o <= done;
    end
  end
  always_ff @(posedge clk_i)
    if (start) begin
      requantize_q <= start_requantize;
      add_q        <= start_add;
      maximum_q    <= start_maximum;
      dot_q        <= start_dot;
      multiply_q   <= start_multiply;
      table_q      <= start_table;
      line_q       <= start_line;
      double_q     <= start_double;
      writes_q     <= !start_dot && !start_multiply;
      bank_q       <= bank;
      group_q      <= group;
      shift_q      <= shift;
      low_q        <= low;
      high_q       <= high;
    end

  // The front: loops of pixels within taps for dot, of taps within pixels for the rest.
  logic [1:0] step_q;
  logic step, reads, unused_room, note_room, place_room, two, pixel_ends, ends, constants_end;
  logic [3:0] lasts;
  logic [39:0] counts;
  logic [4*14-1:0] a_steps_q;
  logic [2*14-1:0] b_steps_q, place_steps_q;
  logic [AddrWidth-1:0] a_addr, b_addr, place_addr, constant_q;
  logic [6:0] left_q;
  logic first_q;
  assign two        = add_q || multiply_q;
  assign pixel_ends = lasts[0] && lasts[1];
  assign ends       = &lasts;
  assign counts = start_line ? {10'(taps1), 10'd1, rows, line_words}
                  : start_dot ? {10'(taps1), 10'(taps0), rows, columns}
                            : {rows, columns, 10'(taps1), 10'(taps0)};
  for (genvar k = 0; k < 4; k++) begin : gen_loop
    logic inner;
    if (k == 0) begin : gen_innermost
      assign inner = 1'b1;
    end else begin : gen_outer
      assign inner = &lasts[k-1:0];
    end
    rhz_engine_loop #(.Width(10)) u_loop (
      .clk_i, .load_i(start), .count_i(counts[k*10 +: 10]),
      .single_i(counts[k*10 +: 10] == 10'd1), .step_i(step && step_q == Pixel && inner),
      .last_o(lasts[k])
    );
  end
  always_ff @(posedge clk_i)
    if (start) begin
      a_steps_q <= start_line  ? {b_row, 14'(b_column), a_row, 14'(b_column)}
                   : start_dot ? {b_row, 14'(b_column), a_row, 14'(a_column)}
                             : {a_row, 14'(a_column), b_row, 14'(b_column)};
      // Weights of dot follow each other, which is the inner loop without an end.
      b_steps_q     <= {b_row, start_dot ? 14'd1 : 14'(b_column)};
      place_steps_q <= {place_row, 14'(place_column)};
    end
  rhz_engine_nest #(.Loops(4), .AddrWidth(AddrWidth)) u_a (
    .clk_i, .load_i(start), .first_i(a[AddrWidth-1:0]), .steps_i(a_steps_q),
    .step_i(step && step_q == Pixel), .lasts_i(lasts), .addr_o(a_addr)
  );
  rhz_engine_nest #(.Loops(2), .AddrWidth(AddrWidth)) u_b (
    .clk_i, .load_i(start), .first_i(b[AddrWidth-1:0]), .steps_i(b_steps_q),
    .step_i(step && step_q == (dot_q ? Held : Pixel)),
    .lasts_i(dot_q ? 2'b00 : lasts[3:2]), .addr_o(b_addr)
  );
  rhz_engine_nest #(.Loops(2), .AddrWidth(AddrWidth)) u_place (
    .clk_i, .load_i(start), .first_i(place[AddrWidth-1:0]), .steps_i(place_steps_q),
    .step_i(step && step_q == Pixel && pixel_ends), .lasts_i(lasts[3:2]), .addr_o(place_addr)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) step_q <= Idle;
    else if (start)
      step_q <= (start_requantize || start_add || start_table) ? Constants
                : (start_dot || start_multiply) ? Held : Pixel;
    else if (step)
      unique case (step_q)
        Constants: if (constants_end) step_q <= add_q ? Held : Pixel;
        Held:      if (weights_end) step_q <= Pixel;
        Pixel:     if (ends) step_q <= Idle;
                   else if (two || (dot_q && pixel_ends)) step_q <= Held;
        default:   step_q <= Idle;
      endcase
  end
  // Of a line three weights, and words before a pixel's last one.
  logic weights_end, before_first;
  logic [1:0] weights_q, before_q;
  assign weights_end  = !line_q || weights_q == 2'd0;
  assign before_first = line_q && before_q != 2'd0;
  always_ff @(posedge clk_i) begin
    if (start) begin
      weights_q <= 2'd2;
      before_q  <= 2'd2;
    end else if (step && step_q == Held) begin
      weights_q <= weights_end ? 2'd2 : weights_q - 2'd1;
    end else if (step && step_q == Pixel) begin
      before_q <= lasts[0] ? 2'd2 : before_first ? before_q - 2'd1 : {1'b0, double_q};
    end
  end
  assign constants_end = left_q == 7'd1;
  always_ff @(posedge clk_i) begin
    if (start) begin
      constant_q <= constants[AddrWidth-1:0];
      left_q     <= start_requantize ? 7'd11 : start_add ? 7'd12 : 7'(TableWords);
      first_q    <= 1'b1;
    end else if (step && step_q == Constants) begin
      constant_q <= constant_q + AddrWidth'(1);
      left_q     <= left_q - 7'd1;
    end else if (step && step_q == Pixel) begin
      first_q <= pixel_ends;
    end
  end
  always_comb begin
    rd_addr_o = constant_q;
    if (step_q == Held)  rd_addr_o = dot_q ? b_addr : a_addr;
    if (step_q == Pixel) rd_addr_o = two ? b_addr : a_addr;
  end
  assign reads      = !(requantize_q && step_q == Pixel);
  assign rd_valid_o = step_q != Idle && reads && note_room && place_room;
  assign step       = (rd_valid_o && rd_ready_i) ||
                      (step_q == Pixel && !reads && note_room && place_room);

  // Words, notes, and the places of results.
  logic word_valid, note_valid, there_q, place_valid, fire, pop, write;
  logic [6:0] note, note_q;
  logic note_constant, note_held, note_first, note_last, note_ends, note_reads, note_before;
  logic note_table_q, note_dot_q, note_result_q;
  logic here_q;
  logic [AddrWidth-1:0] place_first;
  logic [In*8-1:0] word;
  assign write = wr_valid_o && wr_ready_i;
  // Not more than notes, but for the one in registers.
  rhz_engine_fifo #(.Width(In * 8), .Depth(2 * Depth)) u_words (
    .clk_i, .rst_ni, .credit_o(unused_room), .take_i(step && reads), .push_i(rd_data_valid_i),
    .push_data_i(rd_data_i), .out_valid_o(word_valid), .out_ready_i(pop), .out_data_o(word)
  );
  rhz_engine_fifo #(.Width(7), .Depth(Depth)) u_notes (
    .clk_i, .rst_ni, .credit_o(note_room), .take_i(step), .push_i(step),
    .push_data_i({step_q == Constants, step_q == Held,
                  (step_q == Held) ? line_q && weights_q == 2'd2 : first_q,
                  (step_q == Constants) ? constants_end
                  : (step_q == Held)    ? weights_end : pixel_ends,
                  step_q == Pixel && ends, reads, step_q == Pixel && before_first}),
    .out_valid_o(note_valid), .out_ready_i(fire || !there_q), .out_data_o(note)
  );
  // The next note lies in registers, so that little logic decides whether it goes on.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) there_q <= 1'b0;
    else         there_q <= note_valid || (there_q && !fire);
  end
  always_ff @(posedge clk_i)
    if (fire || !there_q) begin
      note_q        <= note;
      note_table_q  <= note[6] && table_q;
      note_dot_q    <= note[5] && dot_q;
      note_result_q <= !note[6] && !note[5] && writes_q;
    end
  assign {note_constant, note_held, note_first, note_last, note_ends, note_reads,
          note_before} = note_q;
  rhz_engine_fifo #(.Width(AddrWidth), .Depth(2 * Depth)) u_places (
    .clk_i, .rst_ni, .credit_o(place_room),
    .take_i(step && writes_q && step_q == Pixel && pixel_ends),
    .push_i(step && writes_q && step_q == Pixel && pixel_ends), .push_data_i(place_addr),
    .out_valid_o(place_valid), .out_ready_i(!here_q || write), .out_data_o(place_first)
  );
  // The first place lies in a register before its result is there.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) here_q <= 1'b0;
    else         here_q <= place_valid || (here_q && !write);
  end
  always_ff @(posedge clk_i) if (!here_q || write) wr_addr_o <= place_first;

  // Where they meet. A word of a table stays until its bytes are written; a weight of dot
  // comes two cycles after a pixel, whose sum the next one may add to.
  logic result_room, result, tap, pixel, pixel_q, table_last, meets_q;
  assign result = note_result_q && note_last;
  assign tap    = fire && !note_constant && !note_held;
  assign pixel  = tap && !note_before;
  always_comb begin
    fire = there_q && (word_valid || !note_reads);
    if (note_table_q && !table_last) fire = 1'b0;
    if (note_dot_q && pixel_q) fire = 1'b0;
    if (note_result_q && !result_room) fire = 1'b0;
    if (!note_constant && !note_held && meets_q) fire = 1'b0;
  end
  // The array would be in the same bank when a pixel that begins now is.
  always_ff @(posedge clk_i)
    meets_q <= requantize_q ? next_valid_i && next_bank_i == bank_q
                            : !writes_q && soon_valid_i && soon_bank_i == bank_q;
  assign pop  = fire && note_reads;
  always_ff @(posedge clk_i) pixel_q <= pixel;

  // Bytes of a table to all lanes, one a cycle.
  localparam int ByteWidth = $clog2(In);
  logic table_writes, table_we_q;
  logic [ByteWidth-1:0] table_byte;
  logic [7:0] table_addr_q, table_data, table_data_q;
  assign table_writes = there_q && word_valid && note_table_q;
  rhz_counter #(.Count(In)) u_table_byte (
    .clk_i, .rst_ni, .en_i(table_writes), .value_o(table_byte), .last_o(table_last)
  );
  rhz_mux #(.Width(8), .Count(In)) u_table_data (
    .sel_i(table_byte), .data_i(word), .data_o(table_data)
  );
  always_ff @(posedge clk_i) begin
    table_we_q   <= table_writes;
    table_data_q <= table_data;
    if (start)           table_addr_q <= '0;
    else if (table_we_q) table_addr_q <= table_addr_q + 8'd1;
  end

  // The sums: which entry, and whether it begins anew.
  logic fresh_q, again_q, fresh_late;
  logic [EntryWidth-1:0] begins_q, entry_q, entry_late;
  always_ff @(posedge clk_i) begin
    if (start) begin
      begins_q <= entry[EntryWidth-1:0];
      entry_q  <= entry[EntryWidth-1:0];
      fresh_q  <= !more;
      again_q  <= 1'b0;
    end else if (fire && note_held && note_last && dot_q) begin
      entry_q <= begins_q;
      again_q <= 1'b1;
      if (again_q) fresh_q <= 1'b0;
    end else if (pixel) begin
      entry_q <= entry_q + EntryWidth'(1);
    end
  end
  rhz_delay #(.Width(1 + EntryWidth), .Stages(Ahead - 1)) u_entry (
    .clk_i, .data_i({fresh_q, entry_q}), .data_o({fresh_late, entry_late})
  );
  logic [Last:0] pixels, results;
  logic ended, ended_q;
  rhz_valid #(.Stages(Last)) u_pixels (.clk_i, .rst_ni, .valid_i(pixel), .valid_o(pixels));
  rhz_valid #(.Stages(Last)) u_results (
    .clk_i, .rst_ni, .valid_i(fire && result), .valid_o(results)
  );
  assign sum_bank_o  = bank_q;
  assign sum_group_o = group_q;
  always_ff @(posedge clk_i) begin
    sum_adds_o  <= !requantize_q;
    sum_valid_o <= rst_ni && (requantize_q ? pixel : pixels[Ahead-1] && !writes_q);
    sum_entry_o <= requantize_q ? entry_q : entry_late;
    sum_fresh_o <= !requantize_q && fresh_late;
  end

  // The lanes.
  logic constants1_q, constants2_q, constants3_q, held1_q, held2_q, held3_q;
  logic constant_q1, tap_first_q, tap_q, first1_q, first2_q, middle1_q, middle2_q;
  logic clear_q;
  logic [In*8-1:0] word_q, data;
  always_ff @(posedge clk_i) begin
    clear_q      <= start;
    word_q       <= word;
    constant_q1  <= fire && note_constant;
    constants1_q <= fire && note_constant && note_last;
    constants2_q <= constants1_q;
    constants3_q <= constants2_q;
    held1_q      <= fire && note_held;
    held2_q      <= held1_q;
    held3_q      <= held2_q;
    first1_q     <= fire && note_held && note_first;
    first2_q     <= first1_q;
    middle1_q    <= fire && note_held && !note_first && !note_last;
    middle2_q    <= middle1_q;
    tap_q        <= tap;
    tap_first_q  <= note_first;
  end
  for (genvar q = 0; q < In / 2; q++) begin : gen_pair
    logic [15:0] bytes;
    rhz_engine_table #(.Block(Table)) u_table (
      .clk_i, .we_i(table_we_q), .waddr_i(table_addr_q), .wdata_i(table_data_q),
      .first_i(word_q[2*q*8 +: 8] ^ 8'h80), .second_i(word_q[(2*q+1)*8 +: 8] ^ 8'h80),
      .first_o(bytes[7:0]), .second_o(bytes[15:8])
    );
    for (genvar d = 0; d < 2; d++) begin : gen_lane
      localparam int Lane = 2 * q + d;
      rhz_engine_lane #(.Wide(Wide), .SumBits(SumBits)) u_lane (
        .clk_i, .requantize_i(requantize_q), .add_i(add_q), .maximum_i(maximum_q),
        .table_i(table_q), .line_i(line_q), .clear_i(clear_q), .shift_i(shift_q), .low_i(low_q),
        .high_i(high_q),
        .byte_i(word_q[Lane*8 +: 8]), .constant_i(constant_q1), .tap_i(pixels[1]),
        .tap_first_i(tap_first_q), .shift_in_i(tap_q), .constants2_i(constants2_q),
        .constants3_i(constants3_q),
        .held2_i(held2_q), .held3_i(held3_q), .first2_i(first2_q),
        .middle2_i(middle2_q), .sum_i(sums_i[Lane*SumBits +: SumBits]),
        .table_byte_i(bytes[d*8 +: 8]), .product_o(sum_terms_o[Lane*17 +: 17]),
        .result_o(data[Lane*8 +: 8])
      );
    end
  end

  // Results, and the end of the instruction: its last pixel has left the lanes and all
  // places are written.
  rhz_engine_fifo #(.Width(In * 8), .Depth(2 * Depth)) u_results_out (
    .clk_i, .rst_ni, .credit_o(result_room), .take_i(fire && result),
    .push_i(maximum_q ? results[4] : table_q ? results[5]
            : add_q ? results[Last-1] : results[Last]), .push_data_i(data),
    .out_valid_o(wr_valid_o), .out_ready_i(wr_ready_i), .out_data_o(wr_data_o)
  );
  rhz_delay #(.Width(1), .Stages(Last)) u_ended (.clk_i, .data_i(note_ends), .data_o(ended));
  always_ff @(posedge clk_i) begin
    if (!rst_ni || done) ended_q <= 1'b0;
    else if (pixels[Last] && ended) ended_q <= 1'b1;
  end
  assign done = ended_q && !place_valid && !here_q;
  logic unused_valids;
  assign unused_valids = &{1'b0, pixels, results};
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What overlapping words of a row are made of: three words in a row of bytes that moves
// on under them, and the next one, which comes at most every second cycle. load_i begins
// a box whose rows have words_i words, tail_i bytes in the last one (0: all), and whose
// first column sees left_i bytes before the row. While run_i is high a row passes:
// ready_o, then a step_i for each of its words, of which last_i is the last one of a
// column and row_last_i of the row. A column is step_i bytes after the one before. The
// word is at byte at_o of words_o, which begins with the column's word that is next.
// Bytes outside of the row are pad_i. What a row has left is dropped; until then idle_o
// is low.
module rhz_engine_window #(
  parameter int In         = 16,
  parameter int WordsWidth = 11
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  load_i,
  input  logic [WordsWidth-1:0] words_i,
  input  logic [$clog2(In)-1:0] tail_i,
  input  logic [$clog2(In):0]   left_i,
  input  logic [$clog2(In):0]   stride_i,
  input  logic [7:0]            pad_i,
  output logic                  idle_o,
  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic [8*In-1:0]       in_data_i,
  input  logic                  run_i,
  output logic                  ready_o,
  input  logic                  step_i,
  input  logic                  column_last_i,
  input  logic                  row_last_i,
  output logic                  second_o,
  output logic [$clog2(In)-1:0] at_o,
  output logic [3*8*In-1:0]     words_o
);
  localparam int Low = $clog2(In);

  logic [WordsWidth-1:0] row_words_q, left_words_q;
  logic [Low:0] stride_q, next_q;
  logic [Low-1:0] first_q, at_q;
  logic [7:0] pad_q;
  logic [In-1:0] tail_q;
  logic is_before_q, flush_q, second_q, from_row, is_there, moves, shift, begins;
  logic some_q, one_q;    // left_words_q is not 0, is 1
  logic here_q;           // the row's next word is in a register
  logic [1:0] fill_q;

  // A row begins with three words in the window, the first of them before the row if
  // the first column sees any of it.
  assign from_row   = (here_q || some_q) && !(fill_q == 2'd3 && is_before_q);
  assign is_there   = here_q || !from_row;
  assign moves      = column_last_i && !row_last_i && next_q[Low];
  assign ready_o    = !flush_q && fill_q == '0 && (!moves || is_there);
  assign shift      = run_i && !flush_q && is_there && ((fill_q != '0) || (step_i && moves));
  assign in_ready_o = some_q && (flush_q || (run_i && !here_q));
  assign begins     = load_i || (flush_q && !some_q);
  assign idle_o     = !flush_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)                              flush_q <= 1'b0;
    else if (begins)                          flush_q <= 1'b0;
    else if (run_i && step_i && row_last_i)   flush_q <= 1'b1;
  end
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      row_words_q <= words_i;
      stride_q    <= stride_i;
      first_q     <= Low'(-left_i);
      is_before_q <= left_i != '0;
      pad_q       <= pad_i;
      tail_q      <= (tail_i == '0) ? '1 : ~({In{1'b1}} << tail_i);
    end
    if (begins || (shift && from_row)) here_q <= 1'b0;
    else if (in_ready_o && in_valid_i) here_q <= 1'b1;
    if (begins) begin
      left_words_q <= load_i ? words_i : row_words_q;
      some_q       <= 1'b1;
      one_q        <= (load_i ? words_i : row_words_q) == WordsWidth'(1);
    end else if (in_ready_o && in_valid_i) begin
      left_words_q <= left_words_q - WordsWidth'(1);
      some_q       <= !one_q;
      one_q        <= left_words_q == WordsWidth'(2);
    end
    if (begins)                        fill_q <= 2'd3;
    else if (shift && fill_q != '0)    fill_q <= fill_q - 2'd1;
    if (fill_q != '0) begin
      at_q   <= first_q;
      next_q <= {1'b0, first_q} + stride_q;
    end else if (step_i && column_last_i) begin
      at_q   <= next_q[Low-1:0];
      next_q <= {1'b0, next_q[Low-1:0]} + stride_q;
    end
    if (fill_q != '0)                  second_q <= 1'b0;
    else if (step_i)                   second_q <= !column_last_i;
  end

  logic [3*8*In-1:0] words_q;
  logic [8*In-1:0] word, word_q;
  always_ff @(posedge clk_i)
    if (!here_q)
      for (int i = 0; i < In; i++)
        word_q[8*i +: 8] <= (!one_q || tail_q[i]) ? in_data_i[8*i +: 8] : pad_q;
  assign word = from_row ? word_q : {In{pad_q}};
  always_ff @(posedge clk_i) if (shift) words_q <= {word, words_q[3*8*In-1:8*In]};
  assign words_o  = words_q;
  assign at_o     = at_q;
  assign second_o = second_q;
endmodule

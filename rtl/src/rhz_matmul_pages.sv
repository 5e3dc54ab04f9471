// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The buffered operand of a matrix product: two pages of memory, of which one is
// filled from a stream while the other one is read. A page holds Matrices
// matrices, each Words words of Banks banks of Lanes elements. The stream comes
// in lines of Beats beats: line l of a matrix goes into bank l mod Banks, its
// beats BeatStep words apart; Banks lines later, GroupStep words further. The
// lines of a matrix follow each other or, with Interleaved = 1, a line of every
// matrix comes before the next one.
// Each matrix of a page is read Rows times in a row, in the order of its words,
// and the page Passes times. ready_o: there is a page to read; data_o has the
// word of a firing (step_i) Stages + 1 cycles later. What no line fills is zero
// as far as sums contain it: lanes from LastLanes on of a line's last beat and,
// with Clear = 1, banks after that of the last line.
module rhz_matmul_pages #(
  parameter int Elem        = 8,
  parameter int Lanes       = 1,
  parameter int Banks       = 1,
  parameter int Lines       = 1,
  parameter int Beats       = 1,
  parameter int BeatStep    = 1,
  parameter int GroupStep   = 1,
  parameter int LastLanes   = Lanes,
  parameter int Clear       = 0,
  parameter int Words       = 1,
  parameter int Matrices    = 1,
  parameter int Interleaved = 0,
  parameter int Rows        = 1,
  parameter int Passes      = 1,
  parameter int Stages      = 2,
  parameter int Ultra       = 0
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        in_valid_i,
  output logic                        in_ready_o,
  input  logic [Lanes*Elem-1:0]       in_data_i,
  output logic                        ready_o,
  input  logic                        step_i,
  output logic [Banks*Lanes*Elem-1:0] data_o
);
  localparam int Page   = Matrices * Words;
  localparam int AddrW  = $clog2(2 * Page);
  localparam int Range  = 1 << AddrW;
  localparam int Groups = (Lines + Banks - 1) / Banks;
  localparam int Tail   = Lines - (Groups - 1) * Banks;   // lines of the last group
  localparam int BankW  = (Banks > 1) ? $clog2(Banks) : 1;

  // A page is full from the cycle after its last beat, and free again from the
  // cycle after its last firing.
  logic write, written, read_done, write_page_q, read_page_q;
  logic [1:0] full_q, fills, frees;
  assign fills      = {written && write_page_q, written && !write_page_q};
  assign frees      = {read_done && read_page_q, read_done && !read_page_q};
  assign in_ready_o = write_page_q ? !full_q[1] : !full_q[0];
  assign write      = in_valid_i && in_ready_o;
  assign ready_o    = read_page_q ? full_q[1] : full_q[0];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_page_q <= 1'b0;
      read_page_q  <= 1'b0;
      full_q       <= 2'b00;
    end else begin
      if (written) write_page_q <= !write_page_q;
      if (read_done) read_page_q <= !read_page_q;
      full_q <= (full_q | fills) & ~frees;
    end
  end

  // The place of a beat.
  logic beat_last, line_last, matrix_last, line_step, matrix_step;
  assign line_step   = write && beat_last && ((Interleaved == 0) || matrix_last);
  assign matrix_step = write && beat_last && ((Interleaved != 0) || line_last);
  assign written     = write && beat_last && line_last && matrix_last;
  logic [((Beats > 1) ? $clog2(Beats) : 1)-1:0] unused_beat;
  logic [((Lines > 1) ? $clog2(Lines) : 1)-1:0] unused_line;
  logic [((Matrices > 1) ? $clog2(Matrices) : 1)-1:0] unused_matrix;
  rhz_counter #(.Count(Beats)) u_beat (
    .clk_i, .rst_ni, .en_i(write), .value_o(unused_beat), .last_o(beat_last)
  );
  rhz_counter #(.Count(Lines)) u_line (
    .clk_i, .rst_ni, .en_i(line_step), .value_o(unused_line), .last_o(line_last)
  );
  rhz_counter #(.Count(Matrices)) u_matrix (
    .clk_i, .rst_ni, .en_i(matrix_step), .value_o(unused_matrix), .last_o(matrix_last)
  );

  logic [BankW-1:0] bank_q;
  logic bank_last;
  if (Banks == 1) begin : gen_one_bank
    assign bank_q    = '0;
    assign bank_last = 1'b1;
  end else begin : gen_bank
    assign bank_last = bank_q == BankW'(Banks - 1);
    always_ff @(posedge clk_i) begin
      if (!rst_ni)        bank_q <= '0;
      else if (line_step) bank_q <= (bank_last || line_last) ? '0 : bank_q + BankW'(1);
    end
  end

  localparam int Back = (Beats - 1) * BeatStep;
  logic [AddrW-1:0] write_addr_q, write_step;
  always_comb begin
    write_step = AddrW'(BeatStep);
    if (beat_last) begin
      if (Interleaved != 0 && !matrix_last)
        write_step = AddrW'(Range + Words - Back);
      else if (line_last)
        write_step = AddrW'(1);
      else if (Interleaved != 0)
        write_step = bank_last ? AddrW'(2 * Range + GroupStep - Back - (Matrices - 1) * Words)
                               : AddrW'(2 * Range - Back - (Matrices - 1) * Words);
      else
        write_step = bank_last ? AddrW'(Range + GroupStep - Back) : AddrW'(Range - Back);
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni)                      write_addr_q <= '0;
    else if (written && write_page_q) write_addr_q <= '0;
    else if (write)                   write_addr_q <= write_addr_q + write_step;
  end

  // The beat waits in registers for a cycle.
  logic [AddrW-1:0] write_addr1_q;
  logic [Lanes*Elem-1:0] beat_q, cleared;
  logic [Banks-1:0] select_q;
  logic clear_q;
  always_ff @(posedge clk_i) begin
    write_addr1_q <= write_addr_q;
    clear_q       <= line_last;
    for (int l = 0; l < Lanes; l++)
      beat_q[l*Elem +: Elem] <=
          (l >= LastLanes && beat_last) ? '0 : in_data_i[l*Elem +: Elem];
  end
  assign cleared = clear_q ? '0 : beat_q;
  for (genvar b = 0; b < Banks; b++) begin : gen_select
    always_ff @(posedge clk_i) begin
      if (!rst_ni) select_q[b] <= 1'b0;
      else         select_q[b] <= write && (bank_q == BankW'(b) || (b >= Tail && line_last));
    end
  end
  if (Clear == 0 || Tail == Banks) begin : gen_unused
    logic unused;
    assign unused = &{1'b0, cleared};
  end

  // The word of a firing.
  logic word_last, row_last, read_matrix_last, pass_last, row_step, read_step, pass_step;
  assign row_step  = step_i && word_last;
  assign read_step = row_step && row_last;
  assign pass_step = read_step && read_matrix_last;
  assign read_done = pass_step && pass_last;
  logic [((Words > 1) ? $clog2(Words) : 1)-1:0] unused_word;
  logic [((Rows > 1) ? $clog2(Rows) : 1)-1:0] unused_row;
  logic [((Matrices > 1) ? $clog2(Matrices) : 1)-1:0] unused_read_matrix;
  logic [((Passes > 1) ? $clog2(Passes) : 1)-1:0] unused_pass;
  rhz_counter #(.Count(Words)) u_word (
    .clk_i, .rst_ni, .en_i(step_i), .value_o(unused_word), .last_o(word_last)
  );
  rhz_counter #(.Count(Rows)) u_row (
    .clk_i, .rst_ni, .en_i(row_step), .value_o(unused_row), .last_o(row_last)
  );
  rhz_counter #(.Count(Matrices)) u_read_matrix (
    .clk_i, .rst_ni, .en_i(read_step), .value_o(unused_read_matrix), .last_o(read_matrix_last)
  );
  rhz_counter #(.Count(Passes)) u_pass (
    .clk_i, .rst_ni, .en_i(pass_step), .value_o(unused_pass), .last_o(pass_last)
  );
  logic [AddrW-1:0] read_addr_q, read_addr1_q, read_move;
  always_comb begin
    read_move = AddrW'(1);
    if (word_last && !row_last)
      read_move = AddrW'(Range + 1 - Words);
    else if (word_last && read_matrix_last && !pass_last)
      read_move = AddrW'(Range + 1 - Page);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni)                       read_addr_q <= '0;
    else if (read_done && read_page_q) read_addr_q <= '0;
    else if (step_i)                   read_addr_q <= read_addr_q + read_move;
  end
  always_ff @(posedge clk_i) read_addr1_q <= read_addr_q;

  for (genvar b = 0; b < Banks; b++) begin : gen_memory
    logic [Lanes*Elem-1:0] data;
    assign data = (Clear != 0 && b >= Tail) ? cleared : beat_q;
    if (Ultra != 0) begin : gen_ultra
      (* ram_style = "ultra", ramstyle = "no_rw_check" *) logic [Lanes*Elem-1:0] mem [0:2*Page-1];
      logic [Lanes*Elem-1:0] word_q;
      always_ff @(posedge clk_i) begin
        if (select_q[b]) mem[write_addr1_q] <= data;
        word_q <= mem[read_addr1_q];
      end
      rhz_delay #(.Width(Lanes * Elem), .Stages(Stages - 1)) u_out (
        .clk_i, .data_i(word_q), .data_o(data_o[b*Lanes*Elem +: Lanes*Elem])
      );
    end else begin : gen_free
      rhz_sdpram #(.Width(Lanes * Elem), .Words(2 * Page), .Stages(Stages)) u_memory (
        .clk_i, .we_i(select_q[b]), .waddr_i(write_addr1_q), .wdata_i(data),
        .re_i(1'b1), .raddr_i(read_addr1_q), .rdata_o(data_o[b*Lanes*Elem +: Lanes*Elem])
      );
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory and inner loops of rhz_window with the whole kernel a beat: group,
// repeat, word. A row in which a window ends is stored as columns: every word
// holds the kernel's rows of one pixel, so that no rows are multiplexed. A short
// history of the rows above makes these columns as pixels come. NB banks, NB a
// power of two, span the columns of a beat. Where positions overlap, the output
// register shifts and only new columns are selected. Data comes five cycles
// after read_i, [kh][column][g]; columns that several pixels share come once
// (Columns, from rhz_window).
module rhz_window_parallel #(
  parameter int Elem = 8, parameter int Height = 4, parameter int Width = 4,
  parameter int KernelH = 3, parameter int KernelW = 3,
  parameter int StrideH = 1, parameter int StrideW = 1,
  parameter int DilationH = 1, parameter int DilationW = 1,
  parameter int PadTop = 0, parameter int PadLeft = 0, parameter int OutHeight = 2,
  parameter int PadValue = 0, parameter int Lanes = 1, parameter int Groups = 1,
  parameter int GroupWords = 1, parameter int Repeat = 1,
  parameter int PixelsIn = 1, parameter int PixelsOut = 1,
  parameter int Rows = 4, parameter int XW = 8, parameter int YW = 8,
  parameter int WordW = 1, parameter int OutRowW = 1,
  parameter int Columns = PixelsOut * KernelW
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           write_i,
  input  logic [WordW-1:0]               in_word_i,
  input  logic                           in_word_last_i,
  input  logic                           in_row_end_i,
  input  logic [PixelsIn*Lanes*Elem-1:0] in_data_i,
  input  logic                           read_i,
  input  logic                           row_end_i,
  input  logic [OutRowW-1:0]             out_row_i,
  input  logic signed [XW-1:0]           x_i,
  input  logic signed [YW-1:0]           y_i,
  output logic                           position_last_o,
  output logic [KernelH*Columns*Lanes*Elem-1:0] data_o
);
  function automatic int gcd(input int a, input int b);
    int u;
    int v;
    int w;
    u = a;
    v = b;
    while (v != 0) begin
      w = u % v;
      u = v;
      v = w;
    end
    gcd = u;
  endfunction

  localparam int Words  = GroupWords * Groups;
  localparam int Span   = (PixelsOut - 1) * StrideW + (KernelW - 1) * DilationW + 1;
  localparam int Banks  = 1 << $clog2((Span > PixelsIn) ? Span : PixelsIn);
  localparam int Blocks = (Width + Banks - 1) / Banks;
  localparam int OffW   = (Banks > 1) ? $clog2(Banks) : 1;
  localparam int GE     = Lanes * Elem;
  localparam int Extent = (KernelH - 1) * DilationH + 1;

  // The window of output row oy ends in row low(oy), or in the frame's first or
  // last row: these rows are stored. The last row serves all windows that
  // overrun it, by up to Over rows.
  localparam int LastLow = (OutHeight - 1) * StrideH - PadTop + Extent - 1;
  localparam int Over    = (LastLow > Height - 1) ? LastLow - (Height - 1) : 0;
  function automatic int stored_row(input int oy);
    int low;
    low = oy * StrideH - PadTop + Extent - 1;
    stored_row = (low < 0) ? 0 : (low > Height - 1) ? Height - 1 : low;
  endfunction
  function automatic logic [Height-1:0] stored_rows(input int count);
    logic [Height-1:0] rows;
    int oy;
    rows = '0;
    for (oy = 0; oy < count; oy = oy + 1) rows = rows | (Height'(1) << stored_row(oy));
    stored_rows = rows;
  endfunction
  function automatic logic [OutHeight-1:0] advances(input int count);
    logic [OutHeight-1:0] rows;
    int oy;
    rows = '0;
    for (oy = 0; oy < count; oy = oy + 1)
      if (oy == count - 1 || stored_row(oy) != stored_row(oy + 1))
        rows = rows | (OutHeight'(1) << oy);
    advances = rows;
  endfunction
  localparam logic [Height-1:0]    Stored  = stored_rows(OutHeight);
  localparam logic [OutHeight-1:0] Advance = advances(OutHeight);

  // Stored rows that may lie in memory at once: from the one that is read to
  // the last that the writer may reach, Rows behind the oldest row in use.
  function automatic int slots_needed(input int count);
    int oldest, reach, live, whole, position, oy, y, most;
    whole = 0;   // stored rows of a frame
    for (y = 0; y < Height; y = y + 1) whole = whole + (((Stored >> y) & 1) != 0 ? 1 : 0);
    most     = 1;
    reach    = 0;   // rows below this are counted
    live     = 0;   // stored ones among them, less those that have been read
    position = 0;   // reach modulo Height
    for (oy = 0; oy < count; oy = oy + 1) begin
      oldest = oy * StrideH - PadTop;
      oldest = (oldest < 0) ? 0 : (oldest > Height) ? Height : oldest;
      live   = live + whole * ((oldest + Rows - reach) / Height);
      reach  = reach + Height * ((oldest + Rows - reach) / Height);
      while (reach < oldest + Rows) begin
        live     = live + (((Stored >> position) & 1) != 0 ? 1 : 0);
        position = (position == Height - 1) ? 0 : position + 1;
        reach    = reach + 1;
      end
      if (live > most) most = live;
      if (((Advance >> oy) & 1) != 0) live = live - 1;
    end
    slots_needed = most;
  endfunction
  localparam int Slots    = slots_needed(OutHeight);
  localparam int RowWords = Blocks * Words;
  localparam int MemWords = Slots * RowWords;
  localparam int AW       = (MemWords > 1) ? $clog2(MemWords) : 1;

  // A word holds WordRows rows, RowStep apart, the last one in its high bits.
  localparam int RowStep  = (Over > 0) ? 1 : DilationH;
  localparam int WordRows = (Extent - 1) / RowStep + 1;

  // Five stages: addresses, LateRead more, the memory (a shallow one is LUTs and
  // needs no output register), kernel rows if windows overrun, columns. What
  // is written later than read could be lost, hence LateWrite.
  localparam int MemStages = (MemWords <= 64) ? 1 : 2;
  localparam int RowStages = (Over > 0) ? 1 : 0;
  localparam int LateRead  = 3 - MemStages - RowStages;
  localparam int LateWrite = (LateRead > 1) ? 1 : 0;

  // Loops inside a position.
  localparam int GroupW = (Groups > 1) ? $clog2(Groups) : 1;
  localparam int RepW   = (Repeat > 1) ? $clog2(Repeat) : 1;
  localparam int GwW    = (GroupWords > 1) ? $clog2(GroupWords) : 1;
  logic word_last, rep_last, group_last, word_end, rep_end;
  logic [GwW-1:0]    word;
  logic [RepW-1:0]   unused_rep;
  logic [GroupW-1:0] unused_group;
  rhz_counter #(.Count(GroupWords)) u_word (
    .clk_i, .rst_ni, .en_i(read_i), .value_o(word), .last_o(word_last)
  );
  rhz_counter #(.Count(Repeat)) u_rep (
    .clk_i, .rst_ni, .en_i(word_end), .value_o(unused_rep), .last_o(rep_last)
  );
  rhz_counter #(.Count(Groups)) u_group (
    .clk_i, .rst_ni, .en_i(rep_end), .value_o(unused_group), .last_o(group_last)
  );
  assign word_end = read_i && word_last;
  assign rep_end  = word_end && rep_last;
  assign position_last_o = word_last && rep_last && group_last;

  // Address of the block in which the position's left column lies: a step moves
  // by BlockStep blocks, and one more when the offset wraps.
  localparam int Step      = PixelsOut * StrideW;
  localparam int BlockStep = Step / Banks;
  localparam int FirstOff  = (Banks - PadLeft % Banks) % Banks;
  localparam int FirstBlock = (PadLeft + FirstOff) / Banks;     // negative of it
  localparam int BA = AW + 2;
  localparam int GA = (Words > 1) ? $clog2(Words) : 1;
  logic [OffW-1:0] off;
  logic [OffW:0]   off_sum;
  logic [AW-1:0]   base;            // of the stored row that is read
  logic [BA-1:0]   left_q, left_d;  // relative to base
  logic [GA-1:0]   group_base_q, group_base_d;
  logic advance, unused_advance;
  assign advance = Advance[out_row_i];
  assign unused_advance = advance;
  if (Banks > 1) begin : gen_off
    assign off = x_i[OffW-1:0];
    assign off_sum = {1'b0, off} + (OffW+1)'(Step % Banks);
  end else begin : gen_no_off
    assign off = '0;
    assign off_sum = 2'b00;
  end
  always_comb begin
    left_d = left_q;
    if (row_end_i)
      left_d = BA'(-FirstBlock * Words);
    else if (read_i && position_last_o)
      left_d = left_q + ((off_sum[OffW] && Banks > 1) ? BA'((BlockStep + 1) * Words)
                                                      : BA'(BlockStep * Words));
    group_base_d = group_base_q;
    if (rep_end) group_base_d = group_last ? '0 : group_base_q + GA'(GroupWords);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q       <= BA'(-FirstBlock * Words);
      group_base_q <= '0;
    end else begin
      left_q       <= left_d;
      group_base_q <= group_base_d;
    end
  end
  rhz_window_slot #(.Slots(Slots), .Step(RowWords), .Width(AW)) u_read_slot (
    .clk_i, .rst_ni, .en_i(row_end_i && advance), .base_o(base)
  );

  // Stage 1: addresses of this and the next block.
  logic [AW-1:0]   addr_q, addr_next_q, addr_r, addr_next_r;
  logic [OffW-1:0] off_q, off_r;
  always_ff @(posedge clk_i) begin
    addr_q      <= base + AW'(left_q) + AW'(group_base_q) + AW'(word);
    addr_next_q <= base + AW'(left_q) + AW'(group_base_q) + AW'(word) + AW'(Words);
    off_q       <= off;
  end
  rhz_delay #(.Width(2 * AW + OffW), .Stages(LateRead)) u_late_read (
    .clk_i, .data_i({addr_q, addr_next_q, off_q}), .data_o({addr_r, addr_next_r, off_r})
  );

  // What the columns' stage needs: the offset, what lies inside the frame, and
  // whether the beat begins a position or a row.
  localparam logic signed [YW-1:0] FullRow = YW'(Height - Extent);
  logic [KernelH-1:0] row_in, row_in4;
  logic [Columns-1:0] col_in, col_in4;
  logic [OffW-1:0] off4;
  logic first_q, row_first_q, begins4, row_first4;
  for (genvar kh = 0; kh < KernelH; kh++) begin : gen_row_in
    logic signed [YW-1:0] row;
    logic over;
    assign row = y_i + YW'(kh * DilationH);
    rhz_at_least #(.Width(YW - 1), .Bound(Height)) u_over (
      .value_i(row[YW-2:0]), .yes_o(over)
    );
    assign row_in[kh] = row >= 0 && !over;
  end
  for (genvar c = 0; c < Columns; c++) begin : gen_col_in
    localparam int At = (Columns == Span) ? c : (c / KernelW) * StrideW + (c % KernelW) * DilationW;
    logic signed [XW-1:0] col;
    logic over;
    assign col = x_i + XW'(At);
    rhz_at_least #(.Width(XW - 1), .Bound(Width)) u_over (
      .value_i(col[XW-2:0]), .yes_o(over)
    );
    assign col_in[c] = col >= 0 && !over;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q     <= 1'b1;
      row_first_q <= 1'b1;
    end else if (read_i) begin
      first_q     <= position_last_o;
      if (position_last_o) row_first_q <= row_end_i;
    end
  end
  rhz_delay #(.Width(KernelH + Columns + OffW + 2), .Stages(4)) u_columns (
    .clk_i, .data_i({row_in, col_in, off, read_i && first_q, row_first_q}),
    .data_o({row_in4, col_in4, off4, begins4, row_first4})
  );

  // Writer: Banks/PixelsIn steps a block.
  localparam int Turns    = Banks / PixelsIn;
  localparam int TurnW    = (Turns > 1) ? $clog2(Turns) : 1;
  localparam int InRowW   = (Height > 1) ? $clog2(Height) : 1;
  localparam int RowBeats = ((Width + PixelsIn - 1) / PixelsIn) * Words;
  localparam int BeatW    = (RowBeats > 1) ? $clog2(RowBeats) : 1;
  localparam int QGE      = PixelsIn * GE;
  logic [TurnW-1:0]  turn_q, turn1_q, turn_w;
  logic [AW-1:0]     block_q, in_base, waddr_q, waddr_w;
  logic [InRowW-1:0] in_row;
  logic [BeatW-1:0]  beat, beat_q, beat_w, beat_read;
  logic [QGE-1:0]    wdata_q, wdata_w;
  logic unused_row_last, unused_beat_last, stored, stored_w, write_q, stored_q, write_w;
  rhz_counter #(.Count(Height)) u_in_row (
    .clk_i, .rst_ni, .en_i(write_i && in_row_end_i), .value_o(in_row), .last_o(unused_row_last)
  );
  rhz_counter #(.Count(RowBeats)) u_beat (
    .clk_i, .rst_ni, .en_i(write_i), .value_o(beat), .last_o(unused_beat_last)
  );
  assign stored = Stored[in_row];
  rhz_window_slot #(.Slots(Slots), .Step(RowWords), .Width(AW)) u_write_slot (
    .clk_i, .rst_ni, .en_i(write_i && in_row_end_i && stored), .base_o(in_base)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q  <= '0;
      block_q <= '0;
      write_q <= 1'b0;
    end else begin
      write_q <= write_i;
      if (write_i && in_row_end_i) begin
        turn_q  <= '0;
        block_q <= '0;
      end else if (write_i && in_word_last_i) begin
        turn_q  <= (turn_q == TurnW'(Turns - 1)) ? '0 : turn_q + TurnW'(1);
        if (turn_q == TurnW'(Turns - 1)) block_q <= block_q + AW'(Words);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    stored_q <= stored;
    turn1_q  <= turn_q;
    beat_q   <= beat;
    waddr_q  <= in_base + block_q + AW'(in_word_i);
    wdata_q  <= in_data_i;
  end
  if (LateWrite == 1) begin : gen_late_write
    always_ff @(posedge clk_i) begin
      if (!rst_ni) write_w <= 1'b0;
      else         write_w <= write_q;
    end
    assign beat_read = beat_q;
  end else begin : gen_write
    assign write_w   = write_q;
    assign beat_read = beat;
  end
  rhz_delay #(.Width(1 + TurnW + BeatW + AW + QGE), .Stages(LateWrite)) u_late_write (
    .clk_i, .data_i({stored_q, turn1_q, beat_q, waddr_q, wdata_q}),
    .data_o({stored_w, turn_w, beat_w, waddr_w, wdata_w})
  );

  // The rows above, the newest first; and the columns with the new row.
  localparam int Ages = Extent - 1;
  logic [PixelsIn*WordRows*GE-1:0] column_w;
  logic unused_history;
  if (Ages == 0) begin : gen_no_history
    assign column_w = wdata_w;
    assign unused_history = &{1'b0, beat_read, beat_w};
  end else begin : gen_history
    logic [Ages*QGE-1:0] above, above_d;
    if (Ages == 1) begin : gen_one
      assign above_d = wdata_w;
    end else begin : gen_more
      assign above_d = {above[(Ages-1)*QGE-1:0], wdata_w};
    end
    if (RowBeats == 1) begin : gen_register
      always_ff @(posedge clk_i) if (write_w) above <= above_d;
      assign unused_history = &{1'b0, beat_read, beat_w, above};
    end else begin : gen_memory
      rhz_sdpram #(.Width(Ages * QGE), .Words(RowBeats), .Stages(1)) u_above (
        .clk_i, .we_i(write_w), .waddr_i(beat_w), .wdata_i(above_d),
        .re_i(1'b1), .raddr_i(beat_read), .rdata_o(above)
      );
      assign unused_history = &{1'b0, above};
    end
    for (genvar q = 0; q < PixelsIn; q++) begin : gen_pixel
      for (genvar j = 0; j < WordRows; j++) begin : gen_row
        localparam int Age = (WordRows - 1 - j) * RowStep;
        if (Age == 0) begin : gen_new
          assign column_w[(q*WordRows+j)*GE +: GE] = wdata_w[q*GE +: GE];
        end else begin : gen_old
          assign column_w[(q*WordRows+j)*GE +: GE] = above[(Age-1)*QGE+q*GE +: GE];
        end
      end
    end
  end

  logic [Banks*WordRows*GE-1:0] rdata;   // [bank][row of the word]
  logic unused_reads;
  assign unused_reads = &{1'b0, addr_next_r, off_r, turn_w};
  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic [AW-1:0] raddr;
    // Banks left of the offset hold columns of the next block.
    if (b == Banks - 1) begin : gen_last
      assign raddr = addr_r;
    end else begin : gen_before
      assign raddr = (off_r > OffW'(b)) ? addr_next_r : addr_r;
    end
    rhz_sdpram #(.Width(WordRows * GE), .Words(MemWords), .Stages(MemStages)) u_mem (
      .clk_i, .we_i(write_w && stored_w && turn_w == TurnW'(b / PixelsIn)),
      .waddr_i(waddr_w), .wdata_i(column_w[(b%PixelsIn)*WordRows*GE +: WordRows*GE]),
      .re_i(1'b1), .raddr_i(raddr), .rdata_o(rdata[b*WordRows*GE +: WordRows*GE])
    );
  end

  // Kernel row kh is row kh·DilationH of the word, and lower by what the window
  // overruns the frame.
  logic [KernelH*Banks*GE-1:0] rows;   // stage 4, [kh][bank]
  logic unused_rows;
  assign unused_rows = &{1'b0, rows, rdata};
  localparam int OverW = $clog2(Over + 2);
  logic [OverW-1:0] over3;
  if (Over > 0) begin : gen_over
    logic signed [YW-1:0] past;
    logic [OverW-1:0] over;
    assign past = y_i - FullRow;
    assign over = (past > 0) ? OverW'(past) : '0;
    rhz_delay #(.Width(OverW), .Stages(3)) u_over (.clk_i, .data_i(over), .data_o(over3));
  end else begin : gen_within
    assign over3 = '0;
  end
  for (genvar kh = 0; kh < KernelH; kh++) begin : gen_kernel_row
    logic [Banks*GE-1:0] row;
    if (Over > 0) begin : gen_choose
      localparam int Choices = (Over < Extent - kh * DilationH) ? Over + 1 : Extent - kh * DilationH;
      localparam int SelW = (Choices > 1) ? $clog2(Choices) : 1;
      logic [Choices*Banks*GE-1:0] choices;
      for (genvar v = 0; v < Choices; v++) begin : gen_choice
        for (genvar b = 0; b < Banks; b++) begin : gen_bank
          assign choices[(v*Banks+b)*GE +: GE] =
              rdata[(b*WordRows+kh*DilationH+v)*GE +: GE];
        end
      end
      rhz_mux #(.Width(Banks * GE), .Count(Choices)) u_mux (
        .sel_i(SelW'(over3)), .data_i(choices), .data_o(row)
      );
      always_ff @(posedge clk_i) rows[kh*Banks*GE +: Banks*GE] <= row;
    end else begin : gen_wire
      for (genvar b = 0; b < Banks; b++) begin : gen_bank
        assign row[b*GE +: GE] = rdata[(b*WordRows+kh)*GE +: GE];
      end
      assign rows[kh*Banks*GE +: Banks*GE] = row;
    end
  end
  logic unused_over;
  assign unused_over = &{1'b0, over3};

  // The column At right of the left one lies in bank (off + At) mod Banks; off
  // keeps its remainder modulo OffGrid.
  localparam int OffGrid = gcd(Banks, Step % Banks);
  localparam int Offs    = Banks / OffGrid;
  localparam int OffSelW = (Offs > 1) ? $clog2(Offs) : 1;
  localparam bit Shifts  = Columns == Span && Words == 1;
  localparam logic [Elem-1:0] Pad = Elem'(PadValue);
  logic [OffSelW-1:0] off_sel;
  logic unused_columns;
  assign unused_columns = &{1'b0, off4, begins4, row_first4, col_in4};
  if (Offs > 1) begin : gen_off_sel
    assign off_sel = off4[OffW-1 -: OffSelW];
  end else begin : gen_no_off_sel
    assign off_sel = '0;
  end
  for (genvar c = 0; c < Columns; c++) begin : gen_column
    localparam int At = (Columns == Span) ? c : (c / KernelW) * StrideW + (c % KernelW) * DilationW;
    localparam int FirstBank = (FirstOff + At) % Banks;
    localparam bit Inside = At >= PadLeft && At - PadLeft < Width;
    for (genvar kh = 0; kh < KernelH; kh++) begin : gen_kh
      logic [GE-1:0] picked;
      if (Shifts && c + Step < Span) begin : gen_shift
        // A row's first position loads all its columns, the others shift.
        always_comb begin
          picked = rows[(kh*Banks+FirstBank)*GE +: GE];
          if (!Inside || !row_in4[kh]) picked = {Lanes{Pad}};
          if (!row_first4) picked = data_o[(kh*Columns+c+Step)*GE +: GE];
        end
      end else begin : gen_pick
        logic [Offs*GE-1:0] choices;
        logic [GE-1:0] chosen;
        for (genvar i = 0; i < Offs; i++) begin : gen_choice
          localparam int Bank = (i * OffGrid + FirstOff % OffGrid + At) % Banks;
          assign choices[i*GE +: GE] = rows[(kh*Banks+Bank)*GE +: GE];
        end
        rhz_mux #(.Width(GE), .Count(Offs)) u_mux (
          .sel_i(off_sel), .data_i(choices), .data_o(chosen)
        );
        assign picked = (row_in4[kh] && col_in4[c]) ? chosen : {Lanes{Pad}};
      end
      always_ff @(posedge clk_i)
        if (begins4 || !Shifts) data_o[(kh*Columns+c)*GE +: GE] <= picked;
    end
  end
endmodule

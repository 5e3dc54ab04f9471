// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory and inner loops of rhz_window with one kernel element a beat: group,
// repeat, kernel row, kernel column, word. One memory (PixelsIn column banks)
// of Rows rows; addresses advance by constants. Data comes four cycles after
// read_i.
module rhz_window_serial #(
  parameter int Elem = 8, parameter int Height = 4, parameter int Width = 4,
  parameter int KernelH = 3, parameter int KernelW = 3,
  parameter int StrideH = 1, parameter int StrideW = 1,
  parameter int DilationH = 1, parameter int DilationW = 1,
  parameter int PadTop = 0, parameter int PadLeft = 0, parameter int OutHeight = 2,
  parameter int PadValue = 0, parameter int Lanes = 1, parameter int Groups = 1,
  parameter int GroupWords = 1, parameter int Repeat = 1, parameter int PixelsIn = 1,
  parameter int Rows = 4, parameter int Ultra = 0, parameter int XW = 8, parameter int YW = 8
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           write_i,
  input  logic                           in_row_end_i,
  input  logic [PixelsIn*Lanes*Elem-1:0] in_data_i,
  input  logic                           read_i,
  input  logic                           row_end_i,
  input  logic                           frame_end_i,
  input  logic signed [XW-1:0]           x_i,
  input  logic signed [YW-1:0]           y_i,
  output logic                           position_last_o,
  output logic [Lanes*Elem-1:0]          data_o
);
  localparam int Words    = GroupWords * Groups;
  localparam int RowWords = ((Width + PixelsIn - 1) / PixelsIn) * Words;
  localparam int MemWords = Rows * RowWords;
  localparam int AW       = (MemWords > 1) ? $clog2(MemWords) : 1;
  localparam int RA       = $clog2(2 * MemWords + 1);        // row bases and their sums
  localparam int BankBits = $clog2(PixelsIn);
  localparam int BW       = (BankBits > 0) ? BankBits : 1;
  // Columns times words, signed, with room for every kernel column.
  localparam int CW = XW + $clog2(Words + 1) + 1;

  // Loops inside a position.
  localparam int GroupW = (Groups > 1) ? $clog2(Groups) : 1;
  localparam int RepW   = (Repeat > 1) ? $clog2(Repeat) : 1;
  localparam int KhW    = (KernelH > 1) ? $clog2(KernelH) : 1;
  localparam int KwW    = (KernelW > 1) ? $clog2(KernelW) : 1;
  localparam int GwW    = (GroupWords > 1) ? $clog2(GroupWords) : 1;
  logic word_last, kw_last, kh_last, rep_last, group_last;
  logic word_end, kw_end, kh_end, rep_end;
  logic [GwW-1:0]    word;
  logic [KwW-1:0]    unused_kw;
  logic [KhW-1:0]    unused_kh;
  logic [RepW-1:0]   unused_rep;
  logic [GroupW-1:0] unused_group;
  rhz_counter #(.Count(GroupWords)) u_word (
    .clk_i, .rst_ni, .en_i(read_i), .value_o(word), .last_o(word_last)
  );
  rhz_counter #(.Count(KernelW)) u_kw (
    .clk_i, .rst_ni, .en_i(word_end), .value_o(unused_kw), .last_o(kw_last)
  );
  rhz_counter #(.Count(KernelH)) u_kh (
    .clk_i, .rst_ni, .en_i(kw_end), .value_o(unused_kh), .last_o(kh_last)
  );
  rhz_counter #(.Count(Repeat)) u_rep (
    .clk_i, .rst_ni, .en_i(kh_end), .value_o(unused_rep), .last_o(rep_last)
  );
  rhz_counter #(.Count(Groups)) u_group (
    .clk_i, .rst_ni, .en_i(rep_end), .value_o(unused_group), .last_o(group_last)
  );
  assign word_end = read_i && word_last;
  assign kw_end   = word_end && kw_last;
  assign kh_end   = kw_end && kh_last;
  assign rep_end  = kh_end && rep_last;
  assign position_last_o = word_last && kw_last && kh_last && rep_last && group_last;

  // Row bases, modulo MemWords: of the position's top row and of the kernel row.
  localparam int TopStep   = (StrideH % Rows) * RowWords;
  localparam int FrameStep =
      ((Height - (OutHeight - 1) * StrideH) % Rows + Rows) % Rows * RowWords;
  localparam int KernelStep = (DilationH % Rows) * RowWords;
  localparam int FirstTop   = (Rows - PadTop % Rows) % Rows * RowWords;
  // Every sum is there before it is known which is wanted; the sign of the one
  // around the memory's end tells whether it is.
  logic [RA-1:0] top_q, top_d, base_q, base_d;
  logic [RA-1:0] row_top, frame_top, kernel_base, row_around, frame_around, kernel_around;
  assign row_around    = top_q + RA'(TopStep - MemWords);
  assign frame_around  = top_q + RA'(FrameStep - MemWords);
  assign kernel_around = base_q + RA'(KernelStep - MemWords);
  assign row_top     = row_around[RA-1]    ? top_q + RA'(TopStep)     : row_around;
  assign frame_top   = frame_around[RA-1]  ? top_q + RA'(FrameStep)   : frame_around;
  assign kernel_base = kernel_around[RA-1] ? base_q + RA'(KernelStep) : kernel_around;
  always_comb begin
    top_d = top_q;
    if (frame_end_i)    top_d = frame_top;
    else if (row_end_i) top_d = row_top;
    base_d = base_q;
    if (kh_end)      base_d = top_d;
    else if (kw_end) base_d = kernel_base;
  end

  // Kernel row and column in the frame, for the padding; column words.
  logic signed [YW-1:0] row_q;
  logic signed [CW-1:0] col_q, col_d, left_q, left_d;
  localparam int GA = (Words > 1) ? $clog2(Words) : 1;
  logic [GA-1:0] group_base_q, group_base_d;
  always_comb begin
    left_d = left_q;
    if (row_end_i)                       left_d = CW'(-PadLeft * Words);
    else if (read_i && position_last_o)  left_d = left_q + CW'(StrideW * Words);
    col_d = col_q;
    if (kw_end)        col_d = left_d;
    else if (word_end) col_d = col_q + CW'(DilationW * Words);
    group_base_d = group_base_q;
    if (rep_end) group_base_d = group_last ? '0 : group_base_q + GA'(GroupWords);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      top_q        <= RA'(FirstTop);
      base_q       <= RA'(FirstTop);
      row_q        <= YW'(-PadTop);
      left_q       <= CW'(-PadLeft * Words);
      col_q        <= CW'(-PadLeft * Words);
      group_base_q <= '0;
    end else begin
      top_q        <= top_d;
      base_q       <= base_d;
      if (frame_end_i)    row_q <= YW'(-PadTop);
      else if (row_end_i) row_q <= y_i + YW'(StrideH);
      else if (kh_end)    row_q <= y_i;
      else if (kw_end)    row_q <= row_q + YW'(DilationH);
      left_q       <= left_d;
      col_q        <= col_d;
      group_base_q <= group_base_d;
    end
  end

  // Stage 1: address, bank and padding; stage 2 and 3: memory; stage 4: choice.
  logic [CW-1:0] block;
  logic unused;
  assign unused = &{1'b0, x_i, block};
  logic row_over, col_over, pad, pad_q, pad3;
  logic [AW-1:0] raddr_q;
  logic [BW-1:0] bank_q, bank3;
  rhz_at_least #(.Width(YW - 1), .Bound(Height)) u_row_over (
    .value_i(row_q[YW-2:0]), .yes_o(row_over)
  );
  rhz_at_least #(.Width(CW - 1), .Bound(Width * Words)) u_col_over (
    .value_i(col_q[CW-2:0]), .yes_o(col_over)
  );
  assign pad   = row_q < 0 || row_over || col_q < 0 || col_over;
  assign block = col_q >>> BankBits;
  always_ff @(posedge clk_i) begin
    raddr_q <= AW'(base_q) + AW'(block) + AW'(group_base_q) + AW'(word);
    pad_q   <= pad;
    bank_q  <= (BankBits > 0) ? col_q[BW-1:0] : '0;
  end
  rhz_delay #(.Width(1 + BW), .Stages(2)) u_choice (
    .clk_i, .data_i({pad_q, bank_q}), .data_o({pad3, bank3})
  );

  // Writer: addresses run through the memory once around.
  logic [AW-1:0] waddr, waddr_q;
  logic unused_waddr_last, unused_row_end;
  logic we_q;
  logic [PixelsIn*Lanes*Elem-1:0] wdata_q;
  assign unused_row_end = in_row_end_i;
  rhz_counter #(.Count(MemWords)) u_waddr (
    .clk_i, .rst_ni, .en_i(write_i), .value_o(waddr), .last_o(unused_waddr_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) we_q <= 1'b0;
    else         we_q <= write_i;
  end
  always_ff @(posedge clk_i) begin
    waddr_q <= waddr;
    wdata_q <= in_data_i;
  end

  logic [PixelsIn*Lanes*Elem-1:0] rdata;
  for (genvar b = 0; b < PixelsIn; b++) begin : gen_bank
    rhz_sdpram #(.Width(Lanes * Elem), .Words(MemWords), .Stages(2), .Ultra(Ultra)) u_mem (
      .clk_i, .we_i(we_q), .waddr_i(waddr_q),
      .wdata_i(wdata_q[b*Lanes*Elem +: Lanes*Elem]),
      .re_i(1'b1), .raddr_i(raddr_q), .rdata_o(rdata[b*Lanes*Elem +: Lanes*Elem])
    );
  end

  localparam logic [Elem-1:0] Pad = Elem'(PadValue);
  logic [Lanes*Elem-1:0] picked;
  always_comb begin
    picked = rdata[Lanes*Elem-1:0];
    for (int b = 1; b < PixelsIn; b++)
      if (bank3 == BW'(b)) picked = rdata[b*Lanes*Elem +: Lanes*Elem];
  end
  always_ff @(posedge clk_i) data_o <= pad3 ? {Lanes{Pad}} : picked;
endmodule

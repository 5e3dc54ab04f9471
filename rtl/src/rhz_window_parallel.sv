// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory and inner loops of rhz_window with the whole kernel a beat: group,
// repeat, word. Rows x NB banks, NB a power of two that spans the columns of a
// beat; row slots and bank offsets rotate by constants and the multiplexers see
// only reachable rotations. Data comes five cycles after read_i, [kh][column][g];
// columns that several pixels share come once (Columns, from rhz_window).
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
  parameter int WordW = 1,
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
  input  logic                           frame_end_i,
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
  localparam int MemWords = Blocks * Words;
  localparam int AW     = (MemWords > 1) ? $clog2(MemWords) : 1;
  localparam int OffW   = (Banks > 1) ? $clog2(Banks) : 1;
  localparam int GE     = Lanes * Elem;

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

  // Slot of the position's top row, modulo Rows. It keeps its remainder modulo
  // SlotGrid, so only the quotient moves.
  localparam int TopStep   = StrideH % Rows;
  localparam int FrameStep = ((Height - (OutHeight - 1) * StrideH) % Rows + Rows) % Rows;
  localparam int FirstTop  = (Rows - PadTop % Rows) % Rows;
  localparam int SlotGrid  = gcd(gcd(Rows, TopStep), FrameStep);
  localparam int Slots     = Rows / SlotGrid;
  localparam int SlotW     = $clog2(2 * Slots);
  logic [SlotW-1:0] top_q, top_d, top_sum;
  always_comb begin
    top_sum = top_q;
    if (frame_end_i)    top_sum = top_q + SlotW'(FrameStep / SlotGrid);
    else if (row_end_i) top_sum = top_q + SlotW'(TopStep / SlotGrid);
    top_d = (top_sum >= SlotW'(Slots)) ? top_sum - SlotW'(Slots) : top_sum;
  end

  // Address of the block in which the position's left column lies: a step moves
  // by BlockStep blocks, and one more when the offset wraps.
  localparam int Step      = PixelsOut * StrideW;
  localparam int BlockStep = Step / Banks;
  localparam int FirstOff  = (Banks - PadLeft % Banks) % Banks;
  localparam int FirstBlock = (PadLeft + FirstOff) / Banks;     // negative of it
  localparam int BA = AW + 2;
  logic [OffW-1:0] off;
  logic [OffW:0]   off_sum;
  logic [BA-1:0]   left_q, left_d;
  localparam int GA = (Words > 1) ? $clog2(Words) : 1;
  logic [GA-1:0] group_base_q, group_base_d;
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
      top_q        <= SlotW'(FirstTop / SlotGrid);
      left_q       <= BA'(-FirstBlock * Words);
      group_base_q <= '0;
    end else begin
      top_q        <= top_d;
      left_q       <= left_d;
      group_base_q <= group_base_d;
    end
  end

  // Stage 1: addresses of this and the next block, padding; stages 2 and 3:
  // memories; stage 4: kernel rows; stage 5: columns and padding.
  logic [AW-1:0]   addr_q, addr_next_q;
  logic [OffW-1:0] off_q, off3, off4;
  logic [SlotW-1:0] top1_q, top3;
  logic [KernelH-1:0] row_in, row_in4;
  logic [Columns-1:0] col_in, col_in4;
  always_ff @(posedge clk_i) begin
    addr_q      <= AW'(left_q) + AW'(group_base_q) + AW'(word);
    addr_next_q <= AW'(left_q) + AW'(group_base_q) + AW'(word) + AW'(Words);
    off_q       <= off;
    top1_q      <= top_q;
  end
  for (genvar kh = 0; kh < KernelH; kh++) begin : gen_row_in
    logic signed [YW-1:0] row;
    assign row = y_i + YW'(kh * DilationH);
    assign row_in[kh] = row >= 0 && row < YW'(Height);
  end
  for (genvar c = 0; c < Columns; c++) begin : gen_col_in
    localparam int At = (Columns == Span) ? c : (c / KernelW) * StrideW + (c % KernelW) * DilationW;
    logic signed [XW-1:0] col;
    assign col = x_i + XW'(At);
    assign col_in[c] = col >= 0 && col < XW'(Width);
  end
  rhz_delay #(.Width(SlotW + OffW), .Stages(2)) u_rotations (
    .clk_i, .data_i({top1_q, off_q}), .data_o({top3, off3})
  );
  rhz_delay #(.Width(KernelH + Columns), .Stages(4)) u_inside (
    .clk_i, .data_i({row_in, col_in}), .data_o({row_in4, col_in4})
  );
  always_ff @(posedge clk_i) off4 <= off3;

  // Writer: Banks/PixelsIn steps a block.
  localparam int Turns = Banks / PixelsIn;
  localparam int TurnW = (Turns > 1) ? $clog2(Turns) : 1;
  localparam int InSlotW = (Rows > 1) ? $clog2(Rows) : 1;
  logic [TurnW-1:0] turn_q, turn1_q;
  logic [AW-1:0]    block_q, waddr_q;
  logic [InSlotW-1:0] slot, slot_q;
  logic unused_slot_last, we_q;
  logic [PixelsIn*GE-1:0] wdata_q;
  rhz_counter #(.Count(Rows)) u_slot (
    .clk_i, .rst_ni, .en_i(write_i && in_row_end_i), .value_o(slot), .last_o(unused_slot_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q  <= '0;
      block_q <= '0;
      we_q    <= 1'b0;
    end else begin
      we_q <= write_i;
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
    turn1_q <= turn_q;
    slot_q  <= slot;
    waddr_q <= block_q + AW'(in_word_i);
    wdata_q <= in_data_i;
  end

  logic unused_addr_next;
  assign unused_addr_next = &{1'b0, addr_next_r, off_r, turn_r, slot_r};
  // A shallow memory is LUTs: it is written and read a cycle later and needs no
  // output register.
  localparam int Late = (MemWords <= 64) ? 1 : 0;
  logic [AW-1:0] addr_r, addr_next_r, waddr_r;
  logic [OffW-1:0] off_r;
  logic [TurnW-1:0] turn_r;
  logic [InSlotW-1:0] slot_r;
  logic [PixelsIn*GE-1:0] wdata_r;
  logic we_r;
  rhz_delay #(.Width(3 * AW + OffW + TurnW + InSlotW + PixelsIn * GE), .Stages(Late)) u_late (
    .clk_i,
    .data_i({addr_q, addr_next_q, waddr_q, off_q, turn1_q, slot_q, wdata_q}),
    .data_o({addr_r, addr_next_r, waddr_r, off_r, turn_r, slot_r, wdata_r})
  );
  if (Late == 1) begin : gen_late
    always_ff @(posedge clk_i) begin
      if (!rst_ni) we_r <= 1'b0;
      else         we_r <= we_q;
    end
  end else begin : gen_straight
    assign we_r = we_q;
  end

  logic [Rows*Banks*GE-1:0] rdata;   // stage 3, [slot][bank]
  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic [AW-1:0] raddr;
    // Banks left of the offset hold columns of the next block.
    if (b == Banks - 1) begin : gen_last
      assign raddr = addr_r;
    end else begin : gen_before
      assign raddr = (off_r > OffW'(b)) ? addr_next_r : addr_r;
    end
    for (genvar r = 0; r < Rows; r++) begin : gen_row
      logic we;
      assign we = we_r && slot_r == InSlotW'(r) && turn_r == TurnW'(b / PixelsIn);
      rhz_sdpram #(.Width(GE), .Words(MemWords), .Stages(2 - Late)) u_mem (
        .clk_i, .we_i(we), .waddr_i(waddr_r),
        .wdata_i(wdata_r[(b%PixelsIn)*GE +: GE]),
        .re_i(1'b1), .raddr_i(raddr), .rdata_o(rdata[(r*Banks+b)*GE +: GE])
      );
    end
  end

  // Kernel row kh lies in slot (top + kh·DilationH) mod Rows.
  localparam int SlotSelW = (Slots > 1) ? $clog2(Slots) : 1;
  logic [KernelH*Banks*GE-1:0] rows_d, rows_q;   // [kh][bank]
  logic unused_rows;
  assign unused_rows = &{1'b0, rdata, rows_q, top3};
  for (genvar kh = 0; kh < KernelH; kh++) begin : gen_kernel_row
    logic [Slots*Banks*GE-1:0] choices;
    for (genvar i = 0; i < Slots; i++) begin : gen_choice
      localparam int Slot = (i * SlotGrid + FirstTop % SlotGrid + kh * DilationH) % Rows;
      assign choices[i*Banks*GE +: Banks*GE] = rdata[Slot*Banks*GE +: Banks*GE];
    end
    rhz_mux #(.Width(Banks * GE), .Count(Slots)) u_mux (
      .sel_i(top3[SlotSelW-1:0]), .data_i(choices),
      .data_o(rows_d[kh*Banks*GE +: Banks*GE])
    );
  end
  always_ff @(posedge clk_i) rows_q <= rows_d;

  // The column At right of the left one lies in bank (off + At) mod Banks; off
  // keeps its remainder modulo OffGrid.
  localparam int OffGrid = gcd(Banks, Step % Banks);
  localparam int Offs    = Banks / OffGrid;
  localparam int OffSelW = (Offs > 1) ? $clog2(Offs) : 1;
  localparam logic [Elem-1:0] Pad = Elem'(PadValue);
  logic [OffSelW-1:0] off_sel;
  logic unused_off;
  assign unused_off = &{1'b0, off4};
  if (Offs > 1) begin : gen_off_sel
    assign off_sel = off4[OffW-1 -: OffSelW];
  end else begin : gen_no_off_sel
    assign off_sel = '0;
  end
  for (genvar c = 0; c < Columns; c++) begin : gen_column
    localparam int At = (Columns == Span) ? c : (c / KernelW) * StrideW + (c % KernelW) * DilationW;
    for (genvar kh = 0; kh < KernelH; kh++) begin : gen_kh
      logic [Offs*GE-1:0] choices;
      logic [GE-1:0] picked;
      for (genvar i = 0; i < Offs; i++) begin : gen_choice
        localparam int Bank = (i * OffGrid + FirstOff % OffGrid + At) % Banks;
        assign choices[i*GE +: GE] = rows_q[(kh*Banks+Bank)*GE +: GE];
      end
      rhz_mux #(.Width(GE), .Count(Offs)) u_mux (
        .sel_i(off_sel), .data_i(choices), .data_o(picked)
      );
      always_ff @(posedge clk_i)
        data_o[(kh*Columns+c)*GE +: GE] <= (row_in4[kh] && col_in4[c]) ? picked : {Lanes{Pad}};
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores rows of a frame and reads sliding windows. This cell decides when a
// beat may be written (row counters) and when a position may be read (newest
// pixel it needs); the addresses and memories lie in rhz_window_serial
// (KernelParallel = 0, one kernel element a beat) and rhz_window_parallel.
// Latency, fire to visible: 4 + V serial, 5 + V parallel.
module rhz_window #(
  parameter int Elem      = 8,
  parameter int Channels  = 1,
  parameter int Height    = 4,
  parameter int Width     = 4,
  parameter int KernelH   = 3,
  parameter int KernelW   = 3,
  parameter int StrideH   = 1,
  parameter int StrideW   = 1,
  parameter int DilationH = 1,
  parameter int DilationW = 1,
  parameter int PadTop    = 0,
  parameter int PadLeft   = 0,
  parameter int OutHeight = 2,
  parameter int OutWidth  = 2,
  parameter int PadValue  = 0,
  parameter int Lanes     = 1,
  parameter int Groups    = 1,
  parameter int Repeat    = 1,
  parameter int KernelParallel = 0,
  parameter int PixelsIn  = 1,
  parameter int PixelsOut = 1,
  parameter int Rows      = 4,
  parameter int Ultra     = 0,   // 1: the rows in UltraRAM
  parameter int Depth     = 2,
  parameter int Latency   = 0,
  parameter int OutLanes  =
      Lanes * ((KernelParallel != 0) ? PixelsOut * KernelH * KernelW : 1)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           in_valid_i,
  output logic                           in_ready_o,
  input  logic [PixelsIn*Lanes*Elem-1:0] in_data_i,
  output logic                           out_valid_o,
  input  logic                           out_ready_i,
  output logic [OutLanes*Elem-1:0]       out_data_o
);
  localparam int Stages = (KernelParallel != 0) ? 5 : 4;
  localparam int Lat    = Stages + ((Depth > 64) ? 2 : 1);
  localparam int Words  = (Channels + Lanes - 1) / Lanes;   // a pixel
  localparam int GroupWords = Words / Groups;
  localparam int InCols  = (Width + PixelsIn - 1) / PixelsIn;  // input steps a row
  localparam int OutCols = (OutWidth + PixelsOut - 1) / PixelsOut;
  localparam int Extent  = (KernelH - 1) * DilationH + 1;
  localparam int Needed  = (Height < Extent) ? Height : Extent;
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_window: Latency %0d given, %0d built", Latency, Lat);
  end
  if (Rows < Needed) begin : gen_bad_rows
    initial $fatal(1, "rhz_window: %0d Rows, %0d are needed", Rows, Needed);
  end
  if (Words % Groups != 0) begin : gen_bad_groups
    initial $fatal(1, "rhz_window: %0d words a pixel do not divide into %0d groups",
                   Words, Groups);
  end
  if (PixelsOut > 1 && KernelParallel == 0) begin : gen_bad_pixels
    initial $fatal(1, "rhz_window: %0d PixelsOut need KernelParallel", PixelsOut);
  end
  if ((PixelsOut > 1 || PixelsIn > 1) && (Lanes != Channels || Groups != 1)) begin : gen_bad_lanes
    initial $fatal(1, "rhz_window: several pixels a beat need Lanes = Channels, Groups = 1");
  end
  if ((PixelsIn & (PixelsIn - 1)) != 0) begin : gen_bad_pixels_in
    initial $fatal(1, "rhz_window: %0d PixelsIn, a power of two is needed", PixelsIn);
  end

  // Row numbers run over all frames modulo 2^RowW; differences stay below
  // 3·Height + Rows in magnitude, so that their sign is the top bit.
  localparam int RowW = $clog2(3 * Height + Rows + StrideH + 2) + 1;

  // Writer.
  logic write, in_word_last, in_col_last, in_row_end;
  localparam int WordW = (Words > 1) ? $clog2(Words) : 1;
  localparam int ColW  = (InCols > 1) ? $clog2(InCols) : 1;
  logic [WordW-1:0] in_word;
  logic [ColW-1:0]  in_col;
  logic [RowW-1:0]  in_row_q;
  logic room_q;   // the row that comes next may be written
  rhz_counter #(.Count(Words)) u_in_word (
    .clk_i, .rst_ni, .en_i(write), .value_o(in_word), .last_o(in_word_last)
  );
  rhz_counter #(.Count(InCols)) u_in_col (
    .clk_i, .rst_ni, .en_i(write && in_word_last), .value_o(in_col), .last_o(in_col_last)
  );
  assign in_row_end = in_word_last && in_col_last;
  assign in_ready_o = room_q;
  assign write      = in_valid_i && room_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)                  in_row_q <= '0;
    else if (write && in_row_end) in_row_q <= in_row_q + RowW'(1);
  end

  // Reader: the loops around a position.
  logic read, credit, row_last, col_last, position_last, row_end, frame_end;
  localparam int OutRowW = (OutHeight > 1) ? $clog2(OutHeight) : 1;
  localparam int OutColW = (OutCols > 1) ? $clog2(OutCols) : 1;
  logic [OutRowW-1:0] out_row;
  logic [OutColW-1:0] unused_col;
  rhz_counter #(.Count(OutCols)) u_col (
    .clk_i, .rst_ni, .en_i(read && position_last), .value_o(unused_col), .last_o(col_last)
  );
  rhz_counter #(.Count(OutHeight)) u_row (
    .clk_i, .rst_ni, .en_i(row_end), .value_o(out_row), .last_o(row_last)
  );
  assign row_end   = read && position_last && col_last;
  assign frame_end = row_end && row_last;

  // Top row and left column of the position.
  localparam int YW = $clog2(OutHeight * StrideH + Height + PadTop + Extent + 1) + 1;
  localparam int WideW = (PixelsOut - 1) * StrideW + (KernelW - 1) * DilationW;
  localparam int StepX = PixelsOut * StrideW;
  localparam int XW = $clog2((OutCols * PixelsOut) * StrideW + Width + PadLeft + WideW + PixelsIn + 1) + 1;
  logic signed [YW-1:0] y_q, y_d;
  logic signed [XW-1:0] x_q, x_d;
  logic advance;
  assign advance = read && position_last;
  always_comb begin
    x_d = x_q;
    y_d = y_q;
    if (advance) x_d = x_q + XW'(StepX);
    if (row_end) begin
      x_d = XW'(-PadLeft);
      y_d = y_q + YW'(StrideH);
    end
    if (frame_end) y_d = YW'(-PadTop);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      x_q <= XW'(-PadLeft);
      y_q <= YW'(-PadTop);
    end else begin
      x_q <= x_d;
      y_q <= y_d;
    end
  end

  // The last row that may be written, now (limit0) and once this output row is
  // done (limit1): Rows - 1 above the oldest that later output rows need.
  // rise_q is that row of the output row behind, before it is clamped.
  localparam int RiseFirst = StrideH - PadTop;
  localparam int RiseLast  = RiseFirst + (OutHeight - 1) * StrideH;
  localparam int RiseNext  = (OutHeight > 1) ? RiseFirst + StrideH : RiseFirst;
  localparam int FirstRelease =
      (OutHeight == 1 || RiseFirst > Height) ? Height : (RiseFirst < 0) ? 0 : RiseFirst;
  logic signed [YW-1:0] rise_q;
  logic [RowW-1:0] base_q, limit0_q, limit1_q, left0, left1, over0, over1;
  // Sums come before choices, as below.
  logic [RowW-1:0] risen, base_end;
  logic rise_last, rise_over, fills, unused_left;
  assign unused_left = &{1'b0, left0, left1, over0, over1};
  assign rise_last   = OutHeight == 1 || rise_q == YW'(RiseLast);
  rhz_at_least #(.Width(YW - 1), .Bound(Height)) u_rise_over (
    .value_i(rise_q[YW-2:0]), .yes_o(rise_over)
  );
  assign risen       = base_q + RowW'(rise_q);
  assign base_end    = base_q + RowW'(Height);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rise_q   <= YW'(RiseNext);
      base_q   <= RowW'(Rows - 1 + ((OutHeight > 1) ? 0 : Height));
      limit0_q <= RowW'(Rows - 1);
      limit1_q <= RowW'(Rows - 1 + FirstRelease);
    end else if (row_end) begin
      rise_q   <= rise_last ? YW'(RiseFirst) : rise_q + YW'(StrideH);
      if (rise_last) base_q <= base_end;
      limit0_q <= limit1_q;
      limit1_q <= rise_last ? base_end : (rise_q < 0) ? base_q : rise_over ? base_end : risen;
    end
  end
  assign left0 = limit0_q - in_row_q;
  assign left1 = limit1_q - in_row_q;
  assign over0 = in_row_q - limit0_q;
  assign over1 = in_row_q - limit1_q;
  assign fills = write && in_row_end;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)      room_q <= 1'b1;
    else if (row_end) room_q <= fills ? over1[RowW-1] : !left1[RowW-1];
    else              room_q <= fills ? over0[RowW-1] : !left0[RowW-1];
  end

  // What the position (need0) and the next one (need1) need of the frames, and
  // the lowest row and the rightmost column of the one behind that: nothing but
  // an enable depends on whether the reader advances. Row and column of the
  // second position are what the walk starts with; the third comes in the first
  // cycle (start_q), before anything can be read.
  localparam int LowFirst = Extent - 1 - PadTop;
  localparam int LowLast  = LowFirst + (OutHeight - 1) * StrideH;
  localparam int FarFirst = WideW - PadLeft;
  localparam int FarLast  = FarFirst + (OutCols - 1) * StepX;
  localparam int FarNext  = (OutCols > 1) ? FarFirst + StepX : FarFirst;
  localparam int LowNext  = (OutCols == 1 && OutHeight > 1) ? LowFirst + StrideH : LowFirst;
  localparam int FrameNext = (OutCols == 1 && OutHeight == 1) ? Height : 0;
  localparam int FirstNeedRow =
      (LowFirst < 0) ? 0 : (LowFirst > Height - 1) ? Height - 1 : LowFirst;
  localparam int FirstNeedCol =
      ((FarFirst < 0) ? 0 : (FarFirst > Width - 1) ? Width - 1 : FarFirst) / PixelsIn;
  logic signed [YW-1:0] low_q, low_d;
  logic signed [XW-1:0] far_q, far_d, clamped_x;
  logic [RowW-1:0] ahead_q, ahead_d, ahead_low, ahead_end, need0_row_q, need1_row_q;
  assign ahead_low = ahead_q + RowW'(low_q);
  assign ahead_end = ahead_q + RowW'(Height - 1);
  logic [ColW-1:0] need0_col_q, need1_col_q;
  logic start_q, low_over, far_over, unused_clamped;
  assign unused_clamped = &{1'b0, clamped_x};
  // Meant where they are not negative.
  rhz_at_least #(.Width(YW - 1), .Bound(Height)) u_low_over (
    .value_i(low_q[YW-2:0]), .yes_o(low_over)
  );
  rhz_at_least #(.Width(XW - 1), .Bound(Width)) u_far_over (
    .value_i(far_q[XW-2:0]), .yes_o(far_over)
  );
  always_comb begin
    clamped_x = far_q;
    if (far_q < 0)     clamped_x = '0;
    else if (far_over) clamped_x = XW'(Width - 1);
    far_d   = far_q + XW'(StepX);
    low_d   = low_q;
    ahead_d = ahead_q;
    // With a single one, synthesis sees that it stays.
    if (OutCols == 1 || far_q == XW'(FarLast)) begin
      far_d = XW'(FarFirst);
      low_d = low_q + YW'(StrideH);
      if (OutHeight == 1 || low_q == YW'(LowLast)) begin
        low_d   = YW'(LowFirst);
        ahead_d = ahead_q + RowW'(Height);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      start_q     <= 1'b1;
      far_q       <= XW'(FarNext);
      low_q       <= YW'(LowNext);
      ahead_q     <= RowW'(FrameNext);
      need0_row_q <= RowW'(FirstNeedRow);
      need0_col_q <= ColW'(FirstNeedCol);
    end else begin
      start_q <= 1'b0;
      if (advance || start_q) begin
        far_q   <= far_d;
        low_q   <= low_d;
        ahead_q <= ahead_d;
      end
      if (advance) begin
        need0_row_q <= need1_row_q;
        need0_col_q <= need1_col_q;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (advance || start_q) begin
      need1_row_q <= (low_q < 0) ? ahead_q : low_over ? ahead_end : ahead_low;
      need1_col_q <= ColW'(clamped_x >>> $clog2(PixelsIn));
    end
  end

  // Whether the need will be met in the next cycle: of this or the next
  // position, with this cycle's write or without. Row and column compare as one
  // number, by the sign of a difference.
  localparam int PlaceW = RowW + ColW;
  logic [PlaceW-1:0] place, more0, more1, less0, less1;
  logic step, met_q, unused_places;
  assign unused_places = &{1'b0, more0, more1, less0, less1};
  assign place = {in_row_q, in_col};
  assign more0 = {need0_row_q, need0_col_q} - place;
  assign more1 = {need1_row_q, need1_col_q} - place;
  assign less0 = place - {need0_row_q, need0_col_q};
  assign less1 = place - {need1_row_q, need1_col_q};
  assign step  = write && in_word_last;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)      met_q <= 1'b0;
    else if (advance) met_q <= step ? !less1[PlaceW-1] : more1[PlaceW-1];
    else              met_q <= step ? !less0[PlaceW-1] : more0[PlaceW-1];
  end
  assign read = credit && met_q;

  logic [Stages:0] valid;
  logic unused_valid;
  assign unused_valid = &{1'b0, valid[Stages-1:0]};
  rhz_valid #(.Stages(Stages)) u_valid (
    .clk_i, .rst_ni, .valid_i(read), .valid_o(valid)
  );

  // With several pixels a beat the buffer holds every column once, [kh][column],
  // and the output repeats them by wiring.
  localparam int Span    = WideW + 1;
  localparam int Columns = (KernelParallel == 0) ? 1
                         : (Span <= PixelsOut * KernelW) ? Span : PixelsOut * KernelW;
  localparam int BufferWidth =
      Lanes * Elem * ((KernelParallel != 0) ? KernelH * Columns : 1);
  logic [BufferWidth-1:0] data, buffer;
  if (KernelParallel == 0) begin : gen_serial
    rhz_window_serial #(
      .Elem(Elem), .Height(Height), .Width(Width), .KernelH(KernelH), .KernelW(KernelW),
      .StrideH(StrideH), .StrideW(StrideW), .DilationH(DilationH), .DilationW(DilationW),
      .PadTop(PadTop), .PadLeft(PadLeft), .OutHeight(OutHeight), .PadValue(PadValue),
      .Lanes(Lanes), .Groups(Groups), .GroupWords(GroupWords), .Repeat(Repeat),
      .PixelsIn(PixelsIn), .Rows(Rows), .Ultra(Ultra), .XW(XW), .YW(YW)
    ) u_serial (
      .clk_i, .rst_ni, .write_i(write), .in_row_end_i(in_row_end), .in_data_i,
      .read_i(read), .row_end_i(row_end), .frame_end_i(frame_end), .x_i(x_q), .y_i(y_q),
      .position_last_o(position_last), .data_o(data)
    );
    logic unused;
    assign unused = &{1'b0, in_word, out_row};
  end else begin : gen_parallel
    rhz_window_parallel #(
      .Elem(Elem), .Height(Height), .Width(Width), .KernelH(KernelH), .KernelW(KernelW),
      .StrideH(StrideH), .StrideW(StrideW), .DilationH(DilationH), .DilationW(DilationW),
      .PadTop(PadTop), .PadLeft(PadLeft), .OutHeight(OutHeight), .PadValue(PadValue),
      .Lanes(Lanes), .Groups(Groups), .GroupWords(GroupWords), .Repeat(Repeat),
      .PixelsIn(PixelsIn), .PixelsOut(PixelsOut), .Rows(Rows), .XW(XW), .YW(YW),
      .WordW(WordW), .OutRowW(OutRowW), .Columns(Columns)
    ) u_parallel (
      .clk_i, .rst_ni, .write_i(write), .in_word_i(in_word), .in_word_last_i(in_word_last),
      .in_row_end_i(in_row_end), .in_data_i,
      .read_i(read), .row_end_i(row_end), .out_row_i(out_row), .x_i(x_q), .y_i(y_q),
      .position_last_o(position_last), .data_o(data)
    );
  end

  rhz_outbuf #(.Width(BufferWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(read), .push_i(valid[Stages]),
    .push_data_i(data), .out_valid_o, .out_ready_i, .out_data_o(buffer)
  );
  if (KernelParallel == 0) begin : gen_one
    assign out_data_o = buffer;
  end else begin : gen_expand
    localparam int GE = Lanes * Elem;
    for (genvar p = 0; p < PixelsOut; p++) begin : gen_p
      for (genvar kw = 0; kw < KernelW; kw++) begin : gen_kw
        localparam int C = (Columns == Span) ? p * StrideW + kw * DilationW : p * KernelW + kw;
        for (genvar kh = 0; kh < KernelH; kh++) begin : gen_kh
          assign out_data_o[((p*KernelH+kh)*KernelW+kw)*GE +: GE] =
              buffer[(kh*Columns+C)*GE +: GE];
        end
      end
    end
    logic unused_buffer;
    assign unused_buffer = &{1'b0, buffer};
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stores rows of a frame like rhz_window and reads the windows of a tile together:
// TileRows rows of OutWidth positions each. Inside a tile an element of the kernel
// comes for all positions, one after another, before the next one comes; the tile
// is read Repeat times. Loops from the outside: tile, repeat, kernel row, kernel
// column, word, frame, row and column of the position. A tile may be read as soon
// as the rows that it needs are complete. Data comes four cycles after a read;
// latency, fire to visible: 4 + V.
// With several Frames, a tile has the positions of as many whole frames. It begins
// a cycle after they are there, or, if there are fewer, once no beat has come for
// Patience cycles: batch_valid_o is high while it does, batch_o is the number of
// the last frame. In place of the others, anything is read.
module rhz_window_tiles #(
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
  parameter int Repeat    = 1,
  parameter int TileRows  = 1,
  parameter int Rows      = 4,
  parameter int Frames    = 1,
  parameter int Patience  = 1,
  parameter int Ultra     = 0,   // 1: the rows in UltraRAM
  parameter int Depth     = 2,
  parameter int Latency   = 0,
  parameter int FrameW    = (Frames > 1) ? $clog2(Frames) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic [Lanes*Elem-1:0] in_data_i,
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [Lanes*Elem-1:0] out_data_o,
  output logic                  batch_valid_o,
  input  logic                  batch_ready_i,
  output logic [FrameW-1:0]     batch_o
);
  localparam int Lat      = 4 + ((Depth > 64) ? 2 : 1);
  localparam int Words    = (Channels + Lanes - 1) / Lanes;   // a pixel
  localparam int Tiles    = OutHeight / TileRows;
  localparam int Extent   = (KernelH - 1) * DilationH + 1;
  localparam int RowWords = Width * Words;
  localparam int MemWords = Rows * RowWords;
  localparam int AW       = (MemWords > 1) ? $clog2(MemWords) : 1;
  localparam int RA       = $clog2(2 * MemWords + 1);        // row bases and their sums
  localparam int CountW   = $clog2(Rows + 1);
  if (Latency != 0 && Latency != Lat) begin : gen_bad_latency
    initial $fatal(1, "rhz_window_tiles: Latency %0d given, %0d built", Latency, Lat);
  end
  if (OutHeight % TileRows != 0) begin : gen_bad_tiles
    initial $fatal(1, "rhz_window_tiles: tiles of %0d rows do not divide %0d", TileRows,
                   OutHeight);
  end
  if (Frames > 1 && (Tiles != 1 || Rows % Height != 0 || Rows < Frames * Height)) begin : gen_bad_frames
    initial $fatal(1, "rhz_window_tiles: no room for %0d whole frames", Frames);
  end

  // Per tile: the complete rows that must be stored, from the oldest one in use on,
  // and how many of them are free after it.
  function automatic int clamped(input int row, input int most);
    clamped = (row < 0) ? 0 : (row > most) ? most : row;
  endfunction
  function automatic int oldest(input int tile);
    oldest = (tile >= Tiles) ? Height : clamped(tile * TileRows * StrideH - PadTop, Height);
  endfunction
  function automatic int needed(input int tile);
    int rows;
    rows = clamped((tile * TileRows + TileRows - 1) * StrideH - PadTop + Extent - 1, Height - 1) + 1;
    needed = ((rows > oldest(tile + 1)) ? rows : oldest(tile + 1)) - oldest(tile);
  endfunction
  function automatic int freed(input int tile);
    freed = oldest(tile + 1) - oldest(tile);
  endfunction
  function automatic int most_needed(input int count);
    int tile;
    most_needed = 0;
    for (tile = 0; tile < count; tile = tile + 1)
      if (needed(tile) > most_needed) most_needed = needed(tile);
  endfunction
  function automatic logic [Tiles*CountW-1:0] all_needed(input int count);
    logic [Tiles*CountW-1:0] rows;
    int tile;
    rows = '0;
    for (tile = 0; tile < count; tile = tile + 1)
      rows = rows | ((Tiles*CountW)'(needed(tile)) << (tile * CountW));
    all_needed = rows;
  endfunction
  function automatic logic [Tiles*CountW-1:0] all_freed(input int count);
    logic [Tiles*CountW-1:0] rows;
    int tile;
    rows = '0;
    for (tile = 0; tile < count; tile = tile + 1)
      rows = rows | ((Tiles*CountW)'(freed(tile)) << (tile * CountW));
    all_freed = rows;
  endfunction
  localparam logic [Tiles*CountW-1:0] Needed = all_needed(Tiles);
  localparam logic [Tiles*CountW-1:0] Freed  = all_freed(Tiles);
  if (Rows < most_needed(Tiles)) begin : gen_bad_rows
    initial $fatal(1, "rhz_window_tiles: %0d Rows, %0d are needed", Rows, most_needed(Tiles));
  end

  // Loops of the reader.
  localparam int WordW = (Words > 1) ? $clog2(Words) : 1;
  localparam int TileW = (Tiles > 1) ? $clog2(Tiles) : 1;
  localparam int ColW  = (OutWidth > 1) ? $clog2(OutWidth) : 1;
  localparam int RowW  = (TileRows > 1) ? $clog2(TileRows) : 1;
  localparam int KhW   = (KernelH > 1) ? $clog2(KernelH) : 1;
  localparam int KwW   = (KernelW > 1) ? $clog2(KernelW) : 1;
  localparam int RepW  = (Repeat > 1) ? $clog2(Repeat) : 1;
  logic read, credit, may_read;
  logic col_last, row_last, frame_last, word_last, kw_last, kh_last, rep_last, tile_last;
  logic col_end, row_end, frame_end, word_end, kw_end, kh_end, tile_end;
  logic [WordW-1:0] word;
  logic [TileW-1:0] tile;
  logic [ColW-1:0]  unused_col;
  logic [RowW-1:0]  unused_row;
  logic [FrameW-1:0] frame;
  logic [KhW-1:0]   unused_kh;
  logic [KwW-1:0]   unused_kw;
  logic [RepW-1:0]  unused_rep;
  rhz_counter #(.Count(OutWidth)) u_col (
    .clk_i, .rst_ni, .en_i(read), .value_o(unused_col), .last_o(col_last)
  );
  rhz_counter #(.Count(TileRows)) u_row (
    .clk_i, .rst_ni, .en_i(col_end), .value_o(unused_row), .last_o(row_last)
  );
  rhz_counter #(.Count(Frames)) u_frame (
    .clk_i, .rst_ni, .en_i(row_end), .value_o(frame), .last_o(frame_last)
  );
  rhz_counter #(.Count(Words)) u_word (
    .clk_i, .rst_ni, .en_i(frame_end), .value_o(word), .last_o(word_last)
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
  rhz_counter #(.Count(Tiles)) u_tile (
    .clk_i, .rst_ni, .en_i(tile_end), .value_o(tile), .last_o(tile_last)
  );
  assign col_end  = read && col_last;
  assign row_end  = col_end && row_last;
  assign frame_end = row_end && frame_last;
  assign word_end = frame_end && word_last;
  assign kw_end   = word_end && kw_last;
  assign kh_end   = kw_end && kh_last;
  assign tile_end = kh_end && rep_last;

  // Complete rows in the memory that are in use, or will be; with several Frames,
  // complete frames, of which each is free once its last position has been read.
  localparam int BeatW = (RowWords > 1) ? $clog2(RowWords) : 1;
  logic write, beat_last, room_q, passes;
  logic [BeatW-1:0] unused_beat;
  rhz_counter #(.Count(RowWords)) u_beat (
    .clk_i, .rst_ni, .en_i(write), .value_o(unused_beat), .last_o(beat_last)
  );
  assign in_ready_o = room_q;
  assign write      = in_valid_i && room_q;
  assign read       = credit && may_read;
  if (Frames == 1) begin : gen_rows
    logic [CountW-1:0] stored_q, stored_d;
    logic unused;
    assign unused        = &{1'b0, batch_ready_i, frame};
    assign batch_valid_o = 1'b0;
    assign batch_o       = '0;
    assign passes        = tile_end;
    assign stored_d      = stored_q + CountW'(write && beat_last)
                           - (tile_end ? Freed[tile*CountW +: CountW] : '0);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        stored_q <= '0;
        room_q   <= 1'b1;
      end else begin
        stored_q <= stored_d;
        room_q   <= stored_d != CountW'(Rows);
      end
    end
    assign may_read = stored_q >= Needed[tile*CountW +: CountW];
  end else begin : gen_frames
    localparam int Places  = Rows / Height;
    localparam int PlacesW = $clog2(Places + 1);
    localparam int InRowW  = (Height > 1) ? $clog2(Height) : 1;
    localparam int QuietW  = $clog2(Patience + 1);
    logic in_row_last, open, open_q, full, unused;
    logic [QuietW-1:0] quiet_q;    // cycles since the last beat
    logic [InRowW-1:0]  unused_in_row;
    logic [PlacesW-1:0] stored_q, stored_d;
    logic [FrameW-1:0]  newest_q;
    rhz_counter #(.Count(Height)) u_in_row (
      .clk_i, .rst_ni, .en_i(write && beat_last), .value_o(unused_in_row), .last_o(in_row_last)
    );
    assign unused   = &{1'b0, tile};
    assign passes   = row_end && word_last && kw_last && kh_last && rep_last
                      && frame <= newest_q;
    assign stored_d = stored_q + PlacesW'(write && beat_last && in_row_last) - PlacesW'(passes);
    assign full     = stored_q >= PlacesW'(Frames);
    assign batch_valid_o = !open_q && (full || (stored_q != '0 && quiet_q == QuietW'(Patience)));
    assign open     = batch_valid_o && batch_ready_i;
    assign batch_o  = full ? FrameW'(Frames - 1) : FrameW'(stored_q - PlacesW'(1));
    assign may_read = open_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        stored_q <= '0;
        room_q   <= 1'b1;
        open_q   <= 1'b0;
        quiet_q  <= '0;
      end else begin
        if (write)                            quiet_q <= '0;
        else if (quiet_q != QuietW'(Patience)) quiet_q <= quiet_q + QuietW'(1);
        stored_q <= stored_d;
        room_q   <= stored_d != PlacesW'(Places);
        open_q   <= open || (open_q && !tile_end);
      end
    end
    always_ff @(posedge clk_i) if (open) newest_q <= batch_o;
  end

  // Bases of rows, modulo MemWords, and the rows themselves, for the padding: of
  // the tile, of the kernel row in it, of the position. Every sum is there before
  // it is known which is wanted.
  localparam int TileStep  = (TileRows * StrideH % Rows) * RowWords;
  localparam int FrameStep =
      ((Height - (Tiles - 1) * TileRows * StrideH) % Rows + Rows) % Rows * RowWords;
  localparam int KernelStep = (DilationH % Rows) * RowWords;
  localparam int RowStep    = (StrideH % Rows) * RowWords;
  localparam int WholeStep  =
      ((Height - (TileRows - 1) * StrideH) % Rows + Rows) % Rows * RowWords;
  localparam int FirstTop   = (Rows - PadTop % Rows) % Rows * RowWords;
  localparam int YW = $clog2(OutHeight * StrideH + Height + PadTop + Extent + 1) + 1;
  logic [RA-1:0] top_q, top_d, kernel_q, kernel_d, base_q, base_d;
  logic [RA-1:0] tile_around, frame_around, kernel_around, row_around;
  logic [RA-1:0] next_tile, next_frame, next_kernel, next_row, next_whole;
  logic signed [YW-1:0] y_q, y_d, kernel_y_q, kernel_y_d, row_q, row_d;
  assign tile_around   = top_q + RA'(TileStep - MemWords);
  assign frame_around  = top_q + RA'(FrameStep - MemWords);
  assign kernel_around = kernel_q + RA'(KernelStep - MemWords);
  assign row_around    = base_q + RA'(RowStep - MemWords);
  assign next_tile   = tile_around[RA-1]   ? top_q + RA'(TileStep)      : tile_around;
  assign next_frame  = frame_around[RA-1]  ? top_q + RA'(FrameStep)     : frame_around;
  assign next_kernel = kernel_around[RA-1] ? kernel_q + RA'(KernelStep) : kernel_around;
  if (Frames == 1) begin : gen_one_frame
    assign next_whole = base_q;
  end else begin : gen_next_frame
    logic [RA-1:0] whole_around;
    assign whole_around = base_q + RA'(WholeStep - MemWords);
    assign next_whole   = whole_around[RA-1] ? base_q + RA'(WholeStep) : whole_around;
  end
  assign next_row    = row_around[RA-1]    ? base_q + RA'(RowStep)      : row_around;
  always_comb begin
    top_d = top_q;
    y_d   = y_q;
    if (passes) top_d = tile_last ? next_frame : next_tile;
    if (tile_end) y_d = tile_last ? YW'(-PadTop) : y_q + YW'(TileRows * StrideH);
    kernel_d   = kernel_q;
    kernel_y_d = kernel_y_q;
    if (kh_end) begin
      kernel_d   = top_d;
      kernel_y_d = y_d;
    end else if (kw_end) begin
      kernel_d   = next_kernel;
      kernel_y_d = kernel_y_q + YW'(DilationH);
    end
    base_d = base_q;
    row_d  = row_q;
    if (frame_end) begin
      base_d = kernel_d;
      row_d  = kernel_y_d;
    end else if (row_end) begin
      base_d = next_whole;
      row_d  = kernel_y_q;
    end else if (col_end) begin
      base_d = next_row;
      row_d  = row_q + YW'(StrideH);
    end
  end

  // Columns, in words: of the kernel's in the first position, and of the position.
  localparam int XW = $clog2((OutWidth * StrideW + Width + PadLeft + KernelW * DilationW + 1)
                             * Words + 1) + 1;
  logic signed [XW-1:0] left_q, left_d, col_q, col_d;
  always_comb begin
    left_d = left_q;
    if (kw_end)        left_d = XW'(-PadLeft * Words);
    else if (word_end) left_d = left_q + XW'(DilationW * Words);
    col_d = col_q;
    if (col_end)   col_d = left_d;
    else if (read) col_d = col_q + XW'(StrideW * Words);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      top_q      <= RA'(FirstTop);
      kernel_q   <= RA'(FirstTop);
      base_q     <= RA'(FirstTop);
      y_q        <= YW'(-PadTop);
      kernel_y_q <= YW'(-PadTop);
      row_q      <= YW'(-PadTop);
      left_q     <= XW'(-PadLeft * Words);
      col_q      <= XW'(-PadLeft * Words);
    end else begin
      top_q      <= top_d;
      kernel_q   <= kernel_d;
      base_q     <= base_d;
      y_q        <= y_d;
      kernel_y_q <= kernel_y_d;
      row_q      <= row_d;
      left_q     <= left_d;
      col_q      <= col_d;
    end
  end

  // Stage 1: address and padding; stage 2 and 3: memory; stage 4: choice.
  logic row_over, col_over, pad_q, pad3;
  logic [AW-1:0] raddr_q;
  rhz_at_least #(.Width(YW - 1), .Bound(Height)) u_row_over (
    .value_i(row_q[YW-2:0]), .yes_o(row_over)
  );
  rhz_at_least #(.Width(XW - 1), .Bound(Width * Words)) u_col_over (
    .value_i(col_q[XW-2:0]), .yes_o(col_over)
  );
  always_ff @(posedge clk_i) begin
    raddr_q <= AW'(base_q) + AW'(col_q) + AW'(word);
    pad_q   <= row_q < 0 || row_over || col_q < 0 || col_over;
  end
  rhz_delay #(.Width(1), .Stages(2)) u_pad (.clk_i, .data_i(pad_q), .data_o(pad3));

  // Writer: addresses run through the memory once around.
  logic [AW-1:0] waddr, waddr_q;
  logic unused_waddr_last, we_q;
  logic [Lanes*Elem-1:0] wdata_q, rdata, data_q;
  rhz_counter #(.Count(MemWords)) u_waddr (
    .clk_i, .rst_ni, .en_i(write), .value_o(waddr), .last_o(unused_waddr_last)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) we_q <= 1'b0;
    else         we_q <= write;
  end
  always_ff @(posedge clk_i) begin
    waddr_q <= waddr;
    wdata_q <= in_data_i;
  end
  rhz_sdpram #(.Width(Lanes * Elem), .Words(MemWords), .Stages(2), .Ultra(Ultra)) u_mem (
    .clk_i, .we_i(we_q), .waddr_i(waddr_q), .wdata_i(wdata_q),
    .re_i(1'b1), .raddr_i(raddr_q), .rdata_o(rdata)
  );
  localparam logic [Elem-1:0] Pad = Elem'(PadValue);
  always_ff @(posedge clk_i) data_q <= pad3 ? {Lanes{Pad}} : rdata;

  logic [4:0] valid;
  logic unused_valid;
  assign unused_valid = &{1'b0, valid[3:0]};
  rhz_valid #(.Stages(4)) u_valid (
    .clk_i, .rst_ni, .valid_i(read), .valid_o(valid)
  );
  rhz_outbuf #(.Width(Lanes * Elem), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(read), .push_i(valid[4]),
    .push_data_i(data_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: groups of random words go from one memory through rhz_move_in, a
// stream that pauses and rhz_move_out to another one, in two starts. Every word must
// arrive, requests and beats must keep still while they wait, and no burst may cross
// 4 KiB or leave the buffer; X on a valid or ready is an error.
`timescale 1ns/1ns
module rhz_tb_movers #(
  parameter int BusIn   = 64,
  parameter int BusOut  = 64,
  parameter int Elem    = 8,
  parameter int Wide    = 1,
  parameter int Row     = 8,
  parameter int BurstIn = 4,
  parameter int BurstOut = 4,
  parameter int DepthIn = 8,
  parameter int DepthOut = 8,
  parameter int Lanes   = 1,
  parameter int Groups  = 5,
  parameter int Missing = 0,
  parameter int Stalls  = 0,
  parameter int Seed    = 1,
  parameter     File    = "memory.hex"
);
  localparam int WordsIn   = BusIn / Elem, WordsOut = BusOut / Elem;
  localparam int StepIn    = ((Row + WordsIn - 1) / WordsIn + BurstIn - 1) / BurstIn * BurstIn;
  localparam int BeatsOut  = (Row + WordsOut - 1) / WordsOut;
  localparam int StepOut   = (BeatsOut + BurstOut - 1) / BurstOut * BurstOut;
  localparam int All       = Groups * StepOut;
  localparam logic [63:0] Base = 64'h5_0000_3000;

  `include "rhz_tb_tools.svh"
  logic rst_n = 0, start = 0;
  integer i, k, round, failures = 0;

  logic arvalid, arready, rvalid, rready, rlast, mvalid, mready, svalid, sready, busy;
  logic [63:0] araddr, awaddr;
  logic [7:0] arlen, awlen;
  logic [BusIn-1:0] rdata;
  logic [BusOut-1:0] wdata;
  logic [BusOut/8-1:0] wstrb;
  logic awvalid, awready, wvalid, wready, wlast, bvalid, bready;
  logic [Wide*Elem-1:0] data;
  logic pass = 1;
  // Errors of the memory, which must be passed on one by one.
  logic read_fails = 0, write_fails = 0, read_failed = 0, write_failed = 0;
  logic read_error, write_error;
  rhz_tb_memory #(
    .Width(BusIn), .Beats(Groups * StepIn), .Latency(7), .Stalls(Stalls), .Seed(Seed + 1),
    .File(File)
  ) u_memory (
    .clk_i(clk), .rst_ni(rst_n), .arvalid_i(arvalid), .arready_o(arready), .araddr_i(araddr - Base),
    .arlen_i(arlen), .rvalid_o(rvalid), .rready_i(rready), .rdata_o(rdata), .rlast_o(rlast)
  );
  rhz_move_in #(
    .DataWidth(BusIn), .Elem(Elem), .Wide(Wide), .Row(Row), .Burst(BurstIn), .Lanes(Lanes),
    .Depth(DepthIn)
  ) u_in (
    .clk_i(clk), .rst_ni(rst_n), .start_i(start), .base_i(Base), .items_i(32'(Groups * Lanes - Missing)),
    .m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_araddr(araddr), .m_axi_arlen(arlen),
    .m_axi_rvalid(rvalid), .m_axi_rready(rready), .m_axi_rdata(rdata), .m_axi_rlast(rlast),
    .m_axi_rresp({read_fails, 1'b0}), .error_o(read_error),
    .m_axis_tdata(data), .m_axis_tvalid(mvalid), .m_axis_tready(mready)
  );
  assign svalid = mvalid && pass;
  assign mready = sready && pass;
  always @(posedge clk) pass <= now_and_then(Stalls);
  rhz_move_out #(
    .DataWidth(BusOut), .Elem(Elem), .Wide(Wide), .Row(Row), .Burst(BurstOut), .Lanes(Lanes),
    .InFlight(3), .Depth(DepthOut)
  ) u_out (
    .clk_i(clk), .rst_ni(rst_n), .start_i(start), .base_i(Base), .items_i(32'(Groups * Lanes - Missing)),
    .busy_o(busy), .s_axis_tdata(data), .s_axis_tvalid(svalid), .s_axis_tready(sready),
    .m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_awaddr(awaddr), .m_axi_awlen(awlen),
    .m_axi_wvalid(wvalid), .m_axi_wready(wready), .m_axi_wdata(wdata), .m_axi_wstrb(wstrb),
    .m_axi_wlast(wlast), .m_axi_bresp({write_fails, 1'b1}), .m_axi_bvalid(bvalid),
    .m_axi_bready(bready), .error_o(write_error)
  );

  // The memory that is written: bursts and beats wait in queues of their own.
  localparam int Most = 4096;
  logic [BusOut-1:0] kept [0:All-1], beats [0:Most-1];
  logic lasts [0:Most-1];
  integer places [0:Most-1], lengths [0:Most-1];
  integer bursts = 0, done = 0, came = 0, used = 0, answers = 0;
  logic asks = 0, holds = 0;
  logic [71:0] request;
  logic [BusOut:0] beat;
  always @(posedge clk) if (rst_n) begin
    if ((^{awvalid, wvalid, bready, arvalid, rready, busy, sready, mvalid}) === 1'bx) stop("X");
    if ({read_error, write_error} !== {read_failed, write_failed}) stop("an error is lost");
    read_failed  = rvalid && rready && read_fails;
    write_failed = bvalid && bready && write_fails;
    read_fails  <= now_and_then(90);
    write_fails <= now_and_then(90);
    if (asks && {awvalid, awaddr, awlen} !== {1'b1, request}) stop("a request changes");
    if (holds && {wvalid, wlast, wdata} !== {1'b1, beat}) stop("a beat changes");
    asks = awvalid && !awready;
    holds = wvalid && !wready;
    request = {awaddr, awlen};
    beat = {wlast, wdata};
    if (awvalid && awready) begin
      if (awaddr[63:12] != ((awaddr + (awlen + 1) * (BusOut / 8) - 1) >> 12)) stop("4 KiB");
      places[bursts % Most] = (awaddr - Base) / (BusOut / 8);
      lengths[bursts % Most] = awlen;
      if (awaddr < Base || places[bursts % Most] + awlen >= All) stop("beyond the buffer");
      bursts = bursts + 1;
    end
    if (wvalid && wready) begin
      beats[came % Most] = wdata;
      lasts[came % Most] = wlast;
      if (wstrb != '1) stop("strobes");
      came = came + 1;
    end
    if (bvalid && bready) answers = answers - 1;
    if (done < bursts && came > used + lengths[done % Most]) begin
      for (k = 0; k <= lengths[done % Most]; k = k + 1) begin
        kept[places[done % Most] + k] = beats[used % Most];
        if (lasts[used % Most] !== (k == lengths[done % Most])) stop("wlast");
        used = used + 1;
      end
      done = done + 1;
      answers = answers + 1;
    end
    awready <= now_and_then(Stalls);
    wready  <= now_and_then(Stalls);
    bvalid  <= (bvalid && !bready) || (answers > 0 && now_and_then(Stalls));
    now = now + 1;
    if (now > 400000) stop("it hangs");
  end

  function automatic logic [Elem-1:0] in_word(input integer group, input integer word);
    in_word = u_memory.beats[group * StepIn + word / WordsIn][(word % WordsIn) * Elem +: Elem];
  endfunction
  initial begin
    awready = 0;
    wready = 0;
    bvalid = 0;
    repeat (5) @(posedge clk);
    #1 rst_n = 1;
    for (round = 0; round < 2; round = round + 1) begin
      for (i = 0; i < All; i = i + 1) kept[i] = 'x;
      repeat (3) @(posedge clk);
      #1 start = 1;
      @(posedge clk);
      #1 start = 0;
      @(posedge clk);
      while (busy) @(posedge clk);
      if (used != came || done != bursts || answers != 0) stop("done too early");
      for (i = 0; i < Groups; i = i + 1)
        for (k = 0; k < Row; k = k + 1)
          if (kept[i * StepOut + k / WordsOut][(k % WordsOut) * Elem +: Elem] !== in_word(i, k))
            failures = failures + 1;
      if (failures != 0) stop("words differ");
    end
    $display("PASS %0d", now);
    $finish;
  end
endmodule

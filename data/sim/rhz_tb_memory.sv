// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: a bank of a memory outside the chip, which holds a hex file (a
// beat a line, @addresses in beats). It takes a burst at a time from AXI4's
// channels AR and R and, with Writes, from AW, W and B, with random pauses. What is
// written is there from its answer on. X on a valid, a ready or a taken address is
// an error, and so is a request or a beat that changes, a burst that crosses 4 KiB,
// and with Writes a beat that is read before it is written.
module rhz_tb_memory #(
  parameter int Width = 64,
  parameter int Beats = 1,
  parameter int Latency = 1,
  parameter int Stalls = 0,
  parameter int Seed = 1,
  parameter int Writes = 0,
  parameter File = ""
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             arvalid_i,
  output logic             arready_o,
  input  logic [63:0]      araddr_i,
  input  logic [7:0]       arlen_i,
  output logic             rvalid_o,
  input  logic             rready_i,
  output logic [Width-1:0] rdata_o,
  output logic             rlast_o,
  input  logic             awvalid_i,
  output logic             awready_o,
  input  logic [63:0]      awaddr_i,
  input  logic [7:0]       awlen_i,
  input  logic             wvalid_i,
  output logic             wready_o,
  input  logic [Width-1:0] wdata_i,
  input  logic             wlast_i,
  output logic             bvalid_o,
  input  logic             bready_i
);
  localparam int Most = 1024;  // bursts that wait
  logic [Width-1:0] beats [0:Beats-1];
  logic [63:0] places [0:Most-1];
  integer lengths [0:Most-1], times [0:Most-1];
  integer seed, now, head, tail, at;
  logic waiting;
  logic [71:0] held;

  initial begin
    if (File != "") $readmemh(File, beats);
    seed = Seed;
    now = 0;
    head = 0;
    tail = 0;
    at = 0;
    waiting = 1'b0;
    arready_o = 1'b0;
    rvalid_o = 1'b0;
    rlast_o = 1'b0;
    rdata_o = '0;
  end

  task automatic stop(input [8*40-1:0] reason);
    $display("RHZ_ERROR %m: %0s at %0t", reason, $time);
    $finish;
  endtask

  always @(posedge clk_i) begin
    if (rst_ni === 1'b1) begin
      now = now + 1;
      if (arvalid_i !== 1'b0 && arvalid_i !== 1'b1) stop("arvalid is X");
      if (rready_i !== 1'b0 && rready_i !== 1'b1) stop("rready is X");
      if (waiting && (arvalid_i !== 1'b1 || held !== {araddr_i, arlen_i}))
        stop("a request changes");
      waiting = arvalid_i && !arready_o;
      held = {araddr_i, arlen_i};
      if (arvalid_i && arready_o) begin
        if (^{araddr_i, arlen_i} === 1'bx) stop("an address is X");
        if (araddr_i[63:12] != ((araddr_i + (arlen_i + 1) * (Width / 8) - 1) >> 12))
          stop("a burst crosses 4 KiB");
        if (araddr_i / (Width / 8) + arlen_i >= Beats)
          stop("an address beyond the segments");
        places[tail % Most] = araddr_i / (Width / 8);
        lengths[tail % Most] = arlen_i;
        times[tail % Most] = now + Latency;
        tail = tail + 1;
        if (tail - head > Most) stop("too many bursts");
      end
      if (rvalid_o && rready_i) begin
        at = at + 1;
        if (at > lengths[head % Most]) begin
          at = 0;
          head = head + 1;
        end
      end
      if (!rvalid_o || rready_i) begin
        rvalid_o <= 1'b0;
        if (head != tail && times[head % Most] <= now &&
            ($unsigned($random(seed)) % 100) >= Stalls) begin
          rvalid_o <= 1'b1;
          rdata_o <= beats[places[head % Most] + at];
          if (Writes != 0 && ^beats[places[head % Most] + at] === 1'bx)
            stop("a beat is read that is not there");
          rlast_o <= at == lengths[head % Most];
        end
      end
      arready_o <= ($unsigned($random(seed)) % 100) >= Stalls;
    end
  end

  // What is written: requests and beats wait for each other, bursts for their time.
  if (Writes != 0) begin : gen_writes
    logic [63:0] to [0:Most-1];
    logic [Width-1:0] data [0:Most-1];
    logic lasts [0:Most-1];
    integer sizes [0:Most-1], ends [0:Most-1];
    integer asked, came, used, first, written, answered, k, wseed;
    logic asks, holds;
    logic [71:0] request;
    logic [Width:0] beat;
    initial begin
      wseed = Seed + 77;
      asked = 0;
      came = 0;
      used = 0;
      first = 0;  // beat that is not in the memory yet
      written = 0;
      answered = 0;
      asks = 1'b0;
      holds = 1'b0;
      awready_o = 1'b0;
      wready_o = 1'b0;
      bvalid_o = 1'b0;
    end
    always @(posedge clk_i) begin
      if (rst_ni === 1'b1) begin
        if ((^{awvalid_i, wvalid_i, bready_i}) === 1'bx) stop("a valid or ready is X");
        if (asks && {awvalid_i, awaddr_i, awlen_i} !== {1'b1, request})
          stop("a request to write changes");
        if (holds && {wvalid_i, wlast_i, wdata_i} !== {1'b1, beat}) stop("a beat changes");
        asks = awvalid_i && !awready_o;
        holds = wvalid_i && !wready_o;
        request = {awaddr_i, awlen_i};
        beat = {wlast_i, wdata_i};
        if (awvalid_i && awready_o) begin
          if (^{awaddr_i, awlen_i} === 1'bx) stop("an address is X");
          if (awaddr_i[63:12] != ((awaddr_i + (awlen_i + 1) * (Width / 8) - 1) >> 12))
            stop("a burst crosses 4 KiB");
          if (awaddr_i / (Width / 8) + awlen_i >= Beats) stop("an address beyond the memory");
          to[asked % Most] = awaddr_i / (Width / 8);
          sizes[asked % Most] = awlen_i + 1;
          asked = asked + 1;
          if (asked - answered > Most) stop("too many bursts");
        end
        if (wvalid_i && wready_o) begin
          data[came % Most] = wdata_i;
          lasts[came % Most] = wlast_i;
          came = came + 1;
          if (came - first > Most) stop("too many beats");
        end
        if (bvalid_o && bready_i) bvalid_o <= 1'b0;
        if (written != asked && came - used >= sizes[written % Most]) begin
          used = used + sizes[written % Most];
          ends[written % Most] = now + Latency;
          written = written + 1;
        end
        if ((!bvalid_o || bready_i) && answered != written && ends[answered % Most] <= now &&
            ($unsigned($random(wseed)) % 100) >= Stalls) begin
          for (k = 0; k < sizes[answered % Most]; k = k + 1) begin
            if (lasts[first % Most] !== (k == sizes[answered % Most] - 1)) stop("wlast");
            beats[to[answered % Most] + k] = data[first % Most];
            first = first + 1;
          end
          answered = answered + 1;
          bvalid_o <= 1'b1;
        end
        awready_o <= ($unsigned($random(wseed)) % 100) >= Stalls;
        wready_o <= came - first < Most / 2 && ($unsigned($random(wseed)) % 100) >= Stalls;
      end
    end
  end else begin : gen_reads
    logic unused;
    assign unused = &{1'b0, awvalid_i, awaddr_i, awlen_i, wvalid_i, wdata_i, wlast_i, bready_i};
    assign awready_o = 1'b0;
    assign wready_o = 1'b0;
    assign bvalid_o = 1'b0;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: rhz_engine in four states. Behind each port is a memory of Beats beats
// that holds mN.hex and writes mN.out at the end; words of the stream in come from
// in.hex, and those of the stream out go to out.hex. Memories and streams pause. What
// the core offers may not change before it is taken, and no flag may be X.
`timescale 1ns/1ns
module rhz_tb_engine #(
  parameter int In       = 4,
  parameter int Out      = 4,
  parameter int Words    = 256,
  parameter int Banks    = 2,
  parameter int Entries  = 32,
  parameter int SumBits  = 24,
  parameter int Queue    = 1,
  parameter int Depth    = 4,
  parameter int Tokens   = 2,
  parameter int Ports    = 1,
  parameter int PortBits = 32,
  parameter int CoreHash = 0,
  parameter int Beats    = 4096,
  parameter int Program  = 0,   // its first word
  parameter int StreamIn = 0,   // words
  parameter int Latency  = 9,
  parameter int Stalls   = 0,
  parameter int Seed     = 1
);
  `include "rhz_tb_tools.svh"
  logic rst_n = 0;
  logic start = 0, busy, done;
  logic [2:0] error;
  logic stopped;
  logic [9:0] unused_units;
  logic [Ports-1:0] arvalid, arready, rvalid, rready, rlast, awvalid, awready, wvalid, wready;
  logic [Ports-1:0] wlast, bvalid, bready;
  logic [Ports*64-1:0] araddr, awaddr;
  logic [Ports*8-1:0] arlen, awlen;
  logic [Ports*PortBits-1:0] rdata, wdata;
  logic in_valid = 0, in_ready, out_valid, out_ready = 0, holds = 0;
  logic [8*In-1:0] in_data, out_data, held;
  logic [8*In-1:0] words [0:(StreamIn > 0 ? StreamIn - 1 : 0)];
  integer sent = 0, quiet = 0, log;
  assign in_data = in_valid ? words[sent] : 'x;

  rhz_engine #(
    .In(In), .Out(Out), .Words(Words), .Banks(Banks), .Entries(Entries), .SumBits(SumBits),
    .Queue(Queue), .Depth(Depth), .Tokens(Tokens), .Ports(Ports), .PortBits(PortBits),
    .CoreHash(CoreHash)
  ) u_dut (
    .clk_i(clk), .rst_ni(rst_n), .start_i(start), .program_i(28'(Program)), .busy_o(busy),
    .done_o(done), .error_o(error), .stopped_o(stopped),
    .unit_runs_o(unused_units[4:0]), .unit_waits_o(unused_units[9:5]), .base_i('0),
    .limit_i({Ports{29'(Beats * (PortBits / 8) / In)}}), .m_axi_arvalid(arvalid),
    .m_axi_arready(arready), .m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_rvalid(rvalid),
    .m_axi_rready(rready), .m_axi_rdata(rdata), .m_axi_rresp('0), .m_axi_rlast(rlast),
    .m_axi_awvalid(awvalid), .m_axi_awready(awready), .m_axi_awaddr(awaddr), .m_axi_awlen(awlen),
    .m_axi_wvalid(wvalid), .m_axi_wready(wready), .m_axi_wdata(wdata), .m_axi_wlast(wlast),
    .m_axi_bvalid(bvalid), .m_axi_bready(bready), .m_axi_bresp('0), .s_axis_tvalid(in_valid),
    .s_axis_tready(in_ready), .s_axis_tdata(in_data), .m_axis_tvalid(out_valid),
    .m_axis_tready(out_ready), .m_axis_tdata(out_data)
  );
  genvar m;
  for (m = 0; m < Ports; m = m + 1) begin : gen_memory
    localparam [7:0] Digit = "0" + m;
    rhz_tb_memory #(
      .Width(PortBits), .Beats(Beats), .Latency(Latency), .Stalls(Stalls), .Seed(Seed + m),
      .Writes(1), .File({"m", Digit, ".hex"})
    ) u_memory (
      .clk_i(clk), .rst_ni(rst_n), .arvalid_i(arvalid[m]), .arready_o(arready[m]),
      .araddr_i(araddr[m*64 +: 64]), .arlen_i(arlen[m*8 +: 8]), .rvalid_o(rvalid[m]),
      .rready_i(rready[m]), .rdata_o(rdata[m*PortBits +: PortBits]), .rlast_o(rlast[m]),
      .awvalid_i(awvalid[m]), .awready_o(awready[m]), .awaddr_i(awaddr[m*64 +: 64]),
      .awlen_i(awlen[m*8 +: 8]), .wvalid_i(wvalid[m]), .wready_o(wready[m]),
      .wdata_i(wdata[m*PortBits +: PortBits]), .wlast_i(wlast[m]), .bvalid_o(bvalid[m]),
      .bready_i(bready[m])
    );
    always @(posedge clk) if (done === 1'b1) $writememh({"m", Digit, ".out"}, u_memory.beats);
  end

  initial begin
    if (StreamIn != 0) $readmemh("in.hex", words);
    log = $fopen("out.hex", "w");
    repeat (5) @(posedge clk);
    #1 rst_n = 1;
    @(posedge clk);
    #1 start = 1;
    @(posedge clk);
    #1 start = 0;
  end
  always @(posedge clk) if (rst_n) begin
    now = now + 1;
    if ((^{busy, done, error, stopped, in_ready, out_valid, unused_units}) === 1'bx) stop("X");
    if (holds && {out_valid, out_data} !== {1'b1, held}) stop("a word of the stream changes");
    holds = out_valid && !out_ready;
    held = out_data;
    if (out_valid && out_ready) begin
      if ((^out_data) === 1'bx) stop("a word of the stream is X");
      $fwrite(log, "%h\n", out_data);
    end
    if (in_valid && in_ready) begin
      sent = sent + 1;
      in_valid <= 0;
    end
    if (!in_valid || in_ready) in_valid <= sent < StreamIn && now_and_then(Stalls);
    out_ready <= now_and_then(Stalls);
    if (done) begin
      #1;
      if (error != 0) stop("an error");
      if (sent != StreamIn) stop("words of the stream are left");
      $display("PASS %0d", now);
      $finish;
    end
    quiet = ((rvalid | wvalid) != '0 || out_valid || in_ready) ? 0 : quiet + 1;
    if (quiet > 20000) stop("it hangs");
  end
endmodule

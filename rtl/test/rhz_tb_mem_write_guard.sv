// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: several FIFOs whose words lie in one memory, behind arbiters and guards, are
// reset again and again in the middle of what they write and read; the memory is not.
// After each reset what goes in comes out in order, and nothing of what went in before.
`timescale 1ns/1ns
module rhz_tb_mem_write_guard #(
  parameter int Width     = 8,
  parameter int DataWidth = 64,
  parameter int Words     = 8,
  parameter int Per       = 8,
  parameter int Burst     = 1,
  parameter int Slots     = 4,
  parameter int Buffer    = 2,
  parameter int InFlight  = 4,
  parameter int Depth     = 4,
  parameter int Fifos     = 1,
  parameter int Resets    = 40,
  parameter int Memory    = 9,  // its latency
  parameter int Stalls    = 0,
  parameter int Seed      = 1
);
  localparam int Bytes = DataWidth / 8;
  localparam int Pages = (Slots * Burst * Bytes + 4095) / 4096;
  localparam int First = 3;  // page of the first ring

  `include "rhz_tb_tools.svh"
  logic rst_n = 0, clear_n = 0;
  integer i, resets = 0, wait_for = 0;
  function automatic logic [Width-1:0] word_of(input integer fifo, input integer word,
                                               input integer round);
    logic [(Width+31)/32*32-1:0] all;
    for (int k = 0; k < (Width + 31) / 32; k++)
      all[k*32 +: 32] = (word * 32 + k + 1) * 32'h9e3779b1 ^ (fifo + 5) * 32'h85ebca6b ^
                         round * 32'hc2b2ae35;
    word_of = all[Width-1:0];
  endfunction

  logic [Fifos-1:0] arvalid, arready, rvalid, rready, awvalid, awready, wvalid, wready, wlast,
                    bvalid, bready;
  logic [Fifos*64-1:0] araddr, awaddr;
  logic [Fifos*8-1:0] arlen, awlen;
  logic [Fifos*DataWidth-1:0] wdata;
  logic [DataWidth-1:0] rdata;
  logic rlast;
  logic [Fifos-1:0] in_valid, in_ready, out_valid, out_ready;
  logic [Width-1:0] out_data [0:Fifos-1];
  integer sent [0:Fifos-1], taken [0:Fifos-1], pause [0:Fifos-1];
  genvar f;
  for (f = 0; f < Fifos; f = f + 1) begin : gen_fifo
    logic [Width-1:0] word, data;
    assign word = in_valid[f] ? word_of(f, sent[f], resets) : 'x;
    assign out_data[f] = data;
    rhz_mem_fifo #(
      .Width(Width), .DataWidth(DataWidth), .Words(Words), .Per(Per), .Burst(Burst), .Slots(Slots),
      .Page(First + f * Pages), .Buffer(Buffer), .InFlight(InFlight), .Depth(Depth)
    ) u_fifo (
      .clk_i(clk), .rst_ni(clear_n), .in_valid_i(in_valid[f]), .in_ready_o(in_ready[f]),
      .in_data_i(word), .m_axi_arvalid(arvalid[f]),
      .m_axi_arready(arready[f]), .m_axi_araddr(araddr[f*64 +: 64]), .m_axi_arlen(arlen[f*8 +: 8]),
      .m_axi_rvalid(rvalid[f]), .m_axi_rready(rready[f]), .m_axi_rdata(rdata), .m_axi_rlast(rlast),
      .m_axi_awvalid(awvalid[f]), .m_axi_awready(awready[f]), .m_axi_awaddr(awaddr[f*64 +: 64]),
      .m_axi_awlen(awlen[f*8 +: 8]), .m_axi_wvalid(wvalid[f]), .m_axi_wready(wready[f]),
      .m_axi_wdata(wdata[f*DataWidth +: DataWidth]), .m_axi_wlast(wlast[f]),
      .m_axi_bvalid(bvalid[f]), .m_axi_bready(bready[f]), .out_valid_o(out_valid[f]),
      .out_ready_i(out_ready[f]), .out_data_o(data)
    );
  end

  logic [63:0] s_araddr, s_awaddr, m_araddr, m_awaddr;
  logic [7:0] s_arlen, s_awlen, m_arlen, m_awlen;
  logic [DataWidth-1:0] s_rdata, s_wdata, m_rdata, m_wdata;
  logic s_arvalid, s_arready, s_rvalid, s_rready, s_rlast, s_awvalid, s_awready, s_wvalid, s_wready,
        s_wlast, s_bvalid, s_bready;
  logic m_arvalid, m_arready, m_rvalid, m_rready, m_rlast, m_awvalid, m_awready, m_wvalid, m_wready,
        m_wlast, m_bvalid, m_bready;
  rhz_mem_arbiter #(.DataWidth(DataWidth), .Readers(Fifos), .Bursts(Fifos * 3)) u_reads (
    .clk_i(clk), .rst_ni(clear_n), .s_axi_arvalid(arvalid), .s_axi_arready(arready),
    .s_axi_araddr(araddr), .s_axi_arlen(arlen), .s_axi_rvalid(rvalid), .s_axi_rready(rready),
    .s_axi_rdata(rdata), .s_axi_rlast(rlast), .m_axi_arvalid(s_arvalid), .m_axi_arready(s_arready),
    .m_axi_araddr(s_araddr), .m_axi_arlen(s_arlen), .m_axi_rvalid(s_rvalid),
    .m_axi_rready(s_rready), .m_axi_rdata(s_rdata), .m_axi_rlast(s_rlast)
  );
  rhz_mem_write_arbiter #(.DataWidth(DataWidth), .Writers(Fifos), .Bursts(Fifos * 2)) u_writes (
    .clk_i(clk), .rst_ni(clear_n), .s_axi_awvalid(awvalid), .s_axi_awready(awready),
    .s_axi_awaddr(awaddr), .s_axi_awlen(awlen), .s_axi_wvalid(wvalid), .s_axi_wready(wready),
    .s_axi_wdata(wdata), .s_axi_wlast(wlast), .s_axi_bvalid(bvalid), .s_axi_bready(bready),
    .m_axi_awvalid(s_awvalid), .m_axi_awready(s_awready), .m_axi_awaddr(s_awaddr),
    .m_axi_awlen(s_awlen), .m_axi_wvalid(s_wvalid), .m_axi_wready(s_wready), .m_axi_wdata(s_wdata),
    .m_axi_wlast(s_wlast), .m_axi_bvalid(s_bvalid), .m_axi_bready(s_bready)
  );
  rhz_mem_guard #(.Width(DataWidth)) u_guard (
    .clk_i(clk), .rst_ni(rst_n), .clear_ni(clear_n), .s_axi_arvalid(s_arvalid),
    .s_axi_arready(s_arready), .s_axi_araddr(s_araddr), .s_axi_arlen(s_arlen),
    .s_axi_rvalid(s_rvalid), .s_axi_rready(s_rready), .s_axi_rdata(s_rdata), .s_axi_rlast(s_rlast),
    .m_axi_arvalid(m_arvalid), .m_axi_arready(m_arready), .m_axi_araddr(m_araddr),
    .m_axi_arlen(m_arlen), .m_axi_rvalid(m_rvalid), .m_axi_rready(m_rready), .m_axi_rdata(m_rdata),
    .m_axi_rlast(m_rlast)
  );
  rhz_mem_write_guard #(.Width(DataWidth)) u_write_guard (
    .clk_i(clk), .rst_ni(rst_n), .clear_ni(clear_n), .s_axi_awvalid(s_awvalid),
    .s_axi_awready(s_awready), .s_axi_awaddr(s_awaddr), .s_axi_awlen(s_awlen),
    .s_axi_wvalid(s_wvalid), .s_axi_wready(s_wready), .s_axi_wdata(s_wdata), .s_axi_wlast(s_wlast),
    .s_axi_bvalid(s_bvalid), .s_axi_bready(s_bready), .m_axi_awvalid(m_awvalid),
    .m_axi_awready(m_awready), .m_axi_awaddr(m_awaddr), .m_axi_awlen(m_awlen),
    .m_axi_wvalid(m_wvalid), .m_axi_wready(m_wready), .m_axi_wdata(m_wdata), .m_axi_wlast(m_wlast),
    .m_axi_bvalid(m_bvalid), .m_axi_bready(m_bready)
  );
  rhz_tb_memory #(
    .Width(DataWidth), .Beats((First + Fifos * Pages) * 4096 / Bytes), .Latency(Memory),
    .Stalls(Stalls), .Seed(Seed + 1), .Writes(1)
  ) u_memory (
    .clk_i(clk), .rst_ni(rst_n), .arvalid_i(m_arvalid), .arready_o(m_arready), .araddr_i(m_araddr),
    .arlen_i(m_arlen), .rvalid_o(m_rvalid), .rready_i(m_rready), .rdata_o(m_rdata),
    .rlast_o(m_rlast), .awvalid_i(m_awvalid), .awready_o(m_awready), .awaddr_i(m_awaddr),
    .awlen_i(m_awlen), .wvalid_i(m_wvalid), .wready_o(m_wready), .wdata_i(m_wdata),
    .wlast_i(m_wlast), .bvalid_o(m_bvalid), .bready_i(m_bready)
  );

  initial begin
    in_valid = '0;
    out_ready = '0;
    for (i = 0; i < Fifos; i = i + 1) begin
      sent[i] = 0;
      taken[i] = 0;
      pause[i] = 0;
    end
    repeat (5) @(posedge clk);
    #1 rst_n = 1;
    clear_n = 1;
    wait_for = 1000 + 8 * Words * Fifos;
  end
  always @(posedge clk) if (rst_n) begin
    now = now + 1;
    if (clear_n && (^{in_ready, out_valid}) === 1'bx) stop("X");
    for (i = 0; i < Fifos; i = i + 1) begin
      if (clear_n && in_valid[i] && in_ready[i]) begin
        sent[i] = sent[i] + 1;
        in_valid[i] <= 0;
      end
      if (clear_n && out_valid[i] && out_ready[i]) begin
        if (taken[i] == sent[i]) stop("a word too many");
        if (out_data[i] !== word_of(i, taken[i], resets)) stop("a word differs");
        taken[i] = taken[i] + 1;
      end
      if (!in_valid[i] || in_ready[i]) in_valid[i] <= now_and_then(Stalls);
      if (pause[i] > 0) pause[i] = pause[i] - 1;
      else if (Stalls != 0 && $unsigned($random(seed)) % 200 == 0)
        pause[i] = $unsigned($random(seed)) % (8 * Slots * Burst + 50);
      out_ready[i] <= pause[i] == 0 && now_and_then(Stalls);
    end
    wait_for = wait_for - 1;
    if (wait_for <= 0) begin
      if (!clear_n) begin
        resets = resets + 1;
        // Now and then long enough for all of them to give words.
        wait_for = (resets % 8 == 0) ? 3000 + 16 * Words * Fifos
                                     : $unsigned($random(seed)) % 90 + 1;
      end else begin
        // After a long time every one has.
        for (i = 0; i < Fifos; i = i + 1)
          if (resets % 8 == 0 && taken[i] == 0) stop("one waits for ever");
        if (resets == Resets) begin
          $display("PASS %0d", now);
          $finish;
        end
        wait_for = $unsigned($random(seed)) % 4 + 1;
        for (i = 0; i < Fifos; i = i + 1) begin
          taken[i] = 0;
          sent[i] = 0;
        end
        in_valid <= '0;
      end
      #1 clear_n = !clear_n;
    end
  end
endmodule

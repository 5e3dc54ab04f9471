// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: readers of a memory, behind an arbiter and a guard, are reset again and
// again in the middle of their bursts; the memory is not. After each reset the first
// words come anew, in order, and none that was asked for before.
`timescale 1ns/1ns
module rhz_tb_mem_guard #(
  parameter int DataWidth = 64,
  parameter int Words     = 8,
  parameter int Burst     = 1,
  parameter int Buffer    = 2,
  parameter int Readers   = 1,
  parameter int Resets    = 40,
  parameter int Memory    = 9,  // its latency
  parameter int Stalls    = 0,
  parameter int Seed      = 1
);
  localparam int Bytes = DataWidth / 8;
  localparam int Pages = (Words * Bytes + 4095) / 4096;

  `include "rhz_tb_tools.svh"
  logic rst_n = 0, clear_n = 0;
  integer i, resets = 0, wait_for = 0;
  function automatic logic [DataWidth-1:0] beat_of(input integer beat);
    for (int k = 0; k < DataWidth / 8; k++)
      beat_of[k*8 +: 8] = 8'(beat * 37 + (beat >> 8) * 11 + k * 101);
  endfunction

  logic [Readers-1:0] arvalid, arready, rvalid, rready, out_valid, out_ready;
  logic [Readers*64-1:0] araddr;
  logic [Readers*8-1:0] arlen;
  logic [DataWidth-1:0] rdata, out_data [0:Readers-1];
  logic rlast;
  integer taken [0:Readers-1];
  genvar f;
  for (f = 0; f < Readers; f = f + 1) begin : gen_reader
    logic [DataWidth-1:0] data;
    assign out_data[f] = data;
    rhz_mem_reader #(
      .DataWidth(DataWidth), .Words(Words), .Burst(Burst), .Page(f * Pages), .Depth(Buffer)
    ) u_reader (
      .clk_i(clk), .rst_ni(clear_n), .m_axi_arvalid(arvalid[f]), .m_axi_arready(arready[f]),
      .m_axi_araddr(araddr[f*64 +: 64]), .m_axi_arlen(arlen[f*8 +: 8]), .m_axi_rvalid(rvalid[f]),
      .m_axi_rready(rready[f]), .m_axi_rdata(rdata), .m_axi_rlast(rlast),
      .out_valid_o(out_valid[f]), .out_ready_i(out_ready[f]), .out_data_o(data)
    );
  end

  logic [63:0] s_araddr, m_araddr;
  logic [7:0] s_arlen, m_arlen;
  logic [DataWidth-1:0] s_rdata, m_rdata;
  logic s_arvalid, s_arready, s_rvalid, s_rready, s_rlast, m_arvalid, m_arready, m_rvalid, m_rready,
        m_rlast;
  rhz_mem_arbiter #(.DataWidth(DataWidth), .Readers(Readers), .Bursts(Readers * 3)) u_arbiter (
    .clk_i(clk), .rst_ni(clear_n), .s_axi_arvalid(arvalid), .s_axi_arready(arready),
    .s_axi_araddr(araddr), .s_axi_arlen(arlen), .s_axi_rvalid(rvalid), .s_axi_rready(rready),
    .s_axi_rdata(rdata), .s_axi_rlast(rlast), .m_axi_arvalid(s_arvalid), .m_axi_arready(s_arready),
    .m_axi_araddr(s_araddr), .m_axi_arlen(s_arlen), .m_axi_rvalid(s_rvalid),
    .m_axi_rready(s_rready), .m_axi_rdata(s_rdata), .m_axi_rlast(s_rlast)
  );
  rhz_mem_guard #(.Width(DataWidth)) u_guard (
    .clk_i(clk), .rst_ni(rst_n), .clear_ni(clear_n), .s_axi_arvalid(s_arvalid),
    .s_axi_arready(s_arready), .s_axi_araddr(s_araddr), .s_axi_arlen(s_arlen),
    .s_axi_rvalid(s_rvalid), .s_axi_rready(s_rready), .s_axi_rdata(s_rdata), .s_axi_rlast(s_rlast),
    .m_axi_arvalid(m_arvalid), .m_axi_arready(m_arready), .m_axi_araddr(m_araddr),
    .m_axi_arlen(m_arlen), .m_axi_rvalid(m_rvalid), .m_axi_rready(m_rready), .m_axi_rdata(m_rdata),
    .m_axi_rlast(m_rlast)
  );
  rhz_tb_memory #(
    .Width(DataWidth), .Beats(Readers * Pages * 4096 / Bytes), .Latency(Memory), .Stalls(Stalls),
    .Seed(Seed + 1)
  ) u_memory (
    .clk_i(clk), .rst_ni(rst_n), .arvalid_i(m_arvalid), .arready_o(m_arready), .araddr_i(m_araddr),
    .arlen_i(m_arlen), .rvalid_o(m_rvalid), .rready_i(m_rready), .rdata_o(m_rdata),
    .rlast_o(m_rlast), .awvalid_i(1'b0), .awready_o(), .awaddr_i('0), .awlen_i('0), .wvalid_i(1'b0),
    .wready_o(), .wdata_i('0), .wlast_i(1'b0), .bvalid_o(), .bready_i(1'b0)
  );

  initial begin
    for (i = 0; i < Readers * Pages * 4096 / Bytes; i = i + 1) u_memory.beats[i] = beat_of(i);
    out_ready = '0;
    for (i = 0; i < Readers; i = i + 1) taken[i] = 0;
    repeat (5) @(posedge clk);
    #1 rst_n = 1;
    clear_n = 1;
    wait_for = 1000 + 8 * Words * Readers;
  end
  always @(posedge clk) if (rst_n) begin
    now = now + 1;
    for (i = 0; i < Readers; i = i + 1) begin
      if (clear_n && out_valid[i] && out_ready[i]) begin
        if (out_data[i] !== beat_of(i * Pages * 4096 / Bytes + taken[i] % Words))
          stop("a word differs");
        taken[i] = taken[i] + 1;
      end
      out_ready[i] <= now_and_then(Stalls);
    end
    wait_for = wait_for - 1;
    if (wait_for <= 0) begin
      if (!clear_n) begin
        resets = resets + 1;
        // Now and then long enough for all readers to go round.
        wait_for = (resets % 8 == 0) ? 1000 + 8 * Words * Readers
                                     : $unsigned($random(seed)) % 60 + 1;
      end else begin
        // After a long time every reader has begun.
        for (i = 0; i < Readers; i = i + 1)
          if (resets % 8 == 0 && taken[i] == 0) stop("a reader waits for ever");
        if (resets == Resets) begin
          $display("PASS %0d", now);
          $finish;
        end
        wait_for = $unsigned($random(seed)) % 4 + 1;
        for (i = 0; i < Readers; i = i + 1) taken[i] = 0;
      end
      #1 clear_n = !clear_n;
    end
  end
endmodule

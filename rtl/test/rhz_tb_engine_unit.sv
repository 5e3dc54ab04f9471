// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: rhz_engine_unit in four states, with a memory that holds another image for
// each frame, some with programs that are wrong: images.hex, and kinds.hex with 0 for a
// frame that is answered with out.hex, 1 for one of zeros and 2 for one of any words. The
// words of each frame are those of in.hex. The next image is there as soon as the unit is at rest,
// the next frame's words are offered at any time. Memory and streams pause.
`timescale 1ns/1ns
module rhz_tb_engine_unit #(
  parameter int In        = 4,
  parameter int Out       = 4,
  parameter int Words     = 256,
  parameter int Banks     = 2,
  parameter int Entries   = 32,
  parameter int SumBits   = 24,
  parameter int Queue     = 1,
  parameter int Waiting   = 4,
  parameter int Tokens    = 2,
  parameter int DataWidth = 32,
  parameter int Hash      = 0,
  parameter int Beats     = 4096,
  parameter int Program   = 0,
  parameter int InBeats   = 1,
  parameter int OutBeats  = 1,
  parameter int Frames    = 1,
  parameter int Latency   = 9,
  parameter int Stalls    = 0,
  parameter int Seed      = 1
);
  `include "rhz_tb_tools.svh"
  logic rst_n = 0;
  logic arvalid, arready, rvalid, rready, rlast, awvalid, awready, wvalid, wready, wlast;
  logic bvalid, bready, in_valid = 0, in_ready, out_valid, out_ready = 0;
  logic [63:0] araddr, awaddr;
  logic [7:0] arlen, awlen;
  logic [DataWidth-1:0] rdata, wdata;
  logic [8*In-1:0] in_data, out_data;
  logic [15:0] err;
  logic [8*In-1:0] words [0:InBeats-1], wanted [0:OutBeats-1];
  logic [DataWidth-1:0] images [0:Frames*Beats-1];
  logic [3:0] kinds [0:Frames-1];
  integer sent = 0, taken = 0, frame = 0, wrong = 0, quiet = 0, i;
  logic runs = 0;
  assign in_data = in_valid ? words[sent % InBeats] : 'x;

  rhz_engine_unit #(
    .In(In), .Out(Out), .Words(Words), .Banks(Banks), .Entries(Entries), .SumBits(SumBits),
    .Queue(Queue), .Waiting(Waiting), .Tokens(Tokens), .DataWidth(DataWidth), .Hash(64'(Hash)),
    .Program(Program), .Room(Beats * (DataWidth / 8) / In), .InSigned(1), .InBeats(InBeats),
    .OutBeats(OutBeats)
  ) u_dut (
    .clk_i(clk), .rst_ni(rst_n), .in_valid_i(in_valid), .in_ready_o(in_ready),
    .in_data_i(in_data), .m_axi_arvalid(arvalid), .m_axi_arready(arready),
    .m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_rvalid(rvalid), .m_axi_rready(rready),
    .m_axi_rdata(rdata), .m_axi_rlast(rlast), .m_axi_awvalid(awvalid), .m_axi_awready(awready),
    .m_axi_awaddr(awaddr), .m_axi_awlen(awlen), .m_axi_wvalid(wvalid), .m_axi_wready(wready),
    .m_axi_wdata(wdata), .m_axi_wlast(wlast), .m_axi_bvalid(bvalid), .m_axi_bready(bready),
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_data_o(out_data), .err_o(err)
  );
  // As a design adds them to those of its border.
  logic [15:0] sum, most;
  rhz_errors #(.Count(2)) u_sum (.clk_i(clk), .rst_ni(rst_n), .err_i({err, 16'd7}), .err_o(sum));
  rhz_errors #(.Count(3)) u_most (
    .clk_i(clk), .rst_ni(rst_n), .err_i({err, 16'hfff0, 16'd14}), .err_o(most)
  );
  rhz_tb_memory #(
    .Width(DataWidth), .Beats(Beats), .Latency(Latency), .Stalls(Stalls), .Seed(Seed), .Writes(1)
  ) u_memory (
    .clk_i(clk), .rst_ni(rst_n), .arvalid_i(arvalid), .arready_o(arready), .araddr_i(araddr),
    .arlen_i(arlen), .rvalid_o(rvalid), .rready_i(rready), .rdata_o(rdata), .rlast_o(rlast),
    .awvalid_i(awvalid), .awready_o(awready), .awaddr_i(awaddr), .awlen_i(awlen),
    .wvalid_i(wvalid), .wready_o(wready), .wdata_i(wdata), .wlast_i(wlast), .bvalid_o(bvalid),
    .bready_i(bready)
  );

  // The image of a frame.
  task automatic fill(input integer k);
    for (i = 0; i < Beats; i = i + 1) u_memory.beats[i] = images[k * Beats + i];
  endtask

  initial begin
    $readmemh("in.hex", words);
    $readmemh("out.hex", wanted);
    $readmemh("images.hex", images);
    $readmemh("kinds.hex", kinds);
    #1 fill(0);
    repeat (5) @(posedge clk);
    #1 rst_n = 1;
  end
  always @(posedge clk) if (rst_n) begin
    now = now + 1;
    if ((^{in_ready, out_valid, err}) === 1'bx) stop("X");
    if (out_valid && out_ready) begin
      if ((^out_data) === 1'bx) stop("a word is X");
      if (taken == Frames * OutBeats) stop("a word too many");
      if (kinds[taken / OutBeats] == 0 && out_data !== wanted[taken % OutBeats])
        stop("a word differs");
      if (kinds[taken / OutBeats] == 1 && out_data !== '0) stop("a word is not zero");
      taken = taken + 1;
    end
    if (in_valid && in_ready) begin
      if (sent >= (frame + 1) * InBeats) stop("a word of the next frame is taken");
      sent = sent + 1;
      in_valid <= 0;
    end
    if (!in_valid || in_ready)
      in_valid <= sent < Frames * InBeats && now_and_then(Stalls);
    out_ready <= now_and_then(Stalls);
    if (runs && !u_dut.busy && !u_dut.stops_q) begin
      if (sent != (frame + 1) * InBeats) stop("words of a frame are left");
      if (kinds[frame] != 0) wrong = wrong + 1;
      frame = frame + 1;
      if (frame < Frames) fill(frame);
    end
    runs = u_dut.busy || u_dut.stops_q;
    if (taken == Frames * OutBeats && frame == Frames) begin
      if (err !== 16'(wrong)) stop("another number of errors");
      if (sum !== 16'(wrong + 7) || most !== '1) stop("another sum of errors");
      $display("PASS %0d", now);
      $finish;
    end
    quiet = (rvalid || wvalid || out_valid || in_ready) ? 0 : quiet + 1;
    if (quiet > 20000) stop("it hangs");
  end
endmodule

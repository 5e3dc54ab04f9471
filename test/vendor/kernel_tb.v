// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rhz_kernel and the design in it, side by side on the same frames: the kernel
// reads its weights from an address that the host writes to its registers, and is
// started again in the middle of its work with another one. FRAMES of BEATS
// random beats after each start; OUTPUTS beats a frame come back.
`timescale 1ns / 1ps
module kernel_tb;
  reg clk = 0, rst_n = 0, go = 0;
  always #1 clk = ~clk;

  // -- the host
  reg [11:0] awaddr = 0, araddr = 0;
  reg [31:0] wdata = 0;
  reg awvalid = 0, wvalid = 0, arvalid = 0;
  wire awready, wready, bvalid, arready, rvalid;
  wire [31:0] rdata;

  // The host moves at falling edges, the design at rising ones.
  task write(input [11:0] place, input [31:0] value);
    begin
      @(negedge clk);
      awaddr = place; wdata = value; awvalid = 1; wvalid = 1;
      #0.5 while (!(awready && wready)) @(negedge clk);
      @(negedge clk);
      awvalid = 0; wvalid = 0;
      while (!bvalid) @(negedge clk);
    end
  endtask
  reg [31:0] got;
  task read(input [11:0] place);
    begin
      @(negedge clk);
      araddr = place; arvalid = 1;
      #0.5 while (!arready) @(negedge clk);
      @(negedge clk);
      arvalid = 0;
      while (!rvalid) @(negedge clk);
      got = rdata;
    end
  endtask
  task start(input [63:0] where);
    integer i;
    begin
      for (i = 0; i < `PORTS; i = i + 1) begin
        write(12'h010 + 12 * i, where[31:0] + 32'h100000 * i);
        write(12'h014 + 12 * i, where[63:32]);
      end
      read(12'h010);
      if (got !== where[31:0]) fail("a register does not keep its value");
      write(12'h000, 1);
      got = 0;
      while (!got[1]) read(12'h000);
      if (got[3:0] !== 4'b1110) fail("done without idle and ready");
      if (u_kernel.bases[63:0] !== where) fail("another address is used");
      read(12'h000);
      if (got[3:0] !== 4'b0100) fail("done is not cleared by reading");
    end
  endtask
  task fail(input [8*48-1:0] why);
    begin
      $display("FAIL %0s at %0t", why, $time);
      $finish;
    end
  endtask

  // -- frames, to both; each takes them at its own pace
  reg [`WIDTH-1:0] sent [0:`FRAMES*`BEATS-1];
  reg [`WIDTH-1:0] came [0:`FRAMES*`OUTPUTS-1];
  integer atKernel = 0, atTop = 0, gotKernel = 0, gotTop = 0, k;
  wire kernelReady, topReady, kernelValid, topValid, kernelLast, topLast;
  wire [`WIDTH-1:0] kernelData, topData;
  reg kernelRuns = 0, topRuns = 0, takes = 0;
  always @(posedge clk) begin
    takes <= $random;
    if (kernelRuns && atKernel < `FRAMES*`BEATS && kernelReady) atKernel <= atKernel + 1;
    if (topRuns && atTop < `FRAMES*`BEATS && topReady) atTop <= atTop + 1;
    if (topValid) begin
      came[gotTop] <= topData;
      gotTop <= gotTop + 1;
    end
    if (kernelValid && takes && kernelRuns) begin
      if (kernelData !== came[gotKernel]) fail("the kernel computes something else");
      gotKernel <= gotKernel + 1;
    end
  end
  wire kernelOffers = kernelRuns && atKernel < `FRAMES*`BEATS;
  wire topOffers = topRuns && atTop < `FRAMES*`BEATS;

  rhz_kernel u_kernel (
    .ap_clk(clk), .ap_rst_n(rst_n),
    .s_axis_0_tdata(sent[atKernel]), .s_axis_0_tkeep({(`WIDTH/8){1'b1}}),
    .s_axis_0_tvalid(kernelOffers),
    .s_axis_0_tlast(atKernel % `BEATS == `BEATS - 1), .s_axis_0_tready(kernelReady),
`KERNEL_MEMORIES
    .s_axi_control_awaddr(awaddr), .s_axi_control_awvalid(awvalid),
    .s_axi_control_awready(awready), .s_axi_control_wdata(wdata),
    .s_axi_control_wstrb(4'hf), .s_axi_control_wvalid(wvalid),
    .s_axi_control_wready(wready), .s_axi_control_bresp(),
    .s_axi_control_bvalid(bvalid), .s_axi_control_bready(1'b1),
    .s_axi_control_araddr(araddr), .s_axi_control_arvalid(arvalid),
    .s_axi_control_arready(arready), .s_axi_control_rdata(rdata),
    .s_axi_control_rresp(), .s_axi_control_rvalid(rvalid),
    .s_axi_control_rready(1'b1),
    .m_axis_0_tdata(kernelData), .m_axis_0_tkeep(), .m_axis_0_tvalid(kernelValid),
    .m_axis_0_tlast(kernelLast), .m_axis_0_tready(takes));
  rhz_top u_top (
    .clk_i(clk), .rst_ni(rst_n),
    .s_axis_0_tdata(sent[atTop]), .s_axis_0_tvalid(topOffers),
    .s_axis_0_tlast(atTop % `BEATS == `BEATS - 1), .s_axis_0_tready(topReady),
`TOP_MEMORIES
    .m_axis_0_tdata(topData), .m_axis_0_tvalid(topValid), .m_axis_0_tlast(topLast),
    .m_axis_0_tready(1'b1));
`MEMORIES

  initial begin
    for (k = 0; k < `FRAMES*`BEATS; k = k + 1)
      sent[k] = {(`WIDTH+31)/32{$random}} ^ k;
    repeat (8) @(posedge clk);
    rst_n <= 1;
    repeat (4) @(posedge clk);
    topRuns <= 1;
    while (gotTop < `FRAMES*`OUTPUTS) @(posedge clk);
    if (kernelReady !== 1'b0) fail("the kernel takes frames before it starts");
    start(64'h0000_0012_3456_7000);
    kernelRuns <= 1;
    // Again, amid what it reads ahead.
    while (gotKernel < `OUTPUTS) @(posedge clk);
    kernelRuns <= 0;
    @(posedge clk);
    start(64'h0000_0007_ffff_f000);
    @(posedge clk);
    atKernel <= 0;
    gotKernel <= 0;
    @(posedge clk);
    kernelRuns <= 1;
    while (gotKernel < `FRAMES*`OUTPUTS) @(posedge clk);
    $display("PASS");
    $finish;
  end
  initial begin
    repeat (3000000) @(posedge clk);
    fail("it hangs");
  end
endmodule

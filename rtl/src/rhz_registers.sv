// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registers that a host writes by AXI4-Lite, as kernels of Vitis have them
// (protocol ap_ctrl_hs):
//   0x00  bit 0 start, 1 done (cleared by reading), 2 idle, 3 ready (likewise),
//         7 start again when done
//   0x04  bit 0 interrupts, 0x08 bits 0 and 1: when done, when ready
//   0x0c  which happened; a 1 that is written changes its bit
//   0x10 + 12 n  address of buffer n, 64 bits, low half first
//   0x10 + 12 Ports  items, 32 bits
//   0x14 + 12 Ports  bit n: the memory answered port n with an error (cleared by
//                    reading); ports from 32 on in the next words
// A start resets the design (clear_no low), hands it the arguments and tells it to
// start (start_o); it is done when no bit of busy_i is high.
module rhz_registers #(
  parameter int Ports   = 2,
  parameter int Writers = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [11:0]         s_axi_awaddr,
  input  logic                s_axi_awvalid,
  output logic                s_axi_awready,
  input  logic [31:0]         s_axi_wdata,
  input  logic [3:0]          s_axi_wstrb,
  input  logic                s_axi_wvalid,
  output logic                s_axi_wready,
  output logic [1:0]          s_axi_bresp,
  output logic                s_axi_bvalid,
  input  logic                s_axi_bready,
  input  logic [11:0]         s_axi_araddr,
  input  logic                s_axi_arvalid,
  output logic                s_axi_arready,
  output logic [31:0]         s_axi_rdata,
  output logic [1:0]          s_axi_rresp,
  output logic                s_axi_rvalid,
  input  logic                s_axi_rready,
  output logic                interrupt_o,
  output logic                clear_no,
  output logic                start_o,
  input  logic [Writers-1:0]  busy_i,
  input  logic [Ports-1:0]    errors_i,
  output logic [64*Ports-1:0] bases_o,
  output logic [31:0]         items_o
);
  // Arguments in words of 32 bits; after the two of an address is a gap.
  localparam int Args   = 2 * Ports + 1;
  localparam int Faults = 5 + 3 * Ports;  // the first word of errors
  localparam int Resets = 16;  // cycles
  logic [32*Args-1:0] args_q;
  logic writes, reads, done_q, ready_q, again_q, starts_q, enable_q;
  logic [1:0] enables_q, events_q;
  logic [9:0] at_write, at_read;
  assign writes        = s_axi_awvalid && s_axi_wvalid && !s_axi_bvalid;
  assign reads         = s_axi_arvalid && !s_axi_rvalid;
  assign s_axi_awready = writes;
  assign s_axi_wready  = writes;
  assign s_axi_arready = reads;
  assign s_axi_bresp   = 2'b00;
  assign s_axi_rresp   = 2'b00;
  assign at_write      = s_axi_awaddr[11:2];
  assign at_read       = s_axi_araddr[11:2];
  assign interrupt_o   = enable_q && events_q != '0;

  logic [1:0] unused_low;
  assign unused_low = s_axi_awaddr[1:0] ^ s_axi_araddr[1:0];

  // A start: the reset, the command, a cycle until the design is busy, its work.
  logic [4:0] wait_q;
  logic runs_q, ends;
  assign ends = runs_q && wait_q == '0 && busy_i == '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wait_q   <= '0;
      runs_q   <= 1'b0;
      clear_no <= 1'b0;
      start_o  <= 1'b0;
    end else begin
      start_o  <= runs_q && wait_q == 5'd4;
      clear_no <= !(runs_q && wait_q > 5'd6);
      if (runs_q) begin
        runs_q <= !ends;
        if (wait_q != '0) wait_q <= wait_q - 5'd1;
      end else if (starts_q) begin
        runs_q <= 1'b1;
        wait_q <= 5'(Resets + 6);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s_axi_bvalid <= 1'b0;
      s_axi_rvalid <= 1'b0;
      done_q       <= 1'b0;
      ready_q      <= 1'b0;
      again_q      <= 1'b0;
      starts_q     <= 1'b0;
      enable_q     <= 1'b0;
      enables_q    <= '0;
      events_q     <= '0;
    end else begin
      s_axi_bvalid <= writes || (s_axi_bvalid && !s_axi_bready);
      s_axi_rvalid <= reads || (s_axi_rvalid && !s_axi_rready);
      if (reads && at_read == 10'd0) begin
        done_q  <= 1'b0;
        ready_q <= 1'b0;
      end
      if (writes && s_axi_wstrb[0]) begin
        if (at_write == 10'd0) begin
          again_q <= s_axi_wdata[7];
          if (s_axi_wdata[0]) starts_q <= 1'b1;
        end
        if (at_write == 10'd1) enable_q <= s_axi_wdata[0];
        if (at_write == 10'd2) enables_q <= s_axi_wdata[1:0];
        if (at_write == 10'd3) events_q <= events_q ^ s_axi_wdata[1:0];
      end
      if (ends) begin
        done_q   <= 1'b1;
        ready_q  <= 1'b1;
        starts_q <= again_q;
        events_q <= events_q | enables_q;
      end
    end
  end

  logic [Ports-1:0] errors_q;
  for (genvar n = 0; n < Ports; n++) begin : gen_error
    logic cleared;
    assign cleared = reads && at_read == 10'(Faults + n / 32);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) errors_q[n] <= 1'b0;
      else         errors_q[n] <= errors_i[n] || (errors_q[n] && !cleared);
    end
  end

  logic [31:0] got;
  always_comb begin
    got = '0;
    if (at_read == 10'd0) got = {24'd0, again_q, 3'd0, ready_q, !starts_q, done_q, starts_q};
    if (at_read == 10'd1) got = {31'd0, enable_q};
    if (at_read == 10'd2) got = {30'd0, enables_q};
    if (at_read == 10'd3) got = {30'd0, events_q};
    for (int i = 0; i < Args; i++)
      if (at_read == 10'(4 + i + i / 2)) got = got | args_q[32*i +: 32];
    for (int n = 0; n < Ports; n++)
      if (at_read == 10'(Faults + n / 32)) got[n % 32] = errors_q[n];
  end
  always_ff @(posedge clk_i) if (reads) s_axi_rdata <= got;
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < Args; i++)
      for (int b = 0; b < 4; b++)
        if (!rst_ni) args_q[32*i + 8*b +: 8] <= '0;
        else if (writes && at_write == 10'(4 + i + i / 2) && s_axi_wstrb[b])
          args_q[32*i + 8*b +: 8] <= s_axi_wdata[8*b +: 8];
  end
  assign {items_o, bases_o} = args_q;
endmodule

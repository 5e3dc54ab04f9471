// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: a bank of a memory outside the chip, which holds a hex file (a
// beat a line, @addresses in beats). It takes a burst at a time from AXI4's
// channels AR and R, with random pauses. X on a valid, a ready or a taken
// address is an error, and so is a request that changes or crosses 4 KiB.
module rhz_tb_memory #(
  parameter int Width = 64,
  parameter int Beats = 1,
  parameter int Latency = 1,
  parameter int Stalls = 0,
  parameter int Seed = 1,
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
  output logic             rlast_o
);
  localparam int Most = 1024;  // bursts that wait
  logic [Width-1:0] beats [0:Beats-1];
  logic [63:0] places [0:Most-1];
  integer lengths [0:Most-1], times [0:Most-1];
  integer seed, now, head, tail, at;
  logic waiting;
  logic [71:0] held;

  initial begin
    $readmemh(File, beats);
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
          rlast_o <= at == lengths[head % Most];
        end
      end
      arready_o <= ($unsigned($random(seed)) % 100) >= Stalls;
    end
  end
endmodule

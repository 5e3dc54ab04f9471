// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: offers the beats of a hex file on an AXI4-Stream, in order, with
// random pauses, of which +stalls_in=PERCENT sets the share. A ready that is X is
// an error.
module rhz_tb_source #(
  parameter int Width = 64,
  parameter int Beats = 1,   // of one frame
  parameter int Frames = 1,
  parameter int Stalls = 0,  // per cent of cycles without an offer
  parameter int Seed = 1,
  parameter File = ""
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  output logic             tvalid_o,
  input  logic             tready_i,
  output logic [Width-1:0] tdata_o,
  output logic             tlast_o
);
  localparam int Total = Beats * Frames;
  logic [Width-1:0] beats [0:Total-1];
  int next, stalls;
  integer seed;

  initial begin
    $readmemh(File, beats);
    stalls = Stalls;
    if ($value$plusargs("stalls_in=%d", stalls)) begin end
    seed = Seed;
    next = 0;
    tvalid_o = 1'b0;
    tdata_o = '0;
    tlast_o = 1'b0;
  end

  always @(posedge clk_i) begin
    if (rst_ni === 1'b1) begin
      if (tready_i !== 1'b0 && tready_i !== 1'b1) begin
        $display("RHZ_ERROR %m: tready is X at %0t", $time);
        $finish;
      end
      if (!tvalid_o || tready_i) begin
        tvalid_o <= 1'b0;
        if (next < Total && ($unsigned($random(seed)) % 100) >= stalls) begin
          tvalid_o <= 1'b1;
          tdata_o <= beats[next];
          tlast_o <= (next % Beats) == Beats - 1;
          next <= next + 1;
        end
      end
    end
  end
endmodule

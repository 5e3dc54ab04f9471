// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: takes the beats of an AXI4-Stream, with random pauses, of which
// +stalls_out=PERCENT sets the share. It writes them to a hex file or compares
// them with one. X on valid, on taken data or on TLAST is an error, and so is a
// wrong TLAST, a beat that changes while it waits, or silence.
module rhz_tb_sink #(
  parameter int Width = 64,
  parameter int Beats = 1,
  parameter int Frames = 1,
  parameter int Stalls = 0,
  parameter int Seed = 1,
  parameter int Hang = 100000,
  parameter File = "",  // to write, or
  parameter Want = ""   // to compare with
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             tvalid_i,
  output logic             tready_o,
  input  logic [Width-1:0] tdata_i,
  input  logic             tlast_i,
  output logic             done_o,
  output int               wrong_o,  // beats that differ
  // Cycles since reset of the first frame's first and last beat, and of the last
  // frame's first.
  output int               begin_o,
  output int               end_o,
  output int               final_o
);
  localparam int Total = Beats * Frames;
  int taken, silent, now, stalls;
  integer seed, file;
  logic waiting;
  logic [Width:0] held;
  logic [Width-1:0] want [0:Total-1];

  initial begin
    if (Want != "") $readmemh(Want, want);
    else file = $fopen(File, "w");
    stalls = Stalls;
    if ($value$plusargs("stalls_out=%d", stalls)) begin end
    seed = Seed;
    now = 0;
    wrong_o = 0;
    begin_o = 0;
    end_o = 0;
    final_o = 0;
    taken = 0;
    silent = 0;
    waiting = 1'b0;
    tready_o = 1'b0;
    done_o = 1'b0;
  end

  task automatic stop(input int beat, input [8*40-1:0] reason);
    $display("RHZ_ERROR %m at beat %0d of frame %0d: %0s", beat % Beats,
             beat / Beats, reason);
    $finish;
  endtask

  always @(posedge clk_i) begin
    if (rst_ni === 1'b1) begin
      if (tvalid_i !== 1'b0 && tvalid_i !== 1'b1) stop(taken, "tvalid is X");
      if (waiting && tvalid_i !== 1'b1) stop(taken, "a beat is withdrawn");
      if (waiting && held !== {tlast_i, tdata_i})
        stop(taken, "a waiting beat changes");
      waiting = tvalid_i && !tready_o;
      held = {tlast_i, tdata_i};
      silent = silent + 1;
      now <= now + 1;
      if (tvalid_i && tready_o) begin
        silent = 0;
        if (^{tlast_i, tdata_i} === 1'bx) stop(taken, "data is X");
        if (taken >= Total) stop(taken, "a beat after the last frame");
        if (tlast_i !== ((taken % Beats) == Beats - 1))
          stop(taken, "tlast is wrong");
        if (taken == 0) begin_o <= now;
        if (taken == Beats - 1) end_o <= now;
        if (taken == Total - Beats) final_o <= now;
        if (Want == "") begin
          $fwrite(file, "%h\n", tdata_i);
        end else if (tdata_i !== want[taken]) begin
          wrong_o <= wrong_o + 1;
          if (wrong_o < 5)
            $display("%m: beat %0d of frame %0d is %h instead of %h",
                     taken % Beats, taken / Beats, tdata_i, want[taken]);
        end
        taken = taken + 1;
        if (taken == Total && Want == "") $fclose(file);
      end
      if (taken < Total && silent > Hang) stop(taken, "it hangs, no output");
      done_o <= taken == Total;
      tready_o <= ($unsigned($random(seed)) % 100) >= stalls;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the test benches of whole designs share, inside their module, which has a
// parameter Seed: a clock, the cycle, random pauses and the end after a fault.
logic clk = 0;
always #1 clk = !clk;
integer seed = Seed, now = 0;
function automatic logic now_and_then(input integer percent);
  now_and_then = ($unsigned($random(seed)) % 100) >= percent;
endfunction
task automatic stop(input [8*40-1:0] reason);
  $display("FAIL %0s at %0t", reason, $time);
  $finish;
endtask

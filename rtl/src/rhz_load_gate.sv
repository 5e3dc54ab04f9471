// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps an input of a design shut until its memories are loaded. `loaded_i`
// rises once and stays, so that no beat that was offered is taken back.
module rhz_load_gate (
  input  logic loaded_i,
  input  logic valid_i,
  output logic ready_o,
  output logic valid_o,
  input  logic ready_i
);
  assign valid_o = valid_i && loaded_i;
  assign ready_o = ready_i && loaded_i;
endmodule

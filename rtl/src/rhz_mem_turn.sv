// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose turn it is, round robin: chosen_o is the lowest bit of ask_i that is also in
// after_i, otherwise the lowest one; above_o are the bits above it. It is not merged
// with the logic around it: what chooses among requests would otherwise repeat it for
// each of their bits.
(* keep_hierarchy = "yes" *)
module rhz_mem_turn #(
  parameter int Count = 2
) (
  input  logic [Count-1:0] ask_i,
  input  logic [Count-1:0] after_i,
  output logic [Count-1:0] chosen_o,
  output logic [Count-1:0] above_o
);
  // A number and its negation agree in the lowest bit that is set, and differ in all
  // above it.
  logic is_later;
  logic [Count-1:0] later, minus_later, minus_ask;
  assign later       = ask_i & after_i;
  assign is_later    = later != '0;
  assign minus_later = -later;
  assign minus_ask   = -ask_i;
  assign chosen_o    = is_later ? later & minus_later : ask_i & minus_ask;
  assign above_o     = is_later ? later ^ minus_later : ask_i ^ minus_ask;
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a store will hold in the next cycle: what it holds and what comes, less
// what goes. Every sum is there before it is known which is wanted.
module rhz_tally #(
  parameter int Width   = 4,
  parameter int FullIn  = 1,
  parameter int LastIn  = 1,
  parameter int FullOut = 1,
  parameter int LastOut = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_i,
  input  logic             in_last_i,
  input  logic             out_i,
  input  logic             out_last_i,
  output logic [Width-1:0] next_o
);
  logic [Width-1:0] count_q, more, less, both, change;
  assign more = count_q + (in_last_i ? Width'(LastIn) : Width'(FullIn));
  assign less = count_q - (out_last_i ? Width'(LastOut) : Width'(FullOut));
  always_comb begin
    unique case ({in_last_i, out_last_i})
      2'b00:   change = Width'(FullIn - FullOut);
      2'b01:   change = Width'(FullIn - LastOut);
      2'b10:   change = Width'(LastIn - FullOut);
      default: change = Width'(LastIn - LastOut);
    endcase
  end
  assign both = count_q + change;
  always_comb begin
    if (in_i) next_o = out_i ? both : more;
    else      next_o = out_i ? less : count_q;
  end
  always_ff @(posedge clk_i) count_q <= rst_ni ? next_o : '0;
endmodule

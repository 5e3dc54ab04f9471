// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The addresses of nested loops, one a step: loop 0 is the innermost, and loop k adds
// steps_i[k], which stands still meanwhile, to where its last turn began. lasts_i says
// of each loop (rhz_engine_loop) whether it is in its last turn.
module rhz_engine_nest #(
  parameter int Loops     = 2,
  parameter int AddrWidth = 17,
  parameter int StepWidth = 14
) (
  input  logic                       clk_i,
  input  logic                       load_i,
  input  logic [AddrWidth-1:0]       first_i,
  input  logic [Loops*StepWidth-1:0] steps_i,
  input  logic                       step_i,
  input  logic [Loops-1:0]           lasts_i,
  output logic [AddrWidth-1:0]       addr_o
);
  logic [Loops*AddrWidth-1:0] began_q;
  logic [AddrWidth-1:0] from, next;
  logic [StepWidth-1:0] by;
  always_comb begin
    from = began_q[(Loops-1)*AddrWidth +: AddrWidth];
    by   = steps_i[(Loops-1)*StepWidth +: StepWidth];
    for (int k = Loops - 2; k >= 0; k--)
      if (!lasts_i[k]) begin
        from = began_q[k*AddrWidth +: AddrWidth];
        by   = steps_i[k*StepWidth +: StepWidth];
      end
  end
  assign next = load_i ? first_i : from + AddrWidth'(by);
  logic unused;
  assign unused = &{1'b0, lasts_i, by};
  for (genvar k = 0; k < Loops; k++) begin : gen_loop
    logic ends;   // all loops within this one
    if (k == 0) begin : gen_inner
      assign ends = 1'b1;
    end else begin : gen_outer
      assign ends = &lasts_i[k-1:0];
    end
    always_ff @(posedge clk_i)
      if (load_i || (step_i && ends)) began_q[k*AddrWidth +: AddrWidth] <= next;
  end
  assign addr_o = began_q[AddrWidth-1:0];
endmodule

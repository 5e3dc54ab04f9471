// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose the bursts are that are on their way at a memory port, in order: a FIFO of
// Bursts words with one bit set. owner_o is the first one, or 0 if there is none. What
// is chosen by it may decide whether it is popped, late in a cycle: the flags are told
// from the fill before, so that no sum lies behind.
module rhz_mem_owners #(
  parameter int Count  = 2,
  parameter int Bursts = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  input  logic [Count-1:0] owner_i,
  input  logic             pop_i,
  output logic [Count-1:0] owner_o,
  output logic             full_o
);
  localparam int PtrWidth = (Bursts > 1) ? $clog2(Bursts) : 1;
  localparam int FillW    = PtrWidth + 1;

  logic some_q, full_q, more, unused;
  logic [PtrWidth-1:0] write_ptr, read_ptr;
  logic [FillW-1:0] fill_q;
  logic [1:0] unused_last;
  logic [Count-1:0] owners [0:Bursts-1];
  assign unused = &{1'b0, unused_last};
  rhz_counter #(.Count(Bursts)) u_write (
    .clk_i, .rst_ni, .en_i(push_i), .value_o(write_ptr), .last_o(unused_last[0])
  );
  rhz_counter #(.Count(Bursts)) u_read (
    .clk_i, .rst_ni, .en_i(pop_i), .value_o(read_ptr), .last_o(unused_last[1])
  );
  always_ff @(posedge clk_i) if (push_i) owners[write_ptr] <= owner_i;
  assign more = fill_q > FillW'(1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q <= '0;
      some_q <= 1'b0;
      full_q <= 1'b0;
    end else begin
      if (push_i != pop_i) fill_q <= push_i ? fill_q + FillW'(1) : fill_q - FillW'(1);
      some_q <= push_i || (pop_i ? more : some_q);
      full_q <= !pop_i && (push_i ? fill_q == FillW'(Bursts - 1) : full_q);
    end
  end
  assign owner_o = some_q ? owners[read_ptr] : '0;
  assign full_o  = full_q;
endmodule

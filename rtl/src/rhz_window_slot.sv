// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Base address of one of Slots places of Step words each, in turn.
module rhz_window_slot #(
  parameter int Slots = 2,
  parameter int Step  = 1,
  parameter int Width = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             en_i,
  output logic [Width-1:0] base_o
);
  if (Slots == 1) begin : gen_one
    logic unused;
    assign unused = &{1'b0, clk_i, rst_ni, en_i};
    assign base_o = '0;
  end else begin : gen_many
    logic last, unused_slot;
    logic [$clog2(Slots)-1:0] slot;
    logic [Width-1:0] base_q;
    rhz_counter #(.Count(Slots)) u_slot (
      .clk_i, .rst_ni, .en_i, .value_o(slot), .last_o(last)
    );
    assign unused_slot = &{1'b0, slot};
    always_ff @(posedge clk_i) begin
      if (!rst_ni)   base_q <= '0;
      else if (en_i) base_q <= last ? '0 : base_q + Width'(Step);
    end
    assign base_o = base_q;
  end
endmodule

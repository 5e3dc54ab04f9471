// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The half of a crossing on the die that sends: it counts the free places on
// the other die, and has the last register before the border for beats and the
// first one behind it for freed places.
module rhz_crossing_from #(
  parameter int Width = 8,
  parameter int Depth = 6
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [Width-1:0] in_data_i,
  output logic             valid_o,
  output logic [Width-1:0] data_o,
  input  logic             freed_i
);
  localparam int CountWidth = $clog2(Depth + 1);

  logic fire, freed_q, valid_q, credit_q;
  logic [CountWidth-1:0] credits_q, credits_d;
  (* shreg_extract = "no" *) logic [Width-1:0] data_q;

  assign fire = in_valid_i && credit_q;
  always_comb begin
    credits_d = credits_q;
    if (freed_q && !fire)      credits_d = credits_q + CountWidth'(1);
    else if (!freed_q && fire) credits_d = credits_q - CountWidth'(1);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      credits_q <= CountWidth'(Depth);
      credit_q  <= 1'b1;
      freed_q   <= 1'b0;
      valid_q   <= 1'b0;
    end else begin
      credits_q <= credits_d;
      credit_q  <= credits_d != '0;
      freed_q   <= freed_i;
      valid_q   <= fire;
    end
  end
  always_ff @(posedge clk_i) data_q <= in_data_i;

  assign in_ready_o = credit_q;
  assign valid_o    = valid_q;
  assign data_o     = data_q;
endmodule

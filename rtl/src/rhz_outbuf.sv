// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Output buffer with credits: a firing reserves a place (take_i) while credit_o
// is high and fills it later (push_i). A push in cycle p is visible in p + V;
// V = 1 up to 64 places, V = 2 above (block RAM with a prefetch register). A
// beat popped in cycle u gives its credit back for a firing in u + 1.
module rhz_outbuf #(
  parameter int Width = 8,
  parameter int Depth = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  output logic             credit_o,
  input  logic             take_i,
  input  logic             push_i,
  input  logic [Width-1:0] push_data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o
);
  localparam int CountWidth = $clog2(Depth + 1);
  localparam int PtrWidth   = $clog2(Depth);

  if (Depth < 2) begin : gen_bad_depth
    initial $fatal(1, "rhz_outbuf: Depth %0d, at least 2 are needed", Depth);
  end

  logic pop;
  assign pop = out_valid_o && out_ready_i;

  logic [CountWidth-1:0] credits_q, credits_d;
  logic credit_q;
  always_comb begin
    credits_d = credits_q;
    if (pop && !take_i)      credits_d = credits_q + CountWidth'(1);
    else if (!pop && take_i) credits_d = credits_q - CountWidth'(1);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      credits_q <= CountWidth'(Depth);
      credit_q  <= 1'b1;
    end else begin
      credits_q <= credits_d;
      credit_q  <= credits_d != '0;
    end
  end
  assign credit_o = credit_q;

  // Beats that lie in the memory, not counting the prefetched one.
  logic fetch;
  logic [CountWidth-1:0] fill_q, fill_d;
  logic some_q;
  always_comb begin
    fill_d = fill_q;
    if (push_i && !fetch)      fill_d = fill_q + CountWidth'(1);
    else if (!push_i && fetch) fill_d = fill_q - CountWidth'(1);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q <= '0;
      some_q <= 1'b0;
    end else begin
      fill_q <= fill_d;
      some_q <= fill_d != '0;
    end
  end

  logic [PtrWidth-1:0] wr_ptr, rd_ptr;
  logic unused_wr_last, unused_rd_last;
  rhz_counter #(.Count(Depth)) u_wr (
    .clk_i, .rst_ni, .en_i(push_i), .value_o(wr_ptr), .last_o(unused_wr_last)
  );
  rhz_counter #(.Count(Depth)) u_rd (
    .clk_i, .rst_ni, .en_i(fetch), .value_o(rd_ptr), .last_o(unused_rd_last)
  );

  logic [Width-1:0] mem [0:Depth-1];
  always_ff @(posedge clk_i) if (push_i) mem[wr_ptr] <= push_data_i;

  if (Depth <= 64) begin : gen_small
    assign fetch       = pop;
    assign out_valid_o = some_q;
    assign out_data_o  = mem[rd_ptr];
  end else begin : gen_large
    logic valid_q;
    logic [Width-1:0] data_q;
    assign fetch = some_q && (!valid_q || out_ready_i);
    always_ff @(posedge clk_i) begin
      if (!rst_ni) valid_q <= 1'b0;
      else         valid_q <= fetch || (valid_q && !out_ready_i);
    end
    always_ff @(posedge clk_i) if (fetch) data_q <= mem[rd_ptr];
    assign out_valid_o = valid_q;
    assign out_data_o  = data_q;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A FIFO with credits as rhz_outbuf, for signals that come late: whatever goes in or out
// passes one LUT to the next register. So a credit comes back two cycles after its pop, or
// three if few are left. A push in cycle p is visible in p + 1, above 64 places in p + 2.
module rhz_engine_fifo #(
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
    initial $fatal(1, "rhz_engine_fifo: Depth %0d, at least 2 are needed", Depth);
  end

  // Credits without what happened in the last cycle; one more may be taken in this one.
  logic pop, pop_q, take_q, credit_q, one, two, more;
  logic [CountWidth-1:0] credits_q;
  assign pop  = out_valid_o && out_ready_i;
  assign one  = credits_q != '0;
  assign two  = |credits_q[CountWidth-1:1];
  assign more = two && credits_q != CountWidth'(2);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pop_q     <= 1'b0;
      take_q    <= 1'b0;
      credits_q <= CountWidth'(Depth);
      credit_q  <= 1'b1;
    end else begin
      pop_q     <= pop;
      take_q    <= take_i;
      credits_q <= credits_q + {{CountWidth-1{take_q && !pop_q}}, take_q != pop_q};
      credit_q  <= take_i ? (take_q ? more : two) : (take_q ? two : one);
    end
  end
  assign credit_o = credit_q;

  // Beats that lie in the memory, not counting the prefetched one.
  logic fetch, some_q, single;
  logic [CountWidth-1:0] fill_q;
  assign single = fill_q == CountWidth'(1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fill_q <= '0;
      some_q <= 1'b0;
    end else begin
      fill_q <= fill_q + {{CountWidth-1{fetch && !push_i}}, fetch != push_i};
      some_q <= push_i || (some_q && !(fetch && single));
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tokens that units have given each other and not yet taken: a counter of up to
// Tokens for each pair. Bit u * Units + v of give_i and full_o is about what unit u gives
// to v; bit v * Units + u of take_i and none_o about what v takes from u. No unit gives
// itself any. clear_i empties all counters.
module rhz_engine_tokens #(
  parameter int Units  = 5,
  parameter int Tokens = 3
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,
  input  logic [Units*Units-1:0] give_i,
  output logic [Units*Units-1:0] full_o,
  input  logic [Units*Units-1:0] take_i,
  output logic [Units*Units-1:0] none_o
);
  localparam int Width = $clog2(Tokens + 1);
  for (genvar u = 0; u < Units; u++) begin : gen_from
    for (genvar v = 0; v < Units; v++) begin : gen_to
      if (u == v) begin : gen_self
        logic unused;
        assign unused = &{1'b0, give_i[u*Units+v], take_i[v*Units+u]};
        assign full_o[u*Units+v] = 1'b0;
        assign none_o[v*Units+u] = 1'b0;
      end else begin : gen_pair
        logic give, take, none_q, full_q;
        logic [Width-1:0] count_q, count_d;
        assign give    = give_i[u*Units+v];
        assign take    = take_i[v*Units+u];
        assign count_d = count_q + Width'(give) - Width'(take);
        always_ff @(posedge clk_i) begin
          if (!rst_ni || clear_i) begin
            count_q <= '0;
            none_q  <= 1'b1;
            full_q  <= 1'b0;
          end else begin
            count_q <= count_d;
            none_q  <= count_d == '0;
            full_q  <= count_d == Width'(Tokens);
          end
        end
        assign full_o[u*Units+v] = full_q;
        assign none_o[v*Units+u] = none_q;
      end
    end
  end
endmodule

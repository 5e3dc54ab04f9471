// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dot product of Simd activations with Simd signed weights, one product a
// multiplier (Style and Constant as in rhz_mul), then a tree. Latency = M + clog2(Simd), M that
// of rhz_mul.
module rhz_dot #(
  parameter int Simd    = 1,
  parameter int XWidth  = 8,
  parameter int XSigned = 0,
  parameter int WWidth  = 8,
  parameter int Style   = 1,
  parameter int Constant = 0,
  parameter int SumWidth = XWidth + WWidth + $clog2(Simd)
) (
  input  logic                    clk_i,
  input  logic [Simd*XWidth-1:0]  x_i,
  input  logic [Simd*WWidth-1:0]  w_i,
  output logic [SumWidth-1:0]     sum_o
);
  logic [Simd*(XWidth+WWidth)-1:0] products;
  for (genvar s = 0; s < Simd; s++) begin : gen_mul
    rhz_mul #(
      .XWidth(XWidth), .XSigned(XSigned), .WWidth(WWidth), .Style(Style),
      .Constant(Constant)
    ) u_mul (
      .clk_i, .x_i(x_i[s*XWidth +: XWidth]), .w_i(w_i[s*WWidth +: WWidth]),
      .product_o(products[s*(XWidth+WWidth) +: XWidth+WWidth])
    );
  end
  rhz_sum #(.Count(Simd), .Width(XWidth + WWidth)) u_sum (
    .clk_i, .terms_i(products), .sum_o
  );
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One registered product x·w, w signed, exact in XWidth + WWidth bits.
// Style 0 builds it from partial products in LUTs, otherwise tools are asked
// for a DSP. Latency one cycle.
module rhz_mul #(
  parameter int XWidth  = 8,
  parameter int XSigned = 0,
  parameter int WWidth  = 8,
  parameter int Style   = 1
) (
  input  logic                            clk_i,
  input  logic [XWidth-1:0]               x_i,
  input  logic [WWidth-1:0]               w_i,
  output logic signed [XWidth+WWidth-1:0] product_o
);
  localparam int Width = XWidth + WWidth;
  if (Style == 0) begin : gen_lut
    logic [Width-1:0] w, sum, product_q;
    assign w = Width'($signed(w_i));
    always_comb begin
      sum = '0;
      for (int i = 0; i < XWidth; i++) begin
        if (XSigned != 0 && i == XWidth - 1) sum = sum - ((w << i) & {Width{x_i[i]}});
        else                                 sum = sum + ((w << i) & {Width{x_i[i]}});
      end
    end
    always_ff @(posedge clk_i) product_q <= sum;
    assign product_o = product_q;
  end else begin : gen_dsp
    logic signed [XWidth:0]   x;
    logic signed [WWidth-1:0] w;
    logic signed [XWidth+WWidth:0] product;
    (* use_dsp = "yes" *) logic signed [Width-1:0] product_q;
    logic unused;
    assign x = {(XSigned != 0) && x_i[XWidth-1], x_i};
    assign w = w_i;
    assign product = x * w;
    assign unused = &{1'b0, product[Width]};
    always_ff @(posedge clk_i) product_q <= product[Width-1:0];
    assign product_o = product_q;
  end
endmodule

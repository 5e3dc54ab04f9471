// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One registered product x·w, w signed, exact in XWidth + WWidth bits.
// Style 0 builds it in LUTs by radix-4 digits (rhz_digits) of the operand that
// has fewer signed bits, two digits a stage. More than four digits stand side by
// side in pairs, which the second stage adds. Of a Constant w shifted rows are
// added instead. Otherwise tools are asked for a DSP. An x of more than
// Slice + 1 signed bits is cut into slices of so many, whose products have
// registers of their own and are added in a second stage; a slice of two bits
// stays in LUTs. Latency = Stages; more stages than it needs delay the product.
module rhz_mul #(
  parameter int XWidth   = 8,
  parameter int XSigned  = 0,
  parameter int WWidth   = 8,
  parameter int Style    = 1,
  parameter int Constant = 0,
  parameter int Slice    = 0,   // 0: one block takes any x
  parameter int Stages   = (Style == 0 && WWidth > 4 && XWidth + 1 - XSigned > 4) ? 2 : 1
) (
  input  logic                            clk_i,
  input  logic [XWidth-1:0]               x_i,
  input  logic [WWidth-1:0]               w_i,
  output logic signed [XWidth+WWidth-1:0] product_o
);
  localparam int Width  = XWidth + WWidth;
  localparam int Signed = (XSigned != 0) ? XWidth : XWidth + 1;
  localparam bit Swap   = Signed < WWidth;   // rows of w under bits of x
  localparam int Rows   = Swap ? Signed : WWidth;
  localparam int Groups = (Rows + 3) / 4;
  localparam int Slices =
      (Style != 0 && Slice > 0 && Signed > Slice + 1) ? (Signed + Slice - 2) / Slice : 1;
  localparam int Built  = (Slices > 1 || (Style == 0 && Groups > 1)) ? 2 : 1;
  logic [Width-1:0] product;
  if (Style == 0) begin : gen_lut
    localparam int Across       = Swap ? WWidth : XWidth;
    localparam int AcrossSigned = (Swap || XSigned != 0) ? 1 : 0;
    localparam int RowsW        = (Rows + 1) / 2 * 2 + 1;
    // Signed bits of four rows' sum: digits lie in -8 .. 8, constant rows up to 15.
    localparam int Part = Across + ((Constant != 0 && AcrossSigned == 0) ? 5 : 4);
    logic [Across-1:0] across;
    logic [RowsW-1:0]  rows;                    // whole digits above a zero
    if (Swap) begin : gen_swap
      assign across = w_i;
      assign rows   = RowsW'($signed({(XSigned != 0) && x_i[XWidth-1], x_i, 1'b0}));
    end else begin : gen_straight
      assign across = x_i;
      assign rows   = RowsW'($signed({w_i, 1'b0}));
    end
    if (Constant == 0 && Groups == 2) begin : gen_two
      // The second stage goes on where the first one ended.
      localparam int Digits = (Rows - 3) / 2;
      logic [Part-1:0] first, first_q;
      logic [Across+2*Digits-1:0] second;
      logic [2*Digits:0] digits_q;
      logic [Across-1:0] across_q;
      logic [Width-1:0]  product_q;
      rhz_digits #(.Across(Across), .AcrossSigned(AcrossSigned)) u_first (
        .across_i(across), .rows_i(rows[4:0]), .acc_i((Across+2)'(0)), .sum_o(first)
      );
      rhz_digits #(.Across(Across), .AcrossSigned(AcrossSigned), .Digits(Digits)) u_second (
        .across_i(across_q), .rows_i(digits_q),
        .acc_i((Across+2)'($signed(first_q[Part-1:4]))), .sum_o(second)
      );
      logic unused;
      assign unused = &{1'b0, second};
      always_ff @(posedge clk_i) begin
        first_q   <= first;
        across_q  <= across;
        digits_q  <= rows[4 +: 2*Digits+1];
        product_q <= Width'($signed({second, first_q[3:0]}));
      end
      assign product = product_q;
    end else begin : gen_groups
      logic [Groups*Width-1:0] parts;   // each in its place
      for (genvar g = 0; g < Groups; g++) begin : gen_group
        localparam int Count = (Rows - 4 * g < 4) ? Rows - 4 * g : 4;
        logic [Part-1:0] sum, part_q;
        if (Constant != 0) begin : gen_rows
          logic [Part-1:0] wide;
          assign wide = Part'($signed({(AcrossSigned != 0) && across[Across-1], across}));
          always_comb begin
            sum = '0;
            for (int i = 0; i < Count; i++) begin
              if (4 * g + i == Rows - 1) sum = sum - ((wide << i) & {Part{rows[4*g+i+1]}});
              else                       sum = sum + ((wide << i) & {Part{rows[4*g+i+1]}});
            end
            // A zero takes no adder: synthesis does not see it in sums of three.
            if (rows[4*g+1 +: Count] == '0) sum = '0;
          end
        end else begin : gen_digits
          localparam int Digits = (Count + 1) / 2;
          logic [Across+2*Digits-1:0] digits;
          rhz_digits #(.Across(Across), .AcrossSigned(AcrossSigned), .Digits(Digits)) u_digits (
            .across_i(across), .rows_i(rows[4*g +: 2*Digits+1]), .acc_i((Across+2)'(0)), .sum_o(digits)
          );
          assign sum = Part'($signed(digits));
        end
        logic unused;
        assign unused = &{1'b0, part_q};
        always_ff @(posedge clk_i) part_q <= sum;
        assign parts[g*Width +: Width] = Width'($signed(part_q)) << (4 * g);
      end
      if (Groups == 1) begin : gen_one
        assign product = parts;
      end else begin : gen_add
        logic [Width-1:0] total, product_q;
        always_comb begin
          total = '0;
          for (int g = 0; g < Groups; g++) total = total + parts[g*Width +: Width];
        end
        always_ff @(posedge clk_i) product_q <= total;
        assign product = product_q;
      end
    end
  end else if (Slices > 1) begin : gen_slices
    logic [Signed-1:0] x;
    logic signed [WWidth-1:0] w;
    logic [Slices*Width-1:0] parts;   // each in its place
    logic [Width-1:0] total, product_q;
    assign x = Signed'({(XSigned != 0) && x_i[XWidth-1], x_i});
    assign w = w_i;
    for (genvar s = 0; s < Slices; s++) begin : gen_slice
      localparam int First = s * Slice;
      localparam bit Last  = s == Slices - 1;
      localparam int Bits  = Last ? Signed - First : Slice;
      localparam int Part  = Bits + WWidth;
      if (Bits <= 2) begin : gen_rows
        logic signed [Part-1:0] wide, part_q;
        assign wide = Part'(w);
        always_ff @(posedge clk_i)
          part_q <= (wide & {Part{x[First]}}) - ((wide << 1) & {Part{x[First+1]}});
        assign parts[s*Width +: Width] = Width'(part_q) << First;
      end else begin : gen_block
        logic signed [Bits:0] piece;
        logic signed [Part:0] full;
        (* use_dsp = "yes" *) logic signed [Part-1:0] part_q;
        logic unused;
        assign piece  = {Last && x[First+Bits-1], x[First +: Bits]};
        assign full   = piece * w;
        assign unused = &{1'b0, full[Part]};
        always_ff @(posedge clk_i) part_q <= full[Part-1:0];
        assign parts[s*Width +: Width] = Width'(part_q) << First;
      end
    end
    always_comb begin
      total = '0;
      for (int s = 0; s < Slices; s++) total = total + parts[s*Width +: Width];
    end
    always_ff @(posedge clk_i) product_q <= total;
    assign product = product_q;
  end else begin : gen_dsp
    logic signed [XWidth:0]   x;
    logic signed [WWidth-1:0] w;
    logic signed [XWidth+WWidth:0] full;
    (* use_dsp = "yes" *) logic signed [Width-1:0] product_q;
    logic unused;
    assign x = {(XSigned != 0) && x_i[XWidth-1], x_i};
    assign w = w_i;
    assign full = x * w;
    assign unused = &{1'b0, full[Width]};
    always_ff @(posedge clk_i) product_q <= full[Width-1:0];
    assign product = product_q;
  end
  rhz_delay #(.Width(Width), .Stages(Stages - Built)) u_delay (
    .clk_i, .data_i(product), .data_o(product_o)
  );
endmodule

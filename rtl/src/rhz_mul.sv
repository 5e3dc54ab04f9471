// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One registered product x·w, w signed, exact in XWidth + WWidth bits.
// Style 0 builds it in LUTs: the narrower operand's bits choose rows of the
// other one, four rows are added at once, and what more than four make is added
// in a second stage. Otherwise tools are asked for a DSP. An x of more than
// Slice + 1 signed bits is cut into slices of so many, whose products have
// registers of their own and are added in a second stage; a slice of two bits
// stays in LUTs. Latency = Stages; more stages than it needs delay the product.
module rhz_mul #(
  parameter int XWidth  = 8,
  parameter int XSigned = 0,
  parameter int WWidth  = 8,
  parameter int Style   = 1,
  parameter int Slice   = 0,   // 0: one block takes any x
  parameter int Stages  =
      (Style == 0 && ((XWidth < WWidth) ? XWidth : WWidth) > 4) ? 2 : 1
) (
  input  logic                            clk_i,
  input  logic [XWidth-1:0]               x_i,
  input  logic [WWidth-1:0]               w_i,
  output logic signed [XWidth+WWidth-1:0] product_o
);
  localparam int Width  = XWidth + WWidth;
  localparam bit Swap   = XWidth < WWidth;   // rows of w under bits of x
  localparam int Rows   = Swap ? XWidth : WWidth;
  localparam int Across = Width - Rows;
  localparam int Groups = (Rows + 3) / 4;
  localparam int Signed = (XSigned != 0) ? XWidth : XWidth + 1;
  localparam int Slices =
      (Style != 0 && Slice > 0 && Signed > Slice + 1) ? (Signed + Slice - 2) / Slice : 1;
  localparam int Built  = (Slices > 1 || (Style == 0 && Groups > 1)) ? 2 : 1;
  logic [Width-1:0] product;
  if (Style == 0) begin : gen_lut
    localparam bit AcrossSigned = Swap || XSigned != 0;
    localparam bit RowsSigned   = !Swap || XSigned != 0;
    logic [Across-1:0] across;
    logic [Rows-1:0]   rows;
    logic [Groups*Width-1:0] parts;   // each in its place
    if (Swap) begin : gen_swap
      assign across = w_i;
      assign rows   = x_i;
    end else begin : gen_straight
      assign across = x_i;
      assign rows   = w_i;
    end
    for (genvar g = 0; g < Groups; g++) begin : gen_group
      localparam int First = g * 4;
      localparam int Count = (Rows - First < 4) ? Rows - First : 4;
      localparam bit Last  = RowsSigned && g == Groups - 1;
      localparam int Part  = Across + Count;
      logic [Part-1:0] wide, sum, part_q;
      assign wide = {{Count{AcrossSigned && across[Across-1]}}, across};
      always_comb begin
        sum = '0;
        for (int i = 0; i < Count; i++) begin
          if (Last && i == Count - 1) sum = sum - ((wide << i) & {Part{rows[First+i]}});
          else                        sum = sum + ((wide << i) & {Part{rows[First+i]}});
        end
      end
      always_ff @(posedge clk_i) part_q <= sum;
      if (AcrossSigned || Last) begin : gen_signed
        assign parts[g*Width +: Width] = Width'($signed(part_q)) << First;
      end else begin : gen_unsigned
        assign parts[g*Width +: Width] = Width'(part_q) << First;
      end
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

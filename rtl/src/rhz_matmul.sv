// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices that both come as streams: a [Rows x Inner] by
// b [Inner x Columns], in folds of Pe columns by Simd elements of a sum. b is
// stored first (rhz_matmul_pages, two pages); every row of a then comes OutFolds
// times, as for rhz_matvec. ByColumn = 1: a beat of b has Simd elements of a
// column (b comes transposed), 0: Pe elements of a row. Zero points are taken off
// before: a - ZeroA has XWidth bits, signed unless ZeroA = 0 and a is unsigned;
// b - ZeroB has WWidth signed bits. Latency is that of rhz_matvec.
module rhz_matmul #(
  parameter int Pe       = 1,
  parameter int Simd     = 1,
  parameter int AWidth   = 8,
  parameter int ASigned  = 0,
  parameter int ZeroA    = 0,
  parameter int XWidth   = 8,
  parameter int XSigned  = 0,
  parameter int BWidth   = 8,
  parameter int BSigned  = 1,
  parameter int ZeroB    = 0,
  parameter int WWidth   = 8,
  parameter int AccWidth = 24,
  parameter int Inner    = 1,
  parameter int Columns  = 1,
  parameter int Folds    = 1,   // ceil(Inner / Simd)
  parameter int OutFolds = 1,   // ceil(Columns / Pe)
  parameter int Rows     = 1,   // of a that meet a matrix, one after another
  parameter int Matrices = 1,   // of a page
  parameter int Passes   = 1,   // through a page
  parameter int ByColumn = 0,
  parameter int Interleaved = 0, // lines of b: one of each matrix in turn
  parameter int Style    = 1,
  parameter int Ultra    = 0,
  parameter int Depth    = 2,
  parameter int Latency  = 0
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    a_valid_i,
  output logic                    a_ready_o,
  input  logic [Simd*AWidth-1:0]  a_data_i,
  input  logic                    b_valid_i,
  output logic                    b_ready_o,
  input  logic [((ByColumn != 0) ? Simd : Pe)*BWidth-1:0] b_data_i,
  output logic                    out_valid_o,
  input  logic                    out_ready_i,
  output logic [Pe*AccWidth-1:0]  out_data_o
);
  localparam bit Along  = ByColumn != 0;
  localparam int Lanes  = Along ? Simd : Pe;
  localparam int Banks  = Along ? Pe : Simd;
  localparam int Last   = Inner - (Folds - 1) * Simd;  // elements of a sum's last fold
  localparam int Stored = (ZeroB == 0) ? BWidth : WWidth;
  localparam int Stages = (Style >= 2) ? 1 : 2;
  if (Folds != (Inner + Simd - 1) / Simd || OutFolds != (Columns + Pe - 1) / Pe) begin : gen_bad_folds
    initial $fatal(1, "rhz_matmul: %0d x %0d folds, not those of %0d x %0d by %0d x %0d",
                   Folds, OutFolds, Inner, Columns, Simd, Pe);
  end

  logic [Simd*XWidth-1:0] x;
  for (genvar s = 0; s < Simd; s++) begin : gen_x
    logic [AWidth-1:0] element;
    assign element = a_data_i[s*AWidth +: AWidth];
    if (ZeroA == 0) begin : gen_plain
      assign x[s*XWidth +: XWidth] = XWidth'(element);
    end else begin : gen_less
      localparam int Full = (XWidth > AWidth) ? XWidth : AWidth + 1;
      assign x[s*XWidth +: XWidth] = XWidth'(
          Full'($signed({(ASigned != 0) && element[AWidth-1], element})) - Full'(ZeroA));
    end
  end

  logic [Lanes*Stored-1:0] stored;
  for (genvar l = 0; l < Lanes; l++) begin : gen_b
    logic [BWidth-1:0] element;
    assign element = b_data_i[l*BWidth +: BWidth];
    if (ZeroB == 0) begin : gen_plain
      assign stored[l*Stored +: Stored] = element;
    end else begin : gen_less
      localparam int Full = (WWidth > BWidth) ? WWidth : BWidth + 1;
      assign stored[l*Stored +: Stored] = WWidth'(
          Full'($signed({(BSigned != 0) && element[BWidth-1], element})) - Full'(ZeroB));
    end
  end

  logic ready, may, fire;
  logic [Banks*Lanes*Stored-1:0] words;
  assign fire      = a_valid_i && a_ready_o;
  assign a_ready_o = ready && may;
  rhz_matmul_pages #(
    .Elem(Stored), .Lanes(Lanes), .Banks(Banks), .Lines(Along ? Columns : Inner),
    .Beats(Along ? Folds : OutFolds), .BeatStep(Along ? 1 : Folds),
    .GroupStep(Along ? Folds : 1), .LastLanes(Along ? Last : Lanes), .Clear(Along ? 0 : 1),
    .Words(OutFolds * Folds), .Matrices(Matrices), .Interleaved(Interleaved), .Rows(Rows),
    .Passes(Passes), .Stages(Stages), .Ultra(Ultra)
  ) u_pages (
    .clk_i, .rst_ni, .in_valid_i(b_valid_i), .in_ready_o(b_ready_o), .in_data_i(stored),
    .ready_o(ready), .step_i(fire), .data_o(words)
  );

  logic [Pe*Simd*WWidth-1:0] w;
  for (genvar e = 0; e < Pe; e++) begin : gen_pe
    for (genvar s = 0; s < Simd; s++) begin : gen_lane
      localparam int Place = Along ? e * Lanes + s : s * Lanes + e;
      logic [Stored-1:0] element;
      assign element = words[Place*Stored +: Stored];
      if (Stored == WWidth) begin : gen_whole
        assign w[(e*Simd+s)*WWidth +: WWidth] = element;
      end else begin : gen_longer
        assign w[(e*Simd+s)*WWidth +: WWidth] =
            {{(WWidth-Stored){(BSigned != 0) && element[Stored-1]}}, element};
      end
    end
  end

  localparam int AddrW = (OutFolds * Folds > 1) ? $clog2(OutFolds * Folds) : 1;
  logic unused_last;
  logic [AddrW-1:0] unused_addr;
  rhz_matvec_fed #(
    .Pe(Pe), .Simd(Simd), .XWidth(XWidth), .XSigned(XSigned), .WWidth(WWidth),
    .AccWidth(AccWidth), .Folds(Folds), .OutFolds(OutFolds), .Style(Style), .Depth(Depth),
    .Latency(Latency)
  ) u_products (
    .clk_i, .rst_ni, .in_valid_i(a_valid_i && ready), .in_ready_o(may), .in_data_i(x),
    .out_valid_o, .out_ready_i, .out_data_o, .last_o(unused_last), .addr_o(unused_addr), .w_i(w)
  );
endmodule

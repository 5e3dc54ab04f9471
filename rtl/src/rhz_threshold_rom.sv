// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Thresholds that bit Stage of a bisection can meet: the found high bits select
// one of 2^Stage, a threshold beyond Count does not exist (never reached). The
// file is the whole of rhz_threshold's; unread words and bits fall away.
module rhz_threshold_rom #(
  parameter int Lanes = 1,
  parameter int Count = 7,
  parameter int Width = 17,
  parameter int OutFolds = 1,
  parameter int Lane  = 0,
  parameter int Stage = 0,
  parameter int Bits  = 3,
  parameter     File  = "",
  parameter int IndexWidth = (OutFolds > 1) ? $clog2(OutFolds) : 1
) (
  input  logic                  clk_i,
  input  logic [IndexWidth-1:0] index_i,
  input  logic [Bits-1:0]       found_i,
  output logic [Width-1:0]      threshold_o,
  output logic                  exists_o
);
  logic [Lanes*Count*Width-1:0] mem [0:OutFolds-1];
  logic [Lanes*Count*Width-1:0] word;
  if (File == "") begin : gen_zero
    initial for (int i = 0; i < OutFolds; i++) mem[i] = '0;
  end else begin : gen_file
    initial $readmemh(File, mem);
  end
  if (OutFolds == 1) begin : gen_one
    assign word = mem[0];
  end else begin : gen_many
    assign word = mem[index_i];
  end
  logic unused;
  assign unused = &{1'b0, word, found_i, index_i};

  localparam int Half = 1 << (Bits - 1 - Stage);
  localparam bit All  = Count == (1 << Bits) - 1;
  logic [Width-1:0] threshold;
  logic exists;
  always_comb begin
    threshold = '0;
    exists    = All;
    for (int j = 0; j < (1 << Stage); j++) begin
      if (found_i == Bits'(2 * j * Half) && (2 * j + 1) * Half <= Count) begin
        threshold = word[(Lane*Count+(((2*j+1)*Half <= Count) ? (2*j+1)*Half-1 : 0))*Width +: Width];
        exists    = 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    threshold_o <= threshold;
    exists_o    <= exists;
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One of two to four words: a LUT of six inputs a bit, or two of four. It is not
// merged with the logic around it.
(* keep_hierarchy = "yes" *)
module rhz_choose_few #(
  parameter int Width = 8,
  parameter int Count = 4
) (
  input  logic [$clog2(Count)-1:0] sel_i,
  input  logic [Count*Width-1:0]   data_i,
  output logic [Width-1:0]         data_o
);
  if (Count == 2) begin : gen_two
    assign data_o = sel_i[0] ? data_i[Width +: Width] : data_i[0 +: Width];
  end else begin : gen_four
    // Of three the last one stands for the fourth.
    always_comb begin
      unique case (sel_i)
        2'd0:    data_o = data_i[0 +: Width];
        2'd1:    data_o = data_i[Width +: Width];
        2'd2:    data_o = data_i[2*Width +: Width];
        default: data_o = data_i[(Count-1)*Width +: Width];
      endcase
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accumulators: two banks of Entries times Out sums, which the array and the vector
// unit add to and the vector unit reads. A client names bank and entry; two cycles later
// it gives the terms (and the array a carry for each column), and the vector unit finds
// the sums of its group of In columns in vector_sums_o. With fresh the terms replace the
// sums. The two clients never name the same bank in the same cycle, and neither names an
// entry again within the two cycles after it.
module rhz_engine_sums #(
  parameter int In        = 16,
  parameter int Out       = 16,
  parameter int Entries   = 512,
  parameter int SumBits   = 27,
  parameter int TermWidth = 16 + $clog2(In),
  parameter int EntryWidth = $clog2(Entries)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     array_valid_i,
  input  logic                     array_bank_i,
  input  logic [EntryWidth-1:0]    array_entry_i,
  input  logic                     array_fresh_i,
  input  logic [Out*TermWidth-1:0] array_terms_i,
  input  logic [Out-1:0]           array_carries_i,
  input  logic                     vector_valid_i,
  input  logic                     vector_adds_i,
  input  logic                     vector_bank_i,
  input  logic [EntryWidth-1:0]    vector_entry_i,
  input  logic                     vector_group_i,
  input  logic                     vector_fresh_i,
  input  logic [In*17-1:0]         vector_terms_i,
  output logic [In*SumBits-1:0]    vector_sums_o
);
  localparam int Groups = Out / In;

  // Two cycles later.
  logic vector_bank, vector_group;
  rhz_delay #(.Width(2), .Stages(2)) u_vector (
    .clk_i, .data_i({vector_bank_i, vector_group_i}), .data_o({vector_bank, vector_group})
  );

  logic [2*Out*SumBits-1:0] sums;
  for (genvar b = 0; b < 2; b++) begin : gen_bank
    logic vector, adds, by_vector;
    logic [2:0] writes;
    logic [EntryWidth-1:0] entry, entry_late;
    logic fresh_q;
    assign vector = vector_valid_i && vector_bank_i == 1'(b);
    assign adds   = (array_valid_i && array_bank_i == 1'(b)) || (vector && vector_adds_i);
    assign entry  = vector ? vector_entry_i : array_entry_i;
    rhz_valid #(.Stages(2)) u_writes (.clk_i, .rst_ni, .valid_i(adds), .valid_o(writes));
    rhz_delay #(.Width(1 + EntryWidth), .Stages(2)) u_entry (
      .clk_i, .data_i({vector, entry}), .data_o({by_vector, entry_late})
    );
    always_ff @(posedge clk_i) fresh_q <= vector ? vector_fresh_i : array_fresh_i;
    logic unused;
    assign unused = &{1'b0, writes};

    for (genvar g = 0; g < Groups; g++) begin : gen_group
      logic [In*SumBits-1:0] read, sum_q, total;
      rhz_sdpram #(.Width(In * SumBits), .Words(Entries), .Stages(1), .AddrWidth(EntryWidth)) u_ram (
        .clk_i, .we_i(writes[2] && (!by_vector || vector_group == 1'(g))),
        .waddr_i(entry_late), .wdata_i(total), .re_i(1'b1), .raddr_i(entry), .rdata_o(read)
      );
      // The register after the memory's own, with its reset.
      always_ff @(posedge clk_i) begin
        if (fresh_q) sum_q <= '0;
        else         sum_q <= read;
      end
      for (genvar c = 0; c < In; c++) begin : gen_column
        localparam int N = g * In + c;
        logic [SumBits-1:0] term;
        logic [SumBits:0] full;
        logic carry, unused_low;
        assign term  = by_vector ? SumBits'($signed(vector_terms_i[c*17 +: 17]))
                                 : SumBits'($signed(array_terms_i[N*TermWidth +: TermWidth]));
        assign carry = array_carries_i[N] && !by_vector;
        assign full  = {sum_q[c*SumBits +: SumBits], carry} + {term, 1'b1};
        assign unused_low = full[0];
        assign total[c*SumBits +: SumBits] = full[SumBits:1];
      end
      assign sums[(b*Groups+g)*In*SumBits +: In*SumBits] = sum_q;
    end
  end

  localparam int Selects = (Groups == 1) ? 1 : 2;
  logic [1:0] select;
  assign select = (Groups == 1) ? {1'b0, vector_bank} : {vector_bank, vector_group};
  rhz_mux #(.Width(In * SumBits), .Count(2 * Groups)) u_sums (
    .sel_i(select[Selects-1:0]), .data_i(sums), .data_o(vector_sums_o)
  );
  logic unused_select;
  assign unused_select = &{1'b0, select, vector_group};
endmodule

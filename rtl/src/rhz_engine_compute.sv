// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The computing side of an engine: the matrix unit with its array, the vector unit with
// its lanes, and the accumulators between them. The scratchpad's ports are those of its
// readers 0 (matrix) and 1 (vector) and of the vector unit's writer.
module rhz_engine_compute #(
  parameter int In      = 16,
  parameter int Out     = 16,
  parameter int Words   = 1024,
  parameter int Entries = 512,
  parameter int SumBits = 27,
  parameter int Wide    = 1,
  parameter int Table   = 1,
  parameter int AddrWidth = $clog2(Words)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   matrix_valid_i,
  output logic                   matrix_ready_o,
  input  logic [255:0]           matrix_instruction_i,
  output logic                   matrix_done_o,
  input  logic                   vector_valid_i,
  output logic                   vector_ready_o,
  input  logic [255:0]           vector_instruction_i,
  output logic                   vector_done_o,
  input  logic                   weights_valid_i,
  output logic                   weights_ready_o,
  input  logic [In*8-1:0]        weights_data_i,
  output logic [1:0]             rd_valid_o,
  output logic [2*AddrWidth-1:0] rd_addr_o,
  input  logic [1:0]             rd_ready_i,
  input  logic [1:0]             rd_data_valid_i,
  input  logic [2*In*8-1:0]      rd_data_i,
  output logic                   wr_valid_o,
  output logic [AddrWidth-1:0]   wr_addr_o,
  output logic [In*8-1:0]        wr_data_o,
  input  logic                   wr_ready_i
);
  localparam int EntryWidth = $clog2(Entries);
  localparam int TermWidth  = 16 + $clog2(In);

  logic soon_valid, soon_bank, next_valid, next_bank, array_valid, array_bank, array_fresh;
  logic [EntryWidth-1:0] array_entry;
  logic [Out*TermWidth-1:0] array_terms;
  logic [Out-1:0] array_carries;
  rhz_engine_matrix #(.In(In), .Out(Out), .Words(Words), .Entries(Entries), .Wide(Wide)) u_matrix (
    .clk_i, .rst_ni, .start_valid_i(matrix_valid_i), .start_ready_o(matrix_ready_o),
    .instruction_i(matrix_instruction_i), .done_o(matrix_done_o), .rd_valid_o(rd_valid_o[0]),
    .rd_addr_o(rd_addr_o[0 +: AddrWidth]), .rd_ready_i(rd_ready_i[0]),
    .rd_data_valid_i(rd_data_valid_i[0]), .rd_data_i(rd_data_i[0 +: In*8]),
    .weights_valid_i, .weights_ready_o, .weights_data_i, .next_valid_o(next_valid),
    .next_bank_o(next_bank), .soon_valid_o(soon_valid),
    .soon_bank_o(soon_bank), .sum_valid_o(array_valid), .sum_bank_o(array_bank),
    .sum_entry_o(array_entry), .sum_fresh_o(array_fresh), .sum_terms_o(array_terms),
    .sum_carries_o(array_carries)
  );

  logic vector_valid, vector_adds, vector_bank, vector_group, vector_fresh;
  logic [EntryWidth-1:0] vector_entry;
  logic [In*17-1:0] vector_terms;
  logic [In*SumBits-1:0] vector_sums;
  rhz_engine_vector #(
    .In(In), .Words(Words), .Entries(Entries), .SumBits(SumBits), .Wide(Wide), .Table(Table)
  ) u_vector (
    .clk_i, .rst_ni, .start_valid_i(vector_valid_i), .start_ready_o(vector_ready_o),
    .instruction_i(vector_instruction_i), .done_o(vector_done_o), .rd_valid_o(rd_valid_o[1]),
    .rd_addr_o(rd_addr_o[AddrWidth +: AddrWidth]), .rd_ready_i(rd_ready_i[1]),
    .rd_data_valid_i(rd_data_valid_i[1]), .rd_data_i(rd_data_i[In*8 +: In*8]), .wr_valid_o,
    .wr_addr_o, .wr_data_o, .wr_ready_i, .next_valid_i(next_valid), .next_bank_i(next_bank),
    .soon_valid_i(soon_valid), .soon_bank_i(soon_bank), .sum_valid_o(vector_valid),
    .sum_adds_o(vector_adds), .sum_bank_o(vector_bank), .sum_entry_o(vector_entry),
    .sum_group_o(vector_group), .sum_fresh_o(vector_fresh), .sum_terms_o(vector_terms),
    .sums_i(vector_sums)
  );
  rhz_engine_sums #(.In(In), .Out(Out), .Entries(Entries), .SumBits(SumBits)) u_sums (
    .clk_i, .rst_ni, .array_valid_i(array_valid), .array_bank_i(array_bank),
    .array_entry_i(array_entry), .array_fresh_i(array_fresh), .array_terms_i(array_terms),
    .array_carries_i(array_carries), .vector_valid_i(vector_valid),
    .vector_adds_i(vector_adds), .vector_bank_i(vector_bank), .vector_entry_i(vector_entry),
    .vector_group_i(vector_group), .vector_fresh_i(vector_fresh),
    .vector_terms_i(vector_terms), .vector_sums_o(vector_sums)
  );
endmodule

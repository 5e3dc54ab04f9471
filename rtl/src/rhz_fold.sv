// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The word of a memory that a firing takes, Folds words for each of OutFolds
// results; last_o: it is the last one of a result. Trips and Uses as in rhz_index.
module rhz_fold #(
  parameter int Folds     = 1,
  parameter int OutFolds  = 1,
  parameter int Trips     = 1,
  parameter int Uses      = 1,
  parameter int Words     = Trips * OutFolds * Folds,
  parameter int AddrWidth = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 en_i,
  output logic [AddrWidth-1:0] addr_o,
  output logic                 last_o
);
  if (Trips == 1) begin : gen_once
    localparam int FoldW = (Folds > 1) ? $clog2(Folds) : 1;
    logic unused_last;
    logic [FoldW-1:0] unused_fold;
    rhz_counter #(.Count(Words)) u_addr (
      .clk_i, .rst_ni, .en_i, .value_o(addr_o), .last_o(unused_last)
    );
    rhz_counter #(.Count(Folds)) u_fold (
      .clk_i, .rst_ni, .en_i, .value_o(unused_fold), .last_o
    );
  end else begin : gen_trips
    localparam int TripW = $clog2(Trips);
    logic [TripW-1:0] unused_trip;
    rhz_turn #(.Layers(Trips), .Vectors(Uses), .OutFolds(OutFolds), .Folds(Folds)) u_word (
      .clk_i, .rst_ni, .en_i, .addr_o, .layer_o(unused_trip), .last_o
    );
  end
endmodule

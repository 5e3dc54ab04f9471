// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The word of a memory that a beat takes: Count words, one after another. With
// several Trips each has words of its own, which it takes Uses times before those
// of the next one follow.
module rhz_index #(
  parameter int Count = 1,
  parameter int Trips = 1,
  parameter int Uses  = 1,
  parameter int Words = Trips * Count,
  parameter int Width = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             en_i,
  output logic [Width-1:0] value_o
);
  logic unused_last;
  if (Trips == 1) begin : gen_once
    rhz_counter #(.Count(Count)) u_word (
      .clk_i, .rst_ni, .en_i, .value_o, .last_o(unused_last)
    );
  end else begin : gen_trips
    localparam int TripW = $clog2(Trips);
    logic [TripW-1:0] unused_trip;
    rhz_turn #(.Layers(Trips), .Vectors(Uses), .OutFolds(Count), .Results(1)) u_word (
      .clk_i, .rst_ni, .en_i, .addr_o(value_o), .layer_o(unused_trip), .last_o(unused_last)
    );
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a datagram of one payload word (Ack, Status): taken whole in the cycle
// with take_o, while send_i is high, and put out beat by beat.
module rhz_link_short #(
  parameter int Width = 64,
  parameter int Kind  = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             send_i,
  output logic             take_o,
  input  logic [15:0]      epoch_i,
  input  logic [15:0]      id_i,
  input  logic [31:0]      seq_i,
  input  logic [7:0]       first_i,
  input  logic [7:0]       span_i,
  input  logic [63:0]      word_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [Width-1:0] out_data_o,
  output logic             out_last_o
);
  localparam int Beats = 192 / Width;
  localparam logic [15:0] Start = 16'h0110 | 16'(Kind);
  logic [191:0] rest_q;
  logic [$clog2(Beats)-1:0] unused_beat;
  logic busy_q;
  logic [15:0] check;

  assign check  = 16'h6852 ^ Start ^ epoch_i ^ id_i ^ seq_i[31:16] ^ seq_i[15:0] ^
                  {span_i, first_i};
  assign take_o = send_i && !busy_q;
  rhz_counter #(.Count(Beats)) u_beat (
    .clk_i, .rst_ni, .en_i(out_valid_o && out_ready_i), .value_o(unused_beat),
    .last_o(out_last_o)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni)                                        busy_q <= 1'b0;
    else if (take_o)                                    busy_q <= 1'b1;
    else if (out_valid_o && out_ready_i && out_last_o)  busy_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (take_o)
      rest_q <= {word_i, 16'd0, span_i, first_i, seq_i, check, id_i, epoch_i, Start};
    else if (out_ready_i)
      rest_q <= rest_q >> Width;
  end
  assign out_valid_o = busy_q;
  assign out_data_o  = rest_q[Width-1:0];
endmodule

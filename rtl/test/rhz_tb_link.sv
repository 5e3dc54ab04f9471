// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A node for the link's tests: frames of channel 1 come back on channel 2, those
// of channels 3 and 4 in turn (two replicas) on 5 and 6 both (a broadcast).
// stall_i stops the streams between.
module rhz_tb_link #(
  parameter int Width      = 64,
  parameter int FrameBeats = 3,
  parameter int SlotWords  = 128,
  parameter int Slots      = 16,
  parameter int Retain     = 1,
  parameter int Wait       = 60
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               stall_i,
  input  logic [Width-1:0]   s_link_tdata,
  input  logic [Width/8-1:0] s_link_tkeep,
  input  logic               s_link_tvalid,
  output logic               s_link_tready,
  input  logic               s_link_tlast,
  output logic [Width-1:0]   m_link_tdata,
  output logic [Width/8-1:0] m_link_tkeep,
  output logic               m_link_tvalid,
  input  logic               m_link_tready,
  output logic               m_link_tlast,
  output logic [15:0]        m_link_tdest
);
  localparam int IndexWidth = 7 + $clog2(64 / Width);
  localparam int Sources = 7;
  logic head, live, beat, done, malformed, tick, hold, idle, rst_n;
  logic [3:0] kind;
  logic [7:0] words, first, span;
  logic [15:0] epoch, header_epoch, id;
  logic [31:0] seq;
  logic [Width-1:0] data;
  logic [IndexWidth-1:0] index;
  logic [63:0] word;
  logic [5:0] hits;
  logic [2:0] duplicates;
  logic [Sources-1:0] valid, ready, last;
  logic [Sources*Width-1:0] all_data;
  assign s_link_tready = 1'b1;

  rhz_link_parse #(.Width(Width)) u_parse (
    .clk_i, .rst_ni, .epoch_i(epoch), .s_tdata(s_link_tdata), .s_tkeep(s_link_tkeep),
    .s_tvalid(s_link_tvalid), .s_tlast(s_link_tlast), .head_o(head), .live_o(live),
    .kind_o(kind), .words_o(words), .epoch_o(header_epoch), .id_o(id), .seq_o(seq),
    .first_o(first), .span_o(span), .beat_o(beat), .data_o(data), .index_o(index),
    .done_o(done), .word_o(word), .malformed_o(malformed)
  );
  rhz_link_control #(.Width(Width), .Channels(6)) u_control (
    .clk_i, .rst_ni, .address_i(16'd1), .head_i(head), .live_i(live), .kind_i(kind),
    .epoch_i(header_epoch),
    .id_i(id), .seq_i(seq), .done_i(done), .malformed_i(malformed), .hit_i(hits),
    .duplicate_i({3'd0, duplicates}), .idle_i(idle), .hold_o(hold), .rst_no(rst_n),
    .epoch_o(epoch), .tick_o(tick), .out_valid_o(valid[0]), .out_ready_i(ready[0]),
    .out_data_o(all_data[0 +: Width]), .out_last_o(last[0])
  );
  rhz_link_mux #(.Width(Width), .Sources(Sources)) u_mux (
    .clk_i, .rst_ni, .hold_i(hold), .idle_o(idle), .dest_i('0), .in_valid_i(valid),
    .in_ready_o(ready), .in_data_i(all_data), .in_last_i(last), .m_tdata(m_link_tdata),
    .m_tkeep(m_link_tkeep), .m_tvalid(m_link_tvalid), .m_tready(m_link_tready),
    .m_tlast(m_link_tlast), .m_tdest(m_link_tdest)
  );

  // Receivers of the channels 1, 3, 4; transmitters of 2, 5, 6.
  logic [2:0] rx_valid, rx_ready, rx_last, tx_valid, tx_ready, tx_last;
  logic [3*Width-1:0] rx_data, tx_data;
  for (genvar c = 0; c < 3; c++) begin : gen_channels
    rhz_link_rx #(
      .Width(Width), .FrameBeats(FrameBeats), .SlotWords(SlotWords), .Slots(Slots)
    ) u_rx (
      .clk_i, .rst_ni(rst_n), .tick_i(tick), .epoch_i(epoch),
      .channel_i(c == 0 ? 16'd1 : 16'd2 + 16'(c)), .head_i(head), .live_i(live),
      .kind_i(kind), .words_i(words), .id_i(id), .seq_i(seq), .beat_i(beat), .data_i(data),
      .index_i(index), .done_i(done), .hit_o(hits[c]), .duplicate_o(duplicates[c]),
      .m_axis_tdata(rx_data[c*Width +: Width]), .m_axis_tvalid(rx_valid[c]),
      .m_axis_tready(rx_ready[c]), .m_axis_tlast(rx_last[c]), .ack_valid_o(valid[1+c]),
      .ack_ready_i(ready[1+c]), .ack_data_o(all_data[(1+c)*Width +: Width]),
      .ack_last_o(last[1+c])
    );
    rhz_link_tx #(
      .Width(Width), .SlotWords(SlotWords),
      .Slots(Retain != 0 ? Slots : 2), .Retain(Retain), .Wait(Wait)
    ) u_tx (
      .clk_i, .rst_ni(rst_n), .tick_i(tick), .epoch_i(epoch),
      .channel_i(c == 0 ? 16'd2 : 16'd4 + 16'(c)), .head_i(head), .live_i(live),
      .kind_i(kind), .id_i(id), .seq_i(seq), .first_i(first), .span_i(span), .done_i(done),
      .word_i(word), .hit_o(hits[3+c]), .s_axis_tdata(tx_data[c*Width +: Width]),
      .s_axis_tvalid(tx_valid[c]), .s_axis_tready(tx_ready[c]), .s_axis_tlast(tx_last[c]),
      .out_valid_o(valid[4+c]), .out_ready_i(ready[4+c]),
      .out_data_o(all_data[(4+c)*Width +: Width]), .out_last_o(last[4+c])
    );
  end
  assign tx_data[0 +: Width] = rx_data[0 +: Width];
  assign tx_last[0]  = rx_last[0];
  assign tx_valid[0] = rx_valid[0] && !stall_i;
  assign rx_ready[0] = tx_ready[0] && !stall_i;

  logic [Width-1:0] joined;
  logic joined_valid, joined_ready, joined_last, scatter_ready, scatter_last;
  logic [Width-1:0] scatter_data;
  rhz_link_gather #(.Width(Width), .Inputs(2), .Every(2)) u_gather (
    .clk_i, .rst_ni(rst_n), .first_i({16'd1, 16'd0}), .s_tdata(rx_data[Width +: 2*Width]),
    .s_tvalid(rx_valid[2:1]), .s_tready(rx_ready[2:1]), .s_tlast(rx_last[2:1]),
    .m_tdata(joined), .m_tvalid(joined_valid), .m_tready(joined_ready), .m_tlast(joined_last)
  );
  assign joined_ready = scatter_ready && !stall_i;
  rhz_link_scatter #(.Width(Width), .Outputs(2), .Every(1)) u_scatter (
    .clk_i, .rst_ni(rst_n), .first_i('0), .s_tdata(joined),
    .s_tvalid(joined_valid && !stall_i), .s_tready(scatter_ready), .s_tlast(joined_last),
    .m_tdata(scatter_data), .m_tvalid(tx_valid[2:1]), .m_tready(tx_ready[2:1]),
    .m_tlast(scatter_last)
  );
  assign tx_data[Width +: 2*Width] = {scatter_data, scatter_data};
  assign tx_last[2:1] = {scatter_last, scatter_last};
endmodule

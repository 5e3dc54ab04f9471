// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes to an AXI4-Stream of DataWidth bits, the first byte in the low bits,
// TLAST on the last of every FrameBeats beats.
module rhz_bytes_to_axis #(
  parameter int DataWidth  = 8,
  parameter int FrameBeats = 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [7:0]           in_data_i,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,
  output logic [DataWidth-1:0] m_axis_tdata,
  output logic                 m_axis_tlast
);
  localparam int Bytes = DataWidth / 8;
  localparam int BW = (FrameBeats > 1) ? $clog2(FrameBeats) : 1;
  logic [BW-1:0] unused_beat;
  rhz_counter #(.Count(FrameBeats)) u_beat (
    .clk_i, .rst_ni, .en_i(m_axis_tvalid && m_axis_tready), .value_o(unused_beat),
    .last_o(m_axis_tlast)
  );

  if (Bytes == 1) begin : gen_one
    assign m_axis_tvalid = in_valid_i;
    assign in_ready_o    = m_axis_tready;
    assign m_axis_tdata  = in_data_i;
  end else begin : gen_many
    localparam int PW = $clog2(Bytes);
    logic [PW-1:0] unused_place;
    logic last, take, full_q;
    logic [DataWidth-1:0] beat_q;
    assign in_ready_o = !full_q || m_axis_tready;
    assign take = in_valid_i && in_ready_o;
    rhz_counter #(.Count(Bytes)) u_place (
      .clk_i, .rst_ni, .en_i(take), .value_o(unused_place), .last_o(last)
    );
    always_ff @(posedge clk_i) begin
      if (!rst_ni) full_q <= 1'b0;
      else         full_q <= (take && last) || (full_q && !m_axis_tready);
    end
    always_ff @(posedge clk_i) if (take) beat_q <= {in_data_i, beat_q[DataWidth-1:8]};
    assign m_axis_tvalid = full_q;
    assign m_axis_tdata  = beat_q;
  end
endmodule

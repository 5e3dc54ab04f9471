// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames of several streams to one, in order: frame f comes from the input k
// with f mod Every = first_i[k].
module rhz_link_gather #(
  parameter int Width  = 64,
  parameter int Inputs = 2,
  parameter int Every  = 2
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [Inputs*16-1:0]    first_i,
  input  logic [Inputs*Width-1:0] s_tdata,
  input  logic [Inputs-1:0]       s_tvalid,
  output logic [Inputs-1:0]       s_tready,
  input  logic [Inputs-1:0]       s_tlast,
  output logic [Width-1:0]        m_tdata,
  output logic                    m_tvalid,
  input  logic                    m_tready,
  output logic                    m_tlast
);
  localparam int FrameWidth = (Every > 1) ? $clog2(Every) : 1;
  logic [FrameWidth-1:0] frame;
  logic                  unused_last;
  rhz_counter #(.Count(Every)) u_frame (
    .clk_i, .rst_ni, .en_i(m_tvalid && m_tready && m_tlast), .value_o(frame),
    .last_o(unused_last)
  );
  logic [Inputs-1:0] chosen;
  always_comb begin
    m_tdata = '0;
    for (int i = 0; i < Inputs; i = i + 1) begin
      chosen[i] = 16'(frame) == first_i[i*16 +: 16];
      m_tdata = m_tdata | (s_tdata[i*Width +: Width] & {Width{chosen[i]}});
    end
  end
  assign m_tvalid = |(chosen & s_tvalid);
  assign m_tlast  = |(chosen & s_tvalid & s_tlast);
  assign s_tready = chosen & {Inputs{m_tready}};
endmodule

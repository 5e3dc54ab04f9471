// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames of one stream to several: output k takes the frames f with
// f mod Every = first_i[k]; equal ones are a broadcast, in which every output
// takes a beat when it can and the next beat comes when all have.
module rhz_link_scatter #(
  parameter int Width   = 64,
  parameter int Outputs = 2,
  parameter int Every   = 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [Outputs*16-1:0] first_i,
  input  logic [Width-1:0]      s_tdata,
  input  logic                  s_tvalid,
  output logic                  s_tready,
  input  logic                  s_tlast,
  output logic [Width-1:0]      m_tdata,
  output logic [Outputs-1:0]    m_tvalid,
  input  logic [Outputs-1:0]    m_tready,
  output logic                  m_tlast
);
  localparam int FrameWidth = (Every > 1) ? $clog2(Every) : 1;
  logic [FrameWidth-1:0] frame;
  logic                  unused_last;
  rhz_counter #(.Count(Every)) u_frame (
    .clk_i, .rst_ni, .en_i(s_tvalid && s_tready && s_tlast), .value_o(frame),
    .last_o(unused_last)
  );
  logic [Outputs-1:0] chosen, taken_q;
  always_comb
    for (int i = 0; i < Outputs; i = i + 1)
      chosen[i] = 16'(frame) == first_i[i*16 +: 16];
  assign m_tvalid = {Outputs{s_tvalid}} & chosen & ~taken_q;
  assign s_tready = &(~chosen | taken_q | m_tready);
  assign m_tdata  = s_tdata;
  assign m_tlast  = s_tlast;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)                   taken_q <= '0;
    else if (s_tvalid && s_tready) taken_q <= '0;
    else                           taken_q <= taken_q | (m_tvalid & m_tready);
  end
endmodule

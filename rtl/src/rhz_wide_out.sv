// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole frame a beat to a port, without registers: valid, ready and data pass
// through in the same cycle. Padding bits are zero.
module rhz_wide_out #(
  parameter int DataWidth = 64,
  parameter int Width     = 60,
  parameter int Depth     = 1,
  parameter int Latency   = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [Width-1:0]     in_data_i,
  output logic [DataWidth-1:0] m_axis_tdata,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,
  output logic                 m_axis_tlast
);
  if (Latency != 0 || Depth < 1 || Width > DataWidth) begin : gen_bad
    initial $fatal(1, "rhz_wide_out: Latency %0d given, 0 built; Depth %0d, Width %0d of %0d", Latency, Depth,
                   Width, DataWidth);
  end
  logic unused;
  assign unused = &{1'b0, clk_i, rst_ni};
  assign in_ready_o    = m_axis_tready;
  assign m_axis_tvalid = in_valid_i;
  assign m_axis_tlast  = 1'b1;
  assign m_axis_tdata  = DataWidth'(in_data_i);
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole frame a beat from a port, without registers: valid, ready and data
// pass through in the same cycle. err_o counts (and saturates) accepted beats
// without TLAST. Nothing is taken in reset.
module rhz_wide_in #(
  parameter int DataWidth = 64,
  parameter int Width     = 60,
  parameter int Depth     = 1,
  parameter int Latency   = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [DataWidth-1:0] s_axis_tdata,
  input  logic                 s_axis_tvalid,
  output logic                 s_axis_tready,
  input  logic                 s_axis_tlast,
  output logic [15:0]          err_o,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [Width-1:0]     out_data_o
);
  if (Latency != 0 || Depth < 1 || Width > DataWidth) begin : gen_bad
    initial $fatal(1, "rhz_wide_in: Latency %0d given, 0 built; Depth %0d, Width %0d of %0d", Latency, Depth,
                   Width, DataWidth);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) err_o <= '0;
    else if (s_axis_tvalid && s_axis_tready && !s_axis_tlast && err_o != '1)
      err_o <= err_o + 16'd1;
  end
  assign s_axis_tready = out_ready_i && rst_ni;
  assign out_valid_o   = s_axis_tvalid;
  assign out_data_o    = s_axis_tdata[Width-1:0];
  if (DataWidth > Width) begin : gen_padding
    logic unused;
    assign unused = &{1'b0, s_axis_tdata[DataWidth-1:Width]};
  end
endmodule

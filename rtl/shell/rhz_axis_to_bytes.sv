// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An AXI4-Stream of DataWidth bits to bytes, the low bits first.
module rhz_axis_to_bytes #(
  parameter int DataWidth = 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 s_axis_tvalid,
  output logic                 s_axis_tready,
  input  logic [DataWidth-1:0] s_axis_tdata,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [7:0]           out_data_o
);
  localparam int Bytes = DataWidth / 8;
  if (Bytes == 1) begin : gen_one
    assign out_valid_o   = s_axis_tvalid;
    assign s_axis_tready = out_ready_i;
    assign out_data_o    = s_axis_tdata;
    logic unused;
    assign unused = &{1'b0, clk_i, rst_ni};
  end else begin : gen_many
    localparam int CW = $clog2(Bytes + 1);
    logic [CW-1:0] left_q;
    logic [DataWidth-1:0] beat_q;
    assign s_axis_tready = left_q == '0;
    assign out_valid_o   = left_q != '0;
    assign out_data_o    = beat_q[7:0];
    always_ff @(posedge clk_i) begin
      if (!rst_ni)                           left_q <= '0;
      else if (s_axis_tready)                left_q <= s_axis_tvalid ? CW'(Bytes) : '0;
      else if (out_ready_i)                  left_q <= left_q - CW'(1);
    end
    always_ff @(posedge clk_i) begin
      if (s_axis_tready)    beat_q <= s_axis_tdata;
      else if (out_ready_i) beat_q <= {8'd0, beat_q[DataWidth-1:8]};
    end
  end
endmodule

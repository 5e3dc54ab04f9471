// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between the bytes of a serial line and the regions of a design. A byte with a
// region's number goes before each of its frames, whose bytes go to that region
// alone; the answer of the region to which the last frame went goes out, without
// a number. The host sends a frame when it has the answer to the one before.
// Numbers of no region are dropped.
module rhz_uart_regions #(
  parameter int Regions = 2,
  parameter int Most    = 1,  // bytes of the longest frame
  parameter logic [32*Regions-1:0] InBytes = {Regions{32'd1}}  // of each region's
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [7:0]           in_data_i,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [7:0]           out_data_o,
  output logic [Regions-1:0]   frame_valid_o,
  input  logic [Regions-1:0]   frame_ready_i,
  output logic [7:0]           frame_data_o,
  input  logic [Regions-1:0]   answer_valid_i,
  output logic [Regions-1:0]   answer_ready_o,
  input  logic [8*Regions-1:0] answer_data_i
);
  localparam int CountW = $clog2(Most + 1);

  logic [Regions-1:0] region_q, named;  // one hot
  logic [CountW-1:0]  left_q, length;   // bytes of the frame that are to come
  logic               in_frame, take;
  assign in_frame = left_q != '0;
  always_comb begin
    named  = '0;
    length = '0;
    for (int r = 0; r < Regions; r++) begin
      if (in_data_i == 8'(r)) begin
        named[r] = 1'b1;
        length   = CountW'(InBytes[32*r +: 32]);
      end
    end
  end
  assign in_ready_o    = in_frame ? |(region_q & frame_ready_i) : 1'b1;
  assign take          = in_valid_i && in_ready_o;
  assign frame_valid_o = (in_valid_i && in_frame) ? region_q : '0;
  assign frame_data_o  = in_data_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      region_q <= '0;
      left_q   <= '0;
    end else if (take) begin
      if (!in_frame) region_q <= named;
      left_q <= in_frame ? left_q - CountW'(1) : length;
    end
  end

  always_comb begin
    out_data_o = '0;
    for (int r = 0; r < Regions; r++)
      if (region_q[r]) out_data_o = out_data_o | answer_data_i[8*r +: 8];
  end
  assign out_valid_o    = |(region_q & answer_valid_i);
  assign answer_ready_o = out_ready_i ? region_q : '0;
endmodule

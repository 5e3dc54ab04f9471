// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Test bench: the far end of the serial line of a board whose design has several
// regions. Sends a frame of each region in turn, its number before it, and gives
// the answer to that region's output.
module rhz_tb_uart_regions #(
  parameter int Divisor = 12,
  parameter int Regions = 2,
  parameter logic [32*Regions-1:0] InBytes  = {Regions{32'd1}},
  parameter logic [32*Regions-1:0] OutBytes = {Regions{32'd1}}
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [Regions-1:0]   in_valid_i,
  output logic [Regions-1:0]   in_ready_o,
  input  logic [8*Regions-1:0] in_data_i,
  output logic [Regions-1:0]   out_valid_o,
  input  logic [Regions-1:0]   out_ready_i,
  output logic [7:0]           out_data_o,
  output logic                 line_o,
  input  logic                 line_i
);
  // The next byte of the frame is its number 0, then 1 and so on.
  int         region, place;
  logic       valid, ready, last, answer_valid, answer_ready, answer_last;
  logic [7:0] data, answer;
  assign valid = (place == 0) || in_valid_i[region];
  assign data  = (place == 0) ? 8'(region) : in_data_i[8*region +: 8];
  assign last  = place == int'(InBytes[32*region +: 32]);
  rhz_tb_uart #(.Divisor(Divisor), .InWidth(8), .OutWidth(8)) u_line (
    .clk_i, .rst_ni, .out_beats_i(OutBytes[32*region +: 32]),
    .s_axis_tvalid(valid), .s_axis_tready(ready), .s_axis_tdata(data),
    .s_axis_tlast(last), .m_axis_tvalid(answer_valid),
    .m_axis_tready(answer_ready), .m_axis_tdata(answer),
    .m_axis_tlast(answer_last), .line_o, .line_i
  );
  always_comb begin
    in_ready_o  = '0;
    out_valid_o = '0;
    in_ready_o[region]  = ready && place != 0;
    out_valid_o[region] = answer_valid;
  end
  assign answer_ready = out_ready_i[region];
  assign out_data_o   = answer;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      region <= 0;
      place  <= 0;
    end else begin
      if (valid && ready) place <= last ? 0 : place + 1;
      if (answer_valid && answer_ready && answer_last)
        region <= (region == Regions - 1) ? 0 : region + 1;
    end
  end
endmodule

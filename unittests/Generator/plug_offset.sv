// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adds a segment of a memory outside the chip to a stream, byte by byte and
// modulo 256: the cell of a program's own unit with a memory port. Latency =
// 1 + V.
module plug_offset #(
  parameter int DataWidth = 64,
  parameter int Words     = 4,
  parameter int Burst     = 4,
  parameter int Page      = 0,
  parameter int Places    = 8,  // of what is read ahead
  parameter int Depth     = 2
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 in_valid_i,
  output logic                 in_ready_o,
  input  logic [DataWidth-1:0] in_data_i,
  output logic                 mem_arvalid,
  input  logic                 mem_arready,
  output logic [63:0]          mem_araddr,
  output logic [7:0]           mem_arlen,
  input  logic                 mem_rvalid,
  output logic                 mem_rready,
  input  logic [DataWidth-1:0] mem_rdata,
  input  logic                 mem_rlast,
  output logic                 out_valid_o,
  input  logic                 out_ready_i,
  output logic [DataWidth-1:0] out_data_o
);
  logic credit, fire, push_q, offset_valid;
  logic [DataWidth-1:0] offset, sum_q;
  rhz_mem_reader #(
    .DataWidth(DataWidth), .Words(Words), .Burst(Burst), .Page(Page), .Depth(Places)
  ) u_read (
    .clk_i, .rst_ni, .m_axi_arvalid(mem_arvalid), .m_axi_arready(mem_arready),
    .m_axi_araddr(mem_araddr), .m_axi_arlen(mem_arlen), .m_axi_rvalid(mem_rvalid),
    .m_axi_rready(mem_rready), .m_axi_rdata(mem_rdata), .m_axi_rlast(mem_rlast),
    .out_valid_o(offset_valid), .out_ready_i(fire), .out_data_o(offset)
  );
  assign in_ready_o = credit && offset_valid;
  assign fire = in_valid_i && in_ready_o;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) push_q <= 1'b0;
    else         push_q <= fire;
  end
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < DataWidth / 8; i++)
      sum_q[i*8 +: 8] <= in_data_i[i*8 +: 8] + offset[i*8 +: 8];
  end
  rhz_outbuf #(.Width(DataWidth), .Depth(Depth)) u_outbuf (
    .clk_i, .rst_ni, .credit_o(credit), .take_i(fire), .push_i(push_q),
    .push_data_i(sum_q), .out_valid_o, .out_ready_i, .out_data_o
  );
endmodule

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data of several writers at one memory port pass in the order in which bursts are
// granted. It is not merged with the logic around it, whose paths are others.
(* keep_hierarchy = "yes" *)
module rhz_mem_senders #(
  parameter int DataWidth = 64,
  parameter int Writers   = 2,
  parameter int Bursts    = 8
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic                         grant_i,
  input  logic [Writers-1:0]           chosen_i,
  input  logic [Writers-1:0]           s_axi_wvalid,
  output logic [Writers-1:0]           s_axi_wready,
  input  logic [Writers*DataWidth-1:0] s_axi_wdata,
  input  logic [Writers-1:0]           s_axi_wlast,
  output logic                         m_axi_wvalid,
  input  logic                         m_axi_wready,
  output logic [DataWidth-1:0]         m_axi_wdata,
  output logic                         m_axi_wlast
);
  logic sent, unused_full, unused;
  logic [Writers-1:0] sender;
  logic [DataWidth-1:0] data;
  assign unused = &{1'b0, unused_full};
  rhz_mem_owners #(.Count(Writers), .Bursts(Bursts)) u_owners (
    .clk_i, .rst_ni, .push_i(grant_i), .owner_i(chosen_i), .pop_i(sent), .owner_o(sender),
    .full_o(unused_full)
  );
  always_comb begin
    data = '0;
    for (int i = 0; i < Writers; i++)
      if (sender[i]) data = data | s_axi_wdata[i*DataWidth +: DataWidth];
  end
  assign m_axi_wvalid = (sender & s_axi_wvalid) != '0;
  assign m_axi_wdata  = data;
  assign m_axi_wlast  = (sender & s_axi_wlast) != '0;
  assign s_axi_wready = m_axi_wready ? sender : '0;
  assign sent         = m_axi_wvalid && m_axi_wready && m_axi_wlast;
endmodule

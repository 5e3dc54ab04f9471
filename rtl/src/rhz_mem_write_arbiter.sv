// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several writers at one memory port: bursts are granted round robin (rhz_mem_grants),
// one a cycle; their data pass and their answers go back in the order of the grants,
// without delay. A request reaches the memory a cycle after its grant. Bursts is what
// the writers may have without an answer in all.
module rhz_mem_write_arbiter #(
  parameter int DataWidth = 64,
  parameter int Writers   = 2,
  parameter int Bursts    = 8
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic [Writers-1:0]           s_axi_awvalid,
  output logic [Writers-1:0]           s_axi_awready,
  input  logic [Writers*64-1:0]        s_axi_awaddr,
  input  logic [Writers*8-1:0]         s_axi_awlen,
  input  logic [Writers-1:0]           s_axi_wvalid,
  output logic [Writers-1:0]           s_axi_wready,
  input  logic [Writers*DataWidth-1:0] s_axi_wdata,
  input  logic [Writers-1:0]           s_axi_wlast,
  output logic [Writers-1:0]           s_axi_bvalid,
  input  logic [Writers-1:0]           s_axi_bready,
  output logic                         m_axi_awvalid,
  input  logic                         m_axi_awready,
  output logic [63:0]                  m_axi_awaddr,
  output logic [7:0]                   m_axi_awlen,
  output logic                         m_axi_wvalid,
  input  logic                         m_axi_wready,
  output logic [DataWidth-1:0]         m_axi_wdata,
  output logic                         m_axi_wlast,
  input  logic                         m_axi_bvalid,
  output logic                         m_axi_bready
);
  logic grant, done;
  logic [Writers-1:0] chosen, owner;
  rhz_mem_grants #(.Count(Writers), .Bursts(Bursts)) u_grants (
    .clk_i, .rst_ni, .s_axi_avalid(s_axi_awvalid), .s_axi_aready(s_axi_awready),
    .s_axi_aaddr(s_axi_awaddr), .s_axi_alen(s_axi_awlen), .m_axi_avalid(m_axi_awvalid),
    .m_axi_aready(m_axi_awready), .m_axi_aaddr(m_axi_awaddr), .m_axi_alen(m_axi_awlen),
    .grant_o(grant), .chosen_o(chosen), .done_i(done), .owner_o(owner)
  );
  rhz_mem_senders #(.DataWidth(DataWidth), .Writers(Writers), .Bursts(Bursts)) u_senders (
    .clk_i, .rst_ni, .grant_i(grant), .chosen_i(chosen), .s_axi_wvalid, .s_axi_wready,
    .s_axi_wdata, .s_axi_wlast, .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wlast
  );
  assign m_axi_bready = (owner & s_axi_bready) != '0;
  assign s_axi_bvalid = m_axi_bvalid ? owner : '0;
  assign done         = m_axi_bvalid && m_axi_bready;
endmodule
